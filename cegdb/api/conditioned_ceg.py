"""A staged tree or CEG given evidence, and a CEG after an intervention."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cegdb.api.base import Displayed
from cegdb.api.queries import Conditional, Queryable
from cegdb.errors import QueryError, StaleError
from cegdb.evidence import All, measure_text
from cegdb.options import EffectOptions

if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import Any

    import networkx as nx
    import pandas as pd

    from cegdb.api.chain_event_graph import ChainEventGraph
    from cegdb.api.queries import StoredModel
    from cegdb.api.staged_tree import StagedTree
    from cegdb.causal.interventions import Intervention
    from cegdb.evidence import EvidenceLike
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.counted_tree import CountedTree
    from cegdb.inference.queries import ConditionedModel
    from cegdb.options import Absent


class GivenEvidence(Displayed, Queryable[Conditional]):
    """What evidence leaves of a staged tree or CEG."""

    _conditioned: ConditionedModel
    _unavailable_hint: str

    def _compiled(self) -> ConditionedModel:
        return self._conditioned

    @abstractmethod
    def _origin(self) -> StoredModel[Any]:
        """Return the stored model that it comes from."""

    def _counted_tree(self) -> CountedTree:
        origin = self._origin()
        if origin._compiled().ceg is not self._unconditioned():
            raise StaleError(
                f"{self._conditioned.ceg.title} was rebuilt since it was given {self.evidence}",
                hint="give the evidence again, or ask without intervals (interval=None)",
            )
        return origin._counted_tree()

    def _unconditioned(self) -> CompiledModel:
        """Return the model before evidence and interventions."""
        return self._conditioned.ceg

    @property
    def evidence(self) -> str:
        """What is known, in words."""
        return str(self._conditioned.evidence)

    @property
    def probability_of_evidence(self) -> float | None:
        """Probability of the evidence; None for soft evidence, which has none."""
        return self._conditioned.probability_of_evidence

    @property
    def relative_likelihood(self) -> float | None:
        """Mean of the likelihoods of soft evidence, in their unit; None for other evidence."""
        return self._conditioned.relative_likelihood

    @property
    def progress(self) -> pd.DataFrame:
        """Where a person may be after each number of edges.

        Columns: ``depth``; ``position``; ``filtered``, its probability given the evidence on
        the edges up to there; ``smoothed``, given all of it. Both sum to 1 for each depth;
        people whose path has ended are in the sink.
        """
        import pandas as pd

        from cegdb.inference import queries

        names, vertex = self._conditioned.ceg.names, self._conditioned.ceg.vertex
        rows = [
            (depth, names[node], *pair)
            for depth, node, *pair in queries.filtered_and_smoothed(self._conditioned)
        ]
        return pd.DataFrame(rows, columns=["depth", vertex, "filtered", "smoothed"])

    def _unavailable(self) -> dict[str, tuple[str, str]]:
        """Return why methods of the model do not exist here, and what to do, by name."""
        reason = (
            "rows cannot be assigned after conditioning or intervening: the stages and "
            "positions are those of the model before"
        )
        hint = "assign rows with the model itself; complete() and score() work here"
        return {"assign": (reason, hint)}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Say, of what it has only without evidence, what to do instead."""
            if name.startswith("_"):
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            if name in (unavailable := self._unavailable()):
                reason, hint = unavailable[name]
                raise AttributeError(f"{reason}\nhint: {hint}")
            if hasattr(type(self._origin()), name):
                raise AttributeError(
                    f"{name!r} is not available here: {self._unavailable_hint}"
                )
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def _passed(self, name: str) -> pd.DataFrame:
        """Return how probable it is to pass each vertex, called so."""
        import pandas as pd

        from cegdb.inference import queries

        names = [name, "variable", "prior", "probability", f"{name}_id"]
        return pd.DataFrame(queries.position_probabilities(self._conditioned), columns=names)

    def __repr__(self) -> str:
        """Return what it comes from, the evidence, and how probable or likely that is."""
        return f"{self._conditioned.ceg.title} given {self.evidence} ({self._measure()})"

    def _measure(self) -> str:
        return measure_text(self.probability_of_evidence, self.relative_likelihood)


