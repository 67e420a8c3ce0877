"""The reward function: what a training loop calls with completions and the columns of its data."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, Self, TypeGuard

from prevalence.errors import ConfigurationError
from prevalence.options import finite, shared_out, takes
from prevalence.records import BadRecord
from prevalence.rewards.batch import BatchScorer, Outcome, Sample, Tally
from prevalence.rewards.shaping import Shaping
from prevalence.scorers.registry import ScorerOptions, refuse_opening
from prevalence.scoring.options import ScoringOptions
from prevalence.signature import with_parts

if TYPE_CHECKING:
    from prevalence.nli.pairs import PairScorer
    from prevalence.scored import ScoredSentence, ScoredSummary

__all__ = ["AsyncReward", "PrevalenceReward"]

LogMetric = Callable[[str, float], None]
LogExtra = Callable[[str, list[Any]], None]

DEFAULT_NAME_COLUMN = "name"
MOST_SENTENCES = 100
"""Far above any summary: a policy that writes only full stops must not cost n(n − 1)/2 pairs."""
_DECIDED = (
    "full_matrix", "soft", "ceiling", "profile", "groups", "others", "sap_alpha", "corrected",
    "evidence", "check_cuts",
)  # fmt: skip
"""Options that follow from ``latency`` and the shaping, or that no reward reads."""


class PrevalenceReward:
    """Opinion prevalence as a reward, in the call shape of TRL's trainers.

    A plain callable: a trainer that finds a ``torch.nn.Module`` takes it for a reward model. It
    loads its model on the first call in each process, can be pickled, and may be called from
    several threads.

    Args:
        model: ``embedded``, a registered name, a checkpoint folder, a hub name or another scorer's
            name. None is the calibration's scorer, and ``embedded`` without one.
        shaping: what to add to prevalence; nothing by default.
        reviews_column: column with each row's list of reviews.
        name_column: column with each row's product name, None or NaN for no trivial mask; the
            default one may be missing.
        extract: takes the text of a completion and returns the summary in it, as from JSON. A
            completion that it fails on, or returns no string for, cannot be scored. A reward with a
            lambda cannot be pickled.
        failed: reward of a row whose reviews or name cannot be used, or of whose reviews
            ``reviews_where`` leaves none. Trainers take None for "no reward".
        unscorable: reward of a completion without a sentence or that cannot be scored: no text, too
            many sentences, one longer than the model reads, none that satisfies
            ``statements_where``. That is the policy's doing, so it is the lowest that the shaping
            gives, which is 0 without weights of contradictions; None for "no reward".
        latency: ask everything in one round instead of two, masked sentences included. Scores are
            the same; small calls on a GPU wait less, large ones ask more.
        scorer: a ready scorer in place of ``model`` and its options, which are refused beside it.
        kept_pairs: answers kept between calls, the most recently used; 0 for none.
        kept_characters: texts and their tokens kept between calls, up to about this length.
        name: what trainers call the reward in their logs.
        options: fields of :class:`~prevalence.scoring.options.ScoringOptions` and of
            :class:`~prevalence.scorers.registry.ScorerOptions`, but those that ``latency`` and
            ``shaping`` decide or that no reward reads; see
            :class:`~prevalence.rewards.batch.BatchScorer` for the device ``auto``. The longest
            completion scored has 100 sentences unless ``max_sentences`` is another number.

    Raises:
        ConfigurationError: an option is unknown or out of range, or ``statements_where`` asks for
            labels, which completions lack.

    >>> reward = PrevalenceReward("rouge1-precision", trivial=None)
    >>> reviews = ["Warm boots. They leak.", "Warm and dry."]
    >>> reward(["Summarize."] * 2, ["Warm boots.", "Too loud."], reviews=[reviews] * 2)
    [1.0, 0.0]
    """

    @takes(ScoringOptions, ScorerOptions, but=_DECIDED)
    def __init__(
        self,
        model: str | None = None,
        *,
        shaping: Shaping | None = None,
        reviews_column: str = "reviews",
        name_column: str | None = DEFAULT_NAME_COLUMN,
        extract: Callable[[str], str] | None = None,
        failed: float | None = None,
        unscorable: float | Literal["lowest"] | None = "lowest",
        latency: bool = False,
        scorer: PairScorer | None = None,
        kept_pairs: int = 200_000,
        kept_characters: int = 8_000_000,
        name: str = "prevalence",
        **options: Any,
    ) -> None:
        self.__name__ = name
        if not isinstance(shaping, Shaping | None):
            raise ConfigurationError(f"shaping must be a Shaping or None, not {shaping!r}")
        self.shaping = shaping or Shaping()
        unscorable = self.shaping.lowest if unscorable == "lowest" else unscorable
        for value in (failed, unscorable):
            if value is not None and not finite(value):
                raise ConfigurationError(f"a reward must be a finite number or None, not {value!r}")
        self._reviews_column, self._name_column = reviews_column, name_column
        self._failed, self._unscorable = failed, unscorable
        _refuse_terms(options)
        own = [name for name in inspect.signature(type(self)).parameters if name != "options"]
        scoring, opening = shared_out(
            options, ScoringOptions, ScorerOptions, but=_DECIDED, beside=own
        )
        if scorer is not None:
            refuse_opening({**opening, "model": model})
        self._batches = BatchScorer(
            ScorerOptions(model=model, **opening),
            ScoringOptions(
                full_matrix=latency,
                soft=self.shaping.soft,
                ceiling=self.shaping.ceiling,
                profile=bool(self.shaping.coverage),
                **{"max_sentences": MOST_SENTENCES, **scoring},
            ),
            scorer=scorer,
            extract=extract,
            kept_pairs=kept_pairs,
            kept_characters=kept_characters,
        )

    def __call__(
        self,
        prompts: Sequence[Any] | None = None,  # noqa: ARG002
        completions: Sequence[Any] = (),
        *,
        log_metric: LogMetric | None = None,
        log_extra: LogExtra | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Reward completions.

        Args:
            prompts: not read.
            completions: strings, or lists of chat messages.
            log_metric: called with ``NAME/prevalence``, ``NAME/trivial`` and the other means and
                shares of :meth:`Tally.metrics <prevalence.rewards.batch.Tally.metrics>`, and with
                means of :meth:`Shaping.terms <prevalence.rewards.shaping.Shaping.terms>`.
            log_extra: called with ``NAME/sentences`` and a text for each completion: what became of
                its sentences, such as "3/5 · trivial · 0/5, 2 against", or why it has no score.
            columns: those of the data set, a list each with one value a completion; whatever else
                the trainer passes is left alone.

        Returns:
            One reward a completion, in order.

        Raises:
            ConfigurationError: there is no column of reviews, or one of another length, or of
                single texts, or every row's reviews are no list, or objects without a ``text``; the
                completions are one text, or each is of a kind that holds none, such as token ids;
                or the shaping needs a contradiction class, which the model lacks. A bad value in a
                row raises nothing: its reward is ``failed``, and it is counted.
            ModelError, BackendError: the model cannot be loaded or fails.
        """
        outcomes = self._outcomes(completions, columns, tallied=True)
        if log_metric is not None:
            for key, value in {**Tally.of(outcomes).metrics(), **self._terms(outcomes)}.items():
                log_metric(f"{self.__name__}/{key}", value)
        if log_extra is not None:
            log_extra(f"{self.__name__}/sentences", list(map(_sentences, outcomes)))
        return [self._reward(outcome) for outcome in outcomes]

    def outcomes(self, completions: Sequence[Any], **columns: Any) -> list[Outcome]:
        """Score completions; rewards of the same texts cost next to nothing before or after.

        They are not counted in the tally.

        Args:
            completions: as when the reward is called.
            columns: likewise.

        Returns:
            A completion's scored summary, with its sentences, or a bad record, in order.

        Raises:
            PrevalenceError: as when the reward is called.
        """
        return self._outcomes(completions, columns, tallied=False)

    def _outcomes(
        self, completions: Sequence[Any], columns: dict[str, Any], *, tallied: bool
    ) -> list[Outcome]:
        if isinstance(completions, str) or not hasattr(completions, "__len__"):
            raise ConfigurationError(
                f"{self.__name__}: the completions are {type(completions).__name__}: give a list"
            )
        size = len(completions)
        reviews = self._column(columns, self._reviews_column, size)
        if size and all(isinstance(own, str) for own in reviews):
            raise ConfigurationError(
                f"{self.__name__}: the column {self._reviews_column!r} holds single texts: give a "
                "list of reviews for each completion"
            )
        if size and (self.shaping.contradiction or self.shaping.contested):
            self.load()
        names: Sequence[Any] = [None] * size
        if self._name_column in columns or self._name_column not in {None, DEFAULT_NAME_COLUMN}:
            names = self._column(columns, str(self._name_column), size)
        return self._batches.score(
            [Sample(*row) for row in zip(completions, reviews, names, strict=True)],
            tallied=tallied,
        )

    def load(self) -> Self:
        """Open the model now, not on the first call, so that all options are checked.

        Returns:
            This reward.

        Raises:
            ConfigurationError: options contradict each other or do not suit the model.
            ModelError, BackendError: the model cannot be loaded.
        """
        self.shaping.check(three_way=self._batches.engine.scorer.traits.three_way)
        return self

    @property
    def tally(self) -> Tally:
        """Sums over everything that this object has rewarded in this process."""
        return self._batches.tally

    @property
    def loaded(self) -> bool:
        """Whether this process holds a model and what is kept between calls."""
        return self._batches.loaded

    @property
    def signature(self) -> str:
        """What produces the rewards of rows with a product name; loads the model."""
        return with_parts(self._batches.engine.signature(), self.shaping.signature)

    def asynchronous(self) -> AsyncReward:
        """The same reward as a coroutine function, which works in a thread."""
        return AsyncReward(self)

    def release(self) -> None:
        """Free the model and everything kept between calls; the next call loads it again."""
        self._batches.release()

    def _reward(self, outcome: Outcome) -> float | None:
        if isinstance(outcome, BadRecord):
            return self._failed
        return self.shaping.reward(outcome) if _says_something(outcome) else self._unscorable

    def _terms(self, outcomes: Iterable[Outcome]) -> dict[str, float]:
        """Means of the shaping's terms over completions with a sentence."""
        rows = [self.shaping.terms(row) for row in outcomes if _says_something(row)]
        return {key: fmean(row[key] for row in rows) for key in rows[0]} if rows else {}

    def _column(self, columns: dict[str, Any], name: str, size: int) -> Sequence[Any]:
        column = columns.get(name)
        if column is None:
            given = ", ".join(map(repr, sorted(columns))) or "none"
            raise ConfigurationError(
                f"{self.__name__}: the data has no column {name!r} (given: {given}); add it, or "
                "name another with reviews_column and name_column"
            )
        if isinstance(column, str) or not hasattr(column, "__len__") or len(column) != size:
            raise ConfigurationError(
                f"{self.__name__}: the column {name!r} must be a list with one value for each of "
                f"the {size} completions"
            )
        return list(column)


