"""Levels of variables: which labels there are, in what order, of what kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from cegdb.errors import SurveyError, listed
from cegdb.store import schema
from cegdb.store.objects import insert_rows

if TYPE_CHECKING:
    from cegdb.ingest import Settings
    from cegdb.ingest.sources import Relation
    from cegdb.sqlfiles import Steps

NOT_APPLICABLE: Final = "not applicable"
MISSING: Final = "missing"

_INTEGER = re.compile(r"[+-]?\d+\Z", re.ASCII)
_SUSPECT = {
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
_MANY_LEVELS = 50
_AT_A_TIME = 100


@dataclass
class Variable:
    """One variable: its declared labels, then (after the first pass) its levels."""

    name: str
    structural: list[str]
    missing: list[str]
    declared: list[str] | None
    values: list[str] = field(default_factory=list)
    counts: dict[str | None, int] = field(default_factory=dict)

    def cells(self) -> dict[str, int]:
        """Return how many respondents' cells are of each kind."""
        structural = sum(self.counts.get(label, 0) for label in self.structural)
        missing = sum(self.counts.get(label, 0) for label in self.missing)
        blank = self.counts.get(None, 0)
        total = sum(self.counts.values())
        return {
            "value": total - structural - missing - blank,
            "structural": structural,
            "missing": missing,
            "blank": blank,
        }

    def declared_counts(self) -> dict[str, int]:
        """Return how many cells hold each label declared structural or missing."""
        return {label: self.counts.get(label, 0) for label in (*self.structural, *self.missing)}

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


def in_level_order(labels: list[str]) -> list[str]:
    """Return labels by value if all are integers, else by UTF-8 bytes.

    Examples
    --------
    >>> in_level_order(["10", "9", "-1"]), in_level_order(["10", "9", "x"])
    (['-1', '9', '10'], ['10', '9', 'x'])
    """
    by_bytes = sorted(labels, key=lambda label: label.encode("utf-8", "surrogatepass"))
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
    found: dict[int, dict[str | None, int]] = {}
    for start in range(1, len(variables) + 1, _AT_A_TIME):
        counted = " union all ".join(
            f"select {i} as ordinal, c{i} as label, sum(n) as n "  # noqa: S608
            f"from temp.response_line group by c{i}"
            for i in range(start, min(start + _AT_A_TIME, len(variables) + 1))
        )
        for ordinal, label, n in steps.rows(counted):
            text = None if label is None else str(label)
            found.setdefault(ordinal, {})[text] = n
    for ordinal, variable in enumerate(variables.values(), 1):
        variable.counts = found.get(ordinal, {})
        _order(variable, relation.level_order.get(variable.name))
    return list(variables.values())


def _order(variable: Variable, frame_order: list[str] | None) -> None:
    name, declared = variable.name, variable.declared
    both = set(variable.structural) & set(variable.missing)
    if both:
        raise SurveyError(f"{name!r}: {listed(sorted(both))} cannot be structural and missing")
    set_apart = {*variable.structural, *variable.missing}
    observed = [
        label for label in variable.counts if label is not None and label not in set_apart
    ]
    if declared is not None:
        wrong = [label for label in declared if label in set_apart]
        if wrong:
            raise SurveyError(f"{name!r}: levels lists {listed(wrong)}, declared no value")
        known = set(declared)
        outside = in_level_order([label for label in observed if label not in known])
        if outside:
            counts = [f"{label!r} ({variable.counts[label]} rows)" for label in outside]
            raise SurveyError(
                f"{name!r} has answers that levels does not list: {listed(counts)}",
                hint="add them to levels, or declare them structural or missing",
            )
        variable.values = declared
    elif frame_order is not None:
        known, seen = set(frame_order), set(observed)
        rest = in_level_order([label for label in observed if label not in known])
        variable.values = [label for label in frame_order if label in seen] + rest
    else:
        variable.values = in_level_order(observed)
    variable.missing = in_level_order(variable.missing)
    if NOT_APPLICABLE in (*variable.values, *variable.missing):
        raise SurveyError(
            f"{name!r} has the answer {NOT_APPLICABLE!r} "
            f"({variable.counts.get(NOT_APPLICABLE, 0)} rows), which is how cegdb itself "
            "calls structural cells",
            hint=f"declare it: structural=[{NOT_APPLICABLE!r}], or write it otherwise",
        )


