"""How to make a summary of reviews' sentences, and what comes out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import ConfigurationError
from prevalence.notebook import Share, data_frame, html_table
from prevalence.summarize.candidates import LengthRule

if TYPE_CHECKING:
    from prevalence.metric import ReviewMatrix
    from prevalence.summarize.questions import Calls

__all__ = ["METHODS", "SEARCHES", "Extract", "ExtractedSentence", "SummaryOptions"]

METHODS = ("greedy", "random", "lead", "lexrank", "centroid")
"""Ways to choose sentences."""

SEARCHES = ("exact", "racing")
"""Ways to find greedy's choice."""

_SENTENCES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryOptions:
    """How to choose sentences.

    Attributes:
        method: ``greedy`` takes the best supported sentences that do not repeat one another,
            ``random`` any, ``lead`` the first ones of the reviews, ``lexrank`` the most central
            ones of a similarity graph, ``centroid`` those whose embeddings add up to the mean.
        length: how long the summary is to be.
        search: ``exact``, or ``racing``, which for many reviews finds greedy's choice in a
            fraction of the model calls, with the stated confidence.
        confidence: in (0, 1]; of racing.
        seed: of racing's order of the reviews and of the random method.
        refuse_contradictions: greedy refuses a sentence that contradicts a chosen one.
        close: give a sentence that no punctuation ends a full stop, so that it remains a sentence
            when the summary is read; False takes all sentences as they are.
        simplified: read the rewritten texts, which all reviews must have.
        fragments: greedy also takes fragments and exclamations without content, as Algorithm 1
            does; see :func:`~prevalence.summarize.candidates.has_content`.

    Raises:
        ConfigurationError: an unknown name, a value out of range, or a length that is no rule.
    """

    method: str = "greedy"
    length: LengthRule = field(default_factory=lambda: LengthRule(sentences=_SENTENCES))
    search: str = "exact"
    confidence: float = 0.95
    seed: int = 0
    refuse_contradictions: bool = False
    close: bool = True
    simplified: bool = False
    fragments: bool = False

    def __post_init__(self) -> None:
        for value, known in ((self.method, METHODS), (self.search, SEARCHES)):
            if value not in known:
                raise ConfigurationError(f"{value!r} is none of {', '.join(known)}")
        if not isinstance(self.length, LengthRule):
            raise ConfigurationError(
                f"length must be a LengthRule, not {self.length!r}: give "
                "LengthRule(sentences=...) or LengthRule(characters=...)"
            )
        if not 0 < self.confidence <= 1:
            raise ConfigurationError(f"confidence must lie in (0, 1], not {self.confidence}")
        if self.seed < 0:
            raise ConfigurationError(f"the seed must not be negative, not {self.seed}")

    @property
    def delta(self) -> float:
        """Probability with which greedy's choice may be missed; 0 for exact search."""
        # 1 − 0.95 is 0.050000000000000044, which nobody wants to read in an output.
        return round(1.0 - self.confidence, 12) if self.search == "racing" else 0.0

    @property
    def filters(self) -> bool:
        """Whether sentences without content are left out."""
        return self.method == "greedy" and not self.fragments

    @property
    def needs_model(self) -> bool:
        """Whether the method asks an entailment model."""
        return self.method == "greedy"

    @property
    def signature(self) -> dict[str, str]:
        """What to add to a signature: everything here that can change the choice."""
        length = self.length
        parts = {
            "method": self.method,
            "length": f"{length.sentences}s" if length.sentences else f"{length.characters:g}c",
        }
        if self.method == "greedy" and self.search == "racing":
            parts |= {"search": "racing", "conf": f"{self.confidence:g}", "seed": str(self.seed)}
        if self.method == "random":
            parts["seed"] = str(self.seed)
        if self.method == "greedy" and self.refuse_contradictions:
            parts["refuse"] = "contradictions"
        if self.filters:
            parts["candidates"] = "content"
        if not self.close:
            parts["sentences"] = "verbatim"
        if self.simplified:
            parts["from"] = "simplified"
        return parts


class ExtractedSentence(NamedTuple):
    """A sentence of a summary and where it comes from.

    Attributes:
        text: as it stands in the summary.
        review: 0-based index of the review that it was taken from.
        start: offset of its first character there; in the rewriting, where that was read.
        end: offset after its last character there.
        support: number of reviews that imply it; None for a method that does not ask.
    """

    text: str
    review: int
    start: int
    end: int
    support: int | None

    def to_json(self) -> dict[str, Any]:
        """The sentence as a JSON object."""
        return self._asdict()


@dataclass(frozen=True, slots=True)
class Extract:
    """A summary made of sentences of the reviews.

    Attributes:
        sentences: in the order of selection.
        n_reviews: m.
        delta: probability with which the choice may differ from Algorithm 1's; 0 when it is
            exact, as racing is with few reviews; None for other methods than greedy.
        calls: pairs asked of the model or its cache, by kind.
        full_matrix: (review, sentence) pairs that asking everything would have taken.
        matrix: what all reviews say of the sentences, m × n; None for methods that do not ask.
        signature: what produced the summary.
        left_out: number of review sentences passed over because they have no content.
    """

    sentences: tuple[ExtractedSentence, ...]
    n_reviews: int
    delta: float | None
    calls: Calls
    full_matrix: int
    matrix: ReviewMatrix | None
    signature: str
    left_out: int = 0

    @property
    def text(self) -> str:
        """The summary: its sentences with a space between them."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def prevalence(self) -> float | None:
        """Opinion prevalence of greedy's choice, of which no sentence is trivial or redundant.

        None for other methods; ``prevalence score`` computes theirs.
        """
        if self.matrix is None:
            return None
        return float(self.matrix.implied.mean()) if self.sentences else 0.0

    @property
    def avoided(self) -> int:
        """(review, sentence) pairs that were not asked, of those that could have been."""
        return self.full_matrix - self.calls.reviews

    @property
    def guarantee(self) -> str:
        """What is known about the choice, in plain words."""
        if self.delta is None:
            return "none: this method does not count support"
        if self.delta == 0:
            return "this is the summary of Algorithm 1; all supports are exact"
        return (
            f"with probability {1 - self.delta:g} or more over the random order of the reviews, "
            "this is the summary that exact search makes; the supports shown are exact"
        )

    def to_frame(self) -> Any:
        """The sentences as a pandas data frame, one a row.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        return data_frame(sentence.to_json() for sentence in self.sentences)

    def _repr_html_(self) -> str:
        """The sentences with sources and supports, as notebooks show them."""
        rows = [(s.text, s.review, Share(s.support, self.n_reviews)) for s in self.sentences]
        known = "" if self.prevalence is None else f" · prevalence {self.prevalence:.3f}"
        headers = ("sentence", "from review", "support")
        return html_table(f"Summary{known}", headers, rows, foot=self.signature)

    def to_json(self) -> dict[str, Any]:
        """Where the summary comes from, as a JSON object."""
        return {
            "sentences": [sentence.to_json() for sentence in self.sentences],
            "delta": self.delta,
            "guarantee": self.guarantee,
            "calls": {**asdict(self.calls), "avoided": self.avoided},
            "left_out": self.left_out,
            "signature": self.signature,
        }
