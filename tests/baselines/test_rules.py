import numpy as np
import pytest

from prevalence.baselines import Example, get
from prevalence.errors import InputError

# Unstemmed unigrams of "a b": recall 1/1, 2/4 and 0/1 of these texts, precision 1/2, 2/2 and 0/2.
THREE = ("a", "a b c d", "z")


def value(spec, *, references=(), reviews=()):
    return get(spec).score([Example("a b", reviews, references)]).item()


@pytest.mark.parametrize(
    ("rule", "expected"), [("best", 1.0), ("mean", 0.5), ("first", 0.5), (None, 1.0)]
)
def test_several_references(rule, expected):
    spec = "rouge-1:precision" + (f":refs={rule}" if rule else "")
    assert value(spec, references=THREE) == expected


def test_the_best_reference_is_the_lowest_where_lower_is_better():
    pytest.importorskip("sacrebleu")
    # One edit for each of two words, none, and one.
    assert value("ter:refs=best", references=("a c", "a b")) == 0.0
    assert value("ter:refs=mean", references=("a c", "a b")) == 25.0


@pytest.mark.parametrize(
    ("rule", "expected"),
    # The joined text is "a a b c d z": 2 of its 6 words are in the summary, 1 of its first 2.
    [("joined", 2 / 6), ("each", (1 + 1 / 2 + 0) / 3), ("truncated-2", 1 / 2), (None, 2 / 6)],
)
def test_several_reviews(rule, expected):
    spec = "rouge-1:recall:against=reviews" + (f":source={rule}" if rule else "")
    assert value(spec, reviews=THREE) == pytest.approx(expected, abs=1e-15)


def test_what_is_missing_is_named():
    with pytest.raises(InputError, match="rouge-1 needs reference"):
        value("rouge-1", reviews=("a",))


def test_equal_comparisons_are_asked_once():
    entry = get("rouge-1").entry
    from prevalence.baselines.rules import comparing
    from prevalence.scorers.grammar import Spec

    asked = []

    def compute(comparisons):
        asked.extend(comparisons)
        return [float(len(item.text)) for item in comparisons]

    metric = comparing(entry, Spec("rouge-1", {"refs": "mean"}), compute, signature={})
    values = metric.score([Example("s", (), ("x", "yyy")), Example("s", (), ("yyy", "x", "x"))])
    np.testing.assert_array_equal(values, [2.0, 5 / 3])
    assert [item.texts for item in asked] == [("x",), ("yyy",)]


def test_no_example_is_no_value():
    assert get("rouge-1").score([]).shape == (0,)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("against=reviews:source=each", 2.0), ("refs=mean", 2.0), ("refs=best", 3.0)],
)
def test_a_text_without_a_value_is_left_out(rule, expected):
    from prevalence.baselines.rules import comparing
    from prevalence.scorers.grammar import Spec

    def compute(comparisons):
        return [len(item.text) or np.nan for item in comparisons]

    options = dict(part.split("=") for part in rule.split(":"))
    metric = comparing(get("rouge-1").entry, Spec("rouge-1", options), compute, signature={})
    texts = ("xxx", "", "x")
    found = metric.score([Example("s", texts, texts), Example("s", ("",), ("",))])
    np.testing.assert_array_equal(found, [expected, np.nan])


@pytest.mark.parametrize("rule", ["mean", "first"])
def test_blank_references_are_left_out(rule):
    spec = f"rouge-1:precision:refs={rule}"
    assert value(spec, references=(" ", "a", "", "\n")) == 0.5
    assert value(spec, references=(" ", "")) == 0


def test_blank_references_are_left_out_of_joint_ones():
    pytest.importorskip("sacrebleu")
    wanted = value("bleu-1", references=THREE)
    assert value("bleu-1", references=("", *THREE, " ")) == wanted


def test_blank_reviews_are_left_out():
    spec = "rouge-1:precision:against=reviews:source=each"
    assert value(spec, reviews=("a", "  ", "")) == 0.5
