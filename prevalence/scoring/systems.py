"""Per-system statistics of a run, gathered row by row in a few numbers a summary; who is ahead."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.scored import PROFILE_FIGURES
from prevalence.stats.correction import corrected_interval, corrected_share
from prevalence.stats.paired import PairedDifference, PairedDifferences, tied_groups
from prevalence.stats.resampling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    DEFAULT_TRIALS,
    TESTS,
    Interval,
    ProductScores,
    bootstrap_interval,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prevalence.scored import Profile, ScoredSummary
    from prevalence.stats.correction import ErrorRates

__all__ = [
    "RESAMPLES",
    "Standing",
    "SystemComparison",
    "SystemStatistics",
    "SystemTable",
    "standings",
]

RESAMPLES: Mapping[str, int] = {"bootstrap": DEFAULT_RESAMPLES, "randomization": DEFAULT_TRIALS}
"""Resamples by test where none are given."""


@dataclass(frozen=True, slots=True)
class SystemStatistics:
    """A system's line in the table.

    Attributes:
        system: its name.
        summaries: number of scored summaries.
        failed: number of rows with an error.
        prevalence: unweighted mean over its summaries; NaN without any.
        soft_prevalence: likewise of soft prevalence, or None.
        interval: 95% bootstrap interval over products, or None with fewer than six.
        sentences: mean sentences a summary; NaN without a scored summary.
        characters: mean characters a summary, of its sentences without marks of Markdown;
            likewise.
        trivial, redundant, unsupported: shares of all its sentences, in [0, 1], NaN without any;
            unsupported sentences are those that count and that no review implies.
        ceiling_share: mean over its summaries of prevalence as a share of the ceiling, or None.
        contradicted: share of the reviews asked about its sentences that contradict them, or
            None for a model without that class.
        self_contradicting: share of its sentences that an earlier one contradicts, likewise.
        corrected: prevalence corrected for the scorer's error rates, or None.
        corrected_interval: its 95% interval, over products and over the judgments that the rates
            come from; None with fewer than six of either products, or if the rates are refuted.
        quantities: number of its sentences whose quantity of people is compared with their support.
        wrong_quantities: number of these that disagree.
        rates_refuted: whether fewer pairs count as supported than the scorer's false support alone
            would give, so that ``corrected`` is 0 and means little.
        profile: mean over its summaries of each figure of their profiles that is known of some.
            ``polarity_distance`` is half the sum of the root mean square and the mean absolute
            distance; ``coverage_parity`` the mean over groups of the distance from its product's
            mean that a review of the group has on average, over all products.
    """

    system: str
    summaries: int
    failed: int
    prevalence: float
    soft_prevalence: float | None
    interval: Interval | None
    sentences: float
    characters: float
    trivial: float
    redundant: float
    unsupported: float
    ceiling_share: float | None = None
    contradicted: float | None = None
    self_contradicting: float | None = None
    corrected: float | None = None
    corrected_interval: Interval | None = None
    rates_refuted: bool = False
    quantities: int = 0
    wrong_quantities: int = 0
    profile: Mapping[str, float] = field(default_factory=dict)

    @property
    def order(self) -> float:
        """Sorts systems: the best by prevalence first, those without any last."""
        return math.inf if math.isnan(self.prevalence) else -self.prevalence


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Two systems on the products that both summarised.

    Attributes:
        first, second: their names.
        difference: mean of the second minus mean of the first.
        products: number of products compared.
        p_values: two-sided p by test, in the order asked for.
    """

    first: str
    second: str
    difference: float
    products: int
    p_values: Mapping[str, float]


