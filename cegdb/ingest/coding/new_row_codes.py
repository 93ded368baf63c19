"""Codes of the cells of new rows: those of a survey's levels, as its gates leave them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError
from cegdb.ingest.codebook.gates import apply_gates, ordered_gates
from cegdb.ingest.coding.bins import number_of
from cegdb.ingest.coding.levels import decide_meanings
from cegdb.ingest.coding.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from cegdb.ingest.coding.variables import VariableVersion
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.survey_version import SurveyVersion
    from cegdb.sqlfiles import Steps

ABSENT: Final = 0
"""The code of a cell whose column the source lacks, or that is missing for a new reason."""
ASKED_BLANK: Final = -1
"""The code of a blank whose gate is open: missing, if the tree asks the question."""
OTHER_MISSING: Final = -2
"""The code of the text "missing" where the survey has no such level."""


def codes_of_texts(
    variable: Variable, version: VariableVersion, texts: Sequence[str]
) -> tuple[dict[str, int], int]:
    """Return the code of each text of a variable, and how many codes its levels have.

    A text means what it meant in the survey's rows; else it is a label, or what cegdb writes
    for a cell without an answer; else the codebook and the file decide. Unknown texts get codes
    above those of the levels.
    """
    codes_in_rows: dict[str, set[int]] = {}
    code_of_label: dict[str, int] = {}
    code_of_kind: dict[str, int] = {}
    for code, (kind, label, texts_in_rows, _) in enumerate(version.levels, 1):
        code_of_kind[kind] = code
        if kind in ("value", "missing"):
            code_of_label.setdefault(label, code)
        for text in texts_in_rows:
            codes_in_rows.setdefault(text, set()).add(code)
    for label, (kind, _) in version.own_labels.items():
        is_structural = kind == "structural"
        code = code_of_kind["structural"] if is_structural else OTHER_MISSING
        code_of_label.setdefault(label, code)
    n_levels = len(version.levels)
    codes: dict[str, int] = {}
    file_labels = variable.metadata.values if variable.metadata else {}
    n_unknown = 0
    for text in texts:
        in_rows = codes_in_rows.get(text, set())
        only_code = next(iter(in_rows)) if len(in_rows) == 1 else None
        decided: int | None = None
        # A file with labels of its own may mean something else by the same code.
        if text not in file_labels:
            decided = code_of_label.get(text) if only_code is None else only_code
        if decided is None:
            decided = _decide_code(variable, text, code_of_label, code_of_kind)
        if decided is None:
            decided = only_code
        if decided is None:
            n_unknown += 1
            decided = n_levels + n_unknown
        codes[text] = decided
    return codes, n_levels


def _decide_code(
    variable: Variable,
    text: str,
    code_of_label: Mapping[str, int],
    code_of_kind: Mapping[str, int],
) -> int | None:
    """Return the code of a text that no row of the survey has, by codebook and file."""
    entry = variable.entry
    single = replace(variable, counts={text: 1}, meanings={}, findings=[])
    if entry.bins is not None:
        declared = {*entry.structural, *entry.missing, *entry.values, *entry.recode}
        if text not in declared and number_of(text, variable.decimal) is None:
            return None
    try:
        decide_meanings(single)
    except SurveyError:
        return None
    if text not in single.meanings:
        return None
    kind, label = single.meanings[text]
    if kind == "structural":
        return code_of_kind["structural"]
    if kind == "missing":
        return code_of_label.get(label, ABSENT)
    return code_of_label.get(label)


@dataclass
class _VariableOfNewRows(Variable):
    """A variable whose codes may be larger than those of its levels."""

    @property
    def code_type(self) -> str:
        return "integer"


def close_gates(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    rules: Mapping[str, str],
    columns: Sequence[str],
    survey: SurveyVersion,
    relation: Relation,
) -> None:
    """Close and open the cells of new rows behind the survey's gates, as ingest does."""
    names = list(survey.variables)
    variables: list[Variable] = []
    cells = []
    for i, (name, version) in enumerate(survey.variables.items(), 1):
        values, missing = version.labels("value"), version.labels("missing")
        variables.append(_VariableOfNewRows(name, values=values, missing=missing))
        code = f"codes[{columns.index(name) + 1}]" if name in columns else str(ABSENT)
        cells.append(f"{code} as v{i}")
    gates = ordered_gates(con, rules, names, relation.title)
    gates = [gate for gate in gates if gate.variable in columns]
    if not gates:
        return
    lines, _ = apply_gates(
        steps,
        gates,
        variables,
        f"select combination_id, {', '.join(cells)}, cast(1 as bigint) as n "  # noqa: S608
        "from temp.row_combination",
        asked_blank=ASKED_BLANK,
    )
    codes = ", ".join(f"v{names.index(name) + 1}" for name in columns)
    steps.create(
        "row_combination",
        f"select combination_id, cast([{codes}] as integer[]) as codes from ({lines})",  # noqa: S608
    )
