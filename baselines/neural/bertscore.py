"""BERTScore: greedy matching of the token vectors of two texts, each token to its most similar.

A value equals that of bert-score with the model, layer and options named in the signature, with
two exceptions. bert-score lets padding stand in for a token when all similarities are negative.
It asks for a space before the texts of RoBERTa and GPT-2, which is read here, and which
transformers 5 does not give it. Special tokens may be matched, and do not count themselves.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.neural.frequencies import PreparedMetric, Weights
from prevalence.baselines.neural.vectors import layer_option, open_encoder
from prevalence.baselines.rules import comparing
from prevalence.errors import ConfigurationError
from prevalence.files import expanded_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.neural.vectors import TextVectors
    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["open_bertscore"]

_LAYERS = {
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
}
"""Layers that correlate best with human judgment, as bert-score 0.3.13 chooses them."""

_SPACED = ("gpt2", "roberta")
"""Model types whose tokenizers get a space before the first word, as bert-score intends."""

_PARTS = {"bertscore-precision": 0, "bertscore-recall": 1, "bertscore-f1": 2}


def open_bertscore(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open precision, recall or F1 of BERTScore: means of cosines, up to 1.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option has a value that it does not know.
    """
    model = spec.options.get("model", entry.models[0])
    usual = _LAYERS.get(Path(model).name, -1)
    encoder = open_encoder(model, (layer_option(entry, spec, usual),), runtime)
    weights = Weights(encoder.runner, learns="idf" in spec.options)
    lead = " " if encoder.runner.network.config.model_type in _SPACED else ""
    part = _PARTS[entry.name]
    baseline = spec.options.get("baseline")
    floor = 0.0 if baseline is None else _read_baseline(Path(baseline), encoder.layers[0], part)

    def read(text: str) -> str:
        return lead + text.strip()

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        known = encoder(read(text) for pair in comparisons for text in (pair.summary, pair.text))
        return [
            (_matched(known[read(pair.summary)], known[read(pair.text)], weights)[part] - floor)
            / (1.0 - floor)
            for pair in comparisons
        ]

    signature = dict(encoder.signature)
    if lead:
        signature["prefix"] = "space"
    if baseline is not None:
        signature["baseline"] = f"{floor:g}"
    metric = comparing(entry, spec, compute, signature=signature, cuts=lambda: encoder.truncated)
    if "idf" not in spec.options:
        return metric
    return PreparedMetric(metric, [weights], lambda _, texts: weights.learn(map(read, texts)))


def _matched(
    summary: TextVectors, other: TextVectors, weights: Weights
) -> tuple[float, float, float]:
    """Precision, recall and F1; NaN for an empty text, and for a mean of tokens without weight."""
    if not summary.tokens.plain.any() or not other.tokens.plain.any():
        return math.nan, math.nan, math.nan
    own, wanted = weights.of(summary.tokens), weights.of(other.tokens)
    left, right = (
        text.layers[0] / np.linalg.norm(text.layers[0], axis=1, keepdims=True)
        for text in (summary, other)
    )
    similarity = left @ right.T
    precision = _weighted_mean(similarity.max(1), own)
    recall = _weighted_mean(similarity.max(0), wanted)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def _weighted_mean(values: NDArray[Any], weights: NDArray[np.float64]) -> float:
    total = weights.sum()
    return float(values @ weights / total) if total > 0 else math.nan


def _read_baseline(path: Path, layer: int, part: int) -> float:
    """What unrelated texts score, by bert-score's files: a line LAYER,P,R,F for each layer."""
    try:
        lines = csv.reader(expanded_path(path).read_text(encoding="utf-8").splitlines())
        rows = [row for row in lines if any(cell.strip() for cell in row)]
        named = bool(rows) and not rows[0][0].strip().isdecimal()
        values = {int(row[0]): float(row[1 + part]) for row in rows[named:]}
        floor = values[layer]
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise ConfigurationError(
            f"baseline={path}: give a file with the lines LAYER,P,R,F of bert-score ({error})"
        ) from error
    except KeyError as error:
        raise ConfigurationError(f"baseline={path}: it has no line of layer {layer}") from error
    if not floor < 1.0:
        raise ConfigurationError(f"baseline={path}: layer {layer}: {floor:g} is not below 1")
    return floor
