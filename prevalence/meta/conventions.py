"""Figures cut to their decimals as a published table cuts them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Literal, get_args

from prevalence.errors import ConfigurationError
from prevalence.meta.levels import LEVELS, Level
from prevalence.stats.coefficients import KINDS, UNDEFINED, Kind, Undefined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "CONVENTIONS",
    "MISSING",
    "ROUNDINGS",
    "Convention",
    "Missing",
    "Rounding",
    "cut",
    "printed",
]


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


_MODES: Mapping[str, str] = {
    "half-up": ROUND_HALF_UP,
    "half-even": ROUND_HALF_EVEN,
    "truncate": ROUND_DOWN,
}
_NOISE = 9
"""Decimals kept before cutting: a mean of .575 may be stored a hair below it."""
_DIGITS = Context(prec=400)
"""Room for the largest float, of 309 digits, and its decimals; the usual 28 raise an error."""


def printed(value: float, decimals: int, rounding: Rounding = "half-up") -> str:
    """The figure with its decimals; a dash where there is none.

    >>> printed(0.575, 2), printed(0.575, 2, "truncate"), printed(-0.0004, 2)
    ('0.58', '0.57', '0.00')
    """
    if not math.isfinite(value):
        return "–"
    noisy = Decimal(f"{value:.{decimals + _NOISE}f}")
    figure = noisy.quantize(Decimal(1).scaleb(-decimals), _MODES[rounding], _DIGITS)
    return f"{abs(figure) if figure == 0 else figure:.{decimals}f}"


def cut(value: float, decimals: int, rounding: Rounding = "half-up") -> float:
    """The number that :func:`printed` shows; NaN stays.

    >>> cut(0.125, 2), cut(0.125, 2, "half-even")
    (0.13, 0.12)
    """
    return float(printed(value, decimals, rounding)) if math.isfinite(value) else value
