"""Commands that exchange files with other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cegdb.atomic_files import atomic_write
from cegdb.cli.group import main
from cegdb.cli.options import (
    DB,
    MIN_N,
    NAME,
    READING,
    SOURCE_COLUMN,
    kind_option,
    output_option,
    source_of,
    split_names,
)
from cegdb.cli.output import (
    ceg_of,
    echo,
    note_stale,
    object_of,
    opened,
    say_made,
    working,
)
from cegdb.errors import SurveyError

_FORMS = {".yaml": "yaml", ".yml": "yaml", ".csv": "csv"}


@main.command()
@click.argument("file", metavar="FILE")
@output_option("File to write: .yaml, .yml or .csv. Default: print YAML.")
@click.option("--replace", is_flag=True, help="Overwrite the output file if it exists.")
@click.option(
    "--columns",
    callback=split_names,
    metavar="A,B,C",
    help="Columns to describe. Default: all.",
)
@READING
@SOURCE_COLUMN
def codebook(file: str, output: Path | None, *, replace: bool, **options: Any) -> None:
    """Draft a codebook for a survey FILE, for you to edit and give to ingest --codebook.

    It lists the levels of each column with their number of rows, and remarks on what looks
    wrong: codes and labels that may not be answers, labels that differ only in case, columns
    that look like counts, weights, ids, dates or numbers to be cut into intervals. Remarks
    change nothing: until you edit the draft, ingest gives the same result with and without it.

    \b
    Examples:
      cegdb codebook falls.csv
      cegdb codebook falls.csv -o falls.yaml
      cegdb codebook falls.csv --columns Risk,Fall -o falls_codes.csv
    """
    form: Any = "yaml" if output is None else _FORMS.get(output.suffix.lower())
    if output is not None:
        if form is None:
            raise SurveyError(
                f"the name {output.name!r} does not say which kind of codebook to write",
                hint="end it in .yaml, .yml or .csv",
            )
        if output.exists() and not replace:
            raise SurveyError(
                f"{output} exists already, perhaps with your own edits",
                hint="give another name, or --replace",
            )
    with opened(None) as database, working(f"reading {file}", database):
        draft: bytes = database.codebook(source_of(file), form=form, **options).encode()
    if output is None:
        echo(draft, nl=False)
        return
    say_made("written", atomic_write(output, draft))


@main.command()
@DB
@NAME
@kind_option(
    "ceg",
    "staging",
    "tree",
    "survey",
    help="Kind of the object. Default: the kind that has the table; without --table, the first "
    "of these kinds that has an object called NAME.",
)
@click.option(
    "--table",
    metavar="VIEW",
    help="Write the rows of this view or table, such as stage_table, instead of the graph.",
)
@output_option(
    "File to write. The graph: .graphml, .gexf, .cyjs (Cytoscape), .json, .dot. "
    "Rows: .csv, .parquet, .json, .md, .tex, .html.",
    required=True,
)
@MIN_N
def export(
    db: Path, name: str, kind: str | None, table: str | None, output: Path, min_n: int | None
) -> None:
    """Export the object NAME of DB, or one of its tables, for other programs.

    The suffix of the file says what is written: the graph or its edges, or with --table the
    rows of a table. A graph of any size needs little memory. stage_table is written as papers
    print it: the stages of each variable with their situations in words.

    \b
    Examples:
      cegdb export falls.duckdb falls -o falls.graphml
      cegdb export falls.duckdb falls -o public.csv --min-n 5
      cegdb export falls.duckdb falls --table stage_table -o stages.tex
      cegdb export falls.duckdb falls --table positions -o positions.parquet
      cegdb export falls.duckdb falls --kind staging -o staged_edges.csv
    """
    with opened(str(db), read_only=True) as database, working("writing", database):
        if table is not None and kind is None:
            kind = database.kind_of(table)
        exported = object_of(database, name, kind, "ceg", "staging", "tree")
        say_made("written", exported.export(output, table=table, min_n=min_n))
        note_stale(exported)


@main.command("write-bif")
@DB
@NAME
@output_option("File to write: .bif.", required=True)
def write_bif(db: Path, name: str, output: Path) -> None:
    """Write the smallest Bayesian network of the staging NAME in DB, with its tables.

    cegdb set-stages --stages-file reads the file back; cegdb parents prints the parents of
    each variable.

    \b
    Examples:
      cegdb write-bif falls.duckdb falls -o falls.bif
    """
    with opened(str(db), read_only=True) as database:
        staged = database.stagings[name]
        with working("writing", database):
            written = staged.write_bif(output)
        say_made("written", written)


@main.command()
@click.argument("db", metavar="[DB]", required=False, type=click.Path(path_type=Path))
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--bibtex", is_flag=True, help="Print BibTeX entries.")
def cite(db: Path | None, name: str | None, *, bibtex: bool) -> None:
    """Print what to cite for cegdb, or for the methods that made the CEG NAME in DB.

    \b
    Examples:
      cegdb cite
      cegdb cite --bibtex
      cegdb cite falls.duckdb falls --bibtex
    """
    from cegdb.report.words.citations import format_references, general_references

    if db is None:
        echo(format_references(general_references(), bibtex=bibtex))
        return
    if name is None:
        raise click.UsageError("give the name of the CEG too")
    with opened(str(db), read_only=True) as database:
        echo(ceg_of(database, name).report.cite(bibtex=bibtex))
