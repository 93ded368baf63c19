"""The result of exploring a wide survey for an outcome."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

from cegdb.api.base import Displayed
from cegdb.api.event_tree import EventTree
from cegdb.api.settings import options_from, takes
from cegdb.options import (
    TREES_LIKE,
    ExploredTreeSettings,
    LikeOptions,
    TreeOptions,
    TreeSettings,
    like_settings,
)
from cegdb.tree import event_tree

if TYPE_CHECKING:
    from typing import Unpack

    import pandas as pd

    from cegdb.orders.exploration_result import ExplorationResult
    from cegdb.store import Store

_WHOLE: Final = ("labels", "rows", "position")


class Exploration(Displayed):
    """The variables that say most about an outcome; see `Survey.explore`.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     rows = "select i % 2 as x, i % 3 as z, i % 6 = 0 as y from range(60) t(i)"
    ...     db.ingest(rows, name="one").explore("y").order
    ['z', 'x', 'y']
    """

    def __init__(self, store: Store, survey_id: int, result: ExplorationResult) -> None:
        self._store = store
        self._survey_id = survey_id
        self._result = result

    @property
    def outcome(self) -> str:
        """The variable to explain."""
        return self._result.outcome

    @property
    def order(self) -> list[str]:
        """The chosen variables, the outcome last: for ``event_tree(order=...)``."""
        return list(self._result.order)

    @property
    def frame(self) -> pd.DataFrame:
        """The variables: those chosen in their order, then the others by strength.

        Columns: ``variable``; of those with an outcome to whom it applies, its ``labels`` and
        the ``rows`` with an answer; ``log_bayes_factor`` (natural; above 0 speaks for
        dependence of the outcome on it) and with it the posterior ``probability`` of an
        association; ``log_bayes_factor_given`` those chosen before it, or all of them if it is
        not; ``chosen``; ``position`` in the order; ``reason`` why it is left out, or for which
        variable a gate is chosen. Values are missing for variables that were not screened.
        """
        import pandas as pd

        frame = pd.DataFrame(self._result.rows, columns=self._result.columns)
        return frame.astype(dict.fromkeys(_WHOLE, "Int64"))

    @property
    def summary(self) -> str:
        """The order, how sure it is, and which variables are left out and why."""
        return self._result.summary

    @property
    def own_summary(self) -> str:
        """The summary without what the tree of the order says too."""
        return self._result.own_summary

    def rows(self) -> tuple[list[str], list[list[object]]]:
        """Return column names and rows, as `frame` has them.

        Returns
        -------
        tuple
            The names of the columns, and the rows as lists.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as x, i % 3 as z, i % 6 = 0 as y from range(60) t(i)"
        ...     names, rows = db.ingest(rows, name="one").explore("y").rows()
        ...     [row[0] for row in rows]
        ['z', 'x']
        """
        return self._result.columns, [list(row.values()) for row in self._result.rows]

    @takes(ExploredTreeSettings, TreeOptions, LikeOptions)
    def event_tree(
        self,
        name: str | None = None,
        *,
        replace: bool = False,
        **settings: Unpack[ExploredTreeSettings],
    ) -> EventTree:
        """Build the event tree of the order, which keeps that the rows chose its variables.

        Parameters
        ----------
        name
            Name to store it under. Default: the name of the survey, with a number if it is
            taken.
        replace
            Replace a tree of that name, with everything built on it.
        **settings
            Those of `TreeOptions` but the order. Cells are read as the exploration read them,
            unless ``blank``, ``missing_policy`` or ``like`` says otherwise.

        Returns
        -------
        EventTree
            As ``survey.event_tree(order=...)`` builds it, with a finding more: that its
            variables were chosen by the same rows.

        Raises
        ------
        NameTakenError
            ``name`` is that of another tree, and ``replace`` is false.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as x, i % 3 as z, i % 6 = 0 as y from range(60) t(i)"
        ...     db.ingest(rows, name="one").explore("y").event_tree()
        event tree 'one': 22 vertices, 10 situations, 12 leaves, height 3; 60 respondents
        """
        result = self._result
        cells = {"blank": result.blank, "missing_policy": result.missing_policy}
        given, _ = like_settings(settings, TREES_LIKE)
        options = options_from(
            {**cells, **given, "order": result.order}, TreeSettings, TreeOptions
        )
        tree_id = event_tree(
            self._store,
            self._survey_id,
            options,
            name=name,
            replace=replace,
            screening=result.screening,
        )
        return EventTree(self._store, tree_id)

    def __repr__(self) -> str:
        """Return the first line of the summary."""
        return self.summary.split("\n", 1)[0]

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary)}</pre>"
