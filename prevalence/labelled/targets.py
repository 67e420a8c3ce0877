"""Labels of pairs in every accepted spelling, as probabilities of three classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Target", "majority_target", "mean_target", "parse_target"]

_NAMES = {
    "e": (1.0, 0.0, 0.0),
    "entailment": (1.0, 0.0, 0.0),
    "n": (0.0, 1.0, 0.0),
    "neutral": (0.0, 1.0, 0.0),
    "c": (0.0, 0.0, 1.0),
    "contradiction": (0.0, 0.0, 1.0),
}
_ROUNDING = 0.01
"""How far three probabilities written with few digits may be from a sum of 1."""
_NOT_ENTAILED = ("not_entailment", "not entailment", "non-entailment")


class Target(NamedTuple):
    """Probabilities of entailment, neutral and contradiction.

    With `binary` the second and third are unknown apart from their sum, which `neutral` holds.
    """

    entailment: float
    neutral: float
    contradiction: float
    binary: bool


def parse_target(label: object, where: str) -> Target:
    """Turn one label of any accepted spelling into a target.

    Args:
        label: 0 or 1, a probability of entailment, a label name, or three probabilities.
        where: File and line for messages.

    Returns:
        The target.

    Raises:
        InputError: The label is none of these.
    """
    if isinstance(label, str):
        return _named_target(label, where)
    if isinstance(label, bool | int | float) and 0 <= label <= 1:
        return Target(float(label), 1.0 - float(label), 0.0, True)
    if _is_distribution(label):
        total = sum(label)  # type: ignore[call-overload]
        first, second, third = (float(value) / total for value in label)  # type: ignore[attr-defined]
        return Target(first, second, third, False)
    raise InputError(
        f"{where}: label {label!r} is not 0, 1, a probability, a label name or three "
        "probabilities that sum to 1"
    )


def _named_target(label: str, where: str) -> Target:
    name = label.strip().lower()
    if name in _NOT_ENTAILED:
        return Target(0.0, 1.0, 0.0, True)
    if name not in _NAMES:
        raise InputError(
            f"{where}: unknown label {label!r}; use entailment, neutral, contradiction or "
            "not_entailment"
        )
    return Target(*_NAMES[name], binary=False)


def _is_distribution(label: object) -> bool:
    return (
        isinstance(label, list)
        and len(label) == 3
        and all(isinstance(value, int | float) and value >= 0 for value in label)
        and abs(sum(label) - 1.0) < _ROUNDING
    )


def mean_target(targets: Sequence[Target]) -> Target:
    """Average the annotators of one pair; one binary voice makes the result binary.

    Args:
        targets: One target an annotator, at least one.

    Returns:
        The mean.
    """
    n = len(targets)
    entailment = sum(t.entailment for t in targets) / n
    if any(t.binary for t in targets):
        return Target(entailment, 1.0 - entailment, 0.0, True)
    neutral = sum(t.neutral for t in targets) / n
    return Target(entailment, neutral, sum(t.contradiction for t in targets) / n, False)


def majority_target(targets: Sequence[Target]) -> Target:
    """Whether more than half of the annotators say entailment; a tie is no entailment.

    Args:
        targets: One target an annotator, at least one.

    Returns:
        A binary target of 0 or 1.
    """
    entailed = sum(target.entailment > 0.5 for target in targets) * 2 > len(targets)
    return Target(float(entailed), 1.0 - entailed, 0.0, True)
