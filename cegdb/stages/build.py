"""Make a staging: what was asked for, its tables, scores and catalog row."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from cegdb.errors import counted
from cegdb.sqlfiles import Steps
from cegdb.stages.effective_counts import Weighting, variable_ids
from cegdb.stages.hyperstages import Given, refuse_overlap_of_frozen
from cegdb.stages.learning import (
    cluster,
    learning_settings,
    plan_of,
    read_hyperstages,
    refuse_misfit,
)
from cegdb.stages.priors import make_priors, small_prior
from cegdb.stages.relabel import give_labels, read_rules
from cegdb.stages.rules import apply_rules
from cegdb.stages.scores import credible_intervals, scores
from cegdb.stages.situation_names import keep_names
from cegdb.store import schema
from cegdb.store.catalog import claim_name, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.clustering import Merge, Plan
    from cegdb.options import LearnOptions, StageOptions
    from cegdb.stages.rules import Depends
    from cegdb.stages.scores import Arrays
    from cegdb.stages.situation_names import Grouping
    from cegdb.store import Store

_MOST_HINTS: Final = 5
# Okabe & Ito (2008), then Tol's "muted" scheme: both made for colour-blind readers.
PALETTE: Final = [
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677",
    "#882255", "#AA4499",
]  # fmt: skip

_KEPT_STAGES: Final = (
    "select k.vertex_id, cast(k.stage_id as varchar) as name "
    "from temp.kept_situation as k inner join temp.floret as f on k.vertex_id = f.vertex_id "
    "where k.kind = 'learnt' and f.n_edges > 1 and f.n > 0"
)


@dataclass(frozen=True)
class Request:
    """What a staging is made of: stages that are given, or options to learn them.

    ``again`` is the catalog row of a staging that is made again; ``keeps`` tells whether the
    stages that were learnt before are kept.
    """

    options: StageOptions
    learning: LearnOptions | None = None
    stages: Grouping | None = None
    depends: Depends | None = None
    name: str | None = None
    replace: bool = False
    again: Mapping[str, Any] | None = None
    keeps: bool = False

    @property
    def method(self) -> str:
        """How stages are learnt, or "given"."""
        return "given" if self.learning is None else self.learning.method

    @property
    def given(self) -> Given:
        """The stages and hyperstages that are given."""
        learning = self.learning
        if learning is None:
            return Given(self.options.hyperstages, stages=self.stages)
        return Given(self.options.hyperstages, None, learning.initial, learning.frozen)


def groupings(staging: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given of a staging, as its settings have it."""
    said = staging["settings"]
    rules = {"depends": said["depends"]} if "depends" in said else {}
    kept = ("hyperstages", "initial", "frozen", "stages", "prior")
    return {what: said.get(what) for what in kept} | rules


def make(store: Store, tree_id: int, request: Request) -> int:
    """Make a staging in one transaction; return its id."""
    started = time.perf_counter()
    options, learning = request.options, request.learning
    rules = read_rules(options.relabel)
    given = request.given
    with store.writing() as (con, catalog), Steps(con) as steps:
        tree = row(catalog, "tree", tree_id)
        refuse_stale("tree", tree)
        alpha = settled_alpha(catalog, tree, options.alpha)
        former, name = request.again, request.name
        if former is None:
            name = claim_name(
                catalog, "staging", name, str(tree["name"]), replace=request.replace
            )
        staging_id = new_id(catalog, "staging") if former is None else former["staging_id"]
        weighting = Weighting(options.weighting, options.deff).settled(catalog, tree)
        passed_over: list[str] | None = None if former is None else []
        n_relabelled = give_labels(steps, tree, rules, passed_over)
        settings = given.find(steps, con, tree, passed_over)
        if request.depends is not None:
            settings["depends"] = apply_rules(steps, tree, request.depends)
        if request.keeps or (former is not None and learning is None):
            keep_names(steps)
        settings["prior"] = make_priors(
            steps, con, tree_id, staging_id, options.prior, alpha, passed_over
        )
        weighting.measure(steps, tree_id)
        n_rows = _root_size(steps)
        merges: list[Merge] = []
        chance: dict[str, object] = {}
        not_named = 0
        if request.keeps:
            steps.create("given_stage", _KEPT_STAGES)
        elif learning is not None:
            plan = plan_of(learning, options.smoothing, n_rows)
            merges, chance = _learn(
                store, steps, catalog, tree, plan, is_joined=given.is_joined
            )
        else:
            not_named = _not_named(steps, is_apart=options.single_edges == "apart")
        steps.run(
            "situation_stage",
            is_learnt=learning is not None,
            is_apart=options.single_edges == "apart",
        )
        n_hyperstages, scored = _write(
            steps, staging_id, tree, n_rows, float(options.smoothing)
        )
        if merges:
            steps.run("staging_merge", staging_id=staging_id)
        sizes = {
            str(kind): {"stages": n, "situations": members}
            for kind, n, members in steps.fetch("staging_size", staging_id=staging_id)
        }
        # After sampling zeros have filled the florets, what lacks was declared impossible.
        is_filled = tree["settings"]["sampling_zeros"] != "none"
        hints = [] if is_filled else _hints(steps, staging_id)
        least, warning = small_prior(steps)
        told = settings["prior"]
        is_shared = not (isinstance(told, dict) and "source" in told)
        hints += [warning] if warning and is_shared else []
        write(
            catalog,
            "staging",
            {
                "staging_id": staging_id,
                "name": name,
                "tree_id": tree_id,
                "method": request.method,
                "alpha": alpha,
                "n_hyperstages": n_hyperstages,
                "n_stages": sum(size["stages"] for size in sizes.values()),
                **scored,
                "settings": {
                    "method": request.method,
                    "alpha": alpha,
                    "single_edges": options.single_edges,
                    "relabel": [rule.as_json() for rule in rules] or None,
                    "smoothing": float(options.smoothing),
                    **({} if learning is None else learning_settings(learning)),
                    **weighting.as_json(),
                    **(settings if former is None else groupings(former)),
                },
                "summary": {
                    "alpha_is_default": options.alpha is None,
                    "stages_by_kind": sizes,
                    "merges": len(merges),
                    "situations_not_named": not_named,
                    "edges_relabelled": n_relabelled,
                    "is_kept": request.keeps,
                    "smallest_prior": least,
                    **chance,
                    "hints": [*hints, *(passed_over or [])],
                },
                **made_by(time.perf_counter() - started),
            },
            again=former is not None,
        )
    return staging_id


