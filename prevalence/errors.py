"""Every exception that prevalence raises on purpose: one base class, few children."""

import sys
import warnings
from pathlib import Path

__all__ = [
    "BackendError",
    "ConfigurationError",
    "InputError",
    "MissingDependencyError",
    "ModelError",
    "PrevalenceError",
    "first_line",
    "foreign_output",
    "warn_caller",
]


class PrevalenceError(Exception):
    """Base of all errors raised by this package; its message says what to do."""


class InputError(PrevalenceError, ValueError):
    """A file, line or field of the input is not what the contract asks for."""


class ModelError(PrevalenceError):
    """A checkpoint cannot be loaded, is ambiguous, or gives unusable numbers."""


class ConfigurationError(PrevalenceError, ValueError):
    """Options contradict each other or lie outside their range."""


class MissingDependencyError(PrevalenceError, ImportError):
    """An optional package is needed; the message holds the install command."""


class BackendError(PrevalenceError, RuntimeError):
    """A device, a store or a service failed while work was under way."""


def foreign_output(
    path: Path, found: str, *, option: str = "--output", advice: str = ""
) -> InputError:
    """The error of a run that was to continue an output which is not its own.

    Args:
        path: the output.
        found: what it holds.
        option: names the output.
        advice: what the message adds.
    """
    ways = f"choose another {option}, or --overwrite"
    return InputError("; ".join(filter(None, (f"{path}: holds {found}", ways, advice))))


def warn_caller(message: str) -> None:
    """Give a RuntimeWarning at the line outside this package that called it."""
    frame, level = sys._getframe(1), 2
    package = __name__.partition(".")[0]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, RuntimeWarning, stacklevel=level)


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its type when it has none."""
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__
