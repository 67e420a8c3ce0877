import numpy as np
import pytest

from prevalence.baselines import Example, get
from prevalence.baselines.cache import CachedMetric, ValueCache
from prevalence.nli.cache import PairCache


class Counting:
    """ROUGE-1 recall against reviews, undefined for an empty summary; counts what it computes."""

    def __init__(self, *, revision="1"):
        self.inner = get("rouge-1:recall:against=reviews")
        self.name, self.entry, self.needs = self.inner.name, self.inner.entry, self.inner.needs
        self.signature = {**self.inner.signature, "revision": revision}
        self.work_unit, self.asked = 4, []

    def score(self, examples, *, progress=None):
        self.asked.extend(examples)
        values = self.inner.score(examples, progress=progress)
        return np.where([bool(example.summary) for example in examples], values, np.nan)


# A third is no float32, and no short decimal.
EXAMPLES = [Example("a", ("a b c",)), Example("", ("a",)), Example("a b", ("a b c",))]


@pytest.fixture
def cache(tmp_path):
    store = ValueCache(tmp_path)
    yield store
    store.close()


def test_the_second_time_only_what_has_no_value_is_computed(cache):
    first = CachedMetric(Counting(), cache).score(EXAMPLES)
    np.testing.assert_array_equal(first, [1 / 3, np.nan, 2 / 3])
    again, seen = Counting(), []
    cached = CachedMetric(again, cache)
    np.testing.assert_array_equal(cached.score(EXAMPLES, progress=seen.append), first)
    assert (again.asked, cached.hits, sum(seen)) == ([EXAMPLES[1]], 2, 3)


def test_another_signature_or_text_has_other_keys_and_unread_texts_do_not_count(cache):
    CachedMetric(Counting(), cache).score(EXAMPLES[:1])
    other = CachedMetric(Counting(revision="2"), cache)
    other.score(EXAMPLES[:1])
    same = CachedMetric(Counting(), cache)
    same.score([EXAMPLES[0]._replace(reviews=("a b",)), EXAMPLES[0]._replace(references=("r",))])
    assert (other.hits, same.hits) == (0, 1)


def test_it_says_what_the_metric_says(cache):
    inner = Counting()
    cached = CachedMetric(inner, cache)
    for name in ("name", "entry", "needs", "signature", "work_unit"):
        assert getattr(cached, name) == getattr(inner, name)
    assert cached.truncated == 0
    inner.truncated = 3
    assert cached.truncated == 3


def test_values_and_pairs_live_side_by_side(cache, tmp_path):
    CachedMetric(Counting(), cache).score(EXAMPLES)
    pairs = PairCache(tmp_path)
    assert (cache.info().pairs, pairs.info().pairs) == (2, 0)
    pairs.close()
