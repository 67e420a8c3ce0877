"""Products in, scored summaries out: chunks of products, waves of pairs, masks, scores.

Exact early stopping: the first wave asks only what masks a sentence (the product statement and
earlier sentences), the second asks the reviews about the sentences that still count. Both waves
run over all products of a chunk at once, so that batches stay full. A chunk ends with the product
that fills it: a product is never cut, since its summaries share its texts and its ceiling.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from prevalence.errors import ConfigurationError, warn_caller
from prevalence.metric import near
from prevalence.models.registry import SHIPPED
from prevalence.nli.pairs import (
    FLAG_TRUNCATED,
    PairPlan,
    PairScorer,
    PairScores,
    Progress,
    ScorerCounts,
    TextTable,
    checked_scorer,
)
from prevalence.records import BadRecord, Product, Summary, input_digest
from prevalence.runs.resuming import Mark, summary_marks
from prevalence.runs.running import until_failure
from prevalence.scored import ScoredSummary
from prevalence.scoring.job import SummaryJob, scored_summary
from prevalence.scoring.options import ScoringOptions
from prevalence.scoring.signing import score_parts, signed_threshold
from prevalence.scoring.units import CUTTERS, Units, cutter_of
from prevalence.scoring.unread_values import UnreadValues
from prevalence.signature import build_signature, trivial_template
from prevalence.stats.correction import corrected_share
from prevalence.text.languages import clearly_foreign, probably_english
from prevalence.text.sentences import NLTK_PUNKT, VERBATIM, get_splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prevalence.records import Review
    from prevalence.scoring.ceiling import Ceilings
    from prevalence.scoring.others import OtherProducts
    from prevalence.scoring.profile import Profiles
    from prevalence.stats.arrays import Ints
    from prevalence.stats.correction import ErrorRates

    _Ask = Callable[[TextTable, PairPlan], PairScores]

__all__ = ["Engine", "ScoringOptions", "WorkCounts"]

_CHUNK_UNITS = 4
_CHUNK_CHARACTERS = 32_000_000
_CHUNK_RECORDS = 4_096
_SAME_THRESHOLD = 1e-6
"""Two thresholds that differ by less are the same, written with more digits or fewer."""
_READ, _READ_REVIEWS = 500, 8
"""Characters of a review, and reviews, that tell a product's language; all of them are read."""
_NAMED = 3
"""Most products in another language that are named."""


@dataclass(slots=True)
class WorkCounts:
    """Work asked for, avoided and done, over a run.

    Attributes:
        naive: pairs that the equations name, one summary at a time.
        planned: pairs asked for after early stopping.
        unique: distinct pairs among them, within a wave of a chunk.
        ceiling_most: pairs of reviews and their sentences that ceilings could have asked for.
        ceiling_asked: pairs of these that they did ask for; no part of ``planned``.
        profile_asked: pairs that profiles asked for; likewise.
        truncated: distinct pairs within a wave whose premise was cut.
        cut_premises: distinct premises among them, within a chunk.
        doubtful: distinct pairs within a wave so near the threshold that float32 may decide
            otherwise; 0 for a scorer in float32.
        scored: summaries with a score.
        failed: rows with an error, those of ``unread`` among them.
        unread: records that could not be read, so that their systems are not known.
        nothing_left: rows without a score because the restriction leaves nothing.
        unnamed: scored summaries of products without a name, so without a trivial mask.
        warned: scored summaries with a warning.
        foreign: products that are probably not in English, where the model or the splitter is for
            English.
        reviews: reviews of the other products that count, where that is so.
        foreign_reviews: those of them that are clearly not in English.
        given: reviews of products, where a condition or a number says which of them count.
        kept: those of them that count.
    """

    naive: int = 0
    planned: int = 0
    unique: int = 0
    ceiling_most: int = 0
    ceiling_asked: int = 0
    profile_asked: int = 0
    truncated: int = 0
    cut_premises: int = 0
    doubtful: int = 0
    scored: int = 0
    failed: int = 0
    unread: int = 0
    nothing_left: int = 0
    unnamed: int = 0
    warned: int = 0
    foreign: int = 0
    reviews: int = 0
    foreign_reviews: int = 0
    given: int = 0
    kept: int = 0

    def add_row(self, row: ScoredSummary, *, named: bool) -> None:
        """Count a row of the output."""
        if row.error is not None:
            self.failed += 1
            return
        if row.prevalence is None:
            self.nothing_left += 1
            return
        self.scored += 1
        self.unnamed += not named
        self.warned += row.warning is not None


