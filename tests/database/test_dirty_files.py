"""Files as people have them: each case of the list of reports, from the file to the CEG.

Tests named after a case (B01, ..., W2) make their own small file. At the end random tables
of nasty strings in every format;
``MORE_EXAMPLES=20 pytest tests/database/test_dirty_files.py`` looks longer.
"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ingest_helpers import NASTY, TEXTS, labels_of, rows_of, trace, written
from strategies import MORE, run

import cegdb
from cegdb.errors import CegdbError, SurveyError, TreeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cegdb import ChainEventGraph, Database, EventTree, Survey

    Sound = Callable[[Database], None]


def told(survey: Survey, part: str = "hints") -> str:
    said = survey.receipt[part]
    assert isinstance(said, list)
    return "\n".join(said)


def edges(tree: EventTree) -> dict[tuple[str, str], int]:
    """Return source and label of each edge of a tree, and how many take it."""
    frame = tree.edges
    keys = zip(frame["source"], frame["label"], strict=True)
    return dict(zip(keys, frame["n"].tolist(), strict=True))


def ceg_of(survey: Survey, order: list[str] | None = None) -> ChainEventGraph:
    return (
        survey.event_tree(order=order, sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )


# -----------------------------------------------------------------------------
# Labels stay as they are written
# -----------------------------------------------------------------------------


def test_b01_a_late_na_is_a_label_unless_it_is_said_to_be_missing(
    db: Database, tmp_path: Path
) -> None:
    answers = list(islice(cycle(["false", "true", "true"]), 30_000))
    answers[25_000] = "NA"
    arms = ["" if i % 10_000 == 7 else "ab"[i % 2] for i in range(30_000)]
    lines = [f"{i},{a},{arm}" for i, (a, arm) in enumerate(zip(answers, arms, strict=True))]
    file = written(tmp_path, "id,smoker,arm\n" + "\n".join(lines) + "\n")
    kept = db.ingest(file, "kept", columns=["smoker", "arm"])
    expected = Counter(answers)
    assert labels_of(kept)["smoker"] == expected
    assert (expected["true"] + expected["false"], expected["NA"]) == (29_999, 1)
    assert "'smoker' has the answer 'NA' (1 row" in told(kept)
    assert kept.receipt["rows_read"] == kept.receipt["rows_kept"] == 30_000
    apart = db.ingest(file, "apart", columns=["smoker", "arm"], missing=["NA"])
    assert labels_of(apart)["smoker"] == {x: expected[x] for x in ("false", "true")}
    assert labels_of(apart, "missing")["smoker"] == {"NA": 1}
    for survey in (kept, apart):
        assert survey.receipt["cells"]["arm"]["blank"] == 3  # type: ignore[index]
    assert apart.receipt["cells"]["smoker"]["missing"] == 1  # type: ignore[index]
    assert edges(apart.event_tree(order=["smoker"], sampling_zeros="none")) == {
        ("s0", "false"): expected["false"],
        ("s0", "true"): expected["true"],
    }


@pytest.mark.slow
def test_b03_yes_and_true_are_no_booleans(db: Database, tmp_path: Path) -> None:
    text = "q1,q2,q3,q4\nTRUE,Yes,T,1\nFALSE,No,F,0\nTrue,yes,t,1\nfalse,NO,f,0\n"
    survey = db.ingest(written(tmp_path, text), "b")
    assert labels_of(survey) == {
        "q1": dict.fromkeys(["FALSE", "TRUE", "True", "false"], 1),
        "q2": dict.fromkeys(["NO", "No", "Yes", "yes"], 1),
        "q3": dict.fromkeys("FTft", 1),
        "q4": {"0": 2, "1": 2},
    }
    for pair in ("'No'", "'Yes', 'yes'", "'TRUE', 'True'"):
        assert pair in told(survey)
    ceg = ceg_of(survey, ["q2", "q4"])
    shown = {"Yes", "yes", "No", "NO", "0", "1"}
    assert set(ceg.edges["label"]) == shown
    assert set(db.sql("select label from cegdb.tree_edges")["label"]) == shown
    out = ceg.export(tmp_path / "out.csv")
    assert set(pd.read_csv(out, dtype=str)["label"]) == shown
    folded = db.ingest(
        written(tmp_path, text),
        "folded",
        columns=["q2"],
        codebook={"variables": {"q2": {"recode": {"yes": "Yes", "NO": "No"}}}},
    )
    assert labels_of(folded) == {"q2": {"No": 2, "Yes": 2}}


@pytest.mark.slow
def test_b04_codes_that_look_like_dates_are_labels_in_any_order(
    db: Database, tmp_path: Path
) -> None:
    header = "band,plot,month_code,score"
    rows = [
        "1-4-2,41_10_1,2020-01,3/4", "5-9-1,12_11_3,2020-02,1/2",
        "10-12-2,01_02_2,2020-12,2/4", "2-3-1,11_09_2,2021-01,1/4",
    ]  # fmt: skip
    expected = {
        name: dict.fromkeys(sorted(column), 1)
        for name, column in zip(
            header.split(","), zip(*(row.split(",") for row in rows), strict=True), strict=True
        )
    }
    for i in range(4):
        turned = [*rows[i:], *rows[:i]]
        survey = db.ingest(written(tmp_path, "\n".join([header, *turned])), "b", replace=True)
        assert labels_of(survey) == expected
        one = [row.split(",")[0] for row in turned]
        alone = db.ingest(written(tmp_path, "\n".join(["band", *one])), "o", replace=True)
        assert labels_of(alone) == {"band": expected["band"]}


@pytest.mark.parametrize(
    ("encoding", "likely", "text"),
    [
        ("latin-1", "latin-1", "région;réponse\nGenève;Élevé\nZürich;Faible\n"),
        ("cp1252", "cp1252", "area;answer\nNorth;Don\u2019t know\nSouth;Yes \u2013 often\n"),
        ("utf-16", None, "area;answer\nNorth;Jā\nSouth;Nē\n"),
    ],
)
def test_b06_an_encoding_is_read_as_told_or_named_by_the_error(
    db: Database, tmp_path: Path, encoding: str, likely: str | None, text: str
) -> None:
    file = written(tmp_path, text.encode(encoding))
    before = trace(db)
    if likely is not None:
        with pytest.raises(
            SurveyError, match=rf"survey\.csv.*it is probably {likely}"
        ) as error:
            db.ingest(file)
        assert f"encoding={likely!r}" in str(error.value.hint)
        assert trace(db) == before
    survey = db.ingest(file, encoding=encoding)
    header, *lines = (line.split(";") for line in text.splitlines())
    assert list(labels_of(survey)) == header
    assert rows_of(db, survey) == Counter(map(tuple, lines))
    assert set(ceg_of(survey).edges["label"]) == {cell for line in lines for cell in line}


# -----------------------------------------------------------------------------
# No row is lost
# -----------------------------------------------------------------------------


def test_b09_no_row_above_a_change_of_shape_is_lost(db: Database, tmp_path: Path) -> None:
    one = db.ingest(written(tmp_path, "reason\ntoo far\ncost; time\nbusy; tired\n"), "one")
    assert labels_of(one) == {"reason": {"busy; tired": 1, "cost; time": 1, "too far": 1}}
    assert one.receipt["rows_read"] == 3
    lines = ["area,vote", "North,Left", "South,Right"] + ["North,Left,note"] * 30
    before = trace(db)
    with pytest.raises(SurveyError, match=r"survey\.csv, lines 4, .* 3 fields where"):
        db.ingest(written(tmp_path, "\n".join(lines) + "\n"))
    assert trace(db) == before
    skipped = db.ingest(written(tmp_path, "\n".join(lines)), "skipped", bad_rows="skip")
    assert (skipped.receipt["rows_read"], skipped.receipt["rows_kept"]) == (32, 2)
    title = "Exported from tool on day 3\narea,vote\nNorth,Left\nSouth,Right\n"
    titled = db.ingest(written(tmp_path, title), "titled")
    assert labels_of(titled) == {
        "area": {"North": 1, "South": 1}, "vote": {"Left": 1, "Right": 1},
    }  # fmt: skip
    assert "line 1 above the header was skipped: 'Exported from tool" in told(titled, "notes")
    assert titled.receipt["rows_read"] == 2


def test_b29_a_bad_row_is_named_or_skipped_and_listed(db: Database, tmp_path: Path) -> None:
    ragged = "id,sex,vote\n1,F,Yes\n2,M\n3,F,No\n4,M,Yes,extra\n5,F,No\n"
    quote = 'id,name,vote\n2,"Ash, Bo",Yes\n1,"Cole, Di,No\n3,"Eve",Yes\n4,"Flo",No\n'
    for text, error, read, lines in (
        (
            ragged,
            r"survey\.csv: line 3 has 2 fields, line 5 has 4 fields; the header has 3",
            5,
            ["line 3: 2,M", "line 5: 4,M"],
        ),
        (quote, r"survey\.csv, line 3: the quote opened here is clos", 4, ["line 3: 1,"]),
    ):
        file = written(tmp_path, text)
        with pytest.raises(SurveyError, match=error):
            db.ingest(file)
        survey = db.ingest(file, bad_rows="skip")
        assert list(labels_of(survey)) == text.splitlines()[0].split(",")
        assert (survey.receipt["rows_read"], survey.receipt["rows_kept"]) == (read, 3)
        for line in lines:
            assert f"skipped {line}" in survey.summary


def test_b14_waves_are_one_survey_whatever_columns_they_have(
    db: Database, tmp_path: Path
) -> None:
    waves = [
        "id,sex,income\n1,F,low\n2,M,high\n", "id,sex,income\n3,F,\n4,M,\n",
        "id,income,sex,newq\n5,high,M,yes\n", "id,sex,income\n",
    ]  # fmt: skip
    files = [written(tmp_path, text, f"wave{i}.csv") for i, text in enumerate(waves, 1)]
    survey = db.ingest(files, "waves")
    assert survey.receipt["rows_read"] == survey.receipt["rows_kept"] == 5
    assert labels_of(survey) == {
        "id": dict.fromkeys("12345", 1),
        "sex": {"F": 2, "M": 3},
        "income": {"high": 2, "low": 1},
        "newq": {"yes": 1},
    }
    cells = survey.receipt["cells"]
    assert isinstance(cells, dict)
    assert (cells["income"]["blank"], cells["newq"]["blank"]) == (2, 4)
    tree = survey.event_tree(order=["sex", "income"], sampling_zeros="none")
    assert edges(tree) == {
        ("s0", "F"): 2, ("s0", "M"): 3, ("s1", "low"): 1, ("s2", "high"): 2,
    }  # fmt: skip
    with pytest.raises(SurveyError, match="has a header but no rows"):
        db.ingest(files[3])


@pytest.mark.parametrize("folder", ["w", "a folder of a long name, within another one/" * 3])
def test_b14_the_first_of_several_files_is_named_whole(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(folder).mkdir(parents=True)
    for i in range(1, 4):
        written(Path(folder), "x,y\na,b\n", f"wave {i} of the survey.csv")
    several = db.ingest(f"{folder}/*.csv", "s")
    where = "w" if folder == "w" else "..."
    first = f"{where}/wave 1 of the survey.csv"
    assert f"survey 's' from {first} and 2 more files: 3 rows read" in several.summary
    unknown = f"'z' in {re.escape(first)} and 2 more files; available: 'x', 'y'"
    with pytest.raises(SurveyError, match=unknown):
        db.ingest(f"{folder}/*.csv", columns=["z"])
    one = db.ingest(Path(folder) / "wave 1 of the survey.csv", "t")
    assert f"survey 't' from {first}: 1 row read" in one.summary


@pytest.mark.slow
def test_b14_a_column_says_which_file_a_row_is_from(
    db: Database, tmp_path: Path, sound: Sound
) -> None:
    first = written(tmp_path, "sex,vote\nF,Yes\nM,No\n", "wave1.csv")
    written(tmp_path, "vote,sex\nNo,F\n", "wave2.csv")
    written(tmp_path, "sex,vote\n", "wave3.csv")
    survey = db.ingest(str(tmp_path / "wave*.csv"), "s", source_column="wave")
    assert rows_of(db, survey) == Counter(
        [("wave1", "F", "Yes"), ("wave1", "M", "No"), ("wave2", "F", "No")]
    )
    assert list(labels_of(survey)) == ["wave", "sex", "vote"]
    ((settings,),) = db.rows("select settings ->> 'source_column' from cegdb.survey")[1]
    assert settings == "wave"
    assert edges(survey.event_tree(sampling_zeros="none"))["s0", "wave1"] == 2
    some = db.ingest(str(tmp_path / "wave*.csv"), "t", columns=["VOTE"], source_column="wave")
    assert list(labels_of(some)) == ["wave", "vote"]
    assert some.receipt["columns_found_as"] == {"VOTE": "vote"}
    chosen = ["vote", "wave"]
    placed = db.ingest([first], "u", columns=chosen, source_column="wave")
    assert list(labels_of(placed)) == chosen
    assert labels_of(placed)["wave"] == {"wave1": 2}
    draft = db.codebook(str(tmp_path / "wave*.csv"), source_column="wave")
    assert '"wave1": "wave1"  # 2 rows' in draft
    sound(db)


@pytest.mark.parametrize("form", ["xlsx", "sav", "parquet", "csv.gz"])
def test_b14_the_source_column_is_there_in_every_format(
    db: Database, tmp_path: Path, form: str
) -> None:
    frame = pd.DataFrame({"sex": ["F", "M"], "vote": ["Yes", "No"]})
    file = tmp_path / f"it's 2024.{form}"
    if form == "xlsx":
        frame.to_excel(file, index=False, engine="xlsxwriter")
    elif form == "sav":
        import pyreadstat

        pyreadstat.write_sav(frame, file)
    elif form == "parquet":
        frame.to_parquet(file)
    else:
        frame.to_csv(file, index=False)
    survey = db.ingest(file, columns=["vote", "sex"], source_column="source")
    assert rows_of(db, survey) == Counter([("it's 2024", "Yes", "F"), ("it's 2024", "No", "M")])


def test_b14_files_of_one_name_are_told_apart_by_their_paths(
    db: Database, tmp_path: Path
) -> None:
    files = []
    for folder in ("2023", "2024/a"):
        (tmp_path / folder).mkdir(parents=True)
        files.append(written(tmp_path / folder, "x\na\nb\n", "wave.csv"))
    survey = db.ingest(files, source_column="wave")
    assert labels_of(survey)["wave"] == {"2023/wave": 2, "2024/a/wave": 2}
    with pytest.raises(SurveyError, match=r"cannot tell apart the files .*wave\.csv"):
        db.ingest([files[0], files[0]], source_column="wave")


@pytest.mark.parametrize(
    ("column", "source", "message"),
    [
        ("x", None, r"survey\.csv has a column called 'x' already"),
        ("", None, "source_column must be the name of a column, not ''"),
        (5, None, "source_column must be the name of a column, not 5"),
        ("w", "select 1 as x", "source_column needs files, and a SELECT is not a file"),
        ("w", pd.DataFrame({"x": ["a"]}), "needs files, and DataFrame is not a file"),
        ("w", "-", "needs files, and standard input is not a file"),
    ],
    ids=str,
)
def test_b14_a_source_column_that_cannot_be_is_refused(
    db: Database, tmp_path: Path, column: Any, source: Any, message: str
) -> None:
    file = written(tmp_path, "x,y\na,b\n")
    with pytest.raises(SurveyError, match=message):
        db.ingest(file if source is None else source, source_column=column)


# -----------------------------------------------------------------------------
# Words
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_one_thing_is_told_in_the_singular(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, "x,y,z\nNA,?,b\n\nno,u,q\n")
    survey = db.ingest(file, "s", missing={"y": ["?"]})
    words = [survey.summary, repr(db), survey.event_tree(sampling_zeros="none").summary]
    one = db.ingest("select 'a' as x", "one")
    tree = one.event_tree(sampling_zeros="none")
    staged = tree.learn_stages(prior="mass", criterion="score")
    words += [one.summary, tree.summary, staged.summary, staged.to_ceg().summary]
    words.append(db.codebook("select 'NA' as x"))
    wrong: Any
    for wrong in ({"levels": {"x": ["no"]}}, {"bins": {"x": [3]}}):
        with pytest.raises(SurveyError) as error:
            db.ingest(file, **wrong)
        words.append(str(error.value))
    for wrong in ({"impossible": [{"x": "NA"}]}, {"add_paths": [{"x": "no", "z": "q"}]}):
        with pytest.raises(TreeError) as refused:
            survey.event_tree(**wrong)
        words.append(str(refused.value))
    said = "\n".join(words)
    assert "(1 row)" in said
    assert "1 respondent has it" in said
    assert "but 1 respondent who starts like it answers that question" in said
    assert "1 of 2 respondents has no answer to 'y' and is counted up to there" in said
    one_of = re.findall(r"(?<![0-9.,] of )\b(?<![.,=])1 (?:\w+s|vertices|leaves) .*", said)
    assert not [found for found in one_of if not re.match(r"1 (has|is|stops|does)\b", found)]


# -----------------------------------------------------------------------------
# Names of columns
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_b11_names_follow_one_rule_in_every_format(db: Database, tmp_path: Path) -> None:
    columns = {"Q1": ["A", "B", "A"], "q1": ["x", "y", "y"], "Vote": ["Yes", "No", "Yes"]}
    frame = pd.DataFrame(columns)
    text, parquet = tmp_path / "t.csv", tmp_path / "t.parquet"
    frame.to_csv(text, index=False)
    frame.to_parquet(parquet)
    for source in (text, parquet, frame, pa.table(columns)):
        survey = db.ingest(source, "s", replace=True)
        assert labels_of(survey) == {
            "Q1": {"A": 2, "B": 1}, "q1": {"x": 1, "y": 2}, "Vote": {"No": 1, "Yes": 2},
        }  # fmt: skip
        tree = survey.event_tree(order=["q1", "vote"], sampling_zeros="none")
        assert tree.edges["variable"].tolist()[:2] == ["q1", "q1"]
        assert edges(tree)["s0", "y"] == 2
        with pytest.raises(CegdbError, match="Q1"):
            db.ingest(source, columns=[" Q1 ", "q1", "Q1"])
    header = ["item", "item", "", "vote", ""]
    rows = [
        ("A", "x", "1", "Yes", "p"),
        ("B", "y", "2", "No", "q"),
        ("A", "y", "3", "Yes", "p"),
    ]
    text.write_text("\n".join(",".join(row) for row in [header, *map(list, rows)]) + "\n")
    arrays = [pa.array(column) for column in zip(*rows, strict=True)]
    table = pa.Table.from_arrays(arrays, names=header)
    pq.write_table(table, parquet)
    (batch,) = table.to_batches()
    for source in (text, parquet, table, batch, pd.DataFrame(rows, columns=header)):
        with pytest.raises(SurveyError, match="several columns called '', 'item'"):
            db.ingest(source)
        survey = db.ingest(source, "s", columns=["vote"], replace=True)
        assert labels_of(survey) == {"vote": {"No": 1, "Yes": 2}}
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1))
    survey = db.ingest(stream, "s", columns=["vote"], replace=True)
    assert labels_of(survey) == {"vote": {"No": 1, "Yes": 2}}


ODD = [
    "order", "select", "% agree", "Sex (M/F)", "a.b", "it's", 'say "hi"', "q:1", "semi;colon",
    "年齢", "$pay", " lead ", "count", 'x"; DROP TABLE t; --',
]  # fmt: skip


@pytest.mark.slow
def test_b12_any_three_odd_names_go_through_the_whole_pipeline(
    db: Database, tmp_path: Path, sound: Sound
) -> None:
    with db._store.reading() as con:
        con.execute("create table t as select 1 as kept")
    triples = list(combinations(ODD, 3))
    pairs = [("1st", "2nd", "1st"), ("x", "y", "y"), ("Yes", "No", "Yes")]
    columns = {name: list(pairs[i % 3]) for i, name in enumerate(ODD)}
    file = tmp_path / "weird.csv"
    pd.DataFrame(columns).to_csv(file, index=False)
    survey = db.ingest(file, "all")
    assert list(labels_of(survey)) == ODD
    for triple in triples[:: max(1, 40 // MORE)]:
        tree = survey.event_tree(
            "tree", order=list(triple), replace=True, sampling_zeros="none"
        )
        assert list(dict.fromkeys(tree.edges["variable"])) == list(triple)
    for i, triple in enumerate(triples[:: max(1, 150 // MORE)]):
        name = f"{triple[0]} {i}"
        chosen = db.ingest(file, name, columns=list(triple))
        assert labels_of(chosen) == {n: labels_of(survey)[n] for n in triple}
        ceg = ceg_of(chosen, list(reversed(triple)))
        shown = db.sql(
            "select distinct variable from cegdb.ceg_edges where ceg = $name", {"name": name}
        )
        assert set(shown["variable"]) == set(triple)
        for suffix in (".csv", ".json", ".dot", ".graphml"):
            out = ceg.export(tmp_path / f"out{suffix}")
            if suffix == ".csv":
                assert set(pd.read_csv(out)["variable"]) == set(triple)
        label = columns[triple[1]][0]
        assert float(ceg.to_networkx().number_of_edges()) == len(ceg.edges)
        assert label in set(ceg.edges["label"])
    assert db.sql("select * from t")["kept"].tolist() == [1]
    sound(db)


def test_b27_stray_blanks_are_kept_and_told_and_joined_on_request(
    db: Database, tmp_path: Path
) -> None:
    text = (
        "sex, vote ,area\nMale,Yes,North\nMale ,Yes , North\n Male,No,\xa0North\n"
        "Female,No, North\nfemale,No,NORTH side\n"
    )
    survey = db.ingest(written(tmp_path, text), "s")
    assert labels_of(survey) == {
        "sex": dict.fromkeys([" Male", "Female", "Male", "Male ", "female"], 1),
        " vote ": {"No": 3, "Yes": 1, "Yes ": 1},
        "area": {" North": 2, "NORTH side": 1, "North": 1, "\xa0North": 1},
    }
    hints = told(survey)
    assert "' Male', 'Male', 'Male '" in hints
    assert "'Female', 'female'" in hints
    assert "' North', 'North', '\\xa0North'" in hints
    assert "NORTH side" not in hints
    found = db.ingest(written(tmp_path, text), "found", columns=["vote", "sex"])
    assert list(labels_of(found)) == [" vote ", "sex"]
    assert found.receipt["columns_found_as"] == {"vote": " vote "}
    assert set(survey.event_tree(order=["vote"], sampling_zeros="none").edges["variable"]) == {
        " vote "
    }
    recode = {" Male": "Male", "Male ": "Male", "female": "Female"}
    joined = db.ingest(
        written(tmp_path, text),
        "joined",
        columns=["sex"],
        codebook={"variables": {"sex": {"recode": recode}}},
    )
    assert labels_of(joined) == {"sex": {"Female": 2, "Male": 3}}


def sources_of(frame: pd.DataFrame, folder: Path) -> dict[str, object]:
    """Return a frame as each kind of source."""
    file = folder / "frame.parquet"
    frame.to_parquet(file)
    book = folder / "frame.xlsx"
    frame.to_excel(book, index=False)
    # The first mark is that of the file, and goes.
    text = written(folder, "\ufeff" + frame.to_csv(index=False))
    select = f"select * from '{file}'"  # noqa: S608
    table = pa.Table.from_pandas(frame)
    return {
        "frame": frame, "Parquet": file, "book": book, "CSV": text, "SELECT": select,
        "Arrow": table,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["frame", "Parquet", "book", "CSV", "SELECT", "Arrow"])
def test_names_are_found_without_what_cannot_be_seen_around_them(
    db: Database, tmp_path: Path, kind: str
) -> None:
    names = {"sex": "\ufeffsex", "vote": "vote\xa0", "age": "\u200bage", "area": "area\xad"}
    frame = pd.DataFrame({name: ["a", "b\u200b", "b", "c\xa0d"] for name in names.values()})
    source: Any = sources_of(frame, tmp_path)[kind]
    survey = db.ingest(source, "s", columns=list(names))
    assert survey.receipt["columns_found_as"] == names
    hints = told(survey)
    for name, seen in (("sex", "FEFF (byte order mark)"), ("area", "U+00AD (soft hyphen)")):
        assert f"the name {names[name]!r} begins or ends with what cannot be seen: " in hints
        assert f"{seen}; {name!r} finds it too" in hints
    assert "'b', 'b\\u200b', which differ only" in hints
    assert "the answer 'b\\u200b' to " in hints
    assert "c\\xa0d" not in hints  # nothing is at its ends
    assert labels_of(survey)["\ufeffsex"] == dict.fromkeys(["a", "b", "b\u200b", "c\xa0d"], 1)
    ceg = (
        survey.event_tree(order=["sex", "AREA"], sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    assert ceg.probability({"sex": "a"}) > 0
    clean = db.ingest("select 'a' as sex, 'b' as vote, 'b' as age, 'a' as area", "clean")
    clean.append(source)
    assert list(labels_of(clean)) == list(names)
    assert clean.receipt["respondents"] == 5


# -----------------------------------------------------------------------------
# Wide and empty
# -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("width", [3_000, 15_000])
def test_b13_three_columns_of_a_wide_file_are_read(
    db: Database, tmp_path: Path, width: int
) -> None:
    header = ",".join(f"q{i}" for i in range(1, width + 1))
    lines = [",".join(str((r * i) % 4 + 1) for i in range(width)) for r in range(20)]
    file = written(tmp_path, "\n".join([header, *lines]) + "\n")
    names = ["q5", "q1500", "q2999"]
    survey = db.ingest(file, "wide", columns=names)
    assert rows_of(db, survey) == Counter(
        tuple(str((r * (int(name[1:]) - 1)) % 4 + 1) for name in names) for r in range(20)
    )
    assert list(labels_of(survey)) == names
    assert ceg_of(survey).edges["n"].sum() == 60


@pytest.mark.slow
def test_b13_a_tree_of_thousands_of_variables_is_refused_at_once(db: Database) -> None:
    frame = pd.DataFrame([["a"] * 1001, ["b"] * 1001], columns=range(1001))
    survey = db.ingest(frame, "wide")
    before = trace(db)
    for order in (None, list(map(str, range(1001)))):
        with pytest.raises(TreeError, match=r"1,001 variables.*up to 2,002 edges") as error:
            survey.event_tree(order=order, sampling_zeros="none")
        assert "order" in str(error.value.hint)
    assert trace(db) == before
    assert len(survey.event_tree(order=["7", "1000"], sampling_zeros="none").edges) == 4


@pytest.mark.slow
def test_b23_a_column_without_answers_is_told_and_has_one_branch(
    db: Database, tmp_path: Path, sound: Sound
) -> None:
    n = 5000
    frame = pd.DataFrame(
        {
            "sex": ["F", "M"] * (n // 2),
            "other_text": [None] * (n - 1) + ["said something"],
            "never_asked": [None] * n,
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    sources = (frame, tmp_path / "t.parquet", tmp_path / "t.csv", pa.Table.from_pandas(frame))
    for source in sources:
        survey = db.ingest(source, "s", replace=True)
        assert labels_of(survey) == {
            "sex": {"F": 2500, "M": 2500},
            "other_text": {"said something": 1},
            "never_asked": {},
        }
        cells = survey.receipt["cells"]
        assert isinstance(cells, dict)
        assert cells["other_text"]["blank"] == 4999
        assert cells["never_asked"]["blank"] == 5000
        assert "'never_asked' has no answers" in told(survey)
        tree = survey.event_tree(order=["never_asked", "sex"], sampling_zeros="none")
        assert edges(tree) == {("s0", "F"): 2500, ("s0", "M"): 2500}
        assert "never_asked: 5,000 blank (not applicable)" in tree.summary
    sound(db)


@pytest.mark.slow
def test_b23_a_column_without_answers_stops_no_row_unnoticed(
    db: Database, tmp_path: Path, sound: Sound
) -> None:
    file = written(tmp_path, "sex,never_asked,vote\nF,,Yes\nM,,No\nF,,No\n")
    survey = db.ingest(file, "s")
    assert "'never_asked' has no answers" in told(survey)
    stopped = survey.event_tree(
        sampling_zeros="none"
    )  # histories of fewer than five rows decide nothing
    assert edges(stopped) == {("s0", "F"): 2, ("s0", "M"): 1}
    assert "3 of 3 respondents have no answer to 'never_asked'" in stopped.summary
    assert (
        "note: nobody in the survey answered 'never_asked': if nobody was asked, leave it out"
        in stopped.summary
    )
    tree = survey.event_tree(blank="structural", sampling_zeros="none")
    assert edges(tree) == edges(survey.event_tree(order=["sex", "vote"], sampling_zeros="none"))
    assert "never_asked: 3 blank (not applicable)" in tree.summary
    assert "nobody in the survey" not in tree.summary
    coded = written(tmp_path, "sex,q,vote\nF,,Yes\nM,6,No\nF,6,No\n", "coded.csv")
    declared = db.ingest(coded, "u", missing={"q": ["6"]}).event_tree(sampling_zeros="none")
    assert "nobody in the survey" not in declared.summary
    sound(db)


# -----------------------------------------------------------------------------
# Codes and labels of other programs
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_b18_text_codes_have_labels_and_an_unlabelled_code_stays(
    db: Database, tmp_path: Path
) -> None:
    import pyreadstat

    frame = pd.DataFrame(
        {
            "code": ["A", "B", "-99", "", "A"],
            "k": [1.0, 2, 3, None, 1],
            "age": [25, 999, 30, 9, 9],
        }
    )
    file = tmp_path / "stringlab.sav"
    pyreadstat.write_sav(
        frame,
        file,
        variable_value_labels={
            "code": {"A": "Agree", "B": "Disagree", "-99": "Not asked"},
            "k": {2.0: "Two", 1.0: "One"},
            "age": {999: "No answer"},
        },
        missing_ranges={"age": [999]},
    )
    survey = db.ingest(file, "s")
    found = labels_of(survey)
    assert sorted(found["code"]) == ["Agree", "Disagree", "Not asked"]
    assert found["k"] == {"One": 2, "Two": 1, "3": 1}
    assert list(found["k"]) == ["One", "Two", "3"]
    assert labels_of(survey, "missing")["age"] == {"No answer": 1}
    cells = survey.receipt["cells"]
    assert isinstance(cells, dict)
    assert (cells["code"]["blank"], cells["k"]["blank"]) == (1, 1)
    codes = db.sql("select original_code as c from cegdb.variables where label = 'Not asked'")
    assert codes["c"].tolist() == ["-99"]


def test_b21_codes_are_answers_structural_or_missing_by_variable(
    db: Database, tmp_path: Path, sound: Sound
) -> None:
    rows = ["1,1,1", "1,2,2", "2,6,1", "1,7,1", "1,9,2", "2,6,2", "1,2,6", "2,6,6"]
    file = written(tmp_path, "\n".join(["drinks,amount,drives", *rows]))
    book = {
        "variables": {
            "drinks": {"values": {1: "yes", 2: "no"}},
            "amount": {
                "values": {1: "little", 2: "lots"},
                "structural": [6],
                "missing": {7: "dont know", 8: "refused", 9: "not stated"},
            },
            "drives": {"values": {1: "yes", 2: "no"}, "structural": [6]},
        }
    }
    survey = db.ingest(file, "s", codebook=book)
    assert labels_of(survey) == {
        "drinks": {"yes": 5, "no": 3},
        "amount": {"little": 1, "lots": 2},
        "drives": {"yes": 3, "no": 3},
    }
    assert labels_of(survey, "missing")["amount"] == {
        "dont know": 1, "not stated": 1, "refused": 0,
    }  # fmt: skip
    assert labels_of(survey, "structural")["amount"] == {"not applicable": 3}
    assert labels_of(survey, "structural")["drives"] == {"not applicable": 2}
    tree = survey.event_tree(sampling_zeros="none")
    frame = tree.edges
    n = {(e.variable, e.label): 0 for e in frame.itertuples()}
    for e in frame.itertuples():
        n[e.variable, e.label] += e.n  # type: ignore[operator]
    assert n["amount", "little"] == 1
    assert n["amount", "lots"] == 2
    assert (n["drives", "yes"], n["drives", "no"]) == (2, 2)
    refused = frame[frame["source"] == "s2"]
    assert "amount" not in refused[refused["label"] != "not applicable"]["variable"].tolist()
    sound(db)


@pytest.mark.slow
def test_b26_only_seen_paths_of_sparse_categories(db: Database, tmp_path: Path) -> None:
    levels = [f"c{i}" for i in range(400)]
    answers = ["c1", "c2", "c1", None]
    frame = pd.DataFrame({c: pd.Categorical(answers, categories=levels[::-1]) for c in "abcd"})
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        survey = db.ingest(source, "s", replace=True)
        assert rows_of(db, survey) == Counter([("c1",) * 4] * 2 + [("c2",) * 4, (None,) * 4])
        tree = survey.event_tree("s", replace=True, sampling_zeros="none")
        assert len(tree.edges) == 8
    shown = list(labels_of(db.ingest(frame, "order"))["a"])
    assert [label for label in shown if label in answers] == ["c2", "c1"]
    found = db.sql("select * from cegdb.tree_edges where label = $label", {"label": "nobody"})
    assert len(found) == 0
    empty = pd.DataFrame({"x": pd.Categorical([None, None]), "y": ["a", "b"]})
    assert labels_of(db.ingest(empty, "empty")) == {"x": {}, "y": {"a": 1, "b": 1}}
    numbers = pd.DataFrame({"x": pd.Categorical([1, 2, None, 1])})
    assert rows_of(db, db.ingest(numbers, "n")) == Counter([("1",)] * 2 + [("2",), (None,)])


def test_standard_input_is_called_so_in_what_is_kept(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x,y\na,b\n")))
    survey = db.ingest("-")
    assert "from standard input: 1 row" in survey.summary
    assert db.sql("select source from cegdb.survey")["source"].tolist() == ["standard input"]


# -----------------------------------------------------------------------------
# Weights and counts
# -----------------------------------------------------------------------------


def test_b30_weights_with_a_decimal_comma(db: Database, tmp_path: Path) -> None:
    text = (
        'land;lieu;poids;date\nFR;"48,85;2,35";0,731;04/07/20\nFR;"45,75;4,85";1,269;05/07/20\n'
        'BE;"50,85;4,35";2,000;04/07/20\n'
    )
    file = written(tmp_path, text)
    with pytest.raises(SurveyError, match="'poids' contains 0,731") as error:
        db.ingest(file, weight="poids")
    assert "decimal=','" in str(error.value.hint)
    survey = db.ingest(file, "s", weight="poids", decimal=",")
    assert survey.receipt["weights"]["sum"] == "4"  # type: ignore[index]
    assert list(labels_of(survey)) == ["land", "lieu", "date"]
    assert labels_of(survey)["lieu"] == dict.fromkeys(
        ["45,75;4,85", "48,85;2,35", "50,85;4,35"], 1
    )
    assert labels_of(survey)["date"] == {"04/07/20": 2, "05/07/20": 1}
    tree = survey.event_tree(order=["land"], sampling_zeros="none")
    assert [float(weight) for weight in tree.edges["weight"]] == [2.0, 2.0]


W1 = (
    "sex,vote,wt\nF,Yes,0.731\nF,Yes,1.269\nF,No,2.25\nM,Yes,0.5\nM,No,1.75\nM,No,0.0\n"
    "M,Yes,0.5\nF,No,3.0\n"
)


@pytest.mark.slow
def test_w1_weights_are_no_variable_and_can_be_rescaled(
    db: Database, tmp_path: Path, sound: Sound
) -> None:
    file = written(tmp_path, W1)
    assert "weight='wt'" in told(db.ingest(file, "undeclared"))
    survey = db.ingest(file, "s", weight="wt")
    tree = survey.event_tree(sampling_zeros="none")
    frame = tree.edges
    assert set(frame["variable"]) == {"sex", "vote"}
    _, rows = db.rows("select source, label, n, weight from cegdb.tree_edges where tree = 's'")
    weights = {(source, label): (n, weight) for source, label, n, weight in rows}
    assert weights == {
        ("s0", "F"): (4, 7.25), ("s0", "M"): (4, 2.75),
        ("s1", "No"): (2, 5.25), ("s1", "Yes"): (2, 2.0),
        ("s2", "No"): (2, 1.75), ("s2", "Yes"): (2, 1.0),
    }  # fmt: skip
    scores = {}
    for choice in ("situation", "global", "total", "none"):
        staged = tree.learn_stages(choice, weighting=choice, prior="mass", criterion="score")
        scores[choice] = staged.log_marginal_likelihood
        assert staged.settings["weighting"] == choice
        staged.to_ceg(choice)
    assert len(set(scores.values())) == 4
    total = db.cegs["total"].edges
    from_root = total[total["source"] == "w0"].set_index("label")["probability"]
    # 8 respondents: 8 * 7.25 / 10 for F; the root's prior mass is 2, 1 an edge.
    assert from_root["F"] == pytest.approx((8 * 7.25 / 10 + 1) / 10)
    sound(db)


W2_LINES = [
    ("1st", "Male", "Adult", "Yes", 57), ("1st", "Male", "Adult", "No", 118),
    ("1st", "Female", "Adult", "Yes", 140), ("1st", "Female", "Adult", "No", 4),
    ("Crew", "Male", "Adult", "Yes", 192), ("Crew", "Male", "Adult", "No", 670),
    ("Crew", "Female", "Adult", "Yes", 20), ("Crew", "Female", "Adult", "No", 3),
    ("Crew", "Male", "Child", "Yes", 0), ("Crew", "Male", "Child", "No", 0),
]  # fmt: skip


def contents(db: Database, table: str) -> list[tuple[object, ...]]:
    """Return a table's rows, without when, how fast and from what they were made."""
    apart = {"created_at", "seconds"}
    if table == "survey":
        apart |= {"source", "n_read", "settings", "summary"}
    names, _ = db.rows(f'select * from cegdb."{table}" limit 0')  # noqa: S608
    kept = ", ".join(f'"{name}"' for name in names if name not in apart)
    return db.rows(f'select {kept} from cegdb."{table}" order by all')[1]  # noqa: S608


