"""A scoring run: input records → rows in files or on the screen, a table, and notes."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, cast

from prevalence.cli.errors import Incomplete, note
from prevalence.cli.outputs import LineFile, kept_parts
from prevalence.cli.progress import ScoringProgress
from prevalence.cli.rows import RowSink
from prevalence.cli.selection import SystemNames, first_records, only
from prevalence.errors import PrevalenceError
from prevalence.readers import read_authors, read_product_names, read_products
from prevalence.readers.streams import check_readable
from prevalence.records import ScoredSummary
from prevalence.report.console import (
    comparison_table,
    explanation,
    make_console,
    plain,
    system_table,
)
from prevalence.report.systems import RESAMPLES, SystemTable
from prevalence.report.text import inert
from prevalence.signature import with_parts
from prevalence.writers import (
    CsvWriter,
    JsonLinesWriter,
    JsonWriter,
    RowWriter,
    atomic_file,
    finished_rows,
    skip_finished,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from prevalence.cli.distributed import DistributedRecords
    from prevalence.cli.score import ScoreOptions
    from prevalence.distributed import DistributedEngine
    from prevalence.records import BadRecord, Product
    from prevalence.scoring.engine import Engine

    Scoring = Engine | DistributedEngine

__all__ = ["Selection", "run"]

_WRITERS: dict[str, Callable[[IO[str]], RowWriter]] = {
    "jsonl": JsonLinesWriter,
    "csv": CsvWriter,
    "json": JsonWriter,
}


def run(
    options: ScoreOptions, selection: Selection | DistributedRecords, engine: Scoring
) -> SystemTable:
    """Score the records selected, and write and print what the options ask for.

    Args:
        options: the command's options, checked.
        selection: the records.
        engine: scores them.

    Returns:
        Statistics of every row, those of an earlier run of the same output included.

    Raises:
        PrevalenceError: nothing could be scored, or a system asked for is not there.
        Incomplete: something ended the run after a part of it; its cause says what.
        KeyboardInterrupt: with a message that says what is kept.
    """
    if not engine.calibrated and not options.quiet:
        note(
            "warning: the model has no calibrated threshold; "
            f"{engine.threshold:g} is used (set --threshold)"
        )
    rows = _Rows(options)
    lines = _line_file(options)
    failure = None
    try:
        _score(options, engine, rows, selection, lines)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {_kept(options, engine, lines)}") from None
    except PrevalenceError as error:
        if not engine.counts.scored:
            raise
        failure = error
    if not rows.table.scored:
        selection.check()
    if options.screen_format == "table":
        _print_table(options, rows.table)
    if not options.quiet:
        _print_work(options, engine, rows)
    if failure is not None:
        if options.output is not None and not options.keeps_rows:
            note(f"{options.output} was not written: it would not be whole")
        raise Incomplete from failure
    selection.check()
    return rows.table


class _Rows(RowSink[ScoredSummary]):
    """What becomes of rows: statistics, explanations and error lines."""

    def __init__(self, options: ScoreOptions) -> None:
        in_rows = options.output is not None or options.screen_format != "table"
        super().__init__(options.output, limited=in_rows)
        self.table = SystemTable()
        self._explain = options.explain
        self._console = make_console()

    def count(self, row: ScoredSummary) -> None:
        """Add a row to the statistics."""
        self.table.add(row)

    def note_error(self, row: ScoredSummary) -> None:
        """Show the row's error, or everything about the row."""
        if self._explain:
            self._console.print(explanation(row))
        else:
            super().note_error(row)


class Selection:
    """The input's records with the wanted systems only, up to the limit.

    Args:
        options: the command's options.

    Raises:
        InputError: a file is missing; better now than after the files before it are scored.
    """

    def __init__(self, options: ScoreOptions) -> None:
        for path in (*options.inputs, options.reviews):
            if path is not None:
                check_readable(path)
        names = options.product_names
        self._names = read_product_names(names) if names else None
        self._options = options
        self._wanted = options.wanted_systems
        self._met = SystemNames()
        self._exhausted = False

    def items(self, bar: ScoringProgress) -> Iterator[Product | BadRecord]:
        """Read the inputs."""
        every = (item for path in self._options.inputs for item in self._read(path, bar))
        return first_records(self._chosen(every), self._options.limit)

    def check(self) -> None:
        """Refuse names that no record has, once all were read.

        Raises:
            InputError: a name stands for no system of the records read.
        """
        if self._exhausted:
            self._met.check("--systems", sorted(self._wanted))

    def _read(self, path: str, bar: ScoringProgress) -> Iterator[Product | BadRecord]:
        options = self._options
        if options.reviews is not None:
            return read_authors(
                path, reviews=options.reviews, names=self._names, progress=bar.reader()
            )
        return read_products(
            path, format=options.input_format, names=self._names, progress=bar.reader()
        )

    def _chosen(self, items: Iterable[Product | BadRecord]) -> Iterator[Product | BadRecord]:
        for item in self._met.noted(items):
            kept = only(item, self._wanted)
            if kept is not None:
                yield kept
        self._exhausted = True


def _score(
    options: ScoreOptions,
    engine: Scoring,
    rows: _Rows,
    selection: Selection | DistributedRecords,
    lines: LineFile | None,
) -> None:
    with ExitStack() as stack:
        # One file of reviews is read again beside every file of summaries.
        progress_of = [str(options.reviews or path) for path in options.inputs]
        bar = stack.enter_context(
            ScoringProgress(progress_of, counts=engine.counts, quiet=options.quiet)
        )
        items: Iterable[Product | BadRecord] = selection.items(bar)
        if options.continues and options.output is not None:
            items = skip_finished(
                items,
                _finished(options.output),
                path=options.output,
                signature=engine.signature_of,
                keep=rows.keep,
                digest=engine.digest_of,
            )
        writer = _writer(options, lines, stack)
        announced = _Announcement(bar, kept=engine.cached, quiet=options.quiet)
        for row in engine.run(items, progress=bar.scored, planned=bar.planned, announced=announced):
            bar.row()
            if writer is not None:
                writer.write(row)
            rows.take(row)
        if writer is not None:
            writer.close()


