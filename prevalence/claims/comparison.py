"""Whether as many reviews support a statement as its quantity says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError

if TYPE_CHECKING:
    from prevalence.claims.amounts import Quantity

__all__ = ["Agreement", "agreement", "wilson_interval"]


class Agreement(NamedTuple):
    """A quantity beside the reviews that support the statement.

    Attributes:
        text: the words.
        low: least share that they stand for.
        high: greatest share.
        agrees: whether the interval of the share of supporting reviews meets that range; None
            where the reviews were not asked, or the words are of a part of the reviewers.
        interval: of that share, or None likewise.
        support: how many reviews support the statement, or None likewise.
        of: that part of the reviewers ("families"), or None.
    """

    text: str
    low: float
    high: float
    agrees: bool | None
    interval: tuple[float, float] | None
    support: int | None = None
    of: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        interval = None if self.interval is None else list(self.interval)
        return {**self._asdict(), "interval": interval}


def wilson_interval(k: int, n: int) -> tuple[float, float]:
    """Wilson's 95% score interval of a share.

    Args:
        k: cases that have a property, 0 to n.
        n: cases, at least 1.

    Raises:
        InputError: a number out of range.

    Source: Wilson 1927; Newcombe 1998, method 3.

    >>> [round(end, 3) for end in wilson_interval(4, 8)]
    [0.215, 0.785]
    """
    if n < 1 or not 0 <= k <= n:
        raise InputError(f"no interval of {k} among {n}: give k of 0 to n, and n of at least 1")
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.975)
    share, square = k / n, z * z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * (share * (1 - share) / n + square / (4 * n * n)) ** 0.5
    # Rounding must not push an end past a share that it touches.
    low = 0.0 if k == 0 else max(middle - half, 0.0)
    high = 1.0 if k == n else min(middle + half, 1.0)
    return low, high


def agreement(quantity: Quantity, support: int | None, n_reviews: int) -> Agreement:
    """Whether the reviews that support a statement are as many as its quantity says.

    Args:
        quantity: of the statement.
        support: reviews that support it without its quantity; None where they were not asked.
        n_reviews: reviews, at least 1.

    Returns:
        The comparison. Only a quantity that denies agrees with no support at all. That of a part
        of the reviewers ("most families") is not compared: nobody knows which reviews are theirs.

    >>> from prevalence.claims.quantities import quantified
    >>> agreement(quantified("Most users love it.").quantity, 1, 20).agrees
    False
    """
    low, high = quantity.shares(n_reviews)
    if support is None or quantity.of is not None:
        return Agreement(quantity.text, low, high, None, None, of=quantity.of)
    interval = wilson_interval(support, n_reviews)
    meets = interval[0] <= high and low <= interval[1]
    agrees = meets and (support > 0 or quantity.denies)
    return Agreement(quantity.text, low, high, agrees, interval, support)
