"""Labels and numbers as pictures show them: literally, and no longer than a line."""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
WHITE = "#ffffff"
LINE_WIDTH = 28  # characters; a longer label continues on the next line
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_WIDTHLESS_LETTERS = "\u115f\u1160\u3164\uffa0"  # letters without width


def vertex_label(name: str, values: Mapping[str, object]) -> str:
    """Return what a vertex shows in other programs: its name and its variable."""
    return f"{name} {values['variable']}" if "variable" in values else name


def is_shared(values: Mapping[str, object]) -> bool:
    """Return whether a vertex's stage has two situations or more; others stay white."""
    return "stage" in values and str(values.get("colour", WHITE)).lower() != WHITE


def stage_colour(values: Mapping[str, object]) -> str | None:
    """Return the ``#rrggbb`` of a vertex whose stage is shared."""
    colour = str(values.get("colour"))
    return colour if is_shared(values) and _COLOUR.fullmatch(colour) else None


def text_colour(background: str) -> str:
    """Return black or white, whichever contrasts more with ``#rrggbb`` (WCAG 2)."""
    if not _COLOUR.fullmatch(background):
        return "#000000"
    red, green, blue = ((byte / 255) ** 2.2 for byte in bytes.fromhex(background[1:]))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if luminance > 0.18 else "#ffffff"


def format_probability(value: float) -> str:
    """Return three decimals or four; 0 and 1 only for what is 0 or 1 itself."""
    if value == 0 or abs(value - 1) < 1e-12:
        return f"{value:.0f}"
    for digits in (3, 4):
        text = f"{value:.{digits}f}"
        if float(text) not in (0, 1):
            return text
    return "<0.0001" if value < 0.5 else ">0.9999"


def format_number(value: float) -> str:
    """Return at most three decimals; more only where all three would be 0."""
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:.2g}" if value and text in ("0", "-0") else text


def text_lines(texts: Iterable[str], width: int = LINE_WIDTH) -> Iterator[str]:
    """Yield the lines of texts, each at most ``width`` characters; joined, they are the texts.

    A line without width gets a space: Graphviz 14 crashes on one in a PNG or PDF.
    """
    for line in chain.from_iterable(map(_LINE_BREAK.split, texts)):
        rest = xml_text(line)
        while len(rest) > width:
            end = rest.rfind(" ", 0, width) + 1 or width
            while end < len(rest) and _is_one_character(rest[end - 1], rest[end]):
                end += 1
            yield rest[:end] + _filler(rest[:end])
            rest = rest[end:]
        yield rest + _filler(rest)


def xml_text(text: str) -> str:
    """Return the text with a symbol for each character that XML forbids."""
    return NOT_XML.sub(
        lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "\ufffd", text
    )


def one_line(text: str) -> str:
    """Return `xml_text` on one line, a space for a line break."""
    return " ".join(map(xml_text, _LINE_BREAK.split(text)))


def _is_one_character(left: str, right: str) -> bool:
    """Return whether the two code points are (as a rule) one character."""
    return "\u200d" in (left, right) or unicodedata.category(right)[0] == "M"


def _filler(line: str) -> str:
    """Return a space if no character of the line has a width for sure."""
    has_width = any(
        unicodedata.category(character)[0] in "LNPS" and character not in _WIDTHLESS_LETTERS
        for character in line
    )
    return "" if has_width else " "
