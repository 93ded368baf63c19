"""SPSS, Stata and SAS files: each code, label and missing code as the file has it."""

from __future__ import annotations

import datetime as dt
import random
import struct
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import MORE, run

from cegdb.errors import SurveyError
from cegdb.ingest.files.labelled import chunks, describe, format_of

if TYPE_CHECKING:
    from pathlib import Path


def cells(file: Path, rows: int = 100_000, **settings: Any) -> list[list[str | None]]:
    """Return all cells, by row."""
    names = describe(file, **settings).columns
    frames = list(chunks(file, names, rows, **settings))
    assert all(list(frame.columns) == names and len(frame) <= rows for frame in frames)
    return [row for frame in frames for row in frame.to_numpy().tolist()]


@pytest.fixture
def sav(tmp_path: Path) -> Path:
    frame = pd.DataFrame(
        {
            "sex": [1.0, 2, 9, np.nan],
            "inc": [3.0, 8.5, 9, 0.5],
            "code": ["A", "B ", "-99", ""],
            "n": [-0.0, 1e16, 1 / 3, -2],
        }
    )
    file = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        frame,
        file,
        column_labels={"sex": "Sex of the respondent"},
        variable_value_labels={
            "sex": {9: "Refused", 2: "Female", 1: "Male"},
            "inc": {3: "High", 10: "Top", 1: "Low", 9: "Refused"},
            "code": {"B": "Disagree", "A": "Agree", "-99": "Not asked"},
        },
        missing_ranges={
            "sex": [9, 99],
            "inc": [{"lo": 8, "hi": 9.5}],
            "code": ["-99", "-98"],
        },
    )
    return file


@pytest.mark.slow
def test_spss_codes_labels_and_missing_codes_are_kept_apart(sav: Path) -> None:
    found = describe(sav)
    assert (found.format, found.columns) == ("SPSS", ["sex", "inc", "code", "n"])
    assert (found.n_rows, found.encoding) == (4, "UTF-8")
    sex, inc, code = (found.metadata[name] for name in ("sex", "inc", "code"))
    assert sex.label == "Sex of the respondent"
    assert list(sex.values.items()) == [("1", "Male"), ("2", "Female"), ("9", "Refused")]
    assert (sex.missing, sex.ranges) == ({"9": "Refused"}, [(99, 99)])
    assert [*inc.values] == ["1", "3", "9", "10"]
    assert (inc.missing, inc.ranges) == ({"9": "Refused"}, [(8, 9.5)])
    assert list(code.values) == ["-99", "A", "B"]
    assert (code.missing, code.missing_texts) == ({"-99": "Not asked"}, {"-98"})
    assert (code.kind, inc.kind, inc.label) == ("text", "numeric", None)
    assert cells(sav) == [
        ["1", "3", "A", "0"],
        ["2", "8.5", "B", "1e+16"],
        ["9", "9", "-99", "0.3333333333333333"],
        [None, "0.5", None, "-2"],
    ]


@pytest.mark.slow
def test_an_entry_says_which_codes_are_missing(sav: Path) -> None:
    entries = describe(sav).metadata
    assert [entries["sex"].is_missing(code) for code in ("1", "9", "99", ".a")] == [
        False,
        True,
        True,
        True,
    ]
    assert [entries["inc"].is_missing(code) for code in ("7.9", "8", "8.5", "x")] == [
        False,
        True,
        True,
        False,
    ]
    assert [entries["code"].is_missing(code) for code in ("A", "-98", "-99", ".a")] == [
        False,
        True,
        True,
        False,
    ]


def test_an_open_range_is_infinite(tmp_path: Path) -> None:
    file = tmp_path / "open.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"a": [1.0, -5]}),
        file,
        missing_ranges={"a": [{"lo": -sys.float_info.max, "hi": -1}]},
    )
    entry = describe(file).metadata["a"]
    assert entry.ranges == [(-float("inf"), -1)]
    assert entry.is_missing("-1000000")


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"row_compress": True}, {"compress": True}])
def test_chunks_of_any_size_give_the_same_rows(
    tmp_path: Path, settings: dict[str, bool]
) -> None:
    frame = pd.DataFrame(
        {"a": [float(i) for i in range(50)], "t": [f"{'x' * 300}{i % 7}" for i in range(50)]}
    )
    file = tmp_path / ("survey.zsav" if "compress" in settings else "survey.sav")
    pyreadstat.write_sav(frame, file, **settings)
    expected = [[str(i), f"{'x' * 300}{i % 7}"] for i in range(50)]
    for rows in (7, 50) if settings else (1, 7, 25, 50, 51):
        assert cells(file, rows) == expected


