"""Tables in Markdown, LaTeX (booktabs) and HTML; every label is shown as it is."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from cegdb.errors import GraphError, is_one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Form: TypeAlias = Literal["markdown", "latex", "html"]
TEXT_FILES: Final[dict[str, Form]] = {".md": "markdown", ".tex": "latex", ".html": "html"}
HIDDEN: Final = "…"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>()#+!|~$&@]|:(?=[\w+-]+:)|^(?=\d+\.)|^-")
_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    '"': r"{\ttfamily\char34}",
    "–": "--",  # noqa: RUF001
    HIDDEN: r"\ldots{}",
    **{character: f"\\{character}" for character in "{}$&#%_"},
    **{character: f"{{{character}}}" for character in "[]*"},
}
# Two alike would become one character: a dash, a quotation mark.
_LATEX_ODD = re.compile("[" + re.escape("".join(_LATEX)) + "\u2400-\u2426]|-(?=-)|,(?=,)")
_RUN = re.compile(r"\S{24}(?=\S)")
_LATEX_HEAD: Final = (
    "% Needs \\usepackage{booktabs, longtable, array}; for labels beyond Latin letters,\n"
    "% LuaLaTeX or XeLaTeX and a font that has them.\n"
)
_HTML_HEAD: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>TITLE</title>
<style>
body { font-family: sans-serif; margin: 2em; }
table { border-collapse: collapse; border-bottom: 2px solid; margin-bottom: 2em; }
caption { text-align: left; padding: 0.5em 0; max-width: 60em; }
th { border-top: 2px solid; border-bottom: 1px solid; text-align: left; }
th, td { padding: 0.2em 0.8em 0.2em 0; vertical-align: top; max-width: 32em;
  overflow-wrap: break-word; }
td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
tr.first td { border-top: 1px solid #cccccc; }
</style>
</head>
<body>
"""


class Column(NamedTuple):
    """A column: what its head says, and whether it has numbers."""

    name: str
    is_number: bool = False


class Group(NamedTuple):
    """Lines of a table that belong together, and what is told once of all of them."""

    told: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class TextTable:
    """A table to show: columns of what is told once, those of each line, and the rows."""

    caption: str
    told: Sequence[Column]
    columns: Sequence[Column]
    groups: Iterable[Group]


def table_lines(tables: Iterable[TextTable], form: Form) -> Iterator[str]:
    r"""Yield the lines of tables in one of the forms, row by row.

    Parameters
    ----------
    tables
        One after the other.
    form
        ``markdown`` (as on GitHub), ``latex`` (``longtable`` with the rules of booktabs) or
        ``html`` (elements ``table``, without a page around them).

    Raises
    ------
    GraphError
        ``form`` is none of these.

    Examples
    --------
    >>> columns = [Column("a|b"), Column("n", is_number=True)]
    >>> table = TextTable("Two", [], columns, [Group([], ["x1"])])
    >>> print("".join(table_lines([table], "markdown")))
    Two
    <BLANKLINE>
    | a\|b | n |
    | --- | ---: |
    | x | 1 |
    <BLANKLINE>
    """
    check_form(form)
    for number, table in enumerate(tables):
        if number:
            yield "\n"
        yield from _LINES[form](table)


def check_form(form: object) -> None:
    """Refuse a form that is none.

    Examples
    --------
    >>> check_form("word")
    Traceback (most recent call last):
    ...
    cegdb.errors.GraphError: form is 'word', expected markdown, latex or html
    """
    if not is_one_of(form, get_args(Form)):
        raise GraphError(f"form is {form!r}, expected markdown, latex or html")


def file_lines(tables: Iterable[TextTable], form: Form, title: str) -> Iterator[str]:
    """Yield the lines of a file: those of `table_lines`, and what a file needs beside.

    Examples
    --------
    >>> list(file_lines([], "html", "A & B"))[0].splitlines()[4]
    '<title>A &amp; B</title>'
    """
    if form == "html":
        yield _HTML_HEAD.replace("TITLE", _html(title))
    elif form == "latex":
        yield _LATEX_HEAD
    yield from table_lines(tables, form)
    if form == "html":
        yield "</body>\n</html>\n"


def shown_number(value: float | None) -> str:
    """Return a number as tables show it: whole ones with commas, others with six digits.

    Examples
    --------
    >>> shown_number(12345), shown_number(0.123456789), shown_number(None)
    ('12,345', '0.123457', '')
    """
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _visible(text: str) -> str:
    """Return the text with a symbol for each control character."""

    def symbol(match: re.Match[str]) -> str:
        code = ord(match[0])
        if code < 0x20:
            return chr(0x2400 + code)
        return "␡" if code == 0x7F else "␤" if code in (0x85, 0x2028, 0x2029) else "\ufffd"

    return _CONTROL.sub(symbol, text)


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(lambda match: f"\\{match[0]}" if match[0] else "", _visible(text))


