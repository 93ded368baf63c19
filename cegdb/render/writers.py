"""Documents in each form: Markdown, HTML, LaTeX, and plain text for a terminal.

Every text is shown literally, whatever it holds; the same blocks give the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from cegdb.errors import GraphError
from cegdb.options import check_choice
from cegdb.render import html, latex, markdown, markup, text
from cegdb.render.document import Heading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cegdb.render.document import Block, Table

Form: TypeAlias = Literal["markdown", "latex", "html"]
#: Suffix of a file -> its form.
TEXT_FILES: Final[dict[str, Form]] = {".md": "markdown", ".html": "html", ".tex": "latex"}
#: What a table shows in place of a count that is hidden.
HIDDEN: Final = "…"

_LINES: Final[dict[Form, Callable[[Block], Iterator[str]]]] = {
    "markdown": markdown.lines,
    "latex": latex.lines,
    "html": html.lines,
}


def check_form(form: object) -> None:
    """Refuse an unknown form.

    Examples
    --------
    >>> check_form("word")
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: unknown value 'word' for form
    hint: available: 'markdown', 'latex', 'html'
    """
    check_choice("form", form, get_args(Form), GraphError)


def lines(blocks: Iterable[Block], form: Form) -> Iterator[str]:
    r"""Yield blocks in a form, tables row by row, without a document around them.

    Examples
    --------
    >>> from cegdb.render.document import Paragraph, Table
    >>> table = Table.of_rows("Two", ["a|b", "n"], [("x", "1")], ["n"])
    >>> print("".join(lines([Paragraph("*a* < b"), table], "markdown")), end="")
    \*a\* &lt; b
    <BLANKLINE>
    Two
    <BLANKLINE>
    | a\|b | n |
    | --- | ---: |
    | x | 1 |
    """
    for number, block in enumerate(blocks):
        if number:
            yield "\n"
        yield from _LINES[form](block)


def table_file_lines(tables: Iterable[Table], form: Form, title: str) -> Iterator[str]:
    r"""Yield a file of tables: in HTML a page, in LaTeX one for ``\input``.

    Examples
    --------
    >>> list(table_file_lines([], "html", "A & B"))[0].splitlines()[5]
    '<title>A &amp; B</title>'
    """
    if form == "html":
        yield html.HEAD.replace("TITLE", markup.html(title))
    elif form == "latex":
        yield latex.TABLE_HEAD
    yield from lines(tables, form)
    if form == "html":
        yield html.FOOT


def document(blocks: Sequence[Block], form: Form) -> str:
    r"""Return a whole document, such as the content of a file; its first heading is its title.

    Examples
    --------
    >>> from cegdb.render.document import Paragraph
    >>> blocks = [Heading("Falls", 1), Paragraph(r"100 % \input{x}")]
    >>> print(document(blocks, "markdown"), end="")
    # Falls
    <BLANKLINE>
    100 % \\input{x}
    >>> "<h1>Falls</h1>" in document(blocks, "html")
    True
    >>> r"100 \% \textbackslash{}input\{x\}" in document(blocks, "latex")
    True
    """
    body = "".join(lines(blocks, form))
    if form == "latex":
        return latex.document(body)
    if form == "markdown":
        return body
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    return f"{html.HEAD.replace('TITLE', markup.html(title))}{body}{html.FOOT}"


def plain_text(blocks: Iterable[Block], width: int | None = None) -> str:
    """Return blocks as plain text for a terminal, wrapped at ``width`` if that is given.

    Examples
    --------
    >>> from cegdb.render.document import Items
    >>> print(plain_text([Heading("Falls", 1), Items(["a_b < *c*"])]), end="")
    Falls
    =====
    <BLANKLINE>
    - a_b < *c*
    """
    return "\n".join("".join(text.lines(block, width)) for block in blocks)


def format_count(n: int | None) -> str:
    """Return a count as tables and figures show it.

    Examples
    --------
    >>> format_count(1234), format_count(None)
    ('1,234', '…')
    """
    return HIDDEN if n is None else f"{n:,}"


def format_value(value: float | None) -> str:
    """Return a number as tables show it: whole ones with commas, others with six digits.

    Examples
    --------
    >>> format_value(12345), format_value(0.123456789), format_value(None)
    ('12,345', '0.123457', '')
    """
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
