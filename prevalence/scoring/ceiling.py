"""The ceiling: the prevalence that greedy construction reaches on the same reviews.

What a summary can reach depends on how far the reviewers of a product agree. Algorithm 1, run over
their own sentences until they have as many characters as the summary, shows how much there is to
reach; a score divided by it compares across products. Greedy construction is not proven optimal,
so a share above 1 is possible and is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from prevalence.signature import statement_of
from prevalence.summarize.candidates import Candidates, LengthRule
from prevalence.summarize.greedy import greedy
from prevalence.summarize.questions import PairJudge
from prevalence.text.sentences import says_anything

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prevalence.nli.pairs import PairPlan, PairScores, TextTable
    from prevalence.scoring.conditions import Where
    from prevalence.scoring.job import SummaryJob
    from prevalence.text.sentences import Splitter

__all__ = ["Ceilings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """Finds the ceilings of one chunk of jobs, with the settings that score the summaries.

    Attributes:
        ask: answers the requests of a plan.
        texts: the table of the chunk.
        splitter: cuts reviews into sentences.
        read: gives what models read of a review.
        template: of the product statement, or None for no trivial mask.
        threshold: decision threshold in [0, 1).
        three_way: whether the scorer knows contradiction.
        statements: condition on the text of statements, or None.
    """

    ask: Callable[[TextTable, PairPlan], PairScores]
    texts: TextTable
    splitter: Splitter
    read: Callable[[str], str]
    template: str | None
    threshold: float
    three_way: bool
    statements: Where | None = None
    _known: dict[int, Candidates] = field(default_factory=dict, repr=False)

    def set_on(self, jobs: Iterable[SummaryJob]) -> int:
        """Set the ceiling of every job; one walk a product serves all of its summaries.

        Args:
            jobs: those of one product one after the other; their answers need not be read yet.

        Returns:
            How many of the pairs that :meth:`most_pairs` counts were asked.
        """
        return sum(self._set_on_product(same) for same in _by_product(jobs))

    def most_pairs(self, jobs: Iterable[SummaryJob]) -> int:
        """Pairs of a review and a sentence of the reviews, of which the walks ask a part."""
        return sum(
            len(job.review_ids) * len(self._candidates(job)) for job, *_ in _by_product(jobs)
        )

    def _set_on_product(self, jobs: Sequence[SummaryJob]) -> int:
        product = jobs[0].product
        candidates = self._candidates(jobs[0])
        judge = PairJudge(
            self.ask,
            reviews=list(map(self.read, _reviews(jobs[0]))),
            sentences=candidates.texts,
            statement=statement_of(self.template, product.name),
            threshold=self.threshold,
            three_way=self.three_way,
            texts=self.texts,
        )
        # Greedy construction looks only backwards: shorter summaries are beginnings of the longest.
        rules = [LengthRule(characters=_characters(job)) for job in jobs]
        longest = max(rules, key=lambda rule: rule.characters or 0)
        picks = greedy(judge, candidates, longest)
        lengths = [len(candidates.texts[pick.candidate]) for pick in picks]
        for job, rule in zip(jobs, rules, strict=True):
            taken = picks[: rule.prefix(lengths)]
            total = sum(pick.support for pick in taken)
            job.ceiling = total / (job.n_reviews * len(taken)) if taken else 0.0
        return judge.calls.reviews

    def _candidates(self, job: SummaryJob) -> Candidates:
        """The sentences of a product's reviews, which are cut once: jobs keep products alive."""
        product = id(job.product)
        if product not in self._known:
            self._known[product] = self._cut(job)
        return self._known[product]

    def _cut(self, job: SummaryJob) -> Candidates:
        every = Candidates.of(_reviews(job), self.splitter, says=says_anything)
        where = self.statements
        if where is None:
            return every
        kept = [k for k, text in enumerate(every.texts) if where.holds({"text": text})]
        return replace(
            every,
            texts=tuple(every.texts[k] for k in kept),
            ranks=tuple(every.ranks[k] for k in kept),
        )


def _by_product(jobs: Iterable[SummaryJob]) -> Iterator[list[SummaryJob]]:
    """Jobs that have something to score, in groups of one product."""
    scorable = (job for job in jobs if job.open and job.sentences)
    for _, group in groupby(scorable, key=lambda job: id(job.product)):
        yield list(group)


def _reviews(job: SummaryJob) -> list[str]:
    return [job.product.reviews[place].text for place in job.review_places.tolist()]


def _characters(job: SummaryJob) -> int:
    return sum(len(sentence.text) for sentence in job.sentences)
