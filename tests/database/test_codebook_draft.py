"""Drafts of codebooks: ingest takes them as they are, and makes the same as without."""

from __future__ import annotations

import csv
import io
import random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from ingest_helpers import NASTY, TEXTS, emptied, labels_of, rows_of, written
from strategies import run

import cegdb
from cegdb.cli import main
from cegdb.errors import SurveyError
from cegdb.ingest.codebook.codebook import load_codebook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cegdb.api import Database

FORMS = ["yaml", "csv"]
NAMES = st.sampled_from(
    ["a", "A", " a", "no", "~", "null", "columns", "x: y", "x #y", '"', "it's", "a\nb", "é😀",
     "- a", "01", "n" * 1_100, "\u2028", "<<", "=", "{a}", "*a", "&a", "!a", "\x7f", "\x85"]
) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)  # fmt: skip
CELLS = (
    NASTY
    | TEXTS
    | st.sampled_from(
        ["no", "yes", "~", "null", ": ", "a: b", " #", "# a", "- a", "007", "1_000", "0x1f",
         "12:30", "not applicable", "x" * 1_100, "é" * 200_000, "\x7f", "\ufffe", "<<", "9",
         "-1"]
    )
)  # fmt: skip


@pytest.fixture
def db(shared_database: Database) -> Iterator[Database]:
    yield from emptied(shared_database)


def drafted(
    db: Database, folder: Path, source: Any, form: Any = "yaml", **reading: Any
) -> Path:
    """Write the draft of a source to a file and return its path."""
    book = folder / f"draft.{form}"
    book.write_bytes(db.codebook(source, form=form, **reading).encode())
    return book


def made(db: Database, source: Any, **settings: Any) -> tuple[Any, ...]:
    """Return all that an ingest makes of a source."""
    survey = db.ingest(source, "made", replace=True, **settings)
    frame = survey.variables.drop(columns=["original_code"])
    levels = frame[["variable", "question", "label", "kind", "n"]]
    return levels.to_numpy().tolist(), rows_of(db, survey), survey.receipt["cells"]


def test_a_draft_lists_levels_and_marks_what_may_be_wrong(db: Database, tmp_path: Path) -> None:
    rows = ["sex,vote,age,id,wt,Freq,seen,born"]
    draw = random.Random(3)  # noqa: S311
    for i in range(200):
        vote = draw.choice(["left", "right", "Right", "right ", "DK", "Don't know", "N/A", ""])
        seen = f"2024-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}"
        numbers = (
            f"{draw.randint(18, 90)},r{i:04},{draw.uniform(0.8, 1.2):.4f},{draw.randint(1, 4)}"
        )
        rows.append(
            f"{draw.choice('1129')},{vote},{numbers},{seen},{draw.randint(1, 31)}.05.90"
        )
    file = written(tmp_path, "\n".join(rows))
    text = db.codebook(file)
    assert text.startswith(f"# Draft of a codebook, to be edited, of {file}\n# 200 rows, 8")
    n = len({row.split(",")[2] for row in rows[1:]})
    assert f'# - "age"  # left out: {n} different numbers, 18 to 90\n' in text
    assert '  # - "id"  # left out: looks like an id: 200 values\n' in text
    assert '  # "age":\n  #   bins: "q4"  # or cut points' in text
    n = sum(row.startswith("9,") for row in rows)
    check = f'# check: "9" ({n} rows) is far from the other numbers and may mean no answer: '
    assert f'{check}write missing: ["9"] or' in text
    assert f'      "9": "9"  # {n} rows\n' in text
    for word in ("DK", "Don't know"):
        assert f'# check: "{word}" (' in text
    assert 'may mean no answer: write missing: ["N/A"] or structural: ["N/A"]' in text
    assert 'differ only in case or spaces; to join them, write recode: {"' in text
    assert text.count("looks like a date") == 2
    assert 'looks like a weight: if it is one, write weight: "wt"' in text
    assert 'looks like a count: if it is one, write count: "Freq"' in text
    assert f"    # blank: {sum(row.split(',')[1] == '' for row in rows)} rows\n" in text
    survey = db.ingest(file, codebook=drafted(db, tmp_path, file))
    assert list(labels_of(survey)) == ["sex", "vote", "Freq", "seen", "born"]


