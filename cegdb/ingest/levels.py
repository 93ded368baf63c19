"""Levels of variables: which labels there are, in what order, of what kind."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import sqlalchemy as sa

from cegdb.errors import SurveyError, counted, listed
from cegdb.ingest.bins import binned, number_of, plain
from cegdb.ingest.codebook import Entry
from cegdb.ingest.places import FEW, counting, counting_few, sets_in_memory
from cegdb.store import schema
from cegdb.store.objects import insert_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cegdb.ingest import labelled
    from cegdb.ingest.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.sqlfiles import Steps

Kind: TypeAlias = Literal["value", "missing", "structural"]

NOT_APPLICABLE: Final = "not applicable"
MISSING: Final = "missing"

_INTEGER = re.compile(r"[+-]?\d+\Z", re.ASCII)
SUSPECT: Final = {
    "na",
    "n/a",
    "nan",
    "none",
    "null",
    "nil",
    ".",
    "-",
    "?",
    "missing",
    "unknown",
}
MANY_LEVELS: Final = 50
_BETWEEN_CODES: Final = "; "


@dataclass(frozen=True)
class Former:
    """What a variable was in the rows its survey has already: its levels, by code.

    ``levels`` has the kind, label and original code of each; ``ordinal`` its place.
    """

    ordinal: int
    question: str | None
    levels: list[tuple[str, str, str | None]]

    def labels(self, of_kind: Kind) -> list[str]:
        """Return the labels of one kind, in level order."""
        return [label for kind, label, _ in self.levels if kind == of_kind]

    @cached_property
    def meanings(self) -> dict[str, tuple[str, str]]:
        """The kind and label of each code that is not its own label."""
        found: dict[str, set[tuple[str, str]]] = {}
        for kind, label, _ in self.levels:
            for code in self.codes_of(kind, label):
                found.setdefault(code, set()).add((kind, label))
        labels = {label for _, label, _ in self.levels}
        return {
            code: cells.copy().pop()
            for code, cells in found.items()
            if len(cells) == 1 and code not in labels
        }

    def apart(self) -> set[str]:
        """Return the labels that were told apart by their code."""
        return {label for _, label, code in self.levels if label.endswith(f" [{code}]")}

    def codes_of(self, of_kind: str, of_label: str) -> list[str]:
        """Return the texts that one label stood for."""
        for kind, label, code in self.levels:
            if (kind, label) == (of_kind, of_label) and code is not None:
                return [code] if code == label else code.split(_BETWEEN_CODES)
        return []


@dataclass
class Variable:
    """One variable: what was said of it, then (after the first pass) its levels.

    ``counts`` has the respondents of each text as read (None: blank), ``cells`` what such
    a text is: its kind (value, missing, structural) and its label. ``former`` is what it
    was in the rows to which others are appended.
    """

    name: str
    entry: Entry = field(default_factory=Entry)
    known: labelled.Entry | None = None
    decimal: str = "."
    is_gated: bool = False
    values: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    counts: dict[str | None, int] = field(default_factory=dict)
    cells: dict[str, tuple[Kind, str]] = field(default_factory=dict)
    former: Former | None = None
    n_of_code: dict[int, int] | None = None
    hints: list[str] = field(default_factory=list)
    texts: list[str] | None = None

    def kinds(self) -> dict[str, int]:
        """Return how many respondents' cells are of each kind."""
        if self.n_of_code is not None:
            n = dict.fromkeys(("value", "structural", "missing", "blank"), 0)
            for code, rows in self.n_of_code.items():
                n[self._kind_of(code)] += rows
            return n
        n = {"value": 0, "structural": 0, "missing": 0, "blank": self.counts.get(None, 0)}
        for text, (kind, _) in self.cells.items():
            n[kind] += self.counts.get(text, 0)
        return n

    def _kind_of(self, code: int) -> str:
        if code <= len(self.values):
            return "value"
        if code < self.blank_code:
            return "missing"
        return "blank" if code == self.blank_code else "structural"

    def n_of(self, kind: Kind, label: str) -> int:
        """Return how many respondents' cells are of one kind and label."""
        return sum(
            self.counts.get(text, 0)
            for text, cell in self.cells.items()
            if cell == (kind, label)
        )

    def set_apart(self) -> dict[str, int]:
        """Return how many cells hold each label that is structural or missing."""
        n: dict[str, int] = {}
        for text, (kind, label) in self.cells.items():
            if kind != "value":
                n[label] = n.get(label, 0) + self.counts.get(text, 0)
        return n

    def codes_of(self, kind: Kind, label: str) -> list[str]:
        """Return the texts as read that one label stands for."""
        return in_level_order(
            [text for text, cell in self.cells.items() if cell == (kind, label)]
        )

    def codes(self) -> dict[str, int]:
        """Return the code of each text as read."""
        code_of = self.codes_of_levels()
        return {
            text: code_of.get(cell, self.structural_code) for text, cell in self.cells.items()
        }

    def codes_of_levels(self) -> dict[tuple[str, str], int]:
        """Return the code of each value and missing label, by kind and label."""
        found = {("value", label): i for i, label in enumerate(self.values, 1)}
        n = len(self.values)
        return found | {("missing", label): n + i for i, label in enumerate(self.missing, 1)}

    @property
    def blank_code(self) -> int:
        """The code of blank cells."""
        return len(self.values) + len(self.missing) + 1

    @property
    def structural_code(self) -> int:
        """The code of the one structural level, the last one."""
        return self.blank_code + 1

    @property
    def code_type(self) -> str:
        """The smallest column type that holds all codes."""
        for kind, size in (("utinyint", 8), ("usmallint", 16)):
            if self.structural_code < 1 << size:
                return kind
        return "uinteger"


