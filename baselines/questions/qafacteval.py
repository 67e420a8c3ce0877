"""QAFactEval: are questions about the summary answered from the reviews as in the summary?

A question is written for each noun phrase of the summary, from its sentence; questions that the
summary itself does not answer as meant are left out. The others are answered from the reviews. An
answer scores what LERC gives it beside the wanted one, about 1 to 5, and 0 where the model finds
none. The value is the mean over the questions, and 0 without any.

Source: Fabbri et al. 2022, sections 3 and 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.baselines.questions.asking import Asking, Parts, mean
from prevalence.baselines.questions.models import Overlap, open_part
from prevalence.baselines.questions.spans import CHUNKS
from prevalence.errors import ConfigurationError
from prevalence.scorers.qafe import Question, answer_f1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.baselines.questions.models import Answer
    from prevalence.scorers.grammar import Spec

__all__ = ["open_qafacteval"]

_MARKED = "{before}<hl> {answer} <hl>{after}"
_BEAMS = 4
_OVERLAPS = ("lerc", "f1", "answered")

Judged = tuple["Comparison", Question, "Answer"]


def open_qafacteval(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open QAFactEval: the mean overlap of answers, about 1 to 5 by LERC, in [0, 1] by other rules.

    Raises:
        ConfigurationError: an option has a value that it does not know, or LERC is not named.
        ModelError: the checkpoint is unusable.

    Source: Fabbri et al. 2022, sections 3 and 4.
    """
    parts = Parts(entry, spec, runtime)
    overlap = parts.chosen("overlap", _OVERLAPS)
    lerc = _lerc(entry, parts, overlap)
    finder = parts.finder(CHUNKS)
    writer = parts.writer(entry.models[0], template=_MARKED, beams=_BEAMS)
    answers = parts.answers(entry.models[1])
    kept = parts.flag("unfiltered")
    parts.signature |= {"overlap": overlap, "filter": "none" if kept else "roundtrip"}
    asking = Asking(finder, writer, by_sentence=True, filtered=None if kept else answers)

    def scores(judged: Sequence[Judged]) -> list[float]:
        """Scores of answers that were given."""
        if lerc is None:
            return [
                answer_f1(question.answer, answer.text) if overlap == "f1" else 1.0
                for _, question, answer in judged
            ]
        return lerc(
            [(pair.summary, question.text, question.answer, answer.text)
             for pair, question, answer in judged]
        )  # fmt: skip

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        known = asking(pair.summary for pair in comparisons)
        asked = [(pair, question) for pair in comparisons for question in known[pair.summary]]
        found = answers([(question.text, pair.text) for pair, question in asked])
        judged = [(*each, answer) for each, answer in zip(asked, found, strict=True)]
        given = iter(scores([each for each in judged if each[2].text]))
        values = iter([next(given) if answer.text else 0.0 for *_, answer in judged])
        return [mean([next(values) for _ in known[pair.summary]]) for pair in comparisons]

    return parts.metric(compute)


def _lerc(entry: Entry, parts: Parts, overlap: str) -> Overlap | None:
    """What compares answers, unless a rule does."""
    stated = parts.option("lerc", "")
    if overlap != _OVERLAPS[0]:
        if stated:
            raise ConfigurationError(f"{entry.name}: lerc= does not apply to overlap={overlap}")
        return None
    if not stated:
        raise ConfigurationError(
            f"{entry.name}: name LERC's checkpoint with lerc=FOLDER (docs/baselines-questions.md "
            "says how to get one), or compare answers with overlap=f1"
        )
    found = open_part(Overlap, parts.weights("lerc"), parts.runtime)
    parts.add(found)
    return found
