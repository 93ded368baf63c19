"""Make a staging: florets, hyperstages, stages, tables, scores and catalog row, in order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

import sqlalchemy as sa

from cegdb.errors import StagingError, counted, is_one_of
from cegdb.options import StartRule
from cegdb.sqlfiles import Steps
from cegdb.stages.depends import add_dependence_stages
from cegdb.stages.effective_counts import Weighting, variable_ids
from cegdb.stages.groups import find_groups, refuse_mixed_stages
from cegdb.stages.hyperstages import find_hyperstages
from cegdb.stages.learning import (
    cluster,
    learning_settings,
    plan_of,
    read_hyperstages,
    refuse_misfit,
)
from cegdb.stages.priors import make_priors, smallest_prior
from cegdb.stages.relabel import read_rules, relabel_edges
from cegdb.stages.scores import credible_intervals, scores
from cegdb.stages.situations import find_florets
from cegdb.store import schema
from cegdb.store.catalog import claim_name, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from cegdb.clustering import Plan
    from cegdb.options import LearnOptions, StageOptions
    from cegdb.stages.depends import Depends
    from cegdb.stages.groups import Grouping
    from cegdb.stages.scores import Arrays
    from cegdb.store import Store

_MOST_HINTS: Final = 5
# Okabe & Ito (2008), then Tol's "muted" scheme: both made for colour-blind readers.
PALETTE: Final = [
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677",
    "#882255", "#AA4499",
]  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What a staging is made of: stages that are given, or options to learn them.

    ``former`` is the catalog row of a staging that is made again, whose id it keeps;
    ``keeps`` says whether its learnt stages are kept instead of learnt again.
    """

    options: StageOptions
    learning: LearnOptions | None = None
    stages: Grouping | None = None
    depends: Depends | None = None
    name: str | None = None
    replace: bool = False
    former: Mapping[str, Any] | None = None
    keeps: bool = False


