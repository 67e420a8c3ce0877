"""The Python API: one object that scores summaries and counts support for statements."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.metric import ReviewMatrix
from prevalence.nli.cuts import CutChecker, CutCounts
from prevalence.nli.pairs import FLAG_TOO_LONG, PairPlan, PairScorer, Progress, TextTable
from prevalence.options import shared_out, takes
from prevalence.readers.given import (
    checked_name,
    checked_products,
    checked_reviews,
    checked_statements,
    checked_text,
)
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.scorers.registry import ScorerOptions, open_scorer, refuse_opening
from prevalence.scoring.engine import Engine, WorkCounts
from prevalence.scoring.options import ScoringOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prevalence.scored import ScoredSummary
    from prevalence.summarize.extract import Extract, SummaryOptions

__all__ = ["OpinionPrevalence", "StatementSupport"]


@dataclass(frozen=True, slots=True)
class StatementSupport:
    """How many and which reviews imply a statement (Malon 2023, eq. 1 alone).

    Attributes:
        statement: the statement.
        n_reviews: m, the reviews that count.
        support: number of reviews that imply it.
        supporting_reviews: their 0-based indices among all reviews.
        contradicting_reviews: reviews that contradict it; None for a scorer without that class.
        entailment: P(entailment) for each review, in [0, 1]; None for one that a condition
            leaves out.
        signature: what produced the answer.
    """

    statement: str
    n_reviews: int
    support: int
    supporting_reviews: tuple[int, ...]
    contradicting_reviews: tuple[int, ...] | None
    entailment: tuple[float | None, ...]
    signature: str

    @property
    def share(self) -> float:
        """Support as a share of the reviews, in [0, 1]."""
        return self.support / self.n_reviews

    def to_frame(self) -> Any:
        """The reviews' answers as a pandas data frame, one a row.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        from prevalence.notebook import data_frame

        against = self.contradicting_reviews
        return data_frame(
            {
                "review": place,
                "entailment": probability,
                "supports": None if probability is None else place in self.supporting_reviews,
                "contradicts": None if against is None or probability is None else place in against,
            }
            for place, probability in enumerate(self.entailment)
        )

    def _repr_html_(self) -> str:
        """The counts, as notebooks show them."""
        from prevalence.notebook import Share, html_table

        against = self.contradicting_reviews
        row = (self.statement, Share(self.support, self.n_reviews),
               None if against is None else len(against))  # fmt: skip
        headers = ("statement", "support", "against")
        return html_table("Support", headers, [row], foot=self.signature)

    def to_json(self) -> dict[str, Any]:
        """The answer as a JSON object."""
        against = self.contradicting_reviews
        return {
            "statement": self.statement,
            "n_reviews": self.n_reviews,
            "support": self.support,
            "supporting_reviews": list(self.supporting_reviews),
            "contradicting_reviews": None if against is None else list(against),
            "entailment": list(self.entailment),
            "signature": self.signature,
        }


