"""Products in, score rows out: every metric on every summary, a chunk at a time."""

from __future__ import annotations

import hashlib
import json
import math
from itertools import chain, islice
from typing import TYPE_CHECKING

from prevalence.baselines.protocol import REFERENCE, Example, Metric, Progress
from prevalence.baselines.references import References, references_of
from prevalence.baselines.rows import ScoreRow
from prevalence.records import BadRecord, Product, Summary
from prevalence.runs.resuming import Mark, summary_marks
from prevalence.runs.running import chunks
from prevalence.signature import package_version
from prevalence.text.html import without_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["HOW_TO_REFER", "BaselineRun", "example_digest", "example_of"]

Work = tuple[Product, Summary]
"""A summary with its product, references attached."""

_NEVER = "never"
HOW_TO_REFER = 'no reference; name systems with --references or give "references"'
"""What a summary has that lacks references, and what to do."""
_NO_REFERENCE = f"has {HOW_TO_REFER}"


class BaselineRun:
    """Scores products by several metrics.

    Args:
        metrics: opened metrics with distinct names.
        references: what the summaries are compared with; items come with it attached.
    """

    def __init__(self, metrics: Sequence[Metric], *, references: References) -> None:
        self.metrics = tuple(metrics)
        self._references = references
        self._chunk = max((metric.work_unit for metric in metrics), default=1)

    @property
    def signature(self) -> str:
        """What produces the values, in the manner of the other signatures."""
        parts = [
            metric.name + "{" + ",".join(f"{k}={v}" for k, v in metric.signature.items()) + "}"
            for metric in self.metrics
        ]
        if any(REFERENCE in metric.needs for metric in self.metrics):
            parts.append(f"refs:{self._references.signature}")
        return "|".join(["base", *parts, f"v:{package_version()}"])

    def prepare(self, items: Callable[[], Iterable[Product | BadRecord]]) -> None:
        """Show the input to the metrics that must see all of it before they score any of it."""
        for metric in self.metrics:
            if hasattr(metric, "prepare"):
                metric.prepare(
                    example
                    for item in items()
                    if isinstance(item, Product)
                    for summary in item.summaries
                    if _lacks(metric, example := example_of(item, summary)) is None
                )

    @property
    def comparing(self) -> list[str]:
        """Names of the metrics that compare with references."""
        return [metric.name for metric in self.metrics if REFERENCE in metric.needs]

    @property
    def lacks_references(self) -> str:
        """How the error of a summary ends that lacks nothing but references."""
        return ": " + "; ".join(f"{name} {_NO_REFERENCE}" for name in self.comparing)

    @property
    def needs_preparation(self) -> bool:
        """Whether some metric must see the whole input first."""
        return any(hasattr(metric, "prepare") for metric in self.metrics)

    def marks(self, item: Product | BadRecord) -> list[Mark]:
        """What tells the rows of an item from those of other input or other settings."""
        return summary_marks(item, self.signature, example_digest)

    def rows(
        self, items: Iterable[Product | BadRecord], *, progress: Progress | None = None
    ) -> Iterator[ScoreRow]:
        """Score the summaries of products, in input order.

        Args:
            items: products whose summaries have their references attached.
            progress: called with the number of values just computed.

        Yields:
            One row for each summary and bad record. When the input fails, what was read before
            is scored first and the failure raised then.
        """
        for chunk in chunks(items, size=_entries, full=self._chunk):
            work = [
                (item, summary)
                for item in chunk
                if isinstance(item, Product)
                for summary in item.summaries
            ]
            scored = iter(self._scored(work, progress))
            for item in chunk:
                if isinstance(item, BadRecord):
                    names = (metric.name for metric in self.metrics)
                    yield ScoreRow.bad(item, names, self.signature)
                else:
                    yield from islice(scored, len(item.summaries))

    def _scored(self, work: Sequence[Work], progress: Progress | None) -> list[ScoreRow]:
        examples = [example_of(*entry) for entry in work]
        values: list[dict[str, float | None]] = [{} for _ in work]
        errors: list[list[str]] = [[] for _ in work]
        for metric in self.metrics:
            lacking = [_lacks(metric, example) for example in examples]
            able = [place for place, fault in enumerate(lacking) if fault is None]
            answers: dict[int, float] = {}
            if able:
                found = self._values(metric, [work[place] for place in able], progress)
                answers = dict(zip(able, found, strict=True))
            for place, fault in enumerate(lacking):
                value = answers.get(place, math.nan)
                undefined = not math.isfinite(value)
                values[place][metric.name] = None if undefined else value
                if undefined:
                    why = fault or _undefined(metric, value)
                    errors[place].append(f"{metric.name} {why}")
        signature = self.signature
        return [
            _row(entry, value, signature, error)
            for entry, value, error in zip(work, values, errors, strict=True)
        ]

    def _values(
        self, metric: Metric, work: Sequence[Work], progress: Progress | None
    ) -> list[float]:
        """The metric of each summary, averaged over its choices of references."""
        examples = [[example_of(*entry)] for entry in work]
        if REFERENCE in metric.needs:
            examples = [
                [
                    example._replace(references=tuple(map(without_tags, some)))
                    for some in self._references.choices(summary)
                ]
                for (example,), (_, summary) in zip(examples, work, strict=True)
            ]
        found = iter(metric.score([*chain(*examples)], progress=progress).tolist())
        return [_mean([*islice(found, len(group))]) for group in examples]


def example_of(product: Product, summary: Summary) -> Example:
    """What metrics see of a summary: texts without HTML."""
    reviews = tuple(without_tags(review.text) for review in product.reviews)
    references = tuple(map(without_tags, references_of(summary)))
    return Example(without_tags(summary.text), reviews, references)


def example_digest(product: Product, summary: Summary) -> str:
    """Digest of everything in the input that can change a value, 16 hex digits."""
    data = json.dumps(example_of(product, summary), ensure_ascii=True).encode()
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _mean(values: Sequence[float]) -> float:
    """The mean of what is not NaN."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _entries(item: Product | BadRecord) -> int:
    return 1 if isinstance(item, BadRecord) else len(item.summaries)


def _lacks(metric: Metric, example: Example) -> str | None:
    """What an example lacks for a metric; every product has reviews."""
    return _NO_REFERENCE if REFERENCE in metric.needs and not example.references else None


def _undefined(metric: Metric, value: float) -> str:
    """Why a metric has a value that is no finite number."""
    if math.isnan(value) and metric.entry.undefined != _NEVER:
        return f"has no value: {metric.entry.undefined}"
    return f"is not a finite number ({value})"


def _row(
    work: Work, values: dict[str, float | None], signature: str, errors: list[str]
) -> ScoreRow:
    product, summary = work
    where = product.where_of(summary.system)
    human = summary.extra.get("human")
    return ScoreRow(
        id=product.id,
        system=summary.system,
        metrics=values,
        signature=signature,
        error=f"{where}: {'; '.join(errors)}" if errors else None,
        human=human if isinstance(human, dict) else None,
        input_digest=example_digest(product, summary),
    )
