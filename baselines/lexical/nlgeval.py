"""BLEU as nlg-eval computes it (its scorer is coco-caption's), which OpinSummEval's figures use.

Words are runs of non-space, case and punctuation as they are. Counts of matches and of n-grams
get 1e-15 and 1e-9 added, so that no precision is 0; a summary without words has 0 by its brevity.
Precisions of orders 1 to N are averaged geometrically, and a summary shorter than the reference
of closest length (ties: the shorter) is penalised.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from prevalence.baselines.lexical.sacre import bleu_order
from prevalence.baselines.rules import JOINT, comparing
from prevalence.scorers.rouge import ngrams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["nlg_eval_bleu", "open_nlg_eval_bleu"]

_TINY = 1e-15
_SMALL = 1e-9


def open_nlg_eval_bleu(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open nlg-eval's BLEU of the entry's order, in [0, 1]; see :func:`nlg_eval_bleu`."""
    order = bleu_order(entry)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [nlg_eval_bleu(item.summary, item.texts, order) for item in comparisons]

    signature = {"impl": "nlg-eval", "tok": "space", "case": "mixed"}
    return comparing(entry, spec, compute, signature=signature, refs=JOINT, joint=True)


def nlg_eval_bleu(summary: str, references: Sequence[str], order: int) -> float:
    """BLEU of one summary.

    Args:
        summary: the text under judgment.
        references: at least one.
        order: longest n-gram.

    Returns:
        A value in [0, 1], give or take the smoothing constants.

    >>> round(nlg_eval_bleu("the boots are warm", ["the boots are very warm"], 1), 4)
    0.7788
    """
    mine, others = summary.split(), [text.split() for text in references]
    product = 1.0
    for n in range(1, order + 1):
        allowed: Counter[tuple[str, ...]] = Counter()
        for other in others:
            allowed |= ngrams(other, n)
        matches = (ngrams(mine, n) & allowed).total()
        product *= (matches + _TINY) / (max(0, len(mine) - n + 1) + _SMALL)
    closest = min((abs(len(other) - len(mine)), len(other)) for other in others)[1]
    ratio = (len(mine) + _TINY) / (closest + _SMALL)
    brevity = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    return float(product ** (1 / order) * brevity)
