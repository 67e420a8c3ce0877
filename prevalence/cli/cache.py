"""`prevalence cache`: what the pair cache holds, and how to empty it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prevalence.cli.help import HelpGroup, ShortHelp
from prevalence.cli.options import option

if TYPE_CHECKING:
    from prevalence.nli.cache import PairCache

__all__ = ["cache"]

_EPILOG = """\b
Examples:
  prevalence cache info
  prevalence cache clear
"""


@click.group(cls=HelpGroup, epilog=_EPILOG)
@option(
    "Cache",
    "--cache",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the cache [default: $PREVALENCE_CACHE, or the user's cache folder].",
)
@click.pass_context
def cache(ctx: click.Context, folder: Path | None) -> None:
    """Show or clear the store of pair probabilities and metric values."""
    from prevalence.nli.cache import default_folder

    ctx.obj = folder or default_folder()


@cache.command(cls=ShortHelp, epilog="\b\nExample:\n  prevalence cache info")
@click.pass_obj
def info(folder: Path) -> None:
    """Show where the cache is, and how many values it holds."""
    for what, store in _existing(folder):
        found = store.info()
        click.echo(f"path    {found.path}")
        click.echo(f"{what:<7} {found.pairs:,}")
        click.echo(
            f"size    {found.bytes / 2**20:.1f} MiB of at most {found.max_bytes / 2**20:,.0f}"
        )


@cache.command(cls=ShortHelp, epilog="\b\nExample:\n  prevalence cache clear")
@click.pass_obj
def clear(folder: Path) -> None:
    """Delete all stored pairs and metric values, and retest models."""
    from prevalence.errors import BackendError
    from prevalence.nli.self_test import forget_tests

    forget_tests(folder)
    for what, store in _existing(folder):
        before = store.info().pairs
        store.clear()
        left = store.info().pairs
        if left:
            raise BackendError(
                f"cache {store.path}: {left:,} {what} are still there; end the "
                "runs that use the cache"
            )
        click.echo(f"cleared {before:,} {what}")


def _existing(folder: Path) -> list[tuple[str, PairCache]]:
    """The caches in a folder, with what they hold; to ask about one must not create it."""
    from prevalence.baselines.cache import ValueCache
    from prevalence.nli.cache import PairCache

    kinds: tuple[tuple[str, type[PairCache]], ...] = (("pairs", PairCache), ("values", ValueCache))
    there = [
        (what, kind(folder))
        for what, kind in kinds
        if os.path.exists(folder.expanduser() / kind.file_name)
    ]
    if not there:
        click.echo(f"no cache yet at {folder.expanduser() / PairCache.file_name}")
    return there
