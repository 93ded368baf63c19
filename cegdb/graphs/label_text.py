"""Labels and numbers as pictures show them: literally, and no longer than a line."""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LINE_WIDTH = 28  # characters; a longer label continues on the next line
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters without width


def ink(colour: str) -> str:
    """Return black or white, whichever contrasts more with ``#rrggbb`` (WCAG 2).

    Examples
    --------
    >>> ink("#F0E442"), ink("#332288")
    ('#000000', '#ffffff')
    """
    if not re.fullmatch(r"#[0-9A-Fa-f]{6}", colour):
        return "#000000"
    red, green, blue = ((byte / 255) ** 2.2 for byte in bytes.fromhex(colour[1:]))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if luminance > 0.18 else "#ffffff"


def shown_probability(value: float) -> str:
    """Return three decimals or four; 0 and 1 only for what is 0 or 1 itself.

    Examples
    --------
    >>> shown_probability(0.25), shown_probability(0.00012), shown_probability(1e-9)
    ('0.250', '0.0001', '<0.0001')
    """
    if value == 0 or abs(value - 1) < 1e-12:
        return f"{value:.0f}"
    for digits in (3, 4):
        text = f"{value:.{digits}f}"
        if float(text) not in (0, 1):
            return text
    return "<0.0001" if value < 0.5 else ">0.9999"


def shown_number(value: float) -> str:
    """Return at most three decimals; more only where all three would be 0.

    Examples
    --------
    >>> shown_number(6012), shown_number(1.5), shown_number(0.00004)
    ('6,012', '1.5', '4e-05')
    """
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:.2g}" if value and text in ("0", "-0") else text


def text_lines(texts: Iterable[str], width: int = LINE_WIDTH) -> Iterator[str]:
    """Yield the lines of a label; joined, they are the texts, save line breaks.

    A line without width gets a space: Graphviz 14 crashes on one in a PNG or PDF.

    Parameters
    ----------
    texts
        Each begins on a line of its own.
    width
        The most characters of a line.

    Examples
    --------
    >>> list(text_lines(["High", "assessed and not treated at home"], width=20))
    ['High', 'assessed and not ', 'treated at home']
    """
    for line in chain.from_iterable(map(_LINE_BREAK.split, texts)):
        rest = visible(line)
        while len(rest) > width:
            end = rest.rfind(" ", 0, width) + 1 or width
            while end < len(rest) and _joined(rest[end - 1], rest[end]):
                end += 1
            yield rest[:end] + _room(rest[:end])
            rest = rest[end:]
        yield rest + _room(rest)


def visible(text: str) -> str:
    r"""Return the text with a symbol for each character that XML forbids.

    Examples
    --------
    >>> visible("yes\x00no")
    'yes␀no'
    """
    return NOT_XML.sub(
        lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "\ufffd", text
    )


def one_line(text: str) -> str:
    r"""Return the visible text on one line, a space for a line break.

    Examples
    --------
    >>> one_line("yes\x07\nno")
    'yes␇ no'
    """
    return " ".join(map(visible, _LINE_BREAK.split(text)))


def _joined(left: str, right: str) -> bool:
    """Return whether the two code points are (as a rule) one character."""
    return "\u200d" in (left, right) or unicodedata.category(right)[0] == "M"


def _room(line: str) -> str:
    """Return a space if no character of the line has a width for sure."""
    has_width = any(
        unicodedata.category(character)[0] in "LNPS" and character not in _FILLERS
        for character in line
    )
    return "" if has_width else " "
