"""Claims: the single statements that a text makes."""

from __future__ import annotations

from dataclasses import dataclass

from prevalence.errors import ConfigurationError

__all__ = ["Claim", "cut"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement that can be read alone.

    Attributes:
        text: the statement.
        start: offset of its first character in the text it was cut from.
        end: offset after its last character there.
        sentence: index of the sentence it comes from.
    """

    text: str
    start: int
    end: int
    sentence: int


def cut(text: str, *, product_name: str | None = None) -> list[Claim]:  # noqa: ARG001
    """Cut a text into claims by rule.

    Args:
        text: a summary or a review.
        product_name: the product's name, or None.

    Raises:
        ConfigurationError: always; claims come from the record.
    """
    raise ConfigurationError(
        'claims are not cut by rule yet: give them in the record, as "claims" beside the summaries'
    )