@dataclass(slots=True)
class _System:
    products: array[int] = field(default_factory=lambda: array("l"))
    scores: array[float] = field(default_factory=lambda: array("d"))
    soft: array[float] = field(default_factory=lambda: array("d"))
    most: array[float] = field(default_factory=lambda: array("d"))
    shares: array[float] = field(default_factory=lambda: array("d"))
    failed: int = 0
    sentences: int = 0
    characters: int = 0
    trivial: int = 0
    redundant: int = 0
    unsupported: int = 0
    asked: int = 0
    contradictions: int = 0
    judged: int = 0
    self_contradicting: int = 0
    quantities: int = 0
    wrong_quantities: int = 0
    figures: dict[str, array[float]] = field(default_factory=dict)
    groups: dict[str, tuple[float, int]] = field(default_factory=dict)

    def add_profile(self, profile: Profile) -> None:
        """Take the figures of a summary's profile."""
        for name in PROFILE_FIGURES:
            value = getattr(profile, name)
            if value is not None:
                self.figures.setdefault(name, array("d")).append(value)
        for name, group in profile.groups.items():
            if group["reviews"] and group["coverage"] is not None:
                total, count = self.groups.get(name, (0.0, 0))
                gap = group["coverage"] - (profile.review_coverage or 0.0)
                size = group["reviews"]
                self.groups[name] = total + size * gap, count + size

    @property
    def profile(self) -> dict[str, float]:
        """What the profiles of all its summaries come to."""
        found = {name: float(np.mean(values)) for name, values in self.figures.items()}
        if "polarity_distance" in found:
            # Lei et al. 2024: (RMSE + MAE) / 2.
            distances = np.asarray(self.figures["polarity_distance"])
            found["polarity_distance"] = float(
                (np.sqrt((distances**2).mean()) + distances.mean()) / 2
            )
        if self.groups:
            gaps = [abs(total / count) for total, count in self.groups.values()]
            found["coverage_parity"] = float(np.mean(gaps))
        return found

    def add_contradictions(self, row: ScoredSummary) -> None:
        """Count what a model with that class says of contradiction."""
        if row.contradictions is None:
            return
        self.asked += row.n_reviews * sum(s.contradicted_by is not None for s in row)
        self.contradictions += row.contradictions
        self.judged += row.n_sentences
        self.self_contradicting += sum(bool(sentence.contradicts) for sentence in row)


