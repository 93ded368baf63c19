"""Hypothesis strategies: random survey tables and random staged trees.

``survey_tables`` and ``tree_options`` exercise the event tree: every kind of cell,
gated questions, counts, options. ``staged_trees`` exercises what comes after: trees
that are not stratified, with stages that are shared often and merges that go deep.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from oracle import BLANK, MISS, NA, Cell, Path, Row, in_level_order

if TYPE_CHECKING:
    from collections.abc import Callable

MORE = int(os.environ.get("MORE_EXAMPLES", "1"))
"""How many times as many random examples to try: 1 in each run, whose examples are new."""

PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink)


def run(n: int, *, shrinks: bool = True) -> Callable[[Any], Any]:
    """Run a test on ``n`` examples, each some tenths of a second long."""
    return settings(
        max_examples=n * MORE,
        deadline=None,
        phases=[phase for phase in PHASES if shrinks or phase is not Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


class SurveyTable(NamedTuple):
    """Rows with their counts, and the variables in tree order."""

    rows: list[tuple[Row, int]]
    order: list[str]


class StagedSample(NamedTuple):
    """A staged tree, given as the survey it grows from and path -> stage name.

    A cell after the end of a path (or jumped over) is blank. Every path has 5 rows or
    more, so that the tree is the same with ``blank`` "auto" and "structural".
    """

    rows: list[tuple[Row, int]]
    order: list[str]
    stage: dict[Path, str]


# -----------------------------------------------------------------------------
# Survey tables
# -----------------------------------------------------------------------------

# Some sets share labels (an edge is a variable AND a label), one sorts by value.
LABEL_SETS = (("n", "y"), ("a", "n", "y"), ("2", "10"), ("é", "z"), ("only",))


@st.composite
def survey_tables(draw: Callable[..., Any], max_variables: int = 4) -> SurveyTable:
    """Draw a small table; a cell is a value, blank, structural or missing.

    A variable may be gated: it is left blank wherever an earlier variable has a
    certain label. That is what makes histories with nothing but blanks.
    """
    n_variables = draw(st.integers(1, max_variables))
    order = [f"X{i}" for i in range(1, n_variables + 1)]
    values = {variable: draw(st.sampled_from(LABEL_SETS)) for variable in order}
    cells = {
        # a value is the more likely, and the simpler when shrinking
        variable: st.sampled_from([*values[variable] * 3, BLANK, NA, MISS])
        for variable in order
    }
    gates = {}
    for position, variable in enumerate(order[1:], start=1):
        if draw(st.booleans()):
            gate = draw(st.sampled_from(order[:position]))
            gates[variable] = (gate, draw(st.sampled_from(values[gate])))

    row = st.tuples(st.fixed_dictionaries(cells), st.integers(1, 8) | st.integers(80, 400))
    rows = draw(st.lists(row, max_size=12))
    for row_cells, _ in rows:
        for variable, (gate, label) in gates.items():
            if row_cells[gate] == label:
                row_cells[variable] = BLANK
    return SurveyTable(rows, order)


@st.composite
def tree_options(draw: Callable[..., Any], table: SurveyTable) -> dict[str, Any]:
    """Draw keyword arguments for ``event_tree``, defaults first when shrinking.

    Added and impossible paths use labels that the table or ``levels`` knows.
    """
    seen: dict[str, list[Any]] = {}
    for variable in table.order:
        cells: set[Any] = {row[variable] for row, _ in table.rows}
        seen[variable] = in_level_order(cells - set(Cell))
    levels = {}
    for variable in table.order:
        if draw(st.booleans()):
            levels[variable] = draw(st.permutations([*seen[variable], "unseen"]))
    known = {v: levels.get(v, seen[v]) for v in table.order}
    named = {v: st.sampled_from(known[v]) for v in table.order if known[v]}
    paths = st.fixed_dictionaries({}, optional=named).filter(bool)
    some_paths = st.lists(paths, max_size=2) if named else st.just([])
    return {
        "blank": draw(st.sampled_from(["auto", "structural", "missing"])),
        "missing_policy": draw(st.sampled_from(["prefix", "complete", "category"])),
        "sampling_zeros": draw(st.sampled_from(["none", "auto", "floret", "full"])),
        "add_paths": draw(some_paths),
        "impossible": draw(some_paths),
        "levels": levels,
        "gate_min_rows": draw(st.sampled_from([5, 1, 10])),
    }


# -----------------------------------------------------------------------------
# Staged trees
# -----------------------------------------------------------------------------


class Template(NamedTuple):
    """A situation with all that lies below it; None is a leaf."""

    column: int
    children: dict[str, Template | None]
    colour: int


@st.composite
def staged_trees(
    draw: Callable[..., Any],
    *,
    max_depth: int = 4,
    min_labels: int = 1,
    jumps: bool = False,
    cross_variables: bool = False,
) -> StagedSample:
    """Draw a staged tree whose leaves lie at different depths.

    The tree is unrolled from a few templates for each variable, so that isomorphic
    subtrees are the rule and merges go deep; then some situations change colour, so
    that some of the merges fail, high up or low down.

    Parameters
    ----------
    max_depth
        Number of variables at most.
    min_labels
        Smallest floret; with 2 there is no single-edge floret.
    jumps
        A variable may be jumped over in the middle of a path (blank cells), so that
        one variable is met at several depths.
    cross_variables
        Situations of different variables share a stage if their label sets agree;
        otherwise a stage belongs to one variable and label set.
    """
    # Repeated entries are more likely, the first is the simplest when shrinking.
    n_columns = draw(st.sampled_from([*range(1, max_depth + 1), max_depth, max_depth]))
    label_sets = [
        labels
        for labels in (("y",), ("n", "y"), ("n", "y"), ("n", "y"), ("a", "n", "y"))
        if len(labels) >= min_labels
    ]

    templates: list[Template] = []  # of the columns after the present one
    for column in reversed(range(n_columns)):
        next_ones = [t for t in templates if t.column == column + 1]
        later = [t for t in templates if t.column > column + 1 and jumps]
        ends, goes_on = st.none(), st.sampled_from([None, *next_ones * 4, *later])
        here = []
        for _ in range(draw(st.sampled_from([1, 2, 2, 3])) if column else 1):
            labels = draw(st.sampled_from(label_sets))
            below = draw(st.sampled_from([goes_on] * 6 + [ends])) if column else goes_on
            children = {label: draw(below) for label in labels}
            here.append(Template(column, children, draw(st.sampled_from([0, 0, 1]))))
        templates = [*here, *templates]

    order = [chr(ord("A") + column) for column in range(n_columns)]
    situations: dict[Path, Template] = {}
    leaves: list[Path] = []

    def unroll(template: Template | None, path: Path) -> None:
        if template is None:
            leaves.append(path)
            return
        situations[path] = template
        for label, child in template.children.items():
            unroll(child, (*path, (order[template.column], label)))

    unroll(templates[0], ())

    colours = {path: template.colour for path, template in situations.items()}
    changes = st.tuples(st.sampled_from(list(situations)), st.integers(0, 2))
    colours.update(dict(draw(st.lists(changes, max_size=3))))

    stage = {}
    for path, template in situations.items():
        variable = "" if cross_variables else order[template.column]
        stage[path] = f"{variable}{{{','.join(template.children)}}}{colours[path]}"

    order = [v for v in order if any(v in dict(path) for path in leaves)]
    counts = draw(st.lists(st.integers(5, 9), min_size=1, max_size=4))
    rows = [
        ({v: dict(path).get(v, BLANK) for v in order}, counts[i % len(counts)])
        for i, path in enumerate(leaves)
    ]
    return StagedSample(rows, order, stage)


def death_tree() -> StagedSample:
    """Return the smallest death-truncated tree: 11 vertices, 4 in its CEG.

    X1 is t or u; then one dies or lives; whoever lives has p or q. The shortest path
    from each X2 situation to a leaf has 1 edge, the longest has 2. Levels by the
    shortest path compare the X2 situations before their X3 children have merged.
    """
    rows = [
        ({"X1": first, "X2": second, "X3": third}, 5)
        for first in ("t", "u")
        for second, third in (("die", BLANK), ("live", "p"), ("live", "q"))
    ]
    stage: dict[Path, str] = {(): "X1"}
    for first in ("t", "u"):
        stage[(("X1", first),)] = "X2"
        stage[("X1", first), ("X2", "live")] = "X3"
    return StagedSample(rows, ["X1", "X2", "X3"], stage)
