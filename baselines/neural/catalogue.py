"""The neural metrics as data."""

from __future__ import annotations

import math
from typing import Any

from prevalence.baselines.protocol import REFERENCE, REVIEWS, Entry
from prevalence.baselines.rules import AGAINST_OPTIONS

__all__ = ["ENTRIES"]

_HERE = "prevalence.baselines.neural"
_MODEL = {
    "model=PATH": "checkpoint folder, registered name or hub name",
    "layer=N": "layer of the vectors, 0 for the embeddings, negative from the last",
}


_NO_WEIGHT = "a text is empty, or with idf all of its tokens stand in every text"
_STATIC = {"static": "input embeddings, without context"}


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
        dimension="similarity of meaning",
        weights="an encoder [roberta-large]",
        licence="MIT",
        batchable=True,
        undefined=_NO_WEIGHT,
    )


def _average(name: str, about: str) -> Entry:
    return Entry(
        name=name,
        about=about,
        needs=(REFERENCE,),
        range=(-1.0, 1.0),
        citation="Liu et al. 2016; Rus and Lintean 2012 for the greedy matching",
        factory=f"{_HERE}.averages:open_averages",
        options=_MODEL | _STATIC | AGAINST_OPTIONS,
        dimension="similarity of meaning",
        weights="an encoder [bert-base-uncased]",
        licence="Apache-2.0",
        batchable=True,
    )


def _transport(name: str, about: str, citation: str, **more: Any) -> Entry:
    return Entry(
        name=name,
        about=about,
        needs=(REFERENCE,),
        citation=citation,
        factory=f"{_HERE}.transport:open_{name}",
        dimension="similarity of meaning",
        licence="Apache-2.0",
        packages=("ot",),
        extra="transport",
        batchable=True,
        **more,
    )


ENTRIES: tuple[Entry, ...] = (
    *map(_bertscore, ("precision", "recall", "f1")),
    _average("embedding-average", "cosine of mean token vectors"),
    _average("vector-extrema", "cosine of the farthest values in each dimension"),
    _average("greedy-matching", "mean cosine of tokens and their most similar ones"),
    _transport(
        "sms",
        "exp(-cost) of moving sentence vectors",
        "Clark et al. 2019",
        range=(0.0, 1.0),
        options=_MODEL
        | _STATIC
        | {"nostop": "leave out stop words and punctuation, as the authors' program does"}
        | AGAINST_OPTIONS,
        weights="an encoder [bert-base-uncased]",
        undefined="a text is empty, or with nostop has no word but stop words",
    ),
    _transport(
        "moverscore",
        "1 - cost of moving unit word vectors",
        "Zhao et al. 2019; moverscore_v2 with unigrams, and the score of the first moverscore",
        range=(-1.0, 1.0),
        options=_MODEL | {"idf": "weigh by inverse document frequency"} | AGAINST_OPTIONS,
        weights="an encoder [distilbert-base-uncased]",
        undefined="a text is empty, or with idf has no word that some text lacks",
    ),
    _transport(
        "baryscore",
        "squared cost of moving barycentres of the last five layers",
        "Colombo et al. 2021",
        range=(0.0, 4.0),
        higher_is_better=False,
        options={"model=PATH": _MODEL["model=PATH"]} | AGAINST_OPTIONS,
        weights="an encoder [bert-base-uncased]",
    ),
    Entry(
        name="bleurt",
        about="human ratings of a reference and a summary, learnt",
        needs=(REFERENCE,),
        range=(-math.inf, math.inf),
        citation="Sellam et al. 2020, Pu et al. 2021; the definition of the authors' program",
        factory=f"{_HERE}.bleurt:open_bleurt",
        options={
            "model=PATH": _MODEL["model=PATH"],
            "limit=N": "most tokens of a pair [the checkpoint's]",
        }
        | AGAINST_OPTIONS,
        weights="a regression [lucadiliello/BLEURT-20]",
        batchable=True,
        dimension="overall quality",
        licence="Apache-2.0",
    ),
    Entry(
        name="supert",
        about="tokens aligned with those of salient review sentences",
        needs=(REVIEWS,),
        range=(-1.0, 1.0),
        citation="Gao et al. 2020",
        factory=f"{_HERE}.supert:open_supert",
        options=_MODEL
        | {
            "pick=WAY": "salient sentences: top (the first), graph (the most central) or cluster "
            "(centres of clusters) [top]",
            "n=N": "sentences of a review, for top and graph [15]",
        }
        | AGAINST_OPTIONS,
        dimension="relevance",
        weights="an encoder [sentence-transformers/bert-large-nli-stsb-mean-tokens]",
        licence="Apache-2.0",
        batchable=True,
        undefined="a text has no word but stop words",
    ),
)
"""Entries in the order in which they are listed."""
