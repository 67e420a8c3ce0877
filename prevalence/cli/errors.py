"""Errors and interrupts → one line and an exit status."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click

from prevalence.errors import PrevalenceError
from prevalence.report.text import one_line
from prevalence.runs.running import Incomplete

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["EXIT_NOTHING", "EXIT_SOME_FAILED", "note", "open_streams", "reported", "tell_failures"]

EXIT_SOME_FAILED = 1
EXIT_NOTHING = 2
_EXIT_INTERRUPTED = 130
_EXIT_TERMINATED = 143
_EXIT_BROKEN_PIPE = 141
_SOON = 0.01
"""Seconds until an interrupt that was dropped comes again."""
# Old versions of click show the help of a command without arguments by an Exit.
_PASSED_ON = (
    click.exceptions.Exit,
    getattr(click.exceptions, "NoArgsIsHelpError", click.exceptions.Exit),
)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Terminated(KeyboardInterrupt):
    """The process was asked to end, and tidies up as after Ctrl-C."""


def open_streams() -> None:
    """Let no file that is opened later take the place of a standard stream that is closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the whole run
    if sys.stdout is None:
        note("error: standard output is closed; send it to a file, or to /dev/null")
        sys.exit(EXIT_NOTHING)


def _terminate(*_: object) -> None:
    raise _Terminated


def note(text: str) -> None:
    """Write one line to stderr, in which nothing can drive the terminal."""
    click.echo(one_line(text), err=True)


def tell_failures(failed: object, *, there: object) -> None:
    """Leave with the exit status of a run of which something failed.

    Args:
        failed: whether anything did.
        there: whether anything is left that did not.
    """
    if failed:
        sys.exit(EXIT_SOME_FAILED if there else EXIT_NOTHING)


@contextmanager
def reported(debug: Callable[[], bool]) -> Iterator[None]:
    """Turn every way to fail into one line on stderr and an exit status.

    Args:
        debug: whether a traceback is wanted too; asked when something has failed, because options
            are parsed inside the block.
    """
    with _tidy_end(), warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_quietly()
        except _PASSED_ON:
            raise
        except (KeyboardInterrupt, click.Abort) as error:
            ended = isinstance(error, _Terminated) or isinstance(error.__context__, _Terminated)
            _fail(str(error) or "interrupted", _EXIT_TERMINATED if ended else _EXIT_INTERRUPTED)
        except Exception as error:
            if debug():
                traceback.print_exc()
            if isinstance(error, Incomplete):
                _fail(f"error: {_described(error.__cause__)}", EXIT_SOME_FAILED)
            _fail(f"error: {_described(error)}", EXIT_NOTHING)


@contextmanager
def _tidy_end() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, where nobody else has taken it; lose neither."""
    mine = threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if mine:
        signal.signal(signal.SIGTERM, _terminate)
    before = sys.unraisablehook
    sys.unraisablehook = partial(_interrupt_again, before)
    try:
        yield
    finally:
        sys.unraisablehook = before
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt_again(
    before: Callable[[sys.UnraisableHookArgs], object], lost: sys.UnraisableHookArgs
) -> None:
    """Send an interrupt once more that came where Python drops exceptions, as in a finalizer.

    Args:
        before: what takes every other exception that is dropped.
        lost: what was dropped.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        before(lost)
        return
    number = signal.SIGTERM if issubclass(lost.exc_type, _Terminated) else signal.SIGINT
    # Not from here: it would be dropped as well.
    threading.Timer(_SOON, signal.raise_signal, (number,)).start()


def _described(error: BaseException | None) -> str:
    if isinstance(error, PrevalenceError):
        return str(error)
    if isinstance(error, click.UsageError):
        where = f" (see {error.ctx.command_path} --help)" if error.ctx is not None else ""
        return error.format_message().rstrip(".") + where
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror:
        # Every other output is named by whoever writes it.
        place = error.filename or ("standard output" if error.errno in _FULL else None)
        return ": ".join(str(part) for part in (place, error.strerror) if part)
    if isinstance(error, MemoryError):
        size = f" ({error})" if str(error) else ""
        return f"memory ran out{size}; give smaller input, or a machine with more memory"
    return (
        f"unexpected {type(error).__name__}: {error}; this is a fault of prevalence itself, and "
        "--debug shows where"
    )


def _fail(line: str, status: int) -> NoReturn:
    with suppress(OSError):
        note(line)
    _drop_unwritten()
    sys.exit(status)


def _leave_quietly() -> NoReturn:
    """The reader of our output has gone (head, less): nothing is left to say to it."""
    _drop_unwritten()
    sys.exit(_EXIT_BROKEN_PIPE)


def _drop_unwritten() -> None:
    """Let the end of the process not fail again at what standard output did not take."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    """Our own warnings concern the user; those of other packages concern their callers."""
    if issubclass(category, RuntimeWarning):
        note(f"warning: {message}")