@pytest.mark.slow
def test_only_the_chosen_columns_are_given_in_the_order_asked_for(sav: Path) -> None:
    (frame,) = chunks(sav, ["code", "sex"])
    assert list(frame.columns) == ["code", "sex"]
    assert frame.to_numpy().tolist() == [["A", "1"], ["B", "2"], ["-99", "9"], [None, None]]


@pytest.mark.slow
def test_stata_extended_missing_values_keep_their_letter(tmp_path: Path) -> None:
    # Integers too: there pyreadstat's arrays have 0 for the blank after a letter.
    frame = pd.DataFrame({"v": [1, "a", 3, np.nan, 5], "w": [0.1, np.nan, "z", 2.5, 1.0]})
    file = tmp_path / "survey.dta"
    pyreadstat.write_dta(
        frame,
        file,
        missing_user_values={"v": ["a"], "w": ["z"]},
        variable_value_labels={"v": {"a": "Not applicable", 10: "Ten", 9: "Nine"}},
        column_labels=["What", None],
    )
    entry = describe(file).metadata["v"]
    assert [*entry.values] == ["9", "10", ".a"]
    assert (entry.missing, entry.label) == ({".a": "Not applicable"}, "What")
    assert cells(file) == [
        ["1", "0.1"],
        [".a", None],
        ["3", ".z"],
        [None, "2.5"],
        ["5", "1"],
    ]


@pytest.mark.slow
def test_stata_labels_that_repeat_stay_with_their_codes(tmp_path: Path) -> None:
    file = tmp_path / "twice.dta"
    labels = {"place": {1: "Newton", 2: "Newton", 3: "Oldham"}}
    pyreadstat.write_dta(pd.DataFrame({"place": [1, 2]}), file, variable_value_labels=labels)
    assert describe(file).metadata["place"].values == {
        "1": "Newton",
        "2": "Newton",
        "3": "Oldham",
    }
    assert cells(file) == [["1"], ["2"]]


@pytest.mark.slow
def test_stata_floats_long_texts_and_outer_blanks(tmp_path: Path) -> None:
    file = tmp_path / "survey.dta"
    frame = pd.DataFrame(
        {
            "narrow": np.array([0.1, 2.0], dtype="float32"),
            "words": ["é" * 3000, " a "],
            "flag": np.array([1, 2], dtype="int8"),
        }
    )
    frame.to_stata(file, version=118, convert_strl=["words"], write_index=False)
    assert cells(file) == [["0.1", "é" * 3000, "1"], ["2", " a ", "2"]]


@pytest.mark.slow
def test_dates_are_iso_and_codes_among_them_stay_codes(tmp_path: Path) -> None:
    file = tmp_path / "dates.sav"
    frame = pd.DataFrame(
        {
            "day": [dt.date(2024, 1, 31), None],
            "moment": [dt.datetime(2024, 1, 31, 10, 5), dt.datetime(1999, 12, 31)],
            "hour": [dt.time(23, 15, 1), None],
            "coded": [13926038400.0, 9999.0],
            "took": [108900.0, 1.5],
        }
    )
    pyreadstat.write_sav(
        frame,
        file,
        variable_format={"coded": "DATE11", "took": "TIME8"},
        variable_value_labels={"coded": {9999: "Refused"}},
        missing_ranges={"coded": [9999]},
    )
    found = describe(file).metadata
    assert [entry.kind for entry in found.values()] == [
        "date",
        "datetime",
        "time",
        "date",
        "time",
    ]
    assert found["coded"].missing == {"9999": "Refused"}
    assert cells(file) == [
        ["2024-01-31", "2024-01-31 10:05:00", "23:15:01", "2024-01-31", "30:15:00"],
        [None, "1999-12-31 00:00:00", None, "9999", "00:00:01.5"],
    ]


