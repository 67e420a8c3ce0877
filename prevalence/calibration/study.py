"""Several scorers on one or two labelled sets: choose on the first, report on the second.

Without a second set, figures that no choice has seen come from cross-validation over products: for
each fold, options, threshold and map are chosen on the others.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.calibration.evaluation import (
    Decider,
    Figures,
    comparison_json,
    outcome_of,
    relation_figures,
    set_figures,
    threshold_figures,
)
from prevalence.calibration.figures import (
    THRESHOLD_RULES,
    ThresholdRule,
    auc,
    best_threshold,
    tally,
)
from prevalence.calibration.resampling import Outcome, Resampling, figures_of
from prevalence.errors import ConfigurationError, InputError
from prevalence.scorers.calibrated import MAPS, check_choice, fit_map

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.labelled import JudgedPairs
    from prevalence.stats.arrays import Bools, Floats

__all__ = [
    "EVERY_RELATION",
    "ScoredPairs",
    "ScorerRow",
    "Settings",
    "best_of",
    "check_sets",
    "grouped_folds",
    "study",
]


def grouped_folds(
    groups: Sequence[str] | NDArray[np.str_], *, folds: int, seed: int
) -> list[frozenset[str]]:
    """Deal groups into folds of nearly equal numbers of pairs.

    Args:
        groups: Group of each pair.
        folds: Number of folds.
        seed: Shuffles the groups first.

    Returns:
        Held-out groups of each fold; they cover every group once.

    Raises:
        InputError: There are fewer groups than folds.
    """
    names, counts = np.unique(np.asarray(groups), return_counts=True)
    if len(names) < folds:
        raise InputError(f"{folds} folds need at least as many groups, found {len(names)}")
    order = np.random.default_rng(seed).permutation(len(names))
    order = order[np.argsort(-counts[order], kind="stable")]
    held: list[set[str]] = [set() for _ in range(folds)]
    sizes = np.zeros(folds, dtype=np.int64)
    for index in order.tolist():
        fold = int(np.argmin(sizes))
        held[fold].add(str(names[index]))
        sizes[fold] += counts[index]
    return [frozenset(fold) for fold in held]


EVERY_RELATION = "all"
_SPREAD = ("auc", "balanced_accuracy")


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPairs:
    """One scorer's answers.

    Attributes:
        name: what opens the scorer.
        digest: of everything that changes a score.
        signature: the scorer's part of the signature.
        dev: float64, score of each pair of the first set; NaN where there is none.
        test: of the second set; None without one.
        threshold: the calibrated one that the scorer has at present; None if it has none.
    """

    name: str
    digest: bytes
    signature: Mapping[str, str]
    dev: Floats
    test: Floats | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to choose and report.

    Attributes:
        relation: use of C that is calibrated: `review`, `product`, `sentence`, or `all`.
        score_map: kind of map, see :data:`prevalence.scorers.calibrated.MAPS`.
        candidates: threshold rule.
        folds: of cross-validation; fewer where there are fewer products.
        resampling: of intervals and tests; its seed deals the folds as well.
        curves: whether to give the points of ROC and reliability curves.

    Raises:
        ConfigurationError: an unknown map or threshold rule, or fewer than two folds.
    """

    relation: str = "review"
    score_map: str = "none"
    candidates: ThresholdRule = "scores"
    folds: int = 5
    resampling: Resampling = field(default_factory=Resampling)
    curves: bool = False

    def __post_init__(self) -> None:
        check_choice("map", self.score_map, MAPS)
        check_choice("threshold rule", self.candidates, THRESHOLD_RULES)
        if self.folds < 2:
            raise ConfigurationError(f"cross-validation takes at least 2 folds, not {self.folds}")


