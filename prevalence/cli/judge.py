"""`prevalence judge`: options; :mod:`prevalence.cli.judged` does the work."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.judge_backends import (
    backend_choice,
    backend_options,
    check_backend_options,
)
from prevalence.cli.options import (
    FILE,
    GroupedCommand,
    input_options,
    option,
    quiet_option,
    seed_option,
    several_names,
)
from prevalence.cli.outputs import check_output

if TYPE_CHECKING:
    from prevalence.llm.backends import BackendOptions

__all__ = ["JudgeOptions", "judge"]

_EPILOG = """\b
Examples:
  prevalence judge --list
  prevalence judge examples/summaries.jsonl --method op-i \\
      --dimensions faithfulness --backend hf:PATH --samples 10 --output scores.jsonl
  prevalence judge examples/summaries.jsonl --method rts --dimensions fluency \\
      --backend replay:examples/replies.jsonl --systems balanced,trivial
  prevalence judge examples/summaries.jsonl --method h2h --dimensions fluency \\
      --pairs all --backend openai:MODEL --dry-run

\b
--method is a name, a TOML file, or a folder of prompts with two {}; NAME:reviews-first
puts the reviews first. --dimensions takes names, sets, SET/NAME, or a TOML file.
A killed run continues when the same command is given again with the same
--output. Exit status: 0 all judged, 1 some records failed, 2 usage or nothing
could run, 130 after Ctrl-C.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """The command's options, those of the backend apart; see the help text of each."""

    inputs: tuple[str, ...]
    input_format: str
    systems: tuple[str, ...]
    limit: int | None
    method: str | None
    dimensions: tuple[str, ...]
    pairs: str | None
    attacks: bool
    form: str
    samples: int | None
    temperature: float | None
    top_p: float
    top_k: int | None
    max_tokens: int | None
    seed: int
    parser: str
    dry_run: bool
    output: Path | None
    overwrite: bool
    record: Path | None
    quiet: bool
    backend: str | None
    told: BackendOptions

    @property
    def continues(self) -> bool:
        """Whether rows of an earlier run in --output are kept."""
        return self.output is not None and not self.overwrite and self.output.is_file()


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("inputs", metavar="[INPUT]...", nargs=-1)
@option("Method", "--method", "-m", metavar="METHOD", type=FILE, help="How to ask; see --list.")
@option(
    "Method",
    "--dimensions",
    "-d",
    multiple=True,
    callback=several_names,
    type=FILE,
    metavar="NAMES",
    help="What to rate (repeat it, or use commas) [default: all of the method's first set].",
)
@option(
    "Method",
    "--pairs",
    metavar="CHOICE",
    type=FILE,
    help="h2h: neighbours (by human rating), all, or a JSON Lines file of {a, b} [default: all].",
)
@option("Method", "--list", "show_list", is_flag=True, help="Show the methods and dimensions.")
@option("Method", "--json", "as_json", is_flag=True, help="With --list: print JSON.")
@option(
    "Replies",
    "--form",
    metavar="FORM",
    type=click.Choice(["samples", "direct", "probabilities"]),
    default="samples",
    show_default=True,
    help="samples (mean), direct (one greedy reply) or probabilities (of the grades' tokens).",
)
@option(
    "Replies",
    "--samples",
    metavar="N",
    type=click.IntRange(1),
    help="Replies to each prompt [default: as in the method's paper].",
)
@option(
    "Replies",
    "--temperature",
    metavar="T",
    type=click.FloatRange(0, 2),
    help="0 is greedy [default: as in the method's paper].",
)
@option("Replies", "--top-p", metavar="P", type=float, default=1.0, help="Nucleus.")
@option("Replies", "--top-k", metavar="K", type=click.IntRange(1), help="Most tokens to draw from.")
@option("Replies", "--max-tokens", metavar="N", type=click.IntRange(1), help="Longest reply.")
@seed_option("Replies", "Of the first sample.", default=0, least=None)
@option(
    "Replies",
    "--parser",
    metavar="RULES",
    type=click.Choice(["strict", "llm-summeval"]),
    default="strict",
    show_default=True,
    help="strict, or llm-summeval (the rules of that paper's released scores).",
)
@input_options("input_format", "systems", "limit")
@option(
    "Input",
    "--attacks",
    is_flag=True,
    help="Judge each summary with texts beside it that try to steer the judge, too, as systems "
    "SYSTEM#ATTACK; `prevalence audit` shows what they gain.",
)
@backend_options
@option(
    "Output",
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a row for each summary (for each pair, with h2h) here, as JSON Lines.",
)
@option(
    "Output",
    "--overwrite",
    is_flag=True,
    help="Start --output and --record anew, not continuing them.",
)
@option(
    "Output",
    "--record",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every reply here too, for replay:FILE; continued where --output is.",
)
@option("Output", "--dry-run", is_flag=True, help="Ask nothing: count replies, tokens and cost.")
@quiet_option
def judge(*, show_list: bool, as_json: bool, **parameters: Any) -> None:
    """Score summaries by a language model as judge: OP-I, G-Eval, Omni, RTS, MCQ and more.

    INPUT is a file of products with reviews and summaries, as for `prevalence score`, or - for
    standard input.
    """
    if show_list:
        _show_list(as_json)
        return
    if as_json:
        raise click.UsageError("--json goes with --list")
    backend, told = backend_choice(parameters)
    options = JudgeOptions(**parameters, backend=backend, told=told)
    _check(options)

    from prevalence.cli.errors import EXIT_NOTHING, EXIT_SOME_FAILED
    from prevalence.cli.judged import run

    scored, failed = run(options)
    if failed:
        sys.exit(EXIT_SOME_FAILED if scored else EXIT_NOTHING)


def _show_list(as_json: bool) -> None:
    from prevalence.report.console import make_console
    from prevalence.report.judges import listing, listing_rows

    if as_json:
        click.echo(json.dumps(listing_rows(), indent=2, ensure_ascii=False))
    else:
        console = make_console()
        for table in listing():
            console.print(table)
            console.print()


def _check(options: JudgeOptions) -> None:
    for missing, name, advice in (
        (not options.inputs, "INPUT", "give a file of products, or --list"),
        (options.method is None, "--method", "choose one of `prevalence judge --list`"),
        (options.backend is None, "--backend", "for example --backend hf:PATH"),
    ):
        if missing:
            raise click.UsageError(f"no {name}; {advice}")
    check_backend_options(str(options.backend), dry_run=options.dry_run)
    if options.inputs.count("-") > 1:
        raise click.UsageError("standard input (-) can be read once")
    if options.overwrite and options.output is None and options.record is None:
        raise click.UsageError("--overwrite goes with --output and --record")
    written = {"--output": options.output, "--record": options.record}
    found = {option: path for option, path in written.items() if path is not None}
    if len({path.absolute() for path in found.values()}) < len(found):
        raise click.UsageError("--output and --record are the same file")
    for option_name, path in found.items():
        check_output(path, option=option_name)
    _check_record(options)


def _check_record(options: JudgeOptions) -> None:
    """Replies may have cost money: a recording is continued with --output, or begun anew."""
    path = options.record
    if path is None or options.overwrite or options.continues or options.dry_run:
        return
    if path.is_file() and path.stat().st_size:
        raise click.UsageError(
            f"--record: {path} holds a recording; choose another file, or --overwrite"
        )
