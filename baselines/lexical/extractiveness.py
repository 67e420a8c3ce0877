"""Length, and how much of a summary is copied: what to hold other metrics against.

Source: Grusky, Naaman and Artzi 2018 (extractive fragments: coverage, density and compression);
SummEval (Fabbri et al. 2021) reports them, and novel n-grams, beside metrics.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from prevalence.baselines.lexical.rouge import words_of
from prevalence.baselines.rules import SummaryMetric, chosen_option, comparing
from prevalence.scorers.rouge import ngrams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

    Measure = Callable[[Sequence[str], Sequence[str]], float]

__all__ = ["fragments", "open_extractiveness", "open_length", "open_novelty"]

_SIGNATURE = {"words": "rouge-score"}


def open_length(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open the number of words of a summary."""

    def compute(summaries: Sequence[str]) -> list[int]:
        return [len(words_of(summary, stem=False)) for summary in summaries]

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

    def novelty(summary: Sequence[str], text: Sequence[str]) -> float:
        mine, known = ngrams(summary, order), ngrams(text, order)
        new = sum(count for gram, count in mine.items() if gram not in known)
        return new / mine.total() if mine else math.nan

    return _comparing(entry, spec, novelty)


def _comparing(entry: Entry, spec: Spec, measure: Measure) -> Metric:
    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [
            measure(words_of(one.summary, stem=False), words_of(one.text, stem=False))
            for one in comparisons
        ]

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


def _coverage(summary: Sequence[str], text: Sequence[str]) -> float:
    return sum(fragments(summary, text)) / len(summary) if summary else math.nan


def _density(summary: Sequence[str], text: Sequence[str]) -> float:
    squares = sum(length**2 for length in fragments(summary, text))
    return squares / len(summary) if summary else math.nan


def _compression(summary: Sequence[str], text: Sequence[str]) -> float:
    return len(text) / len(summary) if summary else math.nan


_MEASURES: dict[str, Measure] = {
    "coverage": _coverage,
    "density": _density,
    "compression": _compression,
}
