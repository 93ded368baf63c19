"""Commands that make surveys, event trees, staged trees and CEGs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.formatting import wrap_text

from cegdb import options as settings
from cegdb.cli.group import main
from cegdb.cli.options import (
    DB,
    EDGE_INFO,
    FORMAT,
    INGEST,
    INGEST_NAMES,
    LEARN,
    LEARN_NAMES,
    MIN_N,
    NAME,
    NEW_NAME,
    REPLACE,
    STAGE_NAMES,
    STAGES,
    STOP,
    TREE,
    TREE_NAMES,
    Word,
    chosen,
    kind_option,
    output_option,
    read_names,
    read_rules,
    refuse_beside,
    source_of,
    split_names,
)
from cegdb.cli.output import (
    object_of,
    opened,
    print_frame,
    print_query,
    print_receipt,
    print_table,
    rows_of_object,
    rows_of_view,
    say,
    say_made,
    say_speed,
    working,
)

if TYPE_CHECKING:
    from cegdb.api import ChainEventGraph, Database, StagedTree, Survey
    from cegdb.demo import Demo


@main.command()
@click.argument(
    "which",
    metavar="[chds|titanic|falls]",
    type=Word(["chds", "titanic", "falls"]),
    default="chds",
)
@click.option("--db", type=click.Path(path_type=Path), help="Keep the tables in this file.")
@click.option(
    "--csv",
    type=click.Path(path_type=Path),
    help="Write the survey to this file, ready for cegdb run and cegdb ingest with --count "
    "people, and stop.",
)
@click.option(
    "--draw",
    type=click.Path(path_type=Path),
    help="File of the picture. Default: the name of the survey and .svg.",
)
@FORMAT
def demo(
    which: Any, db: Path | None, csv: Path | None, draw: Path | None, form: str | None
) -> None:
    """Build the CEG of a public survey and show what can be asked of it.

    chds: 890 children of the Christchurch Health and Development Study. titanic: the 2,201
    people aboard the Titanic. falls: 50,000 residents in a simulated study of falls; a
    question that some of them are never asked is left empty.

    \b
    Examples:
      cegdb demo
      cegdb demo falls --db demo.duckdb
      cegdb demo falls --csv falls.csv
    """
    from cegdb.demo import DEMOS

    data = DEMOS[which]
    if csv is not None:
        refuse_beside("--csv writes a file and stops", but=("csv",))
        say(wrap_text(data.about))
        say_made("written", data.write(csv))
        return
    say(wrap_text(data.about), "")
    with opened(None if db is None else str(db), makes=True) as database:
        ceg = _build(database, which, data)
        here = f"where ceg = '{which}'"
        edges = "select source, label, target, n, probability from cegdb.ceg_edges"
        members = "select situation, path, stage, n from cegdb.situation_positions"
        paths = f"select path, probability from cegdb.paths('{which}')"  # noqa: S608
        for sql in (
            f"{edges} {here} order by source_id, label_id",
            f"{members} {here} and position = 'w3'",
            f"{paths} order by probability desc limit 5",
        ):
            say(f"SQL> {sql}")
            print_query(database, sql, {}, form)
        _picture(ceg, draw or Path(f"{which}.svg"), "probability")
    if db is None:
        say(f"To keep the tables and query them: cegdb demo {which} --db demo.duckdb")
    else:
        say(f'Query the tables: cegdb sql {db} "from cegdb.stages"')


def _build(database: Database, which: str, data: Demo) -> ChainEventGraph:
    """Make the survey, tree, staged tree and CEG of a demo, all or none."""
    with database.transaction():
        survey = database.ingest(data.select(), name=which, count="people", replace=True)
        say(survey.summary)
        tree = survey.event_tree(sampling_zeros=data.sampling_zeros, impossible=data.impossible)
        say(tree.summary)
        staged = tree.learn_stages()
        say(staged.summary)
        ceg = staged.to_ceg()
        say(ceg.summary, "")
    return ceg


def _picture(ceg: ChainEventGraph, file: Path, edge_info: Any) -> None:
    """Draw, or say what is missing; the tables are there either way."""
    from cegdb.errors import MissingExtraError

    try:
        say(f"picture: {ceg.draw(file, edge_info=edge_info)}")
    except MissingExtraError as error:
        say(f"no picture: {error}")


def ingest_file(
    db: Database, file: str, name: str | None, given: dict[str, Any], *, replace: bool
) -> Survey:
    """Ingest a file with the options given, and print its summary."""
    with working(f"reading {file}", db):
        survey = db.ingest(
            source_of(file), name=name, replace=replace, **chosen(given, INGEST_NAMES)
        )
    say_speed(survey)
    say(survey.summary)
    return survey


@main.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--db", type=click.Path(path_type=Path), help="Database file. Default: only in memory."
)
@NEW_NAME
@REPLACE
@INGEST
@TREE
@LEARN
@STOP
@click.option("--draw", type=click.Path(path_type=Path), help="Draw the CEG to this file.")
@EDGE_INFO
@MIN_N
@FORMAT
def run(
    file: str,
    db: Path | None,
    new_name: str | None,
    form: str | None,
    *,
    replace: bool,
    **given: Any,
) -> None:
    """Turn a survey file into a CEG: ingest, event tree, stages and positions in one go.

    FILE is CSV (also .gz or .zst), Parquet, Excel, SPSS, Stata or SAS, a quoted pattern such
    as "waves/*.csv", or - for standard input. With --order but no --columns, only the
    variables of the order are kept. --min-n is for the picture and the printed table; the
    summary counts all rows.

    \b
    Examples:
      cegdb run falls.csv --count people --db falls.duckdb --draw falls.svg
      cegdb run school.csv --missing unknown --missing-policy complete --alpha 2
    """
    from cegdb.small_cells import check_min_n

    if given["alpha"] == "path":
        raise click.UsageError("--alpha path stores nothing: use it with cegdb learn-stages")
    if given["columns"] is None and given["order"] is not None:
        given["columns"] = given["order"]
    if given["draw"] is not None:
        from cegdb.pictures import check_picture

        check_picture(given["draw"])
    check_min_n(given["min_n"])
    # Refuse a wrong setting before a large file is read.
    of_tree, of_stages, learning = (
        chosen(given, names) for names in (TREE_NAMES, STAGE_NAMES, LEARN_NAMES)
    )
    settings.TreeOptions(**of_tree)
    settings.StageOptions(**of_stages)
    settings.LearnOptions(**learning)
    with opened(None if db is None else str(db), makes=True) as database:
        with database.transaction():
            survey = ingest_file(database, file, new_name, given, replace=replace)
            with working("building the event tree", database):
                tree = survey.event_tree(new_name, replace=replace, **of_tree)
            say(tree.summary)
            with working("learning stages", database):
                staged = tree.learn_stages(new_name, replace=replace, **of_stages, **learning)
            say(staged.summary)
            with working("merging positions", database):
                ceg = staged.to_ceg(new_name, stop=given["stop"], replace=replace)
            say(ceg.summary)
        if given["draw"] is not None:
            with working("drawing", database):
                look = {key: given[key] for key in ("edge_info", "min_n")}
                say(f"picture: {ceg.draw(given['draw'], **look)}")
        if given["min_n"] is None:
            names, rows = rows_of_object(ceg, database)
        else:
            names, rows = rows_of_view(ceg, None, given["min_n"])
        print_table(names, rows, form)


@main.command()
@DB
@click.argument("file", metavar="FILE")
@NEW_NAME
@REPLACE
@INGEST
@FORMAT
def ingest(
    db: Path, file: str, new_name: str | None, form: str | None, *, replace: bool, **given: Any
) -> None:
    """Read a survey FILE into DB, accounting for every row.

    Prints the receipt: for each variable, how many cells are values, do not apply, are
    missing or empty. --format json prints all of it.

    \b
    Examples:
      cegdb ingest falls.duckdb falls.csv --count people --name falls
      cegdb ingest ship.duckdb ship_freq.csv --count Freq
      cegdb ingest s.duckdb school.csv --missing unknown --structural attends=none
      cegdb ingest w.duckdb panel.sav --weight wt --codebook panel.yaml --format json
    """
    with opened(str(db), makes=True) as database:
        receipt = ingest_file(database, file, new_name, given, replace=replace).receipt
    print_receipt(receipt, form)


@main.command("event-tree")
@DB
@NAME
@NEW_NAME
@REPLACE
@TREE
def event_tree(
    db: Path, name: str, new_name: str | None, *, replace: bool, **given: Any
) -> None:
    """Build an event tree from the survey NAME in DB.

    \b
    Examples:
      cegdb event-tree falls.duckdb falls --order HousingAssessment,Risk,Treatment,Fall
      cegdb event-tree ship.duckdb ship --sampling-zeros full --impossible Class=Crew,Age=Child
    """
    with opened(str(db)) as database:
        survey = database.surveys[name]
        with working("building the event tree", database):
            tree = survey.event_tree(new_name, replace=replace, **given)
        say(tree.summary)


@main.command("learn-stages")
@DB
@NAME
@NEW_NAME
@REPLACE
@LEARN
@FORMAT
def learn_stages(
    db: Path, name: str, new_name: str | None, form: str | None, *, replace: bool, **given: Any
) -> None:
    """Learn the stages of the event tree NAME in DB from the data.

    With --alpha path nothing is stored: a table shows what each value of alpha would give.

    \b
    Examples:
      cegdb learn-stages falls.duckdb falls --alpha 4 --name four
      cegdb learn-stages falls.duckdb falls --method bhc --name by_bic
      cegdb learn-stages falls.duckdb falls --alpha path
    """
    if given["alpha"] == "path":
        refuse_beside("with --alpha path nothing is stored", of=("new_name", "replace"))
    with opened(str(db)) as database:
        tree = database.trees[name]
        with working("learning stages", database):
            learnt: Any = tree.learn_stages(new_name, replace=replace, **given)
        if given["alpha"] == "path":
            print_frame(learnt, form)
            return
        say(learnt.summary)


@main.command("set-stages")
@DB
@NAME
@click.option(
    "--stages-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the stages from a template that was filled in, from a table of vertex_id and "
    "stage, or from a Bayesian network (.bif).",
)
@click.option(
    "--depends",
    multiple=True,
    metavar="'VARIABLE: A, B'",
    help="The stages of VARIABLE depend on the earlier answers to A and B only; nothing after "
    "the colon: on none.",
)
@NEW_NAME
@REPLACE
@STAGES
def set_stages(
    db: Path,
    name: str,
    stages_file: Path | None,
    depends: tuple[str, ...],
    new_name: str | None,
    *,
    replace: bool,
    **given: Any,
) -> None:
    """Set the stages of the event tree NAME in DB by hand, from a file or rules.

    cegdb template writes the file to fill in.

    \b
    Examples:
      cegdb set-stages falls.duckdb falls --stages-file falls.xlsx --name expert
      cegdb set-stages falls.duckdb falls --stages-file falls.bif --name network
      cegdb set-stages falls.duckdb falls --depends "Fall: Risk" --depends "Risk:" --name ruled
    """
    rules = read_rules(depends)
    if stages_file is None and not rules:
        raise click.UsageError("give --stages-file or --depends")
    with opened(str(db)) as database:
        tree = database.trees[name]
        with working("storing stages", database):
            staged = tree.set_stages(
                stages_file, new_name, depends=rules or None, replace=replace, **given
            )
        say(staged.summary)


@main.command("to-ceg")
@DB
@NAME
@NEW_NAME
@REPLACE
@STOP
def to_ceg(db: Path, name: str, new_name: str | None, stop: Any, *, replace: bool) -> None:
    """Merge the situations of the staging NAME in DB into the positions of a CEG.

    \b
    Examples:
      cegdb to-ceg falls.duckdb by_hand
      cegdb to-ceg falls.duckdb falls --stop baseline --name whole
    """
    with opened(str(db)) as database:
        staged: StagedTree = database.stagings[name]
        with working("merging positions", database):
            ceg = staged.to_ceg(new_name, stop=stop, replace=replace)
        say(ceg.summary)


@main.command()
@DB
@NAME
@kind_option("tree", "staging")
@output_option("File to write: .xlsx, .csv or .yaml.", required=True)
def template(db: Path, name: str, kind: str | None, output: Path) -> None:
    """Write the situations of an event tree or staging to a file, to be edited.

    In the file of a tree the stages are empty; in that of a staging they are filled in.
    cegdb set-stages --stages-file reads it back.

    \b
    Examples:
      cegdb template falls.duckdb falls -o falls.xlsx
      cegdb template falls.duckdb falls --kind staging -o stages.csv
    """
    with opened(str(db), read_only=True) as database:
        found = object_of(database, name, kind, "tree", "staging")
        say_made("template", found.template(output))


@main.command()
@DB
@NAME
@click.argument("stages", metavar="STAGE...", nargs=-1, required=True)
@NEW_NAME
@REPLACE
def join(
    db: Path, name: str, stages: tuple[str, ...], new_name: str | None, *, replace: bool
) -> None:
    """Join two or more stages of the staging NAME in DB, as a new staging.

    A STAGE is given as shown (u3; see cegdb show --kind staging) or by its own name.

    \b
    Examples:
      cegdb join falls.duckdb falls u7 u8 --name joined
    """
    with opened(str(db)) as database:
        staged: StagedTree = database.stagings[name]
        say(staged.join(*stages, name=new_name, replace=replace).summary)


@main.command()
@DB
@NAME
@click.argument("stage", metavar="STAGE")
@click.option(
    "--part",
    "parts",
    multiple=True,
    metavar="s4,s7",
    help="Situations that stay together; those in no part stay together too. Default: each "
    "situation becomes its own stage.",
)
@NEW_NAME
@REPLACE
def split(
    db: Path,
    name: str,
    stage: str,
    parts: tuple[str, ...],
    new_name: str | None,
    *,
    replace: bool,
) -> None:
    """Split a stage of the staging NAME in DB, as a new staging.

    \b
    Examples:
      cegdb split falls.duckdb falls u7 --name apart
      cegdb split falls.duckdb falls u7 --part s11,s13 --name parts
    """
    groups = [split_names(None, None, part) or [] for part in parts] or None
    with opened(str(db)) as database:
        staged: StagedTree = database.stagings[name]
        say(staged.split(stage, groups, name=new_name, replace=replace).summary)


@main.command()
@DB
@NAME
@click.argument("names", metavar="STAGE=NEW...", nargs=-1, required=True)
@NEW_NAME
@REPLACE
def rename(
    db: Path, name: str, names: tuple[str, ...], new_name: str | None, *, replace: bool
) -> None:
    """Give stages of the staging NAME in DB names of their own, as a new staging.

    \b
    Examples:
      cegdb rename falls.duckdb falls u3=frail u4=fit --name named
    """
    with opened(str(db)) as database:
        staged: StagedTree = database.stagings[name]
        say(staged.rename(read_names(names), name=new_name, replace=replace).summary)
