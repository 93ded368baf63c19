"""Options of commands: those that several share, and those made of `cegdb.options`."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import click
from click.core import ParameterSource

from cegdb import options as settings
from cegdb.errors import QueryError, StagingError, SurveyError, TreeError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from cegdb.evidence import Evidence

KINDS: Final = get_args(settings.Kind)

_PART = r'"(?:[^"]|"")+"|[^:="]+'
_RELABEL = re.compile(rf"(?:(?P<variable>{_PART}):)?(?P<label>{_PART})=(?P<new>.+)", re.DOTALL)
_ANSWER = re.compile(r'(?:"((?:[^"]|"")+)"|([^=]+))=(.+)', re.DOTALL)


class Word(click.Choice[str]):
    """One of several words; a wrong one is answered with a close one."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            hint = settings.suggestion(value, list(self.choices))
            self.fail(f"{value!r} is unknown; {hint}", param, ctx)


def split_names(_: object, __: object, value: str | None) -> list[str] | None:
    """Read a comma-separated list, with quotes around names that hold commas."""
    if value is None:
        return None
    import csv

    return next(csv.reader([value], skipinitialspace=True), [])


def refuse_beside(
    why: str, *, of: Collection[str] | None = None, but: Collection[str] = ()
) -> None:
    """Refuse options of the running command that were given and would be ignored.

    Ignored are the options named ``of`` (all, if left out), except those named ``but``.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        is_ignored = isinstance(option, click.Option) and name not in but
        was_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_ignored and was_given and (of is None or name in of):
            raise click.UsageError(f"{why}: leave out {option.opts[0]}")


def read_labels(
    _: object, __: object, values: Sequence[str]
) -> list[str] | dict[str, list[str]]:
    """Read labels given as ``LABEL`` (all variables) or ``VARIABLE=LABEL``."""
    per_variable: dict[str, list[str]] = {}
    everywhere = [value for value in values if "=" not in value]
    for value in values:
        if "=" in value:
            name, label = value.split("=", 1)
            per_variable.setdefault(name, []).append(label)
    if per_variable and everywhere:
        raise SurveyError(
            f"labels for all variables ({listed(everywhere)}) are mixed with labels for some "
            f"({listed(value for value in values if '=' in value)})",
            hint="write all as VARIABLE=LABEL",
        )
    return per_variable or everywhere


def read_deff(_: object, __: object, values: Sequence[str]) -> float | dict[str, float] | None:
    """Read a design effect given as ``NUMBER``, or as ``VARIABLE=NUMBER`` for each."""
    try:
        if len(values) == 1 and "=" not in values[0]:
            return float(values[0])
        pairs = [value.rpartition("=") for value in values]
        by_variable = {name: float(number) for name, _, number in pairs if name}
    except ValueError:
        raise click.BadParameter(f"{', '.join(values)!r} is not a number") from None
    if len(by_variable) < len(values):
        raise click.BadParameter("give one NUMBER, or VARIABLE=NUMBER once for each variable")
    return by_variable or None


def read_interval(_: object, __: object, value: float | str | None) -> float | None:
    """Read the level of intervals; ``none`` leaves them out."""
    if value is None or str(value).strip().lower() == "none":
        return None
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a number between 0 and 1, or none"
        ) from None


def read_levels(_: object, __: object, values: Sequence[str]) -> dict[str, list[str]]:
    """Read levels given as ``VARIABLE=LABEL,LABEL,...``."""
    levels: dict[str, list[str]] = {}
    for value in values:
        name, equals, labels = value.partition("=")
        if not equals:
            raise SurveyError(f"--levels {value!r} is not VARIABLE=LABEL,LABEL,...")
        levels[name] = split_names(None, None, labels) or []
    return levels


def read_answers(values: Sequence[str]) -> dict[str, list[str]]:
    """Read labels given as ``VARIABLE=LABEL``, the name in quotes if it has an equals sign.

    A variable given several times has one of these labels.
    """
    labels: dict[str, list[str]] = {}
    for value in values:
        match = _ANSWER.fullmatch(value)
        if match is None:
            raise QueryError(
                f"{value!r} is not VARIABLE=LABEL",
                hint='quote it if it has spaces: "Risk level=High"',
            )
        name = match[2] if match[1] is None else match[1].replace('""', '"')
        labels.setdefault(name, []).append(match[3])
    return labels


def read_bins(_: object, __: object, values: Sequence[str]) -> dict[str, str]:
    """Read cut points or quantiles given as ``VARIABLE=18,35,65`` or ``VARIABLE=q4``."""
    bins_of: dict[str, str] = {}
    for value in values:
        name, equals, bins = value.partition("=")
        if not equals or name in bins_of:
            why = "is given twice" if equals else "is not VARIABLE=18,35,65 or VARIABLE=q4"
            raise SurveyError(f"--bin {value!r} {why}")
        bins_of[name] = bins
    return bins_of


def read_rules(values: Sequence[str]) -> dict[str, list[str]]:
    """Read rules given as ``VARIABLE: VARIABLE, VARIABLE``, quoted if a name has a colon."""
    rules: dict[str, list[str]] = {}
    for value in values:
        match = re.fullmatch(r'\s*(?:"((?:[^"]|"")*)"\s*|([^":][^:]*)):(.*)', value, re.DOTALL)
        if match is None:
            raise StagingError(
                f"--depends {value!r} is not 'VARIABLE: VARIABLE, VARIABLE'",
                hint='quote a name that has a colon or comma: \'"a:b": "c,d"\'',
            )
        quoted, plain, on = match.groups()
        name = plain.strip() if quoted is None else quoted.replace('""', '"')
        if name in rules:
            raise StagingError(f"--depends of {name!r} is given twice")
        rules[name] = [one.strip() for one in split_names(None, None, on) or []]
    return rules


def read_names(values: Sequence[str]) -> dict[str, str]:
    """Read names given as ``STAGE=NAME``."""
    names: dict[str, str] = {}
    for value in values:
        stage, equals, name = value.partition("=")
        if not equals or stage in names:
            why = "is given twice" if equals else "is not STAGE=NAME, such as u3=frail"
            raise StagingError(f"{value!r} {why}")
        names[stage] = name
    return names


def read_paths(_: object, __: object, values: Sequence[str]) -> list[dict[str, str]]:
    """Read paths given as ``VARIABLE=LABEL,VARIABLE=LABEL,...``."""
    paths = []
    for value in values:
        parts = [part.partition("=") for part in split_names(None, None, value) or []]
        if not all(equals for _, equals, _ in parts):
            raise SurveyError(f"{value!r} is not a path VARIABLE=LABEL,VARIABLE=LABEL,...")
        paths.append({name: label for name, _, label in parts})
    return paths


def read_evidence(texts: Sequence[str], json_text: str | None) -> Evidence:
    """Read what is known, given as ``VARIABLE=LABEL`` each, and as JSON."""
    from cegdb.evidence import All, answers, from_json

    labels = read_answers(texts)
    parts = [answers(labels)] if labels else []
    if json_text is not None:
        import json

        try:
            parsed = json.loads(json_text)
        except ValueError as error:
            raise QueryError(
                f"--evidence is not JSON: {error}",
                hint="""write {"Fall": "Fall"}, or what evidence.to_json() returns""",
            ) from None
        parts.append(from_json(parsed))
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def read_chains(_: object, __: object, values: Sequence[str]) -> list[tuple[str, str]]:
    """Read what comes before what, given as ``A<B`` or ``A<B<C``, as pairs."""
    pairs: list[tuple[str, str]] = []
    for value in values:
        chain = [name.strip() for name in value.split("<")]
        if len(chain) < 2 or not all(chain):
            raise TreeError(f"--before {value!r} is not A<B", hint="quote it: --before 'A<B'")
        pairs += pairwise(chain)
    return pairs


def read_tiers(_: object, __: object, values: Sequence[str]) -> list[list[str]] | None:
    """Read groups of variables, one comma-separated list each."""
    return [split_names(None, None, value) or [] for value in values] or None


def read_relabel(
    _: object, __: object, values: Sequence[str]
) -> dict[str | tuple[str, str], str]:
    """Read labels to relabel given as ``LABEL=NEW`` or ``VARIABLE:LABEL=NEW``.

    Quotes go around a part that holds a colon or an equals sign.
    """
    new_labels: dict[str | tuple[str, str], str] = {}
    for value in values:
        parts = _RELABEL.fullmatch(value)
        if parts is None:
            raise StagingError(
                f"--relabel {value!r} is not [VARIABLE:]LABEL=NEW",
                hint="put double quotes around a part that holds a colon or an equals sign",
            )
        raw_label, label = _unquoted(parts["label"]), _unquoted(parts["new"])
        key = (_unquoted(parts["variable"]), raw_label) if parts["variable"] else raw_label
        if new_labels.setdefault(key, label) != label:
            raise StagingError(f"--relabel gives {raw_label!r} two labels")
    return new_labels


def _unquoted(part: str) -> str:
    is_quoted = len(part) > 1 and part[0] == part[-1] == '"'
    return part[1:-1].replace('""', '"') if is_quoted else part


def all_of(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds several options of click to a command."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


_ON_COMMAND_LINE: Final[Mapping[str, Mapping[str, Any]]] = {
    "--columns": {"callback": split_names, "metavar": "A,B,C"},
    "--variables": {"callback": split_names, "metavar": "A,B,C"},
    "--order": {"callback": split_names, "metavar": "A,B,C"},
    "--exclude": {"callback": split_names, "metavar": "A,B,C"},
    "--outcome": {"metavar": "VARIABLE"},
    "--max-variables": {"metavar": "N"},
    "--structural": {"callback": read_labels, "metavar": "[VARIABLE=]LABEL"},
    "--missing": {"callback": read_labels, "metavar": "[VARIABLE=]LABEL"},
    "--levels": {"callback": read_levels, "metavar": "VARIABLE=A,B,C"},
    "--bin": {"callback": read_bins, "metavar": "VARIABLE=18,35,65|q4"},
    "--add-path": {"callback": read_paths, "metavar": "A=x,B=y"},
    "--impossible": {"callback": read_paths, "metavar": "A=x,B=y"},
    "--tier": {"callback": read_tiers, "metavar": "A,B"},
    "--before": {"callback": read_chains, "metavar": "A<B"},
    "--relabel": {"callback": read_relabel, "metavar": "[VARIABLE:]LABEL=NEW"},
    "--deff": {"type": str, "callback": read_deff, "metavar": "[VARIABLE=]NUMBER"},
    **{
        flag: {"type": click.Path(path_type=Path), "metavar": "FILE"}
        for flag in ("--codebook", "--frozen")
    },
    "--interval": {"type": str, "callback": read_interval, "metavar": "LEVEL|none"},
    "--width": {"metavar": "MM"},
    "--font-size": {"metavar": "PT"},
    **{flag: {"metavar": "N"} for flag in ("--collapse-below", "--top-variables")},
    **{flag: {"metavar": "COLUMN"} for flag in ("--count", "--weight", "--cluster")},
    **{flag: {"metavar": "CHAR"} for flag in ("--delimiter", "--quote", "--escape")},
    **{
        flag: {"metavar": "NAME"}
        for flag in ("--encoding", "--sheet", "--source-column", "--distance")
    },
}
"""What the command line adds to an option: how its text is read and what stands for it."""
_REPEATED: Final = (
    *(read_labels, read_levels, read_bins, read_paths, read_tiers, read_chains),
    *(read_relabel, read_deff),
)


def from_settings(owner: type, *, only: Collection[str] | None = None) -> Callable[[Any], Any]:
    """Return a decorator that adds the settings of a class, or ``only`` some, to a command."""
    known = settings.options_of(owner)
    flags = {option.name: option.flag for option in known}
    return all_of(
        *(_option(option, flags) for option in known if only is None or option.name in only)
    )


def names_of(owner: type) -> tuple[str, ...]:
    """Return the names of the settings of a class."""
    return tuple(option.name for option in settings.options_of(owner))


def _option(option: settings.Option, flags: Mapping[str, str]) -> Callable[[Any], Any]:
    arguments: dict[str, Any] = {"type": option.type, "default": option.default}
    if option.is_closed:
        arguments["type"] = Word(option.choices)
    elif option.choices:
        arguments["metavar"] = "|".join((*option.choices, "FILE"))
    if option.type is bool:
        arguments["is_flag"] = True
    arguments |= _ON_COMMAND_LINE.get(option.flag, {})
    if arguments.get("callback") in _REPEATED:
        arguments |= {"multiple": True, "default": ()}
    arguments["help"] = re.sub(
        r"`(\w+)`", lambda match: flags.get(match[1], f"--{match[1]}"), option.help
    )
    arguments["show_default"] = arguments["default"] not in (None, ())
    return click.option(option.flag, option.name, **arguments)


DB = click.argument("db", metavar="DB", type=click.Path(path_type=Path))
NAME = click.argument("name", metavar="NAME")
NEW_NAME = click.option(
    "--name",
    "new_name",
    metavar="NEW",
    help="Name to store the result under. Default: NAME, with a number if it is taken.",
)
NAME_OF_FILE = click.option(
    "--name",
    "new_name",
    metavar="NEW",
    help="Name to store the result under. Default: the name of FILE, with a number if it is "
    "taken.",
)
REPLACE = click.option(
    "--replace",
    is_flag=True,
    help="Replace an object of that name, with everything built on it.",
)
GIVEN = click.option(
    "--given",
    multiple=True,
    metavar="VARIABLE=LABEL",
    help="Evidence: what is known. Repeat a variable to allow any of several labels.",
)
EVIDENCE = click.option(
    "--evidence",
    metavar="JSON",
    help="Other evidence, as JSON: positions passed, likelihoods of labels, counts and order "
    "of events. In Python, evidence.to_json() returns it.",
)
FORMAT = click.option(
    "--format",
    "form",
    type=Word(["table", "json", "csv"]),
    help="How to print the rows. Default: table on a terminal, otherwise csv.",
)
MIN_N = click.option(
    "--min-n",
    type=int,
    metavar="N",
    help="Hide counts below N, and whatever would reveal them.",
)
NEW_ROWS = from_settings(settings.NewRowsOptions)
PICTURE = from_settings(settings.PictureOptions)
STOP = from_settings(settings.CegOptions)
READING = from_settings(
    settings.ReadOptions,
    only=[name for name in names_of(settings.ReadOptions) if name != "source_column"],
)
SOURCE_COLUMN = from_settings(settings.ReadOptions, only=["source_column"])
INGEST = all_of(from_settings(settings.IngestOptions), READING, SOURCE_COLUMN)
TREE = from_settings(settings.TreeOptions)
LIKE = from_settings(settings.LikeOptions)
STAGES = from_settings(settings.StageOptions)
LEARN = all_of(from_settings(settings.LearnOptions), STAGES)
EXPLORE_NAMES: Final = ("outcome", "max_variables", "tiers", "exclude")
EXPLORE = from_settings(settings.ExploreOptions, only=EXPLORE_NAMES)
ANSWERS = from_settings(settings.AnswerOptions)
READ_NAMES: Final = names_of(settings.ReadOptions)
INGEST_NAMES: Final = (*names_of(settings.IngestOptions), *READ_NAMES)
TREE_NAMES: Final = names_of(settings.TreeOptions)
STAGE_NAMES: Final = names_of(settings.StageOptions)
LEARN_NAMES: Final = names_of(settings.LearnOptions)


def kind_option(*kinds: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the option that says which kind of object NAME is: one of ``kinds``."""
    default = "Default: the first of these kinds that has an object called NAME."
    settings = {"help": f"Kind of the object. {default}", **settings}
    return click.option("--kind", type=Word(kinds), **settings)


MODEL_KIND = kind_option("ceg", "staging")


def output_option(text: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the option for a file to write."""
    return click.option(
        "-o", "--output", type=click.Path(path_type=Path), help=text, metavar="FILE", **settings
    )


def source_of(file: str) -> str | Path:
    """Return FILE as the library takes it: never for a SELECT."""
    return file if file == "-" or any(char in file for char in "*?[") else Path(file)


def chosen(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the values of some options, as arguments of the library.

    Beside --like only those given on the command line.
    """
    source = click.get_current_context().get_parameter_source
    is_like = values.get("like") is not None
    return {
        name: values[name]
        for name in names
        if not is_like or source(name) is ParameterSource.COMMANDLINE
    }
