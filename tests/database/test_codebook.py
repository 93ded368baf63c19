"""Codebooks: YAML, CSV and mappings say what the codes of a survey mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cegdb.errors import StagingError, SurveyError, TreeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cegdb import Database, Survey

ROWS = "sex,drinks,amount,age\n1,1,1,17\n2,1,2,18\n1,2,6,64\n9,1,7,65\n2,1,9,99\n"
YAML = """
variables:
  sex:
    label: Sex of the respondent
    values: {2: Male, 1: Female}
    missing: {9: Refused}
  drinks:
    values: {1: Yes, 2: No}
  amount:
    values: {1: little, 2: lots}
    structural: [6]
    missing: {7: don't know, 8: refused, 9: not stated}
  age:
    bins: [18, 65]
    missing: [99]
"""
CSV = """variable,kind,code,label
sex,variable,,Sex of the respondent
sex,value,2,Male
sex,value,1,Female
sex,missing,9,Refused
drinks,value,1,Yes
drinks,value,2,No
amount,value,1,little
amount,value,2,lots
amount,structural,6,
amount,missing,7,don't know
amount,missing,8,refused
amount,missing,9,not stated
age,bins,,"18,65"
age,missing,99,
"""
TREE = {
    "variables": {
        "sex": {
            "label": "Sex of the respondent",
            "values": {2: "Male", 1: "Female"},
            "missing": {9: "Refused"},
        },
        "drinks": {"values": {1: "Yes", 2: "No"}},
        "amount": {
            "values": {1: "little", 2: "lots"},
            "structural": [6],
            "missing": {7: "don't know", 8: "refused", 9: "not stated"},
        },
        "age": {"bins": [18, 65], "missing": [99]},
    }
}


def levels(db: Database, survey: Survey) -> list[tuple[object, ...]]:
    _, rows = db.rows(
        "select v.name, l.label, l.kind, l.original_code, l.n from cegdb.level as l "
        "inner join cegdb.variable as v on l.variable_id = v.variable_id "
        "inner join cegdb.survey as s on v.survey_id = s.survey_id "
        "where s.name = $name and l.kind <> 'blank' order by l.level_id",
        {"name": survey.name},
    )
    return [row for row in rows if row[4] or row[2] != "structural"]


@pytest.mark.parametrize("form", ["yaml", "csv", "mapping", "mapping from json"])
def test_a_codebook_gives_kinds_labels_order_and_codes(
    db: Database, tmp_path: Path, form: str
) -> None:
    data, book = tmp_path / "data.csv", tmp_path / f"book.{form}"
    data.write_text(ROWS)
    book.write_text({"yaml": YAML, "csv": CSV}.get(form, ""))
    sources = {"mapping": TREE, "mapping from json": json.loads(json.dumps(TREE))}
    survey = db.ingest(data, codebook=sources.get(form, book))
    assert levels(db, survey) == [
        ("sex", "Male", "value", "2", 2),
        ("sex", "Female", "value", "1", 2),
        ("sex", "Refused", "missing", "9", 1),
        ("drinks", "Yes", "value", "1", 4),
        ("drinks", "No", "value", "2", 1),
        ("amount", "little", "value", "1", 1),
        ("amount", "lots", "value", "2", 1),
        ("amount", "don't know", "missing", "7", 1),
        ("amount", "not stated", "missing", "9", 1),
        ("amount", "refused", "missing", "8", 0),
        ("amount", "not applicable", "structural", "6", 1),
        ("age", "<18", "value", None, 1),
        ("age", "[18, 65)", "value", None, 2),
        ("age", ">=65", "value", None, 1),
        ("age", "99", "missing", None, 1),
    ]
    assert survey.receipt["cells"]["amount"] == {
        "value": 2, "structural": 1, "missing": 2, "blank": 0,
    }  # fmt: skip
    tree = survey.event_tree(order=["drinks", "amount"], sampling_zeros="none")
    edges = tree.edges[["variable", "label", "n"]].values.tolist()
    assert edges == [
        ["drinks", "Yes", 4],
        ["drinks", "No", 1],
        ["amount", "little", 1],
        ["amount", "lots", 1],
    ]
    assert list(survey.variables["question"].dropna().unique()) == ["Sex of the respondent"]


def test_what_is_given_directly_is_added_to_the_codebook(db: Database) -> None:
    survey = db.ingest(
        "select * from (values ('1', 'NA'), ('2', 'x'), ('9', 'y')) as t(a, b)",
        codebook={"columns": ["a"], "variables": {"a": {"values": {2: "no", 1: "yes"}}}},
        missing={"a": ["9"]},
        levels={"a": ["yes", "no", "perhaps"]},
    )
    assert levels(db, survey) == [
        ("a", "yes", "value", "1", 1),
        ("a", "no", "value", "2", 1),
        ("a", "perhaps", "value", None, 0),
        ("a", "9", "missing", "9", 1),
    ]
    book = survey.settings
    again = db.ingest(
        "select * from (values ('1', 'NA'), ('2', 'x'), ('9', 'y')) as t(a, b)",
        codebook={"columns": book["columns"], "variables": book["variables"]},
    )
    assert levels(db, again) == levels(db, survey)


def test_recode_joins_labels_and_other_equal_labels_are_kept_apart(db: Database) -> None:
    rows = "select unnest(['1', '2', '3', 'Male', 'male ', 'F']) as a"
    survey = db.ingest(rows, codebook={"variables": {"a": {"values": {1: "N", 2: "N"}}}})
    assert [row[1] for row in levels(db, survey)] == [
        "N [1]", "N [2]", "3", "F", "Male", "male ",
    ]  # fmt: skip
    hints = " ".join(survey.receipt["hints"])
    assert "the codes 1, 2 share the label 'N'" in hints
    assert "'Male', 'male ', which differ only in case or in spaces around them" in hints
    book = {"a": {"values": {1: "N", 2: "N"}, "recode": {2: "N", "male ": "Male", "F": "3"}}}
    joined = db.ingest(rows, codebook={"variables": book})
    assert [row[1:] for row in levels(db, joined)] == [
        ("N", "value", "1; 2", 2),
        ("3", "value", "3; F", 2),
        ("Male", "value", "Male; male ", 2),
    ]


@pytest.mark.parametrize(
    ("bins", "expected"),
    [
        ("q2", [("<=1", 3), (">1", 3)]),
        ("q4", [("<=1", 3), ("(1, 7.25]", 2), (">7.25", 1)]),
        ([2.5], [("<2.5", 3), (">=2.5", 3)]),
        ("-1,10,20", [("<-1", 0), ("[-1, 10)", 6), ("[10, 20)", 0), (">=20", 0)]),
    ],
)
def test_numbers_are_cut_at_points_or_quantiles(
    db: Database, bins: object, expected: list[tuple[str, int]]
) -> None:
    rows = "select unnest(['1', '1.0', '01', '3', '7.25', '9e0', null, 'DK']) as a"
    survey = db.ingest(rows, bins={"a": bins}, missing=["DK"])
    found = [(row[1], row[4]) for row in levels(db, survey) if row[2] == "value"]
    assert found == expected
    assert survey.receipt["cells"]["a"] == {
        "value": 6, "structural": 0, "missing": 1, "blank": 1,
    }  # fmt: skip


def test_numbers_with_many_values_are_refused_together(db: Database) -> None:
    rows = (
        "select 'p' || i as id, i as no, 2 * i as age, -i / 2 as income, i % 50 as few "
        "from range(1, 101) as t(i)"
    )
    with pytest.raises(SurveyError, match=r"'age' has 100 \(2 to 200\), 'income'"):
        db.ingest(rows)
    assert list(db.surveys) == []
    survey = db.ingest(rows, columns=["id", "no", "age", "few"], bins={"age": "q4"})
    assert [row[1] for row in levels(db, survey) if row[0] == "age"] == [
        "<=50", "(50, 100]", "(100, 150]", ">150",
    ]  # fmt: skip
    db.ingest(rows, columns=["age"], levels={"age": list(range(2, 202, 2))})
    # A running number is no measurement; nor does it make a tree, as little as a text id.
    assert any("'no' contains only row numbers" in hint for hint in survey.receipt["hints"])
    for name in ("no", "id"):
        many = f"'{name}' has a different answer for each of the 100"
        with pytest.raises(TreeError, match=many):
            survey.event_tree(order=["few", name], sampling_zeros="none")
    assert len(db.trees) == 0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "b.yaml",
            "variables: {a: {values: {1: x, 1: y}}}",
            r"line 1: the key '1' is repeated",
        ),
        ("b.yaml", "variables: [", r"line 1 is not YAML"),
        ("b.yaml", "- a\n- b", r"is not a mapping"),
        (
            "b.yaml",
            "variabels: {}",
            r"has an unknown key, 'variabels'\nhint: did you mean 'variables'",
        ),
        (
            "b.yaml",
            "variables: {a: {value: {1: x}}}",
            r"'a' has an unknown key, 'value'\nhint: did you",
        ),
        ("b.yaml", "variables: {a: x}", r"'a' must be a mapping, not 'x'"),
        ("b.yaml", "variables: {a: {levels: x}}", r"levels must be a list, not 'x'"),
        ("b.yaml", "variables: {a: {levels: [x, x]}}", r"lists 'x' twice"),
        ("b.yaml", "variables: {a: {levels: [x, '']}}", r"contains an empty label"),
        ("b.yaml", "variables: {a: {bins: [3, 1]}}", r"do not ascend"),
        ("b.yaml", "variables: {a: {bins: q1}}", r"bins must be q2 or more"),
        ("b.yaml", "variables: {a: {bins: x}}", r"give cut points"),
        (
            "b.yaml",
            "variables: {a: {structural: [1], missing: [1]}}",
            r"structural and missing",
        ),
        ("b.yaml", "count: [a]", r"count must be the name of a column, not \['a'\]"),
        (
            "b.csv",
            'variable,kind,code,label\na,value,1,one\na,value,2,"two\na,value,3,three\n',
            r"b\.csv, line 3: the quote opened here is never closed",
        ),
        ("b.csv", "a,b\n1,2\n", r"has the columns 'a', 'b'"),
        ("b.csv", "variable,kind,code,label\na,valu,1,x\n", r"row 2: unknown kind 'valu'"),
        ("b.csv", "variable,kind,code,label\na,value,1\n", r"row 2: 3 fields"),
        ("b.csv", "variable,kind,code,label\na,value,1,x\na,value,1,y\n", r"row 3: the code"),
        ("b.csv", "variable,kind,code,label\na,value,,x\n", r"row 2: the code is blank"),
        ("b.txt", "", r"unknown file type '\.txt' \(b\.txt\)\nhint: a codebook is a \.yaml"),
    ],
)
def test_a_wrong_codebook_is_refused_with_its_place(
    db: Database, tmp_path: Path, name: str, text: str, message: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(SurveyError, match=message):
        db.ingest("select '1' as a", codebook=file)
    assert list(db.surveys) == []


def test_a_codebook_that_is_no_file_or_names_no_column_says_so(
    db: Database, tmp_path: Path
) -> None:
    with pytest.raises(SurveyError, match=r"there is no file .*none\.yaml"):
        db.ingest("select '1' as a", codebook=tmp_path / "none.yaml")
    survey = db.ingest("select '1' as smoker", codebook={"variables": {"smokr": {}}})
    assert "describes 'smokr', which is not a column" in survey.receipt["hints"][0]


def test_words_that_yaml_takes_for_others_stay(db: Database, tmp_path: Path) -> None:
    file = tmp_path / "b.yml"
    file.write_text("variables:\n  a:\n    values: {01: yes, no: No, ~: null, 1_0: 0x1f}\n")
    survey = db.ingest("select unnest(['01', 'no', '~', '1_0']) as a", codebook=file)
    assert [(row[3], row[1]) for row in levels(db, survey)] == [
        ("01", "yes"), ("no", "No"), ("~", "null"), ("1_0", "0x1f"),
    ]  # fmt: skip


PLACES = """
    select * from (values
        ('hospital', 'test+', 'recovery', 6), ('hospital', 'test+', 'death', 2),
        ('hospital', 'no test', 'recovery*', 5), ('hospital', 'no test', 'death', 3),
        ('community', 'test+', 'recovery', 7), ('community', 'test+', 'death', 1),
        ('community', 'no test', 'recovery*', 4), ('community', 'no test', 'death', 4)
    ) as t(place, test, outcome, n)
"""
SAME = {"variables": {"outcome": {"same": [["recovery", "recovery*"]]}}}


@pytest.mark.slow
def test_w5_1_labels_declared_the_same_can_share_a_stage_and_a_position(
    db: Database, sound: Callable[[Database], None]
) -> None:
    stages: dict[tuple[str, ...], str] = {
        ("hospital",): "h",
        ("community",): "h",
        ("hospital", "test+"): "g",
        ("hospital", "no test"): "y",
        ("community", "test+"): "z",
        ("community", "no test"): "g",
    }
    raw = db.ingest(PLACES, "raw", count="n").event_tree(sampling_zeros="none")
    with pytest.raises(StagingError, match="recovery"):
        raw.set_stages(stages, prior="mass")  # type: ignore[arg-type]
    apart = {path: name for path, name in stages.items() if name != "g"}
    assert len(raw.set_stages(apart, prior="mass").to_ceg().positions) == 8  # type: ignore[arg-type]
    tree = db.ingest(PLACES, "same", count="n", codebook=SAME).event_tree(sampling_zeros="none")
    ceg = tree.set_stages(stages, prior="mass").to_ceg()  # type: ignore[arg-type]
    assert len(ceg.positions) == 7
    merged = ceg.edges[ceg.edges["label"] == "recovery"]
    assert sorted(map(list, merged["raw_labels"])) == [
        ["recovery"], ["recovery", "recovery*"], ["recovery*"],
    ]  # fmt: skip
    # The tree keeps the labels as they are.
    assert set(tree.edges["label"]) >= {"recovery", "recovery*"}
    sound(db)


def test_w5_1_siblings_cannot_be_declared_the_same(db: Database) -> None:
    book = {"variables": {"outcome": {"same": [["recovery", "death"]]}}}
    survey = db.ingest(PLACES, count="n", codebook=book)
    with pytest.raises(
        TreeError, match=r"has edges labelled 'death', 'recovery', which are declared"
    ):
        survey.event_tree(sampling_zeros="none")
    assert len(db.trees) == 0
    for same, message in (
        ([["recovery"]], "which is only one label"),
        ([["recovery", "cure"]], "'cure', which is not among its answers"),
    ):
        with pytest.raises(SurveyError, match=message):
            db.ingest(PLACES, count="n", codebook={"variables": {"outcome": {"same": same}}})


def test_numbers_with_a_decimal_comma_are_cut(db: Database) -> None:
    numbers = ", ".join(f"('{i // 4},{i % 4}', {i % 2})" for i in range(80))
    rows = f"select * from (values {numbers}) as t(x, y)"  # noqa: S608
    cut = db.ingest(rows, name="cut", bins={"x": [1.5, 10]}, decimal=",")
    labels = db.rows("select label, n from cegdb.variables where variable = 'x' limit 3")[1]
    assert labels == [("<1.5", 8), ("[1.5, 10)", 32), (">=10", 40)]
    assert cut.receipt["respondents"] == 80
    with pytest.raises(SurveyError, match="different numbers are too many for a variable"):
        db.ingest(rows, name="raw", decimal=",")
    with pytest.raises(SurveyError, match="not numbers: '0,0'"):
        db.ingest(rows, name="raw", bins={"x": [1.5]})


VALUES = {"1": "Strongly agree", "2": "Agree", "3": "No"}


@pytest.mark.parametrize(
    ("recode", "expected"),
    [
        ({"1": "Agree"}, [("Agree", "1; 2", 2), ("No", "3; 9", 2)]),
        ({"1": "2"}, [("Agree", "1; 2", 2), ("No", "3; 9", 2)]),
        ({"Strongly agree": "Agree"}, [("Agree", "1; 2", 2), ("No", "3; 9", 2)]),
        ({"1": "Yes", "2": "Yes"}, [("Yes", "1; 2", 2), ("No", "3; 9", 2)]),
        ({"Strongly agree": "Yes", "Agree": "Yes"}, [("Yes", "1; 2", 2), ("No", "3; 9", 2)]),
        (
            {"Strongly agree": "Very much"},
            [("Very much", "1", 1), ("Agree", "2", 1), ("No", "3; 9", 2)],
        ),
    ],
    ids=str,
)
def test_recode_says_by_label_or_by_code_which_answer_another_one_counts_as(
    db: Database, recode: dict[str, str], expected: list[tuple[str, str, int]]
) -> None:
    book = {"variables": {"a": {"values": VALUES, "recode": {**recode, "9": "3"}}}}
    survey = db.ingest("select unnest(['1', '2', '3', '9']) as a", codebook=book)
    assert [(row[1], row[3], row[4]) for row in levels(db, survey)] == expected
    survey.append("select '9' as a")
    assert levels(db, survey)[-1][1:] == ("No", "value", "3; 9", 3)


@pytest.mark.parametrize(
    ("recode", "message"),
    [
        (
            {"1": "Yes"},
            "values gives the code '1' the label 'Strongly agree', and recode gives",
        ),
        ({"1": "Agree", "Strongly agree": "No"}, "recode turns the code '1' into 'Agree', and"),
    ],
    ids=str,
)
def test_a_recode_that_only_replaces_a_label_of_values_is_refused(
    db: Database, recode: dict[str, str], message: str
) -> None:
    book = {"variables": {"a": {"values": VALUES, "recode": recode}}}
    with pytest.raises(SurveyError, match=message):
        db.ingest("select unnest(['1', '2', '3']) as a", codebook=book)
    assert list(db.surveys) == []
