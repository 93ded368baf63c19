create table cegdb.level_score (
    level_id integer primary key,
    score double not null
);

comment on table cegdb.level_score is 'One row per answer of an ordered variable: the number that stands for it in means. Other variables have none.';
comment on column cegdb.level_score.level_id is 'The answer; joins to level.';
comment on column cegdb.level_score.score is 'Its score: 0, 1, ... in level order, or as the codebook gives it. A larger score is a higher answer.';