@pytest.mark.slow
def test_w2_an_aggregated_table_is_the_expanded_file_table_for_table(
    tmp_path: Path, sound: Sound
) -> None:
    names = ["Class", "Sex", "Age", "Rescued", "Freq"]
    frame = pd.DataFrame(W2_LINES, columns=names)
    assert frame["Freq"].sum() == 1204
    frame.to_csv(tmp_path / "short.csv", index=False)
    long = frame.loc[frame.index.repeat(frame["Freq"]), names[:-1]]
    long.sample(frac=1, random_state=1).to_csv(tmp_path / "long.csv", index=False)
    tables = []
    for file, count in (("short.csv", "Freq"), ("long.csv", None)):
        with cegdb.open() as db:
            survey = db.ingest(tmp_path / file, "s", count=count)
            assert survey.receipt["respondents"] == 1204
            ceg_of(survey)
            sound(db)
            _, listed = db.rows(
                "select table_name from duckdb_tables() where schema_name = 'cegdb'"
            )
            tables.append({str(name): contents(db, str(name)) for (name,) in sorted(listed)})
            if count:
                assert "2 dropped (Freq is 0)" in survey.summary
    assert list(tables[0]) == list(tables[1])
    assert len(tables[0]) > 10
    for name, found in tables[0].items():
        assert found == tables[1][name], name


