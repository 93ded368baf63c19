"""The variables of a survey as a screening sees them: their levels, gates, and blanks.

Whether a variable applies is decided without regard to an order, as in a search over orders,
but from pairs of variables: no row needs an answer to each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from cegdb.ingest.codebook.gates import ordered_gates
from cegdb.options import GATE_MIN_ROWS
from cegdb.store import schema
from cegdb.tree.answer_columns import AppliedColumn, mark_unanswered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from cegdb.options import ExploreOptions
    from cegdb.sqlfiles import Steps


@dataclass(frozen=True)
class ScreenedVariable:
    """A variable of a survey.

    Attributes
    ----------
    name
        That of the survey.
    n_of_code
        Respondents with each code of the response table, from 1: the values, then missing
        answers, blanks, and "not applicable".
    column
        How its cells are read.
    gates
        Names of the variables that decide, together, whether it applies; none if it always
        does, or if nothing decides.
    """

    name: str
    n_of_code: tuple[int, ...]
    column: AppliedColumn
    gates: tuple[str, ...] = ()

    @property
    def n_blank(self) -> int:
        """Respondents with a blank."""
        return self.n_of_code[self.column.blank_code - 1]

    @property
    def n_inapplicable(self) -> int:
        """Respondents whose cells say that it does not apply."""
        return sum(self.n_of_code[self.column.blank_code :])

    @property
    def identifies(self) -> bool:
        """Whether it has more than half as many labels as respondents with an answer."""
        values = [n for n in self.n_of_code[: self.column.n_values] if n]
        return len(values) > 1 and 2 * len(values) > sum(values)


class _Unanswered(NamedTuple):
    """What lacks an answer to a variable at one level of another.

    In every row its cell is blank or does not apply, or has no answer; in some row it is
    blank, or does not apply.
    """

    is_empty: bool
    is_unanswered: bool
    has_blank: bool
    has_inapplicable: bool


def read_variables(catalog: sa.Connection, survey_id: int) -> list[ScreenedVariable]:
    """Return the variables of a survey, in its order, with cells read as they are."""
    variable, level = schema.variable.c, schema.level.c
    query = (
        sa.select(variable.name, variable.ordinal, level.kind, level.n)
        .where(variable.survey_id == survey_id, level.variable_id == variable.variable_id)
        .order_by(variable.ordinal, level.code)
    )
    levels: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for name, ordinal, kind, n in catalog.execute(query):
        levels.setdefault((name, ordinal), []).append((kind, n))
    variables = []
    for (name, ordinal), rows in levels.items():
        kinds = [kind for kind, _ in rows]
        column = AppliedColumn(ordinal, kinds.count("value"), kinds.index("blank") + 1)
        variables.append(ScreenedVariable(name, tuple(n for _, n in rows), column))
    return variables


def with_gates(
    con: duckdb.DuckDBPyConnection,
    steps: Steps,
    survey: Mapping[str, Any],
    variables: Sequence[ScreenedVariable],
    options: ExploreOptions,
) -> dict[str, ScreenedVariable]:
    """Find what decides whether each variable applies, and what its blanks mean.

    A gate is the one that the codebook declares, else an earlier variable of the survey whose
    answers decide it: of several, that of the fewest levels. With ``blank="auto"`` blanks are
    structural at the levels of one earlier variable that have nothing else, in at least
    `GATE_MIN_ROWS` rows: the variable that explains most of them.
    """
    is_category = options.missing_policy == "category"
    known = {
        one.name: replace(
            one,
            column=replace(
                one.column,
                closed=options.blank == "structural" and one.n_blank > 0,
                missing_counts=is_category,
            ),
        )
        for one in variables
    }
    declared = _declared_gates(con, survey, known)
    undecided = [
        one
        for one in known.values()
        if (one.n_blank and options.blank != "missing") or one.n_inapplicable
    ]
    if not undecided:
        return known
    unanswered = _find_unanswered(steps, survey["survey_id"], variables, undecided)
    for one in undecided:
        of_one = unanswered[one.column.ordinal]
        closed_by = None
        if options.blank == "auto" and one.n_blank:
            closed_by = _closing_variable(one, known, of_one)
            if closed_by is not None:
                name, codes = closed_by
                ordinal = known[name].column.ordinal
                is_explained = not any(
                    cell.has_blank
                    for (of, code), cell in of_one.items()
                    if of == ordinal and code not in codes
                )
                closed = is_explained or (ordinal, codes)
                column = replace(known[one.name].column, closed=closed)
                known[one.name] = replace(one, column=column)
        gates = declared.get(one.name)
        if gates is None:
            gates = _deciding_variable(known[one.name], known, of_one, closed_by)
        known[one.name] = replace(known[one.name], gates=gates)
    return known


def predecessors(known: Mapping[str, ScreenedVariable], name: str) -> list[str]:
    """Return the gates of a variable, theirs, and so on, gates first."""
    found: list[str] = []
    for gate in known[name].gates:
        found += [one for one in (*predecessors(known, gate), gate) if one not in found]
    return found


def _declared_gates(
    con: duckdb.DuckDBPyConnection,
    survey: Mapping[str, Any],
    known: Mapping[str, ScreenedVariable],
) -> dict[str, tuple[str, ...]]:
    settings = survey["settings"]
    return {
        gate.variable: tuple(gate.depends_on)
        for gate in ordered_gates(con, settings["gates"], settings["columns"], "the survey")
        if gate.variable in known and all(name in known for name in gate.depends_on)
    }


def _find_unanswered(
    steps: Steps,
    survey_id: int,
    variables: Sequence[ScreenedVariable],
    undecided: Sequence[ScreenedVariable],
) -> dict[int, dict[tuple[int, int], _Unanswered]]:
    """Return, for each undecided variable, what lacks an answer at (ordinal, code) of each."""
    ordinals = [one.column.ordinal for one in variables]
    mark_unanswered(steps, survey_id, ordinals, [one.column for one in undecided])
    found: dict[int, dict[tuple[int, int], _Unanswered]] = {
        one.column.ordinal: {} for one in undecided
    }
    for ordinal, code, in_every, in_some in steps.fetch("unanswered_level"):
        for index, one in enumerate(undecided):
            bits = in_every[2 * index : 2 * index + 2] + in_some[2 * index : 2 * index + 2]
            found[one.column.ordinal][ordinal, code] = _Unanswered(
                *(bit == "1" for bit in bits)
            )
    return found


def _levels(one: ScreenedVariable) -> list[tuple[int, ...]]:
    """Return the codes of each level that is known: those of "not applicable" are one level."""
    column = one.column
    values = [(code,) for code in range(1, column.n_values + 1)]
    inapplicable = tuple(range(column.blank_code + 1, len(one.n_of_code) + 1))
    return [
        *values,
        (column.blank_code, *inapplicable) if column.closed is True else inapplicable,
    ]


def _closing_variable(
    one: ScreenedVariable,
    known: Mapping[str, ScreenedVariable],
    unanswered: Mapping[tuple[int, int], _Unanswered],
) -> tuple[str, tuple[int, ...]] | None:
    """Return the variable at whose levels blanks are structural, and their codes."""
    best: tuple[int, int] = (0, 0)
    found = None
    for other in known.values():
        ordinal = other.column.ordinal
        if ordinal >= one.column.ordinal or other.identifies:
            continue
        codes: list[int] = []
        n_explained = 0
        for level in _levels(other):
            occurring = [unanswered[ordinal, x] for x in level if (ordinal, x) in unanswered]
            n = sum(other.n_of_code[code - 1] for code in level)
            if n >= GATE_MIN_ROWS and all(cell.is_empty for cell in occurring):
                codes += level
                n_explained += n
        if n_explained and (n_explained, -other.column.n_values) > best:
            best = (n_explained, -other.column.n_values)
            found = (other.name, tuple(codes))
    return found


def _deciding_variable(
    one: ScreenedVariable,
    known: Mapping[str, ScreenedVariable],
    unanswered: Mapping[tuple[int, int], _Unanswered],
    closed_by: tuple[str, tuple[int, ...]] | None,
) -> tuple[str, ...]:
    """Return the earlier variable, if any, that decides whether another applies."""
    earlier = [
        other
        for other in known.values()
        if other.column.ordinal < one.column.ordinal
        and not other.identifies
        and one.name not in predecessors(known, other.name)
    ]
    is_closed = one.column.closed is True
    if closed_by is not None and not is_closed:
        # Of blanks only the pair with this variable says which do not apply.
        earlier = [other for other in earlier if other.name == closed_by[0]]
    for other in sorted(earlier, key=lambda x: (x.column.n_values, x.column.ordinal)):
        ordinal = other.column.ordinal
        closed = []
        for level in _levels(other):
            occurring = [unanswered[ordinal, x] for x in level if (ordinal, x) in unanswered]
            closes = is_closed or (closed_by is not None and set(level) <= set(closed_by[1]))
            if any(x.has_inapplicable or (closes and x.has_blank) for x in occurring):
                closed.append(all(cell.is_unanswered for cell in occurring))
        if closed and all(closed):
            return (other.name,)
    return ()
