"""The loss that lets three-way and binary labels share a batch."""

import torch
from torch import Tensor

__all__ = ["nli_loss"]


def nli_loss(logits: Tensor, targets: Tensor, binary: Tensor, *, smoothing: float = 0.0) -> Tensor:
    """Mean loss of a batch of three-way and binary targets.

    A three-way target t costs −Σ t log p. A binary target knows only q = P(entailment) and costs
    −q log p_e − (1 − q) log(1 − p_e), so the head is free to split the rest.

    Args:
        logits: float [n, 3] in the order entailment, neutral, contradiction.
        targets: float [n, 3], rows sum to 1; binary rows hold (q, 1 − q, 0).
        binary: bool [n].
        smoothing: Share of each target spread evenly over its classes (3, or 2 when binary).

    Returns:
        Scalar loss in float32.
    """
    log_p = torch.log_softmax(logits.float(), dim=-1)
    log_not = torch.logsumexp(log_p[:, 1:], dim=-1)
    spread = targets * (1.0 - smoothing) + smoothing / 3.0
    threeway_loss = -(spread * log_p).sum(dim=-1)
    q = targets[:, 0] * (1.0 - smoothing) + smoothing / 2.0
    binary_loss = -(q * log_p[:, 0] + (1.0 - q) * log_not)
    return torch.where(binary, binary_loss, threeway_loss).mean()