class ConditionedStagedTree(GivenEvidence["ConditionedStagedTree"]):
    """A staged tree given evidence: made by `StagedTree.given`, queried like it.

    Examples
    --------
    >>> import cegdb
    >>> staged = cegdb.open().demo("chds").staging
    >>> staged.given(Admission="Yes")
    staged tree 'chds' given Admission = Yes (probability 0.1907)
    """

    _unavailable_hint = (
        "use the staged tree without evidence, or staged.to_ceg().given(...).save()"
    )

    def __init__(self, conditioned: ConditionedModel, staging: StagedTree) -> None:
        self._conditioned = conditioned
        self._staging = staging

    def _origin(self) -> StagedTree:
        return self._staging

    def _conditional(self, conditioned: ConditionedModel) -> ConditionedStagedTree:
        return ConditionedStagedTree(conditioned, self._staging)

    @property
    def situations(self) -> pd.DataFrame:
        """How probable it is to reach each situation.

        Columns: ``situation``; ``variable``; ``prior``, without the evidence;
        ``probability`` given all of it; ``situation_id``, its ``vertex_id``. The last row has
        the leaves.
        """
        return self._passed("situation")

    def _unavailable(self) -> dict[str, tuple[str, str]]:
        return super()._unavailable() | {
            "do": _no_intervention(self.evidence),
            "save": (
                "a staged tree given evidence cannot be saved: its stages no longer hold",
                "save the CEG: staged.to_ceg().given(...).save()",
            ),
        }


class CegGivenEvidence(GivenEvidence[Conditional]):
    """A CEG given evidence or after an intervention."""

    _ceg: ChainEventGraph

    def _origin(self) -> ChainEventGraph:
        return self._ceg

    @property
    def positions(self) -> pd.DataFrame:
        """How probable it is to pass each position.

        Columns: ``position``; ``variable``; ``prior``, without the evidence; ``probability``
        given all of it (smoothed); ``position_id``.
        """
        return self._passed("position")

    def _check_nothing_known(self) -> None:
        if self._conditioned.evidence != All(()):
            reason, hint = _no_intervention(self.evidence)
            raise QueryError(reason, hint=hint)


class ConditionedCeg(CegGivenEvidence["ConditionedCeg"]):
    """A CEG given evidence: made by `ChainEventGraph.given`, queried like it.

    Examples
    --------
    >>> import cegdb
    >>> ceg = cegdb.open().demo("chds")
    >>> ceg.given(Admission="Yes")
    CEG 'chds' given Admission = Yes (probability 0.1907)
    """

    _unavailable_hint = "save it as a CEG first, with save()"

    def __init__(self, conditioned: ConditionedModel, ceg: ChainEventGraph) -> None:
        self._conditioned = conditioned
        self._ceg = ceg

    def _conditional(self, conditioned: ConditionedModel) -> ConditionedCeg:
        return ConditionedCeg(conditioned, self._ceg)

    def _unavailable(self) -> dict[str, tuple[str, str]]:
        # A saved CEG given evidence refuses these too.
        reason = "the evidence may depend on what the treatment changes"
        causal = {
            name: (
                f"{name!r} is not available after conditioning: {reason}",
                f"use the CEG without evidence: ceg.{name}(...)",
            )
            for name in ("adjustment", "effect", "positivity")
        }
        trace = (
            "a CEG given evidence cannot be traced: it is not made from a staged tree",
            "trace the CEG it comes from: ceg.trace(...)",
        )
        averaged = (
            "a CEG given evidence has no stages to average over",
            "average the CEG it comes from, then give the evidence: ceg.averaged().given(...)",
        )
        return super()._unavailable() | causal | {"trace": trace, "averaged": averaged}

    def do(
        self,
        actions: Mapping[str, object] | None = None,
        /,
        *,
        absent: Absent = EffectOptions.absent,
        **labels: object,
    ) -> IntervenedCeg:
        """Return it after an intervention, if nothing is known yet.

        Parameters
        ----------
        actions, absent, **labels
            As for `ChainEventGraph.do`.

        Returns
        -------
        IntervenedCeg
            The CEG after the intervention.

        Raises
        ------
        QueryError
            Something is known, which may depend on what the intervention changes: intervene
            first, then condition, ``ceg.do(...).given(...)``.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.given({}).do(Social="Low").intervention
        'Social = Low'
        """
        self._check_nothing_known()
        return self._ceg.do(actions, absent=absent, **labels)

    def save(self, name: str | None = None, *, replace: bool = False) -> ChainEventGraph:
        """Save it as a CEG that can be drawn, exported, listed and queried like any other.

        Parameters
        ----------
        name
            Name to store it under. Default: that of the CEG with ``-given``, and with a
            number if it is taken.
        replace
            Replace a CEG of that name.

        Returns
        -------
        ChainEventGraph
            Positions that cannot be reached are left out, and those with the same future are
            merged again. Its stages are new: positions with the same variable and
            probabilities. Counts are the rows of the survey that reach it.

        Raises
        ------
        StaleError
            The CEG was rebuilt since, or its survey has changed.
        CegError
            It would replace the CEG it is made from.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> saved = ceg.given(Social="Low", Economic="High").save("some")
        >>> saved.edges[["source", "label", "target", "n", "probability"]].round(3)
          source    label target    n  probability
        0     w0      Low     w1  383        1.000
        1     w1     High     w2   46        1.000
        2     w2     High     w3   11        0.196
        3     w2      Low     w3   21        0.461
        4     w2  Average     w3   14        0.344
        5     w3       No  w_inf   38        0.774
        6     w3      Yes  w_inf    8        0.226
        """
        from cegdb.inference.conditioned_ceg import save_conditioned

        origin = self._ceg
        if origin._compiled().ceg is not self._conditioned.ceg:
            raise StaleError(
                f"CEG {origin.name!r} was rebuilt since it was given {self.evidence}",
                hint="give the evidence again: ceg.given(...)",
            )
        ceg_id = save_conditioned(
            origin._store, origin.id, self._conditioned.evidence, name=name, replace=replace
        )
        return type(origin)(origin._store, ceg_id)


