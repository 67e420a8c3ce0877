"""`prevalence summarize`: one more summary for every product, extracted or written anew."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.options import (
    GroupedCommand,
    field_options,
    input_options,
    model_option_names,
    model_options,
    option,
    quiet_option,
    refuse_given,
    scorer_settings,
    seed_option,
)
from prevalence.cli.outputs import check_output
from prevalence.cli.writing_options import (
    LANGUAGE_MODEL,
    WritingOptions,
    check_writing,
    take_writing,
    writing_options,
)
from prevalence.models.registry import EMBEDDED
from prevalence.scoring.options import ScoringOptions
from prevalence.sentences import SPLITTERS
from prevalence.summarize.candidates import LengthRule
from prevalence.summarize.extract import METHODS, SEARCHES, SummaryOptions
from prevalence.summarize.products import Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.scoring.engine import Engine
    from prevalence.summarize.summarizer import Summarizer

__all__ = ["SummarizeOptions", "summarize"]

_SENTENCES = 5
_OF_GREEDY = frozenset(
    {"search", "confidence", "refuse_contradictions", "no_trivial", "trivial_template"}
)
_READ: Mapping[str, frozenset[str]] = {
    "random": frozenset({"no_cache"}),
    "lead": frozenset({"no_cache"}),
    "lexrank": frozenset({"no_cache"}),
    "centroid": frozenset({"no_cache", "model", "device"}),
    LANGUAGE_MODEL: frozenset({"no_cache", "cache", "device", "dtype", "batch_tokens", "model"}),
}
"""What other methods than greedy read of the options that open a scorer."""

_EPILOG = """\b
Examples:
  prevalence summarize examples/summaries.jsonl --output with-greedy.jsonl
  prevalence score with-greedy.jsonl
  prevalence summarize examples/summaries.jsonl --like balanced \\
      --search racing --output racing.jsonl
  prevalence summarize examples/summaries.jsonl --method lexrank \\
      --length 200 --output lexrank.jsonl
  prevalence summarize examples/summaries.jsonl --method llm \\
      --backend openai:MODEL --base-url http://127.0.0.1:8000/v1 \\
      --output written.jsonl --dry-run

\b
OUTPUT holds the records of INPUT, each with one more summary. A killed run
continues when the same command is given again.
Exit status: 0 all made, 1 some records failed, 2 usage or nothing could run,
130 after Ctrl-C.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOptions:
    """The command's own options; the others go to the scorer."""

    input: str
    input_format: str
    product_names: Path | None
    limit: int | None
    method: str
    length: float | None
    like: str | None
    sentences: int | None
    search: str
    confidence: float
    seed: int
    refuse_contradictions: bool
    verbatim: bool
    simplified: bool
    system: str | None
    no_trivial: bool
    trivial_template: str
    splitter: str
    output: Path
    overwrite: bool
    quiet: bool

    @property
    def continues(self) -> bool:
        """Whether records of an earlier run in --output are kept."""
        return self.output.is_file() and not self.overwrite

    @property
    def target(self) -> Target:
        """The summary that every product gets."""
        rule = None
        if self.like is None:
            rule = (
                LengthRule(sentences=self.sentences or _SENTENCES)
                if self.length is None
                else LengthRule(characters=self.length)
            )
        return Target(system=self.system or self.method, length=rule, like=self.like)

    @property
    def choice(self) -> SummaryOptions:
        """How to choose sentences; with --like, each product has a length of its own."""
        return SummaryOptions(
            method=self.method,
            length=self.target.length or LengthRule(sentences=_SENTENCES),
            search=self.search,
            confidence=self.confidence,
            seed=self.seed,
            refuse_contradictions=self.refuse_contradictions,
            close=not self.verbatim,
            simplified=self.simplified,
        )


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("input", metavar="INPUT")
@input_options("input_format", "product_names", "limit")
@option(
    "Input",
    "--simplified",
    is_flag=True,
    help="Read the rewritten reviews that `prevalence simplify` wrote, in place of the originals.",
)
@option(
    "Choice",
    "--method",
    metavar="NAME",
    type=click.Choice([*METHODS, LANGUAGE_MODEL]),
    default=METHODS[0],
    show_default=True,
    help="greedy (best supported sentences that do not repeat one another), random, lead (first "
    "sentences), lexrank (most central ones), centroid (by the embeddings of --model), or llm "
    "(written by a language model, --backend).",
)
@option(
    "Choice",
    "--length",
    metavar="CHARS",
    type=click.FloatRange(0, min_open=True),
    help="Add sentences while they have fewer characters than this.",
)
@option(
    "Choice",
    "--like",
    metavar="SYSTEM",
    help="The length of this system's summary, less half of its last sentence.",
)
@option(
    "Choice",
    "--sentences",
    metavar="N",
    type=click.IntRange(1),
    help=f"This many sentences [default: {_SENTENCES}].",
)
@option(
    "Choice",
    "--search",
    metavar="NAME",
    type=click.Choice(SEARCHES),
    default=SEARCHES[0],
    show_default=True,
    help="Greedy: exact, or racing, which asks the model far less where there are many reviews.",
)
@option(
    "Choice",
    "--racing-confidence",
    "confidence",
    formerly="--confidence",
    metavar="P",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.95,
    show_default=True,
    help="Probability with which racing finds the summary that exact search makes.",
)
@seed_option(
    "Choice",
    "Of random, of the order in which racing asks the reviews, and of llm.",
    default=0,
)
@option(
    "Choice",
    "--refuse-contradictions",
    is_flag=True,
    help="Greedy: no sentence that contradicts a chosen one (needs a three-way model).",
)
@option(
    "Choice",
    "--verbatim",
    is_flag=True,
    help="Give no full stop to a sentence that lacks one; joined ones may then be read as one.",
)
@field_options(
    ScoringOptions, "trivial", "splitter", group="Choice",
    helps={
        "trivial_template": 'Greedy: name is "I bought a {name}."; script is "I bought {name}."; '
        "or your own text.",
        "no_trivial": "Greedy: keep trivial sentences.",
        "splitter": f"How reviews are cut into sentences: {', '.join(SPLITTERS)}.",
    },
)  # fmt: skip
@writing_options
@model_options
@option(
    "Output",
    "--output",
    "-o",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Records in JSON Lines.",
)
@option(
    "Output",
    "--system",
    metavar="NAME",
    help="Name of the new summary beside the old ones [default: the method's].",
)
@option("Output", "--overwrite", is_flag=True, help="Start --output anew.")
@quiet_option
def summarize(**parameters: Any) -> None:
    """Make a summary of each product's reviews, out of their own sentences.

    Greedy takes the sentences that most reviews imply and that do not repeat one another, which
    is the summary of highest opinion prevalence that is easily made. With llm, a language model
    writes the summary instead.
    """
    from prevalence.cli.errors import EXIT_NOTHING, EXIT_SOME_FAILED

    own = {name: parameters.pop(name) for name in SummarizeOptions.__dataclass_fields__}
    options = SummarizeOptions(**own)
    writing = take_writing(parameters)
    _check(options)
    check_writing(writing, options)
    there, failed = _run(options, writing, parameters)
    if failed:
        sys.exit(EXIT_SOME_FAILED if there else EXIT_NOTHING)


