"""Start the command line: ``python -m cegdb``, and the script ``cegdb``."""

import os
import signal


def _leave(*_: object) -> None:
    """End at once: an import that is broken off can fail in any way."""
    os.write(2, b"interrupted: the database is as it was before\n")
    os._exit(130)


def start() -> None:
    """Run the command line; an interrupt is one message from the first import to the end."""
    is_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heeded:
        signal.signal(signal.SIGINT, _leave)
    from cegdb.cli import main

    try:
        main()
    finally:
        if is_heeded:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    start()
