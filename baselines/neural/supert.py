"""SUPERT: a summary beside salient sentences of its sources, by soft alignment of tokens.

Every review is a source document. Some of its sentences are its pseudo-reference: the first ones,
the most central ones, or the centres of clusters. Tokens of content words, with the vectors that
an encoder gives them in their sentence, are aligned with their most similar ones; the value is the
F-measure, averaged over the reviews. With ``source=joined`` all reviews are one document, as in
the published global variants.

Source: Gao, Zhao and Eger 2020, sections 3 and 4.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.neural.vectors import content_of, layer_option, open_encoder, unit
from prevalence.baselines.rules import chosen_option, comparing, number_option
from prevalence.errors import ConfigurationError, MissingDependencyError
from prevalence.scorers.units import sentences_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.neural.vectors import TextVectors
    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

    Table = NDArray[np.float32]
    Pick = Callable[[NDArray[np.float64], int], NDArray[np.int64]]

__all__ = ["aligned", "open_supert"]

_SENTENCES = 15
_DAMPING = 0.85


def open_supert(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open SUPERT: the F-measure of aligned tokens, a cosine of up to 1.

    The pseudo-reference is picked from each review, as ``pick=`` and ``n=`` say.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option has a value that it does not know.
        MissingDependencyError: ``pick=cluster`` without scikit-learn.

    Source: Gao, Zhao and Eger 2020.
    """
    way, count = _selection(entry, spec)
    layer = layer_option(entry, spec, -1)
    encoder = open_encoder(spec.options.get("model", entry.models[0]), (layer,), runtime)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        texts = dict.fromkeys(t for pair in comparisons for t in (pair.summary, pair.text))
        cut = {text: sentences_of(text) for text in texts}
        known = encoder(sentence for sentences in cut.values() for sentence in sentences)

        def chosen(text: str) -> list[str]:
            rows = [known[sentence] for sentence in cut[text]]
            return [cut[text][place] for place in _places(rows, way, count)]

        kept = {text: chosen(text) for text in dict.fromkeys(pair.text for pair in comparisons)}
        points = {sentence: _points(sentence, row) for sentence, row in known.items()}
        return [
            aligned(_joined(cut[pair.summary], points), _joined(kept[pair.text], points))
            for pair in comparisons
        ]

    picked = way if way == "cluster" else f"{way}-{count}"
    signature = {**encoder.signature, "pick": picked}
    return comparing(
        entry, spec, compute, signature=signature, source="each", cuts=lambda: encoder.truncated
    )


def aligned(summary: Table, reference: Table) -> float:
    """F-measure of the soft alignment of two texts.

    Args:
        summary: float32 [S, H], unit vectors of its tokens.
        reference: float32 [R, H], likewise.

    Returns:
        The harmonic mean of precision and recall, the mean greatest cosines of the tokens of
        either; 0 where their sum is not positive, NaN where a text has no token.
    """
    if not len(summary) or not len(reference):
        return math.nan
    cosines = summary.astype(np.float64) @ reference.astype(np.float64).T
    precision, recall = float(cosines.max(1).mean()), float(cosines.max(0).mean())
    total = precision + recall
    if total <= 0:
        return 0.0
    # Rounding brings equal texts above 1, and means of unlike sign may leave the range altogether.
    return float(np.clip(2 * precision * recall / total, -1.0, 1.0))


def _selection(entry: Entry, spec: Spec) -> tuple[str, int]:
    """How sentences are picked, and how many."""
    way = chosen_option(entry, spec, "pick", ("top", "graph", "cluster"))
    if way == "cluster" and "n" in spec.options:
        raise ConfigurationError(f"{entry.name}: n= does not apply: clusters are as many as found")
    count = number_option(entry, spec, "n", "a number of sentences") or _SENTENCES
    if way == "cluster" and find_spec("sklearn") is None:
        raise MissingDependencyError(
            f"{entry.name}: pick=cluster needs scikit-learn: pip install 'prevalence[clustering]'"
        )
    return way, count


def _places(rows: Sequence[TextVectors], way: str, count: int) -> list[int]:
    """Places of the sentences of a document that are its pseudo-reference, in source order."""
    if way == "top" or len(rows) <= (2 if way == "cluster" else count):
        return [*range(min(len(rows), count))]
    vectors = unit(np.stack([row.layers[-1].mean(0, dtype=np.float64) for row in rows]))
    cosines = vectors @ vectors.T
    return _centres(cosines) if way == "cluster" else _central(cosines, count)


def _central(cosines: NDArray[np.float64], count: int) -> list[int]:
    """The most central sentences of the graph whose links weigh as much as their cosines.

    Source: Erkan and Radev 2004, continuous LexRank; solved exactly, ties in source order.
    """
    links = np.clip(cosines, 0.0, None)
    np.fill_diagonal(links, 0.0)
    totals = links.sum(1, keepdims=True)
    size = len(links)
    steps = np.divide(links, totals, out=np.full_like(links, 1 / size), where=totals > 0)
    ranks = np.linalg.solve(np.eye(size) - _DAMPING * steps.T, np.full(size, 1 / size))
    # Rounded, so that what differs in the last bits alone stays in source order.
    order = np.argsort(-ranks.round(12), kind="stable")
    return sorted(order[:count].tolist())


def _centres(cosines: NDArray[np.float64]) -> list[int]:
    """Exemplars by affinity propagation; all sentences where it does not settle on any."""
    import warnings

    from sklearn.cluster import AffinityPropagation
    from sklearn.exceptions import ConvergenceWarning

    search = AffinityPropagation(affinity="precomputed", max_iter=1000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # All sentences equally far from each other, of which it warns, are one cluster.
        warnings.filterwarnings("ignore", message="All samples have mutually equal")
        found = search.fit(cosines).cluster_centers_indices_
    return sorted(found.tolist()) if len(found) else [*range(len(cosines))]


def _points(sentence: str, row: TextVectors) -> Table:
    """Unit vectors of the tokens of content words."""
    points: Table = unit(row.layers[-1][content_of(sentence, row.tokens)])
    return points


def _joined(sentences: Sequence[str], points: dict[str, Table]) -> Table:
    tables = [points[sentence] for sentence in sentences]
    return np.concatenate(tables) if tables else np.zeros((0, 1), np.float32)
