"""Reports as Markdown, HTML and LaTeX: every text literal, the same bytes each time."""

from __future__ import annotations

import base64
import html
import re
from typing import TYPE_CHECKING, Final

from cegdb.report.words.document import (
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

_CONTROL: Final = {
    **{i: chr(0x2400 + i) for i in range(0x20)},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **{
        i: f"⟨U+{i:04X}⟩"
        for i in (*range(0x80, 0xA0), 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F))
    },
    0xFEFF: "⟨U+FEFF⟩",
}
_LIGATURE: Final = re.compile(r"-(?=-)|,(?=,)")
_LONG: Final = re.compile(r"\S{31,}")
_MARKS: Final = re.compile(
    r"[\\`*_\[\]|~$#^]|:(?=\w+:)|(?<=\w)@(?=\w)|(?<=\w):(?=//)|(?<=www)\."
)
_EM: Final = 0.0108  # of the line: a small letter
_DIGIT: Final = 0.0089
_GAP: Final = 0.024  # of the line: between two columns
_AT_START: Final = re.compile(r"^(\d*)([-+.)=])(?=[\s-]|$)")
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
th {{ border-bottom: 1px solid; text-align: left; }}
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
\emergencystretch=3em
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.6em}
DECLARED\begin{document}
"""
_FONT: Final = r"""  \IfFontExistsTF{DejaVu Serif}{\setmainfont{DejaVu Serif}}{}
"""
_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "\N{EN DASH}": r"\textendash{}",
    "…": r"\textellipsis{}",
    "→": r"\(\rightarrow\)",
    "∞": r"\(\infty\)",
    **{chr(0x2400 + i): rf"\textless{{}}U+{i:04X}\textgreater{{}}" for i in range(0x20)},
    "\N{SYMBOL FOR DELETE}": r"\textless{}U+007F\textgreater{}",
    "\N{FIRST STRONG ISOLATE}": "",
    "\N{POP DIRECTIONAL ISOLATE}": "",
}


def visible(text: str) -> str:
    r"""Return a text with symbols for characters that cannot be seen.

    Examples
    --------
    >>> visible("a\x00b\nc")
    'a␀b␊c'
    """
    return text.translate(_CONTROL)


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


def _marked(text: str) -> str:
    """Return a text as Markdown shows it."""
    found = _MARKS.sub(lambda m: f"\\{m[0]}", visible(text).replace("&", "&amp;"))
    found = _AT_START.sub(r"\1\\\2", found.replace("<", "&lt;").replace(">", "&gt;"))
    return f"&#32;{found[1:]}" if found.startswith(" ") else found


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {_marked(text)}"
        case Paragraph(text):
            return _marked(text)
        case Note(text):
            return f"> **Note.** {_marked(text)}"
        case Items(texts):
            return "\n".join(f"- {_marked(text)}" for text in texts)
        case Table(caption, names, rows, numbers):
            lines = [
                "| " + " | ".join(map(_marked, names)) + " |",
                "| " + " | ".join("---:" if x in numbers else "---" for x in names) + " |",
                *("| " + " | ".join(map(_marked, row)) + " |" for row in rows),
            ]
            return f"{_marked(caption)}\n\n" + "\n".join(lines)
        case Code(text, language):
            lines = [visible(line) for line in text.split("\n")]
            longest = max((len(run) for run in re.findall("`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            return "\n".join([f"{fence}{language}", *lines, fence])
        case Figure(path, caption):
            return f"![{_marked(caption)}](<{_target(path.name)}>)\n\n*{_marked(caption)}*"
        case References(references):
            return "\n".join(
                f"- {_marked(r.text)}" + (f" <{r.url}>" if r.url else "") for r in references
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
    return _HTML_HEAD.format(title=_shown(title)) + body + "\n</body>\n</html>\n"


def _shown(text: str) -> str:
    """Return a text as HTML shows it."""
    return html.escape(visible(text))


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{_shown(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{_shown(text)}</p>"
        case Note(text):
            return f"<aside><strong>Note.</strong> {_shown(text)}</aside>"
        case Items(texts):
            return _list([_shown(text) for text in texts])
        case Table(caption, names, rows, numbers):
            kinds = [' class="n"' if name in numbers else ' dir="auto"' for name in names]
            head = "".join(
                f"<th{kind}>{_shown(name)}</th>"
                for kind, name in zip(kinds, names, strict=True)
            )
            body = "\n".join(
                "<tr>"
                + "".join(
                    f"<td{kind}>{_shown(cell)}</td>"
                    for kind, cell in zip(kinds, row, strict=True)
                )
                + "</tr>"
                for row in rows
            )
            return (
                f'<div class="wide"><table><caption>{_shown(caption)}</caption>\n'
                f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
            )
        case Code(text, _):
            return "<pre>" + "\n".join(_shown(line) for line in text.split("\n")) + "</pre>"
        case Figure(path, caption):
            picture = base64.b64encode(path.read_bytes()).decode()
            return (
                f'<figure><img alt="{_shown(caption)}" '
                f'src="data:image/svg+xml;base64,{picture}">'
                f"<figcaption>{_shown(caption)}</figcaption></figure>"
            )
        case References(references):
            return _list(
                [
                    _shown(r.text)
                    + (f' <a href="{_shown(r.url)}">{_shown(r.url)}</a>' if r.url else "")
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
    odd = sorted({c for c in body if ord(c) > 0x17F})
    declared = "".join(
        f"  \\ifcsname u8:\\detokenize{{{c}}}\\endcsname\\else"
        f"\\DeclareUnicodeCharacter{{{ord(c):04X}}}{{[U+{ord(c):04X}]}}\\fi\n"
        for c in odd
    )
    head = _LATEX_HEAD.replace("FONT", _FONT if odd else "").replace(
        "DECLARED", f"\\ifpdftex\n{declared}\\fi\n" if odd else ""
    )
    return f"{head}{body}\n\n\\end{{document}}\n"


def _set(text: str) -> str:
    """Return a text as LaTeX sets it; long words may be broken."""
    found = _LONG.sub(lambda m: _broken(m[0]), visible(text))
    return _LIGATURE.sub(
        r"\g<0>{\\kern0pt}",
        "".join(_LATEX.get(c, c) for c in found).replace("\u200b", r"\hspace{0pt}"),
    )


def _broken(word: str) -> str:
    return "\u200b".join(word[i : i + 12] for i in range(0, len(word), 12))


def _latex(block: Block) -> str:
    match block:
        case Heading(text, level):
            if level == 1:
                return f"{{\\LARGE\\bfseries\\raggedright {_set(text)}\\par}}"
            return f"\\{'sub' * (level - 2)}section*{{{_set(text)}}}"
        case Paragraph(text):
            return _set(text)
        case Note(text):
            return f"\\begin{{quote}}\\textbf{{Note.}} {_set(text)}\\end{{quote}}"
        case Items(texts):
            return _itemize([_set(text) for text in texts])
        case Table():
            return _longtable(block)
        case Code(text, _):
            lines = [_set(line).replace(" ", "~") or "~" for line in text.split("\n")]
            return "{\\small\\ttfamily\\raggedright\n" + "\\\\\n".join(lines) + "\\par}"
        case Figure(path, caption):
            name = path.name.replace("\\", "/")
            return (
                "\\begin{center}\n"
                "\\includegraphics[width=\\linewidth,height=0.8\\textheight,"
                f"keepaspectratio]{{\\detokenize{{{name}}}}}\n\\end{{center}}\n"
                f"\\textbf{{Figure.}} {_set(caption)}"
            )
        case References(references):
            return _itemize(
                [_set(r.text) + (f" \\url{{{r.url}}}" if r.url else "") for r in references]
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
        else f">{{\\raggedright}}p{{{widths[name]:.2f}\\linewidth}}"
        for name in table.names
    )
    head = " & ".join(_set(name) for name in table.names)
    rows = "\n".join(
        " & ".join(_set(cell) for cell in row) + " \\tabularnewline" for row in table.rows
    )
    return (
        f"{{\\footnotesize\n\\begin{{longtable}}{{@{{}}{columns}@{{}}}}\n"
        f"\\multicolumn{{{len(table.names)}}}{{@{{}}p{{\\linewidth}}@{{}}}}"
        f"{{{_set(table.caption)}}}\\tabularnewline\n"
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
    taken = sum(_DIGIT * max(map(len, cells[name])) for name in table.numbers)
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
