"""The small functions of ingest, each on a few values."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from cegdb.errors import SurveyError
from cegdb.ingest import append, declare_levels, ingest, refresh
from cegdb.ingest.codebook.codebook import load_codebook
from cegdb.ingest.codebook.draft import draft_codebook
from cegdb.ingest.codebook.draft_text import quoted
from cegdb.ingest.codebook.gates import ordered_gates
from cegdb.ingest.coding.bins import Bins, binned, bins_of, number_of, plain
from cegdb.ingest.coding.cell_codes import count_query
from cegdb.ingest.coding.variables import in_level_order
from cegdb.ingest.csv.csv_file import open_csv, path_literal
from cegdb.ingest.csv.decoding import compression_of
from cegdb.ingest.files import excel, labelled
from cegdb.ingest.files.cell_labels import abbreviated_source, label_of
from cegdb.ingest.files.labelled import ColumnMetadata
from cegdb.ingest.files.relation import find_columns
from cegdb.ingest.files.survey_files import files_matching, source_labels
from cegdb.ingest.label_checks import guessed_role, similar_labels
from cegdb.ingest.receipt import fingerprint_of
from cegdb.options import ReadOptions
from cegdb.store import Store


def test_a_cell_is_the_shortest_text_of_its_value() -> None:
    cells = (1, 1.0, "1", True, 0.5, None, float("nan"), "NA")
    assert [label_of(cell) for cell in cells] == [
        "1", "1", "1", "True", "0.5", None, None, "NA",
    ]  # fmt: skip


def test_a_text_that_cannot_be_stored_is_no_label() -> None:
    with pytest.raises(SurveyError, match=r"'fr\\udce9d' is not UTF-8 text"):
        label_of("fr\udce9d")


def test_a_source_is_shortened_at_the_front_if_it_is_a_file() -> None:
    files = "surveys/2024/waves/wave1.csv and 2 more files"
    assert abbreviated_source(files, is_file=True, most=30) == ".../wave1.csv and 2 more files"
    assert abbreviated_source("select * from answers", is_file=False, most=8) == "select *..."


def test_columns_are_found_exactly_else_trimmed_else_in_any_case() -> None:
    names = ["Sex", " vote ", "3"]
    assert find_columns(names, ["sex", "vote", 3], "the file") == names


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        (" 1e2 ", ".", Decimal("1E+2")),
        ("12a", ".", None),
        ("inf", ".", None),
        ("1,5", ".", None),
        ("1,5", ",", Decimal("1.5")),
        ("1.5", ",", None),
    ],
)
def test_a_number_is_read_with_its_decimal_sign(
    text: str, decimal: str, number: Decimal | None
) -> None:
    assert number_of(text, decimal) == number


def test_numbers_are_cut_at_points_or_into_quantiles() -> None:
    assert (plain(Decimal("1E+2")), plain(Decimal("2.50"))) == ("100", "2.5")
    assert bins_of("18,35,65", "age").as_text() == "18,35,65"
    assert bins_of("q4", "age").quantiles == 4
    assert binned(Bins((Decimal(18), Decimal(65))), {"18": 1, "70": 1, "9": 2}) == (
        {"18": "[18, 65)", "70": ">=65", "9": "<18"},
        ["<18", "[18, 65)", ">=65"],
    )
    assert binned(Bins(quantiles=2), {"1": 5, "2": 3, "x": 9, "7": 2}) == (
        {"1": "<=1", "2": ">1", "7": ">1"},
        ["<=1", ">1"],
    )


def test_levels_are_ordered_by_value_if_all_are_integers() -> None:
    assert in_level_order(["10", "9", "-1"]) == ["-1", "9", "10"]
    assert in_level_order(["10", "9", "x"]) == ["10", "9", "x"]


def test_names_and_labels_that_look_wrong_are_recognised() -> None:
    assert [guessed_role(name) for name in (" Freq ", "wt", "Sex")] == ["count", "weight", None]
    assert similar_labels(["Yes", "no", "yes "]) == [["Yes", "yes "]]


def test_each_column_is_counted_in_one_query() -> None:
    query = count_query({1: "a", 2: "b"}, "(values ('x', 'y'), ('x', null)) as t(a, b)", "1")
    assert duckdb.sql(query).order("all").fetchall() == [
        (1, "x", 2),
        (2, "y", 1),
        (2, None, 1),
    ]


def test_a_path_is_no_pattern_and_a_pattern_may_match_nothing() -> None:
    assert path_literal(Path("it's [1].csv")) == "'it''s [[]1].csv'"
    assert files_matching("no such folder/*.csv") == []
    assert fingerprint_of([]) is None


@pytest.mark.parametrize(
    ("files", "labels"),
    [
        (["y/wave1.csv", "y/wave2.csv.gz"], ["wave1", "wave2"]),
        (["y/a/wave.csv", "y/b/wave.csv", "y/c.csv"], ["a/wave", "b/wave", "c"]),
        (["wave.csv", "wave.parquet"], ["wave.csv", "wave.parquet"]),
    ],
)
def test_files_are_called_by_as_much_of_their_path_as_tells_them_apart(
    files: list[str], labels: list[str]
) -> None:
    assert source_labels([Path(file) for file in files]) == labels


def test_a_csv_file_is_described_before_it_is_read(tmp_path: Path) -> None:
    from contextlib import ExitStack

    assert (compression_of(b"\x1f\x8b\x08\x00"), compression_of(b"x,y\n")) == ("gzip", "none")
    file = tmp_path / "survey.csv"
    file.write_bytes(b"sex;vote\nF;Yes\n")
    with ExitStack() as scratch:
        csv = open_csv(file, scratch, ReadOptions(), "none")
    assert (csv.header, csv.dialect["delimiter"]) == (["sex", "vote"], ";")


@pytest.mark.slow
def test_a_labelled_file_says_what_its_codes_mean(tmp_path: Path) -> None:
    import pyreadstat

    start = tmp_path / "start.sav"
    start.write_bytes(b"$FL2 and so on")
    assert labelled.format_of(start) == "SPSS"
    file = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"vote": [1.0, 9.0]}),
        file,
        variable_value_labels={"vote": {9: "Refused", 1: "Yes"}},
        missing_ranges={"vote": [9]},
    )
    vote = labelled.describe(file).metadata["vote"]
    assert vote.values == {"1": "Yes", "9": "Refused"}
    assert vote.missing == {"9": "Refused"}
    pyreadstat.write_sav(pd.DataFrame({"q1": [1.0, None], "q2": ["a", ""]}), file)
    frames = labelled.chunks(file, ["q2", "q1"])
    assert [frame.to_numpy().tolist() for frame in frames] == [[["a", "1"], [None, None]]]
    unlabelled = ColumnMetadata(None, {}, {}, [(8, 9)], frozenset(), "numeric")
    assert [unlabelled.is_missing(code) for code in ("1", "9", ".a")] == [False, True, True]


def test_a_sheet_is_read_below_its_titles(tmp_path: Path) -> None:
    import xlsxwriter

    file = tmp_path / "survey.xlsx"
    with xlsxwriter.Workbook(file) as book:
        page = book.add_worksheet("Answers")
        for i, row in enumerate((["A survey"], ["age", "vote"], [35, "Left"])):
            page.write_row(i, 0, row)
    note = "line 1 of sheet 'Answers' was skipped as a title: 'A survey'"
    assert excel.describe(file) == excel.Sheet("Answers", ["age", "vote"], 1, [], [note])
    frames = excel.chunks(file, None, ["vote", "age"])
    assert [frame.to_numpy().tolist() for frame in frames] == [[["Left", "35"]]]
    assert list(excel.numbered_rows(file)) == [(2, ["age", "vote"]), (3, ["35", "Left"])]


def test_gates_are_ordered_by_what_they_depend_on() -> None:
    rules = {"brand": "cigs <> '0'", "cigs": "smoker = 'Current'"}
    gates = ordered_gates(duckdb.connect(), rules, ["smoker", "brand", "cigs"], "it")
    assert [(gate.variable, gate.depends_on) for gate in gates] == [
        ("cigs", ["smoker"]),
        ("brand", ["cigs"]),
    ]


def test_a_codebook_is_read_from_a_mapping_once() -> None:
    book = load_codebook({"variables": {"sex": {"values": {1: "F", 2: "M"}}}})
    assert book.variables["sex"].values == {"1": "F", "2": "M"}
    assert load_codebook(book) is book


DRAFT = """\
# Draft of a codebook, to be edited, of select unnest(['yes', 'yes', 'no', 'DK', 'Yes ']) as vote
# 5 rows, 1 column. Text after # is a remark and changes nothing.
columns:
  - "vote"
