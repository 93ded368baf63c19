"""The command line: one verb per library function, ``run`` for all."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb.errors import CegdbError, SurveyError, agreeing, counted
from cegdb.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from rich.progress import Task

    from cegdb.api import ChainEventGraph, Database, StagedTree, Survey

KINDS = ("survey", "tree", "staging", "ceg")
_TABLES = {
    "survey": ("variables", "survey"),
    "tree": ("tree_edges", "tree"),
    "staging": ("stage_edges", "staging"),
    "ceg": ("ceg_edges", "ceg"),
}
_SHOWN = {
    "survey": "variable, label, kind, n",
    "tree": "source, label, target, n, share",
    "staging": "stage, variable, label, n, prior, probability, low, high",
    "ceg": "source, label, target, variable, n, probability",
}
_DRIFT = (
    "staging, was, stage, variable, n_situations, n_before, n_after, label, "
    "probability_before, low_before, high_before, probability_after, low_after, high_after, "
    "is_apart"
)
_READING = ("encoding", "delimiter", "quote", "escape", "bad_rows", "sheet", "source_column")
_FORMS = {".yaml": "yaml", ".yml": "yaml", ".csv": "csv"}
_STAGING = ("alpha", "hyperstages", "weighting", "deff", "replace")
_ORDER = {
    "survey": "level_id",
    "tree": "child_id",
    "staging": "stage_id, label_id",
    "ceg": "source_id, label_id, target_id",
}


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


@contextmanager
def _opened(path: str | None, *, read_only: bool = False, **limits: Any) -> Iterator[Database]:
    from cegdb import api

    is_new = path is not None and not Path(path).exists()
    is_empty = False
    try:
        with api.open(path, read_only=read_only, **limits) as db:
            try:
                yield db
            except BaseException:
                is_empty = is_new and not list(db.surveys)
                raise
    finally:
        if path is not None and is_empty:
            Path(path).unlink(missing_ok=True)


@contextmanager
def _working(what: str, rows_of: Database | None = None) -> Iterator[None]:
    """Show on a terminal what takes longer than a second, and the rows that are read."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Rows(TextColumn):
        def render(self, task: Task) -> Text:  # noqa: ARG002
            return Text("" if rows_of is None else str(rows_of.progress))

    console = Console(stderr=True)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        Rows(""),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    progress.add_task(what)
    timer = threading.Timer(1.0, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        progress.stop()


def _say(*texts: str) -> None:
    for text in texts:
        click.echo(text, err=True)


def _table(names: Sequence[str], rows: Sequence[Sequence[object]], form: str | None) -> None:
    """Print rows as a table (on a terminal), JSON or CSV."""
    form = form or ("table" if sys.stdout.isatty() else "csv")
    if form == "json":
        import json

        records = [dict(zip(names, row, strict=True)) for row in rows]
        click.echo(json.dumps(records, default=str, ensure_ascii=False, indent=1))
    elif form == "csv":
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
        click.echo(out.getvalue(), nl=False)
    else:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for i, name in enumerate(names):
            numeric = any(isinstance(row[i], (int, float)) for row in rows)
            table.add_column(Text(name), justify="right" if numeric else "left")
        for row in rows:
            table.add_row(*(Text(_shown(value)) for value in row))
        width = None if sys.stdout.isatty() else 200
        Console(width=width).print(table)


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return str(value)


def _query(db: Database, sql: str, params: dict[str, object], form: str | None) -> None:
    names, rows = db.rows(sql, params)
    _table(names, rows, form)


def _split(_: object, __: object, value: str | None) -> list[str] | None:
    """Read a comma-separated list, with quotes around names that hold commas."""
    if value is None:
        return None
    import csv

    return next(csv.reader([value], skipinitialspace=True), [])


def _labels(values: Sequence[str]) -> list[str] | dict[str, list[str]]:
    """Read labels given as ``LABEL`` (all variables) or ``VARIABLE=LABEL``."""
    per_variable: dict[str, list[str]] = {}
    everywhere = [value for value in values if "=" not in value]
    for value in values:
        if "=" in value:
            name, label = value.split("=", 1)
            per_variable.setdefault(name, []).append(label)
    if per_variable and everywhere:
        raise SurveyError(
            f"labels for all variables ({everywhere[0]}) and for some ({values}) are mixed",
            hint="write all as VARIABLE=LABEL",
        )
    return per_variable or everywhere


def _levels(values: Sequence[str]) -> dict[str, list[str]]:
    """Read levels given as ``VARIABLE=LABEL,LABEL,...``."""
    found: dict[str, list[str]] = {}
    for value in values:
        name, equals, labels = value.partition("=")
        if not equals:
            raise SurveyError(f"--levels {value!r} is not VARIABLE=LABEL,LABEL,...")
        found[name] = _split(None, None, labels) or []
    return found


def _bins(values: Sequence[str]) -> dict[str, str]:
    """Read cut points or quantiles given as ``VARIABLE=18,35,65`` or ``VARIABLE=q4``."""
    found: dict[str, str] = {}
    for value in values:
        name, equals, bins = value.partition("=")
        if not equals or name in found:
            why = "is given twice" if equals else "is not VARIABLE=18,35,65 or VARIABLE=q4"
            raise SurveyError(f"--bin {value!r} {why}")
        found[name] = bins
    return found


def _paths(values: Sequence[str]) -> list[dict[str, str]]:
    """Read paths given as ``VARIABLE=LABEL,VARIABLE=LABEL,...``."""
    found = []
    for value in values:
        parts = [part.partition("=") for part in _split(None, None, value) or []]
        if not all(equals for _, equals, _ in parts):
            raise SurveyError(f"{value!r} is not a path VARIABLE=LABEL,VARIABLE=LABEL,...")
        found.append({name: label for name, _, label in parts})
    return found


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


NAME = click.option("--name", help="Name to store it under.")
REPLACE = click.option(
    "--replace", is_flag=True, help="Replace one of that name, with all built on it."
)
FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv"]),
    help="How to print; a table on a terminal, else csv.",
)
EDGE_INFO = click.option(
    "--edge-info",
    type=click.Choice(["probability", "count", "prior", "posterior", "none"]),
    default="probability",
    show_default=True,
    help="What edges of a picture show.",
)
MIN_N = click.option(
    "--min-n",
    type=int,
    metavar="N",
    help="Hide counts below N, and what would reveal them.",
)
DECIMAL = click.option(
    "--decimal", type=click.Choice([".", ","]), help="Decimal sign; as at ingest if left out."
)
COLUMNS = click.option("--columns", callback=_split, help="Columns to keep: A,B,C.")
READING = _options(
    click.option("--encoding", help="Of the text, such as cp1252; UTF-8 if left out."),
    click.option("--delimiter", help="Between the fields; found out if left out."),
    click.option("--quote", help="Around a cell; '\"' if left out, '' for none."),
    click.option("--escape", help="Before a character that is part of a cell."),
    click.option(
        "--bad-rows",
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="Rows of another number of fields: refuse the file, or skip and list them.",
    ),
    click.option("--sheet", help="Of a workbook: its name."),
)
SOURCE_COLUMN = click.option(
    "--source-column",
    metavar="NAME",
    help="A column to add that holds each file's name, of several files read as one.",
)
INGEST = _options(
    COLUMNS,
    click.option("--count", help="Column of counts of an aggregated table."),
    click.option("--weight", help="Column of survey weights; kept beside the counts."),
    click.option("--cluster", help="Column of clusters of a clustered sample."),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        default=".",
        show_default=True,
        help="Decimal sign of counts, weights and numbers to be cut.",
    ),
    click.option(
        "--structural",
        multiple=True,
        metavar="[VARIABLE=]LABEL",
        help="A label that means the question does not apply.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="[VARIABLE=]LABEL",
        help="A label that means the answer is not known.",
    ),
    click.option(
        "--levels",
        multiple=True,
        metavar="VARIABLE=A,B,C",
        help="All labels of a variable, in order.",
    ),
    click.option(
        "--bin",
        "bins",
        multiple=True,
        metavar="VARIABLE=18,35,65|q4",
        help="Cut a number into levels: at points, or into quantiles.",
    ),
    click.option(
        "--codebook",
        type=click.Path(path_type=Path),
        help="YAML or CSV file that says what codes mean.",
    ),
    READING,
    SOURCE_COLUMN,
)
TREE = _options(
    click.option("--order", callback=_split, help="Variables from the root: A,B,C."),
    click.option(
        "--blank",
        type=click.Choice(["auto", "structural", "missing"]),
        default="auto",
        show_default=True,
        help="What an empty cell means.",
    ),
    click.option(
        "--missing-policy",
        type=click.Choice(["prefix", "complete", "category"]),
        default="prefix",
        show_default=True,
        help="What becomes of rows with a missing answer.",
    ),
    click.option(
        "--sampling-zeros",
        type=click.Choice(["none", "floret", "full"]),
        default="none",
        show_default=True,
        help="Answers nobody gave: left out, added to each floret, or expanded.",
    ),
    click.option(
        "--add-path",
        multiple=True,
        metavar="A=x,B=y",
        help="A path to add without rows.",
    ),
    click.option(
        "--impossible",
        multiple=True,
        metavar="A=x,B=y",
        help="A path that --sampling-zeros must not add.",
    ),
)
STAGES = _options(
    click.option(
        "--alpha", type=float, help="Prior mass of the root (equivalent sample size)."
    ),
    click.option(
        "--hyperstages",
        type=click.Choice(["variable", "labels"]),
        default="variable",
        show_default=True,
        help="Same variable and label set, or same label set anywhere.",
    ),
    click.option(
        "--weighting",
        type=click.Choice(["situation", "global", "total", "none"]),
        default="situation",
        show_default=True,
        help="What respondents with weights count in scores.",
    ),
    click.option("--deff", type=float, help="Design effect of a clustered sample."),
)
STOP = click.option(
    "--stop",
    type=click.Choice(["early", "baseline"]),
    default="early",
    show_default=True,
    help="Where the backward recursion stops.",
)
DB = click.argument("db", metavar="DB", type=click.Path(path_type=Path))


