"""Fixtures for all tests: a database, and the check of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from template import COPIED, MADE, clear

import cegdb
from cegdb.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cegdb.api import Database


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that runs every test."""
    parser.addoption("--all", action="store_true", help="run every test, also the slow ones")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests, but for --all, or where one is named."""
    if config.getoption("--all") or any("::" in argument for argument in config.args):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_sessionstart() -> None:
    """Give new databases the schema of a template, in doctests too."""
    Store._connected = COPIED


def pytest_sessionfinish() -> None:
    """Remove the template."""
    clear()


@pytest.fixture
def from_nothing() -> Iterator[None]:
    """Let new databases be made as users' are, where that is what is tested."""
    Store._connected = MADE
    yield
    Store._connected = COPIED


@pytest.fixture
def db() -> Iterator[Database]:
    """Give an empty database in memory, closed afterwards."""
    with cegdb.open() as database:
        yield database


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """Give one database to a whole module: what an ingest leaves, the next one meets."""
    with cegdb.open() as opened:
        yield opened


@pytest.fixture(scope="session")
def sound() -> Callable[[Database], None]:
    """Give the assertion that no invariant is violated in a database."""

    def assert_sound(database: Database) -> None:
        assert database.check() == []

    return assert_sound
