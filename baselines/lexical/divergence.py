"""Jensen-Shannon divergence, ROUGE-W and ROUGE-SU: what S3 reads beside ROUGE-N and ROUGE-L.

Source: Lin 2004, sections 4 and 5 (ROUGE-W, ROUGE-SU); Lin, Cao, Gao and Nie 2006 (divergence of
n-gram distributions); Louis and Nenkova 2013 (against the source, without a reference).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from prevalence.baselines.lexical.rouge import grams_of, rouge_metric, unit_overlap, words_of
from prevalence.baselines.rules import chosen_option, comparing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = [
    "Weighted",
    "jensen_shannon",
    "open_js",
    "open_rouge_su",
    "open_rouge_w",
    "skip_bigrams",
    "weighted_subsequence",
]

_POWER = 1.2
_SKIP = 4


class Weighted(NamedTuple):
    """Precision and recall of a measure whose counts are no whole numbers."""

    precision: float
    recall: float


def open_rouge_w(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open ROUGE-W with the weight k^1.2 of k words in a row, in [0, 1].

    Source: Lin 2004, section 4.
    """
    stem = "nostem" not in spec.options

    def overlap(summary: str, other: str) -> Weighted:
        return weighted_subsequence(words_of(summary, stem=stem), words_of(other, stem=stem))

    return rouge_metric(entry, spec, overlap, signature={"power": f"{_POWER}"})


def open_rouge_su(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open ROUGE-SU4: single words, and pairs with at most four words between, in [0, 1].

    Source: Lin 2004, section 5.
    """
    stem = "nostem" not in spec.options

    overlap = unit_overlap(lambda text: skip_bigrams(words_of(text, stem=stem)))
    return rouge_metric(entry, spec, overlap, signature={"skip": f"{_SKIP}"})


def open_js(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open the divergence of the summary's n-grams from those of other texts, in bits, in [0, 1].

    Raises:
        ConfigurationError: an option has a value that it does not know.

    Source: Lin, Cao, Gao and Nie 2006; Louis and Nenkova 2013 against the reviews.
    """
    order = int(chosen_option(entry, spec, "order", ("1", "2")))
    stem = "nostem" not in spec.options
    counts = grams_of(order, stem=stem, content="nostop" in spec.options)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [jensen_shannon(counts(pair.summary), counts(pair.text)) for pair in comparisons]

    signature = {"stem": "porter" if stem else "none"}
    return comparing(entry, spec, compute, signature=signature)


def skip_bigrams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Words, and ordered pairs of them with at most four words between.

    >>> sorted(skip_bigrams(["a", "b", "c"]))
    [('a',), ('a', 'b'), ('a', 'c'), ('b',), ('b', 'c'), ('c',)]
    """
    found: Counter[tuple[str, ...]] = Counter((token,) for token in tokens)
    for place, token in enumerate(tokens):
        found.update((token, later) for later in tokens[place + 1 : place + 2 + _SKIP])
    return found


def weighted_subsequence(summary: Sequence[str], other: Sequence[str]) -> Weighted:
    """Precision and recall of the weighted longest common subsequence; 0 for no word.

    A run of k words in a row counts k^1.2, so that of subsequences of one length the one with
    fewer gaps counts most.

    Source: Lin 2004, equations 9 to 15, and the algorithm before them.
    """
    if not summary or not other:
        return Weighted(0.0, 0.0)
    best, runs = [0.0] * (len(other) + 1), [0] * (len(other) + 1)
    for mine in summary:
        above, runs_above = best, runs
        best, runs = [0.0], [0]
        for place, word in enumerate(other):
            if mine == word:
                run = runs_above[place]
                best.append(above[place] + (run + 1) ** _POWER - run**_POWER)
                runs.append(run + 1)
            else:
                best.append(max(above[place + 1], best[place]))
                runs.append(0)
    shares = ((best[-1] / len(text) ** _POWER) ** (1 / _POWER) for text in (summary, other))
    return Weighted(*(min(share, 1.0) for share in shares))


def jensen_shannon(
    left: Mapping[tuple[str, ...], int], right: Mapping[tuple[str, ...], int]
) -> float:
    """Jensen-Shannon divergence of two distributions, in bits.

    Args:
        left: counts.
        right: likewise.

    Returns:
        A value in [0, 1]; 0 for equal distributions, 1 for distributions that share nothing, and
        where there is nothing to count.

    >>> jensen_shannon({("a",): 2}, {("a",): 1, ("b",): 1})
    0.31127812445913283
    """
    totals = sum(left.values()), sum(right.values())
    if not all(totals):
        return 1.0
    terms = []
    for unit in left.keys() | right.keys():
        p, q = left.get(unit, 0) / totals[0], right.get(unit, 0) / totals[1]
        mean = (p + q) / 2
        terms += [share * math.log2(share / mean) for share in (p, q) if share > 0]
    return min(max(math.fsum(terms) / 2, 0.0), 1.0)
