"""Patterns of unanswered questions: which of them come together, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.ingest.coding.variables import Variable
    from cegdb.sqlfiles import Steps

_MOST_VARIABLES: Final = 100
_MOST_PATTERNS: Final = 20


def missing_patterns(
    steps: Steps, table: str, variables: Sequence[Variable]
) -> dict[str, object]:
    """Return how often variables are unanswered together, empty if every cell is an answer.

    A pattern has a sign a variable: ``+`` an answer, ``?`` missing, ``.`` blank, ``-`` not
    applicable.
    """
    gaps = [
        (i, variable)
        for i, variable in enumerate(variables, 1)
        if any(n for kind, n in variable.counts_by_kind().items() if kind != "value")
    ][:_MOST_VARIABLES]
    if not gaps:
        return {}
    letters = " || ".join(
        f"case when v{i} <= {len(variable.values)} then '+' "
        f"when v{i} < {variable.blank_code} then '?' "
        f"when v{i} = {variable.blank_code} then '.' else '-' end"
        for i, variable in gaps
    )
    rows = steps.rows(
        f"select {letters} as pattern, sum(n) as n, count(*) over () from {table} "  # noqa: S608
        f"group by pattern order by n desc, pattern limit {_MOST_PATTERNS}"
    )
    return {
        "variables": [variable.name for _, variable in gaps],
        "n_patterns": rows[0][2],
        "shown": [{"pattern": pattern, "n": int(n)} for pattern, n, _ in rows],
    }
