"""Start the command line: ``python -m cegdb``, and the script ``cegdb``."""

import gc
import os
import signal
import sys
from typing import Any


def _leave(*_: object) -> None:
    """Exit at once: an interrupted import can fail in any way."""
    os.write(2, b"interrupted: the database is as it was before\n")
    os._exit(130)


def _report_unraisable(unraisable: Any) -> None:
    """Do not report an interrupt in a callback: it is reported once, at the end."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def start() -> None:
    """Run the command line; an interrupt at any time ends it with one message."""
    handles_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles_interrupts:
        signal.signal(signal.SIGINT, _leave)
        sys.unraisablehook = _report_unraisable
    # Imports make half a million objects and hardly any cycles: collect less often.
    gc.set_threshold(20_000)
    from cegdb.cli import main

    try:
        main()
    finally:
        if handles_interrupts:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Skip the last search for cycles, which takes a tenth of a second.
        gc.freeze()


if __name__ == "__main__":
    start()
