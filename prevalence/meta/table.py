"""The frozen table of a meta-evaluation: items × systems, with metrics, human ratings, samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from prevalence.errors import InputError
from prevalence.meta.levels import without_noise
from prevalence.readers.summeval_op import DIMENSIONS, snake
from prevalence.scored import PROFILE_FIGURES
from prevalence.stats.coefficients import mean_coefficient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from prevalence.stats.arrays import Floats

__all__ = [
    "PEOPLE",
    "RatingTable",
    "SummaryRatings",
    "TableBuilder",
    "own_dimension",
    "unrated_dimension",
]

_SAME_DIMENSION = (
    ("asp_rel", "aspect_relevance"),
    ("self_coh", "self_coherence"),
    ("sent_con", "sentiment_consistency"),
    ("readblty", "readability"),
)
"""OpinSummEval's released ratings abbreviate what its paper, and judges, write out."""

_KNOWN = {*DIMENSIONS.values(), "consistency", *(name for pair in _SAME_DIMENSION for name in pair)}
"""What judges are asked about, here and in the releases that are read."""

PEOPLE = "people"
"""What people's own ratings are called where they stand among the metrics."""

Value = TypeVar("Value")
_Places = list[tuple[tuple[int, ...], float | None]]


class SummaryRatings(NamedTuple):
    """What one source says about one summary.

    Attributes:
        item: id of the item (product, case, article).
        system: name of the system.
        metrics: value by metric; None is missing.
        samples: sampled values by metric.
        human: by dimension, value by rater.
        text: the summary, where the source holds it.
    """

    item: str
    system: str
    metrics: Mapping[str, float | None]
    samples: Mapping[str, Sequence[float | None]]
    human: Mapping[str, Mapping[str, float | None]]
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RatingTable:
    """Everything that is known of the summaries of some items by some systems; NaN is missing.

    Attributes:
        items: ids, in order of first appearance.
        systems: names, likewise.
        raters: names of the columns of human ratings, likewise.
        metrics: by name, float64 [items, systems].
        human: by dimension, float64 [items, systems, raters].
        samples: by metric, float64 [items, systems, most samples].
    """

    items: tuple[str, ...]
    systems: tuple[str, ...]
    raters: tuple[str, ...]
    metrics: Mapping[str, Floats]
    human: Mapping[str, Floats]
    samples: Mapping[str, Floats]

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the rated dimensions."""
        return tuple(self.human)

    def mean_human(self, dimension: str) -> Floats:
        """Mean over the raters that are present.

        Means that differ by rounding noise alone are made equal, so that ties stay ties.

        Args:
            dimension: one of :attr:`dimensions`.

        Returns:
            float64 [items, systems]; NaN where no one rated.

        Raises:
            InputError: the dimension is unknown.
        """
        ratings = _get(self.human, dimension, "dimension")
        means = mean_coefficient(ratings)
        scale = np.abs(np.nan_to_num(ratings)).max(axis=2, initial=0.0)
        _, first, places = np.unique(
            without_noise(means, scale=scale), return_index=True, return_inverse=True
        )
        return means.ravel()[first][places.reshape(means.shape)]

    def metric(self, name: str) -> Floats:
        """Values of a metric, float64 [items, systems].

        Raises:
            InputError: the metric is unknown.
        """
        return _get(self.metrics, name, "metric")

    def first_summary(self, metric: str | None = None) -> tuple[str, str] | None:
        """Item and system of the first summary with a value, or None where there is none.

        Args:
            metric: whose value; None for a rating in any dimension.

        Raises:
            InputError: the metric is unknown.
        """
        if metric is not None:
            known = ~np.isnan(self.metric(metric))
        else:
            ratings = [~np.isnan(values).all(axis=2) for values in self.human.values()]
            known = np.any(ratings, axis=0)
        places = np.argwhere(known)
        if not len(places):
            return None
        item, system = places[0]
        return self.items[item], self.systems[system]

    def with_people(self) -> RatingTable:
        """The table with people's mean ratings as metrics, ``people.DIMENSION``.

        They show how far a dimension goes with another one, and that it goes with itself.
        """
        people = {f"{PEOPLE}.{snake(name)}": self.mean_human(name) for name in self.human}
        return replace(self, metrics={**self.metrics, **people})

    def select(
        self,
        *,
        metrics: Iterable[str] | None = None,
        dimensions: Iterable[str] | None = None,
        systems: Iterable[str] | None = None,
    ) -> RatingTable:
        """A table with only what is named, in the order named; None keeps all.

        Raises:
            InputError: a name is unknown.
        """
        table = self
        if metrics is not None:
            kept = {name: _get(self.metrics, name, "metric") for name in metrics}
            samples = {name: self.samples[name] for name in kept if name in self.samples}
            table = replace(table, metrics=kept, samples=samples)
        if dimensions is not None:
            human = {name: _get(self.human, name, "dimension") for name in dimensions}
            table = replace(table, human=human)
        return table if systems is None else table._with_systems(tuple(systems))

    def _with_systems(self, systems: tuple[str, ...]) -> RatingTable:
        places = {name: place for place, name in enumerate(self.systems)}
        chosen = [_get(places, name, "system") for name in systems]

        def cut(values: Mapping[str, Floats]) -> dict[str, Floats]:
            return {name: array[:, chosen] for name, array in values.items()}

        return replace(
            self,
            systems=systems,
            metrics=cut(self.metrics),
            human=cut(self.human),
            samples=cut(self.samples),
        )


_OF_PROFILES = {f"prevalence.{name}" for name in PROFILE_FIGURES}


def own_dimension(metric: str, dimensions: Iterable[str]) -> tuple[str, str | None]:
    """Split ``FAMILY.DIMENSION``, the name of a metric that judges one dimension.

    Args:
        metric: the metric's name.
        dimensions: the rated dimensions.

    Returns:
        Family and dimension as rated, the longest that fits; the name itself and None where the
        metric judges none of them in particular. OpinSummEval's abbreviations and the words that
        they stand for fit each other.

    >>> own_dimension("op-i.aspect_coverage", ["aspect coverage", "fluency"])
    ('op-i', 'aspect coverage')
    >>> own_dimension("chatgpt-4d.readability", ["asp_rel", "readblty"])
    ('chatgpt-4d', 'readblty')
    >>> own_dimension("rouge-1", ["fluency"])
    ('rouge-1', None)

    The figures of a profile are metrics of their own, whatever dimensions are called.

    >>> own_dimension("prevalence.coverage", ["coverage"])
    ('prevalence.coverage', None)
    """
    if metric.rpartition(":")[2] in _OF_PROFILES:
        return metric, None
    rated = {snake(dimension): dimension for dimension in dimensions}
    named = {
        other: rated[name] for pair in _SAME_DIMENSION for name in pair if name in rated
        for other in pair
    } | rated  # fmt: skip
    for spelling in sorted(named, key=len, reverse=True):
        ending = f".{spelling}"
        if snake(metric).endswith(ending) and len(metric) > len(ending):
            return metric[: -len(ending)], named[spelling]
    return metric, None


def unrated_dimension(metric: str, dimensions: Iterable[str]) -> str | None:
    """The dimension that a metric judges by its name, where it is a known one that nobody rated.

    Args:
        metric: the metric's name.
        dimensions: the rated dimensions.

    Returns:
        The dimension; None for a metric of a rated dimension, and for a name with any other ending.

    >>> unrated_dimension("rts.relevance", ["fluency"]), unrated_dimension("rouge.1", ["fluency"])
    ('relevance', None)
    """
    known = {**dict.fromkeys(_KNOWN), **dict.fromkeys(dimensions)}
    judged = own_dimension(metric, known)[1]
    rated = own_dimension(metric, dimensions)[1]
    return judged if rated is None else None


def _get(values: Mapping[str, Value], name: str, what: str) -> Value:
    if name not in values:
        known = ", ".join(values) or "none"
        raise InputError(f"no {what} {name!r}; there are: {known}")
    return values[name]


class TableBuilder:
    """Collects entries of any number of sources and merges them by item and system."""

    def __init__(self) -> None:
        self._items: dict[str, int] = {}
        self._systems: dict[str, int] = {}
        self._raters: dict[str, int] = {}
        self._texts: dict[tuple[int, int], tuple[str, str]] = {}
        self._cells: dict[str, dict[str, dict[tuple[int, ...], float]]] = {
            "metrics": {},
            "human": {},
            "samples": {},
        }

    def add(self, entry: SummaryRatings, *, source: str) -> None:
        """Merge one entry; a text or a value that is there already must be the same.

        Args:
            entry: what the source says.
            source: file and line, for messages.

        Raises:
            InputError: another source gave a different text or value.
        """
        item = self._items.setdefault(entry.item, len(self._items))
        system = self._systems.setdefault(entry.system, len(self._systems))
        self._check_text(entry, (item, system), source)
        for kind, name, places in self._values(entry):
            cells = self._cells[kind].setdefault(name, {})
            for place, value in places:
                if value is not None and cells.setdefault((item, system, *place), value) != value:
                    raise InputError(
                        f"{source}: {kind} {name!r} of {entry.item!r} by {entry.system!r} is "
                        f"{value}, but {cells[item, system, *place]} was read before; give only "
                        "one of the two, or tell a file's metrics apart with LABEL=FILE"
                    )

    def _check_text(self, entry: SummaryRatings, place: tuple[int, int], source: str) -> None:
        if entry.text is None:
            return
        text, before = self._texts.setdefault(place, (entry.text, source))
        if text.split() != entry.text.split():
            raise InputError(
                f"{source}: the summary of {entry.item!r} by {entry.system!r} differs from the "
                f"one in {before}; give only the file whose summaries are meant"
            )

    def _values(self, entry: SummaryRatings) -> Iterator[tuple[str, str, _Places]]:
        """Kind, name and values of all that an entry holds, placed behind item and system."""
        for name, value in entry.metrics.items():
            yield "metrics", name, [((), value)]
        for name, values in entry.samples.items():
            yield "samples", name, [((place,), value) for place, value in enumerate(values)]
        for name, ratings in entry.human.items():
            columns = [self._raters.setdefault(rater, len(self._raters)) for rater in ratings]
            yield "human", name, [((c,), v) for c, v in zip(columns, ratings.values(), strict=True)]

    def build(self) -> RatingTable:
        """The table of all that was added.

        Raises:
            InputError: nothing was added.
        """
        if not self._items:
            raise InputError("no scores and no ratings were found")
        grid = (len(self._items), len(self._systems))
        samples = self._arrays(
            "samples", lambda cells: (*grid, max((place[2] + 1 for place in cells), default=0))
        )
        return RatingTable(
            items=tuple(self._items),
            systems=tuple(self._systems),
            raters=tuple(self._raters),
            metrics=self._arrays("metrics", lambda _: grid),
            human=self._arrays("human", lambda _: (*grid, len(self._raters))),
            samples=samples,
        )

    def _arrays(
        self, kind: str, shape: Callable[[Iterable[tuple[int, ...]]], tuple[int, ...]]
    ) -> dict[str, Floats]:
        arrays = {}
        for name, cells in self._cells[kind].items():
            array = np.full(shape(cells), np.nan)
            if cells:
                array[tuple(np.array(list(cells)).T)] = list(cells.values())
            arrays[name] = array
        return arrays
