"""The features of S3: one summary beside its references, in numbers.

Overlaps have precision, recall and F1 (``-p``, ``-r``, ``-f``), their counts summed over the
references (Lin 2004, section 2.1); ROUGE-W, which has no counts, and the cosine are averaged.
Divergences compare with the n-grams of all references together.

Source: Peyrard, Botschen and Gurevych 2017, section 3; Lin 2004; Ng and Abrecht 2015 (ROUGE-WE).
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.lexical.divergence import (
    jensen_shannon,
    skip_bigrams,
    weighted_subsequence,
)
from prevalence.baselines.lexical.rouge import (
    Overlap,
    f1,
    grams_of,
    longest_overlap,
    unit_overlap,
    words_of,
)
from prevalence.errors import InputError
from prevalence.files import expanded_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from prevalence.baselines.lexical.rouge import Shares

    Gram = tuple[str, ...]

__all__ = ["FEATURES", "VECTOR_FEATURES", "WordVectors", "s3_features"]

_CLOSE = 0.8
"""Least cosine of n-grams that match in ROUGE-WE, as in the published program."""


class WordVectors:
    """Word vectors of a text file: a word and its numbers a line.

    Args:
        path: the file, in UTF-8; its first line may state how many rows and numbers there are.

    Attributes:
        signature: its name with a digest.

    Raises:
        InputError: it is not there, or a line of it is no vector.
    """

    def __init__(self, path: str | Path) -> None:
        file = expanded_path(path)
        digest = hashlib.blake2b(digest_size=6)
        try:
            with file.open("rb") as lines:
                self._rows, self._table = _read_vectors(lines, digest.update, str(path))
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}); vectors=FILE takes word vectors as "
                "text, one word and its numbers per line"
            ) from error
        self.signature = f"{file.name}@{digest.hexdigest()}"

    def gram(self, gram: Gram) -> NDArray[np.float64] | None:
        """The product of the vectors of an n-gram's words; None where a word has none."""
        rows = [self._rows[word] for word in gram if word in self._rows]
        if len(rows) < len(gram):
            return None
        product: NDArray[np.float64] = self._table[rows].prod(axis=0, dtype=np.float64)
        return product

    def mean(self, words: Sequence[str]) -> NDArray[np.float64] | None:
        """The mean of the vectors of those words that have one; None where none has."""
        rows = [self._rows[word] for word in words if word in self._rows]
        return self._table[rows].mean(axis=0, dtype=np.float64) if rows else None


def s3_features(
    summary: str,
    references: Sequence[str],
    *,
    names: Sequence[str],
    vectors: WordVectors | None = None,
) -> NDArray[np.float64]:
    """Features of a summary.

    Args:
        summary: a text with a word.
        references: at least one text with a word.
        names: of :data:`FEATURES`.
        vectors: word vectors, which those of :data:`VECTOR_FEATURES` need.

    Returns:
        float64 [F], in the order of the names.

    Raises:
        InputError: a feature needs word vectors, and none are given.
    """
    lacking = [name for name in names if name in VECTOR_FEATURES and vectors is None]
    if lacking:
        raise InputError(f"{lacking[0]} needs word vectors: name their file with vectors=FILE")
    measured: dict[str, Shares] = {}
    values = []
    for name in names:
        base, _, part = name.rpartition("-")
        if base in _OVERLAPS:
            if base not in measured:
                measured[base] = _OVERLAPS[base](summary, references, vectors)
            values.append(_PARTS[part](measured[base]))
        else:
            values.append(_WHOLES[name](summary, references, vectors))
    return np.array(values, np.float64)


def _read_vectors(
    lines: Iterable[bytes], seen: Callable[[bytes], None], path: str
) -> tuple[dict[str, int], NDArray[np.float32]]:
    """Row numbers by word, and the rows, [W, H]; ``seen`` is shown every line.

    Lines end with a line feed alone: a word may hold other marks that end lines, and spaces.
    """
    rows: dict[str, int] = {}
    numbers = array("f")
    width = 0
    for number, line in enumerate(lines, 1):
        seen(line)
        text = line.decode("utf-8", "replace").rstrip()
        if number == 1:
            first = text.split(" ")
            sizes = len(first) == 2 and all(part.isdecimal() for part in first)
            width = int(first[1]) if sizes else len(first) - 1
            if sizes:
                continue
        word, *parts = text.rsplit(" ", width)
        row = _numbers(parts)
        if not row or len(row) != width or not all(map(math.isfinite, row)):
            raise InputError(f"{path}:{number}: no word with {width or 'its'} numbers")
        if word not in rows:
            rows[word] = len(rows)
            numbers.extend(row)
    if not rows:
        raise InputError(f"{path}: holds no word vector")
    return rows, np.frombuffer(numbers, np.float32).reshape(len(rows), width)


