"""Cells without an answer: as rows are queried, sampled and read back, against all paths."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import BLANK, MISS, MISSING, NA, NOT_APPLICABLE, Cell
from strategies import run, survey_tables, tree_options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strategies import SurveyTable

    from cegdb.api import ChainEventGraph, Database

CLOSE = {"rel": 1e-11, "abs": 1e-13}
Answers = tuple[dict[str, str], float]
POLICIES = ("prefix", "complete", "category")
TEXTS = {BLANK: None, NA: "-", MISS: "?"}


# =============================================================================
# The oracle: every path, one by one
# =============================================================================


class Case(NamedTuple):
    """A CEG of a random survey with gates, and the settings that say what a blank means."""

    order: list[str]
    gates: dict[str, tuple[str, str]]
    options: dict[str, Any]
    ceg: ChainEventGraph

    @property
    def is_category(self) -> bool:
        return bool(self.options["missing_policy"] == "category")


def text_of(cell: object) -> str | None:
    return TEXTS[cell] if isinstance(cell, Cell) else str(cell)


def draw_case(db: Database, data: st.DataObject, table: SurveyTable | None = None) -> Case:
    """Draw a survey, some gates and a tree, and learn its stages."""
    table = data.draw(survey_tables()) if table is None else table
    options = data.draw(tree_options(table))
    order = table.order
    seen: dict[str, list[str]] = {
        v: sorted({str(r[v]) for r, _ in table.rows if isinstance(r[v], str)}) for v in order
    }
    gates: dict[str, tuple[str, str]] = {}
    for i, variable in enumerate(order):
        # Sampling zeros before a gate are not kept apart by it.
        is_open = options["sampling_zeros"] == "none"
        before = [v for v in (order if is_open else order[:i]) if seen[v] and v != variable]
        if before and data.draw(st.booleans()):
            by = data.draw(st.sampled_from(before))
            if variable not in {v for v, _ in gates.values()} and by not in gates:
                gates[variable] = (by, data.draw(st.sampled_from(seen[by])))
    assume(options["sampling_zeros"] != "full" or not gates)
    rows = [{v: text_of(row[v]) for v in order} | {"n": n} for row, n in table.rows]
    assume(rows and any(seen.values()))
    book = {
        "variables": {v: {"missing": ["?"], "structural": ["-"]} for v in order},
        "gates": {v: f"{by} = '{label}'" for v, (by, label) in gates.items()},
    }
    frame = pd.DataFrame(rows, columns=[*order, "n"], dtype=object)
    survey = db.ingest(frame, "random", count="n", codebook=book, replace=True)
    made = {name: value for name, value in options.items() if name != "levels"}
    made |= {"add_paths": [], "impossible": []}
    tree = survey.event_tree(order=order, **made)
    # An answer presumed impossible may come in new rows, at the cost of the others.
    assume(tree.presumed_zeros.empty)
    ceg = tree.learn_stages(alpha=2, prior="mass", criterion="score").to_ceg()
    assume(len(ceg.edges))
    return Case(order, gates, options, ceg)


def paths_of(ceg: Any) -> list[Answers]:
    """Return the answers and the probability of every path."""
    below: dict[str, list[tuple[str, str, str, float]]] = {}
    for edge in ceg.edges.to_dict("records"):
        step = (edge["variable"], edge["label"], edge["target"], edge["probability"])
        below.setdefault(edge["source"], []).append(step)

    def walk(
        at: str, answers: dict[str, str], p: float
    ) -> Iterator[tuple[dict[str, str], float]]:
        if at == "w_inf":
            yield answers, p
            return
        for variable, label, target, probability in below[at]:
            yield from walk(target, answers | {variable: label}, p * probability)

    return list(walk("w0", {}, 1.0))


def gate_state(case: Case, row: dict[str, str | None], variable: str) -> bool | None:
    """Return whether the gate before a variable is open; None if nothing says so."""
    if variable not in case.gates:
        return None
    by, label = case.gates[variable]
    if row[by] in ("-", NOT_APPLICABLE):
        return False
    if row[by] in (None, "?", MISSING, "never"):
        return None
    return row[by] == label


def meaning(
    case: Case, text: str | None, blank: str, *, is_open: bool | None
) -> set[str | None] | None:
    """Return the labels that agree with a cell; None for all."""
    if is_open is False or text in ("-", NOT_APPLICABLE):
        return {None, NOT_APPLICABLE}
    if text in ("?", MISSING):
        return {text} if case.is_category else None
    if text is not None:
        return {text}
    if blank == "unknown":
        return None
    if case.options["blank"] == "structural" and not is_open:
        return {None, NOT_APPLICABLE}
    return {None, MISSING} if case.is_category else None


def agreeing_paths(
    paths: list[Answers],
    case: Case,
    row: dict[str, str | None],
    blank: str,
) -> list[Answers]:
    """Return the paths that agree with the cells of a row."""
    agree = {
        variable: meaning(case, text, blank, is_open=gate_state(case, row, variable))
        for variable, text in row.items()
    }
    return [
        (answers, p)
        for answers, p in paths
        if all(labels is None or answers.get(v) in labels for v, labels in agree.items())
    ]


# =============================================================================
# What a blank means
# =============================================================================


@pytest.mark.slow
@run(2)
@given(data=st.data())
def test_rows_have_the_probability_of_the_paths_that_agree(
    database: Database, data: st.DataObject
) -> None:
    case = draw_case(database, data)
    paths = paths_of(case.ceg)
    known = {v: sorted({a[v] for a, _ in paths if v in a}) for v in case.order}
    cells = {v: st.sampled_from([None, None, *known[v], "?", "-"]) for v in case.order}
    rows = data.draw(st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=6))
    frame = pd.DataFrame(rows, columns=case.order, dtype=object)
    for blank in ("tree", "unknown"):
        found = case.ceg.assign(frame, blank=blank).rows
        told = case.ceg.complete(frame, blank=blank).labels
        for i, row in enumerate(rows):
            left = agreeing_paths(paths, case, row, blank)
            total = math.fsum(p for _, p in left)
            assert math.exp(found.log_likelihood[i]) == pytest.approx(total, **CLOSE)
            of_row = told[told.row_number == i + 1]
            for variable, of_variable in of_row.groupby("variable"):
                want: dict[str, float] = {}
                for answers, p in left:
                    label = answers.get(str(variable), NOT_APPLICABLE)
                    want[label] = want.get(label, 0.0) + p / total
                have = of_variable.set_index("label").probability.to_dict()
                assert have == pytest.approx(want, **CLOSE)


SOME = [("a", None, "x"), ("b", "p", "x"), ("b", "q", "y"), ("b", "?", "x"), ("c", "-", "y")]
UNGATED = [("auto", "prefix"), ("structural", "complete"), ("missing", "category")]


@pytest.mark.slow
@pytest.mark.parametrize(("of_tree", "policy"), [*UNGATED, ("auto", "category")])
def test_a_gate_decides_before_blanks_and_a_blank_may_be_unknown(
    database: Database, of_tree: Any, policy: Any
) -> None:
    order = ["V0", "V1", "V2"]
    some = [row for row in SOME for _ in range(5)]
    frame = pd.DataFrame([*some, ("b", None, "y"), ("d", None, "x")], columns=order)
    cells = {"V0": ["a", "b", "d", None], "V1": ["p", "q", "?", "-", None], "V2": ["x", None]}
    rows = [dict(zip(order, row, strict=True)) for row in itertools.product(*cells.values())]
    asked = pd.DataFrame(rows, columns=order, dtype=object)
    # Without gates test_assign.py has the pairs of these settings; here is each value once.
    is_gated = [True] if (of_tree, policy) not in UNGATED else [False, True]
    for gates in [{"V1": ("V0", "b")} if gate else {} for gate in is_gated]:
        rules = {v: f"{by} = '{label}'" for v, (by, label) in gates.items()}
        book = {"variables": {"V1": {"missing": ["?"], "structural": ["-"]}}, "gates": rules}
        survey = database.ingest(frame, "some", codebook=book, replace=True)
        tree = survey.event_tree(blank=of_tree, missing_policy=policy, sampling_zeros="none")
        ceg = tree.learn_stages(alpha=2, prior="mass", criterion="score").to_ceg()
        case = Case(order, gates, {"blank": of_tree, "missing_policy": policy}, ceg)
        paths = paths_of(ceg)
        for blank in ("tree", "unknown"):
            of_rows = [agreeing_paths(paths, case, row, blank) for row in rows]
            want = [math.fsum(p for _, p in left) for left in of_rows]
            found = ceg.assign(asked, blank=blank).rows.log_likelihood
            assert [math.exp(x) for x in found] == pytest.approx(want, **CLOSE)
        if gates:
            possible = [i for i, p in enumerate(want) if p > 0]
            assert possible
            score = ceg.score(asked.iloc[possible], blank="unknown")
            assert score.total == pytest.approx(math.fsum(math.log(want[i]) for i in possible))


@pytest.mark.slow
def test_a_blank_behind_an_open_gate_may_be_unknown(db: Database) -> None:
    rows = [("a", None, "x"), ("b", "p", "x"), ("b", "q", "y")]
    frame = pd.DataFrame([row for row in rows for _ in range(5)], columns=["V0", "V1", "V2"])
    survey = db.ingest(frame, "gated", codebook={"gates": {"V1": "V0 = 'b'"}})
    tree = survey.event_tree(missing_policy="category", sampling_zeros="none")
    ceg = tree.learn_stages(alpha=2, prior="mass", criterion="score").to_ceg()
    asked = pd.DataFrame([("b", None, "x")], columns=["V0", "V1", "V2"])
    of_unknown = ceg.assign(asked, blank="unknown").rows
    assert of_unknown.log_likelihood[0] == pytest.approx(math.log(11 / 17 / 2))
    assert of_unknown.completion[0] == "V1 = p"
    assert ceg.score(asked, blank="unknown").total == of_unknown.log_likelihood[0]
    labels = ceg.complete(asked, "V1", blank="unknown").labels
    assert labels[["label", "probability"]].to_numpy().tolist() == [["p", 1.0]]
    of_b = ceg.given(V2="x").probability(V0="b")
    metrics = ceg.classify(asked, "V0", blank="unknown").metrics
    assert metrics.log_loss == pytest.approx(-math.log(of_b))
    table = ceg.calibration(asked, "V0", bins=None, blank="unknown")
    assert table[table.label == "b"].predicted.item() == pytest.approx(of_b)
    # As in the tree, an empty cell is a missing answer, which nobody with V0 = b gave.
    assert ceg.score(asked).n_impossible == 1


# =============================================================================
# What is written is read back
# =============================================================================


def sampled_paths(case: Case, rows: pd.DataFrame) -> list[float]:
    """Return the log of the probability of the path that each sampled row describes."""
    of_path = {
        tuple(sorted((v, x) for v, x in answers.items() if x != NOT_APPLICABLE)): p
        for answers, p in paths_of(case.ceg)
    }
    cells = rows.astype(object).where(rows.notna(), NOT_APPLICABLE)
    return [
        math.log(of_path[tuple(sorted((v, x) for v, x in row.items() if x != NOT_APPLICABLE))])
        for row in cells.to_dict("records")
    ]


@pytest.mark.slow
@run(2)
@given(data=st.data())
def test_sampled_rows_have_the_probability_of_their_path(
    database: Database, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = draw_case(database, data)
    rows = case.ceg.sample(30, seed=data.draw(st.integers(0, 9)))
    want = sampled_paths(case, rows)
    file = tmp_path_factory.mktemp("rows") / data.draw(st.sampled_from(["r.csv", "r.parquet"]))
    database.write(rows, file)
    for source in (rows, file):
        found = case.ceg.assign(source).rows
        assert found.log_likelihood.tolist() == pytest.approx(want, **CLOSE)
        assert found.unseen.isna().all()
        # Only what is unknown is completed: below an answer that nobody gave.
        assert rows[found.completion.notna()].isna().any(axis=1).all()
    assert case.ceg.score(rows).total == pytest.approx(math.fsum(want))
    answers, _ = data.draw(st.sampled_from(paths_of(case.ceg)))
    known = data.draw(st.sampled_from(sorted(answers.items())))
    if known[1] != NOT_APPLICABLE:
        given_it = case.ceg.given(dict([known]))
        rows_of_it = given_it.sample(10, seed=1)
        total = math.log(case.ceg.probability(dict([known])))
        want_of_it = math.fsum(sampled_paths(case, rows_of_it)) - 10 * total
        assert given_it.score(rows_of_it).total == pytest.approx(want_of_it, abs=1e-9)
    variable = data.draw(st.sampled_from(list(rows.columns)))
    n_blank = int(rows[variable].isna().sum())
    if case.is_category or n_blank < 30:
        metrics = case.ceg.classify(rows, variable).metrics
        assert (metrics.n + metrics.n_unknown, metrics.n_impossible) == (30, 0)
        assert metrics.n_unknown <= (0 if case.is_category else n_blank)
        assert math.isfinite(metrics.log_loss)
    if len(rows.columns) > 1:
        told = case.ceg.complete(rows.drop(columns=variable), variable).labels
        assert told.groupby("row_number").probability.sum().to_numpy() == pytest.approx(1)


DECLARED = [
    ("a", "-", "x"),
    ("b", "p", "x"),
    ("b", "-", "y"),
    ("b", "?", "y"),
    ("b", None, "x"),
    ("c", "q", "y"),
]
LEFT_BLANK = [
    ("a", None, "x"),
    ("b", "p", "x"),
    ("b", "q", "y"),
    ("b", "?", "y"),
    ("c", "q", "x"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "form", "policy"),
    [
        pytest.param(DECLARED, "frame", "prefix", id="declared-frame-prefix"),
        pytest.param(DECLARED, "csv", "complete", id="declared-csv-complete"),
        pytest.param(DECLARED, "parquet", "category", id="declared-parquet-category"),
        pytest.param(LEFT_BLANK, "frame", "category", id="blank-frame-category"),
        pytest.param(LEFT_BLANK, "csv", "prefix", id="blank-csv-prefix"),
        pytest.param(LEFT_BLANK, "parquet", "complete", id="blank-parquet-complete"),
    ],
)
def test_sampled_rows_are_appended_as_the_paths_they_are(
    db: Database, written: list[Any], form: str, policy: Any, tmp_path: Path
) -> None:
    frame = pd.DataFrame([row for row in written for _ in range(6)], columns=["V0", "V1", "V2"])
    survey = db.ingest(
        frame, "some", missing=["?"], structural=["-"] if "-" in {*frame.V1} else []
    )
    tree = survey.event_tree(missing_policy=policy, sampling_zeros="none")
    ceg = tree.learn_stages(alpha=2, prior="mass", criterion="score").to_ceg()
    rows = ceg.sample(300, seed=1)
    walked = ceg.assign(rows).paths.dropna(subset="label")
    walked = walked.rename(columns={"situation": "source"}).groupby(["source", "label"]).size()
    source: Any = rows if form == "frame" else db.write(rows, tmp_path / f"rows.{form}")
    survey.append(source)
    again = survey.event_tree(missing_policy=policy, name="again", sampling_zeros="none")
    before, after = (one.edges.set_index(["source", "label"]).n for one in (tree, again))
    assert after.index.equals(before.index)
    assert (after - before).to_dict() == walked.reindex(before.index, fill_value=0).to_dict()
    labels = survey.variables[survey.variables.variable == "V1"].label
    assert labels.is_unique
    assert (
        again.learn_stages(alpha=2, prior="mass", criterion="score")
        .to_ceg()
        .score(rows)
        .n_impossible
        == 0
    )


@pytest.mark.slow
def test_a_refresh_reads_the_labels_of_cells_without_an_answer(db: Database) -> None:
    frame = pd.DataFrame(DECLARED * 6, columns=["V0", "V1", "V2"])
    survey = db.ingest(frame, "some", missing=["?"], structural=["-"])
    tree = survey.event_tree(missing_policy="category", sampling_zeros="none")
    rows = (
        tree.learn_stages(alpha=2, prior="mass", criterion="score").to_ceg().sample(500, seed=1)
    )
    survey.refresh(rows)
    kinds = survey.variables.query("variable == 'V1' and n > 0").set_index("label").kind
    assert kinds.to_dict() == {
        "p": "value", "q": "value", "?": "missing", "missing": "missing",
        NOT_APPLICABLE: "structural",
    }  # fmt: skip
    assert "labels of cells without an answer are read as such" in str(survey.receipt)


@pytest.mark.slow
def test_labels_that_a_staging_gave_are_read_back(db: Database) -> None:
    rows = [("a", "ok", "x"), ("a", "bad", "y"), ("b", "ok*", "x"), ("b", "bad", "y")] * 5
    frame = pd.DataFrame(rows, columns=["V0", "V1", "V2"])
    same = {"variables": {"V1": {"same": [["ok", "ok*"]]}}}
    of_book = (
        db.ingest(frame, "same", codebook=same)
        .event_tree(sampling_zeros="none")
        .learn_stages(alpha=2, prior="mass", criterion="score")
    )
    staged = db.ingest(frame, "relabelled").event_tree(sampling_zeros="none")
    relabel: Any = {"ok*": "ok", ("V1", "bad"): "ill"}
    for model in (
        of_book,
        staged.learn_stages(alpha=2, relabel=relabel, prior="mass", criterion="score"),
    ):
        for one in (model, model.to_ceg()):
            sampled = one.sample(50, seed=1)
            found = one.assign(sampled)
            assert found.rows.unseen.isna().all()
            rows = sampled.assign(found=found.rows.log_likelihood.tolist()).drop_duplicates()
            for *cells, log_likelihood in rows.itertuples(index=False):
                row = dict(zip(sampled.columns, cells, strict=True))
                assert log_likelihood == pytest.approx(math.log(one.probability(row)))
            # The paths lead to leaves, and a label of the tree still means what it meant.
            assert found.paths.groupby("row_number").size().tolist() == [4] * 50
            assert one.score(frame).n_impossible == 0


def test_intervals_of_bins_are_read_back(db: Database) -> None:
    frame = pd.DataFrame({"age": range(40), "ill": [i % 3 for i in range(40)]})
    survey = db.ingest(frame, "ages", bins={"age": [10, 20]})
    rows = (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(alpha=2, prior="mass", criterion="score")
        .to_ceg()
        .sample(60, seed=1)
    )
    survey.append(rows)
    n = survey.variables.query("variable == 'age' and kind == 'value'").set_index("label").n
    drawn = rows.age.value_counts()
    assert n.to_dict() == {"<10": 10 + drawn["<10"], "[10, 20)": 10 + drawn["[10, 20)"],
                           ">=20": 20 + drawn[">=20"]}  # fmt: skip
