"""Stages: given by an expert or learnt, one probability vector each, as tables."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import sqlalchemy as sa

from cegdb.errors import StagingError, agreeing, counted
from cegdb.sqlfiles import Steps
from cegdb.stages.grouping import (
    Given,
    Hyperstages,
    Start,
    given_again,
    refuse_overlap_of_frozen,
)
from cegdb.stages.learning import Learning, cluster, read_hyperstages, refuse_misfit
from cegdb.stages.naming import Grouping, Members, SituationPath, keep_names
from cegdb.stages.priors import Prior, again, make_priors, small_prior
from cegdb.stages.relabel import Relabel, Rule, give_labels, read_rules, rules_of
from cegdb.stages.rules import Depends, apply_rules
from cegdb.stages.scores import credible_intervals, scores
from cegdb.stages.weighting import Deff, WeightChoice, Weighting, variable_ids
from cegdb.store import schema
from cegdb.store.objects import claim_name, clear, drop, new_id, refuse_stale, row, write
from cegdb.version import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.ahc import Merge, Method, ScoreName, StructurePrior
    from cegdb.store import Store

__all__ = [
    "Deff",
    "Depends",
    "Grouping",
    "Hyperstages",
    "Prior",
    "Relabel",
    "SingleEdges",
    "SituationPath",
    "Start",
    "WeightChoice",
    "alpha_path",
    "check_alpha",
    "learn_stages",
    "remake_stages",
    "set_stages",
]

SingleEdges: TypeAlias = Literal["together", "apart"]

_MOST_HINTS: Final = 5
_ALPHAS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_PATH_COLUMNS: Final = (
    "n_stages", "df", "log_marginal_likelihood", "log_likelihood", "aic", "bic",
)  # fmt: skip
# Okabe & Ito (2008), then Tol's "muted" scheme: both made for colour-blind readers.
PALETTE: Final = [
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677",
    "#882255", "#AA4499",
]  # fmt: skip


_KEPT_HYPERSTAGES: Final = "select vertex_id, hyperstage_id from temp.kept_situation"
_KEPT_PRIORS: Final = "select vertex_id, label, prior from temp.kept_prior"
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
    prior: Prior = "mass",
    hyperstages: Hyperstages = "variable",
    relabel: Relabel | None = None,
    single_edges: SingleEdges = "together",
    smoothing: float = 0.0,
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
    prior
        How the prior of each edge follows from alpha: ``"mass"``: conserved, shared equally
        among the edges of each floret from the root on; ``"floret"``: alpha anew in each
        floret, shared equally; ``"path"``: an equal part for each path to a leaf. Or the
        priors of some situations (the others follow ``"mass"``): path -> a number for
        every label, numbers in level order, or label -> number; or a frame, file or SELECT
        with columns ``vertex_id``, ``label`` and ``prior``. Stages add the priors of their
        situations.
    hyperstages
        Which situations may share a stage, the label set being the same: those of one
        ``"variable"``, of any (``"labels"``), of one ``"height"``, of the same shortest
        distance to a leaf (``"paper"``, as in the paper's code); or groups given as
        ``stages`` are; situations in no group stay with those of their variable and label
        set.
    relabel
        Labels that count as others, here and in CEGs; the tree keeps its own, and paths and
        priors are written with these. ``"recovery*"``, ``("Outcome", "recovery*")`` (of a
        variable) or ``(("hospital", "*"), "recovery*")`` (at a path) -> the label it counts
        as. Labels of one situation must stay different.
    single_edges
        Situations with one edge: ``"together"`` in a stage of each hyperstage, or each its
        own (``"apart"``, as the peers leave them).
    smoothing
        Added to the count of each label of a stage when shares are estimated for the log
        likelihood, AIC and BIC (stagedtrees' lambda).
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
        label sets or hyperstages, or a number is out of range.

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
        method="given",
        name=name,
        alpha=alpha,
        prior=prior,
        given=Given(hyperstages, stages=stages),
        single_edges=single_edges,
        rules=read_rules(relabel),
        learning=Learning(smoothing=smoothing),
        weighting=Weighting(weighting, deff),
        replace=replace,
        depends=depends,
    )
    return _make(store, tree_id, request)


def learn_stages(
    store: Store,
    tree_id: int,
    *,
    name: str | None = None,
    method: Method = "ahc",
    score: ScoreName | None = None,
    alpha: float | None = None,
    prior: Prior = "mass",
    structure_prior: StructurePrior = "flat",
    hyperstages: Hyperstages = "variable",
    relabel: Relabel | None = None,
    single_edges: SingleEdges = "together",
    initial: Start | None = None,
    frozen: Grouping | None = None,
    smoothing: float = 0.0,
    distance: str | None = None,
    threshold: float | None = None,
    n_stages: int | None = None,
    seed: int = 1,
    weighting: WeightChoice = "situation",
    deff: Deff | None = None,
    replace: bool = False,
) -> int:
    """Learn the stages of a tree.

    Parameters
    ----------
    store
        Where the tree is; the staging is made in one transaction.
    tree_id
        The tree.
    name
        Of the staging; left out, the tree's name.
    method
        ``"ahc"``: agglomerative hierarchical clustering [1]_: merge the two stages of a
        hyperstage that gain most while the gain exceeds 1e-9; of ties, those with the
        smallest situations. ``"auto"``: the same, but where a hyperstage has more than
        4,000 distinct florets, from cells of situations with almost the same shares; the
        summary tells how far from exact that is on a sample.
        As in stagedtrees [2]_: ``"bhc"``: merge the best pair while nothing is lost;
        ``"fbhc"``: the first pair found; ``"csbhc"``: all stages over the answers to one
        earlier question in one context; ``"bj"``: the two nearest stages while their
        ``distance`` is below ``threshold``; ``"hc"``: move single situations, merge and
        split stages while that gains, from any start; ``"hclust"``, ``"kmeans"``: cluster
        shares, fast and approximate.
        ``"exact"``: the optimum of BIC or AIC over all stagings, for florets of two labels.
    score
        What is optimised: ``"log_marginal_likelihood"`` (of ``ahc``, ``auto``),
        ``"bic"`` (of the others), ``"aic"``, ``"log_likelihood"``; all are reported.
    structure_prior
        ``"flat"``: all stagings alike, as the peers take it; ``"size"``: all numbers of
        stages of a hyperstage alike, then all stagings of that many. With many situations
        a flat prior makes extra stages by chance: the summary tells how many to expect.
        For ``ahc``, ``auto``, ``hc``, ``exact``.
    alpha, prior, hyperstages, relabel, single_edges, smoothing, weighting, deff, replace
        As in `set_stages`.
    initial
        Where to start: ``"full"``, each situation its own stage; ``"indep"``, one stage a
        hyperstage; or stages given as those of `set_stages` are, situations in none
        starting as their own.
    frozen
        Stages that are kept as they are and out of learning, given in the same way.
    distance
        Of ``bj``: ``"kullback"``, ``"totvar"``, ``"hellinger"``, ``"manhattan"``,
        ``"euclidean"``, ``"reny"``, ``"bhatt"``, ``"chandarw"``; of ``hclust``:
        ``"totvar"``, ``"hellinger"``, ``"euclidean"``, ``"manhattan"``.
    threshold
        Of ``bj``; left out, 0.1.
    n_stages
        Of each hyperstage, for ``hclust`` and ``kmeans``; left out, the best score.
    seed
        Of random numbers: the null bootstrap, and k-means.

    Returns
    -------
    int
        ``staging_id``.

    Raises
    ------
    StagingError
        A setting is not usable, or the method does not fit the florets: see the message.

    Notes
    -----
    Situations with a single edge are not learnt; those that no row reached share a stage in
    each hyperstage. A null bootstrap tells how many stages chance alone would add: all
    situations of a hyperstage are simulated as alike, with the rows they have, and learnt
    by the same settings.

    References
    ----------
    .. [1] G. Freeman and J. Q. Smith (2011), Bayesian MAP model selection of chain event
       graphs.
    .. [2] F. Carli, M. Leonelli, E. Riccomagno and G. Varando (2022), The R package
       stagedtrees for structural learning of stratified staged trees. Journal of
       Statistical Software 102(6).

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
    learning = Learning(
        method, score, structure_prior, smoothing, distance, threshold, n_stages, seed
    )
    request = _Request(
        method=method,
        name=name,
        alpha=alpha,
        prior=prior,
        given=Given(hyperstages, initial=initial, frozen=frozen),
        single_edges=single_edges,
        rules=read_rules(relabel),
        learning=learning,
        weighting=Weighting(weighting, deff),
        replace=replace,
    )
    return _make(store, tree_id, request)


