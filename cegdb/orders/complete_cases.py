"""The rows of a survey with an answer to each of some variables: what an order search uses.

Whether a variable applies is decided here without regard to an order: a gate is a variable
whose answers decide it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import sqlalchemy as sa

from cegdb.errors import TreeError, listed
from cegdb.ingest.codebook.gates import ordered_gates
from cegdb.options import GATE_MIN_ROWS
from cegdb.orders.order_ranking import all_predecessors, mask_of
from cegdb.sqlfiles import Steps
from cegdb.store import schema
from cegdb.tree.path_codes import distinct_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    from numpy.typing import NDArray

_MISSING: Final = -1


@dataclass(frozen=True)
class Question:
    """A variable in a search over orders.

    Attributes
    ----------
    name, ordinal
        Those of the survey.
    n_values
        Number of its value levels; in `CompleteRows` they have the codes 0 ... n_values - 1,
        and n_values means that the variable does not apply.
    blank_code
        In the response table, where codes start at 1 and blanks come before "not applicable".
    gates
        Indices of the variables that decide, together, whether it applies; none if it always
        does, or if nothing decides.
    n_labels
        Labels of its florets: the values, and "not applicable" where no gate decides.
    """

    name: str
    ordinal: int
    n_values: int
    blank_code: int
    gates: tuple[int, ...] = ()
    n_labels: int = 0


@dataclass(frozen=True)
class CompleteRows:
    """Distinct rows with a value, or "not applicable", for each of some variables.

    Attributes
    ----------
    questions
        The variables; gates are indices in this list.
    codes
        Shape (rows, variables).
    sums
        Shape (rows, 1) or (rows, 3): respondents; in a weighted survey also the sum of their
        weights and of the squares.
    left_out, n_left_out
        Respondents left out: those without an answer to each variable, and in all.
    blanks
        How blanks were read: structural, missing.
    """

    questions: list[Question]
    codes: NDArray[np.int64]
    sums: NDArray[np.float64]
    left_out: dict[str, int] = field(default_factory=dict)
    n_left_out: int = 0
    blanks: frozenset[str] = frozenset()


def read_complete_rows(
    con: duckdb.DuckDBPyConnection,
    survey: Mapping[str, Any],
    questions: Sequence[Question],
    *,
    blank: str,
) -> CompleteRows:
    """Read the complete rows of some variables of a survey, and find their gates.

    ``blank`` is ``"structural"``, ``"missing"``, or ``"auto"``: structural where all of at
    least `GATE_MIN_ROWS` rows with the same answer to an earlier variable are blank.
    """
    with Steps(con) as steps:
        raw, sums = distinct_rows(
            steps,
            survey["survey_id"],
            [question.ordinal for question in questions],
            is_weighted=survey["settings"].get("weight") is not None,
        )
        n = sums[:, 0]
        codes = raw - 1
        blanks: set[str] = set()
        # In the survey's order: what a blank means decides what later blanks mean.
        for x in sorted(range(len(questions)), key=lambda x: questions[x].ordinal):
            question = questions[x]
            is_structural = raw[:, x] > question.blank_code
            is_blank = raw[:, x] == question.blank_code
            codes[raw[:, x] > question.n_values, x] = _MISSING
            closed = np.full(len(n), blank == "structural")
            if blank == "auto" and is_blank.any():
                closed = _inapplicable(steps, questions, codes, n, x, is_blank | is_structural)
            closed &= is_blank
            codes[is_structural | closed, x] = question.n_values
            blanks |= {"structural"} if closed.any() else set()
            blanks |= {"missing"} if (is_blank & ~closed).any() else set()
    is_complete = (codes != _MISSING).all(axis=1)
    if not is_complete.any():
        names = listed(repr(q.name) for q in questions)
        raise TreeError(
            f"no respondent of survey {survey['name']!r} answered all of {names}",
            hint="leave out variables that few respondents answered",
        )
    n_missing = {
        question.name: int(n[codes[:, x] == _MISSING].sum())
        for x, question in enumerate(questions)
    }
    rows = CompleteRows(
        list(questions),
        *_sum_distinct(codes[is_complete], sums[is_complete]),
        {name: count for name, count in n_missing.items() if count},
        int(n[~is_complete].sum()),
        frozenset(blanks),
    )
    return replace(rows, questions=_with_gates(con, survey, rows))


def find_questions(
    catalog: sa.Connection, survey_id: int, names: Sequence[str]
) -> list[Question]:
    """Return variables of a survey in the order of ``names``; refuse those nobody answered."""
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
    questions = [known[name] for name in names]
    empty = [repr(question.name) for question in questions if not question.n_values]
    if empty:
        raise TreeError(
            f"nobody answered {listed(empty)}",
            hint="leave out of variables what nobody answered",
        )
    return questions


def _sum_distinct(
    codes: NDArray[np.int64], sums: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the distinct rows, sorted, and their sums."""
    rows, index = np.unique(codes, axis=0, return_inverse=True)
    total = np.zeros((len(rows), sums.shape[1]))
    np.add.at(total, index.ravel(), sums)
    return rows, total


