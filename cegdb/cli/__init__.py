"""The command line: one verb per library function, ``run`` for all."""

from __future__ import annotations

from cegdb.cli import (
    answering,
    asking,
    causal,
    certainty,
    explaining,
    making,
    network,
    orders,
    plotting,
    questions,
    reporting,
    rows,
    sampling,
    steps,
    wording,
)
from cegdb.cli.group import main

__all__ = [
    "answering",
    "asking",
    "causal",
    "certainty",
    "explaining",
    "main",
    "making",
    "network",
    "orders",
    "plotting",
    "questions",
    "reporting",
    "rows",
    "sampling",
    "steps",
    "wording",
]
