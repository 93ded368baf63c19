"""CEGs given evidence, saved: against the paths of the tree, listed one by one."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import pytest
from click.testing import CliRunner
from database_template import file_with
from hypothesis import given, note
from hypothesis import strategies as st
from oracle import BLANK
from strategies import StagedSample, run, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.cli.options import read_evidence
from cegdb.errors import (
    CegError,
    GraphError,
    NameTakenError,
    QueryError,
    StaleError,
)
from cegdb.evidence import (
    All,
    Answer,
    Count,
    Evidence,
    Likelihood,
    Order,
    Take,
    Visit,
    answers,
    at_least,
    avoids,
    before,
    exactly,
    from_json,
    is_soft,
    likelihood,
    positions_of,
    takes,
    visits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database, StagedTree

    Sound = Callable[[Database], None]

ABSENT = "not applicable"


@pytest.fixture(scope="module")
def base() -> Iterator[Database]:
    """Give one database for all examples, each of which replaces the one before."""
    with cegdb.open(threads=2) as database:
        yield database


def people(rows: list[tuple[str | None, ...]], columns: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split(), dtype=object)


# -----------------------------------------------------------------------------
# The death CEG of docs/theory.md, section 8 (W8.1)
# -----------------------------------------------------------------------------


def make_death(db: Database, name: str = "death") -> ChainEventGraph:
    """Make it from rows in exactly its proportions, and hardly a prior."""
    rows = [
        ("t", "die", None, 100), ("t", "live", "p", 240), ("t", "live", "q", 60),
        ("u", "die", None, 300), ("u", "live", "p", 240), ("u", "live", "q", 60),
    ]  # fmt: skip
    tree = db.ingest(people(rows, "X1 X2 X3 n"), name=name, count="n").event_tree(
        sampling_zeros="none"
    )
    stages = {(): "a", ("t",): "b", ("u",): "c", ("t", "live"): "d", ("u", "live"): "d"}
    return tree.set_stages(stages, alpha=1e-9, prior="mass").to_ceg()


def shown(db: Database, ceg: str) -> dict[tuple[str, str], float]:
    """Return the probability of each edge by its source and label."""
    sql = "select source, label, probability from cegdb.ceg_edges where ceg = $ceg"
    return {(source, label): p for source, label, p in db.rows(sql, {"ceg": ceg})[1]}


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_the_death_ceg_given_no_q_has_the_numbers_of_the_theory(
    db: Database, sound: Sound
) -> None:
    found = db.cegs["death"].given(X3=["p", ABSENT]).save("no q")
    assert found.probability_of_evidence == pytest.approx(22 / 25, abs=1e-9)
    assert shown(db, "no q") == pytest.approx(
        {
            ("w0", "t"): 17 / 44, ("w0", "u"): 27 / 44,
            ("w1", "die"): 5 / 17, ("w1", "live"): 12 / 17,
            ("w2", "die"): 5 / 9, ("w2", "live"): 4 / 9,
            ("w3", "p"): 1,
        },
        abs=1e-9,
    )  # fmt: skip
    assert found.summary.startswith(
        "CEG 'no q': 5 vertices (including the sink), 7 edges; given X3 in (p, not applicable) "
        "(probability 0.88)"
    )
    assert db.rows("select ceg, parent, evidence, probability from cegdb.conditioned_cegs")[
        1
    ] == [("no q", "death", "X3 in (p, not applicable)", found.probability_of_evidence)]
    assert found.evidence == "X3 in (p, not applicable)"
    assert found.parent == db.cegs["death"]
    assert len(found.steps) == 0
    sound(db)


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_what_a_subgraph_cannot_say_takes_copies_of_positions(
    db: Database, sound: Sound
) -> None:
    ceg = db.cegs["death"]
    found = ceg.given(exactly(1, [{"X1": "t"}, {"X3": "p"}])).save("one")
    # t and (die or q), or u and p: 2/5 (1/4 + 3/4 1/5) + 3/5 1/2 4/5
    assert found.probability_of_evidence == pytest.approx(0.4, abs=1e-9)
    edges = found.edges
    assert sorted(zip(edges["source"], edges["label"], strict=True)) == [
        ("w0", "t"), ("w0", "u"), ("w1", "die"), ("w1", "live"), ("w2", "live"),
        ("w3", "q"), ("w4", "p"),
    ]  # fmt: skip
    assert found.probability(X1="t") == pytest.approx(0.4, abs=1e-9)
    sound(db)


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_a_ceg_given_evidence_does_what_a_ceg_does(
    db: Database, tmp_path: Path, sound: Sound
) -> None:
    parent = db.cegs["death"]
    ceg = parent.given(X2="live").save("alive")
    assert db.cegs.names() == ["death", "alive"]
    assert repr(db.cegs["alive"]).startswith("CEG 'alive': 4 vertices")
    positions = ceg.positions
    assert positions[["position", "stage", "variable", "height", "n", "n_situations"]].astype(
        object
    ).where(positions["stage"].notna(), None).to_numpy().tolist()[:3] == [
        ["w0", "u0", "X1", 3, 1000, 1],
        ["w1", "u1", "X2", 2, 1000, 2],
        ["w2", "u2", "X3", 1, 600, 2],
    ]
    assert positions["colour"].tolist()[0] == "#ffffff"
    edges = ceg.edges
    assert edges["n"].tolist() == [400, 600, 600, 480, 120]
    assert edges[["prior", "share", "low", "high"]].isna().all().all()
    members = ceg.situation_positions
    of_parent = parent.situation_positions.set_index("vertex_id")
    assert members["path"].tolist() == ["", "t", "u", "t -> live", "u -> live"]
    for member in members.itertuples():
        assert of_parent.loc[member.vertex_id, "situation"] == member.situation
        assert of_parent.loc[member.vertex_id, "path"] == member.path
    recovered = ceg.recover()
    assert recovered["label"].tolist()[1:] == ["t", "u", "live", "live", "p", "q", "p", "q"]
    assert ceg.staging == parent.staging
    assert ceg.probability(X1="t", X3="p") == pytest.approx(0.4, abs=1e-9)
    assert ceg.most_probable_paths()["path"].tolist() == ["X1 = t, X2 = live, X3 = p"]
    graph = ceg.to_networkx()
    assert graph.edges["w0", "w1", "t"]["probability"] == pytest.approx(0.5, abs=1e-9)
    assert ceg.draw(tmp_path / "alive.svg").exists()
    assert "live" in ceg.draw(tmp_path / "alive.dot", edge_info="count").read_text()
    with pytest.raises(GraphError, match="given evidence, so its edges have no prior"):
        ceg.draw(tmp_path / "no.svg", edge_info="prior")
    for file in ("a.graphml", "a.json", "a.csv", "a.parquet"):
        assert ceg.export(tmp_path / file).exists()
    names, rows = db.rows("select labels, probability from cegdb.paths('alive') order by all")
    assert names == ["labels", "probability"]
    assert [row[1] for row in rows] == pytest.approx([0.4, 0.1, 0.4, 0.1], abs=1e-9)
    sound(db)


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_views_of_one_ceg_are_its_part_of_the_whole(db: Database) -> None:
    make_death(db, "other")
    ceg = db.cegs["death"]
    ceg.given(X2="live").save("alive").given(X1="t").save("t")
    for view in ("positions", "ceg_edges", "situation_positions"):
        whole = db.rows(f"from cegdb.{view}")[1]
        parts = [
            row
            for name in db.cegs.names()
            for row in db.rows(f"from cegdb.{view} where ceg = $ceg", {"ceg": name})[1]
        ]
        assert sorted(map(repr, parts)) == sorted(map(repr, whole))
        assert {row[0] for row in whole} == {"other", "death", "alive", "t"}


@pytest.mark.holds(made_by=make_death)
def test_progress_is_that_of_the_parent(db: Database) -> None:
    parent = db.cegs["death"]
    assert parent.evidence == "nothing"
    assert parent.probability_of_evidence == 1
    assert parent.parent is None
    found = parent.given(X3="p")
    saved = found.save()
    assert saved.name == "death-given"
    pd.testing.assert_frame_equal(saved.progress, found.progress)
    here = parent.progress.set_index(["depth", "position"])
    assert here.loc[(1, "w1")].tolist() == pytest.approx([0.4, 0.4], abs=1e-9)


# -----------------------------------------------------------------------------
# Names, parents, drops, rebuilds, small cells
# -----------------------------------------------------------------------------


def counts(db: Database) -> dict[str, int]:
    names = [name for (name,) in db.rows(
        "select table_name from duckdb_tables() where schema_name = 'cegdb'"
    )[1]]  # fmt: skip
    return {name: db.rows(f"select count(*) from cegdb.{name}")[1][0][0] for name in names}  # noqa: S608


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_dropping_leaves_no_rows(db: Database, sound: Sound) -> None:
    ceg = db.cegs["death"]
    before_it = counts(db)
    given_one = ceg.given(X1="t").save("one")
    one = counts(db)
    given_one.given(X3="p").save("two")
    assert counts(db)["ceg"] == 3
    db.drop("ceg", "two")
    assert counts(db) == one
    given_one.given(X3="p").save("two")
    sound(db)
    db.drop("ceg", "one")
    assert counts(db) == before_it
    ceg.given(X1="t").save("one").given(X3="p").save("two")
    db.drop("survey", "death")
    assert set(counts(db).values()) == {0, 1}  # the revision is one row
    sound(db)


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_a_name_is_claimed_as_for_any_ceg(db: Database, sound: Sound) -> None:
    ceg = db.cegs["death"]
    found = ceg.given(X1="t")
    assert found.save().name == "death-given"
    assert found.save().name == "death-given-2"
    with pytest.raises(NameTakenError, match="CEG 'death-given' already exists"):
        found.save("death-given")
    again = found.save("death-given", replace=True)
    for name in ("death", "death-given"):
        with pytest.raises(
            CegError, match=f"'{name}' cannot be replaced by a CEG made from it"
        ):
            again.given(X3="p").save(name, replace=True)
    again.given(X3="p").save("death-given-2", replace=True)
    assert db.cegs.names() == ["death", "death-given", "death-given-2"]
    sound(db)


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_impossible_evidence_is_an_error_that_names_it(db: Database) -> None:
    ceg = db.cegs["death"]
    saved = ceg.given(X1="t").save("t")
    with pytest.raises(QueryError, match="probability 0 in CEG 't': X1 = u and X2 = die"):
        saved.given(X1="u", X2="die")
    with pytest.raises(QueryError, match="probability 0 in CEG 'death': X2 = die and X3 = p"):
        ceg.given(X2="die", X3="p")


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_a_ceg_given_evidence_is_made_again_after_its_parent(
    db: Database, sound: Sound
) -> None:
    ceg = db.cegs["death"]
    found = ceg.given(X2="live").save("alive")
    found.given(X1="t").save("t")
    ceg.given(visits("w2") & avoids(1)).save("through")
    held = ceg.given(X1="u")
    more = people([("s", "live", "p", 8), ("t", "live", "p", 100)], "X1 X2 X3 n")
    db.surveys["death"].append(more)
    assert found.is_stale
    assert "stale" in found.summary
    assert [kind for kind, *_ in db.rows("from cegdb.stale where kind = 'ceg'")[1]] == [
        "ceg"
    ] * 4
    with pytest.raises(StaleError, match="rebuild"):
        held.save("late")
    made = db.rebuild()
    assert [one.name for one in made] == ["death"] * 3 + ["alive", "t", "through"]
    sound(db)
    assert not found.is_stale
    with pytest.raises(StaleError, match="'death' was rebuilt since it was given X1 = u"):
        held.save("late")
    anew = ceg.given(X2="live")
    assert found.probability_of_evidence == anew.probability_of_evidence
    assert found.marginals().equals(anew.save("same").marginals())
    # s comes first now, so the position of u is another.
    assert db.cegs["through"].evidence == "visits w3 and avoids 2"
    assert db.cegs["through"].marginals("X1").to_numpy().tolist() == [
        ["X1", "u", 1.0, pytest.approx(0.05 ** (1 / 600)), 1.0, 600]
    ]


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_evidence_that_names_a_position_split_by_a_rebuild_stops_it(
    db: Database, sound: Sound
) -> None:
    ceg = db.cegs["death"]
    ceg.given(takes("w3", "p")).save("p")
    db.surveys["death"].refresh(
        people(
            [("t", "live", "p", 9), ("t", "live", "q", 9), ("u", "live", "p", 9)], "X1 X2 X3 n"
        )
    )
    with pytest.raises(StaleError, match="CEG 'p' cannot be rebuilt: its evidence names") as e:
        db.rebuild()
    assert "drop it" in str(e.value)
    assert db.cegs["p"].is_stale
    db.drop("ceg", "p")
    db.rebuild()
    sound(db)


@pytest.mark.holds(made_by=make_death)
def test_saved_evidence_has_the_names_of_the_ceg(db: Database) -> None:
    ceg = db.cegs["death"]
    saved = ceg.given({" x1": "T"}).given(takes("W1", " live") & visits("W3")).save("p")
    assert saved.evidence == "X1 = t and takes w1 live and visits w3"
    assert positions_of(from_json(saved._row()["evidence"])) == {"w1", "w3"}


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_evidence_that_became_impossible_stops_a_rebuild(db: Database) -> None:
    db.cegs["death"].given(X2="die").save("dead")
    db.surveys["death"].refresh(people([("t", "live", "p", 9)], "X1 X2 X3 n"))
    with pytest.raises(StaleError, match="CEG 'dead' cannot be rebuilt: 'X2' has no label"):
        db.rebuild()


@pytest.mark.slow
def test_soft_evidence_has_a_relative_likelihood_and_no_probability(
    db: Database, sound: Sound
) -> None:
    staged = coin(db)
    ceg, known = staged.to_ceg(), likelihood("coin", {0: 9, 1: 2})
    words = "given likelihood of coin (0: 9, 1: 2) (relative likelihood 5.5)"
    saved = ceg.given(known).save("soft")
    for found in (ceg.given(known), staged.given(known), saved):
        assert found.probability_of_evidence is None
        assert found.relative_likelihood == pytest.approx(5.5)
        assert found.probability(coin=0) == pytest.approx(9 / 11)
    assert repr(ceg.given(known)) == f"CEG 'coin' {words}"
    assert repr(staged.given(known)) == f"staged tree 'coin' {words}"
    assert words in str(saved.summary)
    assert words.removeprefix("given ") in " ".join(saved.report.text("analyst").split())
    query = "select probability, relative_likelihood from cegdb.conditioned_cegs"
    assert db.rows(query)[1] == [(None, pytest.approx(5.5))]
    # With an answer known too, it is still a likelihood; given it, an answer is an event.
    assert ceg.given(known, coin=0).relative_likelihood == pytest.approx(4.5)
    assert saved.given(coin=0).probability_of_evidence == pytest.approx(9 / 11)
    after = ceg.do(coin={0: 0.1, 1: 0.9}).given(known)
    assert after.relative_likelihood == pytest.approx(2.7)
    assert "(relative likelihood 2.7)" in repr(after)
    with pytest.raises(QueryError, match=r"likelihood of coin \(0: 9, 1: 2\) is not an event"):
        ceg.probability(known)
    sound(db)


@pytest.mark.slow
def test_commands_print_the_relative_likelihood_of_soft_evidence(tmp_path: Path) -> None:
    path = tmp_path / "coin.duckdb"
    with cegdb.open(path) as db:
        coin(db).to_ceg()
    text = json.dumps(likelihood("coin", {0: 9, 1: 2}).to_json())
    for command in ("marginals", "given"):
        result = CliRunner().invoke(main, [command, str(path), "coin", "--evidence", text])
        assert result.exit_code == 0, result.output
        assert "relative likelihood 5.5" in result.stderr
        assert "probability 5.5" not in result.output


def coin(db: Database) -> StagedTree:
    """Return the staged tree of a fair coin, with a letter for each side."""
    rows = [("0", "a"), ("1", "b")] * 5
    return (
        db.ingest(people(rows, "coin letter"), "coin")
        .event_tree(sampling_zeros="none")
        .learn_stages(alpha=2, prior="mass", criterion="score")
    )


@pytest.mark.slow
def test_small_cells_hide_all_probabilities_that_tell_them(db: Database) -> None:
    rows = [("t", "yes", 3), ("t", "no", 40), ("u", "yes", 30), ("u", "no", 27)]
    tree = db.ingest(people(rows, "X Y n"), name="few", count="n").event_tree(
        sampling_zeros="none"
    )
    ceg = tree.set_stages({("t",): "a", ("u",): "b"}, prior="mass").to_ceg()
    saved = ceg.given(likelihood("Y", {"yes": 0.2, "no": 0.7})).save("soft")
    names, found = saved.rows("ceg_edges", min_n=5)
    assert {row[names.index("probability")] for row in found} == {None}
    assert None in [row[names.index("n")] for row in found]
    only = ceg.given(X="u", Y="yes").save("only")
    names, found = only.rows("ceg_edges", min_n=5)
    assert [row[names.index("probability")] for row in found] == [1, 1]
    assert None not in [
        row[names.index("probability")] for row in only.rows("ceg_edges", min_n=2)[1]
    ]
    names, found = saved.rows("ceg_edges", min_n=2)
    assert None not in [row[names.index("probability")] for row in found]
    graph = saved.to_networkx(min_n=5)
    assert all("probability" not in data for *_, data in graph.edges(data=True))


@pytest.mark.slow
def test_weights_and_labels_of_the_tree_are_kept(db: Database, sound: Sound) -> None:
    rows = [
        ("a", "x", 1.5), ("a", "y", 0.5), ("b", "x", 2.25), ("b", "z", 1.0), ("b", "x", 0.75),
        ("a", "x", 1.0),
    ]  # fmt: skip
    survey = db.ingest(people(rows, "A B w"), name="weighted", weight="w")
    staged = survey.event_tree(sampling_zeros="none").learn_stages(
        relabel={"z": "y"}, prior="mass", criterion="score"
    )
    saved = staged.to_ceg().given(B="y").save("y")
    edges = saved.edges
    assert edges["raw_labels"].map(list).tolist()[-1] == ["y", "z"]
    assert [float(w) for w in edges["weight"]] == [3.0, 4.0, 1.5]
    assert edges["n"].tolist() == [3, 3, 2]
    sound(db)


@pytest.mark.slow
def test_a_tree_that_is_one_leaf_has_a_ceg_given_nothing(db: Database, sound: Sound) -> None:
    survey = db.ingest(people([(None,)] * 9, "x"), name="blank")
    ceg = (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    saved = ceg.given().save("nothing")
    assert len(saved.positions) == 1
    sound(db)


# -----------------------------------------------------------------------------
# Command line
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_saves_and_says_the_probability(tmp_path: Path) -> None:
    file = tmp_path / "death.duckdb"
    shutil.copy(file_with(make_death), file)
    run = CliRunner()
    result = run.invoke(main, ["given", str(file), "death", "X2=live", "--name", "alive"])
    assert result.exit_code == 0, result.output
    assert "given X2 = live (probability 0.6)" in result.stderr
    result = run.invoke(
        main,
        ["given", str(file), "death", "X1=t", "X1=u", "--evidence", json.dumps(
            visits("w2").to_json()
        )],
    )  # fmt: skip
    assert "'death-given': " in result.stderr
    assert "given X1 in (t, u) and visits w2 (probability 0.6)" in result.stderr
    result = run.invoke(main, ["given", str(file), "death", "X2"])
    assert result.exit_code == 3
    assert "'X2' is not VARIABLE=LABEL" in result.stderr
    result = run.invoke(main, ["given", str(file), "death", "--evidence", "{"])
    assert "--evidence is not JSON" in result.stderr
    result = run.invoke(main, ["given", str(file), "death", "X2=die", "X3=p"])
    assert "the evidence has probability 0 in CEG 'death': X2 = die and X3 = p" in result.stderr
    listed = run.invoke(main, ["list", str(file), "--format", "csv"]).stdout
    assert "ceg,alive," in listed
    shown_it = run.invoke(main, ["show", str(file), "alive", "--format", "csv"])
    assert shown_it.exit_code == 0
    assert "w0,t,w1,X1,400," in shown_it.stdout
    assert run.invoke(main, ["check", str(file)]).exit_code == 0


def test_evidence_is_read_from_texts() -> None:
    assert read_evidence([], None) == All(())
    assert read_evidence(["a=b=c", "d=e"], None) == answers({"a": ["b=c"], "d": ["e"]})
    with pytest.raises(QueryError, match="'d=' is not VARIABLE=LABEL"):
        read_evidence(["d="], None)
    assert read_evidence(["a=b"], '{"c": "d"}') == All((answers(a=["b"]), answers(c="d")))


# -----------------------------------------------------------------------------
# Against the paths of the tree
# -----------------------------------------------------------------------------


class Step(NamedTuple):
    """An edge on a path of the tree."""

    vertex: int
    position: str
    variable: str
    label: str


class Walk(NamedTuple):
    """A path from the root to a leaf, and its probability."""

    steps: tuple[Step, ...]
    leaf: int
    probability: float


def staged(db: Database, sample: StagedSample, *, cross: bool) -> StagedTree:
    columns: dict[str, list[Any]] = {
        v: [None if row[v] is BLANK else row[v] for row, _ in sample.rows] for v in sample.order
    }
    columns["n"] = [n for _, n in sample.rows]
    frame = pd.DataFrame(columns, dtype=object)
    tree = db.ingest(frame, name="it", count="n", replace=True).event_tree(
        sampling_zeros="none"
    )
    stages = {tuple(label for _, label in path): name for path, name in sample.stage.items()}
    return tree.set_stages(
        stages, hyperstages="labels" if cross else "variable", alpha=3, prior="mass"
    )


def walks(db: Database, ceg: ChainEventGraph) -> list[Walk]:
    """Return all root-to-leaf paths of a CEG's tree, with the positions they pass."""
    position = dict(
        db.rows(
            "select vertex_id, position from cegdb.situation_positions where ceg = $ceg",
            {"ceg": ceg.name},
        )[1]
    )
    edges: dict[int, list[Any]] = {}
    for parent, child, variable, label, p in db.rows(
        "select parent_id, child_id, variable, label, probability from cegdb.staged_edges "
        "where staging = $staging order by child_id",
        {"staging": ceg.staging.name},
    )[1]:
        edges.setdefault(parent, []).append((child, variable, label, p))
    found: list[Walk] = []

    def follow(vertex: int, steps: tuple[Step, ...], probability: float) -> None:
        if vertex not in edges:
            found.append(Walk(steps, vertex, probability))
            return
        for child, variable, label, p in edges[vertex]:
            step = Step(vertex, position[vertex], variable, label)
            follow(child, (*steps, step), probability * p)

    follow(0, (), 1.0)
    return found