@dataclass(frozen=True, slots=True, eq=False)
class ScorerRow:
    """A scorer, what was chosen for it, and its figures.

    Attributes:
        scored: the scorer; of alternatives, the one chosen.
        decider: threshold and map.
        dev: figures of the first set, on which the choice was made.
        test: figures of the second set, or None.
        products: for each product of the reviews that no choice has seen, how many supported pairs
            were decided so and not, and how many unsupported pairs were decided so and not; empty
            where one kind is missing. See :class:`prevalence.stats.correction.ErrorRates`.
    """

    scored: ScoredPairs
    decider: Decider
    dev: Figures
    test: Figures | None
    products: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def unseen(self) -> Figures:
        """Figures on pairs that no choice has seen, or the first set's where there are none such.

        Those are pairs of the second set, or else of the held-out folds.
        """
        crossed = self.dev.get("cross_validation")
        seen = self.dev if crossed is None else crossed["pooled"]
        return seen if self.test is None else self.test

    def to_json(self) -> dict[str, Any]:
        """Scorer, threshold and figures."""
        return {
            "scorer": self.scored.name,
            "threshold": self.decider.threshold,
            "dev": self.dev,
            "test": self.test,
        }


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """The pairs of a set that count: of the relation, and readable by every scorer.

    Attributes:
        whole: the set.
        readable: bool, pairs of the set that every scorer has a score for.
        kept: bool, those of the relation among them.
        judged: the kept pairs.
    """

    whole: JudgedPairs
    readable: Bools
    kept: Bools
    judged: JudgedPairs

    @classmethod
    def of(cls, whole: JudgedPairs, columns: Sequence[Floats], relation: str, name: str) -> _View:
        readable = np.asarray(np.isfinite(np.stack(columns)).all(axis=0))
        wanted = np.isin(whole.relations, [relation])
        kept = readable if relation == EVERY_RELATION else readable & wanted
        judged = whole.take(kept)
        if not judged.labels.any() or judged.labels.all():
            raise InputError(_too_few(whole, judged, relation, name))
        return cls(whole, readable, kept, judged)

    def others(self, relation: str) -> Bools:
        """Readable pairs of the other relations; all of them when every relation is calibrated."""
        return self.readable if relation == EVERY_RELATION else self.readable & ~self.kept


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """An alternative, what was chosen for it, and how well it did there."""

    scored: ScoredPairs
    decider: Decider
    merit: tuple[float, float]


def study(
    dev: JudgedPairs,
    test: JudgedPairs | None,
    families: Sequence[Sequence[ScoredPairs]],
    settings: Settings,
) -> list[ScorerRow]:
    """Choose options, threshold and map on the first set, and report on the second.

    Args:
        dev: labelled pairs to choose on.
        test: labelled pairs to report on; None for cross-validation on the first.
        families: scorers, each as a list of alternatives of which the best is taken: highest
            balanced accuracy, then AUC, then the first.
        settings: how.

    Returns:
        One row a family, in order. All rows are about the same pairs: one that a scorer cannot
        read is left out for all and counted as `unscored`. Every scorer but the best on the
        first set is compared with it where no choice was made: on the second set, or on the
        held-out folds.

    Raises:
        InputError: a set has no pair of the relation, or one class only; or, for cross-validation,
            the products outside a fold have one class only.
    """
    scored = [alternative for family in families for alternative in family]
    first = _View.of(dev, [s.dev for s in scored], settings.relation, "the first set")
    second = None
    if test is not None:
        columns = [s.test for s in scored if s.test is not None]
        second = _View.of(test, columns, settings.relation, "the second set")
    everything = np.ones(len(first.judged), np.bool_)
    choices = [_choose(family, first, everything, settings) for family in families]
    rows, unseen = [], []
    for choice, family in zip(choices, families, strict=True):
        row, outcome = _report(choice, family, first, second, settings)
        rows.append(row)
        unseen.append(outcome)
    _compare(rows, unseen, settings)
    return rows


def check_sets(dev: JudgedPairs, test: JudgedPairs | None, settings: Settings) -> None:
    """Refuse sets on which :func:`study` could not choose or report, before they are scored.

    Every pair is taken to be one that the scorers can read.

    Args:
        dev: labelled pairs to choose on.
        test: labelled pairs to report on; None for cross-validation on the first.
        settings: how.

    Raises:
        InputError: a set has no pair of the relation, or one class only; or, for cross-validation,
            the products outside a fold have one class only.
    """
    first = _View.of(dev, [np.zeros(len(dev))], settings.relation, "the first set")
    if test is None:
        _folds(first.judged, settings)
    else:
        _View.of(test, [np.zeros(len(test))], settings.relation, "the second set")