def build(store: Store, tree_id: int, request: Request) -> int:
    """Make a staging in one transaction; return its id."""
    started = time.perf_counter()
    options, learning, former = request.options, request.learning, request.former
    rules = read_rules(options.relabel)
    # A staging made again may name paths that are gone; they are skipped, and noted here.
    skipped: list[str] | None = None if former is None else []
    with store.writing() as (con, catalog), Steps(con) as steps:
        tree = row(catalog, "tree", tree_id)
        refuse_stale("tree", tree)
        name = request.name
        if former is None:
            name = claim_name(
                catalog, "staging", name, str(tree["name"]), replace=request.replace
            )
        staging_id = new_id(catalog, "staging") if former is None else former["staging_id"]
        alpha = chosen_alpha(catalog, tree, options.alpha)

        # Florets, with the labels of the staging.
        n_relabelled = relabel_edges(steps, tree, rules, skipped)
        find_florets(steps, tree_id)

        # Hyperstages, and the stages that are given.
        settings: dict[str, Any] = {
            "hyperstages": find_hyperstages(steps, con, tree_id, options.hyperstages, skipped),
            **_find_given(steps, con, tree_id, request, skipped),
        }
        if request.depends is not None:
            settings["depends"] = add_dependence_stages(
                steps, tree, request.depends, variable_ids(catalog, tree)
            )
        if request.keeps or (former is not None and learning is None):
            steps.run("kept_name")

        # What each edge counts: its prior, and the rows or their effective count.
        settings["prior"] = make_priors(
            steps, con, tree_id, staging_id, options.prior, alpha, skipped
        )
        weighting = Weighting(options.weighting, options.deff).for_tree(catalog, tree)
        weighting.measure(steps, tree_id)
        ((n_rows,),) = steps.fetch("root_size")

        # Stages: kept, learnt, or only those given.
        n_merges, n_unnamed = 0, 0
        learnt: dict[str, object] = {}
        is_apart = options.single_edges == "apart"
        if learning is not None and not request.keeps:
            plan = plan_of(learning, options.smoothing, n_rows)
            n_merges, learnt = _learn(
                store, steps, catalog, tree, plan, is_joined=_starts_joined(learning)
            )
        else:
            steps.empty("learnt_stage", "vertex_id bigint, stage_id bigint")
            if request.keeps:
                steps.run("kept_stage")
            else:
                ((n_unnamed,),) = steps.fetch("unnamed_situation", is_apart=is_apart)
        steps.run("situation_stage", is_learnt=learning is not None, is_apart=is_apart)
        steps.run("given_name")

        # Tables and scores.
        n_hyperstages = steps.run(
            "staging_hyperstage", staging_id=staging_id, survey_id=tree["survey_id"]
        )
        estimates = write_stages(steps, staging_id, tree_id)
        if n_merges:
            steps.run("staging_merge", staging_id=staging_id)
        scored = scores(estimates, n_rows, float(options.smoothing))

        # The catalog row.
        sizes = {
            str(kind): {"stages": n_stages, "situations": n_situations}
            for kind, n_stages, n_situations in steps.fetch(
                "staging_size", staging_id=staging_id
            )
        }
        least_prior, prior_hint = smallest_prior(steps)
        hints = _label_hints(steps, staging_id, tree)
        if prior_hint is not None and not _has_source(settings["prior"]):
            hints.append(prior_hint)
        write(
            catalog,
            "staging",
            {
                "staging_id": staging_id,
                "name": name,
                "tree_id": tree_id,
                "method": "given" if learning is None else learning.method,
                "alpha": alpha,
                "n_hyperstages": n_hyperstages,
                "n_stages": sum(size["stages"] for size in sizes.values()),
                **scored,
                "settings": {
                    "method": "given" if learning is None else learning.method,
                    "alpha": alpha,
                    "single_edges": options.single_edges,
                    "relabel": [rule.as_json() for rule in rules] or None,
                    "smoothing": float(options.smoothing),
                    **({} if learning is None else learning_settings(learning)),
                    **weighting.as_json(),
                    **(settings if former is None else recorded_settings(former)),
                },
                "summary": {
                    "alpha_is_default": options.alpha is None,
                    "stages_by_kind": sizes,
                    "merges": n_merges,
                    "situations_not_named": n_unnamed,
                    "edges_relabelled": n_relabelled,
                    "is_kept": request.keeps,
                    "smallest_prior": least_prior,
                    **learnt,
                    "hints": [*hints, *(skipped or [])],
                },
                **made_by(time.perf_counter() - started),
            },
            again=former is not None,
        )
    return staging_id


