"""Ctrl-C: delay it while work must not be broken off, and never lose it."""

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
    """A handler that raises the first interrupt; further ones do not disturb the clean-up.

    If the clean-up takes more than some seconds, another one is raised.
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
    """Raise an interrupt that was lost: destructors and C code can swallow one.

    Examples
    --------
    >>> raise_lost_interrupt()
    """
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, Interrupts) and handler.came is not None:
        raise KeyboardInterrupt


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Delay an interrupt until the end of the block.

    Only the main thread receives signals; in other threads this does nothing.

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
