"""Nucleus sampling in which each row draws its own random numbers.

A library's sampler takes the numbers of a whole batch from one generator, so that a text depends
on its neighbours. Here a row brings one uniform number a step, which picks a token by inversion.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["NucleusSampler", "nucleus_choice", "uniforms"]

_FIRST = 256
"""Most probable tokens that are sorted first; the whole vocabulary only when they do not do."""


def uniforms(text: str, *, samples: int, steps: int, seed: int) -> np.ndarray:
    """The random numbers of one text: a function of text, sample and seed alone.

    Args:
        text: what is rewritten.
        samples: number of rows.
        steps: tokens that a row may draw.
        seed: any integer.

    Returns:
        float32 [samples, steps], uniform in [0, 1).
    """
    rows = np.empty((samples, steps), np.float32)
    for sample in range(samples):
        named = f"{seed}\0{sample}\0{text}".encode("utf-8", "surrogatepass")
        key = np.frombuffer(hashlib.blake2b(named, digest_size=16).digest(), np.uint64)
        rows[sample] = np.random.Generator(np.random.Philox(key=key)).random(steps, np.float32)
    return rows


def nucleus_choice(logits: Tensor, numbers: Tensor, p: float) -> Tensor:
    """Draw one token a row from its nucleus.

    The nucleus is the smallest set of most probable tokens that holds a probability of at least
    p; a token is drawn from it in proportion to its probability.

    Args:
        logits: float [rows, vocabulary].
        numbers: float [rows], uniform in [0, 1).
        p: in (0, 1].

    Returns:
        int64 [rows], token ids.

    Source: Holtzman et al. 2020, section 3.1.
    """
    every = torch.softmax(logits.float(), dim=-1)
    top, tokens = every.topk(min(_FIRST, every.shape[1]), dim=-1)
    summed = top.cumsum(dim=-1)
    if top.shape[1] < every.shape[1] and bool((summed[:, -1] < p).any()):
        top, tokens = every.sort(dim=-1, descending=True)
        summed = top.cumsum(dim=-1)
    inside = summed - top < p
    mass = (top * inside).sum(dim=-1)
    passed = inside & (summed <= (numbers * mass).unsqueeze(1))
    # Rounding may let a number pass the last token inside, or leave none inside for a tiny p.
    place = torch.minimum(passed.sum(dim=-1), inside.sum(dim=-1) - 1).clamp(min=0)
    return tokens.gather(1, place.unsqueeze(1)).squeeze(1)


class NucleusSampler:
    """A logits processor that leaves the drawn token alone, so that greedy search takes it.

    Args:
        numbers: float [rows, steps], one uniform number a row and step.
        p: nucleus probability in (0, 1].
    """

    def __init__(self, numbers: Tensor, *, p: float) -> None:
        self._numbers = numbers
        self._p = p
        self._step = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:  # noqa: ARG002 - the protocol
        """Scores of a step, minus infinity but for the drawn token."""
        chosen = nucleus_choice(scores, self._numbers[:, self._step], self._p)
        self._step += 1
        return torch.full_like(scores, -torch.inf).scatter_(1, chosen.unsqueeze(1), 0.0)
