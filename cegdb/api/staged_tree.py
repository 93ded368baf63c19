"""A staged tree: stages, probabilities, comparisons, and the CEG of it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from cegdb import views
from cegdb.api.chain_event_graph import ChainEventGraph
from cegdb.api.conditioned_ceg import ConditionedStagedTree
from cegdb.api.plots import StagingPlots
from cegdb.api.posterior import Posterior
from cegdb.api.queries import StoredModel
from cegdb.api.settings import options_from, takes
from cegdb.ceg import build_ceg
from cegdb.errors import QueryError, StagingError, items_of
from cegdb.names import only_match
from cegdb.options import (
    CegOptions,
    CegSettings,
    IntervalOptions,
    IntervalSettings,
    PosteriorOptions,
    PosteriorSettings,
    StabilityOptions,
    StabilitySettings,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    import networkx as nx
    import pandas as pd

    from cegdb.api.event_tree import EventTree
    from cegdb.api.results import Probability
    from cegdb.compare import LikelihoodRatio
    from cegdb.evidence import EvidenceLike
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.queries import ConditionedModel
    from cegdb.options import BootstrapKind, IntervalMethod, Kind
    from cegdb.render.writers import Form
    from cegdb.stages import SituationPath

_PATH: Final = "give labels from the root, such as ('High', 'Low')"


class StagedTree(StoredModel[ConditionedStagedTree]):
    """A staged tree: stages with one probability vector each, and scores.

    Look at it (`stages`, `stage_edges`, `stage_table`, `draw`, `plot`), change it (`join`,
    `split`, `rename`, `template`), compare it with another one (`diff`, `hamming`,
    `inclusion`, `cid`, `lr_test`, `bayes_factor`), see how certain it is (`posterior`,
    `stability`, `intervals`) and what it says of independence (`parents`, `independences`).
    `to_ceg` makes its CEG.

    Examples
    --------
    >>> import cegdb
    >>> staged = cegdb.open().demo("chds").staging
    >>> staged.stages[["stage", "variable", "n"]].head(2)
      stage  variable    n
    0    u0    Social  890
    1    u1  Economic  507
    """

    kind: Kind = "staging"

    def _compile(self) -> CompiledModel:
        from cegdb.inference.compiled_model import compile_staged_tree

        return compile_staged_tree(self._store, self.id)

    def _conditional(self, conditioned: ConditionedModel) -> ConditionedStagedTree:
        return ConditionedStagedTree(conditioned, self)

    @property
    def tree(self) -> EventTree:
        """The event tree."""
        tree: EventTree = self._object("tree", self._row()["tree_id"])
        return tree

    @property
    def plot(self) -> StagingPlots:
        """Its plots: ``staged.plot.flow()``, ``staged.plot.merges()``, ..."""
        return StagingPlots(self)

    @property
    def log_marginal_likelihood(self) -> float:
        """Logarithm of the marginal likelihood (Dirichlet-multinomial), natural log."""
        return float(self._row()["log_marginal_likelihood"])

    @property
    def spurious_stages(self) -> float | None:
        """Expected number of spurious stages; None unless stages were learnt.

        The mean over simulated data in which all situations of a hyperstage are alike.
        """
        expected = self._row()["summary"].get("spurious_stages")
        return None if expected is None else float(expected)

    @property
    def log_likelihood(self) -> float:
        """Logarithm of the likelihood at the observed (or smoothed) shares of each stage."""
        return float(self._row()["log_likelihood"])

    @property
    def df(self) -> int:
        """Free parameters: labels less one, over the stages that have answers.

        Nothing is estimated in a stage without answers. stagedtrees counts its parameters too.
        """
        return int(self._row()["df"])

    @property
    def aic(self) -> float:
        """Akaike's criterion, -2 log likelihood + 2 df: smaller is better."""
        return float(self._row()["aic"])

    @property
    def bic(self) -> float:
        """-2 log likelihood + df ln N, N the respondents who answer the root's question."""
        return float(self._row()["bic"])

    @property
    def stages(self) -> pd.DataFrame:
        """The stages.

        Columns: ``staging``; ``stage`` (u0, u1, ...); ``name`` if one was given (see
        `rename`); ``variable`` (missing if it spans
        several); ``labels`` as a list; ``n_situations``; ``n`` respondents who reached them;
        ``kind`` (learnt, given, single_edge, unobserved); ``colour``; ``stage_id``;
        ``hyperstage_id``.
        """
        return self._frame("stages", "staging", "stage_id")

    @property
    def stage_edges(self) -> pd.DataFrame:
        """The probabilities, one row per stage and label.

        Columns: ``staging``; ``stage``; ``variable``; ``label``; ``prior`` mass; ``n``
        respondents who gave it; ``weight``; ``share`` = n / total; ``probability``, the
        posterior mean; ``low`` and ``high``, its 95 % interval as by `intervals`;
        ``stage_id``, ``label_id``.
        """
        return self._frame("stage_edges", "staging", "stage_id, label_id")

    @property
    def stage_table(self) -> pd.DataFrame:
        """The stages for a paper, one row per stage and label.

        Columns: ``staging``; ``stage``; ``name`` if one was given; ``variable``;
        ``situations`` in words, exactly (see `situations` of the tree for all paths);
        ``n_situations``; ``n_stage`` respondents who reached them; ``label``; ``n``
        respondents who gave it; ``weight``; ``prior`` mass; ``share`` = n / total;
        ``probability``, the posterior mean, with its 95 % interval ``low`` to ``high``
        as by `intervals`; ``kind``, ``colour``; ``stage_id``, ``label_id``. `export`
        writes it as a table of a paper: ``staged.export("stages.tex", table="stage_table")``.
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

        Returns
        -------
        str
            The tables, a heading before each. Columns: stage, situations, people, answer, n,
            share, mean and 95 % interval.

        Raises
        ------
        GraphError
            ``form`` is not one of these.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select if(i < 6, 'u', 'v') as x from range(9) t(i)")
        ...     staged = survey.event_tree().learn_stages()
        ...     print("".join(staged.stage_table_text().splitlines(keepends=True)[2:]))
        | Stage | Situations | People | Answer | n | Share | Mean | 95 % interval |
        | --- | --- | ---: | --- | ---: | ---: | ---: | ---: |
        | u0 | all | 9 | u | 6 | 0.667 | 0.650 | 0.348–0.896 |
        |  |  |  | v | 3 | 0.333 | 0.350 | 0.104–0.652 |
        <BLANKLINE>
        """  # noqa: RUF002
        from cegdb import export

        return export.stage_table_text(self._store, self.name, form, min_n=min_n)

    @property
    def florets(self) -> pd.DataFrame:
        """The florets with their stages, one row per situation.

        Columns: ``staging``; ``situation``; ``stage``; ``variable``; ``labels`` of the tree
        and ``counts`` as lists in level order; ``n`` respondents who reached it; ``colour``;
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
    def parent_sets(self) -> pd.DataFrame:
        """The parents chosen with ``max_parents``, and runners-up; empty without it.

        One row per hyperstage and each of its five best sets of earlier variables. Columns:
        ``staging``; ``variable``; ``labels`` of the hyperstage; ``set_rank`` from 1;
        ``is_chosen``; ``parents``, the names of the set in the order of the tree;
        ``n_configurations``, combinations of answers to them that a respondent has;
        ``n_situations`` of the hyperstage; ``score`` with one stage for each combination, more
        being better; ``difference`` to the score of the chosen set; ``hyperstage_id``.
        """
        return self._frame("parent_sets", "staging", "hyperstage_id, set_rank")

    @property
    def drift(self) -> pd.DataFrame:
        """How the stages changed when it was rebuilt; empty if it never was.

        One row per stage and former stage of its situations. Columns: ``staging``;
        ``former_stage``, its former name (missing for new situations); ``stage``, its name
        now (missing for situations that are gone); ``variable``; ``n_situations`` they share;
        ``n_before`` and ``n_after`` respondents who reach these; ``label`` whose probability
        moved most, with ``probability_before`` and ``probability_after``, each with its 95 %
        interval (``low_...`` to ``high_...``), their ``difference``, and ``is_disjoint``,
        whether the intervals of some label have nothing in common; ``stage_id``.
        """
        return self._frame("drift", "staging", "stage_id nulls last, former_stage")

    def template(self, path: str | os.PathLike[str]) -> Path:
        """Write its situations and the names of their stages into a file, to edit them.

        ``tree.set_stages`` reads the edited file back.

        Parameters
        ----------
        path
            Ends in ``.xlsx``, ``.csv`` or ``.yaml``. A file there is replaced.

        Returns
        -------
        Path
            The file, with the columns that `EventTree.template` describes.

        Raises
        ------
        StagingError
            The ending is another one, or the file cannot be written.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> staged = cegdb.open().demo("chds").staging
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     staged.template(f"{folder}/stages.csv").name
        'stages.csv'
        """
        from cegdb.stages.template import write_template

        return write_template(self._store, self.tree.id, path, staging_id=self.id)

    def join(self, *stages: str, name: str | None = None, replace: bool = False) -> StagedTree:
        """Make a new staging in which some stages are one.

        Parameters
        ----------
        *stages
            Two or more, by the names shown (``"u3"``) or given. The first given name is kept.
        name
            Name to store it under. Default: that of this staging, with a number if it is
            taken.
        replace
            Replace a staging of that name (also this one), with everything built on it.

        Returns
        -------
        StagedTree
            With the stages joined; this staging stays, unless it is replaced.

        Raises
        ------
        StagingError
            There is no such stage, or they differ in their labels or hyperstages.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> len(staged.stages), len(staged.join("u1", "u2", name="joined").stages)
        (7, 6)
        """
        from cegdb.stages.edits import join_stages

        staging_id = join_stages(self._store, self.id, stages, name=name, replace=replace)
        return StagedTree(self._store, staging_id)

    def split(
        self,
        stage: str,
        groups: Sequence[Sequence[SituationPath]] | None = None,
        *,
        name: str | None = None,
        replace: bool = False,
    ) -> StagedTree:
        """Make a new staging in which a stage is split into several.

        Parameters
        ----------
        stage
            The one to split, by the name shown (``"u3"``) or given.
        groups
            Its parts: lists of situations (``"s4"``) and paths as in `EventTree.set_stages`.
            Situations in none are one more part, which keeps the given name. Default: each
            situation becomes its own stage.
        name, replace
            As for `join`.

        Returns
        -------
        StagedTree
            With the stage split; this staging stays, unless it is replaced.

        Raises
        ------
        StagingError
            There is no such stage or situation, a situation is not in the stage or in two
            groups, or nothing would be split.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> len(staged.stages), len(staged.split("u3", name="parts").stages)
        (7, 9)
        """
        from cegdb.stages.edits import split_stage

        staging_id = split_stage(
            self._store, self.id, stage, groups, name=name, replace=replace
        )
        return StagedTree(self._store, staging_id)

    def rename(
        self, names: Mapping[str, str], *, name: str | None = None, replace: bool = False
    ) -> StagedTree:
        """Make a new staging with other names of stages.

        Parameters
        ----------
        names
            Stage, by the name shown (``"u3"``) or given -> its new name.
        name, replace
            As for `join`.

        Returns
        -------
        StagedTree
            With the new names; this staging stays, unless it is replaced.

        Raises
        ------
        StagingError
            There is no such stage; a name is empty, taken, or like one shown (u3).

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> named = staged.rename({"u1": "frail"}, name="named")
        >>> named.stages["name"].dropna().tolist()
        ['frail']
        """
        from cegdb.stages.edits import rename_stages

        staging_id = rename_stages(self._store, self.id, names, name=name, replace=replace)
        return StagedTree(self._store, staging_id)

    def diff(self, other: StagedTree) -> pd.DataFrame:
        """Return the situations that another staging of the same tree stages differently.

        Stages are matched one to one first, so that as few situations as possible differ
        (see `hamming`); their names do not matter.

        Parameters
        ----------
        other
            Another staging of the tree: ``b``, where this one is ``a``.

        Returns
        -------
        DataFrame
            One row per situation, in the order of the tree; none if the stagings are equal
            up to names. Columns: ``situation``; ``variable``; ``path``, the answers that
            lead to it; ``stage_a``, its stage here; ``stage_a_in_b``, the stage of the
            other that matches it (missing if none does); ``stage_b``, its stage in the
            other; ``n`` respondents who reached it; ``vertex_id``.

        Raises
        ------
        StagingError
            The stagings are of different trees.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> joined = staged.join("u1", "u2", name="joined")
        >>> staged.diff(joined)[["situation", "path", "stage_a", "stage_a_in_b", "stage_b"]]
          situation path stage_a stage_a_in_b stage_b
        0        s2  Low      u2         None      u1
        """
        from cegdb import compare

        return compare.diff(self._store, self.id, self._beside(other))

    def hamming(self, other: StagedTree) -> int:
        """Return how many situations must change stage for two stagings to be equal.

        The smallest such number, 0 if they are equal up to names of stages; the same in
        both directions. It is what ``hamming_stages`` of the R package stagedtrees counts:
        stages are matched one to one so that they share as many situations as possible (a
        maximum-weight bipartite matching), the other situations count.

        Parameters
        ----------
        other
            Another staging of the same tree.

        Returns
        -------
        int
            From 0, for equal stagings, to the number of situations.

        Raises
        ------
        StagingError
            The stagings are of different trees.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> staged.hamming(staged.full()), staged.hamming(staged.indep())
        (12, 4)
        """
        from cegdb import compare

        return compare.hamming(self._store, self.id, self._beside(other))

    def inclusion(self, other: StagedTree) -> pd.DataFrame:
        """Return which stage lies within which of another staging of the same tree.

        Parameters
        ----------
        other
            Another staging of the same tree.

        Returns
        -------
        DataFrame
            One row per stage of this staging and a stage of the other that have situations
            in common, sorted by these. Columns: ``variable`` (missing if the situations in
            common have several); ``stage_a``, here; ``relation``: ``"="`` the same
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
        >>> staged = cegdb.open().demo("chds").staging
        >>> joined = staged.join("u1", "u2", name="joined")
        >>> found = staged.inclusion(joined)[["variable", "stage_a", "relation", "stage_b"]]
        >>> found[found["relation"] != "="]
           variable stage_a relation stage_b
        1  Economic      u1        <      u1
        2  Economic      u2        <      u1
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

        Parameters
        ----------
        other
            Another staging of the same tree.

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
        >>> staged = cegdb.open().demo("chds").staging
        >>> joined = staged.join("u1", "u2", name="joined")
        >>> staged.cid(joined), joined.cid(staged)
        (1.0, 0.0)
        """
        from cegdb import compare

        return compare.cid(self._store, self.id, self._beside(other))

    def lr_test(self, other: StagedTree) -> LikelihoodRatio:
        """Test by likelihood ratio whether the coarser of two nested stagings loses fit.

        The order of the two does not matter: the coarser one is detected.

        Parameters
        ----------
        other
            Another staging of the same tree.

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
        >>> staged = cegdb.open().demo("chds").staging
        >>> found = staged.lr_test(staged.full(name="full"))
        >>> found.nested, found.nested_in, found.df, round(found.p_value, 4)
        ('chds', 'full', 14, 0.1642)
        """
        from cegdb import compare

        return compare.lr_test(self._store, self.id, self._beside(other))

    def bayes_factor(self, other: StagedTree) -> float:
        """Return the logarithm of the Bayes factor of this staging against another.

        The difference of the log marginal likelihoods, natural log: above 0 the rows
        support this staging, below 0 the other; ``math.exp`` of it is the Bayes factor.
        The prior probabilities of the two stagings are not included.

        Parameters
        ----------
        other
            Another staging of the same tree.

        Returns
        -------
        float
            A natural logarithm.

        Raises
        ------
        StagingError
            The stagings are of different trees, or differ in alpha, prior, weighting,
            design effect or smoothing: then the difference would reflect these too.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> round(staged.bayes_factor(staged.indep()), 2)
        109.03
        """
        from cegdb import compare

        return compare.bayes_factor(self._store, self.id, self._beside(other))

    def _n_vertices(self) -> int:
        return self.tree._n_vertices()

    def _beside(self, other: StagedTree) -> int:
        """Return the id of a staging to compare with."""
        if not isinstance(other, StagedTree):
            raise StagingError(
                f"cannot compare a staged tree with {other!r}",
                hint="give another StagedTree, such as db.stagings[name]",
            )
        if other._store is not self._store:
            raise StagingError(
                f"staging {other.name!r} belongs to another open database",
                hint="give a staging of the same database",
            )
        return other.id

    def prob(self, event: EvidenceLike | None = None, /, **labels: Any) -> Probability:
        """Return the probability of an event: `probability`, as stagedtrees calls it.

        Parameters
        ----------
        event, **labels
            As for `probability`.

        Returns
        -------
        Probability
            As of `probability`.

        Raises
        ------
        QueryError
            As for `probability`.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> round(staged.prob(Admission="Yes"), 4)
        0.1907
        """
        found: Probability = self.probability(event, **labels)
        return found

    def subtree(
        self, path: Sequence[object] = (), /, *, min_n: int | None = None, **answers: object
    ) -> nx.MultiDiGraph[str]:
        """Return the part of the staged tree below a situation, as a networkx graph.

        Like ``subtree()`` of stagedtrees.

        Parameters
        ----------
        path
            The labels that lead to the situation from the root.
        min_n
            As for `to_networkx`.
        **answers
            The same as variable -> label, instead of ``path``.

        Returns
        -------
        networkx.MultiDiGraph
            As by `to_networkx`: the situation, what follows it, and the edges between them.

        Raises
        ------
        QueryError
            No such label there, or the answers are not those from the root on.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> list(staged.subtree(Social="Low", Economic="Low").edges("s6", keys=True))
        [('s6', 's16', 'Average'), ('s6', 's17', 'High'), ('s6', 's18', 'Low')]
        """
        from cegdb import graphs
        from cegdb.evidence import text_of

        graph = self.to_networkx(min_n=min_n)
        variables = dict.fromkeys(str(one) for _, one in graph.nodes("variable") if one)
        labels = [text_of(label) for label in items_of(path, "path", QueryError, hint=_PATH)]
        answers_by_variable: dict[str, str] = {}
        for name, label in answers.items():
            unknown = f"staging {self.name!r} has no variable {name!r}"
            variable = only_match(name, variables, unknown, QueryError)
            answers_by_variable[variable] = text_of(label)
        return graphs.subtree(graph, labels, answers_by_variable)

    def averaged(
        self,
        name: str | None = None,
        *,
        replace: bool = False,
        **settings: Unpack[PosteriorSettings],
    ) -> StagedTree:
        """Make a staged tree whose probabilities are averaged over all stagings.

        Answers then do not rest on one staging, of which another may be nearly as probable: the
        probability of a path is its mean over all stagings and their posteriors, if no two of
        its situations are in one hyperstage. Situations keep probabilities of their own, but
        for those with equal ones; those with a single edge keep their stage.

        Parameters
        ----------
        name
            Name to store it under. Default: that of this staging with ``-averaged``, and
            a number if it is taken.
        replace
            Replace a staging of that name, with everything built on it.
        **settings
            Those of `PosteriorOptions`: how the posterior of all stagings is found.

        Returns
        -------
        StagedTree
            To make a CEG of, like any other. Its priors are made for these probabilities, so
            that scores and ``given_staging=True`` mean nothing for it; the intervals of answers
            are those of the rows, as always.

        Raises
        ------
        StagingError
            As `posterior` does.
        NameTakenError
            There is a staging of that name, and ``replace`` is false.

        Notes
        -----
        Source: docs/theory.md, section 15. A rebuild keeps the priors, and so no longer the
        averages: run it again.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> averaged = ceg.staging.averaged().to_ceg()
        >>> few = {"Social": "High", "Economic": "Low", "Events": "High"}
        >>> print(ceg.given(few).probability(Admission="Yes"))
        0.226 (0.154 to 0.360; n = 65)
        >>> print(averaged.given(few).probability(Admission="Yes"))
        0.238 (0.154 to 0.360; n = 65)
        """
        from cegdb.stages.edits import average_stages

        found = self.posterior(**settings).probabilities
        columns = {name: found[name].to_numpy() for name in found.columns}
        staging_id = average_stages(self._store, self.id, columns, name=name, replace=replace)
        return StagedTree(self._store, staging_id)

    def full(self, name: str | None = None, *, replace: bool = False) -> StagedTree:
        """Make the saturated staged tree, like ``full()`` of stagedtrees.

        Each situation is a stage of its own; alpha, priors, hyperstages and weighting are
        those of this staging.

        Parameters
        ----------
        name
            Name to store it under. Default: that of this staging with ``-full``, and
            a number if it is taken.
        replace
            Replace a staging of that name, with everything built on it.

        Returns
        -------
        StagedTree
            With as many stages as the tree has situations.

        Raises
        ------
        NameTakenError
            There is a staging of that name, and ``replace`` is false.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> staged.df, staged.full().df
        (9, 23)
        """
        from cegdb.stages.edits import regroup_situations

        staging_id = regroup_situations(
            self._store, self.id, "full", name=name, replace=replace
        )
        return StagedTree(self._store, staging_id)

    def indep(self, name: str | None = None, *, replace: bool = False) -> StagedTree:
        """Make the independence staged tree, like ``indep()`` of stagedtrees.

        All situations of a hyperstage share a stage; alpha, priors, hyperstages and weighting
        are those of this staging.

        Parameters
        ----------
        name
            Name to store it under. Default: that of this staging with ``-indep``, and
            a number if it is taken.
        replace
            Replace a staging of that name, with everything built on it.

        Returns
        -------
        StagedTree
            With one stage in each hyperstage.

        Raises
        ------
        NameTakenError
            There is a staging of that name, and ``replace`` is false.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> staged.df, staged.indep().df
        (9, 5)
        """
        from cegdb.stages.edits import regroup_situations

        staging_id = regroup_situations(
            self._store, self.id, "indep", name=name, replace=replace
        )
        return StagedTree(self._store, staging_id)

    @takes(CegSettings, CegOptions)
    def to_ceg(
        self,
        name: str | None = None,
        *,
        replace: bool = False,
        **settings: Unpack[CegSettings],
    ) -> ChainEventGraph:
        """Construct the CEG: merge the situations with the same future [1]_.

        Parameters
        ----------
        name
            Name to store it under. Default: that of the staging, with a number if it is taken.
        **settings
            Those of `CegOptions`.
        replace
            Replace a CEG of that name, with everything made from it.

        Returns
        -------
        ChainEventGraph
            Its positions are the situations merged; its `steps` are those of the recursion.

        Raises
        ------
        StaleError
            Its survey has changed.

        References
        ----------
        .. [1] A. Shenvi and J. Q. Smith (2020), Constructing a Chain Event Graph from a Staged
           Tree.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> staged.to_ceg(name="again")
        CEG 'again': 9 vertices (including the sink), 19 edges; 4 steps, height 4
        """
        stop = options_from(settings, CegSettings, CegOptions).stop
        ceg_id = build_ceg(self._store, self.id, name=name, stop=stop, replace=replace)
        return ChainEventGraph(self._store, ceg_id)

    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:
        """Return it as a networkx graph: the tree's, with stage, colour, probability.

        Parameters
        ----------
        min_n
            Counts from 1 to ``min_n - 1`` are left out, and so is what would reveal them; the
            graph's attribute ``min_n`` records it. Default: nothing is left out.

        Returns
        -------
        networkx.MultiDiGraph
            As by `EventTree.to_networkx`. Nodes have their ``stage`` and ``colour`` too; edges
            their ``probability`` and its interval, ``low`` to ``high``.

        Raises
        ------
        QueryError
            ``min_n`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb
        >>> graph = cegdb.open().demo("chds").staging.to_networkx()
        >>> [graph.nodes[name]["stage"] for name in ("s0", "s1", "s2")]
        ['u0', 'u1', 'u2']
        """
        from cegdb import graphs

        return graphs.tree_graph(
            self.name,
            self._rows("staged_vertices", "staging", "vertex_id", min_n),
            self._rows("staged_edges", "staging", "child_id", min_n),
            min_n=min_n,
        )

    @takes(StabilitySettings, StabilityOptions)
    def stability(
        self,
        bootstrap: BootstrapKind = StabilityOptions.bootstrap,
        **settings: Unpack[StabilitySettings],
    ) -> pd.DataFrame:
        """Return how often situations are staged together when stages are learnt again.

        The stages are learnt, by the settings of this staging, on ``runs`` replicates of its
        rows; the database keeps how often each pair of situations was in one stage (view
        ``cegdb.stage_pairs``), until it is run again.

        Parameters
        ----------
        bootstrap
            Kind of bootstrap: "nonparametric" (rows are drawn with replacement: what another
            sample might give) or "parametric" (rows are simulated from the stages: how often
            they would be found if they were true).
        **settings
            Those of `StabilityOptions`.

        Returns
        -------
        DataFrame
            One row per learnt stage. Columns: ``staging``; ``kind`` of the bootstrap;
            ``stage``; ``variable``; ``n_situations``; ``n_runs``; ``mean_share``
            and ``min_share``, of the runs that staged two of its situations together (missing
            for a single one); ``max_share_outside``, the largest share of one of them with the
            situation ``outside`` of another stage, with its ``outside_path`` and
            ``outside_stage``; ``stage_id``, ``outside_id``.

        Raises
        ------
        StagingError
            The stages were given by hand, there are more than 2,000,000 pairs, or a setting
            is not usable.
        StoreError
            The database is open read-only.

        Notes
        -----
        Shares are of the runs in which rows reached both situations. Replicates of weighted
        surveys draw rows with their weights; scores count them as in this staging.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> shares = staged.stability(runs=20)
        >>> shares[["stage", "variable", "n_situations", "mean_share"]].tail(2).round(2)
          stage   variable  n_situations  mean_share
        5    u5  Admission            10        0.59
        6    u6  Admission             2        1.00
        """
        from cegdb.stability.bootstrap import stability

        options = options_from(settings, StabilitySettings, StabilityOptions)
        stability(self._store, self.id, dataclasses.replace(options, bootstrap=bootstrap))
        where: dict[str, object] = {"staging": self.name, "kind": bootstrap}
        return views.view_frame(self._store, "stage_stability", where, "stage_id")

    @property
    def stage_pairs(self) -> pd.DataFrame:
        """The pairs of situations that may share a stage, once `stability` was run.

        Columns: ``staging``; ``kind`` of the bootstrap; ``variable``; ``situation`` and
        ``path``; ``other`` and ``other_path``; ``stage`` and ``other_stage``;
        ``is_together``, whether these are the same; ``n_runs`` in which rows reached both;
        ``n_together`` of these that staged them together; their ``share``; ``vertex_id``,
        ``other_id``.
        """
        return self._frame("stage_pairs", "staging", "kind, vertex_id, other_id")

    @takes(PosteriorSettings, PosteriorOptions)
    def posterior(self, **settings: Unpack[PosteriorSettings]) -> Posterior:
        """Return how probable it is among all stagings, and what they say on average.

        Stages that were learnt are in question; of a staging given by hand, all of them. All
        stagings of a hyperstage of up to 14 situations are looked at; of a larger one they are
        sampled. The database keeps how probable it is that two situations share a stage (views
        ``cegdb.costagings`` and ``cegdb.hyperstage_posteriors``), until this is run again.

        Parameters
        ----------
        **settings
            Those of `PosteriorOptions`.

        Returns
        -------
        Posterior
            Printed, it says how probable the staging is and whether a better one is known. It
            has the frames ``hyperstages``, ``pairs``, ``probabilities`` and ``best``.

        Raises
        ------
        StagingError
            There are more than 2,000,000 pairs, or a setting is not usable.
        StoreError
            The database is open read-only.

        Notes
        -----
        The posterior is by the log marginal likelihood, with the prior, weights and hyperstages
        of this staging, by whatever score it was learnt [1]_. Up to 14 situations take some
        seconds, 1,000 a minute or two. Samples are from 4 chains [2]_ (situations all together,
        all apart, as shown, and at random); where ``effective_size`` is small or
        ``max_difference`` large, take more ``samples``.

        References
        ----------
        .. [1] T. Silander and T.-Y. Leong (2013), A dynamic programming algorithm for learning
           chain event graphs. Discovery Science, 201-216.
        .. [2] S. Jain and R. M. Neal (2004), A split-merge Markov chain Monte Carlo procedure
           for the Dirichlet process mixture model. Journal of Computational and Graphical
           Statistics 13, 158-182.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> found = staged.posterior()
        >>> found.hyperstages[["variable", "n_stages", "probability"]].round(4)
            variable  n_stages  probability
        0     Social         1       1.0000
        1   Economic         2       1.0000
        2     Events         2       0.5461
        3  Admission         2       0.0003
        """
        from cegdb.stability.posterior import staging_posterior

        options = options_from(settings, PosteriorSettings, PosteriorOptions)
        frames = staging_posterior(self._store, self.id, options)
        return Posterior(self._store, self, frames)

    @property
    def costagings(self) -> pd.DataFrame:
        """The pairs of situations that may share a stage, once `posterior` was run.

        Columns: ``staging``; ``variable``; ``situation`` and ``path``; ``other`` and
        ``other_path``; ``stage`` and ``other_stage``; ``is_together``, whether these are the
        same; ``probability`` that both share a stage, over all stagings; its ``std_error``
        (missing if exact); ``method``, ``exact`` or ``sampled``; ``vertex_id``, ``other_id``.
        """
        return self._frame("costagings", "staging", "vertex_id, other_id")

    @takes(IntervalSettings, IntervalOptions)
    def intervals(
        self,
        method: IntervalMethod = IntervalOptions.method,
        **settings: Unpack[IntervalSettings],
    ) -> pd.DataFrame:
        """Return intervals of the probabilities.

        Parameters
        ----------
        method
            Kind of interval. "robust" holds whether or not the situations of a stage are alike:
            it is one of the mean of their true probabilities, weighted by their people. Given
            the staging, and so too narrow if it was learnt from the same rows: "credible"
            (Beta), "wilson" (each share alone) or "goodman" (all shares of a stage at once).
            Learning the stages again on resampled rows: "bootstrap".
        **settings
            Those of `IntervalOptions`.

        Returns
        -------
        DataFrame
            One row per stage and label, or of the bootstrap a situation and label. Columns:
            ``staging``; ``stage``; ``situation`` and ``path`` (missing where a row is a
            stage); ``variable``; ``label``; ``n``, ``weight`` and ``share`` in the stage, or
            of the bootstrap at the situation; ``probability``, the posterior mean of the
            stage; ``low``, ``high``; ``method``; ``level``; ``given``, on what the interval is
            conditional. Those of the bootstrap are stored as the view
            ``cegdb.bootstrap_intervals``.

        Raises
        ------
        StagingError
            A setting is not usable; of the bootstrap, what `stability` raises.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> found = staged.intervals("goodman", level=0.9)
        >>> found[["stage", "label", "low", "high", "given"]].head(2).round(2)
          stage label   low  high              given
        0    u0  High  0.54  0.60  given the staging
        1    u0   Low  0.40  0.46  given the staging
        """
        from cegdb.stability import intervals as interval_methods

        options = options_from(settings, IntervalSettings, IntervalOptions)
        return interval_methods.intervals(
            self._store, self.id, dataclasses.replace(options, method=method)
        )

    @property
    def parents(self) -> pd.DataFrame:
        """The parents of each variable: the earlier ones that its stages depend on.

        One row per variable and parent, and one of a variable without any. Columns:
        ``staging``; ``variable``; ``parent`` (missing if none); ``kind``, how it depends on
        it: ``total``, ``local``, ``context``, ``partial`` or ``context/partial`` (see
        `cegdb.networks.find_families`); ``is_unique``, whether no other parents would do, as
        where all combinations of answers occur; ``sentence``, the same in words.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> staged.parents[["variable", "parent", "kind"]]
            variable    parent             kind
        0     Social      <NA>             <NA>
        1   Economic    Social            total
        2     Events    Social          context
        3     Events  Economic          context
        4  Admission    Social          context
        5  Admission    Events  context/partial
        """
        import pandas as pd

        from cegdb import networks

        families = networks.find_families(self._store, self.id)
        names = ["staging", "variable", "parent", "kind", "is_unique", "sentence"]
        rows: list[tuple[object, ...]] = []
        for family in families:
            about = (self.name, family.variable)
            for parent, kind in zip(family.parents, family.kinds, strict=True):
                sentence = networks.dependence_sentence(family.variable, parent, kind)
                rows.append((*about, parent, kind, family.is_unique, sentence))
            if not family.parents:
                sentence = f"{family.variable} depends on nothing before it"
                rows.append((*about, None, None, family.is_unique, sentence))
        frame = pd.DataFrame(rows, columns=names)
        return frame.astype({"parent": "string", "kind": "string"})

    @property
    def independences(self) -> pd.DataFrame:
        """The independences that the stages imply, those that concern most people first.

        One row per statement: ``variable`` is independent of ``independent_of`` (a list)
        ``given`` these (a list), wherever ``context`` (variable -> label; empty: everywhere)
        holds. Contexts that are implied by one with fewer conditions are left out. Further
        columns: ``staging``; ``n`` respondents who reach the variable there; ``share`` of
        it among all who reach it, by the probabilities of the staging; ``sentence``, the
        same in words.

        Raises
        ------
        NetworkError
            A variable has too many parents to look at all contexts.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> staged.independences["sentence"].iloc[0]
        'Admission is independent of Economic given Social, Events (n = 890)'
        """
        import pandas as pd

        from cegdb import networks

        statements = networks.statements(networks.find_families(self._store, self.id))
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
            for one in statements
        ]
        return pd.DataFrame(rows, columns=names)

    def to_bayesian_network(self) -> nx.DiGraph[str]:
        """Return the smallest Bayesian network that contains it, as a networkx graph.

        Returns
        -------
        networkx.DiGraph
            Nodes are the variables, with their labels (``levels``), whether their parents are
            the only ones that would do (``is_unique``), and their table (``probability``, a row
            for each combination of the parents' labels that can occur: see
            `cegdb.networks.smallest_network` for what it is); edges have their ``kind``. A
            variable that does not occur on some path has the label ``not applicable``.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> network = staged.to_bayesian_network()
        >>> list(network.edges("Economic", data="kind"))
        [('Economic', 'Events', 'context')]
        """
        from cegdb import networks
        from cegdb.graphs import network_graph

        return network_graph(*networks.smallest_network(self._store, self.id))

    def write_bif(self, path: str | os.PathLike[str]) -> Path:
        """Write the smallest Bayesian network that contains it as a ``.bif`` file.

        Rows of combinations that cannot occur have equal probabilities, since the format
        needs each. See `cegdb.networks.bif` for how odd labels are written.

        Parameters
        ----------
        path
            Ends in ``.bif``. A file there is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            The path does not end in ``.bif``, or cannot be written.
        NetworkError
            A table has more than a million rows.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> staged = cegdb.open().demo("chds").staging
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     staged.write_bif(f"{folder}/chds.bif").name
        'chds.bif'
        """
        from cegdb import networks
        from cegdb.graphs import write_bif

        return write_bif(networks.smallest_network(self._store, self.id)[0], path)