def within(
    db: Database, saved: ChainEventGraph, walked: list[Walk], evidence: Evidence
) -> list[Walk]:
    """Return the paths that evidence leaves, with positions and probabilities given it."""
    sql = "select vertex_id, position from cegdb.situation_positions where ceg = $ceg"
    position = dict(db.rows(sql, {"ceg": saved.name})[1])
    weighed = [(walk, walk.probability * weight(evidence, walk)) for walk in walked]
    total = math.fsum(mass for _, mass in weighed)
    return [
        Walk(
            tuple(step._replace(position=position[step.vertex]) for step in walk.steps),
            walk.leaf,
            mass / total,
        )
        for walk, mass in weighed
        if mass
    ]


def weight(evidence: Evidence, walk: Walk) -> float:
    """Return what evidence makes of a path: 0 or 1, or the likelihood."""
    answered = {step.variable: step.label for step in walk.steps}
    if isinstance(evidence, All):
        return math.prod(weight(part, walk) for part in evidence.of)
    if isinstance(evidence, Answer):
        return float(answered.get(evidence.variable, ABSENT) in evidence.labels)
    if isinstance(evidence, Likelihood):
        return dict(evidence.weights)[answered.get(evidence.variable, ABSENT)]
    if isinstance(evidence, Visit):
        passed = [step.position for step in walk.steps] + ["w_inf"]
        return float((evidence.position in passed) == evidence.is_passed)
    if isinstance(evidence, Take):
        taken = [(step.position, step.label) for step in walk.steps]
        return float(((evidence.position, evidence.label) in taken) == evidence.is_taken)
    if isinstance(evidence, Count):
        n = sum(weight(event, walk) for event in evidence.of)
        return float(evidence.least <= n <= evidence.most)
    assert isinstance(evidence, Order)
    first, second = moment(evidence.first, walk), moment(evidence.second, walk)
    return float(first is not None and second is not None and first < second)


