"""Length, and how much of a summary is copied: what to hold other metrics against.

Source: Grusky, Naaman and Artzi 2018 (extractive fragments: coverage, density and compression);
SummEval (Fabbri et al. 2021) reports them, and novel n-grams, beside metrics.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from prevalence.baselines.lexical.rouge import grams_of, words_of
from prevalence.baselines.rules import REMEMBERED_TEXTS, SummaryMetric, chosen_option, comparing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

    Measure = Callable[[str, str], float]

__all__ = ["fragments", "open_extractiveness", "open_length", "open_novelty"]

_SIGNATURE = {"words": "rouge-score"}


def open_length(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open the number of words of a summary."""

    def compute(summaries: Sequence[str]) -> list[int]:
        return [len(_words(summary)) for summary in summaries]

    return SummaryMetric(name=spec.canonical(), entry=entry, compute=compute, signature=_SIGNATURE)


def open_extractiveness(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open coverage, density or compression, by the entry's name; NaN for no word.

    Source: Grusky, Naaman and Artzi 2018, section 4.
    """
    return _comparing(entry, spec, _MEASURES[entry.name])


def open_novelty(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open the share of a summary's n-grams that the other text lacks, in [0, 1]; NaN for none.

    Raises:
        ConfigurationError: an option has a value that it does not know.
    """
    order = int(chosen_option(entry, spec, "order", ("1", "2", "3", "4"), "2"))

    grams = lru_cache(maxsize=REMEMBERED_TEXTS)(grams_of(order, stem=False))

    def novelty(summary: str, text: str) -> float:
        mine, known = grams(summary), grams(text)
        new = sum(count for gram, count in mine.items() if gram not in known)
        return new / mine.total() if mine else math.nan

    return _comparing(entry, spec, novelty)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _words(text: str) -> tuple[str, ...]:
    """The words of a text; the reviews of a product come again with each of its summaries."""
    return words_of(text, stem=False)


def _comparing(entry: Entry, spec: Spec, measure: Measure) -> Metric:
    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [measure(one.summary, one.text) for one in comparisons]

    return comparing(entry, spec, compute, signature=_SIGNATURE, refs="mean")


def fragments(summary: Sequence[str], text: Sequence[str]) -> list[int]:
    """Lengths of the runs of words that a summary shares with a text, in the summary's order.

    From each word of the summary on that no run has taken, the longest run is taken of those that
    one pass over the text finds; it goes on after each run that it has found, so runs do not
    overlap in one pass.

    Args:
        summary: its words.
        text: those of the text.

    Returns:
        Lengths of at least 1; their sum is at most the number of words of the summary.

    Source: Grusky, Naaman and Artzi 2018, figure 3.

    >>> fragments("the boots are warm and dry".split(), "warm and dry boots are the best".split())
    [1, 2, 3]
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(text):
        places[word].append(place)
    found, start = [], 0
    while start < len(summary):
        longest, end = 0, 0
        for place in places.get(summary[start], ()):
            if place >= end:
                run = _run(summary, text, start, place)
                longest, end = max(longest, run), place + run
        if longest:
            found.append(longest)
        start += max(longest, 1)
    return found


def _run(summary: Sequence[str], text: Sequence[str], start: int, place: int) -> int:
    """How many words are equal from here on."""
    most = min(len(summary) - start, len(text) - place)
    return next((k for k in range(most) if summary[start + k] != text[place + k]), most)


def _coverage(summary: str, text: str) -> float:
    return _per_word(sum(fragments(_words(summary), _words(text))), summary)


def _density(summary: str, text: str) -> float:
    return _per_word(sum(n**2 for n in fragments(_words(summary), _words(text))), summary)


def _compression(summary: str, text: str) -> float:
    return _per_word(len(_words(text)), summary)


def _per_word(total: int, summary: str) -> float:
    words = len(_words(summary))
    return total / words if words else math.nan


_MEASURES: dict[str, Measure] = {
    "coverage": _coverage,
    "density": _density,
    "compression": _compression,
}
