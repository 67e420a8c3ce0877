"""Names that a package offers, loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["loader"]


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__``.

    Args:
        package: its name.
        homes: the module that defines each name.

    Returns:
        A function of a name; it raises AttributeError for any other.

    >>> loader("prevalence.claims", {"cut": "prevalence.claims.cutter"})("cut").__name__
    'cut'
    """

    def load(name: str) -> Any:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