def moment(event: Evidence, walk: Walk) -> int | None:
    """Return after how many edges an event happens; None if it does not."""
    passed = [*(step.position for step in walk.steps), "w_inf"]
    for i, place in enumerate(passed):
        if isinstance(event, Visit) and place == event.position:
            return i
    for i, step in enumerate(walk.steps, start=1):
        if isinstance(event, Take) and (step.position, step.label) == (
            event.position, event.label,
        ):  # fmt: skip
            return i
        if isinstance(event, Answer) and step.variable == event.variable:
            return i if step.label in event.labels else None
    return None


def events(walked: list[Walk], *, asks: bool) -> st.SearchStrategy[Evidence]:
    """Return events that one edge or position of the tree decides."""
    edges = sorted({(s.position, s.label) for walk in walked for s in walk.steps})
    labels: dict[str, list[str]] = {}
    for walk in walked:
        for step in walk.steps:
            known = labels.setdefault(step.variable, [])
            if step.label not in known:
                known.append(step.label)
    taken = st.sampled_from(edges).map(lambda edge: takes(*edge))
    visited = st.sampled_from(sorted({place for place, _ in edges})).map(visits)
    if not asks:
        return st.one_of(taken, visited)
    answered = st.sampled_from(
        [answers({v: label}) for v, found in labels.items() for label in found]
    )
    return st.one_of(answered, answered, taken, visited)


