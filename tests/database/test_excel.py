"""Excel sheets: each cell as the text that an analyst expects, and every loss reported."""

from __future__ import annotations

import datetime as dt
import random
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import xlsxwriter
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cegdb.errors import SurveyError
from cegdb.ingest.files.excel import chunks, describe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write(file: Path, **sheets: Sequence[Sequence[Any]]) -> Path:
    """Write sheets of rows; None is an empty cell."""
    formats = {
        dt.datetime: "yyyy-mm-dd hh:mm:ss",
        dt.date: "yyyy-mm-dd",
        dt.time: "hh:mm",
        dt.timedelta: "[h]:mm:ss",
    }
    with xlsxwriter.Workbook(file, {"strings_to_urls": False}) as book:
        known = {kind: book.add_format({"num_format": text}) for kind, text in formats.items()}
        for name, rows in sheets.items():
            page = book.add_worksheet(name)
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    if isinstance(value, str):
                        page.write_string(i, j, value)
                    elif type(value) in known:
                        page.write_datetime(i, j, value, known[type(value)])
                    elif value is not None:
                        page.write(i, j, value)
    return file


def cells(file: Path, sheet: str | int | None = None, rows: int = 100_000) -> list[list[Any]]:
    """Return all cells, by row."""
    found = describe(file, sheet)
    frames = list(chunks(file, sheet, found.columns, rows))
    assert all(list(frame.columns) == found.columns for frame in frames)
    table = [row for frame in frames for row in frame.to_numpy().tolist()]
    assert len(table) == found.n_rows
    return table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (0.5, "0.5"),
        (-2.0, "-2"),
        (True, "True"),
        (False, "False"),
        ("01", "01"),
        ("NA", "NA"),
        (" x ", " x "),
        (10**15 + 1, "1000000000000001"),
        (dt.date(2024, 1, 31), "2024-01-31"),
        (dt.datetime(2024, 1, 31), "2024-01-31"),
        (dt.datetime(2024, 1, 31, 10, 5), "2024-01-31 10:05:00"),
        (dt.time(10, 30), "10:30:00"),
        (dt.timedelta(hours=30, seconds=5), "30:00:05"),
        (None, None),
    ],
)
def test_cells_read_as_their_labels(tmp_path: Path, value: object, text: str | None) -> None:
    file = write(tmp_path / "a.xlsx", A=[["id", "q"], [7, value], [8, "end"]])
    assert cells(file) == [["7", text], ["8", "end"]]


