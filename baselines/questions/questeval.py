"""QuestEval: questions about the summary answered from the reviews, and the other way round.

Questions are written for the names and noun phrases of a text. Precision is the mean score of the
summary's questions, answered from the source; recall that of the source's questions, answered
from the summary, weighted by how much a question matters where a model of that is given; QuestEval
is their harmonic mean. An answer's score is the mean of the F1 of its words, the probability that
there is one, and BERTScore. A text without questions scores 0.

Source: Scialom et al. 2021, section 3: precision is equation 1, recall 2; its released code for the
mean of three scores in both, and for references as further sources of which the best counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.protocol import REFERENCE, REVIEWS, Example
from prevalence.baselines.questions.asking import Asking, Parts, mean
from prevalence.baselines.questions.models import Weigher, open_part
from prevalence.baselines.questions.spans import CHUNKS, NAMES
from prevalence.baselines.rules import CombinedMetric
from prevalence.errors import ConfigurationError
from prevalence.scorers.qafe import Question, answer_f1

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.baselines.questions.models import Answer
    from prevalence.scorers.grammar import Spec

__all__ = ["open_questeval"]

_SIMILARITY = "bert-base-multilingual-cased"
_TEMPLATE = "{answer} </s> {context}"
_BEAMS = 1
_F1, _ANSWERABILITY, _BERTSCORE = _SCORES = ("f1", "answerability", "bertscore")
_PAPER = "paper"
_BOTH = "both"
_COMBINED = ("f1", "mean")

Scored = tuple[Question, "Answer"]


def open_questeval(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open QuestEval, its precision or its recall, in [0, 1].

    Raises:
        ConfigurationError: an option has a value that it does not know.
        ModelError: the checkpoint is unusable.

    Source: Scialom et al. 2021.
    """
    parts = Parts(entry, spec, runtime)
    direction = entry.name.partition("-")[2]
    compare = _Compare(entry, parts)
    combined = direction or parts.chosen("combine", _COMBINED)
    finder = parts.finder(f"{NAMES}+{CHUNKS}")
    writer = parts.writer(entry.models[0], template=_TEMPLATE, beams=_BEAMS)
    answers = parts.answers(entry.models[1])
    weigher = _weigher(parts)
    roundtrip = parts.flag("roundtrip")
    parts.signature |= {
        "combine": combined,
        "weights": "uniform" if weigher is None else "learnt",
        "filter": "roundtrip" if roundtrip else "none",
    }
    asking = Asking(finder, writer, filtered=answers if roundtrip else None)

    def answered(pairs: Sequence[tuple[str, str]]) -> list[list[Scored]]:
        """For (asked, read) texts, the questions of the one with the answers from the other."""
        known = asking(text for text, _ in pairs)
        asked = [(question.text, read) for text, read in pairs for question in known[text]]
        found = iter(answers(asked))
        return [[(question, next(found)) for question in known[text]] for text, _ in pairs]

    def precision(comparisons: Sequence[Comparison]) -> list[float]:
        rows = answered([(pair.summary, pair.text) for pair in comparisons])
        return [mean(row) for row in compare(rows, _F1)]

    def recall(comparisons: Sequence[Comparison]) -> list[float]:
        rows = answered([(pair.text, pair.summary) for pair in comparisons])
        scores = compare(rows, _ANSWERABILITY)
        if weigher is None:
            return [mean(row) for row in scores]
        weights = iter(
            weigher([(question.answer, question.text, pair.text)
                     for pair, row in zip(comparisons, rows, strict=True) for question, _ in row])
        )  # fmt: skip
        return [mean(row, [next(weights) for _ in row]) for row in scores]

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        if direction:
            return (precision if direction == "precision" else recall)(comparisons)
        both = zip(precision(comparisons), recall(comparisons), strict=True)
        return [_together(p, r, combined) for p, r in both]

    return _sources(entry, spec, parts, compute)


def _together(precision: float, recall: float, combined: str) -> float:
    total = precision + recall
    if combined == "mean" or not total:
        return total / 2
    return 2 * precision * recall / total


