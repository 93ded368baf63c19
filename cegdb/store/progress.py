"""How far the reading of a source is: kept by who reads, polled by who shows it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field


@dataclass
class Progress:
    """Rows read so far, where they can be known.

    DuckDB does not say how many rows a running statement has read: of a file that it reads
    itself, the rows are known after the first of two passes.
    """

    total: int | None = None
    rows: int = 0
    started: float = field(default_factory=time.perf_counter)

    def read(self, rows: int) -> None:
        """Say that some more rows were read."""
        self.rows += rows

    @property
    def fraction(self) -> float | None:
        """The part of all rows that was read, None if they are not known."""
        return self.rows / self.total if self.total else None

    def after(self, seconds: float) -> str:
        """Return rows, part and speed; nothing as long as they are not known.

        Examples
        --------
        >>> Progress().after(0.5)
        ''
        >>> Progress(total=4_000, rows=1_000).after(0.5)
        '1,000 of 4,000 rows, 25 %, 2,000 rows/s'
        >>> Progress(rows=1_000).after(0.5)
        '1,000 rows, 2,000 rows/s'
        """
        if not self.rows:
            return ""
        text = f"{self.rows:,} rows"
        if self.fraction is not None:
            text = f"{self.rows:,} of {self.total:,} rows, {100 * self.fraction:.0f} %"
        return f"{text}, {speed(self.rows, seconds)}"

    def __str__(self) -> str:
        """Return how far it is by now."""
        return self.after(time.perf_counter() - self.started)


def speed(rows: int, seconds: float) -> str:
    """Return rows a second, to three digits.

    Examples
    --------
    >>> speed(10_000_000, 12.8)
    '781,000 rows/s'
    """
    rate = rows / max(seconds, 1e-6)
    digits = 2 - math.floor(math.log10(rate)) if rate >= 1 else 0
    return f"{round(rate, min(digits, 0)):,.0f} rows/s"
