"""A Chain Event Graph: its tables, and the questions it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cegdb.api.conditioned_ceg import ConditionedCeg, IntervenedCeg, actions_of
from cegdb.api.plots import CegPlots
from cegdb.api.queries import StoredModel
from cegdb.api.reports import CegReport
from cegdb.api.results import Adjustment, Effect
from cegdb.api.settings import options_from, takes
from cegdb.ceg import MAX_VERTICES, recover
from cegdb.errors import (
    CegError,
    GraphError,
    NetworkError,
    QueryError,
    StaleError,
    counted,
    is_number,
    items_of,
)
from cegdb.evidence import All, answers, evidence_of, from_json, refuse_soft_evidence
from cegdb.findings import texts
from cegdb.options import AnswerOptions, EffectOptions, EffectSettings
from cegdb.store.catalog import ceg_and_parents, staging_of
from cegdb.trace import MAX_VALUES, trace

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    import networkx as nx
    import pandas as pd

    from cegdb.api.staged_tree import StagedTree
    from cegdb.causal.interventions import Intervention
    from cegdb.evidence import EvidenceLike
    from cegdb.independence.association import GivenRows, IndependenceTest
    from cegdb.independence.separation import Independence, Parts
    from cegdb.inference.answer_intervals import AnswerIntervals
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.queries import ConditionedModel
    from cegdb.options import Absent, EdgeInfo, Kind, PosteriorSettings
    from cegdb.report.explanation import Counts, Explanation, OrderedOutcome


class ChainEventGraph(StoredModel[ConditionedCeg]):
    """A Chain Event Graph: positions, edges, and the steps that led to it.

    Query it for probabilities (`probability`, `marginals`, `distribution`,
    `most_probable_paths`), also given evidence (`given`) or after an intervention (`do`,
    `effect`, `adjustment`); for what depends on what (`explain`, `cuts`, `independence`,
    `test_independence`); for rows of data (`assign`, `complete`, `score`, `classify`); for
    synthetic rows (`sample`). Draw, plot or export it (`draw`, `plot`, `export`,
    `to_networkx`), and write a report of it (`report`).

    Examples
    --------
    >>> import cegdb
    >>> ceg = cegdb.open().demo("falls")
    >>> ceg.edges[["source", "label", "target", "n"]].head(2)
      source                  label target     n
    0     w0      Communal Assessed     w1   379
    1     w0  Communal Not Assessed     w2  1539
    """

    kind: Kind = "ceg"

    def _compile(self) -> CompiledModel:
        from cegdb.inference.compiled_model import compile_ceg

        return compile_ceg(self._store, self.id)

    def _conditional(self, conditioned: ConditionedModel) -> ConditionedCeg:
        return ConditionedCeg(conditioned, self)

    @property
    def staging(self) -> StagedTree:
        """The staged tree it was made from; given evidence, that of the CEG it comes from."""
        staging: StagedTree = self._object("staging", staging_of(self._row()))
        return staging

    @property
    def plot(self) -> CegPlots:
        """Its plots: ``ceg.plot.flow()``."""
        return CegPlots(self)

    @property
    def report(self) -> CegReport:
        """Its reports: ``ceg.report.page("falls.html")``, ``ceg.report.text()``."""
        return CegReport(self)

    @property
    def parent(self) -> ChainEventGraph | None:
        """The CEG that was given evidence; None if it was made from a staged tree."""
        parent_id = self._row()["parent_ceg_id"]
        return None if parent_id is None else ChainEventGraph(self._store, parent_id)

    @property
    def evidence(self) -> str:
        """The evidence in addition to that of its parent, in words."""
        return str(All(()) if self.parent is None else from_json(self._row()["evidence"]))

    def _counts(self) -> Counts:
        from cegdb.report.explanation import count_people

        staging = self.staging
        tree = staging.tree
        parents, statements = self._stage_sentences()
        summary, order = tree._row()["summary"], tree.settings["order"]
        names = [str(name) for name in order] if isinstance(order, list) else []
        return count_people(
            self._compiled().ceg,
            self._rows("positions", "ceg", "position_id", None),
            self._rows("ceg_edges", "ceg", "source_id", None),
            intervals=self._intervals_or_none(),
            n_left_out=int(summary.get("rows_left_out", 0)),
            is_conditioned=self._row()["staging_id"] is None,
            order=names,
            parents=parents,
            statements=statements,
            ordered=self._ordered_outcome(names),
        )

    def _intervals_or_none(self) -> AnswerIntervals | None:
        """Return what makes the intervals of answers, unless its survey has changed."""
        try:
            return self._intervals(AnswerOptions())
        except StaleError:
            return None

    def _ordered_outcome(self, order: Sequence[str]) -> OrderedOutcome | None:
        """Return the mean scores of the last answer, if the codebook orders its labels."""
        from cegdb.inference.mean_scores import MeanScore, declared_scores, stage_means
        from cegdb.report.explanation import OrderedOutcome

        met = set(self.positions["variable"])
        last = next((name for name in reversed(order) if name in met), None)
        scores = declared_scores(self._store, self.kind, self.id)
        if last is None or last not in scores:
            return None
        try:
            found = self.means(last)
        except StaleError:
            found = self.means(last, interval=None)
        except QueryError:  # some label has no score
            return None
        of_last = {last: scores[last]}
        staging_id = self._row()["staging_id"]
        in_stages = {} if staging_id is None else stage_means(self._store, staging_id, of_last)
        (row,) = found.to_dict("records")
        mean = MeanScore(row["mean"], row.get("low"), row.get("high"))
        return OrderedOutcome(scores[last], mean, row.get("n"), in_stages)

    def _stage_sentences(self) -> tuple[list[str], list[str]]:
        """Return sentences on parents and independence; none given evidence."""
        if self._row()["staging_id"] is None:
            return [], []
        staging = self.staging
        parents = staging.parents
        index_of = {name: i for i, name in enumerate(dict.fromkeys(parents["variable"]))}
        later = parents[parents["variable"].map(index_of).astype(int) > 0]
        latest_first = later.iloc[
            (-later["variable"].map(index_of).astype(int)).argsort(kind="stable")
        ]
        try:
            statements = list(staging.independences["sentence"])
        except NetworkError:
            statements = []
        return list(latest_first["sentence"]), statements

    def _parent_sentences(self) -> list[str]:
        return self._stage_sentences()[0]

    def _stage_names(self) -> dict[int, str]:
        from cegdb.report.explanation import names_of_stages

        return names_of_stages(self._rows("positions", "ceg", "position_id", None))

    @property
    def positions(self) -> pd.DataFrame:
        """The vertices of the CEG, the sink last.

        Columns: ``ceg``; ``position`` (w0, w1, ..., w_inf); ``stage``; ``variable``;
        ``height`` in edges to the sink; ``n`` respondents who reach it; ``n_situations`` merged
        in it (leaves in the sink); ``colour``; ``position_id``, ``stage_id``. Stages of a
        CEG given evidence are its own.
        """
        return self._frame("positions", "ceg", "stage_id is null, position_id")

    @property
    def edges(self) -> pd.DataFrame:
        """The edges of the CEG; parallel ones differ by label.

        Columns: ``ceg``; ``source``, ``label``, ``target``; ``variable``; ``n`` respondents who
        took it from any situation of the source; ``weight``; ``prior`` mass of those
        situations; ``share`` = n / total of the source's stage (weighted if there are
        weights), its ``probability`` (posterior mean) and 95 % interval ``low`` to ``high``,
        as by `StagedTree.intervals`; ``raw_labels`` of the tree; ``source_id``,
        ``target_id``, ``label_id``. In a CEG given evidence ``probability`` is given all of
        it; ``prior``, ``share``, ``low`` and ``high`` are missing.
        """
        return self._frame("ceg_edges", "ceg", "source_id, label_id, target_id")

    @property
    def situation_positions(self) -> pd.DataFrame:
        """The situations of the tree that can be reached, with their positions.

        Columns: ``ceg``; ``situation``; ``variable``; ``path`` in words; ``stage``;
        ``position``; ``n`` respondents who reached it; ``labels`` as a list; ``vertex_id``,
        ``stage_id``, ``position_id``.
        """
        return self._frame("situation_positions", "ceg", "vertex_id")

    @property
    def steps(self) -> pd.DataFrame:
        """The steps of the recursion, G_0 (the tree) first; none given evidence.

        Columns: ``ceg``; ``step`` i of G_i; ``height`` merged by it; ``n_situations`` and
        ``n_positions`` of that height; ``n_vertices`` and ``n_edges`` of G_i; ``seconds``.
        """
        return self._frame("merge_steps", "ceg", "step")

    @property
    def probability_of_evidence(self) -> float | None:
        """Probability of the evidence in its parent; None for soft evidence, which has none."""
        row = self._row()
        if row["parent_ceg_id"] is None:
            return 1.0
        return None if row["probability"] is None else float(row["probability"])

    @property
    def relative_likelihood(self) -> float | None:
        """Mean of the likelihoods of soft evidence, in their unit; None for other evidence."""
        likelihood = self._row()["relative_likelihood"]
        return None if likelihood is None else float(likelihood)

    @property
    def progress(self) -> pd.DataFrame:
        """Where a person may be after each number of edges.

        Columns: ``depth``; ``position``, of the parent where there is one; ``filtered``, its
        probability given the evidence on the edges up to there; ``smoothed``, given all of
        it. Both sum to 1 for each depth; people whose path has ended are in the sink.
        """
        return self._as_conditioned().progress

    def trace(
        self, path: str | os.PathLike[str] | None = None, *, max_values: int = MAX_VALUES
    ) -> str:
        """Write the whole run that made the CEG as one SQL script, and return its text.

        The coded rows of the survey, the variables and labels, and which situations share a
        stage are in it as values; event tree, staged tree, every height of the backward
        recursion and the CEG are made of them by the steps that cegdb itself runs, in their
        order, with all parameters filled in.

        Parameters
        ----------
        path
            The script to write; left out, it is only returned.
        max_values
            A table of values with more rows is written as a Parquet file beside the script,
            named after it, and read from there. Without ``path`` all are values.

        Returns
        -------
        str
            The script. It runs in any DuckDB that has no schema ``cegdb`` (no cegdb is
            needed) and leaves the tables ``vertex``, ``edge``, ``stage``, ``stage_member``,
            ``stage_edge``, ``position``, ``position_member`` and ``ceg_edge`` in that schema,
            with the columns and rows that they have here for this CEG.

        Raises
        ------
        CegError
            This is a CEG given evidence (trace the one it comes from), or the run gives
            other rows than those stored.
        StaleError
            The survey has changed since the CEG was made.
        GraphError
            The script cannot be written.

        Examples
        --------
        >>> import cegdb, duckdb
        >>> script = cegdb.open().demo("chds").trace()
        >>> con = duckdb.connect()
        >>> con.execute(script).execute("select count(*) from cegdb.position").fetchall()
        [(9,)]
        """
        return trace(self._store, self.id, path, max_values=max_values)

    def averaged(
        self,
        name: str | None = None,
        *,
        replace: bool = False,
        **settings: Unpack[PosteriorSettings],
    ) -> ChainEventGraph:
        """Make the CEG whose probabilities are averaged over all stagings.

        Parameters
        ----------
        name
            Name to store its staging and the CEG under. Default: that of the staging with
            ``-averaged``, and a number if it is taken.
        replace
            Replace a staging of that name, with everything built on it.
        **settings
            Those of `PosteriorOptions`: how the posterior of all stagings is found.

        Returns
        -------
        ChainEventGraph
            Of the staging that `StagedTree.averaged` makes; see there for errors and notes.

        Raises
        ------
        CegError
            This is a CEG given evidence.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> len(ceg.positions), len(ceg.averaged().positions)
        (9, 20)
        """
        if self._row()["staging_id"] is None:
            raise CegError(
                f"CEG {self.name!r} was made given evidence, and has no stages to average over",
                hint="average the CEG it comes from, then give the evidence again",
            )
        return self.staging.averaged(name, replace=replace, **settings).to_ceg()

    def recover(self, *, limit: int = MAX_VERTICES) -> pd.DataFrame:
        """Return the staged tree the CEG stands for (Theorem 3).

        Parameters
        ----------
        limit
            The largest tree to unroll; its size is computed first.

        Returns
        -------
        DataFrame
            One row per vertex, breadth first: ``vertex_id``, ``parent_id`` (missing for the
            root), ``depth``, ``label``, ``position_id``, ``stage_id`` (missing on a leaf).

        Raises
        ------
        CegError
            The tree would be larger than ``limit``.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> len(ceg.recover()), len(ceg.positions)
        (43, 9)
        """
        import pandas as pd

        names = ["vertex_id", "parent_id", "depth", "label", "position_id", "stage_id"]
        found = recover(self._store, self.id, limit=limit)
        frame = pd.DataFrame(found, columns=names)
        return frame.astype({"parent_id": "Int64", "stage_id": "Int64"})

    def to_networkx(self, *, min_n: int | None = None) -> nx.MultiDiGraph[str]:
        """Return it as a networkx graph.

        Parameters
        ----------
        min_n
            Leave out counts below this, and what would reveal them; the graph's attribute
            ``min_n`` records it. Default: nothing is left out.

        Returns
        -------
        MultiDiGraph
            Nodes w0, w1, ..., w_inf, with the columns of `positions`; labels as edge keys,
            with the columns of `edges`.

        Raises
        ------
        QueryError
            ``min_n`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> [n for _, _, n in ceg.to_networkx(min_n=20).edges("w4", data="n")]
        [None, 21, None]
        """
        from cegdb import graphs

        return graphs.ceg_graph(
            self.name,
            self._rows("positions", "ceg", "stage_id is null, position_id", min_n),
            self._rows("ceg_edges", "ceg", "source_id, label_id, target_id", min_n),
            min_n=min_n,
        )

    def _check_drawn(self, edge_info: EdgeInfo) -> None:
        if edge_info in ("prior", "posterior") and self.parent is not None:
            raise GraphError(
                f"CEG {self.name!r} is given evidence, so its edges have no {edge_info} counts",
                hint="choose probability, count or none; or draw its parent",
            )

    def do(
        self,
        actions: Mapping[str, object] | None = None,
        /,
        *,
        absent: Absent = EffectOptions.absent,
        **labels: object,
    ) -> IntervenedCeg:
        """Return the CEG after an intervention that sets some answers.

        Parameters
        ----------
        actions
            Variable -> the label it is set to, or a distribution, label -> probability. In
            the place of a variable a position (``"w3"``), where no variable has that name.
        absent
            Where a position that can be reached lacks a label (a structural zero):
            ``"error"``, or ``"leave"`` it as it is.
        **labels
            Variable -> label, for names that are identifiers.

        Returns
        -------
        IntervenedCeg
            To be queried like the CEG; ``given`` conditions on what is observed after the
            intervention. It states the assumption on which it rests.

        Raises
        ------
        QueryError
            A name or label is unknown, or a label is absent at a position; the CEG is
            conditioned on evidence.

        Notes
        -----
        The edges of the variable get the probabilities stated, all others keep theirs [1]_.
        Where the variable does not occur or apply, nothing is set.

        References
        ----------
        .. [1] P. Thwaites (2013), Causal identifiability via chain event graphs. Artificial
           Intelligence 195, 291-315.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> after = ceg.do(Events="Low")
        >>> after.intervention, round(after.probability(Admission="Yes"), 4)
        ('Events = Low', 0.1494)
        """
        from cegdb.causal import interventions
        from cegdb.inference import queries

        intervention = interventions.intervene(
            self._without_intervention(), actions_of(actions, labels), absent
        )
        return IntervenedCeg(queries.condition(intervention.ceg, All(())), self, intervention)

    def _without_intervention(self) -> Intervention:
        """Return the CEG with nothing set; refuse one that is conditioned."""
        from cegdb.causal import interventions

        if self._row()["staging_id"] is None:
            raise QueryError(
                f"cannot intervene after conditioning: CEG {self.name!r} is conditioned on "
                "evidence, which may depend on what the intervention changes",
                hint="intervene first, then condition: ceg.parent.do(...).given(...)",
            )
        return interventions.no_intervention(self._compiled().ceg)

    def positivity(
        self,
        treatment: str,
        between: Sequence[object] | None = None,
        *,
        given: EvidenceLike | None = None,
        least: float = EffectOptions.least,
    ) -> pd.DataFrame:
        """Return where a label of a treatment is impossible, or has a small probability.

        There an effect is estimated from few respondents, or from none.

        Parameters
        ----------
        treatment
            A variable.
        between
            Labels of it. Default: all.
        given
            Evidence on what comes before the treatment: only positions it leaves.
        least
            Probabilities below it are small.

        Returns
        -------
        DataFrame
            One row per position and label: ``position``; ``history``, the most probable way
            to it; ``label``; ``probability`` where the treatment applies, 0 without an
            edge; ``is_possible``, whether there is an edge; ``passed``, the probability to
            pass the position; ``n`` respondents who reach it.

        Raises
        ------
        QueryError
            A name or label is unknown.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.positivity("Economic", least=0.2).drop(columns="history").round(3)
          position label  probability  is_possible  passed    n
        0       w2  High        0.121         True    0.43  383
        """
        import pandas as pd

        from cegdb.causal import interventions
        from cegdb.inference import queries

        ceg = self._without_intervention().ceg
        index = ceg.variable_index(treatment)
        if not is_number(least) or not 0 <= least <= 1:
            raise QueryError(f"least must be a number from 0 to 1, not {least!r}")
        labels = interventions.compared_labels(ceg, index, _listed(between))
        group = _subgroup(given)
        interventions.refuse_post_treatment(ceg, index, group)
        conditioned = queries.condition(ceg, group)
        passed = np.bincount(
            conditioned.product.node, conditioned.smoothed, ceg.graph.n_nodes
        ).astype(float)
        violations = interventions.positivity_violations(
            ceg, index, labels, passed, float(least)
        )
        histories = [
            ", ".join(answers) or "(the root)"
            for answers in queries.most_probable_histories(
                ceg, [node for node, *_ in violations]
            )
        ]
        n = self._frame("positions", "ceg", "position_id").set_index("position")["n"]
        rows = [
            (name, history, label, probability, is_possible, passed[node], int(n[name]))
            for (node, label, probability, is_possible), history in zip(
                violations, histories, strict=True
            )
            for name in [ceg.names[node]]
        ]
        columns = ["position", "history", "label", "probability", "is_possible", "passed", "n"]
        return pd.DataFrame(rows, columns=columns)

    @takes(EffectSettings, EffectOptions)
    def effect(
        self,
        treatment: str,
        outcome: EvidenceLike,
        between: Sequence[object] | None = None,
        *,
        given: EvidenceLike | None = None,
        **settings: Unpack[EffectSettings],
    ) -> Effect:
        """Return the effect of a treatment on the probability of an outcome.

        Parameters
        ----------
        treatment
            A variable.
        outcome
            An event: ``{"Fall": "Fall"}``.
        between
            Labels of the treatment to compare, each with the first; if only one is given, all
            others with it. Default: all.
        given
            Evidence on what comes before the treatment: the effect in that group.
        **settings
            Those of `EffectOptions`.

        Returns
        -------
        Effect
            The probability of the outcome when each label is set, their differences (the
            average effect), what is only observed beside it, and where positivity is weak.

        Raises
        ------
        QueryError
            A name or label is unknown; the group depends on what may come after the
            treatment; or a setting cannot be used.

        Notes
        -----
        By default the shares are those of the rows of each situation alone, standardised as
        the intervention says: stages learnt from the same rows may hide an effect, or show
        one that is not there. Of a situation without rows they are those of its stage, and
        the interval leaves them open. Intervals are those of `probability`, for differences
        put together from both probabilities and their correlation. The estimate by the stages
        is beside it (``staged``), and where the two differ by more than a standard error a note
        says so.

        With ``given_staging`` the estimate is that of the stages, and each random draw takes a
        probability vector from the Dirichlet posterior of each stage. Such intervals are too
        narrow if the staging was learnt from the same rows.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> effect = ceg.effect("Social", {"Admission": "Yes"})
        >>> effect.differences.round(3)
          label against  effect    low   high  staged  observed
        0   Low    High   0.098  0.045  0.151   0.062     0.098
        """
        import pandas as pd

        from cegdb.causal import effects, interventions, unpooled_effects
        from cegdb.inference import queries
        from cegdb.inference.sampling import checked_seed
        from cegdb.ingest.coding.variables import NOT_APPLICABLE

        options = options_from(settings, EffectSettings, EffectOptions)
        level, draws = options.level, options.draws
        seed = checked_seed(options.seed)
        positivity = self.positivity(treatment, between, given=given, least=options.least)
        ceg = self._without_intervention().ceg
        group = ceg.with_stored_names(_subgroup(given))
        event = ceg.with_stored_names(evidence_of(outcome, "outcome"))
        refuse_soft_evidence(event)
        index = ceg.variable_index(treatment)
        treatment = ceg.variables[index].name
        labels = interventions.compared_labels(ceg, index, _listed(between))
        by_label = effects.interventions_by_label(ceg, treatment, labels, group, options.absent)
        outcomes = effects.outcome_probabilities(ceg, treatment, by_label, event, group)
        rows = unpooled_effects.row_outcomes(
            self._counted_tree(), ceg, treatment, by_label, event, group, level
        )
        staged = outcomes.intervened
        if options.given_staging:
            simulated = np.full((1, len(labels)), np.nan)
            if draws:
                simulated = effects.sample_outcomes(
                    list(by_label.values()), event, group, self._posterior_masses(), draws, seed
                )
            tails = [(1 - level) / 2, (1 + level) / 2]
            low, high = np.quantile(simulated, tails, axis=0)
            differences = simulated[:, 1:] - simulated[:, :1]
            effect_low, effect_high = np.quantile(differences, tails, axis=0)
            chosen, observed = staged, outcomes.observed
        else:
            low, high, chosen, observed = rows.low, rows.high, rows.intervened, rows.observed
            effect_low, effect_high = rows.effect_low, rows.effect_high
        probabilities = pd.DataFrame(
            {
                "label": labels,
                "probability": chosen,
                "low": low,
                "high": high,
                "staged": staged,
                "observed": observed,
            }
        )
        differences_of = pd.DataFrame(
            {
                "label": labels[1:],
                "against": labels[0],
                "effect": chosen[1:] - chosen[0],
                "low": effect_low,
                "high": effect_high,
                "staged": staged[1:] - staged[0],
                "observed": observed[1:] - observed[0],
            }
        )
        conditioned = queries.condition(ceg, group)
        untreated = queries.probability_of(conditioned, answers({treatment: NOT_APPLICABLE}))
        intervals = (
            f"{100 * level:.4g} % intervals: by the rows of each situation, not pooled over "
            "stages"
        )
        if options.given_staging:
            intervals = (
                f"{100 * level:.4g} % intervals: {counted(draws, 'draw')} from the Dirichlet "
                f"posterior of each stage (seed {seed}); they take the staging as known, "
                "so they are too narrow if it was learnt from the same rows"
            )
        return Effect(
            treatment,
            str(event),
            str(group),
            probabilities,
            differences_of,
            positivity,
            1 - untreated,
            intervals if draws or not options.given_staging else "",
            interventions.assumption(ceg, [treatment]),
            interventions.fixed_outcome_note(ceg, index, event),
            unpooled_effects.staging_note(labels, staged, rows),
        )

    def adjustment(
        self,
        treatment: str,
        outcome: str,
        by: str | Sequence[str] | None = None,
        *,
        between: Sequence[object] | None = None,
        given: EvidenceLike | None = None,
        absent: Absent = EffectOptions.absent,
        seed: int = EffectOptions.seed,
    ) -> Adjustment:
        """Return whether adjusting for variables gives the effect of a treatment.

        Parameters
        ----------
        treatment, outcome
            Variables.
        by
            Variables to adjust for, ``[]`` for none. Default: the smallest sets of what
            comes before the treatment that work are searched for: sets of up to 3
            variables, 200 at most, then all of them.
        between
            Labels of the treatment. Default: all.
        given
            Events before the treatment: the question in that group. What needs adjusting
            for in general may need none there.
        absent
            As in `do`. A position that is left counts as it is under each label.
        seed
            Seed of the random parameters.

        Returns
        -------
        Adjustment
            The verdict with its reason, and the estimate beside the truth.

        Raises
        ------
        QueryError
            A name or label is unknown; variables have too many combinations of labels.

        Notes
        -----
        The back-door criterion of CEGs [1]_: for each combination z of labels, P(z | do(x)) =
        P(z) and P(y | do(x), z) = P(y | x, z). ``not applicable`` is a label, and z also says
        whether the treatment applies. It is decided for all probabilities that the stages
        may have, not only the fitted ones: both sides are polynomials in these, and compared
        at random points modulo 2^61 - 1 (two draws: a set that fails is called working with
        a probability below 10^-30; the reverse cannot happen). All that comes before the
        treatment always works, unless some of it comes after the treatment on other paths.

        References
        ----------
        .. [1] P. Thwaites (2013), Causal identifiability via chain event graphs. Artificial
           Intelligence 195, 291-315.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> print(ceg.adjustment("Economic", "Admission", by=[]).verdict)
        no: Admission differs between people set to Economic = High and people observed with it
        >>> ceg.adjustment("Economic", "Admission").sets
        [('Social',)]
        """
        import pandas as pd

        from cegdb.causal import adjustment as adjusting
        from cegdb.causal import effects, interventions
        from cegdb.inference import queries
        from cegdb.inference.sampling import checked_seed

        ceg = self._without_intervention().ceg
        group = ceg.with_stored_names(_subgroup(given))
        refuse_soft_evidence(group)
        names = [] if by is None else queries.variable_names(self._compiled(), by)
        treated, target, *indexes = adjusting.variable_indexes(ceg, treatment, outcome, names)
        treatment, outcome = ceg.variables[treated].name, ceg.variables[target].name
        interventions.refuse_post_treatment(ceg, treated, group)
        labels = interventions.compared_labels(ceg, treated, _listed(between))
        effects.interventions_by_label(ceg, treatment, labels, group, absent)
        problem = adjusting.AdjustmentProblem(
            ceg, treated, target, tuple(labels), group, checked_seed(seed)
        )
        variables = [variable.name for variable in ceg.variables]
        sets, all_sets_tried = (
            ([tuple(indexes)], True) if by is not None else problem.smallest_sets()
        )
        chosen = sets[0] if sets else tuple(problem.predecessors())
        failure = problem.reason_invalid(chosen)
        estimated = problem.estimates(chosen)
        shape = (len(labels), len(estimated.answers))
        estimates = pd.DataFrame(
            {
                "label": np.repeat(labels, shape[1]).tolist(),
                "outcome": estimated.answers * shape[0],
                "adjusted": estimated.adjusted.ravel(),
                "truth": estimated.intervened.ravel(),
                "observed": estimated.observed.ravel(),
            }
        )
        working = [] if failure else [tuple(variables[i] for i in one) for one in sets]
        return Adjustment(
            treatment,
            outcome,
            tuple(variables[i] for i in chosen),
            str(group),
            failure is None,
            failure or "",
            working,
            all_sets_tried,
            estimates,
            interventions.assumption(ceg, [treatment]),
            interventions.fixed_outcome_note(
                ceg, treated, answers({outcome: estimated.answers})
            ),
        )

    def _posterior_masses(self) -> dict[tuple[int, str], float]:
        from cegdb.stability.intervals import posterior_masses

        return posterior_masses(self._store, self._row()["staging_id"])

    def cuts(self) -> pd.DataFrame:
        """Return where the model makes no further use of the past.

        Returns
        -------
        DataFrame
            One row per fine cut, a set of positions of which each path passes exactly one:
            ``kind`` and ``of`` (single ``position``, all of a ``variable``, all of a
            ``depth`` or ``height`` in edges); ``variable`` asked at all of them;
            ``positions``, ``stages`` as lists; ``is_cut``: these are all positions of
            the stages; ``statement`` in words. Trivial sets are left out.

        Notes
        -----
        O(edges) for positions, depths and heights, and for each variable [1]_.

        References
        ----------
        .. [1] Smith & Anderson (2008), Artificial Intelligence 172:42-68.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.cuts()[["kind", "of", "positions", "is_cut"]]
               kind         of     positions  is_cut
        0  variable     Events  [w3, w4, w5]    True
        1  variable  Admission      [w6, w7]    True
        """
        import pandas as pd

        from cegdb.independence import cuts

        rows = cuts.useful_cuts(self._compiled().ceg, self._stage_names())
        return pd.DataFrame(rows, columns=list(cuts.Cut._fields))

    def is_fine_cut(self, positions: Sequence[str | int]) -> bool:
        """Return whether each path passes exactly one of some positions.

        Then what comes after does not depend on what came before, given which is passed.

        Parameters
        ----------
        positions
            Names (``"w3"``) or ids.

        Returns
        -------
        bool

        Raises
        ------
        QueryError
            A position is unknown, or none is given.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.is_fine_cut(["w1", "w2"]), ceg.is_fine_cut(["w1"])
        (True, False)
        """
        from cegdb.independence import cuts

        return cuts.is_fine_cut(self._compiled().ceg, positions)

    def is_cut(self, stages: Sequence[str | int]) -> bool:
        """Return whether each path passes exactly one position of some stages.

        Then the next answer does not depend on what came before, given which stage it is.

        Parameters
        ----------
        stages
            Names (``"u3"``) or ids.

        Returns
        -------
        bool

        Raises
        ------
        QueryError
            A stage is unknown, or none is given.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.is_cut(["u1", "u2"]), ceg.is_cut(["u1"])
        (True, False)
        """
        from cegdb.independence import cuts

        return cuts.is_cut(self._compiled().ceg, stages, self._stage_names())

    def independence(
        self, x: Parts, y: Parts, *, given: Parts = (), context: EvidenceLike | None = None
    ) -> Independence:
        """Return whether X is independent of Y given Z, for all values of the probabilities.

        Parameters
        ----------
        x, y, given
            Variables by name, one or several, or events: ``{"smoker": ["Never", "Former"]}``,
            `cegdb.evidence.visits`, `cegdb.evidence.takes`. A variable that a path lacks
            has the answer ``not applicable`` there. On the command line, ``given`` is
            ``--by``.
        context
            Something known (as for `given` of a CEG): there X and Y are compared. On the
            command line, ``--where``.

        Returns
        -------
        Independence
            ``holds`` for all values; ``is_trivial``, where each stratum leaves X or Y one
            answer only; ``false_positive_bound``, the probability that it is wrong;
            ``fitted``, the conditional mutual information in nats at the fitted
            probabilities; ``strata``, the same for each combination of answers of Z, those
            that differ most first (``frame`` as a DataFrame); ``statement``; ``str()`` is
            the answer in words.

        Raises
        ------
        QueryError
            A name is unknown or used twice, or the context is impossible or soft evidence.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> found = ceg.independence("Social", "Admission", given="Events")
        >>> found.holds, round(found.fitted, 4)
        (False, 0.0056)
        """
        from cegdb.independence import separation

        return separation.independence(self._compiled().ceg, x, y, given=given, context=context)

    def test_independence(
        self, x: str, y: str, *, given: GivenRows = (), alpha: float | None = None
    ) -> IndependenceTest:
        """Test in the rows of its survey whether X is independent of Y.

        Parameters
        ----------
        x, y
            Variables of the survey.
        given
            Variables (``--by`` on the command line), or answers (``--where``), within which
            to compare: as for `Survey.test_independence`.
        alpha
            Prior mass of each combination of answers to what is given. Default: the largest
            number of levels of a variable.

        Returns
        -------
        IndependenceTest
            As of `Survey.test_independence`.

        Raises
        ------
        QueryError
            A variable or label is unknown, or used twice.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> round(ceg.test_independence("Admission", "Social").posterior_dependence, 3)
        0.972
        """
        from cegdb.independence.association import independence_test

        survey_id = int(self.staging.tree._row()["survey_id"])
        return independence_test(self._store, survey_id, x, y, given=given, alpha=alpha)

    def explain(self) -> Explanation:
        """Return what it says as sentences, the most important first.

        Returns
        -------
        Explanation
            Shows itself as text; ``frame`` has one row per sentence. What may mislead (see
            `findings`), if anything; its people; at which positions the last answer is most
            and least probable; what goes with it; cuts; what each answer depends on, the last
            one first; what is independent by the stages, and what else is for all their
            probabilities. A few sentences of each, the others counted.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     survey.event_tree().learn_stages().to_ceg().explain()
        People:
          - CEG 'survey' has 80 respondents, 3 positions and 3 stages
        Answers to y:
          - 80 respondents were asked y, at 2 positions; probabilities: False 0.622 \
(0.516 to 0.725), True 0.378 (0.275 to 0.484)
          - y = False is most probable at w2 (n = 40; most often after x = 1): 0.744 \
(0.602 to 0.864); least probable at w1 (n = 40; most often after x = 0): 0.500 (0.350 to 0.650)
        Associations with y:
          - x: the probability of y = False is 0.744 (0.602 to 0.864) for 1 (n = 40) and \
0.500 (0.350 to 0.650) for 0 (n = 40)
        What each answer depends on:
          - y depends on x in every context: no two answers to x lead to the same stage
        """
        return self._explained().after(texts(self._found(), self.kind, is_hidden=False))

    def _explained(self) -> Explanation:
        """Return what it says, without what may mislead."""
        from cegdb.report.explanation import explain

        return explain(self._compiled().ceg, self._counts())

    def _as_conditioned(self) -> ConditionedCeg:
        """Return it as what its evidence leaves of its parent, or as all of itself."""
        parent = self.parent
        if parent is None:
            return self.given()
        return parent.given(from_json(self._row()["evidence"]))

    def _given(self) -> str:
        with self._store.catalog() as catalog:
            *conditioned, _ = ceg_and_parents(catalog, self.id)
        return " and ".join(str(from_json(ceg["evidence"])) for ceg in reversed(conditioned))


def _subgroup(given: EvidenceLike | None) -> All:
    return All(()) if given is None else All((evidence_of(given, "given"),))


def _listed(between: Sequence[object] | None) -> list[object] | None:
    if between is None:
        return None
    return items_of(between, "between", QueryError, hint="give labels of the treatment")