def _inapplicable(
    steps: Steps,
    questions: Sequence[Question],
    codes: NDArray[np.int64],
    n: NDArray[np.float64],
    x: int,
    is_empty: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return the rows in which a blank of one variable says that it does not apply.

    The rule is that of event trees, with each answer to one earlier variable as a history: of
    the earlier variables the one that explains most blanks decides, of several such that of
    the fewest levels. ``is_empty`` marks the rows without an answer to the variable.
    """
    earlier = [y for y, other in enumerate(questions) if other.ordinal < questions[x].ordinal]
    inapplicable = np.zeros(len(n), dtype=np.bool_)
    if not earlier:
        return inapplicable
    counts = []
    for y in earlier:
        is_known = codes[:, y] != _MISSING
        by_level = np.zeros((2, questions[y].n_values + 1))
        for row, has_rows in enumerate((is_known & ~is_empty, is_known & is_empty)):
            by_level[row] = np.bincount(codes[has_rows, y], n[has_rows], by_level.shape[1])
        counts.append(by_level)
    best = (0, 0)
    for y, closes in zip(earlier, _closing_levels(steps, counts), strict=True):
        is_closed = (codes[:, y] != _MISSING) & closes[codes[:, y]]
        n_explained = int(n[is_closed & is_empty].sum())
        if n_explained and (n_explained, -len(closes)) > best:
            best = (n_explained, -len(closes))
            inapplicable = is_closed
    return inapplicable


def _closing_levels(
    steps: Steps, counts: Sequence[NDArray[np.float64]]
) -> list[NDArray[np.bool_]]:
    """Return, for each variable, at which of its levels blanks are structural.

    ``counts``, of shape (2, levels), has the rows with an answer, and those without. All
    levels go through one run of the step by which event trees decide, as histories of their
    own.
    """
    answered, blank, structural, radix = 1, 2, 3, 4
    all_counts = np.concatenate(counts, axis=1)
    history = np.arange(all_counts.shape[1])
    codes = np.concatenate((history * radix + answered, history * radix + blank))
    n = all_counts.ravel().astype(np.int64)
    steps.create_from("path_row", {"code": codes[n > 0], "n": n[n > 0]})
    steps.run(
        "gate_floret",
        divisor=1,
        radix=radix,
        n_values=1,
        blank_code=blank,
        structural_code=structural,
        blank="auto",
        policy="complete",
        gate_min_rows=GATE_MIN_ROWS,
    )
    closes = np.zeros(len(history), dtype=np.bool_)
    rows = steps.rows("select prefix from temp.gate_floret where blank_structural")
    closes[[prefix for (prefix,) in rows]] = True
    return np.split(closes, np.cumsum([by_level.shape[1] for by_level in counts])[:-1])


def _with_gates(
    con: duckdb.DuckDBPyConnection, survey: Mapping[str, Any], rows: CompleteRows
) -> list[Question]:
    """Find what decides whether each variable applies: its declared gate, else one other."""
    questions = list(rows.questions)
    index_of = {question.name: x for x, question in enumerate(questions)}
    is_inapplicable = rows.codes == [question.n_values for question in questions]
    gates: dict[int, tuple[int, ...]] = {}
    settings = survey["settings"]
    for gate in ordered_gates(con, settings["gates"], settings["columns"], "the survey"):
        deciding = tuple(index_of[name] for name in gate.depends_on if name in index_of)
        x = index_of.get(gate.variable)
        if (
            x is not None
            and len(deciding) == len(gate.depends_on)
            and is_inapplicable[:, x].any()
        ):
            gates[x] = deciding if _decides(rows, deciding, is_inapplicable[:, x]) else ()
    gates = {x: deciding for x, deciding in gates.items() if deciding}
    for x in sorted(index_of.values(), key=lambda x: questions[x].ordinal):
        if x in gates or not is_inapplicable[:, x].any():
            continue
        # A gate must not depend on the variable that it decides, directly or not.
        before = all_predecessors([mask_of(gates.get(y, ())) for y in range(len(questions))])
        earlier = [
            y
            for y, gate in enumerate(questions)
            if gate.ordinal < questions[x].ordinal and not before[y] >> x & 1
        ]
        for y in sorted(earlier, key=lambda y: (questions[y].n_values, questions[y].ordinal)):
            if _decides(rows, (y,), is_inapplicable[:, x]):
                gates[x] = (y,)
                break
    return [
        replace(
            question,
            gates=gates.get(x, ()),
            n_labels=question.n_values + bool(x not in gates and is_inapplicable[:, x].any()),
        )
        for x, question in enumerate(questions)
    ]


def _decides(
    rows: CompleteRows, gates: Sequence[int], is_inapplicable: NDArray[np.bool_]
) -> bool:
    """Return whether the answers to some variables decide that another does not apply."""
    answers = rows.codes[:, gates]
    both = np.column_stack((answers, is_inapplicable))
    return len(np.unique(answers, axis=0)) == len(np.unique(both, axis=0))
