"""`prevalence baselines`: other metrics on the same records; score rows, means and notes."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.errors import note, tell_failures
from prevalence.cli.options import (
    ONE_DEVICE,
    GroupedCommand,
    NamingFiles,
    field_options,
    input_options,
    open_cache_folder,
    option,
    output_option,
    quiet_option,
    refuse_given,
    refuse_two_streams,
    several_names,
)
from prevalence.cli.outputs import (
    LineFile,
    LineWriter,
    check_lines,
    kept_in,
    line_file,
    print_json,
    screen,
)
from prevalence.errors import InputError
from prevalence.runs.running import Incomplete, Tally, run
from prevalence.runs.selection import Selection
from prevalence.scorers.registry import ScorerOptions
from prevalence.wording import counted
from prevalence.writers import JsonLinesWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from prevalence.baselines.protocol import Metric, Runtime
    from prevalence.baselines.rows import ScoreRow
    from prevalence.baselines.run import BaselineRun

__all__ = ["baselines"]

_EPILOG = """\b
Examples:
  prevalence baselines --list
  prevalence baselines examples/summaries.jsonl --metrics rouge-1,rouge-l \\
      --references balanced
  prevalence baselines examples/summaries.jsonl \\
      --metrics rouge-1:precision:against=reviews,rouge-2:against=reviews:source=each
  prevalence baselines examples/summaries.jsonl --metrics rouge-2 \\
      --references balanced --output rows.jsonl

