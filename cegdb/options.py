"""The settings of ingest, trees, stages and orders: each with its default, choices and text.

Each setting is stated once, in a dataclass that also checks it. The command line makes its
options of these classes, and `cegdb.api.settings` the signatures and docstrings of methods.
The TypedDict beside a class says to type checkers which keywords a method takes. In a text, a
name in single backticks is another setting.
"""

from __future__ import annotations

import codecs
import difflib
import io
import os
from dataclasses import MISSING, dataclass, field, fields
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    TypedDict,
    cast,
    get_args,
)

from cegdb.errors import (
    QueryError,
    StagingError,
    SurveyError,
    TreeError,
    is_number,
    is_one_of,
    is_whole,
    joined,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from dataclasses import Field

    from cegdb.api import StagedTree
    from cegdb.errors import CegdbError
    from cegdb.ingest import CodebookSource
    from cegdb.stages import Grouping, Hyperstages, Prior, Start
    from cegdb.tree import Path

Kind: TypeAlias = Literal["survey", "tree", "staging", "ceg"]
BadRows: TypeAlias = Literal["error", "skip"]
DecimalSign: TypeAlias = Literal[".", ","]
Labels: TypeAlias = "Sequence[object] | Mapping[str, Sequence[object]]"
Blank: TypeAlias = Literal["auto", "structural", "missing"]
MissingPolicy: TypeAlias = Literal["prefix", "complete", "category"]
SamplingZeros: TypeAlias = Literal["auto", "none", "floret", "full"]
PriorRule: TypeAlias = Literal["mass", "floret", "path", "stage"]
HyperstageRule: TypeAlias = Literal["variable", "labels", "height", "paper"]
Relabel: TypeAlias = "Mapping[Any, str]"
UnobservedRule: TypeAlias = Literal["predictive", "nearest", "own"]
Unobserved: TypeAlias = "UnobservedRule | Sequence[Sequence[str]]"
SingleEdges: TypeAlias = Literal["together", "apart"]
WeightChoice: TypeAlias = Literal["situation", "global", "total", "none"]
Deff: TypeAlias = "float | Mapping[str, float]"
Method: TypeAlias = Literal[
    "ahc", "auto", "bhc", "fbhc", "csbhc", "bj", "hc", "exact", "ordinal", "hclust", "kmeans"
]
ScoreName: TypeAlias = Literal["log_marginal_likelihood", "bic", "aic", "log_likelihood"]
StructurePrior: TypeAlias = Literal["flat", "size"]
Criterion: TypeAlias = Literal["test", "score"]
Like: TypeAlias = Literal["paper", "cegpy", "ceg", "stagedtrees"]
StartRule: TypeAlias = Literal["full", "indep"]
JoinDistance: TypeAlias = Literal[
    "kullback", "totvar", "hellinger", "manhattan", "euclidean", "reny", "bhatt", "chandarw"
]
ShareDistance: TypeAlias = Literal["totvar", "hellinger", "euclidean", "manhattan"]
Search: TypeAlias = Literal["auto", "exact", "greedy"]
Stop: TypeAlias = Literal["early", "baseline"]
RebuildRule: TypeAlias = Literal["keep", "relearn"]
BlankCells: TypeAlias = Literal["tree", "unknown"]
Absent: TypeAlias = Literal["error", "leave"]
IntervalMethod: TypeAlias = Literal["robust", "credible", "wilson", "goodman", "bootstrap"]
BootstrapKind: TypeAlias = Literal["nonparametric", "parametric"]
EdgeInfo: TypeAlias = Literal["probability", "count", "prior", "posterior", "none"]
ReportForm: TypeAlias = Literal["plain", "paper", "analyst"]

STAGE_ALPHA: Final = 1.0
"""The prior mass of a stage where every stage has the same, and no other is given."""
_ORDER_METHODS: Final = tuple(method for method in get_args(Method) if method != "ordinal")
_METHOD_NAMES: Final = ", ".join(f'"{method}"' for method in _ORDER_METHODS)
EXACT_SITUATIONS: Final = 10
"""Up to so many situations a search over orders looks at all stagings by default."""
GATE_MIN_ROWS: Final = 5
"""The default of ``gate_min_rows``, which a search over orders always uses."""
MOST_EXPLORED: Final = 20
"""The most variables that may be chosen for an outcome."""

SCORE_NAMES: Final[Mapping[str, str]] = {
    "log_marginal_likelihood": "log marginal likelihood",
    "log_likelihood": "log likelihood",
    "bic": "BIC",
    "aic": "AIC",
}
"""Each score as people write it."""

GREEDY_METHODS: Final = ("ahc", "auto", "bhc")
"""Methods that merge the best pair of stages, again and again."""

DISTANCES: Final[Mapping[str, tuple[str, ...]]] = {
    "bj": get_args(JoinDistance),
    "hclust": get_args(ShareDistance),
}
"""The distances of each method that has any; the first is its default."""

_MOST_RUNS: Final = 10_000_000
_MOST_DRAWS: Final = 1_000_000
_LEAST_SAMPLES: Final = 20
_STRUCTURE_PRIOR_METHODS: Final = ("ahc", "auto", "hc", "exact", "ordinal")
_MARGINAL_METHODS: Final = ("ahc", "auto", "ordinal")
_CRITERION_METHODS: Final = ("ahc", "auto")
_NO_FILE_ENCODINGS: Final = (
    "idna",
    "punycode",
    "raw-unicode-escape",
    "undefined",
    "unicode-escape",
)
# Names of functions in the R package stagedtrees: stages_bhc, stages_hc, ...
_PREFIX: Final = "stages_"


class Option(NamedTuple):
    """One setting.

    ``choices`` are its words. If ``is_closed`` it must be one of them; otherwise it may also
    be something else, such as a file. ``type`` is that of one value as text, ``flag`` its name
    on the command line.
    """

    name: str
    help: str
    default: Any
    choices: tuple[str, ...]
    is_closed: bool
    type: type
    flag: str


def options_of(settings: type) -> list[Option]:
    """Return the settings of one of the classes below, in order.

    Examples
    --------
    >>> for option in options_of(TreeOptions)[1:3]:
    ...     print(option.flag, option.default, option.choices)
    --blank auto ('auto', 'structural', 'missing')
    --missing-policy prefix ('prefix', 'complete', 'category')
    """
    return [_option(one) for one in fields(settings)]


def _option(one: Field[Any]) -> Option:
    details = one.metadata
    default = None if one.default is MISSING else one.default
    flag = details["flag"] or f"--{one.name.replace('_', '-')}"
    return Option(
        one.name,
        details["help"],
        default,
        details["choices"],
        details["is_closed"],
        details["type"],
        flag,
    )


def _setting(
    default: Any,
    text: str,
    *,
    choices: tuple[str, ...] = (),
    or_else: bool = False,
    type: type = str,  # noqa: A002
    flag: str | None = None,
) -> Any:
    """Return a field; with ``or_else`` it may be something else than one of the choices."""
    details = {
        "help": " ".join(text.split()),
        "choices": choices,
        "is_closed": bool(choices) and not or_else,
        "type": type,
        "flag": flag,
    }
    return field(default=default, metadata=details)


def _same(settings: type, name: str) -> Any:
    """Return the field of another class."""
    (original,) = [one for one in fields(settings) if one.name == name]
    return field(default=original.default, metadata=original.metadata)


def suggestion(value: object, choices: Collection[str]) -> str:
    """Return a hint for an unknown word: a close one, and all that are available.

    Examples
    --------
    >>> suggestion("stages_bhc", ("ahc", "bhc"))
    "did you mean 'bhc'? Available: 'ahc', 'bhc'"
    >>> suggestion(5, ("ahc", "bhc"))
    "available: 'ahc', 'bhc'"
    """
    available = f"available: {', '.join(map(repr, choices))}"
    text = str(value).strip().casefold().removeprefix(_PREFIX)
    near = difflib.get_close_matches(text, choices, n=1) if isinstance(value, str) else []
    return f"did you mean {near[0]!r}? {available.capitalize()}" if near else available


def check_choice(
    setting: str, value: object, choices: Collection[str], error: type[CegdbError]
) -> None:
    """Refuse a setting that is not one of its choices.

    Examples
    --------
    >>> check_choice("method", "stages_hc", ("bhc", "hc"), StagingError)
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: unknown value 'stages_hc' for method
    hint: did you mean 'hc'? Available: 'bhc', 'hc'
    """
    if not is_one_of(value, choices):
        raise error(f"unknown value {value!r} for {setting}", hint=suggestion(value, choices))


def check_word_or_file(
    setting: str, value: object, choices: Collection[str], error: type[CegdbError], form: str
) -> None:
    """Refuse a single word that is neither one of the choices nor a file.

    ``form`` says what else the setting may be.

    Examples
    --------
    >>> check_word_or_file("prior", "masss", ("mass", "path"), StagingError, "give a file")
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: unknown value 'masss' for prior
    hint: did you mean 'mass'? Available: 'mass', 'path'; or give a file
    >>> check_word_or_file("prior", "priors.csv", ("mass",), StagingError, "give a file")
    """
    is_word = isinstance(value, str) and not any(
        char in "./\\*?[" or char.isspace() for char in value
    )
    if is_word and value not in choices and not os.path.exists(str(value)):  # noqa: PTH110
        hint = f"{suggestion(value, choices)}; or {form}"
        raise error(f"unknown value {value!r} for {setting}", hint=hint)


def check_alpha(
    alpha: float | None,
    error: type[CegdbError] = StagingError,
    hint: str | None = "alpha is the prior mass of the root, up to 1e100",
) -> None:
    """Refuse a prior mass that is not above 0; None stands for the default.

    Examples
    --------
    >>> check_alpha(-1)
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: alpha must be a number above 0, not -1
    hint: alpha is the prior mass of the root, up to 1e100
    """
    if alpha is not None and (not is_number(alpha) or not alpha > 0):
        raise error(f"alpha must be a number above 0, not {alpha!r}", hint=hint)


def check_seed(seed: object, error: type[CegdbError]) -> None:
    """Refuse what is not the seed of random numbers.

    Examples
    --------
    >>> check_seed(-1, StagingError)
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: seed must be a whole number from 0 to 2^63 - 1, not -1
    """
    if not is_whole(seed) or not 0 <= seed < 2**63:
        raise error(f"seed must be a whole number from 0 to 2^63 - 1, not {seed!r}")


def check_level(level: object, error: type[CegdbError], name: str = "level") -> None:
    """Refuse what is not the level of intervals.

    Examples
    --------
    >>> check_level(95, StagingError)
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: level must be a number between 0 and 1, such as 0.95, not 95
    """
    if not is_number(level) or not 0 < level < 1:
        raise error(f"{name} must be a number between 0 and 1, such as 0.95, not {level!r}")


def _check_runs(runs: object) -> None:
    if not is_whole(runs) or not 1 <= runs <= _MOST_RUNS:
        raise StagingError(
            f"runs must be a whole number from 1 to {_MOST_RUNS:,}, not {runs!r}"
        )


@dataclass(frozen=True)
class ReadOptions:
    r"""How a file is written, where it should not be detected.

    Examples
    --------
    >>> ReadOptions(delimiter="\t", quote="'").delimiter
    '\t'
    >>> ReadOptions(encoding="klingon")
    Traceback (most recent call last):
    ...
    cegdb.errors.SurveyError: encoding 'klingon' is not a text encoding
    hint: give a name such as utf-8, cp1252, latin-1, utf-16-le
    """

    encoding: str | None = _setting(
        None, "Text encoding of a CSV file, such as cp1252. Default: UTF-8."
    )
    delimiter: str | None = _setting(
        None, "Character between the fields of a CSV file. Default: detected."
    )
    quote: str | None = _setting(
        None,
        """Character around a quoted field of a CSV file; an empty text if there is none, so
        that quotes are part of the cells. Default: the double quote.""",
    )
    escape: str | None = _setting(
        None, "Character that escapes the next one in a CSV file. Default: none."
    )
    bad_rows: BadRows = _setting(
        "error",
        """What to do with rows of a CSV file that have the wrong number of fields or a broken
        quote: "error" refuses the file, "skip" leaves them out and lists them.""",
        choices=get_args(BadRows),
    )
    sheet: str | int | None = _setting(
        None, "Sheet of a workbook: its name, or its number from 1. Default: the only one."
    )
    source_column: str | None = _setting(
        None,
        """Name of a column to add, as the first one, that holds the name of the file each row
        comes from, for several files read as one.""",
    )

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.encoding is not None and not is_encoding(self.encoding):
            raise SurveyError(
                f"encoding {self.encoding!r} is not a text encoding",
                hint="give a name such as utf-8, cp1252, latin-1, utf-16-le",
            )
        used: dict[object, str] = {}
        for name, char in (
            ("quote", '"' if self.quote is None else self.quote or None),
            ("delimiter", self.delimiter),
            ("escape", self.escape),
        ):
            if char is None:
                continue
            _check_character(name, char)
            if char in used:
                raise SurveyError(
                    f"{used[char]} and {name} are both {char!r}",
                    hint="a doubled quote needs no escape; quote='' means there is no quote",
                )
            used[char] = name
        column: object = self.source_column
        if column is not None and not (isinstance(column, str) and column.strip()):
            raise SurveyError(f"source_column must be the name of a column, not {column!r}")
        sheet: object = self.sheet
        if isinstance(sheet, bool) or not isinstance(sheet, (str, int, NoneType)):
            raise SurveyError(f"sheet must be a name, or a number from 1 on, not {sheet!r}")
        check_choice("bad_rows", self.bad_rows, get_args(BadRows), SurveyError)


class ReadSettings(TypedDict, total=False):
    """Settings of `ReadOptions` for rows that join a survey or are queried."""

    encoding: str | None
    delimiter: str | None
    quote: str | None
    escape: str | None
    bad_rows: BadRows
    sheet: str | int | None


class SourceSettings(ReadSettings, total=False):
    """All settings of `ReadOptions`."""

    source_column: str | None


def is_encoding(name: object) -> bool:
    """Return whether Python knows an encoding of text files of that name.

    Examples
    --------
    >>> is_encoding("cp1252"), is_encoding("hex"), is_encoding("utf8 ")
    (True, False, True)
    """
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=cast("str", name))
        return codecs.lookup(cast("str", name)).name.replace("_", "-") not in _NO_FILE_ENCODINGS
    except (LookupError, TypeError, ValueError):
        return False