@pytest.mark.parametrize(
    ("levels", "odd"),
    [
        (["1", "2", "9"], ["9"]),
        (["1", "2", "3", "8", "9"], ["8", "9"]),
        ([str(i) for i in range(1, 11)], []),
        ([str(i) for i in range(10)], []),
        (["-1", "0", "1"], ["-1"]),
        (["-2", "-1", "0", "1"], ["-2", "-1"]),
        (["-10", "-1", "0"], []),
        (["yes", "no", "99"], ["99"]),
        (["18", "40", "98", "99"], ["98", "99"]),
        (["1", "09", "9"], []),
    ],
)
def test_codes_that_lie_apart_are_marked(
    db: Database, levels: list[str], odd: list[str]
) -> None:
    text = db.codebook(pd.DataFrame({"x": levels * 5}))
    assert [f'"{code}" (5 rows) is far from' in text for code in odd] == [True] * len(odd)
    assert text.count("is far from the other numbers") == len(odd)


@pytest.mark.slow
@run(12)
@given(
    names=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    cells=st.lists(st.lists(CELLS, min_size=4, max_size=4), min_size=1, max_size=10),
    form=st.sampled_from(FORMS),
)
@example(["a", "b"], [["not applicable", "x", "", ""], ["y", "", "", ""]], "csv")
@example(["a\r\nb", "n" * 1_100], [["a\r\nb", "x" * 200_000, "", ""]], "csv")
@example(["a\r\nb", "n" * 1_100], [["a\r\nb", "x" * 200_000, "", ""]], "yaml")
def test_ingest_makes_the_same_with_a_draft_as_without(
    db: Database, tmp_path: Path, names: list[str], cells: list[list[str]], form: str
) -> None:
    frame = pd.DataFrame([row[: len(names)] for row in cells], columns=names, dtype=object)
    book = drafted(db, tmp_path, frame, form)
    assert load_codebook(book).columns == names
    reserved = [x for x in names if "not applicable" in frame[x].tolist()]
    stated = {name: ["not applicable"] for name in reserved}
    assert made(db, frame, codebook=book) == made(db, frame, structural=stated)
    for name, entry in load_codebook(book).variables.items():
        assert {*entry.values, *entry.structural} == {*frame[name]} - {""}


@pytest.mark.slow
@run(10)
@given(
    cells=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=10),
    delimiter=st.sampled_from(",;\t|"),
    form=st.sampled_from(FORMS),
)
def test_a_draft_reads_a_csv_file_as_ingest_does(
    db: Database, tmp_path: Path, cells: list[tuple[str, str]], delimiter: str, form: str
) -> None:
    text = io.StringIO(newline="")
    out = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    out.writerows([("x", "y"), *cells])
    file = written(tmp_path, text.getvalue())
    stated = {
        name: ["not applicable"]
        for name, column in zip("xy", zip(*cells, strict=True), strict=True)
        if "not applicable" in column
    }
    plain = made(db, file, delimiter=delimiter, structural=stated)
    book = drafted(db, tmp_path, file, form, delimiter=delimiter)
    assert made(db, file, delimiter=delimiter, codebook=book) == plain


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [40, 51, 900, 1_500])
def test_columns_of_any_number_of_levels(
    db: Database, tmp_path: Path, form: str, size: int
) -> None:
    rng = range(size)
    frame = pd.DataFrame(
        {
            "number": [f"{i}.5" for i in rng] * 3,
            "text": [f"v{i}" for i in rng] * 3,
            "mixed": [str(i) for i in rng] * 2 + ["none"] * size,
            "odd": [f"{i} ".replace("1", "\u0661") for i in rng] * 3,
            "apart": [*map(str, rng)] * 2 + ["not applicable"] * size,
            "few": ["a", "b", "c"] * size,
        }
    )
    book = drafted(db, tmp_path, frame, form)
    kept = load_codebook(book).columns
    numbers = [] if size == 40 else ["number", "odd", "apart"]
    assert kept == [name for name in frame if name not in numbers]
    stated = {"apart": ["not applicable"]} if size == 40 else ()
    assert made(db, frame, codebook=book) == made(db, frame, columns=kept, structural=stated)
    text = book.read_text(encoding="utf-8")
    if size > 50:
        assert f"{size + 1:,} levels, the most frequent:" in text
        assert text.count("v1") <= 2 * 50
        with pytest.raises(SurveyError, match=r"different numbers are too many.*'number'"):
            db.ingest(frame, structural=["not applicable"])


