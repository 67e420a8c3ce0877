"""What comes out: scored summaries, and the JSON of ``"schema": 1`` that they are stored as.

The engine makes a :class:`ScoredSummary` of each summary, writers store it, and whoever reads
stored rows gets the same object again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.row_values import check, each, listing, maybe, natural, number, of, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "PROFILE_FIGURES",
    "SCHEMA",
    "SHOWN_DECIMALS",
    "LeftOut",
    "Passage",
    "Profile",
    "ScoredSentence",
    "ScoredSummary",
]

SCHEMA = 1
"""Version of the scored-summary object; raised only when a field changes its meaning."""

SHOWN_DECIMALS = 4
"""Decimals of probabilities that are shown and decide nothing."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentence of a review that carries the decision about a sentence of a summary.

    Attributes:
        review: 0-based index of the review.
        start: offset of the passage's first character in the review.
        end: offset after its last character.
        text: the passage.
        entailment: P(passage entails sentence), in [0, 1].
        contradiction: P(passage contradicts sentence); None for models without that class.
    """

    review: int
    start: int
    end: int
    text: str
    entailment: float
    contradiction: float | None = None


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """One summary sentence: where it stands, who supports it, and what masks it.

    Attributes:
        text: the sentence, as models were asked about it, but with its counts of people.
        start: offset of its first character in the summary.
        end: offset after its last character.
        support: number of reviews that imply it; None where its review pairs were not scored.
        supporting_reviews: 0-based indices of those reviews; None likewise.
        contradicting_reviews: reviews whose most probable class is contradiction and that do not
            entail the sentence; None where not scored, and for models without that class.
        trivial: whether having bought the product implies it.
        redundant_with: smallest index of an earlier sentence that implies it, or None.
        entailment: P(review entails sentence) for each review of the record, null for reviews
            outside a restriction; None where not scored.
        contradicts: earlier sentences that contradict it; None for models without that class.
        quantity: its quantity of people beside its support, as ``Agreement.to_json`` of
            :mod:`prevalence.claims.comparison` gives it, with the ``statement`` that it is
            about; None where it has none or none was asked about.
        evidence: the passages behind its supporting and contradicting reviews, by review; None
            where they were not asked for.
        contradiction: P(review contradicts sentence), laid out like ``entailment`` and rounded to
            four decimals; None without ``evidence``, where not scored, and for models without
            that class.
    """

    text: str
    start: int
    end: int
    trivial: bool
    redundant_with: int | None
    support: int | None = None
    supporting_reviews: tuple[int, ...] | None = None
    contradicting_reviews: tuple[int, ...] | None = None
    entailment: tuple[float | None, ...] | None = None
    contradicts: tuple[int, ...] | None = None
    quantity: Mapping[str, Any] | None = None
    evidence: tuple[Passage, ...] | None = None
    contradiction: tuple[float | None, ...] | None = None

    @property
    def contradicted_by(self) -> int | None:
        """Number of reviews that contradict it; None where not known."""
        return None if self.contradicting_reviews is None else len(self.contradicting_reviews)

    @property
    def counts(self) -> bool:
        """Whether the sentence is neither trivial nor redundant."""
        return not self.trivial and self.redundant_with is None

    @property
    def mask(self) -> str | None:
        """Why the sentence does not count, in words; None where it does."""
        repeats = None if self.redundant_with is None else f"repeats {self.redundant_with}"
        return ", ".join(filter(None, ("trivial" if self.trivial else None, repeats))) or None

    @property
    def stated(self) -> str | None:
        """The words of its quantity of people, or None."""
        return None if self.quantity is None else self.quantity.get("text")

    @property
    def quantity_agrees(self) -> bool | None:
        """Whether the reviews agree with its quantity; None where that is not known."""
        return None if self.quantity is None else self.quantity.get("agrees")

    @property
    def unsupported(self) -> bool:
        """Whether the sentence counts and no review implies it."""
        return self.counts and self.support == 0

    def to_json(self) -> dict[str, Any]:
        """The sentence as the contract's JSON object."""
        row: dict[str, Any] = {
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "support": self.support,
            "supporting_reviews": _listed(self.supporting_reviews),
            "contradicting_reviews": _listed(self.contradicting_reviews),
            "trivial": self.trivial,
            "redundant_with": self.redundant_with,
            "entailment": _listed(self.entailment),
            "contradicts": _listed(self.contradicts),
            "contradicted_by": self.contradicted_by,
        }
        if self.quantity is not None:
            row["quantity"] = dict(self.quantity)
        if self.evidence is not None:
            row["evidence"] = [asdict(passage) for passage in self.evidence]
        if self.contradiction is not None:
            row["contradiction"] = list(self.contradiction)
        return row

    @classmethod
    def from_json(cls, item: Mapping[str, Any]) -> ScoredSentence:
        """Rebuild a sentence from :meth:`to_json`'s object.

        Raises:
            InputError: a value is not one that the object may have.
        """
        check(item, _SENTENCE_VALUES, _WHAT)
        for passage in item.get("evidence") or ():
            check(passage, _PASSAGE_VALUES, _WHAT, complete=True)
            check(passage, {"contradiction": _number}, _WHAT)
        alike = ("text", "start", "end", "trivial", "redundant_with", "support")
        return cls(
            **{name: item[name] for name in alike},
            supporting_reviews=_unlisted(item["supporting_reviews"]),
            contradicting_reviews=_unlisted(item["contradicting_reviews"]),
            entailment=_unlisted(item["entailment"]),
            contradicts=_unlisted(item.get("contradicts")),
            quantity=item.get("quantity"),
            evidence=_passages(item.get("evidence")),
            contradiction=_unlisted(item.get("contradiction")),
        )


