"""Reports of CEGs and comparisons of stagings: ``ceg.report`` and ``db.report``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.api.base import MethodGroup
from cegdb.errors import CegdbError, GraphError, MissingExtraError, path_of
from cegdb.options import ReportOptions

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cegdb.api.chain_event_graph import ChainEventGraph
    from cegdb.api.database import Database
    from cegdb.api.staged_tree import StagedTree
    from cegdb.options import ReportForm
    from cegdb.render.document import Block, Figure
    from cegdb.report.words.report_data import ReportData

_MOST_EXPLAINED: Final = 5_000
_WIDTH_MM: Final = 160


def _rendered(blocks: Sequence[Block], *, markdown: bool, width: int | None) -> str:
    from cegdb.render.writers import document, plain_text

    return document(blocks, "markdown") if markdown else plain_text(blocks, width)


class CegReport(MethodGroup):
    """The reports of a CEG: ``ceg.report.page("falls.html")``, ``ceg.report.text()``.

    Examples
    --------
    >>> import cegdb
    >>> ceg = cegdb.open().demo("chds")
    >>> print(ceg.report.text().splitlines()[0])
    # What the answers of 890 people show: chds
    """

    _purpose = "reports of a CEG"

    def __init__(self, ceg: ChainEventGraph) -> None:
        self._ceg = ceg

    def page(self, path: str | os.PathLike[str], *, min_n: int | None = None) -> Path:
        """Write an interactive page of it and its staged tree, as one HTML file.

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
            ``min_n`` is not a whole number, 1 or more.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> ceg = cegdb.open().demo("chds")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ceg.report.page(f"{folder}/page.html").name
        'page.html'
        """
        from cegdb.report.page import write_page

        return write_page(self._ceg._store, self._ceg.id, path, min_n=min_n)

    def text(
        self,
        form: ReportForm = ReportOptions.form,
        *,
        unit: str = ReportOptions.unit,
        words: Mapping[str, Mapping[str, str]] | None = None,
        limit: int | None = None,
        min_n: int | None = None,
        markdown: bool = True,
        width: int | None = None,
    ) -> str:
        """Return a report of it in words.

        Parameters
        ----------
        form
            ``"plain"``: for non-technical readers, with natural frequencies ("of 100
            people with ..., about 31 ... (29 to 33)"); ``"paper"``: methods, stage table and
            references; ``"analyst"``: everything.
        unit
            What was counted, in the plural, such as ``"residents"``; for the plain form.
        words
            Phrases for labels in the plain form: variable -> label -> a phrase that starts with
            a verb, such as ``{"Fall": {"Yes": "fall", "No": "do not fall"}}``. Other labels are
            quoted.
        limit
            Largest number of stages to show for a variable, those with most people. Default:
            20, 40 or 200, depending on the form.
        min_n
            Counts from 1 to ``min_n - 1`` are hidden, and so are those that would reveal
            them by sums, and what was calculated from either.
        markdown
            False: as plain text for a terminal, with aligned tables and no escapes.
        width
            The most characters of a line of plain text. Default: lines are not wrapped.

        Returns
        -------
        str
            Probabilities are those of `edges` and the people their ``n``: numbers "of 100"
            are ``probability``, ``low`` and ``high`` times 100 (1,000 or 10,000 where an
            answer is rare), rounded.

        Raises
        ------
        QueryError
            A setting cannot be used, or ``words`` has an unknown variable or label.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> words = {"Admission": {"Yes": "were admitted"}}
        >>> text = ceg.report.text(unit="children", words=words)
        >>> print(text.splitlines()[0])
        # What the answers of 890 children show: chds
        """
        return _rendered(
            self._blocks(form, unit, words, limit, min_n, None), markdown=markdown, width=width
        )

    def save(
        self,
        path: str | os.PathLike[str],
        form: ReportForm = ReportOptions.form,
        *,
        unit: str = ReportOptions.unit,
        words: Mapping[str, Mapping[str, str]] | None = None,
        limit: int | None = None,
        min_n: int | None = None,
    ) -> Path:
        """Write a report of it in words into a file, and return its path.

        Parameters
        ----------
        path
            Ends in ``.md``, ``.html`` (one page that needs no other file) or ``.tex``. A
            file there is replaced. The form ``"paper"`` of ``falls.md`` or ``falls.tex``
            writes its figure beside it, ``falls-figure.svg`` or ``.pdf``.
        form, unit, words, limit, min_n
            As for `text`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            Unknown suffix, or the file cannot be written.
        QueryError
            As for `text`.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> ceg = cegdb.open().demo("chds")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ceg.report.save(f"{folder}/report.html").name
        'report.html'
        """
        import re
        import tempfile
        from pathlib import Path

        from cegdb.atomic_files import atomic_write, check_folder, suffix_of
        from cegdb.render.writers import TEXT_FILES, document
        from cegdb.report.words import SUFFIXES

        target = path_of(path)
        suffix = suffix_of(target, SUFFIXES, "a report")
        check_folder(target)
        with tempfile.TemporaryDirectory() as folder:
            kind = ".pdf" if suffix == ".tex" else ".svg"
            figure_folder = Path(folder) if suffix == ".html" else target.parent
            # LaTeX takes no names with its own characters, such as %.
            stem = re.sub(r"[^\w .+-]", "-", target.stem) if kind == ".pdf" else target.stem
            picture = figure_folder / f"{stem}-figure{kind}"
            blocks = self._blocks(form, unit, words, limit, min_n, picture)
            content = document(blocks, TEXT_FILES[suffix])
        return atomic_write(target, content.encode())

    def cite(self, *, bibtex: bool = False) -> str:
        """Return what to cite for it: only the methods it used.

        Parameters
        ----------
        bibtex
            As BibTeX entries.

        Returns
        -------
        str
            One work per line, or one BibTeX entry per work.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> "Freeman" in ceg.report.cite()
        True
        """
        from cegdb.report.lineage import lineage_of
        from cegdb.report.words.citations import format_references, references_used

        lineage = lineage_of(self._ceg._store, self._ceg.id)
        return format_references(
            references_used(lineage.survey, [lineage.staging]), bibtex=bibtex
        )

    def _blocks(
        self,
        form: Any,
        unit: str,
        words: object,
        limit: int | None,
        min_n: int | None,
        picture: Path | None,
    ) -> list[Block]:
        from cegdb.report.words import check_settings, check_words
        from cegdb.report.words.analyst import analyst_report
        from cegdb.report.words.paper import paper_report
        from cegdb.report.words.plain import plain_report
        from cegdb.report.words.report_data import read_report_data

        most = check_settings(form, unit, limit, min_n)
        report = read_report_data(self._ceg._store, self._ceg.id, limit=most, min_n=min_n)
        checked_words = check_words(words, report.variables, report.answers)
        if form == "plain":
            return plain_report(report, unit=unit, words=checked_words)
        if form == "paper":
            return paper_report(self._ceg._store, report, self._pictured(picture, min_n))
        explained, why = self._explained(report)
        return analyst_report(self._ceg._store, report, explained, why, limit=most)

    def _pictured(self, path: Path | None, min_n: int | None) -> Figure | str:
        """Return the picture, drawn into a file, or why there is none."""
        from cegdb.render.document import Figure

        if path is None:
            return "this is text only; write the report to a file to get the picture"
        try:
            picture = self._ceg.figure(min_n=min_n, width_mm=_WIDTH_MM)
            return Figure(picture.save(path), picture.caption)
        except (GraphError, MissingExtraError) as error:
            return CegdbError.__str__(error).replace("\nhint: ", "; ")

    def _explained(self, report: ReportData) -> tuple[Sequence[tuple[str, Sequence[str]]], str]:
        """Return what the CEG says, as far as it is quickly found, and why some is left out."""
        n_edges = int(report.ceg["n_edges"])
        if n_edges > _MOST_EXPLAINED:
            return [], (
                f"Left out: the CEG has {n_edges:,} edges, more than {_MOST_EXPLAINED:,}. Use "
                "cegdb explain, or ceg.explain()."
            )
        if report.min_n is None:
            return self._ceg._explained().sections, ""
        sentences = self._ceg._parent_sentences()
        title = "What each answer depends on"
        return [(title, sentences)] if sentences else [], ""


class DatabaseReport(MethodGroup):
    """Reports of several objects of a database: ``db.report.comparison("a", "b")``.

    Examples
    --------
    >>> import cegdb
    >>> db = cegdb.open()
    >>> staged = db.demo("chds").staging
    >>> print(db.report.comparison(staged, staged.full()).splitlines()[0])
    # Where “chds” and “chds-full” differ
    """

    _purpose = "reports of several objects"

    def __init__(self, database: Database) -> None:
        self._database = database

    def comparison(
        self,
        *stagings: str | StagedTree,
        form: ReportForm = ReportOptions.form,
        unit: str = ReportOptions.unit,
        words: Mapping[str, Mapping[str, str]] | None = None,
        limit: int | None = None,
        min_n: int | None = None,
        markdown: bool = True,
        width: int | None = None,
    ) -> str:
        """Return the comparison of two or three stagings of one tree in words.

        Parameters
        ----------
        *stagings
            Two or three, by name or as objects.
        form
            ``"plain"``, ``"paper"`` or ``"analyst"``, as in `CegReport.text`.
        unit, words, min_n
            As in `CegReport.text`.
        limit
            The most disagreements of two stagings, those of most people.
        markdown, width
            As in `CegReport.text`.

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
            A setting cannot be used.

        Examples
        --------
        >>> import cegdb
        >>> db = cegdb.open()
        >>> joined = db.demo("chds").staging.join("u3", "u4", name="joined")
        >>> text = db.report.comparison("chds", "joined", form="paper")
        >>> print(text.splitlines()[0])
        # Comparison of the stagings “chds” and “joined”
        """
        return _rendered(
            self._compared(stagings, form, unit, words, limit, min_n),
            markdown=markdown,
            width=width,
        )

    def save_comparison(
        self,
        path: str | os.PathLike[str],
        *stagings: str | StagedTree,
        form: ReportForm = ReportOptions.form,
        unit: str = ReportOptions.unit,
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
            As for `comparison`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        GraphError
            Unknown suffix, or the file cannot be written.
        StagingError, QueryError
            As for `comparison`.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> db = cegdb.open()
        >>> staged = db.demo("chds").staging
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     db.report.save_comparison(f"{folder}/two.tex", staged, staged.full()).name
        'two.tex'
        """
        from cegdb.atomic_files import atomic_write, check_folder, suffix_of
        from cegdb.render.writers import TEXT_FILES, document
        from cegdb.report.words import SUFFIXES

        target = path_of(path)
        suffix = suffix_of(target, SUFFIXES, "a report")
        check_folder(target)
        blocks = self._compared(stagings, form, unit, words, limit, min_n)
        return atomic_write(target, document(blocks, TEXT_FILES[suffix]).encode())

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

        store = self._database._store
        most = check_settings(form, unit, limit, min_n)
        ids = [self._database._staging_id(one) for one in stagings]
        what = read_comparison(store, ids, min_n)
        known = check_words(words, *variables_and_labels(store, what))
        return comparison_report(store, what, form, unit=unit, words=known, limit=most)


def cite(ceg: ChainEventGraph | None = None, *, bibtex: bool = False) -> str:
    """Return what to cite for cegdb, or for a CEG: only the methods it used.

    Parameters
    ----------
    ceg
        A CEG. Default: cegdb and the works it is based on.
    bibtex
        As BibTeX entries.

    Returns
    -------
    str
        One work per line, or one BibTeX entry per work.

    Examples
    --------
    >>> import cegdb
    >>> print(cegdb.cite(bibtex=True).partition(",")[0])
    @misc{cegdb
    """
    from cegdb.report.words.citations import format_references, general_references

    return (
        format_references(general_references(), bibtex=bibtex)
        if ceg is None
        else ceg.report.cite(bibtex=bibtex)
    )
