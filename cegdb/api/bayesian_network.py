"""What a staging says of parents and independence, and its smallest Bayesian network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.api.stability import Resampled

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import networkx as nx
    import pandas as pd


class Networked(Resampled):
    """A staging that can be told as a Bayesian network and what goes beyond it."""

    @property
    def parents(self) -> pd.DataFrame:
        """The parents of each variable: the earlier ones that its stages depend on.

        One row a variable and parent, and one of a variable without any. Columns:
        ``staging``; ``variable``; ``parent`` (missing if none); ``kind``, how it depends on
        it: ``total``, ``local``, ``context``, ``partial`` or ``context/partial`` (see
        `cegdb.networks.find_families`); ``is_unique``, whether no other parents would do, as
        where all combinations of answers occur; ``sentence``, the same in words.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     survey.event_tree().set_stages({}).parents[["variable", "parent", "kind"]]
          variable parent   kind
        0        x   <NA>   <NA>
        1        y      x  total
        """
        import pandas as pd

        from cegdb import networks

        families = networks.find_families(self._store, self.id)
        names = ["staging", "variable", "parent", "kind", "is_unique", "sentence"]
        rows: list[tuple[object, ...]] = []
        for family in families:
            about = (self.name, family.variable)
            for parent, kind in zip(family.parents, family.kinds, strict=True):
                said = networks.dependence(family.variable, parent, kind)
                rows.append((*about, parent, kind, family.is_unique, said))
            if not family.parents:
                said = f"{family.variable} depends on nothing before it"
                rows.append((*about, None, None, family.is_unique, said))
        frame = pd.DataFrame(rows, columns=names)
        return frame.astype({"parent": "string", "kind": "string"})

    @property
    def independences(self) -> pd.DataFrame:
        """What the stages say of independence, what covers most people first.

        One row a statement: ``variable`` is independent of ``independent_of`` (a list)
        ``given`` these (a list), wherever ``context`` (variable -> label; empty: everywhere)
        holds. Of statements about contexts there are those alone that none of fewer
        conditions implies. Further columns: ``staging``; ``n`` rows that are asked the
        variable there; ``share`` of it among all who are asked, by the probabilities of the
        staging; ``sentence``, the same in words.

        Raises
        ------
        NetworkError
            A variable has too many parents for all contexts to be looked at.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(80) t(i)")
        ...     staged = survey.event_tree().set_stages(depends={"y": []})
        ...     staged.independences["sentence"].item()
        'y is independent of x (80 people)'
        """
        import pandas as pd

        from cegdb import networks

        found = networks.statements(networks.find_families(self._store, self.id))
        staging = self.name
        names = [
            "staging", "variable", "independent_of", "given", "context", "n", "share",
            "sentence",
        ]  # fmt: skip
        rows = [
            (
                staging,
                one.variable,
                one.independent_of,
                one.given,
                one.context,
                one.n,
                one.share,
                one.sentence,
            )
            for one in found
        ]
        return pd.DataFrame(rows, columns=names)

    def to_bayesian_network(self) -> nx.DiGraph[str]:
        """Return the smallest Bayesian network that holds it, as a networkx graph.

        Nodes are the variables, with their labels (``levels``), whether their parents are
        the only ones that would do (``is_unique``), and their table (``probability``, a row
        for each combination of the parents' labels that can occur: see
        `cegdb.networks.smallest_network` for what it is); edges have their ``kind``. A
        variable that is not asked on some path has the label ``not applicable``.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     graph = survey.event_tree().set_stages({}).to_bayesian_network()
        >>> graph.edges(data="kind")
        OutEdgeDataView([('x', 'y', 'total')])
        """
        from cegdb import networks
        from cegdb.graphs import network_graph

        return network_graph(*networks.smallest_network(self._store, self.id))

    def write_bif(self, path: str | os.PathLike[str]) -> Path:
        """Write the smallest Bayesian network that holds it as a ``.bif`` file.

        Rows of combinations that cannot occur have equal probabilities, since the format
        needs each. See `cegdb.networks.bif` for how odd labels are written.

        Raises
        ------
        GraphError
            The path does not end in ``.bif``, or cannot be written.
        NetworkError
            A table has more than a million rows.
        """
        from cegdb import networks
        from cegdb.graphs import write_bif

        return write_bif(networks.smallest_network(self._store, self.id)[0], path)