def _markdown_lines(table: TextTable) -> Iterator[str]:
    columns = [*table.told, *table.columns]
    yield f"{_markdown(table.caption)}\n\n"
    yield f"| {' | '.join(_markdown(column.name) for column in columns)} |\n"
    yield f"| {' | '.join('---:' if column.is_number else '---' for column in columns)} |\n"
    for told, lines in table.groups:
        for number, line in enumerate(lines):
            first = [""] * len(told) if number else told
            yield f"| {' | '.join(map(_markdown, (*first, *line)))} |\n"


def _latex(text: str) -> str:
    def escaped(match: re.Match[str]) -> str:
        found = match[0]
        if "\u2400" <= found <= "\u2426":
            code = 0x7F if found == "␡" else 0x0A if found == "␤" else ord(found) - 0x2400
            return rf"\texttt{{\textless{{}}U+{code:04X}\textgreater{{}}}}"
        is_doubled = match.string.startswith(found, match.end())
        return _LATEX.get(found, found) + (r"\kern0pt{}" if is_doubled else "")

    # Long words may be broken, or they would run over the next column.
    parts = _RUN.sub(lambda match: f"{match[0]}\0", _visible(text)).split("\0")
    return r"\allowbreak{}".join(_LATEX_ODD.sub(escaped, part) for part in parts)


def _latex_lines(table: TextTable) -> Iterator[str]:
    width = len(table.columns)
    # Columns of words share most of the line, else they would run over its end.
    n_words = sum(not column.is_number for column in table.columns)
    share = round((0.9 - 0.09 * (width - n_words)) / max(n_words, 1), 2)
    words = rf">{{\raggedright\arraybackslash}}p{{{max(share, 0.06)}\linewidth}}"
    kinds = "".join("r" if column.is_number else words for column in table.columns)

    def spanning(cells: Sequence[str]) -> str:
        *first, last = map(_latex, cells)
        text = r"\quad ".join(first) + rf"\hspace*{{\fill}}\mbox{{{last}}}"
        place = rf"\multicolumn{{{width}}}{{@{{}}p{{0.97\linewidth}}@{{}}}}"
        return f"{place}{{\\raggedright {text}}} \\\\*\n"

    told = spanning([column.name for column in table.told]) if table.told else ""
    names = " & ".join(_latex(column.name) for column in table.columns)
    head = f"\\toprule\n{told}{names} \\\\\n\\midrule\n"
    yield f"\\begin{{longtable}}{{@{{}}{kinds}@{{}}}}\n"
    yield f"\\caption{{{_latex(table.caption)}}}\\\\\n"
    yield f"{head}\\endfirsthead\n{head}\\endhead\n\\bottomrule\n\\endfoot\n"
    for number, group in enumerate(table.groups):
        if group.told:
            yield ("\\addlinespace\n" if number else "") + spanning(group.told)
        indent = "\\quad " if group.told else ""
        for line in group.lines:
            yield f"{indent}{' & '.join(map(_latex, line))} \\\\\n"
    yield "\\end{longtable}\n"


def _html(text: str) -> str:
    return html.escape(_visible(text))


_KINDS: Final = {True: 'class="number"', False: 'dir="auto"'}


def _html_lines(table: TextTable) -> Iterator[str]:
    def cells(tag: str, columns: Sequence[Column], texts: Sequence[str], rows: int = 1) -> str:
        span = f' rowspan="{rows}"' if rows > 1 else ""
        return "".join(
            f"<{tag} {_KINDS[column.is_number]}{span}>{_html(text)}</{tag}>"
            for column, text in zip(columns, texts, strict=True)
        )

    yield f'<table class="cegdb">\n<caption>{_html(table.caption)}</caption>\n<thead>\n'
    every = [*table.told, *table.columns]
    yield f"<tr>{cells('th', every, [column.name for column in every])}</tr>\n"
    yield "</thead>\n<tbody>\n"
    for told, lines in table.groups:
        first = cells("td", table.told, told, len(lines))
        kind = ' class="first"' if told else ""
        for line in lines:
            yield f"<tr{kind}>{first}{cells('td', table.columns, line)}</tr>\n"
            first = kind = ""
    yield "</tbody>\n</table>\n"


_LINES: Final[dict[Form, Callable[[TextTable], Iterator[str]]]] = {
    "markdown": _markdown_lines,
    "latex": _latex_lines,
    "html": _html_lines,
}