def _source(file: str) -> str | Path:
    """Return FILE as the library takes it: never for a SELECT."""
    return file if file == "-" or any(char in file for char in "*?[") else Path(file)


def _ingest(db: Database, file: str, given: dict[str, Any]) -> Survey:
    with _working(f"reading {file}", db):
        survey = db.ingest(
            _source(file),
            name=given["name"],
            columns=given["columns"],
            count=given["count"],
            weight=given["weight"],
            cluster=given["cluster"],
            decimal=given["decimal"],
            structural=_labels(given["structural"]),
            missing=_labels(given["missing"]),
            levels=_levels(given["levels"]),
            bins=_bins(given["bins"]),
            codebook=given["codebook"],
            **{name: given[name] for name in _READING},
            replace=given["replace"],
        )
    _say_read(survey)
    _say(survey.summary)
    return survey


def _say_read(survey: Survey) -> None:
    """Tell how long the last reading took, if it was long."""
    from cegdb.store.progress import speed

    receipt: Any = survey.receipt
    rows, seconds = receipt.get("last", receipt)["rows_read"], survey.seconds
    if seconds >= 1:
        _say(f"{rows:,} rows read in {seconds:.1f} s ({speed(rows, seconds)})")


def _tree_settings(given: dict[str, Any]) -> dict[str, Any]:
    return {
        "order": given["order"],
        "blank": given["blank"],
        "missing_policy": given["missing_policy"],
        "sampling_zeros": given["sampling_zeros"],
        "add_paths": _paths(given["add_path"]),
        "impossible": _paths(given["impossible"]),
    }


