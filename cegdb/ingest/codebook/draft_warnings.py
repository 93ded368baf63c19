"""What may be wrong with a column or its levels: suspects, said and never acted upon."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cegdb.errors import counted
from cegdb.ingest.codebook.draft_text import brief
from cegdb.ingest.coding.count_column import looks_like
from cegdb.ingest.suspects import SUSPECT, alike

if TYPE_CHECKING:
    from cegdb.ingest.codebook.draft_counts import Counts
    from cegdb.ingest.codebook.draft_text import Column
    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files import labelled

_FEW_ROWS: Final = 20
_MOST_SUSPECTS: Final = 30
_NEARLY: Final = 0.95

# Of texts, spelled in lower case: what they may mean.
WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(SUSPECT, "missing or structural"),
    **dict.fromkeys(
        (
            "--", "?", "??", "unknown", "not known", "dk", "d/k", "don't know", "dont know",
            "do not know", "can't say", "refused", "refusal", "declined", "ref", "no answer",
            "no response", "not answered", "not stated", "prefer not to say",
            "prefer not to answer", "rather not say", "missing", "undetermined", "unsure",
            "nr", "n.r.", "#n/a", "n.a.", "nan", "dk/na", "don't know/refused",
        ),
        "missing",
    ),
    **dict.fromkeys(
        (
            "not applicable", "does not apply", "inapplicable", "inap", "iap", "not asked",
            "skip", "skipped", "legitimate skip", "valid skip",
        ),
        "structural",
    ),
}  # fmt: skip
CODES: Final = (
    *(digit * times for digit in "789" for times in range(1, 8)),
    *("96", "97", "98", "996", "997", "998", "9996", "9997", "9998"),
    *("-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"),
    *("-66", "-77", "-88", "-99", "-96", "-97", "-98", "-777", "-888", "-999", "-9999"),
)
_ID_NAME: Final = re.compile(
    r"(.*[ _.-])?(id|ident|identifier|uuid|key|serial|idno)|(case|resp|row|person|hh|p)id",
    re.IGNORECASE,
)
_WEIGHT_NAME: Final = re.compile(r"(.*[ _.-])?(weight|wt|wgt|pond|poids)s?\d*", re.IGNORECASE)


def doubt(
    column: Column,
    plain: Variable,
    counts: Counts,
    known: labelled.Entry | None,
    n_values: int,
    *,
    is_many: bool,
) -> None:
    """Add what may be wrong with a column or its levels."""
    name, n_answers = column.name, counts.n_rows - counts.n_blank
    are_numbers = bool(counts.n_levels) and counts.n_numbers >= _NEARLY * counts.n_levels
    are_integers = are_numbers and counts.n_integers >= _NEARLY * counts.n_levels
    suspects: list[str] = []
    what = looks_like(name) or ("weight" if _WEIGHT_NAME.fullmatch(name.strip()) else None)
    if what is None and are_numbers and not are_integers and _is_like_weights(counts):
        what = "weight"
    if what is not None and are_numbers:
        suspects.append(
            f"looks like a {what}: if it is one, say {what}: {brief(name)} and take it out of "
            "columns"
        )
    elif (
        n_answers
        and n_values >= _NEARLY * n_answers
        and (are_integers or not are_numbers)
        and (n_answers >= _FEW_ROWS or (n_values > 1 and _ID_NAME.fullmatch(name.strip())))
    ):
        column.is_id = True
        suspects.append(f"looks like an id: {n_values:,} values in {counted(n_answers, 'row')}")
    if counts.n_levels and (
        counts.n_dates >= _NEARLY * counts.n_levels
        or (known is not None and known.kind in ("date", "datetime", "time", "period"))
    ):
        suspects.append("looks like a date")
    if is_many:
        cut = ": bins: q4, or cut points such as 18,35,65" if are_numbers else ""
        suspects.append(f"has {n_values:,} levels{cut}")
    suspects += _odd_words(plain)
    suspects += _odd_codes(plain, counts)
    if counts.is_whole:
        suspects += _twins(plain)
    if len(suspects) > _MOST_SUSPECTS:
        n_more = len(suspects) - _MOST_SUSPECTS
        suspects[_MOST_SUSPECTS:] = [f"and {n_more:,} more of the kind"]
    column.remarks = [*(f"suspect: {suspect}" for suspect in suspects), *column.remarks]


def _is_like_weights(counts: Counts) -> bool:
    low = counts.ends[0]
    return (
        low is not None
        and low > 0
        and counts.mean is not None
        and 0.9 < counts.mean < 1.1
        and counts.n_levels >= _FEW_ROWS
    )


def _odd_words(plain: Variable) -> list[str]:
    """Return doubts about answers whose label says that there is none."""
    found = []
    for text, (kind, label) in plain.cells.items():
        meaning = WORDS.get(
            label.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold()
        )
        if kind == "value" and meaning is not None:
            told = "" if text == label else f" ({brief(label)})"
            n = counted(plain.counts.get(text, 0), "row")
            found.append(
                f"{brief(text)}{told} ({n}) may be no answer: "
                + " or ".join(f"{each}: [{brief(text)}]" for each in meaning.split(" or "))
            )
    return sorted(found)


def _odd_codes(plain: Variable, counts: Counts) -> list[str]:
    """Return doubts about codes such as 9 and -1 that lie apart from the other numbers."""
    low, high = counts.other_ends
    found = []
    for code in sorted(CODES, key=float):
        kind, label = plain.cells.get(code, ("missing", ""))
        if kind != "value" or label.strip().casefold() in WORDS:
            continue
        number = float(code)
        if low is None or high is None:  # among words, or nothing but such codes
            is_apart = counts.n_numbers < counts.n_levels or counts.n_levels == 1
        else:
            is_apart = number > high + 1 or number < min(low, 0) - (low < 0)
            high = high if is_apart else max(high, number)
        if is_apart:
            n, shown = counted(plain.counts.get(code, 0), "row"), brief(code)
            found.append(
                f"{shown} ({n}) lies apart and may be no answer: "
                f"missing: [{shown}] or structural: [{shown}]"
            )
    return found


def _twins(plain: Variable) -> list[str]:
    """Return doubts about labels that differ in blanks around them or case only."""
    found = []
    for group in alike(plain.values):
        most = max(group, key=lambda x: (x == x.strip(), plain.n_of("value", x)))
        named = ", ".join(
            f"{brief(x)} ({counted(plain.n_of('value', x), 'row')})" for x in group
        )
        others = ", ".join(f"{brief(x)}: {brief(most)}" for x in group if x != most)
        found.append(f"{named} differ in blanks or case: recode: {{{others}}}")
    return found
