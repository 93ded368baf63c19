"""Levels of variables: which labels there are, in what order, of what kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from cegdb.errors import SurveyError, counted, listed
from cegdb.ingest.coding.bins import binned, number_of, plain
from cegdb.ingest.coding.cell_codes import FEW, counting, counting_few, sets_in_memory
from cegdb.ingest.coding.variables import MISSING, NOT_APPLICABLE, in_level_order, utf8

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from cegdb.ingest.coding.variables import Kind, Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.sqlfiles import Steps

MANY_LEVELS: Final = 50


def sort_levels(
    steps: Steps, relation: Relation, variables: dict[str, Variable]
) -> list[Variable]:
    """Find the labels of each variable and put its levels in order.

    Raises
    ------
    SurveyError
        A label is declared twice, lies outside the declared levels, or is the text that
        stands for structural cells.
    """
    found = _counted(steps, list(variables.values()))
    for ordinal, variable in enumerate(variables.values(), 1):
        counts = found.get(ordinal, {})
        variable.counts = {text: counts[text] for text in sorted(counts, key=utf8)}
        decide_cells(variable)
    _refuse_numbers(v for v in variables.values() if v.name not in relation.level_order)
    for variable in variables.values():
        order_levels(variable, relation.level_order.get(variable.name))
    return list(variables.values())


def _counted(steps: Steps, variables: list[Variable]) -> dict[int, dict[str | None, int]]:
    """Return the respondents of each text, by the variable's ordinal."""
    found: dict[int, dict[str | None, int]] = {}
    for has_texts in (True, False):
        cells = {
            i: f"c{i}"
            for i, variable in enumerate(variables, 1)
            if (variable.texts is not None) == has_texts
        }
        if not cells:
            continue
        if len(cells) <= FEW and not has_texts:
            query = counting_few(cells, "temp.response_line", "n")
        else:
            most_sets = sets_in_memory(steps)
            query = counting(cells, "temp.response_line", "n", most_sets=most_sets)
        for ordinal, cell, n in steps.rows(query):
            texts = variables[ordinal - 1].texts
            text = texts[cell - 1] if texts is not None and cell is not None else cell
            found.setdefault(ordinal, {})[text] = n
    return found


def decide_cells(variable: Variable) -> None:
    """Decide of each text as read what it is: the codebook first, then the file's word."""
    entry, known, name = variable.entry, variable.known, variable.name
    of_file = known.values if known else {}
    observed = [text for text in variable.counts if text is not None]
    labels = {**of_file, **entry.values}
    said = dict.fromkeys((*entry.values, *entry.recode, *entry.structural, *entry.missing))
    cells: dict[str, tuple[Kind, str]] = {}
    as_before: list[str] = []
    for text in (*observed, *(text for text in said if text not in variable.counts)):
        label = labels.get(text, text)
        label = entry.recode.get(text) or entry.recode.get(label) or label
        names = {text, label}
        is_structural = bool(names & set(entry.structural))
        reasons = [entry.missing[each] for each in (text, label) if each in entry.missing]
        if is_structural and reasons:
            raise SurveyError(f"{name!r}: {text} cannot be structural and missing")
        if is_structural:
            cells[text] = ("structural", label)
        elif reasons:
            cells[text] = ("missing", reasons[0] or label)
        elif known and known.is_missing(text) and text not in entry.values:
            cells[text] = ("missing", _reason(variable, text, label))
        elif label == text and variable.former and text in variable.former.meanings:
            kind, meant = variable.former.meanings[text]
            cells[text] = (cast("Kind", kind), meant)
            as_before.append(f"{text} is {meant!r}")
        elif text in variable.counts or text in entry.values:
            cells[text] = ("value", label)
    if as_before:
        variable.hints.append(
            f"{name!r}: codes count as in the former rows: {listed(as_before)}"
        )
    variable.cells = cells
    _tell_apart(variable)
    if entry.bins is not None:
        _bin(variable)


def _reason(variable: Variable, text: str, label: str) -> str:
    """Return the label of a code that the file declares missing."""
    if label.casefold() != NOT_APPLICABLE:
        return label
    variable.hints.append(
        f"{variable.name!r}: the file declares {text} ({label}) missing; if it means that the "
        f"question does not apply, ingest with structural=[{text!r}]"
    )
    return f"{label} [{text}]"