@pytest.mark.slow
def test_w2_a_column_called_like_a_count_is_pointed_at_and_zeros_come_on_request(
    db: Database,
) -> None:
    frame = pd.DataFrame(W2_LINES, columns=["Class", "Sex", "Age", "Rescued", "Freq"])
    assert "count='Freq'" in told(db.ingest(frame, "plain"))
    survey = db.ingest(frame, "s", count="Freq")
    tree = survey.event_tree(sampling_zeros="none")
    assert "Child" not in tree.edges["label"].tolist()
    path = {"Class": "Crew", "Sex": "Male", "Age": "Child"}
    levels = {"Age": ["Adult", "Child"]}
    asked = db.ingest(frame, "asked", count="Freq", levels=levels).event_tree(
        add_paths=[path], sampling_zeros="none"
    )
    child = asked.edges[asked.edges["label"] == "Child"]
    assert child["n"].tolist() == [0]


# -----------------------------------------------------------------------------
# Any table of nasty strings, under any names, in every format
# -----------------------------------------------------------------------------

NAMES = st.sampled_from(
    [
        "x" * 1000, "é" * 1000, 'a"b', "it's", "a.b", "a;b", "a,b", "select", "from", "n", "v1",
        "c1", "f0", "weight", "😀", "Straße", "STRASSE", "strasse", "Q", "q", " q", "q ", "İ",
        "i̇", "\u0131", "I", "\n", "\t", "a\r\nb", "%s", "$1", "?", ":x", "{0}", "\\", "--",
        "[1]", "NULL", "level", "cegdb_source", 'x"; drop table cegdb.survey; --', "\u2028",
        "\xa0", "e\u0301", "rowid", "filename", "year=2024", "*", "a->b", "()",
    ]
)  # fmt: skip
ANY_NAMES = NAMES | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8
)