@pytest.mark.parametrize("form", FORMS)
def test_if_nothing_else_is_left_numbers_are_cut(
    db: Database, tmp_path: Path, form: str
) -> None:
    frame = pd.DataFrame({"income": [str(i % 80) for i in range(800)]})
    book = drafted(db, tmp_path, frame, form)
    assert [*labels_of(db.ingest(frame, codebook=book))["income"].values()] == [200] * 4
    ids = pd.DataFrame({"who": [f"r{i}" for i in range(80)]})
    assert made(db, ids, codebook=drafted(db, tmp_path, ids, form)) == made(db, ids)


@pytest.mark.parametrize("form", FORMS)
def test_columns_without_a_name_of_their_own_are_left_out(
    db: Database, tmp_path: Path, form: str
) -> None:
    file = written(tmp_path, "a,,b,a\n1,2,3,4\n1,2,3,4\n")
    book = drafted(db, tmp_path, file, form)
    assert labels_of(db.ingest(file, codebook=book)) == {"b": {"3": 2}}
    text = book.read_text(encoding="utf-8")
    assert "left out: 2 columns have this name" in text
    assert "left out: it has no name" in text
    with pytest.raises(SurveyError, match="has several columns called 'a'"):
        db.codebook(written(tmp_path, "a,a\n1,2\n", "twice.csv"))
    assert 'columns:\n  - "b"\n' in db.codebook(file, columns=["B"])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_files_that_say_what_codes_mean(db: Database, tmp_path: Path, form: str) -> None:
    import pyreadstat

    file = tmp_path / "survey.sav"
    frame = pd.DataFrame(
        {
            "sex": [1.0, 2, 9, None] * 20,
            "odd": [1.0, 2, 5, 9] * 20,
            "twice": [1.0, 2, 3, 3] * 20,
            "country": [float(i) for i in range(80)],
            "income": [-5.0, *range(1, 80)],
            "clash": [1.0, 2, 3, 9] * 20,
            "skip": [1.0, 2, 3, 9] * 20,
            "when": pd.to_datetime(["2024-01-02", "2024-02-03"] * 40),
        }
    )
    pyreadstat.write_sav(
        frame,
        file,
        column_labels={"sex": 'Sex of: "respondent" # 1'},
        variable_value_labels={
            "sex": {9: "Refused", 2: "Female", 1: "Male", 3: "Other"},
            "odd": {5: "9", 9: "Refused"},
            "twice": {1: "Agree", 2: "Agree", 3: "No"},
            "country": {i: f"Land {(i * 7) % 80}" for i in range(80)},
            "clash": {1: "Refused", 9: "Refused"},
            "skip": {1: "not applicable", 3: "don't know"},
        },
        missing_ranges={"sex": [9], "odd": [9], "clash": [9], "income": [{"lo": -9, "hi": -1}]},
    )
    book = drafted(db, tmp_path, file, form)
    loaded = load_codebook(book)
    assert loaded.columns == ["sex", "odd", "twice", "country", "skip", "when"]
    assert loaded.variables["sex"].label == 'Sex of: "respondent" # 1'
    assert loaded.variables["sex"].missing == {"9": "Refused"}
    assert loaded.variables["sex"].values == {"1": "Male", "2": "Female"}
    assert [*loaded.variables["country"].values][:3] == ["0", "1", "2"]
    assert len(loaded.variables["country"].values) == 80
    same = ["sex", "odd", "twice", "when"]
    assert made(db, file, columns=same) == made(db, file, columns=same, codebook=book)
    survey = db.ingest(file, codebook=book)
    assert survey.receipt["cells"]["skip"]["structural"] == 20
    text = book.read_text(encoding="utf-8").replace('""', '"')
    assert 'labels of codes that do not occur: "3": "Other"' in text
    assert '"3" ("don\'t know") (20 rows) may mean no answer: write missing: ["3"]' in text
    assert "ingest would refuse it: 'clash': 'Refused' is both an answer and a missing" in text
    assert "left out: 79 different numbers" in text
    assert "looks like a date" in text


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_source(db: Database, tmp_path: Path, form: str) -> None:
    frame = pd.DataFrame({"x": ["a", None, "b", "b"], "y": [1, 2, 2, 2], "z": [True] * 4})
    ordered = frame.astype({"x": pd.CategoricalDtype(["b", "c", "a"], ordered=True)})
    table = pa.Table.from_pandas(frame)
    pq.write_table(table, tmp_path / "x.parquet")
    frame.to_excel(tmp_path / "x.xlsx", index=False, engine="xlsxwriter")
    for part in ("p1", "p2"):
        frame.to_csv(tmp_path / f"{part}.csv", index=False)
    for source in (
        frame,
        ordered,
        table,
        tmp_path / "x.parquet",
        tmp_path / "x.xlsx",
        str(tmp_path / "p*.csv"),
        "select unnest(['a', 'b']) as x, 1 as y",
    ):
        book = drafted(db, tmp_path, source, form)
        assert made(db, source, codebook=book) == made(db, source)
    once = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert (
        db.codebook(once, form=form).split("\n", 1)[1]
        == db.codebook(table, form=form).split("\n", 1)[1]
    )


