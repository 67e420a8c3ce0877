"""A simple batched forward pass for evaluation during training."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from prevalence.training.batching import collate, encode, plan_batches
from prevalence.training.model import Classifier

__all__ = ["predict"]


def predict(
    classifier: Classifier,
    pairs: Sequence[tuple[str, str]],
    *,
    max_length: int,
    batch_tokens: int = 4096,
    autocast: torch.dtype | None = None,
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Probabilities of entailment, neutral and contradiction.

    Args:
        classifier: Model and tokenizer; its training mode is restored afterwards.
        pairs: Premise and hypothesis.
        max_length: Longest pair in tokens.
        batch_tokens: Padded tokens a batch.
        autocast: Reduced precision, or None for float32.

    Returns:
        float32 [len(pairs), 3], rows sum to 1, in the order of the pairs.
    """
    model, tokenizer = classifier.model, classifier.tokenizer
    device = next(model.parameters()).device
    encoded = encode(tokenizer, pairs, max_length=max_length)
    lengths = [len(ids) for ids in encoded["input_ids"]]
    result = np.zeros((len(pairs), 3), dtype=np.float32)
    training = model.training
    model.eval()
    with (
        torch.inference_mode(),
        torch.autocast(device.type, autocast, enabled=autocast is not None),
    ):
        for rows in plan_batches(lengths, budget=batch_tokens):
            batch = collate(encoded, rows, pad_id=tokenizer.pad_token_id)
            logits = classifier.logits({key: value.to(device) for key, value in batch.items()})
            result[rows] = torch.softmax(logits.float(), dim=-1).cpu().numpy()
    model.train(training)
    return result
