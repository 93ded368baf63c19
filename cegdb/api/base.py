"""What all objects of the catalog share, and what those that are graphs do."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from cegdb import report, small_cells, views
from cegdb.errors import QueryError
from cegdb.store.catalog import row

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import pandas as pd

    from cegdb.store import Store
    from cegdb.store.catalog import Kind


class Named:
    """An object of the catalog: it holds the store and its id."""

    kind: Kind

    def __init__(self, store: Store, object_id: int) -> None:
        self._store = store
        self.id = object_id

    def _row(self) -> dict[str, Any]:
        with self._store.catalog() as catalog:
            return row(catalog, self.kind, self.id)

    @property
    def name(self) -> str:
        """The name under which it is stored."""
        return str(self._row()["name"])

    @property
    def summary(self) -> str:
        """What was made, which defaults decided, and what looks wrong."""
        return report.summary(self.kind, self._row())

    @property
    def is_stale(self) -> bool:
        """Whether its survey has other rows since: see `Database.rebuild`."""
        return bool(self._row()["is_stale"])

    @property
    def settings(self) -> dict[str, object]:
        """The settings it was made with."""
        found = self._row()["settings"]
        return dict(found) if isinstance(found, dict) else {}

    def __repr__(self) -> str:
        """Return the first line of the summary."""
        return self.summary.split("\n", 1)[0]

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same object of the same open database."""
        return isinstance(other, Named) and (self._store, self.kind, self.id) == (
            other._store,
            other.kind,
            other.id,
        )

    def __hash__(self) -> int:
        """Return a hash that fits equality."""
        return hash((id(self._store), self.kind, self.id))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary)}</pre>"

    def rows(
        self, view: str, *, min_n: int | None = None
    ) -> tuple[list[str], list[tuple[object, ...]]]:
        """Return column names and rows of a view of it, small cells hidden if asked for.

        Parameters
        ----------
        view
            ``variables`` of a survey; ``vertices``, ``tree_edges``, ``situations`` of a
            tree; ``staged_vertices``, ``staged_edges`` of a staging; ``positions``,
            ``ceg_edges`` of a CEG.
        min_n
            Counts from 1 to ``min_n - 1`` are None, and so are those that would reveal
            them by sums, and what was calculated from either.

        Raises
        ------
        QueryError
            It has no such view, or ``min_n`` is no whole number from 1 on.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select if(i < 7, 'u', 'v') as x from range(9) t(i)")
        ...     names, rows = survey.event_tree().rows("tree_edges", min_n=2)
        ...     [row[names.index("n")] for row in rows]
        [7, 2]
        """
        known = small_cells.views(self.kind)
        if view not in known:
            raise QueryError(
                f"a {self.kind} has no view {view!r}", hint=f"it has {', '.join(known)}"
            )
        order = small_cells.view_order(view)
        where: dict[str, object] = {self.kind: self.name}
        return views.view_table(self._store, view, where, order, min_n=min_n)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        min_n: int | None = None,
    ) -> Path:
        """Write a table or view of it to a file, streamed.

        Parameters
        ----------
        path
            Ends in ``.csv``, ``.parquet``, ``.json``, ``.md``, ``.tex`` or ``.html``.
        table
            One of `tables`; of a survey, ``variables`` if left out.
        min_n
            Hides smaller counts, and what would reveal them, as in `rows`.

        Raises
        ------
        GraphError
            The suffix is none of these, or the file cannot be written.
        QueryError
            It has no such table, or ``min_n`` cannot be had for it.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> with cegdb.open() as db, tempfile.TemporaryDirectory() as folder:
        ...     survey = db.ingest("select if(i < 7, 'u', 'v') as x from range(9) t(i)")
        ...     tree = survey.event_tree()
        ...     file = tree.export(f"{folder}/florets.csv", table="florets")
        ...     file.read_text().splitlines()[1].split(",", 3)[3]
        '"[""u"",""v""]","[7,2]",2,9,0,0'
        """
        from cegdb import export

        view = table or small_cells.views(self.kind)[-1]
        return export.export_table(self._store, self.kind, self.name, view, path, min_n=min_n)

    @property
    def tables(self) -> list[str]:
        """The names of the views and tables that have rows of it, views first."""
        from cegdb import export

        return export.tables_of(self._store, self.kind)

    def _rows(
        self, view: str, column: str, order: str, min_n: int | None
    ) -> list[dict[str, object]]:
        return views.view_rows(self._store, view, {column: self.name}, order, min_n=min_n)

    def _frame(self, view: str, column: str, order: str) -> pd.DataFrame:
        return views.view_frame(self._store, view, {column: self.name}, order)
