"""An event tree, as the user holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast, overload

from cegdb import stages as stages_room
from cegdb.api.pictures import Drawn
from cegdb.api.staged_tree import StagedTree
from cegdb.errors import StagingError

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import networkx as nx
    import pandas as pd

    from cegdb.clustering import Method, ScoreName, StructurePrior
    from cegdb.networks import NetworkSource
    from cegdb.stages import (
        Deff,
        Depends,
        Grouping,
        Hyperstages,
        Prior,
        Relabel,
        SingleEdges,
        Start,
        WeightChoice,
    )
    from cegdb.store.catalog import Kind


class _Learning(TypedDict, total=False):
    method: Method
    score: ScoreName | None
    prior: Prior
    structure_prior: StructurePrior
    hyperstages: Hyperstages
    relabel: Relabel | None
    single_edges: SingleEdges
    initial: Any
    frozen: Any
    smoothing: float
    distance: str | None
    threshold: float | None
    n_stages: int | None
    seed: int
    weighting: WeightChoice
    deff: Deff | None


class EventTree(Drawn):
    """An event tree: its vertices and edges, and ways to stage it."""

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
        """The florets, one row a situation.

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
        """Give the stages by hand; see `cegdb.stages.set_stages` for the settings.

        ``stages`` may also be a Bayesian network of the tree's variables: a networkx.DiGraph
        of their names, a pgmpy model, or a path to a ``.bif`` file. Situations of a variable
        then share a stage iff the answers to its parents (and the labels they have) are the
        same; tables of the network are not used.

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

        if networks.is_network(stages):
            if depends is not None:
                raise StagingError(
                    "a network and rules (depends) are given", hint="give one of them"
                )
            depends = networks.rules_of(self._store, self.id, cast("NetworkSource", stages))
            stages = None
        staging_id = stages_room.set_stages(
            self._store,
            self.id,
            cast("Grouping | None", stages),
            depends=depends,
            name=name,
            alpha=alpha,
            prior=prior,
            hyperstages=hyperstages,
            relabel=relabel,
            single_edges=single_edges,
            smoothing=smoothing,
            weighting=weighting,
            deff=deff,
            replace=replace,
        )
        return StagedTree(self._store, staging_id)

    def staging_template(self, path: str | os.PathLike[str]) -> Path:
        """Write its situations as ``.xlsx``, ``.csv`` or ``.yaml``, to fill in stages.

        `set_stages` reads the file back; see `cegdb.stages.template.write_template`.
        """
        from cegdb.stages.template import write_template

        return write_template(self._store, self.id, path)

    @overload
    def learn_stages(
        self, name: None = None, *, alpha: Literal["path"], **settings: Unpack[_Learning]
    ) -> pd.DataFrame: ...

    @overload
    def learn_stages(
        self,
        name: str | None = None,
        *,
        alpha: float | None = None,
        replace: bool = False,
        **settings: Unpack[_Learning],
    ) -> StagedTree: ...

    def learn_stages(
        self,
        name: str | None = None,
        *,
        method: Method = "ahc",
        score: ScoreName | None = None,
        alpha: float | Literal["path"] | None = None,
        prior: Prior = "mass",
        structure_prior: StructurePrior = "flat",
        hyperstages: Hyperstages = "variable",
        relabel: Relabel | None = None,
        single_edges: SingleEdges = "together",
        initial: Start | StagedTree | None = None,
        frozen: Grouping | StagedTree | None = None,
        smoothing: float = 0.0,
        distance: str | None = None,
        threshold: float | None = None,
        n_stages: int | None = None,
        seed: int = 1,
        weighting: WeightChoice = "situation",
        deff: Deff | None = None,
        replace: bool = False,
    ) -> StagedTree | pd.DataFrame:
        """Learn the stages; see `cegdb.stages.learn_stages` for the settings.

        ``initial`` and ``frozen`` may also be a staged tree of the same event tree.
        ``alpha="path"`` makes no staging but a table of what each alpha from 0.5 to 64, and
        the default, would give. Columns: ``alpha``, ``is_default``, ``n_stages``, ``df``,
        ``log_marginal_likelihood`` (of different priors), ``log_likelihood``, ``aic``,
        ``bic``, ``smallest_prior`` of an edge of a floret with several.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
        ...     survey.event_tree().learn_stages(alpha=2).stages["n_situations"].tolist()
        [1, 2]
        """
        settings: _Learning = {
            "method": method,
            "score": score,
            "prior": prior,
            "structure_prior": structure_prior,
            "hyperstages": hyperstages,
            "relabel": relabel,
            "single_edges": single_edges,
            "initial": self._groups(initial, "initial"),
            "frozen": self._groups(frozen, "frozen"),
            "smoothing": smoothing,
            "distance": distance,
            "threshold": threshold,
            "n_stages": n_stages,
            "seed": seed,
            "weighting": weighting,
            "deff": deff,
        }
        if isinstance(alpha, str) and alpha == "path":
            import pandas as pd

            return pd.DataFrame(stages_room.alpha_path(self._store, self.id, **settings))
        staging_id = stages_room.learn_stages(
            self._store, self.id, name=name, alpha=alpha, replace=replace, **settings
        )
        return StagedTree(self._store, staging_id)

    def _groups(self, given: Any, what: str) -> Any:
        """Return a staged tree that was given as the stages of its situations."""
        if not isinstance(given, StagedTree):
            return given
        if given.tree != self:
            raise StagingError(
                f"{what} is {given.name!r}, a staging of another tree",
                hint=f"give a staging of {self.name!r}, or the paths of its situations",
            )
        return (
            "select m.vertex_id, coalesce(s.name, 'u' || m.stage_id) as stage "  # noqa: S608
            "from cegdb.stage_member as m inner join cegdb.stage as s "
            "on m.staging_id = s.staging_id and m.stage_id = s.stage_id "
            f"where m.staging_id = {given.id}"
        )

    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:
        """Return it as a networkx graph: nodes s0, s1, ..., l0, ...; labels as edge keys.

        With ``min_n``, `draw` says which counts are left out; the graph's attribute
        ``min_n`` tells.
        """
        from cegdb import graphs

        return graphs.tree_graph(
            self.name,
            self._rows("vertices", "tree", "vertex_id", min_n),
            self._rows("tree_edges", "tree", "child_id", min_n),
            min_n=min_n,
        )
