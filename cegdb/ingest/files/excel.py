"""Excel sheets: one row a respondent, each cell as the text of its label.

The header is the first row that is not blank, save for titles above it.
"""

from __future__ import annotations

import datetime
import html
import importlib.util
import re
import zipfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cegdb.errors import SurveyError, agreeing, counted, listed
from cegdb.ingest.files.cell_labels import abbreviated, check_chunk_request, label_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd

__all__ = ["Sheet", "chunks", "describe", "numbered_rows"]

Row: TypeAlias = "list[Any]"
Errors: TypeAlias = "dict[tuple[int, int], str]"

_MOST_TITLES: Final = 10
_MOST_KNOWN: Final = 100_000
_BLOCK: Final = 1 << 20
_ERROR_CELL: Final = re.compile(
    rb"<(?:\w+:)?c\b([^<>]*\bt=[\"']e[\"'][^<>]*)>(?:(?!</(?:\w+:)?c>).)*?"
    rb"<(?:\w+:)?v>([^<]*)</(?:\w+:)?v>",
    re.DOTALL,
)
_CELL_NAME: Final = re.compile(rb"\br=[\"']([A-Z]{1,3})(\d+)[\"']")
_TAG: Final = r"<(?:\w+:)?{}\b([^<>]*)>"
_ATTRIBUTE: Final = re.compile(r"([\w:]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


@dataclass(frozen=True)
class Sheet:
    """A sheet's columns (``""``: no name), rows below the header, and notes for the receipt.

    ``others`` are the other sheets of the workbook.
    """

    name: str
    columns: list[str]
    n_rows: int
    others: list[str]
    notes: list[str]


def describe(file: Path, sheet: str | int | None = None) -> Sheet:
    """Return what a sheet has."""
    with _open_workbook(file) as book:
        table, others, notes = _find_sheet(book, file, sheet)
        n_rows = sum(1 for _ in table.rows())
        if table.blank:
            lines = listed(map(str, table.blank))
            notes = [
                *notes,
                f"blank lines of sheet {table.name!r} were left out: {lines}",
            ]
        return Sheet(table.name, table.columns, n_rows, others, notes)


def chunks(
    file: Path, sheet: str | int | None, columns: Sequence[str], rows: int = 100_000
) -> Iterator[pd.DataFrame]:
    """Give the chosen columns some rows at a time, each cell as text or None for a blank.

    Numbers are written shortest, so whole ones without ``.0``; booleans ``True`` and
    ``False``; dates and times by ISO 8601 (a date at midnight is a date, durations are
    hours:minutes:seconds); percentages as the numbers they are; errors such as ``#N/A`` as
    that text. Texts stay as they are, blanks around them too.
    """
    import pandas as pd

    wanted = check_chunk_request(file, columns, rows)
    with _open_workbook(file) as book:
        table, _, _ = _find_sheet(book, file, sheet)
        indices = [_column_index(table, name, abbreviated(str(file))) for name in wanted]
        part: list[list[str | None]] = []
        write = _CellWriter()
        for row in table.rows():
            part.append([write(row[i]) for i in indices])
            if len(part) == rows:
                yield pd.DataFrame(part, columns=wanted, dtype=object)
                part = []
        if part:
            yield pd.DataFrame(part, columns=wanted, dtype=object)


def numbered_rows(file: Path) -> Iterator[tuple[int, list[str | None]]]:
    """Give the header of the first visible sheet with cells, then each row below it.

    With its number as a spreadsheet shows it; rows without a cell are left out. Cells are
    texts as in `chunks`.
    """
    with _open_workbook(file) as book:
        table, _, _ = _find_sheet(book, file, None)
        yield table.start + 1, [name or None for name in table.columns]
        write = _CellWriter()
        for line, row in table.lines():
            yield line, [write(cell) for cell in row]


def _column_index(table: _SheetTable, name: str, title: str) -> int:
    n = table.columns.count(name)
    if n != 1:
        raise SurveyError(
            f"sheet {table.name!r} of {title} has "
            f"{f'{n} columns' if n else 'no column'} called {name!r}",
            hint="rename them" if n else f"it has {listed(map(repr, table.columns))}",
        )
    return table.columns.index(name)


# -----------------------------------------------------------------------------
# Workbooks
# -----------------------------------------------------------------------------


@contextmanager
def _open_workbook(file: Path) -> Iterator[Any]:
    """Open a workbook, and turn errors of calamine into ours."""
    title = abbreviated(str(file), most=400)
    if importlib.util.find_spec("python_calamine") is None:
        raise SurveyError(
            f"{title} is a workbook, and reading it needs python-calamine",
            hint='pip install "cegdb[survey]"',
        )
    import python_calamine

    with suppress(OSError):
        if not file.stat().st_size:
            raise SurveyError(f"{title} is empty")
    try:
        with python_calamine.load_workbook(str(file)) as book:
            yield book
    except python_calamine.PasswordError:
        raise SurveyError(
            f"{title} is protected by a password",
            hint="save a copy without the password, or as CSV",
        ) from None
    except (python_calamine.CalamineError, OSError) as error:
        raise _damaged(title, error) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise _damaged(title, error) from None


def _damaged(title: str, error: BaseException) -> SurveyError:
    return SurveyError(
        f"{title} cannot be read as a workbook: {abbreviated(str(error))}",
        hint="it is damaged or not a workbook: open it where it came from and save it again",
    )


def _find_sheet(
    book: Any, file: Path, sheet: str | int | None
) -> tuple[_SheetTable, list[str], list[str]]:
    """Return the chosen sheet, the names of the others, and notes."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    title = abbreviated(str(file), most=400)
    sheets = [page for page in book.sheets_metadata if page.typ == SheetTypeEnum.WorkSheet]
    names = [page.name for page in sheets]
    notes = []
    if sheet is not None:
        name = _sheet_name(names, sheet, title)
        page = book.get_sheet_by_name(name)
        if page.start is None:
            raise SurveyError(f"sheet {name!r} of {title} has no cells", hint=_sheets(names))
    else:
        first = [item.name for item in sheets if item.visible == SheetVisibleEnum.Visible]
        order = first + [name for name in names if name not in first]
        page, *rest = [page for page in map(book.get_sheet_by_name, order) if page.start] or [
            None
        ]
        if page is None:
            raise SurveyError(f"{title} has no cells in any sheet")
        name = page.name
        if rest:
            others = listed(repr(other.name) for other in rest)
            notes.append(f"sheet {name!r} was read; others have cells too: {others}")
    errors = _errors(file, name)
    if errors is None:
        errors = {}
        notes.append("in a workbook that is not .xlsx, errors such as #N/A are read as blanks")
    elif errors:
        (row, column), text = min(errors.items())
        notes.append(
            f"{counted(len(errors), 'cell')} {agreeing(len(errors), 'hold')} an "
            "error, which is read as a label: the first is "
            f"{_column_letters(column)}{row + 1}, {text}"
        )
    table = _SheetTable(name, page, errors)
    below = [area for area in page.merged_cell_ranges or () if area[1][0] > table.start]
    if below:
        corners = "".join(
            f"{':' if i else ''}{_column_letters(column)}{row + 1}"
            for i, (row, column) in enumerate(min(below))
        )
        notes.append(
            f"sheet {name!r} has {counted(len(below), 'area')} of merged cells, each read as "
            f"its first cell and blanks: the first is {corners}"
        )
    notes += [
        f"line {line} of sheet {name!r} was skipped as a title: {abbreviated(text)!r}"
        for line, text in table.titles
    ]
    return table, [other for other in names if other != name], notes


def _sheet_name(names: list[str], sheet: str | int, title: str) -> str:
    if isinstance(sheet, int):
        if 1 <= sheet <= len(names):
            return names[sheet - 1]
    elif sheet in names:
        return sheet
    raise SurveyError(f"{title} has no sheet {sheet!r}", hint=_sheets(names))


def _sheets(names: list[str]) -> str:
    return f"its sheets are {listed(map(repr, names))}"


# -----------------------------------------------------------------------------
# Rows
# -----------------------------------------------------------------------------


class _SheetTable:
    """A sheet's header and rows, found in one pass over its cells."""

    def __init__(self, name: str, page: Any, errors: Errors) -> None:
        self.name = name
        self.titles: list[tuple[int, str]] = []
        self.blank: list[int] = []
        self._page = page
        self._left = page.start[1]
        self._errors = errors
        head = self._head()
        self.start, header = head[-1]
        self.titles = [
            (at + 1, next(text for text in map(_cell_text, row) if text))
            for at, row in head[:-1]
        ]
        used = [cell != "" for cell in header]
        for at, row in self._cells():
            if all(used):
                break
            if at > self.start:
                used = [is_used or cell != "" for is_used, cell in zip(used, row, strict=True)]
        self._used = [i for i, is_used in enumerate(used) if is_used]
        self.columns = [_cell_text(header[i]) or "" for i in self._used]

    def _cells(self) -> Iterator[tuple[int, Row]]:
        """Give each row's index, and its cells, of which a blank is ``""``."""
        errors: dict[int, dict[int, str]] = {}
        for (at, column), error in self._errors.items():
            errors.setdefault(at, {})[column - self._left] = error
        for at, row in enumerate(self._page.iter_rows()):
            for i, error in errors.get(at, {}).items():
                if 0 <= i < len(row) and row[i] == "":
                    row[i] = error
            yield at, row

    def _head(self) -> list[tuple[int, Row]]:
        """Return the titles and the header."""
        head: list[tuple[int, Row]] = []
        for at, row in self._cells():
            filled = len(row) - row.count("")
            if filled:
                head.append((at, row))
            if filled > 1 or len(head) > _MOST_TITLES:
                break
        if not head:
            raise SurveyError(f"all cells of sheet {self.name!r} are empty")
        several = len(head[-1][1]) - head[-1][1].count("") > 1
        return head if several else head[:1]

    def lines(self) -> Iterator[tuple[int, Row]]:
        """Give each row below the header that has a cell, with its number from 1."""
        for at, row in self._cells():
            cells = [row[i] for i in self._used]
            if at > self.start and cells.count("") < len(cells):
                yield at + 1, cells

    def rows(self) -> Iterator[Row]:
        """Give the rows below the header, without blank ones that are no answer."""
        self.blank = []
        blank_rows: list[int] = []
        is_single_column = len(self.columns) == 1
        for at, row in self._cells():
            if at <= self.start:
                continue
            cells = [row[i] for i in self._used]
            if cells.count("") == len(cells):
                blank_rows.append(at + 1)
                continue
            if is_single_column:
                yield from ([""] for _ in blank_rows)
            else:
                self.blank += blank_rows
            blank_rows = []
            yield cells


class _CellWriter:
    """Write cells, each distinct one once while there are not too many."""

    def __init__(self) -> None:
        self._known: dict[tuple[type, Any], str | None] = {}

    def __call__(self, value: Any) -> str | None:
        """Return a cell's text, None for a blank."""
        if isinstance(value, str):
            return value or None
        key = (type(value), value)
        if key not in self._known:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            self._known[key] = _cell_text(value)
        return self._known[key]


def _cell_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    if isinstance(value, datetime.timedelta):
        seconds = value // datetime.timedelta(seconds=1)
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return label_of(value)


# -----------------------------------------------------------------------------
# Errors, which calamine reads as blanks
# -----------------------------------------------------------------------------


def _errors(file: Path, name: str) -> Errors | None:
    """Return the cells of a sheet that hold an error; None where that cannot be known."""
    errors: Errors = {}
    with suppress(OSError, zipfile.BadZipFile, KeyError, ValueError, NotImplementedError):
        with zipfile.ZipFile(file) as parts, parts.open(_part(parts, name)) as stream:
            rest = b""
            while block := stream.read(_BLOCK):
                rest += block
                for cell in _ERROR_CELL.finditer(rest):
                    cell_name = _CELL_NAME.search(cell[1])
                    if cell_name is None:
                        return None
                    text = html.unescape(cell[2].decode())
                    errors[int(cell_name[2]) - 1, _column_number(cell_name[1].decode())] = text
                # A cell may go on in the next block: keep from the last one that began.
                rest = rest[max(rest.rfind(b"<c "), rest.rfind(b":c "), 0) :]
        return errors
    return None


def _part(parts: zipfile.ZipFile, name: str) -> str:
    """Return the part of a .xlsx that holds a sheet."""
    targets = {
        attributes["Id"]: attributes["Target"]
        for attributes in _tags(parts.read("xl/_rels/workbook.xml.rels"), "Relationship")
    }
    for attributes in _tags(parts.read("xl/workbook.xml"), "sheet"):
        if attributes["name"] == name:
            key = next(value for key, value in attributes.items() if key.endswith(":id"))
            target = targets[key]
            return target[1:] if target.startswith("/") else f"xl/{target}"
    raise KeyError(name)


def _tags(xml: bytes, tag: str) -> list[dict[str, str]]:
    return [
        {key: html.unescape(one or other) for key, one, other in _ATTRIBUTE.findall(attributes)}
        for attributes in re.findall(_TAG.format(tag), xml.decode())
    ]


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _column_letters(number: int) -> str:
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
