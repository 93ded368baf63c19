"""Ctrl-C: let it wait while something must be done whole, and lose none."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_PATIENCE: Final = 3.0


class Interrupts:
    """A handler that raises the first interrupt; more of them do not disturb cleaning up.

    After some seconds without an end another one is raised again.
    """

    def __init__(self) -> None:
        self.came: float | None = None

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt."""
        now = time.monotonic()
        if self.came is None or now > self.came + _PATIENCE:
            self.came = now
            signal.default_int_handler(signum, frame)


def raise_lost_interrupt() -> None:
    """Raise an interrupt that came and was lost: destructors and C code can drop it.

    Examples
    --------
    >>> raise_lost_interrupt()
    """
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, Interrupts) and handler.came is not None:
        raise KeyboardInterrupt


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Let an interrupt wait for the end of the block, and take effect then.

    Signals reach the main thread alone; elsewhere nothing is to be held.

    Examples
    --------
    >>> with held_interrupts():
    ...     done = "whole"
    >>> done
    'whole'
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []

    def hold(signum: int, frame: FrameType | None) -> None:
        waiting.append((signum, frame))

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            before(*waiting[0])
