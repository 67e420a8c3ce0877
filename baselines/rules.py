"""How several references and several reviews become one value; published figures depend on it.

References (``refs=``): ``best`` takes the most favourable value (the greatest, or the least where
lower is better), ``mean`` the average, ``first`` the first reference alone; ``joint`` hands all to
the metric, where its own definition has a way to use them (BLEU, chrF, TER, S3).

Reviews (``source=``): ``joined`` writes them one after the other with a space between;
``truncated-N`` keeps the first N words (runs of non-space) of that text; ``each`` compares with
every review and averages.

Blank references and reviews are left out, unless all are blank, and so is what a metric has no
value against, unless it has none at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.protocol import (
    REFERENCE,
    REVIEWS,
    Comparison,
    Entry,
    Example,
    Input,
    Progress,
)
from prevalence.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from prevalence.baselines.protocol import Metric
    from prevalence.scorers.grammar import Spec

__all__ = [
    "AGAINST_OPTIONS",
    "JOINT",
    "REMEMBERED_TEXTS",
    "CombinedMetric",
    "ComparingMetric",
    "SummaryMetric",
    "chosen_option",
    "comparing",
    "number_option",
]

JOINT = "joint"

REMEMBERED_TEXTS = 64
"""Most texts of which a metric keeps the words: a product's reviews come again with each of its
summaries."""

AGAINST_OPTIONS = {
    "against=INPUT": "reference or reviews",
    "refs=RULE": "several references: best, mean or first",
    "source=RULE": "several reviews: joined, each or truncated-N (words)",
}
"""Options of every metric that compares the summary with texts."""

_TRUNCATED = re.compile(r"truncated-([1-9][0-9]{0,8})")
_NUMBER = re.compile(r"[0-9]{1,9}")
_WORK_UNIT = 32

Compute = Callable[[Sequence[Comparison]], "ArrayLike"]
"""Values of C comparisons, [C]; NaN where the metric is undefined."""


def _never() -> int:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Computed:
    """What metrics have that are given a function for their values."""

    name: str
    entry: Entry
    signature: Mapping[str, str]
    work_unit: int = _WORK_UNIT
    cuts: Callable[[], int] = _never

    @property
    def truncated(self) -> int:
        """How many texts were cut at a model's limit so far."""
        return self.cuts()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparingMetric(_Computed):
    """A metric that compares the summary with one text at a time, under the rules of this module.

    Attributes:
        compute: values of comparisons; equal ones are asked once a call.
        against: what the summary is compared with.
        rule: the rule for several of them.
        cuts: how many texts were cut at a model's limit so far.

    The other attributes are those of :class:`prevalence.baselines.protocol.Metric`.
    """

    compute: Compute
    against: Input
    rule: str

    @property
    def needs(self) -> tuple[Input, ...]:
        """The input that the summary is compared with."""
        return (self.against,)

    def score(
        self, examples: Sequence[Example], *, progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Score examples; see :meth:`prevalence.baselines.protocol.Metric.score`."""
        if not all(self.texts(example) for example in examples):
            raise InputError(f"{self.name} needs {self.against}: give at least one text")
        asked: dict[Comparison, int] = {}
        groups = [
            [
                asked.setdefault(Comparison(texts, example.summary), len(asked))
                for texts in _arranged(self.texts(example), self.rule)
            ]
            for example in examples
        ]
        values = np.asarray(self.compute(list(asked)), np.float64)
        if progress is not None:
            progress(len(examples))
        return np.array([self._merged(values[group]) for group in groups], np.float64)

    def texts(self, example: Example) -> tuple[str, ...]:
        """What the summary is compared with, without blank texts unless all are."""
        texts = example.references if self.against == REFERENCE else example.reviews
        return tuple(text for text in texts if text.strip()) or texts

    def _merged(self, values: NDArray[np.float64]) -> float:
        known = values[~np.isnan(values)]
        if not known.size:
            return math.nan
        if self.rule == "best":
            return float(known.max() if self.entry.higher_is_better else known.min())
        return float(known.mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryMetric(_Computed):
    """A metric of the summary alone.

    Attributes:
        compute: values of summaries, [N]; equal ones are asked once a call.
        cuts: how many texts were cut at a model's limit so far.

    The other attributes are those of :class:`prevalence.baselines.protocol.Metric`.
    """

    compute: Callable[[Sequence[str]], ArrayLike]

    @property
    def needs(self) -> tuple[Input, ...]:
        """Nothing beside the summary."""
        return ()

    def score(
        self, examples: Sequence[Example], *, progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Score examples; see :meth:`prevalence.baselines.protocol.Metric.score`."""
        asked: dict[str, int] = {}
        places = [asked.setdefault(example.summary, len(asked)) for example in examples]
        values = np.asarray(self.compute(list(asked)), np.float64)
        if progress is not None:
            progress(len(examples))
        return values[places]


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedMetric(_Computed):
    """Several metrics as one, each of which reads what it needs of an example.

    Attributes:
        metrics: M of them.
        combine: from their values, float64 [M, N], to those of the whole, float64 [N].
        cuts: how many texts were cut at a model's limit so far.

    The other attributes are those of :class:`prevalence.baselines.protocol.Metric`.
    """

    metrics: tuple[Metric, ...]
    combine: Callable[[NDArray[np.float64]], NDArray[np.float64]]

    @property
    def needs(self) -> tuple[Input, ...]:
        """What any of them reads."""
        return tuple(dict.fromkeys(need for metric in self.metrics for need in metric.needs))

    def score(
        self, examples: Sequence[Example], *, progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Score examples; see :meth:`prevalence.baselines.protocol.Metric.score`."""
        values = self.combine(np.array([metric.score(examples) for metric in self.metrics]))
        if progress is not None:
            progress(len(examples))
        return values


def chosen_option(
    entry: Entry, spec: Spec, option: str, among: Sequence[str], usual: str | None = None
) -> str:
    """What an option says; where it is not given, the usual value, or the first of all.

    Raises:
        ConfigurationError: it is none of the values.
    """
    value = spec.options.get(option, usual or among[0])
    if value not in among:
        choices = (" or " if len(among) == 2 else ", ").join(among)
        raise ConfigurationError(f"{entry.name}: {option}={value}: choose {choices}")
    return value


def number_option(entry: Entry, spec: Spec, option: str, right: str) -> int | None:
    """The number of at least 1, in up to nine digits, that an option says; None for no option.

    Raises:
        ConfigurationError: it says no such number; the message says what is right, in words.
    """
    stated = spec.options.get(option)
    if stated is None:
        return None
    if not _NUMBER.fullmatch(stated) or not int(stated):
        raise ConfigurationError(f"{entry.name}: {option}={stated}: give {right}")
    return int(stated)


def comparing(
    entry: Entry,
    spec: Spec,
    compute: Compute,
    *,
    signature: Mapping[str, str],
    refs: str = "best",
    joint: bool = False,
    source: str = "joined",
    work_unit: int = _WORK_UNIT,
    cuts: Callable[[], int] = _never,
) -> ComparingMetric:
    """Build a metric from its values and from the options of :data:`AGAINST_OPTIONS`.

    Args:
        entry: the metric's entry; its first need is what it is compared with by default.
        spec: the options asked for.
        compute: values of comparisons.
        signature: what else changes a value.
        refs: default rule for references.
        joint: whether ``compute`` takes several references at once.
        source: default rule for reviews.
        work_unit: number of examples that is worth one call.
        cuts: how many texts were cut at a model's limit so far.

    Raises:
        ConfigurationError: an option has a value that it does not know, or does not apply.
    """
    against = chosen_option(entry, spec, "against", (REFERENCE, REVIEWS), entry.needs[0])
    unused, used = ("source", "refs") if against == REFERENCE else ("refs", "source")
    if unused in spec.options:
        raise ConfigurationError(f"{entry.name}: {unused}= does not apply against the {against}")
    rule = spec.options.get(used, refs if used == "refs" else source)
    sided = [] if entry.higher_is_better is None else ["best"]
    known = (*sided, "mean", "first", *([JOINT] if joint else []))
    if used == "refs" and rule not in known:
        raise ConfigurationError(f"{entry.name}: refs={rule}: choose {', '.join(known)}")
    if used == "source" and rule not in ("joined", "each") and not _TRUNCATED.fullmatch(rule):
        raise ConfigurationError(
            f"{entry.name}: source={rule}: choose joined, each or truncated-N (N words)"
        )
    return ComparingMetric(
        name=spec.canonical(),
        entry=entry,
        compute=compute,
        against=REFERENCE if against == REFERENCE else REVIEWS,
        rule=rule,
        signature={**signature, used: rule},
        work_unit=work_unit,
        cuts=cuts,
    )


def _arranged(texts: tuple[str, ...], rule: str) -> list[tuple[str, ...]]:
    """What the summary is compared with, one comparison after the other."""
    if rule == JOINT:
        return [texts]
    if rule == "first":
        return [texts[:1]]
    if rule in ("best", "mean", "each"):
        return [(text,) for text in texts]
    joined = " ".join(texts)
    cut = _TRUNCATED.fullmatch(rule)
    return [(" ".join(joined.split()[: int(cut[1])]),)] if cut else [(joined,)]
