"""Settings are stated once: signatures and docstrings of the API say what options.py does."""

from __future__ import annotations

import dataclasses
import inspect
import pydoc
import re
from typing import TYPE_CHECKING, Any, get_args

import click
import pytest
from click.testing import CliRunner

import cegdb
from cegdb import errors
from cegdb.api import ChainEventGraph, Database, EventTree, Exploration, StagedTree, Survey
from cegdb.api.plots import CegPlots, StagingPlots
from cegdb.api.reports import CegReport, DatabaseReport
from cegdb.cli import main
from cegdb.errors import StagingError
from cegdb.options import (
    STAGES_LIKE,
    TREES_LIKE,
    AlphaPathSettings,
    CegOptions,
    CegSettings,
    EffectOptions,
    EffectSettings,
    ExploredTreeSettings,
    ExploreOptions,
    ExploreSettings,
    IngestOptions,
    IngestSettings,
    IntervalOptions,
    IntervalSettings,
    LearnOptions,
    LearnSettings,
    Like,
    LikeOptions,
    NewRowsOptions,
    NewRowsSettings,
    OrderOptions,
    OrderSettings,
    PictureOptions,
    PictureSettings,
    PosteriorOptions,
    PosteriorSettings,
    ReadOptions,
    RowOptions,
    RowSettings,
    SourceSettings,
    StabilityOptions,
    StabilitySettings,
    StageOptions,
    StageSettings,
    TreeOptions,
    TreeSettings,
    WeightedRowSettings,
    options_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Keywords = tuple[type, tuple[type, ...], set[str]]
NEW_ROWS: Keywords = (NewRowsSettings, (NewRowsOptions, ReadOptions), {"source_column"})
ROWS: Keywords = (RowSettings, (RowOptions, ReadOptions), {"count", "weight", "source_column"})
WEIGHTED: Keywords = (WeightedRowSettings, (RowOptions, ReadOptions), {"source_column"})
PICTURES: Keywords = (PictureSettings, (PictureOptions,), set())
METHODS: dict[Callable[..., Any], tuple[Keywords, str]] = {
    Database.ingest: (
        (IngestSettings, (IngestOptions, ReadOptions), set()),
        "source name replace",
    ),
    Database.codebook: ((SourceSettings, (ReadOptions,), set()), "source columns form"),
    Survey.append: (NEW_ROWS, "source"),
    Survey.refresh: (NEW_ROWS, "source"),
    Survey.event_tree: ((TreeSettings, (TreeOptions, LikeOptions), set()), "name replace"),
    Exploration.event_tree: (
        (ExploredTreeSettings, (TreeOptions, LikeOptions), {"order"}),
        "name replace",
    ),
    Survey.explore: ((ExploreSettings, (ExploreOptions,), {"outcome"}), "outcome"),
    Survey.search_orders: ((OrderSettings, (OrderOptions,), {"variables"}), "variables"),
    EventTree.learn_stages: (
        (LearnSettings, (LearnOptions, StageOptions, LikeOptions), set()),
        "name replace",
    ),
    EventTree.alpha_path: (
        (AlphaPathSettings, (LearnOptions, StageOptions), {"alpha"}),
        "",
    ),
    EventTree.set_stages: (
        (StageSettings, (StageOptions,), set()),
        "stages name depends replace",
    ),
    StagedTree.to_ceg: ((CegSettings, (CegOptions,), set()), "name replace"),
    StagedTree.stability: (
        (StabilitySettings, (StabilityOptions,), {"bootstrap"}),
        "bootstrap",
    ),
    StagedTree.posterior: ((PosteriorSettings, (PosteriorOptions,), set()), ""),
    StagedTree.intervals: ((IntervalSettings, (IntervalOptions,), {"method"}), "method"),
    ChainEventGraph.assign: (ROWS, "source keep into file replace"),
    ChainEventGraph.complete: (ROWS, "source variables keep into file replace"),
    ChainEventGraph.score: (WEIGHTED, "source"),
    ChainEventGraph.classify: (WEIGHTED, "source variable predictors"),
    ChainEventGraph.predict: (ROWS, "source variable predictors probabilities"),
    ChainEventGraph.calibration: (WEIGHTED, "source variable predictors bins"),
    ChainEventGraph.effect: (
        (EffectSettings, (EffectOptions,), set()),
        "treatment outcome between given",
    ),
    ChainEventGraph.figure: (PICTURES, "min_n"),
    ChainEventGraph.draw: (PICTURES, "path min_n"),
}
"""The methods that take settings, with their keywords, and the parameters of their own."""


def parameters_of(method: Callable[..., Any]) -> dict[str, str]:
    """Return the texts of the Parameters section of a docstring, by name."""
    doc = inspect.getdoc(method) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", doc, re.M | re.S)
    assert section, method
    found = re.findall(r"^(\w[\w, ]*)\n((?:    .*\n|\n)+)", section[1] + "\n", re.M)
    return {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}


@pytest.mark.parametrize("method", METHODS)
def test_help_lists_every_setting_with_the_default_and_the_text_of_its_option(
    method: Callable[..., Any],
) -> None:
    (_, classes, left_out), own = METHODS[method]
    options = {option.name: option for one in classes for option in options_of(one)}
    signature = inspect.signature(method).parameters
    names = set(options) - left_out
    assert set(signature) - {"self"} == names | set(own.split())
    shown = pydoc.plain(pydoc.render_doc(method))
    texts = parameters_of(method)
    assert set(texts) == set(signature) - {"self"}
    for name in names:
        assert signature[name].default == options[name].default, name
        assert f"{name}: {signature[name].annotation!r} = {options[name].default!r}" in shown
        assert texts[name] == options[name].help or texts[name].startswith("As for `"), name
    doc = inspect.getdoc(method) or ""
    assert "Raises\n------" in doc
    assert "Examples\n--------" in doc


def test_a_setting_that_is_named_first_has_the_default_and_the_text_of_its_option() -> None:
    for method, owner, name in (
        (Survey.search_orders, OrderOptions, "variables"),
        (StagedTree.stability, StabilityOptions, "bootstrap"),
        (StagedTree.intervals, IntervalOptions, "method"),
    ):
        (option,) = (one for one in options_of(owner) if one.name == name)
        assert parameters_of(method)[name] == option.help
        assert inspect.signature(method).parameters[name].default == option.default


METHODS_OF_RUN = (
    *(Database.ingest, Survey.event_tree, EventTree.learn_stages, StagedTree.to_ceg),
    ChainEventGraph.draw,
)
CLASSES = (
    *(Database, Survey, EventTree, StagedTree, ChainEventGraph),
    *(StagingPlots, CegPlots, CegReport, DatabaseReport),
)


def commands_with_methods() -> Iterator[tuple[str, click.Command, Callable[..., Any]]]:
    """Return each command with the methods that do the same."""
    groups = {"plot": CLASSES[5:7], "report": CLASSES[7:]}
    for name, command in main.commands.items():
        below = command.commands if isinstance(command, click.Group) else {name: command}
        for each, leaf in below.items():
            found = [
                getattr(owner, each.replace("-", "_"), None)
                for owner in groups.get(name, CLASSES[:5])
            ]
            methods = METHODS_OF_RUN if name == "run" else found
            yield from (
                (name if each == name else f"{name} {each}", leaf, method)
                for method in methods
                if inspect.isfunction(method)
            )


def test_an_option_has_the_default_of_the_parameter_of_its_method() -> None:
    compared, differing = set(), []
    for name, command, method in commands_with_methods():
        context = click.Context(command)
        parameters = inspect.signature(method).parameters
        for option in command.params:
            # Without --most a plot has a number of its own.
            is_of_plot = name.startswith("plot") and option.name == "most"
            is_optional = option.name in parameters and not option.required
            if not is_optional or is_of_plot:
                continue
            default = parameters[option.name].default
            if default is inspect.Parameter.empty:
                continue
            given = option.process_value(context, option.get_default(context))
            # An option that may be repeated has an empty list instead of None.
            nothing = (getattr(click.core, "UNSET", None), None, (), [], {})
            compared.add((name, option.name))
            if given != default and not (given in nothing and default in nothing):
                differing.append((name, option.name, given, default))
    assert differing == []
    assert compared >= {
        *(
            ("stability", "runs"),
            ("posterior", "samples"),
            ("intervals", "level"),
            ("effect", "draws"),
        ),
        *(("most-probable-paths", "k"), ("calibration", "bins"), ("run", "gate_min_rows")),
        *(("plot flow", "width_mm"), ("report text", "unit"), ("draw", "font_size")),
        *(("rebuild", "stages"), ("assign", "blank"), ("ingest", "bad_rows")),
        *(("demo", "survey"), ("append", "decimal")),
    }


def test_keywords_have_the_names_and_types_of_the_options() -> None:
    # `_groups` makes stages of a staged tree before the options see it.
    also_trees = {
        name: f"{name_of} | StagedTree | None"
        for name, name_of in (("initial", "Start"), ("frozen", "Grouping"))
    }
    for (keywords, classes, left_out), _ in METHODS.values():
        types = {one.name: one.type for owner in classes for one in dataclasses.fields(owner)}
        expected = {**types, **{name: also_trees[name] for name in types if name in also_trees}}
        found = {name: one.__forward_arg__ for name, one in keywords.__annotations__.items()}
        assert found == {name: expected[name] for name in expected if name not in left_out}


@pytest.mark.slow
@pytest.mark.parametrize("use_jedi", [False, True])
def test_a_notebook_completes_settings(database: Database, *, use_jedi: bool) -> None:
    from IPython.core.completer import IPCompleter, provisionalcompleter

    completer = IPCompleter(namespace={"ingest": database.ingest}, use_jedi=use_jedi)
    text = 'ingest("x.csv", delim'
    with provisionalcompleter():
        assert "delimiter=" in {one.text for one in completer.completions(text, len(text))}


def test_an_unknown_keyword_is_refused_with_a_close_one(database: Database) -> None:
    for call in (database.ingest, database.codebook):
        with pytest.raises(TypeError, match="no setting named 'delimeter': did you mean 'del"):
            call("select 1 as x", delimeter=";")  # type: ignore[operator]
    survey = database.ingest("select 1 as x")
    with pytest.raises(TypeError, match="no setting named 'source_column'"):
        survey.append("select 1 as x", source_column="x")  # type: ignore[call-arg]


@pytest.mark.slow
@pytest.mark.parametrize("like", get_args(Like))
def test_settings_of_the_literature_are_taken_unless_others_are_given(
    database: Database, like: Like
) -> None:
    rows = "select i % 2 as a, i % 3 as b from range(12) t(i)"
    survey = database.ingest(rows, "like", replace=True)
    tree = survey.event_tree(like=like)
    assert TREES_LIKE[like].items() <= tree.settings.items()
    staged = tree.learn_stages(like=like)
    expected = {**STAGES_LIKE[like]}
    assert {name: staged.settings[name] for name in expected} == expected
    other = tree.learn_stages(like=like, method="hc", alpha=5, hyperstages="height")
    assert {"method": "hc", "alpha": 5, "hyperstages": "height"}.items() <= (
        other.settings.items()
    )
    zeros = "floret" if TREES_LIKE[like]["sampling_zeros"] == "none" else "none"
    wrong = survey.event_tree(like=like, sampling_zeros=zeros)
    said = rf"like='{like}' goes with sampling_zeros='\w+', but the tree .* has"
    with pytest.raises(StagingError, match=said) as error:
        wrong.learn_stages(like=like)
    assert f"survey.event_tree(like='{like}')" in str(error.value)
    with pytest.raises(StagingError, match="unknown value 'CEG' for like"):
        tree.learn_stages(like="CEG")  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_command_line_takes_settings_of_the_literature(tmp_path: Path) -> None:
    file, db = tmp_path / "rows.csv", tmp_path / "rows.duckdb"
    file.write_text("a,b\n0,0\n0,1\n1,0\n", encoding="utf-8")
    arguments = [str(file), "--db", str(db), "--like", "stagedtrees", "--score", "aic"]
    result = CliRunner().invoke(main, ["run", *arguments])
    assert result.exit_code == 0, result.output
    with cegdb.open(db) as opened:
        settings = opened.stagings["rows"].settings
        assert (settings["method"], settings["score"]) == ("bhc", "aic")
        assert opened.trees["rows"].settings["sampling_zeros"] == "full"
    arguments = [str(db), "rows", "--like", "paper", "--name", "paper"]
    result = CliRunner().invoke(main, ["learn-stages", *arguments])
    assert (result.exit_code, "goes with sampling_zeros='none'" in result.output) == (3, True)
    assert CliRunner().invoke(main, ["event-tree", *arguments]).exit_code == 0
    arguments = [str(db), "paper", "--like", "paper", "--single-edges", "together"]
    assert CliRunner().invoke(main, ["learn-stages", *arguments]).exit_code == 0
    with cegdb.open(db) as opened:
        settings = opened.stagings["paper"].settings
        assert (settings["hyperstages"], settings["single_edges"]) == ("paper", "together")


def test_every_option_says_what_its_choices_are() -> None:
    for settings in {one for (_, classes, _), _ in METHODS.values() for one in classes}:
        for option in options_of(settings):
            assert option.help.endswith("."), option.name
            for choice in option.choices:
                if option.name not in {"score", "decimal"}:
                    assert f'"{choice}"' in option.help, (option.name, choice)


@pytest.fixture(scope="module")
def tree(database: Database) -> EventTree:
    return database.ingest("select i % 2 as x, i % 3 as y from range(24) t(i)").event_tree(
        sampling_zeros="none"
    )


@pytest.mark.parametrize(
    ("settings", "message", "hint"),
    [
        (
            {"method": "stages_bhc"},
            "unknown value 'stages_bhc' for method",
            "did you mean 'bhc'?",
        ),
        ({"method": "stages_hc"}, "unknown value", "did you mean 'hc'?"),
        ({"method": "stages_bj"}, "unknown value", "did you mean 'bj'?"),
        ({"method": "stages_csbhc"}, "unknown value", "did you mean 'csbhc'?"),
        ({"method": "AHC"}, "unknown value", "did you mean 'ahc'?"),
        ({"method": "xyz"}, "unknown value", "available: 'ahc'"),
        ({"hyperstages": "foo"}, "unknown value 'foo' for hyperstages", "'variable'"),
        ({"prior": "foo"}, "unknown value 'foo' for prior", "'mass', 'floret'"),
        ({"initial": "foo"}, "unknown value 'foo' for initial", "'full', 'indep'"),
        ({"hyperstages": "foo.csv"}, "no file foo.csv", ""),
        ({"prior": "./foo"}, "no file foo", ""),
    ],
)
def test_a_word_that_is_no_choice_is_told_from_a_file(
    tree: EventTree, settings: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(StagingError, match=re.escape(message)) as caught:
        tree.learn_stages(**settings)
    assert hint in str(caught.value.hint)
    if "file" not in message:
        assert "no file" not in str(caught.value)


def test_a_file_with_the_name_of_no_choice_is_read(
    tree: EventTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "foo").write_text("vertex_id,label,prior\n0,0,3\n0,1,4\n")
    edges = tree.learn_stages("given", prior="foo", criterion="score").stage_edges
    assert edges["prior"].tolist()[:2] == [3, 4]


def test_the_package_shows_its_public_names() -> None:
    assert set(cegdb.__all__) <= set(dir(cegdb))
    for name in cegdb.__all__:
        assert getattr(cegdb, name) is not None
    assert not [name for name in dir(cegdb) if name == "annotations"]
    for module in (cegdb.evidence, errors):
        assert dir(module) == sorted(module.__all__)
