"""Stages: given by an expert or learnt, one probability vector each, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import StagingError
from cegdb.stages.build import Request, SingleEdges, check_alpha, make, settled_alpha
from cegdb.stages.effective_counts import Deff, WeightChoice, Weighting
from cegdb.stages.hyperstages import Given, Hyperstages, Start
from cegdb.stages.learning import Learning
from cegdb.stages.priors import Prior
from cegdb.stages.rebuild import remake_stages
from cegdb.stages.relabel import Relabel, read_rules
from cegdb.stages.rules import Depends
from cegdb.stages.situation_names import Grouping, SituationPath
from cegdb.store.catalog import drop, row

if TYPE_CHECKING:
    from cegdb.clustering import Method, ScoreName, StructurePrior
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

_ALPHAS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_PATH_COLUMNS: Final = (
    "n_stages", "df", "log_marginal_likelihood", "log_likelihood", "aic", "bic",
)  # fmt: skip


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
        Labels that count as others, here and in CEGs. The tree keeps its own labels: paths
        and priors are written with the tree's, not the new ones. ``"recovery*"``,
        ``("Outcome", "recovery*")`` (of a variable) or
        ``(("hospital", "*"), "recovery*")`` (at a path) -> the label it counts as. Labels of
        one situation must stay different.
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
    request = Request(
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
    return make(store, tree_id, request)


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
    request = Request(
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
    return make(store, tree_id, request)


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
        default = settled_alpha(catalog, row(catalog, "tree", tree_id), None)
        alphas = sorted({*_ALPHAS, default})
        with store.counting(len(alphas), "run") as progress:
            for alpha in alphas:
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
                progress.read()
    return rows
