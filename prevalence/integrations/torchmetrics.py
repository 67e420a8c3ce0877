"""A torchmetrics metric: sums as states, which add up over batches and processes."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch

from prevalence.errors import ConfigurationError, MissingDependencyError
from prevalence.rewards.batch import BatchScorer, Sample, Tally

try:
    from torchmetrics import Metric
except ImportError as error:
    raise MissingDependencyError(
        "the metric needs torchmetrics: pip install 'prevalence[torchmetrics]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PrevalenceMetric"]

_COUNTS = tuple(field.name for field in fields(Tally) if field.name != "prevalence")


class PrevalenceMetric(Metric):  # type: ignore[misc]
    """Mean opinion prevalence of summaries, with the shares of what is wrong with them.

    Args:
        batches: scores the summaries; the embedded model by default. Copies of the metric load
            their own.
        kwargs: torchmetrics' own options.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    def __init__(self, batches: BatchScorer | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.batches = batches or BatchScorer()
        zero = torch.tensor(0.0, dtype=torch.float64)
        self.add_state("prevalence", default=zero, dist_reduce_fx="sum")
        for name in _COUNTS:
            self.add_state(name, default=torch.tensor(0), dist_reduce_fx="sum")

    def update(
        self,
        summaries: Sequence[str],
        reviews: Sequence[Sequence[str]],
        names: Sequence[str | None] | None = None,
    ) -> None:
        """Score a batch.

        Args:
            summaries: strings.
            reviews: one list of reviews a summary.
            names: one product name a summary, or None.

        Raises:
            ConfigurationError: the lists differ in length.
        """
        names = [None] * len(summaries) if names is None else names
        if not len(summaries) == len(reviews) == len(names):
            raise ConfigurationError(
                f"{len(summaries)} summaries, {len(reviews)} lists of reviews and {len(names)} "
                "names: give one of each for every summary"
            )
        samples = [Sample(*row) for row in zip(summaries, reviews, names, strict=True)]
        tally = Tally.of(self.batches.score(samples))
        for name in ("prevalence", *_COUNTS):
            setattr(self, name, getattr(self, name) + getattr(tally, name))

    def compute(self) -> dict[str, torch.Tensor]:
        """Means and shares by name, float64 scalars; see :meth:`Tally.metrics`."""
        tally = Tally(
            self.prevalence.item(), *(int(getattr(self, name).item()) for name in _COUNTS)
        )
        found = tally.metrics()
        return {key: torch.tensor(value, dtype=torch.float64) for key, value in found.items()}