def _bytes(text: str | None) -> bytes:
    return (text or "").encode("utf-8", "surrogatepass")


def in_level_order(labels: list[str]) -> list[str]:
    """Return labels by value if all are integers, else by UTF-8 bytes.

    Examples
    --------
    >>> in_level_order(["10", "9", "-1"]), in_level_order(["10", "9", "x"])
    (['-1', '9', '10'], ['10', '9', 'x'])
    """
    by_bytes = sorted(labels, key=_bytes)
    if all(_INTEGER.match(label) for label in labels):
        return sorted(by_bytes, key=Decimal)  # exact, and without int's limit of digits
    return by_bytes


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
        variable.counts = {text: counts[text] for text in sorted(counts, key=_bytes)}
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
    if found:
        raise SurveyError(
            f"numbers with more than {MANY_LEVELS} values: {listed(found)}",
            hint="cut them into levels with bins (--bin NAME=18,35,65 or --bin NAME=q4), leave "
            "them out with columns, or declare their levels",
        )


def _numbers_rows(variable: Variable, numbers: list[Decimal]) -> bool:
    """Return whether a column is a running number: consecutive, one for each respondent."""
    return (
        None not in variable.counts
        and variable.former is None
        and set(variable.counts.values()) == {1}
        and len(set(numbers)) == len(numbers) == max(numbers) - min(numbers) + 1
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
    if variable.entry.values:
        ordered = [variable.cells[text][1] for text in variable.entry.values]
    elif variable.known is not None and variable.known.values:
        texts = [text for text, (kind, _) in variable.cells.items() if kind == "value"]
        ordered = [variable.cells[text][1] for text in in_level_order(texts)]
    else:
        ordered = frame_order or []
    if variable.former is not None and not variable.entry.values:
        former = variable.former.labels("value")
        if former != in_level_order(former):
            ordered = [*former, *ordered]
    seen = set(observed)
    first = [label for label in dict.fromkeys(ordered) if label in seen]
    known = set(first)
    return first + in_level_order([label for label in observed if label not in known])


def insert_levels(catalog: sa.Connection, survey_id: int, variables: list[Variable]) -> None:
    """Write the rows of ``variable`` and ``level``: values, missing, blank, structural.

    ``level_id`` is the variable's first one plus ``code - 1``; ``code`` is what
    ``response_<survey_id>`` holds.
    """
    variable_id = _next(catalog, schema.variable.c.variable_id)
    level_id = _next(catalog, schema.level.c.level_id)
    label_ids: dict[str, int] = {}
    same = same_labels(variables)
    variable_rows, level_rows = [], []
    for ordinal, variable in enumerate(variables, 1):
        variable_rows.append(
            {
                "variable_id": variable_id,
                "survey_id": survey_id,
                "ordinal": ordinal,
                "name": variable.name,
                "question": variable.entry.label
                or (variable.known.label if variable.known else None)
                or (variable.former.question if variable.former else None),
            }
        )
        n_of = Counter[tuple[str, str]]()
        texts = defaultdict[tuple[str, str], list[str]](list)
        for text, (kind, label) in variable.cells.items():
            cell = (kind, NOT_APPLICABLE if kind == "structural" else label)
            n_of[cell] += variable.counts.get(text, 0)
            texts[cell].append(text)
        levels = [
            *((label, "value", n_of["value", label]) for label in variable.values),
            *((label, "missing", n_of["missing", label]) for label in variable.missing),
            (MISSING, "blank", variable.counts.get(None, 0)),
            (NOT_APPLICABLE, "structural", n_of["structural", NOT_APPLICABLE]),
        ]
        for code, (label, of_kind, n_read) in enumerate(levels, 1):
            gated = variable.n_of_code
            n = n_read if gated is None else gated.get(code, 0)
            codes = texts[of_kind, label]
            if variable.former is not None:
                codes = list(dict.fromkeys([*variable.former.codes_of(of_kind, label), *codes]))
            written = [] if variable.entry.bins else in_level_order(codes)
            level_rows.append(
                {
                    "level_id": level_id,
                    "variable_id": variable_id,
                    "code": code,
                    "label": label,
                    "label_id": label_ids.setdefault(
                        same.get(label, label), len(label_ids) + 1
                    ),
                    "original_code": _BETWEEN_CODES.join(written) or None,
                    "kind": of_kind,
                    "n": n,
                }
            )
            level_id += 1
        variable_id += 1
    insert_rows(catalog, schema.variable, variable_rows)
    insert_rows(catalog, schema.level, level_rows)


def _next(catalog: sa.Connection, column: sa.Column[int]) -> int:
    highest = catalog.execute(sa.select(sa.func.max(column))).scalar()
    return (highest or 0) + 1


def same_labels(variables: Iterable[Variable]) -> dict[str, str]:
    """Return each label declared the same as others -> the first of its group.

    Raises
    ------
    SurveyError
        A group has one label only, or names no answer of its variable.
    """
    first: dict[str, str] = {}
    for variable in variables:
        for group in variable.entry.same:
            unknown = [label for label in group if label not in variable.values]
            if unknown or len(group) < 2:
                raise SurveyError(
                    f"{variable.name!r}: same lists {listed(map(repr, unknown or group))}, "
                    + ("no answers of it" if unknown else "one label only"),
                    hint=f"its answers are {listed(map(repr, variable.values), most=10)}",
                )
            heads = list(dict.fromkeys(first.get(label, label) for label in group))
            joined = {label for label, head in first.items() if head in heads}
            first.update(dict.fromkeys([*joined, *group], heads[0]))
    return first


def count_rows(steps: Steps, variables: list[Variable]) -> None:
    """Make the temp table ``level_code(ordinal, cell, code)``: which text has which code."""
    ordinals: list[int] = []
    texts: list[str] = []
    codes: list[int] = []
    for ordinal, variable in enumerate(variables, 1):
        codes_of = variable.codes()
        ordinals += [ordinal] * len(codes_of)
        texts += codes_of
        codes += codes_of.values()
    steps.create(
        "level_code",
        "select unnest(cast($ordinals as integer[])) as ordinal, "
        "unnest(cast($texts as varchar[])) as cell, "
        "unnest(cast($codes as integer[])) as code",
        {"ordinals": ordinals, "texts": texts, "codes": codes},
    )


def suspects(variables: list[Variable], settings: Settings) -> list[str]:
    """Return hints about labels that may not be answers, or were looked for in vain."""
    hints = []
    for variable in variables:
        name = variable.name
        hints += variable.hints
        hints += [
            f"{name!r} has the answer {label!r} ({counted(n, 'row')}), kept as a label: if it "
            f"means no answer, ingest with missing=[{label!r}] or structural=[{label!r}]"
            for label in variable.values
            if label.strip().casefold() in SUSPECT and (n := variable.n_of("value", label))
        ]
        hints += [
            f"{name!r} has the answers {listed(map(repr, group), most=10)}, equal but for "
            "blanks around them or their case: recode joins them"
            for group in alike(variable.values)
        ]
        if len(variable.values) > MANY_LEVELS:
            hints.append(f"{name!r} has {len(variable.values):,} levels")
        if not variable.values:
            hints.append(f"{name!r} has no answer at all")
    for what, declared in (
        ("structural", settings.structural),
        ("missing", settings.missing),
    ):
        found: dict[str, int] = {}
        for variable in variables:
            for label in declared.get(variable.name, ()):
                of_label = variable.set_apart().get(label, 0)
                found[label] = found.get(label, 0) + max(
                    of_label, variable.counts.get(label, 0)
                )
        hints += [
            f"{what} label {label!r} was not found in any column"
            for label, n in found.items()
            if not n
        ]
    return hints


def alike(labels: list[str]) -> list[list[str]]:
    """Return groups of labels that differ in outer blanks or case only.

    Examples
    --------
    >>> alike(["Yes", "no", "yes "])
    [['Yes', 'yes ']]
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(label.strip().casefold(), []).append(label)
    return [group for group in groups.values() if len(group) > 1]
