"""The group of all commands: errors as one message, interrupts, logging."""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cegdb.errors import CegdbError
from cegdb.interrupts import Interrupts
from cegdb.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator


IS_CHANGED = "cegdb.is_changed"
"""Where a command says that its work is stored, with the file, before it shows the result."""


class ReportingGroup(click.Group):
    """Show an error as one message on stderr and exit with its code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, translating errors in one place."""
        with _interrupts() as interrupts:
            try:
                return super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
                if interrupts.came:
                    self._interrupted(ctx)
                raise
            except BaseException as error:
                # An interrupt can surface as any error of what it interrupted.
                if interrupts.came or isinstance(error, (KeyboardInterrupt, click.Abort)):
                    self._interrupted(ctx)
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

    def _interrupted(self, ctx: click.Context) -> None:
        file = ctx.meta.get(IS_CHANGED)
        found = "the database is as it was before"
        if file is not None:
            found = f"the work was done and is kept in {file}; not all of it was shown"
        click.echo(f"interrupted: {found}", err=True)
        ctx.exit(130)


@contextmanager
def _interrupts() -> Iterator[Interrupts]:
    """Heed interrupts, unless who started this process has them ignored."""
    interrupts = Interrupts()
    before = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not callable(before):
        yield interrupts
        return
    signal.signal(signal.SIGINT, interrupts)
    try:
        yield interrupts
    finally:
        # What comes now is too late: the command is over, and told.
        is_last = before is not signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN if is_last else before)


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
