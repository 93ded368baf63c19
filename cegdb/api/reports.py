"""A CEG in words, as Markdown, HTML or LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cegdb.errors import CegdbError, GraphError, MissingExtraError, path_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cegdb.pictures.style import Picture
    from cegdb.render.document import Block, Figure
    from cegdb.report.explanation import Explanation
    from cegdb.report.words import Form
    from cegdb.report.words.report_data import ReportData
    from cegdb.store import Store

_MOST_EXPLAINED = 5_000
_WIDTH_MM = 160


class Worded:
    """What a CEG says, for people who do not query it."""

    _store: Store
    id: int

    def explain(self) -> Explanation:
        """Return what it says, in sentences."""
        raise NotImplementedError

    def figure(self, *, min_n: int | None = None, width_mm: float | None = None) -> Picture:
        """Return it as a figure with a caption."""
        raise NotImplementedError

    def _parent_sentences(self) -> list[str]:
        """Return what each answer depends on, without counts."""
        raise NotImplementedError

    def in_words(
        self,
        form: Form = "plain",
        *,
        unit: str = "people",
        words: Mapping[str, Mapping[str, str]] | None = None,
        limit: int | None = None,
        min_n: int | None = None,
    ) -> str:
        """Return a report of it in words, as Markdown.

        Parameters
        ----------
        form
            ``"plain"``: for a reader who knows no stages, as natural frequencies ("of 100
            people with ..., about 31 ... (29 to 33)"); ``"paper"``: methods, stage table and
            references; ``"analyst"``: everything.
        unit
            What was counted, in the plural, as the plain form says it.
        words
            What the plain form says of labels, a verb first: variable -> label -> words,
            such as ``{"Fall": {"Yes": "fall", "No": "do not fall"}}``. Other labels are
            quoted.
        limit
            The most stages of a variable, those of most people; what is left out is said.
            Left out, 20, 40 or 200 by form.
        min_n
            Counts from 1 to ``min_n - 1`` are hidden, and so are those that would reveal
            them by sums, and what was calculated from either.

        Returns
        -------
        str
            Probabilities are those of `edges` and the people their ``n``: numbers "of 100"
            are ``probability``, ``low`` and ``high`` times 100 (1,000 or 10,000 where an
            answer is rare), rounded.

        Raises
        ------
        QueryError
            A setting makes no sense, or ``words`` names no variable or label of it.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(800) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     text = ceg.in_words(unit="answers", words={"y": {"True": "are true"}})
        >>> print(text.partition("- Of ")[2].partition(" and ")[0])
        100 answers with x “0”, about 50 are true (45 to 55)
        """
        from cegdb.render.writers import document

        return document(self._blocks(form, unit, words, limit, min_n, None), "markdown")

    def report_words(
        self,
        path: str | os.PathLike[str],
        form: Form = "plain",
        *,
        unit: str = "people",
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
            As for `in_words`.

        Raises
        ------
        GraphError
            Unknown suffix, or the file cannot be written.
        QueryError
            As for `in_words`.

        Examples
        --------
        >>> import cegdb, tempfile
        >>> with cegdb.open() as db, tempfile.TemporaryDirectory() as folder:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.report_words(f"{folder}/report.html").name
        'report.html'
        """
        import re
        import tempfile
        from pathlib import Path

        from cegdb.atomic_files import check_folder, write_whole
        from cegdb.graphs.graph_files import suffix_of
        from cegdb.render.writers import TEXT_FILES, document
        from cegdb.report.words import SUFFIXES

        target = path_of(path)
        suffix = suffix_of(target, SUFFIXES, "a report")
        check_folder(target)
        with tempfile.TemporaryDirectory() as folder:
            kind = ".pdf" if suffix == ".tex" else ".svg"
            place = Path(folder) if suffix == ".html" else target.parent
            # LaTeX takes no names with its own characters, such as %.
            stem = re.sub(r"[^\w .+-]", "-", target.stem) if kind == ".pdf" else target.stem
            picture = place / f"{stem}-figure{kind}"
            blocks = self._blocks(form, unit, words, limit, min_n, picture)
            content = document(blocks, TEXT_FILES[suffix])
        return write_whole(target, content.encode())

    def cite(self, *, bibtex: bool = False) -> str:
        """Return what to cite for it: only what it used.

        Parameters
        ----------
        bibtex
            As BibTeX entries.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     given = survey.event_tree().set_stages({}).to_ceg()
        ...     "Freeman" in given.cite()
        False
        """
        from cegdb.report.lineage import lineage_of
        from cegdb.report.words.citations import as_text, used

        lineage = lineage_of(self._store, self.id)
        return as_text(used(lineage.survey, [lineage.staging]), bibtex=bibtex)

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
        from cegdb.report.words.report_data import read

        most = check_settings(form, unit, limit, min_n)
        report = read(self._store, self.id, limit=most, min_n=min_n)
        known = check_words(words, report.variables, report.answers)
        if form == "plain":
            return plain_report(report, unit=unit, words=known)
        if form == "paper":
            return paper_report(self._store, report, self._pictured(picture, min_n))
        explained, why = self._explained(report)
        return analyst_report(self._store, report, explained, why, limit=most)

    def _pictured(self, path: Path | None, min_n: int | None) -> Figure | str:
        """Return the picture, drawn into a file, or why there is none."""
        from cegdb.render.document import Figure

        if path is None:
            return "this is text only; write the report to a file to get the picture"
        try:
            picture = self.figure(min_n=min_n, width_mm=_WIDTH_MM)
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
            return self.explain().sections, ""
        said = self._parent_sentences()
        title = "What each answer depends on"
        return [(title, said)] if said else [], ""


def cite(ceg: Worded | None = None, *, bibtex: bool = False) -> str:
    """Return what to cite for cegdb, or for a CEG: only what it used.

    Parameters
    ----------
    ceg
        A CEG; left out, cegdb and the works it stands on.
    bibtex
        As BibTeX entries.

    Examples
    --------
    >>> import cegdb
    >>> print(cegdb.cite(bibtex=True).partition(",")[0])
    @misc{cegdb
    """
    from cegdb.report.words.citations import as_text, general

    return as_text(general(), bibtex=bibtex) if ceg is None else ceg.cite(bibtex=bibtex)
