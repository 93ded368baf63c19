"""A staged tree, as the user holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb import ceg as ceg_room
from cegdb.api.graph import ChainEventGraph
from cegdb.api.named import Drawn

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import networkx as nx
    import pandas as pd

    from cegdb.api.tree import EventTree
    from cegdb.positions import Stop
    from cegdb.stages import SituationPath
    from cegdb.store.objects import Kind


class StagedTree(Drawn):
    """A staging of an event tree: stages with one probability vector each, and scores."""

    kind: Kind = "staging"

    @property
    def tree(self) -> EventTree:
        """The event tree."""
        from cegdb.api.tree import EventTree

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

        Columns: ``staging``; ``stage`` (u0, u1, ...); ``name`` if one was given (see
        `rename`); ``variable`` (missing if it spans
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

    def template(self, path: str | os.PathLike[str]) -> Path:
        """Write its situations and their stages as ``.xlsx``, ``.csv`` or ``.yaml``.

        ``tree.set_stages`` reads the edited file back; see
        `cegdb.stages.template.write_template`.
        """
        from cegdb.stages.template import write_template

        return write_template(self._store, self.tree.id, path, staging_id=self.id)

    def join(self, *stages: str, name: str | None = None, replace: bool = False) -> StagedTree:
        """Make a new staging in which these stages are one, such as ``"u3", "u5"``.

        See `cegdb.stages.edits.join_stages`.
        """
        from cegdb.stages.edits import join_stages

        made = join_stages(self._store, self.id, stages, name=name, replace=replace)
        return StagedTree(self._store, made)

    def split(
        self,
        stage: str,
        groups: Sequence[Sequence[SituationPath]] | None = None,
        *,
        name: str | None = None,
        replace: bool = False,
    ) -> StagedTree:
        """Make a new staging in which a stage is several: groups of it, or all its situations.

        See `cegdb.stages.edits.split_stage`.
        """
        from cegdb.stages.edits import split_stage

        made = split_stage(self._store, self.id, stage, groups, name=name, replace=replace)
        return StagedTree(self._store, made)

    def rename(
        self, names: Mapping[str, str], *, name: str | None = None, replace: bool = False
    ) -> StagedTree:
        """Make a new staging whose stages are called so: ``{"u3": "frail"}``.

        See `cegdb.stages.edits.rename_stages`.
        """
        from cegdb.stages.edits import rename_stages

        made = rename_stages(self._store, self.id, names, name=name, replace=replace)
        return StagedTree(self._store, made)

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
