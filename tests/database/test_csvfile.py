"""CSV files: any dialect and encoding gives what Python's own ``csv`` reads, or an error.

``MORE_EXAMPLES=20 pytest tests/database/test_csvfile.py`` looks longer.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import errno
import gzip
import importlib.util
import io
import random
import sys
import tempfile
import zipfile
from collections import Counter
from contextlib import ExitStack
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from ingest_helpers import (
    NASTY,
    TEXTS,
    Rows,
    column,
    emptied,
    labels_of,
    rows_of,
    trace,
    written,
)
from strategies import MORE, run

import cegdb
from cegdb.errors import CegdbError, StoreError, SurveyError
from cegdb.ingest import ingest
from cegdb.ingest.csv import csv_file, decoding
from cegdb.ingest.csv.dialect import detect_layout
from cegdb.ingest.csv.records import blank_lines
from cegdb.ingest.files.sources import open_source
from cegdb.options import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cegdb.api import Database, Survey


#: Whether .zst files can be read here.
HAS_ZSTD = importlib.util.find_spec("backports.zstd") is not None


def read(db: Database, file: Path, **told: Any) -> Survey:
    """Ingest a file of which something is told."""
    ingest(db._store, file, name="s", reading=ReadOptions(**told), replace=True)
    return db.surveys["s"]


def reader_of(file: Path, **told: Any) -> csv_file.CsvFile:
    """Return what is found out about a file."""
    compression = csv_file.compression_of(file.read_bytes()[:4])
    with ExitStack() as scratch:
        return csv_file.open_csv(file, scratch, ReadOptions(**told), compression)


def zstd(content: bytes) -> bytes:
    """Compress with Zstandard, with a checksum as its command does."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1})


@pytest.fixture
def db(shared_database: Database) -> Iterator[Database]:
    yield from emptied(shared_database)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder for the whole module."""
    return tmp_path_factory.mktemp("csvfile")


# -----------------------------------------------------------------------------
# Dialects that are found
# -----------------------------------------------------------------------------

BOM = b"\xef\xbb\xbf"
DIALECTS: dict[str, tuple[bytes, list[tuple[str | None, ...]]]] = {
    "unix": (b"x,y\na,b\nc,d\n", [("a", "b"), ("c", "d")]),
    "windows": (b"x,y\r\na,b\r\nc,d\r\n", [("a", "b"), ("c", "d")]),
    "old mac": (b"x,y\ra,b\rc,d\r", [("a", "b"), ("c", "d")]),
    "mixed ends": (b"x,y\r\na,b\nc,d\r\ne,f", [("a", "b"), ("c", "d"), ("e", "f")]),
    "mixed ends, mac": (b"x,y\na,b\rc,d\n", [("a", "b"), ("c", "d")]),
    "no last end": (b"x,y\na,b\nc,d", [("a", "b"), ("c", "d")]),
    "bom": (BOM + b"x,y\na,b\n", [("a", "b")]),
    "bom, quoted": (BOM + b'"x",y\na,b\n', [("a", "b")]),
    "blank lines above": (b"\n\nx,y\na,b\n", [("a", "b")]),
    "bom and a blank line above": (BOM + b"\r\nx,y\r\na,b\r\n", [("a", "b")]),
    "blank lines between": (b"x,y\n\na,b\n\n\nc,d\n\n", [("a", "b"), ("c", "d")]),
    "ends in cells": (b'x,y\n"a\nb",c\n"a\r\nb","\r"\n', [("a\nb", "c"), ("a\r\nb", "\r")]),
    "other ends in a cell": (b'x,y\r\n"a\nb",c\r\nd,e\r\n', [("a\nb", "c"), ("d", "e")]),
    "quotes in cells": (b'x,y\n5" disk,"say ""hi"""\n', [('5" disk', 'say "hi"')]),
    "blanks in cells": (b'x,y\n a , b\n" c ",d\n', [(" a ", " b"), (" c ", "d")]),
    "semicolons": (b"x;y\n1,5;2,5\n3,5;4,5\n", [("1,5", "2,5"), ("3,5", "4,5")]),
    "tabs": (b"x\ty\na,b\tc;d\n", [("a,b", "c;d")]),
    "bars": (b"x|y\na|b\n", [("a", "b")]),
    "one column": (b"x\na\nb; c\nd, e\n", [("a",), ("b; c",), ("d, e",)]),
    "one column with blanks": (b"x\na\n\nb\n", [("a",), (None,), ("b",)]),
    "one column, blank line above": (b"\nx\n\na\n", [(None,), ("a",)]),
    "a comma after each line": (b"x,y\na,b,\n", [("a", "b")]),
}  # fmt: skip
# Spreadsheets end lines with \r\n and cells' own lines with \n: DuckDB takes the first
# line end it meets for that of all lines.
HEADERS = {
    f"{name}, {'bom' if bom else 'no bom'}, {inner!r} in {end!r}": (
        bom + header.replace("|", inner).encode() + f"{end}a,b{end}c,d{end}".encode(),
        [("a", "b"), ("c", "d")],
    )
    for name, header in {"first": '"x|1",y', "second": 'x,"y|1"', "both": '"x|1","y|"'}.items()
    for bom in (b"", BOM)
    for inner, end in product(("\n", "\r\n", "\r"), repeat=2)
}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_csv_file_has_these_rows(db: Database, tmp_path: Path, name: str) -> None:
    content, expected = DIALECTS[name]
    survey = db.ingest(written(tmp_path, content))
    assert rows_of(db, survey) == Counter(expected)
    survey = db.ingest(written(tmp_path, gzip.compress(content), "survey.csv.gz"))
    assert rows_of(db, survey) == Counter(expected)


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_of_several_lines_is_no_row(db: Database, tmp_path: Path, name: str) -> None:
    content, expected = HEADERS[name]
    assert rows_of(db, db.ingest(written(tmp_path, content))) == Counter(expected)


