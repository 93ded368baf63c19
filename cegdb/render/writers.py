"""Reports as Markdown, HTML and LaTeX: every text literal, the same bytes each time."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

from cegdb.render import markup
from cegdb.render.document import (
    Block,
    Code,
    Figure,
    Heading,
    Items,
    Note,
    Paragraph,
    References,
    Table,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_EM: Final = 0.0108  # of the line: a small letter
_DIGIT: Final = 0.0089
_GAP: Final = 0.028  # of the line: between two columns
_HTML_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
  background: #fff; font: 1.05rem/1.5 Georgia, "Times New Roman", serif;
  overflow-wrap: anywhere; }}
h1, h2, h3 {{ line-height: 1.2; font-family: Helvetica, Arial, sans-serif; }}
h2 {{ margin-top: 2rem; }}
li {{ margin: .4rem 0; }}
aside {{ border-left: .3rem solid #e69f00; padding: .2rem .8rem; margin: 1rem 0; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .85rem; border-top: 2px solid;
  border-bottom: 2px solid; }}
caption {{ text-align: left; padding: .3rem 0; }}
th {{ border-bottom: 1px solid; text-align: left; overflow-wrap: normal; }}
td, th {{ padding: .2rem .6rem .2rem 0; vertical-align: top; min-width: 2.5rem; }}
td.n, th.n {{ text-align: right; white-space: nowrap; }}
pre {{ background: #f4f4f4; padding: .6rem; white-space: pre-wrap; font-size: .85rem; }}
figure {{ margin: 1rem 0; }}
img {{ max-width: 100%; }}
</style>
</head>
<body>
"""
_LATEX_HEAD: Final = r"""\documentclass[11pt]{article}
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


def markdown(blocks: Sequence[Block]) -> str:
    r"""Return a report as Markdown (CommonMark, with the tables of GitHub and pandoc).

    Examples
    --------
    >>> print(markdown([Heading("Falls", 1), Paragraph("*a* < b")]), end="")
    # Falls
    <BLANKLINE>
    \*a\* &lt; b
    """
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {markup.markdown(text)}"
        case Paragraph(text):
            return markup.markdown(text)
        case Note(text):
            return f"> **Note.** {markup.markdown(text)}"
        case Items(texts):
            return "\n".join(f"- {markup.markdown(text)}" for text in texts)
        case Table(caption, names, rows, numbers):
            lines = [
                "| " + " | ".join(map(markup.markdown, names)) + " |",
                "| " + " | ".join("---:" if x in numbers else "---" for x in names) + " |",
                *("| " + " | ".join(map(markup.markdown, row)) + " |" for row in rows),
            ]
            return f"{markup.markdown(caption)}\n\n" + "\n".join(lines)
        case Code(text, language):
            lines = [markup.visible(line) for line in text.split("\n")]
            longest = max((len(run) for run in re.findall("`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            return "\n".join([f"{fence}{language}", *lines, fence])
        case Figure(path, caption):
            said = markup.markdown(caption)
            return f"![{said}](<{_target(path.name)}>)\n\n*{said}*"
        case References(references):
            return "\n".join(
                f"- {markup.markdown(r.text)}" + (f" <{r.url}>" if r.url else "")
                for r in references
            )


def _target(name: str) -> str:
    """Return a file's name as a relative link."""
    from urllib.parse import quote

    return quote(name)