class IntervenedCeg(CegGivenEvidence["IntervenedCeg"]):
    """A CEG after an intervention: made by `ChainEventGraph.do`, queried like it.

    ``given`` conditions on what is observed after the intervention.

    Examples
    --------
    >>> import cegdb
    >>> after = cegdb.open().demo("chds").do(Social="Low")
    >>> round(after.probability(Admission="Yes"), 4)
    0.226
    """

    _unavailable_hint = "use the CEG without the intervention"

    def __init__(
        self, conditioned: ConditionedModel, ceg: ChainEventGraph, intervention: Intervention
    ) -> None:
        self._conditioned = conditioned
        self._ceg = ceg
        self._before = ceg._compiled()
        self._intervention = intervention

    def _unconditioned(self) -> CompiledModel:
        return self._before.ceg

    def _counted_tree(self) -> CountedTree:
        tree = super()._counted_tree()
        return tree.after(self._intervention.ceg, self._intervention.is_set)

    def _conditional(self, conditioned: ConditionedModel) -> IntervenedCeg:
        return IntervenedCeg(conditioned, self._ceg, self._intervention)

    def given(self, *evidence: EvidenceLike, **labels: object) -> IntervenedCeg:
        """Condition on what is observed after the intervention.

        Parameters
        ----------
        *evidence, **labels
            As for `ChainEventGraph.given`.

        Returns
        -------
        IntervenedCeg
            To be queried like the CEG.

        Raises
        ------
        QueryError
            The evidence has probability 0, or a name or label is unknown.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> after = ceg.do(Social={"High": 0.9, "Low": 0.1})
        >>> round(after.given(Admission="Yes").probability(Social="High"), 4)
        0.8672
        """
        from cegdb.inference import queries

        conditioned = queries.condition(self._intervention.ceg, self._joined(evidence, labels))
        return self._conditional(conditioned)

    def do(
        self,
        actions: Mapping[str, object] | None = None,
        /,
        *,
        absent: Absent = EffectOptions.absent,
        **labels: object,
    ) -> IntervenedCeg:
        """Return it after a further intervention.

        Parameters
        ----------
        actions, absent, **labels
            As for `ChainEventGraph.do`.

        Returns
        -------
        IntervenedCeg
            The CEG after both interventions.

        Raises
        ------
        QueryError
            Something was observed before, or a variable is set twice.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.do(Social="Low").do(Economic="High").intervention
        'Social = Low, Economic = High'
        """
        from cegdb.causal import interventions
        from cegdb.inference import queries

        self._check_nothing_known()
        intervention = interventions.intervene(
            self._intervention, actions_of(actions, labels), absent
        )
        return IntervenedCeg(
            queries.condition(intervention.ceg, All(())), self._ceg, intervention
        )

    @property
    def assumption(self) -> str:
        """What must be true for its probabilities to be those of an intervention."""
        from cegdb.causal import interventions

        return interventions.assumption(self._intervention.ceg, self._intervention.names)

    @property
    def intervention(self) -> str:
        """What was set, in words."""
        return ", ".join(self._intervention.actions)

    @property
    def edges(self) -> pd.DataFrame:
        """The edges of the CEG with the probabilities of the intervention.

        Columns: ``source``; ``label``; ``target``; ``variable``; ``fitted``, its
        probability without the intervention; ``probability`` after it; ``is_set``, whether
        the intervention set it; ``passed``, the probability that a path takes it, given what
        was observed.
        """
        import pandas as pd

        ceg, graph, product = (
            self._intervention.ceg,
            self._intervention.ceg.graph,
            self._conditioned.product,
        )
        taken = (
            self._conditioned.smoothed[self._conditioned.graph.source]
            * self._conditioned.probability
        )
        names = [variable.name for variable in ceg.variables]
        variables = ceg.edge_variable.tolist()
        return pd.DataFrame(
            {
                "source": [ceg.names[node] for node in graph.source.tolist()],
                "label": ceg.edge_labels,
                "target": [ceg.names[node] for node in graph.target.tolist()],
                "variable": [names[index] if index >= 0 else None for index in variables],
                "fitted": self._before.ceg.probability,
                "probability": ceg.probability,
                "is_set": self._intervention.is_set,
                "passed": np.bincount(product.edge, taken, len(ceg.edge_labels)),
            }
        )

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """Return what can be reached as a networkx graph, with the new probabilities.

        Returns
        -------
        networkx.MultiDiGraph
            As by `ChainEventGraph.to_networkx`, without counts: they are not those of an
            intervention.

        Examples
        --------
        >>> import cegdb
        >>> after = cegdb.open().demo("chds").do(Social="Low")
        >>> list(after.to_networkx().edges("w0", data="probability"))
        [('w0', 'w2', 1.0)]
        """
        from cegdb import graphs

        edges = self.edges.set_index(["source", "label"])["passed"].to_dict()
        passed = self.positions.set_index("position")["probability"].to_dict()
        order = "source_id, label_id, target_id"
        columns = ("position", "stage", "variable", "height", "colour", "position_id")
        positions = [
            {name: row[name] for name in columns}
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
        """Draw what can be reached, with the new probabilities.

        Parameters
        ----------
        path
            File to write, as for `ChainEventGraph.draw`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            The file cannot be written, or its kind is unknown.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> after = cegdb.open().demo("chds").do(Social="Low")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     after.draw(f"{folder}/low.svg").name
        'low.svg'
        """
        from cegdb import graphs, pictures
        from cegdb.inference.mean_scores import declared_scores

        scores = declared_scores(self._ceg._store, self._ceg.kind, self._ceg.id)
        return pictures.draw(graphs.add_means(self.to_networkx(), scores), path)

    def _unavailable(self) -> dict[str, tuple[str, str]]:
        return super()._unavailable() | {
            "save": (
                f"a CEG cannot be saved after do({self.intervention})",
                "write its edges to a file: db.write(ceg.do(...).edges, 'edges.csv')",
            )
        }

    def __repr__(self) -> str:
        """Return the CEG, the intervention, what was observed, and the assumption."""
        text = f"CEG {self._conditioned.ceg.name!r} after do({self.intervention})"
        if self._conditioned.evidence != All(()):
            text += f", given {self.evidence} ({self._measure()})"
        return f"{text}\n{self.assumption}"


def _no_intervention(evidence: str) -> tuple[str, str]:
    """Return why one cannot intervene given the evidence, and what to do."""
    reason = (
        f"cannot intervene after conditioning on {evidence}: the evidence may depend on what "
        "the intervention changes"
    )
    return reason, "intervene first, then condition: ceg.do(...).given(...)"


def actions_of(
    actions: Mapping[str, object] | None, labels: Mapping[str, object]
) -> dict[str, object]:
    """Return what is to be set, refusing what is named twice."""
    from cegdb.causal import interventions

    positional: object = actions
    if positional is not None and not isinstance(positional, Mapping):
        raise QueryError(
            f"an intervention must be a mapping, not {positional!r}",
            hint=interventions.MAPPING_HINT,
        )
    combined: dict[str, object] = dict(actions) if actions is not None else {}
    if twice := sorted(set(combined) & set(labels)):
        raise QueryError(f"{twice[0]!r} is set twice", hint="set a variable once")
    return combined | dict(labels)
