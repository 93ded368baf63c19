"""The command line: one verb per library function, ``run`` for all."""

from __future__ import annotations

from cegdb.cli import answering, asking, certainty, making, orders, rows
from cegdb.cli.group import main

__all__ = ["answering", "asking", "certainty", "main", "making", "orders", "rows"]
