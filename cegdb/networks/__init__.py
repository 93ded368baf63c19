"""Bayesian networks: from them to staged trees, and back to the smallest one."""

from __future__ import annotations

from cegdb.networks.bayesian_network import Network
from cegdb.networks.bif import bif_text, is_bif, parse_bif, read_bif
from cegdb.networks.context_independence import dependence_sentence, statements
from cegdb.networks.parents import Family, find_families, smallest_network
from cegdb.networks.readers import NetworkSource, is_network, network_of
from cegdb.networks.staged_trees import rules_of, staged_tree

__all__ = [
    "Family",
    "Network",
    "NetworkSource",
    "bif_text",
    "dependence_sentence",
    "find_families",
    "is_bif",
    "is_network",
    "network_of",
    "parse_bif",
    "read_bif",
    "rules_of",
    "smallest_network",
    "staged_tree",
    "statements",
]
