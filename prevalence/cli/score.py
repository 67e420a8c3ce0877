"""`prevalence score`: summaries in, rows in files or on the screen, a table and notes out."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

import click

from prevalence.cli.distributed import (
    check_cluster,
    engine_options,
    open_cluster,
    worker_parameters,
)
from prevalence.cli.errors import EXIT_NOTHING, note, tell_failures
from prevalence.cli.options import (
    FILE_PATH,
    GroupedCommand,
    cut_option,
    field_options,
    input_options,
    model_options,
    option,
    preset_option,
    quiet_option,
    refuse_given,
    refuse_two_streams,
    scorer_settings,
    scoring_options,
    seed_option,
    with_preset,
)
from prevalence.cli.outputs import (
    PAIRS_KEPT,
    LineFile,
    LineWriter,
    check_output,
    check_page,
    kept_parts,
    note_uncalibrated,
    screen,
)
from prevalence.cli.score_notes import note_work, nothing_left, print_table
from prevalence.errors import InputError
from prevalence.files import atomic_file, is_stream
from prevalence.records import Product
from prevalence.runs.earlier import drop_last_row, finished_rows
from prevalence.runs.resuming import Finished, rest_of
from prevalence.runs.running import Incomplete, Tally, run
from prevalence.runs.selection import Selection
from prevalence.scoring.options import ScoringOptions
from prevalence.scoring.presets import PRESETS
from prevalence.wording import counted
from prevalence.writers import CsvWriter, JsonLinesWriter, JsonWriter, RowWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import ExitStack

    from prevalence.cli.progress import RunProgress
    from prevalence.distributed import DistributedEngine
    from prevalence.scored import ScoredSummary
    from prevalence.scoring.engine import Engine
    from prevalence.scoring.others import OtherProducts
    from prevalence.scoring.systems import SystemTable

    Scoring = Engine | DistributedEngine
    Records = Selection | DistributedEngine

__all__ = ["score"]

_WRITERS: dict[str, Callable[[IO[str]], RowWriter[ScoredSummary]]] = {
    "jsonl": JsonLinesWriter,
    "csv": CsvWriter,
    "json": JsonWriter,
}
_CHANGED = "whose reviews, name or summary have changed since"
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".json": "json", "": "jsonl"}

_EPILOG = """\b
Examples:
  prevalence score examples/summaries.jsonl
  prevalence score examples/summaries.jsonl --explain --systems balanced
  prevalence score examples/summaries.jsonl --test both
  prevalence score examples/summaries.jsonl --ceiling
  prevalence score examples/summaries.jsonl --profile --explain
  prevalence score examples/summaries.jsonl --statements-where 'text has grip'
  prevalence score examples/summaries.jsonl --output scores.jsonl
  prevalence score examples/summaries.jsonl --evidence --report report.html
  cat examples/summaries.jsonl | prevalence score - --format jsonl --no-trivial

