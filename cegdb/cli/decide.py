"""Commands that help to decide: orders of variables, scores of stagings, uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cegdb import options as settings
from cegdb.cli.group import main
from cegdb.cli.options import (
    DB,
    FORMAT,
    NAME,
    STAGE_NAMES,
    from_settings,
    refuse_beside,
)
from cegdb.cli.output import opened, print_frame, print_table, say, working
from cegdb.errors import agreeing, counted

if TYPE_CHECKING:
    from pathlib import Path

_MAY_DROP_COMPARED = (
    *("staging_id", "tree", "is_stale", "comparable_group", "score", "log_likelihood", "alpha"),
    *("aic", "method", "df", "is_best", "bic"),
)
_MAY_DROP_EXPLORED = ("chosen", "rows", "labels")
_MAY_DROP_ALPHAS = ("log_likelihood", "aic", "smallest_prior", "df")
_MAY_DROP_STABILITY = ("staging", "kind", "n_runs", "n_situations", "min_share")
_MAY_DROP_POSTERIOR = (
    *(
        "staging",
        "seed",
        "structure_prior",
        "hyperstage_id",
        "n_chains",
        "n_draws",
        "log_shown",
    ),
    *("log_best", "vertex_id", "other_id", "label_id", "path", "other_path"),
)
_MAY_DROP_INTERVALS = (
    *("staging", "given", "level", "method", "weight", "situation", "share", "path"),
)


@main.command()
@DB
@NAME
@from_settings(settings.ExploreOptions)
@FORMAT
def explore(db: Path, name: str, form: str | None, **options: Any) -> None:
    """Choose variables of the survey NAME in DB that say most about an outcome.

    Prints all variables: those chosen in the order of a tree, then the others with the reason
    why they are left out. The summary, on standard error, has the order. Nothing is stored.
    cegdb run FILE --outcome VARIABLE builds the tree of that order.

    \b
    Examples:
      cegdb explore falls.duckdb falls --outcome Fall
      cegdb explore falls.duckdb falls --outcome Fall --exclude Treatment
      cegdb explore falls.duckdb falls --outcome Fall \\
        --tier HousingAssessment,Risk --tier Treatment --format json
    """
    outcome = options.pop("outcome")
    if outcome is None:
        raise click.UsageError("give --outcome VARIABLE")
    with opened(str(db), read_only=True) as database:
        with working("screening variables", database):
            exploration = database.surveys[name].explore(outcome, **options)
        say(exploration.summary)
        names, rows = exploration.rows()
        print_table(names, rows, form, least=_MAY_DROP_EXPLORED)


@main.command("search-orders")
@DB
@NAME
@from_settings(settings.OrderOptions)
@click.option(
    "--most", type=click.IntRange(1), default=20, show_default=True, help="Orders to print."
)
@FORMAT
def search_orders(db: Path, name: str, most: int, form: str | None, **options: Any) -> None:
    """Search for the best order of the variables of the survey NAME in DB.

    Stages are learnt for each order, and the order with the best score wins. Prints the best
    orders, and on standard error how they were found. Nothing is stored. --before A<B<C puts A
    before B and B before C.

    A tree of the best order has the score that is printed if it is built with
    --missing-policy complete --sampling-zeros floret and its stages are learnt with
    --prior mass --criterion score. This prior does not favour any order.

    \b
    Examples:
      cegdb search-orders falls.duckdb falls
      cegdb search-orders falls.duckdb falls --before "Risk<Treatment<Fall"
      cegdb search-orders falls.duckdb falls \\
        --tier HousingAssessment,Risk --tier Treatment,Fall --format json
    """
    with opened(str(db), read_only=True) as database:
        with working("searching orders", database):
            search = database.surveys[name].search_orders(**options)
        say(search.summary)
        names, rows = search.rows(most)
        print_table(names, rows, form)


@main.command("alpha-path")
@DB
@NAME
@from_settings(settings.LearnOptions)
@from_settings(settings.StageOptions, only=[name for name in STAGE_NAMES if name != "alpha"])
@FORMAT
def alpha_path(db: Path, name: str, form: str | None, **options: Any) -> None:
    """Show what learn-stages would find in the event tree NAME in DB with other alphas.

    One row for each alpha from 0.5 to 64, and for the default. Nothing is stored. Log marginal
    likelihoods cannot be compared between rows, because their priors differ.

    \b
    Examples:
      cegdb alpha-path falls.duckdb falls
      cegdb alpha-path falls.duckdb falls --method bhc --format csv
    """
    with opened(str(db), read_only=True) as database:
        tree = database.trees[name]
        with working("learning stages", database):
            frame = tree.alpha_path(**options)
        print_frame(frame, form, least=_MAY_DROP_ALPHAS)


@main.command()
@DB
@click.argument("names", metavar="[NAME]...", nargs=-1)
@FORMAT
def compare(db: Path, names: tuple[str, ...], form: str | None) -> None:
    """Compare stagings of DB by their stages, scores and Bayes factors.

    Without NAME, compares all of them. log_bayes_factor compares each with the first one
    named, or otherwise with the best; it is missing where rows, tree, prior or weighting
    differ. cegdb diff lists the situations that two of them put in different stages.

    \b
    Examples:
      cegdb compare falls.duckdb
      cegdb learn-stages falls.duckdb falls --method hc --name by_hc --replace
      cegdb compare falls.duckdb falls by_hc --format csv
    """
    with opened(str(db), read_only=True) as database:
        print_frame(database.compare(*names), form, least=_MAY_DROP_COMPARED)


@main.command()
@DB
@NAME
@click.argument("other", metavar="OTHER")
@FORMAT
def diff(db: Path, name: str, other: str, form: str | None) -> None:
    """List the situations that the stagings NAME and OTHER put in different stages.

    Stages are matched by the situations they share, whatever their names.

    \b
    Examples:
      cegdb learn-stages falls.duckdb falls --method hc --name by_hc --replace
      cegdb diff falls.duckdb falls by_hc
    """
    with opened(str(db), read_only=True) as database:
        a, b = database.stagings[name], database.stagings[other]
        frame = a.diff(b)
        say(
            f"{counted(len(frame), 'situation')} {agreeing(len(frame), 'are')} in "
            f"different stages in {a.name!r} (a) and {b.name!r} (b)"
            if len(frame)
            else f"{a.name!r} (a) and {b.name!r} (b) put every situation in the same stage"
        )
        print_frame(frame, form)


@main.command()
@DB
@NAME
@from_settings(settings.StabilityOptions)
@FORMAT
def stability(
    db: Path, name: str, bootstrap: Any, runs: int, seed: int, form: str | None
) -> None:
    """Learn the stages of the staging NAME in DB again on resampled rows, many times.

    Prints for each stage how often two of its situations were in one stage again (mean and
    smallest share of the runs), and how often one of them was with a situation of another
    stage. The result is stored in DB.

    \b
    Examples:
      cegdb stability falls.duckdb falls
      cegdb stability falls.duckdb falls --bootstrap parametric --runs 500
    """
    with opened(str(db)) as database:
        staged = database.stagings[name]
        with working("learning the stages again", database):
            frame = staged.stability(bootstrap, runs=runs, seed=seed)
        names, rows = database.rows(
            "select * from cegdb.stage_bootstraps where staging = $staging and kind = $kind",
            {"staging": staged.name, "kind": bootstrap},
        )
        (row,) = (dict(zip(names, values, strict=True)) for values in rows)
        say(
            f"{counted(runs, 'run')} ({1000 * float(str(row['seconds'])) / runs:.3g} ms each): "
            f"{row['mean_stages']:.4g} stages on average ({row['min_stages']} to "
            f"{row['max_stages']}), {row['n_stages']} in {staged.name!r}",
            f"pairs of situations ({row['n_pairs']:,}): view cegdb.stage_pairs",
        )
        printed = frame.drop(columns=["stage_id", "outside_id"])
        print_frame(printed, form, least=_MAY_DROP_STABILITY)


@main.command()
@DB
@NAME
@from_settings(settings.PosteriorOptions)
@click.option(
    "--show",
    type=click.Choice(["hyperstages", "pairs", "probabilities", "best"]),
    default="hyperstages",
    show_default=True,
    help="Rows to print: how probable the stages of each hyperstage are; how probable it is "
    "that each two situations share a stage; the probabilities of each situation, averaged "
    "over all stagings; or the stages of the best staging known.",
)
@FORMAT
def posterior(db: Path, name: str, show: str, form: str | None, **options: Any) -> None:
    """Find how probable the staging NAME in DB is among all stagings.

    Prints whether a better staging is known, and for each hyperstage the posterior probability
    of its stages. Of hyperstages with more than 14 situations stagings are sampled. Pairs and
    hyperstages are stored in DB.

    \b
    Examples:
      cegdb posterior falls.duckdb falls
      cegdb posterior falls.duckdb falls --structure-prior size --show pairs
    """
    with opened(str(db)) as database:
        staged = database.stagings[name]
        with working("looking at all stagings", database):
            found = staged.posterior(**options)
        say(str(found), "pairs of situations: view cegdb.costagings")
        print_frame(getattr(found, show), form, least=_MAY_DROP_POSTERIOR)


@main.command()
@DB
@NAME
@from_settings(settings.IntervalOptions)
@FORMAT
def intervals(
    db: Path, name: str, method: Any, level: float, runs: int, seed: int, form: str | None
) -> None:
    """Print intervals for the probabilities of the staging NAME in DB.

    One row per stage and label. The bootstrap gives one row per situation and label, and
    stores the rows in DB, where the view cegdb.bootstrap_intervals shows them.

    \b
    Examples:
      cegdb intervals falls.duckdb falls --method goodman --level 0.9
      cegdb intervals falls.duckdb falls --method bootstrap --format csv
    """
    if method != "bootstrap":
        refuse_beside("only the bootstrap has runs", of=("runs", "seed"))
    with opened(str(db), read_only=method != "bootstrap") as database:
        staged = database.stagings[name]
        with working("calculating intervals", database):
            frame = staged.intervals(method, level=level, runs=runs, seed=seed)
        print_frame(frame, form, least=_MAY_DROP_INTERVALS)


@main.command()
@DB
@NAME
@FORMAT
def parents(db: Path, name: str, form: str | None) -> None:
    """Print on which earlier variables each variable of the staging NAME in DB depends.

    These are its parents in the smallest Bayesian network that contains the staging; cegdb
    write-bif writes that network to a file. cegdb independences prints what does not depend on
    what.

    \b
    How a variable depends on a parent when the other parents are fixed:
      total            in every context; no two of its answers share a stage
      local            as total, but some stages recur from one context to another
      context          in some contexts only
      partial          in every context; in some, several answers share a stage
      context/partial  in some contexts only; in some of these, as partial

    \b
    Examples:
      cegdb parents falls.duckdb falls
    """
    with opened(str(db), read_only=True) as database:
        staged = database.stagings[name]
        with working("looking for parents", database):
            frame = staged.parents.drop(columns=["staging"])
        n = frame.loc[~frame["is_unique"], "variable"].nunique()
        if n:
            say(
                f"note: the parents of {counted(n, 'variable')} are not unique, because some "
                "combinations of answers do not occur; earlier variables were left out first"
            )
        print_frame(frame, form)


@main.command()
@DB
@NAME
@FORMAT
def independences(db: Path, name: str, form: str | None) -> None:
    """Print the independences that hold by the staging NAME in DB, and in which contexts.

    Those that concern most people come first.

    \b
    Examples:
      cegdb independences falls.duckdb falls
    """
    with opened(str(db), read_only=True) as database:
        staged = database.stagings[name]
        with working("looking for independences", database):
            frame = staged.independences.drop(columns=["staging"])
        frame["context"] = [
            [f"{variable} = {label}" for variable, label in context.items()]
            for context in frame["context"]
        ]
        print_frame(frame, form)
