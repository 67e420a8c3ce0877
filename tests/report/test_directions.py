"""Directions of metrics: those that the documentation and the registry state, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prevalence.baselines.registry import REGISTRY
from prevalence.report.directions import direction
from prevalence.scored import PROFILE_FIGURES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "profile.md"


def documented():
    """Figures of a profile with "high" or "low", as the page's table pairs them."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and set(re.findall(r"\w+", cells[2])) <= {"high", "low"}:
            names = re.findall(r"`(\w+)`", cells[0])
            best = re.findall(r"\w+", cells[2])
            yield from zip(names, best * len(names) if len(best) == 1 else best, strict=True)


def test_figures_of_a_profile_are_as_documented():
    told = dict(documented())
    assert set(PROFILE_FIGURES) <= set(told)
    for name in PROFILE_FIGURES:
        expected = {"high": 1, "low": -1}[told[name]]
        assert direction(f"prevalence.{name}") == expected, name
        assert direction(f"CLAIM:prevalence.{name}") == expected, name


@pytest.mark.parametrize("name", REGISTRY)
def test_baselines_are_as_listed(name):
    expected = {True: 1, False: -1, None: 0}[REGISTRY[name].higher_is_better]
    for spelling in (name, f"A:{name}", f"{name.upper()}", f"bleu-1:{name}"):
        assert direction(spelling) == expected, spelling


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("prevalence", 1),
        ("A:prevalence", 1),
        ("tone", 1),
        ("people.tone", 1),
        ("judge.tone", 1),
        ("judge.fluency", 1),
        ("infolm:model=./A,b", -1),
        ("prevalence.other", 0),
        ("characters", 0),
        ("ter_score", 0),
        ("a b: c", 0),
        ("", 0),
    ],
)
def test_other_names(name, expected):
    assert direction(name, ("tone",)) == expected
