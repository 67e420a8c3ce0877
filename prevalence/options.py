"""Options as fields of dataclasses: what each does, takes and is called is said once, there.

The command line makes its options of such fields, and whoever passes options on takes the names
of the fields as keywords; a name that is no field is refused with the nearest.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeVar

from prevalence.errors import ConfigurationError

__all__ = ["Description", "check_numbers", "check_texts", "described", "described_fields",
           "documented", "finite", "nearest", "shared_out", "takes"]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = TypeVar("Kind", bound=type)

_KEY = "option"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a field says of itself beside its default.

    Attributes:
        help: what it does, for help texts and docstrings.
        group: its heading in help texts.
        spelling: on the command line; None for the field's own name with hyphens.
        metavar: what stands for its value in help texts.
        choices: the values that it may have; empty for any.
        least: lower bound of a number, which is whole when this is an ``int``.
        above: lower bound of a number, itself left out.
        below: upper bound, itself left out.
        names: what its value names, if anything.
        off: a flag that stands for None, and what it does.
    """

    help: str
    group: str = "Model"
    spelling: str | None = None
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    above: float | None = None
    below: float | None = None
    names: Literal["file", "folder", "scorer"] | None = None
    off: tuple[str, str] | None = None


def finite(value: object) -> bool:
    """Whether it is a finite number.

    >>> finite(0.5), finite(math.inf), finite("x"), finite(10**400)
    (True, False, False, False)
    """
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:
        return False


def described(default: Any, help: str, **more: Any) -> Any:  # noqa: A002 - as in click
    """A field of a dataclass that is an option.

    Args:
        default: its value when it is not given.
        help: what it does.
        more: other attributes of :class:`Description`.
    """
    return field(default=default, metadata={_KEY: Description(help=help, **more)})


def described_fields(kind: type) -> Iterator[tuple[Field[Any], Description]]:
    """The fields of a dataclass that are options, in order."""
    for each in fields(kind):
        if _KEY in each.metadata:
            yield each, each.metadata[_KEY]


def _given(options: Any) -> Iterator[tuple[Field[Any], Description, Any, set[str]]]:
    """Described fields that are not None, with their values and the words of their types."""
    for each, said in described_fields(type(options)):
        value = getattr(options, each.name)
        if value is not None:
            yield each, said, value, set(re.findall(r"\w+", str(each.type)))


def check_numbers(options: Any) -> None:
    """Refuse what is no number in a described field of numbers, or lies outside its bounds.

    Args:
        options: a dataclass with described fields; None is not looked at.

    Raises:
        ConfigurationError: the message names the field, the value and what it has to be.

    >>> @dataclass
    ... class Bread:
    ...     slices: int = described(1, "How many.", least=1)
    >>> check_numbers(Bread(0))
    Traceback (most recent call last):
    prevalence.errors.ConfigurationError: slices must be at least 1, not 0
    """
    for each, said, value, named in _given(options):
        if not {"int", "float"} & named:
            continue
        kind, rule = (Real, "a number") if "float" in named else (Integral, "a whole number")
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits:
            raise ConfigurationError(f"{each.name} must be {rule}, not {value!r}")
        rules = (
            (finite(value), "a finite number"),
            (said.least is None or value >= said.least, f"at least {said.least}"),
            (said.above is None or value > said.above, f"above {said.above}"),
            (said.below is None or value < said.below, f"below {said.below}"),
        )
        for holds, rule in rules:
            if not holds:
                raise ConfigurationError(f"{each.name} must be {rule}, not {value}")


def check_texts(options: Any) -> None:
    """Refuse what is no text, or no path, in a described field of texts or paths.

    Args:
        options: a dataclass with described fields; None is not looked at.

    Raises:
        ConfigurationError: the message names the field, the value and what it has to be.

    >>> @dataclass
    ... class Bread:
    ...     baker: str | None = described(None, "Who.")
    >>> check_texts(Bread(5))
    Traceback (most recent call last):
    prevalence.errors.ConfigurationError: baker must be a string, not 5
    """
    for each, _, value, named in _given(options):
        if "str" not in named or "Sequence" in named:
            continue
        kinds = (str, Path) if "Path" in named else (str,)
        if not isinstance(value, kinds):
            rule = "a string or a Path" if Path in kinds else "a string"
            raise ConfigurationError(f"{each.name} must be {rule}, not {value!r}")


def nearest(name: str, known: Collection[str]) -> str:
    """The known names that resemble one most, in words for an error; empty when none does.

    >>> nearest("treshold", ["threshold", "device"])
    'did you mean threshold? '
    """
    near = difflib.get_close_matches(name, known)
    return f"did you mean {' or '.join(near)}? " if near else ""


def shared_out(
    options: Mapping[str, Any],
    *kinds: type,
    but: Collection[str] = (),
    beside: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Deal out keywords among dataclasses; one that several have goes to each of them.

    Args:
        options: the keywords.
        kinds: the dataclasses.
        but: fields that are not for the caller to choose.
        beside: further options that the caller takes, for the message.

    Raises:
        ConfigurationError: no class has a field of that name; the message has the nearest.
    """
    names = [[each.name for each in fields(kind) if each.name not in but] for kind in kinds]
    known = list(dict.fromkeys(name for own in names for name in own))
    for name in options:
        if name not in known:
            named = [*beside, *(other for other in known if other not in beside)]
            raise ConfigurationError(
                f"there is no option {name!r}; {nearest(name, named)}there are: {', '.join(named)}"
            )
    return [{name: options[name] for name in own if name in options} for own in names]


def documented(kind: Kind) -> Kind:
    """List the described fields of a dataclass in its docstring."""
    lines = "".join(f"\n    {each.name}: {said.help}" for each, said in described_fields(kind))
    kind.__doc__ = f"{inspect.cleandoc(kind.__doc__ or '')}\n\nAttributes:{lines}\n"
    return kind


def takes(*kinds: type, but: Collection[str] = ()) -> Callable[[Function], Function]:
    """Let a function's signature show the fields that its ``**options`` may name.

    Args:
        kinds: the dataclasses.
        but: fields that it decides itself.
    """

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in named} | set(but)
        more = {each.name: each for kind in kinds for each in fields(kind)}
        keywords = [_keyword(each) for name, each in more.items() if name not in taken]
        function.__signature__ = own.replace(parameters=[*named, *keywords])  # type: ignore[attr-defined]
        return function

    return shown


def _keyword(each: Field[Any]) -> inspect.Parameter:
    default = inspect.Parameter.empty if each.default is MISSING else each.default
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=each.type
    )
