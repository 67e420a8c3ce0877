"""Learn a SummaC-Conv head from labelled pairs; the NLI models stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.nli.pairs import TextTable
from prevalence.scorers.conv import ROWS, ConvHead, ConvScorer, ConvSettings
from prevalence.scorers.units import models_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScorer, Progress

__all__ = ["ConvTraining", "fit_head", "read_histograms", "train_conv"]

_WEIGHT_SCALE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvTraining:
    """How a head is learnt: Adam on all pairs at once, both classes weighing the same.

    Attributes:
        steps: of the optimizer.
        learning_rate: of Adam.
        decay: L2 penalty on the weights of the histograms, which keeps rare bins near 0.
        seed: of the starting weights.

    Raises:
        ConfigurationError: a value out of range.
    """

    steps: int = 500
    learning_rate: float = 0.02
    decay: float = 1e-3
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.steps < 1 or self.learning_rate <= 0 or self.decay < 0:
            raise ConfigurationError(
                "steps and learning rate must be positive, the decay not negative"
            )


def train_conv(
    inners: Sequence[PairScorer],
    premises: Sequence[str],
    hypotheses: Sequence[str],
    labels: Sequence[int] | NDArray[np.bool_],
    *,
    settings: ConvSettings | None = None,
    training: ConvTraining | None = None,
    progress: Progress | None = None,
) -> ConvHead:
    """Learn a head.

    Args:
        inners: NLI models, in the order in which the head shall read them.
        premises: P texts.
        hypotheses: P texts.
        labels: P labels, 1 where the premise supports the hypothesis.
        settings: bins, classes, granularity and aggregate.
        training: how to learn.
        progress: called with the number of pairs just scored.

    Raises:
        InputError: the lists are not equally long, or one label never occurs.
    """
    settings = settings or ConvSettings()
    rows = read_histograms(inners, premises, hypotheses, settings, progress=progress)
    head = fit_head(rows, np.asarray(labels, np.bool_), settings=settings, training=training)
    return replace(head, nli=models_of(inners))


def read_histograms(
    inners: Sequence[PairScorer],
    premises: Sequence[str],
    hypotheses: Sequence[str],
    settings: ConvSettings,
    *,
    progress: Progress | None = None,
) -> list[NDArray[np.float64]]:
    """What a head with these settings reads of each pair; folds of one data set share it.

    Raises:
        InputError: the lists are not equally long.
    """
    if len(premises) != len(hypotheses):
        raise InputError(
            f"{len(premises)} premises and {len(hypotheses)} hypotheses: give one of each per pair"
        )
    weights = np.zeros(settings.features * len(inners))
    blank = ConvHead(settings, weights, 0.0, np.zeros((2, 3)), np.zeros(2))
    texts = TextTable()
    pairs = np.stack([texts.add_all(premises), texts.add_all(hypotheses)], axis=1)
    return ConvScorer(inners, blank).histograms(texts, pairs, progress=progress)


def fit_head(
    rows: Sequence[NDArray[np.float64]],
    labels: NDArray[np.bool_],
    *,
    settings: ConvSettings,
    training: ConvTraining | None = None,
) -> ConvHead:
    """Learn a head from histograms.

    Args:
        rows: of each pair, float64 [units, models x features], from :func:`read_histograms`. A
            pair without a unit is left out.
        labels: bool [P].
        settings: those that the histograms were made with.
        training: how to learn.

    Raises:
        InputError: the lists are not equally long, or one label never occurs.
    """
    known = np.array([len(part) > 0 for part in rows], np.bool_)
    if len(rows) != len(labels) or len(set(labels[known].tolist())) != 2:
        raise InputError(
            "training a head needs pairs with labels of both kinds, one label per pair"
        )
    import torch

    how = training or ConvTraining()
    histograms, units = _padded([part for part in rows if len(part)])
    weights = torch.from_numpy(
        np.random.default_rng(how.seed).normal(scale=_WEIGHT_SCALE, size=histograms.shape[2])
    ).requires_grad_()
    bias = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    final = torch.tensor([[-0.3] * 3, [0.3] * 3], dtype=torch.float64, requires_grad=True)
    final_bias = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([weights, bias, final, final_bias], lr=how.learning_rate)
    target = torch.from_numpy(labels[known].astype(np.int64))
    balance = 1.0 / torch.bincount(target, minlength=2).double()
    for _ in range(how.steps):
        optimizer.zero_grad()
        features = _features(histograms @ weights + bias, units, settings.aggregate)
        loss = torch.nn.functional.cross_entropy(features @ final.T + final_bias, target, balance)
        (loss + how.decay * weights.square().sum()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return ConvHead(
        settings,
        weights.detach().numpy(),
        float(bias.detach()),
        final.detach().numpy(),
        final_bias.detach().numpy(),
    )


def _padded(rows: Sequence[NDArray[np.float64]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Histograms float64 [P, ROWS, F], zeros after a pair's units, and bool [P, ROWS] of these."""
    import torch

    padded = np.zeros((len(rows), ROWS, rows[0].shape[1]))
    for place, part in enumerate(rows):
        padded[place, : len(part)] = part
    counts = np.array([len(part) for part in rows])
    return torch.from_numpy(padded), torch.from_numpy(np.arange(ROWS) < counts[:, None])


def _features(numbers: torch.Tensor, units: torch.Tensor, aggregate: str) -> torch.Tensor:
    """The three features of each pair, float64 [P, 3]; units that are not there do not count."""
    import torch

    least = numbers.masked_fill(~units, torch.inf).amin(dim=1)
    greatest = numbers.masked_fill(~units, -torch.inf).amax(dim=1)
    mean = numbers.masked_fill(~units, 0.0).sum(dim=1) / units.sum(dim=1)
    chosen = {"min": [least] * 3, "mean": [mean] * 3, "max": [greatest] * 3}
    return torch.stack(chosen.get(aggregate, [least, mean, greatest]), dim=1)
