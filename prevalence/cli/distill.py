"""`prevalence distill`: soft labels of a teacher, for training a smaller model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from prevalence.cli.errors import note
from prevalence.cli.options import (
    GroupedCommand,
    field_options,
    option,
    output_option,
    quiet_option,
    scorer_settings,
    seed_option,
    several_names,
)
from prevalence.cli.outputs import check_output, keeping_pairs
from prevalence.scorers.registry import ScorerOptions
from prevalence.wording import counted

__all__ = ["distill"]

_EPILOG = """\b
Examples:
  prevalence distill reviews.jsonl --model my-teacher --output taught.jsonl
  prevalence distill products.jsonl --summaries system-a,system-b --output taught.jsonl

\b
INPUT is JSON Lines in any layout that holds the texts of labelled pairs, or
unlabelled products with reviews. OUTPUT is a source for `prevalence train`. A
recipe can also name its teacher itself ([teacher]); training then does the same.
Exit status: 0 done, 2 usage or nothing could run, 130 after Ctrl-C.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument(
    "inputs", metavar="INPUT...", nargs=-1, required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)  # fmt: skip
@output_option("Write the reviews with soft labels here, all at once at the end.", required=True)
@option("Output", "--overwrite", is_flag=True, help="Replace OUTPUT if it exists.")
@option(
    "Pairs",
    "--siblings",
    metavar="N",
    type=click.IntRange(0),
    default=7,
    show_default=True,
    help="Sentences per review, from other reviews of the product.",
)
@option(
    "Pairs",
    "--foreign",
    metavar="N",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Statements per review, about other products of the domain.",
)
@option(
    "Pairs",
    "--own",
    metavar="N",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Sentences per review, from the review itself.",
)
@option(
    "Pairs",
    "--summaries",
    multiple=True,
    callback=several_names,
    metavar="NAMES",
    help="Also score the summary sentences of these systems (repeat it, or use commas).",
)
@seed_option("Pairs", "Seed for drawing sentences.")
@option(
    "Pairs",
    "--keep",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Weight of a given label in its target; the teacher's probability has the rest.",
)
@field_options(ScorerOptions, but=("threshold", "check_cuts"))
@quiet_option
def distill(
    *,
    inputs: tuple[Path, ...],
    output: Path,
    overwrite: bool,
    keep: float,
    summaries: tuple[str, ...],
    seed: int,
    siblings: int,
    foreign: int,
    own: int,
    quiet: bool,
    **parameters: Any,
) -> None:
    """Make soft labels for training: a teacher model scores statements against reviews.

    The teacher scores each review against its own labelled statements and against sentences drawn
    from other reviews. After Ctrl-C, the same command continues from what the cache holds.
    """
    from prevalence.cli.progress import pair_bar
    from prevalence.labelled import check_summaries, read_documents
    from prevalence.scorers.registry import open_scorer
    from prevalence.training.distillation import ask_about, teach, without_others, write_documents

    check_output(output)
    if output.exists() and not overwrite:
        raise click.UsageError(f"{output} exists; choose another file or give --overwrite")
    check_summaries(inputs, summaries)
    documents = [d for path in inputs for d in read_documents(path, summaries=summaries)]
    asked = ask_about(documents, siblings=siblings, foreign=foreign, own=own, seed=seed)
    pairs = sum(len(document.hypotheses) + len(document.unlabelled) for document in asked)
    if not pairs:
        raise click.UsageError(
            "there is no pair to ask about; raise --siblings, --foreign or --own, or name "
            "--summaries"
        )
    alone, reviews = without_others(documents)
    if foreign and alone and not quiet:
        note(
            f"--foreign finds nothing for {alone:,} of {counted(reviews, 'review')}, whose domain "
            "has no other product (of key points, each topic is a domain); give several products "
            "one `domain`, or --foreign 0"
        )
    settings = scorer_settings(parameters)
    teacher = open_scorer(**settings)
    with keeping_pairs(cached=teacher.traits.cached), pair_bar(pairs, quiet=quiet) as judged:
        taught = teach(asked, [teacher], keep=keep, progress=judged)
    write_documents(output, taught)
    kept = sum(len(document.hypotheses) for document in taught)
    click.echo(f"{counted(len(taught), 'review')}, {counted(kept, 'pair')}: {output}")