@main.command()
@click.argument("which", type=click.Choice(["chds", "titanic"]), default="chds")
@click.option("--db", type=click.Path(path_type=Path), help="Keep it in this file.")
@click.option(
    "--draw",
    type=click.Path(path_type=Path),
    help="The picture; WHICH.svg if left out.",
)
@FORMAT
def demo(which: str, db: Path | None, draw: Path | None, form: str | None) -> None:
    """Build the CEG of a small public data set and show it.

    \b
    Examples:
      cegdb demo
      cegdb demo titanic --db demo.duckdb
    """
    from cegdb.demo import DEMOS

    shown = DEMOS["chds" if which == "chds" else "titanic"]
    _say(shown.about, "")
    with _opened(None if db is None else str(db)) as database:
        survey = database.ingest(shown.select(), name=which, count="people", replace=True)
        _say(survey.summary)
        tree = survey.event_tree(
            sampling_zeros=shown.sampling_zeros, impossible=shown.impossible
        )
        _say(tree.summary)
        staged = tree.learn_stages()
        _say(staged.summary)
        ceg = staged.to_ceg()
        _say(ceg.summary, "")
        here = f"where ceg = '{which}'"
        edges = "select source, label, target, n, probability from cegdb.ceg_edges"
        places = "select situation, path, stage, n from cegdb.situation_positions"
        paths = f"select path, probability from cegdb.paths('{which}')"  # noqa: S608
        asked = [
            f"{edges} {here} order by source_id, label_id",
            f"{places} {here} and position = 'w3'",
            f"{paths} order by probability desc limit 5",
        ]
        for sql in asked:
            _say(f"SQL> {sql}")
            _query(database, sql, {}, form)
        _picture(ceg, draw or Path(f"{which}.svg"), "probability")
    if db is None:
        _say("To keep the tables and ask more: cegdb demo --db demo.duckdb")
    else:
        _say(f'Ask more: cegdb sql {db} "from cegdb.stages"')


