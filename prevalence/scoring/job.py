"""One summary under way: its texts, the pairs that it asks, and the row that the answers make."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence import metric
from prevalence.errors import InputError
from prevalence.metric import ReviewMatrix
from prevalence.nli.pairs import FLAG_TOO_LONG, PairScores, no_pairs
from prevalence.records import CLAIMS, input_digest
from prevalence.scored import SHOWN_DECIMALS, ScoredSentence, ScoredSummary
from prevalence.scoring.conditions import Restriction
from prevalence.signature import statement_of
from prevalence.text.html import unwrapped
from prevalence.text.sentences import says_anything
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.claims.quantities import Quantified
    from prevalence.nli.pairs import PairPlan, TextTable
    from prevalence.records import Product, Review, Summary
    from prevalence.scored import Passage, Profile
    from prevalence.stats.arrays import Ints
    from prevalence.text.sentences import Sentence, Splitter

__all__ = ["SummaryJob", "scored_summary"]


_SHOWN = 40
"""Characters of a sentence that a message shows."""


def _no_numbers() -> Ints:
    return np.empty(0, np.int64)


@dataclass(slots=True)
class SummaryJob:
    """A summary, its texts as numbers, and what the answers have made of it so far.

    Attributes:
        product, summary: the input.
        sentences: the n sentences of the summary that count.
        sentence_places: int64 [n], their places among all its sentences.
        of_sentences: how many those are.
        sentence_ids: int64 [n], their text numbers.
        review_places: int64 [m], places in the product of the reviews that count.
        review_rows: int64, those of the m that are not empty. An empty review implies nothing:
            it counts in m and asks no pair.
        review_ids: text numbers of those reviews.
        statement_id: text number of t, or None without a trivial mask.
        error: why there will be no score, or None.
        nothing_left: why the restriction leaves nothing to score, or None.
        masks: from the first wave.
        contradicted: bool [n, n] from the first wave, sentence j contradicts the later sentence
            k; None for a scorer without that class.
        weights: float64 [n], soft masks from the first wave.
        columns: int64, the sentences that the reviews are asked about.
        matrix: the reviews' answers, one column for each of ``columns``.
        ceiling: what greedy construction reaches, where it was asked for.
        profile: what stands beside the score, where it was asked for.
        quantities: of people, one or None a sentence, where they are compared apart.
        denied_ids: text number of what is denied, by sentence whose quantity denies it ("nobody
            says that it leaks"). Such a sentence is scored whole.
        denied_support: how many reviews support that all the same, by sentence asked about.
        evidence: passages by sentence, where they were asked for.
    """

    product: Product
    summary: Summary
    sentences: tuple[Sentence, ...] = ()
    sentence_places: Ints = field(default_factory=_no_numbers)
    of_sentences: int = 0
    sentence_ids: Ints = field(default_factory=_no_numbers)
    review_places: Ints = field(default_factory=_no_numbers)
    review_rows: Ints = field(default_factory=_no_numbers)
    review_ids: Ints = field(default_factory=_no_numbers)
    statement_id: int | None = None
    error: str | None = None
    nothing_left: str | None = None
    masks: metric.Masks | None = None
    contradicted: NDArray[np.bool_] | None = None
    weights: NDArray[np.float64] | None = None
    columns: Ints = field(default_factory=_no_numbers)
    matrix: ReviewMatrix | None = None
    ceiling: float | None = None
    profile: Profile | None = None
    quantities: tuple[Quantified | None, ...] = ()
    denied_ids: dict[int, int] = field(default_factory=dict)
    denied_support: dict[int, int] = field(default_factory=dict)
    evidence: dict[int, list[Passage]] | None = None
    _trivial: slice = field(default_factory=no_pairs)
    _earlier: slice = field(default_factory=no_pairs)
    _reviews: slice = field(default_factory=no_pairs)
    _denied: dict[int, slice] = field(default_factory=dict)

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
        wordless: bool = False,
        restriction: Restriction | None = None,
        quantity_of: Callable[[int, Sentence], Quantified | None] | None = None,
        asked: Callable[[Sentence], str] = attrgetter("text"),
        read: Callable[[str], str] = str,
    ) -> SummaryJob:
        """Split the summary and number its texts; a job that cannot be scored has an error.

        A sentence without a letter or a digit counts only if ``wordless`` says so. ``asked`` says
        what models are asked of a sentence without a quantity that is compared apart, and
        ``read`` what they read of a review.
        """
        job = cls(product, summary, review_places=np.arange(len(product.reviews)))
        if not product.reviews:
            job._fail("no reviews", "give at least one")
            return job
        try:
            sentences = splitter(summary.text)
        except InputError as error:
            job.error = f"{job._where}: {error}"
            return job
        n = len(sentences)
        if n > max_sentences:
            job._fail(
                f"{n:,} sentences, which takes {n * (n - 1) // 2:,} redundancy pairs",
                f"shorten it or raise the limit of {max_sentences:,} "
                "(max_sentences= or --max-sentences)",
            )
            return job
        job._restrict(restriction or Restriction(), sentences, wordless=wordless)
        if not job.open:
            return job
        if quantity_of is not None:
            places = job.sentence_places.tolist()
            job.quantities = tuple(map(quantity_of, places, job.sentences))
        job.sentence_ids = texts.add_all(job._statements(asked))
        job.denied_ids = {
            k: texts.add(found.statement)
            for k, found in enumerate(job.quantities)
            if found is not None and found.quantity.denies and found.quantity.of is None
        }
        reviews = [read(product.reviews[place].text) for place in job.review_places.tolist()]
        rows = [row for row, text in enumerate(reviews) if text.strip()]
        job.review_rows = np.asarray(rows, np.int64)
        job.review_ids = texts.add_all(reviews[row] for row in rows)
        statement = statement_of(template, product.name)
        if statement is not None:
            job.statement_id = texts.add(statement)
        return job

    def _statements(self, asked: Callable[[Sentence], str]) -> list[str]:
        """What is asked of the sentences: without quantities, where they are compared apart.

        Without its quantity a denial would say the opposite.
        """
        found = self.quantities or (None,) * len(self.sentences)
        return [
            asked(sentence) if quantity is None or quantity.quantity.denies else quantity.statement
            for sentence, quantity in zip(self.sentences, found, strict=True)
        ]

    def _restrict(
        self, restriction: Restriction, sentences: tuple[Sentence, ...], *, wordless: bool
    ) -> None:
        """Take what the restriction leaves, or say why there is nothing."""
        try:
            statements = restriction.sentences_left(self.summary, sentences)
        except InputError as error:
            self.error = f"{self._where}: {error}"
            return
        reviews = restriction.reviews_left(self.product)
        self.nothing_left = reviews.reason or statements.reason
        places = [k for k in statements.places if wordless or says_anything(sentences[k].text)]
        if not places and restriction.statements is not None and self.nothing_left is None:
            self.nothing_left = f"no statement with a word satisfies {restriction.statements}"
        self.sentences = tuple(sentences[place] for place in places)
        self.sentence_places = np.asarray(places, np.int64)
        self.of_sentences = len(sentences)
        self.review_places = np.asarray(reviews.places, np.int64)

    @property
    def open(self) -> bool:
        """Whether there is anything to ask and no error yet."""
        return self.error is None and self.nothing_left is None

    @property
    def n_reviews(self) -> int:
        """m, empty reviews included."""
        return len(self.review_places)

    @property
    def naive_pairs(self) -> int:
        """Pairs that the equations name: statement, earlier sentences, reviews; none unscored.

        What a sentence denies is asked of the reviews too.
        """
        if not self.open:
            return 0
        n = len(self.sentences)
        of_reviews = (n + len(self.denied_ids)) * self.n_reviews
        return n * (self.statement_id is not None) + n * (n - 1) // 2 + of_reviews

    def plan_masks(self, plan: PairPlan) -> None:
        """Ask what masks a sentence: (t, y_k) and (y_j, y_k) for j < k."""
        if self.statement_id is not None:
            self._trivial = plan.add_product([self.statement_id], self.sentence_ids)
        earlier, later = np.triu_indices(len(self.sentences), k=1)
        self._earlier = plan.add(self.sentence_ids[earlier], self.sentence_ids[later])

    def read_masks(self, answers: PairScores, threshold: float, *, three_way: bool = False) -> None:
        """Turn the answers to :meth:`plan_masks` into masks, and contradictions where known."""
        n = len(self.sentences)
        trivial, implied = np.zeros(n, np.float32), np.zeros((n, n), np.float32)
        statement, others = answers.take(self._trivial), answers.take(self._earlier)
        earlier, later = np.triu_indices(n, k=1)
        if self._too_long(statement, np.arange(n)) or self._too_long(others, later):
            return
        if self.statement_id is not None:
            trivial[:] = statement.entailment
        implied[earlier, later] = others.entailment
        self.masks = metric.masks(
            metric.decisions(trivial, threshold), metric.decisions(implied, threshold)
        )
        self.weights = metric.soft_masks(trivial, implied)
        if three_way:
            self.contradicted = np.zeros((n, n), np.bool_)
            self.contradicted[earlier, later] = metric.contradictions(
                others.entailment, others.contradiction, threshold
            )

    def plan_reviews(self, plan: PairPlan, *, all_sentences: bool) -> None:
        """Ask the reviews about every sentence, or about those that still count."""
        self.columns = np.arange(len(self.sentences))
        if not all_sentences and self.masks is not None:
            self.columns = np.flatnonzero(self.masks.counts)
        self._reviews = plan.add_product(self.review_ids, self.sentence_ids[self.columns])
        self._denied = {
            k: plan.add_product(self.review_ids, [self.denied_ids[k]])
            for k in self.columns.tolist()
            if k in self.denied_ids
        }

    def read_reviews(self, answers: PairScores, threshold: float, *, three_way: bool) -> None:
        """Lay out the answers to :meth:`plan_reviews`."""
        own = answers.take(self._reviews)
        if self._too_long(own, np.tile(self.columns, len(self.review_ids))):
            return
        self.matrix = ReviewMatrix.build(
            own,
            rows=self.review_rows,
            shape=(self.n_reviews, len(self.columns)),
            threshold=threshold,
            three_way=three_way,
        )
        for k, place in self._denied.items():
            denied = answers.take(place)
            if self._too_long(denied, np.full(len(self.review_ids), k)):
                return
            implied = metric.decisions(denied.entailment, threshold)
            self.denied_support[k] = int(np.count_nonzero(implied))

    def _too_long(self, answers: PairScores, sentence_of_pair: Ints) -> bool:
        """Whether a sentence is longer than the model reads, which then is the job's error."""
        long = np.flatnonzero(answers.flags & FLAG_TOO_LONG)
        if long.size:
            k = int(sentence_of_pair[long[0]])
            self._fail(
                f"sentence {k} ({self.sentences[k].text[:_SHOWN]!r}...) is longer than the model "
                "reads",
                "split it, or use a model with a larger limit",
            )
        return bool(long.size)

    @property
    def prevalence(self) -> float | None:
        """The score, when all answers are read; None without one."""
        if self.masks is None or self.matrix is None:
            return None
        supports = np.zeros(len(self.sentences), np.int64)
        supports[self.columns] = metric.support(self.matrix.implied)
        return metric.prevalence(supports, self.masks.counts, self.n_reviews)

    @property
    def _where(self) -> str:
        return self.product.where_of(self.summary.system)

    def _fail(self, found: str, advice: str) -> None:
        self.error = f"{self._where}: {found}; {advice}"


def scored_summary(
    job: SummaryJob, *, signature: str, soft: bool, restricted: bool = False, fields: bool = False
) -> ScoredSummary:
    """The scored summary, or the row that says why there is no score.

    Args:
        job: a job whose answers have all been read.
        signature: what produced them.
        soft: whether to compute soft prevalence, which needs every column of the matrix.
        restricted: whether to say which statements and reviews the score is restricted to.
        fields: whether the row depends on more than texts, see :func:`input_digest`.
    """
    extra = {**job.product.extra, **job.summary.extra}
    blank = ScoredSummary(
        id=job.product.id,
        system=job.summary.system,
        prevalence=None,
        n_reviews=job.n_reviews,
        review_ids=_ids(job.product.reviews),
        sentences=(),
        signature=signature,
        error=job.error,
        warning=job.nothing_left,
        restriction=_restricted_to(job) if restricted and job.error is None else None,
        input_digest=input_digest(job.product, job.summary, fields=fields),
        extra={key: value for key, value in extra.items() if key != CLAIMS},
    )
    if job.error is not None or job.masks is None or job.weights is None or job.matrix is None:
        return blank
    return replace(
        blank,
        prevalence=job.prevalence,
        profile=job.profile,
        ceiling=job.ceiling,
        soft_prevalence=metric.soft_prevalence(job.matrix.entailment, job.weights)
        if soft
        else None,
        sentences=_sentences(job, job.masks, job.matrix),
        warning=_warning(job),
    )


def _ids(reviews: Sequence[Review]) -> tuple[str | None, ...] | None:
    found = tuple(review.id for review in reviews)
    return found if any(one is not None for one in found) else None


def _sentences(
    job: SummaryJob, masks: metric.Masks, matrix: ReviewMatrix
) -> tuple[ScoredSentence, ...]:
    asked = {
        k: matrix.column(nth).spread(job.review_places, len(job.product.reviews))
        for nth, k in enumerate(job.columns.tolist())
    }
    causes = masks.redundant_with.tolist()
    against = _contradiction(job, matrix)
    return tuple(
        ScoredSentence(
            text=sentence.text,
            start=sentence.start,
            end=sentence.end,
            trivial=bool(masks.trivial[k]),
            redundant_with=None if causes[k] == metric.NOT_REDUNDANT else causes[k],
            contradicts=_contradicts(job, k),
            quantity=_quantity(job, k, asked[k].support if k in asked else None),
            evidence=None if job.evidence is None else tuple(job.evidence.get(k, ())),
            contradiction=against.get(k),
            **(asked[k]._asdict() if k in asked else {}),
        )
        for k, sentence in enumerate(job.sentences)
    )


def _contradiction(job: SummaryJob, matrix: ReviewMatrix) -> dict[int, tuple[float | None, ...]]:
    """P(contradiction) of every review, by sentence; empty where evidence was not asked for."""
    if job.evidence is None or matrix.contradiction is None:
        return {}
    found: dict[int, tuple[float | None, ...]] = {}
    for k, column in zip(job.columns.tolist(), matrix.contradiction.T.tolist(), strict=True):
        asked = dict(zip(job.review_places.tolist(), column, strict=True))
        found[k] = tuple(
            round(asked[place], SHOWN_DECIMALS) if place in asked else None
            for place in range(len(job.product.reviews))
        )
    return found


def _quantity(job: SummaryJob, k: int, support: int | None) -> dict[str, Any] | None:
    """The quantity of a sentence beside its support, where it has one that is asked about."""
    found = job.quantities[k] if job.quantities else None
    if found is None:
        return None
    from prevalence.claims.comparison import agreement

    if found.quantity.denies:
        support = job.denied_support.get(k)
    compared = agreement(found.quantity, support, job.n_reviews)
    return {**compared.to_json(), "statement": found.statement}


def _contradicts(job: SummaryJob, k: int) -> tuple[int, ...] | None:
    if job.contradicted is None:
        return None
    return tuple(np.flatnonzero(job.contradicted[:, k]).tolist())


def _restricted_to(job: SummaryJob) -> dict[str, Any]:
    return {
        "reviews": job.review_places.tolist(),
        "of_reviews": len(job.product.reviews),
        "sentences": job.sentence_places.tolist(),
        "of_sentences": job.of_sentences,
    }


def _is_json(text: str) -> bool:
    """Whether a text is JSON, within a fence or not, of more than the texts that are cut."""
    bare = text.strip() if unwrapped(text) == text else ""
    if bare.startswith("```"):
        bare = bare.strip("`").removeprefix("json").strip()
    if (bare[:1], bare[-1:]) not in {("{", "}"), ("[", "]")}:
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _warning(job: SummaryJob) -> str | None:
    empty = job.n_reviews - len(job.review_ids)
    notes = []
    if not job.sentences:
        notes.append("the summary has no sentence, so it scores 0")
    if _is_json(job.summary.text):
        notes.append("the summary is JSON, all of which is read as text: give the text in it")
    if empty:
        notes.append(
            f"{empty:,} of {counted(job.n_reviews, 'review')} empty: counted, support nothing"
        )
    return "; ".join(notes) or None
