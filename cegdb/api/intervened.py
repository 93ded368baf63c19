"""A CEG after an intervention, as the user asks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from cegdb.api.inference import Given
from cegdb.errors import QueryError
from cegdb.evidence import All

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import networkx as nx
    import pandas as pd

    from cegdb.api.chain_event_graph import ChainEventGraph
    from cegdb.causal.interventions import Absent, Intervention
    from cegdb.evidence import Asked
    from cegdb.inference.queries import Conditioned


class Intervened(Given):
    """A CEG after an intervention: made by `ChainEventGraph.do`, asked like it.

    ``given`` observes after the intervention, and its evidence is that.
    """

    def __init__(self, ceg: ChainEventGraph, made: Intervention, found: Conditioned) -> None:
        super().__init__(found, ceg)
        self._ceg = ceg
        self._before = ceg._conditioned()
        self._made = made

    def given(self, *evidence: Asked, **labels: object) -> Intervened:
        """Return it given what is observed after the intervention; see `Askable.given`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     round(ceg.do(x={0: 0.9, 1: 0.1}).given(y=True).probability(x=0), 4)
        0.9462
        """
        from cegdb.inference import queries

        found = queries.condition(self._made.ceg, self._joined(evidence, labels))
        return Intervened(self._ceg, self._made, found)

    def do(
        self,
        actions: Mapping[str, object] | None = None,
        /,
        *,
        absent: Absent = "error",
        **labels: object,
    ) -> Intervened:
        """Return it after a further intervention; see `ChainEventGraph.do`.

        Raises
        ------
        QueryError
            Something was observed before it, or is set twice.
        """
        from cegdb.causal import interventions as room
        from cegdb.inference import queries

        if self._found.evidence != All(()):
            raise QueryError(
                f"this was observed before: {self._found.evidence}",
                hint="intervene first, then observe: ceg.do(...).given(...)",
            )
        made = room.intervene(self._made, actions_of(actions, labels), absent)
        return Intervened(self._ceg, made, queries.condition(made.ceg, All(())))

    @property
    def assumption(self) -> str:
        """What must be true for its probabilities to be those of an intervention."""
        from cegdb.causal import interventions as room

        return room.assumption(self._made.ceg, self._made.names)

    @property
    def intervention(self) -> str:
        """What was set, in words."""
        return ", ".join(self._made.words)

    @property
    def edges(self) -> pd.DataFrame:
        """The edges of the CEG with the probabilities of the intervention.

        Columns: ``source``; ``label``; ``target``; ``variable``; ``fitted``, its
        probability without the intervention; ``probability`` after it; ``is_set``, whether
        the intervention set it; ``passed``, the probability that a path takes it, given what
        was observed.
        """
        import pandas as pd

        ceg, graph, product = self._made.ceg, self._made.ceg.graph, self._found.product
        taken = self._found.smoothed[self._found.graph.source] * self._found.probability
        names = [variable.name for variable in ceg.variables]
        asked = ceg.edge_variable.tolist()
        return pd.DataFrame(
            {
                "source": [ceg.names[node] for node in graph.source.tolist()],
                "label": ceg.texts,
                "target": [ceg.names[node] for node in graph.target.tolist()],
                "variable": [names[place] if place >= 0 else None for place in asked],
                "fitted": self._before.ceg.probability,
                "probability": ceg.probability,
                "is_set": self._made.is_set,
                "passed": np.bincount(product.edge, taken, len(ceg.texts)),
            }
        )

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """Return what can be reached as a networkx graph, with the probabilities now.

        As `ChainEventGraph.to_networkx`, without counts: they are not those of an
        intervention.
        """
        from cegdb import graphs

        edges = self.edges.set_index(["source", "label"])["passed"].to_dict()
        passed = self.positions.set_index("position")["probability"].to_dict()
        order = "source_id, label_id, target_id"
        kept = ("position", "stage", "variable", "height", "colour", "position_id")
        positions = [
            {name: row[name] for name in kept}
            for row in self._ceg._rows(
                "positions", "ceg", "stage_id is null, position_id", None
            )
            if passed[row["position"]] > 0
        ]
        rows = [
            {
                **{name: row[name] for name in ("source", "target", "label", "variable")},
                "probability": edges[row["source"], row["label"]] / passed[row["source"]],
            }
            for row in self._ceg._rows("ceg_edges", "ceg", order, None)
            if edges[row["source"], row["label"]] > 0
        ]
        return graphs.ceg_graph(
            f"{self._ceg.name} after do({self.intervention})", positions, rows
        )

    def draw(self, path: str | os.PathLike[str]) -> Path:
        """Draw what can be reached, as `ChainEventGraph.draw` does."""
        from cegdb import pictures

        return pictures.draw(self.to_networkx(), path)

    def save(self, name: str | None = None, *, replace: bool = False) -> NoReturn:
        """Refuse: what is stored are the probabilities of a staging, and evidence.

        Raises
        ------
        QueryError
            Always; ``edges``, ``positions`` and ``draw`` show it.
        """
        del replace
        raise QueryError(
            f"{name or self._ceg.name!r} cannot be saved after do({self.intervention})",
            hint="keep its edges or a sample: db.write(ceg.do(...).edges, 'edges.csv')",
        )

    def __repr__(self) -> str:
        """Return the CEG, the intervention, what was observed, and the assumption."""
        text = f"CEG {self._found.ceg.name!r} after do({self.intervention})"
        if self._found.evidence != All(()):
            found = self.probability_of_evidence
            text += f", given {self.evidence} (probability {found:.4g})"
        return f"{text}\n{self.assumption}"


def actions_of(
    actions: Mapping[str, object] | None, labels: Mapping[str, object]
) -> dict[str, object]:
    """Return what is to be set, refusing what is named twice."""
    from cegdb.causal import interventions as room

    given: object = actions
    if given is not None and not isinstance(given, Mapping):
        raise QueryError(f"an intervention is {given!r}", hint=room.MAPPING)
    found: dict[str, object] = dict(actions) if actions is not None else {}
    if twice := sorted(set(found) & set(labels)):
        raise QueryError(f"{twice[0]!r} is set twice", hint="set a variable once")
    return found | dict(labels)