@pytest.mark.slow
def test_stata_dates_and_periods(tmp_path: Path) -> None:
    written = [
        ("%td", 23406, "2024-01-31"),
        ("%tdD_m_Y", 23406, "2024-01-31"),
        ("%d", -1, "1959-12-31"),
        ("%tc", 2022314700000, "2024-01-31 10:05:00"),
        ("%tm", 768, "2024-01"),
        ("%tq", 257, "2024q2"),
        ("%th", -1, "1959h2"),
        ("%tw", 52, "1961w1"),
        ("%ty", 2024, "2024"),
        ("%tm", 1e9, "1000000000"),
        ("%10.0g", 768, "768"),
    ]
    columns = {f"v{i}": [float(number), np.nan] for i, (_, number, _) in enumerate(written)}
    formats = {f"v{i}": form for i, (form, _, _) in enumerate(written)}
    file = tmp_path / "survey.dta"
    pyreadstat.write_dta(pd.DataFrame(columns), file, variable_format=formats)
    assert cells(file) == [[text for _, _, text in written], [None] * len(written)]


@pytest.mark.slow
def test_portable_and_transport_files(tmp_path: Path) -> None:
    frame = pd.DataFrame({"A": [1.0, np.nan, 0.5], "T": ["x", "", "y z"]})
    expected = [["1", "x"], [None, None], ["0.5", "y z"]]
    pyreadstat.write_por(frame, tmp_path / "survey.por")
    pyreadstat.write_xport(frame, tmp_path / "survey.xpt")
    for name, what in (("survey.por", "SPSS portable"), ("survey.xpt", "SAS transport")):
        assert describe(tmp_path / name).format == what
        assert cells(tmp_path / name, 2) == expected


@pytest.mark.slow
def test_transport_files_have_dates(tmp_path: Path) -> None:
    file = tmp_path / "survey.xpt"
    frame = pd.DataFrame({"D": [dt.date(2024, 1, 31)], "M": [dt.datetime(1959, 12, 31, 1)]})
    pyreadstat.write_xport(frame, file)
    assert cells(file) == [["2024-01-31", "1959-12-31 01:00:00"]]


def test_a_transport_file_cut_amid_a_record_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "survey.xpt"
    pyreadstat.write_xport(pd.DataFrame({"A": [float(i) for i in range(200)]}), file)
    file.write_bytes(file.read_bytes()[:-120])
    with pytest.raises(SurveyError, match="ends in the middle of a record"):
        describe(file)


@pytest.mark.slow
def test_sas_letters_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "survey.xpt"
    pyreadstat.write_xport(pd.DataFrame({"A": [1.0, np.nan, 3.0]}), file)
    raw = file.read_bytes()
    blank = raw.rindex(b"." + bytes(7))
    file.write_bytes(raw[:blank] + b"B" + raw[blank + 1 :])
    assert cells(file) == [["1"], [".b"], ["3"]]


@pytest.mark.slow
def test_texts_in_another_encoding_need_its_name(tmp_path: Path) -> None:
    file = tmp_path / "old.dta"
    pd.DataFrame({"a": ["café", "x"]}).to_stata(file, version=114, write_index=False)
    assert cells(file, encoding="latin1")[0] == ["café"]
    # ReadStat itself would leave off the letter that is cut in this encoding.
    with pytest.raises(SurveyError, match="not in encoding 'utf-8'") as caught:
        cells(file, encoding="utf-8")
    assert "encoding='cp1252'" in str(caught.value)
    with pytest.raises(SurveyError, match="encoding nonsense is not known here"):
        describe(file, encoding="nonsense")


@pytest.mark.slow
def test_a_file_that_names_the_wrong_encoding_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "wrong.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": ["café", "x"]}), file)
    file.write_bytes(file.read_bytes().replace("café".encode(), b"caf\xe9 "))
    with pytest.raises(SurveyError, match="not in the encoding it names"):
        cells(file)
    assert cells(file, encoding="cp1252") == [["café"], ["x"]]


