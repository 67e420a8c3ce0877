"""Prevalence of summaries beside that of readers, with a model whose answers are known."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.claim_scores import SITES, decisions, figures, parts
from benchmarks.model_summaries import DATA, Judged, on_released, on_written


class Knowing:
    """Says yes where a word of the statement stands in the review."""

    scorer = SimpleNamespace(traits=SimpleNamespace(threshold=0.5))

    def probabilities(self, pairs):
        yes = [claim.split()[-1].strip(".") in review for review, claim in pairs]
        return np.array(yes, dtype=float), np.zeros(len(yes))


def summary(text, claims, supported):
    return Judged(["soft", "soft warm", "red"], text, claims, supported, [], [text] * len(claims))


def test_prevalence_of_each_unit_by_hand():
    judged = [
        summary("It is soft and warm.", ["It is soft.", "It is warm."],
                [[True, True, False], [False, True, False]]),
        summary("It is red.", ["It is red."], [[False, False, True]]),
        summary("It is blue.", ["It is blue."], [[False, False, False]]),
    ]  # fmt: skip
    readers, sentences, by_rule, own = figures(decisions(Knowing(), judged), judged)
    # Means of (2/3 + 1/3) / 2, 1/3 and 0; the whole first sentence ends in "warm": 1/3.
    assert readers["prevalence"] == pytest.approx((1 / 2 + 1 / 3) / 3)
    assert sentences["prevalence"] == pytest.approx((1 / 3 + 1 / 3) / 3)
    for row in (by_rule, own):
        assert row["prevalence"] == pytest.approx(readers["prevalence"])
        assert row["pearson, sentences"] == pytest.approx(1)
        assert row["pearson, summaries"] == pytest.approx(1)
        assert row["distance"] == pytest.approx(0)
    # One text is a sixth too low.
    assert sentences["distance"] == pytest.approx(1 / 6 / 3)


def test_judged_summaries_are_whole():
    found = on_written()
    assert len(found) == 80
    assert sum(len(one.claims) for one in found) == 1211
    assert all(len(row) == len(one.reviews) == 8 for one in found for row in one.supported)
    assert all(one.claims for one in found)


@pytest.mark.parametrize(
    ("name", "summaries", "claims"),
    [
        ("model_summaries_yelp.jsonl", 72, 889),
        ("model_summaries_yelp_more.jsonl", 60, 753),
        ("model_summaries_yelp_sites.jsonl", 120, 1528),
    ],
)
def test_reviews_of_the_released_cases_are_put_in(name, summaries, claims):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    numbers = [json.loads(line)["case"] for line in lines]
    cases = [{"case": case, "reviews": [f"{case}-{k}" for k in range(8)]} for case in numbers]
    found = on_released(cases, name)
    assert len(found) == summaries
    assert found[0].reviews[0] == f"{numbers[0]}-0"
    assert sum(len(one.claims) for one in found) == claims
    assert all(sentence in one.summary for one in found for sentence in one.sentences)
    assert all(len(row) == 8 for one in found for row in one.supported)
    assert {one.case for one in found} == set(numbers)


def test_parts_of_the_summaries_of_sites():
    name = "model_summaries_yelp_sites.jsonl"
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    cases = [{"case": json.loads(line)["case"], "reviews": ["r"] * 8} for line in lines]
    whole, *forms, new = parts(SITES, on_released(cases, name)).values()
    assert [len(form) for form in forms] == [40, 40, 40]
    assert len(whole) == 120
    assert len(new) == 60
    assert sum(len(set(one.sentences)) for one in new) == 457
    assert list(parts("written", whole)) == ["written"]