def test_numbers_that_a_frame_orders_are_levels(db: Database, tmp_path: Path) -> None:
    order = [str(i) for i in range(90, 0, -1)]
    frame = pd.DataFrame({"x": pd.Categorical(order * 2, order, ordered=True)})
    book = drafted(db, tmp_path, frame)
    assert made(db, frame, codebook=book) == made(db, frame)


@pytest.mark.slow
def test_wide_sources_are_counted_some_columns_at_a_time(db: Database, tmp_path: Path) -> None:
    rows = [[f"{(i * j) % 3}" for j in range(230)] for i in range(5)]
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(230)])
    book = drafted(db, tmp_path, frame)
    assert made(db, frame, codebook=book) == made(db, frame)


@pytest.mark.parametrize("content", ["", "\n", "a,b\n1,2,3\n", "\0\1\2"])
def test_what_ingest_cannot_read_is_refused_in_the_same_words(
    db: Database, tmp_path: Path, content: str
) -> None:
    file = written(tmp_path, content)
    with pytest.raises(SurveyError) as expected:
        db.ingest(file)
    with pytest.raises(SurveyError) as found:
        db.codebook(file)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_without_rows_gives_its_columns(db: Database, tmp_path: Path, form: str) -> None:
    file = written(tmp_path, "a,b\n")
    book = drafted(db, tmp_path, file, form)
    assert load_codebook(book).columns == ["a", "b"]
    assert "0 rows, 2 columns" in book.read_text(encoding="utf-8")
    with pytest.raises(SurveyError, match="no rows"):
        db.ingest(file, codebook=book)


def test_skipped_rows_and_settings_are_told(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, "a;b\nx;1\ny\nz;2\n")
    text = db.codebook(file, delimiter=";", bad_rows="skip")
    assert "# 2 rows, 2 columns." in text
    assert "# 1 malformed row left out\n" in text
    with pytest.raises(SurveyError, match=r"unknown value 'json' for form\nhint: available:"):
        db.codebook(file, form="json")  # type: ignore[arg-type]


