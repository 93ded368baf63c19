"""Where the tests' data are: surveys, known cases, and what other programs computed.

``tests/data/README.md`` names the source and licence of each.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import IO, Any

DATA = Path(__file__).resolve().parent / "data"


def survey_file(name: str) -> Path:
    """Return the CSV file of a survey; the large ones are compressed."""
    plain = DATA / "surveys" / f"{name}.csv"
    return plain if plain.is_file() else plain.with_name(f"{name}.csv.gz")


@cache
def levels_of(name: str) -> dict[str, Any]:
    """Return the ``order`` of a survey's variables and the ``levels`` of each in R."""
    text = (DATA / "surveys" / "levels.json").read_text(encoding="utf-8")
    return dict(json.loads(text)[name])


def case_file(identity: str, name: str) -> Path:
    """Return a file of a known case, which ``tests/data/cases/README.md`` describes."""
    return DATA / "cases" / identity / name


@cache
def peer(program: str) -> dict[str, Any]:
    """Return what a program computed, by survey: cegpy, shenvi, stagedtrees or ceg (in R)."""
    with gzip.open(DATA / "peers" / f"{program}.json.gz", "rt", encoding="utf-8") as file:
        return dict(json.load(file))


def opened(file: Path) -> IO[str]:
    """Open a CSV file, compressed or not, to read its text."""
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8", newline="")
    return file.open(encoding="utf-8", newline="")
