"""A variable of a survey: what was said of it, and the levels it has."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from cegdb.ingest.codebook.codebook import Entry

if TYPE_CHECKING:
    from cegdb.ingest.files import labelled

Kind: TypeAlias = Literal["value", "missing", "structural"]

NOT_APPLICABLE: Final = "not applicable"
MISSING: Final = "missing"

_INTEGER = re.compile(r"[+-]?\d+\Z", re.ASCII)


@dataclass(frozen=True)
class Former:
    """What a variable was in the rows its survey has already: its levels, by code.

    ``levels`` has the kind and label of each, the texts that it stood for, and how many
    respondents gave it; ``ordinal`` is the variable's place.
    """

    ordinal: int
    question: str | None
    levels: list[tuple[str, str, list[str], int]]

    def labels(self, of_kind: Kind) -> list[str]:
        """Return the labels of one kind, in level order."""
        return [label for kind, label, *_ in self.levels if kind == of_kind]

    @cached_property
    def meanings(self) -> dict[str, tuple[str, str]]:
        """The kind and label of each code that is not its own label."""
        found: dict[str, set[tuple[str, str]]] = {}
        for kind, label, codes, _ in self.levels:
            for code in codes:
                found.setdefault(code, set()).add((kind, label))
        labels = {label for _, label, *_ in self.levels}
        return {
            code: cells.copy().pop()
            for code, cells in found.items()
            if len(cells) == 1 and code not in labels
        }

    def apart(self) -> set[str]:
        """Return the labels that were told apart by their code."""
        return {
            label
            for _, label, codes, _ in self.levels
            if any(label.endswith(f" [{code}]") for code in codes)
        }

    def codes_of(self, of_kind: str, of_label: str) -> list[str]:
        """Return the texts that one label stood for."""
        return next(
            (
                codes
                for kind, label, codes, _ in self.levels
                if (kind, label) == (of_kind, of_label)
            ),
            [],
        )


@dataclass
class Variable:
    """One variable: what was said of it, then (after the first pass) its levels.

    ``counts`` has the respondents of each text as read (None: blank), ``cells`` what such
    a text is: its kind (value, missing, structural) and its label. ``is_later`` tells that
    its survey was read before, ``former`` what it was in the rows to which others are added.
    """

    name: str
    entry: Entry = field(default_factory=Entry)
    known: labelled.Entry | None = None
    decimal: str = "."
    is_gated: bool = False
    is_later: bool = False
    values: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    counts: dict[str | None, int] = field(default_factory=dict)
    cells: dict[str, tuple[Kind, str]] = field(default_factory=dict)
    former: Former | None = None
    n_of_code: dict[int, int] | None = None
    hints: list[str] = field(default_factory=list)
    texts: list[str] | None = None

    def kinds(self) -> dict[str, int]:
        """Return how many respondents' cells are of each kind."""
        if self.n_of_code is not None:
            n = dict.fromkeys(("value", "structural", "missing", "blank"), 0)
            for code, rows in self.n_of_code.items():
                n[self._kind_of(code)] += rows
            return n
        n = {"value": 0, "structural": 0, "missing": 0, "blank": self.counts.get(None, 0)}
        for text, (kind, _) in self.cells.items():
            n[kind] += self.counts.get(text, 0)
        return n

    def _kind_of(self, code: int) -> str:
        if code <= len(self.values):
            return "value"
        if code < self.blank_code:
            return "missing"
        return "blank" if code == self.blank_code else "structural"

    def n_of(self, kind: Kind, label: str) -> int:
        """Return how many respondents' cells are of one kind and label."""
        return sum(
            self.counts.get(text, 0)
            for text, cell in self.cells.items()
            if cell == (kind, label)
        )

    def set_apart(self) -> dict[str, int]:
        """Return how many cells hold each label that is structural or missing."""
        n: dict[str, int] = {}
        for text, (kind, label) in self.cells.items():
            if kind != "value":
                n[label] = n.get(label, 0) + self.counts.get(text, 0)
        return n

    def codes_of(self, kind: Kind, label: str) -> list[str]:
        """Return the texts as read that one label stands for."""
        return in_level_order(
            [text for text, cell in self.cells.items() if cell == (kind, label)]
        )

    def texts_of_levels(self) -> dict[tuple[str, str], list[str]]:
        """Return the texts of each level, former rows included, by kind and label."""
        if self.entry.bins is not None:
            return {}
        found: dict[tuple[str, str], dict[str, None]] = {}
        if self.former is not None:
            for kind, label, codes, _ in self.former.levels:
                found[kind, label] = dict.fromkeys(codes)
        for text, (kind, label) in self.cells.items():
            cell = (kind, NOT_APPLICABLE if kind == "structural" else label)
            found.setdefault(cell, {})[text] = None
        return {cell: in_level_order(list(texts)) for cell, texts in found.items()}

    def codes(self) -> dict[str, int]:
        """Return the code of each text as read."""
        code_of = self.codes_of_levels()
        return {
            text: code_of.get(cell, self.structural_code) for text, cell in self.cells.items()
        }

    def tells_texts_apart(self) -> bool:
        """Return whether no two texts as read, nor a text and a blank, have the same code."""
        code_of = self.codes()
        codes = [
            self.blank_code if text is None else code_of.get(text, self.blank_code)
            for text in self.counts
        ]
        return len(set(codes)) == len(codes)

    def codes_of_levels(self) -> dict[tuple[str, str], int]:
        """Return the code of each value and missing label, by kind and label."""
        found = {("value", label): i for i, label in enumerate(self.values, 1)}
        n = len(self.values)
        return found | {("missing", label): n + i for i, label in enumerate(self.missing, 1)}

    @property
    def blank_code(self) -> int:
        """The code of blank cells."""
        return len(self.values) + len(self.missing) + 1

    @property
    def structural_code(self) -> int:
        """The code of the one structural level, the last one."""
        return self.blank_code + 1

    @property
    def code_type(self) -> str:
        """The smallest column type that holds all codes."""
        for kind, size in (("utinyint", 8), ("usmallint", 16)):
            if self.structural_code < 1 << size:
                return kind
        return "uinteger"


def utf8(text: str | None) -> bytes:
    """Return a label as the bytes that levels are sorted by; a blank comes first."""
    return (text or "").encode("utf-8", "surrogatepass")


def in_level_order(labels: list[str]) -> list[str]:
    """Return labels by value if all are integers, else by UTF-8 bytes.

    Examples
    --------
    >>> in_level_order(["10", "9", "-1"]), in_level_order(["10", "9", "x"])
    (['-1', '9', '10'], ['10', '9', 'x'])
    """
    by_bytes = sorted(labels, key=utf8)
    if all(_INTEGER.match(label) for label in labels):
        return sorted(by_bytes, key=Decimal)  # exact, and without int's limit of digits
    return by_bytes
