"""Read a Bayesian network from a networkx graph, a pgmpy model or a BIF file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cegdb.errors import NetworkError, SurveyError, listed
from cegdb.ingest.files.cell_labels import label_of
from cegdb.networks.bayesian_network import Network
from cegdb.networks.bif import is_bif, read_bif

if TYPE_CHECKING:
    import os
    from typing import Protocol

    class GraphLike(Protocol):
        """A directed graph, as networkx and pgmpy have them."""

        @property
        def nodes(self) -> Any:
            """Return the nodes."""

        @property
        def edges(self) -> Any:
            """Return the edges, pairs of nodes."""


NetworkSource: TypeAlias = "Network | GraphLike | str | os.PathLike[str]"

_HINT: Final = (
    "give a networkx.DiGraph of the variables' names, a pgmpy model, or a path to a .bif file"
)


def is_network(source: object) -> bool:
    """Return whether something is a network, and not stages given in another way."""
    has_graph = hasattr(source, "nodes") and hasattr(source, "edges")
    return isinstance(source, Network) or is_bif(source) or has_graph


def network_of(source: NetworkSource) -> Network:
    """Return a network of any kind as one of ours.

    Of a pgmpy model the tables are taken (``get_cpds()``), of other graphs the attributes
    ``levels`` and ``probability`` of the nodes, if they have them, as
    `StagedTree.to_bayesian_network` writes them.
    """
    if isinstance(source, Network):
        return source
    if is_bif(source):
        return read_bif(source)  # type: ignore[arg-type]
    if not is_network(source):
        raise NetworkError(f"this is not a network: {source!r}"[:200], hint=_HINT)
    graph: Any = source
    if hasattr(graph, "is_directed") and not graph.is_directed():
        raise NetworkError("the edges of the network have no directions", hint=_HINT)
    names = {node: _text(node, "a variable") for node in _all(graph.nodes)}
    if not names:
        raise NetworkError("the network has no variables", hint=_HINT)
    if len(set(names.values())) < len(names):
        raise NetworkError(
            f"two variables of the network have the same name: see {listed(map(repr, names))}",
            hint="give each a name of its own",
        )
    parents: dict[str, list[str]] = {name: [] for name in names.values()}
    for tail, head, *_ in _all(graph.edges):
        if names[tail] not in parents[names[head]]:
            parents[names[head]].append(names[tail])
    name = getattr(graph, "name", None)
    if not (isinstance(name, str) and name.strip()):
        name = "network"
    if hasattr(graph, "get_cpds"):
        return _with_cpds(Network(name, parents), _all(graph.get_cpds()))
    return _with_attributes(Network(name, parents), graph, names)


def _all(items: Any) -> list[Any]:
    """Return nodes, edges or tables, whether they are listed or returned by a call."""
    listed_items = items if isinstance(items, Iterable) else items()
    return list(listed_items or ())


def _text(value: object, what: str) -> str:
    try:
        text = label_of(value)
    except SurveyError:
        text = None
    if text is None:
        raise NetworkError(f"{what} of the network must have a text as its name, not {value!r}")
    return text


def _with_cpds(network: Network, cpds: list[Any]) -> Network:
    """Return a network with the tables of a pgmpy model."""
    import numpy as np

    levels: dict[str, list[str]] = {}
    tables: dict[str, dict[tuple[str, ...], list[float]]] = {}
    parents = dict(network.parents)
    for cpd in cpds:
        name, *given_by = (_text(variable, "a variable") for variable in cpd.variables)
        if name not in parents or set(given_by) != set(parents[name]):
            raise NetworkError(
                f"the table of {name!r} is given {listed(map(repr, given_by)) or 'nothing'}, "
                f"not its parents {listed(map(repr, parents.get(name, []))) or '(none)'}",
                hint="the evidence of a table must be the parents of its variable in the graph",
            )
        states = {_text(variable, "a variable"): s for variable, s in cpd.state_names.items()}
        for variable in (name, *given_by):
            labels = [_text(state, f"a label of {variable!r}") for state in states[variable]]
            if levels.setdefault(variable, labels) != labels:
                raise NetworkError(
                    f"tables of the network differ in the labels of {variable!r}: "
                    f"{listed(map(repr, levels[variable]))}, and {listed(map(repr, labels))}",
                    hint="list the same labels in the same order in every table",
                )
        values = np.moveaxis(np.asarray(cpd.values, dtype=float), 0, -1)
        rows = values.reshape(-1, len(levels[name])).tolist()
        given = product(*(levels[parent] for parent in given_by))
        tables[name] = dict(zip(given, rows, strict=True))
        parents[name] = given_by
    return Network(network.name, parents, levels, tables)


def _with_attributes(network: Network, graph: Any, names: Mapping[Any, str]) -> Network:
    """Return a network with the tables that nodes carry as attributes, if all have labels."""
    attributes = {
        name: graph.nodes[node] if hasattr(graph.nodes, "__getitem__") else {}
        for node, name in names.items()
    }
    if not all("levels" in data for data in attributes.values()):
        return network
    levels = {
        name: [_text(label, f"a label of {name!r}") for label in data["levels"]]
        for name, data in attributes.items()
    }
    tables = {}
    for name, data in attributes.items():
        if "probability" not in data:
            continue
        try:
            tables[name] = {
                tuple(str(row["given"][parent]) for parent in network.parents[name]): [
                    float(row["probability"].get(label, 0)) for label in levels[name]
                ]
                for row in data["probability"]
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            raise NetworkError(
                f"the attribute probability of node {name!r} cannot be read",
                hint="give a list of rows such as {'given': {'x': 'a'}, 'probability': "
                "{'yes': 0.3, 'no': 0.7}}",
            ) from None
    return Network(network.name, network.parents, levels, tables)