def _check_character(name: str, char: object) -> None:
    if not isinstance(char, str) or len(char) != 1:
        raise SurveyError(
            f"{name} must be one character, not {char!r}",
            hint="a tab is written '\\t' in Python, $'\\t' in a shell",
        )
    if char in "\r\n\0" or "\ud800" <= char <= "\udfff":
        raise SurveyError(f"{name} cannot be {char!r}, which ends a line or is not text")


@dataclass(frozen=True)
class IngestOptions:
    """What the columns of a survey source are, and what its cells mean."""

    columns: Sequence[str] | None = _setting(
        None,
        """Columns that become variables, in this order. Default: all but `count`, `weight` and
        `cluster`.""",
    )
    count: str | None = _setting(
        None, "Column of an aggregated table that says how many respondents a row stands for."
    )
    weight: str | None = _setting(
        None,
        """Column of survey weights, 0 or more; kept beside the counts, to 12 decimals.""",
    )
    cluster: str | None = _setting(
        None,
        """Column of the clusters of a clustered sample. Scores are then divided by the design
        effect of each variable.""",
    )
    decimal: DecimalSign = _setting(
        ".",
        "Decimal sign of counts, weights and numbers to be cut into `bins`.",
        choices=get_args(DecimalSign),
    )
    structural: Labels = _setting(
        (),
        """Labels that mean the question does not apply: for all variables, or given for each
        variable.""",
    )
    missing: Labels = _setting(
        (),
        """Labels that mean the answer is not known: for all variables, or given for each
        variable.""",
    )
    levels: Mapping[str, Sequence[object]] | None = _setting(
        None,
        """All labels of a variable, in order. Labels that nobody gave are kept as levels.""",
    )
    bins: Mapping[str, object] | None = _setting(
        None,
        """How to cut the numbers of a variable into intervals: at points, such as 18,35,65, or
        into quantiles, such as q4.""",
        flag="--bin",
    )
    codebook: CodebookSource | None = _setting(
        None,
        """YAML or CSV file that says what codes mean. Settings given directly are added to it,
        and override it where they differ.""",
    )

    def __post_init__(self) -> None:
        """Check what does not depend on the source."""
        check_choice("decimal", self.decimal, get_args(DecimalSign), SurveyError)


