"""The group of all commands: its help, errors as one message, interrupts, logging."""

from __future__ import annotations

import codecs
import logging
import re
import signal
import sys
import threading
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from cegdb.errors import CegdbError
from cegdb.interrupts import Interrupts
from cegdb.names import close_names
from cegdb.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import NoReturn


IS_CHANGED = "cegdb.is_changed"
"""Where a command says that its work is stored, with the file, before it shows the result."""
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Make": (
        *("demo", "run", "ingest", "event-tree", "learn-stages", "set-stages", "to-ceg"),
        *("averaged", "template", "join", "split", "rename"),
    ),
    "Look": ("list", "show", "sql", "steps", "draw", "plot", "report", "explain", "findings"),
    "Ask": (
        *("probability", "marginals", "distribution", "means", "cumulative"),
        *("most-probable-paths", "given", "sample"),
        *("assign", "complete", "score", "classify", "calibration", "effect"),
        *("cuts", "independence", "test-independence"),
    ),
    "Decide": (
        *(
            "explore",
            "search-orders",
            "alpha-path",
            "compare",
            "diff",
            "posterior",
            "stability",
        ),
        *("intervals", "parents", "independences"),
    ),
    "Exchange": ("codebook", "export", "write-bif", "cite"),
    "Maintain": ("append", "refresh", "rebuild", "check", "drop", "migrate"),
}
"""The commands by what they are for, as ``cegdb --help`` lists them."""


MOVED: Final[Mapping[str, str]] = {
    "ask": "probability",
    "ceg": "to-ceg",
    "contexts": "independences",
    "delete": "drop",
    "describe": "show",
    "differences": "report comparison",
    "do": "effect",
    "edit": "join, split or rename",
    "figure": "draw",
    "full": "set-stages",
    "import": "ingest",
    "indep": "set-stages",
    "info": "show",
    "load": "ingest",
    "network": "parents",
    "notes": "findings",
    "orders": "search-orders",
    "path": "most-probable-paths",
    "paths": "most-probable-paths",
    "predict": "complete or classify",
    "prob": "probability",
    "read": "ingest",
    "remove": "drop",
    "rm": "drop",
    "sevt": "event-tree",
    "sevt_fit": "learn-stages",
    "stages": "learn-stages or set-stages",
    "subtree": "given",
    "summary": "show",
    "tree": "event-tree",
    "warnings": "findings",
    "words": "report text",
}
"""Former and other packages' names of commands, with the commands that do it here."""
MOVED_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "--given": ("--by", "--where"),
    "--table": ("--view",),
    "--view": ("--table",),
}
"""Options that a reader may expect, with those of which a command has one instead."""


def write_commands(
    group: click.Group,
    context: click.Context,
    formatter: click.HelpFormatter,
    sections: Mapping[str, tuple[str, ...]],
) -> None:
    """List commands with their whole first sentence, never cut."""
    names = {name for section in sections.values() for name in section}
    commands = {name: group.get_command(context, name) for name in names}
    longest = max(len(name) for name, command in commands.items() if command is not None)
    for title, section in sections.items():
        rows = [
            (name.ljust(longest), command.get_short_help_str(limit=formatter.width * 10))
            for name in section
            if (command := commands[name]) is not None
        ]
        with formatter.section(title):
            formatter.write_dl(rows)


