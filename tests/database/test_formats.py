"""Formats other than CSV, and several files: the same labels, codes and counts."""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
import zipfile
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any

import pandas as pd
import pyreadstat
import pytest

from cegdb.errors import SurveyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cegdb import ChainEventGraph, Database, Survey


def levels(db: Database, survey: Survey, variable: str) -> list[tuple[object, ...]]:
    """Return label, kind, original code and n of the levels that some cell has."""
    _, rows = db.rows(
        "select label, kind, original_code, n from cegdb.variables "
        "where survey = $survey and variable = $variable and n > 0 order by level_id",
        {"survey": survey.name, "variable": variable},
    )
    return rows


def told(survey: Survey, part: str) -> str:
    said = survey.receipt[part]
    assert isinstance(said, list)
    return "\n".join(said)


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    file = tmp_path / "usermiss.sav"
    frame = pd.DataFrame(
        {
            "sex": [1.0, 2, 2, 9, 1, None],
            "inc": [3.0, 1, 8, 9, 2, 2],
            "txt": [*"abba", "", "z"],
        }
    )
    pyreadstat.write_sav(
        frame,
        file,
        column_labels={"sex": "Sex of respondent"},
        variable_value_labels={
            "sex": {9: "Refused", 2: "Female", 1: "Male"},
            "inc": {3: "High", 1: "Low", 2: "Mid", 8: "Don't know", 9: "Refused"},
        },
        missing_ranges={"sex": [9], "inc": [{"lo": 8, "hi": 9}]},
    )
    return file


@pytest.mark.slow
def test_b18_spss_labels_codes_and_reasons_come_along(db: Database, spss: Path) -> None:
    survey = db.ingest(spss)
    assert levels(db, survey, "inc") == [
        ("Low", "value", "1", 1),
        ("Mid", "value", "2", 2),
        ("High", "value", "3", 1),
        ("Don't know", "missing", "8", 1),
        ("Refused", "missing", "9", 1),
    ]
    assert levels(db, survey, "sex")[2:] == [
        ("Refused", "missing", "9", 1), ("(blank)", "blank", None, 1),
    ]  # fmt: skip
    assert "Sex of respondent" in survey.variables["question"].tolist()
    assert survey.receipt["format"]["format"] == "SPSS"
    assert survey.receipt["cells"]["txt"]["blank"] == 1


@pytest.mark.slow
def test_b18_a_codebook_decides_over_the_file(db: Database, spss: Path) -> None:
    survey = db.ingest(
        spss,
        codebook={
            "variables": {
                "inc": {"values": {8: "Unsure"}, "structural": [9]},
                "sex": {"missing": {2: "Not asked"}},
            }
        },
    )
    assert levels(db, survey, "inc") == [
        ("Unsure", "value", "8", 1),
        ("High", "value", "3", 1),
        ("Low", "value", "1", 1),
        ("Mid", "value", "2", 2),
        ("not applicable", "structural", "9", 1),
    ]
    assert levels(db, survey, "sex")[1] == ("Not asked", "missing", "2", 2)


@pytest.mark.slow
def test_b20_codes_of_one_label_stay_two(db: Database, tmp_path: Path) -> None:
    file = tmp_path / "dup.dta"
    pyreadstat.write_dta(
        pd.DataFrame({"state": [1, 2, 2, 3]}),
        file,
        variable_value_labels={"state": {1: "Newton", 2: "Newton", 3: "Oldham"}},
    )
    survey = db.ingest(file)
    assert levels(db, survey, "state") == [
        ("Newton [1]", "value", "1", 1),
        ("Newton [2]", "value", "2", 2),
        ("Oldham", "value", "3", 1),
    ]
    assert "the codes 1, 2 share the label 'Newton'" in told(survey, "hints")
    book = {"variables": {"state": {"recode": {1: "Newton", 2: "Newton"}}}}
    assert levels(db, db.ingest(file, codebook=book), "state")[0] == (
        "Newton", "value", "1; 2", 3,
    )  # fmt: skip


