"""Random rows from a CEG, all at once, one height after the other."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, is_whole
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.options import check_seed
from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from cegdb.inference.propagation import Floats, Graph, Ints
    from cegdb.inference.queries import ConditionedModel
    from cegdb.inference.row_tables import ModelKey
    from cegdb.store import Store

MOST_CELLS: Final = 10_000_000_000


def checked_seed(seed: int | None) -> int:
    """Return a seed; None draws one, and anything but a whole number is refused.

    Examples
    --------
    >>> checked_seed(7)
    7
    """
    if seed is None:
        return secrets.randbits(32)
    check_seed(seed, QueryError)
    return int(seed)


def sample(
    model: ConditionedModel, n: int, seed: int, absences: Mapping[str, Absences]
) -> list[tuple[str, NDArray[Any], list[str]]]:
    """Draw rows from a CEG given evidence; a seed gives the same rows on any machine (PCG64).

    Returns, for each variable, its name, the label index of each row (-1: blank), and labels.
    """
    ceg = model.ceg
    if not is_whole(n) or n < 1:
        raise QueryError(
            f"n, the number of rows, must be a whole number of 1 or more, not {n!r}"
        )
    ceg.refuse_mixed()
    if not ceg.variables:
        raise QueryError(f"{ceg.title} has no variables", hint="build a tree with variables")
    if n * len(ceg.variables) > MOST_CELLS:
        raise QueryError(
            f"{n:,} rows with {len(ceg.variables):,} variables are too many for one call",
            hint="draw fewer rows at a time, each time with another seed",
        )
    random = np.random.Generator(np.random.PCG64(seed))
    codes = [
        np.full(n, -1, np.min_scalar_type(-1 - len(variable.labels)))
        for variable in ceg.variables
    ]
    edge = model.product.edge
    variable, labels = ceg.edge_variable[edge], ceg.label[edge]
    for rows, edges in _draw_edges(model.graph, model.probability, int(n), random):
        edge_variable, label = variable[edges], labels[edges]
        met = np.bincount(edge_variable, minlength=len(codes))
        for index in np.flatnonzero(met).tolist():
            is_it = slice(None) if met[index] == len(rows) else edge_variable == index
            codes[index][rows[is_it]] = label[is_it]
    return [
        (one.name, *_with_absent(code, list(one.labels), absences[one.name]))
        for one, code in zip(ceg.variables, codes, strict=True)
    ]


def _draw_edges(
    graph: Graph, probability: Floats, n: int, random: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """Yield, for each height, the rows that are there and the edge each takes."""
    first = np.searchsorted(graph.source, np.arange(graph.n_nodes + 1))
    at = np.zeros(n, np.int64)
    for part in graph.layers():
        height = graph.height[graph.source[part.start]]
        rows = np.flatnonzero(graph.height[at] == height)
        edges = _edge_at(graph, probability, part, first, at[rows], random.random(len(rows)))
        at[rows] = graph.target[edges]
        yield rows, edges


def _edge_at(
    graph: Graph,
    probability: Floats,
    part: slice,
    first: Ints,
    node: Ints,
    random: Floats,
) -> Ints:
    """Return the edge of each row: the one whose part of [0, 1] its random number falls in."""
    source = graph.source[part] - graph.source[part.start]
    cumulated = np.cumsum(probability[part])
    start = np.append(0.0, cumulated)[first[graph.source[part]] - part.start]
    total = np.append(0.0, cumulated)[first[graph.source[part] + 1] - part.start] - start
    # Node i of the layer has the numbers from i to i + 1.
    upper = source + np.minimum((cumulated - start) / total, 1.0)
    possible = np.flatnonzero(probability[part] > 0)
    is_last = np.diff(source[possible], append=-1) != 0
    upper[possible[is_last]] = source[possible[is_last]] + 1
    layer_node = node - graph.source[part.start]
    number = np.minimum(layer_node + random, np.nextafter(layer_node + 1.0, 0.0))
    index = np.searchsorted(upper[possible], number, "right")
    return np.asarray(possible[index] + part.start, np.int64)


def _with_absent(
    code: NDArray[Any], labels: list[str], absences: Absences
) -> tuple[NDArray[Any], list[str]]:
    """Return label indexes, -1 for a blank, and labels, as "not applicable" is written."""
    if NOT_APPLICABLE not in labels:
        return code, labels
    at = labels.index(NOT_APPLICABLE)
    if absences.skipped_is_labelled:
        code[code < 0] = at
    if absences.asked_is_labelled:
        return code, labels
    shifted = np.where(code == at, -1, np.where(code > at, code - 1, code)).astype(code.dtype)
    return shifted, [*labels[:at], *labels[at + 1 :]]


class Absences(NamedTuple):
    """Where rows have the label "not applicable" of a question, instead of a blank.

    ``asked_is_labelled``: where it is one of the answers on the path; ``skipped_is_labelled``:
    where the question does not come up.
    """

    asked_is_labelled: bool
    skipped_is_labelled: bool


def absences_of(store: Store, key: ModelKey) -> dict[str, Absences]:
    """Return where the rows of a model have the label "not applicable", by variable.

    It is where its survey has cells that do not apply; elsewhere the survey has blanks. Thus
    the rows mean the same when they are read again, and gates decide alike.
    """
    kind, object_id = key
    with store.catalog() as catalog:
        staging_id = staging_of(row(catalog, "ceg", object_id)) if kind == "ceg" else object_id
        staging = row(catalog, "staging", staging_id)
        tree = row(catalog, "tree", staging["tree_id"])
        survey = row(catalog, "survey", tree["survey_id"])
    gates = survey["settings"].get("gates", {})
    settings, decisions = tree["settings"], tree["summary"]["decisions"]
    absences = {}
    # A path may end at a missing answer, or at an answer that nobody gave.
    ends_apply = settings["missing_policy"] == "prefix" or (
        gates and settings["sampling_zeros"] != "none"
    )
    for name in settings["order"]:
        is_blank = settings["blank"] == "structural" and name not in gates
        has_blanks = decisions.get(name, {}).get("blank_structural", 0) > 0
        absences[name] = Absences(not is_blank, not (is_blank or has_blanks or ends_apply))
    return absences
