"""How a CEG was made, in sentences for the methods section of a paper."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any, Final

import duckdb

from cegdb.errors import agreeing, counted
from cegdb.report.words.citations import dataset
from cegdb.report.words.phrases import joined, quoted
from cegdb.report.words.report_data import agreed, is_few, respondents
from cegdb.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.report.words.report_data import Made, Told

_SCORES: Final = {
    "log_marginal_likelihood": "log marginal likelihood",
    "log_likelihood": "log likelihood",
    "bic": "BIC",
    "aic": "AIC",
}
_METHODS: Final = {
    "ahc": "agglomerative hierarchical clustering (AHC; Freeman and Smith, 2011), which "
    "joins the two stages whose joining improves the {score} most, and goes on until none does",
    "auto": "agglomerative hierarchical clustering (AHC; Freeman and Smith, 2011) by the "
    "{score}, almost equal situations being joined beforehand where there are very many",
    "bhc": "backward hill climbing (as in Carli et al., 2022) by the {score}",
    "fbhc": "fast backward hill climbing (as in Carli et al., 2022) by the {score}",
    "csbhc": "backward hill climbing that makes independences between answers (as in later "
    "versions of the R package of Carli et al., 2022) by the {score}",
    "bj": "backward joining (as in Carli et al., 2022) of stages while their distance "
    "({distance}) is below {threshold:g}",
    "hc": "hill climbing (as in Carli et al., 2022) by the {score}",
    "exact": "an exact search for the optimum of the {score}",
    "hclust": "hierarchical clustering of the situations' probabilities (as in Carli et al., "
    "2022)",
    "kmeans": "k-means clustering of the situations' probabilities (as in Carli et al., 2022)",
}
_PRIORS: Final = {
    "mass": "which is shared equally among the edges of each floret from the root on",
    "floret": "anew in each floret, shared equally among its edges",
    "path": "an equal part of it for each path from the root to a leaf",
}
_HYPERSTAGES: Final = {
    "variable": "of the same variable with the same possible answers",
    "labels": "with the same possible answers, of whatever variable",
    "height": "of the same height with the same possible answers",
    "paper": "of the same shortest distance to a leaf with the same possible answers",
}
NO_SCORES: Final = (
    "Scores are not told, since counts of few respondents could be calculated from them."
)
_WEIGHTING: Final = {
    "situation": "in scores and probabilities the respondents of a situation count as many as "
    "respondents of equal weight would be worth them (Kish, 1965)",
    "global": "in scores and probabilities weights are scaled by one factor, to what "
    "respondents of equal weight would be worth (Kish, 1965)",
    "total": "in scores and probabilities weights are scaled to sum to the number of "
    "respondents",
    "none": "they are not used in scores and probabilities",
}


def methods(told: Told) -> list[str]:
    """Return paragraphs: the data, the tree, the stages, the CEG, the software."""
    return [
        " ".join(said)
        for said in (
            data(told),
            tree_built(told),
            stages(told.staging, told.min_n),
            _graph(told),
            [software(told.tree, told.staging, told.ceg)],
        )
        if said
    ]


def software(*rows: Mapping[str, Any]) -> str:
    """Return the versions that made these objects and this report."""
    made = sorted({str(row["cegdb_version"]) for row in rows})
    earlier = "" if made == [__version__] else f" (tables made by cegdb {joined(made)})"
    return (
        f"This was calculated with cegdb {__version__}{earlier}, DuckDB "
        f"{duckdb.__version__} (Raasveldt and Mühleisen, 2019) and Python "
        f"{platform.python_version()}."
    )


def _settings(row: Mapping[str, Any], key: str = "settings") -> Mapping[str, Any]:
    found = row[key]
    return found if isinstance(found, dict) else {}


def data(told: Made) -> list[str]:
    """Return what was asked of whom, and how rows and weights were taken."""
    survey, details = told.survey, _settings(told.survey, "summary")
    is_file = bool(_settings(survey).get("fingerprints"))
    name = dataset(survey)
    source = (
        f"the data set {quoted(name)} that cegdb brings"
        if name
        else _source(str(survey["source"]), is_file=is_file)
    )
    said = [
        (
            f"The survey {quoted(survey['name'])} (from {source}) has "
            f"{counted(respondents(told), 'respondent')}."
        )
    ]
    dropped = {why: n for why, n in (details.get("rows_dropped") or {}).items() if n}
    if dropped and any(is_few(n, told) for n in dropped.values()):
        said.append(f"Some rows were dropped: {joined(list(dropped))}.")
    elif dropped:
        why = joined([f"{n:,} {reason}" for reason, n in dropped.items()])
        said.append(f"Of {counted(survey['n_read'], 'row')} read, these were dropped: {why}.")
    weights = details.get("weights")
    if isinstance(weights, dict):
        way = _settings(told.staging).get("weighting", "none")
        said.append(
            f"Respondents have weights ({quoted(str(weights['column']))}, "
            f"{weights['smallest']} to {weights['largest']}); {_WEIGHTING[way]}."
        )
    effects = _settings(told.staging).get("deff")
    if isinstance(effects, dict) and effects:
        least, most = min(effects.values()), max(effects.values())
        to = f" to {most:.3g}" if least < most else ""
        said.append(f"Counts were divided by design effects of {least:.3g}{to}.")
    return said


def _source(source: str, *, is_file: bool) -> str:
    """Return what a survey was read from: of a file its name, of a query not its text."""
    return source.rpartition("/")[2] if is_file else "a query or data frame"


def tree_built(told: Made) -> list[str]:
    """Return how the event tree was built."""
    tree, survey = told.tree, told.survey
    settings, details = _settings(tree), _settings(tree, "summary")
    order = settings.get("order")
    names = [str(name) for name in order] if isinstance(order, list) else []
    said = [
        (
            f"The event tree has the variables {', '.join(names)}, in this order, and "
            f"{counted(tree['n_vertices'], 'vertex')}: "
            f"{counted(tree['n_situations'], 'situation')} and "
            f"{counted(tree['n_leaves'], 'leaf')}."
        )
    ]
    cells = _settings(survey, "summary").get("cells")
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
        said.append(_blank(settings))
    n = structural + total["structural"]
    if n:
        said.append(
            f"{_counted(n, 'answer', told)} {agreed(n, 'do', told)} not apply (structural): "
            "where a question applies to nobody it is left out of the tree."
        )
    said += _missing(told, settings, details)
    said += _zeros(settings, details)
    return said


def _blank(settings: Mapping[str, Any]) -> str:
    how = settings.get("blank", "auto")
    if how == "auto":
        return (
            "A blank cell was taken as not applicable where a history of at least "
            f"{settings.get('gate_min_rows', 5)} rows has nothing but blanks for its variable, "
            "and as missing elsewhere."
        )
    meaning = "not applicable" if how == "structural" else "missing"
    return f"Blank cells were taken as {meaning}."


def _counted(n: int, word: str, told: Made) -> str:
    """Return a count and what is counted, at the beginning of a sentence."""
    return f"Fewer than {told.min_n:,} {word}s" if is_few(n, told) else counted(n, word)


def _missing(told: Made, settings: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    policy = settings.get("missing_policy", "prefix")
    if policy == "category":
        return ["A missing answer was taken as an answer of its own."]
    if policy == "complete":
        n = int(details.get("rows_left_out", 0))
        if is_few(n, told):
            return ["Rows with a missing answer were left out."]
        was = "was" if n == 1 else "were"
        return [f"{counted(n, 'row')} with a missing answer {was} left out."]
    found = details.get("missing")
    n = int(found.get("rows_with_a_missing_answer", 0)) if isinstance(found, dict) else 0
    if not n:
        return []
    rows = _counted(n, "row", told)
    return [
        (
            f"{rows} with a missing answer {agreed(n, 'count', told)} up to that answer, which "
            "is right where answers are missing at random given those before."
        )
    ]


def _zeros(settings: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    how = settings.get("sampling_zeros", "none")
    added = int(details.get("vertices_without_rows", 0))
    said = {
        "none": "Answers that nobody with the same history gave have no edge (they count as "
        "structural zeros).",
        "floret": "Answers that nobody with the same history gave were added to each floret as "
        "sampling zeros",
        "full": "Answers that nobody with the same history gave were added as sampling zeros, "
        "with all that could follow them",
    }[how]
    if how != "none":
        said += f" ({counted(added, 'vertex')} without rows)."
    more = [said]
    impossible, paths = settings.get("impossible"), settings.get("add_paths")
    if impossible:
        more.append(
            f"{counted(len(impossible), 'combination')} of answers counted as impossible."
        )
    if paths:
        was = "was" if len(paths) == 1 else "were"
        more.append(f"{counted(len(paths), 'path')} without rows {was} added.")
    return more


def stages(staging: Mapping[str, Any], min_n: int | None) -> list[str]:
    """Return how stages were found, their prior, and their scores."""
    settings, details = _settings(staging), _settings(staging, "summary")
    method = str(staging["method"])
    within = settings.get("hyperstages", "variable")
    may = (
        _HYPERSTAGES.get(within, "of their group, the groups being given")
        if isinstance(within, str)
        else ("of their group, the groups being given")
    )
    if method in _METHODS:
        how = _METHODS[method].format(
            score=_SCORES.get(settings.get("score", "log_marginal_likelihood"), "score"),
            distance=settings.get("distance", ""),
            threshold=settings.get("threshold") or 0,
        )
        said = [
            f"Stages were learnt by {how}. Situations could share a stage with others {may}."
        ]
        if settings.get("structure_prior") == "size":
            said.append("Stagings of each number of stages were equally likely a priori.")
        if settings.get("frozen"):
            said.append("Some stages were given and kept.")
    else:
        said = ["Stages were given, not learnt from the data."]
        alone = int(details.get("situations_not_named", 0))
        if alone:
            was = "was" if alone == 1 else "were"
            said.append(f"{counted(alone, 'situation')} that {was} not named stayed alone.")
    relabelled = int(details.get("edges_relabelled", 0))
    if relabelled:
        said.append(f"{counted(relabelled, 'edge')} had labels that count as others.")
    said += [_prior(staging, settings, details), _size(staging, settings, min_n)]
    if "false_stages" in details:
        said.append(
            f"Were the situations that may share a stage all alike, learning would make "
            f"{details['false_stages']:.2f} further stages by chance (mean of "
            f"{details['null_runs']} simulations)."
        )
    return said


def _prior(
    staging: Mapping[str, Any], settings: Mapping[str, Any], details: Mapping[str, Any]
) -> str:
    why = (
        " (the largest number of levels of a variable, the default)"
        if details.get("alpha_is_default")
        else ""
    )
    prior = settings.get("prior", "mass")
    how = _PRIORS[prior] if isinstance(prior, str) else "with some priors given"
    return (
        f"Probabilities of a stage have a Dirichlet prior of equivalent sample size alpha = "
        f"{staging['alpha']:g}{why}, {how}; a stage has the priors of its situations together."
    )


def _size(staging: Mapping[str, Any], settings: Mapping[str, Any], min_n: int | None) -> str:
    size = (
        f"The {counted(staging['n_stages'], 'stage')} {agreeing(staging['n_stages'], 'have')} "
        f"{counted(staging['df'], 'free parameter')}"
    )
    if min_n is not None:
        return f"{size}. {NO_SCORES}"
    smoothing = float(settings.get("smoothing", 0) or 0)
    smoothed = f", with {smoothing:g} added to each count for BIC and AIC" if smoothing else ""
    return (
        f"{size}, log marginal likelihood "
        f"{staging['log_marginal_likelihood']:.2f}, BIC {staging['bic']:.2f} and AIC "
        f"{staging['aic']:.2f}{smoothed}."
    )


def _graph(told: Told) -> list[str]:
    ceg = told.ceg
    size = (
        f"{counted(ceg['n_vertices'] - 1, 'position')} beside the sink, and "
        f"{counted(ceg['n_edges'], 'edge')}"
    )
    if told.is_conditioned:
        evidence = _settings(ceg, "summary").get("evidence")
        is_shown = told.min_n is None
        probability = f" (probability {ceg['probability']:.4g})" if is_shown else ""
        return [
            (
                f"The Chain Event Graph (CEG; Smith and Anderson, 2008) is given {evidence}"
                f"{probability}; it has {size}."
            ),
            "Probabilities are posterior means given this evidence; they have no intervals.",
        ]
    return [
        (
            "The Chain Event Graph (CEG; Smith and Anderson, 2008) was constructed from the "
            "staged tree by the backward recursion of Shenvi and Smith (2020), by the number "
            f"of edges on the longest path from a situation to a leaf; it has {size}."
        ),
        (
            "Probabilities are posterior means, with 95 % credible intervals given the stages; "
            "how sure the stages are is no part of them."
        ),
    ]