\b
A metric is NAME[:FLAG][:OPTION=VALUE]...; --list --format json shows every option.
A killed run continues when the same command is given again with the same
--output. Exit status: 0 all scored, 1 some records failed, 2 usage or nothing
could run, 130 after Ctrl-C.
"""


def _specs(_: click.Context, __: click.Parameter, parts: tuple[str, ...]) -> tuple[str, ...]:
    from prevalence.baselines.registry import split_specs

    return tuple(spec for part in parts for spec in split_specs(part))


def _metric_files(specs: str) -> Iterator[str]:
    from prevalence.baselines.registry import files_read, split_specs

    for spec in split_specs(specs):
        yield from files_read(spec)


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("inputs", metavar="[INPUT]...", nargs=-1)
@option(
    "Metrics",
    "--metrics",
    "-m",
    multiple=True,
    type=NamingFiles(_metric_files),
    callback=_specs,
    metavar="NAMES",
    help="What to compute (repeat it, or use commas); see --list.",
)
@option(
    "Metrics",
    "--list",
    "show_list",
    is_flag=True,
    help="List the metrics: what each reads and measures, its weights and their licence, and "
    "whether it runs here or what is missing.",
)
@option(
    "Metrics", "--json", "as_json", is_flag=True, help="With --list: the same as --format json."
)
@input_options("input_format", "reviews")
@option(
    "Input",
    "--references",
    multiple=True,
    callback=several_names,
    metavar="SYSTEMS",
    help='Systems whose summaries are the references [default: the record\'s "references" '
    'or "reference"].',
)
@option(
    "Input",
    "--leave-one-out",
    is_flag=True,
    help="Score the --references too, each against the others.",
)
@option(
    "Input",
    "--jackknife",
    is_flag=True,
    help="Likewise, and compare other systems with as many references: each choice of all but one, "
    "averaged.",
)
@input_options("systems", "limit")
@field_options(
    ScorerOptions, "device", "dtype", "batch_tokens", "cache",
    helps={
        "device": ONE_DEVICE,
        "batch_tokens": "Maximum tokens per batch.",
        "cache": "Folder of stored values of metrics with a model [default: $PREVALENCE_CACHE, or "
        "the user's cache folder].",
        "no_cache": "Neither read nor write stored values.",
    },
)  # fmt: skip
@output_option("Write a score row for each summary here, as JSON Lines.")
@option("Output", "--overwrite", is_flag=True, help="Start --output over instead of continuing it.")
@option(
    "Output",
    "--format",
    metavar="FORMAT",
    default="table",
    show_default=True,
    type=click.Choice(["table", "jsonl", "json"]),
    help="On the screen: table (means) or jsonl (rows); with --list table or json.",
)
@quiet_option
def baselines(**parameters: Any) -> None:
    """Score summaries by other metrics: ROUGE, BERTScore, BARTScore, SummaC and more.

    INPUT is a file of products with reviews and summaries, as for `prevalence score`, or - for
    standard input.
    """
    from prevalence.baselines.protocol import Runtime

    options = SimpleNamespace(**parameters)
    if options.show_list:
        _check_list(options)
        _show_list(options.as_json or options.format == "json")
        return
    _check(options)
    _check_runtime(options)
    runtime = Runtime(device=options.device, dtype=options.dtype, batch_tokens=options.batch_tokens)
    folder = open_cache_folder(options.cache, options.no_cache)
    rows = _score(options, _open(options.metrics, runtime, folder))
    tell_failures(rows.failed, there=rows.scored)


def _score(options: SimpleNamespace, metrics: Sequence[Metric]) -> _Rows:
    """Score the selected records by the metrics, and write and print what is asked for.

    Returns:
        What became of every row, those of an earlier run of the same output included.
    """
    from prevalence.baselines.references import References
    from prevalence.baselines.rows import finished_scores
    from prevalence.baselines.run import BaselineRun
    from prevalence.cli.progress import RunProgress

    alone = options.leave_one_out or options.jackknife
    references = References(options.references, alone, options.jackknife)
    selection = Selection(
        options.inputs,
        source_format=options.input_format,
        reviews=options.reviews,
        systems=options.systems,
        limit=options.limit,
        prepared=references.attach,
    )
    engine = BaselineRun(metrics, references=references)
    if engine.needs_preparation:
        selection.check_repeatable("a metric needs to see it twice")
        engine.prepare(selection.items)
    rows = _Rows(options, engine)
    lines = line_file(options.output, overwrite=options.overwrite)
    bar = RunProgress(options.inputs, counted="values", quiet=options.quiet)
    failure = run(
        selection.items(bar.reader),
        partial(engine.rows, progress=bar.done),
        marks=engine.marks,
        finished=finished_scores(options.output) if lines and lines.continues else None,
        tally=rows,
        progress=bar,
        writer=partial(_writer, options, lines),
        kept=lambda: kept_in(lines, "row"),
        worth=lambda: rows.scored,
        check=lambda: _check_found(options, selection),
    )
    rows.show()
    if failure is not None:
        raise Incomplete from failure
    return rows


def _check_found(options: SimpleNamespace, selection: Selection) -> None:
    """Refuse names that no record has, once all were read, and a selection of nothing."""
    selection.check()
    selection.check_names("--references", options.references)
    if not selection.handed_out:
        raise InputError(
            "no summary is left to score: all are references (--leave-one-out scores them)"
        )


class _Rows(Tally["ScoreRow"]):
    """What becomes of rows: the output, means, error lines and notes."""

    def __init__(self, options: SimpleNamespace, engine: BaselineRun) -> None:
        from prevalence.report.baselines import SystemMeans

        in_rows = options.output is not None or options.format == "jsonl"
        super().__init__(options.output, note, limited=in_rows)
        self._means = SystemMeans([metric.name for metric in engine.metrics])
        self._engine = engine
        self._options = options
        # Errors of summaries without a reference, as long as no summary has one.
        self._held: list[str] = []
        self._one_by_one = False
        self._systems: set[str | None] = set()

    def count(self, row: ScoreRow) -> None:
        """Add a row to the means."""
        self._means.add(row)
        self._systems.add(row.system)
        if row.error is None:
            self._one_by_one = True
            self._tell_held()
            return
        self.failed += 1
        lacks = self._engine.comparing and row.error.endswith(self._engine.lacks_references)
        if lacks and not self._one_by_one:
            self._held.append(row.error)
        else:
            self.tell(row.error)

    def _tell_held(self) -> None:
        for error in self._held:
            self.tell(error)
        self._held = []

    def _tell_lacking(self) -> None:
        """Say once that no summary at all has a reference, and which is the first."""
        from prevalence.baselines.run import HOW_TO_REFER

        if len(self._held) < 2:
            self._tell_held()
            return
        where = self._held[0].removesuffix(self._engine.lacks_references)
        names = self._engine.comparing
        have = "has" if len(names) == 1 else "have"
        note(
            f"error: {where} and {len(self._held) - 1:,} more: {', '.join(names)} {have} "
            f"{HOW_TO_REFER}"
        )

    def _note_uneven(self) -> None:
        """Say that systems had more references than those that are references themselves."""
        options = self._options
        others = self._systems.difference(options.references, {None})
        own = self._systems.intersection(options.references)
        uneven = options.leave_one_out and not options.jackknife and self._engine.comparing
        if uneven and own and others:
            note(
                f"{', '.join(sorted(map(str, own)))} had one reference fewer than the other "
                "systems; --jackknife gives all the same number"
            )

    def show(self) -> None:
        """Print the table and the notes."""
        from prevalence.report.console import make_console, plain

        if self._options.output is not None or self._options.format == "table":
            console = make_console()
            console.print(self._means.table())
            console.print()
            console.print(plain(self._engine.signature), style="dim", soft_wrap=True)
        self._tell_lacking()
        if self._options.quiet:
            return
        self._note_uneven()
        self.note_earlier()
        scored = counted(self.scored, "summary", "summaries")
        note(f"{scored} scored, {self.failed:,} failed")
        self.note_hidden()
        for metric in self._engine.metrics:
            cut = getattr(metric, "truncated", 0)
            if cut:
                texts = counted(cut, "text was", "texts were")
                note(f"{metric.name}: {texts} cut at the model's limit")
            hits = getattr(metric, "hits", 0)
            if hits:
                note(f"{metric.name}: {counted(hits, 'value was', 'values were')} cached")


def _writer(
    options: SimpleNamespace, lines: LineFile | None, stack: ExitStack
) -> JsonLinesWriter | None:
    if lines is not None:
        return LineWriter(stack.enter_context(lines))
    return JsonLinesWriter(screen()) if options.format == "jsonl" else None


def _show_list(as_json: bool) -> None:
    from prevalence.baselines.registry import REGISTRY
    from prevalence.report.baselines import metric_rows, metric_table
    from prevalence.report.console import make_console

    entries = list(REGISTRY.values())
    if as_json:
        print_json(metric_rows(entries))
    else:
        make_console().print(metric_table(entries))


def _open(specs: tuple[str, ...], runtime: Runtime, folder: Path | None) -> list[Metric]:
    """The metrics, each once; those with a model remember their values."""
    from prevalence.baselines.registry import get

    opened: dict[str, Metric] = {}
    for spec in specs:
        metric = get(spec, runtime=runtime)
        opened.setdefault(metric.name, metric)
    slow = [name for name, metric in opened.items() if _worth_keeping(metric)]
    if slow and folder is not None:
        from prevalence.baselines.cache import CachedMetric, ValueCache

        cache = ValueCache(folder)
        opened |= {name: CachedMetric(opened[name], cache) for name in slow}
    return list(opened.values())


def _worth_keeping(metric: Metric) -> bool:
    """Whether a value costs a model's work; one that depends on the whole input is not kept."""
    return metric.entry.weights is not None and not hasattr(metric, "prepare")


