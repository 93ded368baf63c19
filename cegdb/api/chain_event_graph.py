"""A Chain Event Graph, as the user holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb import ceg as ceg_room
from cegdb.api.causal import Causal
from cegdb.api.independence import Independent
from cegdb.api.page import Paged
from cegdb.api.pictures import Drawn
from cegdb.api.plots import PlottedPositions
from cegdb.api.reports import Worded
from cegdb.api.rows import Answering
from cegdb.errors import GraphError, NetworkError
from cegdb.evidence import All, from_json
from cegdb.store.catalog import staging_of
from cegdb.trace import MAX_VALUES, trace

if TYPE_CHECKING:
    import os

    import networkx as nx
    import pandas as pd

    from cegdb.api.inference import Given
    from cegdb.api.staged_tree import StagedTree
    from cegdb.graphs import EdgeInfo
    from cegdb.inference.queries import Conditioned
    from cegdb.report.explanation import Counts
    from cegdb.store import Store
    from cegdb.store.catalog import Kind


class ChainEventGraph(PlottedPositions, Drawn, Independent, Causal, Answering, Paged, Worded):
    """A Chain Event Graph: positions, edges, and the steps that led to it.

    Ask it for probabilities (`probability`, `marginals`, `distribution`,
    `most_probable_paths`), also when something is known (`given`) or set from outside (`do`,
    `effect`, `adjustment`); what depends on what (`explain`, `cuts`, `independence`,
    `test_independence`); of rows (`assign`, `complete`, `score`, `classify`); for synthetic
    rows (`sample`). Draw, plot or export it (`draw`, `plot_flow`, `export`, `to_networkx`);
    look at it in a browser (`report`), or have it told in words (`in_words`,
    `report_words`).
    """

    kind: Kind = "ceg"

    def __init__(self, store: Store, object_id: int) -> None:
        super().__init__(store, object_id)
        self._compiled: tuple[object, Conditioned] | None = None

    def _graph(self) -> ChainEventGraph:
        return self

    def _conditioned(self) -> Conditioned:
        from cegdb.inference.compiled import compile_ceg
        from cegdb.inference.queries import condition

        made = self._row()["created_at"]
        if self._compiled is None or self._compiled[0] != made:
            found = condition(compile_ceg(self._store, self.id), All(()))
            self._compiled = (made, found)
        return self._compiled[1]

    def _survey_id(self) -> int:
        return int(self.staging.tree._row()["survey_id"])

    def _counts(self) -> Counts:
        from cegdb.report.explanation import count_people

        staging = self.staging
        tree = staging.tree
        parents, statements = self._by_stages()
        told, order = tree._row()["summary"], tree.settings["order"]
        return count_people(
            self._conditioned().ceg,
            self._rows("positions", "ceg", "position_id", None),
            self._rows("ceg_edges", "ceg", "source_id", None),
            n_left_out=int(told.get("rows_left_out", 0)),
            is_conditioned=self._row()["staging_id"] is None,
            order=[str(name) for name in order] if isinstance(order, list) else [],
            parents=parents,
            statements=statements,
        )

    def _by_stages(self) -> tuple[list[str], list[str]]:
        """Return what the stages say of parents and of independence: not given evidence."""
        if self._row()["staging_id"] is None:
            return [], []
        staging = self.staging
        parents = staging.parents
        place = {name: i for i, name in enumerate(dict.fromkeys(parents["variable"]))}
        later = parents[parents["variable"].map(place).astype(int) > 0]
        latest_first = later.iloc[
            (-later["variable"].map(place).astype(int)).argsort(kind="stable")
        ]
        try:
            statements = list(staging.independences["sentence"])
        except NetworkError:
            statements = []
        return list(latest_first["sentence"]), statements

    def _parent_sentences(self) -> list[str]:
        return self._by_stages()[0]

    def _stage_names(self) -> dict[int, str]:
        from cegdb.report.explanation import names_of_stages

        return names_of_stages(self._rows("positions", "ceg", "position_id", None))

    @property
    def staging(self) -> StagedTree:
        """The staged tree it was made from; given evidence, that of the CEG it comes from."""
        from cegdb.api.staged_tree import StagedTree

        return StagedTree(self._store, staging_of(self._row()))

    @property
    def positions(self) -> pd.DataFrame:
        """The vertices of the CEG, the sink last.

        Columns: ``ceg``; ``position`` (w0, w1, ..., w_inf); ``stage``; ``variable``;
        ``height`` in edges to the sink; ``n`` rows that reach it; ``n_situations`` merged
        in it (leaves in the sink); ``colour``; ``position_id``, ``stage_id``. Stages of a
        CEG given evidence are its own.
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
        ``source_id``, ``target_id``, ``label_id``. In a CEG given evidence ``probability``
        is given all of it; ``prior``, ``share``, ``low`` and ``high`` are missing.
        """
        return self._frame("ceg_edges", "ceg", "source_id, label_id, target_id")

    @property
    def situation_positions(self) -> pd.DataFrame:
        """The situations of the tree, those that can be reached, with where they went.

        Columns: ``ceg``; ``situation``; ``variable``; ``path`` in words; ``stage``;
        ``position``; ``n`` rows that reached it; ``labels`` as a list; ``vertex_id``,
        ``stage_id``, ``position_id``.
        """
        return self._frame("situation_positions", "ceg", "vertex_id")

    @property
    def steps(self) -> pd.DataFrame:
        """The steps of the recursion, G_0 (the tree) first; none given evidence.

        Columns: ``ceg``; ``step`` i of G_i; ``height`` merged by it; ``n_situations`` and
        ``n_positions`` of that height; ``n_vertices`` and ``n_edges`` of G_i; ``seconds``.
        """
        return self._frame("merge_steps", "ceg", "step")

    @property
    def parent(self) -> ChainEventGraph | None:
        """The CEG it is, given evidence; None if it was made from a staged tree."""
        parent_id = self._row()["parent_ceg_id"]
        return None if parent_id is None else ChainEventGraph(self._store, parent_id)

    @property
    def evidence(self) -> str:
        """What is known beside what is known in its parent, in words."""
        return str(All(()) if self.parent is None else from_json(self._row()["evidence"]))

    @property
    def probability_of_evidence(self) -> float:
        """Probability of the evidence in its parent; of soft evidence, expected likelihood."""
        found = self._row()["probability"]
        return 1.0 if found is None else float(found)

    @property
    def progress(self) -> pd.DataFrame:
        """Where a person may be after so many edges.

        Columns: ``depth``; ``position``, of the parent where there is one; ``filtered``, its
        probability given the evidence on the edges up to there; ``smoothed``, given all of
        it. Both sum to 1 for each depth; who has ended is in the sink.
        """
        return self._progressing().progress

    def _progressing(self) -> Given:
        """Return it as what its evidence leaves of its parent, or as all of itself."""
        parent = self.parent
        if parent is None:
            return self.given()
        return parent.given(from_json(self._row()["evidence"]))

    def trace(
        self, path: str | os.PathLike[str] | None = None, *, max_values: int = MAX_VALUES
    ) -> str:
        """Write the whole run that made the CEG as one SQL script, and return its text.

        The coded rows of the survey, the variables and labels, and which situations share a
        stage are in it as values; event tree, staged tree, every height of the backward
        recursion and the CEG are made of them by the steps that cegdb itself runs, in their
        order, with all parameters filled in.

        Parameters
        ----------
        path
            The script to write; left out, it is only returned.
        max_values
            A table of values with more rows is written as a Parquet file beside the script,
            named after it, and read from there. Without ``path`` all are values.

        Returns
        -------
        str
            The script. It runs in any DuckDB that has no schema ``cegdb`` (no cegdb is
            needed) and leaves the tables ``vertex``, ``edge``, ``stage``, ``stage_member``,
            ``stage_edge``, ``position``, ``position_member`` and ``ceg_edge`` in that schema,
            with the columns and rows that they have here for this CEG.

        Raises
        ------
        CegError
            This is a CEG given evidence (trace the one it comes from), or the run gives
            other rows than those stored.
        StaleError
            The survey has changed since the CEG was made.
        GraphError
            The script cannot be written.

        Examples
        --------
        >>> import cegdb, duckdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
        ...     script = survey.event_tree().learn_stages().to_ceg().trace()
        >>> con = duckdb.connect()
        >>> con.execute(script).execute("select count(*) from cegdb.position").fetchall()
        [(3,)]
        """
        return trace(self._store, self.id, path, max_values=max_values)

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

    def _given(self) -> str:
        known = self._row()
        told = []
        while known["parent_ceg_id"] is not None:
            told.append(str(from_json(known["evidence"])))
            known = ChainEventGraph(self._store, known["parent_ceg_id"])._row()
        return " and ".join(reversed(told))

    def _check_drawn(self, edge_info: EdgeInfo) -> None:
        if edge_info in ("prior", "posterior") and self.parent is not None:
            raise GraphError(
                f"CEG {self.name!r} is given evidence, so that its edges have no {edge_info} "
                "counts",
                hint="choose probability, count or none; or draw its parent",
            )
