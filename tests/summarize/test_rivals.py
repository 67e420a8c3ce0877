"""Random, lead, LexRank and centroid."""

from __future__ import annotations

import re

import numpy as np
import pytest

from prevalence.summarize.candidates import Candidates
from prevalence.summarize.rivals import centroid_order, drawn, leading, lexrank_scores
from prevalence.text.sentences import get_splitter

REVIEWS = ["First sock. Second sock. Third sock.", "First shoe.", "First hat. Second hat."]

SENTENCES = [
    "The soles grip well on wet ground.",
    "Good grip on wet ground and snow.",
    "On ice the soles grip badly.",
    "The laces broke.",
    "After a week the laces broke!",
    "!!!",
]


@pytest.fixture
def candidates() -> Candidates:
    return Candidates.of(REVIEWS, get_splitter())


def test_a_draw_is_every_place_once_and_depends_on_its_seed_alone(candidates: Candidates) -> None:
    first, again, other = (drawn(candidates, seed) for seed in ([1, 5], [1, 5], [2, 5]))
    assert sorted(first) == list(range(6))
    assert first == again != other


def test_every_first_place_is_drawn_equally_often(candidates: Candidates) -> None:
    counts = np.bincount([drawn(candidates, [seed])[0] for seed in range(3000)], minlength=6)
    # 500 each are expected, with a standard deviation of 20.
    assert counts.min() > 400
    assert counts.max() < 600


def test_lead_takes_first_sentences_then_second_ones(candidates: Candidates) -> None:
    texts = [candidates.texts[position] for position in leading(candidates)]
    assert texts == [
        "First sock.", "First shoe.", "First hat.", "Second sock.", "Second hat.", "Third sock.",
    ]  # fmt: skip


def dense_lexrank(sentences: list[str]) -> np.ndarray:
    """The definition with dense matrices and the leading eigenvector."""
    words = [re.findall(r"\w+", sentence.lower()) for sentence in sentences]
    vocabulary = sorted({word for found in words for word in found})
    counts = np.array([[found.count(word) for word in vocabulary] for found in words], float)
    vectors = counts * np.log(len(sentences) / (counts > 0).sum(axis=0))
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    links = (unit @ unit.T > 0.1).astype(float)
    walk = np.array([row / row.sum() if row.sum() else np.full(len(row), 1 / len(row))
                     for row in links])  # fmt: skip
    jump = 0.15 / len(sentences) + 0.85 * walk
    values, vectors = np.linalg.eig(jump.T)
    leading_vector = np.real(vectors[:, np.argmax(np.real(values))])
    return np.asarray(leading_vector / leading_vector.sum())


@pytest.mark.parametrize("sentences", [SENTENCES, SENTENCES[:1], ["same", "same"], ["!", "?"]])
def test_lexrank_is_the_stationary_walk(sentences: list[str]) -> None:
    scores = lexrank_scores(sentences)
    assert scores.sum() == pytest.approx(1)
    assert scores == pytest.approx(dense_lexrank(sentences), abs=1e-8)


def test_lexrank_compares_a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import sparse

    whole, sizes, usual = lexrank_scores(SENTENCES), [], sparse.vstack

    def stacked(parts: list[sparse.csr_array], **options: str) -> sparse.csr_array:
        sizes.extend(part.shape for part in parts)
        return usual(parts, **options)

    monkeypatch.setattr(sparse, "vstack", stacked)
    monkeypatch.setattr("prevalence.summarize.rivals.BLOCK", 4)
    assert lexrank_scores(SENTENCES).tolist() == whole.tolist()
    assert sizes == [(4, 6), (2, 6)]


def test_lexrank_of_nothing_is_nothing() -> None:
    assert lexrank_scores([]).shape == (0,)


def test_centroid_takes_what_completes_the_sum() -> None:
    # Centroid (3, 2): (1, 0) alone has cosine .832, (0, 1) .555, the diagonal .981. With the
    # diagonal chosen, (1, 0) gives (1.707, .707), cosine .981, and (0, 1) only .9 or so.
    root = 0.5**0.5
    vectors = np.array([[1, 0], [0, 1], [root, root]], np.float32)
    order = list(centroid_order(vectors, np.array([2.0, 1.0, 2**0.5])))
    assert order == [2, 0, 1]


@pytest.mark.parametrize("seed", range(20))
def test_of_two_sentences_the_centroid_takes_the_first_whatever_rounding_says(seed: int) -> None:
    # cos(a, a + b) = cos(b, a + b); the vectors are of unit length but for float32.
    drawn_vectors = np.random.default_rng(seed).normal(size=(2, 384))
    vectors = (drawn_vectors / np.linalg.norm(drawn_vectors, axis=1)[:, None]).astype(np.float32)
    assert list(centroid_order(vectors, np.ones(2))) == [0, 1]


def test_a_sentence_without_a_direction_is_not_first() -> None:
    vectors = np.array([[0, 0], [0, 1], [1, 0]], np.float32)
    assert next(iter(centroid_order(vectors, np.array([1.0, 1.0, 3.0])))) == 2