@st.composite
def named_tables(draw: Callable[..., Any]) -> dict[str, list[str | None]]:
    """Draw a table: column name -> cells, some of them blank."""
    names = draw(st.lists(ANY_NAMES, min_size=1, max_size=5, unique=True))
    cell = st.none() | NASTY | TEXTS.filter(lambda text: text != "not applicable")
    n = draw(st.integers(1, 9))
    return {name: draw(st.lists(cell, min_size=n, max_size=n)) for name in names}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dirty")


@pytest.mark.slow
@run(2)
@given(columns=named_tables())
@example(columns={"q": ["a"], "Q": ["b"], " q": [None], "q ": [""]})
@example(columns={"x" * 1000: ["NA", "nan", None], "X" * 1000: ["01", "1", "1.0"]})
@example(columns={"a": ["\x00", "a\x00b", "\x00\x00"]})
@example(columns={"a": [None, None], "b": ["", None]})
def test_any_table_under_any_names_reads_the_same_in_every_format(
    database: Database, shelf: Path, columns: dict[str, list[str | None]]
) -> None:
    sources = formats(shelf, columns)
    expected = Counter(
        tuple(cell or None for cell in row) for row in zip(*columns.values(), strict=True)
    )
    counts = {name: Counter(cell for cell in cells if cell) for name, cells in columns.items()}
    for kind, source in sources.items():
        survey = database.ingest(source, "t", replace=True)
        assert rows_of(database, survey) == expected, kind
        found = labels_of(survey)
        assert list(found) == list(columns), kind
        for name, known in counts.items():
            assert {k: n for k, n in found[name].items() if n} == known, (kind, name)


