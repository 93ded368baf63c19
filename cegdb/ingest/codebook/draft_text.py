"""The text of a codebook's draft, as YAML or CSV that `load_codebook` reads back exactly."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cegdb.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST_KEY: Final = 1_000  # YAML wants "? " before a key of 1,024 characters
_LONGEST_REMARK: Final = 200


class Level(NamedTuple):
    """A code of a variable, its label and its rows."""

    code: str
    label: str
    n: int


@dataclass
class Column:
    """What the draft says of one column; ``left_out`` is why ingest is not to read it."""

    name: str
    label: str | None = None
    values: list[Level] = field(default_factory=list)
    missing: list[Level] = field(default_factory=list)
    structural: list[Level] = field(default_factory=list)
    unlisted: list[Level] = field(default_factory=list)
    unlisted_as: str = ""
    bins: str | None = None
    left_out: str | None = None
    is_number: bool = False
    is_id: bool = False
    remarks: list[str] = field(default_factory=list)


def _quoted(text: str) -> str:
    r"""Return a text in double quotes as YAML reads it, on one line and printable.

    Examples
    --------
    >>> print(_quoted('no: "é"\n\U0001f600'))
    "no: \"é\"\n😀"
    """
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if short is not None:
        return short
    code = ord(char)
    if code < 1 << 8:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def brief(text: str) -> str:
    """Return a text in quotes for a remark, cut if it is very long."""
    if len(text) > _LONGEST_REMARK:
        return _quoted(text[:_LONGEST_REMARK]) + "..."
    return _quoted(text)


def _key(indent: str, text: str) -> str:
    quoted = _quoted(text)
    if len(quoted) > _LONGEST_KEY:
        return f"{indent}? {quoted}\n{indent}:"
    return f"{indent}{quoted}:"


def as_yaml(head: list[str], columns: list[Column]) -> str:
    """Return the draft as YAML, under lines of remarks."""
    lines = [*(f"# {line}" for line in head), "columns:"]
    for column in columns:
        if column.left_out is None:
            lines.append(f"  - {_quoted(column.name)}")
        else:
            lines.append(f"  # - {brief(column.name)}  # left out: {_line(column.left_out)}")
    lines.append("variables:")
    for column in columns:
        entry = list(_yaml_entry(column))
        if column.left_out is None:
            lines += entry
        elif column.name and len(entry) > 1:
            lines += [f"  # {line[2:]}" for line in "\n".join(entry).split("\n")]
    return "\n".join(lines) + "\n"


def _yaml_entry(column: Column) -> Iterator[str]:
    yield _key("  ", column.name)
    if column.left_out is not None and column.is_number:
        yield '    bins: "q4"  # or cut points, such as "18,35,65"'
    for remark in column.remarks:
        yield f"    # {_line(remark)}"
    if column.label is not None:
        yield f"    label: {_quoted(column.label)}"
    if column.bins is not None:
        yield f"    bins: {_quoted(column.bins)}"
    for title, levels in (("values", column.values), ("missing", column.missing)):
        if levels:
            yield f"    {title}:"
        for level in levels:
            key = _key("      ", level.code)
            yield f"{key} {_quoted(level.label)}  # {counted(level.n, 'row')}"
    if column.structural:
        yield "    structural:"
    for level in column.structural:
        yield f"      - {_quoted(level.code)}  # {counted(level.n, 'row')}"
    if column.unlisted_as:
        yield f"    # {column.unlisted_as}"
    for level in column.unlisted:
        yield f"    #   {brief(level.code)}: {brief(level.label)}  # {counted(level.n, 'row')}"


def as_csv(head: list[str], columns: list[Column]) -> str:
    """Return the draft as CSV, with a row for each code, under rows of remarks."""
    text = io.StringIO(newline="")
    # In quotes, so that no reader takes a line separator in a label for the end of the row.
    out = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    out.writerow(["variable", "kind", "code", "label", "n", "note"])
    out.writerows(["", "note", "", "", "", line] for line in head)
    for column in columns:
        name = column.name
        if column.left_out is None:
            out.writerow([name, "column", "", "", "", ""])
        else:
            out.writerow([name, "note", "", "", "", f"left out: {_line(column.left_out)}"])
        out.writerows([name, "note", "", "", "", _line(remark)] for remark in column.remarks)
        out.writerows(_csv_entry(column))
    return text.getvalue()


def _csv_entry(column: Column) -> Iterator[list[Any]]:
    name = column.name
    if column.left_out is None:
        if column.label is not None:
            yield [name, "variable", "", column.label, "", ""]
        if column.bins is not None:
            yield [name, "bins", "", column.bins, "", ""]
        for kind, levels in _kinds(column):
            yield from ([name, kind, x.code, x.label, x.n, ""] for x in levels)
    elif column.is_number:
        yield [name, "note", "", "q4", "", "to keep it: write column, and a row of kind bins"]
    if column.unlisted_as:
        yield [name, "note", "", "", "", column.unlisted_as]
    yield from ([name, "note", x.code, x.label, x.n, ""] for x in column.unlisted)


def _kinds(column: Column) -> Iterable[tuple[str, list[Level]]]:
    return (
        ("value", column.values),
        ("missing", column.missing),
        ("structural", column.structural),
    )


def _line(text: str) -> str:
    """Return a remark on one line, fit to be printed."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)
