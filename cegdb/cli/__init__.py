"""The command line: one verb per library function, ``run`` for all."""

from __future__ import annotations

from cegdb.cli import asking, making, orders, rows
from cegdb.cli.group import main

__all__ = ["asking", "main", "making", "orders", "rows"]
