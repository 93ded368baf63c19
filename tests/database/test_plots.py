"""Plots show the numbers of the tables, hide small ones, and hold any label."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import lgamma
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cegdb
from cegdb.clustering import Merge
from cegdb.demo import DEMOS
from cegdb.errors import GraphError, QueryError, StagingError
from cegdb.pictures.further_merges import continue_merging
from cegdb.pictures.merge_trees import fold_merges, grow_trees
from cegdb.pictures.plot_data import (
    Overlap,
    matched_stages,
    read_position_flow,
    read_stage_flow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cegdb.api import Database, StagedTree
    from cegdb.pictures import Picture


ORDER = ["Social", "Economic", "Events", "Admission"]
HOSTILE = [
    "<b onclick=alert(1)>x</b>", "</script><script>alert(1)</script>", "q\"uo'te", "$x_1$",
    r"\input{/etc/passwd} \frac{a}{b}", "&amp;&lt;", "שלום עולם", "line\nbreak", "nul\x01",
    "😀", "y" * 300,
]  # fmt: skip


@pytest.fixture(scope="module")
def chds() -> Iterator[StagedTree]:
    with cegdb.open() as db:
        survey = db.ingest(DEMOS["chds"].select(), name="chds", count="people")
        yield survey.event_tree(order=ORDER, sampling_zeros="none").learn_stages(
            alpha=3, prior="mass", criterion="score"
        )


def words(picture: Picture) -> str:
    return "\n".join(ET.fromstring(picture._repr_svg_()).itertext())  # noqa: S314


def numbers(picture: Picture) -> set[int]:
    found = re.findall(r"(?<![\w.])\d[\d,]*(?![\w.])", words(picture) + picture.caption)
    return {int(number.replace(",", "")) for number in found}


def every_plot(staged: StagedTree, other: StagedTree, min_n: int | None) -> list[Picture]:
    last = staged.tree.settings["order"][-1]
    return [
        staged.plot.probabilities(last, min_n=min_n),
        staged.plot.situations(last, min_n=min_n),
        staged.plot.situations(staged.tree.settings["order"][-2], min_n=min_n),
        staged.plot.flow(min_n=min_n),
        staged.to_ceg(replace=True).plot.flow(min_n=min_n),
        staged.plot.merges(min_n=min_n),
        staged.plot.dendrogram(min_n=min_n),
        staged.plot.costaging(last, other, min_n=min_n),
        staged.plot.difference(other, min_n=min_n),
    ]


@pytest.mark.slow
def test_dots_and_intervals_are_those_of_the_table(chds: StagedTree) -> None:
    edges = chds.stage_edges
    edges = edges[edges["variable"] == "Admission"]
    figure = chds.plot.probabilities("Admission").figure
    assert len(figure.axes) == 2
    for axes, label in zip(figure.axes, edges["label"].unique(), strict=True):
        of_label = edges[edges["label"] == label]
        lines = [np.asarray(line.get_xdata(), dtype=float) for line in axes.lines]
        assert [one.tolist() for one in lines[::2]] == of_label[
            ["low", "high"]
        ].to_numpy().tolist()
        assert [one.item() for one in lines[1::2]] == of_label["probability"].tolist()
    shown = words(chds.plot.probabilities("Admission"))
    for n in chds.stages.query("variable == 'Admission'")["n"]:
        assert f"\n{n:,}\n" in f"\n{shown}\n"


@pytest.mark.slow
def test_flows_have_the_people_of_the_tree_and_join_what_has_no_room(chds: StagedTree) -> None:
    store, ceg = chds._store, chds.to_ceg(replace=True)
    for most in (2, 3, 50):
        flows = [
            read_stage_flow(store, chds._row(), ORDER, None, most),
            read_position_flow(store, ceg._row(), chds.tree.id, ORDER, None, most),
        ]
        for flow in flows:
            for column in range(5):
                blocks = [one for one in flow.blocks if one.column == column]
                assert sum(one.n for one in blocks) == 890
                assert len(blocks) <= most
                leaving = sum(one.n for one in flow.ribbons if one.source_column == column)
                assert leaving == (890 if column < 4 else 0)
    caption = ceg.plot.flow(most=2).caption
    assert "2 positions with 383 people" in caption or "positions with" in caption


def log_marginal(prior: list[float], n: list[float]) -> float:
    mass, total = sum(prior), sum(n)
    each = sum(lgamma(a + k) - lgamma(a) for a, k in zip(prior, n, strict=True))
    return lgamma(mass) - lgamma(mass + total) + each


@pytest.mark.slow
def test_what_would_follow_is_the_bayes_factor_of_joining(chds: StagedTree) -> None:
    """The slow way: of all pairs of a hyperstage, the one that loses least, again."""
    edges = chds.stage_edges
    hyperstage = dict(zip(chds.stages["stage_id"], chds.stages["hyperstage_id"], strict=True))
    contents = {
        stage_id: (rows["prior"].tolist(), rows["n"].tolist())
        for stage_id, rows in edges.groupby("stage_id")
    }
    expected = []
    while True:
        gains = []
        for one in contents:
            for other in contents:
                if one < other and hyperstage[one] == hyperstage[other]:
                    prior, n = (
                        [a + b for a, b in zip(x, y, strict=True)]
                        for x, y in zip(contents[one], contents[other], strict=True)
                    )
                    gain = log_marginal(prior, n)
                    gain -= log_marginal(*contents[one]) + log_marginal(*contents[other])
                    gains.append((gain, one, other, prior, n))
        if not gains:
            break
        gain, one, other, prior, n = max(gains, key=lambda found: found[:1])
        contents[one] = (prior, n)
        del contents[other]
        expected.append((one, other, gain))
    found = continue_merging(chds._store, chds.id)
    assert [one[:2] for one in found.merges] == [one[:2] for one in expected]
    assert [one[2] for one in found.merges] == pytest.approx([one[2] for one in expected])
    assert max(one.log_bayes_factor for one in found.merges) <= 1e-9
    made = len(chds.merges)
    caption = chds.plot.merges().caption
    assert f"after {made} merges" in caption
    assert f"the {len(expected)} merges that would follow" in caption


@pytest.mark.slow
def test_the_cut_of_merges_says_what_decided(chds: StagedTree) -> None:
    staged = chds.tree.learn_stages("tested", criterion="test", replace=True, prior="mass")
    for picture in (staged.plot.merges(), staged.plot.dendrogram()):
        assert "beyond which tests tell the situations of a stage apart" in picture.caption


@pytest.mark.slow
def test_only_stages_merged_pair_by_pair_have_merges(chds: StagedTree) -> None:
    climbed = chds.tree.learn_stages(
        "climbed", method="hc", score="bic", replace=True, prior="mass"
    )
    with pytest.raises(StagingError, match="not merged pair by pair"):
        climbed.plot.dendrogram()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-9, 9), min_size=1, max_size=8), st.randoms(), st.integers(2, 9))
def test_no_join_of_a_tree_is_before_its_parts(
    gains: list[float], random: object, most: int
) -> None:
    alive = list(range(len(gains) + 1))
    merges = []
    for gain in gains:
        one, other = sorted(random.sample(alive, 2))  # type: ignore[attr-defined]
        alive.remove(other)
        merges.append(Merge(one, other, gain))
    roots = grow_trees(merges, [], alive)
    (root,) = roots
    assert sorted(end.stage_id for end in root.leaves()) == list(range(len(gains) + 1))
    stack = [root]
    while stack:
        node = stack.pop()
        assert all(part.height >= node.height for part in node.parts)
        stack.extend(node.parts)
    (root,), n_folded = fold_merges(roots, most)
    ends = root.leaves()
    assert len(ends) == min(most, len(gains) + 1)
    assert n_folded == len(gains) + 1 - len(ends)
    assert sorted(one for end in ends for one in end.members) == list(range(len(gains) + 1))


def test_stages_are_matched_by_people_first() -> None:
    rows = [
        Overlap("y", 1, 1, 5, 0, 9), Overlap("y", 1, 2, 6, 0, 1), Overlap("y", 2, 1, 6, 0, 1),
        Overlap("z", 3, 3, 0, 1, 1), Overlap("z", 3, 4, 0, 2, 2),
    ]  # fmt: skip
    assert matched_stages(rows) == {(1, 2), (2, 1), (3, 4)}


@pytest.mark.slow
def test_a_difference_says_what_is_staged_differently(chds: StagedTree) -> None:
    apart = chds.split("u5", name="apart", replace=True)
    caption = chds.plot.difference(apart).caption
    assert "No difference: Social, Economic, Events" in caption
    assert "4 situations" in caption
    same = chds.plot.difference(chds)
    assert "The stagings are equal" in words(same)
    assert "No situation is staged differently" in same.caption


@pytest.mark.slow
def test_small_counts_are_hidden_in_every_plot() -> None:
    with cegdb.open() as db:
        rows = (
            "select if(i < 700, 'a', 'b') as x, if(i % 100 = 7, 'rare', 'often') as y, "
            "case when i % 700 = 7 then 'p' when i % 3 = 0 then 'q' else 'r' end as z "
            "from range(1347) t(i)"
        )
        staged = (
            db.ingest(rows, "rows")
            .event_tree(sampling_zeros="none")
            .learn_stages(prior="mass", criterion="score")
        )
        other = staged.tree.set_stages({}, "own", prior="mass")
        names, table = staged.rows("staged_vertices", min_n=10)
        place = names.index("n")
        secret = (
            {
                before[place]
                for before, after in zip(staged.rows("staged_vertices")[1], table, strict=True)
                if after[place] is None
            }
            - {row[place] for row in table}
            - {1, 2, 4, 5}
        )  # these are ticks of axes
        assert secret & set(range(1, 10))
        for hidden in every_plot(staged, other, 10):
            assert not numbers(hidden) & secret, hidden.caption
        assert numbers(staged.plot.dendrogram()) & secret
        assert "hidden" in staged.plot.probabilities("z", min_n=10).caption


@pytest.mark.slow
def test_hostile_labels_are_texts_and_files_are_the_same_each_time(tmp_path: Path) -> None:
    def made(db: Database) -> tuple[StagedTree, StagedTree]:
        import pandas as pd

        some = np.random.default_rng(5)
        frame = pd.DataFrame(
            {
                "a <i>$b_1$</i>": [HOSTILE[i % len(HOSTILE)] for i in range(330)],
                "שאלה": some.choice(["</svg>", "no"], 330),
                r"\textbf{" + "z" * 120: some.choice(HOSTILE[:4], 330),
            }
        )
        tree = db.ingest(frame, "<script>$n$</script>").event_tree(sampling_zeros="none")
        return tree.learn_stages(
            name="& </svg> $x_1$", prior="mass", criterion="score"
        ), tree.set_stages({}, name="B" * 90, prior="mass")

    with cegdb.open() as db, cegdb.open() as other_db:
        staged, other = made(db)
        again, _ = made(other_db)
        assert staged.plot.flow()._repr_html_() == again.plot.flow()._repr_html_()
        found = [*every_plot(staged, other, None), staged.plot.situations("a <i>$b_1$</i>")]
        for one in found:
            for element in ET.fromstring(one._repr_svg_()).iter():  # noqa: S314
                assert element.tag.rpartition("}")[2] not in ("script", "b", "i")
    shown = words(found[-1])
    for label in ("<b", "$x_1$", "&amp;", "nul\u2401", "\u05e9\u05dc\u05d5\u05dd"):
        assert label in shown
    for suffix in (".pdf", ".png", ".svg"):
        assert found[0].save(tmp_path / f"plot{suffix}").stat().st_size > 1000
    assert "\\frac{a}{b}" in shown.replace("\n", "") or "\\frac" in shown


@pytest.mark.slow
def test_a_single_situation_is_not_compared_with_itself(chds: StagedTree) -> None:
    assert chds.plot.situations("Social").caption.startswith("The only situation of Social, ")
    assert chds.plot.costaging("Social").caption.startswith(
        "There is only one situation of Social to show."
    )


@pytest.mark.slow
def test_what_there_is_no_room_for_is_counted(chds: StagedTree) -> None:
    assert (
        "Shown: the 2 largest of 3 stages; the others have 234 people"
        in chds.plot.probabilities("Admission", most=2).caption
    )
    few = chds.plot.situations("Admission", most=5)
    assert "Shown: the 5 largest of 12 situations" in few.caption
    assert "Shown: the 5 largest of 12 situations" in words(few).replace("\n", " ")
    assert "and 1 more" in words(chds.plot.dendrogram(most=8))


def test_settings_that_cannot_be_are_refused(chds: StagedTree) -> None:
    with pytest.raises(QueryError, match="no situation has the variable 'Adm'"):
        chds.plot.probabilities("Adm")
    with pytest.raises(QueryError, match=r"most must be a whole number of .*, not 0"):
        chds.plot.flow(most=0)
    with pytest.raises(GraphError, match=r"width must be .* mm, not 5"):
        chds.plot.flow(width_mm=5)
    with pytest.raises(QueryError, match="min_n must be a whole number of 1 or more, not 0"):
        chds.plot.flow(min_n=0)
    with pytest.raises(StagingError, match="no parametric bootstrap"):
        chds.plot.costaging("Admission", bootstrap="parametric")


@pytest.mark.slow
def test_a_flow_has_the_width_asked_for_and_tells_evidence(chds: StagedTree) -> None:
    ceg = chds.to_ceg(replace=True)
    wide, narrow = ceg.plot.flow(), ceg.plot.flow(width_mm=85)
    for picture, width in ((wide, 170), (narrow, 85)):
        assert picture.figure.get_size_inches()[0] * 25.4 == pytest.approx(width)
    assert "Reduced to fit" not in wide.caption
    assert " Reduced to fit: text is 4.8 pt. Before using these numbers" in narrow.caption
    one = ceg.given(Admission="Yes").save("admitted").given(Social="Low").save("low")
    told = "given Admission = Yes and Social = Low"
    assert one.plot.flow().caption.startswith(f"People through positions {told}: ")
    assert f"'low' {told}, from left" in one.figure().caption


@pytest.mark.slow
def test_shares_are_written_only_where_their_cells_have_room(chds: StagedTree) -> None:
    other = chds.tree.set_stages({}, name="apart", replace=True, prior="mass")
    for width, is_written in ((170, True), (80, False)):
        picture = chds.plot.costaging("Admission", other, width_mm=width)
        assert (
            "0.5" in {text.get_text() for text in picture.figure.axes[0].texts}
        ) is is_written


@pytest.mark.slow
def test_a_caption_says_that_trees_have_no_prior_counts(chds: StagedTree) -> None:
    for found in (chds, chds.tree):
        assert "Edges have no prior counts." in found.figure(edge_info="prior").caption
    assert "Edges have no" not in chds.to_ceg(name="own").figure(edge_info="prior").caption
