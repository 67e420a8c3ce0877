"""Every baseline metric by name; families register by their catalogue."""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.util import find_spec

from prevalence.baselines.lexical import catalogue as lexical
from prevalence.baselines.naming import FLAG, Spec, option_names, parse_spec
from prevalence.baselines.protocol import Entry, Metric, Runtime
from prevalence.errors import ConfigurationError, MissingDependencyError

__all__ = ["REGISTRY", "get", "lookup", "missing_packages", "names"]

REGISTRY: dict[str, Entry] = {
    entry.name: entry
    # One line a family: a catalogue is data, and imports nothing heavy.
    for entries in (lexical.ENTRIES,)
    for entry in entries
}
"""Entries by name, in the order in which they are listed."""


def names() -> tuple[str, ...]:
    """Every metric's name, without options."""
    return tuple(REGISTRY)


def lookup(name: str) -> Entry:
    """The entry of a name without options.

    Raises:
        ConfigurationError: there is none.
    """
    if name not in REGISTRY:
        near = difflib.get_close_matches(name, REGISTRY, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`prevalence baselines --list`"
        raise ConfigurationError(f"no baseline metric is called {name!r}; {hint}")
    return REGISTRY[name]


def missing_packages(entry: Entry) -> tuple[str, ...]:
    """What the entry needs and this environment lacks."""
    return tuple(package for package in entry.packages if find_spec(package) is None)


def get(metric: str, *, runtime: Runtime | None = None, **options: str) -> Metric:
    """Open a metric.

    Args:
        metric: a name from :func:`names`, with options in the grammar of
            :mod:`prevalence.baselines.naming` if wanted.
        runtime: device and precision of its model.
        options: more options, for values that are awkward in the grammar; ``nostem=""`` is a flag.

    Raises:
        ConfigurationError: no such metric, or no such option of it.
        MissingDependencyError: a package is not installed; the message holds the command.
        ModelError: its weights cannot be loaded.
    """
    parsed = parse_spec(metric)
    spec = Spec(parsed.name, {**parsed.options, **options})
    entry = lookup(spec.name)
    _check_options(entry, spec)
    missing = missing_packages(entry)
    if missing:
        raise MissingDependencyError(
            f"{entry.name} needs {', '.join(missing)}: pip install 'prevalence[{entry.extra}]'"
        )
    module, _, function = entry.factory.partition(":")
    opened: Metric = getattr(import_module(module), function)(entry, spec, runtime or Runtime())
    return opened


def _check_options(entry: Entry, spec: Spec) -> None:
    known = option_names(entry.options)
    for key, value in spec.options.items():
        if key not in known:
            listed = ", ".join(entry.options) or "none"
            raise ConfigurationError(f"{entry.name} has no option {key!r}; it has: {listed}")
        if known[key] == (value == FLAG):
            right = f"{key}=VALUE" if known[key] else key
            raise ConfigurationError(f"{entry.name}: write the option {key} as {right}")
