"""The generative metrics as data."""

from __future__ import annotations

import math
from typing import Any

from prevalence.baselines.protocol import REFERENCE, REVIEWS, Entry, Input
from prevalence.baselines.rules import AGAINST_OPTIONS

__all__ = ["ENTRIES"]

_HERE = "prevalence.baselines.generative"
_MODEL = {"model=PATH": "checkpoint folder, registered name or hub name"}
_BARTSCORE = {
    "faithfulness": "faithfulness",
    "precision": "precision of content",
    "recall": "recall of content",
}
_BLANC = _MODEL | {
    "measure=NAME": "relative or improve",
    "gap=N": "ways in which a sentence is masked [2; the paper: 6]",
    "gap-mask=N": "neighbouring tokens masked together [1]",
    "min-normal=N": "least characters of a masked word [4]",
    "min-lead=N": "least characters of a masked first token of a longer word [2]",
    "min-followup=N": "least characters of a masked later token [100]",
    "least-sentence=N": "tokens of a sentence kept before the summary is cut [100]",
}


def _bartscore(name: str, about: str, needs: Input) -> Entry:
    return Entry(
        name=f"bartscore-{name}",
        about=f"mean log-likelihood: {about}",
        needs=(needs,),
        range=(-math.inf, 0.0),
        citation="Yuan et al. 2021; the definition of its authors' script",
        factory=f"{_HERE}.perplexity:open_bartscore",
        options=_MODEL | AGAINST_OPTIONS,
        dimension=_BARTSCORE[name],
        weights="seq2seq [facebook/bart-large-cnn]",
        licence="MIT",
        batchable=True,
    )


def _perplexity(name: str, about: str, **more: Any) -> Entry:
    return Entry(
        name=name,
        about=about,
        range=(1.0, math.inf),
        higher_is_better=False,
        citation="Jelinek et al. 1977; exp of the mean negative log-likelihood of a token",
        dimension="fluency",
        licence="MIT",
        batchable=True,
        **more,
    )


def _prism(name: str, about: str, needs: Input) -> Entry:
    return Entry(
        name=name,
        about=f"likelihood by a translator: {about}",
        needs=(needs,),
        range=(-math.inf, 0.0),
        citation="Thompson and Post 2020; the definition of the authors' program",
        factory=f"{_HERE}.prism:open_prism",
        options=_MODEL
        | {"language=CODE": "the tokenizer's code [English: en, en_XX or eng_Latn]"}
        | AGAINST_OPTIONS,
        dimension="overall quality",
        weights="a translator [facebook/m2m100_418M]",
        licence="MIT",
        batchable=True,
    )


def _unieval(name: str, about: str, *needs: Input, way: str = "dimension") -> Entry:
    return Entry(
        name=f"unieval-{name}",
        about=about,
        needs=needs,
        range=(0.0, 1.0),
        citation="Zhong et al. 2022; the definition of the authors' program",
        dimension="overall quality" if name == "overall" else name,
        factory=f"{_HERE}.unieval:open_{way}",
        options=_MODEL
        | {"limit=N": "most tokens of an input [1024]"}
        | (AGAINST_OPTIONS if needs else {}),
        weights="seq2seq [MingZhong/unieval-sum]",
        licence="see its card",
        batchable=True,
    )


def _blanc(way: str, about: str, options: dict[str, str]) -> Entry:
    return Entry(
        name=f"blanc-{way}",
        about=about,
        needs=(REVIEWS,),
        range=(-1.0, 1.0),
        citation="Vasilyev et al. 2020; the numbers of blanc 0.3.4",
        factory=f"{_HERE}.blanc:open_blanc_{way}",
        options=_BLANC | options | AGAINST_OPTIONS,
        dimension="helpfulness",
        weights="a masked model [bert-base-uncased]",
        licence="Apache-2.0",
        batchable=True,
        undefined="never",
    )


ENTRIES: tuple[Entry, ...] = (
    _bartscore("faithfulness", "reviews -> summary", REVIEWS),
    _bartscore("precision", "reference -> summary", REFERENCE),
    _bartscore("recall", "summary -> reference", REFERENCE),
    _perplexity(
        "perplexity",
        "of the summary alone, by a causal model",
        needs=(),
        factory=f"{_HERE}.perplexity:open_perplexity",
        options=_MODEL | {"start": "a start token first, so that the first token counts too"},
        weights="a causal model [gpt2]",
        undefined="fewer than two tokens",
    ),
    _perplexity(
        "perplexity:seq2seq",
        "of the summary given the reviews, by an encoder with a decoder",
        needs=(REVIEWS,),
        factory=f"{_HERE}.perplexity:open_perplexity_given",
        options=_MODEL | AGAINST_OPTIONS,
        weights="seq2seq [facebook/bart-large-cnn]",
    ),
    _blanc("help", "masked words guessed with the summary before them", {}),
    _blanc(
        "tune",
        "masked words guessed after training on the summary",
        {
            "epochs=N": "passes over the summary [10]",
            "batch=N": "masked chunks in a step [1]",
            "chunk=N": "tokens in a chunk [64]",
            "stride=N": "tokens between the beginnings of chunks [32]",
            "rate=X": "learning rate [5e-5]",
            "warmup=N": "steps in which it rises [0]",
            "replaced=X": "share of masked tokens that become random ones [0.1]",
            "kept=X": "share of masked tokens that stay [0.1]",
            "seed=N": "of these choices and of dropout [1]",
        },
    ),
    Entry(
        name="infolm",
        about="divergence of what is expected in masked places",
        needs=(REFERENCE,),
        range=(0.0, math.inf),
        higher_is_better=False,
        citation="Colombo et al. 2022; the numbers of torchmetrics, signs as said in the docs",
        factory=f"{_HERE}.infolm:open_infolm",
        options=_MODEL
        | {
            "measure=NAME": "ab, alpha, beta, renyi, kl, l1, l2, linf or fisher-rao [ab]",
            "alpha=X": "of ab, alpha and renyi [1]",
            "beta=X": "of ab and beta [1]",
            "temperature=X": "divides the logits [0.25]",
            "idf": "weigh places by inverse document frequency in the input",
        }
        | AGAINST_OPTIONS,
        dimension="similarity of meaning",
        weights="a masked model [bert-base-uncased]",
        licence="Apache-2.0",
        batchable=True,
        undefined="a text is empty, or with idf all of its tokens stand in every text",
    ),
    _prism("prism", "text and reference both ways", REFERENCE),
    _prism("prism-src", "reviews -> summary", REVIEWS),
    _unieval("coherence", "share of Yes: is it coherent with the reviews", REVIEWS),
    _unieval("consistency", "share of Yes: do the reviews bear each sentence", REVIEWS),
    _unieval("fluency", "share of Yes: is each sentence fluent"),
    _unieval("relevance", "share of Yes: is it relevant to the reference", REFERENCE),
    _unieval("overall", "mean of the four dimensions", REVIEWS, REFERENCE, way="overall"),
)
"""Entries in the order in which they are listed."""
