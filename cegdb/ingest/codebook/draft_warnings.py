"""What may be wrong with a column or its levels: remarks in the draft, nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import counted
from cegdb.ingest.codebook.draft_text import quoted
from cegdb.ingest.label_checks import (
    ID_NAME,
    MEANING_OF_LABEL,
    MISSING_CODES,
    WEIGHT_NAME,
    guessed_role,
    similar_labels,
)
from cegdb.names import folded, trimmed

if TYPE_CHECKING:
    from cegdb.ingest.codebook.column_counts import ColumnCounts
    from cegdb.ingest.codebook.draft_text import DraftColumn
    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files.labelled import ColumnMetadata

_FEW_ROWS: Final = 20
_MOST_WARNINGS: Final = 30
_NEARLY_ALL: Final = 0.95


def add_warnings(
    column: DraftColumn,
    variable: Variable,
    counts: ColumnCounts,
    metadata: ColumnMetadata | None,
    n_values: int,
    *,
    is_many: bool,
) -> None:
    """Put what may be wrong in front of a column's remarks; note whether it may be an id."""
    name, n_answers = column.name, counts.n_rows - counts.n_blank
    are_numbers = bool(counts.n_texts) and counts.n_numbers >= _NEARLY_ALL * counts.n_texts
    are_integers = are_numbers and counts.n_integers >= _NEARLY_ALL * counts.n_texts
    warnings: list[str] = []
    role = guessed_role(name) or ("weight" if WEIGHT_NAME.fullmatch(trimmed(name)) else None)
    if role is None and are_numbers and not are_integers and _are_like_weights(counts):
        role = "weight"
    if role is not None and are_numbers:
        warnings.append(
            f"looks like a {role}: if it is one, write {role}: {quoted(name)} and remove it "
            "from columns"
        )
    elif (
        n_answers
        and n_values >= _NEARLY_ALL * n_answers
        and (are_integers or not are_numbers)
        and (n_answers >= _FEW_ROWS or (n_values > 1 and ID_NAME.fullmatch(trimmed(name))))
    ):
        column.is_id = True
        warnings.append(f"looks like an id: {n_values:,} values in {counted(n_answers, 'row')}")
    if counts.n_texts and (
        counts.n_dates >= _NEARLY_ALL * counts.n_texts
        or (metadata is not None and metadata.kind in ("date", "datetime", "time", "period"))
    ):
        warnings.append("looks like a date")
    if is_many:
        cut = "; to cut them, write bins: q4, or cut points" if are_numbers else ""
        warnings.append(f"has {n_values:,} levels{cut}")
    warnings += _labels_for_no_answer(variable)
    warnings += _codes_for_no_answer(variable, counts)
    if counts.has_all_texts:
        warnings += _similar_labels(variable)
    if len(warnings) > _MOST_WARNINGS:
        n_more = len(warnings) - _MOST_WARNINGS
        warnings[_MOST_WARNINGS:] = [f"and {counted(n_more, 'more warning')} of this kind"]
    column.remarks = [*(f"check: {warning}" for warning in warnings), *column.remarks]


def _are_like_weights(counts: ColumnCounts) -> bool:
    lowest = counts.range[0]
    return (
        lowest is not None
        and lowest > 0
        and counts.mean is not None
        and 0.9 < counts.mean < 1.1
        and counts.n_texts >= _FEW_ROWS
    )


def _labels_for_no_answer(variable: Variable) -> list[str]:
    """Return warnings of labels that say there is no answer."""
    warnings = []
    for text, (kind, label) in variable.meanings.items():
        word = folded(label).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        meaning = MEANING_OF_LABEL.get(word)
        if kind == "value" and meaning is not None:
            with_label = "" if text == label else f" ({quoted(label)})"
            n = counted(variable.counts.get(text, 0), "row")
            warnings.append(
                f"{quoted(text)}{with_label} ({n}) may mean no answer: write "
                + " or ".join(f"{each}: [{quoted(text)}]" for each in meaning.split(" or "))
            )
    return sorted(warnings)


def _codes_for_no_answer(variable: Variable, counts: ColumnCounts) -> list[str]:
    """Return warnings of codes such as 9 and -1 that are far from the other numbers."""
    lowest, highest = counts.range_without_codes
    warnings = []
    for code in sorted(MISSING_CODES, key=float):
        kind, label = variable.meanings.get(code, ("missing", ""))
        if kind != "value" or folded(label) in MEANING_OF_LABEL:
            continue
        number = float(code)
        if lowest is None or highest is None:  # among words, or nothing but such codes
            is_apart = counts.n_numbers < counts.n_texts or counts.n_texts == 1
        else:
            is_apart = number > highest + 1 or number < min(lowest, 0) - (lowest < 0)
            highest = highest if is_apart else max(highest, number)
        if is_apart:
            n = counted(variable.counts.get(code, 0), "row")
            warnings.append(
                f"{quoted(code)} ({n}) is far from the other numbers and may mean no answer: "
                f"write missing: [{quoted(code)}] or structural: [{quoted(code)}]"
            )
    return warnings


def _similar_labels(variable: Variable) -> list[str]:
    """Return warnings of labels that differ only in case or in spaces around them."""

    def n_of(label: str) -> int:
        return variable.n_of("value", label)

    warnings = []
    for group in similar_labels(variable.values):
        kept = max(group, key=lambda label: (label == trimmed(label), n_of(label)))
        labels = ", ".join(f"{quoted(x)} ({counted(n_of(x), 'row')})" for x in group)
        recodes = ", ".join(f"{quoted(x)}: {quoted(kept)}" for x in group if x != kept)
        warnings.append(
            f"{labels} differ only in case or spaces; to join them, write recode: {{{recodes}}}"
        )
    return warnings