class IngestSettings(SourceSettings, total=False):
    """Settings of `IngestOptions` and `ReadOptions`."""

    columns: Sequence[str] | None
    count: str | None
    weight: str | None
    cluster: str | None
    decimal: DecimalSign
    structural: Labels
    missing: Labels
    levels: Mapping[str, Sequence[object]] | None
    bins: Mapping[str, object] | None
    codebook: CodebookSource | None


@dataclass(frozen=True)
class NewRowsOptions:
    """How new rows of a survey are read, beside the settings of its ingest."""

    decimal: DecimalSign | None = _setting(
        None,
        "Decimal sign of numbers in the new rows. Default: that of the survey.",
        choices=get_args(DecimalSign),
    )


class NewRowsSettings(ReadSettings, total=False):
    """Settings of `NewRowsOptions` and `ReadOptions`."""

    decimal: DecimalSign | None


@dataclass(frozen=True)
class TreeOptions:
    """How an event tree is built from a survey."""

    order: Sequence[str] | None = _setting(
        None, "Variables from the root. Default: all, in the order of the survey."
    )
    blank: Blank = _setting(
        "auto",
        """What an empty cell means: "structural" (the question does not apply), "missing" (it
        applies, but the answer is not known) or "auto" (structural where at least
        `gate_min_rows` rows share the same answers so far and all of them are empty).""",
        choices=get_args(Blank),
    )
    missing_policy: MissingPolicy = _setting(
        "prefix",
        """How a row with a missing answer counts: "prefix" (up to its first missing answer),
        "complete" (not at all) or "category" (missing is treated as an answer).""",
        choices=get_args(MissingPolicy),
    )
    sampling_zeros: SamplingZeros = _setting(
        "auto",
        """Answers that nobody gave: "none" leaves them out; "floret" adds all levels of a
        variable wherever its question was put to somebody, answered or not, the new ones as
        leaves; "full" also expands these down to the last variable; "auto" does so as long as
        the tree has at most twice the situations that somebody reached, and leaves out answers
        so common elsewhere that chance cannot explain why nobody gave them here: they are
        presumed impossible (see presumed_zeros).""",
        choices=get_args(SamplingZeros),
    )
    add_paths: Sequence[Path] = _setting(
        (),
        """Paths to add although no row has them. Variables left out before the last one named
        do not apply there.""",
        flag="--add-path",
    )
    impossible: Sequence[Path] = _setting(
        (), "Paths, or combinations of answers, that `sampling_zeros` must not add."
    )
    gate_min_rows: int = _setting(
        GATE_MIN_ROWS,
        """Smallest number of rows from which `blank` "auto" concludes that an empty cell is
        structural.""",
        type=int,
    )

    def __post_init__(self) -> None:
        """Check what does not depend on the survey."""
        check_choice("blank", self.blank, get_args(Blank), TreeError)
        check_choice("missing_policy", self.missing_policy, get_args(MissingPolicy), TreeError)
        check_choice("sampling_zeros", self.sampling_zeros, get_args(SamplingZeros), TreeError)
        if not is_whole(self.gate_min_rows) or self.gate_min_rows < 1:
            raise TreeError(
                f"gate_min_rows must be a whole number of 1 or more, not {self.gate_min_rows!r}"
            )


