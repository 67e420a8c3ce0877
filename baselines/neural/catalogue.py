"""The neural metrics as data."""

from __future__ import annotations

import math

from prevalence.baselines.protocol import REFERENCE, Entry
from prevalence.baselines.rules import AGAINST_OPTIONS

__all__ = ["ENTRIES"]

_HERE = "prevalence.baselines.neural"
_MODEL = {
    "model=PATH": "checkpoint folder, registered name or hub name",
    "layer=N": "layer of the vectors, 0 for the embeddings, negative from the last",
}


def _bertscore(part: str) -> Entry:
    return Entry(
        name=f"bertscore-{part}",
        about=f"{part} of tokens matched by their vectors",
        needs=(REFERENCE,),
        range=(-math.inf, 1.0),
        citation="Zhang et al. 2020; the numbers of bert-score 0.3.13",
        factory=f"{_HERE}.bertscore:open_bertscore",
        options=_MODEL
        | {
            "idf": "weigh tokens by inverse document frequency in the input",
            "baseline=FILE": "rescale by bert-score's file of LAYER,P,R,F",
        }
        | AGAINST_OPTIONS,
        weights="an encoder [roberta-large]",
        batchable=True,
    )


def _average(name: str, about: str) -> Entry:
    return Entry(
        name=name,
        about=about,
        needs=(REFERENCE,),
        range=(-1.0, 1.0),
        citation="Liu et al. 2016; Rus and Lintean 2012 for the greedy matching",
        factory=f"{_HERE}.averages:open_averages",
        options=_MODEL | {"static": "input embeddings, without context"} | AGAINST_OPTIONS,
        weights="an encoder [bert-base-uncased]",
        batchable=True,
    )


ENTRIES: tuple[Entry, ...] = (
    *map(_bertscore, ("precision", "recall", "f1")),
    _average("embedding-average", "cosine of mean token vectors"),
    _average("vector-extrema", "cosine of the farthest values in each dimension"),
    _average("greedy-matching", "mean cosine of tokens and their most similar ones"),
)
"""Entries in the order in which they are listed."""
