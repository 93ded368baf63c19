r"""Bayesian networks as text in the Interchange Format (BIF 0.15).

Words are quoted where they hold more than letters, digits and underscores. The format has
no way to write a quote: here it is ``\"``, and a backslash before a quote or backslash is
doubled; other backslashes stand for themselves.
"""

from __future__ import annotations

import os
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.errors import NetworkError, counted, listed
from cegdb.networks.bayesian_network import MAX_ROWS, Network, normalised_row

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX: Final = ".bif"

_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|"(?P<quoted>(?:\\["\\]|[^"])*)"
    |(?P<mark>[{}()\[\]|,;])|(?P<word>[^\s{}()\[\]|,;"]+)""",
    re.DOTALL | re.VERBOSE,
)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_]+")
_RESERVED: Final = {"network", "variable", "probability", "property", "type", "discrete",
                    "table", "default"}  # fmt: skip


def is_bif(source: object) -> bool:
    """Return whether a source is a path that ends in ``.bif``."""
    return isinstance(source, (str, os.PathLike)) and os.fspath(source).lower().endswith(SUFFIX)


def read_bif(path: str | os.PathLike[str]) -> Network:
    """Read a network from a file; errors name the line."""
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise NetworkError(
            f"cannot read {str(file)!r}: {error.strerror}", hint="check the path"
        ) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NetworkError(
            f"{file.name}, line {line}: not UTF-8 text", hint="save the file as UTF-8"
        ) from error
    return parse_bif(text, file.name)


def parse_bif(text: str, where: str = "BIF") -> Network:
    """Read a network from text, called ``where`` in messages, which name the line.

    A ``table`` of a variable with parents lists the first label of the variable for all
    combinations of the parents' labels, the last parent's changing fastest, then the second
    label. ``default`` fills rows that are not given.
    """
    return _Reader(text, where).network()


def bif_text(network: Network) -> str:
    """Return a network as text, its numbers with all digits.

    Rows that the network leaves out, since the parents never have these labels at once, are
    written with equal probabilities.
    """
    lines = [f"network {_quoted(network.name)} {{", "}"]
    for name, labels in network.levels.items():
        written = ", ".join(map(_quoted, labels))
        lines += [
            f"variable {_quoted(name)} {{",
            f"  type discrete [ {len(labels)} ] {{ {written} }};",
            "}",
        ]
    for name, parents in network.parents.items():
        if network.n_rows(name) > MAX_ROWS:
            raise NetworkError(
                f"the table of {name!r} given {counted(len(parents), 'parent')} has "
                f"{network.n_rows(name):,} rows, more than {MAX_ROWS:,}",
                hint="a staging with fewer stages has fewer parents",
            )
        given_by = f" | {', '.join(map(_quoted, parents))}" if parents else ""
        lines.append(f"probability ( {_quoted(name)}{given_by} ) {{")
        for given, row in network.rows(name):
            size = len(network.levels[name])
            head = f"({', '.join(map(_quoted, given))})" if parents else "table"
            numbers = ", ".join(repr(float(p)) for p in row or [1 / size] * size)
            lines.append(f"  {head} {numbers};")
        lines.append("}")
    return "\n".join([*lines, ""])


def _quoted(word: str) -> str:
    """Return a word, quoted unless it is plain."""
    if _PLAIN.fullmatch(word) and word not in _RESERVED:
        return word
    escaped = re.sub(r'(\\)(?=["\\]|\Z)|(")', lambda match: "\\" + match[0], word)
    return f'"{escaped}"'


class _Token(NamedTuple):
    text: str
    line: int
    is_mark: bool = False


class _ProbabilityBlock(NamedTuple):
    """A ``probability`` block: its variable, and its entries, each with its line."""

    line: int
    parents: list[_Token]
    rows: list[tuple[int, list[_Token] | None, list[float]]]
    default: list[float] | None


class _Reader:
    """Reads one text, token by token."""

    def __init__(self, text: str, where: str) -> None:
        self._where = where
        self._tokens = list(self._split(text))
        self._index = 0

    def network(self) -> Network:
        name = Path(self._where).stem
        levels: dict[str, list[str]] = {}
        tables: dict[str, _ProbabilityBlock] = {}
        while self._peek() is not None:
            token = self._expect_word("network, variable or probability")
            if token.text == "network":
                head = self._peek()
                if head is not None and not head.is_mark:
                    name = self._expect_word("a name").text
                self._expect_mark("{")
                self._properties()
            elif token.text == "variable":
                variable = self._expect_word("the name of a variable")
                if variable.text in levels:
                    raise self._error(
                        variable.line, f"variable {variable.text!r} is declared twice"
                    )
                levels[variable.text] = self._levels(variable)
            elif token.text == "probability":
                variable, table = self._table(token.line)
                if variable.text in tables:
                    raise self._error(
                        variable.line, f"{variable.text!r} has two probability blocks"
                    )
                tables[variable.text] = table
            else:
                raise self._error(
                    token.line,
                    f"{token.text!r} where network, variable or probability is expected",
                )
        if not levels:
            raise NetworkError(
                f"{self._where}: no variable is declared",
                hint="declare each in a block that starts with the word variable",
            )
        unknown = [name for name in tables if name not in levels]
        if unknown:
            line = tables[unknown[0]].line
            raise self._error(line, f"{unknown[0]!r} is not a declared variable")
        parents = {name: self._parents(name, tables, levels) for name in levels}
        rows = {
            name: self._rows(name, tables[name], levels) for name in levels if name in tables
        }
        return Network(name, parents, levels, rows)

    def _split(self, text: str) -> Iterator[_Token]:
        position, line = 0, 1
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or (match["word"] or "").startswith("/*"):
                what = "quote" if text[position] == '"' else "comment"
                raise self._error(line, f"a {what} is not closed")
            if match["quoted"] is not None:
                yield _Token(re.sub(r'\\(["\\])', r"\1", match["quoted"]), line)
            elif not match["blank"]:
                yield _Token(match[0], line, is_mark=match["mark"] is not None)
            line += match[0].count("\n")
            position = match.end()

    def _levels(self, variable: _Token) -> list[str]:
        self._expect_mark("{")
        texts: list[str] | None = None
        while not self._accept("}"):
            token = self._expect_word("type or property")
            if token.text == "property":
                self._skip_property()
                continue
            kind = self._expect_word("discrete") if token.text == "type" else token
            if kind.text != "discrete":
                raise self._error(
                    kind.line, f"variable {variable.text!r}: {kind.text!r} is not discrete"
                )
            self._expect_mark("[")
            size = self._expect_word("a number of labels")
            self._expect_mark("]")
            self._expect_mark("{")
            labels = self._words_until("}")
            self._expect_mark(";")
            if not size.text.isdecimal() or int(size.text) != len(labels):
                raise self._error(
                    size.line,
                    f"variable {variable.text!r} has {counted(len(labels), 'label')}, but "
                    f"declares {size.text}",
                )
            texts = [label.text for label in labels]
            twice = [label for label in texts if texts.count(label) > 1]
            if twice:
                raise self._error(
                    variable.line,
                    f"variable {variable.text!r} has label {twice[0]!r} more than once",
                )
        if not texts:
            raise self._error(variable.line, f"variable {variable.text!r} has no labels")
        return texts

    def _table(self, line: int) -> tuple[_Token, _ProbabilityBlock]:
        self._expect_mark("(")
        variable = self._expect_word("the name of a variable")
        parents: list[_Token] = []
        self._accept("|")
        parents = self._words_until(")")
        self._expect_mark("{")
        table = _ProbabilityBlock(line, parents, [], None)
        while not self._accept("}"):
            entry = self._next("table, default, property or (")
            if entry.is_mark and entry.text == "(":
                table.rows.append((entry.line, self._words_until(")"), self._numbers()))
            elif entry.text == "table":
                table.rows.append((entry.line, None, self._numbers()))
            elif entry.text == "default":
                table = table._replace(default=self._numbers())
            elif entry.text == "property":
                self._skip_property()
            else:
                raise self._error(
                    entry.line,
                    f"{entry.text!r} where table, default, property or ( is expected",
                )
        return variable, table

    def _parents(
        self, name: str, tables: dict[str, _ProbabilityBlock], levels: dict[str, list[str]]
    ) -> list[str]:
        if name not in tables:
            return []
        names = [token.text for token in tables[name].parents]
        for token in tables[name].parents:
            if token.text not in levels:
                raise self._error(token.line, f"{token.text!r} is not a declared variable")
            if token.text == name:
                raise self._error(token.line, f"{name!r} is its own parent")
            if names.count(token.text) > 1:
                raise self._error(
                    token.line, f"{token.text!r} is listed twice as a parent of {name!r}"
                )
        return names

    def _rows(
        self, name: str, table: _ProbabilityBlock, levels: dict[str, list[str]]
    ) -> dict[tuple[str, ...], list[float]]:
        parents = [token.text for token in table.parents]
        sizes = [len(levels[parent]) for parent in parents]
        size, rows = len(levels[name]), dict[tuple[str, ...], list[float]]()
        for line, labels, numbers in table.rows:
            if labels is None:
                whole = list(product(*(levels[parent] for parent in parents)))
                if len(numbers) != size * len(whole):
                    raise self._error(
                        line,
                        f"the table of {name!r} has {counted(len(numbers), 'number')}, not "
                        f"{' x '.join(map(str, [size, *sizes]))}",
                    )
                given_rows = {given: numbers[i :: len(whole)] for i, given in enumerate(whole)}
            else:
                given_rows = {self._given(name, line, parents, labels, levels): numbers}
            for given, row in given_rows.items():
                if given in rows:
                    raise self._error(line, f"{name!r} given {given!r} has two rows")
                if len(row) != size:
                    raise self._error(
                        line,
                        f"{counted(len(row), 'number')} for the {counted(size, 'label')} of "
                        f"{name!r}",
                    )
                try:
                    rows[given] = normalised_row(row, repr(name))
                except NetworkError as error:
                    raise self._error(line, str(error.args[0]), hint=error.hint) from None
        lacking = [
            given
            for given in product(*(levels[parent] for parent in parents))
            if given not in rows
        ]
        if lacking and table.default is None:
            raise self._error(
                table.line, f"{name!r} has no row for {listed(map(str, lacking), most=2)}"
            )
        if lacking and table.default is not None:
            if len(table.default) != size:
                raise self._error(
                    table.line, f"the default of {name!r} does not have {size} numbers"
                )
            rows |= dict.fromkeys(lacking, normalised_row(table.default, repr(name)))
        return rows

    def _given(
        self,
        name: str,
        line: int,
        parents: list[str],
        labels: list[_Token],
        levels: dict[str, list[str]],
    ) -> tuple[str, ...]:
        if len(labels) != len(parents):
            raise self._error(
                line,
                f"a row of {name!r} has {counted(len(labels), 'label')} for its "
                f"{counted(len(parents), 'parent')}",
            )
        for parent, label in zip(parents, labels, strict=True):
            if label.text not in levels[parent]:
                raise self._error(
                    label.line,
                    f"{label.text!r} is not a label of {parent!r}",
                    hint=f"its labels are {listed(map(repr, levels[parent]))}",
                )
        return tuple(label.text for label in labels)

    def _numbers(self) -> list[float]:
        numbers = []
        for token in self._words_until(";"):
            try:
                numbers.append(float(token.text))
            except ValueError:
                raise self._error(token.line, f"{token.text!r} is not a number") from None
        return numbers

    def _words_until(self, end: str) -> list[_Token]:
        """Return the words up to a mark, with or without commas between them."""
        words: list[_Token] = []
        while not self._accept(end):
            if words:
                self._accept(",")
            words.append(self._expect_word(f"a word or {end}"))
        return words

    def _properties(self) -> None:
        while not self._accept("}"):
            token = self._expect_word("property or }")
            if token.text != "property":
                raise self._error(token.line, f"{token.text!r} where property is expected")
            self._skip_property()

    def _skip_property(self) -> None:
        """Skip a property: any text up to a semicolon."""
        while not self._accept(";"):
            self._next(";")

    def _peek(self) -> _Token | None:
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    def _next(self, expected: str) -> _Token:
        token = self._peek()
        if token is None:
            last = self._tokens[-1].line if self._tokens else 1
            raise self._error(last, f"the text ends where {expected} is expected")
        self._index += 1
        return token

    def _expect_word(self, expected: str) -> _Token:
        token = self._next(expected)
        if token.is_mark:
            raise self._error(token.line, f"{token.text!r} where {expected} is expected")
        return token

    def _expect_mark(self, mark: str) -> None:
        token = self._next(repr(mark))
        if not (token.is_mark and token.text == mark):
            raise self._error(token.line, f"{token.text!r} where {mark!r} is expected")

    def _accept(self, mark: str) -> bool:
        """Skip a mark if it comes next; return whether it did."""
        token = self._peek()
        is_next = token is not None and token.is_mark and token.text == mark
        self._index += is_next
        return is_next

    def _error(self, line: int, message: str, *, hint: str | None = None) -> NetworkError:
        return NetworkError(f"{self._where}, line {line}: {message}", hint=hint)
