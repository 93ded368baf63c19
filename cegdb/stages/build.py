"""Make a staging: florets, hyperstages, stages, tables, scores and catalog row, in order."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import sqlalchemy as sa

from cegdb import findings
from cegdb.clustering import Coarsening
from cegdb.clustering.null_bootstrap import Budget
from cegdb.errors import StagingError, counted, is_one_of
from cegdb.options import STAGE_ALPHA, SamplingZeros, StartRule
from cegdb.sqlfiles import Steps
from cegdb.stages.depends import add_dependence_stages
from cegdb.stages.effective_counts import Weighting, variable_ids
from cegdb.stages.groups import MAX_RECORDED, GroupReader
from cegdb.stages.hyperstages import find_hyperstages
from cegdb.stages.learning import (
    cluster,
    join_configurations,
    learning_settings,
    needs_answers,
    needs_scores,
    plan_of,
    read_hyperstages,
)
from cegdb.stages.priors import make_priors, smallest_prior, stage_mass
from cegdb.stages.relabel import find_rules, read_rules, relabel_edges
from cegdb.stages.robust_intervals import intervals_of_stages
from cegdb.stages.scores import LEVEL, scores
from cegdb.stages.situations import find_florets
from cegdb.stages.unobserved import join_unobserved, make_predictive_priors
from cegdb.store import schema
from cegdb.store.catalog import claim_name, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.options import LearnOptions, StageOptions
    from cegdb.stages.depends import Depends
    from cegdb.stages.groups import Grouping, Role
    from cegdb.stages.relabel import RelabelRule
    from cegdb.stages.scores import Arrays
    from cegdb.store import Store

# Okabe & Ito (2008), then Tol's "muted" scheme: both made for colour-blind readers.
PALETTE: Final = [
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677",
    "#882255", "#AA4499",
]  # fmt: skip


@dataclass(frozen=True)
class StagingLimits:
    """Sizes from which on making a staging leaves something out or approximates it.

    Frames and files of groups with more than ``max_recorded`` rows are not recorded in the
    settings; ``coarsening`` says when the method ``"auto"`` approximates, and ``budget`` what
    the null bootstrap may cost.
    """

    max_recorded: int = MAX_RECORDED
    coarsening: Coarsening = field(default_factory=Coarsening)
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class StagingRequest:
    """What a staging is made of: stages that are given, or options to learn them.

    A name left out is that of the tree, or ``default_name``, with a number if it is taken.
    ``former`` is the catalog row of a staging that is made again, whose id it keeps;
    ``keeps_stages`` says whether its learnt stages are kept instead of learnt again.
    """

    options: StageOptions
    learning: LearnOptions | None = None
    stages: Grouping | None = None
    depends: Depends | None = None
    name: str | None = None
    default_name: str | None = None
    replace: bool = False
    former: Mapping[str, Any] | None = None
    keeps_stages: bool = False
    limits: StagingLimits = field(default_factory=StagingLimits)

    @property
    def method(self) -> str:
        """How the stages come about, as the catalog has it."""
        return "given" if self.learning is None else self.learning.method


def build(store: Store, tree_id: int, request: StagingRequest) -> int:
    """Make a staging in one transaction; return its id."""
    started = time.perf_counter()
    options, former = request.options, request.former
    with store.writing() as (con, catalog), Steps(con) as steps:
        tree = row(catalog, "tree", tree_id)
        refuse_stale("tree", tree)
        staging_id, name = _claimed(catalog, tree, request)
        alpha = chosen_alpha(catalog, tree, options)
        # A staging made again may name paths that are gone: they are skipped, and noted here.
        skipped: list[str] | None = None if former is None else []
        reader = GroupReader(steps, con, tree_id, skipped, request.limits.max_recorded)

        # Florets, with the labels of the staging.
        rules = find_rules(steps, tree, read_rules(options.relabel))
        n_relabelled = relabel_edges(steps, tree, rules, skipped)
        find_florets(steps, tree_id)

        # Hyperstages, and the stages that are given.
        groups = _read_groups(reader, catalog, tree, request)

        # What each edge counts: its prior, and the rows or their effective count.
        groups["prior"] = make_priors(reader, staging_id, options.prior, alpha)
        weighting = Weighting(options.weighting, options.deff).for_tree(catalog, tree)
        weighting.measure(steps, tree_id)
        ((n_rows,),) = steps.fetch("root_size")

        # Stages: kept, learnt, or only those given.
        mass = stage_mass(groups["prior"], alpha)
        outcome = _make_stages(store, reader, catalog, tree, request, n_rows, mass)

        # Tables and scores.
        n_hyperstages = steps.run(
            "staging_hyperstage", staging_id=staging_id, survey_id=tree["survey_id"]
        )
        estimates = write_stages(
            steps,
            staging_id,
            tree_id,
            tree["settings"]["sampling_zeros"],
            is_by_stage=mass is not None,
            is_predictive=request.learning is not None
            and is_one_of(request.learning.unobserved, ("predictive",)),
        )
        if outcome.n_merges:
            steps.run("staging_merge", staging_id=staging_id)
        if "parents" in outcome.learning_summary:
            steps.run("staging_parent_set", staging_id=staging_id)
        scored = scores(estimates, n_rows, float(options.smoothing))

        # The catalog row.
        sizes = {
            str(kind): {"stages": n_stages, "situations": n_situations}
            for kind, n_stages, n_situations in steps.fetch(
                "staging_size", staging_id=staging_id
            )
        }
        least_prior, of_prior = smallest_prior(steps)
        has_source = isinstance(groups["prior"], dict) and "source" in groups["prior"]
        summary = {
            "alpha_is_default": options.alpha is None,
            "stages_by_kind": sizes,
            "merges": outcome.n_merges,
            "situations_not_named": outcome.n_unnamed,
            "edges_relabelled": n_relabelled,
            "is_kept": request.keeps_stages,
            "smallest_prior": least_prior,
            **outcome.learning_summary,
        }
        learning = request.learning
        is_tested = learning is not None and learning.settled_criterion == "test"
        found = [
            *_uneven_labels(steps, staging_id, tree),
            *([] if has_source else of_prior),
            *outcome.found,
            *findings.spurious_stages(summary, tree["n"], is_tested=is_tested),
            *findings.skipped_paths(skipped or []),
            *(findings.stage_findings(steps, staging_id) if tree["n"] else []),
        ]
        recorded = groups if former is None else recorded_settings(former)
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
                    **_settings(request, alpha, rules),
                    **weighting.as_json(),
                    **recorded,
                },
                "summary": summary,
                **made_by(time.perf_counter() - started),
            },
            is_update=former is not None,
        )
        findings.record(catalog, "staging", staging_id, found)
    return staging_id


def _settings(
    request: StagingRequest, alpha: float, rules: Sequence[RelabelRule]
) -> dict[str, object]:
    """Return the settings to record, but for weights and groups of situations."""
    learning = {} if request.learning is None else learning_settings(request.learning)
    return {
        "method": request.method,
        "alpha": alpha,
        "single_edges": request.options.single_edges,
        "relabel": [rule.as_json() for rule in rules] or None,
        "smoothing": float(request.options.smoothing),
        **learning,
    }


def recorded_settings(staging: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a user gave of a staging, as its settings record it."""
    settings = staging["settings"]
    depends = {"depends": settings["depends"]} if "depends" in settings else {}
    given = ("hyperstages", "initial", "frozen", "stages", "prior")
    return {key: settings.get(key) for key in given} | depends


