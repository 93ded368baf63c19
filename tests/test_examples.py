"""The examples of commands that ask a CEG, as their help texts show them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from datasets import opened, survey_file

from cegdb.cli import main

ASKING = [
    *("ask", "given", "assign", "complete", "score", "sample", "do"),
    *("explain", "cuts", "independence", "test-independence", "network", "plot", "export"),
    *("report", "words", "differences", "cite"),
]
README = Path(__file__).parents[1] / "README.md"


def call(*words: str, fails: int = 0) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == fails, (words, result.output)
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("examples")
    falls = survey_file("falls_cegpy")
    with opened(falls) as file:
        lines = file.read().splitlines()
    rows = [f"{i or 'person_id'},{line}" for i, line in enumerate(lines)]
    for name in ("new.csv", "held_out.csv"):
        (made / name).write_text("\n".join(rows[:200]), encoding="utf-8")
    stored = str(made / "falls.duckdb")
    call("run", str(falls), "--db", stored, "--name", "falls")
    call("stages", stored, "falls", "--name", "by_hand", "--method", "hc")
    call("demo", "--db", str(made / "demo.duckdb"), "--draw", str(made / "chds.svg"))
    return made


def examples(text: str) -> list[list[str]]:
    """Return the lines that call one of the commands, without what a shell makes of them."""
    found = re.findall(rf"^ {{4}}cegdb ((?:{'|'.join(ASKING)}) .*)$", text, re.MULTILINE)
    return [shlex.split(line.partition(" > ")[0], comments=True) for line in found]


@pytest.mark.parametrize("command", [*ASKING, "README"])
def test_the_examples_run(folder: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    text = (
        README.read_text(encoding="utf-8")
        if command == "README"
        else call(command, "--help").stdout
    )
    asked = examples(text)
    assert asked
    for words in asked:
        shorter = ["1000" if word == "1000000" else word for word in words]
        writes = words[0] in {"assign", "complete"} and {"-o", "--into"} & set(words)
        call(*shorter, *(["--replace"] if writes else []))


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
    scored = ("score", stored, "falls", str(folder / "new.csv"), "--target", "Fall")
    assert "--bins needs --calibration" in call(*scored, "--bins", "5", fails=2).stderr
    near = call("ask", stored, "falls", "Risk=High", fails=3).stderr
    assert near == "error: 'Risk' has no label 'High'\nhint: did you mean 'High Risk'?\n"


def test_nothing_is_printed_before_a_refusal(folder: Path) -> None:
    stored = str(folder / "falls.duckdb")
    asked = ("do", stored, "falls", "Risk", "--outcome", "Fall=Fall", "--draws", "0")
    assert call(*asked, "--by", "Nope", fails=3).stdout == ""
    assert call("network", stored, "falls", "-o", "falls.txt", fails=3).stdout == ""


def test_rows_apart_from_the_evidence_are_not_said_to_lack_an_answer(folder: Path) -> None:
    stored = str(folder / "demo.duckdb")
    call("given", stored, "chds", "Admission=Yes", "--name", "admitted")
    told = call("explain", stored, "admitted").stdout
    assert "721 rows do not reach its end" in told
    assert "by answers that the evidence rules out" in told
