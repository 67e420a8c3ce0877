"""S3 and its features, each beside an independent computation."""

import hashlib
import itertools
import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from prevalence.baselines import Example, get
from prevalence.baselines.lexical.divergence import (
    jensen_shannon,
    skip_bigrams,
    weighted_subsequence,
)
from prevalence.baselines.lexical.rouge import words_of
from prevalence.baselines.lexical.s3 import Regression, read_regression, write_regression
from prevalence.baselines.lexical.s3_features import (
    FEATURES,
    VECTOR_FEATURES,
    WordVectors,
    s3_features,
)
from prevalence.baselines.stopwords import STOP_WORDS
from prevalence.errors import ConfigurationError, InputError, ModelError

SUMMARY = "The warm boots keep my feet dry, and the boots grip well on ice."
REFERENCES = (
    "Warm boots that keep feet dry. They grip on ice, but the laces come undone.",
    "Dry feet on ice: the boots are warm.",
)
WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


def features(*names, summary=SUMMARY, references=REFERENCES, vectors=None):
    return s3_features(summary, references, names=names, vectors=vectors).tolist()


@pytest.fixture
def vector_file(tmp_path):
    """Vectors in which "boots" and "shoes" are close, cosine .96, and "ice" lies apart."""
    path = tmp_path / "words.txt"
    path.write_text("boots 3 4\nshoes 4 3\nice -1 0\nwarm 1 1\n", encoding="utf-8")
    return path


def shares(name, summary=SUMMARY, references=REFERENCES):
    return features(f"{name}-p", f"{name}-r", f"{name}-f", summary=summary, references=references)


@pytest.mark.parametrize(
    ("name", "other"), [("rouge-1", "rouge1"), ("rouge-2", "rouge2"), ("rouge-l", "rougeL")]
)
def test_rouge_of_one_reference_is_rouge_scores(name, other):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer([other], use_stemmer=True)
    for reference in REFERENCES:
        found = scorer.score(reference, SUMMARY)[other]
        expected = [found.precision, found.recall, found.fmeasure]
        assert shares(name, references=[reference]) == pytest.approx(expected)


def test_counts_are_summed_over_references():
    # "a b" shares 1 of "a c d" (3 words) and 2 of "b a" (2): R = 3/5, and P = 3/(2 + 2).
    found = shares("rouge-1", "ax bx", ["ax cx dx", "bx ax"])
    assert found == pytest.approx([3 / 4, 3 / 5, 2 / 3])
    # ROUGE-W is averaged: nothing in common with the second.
    (both,) = features("rouge-w-r", summary="ax bx", references=["ax bx", "cx"])
    assert both == pytest.approx(1 / 2)


def test_stop_words_are_left_out_before_stemming():
    # Of "the warm boots" and "her boots": warm, boots against boots.
    assert shares("rouge-1-content", "the warm boots", ["her boots"]) == pytest.approx(
        [1 / 2, 1, 2 / 3]
    )
    # Neighbours are those of the words that are left.
    assert shares("rouge-2-content", "warm and dry boots", ["a warm dry boots"])[0] == 1
    assert words_of("This is only us", content=True) == ()
    assert all(word == word.lower() for word in STOP_WORDS)


@given(WORDS, WORDS)
def test_rouge_su_counts_words_and_pairs(first, second):
    def pairs(tokens):
        near = ((i, j) for i, j in itertools.combinations(range(len(tokens)), 2) if j - i <= 5)
        return Counter([(t,) for t in tokens] + [(tokens[i], tokens[j]) for i, j in near])

    assert skip_bigrams(first) == pairs(first)
    mine, others = pairs(first), pairs(second)
    shared = sum(min(count, others[unit]) for unit, count in mine.items())
    found = get("rouge-su4:recall:nostem").score(
        [Example(" ".join(first), (), (" ".join(second),))]
    )
    assert found[0] == pytest.approx(shared / others.total() if others else 0)