def _says_something(outcome: Outcome) -> TypeGuard[ScoredSummary]:
    """Whether a completion has a score and a sentence."""
    if isinstance(outcome, BadRecord):
        return False
    return outcome.prevalence is not None and bool(outcome.sentences)


def _sentences(outcome: Outcome) -> str:
    """What became of each sentence of a completion, or why it has no score."""
    if isinstance(outcome, BadRecord) or outcome.prevalence is None:
        return outcome.error or ""
    fates = [_fate(sentence, outcome.n_reviews) for sentence in outcome.sentences]
    return " · ".join(fates) or "no sentence"


def _fate(sentence: ScoredSentence, n_reviews: int) -> str:
    against = f", {sentence.contradicted_by} against" if sentence.contradicted_by else ""
    return sentence.mask or f"{sentence.support}/{n_reviews}{against}"


def _refuse_terms(options: Iterable[str]) -> None:
    """Say where terms of the shaping go that are given as options."""
    terms = {term.name for term in fields(Shaping)}
    for name in options:
        if name in terms:
            raise ConfigurationError(
                f"there is no option {name!r} of a reward: give shaping=Shaping({name}=...)"
            )


class AsyncReward:
    """A reward that is awaited: the event loop goes on while a thread does the work.

    Args:
        reward: shared, not copied; concurrent calls take turns.
    """

    def __init__(self, reward: PrevalenceReward) -> None:
        self.reward = reward
        self.__name__ = reward.__name__

    async def __call__(
        self, prompts: Sequence[Any] | None = None, completions: Sequence[Any] = (), **columns: Any
    ) -> list[float | None]:
        """Reward completions; see :meth:`PrevalenceReward.__call__`."""
        return await asyncio.to_thread(self.reward, prompts, completions, **columns)