class OpinionPrevalence:
    """Opinion prevalence with one model and one set of options.

    Args:
        model: ``embedded`` (ships with the package), a registered name, a checkpoint folder, a
            hub name, or another consistency scorer's name. None is the calibration's scorer, and
            ``embedded`` without one.
        scorer: a ready :class:`~prevalence.nli.pairs.PairScorer`, in place of ``model`` and
            the options that concern it, which are refused beside it. One of your own is a class
            derived from it which gives ``PairScorer.__init__`` its
            :class:`~prevalence.nli.pairs.ScorerTraits` and answers pairs in ``score``.
        preset: a name of :data:`~prevalence.scoring.presets.PRESETS`, whose options hold where
            none are given.
        options: fields of :class:`~prevalence.scoring.options.ScoringOptions` and of
            :class:`~prevalence.scorers.registry.ScorerOptions`, which say what each does.

    An object can be pickled, as multiprocessing, joblib, Spark and Dask do: the copy is made anew
    with the same arguments, so that it opens the model where it is unpickled, and counts from 0.
    A given ``scorer`` is pickled along, if it can be; a model is best given by name.

    Raises:
        PrevalenceError: a model or option is unknown or unusable; the message says what to do.
    """

    @takes(ScoringOptions, ScorerOptions)
    def __init__(
        self,
        model: str | None = None,
        *,
        scorer: PairScorer | None = None,
        preset: str | None = None,
        **options: Any,
    ) -> None:
        self._arguments = {"model": model, "scorer": scorer, "preset": preset, **options}
        given = options if model is None else {**options, "model": model}
        if scorer is not None:
            refuse_opening(given)
            # It answers in place of the model of a preset.
            given["model"] = type(scorer).__name__
        if preset is not None:
            from prevalence.scoring.presets import preset_options

            given = preset_options(preset, given)
        scoring, opening = shared_out(given, ScoringOptions, ScorerOptions)
        known = ScoringOptions(**scoring)
        self._engine = Engine(open_scorer(**opening) if scorer is None else scorer, known)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._arguments), ()

    def __copy__(self) -> Self:
        # Within a process the model is shared, and any scorer can be.
        return self._with(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._with(deepcopy(self.__dict__, memo))

    def _with(self, state: Mapping[str, Any]) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update(state)
        return made

    @property
    def signature(self) -> str:
        """Signature of scores of products that have a name."""
        return self._engine.signature()

    @property
    def threshold(self) -> float:
        """Entailment is decided above this probability."""
        return self._engine.threshold

    @property
    def calibrated(self) -> bool:
        """Whether the threshold was calibrated or chosen, and not only assumed to be 0.5."""
        return self._engine.calibrated

    @property
    def counts(self) -> WorkCounts:
        """Pairs asked for, avoided and truncated since this object was made."""
        return self._engine.counts

    @property
    def cuts(self) -> CutCounts:
        """What the model's limit cut since this object was made.

        With ``check_cuts=True`` it also has what windows would change. It is a copy, so that
        ``metric.cuts - before`` is about the calls since ``before = metric.cuts``.
        """
        counts, scorer = self._engine.counts, self._engine.scorer
        checked = isinstance(scorer, CutChecker)
        return CutCounts(
            pairs=counts.truncated,
            premises=counts.cut_premises,
            reread=scorer.counts.reread if checked else None,
            turned=scorer.counts.reread_turned if checked else None,
        )

    def score(
        self,
        reviews: Sequence[str | Review | Mapping[str, Any]],
        summary: str,
        *,
        name: str | None = None,
        profile: bool | None = None,
    ) -> ScoredSummary:
        """Score one summary of one product.

        Args:
            reviews: m ≥ 1 reviews.
            summary: the summary.
            name: product name that fits "I bought a {name}."; None for no trivial mask.
            profile: whether to give coverage and the other figures of the profile; None as the
                options of this object say.

        Returns:
            The scored summary, with every sentence's support and masks. Where a condition leaves
            nothing, its prevalence is None and its warning says why.

        Raises:
            InputError: there is no review, a text is not a string, or the summary cannot be
                scored.
        """
        product = Product(
            id="summary",
            name=checked_name(name),
            reviews=checked_reviews(reviews),
            summaries=(Summary("summary", checked_text(summary, "the summary")),),
        )
        row = next(self.score_many([product], profile=profile))
        if row.error is not None:
            raise InputError(row.error)
        return row

    def score_many(
        self,
        records: Iterable[Product | Mapping[str, Any]],
        *,
        profile: bool | None = None,
        progress: Progress | None = None,
    ) -> Iterator[ScoredSummary]:
        """Score many products, in order, batch by batch.

        Batches are for speed: records are read until they make four units of the model's work
        (8,192 pairs for ``embedded`` on a CPU, 32,768 for ``rouge1-precision``), 4,096 summaries or
        32 million characters of reviews, whichever comes first. The first row of a batch comes when
        all of it is scored, and the next batch is read when all its rows are taken. Genericness
        needs to read all records first.

        Args:
            records: products, or mappings in the input-record form (``id``, ``name``,
                ``reviews``, ``summaries`` or ``summary``), such as a data set of Hugging Face.
            profile: as :meth:`score` takes it.
            progress: called with the number of pairs just scored.

        Yields:
            One scored summary for each summary; one with ``error`` set, and no score, for a
            record that cannot be scored. Scores do not depend on how records are batched.

        Raises:
            InputError: the records are a name of a file, or a single record.
        """
        items: Iterable[Product | BadRecord] = checked_products(records)
        options = self._engine.options
        if profile is not None and profile != options.profile:
            options = replace(options, profile=profile, groups=None, others=None)
        others = None
        if options.others is not None:
            from prevalence.scoring.others import OtherProducts

            items = list(items)
            others = OtherProducts.of(items, most=options.others)
        for row in self._engine.beside(options, others).run(items, progress=progress):
            self._engine.warn_foreign()
            yield row

    def support(
        self,
        reviews: Sequence[str | Review | Mapping[str, Any]],
        statements: Sequence[str],
        *,
        progress: Progress | None = None,
    ) -> list[StatementSupport]:
        """Count the reviews that imply each statement; no statement is split or masked.

        ``reviews_where`` and ``first_reviews`` of this object say which reviews count.

        Args:
            reviews: m ≥ 1 reviews.
            statements: one or more claims, each taken as it is.
            progress: called with the number of pairs just scored.

        Returns:
            One answer a statement, in order.

        Raises:
            InputError: no review, none that satisfies the condition, or a statement that is empty
                or longer than the model reads.
            ConfigurationError: the options of this object restrict statements.
        """
        restriction = self._engine.options.restriction
        if restriction.statements is not None:
            raise ConfigurationError(
                "support takes every statement that it is given: remove the condition on "
                "statements (statements_where)"
            )
        given = checked_reviews(reviews)
        claims = checked_statements(statements)
        left = restriction.reviews_left(Product("reviews", given, ()))
        if left.reason is not None:
            raise InputError(left.reason)
        places = np.asarray(left.places, np.int64)
        texts = [given[place].text for place in left.places]
        matrix = self._matrix(texts, claims, progress)
        signature = self._engine.pair_signature()
        return [
            StatementSupport(
                statement=claim,
                n_reviews=len(texts),
                signature=signature,
                **matrix.column(k).spread(places, len(given))._asdict(),
            )
            for k, claim in enumerate(claims)
        ]

    def summarize(
        self,
        reviews: Sequence[str | Review | Mapping[str, Any]],
        options: SummaryOptions | None = None,
        *,
        name: str | None = None,
        progress: Progress | None = None,
    ) -> Extract:
        """Make a summary of sentences of the reviews.

        Args:
            reviews: m ≥ 1 reviews.
            options: how to choose; five sentences by exact greedy search when None.
            name: product name that fits "I bought a {name}."; None for no trivial mask.
            progress: called with the number of pairs just scored.

        Returns:
            The sentences with their sources and supports, and what is known of the choice.

        Raises:
            InputError: there is no review or no sentence, or a text is not a string.
            ConfigurationError: the options ask what this model cannot tell.
        """
        from prevalence.summarize.extract import SummaryOptions
        from prevalence.summarize.summarizer import Summarizer

        if not isinstance(options, SummaryOptions | None):
            raise ConfigurationError(f"the options are {options!r}: give SummaryOptions(...)")
        summarizer = Summarizer(options or SummaryOptions(), engine=self._engine)
        return summarizer.summarize(
            checked_reviews(reviews), name=checked_name(name), progress=progress
        )

    def _matrix(
        self, reviews: Sequence[str], statements: Sequence[str], progress: Progress | None
    ) -> ReviewMatrix:
        """Every review asked about every statement; an empty review implies nothing."""
        table, plan = TextTable(), PairPlan()
        read = list(map(self._engine.read, reviews))
        rows = [row for row, text in enumerate(read) if text.strip()]
        filled = table.add_all(read[row] for row in rows)
        plan.add_product(filled, table.add_all(statements))
        answers = self._engine.answer(table, plan, progress=progress)
        long = np.flatnonzero(answers.flags & FLAG_TOO_LONG)
        if long.size:
            place = int(long[0]) % len(statements)
            raise InputError(f"statement {place} is longer than the model reads; shorten it")
        return ReviewMatrix.build(
            answers,
            rows=np.asarray(rows, np.int64),
            shape=(len(reviews), len(statements)),
            threshold=self._engine.threshold,
            three_way=self._engine.scorer.traits.three_way,
        )
