"""Survey weights: kept beside the counts, exactly; never taken for counts."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite, lgamma, log
from typing import TYPE_CHECKING, Any, get_args

import pandas as pd
import pytest

from cegdb.errors import StagingError, SurveyError
from cegdb.options import Method, WeightChoice

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb import Database
    from cegdb.api import EventTree, Survey


@pytest.fixture
def db(piled_db: Database) -> Database:
    return piled_db


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


def test_weights_are_summed_exactly_beside_the_counts(
    empty_db: Database, tmp_path: Path
) -> None:
    survey = empty_db.ingest(written(tmp_path), weight="wt", name="w")
    survey.event_tree(sampling_zeros="none")
    assert edges(empty_db, "w") == {
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
    squares = empty_db.rows(
        "select vertex_id, weight_sq from cegdb.vertex_weight order by all"
    )[1]
    assert squares[0] == (0, sum(Decimal(row[2]) ** 2 for row in ROWS))


@pytest.mark.parametrize("bad", ["-1", "", "x", "nan", "inf", "1,5", "1e40", "0x1"])
def test_what_is_no_weight_is_refused_with_its_row(
    empty_db: Database, tmp_path: Path, bad: str
) -> None:
    rows = [*ROWS[:2], ("F", "No", bad), *ROWS[3:]]
    with pytest.raises(SurveyError, match=r"'wt' contains .* \(row 3\): a weight is a number"):
        empty_db.ingest(written(tmp_path, rows, ";"), weight="wt")
    assert list(empty_db.surveys) == []


def test_weights_that_are_all_0_are_refused(db: Database, tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match="the weight 'wt' is 0 in every row"):
        db.ingest(written(tmp_path, [(*row[:2], "0.0") for row in ROWS]), weight="wt")


def test_a_decimal_comma_is_an_option(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, [(*row[:2], row[2].replace(".", ",")) for row in ROWS], ";")
    with pytest.raises(SurveyError, match=r"ingest with decimal=','"):
        db.ingest(file, weight="wt")
    survey = db.ingest(file, weight="wt", decimal=",", name="w")
    survey.event_tree(sampling_zeros="none")
    assert edges(db, "w")["s1/Yes"] == (2, Decimal("2"))


def test_counts_and_weights_multiply(db: Database) -> None:
    query = "select * from (values ('a', 3, 0.1), ('b', 1, 2.5), ('a', 2, 0.2)) as t(x, n, w)"
    db.ingest(query, count="n", weight="w", name="both").event_tree(sampling_zeros="none")
    assert edges(db, "both") == {
        "s0/a": (5, Decimal("0.7")), "s0/b": (1, Decimal("2.5")),
    }  # fmt: skip


def test_the_receipt_sums_weights_over_respondents_not_over_lines(empty_db: Database) -> None:
    counted = "select * from (values ('a', 3, 0.5), ('b', 0, 9), ('a', 1, 2.5)) as t(x, n, w)"
    survey = empty_db.ingest(counted, count="n", weight="w", name="counted")
    assert survey.receipt["weights"] == {
        "column": "w",
        "sum": "4",
        "smallest": "0.5",
        "largest": "2.5",
        "rows_of_weight_0": 0,
        "rows_kept_to_12_decimals": 0,
    }
    rows = empty_db.rows("select sum(weight) from cegdb.response_1")[1]
    assert rows == [(Decimal("4"),)]
    survey.append(counted)
    assert survey.receipt["weights"]["sum"] == "8"  # type: ignore[index]


def test_long_decimals_are_kept_to_12_and_told(db: Database) -> None:
    query = "select * from (values ('a', 0.7310585786300049::double), ('b', 1.0)) as t(x, w)"
    survey = db.ingest(query, weight="w", name="long")
    survey.event_tree(sampling_zeros="none")
    assert edges(db, "long")["s0/a"] == (1, Decimal("0.731058578630"))
    assert survey.receipt["weights"]["rows_kept_to_12_decimals"] == 1  # type: ignore[index]


def expected(
    rows: list[tuple[str, ...]], how: str, deff: float
) -> dict[tuple[str, ...], float]:
    """Return the effective count of each path of the two variables, slowly."""
    sizes: dict[tuple[str, ...], float] = {}
    weights = [float(row[-1]) for row in rows]
    factor = {
        "global": sum(weights) / sum(w * w for w in weights),
        "total": len(rows) / sum(weights),
    }.get(how)
    for depth in (1, 2):
        for path in {row[:depth] for row in rows}:
            here = [row for row in rows if row[: depth - 1] == path[:-1]]
            total = sum(float(row[-1]) for row in here)
            squares = sum(float(row[-1]) ** 2 for row in here)
            mine = [float(row[-1]) for row in here if row[:depth] == path]
            if how == "none":
                size = float(len(mine))
            elif factor is not None:
                size = sum(mine) * factor
            else:
                size = total * sum(mine) / squares
            sizes[path] = size / deff
    return sizes


SKEWED = (
    "select i % 2 as x, (i // 2) % 10 < 3 + 2 * (i % 2) as y, "
    "(if(i = 7, 2000, i % 3) + 0.4) * {0} as w "
    "from range({1}, {2}) as t(i)"
)


def learnt_of(db: Database, unit: str, name: str) -> tuple[Survey, float, Any]:
    """Return a skewed survey in two parts, its score, and the shares with their intervals."""
    survey = db.ingest(SKEWED.format(unit, 0, 900), weight="w", name=name)
    survey.append(SKEWED.format(unit, 900, 2_000))
    staged = survey.event_tree(sampling_zeros="none").learn_stages(
        prior="mass", criterion="score"
    )
    shares = staged.stage_edges[["share", "low", "high"]].to_numpy()
    return survey, staged.log_marginal_likelihood, shares


@pytest.fixture(scope="module")
def unscaled(checked_database: Database) -> tuple[float, Any]:
    """Give score and shares of the survey whose weights are as they are."""
    return learnt_of(checked_database, "1e0", "one")[1:]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["1e-5", "0.0000005", "1e-12", "1e-40", "1e-290", "1e8", "4e14"]
)
def test_the_size_of_all_weights_is_no_matter(
    db: Database, unscaled: tuple[float, Any], unit: str
) -> None:
    survey, score, shares = learnt_of(db, unit, "scaled")
    assert score == pytest.approx(unscaled[0], rel=1e-9)
    assert shares == pytest.approx(unscaled[1], rel=1e-9)
    told = survey.receipt["weights"]
    assert float(told["largest"]) == pytest.approx(2000.4 * float(unit), rel=1e-9)
    assert f"rescaled by {told['kept_times']}" in survey.summary
    ((total,),) = db.rows("select weight from cegdb.vertices where tree = 'scaled' limit 1")[1]
    assert float(total) == pytest.approx(
        float(told["sum"]) * float(told["kept_times"]), rel=1e-9
    )


@pytest.mark.slow
def test_a_group_of_tiny_weights_counts_as_much_as_any_other(db: Database) -> None:
    rows = (
        "select i % 2 as x, (i // 2) % 10 < 3 + 4 * (i % 2) as y, "
        "if(i % 2 = 0, 1.0, {0}) * (1 + i % 3) as w from range(1000) as t(i)"
    )
    answers = []
    for name, unit in (("same", "1.0"), ("tiny", "1e-7")):
        tree = db.ingest(rows.format(unit), weight="w", name=name).event_tree(
            sampling_zeros="none"
        )
        edges = tree.set_stages({}, prior="mass").stage_edges
        answers.append(edges[edges["stage"] != edges["stage"].iloc[0]]["probability"].tolist())
    assert len(answers[0]) == 4
    assert answers[1] == pytest.approx(answers[0], rel=1e-12)


def test_weights_of_another_scale_are_not_added(db: Database) -> None:
    survey = db.ingest(SKEWED.format("1e-9", 0, 900), weight="w", name="tiny")
    with pytest.raises(SurveyError, match="together with those the survey has"):
        survey.append(SKEWED.format("1e3", 900, 2_000))
    with pytest.raises(SurveyError, match="cannot be stored together"):
        db.ingest(
            "select i % 2 as x, if(i = 7, 1e-12, 1.0) as w from range(9) as t(i)", weight="w"
        )


@pytest.mark.slow
@pytest.mark.parametrize("deff", [1.0, 2.5])
@pytest.mark.parametrize("how", ["situation", "global", "total", "none"])
def test_scores_and_probabilities_use_effective_counts(
    db: Database, tmp_path: Path, how: Any, deff: float
) -> None:
    survey = db.ingest(written(tmp_path), weight="wt")
    staged = survey.event_tree(sampling_zeros="none").set_stages(
        {}, alpha=2, weighting=how, deff=deff, prior="mass"
    )
    size = expected(ROWS, how, deff)
    florets = {(): ["F", "M"], ("F",): ["No", "Yes"], ("M",): ["No", "Yes"]}
    score = 0.0
    found = staged.stage_edges.set_index(["stage", "label"])
    for stage, (path, labels) in enumerate(florets.items()):
        prior = [2 / 2 ** (len(path) + 1)] * 2
        n = [size[(*path, label)] for label in labels]
        score += lgamma(sum(prior)) - lgamma(sum(prior) + sum(n))
        for a, m, label in zip(prior, n, labels, strict=True):
            score += lgamma(a + m) - lgamma(a)
            row = found.loc[(f"u{stage}", label)]
            assert row["probability"] == pytest.approx((a + m) / (sum(prior) + sum(n)))
            assert row["low"] < row["probability"] < row["high"]
    assert staged.log_marginal_likelihood == pytest.approx(score, abs=1e-9)
    # Shares are those of the weights, whatever scores count.
    assert found.loc[("u1", "Yes")]["share"] == pytest.approx(2 / 7.25)
    learnt = survey.event_tree(name="t", sampling_zeros="none").learn_stages(
        alpha=2, weighting=how, deff=deff, prior="mass", criterion="score"
    )
    merged = [size[("F", x)] + size[("M", x)] for x in ("No", "Yes")]
    gain = lgamma(2) - lgamma(2 + sum(merged)) + sum(lgamma(1 + m) for m in merged)
    for sex in "FM":
        n = [size[(sex, x)] for x in ("No", "Yes")]
        gain -= lgamma(1) - lgamma(1 + sum(n)) + sum(lgamma(0.5 + m) - lgamma(0.5) for m in n)
    assert learnt.merges["log_bayes_factor"].tolist() == pytest.approx(
        [gain] if gain > 1e-9 else [], abs=1e-9
    )


def test_kish_size_of_1_1_2_is_8_thirds(db: Database) -> None:
    """``docs/theory.md``, W1.5: the likelihood counts 8/3 respondents."""
    query = "select * from (values ('a', 1), ('b', 1), ('a', 2)) as t(x, w)"
    tree = db.ingest(query, weight="w").event_tree(sampling_zeros="none")
    staged = tree.set_stages({}, alpha=2, prior="mass")
    a, b = 8 / 3 * 3 / 4, 8 / 3 / 4
    assert staged.log_likelihood == pytest.approx(a * log(3 / 4) + b * log(1 / 4))
    assert staged.bic == pytest.approx(-2 * staged.log_likelihood + log(8 / 3))


@pytest.mark.slow
def test_equal_weights_change_nothing(db: Database) -> None:
    rows = "select i % 3 as x, i % 7 // 3 as y, i % 5 // 2 as z from range(200) as t(i)"
    plain = (
        db.ingest(rows)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    heavy = db.ingest(f"select *, 0.3 as w from ({rows})", weight="w").event_tree(  # noqa: S608
        sampling_zeros="none"
    )
    for how in ("situation", "global", "total", "none"):
        same = heavy.learn_stages(name=how, weighting=how, prior="mass", criterion="score")
        assert same.log_marginal_likelihood == pytest.approx(
            plain.log_marginal_likelihood, abs=1e-9
        )
        assert same.merges["log_bayes_factor"].tolist() == pytest.approx(
            plain.merges["log_bayes_factor"].tolist(), abs=1e-9
        )
        assert same.to_ceg().edges["n"].tolist() == plain.to_ceg().edges["n"].tolist()


@pytest.mark.slow
def test_the_order_of_weighted_rows_changes_no_byte(db: Database) -> None:
    rows = (
        "select i, i % 3 as x, i % 7 // 3 as y, 0.1 + i % 11 / 7 as w from range(500) as t(i)"
    )
    tables = []
    for order in ("i", "hash(i)"):
        query = f"select x, y, w from ({rows}) order by {order}"  # noqa: S608
        staged = (
            db.ingest(query, "s", weight="w", replace=True)
            .event_tree(sampling_zeros="none")
            .learn_stages(prior="mass", criterion="score")
        )
        tables.append((staged.stage_edges.to_csv(), staged.to_ceg().edges.to_csv()))
    assert tables[0] == tables[1]


@pytest.mark.parametrize("deff", [0, -1, "x", True, {"vote": 0}, {"votes": 2}])
def test_a_wrong_design_effect_is_refused(
    empty_db: Database, tmp_path: Path, deff: Any
) -> None:
    tree = empty_db.ingest(written(tmp_path), weight="wt").event_tree(sampling_zeros="none")
    with pytest.raises((StagingError, SurveyError), match="deff"):
        tree.learn_stages(deff=deff, prior="mass", criterion="score")
    with pytest.raises(StagingError, match="unknown value 'all' for weighting"):
        tree.learn_stages(weighting="all", prior="mass", criterion="score")  # type: ignore[arg-type]
    assert len(empty_db.stagings) == 0


def deff_of(rows: list[tuple[str, str, float]]) -> float:
    """Return the design effect of the answers of (cluster, answer, weight), slowly."""
    total = sum(w for _, _, w in rows)
    n_eff = total**2 / sum(w * w for _, _, w in rows)
    clusters = sorted({cluster for cluster, _, _ in rows})
    between = alone = 0.0
    for answer in sorted({answer for _, answer, _ in rows}):
        p = sum(w for _, a, w in rows if a == answer) / total
        residuals = [
            sum(w * ((a == answer) - p) for c, a, w in rows if c == cluster)
            for cluster in clusters
        ]
        m = len(clusters)
        between += m / (m - 1) * sum(r * r for r in residuals) / total**2
        alone += p * (1 - p) / n_eff
    return max(1.0, between / alone)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "w"])
def test_clusters_divide_scores_by_a_design_effect(db: Database, weight: str | None) -> None:
    rows = [
        (f"psu{i % 7}", "yes" if (i * i + i % 7) % 5 < 2 + (i % 7 > 3) else "no", "ab"[i % 2],
         0.5 + i % 3)
        for i in range(140)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["psu", "answer", "arm", "w"])
    survey = db.ingest(frame, columns=["arm", "answer"], cluster="psu", weight=weight)
    effects: Any = survey.receipt["design_effects"]
    used = [(c, a, w if weight else 1.0) for c, a, _, w in rows]
    assert effects["answer"] == pytest.approx(deff_of(used))
    assert effects["answer"] > 1
    tree = survey.event_tree(sampling_zeros="none")
    staged = tree.learn_stages(alpha=2, prior="mass", criterion="score")
    assert staged.settings["deff"] == effects
    assert "counts divided by design effects" in staged.summary
    by_hand = tree.learn_stages(alpha=2, deff=effects, prior="mass", criterion="score")
    assert by_hand.log_marginal_likelihood == staged.log_marginal_likelihood
    without = tree.learn_stages(alpha=2, deff=1, prior="mass", criterion="score")
    assert without.log_marginal_likelihood != staged.log_marginal_likelihood


def test_clusters_that_are_none_are_refused(empty_db: Database) -> None:
    with pytest.raises(SurveyError, match="'c' has only one cluster"):
        empty_db.ingest("select 1 as c, 2 as x", cluster="c")
    with pytest.raises(SurveyError, match="'c' is blank for 1 respondent"):
        empty_db.ingest(
            "select * from (values (1, 2), (null, 3), (2, 2)) as t(c, x)", cluster="c"
        )
    assert list(empty_db.surveys) == []


@pytest.fixture(scope="module")
def of_weight_0(checked_database: Database) -> list[EventTree]:
    """Give the trees of two surveys where some situations have rows of weight 0 only."""
    rows = "select i % 5 as a, i % 3 < 1 as b, if(i % 5 > {}, 1, 0) as w from range(60) t(i)"
    return [
        checked_database.ingest(
            rows.format(least), f"above {least}", weight="w", columns=["a", "b"]
        ).event_tree(sampling_zeros="none")
        for least in (1, 3)
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("method", get_args(Method))
def test_rows_of_weight_0_can_be_learnt_by_every_method(
    of_weight_0: list[EventTree], method: Any
) -> None:
    for tree in of_weight_0:
        staged = tree.learn_stages(method=method, prior="mass")
        assert isfinite(staged.bic)
        assert isfinite(staged.log_marginal_likelihood)


@pytest.mark.slow
@pytest.mark.parametrize("weighting", get_args(WeightChoice))
def test_a_stage_of_weight_0_has_no_free_parameter(
    db: Database, weighting: WeightChoice
) -> None:
    rows = "('a', 'x', 0), ('a', 'y', 0), ('b', 'x', 3), ('b', 'y', 2), ('c', 'y', 1)"
    query = f"select x, y, w from (values {rows}) as t(x, y, w), range(5)"  # noqa: S608
    tree = db.ingest(query, weight="w").event_tree(sampling_zeros="floret")
    staged = tree.set_stages({}, weighting=weighting, prior="mass")
    n_counted = 3 if weighting == "none" else 2  # of the situations after a, b and c
    assert staged.df == 2 + n_counted
    assert staged.aic == pytest.approx(2 * (staged.df - staged.log_likelihood))


@pytest.mark.slow
def test_a_search_over_orders_leaves_out_stages_of_weight_0_too(db: Database) -> None:
    rows = "('a', 'x', 0), ('a', 'y', 0), ('b', 'x', 9), ('b', 'y', 1)"
    query = f"select x, y, w from (values {rows}) as t(x, y, w), range(5)"  # noqa: S608
    survey = db.ingest(query, weight="w")
    search = survey.search_orders(["x", "y"], method="bj")
    for rank, order in search.orders[["rank", "order"]].to_numpy():
        staged = survey.event_tree(
            order=order, replace=True, sampling_zeros="none"
        ).learn_stages(method="bj", prior="mass")
        assert staged.bic == pytest.approx(search.orders["score"][rank - 1])
        if order == ["x", "y"]:
            assert (len(staged.stages), staged.df) == (3, 2)