def _check_list(options: SimpleNamespace) -> None:
    if options.inputs or options.metrics:
        raise click.UsageError("--list shows all metrics; give no INPUT and no --metrics with it")
    if options.format == "jsonl":
        raise click.UsageError("--list goes with --format table or json; jsonl is for rows")


def _check_runtime(options: SimpleNamespace) -> None:
    """Refuse options of models where none runs, and a device that is not there."""
    from prevalence.baselines.registry import entry_of

    if all(entry_of(spec).weights is None for spec in options.metrics):
        why = "has no effect: none of --metrics has a model"
        refuse_given(("device", "dtype", "batch_tokens"), why)
    elif options.device != "auto":
        from prevalence.models.devices import open_device

        open_device(options.device)


def _check(options: SimpleNamespace) -> None:
    if options.as_json or options.format == "json":
        given = "--json" if options.as_json else "--format json"
        raise click.UsageError(f"{given} goes with --list; for rows, use --format jsonl")
    if not options.inputs:
        raise click.UsageError("no INPUT; give a file of products, or --list")
    if not options.metrics:
        raise click.UsageError("no --metrics; name some, for example --metrics rouge-1,rouge-l")
    refuse_two_streams(options.inputs)
    if options.leave_one_out and not options.references:
        raise click.UsageError("--leave-one-out goes with --references")
    if options.jackknife and len(options.references) < 2:
        raise click.UsageError("--jackknife goes with two --references or more")
    if options.output is not None:
        check_lines(options.output)
    elif options.overwrite:
        raise click.UsageError("--overwrite goes with --output")
