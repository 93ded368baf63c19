"""What R packages found on public data, and the same trees here; paths are labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasets import levels_of, survey_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cegdb.api import Database, EventTree, StagedTree

    Path_ = tuple[str, ...]

NAMES = (
    "Asym",
    "PhDArticles",
    "Pokemon",
    "Titanic",
    "artificial_chds",
    "covid_patients",
    "falls",
    "trajectories",
)


def full_tree(database: Database, name: str) -> EventTree:
    """Return the tree of every combination of levels, made once a database."""
    if name not in database.trees:
        known = levels_of(name)
        ingested = database.ingest(survey_file(name), name=name, levels=known["levels"])
        ingested.event_tree(name, order=known["order"], like="ceg")
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