def _picture(ceg: ChainEventGraph, file: Path, edge_info: Any) -> None:
    """Draw, or say what is missing; the tables are there either way."""
    from cegdb.errors import MissingExtraError

    try:
        _say(f"picture: {ceg.draw(file, edge_info=edge_info)}")
    except MissingExtraError as error:
        _say(f"no picture: {error}")


@main.command()
@click.argument("file")
@click.option("--db", type=click.Path(path_type=Path), help="Database; memory if left out.")
@NAME
@REPLACE
@INGEST
@TREE
@STAGES
@STOP
@click.option("--draw", type=click.Path(path_type=Path), help="Draw the CEG to this file.")
@EDGE_INFO
@MIN_N
@FORMAT
def run(file: str, db: Path | None, form: str | None, **given: Any) -> None:
    """Go from a survey file to its CEG: ingest, tree, stages, positions.

    FILE is CSV (also .gz, .zst), Parquet, Excel, SPSS, Stata or SAS, a quoted pattern such
    as "waves/*.csv", or - for standard input. With --order and no --columns, only those
    are kept.
    --min-n is for the picture and the table; what is said about the rows stays whole.

    \b
    Examples:
      cegdb run falls.csv --db falls.duckdb --draw falls.svg
      cegdb run school.csv --missing unknown --missing-policy complete --alpha 2
    """
    from cegdb.small_cells import check_min_n
    from cegdb.stages import check_alpha

    tree_settings = _tree_settings(given)
    check_alpha(given["alpha"])
    check_min_n(given["min_n"])
    given["columns"] = given["columns"] or given["order"]
    if given["draw"] is not None:
        from cegdb.graphs import check_picture

        check_picture(given["draw"])
    with _opened(None if db is None else str(db)) as database:
        with database.transaction():
            survey = _ingest(database, file, given)
            with _working("building the event tree"):
                tree = survey.event_tree(
                    given["name"], replace=given["replace"], **tree_settings
                )
            _say(tree.summary)
            with _working("learning stages"):
                staged = tree.learn_stages(
                    given["name"], **{key: given[key] for key in _STAGING}
                )
            _say(staged.summary)
            with _working("merging positions"):
                ceg = staged.to_ceg(given["name"], stop=given["stop"], replace=given["replace"])
            _say(ceg.summary)
        if given["draw"] is not None:
            with _working("drawing"):
                shown = {key: given[key] for key in ("edge_info", "min_n")}
                _say(f"picture: {ceg.draw(given['draw'], **shown)}")
        if given["min_n"] is not None:
            _view(ceg, None, given["min_n"], form)
            return
        _query(
            database,
            f"select {_SHOWN['ceg']} from cegdb.ceg_edges where ceg = $name "  # noqa: S608
            f"order by {_ORDER['ceg']}",
            {"name": ceg.name},
            form,
        )


