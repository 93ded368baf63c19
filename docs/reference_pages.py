"""The references of commands and of the Python API, as far as they read without a site.

Each page has a table with the first sentence of each docstring or help text. Comments such as
``<!-- autoclass: cegdb.Survey -->`` stand where the site shows the whole text: `conf.py` makes
directives of them. Write the pages again with ``python docs/reference_pages.py``; a test
compares them with the code.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

REFERENCE = Path(__file__).parent / "reference"

COMMANDS = """# Commands

For those who work in a terminal or write scripts. The groups are those of `cegdb --help`;
`cegdb COMMAND --help` shows options and examples. A command has the name of the method that
does the same from Python; only `run`, `list`, `show` and `migrate` have none.
Options of `cegdb` itself come before the command: `cegdb --debug check falls.duckdb`.
"""
API = """# Python API

For those who work in Python or a notebook. `cegdb.open` gives a `Database`; everything else is
reached from there:

```python
>>> import cegdb
>>> with cegdb.open() as db:
...     rows = "select i % 2 as x, i % 8 < 3 as y from range(80) t(i)"
...     ceg = db.ingest(rows, name="example").event_tree().learn_stages().to_ceg()
...     print(ceg)
CEG 'example': 4 vertices (including the sink), 6 edges; 2 steps, height 2
```

Frames are pandas DataFrames, and each docstring lists their columns. In Python,
`help(tree.learn_stages)` shows the whole text.
"""
PAGES = {
    "database": ("Database", "A file of surveys and what was made of them.", ["Database"]),
    "survey": ("Survey", "The rows of a survey, made by `db.ingest`.", ["Survey"]),
    "event-tree": ("EventTree", "Made by `survey.event_tree`.", ["EventTree"]),
    "staged-tree": (
        "StagedTree",
        "Made by `tree.learn_stages`, `tree.set_stages` and `db.staged_tree`.",
        ["StagedTree"],
    ),
    "chain-event-graph": ("ChainEventGraph", "Made by `staged.to_ceg`.", ["ChainEventGraph"]),
    "conditioned-ceg": (
        "ConditionedCeg and IntervenedCeg",
        "Made by `ceg.given`, `ceg.do` and `staged.given`.",
        ["ConditionedCeg", "IntervenedCeg", "ConditionedStagedTree"],
    ),
    "posterior": ("Posterior", "Made by `staged.posterior`.", ["Posterior"]),
    "exploration": ("Exploration", "Made by `survey.explore`.", ["Exploration"]),
    "order-search": ("OrderSearch", "Made by `survey.search_orders`.", ["OrderSearch"]),
    "evidence": (
        "Evidence",
        "What can be known about a path, for `ceg.given` and `ceg.probability`.",
        ["evidence"],
    ),
    "plots": (
        "Plots and pictures",
        "Made by `staged.plot`, `ceg.plot`, `figure()`: see the [gallery](../../gallery.md).",
        ["api.plots.StagingPlots", "api.plots.CegPlots", "Picture"],
    ),
    "reports": (
        "Reports",
        "`ceg.report` writes about one CEG, `db.report` about what changed between several.",
        ["api.reports.CegReport", "api.reports.DatabaseReport", "cite"],
    ),
    "results": (
        "Results",
        "What some methods return instead of a DataFrame.",
        [
            "Probability",
            "Assigned",
            "Completed",
            "Classification",
            "Effect",
            "Adjustment",
            "Collection",
        ],
    ),
    "errors": (
        "Errors",
        "What cegdb raises on purpose. Catch `CegdbError` to catch all.",
        ["errors"],
    ),
}

MODULES = {
    "cegdb.evidence": (
        *("Evidence", "answers", "visits", "avoids", "takes", "likelihood"),
        *("exactly", "at_least", "at_most", "before", "after"),
    ),
    "cegdb.errors": (
        *("CegdbError", "SurveyError", "TreeError", "StagingError", "CegError", "GraphError"),
        *("NetworkError", "QueryError", "NameTakenError", "UnknownNameError", "StaleError"),
        *("StoreError", "MigrationError", "SqlStepError", "MissingExtraError"),
    ),
}


def pages() -> dict[str, str]:
    """Return the text of each page by its path below ``docs/reference``."""
    texts = {"commands.md": "\n\n".join(_commands()) + "\n"}
    texts["api/index.md"] = "\n\n".join(_index()) + "\n"
    for name, (title, text, objects) in PAGES.items():
        parts = [f"# {title}", text]
        for each in objects:
            parts += _object(f"cegdb.{each}", is_only=len(objects) == 1)
        texts[f"api/{name}.md"] = "\n\n".join(parts) + "\n"
    return texts


def _commands() -> Iterator[str]:
    from cegdb.cli import main
    from cegdb.cli.group import SECTIONS

    yield COMMANDS.rstrip()
    for title, names in SECTIONS.items():
        yield f"## {title}"
        rows, marks = [], []
        for name in names:
            command: Any = main.commands[name]
            rows.append((f"cegdb {name}", _short_help(command)))
            module = command.callback.__module__
            marks.append(f"<!-- click: {module}:{command.callback.__name__} cegdb {name} -->")
            for below, each in getattr(command, "commands", {}).items():
                rows.append((f"cegdb {name} {below}", _short_help(each)))
        yield _table("command", rows)
        yield "\n".join(marks)


def _short_help(command: Any) -> str:
    return str(command.get_short_help_str(limit=10_000))


def _index() -> Iterator[str]:
    yield API.rstrip()
    yield "\n".join(
        f"- [{title}]({name}.md): {_first_letter(text)}"
        for name, (title, text, _) in PAGES.items()
    )
    yield "<!-- autofunction: cegdb.open -->"


def _first_letter(text: str) -> str:
    text = " ".join(text.split())
    return text[0].lower() + text[1:]


def _object(path: str, *, is_only: bool) -> Iterator[str]:
    """Return the parts of a class, module or function."""
    found = _named(path)
    if not is_only:
        yield f"## {path.rsplit('.', 1)[-1]}"
        yield _summary(found)
    if inspect.ismodule(found):
        names = MODULES[path]
        yield _table("name", [(name, _summary(getattr(found, name))) for name in names])
        yield f"<!-- automodule: {path} {', '.join(names)} -->"
    elif inspect.isclass(found):
        rows = [
            *_attributes(found),
            *((name, _summary(each)) for name, each in _members(found)),
        ]
        yield _table("member", rows)
        yield f"<!-- autoclass: {path} -->"
    else:
        yield f"<!-- autofunction: {path} -->"


def _named(path: str) -> Any:
    """Return a module, or what a module holds."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


