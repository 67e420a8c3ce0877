"""`prevalence train-simplifier`: fine-tune the model that `prevalence simplify` uses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.options import FOLDER_PATH, GroupedCommand, option, quiet_option, seed_option
from prevalence.models.devices import PRECISIONS

if TYPE_CHECKING:
    from prevalence.training.loop import TrainingProgress

__all__ = ["train_simplifier"]

_EPILOG = """\b
Example:
  prevalence train-simplifier asset/asset.valid.orig --base t5-base \\
      --output my-simplifier

\b
SOURCES holds one sentence a line; its rewritings stand beside it, a file each:
asset.valid.simp.0, asset.valid.simp.1, ... The defaults are the paper's: 30
epochs, learning rate 5e-5, Adam, 64 tokens. A killed run continues from its
last state when the same command is given again; a finished one is left alone.
"""


@click.command("train-simplifier", cls=GroupedCommand, epilog=_EPILOG)
@click.argument("sources", metavar="SOURCES", type=click.Path(path_type=Path))
@option("Model", "--base", metavar="FOLDER", required=True, type=click.Path(path_type=Path),
        help="Sequence-to-sequence checkpoint to start from, such as T5-base.")  # fmt: skip
@option("Model", "--output", "-o", metavar="FOLDER", required=True,
        type=FOLDER_PATH, help="The new checkpoint.")  # fmt: skip
@option("Model", "--prefix", metavar="TEXT", default="hypothesis: ", show_default=True,
        help="Text before each sentence; stored with the model, for simplify.")  # fmt: skip
@option("Model", "--max-length", metavar="N", type=click.IntRange(1), default=64,
        show_default=True, help="Maximum tokens of a sentence and of a rewriting.")  # fmt: skip
@option("Training", "--epochs", metavar="N", type=click.IntRange(1), default=30,
        show_default=True, help="Passes over all pairs.")  # fmt: skip
@option("Training", "--learning-rate", metavar="R", type=float, default=5e-5,
        show_default=True, help="Initial learning rate; it falls linearly to 0.")  # fmt: skip
@option("Training", "--batch-size", metavar="N", type=click.IntRange(1), default=8,
        show_default=True, help="Pairs per step.")  # fmt: skip
@seed_option("Training", "Seed for order and dropout.", default=0)
@option("Training", "--device", default="auto", show_default=True,
        help="auto, cpu, cuda or cuda:1.")  # fmt: skip
@option("Training", "--precision", type=click.Choice(PRECISIONS),
        default="auto", show_default=True,
        help="auto computes in bfloat16 on CUDA; weights are float32.")  # fmt: skip
@option("Training", "--checkpoint-every", metavar="N", type=click.IntRange(1), default=2000,
        show_default=True, help="Steps between resumable states.")  # fmt: skip
@quiet_option
def train_simplifier(
    *, sources: Path, base: Path, output: Path, device: str, quiet: bool, **settings: Any
) -> None:
    """Fine-tune the model that simplify uses, on human rewritings.

    Each sentence of SOURCES is paired with each of its rewritings.
    """
    from prevalence.simplify.asset import read_asset
    from prevalence.simplify.training import STATE, SimplifierSettings
    from prevalence.simplify.training import train_simplifier as run

    chosen = SimplifierSettings(**settings)
    corpus = read_asset(sources)
    try:
        folder = run(
            corpus, base=base, output=output, settings=chosen, device=device,
            progress=None if quiet else _print,
        )  # fmt: skip
    except KeyboardInterrupt:
        kept = (
            "the same command continues from the last state"
            if (output / STATE).is_file()
            else ("there is no state yet (--checkpoint-every)")
        )
        raise KeyboardInterrupt(f"interrupted: {kept}") from None
    click.echo(f"checkpoint: {folder}")


def _print(event: TrainingProgress) -> None:
    click.echo(f"step {event.step:,}/{event.steps:,}  loss {event.loss:.4f}", err=True)
