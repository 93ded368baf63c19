"""Findings: what a reader should know before the numbers of an object.

Each is stored with the object it was found in, and shown wherever that object, or one made from
it, is shown; see the view ``cegdb.findings``, which adds what changes with time (``stale``). A
new kind needs an entry in `KINDS`, and a function here with its sentence.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from cegdb.errors import agreeing, counted, listed
from cegdb.store import schema
from cegdb.store.catalog import KIND_WORDS, insert_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cegdb.options import Kind
    from cegdb.sqlfiles import Steps

FEW: Final = 30
"""Numbers based on fewer respondents are marked as uncertain."""
TURNS, UNCERTAIN, DETAIL = 1, 2, 3
"""Consequences: it may turn a conclusion around, makes numbers uncertain, is worth a look."""
TIE: Final = 1e-6
"""Log probabilities that differ by less are equal."""
_MANY_SPURIOUS: Final = 0.5
_MUCH_MISSING: Final = 0.05
_FEW_HISTORIES: Final = 50
_MOST_NAMED: Final = 5
_MOST_REVERSALS: Final = 5
_MOST_VARIABLES: Final = 5
_REVERSAL_LEVEL: Final = 0.01
_CLEAR: Final = 2.0
_MOST_COMPARED: Final = 500_000
_MOST_LEVELS: Final = 20


class _Kind(NamedTuple):
    """What findings of a kind have in common.

    ``plain`` is for non-technical readers, empty where their report says so anyway.
    """

    consequence: int
    title: str
    advice: str
    plain: str = ""


KINDS: Final[Mapping[str, _Kind]] = {
    "stale": _Kind(
        TURNS,
        "a survey that has changed since",
        "rebuild it: db.rebuild(), cegdb rebuild DB",
        "The data have changed since this was calculated.",
    ),
    "read_twice": _Kind(
        TURNS,
        "rows that count twice",
        "to replace rows, use refresh; else read the survey again",
        "Some rows were counted twice.",
    ),
    "reversal": _Kind(
        TURNS,
        "an association that turns within groups",
        "report it within the groups, unless they are a consequence",
        "A difference between people turns around within groups of them",
    ),
    "presumed_zero": _Kind(
        TURNS,
        "answers presumed impossible because nobody gave them",
        "if it is, declare it so (impossible=, or a gate); else use sampling_zeros='floret'",
        "An answer that nobody gave in some group, though others often give it, is left out "
        "there.",
    ),
    "absent_answer": _Kind(
        TURNS,
        "answers without an edge because nobody gave them",
        "if they are possible there, build the tree with sampling_zeros='auto'",
        "Answers that nobody gave in some group are treated as impossible there.",
    ),
    "spurious_stages": _Kind(
        TURNS,
        "stages that may be due to chance",
        "compare with stages learnt by the default criterion and prior",
        "Some of the groups may differ by chance only.",
    ),
    "better_staging": _Kind(
        TURNS,
        "a better staging is known",
        "look at the situations that share a stage in most stagings: staged.posterior()",
        "Another division into groups is known that the data make more probable.",
    ),
    "chosen_variables": _Kind(
        UNCERTAIN,
        "variables chosen from many by the same rows",
        "check them on rows that did not choose them",
        "The questions were chosen from many because their answers go together with the last "
        "one, so differences look larger than they are.",
    ),
    "unused_column": _Kind(
        UNCERTAIN,
        "a column that may be a count or weight",
        "if it is one, name it when ingesting",
        "A column of the data may be a weight or count that was not used.",
    ),
    "clusters": _Kind(
        UNCERTAIN,
        "clusters without strata",
        "if it was stratified, its intervals are wider than need be",
        "The people were chosen in clusters, and the uncertainty given may be too large.",
    ),
    "gate": _Kind(
        UNCERTAIN,
        "rows that contradict a gate",
        "many such rows mean that its condition is wrong, a few that the data are",
        "Some answers contradict the rules about who was asked what.",
    ),
    "missing_answers": _Kind(
        UNCERTAIN,
        "missing answers",
        "if they are many, put that variable late, or choose another missing_policy",
    ),
    "skipped_path": _Kind(
        UNCERTAIN,
        "paths left out",
        "look whether a spelling changed; if so, recode it",
        "Some of what was given by hand no longer fits the data.",
    ),
    "rare_histories": _Kind(
        UNCERTAIN,
        "histories seen once or twice",
        "learn from fewer earlier answers (max_parents=3, --max-parents 3)",
        "Most combinations of answers were given by only one or two people.",
    ),
    "prior_driven": _Kind(
        UNCERTAIN,
        "stages whose prior counts more than their rows",
        "take a smaller alpha, or do not report them",
        "Some numbers are based more on an assumption than on answers.",
    ),
    "thin_stages": _Kind(
        UNCERTAIN,
        "stages of few respondents",
        "report their intervals, not the numbers alone",
    ),
    "unreached": _Kind(
        UNCERTAIN,
        "situations where nobody answered",
        "do not report them; if they are impossible, declare them so (impossible=)",
    ),
    "unexpanded": _Kind(
        UNCERTAIN,
        "questions that are not asked after answers that nobody gave",
        "leave variables out, put those with many answers last, or learn stages with "
        "max_parents=3",
        "Of some combinations of answers that nobody gave, nothing is said about later "
        "questions.",
    ),
    "small_prior": _Kind(
        UNCERTAIN,
        "a very small prior",
        "give a larger alpha, or prior='stage'",
        "Some groups may have been joined too easily.",
    ),
    "note": _Kind(UNCERTAIN, "a note of an earlier version", "make it again to know more"),
    "thin_situations": _Kind(
        DETAIL,
        "situations of few respondents",
        "learn stages, which pool them, and report intervals",
    ),
    "labels": _Kind(
        DETAIL, "answers to look at", "if they are wrong, mend them in a codebook (recode)"
    ),
    "levels": _Kind(
        DETAIL,
        "a variable with too many answers, or none",
        "join them with recode, cut numbers with bins, or leave it out",
    ),
    "columns": _Kind(
        DETAIL, "columns that are not as expected", "if it is not meant, correct the spelling"
    ),
    "same_file": _Kind(
        DETAIL, "a file read before", "if that was not meant, drop one of the two"
    ),
    "wave": _Kind(
        DETAIL,
        "answers or columns that came or went",
        "look whether a spelling changed; if so, recode it",
    ),
}
"""The kinds of findings, the most consequential first."""


class Finding(NamedTuple):
    """What was found: ``n`` are the respondents it concerns, None if it is not about them.

    Without ``advice`` that of its kind holds.
    """

    kind: str
    sentence: str
    advice: str | None = None
    n: int | None = None
    variable: str | None = None
    consequence: int | None = None

    @property
    def what_to_do(self) -> str:
        """The advice."""
        return KINDS[self.kind].advice if self.advice is None else self.advice

    @property
    def text(self) -> str:
        """The sentence and the advice."""
        return joined_text(self.sentence, self.what_to_do)


class StoredFinding(NamedTuple):
    """A row of the view ``findings``, without the object that it is shown for."""

    finding: str
    consequence: int
    variable: str | None
    sentence: str
    n: int | None
    advice: str | None
    from_kind: Kind
    from_name: str

    @property
    def text(self) -> str:
        """The sentence and the advice."""
        return joined_text(self.sentence, self.advice)


def joined_text(sentence: str, advice: str | None) -> str:
    """Return a sentence with what to do.

    Examples
    --------
    >>> joined_text("'x' has the answer '-'", "if nobody answered, declare it missing")
    "'x' has the answer '-': if nobody answered, declare it missing"
    >>> joined_text("2 stages are small", "report intervals")
    '2 stages are small; report intervals'
    """
    if not advice:
        return sentence
    is_part = advice.startswith(("if ", "to ")) and ":" not in sentence
    return f"{sentence}{': ' if is_part else '; '}{advice}"


# -----------------------------------------------------------------------------
# Storing and reading
# -----------------------------------------------------------------------------

_KEYS: Final[Mapping[str, str]] = {
    "survey": "survey_id",
    "tree": "tree_id",
    "staging": "staging_id",
}


def record(
    catalog: sa.Connection,
    kind: Literal["survey", "tree", "staging"],
    object_id: int,
    found: Iterable[Finding],
    *,
    kept: Sequence[str] = (),
) -> None:
    """Store what was found in an object, instead of former findings, but for ``kept`` kinds."""
    table, key = schema.finding, _KEYS[kind]
    of_object = table.c[key] == object_id
    catalog.execute(sa.delete(table).where(of_object).where(table.c.finding.not_in(list(kept))))
    order = list(KINDS)
    rows = sorted(found, key=lambda one: order.index(one.kind))
    insert_rows(
        catalog,
        table,
        [
            {
                **dict.fromkeys(_KEYS.values()),
                key: object_id,
                "ordinal": ordinal,
                "finding": one.kind,
                "consequence": one.consequence or KINDS[one.kind].consequence,
                "variable": one.variable,
                "sentence": one.sentence,
                "n": one.n,
                "advice": one.what_to_do,
            }
            for ordinal, one in enumerate(rows, 1)
        ],
    )


def findings_of(catalog: sa.Connection, kind: Kind, name: str) -> list[StoredFinding]:
    """Return the findings of an object and of those it was made from, in their order."""
    rows = catalog.exec_driver_sql(
        "select finding, consequence, variable, sentence, n, advice, from_kind, from_name "
        "from cegdb.findings where kind = $1 and name = $2 order by place",
        (kind, name),
    )
    return [StoredFinding(*row) for row in rows]


def findings_by_name(catalog: sa.Connection, kind: Kind) -> dict[str, list[StoredFinding]]:
    """Return the findings of all objects of a kind that have any, as `findings_of` does."""
    rows = catalog.exec_driver_sql(
        "select name, finding, consequence, variable, sentence, n, advice, from_kind, "
        "from_name from cegdb.findings where kind = $1 order by name, place",
        (kind,),
    )
    found: dict[str, list[StoredFinding]] = {}
    for name, *row in rows:
        found.setdefault(str(name), []).append(StoredFinding(*row))
    return found


def titles(found: Iterable[StoredFinding], *, most: int | None = None) -> list[str]:
    """Return the kinds of findings in words, which reveal no counts; details are left out."""
    kinds = dict.fromkeys(one.finding for one in found if one.consequence < DETAIL)
    return [KINDS[kind].title for kind in list(kinds)[:most]]


def texts(
    found: Iterable[StoredFinding], kind: Kind, *, is_hidden: bool, has_details: bool = False
) -> list[str]:
    """Return findings as sentences; where small counts are hidden, only their kinds."""
    shown = [one for one in found if has_details or one.consequence < DETAIL]
    if is_hidden:
        return titles(shown)
    return [
        one.text if one.from_kind == kind else f"{KIND_WORDS[one.from_kind]}: {one.text}"
        for one in shown
    ]


def plain_texts(found: Iterable[StoredFinding], *, is_hidden: bool) -> list[str]:
    """Return findings for non-technical readers."""
    sentences: dict[str, None] = {}
    for one in found:
        text = KINDS[one.finding].plain
        if one.finding == "reversal":
            text += "." if is_hidden else f": {one.sentence}."
        if text:
            sentences[text] = None
    return list(sentences)


# -----------------------------------------------------------------------------
# Event trees
# -----------------------------------------------------------------------------


def unanswered(names: Sequence[str]) -> list[Finding]:
    """Return that nobody answered some variables of a tree."""
    if not names:
        return []
    return [
        Finding(
            "missing_answers",
            f"nobody in the survey answered {listed(map(repr, names))}",
            "if nobody was asked, leave it out of order or use blank='structural'",
            0,
        )
    ]


def stopped_rows(n_stopped: int, n_later: int, n: int) -> list[Finding]:
    """Return that many rows of a tree count only up to a missing answer."""
    if n_stopped * 10 <= n:
        return []
    return [
        Finding(
            "missing_answers",
            f"{n_stopped:,} of {counted(n, 'respondent')} ({100 * n_stopped / n:.0f} %) "
            f"{agreeing(n_stopped, 'count')} only up to a missing answer; "
            f"{n_later:,} of them {agreeing(n_later, 'have')} later answers, which are not "
            "used",
            n=n_stopped,
        )
    ]


def missing_answers(name: str, n_missing: int, n: int, *, is_left_out: bool) -> list[Finding]:
    """Return how many rows of a tree have no answer to a variable."""
    if not n_missing:
        return []
    verb = "left out" if is_left_out else "counted up to there"
    return [
        Finding(
            "missing_answers",
            f"{n_missing:,} of {counted(n, 'respondent')} {agreeing(n_missing, 'have')} no "
            f"answer to {name!r} and {agreeing(n_missing, 'are')} {verb}",
            n=n_missing,
            variable=name,
            consequence=UNCERTAIN if n_missing >= _MUCH_MISSING * n else DETAIL,
        )
    ]


def inapplicable_answers(name: str, n: int) -> list[Finding]:
    """Return that missing answers count as not applicable."""
    if not n:
        return []
    return [
        Finding(
            "missing_answers",
            f"{counted(n, 'missing answer')} to {name!r} {agreeing(n, 'count')} as not "
            "applicable, because nobody with the same history answered it",
            "if that is wrong, declare the gate",
            n,
            name,
        )
    ]


def unexpanded(n_histories: Mapping[str, int]) -> list[Finding]:
    """Return where a tree stops asking; ``n_histories`` end without rows, by variable."""
    if not n_histories:
        return []
    n, first = sum(n_histories.values()), next(iter(n_histories))
    return [
        Finding(
            "unexpanded",
            f"after answers that nobody gave, the tree asks no questions from {first!r} on "
            f"({counted(n, 'history')} without respondents {agreeing(n, 'end')} there): it "
            "would have more than twice the situations that somebody reached",
            n=0,
            variable=first,
        )
    ]


class Screening(NamedTuple):
    """How the variables of a tree were chosen: by what they say about an outcome.

    ``n_screened`` variables were looked at among ``n`` respondents; ``n_by_chance`` would at
    most be expected to be chosen if none had to do with the outcome.
    """

    outcome: str
    variables: Sequence[str]
    n_screened: int
    n: int
    n_by_chance: float


def chosen_variables(screening: Screening | None, *, is_new: bool) -> list[Finding]:
    """Return that variables were chosen by the rows of a tree, or by those it had first.

    Examples
    --------
    >>> (found,) = chosen_variables(Screening("ill", ["q7"], 43, 900, 0.1139), is_new=False)
    >>> found.sentence.split(", ")[0]
    "'q7' was chosen from 43 variables by 900 respondents that the survey had then"
    """
    if screening is None:
        return []
    names = listed(map(repr, screening.variables))
    was, it = ("was", "it says") if len(screening.variables) == 1 else ("were", "they say")
    n = counted(screening.n, "respondent")
    rows = f"these {n}" if is_new else f"{n} that the survey had then"
    outcome = repr(screening.outcome)
    return [
        Finding(
            "chosen_variables",
            f"{names} {was} chosen from {counted(screening.n_screened, 'variable')} by {rows}, "
            f"for what {it} about {outcome}; the associations look stronger than they are (if "
            f"no variable had to do with {outcome}, at most {screening.n_by_chance:.2g} would "
            "be expected to be chosen)",
            n=screening.n,
            variable=screening.outcome,
        )
    ]


def skipped_paths(texts: Iterable[str]) -> list[Finding]:
    """Return what was skipped when an object was made again."""
    return [Finding("skipped_path", text) for text in texts]


def presumed_zeros(zeros: Sequence[Mapping[str, Any]], n_all: int) -> list[Finding]:
    """Return answers presumed impossible: ``zeros`` of most respondents, ``n_all`` in all."""
    found = []
    for zero in zeros[:_MOST_NAMED]:
        after = f" after {' -> '.join(zero['path'])}" if zero["path"] else ""
        sentence = (
            f"{zero['variable']}{after}: none of {zero['n']:,} answered {zero['label']!r} (at "
            f"most {at_most(zero['n'])}), too common elsewhere for chance to explain that; it "
            "is presumed impossible there"
        )
        found.append(Finding("presumed_zero", sentence, n=zero["n"], variable=zero["variable"]))
    n_more = n_all - _MOST_NAMED
    if n_more > 0:
        more = f"{counted(n_more, 'more answer')} {agreeing(n_more, 'are')} presumed impossible"
        found.append(Finding("presumed_zero", f"{more} (see presumed_zeros)"))
    return found


def at_most(n: int) -> str:
    """Return the largest share of an answer that none of n people gave, at 95 %.

    Examples
    --------
    >>> at_most(15), at_most(885), at_most(1_566)
    ('19 %', '0.4 %', '0.2 %')
    """
    share = 100 * (1 - 0.05 ** (1 / n))
    digits = max(0, math.ceil(-math.log10(share)))
    return f"{math.ceil(share * 10**digits) / 10**digits:g} %"


def thin_situations(steps: Steps, tree_id: int) -> list[Finding]:
    """Return how many situations of a tree have few respondents."""
    ((n_thin, n_reached, n_rows),) = steps.fetch("thin_situation", tree_id=tree_id, few=FEW)
    if not n_thin:
        return []
    return [
        Finding(
            "thin_situations",
            f"{n_thin:,} of {counted(n_reached, 'situation')} {agreeing(n_thin, 'have')} fewer "
            f"than {FEW} respondents, so the shares there are rough",
            n=n_rows,
        )
    ]


def reversals(
    steps: Steps, tree_id: int, survey_id: int, order: Sequence[str]
) -> list[Finding]:
    """Return associations with the last answer that turn within groups of a third variable.

    Two levels of an earlier variable are compared, for each answer to the last question,
    among those who answered a third variable, too. The difference turns if that of all and
    that within groups (Cochran, Mantel and Haenszel) have opposite signs, both too large for
    chance at the 1 % level divided by the number of comparisons, and if no group has a
    difference of two standard errors in the direction of all. Variables of more than 20 levels
    and trees that would take long are left out.
    """
    if len(order) < 3:
        return []
    few = {"tree_id": tree_id, "most_levels": _MOST_LEVELS}
    for outcome_id, n_situations in steps.fetch(
        "reversal_work", survey_id=survey_id, outcome=order[-1], **few
    ):
        if n_situations * (len(order) - 1) ** 2 <= _MOST_COMPARED:
            steps.run("outcome_answer", outcome_id=outcome_id, **few)
            steps.run("compared_share", tree_id=tree_id)
            return _turned(steps)
    return []


def _turned(steps: Steps) -> list[Finding]:
    """Return the comparisons in ``compared_share`` whose direction turns."""
    ((n_compared,),) = steps.fetch("comparison_count")
    if not n_compared:
        return []
    least = NormalDist().inv_cdf(1 - _REVERSAL_LEVEL / 2 / n_compared)
    found = steps.fetch("reversal", least=least, clear=_CLEAR)
    sentences = [_reversal(row) for row in found[:_MOST_REVERSALS]]
    n_more = len(found) - _MOST_REVERSALS
    if n_more > 0:
        verb = agreeing(n_more, "turn")
        sentences.append(
            Finding("reversal", f"{counted(n_more, 'more association')} {verb} within groups")
        )
    return sentences


def _reversal(row: Sequence[Any]) -> Finding:
    outcome, answer, variable, first, second, by, n, share, other, inside = row
    more, within = ("more", "less") if share > other else ("less", "more")
    groups = "; ".join(
        f"{one['label']!r}: {share_text(one['first'], one['second'])}"
        for one in inside[:_MOST_NAMED]
    )
    n_more = len(inside) - _MOST_NAMED
    return Finding(
        "reversal",
        f"{outcome} = {answer!r} is {more} frequent where {variable} is {first!r} than where "
        f"it is {second!r} ({share_text(share, other)}), but {within} frequent within the "
        f"groups of {by} ({groups}{f'; and {n_more:,} more' if n_more > 0 else ''})",
        n=n,
        variable=variable,
    )


def share_text(share: float, other: float) -> str:
    """Return two shares with as many digits as tell them apart.

    Examples
    --------
    >>> share_text(0.5, 0.25), share_text(0.5, 0.4996)
    ('0.50 against 0.25', '0.5000 against 0.4996')
    """
    gap = abs(share - other)
    digits = 2 if gap >= 0.01 or not gap else min(6, math.ceil(-math.log10(gap)))
    return f"{share:.{digits}f} against {other:.{digits}f}"


# -----------------------------------------------------------------------------
# Stagings
# -----------------------------------------------------------------------------


def uneven_labels(
    label_sets: Mapping[str, Sequence[tuple[set[str], int, int]]],
) -> list[Finding]:
    """Return the variables whose florets do not all have the same labels.

    ``label_sets`` has the labels and the numbers of situations and respondents of each
    hyperstage. Those with most hyperstages are named, and the others counted.
    """
    uneven: list[tuple[int, Finding]] = []
    for variable, of_variable in label_sets.items():
        all_labels = set[str]().union(*(labels for labels, *_ in of_variable))
        lacking = [sizes for labels, *sizes in of_variable if labels != all_labels]
        if lacking:
            n_lacking, n_rows = (sum(column) for column in zip(*lacking, strict=True))
            sentence = (
                f"{variable!r} has {counted(len(of_variable), 'hyperstage')}: "
                f"{counted(n_lacking, 'situation')} {agreeing(n_lacking, 'lack')} some of its "
                "answers, and situations with different answers cannot share a stage"
            )
            finding = Finding("absent_answer", sentence, n=n_rows, variable=variable)
            uneven.append((len(of_variable), finding))
    uneven.sort(key=lambda size_and_finding: -size_and_finding[0])
    found = [finding for _, finding in uneven[:_MOST_VARIABLES]]
    n_more = len(uneven) - _MOST_VARIABLES
    if n_more > 0:
        more = counted(n_more, "more variable")
        sentence = f"{more} {agreeing(n_more, 'have')} several hyperstages"
        found.append(Finding("absent_answer", sentence))
    return found


def no_edges_for_new_answers() -> Finding:
    """Return that answers nobody gave have no edge, where the stages would know better."""
    return Finding(
        "absent_answer",
        "an answer that nobody gave after some history has no edge there "
        "(sampling_zeros='none'), so new rows with it have probability 0",
        "build the tree with sampling_zeros='auto' to give them the probability of their stage",
    )


def rare_histories(n_rare: int, n_reached: int, n_rows: int) -> list[Finding]:
    """Return that most histories were seen only once or twice, if they were."""
    if n_reached < _FEW_HISTORIES or 2 * n_rare <= n_reached:
        return []
    return [
        Finding(
            "rare_histories",
            f"{n_rare:,} of {n_reached:,} histories were seen only once or twice, too rarely "
            "to learn their stages: new rows are predicted badly",
            n=n_rows,
        )
    ]


def small_prior(least: float, limit: float, variable: str) -> Finding:
    """Return that the smallest prior of an edge is tiny."""
    return Finding(
        "small_prior",
        f"the smallest prior entry is {least:.2g} (of {variable!r}), below {limit}: stages of "
        "later questions may merge too easily",
        variable=variable,
    )


def spurious_stages(
    details: Mapping[str, Any], n_rows: int, *, is_tested: bool = False
) -> list[Finding]:
    """Return the expected number of spurious stages, if it is not small.

    ``details`` is the summary of a staging; ``is_tested`` says that tests decided.
    """
    if details.get("spurious_stages", 0) < _MANY_SPURIOUS:
        return []
    fewer = "a smaller significance gives fewer" if is_tested else None
    return [Finding("spurious_stages", spurious_sentence(details), fewer, n_rows)]


def spurious_sentence(details: Mapping[str, Any]) -> str:
    """Return the expected number of spurious stages, and what it is based on."""
    sampled, learnt = details["null_situations"], details["situations_learnt"]
    of_sample = (
        f", on a sample of {sampled:,} of {learnt:,} situations; all of them usually give more"
        if sampled < learnt
        else ""
    )
    return (
        f"expected number of spurious stages: {spurious_stages_text(details)} if the "
        "situations of each hyperstage were alike "
        f"({counted(details['null_runs'], 'null run')}{of_sample})"
    )


def spurious_stages_text(details: Mapping[str, Any], *, with_error: bool = True) -> str:
    """Return the expected number of spurious stages, with its error if it is not too small."""
    expected = details["spurious_stages"]
    if not expected:
        return "0"
    if expected < 0.005:
        return "less than 0.01"
    error = f" ± {details['spurious_stages_error']:.2f}" if with_error else ""
    return f"{expected:.2f}{error}"


def better_staging(log_gain: float, n_rows: int, *, is_tested: bool) -> list[Finding]:
    """Return that a better staging is known than the one shown, if there is one.

    Where tests decided, not the score, this is no fault.
    """
    if log_gain <= TIE:
        return []
    if not is_tested:
        sentence = f"a better staging is known (+{log_gain:.2g} log posterior)"
        return [Finding("better_staging", sentence, n=n_rows)]
    sentence = (
        f"by the score alone another staging is better (+{log_gain:.2g} log posterior), though "
        "tests do not tell all its stages apart"
    )
    return [Finding("better_staging", sentence, n=n_rows, consequence=DETAIL)]


def stage_findings(steps: Steps, staging_id: int) -> list[Finding]:
    """Return which stages have few respondents, more prior than rows, or nobody."""
    ((n_unreached,),) = steps.fetch("unreached_situation", staging_id=staging_id)
    found = []
    if n_unreached:
        found.append(
            Finding(
                "unreached",
                f"nobody answered at {counted(n_unreached, 'situation')}, so no answers are "
                "behind the probabilities there",
                n=0,
            )
        )
    stages = steps.fetch("weak_stage", staging_id=staging_id, few=FEW)
    driven = [
        (f"{name} ({variable}, prior {prior:.3g}, n = {n:,})", n)
        for name, variable, n, prior, _, is_driven, _ in stages
        if is_driven
    ]
    thin = [
        (f"{name} ({variable}, n = {n:,})", n)
        for name, variable, n, _, is_thin, _, _ in stages
        if is_thin
    ]
    n_stages = stages[0][-1] if stages else 0
    if driven:
        found.append(
            Finding(
                "prior_driven",
                f"the prior counts more than the rows in {_of_stages(driven, n_stages)}",
                n=sum(n for _, n in driven),
            )
        )
    if thin:
        found.append(
            Finding(
                "thin_stages",
                f"fewer than {FEW} respondents are behind {_of_stages(thin, n_stages)}",
                n=sum(n for _, n in thin),
            )
        )
    return found


def _of_stages(stages: Sequence[tuple[str, int]], n_all: int) -> str:
    names = listed([text for text, _ in stages], most=_MOST_NAMED)
    return f"{len(stages):,} of {counted(n_all, 'stage')}: {names}"
