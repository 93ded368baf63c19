"""Options that commands share, and how their values are read."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cegdb.errors import QueryError, StagingError, SurveyError, TreeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cegdb.evidence import Evidence

KINDS = ("survey", "tree", "staging", "ceg")
METHODS = ("ahc", "auto", "bhc", "fbhc", "csbhc", "bj", "hc", "exact", "hclust", "kmeans")
SCORES = ("log_marginal_likelihood", "bic", "aic", "log_likelihood")
READ_AS = ("encoding", "delimiter", "quote", "escape", "bad_rows", "sheet", "source_column")
STAGED_BY = (
    "alpha",
    "prior",
    "hyperstages",
    "relabel",
    "single_edges",
    "smoothing",
    "weighting",
    "deff",
    "replace",
)
LEARNT_BY = (
    "method",
    "score",
    "structure_prior",
    "initial",
    "frozen",
    "distance",
    "threshold",
    "n_stages",
    "seed",
)

_PART = r'"(?:[^"]|"")+"|[^:="]+'
_RELABEL = re.compile(rf"(?:(?P<variable>{_PART}):)?(?P<label>{_PART})=(?P<new>.+)", re.DOTALL)

_ANSWER = re.compile(r'(?:"((?:[^"]|"")+)"|([^=]+))=(.+)', re.DOTALL)


def split_names(_: object, __: object, value: str | None) -> list[str] | None:
    """Read a comma-separated list, with quotes around names that hold commas."""
    if value is None:
        return None
    import csv

    return next(csv.reader([value], skipinitialspace=True), [])


def refuse_beside(
    why: str, *, of: Sequence[str] | None = None, but: Sequence[str] = ()
) -> None:
    """Refuse options of the running command that were given and would be ignored.

    ``of`` are the names that would be (left out, all); ``but`` are not.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        is_ignored = isinstance(option, click.Option) and name not in but
        was_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_ignored and was_given and (of is None or name in of):
            raise click.UsageError(f"{why}: leave out {option.opts[0]}")


def read_alpha(_: object, __: object, value: str | None) -> float | str | None:
    """Read a number, or the word path."""
    if value is None or value == "path":
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no number") from None


def read_labels(values: Sequence[str]) -> list[str] | dict[str, list[str]]:
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


def read_levels(values: Sequence[str]) -> dict[str, list[str]]:
    """Read levels given as ``VARIABLE=LABEL,LABEL,...``."""
    found: dict[str, list[str]] = {}
    for value in values:
        name, equals, labels = value.partition("=")
        if not equals:
            raise SurveyError(f"--levels {value!r} is not VARIABLE=LABEL,LABEL,...")
        found[name] = split_names(None, None, labels) or []
    return found


def read_answers(values: Sequence[str]) -> dict[str, list[str]]:
    """Read labels given as ``VARIABLE=LABEL``, the name in quotes if it has an equals sign.

    Of a variable given several times, one of the labels holds.
    """
    found: dict[str, list[str]] = {}
    for value in values:
        match = _ANSWER.fullmatch(value)
        if match is None:
            raise QueryError(
                f"{value!r} is not VARIABLE=LABEL",
                hint='quote it if it has spaces: "Risk level=High"',
            )
        name = match[2] if match[1] is None else match[1].replace('""', '"')
        found.setdefault(name, []).append(match[3])
    return found


def read_bins(values: Sequence[str]) -> dict[str, str]:
    """Read cut points or quantiles given as ``VARIABLE=18,35,65`` or ``VARIABLE=q4``."""
    found: dict[str, str] = {}
    for value in values:
        name, equals, bins = value.partition("=")
        if not equals or name in found:
            why = "is given twice" if equals else "is not VARIABLE=18,35,65 or VARIABLE=q4"
            raise SurveyError(f"--bin {value!r} {why}")
        found[name] = bins
    return found


