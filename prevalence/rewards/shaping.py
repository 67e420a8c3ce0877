"""From a scored summary to a reward: prevalence as it is, or shaped against being gamed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from prevalence.errors import ConfigurationError
from prevalence.options import finite
from prevalence.summarize.candidates import has_content

if TYPE_CHECKING:
    from collections.abc import Callable

    from prevalence.scored import ScoredSummary

__all__ = ["Shaping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """What the reward adds to prevalence; nothing unless asked for.

    With base b (prevalence, soft prevalence, or prevalence / ceiling), n sentences, coverage c,
    share of reviews heard h, contradicted share d, contested share e and share f of sentences that
    say something, the reward is

        f · ((1 − coverage − heard) · b · min(1, n / sentences) + coverage · c + heard · h)
            − contradiction · d − contested · e

    where f is 1 without ``content``.

    A summary without a sentence contradicts nothing and still gets the lowest reward there is,
    −(contradiction + contested): silence must not pay where a contradicted statement costs.

    Attributes:
        soft: probabilities in place of decisions as the base: a slope where decisions are flat.
        ceiling: the base is the share of what greedy construction reaches on the same reviews at
            the same length, so that products with much and little agreement weigh alike. It may
            exceed 1.
        sentences: a summary shorter than this counts as if empty sentences filled it up; the
            mean alone favours one sentence.
        coverage: weight in [0, 1] of coverage, the share of what the reviews say that the summary
            implies; soft coverage with ``soft``. Asks about the reviews' own sentences, which is
            paid once a product as long as answers are kept.
        heard: weight in [0, 1] of the share of reviews that imply some sentence that counts.
        contradiction: weight of the share of (review, sentence) pairs where the review
            contradicts a sentence that counts; needs a model with that class.
        contested: weight of the share of the sentences that count which more reviews contradict
            than imply; likewise.
        content: multiply what is earned by the share of sentences that say something of their own
            (:func:`prevalence.summarize.candidates.has_content`; English) and ask nothing. Models
            trained on whole statements find any review in support of "Ok." or "Summary:", and read
            a question as a statement.

    Raises:
        ConfigurationError: a value of another type or out of range, or both bases at once.
    """

    soft: bool = False
    ceiling: bool = False
    sentences: int | None = None
    coverage: float = 0.0
    contradiction: float = 0.0
    heard: float = 0.0
    contested: float = 0.0
    content: bool = False

    def __post_init__(self) -> None:
        for name in ("soft", "ceiling", "content"):
            flag = getattr(self, name)
            if not isinstance(flag, bool):
                raise ConfigurationError(f"{name} must be True or False, not {flag!r}")
        if self.soft and self.ceiling:
            raise ConfigurationError(
                "soft prevalence has no ceiling, which counts decisions: choose one of the two"
            )
        least: Any = 1 if self.sentences is None else self.sentences
        if isinstance(least, bool) or not isinstance(least, Integral) or least < 1:
            raise ConfigurationError(
                "the sentences to reach must be a whole number of at least 1, not "
                f"{self.sentences!r}"
            )
        self._check_weights()

    def _check_weights(self) -> None:
        for name in ("coverage", "heard", "contradiction", "contested"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise ConfigurationError(f"the weight of {name} must be a number, not {value!r}")
        for name in ("coverage", "heard"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigurationError(
                    f"the weight of {name} must lie in [0, 1], not {getattr(self, name)}"
                )
        if self.coverage + self.heard > 1.0:
            raise ConfigurationError(
                f"the weights of coverage and heard are {self.coverage} and {self.heard}, which "
                "is more than 1: nothing would be left for prevalence"
            )
        for name in ("contradiction", "contested"):
            if not (finite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise ConfigurationError(
                    f"the weight of {name} must not be negative, but is {getattr(self, name)}"
                )

    @property
    def signature(self) -> dict[str, str]:
        """What departs from plain prevalence, in the order of the formula."""
        parts = {
            "base": "soft" if self.soft else "ceiling" if self.ceiling else "",
            "sentences": str(self.sentences or ""),
            "content": "asked" if self.content else "",
        }
        weights = ("coverage", "contradiction", "heard", "contested")
        parts |= {name: f"{getattr(self, name):.12g}" for name in weights if getattr(self, name)}
        return {f"reward-{key}": part for key, part in parts.items() if part}

    @property
    def lowest(self) -> float:
        """The least that a summary can get."""
        return 0.0 - self.contradiction - self.contested

    def check(self, *, three_way: bool) -> None:
        """Refuse weights of contradictions for a model without that class.

        Raises:
            ConfigurationError: there is such a weight, and no such class.
        """
        if (self.contradiction or self.contested) and not three_way:
            raise ConfigurationError(
                "weights of contradiction need a model with a contradiction class; this one has "
                "none"
            )

    def reward(self, row: ScoredSummary) -> float:
        """The reward of a summary that has a score.

        Args:
            row: scored with soft prevalence, a ceiling or a profile where the terms ask for it.

        Returns:
            At most 1 but for a base above its ceiling, and at least :attr:`lowest`.

        Raises:
            ConfigurationError: a weight that needs a contradiction class, and a model without it.
        """
        self.check(three_way=all(s.contradicted_by is not None for s in row.sentences if s.counts))
        if not row.sentences:
            return self.lowest
        terms = self.terms(row)
        base = terms.get("soft", terms.get("ceiling", row.prevalence or 0.0))
        value = base * terms.get("floor", 1.0) * (1.0 - self.coverage - self.heard)
        for name in ("coverage", "heard"):
            value += getattr(self, name) * terms.get(name, 0.0)
        value *= terms.get("content", 1.0)
        for name in ("contradiction", "contested"):
            value -= getattr(self, name) * terms.get(name, 0.0)
        return value

    def terms(self, row: ScoredSummary) -> dict[str, float]:
        """What the reward is made of beside prevalence; only the terms that this shaping uses.

        Args:
            row: as :meth:`reward` takes it, with a sentence.

        Returns:
            ``soft`` or ``ceiling`` (the base), ``floor`` (min(1, n / sentences)), ``coverage``,
            ``heard``, ``content`` (f), ``contradiction`` (d) and ``contested`` (e).
        """
        terms: dict[str, tuple[object, Callable[[ScoredSummary], float]]] = {
            "soft": (self.soft, lambda row: row.soft_prevalence or 0.0),
            "ceiling": (self.ceiling, _of_ceiling),
            "floor": (self.sentences, self._floor),
            "coverage": (self.coverage, self._coverage),
            "heard": (self.heard, _heard),
            "content": (self.content, _content),
            "contradiction": (self.contradiction, _contradicted),
            "contested": (self.contested, _contested),
        }
        return {name: term(row) for name, (used, term) in terms.items() if used}

    def _floor(self, row: ScoredSummary) -> float:
        """How far a summary reaches the number of sentences, at most 1."""
        return min(1.0, row.n_sentences / (self.sentences or 1))

    def _coverage(self, row: ScoredSummary) -> float:
        """Coverage; 0 where the reviews say nothing that could be covered."""
        profile = row.profile
        found = (
            None if profile is None else profile.soft_coverage if self.soft else profile.coverage
        )
        return found or 0.0


def _of_ceiling(row: ScoredSummary) -> float:
    """Share of the ceiling; prevalence without one, as no review agrees with another then."""
    return (row.prevalence or 0.0) / (row.ceiling or 1.0)


def _content(row: ScoredSummary) -> float:
    """Share of the sentences that say something."""
    return sum(_states(s.text) for s in row.sentences) / len(row.sentences)


def _heard(row: ScoredSummary) -> float:
    """Share of the reviews that imply at least one sentence that counts."""
    heard = {i for s in row.sentences if s.counts for i in s.supporting_reviews or ()}
    return len(heard) / row.n_reviews


def _contradicted(row: ScoredSummary) -> float:
    """Contradicting pairs of reviews and sentences that count, as a share of m times n."""
    against = [pairs for _, pairs in _for_and_against(row)]
    return sum(against) / (row.n_reviews * max(row.n_sentences, 1))


def _contested(row: ScoredSummary) -> float:
    """Share of the sentences that count which more reviews contradict than imply."""
    counted = _for_and_against(row)
    return sum(no > yes for yes, no in counted) / max(len(counted), 1)


def _for_and_against(row: ScoredSummary) -> list[tuple[int, int]]:
    """How many reviews imply and contradict each sentence that counts."""
    return [(s.support or 0, s.contradicted_by or 0) for s in row.sentences if s.counts]


_END = 200
"""Characters at the end of a sentence that tell a question."""
_ASKS = re.compile("[?\uff1f][?!\uff1f\uff01.\u2026\\s\"'\u201d\u2019)*]*$")

_DENIES = re.compile(
    r"\W*(?:no (?!(?:big deal|comment|doubt|idea|kidding|matter|more|need|problem|really|thanks"
    r"|thank|way|wonder|worries)\b)"
    r"|(?:does|did|wo|ca|ha[sd])n['\u2019]t (?!(?:he|i|it|she|that|they|this|we|you)\b))",
    re.IGNORECASE,
)
"""A denial that lacks only its subject: no set phrase, and no question."""


def _states(sentence: str) -> bool:
    """Whether a sentence says something: "Is it warm?" says nothing.

    Exclamations are statements here, and what begins with a denial lacks only its subject.

    >>> [_states(s) for s in ("Boils fast!", "No leaks.", "No problem!", "Avoid!", "No.")]
    [True, True, False, False, False]
    """
    if _ASKS.search(sentence, max(len(sentence) - _END, 0)):
        return False
    said = sentence.replace("!", ".")
    return has_content(f"It {said}" if _DENIES.match(said) else said)
