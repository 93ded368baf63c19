"""A Chain Event Graph, as the user holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb import ceg as ceg_room
from cegdb.api.asked import Askable
from cegdb.api.named import Drawn
from cegdb.api.rows import Answering
from cegdb.evidence import All
from cegdb.query.asking import condition
from cegdb.query.compiled import compile_ceg

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from cegdb.api.staging import StagedTree
    from cegdb.query.asking import Conditioned
    from cegdb.store import Store
    from cegdb.store.objects import Kind


class ChainEventGraph(Drawn, Askable, Answering):
    """A Chain Event Graph: positions, edges, and the steps that led to it."""

    kind: Kind = "ceg"

    def __init__(self, store: Store, object_id: int) -> None:
        super().__init__(store, object_id)
        self._compiled: tuple[object, Conditioned] | None = None

    def _conditioned(self) -> Conditioned:
        made = self._row()["created_at"]
        if self._compiled is None or self._compiled[0] != made:
            found = condition(compile_ceg(self._store, self.id), All(()))
            self._compiled = (made, found)
        return self._compiled[1]

    def _home(self) -> tuple[Store, int]:
        return self._store, self.id

    @property
    def staging(self) -> StagedTree:
        """The staged tree it was made from."""
        from cegdb.api.staging import StagedTree

        return StagedTree(self._store, self._row()["staging_id"])

    @property
    def positions(self) -> pd.DataFrame:
        """The vertices of the CEG, the sink last.

        Columns: ``ceg``; ``position`` (w0, w1, ..., w_inf); ``stage``; ``variable``;
        ``height`` in edges to the sink; ``n`` rows that reach it; ``n_situations`` merged
        in it (leaves in the sink); ``colour``; ``position_id``, ``stage_id``.
        """
        return self._frame("positions", "ceg", "stage_id is null, position_id")

    @property
    def edges(self) -> pd.DataFrame:
        """The edges of the CEG; parallel ones differ by label.

        Columns: ``ceg``; ``source``, ``label``, ``target``; ``variable``; ``n`` rows that
        took it from any situation of the source; ``weight``; ``prior`` mass of those
        situations; ``share`` = n / total of the source's stage (weighted if there are
        weights), its ``probability`` (posterior mean) and 95 % credible interval ``low`` to
        ``high``, given the staging; ``raw_labels`` of the tree;
        ``source_id``, ``target_id``, ``label_id``.
        """
        return self._frame("ceg_edges", "ceg", "source_id, label_id, target_id")

    @property
    def situation_positions(self) -> pd.DataFrame:
        """The situations of the tree with where they went.

        Columns: ``ceg``; ``situation``; ``variable``; ``path`` in words; ``stage``;
        ``position``; ``n`` rows that reached it; ``labels`` as a list; ``vertex_id``,
        ``stage_id``, ``position_id``.
        """
        return self._frame("situation_positions", "ceg", "vertex_id")

    @property
    def steps(self) -> pd.DataFrame:
        """The steps of the recursion, G_0 (the tree) first.

        Columns: ``ceg``; ``step`` i of G_i; ``height`` merged by it; ``n_situations`` and
        ``n_positions`` of that height; ``n_vertices`` and ``n_edges`` of G_i; ``seconds``.
        """
        return self._frame("merge_steps", "ceg", "step")

    def recover(self, *, limit: int = ceg_room.MOST_VERTICES) -> pd.DataFrame:
        """Return the staged tree the CEG stands for (Theorem 3).

        Parameters
        ----------
        limit
            The largest tree to unroll; its size is computed first.

        Returns
        -------
        DataFrame
            One row a vertex, breadth first: ``vertex_id``, ``parent_id`` (missing for the
            root), ``depth``, ``label``, ``position_id``, ``stage_id`` (missing on a leaf).

        Raises
        ------
        CegError
            The tree would be larger than ``limit``.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
        ...     len(survey.event_tree().learn_stages().to_ceg().recover())
        7
        """
        import pandas as pd

        names = ["vertex_id", "parent_id", "depth", "label", "position_id", "stage_id"]
        found = ceg_room.recover(self._store, self.id, limit=limit)
        frame = pd.DataFrame(found, columns=names)
        return frame.astype({"parent_id": "Int64", "stage_id": "Int64"})

    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:
        """Return it as a networkx graph: nodes w0, w1, ..., w_inf; labels as edge keys.

        With ``min_n``, `draw` says which numbers are left out; the graph's attribute
        ``min_n`` tells.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select if(i < 7, 'u', 'v') as x from range(9) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     [n for _, _, n in ceg.to_networkx(min_n=3).edges(data="n")]
        [None, None]
        """
        from cegdb import graphs

        return graphs.ceg_graph(
            self.name,
            self._rows("positions", "ceg", "stage_id is null, position_id", min_n),
            self._rows("ceg_edges", "ceg", "source_id, label_id, target_id", min_n),
            min_n=min_n,
        )
