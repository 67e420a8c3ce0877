"""Evidence: the sentence of a review that carries the decision about a summary's sentence.

A decision is about a whole review, and a reader wants to see where in it. So the sentences of the
reviews that support or contradict a sentence are asked about it one by one; the one with the
highest probability of that class is the passage. Decisions and scores stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.nli.pairs import PairPlan, PairScores, TextTable
from prevalence.scored import SHOWN_DECIMALS, Passage
from prevalence.text.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prevalence.scoring.job import SummaryJob
    from prevalence.text.sentences import Splitter

__all__ = ["PassageSearch"]


class _Question(NamedTuple):
    """A decided pair: its places, and where its answers will stand."""

    job: SummaryJob
    sentence: int
    review: int
    supports: bool
    answers: slice


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSearch:
    """Finds the passages of one chunk of jobs.

    Attributes:
        ask: answers the requests of a plan.
        texts: the table of the chunk.
        splitter: cuts reviews into sentences.
        three_way: whether the scorer knows contradiction.
    """

    ask: Callable[[TextTable, PairPlan], PairScores]
    texts: TextTable
    splitter: Splitter
    three_way: bool
    _cut: dict[str, tuple[Sentence, ...]] = field(default_factory=dict, repr=False)

    def set_on(self, jobs: Iterable[SummaryJob]) -> None:
        """Set the evidence of every job whose reviews have answered."""
        plan = PairPlan()
        answered = [job for job in jobs if job.open and job.matrix is not None]
        questions = [question for job in answered for question in self._questions(job, plan)]
        answers = self.ask(self.texts, plan)
        for job in answered:
            job.evidence = {}
        for question in questions:
            found = question.job.evidence.setdefault(question.sentence, [])  # type: ignore[union-attr]
            found.append(self._passage(question, answers.take(question.answers)))

    def _questions(self, job: SummaryJob, plan: PairPlan) -> Iterator[_Question]:
        matrix = job.matrix
        if matrix is None:
            return
        against = matrix.contradicted
        decided = matrix.implied if against is None else matrix.implied | against
        for row, column in np.argwhere(decided).tolist():
            review, sentence = int(job.review_places[row]), int(job.columns[column])
            parts = self._sentences(job.product.reviews[review].text)
            asked = plan.add_product(
                self.texts.add_all(part.text for part in parts), [job.sentence_ids[sentence]]
            )
            supports = bool(matrix.implied[row, column])
            yield _Question(job, sentence, review, supports, asked)

    def _passage(self, question: _Question, answers: PairScores) -> Passage:
        review = question.job.product.reviews[question.review].text
        parts = self._sentences(review)
        best = int(np.argmax(answers.entailment if question.supports else answers.contradiction))
        against = float(answers.contradiction[best]) if self.three_way else None
        return Passage(
            review=question.review,
            start=parts[best].start,
            end=parts[best].end,
            text=review[parts[best].start : parts[best].end],
            entailment=round(float(answers.entailment[best]), SHOWN_DECIMALS),
            contradiction=None if against is None else round(against, SHOWN_DECIMALS),
        )

    def _sentences(self, review: str) -> tuple[Sentence, ...]:
        """The sentences of a review, which is cut once; of a heading alone, the whole of it."""
        if review not in self._cut:
            whole = Sentence(review, 0, len(review))
            self._cut[review] = self.splitter(review) or (whole,)
        return self._cut[review]