@dataclass(slots=True)
class _Chunk:
    """Jobs and bad records in input order, over one table of texts."""

    texts: TextTable
    entries: list[SummaryJob | BadRecord] = field(default_factory=list)
    pairs: int = 0
    characters: int = 0

    @property
    def jobs(self) -> list[SummaryJob]:
        return [entry for entry in self.entries if isinstance(entry, SummaryJob)]

    def is_full(self, pairs: int) -> bool:
        return (
            self.pairs >= pairs
            or self.characters >= _CHUNK_CHARACTERS
            or len(self.entries) >= _CHUNK_RECORDS
        )


class Engine:
    """Scores streams of products with one scorer.

    Args:
        scorer: answers pairs.
        options: how to score.
        new_table: gives the table of texts of each chunk; one that gives the same table again
            spares the scorer the texts that it holds already.
        others: products that genericness compares with, where the options ask for it.

    Attributes:
        counts: work asked for, avoided and done so far.
        foreign: ids of the first products that are probably not in English.
        unread: values of reviews that could not be read as the options ask.
        error_rates: those that scores are corrected for, or None.

    Raises:
        ConfigurationError: the scorer does not keep its contract, or soft prevalence of scores
            that are no probabilities.
    """

    def __init__(
        self,
        scorer: PairScorer,
        options: ScoringOptions | None = None,
        *,
        new_table: Callable[[], TextTable] = TextTable,
        others: OtherProducts | None = None,
    ) -> None:
        self.options = options or ScoringOptions()
        self._new_table = new_table
        self.count_anew()
        own = checked_scorer(scorer).traits
        chosen = self.options.threshold
        # A number of NumPy would be named as such in the signature.
        self.threshold = float(own.threshold if chosen is None else chosen)
        self.scorer = scorer.at(self.threshold)
        self._others = others
        self._signatures: dict[tuple[bool, str | None], str] = {}
        self._warned = False
        self._cut: WeakKeyDictionary[TextTable, set[int]] = WeakKeyDictionary()
        self._splitter = get_splitter(self.options.splitter)
        verbatim = self.options.splitter in VERBATIM
        self._units = Units(self.options.unit, self._splitter, verbatim, self.options.max_sentences)
        self._template, _ = trivial_template(self.options.trivial)
        self._restriction = self.options.restriction
        self._reads_fields = self.options.reads_fields
        models = "+".join(own.signature.get(key, "") for key in ("nli", "encoder")).split("+")
        english = any(model.partition("@")[0] in SHIPPED for model in models)
        if english and self.options.language != "en" and not self.options.any_language:
            raise ConfigurationError(
                "the embedded models were made for English, and the language is "
                f"{self.options.language}: give a model of that language (model= or --model), or "
                "score it anyway (any_language=True or --any-language)"
            )
        self._english = english or self.options.splitter.endswith("-en")
        if self.options.soft and not own.probability:
            raise ConfigurationError(
                "soft prevalence needs probabilities, and this scorer gives (1 + s)/2 of a measure "
                "s in [-1, 1]: leave it out, or calibrate the scorer with `prevalence calibrate "
                "--map platt`"
            )
        self.error_rates = self._known_rates() if self.options.corrected else None

    def count_anew(self) -> None:
        """Forget what was counted: work, values that could not be read, foreign products."""
        self.counts = WorkCounts()
        self.unread = UnreadValues(self.options)
        self.foreign: list[str] = []
        # Parts of one record share their reviews, which count once.
        self._chosen: Sequence[Review] | None = None
        self._judged: Sequence[Review] | None = None

    def _known_rates(self) -> ErrorRates:
        """The error rates of the scorer at this threshold.

        Raises:
            ConfigurationError: they are not known, or those of another threshold.
        """
        rates = self.scorer.traits.errors
        if rates is None:
            raise ConfigurationError(
                "a corrected score needs a scorer whose error rates are measured as it reads: "
                "leave out max_length and windows, or choose a model for which `prevalence models "
                "MODEL` shows rates; or measure them on pairs of several products with `prevalence "
                "calibrate --output`, and give that file as calibration"
            )
        if abs(rates.threshold - self.threshold) > _SAME_THRESHOLD:
            raise ConfigurationError(
                f"the scorer's error rates hold at its own threshold {rates.threshold:g}, and "
                f"{self.threshold:g} was asked for: leave the threshold out, or the correction"
            )
        return rates

    def beside(self, options: ScoringOptions, others: OtherProducts | None = None) -> Engine:
        """An engine with other options, which shares the scorer and counts its work here."""
        engine = Engine(self.scorer, options, new_table=self._new_table, others=others)
        engine.counts, engine._cut, engine.foreign = self.counts, self._cut, self.foreign
        return engine

    def signature(self, *, named: bool = True, cutter: str | None = None) -> str:
        """The signature of scores of products.

        Args:
            named: whether they have a name.
            cutter: where their claims come from, where claims are counted; see
                :data:`prevalence.scoring.units.CUTTERS`.
        """
        key = named, cutter or CUTTERS[self.options.unit][0]
        if key not in self._signatures:
            told = score_parts(
                self.options,
                self.threshold,
                rates=self.error_rates,
                others=self._others,
                named=named,
                cutter=key[1],
            )
            self._signatures[key] = build_signature({**self.scorer.traits.signature, **told})
        return self._signatures[key]

    def read(self, review: str) -> str:
        """What models read of a review, see :meth:`prevalence.scoring.units.Units.read`."""
        return self._units.read(review)

    def pair_signature(self) -> str:
        """The signature of answers about pairs alone: nothing is split or masked."""
        told = {
            "thr": signed_threshold(self.options, self.threshold),
            **self._restriction.signature,
        }
        return build_signature({**self.scorer.traits.signature, **told})

    @property
    def calibrated(self) -> bool:
        """Whether the threshold was calibrated or chosen, and not only assumed."""
        chosen = self.options.threshold is not None
        return chosen or self.scorer.traits.calibrated

    @property
    def cached(self) -> bool:
        """Whether a cache keeps the scorer's answers."""
        return self.scorer.traits.cached

    @property
    def scorer_counts(self) -> ScorerCounts:
        """What the scorer did so far."""
        return self.scorer.counts

    def digest_of(self, product: Product, summary: Summary) -> str:
        """The digest of the input that the row of a summary carries."""
        return input_digest(product, summary, fields=self._reads_fields)

    def marks(self, item: Product | BadRecord) -> list[Mark]:
        """What tells the rows of an item from those of other input or other settings."""
        return summary_marks(item, self.signature_of(item), self.digest_of)

    def signature_of(self, item: Product | BadRecord) -> str:
        """The signature of an item's rows; a bad record's is that of a named product."""
        if isinstance(item, BadRecord):
            return self.signature()
        cutter = cutter_of(self.options.unit, item)
        return self.signature(named=item.name is not None, cutter=cutter)

    def run(
        self,
        items: Iterable[Product | BadRecord],
        *,
        progress: Progress | None = None,
        planned: Callable[[int], None] | None = None,
        announced: Callable[[int], None] | None = None,
    ) -> Iterator[ScoredSummary]:
        """Score the summaries of products, in input order.

        Args:
            items: products; a bad record becomes a row that says what is wrong with it.
            progress: called with the number of pairs just scored.
            planned: called with the number of pairs that a wave is about to score.
            announced: called with the most pairs that the ceilings of a chunk may ask, before
                anything of the chunk is scored.

        Yields:
            One scored summary for each summary and bad record. When the input fails, what was
            read before is scored first and the failure raised then.

        Raises:
            ConfigurationError: genericness is asked for, and the engine knows no other products.
        """
        if self.options.others is not None and self._others is None:
            raise ConfigurationError(
                "genericness compares with other products: give the engine all of them"
            )
        ask = partial(self.answer, progress=progress, planned=planned)
        for chunk in self._chunks(items):
            ceilings = self._ceilings(chunk, ask) if self.options.ceiling else None
            if ceilings is not None:
                most = ceilings.most_pairs(chunk.jobs)
                self.counts.ceiling_most += most
                if announced is not None and most:
                    announced(most)
            self._score_chunk(chunk, ask)
            with self._apart():
                if ceilings is not None:
                    self.counts.ceiling_asked += ceilings.set_on(chunk.jobs)
                if self.options.profile:
                    profiles = self._profiles(chunk, ask)
                    self.counts.profile_asked += profiles.set_on(chunk.jobs)
                if self.options.evidence:
                    self._find_evidence(chunk, ask)
            for entry in chunk.entries:
                yield self._row(entry)

    def _chunks(self, items: Iterable[Product | BadRecord]) -> Iterator[_Chunk]:
        limit = _CHUNK_UNITS * self.scorer.traits.work_unit
        chunk = _Chunk(self._new_table())
        failure: list[Exception] = []
        for item in until_failure(items, failure):
            self._admit(chunk, item)
            if chunk.is_full(limit):
                yield chunk
                chunk = _Chunk(self._new_table())
        if chunk.entries:
            yield chunk
        for error in failure:
            raise error

    def _admit(self, chunk: _Chunk, item: Product | BadRecord) -> None:
        if isinstance(item, BadRecord):
            chunk.entries.append(item)
            return
        self.unread.add(item)
        chunk.characters += sum(len(review.text) for review in item.reviews)
        if self._restriction.chooses_reviews and item.reviews is not self._chosen:
            self._chosen = item.reviews
            self.counts.given += len(item.reviews)
            self.counts.kept += len(self._restriction.reviews_left(item).places)
        if self._english:
            self._judge_language(item)
        read = cache(self._units.read)
        for summary in item.summaries:
            job = SummaryJob.build(
                item,
                summary,
                texts=chunk.texts,
                splitter=self._units.of_summary(item, summary),
                template=self._template,
                max_sentences=self.options.max_sentences,
                # The program of the paper's authors counts them too.
                wordless=self.options.splitter == NLTK_PUNKT,
                restriction=self._restriction,
                quantity_of=self._units.quantities(item, summary)
                if self.options.quantities
                else None,
                asked=self._units.asked,
                read=read,
            )
            chunk.entries.append(job)
            chunk.pairs += job.naive_pairs
            self.counts.naive += job.naive_pairs

    def _judge_language(self, item: Product) -> None:
        """Count a product that is probably not in English, or such reviews of another one."""
        read = " ".join(review.text[:_READ] for review in item.reviews[:_READ_REVIEWS])
        texts = (read, *(summary.text for summary in item.summaries))
        if not all(map(probably_english, texts)):
            self.counts.foreign += 1
            add_name(self.foreign, item.id)
        elif item.reviews is not self._judged:
            self._judged = item.reviews
            left = self._restriction.reviews_left(item).places
            self.counts.reviews += len(left)
            self.counts.foreign_reviews += sum(
                clearly_foreign(item.reviews[place].text[:_READ]) for place in left
            )

    def warn_foreign(self) -> None:
        """Warn once that texts do not look English, for callers that read no counts."""
        if self.foreign and not self._warned and not self.options.any_language:
            self._warned = True
            warn_caller(
                f"{self.foreign[0]}: the reviews or a summary are probably not in English, which "
                "the model or the splitter was made for: give model= and language= of their "
                "language, or score them anyway with any_language=True"
            )

    def _score_chunk(self, chunk: _Chunk, ask: _Ask) -> None:
        everything = self.options.full_matrix or self.options.soft
        jobs = [job for job in chunk.jobs if job.open]
        plan = PairPlan()
        for job in jobs:
            job.plan_masks(plan)
            if everything:
                job.plan_reviews(plan, all_sentences=True)
        answers = ask(chunk.texts, plan)
        for job in jobs:
            job.read_masks(answers, self.threshold, three_way=self.scorer.traits.three_way)
        if not everything:
            plan = PairPlan()
            jobs = [job for job in jobs if job.open]
            for job in jobs:
                job.plan_reviews(plan, all_sentences=False)
            answers = ask(chunk.texts, plan)
        for job in jobs:
            job.read_reviews(answers, self.threshold, three_way=self.scorer.traits.three_way)

    def _ceilings(self, chunk: _Chunk, ask: _Ask) -> Ceilings:
        from prevalence.scoring.ceiling import Ceilings

        return Ceilings(
            ask=ask,
            texts=chunk.texts,
            splitter=self._splitter,
            read=self._units.read,
            template=self._template,
            threshold=self.threshold,
            three_way=self.scorer.traits.three_way,
            statements=self._restriction.statements,
        )

    def _profiles(self, chunk: _Chunk, ask: _Ask) -> Profiles:
        from prevalence.scoring.profile import Profiles

        return Profiles(
            ask=ask,
            texts=chunk.texts,
            units=self._units,
            options=self.options,
            threshold=self.threshold,
            others=self._others,
        )

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Pairs asked meanwhile are no part of those that the equations of a score name."""
        before = self.counts.planned, self.counts.unique
        try:
            yield
        finally:
            self.counts.planned, self.counts.unique = before

    def _find_evidence(self, chunk: _Chunk, ask: _Ask) -> None:
        from prevalence.scoring.evidence import PassageSearch

        search = PassageSearch(
            ask=ask,
            texts=chunk.texts,
            splitter=self._splitter,
            three_way=self.scorer.traits.three_way,
        )
        search.set_on(chunk.jobs)

    def answer(
        self,
        texts: TextTable,
        plan: PairPlan,
        *,
        progress: Progress | None = None,
        planned: Callable[[int], None] | None = None,
    ) -> PairScores:
        """Score a plan's distinct pairs and count the work.

        Args:
            texts: the table that the plan's numbers refer to.
            plan: the requests.
            progress: called with the number of pairs just scored.
            planned: called with the number of distinct pairs.

        Returns:
            Answers in the order of the requests; index them with the slices of ``plan.add``.
        """
        pairs, back = plan.unique()
        if planned is not None:
            planned(len(pairs))
        scores = self.scorer.score(texts, pairs, progress=progress)
        self.counts.planned += len(plan)
        self.counts.unique += len(pairs)
        self._count_cuts(texts, pairs[(scores.flags & FLAG_TRUNCATED) > 0, 0])
        doubt = self.scorer.traits.doubt
        self.counts.doubtful += int(near(scores.entailment, self.threshold, doubt).sum())
        return scores.take(back)

    def _count_cuts(self, texts: TextTable, premises: Ints) -> None:
        """Count pairs with a cut premise, and premises that no earlier call has found cut."""
        self.counts.truncated += len(premises)
        known = self._cut.setdefault(texts, set())
        before = len(known)
        known.update(premises.tolist())
        self.counts.cut_premises += len(known) - before

    def _row(self, entry: SummaryJob | BadRecord) -> ScoredSummary:
        if isinstance(entry, BadRecord):
            self.counts.failed += 1
            self.counts.unread += entry.system is None
            return ScoredSummary(
                id=entry.id,
                system=entry.system,
                prevalence=None,
                n_reviews=0,
                sentences=(),
                signature=self.signature_of(entry),
                error=entry.error,
                extra=entry.extra,
            )
        signature = self.signature_of(entry.product)
        row = scored_summary(
            entry,
            signature=signature,
            soft=self.options.soft,
            restricted=bool(self._restriction),
            fields=self._reads_fields,
        )
        if self.error_rates is not None and row.prevalence is not None:
            # Empty reviews are not asked: they support nothing, and nothing wrongly.
            most = row.counting * len(entry.review_ids) / entry.n_reviews
            rates = self.error_rates
            share = corrected_share(row.prevalence, rates.sensitivity, rates.specificity, most=most)
            row = replace(row, corrected=share, corrected_most=most)
        self.counts.add_row(row, named=entry.product.name is not None)
        return row


def add_name(names: list[str], name: str) -> None:
    """Add a name that is new, while there are few of them."""
    if name not in names and len(names) < _NAMED:
        names.append(name)
