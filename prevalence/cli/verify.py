"""`prevalence verify`: do rows of an earlier run come out again?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.errors import EXIT_SOME_FAILED, note
from prevalence.cli.options import (
    ROWS_PATH,
    GroupedCommand,
    field_options,
    input_options,
    option,
    quiet_option,
    refuse_two_streams,
    scorer_settings,
    seed_option,
)
from prevalence.errors import InputError
from prevalence.report.text import one_line
from prevalence.runs.selection import Selection
from prevalence.scorers.registry import ScorerOptions
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from prevalence.scored import ScoredSummary

__all__ = ["verify"]

_SHOWN = 20

_EPILOG = """\b
Examples:
  prevalence verify scores.jsonl examples/summaries.jsonl
  prevalence verify scores.jsonl examples/summaries.jsonl --sample 10 --seed 7

\b
ROWS is what `prevalence score --output ROWS.jsonl` wrote, or the Parquet of
--engine ray; INPUT is what it read, since rows hold no reviews. The settings,
threshold included, come from the rows' signatures.
Exit status: 0 all equal, 1 a row differs or its input has changed, 2 usage,
another model, or no row to compare.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("rows", metavar="ROWS", type=ROWS_PATH)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@input_options("input_format", "reviews", "product_names")
@option(
    "Input", "--sample", metavar="N", type=click.IntRange(1), default=100, show_default=True,
    help="Number of rows to score again, drawn from those with a score.",
)  # fmt: skip
@seed_option("Input", "Seed of the sample.")
@option(
    "Scoring", "--trivial-template", metavar="TEXT",
    help="The product statement, if the rows were scored with one of your own.",
)  # fmt: skip
@field_options(
    ScorerOptions,
    but=("threshold", "check_cuts", "cache"),
    helps={"model": "The model of the rows, if `prevalence models` does not list it [default: as "
                    "the rows' signatures name it]."},
)  # fmt: skip
@quiet_option
def verify(
    *, rows: Path, inputs: tuple[str, ...], sample: int, seed: int, quiet: bool, **told: Any
) -> None:
    """Score a sample of rows again, and fail if anything differs.

    Decisions must be the same, and probabilities within 1e-5. The model runs again: the pair cache
    is not read.
    """
    from prevalence.scorers.registry import open_scorer
    from prevalence.scoring import verification

    refuse_two_streams([rows, *inputs, told["reviews"], told["product_names"]])
    drawn, skipped = verification.sampled(_read(rows), sample, seed=seed)
    if not drawn:
        raise InputError(f"{rows}: holds no row with a score")
    _check_template(told["trivial_template"], drawn)
    settings = scorer_settings(told | {"cache": None, "no_cache": True})
    if settings["model"] is None and settings["calibration"] is None:
        settings["model"] = _model_of(drawn[0])
    selection = Selection(
        inputs,
        source_format=told["input_format"],
        reviews=told["reviews"],
        names=told["product_names"],
    )
    found = verification.verify(
        drawn, selection.items(), open_scorer(**settings), trivial=told["trivial_template"]
    )
    differing = changed = 0
    for row, problem, again in found:
        if problem:
            differing += again
            changed += not again
            if differing + changed <= _SHOWN:
                click.echo(one_line(f"{row.id} by {row.system}: {problem}"))
    if differing + changed > _SHOWN:
        note(f"and {counted(differing + changed - _SHOWN, 'more row')} like these")
    if not quiet:
        note(_outcome(len(drawn) - changed, differing, changed, skipped))
    if differing or changed:
        sys.exit(EXIT_SOME_FAILED)


def _check_template(text: str | None, rows: Sequence[ScoredSummary]) -> None:
    """Refuse a product statement beside rows that name another one."""
    from prevalence.signature import NO_STATEMENT, UNNAMED, signature_parts

    parts = [signature_parts(row.signature) for row in rows]
    named = {part["trivial"] for part in parts if "trivial" in part} - {NO_STATEMENT, UNNAMED}
    own = any(name.startswith("custom-") for name in named)
    if text is not None and named and not own:
        raise click.UsageError(
            f"--trivial-template has no effect here: the rows were scored with {min(named)}"
        )


def _outcome(again: int, differing: int, changed: int, skipped: int) -> str:
    """What became of the rows, in one line."""
    parts = [f"{counted(again, 'row')} scored again, {differing:,} differ"]
    if changed:
        parts.append(f"the input of {counted(changed, 'row')} has changed")
    if skipped:
        without = counted(skipped, "row without a score was", "rows without a score were")
        parts.append(f"{without} skipped")
    return "; ".join(parts)


def _read(path: Path) -> Iterator[ScoredSummary]:
    from prevalence.scored import ScoredSummary

    for where, row in _placed(path):
        if not isinstance(row, dict):
            raise InputError(f"{where}: is not a row of `prevalence score`")
        try:
            yield ScoredSummary.from_json(row)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None


def _placed(path: Path) -> Iterator[tuple[str, Any]]:
    """Where each row stands, and the row."""
    from prevalence.readers.jsonfiles import json_lines
    from prevalence.report.rows import is_parquet

    if not is_parquet(path):
        yield from ((position.source, row) for position, row in json_lines(path))
        return
    from prevalence.distributed import part_rows

    yield from part_rows(path)


def _model_of(row: ScoredSummary) -> str:
    """The model that a row names, where a name is enough to open it."""
    from prevalence.models.registry import REGISTRY
    from prevalence.scorers.registry import FAMILIES
    from prevalence.signature import signature_parts

    parts = signature_parts(row.signature)
    named = parts.get("consistency", parts.get("nli", "")).partition("@")[0]
    if named in REGISTRY or named in FAMILIES:
        return named
    raise InputError(f"the rows were made with {named or 'a model that they do not name'}: give "
                     "it with --model")  # fmt: skip
