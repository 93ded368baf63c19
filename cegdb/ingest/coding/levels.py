"""Levels of variables: which labels there are, in what order, of what kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from cegdb.errors import SurveyError, agreeing, counted, listed
from cegdb.findings import Finding
from cegdb.ingest.coding.bins import binned, number_of, plain
from cegdb.ingest.coding.cell_codes import (
    FEW_COLUMNS,
    count_query,
    few_columns_query,
    max_grouping_sets,
)
from cegdb.ingest.coding.variables import MISSING, NOT_APPLICABLE, in_level_order, utf8

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from decimal import Decimal

    from cegdb.ingest.coding.variables import Kind, Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.sqlfiles import Steps

MANY_LEVELS: Final = 50


def find_levels(
    steps: Steps, relation: Relation, variables: dict[str, Variable]
) -> list[Variable]:
    """Find the labels of each variable and put its levels in order."""
    counts_of = _text_counts(steps, list(variables.values()))
    for ordinal, variable in enumerate(variables.values(), 1):
        counts = counts_of.get(ordinal, {})
        variable.counts = {text: counts[text] for text in sorted(counts, key=utf8)}
        if not variable.is_update:
            _refuse_lost_labels(variable)
        decide_meanings(variable)
    _refuse_numbers(v for v in variables.values() if v.name not in relation.level_order)
    for variable in variables.values():
        order_levels(variable, relation.level_order.get(variable.name))
    return list(variables.values())


def _text_counts(steps: Steps, variables: list[Variable]) -> dict[int, dict[str | None, int]]:
    """Return the respondents of each text, by the variable's ordinal."""
    counts_of: dict[int, dict[str | None, int]] = {}
    for has_texts in (True, False):
        cells = {
            i: f"c{i}"
            for i, variable in enumerate(variables, 1)
            if (variable.texts is not None) == has_texts
        }
        if not cells:
            continue
        if len(cells) <= FEW_COLUMNS and not has_texts:
            query = few_columns_query(cells, "temp.response_line", "n")
        else:
            most_sets = max_grouping_sets(steps)
            query = count_query(cells, "temp.response_line", "n", most_sets=most_sets)
        for ordinal, cell, n in steps.rows(query):
            texts = variables[ordinal - 1].texts
            text = texts[cell - 1] if texts is not None and cell is not None else cell
            counts_of.setdefault(ordinal, {})[text] = n
    return counts_of


def decide_meanings(variable: Variable) -> None:
    """Decide what each text means: by the codebook, else by the file, else by earlier rows."""
    entry, metadata, name = variable.entry, variable.metadata, variable.name
    file_labels = metadata.values if metadata else {}
    observed = [text for text in variable.counts if text is not None]
    labels = {**file_labels, **entry.values}
    declared = dict.fromkeys((*entry.values, *entry.recode, *entry.structural, *entry.missing))
    recoded = _recoded(variable, labels)
    meanings: dict[str, tuple[Kind, str]] = {}
    as_earlier: list[str] = []
    as_written: list[str] = []
    for text in (*observed, *(text for text in declared if text not in variable.counts)):
        label = labels.get(text, text)
        label = recoded.get(text) or recoded.get(label) or label
        names = {text, label}
        is_structural = bool(names & set(entry.structural))
        reasons = [entry.missing[each] for each in (text, label) if each in entry.missing]
        if is_structural and reasons:
            raise SurveyError(f"{name!r}: {text!r} cannot be both structural and missing")
        if is_structural:
            meanings[text] = ("structural", label)
        elif reasons:
            meanings[text] = ("missing", reasons[0] or label)
        elif metadata and metadata.is_missing(text) and text not in entry.values:
            meanings[text] = ("missing", _missing_label(variable, text, label))
        elif label == text and text in variable.own_labels:
            meanings[text] = variable.own_labels[text]
            as_written.append(text)
        elif label == text and variable.previous and text in variable.previous.meaning_of_code:
            kind, previous_label = variable.previous.meaning_of_code[text]
            meanings[text] = (cast("Kind", kind), previous_label)
            as_earlier.append(f"{text} is {previous_label!r}")
        elif text in variable.counts or text in entry.values:
            meanings[text] = ("value", label)
    if as_earlier:
        sentence = f"{name!r}: codes have the labels of the earlier rows: {listed(as_earlier)}"
        variable.findings.append(
            Finding("wave", sentence, "if their meaning changed, recode them")
        )
    if as_written:
        sentence = (
            f"{name!r}: labels of cells without an answer are read as such: "
            f"{listed(map(repr, as_written))}"
        )
        variable.findings.append(
            Finding("wave", sentence, "if their meaning changed, recode them")
        )
    variable.meanings = meanings
    _add_codes_to_equal_labels(variable, recoded)
    if entry.bins is not None:
        _apply_bins(variable)