def insert_levels(
    catalog: sa.Connection, survey_id: int, variables: list[Variable]
) -> list[Variable]:
    """Write the rows of ``variable`` and ``level``: values, missing, blank, structural.

    ``level_id`` is the variable's first one plus ``code - 1``; ``code`` is what
    ``response_<survey_id>`` holds.
    """
    variable_id = _next(catalog, schema.variable.c.variable_id)
    level_id = _next(catalog, schema.level.c.level_id)
    label_ids: dict[str, int] = {}
    variable_rows, level_rows = [], []
    for ordinal, variable in enumerate(variables, 1):
        variable_rows.append(
            {
                "variable_id": variable_id,
                "survey_id": survey_id,
                "ordinal": ordinal,
                "name": variable.name,
            }
        )
        cells = variable.cells()
        levels = [
            *((label, "value", variable.counts.get(label, 0)) for label in variable.values),
            *((label, "missing", variable.counts.get(label, 0)) for label in variable.missing),
            (MISSING, "blank", cells["blank"]),
            (NOT_APPLICABLE, "structural", cells["structural"]),
        ]
        for code, (label, kind, n) in enumerate(levels, 1):
            level_rows.append(
                {
                    "level_id": level_id,
                    "variable_id": variable_id,
                    "code": code,
                    "label": label,
                    "label_id": label_ids.setdefault(label, len(label_ids) + 1),
                    "kind": kind,
                    "n": n,
                }
            )
            level_id += 1
        variable_id += 1
    insert_rows(catalog, schema.variable, variable_rows)
    insert_rows(catalog, schema.level, level_rows)
    return variables


def _next(catalog: sa.Connection, column: sa.Column[int]) -> int:
    highest = catalog.execute(sa.select(sa.func.max(column))).scalar()
    return (highest or 0) + 1


def count_rows(steps: Steps, variables: list[Variable]) -> None:
    """Make the temp table ``level_code(ordinal, label, code)``: which text has which code."""
    ordinals: list[int] = []
    labels: list[str] = []
    codes: list[int] = []
    for ordinal, variable in enumerate(variables, 1):
        known = [*variable.values, *variable.missing, *variable.structural]
        structural = [variable.structural_code] * len(variable.structural)
        ordinals += [ordinal] * len(known)
        labels += known
        codes += [*range(1, variable.blank_code), *structural]
    steps.create(
        "level_code",
        "select unnest(cast($ordinals as integer[])) as ordinal, "
        "unnest(cast($labels as varchar[])) as label, "
        "unnest(cast($codes as integer[])) as code",
        {"ordinals": ordinals, "labels": labels, "codes": codes},
    )


def suspects(variables: list[Variable], settings: Settings) -> list[str]:
    """Return hints about labels that may not be answers, or were looked for in vain."""
    hints = []
    for variable in variables:
        hints += [
            f"{variable.name!r} has the answer {label!r} ({variable.counts[label]} rows), "
            f"kept as a label: if it means no answer, ingest with missing=[{label!r}] or "
            f"structural=[{label!r}]"
            for label in variable.values
            if label.strip().casefold() in _SUSPECT and variable.counts.get(label)
        ]
        if len(variable.values) > _MANY_LEVELS:
            hints.append(f"{variable.name!r} has {len(variable.values):,} levels")
        if not variable.values:
            hints.append(f"{variable.name!r} has no answer at all")
    for what, declared in (
        ("structural", settings.structural),
        ("missing", settings.missing),
    ):
        found: dict[str, int] = {}
        for variable in variables:
            for label in declared.get(variable.name, []):
                found[label] = found.get(label, 0) + variable.counts.get(label, 0)
        hints += [
            f"{what} label {label!r} was not found in any column"
            for label, n in found.items()
            if not n
        ]
    return hints
