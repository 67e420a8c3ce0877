"""How to score: the options of the engine, for the command line, Python, rewards and workers.

Importing them loads no array library, so that help texts come at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prevalence.errors import ConfigurationError
from prevalence.options import described, documented
from prevalence.sentences import DEFAULT_MAX_SENTENCES, SPLITTERS

if TYPE_CHECKING:
    from prevalence.scoring.conditions import Restriction

__all__ = ["ScoringOptions"]


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """How to score; every field that can change a score is named in the signature.

    ``threshold`` is the decision threshold in [0, 1); None takes the scorer's.

    Raises:
        ConfigurationError: a value out of range.
    """

    threshold: float | None = None
    trivial: str | None = described(
        "name",
        'name is "I bought a {name}."; script is "I bought {name}."; or your own text.',
        group="Scoring",
        spelling="--trivial-template",
        metavar="TEXT",
        off=("--no-trivial", "No trivial mask."),
    )
    splitter: str = described(
        SPLITTERS[0],
        f"How summaries are cut into sentences: {', '.join(SPLITTERS)}.",
        group="Scoring",
        metavar="NAME",
        choices=SPLITTERS,
    )
    soft: bool = described(
        default=False,
        help="Also score with probabilities in place of decisions (asks every pair).",
        group="Scoring",
    )
    full_matrix: bool = described(
        default=False,
        help="Also ask the reviews about masked sentences; scores stay the same.",
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
    ceiling: bool = described(
        default=False,
        help="Also give each score as a share of what greedy construction reaches on the same "
        "reviews at the same length; quadratic in reviews, and cached.",
        group="Scoring",
    )

    @property
    def restriction(self) -> Restriction:
        """Both conditions, read."""
        from prevalence.scoring.conditions import Restriction

        return Restriction.parse(statements=self.statements_where, reviews=self.reviews_where)

    def __post_init__(self) -> None:
        from prevalence.metric import check_threshold
        from prevalence.signature import trivial_template

        if self.threshold is not None:
            check_threshold(self.threshold)
        if self.max_sentences < 1:
            raise ConfigurationError(
                f"the sentence limit must be positive, not {self.max_sentences}"
            )
        trivial_template(self.trivial)
        statements = self.restriction.statements
        if self.ceiling and statements is not None and statements.fields != {"text"}:
            raise ConfigurationError(
                "a ceiling needs statements that the reviews' own sentences can be, which have no "
                "labels: restrict statements by words of text, or leave the ceiling out"
            )