def formats(shelf: Path, columns: dict[str, list[str | None]]) -> dict[str, Any]:
    """Write a table in all formats that hold any text."""
    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})
    objects = pd.DataFrame(columns, dtype=object)
    categories = objects.copy()
    for name in columns:
        categories[name] = pd.Categorical(objects[name])
    sources: dict[str, Any] = {
        "object": objects,
        "string": objects.astype("string"),
        "category": categories,
        "Arrow": table,
        "large strings": table.cast(pa.schema([(name, pa.large_string()) for name in columns])),
        "dictionary": pa.table(
            {name: table.column(i).dictionary_encode() for i, name in enumerate(columns)}
        ),
    }
    pq.write_table(table, shelf / "pyarrow.parquet")
    objects.to_parquet(shelf / "pandas.parquet")
    categories.to_parquet(shelf / "categories.parquet")
    sources |= {kind: shelf / f"{kind}.parquet" for kind in ("pyarrow", "pandas", "categories")}
    if len({name.casefold() for name in columns}) == len(columns):  # DuckDB's own limit
        (shelf / "duckdb.parquet").unlink(missing_ok=True)
        with duckdb.connect() as con:
            con.register("t", table)
            try:
                con.execute(f"copy t to '{shelf / 'duckdb.parquet'}' (format parquet)")
            except duckdb.Error:
                pass
            else:
                sources["duckdb"] = shelf / "duckdb.parquet"
    try:
        import polars
    except ImportError:
        return sources
    frame = polars.DataFrame(columns, schema=dict.fromkeys(columns, polars.String))
    sources["polars"] = frame
    sources["polars categories"] = frame.cast(polars.Categorical)
    return sources
