"""`prevalence models`: the registry."""

from __future__ import annotations

import json

import click

__all__ = ["models"]

_EPILOG = """\b
Examples:
  prevalence models
  prevalence models --json
"""


@click.command(epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(as_json: bool) -> None:
    """List the models that are known by name.

    Any other sequence-classification checkpoint works too: give its folder or hub name to
    --model.
    """
    from dataclasses import asdict

    from rich.table import Table

    from prevalence.nli.registry import REGISTRY
    from prevalence.report.console import make_console

    if as_json:
        click.echo(json.dumps([asdict(entry) for entry in REGISTRY.values()], indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("name", "threshold", "tokens", "licence", "about"):
        table.add_column(header, overflow="fold")
    for entry in REGISTRY.values():
        threshold = entry.stated_threshold()
        table.add_row(
            entry.name,
            "–" if threshold is None else f"{threshold:.4g}",
            str(entry.max_length),
            entry.licence,
            entry.about,
        )
    make_console().print(table)
