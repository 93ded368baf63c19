"""The links of README and docs work where the repository is read, without a site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests" / "data" / "README.md"),
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]


def text_of(page: Path) -> str:
    """Return a page without its blocks of code."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that a code host gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        file, _, anchor = link.partition("#")
        if not re.match(r"https?:", link):
            target = (page.parent / file).resolve() if file else page
            assert target.exists(), link
            assert not anchor or anchor in anchors_of(target), link


def test_the_map_of_the_documentation_has_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    linked = set(re.findall(r"\]\(([^)#\s]+\.md)", text_of(index)))
    pages = {
        page.relative_to(index.parent).as_posix() for page in (ROOT / "docs").rglob("*.md")
    }
    api = {page for page in pages if page.startswith("reference/api/")} - {
        "reference/api/index.md"
    }
    assert linked == pages - api - {"index.md"}


def test_readme_is_a_way_in() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 250