@main.command()
@DB
@click.argument("file")
@NAME
@REPLACE
@INGEST
@FORMAT
def ingest(db: Path, file: str, form: str | None, **given: Any) -> None:
    """Read a survey FILE into DB; every row is accounted for.

    Prints the receipt: a row a variable, its cells by kind; whole with --format json.

    \b
    Examples:
      cegdb ingest falls.duckdb falls.csv --name falls
      cegdb ingest ship.duckdb ship_freq.csv --count Freq
      cegdb ingest s.duckdb school.csv --missing unknown --structural attends=none
      cegdb ingest w.duckdb panel.sav --weight wt --codebook panel.yaml --format json
    """
    with _opened(str(db)) as database:
        receipt = _ingest(database, file, given).receipt
    _receipt(receipt, form)


def _receipt(receipt: Any, form: str | None) -> None:
    """Print cells by kind, a row a variable; the whole receipt as JSON."""
    if form == "json":
        import json

        click.echo(json.dumps(receipt, ensure_ascii=False, indent=2))
        return
    kinds = ("value", "structural", "missing", "blank")
    rows = [[name, *(of[kind] for kind in kinds)] for name, of in receipt["cells"].items()]
    _table(["variable", *kinds], rows, form)


@main.command()
@DB
@click.argument("survey")
@click.argument("file")
@DECIMAL
@READING
@FORMAT
def append(db: Path, survey: str, file: str, form: str | None, **given: Any) -> None:
    """Add the rows of FILE to a SURVEY in DB, matched by column name.

    What was said when the survey was ingested holds for them: codebook, gates, count, weight,
    columns. A column that FILE lacks is blank in its rows. What is built on the survey is
    stale until it is rebuilt.

    \b
    Examples:
      cegdb append panel.duckdb panel wave2.csv
      cegdb append panel.duckdb panel wave3.csv --delimiter ";" && cegdb rebuild panel.duckdb
    """
    _change("append", db, survey, file, form, given)


@main.command()
@DB
@click.argument("survey")
@click.argument("file")
@DECIMAL
@READING
@FORMAT
def refresh(db: Path, survey: str, file: str, form: str | None, **given: Any) -> None:
    """Replace the rows of a SURVEY in DB by those of FILE, a new snapshot.

    What was said when the survey was ingested holds for them: codebook, gates, count, weight,
    columns. What is built on the survey is stale until it is rebuilt.

    \b
    Examples:
      cegdb refresh falls.duckdb falls falls_today.csv
      cegdb refresh falls.duckdb falls falls_today.csv && cegdb rebuild falls.duckdb
    """
    _change("refresh", db, survey, file, form, given)


def _change(
    verb: str, db: Path, survey: str, file: str, form: str | None, given: dict[str, Any]
) -> None:
    if not db.exists():
        raise CegdbError(f"there is no file {db}")
    with _opened(str(db)) as database:
        found = database.surveys[survey]
        with _working(f"reading {file}", database):
            getattr(found, verb)(_source(file), **given)
        _say_read(found)
        _say(found.summary)
        stale = [kind for kind, of in _rows_of_stale(database) if of == survey]
        if stale:
            _say(f"stale now: {_counted(stale)}; to make them again: cegdb rebuild {db}")
        _receipt(found.receipt, form)