def _recoded(variable: Variable, labels: Mapping[str, str]) -> dict[str, str]:
    """Return the label of each code or label that is recoded.

    A recode says which answer another one counts as: by the label of that one, or its code.
    """
    known = set(labels.values())
    return {
        text: target if target in known else labels.get(target, target)
        for text, target in variable.entry.recode.items()
    }


def _refuse_lost_labels(variable: Variable) -> None:
    """Refuse a codebook in which recode only replaces a label that values gives to a code."""
    entry, name = variable.entry, variable.name
    labels = {**(variable.metadata.values if variable.metadata else {}), **entry.values}
    recoded = _recoded(variable, labels)
    for code, label in entry.values.items():
        target = recoded.get(code, label)
        if code in recoded and target != recoded.get(label, target):
            raise SurveyError(
                f"{name!r}: recode turns the code {code!r} into {target!r}, and its label "
                f"{label!r} into {recoded[label]!r}",
                hint="recode the code or the label, not both",
            )
        others = {other for text, other in (*labels.items(), *recoded.items()) if text != code}
        if target != label and target not in others and target not in variable.counts:
            raise SurveyError(
                f"{name!r}: values gives the code {code!r} the label {label!r}, and recode "
                f"gives it the label {target!r}",
                hint="write the label you want in values; recode is for joining answers",
            )


def _missing_label(variable: Variable, text: str, label: str) -> str:
    """Return the label of a code that the file declares missing."""
    if label.casefold() != NOT_APPLICABLE:
        return label
    variable.findings.append(
        Finding(
            "labels",
            f"{variable.name!r}: the file declares {text} ({label}) missing",
            f"if it means that the question does not apply, ingest with structural=[{text!r}]",
        )
    )
    return f"{label} [{text}]"


def many_numbers(variable: Variable) -> list[Decimal]:
    """Return the values of a variable if they are too many, and all numbers; else none."""
    values = [text for text, (kind, _) in variable.meanings.items() if kind == "value"]
    if variable.previous is not None:
        earlier = variable.previous.labels("value")
        if len(earlier) > MANY_LEVELS:
            return []
        values = list(dict.fromkeys([*earlier, *values]))
    decimal = variable.decimal
    numbers = [number for text in values if (number := number_of(text, decimal)) is not None]
    return numbers if len(numbers) == len(values) > MANY_LEVELS else []


def _refuse_numbers(variables: Iterable[Variable]) -> None:
    """Refuse numbers with too many values, unless their levels or labels were declared."""
    refused = []
    is_update = False
    for variable in variables:
        entry = variable.entry
        if entry.bins is not None or entry.levels is not None or entry.values:
            continue
        numbers = many_numbers(variable)
        if numbers and _is_row_number(variable, numbers):
            variable.findings.append(
                Finding(
                    "levels",
                    f"{variable.name!r} contains only row numbers",
                    "leave it out of columns, or of order",
                )
            )
        elif numbers:
            ends = f"{plain(min(numbers))} to {plain(max(numbers))}"
            refused.append(f"{variable.name!r} has {len(numbers):,} ({ends})")
            is_update = variable.is_update
    if refused:
        raise SurveyError(
            f"more than {MANY_LEVELS} different numbers are too many for a variable: "
            f"{listed(refused)}",
            hint="cut them into levels with bins (--bin NAME=18,35,65 or --bin NAME=q4), leave "
            "them out with columns, or declare their levels"
            + (", when ingesting the survey anew" if is_update else ""),
        )


