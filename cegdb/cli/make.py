"""Commands that make surveys, event trees, staged trees and CEGs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
from click.formatting import wrap_text

from cegdb import options as settings
from cegdb.cli.group import main
from cegdb.cli.options import (
    DB,
    EXPLORE,
    EXPLORE_NAMES,
    FORMAT,
    INGEST,
    INGEST_NAMES,
    LEARN,
    LEARN_NAMES,
    LIKE,
    MIN_N,
    NAME,
    NAME_OF_FILE,
    NEW_NAME,
    REPLACE,
    STAGE_NAMES,
    STAGES,
    STOP,
    TREE,
    TREE_NAMES,
    Word,
    chosen,
    from_settings,
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
from cegdb.demo import DemoName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.api import ChainEventGraph, Database, Exploration, StagedTree, Survey


@main.command()
@click.argument(
    "survey",
    metavar=f"[{'|'.join(get_args(DemoName))}]",
    type=Word(get_args(DemoName)),
    default=get_args(DemoName)[0],
)
@click.option("--db", type=click.Path(path_type=Path), help="Keep the tables in this file.")
@click.option(
    "--csv",
    type=click.Path(path_type=Path),
    help="Only write the survey to this file. Read it with cegdb run or cegdb ingest, and "
    "--count people.",
)
@click.option(
    "--draw",
    type=click.Path(path_type=Path),
    help="File of the picture. Default: the name of the survey and .svg.",
)
@FORMAT
def demo(
    survey: Any, db: Path | None, csv: Path | None, draw: Path | None, form: str | None
) -> None:
    """Build the CEG of a public survey and show a few queries.

    chds: 890 children of the Christchurch Health and Development Study. titanic: the 2,201
    people aboard the Titanic. falls: 50,000 residents in a simulated study of falls; those who
    were not assessed have no answer to Treatment.

    \b
    Examples:
      cegdb demo
      cegdb demo falls --db demo.duckdb
      cegdb demo falls --csv falls.csv
    """
    from cegdb.demo import DEMOS

    data = DEMOS[survey]
    if csv is not None:
        refuse_beside("--csv writes a file and stops", but=("csv",))
        say(wrap_text(data.about))
        say_made("written", data.write(csv))
        return
    say(wrap_text(data.about), "")
    with opened(None if db is None else str(db), makes=True) as database:
        ceg = database.demo(survey, replace=True)
        staged = ceg.staging
        for made in (database.surveys[survey], staged.tree, staged, ceg):
            say(made.own_summary)
        say("")
        here = f"where ceg = '{survey}'"
        edges = "select source, label, target, n, probability, low, high from cegdb.ceg_edges"
        members = "select situation, path, stage, n from cegdb.situation_positions"
        paths = f"select path, probability, low, high, n from cegdb.paths('{survey}')"  # noqa: S608
        for sql in (
            f"{edges} {here} order by source_id, label_id",
            f"{members} {here} and position = 'w3'",
            f"{paths} order by probability desc limit 5",
        ):
            say(f"SQL> {sql}")
            print_query(database, sql, {}, form)
        _picture(ceg, draw or Path(f"{survey}.svg"), "probability")
    if db is None:
        say(f"To keep the tables and query them: cegdb demo {survey} --db demo.duckdb")
    else:
        say(f'Query the tables: cegdb sql {db} "from cegdb.stages"')


def _picture(ceg: ChainEventGraph, file: Path, edge_info: Any) -> None:
    """Draw, or say what is missing; the tables are there either way."""
    from cegdb.errors import MissingExtraError

    try:
        say(f"picture: {ceg.draw(file, edge_info=edge_info)}")
    except MissingExtraError as error:
        say(f"no picture: {error}")


def ingest_file(
    db: Database, file: str, name: str | None, options: dict[str, Any], *, replace: bool
) -> Survey:
    """Ingest a file with the options given, and print its summary."""
    with working(f"reading {file}", db):
        survey = db.ingest(
            source_of(file), name=name, replace=replace, **chosen(options, INGEST_NAMES)
        )
    say_speed(survey)
    say(survey.summary)
    return survey


@main.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--db", type=click.Path(path_type=Path), help="Database file. Default: only in memory."
)
@NAME_OF_FILE
@REPLACE
@INGEST
@LIKE
@EXPLORE
@TREE
@LEARN
@STOP
@click.option("--draw", type=click.Path(path_type=Path), help="Draw the CEG to this file.")
@from_settings(settings.PictureOptions, only=["edge_info"])
@MIN_N
@FORMAT
def run(
    file: str,
    db: Path | None,
    new_name: str | None,
    form: str | None,
    *,
    replace: bool,
    **options: Any,
) -> None:
    """Turn a survey FILE into a CEG: ingest, event-tree, learn-stages and to-ceg in one.

    FILE is a CSV file, perhaps compressed (.gz, .zst); a Parquet, Excel, SPSS, Stata or SAS
    file; a quoted pattern such as "waves/*.csv"; or - for standard input. With --order but
    without --columns, only the variables of the order are kept. With --outcome the order is the
    one that cegdb explore finds: of a wide file, the variables that say most about the outcome.
    --min-n applies to the picture and the printed table; the summary counts all rows.

    \b
    Examples:
      cegdb demo titanic --csv titanic.csv
      cegdb run titanic.csv --count people --sampling-zeros full
      cegdb run titanic.csv --count people --like cegpy
      cegdb run titanic.csv --count people --alpha 2 --draw titanic.svg
      cegdb run titanic.csv --count people --outcome Survived --max-variables 2
    """
    from cegdb.small_cells import check_min_n

    if options["columns"] is None and options["order"] is not None:
        options["columns"] = options["order"]
    if options["draw"] is not None:
        from cegdb.pictures import check_picture

        check_picture(options["draw"])
    check_min_n(options["min_n"])
    # Refuse a wrong setting before a large file is read.
    of_tree, of_stages, learning = (
        chosen(options, names) for names in (TREE_NAMES, STAGE_NAMES, LEARN_NAMES)
    )
    settings.TreeOptions(**of_tree)
    settings.StageOptions(**of_stages)
    settings.LearnOptions(**learning)
    like = options["like"]
    exploring = _exploring(options, {**of_tree, "like": like}, of_stages)
    with opened(None if db is None else str(db), makes=True) as database:
        with database.transaction():
            survey = ingest_file(database, file, new_name, options, replace=replace)
            source: Survey | Exploration = survey
            if exploring is not None:
                with working("screening variables", database):
                    source = survey.explore(exploring.pop("outcome"), **exploring)
                say(source.own_summary)
                of_tree.pop("order", None)
            with working("building the event tree", database):
                tree = source.event_tree(new_name, replace=replace, like=like, **of_tree)
            say(tree.own_summary)
            with working("learning stages", database):
                staged = tree.learn_stages(
                    new_name, replace=replace, like=like, **of_stages, **learning
                )
            say(staged.own_summary)
            with working("merging positions", database):
                ceg = staged.to_ceg(new_name, stop=options["stop"], replace=replace)
            say(ceg.own_summary)
        if options["draw"] is not None:
            with working("drawing", database):
                look = {key: options[key] for key in ("edge_info", "min_n")}
                say(f"picture: {ceg.draw(options['draw'], **look)}")
        if options["min_n"] is None:
            names, rows = rows_of_object(ceg, database)
        else:
            names, rows = rows_of_view(ceg, None, options["min_n"])
        print_table(names, rows, form)


def _exploring(
    options: Mapping[str, Any], of_tree: Mapping[str, Any], of_stages: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the settings of an exploration, if asked for: it reads cells as the tree does."""
    if options["outcome"] is None:
        refuse_beside("there is no --outcome to explore", of=EXPLORE_NAMES)
        return None
    refuse_beside("--outcome chooses the order", of=["order"])
    trees, _ = settings.like_settings(of_tree, settings.TREES_LIKE)
    given = {**options, **of_stages, **trees}
    names = [one.name for one in settings.options_of(settings.ExploreOptions)]
    exploring = {name: given[name] for name in names}
    settings.ExploreOptions(**exploring)
    return exploring


