"""Start the command line: ``python -m cegdb``, and the script ``cegdb``."""

import gc
import os
import signal
import sys
from typing import Any


def _leave(*_: object) -> None:
    """End at once: an import that is broken off can fail in any way."""
    os.write(2, b"interrupted: the database is as it was before\n")
    os._exit(130)


def _unraised(told: Any) -> None:
    """Keep quiet about an interrupt that came in a callback: it is told once, at the end."""
    if not isinstance(told.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(told)


def start() -> None:
    """Run the command line; an interrupt is one message from the first import to the end."""
    is_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heeded:
        signal.signal(signal.SIGINT, _leave)
        sys.unraisablehook = _unraised
    # Imports make half a million objects and hardly a cycle: 700 at a time are too few.
    gc.set_threshold(20_000)
    from cegdb.cli import main

    try:
        main()
    finally:
        if is_heeded:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        # To look for cycles once more on the way out takes a tenth of a second.
        gc.freeze()


if __name__ == "__main__":
    start()
