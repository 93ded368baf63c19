"""Every block of code in README and docs runs, in the order of its page, as shown.

- ``python`` with prompts is a doctest; the blocks of a page share their names.
- ``console`` holds commands after ``$``, each with the output it prints (none: not compared).
- ``sql`` runs on the database that the page named last: ``<!-- database: falls.duckdb -->``.
  A ``text`` block right after it holds the table that it gives.
- ``<!-- file: name -->`` before a block keeps the block as that file; the text above names it.
- ``<!-- data: surveys/Asym.csv -->`` copies a file of ``tests/data`` that readers have already.
- ``<!-- not run: reason -->`` exempts a block.

Each page has an empty folder of its own. ``...`` stands for any text. The commands of one
page run as programs, those of the others in this process, which is quicker. Commands that
several pages begin with run once; the other pages get a copy of the files that they wrote.
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
from click.testing import CliRunner
from database_template import folder
from datasets import DATA

import cegdb
from cegdb import store as store_module
from cegdb.cli import main
from cegdb.stages import learning

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.exists() and "_build" not in page.parts]
QUICK = {"README.md", "CONTRIBUTING.md", "first-ceg.md", "gates.md"}
AS_PROGRAMS = "first-ceg.md"
SHARED = 2  # commands that pages begin with
PROGRAMS = {"cegdb": (sys.executable, "-m", "cegdb"), "sh": ("sh",)}
READ = {"text", "yaml", "csv", "r"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_PART = re.compile(
    r"^<!-- (?P<key>database|data|file|not run): ?(?P<value>.*?) -->$"
    r"|^(?P<fence>```+|:::+)(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)

# What a command that takes more than a second says besides.
_SLOW = re.compile(r"^[\d,]+ rows? read in .* s \(.*\)\n", re.MULTILINE)


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


class Ran(NamedTuple):
    """A command that was run: its exit status, and what it printed."""

    status: int
    stdout: str
    stderr: str


BEGUN: dict[tuple[object, ...], tuple[Path, Ran]] = {}
"""The files that a page has after its first commands, and what the last of them printed."""


class Page:
    """A page as it runs: its folder, its names in Python, its database."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.names: dict[str, object] = {}
        self.database = ""
        self.drawn: set[Path] = set()
        self.begun: list[str] | None = []
        """All commands so far; None once files come from anything else."""

    def where(self, block: Block) -> str:
        return f"{self.page.relative_to(ROOT)}:{block.line}"

    def python(self, block: Block) -> None:
        self.begun = None
        parser = doctest.DocTestParser()
        where = self.where(block)
        test = parser.get_doctest(block.text, self.names, where, str(self.page), block.line)
        assert test.examples, f"{where}: a python block without prompts"
        report: list[str] = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, out=report.append, clear_globs=False)
        self.names = test.globs
        assert runner.failures == 0, "".join(report)

    def console(self, block: Block) -> None:
        before, *calls = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        assert calls, f"{self.where(block)}: a console block without a command after $"
        assert not before, f"{self.where(block)}: {before!r} stands before the first command"
        for call in calls:
            command, _, output = call.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + " " + more.strip()
            self.command(block, command, output)

    def command(self, block: Block, command: str, output: str = "") -> None:
        words = shlex.split(command, comments=True)
        assert words[0] in PROGRAMS, f"{self.where(block)}: {command} is not run here"
        target = None
        if ">" in words:
            target = words[words.index(">") + 1]
            words = words[: words.index(">")]
        ran = self.run(words)
        report = f"{self.where(block)}: {command}\n{ran.stdout}{ran.stderr}"
        assert ran.status == 0 or output.startswith("error:"), report
        if target:
            Path(target).write_text(ran.stdout, encoding="utf-8")
        if output.strip():
            is_kept = target or output.startswith("error:")
            printed = ran.stderr if is_kept else ran.stderr + ran.stdout
            self.compare(block, output, _SLOW.sub("", printed), report)

    def run(self, words: list[str]) -> Ran:
        """Run a command: as a program, or in this process where that is the same."""
        if words[0] == "cegdb" and self.page.name != AS_PROGRAMS:
            locked = [store.path for store in store_module._open_stores if store.path]
            assert Path.cwd() not in [path.parent for path in locked], (
                f"{words}: a reader could not run this, since Python still has {locked} open"
            )
            return self.once(words)
        self.begun = None
        ran = subprocess.run(  # noqa: S603
            [*PROGRAMS[words[0]], *words[1:]],
            capture_output=True,
            encoding="utf-8",
            env={
                **os.environ,
                "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
                "PYTHONIOENCODING": "utf-8",
            },
            check=False,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def once(self, words: list[str]) -> Ran:
        """Run a command in this process, or copy what it did after the same commands."""
        key: tuple[object, ...] = ()
        if self.begun is not None:
            self.begun += [shlex.join(words)]
            key = (learning.expected_spurious_stages, *self.begun)
        if key in BEGUN:
            files, ran = BEGUN[key]
            shutil.copytree(files, ".", dirs_exist_ok=True)
            return ran
        result = CliRunner().invoke(main, words[1:])
        ran = Ran(result.exit_code, result.stdout, result.stderr)
        if key and len(key) <= 1 + SHARED:
            BEGUN[key] = (folder() / f"page {len(BEGUN)}", ran)
            shutil.copytree(".", BEGUN[key][0])
        return ran

    def sql(self, block: Block, expected: str | None) -> None:
        assert self.database, f"{self.where(block)}: no <!-- database: ... --> before it"
        with cegdb.open(self.database, read_only=True) as db:
            frame = db.sql(block.text)
        if expected is not None:
            printed = frame.to_string(index=False)
            self.compare(block, expected, printed, f"{self.where(block)}\n{printed}")

    def pictures(self, block: Block) -> None:
        """Compare the pictures that a block draws with those that the page shows."""
        for picture in pictures_of(self.page):
            drawn = Path(picture.name)
            if drawn.exists():
                assert texts_of(drawn) == texts_of(self.page.parent / picture), (
                    f"{self.where(block)} draws another {picture}: {drawn.resolve()}"
                )
                drawn.unlink()
                self.drawn.add(picture)

    def compare(self, block: Block, expected: str, printed: str, report: str) -> None:
        matches = doctest.OutputChecker().check_output(
            expected.strip() + "\n", printed.strip() + "\n", FLAGS
        )
        assert matches, f"{self.where(block)} shows\n{expected}\nbut gives\n{report}"


def pictures_of(page: Path) -> list[Path]:
    """Return the SVG files that a page shows."""
    return [Path(file) for file in re.findall(r"\]\((\S+\.svg)\)", page.read_text("utf-8"))]


def texts_of(picture: Path) -> list[str]:
    """Return the texts of an SVG: its geometry may vary with the version of matplotlib."""
    return re.findall(r"<(?:text|dc:description)\b[^>]*>([^<]*)", picture.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        page if page.name in QUICK else pytest.param(page, marks=pytest.mark.slow)
        for page in PAGES
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_page_gives_what_it_shows(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    if "spurious" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("all_null_runs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
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
            running.begun = None
            shutil.copy(DATA / block.text, tmp_path)
        else:
            if file:
                running.begun = None
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
        assert running.drawn == set(pictures_of(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_piece_of_code_stands_in_a_block_that_is_seen(page: Path) -> None:
    """A block that is indented, or fenced otherwise, would not run."""
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```.*", text, re.MULTILINE)
    seen = [part for part in _PART.finditer(text) if (part["fence"] or "").startswith("`")]
    assert len(fences) == 2 * len(seen)
    prose = _PART.sub("", text)
    unseen = re.findall(r"^ *(?:```|~~~|>>> |\$ ).*|^ {4,}cegdb .*", prose, re.MULTILINE)
    assert unseen == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_uses_is_named_where_readers_see_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for part in _PART.finditer(text):
        if part["key"] in ("file", "data"):
            before = text[: part.start()].rstrip().rpartition("\n\n")[2]
            assert re.search(rf"`(\S*/)?{re.escape(Path(part['value']).name)}`", before)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_or_names_of_the_repository_exists(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link
    names = re.findall(r"(?<![\w/.])(?:cegdb|docs|migrations|sql|tests)/[\w./-]*\w", text)
    made_up = re.compile(r"NNN|_build")
    assert [n for n in names if not made_up.search(n) and not (ROOT / n).exists()] == []
    # This one is a method.
    tests = {*re.findall(r"`(test_\w+)`", text)} - {"test_independence"}
    written = " ".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in tests if f"def {name}(" not in written] == []


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that a code host gives to the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.slow
def test_the_sql_reference_is_that_of_a_new_database() -> None:
    """``python docs/sql_reference.py`` writes it again."""
    page = ROOT / "docs" / "reference" / "sql.md"
    assert page.read_text(encoding="utf-8") == module_of("docs/sql_reference.py").write()


def test_the_references_of_commands_and_api_are_those_of_the_code() -> None:
    """``python docs/reference_pages.py`` writes them again."""
    folder = ROOT / "docs" / "reference"
    for path, text in module_of("docs/reference_pages.py").pages().items():
        assert (folder / path).read_text(encoding="utf-8") == text, path


def test_every_public_name_has_its_place_in_the_reference() -> None:
    pages = module_of("docs/reference_pages.py")
    listed = {name for _, _, names in pages.PAGES.values() for name in names}
    listed |= {name for names in pages.MODULES.values() for name in names}
    assert {name for name in cegdb.__all__ if not name.startswith("_")} - listed == {"open"}


def module_of(path: str) -> Any:
    """Return a script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