class _Announcement:
    """Says once, before they are asked, how many pairs ceilings may cost."""

    def __init__(self, bar: ScoringProgress, *, kept: bool, quiet: bool) -> None:
        self._bar = bar
        self._kept = kept
        self._silent = quiet

    def __call__(self, pairs: int) -> None:
        """The ceilings of a chunk may ask so many pairs."""
        if not self._silent:
            self._bar.pause()
            kept = "; the cache keeps the answers" if self._kept else ""
            note(f"--ceiling: the first records take at most {pairs:,} more pairs{kept}")
        self._silent = True


def _line_file(options: ScoreOptions) -> LineFile | None:
    if options.output is None or options.file_format != "jsonl":
        return None
    return LineFile(options.output, overwrite=options.overwrite)


def _finished(output: Path) -> Iterator[ScoredSummary]:
    if not output.is_dir():
        return finished_rows(output)
    from prevalence.distributed import finished_parts

    return finished_parts(output)


def _writer(options: ScoreOptions, lines: LineFile | None, stack: ExitStack) -> RowWriter | None:
    if options.output is None:
        kind = _WRITERS.get(options.screen_format)
        return None if kind is None else kind(_screen())
    if lines is not None:
        stack.enter_context(lines).begin()
        return JsonLinesWriter(lines)
    if options.file_format == "parquet":
        from prevalence.distributed import PartsWriter

        return stack.enter_context(PartsWriter(options.output, continues=options.continues))
    return _WRITERS[str(options.file_format)](stack.enter_context(atomic_file(options.output)))


class _InertScreen:
    """A terminal that rows cannot drive; a file or pipe gets every character as it is."""

    def write(self, text: str) -> int:
        """Write rows."""
        return sys.stdout.write(inert(text))

    def flush(self) -> None:
        """Flush the terminal."""
        sys.stdout.flush()


def _screen() -> IO[str]:
    if sys.stdout.isatty():
        return cast("IO[str]", _InertScreen())
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    return sys.stdout


def _print_table(options: ScoreOptions, table: SystemTable) -> None:
    console = make_console()
    counts = {test: options.resamples or RESAMPLES[test] for test in RESAMPLES}
    statistics = table.statistics(resamples=counts["bootstrap"], seed=options.seed)
    if statistics:
        console.print(system_table(statistics, width=console.width))
    if options.tests:
        comparisons = table.compare(options.tests, resamples=counts, seed=options.seed)
        console.print()
        if comparisons:
            console.print(comparison_table(comparisons))
        else:
            console.print("--test: there is one system, so nothing to compare")
    resampling = {"bs": counts["bootstrap"]}
    if "randomization" in options.tests:
        resampling["ar"] = counts["randomization"]
    resampling["seed"] = options.seed
    if table.signatures:
        console.print()
    for signature in table.signatures:
        console.print(plain(with_parts(signature, resampling)), style="dim", soft_wrap=True)


def _print_work(options: ScoreOptions, engine: Scoring, rows: _Rows) -> None:
    """Notes on the run: what was avoided, what was cut, what lacks a mask."""
    counts = engine.counts
    done = engine.scorer_counts
    rows.note_earlier()
    pairs = (
        f"; of {counts.naive:,} pairs {counts.naive - counts.planned:,} were avoided by early "
        f"stopping, {counts.planned - counts.unique:,} were duplicates"
    )
    # Those of ceilings and of parts of texts among them, which are no pairs of a score.
    cached = f"; {done.hits:,} answers were cached"
    note(
        f"{counts.scored:,} summaries scored, {counts.failed:,} failed"
        + (pairs + cached if counts.naive else "")
    )
    if counts.ceiling_most:
        note(
            f"ceilings asked {counts.ceiling_asked:,} of the {counts.ceiling_most:,} pairs of a "
            "review and a sentence of the reviews"
        )
    if counts.nothing_left:
        note(
            f"{counts.nothing_left:,} summaries have no score, because the conditions leave no "
            'statement or no review (the "warning" in the rows says which)'
        )
    rows.note_hidden()
    if counts.truncated:
        note(
            f"{counts.truncated:,} pairs had a text cut at the model's limit "
            "(--windows STRIDE reads premises whole)"
        )
    if counts.doubtful:
        note(
            f"{counts.doubtful:,} pairs are so near the threshold that float32 may decide them "
            "otherwise (--dtype float32 settles them)"
        )
    if done.rechecked:
        note(
            f"{done.rechecked:,} pairs near the threshold were scored again in float32, which "
            f"turned {done.turned:,} decisions"
        )
    if counts.unnamed and not options.no_trivial:
        note(
            f"{counts.unnamed:,} summaries have no product name, so no trivial mask "
            "(--product-names gives names)"
        )
    if counts.warned:
        note(f'{counts.warned:,} summaries carry a "warning" (see --format jsonl or --explain)')


def _kept(options: ScoreOptions, engine: Scoring, lines: LineFile | None) -> str:
    """What an interrupted run leaves behind, which is what the next one need not do."""
    if lines is not None:
        return lines.kept("rows")
    if options.output is not None and options.output.is_dir():
        return kept_parts(options.output)
    if engine.cached:
        return "pairs scored so far are in the cache; the same command goes on from there"
    return "nothing is kept (--output FILE.jsonl or the cache would)"
