"""Bayesian networks for other programs: as a networkx graph, and as BIF files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.atomic_files import write_whole
from cegdb.errors import GraphError, path_of
from cegdb.networks import bif_text, is_bif

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    import networkx as nx

    from cegdb.networks import Family, Network


def network_graph(network: Network, families: Sequence[Family] = ()) -> nx.DiGraph[str]:
    """Return a Bayesian network as a networkx graph.

    Parameters
    ----------
    network
        The network.
    families
        What is known of its edges, if it was found in a staged tree.

    Returns
    -------
    networkx.DiGraph
        Nodes are the variables, with ``levels``, their labels, and (if there are tables)
        ``probability``: a list of rows such as ``{"given": {"x": "a"}, "probability":
        {"yes": 0.3, "no": 0.7}}``. Edges have their ``kind`` (see
        `cegdb.networks.find_families`), nodes ``is_unique``, whether no other parents would
        do. The graph's attributes are ``name`` and ``kind``.

    Examples
    --------
    >>> from cegdb.networks import Network
    >>> network_graph(Network("two", {"x": [], "y": ["x"]})).edges
    OutEdgeView([('x', 'y')])
    """
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(name=network.name, kind="bayesian_network")
    for name, parents in network.parents.items():
        graph.add_node(name)
        if name in network.levels:
            graph.nodes[name]["levels"] = list(network.levels[name])
        if name in network.tables:
            graph.nodes[name]["probability"] = [
                {
                    "given": dict(zip(parents, given, strict=True)),
                    "probability": dict(zip(network.levels[name], row, strict=True)),
                }
                for given, row in network.tables[name].items()
            ]
    for name, parents in network.parents.items():
        graph.add_edges_from((parent, name) for parent in parents)
    for family in families:
        graph.nodes[family.variable]["is_unique"] = family.is_unique
        for parent, kind in zip(family.parents, family.kinds, strict=True):
            graph.edges[parent, family.variable]["kind"] = kind
    return graph


def write_bif(network: Network, path: str | os.PathLike[str]) -> Path:
    """Write a network as a BIF file, whole or not at all, and return its path.

    Raises
    ------
    GraphError
        The path does not end in ``.bif``, or cannot be written.
    NetworkError
        A table has more than a million rows.

    Examples
    --------
    >>> import tempfile
    >>> from cegdb.networks import Network
    >>> coin = Network("coin", {"x": []}, {"x": ["a", "b"]}, {"x": {(): [0.5, 0.5]}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bif(coin, folder + "/coin.bif").name
    'coin.bif'
    """
    target = path_of(path)
    if not is_bif(target):
        raise GraphError(
            f"{target.name!r} does not say which kind of file to write",
            hint="a Bayesian network is written as .bif",
        )
    return write_whole(target, bif_text(network).encode())