def _rows_of_stale(database: Database) -> list[tuple[Any, Any]]:
    _, rows = database.rows("select kind, survey from cegdb.stale")
    return [(kind, survey) for kind, survey in rows]


def _counted(kinds: list[str]) -> str:
    found = [(kinds.count(kind), kind) for kind in KINDS if kind in kinds]
    return ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for n, kind in found)


@main.command()
@DB
@click.argument("survey", required=False)
@click.option(
    "--stages",
    type=click.Choice(["keep", "relearn"]),
    default="keep",
    show_default=True,
    help="Keep stages and estimate them anew, or learn them again.",
)
@FORMAT
def rebuild(db: Path, survey: str | None, stages: Any, form: str | None) -> None:
    """Make what is stale in DB again of the rows its surveys have now.

    Trees, stagings and CEGs are made with the settings they were made with, under the same
    names, in one transaction. Prints the drift: what became of the probabilities of each
    stage. With SURVEY only what is built on that one.

    \b
    Examples:
      cegdb rebuild falls.duckdb
      cegdb rebuild falls.duckdb falls --stages relearn --format csv
    """
    if not db.exists():
        raise CegdbError(f"there is no file {db}")
    with _opened(str(db)) as database:
        with _working("rebuilding"):
            made = database.rebuild(survey, stages=stages)
        if not made:
            _say("nothing is stale")
            return
        _say(*(found.summary for found in made))
        stagings = [found.name for found in made if found.kind == "staging"]
        _query(
            database,
            f"select {_DRIFT} from cegdb.drift where list_contains($stagings, staging) "  # noqa: S608
            "order by staging, stage_id nulls last, was",
            {"stagings": stagings},
            form,
        )


@main.command()
@click.argument("file")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Ends in .yaml, .yml or .csv; YAML to standard output if left out.",
)
@click.option("--replace", is_flag=True, help="Write over the output file if it is there.")
@COLUMNS
@READING
@SOURCE_COLUMN
def codebook(file: str, output: Path | None, *, replace: bool, **given: Any) -> None:
    """Draft a codebook of a survey FILE, to be edited and given to ingest --codebook.

    It lists the levels of each column with their rows, and what looks wrong in remarks: codes
    and labels that may be no answer, labels that differ in case only, columns that look like a
    count, a weight, an id, a date or a number to be cut. Remarks change nothing: as it is,
    ingest makes the same of the columns in it as without.

    \b
    Examples:
      cegdb codebook falls.csv
      cegdb codebook school.sav -o school.yaml
      cegdb codebook school.csv --delimiter ";" --columns sex,vote -o school_codes.csv
    """
    form: Any = "yaml" if output is None else _FORMS.get(output.suffix.lower())
    if output is not None:
        if form is None:
            raise SurveyError(
                f"{output.name!r} does not say which kind of codebook to write",
                hint="it ends in .yaml, .yml or .csv",
            )
        if output.exists() and not replace:
            raise SurveyError(
                f"there is a file {output} already, maybe with your own edits",
                hint="give another name, or --replace",
            )
    with _opened(None) as database, _working(f"reading {file}", database):
        draft: bytes = database.codebook(_source(file), form=form, **given).encode()
    if output is None:
        click.echo(draft, nl=False)
        return
    try:
        output.write_bytes(draft)
    except OSError as error:
        raise SurveyError(f"{output} cannot be written: {error.strerror}") from None
    _say(f"written: {output}")


@main.command()
@DB
@click.argument("survey")
@NAME
@REPLACE
@TREE
def tree(db: Path, survey: str, **given: Any) -> None:
    """Build an event tree of a SURVEY in DB.

    \b
    Examples:
      cegdb tree falls.duckdb falls --order HousingAssessment,Risk,Treatment,Fall
      cegdb tree ship.duckdb ship --sampling-zeros floret --impossible Class=Crew,Age=Child
    """
    with _opened(str(db)) as database:
        found = database.surveys[survey]
        with _working("building the event tree"):
            made = found.event_tree(
                given["name"], replace=given["replace"], **_tree_settings(given)
            )
        _say(made.summary)


