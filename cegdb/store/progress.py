"""How far work is: updated by the code that does it, read by the code that shows it."""

from __future__ import annotations

import math
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import duckdb

from cegdb.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Progress:
    """Number of rows, heights, steps or runs done so far, and in all if that is known.

    DuckDB does not say how many rows a running statement has read: for a file that it reads
    itself, the number of rows is known after the first of two passes. ``estimate`` returns
    DuckDB's estimate for the running statement in percent, below 0 if it has none.
    """

    total: int | None = None
    rows: int = 0
    started: float = field(default_factory=time.perf_counter)
    unit: str = "row"
    estimate: Callable[[], float] | None = None

    def read(self, rows: int = 1) -> None:
        """Add rows that were read, or heights, steps or runs that were done."""
        self.rows += rows

    def finish(self) -> None:
        """Set everything to done: what is left of the total was not needed."""
        if self.total is not None:
            self.rows = self.total

    @property
    def fraction(self) -> float | None:
        """The fraction that is done, None if it is not known."""
        return self.rows / self.total if self.total else None

    def text_after(self, seconds: float) -> str:
        """Return as text what is done, the percentage and, for rows, the speed.

        The text is empty as long as nothing is known.

        Examples
        --------
        >>> Progress().text_after(0.5)
        ''
        >>> Progress(total=4_000, rows=1_000).text_after(0.5)
        '1,000 of 4,000 rows, 25 %, 2,000 rows/s'
        >>> Progress(rows=1_000).text_after(0.5)
        '1,000 rows, 2,000 rows/s'
        >>> Progress(rows=1_000, estimate=lambda: 42.5).text_after(0.5)
        '1,000 rows, 2,000 rows/s, about 42 % of this pass'
        >>> Progress(total=12, rows=3, unit="height").text_after(0.5)
        '3 of 12 heights, 25 %'
        """
        running = self._pass_estimate()
        if not self.rows:
            return running
        text = counted(self.rows, self.unit)
        if self.total:
            part = math.floor(100 * self.rows / self.total)
            text = f"{self.rows:,} of {counted(self.total, self.unit)}, {part} %"
        if self.unit == "row":
            text = f"{text}, {speed(self.rows, seconds)}"
        return f"{text}, {running}" if running else text

    def _pass_estimate(self) -> str:
        percent = -1.0 if self.total or self.estimate is None else self.estimate()
        return f"about {math.floor(percent)} % of this pass" if percent >= 0 else ""

    def __str__(self) -> str:
        """Return how far it is by now."""
        return self.text_after(time.perf_counter() - self.started)


def speed(rows: int, seconds: float) -> str:
    """Return rows per second, to three digits.

    Examples
    --------
    >>> speed(10_000_000, 12.8)
    '781,000 rows/s'
    """
    rate = rows / max(seconds, 1e-6)
    digits = 2 - math.floor(math.log10(rate)) if rate >= 1 else 0
    return f"{counted(int(round(rate, min(digits, 0))), 'row')}/s"


# -----------------------------------------------------------------------------
# DuckDB's own progress bar
# -----------------------------------------------------------------------------


def set_progress_bar(con: duckdb.DuckDBPyConnection, *, is_on: bool) -> bool:
    """Turn DuckDB's tracking of queries on or off, never printing; return whether it worked.

    In a Jupyter kernel without ipywidgets DuckDB refuses to change these settings, even to
    turn its bar off. A progress bar is cosmetic, so this is not an error.
    """
    try:
        con.execute("set enable_progress_bar_print = false")
        con.execute(f"set enable_progress_bar = {is_on}")
    except duckdb.Error:
        return False
    return True


@contextmanager
def query_progress_in(con: duckdb.DuckDBPyConnection, progress: Progress) -> Iterator[None]:
    """Let ``progress`` estimate how far each of DuckDB's queries is, if DuckDB can."""
    if set_progress_bar(con, is_on=True):
        progress.estimate = con.query_progress
    try:
        yield
    finally:
        progress.estimate = None
        set_progress_bar(con, is_on=False)


@contextmanager
def quiet_cursor(con: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a second connection to the same database, without a progress bar."""
    with closing(con.cursor()) as cursor:
        set_progress_bar(cursor, is_on=False)
        yield cursor