def test_a_line_break_in_a_header_is_part_of_the_name(db: Database, tmp_path: Path) -> None:
    survey = db.ingest(written(tmp_path, b'"x\ny",z\r\na,b\r\n'))
    assert list(labels_of(survey)) == ["x\ny", "z"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "tail", [b"c,d\n", b"c,d\r\n", b"c,d\r", b"\r\r\nc,d", b"\n\n\nc,d\r\n", b"c,d\r\r\n"]
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_end_that_changes_far_below_loses_no_row(
    db: Database, tmp_path: Path, end: bytes, tail: bytes
) -> None:
    file = written(tmp_path, b"x,y" + end + (b"a,b" + end) * 30_000 + tail)
    expected = Counter({("a", "b"): 30_000, ("c", "d"): 1})
    assert rows_of(db, db.ingest(file)) == expected
    assert rows_of(db, read(db, file, bad_rows="skip")) == expected


@pytest.mark.parametrize("told", [{}, {"bad_rows": "skip"}, {"encoding": "latin-1"}], ids=str)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("lines", "note"),
    [
        (["x,y", "a,b", "", "c,d"], "1 blank line left out: line 3"),
        (
            ["", "x,y", "", "a,b", "", "", "c,d", "", ""],
            "3 blank lines left out: lines 3, 5, 6",
        ),
        (
            ["x,y", "a,b", *[""] * 1200, "c,d"],
            "1,200 blank lines left out: lines 3, 4, 5, 6, 7 and 1,195 more",
        ),
        (["x,y", '"a\n\nq",b', "", "c,d"], "1 blank line left out: line 5"),
        (["x,y", '"a\n\nq",b', "c,d", "", ""], None),
        (["x,y", "a,b", "c,d", ""], None),
    ],
    ids=range(6),
)
def test_blank_lines_between_rows_are_told_however_a_file_is_read(
    db: Database,
    tmp_path: Path,
    lines: list[str],
    note: str | None,
    end: str,
    told: dict[str, Any],
) -> None:
    file = written(tmp_path, end.join(lines))
    survey = read(db, file, **told)
    assert survey.receipt["notes"] == ([note] if note else [])
    assert survey.receipt["rows_read"] == 2
    options = ReadOptions(**told)
    layout = detect_layout(file, end.join(lines), options, has_more=False)
    assert layout is not None
    blank = blank_lines(file, layout, options, block_size=3)
    assert blank.notes == ([note] if note else [])


@pytest.mark.parametrize("told", [{}, {"bad_rows": "skip"}], ids=str)
def test_in_a_file_of_one_column_a_blank_line_is_a_row(
    db: Database, tmp_path: Path, told: dict[str, Any]
) -> None:
    survey = read(db, written(tmp_path, "x\na\n\n\nb\n\n"), **told)
    assert rows_of(db, survey) == Counter({("a",): 1, ("b",): 1, (None,): 3})
    assert survey.receipt["notes"] == []


def test_blank_lines_of_several_files_are_told_by_file(db: Database, tmp_path: Path) -> None:
    files = [written(tmp_path, "x,y\na,b\n\nc,d\n", f"{i}.csv") for i in range(2)]
    notes: Any = db.ingest([*files]).receipt["notes"]
    assert [note.split("/")[-1] for note in notes] == [
        f"{i}.csv: 1 blank line left out: line 3" for i in range(2)
    ]


@pytest.mark.slow
def test_cells_of_several_lines_are_read_in_a_large_file(db: Database, tmp_path: Path) -> None:
    chance = random.Random()  # noqa: S311
    cells = ["a", "c,d", 'e"f', "g\nh\ni", "g\r\nh", "k" * 300]
    rows = [chance.choices(cells, k=3) for _ in range(80_000)]
    text = io.StringIO(newline="")
    out = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    out.writerows([["x", "y", "z"], *rows])
    survey = db.ingest(written(tmp_path, text.getvalue()))
    assert rows_of(db, survey) == Counter(map(tuple, rows))


@pytest.mark.slow
def test_a_header_longer_than_what_is_sniffed_is_read_whole(
    db: Database, tmp_path: Path
) -> None:
    names = [f"question_{i}" for i in range(15_000)]
    file = written(tmp_path, ",".join(names) + "\n" + ",".join("a" * 15_000) + "\n")
    assert file.stat().st_size > decoding.START_SIZE
    survey = db.ingest(file, columns=["question_14999", "question_5"])
    assert labels_of(survey) == {"question_14999": {"a": 1}, "question_5": {"a": 1}}
    file = written(tmp_path, '"' + "x" * 100_000 + '\n",y\na,b\n')
    assert list(labels_of(db.ingest(file))) == ["x" * 100_000 + "\n", "y"]


@pytest.mark.parametrize("size", range(decoding.START_SIZE - 8, decoding.START_SIZE + 4))
def test_a_letter_cut_where_sniffing_ends_is_still_a_letter(
    db: Database, tmp_path: Path, size: int
) -> None:
    head = "x,y\n" + "a,b\n" * ((size - 4) // 4) + "a" * (size % 4)
    file = written(tmp_path, head + "é😀,b\n" + "a,b\n" * 30)
    expected = {"a": (size - 4) // 4 + 30, "a" * (size % 4) + "é😀": 1}
    assert labels_of(db.ingest(file))["x"] == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" ", "has no header line"),
        (b"\n\n\n", "has no header line"),
        (b",,,\n,,,\n", "has no header line"),
        (BOM, "has no header line"),
        (b"x,y\n", "has a header but no rows"),
        (b"x,y", "has a header but no rows"),
        (b"x,,y\na,b,c\n", "column 2 of .* has no name"),
        (
            b"id,sex,vote\n1,F,Yes\n2,M\n3,F,No\n4,M,Yes,extra\n",
            "line 3 has 2 fields, line 5 has 4 fields; the",
        ),
        (b"x,y\na\n", "line 2: 1 field where the header has 2"),
        (b"x,y\na,b,c\n", "line 2: 3 fields where the header has 2"),
        (b"\n\nx,y\na\n", "line 4: 1 field where the header has 2"),
        (b'x,y\n1,a\n2,"b\n3,c\n', "line 3: the quote opened here is never closed"),
        (b'x,y\n"a"b,c\n', "line 2: the closing quote of a cell is followed by more"),
        (b'x,"y\n1"\r\n"a"b,c\r\n', "line 3: the closing quote of a cell is followed by"),
        (b"Report\nx,y\na,b\nc,d\n", "the first line has 1 field, the lines after it have 2"),
        (b"name\nAsh, Bo\nDi, Eve\n", "the first line has 1 field, the lines after it have 2"),
        (b"a" * 3_000_000, "has no header line"),
        (b"x,y\n" + b"a" * 3_000_000 + b",b\n", "line 2: longer than 2,097,152 bytes"),
        (b"\x89PNG\r\n\x1a\n\0\0", "it contains binary data"),
        (b"PK\x03\x04" + bytes(30), "cannot be read as a workbook"),
        (b"PAR1", "is not readable Parquet"),
        (b"PAR1" + bytes(100) + b"PAR1", "is not readable Parquet"),
    ],
)
def test_a_file_that_is_no_survey_is_refused(
    db: Database, tmp_path: Path, content: bytes, message: str
) -> None:
    file = written(tmp_path, content)
    before = trace(db)
    with pytest.raises(SurveyError, match=message) as caught:
        db.ingest(file)
    assert file.name in str(caught.value)
    assert trace(db) == before
    assert column(db, written(tmp_path, b"x\na\n")) == {"a": 1}


