"""A masked language model trained for a moment on one summary, as BLANC-tune wants it."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import BackendError, ConfigurationError, first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.generative.cloze import Masking, Pieces
    from prevalence.baselines.generative.masked import Frame
    from prevalence.baselines.neural.runner import Runner

__all__ = ["Tuning", "training_rows", "tuned"]

_RANDOM_TOKENS = (1_000, 29_999)
"""Tokens of BERT that stand in for others in training, first and last."""
_IGNORED = -100
_DECAY = 0.01

MaskedRow = tuple["NDArray[np.int64]", "NDArray[np.int64]"]
"""Token numbers, and what is wanted in their places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """How a model is trained on a summary; the defaults are those of the blanc package.

    Attributes:
        masking: which tokens are masked together.
        epochs: passes over the summary.
        batch: masked chunks in a step.
        chunk: tokens of the summary in a chunk.
        stride: tokens by which successive chunks advance. A chunk that begins within the first
            one's length brings the tokens before it once more, since they would be seen less.
        rate: learning rate, falling to 0 in a straight line.
        warmup: steps in which it rises first.
        replaced: share of masked tokens that become random tokens.
        kept: share of them that stay as they are.
        seed: of these choices and of dropout.
    """

    masking: Masking
    epochs: int = 10
    batch: int = 1
    chunk: int = 64
    stride: int = 32
    rate: float = 5e-5
    warmup: int = 0
    replaced: float = 0.1
    kept: float = 0.1
    seed: int = 1

    def factor(self, step: int, steps: int) -> float:
        """What the learning rate is multiplied by in a step."""
        if step < self.warmup:
            return step / self.warmup
        return max(0.0, (steps - step) / max(1, steps - self.warmup))


def training_rows(runner: Runner, frame: Frame, summary: Pieces, tuning: Tuning) -> list[MaskedRow]:
    """Masked chunks of a summary, in the order in which the model sees them.

    Raises:
        ConfigurationError: a chunk is longer than the model reads.
    """
    room = runner.limit - 2
    if min(summary.ids.size, tuning.chunk) > room:
        raise ConfigurationError(
            f"blanc-tune: chunk={tuning.chunk}: {runner.model} reads {room} tokens of a summary at "
            f"a time; give chunk={room} or fewer"
        )
    chance = random.Random(tuning.seed)  # noqa: S311 (the package's own stream of choices)
    vocabulary = int(runner.network.config.vocab_size)
    lowest, highest = _RANDOM_TOKENS if vocabulary > _RANDOM_TOKENS[1] else (0, vocabulary - 1)
    rows: list[MaskedRow] = []
    for start, end in _chunks(summary.ids.size, tuning):
        chunk = summary.part(start, end)
        for hidden in tuning.masking.places(chunk):
            ids, wanted = frame.around(chunk.ids), np.full(chunk.ids.size + 2, _IGNORED)
            for place in (hidden + 1).tolist():
                wanted[place], ids[place] = ids[place], frame.mask
                drawn = chance.random()
                if drawn < tuning.replaced:
                    ids[place] = chance.randint(lowest, highest)
                elif drawn < tuning.replaced + tuning.kept:
                    ids[place] = wanted[place]
            rows.append((ids, wanted))
    return rows


def tuned(runner: Runner, frame: Frame, summary: Pieces, tuning: Tuning) -> Any:
    """A copy of the runner's network in float32, trained on a summary.

    Raises:
        ConfigurationError: a chunk is longer than the model reads.
        BackendError: the device failed, or has not the memory for training.
    """
    import torch

    rows = training_rows(runner, frame, summary, tuning)
    devices = [runner.device] if runner.device.type == "cuda" else []
    # Dropout draws from torch's own generator; the caller's is given back as it was.
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(tuning.seed)
        try:
            # An optimizer's steps are lost in the rounding of half precision.
            network = copy.deepcopy(runner.network).float()
            _train(runner, network.train(), rows, tuning)
        except RuntimeError as error:
            raise BackendError(
                f"{runner.model}: training failed on {runner.device}: {first_line(error)}"
            ) from error
    return network.eval()


def _chunks(length: int, tuning: Tuning) -> list[tuple[int, int]]:
    """Beginnings and ends of the chunks."""
    found = []
    for start in range(0, length, tuning.stride):
        found.append((start, start + tuning.chunk))
        if 0 < start < tuning.chunk:
            found.append((0, start))
    return found


def _train(runner: Runner, network: Any, rows: Sequence[MaskedRow], tuning: Tuning) -> None:
    import torch

    steps = [rows[at : at + tuning.batch] for at in range(0, len(rows), tuning.batch)]
    steps = steps * tuning.epochs
    optimizer = torch.optim.AdamW(_groups(network), lr=tuning.rate, eps=1e-8)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: tuning.factor(step, len(steps))
    )
    for batch in steps:
        ids = [row for row, _ in batch]
        optimizer.zero_grad()
        loss = network(
            input_ids=runner.padded(ids),
            attention_mask=runner.mask(ids),
            labels=runner.padded([wanted for _, wanted in batch], fill=_IGNORED),
        ).loss
        loss.backward()
        optimizer.step()
        schedule.step()


def _groups(network: Any) -> list[dict[str, Any]]:
    """Parameters with and without weight decay."""
    spared = ("bias", "LayerNorm.weight")
    decayed: list[Any] = []
    others: list[Any] = []
    for name, parameter in network.named_parameters():
        (others if any(part in name for part in spared) else decayed).append(parameter)
    return [
        {"params": decayed, "weight_decay": _DECAY},
        {"params": others, "weight_decay": 0.0},
    ]