def test_a_draft_is_made_in_a_database_that_is_read_only(tmp_path: Path) -> None:
    cegdb.open(tmp_path / "x.duckdb").close()
    with cegdb.open(tmp_path / "x.duckdb", read_only=True) as db:
        assert '"a": "a"  # 1 row' in db.codebook("select 'a' as x")


@pytest.mark.slow
def test_the_command_writes_a_draft_that_ingest_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "sex;vote;é\nF;01;a\nM;DK;b\n", "s.csv")
    run = CliRunner().invoke
    printed = run(main, ["codebook", "s.csv", "--columns", "vote,é"])
    assert printed.exit_code == 0
    assert printed.stdout.startswith("# Draft of a codebook, to be edited, of s.csv\n")
    assert '  - "vote"\n  - "é"\nvariables:\n' in printed.stdout
    for name in ("book.yaml", "book.csv"):
        result = run(main, ["codebook", "s.csv", "-o", name, "--delimiter", ";"])
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == f"written: {name}\n"
        taken = run(main, ["ingest", "s.duckdb", "s.csv", "--codebook", name])
        assert taken.exit_code == 0
        again = run(main, ["codebook", "s.csv", "-o", name])
        assert again.exit_code == 3
        assert "perhaps with your own edits" in again.stderr
        assert run(main, ["codebook", "s.csv", "-o", name, "--replace"]).exit_code == 0
    for name, why in (("book.txt", "which kind"), ("no/book.csv", "there is no folder 'no'")):
        failed = run(main, ["codebook", "s.csv", "-o", name])
        assert failed.exit_code == 3
        assert why in failed.stderr
    piped = run(main, ["codebook", "-"], input=b"a\nx\n")
    assert '"x": "x"  # 1 row' in piped.stdout


def test_what_a_draft_suggests_can_be_followed(db: Database, tmp_path: Path) -> None:
    answers = ["Yes", "yes ", "no", "DK", "N/A", "9"]
    frame = pd.DataFrame(
        {
            "x": answers * 20,
            "age": [str(i) for i in range(120)],
            "wt": [f"{0.9 + i / 600:.3f}" for i in range(120)],
            "n": [1, 2] * 60,
        }
    )
    text = db.codebook(frame)
    advice = 'differ only in case or spaces; to join them, write recode: {"yes ": "Yes"}'
    assert f'"yes " (20 rows) {advice}\n' in text
    followed = (
        text.replace('  # - "age"  # left out', '  - "age"  # taken in')
        .replace('  # "age":\n  #   bins: "q4"', '  "age":\n    bins: "q4"')
        .replace('  - "n"\n', "")
        .replace('  "x":\n', '  "x":\n    missing: ["DK", "9"]\n    structural: ["N/A"]\n')
        .replace("    structural:", '    recode: {"yes ": "Yes"}\n    structural:')
    )
    followed += 'count: "n"\nweight: "wt"\n'
    survey = db.ingest(frame, codebook=written(tmp_path, followed, "followed.yaml"))
    assert labels_of(survey)["x"] == {"Yes": 60, "no": 20}
    assert labels_of(survey, "missing")["x"] == {"9": 40, "DK": 40}
    assert [*labels_of(survey)] == ["x", "age"]
    assert len(labels_of(survey)["age"]) == 4


def test_a_csv_codebook_may_hold_remarks_and_columns(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "note,variable,kind,code,label,n\r\nx,b,column,,,\r\n,a,value,1,one,12\r\n"
        'see,a,note,2,two,\r\n,a,value,"3\r","three\r\nor more",\r\n',
    )
    book = load_codebook(file)
    assert book.columns == ["b"]
    assert book.variables["a"].values == {"1": "one", "3\r": "three\r\nor more"}
    with pytest.raises(
        SurveyError, match="it needs variable, kind, code, label, and may have n, note"
    ):
        load_codebook(written(tmp_path, "variable,kind,code,label,remark\n"))
