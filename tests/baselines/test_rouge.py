import sys
import types
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.baselines import Example, get
from prevalence.baselines.lexical.pyrouge import missing_tables
from prevalence.baselines.lexical.rouge import Overlap, f1
from prevalence.scorers.rouge import common_subsequence

UNITS = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}
MEASURES = {"": "fmeasure", ":precision": "precision", ":recall": "recall"}
PY_MEASURES = {"": "f", ":precision": "p", ":recall": "r"}

# Irregular forms, clitics that NLTK parts, the word kept whole, digits, and letters beyond ASCII.
WORDS = st.sampled_from(
    [
        "cannot",
        "cannots",
        "gonna",
        "feet",
        "apologies",
        "arguments",
        "warm",
        "warmly",
        "a",
        "12",
        "é",
        "it's",
    ]
)
TEXTS = st.lists(st.lists(WORDS, max_size=7).map(" ".join), max_size=3).map("\n".join)


def scores(spec, pairs):
    return get(spec).score([Example(summary, (), (other,)) for summary, other in pairs])


@settings(deadline=None)
@given(st.text("abc", max_size=9), st.text("abc", max_size=9))
def test_the_bits_count_a_longest_common_subsequence(first, second):
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
            )
    assert common_subsequence(first, second) == table[-1][-1]


def test_by_hand():
    # Stems: "the boot fit" (3) against "the boot fit well" (4): P = 1, R = 3/4, F = 6/7.
    assert scores("rouge-1", [("The boots fitted", "the boot fits well!")]) == [6 / 7]
    # Order: "well boot" has one word in order; P = 1/2, R = 1/4.
    assert scores("rouge-l:precision", [("well boots", "the boot fits well")]) == [0.5]
    assert f1(Overlap(0, 0, 0)) == 0.0


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parity
def test_equal_to_rouge_score(summary_pairs, unit, stem):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer([UNITS[unit]], stem)
    theirs = [scorer.score(other, summary)[UNITS[unit]] for summary, other in summary_pairs]
    for option, measure in MEASURES.items():
        ours = scores(unit + option + ("" if stem else ":nostem"), summary_pairs)
        np.testing.assert_array_equal(ours, [getattr(score, measure) for score in theirs])


@pytest.fixture
def py_rouge(monkeypatch):
    """The class of py-rouge, which needs two things that are gone: pkg_resources and NLTK data.

    The words that it gives to NLTK have no full stop left, so that NLTK's word rules alone do
    what ``word_tokenize`` would.
    """
    if missing_tables():
        pytest.skip(missing_tables())
    import nltk

    folder = Path(find_spec("rouge").submodule_search_locations[0])
    stub = types.ModuleType("pkg_resources")
    stub.resource_filename = lambda _, name: str(folder / name)
    monkeypatch.setitem(sys.modules, "pkg_resources", stub)
    tokenizer = nltk.tokenize.NLTKWordTokenizer()
    monkeypatch.setattr(nltk, "word_tokenize", lambda text, _: tokenizer.tokenize(text))
    from rouge import Rouge

    return Rouge


def py_rouge_scores(py_rouge, pairs, **options):
    scorer = py_rouge(metrics=["rouge-n", "rouge-l"], max_n=2, **options)
    return [scorer.get_scores(summary, other) for summary, other in pairs]


def check_py_rouge(theirs, pairs, suffix):
    for unit in UNITS:
        for option, measure in PY_MEASURES.items():
            ours = scores(f"{unit}:py-rouge{option}{suffix}", pairs)
            np.testing.assert_array_equal(ours, [score[unit][measure] for score in theirs])


@pytest.mark.parity
def test_equal_to_py_rouge(summary_pairs, py_rouge):
    check_py_rouge(py_rouge_scores(py_rouge, summary_pairs, limit_length=False), summary_pairs, "")


@pytest.mark.parity
def test_equal_to_py_rouge_without_stems_and_cut(summary_pairs, py_rouge):
    pairs = [(first.replace(". ", ".\n"), second) for first, second in summary_pairs[:20]]
    theirs = py_rouge_scores(py_rouge, pairs, length_limit=90, stemming=False)
    check_py_rouge(theirs, pairs, ":nostem:limit=90")


@pytest.mark.parity
def test_equal_to_py_rouge_on_odd_texts(py_rouge):
    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3))
    def check(pairs):
        theirs = py_rouge_scores(py_rouge, pairs, limit_length=False)
        check_py_rouge(theirs, pairs, "")
        check_py_rouge(py_rouge_scores(py_rouge, pairs, length_limit=11), pairs, ":limit=11")

    check()


def test_py_rouge_lines_by_hand():
    if missing_tables():
        pytest.skip(missing_tables())
    # Line by line, "b a" matches "a" in one line and "b" in the other; as one line only one word.
    assert scores("rouge-l:py-rouge:recall", [("a\nb", "b a"), ("a b", "b a")]).tolist() == [1, 0.5]
