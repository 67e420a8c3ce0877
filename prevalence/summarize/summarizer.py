"""Reviews in, a summary made of their sentences out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.signature import build_signature, statement_of, trivial_template, with_parts
from prevalence.summarize.candidates import Candidates, has_content, number_of
from prevalence.summarize.extract import Extract, ExtractedSentence, SummaryOptions
from prevalence.summarize.greedy import FEW, greedy
from prevalence.summarize.questions import Calls, PairJudge
from prevalence.summarize.rivals import centroid_order, drawn, leading, lexrank_scores
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prevalence.nli.pairs import Progress
    from prevalence.records import Review
    from prevalence.scorers.cosine import Encoder
    from prevalence.scoring.engine import Engine

__all__ = ["Summarizer"]


class Summarizer:
    """Makes summaries of reviews with one set of options.

    Args:
        options: how to choose sentences.
        engine: answers pairs, splits and names the product statement as it does in scoring;
            only greedy needs one.
        splitter: cuts reviews into sentences, for methods without an engine.
        encoder: checkpoint whose encoder the centroid method uses, loaded when first asked.
        device: where that encoder runs.

    Attributes:
        options: as given.
        splitter: what cuts reviews into sentences.

    Raises:
        ConfigurationError: greedy without an engine.
    """

    def __init__(
        self,
        options: SummaryOptions,
        *,
        engine: Engine | None = None,
        splitter: str = "punkt-en",
        encoder: str = "embedded",
        device: str = "auto",
    ) -> None:
        if options.needs_model and engine is None:
            raise ConfigurationError("greedy counts support: give it an engine with a model")
        if engine is not None and engine.options.restriction:
            raise ConfigurationError(
                "a summary is made of all reviews: remove the conditions on statements and "
                "reviews, or filter the reviews first"
            )
        self.options = options
        self._engine = engine
        self._split_name = splitter if engine is None else engine.options.splitter
        self.splitter = get_splitter(self._split_name)
        self._encoder_options = encoder, device

    @cached_property
    def _encoder(self) -> Encoder:
        from prevalence.scorers.cosine import Encoder

        model, device = self._encoder_options
        return Encoder(model.removeprefix("nli:"), device=device)

    def signature(self, options: SummaryOptions, *, named: bool) -> str:
        """What produces a summary of a product with or without a name."""
        if options.needs_model and self._engine is not None:
            return with_parts(self._engine.signature(named=named), options.signature)
        parts = {"split": self._split_name, **options.signature}
        if options.method == "centroid":
            parts["encoder"] = self._encoder.name
        return build_signature(parts)

    def summarize(
        self,
        reviews: Sequence[Review],
        *,
        name: str | None = None,
        options: SummaryOptions | None = None,
        progress: Progress | None = None,
    ) -> Extract:
        """Make a summary of one product's reviews.

        Args:
            reviews: m ≥ 1 reviews.
            name: product name for the statement that trivial sentences follow from, or None.
            options: in place of the summarizer's own, with the same method.
            progress: called with the number of pairs just scored.

        Raises:
            InputError: no review, or none with a sentence or with the rewriting asked for.
        """
        options = options or self.options
        texts = _texts(reviews, options)
        candidates = self._candidates(texts, options)
        task = _Task(texts, candidates, options, self.signature(options, named=name is not None))
        if options.needs_model and self._engine is not None:
            return _greedy(task, _judge(self._engine, task, name, progress))
        return self._rival(task)

    def check(self, reviews: Sequence[Review]) -> None:
        """Whether there is anything to make a summary of.

        Raises:
            InputError: there is not.
        """
        self._candidates(_texts(reviews, self.options), self.options)

    def _candidates(self, texts: Sequence[str], options: SummaryOptions) -> Candidates:
        candidates = Candidates.of(
            texts, self.splitter, close=options.close, says=has_content if options.filters else None
        )
        if not candidates.places and candidates.left_out:
            raise InputError(
                "the reviews hold only fragments and exclamations without content; take them too "
                "with --fragments"
            )
        if not candidates.places:
            raise InputError("the reviews hold no sentence to make a summary of")
        return candidates

    def _rival(self, task: _Task) -> Extract:
        length, owners = task.options.length, task.candidates.in_source_order()
        enough = length.exceeded if task.options.method == "random" else length.reached
        taken: list[ExtractedSentence] = []
        for rank in self._order(task):
            if enough([len(sentence.text) for sentence in taken]):
                break
            taken.append(task.sentence(rank, owners[rank], None))
        return Extract(
            sentences=tuple(taken),
            n_reviews=len(task.texts),
            delta=None,
            calls=Calls(),
            full_matrix=0,
            matrix=None,
            signature=task.signature,
        )

    def _order(self, task: _Task) -> Iterable[int]:
        """Places in the order in which a method takes them."""
        method, candidates = task.options.method, task.candidates
        if method == "random":
            return drawn(candidates, [task.options.seed, number_of(task.texts)])
        if method == "lead":
            return leading(candidates)
        firsts = candidates.first_ranks
        if method == "lexrank":
            order = np.argsort(-lexrank_scores(candidates.texts), kind="stable")
            return list(firsts[order].tolist())
        vectors = self._encoder.embed(candidates.texts).vectors
        weights = np.asarray([len(found) for found in candidates.ranks], np.float64)
        return (int(firsts[k]) for k in centroid_order(vectors, weights))


@dataclass(frozen=True, slots=True)
class _Task:
    """One product's reviews and how to summarise them."""

    texts: Sequence[str]
    candidates: Candidates
    options: SummaryOptions
    signature: str

    def sentence(self, rank: int, candidate: int, support: int | None) -> ExtractedSentence:
        """The candidate at a place."""
        text, place = self.candidates.texts[candidate], self.candidates.places[rank]
        return ExtractedSentence(text, *place, support)


def _judge(engine: Engine, task: _Task, name: str | None, progress: Progress | None) -> PairJudge:
    template, _ = trivial_template(engine.options.trivial)
    return PairJudge(
        partial(engine.answer, progress=progress),
        reviews=list(map(engine.read, task.texts)),
        sentences=task.candidates.texts,
        statement=statement_of(template, name),
        threshold=engine.threshold,
        three_way=engine.scorer.traits.three_way,
    )


def _greedy(task: _Task, judge: PairJudge) -> Extract:
    options = task.options
    picks = greedy(
        judge,
        task.candidates,
        options.length,
        delta=options.delta,
        seed=options.seed,
        refuse_contradictions=options.refuse_contradictions,
    )
    return Extract(
        sentences=tuple(task.sentence(p.rank, p.candidate, p.support) for p in picks),
        n_reviews=len(task.texts),
        delta=options.delta if len(judge.rows) >= FEW else 0.0,
        calls=judge.calls,
        full_matrix=len(judge.rows) * len(task.candidates),
        matrix=judge.matrix([pick.candidate for pick in picks]),
        signature=task.signature,
        left_out=task.candidates.left_out,
    )


def _texts(reviews: Sequence[Review], options: SummaryOptions) -> list[str]:
    if not options.simplified:
        return [review.text for review in reviews]
    found = [review.simplified for review in reviews]
    if None in found:
        raise InputError(
            f"review {found.index(None)} has no rewriting: make one with `prevalence simplify`, "
            "or leave out --simplified"
        )
    return [text for text in found if text is not None]