def read_rules(values: Sequence[str]) -> dict[str, list[str]]:
    """Read rules given as ``VARIABLE: VARIABLE, VARIABLE``, quoted if a name has a colon."""
    found: dict[str, list[str]] = {}
    for value in values:
        match = re.fullmatch(r'\s*(?:"((?:[^"]|"")*)"\s*|([^":][^:]*)):(.*)', value, re.DOTALL)
        if match is None:
            raise StagingError(
                f"--depends {value!r} is not 'VARIABLE: VARIABLE, VARIABLE'",
                hint='a name with a colon or comma is quoted: \'"a:b": "c,d"\'',
            )
        quoted, plain, on = match.groups()
        name = plain.strip() if quoted is None else quoted.replace('""', '"')
        if name in found:
            raise StagingError(f"--depends of {name!r} is given twice")
        found[name] = [one.strip() for one in split_names(None, None, on) or []]
    return found


def read_names(values: Sequence[str]) -> dict[str, str]:
    """Read names given as ``STAGE=NAME``."""
    found: dict[str, str] = {}
    for value in values:
        stage, equals, name = value.partition("=")
        if not equals or stage in found:
            why = "is given twice" if equals else "is not STAGE=NAME, such as u3=frail"
            raise StagingError(f"--rename {value!r} {why}")
        found[stage] = name
    return found


def read_paths(values: Sequence[str]) -> list[dict[str, str]]:
    """Read paths given as ``VARIABLE=LABEL,VARIABLE=LABEL,...``."""
    found = []
    for value in values:
        parts = [part.partition("=") for part in split_names(None, None, value) or []]
        if not all(equals for _, equals, _ in parts):
            raise SurveyError(f"{value!r} is not a path VARIABLE=LABEL,VARIABLE=LABEL,...")
        found.append({name: label for name, _, label in parts})
    return found


def read_evidence(texts: Sequence[str], json_text: str | None) -> Evidence:
    """Read what is known, given as ``VARIABLE=LABEL`` each, and as JSON."""
    from cegdb.evidence import All, answers, from_json

    labels = read_answers(texts)
    parts = [answers(labels)] if labels else []
    if json_text is not None:
        import json

        try:
            found = json.loads(json_text)
        except ValueError as error:
            raise QueryError(
                f"--evidence is no JSON: {error}",
                hint="""write {"Fall": "Fall"}, or what evidence.to_json() gives""",
            ) from None
        parts.append(from_json(found))
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def read_chains(values: Sequence[str]) -> list[tuple[str, str]]:
    """Read what comes before what, given as ``A<B`` or ``A<B<C``, as pairs."""
    pairs: list[tuple[str, str]] = []
    for value in values:
        chain = [name.strip() for name in value.split("<")]
        if len(chain) < 2 or not all(chain):
            raise TreeError(f"--before {value!r} is not A<B", hint="quote it: --before 'A<B'")
        pairs += pairwise(chain)
    return pairs


def read_relabel(
    _: object, __: object, values: Sequence[str]
) -> dict[str | tuple[str, str], str]:
    """Read labels to relabel given as ``LABEL=NEW`` or ``VARIABLE:LABEL=NEW``.

    Quotes go around a part that holds a colon or an equals sign.
    """
    found: dict[str | tuple[str, str], str] = {}
    for value in values:
        parts = _RELABEL.fullmatch(value)
        if parts is None:
            raise StagingError(
                f"--relabel {value!r} is not [VARIABLE:]LABEL=NEW",
                hint="put double quotes around a part that holds a colon or an equals sign",
            )
        raw_label, label = _unquoted(parts["label"]), _unquoted(parts["new"])
        key = (_unquoted(parts["variable"]), raw_label) if parts["variable"] else raw_label
        if found.setdefault(key, label) != label:
            raise StagingError(f"--relabel gives {raw_label!r} two labels")
    return found


def _unquoted(part: str) -> str:
    is_quoted = len(part) > 1 and part[0] == part[-1] == '"'
    return part[1:-1].replace('""', '"') if is_quoted else part


