"""A run of baseline metrics: input records → score rows, a table of means, and notes."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING

import click

from prevalence.baselines.references import References
from prevalence.baselines.rows import ScoreRow
from prevalence.baselines.run import BaselineRun, example_digest
from prevalence.cli.errors import Incomplete, note
from prevalence.cli.outputs import LineFile, kept_in, line_file
from prevalence.cli.progress import ReadingProgress
from prevalence.errors import InputError, PrevalenceError
from prevalence.readers import read_products
from prevalence.readers.streams import check_readable
from prevalence.records import BadRecord, Product
from prevalence.report.baselines import SystemMeans
from prevalence.report.console import make_console, plain
from prevalence.report.text import inert
from prevalence.writers import JsonLinesWriter, finished_rows, skip_finished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prevalence.baselines.protocol import Metric
    from prevalence.cli.baselines import BaselineOptions

__all__ = ["run"]

_SHOWN_ERRORS = 20


def run(options: BaselineOptions, metrics: Sequence[Metric]) -> SystemMeans:
    """Score the selected records by the metrics, and write and print what is asked for.

    Returns:
        Means and counts of every row, those of an earlier run of the same output included.

    Raises:
        PrevalenceError: nothing could be scored, or a system asked for is not there.
        Incomplete: something ended the run after a part of it; its cause says what.
        KeyboardInterrupt: with a message that says what is kept.
    """
    selection = _Selection(options)
    engine = BaselineRun(metrics, references=selection.references)
    if engine.needs_preparation:
        if "-" in options.inputs:
            raise InputError("standard input is read once, and a metric needs to see it twice")
        engine.prepare(selection.items)
    rows = _Rows(options, engine)
    lines = line_file(options.output, overwrite=options.overwrite)
    failure = None
    try:
        _score(options, engine, selection, rows, lines)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {kept_in(lines, 'rows')}") from None
    except PrevalenceError as error:
        if not rows.means.scored:
            raise
        failure = error
    if failure is None:
        selection.check()
    rows.show()
    if failure is not None:
        raise Incomplete from failure
    return rows.means


class _Selection:
    """The input's records with references attached, the wanted systems only, up to the limit."""

    def __init__(self, options: BaselineOptions) -> None:
        for path in options.inputs:
            check_readable(path)
        self.references = References(options.references, options.leave_one_out)
        self._options = options
        self._seen: set[str] = set()
        self._left = 0

    def items(
        self, reader: Callable[[], Callable[[int], None]] | None = None
    ) -> Iterator[Product | BadRecord]:
        """Read the inputs.

        Args:
            reader: gives, for each file, what is to be told the bytes read of it.
        """
        every = (item for path in self._options.inputs for item in self._read(path, reader))
        # A product and its faulty summaries are one record, and share their source.
        records = groupby(every, key=attrgetter("source"))
        first = (item for _, parts in islice(records, self._options.limit) for item in parts)
        wanted = frozenset(self._options.systems)
        for item in self.references.attach(self._noted(first)):
            kept = item if not wanted else _only(item, wanted)
            if kept is not None:
                self._left += 1
                yield kept

    def check(self) -> None:
        """Refuse names that no record has, once all were read, and a selection of nothing.

        Raises:
            InputError: a name stands for no system, or no summary is left to score.
        """
        for name, asked in (
            ("--systems", self._options.systems),
            ("--references", self._options.references),
        ):
            missing = [system for system in asked if system not in self._seen]
            if missing:
                known = ", ".join(sorted(self._seen)) or "none that can be read"
                raise InputError(f"{name}: no summary by {', '.join(missing)}; there is {known}")
        if not self._left:
            raise InputError(
                "no summary is left to score: all are references (--leave-one-out scores them)"
            )

    def _read(
        self, path: str, reader: Callable[[], Callable[[int], None]] | None
    ) -> Iterator[Product | BadRecord]:
        progress = None if reader is None else reader()
        return read_products(path, format=self._options.input_format, progress=progress)

    def _noted(self, items: Iterable[Product | BadRecord]) -> Iterator[Product | BadRecord]:
        for item in items:
            if isinstance(item, Product):
                self._seen.update(summary.system for summary in item.summaries)
            elif item.system is not None:
                self._seen.add(item.system)
            yield item


def _only(item: Product | BadRecord, wanted: frozenset[str]) -> Product | BadRecord | None:
    """The item with the wanted systems only; None when nothing of it is left."""
    if isinstance(item, BadRecord):
        return item if item.system is None or item.system in wanted else None
    chosen = [summary for summary in item.summaries if summary.system in wanted]
    return item.with_summaries(chosen) if chosen else None


class _Rows:
    """What becomes of rows: the output, means, error lines and notes."""

    def __init__(self, options: BaselineOptions, engine: BaselineRun) -> None:
        self.means = SystemMeans([metric.name for metric in engine.metrics])
        self._engine = engine
        self._options = options
        self._earlier = 0
        self._errors = 0

    def keep(self, row: ScoreRow) -> None:
        """Take a row that an earlier run has written."""
        self._earlier += 1
        self.take(row)

    def take(self, row: ScoreRow) -> None:
        """Take a row."""
        self.means.add(row)
        if row.error is not None:
            self._errors += 1
            if self._errors <= _SHOWN_ERRORS:
                note(f"error: {row.error}")

    def show(self) -> None:
        """Print the table and the notes."""
        if self._options.output is not None or self._options.format == "table":
            console = make_console()
            console.print(self.means.table())
            console.print()
            console.print(plain(self._engine.signature), style="dim", soft_wrap=True)
        if self._options.quiet:
            return
        if self._earlier:
            note(f"{self._earlier:,} rows were in {self._options.output} already")
        note(f"{self.means.scored:,} summaries scored, {self.means.failed:,} failed")
        if self._errors > _SHOWN_ERRORS:
            note(f'{self._errors - _SHOWN_ERRORS:,} more errors are in the "error" fields')
        for metric in self._engine.metrics:
            cut = getattr(metric, "truncated", 0)
            if cut:
                note(f"{metric.name}: {cut:,} texts were cut at the model's limit")
            hits = getattr(metric, "hits", 0)
            if hits:
                note(f"{metric.name}: {hits:,} values were cached")


def _score(
    options: BaselineOptions,
    engine: BaselineRun,
    selection: _Selection,
    rows: _Rows,
    lines: LineFile | None,
) -> None:
    with ExitStack() as stack:
        bar = stack.enter_context(ReadingProgress(options.inputs, quiet=options.quiet))
        items: Iterable[Product | BadRecord] = selection.items(bar.reader)
        if options.continues and options.output is not None:
            items = skip_finished(
                items,
                finished_rows(options.output, ScoreRow.from_json),
                path=options.output,
                signature=lambda _: engine.signature,
                keep=rows.keep,
                digest=example_digest,
            )
        writer = _writer(options, lines, stack)
        for row in engine.rows(items, progress=bar.computed):
            bar.row()
            if writer is not None:
                writer.write(row)
            rows.take(row)


def _writer(
    options: BaselineOptions, lines: LineFile | None, stack: ExitStack
) -> JsonLinesWriter | None:
    if lines is not None:
        stack.enter_context(lines).begin()
        return JsonLinesWriter(lines)
    return JsonLinesWriter(_Screen()) if options.format == "jsonl" else None


class _Screen:
    """Standard output; a terminal gets nothing that drives it."""

    def write(self, text: str) -> None:
        click.echo(inert(text) if sys.stdout.isatty() else text, nl=False)

    def flush(self) -> None:
        sys.stdout.flush()
