"""Compiled edits beside sacrebleu's own."""

import numpy as np
import pytest

from prevalence.kernels.edits import translation_edits, translation_edits_reference


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("sacrebleu.metrics.lib_ter").translation_edit_rate


@pytest.mark.parametrize(
    ("words", "reference", "edits"),
    [
        ("", "", 0),
        ("a b", "", 2),
        ("", "a b c", 3),
        ("a b c", "a b c", 0),
        ("c a b", "a b c", 1),  # one shift
        ("a x b", "a b", 1),
        ("d e a b c", "a b c f", 3),  # two too many and one missing; a shift saves what it costs
    ],
)
def test_by_hand(words, reference, edits):
    assert translation_edits(words.split(), reference.split()) == edits
    assert translation_edits_reference(words.split(), reference.split()) == edits


@pytest.mark.parametrize(
    ("size", "other", "vocabulary"),
    [(0, 4, 2), (6, 6, 3), (9, 5, 3), (5, 9, 4), (12, 12, 20), (1, 60, 3), (60, 1, 3)],
)
def test_equal_to_the_plain_version(size, other, vocabulary):
    rng = np.random.default_rng(size)
    for _ in range(3):
        first = [f"w{n}" for n in rng.integers(0, vocabulary, size)]
        second = [f"w{n}" for n in rng.integers(0, vocabulary, other)]
        assert translation_edits(first, second) == translation_edits_reference(first, second)
        few = second[:12]
        rolled = [*few[5:], *few[:5]]
        assert translation_edits(rolled, few) == translation_edits_reference(rolled, few)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("size", "other", "vocabulary"),
    [(8, 8, 4), (15, 12, 6), (30, 22, 9), (12, 70, 8), (64, 6, 5), (2, 130, 3), (45, 45, 40)],
)
def test_equal_to_sacrebleu(theirs, size, other, vocabulary):
    """Random words; the long ones reach the beam, the distance and the number of candidates."""
    rng = np.random.default_rng(size)
    for _ in range(3):
        first = [f"w{n}" for n in rng.integers(0, vocabulary, size)]
        second = [f"w{n}" for n in rng.integers(0, vocabulary, other)]
        assert translation_edits(first, second) == theirs(first, second)[0]


@pytest.mark.parity
def test_shuffled_texts_are_shifted_as_there(theirs):
    rng = np.random.default_rng(5)
    words = [f"w{n}" for n in range(24)]
    for _ in range(4):
        other = [*words[7:], *words[:7]]
        a, b = sorted(rng.integers(0, 24, 2))
        other[a:b] = other[a:b][::-1]
        assert translation_edits(other, words) == theirs(other, words)[0]
