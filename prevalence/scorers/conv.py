"""SummaC-Conv: histograms of a model's answers, the head that reads them, and heads on disk.

Heads are safetensors of ours, or the authors' ``.bin`` state dicts.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import ConfigurationError, ModelError, first_line
from prevalence.files import expanded_path
from prevalence.nli.pairs import FLAG_TOO_LONG
from prevalence.scorers.summac import MOST_UNITS, Granularity
from prevalence.scorers.units import GRANULARITIES, UnitAnswers, UnitCutter, UnitScorer, models_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScorer, Progress, TextTable

__all__ = [
    "AGGREGATES",
    "CLASSES",
    "ROWS",
    "ConvHead",
    "ConvScorer",
    "ConvSettings",
    "bin_edges",
    "histogram",
    "read_head",
    "write_head",
]


ROWS = 10
"""Units of the hypothesis that are read."""

CLASSES = "ecn"
"""Entailment, contradiction, neutral: the classes that a head may read, in this order."""

_PERCENTILE_EDGES = (
    0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.955, 0.96,
    0.965, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1.0,
)  # fmt: skip
"""Edges of the published head's bins, from SummaC's distribution of scores."""

_MOST_BINS = 1_000
_EVEN = "even"
_CONSISTENT = 1


def _thrice(reduce: Callable[..., Any]) -> Callable[[NDArray[np.float64]], list[float]]:
    return lambda values: [float(reduce(values))] * 3


AGGREGATES: dict[str, Callable[[NDArray[np.float64]], list[float]]] = {
    "mean": _thrice(np.mean),
    "min": _thrice(np.min),
    "max": _thrice(np.max),
    "all": lambda values: [float(values.min()), float(values.mean()), float(values.max())],
}
"""The three features of a pair from the numbers of its units."""


def bin_edges(bins: str) -> NDArray[np.float64]:
    """Edges of the bins ``percentile`` (23 of them) or ``evenN`` (N of equal width).

    Raises:
        ConfigurationError: another name.

    >>> bin_edges("even4").tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if bins == "percentile":
        return np.array(_PERCENTILE_EDGES)
    count = bins.removeprefix(_EVEN)
    if not (bins.startswith(_EVEN) and count.isdecimal() and 0 < int(count) <= _MOST_BINS):
        raise ConfigurationError(
            f"unknown bins {bins!r}: choose percentile, or even50 and the like"
        )
    # By rounding, a range of 1/49 has a 50th value just below 1.
    return np.append(np.arange(0, 1, 1 / int(count))[: int(count)], 1.0)