def chosen_alpha(
    catalog: sa.Connection, tree: Mapping[str, Any], options: StageOptions
) -> float:
    """Return alpha; left out, the largest number of value levels of a variable.

    Where each stage has the same prior, that of a stage: `STAGE_ALPHA`.
    """
    if options.alpha is not None:
        return float(options.alpha)
    if stage_mass(options.prior, STAGE_ALPHA) is not None:
        return STAGE_ALPHA
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


def _claimed(
    catalog: sa.Connection, tree: Mapping[str, Any], request: StagingRequest
) -> tuple[int, str]:
    """Return the id and the name of the staging: new ones, or those of the former."""
    if request.former is not None:
        return request.former["staging_id"], request.former["name"]
    default = request.default_name or str(tree["name"])
    name = claim_name(catalog, "staging", request.name, default, replace=request.replace)
    return new_id(catalog, "staging"), name


def _read_groups(
    reader: GroupReader,
    catalog: sa.Connection,
    tree: Mapping[str, Any],
    request: StagingRequest,
) -> dict[str, Any]:
    """Make ``situation_group`` and ``given_group``; return the settings to record.

    They are the hyperstages, and the stages that are given, frozen or to start from.
    """
    steps, learning = reader.steps, request.learning
    groups: dict[str, Any] = {
        "hyperstages": find_hyperstages(reader, request.options.hyperstages)
    }
    initial = None if learning is None else learning.initial
    is_rule = is_one_of(initial, get_args(StartRule))
    given: dict[Role, Any] = {
        "initial": None if is_rule else initial,
        "frozen": None if learning is None else learning.frozen,
        "stage": request.stages,
    }
    read = {role: reader.read(grouping, role) for role, grouping in given.items()}
    groups["initial"] = initial if is_rule else read["initial"]
    groups |= {"frozen": read["frozen"], "stages": read["stage"]}
    # Stages of a staging made again may meanwhile be mixed: each is then several.
    if request.former is None:
        for role in (role for role, grouping in given.items() if grouping is not None):
            reader.refuse_mixed_labels(role)
            reader.refuse_mixed_hyperstages(role)
    if request.depends is not None:
        ids = variable_ids(catalog, tree)
        groups["depends"] = add_dependence_stages(steps, tree, request.depends, ids)
    if request.keeps_stages or (request.former is not None and learning is None):
        steps.run("former_stage_name")
    return groups


