"""The command line: a command has the name of its method."""

from __future__ import annotations

from cegdb.cli import ask, decide, exchange, look, maintain, make, plot, report, steps
from cegdb.cli.group import main

__all__ = [
    "ask",
    "decide",
    "exchange",
    "look",
    "main",
    "maintain",
    "make",
    "plot",
    "report",
    "steps",
]
