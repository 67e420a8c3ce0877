"""Numbers → cells, as a convention prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prevalence.meta.coefficients import stars
from prevalence.meta.rounding import printed
from prevalence.report.sheets import Cell

if TYPE_CHECKING:
    from prevalence.meta.conventions import Convention

__all__ = ["Printer"]


class Printer(NamedTuple):
    """Prints figures with a convention's decimals, rounding and stars."""

    convention: Convention

    def figure(self, value: float, p: float = float("nan"), *, place: int = 0) -> Cell:
        """A rounded figure with the stars of its p-value."""
        text = printed(value, self.convention.decimals, self.convention.rounding)
        return Cell(text, len(stars(p, self.convention.thresholds)), place, float(value))

    def p_value(self, p: float) -> Cell:
        """A p-value, to four decimals at least; small ones in powers of ten."""
        small = 0.0 < p < 10.0**-4
        text = f"{p:.1e}" if small else printed(p, max(4, self.convention.decimals))
        return Cell(text, len(stars(p, self.convention.thresholds)), value=float(p))

    @staticmethod
    def whole(number: float) -> Cell:
        """A whole number."""
        return Cell(f"{int(number)}", value=float(number))