def _members(cls: type) -> Iterator[tuple[str, object]]:
    """Return the public members that cegdb itself documents, by name."""
    for name in sorted(dir(cls)):
        owner = next(base for base in cls.__mro__ if name in vars(base))
        member = inspect.getattr_static(cls, name)
        is_ours = not name.startswith("_") and owner.__module__.startswith("cegdb")
        if is_ours and _is_documented(member):
            yield name if isinstance(member, property) else f"{name}()", member


def _attributes(cls: type) -> list[tuple[str, str]]:
    """Return the attributes, or fields, that the docstring of a class lists."""
    section = re.search(
        r"^(?:Attributes|Parameters)\n-+\n(.*?)(?:\n\n^\w+\n---|\Z)",
        inspect.getdoc(cls) or "",
        re.MULTILINE | re.DOTALL,
    )
    entries = re.findall(r"^(\w.*)\n((?: +.*\n?|\n)*)", section[1], re.M) if section else []
    return [(name, _plain(text.split("\n\n")[0])) for name, text in entries]


def _is_documented(member: object) -> bool:
    return bool(inspect.getdoc(member)) and (
        inspect.isclass(member) or inspect.isroutine(member) or isinstance(member, property)
    )


def _summary(member: object) -> str:
    """Return the first paragraph of a docstring."""
    return _plain((inspect.getdoc(member) or "").split("\n\n")[0])


def _plain(text: str) -> str:
    """Return a text of a docstring as one line of Markdown."""
    return re.sub(r"\s*\[\d+\]_", "", " ".join(text.split())).replace("``", "`")


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {title} | what it does |", "| --- | --- |"]
    for name, text in rows:
        shown = re.sub(r"([<*|])", r"\\\1", text)
        lines.append(f"| `{name}` | {shown} |")
    return "\n".join(lines)


def main() -> None:
    """Write all pages."""
    for path, text in pages().items():
        (REFERENCE / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
