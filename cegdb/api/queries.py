"""Queries of staged trees and CEGs, with or without evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from cegdb.api.base import GraphObject
from cegdb.api.results import (
    Assigned,
    Classification,
    Completed,
    Probability,
    write_or_return,
)
from cegdb.api.settings import options_from, takes
from cegdb.evidence import All, answers, evidence_of, items
from cegdb.options import (
    AnswerOptions,
    AnswerSettings,
    QueryOptions,
    ReadOptions,
    RowOptions,
    RowSettings,
    WeightedRowSettings,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    import pandas as pd

    from cegdb.api.base import StoredObject
    from cegdb.evidence import Evidence, EvidenceLike
    from cegdb.inference import row_scores
    from cegdb.inference.answer_intervals import AnswerIntervals
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.counted_tree import CountedTree
    from cegdb.inference.ordered_answers import OrderedAnswers
    from cegdb.inference.propagation import Floats
    from cegdb.inference.queries import ConditionedModel
    from cegdb.inference.row_answers import RowSource
    from cegdb.inference.row_scores import LogScore
    from cegdb.ingest import Source
    from cegdb.store import Store

Conditional = TypeVar("Conditional")


class Queryable(ABC, Generic[Conditional]):
    """A staged tree or CEG, or one of them given evidence, that can be queried."""

    @abstractmethod
    def _compiled(self) -> ConditionedModel:
        """Return it as arrays, with what is known."""

    @abstractmethod
    def _origin(self) -> StoredObject:
        """Return the stored object that it is or comes from."""

    @abstractmethod
    def _counted_tree(self) -> CountedTree:
        """Return the tree below it, with its counts."""

    @abstractmethod
    def _conditional(self, conditioned: ConditionedModel) -> Conditional:
        """Return what is left of it given evidence."""

    def given(self, *evidence: EvidenceLike, **labels: object) -> Conditional:
        """Condition on evidence: return it given what is known about a person.

        Parameters
        ----------
        *evidence
            Mappings of variables to labels (or lists of labels), and evidence made by
            `cegdb.evidence`: vertices passed, soft evidence, counts of events, their order.
        **labels
            Variable -> label, for names that are identifiers.

        Returns
        -------
        ConditionedCeg or ConditionedStagedTree
            To be queried like the CEG or staged tree.

        Raises
        ------
        QueryError
            The evidence has probability 0, or a name or label is unknown.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> given = ceg.given(Admission="Yes")
        >>> round(given.probability_of_evidence, 4), round(given.probability(Social="Low"), 4)
        (0.1907, 0.5101)
        """
        from cegdb.inference import queries

        conditioned = queries.condition(self._compiled().ceg, self._joined(evidence, labels))
        return self._conditional(conditioned)

    def _joined(
        self, evidence: Sequence[EvidenceLike], labels: Mapping[str, object]
    ) -> Evidence:
        parts = [evidence_of(part) for part in evidence]
        if labels:
            parts.append(answers(labels))
        known = (self._compiled().evidence, *parts)
        return All(tuple(item for part in known for item in items(part)))

    def with_stored_names(self, event: EvidenceLike) -> Evidence:
        """Return evidence or an event with variables and labels spelled as they are stored.

        Parameters
        ----------
        event
            As for `given`.

        Returns
        -------
        Evidence
            ``str()`` is the event in words.

        Raises
        ------
        QueryError
            A variable or label is unknown.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> print(ceg.with_stored_names({"admission": "YES"}))
        Admission = Yes
        """
        return self._compiled().ceg.with_stored_names(evidence_of(event, "event"))

    @overload
    def probability(
        self,
        event: EvidenceLike | None = None,
        /,
        *,
        interval: float = ...,
        given_staging: bool = ...,
        **labels: Any,
    ) -> Probability: ...

    @overload
    def probability(
        self, event: EvidenceLike | None = None, /, *, interval: None, **labels: Any
    ) -> float: ...

    def probability(
        self,
        event: EvidenceLike | None = None,
        /,
        *,
        interval: float | None = AnswerOptions.interval,
        given_staging: bool = AnswerOptions.given_staging,
        **labels: Any,
    ) -> float:
        """Return the probability of an event.

        Parameters
        ----------
        event, **labels
            As for `given`; all of it must hold.
        interval, given_staging
            As for `marginals`. Variables of these names are given in ``event``.

        Returns
        -------
        Probability
            A number: the posterior mean, exact, 0 where no path of the tree has the event.
            It has ``low`` and ``high``, the ends of its interval, and ``n``, the rows that
            agree with the evidence and have what an intervention sets, or all of them. Without
            ``interval`` a plain float.

        Raises
        ------
        QueryError
            A variable, label or position is unknown, or the event is soft evidence.

        Notes
        -----
        An interval does not take the stages as known, which were often learnt from the same
        rows: it is the Jeffreys interval of the share that the rows of the event tree
        themselves have, widened to hold the probability. For an answer that none of n rows
        has, the upper end is at least ``1 - (1 - interval) ** (1 / n)``. Given the staging it
        is that of the beta distribution with the mean and the standard error (delta method) of
        the answer: for a single stage, its posterior. Source: docs/theory.md, section 17.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.probability({"Admission": "Yes"})
        0.191 (0.165 to 0.217; n = 890)
        >>> round(ceg.probability(Social="Low", Admission="Yes", interval=None), 4)
        0.0973
        """
        from cegdb.inference import queries

        options = AnswerOptions(interval, given_staging)
        parts = () if event is None else (evidence_of(event, "event"),)
        whole = All((*parts, answers(labels))) if labels else All(parts)
        model = self._compiled()
        value = queries.probability_of(model, whole)
        if options.interval is None:
            return value
        limits = self._intervals(options).of_event(model.ceg.with_stored_names(whole), value)
        return Probability(value, float(limits.low[0]), float(limits.high[0]), int(limits.n[0]))

    def _intervals(self, options: AnswerOptions) -> AnswerIntervals:
        """Return what makes the intervals of answers."""
        from cegdb.inference.answer_intervals import AnswerIntervals

        if options.interval is None:
            raise AssertionError(options)
        return AnswerIntervals(
            self._counted_tree(), self._compiled(), options.interval, options.given_staging
        )

    @takes(AnswerSettings, AnswerOptions)
    def marginals(
        self,
        variables: str | Sequence[str] | None = None,
        **settings: Unpack[AnswerSettings],
    ) -> pd.DataFrame:
        """Return the probability of each label of variables.

        Parameters
        ----------
        variables
            Names. Default: all.
        **settings
            How intervals are made.

        Returns
        -------
        DataFrame
            One row per label that some path has: ``variable``, ``label`` (``not applicable``
            where the variable does not occur), ``probability``; ``low`` and ``high``, the
            ends of its interval (see `probability`), and ``n``, the rows that agree with the
            evidence, or all of them.

        Raises
        ------
        QueryError
            A variable is unknown.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.marginals("Events").round(3)
          variable    label  probability    low   high    n
        0   Events  Average        0.331  0.301  0.363  890
        1   Events     High        0.299  0.269  0.330  890
        2   Events      Low        0.370  0.338  0.402  890
        """
        import pandas as pd

        from cegdb.inference import queries

        options = options_from(settings, AnswerSettings, AnswerOptions)
        given = self._compiled()
        parts = []
        for name in queries.variable_names(given, variables):
            labels, probability = queries.marginal(given, name)
            frame = pd.DataFrame({"variable": name, "label": labels})
            self._add_probability(frame, options, [name], [labels], probability, 0)
            parts.append(frame)
        if not parts:
            limits = [] if options.interval is None else ["low", "high", "n"]
            return pd.DataFrame(columns=["variable", "label", "probability", *limits])
        return pd.concat(parts, ignore_index=True)

    @takes(AnswerSettings, AnswerOptions)
    def means(
        self,
        variables: str | Sequence[str] | None = None,
        by: str | Sequence[str] = (),
        **settings: Unpack[AnswerSettings],
    ) -> pd.DataFrame:
        """Return the mean score of ordered answers, also by the answers to other variables.

        Parameters
        ----------
        variables
            Names of ordered variables. Default: all that the codebook orders. Two answers are
            ordered in any case: they have the scores 0 and 1.
        by
            Names of other variables: means are then conditional on each combination of their
            labels.
        **settings
            How intervals are made.

        Returns
        -------
        DataFrame
            One row per variable and combination in which it is answered: a column for each
            variable in ``by``; ``variable``; ``mean``; ``low`` and ``high``, the ends of its
            interval, and ``n``, the rows with such an answer.

        Raises
        ------
        QueryError
            A name is unknown, named twice, or of a variable whose answers have no scores.

        Notes
        -----
        Scores are those of the view ``cegdb.scores``. Means are over the answers that have
        one: who was not asked, and missing answers, are left out. Intervals are made as those
        of `probability`, from the lowest score to the highest.

        Examples
        --------
        >>> import cegdb
        >>> book = {"variables": {"health": {"ordered": True}}}
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as sex, i % 3 as health from range(90) t(i)"
        ...     ceg = db.ingest(rows, codebook=book).event_tree().learn_stages().to_ceg()
        ...     ceg.means(by="sex").round(2)
          sex variable  mean   low  high   n
        0   0   health   1.0  0.76  1.24  45
        1   1   health   1.0  0.76  1.24  45
        """
        import pandas as pd

        options = options_from(settings, AnswerSettings, AnswerOptions)
        frames = []
        for answers_of in self._ordered_answers(variables, by, ("variable", "mean"), options):
            frame = pd.DataFrame(answers_of.groups(1), index=range(len(answers_of.mean)))
            frame["variable"], frame["mean"] = answers_of.variable, answers_of.mean
            if options.interval is not None:
                limits = answers_of.mean_limits(self._intervals(options))
                frame["low"], frame["high"], frame["n"] = limits
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    @takes(AnswerSettings, AnswerOptions)
    def cumulative(
        self,
        variables: str | Sequence[str] | None = None,
        by: str | Sequence[str] = (),
        **settings: Unpack[AnswerSettings],
    ) -> pd.DataFrame:
        """Return the probability of each ordered answer or a lower one.

        Parameters
        ----------
        variables, by, **settings
            As for `means`.

        Returns
        -------
        DataFrame
            As of `means`, with a row for each answer in the order of the scores: ``label``,
            its ``score``, and ``probability`` instead of the mean.

        Raises
        ------
        QueryError
            As `means`.

        Examples
        --------
        >>> import cegdb
        >>> book = {"variables": {"health": {"ordered": True}}}
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as sex, i % 3 as health from range(90) t(i)"
        ...     ceg = db.ingest(rows, codebook=book).event_tree().learn_stages().to_ceg()
        ...     ceg.cumulative("health").round(2)
          variable label  score  probability   low  high   n
        0   health     0    0.0         0.33  0.24  0.43  90
        1   health     1    1.0         0.67  0.57  0.76  90
        2   health     2    2.0         1.00  1.00  1.00  90
        """
        import pandas as pd

        options = options_from(settings, AnswerSettings, AnswerOptions)
        beside = ("variable", "label", "score", "probability")
        frames = []
        for answers_of in self._ordered_answers(variables, by, beside, options):
            n_groups, n_labels = answers_of.cumulative.shape
            frame = pd.DataFrame(answers_of.groups(n_labels), index=range(n_groups * n_labels))
            frame["variable"], frame["label"] = (
                answers_of.variable,
                answers_of.labels * n_groups,
            )
            frame["score"] = np.tile(answers_of.scores, n_groups)
            frame["probability"] = answers_of.cumulative.ravel()
            if options.interval is not None:
                limits = answers_of.cumulative_limits(self._intervals(options))
                frame["low"], frame["high"], frame["n"] = limits
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def _ordered_answers(
        self,
        variables: str | Sequence[str] | None,
        by: str | Sequence[str],
        columns_beside: Sequence[str],
        options: AnswerOptions,
    ) -> list[OrderedAnswers]:
        """Return the ordered answers to variables, given those to others."""
        from cegdb.inference.ordered_answers import ordered_answers, stored_scales

        if options.interval is not None:
            columns_beside = (*columns_beside, "low", "high", "n")
        origin = self._origin()
        scales = stored_scales(origin._store, origin.kind, origin.id)
        return ordered_answers(self._compiled(), scales, variables, by, columns_beside)

    def _add_probability(
        self,
        frame: pd.DataFrame,
        options: AnswerOptions,
        names: Sequence[str],
        columns: Sequence[Sequence[str]],
        probability: Floats,
        n_by: int,
    ) -> None:
        """Add the columns of probabilities of combinations, given the first variables."""
        frame["probability"] = probability
        if options.interval is not None:
            intervals = self._intervals(options)
            limits = intervals.of_answers(names, columns, probability, n_by)
            frame["low"], frame["high"], frame["n"] = limits

    @takes(AnswerSettings, AnswerOptions)
    def distribution(
        self,
        variables: str | Sequence[str],
        by: str | Sequence[str] = (),
        **settings: Unpack[AnswerSettings],
    ) -> pd.DataFrame:
        """Return the joint distribution of variables, also conditional on others.

        Parameters
        ----------
        variables
            Names.
        by
            Names of other variables: the probabilities are then conditional on each
            combination of their labels.
        **settings
            How intervals are made.

        Returns
        -------
        DataFrame
            One row per combination that some path has: a column for each variable, first those
            in ``by``, then ``probability``, ``low``, ``high`` and ``n`` as in `marginals`; the
            rows counted also agree with ``by``. Variables of these names are refused: use
            `marginals`.

        Raises
        ------
        QueryError
            A name is unknown, or named twice.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> ceg.distribution("Admission", by="Social").round(3)
          Social Admission  probability    low   high    n
        0   High        No        0.836  0.819  0.881  507
        1   High       Yes        0.164  0.119  0.181  507
        2    Low        No        0.774  0.710  0.796  383
        3    Low       Yes        0.226  0.204  0.290  383
        """
        import pandas as pd

        from cegdb.inference import queries

        conditioned = self._compiled()
        options = options_from(settings, AnswerSettings, AnswerOptions)
        before = queries.variable_names(conditioned, by)
        names, columns, probability = queries.conditional_distribution(
            conditioned,
            before,
            queries.variable_names(conditioned, variables),
            ("probability", *(() if options.interval is None else ("low", "high", "n"))),
        )
        frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
        self._add_probability(frame, options, names, columns, probability, len(before))
        return frame

    @takes(AnswerSettings, AnswerOptions)
    def most_probable_paths(
        self, k: int = QueryOptions.k, **settings: Unpack[AnswerSettings]
    ) -> pd.DataFrame:
        """Return the most probable paths.

        Parameters
        ----------
        k
            How many.
        **settings
            How intervals are made.

        Returns
        -------
        DataFrame
            The most probable first; equal ones in level order: ``rank`` from 1 on,
            ``variables`` and ``labels`` as lists, ``probability``, ``low``, ``high`` and ``n``
            as in `marginals`, ``path`` in words.

        Raises
        ------
        QueryError
            ``k`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> for path in ceg.most_probable_paths(2)["path"]:
        ...     print(path)
        Social = Low, Economic = Low, Events = High, Admission = No
        Social = High, Economic = Low, Events = Low, Admission = No
        """
        import pandas as pd

        from cegdb.inference import queries

        options = options_from(settings, AnswerSettings, AnswerOptions)
        given = self._compiled()
        paths = queries.most_probable(given, k)
        rows = [queries.path_answers(given, edges) for edges, _ in paths]
        frame = pd.DataFrame(rows, columns=["variables", "labels"])
        frame.insert(0, "rank", range(1, len(rows) + 1))
        probability = np.array([probability for _, probability in paths])
        frame["probability"] = probability
        if options.interval is not None:
            edges_of = [edges for edges, _ in paths]
            limits = self._intervals(options).of_paths(edges_of, probability)
            frame["low"], frame["high"], frame["n"] = limits
        # What pandas prints of a wide frame are its outer columns: the path in words is last.
        frame["path"] = [
            ", ".join(f"{v} = {x}" for v, x in zip(*row, strict=True)) for row in rows
        ]
        return frame

    def expected_cost(self, costs: Mapping[str, Mapping[object, float]]) -> float:
        """Return the expected total cost of the edges of a path.

        Parameters
        ----------
        costs
            Variable -> label -> cost, or position (``"w3"``) -> label -> cost where no
            variable has that name. Labels not named cost nothing.

        Returns
        -------
        float
            The mean of the sum of costs over paths, in the unit of the costs.

        Raises
        ------
        QueryError
            A name or label is unknown, or a cost is not a number.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> round(ceg.expected_cost({"Admission": {"Yes": 100}}), 2)
        19.07
        """
        from cegdb.inference import queries

        return queries.expected_cost(self._compiled(), costs)

    def sample(self, n: int, *, seed: int | None = None) -> pd.DataFrame:
        """Draw synthetic rows.

        Parameters
        ----------
        n
            How many.
        seed
            Seed of the random numbers: the same seed gives the same rows. Default: a random
            one, kept in ``frame.attrs["seed"]``.

        Returns
        -------
        DataFrame
            One column per variable, categorical in level order. Where the variable does not
            occur, it is blank (missing); or it has the label ``not applicable``, if that is an
            answer to it on some path, and is not what a blank means.

        Raises
        ------
        QueryError
            ``n`` or ``seed`` is not a whole number, or a position has several variables.

        Notes
        -----
        Each stage's probabilities are its posterior means, so a sample varies less than new
        respondents would: uncertainty about the probabilities is not included.

        `score`, `assign`, `Survey.append` and the others read these rows back as they are. To
        ingest them as a new survey, declare ``structural=["not applicable"]`` and
        ``missing=["missing"]`` where these labels occur.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> rows = ceg.given(Admission="Yes").sample(1000, seed=1)
        >>> rows["Social"].value_counts().to_dict()
        {'Low': 501, 'High': 499}
        """
        import pandas as pd

        from cegdb.inference.sampling import absences_of, checked_seed, sample

        seed = checked_seed(seed)
        origin = self._origin()
        absences = absences_of(origin._store, (origin.kind, origin.id))
        columns = {
            name: pd.Categorical.from_codes(code, pd.Index(labels))
            for name, code, labels in sample(self._compiled(), n, seed, absences)
        }
        frame = pd.DataFrame(columns, index=pd.RangeIndex(n))
        frame.attrs["seed"] = seed
        return frame

    @property
    def n_paths(self) -> int:
        """Number of root-to-sink paths."""
        from cegdb.inference import queries

        return queries.n_paths(self._compiled())

    @takes(RowSettings, RowOptions, ReadOptions)
    def complete(
        self,
        source: Source,
        variables: str | Sequence[str] | None = None,
        keep: Sequence[str] = (),
        *,
        into: str | None = None,
        file: str | os.PathLike[str] | None = None,
        replace: bool = False,
        **settings: Unpack[RowSettings],
    ) -> Completed:
        """Return for each row the distribution of the variables it leaves open.

        Parameters
        ----------
        source, keep, into, file, replace, **settings
            As for `ChainEventGraph.assign`; the second table or file ends in ``_labels``.
        variables
            Whose labels to return. Default: all that a row leaves open.

        Returns
        -------
        Completed
            ``labels``: ``row_number``; the columns kept; ``variable``, ``label`` (``not
            applicable`` where the question does not occur) and its ``probability`` given all
            answers of the row; rows of probability 0 have none. ``rows``: as of
            `ChainEventGraph.assign`, without paths. ``summary``, in words.

        Raises
        ------
        SurveyError, QueryError, NameTakenError
            As for `ChainEventGraph.assign`.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> new = ceg.complete("select 'Low' as Social, 'Yes' as Admission", "Economic")
        >>> new.labels.round(4)
           row_number  variable label  probability
        0           1  Economic  High       0.1211
        1           1  Economic   Low       0.8789
        """
        from cegdb.inference import row_answers as query_rows

        row_source = _row_source(source, settings, RowSettings, keep)
        origin = self._origin()
        store, model = origin._store, (origin.kind, origin.id)
        tables = query_rows.complete_rows(store, self._compiled(), model, row_source, variables)
        return Completed(*write_or_return(store, tables, "labels", into, file, replace=replace))

    @takes(WeightedRowSettings, RowOptions, ReadOptions)
    def score(
        self,
        source: Source,
        **settings: Unpack[WeightedRowSettings],
    ) -> LogScore:
        """Return the log score of rows, preferably ones it was not learnt from.

        Parameters
        ----------
        source
            As for `ChainEventGraph.assign`.
        **settings
            Those of `RowOptions` and `ReadOptions`.

        Returns
        -------
        LogScore
            ``n``, ``weight``, ``total``, ``mean`` per respondent (natural log; larger is
            better), ``n_impossible`` and ``mean_of_possible``.

        Raises
        ------
        SurveyError
            The source cannot be read.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> score = ceg.score("select 'Low' as Social, 'Yes' as Admission, 10 as n", count="n")
        >>> score.n, round(score.mean, 4)
        (10, -2.3301)
        """
        from cegdb.inference import row_scores

        row_source = _row_source(source, settings, WeightedRowSettings)
        origin = self._origin()
        store, model = origin._store, (origin.kind, origin.id)
        return row_scores.log_score(store, self._compiled(), model, row_source)

    @takes(WeightedRowSettings, RowOptions, ReadOptions)
    def classify(
        self,
        source: Source,
        variable: str,
        predictors: str | Sequence[str] | None = None,
        **settings: Unpack[WeightedRowSettings],
    ) -> Classification:
        """Measure how well a variable is predicted from the other answers of each row.

        Parameters
        ----------
        source, **settings
            As for `score`.
        variable
            To be predicted. Rows without an answer to it are left out and counted.
        predictors
            Variables to predict from. Default: all others.

        Returns
        -------
        Classification
            ``metrics``: ``n``, ``weight``, ``accuracy``, ``log_loss``, ``brier``, ``auc``
            (of two labels), ``n_unknown``, ``n_impossible``. ``confusion``: a row per label
            given, a column per label predicted.

        Raises
        ------
        QueryError
            A name is unknown, or no row can be used.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> rows = "from (values ('High', 'No'), ('Low', 'Yes')) as t(Social, Admission)"
        >>> metrics = ceg.classify(rows, "Admission").metrics
        >>> metrics.accuracy, round(metrics.log_loss, 4)
        (0.5, 0.8331)
        """
        import pandas as pd

        from cegdb.inference import row_scores

        predictions = self._predicted(source, variable, predictors, settings)
        metrics, table = row_scores.classification_metrics(predictions)
        used = [i for i in range(len(table)) if table[i].any() or table[:, i].any()]
        used = [
            i for i in range(len(table)) if i in used or predictions.probability[:, i].any()
        ]
        labels = [predictions.labels[i] for i in used]
        confusion = pd.DataFrame(
            table[used][:, used],
            index=pd.Index(labels, name="given"),
            columns=pd.Index(labels, name="predicted"),
        )
        return Classification(metrics, confusion)

    @takes(RowSettings, RowOptions, ReadOptions)
    def predict(
        self,
        source: Source,
        variable: str,
        predictors: str | Sequence[str] | None = None,
        *,
        probabilities: bool = False,
        **settings: Unpack[RowSettings],
    ) -> pd.Series[str] | pd.DataFrame:
        """Predict a variable for each row of a source from its other answers.

        Like ``predict()`` of stagedtrees.

        Parameters
        ----------
        source, **settings
            As for `ChainEventGraph.assign`. The row's own answer to the variable is not used.
        variable
            To be predicted.
        predictors
            Variables to predict from. Default: all others.
        probabilities
            Whether to return the probability of each label instead of the most probable one.

        Returns
        -------
        Series or DataFrame
            The most probable label of each row, in the order of the rows (if several tie, the
            first in level order), or a column for each label. Missing where the other answers
            of a row have probability 0.

        Raises
        ------
        QueryError
            A name is unknown.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> rows = "from (values ('High'), ('Low')) as t(Social)"
        >>> ceg.predict(rows, "Admission", probabilities=True).round(3)
              No    Yes
        0  0.836  0.164
        1  0.774  0.226
        """
        import pandas as pd

        from cegdb.inference import row_scores

        row_source = _row_source(source, settings, RowSettings)
        origin = self._origin()
        predictions = row_scores.predict_labels(
            origin._store,
            self._compiled(),
            (origin.kind, origin.id),
            row_source,
            variable,
            predictors,
        )
        if probabilities:
            return pd.DataFrame(predictions.probability, columns=predictions.labels)
        return pd.Series(predictions.best(), name=variable, dtype="str")

    @takes(WeightedRowSettings, RowOptions, ReadOptions)
    def calibration(
        self,
        source: Source,
        variable: str,
        predictors: str | Sequence[str] | None = None,
        *,
        bins: int | None = QueryOptions.bins,
        **settings: Unpack[WeightedRowSettings],
    ) -> pd.DataFrame:
        """Compare the predicted probability of each label with its observed share.

        Parameters
        ----------
        source, variable, predictors, **settings
            As for `classify`.
        bins
            Number of intervals of equal width, each with its upper end, into which predicted
            probabilities fall. None: one bin for each predicted probability.

        Returns
        -------
        DataFrame
            One row per label and bin with respondents: ``label``; bin ``low`` to ``high``;
            ``n`` respondents and their ``weight``; mean ``predicted`` probability;
            ``observed`` share that gave the label.

        Raises
        ------
        QueryError
            As `classify`, or ``bins`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> rows = "values ('High', 'No', 9), ('Low', 'Yes', 2)"
        >>> rows = f"from ({rows}) as t(Social, Admission, n)"
        >>> found = ceg.calibration(rows, "Admission", count="n").round(3)
        >>> found[["label", "low", "high", "n", "predicted", "observed"]]
          label  low  high  n  predicted  observed
        0    No  0.7   0.8  2      0.774       0.0
        1    No  0.8   0.9  9      0.836       1.0
        2   Yes  0.1   0.2  9      0.164       0.0
        3   Yes  0.2   0.3  2      0.226       1.0
        """
        import pandas as pd

        from cegdb.inference import row_scores

        predictions = self._predicted(source, variable, predictors, settings)
        names = ["label", "low", "high", "n", "weight", "predicted", "observed"]
        return pd.DataFrame(row_scores.calibration_bins(predictions, bins), columns=names)

    def _predicted(
        self,
        source: Source,
        variable: str,
        predictors: str | Sequence[str] | None,
        settings: WeightedRowSettings,
    ) -> row_scores.Predictions:
        from cegdb.inference import row_scores

        row_source = _row_source(source, settings, WeightedRowSettings)
        origin = self._origin()
        store, model = origin._store, (origin.kind, origin.id)
        return row_scores.predict(
            store, self._compiled(), model, row_source, variable, predictors
        )


class StoredModel(GraphObject, Queryable[Conditional]):
    """A stored staged tree or CEG, whose arrays are kept until it is rebuilt."""

    def __init__(self, store: Store, object_id: int) -> None:
        super().__init__(store, object_id)
        self._kept: tuple[object, ConditionedModel] | None = None
        self._kept_tree: tuple[ConditionedModel, CountedTree] | None = None

    @takes(RowSettings, RowOptions, ReadOptions)
    def assign(
        self,
        source: Source,
        keep: Sequence[str] = (),
        *,
        into: str | None = None,
        file: str | os.PathLike[str] | None = None,
        replace: bool = False,
        **settings: Unpack[RowSettings],
    ) -> Assigned:
        """Assign each row of a source its situation, stage and position at each depth.

        Parameters
        ----------
        source
            A file, several, a DataFrame, an Arrow table or a SELECT, as for
            `Database.ingest`: the survey itself, or new rows. Columns are matched to
            variables by name; cells are read as the survey's were, by its codes or labels.
            A variable without a column counts as not answered; other columns are ignored.
        keep
            Columns to keep, such as an id.
        into
            Write tables of the database instead of DataFrames: ``"mart.people"`` gets the
            rows, ``"mart.people_paths"`` their paths.
        file
            Write files instead: ``people.parquet`` and ``people_paths.parquet`` (or .csv,
            .json).
        replace
            Replace tables or files of that name.
        **settings
            Those of `RowOptions` and `ReadOptions`.

        Returns
        -------
        Assigned
            ``rows``, one per row of the source: ``row_number`` from 1; the columns kept;
            ``n_answered`` variables; ``log_likelihood``, the natural log of the probability
            of all its answers (low: unusual; -inf: no path has them); ``last_situation``
            and ``last_position`` it is known to reach; ``completion``, the most probable
            answers to what it leaves open, in words (missing if nothing is left), with
            ``completion_probability`` given its answers; ``unseen``, the first answer that
            the CEG does not know. ``paths``, one per row of the source and depth, down to the
            first question not answered: ``row_number``; the columns kept; ``depth``;
            ``variable`` asked there and ``label`` given (missing at the end); ``situation``,
            ``stage`` and ``position`` as the views call them; ``vertex_id``, ``stage_id``,
            ``position_id``. ``summary``, in words. In tables and files the row order is
            unspecified.

        Raises
        ------
        SurveyError
            The source cannot be read, or has no variable of the tree.
        QueryError
            A setting is not one of its choices, or a kept column has the name of a result.
        NameTakenError
            The table or file exists, and ``replace`` is false.

        Notes
        -----
        An answer to a question that is on no path with the others is a contradiction:
        ``log_likelihood`` is -inf. The paths end before it.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> new = ceg.assign("select 7 as person, 'Low' as Social", keep=["person"])
        >>> new.paths[["person", "depth", "variable", "label", "situation", "position"]]
           person  depth  variable label situation position
        0       7      0    Social   Low        s0       w0
        1       7      1  Economic   NaN        s2       w2
        >>> new.rows["completion"].item()
        'Economic = Low, Events = High, Admission = No'
        """
        from cegdb.inference import row_answers as query_rows

        row_source = _row_source(source, settings, RowSettings, keep)
        origin = self._origin()
        store, model = origin._store, (origin.kind, origin.id)
        tables = query_rows.assign_rows(store, self._compiled(), model, row_source)
        return Assigned(*write_or_return(store, tables, "paths", into, file, replace=replace))

    @abstractmethod
    def _compile(self) -> CompiledModel:
        """Return it as arrays."""

    def _origin(self) -> StoredObject:
        return self

    def _compiled(self) -> ConditionedModel:
        from cegdb.inference.queries import condition

        created_at = self._row()["created_at"]
        if self._kept is None or self._kept[0] != created_at:
            self._kept = (created_at, condition(self._compile(), All(())))
        return self._kept[1]

    def _counted_tree(self) -> CountedTree:
        from cegdb.inference.counted_tree import counted_tree

        model = self._compiled()
        if self._kept_tree is None or self._kept_tree[0] is not model:
            of_what = {"ceg_id" if self.kind == "ceg" else "staging_id": self.id}
            self._kept_tree = (model, counted_tree(self._store, model.ceg, **of_what))
        return self._kept_tree[1]


def _row_source(
    source: Source, settings: RowSettings, keywords: type, keep: Sequence[str] = ()
) -> RowSource:
    from cegdb.inference.row_answers import RowSource

    options, reading = options_from(settings, keywords, RowOptions, ReadOptions)
    return RowSource(source, keep, options.count, options.weight, options.blank, reading)
