"""A staged tree, as the user holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb import ceg as ceg_room
from cegdb.api.bayesian_network import Networked
from cegdb.api.chain_event_graph import ChainEventGraph
from cegdb.api.plots import PlottedStages
from cegdb.errors import StagingError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import networkx as nx
    import pandas as pd

    from cegdb.api.event_tree import EventTree
    from cegdb.compare import LikelihoodRatio
    from cegdb.positions import Stop
    from cegdb.render.writers import Form
    from cegdb.stages import SituationPath
    from cegdb.store.catalog import Kind


class StagedTree(PlottedStages, Networked):
    """A staging of an event tree: stages with one probability vector each, and scores.

    Plot its probabilities, situations, merges and more: see the methods ``plot_...``.
    """

    kind: Kind = "staging"

    @property
    def tree(self) -> EventTree:
        """The event tree."""
        from cegdb.api.event_tree import EventTree

        return EventTree(self._store, self._row()["tree_id"])

    @property
    def log_marginal_likelihood(self) -> float:
        """Logarithm of the marginal likelihood (Dirichlet-multinomial), natural log."""
        return float(self._row()["log_marginal_likelihood"])

    @property
    def false_stages(self) -> float | None:
        """How many extra stages chance alone would make; None unless stages were learnt.

        The mean over null runs, in which all situations of a hyperstage are alike.
        """
        expected = self._row()["summary"].get("false_stages")
        return None if expected is None else float(expected)

    @property
    def log_likelihood(self) -> float:
        """Logarithm of the likelihood at the observed (or smoothed) shares of each stage."""
        return float(self._row()["log_likelihood"])

    @property
    def df(self) -> int:
        """Free parameters: labels less one, over all stages."""
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
    def stage_table(self) -> pd.DataFrame:
        """The stages for a paper, one row a stage and label.

        Columns: ``staging``; ``stage``; ``name`` if one was given; ``variable``;
        ``situations`` in words, exactly (see `situations` of the tree for all paths);
        ``n_situations``; ``n_stage`` rows that reached them; ``label``; ``n`` rows that gave
        it; ``weight``; ``prior`` mass; ``share`` = n / total; ``probability``, the posterior
        mean, with its 95 % credible interval ``low`` to ``high`` given the staging;
        ``kind``, ``colour``; ``stage_id``, ``label_id``. `export` writes it as a table of a
        paper: ``staged.export("stages.tex", table="stage_table")``.
        """
        return self._frame("stage_table", "staging", "stage_id, label_id")

    def stage_table_text(self, form: Form = "markdown", *, min_n: int | None = None) -> str:
        """Return the stage table as text, a part for each variable.

        Parameters
        ----------
        form
            ``markdown``, ``latex`` (``longtable`` with booktabs) or ``html``.
        min_n
            Counts from 1 to ``min_n - 1`` show as ``…``, and so does what would reveal them.

        Raises
        ------
        GraphError
            ``form`` is none of these.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select if(i < 6, 'u', 'v') as x from range(9) t(i)")
        ...     staged = survey.event_tree().learn_stages()
        ...     print("".join(staged.stage_table_text().splitlines(keepends=True)[2:]))
        | Stage | Situations | People | Answer | n | Share | Mean | 95 % interval |
        | --- | --- | ---: | --- | ---: | ---: | ---: | ---: |
        | u0 | all | 9 | u | 6 | 0.667 | 0.636 | 0.348–0.878 |
        |  |  |  | v | 3 | 0.333 | 0.364 | 0.122–0.652 |
        <BLANKLINE>
        """  # noqa: RUF002
        from cegdb import export

        return export.stage_table_text(self._store, self.name, form, min_n=min_n)

    @property
    def florets(self) -> pd.DataFrame:
        """The florets with their stages, one row a situation.

        Columns: ``staging``; ``situation``; ``stage``; ``variable``; ``labels`` of the tree
        and ``counts`` as lists in level order; ``n`` rows that reached it; ``colour``;
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

        One row a stage and former stage of its situations. Columns: ``staging``;
        ``former_stage``, the former name (missing for new situations); ``stage``, the name
        now (missing for situations that are gone); ``variable``; ``n_situations`` they share;
        ``n_before`` and ``n_after`` rows that reach these; ``label`` whose probability moved
        most, with ``probability_before`` and ``probability_after``, each with its 95 %
        interval (``low_...`` to ``high_...``), their ``difference``, and ``is_disjoint``,
        whether the intervals of some label have nothing in common; ``stage_id``.
        """
        return self._frame("drift", "staging", "stage_id nulls last, former_stage")

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

    def diff(self, other: StagedTree) -> pd.DataFrame:
        """Return the situations that another staging of the same tree stages differently.

        Stages are matched one to one first, so that as few situations as can be differ
        (see `hamming`); their names do not matter.

        Parameters
        ----------
        other
            Another staging of the tree: ``b``, where this one is ``a``.

        Returns
        -------
        DataFrame
            One row a situation, in the order of the tree; none if the stagings are equal
            up to names. Columns: ``situation``; ``variable``; ``path``, the answers that
            lead to it; ``stage_a``, its stage here; ``stage_a_in_b``, the stage of the
            other that matches it (missing if none does); ``stage_b``, its stage in the
            other; ``n`` rows that reached it; ``vertex_id``.

        Raises
        ------
        StagingError
            The stagings are of different trees.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 3 as x, i % 2 as y from range(12) t(i)")
        ...     tree = survey.event_tree()
        ...     a = tree.set_stages({("0",): "p", ("1",): "p", ("2",): "p"})
        ...     b = tree.set_stages({("0",): "p", ("1",): "p", ("2",): "q"})
        ...     a.diff(b)[["situation", "path", "stage_a", "stage_a_in_b", "stage_b"]]
          situation path stage_a stage_a_in_b stage_b
        0        s3    2      u1           u1      u2
        """
        from cegdb import compare

        return compare.diff(self._store, self.id, self._beside(other))

    def hamming(self, other: StagedTree) -> int:
        """Return how many situations must change stage for two stagings to be equal.

        The smallest such number, 0 if they are equal up to names of stages; the same in
        both directions. It is what ``hamming_stages`` of the R package stagedtrees counts:
        stages are matched one to one so that they share as many situations as can be (a
        maximum-weight bipartite matching), the other situations count.

        Raises
        ------
        StagingError
            The stagings are of different trees.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 3 as x, i % 2 as y from range(12) t(i)")
        ...     tree = survey.event_tree()
        ...     a = tree.set_stages({("0",): "p", ("1",): "p", ("2",): "p"})
        ...     a.hamming(tree.set_stages({}))
        2
        """
        from cegdb import compare

        return compare.hamming(self._store, self.id, self._beside(other))

    def inclusion(self, other: StagedTree) -> pd.DataFrame:
        """Return which stage lies within which of another staging of the same tree.

        Returns
        -------
        DataFrame
            One row a stage of this staging and a stage of the other that have situations
            in common, sorted by these. Columns: ``variable`` (missing if the situations in
            common ask several); ``stage_a``, here; ``relation``: ``"="`` the same
            situations, ``"<"`` the stage here lies within the other's, ``">"`` the reverse,
            ``"overlap"`` neither; ``stage_b``, of the other; ``n_situations_a``,
            ``n_situations_b`` and ``n_shared``, situations of each and in common;
            ``stage_id_a``, ``stage_id_b``.

        Raises
        ------
        StagingError
            The stagings are of different trees.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 3 as x, i % 2 as y from range(12) t(i)")
        ...     tree = survey.event_tree()
        ...     a = tree.set_stages({("0",): "p", ("1",): "p", ("2",): "p"})
        ...     b = tree.set_stages({("0",): "p", ("1",): "p", ("2",): "q"})
        ...     a.inclusion(b)[["variable", "stage_a", "relation", "stage_b"]]
          variable stage_a relation stage_b
        0        x      u0        =      u0
        1        y      u1        >      u1
        2        y      u1        >      u2
        """
        from cegdb import compare

        return compare.inclusion(self._store, self.id, self._beside(other))

    def cid(self, other: StagedTree) -> float:
        """Return the context-specific interventional discrepancy of another staging [1]_.

        This staging is the reference. Where the other has a situation in one stage with a
        situation of another stage of the reference, it gives a wrong distribution of the
        variable after an intervention that leads there: it pools what the reference keeps
        apart. The measure is the share of such situations among those of a variable,
        summed over the variables.

        Returns
        -------
        float
            From 0 to the number of variables; 0 if and only if each stage of the other
            lies within one of this staging. It depends on the direction: stages split
            without need cost nothing.

        Raises
        ------
        StagingError
            The stagings are of different trees.

        Notes
        -----
        The same as ``cid(a, b)$cid`` of the R package stagedtrees for two models of the
        same order of variables (models of different orders, which it also takes, are of
        different trees and refused). Each situation of a variable counts the same, at
        whatever depth and however many rows reached it; a stage across variables is one
        stage.

        References
        ----------
        .. [1] M. Leonelli and G. Varando (2023), Context-specific causal discovery for
           categorical data using staged trees, PMLR 206:8871-8888.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 4 as x, i % 8 < 4 as y from range(8) t(i)")
        ...     tree = survey.event_tree()
        ...     apart = tree.set_stages({})
        ...     joined = tree.set_stages({("0",): "p", ("1",): "p"})
        ...     apart.cid(joined), joined.cid(apart)
        (0.5, 0.0)
        """
        from cegdb import compare

        return compare.cid(self._store, self.id, self._beside(other))

    def lr_test(self, other: StagedTree) -> LikelihoodRatio:
        """Test by likelihood ratio whether the coarser of two nested stagings loses fit.

        Which of the two is nested in which is found out; the order does not matter.

        Returns
        -------
        LikelihoodRatio
            ``statistic``, twice the difference of the log likelihoods; ``df``, the
            difference of the free parameters; ``p_value`` by the chi-squared distribution;
            ``nested``, the name of the coarser staging (the null hypothesis), and
            ``nested_in``, of the finer.

        Raises
        ------
        StagingError
            The stagings are of different trees; differ in weighting, design effect or
            smoothing; neither is a coarsening of the other; or they have the same number
            of free parameters.

        Notes
        -----
        The distribution holds for many rows in each stage and for stagings chosen without
        looking at these rows: the p-value of a staging learnt from them is too small. With
        weights the likelihood is that of the effective counts, with smoothing that of the
        smoothed shares, and the test approximate.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     tree = survey.event_tree()
        ...     joined = tree.set_stages({("0",): "p", ("1",): "p"}, name="joined")
        ...     found = joined.lr_test(tree.set_stages({}, name="apart"))
        >>> found.nested, found.nested_in, found.df, round(found.p_value, 4)
        ('joined', 'apart', 1, 0.02)
        """
        from cegdb import compare

        return compare.lr_test(self._store, self.id, self._beside(other))

    def bayes_factor(self, other: StagedTree) -> float:
        """Return the logarithm of the Bayes factor of this staging against another.

        The difference of the log marginal likelihoods, natural log: above 0 the rows
        support this staging, below 0 the other; ``math.exp`` of it is the Bayes factor.
        How likely either staging was before the rows is no part of it.

        Raises
        ------
        StagingError
            The stagings are of different trees, or differ in alpha, prior, weighting,
            design effect or smoothing: then the difference tells of these as well.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     tree = survey.event_tree()
        ...     joined = tree.set_stages({("0",): "p", ("1",): "p"})
        ...     round(joined.bayes_factor(tree.set_stages({})), 4)
        -0.5579
        """
        from cegdb import compare

        return compare.bayes_factor(self._store, self.id, self._beside(other))

    def _n_vertices(self) -> int:
        return self.tree._n_vertices()

    def _beside(self, other: StagedTree) -> int:
        """Return the id of a staging to compare with."""
        if not isinstance(other, StagedTree):
            raise StagingError(
                f"a staged tree is compared with another, not with {other!r}",
                hint="give a StagedTree, such as db.stagings[name]",
            )
        if other._store is not self._store:
            raise StagingError(
                f"staging {other.name!r} is of another open database",
                hint="give one of the same: what is compared stands on the same rows",
            )
        return other.id

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
        CEG 'two': 3 vertices (including the sink), 4 edges; 2 steps, height 2
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
