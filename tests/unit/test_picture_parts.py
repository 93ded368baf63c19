"""The small parts of figures: texts, colours, sizes, ticks, trees of merges."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from cegdb.atomic_files import suffix_of
from cegdb.clustering import Merge
from cegdb.errors import GraphError, QueryError
from cegdb.graphs.graph_files import GRAPH_FILES
from cegdb.graphs.label_text import (
    format_number,
    format_probability,
    is_shared,
    one_line,
    text_colour,
    text_lines,
    vertex_label,
    xml_text,
)
from cegdb.pictures.captions import join_sentences, omission_note, scale_note
from cegdb.pictures.merge_trees import choose_trees, final_stages, fold_merges, grow_trees
from cegdb.pictures.plot_data import (
    Overlap,
    Stage,
    check_most,
    find_variable,
    matched_stages,
)

TREE = [Merge(1, 3, 2.0)], [Merge(1, 2, -4.0)], [1, 2]


def test_text_on_a_colour_is_the_one_of_more_contrast() -> None:
    assert [text_colour(one) for one in ("#F0E442", "#332288", "odd")] == [
        "#000000", "#ffffff", "#000000",
    ]  # fmt: skip


def test_numbers_keep_what_matters() -> None:
    probabilities = [format_probability(value) for value in (0.25, 0.00012, 1e-9, 1, 0)]
    assert probabilities == ["0.250", "0.0001", "<0.0001", "1", "0"]
    assert [format_number(one) for one in (6012, 1.5, 0.00004)] == ["6,012", "1.5", "4e-05"]


def test_texts_are_wrapped_and_show_control_characters() -> None:
    lines = list(text_lines(["High", "assessed and not treated at home"], width=20))
    assert lines == ["High", "assessed and not ", "treated at home"]
    assert xml_text("yes\x00no") == "yes␀no"
    assert one_line("yes\x07\nno") == "yes␇ no"


def test_a_vertex_shows_its_variable_and_the_colour_it_shares() -> None:
    assert vertex_label("w1", {"variable": "Risk"}) == "w1 Risk"
    assert is_shared({"stage": "u1", "colour": "#E69F00"})
    assert not is_shared({"colour": "#ffffff"})


def test_suffixes_are_named() -> None:
    assert suffix_of(Path("falls.DOT"), GRAPH_FILES, "a graph") == ".dot"
    with pytest.raises(GraphError, match=r"a graph is written as \.graphml"):
        suffix_of(Path("falls.doc"), GRAPH_FILES, "a graph")


def test_captions_leave_out_what_is_empty_and_agree_in_number() -> None:
    assert join_sentences("One", "", "Two") == "One. Two."
    assert omission_note(40, 0, "stage") == ""
    assert scale_note(6.42) == "Reduced to fit: text is 6.4 pt"
    assert scale_note(2.5) == "Reduced to fit: text is 2.5 pt, too small to read in print"
    assert omission_note(40, 172, "stage", 3456) == (
        "Shown: the 40 largest of 212 stages; the others have 3,456 people"
    )
    assert omission_note(1, 2, "label") == "Shown: the largest of 3 labels"
    assert omission_note(0, 2, "label") == "Shown: none of 2 labels"
    assert omission_note(2, 1, "label") == "Shown: the 2 largest of 3 labels"


def test_settings_of_plots_are_refused() -> None:
    with pytest.raises(
        QueryError, match="most must be a whole number of stages from 2 to 10,000"
    ):
        check_most(1, "stages")
    with pytest.raises(
        QueryError, match=r"variable 'Rsk'; available: 'Risk', 'Fall'\nhint: did"
    ):
        find_variable(["Risk", "Fall"], "Rsk")


def test_the_variable_of_a_plot_is_found_like_a_column() -> None:
    assert find_variable(["Risk", "Fall"], " risk") == "Risk"
    assert find_variable(["Risk", "risk"], "risk") == "risk"
    with pytest.raises(QueryError, match="may be any of 'Risk', 'risk'"):
        find_variable(["Risk", "risk"], "RISK")


def test_stages_that_share_more_people_are_matched() -> None:
    rows = [Overlap("y", 1, 1, 5, 0, 1), Overlap("y", 1, 2, 9, 0, 1)]
    assert matched_stages(rows) == {(1, 2)}


def test_merges_grow_trees_whose_first_merges_fold() -> None:
    assert final_stages([Merge(2, 5, 1.0), Merge(1, 2, 0.5)]) == {1: 1, 2: 1, 5: 1}
    (root,) = grow_trees(*TREE)
    assert root.height == -4.0
    assert [leaf.stage_id for leaf in root.leaves()] == [1, 3, 2]
    (root,), n_folded = fold_merges([root], 2)
    assert ([leaf.members for leaf in root.leaves()], n_folded) == ([[1, 3], [2]], 1)


def test_the_largest_tree_that_has_room_is_chosen() -> None:
    more = [Merge(1, 2, -4.0), Merge(5, 6, -1.0)]
    roots = grow_trees([Merge(1, 3, 2.0)], more, [1, 2, 5, 6])
    assert [root.stage_id for root in choose_trees(roots, 3)] == [1]


class TestDrawn:
    """What matplotlib measures and draws."""

    def test_sizes_are_those_of_the_font(self) -> None:
        from cegdb.pictures.plots.sheet import fit_text, height_of, width_of
        from cegdb.pictures.style import has_glyph, text_size, wrap_text

        width, height = text_size(["w12"], 10)
        assert 18 < width < 26
        assert height == 12.0
        assert round(height_of("one"), 2) == 3.81
        assert width_of("a") < width_of("aa")
        assert (
            fit_text("assessed and not treated at home", 20, most=2) == "assessed\nand not tr…"
        )
        assert wrap_text("assessed and not treated at home", 20) == (
            "assessed and not \ntreated at home"
        )
        assert (has_glyph("é"), has_glyph("本")) == (True, False)

    def test_figures_have_the_size_asked_for(self) -> None:
        from cegdb.graphs.layout import Layout
        from cegdb.pictures.painting import paint_layout
        from cegdb.pictures.plots.sheet import Sheet, check_width, empty_sheet, shrink
        from cegdb.pictures.style import (
            check_sizes,
            figure_style,
            new_figure,
            render_figure,
            svg_element,
        )

        with figure_style(["Risk = High"]):
            assert new_figure(127, 50.8).get_size_inches().tolist() == [5.0, 2.0]
            assert render_figure(new_figure(50, 50), "pdf")[:5] == b"%PDF-"
            assert svg_element(new_figure(50, 50))[:5] == "<svg "
            assert shrink(Sheet(340, 100), 170) == 0.5
            assert empty_sheet("There are no merges to show.", "", 100).width == 100
            empty = Layout("c", "ceg", 60, 60, (), (), ())
            figure = paint_layout(empty, font_size=9, width=144)
        assert figure.get_size_inches().tolist() == [2.0, 1.0]
        check_sizes(9, 170)
        with pytest.raises(GraphError, match="width must be 80 to 1,000 mm, not 10"):
            check_width(10)
        with pytest.raises(GraphError, match="font_size must be 1 to 100 points, not 0"):
            check_sizes(0, 170)

    def test_marks_of_stages(self) -> None:
        from cegdb.pictures.plots.ribbons import lighten
        from cegdb.pictures.plots.stage_marks import fill_colour, largest, stage_title

        stage = Stage(7, "u3", "frail", "learnt", "#009E73", 2, 40)
        assert (fill_colour(stage), stage_title(stage)) == ("#009E73", "u3 frail")
        assert fill_colour(stage._replace(n_situations=1)) == "#ffffff"
        assert largest([3, 9, 1, 5], 2, float) == ([9, 5], [3, 1])
        assert lighten("#000000", 0.5) == "#808080"

    def test_ticks_of_gains(self) -> None:
        from cegdb.pictures.plots.merge_axis import format_signed, ticks_of

        assert format_signed(-1000) == "\u22121,000"
        assert ticks_of(-300, 3) == [-100.0, -10.0, -1.0, 0.0, 1.0, 2.0]

    def test_the_numbers_of_gains_do_not_overlap(self) -> None:
        from cegdb.pictures.plots.merge_axis import label_gains
        from cegdb.pictures.style import new_figure

        axes = new_figure(127, 60).add_axes((0, 0, 1, 1))
        axes.set_yscale("symlog", linthresh=1, linscale=0.8)
        axes.set_ylim(-10_000, 10)
        label_gains(axes.yaxis, -10_000, 10)
        heights = [axes.transData.transform((0, tick))[1] for tick in axes.get_yticks()]
        assert axes.get_yticks()[-1] == 5
        assert min(b - a for a, b in pairwise(heights)) > 10

    def test_shares_of_runs_and_stagings(self) -> None:
        from cegdb.pictures.plots import shares_of_pairs, shares_of_stagings

        expected = [[1.0, 0.5], [0.5, 1.0]]
        assert shares_of_pairs([3, 4], [(3, 4, 10, 5)], "10 runs").share.tolist() == expected
        members = [{3: 3, 4: 3}, {3: 3, 4: 4}]
        assert shares_of_stagings([3, 4], members, "2").share.tolist() == expected