@pytest.mark.slow
def test_b21_reasons_of_missing_values_lead_to_the_same_tree(
    db: Database, tmp_path: Path
) -> None:
    file = tmp_path / "ext.dta"
    pyreadstat.write_dta(
        pd.DataFrame({"asked": [1, 1, 2, 2, 1], "amount": [1, 2, "a", "a", "b"]}),
        file,
        missing_user_values={"amount": ["a", "b"]},
        variable_value_labels={
            "amount": {"a": "Not applicable", "b": "Don't know", 1: "Little"}
        },
    )
    plain = db.ingest(file, "plain")
    assert [row[:2] for row in levels(db, plain, "amount")] == [
        ("Little", "value"),
        ("2", "value"),
        ("Don't know", "missing"),
        ("Not applicable [.a]", "missing"),
    ]
    assert "ingest with structural=['.a']" in told(plain, "hints")
    from_stata = db.ingest(file, "stata", structural={"amount": [".a"]}).event_tree(
        sampling_zeros="none"
    )
    rows = (
        "select * from (values (1, 'Little'), (1, '2'), (2, 'a'), (2, 'a'), (1, 'b')) "
        "as t(asked, amount)"
    )
    from_csv = db.ingest(
        rows,
        "text",
        structural={"amount": ["a"]},
        missing={"amount": ["b"]},
        levels={"amount": ["Little", "2"]},
    ).event_tree(sampling_zeros="none")
    columns = ["source", "label", "target", "n"]
    assert from_stata.edges[columns].equals(from_csv.edges[columns])


def test_b14_files_are_matched_by_column_names(db: Database, tmp_path: Path) -> None:
    (tmp_path / "wave1.csv").write_text("id,sex,income\na,F,\nb,M,high\n")
    (tmp_path / "wave2.csv").write_text("id,sex,income\nc,M,high\n")
    (tmp_path / "wave3.csv").write_text("newq,income,sex,id\nx,low,F,d\ny,,M,e\n")
    (tmp_path / "wave4.csv").write_text("id,sex,income,newq\n")
    frame = pd.DataFrame({"id": ["f"], "newq": ["x"], "sex": ["F"]})
    frame.to_parquet(tmp_path / "wave5.parquet")
    files = [tmp_path / f"wave{i}.csv" for i in (1, 2, 3, 4)]
    survey = db.ingest(files)
    assert survey.receipt["rows_read"] == 5
    assert levels(db, survey, "income") == [
        ("high", "value", "high", 2), ("low", "value", "low", 1), ("(blank)", "blank", None, 2),
    ]  # fmt: skip
    assert levels(db, survey, "newq") == [
        ("x", "value", "x", 1), ("y", "value", "y", 1), ("(blank)", "blank", None, 3),
    ]  # fmt: skip
    same = db.ingest(str(tmp_path / "wave*.csv"))
    assert levels(db, same, "newq") == levels(db, survey, "newq")
    said = f"survey {survey.name!r} was read from an identical file"
    assert same.findings()["sentence"].tolist() == [said]
    mixed = db.ingest([*files, tmp_path / "wave5.parquet"])
    assert levels(db, mixed, "sex") == [("F", "value", "F", 3), ("M", "value", "M", 3)]


