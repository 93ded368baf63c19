"""The complete rows of some variables of a survey: what a search over orders sees.

Whether a question applied is decided here without regard to an order: a gate is a variable
whose answers decide it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import sqlalchemy as sa

from cegdb.errors import TreeError, listed
from cegdb.ingest.codebook.gates import ordered_gates
from cegdb.orders.order_ranking import closure, mask_of
from cegdb.sqlfiles import Steps
from cegdb.store import schema
from cegdb.tree.path_codes import distinct_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    from numpy.typing import NDArray

GATE_MIN_ROWS: Final = 5
_MISSING: Final = -1


@dataclass(frozen=True)
class Question:
    """A variable as a search over orders sees it.

    Attributes
    ----------
    name, ordinal
        Of the survey.
    n_values
        Number of its value levels; their codes are 0 ... n_values - 1 in `CompleteRows`, and
        n_values stands for 'not applicable'.
    blank_code
        Of the response table, where codes start at 1 and blanks come before
        'not applicable'.
    gates
        Variables that decide, together, whether it applies; none if it always does, or if
        nothing decides.
    n_labels
        Labels of its florets: the values, and 'not applicable' where no gate decides.
    """

    name: str
    ordinal: int
    n_values: int
    blank_code: int
    gates: tuple[int, ...] = ()
    n_labels: int = 0


@dataclass(frozen=True)
class CompleteRows:
    """Rows that have an answer, or none to give, to each of some variables.

    Attributes
    ----------
    questions
        The variables; gates are places in this list.
    codes
        Shape (rows, variables), distinct.
    sums
        Shape (rows, 1) or (rows, 3): respondents of each row; and, of a weighted survey, the
        sum of their weights and that of the squares.
    left_out
        Variable -> respondents left out for lack of an answer to it (and others).
    n_left_out
        Respondents left out.
    blanks
        Kinds of decisions about blanks that were made: structural, missing.
    """

    questions: list[Question]
    codes: NDArray[np.int64]
    sums: NDArray[np.float64]
    left_out: dict[str, int] = field(default_factory=dict)
    n_left_out: int = 0
    blanks: frozenset[str] = frozenset()


def complete_rows(
    con: duckdb.DuckDBPyConnection,
    survey: Mapping[str, Any],
    questions: Sequence[Question],
    *,
    blank: str,
) -> CompleteRows:
    """Read the complete rows of some variables of a survey, and find their gates.

    Parameters
    ----------
    con
        The database.
    survey
        Its catalog row.
    questions
        The variables, as `find_questions` gives them.
    blank
        What a blank is: ``"structural"``, ``"missing"``, or ``"auto"``: structural where all
        of at least 5 rows with one answer to an earlier variable of the survey are blank.

    Raises
    ------
    TreeError
        No row is complete.
    """
    with Steps(con) as steps:
        raw, sums = distinct_rows(
            steps,
            survey["survey_id"],
            [asked.ordinal for asked in questions],
            is_weighted=survey["settings"].get("weight") is not None,
        )
    n = sums[:, 0]
    codes = raw - 1
    blanks: set[str] = set()
    for x in sorted(range(len(questions)), key=lambda x: questions[x].ordinal):
        asked = questions[x]
        is_structural = raw[:, x] > asked.blank_code
        is_blank = raw[:, x] == asked.blank_code
        codes[raw[:, x] > asked.n_values, x] = _MISSING
        closed = _closed(questions, codes, n, x, is_blank | is_structural, blank) & is_blank
        codes[is_structural | closed, x] = asked.n_values
        blanks |= {"structural"} if closed.any() else set()
        blanks |= {"missing"} if (is_blank & ~closed).any() else set()
    is_complete = (codes != _MISSING).all(axis=1)
    if not is_complete.any():
        names = listed(repr(q.name) for q in questions)
        raise TreeError(
            f"no respondent of survey {survey['name']!r} answered all of {names}",
            hint="leave out variables that few were asked",
        )
    missing = {
        asked.name: int(n[codes[:, x] == _MISSING].sum()) for x, asked in enumerate(questions)
    }
    kept = CompleteRows(
        list(questions),
        *_distinct(codes[is_complete], sums[is_complete]),
        {name: lacking for name, lacking in missing.items() if lacking},
        int(n[~is_complete].sum()),
        frozenset(blanks),
    )
    return replace(kept, questions=_with_gates(con, survey, kept))


def find_questions(
    catalog: sa.Connection, survey_id: int, names: Sequence[str]
) -> list[Question]:
    """Return variables of a survey, in the order of ``names``.

    Raises
    ------
    TreeError
        Nobody answered one of them.
    """
    variable, level = schema.variable.c, schema.level.c
    is_value, is_blank = level.kind == "value", level.kind == "blank"
    query = (
        sa.select(
            variable.name,
            variable.ordinal,
            sa.func.count().filter(is_value),
            sa.func.max(level.code).filter(is_blank),
        )
        .where(variable.survey_id == survey_id, level.variable_id == variable.variable_id)
        .group_by(variable.name, variable.ordinal)
    )
    known = {str(name): Question(name, *rest) for name, *rest in catalog.execute(query)}
    found = [known[name] for name in names]
    empty = [repr(asked.name) for asked in found if not asked.n_values]
    if empty:
        raise TreeError(f"nobody answered {listed(empty)}", hint="leave it out of variables")
    return found


def _distinct(
    codes: NDArray[np.int64], sums: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the distinct rows, sorted, and their sums."""
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    total = np.zeros((len(rows), sums.shape[1]))
    np.add.at(total, place.ravel(), sums)
    return rows, total


