"""Every baseline metric by name; families register by their catalogue."""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from prevalence.baselines import consistency
from prevalence.baselines.generative import catalogue as generative
from prevalence.baselines.lexical import catalogue as lexical
from prevalence.baselines.naming import FLAG, Spec, option_names, parse_spec
from prevalence.baselines.neural import catalogue as neural
from prevalence.baselines.protocol import Entry, Metric, Runtime
from prevalence.errors import ConfigurationError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["REGISTRY", "get", "lookup", "missing", "names"]

REGISTRY: dict[str, Entry] = {
    entry.name: entry
    # One line a family: a catalogue is data, and imports nothing heavy.
    for entries in (lexical.ENTRIES, neural.ENTRIES, generative.ENTRIES, consistency.ENTRIES)
    for entry in entries
}
"""Entries by name, in the order in which they are listed."""


def names() -> tuple[str, ...]:
    """Every metric's name, without options."""
    return tuple(REGISTRY)


def lookup(spec: Spec) -> Entry:
    """The entry of a spec: that of its variant, where a flag names one.

    Raises:
        ConfigurationError: there is none, or two flags name one each.
    """
    flags = [key for key, value in spec.options.items() if value == FLAG]
    variants = [name for flag in flags if (name := f"{spec.name}:{flag}") in REGISTRY]
    if len(variants) > 1:
        raise ConfigurationError(f"{' and '.join(variants)} exclude each other")
    name = variants[0] if variants else spec.name
    if name not in REGISTRY:
        near = difflib.get_close_matches(name, REGISTRY, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`prevalence baselines --list`"
        raise ConfigurationError(f"no baseline metric is called {name!r}; {hint}")
    return REGISTRY[name]


def missing(entry: Entry) -> str | None:
    """What the entry needs and this environment lacks, in words, or None."""
    packages = [package for package in entry.packages if find_spec(package) is None]
    if packages:
        return f"{', '.join(packages)}: pip install 'prevalence[{entry.extra}]'"
    found: str | None = None if entry.check is None else _function(entry.check)()
    return found


def get(metric: str, *, runtime: Runtime | None = None, **options: str) -> Metric:
    """Open a metric.

    Args:
        metric: a name from :func:`names`, with options in the grammar of
            :mod:`prevalence.baselines.naming` if wanted.
        runtime: device and precision of its model.
        options: more options, for values that are awkward in the grammar; ``nostem=""`` is a flag.

    Raises:
        ConfigurationError: no such metric, or no such option of it.
        MissingDependencyError: something is not installed; the message says how to get it.
        ModelError: its weights cannot be loaded.
    """
    parsed = parse_spec(metric)
    spec = Spec(parsed.name, {**parsed.options, **options})
    entry = lookup(spec)
    _check_options(entry, spec)
    lacking = missing(entry)
    if lacking is not None:
        raise MissingDependencyError(f"{entry.name} needs {lacking}")
    opened: Metric = _function(entry.factory)(entry, spec, runtime or Runtime())
    return opened


def _function(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _check_options(entry: Entry, spec: Spec) -> None:
    known = option_names(entry.options) | dict.fromkeys(entry.name.split(":")[1:], False)
    for key, value in spec.options.items():
        if key not in known:
            listed = ", ".join(entry.options) or "none"
            raise ConfigurationError(f"{entry.name} has no option {key!r}; it has: {listed}")
        if known[key] == (value == FLAG):
            right = f"{key}=VALUE" if known[key] else key
            raise ConfigurationError(f"{entry.name}: write the option {key} as {right}")
