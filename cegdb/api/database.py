"""An open database and the collections of its objects."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from cegdb import report, views
from cegdb.api.base import Displayed, StoredObject, text_or_reason
from cegdb.api.chain_event_graph import ChainEventGraph
from cegdb.api.event_tree import EventTree
from cegdb.api.reports import DatabaseReport
from cegdb.api.settings import options_from, takes
from cegdb.api.staged_tree import StagedTree
from cegdb.api.survey import Survey
from cegdb.errors import CegdbError, NetworkError, StagingError, SurveyError, counted
from cegdb.findings import findings_by_name
from cegdb.ingest import ingest
from cegdb.names import available, find_name
from cegdb.options import (
    IngestOptions,
    IngestSettings,
    ReadOptions,
    RebuildOptions,
    SourceSettings,
    check_choice,
)
from cegdb.store.catalog import KIND_WORDS, KINDS, all_ids, all_names, all_rows, drop, find

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self, Unpack

    import pandas as pd

    from cegdb.demo import DemoName
    from cegdb.ingest import Source
    from cegdb.ingest.codebook.draft import Form
    from cegdb.networks import NetworkSource
    from cegdb.options import Kind, RebuildRule
    from cegdb.store import Store
    from cegdb.store.progress import Progress

_Object = TypeVar("_Object", bound=StoredObject)


class Collection(Displayed, Generic[_Object]):
    """The objects of one kind: ``db.cegs["falls"]``, ``for ceg in db.cegs``.

    Examples
    --------
    >>> import cegdb
    >>> db = cegdb.open()
    >>> ceg = db.demo("chds")
    >>> db.cegs["chds"] == ceg, len(db.cegs), "falls" in db.cegs
    (True, 1, False)
    """

    def __init__(self, store: Store, of: type[_Object]) -> None:
        self._store = store
        self._of = of

    def names(self) -> list[str]:
        """Return their names, in the order they were made.

        Returns
        -------
        list of str
            The names, the oldest object first.

        Examples
        --------
        >>> import cegdb
        >>> db = cegdb.open()
        >>> _ = db.demo("chds"), db.demo("falls")
        >>> db.surveys.names()
        ['chds', 'falls']
        """
        with self._store.catalog() as catalog:
            return all_names(catalog, self._of.kind)

    def summaries(self) -> dict[str, str]:
        """Return their summaries by name, in that order; read at once, however many.

        Returns
        -------
        dict
            Name -> summary, as the ``summary`` of each object.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     _ = db.ingest("select 1 as x from range(30)", name="one").event_tree()
        ...     db.trees.summaries()
        {'one': "event tree 'one': 2 vertices, 1 situation, 1 leaf, height 1; 30 respondents"}
        """
        with self._store.catalog() as catalog:
            rows = all_rows(catalog, self._of.kind)
            found = findings_by_name(catalog, self._of.kind)
        return {
            row["name"]: report.summary(self._of.kind, row, found.get(row["name"], ()))
            for row in rows
        }

    def __getitem__(self, name: str) -> _Object:
        """Return the object of that name, or raise UnknownNameError."""
        with self._store.catalog() as catalog:
            return self._of(self._store, find(catalog, self._of.kind, name))

    def __iter__(self) -> Iterator[_Object]:
        """Iterate over the objects."""
        with self._store.catalog() as catalog:
            ids = all_ids(catalog, self._of.kind)
        return iter([self._of(self._store, object_id) for object_id in ids])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        """Return whether there is one of that name."""
        return isinstance(name, str) and find_name(name, self.names()) is not None

    def __repr__(self) -> str:
        """Return the kind and the names."""
        return text_or_reason(self, self._kind_and_names)

    def _kind_and_names(self) -> str:
        names = ", ".join(map(repr, self.names()))
        return f"{KIND_WORDS[self._of.kind]}s: {names or 'none'}"


class Database(Displayed):
    """An open database: surveys, trees, stagings and CEGs side by side.

    Use it in a ``with`` block, or call ``close``: the file is locked until then.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     ceg = db.demo("falls")
    ...     print(db)
    cegdb in memory: 1 survey, 1 event tree, 1 staging, 1 CEG
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def path(self) -> Path | None:
        """The file; None in memory."""
        return self._store.path

    @property
    def report(self) -> DatabaseReport:
        """Reports of several objects: ``db.report.comparison(...)``."""
        return DatabaseReport(self)

    def demo(self, survey: DemoName = "chds", *, replace: bool = False) -> ChainEventGraph:
        """Make the CEG of a public survey, to try things out.

        Parameters
        ----------
        survey
            ``"chds"``: 890 children of the Christchurch Health and Development Study.
            ``"titanic"``: the 2,201 people aboard the Titanic. ``"falls"``: 50,000 residents in
            a simulated study of falls.
        replace
            Replace a survey of that name, with everything built on it.

        Returns
        -------
        ChainEventGraph
            Its survey, event tree and staging have the same name.

        Raises
        ------
        SurveyError
            There is no such survey.
        NameTakenError
            There is a survey of that name, and ``replace`` is false.

        Examples
        --------
        >>> import cegdb
        >>> cegdb.open().demo("falls")
        CEG 'falls': 11 vertices (including the sink), 23 edges; 4 steps, height 4
        """
        from cegdb.demo import DEMOS

        check_choice("survey", survey, DEMOS, SurveyError)
        data = DEMOS[survey]
        with self.transaction():
            source = self.ingest(data.select(), name=survey, count="people", replace=replace)
            tree = source.event_tree(impossible=data.impossible)
            return tree.learn_stages().to_ceg()

    @takes(IngestSettings, IngestOptions, ReadOptions)
    def ingest(
        self,
        source: Source,
        name: str | None = None,
        *,
        replace: bool = False,
        **settings: Unpack[IngestSettings],
    ) -> Survey:
        """Read a survey, code its cells and store its distinct rows.

        Parameters
        ----------
        source
            A file: CSV (any delimiter; also .gz, .zst), Parquet, a workbook, SPSS, Stata or
            SAS; several CSV or Parquet files as a list or a pattern such as ``waves/*.csv``,
            matched by column name; a file-like object, such as an open or an uploaded file,
            which is read from where it stands; ``"-"`` for standard input; a pandas or polars
            DataFrame; an Arrow table; or a SELECT that runs in this database.
        name
            Name to store it under. Default: the name of the file, with a number if it is taken.
        **settings
            Those of `IngestOptions` and `ReadOptions`.
        replace
            Replace a survey of that name, with everything built on it.

        Returns
        -------
        Survey
            Its ``receipt`` says what was read, kept and dropped.

        Raises
        ------
        SurveyError
            The source or a setting cannot be used; the message says why.
        NameTakenError
            There is a survey of that name, and ``replace`` is false.

        Notes
        -----
        ``structural`` and ``missing`` are a list of labels for all variables, or a mapping
        variable -> list. ``levels`` maps a variable to its labels. ``bins`` maps a variable to
        cut points, such as ``[18, 35, 65]`` or ``"18,35,65"``, or to quantiles, such as
        ``"q4"``. ``codebook`` is a file, or a mapping with its content.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     db.ingest("select 'yes' as a union all select 'no'", name="two")
        survey 'two' from select 'yes' as a union all select 'no': 2 rows read, 2 kept; 2 respondents, 2 distinct rows
        """  # noqa: E501
        options, reading = options_from(settings, IngestSettings, IngestOptions, ReadOptions)
        survey_id = ingest(self._store, source, options, reading, name=name, replace=replace)
        return Survey(self._store, survey_id)

    @takes(SourceSettings, ReadOptions)
    def codebook(
        self,
        source: Source,
        *,
        columns: Sequence[str] | None = None,
        form: Form = "yaml",
        **settings: Unpack[SourceSettings],
    ) -> str:
        """Return a draft of a codebook of a source, to be edited; nothing is stored.

        Parameters
        ----------
        source
            As for `ingest`.
        columns
            Those to describe. Default: all.
        form
            ``"yaml"``, or ``"csv"`` for a spreadsheet.
        **settings
            Those of `ReadOptions`.

        Returns
        -------
        str
            The levels of each variable with their rows, what the file says of its codes,
            and remarks on what looks wrong: codes and labels that may be no answer,
            labels that differ in blanks or case only, columns that look like a count, a
            weight, an id, a date or a number to be cut. `ingest` takes it as it is.

        Raises
        ------
        SurveyError
            The source cannot be read, or none of its columns can be a variable.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     draft = db.codebook("select unnest(['yes', 'no', 'yes']) as vote")
        >>> print(draft[draft.index("variables:"):], end="")
        variables:
          "vote":
            values:
              "no": "no"  # 1 row
              "yes": "yes"  # 2 rows
        """
        from cegdb.ingest.codebook.draft import draft_codebook

        reading = options_from(settings, SourceSettings, ReadOptions)
        return draft_codebook(self._store, source, columns=columns, reading=reading, form=form)

    @property
    def surveys(self) -> Collection[Survey]:
        """The surveys, by name."""
        return Collection(self._store, Survey)

    @property
    def trees(self) -> Collection[EventTree]:
        """The event trees, by name."""
        return Collection(self._store, EventTree)

    @property
    def stagings(self) -> Collection[StagedTree]:
        """The staged trees, by name."""
        return Collection(self._store, StagedTree)

    @property
    def cegs(self) -> Collection[ChainEventGraph]:
        """The CEGs, by name."""
        return Collection(self._store, ChainEventGraph)

    @property
    def progress(self) -> Progress:
        """Progress of the running work, or of the last one; read it from another thread."""
        return self._store.progress

    @property
    def is_changed(self) -> bool:
        """Whether anything was stored or dropped since it was opened."""
        return self._store.is_changed

    def staged_tree(
        self,
        network: NetworkSource,
        name: str | None = None,
        *,
        order: Sequence[str] | None = None,
        alpha: float | None = None,
        replace: bool = False,
    ) -> StagedTree:
        """Make the staged tree of a Bayesian network with its tables.

        Parameters
        ----------
        network
            A pgmpy model, a path to a ``.bif`` file, or a networkx.DiGraph as
            `StagedTree.to_bayesian_network` returns it.
        name
            Name of the survey (variables and labels, no rows), the tree and the staging.
            Default: the network's, with a number if it is taken.
        order
            Variables from the root, parents first. Default: as declared where possible.
        alpha
            How many rows the tables are worth if rows are added later. Default: the largest
            number of labels of a variable.
        replace
            Replace a survey, tree and staging of that name, with everything built on them.

        Returns
        -------
        StagedTree
            Its probabilities are those of the tables; its survey has no rows.

        Raises
        ------
        NetworkError
            The network cannot be read, lacks probabilities, is too large, or the order does
            not fit it.

        Examples
        --------
        >>> import cegdb, networkx as nx
        >>> coin = nx.DiGraph()
        >>> rows = [{"given": {}, "probability": {"heads": 0.25, "tails": 0.75}}]
        >>> coin.add_node("toss", levels=["heads", "tails"], probability=rows)
        >>> with cegdb.open() as db:
        ...     db.staged_tree(coin, "coin").stage_edges[["label", "probability"]]
           label  probability
        0  heads         0.25
        1  tails         0.75
        """
        from cegdb import networks

        if isinstance(network, str) and not networks.is_bif(network):
            names = self.stagings.names()
            hint = "give a .bif file or a network; a staging is found by db.stagings[name]"
            raise NetworkError(
                f"{network!r} is not a .bif file", hint=f"{hint}, {available(names)}"
            )
        staging_id = networks.staged_tree(
            self._store, network, name=name, order=order, alpha=alpha, replace=replace
        )
        return StagedTree(self._store, staging_id)

    def sql(
        self, sql: str, params: Mapping[str, object] | Sequence[object] | None = None
    ) -> pd.DataFrame:
        """Run your own SQL and return its rows; each thread has its own connection.

        Parameters
        ----------
        sql
            SQL of DuckDB, which sees the views and tables of `cegdb` and your own.
        params
            Values of ``$name`` (a mapping) or ``?`` (a sequence) in it.

        Returns
        -------
        DataFrame
            The columns that the SQL selects.

        Raises
        ------
        QueryError
            The SQL fails.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     db.sql("select $x + 1 as y", {"x": 1})["y"].item()
        2
        """
        return views.run_sql(self._store, sql, params).df()

    def rows(
        self, sql: str, params: Mapping[str, object] | None = None
    ) -> tuple[list[str], list[tuple[object, ...]]]:
        """Run your own SQL and return column names and rows, without pandas.

        Parameters
        ----------
        sql
            As for `sql`.
        params
            Values of ``$name`` in it.

        Returns
        -------
        tuple
            The names of the columns, and the rows as tuples.

        Raises
        ------
        QueryError
            The SQL fails.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     db.rows("select $x + 1 as y", {"x": 1})
        (['y'], [(2,)])
        """
        result = views.run_sql(self._store, sql, params)
        return [column[0] for column in result.description or []], result.fetchall()

    def write(self, frame: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
        r"""Write the rows of a DataFrame to a file, whole or not at all: .csv, .parquet, .json.

        Parameters
        ----------
        frame
            The rows, in their order; the index is left out.
        path
            Ends in ``.csv``, ``.parquet`` or ``.json``. A file there is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            The suffix is not one of these, or the file cannot be written.

        Examples
        --------
        >>> import cegdb, pandas, tempfile
        >>> with cegdb.open() as db, tempfile.TemporaryDirectory() as folder:
        ...     db.write(pandas.DataFrame({"x": ["a"]}), f"{folder}/rows.csv").read_text()
        'x\na\n'
        """
        from cegdb import export

        return export.write_frame(self._store, frame, path)

    def kind_of(self, table: str) -> Kind:
        """Return whose rows a table or view has: survey, tree, staging or ceg.

        Parameters
        ----------
        table
            Name of a table or view that `export` can write.

        Returns
        -------
        str
            ``"survey"``, ``"tree"``, ``"staging"`` or ``"ceg"``.

        Raises
        ------
        QueryError
            No object has such a table; the hint names similar ones.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     db.kind_of("stage_table")
        'staging'
        """
        from cegdb import export

        return export.kind_of(self._store, table)

    def drop(self, kind: Kind, name: str) -> None:
        """Drop a survey, tree, staging or ceg, with everything built on it.

        Parameters
        ----------
        kind
            ``"survey"``, ``"tree"``, ``"staging"`` or ``"ceg"``.
        name
            Name of the object.

        Raises
        ------
        UnknownNameError
            There is none of that name.

        Examples
        --------
        >>> import cegdb
        >>> db = cegdb.open()
        >>> ceg = db.demo("chds")
        >>> db.drop("staging", "chds")
        >>> print(db)
        cegdb in memory: 1 survey, 1 event tree, 0 stagings, 0 CEGs
        """
        with self._store.writing() as (_, catalog):
            drop(catalog, kind, find(catalog, kind, name))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make several objects or none: after any error in the block nothing is kept.

        Yields
        ------
        None
            The block runs; objects made in it can be used at once.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db, db.transaction():
        ...     db.ingest("select 1 as x", name="one").event_tree().name
        'one'
        """
        with self._store.writing():
            yield

    def rebuild(
        self, survey: str | None = None, *, stages: RebuildRule = RebuildOptions.stages
    ) -> list[EventTree | StagedTree | ChainEventGraph]:
        """Rebuild stale trees, stagings and CEGs from the rows their surveys have now.

        Parameters
        ----------
        survey
            Name of the survey whose trees are rebuilt. Default: all stale ones.
        stages
            ``"keep"``: situations stay in their stage, and probabilities are estimated again;
            ``"relearn"``: learnt stages are learnt again.

        Returns
        -------
        list
            The objects rebuilt, each tree before its stagings, and these before their CEGs; ids
            and names stay. `StagedTree.drift` shows how each stage changed.

        Raises
        ------
        StaleError
            An object cannot be rebuilt; nothing is changed then.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i < 5 as x from range(8) t(i)", name="s")
        ...     staged = survey.event_tree().learn_stages()
        ...     _ = survey.refresh("select i < 2 as x from range(8) t(i)")
        ...     _ = db.rebuild()
        ...     staged.drift[["stage", "label", "probability_before", "probability_after"]]
          stage  label  probability_before  probability_after
        0    u0  False            0.388889           0.722222
        """
        from cegdb.rebuild import rebuild

        of_kind: dict[str, type[EventTree | StagedTree | ChainEventGraph]] = {
            of.kind: of for of in (EventTree, StagedTree, ChainEventGraph)
        }
        rebuilt = rebuild(self._store, survey, stages=stages)
        return [of_kind[one.kind](self._store, one.object_id) for one in rebuilt]

    def compare(self, *stagings: str | StagedTree) -> pd.DataFrame:
        """Return stagings side by side, with their scores.

        Parameters
        ----------
        *stagings
            Names or objects; the others are compared with the first. Default: all of the
            database, each compared with the best of those it can be compared with.

        Returns
        -------
        DataFrame
            One row per staging, in the order given. Default: by ``comparable_group`` and the
            best first. Columns:

            - ``staging``, ``tree``: their names;
            - ``method`` (given, or how it was learnt) and ``score``, what learning
              optimised (missing where stages were given);
            - ``alpha``, the prior mass;
            - ``n_stages``, of all kinds;
            - ``df``, free parameters: labels less one, over the stages that have answers;
            - ``log_likelihood`` at the shares of each stage, and
              ``log_marginal_likelihood``: larger is better, natural logarithms;
            - ``aic``, ``bic``: smaller is better; they do not depend on the prior;
            - ``log_bayes_factor``: the log marginal likelihood less that of the first
              staging named (or, none named, of the best with the same ``comparable_group``); 0
              for that one, above 0 where the rows support this staging more; missing where
              the two cannot be compared. ``exp`` of it is the Bayes factor;
            - ``comparable_group``: log marginal likelihoods may be compared between stagings of
              one number, which stand on the same rows and tree with the same prior,
              weighting, design effect and smoothing. The numbers count within the
              database and change with what is in it;
            - ``is_best``: of those shown with the same ``comparable_group``, it has the largest
              log marginal likelihood (ties to 1e-9 are all best);
            - ``is_stale``: its survey has changed;
            - ``staging_id``.

        Raises
        ------
        UnknownNameError
            There is no staging of that name.
        StagingError
            One is neither a name nor a staging of this database.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     tree = survey.event_tree()
        ...     joined = tree.set_stages({("0",): "p", ("1",): "p"}, name="joined")
        ...     apart = tree.set_stages({}, name="apart")
        ...     db.compare("joined", apart)[["staging", "df", "log_bayes_factor", "is_best"]]
          staging  df  log_bayes_factor  is_best
        0  joined   2          0.000000    False
        1   apart   3          0.971487     True
        """
        from cegdb import compare

        ids = [self._staging_id(staging) for staging in stagings]
        return compare.compare(self._store, ids or None)

    def _staging_id(self, staging: object) -> int:
        if isinstance(staging, str):
            return self.stagings[staging].id
        if not isinstance(staging, StagedTree) or staging._store is not self._store:
            raise StagingError(
                f"{staging!r} is not a staging of this database",
                hint="give names of stagings one by one, as in compare('a', 'b'), or objects "
                "such as db.stagings['a']",
            )
        return staging.id

    def findings(self) -> pd.DataFrame:
        """Return what to know before the numbers of each object, each finding once.

        Returns
        -------
        pandas.DataFrame
            As by the ``findings`` of an object, the most consequential first, with ``kind``
            and ``name`` of the object that it was found in.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     _ = db.ingest("select i % 2 as x, 'NA' as y from range(90) t(i)", "s")
        ...     db.findings()[["kind", "name", "finding", "sentence"]].values.tolist()
        [['survey', 's', 'labels', "'y' has the answer 'NA' (90 rows), kept as a label"]]
        """
        with self._store.reading() as con:
            return con.execute(
                "select * exclude (place, from_kind, from_name) from cegdb.findings "
                "where kind = from_kind and name = from_name "
                "order by consequence, kind, name, place"
            ).df()

    def check(self) -> list[dict[str, object]]:
        """Return every row that violates an invariant; an empty list is good.

        Returns
        -------
        list of dict
            Each violation has ``invariant`` (what should hold), ``kind`` and ``name`` of the
            object (None if it is gone), ``row_id`` (None if the whole object is meant) and
            ``detail``.

        Examples
        --------
        >>> import cegdb
        >>> db = cegdb.open()
        >>> ceg = db.demo("chds")
        >>> db.check()
        []
        """
        return report.check(self._store)

    def close(self) -> None:
        """Release the file; a second call does nothing.

        Examples
        --------
        >>> import cegdb
        >>> db = cegdb.open()
        >>> db.close()
        """
        self._store.close()

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """Return where it is and how many objects it holds."""
        where = "in memory" if self.path is None else f"in {self.path}"
        try:
            with self._store.catalog() as catalog:
                sizes = {kind: len(all_names(catalog, kind)) for kind in KINDS}
        except CegdbError as error:
            return f"<cegdb {where}: {error.args[0]}>"
        held = (counted(n, KIND_WORDS[kind]) for kind, n in sizes.items())
        return f"cegdb {where}: {', '.join(held)}"
