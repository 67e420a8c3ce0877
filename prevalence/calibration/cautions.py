"""What makes figures of labelled pairs misleading, and a calibration of no use, one line each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from prevalence.labelled.documents import group_named
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from prevalence.calibration.study import ScorerRow
    from prevalence.labelled import Document, JudgedPairs

__all__ = ["label_caution", "set_cautions", "use_caution"]

_CHANCE = 0.5
"""Balanced accuracy and AUC of a scorer that knows nothing."""


def set_cautions(dev: JudgedPairs, test: JudgedPairs | None) -> list[str]:
    """What is wrong with one or two labelled sets.

    Args:
        dev: pairs that the choice is made on.
        test: held-out pairs, or None.

    Returns:
        What the second set shares with the first: pairs, the same but for case and white space,
        reviews, and products. Then for each set: ids that number the pairs, or no product's name,
        so that nothing keeps the pairs of a product together; pairs with both labels, and pairs
        that stand there twice.
    """
    found = [] if test is None else _shared(dev, test)
    sets = [("the first set", dev)] + ([] if test is None else [("the held-out set", test)])
    for name, judged in sets:
        found += [f"{name}: {fault}" for fault in _faults(judged)]
    return found


def label_caution(documents: Iterable[Document]) -> str | None:
    """How many pairs have no label, and so are left out; None if all have one."""
    missing = sum(len(document.unlabelled) for document in documents)
    if not missing:
        return None
    return f"{counted(missing, 'pair without a label was', 'pairs without a label were')} left out"


def _shared(dev: JudgedPairs, test: JudgedPairs) -> list[str]:
    """What two sets share; a pair counts for the first reason that holds."""
    pairs, alike = set(dev.pairs), {tuple(map(_plain, pair)) for pair in dev.pairs}
    reviews, products = {_plain(text) for text in dev.premises}, set(_products(dev))
    reasons: Counter[str] = Counter()
    for pair, product in zip(test.pairs, _products(test), strict=True):
        plain = tuple(map(_plain, pair))
        if pair in pairs:
            reasons["pair"] += 1
        elif plain in alike:
            reasons["alike"] += 1
        elif plain[0] in reviews:
            reasons["review"] += 1
        elif product and product in products:
            reasons["product"] += 1
    size = counted(len(test), "held-out pair {}", "held-out pairs {}")
    one = len(test) == 1
    flatter = "figures on them flatter; hold out other products"
    said = {
        "pair": f"{size.format('is' if one else 'are')} in the first set too: {flatter}",
        "alike": f"{size.format('is' if one else 'are')} in the first set but for case and white "
        f"space: {flatter}",
        "review": f"{size.format('has' if one else 'have')} a review of the first set, with "
        f"another statement: {flatter}",
        "product": f"{size.format('is' if one else 'are')} of a product (`group`) of the first "
        "set, with another review: hold out other products",
    }
    return [f"{reasons[name]:,} of {text}" for name, text in said.items() if reasons[name]]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _named(judged: JudgedPairs) -> NDArray[np.bool_]:
    """Which pairs name their product; the others are of their premise."""
    groups = zip(judged.groups.tolist(), judged.premises, strict=True)
    return np.asarray([group != group_named(premise) for group, premise in groups], np.bool_)


def _products(judged: JudgedPairs) -> list[str]:
    """The product of each pair, empty where none is named."""
    return [str(name) for name in np.where(_named(judged), judged.groups, "")]


def _faults(judged: JudgedPairs) -> list[str]:
    """What is wrong with one set."""
    found = []
    if _numbered(judged):
        found.append(
            "each pair has an id of its own, though reviews repeat: give the product's id "
            "(`group`), or intervals are too narrow and folds share reviews"
        )
    unnamed = int((~_named(judged)).sum())
    if unnamed:
        share = "no pair" if unnamed == len(judged) else f"{unnamed:,} of {len(judged):,} pairs"
        verb = "names its product" if unnamed == len(judged) else "do not name their product"
        found.append(
            f"{share} {verb} (`group`): folds and intervals rest on reviews there, and are too "
            "favourable if a product has several"
        )
    torn = _with_both_labels(judged)
    if torn:
        found.append(
            f"{counted(torn, 'pair has', 'pairs have')} both labels: correct one, or give a pair "
            "once, with annotators in `worker_labels`"
        )
    again = _repeated(judged)
    if again:
        found.append(
            f"{counted(again, 'pair repeats', 'pairs repeat')} another one and its label, so that "
            "it counts twice: keep one, or give a pair once, with annotators in `worker_labels`"
        )
    return found


def _repeated(judged: JudgedPairs) -> int:
    columns = (judged.groups.tolist(), judged.relations.tolist(), judged.labels.tolist())
    return len(judged) - len(set(zip(judged.pairs, *columns, strict=True)))


def _numbered(judged: JudgedPairs) -> bool:
    reviews = [
        premise
        for premise, relation in zip(judged.premises, judged.relations.tolist(), strict=True)
        if relation == "review"
    ]
    return len(set(judged.groups.tolist())) == len(judged) and len(set(reviews)) < len(reviews)


def _with_both_labels(judged: JudgedPairs) -> int:
    pairs = list(zip(judged.pairs, judged.relations.tolist(), strict=True))
    positive, negative = (
        {pair for pair, label in zip(pairs, judged.labels.tolist(), strict=True) if label is wanted}
        for wanted in (True, False)
    )
    return len(positive & negative)


def use_caution(row: ScorerRow) -> str | None:
    """Why a calibration should not be used: the scorer does no better than chance, or worse.

    Args:
        row: a scorer with its figures on the pairs that chose, and on unseen ones.

    Returns:
        The reason, or None where there is none.
    """
    for where, figures in (("the first set", row.dev), ("unseen pairs", row.unseen)):
        values = [figures.get(name) for name in ("balanced_accuracy", "auc")]
        if any(value is not None and value <= _CHANCE for value in values):
            shown = ["undefined" if value is None else f"{value:.3f}" for value in values]
            return (
                f"{row.scored.name} is no better than chance on {where}: balanced accuracy "
                f"{shown[0]}, AUC {shown[1]}"
            )
    return None
