"""Question-based consistency: does the premise answer questions as the hypothesis does?

Source: the design of QAFactEval (Fabbri et al. 2022): choose answers in the hypothesis, write a
question for each, keep those that the hypothesis itself answers so, answer them from the premise,
compare the answers. Answers are chosen by a rule here and compared by the F1 of their words.
"""

from __future__ import annotations

import hashlib
import weakref
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from prevalence.consistency.questions import answer_f1, answer_spans
from prevalence.errors import ConfigurationError
from prevalence.metric import check_threshold
from prevalence.nli.protocol import PairScores, Progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.texts import TextTable

__all__ = ["Answerer", "Question", "QuestionScorer", "Writer"]

_UNCALIBRATED = 0.5
_SAME_ANSWER = 0.6
"""F1 above which the hypothesis is taken to answer its own question as it was meant."""


class Writer(Protocol):
    """Writes questions; see :class:`~prevalence.consistency.questions.QuestionWriter`."""

    name: str
    digest: bytes
    dtype: str

    def write(self, asked: Sequence[tuple[str, str]]) -> list[str]:
        """Questions for (answer, context) pairs."""
        ...


class Answerer(Protocol):
    """Answers questions; see :class:`~prevalence.consistency.questions.QuestionAnswerer`."""

    name: str
    digest: bytes
    dtype: str

    def answer(self, asked: Sequence[tuple[str, str]]) -> list[str]:
        """Answers to (question, context) pairs, empty where there is none."""
        ...


class Question(NamedTuple):
    """A question about a hypothesis and the answer that it was written for."""

    text: str
    answer: str


class QuestionScorer:
    """Mean answer F1 over the questions that a hypothesis raises, as a pair scorer.

    A hypothesis that raises no question scores 0. It has no contradiction class.

    Args:
        writer: writes questions.
        answerer: answers them.
        filtered: keep only questions that the hypothesis itself answers as meant.
        threshold: decision threshold in [0, 1); None takes 0.5, which is not calibrated.

    Raises:
        ConfigurationError: a model in half precision, which may choose other words.
    """

    three_way = False
    work_unit = 64

    def __init__(
        self,
        writer: Writer,
        answerer: Answerer,
        *,
        filtered: bool = True,
        threshold: float | None = None,
    ) -> None:
        if any(model.dtype != "float32" for model in (writer, answerer)):
            raise ConfigurationError(
                "qafe needs --dtype float32: half precision may choose other words, and decisions "
                "that this turns cannot be counted"
            )
        self._writer, self._answerer, self._filtered = writer, answerer, filtered
        self.threshold = _UNCALIBRATED if threshold is None else check_threshold(threshold)
        self.calibrated = threshold is not None
        self.signature: Mapping[str, str] = {
            "consistency": "qafe",
            "gran": "answer",
            "qg": writer.name,
            "qa": answerer.name,
            "filter": "roundtrip" if filtered else "none",
        }
        settings = f"qafe/{filtered}/1".encode()
        self.digest = hashlib.blake2b(
            writer.digest + answerer.digest + settings, digest_size=16
        ).digest()
        self._known: weakref.WeakKeyDictionary[TextTable, dict[int, list[Question]]] = (
            weakref.WeakKeyDictionary()
        )

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.protocol.PairScorer.score`."""
        questions = self.questions(texts, pairs[:, 1])
        asked = [
            (row, question)
            for row, hypothesis in enumerate(pairs[:, 1].tolist())
            for question in questions[hypothesis]
        ]
        answers = self._answerer.answer(
            [(question.text, texts[int(pairs[row, 0])]) for row, question in asked]
        )
        agreed: list[list[float]] = [[] for _ in range(len(pairs))]
        for (row, question), answer in zip(asked, answers, strict=True):
            agreed[row].append(answer_f1(question.answer, answer))
        result = PairScores.empty(len(pairs))
        result.entailment[:] = [float(np.mean(values)) if values else 0.0 for values in agreed]
        if progress is not None:
            progress(len(pairs))
        return result

    def questions(
        self, texts: TextTable, hypotheses: NDArray[np.int64]
    ) -> dict[int, list[Question]]:
        """The questions that hypotheses raise, by text number; each text is read once."""
        known = self._known.setdefault(texts, {})
        missing = [number for number in np.unique(hypotheses).tolist() if number not in known]
        meant = [(number, span) for number in missing for span in answer_spans(texts[number])]
        written = self._writer.write([(span, texts[number]) for number, span in meant])
        known.update({number: [] for number in missing})
        kept = self._kept(texts, meant, written)
        for (number, span), text, keep in zip(meant, written, kept, strict=True):
            if keep:
                known[number].append(Question(text, span))
        return known

    def _kept(
        self, texts: TextTable, meant: Sequence[tuple[int, str]], written: Sequence[str]
    ) -> list[bool]:
        """Whether each question is one, and its own text answers it as meant."""
        if not self._filtered:
            return [bool(question) for question in written]
        own = self._answerer.answer(
            [
                (question, texts[number])
                for (number, _), question in zip(meant, written, strict=True)
            ]
        )
        return [
            bool(question) and answer_f1(span, answer) > _SAME_ANSWER
            for (_, span), question, answer in zip(meant, written, own, strict=True)
        ]