def _run(
    options: SummarizeOptions, writing: WritingOptions, parameters: dict[str, Any]
) -> tuple[int, int]:
    """Products in the output, and records that failed."""
    if options.method == LANGUAGE_MODEL:
        from prevalence.cli.written import run as write

        written = write(options, writing)
        return written.there, written.failed
    from prevalence.cli.summaries import run

    report = run(options, lambda: _open(options, parameters))
    return report.there, report.failed


def _open(options: SummarizeOptions, parameters: dict[str, Any]) -> Summarizer:
    from prevalence.summarize.summarizer import Summarizer

    engine = _engine(options, parameters) if options.choice.needs_model else None
    return Summarizer(
        options.choice,
        engine=engine,
        splitter=options.splitter,
        encoder=parameters["model"] or EMBEDDED,
        device=parameters["device"],
    )


def _engine(options: SummarizeOptions, parameters: dict[str, Any]) -> Engine:
    from prevalence.scorers.registry import open_scorer
    from prevalence.scoring.engine import Engine

    scoring = ScoringOptions(
        threshold=parameters["threshold"],
        trivial=None if options.no_trivial else options.trivial_template,
        splitter=options.splitter,
    )
    return Engine(open_scorer(**scorer_settings(parameters)), scoring)


def _check(options: SummarizeOptions) -> None:
    lengths = (options.length, options.like, options.sentences)
    if sum(value is not None for value in lengths) > 1:
        raise click.UsageError("--length, --like and --sentences exclude one another")
    if options.no_trivial and options.trivial_template != "name":
        raise click.UsageError("--no-trivial and --trivial-template exclude each other")
    if options.method in _READ:
        refuse_given(_OF_GREEDY, "goes with --method greedy")
        unread = model_option_names() - _READ[options.method]
        if options.method == LANGUAGE_MODEL:
            unread |= {"verbatim", "splitter"}
        refuse_given(unread, f"does nothing with --method {options.method}")
    elif options.search == SEARCHES[0]:
        refuse_given({"confidence"}, "goes with --search racing")
    if options.system is not None and not options.system.strip():
        raise click.UsageError("--system is empty: name the new summary")
    check_output(options.output)