@main.command()
@DB
@click.argument("tree")
@NAME
@REPLACE
@STAGES
@click.option(
    "--given",
    "stages",
    type=click.Path(path_type=Path),
    help="Take the stages from this CSV (columns vertex_id, stage) instead of learning.",
)
def stages(db: Path, tree: str, stages: Path | None, **given: Any) -> None:
    """Learn the stages of a TREE in DB, or take them from a file.

    \b
    Examples:
      cegdb stages falls.duckdb falls --alpha 4
      cegdb stages falls.duckdb falls --given stages.csv --name by_hand
    """
    settings = {key: given[key] for key in _STAGING}
    with _opened(str(db)) as database:
        found = database.trees[tree]
        with _working("learning stages"):
            if stages is None:
                made = found.learn_stages(given["name"], **settings)
            else:
                made = found.set_stages(stages, given["name"], **settings)
        _say(made.summary)


@main.command()
@DB
@click.argument("staging")
@NAME
@REPLACE
@STOP
def ceg(db: Path, staging: str, **given: Any) -> None:
    """Construct the CEG of a STAGING in DB.

    \b
    Examples:
      cegdb ceg falls.duckdb falls
      cegdb ceg falls.duckdb falls --stop baseline --name whole
    """
    with _opened(str(db)) as database:
        found: StagedTree = database.stagings[staging]
        with _working("merging positions"):
            made = found.to_ceg(given["name"], stop=given["stop"], replace=given["replace"])
        _say(made.summary)


@main.command("list")
@DB
@FORMAT
def list_(db: Path, form: str | None) -> None:
    """List the surveys, trees, stagings and CEGs of DB.

    \b
    Example:
      cegdb list falls.duckdb
    """
    with _opened(str(db), read_only=True) as database:
        rows = [
            (kind, found.name, repr(found).partition(": ")[2])
            for kind, objects in _collections(database).items()
            for found in objects
        ]
        _table(["kind", "name", "what"], rows, form)


def _collections(database: Database) -> dict[str, Any]:
    return {
        "survey": database.surveys,
        "tree": database.trees,
        "staging": database.stagings,
        "ceg": database.cegs,
    }


def _view(found: Any, view: str | None, min_n: int | None, form: str | None) -> None:
    """Print a view of an object; the columns that `show` prints if none is named."""
    # What is pooled over the situations of a stage can be unpicked by the tree's sums.
    table = "staged_edges" if found.kind == "staging" else _TABLES[found.kind][0]
    names, rows = found.rows(view or table, min_n=min_n)
    shown = _SHOWN[found.kind].split(", ")
    kept = names if view or table == "staged_edges" else shown
    places = [names.index(column) for column in kept]
    _table(kept, [[row[place] for place in places] for row in rows], form)


@main.command()
@DB
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("--view", metavar="VIEW", help="The view to print, whole; see the README.")
@MIN_N
@FORMAT
def show(
    db: Path, kind: str, name: str, view: str | None, min_n: int | None, form: str | None
) -> None:
    """Show the summary and the rows of one object of DB.

    With --min-n there is no summary, since it counts respondents.

    \b
    Examples:
      cegdb show falls.duckdb ceg falls
      cegdb show falls.duckdb ceg falls --view positions --min-n 5
    """
    with _opened(str(db), read_only=True) as database:
        found = _collections(database)[kind][name]
        if min_n is None:
            _say(found.summary)
        if view is not None or min_n is not None:
            _view(found, view, min_n, form)
            return
        view, column = _TABLES[kind]
        sql = (
            f"select {_SHOWN[kind]} from cegdb.{view} where {column} = $name "  # noqa: S608
            f"order by {_ORDER[kind]}"
        )
        _query(database, sql, {"name": name}, form)