def alpha_path(store: Store, tree_id: int, **settings: Any) -> list[dict[str, object]]:
    """Return what `learn_stages` would make for alpha from 0.5 to 64; nothing is kept.

    Parameters
    ----------
    store, tree_id
        The tree.
    **settings
        As for `learn_stages`, but for ``alpha`` and ``name``.

    Returns
    -------
    list of dict
        One an alpha, ascending, the default among them: ``alpha``, ``is_default``,
        ``n_stages``, ``df``, ``log_marginal_likelihood``, ``log_likelihood``, ``aic``,
        ``bic``, ``smallest_prior`` of an edge of a floret with several. Marginal likelihoods
        of different alpha are those of different priors.

    Raises
    ------
    StagingError
        A setting is not usable.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     path = alpha_path(store, event_tree(store, survey))
    >>> [(row["alpha"], row["n_stages"]) for row in path if row["is_default"]]
    [(2.0, 2)]
    """
    rows: list[dict[str, object]] = []
    with store.writing() as (_, catalog):
        default = _alpha(catalog, row(catalog, "tree", tree_id), None)
        for alpha in sorted({*_ALPHAS, default}):
            staging_id = learn_stages(store, tree_id, alpha=alpha, **settings)
            staging = row(catalog, "staging", staging_id)
            drop(catalog, "staging", staging_id)
            rows.append(
                {
                    "alpha": alpha,
                    "is_default": alpha == default,
                    **{name: staging[name] for name in _PATH_COLUMNS},
                    "smallest_prior": staging["summary"]["smallest_prior"],
                }
            )
    return rows


