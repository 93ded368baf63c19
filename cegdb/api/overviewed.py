"""Graphs too large to be drawn whole, as the user asks for an overview of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.api.named import Drawn

if TYPE_CHECKING:
    import networkx as nx


class Overviewed(Drawn):
    """A graph of which an overview can be drawn."""

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
            asked for it.

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
        from cegdb.query import overview as rooms

        found = rooms.overview(
            self._store,
            self.kind,
            self.id,
            collapse_below=collapse_below,
            top_variables=top_variables,
            min_n=min_n,
            most=graphs.MAX_DRAWN_EDGES,
        )
        return graphs.overview_graph(
            self.name, found.nodes, found.edges, told=found.told, min_n=min_n
        )
