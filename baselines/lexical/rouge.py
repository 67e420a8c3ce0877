"""ROUGE-N and ROUGE-L as rouge-score computes them; py-rouge's way is in a module of its own.

Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"; rouge-score 0.1.2 with
``use_stemmer=True``, where ROUGE-L takes the whole text as one sequence.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from prevalence.baselines.rules import REMEMBERED_TEXTS, comparing
from prevalence.baselines.stopwords import is_content
from prevalence.errors import ConfigurationError
from prevalence.scorers.rouge import common_subsequence, ngrams, words

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

    Units = Callable[[str], Counter[tuple[str, ...]]]

__all__ = [
    "Overlap",
    "Shares",
    "f1",
    "grams_of",
    "longest_overlap",
    "open_rouge",
    "rouge_metric",
    "rouge_unit",
    "unit_overlap",
    "words_of",
]


class Shares(Protocol):
    """How much of the summary another text has, and how much of that the summary."""

    @property
    def precision(self) -> float:
        """Share of the summary."""
        ...

    @property
    def recall(self) -> float:
        """Share of the other text."""
        ...


class Overlap(NamedTuple):
    """What two texts share, and how much each has.

    Attributes:
        shared: units in common, clipped.
        summary: units of the summary.
        other: units of the text it is compared with.
    """

    shared: int
    summary: int
    other: int

    @property
    def precision(self) -> float:
        """Share of the summary's units that the other text has; 0 for no unit."""
        return self.shared / self.summary if self.summary > 0 else 0.0

    @property
    def recall(self) -> float:
        """Share of the other text's units that the summary has; 0 for no unit."""
        return self.shared / self.other if self.other > 0 else 0.0


def open_rouge(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open F1, precision or recall of ROUGE as rouge-score 0.1.2 computes it, in [0, 1]."""
    unit, stem = rouge_unit(entry), "nostem" not in spec.options
    overlap: Callable[[str, str], Overlap] = partial(longest_overlap, stem=stem)
    if unit != "l":
        remembered = lru_cache(maxsize=REMEMBERED_TEXTS)
        overlap = unit_overlap(remembered(grams_of(int(unit), stem=stem)))
    return rouge_metric(entry, spec, overlap, signature={"impl": "rouge-score-0.1.2"})


def rouge_unit(entry: Entry) -> str:
    """What is counted: "1" or "2" for n-grams, "l" for the longest common subsequence."""
    return entry.base.removeprefix("rouge-")


def rouge_metric(
    entry: Entry,
    spec: Spec,
    overlap: Callable[[str, str], Shares],
    *,
    signature: Mapping[str, str],
) -> Metric:
    """A metric from overlaps of the summary with another text, and the options of all variants.

    Raises:
        ConfigurationError: options exclude each other.
    """
    measure = _measure(entry, spec)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [measure(overlap(item.summary, item.text)) for item in comparisons]

    stem = "none" if "nostem" in spec.options else "porter"
    return comparing(entry, spec, compute, signature={**signature, "stem": stem})


def f1(overlap: Shares) -> float:
    """Harmonic mean of precision and recall; 0 where both are."""
    precision, recall = overlap.precision, overlap.recall
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def _measure(entry: Entry, spec: Spec) -> Callable[[Shares], float]:
    chosen = {"precision", "recall"} & set(spec.options)
    if len(chosen) > 1:
        raise ConfigurationError(f"{entry.name}: precision and recall exclude each other")
    if "precision" in chosen:
        return lambda overlap: overlap.precision
    return (lambda overlap: overlap.recall) if chosen else f1


@lru_cache(maxsize=REMEMBERED_TEXTS)
def words_of(text: str, *, stem: bool = True, content: bool = False) -> tuple[str, ...]:
    """Lower-case words of a text as rouge-score finds them.

    Args:
        text: any text.
        stem: bring words to their Porter stems.
        content: leave out stop words, before they are stemmed.
    """
    plain = words(text, stem=False)
    if content:
        plain = [word for word in plain if is_content(word)]
    return tuple(words(" ".join(plain), stem=True) if stem else plain)


def grams_of(order: int, *, stem: bool = True, content: bool = False) -> Units:
    """What counts a text's n-grams of :func:`words_of`."""
    return lambda text: ngrams(words_of(text, stem=stem, content=content), order)


def unit_overlap(units: Units) -> Callable[[str, str], Overlap]:
    """Overlaps of two texts' units."""

    def overlap(summary: str, other: str) -> Overlap:
        mine, others = units(summary), units(other)
        return Overlap((mine & others).total(), mine.total(), others.total())

    return overlap


def longest_overlap(summary: str, other: str, *, stem: bool = True) -> Overlap:
    """The longest common subsequence of two texts' words."""
    mine, others = words_of(summary, stem=stem), words_of(other, stem=stem)
    return Overlap(common_subsequence(mine, others), len(mine), len(others))