@st.composite
def evidences(
    draw: Callable[..., Any], walked: list[Walk], *, asks: bool, known: list[Walk]
) -> Evidence:
    """Draw one kind of evidence, or two together; likelihoods are of all labels known."""
    one = events(walked, asks=asks)
    kind = draw(st.sampled_from(["answer", "soft", "visit", "count", "order", "not", "both"]))
    if kind == "both":
        parts = evidences(walked, asks=asks, known=known)
        both: Evidence = draw(parts) & draw(parts)
        return both
    if kind == "count":
        some = draw(st.lists(one, min_size=1, max_size=3))
        n = draw(st.integers(0, len(some)))
        return draw(st.sampled_from([exactly(n, some), at_least(n, some)]))
    if kind == "order":
        return before(draw(one), draw(one))
    if kind == "not":
        edge = draw(st.sampled_from(sorted({s[1::2] for w in walked for s in w.steps})))
        return draw(st.sampled_from([avoids(edge[0]), takes(*edge, is_taken=False)]))
    if kind == "visit" or not asks:
        found: Evidence = draw(one)
        return found
    variable = draw(st.sampled_from(sorted({s.variable for w in walked for s in w.steps})))
    labels = sorted({s.label for w in walked for s in w.steps if s.variable == variable})
    if kind == "answer":
        some = draw(st.lists(st.sampled_from([*labels, ABSENT]), min_size=1, unique=True))
        return answers({variable: some})
    labels += sorted({s.label for w in known for s in w.steps if s.variable == variable})
    weights = st.sampled_from([0.0, 0.3, 0.3, 1.0, 2.5])
    return likelihood(
        variable, {label: draw(weights) for label in labels} | {ABSENT: 0.7, labels[0]: 0.4}
    )


