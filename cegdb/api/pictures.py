"""What objects that are graphs share: pictures, overviews, files for other programs."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from cegdb.api.base import Named
from cegdb.errors import GraphError, MissingExtraError, path_of

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import networkx as nx

    from cegdb.graphs import EdgeInfo
    from cegdb.pictures import Picture

_SHOWN_AT_ONCE = 1_000_000  # vertices; an overview of more takes many seconds


class Drawn(Named):
    """An object that is a graph."""

    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:  # noqa: ARG002
        """Return it as a networkx graph: nodes by shown name, labels as edge keys."""
        raise AssertionError

    def overview(
        self,
        *,
        collapse_below: int | None = None,
        top_variables: int | None = None,
        min_n: int | None = None,
    ) -> nx.MultiDiGraph[str]:
        r"""Return the part of it that is drawn as a networkx graph, the rest collapsed.

        Parameters
        ----------
        collapse_below
            Situations and leaves, or positions, that fewer people reach are collapsed: in a
            tree those below one situation, in a CEG those of a column.
        top_variables
            Only so many variables are drawn, in the order in which they are asked; what
            follows is collapsed.
        min_n
            As for ``to_networkx``; the people of a collapsed node are left out if one of
            its counts is hidden.

        Returns
        -------
        networkx.MultiDiGraph
            As by ``to_networkx``; all of it, if nothing is asked and a picture holds it.
            If a picture does not, ``collapse_below`` is chosen, so that the largest
            situations are drawn. A collapsed node has ``n_hidden``, how many situations or
            positions it hides (0 if leaves only), ``n`` people and a ``text``. An edge
            that stands for several has ``n_labels``, and no probability. Attributes of the
            graph: ``n_drawn``, ``n_hidden`` and ``n_all`` situations or positions (without
            the sink), ``collapse_below``, ``top_variables``, and ``is_chosen`` if nobody
            asked for it; ``given`` has the evidence of a CEG given it.

        Raises
        ------
        GraphError
            A bound is no whole number from 1 on, or leaves more edges than a picture holds.
        QueryError
            ``min_n`` is no whole number from 1 on.

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
        from cegdb.graphs import overview as rooms

        found = rooms.overview(
            self._store,
            self.kind,
            self.id,
            collapse_below=collapse_below,
            top_variables=top_variables,
            min_n=min_n,
            most=graphs.MAX_DRAWN_EDGES,
        )
        graph = graphs.overview_graph(
            self.name, found.nodes, found.edges, told=found.told, min_n=min_n
        )
        if given := self._given():
            graph.graph["given"] = given
        return graph

    def figure(
        self,
        *,
        edge_info: EdgeInfo = "probability",
        min_n: int | None = None,
        font_size: float = 9,
        width_mm: float | None = None,
        collapse_below: int | None = None,
        top_variables: int | None = None,
    ) -> Picture:
        """Return it as a figure with a caption, from left to right, stages coloured.

        Variables stand over the columns, edges are as wide as the people who took them, and
        a stage that situations share shows its colour and its name.

        Parameters
        ----------
        edge_info
            What edges show beside their label: ``"probability"`` (of an event tree the
            count), ``"count"``, ``"none"``, or of a CEG ``"prior"``, ``"posterior"`` (the
            edges of trees have none, and the caption says so).
        min_n
            Counts from 1 to ``min_n - 1`` show as ``…``, and so do those that would reveal
            them by sums, and what was calculated from either.
        font_size
            Of labels, in points.
        width_mm
            The width in millimetres; left out, what the graph needs. A graph that needs
            more is scaled down, and its caption says so.
        collapse_below, top_variables
            As for `overview`: what fewer people reach, and what is asked after the first so
            many variables, is collapsed into dashed boxes that tell how much they hide. A
            graph that is too large to be drawn whole is drawn as an overview.

        Returns
        -------
        Picture
            Shows itself in a notebook; ``.caption`` says what it shows, ``.save(path)``
            writes it, ``.figure`` is matplotlib's.

        Raises
        ------
        GraphError
            The choice or a size is unknown, or what is asked for is too large to lay out.
        MissingExtraError
            The extra ``draw`` is not installed.
        QueryError
            ``min_n`` is no whole number from 1 on.

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

        self._check_drawn(edge_info)
        graph = self.overview(
            collapse_below=collapse_below, top_variables=top_variables, min_n=min_n
        )
        return graph_figure(graph, edge_info=edge_info, font_size=font_size, width_mm=width_mm)

    def draw(
        self,
        path: str | os.PathLike[str],
        *,
        edge_info: EdgeInfo = "probability",
        min_n: int | None = None,
        font_size: float = 9,
        width_mm: float | None = None,
        collapse_below: int | None = None,
        top_variables: int | None = None,
    ) -> Path:
        """Draw it into a file and return the file's path.

        Parameters
        ----------
        path
            Ends in ``.svg``, ``.pdf``, ``.png``, ``.dot`` (Graphviz) or ``.tex`` (TikZ).
        edge_info, min_n, font_size, width_mm, collapse_below, top_variables
            As for `figure`, which raises the same errors. A ``.dot`` file has the whole
            graph, unless one of the last two is given.
        """
        from cegdb.pictures import check_picture, draw

        self._check_drawn(edge_info)
        is_whole = collapse_below is None and top_variables is None
        if check_picture(path_of(path)) == ".dot" and is_whole:
            graph = self.to_networkx(min_n=min_n)
        else:
            graph = self.overview(
                collapse_below=collapse_below, top_variables=top_variables, min_n=min_n
            )
        return draw(graph, path, edge_info=edge_info, font_size=font_size, width_mm=width_mm)

    def _n_vertices(self) -> int:
        return int(self._row()["n_vertices"])

    def _given(self) -> str:
        """Return what is known of all of its people, in words."""
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
            ``.dot``. Rows: ``.csv``, ``.parquet``, ``.json``, ``.md``, ``.tex``, ``.html``.
        table
            One of `tables`. If it is left out, a graph file has the graph, and others have
            its edges.
        min_n
            Leaves out smaller counts, and what would reveal them, as in `draw`.

        Notes
        -----
        Rows are written as they are read: a graph of any size, in little memory.

        Raises
        ------
        GraphError
            The suffix is none of these, or the file cannot be written.
        QueryError
            It has no such table, or ``min_n`` cannot be had for it.
        """
        from cegdb import export, graphs

        file = path_of(path)
        suffix = file.suffix.lower()
        if table is None and suffix in graphs.GRAPH_FILES:
            with graphs.stored_rows(self._store, self.kind, self.name, min_n=min_n) as rows:
                return graphs.write_graph(rows, file)
        if suffix in (*export.TABLE_FILES, *export.TEXT_FILES):
            return super().export(file, table=table, min_n=min_n)
        written = ", ".join((*export.TABLE_FILES, *export.TEXT_FILES))
        raise GraphError(
            f"{file.name!r} does not say which kind of file to write",
            hint=f"a graph is written as {', '.join(graphs.GRAPH_FILES)}, its edges and other "
            f"tables as {written}",
        )

    def _repr_html_(self) -> str:
        text = f"<pre>{html.escape(self.summary)}</pre>"
        if self._n_vertices() > _SHOWN_AT_ONCE:
            return f"{text}<p>Large: call <code>figure()</code> for an overview.</p>"
        try:
            return text + self.figure()._repr_svg_()
        except (MissingExtraError, GraphError):
            return text