def _is_row_number(variable: Variable, numbers: list[Decimal]) -> bool:
    """Return whether a column counts the rows: consecutive numbers, one a respondent."""
    counts = [n for text, n in variable.counts.items() if text is not None]
    n_blank = variable.counts.get(None, 0)
    if variable.previous is not None:
        counts += [n for kind, *_, n in variable.previous.levels if kind == "value"]
        n_blank += sum(n for kind, *_, n in variable.previous.levels if kind == "blank")
    return (
        not n_blank
        and set(counts) == {1}
        and len(set(numbers)) == len(counts) == max(numbers) - min(numbers) + 1
        and all(number == number.to_integral_value() for number in numbers)
    )


def _add_codes_to_equal_labels(variable: Variable, recoded: Mapping[str, str]) -> None:
    """Add their code to labels that several codes have, unless a recode joins these."""
    texts: dict[str, list[str]] = {}
    for text, (kind, label) in variable.meanings.items():
        if kind == "value" and label != recoded.get(text):
            texts.setdefault(label, []).append(text)
    with_code = {} if variable.previous is None else variable.previous.labels_with_code()
    for label, of_label in texts.items():
        is_joined = label in recoded.values()
        if len(of_label) > 1 and not is_joined:
            for text in of_label:
                variable.meanings[text] = ("value", _with_code(label, text))
            variable.findings.append(
                Finding(
                    "labels",
                    f"{variable.name!r}: the codes {listed(in_level_order(of_label))} share "
                    f"the label {label!r}, so each code was added to its label",
                    "to count them as one answer, use recode",
                )
            )
        elif _with_code(label, of_label[0]) in with_code:
            variable.meanings[of_label[0]] = ("value", _with_code(label, of_label[0]))


def _with_code(label: str, text: str) -> str:
    return f"{label} [{text}]"


def _apply_bins(variable: Variable) -> None:
    """Replace the numbers of a variable by the intervals they are in."""
    bins, name = variable.entry.bins, variable.name
    numbers = {
        text: variable.counts.get(text, 0)
        for text, (kind, _) in variable.meanings.items()
        if kind == "value"
    }
    if bins is None:
        return
    bins = bins.with_cuts(numbers, variable.decimal)
    variable.entry = replace(variable.entry, bins=bins)
    interval_of, labels = binned(bins, numbers, variable.decimal)
    read_back = set(labels) if variable.is_update else set()
    not_numbers = in_level_order(
        [text for text in numbers if text not in interval_of and text not in read_back]
    )
    if not_numbers:
        counts = [f"{text!r} ({counted(numbers[text], 'row')})" for text in not_numbers]
        raise SurveyError(
            f"{name!r} has bins, but these answers are not numbers: {listed(counts)}",
            hint="declare them structural or missing",
        )
    if bins.quantiles and len(labels) < bins.quantiles:
        variable.findings.append(
            Finding(
                "levels",
                f"{name!r} is cut into {counted(len(labels), 'level')} instead of "
                f"{bins.quantiles}: some numbers are too frequent, or too few are different",
                "if that is too few, give cut points (bins)",
            )
        )
    variable.meanings.update({text: ("value", label) for text, label in interval_of.items()})
    variable.values = labels


def order_levels(variable: Variable, frame_order: list[str] | None) -> None:
    """Put the labels of a variable whose cells are decided in order."""
    name, entry = variable.name, variable.entry
    observed = list(
        dict.fromkeys(label for kind, label in variable.meanings.values() if kind == "value")
    )
    missing = {label for kind, label in variable.meanings.values() if kind == "missing"}
    if variable.previous is not None:
        observed = list(dict.fromkeys([*variable.previous.labels("value"), *observed]))
        missing.update(variable.previous.labels("missing"))
    if variable.is_gated:
        missing.add(MISSING)
    variable.missing = in_level_order(list(missing))
    if entry.bins is not None:
        _refuse_levels_of_bins(variable)
    elif entry.levels is not None:
        variable.values = _declared_values(variable, entry.levels, observed)
    else:
        variable.values = _ordered_values(variable, observed, frame_order)
    reserved = [
        text for text in (*variable.values, *variable.missing) if text == NOT_APPLICABLE
    ]
    if reserved:
        raise SurveyError(
            f"{name!r} has the answer {NOT_APPLICABLE!r} "
            f"({counted(_rows_with_label(variable, NOT_APPLICABLE), 'row')}), a label that is "
            "reserved for structural cells",
            hint=f"declare it: structural=[{NOT_APPLICABLE!r}], or give it another label",
        )
    both = [label for label in variable.values if label in missing]
    if both:
        raise SurveyError(
            f"{name!r}: {listed(map(repr, both))} {agreeing(len(both), 'are')} both an answer "
            "and a missing answer",
            hint="give the answer or the missing answer another label",
        )
    variable.scores = _scores(variable)
    if entry.levels is None and entry.bins is None and entry.scores:
        variable.values.sort(key=variable.scores.__getitem__)


