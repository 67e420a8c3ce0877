"""The profile: what stands beside the prevalence of a summary, from the same scorer.

Prevalence is a precision. Its dual is coverage, see :mod:`prevalence.scoring.statements`. Attested
and contested shares, the coverage of groups of reviews and polarity read what the reviews have
answered already; genericness asks other products' summaries and reviews.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence import metric
from prevalence.nli.pairs import PairPlan, PairScores, no_pairs
from prevalence.records import RATING
from prevalence.scored import Profile
from prevalence.scoring.conditions import as_rating, field_of, review_fields
from prevalence.scoring.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prevalence.nli.pairs import TextTable
    from prevalence.scoring.job import SummaryJob
    from prevalence.scoring.options import ScoringOptions
    from prevalence.scoring.others import OtherProducts
    from prevalence.scoring.units import Units
    from prevalence.stats.arrays import Bools, Floats, Ints

__all__ = ["Profiles"]

Planner = Callable[[PairPlan], None]
Reader = Callable[[PairScores], None]

_LARGEST = 1e15
"""No scale goes beyond it, and sums of such numbers may be infinite: they are no ratings."""


@dataclass(slots=True)
class _Draft:
    """The profile of a summary under way.

    Attributes:
        job: the summary; its answers about the plain score have all been read.
        statements: what the reviews of its product say.
        places: int64 [k], sentences of the summary that count.
        implied, entailment, contradicted: [m, k], what the reviews say of them.
        figures: of the profile so far.
        missing: why a figure is not there.
        premise: text number of the summary; None for an empty one.
        of_others, of_reviews: summaries and reviews of other products compared with.
    """

    job: SummaryJob
    statements: Statements
    places: Ints
    implied: Bools
    entailment: Floats
    contradicted: Bools | None
    figures: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    premise: int | None = None
    of_others: int = 0
    of_reviews: int = 0
    _coverage: slice = field(default_factory=no_pairs)
    _summaries: slice = field(default_factory=no_pairs)
    _reviews: slice = field(default_factory=no_pairs)

    @classmethod
    def of(cls, job: SummaryJob, statements: Statements) -> _Draft | None:
        """The draft of a job that has a score, else None."""
        if job.masks is None or job.matrix is None:
            return None
        columns = np.flatnonzero(job.masks.counts[job.columns])
        matrix = job.matrix.take(columns)
        return cls(
            job,
            statements,
            places=job.columns[columns],
            implied=matrix.implied,
            entailment=matrix.entailment.astype(np.float64),
            contradicted=matrix.contradicted,
        )

    def set(self, name: str, value: float | None, missing: str) -> None:
        """Take a figure, or say why there is none."""
        self.figures[name] = value
        if value is None:
            self.missing[name] = missing

    def read_matrix(self) -> None:
        """Attested and contested shares, from the answers that prevalence asked for."""
        supports = self.implied.sum(axis=0)
        nothing = "every unit of the summary is trivial or redundant"
        if not len(self.job.sentences):
            nothing = "the summary is empty"
        self.set("attested", _mean(supports > 0), nothing)
        if self.contradicted is None:
            self.set("contested", None, "the model has no contradiction class")
            return
        self.set("contested", _mean(self.contradicted.sum(axis=0) > supports), nothing)

    def read_ratings(self) -> None:
        """Polarity: whose ratings the summary carries, beside those of all reviews."""
        reviews = self.job.product.reviews
        given = [field_of(reviews[k].extra, RATING) for k in self.job.review_places.tolist()]
        ratings = list(map(as_rating, given))
        rated = np.asarray([np.nan if r is None else r for r in ratings], np.float64)
        known = np.abs(rated) <= _LARGEST
        if not known.any():
            unread = any(value not in (None, "") for value in given)
            why = f"none has a number in {RATING}" if unread else "no review has a rating"
            self.set("polarity_distance", None, why)
            return
        behind = self.implied & known[:, None]
        counts = behind.sum(axis=0)
        target = float(rated[known].mean())
        self.figures["polarity_target"] = target
        if not counts.any():
            self.set("polarity_distance", None, "no rated review implies a unit of the summary")
            return
        sums = np.where(known, rated, 0.0) @ behind
        polarity = float((sums[counts > 0] / counts[counts > 0]).mean())
        self.figures |= {"polarity": polarity, "polarity_distance": abs(polarity - target)}

    def read_groups(self, groups: Sequence[Any]) -> None:
        """How well each group of reviews is covered, and how unequally."""
        if not groups:
            return
        attested = self.implied.any(axis=0)
        if not attested.any():
            self.set("equal_coverage", None, "no review implies a unit of the summary")
            return
        covered = self.entailment[:, attested].mean(axis=1)
        overall = float(covered.mean())
        self.figures["review_coverage"] = overall
        reviews = [self.job.product.reviews[k] for k in self.job.review_places.tolist()]
        found: dict[str, dict[str, Any]] = {}
        for where in groups:
            own = np.asarray([where.holds(review_fields(review)) for review in reviews], np.bool_)
            mean = float(covered[own].mean()) if own.any() else None
            found[str(where)] = {"reviews": int(own.sum()), "coverage": mean}
        self.figures["groups"] = found
        gaps = [abs(g["coverage"] - overall) for g in found.values() if g["reviews"]]
        self.set("equal_coverage", _mean(gaps), "no review is in a group")

    def plan_others(
        self,
        plan: PairPlan,
        texts: TextTable,
        others: OtherProducts,
        read: Callable[[str], str],
    ) -> None:
        """Ask summaries and reviews of other products about the units that count."""
        compared = others.compared(self.job.product, self.job.summary.system)
        hypotheses = self.job.sentence_ids[self.places]
        summaries, reviews = (
            [text for text in map(read, given) if text.strip()]
            for given in (compared.summaries, compared.reviews)
        )
        self.of_others, self.of_reviews = compared.of_summaries, len(reviews)
        self._summaries = plan.add_product(texts.add_all(summaries), hypotheses)
        self._reviews = plan.add_product(texts.add_all(reviews), hypotheses)

    def read_others(self, threshold: float, alpha: float, answers: PairScores) -> None:
        """Genericness, and prevalence adjusted for it."""
        alone = "the input has no other product with a"
        for prefix, request, size, lacking in (
            ("", self._summaries, self.of_others, f"{alone} summary by this system"),
            ("review_", self._reviews, self.of_reviews, f"{alone} review that is not empty"),
        ):
            value = None
            if size:
                implied = metric.implied_pairs(answers.take(request), threshold)
                value = int(implied.sum()) / (size * max(len(self.job.sentences), 1))
            self.set(f"{prefix}genericness", value, lacking)
            adjusted = None if value is None else (self.job.prevalence or 0.0) - alpha * value
            self.set(f"{prefix}sap", adjusted, lacking)

    def plan_coverage(
        self, plan: PairPlan, texts: TextTable, read: Callable[[str], str], *, restricted: bool
    ) -> None:
        """Ask the summary about the statements; a restricted one is what is left of it."""
        text = read(self.job.summary.text)
        if restricted:
            text = " ".join(sentence.text for sentence in self.job.sentences)
        self.premise = texts.add(text) if text.strip() else None
        if self.premise is not None:
            self._coverage = plan.add_product([self.premise], self.statements.ids)

    def read_coverage(self, answers: PairScores) -> None:
        """Coverage; an empty summary implies nothing."""
        own = answers.take(self._coverage)
        if self.premise is None:
            own = PairScores.empty(len(self.statements.ids))
            own.entailment[:] = 0
        found = self.statements.covered(own)
        nothing = "the reviews hold no statement that one of them implies"
        self.set("coverage", found.hard, nothing)
        self.set("soft_coverage", found.soft, nothing)
        self.figures |= {
            "coverage_interval": found.interval,
            "left_out": found.left_out,
            "statements": len(self.statements.ids),
            "of_statements": self.statements.of_statements,
        }

    def profile(self) -> Profile:
        """The profile, when everything is read."""
        return Profile(**self.figures, missing=self.missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """Makes the profiles of one chunk of jobs, with the settings that score the summaries.

    Attributes:
        ask: answers the requests of a plan.
        texts: the table of the chunk.
        units: cuts reviews into statements.
        options: what is asked for.
        threshold: decision threshold in [0, 1).
        others: the products that genericness compares with, or None.
    """

    ask: Callable[[TextTable, PairPlan], PairScores]
    texts: TextTable
    units: Units
    options: ScoringOptions
    threshold: float
    others: OtherProducts | None = None

    def set_on(self, jobs: Iterable[SummaryJob]) -> int:
        """Set the profile of every job that has a score.

        Args:
            jobs: those of one product one after the other; their answers have been read.

        Returns:
            How many pairs were asked.
        """
        drafts: list[_Draft] = []
        products: list[Statements] = []
        for _, group in groupby((job for job in jobs if job.open), key=lambda job: id(job.product)):
            own = list(group)
            statements = self._statements(own[0])
            products.append(statements)
            found = (_Draft.of(job, statements) for job in own)
            drafts += [draft for draft in found if draft is not None]
        asked = self._ask_about(products, drafts)
        groups = self.options.review_groups
        for draft in drafts:
            draft.read_matrix()
            draft.read_ratings()
            draft.read_groups(groups)
            draft.job.profile = draft.profile()
        return asked

    def _statements(self, job: SummaryJob) -> Statements:
        product = job.product
        places = job.review_places[job.review_rows]
        return Statements(
            [product.reviews[place].text for place in places.tolist()],
            places,
            texts=self.texts,
            splitter=self.units.of_reviews(product),
            read=self.units.read,
            most=self.options.coverage_statements,
            product_statement=job.statement_id,
            where=self.options.restriction.statements,
            threshold=self.threshold,
        )

    def _ask_about(self, products: Sequence[Statements], drafts: Sequence[_Draft]) -> int:
        """Ask in few rounds, each over all products, so that batches stay full."""
        plans: list[Planner] = [one.plan_trivial for one in products]
        reads: list[Reader] = [one.read_trivial for one in products]
        texts, others, read = self.texts, self.others, self.units.read
        if others is not None:
            alpha = self.options.sap_alpha
            plans += [partial(d.plan_others, texts=texts, others=others, read=read) for d in drafts]
            reads += [partial(d.read_others, self.threshold, alpha) for d in drafts]
        asked = self._round(plans, reads)
        asked += self._round(
            [one.plan_reviews for one in products], [one.read_reviews for one in products]
        )
        asked += self._round(
            [one.plan_repeats for one in products], [one.read_repeats for one in products]
        )
        asked += self._round(
            [one.plan_returns for one in products], [one.read_returns for one in products]
        )
        restricted = self.options.restriction.statements is not None
        return asked + self._round(
            [
                partial(d.plan_coverage, texts=texts, read=read, restricted=restricted)
                for d in drafts
            ],
            [draft.read_coverage for draft in drafts],
        )

    def _round(self, plans: Iterable[Planner], reads: Iterable[Reader]) -> int:
        plan = PairPlan()
        for add in plans:
            add(plan)
        answers = self.ask(self.texts, plan) if len(plan) else PairScores.empty(0)
        for read in reads:
            read(answers)
        return len(plan)


def _mean(values: Any) -> float | None:
    found = np.asarray(values, np.float64)
    return float(found.mean()) if found.size else None
