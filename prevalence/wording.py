"""Numbers and names as sentences have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["counted", "first_of"]


def counted(count: int, one: str, several: str | None = None) -> str:
    """A number before what it counts, in the singular for 1.

    Args:
        count: how many.
        one: the word, or the words up to the verb, for one of them.
        several: the same for any other number; with an "s" more where it is not given.

    >>> counted(1, "review"), counted(2_000, "summary", "summaries")
    ('1 review', '2,000 summaries')
    """
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def first_of(names: Sequence[str], most: int, joint: str = "and") -> str:
    """The first of several names, and how many more there are.

    Args:
        names: all of them.
        most: how many are named.
        joint: the word before the number of the others.

    >>> first_of(["a", "b", "c", "d"], 2), first_of(["a", "b"], 2)
    ('a, b and 2 more', 'a, b')
    """
    more = f" {joint} {len(names) - most:,} more" if len(names) > most else ""
    return (", " if joint == "and" else f" {joint} ").join(names[:most]) + more