@main.command()
@click.argument("db", metavar="[DB]", required=False, type=click.Path(path_type=Path))
@click.argument("query", metavar="[QUERY]", required=False)
@click.option("--show", metavar="STEP", help="Print an SQL step, ready for a DuckDB shell.")
@FORMAT
def sql(db: Path | None, query: str | None, show: str | None, form: str | None) -> None:
    """Ask DB in SQL (opened read-only; '-' reads QUERY from standard input).

    SQL sees every count: to hide small ones, use show, export or draw with --min-n.

    \b
    Examples:
      cegdb sql falls.duckdb "select * from cegdb.ceg_edges where ceg = 'falls'"
      cegdb sql falls.duckdb "from cegdb.paths('falls')" --format json
      cegdb sql --show layer_block
    """
    if show is not None:
        from cegdb.sqlfiles import load

        click.echo(load(show).prepared(), nl=False)
        return
    if db is None or query is None:
        raise click.UsageError("give DB and QUERY, or --show STEP")
    text = sys.stdin.read() if query == "-" else query
    with _opened(str(db), read_only=True) as database:
        _query(database, text, {}, form)


@main.command()
@DB
@click.argument("ceg")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Ends in .dot, .graphml, .json (graph), .csv or .parquet (edges).",
)
@MIN_N
def export(db: Path, ceg: str, output: Path, min_n: int | None) -> None:
    """Write a CEG of DB for other programs.

    \b
    Examples:
      cegdb export falls.duckdb falls -o falls.graphml
      cegdb export falls.duckdb falls -o public.csv --min-n 5
      cegdb export falls.duckdb falls -o falls.csv
    """
    with _opened(str(db), read_only=True) as database:
        found = database.cegs[ceg]
        _say(f"written: {found.export(output, min_n=min_n)}")
        _tell_stale(found)


@main.command()
@DB
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(["tree", "staging", "ceg"]),
    default="ceg",
    show_default=True,
    help="What to draw.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Ends in .svg, .png, .pdf or .dot.",
)
@EDGE_INFO
@MIN_N
def draw(
    db: Path, name: str, kind: str, output: Path, edge_info: Any, min_n: int | None
) -> None:
    """Draw a CEG (or tree, or staged tree) of DB.

    \b
    Examples:
      cegdb draw falls.duckdb falls -o falls.svg
      cegdb draw falls.duckdb falls --kind staging -o tree.pdf --edge-info count
      cegdb draw falls.duckdb falls -o public.svg --min-n 5
    """
    with _opened(str(db), read_only=True) as database, _working("drawing"):
        found = _collections(database)[kind][name]
        _say(f"picture: {found.draw(output, edge_info=edge_info, min_n=min_n)}")
        _tell_stale(found)


def _tell_stale(found: Any) -> None:
    if found.is_stale:
        _say(
            f"note: {found.kind} {found.name!r} is stale: its survey has other rows since; "
            "cegdb rebuild makes it again"
        )


@main.command()
@DB
@FORMAT
def check(db: Path, form: str | None) -> None:
    """Check every invariant of DB's tables; list the rows that violate one.

    \b
    Example:
      cegdb check falls.duckdb
    """
    with _opened(str(db), read_only=True) as database:
        with _working("checking"):
            found = database.check()
        if not found:
            _say("all invariants hold")
            return
        _table(list(found[0]), [list(row.values()) for row in found], form)
        raise CegdbError(
            f"{counted(len(found), 'row')} {agreeing(len(found), 'violate')} an invariant",
            hint="drop and rebuild the objects named, or restore a copy of the file",
        )


@main.command()
@DB
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
def drop(db: Path, kind: Any, name: str) -> None:
    """Drop an object of DB, with everything built on it.

    \b
    Example:
      cegdb drop falls.duckdb survey falls
    """
    with _opened(str(db)) as database:
        database.drop(kind, name)
        _say(f"dropped {kind} {name!r}")


@main.command()
@DB
def migrate(db: Path) -> None:
    """Bring DB's tables to this version of cegdb.

    \b
    Example:
      cegdb migrate falls.duckdb
    """
    if not db.exists():
        raise CegdbError(f"there is no file {db}")
    with _opened(str(db)):
        _say(f"{db} is up to date")
