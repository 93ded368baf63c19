"""The commands of ``cegdb steps``: the SQL of cegdb, and the whole run that made a CEG."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import click

from cegdb.cli.group import CommandGroup, main
from cegdb.cli.options import DB, FORMAT, NAME, output_option
from cegdb.cli.output import echo, opened, print_table, say_made, working

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb.api import ChainEventGraph

_COLUMNS = ("purpose", "reads", "writes")


class _Listing(CommandGroup):
    """A group that runs ``list`` unless another of its commands is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the command ``list`` if none is named."""
        if not args or args[0] not in (*self.commands, *self.get_help_option_names(ctx)):
            # As strict as sets 'tracee' apart from the phase 'tree'.
            if args and difflib.get_close_matches(args[0], self.commands, cutoff=0.8):
                self.refuse_command(ctx, args[0])
            args = ["list", *args]
        return super().parse_args(ctx, args)


@main.group(cls=_Listing, subcommand_metavar="[PHASE] [--show STEP] | trace DB NAME")
def steps() -> None:
    """List the SQL steps that make trees, stages and CEGs, or write out a whole run.

    Each step is one SELECT. PHASE is a part of the work, such as 40_positions; its name or
    its number is enough.

    \b
    Examples:
      cegdb steps
      cegdb steps positions --format csv
      cegdb steps --show layer_block
      cegdb steps trace falls.duckdb falls -o pipeline.sql
    """


@steps.command("list")
@click.argument("phase", metavar="[PHASE]", required=False)
@click.option("--show", metavar="STEP", help="Print one step, ready for a DuckDB shell.")
@FORMAT
def list_(phase: str | None, show: str | None, form: str | None) -> None:
    """List the steps, or print the SQL of one.

    This is what cegdb steps does without a command. Columns: name, phase, purpose, and the
    tables that each step reads and writes.

    \b
    Examples:
      cegdb steps list
      cegdb steps list 50_ceg --format json
      cegdb steps list --show layer_block
    """
    from cegdb.sqlfiles import in_phase, load

    if show is not None:
        if phase is not None:
            raise click.UsageError("give only one of PHASE and --show STEP")
        echo(load(show).prepared(), nl=False)
        return
    rows = [
        (step.name, step.phase, *(" ".join(step.header[key].split()) for key in _COLUMNS))
        for step in in_phase(phase)
    ]
    print_table(["name", "phase", *_COLUMNS], rows, form)


@steps.command()
@DB
@NAME
@output_option("Script to write. Default: print it.")
def trace(db: Path, name: str, output: Path | None) -> None:
    """Write the whole run that made the CEG NAME in DB as one SQL script.

    The script contains the coded rows of the survey and every step, with its purpose and its
    parameters filled in. It runs in DuckDB alone, without cegdb, in a database that has no
    schema cegdb. Tables of more than 5,000 rows are written to Parquet files beside the
    script. The script contains all counts: small ones cannot be hidden.

    \b
    Examples:
      cegdb steps trace falls.duckdb falls -o pipeline.sql
    """
    with opened(str(db), read_only=True) as database:
        ceg: ChainEventGraph = database.cegs[name]
        with working("running each step again", database):
            script = ceg.trace(output)
        if output is None:
            echo(script, nl=False)
        else:
            say_made("script", output)