# -----------------------------------------------------------------------------
# All dialects that csv can write, in all encodings
# -----------------------------------------------------------------------------

QUOTING = {
    "all": csv.QUOTE_ALL,
    "minimal": csv.QUOTE_MINIMAL,
    "nonnumeric": csv.QUOTE_NONNUMERIC,
    "none": csv.QUOTE_NONE,
}
ENCODINGS = {
    "utf-8": None,
    "utf-8-sig": None,
    "utf-16": None,
    "utf-32": None,
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "latin-1": "latin-1",
    "cp1252": "windows-1252",
    "gb18030": "gb18030",
}


class Written(NamedTuple):
    """How a file is written."""

    delimiter: str
    quoting: str
    quotechar: str
    doublequote: bool
    escapechar: str | None
    end: str
    encoding: str
    compression: str

    @property
    def format(self) -> dict[str, Any]:
        """The parameters of the csv module."""
        return {
            "delimiter": self.delimiter,
            "quoting": QUOTING[self.quoting],
            "quotechar": self.quotechar,
            "doublequote": self.doublequote,
            "escapechar": self.escapechar,
        }

    @property
    def told(self) -> dict[str, Any]:
        """What cegdb has to be told to read it."""
        told: dict[str, Any] = {}
        if self.delimiter not in ",;\t|":
            told["delimiter"] = self.delimiter
        if self.quoting == "none":
            told["quote"] = ""
        elif self.quotechar != '"':
            told["quote"] = self.quotechar
        if self.escapechar:
            told["escape"] = self.escapechar
        if ENCODINGS[self.encoding]:
            told["encoding"] = ENCODINGS[self.encoding]
        return told


WRITTEN = st.builds(
    Written,
    st.sampled_from([*",;\t|"] * 2 + [*"^~:\x1f\x01 aé"]),
    st.sampled_from(list(QUOTING)),
    st.sampled_from(['"', '"', "'", "`", "é"]),
    st.booleans(),
    st.sampled_from([None, "\\", "\\", "!"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8"] * 4 + list(ENCODINGS)),
    st.sampled_from(["none", "none", "gzip", "zstd"] if HAS_ZSTD else ["none", "gzip"]),
).filter(lambda written: written.delimiter != written.quotechar)


def text_of(rows: list[list[str]], how: Written) -> str:
    """Write rows under a header x1, x2, ..., or give the example up."""
    text = io.StringIO(newline="")
    out = csv.writer(text, lineterminator=how.end, **how.format)
    try:
        out.writerow([f"x{i}" for i in range(1, len(rows[0]) + 1)])
        out.writerows(rows)
    except csv.Error:
        assume(False)  # noqa: FBT003
    return text.getvalue()


def rows_by_python(text: str, width: int, how: Written) -> Rows | None:
    """Return what Python itself reads, None if some rows are of another width."""
    options = how.format
    if how.quoting == "nonnumeric":  # else floats
        options["quoting"] = csv.QUOTE_MINIMAL
    _, *rows = csv.reader(io.StringIO(text, newline=""), **options)
    rows = [row or [""] for row in rows if row or width == 1]
    if any(len(row) != width for row in rows):
        return None
    return Counter(tuple(cell or None for cell in row) for row in rows)


#: Stands for a cell longer than what is sniffed.
LONG = "<long>"
CELLS = NASTY | TEXTS | st.sampled_from([LONG, "0007", "1e400", "\x80\x92", "\ufeffa"])


@pytest.mark.slow
@run(25)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=12
        )
    ),
    WRITTEN,
)
def test_every_dialect_reads_as_python_reads_it(
    db: Database, shelf: Path, rows: list[list[str]], how: Written
) -> None:
    rows = [[cell.replace(LONG, "é" * 70_000) for cell in row] for row in rows]
    width = len(rows[0])
    text = text_of(rows, how)
    try:
        content = text.encode(how.encoding)
    except UnicodeEncodeError:
        how = how._replace(encoding="utf-16")
        content = text.encode(how.encoding)
    expected = rows_by_python(text, width, how)
    packed = {"gzip": gzip.compress, "zstd": zstd, "none": bytes}[how.compression](content)
    file = written(shelf, packed)
    told = how.told
    if width == 1:
        told["delimiter"] = how.delimiter
    event("ragged" if expected is None else "rows")
    if expected is None:
        with pytest.raises(
            SurveyError, match=r"fields?(?: where|; ) ?the header has|lines end in"
        ):
            read(db, file, **told)
    else:
        assert rows_of(db, read(db, file, **told)) == expected


