"""Survey weights: kept beside the counts, exactly; never taken for counts."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from cegdb.errors import SurveyError

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb import Database

ROWS = [
    ("F", "Yes", "0.731"), ("F", "Yes", "1.269"), ("F", "No", "2.25"), ("M", "Yes", "0.5"),
    ("M", "No", "1.75"), ("M", "No", "0.0"), ("M", "Yes", "0.5"), ("F", "No", "3.0"),
]  # fmt: skip


def written(folder: Path, rows: list[tuple[str, ...]] = ROWS, delimiter: str = ",") -> Path:
    file = folder / "weighted.csv"
    lines = [delimiter.join(row) for row in [("sex", "vote", "wt"), *rows]]
    file.write_text("\n".join(lines) + "\n")
    return file


def edges(db: Database, tree: str) -> dict[str, tuple[int, Decimal]]:
    _, rows = db.rows(
        "select e.source, e.label, e.n, e.weight from cegdb.tree_edges as e "
        "where e.tree = $name order by all",
        {"name": tree},
    )
    return {f"{source}/{label}": (n, weight) for source, label, n, weight in rows}  # type: ignore[misc]


def test_weights_are_summed_exactly_beside_the_counts(db: Database, tmp_path: Path) -> None:
    survey = db.ingest(written(tmp_path), weight="wt", name="w")
    survey.event_tree()
    assert edges(db, "w") == {
        "s0/F": (4, Decimal("7.25")),
        "s0/M": (4, Decimal("2.75")),
        "s1/No": (2, Decimal("5.25")),
        "s1/Yes": (2, Decimal("2")),
        "s2/No": (2, Decimal("1.75")),
        "s2/Yes": (2, Decimal("1")),
    }
    assert survey.receipt["weights"] == {
        "column": "wt",
        "sum": "10",
        "smallest": "0",
        "largest": "3",
        "rows_of_weight_0": 1,
        "rows_kept_to_12_decimals": 0,
    }
    squares = db.rows("select vertex_id, weight_sq from cegdb.vertex_weight order by all")[1]
    assert squares[0] == (0, sum(Decimal(row[2]) ** 2 for row in ROWS))


@pytest.mark.parametrize("bad", ["-1", "", "x", "nan", "inf", "1,5", "1e40", "0x1"])
def test_what_is_no_weight_is_refused_with_its_row(
    db: Database, tmp_path: Path, bad: str
) -> None:
    rows = [*ROWS[:2], ("F", "No", bad), *ROWS[3:]]
    with pytest.raises(SurveyError, match=r"'wt' holds .* \(row 3\): a weight is a number"):
        db.ingest(written(tmp_path, rows, ";"), weight="wt")
    assert list(db.surveys) == []


def test_weights_that_are_all_0_are_refused(db: Database, tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match="every 'wt' is 0"):
        db.ingest(written(tmp_path, [(*row[:2], "0.0") for row in ROWS]), weight="wt")


def test_a_decimal_comma_is_an_option(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, [(*row[:2], row[2].replace(".", ",")) for row in ROWS], ";")
    with pytest.raises(SurveyError, match=r"ingest with decimal=','"):
        db.ingest(file, weight="wt")
    survey = db.ingest(file, weight="wt", decimal=",", name="w")
    survey.event_tree()
    assert edges(db, "w")["s1/Yes"] == (2, Decimal("2"))


def test_counts_and_weights_multiply(db: Database) -> None:
    query = "select * from (values ('a', 3, 0.1), ('b', 1, 2.5), ('a', 2, 0.2)) as t(x, n, w)"
    db.ingest(query, count="n", weight="w", name="both").event_tree()
    assert edges(db, "both") == {
        "s0/a": (5, Decimal("0.7")), "s0/b": (1, Decimal("2.5")),
    }  # fmt: skip


def test_long_decimals_are_kept_to_12_and_told(db: Database) -> None:
    query = "select * from (values ('a', 0.7310585786300049::double), ('b', 1.0)) as t(x, w)"
    survey = db.ingest(query, weight="w", name="long")
    survey.event_tree()
    assert edges(db, "long")["s0/a"] == (1, Decimal("0.731058578630"))
    assert survey.receipt["weights"]["rows_kept_to_12_decimals"] == 1  # type: ignore[index]