class _Outcome(NamedTuple):
    """How the stages came about, and what was found then."""

    n_merges: int = 0
    n_unnamed: int = 0
    learning_summary: Mapping[str, object] = {}
    found: Sequence[findings.Finding] = ()


def _make_stages(
    store: Store,
    reader: GroupReader,
    catalog: sa.Connection,
    tree: Mapping[str, Any],
    request: StagingRequest,
    n_rows: float,
    mass: float | None,
) -> _Outcome:
    """Make ``situation_stage`` and ``given_name``: the stage of each situation, and names."""
    steps, is_apart = reader.steps, request.options.single_edges == "apart"
    outcome = _Outcome()
    if request.learning is not None and not request.keeps_stages:
        outcome = _learn(store, steps, catalog, tree, request, n_rows, mass)
    else:
        steps.empty("learnt_stage", "vertex_id bigint, stage_id bigint")
        if request.keeps_stages:
            _keep_stages(steps, catalog, tree, request)
        else:
            ((n_unnamed,),) = steps.fetch("unnamed_situation", is_apart=is_apart)
            outcome = _Outcome(n_unnamed=n_unnamed)
    if request.learning is not None:
        ids = list(variable_ids(catalog, tree).values())
        join_unobserved(reader, request.learning.unobserved, ids)
    steps.run("situation_stage", is_learnt=request.learning is not None, is_apart=is_apart)
    steps.run("given_name")
    return outcome


def _keep_stages(
    steps: Steps, catalog: sa.Connection, tree: Mapping[str, Any], request: StagingRequest
) -> None:
    """Fill ``learnt_stage`` with the stages from before a rebuild, and keep their parents."""
    steps.run("former_learnt_stage")
    learning, former = request.learning, request.former
    if learning is None or former is None or learning.max_parents is None:
        return
    staging_id = former["staging_id"]
    steps.run("kept_parent_set", staging_id=staging_id, survey_id=tree["survey_id"])
    parents = steps.rows(
        "select hyperstage_id, variable_ids from cegdb.parent_set "
        "where staging_id = $staging_id and set_rank = 1",
        {"staging_id": staging_id},
    )
    ids = list(variable_ids(catalog, tree).values())
    join_configurations(steps, ids, dict(parents))


