"""Synthetic rows: their distribution, labels and seed, and the command `cegdb sample`."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cegs import RandomCeg
from strategies import StagedSample, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.demo import DEMOS
from cegdb.errors import QueryError
from cegdb.evidence import All
from cegdb.inference.queries import condition
from cegdb.inference.sampling import Absences
from cegdb.inference.sampling import sample as draw

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database

HOSTILE = ["", " lead", "NA", "NULL", '"q",x', "new\nline", "it's", "1e5", "01", "é 😀", "a=b"]


def make_chds(db: Database) -> ChainEventGraph:
    order = ["Social", "Economic", "Events", "Admission"]
    survey = db.ingest(DEMOS["chds"].select(), name="chds", count="people")
    return (
        survey.event_tree(order=order, sampling_zeros="none")
        .learn_stages(alpha=3, prior="mass", criterion="score")
        .to_ceg()
    )


@pytest.fixture(scope="module")
def chds(database: Database) -> ChainEventGraph:
    return make_chds(database)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(sample=staged_trees(jumps=True), seed=st.integers(0, 9))
def test_shares_of_all_paths_lie_within_errors_of_their_probabilities(
    sample: StagedSample, seed: int
) -> None:
    n = 20_000
    tree = RandomCeg(sample, seed)
    names = [variable.name for variable in tree.compiled.variables]
    found: Counter[tuple[str, ...]] = Counter()
    absences = dict.fromkeys(names, Absences(asked_is_labelled=True, skipped_is_labelled=True))
    drawn = draw(condition(tree.compiled, All(())), n, seed, absences)
    cells = [np.array([*labels, "not applicable"])[code] for _, code, labels in drawn]
    found.update(zip(*(column.tolist() for column in cells), strict=True))
    for path, probability in tree.paths():
        of = tuple(path.get(name, "not applicable") for name in names)
        error = np.sqrt(probability * (1 - probability) / n)
        assert abs(found.pop(of, 0) / n - probability) <= 5 * error + 1e-12
    assert not found  # no other answers than those of a path


@pytest.mark.slow
def test_stages_of_a_large_sample_have_the_probabilities_of_the_ceg(
    db: Database, chds: ChainEventGraph
) -> None:
    ceg = chds
    again = db.ingest(ceg.sample(1_000_000, seed=1), name="again").event_tree(
        sampling_zeros="none"
    )
    positions = ceg.situation_positions[["path", "position"]]
    edges = again.edges.merge(
        again.situations[["vertex_id", "path"]], left_on="parent_id", right_on="vertex_id"
    ).merge(positions, on="path")
    n = edges.groupby(["position", "label"])["n"].sum()
    total = n.groupby("position").transform("sum")
    expected = ceg.edges.set_index(["source", "label"])["probability"].reindex(n.index)
    error = np.sqrt(expected * (1 - expected) / total)
    assert ((n / total - expected).abs() < 4 * error).all()


def test_the_same_seed_gives_the_same_rows_and_another_one_others(
    chds: ChainEventGraph,
) -> None:
    ceg = chds
    first = ceg.sample(500, seed=3)
    pd.testing.assert_frame_equal(first, ceg.sample(500, seed=3))
    assert not first.equals(ceg.sample(500, seed=4))
    drawn = ceg.sample(500)
    assert ceg.sample(500, seed=drawn.attrs["seed"]).equals(drawn)


def test_rows_given_evidence_agree_with_it(chds: ChainEventGraph) -> None:
    given = chds.given({"Admission": "Yes"})
    rows = given.sample(50_000, seed=1)
    assert set(rows["Admission"]) == {"Yes"}
    expected = given.marginals("Social").set_index("label")["probability"]
    found = rows["Social"].value_counts(normalize=True)
    assert (found - expected).abs().max() < 4 * np.sqrt(0.25 / 50_000)


def hostile(db: Database) -> ChainEventGraph:
    labels = [label for label in HOSTILE if label]
    frame = pd.DataFrame(
        {
            'say "x", y': np.repeat(labels, 12),
            "X": np.tile(["u", "v", "w"], 4 * len(labels)),
            "x": np.tile([*labels, *labels], 6),
        }
    )
    return (
        db.ingest(frame, name="hostile")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_hostile_labels_come_back_as_they_were(db: Database, form: str, tmp_path: Path) -> None:
    ceg = hostile(db)
    rows = ceg.sample(4000, seed=2)
    columns = list(rows.columns) if form == "frame" else ['say "x", y', "X"]
    rows = rows[columns]
    source: Any = rows if form == "frame" else db.write(rows, tmp_path / f"rows.{form}")
    again = db.ingest(source, name="again")
    labels = again.variables.query("kind == 'value'").groupby("variable")["label"].agg(set)
    for name in columns:
        assert labels[name] == set(rows[name].astype(str))
    n = again.variables.query("variable == 'X' and kind == 'value'").set_index("label")["n"]
    assert n.to_dict() == rows["X"].value_counts().to_dict()


@pytest.mark.slow
def test_a_cell_is_blank_where_its_variable_does_not_occur(db: Database) -> None:
    gate = (
        "select if(i % 3 = 0, 'no', 'yes') as smokes, "
        "if(i % 3 = 0, null, (i % 2)::varchar) as a_day, i % 5 < 2 as ill from range(300) t(i)"
    )
    ceg = (
        db.ingest(gate)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    rows = ceg.sample(2000, seed=1)
    assert (rows["a_day"].isna() == (rows["smokes"] == "no")).all()
    assert set(rows["a_day"].cat.categories) == {"0", "1"}
    again = db.ingest(rows, name="again").event_tree(sampling_zeros="none")
    assert (
        again.learn_stages(prior="mass", criterion="score")
        .to_ceg()
        .probability(a_day="not applicable")
        > 0.25
    )


def test_what_cannot_be_drawn_is_refused(chds: ChainEventGraph) -> None:
    ceg = chds
    for n in (0, -1, 2.5, "10", True):
        with pytest.raises(QueryError, match="n, the number of rows, must be a whole number"):
            ceg.sample(n)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="too many"):
        ceg.sample(10**12)
    for seed in (-1, 1.5, "x"):
        with pytest.raises(QueryError, match="seed must be a whole number"):
            ceg.sample(10, seed=seed)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_position_that_asks_several_variables_is_refused(db: Database) -> None:
    rows = (
        "select if(i % 2 = 0, 'a', 'b') as x, if(i % 2 = 0, (i % 3 < 1)::varchar, null) as y, "
        "if(i % 2 = 0, null, (i % 3 < 1)::varchar) as z from range(600) t(i)"
    )
    tree = db.ingest(rows).event_tree(sampling_zeros="none")
    ceg = tree.learn_stages(hyperstages="labels", prior="mass", criterion="score").to_ceg()
    with pytest.raises(QueryError, match="situations with different variables"):
        ceg.sample(10)


@pytest.mark.slow
def test_the_command_writes_rows(tmp_path: Path) -> None:
    path, out = tmp_path / "s.duckdb", tmp_path / "rows.parquet"
    with cegdb.open(path) as db:
        expected = make_chds(db).given(Social="High").sample(200, seed=1)

    def call(*more: str) -> Any:
        return CliRunner().invoke(main, ["sample", str(path), "chds", *more])

    found = call("--given", "social=high", "-n", "200", "--seed", "1")
    assert found.exit_code == 0, found.output
    assert pd.read_csv(io.StringIO(found.stdout)).astype(object).equals(expected.astype(object))
    assert found.stderr == ""
    written = call("--given", "social=high", "-n", "200", "--seed", "1", "-o", str(out))
    assert written.exit_code == 0, written.output
    assert pd.read_parquet(out).astype(object).equals(expected.astype(object))
    assert call("-n", "5").stderr.startswith("seed: ")
    assert "is not VARIABLE=LABEL" in call("--given", "Social", "-n", "5").stderr
    assert "unknown file type '.xls' (rows.xls)" in call("-n", "5", "-o", "rows.xls").stderr
