"""The examples of all commands run as their help texts show them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import cegdb
from cegdb.cli import main
from cegdb.demo import DEMOS

COMMANDS = [
    *(name for name, command in main.commands.items() if not isinstance(command, click.Group)),
    *(
        f"{name} {one}"
        for name, group in main.commands.items()
        if isinstance(group, click.Group)
        for one in group.commands
    ),
]


def call(*words: str, fails: int = 0) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == fails, (words, result.output)
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with every file that an example reads, to be left as it is."""
    made = tmp_path_factory.mktemp("examples")
    falls = str(made / "falls.csv")
    call("demo", "falls", "--csv", falls)
    shutil.copy(falls, made / "falls_today.csv")
    rows = pd.DataFrame(DEMOS["falls"].rows, columns=list(DEMOS["falls"].columns))
    people = rows.drop(columns="people").rename_axis("person_id").reset_index()
    for name in ("new.csv", "held_out.csv"):
        people.to_csv(made / name, index=False)
    school = pd.DataFrame(
        [
            (sex, attends, vote)
            for sex in ("girl", "boy")
            for attends in ("daily", "unknown", "none")
            for vote in ("yes", "no", "no")
        ]
        * 5,
        columns=["sex", "attends", "vote"],
    )
    school.to_csv(made / "school.csv", index=False)
    school.to_csv(made / "vote.csv", sep=";", index=False)
    titanic = pd.DataFrame(DEMOS["titanic"].rows, columns=list(DEMOS["titanic"].columns))
    titanic.rename(columns={"people": "Freq"}).to_csv(made / "ship_freq.csv", index=False)
    waves = pd.DataFrame({"sex": ["f", "m"] * 20, "vote": ["yes", "no", "no", "yes"] * 10})
    waves.to_csv(made / "wave2.csv", index=False)
    waves.to_csv(made / "wave3.csv", sep=";", index=False)
    (made / "panel.yaml").write_text("variables:\n  vote: {label: Vote}\n", encoding="utf-8")
    with cegdb.open(made / "panel.duckdb") as db:
        db.ingest(made / "wave2.csv", name="panel").event_tree().learn_stages().to_ceg()
    with cegdb.open(made / "ship.duckdb") as db:
        db.ingest(DEMOS["titanic"].select(), name="ship", count="people")
    stored = str(made / "falls.duckdb")
    call("run", falls, "--count", "people", "--db", stored)
    call("learn-stages", stored, "falls", "--name", "by_hand", "--method", "hc")
    call("template", stored, "falls", "--kind", "staging", "-o", str(made / "falls.xlsx"))
    call("write-bif", stored, "falls", "-o", str(made / "falls.bif"))
    call("stability", stored, "falls", "--runs", "5")
    call("demo", "--db", str(made / "demo.duckdb"), "--draw", str(made / "chds.svg"))
    return made


def statistics_files(folder: Path) -> None:
    """Write the example files of SPSS."""
    import pyreadstat

    frame = pd.DataFrame({"vote": ["yes", "no"] * 10, "sex": ["f", "m", "m", "f"] * 5})
    pyreadstat.write_sav(frame, str(folder / "school.sav"))
    pyreadstat.write_sav(frame.assign(wt=1.0), str(folder / "panel.sav"))


def examples(text: str) -> list[list[str]]:
    """Return the commands that a text shows, without what a shell makes of them."""
    lines = re.findall(r"^ {4}(cegdb .*)$", text.replace("\\\n", " "), re.MULTILINE)
    parts = [part for line in lines for part in line.partition(" > ")[0].split(" && ")]
    return [shlex.split(part, comments=True)[1:] for part in parts]


def run_as_shown(words: list[str]) -> None:
    call(*("1000" if word == "1000000" else word for word in words))


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_run(
    folder: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    shutil.copytree(folder, here)
    if command in ("ingest", "codebook"):
        statistics_files(here)
    if command == "ingest":
        (here / "falls.duckdb").unlink()
    monkeypatch.chdir(here)
    shown = examples(call(*command.split(), "--help").stdout)
    assert any(" ".join(words).startswith(command) for words in shown)
    for words in shown:
        if "codebook" in words and "-o" in words:
            Path(words[words.index("-o") + 1]).unlink(missing_ok=True)
        run_as_shown(words)
    call("check", "falls.duckdb")


@pytest.mark.slow
@pytest.mark.parametrize("group", ["", "plot", "report"])
def test_the_examples_of_groups_run(
    folder: Path, tmp_path: Path, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    shutil.copytree(folder, here)
    (here / "falls.duckdb").rename(here / "built.duckdb")
    monkeypatch.chdir(here)
    if group:
        (here / "built.duckdb").rename(here / "falls.duckdb")
    shown = examples(call(*group.split(), "--help").stdout)
    assert shown
    for words in shown:
        run_as_shown(words)


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
    near = call("probability", stored, "falls", "Risk=High", fails=3).stderr
    assert near == (
        "error: 'Risk' has no label 'High'; available: 'High Risk', 'Low Risk'\n"
        "hint: did you mean 'High Risk'?\n"
    )


def test_nothing_is_printed_before_a_refusal(folder: Path) -> None:
    stored = str(folder / "falls.duckdb")
    asked = ("do", stored, "falls", "Risk", "--outcome", "Fall=Fall", "--draws", "0")
    assert call(*asked, "--adjust-for", "Nope", fails=3).stdout == ""
    assert call("write-bif", stored, "falls", "-o", "falls.txt", fails=3).stdout == ""


def test_rows_apart_from_the_evidence_are_not_said_to_lack_an_answer(folder: Path) -> None:
    stored = str(folder / "demo.duckdb")
    call("given", stored, "chds", "Admission=Yes", "--name", "admitted")
    told = call("explain", stored, "admitted").stdout
    assert "721 respondents do not reach the end" in told
    assert "because an answer is missing or ruled out by the evidence" in told
