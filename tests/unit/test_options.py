"""Settings are stated once: signatures and docstrings of the API say what options.py does."""

from __future__ import annotations

import dataclasses
import inspect
import pydoc
import re
from typing import TYPE_CHECKING, Any

import pytest

import cegdb
from cegdb import errors
from cegdb.api import ChainEventGraph, Database, EventTree, Survey
from cegdb.errors import StagingError
from cegdb.options import (
    AlphaPathSettings,
    IngestOptions,
    IngestSettings,
    LearnOptions,
    LearnSettings,
    OrderOptions,
    OrderSettings,
    ReadOptions,
    ReadSettings,
    SourceSettings,
    StageOptions,
    StageSettings,
    TreeOptions,
    TreeSettings,
    options_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Keywords = tuple[type, tuple[type, ...], set[str]]
READING: Keywords = (ReadSettings, (ReadOptions,), {"source_column"})
METHODS: dict[Callable[..., Any], tuple[Keywords, str]] = {
    Database.ingest: (
        (IngestSettings, (IngestOptions, ReadOptions), set()),
        "source name replace",
    ),
    Database.codebook: ((SourceSettings, (ReadOptions,), set()), "source columns form"),
    Survey.append: (READING, "source decimal"),
    Survey.refresh: (READING, "source decimal"),
    Survey.event_tree: ((TreeSettings, (TreeOptions,), set()), "name replace"),
    Survey.search_orders: ((OrderSettings, (OrderOptions,), {"variables"}), "variables"),
    EventTree.learn_stages: (
        (LearnSettings, (LearnOptions, StageOptions), set()),
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
    ChainEventGraph.assign: (READING, "source keep blank into file replace"),
    ChainEventGraph.complete: (READING, "source variables keep blank into file replace"),
    ChainEventGraph.score: (READING, "source count weight blank"),
    ChainEventGraph.classify: (READING, "source variable predictors count weight blank"),
    ChainEventGraph.predict: (READING, "source variable predictors probabilities blank"),
    ChainEventGraph.calibration: (
        READING,
        "source variable predictors bins count weight blank",
    ),
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


def test_the_text_of_a_setting_that_is_named_first_is_that_of_its_option() -> None:
    (variables,) = (one for one in options_of(OrderOptions) if one.name == "variables")
    assert parameters_of(Survey.search_orders)["variables"] == variables.help


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


def test_an_unknown_keyword_is_refused_with_a_close_one(database: Database) -> None:
    for call in (database.ingest, database.codebook):
        with pytest.raises(TypeError, match="no setting named 'delimeter': did you mean 'del"):
            call("select 1 as x", delimeter=";")  # type: ignore[operator]
    survey = database.ingest("select 1 as x")
    with pytest.raises(TypeError, match="no setting named 'source_column'"):
        survey.append("select 1 as x", source_column="x")  # type: ignore[call-arg]


def test_every_option_says_what_its_choices_are() -> None:
    for settings in {one for (_, classes, _), _ in METHODS.values() for one in classes}:
        for option in options_of(settings):
            assert option.help.endswith("."), option.name
            for choice in option.choices:
                if option.name not in {"score", "decimal"}:
                    assert f'"{choice}"' in option.help, (option.name, choice)


@pytest.fixture(scope="module")
def tree(database: Database) -> EventTree:
    return database.ingest("select i % 2 as x, i % 3 as y from range(24) t(i)").event_tree()


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
    edges = tree.learn_stages("given", prior="foo").stage_edges
    assert edges["prior"].tolist()[:2] == [3, 4]


def test_the_package_shows_its_public_names() -> None:
    assert set(cegdb.__all__) <= set(dir(cegdb))
    for name in cegdb.__all__:
        assert getattr(cegdb, name) is not None
    assert not [name for name in dir(cegdb) if name == "annotations"]
    for module in (cegdb.evidence, errors):
        assert dir(module) == sorted(module.__all__)