def test_a_fault_in_one_of_several_files_names_it(db: Database, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,y\n1,2\n1,2,3,4\n" * 60)
    (tmp_path / "c.csv").write_text("x,x\n1,2\n")
    with pytest.raises(SurveyError, match=r"b\.csv, lines 3"):
        db.ingest([tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(SurveyError, match=r"c\.csv has several columns called 'x'"):
        db.ingest([tmp_path / "a.csv", tmp_path / "c.csv"])
    with pytest.raises(SurveyError, match="the list of files is empty"):
        db.ingest([])
    with pytest.raises(SurveyError, match=r"there is no file .*none-\*\.csv"):
        db.ingest(str(tmp_path / "none-*.csv"))
    assert list(db.surveys) == []


def test_a_workbook_is_read_as_shown(db: Database, tmp_path: Path) -> None:
    import xlsxwriter

    file = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(file) as book:
        for name in ("first", "second"):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["sex", "n", "flag"])
            for i, row in enumerate([["F", 1, True], ["M", 2.5, False], ["F", 10, None]], 1):
                sheet.write_row(i, 0, row)
    survey = db.ingest(file)
    assert levels(db, survey, "n") == [
        ("1", "value", "1", 1), ("10", "value", "10", 1), ("2.5", "value", "2.5", 1),
    ]  # fmt: skip
    assert levels(db, survey, "flag") == [
        ("False", "value", "False", 1),
        ("True", "value", "True", 1),
        ("(blank)", "blank", None, 1),
    ]  # fmt: skip
    assert "second" in told(survey, "notes")
    second = db.ingest(file, sheet="second", weight="n")
    assert second.receipt["format"]["sheet"] == "second"
    assert second.receipt["weights"]["sum"] == "13.5"
    with pytest.raises(SurveyError, match="third"):
        db.ingest(file, sheet="third")


def test_polars_frames_are_read_through_arrow(db: Database) -> None:
    import polars as pl

    frame = pl.DataFrame({"a": ["x", None, "y"], "b": [1, 2, 2], "c": [1.0, float("nan"), 2.5]})
    for source in (frame, frame.lazy()):
        survey = db.ingest(source)
        assert levels(db, survey, "a")[2] == ("(blank)", "blank", None, 1)
        assert [row[0] for row in levels(db, survey, "c")] == ["1", "2.5", "(blank)"]


@pytest.mark.slow
def test_standard_input_is_read_once_whatever_its_format(
    db: Database, spss: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content, name in ((b"x,y\n1,2\n", "x"), (spss.read_bytes(), "inc")):
        stream = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", stream)
        survey = db.ingest("-")
        assert name in survey.variables["variable"].tolist()


TEXT = "sex,vote\nm,01\nf,02\nm,01\n"


class Upload:
    """An uploaded file, as web frameworks give it: with the name it had, and read once."""

    def __init__(self, content: object) -> None:
        self.filename = "my survey.csv"
        self.content = content

    def read(self, size: int = -1, /) -> Any:
        assert size != 0
        content, self.content = self.content, b""
        return content


class AwaitedUpload(Upload):
    async def read(self, size: int = -1, /) -> Any:
        return super().read(size)


def parquet_bytes() -> bytes:
    stream = io.BytesIO()
    pd.DataFrame({"sex": ["m", "f", "m"], "vote": ["01", "02", "01"]}).to_parquet(stream)
    return stream.getvalue()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., IO[Any]]]:
    """Open a file with these rows in a mode; it is closed in the end."""
    file = tmp_path / "my survey.csv"
    file.write_text(TEXT)
    with ExitStack() as stack:
        yield lambda mode, encoding=None: stack.enter_context(
            file.open(mode, encoding=encoding)
        )


STREAMS: dict[str, tuple[Callable[[Callable[..., IO[Any]]], Any], str]] = {
    "bytes": (lambda _: io.BytesIO(TEXT.encode()), "survey"),
    "text": (lambda _: io.StringIO(TEXT), "survey"),
    "text with a mark": (lambda _: io.StringIO("\ufeff" + TEXT), "survey"),
    "UTF-16": (lambda _: io.BytesIO(TEXT.encode("utf-16")), "survey"),
    "compressed": (lambda _: io.BytesIO(gzip.compress(TEXT.encode())), "survey"),
    "unpacked": (
        lambda _: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(TEXT.encode()))),
        "survey",
    ),
    "Parquet": (lambda _: io.BytesIO(parquet_bytes()), "survey"),
    "open file": (lambda opened: opened("rb"), "my survey"),
    "open text": (lambda opened: opened("r", "utf-8"), "my survey"),
    "upload": (lambda _: Upload(TEXT.encode()), "my survey"),
    "upload as text": (lambda _: Upload(TEXT), "my survey"),
}


