"""How a CEG was made, in sentences for the methods section of a paper."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any, Final

import duckdb

from cegdb.demo import demo_of
from cegdb.errors import agreeing, counted, joined
from cegdb.evidence import measure_text
from cegdb.findings import spurious_stages_text
from cegdb.options import GATE_MIN_ROWS, SCORE_NAMES
from cegdb.report.lineage import json_column
from cegdb.report.setting_texts import (
    GIVEN_HYPERSTAGES,
    HYPERSTAGES,
    METHODS,
    PRIORS,
    TESTED,
    WEIGHTING,
)
from cegdb.report.words.phrases import quoted
from cegdb.report.words.report_data import (
    count_at_start,
    is_small,
    n_respondents,
    verb_after,
)
from cegdb.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.report.words.report_data import Provenance, ReportData

NO_SCORES: Final = "Scores are not shown, since small counts could be calculated from them."


def methods_paragraphs(report: ReportData) -> list[str]:
    """Return paragraphs: the data, the tree, the stages, the CEG, the software."""
    return [
        " ".join(sentences)
        for sentences in (
            data_sentences(report),
            tree_sentences(report),
            stages_sentences(report.staging, report.min_n),
            _graph_sentences(report),
            [software_sentence(report.tree, report.staging, report.ceg)],
        )
        if sentences
    ]


def software_sentence(*rows: Mapping[str, Any]) -> str:
    """Return which versions made these objects and this report."""
    versions = sorted({str(row["cegdb_version"]) for row in rows})
    earlier = "" if versions == [__version__] else f" (tables made by cegdb {joined(versions)})"
    return (
        f"The software was cegdb {__version__}{earlier}, DuckDB {duckdb.__version__} "
        f"(Raasveldt and Mühleisen, 2019) and Python {platform.python_version()}."
    )


def data_sentences(source: Provenance) -> list[str]:
    """Return where the rows came from, and how rows and weights were used."""
    survey, details = source.survey, json_column(source.survey, "summary")
    staged = json_column(source.staging, "settings")
    sentences = [
        (
            f"The survey {quoted(survey['name'])} (from {_origin(survey)}) has "
            f"{counted(n_respondents(source), 'respondent')}."
        )
    ]
    dropped = {why: n for why, n in (details.get("rows_dropped") or {}).items() if n}
    if dropped and any(is_small(n, source.min_n) for n in dropped.values()):
        sentences.append(f"Some rows were dropped: {joined(list(dropped))}.")
    elif dropped:
        why = joined([f"{n:,} {reason}" for reason, n in dropped.items()])
        sentences.append(
            f"Of the {counted(survey['n_read'], 'row')} read, these were dropped: {why}."
        )
    weights = details.get("weights")
    if isinstance(weights, dict):
        sentences.append(
            f"Respondents have weights ({quoted(str(weights['column']))}, "
            f"{weights['smallest']} to {weights['largest']}); "
            f"{WEIGHTING[staged.get('weighting', 'none')][1]}."
        )
    effects = staged.get("deff")
    if isinstance(effects, dict) and effects:
        sentences.append(f"Counts were divided by {design_effects(effects)}.")
    return sentences


def design_effects(effects: Mapping[str, float]) -> str:
    """Return the range of design effects.

    Examples
    --------
    >>> design_effects({"a": 1.2, "b": 2}), design_effects({"a": 1.2})
    ('design effects from 1.2 to 2', 'a design effect of 1.2')
    """
    least, most = min(effects.values()), max(effects.values())
    if least < most:
        return f"design effects from {least:.3g} to {most:.3g}"
    return f"a design effect of {least:.3g}"


def _origin(survey: Mapping[str, Any]) -> str:
    """Return what a survey was read from: the name of a file, but not the text of a query."""
    name = demo_of(survey["source"])
    if name:
        return f"the data set {quoted(name)} included in cegdb"
    if json_column(survey, "settings").get("fingerprints"):
        return str(survey["source"]).rpartition("/")[2]
    return "a query or data frame"


def tree_sentences(source: Provenance) -> list[str]:
    """Return how the event tree was built."""
    tree = source.tree
    settings, details = json_column(tree, "settings"), json_column(tree, "summary")
    order = settings.get("order")
    names = [str(name) for name in order] if isinstance(order, list) else []
    sentences = [
        (
            f"The event tree has the variables {', '.join(names)}, in this order, and "
            f"{counted(tree['n_vertices'], 'vertex')}: "
            f"{counted(tree['n_situations'], 'situation')} and "
            f"{counted(tree['n_leaves'], 'leaf')}."
        )
    ]
    cells = json_column(source.survey, "summary").get("cells")
    kinds = [cells.get(name, {}) for name in names] if isinstance(cells, dict) else []
    total = {
        kind: sum(int(one.get(kind, 0)) for one in kinds if isinstance(one, dict))
        for kind in ("structural", "missing", "blank")
    }
    decided = details.get("decisions")
    decisions = [d for d in decided.values() if d] if isinstance(decided, dict) else []
    structural = sum(
        int(d.get("blank_structural", 0)) + int(d.get("missing_structural", 0))
        for d in decisions
    )
    if total["blank"]:
        sentences.append(_blank(settings))
    n = structural + total["structural"]
    if n:
        sentences.append(
            f"{_counted(n, 'answer', source.min_n)} {verb_after(n, 'are', source.min_n)} not "
            "applicable (structural): a question is left out of the tree where it applies to "
            "nobody."
        )
    return [*sentences, *_missing(source.min_n, settings, details), *_zeros(settings, details)]


def _blank(settings: Mapping[str, Any]) -> str:
    how = settings.get("blank", "auto")
    if how == "auto":
        min_rows = settings.get("gate_min_rows", GATE_MIN_ROWS)
        return (
            "A blank cell was classified as not applicable if its history has at least "
            f"{counted(min_rows, 'row')} and all of them are blank for its variable, and as "
            "missing otherwise."
        )
    meaning = "not applicable" if how == "structural" else "missing"
    return f"Blank cells were classified as {meaning}."


def _counted(n: int, word: str, min_n: int | None) -> str:
    """Return a count and what is counted, at the start of a sentence."""
    return f"{count_at_start(n, min_n)} {word}s" if is_small(n, min_n) else counted(n, word)


def _missing(
    min_n: int | None, settings: Mapping[str, Any], details: Mapping[str, Any]
) -> list[str]:
    policy = settings.get("missing_policy", "prefix")
    if policy == "category":
        return ["A missing answer was treated as an answer of its own."]
    if policy == "complete":
        n = int(details.get("rows_left_out", 0))
        if is_small(n, min_n):
            return ["Respondents with a missing answer were left out."]
        were = "was" if n == 1 else "were"
        return [f"{counted(n, 'respondent')} with a missing answer {were} left out."]
    missing = details.get("missing")
    n = int(missing.get("rows_with_a_missing_answer", 0)) if isinstance(missing, dict) else 0
    if not n:
        return []
    return [
        (
            f"{_counted(n, 'respondent', min_n)} with a missing answer "
            f"{verb_after(n, 'count', min_n)} up to that answer, which is valid if answers are "
            "missing at random given the earlier ones."
        )
    ]


def _zeros(settings: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    how = settings.get("sampling_zeros", "none")
    nobody = "Answers that nobody with the same history gave"
    added = f"({counted(int(details.get('vertices_without_rows', 0)), 'vertex')} without rows)"
    sentences = [
        {
            "auto": f"{nobody} were added as sampling zeros, with questions below them as long "
            f"as the tree stays within twice its observed situations {added}; answers too "
            "common elsewhere for chance to explain their absence (n of at least 100, "
            f"p < 0.000001) were presumed impossible{_presumed(details)}.",
            "none": f"{nobody} have no edge (they count as structural zeros).",
            "floret": f"{nobody} were added to each floret as sampling zeros {added}.",
            "full": f"{nobody} were added as sampling zeros, with all that could follow them "
            f"{added}.",
        }[how]
    ]
    impossible, paths = settings.get("impossible"), settings.get("add_paths")
    if impossible:
        were = "was" if len(impossible) == 1 else "were"
        sentences.append(
            f"{counted(len(impossible), 'combination')} of answers {were} declared impossible."
        )
    if paths:
        were = "was" if len(paths) == 1 else "were"
        sentences.append(f"{counted(len(paths), 'path')} without rows {were} added.")
    return sentences


def _presumed(details: Mapping[str, Any]) -> str:
    zeros = details.get("presumed_zeros")
    n = int(zeros.get("n", 0)) if isinstance(zeros, dict) else 0
    return f" ({counted(n, 'answer')})" if n else " (none here)"


def stages_sentences(staging: Mapping[str, Any], min_n: int | None) -> list[str]:
    """Return how stages were found, their prior, and their scores."""
    settings, details = json_column(staging, "settings"), json_column(staging, "summary")
    method = str(staging["method"])
    if method in METHODS:
        is_tested = "significance" in settings
        how = METHODS[method].format(
            until="" if is_tested else ", until no merger improves it",
            score=SCORE_NAMES.get(settings.get("score", "log_marginal_likelihood"), "score"),
            distance=settings.get("distance", ""),
            threshold=settings.get("threshold") or 0,
        )
        if is_tested:
            how += TESTED.format(level=100 * settings["significance"])
        within = settings.get("hyperstages", "variable")
        which = HYPERSTAGES.get(within) if isinstance(within, str) else None
        sentences = [
            (
                f"Stages were learnt by {how}. Only situations {which or GIVEN_HYPERSTAGES} "
                "could share a stage."
            )
        ]
        if settings.get("max_parents") is not None:
            most = counted(int(settings["max_parents"]), "earlier variable")
            sentences.append(
                f"The stages of a variable depend on at most {most}: the set with the best "
                "score was chosen, and situations with the same answers to it started as one "
                "stage."
            )
        if settings.get("structure_prior") == "size":
            sentences.append(
                "A priori, each number of stages was equally likely, and so was each staging "
                "of that many stages."
            )
        if settings.get("frozen"):
            sentences.append("Some stages were given and kept.")
    else:
        sentences = ["Stages were given, not learnt from the data."]
        alone = int(details.get("situations_not_named", 0))
        if alone:
            are_alone = (
                "was not named and is a stage of its own"
                if alone == 1
                else "were not named and are each a stage of their own"
            )
            sentences.append(f"{counted(alone, 'situation')} {are_alone}.")
    relabelled = int(details.get("edges_relabelled", 0))
    if relabelled:
        were = "was" if relabelled == 1 else "were"
        sentences.append(f"{counted(relabelled, 'edge')} {were} relabelled.")
    sentences += [_prior(staging, settings, details), _size(staging, settings, min_n)]
    if details.get("null_runs"):
        sentences.append(
            "If the situations that may share a stage were all alike, learning would be "
            f"expected to add {spurious_stages_text(details, with_error=False)} spurious "
            f"stages (mean of {counted(details['null_runs'], 'simulation')})."
        )
    return sentences


def _prior(
    staging: Mapping[str, Any], settings: Mapping[str, Any], details: Mapping[str, Any]
) -> str:
    prior = settings.get("prior", "mass")
    how = PRIORS[prior][1] if isinstance(prior, str) else "with some priors given"
    if prior == "stage":
        why, pooled = "the default", ""
    else:
        why = "the largest number of levels of a variable, the default"
        pooled = "; the prior of a stage is the sum of those of its situations"
    default = f" ({why})" if details.get("alpha_is_default") else ""
    return (
        "The probabilities of a stage have a Dirichlet prior of equivalent sample size alpha = "
        f"{staging['alpha']:g}{default}, {how}{pooled}."
    )


def _size(staging: Mapping[str, Any], settings: Mapping[str, Any], min_n: int | None) -> str:
    size = (
        f"The {counted(staging['n_stages'], 'stage')} {agreeing(staging['n_stages'], 'have')} "
        f"{counted(staging['df'], 'free parameter')}"
    )
    if min_n is not None:
        return f"{size}. {NO_SCORES}"
    smoothing = float(settings.get("smoothing", 0) or 0)
    smoothed = f" ({smoothing:g} added to each count for BIC and AIC)" if smoothing else ""
    return (
        f"{size}, log marginal likelihood {staging['log_marginal_likelihood']:.2f}, BIC "
        f"{staging['bic']:.2f} and AIC {staging['aic']:.2f}{smoothed}."
    )


def _graph_sentences(report: ReportData) -> list[str]:
    ceg = report.ceg
    size = (
        f"it has {counted(ceg['n_vertices'] - 1, 'position')}, the sink and "
        f"{counted(ceg['n_edges'], 'edge')}"
    )
    if report.is_conditioned:
        evidence = json_column(ceg, "summary").get("evidence")
        is_shown = report.min_n is None
        measure = measure_text(ceg["probability"], ceg["relative_likelihood"])
        return [
            (
                "The Chain Event Graph (CEG; Smith and Anderson, 2008) is conditioned on "
                f"{evidence}{f' ({measure})' if is_shown else ''}; {size}."
            ),
            "Probabilities are posterior means given this evidence and have no intervals.",
        ]
    return [
        (
            "The Chain Event Graph (CEG; Smith and Anderson, 2008) was constructed from the "
            "staged tree by the backward recursion of Shenvi and Smith (2020), by the number "
            f"of edges on the longest path from a situation to a leaf; {size}."
        ),
        (
            "Probabilities are posterior means, with 95 % intervals that do not require the "
            "situations of a stage to be alike."
        ),
    ]
