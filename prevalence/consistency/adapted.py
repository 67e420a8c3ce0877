"""The pair scorer on classifiers that an adapter file describes."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.characters import well_formed
from prevalence.consistency.network import Network
from prevalence.errors import BackendError, ModelError
from prevalence.metric import check_threshold
from prevalence.nli.checkpoint import first_line
from prevalence.nli.packing import batches
from prevalence.nli.protocol import FLAG_TOO_LONG, FLAG_TRUNCATED, PairScores, Progress
from prevalence.nli.scorer import rounding_doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from prevalence.consistency.adapter import Adapter
    from prevalence.texts import TextTable

__all__ = ["AdaptedScorer"]

_BATCH_TOKENS = 4_096
_UNCALIBRATED = 0.5
_POOL: dict[str, Callable[..., Any]] = {"max": np.max, "mean": np.mean, "min": np.min}


class _Reading(NamedTuple):
    """How one pair is shown: token ids of each chunk, and flags."""

    inputs: list[dict[str, list[int]]]
    flags: int


class AdaptedScorer:
    """P("supported") of pairs, by a sequence classifier of any template and head.

    Args:
        adapter: what the classifier wants to see and what its outputs mean.
        threshold: decision threshold in [0, 1); None takes the adapter's, or 0.5.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.
        batch_tokens: most tokens in a batch, padding included.

    Raises:
        ModelError: the checkpoint is unusable, or has fewer outputs than the adapter names.
        ConfigurationError: an option is out of range.
    """

    work_unit = 512

    def __init__(
        self,
        adapter: Adapter,
        *,
        threshold: float | None = None,
        device: str = "auto",
        dtype: str = "auto",
        batch_tokens: int | None = None,
    ) -> None:
        opened = self._opened = Network(
            "AutoModelForSequenceClassification", adapter.model, device=device, dtype=dtype
        )
        outputs, named = opened.config.num_labels, [adapter.entailment, adapter.contradiction or 0]
        if max(named) >= outputs:
            raise ModelError(f"{opened.name}: it has {outputs} outputs, numbered from 0, and the "
                             f"adapter names {max(named)}")  # fmt: skip
        self.adapter = adapter
        self._tokenizer = opened.tokenizer
        self._special = [
            token for token in self._tokenizer.all_special_tokens
            if token != self._tokenizer.unk_token
        ]  # fmt: skip
        self._limit = min(adapter.max_length or opened.limit, opened.limit)
        # Pooling over chunks moves log-odds no further than the chunk that moves furthest.
        self.doubt = rounding_doubt(opened.dtype)
        self._budget = batch_tokens or _BATCH_TOKENS
        stated = _UNCALIBRATED if adapter.threshold is None else adapter.threshold
        self.threshold = stated if threshold is None else check_threshold(threshold)
        self.calibrated = threshold is not None or adapter.threshold is not None
        self.three_way = adapter.contradiction is not None
        settings = {key: part for key, part in asdict(adapter).items()
                    if key not in {"model", "threshold"}}  # fmt: skip
        described = repr((sorted(settings.items(), key=str), self._limit, opened.dtype)).encode()
        self.digest = hashlib.blake2b(opened.digest + described, digest_size=16).digest()
        self.signature: Mapping[str, str] = {
            "nli": opened.signature,
            "gran": "document" if adapter.chunk is None else f"chunk{adapter.chunk}",
            "trunc": str(self._limit),
            "adapter": hashlib.blake2b(described, digest_size=4).hexdigest(),
        }

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.protocol.PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        for start in range(0, len(pairs), self.work_unit):
            part = slice(start, start + self.work_unit)
            result.put(part, self._score_unit(texts, pairs[part]))
            if progress is not None:
                progress(len(pairs[part]))
        return result

    def _score_unit(self, texts: TextTable, pairs: NDArray[np.int64]) -> PairScores:
        """Score as many pairs as are read at a time, all of whose chunks are in memory at once."""
        result = PairScores.empty(len(pairs))
        readings = [self._read(self._clean(texts[a]), self._clean(texts[b]))
                    for a, b in pairs.tolist()]  # fmt: skip
        owner = np.repeat(np.arange(len(pairs)), [len(reading.inputs) for reading in readings])
        outputs = self._outputs([part for reading in readings for part in reading.inputs])
        starts = np.searchsorted(owner, np.arange(len(pairs) + 1))
        for row, reading in enumerate(readings):
            result.flags[row] = reading.flags
            own = outputs[starts[row] : starts[row + 1]]
            if len(own):
                result.entailment[row], result.contradiction[row] = self._pooled(own)
        return result

    def _pooled(self, outputs: NDArray[np.float32]) -> tuple[float, float]:
        """Both probabilities of a pair from those of its chunks, float32 [chunks, outputs]."""
        pool = _POOL[self.adapter.pooling]
        against = self.adapter.contradiction
        return (
            float(pool(outputs[:, self.adapter.entailment])),
            float("nan") if against is None else float(pool(outputs[:, against])),
        )

    def _clean(self, text: str) -> str:
        """A text in which no special token stands, which would end it early."""
        text = well_formed(text)
        for token in self._special:
            text = text.replace(token, " ")
        return text

    def _read(self, premise: str, hypothesis: str) -> _Reading:
        room = self._limit - len(self._encode("", hypothesis)["input_ids"])
        spans = self._tokenizer(
            premise, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        if room < min(1, len(spans)):
            return _Reading([], FLAG_TOO_LONG)
        size = max(1, min(room, self.adapter.chunk or room))
        starts = range(0, len(spans), size) if self.adapter.chunk else range(min(1, len(spans)))
        inputs = [self._fitting(premise, spans[start : start + size], hypothesis)
                  for start in starts]  # fmt: skip
        cut = self.adapter.chunk is None and len(spans) > size
        return _Reading(inputs or [self._encode("", hypothesis)], FLAG_TRUNCATED if cut else 0)

    def _fitting(
        self, premise: str, spans: list[tuple[int, int]], hypothesis: str
    ) -> dict[str, list[int]]:
        """Token ids with these tokens of the premise, or with a few less."""
        # Inside a template the same characters may make more tokens than by themselves.
        while True:
            part = premise[spans[0][0] : spans[-1][1]] if spans else ""
            inputs = self._encode(part, hypothesis)
            over = len(inputs["input_ids"]) - self._limit
            if over <= 0 or not spans:
                return inputs
            spans = spans[:-over]

    def _encode(self, premise: str, hypothesis: str) -> dict[str, list[int]]:
        texts = (
            (premise, hypothesis)
            if self.adapter.template is None
            else (self.adapter.fill(premise, hypothesis),)
        )
        return dict(self._tokenizer(*texts, truncation=False, verbose=False))

    def _outputs(self, inputs: list[dict[str, list[int]]]) -> NDArray[np.float32]:
        """Activated outputs, float32 [inputs, outputs]."""
        size = int(self._opened.config.num_labels)
        outputs = np.empty((len(inputs), size), np.float32)
        lengths = np.array([len(part["input_ids"]) for part in inputs], np.int64)
        for rows in batches(lengths, self._budget):
            outputs[rows] = self._forward([inputs[row] for row in rows])
        if not np.isfinite(outputs).all():
            raise ModelError(f"{self._opened.name}: it gave no finite number for some pairs")
        return outputs

    def _forward(self, inputs: list[dict[str, list[int]]]) -> NDArray[np.float32]:
        import torch

        batch = self._opened.padded(inputs)
        try:
            with torch.inference_mode():
                logits = self._opened.network(**batch).logits.float()
        except RuntimeError as error:
            raise BackendError(
                f"{self._opened.name}: the device failed: {first_line(error)}"
            ) from error
        active = (
            torch.sigmoid(logits)
            if self.adapter.activation == "sigmoid"
            else torch.softmax(logits, dim=-1)
        )
        return np.asarray(active.cpu().numpy(), np.float32)
