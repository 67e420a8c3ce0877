"""`prevalence models`: the registry."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.help import ShortHelp
from prevalence.cli.outputs import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.models.registry import Checkpoint

__all__ = ["models"]

_EPILOG = """\b
Examples:
  prevalence models
  prevalence models base
  prevalence models --json
"""


def _print_errors(entry: Checkpoint) -> None:
    """How often a model is wrong, on held-out pairs and by phenomenon."""
    from prevalence.models.error_rates import error_rates_of
    from prevalence.report.console import make_console, make_table

    stated = entry.stated_errors()
    rates = error_rates_of(stated, name=entry.name)
    if rates is not None:
        hits, misses, rejections, alarms = (
            sum(counts) for counts in zip(*rates.products, strict=True)
        )
        click.echo(
            f"{entry.name} on {rates.source}: it finds {rates.sensitivity:.1%} of what a review "
            f"supports ({hits:,} of {hits + misses:,} pairs) and turns down "
            f"{rates.specificity:.1%} of what it does not ({rejections:,} of "
            f"{rejections + alarms:,})."
        )
    found = stated.get("phenomena", ())
    sets = list(dict.fromkeys(row["set"] for row in found))
    rows = [
        (
            row["set"],
            row["phenomenon"],
            str(row["pairs"]),
            _rate(row["sensitivity"]),
            _rate(row["specificity"]),
        )
        for row in sorted(found, key=lambda row: sets.index(row["set"]))
    ]
    if rows:
        headers = ("set", "phenomenon", "pairs", "supported found", "unsupported turned down")
        make_console().print(make_table(headers, rows, left=headers[:2]))
        click.echo()


def _rate(value: float | None) -> str:
    if value is None:
        return "–"
    # The files hold decimals of a rate, whose last 5 a binary number may hold as a little less.
    return f"{(100 * Decimal(str(value))).quantize(Decimal('0.1'), ROUND_HALF_UP)}%"


@click.command(cls=ShortHelp, epilog=_EPILOG)
@click.argument("model", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(model: str | None, as_json: bool) -> None:
    """List the models that are known by name.

    With MODEL, a name or a checkpoint folder, show that one alone: its threshold, its limits and
    its error rates.

    Any other sequence-classification checkpoint works too: give its folder or hub name to
    --model. Below the models are the other scorers that --model takes.
    """
    from prevalence.models.registry import REGISTRY, described
    from prevalence.scorers.registry import FAMILIES

    entries = list(REGISTRY.values()) if model is None else [described(model)]
    if as_json:
        print_json([_stated(entry) for entry in entries])
        return
    _print_table(entries)
    for entry in entries:
        _print_errors(entry)
    if model is not None:
        if "products" not in entries[0].stated_errors():
            click.echo(
                "No error rates on held-out pairs are stated: prevalence train states them where "
                "its recipe has [cross_validation]."
            )
        return
    click.echo("docs/errors.md explains the sets of these tables.\n")
    for usage, about in dict.fromkeys((family.usage, family.about) for family in FAMILIES.values()):
        click.echo(f"{usage}\n    {about}")


def _stated(entry: Checkpoint) -> dict[str, Any]:
    from dataclasses import asdict

    longest, hypothesis = entry.stated_limits()
    return asdict(entry) | {
        "threshold": entry.stated_threshold(),
        "max_length": longest or None,
        "max_hypothesis": hypothesis,
        "errors": entry.stated_errors() or None,
    }


def _print_table(entries: Sequence[Checkpoint]) -> None:
    from prevalence.report.console import make_console, make_table

    headers = ("name", "threshold", "tokens", "licence", "about")
    table = make_table(headers, left=headers, whole=headers[:3])
    for entry in entries:
        threshold = entry.stated_threshold()
        longest, hypothesis = entry.stated_limits()
        tokens = f"{longest:,}" if hypothesis is None else f"{longest:,}+{hypothesis:,}"
        table.add_row(
            entry.name,
            "–" if threshold is None else f"{threshold:.4g}",
            tokens if longest else "–",
            entry.licence,
            entry.about,
        )
    make_console().print(table)
    click.echo("\nA dash: no threshold calibrated for opinion prevalence; set --threshold.")
    click.echo("Tokens of a pair; with a plus, of a review and of a sentence.\n")