def _closed(
    questions: Sequence[Question],
    codes: NDArray[np.int64],
    n: NDArray[np.float64],
    x: int,
    unasked: NDArray[np.bool_],
    blank: str,
) -> NDArray[np.bool_]:
    """Return the rows in which a blank of one variable says that it does not apply.

    With ``"auto"`` by the answers to that earlier variable which explains most blanks; of
    several, that of the fewest levels.
    """
    nobody = np.zeros(len(n), dtype=np.bool_)
    if blank != "auto" or not unasked.any():
        return unasked if blank == "structural" else nobody
    best, fewest, closed_rows = 0, 0, nobody
    for y, gate in enumerate(questions):
        if gate.ordinal >= questions[x].ordinal:
            continue
        known = codes[:, y] != _MISSING
        size = gate.n_values + 1
        total = np.bincount(codes[known, y], n[known], size)
        lacking = np.bincount(codes[known & unasked, y], n[known & unasked], size)
        closed = (lacking == total) & (total >= GATE_MIN_ROWS)
        explained = int(lacking[closed].sum())
        if explained > best or (explained == best and best and gate.n_values < fewest):
            best, fewest = explained, gate.n_values
            closed_rows = known & closed[codes[:, y]]
    return closed_rows


def _with_gates(
    con: duckdb.DuckDBPyConnection, survey: Mapping[str, Any], rows: CompleteRows
) -> list[Question]:
    """Find what decides whether each variable applies: its declared gate, else one other."""
    questions = list(rows.questions)
    place = {asked.name: x for x, asked in enumerate(questions)}
    is_unasked = rows.codes == [asked.n_values for asked in questions]
    gates: dict[int, tuple[int, ...]] = {}
    settings = survey["settings"]
    for gate in ordered_gates(con, settings["gates"], settings["columns"], "the survey"):
        asks = tuple(place[name] for name in gate.asks if name in place)
        x = place.get(gate.variable)
        if x is not None and len(asks) == len(gate.asks) and is_unasked[:, x].any():
            gates[x] = asks if _decide(rows, asks, is_unasked[:, x]) else ()
    gates = {x: asks for x, asks in gates.items() if asks}
    for x in sorted(place.values(), key=lambda x: questions[x].ordinal):
        if x in gates or not is_unasked[:, x].any():
            continue
        before = closure([mask_of(gates.get(y, ())) for y in range(len(questions))])
        earlier = [
            y
            for y, gate in enumerate(questions)
            if gate.ordinal < questions[x].ordinal and not before[y] >> x & 1
        ]
        for y in sorted(earlier, key=lambda y: (questions[y].n_values, questions[y].ordinal)):
            if _decide(rows, (y,), is_unasked[:, x]):
                gates[x] = (y,)
                break
    return [
        replace(
            asked,
            gates=gates.get(x, ()),
            n_labels=asked.n_values + bool(x not in gates and is_unasked[:, x].any()),
        )
        for x, asked in enumerate(questions)
    ]


def _decide(rows: CompleteRows, gates: Sequence[int], is_unasked: NDArray[np.bool_]) -> bool:
    """Return whether the answers to some variables decide that another does not apply."""
    answers = rows.codes[:, gates]
    both = np.column_stack((answers, is_unasked))
    return len(np.unique(answers, axis=0)) == len(np.unique(both, axis=0))
