"""Large files: cells coded by number, wide tables, memory, and how far a reading is."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from ingest_helpers import NASTY, TEXTS, labels_of, rows_of
from low_limits import append_as_large, ingest_as_large, limits_of_large_sources
from rich.console import Console
from strategies import run

import cegdb
from cegdb.cli import main
from cegdb.cli.output import working
from cegdb.errors import StoreError, SurveyError
from cegdb.ingest.coding import cell_codes
from cegdb.ingest.files.sources import open_source
from cegdb.ingest.settings import check_settings
from cegdb.options import IngestOptions
from cegdb.sqlfiles import Steps
from cegdb.store.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


CELLS = st.one_of(st.none(), NASTY, TEXTS)


@pytest.mark.slow
@run(4)
@given(
    st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["x", "y"])), min_size=1, max_size=20),
    st.sampled_from([0, 1, 2, 255]),
)
def test_any_cells_coded_by_number_are_those_read(
    rows: list[tuple[str | None, ...]], most_texts: int
) -> None:
    expected = Counter(tuple(cell or None for cell in row) for row in rows)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"], dtype=object)
    with cegdb.open() as db:
        survey = ingest_as_large(db, frame, most_texts=most_texts)
        assert rows_of(db, survey) == expected
        append_as_large(survey, frame, most_texts)
        assert rows_of(db, survey) == Counter({row: 2 * n for row, n in expected.items()})
        assert db.check() == []


def test_texts_that_only_rows_of_count_0_have_do_not_shift_the_others() -> None:
    with cegdb.open() as db:
        frame = pd.DataFrame({"q": list("xxxaab"), "n": [0, 0, 0, 1, 2, 5]})
        survey = ingest_as_large(db, frame, "s", count="n")
        assert labels_of(survey) == {"q": {"a": 3, "b": 5}}
        assert dict(rows_of(db, survey)) == {("a",): 3, ("b",): 5}


@pytest.mark.parametrize("form", ["csv", "frame"])
def test_columns_of_many_texts_and_of_few_are_coded_alike(tmp_path: Path, form: str) -> None:
    n = 600
    columns = {
        "few": ["yes" if i % 3 else "no" for i in range(n)],
        "none": [None] * n,
        "most": [f"m{i % 255}" for i in range(n)],
        "many": [None if i % 7 == 0 else f"text {i % 256}" for i in range(n)],
    }
    frame, file = pd.DataFrame(columns), tmp_path / "s.csv"
    frame.to_csv(file, index=False)
    with cegdb.open() as db:
        survey = ingest_as_large(db, file if form == "csv" else frame, "s")
        assert rows_of(db, survey) == Counter(zip(*columns.values(), strict=True))


@pytest.mark.parametrize("n_columns", [3, 130])
def test_counting_is_the_same_for_few_columns_and_for_many(n_columns: int) -> None:
    con = duckdb.connect()
    con.execute("create table t as select i, 'v' || i % 3 as v from range(10) as r(i)")
    cells = {i: f"case when i % {i} = 0 then v end" for i in range(1, n_columns + 1)}
    rows = con.execute(cell_codes.count_query(cells, "t", "2")).fetchall()
    found = {(ordinal, cell): n for ordinal, cell, n in rows}
    assert len(found) == len(rows)
    values = [(i, f"v{i % 3}") for i in range(10)]
    expected = Counter(
        (ordinal, v if i % ordinal == 0 else None) for ordinal in cells for i, v in values
    )
    assert found == {key: 2 * n for key, n in expected.items()}


@pytest.mark.parametrize("limit", ["1023KB", "75MB", "1GB", "2TB"])
def test_few_grouping_sets_are_used_where_memory_is_scarce(limit: str) -> None:
    with Steps(duckdb.connect()) as steps:
        steps.execute("set threads = 2")
        steps.execute(f"set memory_limit = '{limit}'")
        expected = {"1023KB": 0, "75MB": 5, "1GB": 79, "2TB": 100}
        assert cell_codes.max_grouping_sets(steps) == expected[limit]


def test_a_select_that_gives_other_rows_each_time_is_read_once() -> None:
    query = "select cast(floor(random() * 1e9) as bigint) % 200 || 'x' as q from range(50)"
    with cegdb.open() as db:
        survey = db.ingest(query, name="s")
        assert sum(labels_of(survey)["q"].values()) == 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_wide_file_is_as_it_is_read_column_by_column(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame(
        {f"q{k}": [f"{k % 7}{i % (k % 5 + 1)}" for i in range(30)] for k in range(150)}
    )
    file = tmp_path / f"s.{kind}"
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    with cegdb.open() as db:
        survey = db.ingest(file, name="s")
        found = labels_of(survey)
        assert found == {
            name: dict(sorted(Counter(frame[name]).items(), key=lambda item: int(item[0])))
            for name in frame
        }
        assert rows_of(db, survey) == Counter(frame.itertuples(index=False, name=None))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("q\nyes\nno\n", encoding="utf-8")

    class Changing(Progress):
        """Hears that the first pass is over, and changes the file before the second."""

        def read(self, rows: int = 1) -> None:
            super().read(rows)
            file.write_text("q\nyes\nno\nmaybe\n", encoding="utf-8")

    con = duckdb.connect()
    with open_source(con, file) as source, Steps(con) as steps:
        changing = replace(source, progress=Changing())
        checked = check_settings(changing, IngestOptions())
        with pytest.raises(SurveyError, match="changed while it was read"):
            cell_codes.read_lines(steps, con, changing, checked, limits_of_large_sources())


@pytest.mark.slow
def test_too_little_memory_is_one_message_and_leaves_nothing(tmp_path: Path) -> None:
    columns = ", ".join(f"'answer ' || hash(i * 7 + {k}) % 30 as q{k}" for k in range(20))
    file = tmp_path / "s.csv"
    duckdb.connect().execute(f"copy (select {columns} from range(100000) as r(i)) to '{file}'")  # noqa: S608
    path = tmp_path / "s.duckdb"
    with cegdb.open(path, memory_limit="20MB") as db:
        with pytest.raises(StoreError, match="memory_limit") as caught:
            db.ingest(file)
        assert len(str(caught.value).splitlines()) == 2
        assert not list(db.surveys)
    with cegdb.open(path) as db:
        assert db.check() == []
    assert sorted(item.name for item in tmp_path.iterdir()) == ["s.csv", "s.duckdb"]


@pytest.mark.slow
def test_lines_whose_texts_do_not_fit_in_memory_are_read(tmp_path: Path) -> None:
    columns = ", ".join(
        f"'a long answer ' || hash(i * 7 + {k}) % 30 as q{k}" for k in range(30)
    )
    file = tmp_path / "s.parquet"
    duckdb.connect().execute(f"copy (select {columns} from range(200000) as r(i)) to '{file}'")  # noqa: S608
    with cegdb.open(tmp_path / "s.duckdb", memory_limit="150MB") as db:
        assert db.ingest(file).receipt["rows_read"] == 200_000
    assert sorted(item.name for item in tmp_path.iterdir()) == ["s.duckdb", "s.parquet"]


@pytest.mark.slow
def test_the_memory_of_a_stage_does_not_grow_with_the_square_of_its_labels() -> None:
    """12,000 labels: their priors once a label would be more than 1 GB."""
    with cegdb.open(memory_limit="400MB") as db:
        survey = db.ingest(
            "select 'x' || i as x, 1 + i % 2 as n from range(12000) as t(i)", count="n"
        )
        staged = survey.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        )
        edges = staged.stage_edges
        assert len(edges) == 12_000
        assert edges["probability"].sum() == pytest.approx(1)


def test_progress_counts_the_rows_of_a_file_and_prints_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.csv"
    file.write_text("q\n" + "yes\nno\n" * 500, encoding="utf-8")
    with cegdb.open() as db:
        assert str(db.progress) == ""
        survey = db.ingest(file)
        assert db.progress.rows == 1_000
        assert db.progress.fraction is None
        assert survey.seconds > 0
    assert capsys.readouterr() == ("", "")


def test_progress_of_a_workbook_is_a_part_of_its_rows(tmp_path: Path) -> None:
    file = tmp_path / "s.xlsx"
    pd.DataFrame({"q": ["yes", "no"] * 20}).to_excel(file, index=False, engine="xlsxwriter")
    with cegdb.open() as db:
        db.ingest(file)
        assert (db.progress.rows, db.progress.fraction) == (40, 1.0)


@pytest.mark.slow
def test_the_command_line_tells_the_speed_of_a_long_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.csv"
    file.write_text("q\n" + "yes\nno\n" * 500, encoding="utf-8")
    words = ["ingest", str(tmp_path / "s.duckdb"), str(file)]
    assert "rows/s" not in CliRunner().invoke(main, words).stderr
    monkeypatch.setattr("cegdb.api.Survey.seconds", 2.0)
    told = CliRunner().invoke(main, [*words, "--replace"]).stderr.splitlines()[0]
    assert told == "1,000 rows read in 2.0 s (500 rows/s)"
    words = ["append", str(tmp_path / "s.duckdb"), "s", str(file)]
    told = CliRunner().invoke(main, words).stderr.splitlines()[0]
    assert told == "1,000 rows read in 2.0 s (500 rows/s)"


def test_a_terminal_shows_the_rows_read(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    console = Console(file=out, force_terminal=True, width=120)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    monkeypatch.setattr("sys.stderr", out)
    monkeypatch.setattr("threading.Timer", lambda _, start: Now(start))
    with cegdb.open() as db, working("reading it", db):
        db._store.progress = Progress(total=4_000)
        db.progress.read(1_000)
    assert "reading it" in out.getvalue()
    assert "1,000 of 4,000 rows, 25 %, " in out.getvalue()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Return true."""
        return True


class Now:
    """A timer that does not wait."""

    def __init__(self, run: Callable[[], None]) -> None:
        self.start = run

    def cancel(self) -> None:
        """Do nothing: it is done."""
