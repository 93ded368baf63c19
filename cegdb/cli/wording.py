"""Commands that tell of a CEG in words, and how to cite it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, MIN_N
from cegdb.cli.output import asked_ceg, opened, say_made, working
from cegdb.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.api import Database

FORM = click.option(
    "--form",
    type=click.Choice(["plain", "paper", "analyst"]),
    default="plain",
    show_default=True,
    help="For whom: everybody, the readers of a paper, or the analyst.",
)
UNIT = click.option(
    "--unit", default="people", show_default=True, help="What was counted, in the plural."
)
WORDS = click.option(
    "--words",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="YAML file: variable, label, and what to say of it, a verb first (plain form).",
)
LIMIT = click.option(
    "--limit", type=int, help="The most groups of a question, those of most people."
)
OUTPUT = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write .md, .html or .tex; left out, Markdown is printed.",
)


@main.command("words")
@DB
@click.argument("ceg")
@FORM
@UNIT
@WORDS
@LIMIT
@MIN_N
@OUTPUT
def in_words(
    db: Path,
    ceg: str,
    form: Any,
    unit: str,
    words: Path | None,
    limit: int | None,
    min_n: int | None,
    output: Path | None,
) -> None:
    """Tell in words what a CEG of DB says: to everybody, in a paper, to an analyst.

    The plain form says how many of 100 people answer what, and on how many that rests. The
    paper form has methods, figure, stage table and references. The analyst form has all.

    \b
    Examples:
      cegdb words falls.duckdb falls --unit residents
      cegdb words falls.duckdb falls -o falls.html --min-n 10
      cegdb words falls.duckdb falls --form paper -o falls.tex
      cegdb words falls.duckdb falls --form analyst -o falls.md
    """
    settings = {"unit": unit, "words": read_words(words), "limit": limit, "min_n": min_n}
    with opened(str(db), read_only=True) as database:
        tell(database, ceg, form, output, settings)


def tell(
    database: Database, ceg: str, form: Any, output: Path | None, settings: dict[str, Any]
) -> None:
    """Print a report in words, or write it."""
    found = asked_ceg(database, ceg)
    with working("telling", database):
        if output is None:
            click.echo(found.report.text(form, **settings), nl=False)
            return
        written = found.report.save(output, form, **settings)
    say_made("report", written)


@main.command()
@DB
@click.argument("stagings", nargs=-1, required=True)
@FORM
@UNIT
@WORDS
@LIMIT
@MIN_N
@OUTPUT
def differences(
    db: Path,
    stagings: tuple[str, ...],
    form: Any,
    unit: str,
    words: Path | None,
    limit: int | None,
    min_n: int | None,
    output: Path | None,
) -> None:
    """Tell in words where two or three STAGINGS of a tree in DB differ, and who is concerned.

    Which the data support, and a sentence for each group that one keeps apart and another
    joins, most people first.

    \b
    Examples:
      cegdb differences falls.duckdb falls by_hand
      cegdb differences falls.duckdb falls by_hand --form paper -o two.md
    """
    with opened(str(db), read_only=True) as database:
        settings: dict[str, Any] = {
            "form": form,
            "unit": unit,
            "words": read_words(words),
            "limit": limit,
            "min_n": min_n,
        }
        with working("comparing", database):
            if output is None:
                click.echo(database.report.comparison(*stagings, **settings), nl=False)
                return
            written = database.report.save_comparison(output, *stagings, **settings)
        say_made("report", written)


def read_words(file: Path | None) -> Mapping[str, Mapping[str, str]] | None:
    """Return what a YAML file says of labels."""
    if file is None:
        return None
    import yaml

    try:
        found = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise QueryError(
            f"{file} is no YAML file: {str(error).splitlines()[0]}",
            hint="write a line of Fall:, and below it, indented, Yes: fall",
        ) from None
    if not isinstance(found, dict):
        raise QueryError(
            f"{file} does not name variables",
            hint="write a line of Fall:, and below it, indented, Yes: fall",
        )
    return found


@main.command()
@click.argument("db", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.argument("ceg", required=False)
@click.option("--bibtex", is_flag=True, help="As BibTeX entries.")
def cite(db: Path | None, ceg: str | None, *, bibtex: bool) -> None:
    """Print what to cite for cegdb, or for what a CEG of DB used.

    \b
    Examples:
      cegdb cite
      cegdb cite --bibtex
      cegdb cite falls.duckdb falls --bibtex
    """
    from cegdb.report.words.citations import as_text, general

    if db is None:
        click.echo(as_text(general(), bibtex=bibtex))
        return
    if ceg is None:
        raise click.UsageError("name the CEG of the database too")
    with opened(str(db), read_only=True) as database:
        click.echo(asked_ceg(database, ceg).report.cite(bibtex=bibtex))
