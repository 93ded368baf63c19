"""What the cells of rows to be answered mean: the codes of a survey's levels, its gates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError
from cegdb.ingest.codebook.gates import apply_gates, ordered_gates
from cegdb.ingest.coding.bins import number_of
from cegdb.ingest.coding.levels import decide_cells
from cegdb.ingest.coding.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from cegdb.ingest.coding.variables import Former
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.waves import Before
    from cegdb.sqlfiles import Steps

ABSENT: Final = 0
"""The code of a cell whose column the source lacks, or of an unknown reason for no answer."""


def meanings(
    variable: Variable, former: Former, texts: Sequence[str]
) -> tuple[dict[str, int], int]:
    """Return the code of each text of a variable, and how many codes its levels have."""
    codes_of: dict[str, set[int]] = {}
    of_label: dict[str, int] = {}
    of_kind: dict[str, int] = {}
    for place, (kind, label, stood_for, _) in enumerate(former.levels, 1):
        of_kind[kind] = place
        if kind in ("value", "missing"):
            of_label.setdefault(label, place)
        for text in stood_for:
            codes_of.setdefault(text, set()).add(place)
    n_levels = len(former.levels)
    codes: dict[str, int] = {}
    told = variable.known.values if variable.known else {}
    n_unknown = 0
    for text in texts:
        known = codes_of.get(text, set())
        code: int | None = None
        if text not in told:
            code = next(iter(known)) if len(known) == 1 else of_label.get(text)
        if code is None:
            code = _decided(variable, text, of_label, of_kind)
        if code is None and len(known) == 1:
            code = next(iter(known))
        if code is None:
            n_unknown += 1
            code = n_levels + n_unknown
        codes[text] = code
    return codes, n_levels


def _decided(
    variable: Variable, text: str, of_label: Mapping[str, int], of_kind: Mapping[str, int]
) -> int | None:
    """Return the code of a text that no row of the survey had, by what was said of it."""
    entry = variable.entry
    one = replace(variable, counts={text: 1}, cells={}, hints=[])
    if entry.bins is not None:
        said = {*entry.structural, *entry.missing, *entry.values, *entry.recode}
        if text not in said and number_of(text, variable.decimal) is None:
            return None
    try:
        decide_cells(one)
    except SurveyError:
        return None
    if text not in one.cells:
        return None
    kind, label = one.cells[text]
    if kind == "structural":
        return of_kind["structural"]
    if kind == "missing":
        return of_label.get(label, ABSENT)
    return of_label.get(label)


@dataclass
class _Coded(Variable):
    """A variable whose codes may be larger than those of its levels."""

    @property
    def code_type(self) -> str:
        return "integer"


def close_gates(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    rules: Mapping[str, str],
    columns: Sequence[str],
    before: Before,
    relation: Relation,
) -> None:
    """Close and open the cells behind the survey's gates, as at ingest."""
    names = list(before.variables)
    variables: list[Variable] = []
    cells = []
    for i, (name, former) in enumerate(before.variables.items(), 1):
        values, missing = former.labels("value"), former.labels("missing")
        variables.append(_Coded(name, values=values, missing=missing))
        at = f"codes[{columns.index(name) + 1}]" if name in columns else str(ABSENT)
        cells.append(f"{at} as v{i}")
    gates = ordered_gates(con, rules, names, relation.shown)
    gates = [gate for gate in gates if gate.variable in columns]
    if not gates:
        return
    lines, _ = apply_gates(
        steps,
        gates,
        variables,
        f"select combination_id, {', '.join(cells)}, cast(1 as bigint) as n "  # noqa: S608
        "from temp.given_combination",
    )
    codes = ", ".join(f"v{names.index(name) + 1}" for name in columns)
    steps.create(
        "given_combination",
        f"select combination_id, cast([{codes}] as integer[]) as codes from ({lines})",  # noqa: S608
    )
