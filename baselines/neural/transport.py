"""Metrics of optimal transport: what it costs to move the words of one text to those of another.

Transport is exact, by the network simplex of POT. What is moved differs: whole sentences (SMS),
words (MoverScore), or words whose layers were first put together as a Wasserstein barycentre
(BaryScore).
"""

from __future__ import annotations

import math
import string
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.neural.frequencies import Weights, learnt_by_side
from prevalence.baselines.neural.vectors import (
    TextVectors,
    content_of,
    layer_option,
    open_encoder,
    open_words,
    unit,
)
from prevalence.baselines.rules import comparing
from prevalence.errors import ModelError
from prevalence.scorers.units import sentences_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["open_baryscore", "open_moverscore", "open_sms"]

_BARY_LAYERS = 5


def open_sms(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open sentence mover's similarity.

    Sentences are moved, each the mean of its token vectors, weighted by its number of tokens; the
    similarity is exp(-cost) with Euclidean distances. With ``nostop`` stop words and punctuation
    are left out first, as the authors' program does.

    Source: Clark, Celikyilmaz and Smith 2019, section 3.
    """
    encoder = open_words(entry, spec, runtime)
    kept = content_of if "nostop" in spec.options else None

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        texts = dict.fromkeys(t for pair in comparisons for t in (pair.summary, pair.text))
        cut = {text: sentences_of(text) for text in texts}
        every = (sentence for sentences in cut.values() for sentence in sentences)
        known = encoder.words(every, kept=kept)
        bags = {text: [known[s] for s in sentences] for text, sentences in cut.items()}
        return [
            math.exp(-_cost(_sentences(bags[pair.summary]), _sentences(bags[pair.text])))
            for pair in comparisons
        ]

    return comparing(
        entry, spec, compute, signature=encoder.signature, cuts=lambda: encoder.truncated
    )


def open_moverscore(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open MoverScore on unigrams.

    Unit vectors of words are moved, and the score is 1 - cost with Euclidean distances. A word is
    its first token; punctuation weighs nothing. Special tokens weigh as much as a word, and
    nothing with idf, as in the authors' code. Each side has its own idf.

    Source: Zhao et al. 2019; the authors' moverscore_v2 with n_gram=1, but for its score,
    1/(1 + cost): that here is their first program's.
    """
    model = spec.options.get("model", entry.models[0])
    encoder = open_encoder(model, (layer_option(entry, spec, -1),), runtime)
    idf = "idf" in spec.options
    own, other = (Weights(encoder.runner, learns=idf) for _ in range(2))

    def points(
        text: str, row: TextVectors, weights: Weights
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mass = weights.of(row.tokens) if idf else np.ones(row.tokens.ids.size)
        mass = np.where(_leads(text, row), mass, 0.0)
        return mass, unit(row.layers[0].astype(np.float64))

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        known = encoder(text for pair in comparisons for text in (pair.summary, pair.text))
        return [
            1.0 - _cost(points(pair.text, wanted, other), points(pair.summary, row, own))
            if row.tokens.plain.any() and wanted.tokens.plain.any()
            else math.nan
            for pair in comparisons
            for row, wanted in ((known[pair.summary], known[pair.text]),)
        ]

    metric = comparing(
        entry, spec, compute, signature=encoder.signature, cuts=lambda: encoder.truncated
    )
    return learnt_by_side(metric, own, other) if idf else metric


def open_baryscore(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open BaryScore with the Wasserstein distance.

    The last five layers of a text, each a set of unit vectors of equal weight, become one
    barycentre with as many points as tokens; the value is the cost of moving one text's to the
    other's, with squared distances. The barycentre's search starts from the mean of the layers.

    Source: Colombo et al. 2021, section 3.
    """
    model = spec.options.get("model", entry.models[0])
    encoder = open_encoder(model, tuple(range(-_BARY_LAYERS, 0)), runtime)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        known = encoder(text for pair in comparisons for text in (pair.summary, pair.text))
        centres = {text: _barycentre(row) for text, row in known.items()}
        return [_squared(centres[pair.summary], centres[pair.text]) for pair in comparisons]

    return comparing(
        entry, spec, compute, signature=encoder.signature, cuts=lambda: encoder.truncated
    )


def _sentences(
    bags: list[NDArray[np.float32]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights and points of the sentences that hold a token."""
    kept = [bag for bag in bags if len(bag)]
    if not kept:
        return np.zeros(0), np.zeros((0, 1))
    points = np.stack([bag.mean(0, dtype=np.float64) for bag in kept])
    return np.array([len(bag) for bag in kept], np.float64), points


def _leads(text: str, row: TextVectors) -> NDArray[np.bool_]:
    """Tokens that count: special ones, and first tokens of words but no punctuation."""
    pieces = [text[a:b].strip() for a, b in row.tokens.span.tolist()]
    # SentencePiece may begin a word with a token that is a space alone.
    shown = np.flatnonzero([piece != "" for piece in pieces])
    first = shown[np.diff(row.tokens.word[shown], prepend=-2) != 0].tolist()
    counting = ~row.tokens.plain
    counting[[place for place in first if pieces[place] not in string.punctuation]] = True
    return counting


def _barycentre(row: TextVectors) -> NDArray[np.float64]:
    """Points of the barycentre of the layers, [T, H]; none for a text without tokens."""
    import ot

    if not row.tokens.plain.any():
        return np.zeros((0, 1))
    layers = [unit(layer[row.tokens.plain].astype(np.float64)) for layer in row.layers]
    weights = [_even(len(layer)) for layer in layers]
    points: NDArray[np.float64] = ot.lp.free_support_barycenter(
        layers, weights, np.mean(layers, axis=0), numItermax=1000
    )
    return points


def _squared(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    if not len(left) or not len(right):
        return math.nan
    return _transport(_even(len(left)), _even(len(right)), _distances(left, right) ** 2)


def _cost(
    left: tuple[NDArray[np.float64], NDArray[np.float64]],
    right: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """Least cost of moving one set of weighted points to another; NaN where one has no weight."""
    (mass, points), (other_mass, others) = left, right
    kept, other_kept = mass > 0, other_mass > 0
    if not kept.any() or not other_kept.any():
        return math.nan
    have, want = mass[kept] / mass.sum(), other_mass[other_kept] / other_mass.sum()
    return _transport(have, want, _distances(points[kept], others[other_kept]))


def _transport(
    have: NDArray[np.float64], want: NDArray[np.float64], costs: NDArray[np.float64]
) -> float:
    import ot

    if not np.isfinite(costs).all():
        # POT would answer 0, which is a perfect score.
        raise ModelError("a distance of two vectors is not finite; try another layer or model")
    cost: Any = ot.emd2(have, want, costs)
    return float(cost)


def _distances(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.spatial.distance import cdist

    distances: NDArray[np.float64] = cdist(left, right)
    return distances


def _even(count: int) -> NDArray[np.float64]:
    return np.full(count, 1.0 / count)