@dataclass(frozen=True)
class LikeOptions:
    """Whose settings are taken."""

    like: Like | None = _setting(
        None,
        """Take the settings of the literature: "paper" (Shenvi and Smith, 2020), or those of
        the programs "cegpy" (Python), "ceg" (R) or "stagedtrees" (R, stages_bhc). Settings
        given beside it come first. Trees and stages go together: give it for both.""",
        choices=get_args(Like),
    )

    def __post_init__(self) -> None:
        """Check the word."""
        if self.like is not None:
            check_choice("like", self.like, get_args(Like), StagingError)


class ExploredTreeSettings(TypedDict, total=False):
    """Settings of `TreeOptions` and `LikeOptions` but the order, which was explored."""

    like: Like | None
    blank: Blank
    missing_policy: MissingPolicy
    sampling_zeros: SamplingZeros
    add_paths: Sequence[Path]
    impossible: Sequence[Path]
    gate_min_rows: int


class TreeSettings(ExploredTreeSettings, total=False):
    """Settings of `TreeOptions` and `LikeOptions`."""

    order: Sequence[str] | None


@dataclass(frozen=True)
class StageOptions:
    """What all ways of staging a tree share."""

    alpha: float | None = _setting(
        None,
        """Prior mass of the root (equivalent sample size). Default: the largest number of
        levels of a variable of the tree. With `prior` "stage" it is that of each stage, 1 by
        default.""",
        type=float,
    )
    prior: Prior = _setting(
        "stage",
        """How `alpha` is shared among the edges: "mass" passes it down from the root, shared
        equally in each floret; "floret" starts with alpha in each floret; "path" gives each
        root-to-leaf path an equal part; "stage" gives each stage alpha, shared equally among
        its labels, however many situations it has. Or the priors of some situations, in a table
        with the columns vertex_id, label and prior; the others follow "mass".""",
        choices=get_args(PriorRule),
        or_else=True,
    )
    hyperstages: Hyperstages = _setting(
        "variable",
        """Which situations with the same labels may share a stage: "variable" (those of
        the same variable), "labels" (all), "height" (those at the same longest distance to a
        leaf) or "paper" (those at the same shortest distance to a leaf). Or groups of
        situations, given as stages are.""",
        choices=get_args(HyperstageRule),
        or_else=True,
    )
    relabel: Relabel | None = _setting(
        None,
        """Labels to replace with others in stages and CEGs; the tree keeps its own. The labels
        of one situation must stay different.""",
    )
    single_edges: SingleEdges = _setting(
        "together",
        """Situations with a single edge: "together" puts those of a hyperstage into one stage,
        "apart" makes each a stage of its own.""",
        choices=get_args(SingleEdges),
    )
    smoothing: float = _setting(
        0.0,
        """Number added to the count of each label of a stage when the log likelihood, AIC and
        BIC are calculated (lambda in stagedtrees).""",
        type=float,
    )
    weighting: WeightChoice = _setting(
        "situation",
        """What respondents of a weighted survey count in scores and probabilities: "situation"
        (those in a situation count as W^2 / Q people, where W is the sum of their weights and Q
        the sum of the squares: Kish), "global" (the same with one factor for the whole survey),
        "total" (weights scaled to sum to the number of respondents) or "none" (each counts
        1).""",
        choices=get_args(WeightChoice),
    )
    deff: Deff | None = _setting(
        None,
        """Design effect of a clustered sample, by which effective counts are divided: a number,
        or one for each variable. Default: estimated from the clusters of the survey.""",
        type=float,
    )

    def __post_init__(self) -> None:
        """Check what does not depend on the tree."""
        check_alpha(self.alpha)
        check_word_or_file(
            "prior",
            self.prior,
            get_args(PriorRule),
            StagingError,
            "give a mapping, a frame, a file or a SELECT",
        )
        check_word_or_file(
            "hyperstages",
            self.hyperstages,
            get_args(HyperstageRule),
            StagingError,
            "give groups of situations: a mapping, a list, a frame, a file or a SELECT",
        )
        check_choice("single_edges", self.single_edges, get_args(SingleEdges), StagingError)
        check_choice("weighting", self.weighting, get_args(WeightChoice), StagingError)
        if not is_number(self.smoothing) or self.smoothing < 0:
            raise StagingError(
                f"smoothing must be a number from 0 to 1e100, not {self.smoothing!r}"
            )


class _SettingsButAlpha(TypedDict, total=False):
    prior: Prior
    hyperstages: Hyperstages
    relabel: Relabel | None
    single_edges: SingleEdges
    smoothing: float
    weighting: WeightChoice
    deff: Deff | None


class StageSettings(_SettingsButAlpha, total=False):
    """Settings of `StageOptions`."""

    alpha: float | None


