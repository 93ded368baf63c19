-- Wilson's (1927) interval of event / (event + other), of as many rows as have its standard
-- error, and at most as many as Kish (1965) counts. Where no row has the event, or each, its
-- end is where what was seen has probability 1 - level. What is open may be one or the other.
create macro cegdb.share_limits(
    probability, event, other, event_spread, other_spread, rate, open, level
) as
case
    when level is null then null
    when level <= 0 or level >= 1
        then error('level must lie between 0 and 1, not ' || level || chr(10) || 'hint: level := 0.95')
    when event + other <= 0 then struct_pack(low := 0, high := 1)
    else [
        [
            struct_pack(
                low := greatest(
                    least(
                        case
                            when s_.share <= 1e-12 then 0
                            when s_.share >= 1 - 1e-12 then pow(1 - level, 1 / s_.size)
                            else w_.centre - w_.half
                        end - s_.share + event / (event + other + open),
                        probability
                    ),
                    0
                ),
                high := least(
                    greatest(
                        case
                            when s_.share <= 1e-12 then 1 - pow(1 - level, 1 / s_.size)
                            when s_.share >= 1 - 1e-12 then 1
                            else w_.centre + w_.half
                        end - s_.share + (event + open) / (event + other + open),
                        probability
                    ),
                    1
                )
            )
            for w_ in [
                struct_pack(
                    centre := (s_.share + z_ * z_ / 2 / s_.size) / (1 + z_ * z_ / s_.size),
                    half := z_ * sqrt(
                        s_.share * (1 - s_.share) / s_.size + pow(z_ / 2 / s_.size, 2)
                    ) / (1 + z_ * z_ / s_.size)
                )
                for z_ in [cegdb.normal_quantile((1 + level) / 2)]
            ]
        ][1]
        for s_ in [
            struct_pack(
                share := r_,
                size := least(
                    pow(event + other, 2) / (event_spread + other_spread),
                    if(
                        r_ > 1e-12 and r_ < 1 - 1e-12,
                        r_ * (1 - r_) * pow(event + other, 2)
                        / (pow(1 - r_, 2) * event_spread + pow(r_, 2) * other_spread),
                        (event + other) / rate
                    )
                )
            )
            for r_ in [event / (event + other)]
        ]
    ][1]
end;

comment on macro cegdb.share_limits is 'The interval of a probability, as low and high, from what has the event and what has not: of each the probability by the rows and the sum of squared probabilities over rows (spread); the largest probability over rows (rate), and the probability of which nothing is known (open). Three of fifteen rows: select cegdb.share_limits(0.2, 3 / 15, 12 / 15, 3 / 225, 12 / 225, 1 / 15, 0, 0.95).';
