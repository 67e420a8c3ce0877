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
from prevalence.scorers.grammar import Name
from prevalence.scorers.registry import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Metric, Runtime
    from prevalence.nli.pairs import PairScorer
    from prevalence.scorers.grammar import Spec
    from prevalence.scorers.registry import ScorerOptions

__all__ = ["ENTRIES", "open_checker", "open_conv", "open_zero_shot"]

_HERE = "prevalence.baselines.consistency"
_MODEL = "embedded"
_NLI = {
    "model=MODEL": "NLI model, checkpoint folder, hub name or SummaC's short name",
    "labels=NAMES": "its classes in order, in quotes, where its config does not name them",
}
_CUT = "sentence, document, paragraph, 2sents, mixed, or two with a hyphen, the reviews' first"


def open_zero_shot(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open SummaC-ZS of the whole summary by all reviews, in [0, 1].

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an unknown granularity or operator.

    Source: Laban et al. 2022; see :class:`prevalence.scorers.summac.ZeroShotScorer`.
    """
    from prevalence.scorers.registry import open_unit_model
    from prevalence.scorers.summac import ZeroShotScorer

    scorer = ZeroShotScorer(
        open_unit_model(spec.options.get("model", _MODEL), _options(spec, runtime)),
        spec.options.get("granularity", "sentence"),
        over_premise=spec.options.get("over-reviews", "max"),
        over_hypothesis=spec.options.get("over-summary", "mean"),
        minus_contradiction="minus-contradiction" in spec.options,
    )
    return _metric(entry, spec, scorer)


def open_conv(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open SummaC-Conv of the whole summary by all reviews, in [0, 1].

    Raises:
        ConfigurationError: no file of a learnt head is named, or the options contradict it.
        ModelError: the checkpoint is unusable.

    Source: Laban et al. 2022; see :class:`prevalence.scorers.conv.ConvScorer`.
    """
    from prevalence.scorers.conv import ConvScorer, read_head
    from prevalence.scorers.registry import open_unit_model

    head = spec.options.get("head")
    if head is None:
        raise ConfigurationError(
            f"{entry.name}: name the file of the learnt head with head=FILE; "
            "`prevalence conv` trains one and converts the authors'"
        )
    asked = {"bins", "classes", "granularity", "aggregate"}
    settings = {key: value for key, value in spec.options.items() if key in asked}
    models = spec.options.get("model", _MODEL).split("+")
    inners = [open_unit_model(model, _options(spec, runtime)) for model in models]
    return _metric(entry, spec, ConvScorer(inners, read_head(head, settings=settings)))


def open_checker(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open the fact-checking encoder of the entry's name: P(supported) in [0, 1].

    The reviews are the premise; the summary is the hypothesis, or each of its sentences
    (``claims=``).

    Raises:
        ModelError: its weights are not there or not usable; the message says how to get them.
        ConfigurationError: an option has a value that it does not know.

    Source: the papers and programs named in :mod:`prevalence.scorers`, a module a family.
    """
    family = FAMILIES[entry.name]
    keys = {setting.key for setting in family.settings}
    parts = tuple((key, value) for key, value in spec.options.items() if key in keys)
    named = Name(spec.canonical(), entry.name, parts).options(family.settings)
    return _metric(entry, spec, family.open(named, _options(spec, runtime), entry.name))


def _options(spec: Spec, runtime: Runtime) -> ScorerOptions:
    from prevalence.scorers.registry import ScorerOptions

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
        factory=f"{_HERE}:open_checker",
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
        factory=f"{_HERE}:open_zero_shot",
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
        factory=f"{_HERE}:open_conv",
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