\b
A killed run continues when the same command is given again with the same
--output in JSON Lines; with any other output, the cache saves most of the work.
--engine ray scores on many cores or machines and writes the same rows.
Exit status: 0 all scored, 1 some records failed, 2 usage or nothing could run,
130 after Ctrl-C.
"""


class _Options(SimpleNamespace):
    """The command's parameters by name, and what follows from them."""

    @property
    def files_read(self) -> tuple[str, ...]:
        """Every file as often as it is read: the reviews beside each file of summaries."""
        reviews = () if self.reviews is None else (str(self.reviews),) * len(self.inputs)
        names = () if self.product_names is None else (str(self.product_names),)
        return (*self.inputs, *reviews, *names)

    @property
    def file_format(self) -> str | None:
        """Format of --output: the option, or its suffix; None without --output or a known one."""
        if self.output is None:
            return None
        if self.format not in (None, "table"):
            return str(self.format)
        if self.engine == "ray" and self.output.suffix == ".parquet":
            return "parquet"
        return _SUFFIXES.get(self.output.suffix)

    @property
    def screen_format(self) -> str:
        """Format on stdout: with --output, the table."""
        return (self.format or "table") if self.output is None else "table"

    @property
    def continues(self) -> bool:
        """Whether rows of an earlier run in --output are kept."""
        if self.output is None or self.overwrite or is_stream(self.output) or not self.keeps_rows:
            return False
        return self.output.is_file() or (self.file_format == "parquet" and self.output.is_dir())

    @property
    def keeps_rows(self) -> bool:
        """Whether --output holds what is done when the run is cut short."""
        return self.file_format in ("jsonl", "parquet")

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the paired tests asked for."""
        if self.test is None:
            return ()
        return ("bootstrap", "randomization") if self.test == "both" else (self.test,)


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@input_options("input_format", "reviews", "product_names", "systems")
@option(
    "Input",
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    help="Only the first N records that have the chosen systems.",
)
@preset_option
@field_options(ScoringOptions)
@model_options
@cut_option
@engine_options
@option(
    "Output",
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a row for each summary here (.jsonl, .csv, .json; with --engine ray also "
    ".parquet, a folder), and print the table.",
)
@option(
    "Output",
    "--report",
    metavar="FILE",
    type=FILE_PATH,
    help="Write an HTML page of the rows with the reviews behind every sentence; see `prevalence "
    "report`.",
)
@option(
    "Output",
    "--overwrite",
    is_flag=True,
    help="Start a JSON Lines --output over instead of continuing it; other formats always "
    "start over.",
)
@option(
    "Output",
    "--format",
    metavar="FORMAT",
    type=click.Choice(["table", "jsonl", "csv", "json"]),
    help="table, jsonl, csv or json [default: table, or by the suffix of --output].",
)
@option("Output", "--explain", is_flag=True, help="Show each summary sentence by sentence.")
@quiet_option
@option(
    "Statistics",
    "--test",
    metavar="NAME",
    type=click.Choice(["bootstrap", "randomization", "both"]),
    help="Compare systems by a paired test over products: bootstrap, randomization or both.",
)
@option(
    "Statistics",
    "--resamples",
    metavar="N",
    type=click.IntRange(1),
    help="Resamples for intervals and tests [default: 1,000; 10,000 for randomization].",
)
@seed_option("Statistics", "Seed for resampling.")
def score(**parameters: Any) -> None:
    """Score summaries: how prevalent are their opinions among the reviews?

    INPUT is a file of products with reviews and summaries (JSON Lines, JSON, CSV, TSV and the
    released layouts of published data sets, gzipped or not), or - for standard input.
    """
    options = _Options(**with_preset(parameters))
    _check(options)
    if options.preset is not None and not options.quiet:
        note(f"--preset {options.preset} differs from its source: {PRESETS[options.preset].lacks}")
    table = _run(options)
    if table.nothing_left and not table.scored:
        if options.quiet:
            note(f"error: {nothing_left(table)}")
        sys.exit(EXIT_NOTHING)
    tell_failures(table.failed, there=table.scored)


def _run(options: _Options) -> SystemTable:
    parameters = vars(options)
    scoring = scoring_options(parameters)
    if options.engine == "ray":
        known = worker_parameters(options, parameters)
        with open_cluster(options, partial(_open_engine, scoring, known)) as engine:
            return _score(options, engine, engine)
    selection = _selection(options)
    others = None
    if scoring.others is not None:
        from prevalence.scoring.others import OtherProducts

        selection.check_repeatable("--others reads it a second time")
        others = OtherProducts.of(selection.items(), most=scoring.others)
    return _score(options, selection, _open_engine(scoring, parameters, others))


def _selection(options: _Options) -> Selection:
    return Selection(
        options.inputs,
        source_format=options.input_format,
        reviews=options.reviews,
        names=options.product_names,
        systems=sorted(options.systems),
        limit=options.limit,
        limit_left=True,
    )


def _open_engine(
    scoring: ScoringOptions, parameters: dict[str, Any], others: OtherProducts | None = None
) -> Engine:
    """The engine; a model takes a while to load, so this comes after all that can be checked."""
    from prevalence.scorers.registry import open_scorer
    from prevalence.scoring.engine import Engine

    return Engine(open_scorer(**scorer_settings(parameters)), scoring, others=others)


def _score(options: _Options, records: Records, engine: Scoring) -> SystemTable:
    """Score the records, and write and print what the options ask for.

    Returns:
        Statistics of every row, those of an earlier run of the same output included.
    """
    from prevalence.cli.progress import RunProgress

    if not engine.calibrated and not options.quiet:
        note_uncalibrated(engine.threshold)
    rows = _Rows(options)
    lines = None
    if options.output is not None and options.file_format == "jsonl":
        lines = LineFile(options.output, overwrite=options.overwrite)
    bar = RunProgress(
        # One file of reviews is read again beside every file of summaries.
        [str(options.reviews or path) for path in options.inputs],
        admitted=lambda: engine.counts.naive,
        quiet=options.quiet,
    )
    announced = _Announcement(bar, kept=engine.cached, quiet=options.quiet)
    failure = run(
        rows.noted(records.items(bar.reader)),
        partial(engine.run, progress=bar.done, planned=bar.planned, announced=announced),
        marks=engine.marks,
        rest=rest_of if isinstance(records, Selection) else records.rest,
        finished=_finished(options),
        tally=rows,
        progress=bar,
        writer=partial(_writer, options, lines),
        kept=lambda: _kept(options, engine, lines),
        worth=lambda: engine.counts.scored,
    )
    if not rows.table.scored:
        records.check()
    # Before the table, whose reader may leave after its first lines.
    rows.write_report(engine)
    _tell(options, records, engine, rows)
    if failure is not None:
        if options.output is not None and not options.keeps_rows:
            note(f"{options.output} was not written: it would be incomplete")
        raise Incomplete from failure
    try:
        records.check()
    except InputError as error:
        raise Incomplete from error
    return rows.table


def _tell(options: _Options, records: Records, engine: Scoring, rows: _Rows) -> None:
    """Print the table, and say what the user may want to know of the run."""
    if options.screen_format == "table":
        print_table(
            rows.table,
            error_rates=engine.error_rates,
            tests=options.tests,
            resamples=options.resamples,
            seed=options.seed,
        )
    if not options.quiet:
        note_work(
            engine,
            rows,
            rows.table,
            trivial=not options.no_trivial,
            check_cuts=options.check_cuts,
        )
        for line in records.notes() if isinstance(records, Selection) else ():
            note(line)


class _Rows(Tally["ScoredSummary"]):
    """What becomes of rows: statistics, explanations and error lines."""

    def __init__(self, options: _Options) -> None:
        from prevalence.scoring.systems import SystemTable

        in_rows = options.output is not None or options.screen_format != "table"
        super().__init__(options.output, note, limited=in_rows)
        self.table = SystemTable()
        self._explain = options.explain
        self._options = options
        self._contents = None
        self._products: list[Product] = []
        if options.report is not None:
            from prevalence.report.contents import Contents

            self._contents = Contents(resamples=options.resamples, seed=options.seed)

    def count(self, row: ScoredSummary) -> None:
        """Add a row to the statistics, and show its error, or everything about it."""
        self.table.add(row)
        if self._contents is not None:
            self._contents.add(row.to_json())
        if self._explain:
            from prevalence.report.console import explanation, make_console

            make_console().print(explanation(row))
        elif row.error is not None:
            self.fail(row.error)

    def noted(self, items: Iterable[Any]) -> Iterator[Any]:
        """The records as they come; those that a report shows are kept."""
        for item in items:
            if self._contents is not None and isinstance(item, Product):
                self._products.append(item)
            yield item

    def write_report(self, engine: Scoring) -> None:
        """Write the report that was asked for."""
        if self._contents is None:
            return
        from prevalence.cli.pages import write_report

        self._contents.attach(self._products)
        counts = engine.counts
        self._contents.work = {
            "pairs cut": counts.truncated,
            "premises cut": counts.cut_premises,
            "pairs in doubt": counts.doubtful,
        }
        if self._options.check_cuts:
            self._contents.work["decisions that windows would change"] = (
                engine.scorer_counts.reread_turned
            )
        write_report(self._contents, self._options.report, quiet=self._options.quiet)


class _Announcement:
    """Says once, before they are asked, how many pairs ceilings may cost."""

    def __init__(self, bar: RunProgress, *, kept: bool, quiet: bool) -> None:
        self._bar = bar
        self._kept = kept
        self._silent = quiet

    def __call__(self, pairs: int) -> None:
        """The ceilings of a chunk may ask so many pairs."""
        if not self._silent:
            self._bar.pause()
            kept = "; the cache keeps the answers" if self._kept else ""
            most = counted(pairs, "more pair")
            note(f"--ceiling: the first records take at most {most}{kept}")
        self._silent = True


def _finished(options: _Options) -> Finished[ScoredSummary] | None:
    output = options.output
    if output is None or not options.continues:
        return None
    if not output.is_dir():
        return Finished(
            path=output, rows=finished_rows(output), changed=_CHANGED,
            drop=partial(drop_last_row, output),
        )  # fmt: skip
    from prevalence.distributed import finished_parts

    return Finished(path=output, rows=finished_parts(output), changed=_CHANGED)


def _writer(
    options: _Options, lines: LineFile | None, stack: ExitStack
) -> RowWriter[ScoredSummary] | None:
    if options.output is None:
        shown = options.screen_format
        return _text_writer(options, shown, screen()) if shown in _WRITERS else None
    if lines is not None:
        return LineWriter(stack.enter_context(lines))
    if options.file_format == "parquet":
        from prevalence.distributed import PartsWriter

        return stack.enter_context(PartsWriter(options.output, continues=options.continues))
    file = stack.enter_context(atomic_file(options.output))
    return _text_writer(options, str(options.file_format), file)


def _text_writer(options: _Options, kind: str, file: IO[str]) -> RowWriter[ScoredSummary]:
    if kind == "csv":
        return CsvWriter(file, profile=options.profile)
    return _WRITERS[kind](file)


def _kept(options: _Options, engine: Scoring, lines: LineFile | None) -> str:
    """What an interrupted run leaves behind, which is what the next one need not do."""
    if lines is not None:
        in_cache = "; pairs scored so far are in the cache"
        return lines.kept("row") + (in_cache if engine.cached and lines.untouched else "")
    if options.output is not None and options.output.is_dir():
        return kept_parts(options.output, overwrite=options.overwrite)
    if engine.cached:
        return PAIRS_KEPT
    return "nothing is kept (--output FILE.jsonl or the cache would)"


def _check(options: _Options) -> None:
    refuse_two_streams(options.files_read)
    if options.screen_format != "table":
        refuse_given({"test", "resamples"}, "goes with the table")
    if options.explain and options.screen_format != "table":
        raise click.UsageError(
            "--explain goes with the table; the other formats always hold every sentence"
        )
    if options.report is not None:
        check_page(options.report, option="--report")
        if options.engine == "ray":
            raise click.UsageError(
                "--report does not go with --engine ray: write rows with --output, and give them "
                "to prevalence report"
            )
    if options.reviews is not None and options.input_format != "auto":
        raise click.UsageError("--input-format does not go with --reviews")
    if options.output is None:
        if options.overwrite:
            raise click.UsageError("--overwrite goes with --output")
    else:
        _check_output(options, options.output)
    if options.engine == "ray":
        check_cluster(options)
    else:
        refuse_given({"address", "workers", "gpus_per_worker"}, "goes with --engine ray")
    _check_profile(options)


def _check_profile(options: _Options) -> None:
    if options.engine == "ray" and options.others is not None:
        raise click.UsageError(
            "--others (or a preset with it) does not go with --engine ray: it compares all records"
        )
    if not options.profile:
        refuse_given({"coverage_statements", "sap_alpha"}, "goes with --profile")
    elif options.others is None:
        refuse_given({"sap_alpha"}, "goes with --others")


_OTHER_SUFFIXES = {
    ".parquet": ", or --engine ray (pip install 'prevalence[ray]') for a folder of Parquet",
    ".gz": "; output is not compressed",
}
"""What else there is to say of an output whose suffix names no format."""


def _check_output(options: _Options, output: Path) -> None:
    if str(output) == "-":
        raise click.UsageError("--output takes a file; --format jsonl alone writes to the screen")
    if output.is_dir() and options.file_format != "parquet":
        raise click.UsageError(f"--output: {output} is a folder; name a file")
    if options.file_format is None:
        other = _OTHER_SUFFIXES.get(output.suffix, "")
        raise click.UsageError(
            f"--output: cannot tell the format from the suffix {output.suffix}; add --format "
            f"jsonl, csv or json{other}"
        )
    check_output(output)
