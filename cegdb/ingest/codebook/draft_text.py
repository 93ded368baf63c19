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
class DraftColumn:
    """What the draft says of one column; ``left_out`` is why ingest is not to read it."""

    name: str
    label: str | None = None
    values: list[Level] = field(default_factory=list)
    missing: list[Level] = field(default_factory=list)
    structural: list[Level] = field(default_factory=list)
    unlisted: list[Level] = field(default_factory=list)
    unlisted_title: str = ""
    bins: str | None = None
    left_out: str | None = None
    is_number: bool = False
    is_id: bool = False
    remarks: list[str] = field(default_factory=list)


def _yaml_text(text: str) -> str:
    """Return a text in double quotes as YAML reads it, on one line and printable."""
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


def quoted(text: str) -> str:
    """Return a text in quotes for a remark, cut if it is very long."""
    if len(text) > _LONGEST_REMARK:
        return _yaml_text(text[:_LONGEST_REMARK]) + "..."
    return _yaml_text(text)


def _yaml_key(indent: str, text: str) -> str:
    quoted = _yaml_text(text)
    if len(quoted) > _LONGEST_KEY:
        return f"{indent}? {quoted}\n{indent}:"
    return f"{indent}{quoted}:"


def as_yaml(head: list[str], columns: list[DraftColumn]) -> str:
    """Return the draft as YAML, under lines of remarks."""
    lines = [*(f"# {line}" for line in head), "columns:"]
    for column in columns:
        if column.left_out is None:
            lines.append(f"  - {_yaml_text(column.name)}")
        else:
            lines.append(
                f"  # - {quoted(column.name)}  # left out: {_one_line(column.left_out)}"
            )
    lines.append("variables:")
    for column in columns:
        entry = list(_yaml_entry(column))
        if column.left_out is None:
            lines += entry
        elif column.name and len(entry) > 1:
            lines += [f"  # {line[2:]}" for line in "\n".join(entry).split("\n")]
    return "\n".join(lines) + "\n"


def _yaml_entry(column: DraftColumn) -> Iterator[str]:
    yield _yaml_key("  ", column.name)
    if column.left_out is not None and column.is_number:
        yield '    bins: "q4"  # or cut points, such as "18,35,65"'
        yield "    ordered: true"
    for remark in column.remarks:
        yield f"    # {_one_line(remark)}"
    if column.label is not None:
        yield f"    label: {_yaml_text(column.label)}"
    if column.bins is not None:
        yield f"    bins: {_yaml_text(column.bins)}"
        yield "    ordered: true"
    for title, levels in (("values", column.values), ("missing", column.missing)):
        if levels:
            yield f"    {title}:"
        for level in levels:
            key = _yaml_key("      ", level.code)
            yield f"{key} {_yaml_text(level.label)}  # {counted(level.n, 'row')}"
    if column.structural:
        yield "    structural:"
    for level in column.structural:
        yield f"      - {_yaml_text(level.code)}  # {counted(level.n, 'row')}"
    if column.unlisted_title:
        yield f"    # {column.unlisted_title}"
    for level in column.unlisted:
        code, label = quoted(level.code), quoted(level.label)
        yield f"    #   {code}: {label}  # {counted(level.n, 'row')}"


def as_csv(head: list[str], columns: list[DraftColumn]) -> str:
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
            out.writerow([name, "note", "", "", "", f"left out: {_one_line(column.left_out)}"])
        out.writerows(
            [name, "note", "", "", "", _one_line(remark)] for remark in column.remarks
        )
        out.writerows(_csv_entry(column))
    return text.getvalue()


def _csv_entry(column: DraftColumn) -> Iterator[list[Any]]:
    name = column.name
    if column.left_out is None:
        if column.label is not None:
            yield [name, "variable", "", column.label, "", ""]
        if column.bins is not None:
            yield [name, "bins", "", column.bins, "", ""]
            yield [name, "ordered", "", "", "", ""]
        for kind, levels in _levels_by_kind(column):
            yield from ([name, kind, x.code, x.label, x.n, ""] for x in levels)
    elif column.is_number:
        yield [name, "note", "", "q4", "", "to keep it: write column, and a row of kind bins"]
    if column.unlisted_title:
        yield [name, "note", "", "", "", column.unlisted_title]
    yield from ([name, "note", x.code, x.label, x.n, ""] for x in column.unlisted)


def _levels_by_kind(column: DraftColumn) -> Iterable[tuple[str, list[Level]]]:
    return (
        ("value", column.values),
        ("missing", column.missing),
        ("structural", column.structural),
    )


def _one_line(text: str) -> str:
    """Return a remark on one line, fit to be printed."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)