class SystemTable:
    """Collects rows; memory grows by a few numbers a summary, not by texts.

    Attributes:
        unreadable: rows without a score whose system is unknown.
        nothing_left: rows without a score because a restriction leaves nothing.
        why_nothing: the warning of the first of them.
        in_groups: reviews in each group that profiles compare, over all rows.
        signatures: of the scored rows, in order of first appearance.
    """

    def __init__(self) -> None:
        self._systems: dict[str, _System] = {}
        self._products: dict[str, int] = {}
        self.unreadable = 0
        self.nothing_left = 0
        self.why_nothing = ""
        self.in_groups: dict[str, int] = {}
        self.signatures: list[str] = []

    def add(self, row: ScoredSummary) -> None:
        """Count a row."""
        if row.system is None:
            self.unreadable += 1
            return
        system = self._systems.setdefault(row.system, _System())
        if row.prevalence is None:
            # Without an error the record is sound: a condition leaves nothing of it to score.
            system.failed += row.error is not None
            if row.error is None:
                self.nothing_left += 1
                self.why_nothing = self.why_nothing or row.warning or ""
            return
        if row.signature not in self.signatures:
            self.signatures.append(row.signature)
        product = self._products.setdefault(str(row.id), len(self._products))
        system.products.append(product)
        system.scores.append(row.prevalence)
        most = row.corrected_most
        system.most.append(row.counting if most is None else most)
        if row.soft_prevalence is not None:
            system.soft.append(row.soft_prevalence)
        if row.ceiling_share is not None:
            system.shares.append(row.ceiling_share)
        system.add_contradictions(row)
        if row.profile is not None:
            system.add_profile(row.profile)
            for name, group in row.profile.groups.items():
                self.in_groups[name] = self.in_groups.get(name, 0) + group["reviews"]
        system.sentences += row.n_sentences
        system.characters += sum(len(sentence.text) for sentence in row)
        system.trivial += row.sentence_count("trivial") or 0
        system.redundant += row.sentence_count("redundant") or 0
        system.unsupported += row.sentence_count("unsupported") or 0
        agree = [
            sentence.quantity.get("agrees") for sentence in row if sentence.quantity is not None
        ]
        system.quantities += sum(known is not None for known in agree)
        system.wrong_quantities += agree.count(False)

    @property
    def failed(self) -> int:
        """Rows with an error."""
        return self.unreadable + sum(system.failed for system in self._systems.values())

    @property
    def repeated(self) -> int:
        """Rows with a score whose system has an earlier one of the same product."""
        return sum(len(one.products) - len(set(one.products)) for one in self._systems.values())

    @property
    def quantities(self) -> int:
        """Sentences whose quantity of people is compared with their support."""
        return sum(one.quantities for one in self._systems.values())

    @property
    def systems(self) -> list[str]:
        """Names, in order of first appearance."""
        return list(self._systems)

    @property
    def scored(self) -> int:
        """Rows with a score."""
        return sum(len(system.scores) for system in self._systems.values())

    def statistics(
        self,
        *,
        resamples: int = DEFAULT_RESAMPLES,
        seed: int = DEFAULT_SEED,
        error_rates: ErrorRates | None = None,
    ) -> list[SystemStatistics]:
        """One entry a system, in order of first appearance.

        Args:
            resamples: of the intervals.
            seed: of the resampling.
            error_rates: of the scorer, to correct scores for.
        """
        found = [self._statistics(name, resamples, seed) for name in self._systems]
        if error_rates is None:
            return found
        return [self._corrected(entry, error_rates, resamples, seed) for entry in found]

    def product_scores(self, system: str) -> ProductScores:
        """The system's scores, summed by product, aligned over all systems."""
        entry = self._systems[system]
        return self._by_product(entry, entry.scores)

    def _by_product(self, entry: _System, values: array[float]) -> ProductScores:
        places = np.frombuffer(entry.products, dtype=np.dtype("l"))
        size = len(self._products)
        return ProductScores(
            np.bincount(places, weights=np.frombuffer(values), minlength=size).astype(float),
            np.bincount(places, minlength=size).astype(np.float64),
        )

    def _corrected(
        self, found: SystemStatistics, rates: ErrorRates, resamples: int, seed: int
    ) -> SystemStatistics:
        """The same with the mean score corrected, and its interval."""
        entry = self._systems[found.system]
        if not entry.scores:
            return found
        scores, most = (self._by_product(entry, v) for v in (entry.scores, entry.most))
        refuted = scores.mean < (1.0 - rates.specificity) * most.mean
        return replace(
            found,
            corrected=corrected_share(
                scores.mean, rates.sensitivity, rates.specificity, most=most.mean
            ),
            corrected_interval=None
            if refuted
            else corrected_interval(scores, most, rates, resamples=resamples, seed=seed),
            rates_refuted=refuted,
        )

    def compare(
        self,
        tests: Iterable[str],
        *,
        resamples: Mapping[str, int] = RESAMPLES,
        seed: int = DEFAULT_SEED,
    ) -> list[SystemComparison]:
        """Every pair of systems that share a product, the better one first.

        Args:
            tests: one or more names in :data:`prevalence.stats.resampling.TESTS`.
            resamples: how many, by test.
            seed: of the resampling.
        """
        scores = {
            name: self.product_scores(name) for name, entry in self._systems.items() if entry.scores
        }
        ordered = sorted(scores, key=lambda name: -scores[name].mean)
        chosen = list(tests)
        found = []
        for place, a in enumerate(ordered):
            for b in ordered[place + 1 :]:
                results = {
                    test: TESTS[test](scores[a], scores[b], resamples=resamples[test], seed=seed)
                    for test in chosen
                }
                result = next(iter(results.values()))
                p_values = {test: results[test].p_value for test in chosen}
                if result.products:
                    found.append(
                        SystemComparison(a, b, result.difference, result.products, p_values)
                    )
        return found

    def _statistics(self, name: str, resamples: int, seed: int) -> SystemStatistics:
        entry = self._systems[name]
        count = len(entry.scores)
        scores = self.product_scores(name) if count else None
        return SystemStatistics(
            system=name,
            summaries=count,
            failed=entry.failed,
            prevalence=scores.mean if scores else float("nan"),
            soft_prevalence=float(np.mean(entry.soft)) if entry.soft else None,
            interval=bootstrap_interval(scores, resamples=resamples, seed=seed) if scores else None,
            sentences=_ratio(entry.sentences, count),
            characters=_ratio(entry.characters, count),
            trivial=_ratio(entry.trivial, entry.sentences),
            redundant=_ratio(entry.redundant, entry.sentences),
            unsupported=_ratio(entry.unsupported, entry.sentences),
            ceiling_share=float(np.mean(entry.shares)) if entry.shares else None,
            contradicted=_ratio(entry.contradictions, entry.asked) if entry.asked else None,
            self_contradicting=_ratio(entry.self_contradicting, entry.judged)
            if entry.judged
            else None,
            quantities=entry.quantities,
            wrong_quantities=entry.wrong_quantities,
            profile=entry.profile,
        )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


class Standing(NamedTuple):
    """A system's place.

    Attributes:
        group: number of its group, from 1; see :func:`~prevalence.stats.paired.tied_groups`.
        system: its name.
        behind: how far it lies below the best system; None for the best one itself.
    """

    group: int
    system: str
    behind: PairedDifference | None


def standings(table: SystemTable, *, resamples: int, seed: int) -> list[Standing]:
    """The scored systems from the best to the worst.

    Args:
        table: their scores by product.
        resamples: of the bootstrap over products.
        seed: of the generator.
    """
    scores = {name: table.product_scores(name) for name in table.systems}
    scores = {name: found for name, found in scores.items() if not math.isnan(found.mean)}
    ordered = sorted(scores, key=lambda name: -scores[name].mean)
    differences = PairedDifferences(scores, resamples=resamples, seed=seed)
    groups = tied_groups(ordered, differences)
    return [
        Standing(group, name, differences(ordered[0], name) if name != ordered[0] else None)
        for group, name in zip(groups, ordered, strict=True)
    ]