@pytest.mark.slow
def test_names_and_labels_of_any_script(tmp_path: Path) -> None:
    file = tmp_path / "script.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"年齢": [1.0], "Straße": ["é"]}),
        file,
        column_labels=["Été", None],
        variable_value_labels={"年齢": {1: "若い"}, "Straße": {"é": "Ü"}},
        missing_ranges={"Straße": ["é"]},
    )
    entries = describe(file).metadata
    assert (entries["年齢"].label, entries["年齢"].values) == ("Été", {"1": "若い"})
    assert entries["Straße"].missing == {"é": "Ü"}
    assert cells(file) == [["1", "é"]]


def test_files_that_are_none_say_so(tmp_path: Path) -> None:
    file = tmp_path / "survey.sav"
    file.write_bytes(b"")
    with pytest.raises(SurveyError, match="is empty"):
        describe(file)
    file.write_bytes(b"id,sex\n1,2\n")
    with pytest.raises(SurveyError, match="does not begin like an SPSS, Stata or SAS file"):
        describe(file)
    assert format_of(file) is None
    with pytest.raises(SurveyError, match="cannot be opened"):
        describe(tmp_path / "none.sav")


@pytest.mark.slow
def test_a_file_without_rows_has_none(tmp_path: Path) -> None:
    file = tmp_path / "survey.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": np.array([], dtype=float)}), file)
    assert describe(file).n_rows == 0
    assert list(chunks(file, ["a"])) == []


def test_columns_that_are_not_there_are_named(sav: Path) -> None:
    with pytest.raises(SurveyError, match=r"has no column 'vote'\nhint: it has 'sex'"):
        next(chunks(sav, ["sex", "vote"]))
    with pytest.raises(SurveyError, match="columns lists none, or one twice"):
        next(chunks(sav, ["sex", "sex"]))
    with pytest.raises(SurveyError, match="rows must be a whole number of 1 or more, not 0"):
        next(chunks(sav, ["sex"], 0))


@pytest.mark.slow
def test_a_name_that_only_looks_doubled_is_a_name(tmp_path: Path) -> None:
    file = tmp_path / "survey.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": [1.0], "a_duplicated1": [2.0]}), file)
    assert cells(file) == [["1", "2"]]


@pytest.mark.slow
def test_columns_that_occur_twice_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "survey.dta"
    pd.DataFrame({"aaa": [1], "bbb": [2]}).to_stata(file, version=114, write_index=False)
    file.write_bytes(file.read_bytes().replace(b"bbb\0", b"aaa\0"))
    with pytest.raises(SurveyError, match="several columns called 'aaa'"):
        describe(file)


@pytest.mark.slow
def test_rows_are_counted_when_the_file_does_not_say_how_many(
    tmp_path: Path, sav: Path
) -> None:
    raw = bytearray(sav.read_bytes())
    assert struct.unpack_from("<i", raw, 80)[0] == 4
    struct.pack_into("<i", raw, 80, -1)
    file = tmp_path / "unknown.sav"
    file.write_bytes(raw)
    assert describe(file).n_rows is None
    assert cells(file, 3) == cells(sav)


