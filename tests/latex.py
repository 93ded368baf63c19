"""Compile with LaTeX, where there is one that has what a document needs."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def compiled(source: Path, program: str, *needs: str) -> subprocess.CompletedProcess[str]:
    """Run pdflatex or lualatex once in the folder of the source; skip where it cannot work.

    ``needs`` are the classes and packages that small installations leave out.
    """
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    if program == "lualatex":  # the fonts of its documents cannot be loaded without
        needs = ("luaotfload.sty", "fontspec.sty", *needs)
    for name in needs:
        if not _finds(program, name):
            pytest.skip(f"the LaTeX installed has no {name}")
    return subprocess.run(  # noqa: S603
        [program, "-interaction=nonstopmode", "-halt-on-error", source.name],
        cwd=source.parent,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=100,
    )


def _finds(program: str, name: str) -> bool:
    kpsewhich = shutil.which("kpsewhich")
    if kpsewhich is None:
        pytest.skip("kpsewhich, which finds the files of LaTeX, is not installed")
    command = [kpsewhich, f"-progname={program}", name]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603
