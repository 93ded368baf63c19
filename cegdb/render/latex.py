r"""Documents as LaTeX: for ``\input``, or whole, for pdflatex, lualatex or xelatex."""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from cegdb.render.document import (
    Code,
    Figure,
    Heading,
    Items,
    Note,
    Paragraph,
    References,
    Table,
)
from cegdb.render.markup import LATEX_HEAD, latex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cegdb.render.document import Block, Column, Group

TABLE_HEAD: Final = (
    "% Needs \\usepackage{booktabs, longtable, array}; for labels beyond Latin letters,\n"
    "% LuaLaTeX or XeLaTeX and a font that has them.\n"
    f"{LATEX_HEAD}"
)
_DOCUMENT_HEAD: Final = r"""\documentclass[11pt]{article}
\usepackage[margin=25mm]{geometry}
\usepackage{iftex}
\ifpdftex
  \usepackage[T1]{fontenc}
  \usepackage{lmodern}
\else
  \usepackage{fontspec}
FONT\fi
\usepackage{textcomp}
\usepackage{array,booktabs,graphicx,longtable}
\usepackage{hyperref}
\hypersetup{hidelinks}
\tolerance=9999
\emergencystretch=3em
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.6em}
"""
_FONT: Final = r"""  \IfFontExistsTF{DejaVu Serif}{\setmainfont{DejaVu Serif}}{}
  \IfFontExistsTF{DejaVu Sans}{%
    \newfontfamily\cegother{DejaVu Sans}
    \ifLuaTeX
      \newfontfamily\cegarabic{DejaVu Sans}[Renderer=HarfBuzz, Script=Arabic]
    \else
      \newfontfamily\cegarabic{DejaVu Sans}[Script=Arabic]
    \fi}{}
"""
#: Size of letters -> how many digits a line of it has, in the standard classes.
_SIZES: Final = {r"\normalsize": 66, r"\footnotesize": 78, r"\scriptsize": 84}
_MEASURED_GROUPS: Final = 1_000  # groups whose cells decide the widths of columns
_MIN_WIDTH: Final = 4
_MIN_NUMBER_WIDTH: Final = 9  # where not all rows are known
_BREAKABLE: Final = 13  # characters: longer words may be broken
_MAX_TEXT_WIDTH: Final = 60
_SPARE_WIDTH: Final = 20  # room beside the least that is worth smaller letters
_GAP: Final = 1.5


def document(body: str) -> str:
    """Return a whole document around its blocks."""
    head = _DOCUMENT_HEAD.replace("FONT", "" if body.isascii() else _FONT)
    return f"{head}{LATEX_HEAD}\\begin{{document}}\n{body}\n\\end{{document}}\n"


def lines(block: Block) -> Iterator[str]:
    """Yield a block, line by line or a few lines at once."""
    match block:
        case Heading(text, 1):
            yield f"{{\\LARGE\\bfseries\\raggedright {latex(text)}\\par}}\n"
        case Heading(text, level):
            yield f"\\{'sub' * (level - 2)}section*{{{latex(text)}}}\n"
        case Paragraph(text):
            yield f"{latex(text)}\n"
        case Note(text):
            yield f"\\begin{{quote}}\\textbf{{Note.}} {latex(text)}\\end{{quote}}\n"
        case Items(texts):
            yield from _itemize(map(latex, texts))
        case References(works):
            yield from _itemize(
                latex(text) + (f" \\url{{{url}}}" if url else "") for text, url in works
            )
        case Code(text, _):
            shown = [latex(line).replace(" ", "~") or "~" for line in text.split("\n")]
            yield "{\\small\\ttfamily\\raggedright\n" + "\\\\\n".join(shown) + "\\par}\n"
        case Figure(path, caption):
            name = path.name.replace("\\", "/")
            yield (
                "\\begin{center}\n"
                "\\includegraphics[width=\\linewidth,height=0.8\\textheight,"
                f"keepaspectratio]{{\\detokenize{{{name}}}}}\n\\end{{center}}\n"
                f"\\textbf{{Figure.}} {latex(caption)}\n"
            )
        case Table():
            groups = iter(block.groups)
            first = list(islice(groups, _MEASURED_GROUPS))
            widths = _widths(block.columns, first)
            rest = chain(first, groups)
            yield from _columns(block, rest, *widths) if widths else _records(block, rest)


def _itemize(items: Iterable[str]) -> Iterator[str]:
    yield "\\begin{itemize}\n"
    yield from (f"\\item {{}}{item}\n" for item in items)
    yield "\\end{itemize}\n"


