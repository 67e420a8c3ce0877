"""`prevalence train`: fine-tune an entailment model on labelled pairs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from prevalence.cli.errors import note
from prevalence.cli.help import ShortHelp
from prevalence.cli.options import FILE_PATH, FOLDER_PATH, quiet_option
from prevalence.wording import counted

if TYPE_CHECKING:
    from prevalence.training.export import HeldOutResult
    from prevalence.training.loop import ProgressCallback, TrainingProgress

__all__ = ["train"]

_EPILOG = """\b
Example:
  prevalence train prevalence/training/recipes/embedded.toml --output my-model
"""


@click.command(cls=ShortHelp, epilog=_EPILOG)
@click.argument("recipe", type=FILE_PATH)
@click.option(
    "--output", "-o", required=True, type=FOLDER_PATH,
    help="Folder of the new checkpoint.",
)  # fmt: skip
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder to use for ${PREVALENCE_DATA} in the recipe [default: the environment "
         "variable of that name].",
)  # fmt: skip
@click.option(
    "--work", type=FOLDER_PATH,
    help="Folder of finished stages and resumable state [default: OUTPUT/.training]. Running "
         "again with the same folder continues where the last run stopped.",
)  # fmt: skip
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@quiet_option
def train(
    *, recipe: Path, output: Path, data: Path | None, work: Path | None, device: str, quiet: bool
) -> None:
    """Fine-tune an entailment model as RECIPE (a TOML file) describes.

    The checkpoint folder gets safetensors weights, tokenizer, config and a model card, and a
    calibrated threshold if the recipe has [validation] or [cross_validation]. Ctrl-C keeps the
    last checkpoint; the same command resumes from it.
    """
    from prevalence.training.pipeline import train as run
    from prevalence.training.recipe import read_recipe

    settings = read_recipe(recipe)
    where = work or output / ".training"
    try:
        result = run(
            settings, output, data=data, work=where, device=device,
            progress=None if quiet else _printer(),
        )  # fmt: skip
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: the same command resumes from {where}") from None
    click.echo(f"checkpoint: {result.folder}")
    if result.selection is None:
        click.echo(f"threshold:  {result.threshold:g}, not calibrated (prevalence calibrate)")
        return
    for line in _figures(result.selection):
        click.echo(line)
    for line in () if quiet else result.selection.cautions:
        note(line)


def _figures(selection: "HeldOutResult") -> list[str]:
    """The threshold, and figures with the word that fits the pairs they are of."""
    threshold = f"threshold:  {selection.threshold:.4f}"
    pairs = counted(selection.pairs, "pair")
    if not selection.folds:
        return [
            threshold,
            f"validation: AUC {selection.auc:.4f} on {pairs}, which early stopping used; at the "
            f"threshold, which was chosen on them, {selection.rates()}",
        ]
    return [
        threshold,
        f"held out:   AUC {selection.auc:.4f}, balanced accuracy "
        f"{selection.balanced_accuracy:.4f} on {pairs}, each at the threshold of the other folds",
        f"chosen:     {selection.rates()}, at the threshold chosen on these pairs",
    ]


def _printer() -> "ProgressCallback":
    """Print one line a report; whole lines survive logs, which a moving bar does not."""

    def show(event: "TrainingProgress") -> None:
        if event.loss is None:
            note(f"{event.run}: {event.step:,} of {event.steps:,} pairs")
            return
        metric = "" if event.metric is None else f"  dev {event.metric:.4f}"
        note(
            f"{event.run}: step {event.step}/{event.steps}  loss {event.loss:.4f}  "
            f"{event.tokens_per_second:.0f} tokens/s{metric}"
        )

    return show
