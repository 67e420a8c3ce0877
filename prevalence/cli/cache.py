"""`prevalence cache`: what the pair cache holds, and how to empty it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from prevalence.nli.cache import PairCache

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
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the cache [default: $PREVALENCE_CACHE, or the user's cache folder].",
)
@click.pass_context
def cache(ctx: click.Context, folder: Path | None) -> None:
    """Show or clear the store of pair probabilities."""
    from prevalence.nli.cache import default_folder

    ctx.obj = folder or default_folder()


@cache.command()
@click.pass_obj
def info(folder: Path) -> None:
    """Say where the cache is, and how many pairs it holds."""
    store = _existing(folder)
    if store is None:
        return
    found = store.info()
    click.echo(f"path    {found.path}")
    click.echo(f"pairs   {found.pairs:,}")
    click.echo(f"size    {found.bytes / 2**20:.1f} MiB of at most {found.max_bytes / 2**20:,.0f}")


@cache.command()
@click.pass_obj
def clear(folder: Path) -> None:
    """Drop every stored pair."""
    from prevalence.errors import BackendError

    store = _existing(folder)
    if store is None:
        return
    before = store.info().pairs
    store.clear()
    left = store.info().pairs
    if left:
        raise BackendError(f"cache {store.path}: {left:,} pairs are still there; is it in use?")
    click.echo(f"cleared {before:,} pairs")


def _existing(folder: Path) -> PairCache | None:
    """The cache in a folder; to ask about one must not create it."""
    from prevalence.nli.cache import FILE_NAME, PairCache

    path = folder.expanduser() / FILE_NAME
    if path.exists():
        return PairCache(folder)
    click.echo(f"no cache yet at {path}")
    return None
