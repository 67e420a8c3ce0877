"""Every baseline metric by name; families register by their catalogue."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from prevalence.baselines import consistency
from prevalence.baselines.generative import catalogue as generative
from prevalence.baselines.lexical import catalogue as lexical
from prevalence.baselines.neural import catalogue as neural
from prevalence.baselines.protocol import Entry, Metric, Runtime
from prevalence.baselines.questions import catalogue as questions
from prevalence.errors import ConfigurationError, MissingDependencyError, ModelError
from prevalence.models.registry import lookup as find_checkpoint
from prevalence.options import nearest
from prevalence.scorers.grammar import FLAG, Name, Setting, Spec, split_names

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "REGISTRY",
    "entry_of",
    "files_read",
    "get",
    "lacking",
    "lookup",
    "missing",
    "names",
    "split_specs",
]

REGISTRY: dict[str, Entry] = {
    entry.name: entry
    # One line a family: a catalogue is data, and imports nothing heavy.
    for entries in (
        lexical.ENTRIES,
        neural.ENTRIES,
        generative.ENTRIES,
        questions.ENTRIES,
        consistency.ENTRIES,
    )
    for entry in entries
}
"""Entries by name, in the order in which they are listed."""


def names() -> tuple[str, ...]:
    """Every metric's name, without options."""
    return tuple(REGISTRY)


def split_specs(text: str) -> list[str]:
    """Names of metrics, with their options, between commas.

    >>> split_specs('rouge-1:refs=mean,nostem, bartscore-precision:model="a,b:c"')
    ['rouge-1:refs=mean,nostem', 'bartscore-precision:model="a,b:c"']
    """
    return split_names(text, _flags)


def _flags(head: str) -> set[str]:
    """Flags that names of a metric and of its variants may hold."""
    entries = [entry for name, entry in REGISTRY.items() if entry.base == head]
    return {each.key for entry in entries for each in _settings(entry) if not each.value}


def _settings(entry: Entry) -> tuple[Setting, ...]:
    """What names of the metric may hold, the flags that make its variant included."""
    variant = (Setting(flag) for flag in entry.name.split(":")[1:])
    return (*Setting.read_all(entry.options), *variant)


def lookup(name: Name) -> Entry:
    """The entry of a name: that of its variant, where a flag names one.

    Raises:
        ConfigurationError: there is none, or two flags name one each.
    """
    variants = [full for flag in name.words if (full := f"{name.head}:{flag}") in REGISTRY]
    if len(variants) > 1:
        raise ConfigurationError(f"{' and '.join(variants)} exclude each other")
    found = variants[0] if variants else name.head
    if found not in REGISTRY:
        hint = (
            nearest(found.casefold(), REGISTRY).strip()
            or "`prevalence baselines --list` shows them"
        )
        raise ConfigurationError(f"unknown baseline metric {found!r}; {hint}")
    return REGISTRY[found]


def entry_of(metric: str) -> Entry:
    """The entry of a metric's name with its options.

    Raises:
        ConfigurationError: there is none.
    """
    return lookup(Name.read(metric, of="metric"))


def files_read(metric: str) -> list[str]:
    """What a metric's name may name as files and folders, whether or not they are there."""
    from prevalence.scorers import registry as scorers

    name = Name.read(metric, of="metric")
    found: list[str] = []
    for setting, value in name.given(_settings(lookup(name))):
        if setting.value == "FILE":
            found.append(value)
        elif setting.value in ("PATH", "MODEL"):
            found += [file for model in value.split("+") for file in scorers.files_read(model)]
    return found


def missing(entry: Entry) -> str | None:
    """What the entry needs and this environment lacks, in words, or None."""
    packages = [package for package in entry.packages if find_spec(package) is None]
    if packages:
        return f"{', '.join(packages)}: pip install 'prevalence[{entry.extra}]'"
    found: str | None = None if entry.check is None else _function(entry.check)()
    return found


def lacking(entry: Entry) -> str | None:
    """What must be installed, given or fetched before the metric runs here, in words, or None."""
    given = (f"give {option}" for option in entry.needed)
    return "; ".join(filter(None, [missing(entry), *given, _to_fetch(entry)])) or None


def _to_fetch(entry: Entry) -> str | None:
    """How to come by the models that are taken without ``model=`` and are not here."""
    from prevalence.models.location import is_here

    absent = [model for model in entry.models if not is_here(model)]
    if not absent:
        return None
    published = {model: find_checkpoint(model) for model in absent}
    made = [known.convert for known in published.values() if known is not None and known.convert]
    if made:
        return f"{made[0]}; then give model=FOLDER"
    fetched = " and ".join(f"hf download {model}" for model in absent)
    other = any(option.startswith("model=") for option in entry.options)
    return f"{fetched} or give model=PATH" if other else fetched


def get(metric: str, *, runtime: Runtime | None = None, **options: str) -> Metric:
    """Open a metric.

    Args:
        metric: a name from :func:`names`, with options in the grammar of
            :mod:`prevalence.scorers.grammar` if wanted.
        runtime: device and precision of its model.
        options: more options, for values that are awkward in the grammar; ``nostem=""`` is a flag.

    Raises:
        ConfigurationError: no such metric, or no such option of it.
        MissingDependencyError: something is not installed; the message says how to get it.
        ModelError: its weights cannot be loaded.
    """
    read = Name.read(metric, of="metric")
    more = ((None, key) if value == FLAG else (key, value) for key, value in options.items())
    name = read._replace(parts=(*read.parts, *more))
    entry = lookup(name)
    spec = Spec(name.head, name.options(_settings(entry)))
    absent = missing(entry)
    if absent is not None:
        raise MissingDependencyError(f"{entry.name} needs {absent}")
    try:
        opened: Metric = _function(entry.factory)(entry, spec, runtime or Runtime())
    except ModelError as error:
        by_model = any(option.startswith("model=") for option in entry.options)
        steps = _to_fetch(entry) if by_model and "model" not in spec.options else None
        if steps is None:
            raise
        raise ModelError(
            f"{entry.name} needs {entry.weights}, which is not on this machine, and no hub gave "
            f"it: {steps}"
        ) from error
    return opened


def _function(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
