"""`prevalence conv`: learn the head of SummaC-Conv, or convert authors' files."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.help import HelpGroup
from prevalence.cli.options import (
    FILE_PATH,
    FOLDER_PATH,
    SCORER,
    GroupedCommand,
    option,
    output_option,
    quiet_option,
    run_options,
    scorer_settings,
    seed_option,
    together,
)
from prevalence.cli.outputs import check_output, keeping_pairs

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["conv"]

_EPILOG = """\b
Examples:
  prevalence conv train examples/judgments.jsonl --output head.safetensors --steps 50
  prevalence conv train --help
"""

_TRAIN_EPILOG = """\b
Examples:
  prevalence conv train examples/judgments.jsonl --output head.safetensors --bins even10
  prevalence score examples/summaries.jsonl --model summac-conv:head.safetensors
"""

_CONVERT_EPILOG = """\b
Examples:
  prevalence conv convert summac_conv.bin --output head.safetensors
  prevalence score examples/summaries.jsonl --model summac-conv:head.safetensors
"""

_ALIGNSCORE_EPILOG = """\b
Examples:
  hf download yzha/AlignScore AlignScore-base.ckpt --local-dir .
  hf download FacebookAI/roberta-base --local-dir roberta-base
  prevalence conv alignscore AlignScore-base.ckpt --base roberta-base --output alignscore
  prevalence score examples/summaries.jsonl --model alignscore:alignscore
"""


@click.group(cls=HelpGroup, epilog=_EPILOG)
def conv() -> None:
    """Train or convert a SummaC-Conv head, or convert AlignScore."""


_head_settings = together(
    option("Head", "--bins", default="percentile", show_default=True, metavar="NAME",
           help="percentile, or evenN, such as even50."),
    option("Head", "--classes", default="e", show_default=True, metavar="LETTERS",
           help="Classes to read: e(ntailment), c(ontradiction), n(eutral)."),
    option("Head", "--granularity", default="sentence", show_default=True, metavar="NAME",
           help="document, paragraph, sentence, 2sents, mixed, or two of them with a hyphen."),
    option("Head", "--aggregate", default="mean", show_default=True, metavar="NAME",
           help="How to combine the units of the hypothesis: mean, min, max or all."),
)  # fmt: skip


_source = click.argument("file", metavar="FILE", type=FILE_PATH)
_output = output_option("Write the head here (.safetensors).", required=True)


@conv.command(cls=GroupedCommand, epilog=_TRAIN_EPILOG)
@click.argument("pairs", metavar="PAIRS", type=FILE_PATH)
@option(
    "Input",
    "--products",
    metavar="FILE",
    type=FILE_PATH,
    help="Reviews and summaries that PAIRS speaks of, as for `prevalence calibrate`.",
)
@option(
    "Head",
    "--model",
    "models",
    multiple=True,
    type=SCORER,
    metavar="MODEL",
    help="NLI model that the head reads; repeat it for several [default: embedded].",
)
@_head_settings
@option(
    "Training",
    "--steps",
    type=click.IntRange(1),
    default=500,
    show_default=True,
    metavar="N",
    help="Optimizer steps.",
)
@option(
    "Training",
    "--learning-rate",
    type=click.FloatRange(0, min_open=True),
    default=0.02,
    show_default=True,
    metavar="R",
    help="Learning rate of the optimizer.",
)
@option(
    "Training",
    "--decay",
    type=click.FloatRange(0),
    default=1e-3,
    show_default=True,
    metavar="D",
    help="Penalty on the weights of the bins.",
)
@seed_option("Training", "Seed of the initial weights.")
@run_options
@_output
@quiet_option
def train(*, quiet: bool, **parameters: Any) -> None:
    """Train a head on labelled pairs; the NLI models stay unchanged.

    PAIRS has any layout that `prevalence calibrate` reads.
    """
    from prevalence.calibration import label_caution
    from prevalence.cli.errors import note
    from prevalence.cli.progress import pair_bar
    from prevalence.labelled import JudgedPairs, read_documents
    from prevalence.scorers.conv import ConvSettings, write_head
    from prevalence.scorers.conv_training import ConvTraining, train_conv
    from prevalence.scorers.registry import ScorerOptions, open_unit_model

    output = _checked_output(parameters.pop("output"))
    settings = ConvSettings(**_taken(parameters, ConvSettings))
    training = ConvTraining(**_taken(parameters, ConvTraining))
    pairs, products = parameters.pop("pairs"), parameters.pop("products")
    documents = read_documents(pairs, products=products, refuse_unused=True)
    judged = JudgedPairs.of(documents)
    models = parameters.pop("models") or ("embedded",)
    options = ScorerOptions(**scorer_settings(parameters))
    inners = [open_unit_model(model, options) for model in models]
    kept = any(inner.traits.cached for inner in inners)
    with keeping_pairs(cached=kept), pair_bar(len(judged), quiet=quiet) as done:
        head = train_conv(
            inners, judged.premises, judged.hypotheses, judged.labels, settings=settings,
            training=training, progress=done,
        )  # fmt: skip
    write_head(head, output)
    if (caution := label_caution(documents)) and not quiet:
        note(f"{pairs}: {caution}")
    click.echo(f"{output}: trained on {len(judged):,} pairs; --model "
               f"summac-conv:{output}{_named(models)}")  # fmt: skip


@conv.command(cls=GroupedCommand, epilog=_CONVERT_EPILOG)
@_source
@_head_settings
@_output
def convert(**parameters: Any) -> None:
    """Convert the authors' .bin file to safetensors.

    FILE is read as weights only: no code in it can run. It does not record its settings, so give
    them here.
    """
    from prevalence.scorers.conv import ConvSettings, read_head, write_head

    output = _checked_output(parameters.pop("output"))
    head = read_head(parameters.pop("file"), settings=_taken(parameters, ConvSettings))
    write_head(head, output)
    click.echo(f"{output}: {head.weight.size} weights for {head.models} model(s)")


@conv.command(cls=GroupedCommand, epilog=_ALIGNSCORE_EPILOG)
@_source
@option("Checkpoint", "--base", required=True, metavar="FOLDER", type=FOLDER_PATH,
        help="The RoBERTa checkpoint it was trained from, for config and tokenizer.")  # fmt: skip
@option("Output", "--output", "-o", required=True, metavar="FOLDER", type=FOLDER_PATH,
        help="Write the checkpoint folder here.")  # fmt: skip
def alignscore(*, file: Path, base: Path, output: Path) -> None:
    """Convert AlignScore's .ckpt file to a checkpoint folder.

    FILE is a pickle, of which only the weights are read: no code in it can run.
    """
    from prevalence.scorers.alignscore import convert_alignscore

    count = convert_alignscore(file, base, output)
    click.echo(f"{output}: {count:,} numbers; --model alignscore:{output}")


def _taken(parameters: dict[str, Any], kind: Any) -> dict[str, Any]:
    """The fields of a dataclass, taken out of the command's parameters."""
    names = (field.name for field in dataclasses.fields(kind))
    return {name: parameters.pop(name) for name in names if name in parameters}


def _checked_output(output: Path) -> Path:
    if output.suffix != ".safetensors" or not output.absolute().parent.is_dir():
        raise click.UsageError(
            f"--output: {output} must end in .safetensors and be in an existing folder"
        )
    check_output(output)
    return output


def _named(models: tuple[str, ...]) -> str:
    return "" if models == ("embedded",) else f",model={'+'.join(models)}"
