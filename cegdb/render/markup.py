"""Texts as Markdown, HTML and LaTeX show them: literally, whatever they hold."""

from __future__ import annotations

import html as _html
import re
import unicodedata
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROL: Final = {
    **{i: chr(0x2400 + i) for i in range(0x20)},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **{
        i: f"⟨U+{i:04X}⟩"
        for i in (*range(0x80, 0xA0), 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F))
    },
    **{i: f"⟨U+{i:04X}⟩" for i in (0xFEFF, 0xFFFE, 0xFFFF)},
}
_MARKS: Final = re.compile(
    r"[\\`*_\[\]|~$#^]|:(?=[\w+-]+:)|(?<=\w)@(?=\w)|(?<=\w):(?=//)|(?<=www)\."
)
_ENTITY: Final = re.compile(r"&(?=#?\w+;)")
_AT_START: Final = re.compile(r"^(\d*)([-+.)=])(?=[\s-]|$)")
LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
}
"""Characters that mean something to LaTeX, in running text of any encoding."""

_LATEX: Final = {
    **LATEX,
    '"': r"{\ttfamily\char34}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "\N{EN DASH}": r"\textendash{}",
    "…": r"\ldots{}",
    "→": r"\(\rightarrow\)",
    "∞": r"\(\infty\)",
    "⟨": r"\textless{}",
    "⟩": r"\textgreater{}",
    **{
        symbol: rf"\textless{{}}U+{code:04X}\textgreater{{}}\penalty500{{}}"
        for code, symbol in _CONTROL.items()
        if len(symbol) == 1
    },
    "\0": r"\penalty500{}",
    "\1": r"{\kern0pt}",
    "\N{FIRST STRONG ISOLATE}": "",
    "\N{POP DIRECTIONAL ISOLATE}": "",
}
# Two alike would become one character: a dash, a quotation mark.
_LIGATURE: Final = re.compile(r"([-,<>'`])(?=\1)")
_LONG: Final = re.compile(r"\S{13,}")
_BREAK_EVERY: Final = 4
_LETTERS: Final = ("L", "R", "AL")
_SIDE: Final = {"L": "left", "EN": "left", "AN": "left", "R": "right", "AL": "right"}
LATEX_HEAD: Final = r"""% Letters that the font lacks show as their number.
\providecommand\cegother{}
\DeclareRobustCommand\cegletter[3]{\ifdefined\Umathchar
  \iffontchar\font#2 #3\else{\cegother\iffontchar\font#2 #3\else
  \cegltr{[U+#1]}\penalty500{}\fi}\fi
  \else\ifcsname u8:\detokenize{#3}\endcsname#3\else[U+#1]\penalty500{}\fi\fi}
\providecommand\cegarabic{\cegother}
\DeclareRobustCommand\cegrtl[1]{\ifdefined\textdir{\textdir TRT\cegarabic #1}\else#1\fi}
\DeclareRobustCommand\cegltr[1]{\ifdefined\textdir{\textdir TLT #1}\else#1\fi}
"""
"""What `latex` needs beside its text, in a document or before it is shown."""


def visible(text: str) -> str:
    r"""Return a text with symbols for characters that cannot be seen.

    Examples
    --------
    >>> visible("a\x00b\nc")
    'a␀b␊c'
    """
    return text.translate(_CONTROL)


def markdown(text: str) -> str:
    r"""Return a text as Markdown shows it literally, in a line or a table's cell.

    Examples
    --------
    >>> print(markdown("1. *a*|b < c & d"))
    1\. \*a\*\|b &lt; c & d
    """
    escaped = _MARKS.sub(lambda match: f"\\{match[0]}", _ENTITY.sub("&amp;", visible(text)))
    escaped = _AT_START.sub(r"\1\\\2", escaped.replace("<", "&lt;").replace(">", "&gt;"))
    return f"&#32;{escaped[1:]}" if escaped.startswith(" ") else escaped


def html(text: str) -> str:
    """Return a text as HTML shows it literally, in an element or an attribute.

    Examples
    --------
    >>> html("<b>")
    '&lt;b&gt;'
    """
    return _html.escape(visible(text))


def latex(text: str) -> str:
    r"""Return a text as LaTeX shows it literally.

    Long words may be broken. Letters beyond Latin and text from right to left use the
    commands of ``LATEX_HEAD``.

    Examples
    --------
    >>> print(latex(r"50 % of $x_1$"))
    50 \% of \$x\_1\$
    """
    return directed(visible(text), _set)


def directed(text: str, show: Callable[[str], str]) -> str:
    r"""Return a text as LaTeX, runs of the two directions in the order they are read.

    Examples
    --------
    >>> print(directed("a שלום b", str))
    a \cegrtl{שלום} b
    """
    if text.isascii():
        return show(text)
    all_runs = runs(text)
    if not any(is_right for is_right, _ in all_runs):
        return show(text)
    if not all_runs[0][0]:
        return "".join(
            rf"\cegrtl{{{show(run)}}}" if right else show(run) for right, run in all_runs
        )
    inside = "".join(
        show(run) if right else rf"\cegltr{{{show(run)}}}" for right, run in all_runs
    )
    return rf"\cegrtl{{{inside}}}"


def _set(text: str) -> str:
    marked = _LIGATURE.sub("\\1\1", _LONG.sub(_breakable, text))
    return "".join(_LATEX.get(c) or (c if c < "\u0180" else _letter(c)) for c in marked)


def _breakable(match: re.Match[str]) -> str:
    """Return a long word with a mark where it may be broken, if it must."""
    word = match[0]
    return "\0".join(word[i : i + _BREAK_EVERY] for i in range(0, len(word), _BREAK_EVERY))


def _letter(character: str) -> str:
    if character in _LATEX:
        return ""
    code = ord(character)
    return rf"\cegletter{{{code:04X}}}{{{code}}}{{{character}}}"


def runs(line: str) -> list[tuple[bool, str]]:
    """Return runs of one direction, and whether each is read from right to left.

    What has no direction of its own goes with what is around it, or with the line.

    Examples
    --------
    >>> runs("a שלום b")
    [(False, 'a '), (True, 'שלום'), (False, ' b')]
    """
    kinds = [unicodedata.bidirectional(character) for character in line]
    base = next((_SIDE[kind] for kind in kinds if kind in _LETTERS), "left")
    strong = [_SIDE.get(kind, "") for kind in kinds]
    before = list(accumulate(strong, _nearest, initial=base))[1:]
    after = list(accumulate(reversed(strong), _nearest, initial=base))[:0:-1]
    sides = [one if one == other else base for one, other in zip(before, after, strict=True)]
    return [
        (side == "right", "".join(character for _, character in run))
        for side, run in groupby(zip(sides, line, strict=True), key=itemgetter(0))
    ]


def _nearest(known: str, one: str) -> str:
    return one or known