def _numbers(parts: Sequence[str]) -> array[float]:
    """The numbers in single precision; none where one cannot be read."""
    try:
        return array("f", map(float, parts))
    except ValueError:
        return array("f")


def _pooled(overlap: Callable[[str, str], Overlap]) -> Measure:
    def measure(summary: str, references: Sequence[str], _: WordVectors | None) -> Overlap:
        found = [overlap(summary, reference) for reference in references]
        return Overlap(*map(sum, zip(*found, strict=True)))

    return measure


def _weighted(summary: str, references: Sequence[str], _: WordVectors | None) -> Shares:
    found = [weighted_subsequence(words_of(summary), words_of(text)) for text in references]
    return type(found[0])(*np.mean(found, axis=0).tolist())


def _by_vectors(order: int) -> Measure:
    def measure(summary: str, references: Sequence[str], vectors: WordVectors | None) -> Overlap:
        mine, *others = map(grams_of(order, stem=False), (summary, *references))
        shared = sum(_soft_matches(mine, other, vectors) for other in others if vectors)
        return Overlap(shared, mine.total() * len(others), sum(o.total() for o in others))

    return measure


def _soft_matches(mine: Counter[Gram], others: Counter[Gram], vectors: WordVectors | None) -> int:
    """N-grams of the summary matched with their most similar ones left, in order of appearance."""
    left = dict(others)
    shared = 0
    for gram, count in mine.items():
        best = _most_similar(gram, left, vectors)
        if best is not None:
            matched = min(count, left[best])
            shared += matched
            left[best] -= matched
            if not left[best]:
                del left[best]
    return shared


def _most_similar(gram: Gram, left: Mapping[Gram, int], vectors: WordVectors | None) -> Gram | None:
    """The n-gram of the greatest cosine, if that is close; the same one where it has no vector."""
    own = None if vectors is None else vectors.gram(gram)
    if own is None or vectors is None:
        return gram if gram in left else None
    known = ((other, vectors.gram(other)) for other in left)
    found = [(_cosine(own, row), other) for other, row in known if row is not None]
    best = max(found, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] >= _CLOSE else None


def _divergence(order: int, *, content: bool = False) -> Whole:
    counts = grams_of(order, content=content)

    def measure(summary: str, references: Sequence[str], _: WordVectors | None) -> float:
        return jensen_shannon(counts(summary), sum(map(counts, references), Counter()))

    return measure


def _mean_cosine(summary: str, references: Sequence[str], vectors: WordVectors | None) -> float:
    if vectors is None:
        return 0.0
    mine, *others = [vectors.mean(words_of(text, stem=False)) for text in (summary, *references)]
    pairs = [(mine, other) for other in others]
    return float(np.mean([0.0 if a is None or b is None else _cosine(a, b) for a, b in pairs]))


def _cosine(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    length = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / length if length > 0 else 0.0


if TYPE_CHECKING:
    Measure = Callable[[str, Sequence[str], WordVectors | None], Shares]
    Whole = Callable[[str, Sequence[str], WordVectors | None], float]

_PARTS: dict[str, Callable[[Shares], float]] = {
    "p": lambda shares: shares.precision,
    "r": lambda shares: shares.recall,
    "f": f1,
}
_OVERLAPS: dict[str, Measure] = {
    "rouge-1": _pooled(unit_overlap(grams_of(1))),
    "rouge-2": _pooled(unit_overlap(grams_of(2))),
    "rouge-1-content": _pooled(unit_overlap(grams_of(1, content=True))),
    "rouge-2-content": _pooled(unit_overlap(grams_of(2, content=True))),
    "rouge-l": _pooled(longest_overlap),
    "rouge-w": _weighted,
    "rouge-su4": _pooled(unit_overlap(lambda text: skip_bigrams(words_of(text)))),
    "rouge-we-1": _by_vectors(1),
    "rouge-we-2": _by_vectors(2),
}
_WHOLES: dict[str, Whole] = {
    "js-1": _divergence(1),
    "js-2": _divergence(2),
    "js-1-content": _divergence(1, content=True),
    "js-2-content": _divergence(2, content=True),
    "embedding-cosine": _mean_cosine,
}

FEATURES = (*(f"{base}-{part}" for base in _OVERLAPS for part in _PARTS), *_WHOLES)
"""Names of the features; content: without stop words; we: by word vectors."""
VECTOR_FEATURES = frozenset(name for name in FEATURES if name.startswith(("rouge-we", "embedding")))
"""Those that need word vectors."""
