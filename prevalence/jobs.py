"""One summary on its way to a score: which pairs it asks for, and what their answers make of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from prevalence import metric
from prevalence.nli.protocol import FLAG_TOO_LONG, PairScores
from prevalence.records import Product, ScoredSentence, ScoredSummary, Summary
from prevalence.sentences import Sentence, Splitter
from prevalence.texts import PairPlan, TextTable

__all__ = ["SummaryJob", "WorkCounts", "input_digest"]

Ints = NDArray[np.int64]


def _no_pairs() -> slice:
    return slice(0, 0)


def _no_numbers() -> Ints:
    return np.empty(0, np.int64)


@dataclass(slots=True)
class WorkCounts:
    """Work asked for, avoided and done, over a run.

    Attributes:
        naive: pairs that the equations name, one summary at a time.
        planned: pairs asked for after early stopping.
        unique: distinct pairs among them, within a chunk.
        truncated: distinct pairs whose premise was cut.
        scored: summaries with a score.
        failed: rows without one.
        unnamed: scored summaries without a product name, so without a trivial mask.
        warned: scored summaries with a warning.
    """

    naive: int = 0
    planned: int = 0
    unique: int = 0
    truncated: int = 0
    scored: int = 0
    failed: int = 0
    unnamed: int = 0
    warned: int = 0

    def add_row(self, row: ScoredSummary, named: bool) -> None:
        """Count a row of the output."""
        if row.error is not None:
            self.failed += 1
            return
        self.scored += 1
        self.unnamed += not named
        self.warned += row.warning is not None


@dataclass(slots=True)
class SummaryJob:
    """A summary, its sentences and reviews as text numbers, and its answers as they arrive."""

    product: Product
    summary: Summary
    named: bool
    sentences: tuple[Sentence, ...] = ()
    sentence_ids: Ints = field(default_factory=_no_numbers)
    review_ids: Ints = field(default_factory=_no_numbers)
    review_rows: Ints = field(default_factory=_no_numbers)
    statement_id: int | None = None
    error: str | None = None
    _trivial: slice = field(default_factory=_no_pairs)
    _earlier: slice = field(default_factory=_no_pairs)
    _reviews: slice = field(default_factory=_no_pairs)
    _columns: Ints = field(default_factory=_no_numbers)
    _masks: metric.Masks | None = None
    _soft: NDArray[np.float64] | None = None
    _answers: PairScores | None = None

    @classmethod
    def build(
        cls,
        product: Product,
        summary: Summary,
        *,
        texts: TextTable,
        splitter: Splitter,
        template: str | None,
        max_sentences: int,
    ) -> SummaryJob:
        """Split the summary and number its texts; a job that cannot be scored has an error."""
        job = cls(product, summary, named=product.name is not None and template is not None)
        if not product.reviews:
            job.error = job._message("no reviews", "give at least one")
            return job
        sentences = splitter(summary.text)
        if len(sentences) > max_sentences:
            job.error = job._message(
                f"{len(sentences):,} sentences, which takes "
                f"{len(sentences) * (len(sentences) - 1) // 2:,} redundancy pairs",
                f"shorten it or raise the limit of {max_sentences:,} (--max-sentences)",
            )
            return job
        job.sentences = sentences
        job.sentence_ids = texts.add_all(sentence.text for sentence in sentences)
        # An empty review implies nothing; it counts in m and asks no pair.
        rows = [row for row, review in enumerate(product.reviews) if review.text.strip()]
        job.review_rows = np.asarray(rows, np.int64)
        job.review_ids = texts.add_all(product.reviews[row].text for row in rows)
        if product.name is not None and template is not None:
            job.statement_id = texts.add(template.replace("{name}", product.name))
        return job

    @property
    def naive_pairs(self) -> int:
        """Pairs that the equations name: statement, earlier sentences, reviews."""
        n = len(self.sentences)
        return n * (self.statement_id is not None) + n * (n - 1) // 2 + n * self.n_reviews

    @property
    def n_reviews(self) -> int:
        """m, empty reviews included."""
        return len(self.product.reviews)

    def plan_masks(self, plan: PairPlan) -> None:
        """Ask what masks a sentence: (t, y_k) and (y_j, y_k) for j < k."""
        n = len(self.sentences)
        if self.statement_id is not None:
            self._trivial = plan.add_product([self.statement_id], self.sentence_ids)
        earlier, later = np.triu_indices(n, k=1)
        self._earlier = plan.add(self.sentence_ids[earlier], self.sentence_ids[later])

    def read_masks(self, answers: PairScores, threshold: float) -> None:
        """Turn the first wave's answers into masks."""
        n = len(self.sentences)
        trivial, implied = np.zeros(n), np.zeros((n, n))
        own = answers.take(self._trivial)
        others = answers.take(self._earlier)
        earlier, later = np.triu_indices(n, k=1)
        self._refuse_long(others.flags, later)
        if own.flags.size:
            self._refuse_long(own.flags, np.arange(n))
            trivial[:] = own.entailment
        if self.error is not None:
            return
        implied[earlier, later] = others.entailment
        self._masks = metric.masks(
            metric.decisions(trivial.astype(np.float32), threshold),
            metric.decisions(implied.astype(np.float32), threshold),
        )
        self._soft = metric.soft_masks(trivial, implied)

    def plan_reviews(self, plan: PairPlan, *, all_sentences: bool) -> None:
        """Ask the reviews about every sentence, or about those that still count."""
        columns = np.arange(len(self.sentences))
        if not all_sentences and self._masks is not None:
            columns = columns[self._masks.counts]
        self._columns = columns
        self._reviews = plan.add_product(self.review_ids, self.sentence_ids[columns])

    def read_reviews(self, answers: PairScores) -> None:
        """Keep the answers of the reviews."""
        own = answers.take(self._reviews)
        self._refuse_long(own.flags, np.tile(self._columns, len(self.review_ids)))
        self._answers = own

    def result(
        self, *, threshold: float, signature: str, three_way: bool, soft: bool
    ) -> ScoredSummary:
        """The scored summary, or the row that says why there is no score."""
        blank = ScoredSummary(
            id=self.product.id,
            system=self.summary.system,
            prevalence=None,
            n_reviews=self.n_reviews,
            sentences=(),
            signature=signature,
            error=self.error,
            input_digest=input_digest(self.product, self.summary),
            extra=self.product.extra,
        )
        if self.error is not None or self._masks is None or self._answers is None:
            return blank
        entailment, contradiction = self._matrices(self._answers)
        decided = metric.decisions(entailment, threshold)
        against = (
            metric.contradictions(entailment, contradiction, threshold) if three_way else None
        )
        supports = np.zeros(len(self.sentences), np.int64)
        supports[self._columns] = metric.support(decided)
        score = metric.prevalence(supports, self._masks.counts, self.n_reviews)
        return blank.with_scores(
            prevalence=score,
            soft_prevalence=self._soft_score(entailment) if soft else None,
            sentences=self._scored_sentences(entailment, decided, against),
            warning=self._warning(),
        )

    def _matrices(
        self, answers: PairScores
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Entailment and contradiction, float32 [m, scored sentences]; empty reviews are 0."""
        shape = (len(self.review_ids), len(self._columns))
        entailment = np.zeros((self.n_reviews, len(self._columns)), np.float32)
        contradiction = np.zeros_like(entailment)
        entailment[self.review_rows] = answers.entailment.reshape(shape)
        contradiction[self.review_rows] = answers.contradiction.reshape(shape)
        return entailment, contradiction

    def _soft_score(self, entailment: NDArray[np.float32]) -> float:
        weights = self._soft if self._soft is not None else np.empty(0)
        return metric.soft_prevalence(entailment, weights)

    def _scored_sentences(
        self,
        entailment: NDArray[np.float32],
        decided: NDArray[np.bool_],
        against: NDArray[np.bool_] | None,
    ) -> tuple[ScoredSentence, ...]:
        if self._masks is None:
            return ()
        place = {int(column): nth for nth, column in enumerate(self._columns)}
        scored = []
        for k, sentence in enumerate(self.sentences):
            cause = int(self._masks.redundant_with[k])
            common = {
                "text": sentence.text,
                "start": sentence.start,
                "end": sentence.end,
                "trivial": bool(self._masks.trivial[k]),
                "redundant_with": None if cause == metric.NOT_REDUNDANT else cause,
            }
            nth = place.get(k)
            if nth is not None:
                supporting = np.flatnonzero(decided[:, nth])
                common |= {
                    "support": supporting.size,
                    "supporting_reviews": tuple(supporting.tolist()),
                    "contradicting_reviews": None
                    if against is None
                    else tuple(np.flatnonzero(against[:, nth]).tolist()),
                    "entailment": tuple(shortest(p) for p in entailment[:, nth]),
                }
            scored.append(ScoredSentence(**common))  # type: ignore[arg-type]
        return tuple(scored)

    def _warning(self) -> str | None:
        empty = self.n_reviews - len(self.review_ids)
        notes = []
        if not self.sentences:
            notes.append("the summary has no sentence, so it scores 0")
        if empty:
            notes.append(f"{empty} of {self.n_reviews} reviews empty: counted, support nothing")
        return "; ".join(notes) or None

    def _refuse_long(self, flags: NDArray[np.uint8], sentence_of_pair: Ints) -> None:
        long = np.flatnonzero(flags & FLAG_TOO_LONG)
        if long.size and self.error is None:
            k = int(sentence_of_pair[long[0]])
            self.error = self._message(
                f"sentence {k} ({self.sentences[k].text[:40]!r}...) is longer than the model reads",
                "split it, or use a model with a larger limit",
            )

    def _message(self, found: str, advice: str) -> str:
        where = self.product.source or f"record {self.product.id!r}"
        return f"{where}: summary by {self.summary.system!r}: {found}; {advice}"


def shortest(probability: np.float32) -> float:
    """The shortest decimal that reads back as the same float32: 0.91, not 0.9100000262260437."""
    return float(str(probability))


def input_digest(product: Product, summary: Summary) -> str:
    """Digest of everything in the input that can change the score, 16 hex digits."""
    content = [product.name, [review.text for review in product.reviews], summary.text]
    data = json.dumps(content, ensure_ascii=True).encode()
    return hashlib.blake2b(data, digest_size=8).hexdigest()
