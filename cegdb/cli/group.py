"""The group of all commands: errors as one message, interrupts, logging."""

from __future__ import annotations

import logging
import signal
import threading
from typing import TYPE_CHECKING, Any

import click

from cegdb.errors import CegdbError
from cegdb.version import __version__

if TYPE_CHECKING:
    from types import FrameType


class ReportingGroup(click.Group):
    """Show an error as one message on stderr and exit with its code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, translating errors in one place."""
        interrupted = threading.Event()

        def interrupt(signum: int, frame: FrameType | None) -> None:
            interrupted.set()
            signal.default_int_handler(signum, frame)

        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, interrupt) if in_main else None
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except BaseException as error:
            # An interrupt can surface as any error of what it interrupted.
            if interrupted.is_set() or isinstance(error, (KeyboardInterrupt, click.Abort)):
                click.echo("interrupted: the database is as it was before", err=True)
                ctx.exit(130)
            if isinstance(error, CegdbError):
                click.echo(f"error: {error}", err=True)
                ctx.exit(error.exit_code)
            if logging.getLogger("cegdb").isEnabledFor(logging.DEBUG):
                raise
            click.echo(
                f"error: internal: {type(error).__name__}: {error}\n"
                "hint: this is a fault of cegdb; run again with --debug before the command "
                "for what to report",
                err=True,
            )
            ctx.exit(4)
        finally:
            if in_main:
                signal.signal(signal.SIGINT, before)


@click.group(cls=ReportingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cegdb")
@click.option("--debug", is_flag=True, help="Log each SQL step; show tracebacks.")
def main(*, debug: bool) -> None:
    """Turn survey rows into event trees, staged trees and Chain Event Graphs.

    Everything is kept as tables of one DuckDB file, to be asked in SQL.

    \b
    Examples:
      cegdb demo
      cegdb run falls.csv --db falls.duckdb --draw falls.svg
      cegdb sql falls.duckdb "select * from cegdb.ceg_edges where ceg = 'falls'"
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.getLogger("cegdb")
    log.handlers = [handler]
    log.setLevel(logging.DEBUG if debug else logging.INFO)
