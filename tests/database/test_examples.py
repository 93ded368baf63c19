"""The examples of all commands run as their help texts show them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner, Result

from cegdb.cli import main
from cegdb.cli.group import SECTIONS

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = [
    *(name for name, command in main.commands.items() if not isinstance(command, click.Group)),
    *(
        f"{name} {one}"
        for name, group in main.commands.items()
        if isinstance(group, click.Group)
        for one in group.commands
    ),
]


WRITING = [
    name
    for section, commands in SECTIONS.items()
    for name in commands
    if (section in ("Make", "Decide", "Maintain") or name in ("given", "assign"))
    and name not in ("alpha-path", "posterior")  # they take long and give nothing a name
]


def call(*words: str, fails: int = 0) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == fails, (words, result.output)
    return result


def examples(text: str) -> list[list[str]]:
    """Return the commands that a text shows, without what a shell makes of them."""
    lines = re.findall(r"^ {4}(cegdb .*)$", text.replace("\\\n", " "), re.MULTILINE)
    parts = [part for line in lines for part in line.partition(" > ")[0].split(" && ")]
    return [shlex.split(part, comments=True)[1:] for part in parts]


def run_as_shown(words: list[str]) -> None:
    """Run an example, but where it draws or learns many times, only some times."""
    words = ["1000" if word == "1000000" else word for word in words]
    if "--runs" in words:
        words[words.index("--runs") + 1] = "10"
    elif words[0] == "stability" or "bootstrap" in words:
        words += ["--runs", "10"]
    call(*words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder that was empty before the examples of ``cegdb --help`` ran in it."""
    made = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        for words in examples(call("--help").stdout):
            run_as_shown(words)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [name for name in (*COMMANDS, "plot", "report", "steps") if name not in WRITING]
)
def test_the_examples_run_after_those_of_the_help(
    folder: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    shutil.copytree(folder, here)
    monkeypatch.chdir(here)
    shown = examples(call(*command.split(), "--help").stdout)
    assert any(" ".join(words).startswith(command) for words in shown)
    for words in shown:
        run_as_shown(words)


@pytest.mark.slow
def test_examples_that_write_run_in_the_order_of_the_help(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No example takes the name that another one needs, or drops what it reads."""
    here = tmp_path / "here"
    shutil.copytree(folder, here)
    monkeypatch.chdir(here)
    for name in WRITING:
        shown = examples(call(name, "--help").stdout)
        assert any(words[0] == name for words in shown)
        for words in shown:
            run_as_shown(words)
    call("check", "falls.duckdb")


@pytest.mark.slow
def test_json_has_no_number_that_json_does_not_know(folder: Path, tmp_path: Path) -> None:
    stored = str(folder / "falls.duckdb")
    odd = tmp_path / "odd.csv"
    odd.write_text("HousingAssessment,Risk,Treatment,Fall\nMars,Low Risk,,Fall\n")

    def refuse(text: str) -> None:
        raise AssertionError(text)

    for words in (["assign", stored, "falls", str(odd)], ["score", stored, "falls", str(odd)]):
        (row,) = json.loads(call(*words, "--format", "json").stdout, parse_constant=refuse)
        assert row.get("log_likelihood", row.get("mean")) is None
    cuts = call("cuts", stored, "falls", "--format", "json").stdout
    assert None in [row["variable"] for row in json.loads(cuts, parse_constant=refuse)]


def test_what_is_asked_of_a_command_in_vain_is_refused(folder: Path) -> None:
    stored = str(folder / "falls.duckdb")
    assert "--evidence" in call("given", stored, "falls", fails=2).stderr
    call("classify", stored, "falls", str(folder / "falls.csv"), fails=2)
    near = call("probability", stored, "falls", "Risk=High", fails=3).stderr
    assert near == (
        "error: 'Risk' has no label 'High'; available: 'High Risk', 'Low Risk'\n"
        "hint: did you mean 'High Risk'?\n"
    )


def test_nothing_is_printed_before_a_refusal(folder: Path) -> None:
    stored = str(folder / "falls.duckdb")
    asked = ("effect", stored, "falls", "Risk", "--outcome", "Fall=Fall", "--draws", "0")
    assert call(*asked, "--adjust-for", "Nope", fails=3).stdout == ""
    assert call("write-bif", stored, "falls", "-o", "falls.txt", fails=3).stdout == ""


@pytest.mark.slow
def test_rows_apart_from_the_evidence_are_not_said_to_lack_an_answer(tmp_path: Path) -> None:
    stored = str(tmp_path / "demo.duckdb")
    call("demo", "--db", stored, "--draw", str(tmp_path / "chds.svg"))
    call("given", stored, "chds", "Admission=Yes", "--name", "admitted")
    told = call("explain", stored, "admitted").stdout
    assert "721 respondents do not reach the end" in told
    assert "because an answer is missing or ruled out by the evidence" in told
