"""The page of a CEG: one HTML file to look at it and ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from cegdb.store import Store


class Paged:
    """What can be looked at in a browser."""

    _store: Store
    id: int

    def report(self, path: str | os.PathLike[str], *, min_n: int | None = None) -> Path:
        """Write a page to look at it and its staged tree, and ask it: one HTML file.

        It works without a network and runs nothing but its own script. In it: positions,
        situations and stages with their numbers, evidence that is added to exactly, the
        merges that led to the stages, receipt, settings, tables, and the SQL of these.

        Parameters
        ----------
        path
            Ends in ``.html``. A file there is replaced.
        min_n
            Counts from 1 to ``min_n - 1`` are left out of the file, and so are those that
            would reveal them by sums, and what was calculated from either; all counts of the
            staged tree too, and evidence where a probability is hidden.

        Returns
        -------
        Path
            The file; the same bytes for the same tables. Of a CEG or tree of more than 2,000
            edges it draws the part that most people pass, and says so.

        Raises
        ------
        GraphError
            The suffix is another one, or the file cannot be written.
        MissingExtraError
            The extra ``draw`` is not installed.
        QueryError
            ``min_n`` is no whole number from 1 on.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> with cegdb.open() as db, tempfile.TemporaryDirectory() as folder:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.report(folder + "/page.html").name
        'page.html'
        """
        from cegdb.report.page import write_page

        return write_page(self._store, self.id, path, min_n=min_n)
