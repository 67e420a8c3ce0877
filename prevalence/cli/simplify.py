"""`prevalence simplify`: rewrite review sentences, beside the reviews that they come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.errors import note, tell_failures
from prevalence.cli.options import (
    GroupedCommand,
    field_options,
    input_options,
    option,
    output_option,
    quiet_option,
    seed_option,
)
from prevalence.cli.outputs import check_lines, write_records
from prevalence.models.devices import PRECISIONS
from prevalence.runs.running import Tally
from prevalence.runs.selection import Selection
from prevalence.scoring.options import ScoringOptions
from prevalence.text.sentences import SPLITTERS
from prevalence.wording import counted

if TYPE_CHECKING:
    from prevalence.simplify.rewriting import RewriteCounts

__all__ = ["simplify"]

_EPILOG = """\b
Examples:
  prevalence simplify examples/summaries.jsonl --model my-simplifier \\
      --output simple.jsonl
  prevalence score simple.jsonl

\b
OUTPUT holds the records of INPUT with "simplified" beside the "text" of each
review. Scores are always computed against "text". A killed run continues when
the same command is given again. Train a model: prevalence train-simplifier.
Exit status: 0 all written, 1 some records failed, 2 usage or nothing could run,
130 after Ctrl-C.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("input", metavar="INPUT")
@input_options("input_format", "limit")
@option(
    "Model",
    "--model",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="Sequence-to-sequence checkpoint folder (T5, BART, Pegasus, ...), safetensors.",
)
@option(
    "Model",
    "--prefix",
    metavar="TEXT",
    help="Text before each sentence, for example 'hypothesis: ' [default: that of the model's "
    "training].",
)
@option(
    "Model",
    "--max-length",
    metavar="N",
    type=click.IntRange(1),
    help="Maximum tokens of a sentence and of its rewriting; longer sentences stay as they are "
    "[default: that of the model's training, or 256].",
)
@option("Model", "--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1.")
@option(
    "Model",
    "--dtype",
    metavar="TYPE",
    type=click.Choice(PRECISIONS),
    default="auto",
    show_default=True,
    help="Type of the weights: auto (float32), float32 or bfloat16.",
)
@option(
    "Model",
    "--batch-size",
    metavar="N",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    help="Sentences per batch, with all their samples; halved automatically when memory runs out.",
)
@option(
    "Sampling",
    "--samples",
    metavar="N",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Nucleus samples per sentence; the first with the most sentences replaces it.",
)
@option(
    "Sampling",
    "--top-p",
    "p",
    metavar="P",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    help="Probability of the nucleus.",
)
@seed_option(
    "Sampling",
    "Seed of the samples; a sentence's samples depend on nothing else.",
    default=0,
    least=None,
)
@field_options(
    ScoringOptions, "splitter", group="Sampling",
    helps={
        "splitter": "How reviews are cut into sentences, and candidates counted: "
        f"{', '.join(SPLITTERS)} [default: {SPLITTERS[0]}]."
    },
)  # fmt: skip
@output_option("Records in JSON Lines.", required=True)
@option("Output", "--overwrite", is_flag=True, help="Start --output over.")
@quiet_option
def simplify(
    *,
    input: str,  # noqa: A002 - the argument's name in the help
    input_format: str,
    limit: int | None,
    model: Path,
    device: str,
    dtype: str,
    output: Path,
    overwrite: bool,
    quiet: bool,
    **sampling: Any,
) -> None:
    """Rewrite review sentences into simpler ones, beside the original reviews.

    Each sentence is replaced by the one of ten nucleus samples with the most sentences. Summaries
    made from the rewritten reviews are scored against the original ones.
    """
    from prevalence.simplify.checkpoint import load_seq_to_seq
    from prevalence.simplify.products import (
        finished_simplified,
        simplified_marks,
        simplified_products,
    )
    from prevalence.simplify.rewriting import RewriteOptions, Simplifier

    check_lines(output)
    sampling["splitter"] = sampling["splitter"] or SPLITTERS[0]
    options = RewriteOptions(**sampling)
    selection = Selection([input], source_format=input_format, summaries=False, limit=limit)
    simplifier = Simplifier(load_seq_to_seq(model, device=device, dtype=dtype), options)
    tally: Tally[Any] = Tally(output, note, limited=False)
    write_records(
        selection,
        lambda items, done: simplified_products(items, simplifier, progress=done),
        output=output,
        overwrite=overwrite,
        quiet=quiet,
        unit="distinct sentences",
        marks=lambda item: simplified_marks(item, simplifier.signature),
        finished=finished_simplified,
        tally=tally,
    )
    if not quiet:
        note(_summary(tally.made, simplifier.counts))
    tell_failures(tally.failed, there=output.is_file() and output.stat().st_size)


def _summary(written: int, counts: RewriteCounts) -> str:
    parts = [
        f"{counted(written, 'product')} written; "
        f"of {counted(counts.sentences, 'distinct sentence')} {counts.changed:,} were rewritten"
    ]
    if counts.too_long:
        parts.append(f"{counts.too_long:,} kept: longer than the limit (--max-length)")
    if counts.empty:
        parts.append(f"{counts.empty:,} kept: every sample was empty")
    if counts.cut:
        cut = counted(counts.cut, "rewriting ends", "rewritings end")
        parts.append(f"{cut} at the length limit")
    return "; ".join(parts)