def test_percentages_are_the_numbers_they_are(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet()
        page.write_column(0, 0, ["share", "x"])
        page.write(2, 0, 0.25, book.add_format({"num_format": "0%"}))
    assert cells(tmp_path / "a.xlsx") == [["x"], ["0.25"]]


def test_errors_are_labels_and_are_told(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet("Data")
        page.write_row(1, 2, ["q1", "q2"])
        page.write_row(2, 2, [1, 2])
        page.write_formula(3, 2, "=1/0", None, "#DIV/0!")
        page.write_formula(3, 3, "=NA()", None, "#N/A")
    file = tmp_path / "a.xlsx"
    assert cells(file) == [["1", "2"], ["#DIV/0!", "#N/A"]]
    assert describe(file).notes == [
        "2 cells hold an error, which is read as a label: the first is C4, #DIV/0!"
    ]


def test_a_title_above_the_header_is_skipped_and_told(tmp_path: Path) -> None:
    rows = [["Survey of 2024"], [], ["area", "vote"], ["North", "Left"]]
    found = describe(write(tmp_path / "a.xlsx", Data=rows))
    assert (found.columns, found.n_rows) == (["area", "vote"], 1)
    assert found.notes == ["line 1 of sheet 'Data' was skipped as a title: 'Survey of 2024'"]


def test_a_sheet_of_one_column_has_no_title_and_keeps_its_blanks(tmp_path: Path) -> None:
    file = write(tmp_path / "a.xlsx", A=[["reason"], ["cost"], [None], ["time"], [None]])
    assert describe(file).notes == []
    assert cells(file) == [["cost"], [None], ["time"]]


def test_blank_rows_are_left_out_and_told(tmp_path: Path) -> None:
    rows = [["a", "b"], [1, 2], [], [3, None], [None, None], ["", ""]]
    file = write(tmp_path / "a.xlsx", A=rows)
    assert cells(file) == [["1", "2"], ["3", None]]
    assert describe(file).notes == ["blank lines of sheet 'A' were left out: 3"]


def test_columns_without_a_name_have_none_and_empty_ones_go(tmp_path: Path) -> None:
    file = write(tmp_path / "a.xlsx", A=[["a", None, None, "b"], [1, None, "x", 2]])
    assert describe(file).columns == ["a", "", "b"]
    (frame,) = chunks(file, None, ["b", "a"])
    assert frame.to_numpy().tolist() == [["2", "1"]]


def test_merged_cells_are_told(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet("A")
        page.merge_range(0, 0, 0, 1, "both")
        page.write(0, 2, "c")
        page.merge_range(1, 0, 2, 0, "North")
        page.write_column(1, 1, [1, 2])
        page.write_column(1, 2, [3, 4])
    found = describe(tmp_path / "a.xlsx")
    assert found.columns == ["both", "", "c"]
    assert found.notes == [
        (
            "sheet 'A' has 1 area of merged cells, each read as its first cell and blanks: the "
            "first is A2:A3"
        )
    ]


def test_names_that_are_no_text_read_as_labels(tmp_path: Path) -> None:
    rows = [[2024, dt.date(2024, 1, 31), " x "], [1, 2, 3]]
    assert describe(write(tmp_path / "a.xlsx", A=rows)).columns == ["2024", "2024-01-31", " x "]


def test_the_first_sheet_with_cells_is_read_and_the_others_told(tmp_path: Path) -> None:
    file = write(tmp_path / "a.xlsx", Empty=[], One=[["a"], [1]], Two=[["b"], [2]])
    found = describe(file)
    assert (found.name, found.others) == ("One", ["Empty", "Two"])
    assert found.notes == ["sheet 'One' was read; others have cells too: 'Two'"]
    assert cells(file, "Two") == cells(file, 3) == [["2"]]
    assert describe(file, "Two").notes == []


def test_unknown_and_empty_sheets_list_those_there_are(tmp_path: Path) -> None:
    file = write(tmp_path / "a.xlsx", One=[["a"], [1]], Empty=[])
    for asked in ("Three", 0, 3):
        with pytest.raises(SurveyError, match=r"has no sheet .*\nhint: its sheets are 'One', "):
            describe(file, asked)
    with pytest.raises(SurveyError, match=r"sheet 'Empty' of .* has no cells"):
        describe(file, "Empty")
    with pytest.raises(SurveyError, match="has no cells in any sheet"):
        describe(write(tmp_path / "b.xlsx", A=[], B=[]))
    with pytest.raises(SurveyError, match="all cells of sheet"):
        describe(write(tmp_path / "c.xlsx", A=[[""]]))


def test_columns_that_are_not_there_or_there_twice(tmp_path: Path) -> None:
    file = write(tmp_path / "a.xlsx", A=[["a", "b", "b"], [1, 2, 3]])
    with pytest.raises(SurveyError, match=r"has no column called 'c'\nhint: it has 'a', 'b'"):
        next(chunks(file, None, ["a", "c"]))
    with pytest.raises(SurveyError, match=r"has 2 columns called 'b'\nhint: rename them"):
        next(chunks(file, None, ["b"]))
    with pytest.raises(SurveyError, match="columns lists none, or one twice"):
        next(chunks(file, None, []))


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    file = write(tmp_path / "a.xlsx", A=[["a", "b"]])
    assert describe(file).n_rows == 0
    assert cells(file) == []


def test_files_that_are_no_workbook_say_so(tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    file.write_bytes(b"")
    with pytest.raises(SurveyError, match="is empty"):
        describe(file)
    for content in (b"id,sex\n1,2\n", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 90):
        file.write_bytes(content)
        with pytest.raises(SurveyError, match="cannot be read as a workbook"):
            describe(file)
    with pytest.raises(SurveyError, match="cannot be read as a workbook"):
        describe(tmp_path / "none.xlsx")


def test_without_calamine_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(SurveyError, match=r"pip install \"cegdb\[survey\]\""):
        describe(tmp_path / "a.xlsx")


NASTY = [
    " lead ",
    "NULL",
    "nan",
    "#N/A",
    "01",
    "1.0",
    'say "hi"',
    "a,b;\tc",
    "é年",
    "=1+1",
    "<a>&",
]
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e9, 1e9).map(lambda number: round(number, 4))
    | st.sampled_from(NASTY)
    | st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=12)
    | st.dates(dt.date(1901, 1, 1), dt.date(2199, 12, 31))
)


def written(value: object) -> str | None:
    """Return how a cell reads, by Python's own shortest notation."""
    if value is None or value == "":
        return None
    if isinstance(value, float):
        return "0" if value == 0 else str(value).removesuffix(".0")
    return str(value)


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(rows=[NASTY, [0.1, -0.0, 1 / 3, *[None] * (len(NASTY) - 3)]], size=1)
@given(
    rows=st.integers(2, 5).flatmap(
        lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    size=st.integers(1, 5),
)
def test_random_sheets_are_read_back_cell_by_cell(
    tmp_path: Path, rows: list[list[Any]], size: int
) -> None:
    header = [f"c{i}" for i in range(len(rows[0]))]
    file = write(tmp_path / "random.xlsx", A=[header, *rows])
    expected = [[written(value) for value in row] for row in rows]
    assert cells(file, rows=size) == [
        row for row in expected if any(cell is not None for cell in row)
    ]


@pytest.mark.slow
def test_damaged_workbooks_give_rows_or_an_error(tmp_path: Path) -> None:
    valid = write(tmp_path / "a.xlsx", A=[["a", "b"], *([i, f"x{i}"] for i in range(40))])
    raw = valid.read_bytes()
    with zipfile.ZipFile(valid) as parts:
        inside = {name: parts.read(name) for name in parts.namelist()}
    for seed in range(300):
        chance = random.Random(seed)  # noqa: S311
        file = tmp_path / "damaged.xlsx"
        if seed % 2:
            file.write_bytes(damaged(raw, chance))
        else:
            spoiled = chance.choice(sorted(name for name in inside if name.startswith("xl")))
            with zipfile.ZipFile(file, "w") as parts:
                for name, content in inside.items():
                    bad = name == spoiled
                    parts.writestr(name, damaged(content, chance) if bad else content)
        try:
            found = describe(file)
            names = {name for name in found.columns if found.columns.count(name) == 1}
            n_rows = sum(len(frame) for frame in chunks(file, None, sorted(names or {"a"})))
        except SurveyError as error:
            assert "\nhint: " in str(error) or "no cells" in str(error)  # noqa: PT017
        else:
            assert n_rows == found.n_rows


def damaged(raw: bytes, chance: random.Random) -> bytes:
    """Return bytes cut off or changed."""
    if chance.random() < 0.2:
        return raw[: chance.randrange(1, len(raw))]
    content = bytearray(raw)
    for _ in range(chance.choice([1, 2, 8, 30])):
        content[chance.randrange(len(content))] = chance.choice([0, 255, *b"<>\"'/09A"])
    return bytes(content)