def coloured(
    walked: list[tuple[Walk, float]], depth: int = 0, known: dict[Any, int] | None = None
) -> tuple[int, dict[Any, int]]:
    """Return the number of a subtree, equal for equal variables, labels, probabilities."""
    known = {} if known is None else known
    first = walked[0][0]
    if depth == len(first.steps):
        return known.setdefault("leaf", len(known)), known
    total = math.fsum(mass for _, mass in walked)
    parts: dict[str, list[tuple[Walk, float]]] = {}
    for walk, mass in walked:
        parts.setdefault(walk.steps[depth].label, []).append((walk, mass))
    key: list[Any] = [first.steps[depth].variable]
    for label in sorted(parts):
        share = math.fsum(mass for _, mass in parts[label]) / total
        below, _ = coloured(parts[label], depth + 1, known)
        key.append((label, round(share, 9), below))
    return known.setdefault(tuple(key), len(known)), known


def assert_conditioned(
    db: Database, saved: ChainEventGraph, walked: list[Walk], evidence: Evidence
) -> None:
    """Compare a saved CEG with the paths of the tree, each weighed by the evidence."""
    weighed = [(walk, walk.probability * weight(evidence, walk)) for walk in walked]
    left = [(walk, mass) for walk, mass in weighed if mass > 0]
    total = math.fsum(mass for _, mass in left)
    measures = [saved.probability_of_evidence, saved.relative_likelihood]
    assert measures[not is_soft(evidence)] is None
    assert measures[is_soft(evidence)] == pytest.approx(total, rel=1e-12)
    place = {"ceg": saved.name}
    position = dict(
        db.rows(
            "select vertex_id, position_id from cegdb.position_member inner join cegdb.ceg "
            "using (ceg_id) where name = $ceg",
            place,
        )[1]
    )
    members = {step.vertex for walk, _ in left for step in walk.steps}
    assert set(position) == members | {walk.leaf for walk, _ in left}
    edges = {
        (source, label): (target, p)
        for source, label, target, p in db.rows(
            "select source_id, label, target_id, probability from cegdb.ceg_edges "
            "where ceg = $ceg",
            place,
        )[1]
    }
    used = set()
    for walk, mass in left:
        node, probability = 0, 1.0
        for step in walk.steps:
            assert position[step.vertex] == node
            used.add((node, step.label))
            node, p = edges[node, step.label]
            probability *= p
        assert position[walk.leaf] == node
        assert probability == pytest.approx(mass / total, rel=1e-11)
    assert used == set(edges)
    _, kinds = coloured(left)
    asked = {(step.position, step.variable) for walk, _ in left for step in walk.steps}
    if len(asked) == len({at for at, _ in asked}):
        assert len(saved.positions) == len(kinds)
    else:  # situations of several variables that were one position stay one
        assert len(saved.positions) <= len(kinds)
    assert db.check() == []