@dataclass(frozen=True)
class LearnOptions:
    """How stages are learnt from the data."""

    method: Method = _setting(
        "ahc",
        """How stages are learnt. "ahc" (agglomerative hierarchical clustering) merges the two
        stages that gain most as long as `criterion` allows; "auto" does the same, but
        starts from groups of similar situations where a hyperstage has more than 4,000 distinct
        florets. As in stagedtrees: "bhc" merges the best pair while nothing is lost, "fbhc" the
        first pair found; "csbhc" joins all stages over the answers to one earlier question in
        one context; "bj" joins the two nearest stages while their `distance` is below
        `threshold`; "hc" moves single situations, merges and splits stages; "hclust" and
        "kmeans" cluster the shares, fast and approximate. "exact" finds the staging with the
        best score of all, where up to 16 situations may share stages, or where florets have two
        labels and the score is BIC or AIC. "ordinal" finds the best staging in which the stages
        of an ordered question (`ordered` in the codebook) are neighbours in their mean score;
        other questions are learnt as by ahc.""",
        choices=get_args(Method),
    )
    score: ScoreName | None = _setting(
        None,
        """What is optimised. Default: log_marginal_likelihood for ahc, auto and ordinal, bic
        for the other methods.""",
        choices=get_args(ScoreName),
    )
    structure_prior: StructurePrior = _setting(
        "flat",
        """Prior of the stagings, for ahc, auto, hc, exact and ordinal: "flat" (all stagings are
        equally probable) or "size" (every number of stages in a hyperstage is equally probable,
        and so is every staging with the same number).""",
        choices=get_args(StructurePrior),
    )
    criterion: Criterion | None = _setting(
        None,
        """What decides how many stages ahc and auto keep: "test" (as few as possible:
        situations merged into one stage are kept apart only where a test of homogeneity tells
        them apart) or "score" (the score alone, as in the literature). Default: test for ahc
        and auto with the log marginal likelihood and no structure prior, else score.""",
        choices=get_args(Criterion),
    )
    significance: float | None = _setting(
        None,
        """Level of the tests of `criterion` "test": how often situations of a hyperstage that
        are all alike become several stages. Default: 0.05.""",
        type=float,
    )
    max_parents: int | None = _setting(
        None,
        """Learn from few earlier answers, for trees with many questions: the stages of a
        variable depend on at most so many earlier variables, the set with the best score, and
        situations with the same answers to these start as one stage. Default: no limit.""",
        type=int,
    )
    initial: Start | None = _setting(
        None,
        """Where learning starts: "full" (each situation is its own stage), "indep" (one stage
        in each hyperstage), or stages given by hand; situations not named start on their own.
        Default: depends on the method.""",
        choices=get_args(StartRule),
        or_else=True,
    )
    frozen: Grouping | None = _setting(
        None, "Stages to keep as they are; the other situations are learnt."
    )
    unobserved: Unobserved = _setting(
        "predictive",
        """What situations that nobody reached have: "predictive" (in each hyperstage a stage
        with the predictive distribution of one more situation, which is as uncertain as the
        others differ), "nearest" (the stage of the situation somebody reached that differs in
        the fewest answers) or "own" (a stage with their prior). In Python also the paths of
        situations whose stages they join, one in each hyperstage.""",
        choices=get_args(UnobservedRule),
    )
    distance: str | None = _setting(
        None,
        """Distance between the probabilities of two stages, for bj ("kullback", "totvar",
        "hellinger", "manhattan", "euclidean", "reny", "bhatt", "chandarw") and hclust
        ("totvar", "hellinger", "euclidean", "manhattan"). Default: the first of each.""",
    )
    threshold: float | None = _setting(
        None, "Distance below which bj joins two stages. Default: 0.1.", type=float
    )
    n_stages: int | None = _setting(
        None,
        """Number of stages in each hyperstage, for hclust and kmeans. Default: the number with
        the best score.""",
        type=int,
    )
    seed: int = _setting(
        1,
        "Seed of the random numbers for kmeans and for the expected number of spurious stages.",
        type=int,
    )

    def __post_init__(self) -> None:
        """Check what does not depend on the tree."""
        method = self.method
        check_choice("method", method, get_args(Method), StagingError)
        check_choice(
            "structure_prior", self.structure_prior, get_args(StructurePrior), StagingError
        )
        if self.score is not None:
            check_choice("score", self.score, get_args(ScoreName), StagingError)
        check_seed(self.seed, StagingError)
        check_word_or_file(
            "initial",
            self.initial,
            get_args(StartRule),
            StagingError,
            "give stages: a mapping, a list, a frame, a file, a SELECT or a staged tree",
        )
        if self.score is not None and method == "bj":
            raise StagingError(
                "method 'bj' has no score",
                hint="it joins stages by their distance: give distance and threshold",
            )
        if method in ("exact", "ordinal") and not (
            self.initial is None or is_one_of(self.initial, ("full",))
        ):
            raise StagingError(
                f"method {method!r} takes no initial stages",
                hint="it finds the optimum from anywhere; leave initial out, or freeze stages",
            )
        if isinstance(self.unobserved, str) or not isinstance(self.unobserved, (list, tuple)):
            check_choice("unobserved", self.unobserved, get_args(UnobservedRule), StagingError)
        if self.max_parents is not None:
            self._check_max_parents()
        if self.structure_prior != "flat" and method not in _STRUCTURE_PRIOR_METHODS:
            raise StagingError(
                f"method {method!r} has no structure prior",
                hint=f"use method {joined(_STRUCTURE_PRIOR_METHODS, 'or')}, or "
                "structure_prior='flat'",
            )
        if self.criterion is not None:
            check_choice("criterion", self.criterion, get_args(Criterion), StagingError)
        if self.settled_criterion == "test":
            self._only_for("criterion", *_CRITERION_METHODS, value="'test'")
            if self.structure_prior != "flat":
                raise StagingError(
                    "criterion 'test' has no structure prior",
                    hint="tests decide how many stages there are; leave structure_prior out, "
                    "or give criterion='score'",
                )
        if self.significance is not None:
            if self.settled_criterion != "test":
                raise StagingError(
                    f"criterion {self.settled_criterion!r} has no significance",
                    hint="give criterion='test', or leave significance out",
                )
            if not is_number(self.significance) or not 0 < self.significance < 1:
                raise StagingError(
                    "significance must be a number above 0 and below 1, not "
                    f"{self.significance!r}"
                )
        if self.threshold is not None:
            self._only_for("threshold", "bj")
            if not is_number(self.threshold) or not self.threshold > 0:
                raise StagingError(
                    f"threshold must be a distance above 0, up to 1e100, not {self.threshold!r}"
                )
        if self.distance is not None:
            self._only_for("distance", *DISTANCES)
            check_choice("distance", self.distance, DISTANCES[method], StagingError)
        if self.n_stages is not None:
            self._only_for("n_stages", "hclust", "kmeans")
            if not is_whole(self.n_stages) or self.n_stages < 1:
                raise StagingError(
                    f"n_stages must be a whole number of 1 or more, not {self.n_stages!r}"
                )

    def _check_max_parents(self) -> None:
        if not is_whole(self.max_parents) or self.max_parents < 0:
            raise StagingError(
                f"max_parents must be a whole number of 0 or more, not {self.max_parents!r}",
                hint="3 is enough for most surveys",
            )
        is_full = self.initial is None or is_one_of(self.initial, ("full",))
        given = "frozen" if self.frozen is not None else None if is_full else "initial"
        if given is not None:
            raise StagingError(
                f"max_parents and {given} stages cannot be given together",
                hint="max_parents chooses the situations that start as one stage; leave "
                f"{given} out, or leave max_parents out",
            )

    def _only_for(self, setting: str, *methods: str, value: str = "") -> None:
        if self.method not in methods:
            raise StagingError(
                f"method {self.method!r} has no {f'{setting} {value}'.strip()}",
                hint=f"{setting} is for method {' and '.join(map(repr, methods))}",
            )

    @property
    def settled_criterion(self) -> Criterion:
        """What decides how many stages there are, the method's own if none was given.

        Tests do, where the method is one that they are for, and no prior of stagings or other
        score is given.
        """
        if self.criterion is not None:
            return self.criterion
        is_tested = self.method in _CRITERION_METHODS and self.structure_prior == "flat"
        is_default = self.score in (None, "log_marginal_likelihood")
        return "test" if is_tested and is_default else "score"

    @property
    def settled_score(self) -> ScoreName:
        """The score, the method's own if none was given."""
        if self.score is not None:
            return self.score
        return "log_marginal_likelihood" if self.method in _MARGINAL_METHODS else "bic"


