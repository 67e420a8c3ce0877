"""SummaC in the registry is SummaC of the consistency scorers."""

import re

import numpy as np
import pytest

from prevalence.baselines import Example, get
from prevalence.errors import ConfigurationError
from prevalence.scorers import score_pairs
from prevalence.scorers.conv import ConvHead, ConvSettings, write_head
from prevalence.scorers.registry import open_scorer

REVIEWS = ("They keep my feet warm and dry.", "The laces come undone. I like them a lot.")
SUMMARIES = ("The boots keep feet warm. Laces come undone.", "They fell apart within a week.")
EXAMPLES = [Example(summary, REVIEWS) for summary in SUMMARIES]


@pytest.fixture(scope="module")
def head(tmp_path_factory):
    path = tmp_path_factory.mktemp("head") / "head.safetensors"
    rng = np.random.default_rng(2)
    settings = ConvSettings(bins="even10")
    write_head(
        ConvHead(settings, rng.normal(size=10), 0.1, rng.normal(size=(2, 3)), rng.normal(size=2)),
        path,
    )
    return path


@pytest.mark.parametrize("cut", ["sentence", "document", "document-sentence"])
def test_zero_shot_is_the_scorers(cut):
    scorer = open_scorer(f"summac-zs:{cut}", device="cpu")
    expected = score_pairs(scorer, [" ".join(REVIEWS)] * 2, SUMMARIES)
    metric = get("summac-zs", granularity=cut)
    found = metric.score(EXAMPLES)
    np.testing.assert_array_equal(found, expected)
    assert found[0] > found[1]
    assert (metric.signature["gran"], metric.signature["source"]) == (cut, "joined")
    assert np.isnan(metric.score([Example(" ", REVIEWS)])[0])


def test_conv_is_the_scorers(head):
    scorer = open_scorer(f"summac-conv:{head}", device="cpu")
    expected = score_pairs(scorer, [" ".join(REVIEWS)] * 2, SUMMARIES)
    metric = get("summac-conv", head=str(head))
    np.testing.assert_array_equal(metric.score(EXAMPLES), expected)
    assert metric.signature["head"] == scorer.traits.signature["head"]


def test_cut_reviews_are_counted():
    metric = get("summac-zs:granularity=document")
    metric.score([Example("Warm boots.", ("warm " * 900,))])
    assert metric.truncated == 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("summac-conv", "head=FILE"),
        ("summac-zs:granularity=word", "unknown granularity"),
        ("summac-zs:over-summary=median", "unknown operator"),
        ("summac-zs:head=x", "has no option 'head'"),
        ("alignscore:labels=no,yes", "has no option 'labels'"),
    ],
)
def test_wrong_options_are_refused(spec, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        get(spec)