def best_weight(first, second):
    """The greatest weight over all common subsequences, a run of k words in a row being k^1.2."""

    @given_cache
    def search(i, j, run):
        # The weight of what is still to come, when ``run`` words in a row end just before i and j.
        if i == len(first) or j == len(second):
            return run**1.2
        ways = [run**1.2 + max(search(i + 1, j, 0), search(i, j + 1, 0))]
        if first[i] == second[j]:
            ways.append(search(i + 1, j + 1, run + 1))
        return max(ways)

    return search(0, 0, 0)


def given_cache(function):
    known = {}

    def call(*key):
        if key not in known:
            known[key] = function(*key)
        return known[key]

    return call


def test_rouge_w_by_hand():
    # Lin 2004, section 4: against ABCDEFG, ABCDHIK has a run of four and AHBKCID four words apart.
    run, apart = (weighted_subsequence(text, "abcdefg").recall for text in ("abcdhik", "ahbkcid"))
    assert run == pytest.approx(4 / 7)
    assert apart == pytest.approx(4 ** (1 / 1.2) / 7)
    assert weighted_subsequence("", "ab") == (0, 0)


@given(WORDS, WORDS)
def test_rouge_w_counts_no_more_than_the_best_subsequence(first, second):
    found = weighted_subsequence(first, second)
    if first and second:
        weight = (found.recall * len(second)) ** 1.2
        # Lin's algorithm keeps the run of one best path alone, so that it may miss a better one.
        assert weight <= best_weight(first, second) + 1e-9
        assert found.precision * len(first) == pytest.approx(found.recall * len(second))
    assert weighted_subsequence(first, first) == pytest.approx((1, 1) if first else (0, 0))


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 5), min_size=1),
    st.dictionaries(st.sampled_from("bcd"), st.integers(1, 5), min_size=1),
)
def test_divergence_is_scipys(left, right):
    keys = sorted({*left, *right})
    rows = ([side.get(key, 0) for key in keys] for side in (left, right))
    mine, others = ({(k,): v for k, v in side.items()} for side in (left, right))
    found = jensen_shannon(mine, others)
    assert found == pytest.approx(jensenshannon(*rows, base=2) ** 2, abs=1e-9)
    assert found == jensen_shannon(others, mine)


def test_divergence_features_pool_the_references():
    texts = [[f"{a}x" for a in part] for part in ("aab", "ac", "bb")]
    summary, *references = (" ".join(words) for words in texts)
    # Words: a 2/3, b 1/3 against a 1/4, b 1/2, c 1/4 of both references together.
    expected = jensenshannon([2, 1, 0], [1, 2, 1], base=2) ** 2
    found = features("js-1", summary=summary, references=references)
    assert found == pytest.approx([expected])
    # No pair of words in common, and a text without pairs.
    assert features("js-2", summary=summary, references=references) == [1]
    assert features("js-2", summary="ax", references=references) == [1]


def test_divergence_from_the_reviews():
    example = Example("the warm boots", ("warm hats", "and cold"))
    # Content words: warm, boots against warm, hats, cold.
    expected = jensenshannon([1, 1, 0, 0], [1, 0, 1, 1], base=2) ** 2
    metric = get("js:nostop:against=reviews")
    assert metric.score([example])[0] == pytest.approx(expected)
    # A text of stop words shares nothing.
    assert metric.score([example._replace(summary="The, of!")])[0] == 1
    with pytest.raises(ConfigurationError, match="order=3: choose 1 or 2"):
        get("js:order=3")


def test_soft_matches_by_vectors(vector_file):
    vectors = WordVectors(vector_file)

    def shared(summary, reference, order=1):
        name = f"rouge-we-{order}-r"
        return features(name, summary=summary, references=[reference], vectors=vectors)[0]

    # Shoes are matched with boots (.96), ice with nothing, and "zed" without a vector by itself.
    assert shared("shoes ice zed", "boots zed warm") == pytest.approx(2 / 3)
    # One pair of boots serves once.
    assert shared("shoes boots", "boots warm snow") == pytest.approx(2 / 3)
    assert shared("shoes shoes", "boots") == 1
    # Products of vectors: (4, 3)·(1, 1) and (3, 4)·(1, 1) are as close as before.
    assert shared("warm shoes", "warm boots", order=2) == 1
    assert shared("warm shoes", "ice boots", order=2) == 0


