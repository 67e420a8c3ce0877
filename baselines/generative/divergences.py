"""Distances of two distributions over a vocabulary, all at least 0 and 0 for equal ones.

p is the distribution of the text that the summary is compared with, q the summary's.

Source: Colombo, Clavel and Piantanida 2022, section 3; Rényi's and the alpha-divergence and
Kullback-Leibler's are written here so that they are not negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from prevalence.stats.arrays import Floats

__all__ = ["MEASURES", "Divergence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """A distance with its parameters.

    Attributes:
        measure: one of :data:`MEASURES`.
        alpha: for ab, alpha and renyi.
        beta: for ab and beta.

    Raises:
        ConfigurationError: no such measure, or a parameter where it is not defined.
    """

    measure: str = "ab"
    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise ConfigurationError(f"measure={self.measure}: choose {', '.join(MEASURES)}")
        banned = {
            "ab": 0.0 in (self.alpha, self.beta, self.alpha + self.beta),
            "alpha": self.alpha in (0.0, 1.0),
            "beta": self.beta in (0.0, -1.0),
            "renyi": self.alpha <= 0 or self.alpha == 1,
        }
        if not np.isfinite([self.alpha, self.beta]).all() or banned.get(self.measure):
            raise ConfigurationError(
                f"measure={self.measure} is not defined for alpha={self.alpha:g}, "
                f"beta={self.beta:g}; {_DOMAINS.get(self.measure, 'give finite numbers')}"
            )

    @property
    def parameters(self) -> dict[str, float]:
        """Those that the measure reads."""
        return {name: float(getattr(self, name)) for name in _READ.get(self.measure, ())}

    def __call__(self, p: Floats, q: Floats) -> float:
        """The distance of two distributions, [V] each, that sum to 1 but for rounding."""
        p, q = (part.astype(np.float64) / part.sum(dtype=np.float64) for part in (p, q))
        # A token that neither text can have says nothing, and some powers would make NaN of it.
        kept = (p != 0) | (q != 0)
        p, q = p[kept], q[kept]
        # Powers and logarithms of 0 make infinities, which are answers of their own.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = MEASURES[self.measure](p, q, self.alpha, self.beta)
        # Rounding may bring equal ones below 0; a NaN stays one.
        return float(np.maximum(found, 0.0))


def _ab(p: Floats, q: Floats, alpha: float, beta: float) -> float:
    both = alpha + beta
    own = np.log((p**both).sum()) / (beta * both) + np.log((q**both).sum()) / (alpha * both)
    return float(own - np.log((p**alpha * q**beta).sum()) / (alpha * beta))


def _beta(p: Floats, q: Floats, _: float, beta: float) -> float:
    return _ab(p, q, 1.0, beta)


def _alpha(p: Floats, q: Floats, alpha: float, _: float) -> float:
    return float(((p**alpha * q ** (1 - alpha)).sum() - 1) / (alpha * (alpha - 1)))


def _renyi(p: Floats, q: Floats, alpha: float, _: float) -> float:
    return float(np.log((p**alpha * q ** (1 - alpha)).sum()) / (alpha - 1))


def _kl(p: Floats, q: Floats, _: float, __: float) -> float:
    from scipy.special import rel_entr

    return float(rel_entr(p, q).sum())


def _fisher_rao(p: Floats, q: Floats, _: float, __: float) -> float:
    return float(2 * np.arccos(np.clip(np.sqrt(p * q).sum(), 0.0, 1.0)))


def _norm(order: float) -> Callable[[Floats, Floats, float, float], float]:
    return lambda p, q, _, __: float(np.linalg.norm(p - q, order))


MEASURES: dict[str, Callable[[Floats, Floats, float, float], float]] = {
    "ab": _ab,
    "alpha": _alpha,
    "beta": _beta,
    "renyi": _renyi,
    "kl": _kl,
    "l1": _norm(1),
    "l2": _norm(2),
    "linf": _norm(np.inf),
    "fisher-rao": _fisher_rao,
}
"""Measures by name."""

_READ = {"ab": ("alpha", "beta"), "alpha": ("alpha",), "beta": ("beta",), "renyi": ("alpha",)}
_DOMAINS = {
    "ab": "alpha, beta and their sum must not be 0",
    "alpha": "alpha must be neither 0 nor 1",
    "beta": "beta must be neither 0 nor -1",
    "renyi": "alpha must be above 0 and not 1",
}