def histogram(image: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts of the premise units' scores, for each hypothesis unit.

    Args:
        image: [premise units, hypothesis units], in [0, 1].
        edges: ascending; a bin holds its lower edge, the last one its upper edge too.

    Returns:
        float64 [hypothesis units, bins].

    >>> histogram(np.array([[0.1], [1.0], [0.5]]), np.array([0.0, 0.5, 1.0])).tolist()
    [[1.0, 2.0]]
    """
    last = len(edges) - 2
    bins = np.minimum(np.searchsorted(edges, image, side="right") - 1, last)
    return np.asarray((bins[..., None] == np.arange(last + 1)).sum(axis=0), np.float64)


@dataclass(frozen=True, slots=True)
class ConvSettings:
    """What a head was made for.

    Attributes:
        bins: ``percentile`` or ``evenN``, see :func:`bin_edges`.
        classes: letters of :data:`CLASSES`, in that order.
        granularity: as in :class:`~prevalence.scorers.summac.Granularity`.
        aggregate: one of :data:`AGGREGATES`.

    Raises:
        ConfigurationError: a value is none of these.
    """

    bins: str = "percentile"
    classes: str = "e"
    granularity: str = "sentence"
    aggregate: str = "mean"

    def __post_init__(self) -> None:
        bin_edges(self.bins)
        Granularity.parse(self.granularity)
        if not self.classes or self.classes != "".join(c for c in CLASSES if c in self.classes):
            raise ConfigurationError(
                f"unknown classes {self.classes!r}: choose from e, c, n, ec, en, cn, ecn"
            )
        if self.aggregate not in AGGREGATES:
            raise ConfigurationError(
                f"unknown aggregate {self.aggregate!r}: choose from {', '.join(AGGREGATES)}"
            )

    @property
    def features(self) -> int:
        """Numbers in the histograms of one model."""
        return len(self.classes) * (len(bin_edges(self.bins)) - 1)


@dataclass(frozen=True, slots=True)
class ConvHead:
    """The learnt part.

    Attributes:
        settings: what it was made for.
        weight: float64 [models x features], from histograms to one number.
        bias: of that map.
        final_weight: float64 [2, 3], to (inconsistent, consistent).
        final_bias: float64 [2].
        nli: the models whose scores it was learnt on, as signatures name them; empty where that
            is not known.

    Raises:
        ConfigurationError: shapes that do not go together, or numbers that are not finite.
    """

    settings: ConvSettings
    weight: NDArray[np.float64]
    bias: float
    final_weight: NDArray[np.float64]
    final_bias: NDArray[np.float64]
    nli: str = ""

    def __post_init__(self) -> None:
        if not self.weight.size or self.weight.size % self.settings.features:
            raise ConfigurationError(
                f"a head of {self.weight.size} weights does not go with bins="
                f"{self.settings.bins} and classes={self.settings.classes}, which make "
                f"{self.settings.features} for each model"
            )
        if self.final_weight.shape != (2, 3) or self.final_bias.shape != (2,):
            raise ConfigurationError("the last map of a SummaC-Conv head is from 3 numbers to 2")
        numbers = (*self.weight, self.bias, *self.final_weight.ravel(), *self.final_bias)
        if not np.isfinite(numbers).all():
            raise ConfigurationError("a head holds numbers that are not finite")

    @property
    def models(self) -> int:
        """NLI models whose scores it reads."""
        return self.weight.size // self.settings.features

    @property
    def digest(self) -> bytes:
        """Of every number and setting, 16 bytes."""
        numbers = (self.weight, np.float64(self.bias), self.final_weight, self.final_bias)
        data = b"".join(np.asarray(part, np.float64).tobytes() for part in numbers)
        described = repr(self.settings).encode()
        return hashlib.blake2b(data + described, digest_size=16).digest()

    def probability(self, rows: NDArray[np.float64]) -> float:
        """P(consistent) from the histograms of one pair, float64 [units, models x features].

        NaN of a pair without a unit, which no model could read.
        """
        if not len(rows):
            return float("nan")
        aggregate = AGGREGATES[self.settings.aggregate]
        features = aggregate(rows[:ROWS] @ self.weight + self.bias)
        logits = self.final_weight @ np.array(features) + self.final_bias
        odds = np.exp(logits - logits.max())
        return float(odds[_CONSISTENT] / odds.sum())


class ConvScorer(UnitScorer):
    """SummaC-Conv with one or more NLI models.

    Args:
        inners: the models, in the order in which the head reads them.
        head: the learnt part.
        threshold: decision threshold in [0, 1); None takes 0.5, which is not calibrated.

    Raises:
        ConfigurationError: a head for another number of models, or one that reads contradiction
            or neutral from a model that reports neither; a model in half precision, since a
            probability that rounding moves to the next bin moves the score by any amount.
    """

    def __init__(
        self, inners: Sequence[PairScorer], head: ConvHead, *, threshold: float | None = None
    ) -> None:
        if len(inners) != head.models:
            raise ConfigurationError(
                f"this head reads {head.models} models and {len(inners)} are given (model=A+B)"
            )
        settings = head.settings
        if settings.classes != "e" and not all(inner.traits.three_way for inner in inners):
            raise ConfigurationError(
                f"this head reads the classes {settings.classes}, and a model has only entailment"
            )
        if any(inner.traits.doubt for inner in inners):
            raise ConfigurationError(
                "summac-conv needs float32 (dtype= or --dtype): half precision may move a unit "
                "into the next bin, and the decisions that this changes cannot be counted"
            )
        self.head = head
        asked = models_of(inners)
        if head.nli and _digests(head.nli) != _digests(asked):
            raise ConfigurationError(f"this head was trained on {head.nli}, not on {asked}")
        cut = Granularity.parse(settings.granularity)
        super().__init__(
            inners,
            UnitCutter(GRANULARITIES[cut.premise], GRANULARITIES[cut.hypothesis], most=MOST_UNITS),
            name="summac-conv",
            described={**cut.signature, "head": head.digest.hex()[:12]},
            threshold=0.5 if threshold is None else threshold,
            calibrated=threshold is not None,
            probability=True,
        )

    def reduce(self, answers: Sequence[UnitAnswers]) -> NDArray[np.float64]:
        """P(consistent) of each pair, float64 [P]."""
        rows = _rows(answers, self.head.settings)
        return np.array([self.head.probability(part) for part in rows], np.float64)

    def histograms(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> list[NDArray[np.float64]]:
        """What the head reads of each pair, float64 [units, models x features] each.

        There is no unit of a pair in which one is longer than a model reads.
        """
        answers = self.answers(texts, pairs, progress=progress)
        flags = np.bitwise_or.reduce([answer.flags for answer in answers])
        return [
            part[:0] if flag & FLAG_TOO_LONG else part
            for flag, part in zip(flags, _rows(answers, self.head.settings), strict=True)
        ]


def _digests(models: str) -> list[str]:
    """The digests of models as signatures name them, whatever their folders are called.

    >>> _digests("a@1+rouge1-precision")
    ['1', 'rouge1-precision']
    """
    return [model.rpartition("@")[2] for model in models.split("+")]


def _rows(answers: Sequence[UnitAnswers], settings: ConvSettings) -> list[NDArray[np.float64]]:
    edges = bin_edges(settings.bins)
    columns = [
        [histogram(image, edges)[:ROWS] for image in answer.images(values)]
        for answer in answers
        for values in _classes(answer, settings.classes)
    ]
    return [np.concatenate(parts, axis=1) for parts in zip(*columns, strict=True)]


def _classes(answer: UnitAnswers, wanted: str) -> list[NDArray[np.float32]]:
    yes, no = answer.scores.entailment, answer.scores.contradiction
    known = {"e": yes, "c": no, "n": np.clip(1.0 - yes - no, 0.0, 1.0)}
    return [known[letter] for letter in wanted]


_KEYS = ("mlp.weight", "mlp.bias", "layer_final.weight", "layer_final.bias")
_FORMAT = "summac-conv/1"
_MOST_BYTES = 1 << 24


def read_head(path: Path | str, *, settings: Mapping[str, str] | None = None) -> ConvHead:
    """Read a head.

    Args:
        path: ``.safetensors`` as :func:`write_head` makes it, or the authors' ``.bin`` state dict,
            which is read as weights alone: nothing in it can run.
        settings: fields of :class:`~prevalence.scorers.conv.ConvSettings` for a file that does
            not state them (a ``.bin`` never does); the defaults are those of the published
            head. They may not contradict what a file states.

    Raises:
        ModelError: not a head, not readable, or its numbers are unusable.
        ConfigurationError: the settings are unknown or contradict the file.
    """
    path = expanded_path(path)
    if not path.is_file():
        raise ModelError(f"{path}: no such file; a SummaC-Conv head is a .safetensors or .bin file")
    if path.stat().st_size > _MOST_BYTES:
        raise ModelError(f"{path}: too large for a SummaC-Conv head")
    given = dict(settings or {})
    unknown = sorted(given.keys() - {field.name for field in fields(ConvSettings)})
    if unknown:
        raise ConfigurationError(f"{path}: unknown settings {', '.join(unknown)}")
    tensors, stated = _read_bin(path) if path.suffix == ".bin" else _read_safetensors(path)
    clash = sorted(key for key in given if stated.get(key, given[key]) != given[key])
    if clash:
        raise ConfigurationError(
            f"{path}: it was made for {clash[0]}={stated[clash[0]]}, not {given[clash[0]]}"
        )
    nli = stated.pop("nli", "")
    return _head(tensors, ConvSettings(**{**given, **stated}), nli, path)


def write_head(head: ConvHead, path: Path | str) -> None:
    """Write a head with its settings as safetensors, which :func:`read_head` reads back.

    Raises:
        ModelError: the file cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    tensors = {
        "mlp.weight": head.weight[None].astype(np.float64),
        "mlp.bias": np.array([head.bias], np.float64),
        "layer_final.weight": head.final_weight.astype(np.float64),
        "layer_final.bias": head.final_bias.astype(np.float64),
    }
    part = Path(f"{path}.part")
    try:
        save_file(
            tensors, part, metadata={"format": _FORMAT, "nli": head.nli, **asdict(head.settings)}
        )
        part.replace(path)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            part.unlink()
        raise ModelError(f"{path}: cannot be written: {first_line(error)}") from error


def _head(tensors: Mapping[str, Any], settings: ConvSettings, nli: str, path: Path) -> ConvHead:
    if set(tensors) != set(_KEYS):
        raise ModelError(
            f"{path}: a SummaC-Conv head holds {', '.join(_KEYS)}, and this file "
            f"{', '.join(sorted(tensors)[:6]) or 'nothing'}"
        )
    weight, bias, final_weight, final_bias = (np.asarray(tensors[key], np.float64) for key in _KEYS)
    if bias.size != 1 or weight.ndim != 2 or weight.shape[0] != 1:
        raise ModelError(
            f"{path}: mlp maps to {bias.size} numbers, and a SummaC-Conv head's to one"
        )
    try:
        return ConvHead(
            settings, weight.ravel(), float(bias.ravel()[0]), final_weight, final_bias, nli
        )
    except ConfigurationError as error:
        raise ModelError(f"{path}: {error}") from error


def _read_bin(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        # A view may repeat a few numbers for ever: what it holds counts, not what it stores.
        if sum(value.numel() for value in state.values()) > _MOST_BYTES // 4:
            raise ValueError("more numbers than a SummaC-Conv head has")
        tensors = {str(key): value.float().numpy() for key, value in state.items()}
    except Exception as error:
        raise ModelError(f"{path}: not a state dict of weights: {first_line(error)}") from error
    return tensors, {}


def _read_safetensors(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    from safetensors import safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            stated = dict(file.metadata() or {})
    except Exception as error:
        raise ModelError(f"{path}: not safetensors: {first_line(error)}") from error
    if stated.pop("format", _FORMAT) != _FORMAT:
        raise ModelError(f"{path}: not a SummaC-Conv head")
    known = {"nli", *(field.name for field in fields(ConvSettings))}
    return tensors, {key: value for key, value in stated.items() if key in known}