class AlphaPathSettings(_SettingsButAlpha, total=False):
    """Settings of `LearnOptions` and `StageOptions`, without alpha."""

    method: Method
    score: ScoreName | None
    structure_prior: StructurePrior
    criterion: Criterion | None
    significance: float | None
    max_parents: int | None
    initial: Start | StagedTree | None
    frozen: Grouping | StagedTree | None
    unobserved: Unobserved
    distance: str | None
    threshold: float | None
    n_stages: int | None
    seed: int


class LearnSettings(AlphaPathSettings, total=False):
    """Settings of `LearnOptions`, `StageOptions` and `LikeOptions`."""

    alpha: float | None
    like: Like | None


_AHC: Final[Mapping[str, object]] = {
    "method": "ahc",
    "score": "log_marginal_likelihood",
    "criterion": "score",
    "structure_prior": "flat",
    "prior": "mass",
    "unobserved": "own",
}
TREES_LIKE: Final[Mapping[Like, Mapping[str, object]]] = {
    "paper": {"sampling_zeros": "none", "blank": "structural"},
    "cegpy": {"sampling_zeros": "none", "blank": "structural"},
    "ceg": {"sampling_zeros": "full"},
    "stagedtrees": {"sampling_zeros": "full"},
}
"""The settings of trees in the literature."""
STAGES_LIKE: Final[Mapping[Like, Mapping[str, object]]] = {
    "paper": {**_AHC, "hyperstages": "paper", "single_edges": "apart"},
    "cegpy": {**_AHC, "hyperstages": "labels", "single_edges": "together"},
    "ceg": {**_AHC, "hyperstages": "variable", "alpha": 1.0},
    "stagedtrees": {
        "method": "bhc",
        "criterion": "score",
        "structure_prior": "flat",
        "prior": "mass",
        "unobserved": "own",
        "hyperstages": "variable",
        "smoothing": 0.0,
    },
}
"""The settings of stages in the literature."""


def like_settings(
    settings: Mapping[str, object], of: Mapping[Like, Mapping[str, object]]
) -> tuple[dict[str, object], Like | None]:
    """Return settings with those of the literature where ``like`` says so, and its word.

    Examples
    --------
    >>> like_settings({"like": "ceg", "blank": "missing"}, TREES_LIKE)
    ({'sampling_zeros': 'full', 'blank': 'missing'}, 'ceg')
    """
    given = dict(settings)
    like = LikeOptions(given.pop("like", None)).like  # type: ignore[arg-type]
    return (given, None) if like is None else ({**of[like], **given}, like)


@dataclass(frozen=True)
class OrderOptions:
    """Which orders of variables are searched, and what makes one the best."""

    variables: Sequence[str] | None = _setting(
        None, "Variables to order, 2 to 60. Default: all of the survey."
    )
    tiers: Sequence[Sequence[str]] | None = _setting(
        None,
        """Groups of variables: all of one group come before any of the next. Variables in no
        group may stand anywhere.""",
        flag="--tier",
    )
    before: Sequence[Sequence[str]] = _setting(
        (), "Pairs of variables: the first comes before the second."
    )
    method: Method | None = _setting(
        None,
        f"""How stages are learnt, by a method of learn_stages ({_METHOD_NAMES}). Default:
        exact where up to {EXACT_SITUATIONS} situations may share stages, else ahc.""",
        choices=_ORDER_METHODS,
    )
    score: ScoreName | None = _setting(
        None,
        """What is optimised. Default: log_marginal_likelihood for ahc and auto, bic for the
        other methods; for bj, which has no score, BIC compares the orders.""",
        choices=get_args(ScoreName),
    )
    alpha: float | None = _setting(
        None,
        """Prior mass of the root (equivalent sample size). Default: the largest number of
        levels of a variable.""",
        type=float,
    )
    search: Search = _setting(
        "auto",
        """How to search: "exact" (the best of all orders), "greedy" (a good one) or "auto"
        (exact, unless more than 250,000 situations would have to be staged).""",
        choices=get_args(Search),
    )
    blank: Blank = _setting(
        "auto",
        f"""What an empty cell means: "structural" (the question does not apply), "missing" (it
        applies, but the answer is not known) or "auto" (structural where at least
        {GATE_MIN_ROWS} rows share an answer to an earlier variable of the survey and all of
        them are empty).""",
        choices=get_args(Blank),
    )
    weighting: WeightChoice = _same(StageOptions, "weighting")
    deff: Deff | None = _same(StageOptions, "deff")

    def __post_init__(self) -> None:
        """Check what does not depend on the survey."""
        check_alpha(self.alpha)
        if self.method is not None:
            check_choice("method", self.method, _ORDER_METHODS, StagingError)
        self.learning  # noqa: B018  (checks score)
        check_choice("search", self.search, get_args(Search), StagingError)
        check_choice("blank", self.blank, get_args(Blank), StagingError)
        check_choice("weighting", self.weighting, get_args(WeightChoice), StagingError)

    @property
    def learning(self) -> LearnOptions:
        """How stages are learnt that are not found by looking at all of them."""
        return LearnOptions(method=self.method or "ahc", score=self.score, criterion="score")


