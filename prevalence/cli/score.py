"""`prevalence score`: options of the command; :mod:`prevalence.cli.run` does the work."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.distributed import (
    check_engine,
    engine_options,
    run_distributed,
    worker_parameters,
)
from prevalence.cli.options import (
    GroupedCommand,
    field_options,
    input_options,
    model_options,
    option,
    quiet_option,
    scorer_settings,
    seed_option,
)
from prevalence.cli.outputs import check_output
from prevalence.scoring.options import ScoringOptions

if TYPE_CHECKING:
    from prevalence.report.systems import SystemTable
    from prevalence.scoring.engine import Engine

__all__ = ["ScoreOptions", "score"]

_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".json": "json", "": "jsonl"}

_EPILOG = """\b
Examples:
  prevalence score examples/summaries.jsonl
  prevalence score examples/summaries.jsonl --explain --systems balanced
  prevalence score examples/summaries.jsonl --test both
  prevalence score examples/summaries.jsonl --ceiling
  prevalence score examples/summaries.jsonl --statements-where 'text has grip'
  prevalence score examples/summaries.jsonl --output scores.jsonl
  cat examples/summaries.jsonl | prevalence score - --format jsonl --no-trivial

\b
A killed run continues when the same command is given again with the same
--output in JSON Lines; with any other output, the cache saves most of the work.
--engine ray scores on many cores or machines and writes the same rows.
Exit status: 0 all scored, 1 some records failed, 2 usage or nothing could run,
130 after Ctrl-C.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
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
    statements_where: str | None
    reviews_where: str | None
    ceiling: bool
    systems: tuple[str, ...]
    limit: int | None
    output: Path | None
    overwrite: bool
    format: str | None
    explain: bool
    test: str | None
    resamples: int | None
    seed: int
    quiet: bool
    engine: str
    address: str | None
    workers: int | None
    gpus_per_worker: float | None

    @property
    def files_read(self) -> tuple[str, ...]:
        """Every file as often as it is read: the reviews beside each file of summaries."""
        reviews = () if self.reviews is None else (str(self.reviews),) * len(self.inputs)
        names = () if self.product_names is None else (str(self.product_names),)
        return (*self.inputs, *reviews, *names)

    @property
    def wanted_systems(self) -> frozenset[str]:
        """Systems named by --systems; none for all of them."""
        return frozenset(self.systems)

    @property
    def file_format(self) -> str | None:
        """Format of --output: the option, or its suffix; None without --output or a known one."""
        if self.output is None:
            return None
        if self.format not in (None, "table"):
            return self.format
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
        if self.output is None or self.overwrite or not self.keeps_rows:
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
@input_options("input_format")
@option(
    "Input",
    "--reviews",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Reviews file; every INPUT then holds one summary a line, in the same order, and names "
    "a system by its file name.",
)
@input_options("product_names", "systems")
@option(
    "Input",
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    help="Only the first N records that are left.",
)
@field_options(ScoringOptions)
@model_options
@engine_options
@option(
    "Output",
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a row for each summary here (.jsonl, .csv, .json; with --engine ray also .parquet, "
    "a folder), and the table on the screen.",
)
@option(
    "Output",
    "--overwrite",
    is_flag=True,
    help="Start a JSON Lines --output anew instead of continuing it; other formats always are.",
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
    help="Of intervals and tests [default: 1,000; 10,000 for randomization].",
)
@seed_option("Statistics", "Of the resampling.")
def score(**parameters: Any) -> None:
    """Score summaries: how prevalent are their opinions among the reviews?

    INPUT is a file of products with reviews and summaries (JSON Lines, JSON, CSV, TSV and the
    released layouts of published data sets, gzipped or not), or - for standard input.
    """
    from prevalence.cli.errors import EXIT_NOTHING, EXIT_SOME_FAILED

    own = {name: parameters.pop(name) for name in ScoreOptions.__dataclass_fields__}
    options = ScoreOptions(**own)
    _check(options)
    check_engine(options, parameters)
    table = _run(options, parameters)
    if table.nothing_left and not table.scored:
        sys.exit(EXIT_NOTHING)
    if table.failed:
        sys.exit(EXIT_SOME_FAILED if table.scored else EXIT_NOTHING)


def _run(options: ScoreOptions, parameters: dict[str, Any]) -> SystemTable:
    scoring = _scoring(options, parameters)
    if options.engine == "ray":
        known = worker_parameters(options, parameters)
        return run_distributed(options, partial(_open_engine, scoring, known))
    from prevalence.cli.run import Selection, run

    selection = Selection(options)
    return run(options, selection, _open_engine(scoring, parameters))


def _scoring(options: ScoreOptions, parameters: dict[str, Any]) -> ScoringOptions:
    return ScoringOptions(
        threshold=parameters["threshold"],
        trivial=None if options.no_trivial else options.trivial_template,
        splitter=options.splitter,
        full_matrix=options.full_matrix,
        soft=options.soft,
        max_sentences=options.max_sentences,
        statements_where=options.statements_where,
        reviews_where=options.reviews_where,
        ceiling=options.ceiling,
    )


def _open_engine(scoring: ScoringOptions, parameters: dict[str, Any]) -> Engine:
    """The engine; a model takes a while to load, so this comes after all that can be checked."""
    from prevalence.scorers.registry import open_scorer
    from prevalence.scoring.engine import Engine

    return Engine(open_scorer(**scorer_settings(parameters)), scoring)


def _check(options: ScoreOptions) -> None:
    if options.no_trivial and options.trivial_template != "name":
        raise click.UsageError("--no-trivial and --trivial-template exclude each other")
    if options.files_read.count("-") > 1:
        raise click.UsageError("standard input (-) can be read once")
    if options.explain and options.screen_format != "table":
        raise click.UsageError("--explain goes with the table; the other formats hold it all")
    if options.reviews is not None and options.input_format != "auto":
        raise click.UsageError("--input-format does not go with --reviews")
    if options.output is None:
        if options.overwrite:
            raise click.UsageError("--overwrite goes with --output")
    else:
        _check_output(options, options.output)


def _check_output(options: ScoreOptions, output: Path) -> None:
    if str(output) == "-":
        raise click.UsageError("--output takes a file; --format jsonl alone writes to the screen")
    if output.is_dir() and options.file_format != "parquet":
        raise click.UsageError(f"--output: {output} is a folder; name a file")
    if options.file_format is None:
        raise click.UsageError(
            f"--output: no format goes by the suffix {output.suffix}; add --format jsonl, csv or "
            "json"
        )
    check_output(output)
