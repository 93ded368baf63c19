"""Texts are literal in Markdown, HTML and LaTeX, by one set of rules."""

from __future__ import annotations

import html

import pytest
from markdown_it import MarkdownIt

from cegdb.render import markup
from cegdb.render.document import Table
from cegdb.render.writers import plain_text

TEXTS = [
    "a & b &amp; c &#35; d",
    "1. one",
    "# - + = *a* _b_ `c` ~~d~~ | [x](http://e.vil) www.e.vil a@e.vil :smile:",
    '<b>"it\'s"</b>',
    "\u05e9\u05dc\u05d5\u05dd 12",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_back_as_it_was(text: str) -> None:
    rendered = MarkdownIt("commonmark").enable("table").renderInline(markup.markdown(text))
    assert html.unescape(rendered) == text
    assert html.unescape(markup.html(text)) == text


def test_what_cannot_be_seen_is_shown_by_its_number() -> None:
    assert markup.visible("\x1b\x85\u202e\ufeff") == "␛⟨U+0085⟩⟨U+202E⟩⟨U+FEFF⟩"


def test_two_alike_stay_two_in_latex() -> None:
    assert markup.latex("--") == r"-{\kern0pt}-"
    assert markup.latex("<<") == r"\textless{}{\kern0pt}\textless{}"


def test_text_from_right_to_left_is_marked_without_the_quotes_around_it() -> None:
    shown = markup.directed("of “שלום, 12” b", str)
    assert shown == r"of “\cegrtl{שלום}, 12” b"
    assert markup.directed("שלום abc", str) == r"\cegrtl{שלום \cegltr{abc}}"


def test_marks_without_width_do_not_shift_the_columns_of_a_terminal() -> None:
    rows = [["“\u2068נ\u2069”", "x"], ["“n”", "y"]]
    text = plain_text([Table.of_rows("Two", ["Label", "Next"], rows)])
    hebrew, latin = text.splitlines()[-2:]
    assert hebrew.index("x") == latin.index("y") + 2
