"""Cosine of sentence vectors as a consistency scorer."""

from __future__ import annotations

import hashlib
import json
import re
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError, ModelError, first_line
from prevalence.metric import check_threshold
from prevalence.models.checkpoint import Network
from prevalence.models.registry import lookup
from prevalence.nli.packing import batches
from prevalence.nli.pairs import FLAG_TRUNCATED, PairScorer, PairScores, Progress, ScorerTraits
from prevalence.nli.tokens import cleaner
from prevalence.scorers.units import UnitCutter, in_proportion, sentences_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from prevalence.nli.pairs import TextTable

__all__ = ["COSINE_MODES", "POOLINGS", "CosineScorer", "Embedded", "Encoder"]


POOLINGS = ("mean", "cls")
"""One vector from the last layer: the mean over a text's tokens, or the first token's."""

_BATCH_TOKENS = 8_192


class Embedded(NamedTuple):
    """What an encoder makes of N texts.

    Attributes:
        vectors: float32 [N, H], each of length 1.
        truncated: bool [N], the end of the text was beyond the limit.
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class Encoder:
    """An encoder checkpoint that gives a text a vector of length 1.

    Any encoder will do, a fine-tuned classifier's included (its head is left out). The files of
    sentence-transformers, where they lie beside the weights, state pooling and length.

    Args:
        model: checkpoint folder, registered name or hub name.
        pooling: one of :data:`POOLINGS`; None takes what the folder states, or the mean.
        max_length: a limit below the model's own; None takes what the folder states.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.
        batch_tokens: most tokens in a batch, padding included.

    Attributes:
        name: for the signature: name and beginning of the digest of the weights.
        pooling: the pooling used.
        max_length: most tokens read.
        dtype: precision of the network.
        digest: of everything that changes a vector, 16 bytes.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option is out of range.
    """

    def __init__(
        self,
        model: str,
        *,
        pooling: str | None = None,
        max_length: int | None = None,
        device: str = "auto",
        dtype: str = "float32",
        batch_tokens: int | None = None,
    ) -> None:
        opened = Network("AutoModel", model, device=device, dtype=dtype, optional=("pooler.",))
        self._opened, self.dtype, folder = opened, opened.dtype, opened.folder
        self._clean = cleaner(opened.tokenizer)
        self.pooling = _pooling(folder, model) if pooling is None else pooling
        if self.pooling not in POOLINGS:
            raise ConfigurationError(
                f"unknown pooling {self.pooling!r}: choose from {', '.join(POOLINGS)}"
            )
        self.max_length = _length(folder, opened.limit, max_length, model)
        self._budget = batch_tokens or _BATCH_TOKENS
        entry = lookup(model)
        self.name = f"{entry.name if entry else opened.name}@{opened.digest.hex()[:12]}"
        settings = repr((self.pooling, self.max_length, self.dtype))
        self.digest = hashlib.blake2b(opened.digest + settings.encode(), digest_size=16).digest()

    def embed(
        self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> Embedded:
        """Vectors of texts; what lies beyond the limit is not read.

        Args:
            texts: N texts.
            progress: called with the number of texts just done.

        Raises:
            ModelError: the encoder fails, or gives a number that is not finite.
        """
        vectors = np.zeros((len(texts), int(self._opened.config.hidden_size)), np.float32)
        if not texts:
            return Embedded(vectors, np.zeros(0, np.bool_))
        encoded = self._opened.tokenizer(
            [*map(self._clean, texts)], truncation=True, max_length=self.max_length,
            return_overflowing_tokens=True, padding=False, verbose=False,
        )  # fmt: skip
        # What does not fit comes back as further rows of the same text.
        owner = np.asarray(encoded.pop("overflow_to_sample_mapping"), np.int64)
        first = np.searchsorted(owner, np.arange(len(texts)))
        lengths = np.array([len(encoded["input_ids"][row]) for row in first], np.int64)
        for rows in batches(lengths, self._budget):
            part = [{key: ids[first[row]] for key, ids in encoded.items()} for row in rows]
            vectors[rows] = self._forward(part)
            if progress is not None:
                progress(len(rows))
        return Embedded(vectors, np.bincount(owner, minlength=len(texts)) > 1)

    def _forward(self, rows: Sequence[dict[str, list[int]]]) -> NDArray[np.float32]:
        import torch

        inputs = self._opened.padded(rows)
        with self._opened.asked("the encoder failed"):
            hidden = self._opened.network(**inputs).last_hidden_state.float()
        if self.pooling == "cls":
            pooled = hidden[:, 0]
        else:
            mask = inputs["attention_mask"].unsqueeze(-1).float()
            pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)
        vectors = torch.nn.functional.normalize(pooled, dim=-1)
        if not torch.isfinite(vectors).all():
            raise ModelError(f"{self._opened.name}: it gave no finite number for some texts")
        return np.asarray(vectors.cpu().numpy(), np.float32)


def _stated(folder: Path, file: str) -> dict[str, Any]:
    path = folder / file
    try:
        stated = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not JSON ({first_line(error)})") from error
    return stated if isinstance(stated, dict) else {}


def _pooling(folder: Path, model: str) -> str:
    """What the files of sentence-transformers state, in its version 6 or as before."""
    dense = next(folder.glob("*_Dense"), None)
    if dense is not None:
        raise ModelError(
            f"{model}: its layer {dense.name} is not read here; pooling=mean or pooling=cls takes "
            "the encoder without it"
        )
    stated = _stated(folder, "1_Pooling/config.json")
    named = stated.get("pooling_mode", [])
    modes = [str(mode) for mode in (named if isinstance(named, list) else [named])]
    modes += [key.removeprefix("pooling_mode_") for key, on in stated.items()
              if key.startswith("pooling_mode_") and on is True]  # fmt: skip
    names = {"mean_tokens": "mean", "cls_token": "cls"}
    pooling = "+".join(names.get(mode, mode) for mode in modes) or "mean"
    if pooling not in POOLINGS:
        raise ModelError(f"{model}: pooling by {', '.join(modes)} is not known here; choose one")
    return pooling


def _length(folder: Path, limit: int, asked: int | None, model: str) -> int:
    if asked is None:
        stated = _stated(folder, "sentence_bert_config.json").get("max_seq_length")
        return min(limit, stated) if isinstance(stated, int) and stated > 0 else limit
    if not 1 < asked <= limit:
        raise ConfigurationError(f"{model}: maximum length {asked} is outside 2..{limit}")
    return asked


_WORD = re.compile(r"\w")


def _whole(text: str) -> list[str]:
    return [text] if _WORD.search(text) else []


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences_of(text) if _WORD.search(sentence)]


COSINE_MODES: dict[str, Callable[[str], list[str]]] = {
    "document": _whole,
    "sentence-max": _sentences,
}
"""What the hypothesis is compared with: the whole premise, or its most similar sentence."""

_WORK_UNIT = 2_048
_UNCALIBRATED = 0.75


@dataclass(slots=True)
class _Vectors:
    """Vectors of the units of one table, as far as they were asked for."""

    rows: dict[int, NDArray[np.float32]] = field(default_factory=dict)
    truncated: set[int] = field(default_factory=set)


class CosineScorer(PairScorer):
    """Cosine between the vectors of premise and hypothesis, as a pair scorer.

    The cosine c lies in [-1, 1] and is given as (1 + c)/2. A text without a word says nothing: any
    pair with one scores 0. There is no contradiction class.

    Args:
        encoder: gives vectors.
        mode: one of :data:`COSINE_MODES`.
        threshold: decision threshold on the given scale; None takes 0.75, a cosine of 0.5, which
            is not calibrated.

    Raises:
        ConfigurationError: an unknown mode, a threshold outside [0, 1), or an encoder in half
            precision.
    """

    def __init__(
        self, encoder: Encoder, mode: str = "sentence-max", *, threshold: float | None = None
    ) -> None:
        if mode not in COSINE_MODES:
            raise ConfigurationError(
                f"unknown mode {mode!r} of cosine: choose from {', '.join(COSINE_MODES)}"
            )
        if encoder.dtype != "float32":
            raise ConfigurationError(
                "cosine needs float32 (dtype= or --dtype): there is no bound on how far half "
                "precision moves a cosine"
            )
        self._encoder = encoder
        self._cutter = UnitCutter(COSINE_MODES[mode], _whole)
        described = f"cosine/{mode}/3".encode()
        traits = ScorerTraits.unwrapped(
            encoder.digest + described,
            signature={
                "consistency": "cosine",
                "encoder": encoder.name,
                "gran": mode,
                "pooling": encoder.pooling,
                "trunc": str(encoder.max_length),
            },
            threshold=_UNCALIBRATED if threshold is None else check_threshold(threshold),
            calibrated=threshold is not None,
            three_way=False,
            probability=False,
            doubt=0.0,
            work_unit=_WORK_UNIT,
        )
        super().__init__(traits)
        self._known: weakref.WeakKeyDictionary[TextTable, _Vectors] = weakref.WeakKeyDictionary()

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        units = [
            (self._cutter.units(texts, a, side=0), self._cutter.units(texts, b, side=1))
            for a, b in pairs.tolist()
        ]
        wanted = {int(number) for both in units for side in both for number in side}
        known = self._embed(texts, wanted, len(pairs), progress)
        for row, (premise, hypothesis) in enumerate(units):
            if not (len(premise) and len(hypothesis)):
                result.entailment[row] = 0.0
                continue
            left = np.stack([known.rows[number] for number in premise.tolist()])
            cosine = (left @ known.rows[int(hypothesis[0])]).max()
            result.entailment[row] = np.clip((1.0 + cosine) / 2.0, 0.0, 1.0)
            if not known.truncated.isdisjoint([*premise.tolist(), int(hypothesis[0])]):
                result.flags[row] = FLAG_TRUNCATED
        return result

    def _embed(
        self, texts: TextTable, wanted: set[int], pairs: int, progress: Progress | None
    ) -> _Vectors:
        """Vectors of units, of which only new ones are computed."""
        known = self._known.setdefault(texts, _Vectors())
        table = self._cutter.table(texts)
        missing = sorted(wanted - known.rows.keys())
        new = [table[number] for number in missing]
        found = self._encoder.embed(new, progress=in_proportion(progress, len(new), pairs))
        known.rows.update(zip(missing, found.vectors, strict=True))
        known.truncated.update(np.asarray(missing, np.int64)[found.truncated].tolist())
        if progress is not None and not missing:
            progress(pairs)
        return known
