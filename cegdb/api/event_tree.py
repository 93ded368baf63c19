"""An event tree, and the ways to stage it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from cegdb.api.base import GraphObject
from cegdb.api.settings import options_from, takes
from cegdb.api.staged_tree import StagedTree
from cegdb.errors import StagingError
from cegdb.options import (
    STAGES_LIKE,
    TREES_LIKE,
    AlphaPathSettings,
    LearnOptions,
    LearnSettings,
    LikeOptions,
    StageOptions,
    StageSettings,
    like_settings,
)
from cegdb.stages import alpha_path, learn_stages, set_stages
from cegdb.stages.groups import StagesOf

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Unpack

    import networkx as nx
    import pandas as pd

    from cegdb.networks import NetworkSource
    from cegdb.options import Kind, Like
    from cegdb.stages import Depends, Grouping, Prior


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
        in words and ``labels`` as a list; ``depth`` and ``height`` in edges; ``n`` respondents
        who reached it; ``weight``; ``n_stopped`` respondents without an answer; ``vertex_id``.
        """
        return self._frame("situations", "tree", "vertex_id")

    @property
    def edges(self) -> pd.DataFrame:
        """The edges, breadth first.

        Columns: ``tree``; ``source``, ``label``, ``target``; ``variable``; ``n`` respondents
        who took it; ``weight``; ``share`` of those who answered; ``parent_id``,
        ``child_id``, ``level_id``.
        """
        return self._frame("tree_edges", "tree", "child_id")

    @property
    def florets(self) -> pd.DataFrame:
        """The florets, one row per situation.

        Columns: ``tree``; ``situation``; ``variable``; ``labels`` and ``counts`` as lists
        in level order; ``n_edges``; ``n`` respondents who reached it; ``n_stopped``;
        ``vertex_id``.
        """
        return self._frame("florets", "tree", "vertex_id")

    @property
    def presumed_zeros(self) -> pd.DataFrame:
        """Answers that nobody gave in a situation and that are presumed impossible there.

        They have no edge, with ``sampling_zeros="auto"``. Columns: ``tree``; ``variable``;
        ``label`` and the ``path`` after which nobody gave it; ``n`` respondents who answered
        there; ``n_with`` and ``n_without`` it among those elsewhere; ``log_p0``, the logarithm
        of the probability that none of n gives it if they answer as those elsewhere do;
        ``high``, the 95 % limit of its probability; ``vertex_id``. Source: docs/theory.md,
        section 14.
        """
        return self._frame("presumed_zeros", "tree", "vertex_id, label")

    @takes(StageSettings, StageOptions)
    def set_stages(
        self,
        stages: Grouping | NetworkSource | None = None,
        name: str | None = None,
        *,
        depends: Depends | None = None,
        replace: bool = False,
        **settings: Unpack[StageSettings],
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
        **settings
            Those of `StageOptions`.
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

        options = options_from(settings, StageSettings, StageOptions)
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
        prior: Prior = StageOptions.prior,
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
        prior: Prior = StageOptions.prior,
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
            floret, ``n`` respondents who reached it, and an empty ``stage``.

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

    @takes(LearnSettings, LearnOptions, StageOptions, LikeOptions)
    def learn_stages(
        self,
        name: str | None = None,
        *,
        replace: bool = False,
        **settings: Unpack[LearnSettings],
    ) -> StagedTree:
        """Learn the stages from the data.

        Parameters
        ----------
        name
            Name to store it under. Default: the name of the tree, with a number if it is taken.
        **settings
            Those of `LearnOptions`, `StageOptions` and `LikeOptions`.
        replace
            Replace a staging of that name, with everything built on it.

        Returns
        -------
        StagedTree
            With the stages learnt, and the score that was optimised.

        Raises
        ------
        StagingError
            A setting is not one of its choices or out of range, the method does not fit the
            florets, or the tree was not made ``like`` the stages.

        Notes
        -----
        ``initial`` and ``frozen`` take stages in the forms of `set_stages`, or a staged tree of
        this event tree. ``prior``, ``hyperstages`` and ``relabel`` take the forms described
        there.

        ``"ahc"`` merges the two stages that gain most [1]_; if several merges tie, it takes the
        one with the smallest situations. With ``criterion="score"`` it stops when the gain no
        longer exceeds 1e-9; by default it goes on as long as no test tells the situations of a
        stage apart. The other methods are those of stagedtrees [2]_.
        Situations with a single edge are not learnt; those where nobody answered share a stage
        in each hyperstage.
        With ``max_parents`` a set of earlier variables is chosen for each hyperstage, the best
        of all, and situations with the same answers to it start as one stage: see
        `StagedTree.parent_sets`. New rows whose history nobody had then take the stage of these
        answers, otherwise what is known of the question as a whole. With
        ``sampling_zeros="none"`` they have probability 0.
        The summary shows how many extra stages to expect by chance, from simulated data in
        which all situations of a hyperstage are alike: with ``criterion="score"`` and many
        situations these are several.

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
        chosen, like = like_settings(settings, STAGES_LIKE)
        if like is not None:
            self._refuse_other_zeros(like)
        learning, options = options_from(
            self._with_groups(chosen), LearnSettings, LearnOptions, StageOptions
        )
        staging_id = learn_stages(
            self._store, self.id, options, learning, name=name, replace=replace
        )
        return StagedTree(self._store, staging_id)

    @takes(AlphaPathSettings, LearnOptions, StageOptions)
    def alpha_path(self, **settings: Unpack[AlphaPathSettings]) -> pd.DataFrame:
        """Show what `learn_stages` would find with other values of alpha; nothing is stored.

        Parameters
        ----------
        **settings
            Those of `LearnOptions` and `StageOptions`, without alpha.

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
        1    1.0         3   3
        """
        import pandas as pd

        learning, options = options_from(
            self._with_groups(settings), AlphaPathSettings, LearnOptions, StageOptions
        )
        rows = alpha_path(self._store, self.id, options, learning)
        return pd.DataFrame(rows)

    def _refuse_other_zeros(self, like: Like) -> None:
        """Refuse settings of the literature where the tree has other zeros than there."""
        zeros, own = TREES_LIKE[like]["sampling_zeros"], self.settings["sampling_zeros"]
        if own != zeros:
            raise StagingError(
                f"like={like!r} goes with sampling_zeros={zeros!r}, but the tree "
                f"{self.name!r} has sampling_zeros={own!r}",
                hint=f"make the tree with survey.event_tree(like={like!r}), or cegdb "
                f"event-tree --like {like}",
            )

    def _with_groups(self, settings: Mapping[str, object]) -> dict[str, object]:
        """Return settings with staged trees replaced by the stages of their situations."""
        return {
            name: self._groups(value, name) if name in ("initial", "frozen") else value
            for name, value in settings.items()
        }

    def _groups(self, given: object, what: str) -> object:
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