@pytest.mark.slow
@run(2)
@given(data=st.data(), cross=st.sampled_from([False, False, True]), jumps=st.booleans())
def test_a_saved_ceg_is_the_paths_that_evidence_leaves(
    base: Database, data: st.DataObject, *, cross: bool, jumps: bool
) -> None:
    sample = data.draw(staged_trees(cross_variables=cross, jumps=jumps))
    ceg = staged(base, sample, cross=cross).to_ceg("it", replace=True)
    walked = walks(base, ceg)
    evidence = data.draw(evidences(walked, asks=not cross, known=walked))
    note(str(evidence))
    if not sum(walk.probability * weight(evidence, walk) for walk in walked):
        with pytest.raises(QueryError, match="the evidence has probability 0"):
            ceg.given(evidence)
        return
    found = ceg.given(evidence)
    assert from_json(json.loads(json.dumps(evidence.to_json()))) == evidence
    saved = found.save("given", replace=True)
    assert_conditioned(base, saved, walked, evidence)
    if not cross:
        ours, theirs = saved.marginals(), found.marginals()
        pd.testing.assert_frame_equal(ours, theirs, rtol=1e-9)
    assert len(saved.recover()) == saved.positions["n_situations"].sum()
    # Conditioning twice is conditioning on both.
    left = within(base, saved, walked, evidence)
    again = data.draw(evidences(left, asks=not cross, known=walked))
    note(f"then {again}")
    if not any(weight(again, walk) for walk in left):
        return
    twice = saved.given(again).save("twice", replace=True)
    assert twice.parent == saved
    assert_conditioned(base, twice, left, again)
    if positions_of(again):
        return
    both = ceg.given(evidence, again).save("both", replace=True)
    ours, theirs = (one.edges.drop(columns=["ceg", "probability"]) for one in (twice, both))
    pd.testing.assert_frame_equal(ours, theirs)
    assert twice.edges["probability"].tolist() == pytest.approx(
        both.edges["probability"].tolist(), rel=1e-10
    )