SENTENCE_KINDS: Mapping[str, Callable[[ScoredSentence], bool]] = {
    "trivial": lambda sentence: sentence.trivial,
    "redundant": lambda sentence: sentence.redundant_with is not None,
    "unsupported": lambda sentence: sentence.unsupported,
}
"""Sentences that tables count, by the names of the columns."""

PROFILE_FIGURES = (
    "coverage", "soft_coverage", "attested", "contested", "polarity_distance", "equal_coverage",
    "genericness", "sap", "review_genericness", "review_sap",
)  # fmt: skip
"""Figures of a profile that are one number a summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A statement of the reviews that a summary does not imply.

    Attributes:
        text: the statement.
        review, start, end: where it first stands: 0-based index of a review, and offsets in it.
        support: reviews that imply it, among those asked.
        asked: how many were asked.
        supporting_reviews: 0-based indices of those that imply it.
    """

    text: str
    review: int
    start: int
    end: int
    support: int
    asked: int
    supporting_reviews: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The statement as a JSON object."""
        return {**asdict(self), "supporting_reviews": list(self.supporting_reviews)}

    @classmethod
    def from_json(cls, item: Mapping[str, Any]) -> LeftOut:
        """Rebuild it from :meth:`to_json`'s object.

        Raises:
            InputError: a value is not one that the object may have.
        """
        check(item, _LEFT_OUT_VALUES, _WHAT, complete=True)
        return cls(**{**item, "supporting_reviews": tuple(item["supporting_reviews"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What stands beside the prevalence of a summary; see docs/profile.md.

    Attributes:
        coverage: share of the weight of the reviews' statements that the summary implies, in
            [0, 1]; a statement weighs as many reviews as imply it.
        soft_coverage: likewise, with probabilities in place of decisions.
        coverage_interval: 95% interval of coverage where a sample of the reviews was asked.
        attested: share of the units that count which at least one review implies.
        contested: share of the units that count which more reviews contradict than imply.
        polarity: mean rating of the reviews that imply a unit, averaged over attested units.
        polarity_target: mean rating of the reviews.
        polarity_distance: distance of the two, in the ratings' own unit.
        review_coverage: mean over reviews of how probably a review implies an attested unit.
        equal_coverage: mean over groups of reviews of the distance between a group's mean and
            ``review_coverage``; 0 is fair.
        genericness: share of the system's summaries of other products that imply a unit, averaged
            over units, masked ones counting 0.
        sap: prevalence less genericness times its weight.
        review_genericness, review_sap: likewise with reviews of other products.
        statements: distinct statements of the reviews that coverage weighs.
        of_statements: distinct sentences or claims of the reviews, before any was left aside.
        left_out: statements that the summary does not imply, those with most support first.
        groups: mean ``review_coverage`` and number of reviews by group, as it was asked for.
        missing: why a figure that was asked for is None, by figure.
    """

    coverage: float | None = None
    soft_coverage: float | None = None
    coverage_interval: tuple[float, float] | None = None
    attested: float | None = None
    contested: float | None = None
    polarity: float | None = None
    polarity_target: float | None = None
    polarity_distance: float | None = None
    review_coverage: float | None = None
    equal_coverage: float | None = None
    genericness: float | None = None
    sap: float | None = None
    review_genericness: float | None = None
    review_sap: float | None = None
    statements: int = 0
    of_statements: int = 0
    left_out: tuple[LeftOut, ...] = ()
    groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The profile as a JSON object, null where there is no figure."""
        row = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return row | {
            "coverage_interval": _listed(self.coverage_interval),
            "left_out": [one.to_json() for one in self.left_out],
            "groups": {name: dict(group) for name, group in self.groups.items()},
            "missing": dict(self.missing),
        }

    @classmethod
    def from_json(cls, item: Mapping[str, Any]) -> Profile:
        """Rebuild a profile from :meth:`to_json`'s object.

        Raises:
            InputError: a value is not one that the object may have.
        """
        check(item, _PROFILE_VALUES, _WHAT)
        for group in item["groups"].values():
            check(group, _GROUP_VALUES, _WHAT, complete=True)
        left_out = tuple(map(LeftOut.from_json, item["left_out"]))
        interval = _unlisted(item["coverage_interval"])
        return cls(**{**item, "coverage_interval": interval, "left_out": left_out})


@dataclass(frozen=True, slots=True)
class ScoredSummary:
    """One scored summary, or the reason why it has no score.

    Attributes:
        id: the product's id; None only for a record that could not be read.
        system: who wrote the summary.
        prevalence: in [0, 1]; None when ``error`` is set, or when a restriction leaves nothing,
            which ``warning`` then says.
        soft_prevalence: probabilities in place of decisions, when asked for.
        input_digest: digest of name, reviews and summary, and of the fields that a restriction
            may read; None for an unreadable record.
        corrected: prevalence corrected for the scorer's error rates, in [0, 1], when asked for.
        corrected_most: prevalence if every answer of a review were yes; None without ``corrected``.
        ceiling: prevalence that greedy construction reaches on the same reviews with as many
            characters; None where it was not asked for, or the summary has no sentence.
        profile: coverage and other figures; None where they were not asked for.
        restriction: what a restricted score is about, or None: places of the ``reviews`` and
            ``sentences`` that count, ``of_reviews`` and ``of_sentences`` that there are.
        n_reviews: m.
        review_ids: the ids of the record's reviews, null for one without; None if none has one.
        sentences: the n sentences in order.
        signature: what produced the score.
        error: one line, or None.
        warning: something that the reader of the score should know, or None.
        extra: unknown keys of the input record and of its summary.
    """

    id: str | None
    system: str | None
    prevalence: float | None
    n_reviews: int
    sentences: tuple[ScoredSentence, ...]
    signature: str
    error: str | None = None
    warning: str | None = None
    soft_prevalence: float | None = None
    input_digest: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    restriction: Mapping[str, Any] | None = None
    ceiling: float | None = None
    corrected: float | None = None
    corrected_most: float | None = None
    profile: Profile | None = None
    review_ids: tuple[str | None, ...] | None = None

    def named(self, places: Iterable[int]) -> list[int | str]:
        """What to call reviews, see :func:`named_reviews`."""
        return named_reviews(self.review_ids or (), places)

    @property
    def counting(self) -> float:
        """Share of the sentences that are neither trivial nor redundant; 0 without any."""
        return sum(s.counts for s in self.sentences) / max(len(self.sentences), 1)

    def sentence_count(self, kind: str) -> int | None:
        """How many sentences are of one of :data:`SENTENCE_KINDS`; None without a score."""
        return None if self.prevalence is None else sum(map(SENTENCE_KINDS[kind], self.sentences))

    @property
    def ceiling_share(self) -> float | None:
        """Prevalence as a share of the ceiling; None without a ceiling, or with one of 0."""
        reached = self.prevalence
        return reached / self.ceiling if self.ceiling and reached is not None else None

    @property
    def self_contradictions(self) -> int | None:
        """Pairs of sentences of which the earlier contradicts the later; None where not known."""
        found = [sentence.contradicts for sentence in self.sentences]
        known = [pairs for pairs in found if pairs is not None]
        if self.prevalence is None or len(known) < len(found):
            return None
        return sum(map(len, known))

    @property
    def contradictions(self) -> int | None:
        """Pairs asked about in which the review contradicts the sentence; None likewise."""
        if self.self_contradictions is None:
            return None
        return sum(sentence.contradicted_by or 0 for sentence in self.sentences)

    @property
    def prefix_curve(self) -> tuple[float, ...]:
        """Prevalence of the 1, 2, ..., n best supported sentences; see :mod:`prevalence.metric`."""
        if self.prevalence is None or not self.sentences or not self.n_reviews:
            return ()
        # Loads numpy, which reading records does without.
        from prevalence.metric import prefix_curve

        counts = [sentence.counts for sentence in self.sentences]
        supports = [sentence.support or 0 for sentence in self.sentences]
        return prefix_curve(supports, counts, self.n_reviews)

    @property
    def n_sentences(self) -> int:
        """n, masked sentences included."""
        return len(self.sentences)

    def __iter__(self) -> Iterator[ScoredSentence]:
        """Iterate over the sentences."""
        return iter(self.sentences)

    def to_json(self) -> dict[str, Any]:
        """The summary as the contract's JSON object; its own keys win over passed-through ones."""
        row: dict[str, Any] = {
            "schema": SCHEMA,
            "id": self.id,
            "system": self.system,
            "prevalence": self.prevalence,
            "n_reviews": self.n_reviews,
            "n_sentences": self.n_sentences,
            "sentences": [sentence.to_json() for sentence in self.sentences],
            "signature": self.signature,
            "input_digest": self.input_digest,
            "error": self.error,
            "self_contradictions": self.self_contradictions,
            "contradictions": self.contradictions,
            "prefix_curve": list(self.prefix_curve),
        }
        if self.ceiling is not None:
            row |= {"ceiling": self.ceiling, "ceiling_share": self.ceiling_share}
        if self.corrected is not None:
            row |= {"corrected": self.corrected, "corrected_most": self.corrected_most}
        if self.soft_prevalence is not None:
            row["soft_prevalence"] = self.soft_prevalence
        if self.profile is not None:
            row["profile"] = self.profile.to_json()
        if self.review_ids is not None:
            row["review_ids"] = list(self.review_ids)
        if self.restriction is not None:
            row["restriction"] = dict(self.restriction)
        if self.warning is not None:
            row["warning"] = self.warning
        return row | {key: value for key, value in self.extra.items() if key not in _ROW_KEYS}

    def to_frame(self) -> Any:
        """The sentences as a pandas data frame, one a row.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        from prevalence.notebook import data_frame

        keys = ("text", "support", "contradicted_by", "trivial", "redundant_with",
                "supporting_reviews", "contradicting_reviews")  # fmt: skip
        stated = any(one.quantity for one in self.sentences)
        return data_frame(
            {key: getattr(one, key) for key in keys}
            | ({"quantity": one.stated, "quantity_agrees": one.quantity_agrees} if stated else {})
            for one in self.sentences
        )

    def _repr_html_(self) -> str:
        """The sentences with their counts, as notebooks show them."""
        from prevalence.notebook import Share, html_table

        score = None if self.prevalence is None else f"prevalence {self.prevalence:.3f}"
        stated = any(one.quantity for one in self.sentences)
        rows: list[tuple[object, ...]] = [
            (one.text, Share(one.support, self.n_reviews), one.contradicted_by, one.mask)
            + ((one.stated, _AGREES.get(one.quantity_agrees)) if stated else ())
            for one in self.sentences
        ]
        parts = (self.id, self.system, score, self.error, self.warning)
        caption = " · ".join(filter(None, parts)) or "no score"
        more = ("quantity", "do reviews agree?") if stated else ()
        headers = ("sentence", "support", "against", "does not count", *more)
        return html_table(caption, headers, rows, foot=self.signature)

    def to_json_line(self) -> str:
        """The JSON object on one line, without the newline; the same bytes for the same score."""
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> ScoredSummary:
        """Rebuild a summary from :meth:`to_json`'s object.

        Raises:
            InputError: the object is not a scored summary of this schema.
        """
        if not isinstance(row, dict) or row.get("schema") != SCHEMA or "prevalence" not in row:
            raise InputError(f"not a scored summary of schema {SCHEMA}")
        check(row, _ROW_VALUES, _WHAT)
        if row.get("restriction"):
            check(row["restriction"], _RESTRICTION_VALUES, _WHAT, complete=True)
        try:
            found = cls(
                **{name: row[name] for name in _ROW_FIELDS if name in row},
                sentences=tuple(ScoredSentence.from_json(item) for item in row["sentences"]),
                profile=None if row.get("profile") is None else Profile.from_json(row["profile"]),
                review_ids=_unlisted(row.get("review_ids")),
                restriction=row.get("restriction") or None,
                extra={key: value for key, value in row.items() if key not in _ROW_KEYS},
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"not a scored summary: {error}") from error
        if any((sentence.support or 0) > found.n_reviews for sentence in found):
            raise InputError(f"not {_WHAT}: more reviews support a sentence than there are")
        return found


_text, _maybe_text = of(str), maybe(of(str))
_number, _place, _places = maybe(number), maybe(natural), maybe(listing(natural))
_share = maybe(share)
_numbers, _shares = maybe(listing(_number)), maybe(listing(_share))
# What a value may be, by key.
_ROW_VALUES = {
    "id": _maybe_text, "system": _maybe_text, "prevalence": _share, "soft_prevalence": _share,
    "ceiling": _share, "corrected": _share, "corrected_most": _share, "sentences": of(list),
    "signature": _text, "input_digest": _maybe_text, "error": _maybe_text, "warning": _maybe_text,
    "prefix_curve": _numbers, "restriction": maybe(of(dict)), "profile": maybe(of(dict)),
    "n_reviews": natural, "review_ids": maybe(listing(_maybe_text)),
}  # fmt: skip
_RESTRICTION_VALUES = {
    "reviews": listing(natural), "of_reviews": natural, "sentences": listing(natural),
    "of_sentences": natural,
}  # fmt: skip
_SENTENCE_VALUES = {
    "text": _text, "start": natural, "end": natural, "trivial": of(bool), "redundant_with": _place,
    "support": _place, "supporting_reviews": _places, "contradicting_reviews": _places,
    "entailment": _shares, "contradiction": _shares, "contradicts": _places,
    "quantity": maybe(of(dict)), "evidence": maybe(of(list)),
}  # fmt: skip
_PASSAGE_VALUES = {
    "review": natural, "start": natural, "end": natural, "text": _text, "entailment": _number,
}  # fmt: skip
_PROFILE_VALUES = dict.fromkeys(Profile.__dataclass_fields__, _number) | {
    "coverage_interval": maybe(listing(number, size=2)), "statements": natural,
    "of_statements": natural, "left_out": of(list), "groups": of(dict), "missing": each(_text),
}  # fmt: skip
_LEFT_OUT_VALUES = dict.fromkeys(LeftOut.__dataclass_fields__, natural) | {
    "text": _text, "supporting_reviews": listing(natural),
}  # fmt: skip
_GROUP_VALUES = {"reviews": natural, "coverage": _number}
_WHAT = "a scored summary"

_ROW_FIELDS = frozenset(ScoredSummary.__dataclass_fields__) - {
    "sentences", "extra", "profile", "review_ids", "restriction",
}  # fmt: skip
_ROW_KEYS = _ROW_FIELDS | {
    "schema", "n_sentences", "sentences", "profile", "ceiling_share", "self_contradictions",
    "contradictions", "prefix_curve", "review_ids", "restriction",
}  # fmt: skip
"""Keys that mean something in a row, present or not: a passed-through key never takes one."""


_AGREES: Mapping[bool | None, str] = {True: "yes", False: "no"}


def named_reviews(ids: Sequence[str | None], places: Iterable[int]) -> list[int | str]:
    """What to call reviews: their ids if all have one of their own, or else 0-based indices.

    >>> named_reviews(["a", "b"], [1]), named_reviews(["a", None], [1])
    (['b'], [1])
    """
    named = [one for one in ids if one]
    whole = len({*named}) == len(ids)
    return [named[place] if whole and place < len(named) else place for place in places]


def _listed(values: tuple[Any, ...] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _passages(items: list[dict[str, Any]] | None) -> tuple[Passage, ...] | None:
    return None if items is None else tuple(Passage(**item) for item in items)


def _unlisted(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
