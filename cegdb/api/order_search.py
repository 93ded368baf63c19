"""The result of a search over orders of variables."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from cegdb.api.base import Displayed
from cegdb.api.event_tree import EventTree
from cegdb.options import TreeOptions
from cegdb.tree import event_tree

if TYPE_CHECKING:
    import pandas as pd

    from cegdb.options import Blank
    from cegdb.orders.order_result import OrderSearchResult, Row
    from cegdb.store import Store


class OrderSearch(Displayed):
    """The orders of variables that a search found, best first; see `Survey.search_orders`.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     rows = "select i % 2 as x, i % 6 = 0 as y from range(60) t(i)"
    ...     db.ingest(rows, name="one").search_orders().best
    ['y', 'x']
    """

    def __init__(self, store: Store, survey_id: int, result: OrderSearchResult) -> None:
        self._store = store
        self._survey_id = survey_id
        self._result = result

    @property
    def best(self) -> list[str]:
        """The best order; of several, the one whose last variables come first in the survey."""
        return list(self._result.best)

    @property
    def score(self) -> float:
        """Its score: the larger the better for likelihoods, the smaller for BIC and AIC."""
        return self._result.score

    @property
    def n_optimal(self) -> int | None:
        """How many orders score as the best; None after a greedy search."""
        return self._result.n_optimal

    @property
    def n_orders(self) -> int | None:
        """How many orders the constraints allow; None after a greedy search."""
        return self._result.n_orders

    @property
    def margin(self) -> float | None:
        """By how much the next best order is worse, None if that is not known."""
        return self._result.margin

    @property
    def settings(self) -> dict[str, object]:
        """``method``, ``exact_up_to``, ``score``, ``alpha``, ``search``, ``before``, ``blank``.

        Up to ``exact_up_to`` situations all stagings were looked at; 0 if a method was given.
        """
        return dict(self._result.settings)

    @property
    def orders(self) -> pd.DataFrame:
        """The orders, best first: all if they are at most 5,040, else the best 100.

        Columns: ``rank``, the same for ties; ``order``, a list of names; ``score``;
        ``stages``, their number for each variable, in the order; ``n_stages`` in all.
        """
        return _frame(self._result.orders, ["rank", "order", "score", "stages", "n_stages"])

    @property
    def best_by_last(self) -> pd.DataFrame:
        """For each variable that can be the last, the best order that ends with it.

        Columns: ``last``; ``order``, a list of names; ``score``; ``n_ties``, how many orders
        that end with it score the same (missing after a greedy search).
        """
        return _frame(self._result.best_by_last, ["last", "order", "score", "n_ties"])

    @property
    def variable_stagings(self) -> pd.DataFrame:
        """The stagings learnt, one for each variable and set of variables before it.

        Columns: ``variable``; ``predecessors``, a list of names; ``score``;
        ``n_situations``, the observed configurations of these; ``n_stages``.
        """
        names = ["variable", "predecessors", "score", "n_situations", "n_stages"]
        return _frame(self._result.variable_stagings, names)

    @property
    def summary(self) -> str:
        """The best order, the rows it rests on, and the constraints."""
        return self._result.summary

    def rows(self, most: int) -> tuple[list[str], list[list[object]]]:
        """Return column names and rows of the best orders, as `orders` has them.

        Parameters
        ----------
        most
            The most orders.

        Returns
        -------
        tuple
            The names of the columns, and the rows as lists, the best order first.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as x, i % 6 = 0 as y from range(60) t(i)"
        ...     found = db.ingest(rows, name="one").search_orders()
        ...     names, rows = found.rows(1)
        ...     rows[0][:2]
        [1, ['y', 'x']]
        """
        best = self._result.orders[:most]
        return list(best[0]), [list(row.values()) for row in best]

    def event_tree(self, name: str | None = None, *, replace: bool = False) -> EventTree:
        """Build the event tree of the best order, of the rows that the search used.

        Parameters
        ----------
        name
            Name to store it under. Default: the name of the survey, with a number if it is
            taken.
        replace
            Replace a tree of that name, with everything built on it.

        Returns
        -------
        EventTree
            With the settings that `Survey.search_orders` describes.

        Raises
        ------
        NameTakenError
            ``name`` is that of another tree, and ``replace`` is false.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as x, i % 6 = 0 as y from range(60) t(i)"
        ...     found = db.ingest(rows, name="one").search_orders()
        ...     staged = found.event_tree().learn_stages(prior="mass", criterion="score")
        ...     abs(staged.log_marginal_likelihood - found.score) < 1e-9
        True
        """
        tree_id = event_tree(
            self._store,
            self._survey_id,
            TreeOptions(
                order=self._result.best,
                blank=self._blank(),
                missing_policy="complete",
                sampling_zeros="floret",
            ),
            name=name,
            replace=replace,
        )
        return EventTree(self._store, tree_id)

    def _blank(self) -> Blank:
        if self._result.blanks == {"structural"}:
            return "structural"
        return "auto" if "structural" in self._result.blanks else "missing"

    def __repr__(self) -> str:
        """Return the first line of the summary."""
        return self.summary.split("\n", 1)[0]

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary)}</pre>"


def _frame(rows: list[Row], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)
