"""The variables of a tree, and the histories at which their empty cells were decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.sqlfiles import Steps

_MOST_SHOWN: Final = 20


@dataclass(frozen=True)
class TreeVariable:
    """One variable of the order, with its levels as the survey codes them.

    ``is_unanswered``: some cells are blank, and none has an answer or a reason for its lack.
    ``radix`` is the number of digits it may have in a path code, ``n_undecided`` the number of
    cells that may mean either "missing" or "not applicable". ``known_labels`` are those of
    ``codes`` that are answers or occur, to name in messages.
    """

    name: str
    ordinal: int
    variable_id: int
    first_level_id: int
    codes: Mapping[str, int]
    n_values: int
    is_unanswered: bool
    blank_code: int
    missing_code: int
    n_undecided: int
    radix: int
    known_labels: Sequence[str]

    @property
    def structural_code(self) -> int:
        """The code of the level 'not applicable'."""
        return self.blank_code + 1


def label_for(variable: TreeVariable, code: int) -> str:
    """Return the label that a code of a variable stands for."""
    return next(label for label, code_of in variable.codes.items() if code_of == code)


def histories(
    steps: Steps,
    variables: Sequence[TreeVariable],
    chunk_ends: Sequence[int],
    variable: TreeVariable,
    divisor: int,
) -> dict[str, object]:
    """Return the histories at which empty cells of a variable were decided, most rows first.

    Reads ``gate_floret`` of the variable; ``divisor`` is what its digit of a path code is
    multiplied by. ``n`` is the number of histories, ``shown`` has the first 20: ``history`` in
    words, ``rows`` that reached it, ``decided`` of these, and what they count ``as``.
    """
    rows = steps.fetch(
        "gate_history",
        divisor=divisor,
        radix=variable.radix,
        n_values=variable.n_values,
        blank_code=variable.blank_code,
        most=_MOST_SHOWN,
    )
    start = chunk_ends[-1] if chunk_ends else 0
    before = variables[start : list(variables).index(variable)]
    return {
        "n": rows[0][4] if rows else 0,
        "shown": [
            {
                "history": ", ".join(_in_words(steps, variables, chunk_ends, before, prefix)),
                "rows": n_rows,
                "decided": n_decided,
                "as": "not applicable" if is_structural else "missing",
            }
            for prefix, is_structural, n_rows, n_decided, _ in rows
        ],
    }


def _in_words(
    steps: Steps,
    variables: Sequence[TreeVariable],
    chunk_ends: Sequence[int],
    before: Sequence[TreeVariable],
    code: int,
) -> list[str]:
    """Return a path code as ``variable = label``, earlier chunks included."""
    words: list[str] = []
    for variable in reversed(before):
        code, digit = divmod(code, variable.radix)
        words.insert(0, f"{variable.name} = {label_for(variable, digit)}")
    if not chunk_ends:
        return words
    ((above,),) = steps.rows(
        "select code from temp.path_prefix where chunk = $chunk and prefix_id = $prefix_id",
        {"chunk": len(chunk_ends) - 1, "prefix_id": code},
    )
    start = chunk_ends[-2] if len(chunk_ends) > 1 else 0
    chunk = variables[start : chunk_ends[-1]]
    return [*_in_words(steps, variables, chunk_ends[:-1], chunk, above), *words]
