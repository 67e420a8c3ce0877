"""What makes figures of labelled pairs misleading, and a calibration of no use, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.language import counted

if TYPE_CHECKING:
    from prevalence.calibration.study import ScorerRow
    from prevalence.labelled import JudgedPairs

__all__ = ["set_cautions", "use_caution"]

_CHANCE = 0.5
"""Balanced accuracy and AUC of a scorer that knows nothing."""


def set_cautions(dev: JudgedPairs, test: JudgedPairs | None) -> list[str]:
    """What is wrong with one or two labelled sets.

    Args:
        dev: pairs that the choice is made on.
        test: held-out pairs, or None.

    Returns:
        Pairs of the second set that the first has too; ids that number the pairs of a set, so that
        nothing keeps the pairs of a product together; pairs with both labels.
    """
    found = []
    if test is not None:
        known = set(dev.pairs)
        shared = sum(pair in known for pair in test.pairs)
        if shared:
            found.append(
                f"{shared:,} of {counted(len(test), 'held-out pair is', 'held-out pairs are')} in "
                "the first set too: figures on them flatter; hold out other products"
            )
    sets = [("the first set", dev)] + ([] if test is None else [("the held-out set", test)])
    for name, judged in sets:
        if _numbered(judged):
            found.append(
                f"{name}: each pair has an id of its own, though reviews repeat: give the "
                "product's id (`group`), or intervals are too narrow and folds share reviews"
            )
        torn = _with_both_labels(judged)
        if torn:
            found.append(
                f"{name}: {counted(torn, 'pair has', 'pairs have')} both labels: correct one, or "
                "give a pair once, with annotators in `worker_labels`"
            )
    return found


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
    crossed = row.dev.get("cross_validation")
    unseen = row.test if crossed is None else crossed["pooled"]
    for where, figures in (("the first set", row.dev), ("unseen pairs", unseen or {})):
        values = [figures.get(name) for name in ("balanced_accuracy", "auc")]
        if any(value is not None and value <= _CHANCE for value in values):
            shown = ["undefined" if value is None else f"{value:.3f}" for value in values]
            return (
                f"{row.scored.name} is no better than chance on {where}: balanced accuracy "
                f"{shown[0]}, AUC {shown[1]}"
            )
    return None