class HelpFormatter(click.HelpFormatter):
    """Help text in which no line ends within the name of a command or option."""

    _HYPHEN: Final = "\ue000"  # where text is wrapped, no place to break a line

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(text.replace("-", self._HYPHEN))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write a list of terms and what they mean."""
        joined = [(term, text.replace("-", self._HYPHEN)) for term, text in rows]
        super().write_dl(joined, col_max, col_spacing)

    def getvalue(self) -> str:
        """Return what was written."""
        return super().getvalue().replace(self._HYPHEN, "-")


class HelpContext(click.Context):
    """What a command knows of its call."""

    formatter_class = HelpFormatter


class Command(click.Command):
    """A command."""

    context_class = HelpContext

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; name the option that is meant by a similar name."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            known = [
                option for one in self.params for option in (*one.opts, *one.secondary_opts)
            ]
            meant = [option for option in MOVED_OPTIONS.get(name, ()) if option in known]
            if not meant and name.startswith("--"):
                words = {
                    option.lstrip("-"): option for option in known if option.startswith("--")
                }
                meant = [words[word] for word in close_names(name.lstrip("-"), words)[:1]]
            hint = f"Did you mean {' or '.join(meant)}?" if meant else _listed_by(ctx)
            ctx.fail(f"there is no option {name!r}. {hint}")


class CommandGroup(click.Group):
    """A group of few commands, such as all plots."""

    context_class = HelpContext
    command_class = Command
    moved: Mapping[str, str] = MappingProxyType({})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; name the one that is meant by a former or similar name."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            self.refuse_command(ctx, name)
        return super().resolve_command(ctx, args)

    def refuse_command(self, ctx: click.Context, name: str) -> NoReturn:
        """Refuse a wrong word, naming what it stands for or who lists the commands."""
        word = name.casefold()
        meant = self.moved.get(word) or _meant_command(word.replace("_", "-"), self.commands)
        hint = f"Did you mean {meant}?" if meant else _listed_by(ctx)
        ctx.fail(f"there is no command {name!r}. {hint}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in the order in which they were added."""
        write_commands(self, ctx, formatter, {"Commands": tuple(self.commands)})


class ReportingGroup(CommandGroup):
    """Show an error as one message on stderr and exit with its code."""

    moved = MOVED

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, on a console of any encoding: what it lacks is shown as an escape."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors=_CONSOLE)
        return super().main(*args, **kwargs)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for."""
        write_commands(self, ctx, formatter, SECTIONS)

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
                    "hint: this is a bug in cegdb; please report it with the output of the "
                    "same command with --debug (cegdb --debug COMMAND ...)",
                    err=True,
                )
                ctx.exit(4)

    def _interrupted(self, ctx: click.Context) -> None:
        file = ctx.meta.get(IS_CHANGED)
        outcome = "the database is as it was before"
        if file is not None:
            outcome = f"the work was done and is kept in {file}; not all of it was shown"
        click.echo(f"interrupted: {outcome}", err=True)
        ctx.exit(130)


_CONSOLE: Final = "cegdb_console"
_ISOLATES: Final = re.compile("[\u2066-\u2069]")


def _replace_unprintable(error: UnicodeError) -> tuple[str | bytes, int]:
    """Escape what the console lacks, but leave out marks of direction, which nobody sees."""
    if isinstance(error, UnicodeEncodeError):
        lacking = _ISOLATES.sub("", error.object[error.start : error.end])
        escaped = "".join(ch.encode("ascii", "backslashreplace").decode() for ch in lacking)
        return escaped, error.end
    return codecs.backslashreplace_errors(error)


codecs.register_error(_CONSOLE, _replace_unprintable)


def _meant_command(word: str, commands: Mapping[str, click.Command]) -> str:
    """Return the commands that a wrong word stands for, as text; empty if nothing is near."""
    if word.startswith("stages-") and "learn-stages" in commands:
        return f"learn-stages --method {word.removeprefix('stages-')}"
    groups = {name: one for name, one in commands.items() if isinstance(one, click.Group)}
    below = {one: f"{name} {one}" for name, group in groups.items() for one in group.commands}
    paths = below | {name: name for name in commands}
    near = [name for name in paths if word in name.split("-")] or close_names(word, paths)
    return " or ".join(paths[name] for name in near[:2])


def _listed_by(ctx: click.Context) -> str:
    return f"{ctx.command_path} --help lists them."


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
        # An interrupt that comes now is too late: the command has ended and said how.
        is_last = before is not signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN if is_last else before)


@click.group(cls=ReportingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cegdb")
@click.option("--debug", is_flag=True, help="Log each SQL step and show tracebacks.")
def main(*, debug: bool) -> None:
    """Turn survey rows into event trees, staged trees and Chain Event Graphs.

    All results are tables of one DuckDB file, which you can query with SQL. Most commands
    take DB, the file, and NAME, the name of an object in it. cegdb COMMAND --help describes
    a command and shows examples.

    \b
    Examples:
      cegdb demo falls --csv falls.csv
      cegdb run falls.csv --count people --db falls.duckdb --draw falls.svg
      cegdb sql falls.duckdb "select * from cegdb.ceg_edges where ceg = 'falls'"
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.getLogger("cegdb")
    log.handlers = [handler]
    log.setLevel(logging.DEBUG if debug else logging.INFO)