def test_cosine_of_mean_vectors(vector_file):
    (found,) = features(
        "embedding-cosine", summary="boots zed", references=["shoes warm", "zed"],
        vectors=WordVectors(vector_file),
    )  # fmt: skip
    mean = np.array([5, 4]) / 2
    expected = float(np.array([3, 4]) @ mean / (5 * np.linalg.norm(mean)))
    assert found == pytest.approx(expected / 2)


@given(st.lists(st.sampled_from([*"abc", "the", "boots"]), min_size=1, max_size=7))
def test_a_text_beside_itself(words):
    text = " ".join(words)
    names = [name for name in FEATURES if name not in VECTOR_FEATURES]
    for name, value in zip(names, features(*names, summary=text, references=[text]), strict=True):
        assert value in (pytest.approx(0), pytest.approx(1)), name
    assert features("rouge-1-f", "rouge-w-f", "js-1", summary=text, references=[text]) == (
        pytest.approx([1, 1, 0])
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("boots 1 2\nshoes 1\n", r"bad.txt:2: no word with 2 numbers"),
        ("boots 1 x\n", r"bad.txt:1: no word"),
        ("boots nan 1\n", r"bad.txt:1: no word"),
        ("boots 1e39 1\n", r"bad.txt:1: no word"),
        ("boots 1 2\n\nshoes 1 2\n", r"bad.txt:2: no word with 2 numbers"),
        ("2 3\n", "holds no word vector"),
        ("", "holds no word vector"),
    ],
)
def test_bad_vectors_are_refused(tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        WordVectors(path)


def test_words_may_hold_spaces_and_marks_that_end_no_line(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("boots 3 4\n. . . 1 2\n\x85 5 6\na\u2028b 7 8\n", encoding="utf-8")
    vectors = WordVectors(path)
    found = [vectors.gram((word,)).tolist() for word in (". . .", "\x85", "a\u2028b")]
    assert found == [[1, 2], [5, 6], [7, 8]]


def test_a_first_line_of_sizes_is_no_vector(tmp_path, vector_file):
    path = tmp_path / "sized.txt"
    path.write_text("4 2\n" + vector_file.read_text("utf-8"), encoding="utf-8")
    rows = [WordVectors(file).gram(("boots", "warm")) for file in (path, vector_file)]
    assert [row.tolist() for row in rows] == [[3, 4], [3, 4]]
    assert WordVectors(path).gram(("boots", "zed")) is None


def test_a_file_of_vectors_is_read_line_by_line(tmp_path):
    path = tmp_path / "glove.txt"
    row = " ".join(f"{number / 7:.6f}" for number in range(50))
    path.write_text("".join(f"word{n} {row}\n" for n in range(3000)), encoding="utf-8")
    tracemalloc.start()
    vectors = WordVectors(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 * path.stat().st_size
    assert vectors.gram(("word2999",)) == pytest.approx(np.arange(50) / 7, abs=1e-5)
    digest = hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()
    assert vectors.signature == f"glove.txt@{digest}"


def learnt(kind, names):
    """A regression of scikit-learn on made-up rows, and ours with its numbers."""
    svm = pytest.importorskip("sklearn.svm")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    draw = np.random.default_rng(3)
    rows, wanted = draw.uniform(size=(30, len(names))), draw.uniform(size=30)
    theirs = make_pipeline(StandardScaler(), svm.SVR(kernel=kind, gamma=0.3, coef0=0.5, degree=2))
    theirs.fit(rows, wanted)
    scaler, machine = theirs[0], theirs[1]
    ours = Regression(
        features=tuple(names), support=machine.support_vectors_, weights=machine.dual_coef_[0],
        intercept=float(machine.intercept_[0]), mean=scaler.mean_, scale=scaler.scale_,
        kernel=kind, gamma=0.3, constant=0.5, degree=2,
    )  # fmt: skip
    return theirs, ours, rows


@pytest.mark.parametrize("kind", ["linear", "poly", "rbf"])
def test_regressions_are_scikit_learns(tmp_path, kind):
    names = ["js-1", "rouge-1-r", "rouge-su4-f"]
    theirs, ours, rows = learnt(kind, names)
    assert ours.predict(rows) == pytest.approx(theirs.predict(rows))
    for target in ("pyr", "resp"):
        write_regression(ours, tmp_path / f"{target}.safetensors")
    metric = get("s3-pyr", weights=str(tmp_path))
    example = Example(SUMMARY, (), REFERENCES)
    row = [features(*names)]
    assert metric.score([example])[0] == pytest.approx(theirs.predict(row)[0])
    assert metric.signature["weights"].startswith("pyr.safetensors@")
    alone = [theirs.predict([features(*names, references=[text])])[0] for text in REFERENCES]
    metric = get("s3-resp", weights=str(tmp_path), refs="mean")
    assert metric.score([example])[0] == pytest.approx(np.mean(alone))
    assert math.isnan(metric.score([example._replace(summary="?")])[0])


def test_word_vectors_are_asked_for_and_signed(tmp_path, vector_file):
    _, ours, _ = learnt("linear", ["rouge-we-1-r"])
    bare = Regression(
        features=ours.features, support=ours.support, weights=ours.weights, intercept=0.0,
        mean=ours.mean, scale=ours.scale, kernel="linear",
    )  # fmt: skip
    write_regression(bare, tmp_path / "pyr.safetensors")
    with pytest.raises(ConfigurationError, match="rouge-we-1-r needs word vectors"):
        get("s3-pyr", weights=str(tmp_path))
    metric = get("s3-pyr", weights=str(tmp_path), vectors=str(vector_file))
    assert metric.signature["vectors"].startswith("words.txt@")
    row = features(*ours.features, vectors=WordVectors(vector_file))
    expected = bare.predict(np.array([row]))[0]
    assert metric.score([Example(SUMMARY, (), REFERENCES)])[0] == pytest.approx(expected)
    with pytest.raises(InputError, match="vectors=FILE"):
        features("rouge-we-1-r")
    _, plain, _ = learnt("linear", ["js-1"])
    write_regression(plain, tmp_path / "pyr.safetensors")
    with pytest.raises(ConfigurationError, match="vectors= does not apply"):
        get("s3-pyr", weights=str(tmp_path), vectors=str(vector_file))


def test_what_is_no_regression_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="weights=PATH"):
        get("s3-pyr")
    with pytest.raises(ModelError, match=r"pyr.safetensors: no such file"):
        get("s3-pyr", weights=str(tmp_path))
    (tmp_path / "pyr.safetensors").write_bytes(b"pickle")
    with pytest.raises(ModelError, match="not a regression of S3"):
        get("s3-pyr", weights=str(tmp_path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": ("rouge-9",)}, "unknown feature 'rouge-9'"),
        ({"kernel": "sigmoid"}, "unknown kernel"),
        ({"weights": np.ones(2)}, "do not fit 1 features"),
        ({"scale": np.zeros(1)}, "a scale is 0"),
        ({"intercept": math.nan}, "not finite"),
        ({"constant": math.nan}, "not finite"),
    ],
)
def test_regressions_that_cannot_be_computed(tmp_path, change, message):
    usual = {
        "features": ("js-1",), "support": np.ones((1, 1)), "weights": np.ones(1),
        "intercept": 0.0, "mean": np.zeros(1), "scale": np.ones(1),
    }  # fmt: skip
    path = tmp_path / "pyr.safetensors"
    write_regression(Regression(**usual), path)
    assert read_regression(path).features == ("js-1",)
    with pytest.raises(ModelError, match=message):
        Regression(**usual | change)


@pytest.mark.parametrize("size", range(1, 60))
def test_a_text_beside_itself_has_no_more_than_all(size):
    words = [str(number) for number in range(size)]
    assert max(weighted_subsequence(words, words)) <= 1


def test_few_texts_are_remembered():
    assert words_of.cache_parameters()["maxsize"] <= 64