@pytest.fixture(scope="module")
def model(database: Database) -> ChainEventGraph:
    """Give a CEG of the survey that the streams hold."""
    return (
        database.ingest(io.StringIO(TEXT), name="model")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", STREAMS)
def test_a_file_like_object_is_read(
    db: Database,
    model: ChainEventGraph,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    opened: Callable[..., IO[Any]],
    kind: str,
) -> None:
    make, name = STREAMS[kind]
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    survey = db.ingest(make(opened))
    assert survey.name == name
    assert survey.variables["variable"].unique().tolist() == ["sex", "vote"]
    assert [row[0] for row in levels(db, survey, "vote")] == ["01", "02"]
    survey.append(make(opened))
    assert survey.receipt["respondents"] == 6
    assert len(model.assign(make(opened)).rows) == 3
    assert "sex" in str(db.codebook(make(opened)))
    assert list(temporary.iterdir()) == []


def test_a_stream_is_read_from_where_it_stands_and_again_if_need_be(db: Database) -> None:
    stream = io.BytesIO(b"a title\n" + TEXT.encode())
    stream.readline()
    assert db.ingest(stream).receipt["rows_read"] == 3
    # Text that DuckDB misreads is read a second time.
    text = "x,y\n" + "a,b\n" * 30_000 + '"c\nd",e\n'
    stream = io.BytesIO(text.encode())
    assert db.ingest(stream).receipt["rows_read"] == 30_001
    with pytest.raises(SurveyError, match="line 2: the quote opened here is never closed"):
        db.ingest(io.BytesIO(b'x,y\n"a,b\n'))
    with pytest.raises(SurveyError, match="line 2: the quote opened here is never closed"):
        db.ingest(Upload(b'x,y\n"a,b\n'))


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (lambda _: io.BytesIO(), {}, "BytesIO is empty"),
        (lambda _: io.StringIO("x,y\na,b\nc\n"), {}, "StringIO, line 3: 1 field where"),
        (lambda _: Upload(b"x,y\na,b\nc\n"), {}, "my survey.csv, line 3: 1 field where"),
        (lambda _: Upload(5), {}, "my survey.csv gives int when it is read, not bytes or"),
        (lambda _: AwaitedUpload(b""), {}, r"read with await, .*\nhint: give its attribute"),
        (lambda opened: opened("a"), {}, r"my survey\.csv cannot be read: not read"),
        (
            lambda _: io.TextIOWrapper(io.BytesIO(b"x\n\xe9\n"), "utf-8"),
            {},
            r"opened as text, in an encoding that is not its own\nhint: open it in binary",
        ),
        (lambda _: io.StringIO("x\n\ud800\n"), {}, "characters that are not valid text"),
        (lambda _: io.StringIO(TEXT), {"encoding": "utf-8"}, "gives text, which has no enc"),
        (lambda _: io.BytesIO(b"x"), {"source_column": "f"}, "BytesIO is not a file"),
        (lambda _: [io.BytesIO(b"x")], {}, r"not a path\nhint: ingest one and append the oth"),
        (lambda _: b"x,y", {}, r"cannot be read from bytes\nhint: give a file, open or by"),
    ],
    ids=range(12),
)
def test_a_stream_that_cannot_be_read_is_refused_with_what_to_do(
    db: Database,
    opened: Callable[..., IO[Any]],
    make: Callable[[Callable[..., IO[Any]]], Any],
    settings: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(SurveyError, match=message):
        db.ingest(make(opened), **settings)


def test_a_stream_that_was_written_is_to_be_rewound(db: Database) -> None:
    stream = io.BytesIO()
    stream.write(TEXT.encode())
    with pytest.raises(SurveyError, match=r"BytesIO has nothing left to read\nhint: .*seek"):
        db.ingest(stream)
    stream.seek(0)
    assert db.ingest(stream).receipt["rows_read"] == 3


@pytest.mark.parametrize(
    ("content", "told", "message"),
    [
        (b"", {}, "standard input is empty"),
        (b"x,y\na,b\nc\n", {}, "standard input, line 3: 1 field where the header has 2"),
        (b"x\xe9,y\na,b\n", {}, "standard input, line 1: byte 0xe9 is not UTF-8 text"),
        (b"x,y\na,\xe9b\n" * 40_000, {}, "standard input, line 2: byte 0xe9 is not"),
        (b"x,y\na,b\n" * 40_000 + b"\xe9,d\n", {}, "input, line 80001: byte 0xe9 is not"),
        (b'x,y\n"a,b\n', {}, "standard input, line 2: the quote opened here is never"),
        (
            b'x,y\n"a,b\n',
            {"encoding": "latin-1"},
            "standard input, line 2: the quote opened here is never",
        ),
        (b"x,y\na,b\n", {"encoding": "utf-16"}, "standard input, line 1: this is not utf-16"),
        (b"\n\n\n", {}, "standard input has no header line"),
        (b"x,y\n", {}, "standard input has a header but no rows"),
        (b"x,y\na,b\n", {"sheet": 1}, "standard input is text, which has no sheet"),
        (b"x,y\na,b\n", {"columns": ["z"]}, "no column 'z' in standard input"),
        (b"\x1f\x8b\x08\x00aaaa", {}, "standard input cannot be read"),
        (b"\x28\xb5\x2f\xfd\x00aaa", {}, "standard input "),
        (b"PAR1 and no more", {}, "standard input is not readable Parquet"),
        (b"PK\x03\x04 no workbook", {}, "standard input cannot be read as a workbook"),
        (bytes.fromhex("d0cf11e0") + b"no", {}, "standard input cannot be read as a workbook"),
        (b"$FL2 and no more", {}, "standard input cannot be read as"),
        (b"<stata_dta> and no more", {}, "standard input cannot be read as"),
    ],
    ids=range(19),
)
@pytest.mark.parametrize("folder", ["", "a folder of a long name " * 6])
def test_errors_about_standard_input_call_it_so(
    db: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    told: dict[str, Any],
    message: str,
    folder: str,
) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / folder))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(SurveyError) as error:
        db.ingest("-", **told)
    assert message in str(error.value)
    assert "cegdb-" not in str(error.value)


