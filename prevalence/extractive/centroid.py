"""Centroid: sentences whose embeddings together point where the reviews' mean points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["centroid_order", "embeddings"]

_BATCH = 64


def embeddings(texts: Sequence[str], *, model: str = "embedded", device: str = "auto") -> (
    NDArray[np.float32]
):  # fmt: skip
    """Unit vectors of texts: the mean of an encoder's last layer over the tokens.

    Args:
        texts: N texts.
        model: an NLI checkpoint as in :func:`prevalence.scorers.open_scorer`; its encoder is used.
        device: ``auto`` or a torch device.

    Returns:
        float32 [N, width].

    Raises:
        ModelError: the checkpoint is unusable.
    """
    import torch

    from prevalence.nli.checkpoint import load_checkpoint

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    checkpoint = load_checkpoint(model.removeprefix("nli:"))
    encoder = checkpoint.model.base_model.to(device)
    # Texts of similar length share a batch, so that little is padding.
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    found: list[NDArray[np.float32]] = []
    for start in range(0, len(order), _BATCH):
        batch = checkpoint.tokenizer(
            [texts[number] for number in order[start : start + _BATCH]],
            padding=True,
            truncation=True,
            max_length=checkpoint.max_length,
            return_tensors="pt",
        ).to(device)
        with torch.inference_mode():
            states = encoder(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
        means = (states * mask).sum(1) / mask.sum(1)
        unit = torch.nn.functional.normalize(means.float(), dim=1)
        found.append(unit.cpu().numpy())
    vectors = np.concatenate(found) if found else np.empty((0, 1), np.float32)
    vectors[order] = vectors.copy()
    return vectors


def centroid_order(vectors: NDArray[np.float32], weights: NDArray[np.float64]) -> Iterator[int]:
    """Sentences in the order in which they best complete a summary.

    The next sentence is the one for which the sum of all chosen vectors has the highest cosine
    with the centroid; the first of equal ones.

    Args:
        vectors: float [N, width], unit vectors of distinct sentences.
        weights: float [N], how often each of them stands in the reviews.

    Yields:
        Indices of sentences, each once.
    """
    wide = vectors.astype(np.float64)
    centroid = weights @ wide
    total = np.zeros(wide.shape[1])
    left = np.ones(len(wide), np.bool_)
    while left.any():
        sums = total + wide
        norms = np.maximum(np.linalg.norm(sums, axis=1), 1e-12)
        cosines = np.where(left, (sums @ centroid) / norms, -np.inf)
        best = int(cosines.argmax())
        left[best] = False
        total = sums[best]
        yield best