@pytest.mark.slow
def test_a_cell_may_be_as_long_as_a_line(db: Database, tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    cell = "é" * 200_000
    for content in (f"x;y\n{cell};b\n", f"\nx;y\n{cell};b\n", f"{cell};y\r\na;b\n"):
        file = written(tmp_path, content)
        if duckdb.__version__.startswith("1.4.") and content.startswith(cell):
            with pytest.raises(StoreError, match=r"name of 400,\d+ bytes .* most 188,416"):
                db.ingest(file)
            continue
        survey = db.ingest(file, "s", replace=True)
        assert cell in [*labels_of(survey), *labels_of(survey).get("x", {})]
    for content in ("x\n" + "é" * 1_100_000 + "\n", '\nx\n"a\n' + "b" * 2_097_152 + '"\n'):
        with pytest.raises(SurveyError, match=r"line [24]: longer than 2,097,152 bytes"):
            db.ingest(written(tmp_path, content))
    assert csv.field_size_limit() == limit


# -----------------------------------------------------------------------------
# Encodings
# -----------------------------------------------------------------------------

ACCENTS = "área,Antwort\nGenève,Ja\nZürich,Nein\nGenève,Ja\n"
CURLY = "area,answer\nNorth,Don\u2019t know\nSouth,“Yes”\n"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_an_encoding_that_marks_itself_needs_no_option(
    db: Database, tmp_path: Path, encoding: str
) -> None:
    file = written(tmp_path, (ACCENTS + "😀,年齢\n").encode(encoding))
    expected = {
        "área": {"Genève": 2, "Zürich": 1, "😀": 1},
        "Antwort": {"Ja": 2, "Nein": 1, "年齢": 1},
    }
    assert labels_of(db.ingest(file)) == expected
    assert labels_of(read(db, file, encoding=encoding)) == expected
    assert reader_of(file).dialect["encoding"].startswith(encoding)
    big_endian = codecs.BOM_UTF16_BE + ACCENTS.encode("utf-16-be")
    assert list(labels_of(db.ingest(written(tmp_path, big_endian)))) == ["área", "Antwort"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "encoding", "where", "option"),
    [
        (ACCENTS, "latin-1", "line 1: byte 0xe1 is not UTF-8 text; it is probably", "latin-1"),
        (CURLY, "cp1252", "line 2: byte 0x92 is not UTF-8 text; it is probably", "cp1252"),
        (CURLY, "utf-16-le", "line 1: this looks like", "utf-16-le"),
        (CURLY, "utf-16-be", "line 1: this looks like", "utf-16-be"),
        ("年,齢\n年,年\n", "utf-16-le", "line 1: this looks like", "utf-16-le"),
        (CURLY, "utf-32-le", "line 1: this looks like", "utf-32-le"),
        (CURLY, "utf-32-be", "line 1: this looks like", "utf-32-be"),
        ("x,y\n" + "a,b\n" * 30_000 + "é,b\n", "latin-1", "line 30002: byte 0xe9", "latin-1"),
        ("x,y\r" + "a,b\r" * 30_000 + "\u2019,b\r", "cp1252", "line 30002: byte", "cp1252"),
        ("x,y\r\n" + "a,b\n" * 30_000 + "é,b\n", "cp1252", "line 30002: byte 0xe9", "latin-1"),
    ],
)  # fmt: skip
def test_an_encoding_that_is_not_marked_is_named_and_read_when_told(
    db: Database, tmp_path: Path, text: str, encoding: str, where: str, option: str
) -> None:
    for content in (text.encode(encoding), gzip.compress(text.encode(encoding))):
        file = written(tmp_path, content)
        with pytest.raises(SurveyError) as caught:
            db.ingest(file)
        assert f"{file}, {where}" in str(caught.value)
        assert f"pass encoding={option!r} (on the command line --encoding {option})" in str(
            caught.value
        )
        names, *rows = csv.reader(io.StringIO(text, newline=""))
        survey = read(db, file, encoding=encoding)
        assert rows_of(db, survey) == Counter(map(tuple, rows))
        assert list(labels_of(survey)) == names


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (
            "\u0433\u043e\u0434,x\n\u0434\u0430,y\n".encode("cp1251") * 9,
            "is not UTF-8 text\n",
            "pass encoding= (",
        ),
        (b"x,y\n\x81,b\n", "line 2: byte 0x81 is not UTF-8 text\n", "pass encoding= ("),
        (
            "é,ü\n".encode() + b"\xe9,b\n",
            "line 2: byte 0xe9 is not UTF-8 text; most of the text is\n",
            "correct that line",
        ),
        (
            b"x,y\na,b\xc3",
            "line 2: byte 0xc3 is not UTF-8 text; it is probably latin-1",
            "pass",
        ),
        (b"\x89PNG\r\n\x1a\n\0\0", "it contains binary data", "can be read"),
        (bytes(range(256)) * 9, "it contains binary data", "can be read"),
    ],
)
def test_bytes_of_no_known_encoding_are_refused(
    db: Database, tmp_path: Path, content: bytes, message: str, hint: str
) -> None:
    with pytest.raises(SurveyError) as caught:
        db.ingest(written(tmp_path, content))
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (ACCENTS.encode("latin-1"), "utf-8", "line 1: byte 0xe1 is not UTF-8 text"),
        (ACCENTS.encode("latin-1"), "utf-16", "line 1: this is not utf-16 text"),
        (ACCENTS.encode(), "utf-16-be", "line 1: this is not utf-16-be text"),
        (CURLY.encode("utf-16-le"), "utf-16-be", "this is not utf-16-be text but utf-16-le"),
        (CURLY.encode("utf-16-le")[:-1], "utf-16-le", "line 3: byte 0x0a is not utf-16-le"),
        (CURLY.encode("utf-16"), "latin-1", "the byte order mark of utf-16, not of latin-1"),
        (CURLY.encode("utf-8-sig"), "cp1252", "the byte order mark of utf-8, not of cp1252"),
        (CURLY.encode("utf-16"), "utf-8", "the byte order mark of utf-16, not of utf-8"),
        (CURLY.encode(), "ascii", "line 2: byte 0xe2 is not ascii text"),
        (b"x,y\n" + b"a,b\n" * 400_000 + b"\x81,b\n", "cp1252", "line 400002: byte 0x81"),
        (b"x,y\r\n" + b"a,b\r\n" * 400_000 + b"\x81,b", "cp1252", "line 400002: byte 0x81"),
        (b"x,y\na,+2AA-\n", "utf-7", "line 2: not utf-7 text"),
    ],
)  # fmt: skip
def test_a_wrong_encoding_is_an_error_with_its_line(
    db: Database, tmp_path: Path, content: bytes, encoding: str, message: str
) -> None:
    before = trace(db)
    file = written(tmp_path, content)
    with pytest.raises(SurveyError, match=message) as caught:
        read(db, file, encoding=encoding)
    assert str(file) in str(caught.value)
    assert trace(db) == before


def test_control_characters_of_a_wrong_latin_are_told(tmp_path: Path) -> None:
    file = written(tmp_path, CURLY.encode("cp1252"))
    (note,) = reader_of(file, encoding="latin-1").notes
    assert note.startswith("line 2 contains a control character, 0x92")
    assert "pass encoding='cp1252'" in note
    assert reader_of(file, encoding="cp1252").notes == []
    assert reader_of(file, encoding="cp1252").dialect["encoding"] == "cp1252"


