"""Rows of files and tables, answered by a CEG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from cegdb.api.results import Assigned, Classification, Completed, delivered
from cegdb.errors import QueryError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Unpack

    import pandas as pd

    from cegdb.api.chain_event_graph import ChainEventGraph
    from cegdb.inference import row_scores
    from cegdb.inference.queries import Conditioned
    from cegdb.inference.row_scores import LogScore
    from cegdb.ingest import Source
    from cegdb.ingest.csv.csv_file import Reading

    Blank = Literal["tree", "unknown"]


class ReadAs(TypedDict, total=False):
    """How a file is written, as far as it is told; as for `Database.ingest`."""

    encoding: str | None
    delimiter: str | None
    quote: str | None
    escape: str | None
    bad_rows: Literal["error", "skip"]
    sheet: str | int | None


class Answering:
    """What a CEG, and a CEG given evidence, tells of rows."""

    def _graph(self) -> ChainEventGraph:
        """Return the CEG that it is or comes from."""
        raise NotImplementedError

    def _conditioned(self) -> Conditioned:
        raise NotImplementedError

    def assign(
        self,
        source: Source,
        keep: Sequence[str] = (),
        *,
        blank: Blank = "tree",
        into: str | None = None,
        file: str | os.PathLike[str] | None = None,
        replace: bool = False,
        **read_as: Unpack[ReadAs],
    ) -> Assigned:
        """Give each row of a source its situation, stage and position at each depth.

        Parameters
        ----------
        source
            A file, several, a DataFrame, an Arrow table or a SELECT, as for
            `Database.ingest`: the survey itself, or new rows. Columns are matched to
            variables by name; cells are read as the survey's were, by its codes or labels.
            A variable without a column counts as not answered; other columns are ignored.
        keep
            Columns to keep, such as an id.
        blank
            What a blank cell means: what it means in the tree (``"tree"``: not answered,
            unless the tree has ``blank="structural"`` or ``missing_policy="category"``), or
            not answered in any case (``"unknown"``).
        into
            Write tables of the database instead of DataFrames: ``"mart.people"`` gets the
            rows, ``"mart.people_places"`` their places.
        file
            Write files instead: ``people.parquet`` and ``people_places.parquet`` (or .csv,
            .json).
        replace
            Replace tables or files of that name.
        **read_as
            ``encoding``, ``delimiter``, ... of a file, as for `Database.ingest`.

        Returns
        -------
        Assigned
            ``rows``, one a row of the source: ``row_number`` from 1; the columns kept;
            ``n_answered`` variables; ``log_likelihood``, the natural log of the probability
            of all its answers (low: unusual; -inf: no path has them); ``last_situation``
            and ``last_position`` it is known to reach; ``completion``, the most probable
            answers to what it leaves open, in words (missing if nothing is left), with
            ``completion_probability`` given its answers; ``unseen``, the first answer that
            the CEG does not know. ``places``, one a row and depth down to the first question
            not answered: ``row_number``; the columns kept; ``depth``; ``variable`` asked
            there and ``label`` given (missing at the end); ``situation``, ``stage`` and
            ``position`` as the views call them; ``vertex_id``, ``stage_id``,
            ``position_id``. ``summary``, in words. Tables and files are in no order.

        Raises
        ------
        SurveyError
            The source cannot be read, or none of its columns is a variable of the tree.
        QueryError
            A setting has no such choice, or a name is taken by a column of the result.
        NameTakenError
            There is such a table or file and ``replace`` is false.

        Notes
        -----
        An answer to a question that is on no path with the others is a contradiction:
        ``log_likelihood`` is -inf. The places end before it.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     new = ceg.assign("select 7 as person, 1 as x", keep=["person"])
        ...     new.places[["person", "depth", "variable", "label", "situation", "position"]]
        ...     print(new.rows.completion[0], round(new.rows.completion_probability[0], 4))
           person  depth variable label situation position
        0       7      0        x     1        s0       w0
        1       7      1        y   NaN        s2       w2
        y = False 0.7439
        """
        from cegdb.inference import row_answers as query_rows

        asked = query_rows.Asked(source, keep, blank=blank, reading=_reading(read_as))
        store, ceg_id = self._graph()._store, self._graph().id
        found = query_rows.assigned(store, self._conditioned(), ceg_id, asked)
        return Assigned(*delivered(store, found, "places", into, file, replace=replace))

    def complete(
        self,
        source: Source,
        variables: str | Sequence[str] | None = None,
        keep: Sequence[str] = (),
        *,
        blank: Blank = "tree",
        into: str | None = None,
        file: str | os.PathLike[str] | None = None,
        replace: bool = False,
        **read_as: Unpack[ReadAs],
    ) -> Completed:
        """Give each row of a source the distribution of what it leaves open.

        Parameters
        ----------
        source, keep, blank, into, file, replace, **read_as
            As for `assign`; the second table or file ends in ``_labels``.
        variables
            Whose labels to tell; left out, all that a row leaves open.

        Returns
        -------
        Completed
            ``labels``: ``row_number``; the columns kept; ``variable``, ``label`` (``not
            applicable`` where the question does not occur) and its ``probability`` given all
            answers of the row; rows of probability 0 have none. ``rows``: as of `assign`,
            without places. ``summary``, in words.

        Raises
        ------
        SurveyError, QueryError, NameTakenError
            As `assign`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.complete("select true as y").labels.round(4)
           row_number variable label  probability
        0           1        x     0       0.6613
        1           1        x     1       0.3387
        """
        from cegdb.inference import row_answers as query_rows

        asked = query_rows.Asked(source, keep, blank=blank, reading=_reading(read_as))
        store, ceg_id = self._graph()._store, self._graph().id
        found = query_rows.completed(store, self._conditioned(), ceg_id, asked, variables)
        return Completed(*delivered(store, found, "labels", into, file, replace=replace))

    def score(
        self,
        source: Source,
        *,
        count: str | None = None,
        weight: str | None = None,
        blank: Blank = "tree",
        **read_as: Unpack[ReadAs],
    ) -> LogScore:
        """Return the log score of rows, best of rows the CEG was not learnt from.

        Parameters
        ----------
        source, blank, **read_as
            As for `assign`.
        count, weight
            Columns that say how many respondents, and what weight, each row stands for.

        Returns
        -------
        LogScore
            ``n``, ``weight``, ``total``, ``mean`` a respondent (natural log; larger is
            better), ``n_impossible`` and ``mean_of_possible``.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     score = ceg.score("select 1 as x, false as y, 10 as n", count="n")
        ...     score.n, round(score.mean, 4)
        (10, -0.989)
        """
        from cegdb.inference import row_answers as query_rows
        from cegdb.inference import row_scores

        asked = query_rows.Asked(source, (), count, weight, blank, _reading(read_as))
        store, ceg_id = self._graph()._store, self._graph().id
        return row_scores.log_score(store, self._conditioned(), ceg_id, asked)

    def classify(
        self,
        source: Source,
        variable: str,
        given: str | Sequence[str] | None = None,
        *,
        count: str | None = None,
        weight: str | None = None,
        blank: Blank = "tree",
        **read_as: Unpack[ReadAs],
    ) -> Classification:
        """Judge how well a variable is predicted from the other answers of each row.

        Parameters
        ----------
        source, count, weight, blank, **read_as
            As for `score`.
        variable
            To be predicted. Rows that do not tell it are left out and counted.
        given
            From which others; left out, from all.

        Returns
        -------
        Classification
            ``metrics``: ``n``, ``weight``, ``accuracy``, ``log_loss``, ``brier``, ``auc``
            (of two labels), ``n_unknown``, ``n_impossible``. ``confusion``: a row a label
            given, a column one predicted.

        Raises
        ------
        QueryError
            A name is unknown, or no row can be judged.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     judged = ceg.classify("from (values (1, false), (0, true)) as t(x, y)", "y")
        ...     judged.metrics.accuracy, round(judged.metrics.log_loss, 4)
        (0.5, 0.4945)
        """
        import pandas as pd

        from cegdb.inference import row_scores

        found = self._predicted(source, variable, given, count, weight, blank, read_as)
        metrics, table = row_scores.classified(found)
        used = [i for i in range(len(table)) if table[i].any() or table[:, i].any()]
        used = [i for i in range(len(table)) if i in used or found.probability[:, i].any()]
        labels = [found.labels[i] for i in used]
        confusion = pd.DataFrame(
            table[used][:, used],
            index=pd.Index(labels, name="given"),
            columns=pd.Index(labels, name="predicted"),
        )
        return Classification(metrics, confusion)

    def calibration(
        self,
        source: Source,
        variable: str,
        given: str | Sequence[str] | None = None,
        *,
        bins: int | None = 10,
        count: str | None = None,
        weight: str | None = None,
        blank: Blank = "tree",
        **read_as: Unpack[ReadAs],
    ) -> pd.DataFrame:
        """Compare the probabilities predicted of each label with how often it was given.

        Parameters
        ----------
        source, variable, given, count, weight, blank, **read_as
            As for `classify`.
        bins
            How many intervals of probability of equal width, closed above; None: each
            probability that is predicted by itself.

        Returns
        -------
        DataFrame
            One row a label and bin with respondents: ``label``; bin ``low`` to ``high``;
            ``n`` respondents and their ``weight``; mean ``predicted`` probability;
            ``observed`` share that gave the label.

        Raises
        ------
        QueryError
            As `classify`, or ``bins`` is no whole number from 1 on.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as x, i % 8 < 3 as y from range(80) t(i)"
        ...     ceg = db.ingest(rows).event_tree().learn_stages().to_ceg()
        ...     found = ceg.calibration(rows, "y", bins=4).round(3)
        ...     found[found.label == "True"][["low", "high", "n", "predicted", "observed"]]
            low  high   n  predicted  observed
        2  0.25   0.5  80      0.378     0.375
        """
        import pandas as pd

        from cegdb.inference import row_scores

        found = self._predicted(source, variable, given, count, weight, blank, read_as)
        names = ["label", "low", "high", "n", "weight", "predicted", "observed"]
        return pd.DataFrame(row_scores.calibrated(found, bins), columns=names)

    def _predicted(
        self,
        source: Source,
        variable: str,
        given: str | Sequence[str] | None,
        count: str | None,
        weight: str | None,
        blank: Blank,
        read_as: ReadAs,
    ) -> row_scores.Predicted:
        from cegdb.inference import row_answers as query_rows
        from cegdb.inference import row_scores

        asked = query_rows.Asked(source, (), count, weight, blank, _reading(read_as))
        store, ceg_id = self._graph()._store, self._graph().id
        return row_scores.predictions(
            store, self._conditioned(), ceg_id, asked, variable, given
        )


def _reading(read_as: ReadAs) -> Reading | None:
    from cegdb.ingest.csv.csv_file import Reading

    unknown = sorted(set(read_as) - set(ReadAs.__annotations__))
    if unknown:
        raise QueryError(
            f"there is no setting {unknown[0]!r}",
            hint=f"of a file there are {', '.join(ReadAs.__annotations__)}",
        )
    return Reading(**read_as) if read_as else None
