"""Cuts: sets of positions after which the model makes no further use of the past."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, items_of, listed
from cegdb.inference.propagation import MAX_SUM, MIN_SUM
from cegdb.names import available, only_match

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Graph, Ints

_AT_ONCE: Final = 64
_MOST_SHOWN: Final = 6


class Cut(NamedTuple):
    """A set of positions of which each path passes exactly one."""

    kind: str
    of: str
    variable: str | None
    positions: list[str]
    stages: list[str]
    is_cut: bool
    statement: str


def useful_cuts(ceg: CompiledModel, stage_names: Mapping[int, str]) -> list[Cut]:
    """Return the fine cuts that say something: positions, variables, depths and heights.

    Each set is returned once. The root is left out, and so are sets whose positions and stages
    are each reached along one path only: they say nothing (``docs/theory.md``, section 9.1).
    """
    with np.errstate(over="ignore"):
        n_paths = ceg.graph.forward(np.ones(len(ceg.graph.source)))
    seen: set[bytes] = {np.zeros(1, np.int64).tobytes()}
    cuts = []
    for kind, of, nodes in _candidates(ceg):
        if nodes.tobytes() in seen:
            continue
        seen.add(nodes.tobytes())
        cut = _describe(ceg, stage_names, kind, of, nodes, n_paths)
        if cut is not None:
            cuts.append(cut)
    return cuts


def _candidates(ceg: CompiledModel) -> Iterator[tuple[str, str, Ints]]:
    """Yield kind, name and nodes of each set that every path passes exactly once."""
    graph = ceg.graph
    sink = graph.n_nodes - 1
    if sink == 0:
        return
    never_skipped = _unskipped(graph, np.arange(graph.n_nodes))
    for node in np.flatnonzero(never_skipped[:sink]).tolist():
        yield "position", ceg.names[node], np.array([node], np.int64)
    levels = [np.flatnonzero(ceg.variable == i) for i in range(len(ceg.variables))]
    for i in np.flatnonzero(_met_once(graph, levels)).tolist():
        yield "variable", ceg.variables[i].name, levels[i]
    depth = graph.forward(np.ones(len(graph.source)), MAX_SUM).astype(np.int64)
    for kind, level in (("depth", depth), ("height", graph.height[0] - graph.height)):
        order = np.argsort(level, kind="stable")
        starts = np.searchsorted(level[order], np.arange(level[sink] + 1))
        for step in np.flatnonzero(_unskipped(graph, level)[:-1]).tolist():
            nodes = np.sort(order[starts[step] : starts[step + 1]])
            of = step if kind == "depth" else int(graph.height[0]) - step
            yield kind, str(of), nodes


def _unskipped(graph: Graph, level: Ints) -> NDArray[np.bool_]:
    """Return which levels no edge jumps over; levels increase along each edge."""
    change = np.zeros(int(level[-1]) + 2, np.int64)
    np.add.at(change, level[graph.source] + 1, 1)
    np.add.at(change, level[graph.target], -1)
    is_unskipped: NDArray[np.bool_] = np.cumsum(change)[:-1] == 0
    return is_unskipped


def _met_once(graph: Graph, sets: list[Ints]) -> NDArray[np.bool_]:
    """Return which sets of nodes each path meets exactly once (docs/theory.md, section 9.1)."""
    is_met_once = np.zeros(len(sets), bool)
    for start in range(0, len(sets), _AT_ONCE):
        some = sets[start : start + _AT_ONCE]
        member = np.zeros((graph.n_nodes, len(some)))
        for i, nodes in enumerate(some):
            member[nodes, i] = 1.0
        hits = member[graph.target]
        fewest = graph.backward(hits, MIN_SUM)[0] + member[0]
        most = graph.backward(hits, MAX_SUM)[0] + member[0]
        is_met_once[start : start + _AT_ONCE] = (fewest == 1) & (most == 1)
    return is_met_once


def _describe(
    ceg: CompiledModel,
    stage_names: Mapping[int, str],
    kind: str,
    of: str,
    nodes: Ints,
    n_paths: Floats,
) -> Cut | None:
    """Return a fine cut with its statement, or None if it says nothing."""
    stages = np.unique(ceg.stage_id[nodes])
    is_closed = _are_all_of_stages(ceg, nodes, stages)
    says_fine = bool((n_paths[nodes] > 1).any())
    says_stage = is_closed and len(stages) < len(nodes)
    if not (says_fine or says_stage):
        return None
    variables = np.unique(ceg.variable[nodes]).tolist()
    variable = (
        ceg.variables[variables[0]].name if len(variables) == 1 and variables[0] >= 0 else None
    )
    names = [ceg.names[node] for node in by_id(ceg, nodes).tolist()]
    of_stages = [stage_names.get(stage, str(stage)) for stage in stages.tolist()]
    statements = []
    if says_fine:
        statements.append(_fine_statement(names))
    if says_stage:
        statements.append(_stage_statement(of_stages, variable, adds=says_fine))
    return Cut(kind, of, variable, names, of_stages, is_closed, "; ".join(statements))


def by_id(ceg: CompiledModel, nodes: Ints) -> Ints:
    """Return nodes in the order of their names."""
    return nodes[np.argsort(ceg.position_id[nodes], kind="stable")]


def _are_all_of_stages(ceg: CompiledModel, nodes: Ints, stages: Ints) -> bool:
    """Return whether the nodes are all positions of their stages."""
    n_of_stages = np.isin(ceg.stage_id[:-1], stages).sum()
    return bool(len(nodes) == n_of_stages and (stages >= 0).all())


def _fine_statement(names: list[str]) -> str:
    if len(names) == 1:
        return f"everybody passes {names[0]}: the model makes no use of answers before it"
    return (
        f"once it is known which of {listed(names, most=_MOST_SHOWN)} is reached, the model "
        "makes no use of earlier answers"
    )


def _stage_statement(stages: list[str], variable: str | None, *, adds: bool) -> str:
    """Return what the stages say; ``adds``: after the statement on their positions."""
    answer = "the next answer" if variable is None else f"the answer to {variable}"
    if len(stages) == 1:
        return f"in the model, {answer} does not depend on earlier ones"
    names = listed(stages, most=_MOST_SHOWN)
    if adds:
        return f"for {answer}, it is enough to know which of the stages {names} is reached"
    return (
        f"once it is known which of the stages {names} is reached, in the model {answer} does "
        "not depend on earlier ones"
    )


def is_fine_cut(ceg: CompiledModel, positions: object) -> bool:
    """Return whether each root-to-sink path passes exactly one of the positions."""
    names = items_of(positions, "positions", QueryError, hint='give a list: ["w3", "w4"]')
    nodes = np.array([ceg.node(name) for name in names], np.int64)
    return _is_fine(ceg, nodes, names)


def is_cut(ceg: CompiledModel, stages: object, stage_names: Mapping[int, str]) -> bool:
    """Return whether each root-to-sink path passes exactly one position of the stages."""
    names = items_of(stages, "stages", QueryError, hint='give a list: ["u2"]')
    ids = {name: stage for stage, name in stage_names.items()}
    nodes = []
    for name in names:
        unknown = f"CEG {ceg.name!r} has no stage {name!r}"
        if isinstance(name, str) and name not in ids and name in ceg.names:
            raise QueryError(
                f"{unknown}; that is a position", hint="is_fine_cut takes positions"
            )
        stage = (
            ids[only_match(name, ids, unknown, QueryError)] if isinstance(name, str) else name
        )
        here = np.flatnonzero(ceg.stage_id[:-1] == stage)
        if not len(here):
            raise QueryError(f"{unknown}; {available(ids)}")
        nodes.append(here)
    return _is_fine(ceg, np.concatenate(nodes) if nodes else np.empty(0, np.int64), names)


def _is_fine(ceg: CompiledModel, nodes: Ints, names: list[object]) -> bool:
    if not names:
        raise QueryError("the list of positions or stages is empty", hint="name at least one")
    if len(np.unique(nodes)) < len(nodes):
        raise QueryError(
            f"a position or stage is named twice in {listed(names)}", hint="name each once"
        )
    return bool(_met_once(ceg.graph, [nodes])[0])