class OrderSettings(TypedDict, total=False):
    """Settings of `OrderOptions`, but for the variables, which are named first."""

    tiers: Sequence[Sequence[str]] | None
    before: Sequence[Sequence[str]]
    method: Method | None
    score: ScoreName | None
    alpha: float | None
    search: Search
    blank: Blank
    weighting: WeightChoice
    deff: Deff | None


@dataclass(frozen=True)
class ExploreOptions:
    """Which variables of a wide survey are screened for an outcome, and how many are chosen."""

    outcome: str | None = _setting(
        None, "Variable to explain: the others are screened for it, and it comes last."
    )
    max_variables: int = _setting(
        5,
        f"""At most so many variables before the outcome, 1 to {MOST_EXPLORED}. Five questions
        of four answers already make a thousand situations, most of which few rows reach.""",
        type=int,
    )
    tiers: Sequence[Sequence[str]] | None = _setting(
        None,
        """Groups of variables: all of one group come before any of the next. Variables in no
        group may stand anywhere before the outcome; those in a group after its own are left
        out.""",
        flag="--tier",
    )
    exclude: Sequence[str] | None = _setting(None, "Variables to leave out.")
    blank: Blank = _same(OrderOptions, "blank")
    missing_policy: MissingPolicy = _setting(
        "prefix",
        """How a missing answer counts: "prefix" and "complete" compare the rows with an answer
        to the variable, to those chosen before it and to the outcome; with "category" missing
        is treated as an answer.""",
        choices=get_args(MissingPolicy),
    )
    weighting: WeightChoice = _same(StageOptions, "weighting")
    deff: Deff | None = _same(StageOptions, "deff")

    def __post_init__(self) -> None:
        """Check what does not depend on the survey."""
        most = self.max_variables
        if not is_whole(most) or not 1 <= most <= MOST_EXPLORED:
            raise TreeError(
                f"max_variables must be a whole number from 1 to {MOST_EXPLORED}, not {most!r}"
            )
        check_choice("blank", self.blank, get_args(Blank), TreeError)
        check_choice("missing_policy", self.missing_policy, get_args(MissingPolicy), TreeError)
        check_choice("weighting", self.weighting, get_args(WeightChoice), StagingError)


class ExploreSettings(TypedDict, total=False):
    """Settings of `ExploreOptions`, but for the outcome, which is named first."""

    max_variables: int
    tiers: Sequence[Sequence[str]] | None
    exclude: Sequence[str] | None
    blank: Blank
    missing_policy: MissingPolicy
    weighting: WeightChoice
    deff: Deff | None


@dataclass(frozen=True)
class CegOptions:
    """How a CEG is made of a staged tree."""

    stop: Stop = _setting(
        "early",
        """Where merging positions stops: "early" (once nothing can merge any more) or
        "baseline" (at the root). The CEG is the same.""",
        choices=get_args(Stop),
    )


class CegSettings(TypedDict, total=False):
    """Settings of `CegOptions`."""

    stop: Stop


@dataclass(frozen=True)
class RowOptions:
    """How rows that are queried are counted and understood."""

    count: str | None = _setting(
        None, "Column that says how many respondents a row stands for."
    )
    weight: str | None = _setting(None, "Column of survey weights.")
    blank: BlankCells = _setting(
        "tree",
        """What an empty cell means: "tree" (as in the event tree: not answered, unless empty
        cells are structural or missing answers a category there) or "unknown" (not
        answered). Behind a closed gate it does not apply.""",
        choices=get_args(BlankCells),
    )


class RowSettings(ReadSettings, total=False):
    """Settings of `RowOptions` and `ReadOptions` for rows that are not counted."""

    blank: BlankCells


class WeightedRowSettings(RowSettings, total=False):
    """Settings of `RowOptions` and `ReadOptions`."""

    count: str | None
    weight: str | None


@dataclass(frozen=True)
class QueryOptions:
    """How much some queries return."""

    k: int = _setting(1, "Number of paths, the most probable first.", type=int, flag="-k")
    bins: int | None = _setting(10, "Number of bins of equal width.", type=int)


@dataclass(frozen=True)
class AnswerOptions:
    """The intervals of probabilities."""

    interval: float | None = _setting(
        0.95,
        """Level of the intervals; none to leave them out. By default they do not take the
        stages as known: they are those of the shares that the rows themselves have, without
        the rows of other situations, and hold the probability.""",
        type=float,
    )
    given_staging: bool = _setting(
        default=False,
        text="""Take the stages as known: narrower, and too narrow if they were learnt from the
        same rows.""",
        type=bool,
    )

    def __post_init__(self) -> None:
        """Check the level."""
        if self.interval is not None:
            if isinstance(self.interval, str):
                raise QueryError(
                    f"interval is the level of the intervals, not {self.interval!r}",
                    hint="ask for the label of a variable of this name in a mapping: "
                    f"probability({{'interval': {self.interval!r}}})",
                )
            check_level(self.interval, QueryError, "interval")
        elif self.given_staging:
            raise QueryError(
                "given_staging says how intervals are made, but interval is None",
                hint="leave given_staging out, or give the level of the intervals",
            )


class AnswerSettings(TypedDict, total=False):
    """Settings of `AnswerOptions`."""

    interval: float | None
    given_staging: bool


@dataclass(frozen=True)
class EffectOptions:
    """How the effect of a treatment is estimated."""

    absent: Absent = _setting(
        "error",
        """Positions without one of the labels: "error" (refuse) or "leave" (do not intervene
        there).""",
        choices=get_args(Absent),
    )
    least: float = _setting(
        0.05,
        "Positivity: warn of positions where a label is less probable than this.",
        type=float,
    )
    level: float = _setting(0.95, "Level of the intervals.", type=float)
    given_staging: bool = _same(AnswerOptions, "given_staging")
    draws: int = _setting(
        1000,
        "Number of random draws for intervals given the staging; 0 for no such intervals.",
        type=int,
    )
    seed: int = _setting(1, "Seed of the random numbers.", type=int)

    def __post_init__(self) -> None:
        """Check the settings; a seed of None draws one."""
        check_choice("absent", self.absent, get_args(Absent), QueryError)
        check_level(self.level, QueryError)
        if not is_whole(self.draws) or not 0 <= self.draws <= _MOST_DRAWS:
            raise QueryError(
                f"draws must be a whole number from 0 to {_MOST_DRAWS:,}, not {self.draws!r}",
                hint="with 0 draws there are no intervals",
            )


