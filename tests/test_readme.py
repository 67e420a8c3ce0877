"""The pages outside the manual: short, and without dead links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "examples/README.md")


def prose(page):
    """The lines of a page that are neither code nor table."""
    text = re.sub("```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [line for line in text.splitlines() if not line.startswith("|")]


def anchors(page):
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_takes_five_minutes():
    assert len(" ".join(prose(ROOT / "README.md")).split()) <= 1_300
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 1_900


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    assert links
    for link in links:
        path, _, anchor = link.partition("#")
        target = page.parent / path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
