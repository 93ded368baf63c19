"""A variable of a survey: what the codebook and the file say of it, and its levels."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from cegdb.ingest.codebook.codebook import CodebookEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.findings import Finding
    from cegdb.ingest.files import labelled

Kind: TypeAlias = Literal["value", "missing", "structural"]

NOT_APPLICABLE: Final = "not applicable"
MISSING: Final = "missing"

_INTEGER = re.compile(r"[+-]?\d+\Z", re.ASCII)


@dataclass(frozen=True)
class VariableVersion:
    """A variable in the rows its survey has already: its ordinal, and its levels by code.

    ``levels`` has the kind and label of each, the texts that it stood for, and how many
    respondents gave it.
    """

    ordinal: int
    question: str | None
    levels: list[tuple[str, str, list[str], int]]

    def labels(self, of_kind: Kind) -> list[str]:
        """Return the labels of one kind, in level order."""
        return [label for kind, label, *_ in self.levels if kind == of_kind]

    @cached_property
    def meaning_of_code(self) -> dict[str, tuple[str, str]]:
        """The kind and label of each code that is not its own label."""
        meanings: dict[str, set[tuple[str, str]]] = {}
        for kind, label, texts, _ in self.levels:
            for text in texts:
                meanings.setdefault(text, set()).add((kind, label))
        labels = {label for _, label, *_ in self.levels}
        return {
            text: min(of_text)
            for text, of_text in meanings.items()
            if len(of_text) == 1 and text not in labels
        }

    @cached_property
    def own_labels(self) -> dict[str, tuple[Kind, str]]:
        """What cegdb writes for cells without an answer: not applicable, missing answers."""
        own: dict[str, tuple[Kind, str]] = {NOT_APPLICABLE: ("structural", NOT_APPLICABLE)}
        for label in self.labels("missing"):
            own[label] = ("missing", label)
        has_blanks = any(kind == "blank" and n for kind, *_, n in self.levels)
        if has_blanks and MISSING not in self.labels("value"):
            own[MISSING] = ("missing", MISSING)
        return own

    def labels_with_code(self) -> set[str]:
        """Return the labels that end in their code, since several codes had one label."""
        return {
            label
            for _, label, codes, _ in self.levels
            if any(label.endswith(f" [{code}]") for code in codes)
        }


@dataclass
class Variable:
    """One variable: what is said of it, then (after the first pass) its levels.

    ``counts`` has the respondents of each text as read (None: blank), ``meanings`` the kind
    (value, missing, structural) and label of such a text. ``is_update`` tells that its survey
    has rows already, ``previous`` what it is in these if the new ones are added to them.
    ``own_labels`` are labels that cegdb writes for cells without an answer, ``scores`` the
    numbers that stand for the values of an ordered variable.
    """

    name: str
    entry: CodebookEntry = field(default_factory=CodebookEntry)
    metadata: labelled.ColumnMetadata | None = None
    decimal: str = "."
    is_gated: bool = False
    is_update: bool = False
    values: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)
    counts: dict[str | None, int] = field(default_factory=dict)
    meanings: dict[str, tuple[Kind, str]] = field(default_factory=dict)
    previous: VariableVersion | None = None
    own_labels: Mapping[str, tuple[Kind, str]] = field(default_factory=dict)
    n_of_code: dict[int, int] | None = None
    findings: list[Finding] = field(default_factory=list)
    texts: list[str] | None = None

    def counts_by_kind(self) -> dict[str, int]:
        """Return how many respondents' cells are of each kind."""
        if self.n_of_code is not None:
            n = dict.fromkeys(("value", "structural", "missing", "blank"), 0)
            for code, rows in self.n_of_code.items():
                n[self._kind_of(code)] += rows
            return n
        n = {"value": 0, "structural": 0, "missing": 0, "blank": self.counts.get(None, 0)}
        for text, (kind, _) in self.meanings.items():
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
            for text, meaning in self.meanings.items()
            if meaning == (kind, label)
        )

    def declared_labels(self) -> dict[str, int]:
        """Return how many respondents have each label that is structural or missing."""
        n: dict[str, int] = {}
        for text, (kind, label) in self.meanings.items():
            if kind != "value":
                n[label] = n.get(label, 0) + self.counts.get(text, 0)
        return n

    def texts_of(self, kind: Kind, label: str) -> list[str]:
        """Return the texts as read that one label stands for."""
        return in_level_order(
            [text for text, meaning in self.meanings.items() if meaning == (kind, label)]
        )

    def texts_of_levels(self) -> dict[tuple[str, str], list[str]]:
        """Return the texts of each level, by kind and label, those of the previous rows too."""
        if self.entry.bins is not None:
            return {}
        texts_of: dict[tuple[str, str], dict[str, None]] = {}
        if self.previous is not None:
            for kind, label, texts, _ in self.previous.levels:
                texts_of[kind, label] = dict.fromkeys(texts)
        for text, (kind, label) in self.meanings.items():
            level = (kind, NOT_APPLICABLE if kind == "structural" else label)
            texts_of.setdefault(level, {})[text] = None
        return {level: in_level_order(list(texts)) for level, texts in texts_of.items()}

    def code_of_text(self) -> dict[str, int]:
        """Return the code of each text as read."""
        code_of = self.code_of_level()
        return {
            text: code_of.get(meaning, self.structural_code)
            for text, meaning in self.meanings.items()
        }

    def has_code_for_each_text(self) -> bool:
        """Return whether no two texts as read, nor a text and a blank, have the same code."""
        code_of = self.code_of_text()
        codes = [
            self.blank_code if text is None else code_of.get(text, self.blank_code)
            for text in self.counts
        ]
        return len(set(codes)) == len(codes)

    def code_of_level(self) -> dict[tuple[str, str], int]:
        """Return the code of each value and missing label, by kind and label."""
        values = {("value", label): i for i, label in enumerate(self.values, 1)}
        n = len(self.values)
        return values | {("missing", label): n + i for i, label in enumerate(self.missing, 1)}

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
    """Return labels by value if all are integers, else by UTF-8 bytes."""
    by_bytes = sorted(labels, key=utf8)
    if all(_INTEGER.match(label) for label in labels):
        return sorted(by_bytes, key=Decimal)  # exact, and without int's limit of digits
    return by_bytes
