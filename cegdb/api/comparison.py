"""Stagings compared in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cegdb.errors import path_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    from cegdb.api.staged_tree import StagedTree
    from cegdb.render.document import Block
    from cegdb.report.words import Form
    from cegdb.store import Store


class ComparedInWords:
    """What tells two or three stagings apart, in words."""

    _store: Store

    def _staging_id(self, staging: object) -> int:
        """Return the id of a staging named or given."""
        raise NotImplementedError

    def compare_in_words(
        self,
        *stagings: str | StagedTree,
        form: Form = "plain",
        unit: str = "people",
        words: Mapping[str, Mapping[str, str]] | None = None,
        limit: int | None = None,
        min_n: int | None = None,
    ) -> str:
        """Return the comparison of two or three stagings of one tree, as Markdown.

        Parameters
        ----------
        *stagings
            Two or three, by name or as objects.
        form
            ``"plain"``, ``"paper"`` or ``"analyst"``, as in `ChainEventGraph.in_words`.
        unit, words, min_n
            As in `ChainEventGraph.in_words`.
        limit
            The most disagreements of two stagings, those of most people.

        Returns
        -------
        str
            Scores, Bayes factors, and one sentence a disagreement: what one staging keeps
            apart and another joins, and how many people that concerns.

        Raises
        ------
        StagingError
            They are not two or three, or of different trees.
        QueryError
            A setting makes no sense.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     tree = survey.event_tree()
        ...     one = tree.set_stages({("0",): "p", ("1",): "p"}, name="joined")
        ...     other = tree.set_stages({}, name="apart")
        ...     text = db.compare_in_words("joined", "apart", form="paper")
        >>> print(text.partition("- y: ")[2].partition(";")[0])
        “apart” separates (1) people with x “0” (40) and (2) people with x “1” (40)
        """
        from cegdb.render.writers import document

        blocks = self._compared(stagings, form, unit, words, limit, min_n)
        return document(blocks, "markdown")

    def report_comparison(
        self,
        path: str | os.PathLike[str],
        *stagings: str | StagedTree,
        form: Form = "plain",
        unit: str = "people",
        words: Mapping[str, Mapping[str, str]] | None = None,
        limit: int | None = None,
        min_n: int | None = None,
    ) -> Path:
        """Write the comparison of two or three stagings into a file, and return its path.

        Parameters
        ----------
        path
            Ends in ``.md``, ``.html`` or ``.tex``. A file there is replaced.
        *stagings, form, unit, words, limit, min_n
            As for `compare_in_words`.

        Raises
        ------
        GraphError
            Unknown suffix, or the file cannot be written.
        StagingError, QueryError
            As for `compare_in_words`.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> with cegdb.open() as db, tempfile.TemporaryDirectory() as folder:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     tree = survey.event_tree()
        ...     one, other = tree.learn_stages(), tree.set_stages({})
        ...     db.report_comparison(f"{folder}/two.tex", one, other).name
        'two.tex'
        """
        from cegdb.atomic_files import check_folder, write_whole
        from cegdb.graphs.graph_files import suffix_of
        from cegdb.render.writers import TEXT_FILES, document
        from cegdb.report.words import SUFFIXES

        target = path_of(path)
        suffix = suffix_of(target, SUFFIXES, "a report")
        check_folder(target)
        blocks = self._compared(stagings, form, unit, words, limit, min_n)
        return write_whole(target, document(blocks, TEXT_FILES[suffix]).encode())

    def _compared(
        self,
        stagings: tuple[str | StagedTree, ...],
        form: Any,
        unit: str,
        words: object,
        limit: int | None,
        min_n: int | None,
    ) -> list[Block]:
        from cegdb.report.words import check_settings, check_words
        from cegdb.report.words.comparison import (
            comparison_report,
            read_comparison,
            variables_and_labels,
        )

        most = check_settings(form, unit, limit, min_n)
        ids = [self._staging_id(one) for one in stagings]
        what = read_comparison(self._store, ids, min_n)
        known = check_words(words, *variables_and_labels(self._store, what))
        return comparison_report(self._store, what, form, unit=unit, words=known, limit=most)