@pytest.mark.slow
def test_errors_about_a_labelled_file_on_standard_input_call_it_so(
    db: Database, spss: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content, told in (
        (spss.read_bytes()[:-20], {}),
        (spss.read_bytes(), {"columns": ["none"]}),
        (spss.read_bytes(), {"delimiter": ";"}),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(SurveyError, match="standard input") as error:
            db.ingest("-", **told)
        assert "cegdb-" not in str(error.value)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"delimiter": ";"}, "is an SPSS file, which has no delimiter"),
        ({"sheet": 1}, "is an SPSS file, which has no sheet"),
        ({"bad_rows": "skip"}, "which has no bad rows to skip"),
    ],
)
def test_what_a_format_does_not_have_is_refused(
    db: Database, spss: Path, told: dict[str, Any], message: str
) -> None:
    with pytest.raises(SurveyError, match=message):
        db.ingest(spss, **told)
    with pytest.raises(SurveyError, match="do not apply: a SELECT is not a file"):
        db.ingest("select 1 as x", encoding="latin-1")


@pytest.mark.slow
def test_unused_columns_of_a_wide_spss_file_are_not_read(db: Database, tmp_path: Path) -> None:
    file = tmp_path / "wide.sav"
    pyreadstat.write_sav(
        pd.DataFrame({f"q{i}": [float(j % 2) for j in range(20)] for i in range(500)}), file
    )
    survey = db.ingest(file, columns=["q7", "q499", "q3"])
    assert list(survey.variables["variable"].unique()) == ["q7", "q499", "q3"]


def test_a_zip_archive_is_told_from_a_workbook(db: Database, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "survey.zip", "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
    with pytest.raises(SurveyError, match=r"is a zip archive of 'a\.csv'\nhint: unpack it"):
        db.ingest(tmp_path / "survey.zip")