def html_page(blocks: Sequence[Block]) -> str:
    """Return a report as one HTML page that needs no other file.

    Examples
    --------
    >>> page = html_page([Heading("Falls", 1), Paragraph("<b>")])
    >>> "<h1>Falls</h1>" in page, "<p>&lt;b&gt;</p>" in page
    (True, True)
    """
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(_html(block) for block in blocks)
    return _HTML_HEAD.format(title=markup.html(title)) + body + "\n</body>\n</html>\n"


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{markup.html(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{markup.html(text)}</p>"
        case Note(text):
            return f"<aside><strong>Note.</strong> {markup.html(text)}</aside>"
        case Items(texts):
            return _list([markup.html(text) for text in texts])
        case Table(caption, names, rows, numbers):
            kinds = [' class="n"' if name in numbers else ' dir="auto"' for name in names]
            head = "".join(
                f"<th{kind}>{markup.html(name)}</th>"
                for kind, name in zip(kinds, names, strict=True)
            )
            body = "\n".join(
                "<tr>"
                + "".join(
                    f"<td{kind}>{markup.html(cell)}</td>"
                    for kind, cell in zip(kinds, row, strict=True)
                )
                + "</tr>"
                for row in rows
            )
            return (
                f'<div class="wide"><table><caption>{markup.html(caption)}</caption>\n'
                f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
            )
        case Code(text, _):
            return (
                "<pre>" + "\n".join(markup.html(line) for line in text.split("\n")) + "</pre>"
            )
        case Figure(path, caption):
            picture = base64.b64encode(path.read_bytes()).decode()
            return (
                f'<figure><img alt="{markup.html(caption)}" '
                f'src="data:image/svg+xml;base64,{picture}">'
                f"<figcaption>{markup.html(caption)}</figcaption></figure>"
            )
        case References(references):
            return _list(
                [
                    markup.html(r.text)
                    + (
                        f' <a href="{markup.html(r.url)}">{markup.html(r.url)}</a>'
                        if r.url
                        else ""
                    )
                    for r in references
                ]
            )


def _list(items: Sequence[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"


def latex(blocks: Sequence[Block]) -> str:
    r"""Return a report as a LaTeX document, for pdflatex, lualatex or xelatex.

    Characters that a font lacks show as their code with pdflatex.

    Examples
    --------
    >>> text = latex([Heading("Falls", 1), Paragraph(r"100 % \input{x}")])
    >>> r"100 \% \textbackslash{}input\{x\}" in text
    True
    """
    body = "\n\n".join(_latex(block) for block in blocks)
    head = _LATEX_HEAD.replace("FONT", "" if body.isascii() else _FONT)
    return f"{head}{markup.LATEX_HEAD}\\begin{{document}}\n{body}\n\n\\end{{document}}\n"


def _latex(block: Block) -> str:
    match block:
        case Heading(text, level):
            if level == 1:
                return f"{{\\LARGE\\bfseries\\raggedright {markup.latex(text)}\\par}}"
            return f"\\{'sub' * (level - 2)}section*{{{markup.latex(text)}}}"
        case Paragraph(text):
            return markup.latex(text)
        case Note(text):
            return f"\\begin{{quote}}\\textbf{{Note.}} {markup.latex(text)}\\end{{quote}}"
        case Items(texts):
            return _itemize([markup.latex(text) for text in texts])
        case Table():
            return _longtable(block)
        case Code(text, _):
            lines = [markup.latex(line).replace(" ", "~") or "~" for line in text.split("\n")]
            return "{\\small\\ttfamily\\raggedright\n" + "\\\\\n".join(lines) + "\\par}"
        case Figure(path, caption):
            name = path.name.replace("\\", "/")
            return (
                "\\begin{center}\n"
                "\\includegraphics[width=\\linewidth,height=0.8\\textheight,"
                f"keepaspectratio]{{\\detokenize{{{name}}}}}\n\\end{{center}}\n"
                f"\\textbf{{Figure.}} {markup.latex(caption)}"
            )
        case References(references):
            return _itemize(
                [
                    markup.latex(r.text) + (f" \\url{{{r.url}}}" if r.url else "")
                    for r in references
                ]
            )


def _itemize(items: Sequence[str]) -> str:
    lines = "\n".join(f"\\item {{}}{item}" for item in items)
    return f"\\begin{{itemize}}\n{lines}\n\\end{{itemize}}"


def _longtable(table: Table) -> str:
    texts = [name for name in table.names if name not in table.numbers]
    widths = _widths(table, texts)
    columns = "".join(
        "r"
        if name in table.numbers
        else f">{{\\raggedright}}p{{{widths[name]:.3f}\\linewidth}}"
        for name in table.names
    )
    head = " & ".join(markup.latex(name) for name in table.names)
    rows = "\n".join(
        " & ".join(markup.latex(cell) for cell in row) + " \\tabularnewline"
        for row in table.rows
    )
    return (
        "{\\footnotesize\\setlength\\LTleft{0pt}\n"
        f"\\begin{{longtable}}{{@{{}}{columns}@{{}}}}\n"
        f"\\multicolumn{{{len(table.names)}}}{{@{{}}l@{{}}}}{{\\rlap{{\\parbox[b]{{\\linewidth}}"
        f"{{\\raggedright {markup.latex(table.caption)}\\strut}}}}}}\\tabularnewline\n"
        f"\\toprule\n{head} \\tabularnewline\n\\midrule\n\\endhead\n"
        "\\bottomrule\n\\endlastfoot\n"
        f"{rows}\n\\end{{longtable}}}}"
    )


def _widths(table: Table, texts: Sequence[str]) -> dict[str, float]:
    """Return the share of the line of each column of texts, wider for longer ones."""
    if not texts:
        return {}
    cells = {
        name: [name, *(row[i] for row in table.rows)] for i, name in enumerate(table.names)
    }
    taken = sum(
        max(_EM * len(name), _DIGIT * max(map(len, cells[name]))) for name in table.numbers
    )
    room = max(1 - taken - _GAP * (len(table.names) - 1), 0.3)
    least = {
        name: _EM * min(max(len(w) for x in cells[name] for w in x.split() or [""]), 18)
        for name in texts
    }
    wish = {name: min(max(map(len, cells[name])), 60) * _EM - least[name] for name in texts}
    spare = max(room - sum(least.values()), 0)
    total = sum(max(one, 0) for one in wish.values()) or 1
    scale = min(1, room / sum(least.values()))
    return {n: scale * least[n] + spare * max(wish[n], 0) / total for n in texts}


#: Suffix -> what writes it.
WRITERS: Final[dict[str, Callable[[Sequence[Block]], str]]] = {
    ".md": markdown,
    ".html": html_page,
    ".tex": latex,
}
