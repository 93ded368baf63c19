"""Make a staging: what was asked for, its tables, scores and catalog row."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import sqlalchemy as sa

from cegdb.errors import StagingError, counted, is_number, is_one_of
from cegdb.sqlfiles import Steps
from cegdb.stages.effective_counts import Weighting, variable_ids
from cegdb.stages.hyperstages import Given, refuse_overlap_of_frozen
from cegdb.stages.learning import Learning, cluster, read_hyperstages, refuse_misfit
from cegdb.stages.priors import Prior, make_priors, small_prior
from cegdb.stages.relabel import Rule, give_labels
from cegdb.stages.rules import Depends, apply_rules
from cegdb.stages.scores import credible_intervals, scores
from cegdb.stages.situation_names import keep_names
from cegdb.store import schema
from cegdb.store.catalog import claim_name, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.clustering import Merge
    from cegdb.stages.scores import Arrays
    from cegdb.store import Store

SingleEdges: TypeAlias = Literal["together", "apart"]

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
    """What all ways of making a staging are asked for.

    Attributes
    ----------
    method ... weighting, replace, depends
        As in `cegdb.stages.set_stages` and `cegdb.stages.learn_stages`; ``rules`` relabel.
    again
        The catalog row of the staging that is made again.
    keeps
        Whether the stages that were learnt before are kept.
    """

    method: str
    name: str | None
    alpha: float | None
    prior: Prior
    given: Given
    single_edges: SingleEdges
    rules: list[Rule]
    learning: Learning
    weighting: Weighting
    replace: bool = False
    again: Mapping[str, Any] | None = None
    keeps: bool = False
    depends: Depends | None = None

    @property
    def is_learnt(self) -> bool:
        """Whether stages come from the data, or did before they were kept."""
        return self.method != "given"

    def check(self) -> None:
        """Refuse settings that are not usable, before any work."""
        check_alpha(self.alpha)
        if not is_one_of(self.single_edges, get_args(SingleEdges)):
            raise StagingError(
                f"single_edges is {self.single_edges!r}", hint="choose together or apart"
            )
        self.learning.check()
        start = self.given.initial
        if self.method == "exact" and not (start is None or is_one_of(start, ("full",))):
            raise StagingError(
                "method 'exact' takes no initial stages",
                hint="it finds the optimum from anywhere; leave initial out, or freeze stages",
            )


def groupings(staging: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given of a staging, as its settings have it."""
    said = staging["settings"]
    rules = {"depends": said["depends"]} if "depends" in said else {}
    kept = ("hyperstages", "initial", "frozen", "stages", "prior")
    return {what: said.get(what) for what in kept} | rules


def make(store: Store, tree_id: int, request: Request) -> int:
    """Make a staging in one transaction; return its id."""
    started = time.perf_counter()
    request.check()
    with store.writing() as (con, catalog), Steps(con) as steps:
        tree = row(catalog, "tree", tree_id)
        refuse_stale("tree", tree)
        alpha = settled_alpha(catalog, tree, request.alpha)
        former, name = request.again, request.name
        if former is None:
            name = claim_name(
                catalog, "staging", name, str(tree["name"]), replace=request.replace
            )
        staging_id = new_id(catalog, "staging") if former is None else former["staging_id"]
        weighting = request.weighting.settled(catalog, tree)
        passed_over: list[str] | None = None if former is None else []
        n_relabelled = give_labels(steps, tree, request.rules, passed_over)
        settings = request.given.find(steps, con, tree, passed_over)
        if request.depends is not None:
            settings["depends"] = apply_rules(steps, tree, request.depends)
        if request.keeps or (former is not None and not request.is_learnt):
            keep_names(steps)
        settings["prior"] = make_priors(
            steps, con, tree_id, staging_id, request.prior, alpha, passed_over
        )
        weighting.measure(steps, tree_id)
        n_rows = _root_size(steps)
        merges: list[Merge] = []
        chance: dict[str, object] = {}
        not_named = 0
        if request.keeps:
            steps.create("given_stage", _KEPT_STAGES)
        elif request.is_learnt:
            merges, chance = _learn(store, steps, catalog, tree, request, n_rows)
        else:
            not_named = _not_named(steps, is_apart=request.single_edges == "apart")
        steps.run(
            "situation_stage",
            is_learnt=request.is_learnt,
            is_apart=request.single_edges == "apart",
        )
        n_hyperstages, scored = _write(
            steps, staging_id, tree, n_rows, float(request.learning.smoothing)
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
                    "single_edges": request.single_edges,
                    "relabel": [rule.as_json() for rule in request.rules] or None,
                    **_learning_settings(request),
                    **weighting.as_json(),
                    **(settings if former is None else groupings(former)),
                },
                "summary": {
                    "alpha_is_default": request.alpha is None,
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


def _learning_settings(request: Request) -> dict[str, object]:
    if request.is_learnt:
        return request.learning.as_json()
    return {"smoothing": float(request.learning.smoothing)}


def check_alpha(alpha: float | None) -> None:
    """Refuse a prior mass that is not above 0; None stands for the default.

    Examples
    --------
    >>> check_alpha(-1)
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: alpha is -1
    hint: alpha, the prior mass of the root, is a number above 0, up to 1e100
    """
    if alpha is None:
        return
    if not is_number(alpha) or not alpha > 0:
        raise StagingError(
            f"alpha is {alpha!r}",
            hint="alpha, the prior mass of the root, is a number above 0, up to 1e100",
        )


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
    request: Request,
    n_rows: float,
) -> tuple[list[Merge], dict[str, object]]:
    refuse_overlap_of_frozen(steps)
    plan = request.learning.plan(n_rows)
    variables = variable_ids(catalog, tree) if plan.method == "csbhc" else None
    hyperstages = read_hyperstages(
        steps, is_joined=request.given.is_joined, variables=variables
    )
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
    estimates = steps.arrays("select * from temp.stage_estimate order by place")
    low, high = credible_intervals(estimates)
    steps.create_from(
        "stage_interval",
        {"place": estimates["place"], "low": low, "high": high},
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
