"""A survey, as the user holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cegdb import ingest as ingest_room
from cegdb import tree as tree_room
from cegdb.api.base import Named
from cegdb.api.event_tree import EventTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from cegdb.api.order_search import OrderSearch
    from cegdb.clustering import Method, ScoreName
    from cegdb.independence.association import GivenRows, IndependenceTest
    from cegdb.ingest import Source
    from cegdb.orders.search import Search
    from cegdb.stages import Deff, WeightChoice
    from cegdb.store.catalog import Kind
    from cegdb.tree import Blank, MissingPolicy, SamplingZeros
    from cegdb.tree import Path as TreePath


class Survey(Named):
    """A survey: coded rows, its variables and the receipt of what was read."""

    kind: Kind = "survey"

    @property
    def receipt(self) -> dict[str, object]:
        """Rows read, kept and dropped with the reason; cells by kind; hints."""
        found = self._row()["summary"]
        return dict(found) if isinstance(found, dict) else {}

    @property
    def seconds(self) -> float:
        """How long its ingest took."""
        return float(self._row()["seconds"])

    @property
    def variables(self) -> pd.DataFrame:
        """The levels of the variables, in level order.

        Columns: ``survey``; ``variable`` and its ``ordinal``; ``label``; ``kind`` (value,
        missing, blank or structural); ``n`` respondents' cells; ``code`` in the response
        table; ``level_id``, ``label_id``, ``variable_id``.
        """
        return self._frame("variables", "survey", "ordinal, code")

    def append(
        self,
        source: Source,
        *,
        decimal: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        bad_rows: Literal["error", "skip"] = "error",
        sheet: str | int | None = None,
    ) -> Survey:
        """Add the rows of another file, matched by column name; see `cegdb.ingest.append`.

        What is built on the survey is stale until `Database.rebuild`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'yes' as vote", name="polls")
        ...     tree = survey.event_tree()
        ...     _ = survey.append("select unnest(['no', 'yes']) as vote")
        ...     print(survey.receipt["respondents"], tree.is_stale)
        3 True
        """
        from cegdb.ingest.csv.csv_file import Reading

        reading = Reading(encoding, delimiter, quote, escape, bad_rows, sheet)
        ingest_room.append(self._store, self.id, source, decimal=decimal, reading=reading)
        return self

    def refresh(
        self,
        source: Source,
        *,
        decimal: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        bad_rows: Literal["error", "skip"] = "error",
        sheet: str | int | None = None,
    ) -> Survey:
        """Replace the rows by those of a new snapshot; see `cegdb.ingest.refresh`.

        What is built on the survey is stale until `Database.rebuild`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'yes' as vote", name="polls")
        ...     survey.refresh("select unnest(['no', 'yes']) as vote").receipt["respondents"]
        2
        """
        from cegdb.ingest.csv.csv_file import Reading

        reading = Reading(encoding, delimiter, quote, escape, bad_rows, sheet)
        ingest_room.refresh(self._store, self.id, source, decimal=decimal, reading=reading)
        return self

    def event_tree(
        self,
        name: str | None = None,
        *,
        order: Sequence[str] | None = None,
        blank: Blank = "auto",
        missing_policy: MissingPolicy = "prefix",
        sampling_zeros: SamplingZeros = "none",
        add_paths: Sequence[TreePath] = (),
        impossible: Sequence[TreePath] = (),
        gate_min_rows: int = 5,
        replace: bool = False,
    ) -> EventTree:
        """Build an event tree; see `cegdb.tree.event_tree` for the settings.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'a' as x, 'u' as y", name="one")
        ...     survey.event_tree(order=["y"])
        event tree 'one': 2 vertices, 1 situation, 1 leaf, height 1; 1 row
        """
        tree_id = tree_room.event_tree(
            self._store,
            self.id,
            name=name,
            order=order,
            blank=blank,
            missing_policy=missing_policy,
            sampling_zeros=sampling_zeros,
            add_paths=add_paths,
            impossible=impossible,
            gate_min_rows=gate_min_rows,
            replace=replace,
        )
        return EventTree(self._store, tree_id)

    def search_orders(
        self,
        variables: Sequence[str] | None = None,
        *,
        tiers: Sequence[Sequence[str]] | None = None,
        before: Sequence[Sequence[str]] = (),
        method: Method = "ahc",
        score: ScoreName | None = None,
        alpha: float | None = None,
        search: Search = "auto",
        blank: Blank = "auto",
        weighting: WeightChoice = "situation",
        deff: Deff | None = None,
    ) -> OrderSearch:
        """Find the best order; see `cegdb.orders.search.search_orders` for the settings.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as x, i % 6 = 0 as y from range(60) t(i)"
        ...     db.ingest(rows, name="one").search_orders(before=[("x", "y")])
        orders of 2 variables of survey 'one': best x, y
        """
        from cegdb.api.order_search import OrderSearch
        from cegdb.orders.search import search_orders

        found = search_orders(
            self._store,
            self.id,
            variables,
            tiers=tiers,
            before=before,
            method=method,
            score=score,
            alpha=alpha,
            search=search,
            blank=blank,
            weighting=weighting,
            deff=deff,
        )
        return OrderSearch(self._store, self.id, found)

    def test_independence(
        self, x: str, y: str, *, given: GivenRows = (), alpha: float | None = None
    ) -> IndependenceTest:
        """Return whether the rows speak for X independent of Y, in a context.

        Parameters
        ----------
        x, y
            Variables: shares of the answers to X are compared between the groups that Y
            makes.
        given
            A mapping of variables to a label or labels keeps the rows that have them (the
            context); names of variables stratify: X and Y are compared within each
            combination of their answers. A list may hold both:
            ``["region", {"smoker": "Current"}]``.
        alpha
            Prior mass of each stratum, shared equally among groups and answers; left out,
            the largest number of levels of a variable named.

        Returns
        -------
        IndependenceTest
            ``log_bayes_factor`` (natural; above 0 speaks for independence),
            ``posterior_dependence`` at even prior odds; ``g``, ``df``, ``p_value``; the
            largest ``difference`` of shares between two groups, ``low`` to ``high``
            (95 %, Newcombe), of which ``answer``, ``stratum`` and groups (``larger``,
            ``smaller``); ``n``, ``n_left_out`` for want of an answer, ``n_effective``.

        Raises
        ------
        QueryError
            A label is unknown, or there are no two groups and two answers to compare.

        Notes
        -----
        The formulas are those of `cegdb.independence.association.independence_test`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     cells = "i % 2 as sex, i % 8 < 3 as ill, i < 60 as young"
        ...     survey = db.ingest(f"select {cells} from range(80) t(i)")
        ...     print(survey.test_independence("ill", "sex", given={"young": True}))
        ill and sex, where young = True: 60 rows
          log Bayes factor of independence -0.2385; probability of dependence 0.559 at even \
prior odds (alpha = 2)
          G = 4.511, 1 df, p = 0.0337
          largest difference: 'False' 0.733 of '1' (n = 30), 0.467 of '0' (n = 30): 0.267, \
95 % Newcombe interval 0.019 to 0.473
        """
        from cegdb.independence.association import independence_test

        return independence_test(self._store, self.id, x, y, given=given, alpha=alpha)