def options_of(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds several options."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


NAME = click.option("--name", help="Name to store it under.")
REPLACE = click.option(
    "--replace", is_flag=True, help="Replace one of that name, with all built on it."
)
EVIDENCE = click.option(
    "--evidence",
    metavar="JSON",
    help="What else is known: positions passed, soft evidence, counts of events, their order.",
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
    help="What edges of a picture show; prior and posterior of a CEG only.",
)
SIZES = options_of(
    click.option("--width", type=float, metavar="MM", help="Width of a figure in millimetres."),
    click.option(
        "--font-size",
        type=float,
        default=9,
        show_default=True,
        metavar="PT",
        help="Size of labels in points.",
    ),
)
COLLAPSE = options_of(
    click.option(
        "--collapse-below",
        type=int,
        metavar="N",
        help="Collapse what fewer than N people reach into boxes that tell what they hide.",
    ),
    click.option(
        "--top-variables",
        type=int,
        metavar="K",
        help="Draw the first K variables, and collapse what follows.",
    ),
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
COLUMNS = click.option("--columns", callback=split_names, help="Columns to keep: A,B,C.")
READING = options_of(
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
INGEST = options_of(
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
BLANK = click.option(
    "--blank",
    type=click.Choice(["auto", "structural", "missing"]),
    default="auto",
    show_default=True,
    help="What an empty cell means.",
)
TREE = options_of(
    click.option("--order", callback=split_names, help="Variables from the root: A,B,C."),
    BLANK,
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
WEIGHTING = click.option(
    "--weighting",
    type=click.Choice(["situation", "global", "total", "none"]),
    default="situation",
    show_default=True,
    help="What respondents with weights count in scores.",
)
DEFF = click.option("--deff", type=float, help="Design effect of a clustered sample.")
STAGES = options_of(
    click.option(
        "--method",
        type=click.Choice(METHODS),
        default="ahc",
        show_default=True,
        help="How stages are learnt: cegdb stages --help tells.",
    ),
    click.option(
        "--score",
        type=click.Choice(SCORES),
        help="What is optimised; left out, the method's own.",
    ),
    click.option(
        "--alpha",
        callback=read_alpha,
        metavar="NUMBER",
        help="Prior mass of the root (equivalent sample size).",
    ),
    click.option(
        "--prior",
        default="mass",
        show_default=True,
        metavar="mass|floret|path|FILE",
        help="How alpha is shared out, or a file with vertex_id, label, prior.",
    ),
    click.option(
        "--structure-prior",
        type=click.Choice(["flat", "size"]),
        default="flat",
        show_default=True,
        help="All stagings alike, or all numbers of stages.",
    ),
    click.option(
        "--hyperstages",
        type=click.Choice(["variable", "labels", "height", "paper"]),
        default="variable",
        show_default=True,
        help="What situations share that may share a stage, beside the label set.",
    ),
    click.option(
        "--relabel",
        multiple=True,
        callback=read_relabel,
        metavar="[VARIABLE:]LABEL=NEW",
        help="A label that counts as another in stages; the tree keeps it.",
    ),
    click.option(
        "--single-edges",
        type=click.Choice(["together", "apart"]),
        default="together",
        show_default=True,
        help="Stages of situations with one edge.",
    ),
    click.option(
        "--initial",
        metavar="full|indep|FILE",
        help="Start from single situations, one stage a hyperstage, or a file's stages.",
    ),
    click.option(
        "--frozen",
        type=click.Path(path_type=Path),
        help="Keep the stages of this file (vertex_id, stage), learn the others.",
    ),
    click.option(
        "--smoothing",
        type=float,
        default=0.0,
        show_default=True,
        help="Added to the counts of a stage for BIC, AIC and the likelihood.",
    ),
    click.option("--distance", help="Of bj and hclust: kullback, totvar, hellinger, ..."),
    click.option("--threshold", type=float, help="Of bj: join below this distance."),
    click.option("--n-stages", type=int, help="Of each hyperstage, for hclust and kmeans."),
    click.option("--seed", type=int, default=1, show_default=True, help="Of random numbers."),
    WEIGHTING,
    DEFF,
)
STOP = click.option(
    "--stop",
    type=click.Choice(["early", "baseline"]),
    default="early",
    show_default=True,
    help="Where the backward recursion stops.",
)
DB = click.argument("db", metavar="DB", type=click.Path(path_type=Path))


def source_of(file: str) -> str | Path:
    """Return FILE as the library takes it: never for a SELECT."""
    return file if file == "-" or any(char in file for char in "*?[") else Path(file)


def tree_settings(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of ``TREE`` as arguments of the library."""
    return {
        "order": given["order"],
        "blank": given["blank"],
        "missing_policy": given["missing_policy"],
        "sampling_zeros": given["sampling_zeros"],
        "add_paths": read_paths(given["add_path"]),
        "impossible": read_paths(given["impossible"]),
    }
