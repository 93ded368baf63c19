"""Run tests with the oldest versions of the dependencies that ``pyproject.toml`` declares.

``python tests/oldest_versions.py [pytest arguments]`` makes an environment in a temporary
folder, installs each declared dependency at its lower bound, and runs ``pytest`` there;
without arguments, ``pytest tests/unit tests/database tests/peers``, without the slow tests.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
TEST_TOOLS = {"hypothesis", "polars", "pyarrow", "pytest", "pytest-randomly", "pytest-xdist"}
READERS = ["igraph", "ipykernel", "nbclient", "nbformat", "playwright"]
"""What tests read the output of cegdb with, in any version."""


def pins() -> list[str]:
    """Return each dependency of the package, its extras and its tests at its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *extras["draw"], *extras["survey"]]
    declared += [text for text in extras["dev"] if Requirement(text).name in TEST_TOOLS]
    oldest = []
    for text in declared:
        requirement = Requirement(text)
        lowest = [spec.version for spec in requirement.specifier if spec.operator == ">="]
        marker = f"; {requirement.marker}" if requirement.marker else ""
        oldest.append(f"{requirement.name}=={lowest[0]}{marker}")
    return oldest


def main(arguments: list[str]) -> int:
    """Make the environment and run the tests in it; return pytest's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *pins(), *READERS], check=True)
        subprocess.run([*pip, "--no-deps", "-e", str(ROOT)], check=True)
        tests = arguments or ["tests/unit", "tests/database", "tests/peers"]
        return subprocess.run(
            [python, "-m", "pytest", *tests], cwd=ROOT, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