@pytest.mark.slow
def test_only_the_first_mark_is_none_of_the_text(db: Database, tmp_path: Path) -> None:
    for content in (
        BOM + BOM + b"x,y\n\xef\xbb\xbfa,b\n",
        BOM + BOM + b'"x",y\n\xef\xbb\xbfa,b\n',
        "\ufeff\ufeffx,y\r\n\ufeffa,b".encode("utf-16-le"),
        gzip.compress("\ufeffx,y\n\ufeffa,b".encode("utf-8-sig")),
    ):
        survey = db.ingest(written(tmp_path, content), "s", replace=True)
        assert next(iter(labels_of(survey))) in ("\ufeffx", '\ufeff"x"')
        assert next(iter(labels_of(survey).values())) == {"\ufeffa": 1}


# -----------------------------------------------------------------------------
# Compressed files
# -----------------------------------------------------------------------------

MANY = b"x,y\n" + b"".join(b"%d,%d\n" % (i % 7, i * i % 89) for i in range(60_000))


def packers() -> dict[str, Callable[[bytes], bytes]]:
    return {"gzip": gzip.compress, "zstd": zstd}


@pytest.mark.slow
@pytest.mark.parametrize("kind", packers())
def test_a_compressed_file_is_known_by_its_bytes(
    db: Database, tmp_path: Path, kind: str
) -> None:
    pack = packers()[kind]
    for name in ("a.csv", "a.csv.gz", "a.csv.zst", "a"):
        survey = db.ingest(
            written(tmp_path, pack(b"x;y\n") + pack(b"a;b\n"), name), replace=True
        )
        assert labels_of(survey) == {"x": {"a": 1}, "y": {"b": 1}}
        assert survey.name == "a"
    assert reader_of(written(tmp_path, pack(b"x;y\na;b\n"))).dialect["compression"] == kind
    survey = db.ingest(written(tmp_path, pack(CURLY.encode("utf-16"))))
    assert labels_of(survey)["answer"] == {"Don\u2019t know": 1, "“Yes”": 1}


