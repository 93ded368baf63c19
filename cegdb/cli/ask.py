"""Commands that query a CEG: probabilities, rows, interventions, independence."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb import options as settings
from cegdb.cli.group import main
from cegdb.cli.options import (
    ANSWERS,
    DB,
    EVIDENCE,
    FORMAT,
    GIVEN,
    MODEL_KIND,
    NAME,
    READING,
    REPLACE,
    all_of,
    chosen,
    from_settings,
    names_of,
    output_option,
    read_answers,
    read_evidence,
    source_of,
    split_names,
)
from cegdb.cli.output import (
    ceg_of,
    echo,
    model_of,
    opened,
    print_frame,
    print_table,
    say,
    say_made,
    working,
)
from cegdb.evidence import All, measure_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cegdb.api import ChainEventGraph
    from cegdb.api.queries import Queryable
    from cegdb.api.results import RowResult

_CHUNK_BYTES = 1 << 20
_LEAST_PATHS = ("rank",)
ROWS = all_of(
    click.option(
        "--keep", callback=split_names, metavar="A,B,C", help="Columns of FILE to keep."
    ),
    from_settings(settings.RowOptions, only=["blank"]),
    output_option("File to write: .csv, .parquet or .json."),
    click.option("--into", metavar="[SCHEMA.]TABLE", help="Table of DB to write."),
    click.option("--replace", is_flag=True, help="Overwrite the file or table if it exists."),
    READING,
    FORMAT,
)
PREDICTORS = click.option(
    "--predictors",
    callback=split_names,
    metavar="A,B,C",
    help="Variables to predict from. Default: all others.",
)
WEIGHTED_ROWS = all_of(from_settings(settings.RowOptions), READING)
BY = click.option(
    "--by",
    callback=split_names,
    metavar="A,B,C",
    help="Compare within each combination of answers to these variables.",
)
WHERE = click.option(
    "--where",
    multiple=True,
    metavar="VARIABLE=LABEL",
    help="Compare only where this holds. Repeat a variable to allow any of several labels.",
)


@main.command()
@DB
@NAME
@click.argument("event", metavar="VARIABLE=LABEL...", nargs=-1, required=True)
@MODEL_KIND
@GIVEN
@EVIDENCE
@ANSWERS
@FORMAT
def probability(
    db: Path,
    name: str,
    event: tuple[str, ...],
    kind: str | None,
    given: tuple[str, ...],
    evidence: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Print the probability of an event by the CEG or staging NAME in DB.

    The event is one or several VARIABLE=LABEL, which must all hold. A label can also be given
    by its original code; "not applicable" is the label where a variable does not occur. cegdb
    marginals prints the probabilities of all labels.

    \b
    Examples:
      cegdb probability falls.duckdb falls Fall=Fall
      cegdb probability falls.duckdb falls Fall=Fall --given "Risk=High Risk"
      cegdb probability falls.duckdb falls Fall=Fall \\
        --evidence '{"Risk": ["High Risk"]}'
      cegdb probability falls.duckdb falls Fall=Fall --kind staging
    """
    from cegdb.api.results import Probability

    query = read_evidence(event, None)
    with conditioned_model(db, name, kind, given, evidence) as model:
        answer = model.probability(query, **options)
        row: dict[str, object] = {
            "event": str(model.with_stored_names(query)),
            "probability": float(answer),
        }
        if isinstance(answer, Probability):
            row |= {"low": answer.low, "high": answer.high, "n": answer.n}
        print_table(list(row), [list(row.values())], form)


