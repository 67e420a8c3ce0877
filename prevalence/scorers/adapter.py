"""The pair scorer on classifiers that an adapter file describes."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.metric import check_threshold
from prevalence.models.checkpoint import Network, first_line
from prevalence.nli.packing import batches
from prevalence.nli.pairs import (
    FLAG_TOO_LONG,
    FLAG_TRUNCATED,
    PairScorer,
    PairScores,
    Progress,
    ScorerTraits,
)
from prevalence.nli.scorer import rounding_doubt
from prevalence.records import well_formed
from prevalence.toml_files import decode_toml, read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prevalence.nli.pairs import TextTable

__all__ = ["ACTIVATIONS", "POOLINGS", "AdaptedScorer", "Adapter", "read_adapter"]


ACTIVATIONS = ("softmax", "sigmoid")
POOLINGS: dict[str, Callable[..., Any]] = {"max": np.max, "mean": np.mean, "min": np.min}

_PLACES = ("premise", "hypothesis")
_PLACE = re.compile(r"\{(premise|hypothesis)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """What a classifier wants to see and what its outputs mean.

    Attributes:
        model: checkpoint folder or hub name.
        template: a text with ``{premise}`` and ``{hypothesis}``; None gives the tokenizer the two
            texts as a pair.
        entailment: output that means "supported".
        contradiction: output that means "contradicted", or None.
        activation: one of :data:`ACTIVATIONS`.
        chunk: tokens of the premise in a chunk; None reads as much of its beginning as fits.
        pooling: over the chunks of a premise, one of :data:`POOLINGS`.
        max_length: a limit in tokens below the model's own, or None.
        threshold: calibrated threshold in [0, 1), or None.

    Raises:
        ConfigurationError: a value of the wrong kind or out of range.
    """

    model: str
    template: str | None = None
    entailment: int = 1
    contradiction: int | None = None
    activation: str = "softmax"
    chunk: int | None = None
    pooling: str = "max"
    max_length: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        self._check_kinds()
        if self.template is not None and sorted(_PLACE.findall(self.template)) != sorted(_PLACES):
            raise ConfigurationError("template must hold {premise} and {hypothesis}, once each")
        for name, known in (("activation", ACTIVATIONS), ("pooling", POOLINGS)):
            if getattr(self, name) not in known:
                raise ConfigurationError(
                    f"{name} {getattr(self, name)!r}: choose from {', '.join(known)}"
                )
        for name, least in (
            ("entailment", 0),
            ("contradiction", 0),
            ("chunk", 1),
            ("max_length", 8),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ConfigurationError(f"{name} must be at least {least}, not {value}")
        if self.entailment == self.contradiction:
            raise ConfigurationError("entailment and contradiction are different outputs")
        if self.threshold is not None:
            check_threshold(self.threshold)

    def _check_kinds(self) -> None:
        kinds: dict[str, tuple[type, ...]] = {
            "model": (str,), "template": (str,), "activation": (str,), "pooling": (str,),
            "threshold": (int, float),
        }  # fmt: skip
        for field in fields(self):
            value = getattr(self, field.name)
            wanted = kinds.get(field.name, (int,))
            if value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
                raise ConfigurationError(f"{field.name} is {value!r}, not a {wanted[-1].__name__}")

    def fill(self, premise: str, hypothesis: str) -> str:
        """The template with both texts in place; braces in the texts mean nothing.

        >>> Adapter(model="m", template="{hypothesis} | {premise}").fill("{hypothesis}", "b")
        'b | {hypothesis}'
        """
        texts = {"premise": premise, "hypothesis": hypothesis}
        return _PLACE.sub(lambda place: texts[place[1]], self.template or "")


def read_adapter(path: Path | str) -> Adapter:
    """Read an adapter file.

    A relative ``model`` folder starts where the file lies, and is that folder when left out.

    Raises:
        InputError: the file cannot be read or holds unknown fields.
        ConfigurationError: a value is out of range.
    """
    path = Path(path).expanduser()
    try:
        text = read_text(path)
        json_file = path.suffix == ".json"
        content: Any = json.loads(text) if json_file else decode_toml(text, path)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a readable adapter file: {first_line(error)}") from error
    known = {field.name for field in fields(Adapter)}
    if not isinstance(content, dict) or set(content) - known:
        left = ", ".join(sorted(set(content) - known)) if isinstance(content, dict) else "no fields"
        raise InputError(f"{path}: {left}: an adapter has the fields {', '.join(sorted(known))}")
    content.setdefault("model", ".")
    try:
        adapter = Adapter(**content)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    beside = path.parent / adapter.model
    if beside.is_dir():
        return Adapter(**{**content, "model": str(beside)})
    return adapter


_BATCH_TOKENS = 4_096
_WORK_UNIT = 512
_UNCALIBRATED = 0.5


class _Reading(NamedTuple):
    """How one pair is shown: token ids of each chunk, and flags."""

    inputs: list[dict[str, list[int]]]
    flags: int


class AdaptedScorer(PairScorer):
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
        self._budget = batch_tokens or _BATCH_TOKENS
        super().__init__(self._traits(None if threshold is None else check_threshold(threshold)))

    def _traits(self, threshold: float | None) -> ScorerTraits:
        adapter, opened = self.adapter, self._opened
        stated = _UNCALIBRATED if adapter.threshold is None else adapter.threshold
        settings = {key: part for key, part in asdict(adapter).items()
                    if key not in {"model", "threshold"}}  # fmt: skip
        described = repr((sorted(settings.items(), key=str), self._limit, opened.dtype)).encode()
        return ScorerTraits(
            digest=hashlib.blake2b(opened.digest + described, digest_size=16).digest(),
            signature={
                "nli": opened.signature,
                "gran": "document" if adapter.chunk is None else f"chunk{adapter.chunk}",
                "trunc": str(self._limit),
                "adapter": hashlib.blake2b(described, digest_size=4).hexdigest(),
            },
            threshold=stated if threshold is None else threshold,
            calibrated=threshold is not None or adapter.threshold is not None,
            three_way=adapter.contradiction is not None,
            probability=True,
            # Pooling over chunks moves log-odds no further than the chunk that moves furthest.
            doubt=rounding_doubt(opened.dtype),
            rechecks=False,
            cached=False,
            devices=1,
            work_unit=_WORK_UNIT,
            errors=None,
        )

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        unit = self.traits.work_unit
        for start in range(0, len(pairs), unit):
            part = slice(start, start + unit)
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
        pool = POOLINGS[self.adapter.pooling]
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
        with self._opened.asked(f"{self._opened.name}: the device failed"):
            logits = self._opened.network(**batch).logits.float()
        active = (
            torch.sigmoid(logits)
            if self.adapter.activation == "sigmoid"
            else torch.softmax(logits, dim=-1)
        )
        return np.asarray(active.cpu().numpy(), np.float32)