@pytest.mark.slow
def test_the_macros_ask_a_ceg_given_evidence(db: Database) -> None:
    rows = "select i % 2 as x, i // 2 % 3 as y, i * 7 % 5 < 2 as z from range(60) as t(i)"
    ceg = (
        db.ingest(rows, name="asked", replace=True)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    known = exactly(1, [{"x": 1}, {"y": 2}])
    saved = ceg.given(known).save("asked given")
    with saved._store.reading() as con:
        con.execute("create or replace temp table asked as select '1' as x, 'True' as z")
        (found,) = con.execute(
            "select probability from cegdb.event_probability('asked given', 'asked')"
        ).fetchone() or (None,)
    assert found == pytest.approx(ceg.given(known).probability(x=1, z=True), rel=1e-12)
    columns, marginals = db.rows("from cegdb.marginals('asked given') order by all")
    assert [row[2] for row in marginals] == pytest.approx(
        saved.marginals().sort_values(["variable", "label"])["probability"].tolist()
    )
    assert columns == ["variable", "label", "probability", "low", "high", "n"]
    named = "select position, stage from {} order by position_id"
    macro = db.rows(named.format("cegdb.position_probability('asked given')"))[1]
    view = db.rows(named.format("cegdb.positions where ceg = 'asked given'"))[1]
    assert macro == view
    best = db.rows("from cegdb.most_probable_paths('asked given', 3) order by rank")[1]
    names = saved.most_probable_paths(3)
    assert [row[2] for row in best] == names["labels"].tolist()
