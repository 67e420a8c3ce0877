"""What runs in the workers: the engine on one split at a time, and what it has to report.

Reports are plain numbers and texts in Arrow. A split gives one report, so that a worker which dies
loses the split as a whole, and its next try gives it as a whole.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import astuple, fields
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from prevalence import errors
from prevalence.distributed.splits import Split
from prevalence.errors import (
    ConfigurationError,
    MissingDependencyError,
    ModelError,
    PrevalenceError,
    first_line,
)
from prevalence.metric import implied_pairs
from prevalence.nli.pairs import TextTable
from prevalence.records import BadRecord, Product, input_digest
from prevalence.runs.resuming import Mark, summary_marks
from prevalence.runs.running import until_failure
from prevalence.runs.selection import systems_of
from prevalence.scoring.engine import WorkCounts
from prevalence.scoring.job import SummaryJob, scored_summary
from prevalence.scoring.units import CUTTERS, cutter_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prevalence.distributed.reading import Reading
    from prevalence.scored import ScoredSummary
    from prevalence.scoring.engine import Engine
    from prevalence.stats.correction import ErrorRates

__all__ = ["Description", "Failure", "Outline", "SplitScorer", "WorkerFault", "counted",
           "describe", "identities"]  # fmt: skip

_EXIT = 70
_NO_RECORDS_FAULT = (ConfigurationError, MissingDependencyError)
_PROBE = ("The room was warm all night.", "The room was warm.")


class WorkerFault(Exception):  # noqa: N818 - it names a state of the worker
    """The worker cannot score even what anyone can: it has to start anew."""


class Failure(NamedTuple):
    """An error of ours on its way to the driver.

    Attributes:
        kind: the name of its class.
        message: what it says.
    """

    kind: str
    message: str

    @classmethod
    def of(cls, error: PrevalenceError) -> Failure:
        """Take an error apart."""
        # Of a class that is another module's own, the nearest above it that everybody knows.
        kind = next(one for one in type(error).__mro__ if hasattr(errors, one.__name__))
        return cls(kind.__name__, str(error))

    def throw(self) -> NoReturn:
        """Raise the error again.

        Raises:
            PrevalenceError: the error, of its own class or the nearest that everybody knows.
        """
        raise getattr(errors, self.kind)(self.message)


class Description(NamedTuple):
    """What the driver has to know of the workers' engine, which it never opens itself.

    Attributes:
        signatures: of products with a name or without, by what cuts their claims.
        unit: what summaries are counted in.
        threshold: of decisions.
        calibrated: whether it was calibrated or chosen.
        fields: whether rows depend on labels and other keys too, so that digests cover them.
        cached: whether workers keep a pair cache.
        error_rates: those that scores are corrected for, or None.
    """

    signatures: dict[tuple[bool, str | None], str]
    unit: str
    threshold: float
    calibrated: bool
    fields: bool
    cached: bool
    error_rates: ErrorRates | None

    @classmethod
    def of(cls, engine: Engine) -> Description:
        """Describe an engine."""
        return cls(
            signatures={
                (named, cutter): engine.signature(named=named, cutter=cutter)
                for named in (True, False)
                for cutter in CUTTERS[engine.options.unit]
            },
            unit=engine.options.unit,
            threshold=engine.threshold,
            calibrated=engine.calibrated,
            fields=engine.options.reads_fields,
            cached=engine.cached,
            error_rates=engine.error_rates,
        )

    def signature_of(self, item: Product | BadRecord) -> str:
        """The signature of an item's rows; a bad record's is that of a named product."""
        if isinstance(item, BadRecord):
            return self.usual
        return self.signatures[item.name is not None, cutter_of(self.unit, item)]

    @property
    def usual(self) -> str:
        """The signature of a named product whose record gives no claims."""
        return self.signatures[True, CUTTERS[self.unit][0]]


def describe(open_engine: Callable[[], Engine]) -> Description | Failure:
    """Open an engine where workers run, and describe it or say why there is none."""
    try:
        return Description.of(open_engine())
    except PrevalenceError as error:
        return Failure.of(error)


class Outline(NamedTuple):
    """An item without its texts.

    Attributes:
        place: its split's number.
        number: its place among the items of the split.
        systems: who wrote its summaries.
        marks: what tells its rows from others, see :class:`~prevalence.runs.resuming.Mark`.
    """

    place: int
    number: int
    systems: tuple[str, ...]
    marks: tuple[Mark, ...]

    def rest(self, left: Sequence[int]) -> Outline:
        """The same with some of its rows, by their places."""
        return self._replace(marks=tuple(self.marks[place] for place in left))


def identities(
    split: Split, place: int, reading: Reading, known: Description
) -> tuple[list[Outline], Failure | None]:
    """What tells the rows of a split from others.

    Args:
        split: where the records are.
        place: the split's number.
        reading: how they are read.
        known: of the engine.

    Returns:
        An outline of each item that can be read, and why no more of them can, if so.
    """
    digest = partial(input_digest, fields=known.fields)
    found: list[Outline] = []
    try:
        for number, item in enumerate(reading.items(split)):
            marks = tuple(summary_marks(item, known.signature_of(item), digest))
            found.append(Outline(place, number, tuple(systems_of(item)), marks))
    except PrevalenceError as error:
        return found, Failure.of(error)
    return found, None


class SplitScorer:
    """Scores splits; one lives in each worker.

    Args:
        open_engine: opens the engine; called once.
        reading: how splits are read.
        expected: what the driver knows of the engine.

    Raises:
        ModelError: this worker's engine is another one.
    """

    def __init__(
        self, open_engine: Callable[[], Engine], reading: Reading, expected: Description
    ) -> None:
        self._engine = open_engine()
        self._reading = reading
        found = Description.of(self._engine).usual
        if found != expected.usual:
            raise ModelError(
                f"a worker scores as {found}, the others as {expected.usual}: install the same "
                "packages and models on every node"
            )

    def __call__(self, batch: Any) -> Any:
        """Answer a table of splits with a table of reports; a worker at fault ends its process."""
        import pyarrow as pa

        try:
            reports = [self.report(**row) for row in batch.to_pylist()]
        except WorkerFault:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(_EXIT)  # An exception would end the run; a death is tried again elsewhere.
        schema = pa.schema(
            [
                ("place", pa.int64()),
                ("rows", pa.list_(pa.large_string())),
                ("counts", pa.list_(pa.int64())),
                ("foreign", pa.list_(pa.large_string())),
                ("unread", pa.list_(pa.large_string())),
                ("scorer_counts", pa.list_(pa.int64())),
                ("warnings", pa.list_(pa.string())),
                ("failure", pa.list_(pa.string())),
            ]
        )
        return pa.Table.from_pylist(reports, schema=schema)

    def report(self, *, place: int, **split: Any) -> dict[str, Any]:
        """Score a split.

        Args:
            place: the split's number.
            split: its fields.

        Returns:
            ``rows`` as JSON texts in input order, ``counts`` of work, ``foreign`` and ``unread``
            as the engine has them, ``scorer_counts``, texts of ``warnings``, and the ``failure``
            that ended the split, empty for none.

        Raises:
            WorkerFault: the fault is not in the records.
        """
        engine = self._engine
        engine.count_anew()
        before = engine.scorer_counts
        rows: list[str] = []
        failure: tuple[str, ...] = ()
        with _warned() as told:
            try:
                for row in self._rows(Split(**split)):
                    rows.append(row.to_json_line())
            except PrevalenceError as error:
                failure = Failure.of(error)
        return {
            "place": place,
            "rows": rows,
            "counts": list(astuple(engine.counts)),
            "foreign": engine.foreign,
            "unread": engine.unread.to_json(),
            "scorer_counts": list(astuple(engine.scorer_counts - before)),
            "warnings": told,
            "failure": list(failure),
        }

    def _rows(self, split: Split) -> Iterator[ScoredSummary]:
        given = 0
        unread: list[Exception] = []
        try:
            for row in self._engine.run(until_failure(self._reading.items(split), unread)):
                yield row
                given += 1
            for error in unread:
                raise error
        except Exception as error:
            if error in unread or isinstance(error, _NO_RECORDS_FAULT):
                raise
        else:
            return
        self._engine.count_anew()
        for place, row in enumerate(self._one_by_one(split)):
            if place >= given:
                yield row

    def _one_by_one(self, split: Split) -> Iterator[ScoredSummary]:
        """Score summary by summary, so that one which cannot be scored costs no other."""
        for item in self._reading.items(split):
            if isinstance(item, BadRecord):
                yield from self._engine.run([item])
                continue
            foreign = self._engine.counts.foreign
            for summary in item.summaries:
                yield self._alone(item.part([summary]))
            # A product counts once, however many parts it was scored in.
            self._engine.counts.foreign = min(self._engine.counts.foreign, foreign + 1)

    def _alone(self, product: Product) -> ScoredSummary:
        try:
            return next(self._engine.run([product]))
        except Exception as error:
            self._check_health()
            # The row has one line of it, and its place in the output will count as done.
            traceback.print_exc()
            sys.stderr.flush()
            return self._error_row(product, error)

    def _check_health(self) -> None:
        texts = TextTable()
        premise, hypothesis = texts.add_all(_PROBE).tolist()
        pair = np.array([[premise, hypothesis]], np.int64)
        try:
            implied_pairs(self._engine.scorer.score(texts, pair), self._engine.threshold)
        except ModelError:
            raise  # A model without a usable number for any pair has none in a new process either.
        except Exception as error:
            raise WorkerFault(f"the scorer fails on any pair: {error}") from error

    def _error_row(self, product: Product, error: Exception) -> ScoredSummary:
        [summary] = product.summaries
        told = f"{type(error).__name__}: {first_line(error)}"
        job = SummaryJob(
            product,
            summary,
            review_places=np.arange(len(product.reviews)),
            error=f"{product.where_of(summary.system)}: could not be scored "
            f"({told}); score it alone with --debug to see where",
        )
        row = scored_summary(
            job,
            signature=self._engine.signature_of(product),
            soft=False,
            restricted=bool(self._engine.options.restriction),
            fields=self._engine.options.reads_fields,
        )
        self._engine.counts.add_row(row, named=product.name is not None)
        return row


@contextmanager
def _warned() -> Iterator[list[str]]:
    """Collect warnings of the run, which is whoever waits for it to be told; others are shown."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default", RuntimeWarning)
        yield told
    for found in caught:
        if issubclass(found.category, RuntimeWarning):
            told.append(str(found.message))
        else:
            warnings.warn_explicit(found.message, found.category, found.filename, found.lineno)


def counted(total: WorkCounts, part: list[int]) -> None:
    """Add the counts of a report to a run's."""
    for entry, value in zip(fields(WorkCounts), part, strict=True):
        setattr(total, entry.name, getattr(total, entry.name) + value)
