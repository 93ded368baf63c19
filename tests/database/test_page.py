"""The page of a CEG: what is in the file, and what a browser makes of it."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import shutil
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

import cegdb
from cegdb.errors import CegdbError, GraphError, QueryError
from cegdb.evidence import takes, visits
from cegdb.report.page import html, write_page
from cegdb.report.page.page_data import page_model
from cegdb.report.page.page_reader import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database

# y is not asked of whoever answers a; the first three answers of 4 to y are of c only.
GATED = (
    "select ['a','b','c'][1 + i % 3] as x, "
    "if(i % 3 = 0, null, ['p','q','r'][1 + (i // 3) % (1 + i % 3)]) as y, "
    "['u','v'][1 + (i * 7 // 5 + i // 11) % 2] as z, "
    "['no','yes'][1 + cast(i % 7 < 1 + i % 3 as int)] as w from range(600) t(i)"
)
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "a\"b'c`d <!-- ]]>",
    "$x_1$ \\input{x} &amp; %d #1",
    "\u202e\u05e9\u05dc\u05d5\u05dd",
    ("long " * 60)[:300],
    "tab\tbell\x07 line\nend",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
]
FACT = "<b onclick=alert(1)>'v\"</b></style>"
# Each of v0, v1, ... v29 is asked of whoever answered w3 to the one before.
CHAIN = "from (values {}) t({})".format(
    ", ".join(
        str(tuple("w3" if k < i else "no" if k == i else "" for k in range(30)))
        for i in range(31)
        for _ in range(8)
    ),
    ", ".join(f"v{k}" for k in range(30)),
)
UNSEEN = "a\x7fb\x85c\u2028d\x9be"


@pytest.fixture(scope="module")
def made() -> Iterator[Database]:
    """Give a database with a CEG, one given evidence, and one with hostile texts."""
    with cegdb.open() as database:
        tree = database.ingest(GATED, "gated").event_tree(sampling_zeros="none")
        ceg = tree.learn_stages(name="gated", prior="mass", criterion="score").to_ceg()
        ceg.given(w="yes").save("given")
        rows = ", ".join(
            "(" + ", ".join("'" + text.replace("'", "''") + "'" for text in row) + ")"
            for i in range(120)
            for row in [(HOSTILE[i % 8], HOSTILE[i // 8 % 5], str(i * i % 3 % 2))]
        )
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in (FACT, "s'", "y"))
        survey = database.ingest(f"select * from (values {rows}) as t({columns})", FACT)  # noqa: S608
        survey.event_tree(sampling_zeros="none").set_stages({}, prior="mass").to_ceg()
        database.ingest(CHAIN, "chain").event_tree(sampling_zeros="none").set_stages(
            {}, prior="mass"
        ).to_ceg()
        yield database


def model_of(ceg: ChainEventGraph, min_n: int | None = None, **limits: int) -> dict[str, Any]:
    return page_model(ceg._store, ceg.id, min_n, Limits(**limits))


def embedded(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', text, re.S)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


def test_the_library_is_the_release_that_is_recorded() -> None:
    version, digest = html.CYTOSCAPE
    library = html._text("cytoscape.min.js")
    assert hashlib.sha256(library.encode()).hexdigest() == digest
    assert re.findall(r'version="([\d.]+)"', library) == [version]
    assert "The Cytoscape Consortium" in html._text("cytoscape.LICENSE")


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def test_the_script_reads_every_name_of_the_model(made: Database) -> None:
    script = html._text("page.js")
    unread = {
        key
        for key in keys_of(model_of(made.cegs["gated"]))
        if not re.search(rf"\b{key}\b", script)
    }
    assert not unread


@pytest.mark.slow
def test_a_page_is_the_same_bytes_and_runs_its_own_two_scripts_only(
    made: Database, tmp_path: Path
) -> None:
    one = made.cegs["gated"].report.page(tmp_path / "one.html").read_bytes()
    assert one == made.cegs["gated"].report.page(tmp_path / "two.htm").read_bytes()
    with cegdb.open() as again:
        shuffled = GATED + " order by hash(i)"
        tree = again.ingest(shuffled, "gated").event_tree(sampling_zeros="none")
        other = embedded(
            tree.learn_stages(name="gated", prior="mass", criterion="score")
            .to_ceg()
            .report.page(tmp_path / "3.html")
            .read_text()
        )
    text = one.decode()
    told = embedded(text)
    assert [other.pop("about")[0]["title"], other] == [told.pop("about")[0]["title"], told]
    assert len(one) < 1_000_000
    policy = re.search(r'Policy" content="(.*?)"', text)
    assert policy is not None
    assert "unsafe" not in policy[1]
    assert policy[1].startswith("default-src 'none'; ")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 2
    for script in (*scripts, *re.findall(r"<style.*?>(.*?)</style>", text, re.S)):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in unescape(policy[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gated", "given", FACT])
def test_the_sql_of_a_table_gives_its_rows(made: Database, name: str) -> None:
    found = model_of(made.cegs[name])["tables"]
    views = {"positions", "ceg_edges", "situation_positions", "variables"}
    views |= set() if name == "given" else {"stages", "stage_edges", "merge_steps"}
    views |= {"merges"} if name == "gated" else set()
    assert {table["view"] for table in found} == views
    for table in found:
        names, rows = made.rows(table["sql"])
        assert names == table["columns"]
        assert len(rows) == table["n_rows"]
        for row, shown in zip(rows, table["rows"], strict=True):
            for value, told in zip(row, shown, strict=True):
                assert value == told or (told is None and not math.isfinite(value))


@pytest.mark.slow
def test_stages_and_situations_are_those_of_the_views(made: Database) -> None:
    ceg = made.cegs["gated"]
    found = model_of(ceg)
    for stage in found["stages"]:
        rows = ceg.staging.stage_edges.query(f"stage == '{stage['name']}'")
        for edge, row in zip(stage["edges"], rows.itertuples(), strict=True):
            assert edge == {
                "label": row.label,
                "n": row.n,
                "share": row.share,
                "probability": row.probability,
                "low": row.low,
                "high": row.high,
            }
    vertices = {one["id"]: one for one in found["tree"]["vertices"]}
    told = {one["name"]: one for one in vertices.values() if one["variable"]}
    rows = ceg.situation_positions
    assert len(told) == len(rows)
    for row in rows.itertuples():
        one = told[row.situation]
        path, vertex = [], one
        while vertex["parent"] is not None:
            path.append(vertex["label"])
            vertex = vertices[vertex["parent"]]
        assert path[::-1] == list(row.labels)
        assert (one["n"], one["position"]) == (row.n, row.position)
        assert found["stages"][one["stage"]]["name"] == row.stage


@pytest.mark.slow
def test_with_min_n_the_file_holds_what_is_shown_of_the_ceg_and_no_other_count(
    made: Database,
) -> None:
    ceg = made.cegs["gated"]
    found = model_of(ceg, 67)
    names, rows = ceg.rows("ceg_edges", min_n=67)
    shown = [dict(zip(names, row, strict=True)) for row in rows]
    # Labels of the data have their ids in level order.
    for edge, row in zip(found["ceg"]["edges"], shown, strict=True):
        for key in ("n", "share", "probability", "low", "high"):
            assert edge[key] == row[key]
    assert None in [row["probability"] for row in shown]
    names, rows = ceg.rows("positions", min_n=67)
    assert [one["n"] for one in found["ceg"]["positions"]] == [
        row[names.index("n")] for row in rows
    ]
    assert not any(one["n"] for one in found["tree"]["vertices"] + found["tree"]["edges"])
    assert not any(one["lines"] or one["notes"] for one in found["about"])
    assert "Evidence is off" in found["inference"]
    assert isinstance(found["merges"], str)
    assert [table["view"] for table in found["tables"]] == ["positions", "ceg_edges"]
    assert not any(table["sql"] for table in found["tables"])
    of_marginals = model_of(ceg, 2)["inference"]
    assert of_marginals["n"] is None
    assert not any(any(one["limits"]) for one in of_marginals["variables"])


def test_a_large_ceg_is_drawn_in_part_and_says_of_how_many(made: Database) -> None:
    ceg = made.cegs["gated"]
    found = model_of(ceg, edges=12, overview=12, rows=3, evidence=12, situations=1)
    drawn = [one["name"] for one in found["ceg"]["positions"]]
    by_people = ceg.positions.sort_values("n", ascending=False)["position"].tolist()
    assert drawn[0] == "w0"
    assert drawn[-1] == "w_inf"
    assert 2 < len(drawn) < len(by_people)
    told = " ".join(found["notices"])
    assert f"{len(drawn) - 1} of 11 positions" in told
    beyond = [node for node in found["ceg"]["drawing"]["nodes"] if node["kind"] == "collapsed"]
    targets = set(ceg.edges[ceg.edges["source"].isin(drawn)]["target"]) - set(drawn)
    assert sum(node["hides"] for node in beyond) == len(targets) > 0
    tree = found["tree"]
    kept = {edge["s"] for edge in tree["drawing"]["edges"]}
    hidden = sum(node.get("hides", 0) for node in tree["drawing"]["nodes"])
    assert len(kept) + hidden == tree["total"] == len(ceg.situation_positions)
    assert f"{len(kept)} of {tree['total']} situations" in told
    assert "24 edges" in found["inference"]
    assert all(len(table["rows"]) <= 3 for table in found["tables"])
    assert all(len(one["members"]) <= 1 for one in found["ceg"]["positions"])


@pytest.mark.slow
def test_the_merge_log_gives_the_stages_or_says_why_not(made: Database) -> None:
    ceg = made.cegs["gated"]
    log = model_of(ceg)["merges"]
    group = dict(log["start"]) | {absorbed: kept for kept, absorbed, _ in log["steps"]}

    def root(vertex: int) -> int:
        return root(group[vertex]) if vertex in group else vertex

    for row in ceg.staging.florets.itertuples():
        assert root(row.vertex_id) == row.stage_id
    by_hand = ceg.staging.tree.set_stages({("a",): "s"}, name="by hand", prior="mass").to_ceg()
    assert "the stages were given" in model_of(by_hand)["merges"]
    made.drop("staging", "by hand")
    with cegdb.open() as other:
        rows = "select i % 4 as x, i * 7 % 10 < 3 + i % 4 as y from range(80) t(i)"
        tree = other.ingest(rows).event_tree(sampling_zeros="none")
        started = tree.learn_stages(
            initial=[[("0",), ("3",)]], prior="mass", criterion="score"
        ).to_ceg()
        assert len(started.staging.merges) > 0
        assert "began with groups" in model_of(started)["merges"]


@pytest.mark.slow
def test_a_ceg_in_which_nobody_is_asked_anything_has_a_page() -> None:
    with cegdb.open() as database:
        survey = database.ingest("select null::varchar as x from range(9)", "silent")
        found = model_of(
            survey.event_tree(sampling_zeros="none").set_stages({}, prior="mass").to_ceg()
        )
    assert found["head"].endswith("0 situations, 0 stages, 0 positions and 0 edges")
    assert [one["name"] for one in found["ceg"]["positions"]] == ["w_inf"]


def test_what_makes_no_sense_is_refused_before_any_work(made: Database, tmp_path: Path) -> None:
    ceg = made.cegs["gated"]
    with pytest.raises(GraphError, match=r"unknown file type '.pdf' .page.pdf."):
        ceg.report.page(tmp_path / "page.pdf")
    with pytest.raises(QueryError, match="min_n must be a whole number of 1 or more, not 0"):
        ceg.report.page(tmp_path / "page.html", min_n=0)
    with pytest.raises(CegdbError, match="folder"):
        ceg.report.page(tmp_path / "none" / "page.html")
    assert list(tmp_path.iterdir()) == []


# ---- in a browser -----------------------------------------------------------------------

PRESSED = """pane => name => {
  const { cy } = document.getElementById(`graph-${pane}`)._cyreg;
  const box = document.getElementById(`graph-${pane}`).getBoundingClientRect();
  const node = cy.nodes().filter((n) => n.data('label').split('\\n')[0] === name)[0];
  const { x, y } = node.renderedPosition();
  return [box.x + x, box.y + y];
}"""
LIT = """pane => document.getElementById(`graph-${pane}`)._cyreg.cy.nodes('.lit').not('.text')
  .map((n) => n.data('label').split('\\n')[0])"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Give a headless Chromium, or skip."""
    from playwright import sync_api as playwright

    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any, made: Database, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Give a function that opens the page of a CEG; the page says and asks for nothing."""
    heard: list[str] = []
    pages = []

    def open_page(name: str, **settings: Any) -> Any:
        ceg = made.cegs[name]
        file = write_page(ceg._store, ceg.id, tmp_path / "page.html", **settings)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(5_000)
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith(("data:", file.as_uri()))
                else heard.append(asked.url)
            ),
        )
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert heard == []


TOLD = """async (name) => {
  const graph = document.getElementById(`graph-${name}`);
  graph.focus();
  graph.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
  graph.blur();
  const number = (one) => Number(one.dataset.value);
  const told = [];
  for (;;) {
    graph.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab' }));
    const head = document.querySelector('#selection h2').textContent;
    if (told.length && told.at(-1).head === head || head.startsWith('w')) return told;
    const answers = [...document.querySelectorAll('#selection .answer')];
    told.push({
      head,
      name: head.split(' ')[1].split(':')[0],
      reached: number(document.getElementById('reached-given')),
      edges: answers.map((one) => [
        one.querySelector('.words').textContent,
        number(one.querySelector('.facts [data-value]')),
      ]),
    });
  }
}"""


def limits_shown(page: Any) -> dict[str, str]:
    """Return the tooltip of the line across each bar of an answer."""
    return dict(
        page.eval_on_selector_all(
            "#evidence .whisker",
            "all => all.map((one) => [one.parentNode.previousSibling.title, one.title])",
        )
    )


@pytest.mark.slow
def test_evidence_in_the_page_is_that_of_the_database_or_impossible(
    opened: Callable[..., Any], made: Database
) -> None:
    ceg = made.cegs["gated"]
    edges = ceg.edges
    vertices = {one["name"]: one for one in model_of(ceg)["tree"]["vertices"]}
    by_id = {one["id"]: one for one in vertices.values()}

    def answers_to(name: str) -> dict[str, str]:
        one = vertices[name]
        if one["parent"] is None:
            return {}
        parent = by_id[one["parent"]]
        return {**answers_to(parent["name"]), parent["variable"]: one["label"]}

    page = opened("gated")
    close = {"rel": 0, "abs": 1e-9}
    n = ceg.positions["n"].iloc[0]
    assert page.inner_text("#evidence > p").endswith(f": 95\xa0% intervals (n\xa0=\xa0{n}).")
    # Lines across the bars, of answers in the order of the page; their tooltips give both ends.
    assert limits_shown(page) == {
        f"{row.variable} = {row.label}": f"95 % interval {row.low:.3f}\u2013{row.high:.3f}"
        for row in ceg.marginals().itertuples()
    }
    asked: list[dict[str, list[str]]] = [
        {"y": ["p"]},
        {"y": ["not applicable"]},
        {"x": ["a", "b"], "z": ["u"], "y": ["q", "not applicable"]},
        {"w": ["yes"], "y": ["p", "q"], "x": ["b", "c"]},
    ]
    for evidence in asked:
        for name, labels in evidence.items():
            for label in labels:
                page.get_by_title(f"{name} = {label}", exact=True).click()
        assert limits_shown(page) == {}
        assert "cegdb marginals with --given" in page.inner_text("#evidence > p")
        given = ceg.given(evidence)
        probability = page.locator("#given [data-value]").get_attribute("data-value")
        assert float(probability) == pytest.approx(given.probability_of_evidence, **close)
        marginals = {
            f"{row.variable} = {row.label}": row.probability
            for row in given.marginals().itertuples()
        }
        shown = page.eval_on_selector_all(
            "#evidence .bars > button",
            "all => all.map((b) => [b.title, +b.nextSibling.nextSibling.dataset.value])",
        )
        assert marginals.keys() <= {title for title, _ in shown}
        for title, found in shown:
            assert found == pytest.approx(marginals.get(title, 0.0), **close)
        told = page.evaluate(TOLD, "ceg")
        assert [one["name"] for one in told] == list(ceg.positions["position"][:-1])
        for one in told:
            reached = given.probability(visits(one["name"]), interval=None)
            assert one["reached"] == pytest.approx(reached, **close)
            labels = edges[edges["source"] == one["name"]]["label"]
            assert sorted(label for label, _ in one["edges"]) == sorted(labels)
            for label, found in one["edges"]:
                taken = given.probability(takes(one["name"], label), interval=None)
                expected = taken / reached if reached else 0.0
                assert found == pytest.approx(expected, **close)
        told = page.evaluate(TOLD, "tree")
        assert len(told) == len(vertices)
        for one in told:
            reached = given.probability(answers_to(one["name"]), interval=None)
            assert one["reached"] == pytest.approx(reached, **close)
        page.click("#clear")
    page.get_by_title("x = a", exact=True).click()
    page.get_by_title("y = r", exact=True).click()
    assert "Impossible: no path agrees with x = a and y = r." in page.inner_text("#given")
    page.click("#clear")
    assert not page.is_visible("#given")


@pytest.mark.slow
def test_many_questions_that_few_are_asked_and_answers_that_are_like_names(
    opened: Callable[..., Any], made: Database
) -> None:
    page = opened("chain")
    page.fill("#search", "w3")
    assert page.inner_text("#found") == "found 1 vertex, 60 edges"
    page.fill("#search", "v5")
    page.fill("#collapse", "225")
    page.press("#search", "Enter")
    assert page.inner_text("#selection h2") == "Nothing selected"
    titles = [f"v{k} = w3" for k in range(30)] + ["v29 = no"]
    page.evaluate(
        """titles => titles.forEach((title) => {
          const all = [...document.querySelectorAll('#evidence button')];
          all.find((one) => one.title === title).click();
        })""",
        titles,
    )
    given = made.cegs["chain"].given(v29=["no", "w3"])
    probability = page.locator("#given [data-value]").get_attribute("data-value")
    assert float(probability) == pytest.approx(given.probability_of_evidence, abs=0, rel=1e-9)
    page.focus("#graph-tree")
    page.keyboard.press("Tab")
    page.get_by_title("v0 = w3", exact=True).click()
    page.get_by_title("v0 = no", exact=True).click()
    assert "Impossible" in page.inner_text("#given")
    # Nothing has a probability then, not even 0.
    assert page.inner_text("#selection").count("with evidence \u2013") == 2
    assert page.inner_text("#reached-given") == "\u2013"
    # What is pressed and goes away hands the focus on.
    for button, section in (
        ("#known .chip", "known"),
        ("#clear", "evidence"),
        ("#selection [data-part] button", "selection"),
    ):
        page.press(f"{button} >> nth=0", "Enter")
        assert page.evaluate(f"document.activeElement.closest('#{section}') !== null")


@pytest.mark.slow
def test_characters_that_show_nothing_have_symbols(browser: Any, tmp_path: Path) -> None:
    with cegdb.open() as database:
        rows = f"select ['{UNSEEN}', 'u'][1 + i % 2] as x, i % 3 as y from range(60) t(i)"  # noqa: S608
        survey = database.ingest(rows, "a\x00\x1b[31m\x01b")
        file = (
            survey.event_tree(sampling_zeros="none")
            .set_stages({}, prior="mass")
            .to_ceg()
            .report.page(tmp_path / "page.html")
        )
    assert not re.search(rb"[\x00-\x08\x0b-\x1f]", file.read_bytes())
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(file.as_uri())
    assert page.title() == page.inner_text("h1") == "CEG a\u2400\u241b[31m\u2401b"
    shown = "a\u2421b\u2424c\u2424d\ufffde"
    assert page.get_by_title(f"x = {shown}", exact=True).inner_text() == shown
    page.emulate_media(media="print")
    page.evaluate("document.querySelector('figure').classList.add('small')")
    assert not page.is_visible("figure .hint >> nth=0")
    page.close()


@pytest.mark.slow
def test_a_click_tells_of_a_position_and_lights_up_its_situations_and_stage(
    opened: Callable[..., Any], made: Database
) -> None:
    ceg = made.cegs["gated"]
    page = opened("gated")
    page.mouse.click(*page.evaluate(f"({PRESSED})('ceg')('w9')"))
    told = page.inner_text("#selection")
    assert told.startswith("Position w9: w")
    assert "Reached by 233 people, from 5 situations." in told
    rows = ceg.situation_positions.query("position == 'w9'")
    assert sorted(page.evaluate(LIT, "tree")) == sorted(rows["situation"])
    for row in rows.itertuples():
        assert row.situation in told
    assert "w9" in page.inner_text("#live")
    page.click("#selection .chip")
    stage = rows["stage"].iloc[0]
    members = ceg.situation_positions.query(f"stage == '{stage}'")
    assert set(page.evaluate(LIT, "tree")) == set(members["situation"])
    assert set(page.evaluate(LIT, "ceg")) == set(members["position"])
    assert page.locator("#selection .whisker").count() == 2
    page.mouse.click(*page.evaluate(f"({PRESSED})('tree')('s1')"))
    assert page.inner_text("#selection h2").startswith("Situation s1: z")
    page.keyboard.press("Escape")
    assert page.inner_text("#selection h2") == "Nothing selected"


@pytest.mark.slow
def test_search_collapse_edges_steps_and_tabs_do_what_they_say(
    opened: Callable[..., Any], made: Database
) -> None:
    page = opened("gated")
    page.fill("#search", "W10")
    assert page.inner_text("#found") == "found 1 vertex, 0 edges"
    assert page.evaluate(LIT, "ceg") == ["w10"]
    page.press("#search", "Enter")
    assert page.inner_text("#selection h2").startswith("Position w10:")
    page.fill("#search", "nowhere")
    assert page.inner_text("#found") == "nothing found"
    page.fill("#search", "")
    page.fill("#collapse", "100")
    n = made.cegs["gated"].positions["n"][:-1]
    situations = made.cegs["gated"].situation_positions["n"]
    assert (
        f"hides {(n < 100).sum()} of 11 positions and "
        f"{(situations < 100).sum()} of {len(situations)} situations"
    ) in page.inner_text("#collapsed")
    label = "document.getElementById('graph-ceg')._cyreg.cy.getElementById('t3').data('label')"
    for info, text in [
        ("n", "u\n103"),
        ("share", "u\n0.508"),
        ("probability", "u\n0.508"),
        ("none", "u"),
    ]:
        page.select_option("#edge-info", info)
        assert page.evaluate(label) == text
    page.select_option("#edge-info", "interval")
    assert re.fullmatch(r"u\n0\.4\d\d\u20130\.5\d\d", page.evaluate(label))
    page.fill("#step", "1")
    assert "Step 1 of 14: the stage of " in page.inner_text("#step-status")
    page.focus("#tab-graph")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#tables .sql >> nth=0").startswith("select position, variable")
    page.evaluate(
        "window.copied = ''; navigator.clipboard.writeText = async (t) => { copied = t }"
    )
    page.click("#tables .copy >> nth=0")
    assert page.evaluate("copied").endswith(
        "where ceg = 'gated'\norder by stage_id is null, position_id"
    )
    page.click("#tab-about")
    assert "600 rows read" in page.inner_text("#about")


@pytest.mark.slow
@pytest.mark.parametrize("name", [FACT, "given"])
def test_hostile_texts_and_given_cegs_show_literally(
    opened: Callable[..., Any], name: str
) -> None:
    page = opened(name)
    assert page.inner_text("h1") == f"CEG {name}"
    assert page.title() == f"CEG {name}"
    page.focus("#graph-ceg")
    page.keyboard.press("Tab")
    if name == FACT:
        told = page.text_content("#selection")
        for text in HOSTILE:
            shown = re.sub("[\x00-\x1f]", lambda c: chr(0x2400 + ord(c[0])), text)
            assert shown in told
        page.get_by_title(f"{FACT} = {HOSTILE[0]}", exact=True).click()
        assert f"{FACT} = {HOSTILE[0]}" in page.inner_text("#known")
    else:
        assert page.locator("#selection .whisker").count() == 0
        assert "a CEG given evidence" in page.inner_text("#merging")
    for tab in ("about", "tables"):
        page.click(f"#tab-{tab}")
        assert name in page.inner_text(f"#{tab}")
    if name == FACT:
        page.click("[data-view='situation_positions'] button:has-text('Next')")
        assert "rows 26 to " in page.inner_text("[data-view='situation_positions']")
    assert page.evaluate("window.hacked") is None


@pytest.mark.slow
def test_a_page_of_a_part_tells_of_all_that_it_draws(opened: Callable[..., Any]) -> None:
    page = opened("gated", limits=Limits(edges=12, overview=12, rows=30, situations=1))
    notices = page.locator("#notices .notice").all_inner_texts()
    assert sum(not notice.startswith("Note: ") for notice in notices) == 2
    page.get_by_title("z = u", exact=True).click()
    for name, texts in (("ceg", " not drawn"), ("tree", "are not drawn")):
        page.focus(f"#graph-{name}")
        told = page.evaluate(
            """(name) => {
              const graph = document.getElementById(`graph-${name}`);
              const { cy } = graph._cyreg;
              return cy.nodes().not('.text').not('.column').map(() => {
                graph.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab' }));
                return document.getElementById('selection').textContent;
              });
            }""",
            name,
        )
        assert sum(texts in one for one in told) >= 1
        assert len(set(told)) == len(told)


@pytest.mark.slow
def test_with_hidden_counts_evidence_is_off(opened: Callable[..., Any]) -> None:
    page = opened("gated", min_n=67)
    assert "small counts are hidden" in page.inner_text("#evidence-off")
    page.fill("#collapse", "2")
    assert page.inner_text("#collapsed") == "hides none; vertices without n stay"
    page.click("#tab-tables")
    assert page.locator(".sql").count() == 0
    assert "cegdb show DB NAME --kind ceg" in page.inner_text("#tables")
