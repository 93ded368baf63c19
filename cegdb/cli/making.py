"""Commands that make trees, stagings and CEGs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import (
    DB,
    EDGE_INFO,
    FORMAT,
    INGEST,
    LEARNT_BY,
    MIN_N,
    NAME,
    REPLACE,
    STAGED_BY,
    STAGES,
    STOP,
    TREE,
    read_names,
    read_rules,
    refuse_beside,
    split_names,
    tree_settings,
)
from cegdb.cli.output import (
    ORDER,
    SHOWN,
    opened,
    print_frame,
    print_query,
    print_view,
    say,
    say_made,
    working,
)
from cegdb.cli.rows import ingest_file

if TYPE_CHECKING:
    from cegdb.api import ChainEventGraph, StagedTree

_DRIFT = (
    "staging, former_stage, stage, variable, n_situations, n_before, n_after, label, "
    "probability_before, low_before, high_before, probability_after, low_after, high_after, "
    "is_disjoint"
)


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
    say(shown.about, "")
    with opened(None if db is None else str(db), makes=True) as database:
        with database.transaction():
            survey = database.ingest(shown.select(), name=which, count="people", replace=True)
            say(survey.summary)
            tree = survey.event_tree(
                sampling_zeros=shown.sampling_zeros, impossible=shown.impossible
            )
            say(tree.summary)
            staged = tree.learn_stages()
            say(staged.summary)
            ceg = staged.to_ceg()
            say(ceg.summary, "")
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
            say(f"SQL> {sql}")
            print_query(database, sql, {}, form)
        _picture(ceg, draw or Path(f"{which}.svg"), "probability")
    if db is None:
        say("To keep the tables and ask more: cegdb demo --db demo.duckdb")
    else:
        say(f'Ask more: cegdb sql {db} "from cegdb.stages"')


def _picture(ceg: ChainEventGraph, file: Path, edge_info: Any) -> None:
    """Draw, or say what is missing; the tables are there either way."""
    from cegdb.errors import MissingExtraError

    try:
        say(f"picture: {ceg.draw(file, edge_info=edge_info)}")
    except MissingExtraError as error:
        say(f"no picture: {error}")


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
    from cegdb.options import check_alpha
    from cegdb.small_cells import check_min_n

    settings = tree_settings(given)
    check_alpha(given["alpha"])
    learnt = {key: given[key] for key in (*STAGED_BY, *LEARNT_BY)}
    check_min_n(given["min_n"])
    given["columns"] = given["columns"] or given["order"]
    if given["draw"] is not None:
        from cegdb.pictures import check_picture

        check_picture(given["draw"])
    with opened(None if db is None else str(db), makes=True) as database:
        with database.transaction():
            survey = ingest_file(database, file, given)
            with working("building the event tree", database):
                tree = survey.event_tree(given["name"], replace=given["replace"], **settings)
            say(tree.summary)
            with working("learning stages", database):
                staged = tree.learn_stages(given["name"], **learnt)
            say(staged.summary)
            with working("merging positions", database):
                ceg = staged.to_ceg(given["name"], stop=given["stop"], replace=given["replace"])
            say(ceg.summary)
        if given["draw"] is not None:
            with working("drawing", database):
                shown = {key: given[key] for key in ("edge_info", "min_n")}
                say(f"picture: {ceg.draw(given['draw'], **shown)}")
        if given["min_n"] is not None:
            print_view(ceg, None, given["min_n"], form)
            return
        print_query(
            database,
            f"select {SHOWN['ceg']} from cegdb.ceg_edges where ceg = $name "  # noqa: S608
            f"order by {ORDER['ceg']}",
            {"name": ceg.name},
            form,
        )


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
    with opened(str(db)) as database:
        found = database.surveys[survey]
        with working("building the event tree", database):
            made = found.event_tree(
                given["name"], replace=given["replace"], **tree_settings(given)
            )
        say(made.summary)


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
    help="Take the stages from this file instead of learning: a template that was filled in, "
    "a table of vertex_id and stage, or a Bayesian network (.bif).",
)
@click.option(
    "--depends",
    multiple=True,
    metavar="'VARIABLE: VARIABLE, ...'",
    help="Instead of learning: the stages of a variable depend on these earlier answers alone.",
)
@click.option(
    "--template",
    type=click.Path(path_type=Path),
    help="Write the situations to this .xlsx, .csv or .yaml, for --given, and stop.",
)
@FORMAT
def stages(
    db: Path,
    tree: str,
    stages: Path | None,
    depends: tuple[str, ...],
    template: Path | None,
    form: str | None,
    **given: Any,
) -> None:
    """Learn the stages of a TREE in DB, or take them from a file or rules.

    \b
    Methods:
      ahc     merge the pair that gains most (log marginal likelihood)
      auto    ahc, of more than 4,000 distinct florets from cells of near ones
      bhc     merge the best pair by BIC; fbhc the first, csbhc by context
      bj      join the nearest stages, below --threshold
      hc      move, merge and split until nothing gains
      exact   the optimum of BIC or AIC, for florets of two labels
      hclust, kmeans   cluster shares, fast and approximate

    With --alpha path nothing is stored: a table tells what each alpha would give.

    \b
    Examples:
      cegdb stages falls.duckdb falls --alpha 4
      cegdb stages falls.duckdb falls --method bhc --name by_bic
      cegdb stages falls.duckdb falls --alpha path
      cegdb stages falls.duckdb falls --template falls.xlsx
      cegdb stages falls.duckdb falls --given falls.xlsx --name by_hand
      cegdb stages falls.duckdb falls --given falls.bif --name network
      cegdb stages falls.duckdb falls --depends "Fall: Risk, Treatment" --depends "Risk:"
    """
    if template is not None:
        refuse_beside("--template writes a file and stops", but=("template",))
        with opened(str(db), read_only=True) as database:
            say_made("template", database.trees[tree].template(template))
        return
    rules = read_rules(depends)
    if stages is not None or rules:
        refuse_beside("with --given or --depends no stages are learnt", of=LEARNT_BY)
    if given["alpha"] == "path":
        refuse_beside("with --alpha path nothing is stored", of=("name", "replace"))
    settings = {key: given[key] for key in STAGED_BY}
    with opened(str(db)) as database:
        found = database.trees[tree]
        if stages is not None or rules:
            with working("storing stages", database):
                made = found.set_stages(
                    stages, given["name"], depends=rules or None, **settings
                )
            say(made.summary)
            return
        settings |= {key: given[key] for key in LEARNT_BY}
        with working("learning stages", database):
            learnt = found.learn_stages(given["name"], **settings)
        if settings["alpha"] == "path":
            print_frame(learnt, form)
            return
        say(learnt.summary)


@main.command()
@DB
@click.argument("staging")
@NAME
@REPLACE
@click.option("--join", callback=split_names, metavar="u3,u5", help="Make these stages one.")
@click.option(
    "--split", metavar="u3", help="Make a stage several, all alone or as --part says."
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    metavar="s4,s7",
    help="Situations of the stage to --split that stay together.",
)
@click.option(
    "--rename", multiple=True, metavar="u3=NAME", help="Give a stage a name; the rest stays."
)
@click.option(
    "--template",
    type=click.Path(path_type=Path),
    help="Write the situations and their stages to this .xlsx, .csv or .yaml, for "
    "cegdb stages --given, and stop.",
)
def edit(db: Path, staging: str, **given: Any) -> None:
    """Join, split or rename stages of a STAGING in DB, as a new staging.

    Stages are called as they are shown (u3, see the view stages) or by the name given.

    \b
    Examples:
      cegdb edit falls.duckdb falls --join u7,u8 --name joined
      cegdb edit falls.duckdb falls --split u7 --part s11,s13 --part s18
      cegdb edit falls.duckdb falls --rename u3=frail --rename u4=fit --replace
      cegdb edit falls.duckdb falls --template falls.xlsx
    """
    asked = [key for key in ("join", "split", "rename", "template") if given[key]]
    if len(asked) != 1 or (given["parts"] and asked != ["split"]):
        raise click.UsageError(
            "give one of --join, --split, --rename (once or more) and --template; --part goes "
            "with --split"
        )
    if given["template"] is not None:
        refuse_beside("--template writes a file and stops", but=("template",))
        with opened(str(db), read_only=True) as database:
            say_made("template", database.stagings[staging].template(given["template"]))
        return
    made_as = {key: given[key] for key in ("name", "replace")}
    names = read_names(given["rename"])
    parts = [split_names(None, None, part) or [] for part in given["parts"]] or None
    with opened(str(db)) as database:
        found: StagedTree = database.stagings[staging]
        if asked == ["join"]:
            made = found.join(*given["join"], **made_as)
        elif asked == ["split"]:
            made = found.split(given["split"], parts, **made_as)
        else:
            made = found.rename(names, **made_as)
        say(made.summary)


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
    with opened(str(db)) as database:
        found: StagedTree = database.stagings[staging]
        with working("merging positions", database):
            made = found.to_ceg(given["name"], stop=given["stop"], replace=given["replace"])
        say(made.summary)


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
    with opened(str(db)) as database:
        with working("rebuilding", database):
            made = database.rebuild(survey, stages=stages)
        if not made:
            say("nothing is stale")
            return
        say(*(found.summary for found in made))
        stagings = [found.name for found in made if found.kind == "staging"]
        print_query(
            database,
            f"select {_DRIFT} from cegdb.drift where list_contains($stagings, staging) "  # noqa: S608
            "order by staging, stage_id nulls last, former_stage",
            {"stagings": stagings},
            form,
        )