@main.command()
@DB
@click.argument("file", metavar="FILE")
@NAME_OF_FILE
@REPLACE
@INGEST
@FORMAT
def ingest(
    db: Path,
    file: str,
    new_name: str | None,
    form: str | None,
    *,
    replace: bool,
    **options: Any,
) -> None:
    """Read a survey FILE into DB, and account for every row.

    Prints a receipt: for each variable, how many cells hold a value, do not apply, are missing
    or are empty. --format json prints the whole receipt.

    \b
    Examples:
      cegdb ingest survey.duckdb falls.csv --count people
      cegdb ingest survey.duckdb falls.csv --weight people --name weighted
      cegdb codebook falls.csv --columns Risk,Treatment,Fall -o codes.yaml
      cegdb ingest survey.duckdb falls.csv --count people --name coded \\
        --codebook codes.yaml
    """
    with opened(str(db), makes=True) as database:
        receipt = ingest_file(database, file, new_name, options, replace=replace).receipt
    print_receipt(receipt, form)


@main.command("event-tree")
@DB
@NAME
@NEW_NAME
@REPLACE
@LIKE
@TREE
def event_tree(
    db: Path, name: str, new_name: str | None, *, replace: bool, **options: Any
) -> None:
    """Build an event tree from the survey NAME in DB.

    \b
    Examples:
      cegdb event-tree falls.duckdb falls --order Risk,Treatment,Fall
      cegdb demo titanic --db titanic.duckdb
      cegdb event-tree titanic.duckdb titanic --sampling-zeros full \\
        --impossible Class=Crew,Age=Child
    """
    with opened(str(db)) as database:
        survey = database.surveys[name]
        with working("building the event tree", database):
            tree = survey.event_tree(
                new_name,
                replace=replace,
                like=options["like"],
                **chosen(options, TREE_NAMES),
            )
        say(tree.summary)


