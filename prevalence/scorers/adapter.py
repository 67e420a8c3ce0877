"""The pair scorer on classifiers that an adapter file describes."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from prevalence.errors import ConfigurationError, InputError, ModelError, first_line
from prevalence.files import expanded_path
from prevalence.metric import check_threshold
from prevalence.models.checkpoint import Network
from prevalence.nli.pairs import FLAG_TRUNCATED, ScorerTraits
from prevalence.nli.scorer import rounding_doubt
from prevalence.scorers.reading import (
    TOO_LONG,
    WORK_UNIT,
    Inputs,
    Reading,
    ReadingScorer,
    fitted,
)
from prevalence.scorers.summac import OPERATORS
from prevalence.toml_files import decode_toml, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ACTIVATIONS", "AdaptedScorer", "Adapter", "read_adapter"]


ACTIVATIONS = ("softmax", "sigmoid")

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
        pooling: over the chunks of a premise, one of :data:`prevalence.scorers.summac.OPERATORS`.
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
        for name, known in (("activation", ACTIVATIONS), ("pooling", OPERATORS)):
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
            if value is None and field.default is None:
                continue
            if not isinstance(value, wanted) or isinstance(value, bool):
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
    path = expanded_path(path)
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
        return replace(adapter, model=str(beside))
    return adapter


_UNCALIBRATED = 0.5


class AdaptedScorer(ReadingScorer):
    """P("supported") of pairs, by a sequence classifier of any template and head.

    Args:
        adapter: what the classifier wants to see and what its outputs mean.
        threshold: decision threshold in [0, 1); None takes the adapter's, or 0.5.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.
        batch_tokens: most tokens in a batch, padding included.

    Raises:
        ModelError: the checkpoint is unusable, has fewer outputs than the adapter names, or one
            alone under a softmax.
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
        opened = Network(
            "AutoModelForSequenceClassification", adapter.model, device=device, dtype=dtype
        )
        outputs, named = opened.config.num_labels, [adapter.entailment, adapter.contradiction or 0]
        if max(named) >= outputs:
            raise ModelError(f"{opened.name}: it has {outputs} outputs, numbered from 0, and the "
                             f"adapter names {max(named)}")  # fmt: skip
        if outputs == 1 and adapter.activation == "softmax":
            raise ModelError(f"{opened.name}: the softmax of its only output is always 1; write "
                             'activation = "sigmoid"')  # fmt: skip
        self.adapter = adapter
        self._limit = min(adapter.max_length or opened.limit, opened.limit)
        given = None if threshold is None else check_threshold(threshold)
        super().__init__(opened, self._traits(opened, given), batch_tokens=batch_tokens)

    def _traits(self, opened: Network, threshold: float | None) -> ScorerTraits:
        adapter = self.adapter
        stated = _UNCALIBRATED if adapter.threshold is None else adapter.threshold
        settings = {key: part for key, part in asdict(adapter).items()
                    if key not in {"model", "threshold"}}  # fmt: skip
        described = repr((sorted(settings.items(), key=str), self._limit, opened.dtype)).encode()
        return ScorerTraits.unwrapped(
            opened.digest + described,
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
            work_unit=WORK_UNIT,
        )

    def read(self, premise: str, hypothesis: str) -> Reading:
        """The chunks of the premise, each with the hypothesis, or as much of it as fits."""
        room = self._limit - len(self._shown("", hypothesis)["input_ids"])
        spans = self.tokens(premise)
        if room < min(1, len(spans)):
            return TOO_LONG
        size = max(1, min(room, self.adapter.chunk or room))
        starts = range(0, len(spans), size) if self.adapter.chunk else range(min(1, len(spans)))
        shown = partial(self._shown, hypothesis=hypothesis)
        parts = [fitted(shown, premise, spans[start : start + size], self._limit)
                 for start in starts]  # fmt: skip
        cut = any(was_cut for _, was_cut in parts)
        cut |= self.adapter.chunk is None and len(spans) > size
        inputs = [part for part, _ in parts] or [shown("")]
        return Reading(inputs, FLAG_TRUNCATED if cut else 0)

    def _shown(self, premise: str, hypothesis: str) -> Inputs:
        if self.adapter.template is None:
            return self.encoded(premise, hypothesis)
        return self.encoded(self.adapter.fill(premise, hypothesis))

    def asked(self, inputs: Sequence[Inputs]) -> Any:
        """Activated outputs, [B, outputs]."""
        logits = self.opened.network(**self.opened.padded(inputs)).logits.float()
        return logits.sigmoid() if self.adapter.activation == "sigmoid" else logits.softmax(-1)

    def pooled(self, outputs: NDArray[np.float32], reading: Reading) -> tuple[float, float]:  # noqa: ARG002
        """Both probabilities of a pair from those of its chunks."""
        pool = OPERATORS[self.adapter.pooling]
        against = self.adapter.contradiction
        return (
            float(pool(outputs[:, self.adapter.entailment])),
            float("nan") if against is None else float(pool(outputs[:, against])),
        )
