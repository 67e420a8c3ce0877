"""What a masked language model expects at chosen places of its input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.neural.runner import MASKED, Runner, open_runner
from prevalence.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Runtime

__all__ = ["Frame", "logits_at", "open_masked"]


class Frame:
    """The special tokens that a masked language model knows.

    Attributes:
        mask: stands for a hidden token.
        first: begins an input.
        last: ends it.

    Raises:
        ModelError: the tokenizer lacks one of them.
    """

    def __init__(self, runner: Runner) -> None:
        tokenizer = runner.tokenizer
        found = tokenizer.mask_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id
        if None in found:
            raise ModelError(
                f"{runner.model}: its tokenizer has no token for a mask, a beginning or an end; "
                "use a masked language model such as BERT or RoBERTa"
            )
        self.mask, self.first, self.last = (int(number) for number in found)

    def around(self, *parts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Token numbers of an input, int64 [T]."""
        return np.concatenate([[self.first], *parts, [self.last]]).astype(np.int64)


def open_masked(model: str, runtime: Runtime) -> tuple[Runner, Frame]:
    """A masked language model and its special tokens.

    Raises:
        ModelError: the checkpoint is unusable.
    """
    runner = open_runner(MASKED, model, runtime)
    return runner, Frame(runner)


def logits_at(
    runner: Runner,
    rows: Sequence[NDArray[np.int64]],
    places: Sequence[NDArray[np.int64]],
    *,
    network: Any = None,
) -> Any:
    """Logits at some places of each row.

    Args:
        runner: reads the rows.
        rows: B inputs of token numbers.
        places: where each row is asked, ascending; N places in all.
        network: used in place of the runner's.

    Returns:
        A tensor [N, V] on the device: the first row's places, then the second's, and so on.
    """
    import torch

    network = runner.network if network is None else network
    sizes = [part.size for part in places]
    row = torch.from_numpy(np.repeat(np.arange(len(rows)), sizes)).to(runner.device)
    place = torch.from_numpy(np.concatenate(places)).to(runner.device)

    def keep(_: Any, __: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[row, place][None]
        return output

    ids, mask = runner.padded(rows), runner.mask(rows)
    # The head reads vectors one by one, and its vocabulary makes it dear: give it those asked.
    hook = network.base_model.register_forward_hook(keep)
    try:
        logits = network(input_ids=ids, attention_mask=mask).logits
    finally:
        hook.remove()
    if logits.shape[:2] != (1, row.numel()):
        raise ModelError(f"{runner.model}: {network.config.model_type} reads its vectors jointly")
    return logits[0]
