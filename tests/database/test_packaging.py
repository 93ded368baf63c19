"""The wheel carries everything: built, installed in a new environment and used there."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(  # noqa: S603
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_wheel_works_in_a_new_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("cegdb-*.whl")
    # The dependencies are those of this environment; cegdb itself is the wheel's.
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--no-deps", wheel, cwd=tmp_path)
    here = next(path for path in sys.path if path.endswith("site-packages"))
    places = run(
        python, "-c", "import site; print(site.getsitepackages()[0])", cwd=tmp_path
    ).strip()
    # Not a .pth file, which would bring this environment's editable cegdb along.
    code = (
        f"import sys; sys.path.append({here!r}); import cegdb; from cegdb.sqlfiles import "
        f"names, load; assert cegdb.__file__.startswith({places!r}), cegdb.__file__; "
        "print(len([load(name) for name in names()])); "
        "db = cegdb.open('x.duckdb'); print(len(db.cegs)); db.close()"
    )
    steps, cegs = run(python, "-c", code, cwd=tmp_path).split()
    from cegdb.sqlfiles import names

    assert (int(steps), int(cegs)) == (len(names()), 0)
