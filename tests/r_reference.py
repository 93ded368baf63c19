"""What R packages found on public data, and the same trees here; paths are labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cegdb.api import Database, EventTree, StagedTree

    Path_ = tuple[str, ...]

NAMES = (
    "Asym",
    "PhDArticles",
    "Pokemon",
    "Titanic",
    "artificial_chds",
    "covid_patients",
    "falls_long",
    "trajectories",
)


def read(shared: Path, name: str, algorithm: str) -> dict[str, Any]:
    """Return a result, or skip the test."""
    file = shared / "reference" / "r" / f"{name}__{algorithm}.json"
    if not file.is_file():
        pytest.skip(f"needs ../shared/reference/r/{file.name}")
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return result


def full_tree(database: Database, shared: Path, name: str) -> EventTree:
    """Return the tree of every combination of levels, made once a database."""
    if name not in database.trees:
        folder = shared / "data"
        file = folder / ("falls.csv" if name == "falls_long" else f"r/{name}.csv")
        levels = json.loads((folder / "r" / f"{name}.levels.json").read_text(encoding="utf-8"))
        survey = database.ingest(file, name=name, levels=levels["levels"])
        survey.event_tree(name, order=levels["order"], sampling_zeros="full")
    return database.trees[name]


def our_stages(staged: StagedTree) -> dict[Path_, int]:
    """Return the stage of each situation."""
    words = staged.tree.situations.set_index("situation")["labels"]
    rows = staged.florets[["situation", "stage_id"]].itertuples(index=False)
    return {tuple(words[row.situation]): row.stage_id for row in rows}


def their_stages(result: dict[str, Any]) -> dict[Path_, tuple[str, str]]:
    """Return the stage of each situation, as variable and name."""
    return {
        tuple(situation["path"]): (situation["variable"], situation["stage"])
        for situation in result["situations"]
    }


def observed(result: dict[str, Any]) -> set[Path_]:
    """Return the situations with rows."""
    return {tuple(each["path"]) for each in result["situations"] if any(each["counts"])}


def partition(
    stages: dict[Path_, Any], only: Iterable[Path_] | None = None
) -> set[frozenset[Path_]]:
    """Return the blocks of situations in one stage."""
    blocks: dict[Any, set[Path_]] = {}
    for path in stages if only is None else only:
        blocks.setdefault(stages[path], set()).add(path)
    return {frozenset(block) for block in blocks.values()}
