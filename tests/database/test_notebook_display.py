"""Objects show themselves in a notebook, labels literally."""

from __future__ import annotations

import html
import re

import duckdb
import pytest

import cegdb
from cegdb.errors import UnknownNameError
from cegdb.pictures import summary_and_picture

HOSTILE = "<script>alert(1)</script>"
ROWS = (
    f"select if(i % 2 = 0, '{HOSTILE}', 'b & c') as x, if(i % 3 = 0, 'y', 'n') as y, "  # noqa: S608
    "'z' || i % 2 as z from range(60) t(i)"
)


@pytest.fixture(scope="module")
def made():
    with cegdb.open() as db:
        survey = db.ingest(ROWS, name="odd")
        tree = survey.event_tree(sampling_zeros="none")
        staged = tree.learn_stages(prior="mass", criterion="score")
        yield db, survey, tree, staged, staged.to_ceg()


@pytest.mark.slow
def test_every_object_shows_itself_and_no_label_as_html(made):
    db, survey, tree, staged, ceg = made
    given = ceg.given(x=HOSTILE)
    objects = {
        "database": db,
        "collection": db.cegs,
        "survey": survey,
        "tree": tree,
        "staging": staged,
        "ceg": ceg,
        "given": given,
        "set": ceg.do(x=HOSTILE),
        "effect": ceg.effect("x", {"y": "y"}, draws=0),
        "adjustment": ceg.adjustment("x", "y", []),
        "assigned": ceg.assign(ROWS),
        "classified": ceg.classify(ROWS, "x"),
        "orders": survey.search_orders(),
        "exploration": survey.explore("y"),
    }
    for name, one in objects.items():
        shown = one._repr_html_()
        assert re.match(r"<(pre|figure|svg)", shown), name
        assert "<script" not in shown, name
        if name in {"tree", "staging", "ceg", "given", "set", "effect", "classified"}:
            assert "&lt;script&gt;" in shown, name


@pytest.mark.slow
def test_large_graphs_say_how_to_get_an_overview(made):
    for graph in made[2:]:
        large = summary_and_picture(graph.summary, 2, graph.figure, most=1)
        assert large.endswith("<code>figure()</code> for an overview.</p>")
        assert large.startswith("<pre>")
        assert graph._repr_html_() == summary_and_picture(graph.summary, 2, graph.figure)


def test_graphs_show_their_picture(made):
    _, _, tree, staged, ceg = made
    for graph in (tree, staged, ceg):
        assert "<svg " in graph._repr_html_()


@pytest.mark.slow
def test_nothing_raises_when_it_is_shown_after_its_database_was_closed():
    db = cegdb.open()
    ceg = db.demo("chds")
    gone = db.demo("titanic")
    shown = [db, db.cegs, ceg, ceg.staging, ceg.staging.tree, db.surveys["chds"]]
    assert repr(db) == "cegdb in memory: 2 surveys, 2 event trees, 2 stagings, 2 CEGs"
    assert repr(db.trees) == "event trees: 'chds', 'titanic'"
    db.drop("ceg", "titanic")
    dropped = "<ChainEventGraph: this CEG no longer exists: it was dropped>"
    assert repr(gone) == dropped
    assert html.unescape(gone._repr_html_()) == f"<pre>{dropped}</pre>"
    db.close()
    assert repr(db) == "<cegdb in memory: this database is closed>"
    assert repr(ceg) == "<ChainEventGraph: this database is closed>"
    for one in shown:
        assert html.unescape(one._repr_html_()) == f"<pre>{one!r}</pre>"


@pytest.mark.slow
def test_an_object_is_shown_while_the_catalog_is_read():
    with cegdb.open() as db:
        ceg = db.demo("chds")
        shown = [db, db.cegs, ceg, ceg.staging, ceg.staging.tree, db.surveys["chds"]]
        expected = [repr(one) for one in shown]
        assert not any(text.startswith("<") for text in expected)
        with db._store.catalog():
            assert [repr(one) for one in shown] == expected
        with pytest.raises(UnknownNameError) as error:
            db.stagings[ceg]
        assert error.value.args[0] == f"no staging named {ceg!r}; available: 'chds'"
        with db._store.writing() as (con, _):
            with pytest.raises(duckdb.Error):
                con.execute("select cast(x as integer) from (values ('a')) as t(x)")
            for one in shown:
                assert "Current transaction is aborted" in repr(one)


def test_plots_and_reports_show_what_there_is():
    db = cegdb.open()
    ceg = db.demo("chds")
    assert repr(ceg.plot) == "plots of a CEG (those of its stages: ceg.staging.plot): flow"
    assert repr(ceg.staging.plot).startswith("plots of a staging: probabilities, situations, ")
    assert repr(ceg.report) == "reports of a CEG: page, text, save, cite"
    assert repr(db.report) == "reports of several objects: comparison, save_comparison"
    with pytest.raises(AttributeError, match=r"its staging has: ceg\.staging\.plot\.merges"):
        ceg.plot.merges  # noqa: B018
    assert not hasattr(ceg.plot, "nothing")
