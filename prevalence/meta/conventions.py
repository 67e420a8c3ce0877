"""The choices on which published correlation tables differ, by the name of the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from prevalence.errors import ConfigurationError
from prevalence.meta.coefficients import KINDS, UNDEFINED, Kind, Undefined
from prevalence.meta.levels import LEVELS, Level

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CONVENTIONS", "MISSING", "ROUNDINGS", "Convention", "Missing", "Rounding"]

Missing = Literal["drop", "zero", "fail"]
MISSING: tuple[Missing, ...] = get_args(Missing)
"""What a summary that people rated and the metric did not is: left out, scored 0, or an error."""

Rounding = Literal["half-up", "half-even", "truncate"]
ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)
"""How figures are cut to their decimals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """How a table of correlations is computed and printed.

    Attributes:
        kinds: coefficients.
        levels: levels of aggregation.
        undefined: what a coefficient of constant values becomes.
        missing: what a missing metric value becomes.
        keep_unread: whether a judge's reply without a score counts as -1.
        decimals: of printed coefficients.
        rounding: how they are cut.
        average_rounded: whether averages over dimensions are of rounded figures.
        thresholds: largest p-values for one star, two stars, ...
    """

    kinds: Sequence[Kind] = ("kendall",)
    levels: Sequence[Level] = ("system", "summary")
    undefined: Undefined = "drop"
    missing: Missing = "drop"
    keep_unread: bool = False
    decimals: int = 3
    rounding: Rounding = "half-up"
    average_rounded: bool = False
    thresholds: Sequence[float] = (0.05, 0.01)

    def __post_init__(self) -> None:
        """Refuse names that are none.

        Raises:
            ConfigurationError: a choice is unknown.
        """
        checks: tuple[tuple[str, Sequence[str], Sequence[str]], ...] = (
            ("kinds", self.kinds, KINDS),
            ("levels", self.levels, LEVELS),
            ("undefined", (self.undefined,), UNDEFINED),
            ("missing", (self.missing,), MISSING),
            ("rounding", (self.rounding,), ROUNDINGS),
        )
        for name, chosen, known in checks:
            wrong = [value for value in chosen if value not in known]
            if wrong or not chosen:
                found = repr(wrong[0]) if wrong else "nothing"
                raise ConfigurationError(f"{name}: {found} is none of {', '.join(known)}")
        if self.decimals < 0:
            raise ConfigurationError(f"decimals must not be negative, not {self.decimals}")


CONVENTIONS = {
    "default": Convention(),
    "opinsummeval": Convention(decimals=2),
    "summeval-op": Convention(
        kinds=("spearman", "kendall"),
        levels=("summary",),
        undefined="zero",
        decimals=2,
        average_rounded=True,
    ),
    "llm-summeval": Convention(
        kinds=("spearman", "pearson", "kendall"),
        levels=("pooled",),
        keep_unread=True,
    ),
}
"""Ours; OpinSummEval's (its Tables 4, 10), SummEval-OP's (Table 2), LLM_summeval's (Table 4)."""
