"""Suspects: labels that may be no answers, or were looked for in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import counted, listed
from cegdb.ingest.coding.levels import MANY_LEVELS

if TYPE_CHECKING:
    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.settings import Settings

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