@main.command()
@DB
@NAME
@click.argument("variables", metavar="[VARIABLE]...", nargs=-1)
@MODEL_KIND
@GIVEN
@EVIDENCE
@ANSWERS
@FORMAT
def marginals(
    db: Path,
    name: str,
    variables: tuple[str, ...],
    kind: str | None,
    given: tuple[str, ...],
    evidence: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Print the probability of each label of VARIABLE by the CEG or staging NAME in DB.

    Without VARIABLE, prints those of all variables.

    \b
    Examples:
      cegdb marginals falls.duckdb falls
      cegdb marginals falls.duckdb falls Treatment --given Fall=Fall
    """
    with conditioned_model(db, name, kind, given, evidence) as model:
        print_frame(model.marginals(list(variables) or None, **options), form)


@main.command()
@DB
@NAME
@click.argument("variables", metavar="VARIABLE...", nargs=-1, required=True)
@click.option(
    "--by",
    callback=split_names,
    metavar="A,B",
    help="Condition on each combination of labels of these variables.",
)
@MODEL_KIND
@GIVEN
@EVIDENCE
@ANSWERS
@FORMAT
def distribution(
    db: Path,
    name: str,
    variables: tuple[str, ...],
    by: Sequence[str] | None,
    kind: str | None,
    given: tuple[str, ...],
    evidence: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Print the joint distribution of variables by the CEG or staging NAME in DB.

    \b
    Examples:
      cegdb distribution falls.duckdb falls Risk Fall
      cegdb distribution falls.duckdb falls Fall --by Risk,Treatment
    """
    with conditioned_model(db, name, kind, given, evidence) as model:
        print_frame(model.distribution(list(variables), by=by or (), **options), form)


ORDERED = all_of(
    DB,
    NAME,
    click.argument("variables", metavar="[VARIABLE]...", nargs=-1),
    click.option(
        "--by",
        callback=split_names,
        metavar="A,B",
        help="Condition on each combination of labels of these variables.",
    ),
    MODEL_KIND,
    GIVEN,
    EVIDENCE,
    ANSWERS,
    FORMAT,
)


@main.command()
@ORDERED
def means(
    db: Path,
    name: str,
    variables: tuple[str, ...],
    by: Sequence[str] | None,
    kind: str | None,
    given: tuple[str, ...],
    evidence: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Print the mean score of the ordered VARIABLE by the CEG or staging NAME in DB.

    A codebook says which variables are ordered (ordered: true). Without VARIABLE, prints the
    means of all that are. Two answers have the scores 0 and 1 in any case.

    \b
    Examples:
      cegdb means falls.duckdb falls Fall
      cegdb means falls.duckdb falls Fall --by Risk
    """
    with conditioned_model(db, name, kind, given, evidence) as model:
        print_frame(model.means(list(variables) or None, by or (), **options), form)


@main.command()
@ORDERED
def cumulative(
    db: Path,
    name: str,
    variables: tuple[str, ...],
    by: Sequence[str] | None,
    kind: str | None,
    given: tuple[str, ...],
    evidence: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Print the probability of each answer to the ordered VARIABLE or a lower one.

    By the CEG or staging NAME in DB. Without VARIABLE, prints those of all ordered variables.

    \b
    Examples:
      cegdb cumulative falls.duckdb falls Fall
      cegdb cumulative falls.duckdb falls Fall --by Risk --given-staging
    """
    with conditioned_model(db, name, kind, given, evidence) as model:
        print_frame(model.cumulative(list(variables) or None, by or (), **options), form)


@main.command("most-probable-paths")
@DB
@NAME
@from_settings(settings.QueryOptions, only=["k"])
@MODEL_KIND
@GIVEN
@EVIDENCE
@ANSWERS
@FORMAT
def most_probable_paths(
    db: Path,
    name: str,
    k: int,
    kind: str | None,
    given: tuple[str, ...],
    evidence: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Print the most probable path, or -k paths, through the CEG or staging NAME in DB.

    \b
    Examples:
      cegdb most-probable-paths falls.duckdb falls -k 5
      cegdb most-probable-paths falls.duckdb falls --given Fall=Fall
    """
    with conditioned_model(db, name, kind, given, evidence) as model:
        frame = model.most_probable_paths(k, **options).drop(columns=["variables", "labels"])
        shown = ["rank", "path", *(name for name in frame if name not in ("rank", "path"))]
        print_frame(frame[shown], form, least=_LEAST_PATHS)


@contextmanager
def conditioned_model(
    db: Path, name: str, kind: str | None, given: Sequence[str], evidence: str | None
) -> Iterator[Queryable[Any]]:
    """Open the CEG or staging of that name, given evidence; print how probable that is."""
    condition = read_evidence(given, evidence)
    with opened(str(db), read_only=True) as database:
        model: Any = model_of(database, name, kind)
        if condition != All(()):
            model = model.given(condition)
            measure = measure_text(model.probability_of_evidence, model.relative_likelihood, 6)
            say(f"given {model.evidence}: {measure}")
        yield model


@main.command()
@DB
@NAME
@click.argument("known", metavar="[VARIABLE=LABEL]...", nargs=-1)
@EVIDENCE
@click.option(
    "--name",
    "new_name",
    metavar="NEW",
    help="Name to store the result under. Default: NAME-given, with a number if it is taken.",
)
@REPLACE
def given(
    db: Path,
    name: str,
    known: tuple[str, ...],
    evidence: str | None,
    new_name: str | None,
    *,
    replace: bool,
) -> None:
    """Condition the CEG NAME in DB on evidence, and save the result as a new CEG.

    Repeat a variable to allow any of several labels; "not applicable" is the label where a
    variable does not occur. Prints the probability of the evidence, or the relative likelihood
    of soft evidence.

    \b
    Examples:
      cegdb given falls.duckdb falls "Risk=High Risk" --name frail
      cegdb given falls.duckdb falls "Risk=Low Risk" "Risk=High Risk" --name any
      cegdb given falls.duckdb falls --evidence '{"Fall": ["Fall"]}' --name fell
    """
    if not known and evidence is None:
        raise click.UsageError("give VARIABLE=LABEL, or --evidence")
    condition = read_evidence(known, evidence)
    with opened(str(db)) as database:
        ceg: ChainEventGraph = database.cegs[name]
        with working("conditioning", database):
            saved = ceg.given(condition).save(new_name, replace=replace)
        say(saved.summary)


@main.command()
@DB
@NAME
@click.argument("file", metavar="FILE")
@MODEL_KIND
@ROWS
def assign(db: Path, name: str, file: str, **options: Any) -> None:
    """Assign each row of FILE its situation, stage and position by the CEG or staging NAME.

    Prints one row per row of FILE: its log likelihood, the last situation and position that it
    is known to reach, and the most probable answers to what it leaves open. -o people.parquet
    writes these rows to that file, and the path of each, one row per depth, to
    people_paths.parquet; --into people writes them to the tables people and people_paths of
    DB. Cells of FILE are codes or labels, as in the survey.

    \b
    Examples:
      cegdb assign falls.duckdb falls falls.csv --keep people
      cegdb assign falls.duckdb falls falls.csv --keep people -o people.parquet
      cegdb assign falls.duckdb falls falls.csv --into people --replace
    """
    _query_rows("assign", db, name, file, **options)


@main.command()
@DB
@NAME
@click.argument("file", metavar="FILE")
@MODEL_KIND
@click.option(
    "--variables",
    callback=split_names,
    metavar="A,B,C",
    help="Variables to print. Default: all that a row leaves open.",
)
@ROWS
def complete(db: Path, name: str, file: str, **options: Any) -> None:
    """Complete the rows of FILE with probable answers, by the CEG or staging NAME in DB.

    Prints one row per row of FILE, variable that it leaves open, and label. -o people.parquet
    writes these rows to people_labels.parquet, and the most probable completion of each row of
    FILE to people.parquet; --into people writes them to the tables people_labels and people of
    DB.

    \b
    Examples:
      cegdb complete falls.duckdb falls falls.csv --variables Fall
      cegdb complete falls.duckdb falls falls.csv --keep people -o open.parquet
    """
    _query_rows("complete", db, name, file, **options)


def _query_rows(
    method: str,
    db: Path,
    name: str,
    file: str,
    *,
    kind: str | None,
    keep: list[str] | None,
    into: str | None,
    output: Path | None,
    form: str | None,
    **options: Any,
) -> None:
    with opened(str(db), read_only=into is None) as database:
        with working(f"reading {file}", database):
            query = getattr(model_of(database, name, kind), method)
            result: RowResult = query(
                source_of(file), keep=keep or (), file=output, into=into, **options
            )
        say(result.summary)
        for target in result.written.values():
            if isinstance(target, Path):
                say_made("written", target)
            else:
                say(f"written: {target}")
        if not result.written:
            print_frame(getattr(result, "labels", result.rows), form)


@main.command()
@DB
@NAME
@click.argument("file", metavar="FILE")
@MODEL_KIND
@WEIGHTED_ROWS
@FORMAT
def score(
    db: Path, name: str, file: str, kind: str | None, form: str | None, **options: Any
) -> None:
    """Score how well the CEG or staging NAME in DB predicts the rows of FILE.

    Use rows from which it was not learnt. Prints the log score: the natural logarithm of the
    probability of a row's answers, in total and on average. cegdb classify scores the
    predictions of one variable.

    \b
    Examples:
      cegdb sample falls.duckdb falls -n 1000 --seed 2 -o new.csv
      cegdb score falls.duckdb falls new.csv
      cegdb score falls.duckdb falls new.csv --kind staging
    """
    with opened(str(db), read_only=True) as database:
        with working(f"reading {file}", database):
            log_score = model_of(database, name, kind).score(source_of(file), **options)
        print_table(list(log_score._fields), [list(log_score)], form)


@main.command()
@DB
@NAME
@click.argument("file", metavar="FILE")
@click.argument("variable", metavar="VARIABLE")
@PREDICTORS
@MODEL_KIND
@WEIGHTED_ROWS
@FORMAT
def classify(
    db: Path,
    name: str,
    file: str,
    variable: str,
    kind: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Score how well the CEG or staging NAME in DB predicts VARIABLE in the rows of FILE.

    It is predicted from the other answers of each row. Prints accuracy, log loss, Brier score
    and, of a variable with two answers, AUC. Use rows from which the CEG or staging was not
    learnt.

    \b
    Examples:
      cegdb sample falls.duckdb falls -n 1000 --seed 2 -o new.csv
      cegdb classify falls.duckdb falls new.csv Fall
      cegdb classify falls.duckdb falls new.csv Fall --predictors Risk
    """
    with opened(str(db), read_only=True) as database:
        with working(f"reading {file}", database):
            model = model_of(database, name, kind)
            metrics = model.classify(source_of(file), variable, **options).metrics
        row = [None if isnan(metric) else metric for metric in metrics]
        if isnan(metrics.auc):
            say("note: auc is empty: it needs exactly two labels, both given in the rows")
        print_table(list(metrics._fields), [row], form)


@main.command()
@DB
@NAME
@click.argument("file", metavar="FILE")
@click.argument("variable", metavar="VARIABLE")
@PREDICTORS
@from_settings(settings.QueryOptions, only=["bins"])
@MODEL_KIND
@WEIGHTED_ROWS
@FORMAT
def calibration(
    db: Path,
    name: str,
    file: str,
    variable: str,
    kind: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Compare predicted probabilities of VARIABLE with the shares observed in FILE.

    Predictions are those of the CEG or staging NAME in DB. Prints one row per label and bin of
    predicted probabilities.

    \b
    Examples:
      cegdb sample falls.duckdb falls -n 1000 --seed 2 -o new.csv
      cegdb calibration falls.duckdb falls new.csv Fall
      cegdb calibration falls.duckdb falls new.csv Fall --bins 5
    """
    with opened(str(db), read_only=True) as database:
        with working(f"reading {file}", database):
            model = model_of(database, name, kind)
            frame = model.calibration(source_of(file), variable, **options)
        print_frame(frame, form)


@main.command()
@DB
@NAME
@MODEL_KIND
@GIVEN
@EVIDENCE
@click.option("-n", "n", type=int, required=True, help="Number of rows.")
@click.option(
    "--seed", type=int, help="Seed of the random numbers. Default: a new one, which is printed."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="-",
    show_default=True,
    help="File to write: .csv, .parquet or .json; - prints CSV.",
)
def sample(
    db: Path,
    name: str,
    kind: str | None,
    given: tuple[str, ...],
    evidence: str | None,
    n: int,
    seed: int | None,
    output: str,
) -> None:
    """Sample synthetic rows from the CEG or staging NAME in DB.

    A cell is empty where its variable does not occur, or "not applicable" if that is an answer
    to it on some path. The same seed gives the same rows.

    \b
    Examples:
      cegdb sample falls.duckdb falls -n 1000000 --seed 1 -o rows.parquet
      cegdb sample falls.duckdb falls --given "Risk=High Risk" -n 100 > high.csv
    """
    condition = read_evidence(given, evidence)
    with opened(str(db), read_only=True) as database:
        model = model_of(database, name, kind)
        with working("sampling rows", database):
            source: Queryable[Any] = model if condition == All(()) else model.given(condition)
            rows = source.sample(n, seed=seed)
            if output != "-":
                file = database.write(rows, output)
        if seed is None:
            say(f"seed: {rows.attrs['seed']}")
        if output != "-":
            say_made("written", file)
            return
        with tempfile.TemporaryDirectory() as folder:
            file = database.write(rows, Path(folder) / "rows.csv")
            with file.open("rb") as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    echo(chunk, nl=False)


@main.command()
@DB
@NAME
@click.argument("treatment", metavar="VARIABLE[=LABEL]")
@click.option(
    "--outcome",
    multiple=True,
    required=True,
    metavar="VARIABLE=LABEL",
    help="Outcome. Repeat a variable to allow any of several labels.",
)
@click.option(
    "--given",
    multiple=True,
    metavar="VARIABLE=LABEL",
    help="Evidence: only people with this answer, to a question before the treatment.",
)
@click.option(
    "--adjust",
    is_flag=True,
    help="Also print the smallest sets of variables that identify the effect by adjustment.",
)
@click.option(
    "--adjust-for",
    callback=split_names,
    metavar="A,B,C",
    help="Also print whether adjusting for these variables identifies the effect.",
)
@from_settings(settings.EffectOptions)
@FORMAT
def effect(db: Path, name: str, treatment: str, form: str | None, **options: Any) -> None:
    """Estimate the effect of a treatment on an outcome by the CEG NAME in DB.

    VARIABLE is the treatment. Prints one row per label: the probability of the outcome if
    everybody had that label, the difference from the first label (the average effect) with its
    interval, and, for comparison, the same among people who were observed with that label.
    VARIABLE=LABEL compares with that label instead of the first. The assumptions are printed
    on standard error.

    \b
    Examples:
      cegdb effect falls.duckdb falls Risk --outcome Fall=Fall
      cegdb effect falls.duckdb falls "Risk=Low Risk" --outcome Fall=Fall --adjust
      cegdb effect falls.duckdb falls Treatment --outcome Fall=Fall --absent leave
      cegdb effect falls.duckdb falls Treatment --outcome Fall=Fall \\
        --given "Risk=High Risk"
    """
    variable, label = _treatment(treatment)
    outcome = read_answers(options["outcome"])
    group = read_answers(options["given"]) or None
    with opened(str(db), read_only=True) as database:
        ceg = ceg_of(database, name)
        between = None if label is None else [label]
        with working("intervening", database):
            result = ceg.effect(
                variable,
                outcome,
                between,
                given=group,
                **chosen(options, names_of(settings.EffectOptions)),
            )
        is_adjusted = options["adjust"] or options["adjust_for"] is not None
        adjustments = [
            ceg.adjustment(
                variable,
                target,
                options["adjust_for"],
                between=between,
                given=group,
                **chosen(options, ("absent", "seed")),
            )
            for target in (outcome if is_adjusted else ())
        ]
        print_frame(result.frame, form)
        say(*result.notes)
        for adjustment in adjustments:
            lines = str(adjustment).splitlines()
            say(*(line for line in lines if line not in result.notes))


def _treatment(text: str) -> tuple[str, str | None]:
    """Read ``VARIABLE`` or ``VARIABLE=LABEL``."""
    if "=" not in text:
        return text, None
    ((name, (label,)),) = read_answers([text]).items()
    return name, label


@main.command()
@DB
@NAME
@FORMAT
def cuts(db: Path, name: str, form: str | None) -> None:
    """List the cuts of the CEG NAME in DB: where the model makes no further use of the past.

    \b
    Examples:
      cegdb cuts falls.duckdb falls --format csv
    """
    with opened(str(db), read_only=True) as database:
        print_frame(ceg_of(database, name).cuts(), form)


@main.command()
@DB
@NAME
@click.argument("x", metavar="X")
@click.argument("y", metavar="Y")
@BY
@WHERE
@FORMAT
def independence(
    db: Path,
    name: str,
    x: str,
    y: str,
    by: list[str] | None,
    where: tuple[str, ...],
    form: str | None,
) -> None:
    """Decide whether X and Y are independent by the CEG NAME in DB.

    X and Y are variables, or lists such as A,B,C. First says whether the structure of the CEG
    makes them independent, whatever its probabilities are. Then prints how much they depend on
    each other at the fitted probabilities: one row per combination of answers to --by, the
    largest first. cegdb test-independence tests the rows of the survey instead.

    \b
    Examples:
      cegdb independence falls.duckdb falls Fall Treatment --by Risk
      cegdb independence falls.duckdb falls Fall Treatment --where "Risk=Low Risk"
    """
    context = read_answers(where)
    with opened(str(db), read_only=True) as database:
        answer = ceg_of(database, name).independence(
            split_names(None, None, x) or [],
            split_names(None, None, y) or [],
            given=by or [],
            context=context or None,
        )
        say(str(answer))
        print_frame(answer.frame, form)


@main.command("test-independence")
@DB
@NAME
@click.argument("x", metavar="X")
@click.argument("y", metavar="Y")
@BY
@WHERE
@click.option(
    "--alpha",
    type=float,
    help="Prior mass of each combination of answers to --by. Default: the largest number of "
    "levels of a variable.",
)
@FORMAT
def test_independence(
    db: Path,
    name: str,
    x: str,
    y: str,
    by: list[str] | None,
    where: tuple[str, ...],
    alpha: float | None,
    form: str | None,
) -> None:
    """Test whether X and Y are independent in the rows of the survey NAME in DB.

    X and Y are variables. Prints a Bayes factor, a G-test, and the largest difference between
    two answers to Y in the share of an answer to X.

    \b
    Examples:
      cegdb test-independence falls.duckdb falls Fall Treatment --by Risk
      cegdb test-independence falls.duckdb falls Fall Treatment \\
        --where "Risk=Low Risk" --format json
    """
    context = read_answers(where)
    strata: list[Any] = [*(by or []), *([context] if context else [])]
    with opened(str(db), read_only=True) as database:
        test = database.surveys[name].test_independence(x, y, given=strata, alpha=alpha)
        if form is None:
            echo(str(test))
        else:
            names, values = test.row()
            print_table(names, [values], form)
