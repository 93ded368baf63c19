"""Files of another DuckDB, cut short, or no database: one message, and nothing changed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

import cegdb
from cegdb.cli import main
from cegdb.errors import StoreError

pytestmark = pytest.mark.usefixtures("from_nothing")

OTHER = "CEGDB_OTHER_PYTHON"
"""Names a Python whose DuckDB is another one, with the dependencies of cegdb."""
VERSION, MAKER = slice(12, 20), slice(52, 84)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a database of one survey, with all that is built on it."""
    path = tmp_path_factory.mktemp("made") / "falls.duckdb"
    with cegdb.open(path) as db:
        survey = db.ingest("select i % 2 as x, i % 3 as y from range(12) as t(i)", name="falls")
        survey.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
    return path


@pytest.fixture
def file(made: Path, tmp_path: Path) -> Path:
    """Give a copy of that database."""
    path = tmp_path / "falls.duckdb"
    shutil.copyfile(made, path)
    return path


def changed(file: Path, part: slice, content: bytes) -> None:
    """Write other bytes into a file."""
    found = bytearray(file.read_bytes())
    found[part] = content.ljust(part.stop - part.start, b"\0")
    file.write_bytes(found)


def sealed(file: Path) -> None:
    """Write the checksum that DuckDB keeps of the header of a file."""
    found = bytearray(file.read_bytes())
    result = 5381
    for start in range(8, 4096, 8):
        word = int.from_bytes(found[start : start + 8], "little")
        result ^= word * 0xBF58476D1CE4E5B9 % 2**64
    found[:8] = result.to_bytes(8, "little")
    file.write_bytes(found)


def call(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 1, result.output
    assert result.stderr.count("error: ") == 1
    assert "Traceback" not in result.output
    return result


@pytest.mark.parametrize(
    ("maker", "named", "way_out"),
    [
        (b"v99.1.2", "was made by DuckDB 99.1.2", "pip install duckdb==99.1.2"),
        (b"", "was made by another DuckDB", "pip install -U duckdb"),
        (b"\xff\xfe; rm -r", "was made by another DuckDB", "pip install -U duckdb"),
        (b"v99.1.2-dev77", "was made by another DuckDB", "pip install -U duckdb"),
    ],
)
def test_a_file_of_a_newer_duckdb_names_both_versions_and_the_way_out(
    file: Path, maker: bytes, named: str, way_out: str
) -> None:
    changed(file, VERSION, (9999).to_bytes(8, "little"))
    changed(file, MAKER, maker)
    sealed(file)
    content = file.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match=named) as caught:
            cegdb.open(file, read_only=read_only)
        assert f"this DuckDB {duckdb.__version__} cannot read it" in str(caught.value)
        assert way_out in str(caught.value.hint)
        assert "export database" in str(caught.value.hint)
    for command in (
        ("list", file),
        ("event-tree", file, "falls"),
        ("run", "x.csv", "--db", file),
    ):
        assert named in call(*command).stderr
    assert file.read_bytes() == content


@pytest.mark.parametrize("size", [12, 64, 4096, 8192, 12_288, "half"])
def test_a_file_that_is_cut_short_is_said_to_be(file: Path, size: int | str) -> None:
    whole = file.read_bytes()
    content = whole[: len(whole) // 2 if isinstance(size, str) else size]
    file.write_bytes(content)
    for command in (
        ("list", file),
        ("check", file),
        ("event-tree", file, "falls", "--replace"),
    ):
        stderr = call(*command).stderr
        assert f"{file} is incomplete" in stderr
        assert "hint: restore a copy" in stderr
    assert file.read_bytes() == content
    assert [item.name for item in file.parent.iterdir()] == [file.name]


def test_a_damaged_file_is_said_to_be(file: Path) -> None:
    changed(file, slice(100, 200), b"\1" * 100)
    assert f"{file} is damaged" in call("list", file).stderr


@pytest.mark.parametrize("content", [b"x,y\na,b\n" * 1000, b"", b"x", b"PAR1" + bytes(9000)])
def test_what_is_no_database_is_one_message(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "text.duckdb"
    file.write_bytes(content)
    for command in (("list", file), ("run", "x.csv", "--db", file)):
        assert "is not a DuckDB database" in call(*command).stderr
    assert file.read_bytes() == content


@pytest.fixture(scope="module")
def other() -> tuple[str, str]:
    """Give a Python with another DuckDB, and the version of that, or skip."""
    python = os.environ.get(OTHER)
    if python is None:
        pytest.skip(f"{OTHER} names no Python with another DuckDB")
    version = ask(python, "import duckdb; print(duckdb.__version__)")
    if version == duckdb.__version__:
        pytest.skip(f"the Python of {OTHER} has this DuckDB too")
    return python, version


def ask(python: str, code: str, *arguments: object) -> str:
    """Return what a program says to standard output or, failing, to standard error."""
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(  # noqa: S603
        [python, "-W", "ignore", "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return (done.stderr if done.returncode else done.stdout).strip()


USE = """
import sys, cegdb
with cegdb.open(sys.argv[1]) as db:
    name = sys.argv[2]
    db.ingest("select i % 2 as x, i % 3 as y from range(12) as t(i)", name=name)
    db.surveys[name].event_tree().learn_stages().to_ceg()
    print(db.check(), len(db.cegs), db.cegs[name].edges["n"].tolist())
"""
LIST = "import sys; sys.argv[0] = 'cegdb'; from cegdb.cli import main; main()"


def older(one: str, two: str) -> bool:
    first, second = (tuple(map(int, re.findall(r"\d+", text)[:3])) for text in (one, two))
    return first < second


def test_a_file_goes_from_an_older_duckdb_to_a_newer_and_not_back(
    other: tuple[str, str], tmp_path: Path
) -> None:
    python, version = other
    file, ours = tmp_path / "theirs.duckdb", tmp_path / "ours.duckdb"
    edges = ask(python, USE, file, "theirs").partition("1 ")[2]
    assert edges
    with cegdb.open(ours) as db:
        db.ingest("select 1 as x")
    newer = (python, ours) if older(version, duckdb.__version__) else (None, file)
    if newer[0] is None:
        with pytest.raises(StoreError, match=f"was made by DuckDB {version}"):
            cegdb.open(file)
        return
    said = ask(python, LIST, "list", ours)
    assert said.startswith(f"error: {ours} was made by DuckDB {duckdb.__version__}, and this")
    assert f"this DuckDB {version} cannot read it" in said
    assert "Traceback" not in said
    with cegdb.open(file) as db:
        assert db.check() == []
        exec(USE.partition("as db:")[2].replace("\n    ", "\n"), {"db": db, "sys": Called})  # noqa: S102
        assert db.cegs["here"].edges["n"].tolist() == db.cegs["theirs"].edges["n"].tolist()


class Called:
    argv = ("", "", "here")