@dataclass(frozen=True)
class _Request:
    """What both ways of making a staging are asked for."""

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
        if self.single_edges not in get_args(SingleEdges):
            raise StagingError(
                f"single_edges is {self.single_edges!r}", hint="choose together or apart"
            )
        self.learning.check()


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
    initial = None if keeps else given_again(given["initial"], None)
    if given["initial"] is not None and initial is None and not keeps:
        raise StagingError(
            f"staging {staging['name']!r} started from stages of a large frame or file, which "
            "is not kept",
            hint="keep its stages (stages='keep', --stages keep), or learn it again by hand",
        )
    is_given = staging["method"] == "given"
    request = _Request(
        method=staging["method"],
        name=staging["name"],
        alpha=staging["alpha"],
        prior=again(said.get("prior"), _KEPT_PRIORS),
        given=Given(
            given_again(given["hyperstages"], _KEPT_HYPERSTAGES),
            given_again(given["stages"], _KEPT_GIVEN),
            initial,
            given_again(given["frozen"], _KEPT_GIVEN),
        ),
        single_edges=said.get("single_edges", "together"),
        rules=rules_of(said),
        learning=Learning.recorded("ahc" if is_given else staging["method"], said),
        weighting=Weighting(weighting, deff),
        again=staging,
        keeps=keeps and not is_given,
        depends=said.get("depends"),
    )
    _make(store, tree["tree_id"], request)


def _groupings(staging: Mapping[str, Any]) -> dict[str, Any]:
    said = staging["settings"]
    rules = {"depends": said["depends"]} if "depends" in said else {}
    kept = ("hyperstages", "initial", "frozen", "stages", "prior")
    return {what: said.get(what) for what in kept} | rules


def _make(store: Store, tree_id: int, request: _Request) -> int:
    started = time.perf_counter()
    request.check()
    with store.writing() as (con, catalog), Steps(con) as steps:
        tree = row(catalog, "tree", tree_id)
        refuse_stale("tree", tree)
        alpha = _alpha(catalog, tree, request.alpha)
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
            merges, chance = _learn(steps, catalog, tree, request, n_rows)
        else:
            not_named = _not_named(steps)
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
        hints += [warning] if warning else []
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
                    **(settings if former is None else _groupings(former)),
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


def _learning_settings(request: _Request) -> dict[str, object]:
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


def _root_size(steps: Steps) -> float:
    """Return the rows that answer the root's question, or what they are worth."""
    ((n_rows,),) = steps.rows(
        "select cast(coalesce(sum(coalesce(z.size, e.n)), 0) as double) "
        "from temp.situation_edge as e left join temp.edge_size as z "
        "on e.child_id = z.child_id where e.vertex_id = 0"
    )
    return float(n_rows)


def _learn(
    steps: Steps,
    catalog: sa.Connection,
    tree: Mapping[str, Any],
    request: _Request,
    n_rows: float,
) -> tuple[list[Merge], dict[str, object]]:
    refuse_overlap_of_frozen(steps)
    plan = request.learning.plan(n_rows)
    variables = variable_ids(catalog, tree) if plan.method == "csbhc" else None
    hyperstages = read_hyperstages(
        steps, is_joined=request.given.is_joined, variables=variables
    )
    refuse_misfit(steps, tree["tree_id"], hyperstages, plan)
    return cluster(steps, hyperstages, plan)


def _not_named(steps: Steps) -> int:
    named = "select vertex_id from temp.given_stage"
    ((n,),) = steps.rows(f"select count(*) from temp.floret where vertex_id not in ({named})")  # noqa: S608
    return int(n)


def _write(
    steps: Steps, staging_id: int, tree: Mapping[str, Any], n_rows: float, smoothing: float
) -> tuple[int, dict[str, float]]:
    """Write the tables of a staging; return the number of hyperstages and the scores."""
    n_hyperstages = steps.run(
        "staging_hyperstage", staging_id=staging_id, survey_id=tree["survey_id"]
    )
    steps.run("staging_label", staging_id=staging_id)
    steps.run("staging_member", staging_id=staging_id)
    steps.run("stage_name")
    steps.run("staging_stage", staging_id=staging_id, tree_id=tree["tree_id"], palette=PALETTE)
    steps.run("stage_answer")
    steps.run("stage_estimate")
    estimates = steps.arrays("select * from temp.stage_estimate order by place")
    low, high = credible_intervals(estimates)
    steps.create_from("stage_interval", {"place": estimates["place"], "low": low, "high": high})
    steps.run("staging_edge", staging_id=staging_id)
    return n_hyperstages, scores(estimates, n_rows, smoothing)


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