def many_numbers(variable: Variable) -> list[Decimal]:
    """Return the values of a variable if they are too many, and all numbers; else none."""
    values = [text for text, (kind, _) in variable.cells.items() if kind == "value"]
    if variable.former is not None:
        former = variable.former.labels("value")
        if len(former) > MANY_LEVELS:
            return []
        values = list(dict.fromkeys([*former, *values]))
    decimal = variable.decimal
    numbers = [number for text in values if (number := number_of(text, decimal)) is not None]
    return numbers if len(numbers) == len(values) > MANY_LEVELS else []


def _refuse_numbers(variables: Iterable[Variable]) -> None:
    """Refuse numbers with too many values, unless their levels or labels were declared."""
    found = []
    is_later = False
    for variable in variables:
        entry = variable.entry
        if entry.bins is not None or entry.levels is not None or entry.values:
            continue
        numbers = many_numbers(variable)
        if numbers and _numbers_rows(variable, numbers):
            variable.hints.append(
                f"{variable.name!r} numbers the rows: leave it out of columns, or of order"
            )
        elif numbers:
            ends = f"{plain(min(numbers))} to {plain(max(numbers))}"
            found.append(f"{variable.name!r} ({len(numbers):,} different ones, {ends})")
            is_later = variable.is_later
    if found:
        raise SurveyError(
            f"numbers with more than {MANY_LEVELS} values: {listed(found)}",
            hint="cut them into levels with bins (--bin NAME=18,35,65 or --bin NAME=q4), leave "
            "them out with columns, or declare their levels"
            + (", when ingesting the survey anew" if is_later else ""),
        )


def _numbers_rows(variable: Variable, numbers: list[Decimal]) -> bool:
    """Return whether a column is a running number: consecutive, one for each respondent."""
    counts = [n for text, n in variable.counts.items() if text is not None]
    n_blank = variable.counts.get(None, 0)
    if variable.former is not None:
        counts += [n for kind, *_, n in variable.former.levels if kind == "value"]
        n_blank += sum(n for kind, *_, n in variable.former.levels if kind == "blank")
    return (
        not n_blank
        and set(counts) == {1}
        and len(set(numbers)) == len(counts) == max(numbers) - min(numbers) + 1
        and all(number == number.to_integral_value() for number in numbers)
    )


def _tell_apart(variable: Variable) -> None:
    """Name two codes of one label apart, unless a recode says that they are one."""
    entry = variable.entry
    texts: dict[str, list[str]] = {}
    for text, (kind, label) in variable.cells.items():
        if kind == "value" and label != entry.recode.get(text):
            texts.setdefault(label, []).append(text)
    former = {} if variable.former is None else variable.former.apart()
    for label, of_label in texts.items():
        merged = any(target == label for target in entry.recode.values())
        if len(of_label) > 1 and not merged:
            for text in of_label:
                variable.cells[text] = ("value", _with_code(label, text))
            variable.hints.append(
                f"{variable.name!r}: the codes {listed(in_level_order(of_label))} are all "
                f"called {label!r}; they are kept apart by their code (recode joins them)"
            )
        elif _with_code(label, of_label[0]) in former:
            variable.cells[of_label[0]] = ("value", _with_code(label, of_label[0]))


def _with_code(label: str, text: str) -> str:
    return f"{label} [{text}]"


def _bin(variable: Variable) -> None:
    """Replace the numbers of a variable by the intervals they are in."""
    bins, name = variable.entry.bins, variable.name
    numbers = {
        text: variable.counts.get(text, 0)
        for text, (kind, _) in variable.cells.items()
        if kind == "value"
    }
    if bins is None:
        return
    bins = bins.found(numbers, variable.decimal)
    variable.entry = replace(variable.entry, bins=bins)
    places, labels = binned(bins, numbers, variable.decimal)
    strange = in_level_order([text for text in numbers if text not in places])
    if strange:
        counts = [f"{text!r} ({counted(numbers[text], 'row')})" for text in strange]
        raise SurveyError(
            f"{name!r} has bins, and answers that are no numbers: {listed(counts)}",
            hint="declare them structural or missing",
        )
    if bins.quantiles and len(labels) < bins.quantiles:
        variable.hints.append(
            f"{name!r} has {len(labels)} of {bins.quantiles} quantiles: some numbers occur "
            "too often to be cut"
        )
    variable.cells.update({text: ("value", label) for text, label in places.items()})
    variable.values = labels


