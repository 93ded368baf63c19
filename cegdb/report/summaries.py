"""The short summary of an object after the step that made it, and what is wrong with it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from cegdb.demo import demo_of
from cegdb.errors import agreeing, counted
from cegdb.evidence import measure_text
from cegdb.findings import DETAIL, TIE, spurious_sentence, spurious_stages
from cegdb.ingest.files.cell_labels import abbreviated_source
from cegdb.options import GREEDY_METHODS, SCORE_NAMES
from cegdb.report.lineage import json_column
from cegdb.report.setting_texts import PRIORS, STAGE_KINDS, WEIGHTING
from cegdb.sqlfiles import Steps, in_phase
from cegdb.stages.edits import AVERAGED
from cegdb.stages.learning import CLOSE
from cegdb.store.catalog import KIND_WORDS, response_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.findings import StoredFinding
    from cegdb.options import Kind
    from cegdb.store import Store

_LONGEST: Final = 60
_MOST_BAD: Final = 5
_MOST_INHERITED: Final = 5
_VIOLATION: Final = ("invariant", "kind", "name", "row_id", "detail")
_DECISIONS: Final = {
    "blank_structural": "blank (not applicable)",
    "blank_missing": "blank (missing)",
    "missing_structural": "missing (not applicable)",
    "missing": "missing",
}


def summary(kind: Kind, row: Mapping[str, Any], found: Sequence[StoredFinding] = ()) -> str:
    """Return what was made, which defaults were used, and what looks wrong, in a few lines.

    ``row`` is the object's catalog row. Lines of findings begin with ``note:``; of those in
    objects that it was made from, the most consequential are shown.

    Examples
    --------
    >>> print(summary("ceg", {"name": "falls", "n_vertices": 12, "n_edges": 25,
    ...     "summary": {"steps": 4, "height": 4, "stopped_early": False}}))
    CEG 'falls': 12 vertices (including the sink), 25 edges; 4 steps, height 4
    """
    details = json_column(row, "summary")
    summarise = {"survey": _survey, "tree": _tree, "staging": _staging, "ceg": _ceg}[kind]
    lines = summarise(row, details)
    if row.get("is_stale"):
        lines[0] += " (stale: its survey has changed)"
    return "\n".join([*lines, *_notes(kind, found)])


def _notes(kind: Kind, found: Sequence[StoredFinding]) -> list[str]:
    """Return a line for each finding, but for that of the first line, being stale."""
    shown = [
        one
        for one in found
        if one.finding != "stale" and (one.from_kind == kind or one.consequence < DETAIL)
    ]
    inherited = [one for one in shown if one.from_kind != kind]
    left_out = set(inherited[_MOST_INHERITED:])
    lines = [
        f"note: {'' if one.from_kind == kind else f'{KIND_WORDS[one.from_kind]}: '}{one.text}"
        for one in shown
        if one not in left_out
    ]
    if left_out:
        verb = agreeing(len(left_out), "are")
        lines.append(f"note: {counted(len(left_out), 'more')} {verb} among its findings")
    return lines


def _sources(row: Mapping[str, Any], details: Mapping[str, Any]) -> list[object]:
    """Return what the rows of a survey were read from, one source after another."""
    if "last" not in details:
        return [row["source"]]
    return [*(one["source"] for one in details["earlier"]), details["last"]["source"]]


def _survey(row: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    dropped = json_column(details, "rows_dropped")
    read, kept = counted(details["rows_read"], "row"), details["rows_kept"]
    is_file = bool(json_column(row, "settings").get("fingerprints"))
    sources = [
        "the demo data"
        if demo_of(one)
        else abbreviated_source(str(one), is_file=is_file, most=_LONGEST)
        for one in _sources(row, details)
    ]
    between = [f"{len(sources) - 2} more"] if len(sources) > 2 else []
    source = " + ".join([sources[0], *between, sources[-1]] if len(sources) > 1 else sources)
    lines = [
        f"survey {row['name']!r} from {source}: {read} read, {kept:,} kept"
        + "".join(f", {n:,} dropped ({why})" for why, n in dropped.items())
        + f"; {counted(row['n'], 'respondent')}, {counted(row['n_distinct'], 'distinct row')}"
    ]
    notes = details.get("notes")
    lines += [f"  {note}" for note in notes] if isinstance(notes, list) else []
    bad = details.get("bad_rows")
    lines += (
        [f"  skipped line {row['line']}: {row['text']}" for row in bad[:_MOST_BAD]]
        if isinstance(bad, list)
        else []
    )
    weights = json_column(details, "weights")
    if weights:
        zero = weights.get("rows_of_weight_0", 0)
        lines.append(
            f"  weights {weights['column']!r}: {weights['smallest']} to {weights['largest']}, "
            f"sum {weights['sum']}"
            + (f"; rescaled by {weights['kept_times']}" if "kept_times" in weights else "")
            + (f"; {counted(zero, 'row')} with weight 0" if zero else "")
        )
        long = weights.get("rows_kept_to_12_decimals", 0)
        if long:
            lines.append(f"  {counted(long, 'weight')} rounded to 12 decimals")
    cells = json_column(details, "cells")
    for variable, kinds in cells.items():
        parts = [
            f"{n:,} {kind}"
            for kind, n in (kinds if isinstance(kinds, dict) else {}).items()
            if n and kind != "value"
        ]
        if parts:
            lines.append(f"  {variable}: {', '.join(parts)}")
    return lines


def _tree(row: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    head = (
        f"event tree {row['name']!r}: {counted(row['n_vertices'], 'vertex')}, "
        f"{counted(row['n_situations'], 'situation')}, {counted(row['n_leaves'], 'leaf')}, "
        f"height {row['height']}; {counted(row['n'], 'respondent')}"
    )
    lines = [head]
    left_out = details.get("rows_left_out", 0)
    if left_out:
        of_all = counted(details["rows_of_survey"], "respondent")
        lines.append(f"  {left_out:,} of {of_all} left out")
    stopped = details.get("rows_stopped_at_a_situation", 0)
    if stopped:
        verb = agreeing(stopped, "end")
        lines.append(f"  {counted(stopped, 'respondent')} {verb} at a non-leaf situation")
    for variable, decided in json_column(details, "decisions").items():
        parts = decided if isinstance(decided, dict) else {}
        counts = [f"{n:,} {_DECISIONS[key]}" for key, n in parts.items() if n]
        if counts:
            lines.append(f"  {variable}: {', '.join(counts)}")
    zero = details.get("vertices_without_rows", 0)
    if zero:
        lines.append(f"  {counted(zero, 'vertex')} added that nobody reached")
    return lines


def _staging(row: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    kinds = json_column(details, "stages_by_kind")
    by_kind = ", ".join(
        f"{sizes['stages']:,} {STAGE_KINDS[kind]}"
        for kind, sizes in kinds.items()
        if isinstance(sizes, dict)
    )
    settings = row["settings"] if isinstance(row["settings"], dict) else {}
    prior = settings.get("prior", "mass")
    why = ""
    if details.get("alpha_is_default") and prior != "stage":
        why = " (the largest number of levels of a variable)"
    sizes_line = (
        f"staging {row['name']!r}: {counted(row['n_stages'], 'stage')}"
        f"{f' ({by_kind})' if by_kind else ''} in "
        f"{counted(row['n_hyperstages'], 'hyperstage')}"
    )
    scores_line = (
        f"  log marginal likelihood {row['log_marginal_likelihood']:.4f}, "
        f"BIC {row['bic']:.2f}, {counted(row['df'], 'free parameter')}; "
        f"alpha = {row['alpha']:g}{why}"
    )
    if isinstance(prior, dict) and prior.get("source") == AVERAGED:
        scores_line += "; made with probabilities averaged over all stagings (ignore scores)"
    elif prior != "mass":
        scores_line += (
            f", {PRIORS[prior][0] if isinstance(prior, str) else 'some priors given'}"
        )
    lines = [sizes_line, scores_line]
    if "weighting" in settings:
        lines.append(f"  weights: {WEIGHTING[settings['weighting']][0]}")
    if "deff" in settings:
        effects = sorted(settings["deff"].values())
        least, most = effects[0], effects[-1]
        between = f"s from {least:.3g} to {most:.3g}" if least < most else f" of {least:.3g}"
        lines.append(f"  counts divided by design effect{between}")
    relabelled = details.get("edges_relabelled", 0)
    if relabelled:
        lines.append(f"  {counted(relabelled, 'edge')} relabelled")
    drift = json_column(details, "drift")
    if drift:
        lines += _drift(drift)
    if "spurious_stages" in details:
        if details["null_runs"]:
            lines += _learning(row["method"], settings, details)
            if not spurious_stages(details, 0):
                lines.append(f"  {spurious_sentence(details)}")
        else:
            lines.append("  nothing could merge: no hyperstage had two stages to start with")
    if "posterior" in details:
        known = details["posterior"]
        lines.append(
            f"  among all stagings (structure prior {known['structure_prior']}): "
            f"{posterior_text(known, with_better=False)}"
        )
    if "parents" in details:
        lines.append(_parents(details["parents"]))
    not_named = details.get("situations_not_named", 0)
    if not_named:
        lines.append(
            f"  {counted(not_named, 'situation')} not named, "
            f"{'each ' if not_named > 1 else ''}in a stage of its own"
        )
    return lines


def _learning(
    method: str, settings: Mapping[str, Any], details: Mapping[str, Any]
) -> list[str]:
    """Return what the learning did, and how good its result is."""
    score = SCORE_NAMES.get(settings.get("score", "log_marginal_likelihood"), "")
    prior = ", structure prior by size" if settings.get("structure_prior") == "size" else ""
    n_merges = details.get("merges", 0)
    if method == "exact":
        rest = ", with the frozen stages kept," if settings.get("frozen") else ""
        of = "these hyperstages" if "parents" not in details else "the parents' configurations"
        best = f"  exact: no other staging of {of}{rest} has a better {score}{prior}"
        if "log_probability" in details:
            best += f"; its posterior probability is {_probability(details['log_probability'])}"
        return [best]
    if method == "ordinal":
        n_ordered = int(details.get("ordered", 0))
        best = f"no other such staging has a better {score}{prior}"
        ordered = f"{counted(n_ordered, 'hyperstage')} of ordered answers"
        return [f"  ordinal: in {ordered} stages are neighbours in their mean score; {best}"]
    if "significance" in settings:
        lines = [f"  {_tested(settings, score, n_merges)}"]
    elif method in GREEDY_METHODS and not n_merges:
        lines = [f"  no merge improves the {score}{prior}"]
    elif method in GREEDY_METHODS:
        ended = (
            "no other number of merges has a better score"
            if prior
            else "no further merge improves the score"
        )
        lines = [f"  {counted(n_merges, 'merge')} by {score}{prior}; {ended}"]
    elif method == "bj":
        distance, threshold = settings["distance"], settings["threshold"]
        lines = [f"  bj: stages joined while their {distance} distance is below {threshold:g}"]
    else:
        lines = [f"  {method} by {score}{prior}: there may be a better staging"]
    if method == "auto":
        n_rough = details.get("approximated", 0)
        if n_rough:
            lines.append(
                f"  {counted(n_rough, 'hyperstage')} with more than "
                f"{details['situations_exact']:,} distinct florets approximated: situations "
                "with nearly equal shares start in one stage"
            )
            lines.append(
                "  loss by the approximation, on a sample of 1,000 situations of each: "
                f"{details['sample_loss']:.4g} of a score of {details['sample_score']:.6g}"
            )
        else:
            lines.append("  not approximated: no hyperstage was large enough")
    return lines


def _parents(parents: Mapping[str, Any]) -> str:
    """Return how many parents were chosen, and in how many hyperstages others nearly were."""
    chosen = ", ".join(
        f"{counted(n, 'hyperstage')} {agreeing(n, 'depend')} on "
        f"{'none' if size == '0' else size}"
        for size, n in parents["hyperstages"].items()
    )
    n_close = parents["close"]
    close = (
        f"; in {n_close:,} the runner-up is within {CLOSE:g} of the best score "
        "(see parent_sets)"
        if n_close
        else ""
    )
    return f"  at most {counted(parents['most'], 'earlier variable')}: {chosen}{close}"


def _tested(settings: Mapping[str, Any], score: str, n_merges: int) -> str:
    """Return how far merging went where tests decided."""
    level = f"at the {100 * settings['significance']:g} % level"
    if not n_merges:
        return f"no merges: {level}, tests tell all situations apart"
    return (
        f"{counted(n_merges, 'merge')} by {score}; {level}, no test tells the situations of a "
        "stage apart"
    )


def _probability(logarithm: float) -> str:
    """Return a probability as text, which is never 0 or 1."""
    if logarithm > math.log(0.995):
        return "above 0.99"
    return "below 1e-6" if logarithm < math.log(1e-6) else f"{math.exp(logarithm):.2g}"


def posterior_text(known: Mapping[str, Any], *, with_better: bool = True) -> str:
    """Return how probable a staging is among all stagings, and whether a better one is known.

    A better one is left out where it is among the findings.

    Examples
    --------
    >>> posterior_text({"log_probability": -3.0, "log_gain": 0.316, "is_sampled": True})
    'the one shown has posterior probability at most 0.05; a better one is known (+0.32 log)'
    """
    probability = _probability(known["log_probability"])
    at_most = "at most " if known["is_sampled"] and probability[0].isdigit() else ""
    shown = f"the one shown has posterior probability {at_most}{probability}"
    gain = known["log_gain"]
    if gain <= TIE:
        return f"{shown}; none better is known"
    return f"{shown}; a better one is known (+{gain:.2g} log)" if with_better else shown


def _drift(drift: Mapping[str, Any]) -> list[str]:
    """Return how the stages of a rebuilt staging differ from the former ones."""
    how = "stages kept, probabilities estimated again" if drift["keeps"] else "rebuilt"
    stages = counted(drift["stages"], "former stage")
    overlap = (
        f"do not overlap in {drift['apart']:,} of {stages}"
        if drift["apart"]
        else f"overlap in {'all ' if drift['stages'] > 1 else ''}{stages}"
    )
    lines = [f"  {how}; 95 % intervals before and after {overlap}"]
    new, gone = drift["situations_new"], drift["situations_gone"]
    if new or gone:
        lines.append(f"  {counted(new, 'situation')} new, {gone:,} gone")
    return lines


def _ceg(row: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    head = (
        f"CEG {row['name']!r}: {counted(row['n_vertices'], 'vertex')} (including the sink), "
        f"{counted(row['n_edges'], 'edge')}; "
    )
    if row.get("parent_ceg_id") is not None:
        measure = measure_text(row["probability"], row["relative_likelihood"])
        known = f"given {details.get('evidence')} ({measure})"
        return [head + known]
    early = ", stopped early" if details.get("stopped_early") else ""
    steps = counted(details.get("steps", 0), "step")
    return [f"{head}{steps}, height {details.get('height')}{early}"]


def check(store: Store) -> list[dict[str, object]]:
    """Return every row that violates an invariant of trees, stagings, CEGs or surveys.

    The invariants are the steps ``check_...`` of ``sql/checks/90_check``; nothing is written.
    Each violation has ``invariant`` (what should hold), ``kind`` and ``name`` of the object
    (None if it is gone), ``row_id`` (None if the whole object is meant), and ``detail``.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select 'yes' as a union all select 'no'", name="two")
    ...     good = check(store)
    ...     with store.reading() as con:
    ...         _ = con.execute("update cegdb.survey set n = 3")
    ...     good, check(store)[0]["detail"]
    ([], '2 cells of variable 1, 3 respondents')
    """
    with store.reading() as con, Steps(con) as steps:
        checks = [step for step in in_phase("90_check") if step.name.startswith("check_")]
        rows = [row for step in checks if not step.params for row in steps.fetch(step.name)]
        for (survey_id,) in steps.fetch("checkable_survey"):
            for step in (step for step in checks if step.params):
                source = response_table(survey_id)
                rows += steps.fetch(step.name, survey_id=survey_id, source=source)
    return [dict(zip(_VIOLATION, row, strict=True)) for row in rows]
