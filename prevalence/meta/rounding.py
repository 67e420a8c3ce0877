"""Figures cut to their decimals as a published table cuts them."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.meta.conventions import Rounding

__all__ = ["cut", "printed"]

_MODES: Mapping[str, str] = {
    "half-up": ROUND_HALF_UP,
    "half-even": ROUND_HALF_EVEN,
    "truncate": ROUND_DOWN,
}
_NOISE = 9
"""Decimals kept before cutting: a mean of .575 may be stored a hair below it."""


def printed(value: float, decimals: int, rounding: Rounding = "half-up") -> str:
    """The figure with its decimals; a dash where there is none.

    >>> printed(0.575, 2), printed(0.575, 2, "truncate"), printed(-0.0004, 2)
    ('0.58', '0.57', '0.00')
    """
    if not math.isfinite(value):
        return "–"
    noisy = Decimal(f"{value:.{decimals + _NOISE}f}")
    figure = noisy.quantize(Decimal(1).scaleb(-decimals), _MODES[rounding])
    return f"{abs(figure) if figure == 0 else figure:.{decimals}f}"


def cut(value: float, decimals: int, rounding: Rounding = "half-up") -> float:
    """The number that :func:`printed` shows; NaN stays.

    >>> cut(0.125, 2), cut(0.125, 2, "half-even")
    (0.13, 0.12)
    """
    return float(printed(value, decimals, rounding)) if math.isfinite(value) else value
