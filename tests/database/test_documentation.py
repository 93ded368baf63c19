"""Every block of code in README and docs runs, in the order of its page, as shown.

- ``python`` with prompts is a doctest; the blocks of a page share their names.
- ``console`` holds commands after ``$``, each with the output it prints (none: not compared).
- ``sql`` runs on the database that the page named last: ``<!-- database: falls.duckdb -->``.
  A ``text`` block right after it holds the table that it gives.
- ``<!-- file: name -->`` before a block keeps the block as that file.
- ``<!-- run: ... -->`` runs commands that a reader does not need to see.
- ``<!-- data: surveys/Asym.csv -->`` copies a file of ``tests/data`` that readers have already.
- ``<!-- not run: reason -->`` exempts a block.

Each page has an empty folder of its own. ``...`` stands for any text.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from datasets import DATA

import cegdb
from cegdb.cli.group import SECTIONS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.exists() and "_build" not in page.parts]
QUICK = {"README.md", "CONTRIBUTING.md", "first-ceg.md", "gates.md"}
RUN = {"python", "console", "sql"}
READ = {"text", "yaml", "csv", "r", "json", "toml", "bibtex", "math", "bash", "{eval-rst}", ""}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_PART = re.compile(
    r"^<!-- (?P<key>database|data|file|run|not run): ?(?P<value>.*?) -->$"
    r"|^(?P<fence>```+|:::+)(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A block of a page, or a remark that steers the next one."""

    line: int
    language: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks and the remarks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    blocks = []
    for part in _PART.finditer(text):
        line = text.count("\n", 0, part.start()) + 1
        if part["key"]:
            blocks.append(Block(line, f"<{part['key']}>", part["value"]))
        elif part["fence"].startswith("`"):
            blocks.append(Block(line, part["language"].strip(), part["text"]))
    return blocks


class Page:
    """A page as it runs: its folder, its names in Python, its database."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.names: dict[str, object] = {}
        self.database = ""
        self.made: set[Path] = set()

    def where(self, block: Block) -> str:
        return f"{self.page.relative_to(ROOT)}:{block.line}"

    def python(self, block: Block) -> None:
        parser = doctest.DocTestParser()
        where = self.where(block)
        test = parser.get_doctest(block.text, self.names, where, str(self.page), block.line)
        assert test.examples, f"{where}: a python block without prompts"
        told: list[str] = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, out=told.append, clear_globs=False)
        self.names = test.globs
        assert runner.failures == 0, "".join(told)

    def console(self, block: Block) -> None:
        for call in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, output = call.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + " " + more.strip().removeprefix("> ")
            self.command(block, command, output)

    def command(self, block: Block, command: str, output: str = "") -> None:
        words = shlex.split(command, comments=True)
        assert words[0] == "cegdb", f"{self.where(block)}: only cegdb runs here: {command}"
        target = None
        if ">" in words:
            target = words[words.index(">") + 1]
            words = words[: words.index(">")]
        ran = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "cegdb", *words[1:]],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
            check=False,
        )
        said = f"{self.where(block)}: {command}\n{ran.stdout}{ran.stderr}"
        assert ran.returncode == 0 or output.startswith("error:"), said
        if target:
            Path(target).write_text(ran.stdout, encoding="utf-8")
        elif output.strip():
            given = ran.stderr if output.startswith("error:") else ran.stderr + ran.stdout
            self.compare(block, output, given, said)

    def sql(self, block: Block, shown: str | None) -> None:
        assert self.database, f"{self.where(block)}: no <!-- database: ... --> before it"
        with cegdb.open(self.database, read_only=True) as db:
            frame = db.sql(block.text)
        if shown is not None:
            given = frame.to_string(index=False)
            self.compare(block, shown, given, f"{self.where(block)}\n{given}")

    def pictures(self, block: Block) -> None:
        """Compare the pictures that a block made with those that the page shows."""
        for shown in pictures_of(self.page):
            made, kept = Path(shown.name), self.page.parent / shown
            if made.exists():
                assert texts_of(made) == texts_of(kept), (
                    f"{self.where(block)} made another {shown}: {made.resolve()}"
                )
                made.unlink()
                self.made.add(shown)

    def compare(self, block: Block, shown: str, given: str, said: str) -> None:
        matches = doctest.OutputChecker().check_output(
            shown.strip() + "\n", given.strip() + "\n", FLAGS
        )
        assert matches, f"{self.where(block)} shows\n{shown}\nbut gives\n{said}"


def pictures_of(page: Path) -> list[Path]:
    """Return the SVG files that a page shows."""
    return [Path(file) for file in re.findall(r"\]\((\S+\.svg)\)", page.read_text("utf-8"))]


def texts_of(picture: Path) -> list[str]:
    """Return the texts of an SVG: its geometry may vary with the version of matplotlib."""
    return re.findall(r"<(?:text|dc:description)\b[^>]*>([^<]*)", picture.read_text("utf-8"))


@pytest.mark.parametrize(
    "page",
    [
        page if page.name in QUICK else pytest.param(page, marks=pytest.mark.slow)
        for page in PAGES
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_page_gives_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    running, blocks = Page(page), blocks_of(page)
    file = exempt = ""
    for index, block in enumerate(blocks):
        if block.language == "<file>":
            file = block.text
        elif block.language == "<not run>":
            exempt = block.text
            assert exempt, f"{running.where(block)}: no reason given"
        elif block.language == "<database>":
            running.database = block.text
        elif block.language == "<data>":
            shutil.copy(DATA / block.text, tmp_path)
        elif block.language == "<run>":
            for command in filter(None, map(str.strip, block.text.splitlines())):
                running.command(block, command)
        else:
            if file:
                Path(file).write_text(block.text, encoding="utf-8")
            elif exempt:
                pass
            elif block.language == "python":
                running.python(block)
            elif block.language == "console":
                running.console(block)
            elif block.language == "sql":
                after = blocks[index + 1] if index + 1 < len(blocks) else None
                is_shown = after is not None and after.language == "text"
                running.sql(block, after.text if after is not None and is_shown else None)
            else:
                is_directive = block.language.startswith("{")
                assert is_directive or block.language in READ, (
                    f"{running.where(block)}: a {block.language} block is never run"
                )
            running.pictures(block)
            file = exempt = ""
    if page.name == "gallery.md":
        assert running.made == set(pictures_of(page))


def test_the_sql_reference_is_that_of_a_new_database() -> None:
    """``python docs/sql_reference.py`` writes it again."""
    page = ROOT / "docs" / "reference" / "sql.md"
    assert page.read_text(encoding="utf-8") == module_of("docs/sql_reference.py").write()


def test_the_command_reference_lists_every_command_in_its_group() -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    lines = re.findall(r"^## (.*)$|^   :prog: cegdb (.*)$", page, re.MULTILINE)
    listed: dict[str, list[str]] = {}
    for title, command in lines:
        if title:
            listed[title] = commands = []
        else:
            commands.append(command)
    assert listed == {title: list(commands) for title, commands in SECTIONS.items()}


def module_of(path: str) -> Any:
    """Return a script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
