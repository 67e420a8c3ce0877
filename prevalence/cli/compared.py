"""A run of baseline metrics: input records → score rows, a table of means, and notes."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from prevalence.baselines.references import References
from prevalence.baselines.rows import ScoreRow
from prevalence.baselines.run import BaselineRun, example_digest
from prevalence.cli.errors import Incomplete, note
from prevalence.cli.outputs import LineFile, kept_in, line_file
from prevalence.cli.progress import ReadingProgress
from prevalence.cli.rows import RowSink
from prevalence.cli.selection import Selection
from prevalence.errors import InputError, PrevalenceError
from prevalence.report.baselines import SystemMeans
from prevalence.report.console import make_console, plain
from prevalence.report.text import inert
from prevalence.writers import JsonLinesWriter, finished_rows, skip_finished

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prevalence.baselines.protocol import Metric
    from prevalence.cli.baselines import BaselineOptions
    from prevalence.records import BadRecord, Product

__all__ = ["run"]


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
        selection.check_repeatable("a metric needs to see it twice")
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
    try:
        selection.check()
    except InputError as error:
        if not rows.means.scored:
            raise
        failure = failure or error
    rows.show()
    if failure is not None:
        raise Incomplete from failure
    return rows.means


class _Selection(Selection):
    """The same, with references attached."""

    def __init__(self, options: BaselineOptions) -> None:
        super().__init__(
            options.inputs,
            input_format=options.input_format,
            systems=options.systems,
            limit=options.limit,
        )
        self.references = References(options.references, options.leave_one_out)

    def prepared(self, items: Iterable[Product | BadRecord]) -> Iterator[Product | BadRecord]:
        """Attach references, which may be summaries by systems that are not wanted."""
        return self.references.attach(items)

    def check(self) -> None:
        """Refuse names that no record has, once all were read, and a selection of nothing.

        Raises:
            InputError: a name stands for no system, or no summary is left to score.
        """
        super().check()
        self.names.check("--references", self.references.systems)
        if not self.left:
            raise InputError(
                "no summary is left to score: all are references (--leave-one-out scores them)"
            )


class _Rows(RowSink[ScoreRow]):
    """What becomes of rows: the output, means, error lines and notes."""

    def __init__(self, options: BaselineOptions, engine: BaselineRun) -> None:
        super().__init__(options.output)
        self.means = SystemMeans([metric.name for metric in engine.metrics])
        self._engine = engine
        self._options = options

    def count(self, row: ScoreRow) -> None:
        """Add a row to the means."""
        self.means.add(row)

    def show(self) -> None:
        """Print the table and the notes."""
        if self._options.output is not None or self._options.format == "table":
            console = make_console()
            console.print(self.means.table())
            console.print()
            console.print(plain(self._engine.signature), style="dim", soft_wrap=True)
        if self._options.quiet:
            return
        self.note_earlier()
        note(f"{self.means.scored:,} summaries scored, {self.means.failed:,} failed")
        self.note_hidden()
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
