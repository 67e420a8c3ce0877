"""A larger teacher judges pairs; a smaller model then learns its probabilities as soft labels."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.files import atomic_file
from prevalence.labelled import Target
from prevalence.labelled.documents import mean_target
from prevalence.nli.pairs import FLAG_TOO_LONG, PairScores, TextTable
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from prevalence.labelled import Document
    from prevalence.nli.pairs import PairScorer, Progress

__all__ = ["ask_about", "reviews_of", "teach", "without_others", "write_documents"]

_FEWEST_WORDS, _MOST_WORDS = 4, 40
"""Sentences that could stand in a summary."""


def ask_about(
    documents: Sequence[Document], *, siblings: int = 7, foreign: int = 1, own: int = 1, seed: int
) -> list[Document]:
    """Add unlabelled hypotheses to reviews.

    Args:
        documents: labelled or not, see :func:`reviews_of`.
        siblings: how many sentences of other reviews of the product.
        foreign: how many hypotheses on other products of the domain, or sentences of their reviews.
        own: how many sentences of the review itself.
        seed: of the draw.

    Returns:
        The reviews, each with the new hypotheses in ``unlabelled``, none twice.
    """
    reviews = reviews_of(documents)
    sentences = {document.premise: _sentences(document.premise) for document in reviews}
    of_group: dict[str, list[str]] = defaultdict(list)
    of_domain: dict[str, list[str]] = defaultdict(list)
    for document in reviews:
        of_group[document.group].append(document.premise)
        if document.group not in of_domain[document.domain]:
            of_domain[document.domain].append(document.group)
    said = _hypotheses_of_groups(reviews)
    rng = np.random.default_rng(seed)
    result = []
    for document in reviews:
        others = [p for p in of_group[document.group] if p != document.premise]
        nearby = [text for premise in others for text in sentences[premise]]
        groups = [group for group in of_domain[document.domain] if group != document.group]
        distant = [
            text
            for group in _draw(groups, foreign, rng)
            for text in _draw(
                said[group] or [t for p in of_group[group] for t in sentences[p]], 1, rng
            )
        ]
        drawn = (
            *document.unlabelled,
            *_draw(nearby, siblings, rng),
            *distant,
            *_draw(sentences[document.premise], own, rng),
        )
        known = set(document.hypotheses)
        fresh = tuple(text for text in dict.fromkeys(drawn) if text not in known)
        result.append(replace(document, unlabelled=fresh))
    return result


def reviews_of(documents: Sequence[Document]) -> list[Document]:
    """The reviews among documents. Single pairs of one review are one review.

    Args:
        documents: labelled or not; those of other relations than ``review`` are left out.

    Returns:
        Reviews in the order in which they first come. Documents with one labelled hypothesis are
        merged where premise, product and domain are equal; of several labels of a pair the mean
        is taken. Records that hold all statements on a review stay apart.
    """
    result: list[Document] = []
    pairs: dict[tuple[str, str, str], list[Document]] = defaultdict(list)
    places: dict[tuple[str, str, str], int] = {}
    for document in documents:
        if document.relation != "review":
            continue
        if len(document.hypotheses) == 1 and not document.unlabelled:
            key = (document.premise, document.group, document.domain)
            pairs[key].append(document)
            if key in places:
                continue
            places[key] = len(result)
        result.append(document)
    for key, place in places.items():
        result[place] = _merged(pairs[key])
    return result


def _merged(pairs: Sequence[Document]) -> Document:
    """One review of all its pairs."""
    if len(pairs) == 1:
        return pairs[0]
    targets: dict[str, list[Target]] = defaultdict(list)
    for pair in pairs:
        targets[pair.hypotheses[0]].append(pair.targets[0])
    means = tuple(mean_target(found) for found in targets.values())
    return replace(pairs[0], hypotheses=tuple(targets), targets=means, votes=())


def without_others(documents: Sequence[Document]) -> tuple[int, int]:
    """How many reviews have a domain of one product, so that nothing foreign is drawn for them.

    Args:
        documents: see :func:`reviews_of`.

    Returns:
        Their number, and that of all reviews.
    """
    reviews = reviews_of(documents)
    groups: dict[str, set[str]] = defaultdict(set)
    for review in reviews:
        groups[review.domain].add(review.group)
    return sum(len(groups[review.domain]) == 1 for review in reviews), len(reviews)


def _hypotheses_of_groups(reviews: Sequence[Document]) -> Mapping[str, list[str]]:
    said: dict[str, dict[str, None]] = defaultdict(dict)
    for document in reviews:
        said[document.group].update(dict.fromkeys(document.hypotheses + document.unlabelled))
    return {group: list(texts) for group, texts in said.items()}


def _sentences(text: str) -> list[str]:
    found = (sentence.text for sentence in get_splitter()(text))
    return [text for text in found if _FEWEST_WORDS <= len(text.split()) < _MOST_WORDS]


def _draw(texts: Sequence[str], size: int, rng: np.random.Generator) -> list[str]:
    chosen = rng.permutation(len(texts))[:size]
    return [texts[int(i)] for i in chosen]


def teach(
    documents: Sequence[Document],
    teachers: Sequence[PairScorer],
    *,
    keep: float,
    progress: Progress | None = None,
) -> list[Document]:
    """Let teachers judge the hypotheses of documents, by the mean of their probabilities.

    Args:
        documents: with labelled and unlabelled hypotheses.
        teachers: judge pairs, at least one; if one has no contradiction class, targets are binary.
        keep: share of a given label in its target. What a binary label leaves open is split
            between neutral and contradiction as the teacher does.
        progress: called with the number of pairs just judged.

    Returns:
        Documents whose hypotheses all have targets; a hypothesis that is too long for a teacher
        keeps its label, or is left out if it has none.

    Raises:
        ConfigurationError: a teacher's scores are no probabilities, or the share is none.
    """
    if not 0.0 <= keep <= 1.0:
        raise ConfigurationError(f"the share of given labels must lie in [0, 1], not {keep}")
    if not all(teacher.traits.probability for teacher in teachers):
        raise ConfigurationError(
            "a teacher gives probabilities, and this scorer gives (1 + s)/2 of a measure s in "
            "[-1, 1]: choose another, or calibrate it with --map platt"
        )
    table = TextTable()
    numbers = [
        (table.add(document.premise), table.add(text))
        for document in documents
        for text in document.hypotheses + document.unlabelled
    ]
    pairs = np.asarray(numbers, np.int64).reshape(-1, 2)
    # A scorer shares a premise among pairs that lie together, and each distinct pair is asked once.
    distinct, back = np.unique(pairs, axis=0, return_inverse=True)
    answers = _mean([teacher.score(table, distinct, progress=progress) for teacher in teachers])
    if progress is not None and len(distinct) < len(pairs):
        progress(len(teachers) * (len(pairs) - len(distinct)))
    answers = answers.take(back.reshape(-1))
    three_way = all(teacher.traits.three_way for teacher in teachers)
    taught, start = [], 0
    for document in documents:
        end = start + len(document.hypotheses) + len(document.unlabelled)
        taught.append(_taught(document, answers.take(slice(start, end)), three_way, keep))
        start = end
    return [document for document in taught if document.hypotheses]


def _mean(answers: Sequence[PairScores]) -> PairScores:
    """Mean probabilities; a flag of one is a flag of the mean."""
    return PairScores(
        np.mean([a.entailment for a in answers], axis=0),
        np.mean([a.contradiction for a in answers], axis=0),
        np.bitwise_or.reduce([a.flags for a in answers], axis=0),
    )


def _taught(document: Document, answers: PairScores, three_way: bool, keep: float) -> Document:
    labels: list[Target | None] = [*document.targets, *[None] * len(document.unlabelled)]
    kept: dict[str, Target] = {}
    texts = document.hypotheses + document.unlabelled
    for row, (text, label) in enumerate(zip(texts, labels, strict=True)):
        if answers.flags[row] & FLAG_TOO_LONG:
            target = label
        else:
            judged = _judged(answers, row, three_way)
            target = judged if label is None else _blend(label, judged, keep)
        if target is not None:
            kept[text] = target
    return replace(document, hypotheses=tuple(kept), targets=tuple(kept.values()), unlabelled=())


def _judged(answers: PairScores, row: int, three_way: bool) -> Target:
    entailment = float(answers.entailment[row])
    if not three_way:
        return Target(entailment, 1.0 - entailment, 0.0, True)
    contradiction = min(float(answers.contradiction[row]), 1.0 - entailment)
    return Target(entailment, 1.0 - entailment - contradiction, contradiction, False)


def _blend(label: Target, judged: Target, keep: float) -> Target:
    """The label's share of the target, and the teachers'; binary where either is."""
    entailment = keep * label.entailment + (1.0 - keep) * judged.entailment
    if judged.binary:
        return Target(entailment, 1.0 - entailment, 0.0, True)
    neutral, contradiction = label.neutral, label.contradiction
    if label.binary:
        rest = judged.neutral + judged.contradiction
        share = judged.neutral / rest if rest > 0 else 1.0
        neutral, contradiction = label.neutral * share, label.neutral * (1.0 - share)
    return Target(
        entailment,
        keep * neutral + (1.0 - keep) * judged.neutral,
        keep * contradiction + (1.0 - keep) * judged.contradiction,
        False,
    )


def write_documents(path: Path, documents: Sequence[Document]) -> None:
    """Write reviews with soft labels as JSON Lines, in one move.

    Args:
        path: target file; :func:`prevalence.labelled.read_documents` reads it.
        documents: reviews.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            for document in documents:
                file.write(json.dumps(_record(document), allow_nan=False) + "\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error})") from error


def _record(document: Document) -> dict[str, Any]:
    return {
        "product_id": document.group,
        "domain": document.domain,
        "review": document.premise,
        "sentences": list(document.hypotheses),
        "labels": [_label(target) for target in document.targets],
    }


def _label(target: Target) -> float | list[float]:
    if target.binary:
        return round(target.entailment, 6)
    return [round(part, 6) for part in target[:3]]
