"""`prevalence cache`: what the pair cache holds, and how to empty it."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["cache"]

_EPILOG = """\b
Examples:
  prevalence cache info
  prevalence cache clear
"""


@click.group(epilog=_EPILOG)
@click.option(
    "--cache",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the cache [default: the user's cache folder].",
)
@click.pass_context
def cache(ctx: click.Context, folder: Path | None) -> None:
    """Show or clear the store of pair probabilities."""
    from prevalence.nli.cache import PairCache, default_folder

    ctx.obj = PairCache(folder or default_folder())


@cache.command()
@click.pass_obj
def info(store) -> None:  # type: ignore[no-untyped-def]
    """Say where the cache is, and how many pairs it holds."""
    found = store.info()
    click.echo(f"path    {found.path}")
    click.echo(f"pairs   {found.pairs:,}")
    click.echo(f"size    {found.bytes / 2**20:.1f} MiB of at most {found.max_bytes / 2**20:,.0f}")


@cache.command()
@click.pass_obj
def clear(store) -> None:  # type: ignore[no-untyped-def]
    """Drop every stored pair."""
    pairs = store.info().pairs
    store.clear()
    click.echo(f"cleared {pairs:,} pairs")
