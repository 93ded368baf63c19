"""Bayesian networks for other programs: as a networkx graph, and as BIF files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.atomic_files import atomic_write, suffix_of
from cegdb.errors import path_of
from cegdb.networks import bif_text

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    import networkx as nx

    from cegdb.networks import Family, Network


def network_graph(network: Network, families: Sequence[Family] = ()) -> nx.DiGraph[str]:
    """Return a Bayesian network as a networkx graph.

    Nodes have ``levels``, a ``probability`` table as rows of ``given`` and ``probability``, and
    ``is_unique``, whether no other parents would do; edges have the ``kind`` of their family.
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
    """Write a network as a BIF file, whole or not at all, and return its path."""
    target = path_of(path)
    suffix_of(target, (".bif",), "a Bayesian network")
    return atomic_write(target, bif_text(network).encode())