def recorded_settings(staging: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given of a staging, as its settings have it."""
    settings = staging["settings"]
    depends = {"depends": settings["depends"]} if "depends" in settings else {}
    given = ("hyperstages", "initial", "frozen", "stages", "prior")
    return {key: settings.get(key) for key in given} | depends


def chosen_alpha(catalog: sa.Connection, tree: Mapping[str, Any], alpha: float | None) -> float:
    """Return alpha; left out, the largest number of value levels of a variable."""
    if alpha is not None:
        return float(alpha)
    query = (
        sa.select(sa.func.count())
        .select_from(
            schema.level.join(
                schema.variable, schema.level.c.variable_id == schema.variable.c.variable_id
            )
        )
        .where(schema.variable.c.survey_id == tree["survey_id"])
        .where(schema.variable.c.name.in_(tree["settings"]["order"]))
        .where(schema.level.c.kind == "value")
        .group_by(schema.variable.c.variable_id)
    )
    return float(max(catalog.execute(query).scalars(), default=1))


def _find_given(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    tree_id: int,
    request: Request,
    skipped: list[str] | None,
) -> dict[str, object]:
    """Find the stages given, frozen or to start from; return the settings to record."""
    initial = None if request.learning is None else request.learning.initial
    frozen = None if request.learning is None else request.learning.frozen
    is_rule = is_one_of(initial, get_args(StartRule))
    settings: dict[str, object] = {
        "initial": initial
        if is_rule
        else find_groups(steps, con, tree_id, initial, "initial", skipped),
        "frozen": find_groups(steps, con, tree_id, frozen, "frozen", skipped),
        "stages": find_groups(steps, con, tree_id, request.stages, "stage", skipped),
    }
    if skipped is None:
        for role in ("initial", "frozen", "stage"):
            refuse_mixed_stages(steps, tree_id, role)
    return settings


def _starts_joined(learning: LearnOptions) -> bool:
    """Return whether learning starts from one stage in each hyperstage."""
    return isinstance(learning.initial, str) and learning.initial == "indep"


def _learn(
    store: Store,
    steps: Steps,
    catalog: sa.Connection,
    tree: Mapping[str, Any],
    plan: Plan,
    *,
    is_joined: bool,
) -> tuple[int, dict[str, object]]:
    """Make ``learnt_stage``; return the number of merges, and what the summary says."""
    ((n_both,),) = steps.fetch("frozen_start")
    if n_both:
        raise StagingError(
            f"{counted(n_both, 'situation')} named in both frozen and initial",
            hint="a frozen stage is not learnt: leave it out of initial",
        )
    ids = list(variable_ids(catalog, tree).values()) if plan.method == "csbhc" else None
    hyperstages = read_hyperstages(steps, is_joined=is_joined, variable_ids=ids)
    refuse_misfit(steps, tree["tree_id"], hyperstages, plan)
    # A step for each hyperstage, and one for the expected number of spurious stages.
    with store.counting(len(hyperstages) + 1, "step") as progress:
        return cluster(steps, hyperstages, plan, progress)


def write_stages(steps: Steps, staging_id: int, tree_id: int) -> Arrays:
    """Write the tables of the stages in ``situation_stage``; return ``stage_estimate``."""
    steps.run("staging_label", staging_id=staging_id)
    steps.run("staging_member", staging_id=staging_id)
    steps.run("stage_name")
    steps.run("staging_stage", staging_id=staging_id, tree_id=tree_id, palette=PALETTE)
    steps.run("stage_answer")
    steps.run("stage_estimate")
    estimates = steps.arrays("select * from temp.stage_estimate order by row_index")
    low, high = credible_intervals(estimates)
    steps.create_from(
        "stage_interval",
        {"row_index": estimates["row_index"], "low": low, "high": high},
        purpose="95 % credible intervals: quantiles of Beta distributions, which DuckDB lacks.",
    )
    steps.run("staging_edge", staging_id=staging_id)
    return estimates


def _has_source(prior: object) -> bool:
    """Return whether priors came from a frame, a file or a SELECT."""
    return isinstance(prior, dict) and "source" in prior


def _label_hints(steps: Steps, staging_id: int, tree: Mapping[str, Any]) -> list[str]:
    """Return hints for the variables whose florets do not all have the same labels.

    Those with most hyperstages are named, and the others counted.
    """
    if tree["settings"]["sampling_zeros"] != "none":
        return []  # what lacks in completed florets was declared impossible
    label_sets: dict[str, list[tuple[set[str], int]]] = {}
    for variable, labels, n in steps.fetch("hyperstage_size", staging_id=staging_id):
        label_sets.setdefault(str(variable), []).append((set(labels or []), n))
    uneven: list[tuple[int, str]] = []
    for variable, of_variable in label_sets.items():
        seen = set[str]().union(*(labels for labels, _ in of_variable))
        n_lacking = sum(n for labels, n in of_variable if labels != seen)
        if n_lacking:
            hint = (
                f"{variable!r}: {counted(n_lacking, 'situation')} never saw some of the "
                f"answers, so stages were sought in {len(of_variable):,} separate sets (see "
                "sampling_zeros)"
            )
            uneven.append((len(of_variable), hint))
    uneven.sort(key=lambda of_variable: -of_variable[0])
    hints = [hint for _, hint in uneven[:_MOST_HINTS]]
    if len(uneven) > _MOST_HINTS:
        more = counted(len(uneven) - _MOST_HINTS, "more variable")
        hints.append(f"and {more} with several separate sets")
    return hints
