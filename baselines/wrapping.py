"""A metric around another one: all but the answering is the other's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from prevalence.baselines.protocol import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.baselines.protocol import Entry, Input

__all__ = ["WrappedMetric"]

Inner = TypeVar("Inner", bound=Metric)


class WrappedMetric(Generic[Inner]):
    """What a metric is, as another says it; subclasses add ``score``.

    Args:
        inner: the other.
    """

    def __init__(self, inner: Inner) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """As the inner metric's."""
        return self._inner.name

    @property
    def entry(self) -> Entry:
        """As the inner metric's."""
        return self._inner.entry

    @property
    def needs(self) -> tuple[Input, ...]:
        """As the inner metric's."""
        return self._inner.needs

    @property
    def signature(self) -> Mapping[str, str]:
        """As the inner metric's."""
        return self._inner.signature

    @property
    def work_unit(self) -> int:
        """As the inner metric's."""
        return self._inner.work_unit

    @property
    def truncated(self) -> int:
        """Texts that the inner metric has cut so far."""
        return int(getattr(self._inner, "truncated", 0))
