"""Ingest: every format gives the labels and counts that Python itself reads."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import os
import random
from collections import Counter
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
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
from strategies import run

from cegdb.errors import CegdbError, NameTakenError, SurveyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from cegdb.api import Database

NAN = float("nan")


@pytest.fixture
def db(shared_database: Database) -> Iterator[Database]:
    yield from emptied(shared_database)


# -----------------------------------------------------------------------------
# Any text, in any format
# -----------------------------------------------------------------------------


@st.composite
def tables(draw: Callable[..., Any], min_columns: int = 2) -> list[tuple[str, ...]]:
    """Draw a small table of nasty strings."""
    cell = NASTY | TEXTS
    width = draw(st.integers(min_columns, 4))
    rows = st.tuples(*[cell] * width).filter(lambda row: "not applicable" not in row)
    return draw(st.lists(rows, min_size=1, max_size=12))


def csv_bytes(
    rows: Iterable[Sequence[str]], delimiter: str, quoting: Any, end: str = "\r\n"
) -> bytes:
    """Write rows under a header x1, x2, ... with Python's csv."""
    text = io.StringIO(newline="")
    out = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    table = list(rows)
    out.writerow([f"x{i}" for i in range(1, len(table[0]) + 1)])
    out.writerows(table)
    return text.getvalue().encode()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder for the whole module."""
    return tmp_path_factory.mktemp("ingest")


@pytest.mark.slow
@run(3)
@given(rows=tables())
@example(rows=[("a\rb", "x"), ("c", "y")])
@example(rows=[("a,b", "1;2"), ("c,d", "3;4")])
@example(rows=[("\ufeff", '"'), (" ", "\n")])
def test_any_text_reads_the_same_in_every_csv_dialect(
    db: Database, shelf: Path, rows: list[tuple[str, ...]]
) -> None:
    expected = Counter(tuple(cell or None for cell in row) for row in rows)
    names = [f"x{i}" for i in range(1, len(rows[0]) + 1)]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    # Other formats are compared in test_dirty_files.py.
    sources: list[Any] = [pd.DataFrame(columns)]
    for i, (delimiter, (quoting, end)) in enumerate(
        product(",;\t", [(csv.QUOTE_ALL, "\n"), (csv.QUOTE_MINIMAL, "\r\n")])
    ):
        content = csv_bytes(rows, delimiter, quoting, end)
        sources.append(written(shelf, content, f"t{i}.csv"))
    sources.append(written(shelf, gzip.compress(content, 1), "t.csv.gz"))
    levels = []
    for source in sources:
        survey = db.ingest(source, "t", replace=True)
        assert rows_of(db, survey) == expected, source
        levels.append(survey.variables.drop(columns=["level_id", "variable_id"]))
    for other in levels[1:]:
        pd.testing.assert_frame_equal(other, levels[0])


@pytest.mark.slow
@run(10)
@given(cells=st.lists(NASTY | TEXTS, min_size=1, max_size=12))
@example(cells=["a", "b; c", "d, e"])
def test_one_column_of_any_text_reads_the_same(
    db: Database, shelf: Path, cells: list[str]
) -> None:
    cells = [cell for cell in cells if cell != "not applicable"] or ["a"]
    expected = Counter((cell or None,) for cell in cells)
    content = csv_bytes([(cell,) for cell in cells], ",", csv.QUOTE_ALL)
    survey = db.ingest(written(shelf, content, "one.csv"), "t", replace=True)
    assert rows_of(db, survey) == expected
    assert rows_of(db, db.ingest(pd.DataFrame({"x": cells}), "t", replace=True)) == expected


def test_blank_is_the_empty_cell_and_no_text(db: Database, tmp_path: Path) -> None:
    texts = ["NULL", "nan", "NaN", "NA", "None", "null", "n/a", "<NA>", "-", ".", "NaT", " "]
    content = 'x,y\n,1\n"",2\n' + "".join(f"{text},3\n" for text in texts)
    survey = db.ingest(written(tmp_path, content))
    assert labels_of(survey)["x"] == dict.fromkeys(sorted(texts), 1)
    assert survey.receipt["cells"]["x"] == {
        "value": len(texts), "structural": 0, "missing": 0, "blank": 2
    }  # fmt: skip
    frame = pd.DataFrame({"x": [None, NAN, pd.NA, pd.NaT, "", *texts]}, dtype=object)
    assert labels_of(db.ingest(frame, replace=True))["x"] == dict.fromkeys(sorted(texts), 1)


def test_text_labels_are_kept_as_written(db: Database, tmp_path: Path) -> None:
    labels = ["01", "1", "1.0", "1-4-2", "F", "T", "TRUE", "Yes", "0x1", "1e5", "41_10_1"]
    file = written(tmp_path, "x,y\n" + "".join(f"{label},a\n" for label in labels))
    assert column(db, file) == dict.fromkeys(sorted(labels), 1)


# -----------------------------------------------------------------------------
# DataFrames
# -----------------------------------------------------------------------------


class Colour(str, Enum):  # noqa: UP042 (its text differs from its value)
    RED = "red"


FRAMES: dict[str, tuple[Any, dict[str, int]]] = {
    "mixed types": (
        pd.Series(
            [
                1, "1", 1.0, np.int8(1), True, "True", np.bool_(1), None, NAN, pd.NA, pd.NaT,
                Decimal("1.50"), 1.5, Fraction(3, 2), Decimal("NaN"), "", Colour.RED, "red",
            ],
            dtype=object,
        ),
        {"1": 4, "1.5": 2, "3/2": 1, "True": 3, "red": 2},
    ),
    "nullable integers": (pd.array([3, None, 3, 10], dtype="Int64"), {"3": 2, "10": 1}),
    "nullable booleans": (pd.array([True, None, False], "boolean"), {"False": 1, "True": 1}),
    "nullable floats": (pd.array([1.0, None, 2.5], dtype="Float64"), {"1": 1, "2.5": 1}),
    "strings": (pd.array(["a", None, "", "nan"], dtype="string"), {"a": 1, "nan": 1}),
    "booleans": ([True, False, True], {"False": 1, "True": 2}),
    "floats": (
        [1.0, 2.5, NAN, -0.0, 0.0, 1e20, 1e-7, 0.1, 123456789.0],
        {"0": 2, "0.1": 1, "1": 1, "123456789": 1, "1e+20": 1, "1e-07": 1, "2.5": 1},
    ),
    "narrow floats": (
        np.array([0.1, 1, 1e8, -0.0], "f4"),
        {"0": 1, "0.1": 1, "1": 1, "100000000": 1},
    ),
    "infinities": ([float("inf"), -float("inf")], {"-inf": 1, "inf": 1}),
    "whole numbers": ([10, 9, -1], {"-1": 1, "9": 1, "10": 1}),
    "the largest unsigned": (np.array([2**64 - 1], "u8"), {str(2**64 - 1): 1}),
    "more than 64 bits": ([2**70, 1], {"1": 1, str(2**70): 1}),
    "decimals": (
        [Decimal(text) for text in ("1.50", "2", "1E+2", "0.00", "-0.0", "NaN")],
        {"0": 2, "1.5": 1, "100": 1, "2": 1},
    ),
    "decimals of 29 digits": (
        [Decimal("12345678901234567890123456789"), Decimal("12345678901234567890123456788")],
        {"12345678901234567890123456788": 1, "12345678901234567890123456789": 1},
    ),
    "numbers of 5,000 digits": (["9" * 5000, "10"], {"10": 1, "9" * 5000: 1}),
    "category of text": (pd.Categorical(["b", "a", None], ["b", "a"]), {"b": 1, "a": 1}),
    "category of integers": (pd.Categorical([3, 1, None], [3, 1, 2]), {"3": 1, "1": 1}),
    "category of floats": (pd.Categorical([3.0, 1.0], [3.0, 1.0]), {"3": 1, "1": 1}),
    "category of mixed types": (pd.Categorical([1, "1"], [1, "1"]), {"1": 2}),
    "category with unused levels": (
        pd.Categorical(["c2", "c1"], [f"c{i}" for i in range(400)]),
        {"c1": 1, "c2": 1},
    ),
    "category with no levels": (pd.Categorical([None, None], []), {}),
    "only None": ([None, None], {}),
    "datetimes": (
        pd.to_datetime(["2020-01-02", None, "2020-01-02 03:04:05.5"], format="ISO8601"),
        {"2020-01-02 00:00:00": 1, "2020-01-02 03:04:05.5": 1},
    ),
    "dates and times": (
        pd.Series([dt.date(2020, 1, 2), dt.time(1, 2, 3, 500000), dt.date(2020, 1, 2)]),
        {"01:02:03.5": 1, "2020-01-02": 2},
    ),
    "addresses that end in .0": (pd.Series([UUID(int=0), pd.Period("2020-01", "M")]), {
        "00000000-0000-0000-0000-000000000000": 1, "2020-01": 1,
    }),
    "intervals": (pd.IntervalIndex.from_breaks([0, 1, 2]), {"(0, 1]": 1, "(1, 2]": 1}),
    "sparse": (pd.arrays.SparseArray([0, 0, 1]), {"0": 2, "1": 1}),
    "arrow text": (pd.array(["a", None], pd.ArrowDtype(pa.string())), {"a": 1}),
    "arrow floats": (pd.array([1.0, None], pd.ArrowDtype(pa.float64())), {"1": 1}),
    "narrowest floats": (np.array([0.1, 2.0], dtype="float16"), {"0.1": 1, "2": 1}),
    "arrow narrow floats": (pd.array([0.1, None], pd.ArrowDtype(pa.float32())), {"0.1": 1}),
    "arrow decimals": (
        pd.array([Decimal("1.50"), None], pd.ArrowDtype(pa.decimal128(5, 2))),
        {"1.5": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_of_a_frame_has_these_labels(db: Database, kind: str) -> None:
    values, expected = FRAMES[kind]
    survey = db.ingest(pd.DataFrame({"x": values, "y": range(len(values))}))
    assert list(labels_of(survey)["x"].items()) == list(expected.items())
    assert survey.receipt["cells"]["x"]["blank"] == len(values) - sum(expected.values())


def test_a_frame_is_left_as_it_was(db: Database) -> None:
    frame = pd.DataFrame({"x": [1, "1", None]}, index=["r", "s", "t"])
    before = frame.copy(deep=True)
    db.ingest(frame, missing=["1"])
    pd.testing.assert_frame_equal(frame, before)


NAMES = [
    "n", "weight", "weight_sq", "v1", "c1", "f0", "written", "n_lines", "label", "ordinal",
    "code", "line_id", "select", "order", "group by", 'say "hi"', "it's", "a.b", "x[1]", "$pay",
    "$labels0", ":x", "?", "%s", "% agree", "semi;colon", "--", "/*", "Sex (M/F)", "年齢", "😀",
    " lead ", "\t", "two\nlines", "not applicable", "missing", "x" * 1000, "\\", "{}", "NULL",
    'x"; drop table cegdb.survey; --', "İstanbul", "ß", "1",
]  # fmt: skip


@pytest.mark.slow
def test_any_name_of_a_column_is_only_a_name(db: Database, tmp_path: Path) -> None:
    columns = {name: ["a", f"b{i}", "a"] for i, name in enumerate(NAMES)}
    frame = pd.DataFrame(columns)
    parquet, text = tmp_path / "t.parquet", tmp_path / "t.csv"
    frame.to_parquet(parquet)
    frame.to_csv(text, index=False)
    quoted = ['"' + name.replace('"', '""') + '"' for name in NAMES]
    first = ", ".join(f"'a' as {name}" for name in quoted)
    second = ", ".join(f"'b{i}'" for i in range(len(NAMES)))
    select = f"select {first} union all select {second} union all select {first}"
    for source in (frame, text, parquet, pa.table(frame), select):
        survey = db.ingest(source, "s", replace=True)
        assert labels_of(survey) == {name: {"a": 2, f"b{i}": 1} for i, name in enumerate(NAMES)}
    assert db.surveys.names() == ["s"]
    for name in NAMES:
        edges = (
            db.surveys["s"]
            .event_tree("t", order=[name], replace=True, sampling_zeros="none")
            .edges
        )
        assert edges["variable"].tolist() == [name] * 2
        assert edges["n"].tolist() == [2, 1]


def test_names_that_are_no_text_are_written_as_labels_are(db: Database) -> None:
    frame = pd.DataFrame([["a", "b", "c"]], columns=pd.Index([1, 2.0, True], dtype=object))
    assert list(labels_of(db.ingest(frame))) == ["1", "2", "True"]
    survey = db.ingest(frame, "s", columns=[2, 1])  # type: ignore[list-item]
    assert list(labels_of(survey)) == ["2", "1"]
    assert survey.receipt["columns_found_as"] == {}


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "has several columns called 'x'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "has several columns called '1'"),
        (pd.DataFrame([[1, 2]], columns=[None, "x"]), "column 1 of DataFrame has no name"),
        (
            pd.DataFrame([[1]], columns=[("a", "b")]),
            r"name of column 1 .* must be plain text, not \(",
        ),
        (pd.DataFrame({"x": []}), "has a header but no rows"),
        (pd.DataFrame(), "the DataFrame has no columns"),
        (pd.DataFrame(index=range(3)), "the DataFrame has no columns"),
        (pd.DataFrame({"x": [[1]]}), r"a cell contains list \[1\], which is not an answer"),
        (pd.DataFrame({"x": [{1: 2}]}), "column 'x': a cell contains dict"),
        (pd.DataFrame({"x": [b"a"]}), "column 'x': a cell contains bytes"),
        (pd.DataFrame({"x": [np.arange(2), 1]}), "column 'x': a cell contains ndarray"),
        (pd.DataFrame({"x": [object()]}), "column 'x': a cell contains object"),
        (pd.DataFrame({"x": pd.array([[1]], pd.ArrowDtype(pa.list_(pa.int8())))}), "list"),
        (
            pd.DataFrame({"x": pd.Series(["\ud800", "a"], dtype=object)}),
            r"column 'x': '\\ud800' is not UTF-8 text",
        ),
        (pd.DataFrame([[1]], columns=pd.Index(["\ud800"], dtype=object)), "name of column 1"),
        (pd.Series([1]), "cannot be read from Series"),
        (np.zeros((2, 2)), "cannot be read from ndarray"),
        ({"x": [1]}, "cannot be read from dict"),
        (None, "cannot be read from NoneType"),
    ],
)  # fmt: skip
def test_a_frame_that_is_no_survey_is_refused(db: Database, frame: Any, message: str) -> None:
    before = trace(db)
    with pytest.raises(CegdbError, match=message):
        db.ingest(frame)
    assert trace(db) == before


def test_columns_that_are_not_chosen_may_be_called_alike(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, "item,item,,vote,\nA,x,1,Yes,p\nB,y,2,No,q\n")
    with pytest.raises(SurveyError, match="several columns called '', 'item'"):
        db.ingest(file)
    assert labels_of(db.ingest(file, columns=["vote"])) == {"vote": {"No": 1, "Yes": 1}}
    with pytest.raises(SurveyError, match="'item' may be any of 'item', 'item'"):
        db.ingest(file, columns=["item"])


# -----------------------------------------------------------------------------
# Arrow and Parquet
# -----------------------------------------------------------------------------

TYPED: dict[str, tuple[Any, dict[str, int]]] = {
    "text": (pa.array(["b", "", None, "nan", "NA"]), {"NA": 1, "b": 1, "nan": 1}),
    "large text": (pa.array(["b", None], pa.large_string()), {"b": 1}),
    "dictionary": (pa.array(["b", "a", None, "b"]).dictionary_encode(), {"a": 1, "b": 2}),
    "dictionary with a blank": (pa.DictionaryArray.from_arrays([1, 0], ["a", ""]), {"a": 1}),
    "dictionary of integers": (pa.array([10, 9]).dictionary_encode(), {"9": 1, "10": 1}),
    "doubles": (pa.array([1.0, -0.0, 0.0, 2.5, None, NAN, -NAN, 1e16, 1e-7]),
                {"0": 2, "1": 1, "1e+16": 1, "1e-07": 1, "2.5": 1}),
    "floats": (pa.array([0.1, 1, 1e8, None], pa.float32()), {"0.1": 1, "1": 1, "100000000": 1}),
    "decimals": (pa.array([Decimal("1.50"), Decimal("100.00"), Decimal("0.00"), None]),
                 {"0": 1, "1.5": 1, "100": 1}),
    "whole decimals": (pa.array([Decimal(100), None], pa.decimal128(8, 0)), {"100": 1}),
    "booleans": (pa.array([True, None, False]), {"False": 1, "True": 1}),
    "bytes of integers": (pa.array([3, None, -1], pa.int8()), {"-1": 1, "3": 1}),
    "nulls": (pa.nulls(2), {}),
    "dates": (pa.array([dt.date(2020, 1, 2), None]), {"2020-01-02": 1}),
    "timestamps": (pa.array([dt.datetime(2020, 1, 2, 3, 4, 5, 500000)]),
                   {"2020-01-02 03:04:05.5": 1}),
    "times": (pa.array([dt.time(1, 2, 3)]), {"01:02:03": 1}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", TYPED)
def test_typed_columns_read_the_same_in_arrow_parquet_and_pandas(
    db: Database, tmp_path: Path, kind: str
) -> None:
    values, expected = TYPED[kind]
    table = pa.table({"x": values, "y": pa.array(range(len(values)))})
    pq.write_table(table, tmp_path / "t.parquet")
    sources: list[Any] = [
        table,
        table.to_batches()[0],
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1)),
        tmp_path / "t.parquet",
        table.to_pandas(types_mapper=pd.ArrowDtype),
    ]
    for source in sources:
        assert column(db, source) == expected, source


def test_only_a_time_zone_other_than_utc_is_part_of_a_time(db: Database) -> None:
    # pyarrow before 22 marks times without a zone in Parquet as UTC.
    query = "select unnest(['01:02:03+00', '01:02:03+01', null]::timetz[]) as x, 1 as y"
    assert column(db, query) == {"01:02:03": 1, "01:02:03+01": 1}


def test_the_order_of_an_ordered_dictionary_is_kept(db: Database) -> None:
    labels = pa.DictionaryArray.from_arrays([2, 0, 2, 1], ["low", "mid", "high"], ordered=True)
    plain = pa.DictionaryArray.from_arrays([2, 0, 2, 1], ["low", "mid", "high"])
    assert list(column(db, pa.table({"x": labels}))) == ["low", "mid", "high"]
    assert list(column(db, pa.table({"x": plain}))) == ["high", "low", "mid"]
    frame = pd.DataFrame({"x": pd.Categorical(["b", "a"], ["b", "c", "a"], ordered=True)})
    assert list(column(db, pa.Table.from_pandas(frame))) == ["b", "a"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([[1]]), "nested or binary values: x"),
        (pa.array([{"a": 1}]), "nested or binary values: x"),
        (pa.array([[(1, 2)]], pa.map_(pa.int8(), pa.int8())), "nested or binary values: x"),
        (pa.array([b"a"]), "nested or binary values: x"),
        (pa.array([Decimal("1.5")], pa.decimal256(50, 3)), "Table cannot be read"),
        (pa.array([], pa.string()), "Arrow table has a header but no rows"),
    ],
)
def test_arrow_columns_that_hold_no_answers_are_refused(
    db: Database, values: Any, message: str
) -> None:
    before = trace(db)
    with pytest.raises(SurveyError, match=message):
        db.ingest(pa.table({"x": values}))
    assert trace(db) == before
    assert column(db, pa.table({"x": ["a"]})) == {"a": 1}


def test_names_that_differ_only_in_case_are_two_columns(db: Database, tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["Q", "q"])
    pq.write_table(table, tmp_path / "t.parquet")
    csv_file = written(tmp_path, "Q,q\na,b\n")
    for source in (
        table,
        table.to_pandas(),
        tmp_path / "t.parquet",
        csv_file,
        "select 'a' as Q, 'b' as q",
    ):
        assert labels_of(db.ingest(source, "s", replace=True)) == {"Q": {"a": 1}, "q": {"b": 1}}
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["q", "q"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    for source in (twice, tmp_path / "twice.parquet", "select 'a' as q, 'b' as q"):
        with pytest.raises(SurveyError, match="several columns called 'q'"):
            db.ingest(source)


def test_a_folder_called_like_a_partition_is_no_column(db: Database, tmp_path: Path) -> None:
    folder = tmp_path / "year=2024"
    folder.mkdir()
    pq.write_table(pa.table({"x": ["a"]}), folder / "t.parquet")
    assert labels_of(db.ingest(folder / "t.parquet")) == {"x": {"a": 1}}


# -----------------------------------------------------------------------------
# SELECT
# -----------------------------------------------------------------------------

SELECTS = {
    "with t as (select 'a' as x) select * from t": {"a": 1},
    "select 'a' as x;": {"a": 1},
    "select 'a;b' as x ; -- done": {"a;b": 1},
    "select 'a' as x -- done": {"a": 1},
    "-- first\n/* second */ (select 'a' as x)": {"a": 1},
    "SELECT 'a' AS x UNION ALL SELECT 'a'": {"a": 2},
    "values ('a'), ('b')": {"a": 1, "b": 1},
    "from (values (10), (9)) as t(x)": {"9": 1, "10": 1},
    "select null as x": {},
    "select unnest([true, null, false, true]) as x": {"False": 1, "True": 2},
    "select unnest([1.50, 2.00, 100.00, 0.00, -0.50])::decimal(8, 2) as x": {
        "-0.5": 1, "0": 1, "1.5": 1, "100": 1, "2": 1,
    },
    "select unnest([1.0, -0.0, 'nan', '-nan', 1e16, 0.1])::double as x": {
        "0": 1, "0.1": 1, "1": 1, "1e+16": 1,
    },
    "select unnest(['b', 'a', null, 'b'])::enum('b', 'c', 'a') as x": {"b": 2, "a": 1},
    "select unnest(['it''s', 'a, b)', 'x''''y', '', 'two\nlines'])"
    "::enum('two\nlines', 'it''s', 'x''''y', '', 'a, b)') as x": {
        "two\nlines": 1, "it's": 1, "x''y": 1, "a, b)": 1,
    },
    "select uuid '00000000-0000-0000-0000-000000000001' as x": {
        "00000000-0000-0000-0000-000000000001": 1
    },
    "select '{\"a\":1}'::json as x": {'{"a":1}': 1},
}  # fmt: skip


@pytest.mark.parametrize("query", SELECTS)
def test_a_select_has_these_labels(db: Database, query: str) -> None:
    assert list(column(db, query).items()) == list(SELECTS[query].items())


def test_a_select_reads_the_users_own_tables(db: Database) -> None:
    db.sql("create schema mine")
    db.sql("create type mine.mood as enum ('sad', 'ok')")
    db.sql("create table mine.survey as select unnest(['ok', 'sad'])::mine.mood as x")
    assert list(column(db, "select * from mine.survey")) == ["sad", "ok"]
    assert db.sql("select count(*) as n from mine.survey")["n"].item() == 2
    db.sql("drop schema mine cascade")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select * from nowhere", "SELECT cannot be run: .*nowhere does not exist"),
        ("select 1 frmo x", "SELECT cannot be run: .*syntax error"),
        ("select $x as x", "SELECT cannot be run: .*parameters"),
        ("select error('boo') as x", "boo"),
        ("select if(i = 100000, error('boo'), 1) as x from range(100001) as t(i)", "boo"),
        ("select 1 as x where false", "has a header but no rows"),
        ("select [1] as x", "nested or binary values: x"),
        ("select [1]::integer[1] as x", "nested or binary values: x"),
        ("select {'a': 1} as x", "nested or binary values: x"),
        ("select map {'a': 1} as x", "nested or binary values: x"),
        ("select 'a'::blob as x", "nested or binary values: x"),
        ("select union_value(a := 1) as x", "nested or binary values: x"),
        ("select 1 as x, 2 as x", "several columns called 'x'"),
        ("select * from df", "df does not exist"),
        ("select * from cegdb_source", "cegdb_source does not exist"),
        ("select 1; select 2", "from one SELECT, not from 'select 1; select 2'"),
        ("insert into x values (1)", "from one SELECT, not from 'insert"),
        ("create table x (a integer)", "from one SELECT, not from 'create"),
        ("drop schema cegdb cascade", "from one SELECT, not from 'drop"),
        ("show tables", "from one SELECT, not from 'show tables'"),
        ("describe select 1", "from one SELECT, not from 'describe"),
        ("/* c */ summarize cegdb.survey", "from one SELECT, not from"),
        ("pragma database_list", "SELECT, not from 'pragma|SELECT cannot be run"),
        ("selec 1", "there is no file selec 1\nhint: a query starts with SELECT"),
        ("with love.csv", "there is no file with love.csv"),
        ("", "is a folder"),
        ("select '\ud800' as x", "is not UTF-8"),
    ],
)
def test_a_select_that_gives_no_survey_is_refused(
    db: Database, query: str, message: str
) -> None:
    df = pd.DataFrame({"x": ["never read"]})
    before = trace(db)
    with pytest.raises(SurveyError, match=message):
        db.ingest(query)
    assert trace(db) == before
    assert column(db, df) == {"never read": 1}


# -----------------------------------------------------------------------------
# Files
# -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["a[1].csv", "a*b.csv", "{a,b}.csv", "it's.csv", 'a"b.csv', "~a.csv", "é😀.csv", "noext",
     "$a.csv", "a?x=1.csv", "-a.csv", "a\nb.csv", "#a.csv", ".csv", "a;b.csv"],
)  # fmt: skip
def test_any_name_of_a_file_is_only_a_name(db: Database, tmp_path: Path, name: str) -> None:
    written(tmp_path, "x,y\nno,no\n", "a1.csv")
    survey = db.ingest(str(written(tmp_path, "x,y\na,b\n", name)))
    assert labels_of(survey) == {"x": {"a": 1}, "y": {"b": 1}}
    assert survey.name == (name.removesuffix(".csv") or ".csv")


def test_paths_that_lead_to_no_file_are_refused(db: Database, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    before = trace(db)
    for path, message in {
        tmp_path: "is a folder, not a survey file",
        tmp_path / "none.csv": "there is no file",
        tmp_path / "none" / "none.csv": "there is no file",
        tmp_path / ("x" * 300 + ".csv"): "there is no file",
        "x" * 100_000: "there is no file",
        "a\0b": "there is no file",
        "\udcff.csv": "there is no file|not UTF-8",
        "/dev/null": "is a pipe or a device",
        tmp_path / "pipe.csv": "is a pipe or a device",
    }.items():
        with pytest.raises(SurveyError, match=message):
            db.ingest(path)
    assert trace(db) == before


# -----------------------------------------------------------------------------
# Settings
# -----------------------------------------------------------------------------


def test_columns_choose_variables_and_their_order(db: Database) -> None:
    frame = pd.DataFrame({"Sex": ["F"], " vote ": ["Yes"], "area": ["N"], "Area": ["n"]})
    survey = db.ingest(frame, columns=["VOTE", "Sex", "area"])
    assert list(labels_of(survey)) == [" vote ", "Sex", "area"]
    assert survey.receipt["columns_found_as"] == {"VOTE": " vote "}
    assert survey.findings()["sentence"][0] == "column 'VOTE' is called ' vote ' in DataFrame"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"columns": ["nobody"]}, "there is no column 'nobody' in DataFrame"),
        ({"columns": ["AREA"]}, "'AREA' may be any of 'area', 'Area' in DataFrame"),
        ({"columns": ["Sex", "sex"]}, "columns lists 'Sex' more than once"),
        ({"columns": "Sex"}, "columns must be a list, not the text 'Sex'"),
        ({"columns": []}, "has no column left to be a variable"),
        ({"columns": [None]}, "there is no column None"),
        ({"columns": [["Sex"]]}, r"\['Sex'\] is not the name of a column"),
        ({"count": "nobody"}, "there is no column 'nobody'"),
        ({"count": "Sex", "columns": ["Sex", "area"]}, "'Sex' cannot be both the count and"),
        ({"structural": "NA"}, "structural must be a list, not the text 'NA'"),
        ({"structural": 9}, "structural must be a list, not 9"),
        ({"missing": [None]}, "missing contains an empty label"),
        ({"missing": [""]}, "missing contains an empty label"),
        ({"missing": ["9", 9]}, "missing lists '9' twice"),
        ({"missing": {"Sex": "NA"}}, "missing of 'Sex' must be a list, not the text 'NA'"),
        ({"missing": {"Sex": None}}, "missing of 'Sex' must be a list, not None"),
        ({"missing": {"nobody": ["NA"]}}, "missing: there is no variable 'nobody' in the s"),
        ({"missing": ["NA"], "structural": ["NA"]}, "'NA' cannot be both structural"),
        ({"levels": {"Sex": "FM"}}, "levels of 'Sex' must be a list, not the text 'FM'"),
        ({"levels": {"Sex": []}}, "levels of 'Sex' is empty"),
        ({"levels": {"Sex": ["F", "F"]}}, "levels of 'Sex' lists 'F' twice"),
        ({"levels": {"Sex": ["M"]}}, r"'Sex' has answers .* not list: 'F' \(2 rows\)"),
        ({"levels": {"Sex": ["F", "M"], "SEX": ["M", "F"]}}, "lists 'Sex' more than once"),
        ({"levels": {"Sex": ["F", "M", "NA"]}, "missing": ["NA"]}, "lists 'NA', which is"),
        ({"levels": {"Sex": ["F", "M", "not applicable"]}}, "has the answer 'not applicable'"),
        ({"missing": ["not applicable"]}, "'Sex' has the answer 'not applicable'"),
        ({"name": "  "}, "the name for the survey is blank"),
    ],
)  # fmt: skip
def test_a_setting_that_does_not_fit_is_refused(
    db: Database, settings: dict[str, Any], message: str
) -> None:
    frame = pd.DataFrame({"Sex": ["F", "M", "F"], "area": list("abc"), "Area": list("abc")})
    before = trace(db)
    with pytest.raises(CegdbError, match=message):
        db.ingest(frame, **settings)
    assert trace(db) == before
    db.ingest(frame)


def test_a_label_that_is_not_found_is_reported_with_its_columns(db: Database) -> None:
    frame = pd.DataFrame({"x": ["a", "b"], "y": ["c", "d"], "z": ["e", "f"]})
    survey = db.ingest(frame, missing={"x": ["no"], "y": ["no"]}, structural=["never"])
    found = survey.findings()["sentence"].tolist()
    assert "missing label 'no' was not found in 'x' or 'y'" in found
    assert "structural label 'never' was not found in any column" in found


def test_labels_set_apart_are_structural_or_missing(db: Database) -> None:
    frame = pd.DataFrame({"x": ["a", "NA", "99", None, "88"], "y": ["NA", "b", "b", "b", "99"]})
    survey = db.ingest(frame, structural={"X": ["NA"]}, missing=[99, "88", "zz"])
    assert labels_of(survey) == {"x": {"a": 1}, "y": {"NA": 1, "b": 3}}
    assert labels_of(survey, "missing") == {
        "x": {"88": 1, "99": 1, "zz": 0}, "y": {"88": 0, "99": 1, "zz": 0}
    }  # fmt: skip
    assert rows_of(db, survey) == Counter(
        zip(
            ["a", "<structural>", "<missing>", None, "<missing>"],
            ["NA", "b", "b", "b", "<missing>"],
            strict=True,
        )
    )
    assert survey.receipt["cells"] == {
        "x": {"value": 1, "structural": 1, "missing": 2, "blank": 1},
        "y": {"value": 4, "structural": 0, "missing": 1, "blank": 0},
    }
    assert survey.receipt["declared_labels"]["x"] == {"NA": 1, "88": 1, "99": 1, "zz": 0}
    hints = " / ".join(survey.receipt["hints"])
    assert "missing label 'zz' was not found in any column" in hints
    assert "missing label '99'" not in hints
    assert "'y' has the answer 'NA' (1 row), kept as a label" in hints


def test_declared_levels_keep_their_order_and_the_unseen(db: Database) -> None:
    survey = db.ingest(
        pd.DataFrame({"x": ["low", "high", 1.0]}), levels={"x": ["low", "mid", "high", 1]}
    )
    assert list(labels_of(survey)["x"].items()) == [
        ("low", 1),
        ("mid", 0),
        ("high", 1),
        ("1", 1),
    ]
    tree = survey.event_tree(sampling_zeros="floret")
    assert tree.edges["label"].tolist() == ["low", "mid", "high", "1"]


def test_levels_without_an_order_go_by_value_or_by_bytes(db: Database) -> None:
    assert list(column(db, pd.DataFrame({"x": [10, 9, -1, 0]}))) == ["-1", "0", "9", "10"]
    assert list(column(db, pd.DataFrame({"x": ["10", "9", "+1", "01", "1"]}))) == [
        "+1", "01", "1", "9", "10",
    ]  # fmt: skip
    assert list(column(db, pd.DataFrame({"x": ["b", "10", "9", "é", "Z"]}))) == [
        "10", "9", "Z", "b", "é",
    ]  # fmt: skip


def test_the_answer_not_applicable_is_refused_unless_declared(db: Database) -> None:
    frame = pd.DataFrame({"x": ["not applicable", "a"], "y": ["u", "u"]})
    with pytest.raises(SurveyError, match=r"'x' has the answer 'not applicable' \(1 row\)"):
        db.ingest(frame)
    survey = db.ingest(frame, structural=["not applicable"])
    assert labels_of(survey, "structural")["x"] == {"not applicable": 1}


COUNTS = {
    "1": 1, "0": 0, "007": 7, "+4": 4, "-0": 0, "3.0": 3, "3.": 3, "3.000": 3, " 3 ": 3,
    "1e+05": 100_000, "1.5e1": 15, "2E3": 2000, "9007199254740993": 9_007_199_254_740_993,
}  # fmt: skip
NO_COUNTS = [
    "-1", "1.5", "0.0000001", "0.99999999999999999999", "1e-7", "1.55e1", "abc", "nan", "inf",
    "0x10", "1_000", "1,000", "true", "\u0661", "1 2", "--1", "1e", "9223372036854775808",
    "1e30", "9" * 60,
]  # fmt: skip


@pytest.mark.parametrize("cell", COUNTS)
def test_a_whole_number_is_a_count(db: Database, tmp_path: Path, cell: str) -> None:
    file = written(tmp_path, f'x,n\na,2\nb,"{cell}"\n')
    survey = db.ingest(file, count="N")
    expected = {"a": 2, "b": COUNTS[cell]}
    assert labels_of(survey) == {"x": {label: n for label, n in expected.items() if n}}
    receipt = survey.receipt
    dropped = {"n is 0": 1} if COUNTS[cell] == 0 else {}
    assert receipt["rows_dropped"] == dropped
    assert (receipt["rows_read"], receipt["rows_kept"]) == (2, 2 - len(dropped))
    assert receipt["respondents"] == 2 + COUNTS[cell]


@pytest.mark.parametrize("cell", NO_COUNTS)
def test_a_count_that_is_no_whole_number_is_named_with_its_row(
    db: Database, tmp_path: Path, cell: str
) -> None:
    file = written(tmp_path, f'x,n\na,2\nb,3\nc,"{cell}"\n')
    before = trace(db)
    for source in (file, pd.DataFrame({"x": list("abc"), "n": ["2", "3", cell]})):
        with pytest.raises(SurveyError, match="a count is a whole number, 0 or more") as caught:
            db.ingest(source, count="n")
        shown = cell if any(map(str.isdigit, cell)) else repr(cell)
        assert f"'n' contains {shown} (row 3)" in str(caught.value)
    assert trace(db) == before


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, None], r"'n' contains a blank \(row 2\)"),
        ([1, "  "], r"'n' contains a blank \(row 2\)"),
        ([1.0, NAN], r"'n' contains a blank \(row 2\)"),
        ([2.0, 3.5], r"'n' contains 3.5 \(row 2\)"),
        ([True, 1], r"'n' contains 'True' \(row 1\)"),
        (list(range(-7, 0)), r"and 2 more \(rows 1, 2, 3, 4, 5 and 2 more\)"),
        ([*range(-3, 0), *[-4] * 1_997], r"-4 \(rows 1, 2, 3, 4, 5 and 1,995 more\)"),
        ([0, 0], "stands for no respondents: 'n' is 0 in every row"),
        ([2**63 - 1, 1], "the counts in 'n' add up to 9,223,372,036,854,775,808, more than 2"),
    ],
)  # fmt: skip
def test_counts_that_make_no_survey_are_refused(
    db: Database, counts: list[Any], message: str
) -> None:
    frame = pd.DataFrame({"x": range(len(counts)), "n": pd.Series(counts, dtype=object)})
    before = trace(db)
    with pytest.raises(SurveyError, match=message):
        db.ingest(frame, count="n")
    reader = pa.table({"x": ["a"], "n": ["-3"]}).to_reader()
    with pytest.raises(SurveyError, match="'n' contains -3: a count"):
        db.ingest(reader, count="n")
    assert trace(db) == before


def test_lines_that_are_alike_add_their_counts(db: Database) -> None:
    frame = pd.DataFrame({"x": list("aabb"), "y": list("uuvv"), "n": [1, 1, 2, 0]})
    survey = db.ingest(frame, count="n")
    assert rows_of(db, survey) == {("a", "u"): 2, ("b", "v"): 2}
    assert survey.receipt["rows_read"] == 4
    assert survey.receipt["rows_kept"] == 3
    assert survey.receipt["rows_dropped"] == {"n is 0": 1}
    assert survey.receipt["respondents"] == 4


@pytest.mark.parametrize(
    ("name", "what"),
    [("Freq", "count"), ("n", "count"), (" WEIGHT ", "weight"), ("wt", "weight")],
)
def test_a_column_called_like_a_count_is_pointed_at(db: Database, name: str, what: str) -> None:
    frame = pd.DataFrame({"x": ["a", "b"], name: [1, 2]})
    hints = db.ingest(frame, "s").receipt["hints"]
    assert hints[0] == (
        f"column {name!r} looks like a {what}: if it is one, ingest with {what}={name!r}"
    )
    given = {what: name}
    assert db.ingest(frame, "t", **given).receipt["hints"] == []
    assert db.ingest(frame, "u", columns=["x"]).receipt["hints"] == []


@pytest.mark.parametrize("label", ["NA", "n/a", "nan", "None", "null", ".", "-", "unknown"])
def test_a_label_that_may_be_no_answer_is_pointed_at(db: Database, label: str) -> None:
    survey = db.ingest(pd.DataFrame({"x": ["a", label]}))
    assert (
        f"'x' has the answer {label!r} (1 row), kept as a label" in survey.receipt["hints"][0]
    )
    assert f"note: 'x' has the answer {label!r}" in survey.summary


def test_a_variable_without_answers_is_pointed_at(db: Database) -> None:
    survey = db.ingest(pd.DataFrame({"x": [None, None], "y": ["a", "b"]}))
    assert survey.receipt["hints"] == [
        "'x' has no answers; leave it out, unless a later wave has answers"
    ]


def test_the_smallest_survey_is_one_row_of_one_answer(db: Database) -> None:
    survey = db.ingest(pd.DataFrame({"x": ["a"]}))
    assert labels_of(survey) == {"x": {"a": 1}}
    assert (
        len(
            survey.event_tree(sampling_zeros="none")
            .learn_stages(prior="mass", criterion="score")
            .to_ceg()
            .edges
        )
        == 1
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", [39, 40, 41, 100, 500])
def test_a_wide_survey_is_coded_like_a_narrow_one(db: Database, width: int) -> None:
    chance = random.Random(width)  # noqa: S311
    rows = [
        tuple(chance.choice(["a", "b", "é", None]) for _ in range(width)) for _ in range(5)
    ] * 2
    frame = pd.DataFrame(rows, columns=[f"q{i}" for i in range(width)], dtype=object)
    frame["n"] = range(1, 11)
    expected: Rows = Counter()
    for row, n in zip(rows, range(1, 11), strict=True):
        expected[row] += n
    assert rows_of(db, db.ingest(frame, count="n")) == expected


@pytest.mark.slow
@pytest.mark.parametrize("n_levels", [253, 254, 255, 256, 65_533, 65_536])
def test_a_variable_has_as_many_levels_as_it_needs(db: Database, n_levels: int) -> None:
    x = [f"x{i}" for i in range(n_levels)]
    survey = db.ingest(pd.DataFrame({"x": x, "y": ["a"] * (n_levels - 1) + [None]}))
    assert rows_of(db, survey) == Counter(
        (x[i], "a" if i < n_levels - 1 else None) for i in range(n_levels)
    )
    assert f"'x' has {n_levels:,} levels" in survey.findings()["sentence"].tolist()


def test_a_name_left_out_is_the_files(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, "x\na\n", "My survey.v2.csv.gz")
    assert [db.ingest(file).name for _ in range(3)] == [
        "My survey.v2", "My survey.v2-2", "My survey.v2-3",
    ]  # fmt: skip
    with pytest.raises(NameTakenError, match=r"survey 'My survey\.v2' already exists"):
        db.ingest(file, name="My survey.v2")


def test_nan_in_a_parquet_file_is_blank_whatever_wrote_it(db: Database, tmp_path: Path) -> None:
    """DuckDB takes isnan for false by the statistics that pyarrow writes without NaN."""
    frame = pa.table({"x": pa.array([1.0, float("nan"), 2.5, 1.0])})
    pq.write_table(frame, tmp_path / "nan.parquet")
    query = f"select * from '{tmp_path}/nan.parquet'"  # noqa: S608
    for source in (tmp_path / "nan.parquet", query):
        survey = db.ingest(source)
        assert rows_of(db, survey) == {("1",): 2, ("2.5",): 1, (None,): 1}


def test_patterns_of_unanswered_questions_are_counted(db: Database) -> None:
    rows = """
        select * from (values
            ('a', 'x', null, '?', 5), ('a', null, null, '?', 2), ('b', 'none', 'y', 'z', 3),
            ('b', 'x', 'y', 'z', 1)
        ) as t(always, p, q, r, n)
    """
    survey = db.ingest(rows, count="n", missing=["?"], structural=["none"])
    assert survey.receipt["patterns"] == {
        "variables": ["p", "q", "r"],
        "n_patterns": 4,
        "shown": [
            {"pattern": "+.?", "n": 5},
            {"pattern": "-++", "n": 3},
            {"pattern": "..?", "n": 2},
            {"pattern": "+++", "n": 1},
        ],
    }
    assert db.ingest("select 'a' as x").receipt["patterns"] == {}


def test_blank_and_missing_cells_have_their_own_names_in_the_view(db: Database) -> None:
    rows = "select unnest(['a', null, null, 'DK', 'missing']) as x"
    survey = db.ingest(rows, missing=["DK", "missing"])
    levels = survey.variables[["label", "kind", "n"]].itertuples(index=False, name=None)
    assert list(levels) == [
        ("a", "value", 1),
        ("DK", "missing", 1),
        ("missing", "missing", 1),
        ("(blank)", "blank", 2),
        ("not applicable", "structural", 0),
    ]
    tree = survey.event_tree(missing_policy="category", blank="missing", sampling_zeros="none")
    assert dict(zip(tree.edges["label"], tree.edges["n"], strict=True)) == {
        "a": 1, "DK": 1, "missing": 3,
    }  # fmt: skip
