"""What all objects of a database share, and what those that are graphs do."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final

from cegdb import report, small_cells, views
from cegdb.api.settings import options_from, takes
from cegdb.errors import CegdbError, GraphError, QueryError, joined, path_of
from cegdb.findings import findings_of, titles
from cegdb.names import did_you_mean, find_name
from cegdb.options import PictureOptions, PictureSettings
from cegdb.store.catalog import KIND_WORDS, row

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path
    from typing import Unpack

    import networkx as nx
    import pandas as pd

    from cegdb.findings import StoredFinding
    from cegdb.options import EdgeInfo, Kind
    from cegdb.pictures import Picture
    from cegdb.store import Store


MOST_IN_CAPTION: Final = 2
"""The most kinds of findings that a caption names."""


def text_or_reason(shown: object, text: Callable[[], str]) -> str:
    """Return the text of an object, or why it cannot be read: showing one raises nothing."""
    try:
        return text()
    except CegdbError as error:
        return f"<{type(shown).__name__}: {error.args[0]}>"


class Displayed:
    """An object that a notebook shows as its text."""

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


class MethodGroup(Displayed):
    """Methods of an object under one name, such as ``ceg.plot``: it shows which there are."""

    _purpose: ClassVar[str]

    def __repr__(self) -> str:
        """Return what it is for and the names of its methods."""
        methods = (name for name in vars(type(self)) if not name.startswith("_"))
        return f"{self._purpose}: {', '.join(methods)}"


class StoredObject:
    """An object of a database: it holds the store and its id."""

    kind: Kind
    _classes: ClassVar[dict[Kind, type[StoredObject]]] = {}

    def __init_subclass__(cls) -> None:
        """Note which class has the objects of a kind, so that any object finds another."""
        super().__init_subclass__()
        if "kind" in vars(cls):
            cls._classes[cls.kind] = cls

    def __init__(self, store: Store, object_id: int) -> None:
        self._store = store
        self.id = object_id

    def _row(self) -> dict[str, Any]:
        with self._store.catalog() as catalog:
            return row(catalog, self.kind, self.id)

    def _object(self, kind: Kind, object_id: int) -> Any:
        """Return another object of the same database."""
        return self._classes[kind](self._store, object_id)

    @property
    def name(self) -> str:
        """The name under which it is stored."""
        return str(self._row()["name"])

    @property
    def summary(self) -> str:
        """What was built, which defaults were used, and what looks wrong: see `findings`."""
        return report.summary(self.kind, self._row(), self._found())

    @property
    def own_summary(self) -> str:
        """The summary without what looks wrong in the objects it was made from."""
        found = [one for one in self._found() if one.from_kind == self.kind]
        return report.summary(self.kind, self._row(), found)

    def _found(self) -> list[StoredFinding]:
        with self._store.catalog() as catalog:
            return findings_of(catalog, self.kind, self.name)

    def findings(self) -> pd.DataFrame:
        """Return what to know before its numbers, the most consequential first.

        What was found in the objects it was made from is included, as far as it is about a
        variable of this one.

        Returns
        -------
        pandas.DataFrame
            Rows of the view ``findings``: ``finding``, its kind; ``consequence``, 1 (may
            turn a conclusion around), 2 (makes numbers uncertain or biased) or 3 (worth a
            look); ``sentence``; ``n``, the respondents it concerns or rests on; ``advice``,
            what to do; ``from_kind`` and ``from_name``, the object in which it was found. No
            rows if nothing was found.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i < 7 as x, i % 2 as y from range(9) t(i)")
        ...     found = survey.event_tree().findings()
        >>> found[["finding", "consequence", "n"]].values.tolist()
        [['thin_situations', 3, 18]]
        """
        where: dict[str, object] = {"kind": self.kind, "name": self.name}
        return views.view_frame(self._store, "findings", where, "place")

    @property
    def is_stale(self) -> bool:
        """Whether its survey has changed since it was built: see `Database.rebuild`."""
        return bool(self._row()["is_stale"])

    @property
    def settings(self) -> dict[str, object]:
        """The settings it was made with."""
        settings = self._row()["settings"]
        return dict(settings) if isinstance(settings, dict) else {}

    def __repr__(self) -> str:
        """Return the first line of the summary."""
        return text_or_reason(self, lambda: report.summary(self.kind, self._row())).split(
            "\n", 1
        )[0]

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same object of the same open database."""
        return isinstance(other, StoredObject) and (self._store, self.kind, self.id) == (
            other._store,
            other.kind,
            other.id,
        )

    def __hash__(self) -> int:
        """Return a hash that fits equality."""
        return hash((id(self._store), self.kind, self.id))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(text_or_reason(self, lambda: self.summary))}</pre>"

    def rows(
        self, view: str, *, min_n: int | None = None
    ) -> tuple[list[str], list[tuple[object, ...]]]:
        """Return column names and rows of a view of it, optionally with small cells hidden.

        Parameters
        ----------
        view
            ``variables`` of a survey; ``vertices``, ``tree_edges``, ``situations`` of a
            tree; ``staged_vertices``, ``staged_edges`` of a staging; ``positions``,
            ``ceg_edges`` of a CEG.
        min_n
            Counts from 1 to ``min_n - 1`` are None, and so are those that would reveal
            them by sums, and what was calculated from either.

        Returns
        -------
        tuple
            The names of the columns, and the rows as tuples in the order of the view.

        Raises
        ------
        QueryError
            It has no such view, or ``min_n`` is not a whole number, 1 or more.

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
        found = find_name(view, known)
        if found is None:
            raise QueryError(
                f"{KIND_WORDS[self.kind]} {self.name!r} has no view {view!r}",
                hint=did_you_mean(view, known) or f"it has {', '.join(known)}",
            )
        order = small_cells.view_order(found)
        where: dict[str, object] = {self.kind: self.name}
        return views.view_table(self._store, found, where, order, min_n=min_n)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        min_n: int | None = None,
    ) -> Path:
        """Write a table or view of it to a file, streamed.

        Parameters
        ----------
        path
            Ends in ``.csv``, ``.parquet``, ``.json``, ``.md``, ``.tex`` or ``.html``.
        table
            One of `tables`; of a survey, ``variables`` if left out.
        min_n
            Hides smaller counts, and what would reveal them, as in `rows`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            The suffix is not one of these, or the file cannot be written.
        QueryError
            It has no such table, or has no version with ``min_n``.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> with cegdb.open() as db, tempfile.TemporaryDirectory() as folder:
        ...     survey = db.ingest("select if(i < 7, 'u', 'v') as x from range(9) t(i)")
        ...     tree = survey.event_tree()
        ...     file = tree.export(f"{folder}/florets.csv", table="florets")
        ...     file.read_text().splitlines()[1].split(",", 3)[3]
        '"[""u"",""v""]","[7,2]",2,9,0,0'
        """
        from cegdb import export

        view = table or small_cells.views(self.kind)[-1]
        return export.export_table(self._store, self.kind, self.name, view, path, min_n=min_n)

    @property
    def tables(self) -> list[str]:
        """The names of the views and tables that have rows of it, views first."""
        from cegdb import export

        return export.tables_of(self._store, self.kind)

    def _rows(
        self, view: str, column: str, order: str, min_n: int | None
    ) -> list[dict[str, object]]:
        return views.view_rows(self._store, view, {column: self.name}, order, min_n=min_n)

    def _frame(self, view: str, column: str, order: str) -> pd.DataFrame:
        return views.view_frame(self._store, view, {column: self.name}, order)


class GraphObject(StoredObject, ABC):
    """An object that is a graph: it can be drawn and written for other programs."""

    @abstractmethod
    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:
        """Return it as a networkx graph: nodes by shown name, labels as edge keys.

        Parameters
        ----------
        min_n
            Counts from 1 to ``min_n - 1`` are left out, and so is what would reveal them; the
            graph's attribute ``min_n`` records it. Default: nothing is left out.

        Returns
        -------
        networkx.MultiDiGraph
            The views' columns are the attributes of nodes and edges.

        Raises
        ------
        QueryError
            ``min_n`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb
        >>> tree = cegdb.open().demo("chds").staging.tree
        >>> list(tree.to_networkx().edges("s0", keys=True))
        [('s0', 's1', 'High'), ('s0', 's2', 'Low')]
        """

    def overview(
        self,
        *,
        collapse_below: int | None = None,
        top_variables: int | None = None,
        min_n: int | None = None,
    ) -> nx.MultiDiGraph[str]:
        r"""Return what `draw` shows as a networkx graph, with the rest collapsed.

        Parameters
        ----------
        collapse_below
            Situations and leaves, or positions, that fewer people reach are collapsed: in a
            tree those below one situation, in a CEG those of a column.
        top_variables
            Number of variables to draw, from the root; what follows is collapsed.
        min_n
            As for ``to_networkx``; the people of a collapsed node are left out if one of
            its counts is hidden.

        Returns
        -------
        networkx.MultiDiGraph
            As by ``to_networkx``; the whole graph, if no bound is given and it fits into a
            picture. If it does not fit, ``collapse_below`` is chosen so that the largest
            situations are drawn. A collapsed node has ``n_hidden``, how many situations or
            positions it hides (0 if leaves only), ``n`` people and a ``text``. An edge
            that stands for several has ``n_labels``, and no probability. Attributes of the
            graph: ``n_drawn``, ``n_hidden`` and ``n_all`` situations or positions (without
            the sink), ``collapse_below``, ``top_variables``, and ``is_chosen`` if it
            was chosen automatically; ``given`` has the evidence of a CEG given it. Positions
            of ordered answers have ``mean``, their mean score.

        Raises
        ------
        GraphError
            A bound is not a whole number, 1 or more, or leaves more edges than a picture holds.
        QueryError
            ``min_n`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i < 7 as x, i % 2 as y from range(9) t(i)")
        ...     found = survey.event_tree().overview(collapse_below=3)
        >>> [data["text"] for _, data in found.nodes(data=True) if "n_hidden" in data]
        ['1 situation\n2 people']
        """
        from cegdb import graphs
        from cegdb.graphs import overview as overviews
        from cegdb.inference.mean_scores import declared_scores

        extract = overviews.overview(
            self._store,
            self.kind,
            self.id,
            collapse_below=collapse_below,
            top_variables=top_variables,
            min_n=min_n,
            most=graphs.MAX_DRAWN_EDGES,
        )
        graph = graphs.overview_graph(
            self.name, extract.nodes, extract.edges, attributes=extract.attributes, min_n=min_n
        )
        if given := self._given():
            graph.graph["given"] = given
        if self.kind == "ceg":
            graphs.add_means(graph, declared_scores(self._store, self.kind, self.id))
        return graph

    @takes(PictureSettings, PictureOptions)
    def figure(
        self,
        *,
        min_n: int | None = None,
        **settings: Unpack[PictureSettings],
    ) -> Picture:
        """Return it as a figure with a caption, from left to right, stages coloured.

        Variables head the columns, the width of an edge is proportional to the people who
        took it, and shared stages are shown by colour and name. The edges of trees have no
        prior and no posterior, and the caption says so. A graph that is too large is drawn as
        an `overview`.

        Parameters
        ----------
        min_n
            Counts from 1 to ``min_n - 1`` show as ``…``, and so do those that would reveal
            them by sums, and what was calculated from either.
        **settings
            Those of `PictureOptions`.

        Returns
        -------
        Picture
            Shows itself in a notebook; ``.caption`` says what it shows, ``.save(path)``
            writes it, ``.figure`` is matplotlib's.

        Raises
        ------
        GraphError
            A setting is not one of its choices or out of range, or the graph is too large.
        MissingExtraError
            The extra ``draw`` is not installed.
        QueryError
            ``min_n`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select if(i < 7, 'u', 'v') as x from range(9) t(i)")
        ...     picture = survey.event_tree().figure(width_mm=80)
        >>> picture.caption[:12]
        "Event tree '"
        """
        from cegdb.pictures import graph_figure

        options = options_from(settings, PictureSettings, PictureOptions)
        self._check_drawn(options.edge_info)
        return graph_figure(self._overview(options, min_n), **_look(options))

    @takes(PictureSettings, PictureOptions)
    def draw(
        self,
        path: str | os.PathLike[str],
        *,
        min_n: int | None = None,
        **settings: Unpack[PictureSettings],
    ) -> Path:
        """Draw it into a file and return the file's path.

        Parameters
        ----------
        path
            Ends in ``.svg``, ``.pdf``, ``.png``, ``.dot`` (Graphviz) or ``.tex`` (TikZ).
        min_n, **settings
            As for `figure`. A ``.dot`` file has the whole graph, unless one of the last two is
            given.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            The suffix is not one of these, the file cannot be written, or `figure` refuses a
            setting.
        MissingExtraError
            The extra ``draw`` is not installed.
        QueryError
            ``min_n`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> ceg = cegdb.open().demo("chds")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ceg.draw(f"{folder}/chds.svg").name
        'chds.svg'
        """
        from cegdb.pictures import check_picture, draw

        options = options_from(settings, PictureSettings, PictureOptions)
        self._check_drawn(options.edge_info)
        is_whole = options.collapse_below is None and options.top_variables is None
        if check_picture(path_of(path)) == ".dot" and is_whole:
            graph = self.to_networkx(min_n=min_n)
        else:
            graph = self._overview(options, min_n)
        return draw(graph, path, **_look(options))

    def _overview(self, options: PictureOptions, min_n: int | None) -> nx.MultiDiGraph[str]:
        graph = self.overview(
            collapse_below=options.collapse_below,
            top_variables=options.top_variables,
            min_n=min_n,
        )
        graph.graph["cautions"] = titles(self._found(), most=MOST_IN_CAPTION)
        return graph

    def _n_vertices(self) -> int:
        return int(self._row()["n_vertices"])

    def _given(self) -> str:
        """Return the evidence it is given, in words."""
        return ""

    def _check_drawn(self, edge_info: EdgeInfo) -> None:
        """Refuse what its edges cannot have."""

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        min_n: int | None = None,
    ) -> Path:
        """Write the graph for another program, or a table or view of it.

        Parameters
        ----------
        path
            The graph: ``.graphml``, ``.gexf``, ``.cyjs`` (Cytoscape), ``.json`` (node-link),
            ``.dot``; the JSON has what was found too. Rows: ``.csv``, ``.parquet``, ``.json``,
            ``.md``, ``.tex``, ``.html``.
        table
            One of `tables`. Default: the whole graph in a graph file, the edges in others.
        min_n
            Leaves out smaller counts, and what would reveal them, as in `draw`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            The suffix is not one of these, or the file cannot be written.
        QueryError
            It has no such table, or has no version with ``min_n``.

        Notes
        -----
        Rows are written as they are read: a graph of any size, in little memory.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> ceg = cegdb.open().demo("chds")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ceg.export(f"{folder}/chds.graphml").name
        'chds.graphml'
        """
        from cegdb import export, graphs
        from cegdb.atomic_files import unknown_file_type

        file = path_of(path)
        suffix = file.suffix.lower()
        if table is None and suffix in graphs.GRAPH_FILES:
            with graphs.stored_rows(self._store, self.kind, self.name, min_n=min_n) as rows:
                return graphs.write_graph(rows, file)
        if suffix in (*export.TABLE_FILES, *export.TEXT_FILES):
            return super().export(file, table=table, min_n=min_n)
        written = joined((*export.TABLE_FILES, *export.TEXT_FILES), "or")
        raise GraphError(
            unknown_file_type(file),
            hint=f"a graph is written as {joined(tuple(graphs.GRAPH_FILES), 'or')}; its edges "
            f"and other tables as {written}",
        )

    def _repr_html_(self) -> str:
        from cegdb.pictures import summary_and_picture

        try:
            return summary_and_picture(self.summary, self._n_vertices(), self.figure)
        except CegdbError:
            return super()._repr_html_()


def _look(options: PictureOptions) -> dict[str, Any]:
    names = ("edge_info", "font_size", "width_mm")
    return {name: getattr(options, name) for name in names}
