"""How to score: the options of the engine.

They serve the command line, Python, rewards and workers; importing them loads no array library, so
that help texts come at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from prevalence.errors import ConfigurationError
from prevalence.options import check_numbers, check_texts, described, documented
from prevalence.scoring.conditions import Restriction, Where, parse_groups
from prevalence.signature import trivial_template
from prevalence.text.languages import LANGUAGES
from prevalence.text.sentences import DEFAULT_MAX_SENTENCES, SPLITTERS, get_splitter

__all__ = ["UNITS", "ScoringOptions"]

UNITS = ("sentence", "claim")
"""What a summary is counted in."""


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """How to score; every field that can change a score is named in the signature.

    ``threshold`` is the decision threshold in [0, 1); None takes the scorer's. ``follows`` is the
    preset that the options are of, with what differs from it, for the signature. ``splitter`` None
    becomes Punkt for the language.

    Raises:
        ConfigurationError: a value out of range.
    """

    threshold: float | None = None
    follows: str | None = None
    trivial: str | None = described(
        "name",
        'name is "I bought a {name}."; script is "I bought {name}."; hotel is "I stayed at '
        '{name}."; or your own text.',
        group="Scoring",
        spelling="--trivial-template",
        metavar="TEXT",
        off=("--no-trivial", "No trivial mask."),
    )
    splitter: str = described(
        None,
        f"How summaries are cut into sentences: {', '.join(SPLITTERS)} [default: punkt-en, or "
        "the model of Punkt for --language].",
        group="Scoring",
        metavar="NAME",
        choices=SPLITTERS,
    )
    language: str = described(
        "en",
        "Language of reviews and summaries, for Punkt to cut sentences: "
        f"{', '.join(LANGUAGES)}. The embedded models know only English.",
        group="Scoring",
        metavar="CODE",
        choices=tuple(LANGUAGES),
    )
    any_language: bool = described(
        default=False,
        help="Let an embedded model score another language; such scores are untested.",
        group="Scoring",
    )
    soft: bool = described(
        default=False,
        help="Also score with probabilities instead of decisions (reads every pair).",
        group="Scoring",
    )
    full_matrix: bool = described(
        default=False,
        help="Also read the reviews for masked sentences; scores stay the same.",
        group="Scoring",
    )
    max_sentences: int = described(
        DEFAULT_MAX_SENTENCES,
        "Refuse longer summaries: redundancy is quadratic.",
        group="Scoring",
        metavar="N",
        least=1,
    )
    statements_where: str | None = described(
        None,
        "Score only the statements that satisfy it: 'text has battery, charger', or "
        "'aspect = battery' where the record labels them.",
        group="Scoring",
        metavar="CONDITION",
    )
    reviews_where: str | None = described(
        None,
        "Score against only the reviews that satisfy it: 'rating <= 2 and text has refund'.",
        group="Scoring",
        metavar="CONDITION",
    )
    first_reviews: int | None = described(
        None,
        "Score against only the first N reviews of a product that satisfy --reviews-where.",
        group="Scoring",
        metavar="N",
        least=1,
    )
    unit: str = described(
        UNITS[0],
        'sentence, or claim: the single statements of each sentence, from "claims" in the '
        "record, or otherwise cut by rule.",
        group="Scoring",
        metavar="UNIT",
        choices=UNITS,
    )
    quantities: bool = described(
        default=False,
        help='Remove the quantity from a statement ("most" from "most users love it") before it is '
        "scored, and then compare the quantity with the share of supporting reviews.",
        group="Scoring",
    )
    ceiling: bool = described(
        default=False,
        help="Also give each score as a share of what greedy construction reaches on the same "
        "reviews at the same length; quadratic in reviews, and cached.",
        group="Scoring",
    )
    corrected: bool = described(
        default=False,
        help="Also correct each score for the scorer's error rates, measured on human-judged "
        "pairs (`prevalence models` shows them).",
        group="Scoring",
    )
    evidence: bool = described(
        default=False,
        help="Also store the sentence behind each supporting or contradicting review (reads "
        "the sentences of these reviews one by one), and P(contradiction) of every review.",
        group="Scoring",
    )
    profile: bool = described(
        default=False,
        help="Also give the profile: coverage, attested and contested shares, and polarity "
        "where reviews have ratings.",
        group="Profile",
    )
    coverage_statements: int = described(
        60,
        "Statements of a product's reviews that coverage looks for; drawn at random where "
        "there are more.",
        group="Profile",
        metavar="N",
        least=1,
    )
    groups: str | None = described(
        None,
        "Also compare how well groups of reviews are covered: 'rating <= 2, rating >= 4'.",
        group="Profile",
        metavar="CONDITIONS",
    )
    others: int | None = described(
        None,
        "Also give genericness and SAP, against the summaries and reviews of up to N other "
        "products; reads the input twice.",
        group="Profile",
        metavar="N",
        least=1,
    )
    sap_alpha: float = described(
        0.5,
        "Weight of genericness in SAP.",
        group="Profile",
        metavar="X",
        least=0.0,
    )

    @property
    def review_groups(self) -> tuple[Where, ...]:
        """The groups of reviews to compare, read."""
        return () if self.groups is None else parse_groups(self.groups)

    @property
    def reads_fields(self) -> bool:
        """Whether a row depends on more of a record than its name and texts."""
        return bool(self.restriction) or self.profile or self.unit != UNITS[0]

    @property
    def restriction(self) -> Restriction:
        """Both conditions, read."""
        return Restriction.parse(
            statements=self.statements_where, reviews=self.reviews_where, first=self.first_reviews
        )

    def __post_init__(self) -> None:
        check_texts(self)
        if self.language not in LANGUAGES:
            raise ConfigurationError(
                f"no language {self.language!r}: choose from {', '.join(LANGUAGES)}"
            )
        if not self.splitter:
            # What cuts the sentences stands in the signature, so that it must be this field.
            object.__setattr__(self, "splitter", f"punkt-{self.language}")
        get_splitter(self.splitter)
        from prevalence.metric import check_threshold

        if self.threshold is not None:
            check_threshold(self.threshold)
        check_numbers(self)
        trivial_template(self.trivial)
        self._check_unit()
        self._check_profile()
        statements = self.restriction.statements
        if statements is None or not statements.labels:
            return
        for asked, what in ((self.ceiling, "a ceiling"), (self.profile, "the profile")):
            if asked:
                raise ConfigurationError(
                    f"{what} also applies the condition to the reviews' own sentences, which have "
                    "no labels: restrict statements by words of their text, or leave it out"
                )

    def _check_unit(self) -> None:
        if self.unit not in UNITS:
            raise ConfigurationError(f"a unit is {' or '.join(UNITS)}, not {self.unit!r}")
        if self.ceiling and self.unit != UNITS[0]:
            raise ConfigurationError(
                "a ceiling counts whole sentences: leave it out, or unit='claim' (--unit claim)"
            )

    def _check_profile(self) -> None:
        for option, value in (("groups", self.groups), ("others", self.others)):
            if value is not None and not self.profile:
                raise ConfigurationError(
                    f"{option} needs the profile: give profile=True (--profile) too"
                )
        _ = self.review_groups