@pytest.mark.parametrize("kind", packers())
@pytest.mark.parametrize("damage", ["cut", "cut late", "flipped", "sum", "junk", "head"])
def test_a_damaged_archive_is_refused(
    db: Database, tmp_path: Path, kind: str, damage: str
) -> None:
    content = bytearray(packers()[kind](MANY))
    match damage:
        case "cut":
            del content[len(content) // 2 :]
        case "cut late":
            del content[-1]
        case "flipped":
            content[len(content) // 2] ^= 0xFF
        case "sum":
            content[-6 if kind == "gzip" else -2] ^= 1
        case "junk":
            content += b"junk"
        case "head":
            del content[5:]
    before = trace(db)
    with pytest.raises(SurveyError, match="cannot be read: ") as caught:
        db.ingest(written(tmp_path, bytes(content)))
    assert "damaged or cut off" in str(caught.value.hint)
    assert trace(db) == before


def test_what_is_packed_must_be_a_text_file(db: Database, tmp_path: Path) -> None:
    for content, message in {
        gzip.compress(gzip.compress(b"x\na\n")): "is compressed twice",
        gzip.compress(b"PK\x03\x04" + bytes(30)): "is a zip archive, or an Excel file",
        gzip.compress(b""): "has no header line",
        gzip.compress(bytes(99)): "it contains binary data",
    }.items():
        with pytest.raises(SurveyError, match=message):
            db.ingest(written(tmp_path, content))


def test_without_the_reader_of_zst_the_error_says_what_to_install(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(decoding.importlib, "import_module", absent)
    with pytest.raises(SurveyError, match="is compressed with Zstandard") as caught:
        db.ingest(written(tmp_path, b"\x28\xb5\x2f\xfd"))
    assert 'pip install "cegdb[survey]"' in str(caught.value.hint)


def test_no_room_for_a_copy_is_told(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(decoding.shutil, "copyfileobj", full)
    with pytest.raises(SurveyError, match=r"not enough space in .* for a UTF-8 copy") as caught:
        db.ingest(written(tmp_path, gzip.compress(b"x\na\n")))
    assert "TMPDIR" in str(caught.value.hint)


def test_copies_are_removed(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    for content in (gzip.compress(b"x\na\n"), b"x\r\na\n", b"x\r\na,b\n", b"x,y\r\na\n"):
        with contextlib.suppress(SurveyError):
            db.ingest(written(tmp_path, content))
        assert list((tmp_path / "scratch").iterdir()) == []


# -----------------------------------------------------------------------------
# Delimiters, quotes, titles
# -----------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", "^~\x1f\x01:")
def test_a_rare_delimiter_is_found_if_no_other_splits(tmp_path: Path, delimiter: str) -> None:
    content = "x,y\na b,c\nd,e f\n".replace(",", delimiter)
    found = reader_of(written(tmp_path, content))
    assert found.header == ["x", "y"]
    assert found.dialect["delimiter"] == delimiter
    assert found.notes == [
        f"fields were split at {delimiter!r}; if that is wrong, pass delimiter="
    ]
    for content in (
        ()
        if delimiter < " "
        else (
            f"x,y\na{delimiter}b,c\n",
            f"x\na{delimiter}b\nc{delimiter}d\n",
            f"x{delimiter}y\na{delimiter}b\nc\n",
            f"x{delimiter}y\n",
            f"q{delimiter} x\nr{delimiter} y\n",
        )
    ):
        found = reader_of(written(tmp_path, content))
        assert found.dialect["delimiter"] == ","
        assert found.notes == []


def test_a_delimiter_that_is_told_is_used(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, "x,y z\na,b c\n")
    assert list(labels_of(read(db, file))) == ["x", "y z"]
    assert list(labels_of(read(db, file, delimiter=" "))) == ["x,y", "z"]
    assert list(labels_of(read(db, file, delimiter="§"))) == ["x,y z"]
    with pytest.raises(SurveyError, match="line 2: 2 fields where the header has 1"):
        read(db, written(tmp_path, "x;y\na,b;c\n"), delimiter=",")


@pytest.mark.parametrize(
    ("content", "told", "expected"),
    [
        ("'x','y'\n'a,b','it''s'\n", {"quote": "'"}, [("a,b", "it's")]),
        ("'x','y'\n'a,b','c\"'\n", {"quote": "'"}, [("a,b", 'c"')]),
        ('x,y\n"a",b"c"\n', {"quote": ""}, [('"a"', 'b"c"')]),
        ('x,y\n"a\\"b\\\\",c\n', {"escape": "\\"}, [('a"b\\', "c")]),
        ('x,y\n"a""b",c\n', {"escape": "\\"}, [('a"b', "c")]),
        ("x,y\na\\,b,c\\\nd\n", {"escape": "\\", "quote": ""}, [("a,b", "c\nd")]),
        ("x,y\na\\b,c\n", {}, [("a\\b", "c")]),
        ("'x';'y'\n'a,b';'c;d'\n", {"quote": "'"}, [("a,b", "c;d")]),
        ("x;y\n;a;;b;\n", {"quote": ";", "delimiter": ";"}, None),
        ("|x|,|y|\n|a|,|b|\n", {"quote": "|"}, [("a", "b")]),
    ],
)
def test_quotes_and_escapes_that_are_told_are_used(
    db: Database, tmp_path: Path, content: str, told: dict[str, str], expected: Any
) -> None:
    file = written(tmp_path, content)
    if expected is None:
        with pytest.raises(SurveyError, match="quote and delimiter are both ';'"):
            read(db, file, **told)
        return
    assert rows_of(db, read(db, file, **told)) == Counter(expected)
    found = reader_of(file, **told)
    assert found.dialect["quote"] == told.get("quote", '"')
    assert found.dialect["escape"] == told.get("escape", "")


def test_single_quotes_around_all_names_are_pointed_at(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, "'x','y'\n'a','b'\n")
    assert labels_of(db.ingest(file)) == {"'x'": {"'a'": 1}, "'y'": {"'b'": 1}}
    (note,) = reader_of(file).notes
    assert 'pass quote="\'"' in note
    assert reader_of(file, quote="'").notes == []
    assert reader_of(file, quote='"').notes == []
    assert reader_of(written(tmp_path, "'x',y\n'a','b'\n")).notes == []
    with pytest.raises(SurveyError, match="line 2: 3 fields") as caught:
        db.ingest(written(tmp_path, "'x','y'\n'a,b','c'\n"))
    assert 'pass quote="\'"' in str(caught.value.hint)


TITLES: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "one line": ("Exported on day 3\narea,vote\nNorth,Left\nSouth,Right\n", {},
                 ["line 1 above the header was skipped: 'Exported on day 3'"]),
    "two lines, a blank one": (
        "Survey of May\r\n\r\nn = 9\r\narea;vote\r\n" + "a;b\r\n" * 6, {},
        ["line 1 above the header was skipped: 'Survey of May'",
         "line 3 above the header was skipped: 'n = 9'"]),
    "one word, many rows": ("Report\narea,vote\n" + "a,b\n" * 9, {},
                            ["line 1 above the header was skipped: 'Report'"]),
    "one word, told": ("Report\narea,vote\na,b\n", {"delimiter": ","},
                       ["line 1 above the header was skipped: 'Report'"]),
    "the delimiter": ("sep=;\narea;vote\na,b;c\n", {},
                      ["line 1 above the header was skipped: 'sep=;'"]),
    "a delimiter unheard of": ("sep=$\r\narea$vote\r\na$b\r\n", {},
                               ["line 1 above the header was skipped: 'sep=$'"]),
    "long": ("Report " * 99 + "\narea,vote\na,b\nc,d\n", {},
             ["line 1 above the header was skipped: '" + ("Report " * 99)[:80] + "...'"]),
    "broken later": ("The report\narea,vote\n" + "a,b\n" * 200 + "c\n", {}, []),
}  # fmt: skip


@pytest.mark.parametrize("name", TITLES)
def test_a_title_above_the_header_is_skipped_and_told(
    db: Database, tmp_path: Path, name: str
) -> None:
    content, told, notes = TITLES[name]
    file = written(tmp_path, content)
    if not notes:
        with pytest.raises(SurveyError, match="line 203: 1 field where the header has 2"):
            read(db, file, **told)
        return
    assert reader_of(file, **told).notes == notes
    survey = read(db, file, **told)
    assert list(labels_of(survey)) == ["area", "vote"]
    above = len(notes) + 1
    assert (
        survey.receipt["rows_read"]
        == len([x for x in content.split("\n") if x.strip()]) - above
    )


@pytest.mark.parametrize(
    "content",
    [
        "why\ntoo far\ncost; time\nbusy; tired\n",
        "why\ntoo far\ncost;time\nbusy;tired\n",
        "why\ntoo far, really\ncost, time, both\n",
        "why\nno\nyes\ncost;time\nbusy;tired\nfar;near\n",
    ],
)
def test_a_column_of_sentences_stays_one(db: Database, tmp_path: Path, content: str) -> None:
    survey = db.ingest(written(tmp_path, content))
    assert labels_of(survey) == {"why": dict.fromkeys(sorted(content.split("\n")[1:-1]), 1)}


# -----------------------------------------------------------------------------
# Bad rows
# -----------------------------------------------------------------------------

RAGGED = "id,sex,vote\n1,F,Yes\n2,M\n3,F,No\n4,M,Yes,extra\n5,F,No\n"
BROKEN = 'id,name,vote\n2,"Ash, Bo",Yes\n1,"Cole, Di,No\n3,"Eve",Yes\n4,"Flo",No\n'


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("way", ["direct", "rewritten"])
def test_bad_rows_are_named_with_their_lines(
    db: Database, tmp_path: Path, end: str, way: str
) -> None:
    above = "" if way == "direct" else end
    line = 3 + bool(above)
    for content, message in {
        RAGGED: f"line {line} has 2 fields, line {line + 2} has 4 fields; the header has 3",
        BROKEN: f"line {line}: the quote opened here is closed within a cell of line",
        'x,y\n1,a\n2,"b\n': f"line {line}: the quote opened here is never closed",
        'x,y\na,b\n1,a,b\n2,"b\n3,c\n': (
            f"line {line + 1}: the quote opened here is never closed; above it, "
            f"line {line} has 3 fields where the header has 2"
        ),
        "x,y\na,b\n" + "c,d,e\n" * 30: rf"lines {line}, .* and 25 more: 3 fields where the",
        "x,y\na,b\n" + "c,d,e\n" * 3000: rf"lines {line}, .* and at least 995 more: 3 fields",
    }.items():
        file = written(tmp_path, above + content.replace("\n", end))
        before = trace(db)
        with pytest.raises(SurveyError, match=message) as caught:
            db.ingest(file)
        assert "pass bad_rows='skip' (on the command line --bad-rows skip)" in str(
            caught.value.hint
        )
        assert trace(db) == before


@pytest.mark.parametrize(
    ("content", "rows", "count", "first"),
    [
        (RAGGED, "1,F,Yes 3,F,No 5,F,No", 2, [(3, 2, "2,M"), (5, 4, "4,M,Yes,extra")]),
        (BROKEN.replace(", ", "-"), "2,Ash-Bo,Yes 3,Eve,Yes 4,Flo,No", 1,
         [(3, None, '1,"Cole-Di,No')]),
        ('x,y\na,b\n"c,d\ne,f\n', "a,b e,f", 1, [(3, None, '"c,d')]),
        ('x,y\na,b\n"c,d\n', "a,b", 1, [(3, None, '"c,d')]),
        ('x,y\n"a"b,c\nd,e\n', "d,e", 1, [(2, None, '"a"b,c')]),
        ("x,y\na,b\n" + "c\n" * 30, "a,b", 30, [(i, 1, "c") for i in range(3, 13)]),
        ("x,y\na,b\n" + "c" * 99 + "\n", "a,b", 1, [(3, 1, "c" * 60 + "...")]),
        ('x,y\n"a\nb"\nc,d\n', "c,d", 1, [(2, 1, '"a')]),
        ("x,y\na,b\n", "a,b", 0, []),
        ("x,y\na,b,\n", "a,b", 0, []),
    ],
)  # fmt: skip
def test_bad_rows_are_left_out_counted_and_listed(
    db: Database, tmp_path: Path, content: str, rows: str, count: int, first: list[Any]
) -> None:
    for end in ("\n", "\r\n"):
        file = written(tmp_path, content.replace("\n", end))
        assert rows_of(db, read(db, file, bad_rows="skip")) == Counter(
            tuple(row.split(",")) for row in rows.split(" ")
        )
        skipped = reader_of(file, bad_rows="skip").skipped
        if not count:
            assert skipped is None
        else:
            assert skipped is not None
            assert (skipped.count, skipped.first) == (count, first)


@pytest.mark.parametrize(
    "content",
    [
        'x,y\n"a\nb",c\n"d"e,f\ng,h\n',
        'x,y\n"d"e,f\n"a\nb",c\ng,h\n',
        'x,y\n1,"text\n5,yes\nmore"oops\n"a\nb",c\n',
    ],
)
def test_a_broken_quote_is_not_skipped_where_cells_have_several_lines(
    db: Database, tmp_path: Path, content: str
) -> None:
    with pytest.raises(
        SurveyError, match=r"the line cannot be skipped, because cells .* \(line \d\)"
    ):
        read(db, written(tmp_path, content), bad_rows="skip")


@pytest.mark.parametrize(
    ("rows", "line", "text"),
    [
        ('1,"b\n2,c\n', 2, "the quote opened here is never closed"),
        ('1,"b"\n2,"', 3, "the quote opened here is never closed"),
        ('1,"b\n2"\n3,"c\n4,d\n', 4, "the quote opened here is never closed"),
        ('"a\nb","c\nd\n', 3, "the quote opened here is never closed"),
        ('1,"b"c\n', 2, "the closing quote of a cell is followed by more text"),
        ('"a\nb","c"d\n', 3, "the closing quote of a cell is followed by more text"),
        ('1,"b\n\n3,"c"\n', 2, "the quote opened here is closed within a cell of line 4"),
        ('"a\nb","c\n4,"d"\n', 3, "the quote opened here is closed within a cell of line 4"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_broken_quote_is_named_by_the_line_where_it_opens(
    db: Database, tmp_path: Path, rows: str, line: int, text: str, end: str
) -> None:
    file = written(tmp_path, ("x,y\n" + rows).replace("\n", end))
    with pytest.raises(SurveyError, match=f"line {line}: {text}") as caught:
        db.ingest(file)
    assert """pass quote='' (on the command line --quote "")""" in str(caught.value.hint)
    if "\n" not in rows[:-1]:
        assert db.ingest(file, quote="").receipt["rows_read"] == 1


@pytest.mark.slow
def test_a_quote_that_is_closed_nowhere_near_is_named_by_its_line(
    db: Database, tmp_path: Path
) -> None:
    file = written(tmp_path, 'x,y\n1,"' + "b\n" * 1_100_000)
    with pytest.raises(
        SurveyError, match="line 2: the quote opened here is not closed within 2,097,152 "
    ):
        db.ingest(file)


def test_a_broken_quote_in_the_header_is_never_skipped(db: Database, tmp_path: Path) -> None:
    for content in (
        '"x,y\na,b\n"c,d\n',
        '"x"z,y\na,b\n',
        '"x y;z\na;b\n"k\nl";c\n' + "d;e\n" * 9,
    ):
        for told in ({}, {"bad_rows": "skip"}):
            with pytest.raises(SurveyError, match=r"line 1: the (closing )?quote"):
                read(db, written(tmp_path, content), **told)


# -----------------------------------------------------------------------------
# Settings, and any bytes
# -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"encoding": "klingon"}, "'klingon' is not a text encoding\nhint: give"),
        ({"encoding": "hex"}, "encoding 'hex' is not a text encoding"),
        ({"encoding": "unicode_escape"}, "encoding 'unicode_escape' is not a text"),
        ({"encoding": "undefined"}, "encoding 'undefined' is not a text encoding"),
        ({"encoding": ""}, "encoding '' is not a"),
        ({"encoding": "a\0b"}, "is not a text encoding"),
        ({"encoding": 8}, "encoding 8 is not a text encoding"),
        ({"delimiter": ""}, "delimiter must be one character, not ''"),
        ({"delimiter": "\\t"}, r"delimiter must be one character, not '\\\\t'\nhint: a tab is"),
        ({"delimiter": 1}, "delimiter must be one character, not 1"),
        ({"delimiter": "\n"}, r"delimiter cannot be '\\n', which ends a line"),
        ({"delimiter": "\ud800"}, r"cannot be '\\ud800', which ends a line or is not text"),
        ({"delimiter": '"'}, "quote and delimiter are both '\"'"),
        ({"quote": "''"}, "quote must be one character, not \"''\""),
        ({"quote": ",", "delimiter": ","}, "quote and delimiter are both ','"),
        ({"escape": '"'}, "quote and escape are both '\"'\nhint: a doubled quote needs no"),
        ({"escape": ";", "delimiter": ";"}, "delimiter and escape are both ';'"),
        ({"escape": ""}, "escape must be one character, not ''"),
        ({"bad_rows": "ignore"}, "unknown value 'ignore' for bad_rows\nhint:"),
    ],
)  # fmt: skip
def test_what_is_told_is_checked(told: dict[str, Any], message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        ReadOptions(**told)


def test_a_plain_file_is_read_where_it_lies(tmp_path: Path) -> None:
    file = written(tmp_path, "x,y\r\na,b\r\n")
    found = reader_of(file)
    assert found.text == file
    assert not found.is_rewritten
    assert (found.notes, found.skipped) == ([], None)
    assert found.dialect == {
        "encoding": "utf-8", "delimiter": ",", "quote": '"', "escape": "",
        "compression": "none", "line_ends": "CRLF",
    }  # fmt: skip
    assert not reader_of(written(tmp_path, b'"x\n1",y\na,b\n')).is_rewritten
    assert reader_of(written(tmp_path, BOM + b'"x\n1",y\na,b\n')).is_rewritten
    assert reader_of(written(tmp_path, b"x,y\r\na,b\n")).dialect["line_ends"] == "LF and CRLF"


PIECES = [
    *(b"a", b"b", b'"', b'"', b",", b",", b",", b";", b"\t", b"|", b"\n", b"\n", b"\n", b"\r"),
    *(b"\r\n", b" ", b"'", b"\\", b"\xc3\xa9", b"\xff", b"\0", BOM, b":", b"^", b'""', b"1"),
]


def mutilated(chance: random.Random) -> bytes:
    """Return a survey file after an accident, or bytes that never were one."""
    if chance.random() < 0.2:
        return b"".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 40)))
    content = bytearray(chance.choice(FILES))
    for _ in range(chance.choice([1, 1, 2, 4])):
        at = chance.randrange(len(content) + 1)
        match chance.randrange(5):
            case 0:
                content[at:at] = chance.choice(PIECES)
            case 1:
                del content[at : at + chance.choice([1, 3, 1000])]
            case 2:
                content[at : at + 1] = chance.choice(PIECES)
            case 3:
                content[at : at + 1] = chance.randbytes(1)
            case 4 if chance.random() < 0.3:
                content *= 2
    return bytes(content)


def whole_files() -> Iterator[bytes]:
    """Give small files of all kinds."""
    cells = ["a", "b", "", " a", "a ", '"', 'a"b', "c,d", "e;f", "g\nh", "i\r\nj", "k\rl", "é"]
    chance = random.Random(3)  # noqa: S311
    for delimiter, quoting, end in product(",;\t|", [0, 1], ["\n", "\r\n", "\r"]):
        text = io.StringIO(newline="")
        out = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]
        width = chance.randrange(1, 4)
        out.writerow([f"x{i}" for i in range(width)])
        out.writerows([chance.choices(cells, k=width) for _ in range(chance.randrange(1, 9))])
        yield text.getvalue().encode()
    small = b"x,y,z\n" + b"".join(b"%d,\xc3\xa9,b\n" % (i % 7) for i in range(50))
    yield from (small.decode().encode(name) for name in ("utf-16", "utf-16-le", "latin-1"))
    yield gzip.compress(small, 1)
    if HAS_ZSTD:
        yield zstd(small)
    table = io.BytesIO()
    pq.write_table(pa.table({"x": ["a", "b"] * 50, "y": ["c"] * 100}), table)
    yield table.getvalue()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("survey.csv", small)
    yield packed.getvalue()
    yield random.Random(1).randbytes(300)  # noqa: S311


FILES = list(whole_files())


def rows_read(
    con: duckdb.DuckDBPyConnection, file: Path, reading: ReadOptions
) -> tuple[csv_file.CsvFile | None, Rows]:
    """Return what DuckDB reads of a file, without the rest of ingest."""
    with open_source(con, file, reading) as relation:
        try:
            rows = con.execute(
                f"select {', '.join(relation.cells)} from {relation.from_clause}"  # noqa: S608
            ).fetchall()
        except duckdb.Error as error:
            if relation.csv is None:
                raise SurveyError("Parquet") from error
            raise csv_file.explain_error(con, relation.csv, str(error)) from None
        return relation.csv, Counter(rows)


@pytest.mark.slow
def test_any_bytes_give_the_rows_that_python_reads_or_an_error_of_ours(shelf: Path) -> None:
    chance = random.Random(20260728)  # noqa: S311
    outcomes: Counter[str] = Counter()
    con = duckdb.connect(config={"threads": 1})
    for _ in range(600 * MORE):
        content = mutilated(chance)
        reading = ReadOptions(bad_rows=chance.choice(["error", "error", "skip"]))
        try:
            found, rows = rows_read(con, written(shelf, content), reading)
        except CegdbError:
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        # DuckDB takes a quote after a blank for the start of a cell, and a blank after a
        # quote for nothing; csv never writes either.
        if (
            found is None
            or found.text.name != "survey.csv"
            or {b' "', b'" '} & {content[i : i + 2] for i in range(len(content))}
        ):
            continue
        text = content.decode("utf-8-sig")
        delimiter, width = found.dialect["delimiter"], len(found.header)
        try:
            lines = io.StringIO(text, newline="")
            table = list(csv.reader(lines, delimiter=delimiter, strict=True))
        except csv.Error:
            assert reading.bad_rows == "skip", content
            continue
        below = table[table.index(found.header) + 1 :]
        table = [row or [""] for row in below if row or width == 1]
        table = [row[:width] if row[width:] == [""] else row for row in table]
        if reading.bad_rows == "skip":
            table = [row for row in table if len(row) == width]
        assert rows == Counter(tuple(cell or None for cell in row) for row in table), content
        outcomes["as Python reads"] += 1
    con.close()
    assert min(outcomes.values()) > 60 * MORE
    assert len(outcomes) == 3


@pytest.mark.slow
def test_any_bytes_leave_a_whole_survey_or_no_trace(tmp_path: Path) -> None:
    chance = random.Random(20260729)  # noqa: S311
    outcomes: Counter[str] = Counter()
    with cegdb.open() as db:
        before = trace(db)
        for _ in range(60 * MORE):
            try:
                survey = db.ingest(written(tmp_path, mutilated(chance)), "s")
            except CegdbError:
                outcomes["refused"] += 1
                assert db.surveys.names() == []
            else:
                assert sum(rows_of(db, survey).values()) == survey.receipt["rows_read"]
                outcomes["read"] += 1
                db.drop("survey", "s")
            assert trace(db) == before
    assert min(outcomes["read"], outcomes["refused"]) > 10 * MORE
