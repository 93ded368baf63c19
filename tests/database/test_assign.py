"""Rows assigned, completed, scored by a CEG: against all its paths, and all kinds of cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from datasets import survey_file
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK, NOT_APPLICABLE, labels
from strategies import StagedSample, run, staged_trees

import cegdb
from cegdb.api.results import Assigned, Completed, write_or_return
from cegdb.cli import main
from cegdb.errors import CegdbError, NameTakenError, QueryError, SurveyError
from cegdb.inference.row_answers import RowSource, assign_rows, complete_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database

CLOSE = {"rel": 1e-11, "abs": 1e-13}


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with cegdb.open() as database:
        yield database


# =============================================================================
# The oracle: every path, one by one
# =============================================================================


class Step(NamedTuple):
    variable: str
    label: str
    probability: float


def ceg_of(db: Database, sample: StagedSample) -> ChainEventGraph:
    rows = [
        {v: None if cell is BLANK else cell for v, cell in row.items()} | {"n": n}
        for row, n in sample.rows
    ]
    survey = db.ingest(pd.DataFrame(rows), "s", count="n", replace=True)
    tree = survey.event_tree(order=sample.order, sampling_zeros="none")
    stages: dict[tuple[object, ...], object] = {
        labels(path): name for path, name in sample.stage.items()
    }
    return tree.set_stages(stages, prior="mass").to_ceg()


def paths_of(db: Database, ceg: ChainEventGraph) -> list[list[Step]]:
    """Return every path of a CEG, in level order."""
    _, rows = db.rows(
        "select v.name, l.label, l.level_id from cegdb.variable as v "
        "join cegdb.level as l using (variable_id) where l.kind = 'value'",
        {},
    )
    place = {(v, label): i for v, label, i in rows}
    out: dict[str, list[tuple[str, Step]]] = {}
    for edge in ceg.edges.to_dict("records"):
        step = Step(edge["variable"], edge["label"], edge["probability"])
        out.setdefault(edge["source"], []).append((edge["target"], step))
    for edges in out.values():
        edges.sort(key=lambda e: place.get((e[1].variable, e[1].label), 10**9))
    found: list[list[Step]] = []

    def walk(position: str, path: list[Step]) -> None:
        if position == "w_inf":
            found.append(path)
            return
        for target, step in out[position]:
            walk(target, [*path, step])

    walk("w0", [])
    return found


def agrees(path: list[Step], row: dict[str, str]) -> bool:
    on = {step.variable: step.label for step in path}
    return all(on.get(variable) == label for variable, label in row.items())


def mass(paths: list[list[Step]]) -> float:
    return math.fsum(math.prod(step.probability for step in path) for path in paths)


def best_of(paths: list[list[Step]]) -> list[Step]:
    most = max(mass([path]) for path in paths)
    return next(path for path in paths if mass([path]) >= most * (1 - 1e-12))


def path_of_row(
    edges: pd.DataFrame, known: pd.DataFrame, row: dict[str, str], order: list[str]
) -> list[tuple[Any, ...]]:
    """Walk the tree by the answers of a row; an edge that jumps over one is not taken."""
    found: list[tuple[Any, ...]] = []
    vertex, depth = 0, 0
    while vertex in known.index:
        at = known.loc[vertex]
        label = row.get(at.variable)
        child = None
        for edge in edges[edges.parent_id == vertex].itertuples():
            if edge.label == label:
                child = edge.child_id
        if child is not None:
            below = known.variable.get(child)
            end = order.index(below) if below is not None else len(order)
            jumped = [v in row for v in order[order.index(at.variable) + 1 : end]]
            # A row that lacks an answer may have ended in a leaf, whatever comes later.
            if any(jumped) and (below is not None or jumped[0]):
                child = None
        told = label if child is not None else None
        found.append((depth, at.variable, told, at.situation, at.stage, at.position))
        if child is None:
            return found
        vertex, depth = child, depth + 1
    return [*found, (depth, None, None, None, None, "w_inf")]


def none(value: object) -> object:
    return None if value is None or value is pd.NA or value != value else value


def values(column: Any) -> list[object]:
    return [none(value) for value in column]


def rows_for(data: st.DataObject, order: list[str], known: dict[str, list[str]]) -> Any:
    cells = {v: st.sampled_from([None, None, *known[v] * 2, "never"]) for v in order}
    return data.draw(st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=5))


# =============================================================================
# Against the oracle
# =============================================================================


@pytest.mark.slow
@run(3)
@given(sample=staged_trees(jumps=True), data=st.data())
def test_rows_are_answered_as_by_all_paths(
    db: Database, sample: StagedSample, data: st.DataObject
) -> None:
    ceg = ceg_of(db, sample)
    paths = paths_of(db, ceg)
    known: dict[str, list[str]] = {v: [] for v in sample.order}
    for path in paths:
        for step in path:
            if step.label not in known[step.variable]:
                known[step.variable].append(step.label)
    rows = rows_for(data, sample.order, known)
    frame = pd.DataFrame(rows, columns=sample.order, dtype=object)
    found = ceg.assign(frame)
    told = ceg.complete(frame).labels
    edges = db.sql("select * from cegdb.tree_edges where tree = 's'")
    known_at = ceg.situation_positions.set_index("vertex_id")
    for i, cells in enumerate(rows, 1):
        row = {v: cells[v] for v in sample.order if cells[v] is not None}
        left = [path for path in paths if agrees(path, row)]
        got = found.rows[found.rows.row_number == i].iloc[0]
        assert got.n_answered == len(row)
        unseen = [f"{v} = {x}" for v, x in row.items() if x not in known[v]]
        assert none(got.unseen) == (unseen[0] if unseen else None)
        assigned = found.paths[found.paths.row_number == i]
        columns = ["depth", "variable", "label", "situation", "stage", "position"]
        walked = [tuple(map(none, r)) for r in assigned[columns].itertuples(index=False)]
        assert walked == path_of_row(edges, known_at, row, sample.order)
        assert got.last_position == walked[-1][-1]
        assert got.last_situation == [w[3] for w in walked if w[3]][-1]
        of_row = told[told.row_number == i]
        total = mass(left)
        if not left:
            assert got.log_likelihood == -math.inf
            assert none(got.completion) is None
            assert none(got.completion_probability) is None
            assert of_row.empty
            continue
        assert math.exp(got.log_likelihood) == pytest.approx(total, **CLOSE)
        best = best_of(left)
        words = ", ".join(f"{s.variable} = {s.label}" for s in best if s.variable not in row)
        assert none(got.completion) == (words or None)
        assert got.completion_probability == pytest.approx(mass([best]) / total, **CLOSE)
        for variable in set(sample.order) - set(row):
            want: dict[str, float] = {}
            for path in left:
                label = {s.variable: s.label for s in path}.get(variable, NOT_APPLICABLE)
                want[label] = want.get(label, 0.0) + mass([path]) / total
            have = of_row[of_row.variable == variable].set_index("label").probability
            assert have.to_dict() == pytest.approx(want, **CLOSE)
            assert have.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.slow
@run(2)
@given(sample=staged_trees(jumps=True), data=st.data())
def test_the_survey_itself_is_where_its_counts_say(
    db: Database, sample: StagedSample, data: st.DataObject
) -> None:
    ceg = ceg_of(db, sample)
    lines = [
        {v: None if cell is BLANK else cell for v, cell in row.items()}
        for row, n in sample.rows
        for _ in range(n)
    ]
    lines = data.draw(st.permutations(lines))
    paths = ceg.assign(pd.DataFrame(lines, columns=sample.order)).paths
    counted = paths.groupby("position").size().to_dict()
    positions = ceg.positions.set_index("position").n
    assert counted == positions[positions > 0].to_dict()
    situations = ceg.situation_positions.set_index("situation").n
    assert paths.groupby("situation").size().to_dict() == situations.to_dict()


@pytest.mark.slow
@run(2)
@given(sample=staged_trees(jumps=True), data=st.data())
def test_given_evidence_rows_are_answered_by_what_is_left(
    db: Database, sample: StagedSample, data: st.DataObject
) -> None:
    ceg = ceg_of(db, sample)
    paths = paths_of(db, ceg)
    known = data.draw(st.sampled_from(paths))
    step = data.draw(st.sampled_from(known))
    left = [path for path in paths if agrees(path, {step.variable: step.label})]
    one = data.draw(st.sampled_from(left))
    row = {s.variable: s.label for s in one if data.draw(st.booleans())}
    frame = pd.DataFrame([row], columns=sample.order, dtype=object)
    score = ceg.given({step.variable: step.label}).score(frame)
    both = mass([path for path in left if agrees(path, row)])
    assert math.exp(score.total) == pytest.approx(both / mass(left), **CLOSE)


@pytest.mark.slow
def test_combinations_answered_in_blocks_are_answered_alike(db: Database) -> None:
    rows = "select i % 5 as a, i * i % 7 as b, i % 3 as c from range(300) t(i)"
    ceg = (
        db.ingest(rows, "parts")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    partly = (
        "select if(i % 4 = 0, null, i % 5) as a, if(i % 3 = 0, null, i * i % 7) as b, "
        "if(i % 2 = 0, null, i % 3) as c from range(120) t(i)"
    )
    whole = ceg.assign(partly), ceg.complete(partly)
    store, origin, given = ceg._store, (ceg.kind, ceg.id), ceg._compiled()
    source = RowSource(partly, block_sizes=(1, 7))
    opened = assign_rows(store, given, origin, source)
    assigned = Assigned(*write_or_return(store, opened, "paths", None, None, replace=False))
    opened = complete_rows(store, given, origin, source, None)
    completed = Completed(*write_or_return(store, opened, "labels", None, None, replace=False))
    pd.testing.assert_frame_equal(assigned.rows, whole[0].rows)
    pd.testing.assert_frame_equal(assigned.paths, whole[0].paths)
    pd.testing.assert_frame_equal(completed.labels, whole[1].labels)
    assert not whole[0].paths.duplicated(["row_number", "depth"]).any()


# =============================================================================
# Cells
# =============================================================================

SURVEY = """
select * from (values
  ('1', '1', '10', 'good'), ('1', '1', '20', 'bad'), ('1', '1', '20', 'bad'),
  ('0', '0', null, 'good'), ('0', '0', null, 'bad'), ('0', '0', null, 'good'),
  ('1', '9', null, 'good'), ('1', '1', null, 'good'), ('0', '7', null, 'bad')
) as t(sex, smoker, cigs, health)
"""
BOOK = {
    "variables": {
        "sex": {"values": {"1": "male", "0": "female"}},
        "smoker": {"values": {"1": "now", "0": "never"}, "missing": {"9": "refused"}},
        "cigs": {"bins": "15", "structural": ["-1"]},
    },
    "gates": {"cigs": "smoker = 'now'"},
}


@pytest.fixture(scope="module")
def coded(db: Database) -> ChainEventGraph:
    survey = db.ingest(SURVEY, "coded", codebook=BOOK)
    return (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(alpha=2, prior="mass", criterion="score")
        .to_ceg()
    )


@pytest.mark.slow
def test_codes_and_labels_gates_and_bins_mean_what_they_meant(coded: ChainEventGraph) -> None:
    rows = pd.DataFrame(
        {
            " SEX": ["1", "male", 0.0, "0", None],
            "smoker": [1, "now", 0, "7", 9],
            "Cigs ": ["12", 14.5, 99, None, None],
            "other": [1, 2, 3, 4, 5],
        }
    )
    found = coded.assign(rows, keep=["other"])
    one, two = (found.rows.loc[i, ["log_likelihood", "last_position"]] for i in (0, 1))
    assert one.equals(two)
    assert found.rows.other.tolist() == [1, 2, 3, 4, 5]
    # The gate closes the cigarettes of one who never smoked.
    third = found.paths[found.paths.row_number == 3]
    assert values(third.label) == ["female", "never", None]
    assert math.isfinite(found.rows.log_likelihood[2])
    assert found.rows.n_answered.tolist()[2:] == [2, 2, 0]
    assert "not in the source: health" in found.summary


def test_the_survey_of_a_codebook_is_where_its_counts_say(coded: ChainEventGraph) -> None:
    paths = coded.assign(SURVEY).paths
    situations = coded.situation_positions.set_index("situation").n
    assert paths.groupby("situation").size().to_dict() == situations.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("blank", ["auto", "structural", "missing"])
@pytest.mark.parametrize("policy", ["prefix", "category"])
def test_blanks_mean_what_they_mean_in_the_tree(db: Database, blank: Any, policy: Any) -> None:
    rows = (
        "select * from (values ('u', null, 'p'), ('u', null, 'q'), ('u', 'x', null), "
        "('u', '?', 'q'), ('v', null, 'p'), ('v', null, 'p'), ('v', null, 'q'), "
        "('v', null, null), ('v', null, 'q'), ('w', '?', 'p'), ('w', 'n/a', 'p'), "
        "('w', 'y', '?')) as t(a, b, c)"
    )
    survey = db.ingest(rows, "blanks", missing=["?"], structural=["n/a"], replace=True)
    tree = survey.event_tree(blank=blank, missing_policy=policy, sampling_zeros="none")
    ceg = tree.learn_stages(prior="mass", criterion="score").to_ceg()
    paths = ceg.assign(rows).paths
    situations = ceg.situation_positions.set_index("situation").n
    assert paths.groupby("situation").size().to_dict() == situations.to_dict()
    positions = ceg.positions.set_index("position").n
    assert paths.groupby("position").size().to_dict() == positions[positions > 0].to_dict()
    unknown = ceg.assign("select 'u' as a, null as b, null as c", blank="unknown")
    assert unknown.rows.n_answered.tolist() == [1]
    assert math.exp(unknown.rows.log_likelihood[0]) == pytest.approx(ceg.probability(a="u"))


@pytest.mark.slow
def test_labels_a_staging_gave_do_not_change_how_rows_are_read(db: Database) -> None:
    rows = (
        "select ['lo', 'mid', 'hi'][1 + i % 3] as risk, i % 4 < 2 as fall from range(24) t(i)"
    )
    tree = db.ingest(rows, "relabelled", replace=True).event_tree(sampling_zeros="none")
    ceg = tree.learn_stages(relabel={"mid": "middle"}, prior="mass", criterion="score").to_ceg()
    found = ceg.assign("select 'mid' as risk")
    assert math.exp(found.rows.log_likelihood[0]) == pytest.approx(
        ceg.probability(risk="middle")
    )
    assert values(found.paths.label) == ["middle", None]


@pytest.mark.slow
def test_hostile_names_and_labels_are_data(db: Database) -> None:
    name = 'a "q" \'; drop table x; --, é'
    frame = pd.DataFrame({name: ["'", '"', "'", "$x"] * 5, "select": ["%", "{}", "%", ";"] * 5})
    ceg = (
        db.ingest(frame, "hostile", replace=True)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    frame['k"1'] = range(20)
    found = ceg.assign(frame, keep=['k"1'])
    assert found.rows['k"1'].tolist() == list(range(20))
    assert np.isfinite(found.rows.log_likelihood).all()
    assert set(values(found.paths.variable)) == {name, "select", None}


@pytest.mark.slow
def test_many_texts_are_read_and_counted(db: Database) -> None:
    rows = "select 'a' || (i % 400) as many, i % 2 as x from range(1600) t(i)"
    ceg = (
        db.ingest(rows, "many", replace=True)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    found = ceg.assign("select 'a' || (i % 410) as many, i % 2 as x from range(820) t(i)")
    assert int(np.isinf(found.rows.log_likelihood).sum()) == 20
    assert "many = a400 (2 rows)" in found.summary


# =============================================================================
# Sources, targets, refusals
# =============================================================================


@pytest.fixture(scope="module")
def small(db: Database) -> ChainEventGraph:
    rows = "select i % 2 as x, i % 8 < 3 as y, i % 3 as z from range(80) t(i)"
    return (
        db.ingest(rows, "small")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )


@pytest.mark.slow
def test_every_kind_of_source_gives_the_same(small: ChainEventGraph, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [5, 6, 7], "x": [1, None, 0], "y": [True, False, None]})
    frame.x = frame.x.astype("Int64")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    import pyarrow as pa

    query = "select * from (values (5, 1, true), (6, null, false), (7, 0, null)) as t(id, x, y)"
    wanted = small.assign(frame, keep=["id"]).rows.drop(columns="id")
    assert wanted.n_answered.tolist() == [2, 1, 1]
    for source in (
        tmp_path / "rows.csv",
        str(tmp_path / "rows.parquet"),
        query,
        pa.Table.from_pandas(frame),
        [tmp_path / "rows.csv", tmp_path / "rows.parquet"],
    ):
        rows = small.assign(source, keep=["id"]).rows
        if isinstance(source, list):
            assert rows.id.tolist() == ["5", "6", "7"] * 2
            rows = rows[:3]
        else:
            assert rows.id.astype(int).tolist() == [5, 6, 7]
        pd.testing.assert_frame_equal(rows.drop(columns="id"), wanted)


@pytest.mark.slow
def test_labelled_files_workbooks_and_odd_files_are_read(db: Database, tmp_path: Path) -> None:
    import pyreadstat

    frame = pd.DataFrame(
        {"id": range(40), "sex": [1.0, 2.0] * 20, "vote": [1.0, 2, 2, 1, 9] * 8}
    )
    file = tmp_path / "s.sav"
    meaning = {"sex": {1: "male", 2: "female"}, "vote": {1: "yes", 2: "no"}}
    pyreadstat.write_sav(frame, str(file), variable_value_labels=meaning)
    survey = db.ingest(file, "labelled", columns=["sex", "vote"], missing={"vote": ["9"]})
    ceg = (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    paths = ceg.assign(file, keep=["id"]).paths
    situations = ceg.situation_positions.set_index("situation").n
    assert paths.groupby("situation").size().to_dict() == situations.to_dict()
    wanted = ceg.assign(pd.DataFrame({"sex": ["male", "2"], "vote": ["1", "no"]})).rows
    assert np.isfinite(wanted.log_likelihood).all()
    # Another file may give other codes to the labels.
    swapped = {"sex": {2: "male", 1: "female"}, "vote": {1: "no", 2: "yes"}}
    other = pd.DataFrame({"sex": [2.0, 1.0], "vote": [2.0, 1.0]})
    pyreadstat.write_sav(other, str(file), variable_value_labels=swapped)
    pd.testing.assert_frame_equal(ceg.assign(file).rows, wanted)
    odd = tmp_path / "odd.txt"
    odd.write_bytes(b"sex;vote\r\nmale;1\n2;no\r\n")
    pd.testing.assert_frame_equal(ceg.assign(odd, delimiter=";").rows, wanted)
    odd.write_text("sex,vote\nmale,1,3\n2,no\n")
    with pytest.raises(SurveyError, match="line 2"):
        ceg.assign(odd)
    kept = ceg.assign(odd, bad_rows="skip").rows
    assert kept.log_likelihood.tolist() == wanted.log_likelihood.tolist()[1:]
    with pytest.raises(TypeError, match="no setting named 'delimeter'"):
        ceg.assign(odd, delimeter=";")  # type: ignore[call-arg]


@pytest.mark.slow
def test_a_position_of_several_variables_is_refused(db: Database) -> None:
    rows = "select * from (values ('u', 'y', null), ('v', null, 'y'), ('v', null, 'n'), "
    rows += "('u', 'n', null)) as t(a, b, c) cross join range(5)"
    tree = db.ingest(rows, "mixed", columns=["a", "b", "c"]).event_tree(sampling_zeros="none")
    same = {("u",): "s", ("v",): "s"}
    ceg = tree.set_stages(same, hyperstages="labels", prior="mass").to_ceg()
    with pytest.raises(QueryError, match="situations with different variables"):
        ceg.assign("select 'u' as a")


@pytest.mark.slow
def test_a_saved_ceg_given_evidence_answers_as_before_it_was_saved(db: Database) -> None:
    rows = "select i % 2 as x, i % 8 < 3 as y, i % 3 as z from range(96) t(i)"
    tree = db.ingest(rows, "saved").event_tree(sampling_zeros="none")
    ceg = tree.learn_stages(relabel={"2": "two"}, prior="mass", criterion="score").to_ceg()
    given = ceg.given(y=True)
    saved = given.save("saved given")
    new = "select * from (values (1, null, 2), (null, true, null), (0, false, 1)) as t(x, y, z)"
    wanted, found = given.complete(new), saved.complete(new)
    pd.testing.assert_frame_equal(found.labels, wanted.labels, rtol=1e-12)
    pd.testing.assert_frame_equal(found.rows, wanted.rows, rtol=1e-12)
    assert np.isfinite(found.rows.log_likelihood).tolist() == [True, True, False]
    assert saved.given(x=1).score("select 2 as z").mean == pytest.approx(
        given.given(x=1).score("select 2 as z").mean
    )
    with pytest.raises(QueryError, match="is conditioned on evidence, but stages"):
        saved.assign(new)


@pytest.mark.slow
def test_a_database_open_to_be_read_answers_rows(tmp_path: Path) -> None:
    file = tmp_path / "s.duckdb"
    with cegdb.open(file) as db:
        db.ingest("select i % 2 as x from range(9) t(i)", "s").event_tree(
            sampling_zeros="none"
        ).learn_stages(prior="mass", criterion="score").to_ceg()
    with cegdb.open(file, read_only=True) as db:
        assert len(db.cegs["s"].assign("select 1 as x").rows) == 1
        with pytest.raises(CegdbError, match="is open read-only"):
            db.cegs["s"].assign("select 1 as x", into="people")


def test_numbers_and_times_are_kept_as_they_are(small: ChainEventGraph) -> None:
    frame = pd.DataFrame(
        {
            "x": [1, 0],
            "whole": pd.array([2**60, None], dtype="Int64"),
            "when": pd.to_datetime(["2024-05-01", None]),
            "mixed": ["a", 1.0],
        },
        index=[7, 7],
    )
    rows = small.assign(frame, keep=["whole", "when", "mixed"]).rows
    assert rows.whole[0] == 2**60
    assert values(rows.whole)[1] is None
    assert rows.when[0] == pd.Timestamp("2024-05-01")
    assert rows.mixed.tolist() == ["a", "1"]


@pytest.mark.slow
def test_a_kept_column_may_be_a_variable(small: ChainEventGraph) -> None:
    for source in ("select 1 as x, 2 as z", pd.DataFrame({"x": [1], "z": [2]})):
        found = small.assign(source, keep=["x"])
        assert found.rows.x.tolist() == [1]
        assert found.rows.n_answered.tolist() == [2]


@pytest.mark.slow
def test_tables_and_files_are_written_whole_and_not_by_mistake(
    db: Database, small: ChainEventGraph, tmp_path: Path
) -> None:
    query = "select i as id, i % 2 as x from range(10) t(i)"
    found = small.assign(query, keep=["id"], into="people")
    assert db.sql("select count(*) as n from people")["n"].item() == 10
    assert db.sql("select count(*) as n from people_paths")["n"].item() == 20
    with pytest.raises(QueryError, match="were written to"):
        _ = found.rows
    with pytest.raises(NameTakenError, match=r"table main\.people already exists"):
        small.assign(query, into="people")
    small.assign(query, into="people", replace=True)
    db.sql("create view seen as select 1 as x")
    with pytest.raises(NameTakenError, match=r"view main\.seen already exists"):
        small.assign(query, into="seen", replace=True)
    with pytest.raises(QueryError, match="schema 'cegdb' is reserved"):
        small.assign(query, into="cegdb.edge", replace=True)
    with pytest.raises(QueryError, match="no schema named 'nowhere'"):
        small.assign(query, into="nowhere.x")
    file = tmp_path / "people.parquet"
    written = small.complete(query, keep=["id"], file=file).written
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "people.parquet",
        "people_labels.parquet",
    ]
    assert len(pd.read_parquet(written["labels"])) == 50
    with pytest.raises(NameTakenError, match="already exists"):
        small.complete(query, file=file)
    assert db.check() == []


@pytest.mark.slow
def test_what_cannot_be_answered_is_refused(db: Database, small: ChainEventGraph) -> None:
    with pytest.raises(SurveyError, match="has none of these variables"):
        small.assign("select 1 as other")
    with pytest.raises(SurveyError, match="has none of these variables"):
        small.assign(pd.DataFrame({"other": [1]}))
    with pytest.raises(SurveyError, match="there is no column 'id'"):
        small.assign("select 1 as x", keep=["id"])
    with pytest.raises(QueryError, match="keep names 'position'"):
        small.assign("select 1 as x, 2 as position", keep=["position"])
    with pytest.raises(QueryError, match="keep must be a list, not the text"):
        small.assign("select 1 as x", keep="x")
    with pytest.raises(QueryError, match="variable 'y' is named twice in variables"):
        small.complete("select 1 as x", variables=["y", "Y"])
    with pytest.raises(QueryError, match="variable 'x' is named twice in given"):
        small.predict("select 1 as x", "y", predictors=["x", "x"])
    with pytest.raises(QueryError, match="into and file are given"):
        small.assign("select 1 as x", into="people", file="people.csv")
    with pytest.raises(QueryError, match="nothing is written"):
        small.assign("select 1 as x", replace=True)
    with pytest.raises(
        QueryError, match="bins must be a whole number of 1 or more, or None, not 0"
    ):
        small.calibration("select 1 as x, true as y", "y", bins=0)
    with pytest.raises(QueryError, match="unknown value 'no' for blank"):
        small.assign("select 1 as x", blank="no")  # type: ignore[arg-type]
    with pytest.raises(SurveyError, match="'n' contains -1 in row 1: a count"):
        small.score("select 1 as x, -1 as n", count="n")
    with pytest.raises(SurveyError, match="'w' contains 'b' in row 1: a weight"):
        small.score("select 1 as x, 'b' as w", weight="w")
    with pytest.raises(AttributeError, match="cannot be assigned after conditioning"):
        small.given(x=1).assign("select 1 as x")  # type: ignore[attr-defined]
    with pytest.raises(QueryError, match="cannot be predicted from itself"):
        small.classify("select 1 as x", "x", ["x"])
    with pytest.raises(QueryError, match="the tree has no variable 'q'"):
        small.classify("select 1 as x", "q")
    with pytest.raises(QueryError, match="lacks a known answer to 'y'"):
        small.classify("select 1 as x", "y")
    tables = db.sql("select table_name from duckdb_tables() where temporary")
    assert tables.empty


def test_no_temp_table_is_left_behind(small: ChainEventGraph) -> None:
    small.assign("select 1 as x")
    small.calibration("select 1 as x, true as y", "y")
    with pytest.raises(CegdbError):
        small.complete("select 1 as x", ["nothing"])
    with small._store.reading() as con:
        names = con.execute(
            "select table_name from duckdb_tables() where temporary "
            "union all select view_name from duckdb_views() where temporary and not internal"
        ).fetchall()
    assert names == []


# =============================================================================
# Scores
# =============================================================================


@pytest.mark.slow
def test_scores_weigh_respondents(small: ChainEventGraph) -> None:
    p, q = small.probability(x=1), small.probability(x=0, y=True)
    rows = (
        "select * from (values (1, null, 3, 0.5), (0, true, 2, 2), (5, null, 1, 0)) "
        "as t(x, y, n, w)"
    )
    score = small.score(rows, count="n", weight="w")
    assert (score.n, score.weight, score.n_impossible) == (6, 5.5, 1)
    assert score.total == pytest.approx(1.5 * math.log(p) + 4 * math.log(q))
    assert score.mean_of_possible == pytest.approx(score.total / 5.5)
    assert small.score(rows, count="n").total == -math.inf


@pytest.mark.slow
def test_classification_is_that_of_conditional_probabilities(
    small: ChainEventGraph,
) -> None:
    rows = pd.DataFrame(
        {
            "x": [0, 0, 1, 1, None, 0],
            "y": [True, False, True, False, True, None],
            "z": [0, 1, 2, None, 0, 1],
            "n": [3, 2, 5, 1, 2, 9],
        }
    )
    known = rows[rows.y.notna()]
    p = []
    for row in known.to_dict("records"):
        evidence = {v: row[v] for v in ("x", "z") if row[v] == row[v]}
        p.append(small.given(evidence).probability(y=True))
    of, y, n = np.array(p), known.y.to_numpy(bool), known.n.to_numpy()
    judged = small.classify(rows, "y", count="n")
    metrics = judged.metrics
    actual = np.where(y, of, 1 - of)
    assert (metrics.n, metrics.n_unknown, metrics.n_impossible) == (13, 9, 0)
    assert metrics.log_loss == pytest.approx(-np.average(np.log(actual), weights=n))
    assert metrics.brier == pytest.approx(np.average(2 * (1 - actual) ** 2, weights=n))
    assert metrics.accuracy == pytest.approx(np.average((of > 0.5) == y, weights=n))
    pairs = [
        (n[i] * n[j], (of[i] > of[j] + 1e-12) + 0.5 * (abs(of[i] - of[j]) <= 1e-12))
        for i in range(5)
        for j in range(5)
        if y[i] and not y[j]
    ]
    auc = sum(w * won for w, won in pairs) / sum(w for w, _ in pairs)
    assert metrics.auc == pytest.approx(auc)
    assert judged.confusion.to_numpy().sum() == 13
    table = small.calibration(rows, "y", bins=None, count="n")
    of_true = table[table.label == "True"]
    assert of_true.n.sum() == 13
    assert np.average(of_true.predicted, weights=of_true.n) == pytest.approx(
        np.average(of, weights=n)
    )
    assert np.average(of_true.observed, weights=of_true.n) == pytest.approx(
        np.average(y, weights=n)
    )
    alone = small.classify(rows, "y", predictors=[], count="n").metrics
    assert math.isnan(alone.auc) or alone.auc == 0.5


@pytest.mark.slow
def test_a_blank_that_means_not_applicable_is_predicted(db: Database) -> None:
    rows = "select * from (values ('u', 'x'), ('u', 'y'), ('u', null), ('v', 'x')) as t(a, b)"
    rows += " cross join range(5)"
    survey = db.ingest(rows, "structural", columns=["a", "b"])
    ceg = (
        survey.event_tree(blank="structural", sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    judged = ceg.classify(f"select *, 0.5 as w from ({rows})", "b", weight="w")  # noqa: S608
    assert (judged.metrics.n, judged.metrics.weight, judged.metrics.n_unknown) == (20, 10, 0)
    assert judged.confusion.loc["not applicable"].sum() == 2.5


@pytest.mark.slow
def test_a_survey_is_calibrated_by_its_own_ceg(db: Database) -> None:
    rows = "select i % 2 as x, i % 8 < 3 as y from range(8000) t(i)"
    ceg = (
        db.ingest(rows, "large", replace=True)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    table = ceg.calibration(rows, "y")
    assert table.predicted.to_numpy() == pytest.approx(table.observed.to_numpy(), abs=1e-3)
    assert (table.predicted > table.low).all()
    assert (table.predicted <= table.high).all()


@pytest.mark.slow
def test_not_applicable_is_an_answer_to_be_predicted(db: Database) -> None:
    rows = (
        "select * from (values ('in', 'yes'), ('in', 'no'), ('out', 'n/a'), ('out', 'n/a')) "
        "as t(place, asked) cross join range(5)"
    )
    survey = db.ingest(rows, "asked", structural=["n/a"], columns=["place", "asked"])
    ceg = (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    judged = ceg.classify(rows, "asked")
    assert judged.metrics.n == 20
    assert judged.confusion.loc["not applicable", "not applicable"] == 10


# =============================================================================
# The command line
# =============================================================================


@pytest.mark.slow
def test_commands_answer_a_file(tmp_path: Path) -> None:
    file, new = tmp_path / "s.duckdb", tmp_path / "new.csv"
    with cegdb.open(file) as db:
        rows = "select i % 2 as x, i % 8 < 3 as y from range(80) t(i)"
        db.ingest(rows, "s").event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
    new.write_text("id,x,y\na,1,\nb,0,True\nc,,False\n")

    def invoke(*arguments: object) -> str:
        result = CliRunner().invoke(main, list(map(str, arguments)))
        assert result.exit_code == 0, result.output
        return result.output

    output = invoke("assign", file, "s", new, "--keep", "id", "--format", "csv")
    assert "3 rows, 3 distinct combinations of answers" in output
    assert "\n2,b,2," in output
    out = tmp_path / "people.parquet"
    assert "people_paths.parquet" in invoke("assign", file, "s", new, "-o", out)
    assert "written" in invoke("assign", file, "s", new, "--into", "people")
    output = invoke("complete", file, "s", new, "--variables", "x", "--format", "csv")
    assert "\n3,x,1," in output
    assert "mean" in invoke("score", file, "s", new, "--format", "csv")
    assert "accuracy" in invoke("classify", file, "s", new, "y", "--format", "csv")
    one = tmp_path / "one.csv"
    one.write_text("x,y\n0,True\n1,True\n")
    assert "note: auc is empty: " in invoke("classify", file, "s", one, "y")
    output = invoke("calibration", file, "s", new, "y", "--format", "csv")
    assert output.startswith("label,low,high,n,weight,predicted,observed")
    result = CliRunner().invoke(main, ["classify", str(file), "s", str(new)])
    assert result.exit_code == 2


# =============================================================================
# Public data
# =============================================================================


@pytest.mark.slow
def test_the_falls_survey_is_where_its_counts_say(db: Database) -> None:
    file = survey_file("falls_cegpy")
    ceg = (
        db.ingest(file, "falls", replace=True)
        .event_tree(sampling_zeros="none")
        .learn_stages(alpha=4, prior="mass", criterion="score")
        .to_ceg()
    )
    db.sql("create schema if not exists mart")
    ceg.assign(file, into="mart.falls", replace=True)
    counted = db.sql("select position, count(*) as n from mart.falls_paths group by position")
    positions = ceg.positions.set_index("position").n
    assert counted.set_index("position")["n"].to_dict() == positions.to_dict()
    counted = db.sql(
        "select situation, count(*) as n from mart.falls_paths "
        "where situation is not null group by situation"
    )
    situations = ceg.situation_positions.set_index("situation").n
    assert counted.set_index("situation")["n"].to_dict() == situations.to_dict()
    total = db.sql("select sum(log_likelihood) as x from mart.falls")["x"].item()
    assert ceg.score(file).total == pytest.approx(total)
