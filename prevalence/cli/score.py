"""`prevalence score`: from input files to rows, a table, and an exit status."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.options import model_options, open_cache_folder, split_labels

if TYPE_CHECKING:
    from prevalence.cli.progress import ScoringProgress
    from prevalence.engine import Engine
    from prevalence.records import BadRecord, Product, ScoredSummary
    from prevalence.report.systems import SystemTable
    from prevalence.writers import RowWriter

__all__ = ["score"]

_EPILOG = """\b
Examples:
  prevalence score examples/summaries.jsonl
  prevalence score examples/summaries.jsonl --explain --systems balanced
  prevalence score examples/summaries.jsonl --test randomization
  prevalence score examples/summaries.jsonl --output scores.jsonl
  cat examples/summaries.jsonl | prevalence score - --format jsonl --no-trivial

\b
A killed run continues when the same command is given again with the same --output.
Exit status: 0 all scored, 1 some records failed, 2 usage or nothing could run.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The command's own options; the others go to the scorer."""

    inputs: tuple[str, ...]
    input_format: str
    reviews: Path | None
    product_names: Path | None
    no_trivial: bool
    trivial_template: str
    splitter: str
    soft: bool
    full_matrix: bool
    max_sentences: int
    systems: tuple[str, ...]
    limit: int | None
    output: Path | None
    overwrite: bool
    format: str | None
    explain: bool
    test: str | None
    resamples: int
    seed: int
    quiet: bool

    @property
    def wanted_systems(self) -> frozenset[str]:
        """Systems named by --systems, which may be repeated and may hold commas."""
        return frozenset(
            name.strip() for part in self.systems for name in part.split(",") if name.strip()
        )

    @property
    def file_format(self) -> str | None:
        """Format of --output: the option, or its suffix; None without --output."""
        if self.output is None:
            return None
        if self.format not in (None, "table"):
            return self.format
        return {".csv": "csv", ".json": "json"}.get(self.output.suffix, "jsonl")

    @property
    def screen_format(self) -> str:
        """Format on stdout: with --output, the table."""
        return (self.format or "table") if self.output is None else "table"


