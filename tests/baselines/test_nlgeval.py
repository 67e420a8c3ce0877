import math

import pytest

from prevalence.baselines.lexical.nlgeval import nlg_eval_bleu


def test_by_hand():
    # Words: 3 of 4 match; pairs: "the boots" and "boots are" of 3; lengths 4 and 5.
    summary, reference = "the boots are Warm", ["the boots are very warm"]
    brevity = math.exp(1 - 5 / 4)
    assert nlg_eval_bleu(summary, reference, 1) == pytest.approx(3 / 4 * brevity, abs=1e-8)
    expected = math.sqrt(3 / 4 * 2 / 3) * brevity
    assert nlg_eval_bleu(summary, reference, 2) == pytest.approx(expected, abs=1e-8)


def test_counts_are_clipped_by_the_most_generous_reference():
    assert nlg_eval_bleu("a a a", ["a a b", "a c d"], 1) == pytest.approx(2 / 3, abs=1e-8)


def test_the_shorter_of_two_equally_close_references_counts():
    # Lengths 3 and 5 are as close to 4; by the longer, the summary would be penalised.
    assert nlg_eval_bleu("a b c d", ["a b c", "a b c d e"], 1) == pytest.approx(1, abs=1e-8)


def test_nothing_shared_leaves_a_trace_and_no_words_have_a_value():
    # No pair matches: sqrt(1/2 · 1e-15/1); no word at all: the brevity exp(1 − 1e15) is 0.
    assert nlg_eval_bleu("a b", ["a c"], 2) == pytest.approx(math.sqrt(0.5e-15), rel=1e-6)
    assert nlg_eval_bleu("", ["a"], 4) == 0.0
