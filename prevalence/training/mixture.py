"""Views of labelled documents and their deterministic mixture, one draw an epoch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError
from prevalence.labelled import Document, Target
from prevalence.training.minimal_pairs import Turned, reworded, turned

__all__ = ["VIEWS", "MixPart", "TrainingPair", "draw_mixture", "finds_examples"]

_ENTAILED = Target(1.0, 0.0, 0.0, False)
_NOT_ENTAILED = Target(0.0, 1.0, 0.0, True)
_UNRELATED = Target(0.0, 1.0, 0.0, False)
_SAID = Target(0.98, 0.015, 0.005, False)
_TURNED = {
    "negation": Target(0.02, 0.08, 0.9, False),
    "antonym": Target(0.02, 0.13, 0.85, False),
    # Another number may be true as well: of another thing, or of another time.
    "number": Target(0.03, 0.27, 0.7, False),
}
_CLEARLY = 0.85
_OWN_TURNED, _STATED_TURNED = 3, 2
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_MIN_WORDS = 4


class TrainingPair(NamedTuple):
    """A pair to train on."""

    premise: str
    hypothesis: str
    target: Target


class MixPart(NamedTuple):
    """Documents, how to look at them, and how many examples an epoch takes (0 for all)."""

    documents: Sequence[Document]
    view: str
    samples: int


def _pairs(documents: Sequence[Document], *relations: str) -> list[TrainingPair]:
    return [
        TrainingPair(document.premise, hypothesis, target)
        for relation in relations
        for document in documents
        if document.relation == relation
        for hypothesis, target in zip(document.hypotheses, document.targets, strict=True)
    ]


def _all_of(*relations: str) -> View:
    return lambda documents, _: _pairs(documents, *relations)


def _own_sentences(document: Document) -> list[str]:
    sentences = _SENTENCE_END.split(document.premise)
    return [text for text in sentences if len(text.split()) >= _MIN_WORDS]


def _supported(document: Document) -> list[str]:
    pairs = zip(document.hypotheses, document.targets, strict=True)
    return [text for text, target in pairs if target.entailment > 0.5]


def _easy(documents: Sequence[Document], rng: np.random.Generator) -> list[TrainingPair]:
    """Make matching pairs: what a review says, against what reviews of other products say.

    Each review gives its supported statements and one of its own sentences as entailed, and up to
    as many statements or sentences of the same domain but another group as unrelated.
    """
    reviews = [document for document in documents if document.relation == "review"]
    pools: dict[str, list[tuple[str, str]]] = defaultdict(list)
    own: list[list[str]] = []
    for document in reviews:
        sentences = _own_sentences(document)
        kept = [str(rng.choice(sentences))] if sentences else []
        own.append(_supported(document) + kept)
        pools[document.domain].extend((document.group, text) for text in own[-1])
    examples: list[TrainingPair] = []
    for document, texts in zip(reviews, own, strict=True):
        pool = pools[document.domain]
        for text in texts:
            examples.append(TrainingPair(document.premise, text, _ENTAILED))
            group, foreign = pool[int(rng.integers(len(pool)))]
            if group != document.group:
                examples.append(TrainingPair(document.premise, foreign, _UNRELATED))
    return examples


def _enriched(documents: Sequence[Document], rng: np.random.Generator) -> list[TrainingPair]:
    """Labelled pairs, and easy ones on the same premises.

    Each review also gets up to two statements about other products of its domain, and every second
    review one of its own sentences. A domain without any statement gives nothing: its easy pairs
    would all be entailed.
    """
    reviews = [document for document in documents if document.relation == "review"]
    pools: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for document in reviews:
        pools[document.domain].extend((document.group, text) for text in document.hypotheses)
    examples: list[TrainingPair] = []
    for document in reviews:
        pool = pools[document.domain]
        if not pool:
            continue
        examples.extend(_pairs([document], "review"))
        foreign = [pool[int(rng.integers(len(pool)))] for _ in range(2)]
        examples.extend(
            TrainingPair(document.premise, text, _UNRELATED)
            for group, text in foreign
            if group != document.group
        )
        sentences = _own_sentences(document)
        if sentences and rng.random() < 0.5:
            examples.append(TrainingPair(document.premise, str(rng.choice(sentences)), _ENTAILED))
    return examples


def _siblings(documents: Sequence[Document], rng: np.random.Generator) -> list[TrainingPair]:
    """Pair sentences of one summary: each implies itself and, by construction, not the others."""
    summaries = {d.group: d.hypotheses for d in documents if d.relation == "review"}
    examples: list[TrainingPair] = []
    for sentences in summaries.values():
        for position, sentence in enumerate(sentences):
            examples.append(TrainingPair(sentence, sentence, _ENTAILED))
            other = (position + 1 + int(rng.integers(max(len(sentences) - 1, 1)))) % len(sentences)
            if other != position:
                examples.append(TrainingPair(sentence, sentences[other], _NOT_ENTAILED))
    return examples


def _padded(documents: Sequence[Document], rng: np.random.Generator) -> list[TrainingPair]:
    """Hide each review among reviews of other domains, so that evidence may sit anywhere."""
    reviews = [document for document in documents if document.relation == "review"]
    examples: list[TrainingPair] = []
    for document in reviews:
        picks = rng.integers(len(reviews), size=int(rng.integers(1, 4)))
        others = [
            reviews[int(i)].premise for i in picks if reviews[int(i)].domain != document.domain
        ]
        place = int(rng.integers(len(others) + 1))
        premise = " ".join([*others[:place], document.premise, *others[place:]])
        examples.extend(pair._replace(premise=premise) for pair in _pairs([document], "review"))
    return examples


def _turned(documents: Sequence[Document], rng: np.random.Generator) -> list[TrainingPair]:
    """Ask reviews about what they say and about the same with one thing turned.

    A review is asked about up to three of its own sentences and two of the statements that it
    plainly supports; each of these and its turned twin are also asked of each other and of
    themselves, so that no word tells the label by itself. See
    :mod:`prevalence.training.minimal_pairs`.
    """
    return [
        pair
        for review, text, twin in _families(documents, rng)
        for pair in _twins(review, text, twin)
    ]


def _reworded(documents: Sequence[Document], rng: np.random.Generator) -> list[TrainingPair]:
    """Likewise, and about both in other words, so that not only a copy is entailed."""
    examples: list[TrainingPair] = []
    for review, text, twin in _families(documents, rng):
        said, denied = reworded(text, rng), reworded(twin.text, rng)
        against = _TURNED[twin.kind]
        examples += [
            *_twins(review, text, twin),
            TrainingPair(review, said, _SAID),
            TrainingPair(review, denied, against),
            TrainingPair(text, said, _SAID),
            TrainingPair(text, denied, against),
            TrainingPair(twin.text, denied, _SAID),
            TrainingPair(twin.text, said, against),
        ]
    return examples


def _families(
    documents: Sequence[Document], rng: np.random.Generator
) -> Iterator[tuple[str, str, Turned]]:
    """Reviews, what they say, and that with one thing turned."""
    for document in documents:
        if document.relation != "review":
            continue
        clear = zip(document.hypotheses, document.targets, strict=True)
        stated = [text for text, target in clear if target.entailment > _CLEARLY]
        for texts, most in ((_own_sentences(document), _OWN_TURNED), (stated, _STATED_TURNED)):
            found = 0
            for place in rng.permutation(len(texts)).tolist():
                twins = [*turned(texts[place], rng)] if found < most else []
                found += bool(twins)
                for twin in twins:
                    yield document.premise, texts[place], twin


def _twins(review: str, text: str, twin: Turned) -> list[TrainingPair]:
    against = _TURNED[twin.kind]
    return [
        TrainingPair(review, text, _SAID),
        TrainingPair(review, twin.text, against),
        TrainingPair(text, text, _SAID),
        TrainingPair(text, twin.text, against),
        TrainingPair(twin.text, twin.text, _SAID),
        TrainingPair(twin.text, text, against),
    ]


View = Callable[[Sequence[Document], np.random.Generator], list[TrainingPair]]

VIEWS: Mapping[str, View] = {
    "all": _all_of("review", "product", "sentence"),
    "easy": _easy,
    "enriched": _enriched,
    "labelled": _all_of("review"),
    "padded": _padded,
    "product": _all_of("product"),
    "sentence": _all_of("sentence"),
    "siblings": _siblings,
    "reworded": _reworded,
    "turned": _turned,
}


def finds_examples(view: str, documents: Sequence[Document]) -> bool:
    """Whether a view finds an example in any of the documents; quick, as it stops at the first."""
    rng = np.random.default_rng(0)
    return any(VIEWS[view]([document], rng) for document in documents)


def draw_mixture(
    parts: Sequence[MixPart], *, seed: int, epoch: int, whole_premises: bool = False
) -> list[TrainingPair]:
    """Draw one epoch of a staged mixture.

    Args:
        parts: what to mix.
        seed: seed of the stage.
        epoch: epoch number from 0; every epoch is a fresh draw.
        whole_premises: sample premises with all their examples until there are enough examples,
            in place of single examples.

    Returns:
        Examples, part after part; equal for equal arguments.

    Raises:
        ConfigurationError: a view finds nothing in its documents.
    """
    examples: list[TrainingPair] = []
    for number, part in enumerate(parts):
        rng = np.random.default_rng([seed, epoch, number])
        drawn = VIEWS[part.view](part.documents, rng)
        if not drawn:
            raise ConfigurationError(
                f"view {part.view!r} of mix item {number + 1} finds no examples in its source"
            )
        if 0 < part.samples < len(drawn):
            sample = _sample_premises if whole_premises else _sample_examples
            drawn = sample(drawn, part.samples, rng)
        examples.extend(drawn)
    return examples


def _sample_examples(
    examples: Sequence[TrainingPair], size: int, rng: np.random.Generator
) -> list[TrainingPair]:
    chosen = np.sort(rng.choice(len(examples), size=size, replace=False))
    return [examples[int(i)] for i in chosen]


def _sample_premises(
    examples: Sequence[TrainingPair], size: int, rng: np.random.Generator
) -> list[TrainingPair]:
    by_premise: dict[str, list[TrainingPair]] = {}
    for example in examples:
        by_premise.setdefault(example.premise, []).append(example)
    groups = list(by_premise.values())
    chosen: list[TrainingPair] = []
    for index in rng.permutation(len(groups)):
        if len(chosen) >= size:
            break
        chosen.extend(groups[int(index)])
    return chosen
