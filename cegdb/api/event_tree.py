"""An event tree, and the ways to stage it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cegdb.api.base import GraphObject
from cegdb.api.staged_tree import StagedTree
from cegdb.errors import StagingError
from cegdb.options import LearnOptions, StageOptions
from cegdb.stages import alpha_path, learn_stages, set_stages
from cegdb.stages.groups import StagesOf

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import networkx as nx
    import pandas as pd

    from cegdb.networks import NetworkSource
    from cegdb.options import (
        Deff,
        Method,
        Relabel,
        ScoreName,
        SingleEdges,
        StructurePrior,
        WeightChoice,
    )
    from cegdb.stages import Depends, Grouping, Hyperstages, Prior, Start
    from cegdb.store.catalog import Kind


class EventTree(GraphObject):
    """An event tree: its vertices and edges, and ways to stage it.

    Examples
    --------
    >>> import cegdb
    >>> db = cegdb.open()
    >>> ceg = db.demo("falls")
    >>> db.trees["falls"].situations[["situation", "path", "n"]].head(2)
      situation               path      n
    0        s0                     50000
    1        s1  Communal Assessed    379
    """

    kind: Kind = "tree"

    @property
    def situations(self) -> pd.DataFrame:
        """The situations, breadth first.

        Columns: ``tree``; ``situation`` (s0, s1, ...); ``variable`` asked there; ``path``
        in words and ``labels`` as a list; ``depth`` and ``height`` in edges; ``n`` rows
        that reached it; ``weight``; ``n_stopped`` rows without an answer; ``vertex_id``.
        """
        return self._frame("situations", "tree", "vertex_id")

    @property
    def edges(self) -> pd.DataFrame:
        """The edges, breadth first.

        Columns: ``tree``; ``source``, ``label``, ``target``; ``variable``; ``n`` rows that
        took it; ``weight``; ``share`` of those who answered; ``parent_id``, ``child_id``,
        ``level_id``.
        """
        return self._frame("tree_edges", "tree", "child_id")

    @property
    def florets(self) -> pd.DataFrame:
        """The florets, one row per situation.

        Columns: ``tree``; ``situation``; ``variable``; ``labels`` and ``counts`` as lists
        in level order; ``n_edges``; ``n`` rows that reached it; ``n_stopped``;
        ``vertex_id``.
        """
        return self._frame("florets", "tree", "vertex_id")

    def set_stages(
        self,
        stages: Grouping | NetworkSource | None = None,
        name: str | None = None,
        *,
        depends: Depends | None = None,
        alpha: float | None = None,
        prior: Prior = "mass",
        hyperstages: Hyperstages = "variable",
        relabel: Relabel | None = None,
        single_edges: SingleEdges = "together",
        smoothing: float = 0.0,
        weighting: WeightChoice = "situation",
        deff: Deff | None = None,
        replace: bool = False,
    ) -> StagedTree:
        """Give the stages by hand.

        Parameters
        ----------
        stages
            Path -> name of the stage. A path is the labels from the root, ``"not applicable"``
            written out, ``"*"`` for any label; ``()`` is the root. Or a list of groups of
            paths; a template that was filled in (see `template`); a frame, file or SELECT with
            the columns ``vertex_id`` and ``stage``; or a Bayesian network of the tree's
            variables (a networkx.DiGraph of their names, a pgmpy model or a ``.bif`` file),
            whose tables are not used. Situations not named are their own stage, but those
            with a single edge share one in each hyperstage. Names are kept, except those like
            u0, by which stages are shown.
        name
            Name to store it under. Default: the name of the tree, with a number if it is taken.
        depends
            Rules: variable -> the earlier ones that its stages depend on, such as
            ``{"Fall": ["Risk", "Treatment"]}``. Its situations that ``stages`` does not name
            share a stage if and only if they have the same hyperstage and the same answers to
            these (that a variable was not asked is an answer of its own). An empty list gives
            one stage in each hyperstage.
        alpha
            Prior mass of the root (equivalent sample size). Default: the largest
            number of levels of a variable of the tree.
        prior
            How `alpha` is shared among the edges: "mass" passes it down from the
            root, shared equally in each floret; "floret" starts with alpha in each
            floret; "path" gives each root-to-leaf path an equal part. Or the priors
            of some situations, in a table with the columns vertex_id, label and
            prior; the others follow "mass".
        hyperstages
            Which situations with the same labels may share a stage: "variable"
            (those that ask the same variable), "labels" (all), "height" (those at
            the same longest distance to a leaf) or "paper" (those at the same
            shortest distance to a leaf). Or groups of situations, given as stages
            are.
        relabel
            Labels to replace with others in stages and CEGs; the tree keeps its
            own. The labels of one situation must stay different.
        single_edges
            Situations with a single edge: "together" puts those of a hyperstage
            into one stage, "apart" makes each a stage of its own.
        smoothing
            Number added to the count of each label of a stage when the log
            likelihood, AIC and BIC are calculated (lambda in stagedtrees).
        weighting
            What respondents of a weighted survey count in scores and probabilities:
            "situation" (those in a situation count as W^2 / Q people, where W is
            the sum of their weights and Q the sum of the squares: Kish), "global"
            (the same with one factor for the whole survey), "total" (weights scaled
            to sum to the number of respondents) or "none" (each counts 1).
        deff
            Design effect of a clustered sample, by which effective counts are
            divided: a number, or one for each variable. Default: estimated from the
            clusters of the survey.
        replace
            Replace a staging of that name, with everything built on it.

        Returns
        -------
        StagedTree
            With the stages given; the tree stays as it is.

        Raises
        ------
        StagingError
            A path fits no situation, a situation is in two stages, a stage joins different
            label sets or hyperstages, or a number is out of range.
        NetworkError
            The network has other variables than the tree, or another order.

        Notes
        -----
        The priors of single situations can be given as path -> a number for every label,
        numbers in level order, or label -> number; stages add the priors of their situations.
        ``relabel`` maps ``"recovery*"``, ``("Outcome", "recovery*")`` (of a variable) or
        ``(("hospital", "*"), "recovery*")`` (at a path) to the label it counts as; paths and
        priors use the labels of the tree.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'a' as x, 'u' as y union all select 'b', 'u'")
        ...     staged = survey.event_tree().set_stages({("a",): "s", ("b",): "s"})
        ...     len(staged.stages)
        2
        """
        from cegdb import networks

        options = StageOptions(
            alpha=alpha,
            prior=prior,
            hyperstages=hyperstages,
            relabel=relabel,
            single_edges=single_edges,
            smoothing=smoothing,
            weighting=weighting,
            deff=deff,
        )
        if networks.is_network(stages):
            if depends is not None:
                raise StagingError(
                    "a network and rules (depends) are given", hint="give one of them"
                )
            depends = networks.rules_of(self._store, self.id, cast("NetworkSource", stages))
            stages = None
        staging_id = set_stages(
            self._store,
            self.id,
            cast("Grouping | None", stages),
            options,
            depends=depends,
            name=name,
            replace=replace,
        )
        return StagedTree(self._store, staging_id)

    def full(
        self,
        name: str | None = None,
        *,
        alpha: float | None = None,
        prior: Prior = "mass",
        replace: bool = False,
    ) -> StagedTree:
        """Make the saturated staged tree, like ``full()`` of stagedtrees.

        Each situation is a stage of its own.

        Parameters
        ----------
        name
            Name to store it under. Default: that of the tree with ``-full``, and a
            number if it is taken.
        alpha, prior
            As for `set_stages`.
        replace
            Replace a staging of that name, with everything built on it.

        Returns
        -------
        StagedTree
            With as many stages as the tree has situations.

        Raises
        ------
        NameTakenError
            There is a staging of that name, and ``replace`` is false.
        StagingError
            A setting is not one of its choices or out of range.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
        ...     survey.event_tree().full().df
        3
        """
        staging_id = set_stages(
            self._store,
            self.id,
            {},
            StageOptions(alpha=alpha, prior=prior, single_edges="apart"),
            name=name,
            default_name=f"{self.name}-full",
            replace=replace,
        )
        return StagedTree(self._store, staging_id)

    def indep(
        self,
        name: str | None = None,
        *,
        alpha: float | None = None,
        prior: Prior = "mass",
        replace: bool = False,
    ) -> StagedTree:
        """Make the independence staged tree, like ``indep()`` of stagedtrees.

        All situations of a hyperstage share a stage: no answer depends on those before it.

        Parameters
        ----------
        name
            Name to store it under. Default: that of the tree with ``-indep``, and a
            number if it is taken.
        alpha, prior
            As for `set_stages`.
        replace
            Replace a staging of that name, with everything built on it.

        Returns
        -------
        StagedTree
            With one stage in each hyperstage.

        Raises
        ------
        NameTakenError
            There is a staging of that name, and ``replace`` is false.
        StagingError
            A setting is not one of its choices or out of range.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
        ...     survey.event_tree().indep().df
        2
        """
        order = cast("list[str]", self.settings["order"])
        staging_id = set_stages(
            self._store,
            self.id,
            None,
            StageOptions(alpha=alpha, prior=prior),
            depends={variable: [] for variable in order},
            name=name,
            default_name=f"{self.name}-indep",
            replace=replace,
        )
        return StagedTree(self._store, staging_id)

    def template(self, path: str | os.PathLike[str]) -> Path:
        """Write its situations into a file, to fill in the names of their stages.

        `set_stages` reads the file back.

        Parameters
        ----------
        path
            Ends in ``.xlsx``, ``.csv`` or ``.yaml``. A file there is replaced.

        Returns
        -------
        Path
            The file: one row per situation with ``vertex_id``, ``situation``, ``variable``, the
            labels from the root (``path_1``, ``path_2``, ...), ``labels`` and ``counts`` of the
            floret, ``n`` rows that reached it, and an empty ``stage``.

        Raises
        ------
        StagingError
            The ending is another one, or the file cannot be written.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> with cegdb.open() as db, tempfile.TemporaryDirectory() as folder:
        ...     tree = db.ingest("select i % 2 as x from range(8) t(i)").event_tree()
        ...     tree.template(f"{folder}/stages.csv").name
        'stages.csv'
        """
        from cegdb.stages.template import write_template

        return write_template(self._store, self.id, path)

    def learn_stages(
        self,
        name: str | None = None,
        *,
        method: Method = "ahc",
        score: ScoreName | None = None,
        structure_prior: StructurePrior = "flat",
        initial: Start | StagedTree | None = None,
        frozen: Grouping | StagedTree | None = None,
        distance: str | None = None,
        threshold: float | None = None,
        n_stages: int | None = None,
        seed: int = 1,
        alpha: float | None = None,
        prior: Prior = "mass",
        hyperstages: Hyperstages = "variable",
        relabel: Relabel | None = None,
        single_edges: SingleEdges = "together",
        smoothing: float = 0.0,
        weighting: WeightChoice = "situation",
        deff: Deff | None = None,
        replace: bool = False,
    ) -> StagedTree:
        """Learn the stages from the data.

        Parameters
        ----------
        name
            Name to store it under. Default: the name of the tree, with a number if it is taken.
        method
            How stages are learnt. "ahc" (agglomerative hierarchical clustering)
            merges the two stages that gain most until no merge improves the score;
            "auto" does the same, but starts from groups of similar situations where
            a hyperstage has more than 4,000 distinct florets. As in stagedtrees:
            "bhc" merges the best pair while nothing is lost, "fbhc" the first pair
            found; "csbhc" joins all stages over the answers to one earlier question
            in one context; "bj" joins the two nearest stages while their `distance`
            is below `threshold`; "hc" moves single situations, merges and splits
            stages; "hclust" and "kmeans" cluster the shares, fast and approximate.
            "exact" finds the optimum of BIC or AIC, for florets of two labels.
        score
            What is optimised. Default: log_marginal_likelihood for ahc and auto,
            bic for the other methods.
        structure_prior
            Prior of the stagings, for ahc, auto, hc and exact: "flat" (all stagings
            are equally probable) or "size" (every number of stages in a hyperstage
            is equally probable, and so is every staging with the same number).
        initial
            Where learning starts: "full" (each situation is its own stage), "indep"
            (one stage in each hyperstage), or stages given by hand; situations not
            named start on their own. Default: depends on the method.
        frozen
            Stages to keep as they are; the other situations are learnt.
        distance
            Distance between the probabilities of two stages, for bj ("kullback",
            "totvar", "hellinger", "manhattan", "euclidean", "reny", "bhatt",
            "chandarw") and hclust ("totvar", "hellinger", "euclidean",
            "manhattan"). Default: the first of each.
        threshold
            Distance below which bj joins two stages. Default: 0.1.
        n_stages
            Number of stages in each hyperstage, for hclust and kmeans. Default: the
            number with the best score.
        seed
            Seed of the random numbers for kmeans and for the expected number of
            spurious stages.
        alpha
            Prior mass of the root (equivalent sample size). Default: the largest
            number of levels of a variable of the tree.
        prior
            How `alpha` is shared among the edges: "mass" passes it down from the
            root, shared equally in each floret; "floret" starts with alpha in each
            floret; "path" gives each root-to-leaf path an equal part. Or the priors
            of some situations, in a table with the columns vertex_id, label and
            prior; the others follow "mass".
        hyperstages
            Which situations with the same labels may share a stage: "variable"
            (those that ask the same variable), "labels" (all), "height" (those at
            the same longest distance to a leaf) or "paper" (those at the same
            shortest distance to a leaf). Or groups of situations, given as stages
            are.
        relabel
            Labels to replace with others in stages and CEGs; the tree keeps its
            own. The labels of one situation must stay different.
        single_edges
            Situations with a single edge: "together" puts those of a hyperstage
            into one stage, "apart" makes each a stage of its own.
        smoothing
            Number added to the count of each label of a stage when the log
            likelihood, AIC and BIC are calculated (lambda in stagedtrees).
        weighting
            What respondents of a weighted survey count in scores and probabilities:
            "situation" (those in a situation count as W^2 / Q people, where W is
            the sum of their weights and Q the sum of the squares: Kish), "global"
            (the same with one factor for the whole survey), "total" (weights scaled
            to sum to the number of respondents) or "none" (each counts 1).
        deff
            Design effect of a clustered sample, by which effective counts are
            divided: a number, or one for each variable. Default: estimated from the
            clusters of the survey.
        replace
            Replace a staging of that name, with everything built on it.

        Returns
        -------
        StagedTree
            With the stages learnt, and the score that was optimised.

        Raises
        ------
        StagingError
            A setting is not one of its choices or out of range, or the method does not fit the
            florets.

        Notes
        -----
        ``initial`` and ``frozen`` take stages in the forms of `set_stages`, or a staged tree of
        this event tree. ``prior``, ``hyperstages`` and ``relabel`` take the forms described
        there.

        ``"ahc"`` merges while the gain exceeds 1e-9 [1]_; if several merges tie, it takes the
        one with the smallest situations. The other methods are those of stagedtrees [2]_.
        Situations with a single edge are not learnt; those that no row reached share a stage in
        each hyperstage.
        With many situations a flat structure prior makes extra stages by chance: the summary
        shows the expected number, from simulated data in which all situations of a hyperstage
        are alike.

        References
        ----------
        .. [1] G. Freeman and J. Q. Smith (2011), Bayesian MAP model selection of chain event
           graphs.
        .. [2] F. Carli, M. Leonelli, E. Riccomagno and G. Varando (2022), The R package
           stagedtrees for structural learning of stratified staged trees. Journal of
           Statistical Software 102(6).

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
        ...     survey.event_tree().learn_stages(alpha=2).stages["n_situations"].tolist()
        [1, 2]
        """
        options = StageOptions(
            alpha=alpha,
            prior=prior,
            hyperstages=hyperstages,
            relabel=relabel,
            single_edges=single_edges,
            smoothing=smoothing,
            weighting=weighting,
            deff=deff,
        )
        learning = LearnOptions(
            method=method,
            score=score,
            structure_prior=structure_prior,
            initial=self._groups(initial, "initial"),
            frozen=self._groups(frozen, "frozen"),
            distance=distance,
            threshold=threshold,
            n_stages=n_stages,
            seed=seed,
        )
        staging_id = learn_stages(
            self._store, self.id, options, learning, name=name, replace=replace
        )
        return StagedTree(self._store, staging_id)

    def alpha_path(
        self,
        *,
        method: Method = "ahc",
        score: ScoreName | None = None,
        structure_prior: StructurePrior = "flat",
        initial: Start | StagedTree | None = None,
        frozen: Grouping | StagedTree | None = None,
        distance: str | None = None,
        threshold: float | None = None,
        n_stages: int | None = None,
        seed: int = 1,
        prior: Prior = "mass",
        hyperstages: Hyperstages = "variable",
        relabel: Relabel | None = None,
        single_edges: SingleEdges = "together",
        smoothing: float = 0.0,
        weighting: WeightChoice = "situation",
        deff: Deff | None = None,
    ) -> pd.DataFrame:
        """Show what `learn_stages` would find with other values of alpha; nothing is stored.

        Parameters
        ----------
        method, score, structure_prior, initial, frozen, distance, threshold, n_stages, seed
            As for `learn_stages`.
        prior, hyperstages, relabel, single_edges, smoothing, weighting, deff
            As for `learn_stages`.

        Returns
        -------
        DataFrame
            One row for each alpha from 0.5 to 64, and for the default. Columns: ``alpha``;
            ``is_default``; ``n_stages``; ``df``; ``log_marginal_likelihood``, which cannot be
            compared between rows, since their priors differ; ``log_likelihood``; ``aic``;
            ``bic``; ``smallest_prior``, the smallest prior mass of an edge of a floret with
            several edges.

        Raises
        ------
        StagingError
            As `learn_stages`.

        Notes
        -----
        Stages are learnt anew for each alpha. Of a database that is open read-only a temporary
        copy is used.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     path = survey.event_tree().alpha_path(method="bhc")
        >>> path.loc[path["is_default"], ["alpha", "n_stages", "df"]]
           alpha  n_stages  df
        2    2.0         3   3
        """
        import pandas as pd

        options = StageOptions(
            prior=prior,
            hyperstages=hyperstages,
            relabel=relabel,
            single_edges=single_edges,
            smoothing=smoothing,
            weighting=weighting,
            deff=deff,
        )
        learning = LearnOptions(
            method=method,
            score=score,
            structure_prior=structure_prior,
            initial=self._groups(initial, "initial"),
            frozen=self._groups(frozen, "frozen"),
            distance=distance,
            threshold=threshold,
            n_stages=n_stages,
            seed=seed,
        )
        rows = alpha_path(self._store, self.id, options, learning)
        return pd.DataFrame(rows)

    def _groups(self, given: Any, what: str) -> Any:
        """Return a staged tree that was given as the stages of its situations."""
        if not isinstance(given, StagedTree):
            return given
        if given.tree != self:
            raise StagingError(
                f"{what} is {given.name!r}, a staging of another tree",
                hint=f"give a staging of {self.name!r}, or the paths of its situations",
            )
        return StagesOf(given.id)

    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:
        """Return it as a networkx graph.

        Parameters
        ----------
        min_n
            Counts from 1 to ``min_n - 1`` are left out, and so is what would reveal them; the
            graph's attribute ``min_n`` records it. Default: nothing is left out.

        Returns
        -------
        networkx.MultiDiGraph
            Nodes s0, s1, ..., l0, ... with the columns of `situations`; labels as edge keys,
            with the columns of `edges`.

        Raises
        ------
        QueryError
            ``min_n`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb
        >>> tree = cegdb.open().demo("chds").staging.tree
        >>> list(tree.to_networkx().edges("s0", data="n"))
        [('s0', 's1', 507), ('s0', 's2', 383)]
        """
        from cegdb import graphs

        return graphs.tree_graph(
            self.name,
            self._rows("vertices", "tree", "vertex_id", min_n),
            self._rows("tree_edges", "tree", "child_id", min_n),
            min_n=min_n,
        )
