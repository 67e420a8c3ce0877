"""Summaries with reviews for every loop, and their scorer that needs no model."""

from __future__ import annotations

import pytest

from prevalence.rewards import BatchScorer, ScorerOptions

REVIEWS = (
    ("warm boots and dry feet", "warm boots", "loud and cheap"),
    ("battery dies fast", "it lasts", "battery dies"),
)
SUMMARIES = ("Warm boots.", "Loud. Cheap.", "Battery dies.", "The screen is bright.", "")


@pytest.fixture
def examples():
    """(summaries, reviews, names), one each."""
    size = len(SUMMARIES)
    return list(SUMMARIES), [list(REVIEWS[k // 2 % 2]) for k in range(size)], ["thing"] * size


@pytest.fixture
def lexical_batches():
    return BatchScorer(ScorerOptions(model="rouge1-precision"))