def _widths(
    columns: Sequence[Column], groups: Sequence[Group]
) -> tuple[str, list[float]] | None:
    """Return a size of letters, and the share of the line of each column, if they fit.

    Widths are in digits. A number is not broken, nor a word but a long one; the room left
    goes to texts, more to longer ones.
    """
    cells = [
        [column.name, *(row[at] for group in groups for row in group.rows)]
        for at, column in enumerate(columns)
    ]
    least = [
        max(
            _MIN_NUMBER_WIDTH
            if column.is_number and len(groups) == _MEASURED_GROUPS
            else _MIN_WIDTH,
            *(_word_width(word) for text in texts for word in re.split(r"[_\s]", text)),
        )
        for column, texts in zip(columns, cells, strict=True)
    ]
    wishes = [
        0 if column.is_number else max(1, min(max(map(len, texts)), _MAX_TEXT_WIDTH) - one)
        for column, texts, one in zip(columns, cells, least, strict=True)
    ]
    needed = sum(least) + _GAP * (len(columns) - 1)
    fitting = [(size, room) for size, room in _SIZES.items() if room >= needed]
    if not fitting:
        return None
    comfort = needed + min(sum(wishes), _SPARE_WIDTH)
    size, room = next((one for one in fitting if one[1] >= comfort), fitting[-1])
    spare = (room - needed) / (sum(wishes) or 1)
    return size, [(one + spare * wish) / room for one, wish in zip(least, wishes, strict=True)]


def _word_width(word: str) -> float:
    """Return about how wide a word is, in digits; of a long one, what stays whole."""
    return sum(
        1.5 if c.isupper() or c in "mw" or not c.isascii() else 1
        for c in word[: _BREAKABLE - 1]
    )


def _columns(
    table: Table, groups: Iterable[Group], size: str, widths: Sequence[float]
) -> Iterator[str]:
    n_columns = len(table.columns)
    kinds = "".join(
        rf">{{\ragged{'left' if column.is_number else 'right'}\arraybackslash}}"
        rf"p{{{share:.3f}\linewidth}}"
        for column, share in zip(table.columns, widths, strict=True)
    )

    def spanning(cells: Sequence[str]) -> str:
        *first, last = map(latex, cells)
        text = r"\quad ".join(first) + rf"\hspace*{{\fill}}\mbox{{{last}}}"
        column = rf"\multicolumn{{{n_columns}}}{{@{{}}p{{0.97\linewidth}}@{{}}}}"
        return f"{column}{{\\raggedright {text}}} \\\\*\n"

    shared = spanning([column.name for column in table.shared]) if table.shared else ""
    names = " & ".join(_breakable_name(column.name) for column in table.columns)
    head = f"\\toprule\n{shared}{names} \\\\\n\\midrule\n"
    yield f"{{{size}\\setlength\\tabcolsep{{3pt}}\\setlength\\LTcapwidth{{\\linewidth}}\n"
    yield f"\\begin{{longtable}}{{@{{}}{kinds}@{{}}}}\n"
    yield f"\\caption{{{latex(table.caption)}}}\\\\\n"
    yield f"{head}\\endfirsthead\n{head}\\endhead\n\\bottomrule\n\\endfoot\n"
    for number, group in enumerate(groups):
        if group.shared:
            yield ("\\addlinespace\n" if number else "") + spanning(group.shared)
        indent = "\\quad " if group.shared else ""
        for row in group.rows:
            yield f"{indent}{' & '.join(map(latex, row))} \\\\\n"
    yield "\\end{longtable}}\n"


def _records(table: Table, groups: Iterable[Group]) -> Iterator[str]:
    """Yield a table of too many columns for a page: each value on a line of its own."""
    kinds = "".join(
        rf">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}" for share in (0.28, 0.68)
    )
    yield f"{{\\footnotesize\n\\begin{{longtable}}{{@{{}}{kinds}@{{}}}}\n"
    yield f"\\caption{{{latex(table.caption)}}}\\\\\n"
    yield "\\toprule\nColumn & Value \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n"
    names = [_breakable_name(column.name) for column in (*table.shared, *table.columns)]
    rows = ((*group.shared, *row) for group in groups for row in group.rows)
    for number, row in enumerate(rows):
        if number:
            yield "\\midrule\n"
        for name, value in zip(names, row, strict=True):
            yield f"{name} & {latex(value)} \\\\\n"
    yield "\\end{longtable}}\n"


def _breakable_name(name: str) -> str:
    """Return the name of a column, which may be broken after an underscore."""
    return latex(name).replace(r"\_", r"\_\allowbreak{}")
