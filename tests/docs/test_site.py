"""The manual: every page has its place, and every table of figures is what the rows say."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from benchmarks import figures

ROOT = Path(__file__).resolve().parents[2]
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
KINDS = ["Tutorial", "How-tos", "Reference", "Explanations"]
OUTSIDE = {"index.md", "examples.md", "changelog.md"}
"""Pages that the site takes from elsewhere in the repository."""


def listed(part):
    """The pages that the navigation names, from top to bottom."""
    if isinstance(part, str):
        return [part]
    inner = part if isinstance(part, list) else part.values()
    return [page for one in inner for page in listed(one)]


def test_the_navigation_has_four_kinds():
    assert [name for part in SITE["nav"] for name in part] == KINDS


def test_every_page_has_one_place_in_the_navigation():
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} | OUTSIDE
    places = Counter(listed(SITE["nav"]))
    missing = sorted(pages - set(places))
    assert missing == [], "add these pages to nav in mkdocs.yml"
    assert sorted(set(places) - pages) == [], "nav in mkdocs.yml names pages that are not there"
    assert max(places.values()) == 1


def test_the_site_needs_no_network():
    assert SITE["theme"]["font"] is False
    assert not {"extra_javascript", "extra_css"} & set(SITE)


@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: page.name)
def test_tables_are_what_the_rows_say(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- figures:") == len(re.findall(r"<!-- figures: [\w-]+ -->\n", text))
    assert text == figures.rendered(text), "run: make figures"


def test_some_tables_are_made():
    text = "".join(page.read_text(encoding="utf-8") for page in figures.pages())
    assert len(re.findall("<!-- figures:", text)) >= 8
    assert text.count("<!-- figures:") == text.count("<!-- end -->")


@pytest.mark.parametrize("name", figures.FIGURES)
def test_every_figure_is_a_table(name):
    lines = figures.FIGURES[name]().splitlines()
    assert len(lines) > 3
    assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1


def test_a_table_takes_the_place_of_what_stood_there(monkeypatch):
    monkeypatch.setitem(figures.FIGURES, "two", lambda: "| a |\n| --- |\n| 2 |")
    page = "before\n<!-- figures: two -->\nold | words\n<!-- end -->\nafter"
    made = figures.rendered(page)
    assert made == ("before\n<!-- figures: two -->\n\n| a |\n| --- |\n| 2 |\n\n<!-- end -->\nafter")
    assert figures.rendered(made) == made
    with pytest.raises(KeyError):
        figures.rendered(page.replace("two", "none"))


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.0698, 2, ".070"), (140.86, 3, "141"), (5.84, 2, "5.8"), (1532, 2, "1500"), (0.0, 2, "0")],
)
def test_significant_digits(value, digits, text):
    assert figures.significant(value, digits) == text


def test_figures_come_from_the_rows():
    # The row of 23 November: 8 reviews, one summary, 50 pairs without the profile and 672 with it.
    assert "| 8 | 1 | 54 | 50 | 672 | 14.44 | exact | exact |" in figures.FIGURES["profile-cost"]()
