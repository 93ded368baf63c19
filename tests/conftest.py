"""Fixtures for all tests: a database, and the check of a database."""

from __future__ import annotations

import gc
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from database_template import (
    connect,
    connect_with_template,
    database_with,
    demo_of_template,
    make_demo,
    remove_template,
)
from hypothesis import currently_in_test_context
from ingest_helpers import trace

import cegdb
from cegdb.api import Database
from cegdb.clustering.null_bootstrap import Budget, NullBootstrap, expected_spurious_stages
from cegdb.stages import learning
from cegdb.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that runs every test."""
    parser.addoption(
        "--all", action="store_true", help="run every case of every test, also the slow ones"
    )


FEW_CASES = 5


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests and some of many cases, unless --all is given or a test is named."""
    if config.getoption("--all") or any("::" in argument for argument in config.args):
        return
    cases = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("slow"):
            cases[item.nodeid.partition("[")[0]].append(item)
    kept = {item for of_test in cases.values() for item in spread(of_test)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def spread(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases, or the first, the last and some between if there are many."""
    step = max(1, (len(cases) - 1) / (FEW_CASES - 1))
    return [cases[round(i * step)] for i in range(min(len(cases), FEW_CASES))]


def pytest_sessionstart() -> None:
    """Copy new databases in memory from a template, in doctests too."""
    Store.connect = staticmethod(connect_with_template)


def pytest_collection_finish() -> None:
    """Copy demos in memory too, from now on: the doctest of the method was to be found.

    What was collected stays, so that the garbage collector need not look at it again.
    """
    gc.collect()
    gc.freeze()
    Database.demo = demo_of_template  # type: ignore[method-assign]


def pytest_sessionfinish() -> None:
    """Remove the template."""
    remove_template()


@pytest.fixture
def from_nothing() -> Iterator[None]:
    """Make new databases and demos as users do, for tests of how they are made."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "connect", staticmethod(connect))
        patch.setattr(Database, "demo", make_demo)
        yield


FEW = Budget(max_runs=2, min_runs=2)


def few_spurious_stages(
    hyperstages: Any, plan: Any, *, seed: int, **_: object
) -> NullBootstrap:
    """Learn twice under the null hypothesis."""
    return expected_spurious_stages(hyperstages, plan, seed=seed, budget=FEW)


@pytest.fixture(scope="module", autouse=True)
def few_null_runs() -> Iterator[None]:
    """Learn little under the null hypothesis: that takes most of the time, and few read it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "expected_spurious_stages", few_spurious_stages)
        yield


@pytest.fixture
def all_null_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn under the null hypothesis as often as for users, for tests of what that gives."""
    monkeypatch.setattr(learning, "expected_spurious_stages", expected_spurious_stages)


@pytest.fixture
def db(request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give a database in memory, closed afterwards: empty, or as the mark ``holds`` says."""
    mark = request.node.get_closest_marker("holds")
    with cegdb.open() if mark is None else database_with(mark.kwargs["made_by"]) as database:
        yield database


@pytest.fixture
def empty_db() -> Iterator[Database]:
    """Give an empty database in memory where the ``db`` of a module has more in it."""
    with cegdb.open() as database:
        yield database


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """Give one database to a whole module, so that objects pile up in it."""
    with cegdb.open() as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_database(database: Database) -> Iterator[Database]:
    """Give one database to a whole module whose tests drop what they made.

    Whether that leaves anything behind is seen once, at the end.
    """
    before = trace(database)
    yield database
    assert trace(database) == before


@pytest.fixture(scope="module")
def checked_database(database: Database) -> Iterator[Database]:
    """Give one database to a whole module, and check at the end all that was made in it."""
    yield database
    assert database.check() == []


@pytest.fixture
def piled_db(checked_database: Database, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give a database where all names are free; what is made there keeps the test's name."""
    yield checked_database
    with checked_database._store.writing() as (con, _):
        for table in ("survey", "event_tree", "staging", "ceg"):
            con.execute(
                f"update cegdb.{table} set name = concat(name, ' of ', $test) "  # noqa: S608
                "where not contains(name, ' of test_')",
                {"test": request.node.name},
            )


@pytest.fixture(scope="session")
def sound() -> Callable[[Database], None]:
    """Give a function that asserts that no invariant of a database is violated.

    Of random examples every second one is checked: that takes a third of the time of a test.
    """
    examples = count()

    def assert_sound(database: Database) -> None:
        if currently_in_test_context() and next(examples) % 2:
            return
        assert database.check() == []

    return assert_sound
