"""Consistency scorers of the whole summary: the reviews are the premise, it the hypothesis.

Nothing is computed here that :mod:`prevalence.scorers` does not compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.protocol import REVIEWS, Entry
from prevalence.baselines.rules import AGAINST_OPTIONS, comparing
from prevalence.errors import ConfigurationError
from prevalence.models.registry import REGISTRY as CHECKPOINTS
from prevalence.scorers.grammar import FLAG, Name
from prevalence.scorers.registry import FAMILIES, ScorerOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Metric, Runtime
    from prevalence.nli.pairs import PairScorer
    from prevalence.scorers.grammar import Spec

__all__ = ["ENTRIES", "open_family"]

_OWN_KEYS = {"over-reviews": "over-premise", "over-summary": "over-hypothesis"}
"""Options that the family knows under another name."""
_NLI = {
    "model=MODEL": "NLI model, checkpoint folder, hub name or SummaC's short name",
    "labels=NAMES": "its classes in order, in quotes, where its config does not name them",
}
_CUT = "sentence, document, paragraph, 2sents, mixed, or two with a hyphen, the reviews' first"


def open_family(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open the scorer of the entry's name: how far the reviews support the summary, in [0, 1].

    The reviews are the premise; the summary, its sentences or its units are the hypotheses.

    Raises:
        ModelError: its weights are not there or not usable; the message says how to get them.
        ConfigurationError: an option has a value that it does not know, or no file of a learnt
            head is named.

    Source: the papers and programs named in :mod:`prevalence.scorers`, a module a family.
    """
    family = FAMILIES[entry.name]
    keys = {setting.key for setting in family.settings}
    if entry.name == "summac-conv" and "head" not in spec.options:
        raise ConfigurationError(
            f"{entry.name}: name the file of the learnt head with head=FILE; "
            "`prevalence conv` trains one and converts the authors'"
        )
    given = ((_OWN_KEYS.get(key, key), value) for key, value in spec.options.items())
    parts = tuple((key, value) if value != FLAG else (None, key)
                  for key, value in given if key in keys)  # fmt: skip
    named = Name(spec.canonical(), entry.name, parts).options(family.settings)
    return _metric(entry, spec, family.open(named, _options(spec, runtime), entry.name))


def _options(spec: Spec, runtime: Runtime) -> ScorerOptions:
    named = spec.options.get("labels")
    return ScorerOptions(
        device=runtime.device,
        dtype=runtime.dtype,
        batch_tokens=runtime.batch_tokens,
        labels=None if named is None else tuple(map(str.strip, named.split(","))),
    )


def _metric(entry: Entry, spec: Spec, scorer: PairScorer) -> Metric:
    from prevalence.nli.pairs import FLAG_TRUNCATED, TextTable

    cut = 0

    def compute(comparisons: Sequence[Comparison]) -> NDArray[np.float64]:
        nonlocal cut
        texts = TextTable()
        able = [
            place
            for place, pair in enumerate(comparisons)
            if pair.text.strip() and pair.summary.strip()
        ]
        pairs = [
            (texts.add(comparisons[place].text), texts.add(comparisons[place].summary))
            for place in able
        ]
        values = np.full(len(comparisons), np.nan)
        if able:
            scores = scorer.score(texts, np.array(pairs, np.int64))
            values[able] = scores.entailment
            cut += int(((scores.flags & FLAG_TRUNCATED) != 0).sum())
        return values

    # A scorer's own name stands in the metric's already.
    parts = scorer.traits.signature.items()
    signature = {key: value for key, value in parts if key != "consistency"}
    return comparing(entry, spec, compute, signature=signature, cuts=lambda: cut)


def _entry(name: str, about: str, **more: Any) -> Entry:
    return Entry(
        name=name,
        about=about,
        factory="prevalence.baselines.consistency:open_family",
        needs=(REVIEWS,),
        range=(0.0, 1.0),
        dimension="faithfulness",
        batchable=True,
        **{
            "citation": "Laban et al. 2022; the numbers of summac 0.0.4",
            "licence": "Apache-2.0",
            **more,
            "options": more["options"] | AGAINST_OPTIONS,
        },
    )


def _checker(name: str, citation: str, *, licence: str = "see its card") -> Entry:
    """A fact-checking encoder, whose family of scorers has the same name."""
    family = FAMILIES[name]
    default = str(next(each.default for each in family.settings if each.key == "model"))
    return _entry(
        name,
        family.about,
        citation=citation,
        licence=licence,
        options={each.spelling: f"{each.about} [{each.default}]" for each in family.settings},
        weights=f"a checkpoint [{CHECKPOINTS[default].location}]",
        undefined="a text is empty, or the summary or a sentence of it leaves the other text no "
        "room",
    )


ENTRIES: tuple[Entry, ...] = (
    _entry(
        "summac-zs",
        "mean best entailment of the summary's sentences by those of the reviews",
        options=_NLI
        | {
            "granularity=CUT": _CUT,
            "over-reviews=OP": "max, mean or min",
            "over-summary=OP": "mean, max or min",
            "minus-contradiction": "subtract contradiction; the value is (1 + s)/2",
        },
        weights="an NLI model [embedded]",
    ),
    _entry(
        "summac-conv",
        "learnt reading of the histograms of entailment",
        options=_NLI
        | {
            "head=FILE": "the learnt head (needed), .safetensors or the authors' .bin",
            "granularity=CUT": f"where the file does not say it: {_CUT}",
            "bins=NAME": "where the file does not say it: percentile or evenN",
            "classes=LETTERS": "where the file does not say it: letters of ecn",
            "aggregate=OP": "where the file does not say it: mean, min, max or all",
        },
        weights="an NLI model [embedded] and a head",
    ),
    _checker("alignscore", "Zha et al. 2023", licence="MIT"),
    _checker("minicheck", "Tang et al. 2024"),
    _checker("factcg", "Lei et al. 2025"),
    _checker("hhem", "Vectara, HHEM 2.1 open", licence="Apache-2.0"),
)
"""Entries in the order in which they are listed."""