def _weigher(parts: Parts) -> Weigher | None:
    stated = parts.option("weigher", "")
    if not stated:
        return None
    found = open_part(Weigher, parts.weights("weigher"), parts.runtime)
    parts.add(found)
    return found


class _Compare:
    """Scores of answers, by the options ``compare=`` and ``similarity=``."""

    def __init__(self, entry: Entry, parts: Parts) -> None:
        stated = parts.option("compare", "+".join(_SCORES))
        self._names = stated.split("+")
        if stated != _PAPER and not set(self._names) <= set(_SCORES):
            raise ConfigurationError(
                f"{entry.name}: compare={stated}: choose {', '.join(_SCORES)}, several of them "
                f"with + between, or {_PAPER}"
            )
        parts.signature["compare"] = stated
        self._similar: Callable[[Sequence[tuple[str, str]]], Sequence[float]] | None = None
        if _BERTSCORE in self._names:
            self._similar = _bertscore(parts)
        elif parts.flag("similarity"):
            raise ConfigurationError(
                f"{entry.name}: similarity= does not apply to compare={stated}"
            )

    def __call__(self, rows: Sequence[Sequence[Scored]], paper: str) -> list[list[float]]:
        """The scores of answers.

        Args:
            rows: answers by text.
            paper: the one score that the paper's equation has.
        """
        flat = [each for row in rows for each in row]
        names = [paper] if self._names == [_PAPER] else self._names
        columns = [self._column(name, flat) for name in names]
        scores = iter([mean(each) for each in zip(*columns, strict=True)])
        return [[next(scores) for _ in row] for row in rows]

    def _column(self, name: str, flat: Sequence[Scored]) -> Sequence[float]:
        if name == _F1:
            return [answer_f1(question.answer, answer.text) for question, answer in flat]
        if name == _ANSWERABILITY or self._similar is None:
            return [answer.answerable for _, answer in flat]
        return self._similar([(question.answer, answer.text) for question, answer in flat])


def _bertscore(parts: Parts) -> Callable[[Sequence[tuple[str, str]]], Sequence[float]]:
    """BERTScore's F1 of answers within [0, 1]; 0 for an empty one."""
    from prevalence.baselines.registry import get

    model = parts.weights("similarity", _SIMILARITY)
    metric = get("bertscore-f1", model=model, runtime=parts.runtime)
    named = metric.signature
    parts.signature["similarity"] = f"{named['model']}/{named['layer']}"

    def similar(pairs: Sequence[tuple[str, str]]) -> list[float]:
        distinct = [*dict.fromkeys(pairs)]
        values = metric.score([Example(given, (), (wanted,)) for wanted, given in distinct])
        bounded = np.clip(np.nan_to_num(values), 0.0, 1.0).tolist()
        known = dict(zip(distinct, bounded, strict=True))
        return [known[pair] for pair in pairs]

    return similar


def _sources(
    entry: Entry,
    spec: Spec,
    parts: Parts,
    compute: Callable[[Sequence[Comparison]], Sequence[float]],
) -> Metric:
    """The metric against reviews, reference, or both (``against=both``)."""
    if spec.options.get("against") != _BOTH:
        return parts.metric(compute)
    shared = {key: value for key, value in spec.options.items() if key not in {"refs", "source"}}

    def one(against: str, rule: str) -> Metric:
        given = {rule: spec.options[rule]} if rule in spec.options else {}
        return parts.metric(compute, shared | {"against": against} | given)

    reviews, reference = one(REVIEWS, "source"), one(REFERENCE, "refs")
    return CombinedMetric(
        name=spec.canonical(),
        entry=entry,
        signature={**reviews.signature, **reference.signature, "against": _BOTH},
        work_unit=reviews.work_unit,
        cuts=parts.cuts,
        metrics=(reviews, reference),
        # A value against a text that is empty is undefined; the other side counts then.
        combine=lambda values: np.fmax.reduce(values, axis=0),
    )
