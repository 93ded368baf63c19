"""The docstrings of the public interface are complete."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import pytest

import cegdb
from cegdb import api, evidence
from cegdb.api import plots, reports, results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


PUBLIC = (
    *(one for name in cegdb.__all__ if inspect.isclass(one := getattr(cegdb, name))),
    *(plots.CegPlots, plots.StagingPlots, reports.CegReport, reports.DatabaseReport),
)


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions and methods that can be reached from the package, by name."""
    for module in (cegdb, api, evidence, plots, reports, results):
        for name in dir(module):
            found = getattr(module, name)
            if name[0] == "_" or not str(getattr(found, "__module__", "")).startswith("cegdb."):
                continue
            if inspect.isfunction(found) and name in getattr(module, "__all__", ()):
                yield found.__qualname__, found
            if inspect.isclass(found) and issubclass(found, PUBLIC):
                for member, method in inspect.getmembers(found, inspect.isfunction):
                    if member[0] != "_" and method.__module__.startswith("cegdb"):
                        yield method.__qualname__, method


FUNCTIONS = dict(sorted(public_functions()))


def sections_of(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by title."""
    _, *parts = re.split(r"^(\w[\w ]*)\n-{3,}$", doc, flags=re.M)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_public_functions_are_found() -> None:
    assert {"open", "Database.ingest", "Queryable.given", "at_least"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_result_and_an_example_stand_in_the_docstring(name: str) -> None:
    sections = sections_of(inspect.getdoc(FUNCTIONS[name]) or "")
    signature = inspect.signature(FUNCTIONS[name])
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    names = {
        stars.get(one.kind, "") + one.name
        for one in signature.parameters.values()
        if one.name != "self"
    }
    lines = re.findall(r"^([\w*].*)$", sections.get("Parameters", ""), flags=re.M)
    assert {one for line in lines for one in line.split(", ")} == names
    returns = signature.return_annotation != "None"
    assert bool({"Returns", "Yields"} & set(sections)) == returns
    assert ">>> " in sections.get("Examples", "")