@click.command(epilog=_EPILOG)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@model_options
@click.option(
    "--input-format",
    default="auto",
    show_default=True,
    help="auto reads the format off the content; or jsonl, json, csv, tsv, opinsummeval, "
    "summeval-op, copycat.",
)
@click.option(
    "--reviews",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Reviews file; every INPUT then holds one summary a line, in the same order, and names "
    "a system by its file name.",
)
@click.option(
    "--product-names",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Names for the trivial mask: lines 'ID name...', or a JSON object.",
)
@click.option("--no-trivial", is_flag=True, help="No trivial mask.")
@click.option(
    "--trivial-template",
    default="name",
    show_default=True,
    help='name is "I bought a {name}."; script is "I bought {name}."; or your own text.',
)
@click.option(
    "--splitter",
    type=click.Choice(["punkt-en", "nltk-punkt-en", "lines"]),
    default="punkt-en",
    show_default=True,
    help="How summaries are cut into sentences.",
)
@click.option("--soft", is_flag=True, help="Also score with probabilities in place of decisions.")
@click.option("--full-matrix", is_flag=True, help="Also ask the reviews about masked sentences.")
@click.option(
    "--max-sentences",
    type=click.IntRange(1),
    default=500,
    show_default=True,
    help="Refuse longer summaries: redundancy is quadratic.",
)
@click.option("--systems", multiple=True, metavar="NAMES", help="Only these (repeat, or commas).")
@click.option("--limit", type=click.IntRange(1), help="Only the first so many records.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write rows here (format by --format or suffix; JSON Lines by default).",
)
@click.option("--overwrite", is_flag=True, help="Start --output anew instead of continuing it.")
@click.option(
    "--format",
    type=click.Choice(["table", "jsonl", "csv", "json"]),
    help="What is written [default: a table on the screen].",
)
@click.option("--explain", is_flag=True, help="Show each summary sentence by sentence.")
@click.option(
    "--test",
    type=click.Choice(["bootstrap", "randomization"]),
    help="Compare systems by a paired test over products.",
)
@click.option("--resamples", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", type=int, default=12345, show_default=True, help="Of the resampling.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes on stderr.")
def score(**parameters: Any) -> None:
    """Score summaries: how prevalent are their opinions among the reviews?

    INPUT is a file of products with reviews and summaries (JSON Lines, JSON, CSV, TSV and the
    released layouts of published data sets, gzipped or not), or - for standard input.
    """
    from prevalence.cli.errors import EXIT_NOTHING, EXIT_SOME_FAILED

    options, engine = _prepare(parameters)
    table = _run(options, engine)
    if table.failed:
        sys.exit(EXIT_SOME_FAILED if table.scored else EXIT_NOTHING)


def _prepare(parameters: dict[str, Any]) -> tuple[_Options, Engine]:
    """Check the options before any model is loaded, then load it."""
    own = {name: parameters.pop(name) for name in _Options.__dataclass_fields__}
    options = _Options(**own)
    _check(options)
    from prevalence.engine import Engine, ScoringOptions
    from prevalence.scorers import open_scorer

    scoring = ScoringOptions(
        threshold=parameters["threshold"],
        trivial=None if options.no_trivial else options.trivial_template,
        splitter=options.splitter,
        full_matrix=options.full_matrix,
        soft=options.soft,
        max_sentences=options.max_sentences,
    )
    parameters["labels"] = split_labels(parameters["labels"])
    parameters["cache"] = open_cache_folder(parameters["cache"], parameters.pop("no_cache"))
    scorer = open_scorer(**parameters)
    if not getattr(scorer, "calibrated", True) and not options.quiet:
        click.echo(
            f"warning: {parameters['model']} has no calibrated threshold; {scorer.threshold} is "
            "used (set --threshold)",
            err=True,
        )
    return options, Engine(scorer, scoring)


def _check(options: _Options) -> None:
    if options.no_trivial and options.trivial_template != "name":
        raise click.UsageError("--no-trivial and --trivial-template exclude each other")
    if options.inputs.count("-") > 1:
        raise click.UsageError("standard input (-) can be read once")
    if options.explain and options.screen_format != "table":
        raise click.UsageError("--explain goes with the table; the other formats hold it all")
    if options.output is not None and not options.output.absolute().parent.is_dir():
        raise click.UsageError(f"--output: no folder {options.output.absolute().parent}")


def _run(options: _Options, engine: Engine) -> SystemTable:
    from prevalence.cli.progress import ScoringProgress
    from prevalence.report.console import explanation, make_console
    from prevalence.report.systems import SystemTable

    table = SystemTable()
    console = make_console()
    with ExitStack() as stack:
        bar = stack.enter_context(ScoringProgress(options.inputs, quiet=options.quiet))
        items: Iterable[Product | BadRecord] = _items(options, bar)
        items = _unfinished(options, engine, items, table)
        writers = _writers(options, stack)
        for row in engine.run(items, progress=bar.scored, planned=bar.planned):
            for writer in writers:
                writer.write(row)
            table.add(row)
            bar.row()
            if options.explain:
                console.print(explanation(row))
            elif row.error is not None and not options.quiet:
                click.echo(f"error: {row.error}", err=True)
        for writer in writers:
            writer.close()
    if options.screen_format == "table":
        _print_table(options, engine, table)
    if not options.quiet:
        _print_work(engine)
    return table


def _items(options: _Options, bar: ScoringProgress) -> Iterator[Product | BadRecord]:
    """The input's records with the wanted systems only, up to the limit."""
    from itertools import islice

    from prevalence.readers import read_authors, read_product_names, read_products

    names = read_product_names(options.product_names) if options.product_names else None

    def every() -> Iterator[Product | BadRecord]:
        for path in options.inputs:
            if options.reviews is not None:
                yield from read_authors(
                    path, reviews=options.reviews, names=names, progress=bar.reader()
                )
            else:
                yield from read_products(
                    path, format=options.input_format, names=names, progress=bar.reader()
                )

    yield from islice(_selected(every(), options.wanted_systems), options.limit)


def _selected(
    items: Iterator[Product | BadRecord], wanted: frozenset[str]
) -> Iterator[Product | BadRecord]:
    from prevalence.errors import InputError
    from prevalence.records import BadRecord

    seen: set[str] = set()
    for item in items:
        if not wanted or (isinstance(item, BadRecord) and item.system in {None, *wanted}):
            yield item
        elif not isinstance(item, BadRecord):
            seen.update(summary.system for summary in item.summaries)
            chosen = [s for s in item.summaries if s.system in wanted]
            if chosen:
                yield item.with_summaries(chosen)
    missing = wanted - seen
    if missing and seen:
        raise InputError(
            f"--systems: no summary by {', '.join(sorted(missing))}; "
            f"the input has {', '.join(sorted(seen))}"
        )


def _unfinished(
    options: _Options,
    engine: Engine,
    items: Iterable[Product | BadRecord],
    table: SystemTable,
) -> Iterable[Product | BadRecord]:
    """What an earlier run of the same output has not finished."""
    path = options.output
    if path is None or options.file_format != "jsonl" or options.overwrite or not path.exists():
        return items
    from prevalence.writers import finished_rows, skip_finished

    return skip_finished(
        items,
        finished_rows(path),
        path=path,
        signature=lambda product: engine.signature(named=product.name is not None),
        keep=table.add,
    )


def _writers(options: _Options, stack: ExitStack) -> list[RowWriter]:
    from prevalence.writers import CsvWriter, JsonLinesWriter, JsonWriter, atomic_file

    kinds = {"jsonl": JsonLinesWriter, "csv": CsvWriter, "json": JsonWriter}
    if options.output is None:
        kind = kinds.get(options.screen_format)
        return [kind(sys.stdout)] if kind else []
    if options.file_format == "jsonl":
        mode = "w" if options.overwrite else "a"
        file = stack.enter_context(options.output.open(mode, encoding="utf-8", newline=""))
        return [JsonLinesWriter(file)]
    return [kinds[str(options.file_format)](stack.enter_context(atomic_file(options.output)))]


def _print_table(options: _Options, engine: Engine, table: SystemTable) -> None:
    from prevalence.report.console import comparison_table, make_console, plain, system_table

    console = make_console()
    rows = table.statistics(resamples=options.resamples, seed=options.seed)
    if rows:
        console.print(system_table(rows))
    resampling = f"|bs:{options.resamples}|seed:{options.seed}"
    if options.test:
        comparisons = table.compare(
            options.test, resamples=options.resamples, seed=options.seed
        )
        console.print()
        console.print(comparison_table(comparisons, options.test))
        resampling += f"|test:{options.test}"
    console.print()
    counts = engine.counts
    named = counts.unnamed < max(counts.scored, 1)
    console.print(plain(engine.signature(named=named) + resampling), style="dim", soft_wrap=True)


def _print_work(engine: Engine) -> None:
    """Notes on the run: what was avoided, what was cut, what lacks a mask."""
    counts = engine.counts
    hits = getattr(engine.scorer, "hits", 0)
    notes = [
        f"{counts.scored:,} summaries scored, {counts.failed:,} failed; of {counts.naive:,} pairs "
        f"{counts.naive - counts.planned:,} were avoided by early stopping, "
        f"{counts.planned - counts.unique:,} were duplicates, {hits:,} were cached"
    ]
    if counts.truncated:
        notes.append(
            f"{counts.truncated:,} pairs had a review cut at the model's limit "
            "(--windows STRIDE reads all of it)"
        )
    if counts.unnamed:
        notes.append(f"{counts.unnamed:,} summaries have no product name: no trivial mask")
    if counts.warned:
        notes.append(f'{counts.warned:,} summaries carry a "warning" in their row')
    for note in notes:
        click.echo(note, err=True)
