"""Errors and interrupts → one line and an exit status."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from prevalence.errors import PrevalenceError

__all__ = ["EXIT_NOTHING", "EXIT_SOME_FAILED", "reported"]

EXIT_SOME_FAILED = 1
EXIT_NOTHING = 2
_EXIT_INTERRUPTED = 130


@contextmanager
def reported(*, debug: bool) -> Iterator[None]:
    """Turn this package's errors into one line on stderr, unless ``debug``."""
    show = warnings.showwarning
    try:
        if not debug:
            warnings.showwarning = _show_warning
        yield
    except PrevalenceError as error:
        if debug:
            raise
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_NOTHING)
    except BrokenPipeError:
        # The reader of our output has gone (head, less); nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_SOME_FAILED)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted: what was finished is kept; the same command goes on", err=True)
        sys.exit(_EXIT_INTERRUPTED)
    finally:
        warnings.showwarning = show


def _show_warning(message, category, filename, lineno, file=None, line=None):  # type: ignore[no-untyped-def]
    del filename, lineno, file, line
    if issubclass(category, (RuntimeWarning, UserWarning)) and category is not UserWarning:
        click.echo(f"warning: {message}", err=True)