class EffectSettings(TypedDict, total=False):
    """Settings of `EffectOptions`."""

    absent: Absent
    least: float
    level: float
    given_staging: bool
    draws: int
    seed: int


@dataclass(frozen=True)
class StabilityOptions:
    """How stages are learnt again on resampled rows."""

    bootstrap: BootstrapKind = _setting(
        "nonparametric",
        """Kind of bootstrap: "nonparametric" (rows are drawn with replacement: what another
        sample might give) or "parametric" (rows are simulated from the stages: how often they
        would be found if they were true).""",
        choices=get_args(BootstrapKind),
    )
    runs: int = _setting(100, "Number of runs; each costs as much as the learning.", type=int)
    seed: int = _same(EffectOptions, "seed")

    def __post_init__(self) -> None:
        """Check the settings."""
        check_choice("bootstrap", self.bootstrap, get_args(BootstrapKind), StagingError)
        _check_runs(self.runs)
        check_seed(self.seed, StagingError)


class StabilitySettings(TypedDict, total=False):
    """Settings of `StabilityOptions`, but for the kind, which is named first."""

    runs: int
    seed: int


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals of the probabilities of a staging are found."""

    method: IntervalMethod = _setting(
        "robust",
        """Kind of interval. "robust" holds whether or not the situations of a stage are alike:
        it is one of the mean of their true probabilities, weighted by their people. Given the
        staging, and so too narrow if it was learnt from the same rows: "credible" (Beta),
        "wilson" (each share alone) or "goodman" (all shares of a stage at once). Learning the
        stages again on resampled rows: "bootstrap".""",
        choices=get_args(IntervalMethod),
    )
    level: float = _same(EffectOptions, "level")
    runs: int = _setting(200, "Number of bootstrap runs.", type=int)
    seed: int = _same(EffectOptions, "seed")

    def __post_init__(self) -> None:
        """Check the settings; only the bootstrap has runs."""
        check_choice("method", self.method, get_args(IntervalMethod), StagingError)
        check_level(self.level, StagingError)
        if self.method == "bootstrap":
            _check_runs(self.runs)
            check_seed(self.seed, StagingError)


class IntervalSettings(TypedDict, total=False):
    """Settings of `IntervalOptions`, but for the method, which is named first."""

    level: float
    runs: int
    seed: int


@dataclass(frozen=True)
class PosteriorOptions:
    """How the posterior of all stagings is found."""

    structure_prior: StructurePrior | None = _setting(
        None,
        """Prior of the stagings: "flat" (all stagings of a hyperstage are equally probable) or
        "size" (every number of stages is equally probable, and so is every staging with the
        same number). Default: that of the learning.""",
        choices=get_args(StructurePrior),
    )
    level: float = _same(EffectOptions, "level")
    samples: int | None = _setting(
        None,
        """Draws that each of 4 chains keeps for a hyperstage of more than 14 situations.
        Default: 1,000 for up to 40 situations, fewer for more (40 for 1,000).""",
        type=int,
    )
    seed: int = _same(EffectOptions, "seed")

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.structure_prior is not None:
            check_choice(
                "structure_prior", self.structure_prior, get_args(StructurePrior), StagingError
            )
        check_level(self.level, StagingError)
        if self.samples is not None and (
            not is_whole(self.samples) or not _LEAST_SAMPLES <= self.samples <= _MOST_RUNS
        ):
            raise StagingError(
                f"samples must be a whole number from {_LEAST_SAMPLES} to {_MOST_RUNS:,}, not "
                f"{self.samples!r}"
            )
        check_seed(self.seed, StagingError)


class PosteriorSettings(TypedDict, total=False):
    """Settings of `PosteriorOptions`."""

    structure_prior: StructurePrior | None
    level: float
    samples: int | None
    seed: int


@dataclass(frozen=True)
class PictureOptions:
    """How a graph is drawn."""

    edge_info: EdgeInfo = _setting(
        "probability",
        """Number on the edges: "probability" (of an event tree the count), "count", "none", or
        of a CEG "prior" or "posterior".""",
        choices=get_args(EdgeInfo),
    )
    font_size: float = _setting(9, "Size of the labels in points.", type=float)
    width_mm: float | None = _setting(
        None,
        """Width in millimetres. Default: what the graph needs. A graph that needs more is
        scaled down, and its caption says so.""",
        type=float,
        flag="--width",
    )
    collapse_below: int | None = _setting(
        None,
        "Collapse what fewer people than this reach into boxes that say what they hide.",
        type=int,
    )
    top_variables: int | None = _setting(
        None, "Draw this many variables, and collapse what follows them.", type=int
    )


class PictureSettings(TypedDict, total=False):
    """Settings of `PictureOptions`."""

    edge_info: EdgeInfo
    font_size: float
    width_mm: float | None
    collapse_below: int | None
    top_variables: int | None


@dataclass(frozen=True)
class PlotOptions:
    """How plots are drawn."""

    width_mm: float = _setting(170, "Width in millimetres.", type=float, flag="--width")


@dataclass(frozen=True)
class ReportOptions:
    """How a report in words is written."""

    form: ReportForm = _setting(
        "plain",
        """For whom the text is: "plain" (everybody), "paper" (readers of a scientific paper)
        or "analyst" (analysts).""",
        choices=get_args(ReportForm),
    )
    unit: str = _setting("people", "What the survey counts, in the plural, such as residents.")
    limit: int | None = _setting(
        None, "Most groups to describe per question, the largest first.", type=int
    )


@dataclass(frozen=True)
class RebuildOptions:
    """How stale objects are rebuilt."""

    stages: RebuildRule = _setting(
        "keep",
        """What becomes of stages: "keep" (situations stay in their stages, which get new
        probabilities) or "relearn" (learnt stages are learnt again).""",
        choices=get_args(RebuildRule),
    )
