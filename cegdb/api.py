"""The user's objects: they hold a connection and ids, and call the rooms."""

from __future__ import annotations

import html
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from cegdb import ceg as ceg_room
from cegdb import export, query, report, small_cells
from cegdb import ingest as ingest_room
from cegdb import stages as stages_room
from cegdb import tree as tree_room
from cegdb.errors import GraphError, MissingExtraError, QueryError, counted, path_of
from cegdb.store import Store
from cegdb.store.objects import KINDS, Kind, all_names, drop, find, row

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    import networkx as nx
    import pandas as pd

    from cegdb.graphs import EdgeInfo
    from cegdb.ingest import CodebookSource, Labels, Source
    from cegdb.ingest.draft import Form
    from cegdb.positions import Stop
    from cegdb.rebuild import Stages
    from cegdb.stages import Deff, Grouping, Hyperstages, WeightChoice
    from cegdb.store.progress import Progress
    from cegdb.tree import Blank, MissingPolicy, SamplingZeros
    from cegdb.tree import Path as TreePath

_PICTURED_EDGES = 300


def open(  # noqa: A001
    path: str | os.PathLike[str] | None = None,
    *,
    read_only: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Database:
    """Open a database file, or one in memory.

    Parameters
    ----------
    path
        A DuckDB file, made if it does not exist, migrated if a former cegdb made it; left
        out, a database in memory.
    read_only
        Several processes may read one file at once.
    memory_limit
        DuckDB's limit, such as ``"2GB"``; larger work spills to disk.
    threads
        How many DuckDB may use.

    Raises
    ------
    StoreError
        The file cannot be opened: see the message.
    MigrationError
        Its schema is newer than this cegdb, or not ours.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     print(db)
    cegdb in memory: 0 surveys, 0 trees, 0 stagings, 0 cegs
    """
    return Database(
        Store.open(path, read_only=read_only, memory_limit=memory_limit, threads=threads)
    )


class _Named:
    """An object of the catalog: it holds the store and its id."""

    kind: Kind

    def __init__(self, store: Store, object_id: int) -> None:
        self._store = store
        self.id = object_id

    def _row(self) -> dict[str, Any]:
        with self._store.catalog() as catalog:
            return row(catalog, self.kind, self.id)

    @property
    def name(self) -> str:
        """The name under which it is stored."""
        return str(self._row()["name"])

    @property
    def summary(self) -> str:
        """What was made, which defaults decided, and what looks wrong."""
        return report.summary(self.kind, self._row())

    @property
    def is_stale(self) -> bool:
        """Whether its survey has other rows since: see `Database.rebuild`."""
        return bool(self._row()["is_stale"])

    @property
    def settings(self) -> dict[str, object]:
        """The settings it was made with."""
        found = self._row()["settings"]
        return dict(found) if isinstance(found, dict) else {}

    def __repr__(self) -> str:
        """Return the first line of the summary."""
        return self.summary.split("\n", 1)[0]

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same object of the same open database."""
        return isinstance(other, _Named) and (self._store, self.kind, self.id) == (
            other._store,
            other.kind,
            other.id,
        )

    def __hash__(self) -> int:
        """Return a hash that fits equality."""
        return hash((id(self._store), self.kind, self.id))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary)}</pre>"

    def rows(
        self, view: str, *, min_n: int | None = None
    ) -> tuple[list[str], list[tuple[object, ...]]]:
        """Return column names and rows of a view of it, small cells hidden if asked for.

        Parameters
        ----------
        view
            ``variables`` of a survey; ``vertices``, ``tree_edges``, ``situations`` of a
            tree; ``staged_vertices``, ``staged_edges`` of a staging; ``positions``,
            ``ceg_edges`` of a CEG.
        min_n
            Counts from 1 to ``min_n - 1`` are None, and so are those that would reveal
            them by sums, and what was calculated from either.

        Raises
        ------
        QueryError
            It has no such view, or ``min_n`` is no whole number from 1 on.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select if(i < 7, 'u', 'v') as x from range(9) t(i)")
        ...     names, rows = survey.event_tree().rows("tree_edges", min_n=2)
        ...     [row[names.index("n")] for row in rows]
        [7, 2]
        """
        known = small_cells.views(self.kind)
        if view not in known:
            raise QueryError(
                f"a {self.kind} has no view {view!r}", hint=f"it has {', '.join(known)}"
            )
        order = small_cells.view_order(view)
        where: dict[str, object] = {self.kind: self.name}
        return query.view_table(self._store, view, where, order, min_n=min_n)

    def _rows(
        self, view: str, column: str, order: str, min_n: int | None
    ) -> list[dict[str, object]]:
        return query.view_rows(self._store, view, {column: self.name}, order, min_n=min_n)

    def _frame(self, view: str, column: str, order: str) -> pd.DataFrame:
        return query.view_frame(self._store, view, {column: self.name}, order)


class _Drawn(_Named):
    """An object that is a graph."""

    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:  # noqa: ARG002
        """Return it as a networkx graph: nodes by shown name, labels as edge keys."""
        raise AssertionError

    def draw(
        self,
        path: str | os.PathLike[str],
        *,
        edge_info: EdgeInfo = "probability",
        min_n: int | None = None,
    ) -> Path:
        """Draw it, left to right, stages coloured.

        Parameters
        ----------
        path
            Ends in ``.svg``, ``.png``, ``.pdf`` or ``.dot``.
        edge_info
            What edges show beside their label: ``"probability"``, ``"count"``,
            ``"prior"``, ``"posterior"`` or ``"none"``.
        min_n
            Counts from 1 to ``min_n - 1`` show as ``…``, and so do those that would reveal
            them by sums, and what was calculated from either.

        Raises
        ------
        GraphError
            The suffix or choice is unknown, or the graph is too large to lay out.
        MissingExtraError
            The extra ``draw`` is not installed.
        QueryError
            ``min_n`` is no whole number from 1 on.
        """
        from cegdb import graphs

        return graphs.draw(self.to_networkx(min_n=min_n), path, edge_info=edge_info)

    def export(self, path: str | os.PathLike[str], *, min_n: int | None = None) -> Path:
        """Write the graph as ``.dot``, ``.graphml`` or ``.json`` (node-link).

        ``min_n`` leaves out smaller counts, and what would reveal them, as in `draw`.
        """
        from cegdb import graphs

        return graphs.write_graph(self.to_networkx(min_n=min_n), path)

    def _repr_html_(self) -> str:
        text = f"<pre>{html.escape(self.summary)}</pre>"
        graph = self.to_networkx()
        if graph.number_of_edges() > _PICTURED_EDGES:
            return text
        from cegdb import graphs

        try:
            return text + graphs.svg(graph)
        except MissingExtraError:
            return text


class Survey(_Named):
    """A survey: coded rows, its variables and the receipt of what was read."""

    kind: Kind = "survey"

    @property
    def receipt(self) -> dict[str, object]:
        """Rows read, kept and dropped with the reason; cells by kind; hints."""
        found = self._row()["summary"]
        return dict(found) if isinstance(found, dict) else {}

    @property
    def seconds(self) -> float:
        """How long its ingest took."""
        return float(self._row()["seconds"])

    @property
    def variables(self) -> pd.DataFrame:
        """The levels of the variables, in level order.

        Columns: ``survey``; ``variable`` and its ``ordinal``; ``label``; ``kind`` (value,
        missing, blank or structural); ``n`` respondents' cells; ``code`` in the response
        table; ``level_id``, ``label_id``, ``variable_id``.
        """
        return self._frame("variables", "survey", "ordinal, code")

    def append(
        self,
        source: Source,
        *,
        decimal: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        bad_rows: Literal["error", "skip"] = "error",
        sheet: str | int | None = None,
    ) -> Survey:
        """Add the rows of another file, matched by column name; see `cegdb.ingest.append`.

        What is built on the survey is stale until `Database.rebuild`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'yes' as vote", name="polls")
        ...     tree = survey.event_tree()
        ...     _ = survey.append("select unnest(['no', 'yes']) as vote")
        ...     print(survey.receipt["respondents"], tree.is_stale)
        3 True
        """
        from cegdb.ingest.csvfile import Reading

        reading = Reading(encoding, delimiter, quote, escape, bad_rows, sheet)
        ingest_room.append(self._store, self.id, source, decimal=decimal, reading=reading)
        return self

    def refresh(
        self,
        source: Source,
        *,
        decimal: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        bad_rows: Literal["error", "skip"] = "error",
        sheet: str | int | None = None,
    ) -> Survey:
        """Replace the rows by those of a new snapshot; see `cegdb.ingest.refresh`.

        What is built on the survey is stale until `Database.rebuild`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'yes' as vote", name="polls")
        ...     survey.refresh("select unnest(['no', 'yes']) as vote").receipt["respondents"]
        2
        """
        from cegdb.ingest.csvfile import Reading

        reading = Reading(encoding, delimiter, quote, escape, bad_rows, sheet)
        ingest_room.refresh(self._store, self.id, source, decimal=decimal, reading=reading)
        return self

    def event_tree(
        self,
        name: str | None = None,
        *,
        order: Sequence[str] | None = None,
        blank: Blank = "auto",
        missing_policy: MissingPolicy = "prefix",
        sampling_zeros: SamplingZeros = "none",
        add_paths: Sequence[TreePath] = (),
        impossible: Sequence[TreePath] = (),
        gate_min_rows: int = 5,
        replace: bool = False,
    ) -> EventTree:
        """Build an event tree; see `cegdb.tree.event_tree` for the settings.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'a' as x, 'u' as y", name="one")
        ...     survey.event_tree(order=["y"])
        event tree 'one': 2 vertices, 1 situation, 1 leaf, height 1; 1 row
        """
        tree_id = tree_room.event_tree(
            self._store,
            self.id,
            name=name,
            order=order,
            blank=blank,
            missing_policy=missing_policy,
            sampling_zeros=sampling_zeros,
            add_paths=add_paths,
            impossible=impossible,
            gate_min_rows=gate_min_rows,
            replace=replace,
        )
        return EventTree(self._store, tree_id)


class EventTree(_Drawn):
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
        stages: Grouping,
        name: str | None = None,
        *,
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
            name=name,
            alpha=alpha,
            hyperstages=hyperstages,
            weighting=weighting,
            deff=deff,
            replace=replace,
        )
        return StagedTree(self._store, staging_id)

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


class StagedTree(_Drawn):
    """A staging of an event tree: stages with one probability vector each, and scores."""

    kind: Kind = "staging"

    @property
    def tree(self) -> EventTree:
        """The event tree."""
        return EventTree(self._store, self._row()["tree_id"])

    @property
    def log_marginal_likelihood(self) -> float:
        """Logarithm of the marginal likelihood (Dirichlet-multinomial), natural log."""
        return float(self._row()["log_marginal_likelihood"])

    @property
    def log_likelihood(self) -> float:
        """Logarithm of the likelihood at the observed shares of each stage."""
        return float(self._row()["log_likelihood"])

    @property
    def df(self) -> int:
        """Free parameters: labels less one, over the stages that some row reached."""
        return int(self._row()["df"])

    @property
    def aic(self) -> float:
        """Akaike's criterion, -2 log likelihood + 2 df: smaller is better."""
        return float(self._row()["aic"])

    @property
    def bic(self) -> float:
        """-2 log likelihood + df ln N, N the rows that answer the root's question."""
        return float(self._row()["bic"])

    @property
    def stages(self) -> pd.DataFrame:
        """The stages.

        Columns: ``staging``; ``stage`` (u0, u1, ...); ``variable`` (missing if it spans
        several); ``labels`` as a list; ``n_situations``; ``n`` rows that reached them;
        ``kind`` (learnt, given, single_edge, unobserved); ``colour``; ``stage_id``;
        ``hyperstage_id``.
        """
        return self._frame("stages", "staging", "stage_id")

    @property
    def stage_edges(self) -> pd.DataFrame:
        """The probabilities, one row a stage and label.

        Columns: ``staging``; ``stage``; ``variable``; ``label``; ``prior`` mass; ``n`` rows
        that gave it; ``weight``; ``share`` = n / total; ``probability``, the posterior
        mean; ``low`` and ``high``, its 95 % credible interval given the staging;
        ``stage_id``, ``label_id``.
        """
        return self._frame("stage_edges", "staging", "stage_id, label_id")

    @property
    def florets(self) -> pd.DataFrame:
        """The florets with their stages, one row a situation.

        Columns: ``staging``; ``situation``; ``stage``; ``variable``; ``labels`` and
        ``counts`` as lists in level order; ``n`` rows that reached it; ``colour``;
        ``vertex_id``, ``stage_id``.
        """
        return self._frame("staged_florets", "staging", "vertex_id")

    @property
    def merges(self) -> pd.DataFrame:
        """The merges of AHC in the order made; empty if none raised the score.

        Columns: ``staging``; ``step`` from 1; ``kept`` and ``absorbed``, the first
        situation of each stage; ``variable``; ``log_bayes_factor``; ``kept_id``,
        ``absorbed_id``.
        """
        return self._frame("merges", "staging", "step")

    @property
    def drift(self) -> pd.DataFrame:
        """What became of the stages when it was made again; empty if it never was.

        One row a stage and former stage of its situations. Columns: ``staging``; ``was``,
        the former name (missing for new situations); ``stage``, the name now (missing for
        situations that are gone); ``variable``; ``n_situations`` they share; ``n_before``
        and ``n_after`` rows that reach these; ``label`` whose probability moved most, with
        ``probability_before`` and ``probability_after``, each with its 95 % interval
        (``low_...`` to ``high_...``), their ``difference``, and ``is_apart``, whether the
        intervals of some label have nothing in common; ``stage_id``.
        """
        return self._frame("drift", "staging", "stage_id nulls last, was")

    def to_ceg(
        self,
        name: str | None = None,
        *,
        stop: Stop = "early",
        replace: bool = False,
    ) -> ChainEventGraph:
        """Construct the CEG; see `cegdb.ceg.build_ceg` for the settings.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
        ...     survey.event_tree().learn_stages().to_ceg(name="two")
        CEG 'two': 3 vertices (the sink included), 4 edges; 2 steps for height 2
        """
        ceg_id = ceg_room.build_ceg(self._store, self.id, name=name, stop=stop, replace=replace)
        return ChainEventGraph(self._store, ceg_id)

    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:
        """Return it as a networkx graph: the tree's, with stage, colour, probability.

        With ``min_n``, `draw` says which numbers are left out; the graph's attribute
        ``min_n`` tells.
        """
        from cegdb import graphs

        return graphs.tree_graph(
            self.name,
            self._rows("staged_vertices", "staging", "vertex_id", min_n),
            self._rows("staged_edges", "staging", "child_id", min_n),
            min_n=min_n,
        )


class ChainEventGraph(_Drawn):
    """A Chain Event Graph: positions, edges, and the steps that led to it."""

    kind: Kind = "ceg"

    @property
    def staging(self) -> StagedTree:
        """The staged tree it was made from."""
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
        situations; ``probability`` of the source's stage; ``raw_labels`` of the tree;
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

    def export(self, path: str | os.PathLike[str], *, min_n: int | None = None) -> Path:
        """Write the graph (.dot, .graphml, .json) or its edges (.csv, .parquet).

        ``min_n`` leaves out smaller counts, and what would reveal them, as in `draw`.
        """
        from cegdb.graphs import GRAPH_FILES

        file = path_of(path)
        suffix = file.suffix.lower()
        if suffix in GRAPH_FILES:
            return super().export(path, min_n=min_n)
        if suffix in export.TABLE_FILES:
            return export.export_table(
                self._store, "ceg_edges", "ceg", self.name, path, min_n=min_n
            )
        raise GraphError(
            f"{file.name!r} does not say which kind of file to write",
            hint=f"a graph is written as {', '.join(GRAPH_FILES)}, its edges as .csv, .parquet",
        )


_Object = TypeVar("_Object", bound=_Named)


class Collection(Generic[_Object]):
    """The objects of one kind: ``db.cegs["falls"]``, ``for ceg in db.cegs``."""

    def __init__(self, store: Store, of: type[_Object]) -> None:
        self._store = store
        self._of = of

    def names(self) -> list[str]:
        """Return their names, in the order they were made."""
        with self._store.catalog() as catalog:
            return all_names(catalog, self._of.kind)

    def __getitem__(self, name: str) -> _Object:
        """Return the object of that name, or raise UnknownNameError."""
        with self._store.catalog() as catalog:
            return self._of(self._store, find(catalog, self._of.kind, name))

    def __iter__(self) -> Iterator[_Object]:
        """Iterate over the objects."""
        return iter([self[name] for name in self.names()])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        """Return whether there is one of that name."""
        return name in self.names()

    def __repr__(self) -> str:
        """Return the kind and the names."""
        return f"{self._of.kind}s: {', '.join(map(repr, self.names())) or 'none'}"


class Database:
    """An open database: surveys, trees, stagings and CEGs side by side.

    Use it in a ``with`` block, or call ``close``: the file is locked until then.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def path(self) -> Path | None:
        """The file; None in memory."""
        return self._store.path

    @property
    def surveys(self) -> Collection[Survey]:
        """The surveys, by name."""
        return Collection(self._store, Survey)

    @property
    def trees(self) -> Collection[EventTree]:
        """The event trees, by name."""
        return Collection(self._store, EventTree)

    @property
    def stagings(self) -> Collection[StagedTree]:
        """The staged trees, by name."""
        return Collection(self._store, StagedTree)

    @property
    def cegs(self) -> Collection[ChainEventGraph]:
        """The CEGs, by name."""
        return Collection(self._store, ChainEventGraph)

    @property
    def progress(self) -> Progress:
        """How far the last reading of a source is; to be asked from another thread."""
        return self._store.progress

    def ingest(
        self,
        source: Source,
        name: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        count: str | None = None,
        weight: str | None = None,
        cluster: str | None = None,
        decimal: str = ".",
        structural: Labels = (),
        missing: Labels = (),
        levels: Mapping[str, Sequence[object]] | None = None,
        bins: Mapping[str, object] | None = None,
        codebook: CodebookSource | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        bad_rows: Literal["error", "skip"] = "error",
        sheet: str | int | None = None,
        source_column: str | None = None,
        replace: bool = False,
    ) -> Survey:
        """Read a survey; see `cegdb.ingest.ingest` for the settings.

        ``encoding``, ``delimiter``, ``quote``, ``escape``, ``bad_rows``, ``sheet`` and
        ``source_column`` say how files are read: see `cegdb.ingest.csvfile.Reading`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     db.ingest("select 'yes' as a union all select 'no'", name="two")
        survey 'two' from select 'yes' as a union all select 'no': 2 rows read, 2 kept; 2 respondents, 2 distinct
        """  # noqa: E501
        from cegdb.ingest.csvfile import Reading

        survey_id = ingest_room.ingest(
            self._store,
            source,
            name=name,
            columns=columns,
            count=count,
            weight=weight,
            cluster=cluster,
            decimal=decimal,
            structural=structural,
            missing=missing,
            levels=levels,
            bins=bins,
            codebook=codebook,
            reading=Reading(encoding, delimiter, quote, escape, bad_rows, sheet, source_column),
            replace=replace,
        )
        return Survey(self._store, survey_id)

    def codebook(
        self,
        source: Source,
        *,
        columns: Sequence[str] | None = None,
        form: Form = "yaml",
        encoding: str | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        bad_rows: Literal["error", "skip"] = "error",
        sheet: str | int | None = None,
        source_column: str | None = None,
    ) -> str:
        """Return a first draft of a codebook of a source, to be edited; nothing is stored.

        Parameters
        ----------
        source, encoding, delimiter, quote, escape, bad_rows, sheet, source_column
            As for `ingest`.
        columns
            Those to describe; left out, all.
        form
            ``"yaml"``, or ``"csv"`` for a spreadsheet: what the file is to end in.

        Returns
        -------
        str
            The levels of each variable with their rows, what the file says of its codes,
            and remarks on what looks wrong: codes and labels that may be no answer,
            labels that differ in blanks or case only, columns that look like a count, a
            weight, an id, a date or a number to be cut. `ingest` takes it as it is.

        Raises
        ------
        SurveyError
            The source cannot be read, or none of its columns can be a variable.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     draft = db.codebook("select unnest(['yes', 'no', 'yes']) as vote")
        >>> print(draft[draft.index("variables:"):], end="")
        variables:
          "vote":
            values:
              "no": "no"  # 1 row
              "yes": "yes"  # 2 rows
        """
        from cegdb.ingest.csvfile import Reading
        from cegdb.ingest.draft import draft_codebook

        reading = Reading(encoding, delimiter, quote, escape, bad_rows, sheet, source_column)
        return draft_codebook(self._store, source, columns=columns, reading=reading, form=form)

    def sql(
        self, sql: str, params: Mapping[str, object] | Sequence[object] | None = None
    ) -> pd.DataFrame:
        """Run your own SQL and return its rows; each thread has its own connection.

        Raises
        ------
        QueryError
            The SQL fails.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     db.sql("select $x + 1 as y", {"x": 1})["y"].item()
        2
        """
        return query.run_sql(self._store, sql, params).df()

    def rows(
        self, sql: str, params: Mapping[str, object] | None = None
    ) -> tuple[list[str], list[tuple[object, ...]]]:
        """Run your own SQL and return column names and rows, without pandas."""
        result = query.run_sql(self._store, sql, params)
        return [column[0] for column in result.description or []], result.fetchall()

    def drop(self, kind: Kind, name: str) -> None:
        """Drop a survey, tree, staging or ceg, with everything built on it.

        Raises
        ------
        UnknownNameError
            There is none of that name.
        """
        with self._store.writing() as (_, catalog):
            drop(catalog, kind, find(catalog, kind, name))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make several objects or none: after any error in the block nothing is kept.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db, db.transaction():
        ...     db.ingest("select 1 as x", name="one").event_tree().name
        'one'
        """
        with self._store.writing():
            yield

    def rebuild(
        self, survey: str | None = None, *, stages: Stages = "keep"
    ) -> list[EventTree | StagedTree | ChainEventGraph]:
        """Make stale trees, stagings and CEGs again; see `cegdb.rebuild.rebuild`.

        Parameters
        ----------
        survey
            The name of the survey whose trees to make again; left out, all stale ones.
        stages
            ``"keep"``: situations stay in their stage, with probabilities estimated anew;
            ``"relearn"``: what was learnt is learnt again.

        Returns
        -------
        list
            What was made again, each tree before its stagings, these before their CEGs;
            ids and names stay. `StagedTree.drift` tells what became of each stage.

        Raises
        ------
        StaleError
            An object cannot be made again; nothing is changed then.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i < 5 as x from range(8) t(i)", name="s")
        ...     staged = survey.event_tree().learn_stages()
        ...     _ = survey.refresh("select i < 2 as x from range(8) t(i)")
        ...     _ = db.rebuild()
        ...     staged.drift[["stage", "label", "probability_before", "probability_after"]]
          stage  label  probability_before  probability_after
        0    u0  False                 0.4                0.7
        """
        from cegdb.rebuild import rebuild

        of_kind: dict[str, type[EventTree | StagedTree | ChainEventGraph]] = {
            of.kind: of for of in (EventTree, StagedTree, ChainEventGraph)
        }
        made = rebuild(self._store, survey, stages=stages)
        return [of_kind[one.kind](self._store, one.object_id) for one in made]

    def check(self) -> list[dict[str, object]]:
        """Return every row that violates an invariant; an empty list is good."""
        return report.check(self._store)

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        self._store.close()

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """Return where it is and how many objects it holds."""
        with self._store.catalog() as catalog:
            sizes = [counted(len(all_names(catalog, kind)), kind) for kind in KINDS]
        where = "in memory" if self.path is None else f"in {self.path}"
        return f"cegdb {where}: {', '.join(sizes)}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"