def test_without_pyreadstat_the_error_says_what_to_install(
    sav: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(SurveyError, match=r"pip install \"cegdb\[survey\]\""):
        describe(sav)


def test_a_reader_that_breaks_down_is_a_damaged_file(sav: Path) -> None:
    crash = "import os; os.abort()"
    with pytest.raises(SurveyError, match="is damaged: the reader of SPSS files crashed"):
        describe(sav, reader=[sys.executable, "-c", crash])


def test_leaving_off_early_ends_the_reader(sav: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    plain = subprocess.Popen

    def popen(*args: Any, **kwargs: Any) -> Any:
        started.append(plain(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    rows = chunks(sav, ["sex"], 1)
    next(rows)
    rows.close()
    assert started[0].returncode is not None


# -----------------------------------------------------------------------------
# Properties
# -----------------------------------------------------------------------------

NASTY = [
    "",
    " lead",
    "NULL",
    "nan",
    "NA",
    "01",
    "1.0",
    'say "hi"',
    "a,b;c\td",
    "é年齢",
    "'",
    ".",
]
TEXTS = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_categories=["Cs", "Cc"]), max_size=12
).map(lambda text: text.rstrip())
NUMBERS = st.none() | st.integers(-99, 999) | st.floats(-1e9, 1e9).map(lambda x: round(x, 3))


def written(value: str | float | None) -> str | None:
    """Return how a cell reads, by Python's own shortest notation."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    return f"{value:.0f}".replace("-0", "0") if value == 0 else str(value).removesuffix(".0")


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    n = draw(st.integers(1, 12))
    columns: dict[str, list[Any]] = {}
    for i in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from([TEXTS, NUMBERS]))
        columns[f"c{i}"] = draw(st.lists(kind, min_size=n, max_size=n))
    return columns


@pytest.mark.slow
@run(2)
@example(table={"a": NASTY, "b": [0.1 + 0.2, -0.0, 1e15, *[None] * (len(NASTY) - 3)]})
@given(table=tables())
def test_random_tables_are_read_back_cell_by_cell(
    tmp_path: Path, table: dict[str, list[Any]]
) -> None:
    frame = pd.DataFrame(
        {
            name: pd.Series(column, dtype=object if isinstance(column[0], str) else float)
            for name, column in table.items()
        }
    )
    columns = list(table.values())
    expected = [[written(value) for value in row] for row in zip(*columns, strict=True)]
    for name, write in (("t.sav", pyreadstat.write_sav), ("t.dta", pyreadstat.write_dta)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write(frame, tmp_path / name)
        assert cells(tmp_path / name, 5) == expected


def mutated(raw: bytes, seed: int) -> bytes:
    """Return a file cut off, or with some bytes changed, often among its first."""
    chance = random.Random(seed)  # noqa: S311
    if chance.random() < 0.3:
        return raw[: chance.randrange(len(raw))]
    damaged = bytearray(raw)
    reach = chance.choice([len(raw), min(len(raw), 1500)])
    for _ in range(chance.choice([1, 2, 8, 30])):
        damaged[chance.randrange(reach)] = chance.choice([chance.randrange(256), 0, 127, 255])
    return bytes(damaged)


def write_all(folder: Path) -> list[Path]:
    """Write one file of each kind."""
    frame = pd.DataFrame(
        {"sex": [1.0, 2, 9] * 20, "code": ["A", "é", ""] * 20, "t": ["long " * 40] * 60}
    )
    labels = {"sex": {1: "M", 9: "Refused"}}
    spss = {"variable_value_labels": labels, "missing_ranges": {"sex": [9]}}
    pyreadstat.write_sav(frame, folder / "plain.sav", **spss)
    pyreadstat.write_sav(frame, folder / "packed.sav", row_compress=True, **spss)
    pyreadstat.write_sav(frame, folder / "packed.zsav", compress=True, **spss)
    pyreadstat.write_dta(frame, folder / "plain.dta", variable_value_labels=labels)
    pyreadstat.write_xport(frame, folder / "plain.xpt")
    pyreadstat.write_por(frame[["sex"]].rename(columns=str.upper), folder / "plain.por")
    return sorted(folder.iterdir())


def offer(raw: bytes, file: Path, seed: int) -> None:
    """Read a damaged file: rows, or an error in our words."""
    file.write_bytes(mutated(raw, seed))
    try:
        rows = cells(file, 50)
    except SurveyError as error:
        assert str(file) in str(error)  # noqa: PT017
    else:
        assert all(cell is None or isinstance(cell, str) for row in rows for cell in row)


@pytest.mark.slow
def test_damaged_files_give_rows_or_an_error(tmp_path: Path) -> None:
    """Each is read by a process of its own; MORE_EXAMPLES=10 reads as many more."""
    for valid in write_all(tmp_path):
        for seed in range(100, 100 + 2 * MORE):
            offer(valid.read_bytes(), tmp_path / f"damaged{valid.suffix}", seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain.sav", "packed.sav", "packed.zsav", "plain.dta"])
def test_a_file_cut_off_is_never_half_a_survey(tmp_path: Path, name: str) -> None:
    write_all(tmp_path)
    raw = (tmp_path / name).read_bytes()
    whole = cells(tmp_path / name)
    for at in np.linspace(len(raw) * 0.5, len(raw) - 1, 2).astype(int):
        (tmp_path / "cut.bin").write_bytes(raw[:at])
        try:
            rows = cells(tmp_path / "cut.bin")
        except SurveyError:
            continue
        assert rows == whole
