"""Settings are stated once: signatures and docstrings of the API say what options.py does."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import pytest

import cegdb
from cegdb import errors
from cegdb.api import Database, EventTree, Survey
from cegdb.errors import StagingError
from cegdb.options import (
    IngestOptions,
    LearnOptions,
    OrderOptions,
    ReadOptions,
    StageOptions,
    TreeOptions,
    options_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

METHODS: list[tuple[Callable[..., Any], tuple[type, ...], set[str]]] = [
    (Database.ingest, (IngestOptions, ReadOptions), {"source", "name", "replace"}),
    (Survey.event_tree, (TreeOptions,), {"name", "replace"}),
    (EventTree.learn_stages, (LearnOptions, StageOptions), {"name", "replace"}),
    (EventTree.set_stages, (StageOptions,), {"stages", "name", "depends", "replace"}),
    (Survey.search_orders, (OrderOptions,), set()),
]


def parameters_of(method: Callable[..., Any]) -> dict[str, str]:
    """Return the texts of the Parameters section of a docstring, by name."""
    doc = inspect.getdoc(method) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", doc, re.M | re.S)
    assert section, method
    found = re.findall(r"^(\w[\w, ]*)\n((?:    .*\n|\n)+)", section[1] + "\n", re.M)
    return {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}


@pytest.mark.parametrize(("method", "classes", "own"), METHODS)
def test_every_setting_has_the_default_and_the_text_of_its_option(
    method: Callable[..., Any], classes: tuple[type, ...], own: set[str]
) -> None:
    options = {option.name: option for one in classes for option in options_of(one)}
    signature = inspect.signature(method).parameters
    texts = parameters_of(method)
    assert set(signature) - {"self"} == set(options) | own == set(texts)
    for name, option in options.items():
        assert signature[name].default == option.default, name
        assert texts[name] == option.help, name
    doc = inspect.getdoc(method) or ""
    assert "Raises\n------" in doc
    assert "Examples\n--------" in doc


def test_the_path_of_alpha_takes_the_settings_of_learning() -> None:
    learning = inspect.signature(EventTree.learn_stages).parameters
    path = inspect.signature(EventTree.alpha_path).parameters
    for name in ("name", "alpha", "replace"):
        assert name not in path
    assert {name: path[name] for name in path} == {
        name: learning[name] for name in learning if name not in {"name", "alpha", "replace"}
    }
    assert set(parameters_of(EventTree.alpha_path)) == set(path) - {"self"}


def test_the_files_settings_are_those_of_ingest() -> None:
    from cegdb.api.queries import ReadSettings

    of_files = [option.name for option in options_of(ReadOptions)]
    assert list(ReadSettings.__annotations__) == of_files[:-1]
    for method in (Survey.append, Survey.refresh, Database.codebook):
        signature, texts = inspect.signature(method).parameters, parameters_of(method)
        for option in options_of(ReadOptions)[: None if method is Database.codebook else -1]:
            assert signature[option.name].default == option.default
            assert texts[option.name] == option.help


def test_every_option_says_what_its_choices_are() -> None:
    for settings in {one for _, classes, _ in METHODS for one in classes}:
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
