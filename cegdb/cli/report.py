"""The commands of ``cegdb report``: pages and texts about CEGs and stagings."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb import options as settings
from cegdb.cli.group import CommandGroup, main
from cegdb.cli.options import DB, MIN_N, NAME, all_of, from_settings, output_option
from cegdb.cli.output import ceg_of, echo, opened, say_made, working
from cegdb.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping

_HINT = "write the variable and a colon (Fall:), and below it, indented, Yes: fall"
TEXT = all_of(
    from_settings(settings.ReportOptions),
    click.option(
        "--words",
        type=click.Path(path_type=Path, dir_okay=False, exists=True),
        metavar="FILE",
        help="YAML file with phrases for the labels of variables in the plain form; each "
        "phrase starts with a verb.",
    ),
    MIN_N,
    output_option("File to write: .md, .html or .tex. Default: print plain text."),
)


@main.group(cls=CommandGroup)
def report() -> None:
    """Write a report: an interactive page, a text about a CEG, or a comparison of stagings.

    \b
    Examples:
      cegdb report page falls.duckdb falls -o falls.html
      cegdb report text falls.duckdb falls --unit residents
    """


@report.command()
@DB
@NAME
@output_option("File to write: .html.", required=True)
@MIN_N
def page(db: Path, name: str, output: Path, min_n: int | None) -> None:
    """Write an interactive page about the CEG NAME in DB, for any browser.

    The page is one file and needs no network. It shows the CEG and its staged tree, details of
    each position and stage, the merges that led to the stages, receipt and settings, and the
    tables with their SQL. Evidence that you enter updates all probabilities.

    \b
    Examples:
      cegdb report page falls.duckdb falls -o falls.html
      cegdb report page falls.duckdb falls -o public.html --min-n 5
    """
    with opened(str(db), read_only=True) as database, working("writing", database):
        ceg = ceg_of(database, name)
        say_made("page", ceg.report.page(output, min_n=min_n))


@report.command()
@DB
@NAME
@TEXT
def text(db: Path, name: str, output: Path | None, words: Path | None, **options: Any) -> None:
    """Write in plain language what the CEG NAME in DB says.

    The plain form gives natural frequencies: how many of 100 people give which answer. The
    paper form has methods, a figure, the stage table and references. The analyst form has
    everything.

    \b
    Examples:
      cegdb report text falls.duckdb falls --unit residents
      cegdb report text falls.duckdb falls -o falls.html --min-n 10
      cegdb report text falls.duckdb falls --form paper -o falls.tex
      cegdb report text falls.duckdb falls --form analyst -o falls.md
    """
    options["words"] = read_words(words)
    with opened(str(db), read_only=True) as database:
        ceg = ceg_of(database, name)
        with working("writing", database):
            if output is None:
                echo(ceg.report.text(**options, **_as_plain_text()), nl=False)
                return
            written = ceg.report.save(output, **options)
        say_made("report", written)


@report.command()
@DB
@click.argument("names", metavar="NAME NAME [NAME]", nargs=-1, required=True)
@TEXT
def comparison(
    db: Path, names: tuple[str, ...], output: Path | None, words: Path | None, **options: Any
) -> None:
    """Compare two or three stagings of an event tree in plain language.

    Says which one the data support. Then describes, the largest first, each group of people
    that one staging keeps apart and another joins.

    \b
    Examples:
      cegdb learn-stages falls.duckdb falls --method hc --name by_hc --replace
      cegdb report comparison falls.duckdb falls by_hc
      cegdb report comparison falls.duckdb falls by_hc --form paper -o two.md
    """
    options["words"] = read_words(words)
    with opened(str(db), read_only=True) as database:
        with working("comparing", database):
            if output is None:
                plain = database.report.comparison(*names, **options, **_as_plain_text())
                echo(plain, nl=False)
                return
            written = database.report.save_comparison(output, *names, **options)
        say_made("report", written)


def _as_plain_text() -> dict[str, Any]:
    """Return the settings of a report on the screen: as wide as the terminal, if it is one."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return {"markdown": False, "width": columns}


def read_words(file: Path | None) -> Mapping[str, Mapping[str, str]] | None:
    """Return the words that a YAML file has for labels."""
    if file is None:
        return None
    import yaml

    try:
        words = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise QueryError(
            f"{file} is not a YAML file: {str(error).splitlines()[0]}", hint=_HINT
        ) from None
    if not isinstance(words, dict):
        raise QueryError(f"{file} does not name variables", hint=_HINT)
    return words
