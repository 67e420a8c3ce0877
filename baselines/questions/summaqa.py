"""SummaQA: does the summary fill the gaps that names leave in the reviews?

Every name in the reviews is replaced by a mask word in its sentence; that is the question, and the
name its answer. A model of extractive question answering must find an answer in the summary. The
score is the mean over the questions of the F1 of the answer's words, or of the answer's
probability, and 0 where the reviews name nothing.

Source: Scialom et al. 2019, section 3.2, and its released code for the mask word, the probability
and the value without questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.baselines.questions.asking import Parts, mean
from prevalence.baselines.questions.spans import NAMES
from prevalence.scorers.qafe import GAP, Question, answer_f1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.baselines.questions.models import Answer
    from prevalence.baselines.questions.spans import Span
    from prevalence.scorers.grammar import Spec

__all__ = ["cloze", "open_summaqa"]

_PROBABILITY = "summaqa-probability"


def cloze(span: Span) -> Question:
    """The sentence of a span with the mask word in its place."""
    sentence = span.sentence.text
    return Question(sentence[: span.start] + GAP + sentence[span.end :], span.text)


def open_summaqa(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open the F1 or the probability of SummaQA, in [0, 1].

    Raises:
        ConfigurationError: an option has a value that it does not know.
        ModelError: the checkpoint is unusable.

    Source: Scialom et al. 2019, section 3.2.
    """
    parts = Parts(entry, spec, runtime)
    finder, answers = parts.finder(NAMES), parts.answers(entry.models[0])

    def value(question: Question, answer: Answer) -> float:
        if entry.name == _PROBABILITY:
            return answer.confidence
        return answer_f1(question.answer, answer.likeliest)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        texts = [*dict.fromkeys(pair.text for pair in comparisons)]
        known = {
            text: [cloze(span) for span in spans]
            for text, spans in zip(texts, finder(texts), strict=True)
        }
        found = iter(
            answers([(q.text, pair.summary) for pair in comparisons for q in known[pair.text]])
        )
        return [mean([value(q, next(found)) for q in known[pair.text]]) for pair in comparisons]

    return parts.metric(compute)
