"""BERTScore: greedy matching of the token vectors of two texts, each token to its most similar.

A value equals that of bert-score with the model, layer and options named in the signature, except
where padding shows there: bert-score lets padding stand in for a token when all similarities are
negative. Special tokens may be matched, and do not count themselves.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.neural.vectors import TokenEncoder, layer_option, open_encoder
from prevalence.baselines.protocol import REFERENCE
from prevalence.baselines.rules import ComparingMetric, comparing
from prevalence.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.naming import Spec
    from prevalence.baselines.neural.vectors import TextVectors
    from prevalence.baselines.protocol import Comparison, Entry, Example, Metric, Runtime

__all__ = ["PreparedMetric", "Weights", "open_bertscore"]

_MODEL = "roberta-large"
_LAYERS = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
}
"""Layers that correlate best with human judgment, as bert-score 0.3.13 chooses them."""

_PARTS = {"bertscore-precision": 0, "bertscore-recall": 1, "bertscore-f1": 2}


class Weights:
    """Weights of tokens: inverse document frequencies once learnt, and 1 otherwise.

    Args:
        encoder: reads the texts.
        learns: whether frequencies must be learnt before the first weight.

    Source: Zhang et al. 2020, section 3; log((N + 1) / (n + 1)) of N texts, n of which hold it.
    """

    def __init__(self, encoder: TokenEncoder, *, learns: bool) -> None:
        self._encoder = encoder
        self._learns = learns
        self._counts: Counter[int] = Counter()
        self._texts: set[str] = set()

    def learn(self, texts: Iterable[str]) -> None:
        """Count in which of these texts a token stands; texts seen before do not count again."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        self._texts.update(new)
        for row in self._encoder.runner.tokens(new):
            self._counts.update(set(row.ids.tolist()))

    def of(self, text: TextVectors) -> NDArray[np.float64]:
        """Weights of a text's tokens, float64 [T]; special tokens weigh nothing.

        Raises:
            InputError: frequencies are wanted and were not learnt.
        """
        if not self._learns:
            return text.tokens.plain.astype(np.float64)
        if not self._texts:
            raise InputError("idf weights need the whole input first: call prepare(examples)")
        count = len(self._texts) + 1
        learnt = [math.log(count / (self._counts[number] + 1)) for number in text.tokens.ids]
        return np.where(text.tokens.plain, learnt, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMetric(ComparingMetric):
    """A comparing metric that learns weights from the whole input.

    Attributes:
        learn: takes texts that summaries are compared with.
    """

    learn: Callable[[Iterable[str]], None]

    @classmethod
    def of(cls, metric: ComparingMetric, learn: Callable[[Iterable[str]], None]) -> PreparedMetric:
        """The metric, with what it must learn."""
        kept: dict[str, Any] = {part.name: getattr(metric, part.name) for part in fields(metric)}
        return cls(**kept, learn=learn)

    def prepare(self, examples: Iterable[Example]) -> None:
        """Learn from the references, or the reviews, of all examples; each text counts once."""
        for example in examples:
            self.learn(example.references if self.against == REFERENCE else example.reviews)


def open_bertscore(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open precision, recall or F1 of BERTScore."""
    model = spec.options.get("model", _MODEL)
    usual = _LAYERS.get(Path(model).name, -1)
    encoder = open_encoder(model, (layer_option(entry, spec, usual),), runtime)
    weights = Weights(encoder, learns="idf" in spec.options)
    part = _PARTS[entry.name]
    baseline = spec.options.get("baseline")
    floor = 0.0 if baseline is None else _read_baseline(Path(baseline), encoder.layers[0], part)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        known = encoder(text.strip() for pair in comparisons for text in (pair.summary, pair.text))
        return [
            (_matched(known[pair.summary.strip()], known[pair.text.strip()], weights)[part] - floor)
            / (1.0 - floor)
            for pair in comparisons
        ]

    signature = {**encoder.runner.signature, "layer": str(encoder.layers[0])}
    if "idf" in spec.options:
        signature["idf"] = "input"
    if baseline is not None:
        signature["baseline"] = f"{floor:g}"
    metric = comparing(entry, spec, compute, signature=signature, cuts=lambda: encoder.truncated)
    return PreparedMetric.of(metric, weights.learn) if "idf" in spec.options else metric


def _matched(
    summary: TextVectors, other: TextVectors, weights: Weights
) -> tuple[float, float, float]:
    """Precision, recall and F1; NaN where a text has no weight."""
    own, wanted = weights.of(summary), weights.of(other)
    if own.sum() <= 0 or wanted.sum() <= 0:
        return math.nan, math.nan, math.nan
    left, right = (
        text.layers[0] / np.linalg.norm(text.layers[0], axis=1, keepdims=True)
        for text in (summary, other)
    )
    similarity = left @ right.T
    precision = float(similarity.max(1) @ own / own.sum())
    recall = float(similarity.max(0) @ wanted / wanted.sum())
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def _read_baseline(path: Path, layer: int, part: int) -> float:
    """What unrelated texts score, by bert-score's files: a line LAYER,P,R,F for each layer."""
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        values = {int(row[0]): float(row[1 + part]) for row in rows[1:]}
        floor = values[layer]
    except (OSError, ValueError, IndexError) as error:
        raise ConfigurationError(
            f"baseline={path}: give a file with the lines LAYER,P,R,F of bert-score ({error})"
        ) from error
    except KeyError as error:
        raise ConfigurationError(f"baseline={path}: it has no line of layer {layer}") from error
    if not floor < 1.0:
        raise ConfigurationError(f"baseline={path}: layer {layer}: {floor:g} is not below 1")
    return floor