def _learn(
    store: Store,
    steps: Steps,
    catalog: sa.Connection,
    tree: Mapping[str, Any],
    request: StagingRequest,
    n_rows: float,
    mass: float | None,
) -> _Outcome:
    """Make ``learnt_stage`` and ``learnt_merge``."""
    learning, limits = request.learning, request.limits
    if learning is None:
        raise AssertionError(request)
    for setting, is_given in (
        ("max_parents", learning.max_parents is not None),
        ("method 'ordinal'", needs_scores(learning)),
    ):
        if is_given and request.options.relabel:
            raise StagingError(
                f"{setting} and relabel cannot be given together",
                hint="recode the answers when ingesting (recode in a codebook), or leave one "
                "of them out",
            )
    ((n_both,),) = steps.fetch("frozen_start")
    if n_both:
        raise StagingError(
            f"{counted(n_both, 'situation')} named in both frozen and initial",
            hint="a frozen stage is not learnt: leave it out of initial",
        )
    plan = plan_of(
        learning,
        request.options.smoothing,
        n_rows,
        stage_mass=mass,
        coarsening=limits.coarsening,
    )
    ids = list(variable_ids(catalog, tree).values())
    has_parents = plan.max_parents is not None
    hyperstages = read_hyperstages(
        steps,
        starts_joined=is_one_of(learning.initial, ("indep",)),
        variable_ids=ids if needs_answers(learning) else None,
        with_unreached=has_parents,
        scored_tree=tree["tree_id"] if needs_scores(learning) else None,
    )
    if has_parents:
        hyperstages = [one for one in hyperstages if one.counts.any()]
    # A step for each hyperstage, one for its parents, and one for the expected number of
    # spurious stages.
    with store.counting((1 + has_parents) * len(hyperstages) + 1, "step") as progress:
        n_merges, summary = cluster(
            steps, tree["tree_id"], hyperstages, ids, plan, limits.budget, progress
        )
    return _Outcome(
        n_merges=n_merges,
        learning_summary=summary,
        found=_history_findings(steps, tree, has_parents=has_parents),
    )


def _history_findings(
    steps: Steps, tree: Mapping[str, Any], *, has_parents: bool
) -> list[findings.Finding]:
    """Return what was found about histories that few rows have, and that none has."""
    if not has_parents:
        return findings.rare_histories(*steps.fetch("rare_history")[0])
    if tree["settings"]["sampling_zeros"] != "none":
        return []
    return [findings.no_edges_for_new_answers()]


def write_stages(
    steps: Steps,
    staging_id: int,
    tree_id: int,
    sampling_zeros: SamplingZeros,
    *,
    is_by_stage: bool,
    is_predictive: bool,
) -> Arrays:
    """Write the tables of the stages in ``situation_stage``; return ``stage_estimate``.

    With ``is_by_stage`` each stage has the prior of one of its situations, not their sum; with
    ``is_predictive`` stages that nobody reached have the predictive distribution.
    """
    steps.run("staging_label", staging_id=staging_id)
    steps.run("staging_member", staging_id=staging_id)
    steps.run("stage_name")
    steps.run("staging_stage", staging_id=staging_id, tree_id=tree_id, palette=PALETTE)
    make_predictive_priors(steps, is_predictive=is_predictive)
    steps.run("stage_answer", is_by_stage=is_by_stage)
    steps.run("stage_estimate")
    estimates = steps.arrays("select * from temp.stage_estimate order by row_index")
    low, high = intervals_of_stages(steps, estimates, LEVEL)
    steps.create_from(
        "stage_interval",
        {"row_index": estimates["row_index"], "low": low, "high": high},
        purpose="95 % intervals, whether or not the situations of a stage are alike: from "
        "quantiles of Beta distributions, which DuckDB lacks.",
    )
    find_left_out_answers(steps, tree_id, sampling_zeros)
    steps.run("staging_edge", staging_id=staging_id)
    return estimates


def find_left_out_answers(steps: Steps, tree_id: int, sampling_zeros: SamplingZeros) -> None:
    """Make the table ``left_out_answer`` of the stages with a single answer."""
    steps.run("left_out_answer", tree_id=tree_id, is_unlisted=sampling_zeros == "none")


def _uneven_labels(
    steps: Steps, staging_id: int, tree: Mapping[str, Any]
) -> list[findings.Finding]:
    """Return the variables whose florets do not all have the same labels."""
    if tree["settings"]["sampling_zeros"] != "none":
        return []  # what lacks in completed florets was declared impossible
    label_sets: dict[str, list[tuple[set[str], int, int]]] = {}
    for variable, labels, *sizes in steps.fetch("hyperstage_size", staging_id=staging_id):
        label_sets.setdefault(str(variable), []).append((set(labels or []), *sizes))
    return findings.uneven_labels(label_sets)