def _scores(variable: Variable) -> dict[str, float]:
    """Return the score of each answer of an ordered variable; of others none."""
    name, given = variable.name, variable.entry.scores
    if variable.entry.ordered:
        return {label: float(i) for i, label in enumerate(variable.values)}
    if not given:
        return {}
    earlier = {} if variable.previous is None else variable.previous.meaning_of_code
    scores: dict[str, float] = {}
    unknown = []
    for text, score in given.items():
        meaning = variable.meanings.get(text) or earlier.get(text)
        label = text if text in variable.values or meaning is None else meaning[1]
        if label not in variable.values:
            unknown.append(text)
        elif scores.setdefault(label, score) != score:
            raise SurveyError(f"{name!r}: scores gives the answer {label!r} two scores")
    without = [label for label in variable.values if label not in scores]
    hint = f"its answers are {listed(map(repr, variable.values), most=10)}"
    if unknown and not variable.is_update:  # later rows need not have all labels
        raise SurveyError(
            f"{name!r}: scores lists {listed(map(repr, unknown))}, which "
            f"{agreeing(len(unknown), 'are')} not among its answers",
            hint=hint,
        )
    if without:
        raise SurveyError(
            f"{name!r}: scores gives no number for {listed(map(repr, without))}", hint=hint
        )
    return {label: scores[label] for label in variable.values}


def _refuse_levels_of_bins(variable: Variable) -> None:
    if variable.entry.levels is not None and variable.entry.levels != variable.values:
        raise SurveyError(
            f"{variable.name!r} has bins, whose levels are {listed(variable.values)}",
            hint="leave levels out",
        )


def _rows_with_label(variable: Variable, label: str) -> int:
    return variable.n_of("value", label) + variable.n_of("missing", label)


def _declared_values(variable: Variable, declared: list[str], observed: list[str]) -> list[str]:
    name = variable.name
    not_values = {label for kind, label in variable.meanings.values() if kind != "value"}
    not_values |= {*variable.entry.structural, *variable.entry.missing}
    wrong = [label for label in declared if label in not_values]
    if wrong:
        raise SurveyError(
            f"{name!r}: levels lists {listed(map(repr, wrong))}, which "
            f"{agreeing(len(wrong), 'are')} declared missing or structural"
        )
    allowed = set(declared)
    outside = in_level_order([label for label in observed if label not in allowed])
    if outside:
        counts = [
            f"{label!r} ({counted(variable.n_of('value', label), 'row')})" for label in outside
        ]
        raise SurveyError(
            f"{name!r} has answers that levels does not list: {listed(counts)}",
            hint="add them to levels, or declare them structural or missing",
        )
    return declared


def _ordered_values(
    variable: Variable, observed: list[str], frame_order: list[str] | None
) -> list[str]:
    """Return the value labels in the order of codebook, codes or frame, else their own."""
    levels = [] if variable.previous is None else variable.previous.levels
    earlier = [label for kind, label, *_ in levels if kind == "value"]
    has_own_order = earlier != in_level_order(earlier)
    label_of = {
        code: label for kind, label, codes, _ in levels if kind == "value" for code in codes
    }
    by_codes = has_own_order and any(code != label for code, label in label_of.items())
    if variable.entry.values:
        ordered = [variable.meanings[text][1] for text in variable.entry.values]
    elif by_codes or (variable.metadata is not None and variable.metadata.values):
        label_of |= {
            text: label for text, (kind, label) in variable.meanings.items() if kind == "value"
        }
        ordered = [label_of[text] for text in in_level_order(list(label_of))]
    else:
        ordered = frame_order or []
        if has_own_order and not set(earlier) <= set(ordered):
            ordered = [*earlier, *ordered]
    seen = set(observed)
    first = [label for label in dict.fromkeys(ordered) if label in seen]
    placed = set(first)
    return first + in_level_order([label for label in observed if label not in placed])