@main.command("learn-stages")
@DB
@NAME
@NEW_NAME
@REPLACE
@LIKE
@LEARN
def learn_stages(
    db: Path, name: str, new_name: str | None, *, replace: bool, **options: Any
) -> None:
    """Learn the stages of the event tree NAME in DB from the data.

    cegdb alpha-path shows what other values of --alpha would give.

    \b
    Examples:
      cegdb learn-stages falls.duckdb falls --alpha 4 --name four
      cegdb learn-stages falls.duckdb falls --method bhc --name by_bic
      cegdb learn-stages falls.duckdb falls --criterion score --name by_score
    """
    with opened(str(db)) as database:
        tree = database.trees[name]
        with working("learning stages", database):
            staged = tree.learn_stages(
                new_name,
                replace=replace,
                like=options["like"],
                **chosen(options, (*STAGE_NAMES, *LEARN_NAMES)),
            )
        say(staged.summary)


@main.command("set-stages")
@DB
@NAME
@click.option(
    "--stages-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File with the stages: a template that was filled in, a table with the columns "
    "vertex_id and stage, or a Bayesian network (.bif).",
)
@click.option(
    "--depends",
    multiple=True,
    metavar="'VARIABLE: A, B'",
    help="The stages of VARIABLE depend on the answers to A and B only; leave the rest empty "
    "if they depend on nothing.",
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
    **options: Any,
) -> None:
    """Set the stages of the event tree NAME in DB by hand, from a file or rules.

    cegdb template writes the file to fill in.

    \b
    Examples:
      cegdb set-stages falls.duckdb falls --depends "Fall: Risk" --name ruled
      cegdb template falls.duckdb falls --kind staging -o edited.csv
      cegdb set-stages falls.duckdb falls --stages-file edited.csv --name expert
      cegdb write-bif falls.duckdb falls -o network.bif
      cegdb set-stages falls.duckdb falls --stages-file network.bif --name network
    """
    rules = read_rules(depends)
    if stages_file is None and not rules:
        raise click.UsageError("give --stages-file or --depends")
    with opened(str(db)) as database:
        tree = database.trees[name]
        with working("storing stages", database):
            staged = tree.set_stages(
                stages_file, new_name, depends=rules or None, replace=replace, **options
            )
        say(staged.summary)


@main.command("to-ceg")
@DB
@NAME
@NEW_NAME
@REPLACE
@STOP
def to_ceg(db: Path, name: str, new_name: str | None, stop: Any, *, replace: bool) -> None:
    """Make the CEG of the staging NAME in DB: merge situations with the same future.

    \b
    Examples:
      cegdb to-ceg falls.duckdb falls --stop baseline --name whole
      cegdb set-stages falls.duckdb falls --depends "Fall: Risk" --name by_hand
      cegdb to-ceg falls.duckdb by_hand
    """
    with opened(str(db)) as database:
        staged: StagedTree = database.stagings[name]
        with working("merging positions", database):
            ceg = staged.to_ceg(new_name, stop=stop, replace=replace)
        say(ceg.summary)


@main.command()
@DB
@NAME
@NEW_NAME
@REPLACE
@from_settings(settings.PosteriorOptions)
def averaged(
    db: Path, name: str, new_name: str | None, *, replace: bool, **options: Any
) -> None:
    """Average the probabilities of the staging NAME in DB over all stagings.

    Makes a new staging, in which situations keep probabilities of their own. Answers of its CEG
    do not rest on one staging, of which another may be nearly as probable (cegdb posterior).

    \b
    Examples:
      cegdb averaged falls.duckdb falls --name averaged
      cegdb to-ceg falls.duckdb averaged
    """
    with opened(str(db)) as database:
        staged: StagedTree = database.stagings[name]
        with working("looking at all stagings", database):
            made = staged.averaged(new_name, replace=replace, **options)
        say(made.summary)


@main.command()
@DB
@NAME
@kind_option("tree", "staging")
@output_option("File to write: .xlsx, .csv or .yaml.", required=True)
def template(db: Path, name: str, kind: str | None, output: Path) -> None:
    """Write the situations of the event tree or staging NAME in DB to a file, to edit stages.

    The stages of an event tree are empty, to be filled in. cegdb set-stages --stages-file
    reads the file back.

    \b
    Examples:
      cegdb template falls.duckdb falls -o stages.xlsx
      cegdb template falls.duckdb falls --kind staging -o stages.csv
    """
    with opened(str(db), read_only=True) as database:
        owner = object_of(database, name, kind, "tree", "staging")
        say_made("template", owner.template(output))


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

    Give each STAGE as cegdb show --kind staging prints it, such as u3, or by its own name.

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
    help="Situations that stay together; the situations in no part stay together too. Default: "
    "each situation becomes its own stage.",
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
    """Rename stages of the staging NAME in DB, as a new staging.

    \b
    Examples:
      cegdb rename falls.duckdb falls u3=frail u4=fit --name named
    """
    with opened(str(db)) as database:
        staged: StagedTree = database.stagings[name]
        say(staged.rename(read_names(names), name=new_name, replace=replace).summary)