def order_levels(variable: Variable, frame_order: list[str] | None) -> None:
    """Put the labels of a variable whose cells are decided in order.

    Raises
    ------
    SurveyError
        As `sort_levels`.
    """
    name, entry = variable.name, variable.entry
    observed = list(
        dict.fromkeys(label for kind, label in variable.cells.values() if kind == "value")
    )
    missing = {label for kind, label in variable.cells.values() if kind == "missing"}
    if variable.former is not None:
        observed = list(dict.fromkeys([*variable.former.labels("value"), *observed]))
        missing.update(variable.former.labels("missing"))
    if variable.is_gated:
        missing.add(MISSING)
    variable.missing = in_level_order(list(missing))
    if entry.bins is not None:
        _refuse_levels_of_bins(variable)
    elif entry.levels is not None:
        variable.values = _as_declared(variable, entry.levels, observed)
    else:
        variable.values = _in_order(variable, observed, frame_order)
    reserved = [
        text for text in (*variable.values, *variable.missing) if text == NOT_APPLICABLE
    ]
    if reserved:
        raise SurveyError(
            f"{name!r} has the answer {NOT_APPLICABLE!r} "
            f"({counted(_n_called(variable, NOT_APPLICABLE), 'row')}), which is how cegdb "
            "itself calls structural cells",
            hint=f"declare it: structural=[{NOT_APPLICABLE!r}], or write it otherwise",
        )
    both = [label for label in variable.values if label in missing]
    if both:
        raise SurveyError(
            f"{name!r}: {listed(both)} is the label of an answer and of a missing one",
            hint="give one of them another label",
        )


def _refuse_levels_of_bins(variable: Variable) -> None:
    if variable.entry.levels is not None and variable.entry.levels != variable.values:
        raise SurveyError(
            f"{variable.name!r} has bins, whose levels are {listed(variable.values)}",
            hint="leave levels out",
        )


def _n_called(variable: Variable, label: str) -> int:
    return variable.n_of("value", label) + variable.n_of("missing", label)


def _as_declared(variable: Variable, declared: list[str], observed: list[str]) -> list[str]:
    name = variable.name
    apart = {label for kind, label in variable.cells.values() if kind != "value"}
    apart |= {*variable.entry.structural, *variable.entry.missing}
    wrong = [label for label in declared if label in apart]
    if wrong:
        raise SurveyError(f"{name!r}: levels lists {listed(wrong)}, declared no value")
    known = set(declared)
    outside = in_level_order([label for label in observed if label not in known])
    if outside:
        counts = [
            f"{label!r} ({counted(variable.n_of('value', label), 'row')})" for label in outside
        ]
        raise SurveyError(
            f"{name!r} has answers that levels does not list: {listed(counts)}",
            hint="add them to levels, or declare them structural or missing",
        )
    return declared


def _in_order(
    variable: Variable, observed: list[str], frame_order: list[str] | None
) -> list[str]:
    """Return the value labels in the order of the codebook, the codes, the frame, or theirs."""
    levels = [] if variable.former is None else variable.former.levels
    before = [label for kind, label, *_ in levels if kind == "value"]
    is_special = before != in_level_order(before)
    label_of = {
        code: label for kind, label, codes, _ in levels if kind == "value" for code in codes
    }
    by_codes = is_special and any(code != label for code, label in label_of.items())
    if variable.entry.values:
        ordered = [variable.cells[text][1] for text in variable.entry.values]
    elif by_codes or (variable.known is not None and variable.known.values):
        label_of |= {
            text: label for text, (kind, label) in variable.cells.items() if kind == "value"
        }
        ordered = [label_of[text] for text in in_level_order(list(label_of))]
    else:
        ordered = frame_order or []
        if is_special and not set(before) <= set(ordered):
            ordered = [*before, *ordered]
    seen = set(observed)
    first = [label for label in dict.fromkeys(ordered) if label in seen]
    known = set(first)
    return first + in_level_order([label for label in observed if label not in known])
