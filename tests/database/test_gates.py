"""Gates: who was asked what, and what contradicts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cegdb.errors import SurveyError

if TYPE_CHECKING:
    from cegdb import Database

ROWS = """
    select * from (values
        ('Current', '10', 'A', 4), ('Current', null, 'B', 2), ('Never', null, null, 5),
        ('Never', '20', null, 3), ('Never', '10', 'A', 1), ('Current', '20', null, 1),
        (null, '10', null, 2), (null, null, null, 1), ('?', null, null, 1)
    ) as t(smoker, cigs, brand, n)
"""
GATES = {"cigs": "smoker = 'Current'", "brand": "cigs <> 'x'"}


def cells(db: Database, survey: str) -> dict[tuple[str, str, str], int]:
    _, rows = db.rows(
        "select variable, label, kind, n from cegdb.variables where survey = $name and n > 0",
        {"name": survey},
    )
    return {(str(v), str(label), str(kind)): int(str(n)) for v, label, kind, n in rows}


@pytest.mark.slow
def test_gates_close_cells_and_count_what_contradicts_them(db: Database) -> None:
    survey = db.ingest(ROWS, "s", count="n", missing=["?"], codebook={"gates": GATES})
    assert cells(db, "s") == {
        ("smoker", "Current", "value"): 7,
        ("smoker", "Never", "value"): 9,
        ("smoker", "?", "missing"): 1,
        ("smoker", "(blank)", "blank"): 3,
        ("cigs", "10", "value"): 6,
        ("cigs", "20", "value"): 1,
        ("cigs", "missing", "missing"): 2,  # asked, no answer
        ("cigs", "(blank)", "blank"): 2,  # not known whether asked
        ("cigs", "not applicable", "structural"): 9,
        ("brand", "A", "value"): 4,
        ("brand", "B", "value"): 2,
        ("brand", "missing", "missing"): 3,
        ("brand", "(blank)", "blank"): 2,
        ("brand", "not applicable", "structural"): 9,
    }
    first, second = survey.receipt["gates"]  # type: ignore[misc]
    assert first == {
        "variable": "cigs",
        "gate": "smoker = 'Current'",
        "rows_closed": 9,
        "contradictions": {
            "answered": {
                "rows": 4,
                "examples": [
                    "smoker = Never, cigs = 20 (3)", "smoker = Never, cigs = 10 (1)",
                ],
            },
            "unanswered": {
                "rows": 2, "examples": ["smoker = Current, cigs = (blank) (2)"],
            },
        },
    }  # fmt: skip
    hints = "\n".join(survey.receipt["hints"])  # type: ignore[arg-type]
    assert "'cigs', asked if smoker = 'Current': 4 rows have an answer although" in hints
    assert second["variable"] == "brand"
    tree = survey.event_tree(order=["smoker", "cigs"], sampling_zeros="none")
    edges = {
        (source, label): n
        for source, label, n in tree.edges[["source", "label", "n"]].itertuples(index=False)
    }
    # Never has no cigs at all; the two Current without an answer stop there.
    assert edges == {
        ("s0", "Current"): 7, ("s0", "Never"): 9, ("s1", "10"): 4, ("s1", "20"): 1,
    }  # fmt: skip
    assert db.check() == []


def test_the_rules_are_kept_in_the_settings_and_make_the_same_survey(db: Database) -> None:
    made = db.ingest(ROWS, "s", count="n", missing=["?"], codebook={"gates": GATES})
    settings: Any = made.settings
    db.ingest(
        ROWS,
        "again",
        codebook={key: settings[key] for key in ("columns", "count", "variables", "gates")},
    )
    assert cells(db, "again") == cells(db, "s")


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        ({"cigs": "smoker ="}, "'cigs', 'smoker =', is not a condition"),
        ({"cigs": "smokr = 'Current'"}, "there is no variable 'smokr'.*\n.*'smoker'"),
        ({"cigz": "smoker = 'Current'"}, "there is no variable 'cigz'"),
        ({"cigs": "true"}, "names no variable"),
        ({"cigs": "cigs = '1'"}, "depends on 'cigs' itself"),
        ({"cigs": "smoker in (select 'Current')"}, "contains a SELECT"),
        ({"cigs": "smoker = 'x'); drop table t; --"}, "is not a condition"),
        ({"cigs": "nofunction(smoker)"}, "is not a condition: .*nofunction"),
        (
            {"cigs": "brand = 'A'", "brand": "cigs = '1'"},
            "'cigs', 'brand' depend on each other",
        ),
        ({"cigs": "cast(smoker as integer) > 3"}, "cannot be decided: .*(Current|Never)"),
        ({"cigs": ""}, "the gate of 'cigs' must be a condition, not ''"),
    ],
)
def test_a_wrong_gate_is_refused_before_any_work(
    db: Database, gates: dict[str, str], message: str
) -> None:
    with pytest.raises(SurveyError, match=message):
        db.ingest(ROWS, count="n", codebook={"gates": gates})
    assert list(db.surveys) == []


def test_names_of_any_kind_can_be_asked(db: Database) -> None:
    values = "('y', 'a', '1'), ('n', 'b', '2')"
    rows = f'select * from (values {values}) as t(v1, n, "a b""")'  # noqa: S608
    survey = db.ingest(
        rows, "odd", codebook={"gates": {'a b"': "\"V1\" = 'y' and n like 'a%'"}}
    )
    assert cells(db, "odd")['a b"', "not applicable", "structural"] == 1
    gates: Any = survey.receipt["gates"]
    assert gates[0]["rows_closed"] == 1