def best_of(rows: Sequence[ScorerRow]) -> ScorerRow:
    """The row of highest balanced accuracy on the first set, then AUC, then the first."""
    return max(rows, key=lambda row: (row.dev["balanced_accuracy"], row.dev["auc"]))


def _choose(family: Sequence[ScoredPairs], view: _View, rows: Bools, settings: Settings) -> _Choice:
    """The best alternative on some rows of a view, with its threshold and map."""
    labels = view.judged.labels[rows]
    found = []
    for alternative in family:
        scores = alternative.dev[view.kept][rows]
        with _naming(alternative.name, "--candidates scores does without"):
            threshold = best_threshold(scores, labels, candidates=settings.candidates)
        with _naming(alternative.name, "--map none does without"):
            decider = Decider(threshold.value, fit_map(settings.score_map, scores, labels))
        merit = (threshold.balanced_accuracy, auc(scores, labels))
        found.append(_Choice(alternative, decider, merit))
    return max(found, key=lambda choice: choice.merit)


@contextmanager
def _naming(scorer: str, advice: str) -> Iterator[None]:
    """Let an error say which scorer it is about, and what does without."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{scorer}: {error} ({advice})") from error


def _report(
    choice: _Choice,
    family: Sequence[ScoredPairs],
    first: _View,
    second: _View | None,
    settings: Settings,
) -> tuple[ScorerRow, Outcome | None]:
    """A row, and the outcome on pairs that no choice has seen."""
    scored, decider = choice.scored, choice.decider
    dev, _ = _set_report(choice, scored.dev, first, settings)
    if second is None or scored.test is None:
        dev["cross_validation"], unseen = _cross_validate(family, first, settings)
        return ScorerRow(scored, decider, dev, None, _products(unseen, first)), unseen
    test, outcome = _set_report(choice, scored.test, second, settings)
    return ScorerRow(scored, decider, dev, test, _products(outcome, second)), outcome


def _products(outcome: Outcome | None, view: _View) -> tuple[tuple[int, int, int, int], ...]:
    """Decisions on pairs with a review by product, see :class:`ScorerRow`."""
    if outcome is None:
        return ()
    reviews = view.judged.relations == "review"
    if len(set(outcome.labels[reviews].tolist())) < 2:
        return ()
    groups = outcome.groups[reviews]
    sums = tally(
        outcome.probabilities[reviews], outcome.decided[reviews], outcome.labels[reviews], groups,
        outcome.size,
    )[np.unique(groups)].astype(int).tolist()  # fmt: skip
    return tuple((tp, fn, tn, fp) for tp, fp, fn, tn, *_ in sums)


def _set_report(
    choice: _Choice, scores: Floats, view: _View, settings: Settings
) -> tuple[Figures, Outcome]:
    decider = choice.decider
    outcome = outcome_of(scores[view.kept], view.judged, decider)
    figures = set_figures(outcome, settings.resampling, curves=settings.curves)
    if choice.scored.threshold is not None:
        figures["present"] = threshold_figures(
            scores[view.kept], view.judged, choice.scored.threshold
        )
    figures["unscored"] = int((~view.readable).sum())
    others = view.others(settings.relation)
    if others.any() and (set(view.whole.relations[others].tolist()) != {settings.relation}):
        figures["relations"] = relation_figures(
            scores[others], view.whole.take(others), decider, candidates=settings.candidates
        )
    return figures, outcome


def _cross_validate(
    family: Sequence[ScoredPairs], view: _View, settings: Settings
) -> tuple[Figures | None, Outcome | None]:
    """Decisions on each fold of products by what the others chose; None for a single product."""
    judged, resampling = view.judged, settings.resampling
    held = _folds(judged, settings)
    if not held:
        return None, None
    parts: list[tuple[Bools, Outcome]] = []
    folds: list[Figures] = []
    for inside in held:
        choice = _choose(family, view, ~inside, settings)
        scores = choice.scored.dev[view.kept][inside]
        outcome = outcome_of(scores, judged.take(inside), choice.decider)
        folds.append(_fold_figures(choice, outcome))
        # Scores of different alternatives have no common scale; ranks within a fold do.
        parts.append((inside, outcome if len(family) == 1 else _ranked(outcome)))
    pooled = _pooled(parts, judged)
    summary = {name: _spread([fold[name] for fold in folds]) for name in _SPREAD}
    figures = set_figures(pooled, resampling, curves=settings.curves)
    return {**summary, "folds": folds, "pooled": figures}, pooled


def _folds(judged: JudgedPairs, settings: Settings) -> list[Bools]:
    """The held-out pairs of each fold of products, bool [P]; none for a single product.

    Raises:
        InputError: without a fold, the others have one label only.
    """
    products = len(set(judged.groups.tolist()))
    if products < 2:
        return []
    folds, seed = min(settings.folds, products), settings.resampling.seed
    dealt = grouped_folds(judged.groups, folds=folds, seed=seed)
    held = [np.asarray(np.isin(judged.groups, sorted(groups))) for groups in dealt]
    if any(len(set(judged.labels[~inside].tolist())) < 2 for inside in held):
        raise InputError(
            "without a fold of products, only one label is left to choose on: give a second "
            "set (--held-out), or another number of --folds"
        )
    return held


def _fold_figures(choice: _Choice, outcome: Outcome) -> Figures:
    figures = figures_of(outcome)
    return {
        "scorer": choice.scored.name,
        "threshold": choice.decider.threshold,
        "n": len(outcome.labels),
        **{name: figures[name] for name in _SPREAD},
    }


def _ranked(outcome: Outcome) -> Outcome:
    order = np.unique(outcome.scores, return_inverse=True)[1]
    return replace(outcome, scores=order / max(int(order.max()), 1))


def _pooled(parts: Sequence[tuple[Bools, Outcome]], judged: JudgedPairs) -> Outcome:
    """Held-out answers of all folds in the order of the pairs."""
    scores, probabilities = np.zeros(len(judged)), np.zeros(len(judged))
    decided = np.zeros(len(judged), np.bool_)
    for inside, outcome in parts:
        scores[inside] = outcome.scores
        probabilities[inside] = outcome.probabilities
        decided[inside] = outcome.decided
    groups = np.unique(judged.groups, return_inverse=True)[1].astype(np.int64)
    return Outcome(scores, probabilities, decided, judged.labels, groups)


def _spread(values: Sequence[float | None]) -> Figures:
    """Mean and standard deviation (n - 1) over the folds in which a figure is defined."""
    defined = [value for value in values if value is not None]
    return {
        "mean": float(np.mean(defined)) if defined else None,
        "sd": float(np.std(defined, ddof=1)) if len(defined) > 1 else None,
    }


def _compare(
    rows: Sequence[ScorerRow], unseen: Sequence[Outcome | None], settings: Settings
) -> None:
    """Write into each row how it differs from the best one, on pairs that no choice has seen."""
    best = best_of(rows)
    against = unseen[rows.index(best)]
    for row, outcome in zip(rows, unseen, strict=True):
        if row is not best and outcome is not None and against is not None:
            place = row.test if row.test is not None else row.dev["cross_validation"]
            place["versus_best"] = comparison_json(
                best.scored.name, outcome, against, settings.resampling
            )


def _too_few(whole: JudgedPairs, judged: JudgedPairs, relation: str, name: str) -> str:
    if not len(whole):
        return f"{name} has no pair with a label"
    if len(judged):
        label = "positive" if judged.labels.all() else "negative"
        return f"{name} has only {label} pairs of relation {relation!r}; a threshold needs both"
    present, counts = np.unique(whole.relations, return_counts=True)
    found = ", ".join(f"{n} of {str(r)!r}" for r, n in zip(present, counts, strict=True))
    return f"{name} has no readable pair of relation {relation!r}; it has {found} (--relation)"
