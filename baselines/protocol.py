"""What every baseline metric is, and what is known of it before it is opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "NEEDED",
    "OWN",
    "REFERENCE",
    "REVIEWS",
    "Comparison",
    "Entry",
    "Example",
    "Input",
    "Metric",
    "Progress",
    "Runtime",
    "WrappedMetric",
]

Input = Literal["reviews", "reference"]
"""What a metric may read beside the summary."""

NEEDED = "(needed)"
"""Marks an option that must be given, in what is said of it."""
OWN = "Apache-2.0, in this package"
"""Licence of what needs nothing but this package."""

REVIEWS: Input = "reviews"
REFERENCE: Input = "reference"

Progress = Callable[[int], None]
"""Called with the number of examples just scored."""


class Example(NamedTuple):
    """A summary and what it may be compared with.

    Attributes:
        summary: the text under judgment.
        reviews: the reviews that it summarises, in source order.
        references: summaries of the same reviews that somebody vouches for.
    """

    summary: str
    reviews: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


class Comparison(NamedTuple):
    """A summary beside the text, or the joint references, that it is compared with."""

    texts: tuple[str, ...]
    summary: str

    @property
    def text(self) -> str:
        """The one text, for metrics that know no joint references."""
        return self.texts[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Where and how models run; metrics without a model ignore it.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16``, ``bfloat16``.
        batch_tokens: most tokens in a batch; None for the runner's own choice.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A metric as the registry knows it: all that can be said without loading it.

    Attributes:
        name: what ``--metrics`` takes, without options; "NAME:FLAG" is a variant of NAME with an
            entry of its own.
        about: one line.
        needs: inputs read beside the summary, with the metric's default options.
        range: lowest and highest value; infinite where unbounded.
        higher_is_better: the direction; None where neither is better.
        citation: paper, and the tool whose numbers are reproduced.
        factory: "module:function", imported when the metric is opened; the function takes this
            entry, the checked options and a :class:`Runtime`, and gives a :class:`Metric`.
        options: option → what it does. ``"refs=RULE"`` takes a value, ``"nostem"`` is a flag; what
            the metric cannot do without says "(needed)".
        dimension: the quality that its authors propose it for, in a word or two ("faithfulness").
        weights: model weights that the metric loads, in words, a model that is taken without
            ``model=`` in brackets ("an encoder [roberta-large]"); None for none.
        licence: of the weights; without weights of the program or the data that give the values;
            :data:`OWN` where these are ours.
        packages: import names of what must be installed beyond the package's own requirements.
        extra: the extra that installs them (``pip install prevalence[EXTRA]``).
        check: "module:function" without arguments that says what else is missing (data, a
            program) in words, or None; for listings, since opening fails by itself.
        batchable: whether examples are scored faster together than one by one.
        undefined: what makes the value NaN, in words ("the summary is empty").
    """

    name: str
    about: str
    needs: tuple[Input, ...]
    range: tuple[float, float]
    citation: str
    factory: str
    higher_is_better: bool | None = True
    options: Mapping[str, str] = field(default_factory=dict)
    dimension: str | None = None
    weights: str | None = None
    licence: str | None = None
    packages: tuple[str, ...] = ()
    extra: str | None = None
    check: str | None = None
    batchable: bool = False
    undefined: str = "a text is empty"

    @property
    def base(self) -> str:
        """The name without the variant's flag."""
        return self.name.partition(":")[0]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are loaded without ``model=``."""
        return tuple(re.findall(r"\[([^\[\]]+)\]", self.weights or ""))

    @property
    def needed(self) -> tuple[str, ...]:
        """Options that must be given, as they are written."""
        return tuple(option for option, about in self.options.items() if NEEDED in about)

    @property
    def reference_free(self) -> bool:
        """Whether no reference summary is read."""
        return REFERENCE not in self.needs


@runtime_checkable
class Metric(Protocol):
    """An opened metric.

    A metric may also have ``truncated`` (how many texts were cut at a limit so far), and
    ``prepare(examples)``: then it is shown the whole input once before it scores any of it, in an
    iterator that it must exhaust (inverse document frequencies need that).
    """

    @property
    def name(self) -> str:
        """The key of its value in a score row."""
        ...

    @property
    def entry(self) -> Entry:
        """The registry's knowledge."""
        ...

    @property
    def needs(self) -> tuple[Input, ...]:
        """Inputs read beside the summary, with the options chosen."""
        ...

    @property
    def signature(self) -> Mapping[str, str]:
        """What changes a value: implementation with version, weights digest, rules."""
        ...

    @property
    def work_unit(self) -> int:
        """Number of examples that is worth one call."""
        ...

    def score(
        self, examples: Sequence[Example], *, progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Score examples that hold what ``needs`` names.

        Args:
            examples: N of them; the value of one does not depend on the others.
            progress: called with the number of examples just scored.

        Returns:
            float64 [N], in ``entry.range`` up to rounding; NaN where ``entry.undefined`` holds.

        Raises:
            InputError: an example lacks what ``needs`` names.
        """
        ...


Inner = TypeVar("Inner", bound=Metric)


class WrappedMetric(Generic[Inner]):
    """What a metric is, as another one says it; subclasses add ``score``.

    Args:
        inner: the other.
    """

    def __init__(self, inner: Inner) -> None:
        self._inner = inner
        self.name, self.entry = inner.name, inner.entry
        self.needs, self.work_unit = inner.needs, inner.work_unit

    @property
    def signature(self) -> Mapping[str, str]:
        """As the inner metric's."""
        return self._inner.signature

    @property
    def truncated(self) -> int:
        """Texts that the inner metric has cut so far."""
        return int(getattr(self._inner, "truncated", 0))
