"""Stages: given by an expert or learnt, one probability vector each, as tables."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import sqlalchemy as sa

from cegdb.errors import StagingError, agreeing, counted
from cegdb.sqlfiles import Steps
from cegdb.stages.naming import (
    Grouping,
    Members,
    SituationPath,
    keep_names,
    refuse_mixed_stages,
    refuse_mixture,
    resolve,
)
from cegdb.stages.rules import Depends, apply_rules
from cegdb.stages.scores import intervals, scores
from cegdb.stages.weighting import Deff, WeightChoice, Weighting
from cegdb.store import schema
from cegdb.store.objects import claim_name, clear, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb
    import numpy as np
    from numpy.typing import NDArray

    from cegdb.ahc import Merge
    from cegdb.store import Store

__all__ = [
    "Deff",
    "Depends",
    "Grouping",
    "Hyperstages",
    "SituationPath",
    "WeightChoice",
    "check_alpha",
    "learn_stages",
    "remake_stages",
    "set_stages",
]

Hyperstages: TypeAlias = "Literal['variable', 'labels'] | Grouping"

_MOST_HINTS: Final = 5
# Okabe & Ito (2008), then Tol's "muted" scheme: both made for colour-blind readers.
PALETTE: Final = [
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677",
    "#882255", "#AA4499",
]  # fmt: skip


_KEPT_HYPERSTAGES: Final = "select vertex_id, hyperstage_id from temp.kept_situation"
_KEPT_GIVEN: Final = Members(
    "select vertex_id, cast(stage_id as varchar) as name, name as called "
    "from temp.kept_situation where kind = 'given'"
)
_KEPT_STAGES: Final = (
    "select k.vertex_id, cast(k.stage_id as varchar) as name "
    "from temp.kept_situation as k inner join temp.floret as f on k.vertex_id = f.vertex_id "
    "where k.kind = 'learnt' and f.n_edges > 1 and f.n > 0"
)


def set_stages(
    store: Store,
    tree_id: int,
    stages: Grouping | None = None,
    *,
    depends: Depends | None = None,
    name: str | None = None,
    alpha: float | None = None,
    hyperstages: Hyperstages = "variable",
    weighting: WeightChoice = "situation",
    deff: Deff | None = None,
    replace: bool = False,
) -> int:
    """Give the stages of a tree by hand.

    Parameters
    ----------
    store
        Where the tree is; the staging is made in one transaction.
    tree_id
        The tree.
    stages
        Path -> name of the stage. A path is the labels from the root, ``"not
        applicable"`` written out, ``"*"`` for any; ``()`` is the root. Or a list of
        groups of paths, or a template that was filled in (see `template.write_template`),
        or a frame, file or SELECT with columns ``vertex_id`` and ``stage``. Situations not
        named are their own stage; those of them with a single edge share one in each
        hyperstage. Names are kept, but for those like u0, by which stages are shown.
    depends
        Rules: variable -> the earlier ones that its stages depend on, such as ``{"Fall":
        ["Risk", "Treatment"]}``. Its situations that ``stages`` does not name share a stage
        iff they have the same hyperstage and the same answers to these; that a variable was
        not asked is an answer of its own. With none, it has one stage a hyperstage.
    name
        Of the staging; left out, the tree's name.
    alpha
        Prior mass of the root (equivalent sample size); left out, the largest number of
        value levels of a variable of the tree.
    hyperstages
        Which situations may share a stage: ``"variable"`` (same variable and label set),
        ``"labels"`` (same label set anywhere), or groups given as ``stages`` are;
        situations in no group stay with those of their variable and label set.
    weighting
        What a respondent of a weighted survey counts in scores and probabilities:
        ``"situation"``: those of a situation are worth W^2 / Q of them, W = sum of their
        weights, Q = sum of the squares (Kish); ``"global"``: the same of the whole
        survey, one factor; ``"total"``: weights scaled to sum to the number of
        respondents; ``"none"``: one each.
    deff
        Design effect of a clustered sample: a number above 0, or variable -> number;
        respondents are worth that much less. Left out, that of the survey's ``cluster``.
    replace
        Drop a staging of that name first, with everything built on it.

    Returns
    -------
    int
        ``staging_id``.

    Raises
    ------
    StagingError
        A path fits no situation, a situation is in two stages, a stage joins different
        label sets or hyperstages, or alpha is not above 0.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select 'a' as x, 'u' as y union all select 'b', 'u'")
    ...     set_stages(store, event_tree(store, survey), {("a",): "s", ("b",): "s"})
    1
    """
    if stages is None and depends is None:
        raise StagingError("no stages are given", hint="give stages, or rules (depends)")
    request = _Request(
        "given", name, alpha, hyperstages, Weighting(weighting, deff), replace, depends=depends
    )
    return _make(store, tree_id, request, stages=stages, initial=None)


def learn_stages(
    store: Store,
    tree_id: int,
    *,
    name: str | None = None,
    method: Literal["ahc"] = "ahc",
    alpha: float | None = None,
    hyperstages: Hyperstages = "variable",
    initial: Grouping | None = None,
    weighting: WeightChoice = "situation",
    deff: Deff | None = None,
    replace: bool = False,
) -> int:
    """Learn the stages of a tree by agglomerative hierarchical clustering [1]_.

    Parameters
    ----------
    store
        Where the tree is; the staging is made in one transaction.
    tree_id
        The tree.
    name
        Of the staging; left out, the tree's name.
    method
        ``"ahc"``: merge the two stages of a hyperstage with the largest Bayes factor
        while its logarithm exceeds 1e-9; of ties, those with the smallest situations.
    alpha, hyperstages, weighting, deff, replace
        As in `set_stages`.
    initial
        Stages to start from, given as ``stages`` of `set_stages` are; situations in none
        start as their own.

    Returns
    -------
    int
        ``staging_id``.

    Raises
    ------
    StagingError
        A setting is not usable: see the message.

    Notes
    -----
    Prior mass is conserved: alpha at the root, shared equally among the edges of each
    floret; stages that merge add their masses. Situations with a single edge share a stage
    in each hyperstage; so do those that no row reached, which are kept out of learning.

    References
    ----------
    .. [1] G. Freeman and J. Q. Smith (2011), Bayesian MAP model selection of chain event
       graphs.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     learn_stages(store, event_tree(store, survey))
    1
    """
    if method != "ahc":
        raise StagingError(f"method is {method!r}", hint="choose ahc")
    request = _Request("ahc", name, alpha, hyperstages, Weighting(weighting, deff), replace)
    return _make(store, tree_id, request, stages=None, initial=initial)


@dataclass(frozen=True)
class _Request:
    """What both ways of making a staging are asked for."""

    method: str
    name: str | None
    alpha: float | None
    hyperstages: Hyperstages
    weighting: Weighting
    replace: bool = False
    again: Mapping[str, Any] | None = None
    keeps: bool = False
    depends: Depends | None = None


def remake_stages(store: Store, staging_id: int, *, keeps: bool) -> None:
    """Make a staging again of its tree, which was made again, with its settings.

    Its id, name and alpha stay. Within another ``writing`` of the store, where the temp
    table ``kept_situation`` has the situations that were there before.

    Parameters
    ----------
    store, staging_id
        The staging.
    keeps
        Situations stay in the stage they were in, new ones are their own; else stages that
        were learnt are learnt anew. Stages given by path hold for new situations too; paths
        that fit none any more are passed over.

    Raises
    ------
    StagingError
        Stages to start from were given as a frame or file of more than 10,000 rows.
    """
    with store.writing() as (_, catalog):
        staging = row(catalog, "staging", staging_id)
        tree = row(catalog, "tree", staging["tree_id"])
        said = dict(staging["settings"])
        weighting = said.get("weighting", "situation")
        deff = said.get("deff") if said.get("deff_is_given") else None
        clear(catalog, "staging", staging_id)
    given = _groupings(staging)
    initial = None if keeps else _again(given["initial"], None)
    if given["initial"] is not None and initial is None and not keeps:
        raise StagingError(
            f"staging {staging['name']!r} started from stages of a large frame or file, which "
            "is not kept",
            hint="keep its stages (stages='keep', --stages keep), or learn it again by hand",
        )
    hyperstages = _again(given["hyperstages"], _KEPT_HYPERSTAGES)
    stages = _again(given["stages"], _KEPT_GIVEN)
    request = _Request(
        staging["method"],
        staging["name"],
        staging["alpha"],
        hyperstages,
        Weighting(weighting, deff),
        again=staging,
        keeps=keeps and staging["method"] != "given",
        depends=said.get("depends"),
    )
    _make(store, tree["tree_id"], request, stages=stages, initial=initial)


def _groupings(staging: Mapping[str, Any]) -> dict[str, Any]:
    said = staging["settings"]
    rules = {"depends": said["depends"]} if "depends" in said else {}
    return {what: said.get(what) for what in ("hyperstages", "initial", "stages")} | rules


def _again(said: Any, kept: str | Members | None) -> Any:
    """Return what was given of a staging, as it can be given again."""
    if not isinstance(said, dict):
        return said
    if "groups" in said and not said.get("is_named", True):
        return list(said["groups"].values())
    if "groups" in said:
        return {tuple(path): name for name, paths in said["groups"].items() for path in paths}
    return kept


def _make(
    store: Store,
    tree_id: int,
    request: _Request,
    *,
    stages: Grouping | None,
    initial: Grouping | None,
) -> int:
    started = time.perf_counter()
    check_alpha(request.alpha)
    with store.writing() as (con, catalog), Steps(con) as steps:
        tree = row(catalog, "tree", tree_id)
        refuse_stale("tree", tree)
        alpha = _alpha(catalog, tree, request.alpha)
        again, name = request.again, request.name
        if again is None:
            name = claim_name(
                catalog, "staging", name, str(tree["name"]), replace=request.replace
            )
        weighting = request.weighting.settled(catalog, tree)
        passed_over: list[str] | None = None if again is None else []
        settings = _group(steps, con, tree, request.hyperstages, stages, initial, passed_over)
        if request.depends is not None:
            settings["depends"] = apply_rules(steps, tree, request.depends)
        if request.keeps or (again is not None and request.method == "given"):
            keep_names(steps)
        weighting.measure(steps, tree_id)
        _refuse_underflow(steps, alpha)
        merges: list[Merge] = []
        not_named = 0
        if request.keeps:
            steps.create("given_stage", _KEPT_STAGES)
        elif request.method == "ahc":
            merges = _learn(steps, alpha)
        else:
            not_named = _not_named(steps)
        steps.run("situation_stage", is_learnt=request.method == "ahc")
        staging_id = new_id(catalog, "staging") if again is None else again["staging_id"]
        n_hyperstages, scored = _write(steps, staging_id, tree, alpha)
        if merges:
            steps.run("staging_merge", staging_id=staging_id)
        sizes = {
            str(kind): {"stages": n, "situations": members}
            for kind, n, members in steps.fetch("staging_size", staging_id=staging_id)
        }
        # After sampling zeros have filled the florets, what lacks was declared impossible.
        is_filled = tree["settings"]["sampling_zeros"] != "none"
        hints = [] if is_filled else _hints(steps, staging_id)
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
                    **weighting.as_json(),
                    **(settings if again is None else _groupings(again)),
                },
                "summary": {
                    "alpha_is_default": request.alpha is None,
                    "stages_by_kind": sizes,
                    "merges": len(merges),
                    "situations_not_named": not_named,
                    "is_kept": request.keeps,
                    "hints": [*hints, *(passed_over or [])],
                },
                **made_by(time.perf_counter() - started),
            },
            again=again is not None,
        )
    return staging_id


def check_alpha(alpha: float | None) -> None:
    """Refuse a prior mass that is not above 0; None stands for the default.

    Examples
    --------
    >>> check_alpha(-1)
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: alpha is -1
    hint: alpha, the prior mass of the root, is a number above 0
    """
    if alpha is None:
        return
    is_number = isinstance(alpha, Real) and not isinstance(alpha, bool)
    if not is_number or not (math.isfinite(alpha) and alpha > 0):
        raise StagingError(
            f"alpha is {alpha!r}",
            hint="alpha, the prior mass of the root, is a number above 0",
        )


def _alpha(catalog: sa.Connection, tree: Mapping[str, Any], alpha: float | None) -> float:
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


def _group(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    tree: Mapping[str, Any],
    hyperstages: Hyperstages,
    stages: Grouping | None,
    initial: Grouping | None,
    passed_over: list[str] | None,
) -> dict[str, object]:
    """Find the florets, what was given about them, and check it; return settings."""
    tree_id = tree["tree_id"]
    rule = hyperstages if isinstance(hyperstages, str) else "groups"
    steps.run("situation_edge", tree_id=tree_id)
    steps.run("floret")
    grouping = None if rule in ("variable", "labels") else hyperstages
    if any(given is not None for given in (grouping, initial, stages)):
        steps.create(
            "situation_path",
            "select vertex_id, 0 as depth, cast([] as varchar[]) as labels "
            "from temp.floret where vertex_id = 0",
        )
    given: dict[str, object] = {
        "hyperstages": resolve(steps, con, tree_id, grouping, "hyperstage", passed_over)
        or rule,
        "initial": resolve(steps, con, tree_id, initial, "initial", passed_over),
        "stages": resolve(steps, con, tree_id, stages, "stage", passed_over),
    }
    is_strict = passed_over is None
    if is_strict and grouping is not None:
        labels = "select vertex_id, labels as part from temp.floret"
        hint = "a hyperstage holds situations of one label set"
        refuse_mixture(steps, tree_id, "given_hyperstage", labels, "hyperstage", hint)
    steps.run("situation_group", by_variable=rule != "labels")
    if is_strict and initial is not None:
        refuse_mixed_stages(steps, tree_id, "given_initial", "initial stage")
    if is_strict and stages is not None:
        refuse_mixed_stages(steps, tree_id, "given_stage", "stage")
    steps.run("floret_mass", tree_id=tree_id)
    return given


def _refuse_underflow(steps: Steps, alpha: float) -> None:
    """Refuse a prior whose mass is lost on the way to the deepest florets."""
    ((most,),) = steps.rows("select max(n_shares) from temp.floret_mass")
    if most is not None and not alpha / most > sys.float_info.min:
        raise StagingError(
            f"alpha = {alpha:g}, shared from the root on, leaves no prior mass to the "
            "deepest florets (less than 1e-308)",
            hint="give a larger alpha, or use fewer variables",
        )


def _learn(steps: Steps, alpha: float) -> list[Merge]:
    """Cluster each hyperstage; replace ``given_stage`` by the stages learnt."""
    import numpy as np

    from cegdb import ahc

    steps.run("learnable")
    steps.run("learnable_answer")
    found = steps.arrays("select * from temp.learnable_answer order by all")
    found["n"], unit = _whole(found)
    hyperstage = found["hyperstage_id"]
    ends = np.flatnonzero(np.diff(hyperstage)) + 1
    runs = [
        _cluster({key: found[key][rows] for key in found}, alpha, unit)
        for rows in np.split(np.arange(len(hyperstage)), ends)
        if len(rows)
    ]
    merges = ahc.interleave(runs)
    final: dict[int, int] = {}
    for merge in reversed(merges):
        final[merge.absorbed_id] = final.get(merge.kept_id, merge.kept_id)
    steps.create_from(
        "learnt_merge",
        {
            "step": np.arange(1, len(merges) + 1),
            "kept_id": np.array([merge.kept_id for merge in merges], dtype=np.int64),
            "absorbed_id": np.array([merge.absorbed_id for merge in merges], dtype=np.int64),
            "log_bayes_factor": np.array([merge.log_bayes_factor for merge in merges], float),
            "stage_id": np.array([final[merge.absorbed_id] for merge in merges], np.int64),
        },
    )
    steps.create(
        "given_stage",
        "select l.vertex_id, cast(coalesce(m.stage_id, l.stage_id) as varchar) as name "
        "from temp.learnable as l "
        "left join temp.learnt_merge as m on l.stage_id = m.absorbed_id",
    )
    return merges


def _whole(rows: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.int64], float]:
    """Return counts as multiples of a unit: 1, or a power of 2 for effective sizes."""
    import numpy as np

    if np.ma.getmaskarray(rows["size"]).any() or not len(rows["n"]):
        return rows["n"], 1.0
    bits = 61 - math.ceil(math.log2(float(rows["size"].sum()) + 2))
    unit = 2.0 ** -min(bits, 40)
    return np.rint(rows["size"] / unit).astype(np.int64), unit


def _cluster(rows: Mapping[str, NDArray[np.int64]], alpha: float, unit: float) -> list[Merge]:
    """Run AHC on the rows of ``learnable_answer`` of one hyperstage."""
    import numpy as np

    from cegdb import ahc

    ids, stage = np.unique(rows["stage_id"], return_inverse=True)
    labels, label = np.unique(rows["label_id"], return_inverse=True)
    shares, base = np.unique(rows["n_shares"], return_inverse=True)
    counts = np.zeros((len(ids), len(labels)), dtype=np.int64)
    np.add.at(counts, (stage, label), rows["n"])
    multiplicities = np.zeros((len(ids), len(shares)), dtype=np.int64)
    first = label == 0
    multiplicities[stage[first], base[first]] = rows["n_members"][first]
    bases = np.repeat((alpha / shares)[:, np.newaxis], len(labels), axis=1)
    return ahc.agglomerate(counts, bases, multiplicities, ids, unit=unit)


def _not_named(steps: Steps) -> int:
    named = "select vertex_id from temp.given_stage"
    ((n,),) = steps.rows(f"select count(*) from temp.floret where vertex_id not in ({named})")  # noqa: S608
    return int(n)


def _write(
    steps: Steps, staging_id: int, tree: Mapping[str, Any], alpha: float
) -> tuple[int, dict[str, float]]:
    """Write the tables of a staging; return the number of hyperstages and the scores."""
    n_hyperstages = steps.run(
        "staging_hyperstage", staging_id=staging_id, survey_id=tree["survey_id"]
    )
    steps.run("staging_member", staging_id=staging_id)
    steps.run("stage_name")
    steps.run("staging_stage", staging_id=staging_id, tree_id=tree["tree_id"], palette=PALETTE)
    steps.run("stage_answer", alpha=alpha)
    steps.run("stage_estimate")
    estimates = steps.arrays("select * from temp.stage_estimate order by place")
    low, high = intervals(estimates)
    steps.create_from("stage_interval", {"place": estimates["place"], "low": low, "high": high})
    steps.run("staging_edge", staging_id=staging_id)
    ((n_rows,),) = steps.rows(
        "select cast(coalesce(sum(coalesce(z.size, e.n)), 0) as double) "
        "from temp.situation_edge as e left join temp.edge_size as z "
        "on e.child_id = z.child_id where e.vertex_id = 0"
    )
    return n_hyperstages, scores(estimates, n_rows)


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
                f"{variable!r} has {counted(len(of_variable), 'hyperstage')}, since "
                f"{counted(lacking, 'floret')} {agreeing(lacking, 'lack')} a level "
                "seen elsewhere; see sampling_zeros"
            )
            uneven.append((len(of_variable), hint))
    uneven.sort(key=lambda found: -found[0])
    hints = [hint for _, hint in uneven[:_MOST_HINTS]]
    if len(uneven) > _MOST_HINTS:
        more = counted(len(uneven) - _MOST_HINTS, "more variable")
        hints.append(f"and {more} of several hyperstages")
    return hints
