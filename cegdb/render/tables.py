"""Tables in Markdown, LaTeX (booktabs) and HTML; every label is shown as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from cegdb.errors import GraphError, is_one_of
from cegdb.render import markup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Form: TypeAlias = Literal["markdown", "latex", "html"]
TEXT_FILES: Final[dict[str, Form]] = {".md": "markdown", ".tex": "latex", ".html": "html"}
HIDDEN: Final = "…"

_LATEX_HEAD: Final = (
    "% Needs \\usepackage{booktabs, longtable, array}; for labels beyond Latin letters,\n"
    "% LuaLaTeX or XeLaTeX and a font that has them.\n"
    f"{markup.LATEX_HEAD}"
)
#: Size of letters -> how many digits a line of it has, in the standard classes.
_SIZES: Final = {r"\normalsize": 66, r"\footnotesize": 78, r"\scriptsize": 84}
_LEAST_WORDS: Final = 11
_LEAST_NUMBER: Final = 9
_GAP: Final = 1.5
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
        yield _HTML_HEAD.replace("TITLE", markup.html(title))
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


def _markdown_lines(table: TextTable) -> Iterator[str]:
    columns = [*table.told, *table.columns]
    yield f"{markup.markdown(table.caption)}\n\n"
    yield f"| {' | '.join(markup.markdown(column.name) for column in columns)} |\n"
    yield f"| {' | '.join('---:' if column.is_number else '---' for column in columns)} |\n"
    for told, lines in table.groups:
        for number, line in enumerate(lines):
            first = [""] * len(told) if number else told
            yield f"| {' | '.join(map(markup.markdown, (*first, *line)))} |\n"


def _latex_lines(table: TextTable) -> Iterator[str]:
    found = _widths(table.columns)
    yield from _latex_columns(table, *found) if found else _latex_records(table)


def _widths(columns: Sequence[Column]) -> tuple[str, list[float]] | None:
    """Return a size of letters, and the share of the line of each column, if they fit."""
    least = [
        max(_LEAST_NUMBER, *map(len, column.name.split("_"))) if column.is_number else 0
        for column in columns
    ]
    n_words = least.count(0)
    numbers = sum(least) + _GAP * (len(columns) - 1)
    needed = numbers + _LEAST_WORDS * n_words
    size = next((size for size, room in _SIZES.items() if room >= needed), None)
    if size is None:
        return None
    room = _SIZES[size]
    words = (room - numbers) / max(n_words, 1)
    return size, [(one or words) / room for one in least]


def _latex_columns(table: TextTable, size: str, widths: Sequence[float]) -> Iterator[str]:
    width = len(table.columns)
    kinds = "".join(
        rf">{{\ragged{'left' if column.is_number else 'right'}\arraybackslash}}"
        rf"p{{{share:.3f}\linewidth}}"
        for column, share in zip(table.columns, widths, strict=True)
    )

    def spanning(cells: Sequence[str]) -> str:
        *first, last = map(markup.latex, cells)
        text = r"\quad ".join(first) + rf"\hspace*{{\fill}}\mbox{{{last}}}"
        place = rf"\multicolumn{{{width}}}{{@{{}}p{{0.97\linewidth}}@{{}}}}"
        return f"{place}{{\\raggedright {text}}} \\\\*\n"

    told = spanning([column.name for column in table.told]) if table.told else ""
    names = " & ".join(_latex_name(column.name) for column in table.columns)
    head = f"\\toprule\n{told}{names} \\\\\n\\midrule\n"
    yield f"{{{size}\\setlength\\tabcolsep{{3pt}}\n\\begin{{longtable}}{{@{{}}{kinds}@{{}}}}\n"
    yield f"\\caption{{{markup.latex(table.caption)}}}\\\\\n"
    yield f"{head}\\endfirsthead\n{head}\\endhead\n\\bottomrule\n\\endfoot\n"
    for number, group in enumerate(table.groups):
        if group.told:
            yield ("\\addlinespace\n" if number else "") + spanning(group.told)
        indent = "\\quad " if group.told else ""
        for line in group.lines:
            yield f"{indent}{' & '.join(map(markup.latex, line))} \\\\\n"
    yield "\\end{longtable}}\n"


def _latex_records(table: TextTable) -> Iterator[str]:
    """Yield a table of too many columns for a page: each value on a line of its own."""
    kinds = "".join(
        rf">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}" for share in (0.28, 0.68)
    )
    yield f"{{\\footnotesize\n\\begin{{longtable}}{{@{{}}{kinds}@{{}}}}\n"
    yield f"\\caption{{{markup.latex(table.caption)}}}\\\\\n"
    yield "\\toprule\nColumn & Value \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n"
    names = [_latex_name(column.name) for column in (*table.told, *table.columns)]
    rows = ((*group.told, *line) for group in table.groups for line in group.lines)
    for number, row in enumerate(rows):
        if number:
            yield "\\midrule\n"
        for name, value in zip(names, row, strict=True):
            yield f"{name} & {markup.latex(value)} \\\\\n"
    yield "\\end{longtable}}\n"


def _latex_name(name: str) -> str:
    """Return the name of a column, which may be broken after an underscore."""
    return markup.latex(name).replace(r"\_", r"\_\allowbreak{}")


_KINDS: Final = {True: 'class="number"', False: 'dir="auto"'}


def _html_lines(table: TextTable) -> Iterator[str]:
    def cells(tag: str, columns: Sequence[Column], texts: Sequence[str], rows: int = 1) -> str:
        span = f' rowspan="{rows}"' if rows > 1 else ""
        return "".join(
            f"<{tag} {_KINDS[column.is_number]}{span}>{markup.html(text)}</{tag}>"
            for column, text in zip(columns, texts, strict=True)
        )

    yield f'<table class="cegdb">\n<caption>{markup.html(table.caption)}</caption>\n<thead>\n'
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
