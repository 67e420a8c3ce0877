"""A simple batched forward pass for evaluation during training."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from prevalence.training.batching import plan_batches
from prevalence.training.model import Classifier

__all__ = ["predict"]


def predict(
    classifier: Classifier,
    pairs: Sequence[tuple[str, str]],
    *,
    batch_tokens: int = 4096,
    autocast: torch.dtype | None = None,
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Probabilities of entailment, neutral and contradiction.

    Args:
        classifier: Model and tokenizer; its training mode is restored afterwards.
        pairs: Premise and hypothesis.
        batch_tokens: Tokens a batch.
        autocast: Reduced precision, or None for float32.

    Returns:
        float32 [len(pairs), 3], rows sum to 1, in the order of the pairs.
    """
    model = classifier.model
    device = next(model.parameters()).device
    inputs = classifier.inputs(pairs)
    result = np.zeros((len(pairs), 3), dtype=np.float32)
    training = model.training
    model.eval()
    with (
        torch.inference_mode(),
        torch.autocast(device.type, autocast, enabled=autocast is not None),
    ):
        for units in plan_batches(inputs.sizes, budget=batch_tokens, padded=inputs.padded):
            batch = inputs.batch(units, device)
            logits = classifier.logits(batch.inputs)
            result[batch.members] = torch.softmax(logits.float(), dim=-1).cpu().numpy()
    model.train(training)
    return result