variables:
  "vote":
    # check: "DK" (1 row) may mean no answer: write missing: ["DK"]
    # check: "Yes " (1 row), "yes" (2 rows) differ only in case or spaces; to join them, write recode: {"Yes ": "yes"}
    values:
      "DK": "DK"  # 1 row
      "Yes ": "Yes "  # 1 row
      "no": "no"  # 1 row
      "yes": "yes"  # 2 rows
"""  # noqa: E501


def test_a_draft_lists_levels_and_remarks() -> None:
    answers = "select unnest(['yes', 'yes', 'no', 'DK', 'Yes ']) as vote"
    with Store.open() as store:
        assert draft_codebook(store, answers) == DRAFT
    assert quoted('no: "é"\n\U0001f600') == '"no: \\"é\\"\\n\U0001f600"'


def surveys(store: Store) -> list[tuple[Any, ...]]:
    with store.reading() as con:
        return con.execute("select n, n_distinct from cegdb.surveys").fetchall()


@pytest.mark.slow
def test_a_survey_is_made_declared_appended_to_and_refreshed() -> None:
    with Store.open() as store:
        assert ingest(store, "select 'yes' as a union all select 'no'", name="two") == 1
    with Store.open() as store:
        levels = {"x": ["no", "yes"]}
        assert declare_levels(store, levels, source="a questionnaire", default="one") == 1
    with Store.open() as store:
        survey_id = ingest(store, "select 'yes' as a, 1 as b", name="two")
        append(store, survey_id, "select 'no' as a")
        assert surveys(store) == [(2, 2)]
        refresh(store, survey_id, "select unnest(['yes', 'no', 'no']) as a")
        assert surveys(store) == [(3, 2)]