def settled_alpha(
    catalog: sa.Connection, tree: Mapping[str, Any], alpha: float | None
) -> float:
    """Return alpha; left out, the largest number of value levels of a variable."""
    if alpha is None:
        settings = tree["settings"]
        order = settings["order"] if isinstance(settings, dict) else []
        query = (
            sa.select(sa.func.count())
            .select_from(
                schema.level.join(
                    schema.variable,
                    schema.level.c.variable_id == schema.variable.c.variable_id,
                )
            )
            .where(schema.variable.c.survey_id == tree["survey_id"])
            .where(schema.variable.c.name.in_(order))
            .where(schema.level.c.kind == "value")
            .group_by(schema.variable.c.variable_id)
        )
        return float(max(catalog.execute(query).scalars(), default=1))
    return float(alpha)


def _root_size(steps: Steps) -> float:
    """Return the rows that answer the root's question, or what they are worth."""
    ((n_rows,),) = steps.rows(
        "select cast(coalesce(sum(coalesce(z.size, e.n)), 0) as double) "
        "from temp.situation_edge as e left join temp.edge_size as z "
        "on e.child_id = z.child_id where e.vertex_id = 0"
    )
    return float(n_rows)


def _learn(
    store: Store,
    steps: Steps,
    catalog: sa.Connection,
    tree: Mapping[str, Any],
    plan: Plan,
    *,
    is_joined: bool,
) -> tuple[list[Merge], dict[str, object]]:
    refuse_overlap_of_frozen(steps)
    variables = variable_ids(catalog, tree) if plan.method == "csbhc" else None
    hyperstages = read_hyperstages(steps, is_joined=is_joined, variables=variables)
    refuse_misfit(steps, tree["tree_id"], hyperstages, plan)
    # Each hyperstage, and what chance would make.
    with store.counting(len(hyperstages) + 1, "step") as progress:
        return cluster(steps, hyperstages, plan, progress)


def _not_named(steps: Steps, *, is_apart: bool) -> int:
    """Return how many situations are not named; of single edges only if each is a stage."""
    ((n,),) = steps.rows(
        "select count(*) from temp.floret where ($is_apart or n_edges > 1) "
        "and vertex_id not in (select vertex_id from temp.given_stage)",
        {"is_apart": is_apart},
    )
    return int(n)


def _write(
    steps: Steps, staging_id: int, tree: Mapping[str, Any], n_rows: float, smoothing: float
) -> tuple[int, dict[str, float]]:
    """Write the tables of a staging; return the number of hyperstages and the scores."""
    n_hyperstages = steps.run(
        "staging_hyperstage", staging_id=staging_id, survey_id=tree["survey_id"]
    )
    estimates = write_stages(steps, staging_id, tree["tree_id"])
    return n_hyperstages, scores(estimates, n_rows, smoothing)


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


def _hints(steps: Steps, staging_id: int) -> list[str]:
    """Return hints for the variables whose florets do not all have the same labels.

    Those with most hyperstages are named, and the others counted.
    """
    sets: dict[str, list[tuple[set[str], int]]] = {}
    for variable, labels, n in steps.fetch("hyperstage_size", staging_id=staging_id):
        found = {str(label) for label in labels} if isinstance(labels, list) else set()
        sets.setdefault(str(variable), []).append((found, n))
    uneven: list[tuple[int, str]] = []
    for variable, of_variable in sets.items():
        seen = set[str]().union(*(labels for labels, _ in of_variable))
        lacking = sum(n for labels, n in of_variable if labels != seen)
        if lacking:
            hint = (
                f"{variable!r}: {counted(lacking, 'situation')} never saw some of the answers, "
                f"so stages were sought in {len(of_variable):,} separate sets (see "
                "sampling_zeros)"
            )
            uneven.append((len(of_variable), hint))
    uneven.sort(key=lambda found: -found[0])
    hints = [hint for _, hint in uneven[:_MOST_HINTS]]
    if len(uneven) > _MOST_HINTS:
        more = counted(len(uneven) - _MOST_HINTS, "more variable")
        hints.append(f"and {more} with several separate sets")
    return hints
