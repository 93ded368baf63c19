"""An event tree, as the user holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cegdb import stages as stages_room
from cegdb.api.named import Drawn
from cegdb.api.staging import StagedTree

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import networkx as nx
    import pandas as pd

    from cegdb.graphs import EdgeInfo
    from cegdb.stages import Deff, Depends, Grouping, Hyperstages, WeightChoice
    from cegdb.store.objects import Kind


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
        stages: Grouping | None = None,
        name: str | None = None,
        *,
        depends: Depends | None = None,
        alpha: float | None = None,
        hyperstages: Hyperstages = "variable",
        weighting: WeightChoice = "situation",
        deff: Deff | None = None,
        replace: bool = False,
    ) -> StagedTree:
        """Give the stages by hand; see `cegdb.stages.set_stages` for the settings.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'a' as x, 'u' as y union all select 'b', 'u'")
        ...     staged = survey.event_tree().set_stages({("a",): "s", ("b",): "s"})
        ...     len(staged.stages)
        2
        """
        staging_id = stages_room.set_stages(
            self._store,
            self.id,
            stages,
            depends=depends,
            name=name,
            alpha=alpha,
            hyperstages=hyperstages,
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

    def learn_stages(
        self,
        name: str | None = None,
        *,
        method: Literal["ahc"] = "ahc",
        alpha: float | None = None,
        hyperstages: Hyperstages = "variable",
        weighting: WeightChoice = "situation",
        deff: Deff | None = None,
        initial: Grouping | None = None,
        replace: bool = False,
    ) -> StagedTree:
        """Learn the stages; see `cegdb.stages.learn_stages` for the settings.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
        ...     survey.event_tree().learn_stages(alpha=2).stages["n_situations"].tolist()
        [1, 2]
        """
        staging_id = stages_room.learn_stages(
            self._store,
            self.id,
            name=name,
            method=method,
            alpha=alpha,
            hyperstages=hyperstages,
            weighting=weighting,
            deff=deff,
            initial=initial,
            replace=replace,
        )
        return StagedTree(self._store, staging_id)

    def draw(
        self,
        path: str | os.PathLike[str],
        *,
        edge_info: EdgeInfo = "count",
        min_n: int | None = None,
    ) -> Path:
        """Draw the tree; see `StagedTree.draw` (without stages there are counts only)."""
        return super().draw(path, edge_info=edge_info, min_n=min_n)

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
