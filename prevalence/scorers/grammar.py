"""How scorers and metrics are named: ``head:option=value,...``, read and written in one way.

    NAME = HEAD [":" PART ("," PART)*]       PART = [KEY "="] VALUE       LIST = NAME ("," NAME)*

A value in double quotes may hold commas. A part without a key is a flag, or a value whose option
may stand without its key; such values come in the order in which the options are declared. Between
the options of a metric, whose canonical spelling has colons, a colon may stand for the comma.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from prevalence.errors import ConfigurationError
from prevalence.options import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

__all__ = ["FLAG", "Name", "Setting", "Spec", "split_names", "usage"]

FLAG = ""
"""Value of an option that takes none."""

_KEY = r"[A-Za-z0-9][\w.-]*"
_PART = re.compile(rf"(?:({_KEY})=)?(.*)", re.DOTALL)
_QUOTED = re.compile(r'"([^"]*)"')
_PLAIN = re.compile(r'[^",:\s]+')
_HOW = (
    'write NAME, NAME:FLAG or NAME:OPTION=VALUE, each option once, a value with : or , in "quotes"'
)


@dataclass(frozen=True, slots=True)
class Setting:
    """An option that the names of a scorer or metric may hold.

    Attributes:
        key: its name.
        value: what it takes: choices with ``|`` between, or a word in capitals, of which FILE is a
            file, ENCODER a model, MODEL one that reads pairs, and MODEL[+MODEL] one or more of
            these; empty for a flag.
        about: what it does.
        default: its value when it is not given; None where that has no name.
        word: whether the value may stand without the key.
        needed: whether it must be given.
    """

    key: str
    value: str = FLAG
    about: str = ""
    default: str | None = None
    word: bool = False
    needed: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it may have; empty for any."""
        return tuple(self.value.split("|")) if "|" in self.value else ()

    @property
    def spelling(self) -> str:
        """How it is written: the key, and what it takes."""
        return f"{self.key}={self.value}" if self.value else self.key

    @classmethod
    def read_all(cls, options: Mapping[str, str]) -> tuple[Setting, ...]:
        """Settings of a table from spellings to what they do.

        >>> [setting.value for setting in Setting.read_all({"nostem": "...", "refs=RULE": "..."})]
        ['', 'RULE']
        """
        cut = ((spelling.partition("="), about) for spelling, about in options.items())
        return tuple(cls(key, value, about) for (key, _, value), about in cut)


def usage(head: str, settings: Sequence[Setting]) -> str:
    """How names with these options are written.

    >>> usage("x", [Setting("a", "FILE", word=True, needed=True), Setting("b")])
    'x:FILE[,b]'
    """
    shown = [(each, each.value if each.word else each.spelling) for each in settings]
    needed = ",".join(text for each, text in shown if each.needed)
    words = [text for each, text in shown if each.word and not each.needed]
    rest = "".join(f"[,{text}]" for each, text in shown if not each.word and not each.needed)
    if needed:
        return f"{head}:{needed}{_nested(words)}{rest}"
    if words:
        return f"{head}[:{words[0]}{_nested(words[1:])}{rest}]"
    return f"{head}[:{rest[2:]}" if rest else head


def _nested(words: Sequence[str]) -> str:
    return f"[,{words[0]}{_nested(words[1:])}]" if words else ""


class Spec(NamedTuple):
    """A metric's name and the options asked for, by key."""

    name: str
    options: Mapping[str, str]

    def canonical(self) -> str:
        """The one spelling: flags first, then values, each in the order of the alphabet.

        >>> Spec("rouge-1", {"refs": "mean", "py-rouge": FLAG}).canonical()
        'rouge-1:py-rouge:refs=mean'
        """
        given = sorted(key for key, value in self.options.items() if value == FLAG)
        values = sorted((key, value) for key, value in self.options.items() if value != FLAG)
        return ":".join([self.name, *given, *(f"{key}={_quoted(v)}" for key, v in values)])


def _quoted(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else f'"{value}"'


class Name(NamedTuple):
    """A name taken apart.

    Attributes:
        text: the whole name.
        head: what stands before the first colon.
        parts: keys and values in order; the key of a part without one is None.
    """

    text: str
    head: str
    parts: tuple[tuple[str | None, str], ...] = ()

    @classmethod
    def read(cls, text: str, *, of: str = "scorer") -> Name:
        """Take a name apart.

        Args:
            text: the name.
            of: ``scorer`` or ``metric``.

        Raises:
            ConfigurationError: the text is no name.

        >>> Name.read("cosine:./m,pooling=cls").parts
        ((None, './m'), ('pooling', 'cls'))
        """
        head, colon, rest = text.partition(":")
        written = _cut(rest, ",:" if of == "metric" else ",") if colon else []
        if of == "scorer":
            written = [part for part in written if part.strip()]
        parts = [(found[1], found[2]) for found in map(_PART.fullmatch, written) if found]
        unquoted = tuple((key, _QUOTED.sub(r"\1", v) if _QUOTED.fullmatch(v) else v)
                         for key, v in parts)  # fmt: skip
        whole = re.fullmatch(_KEY, head) and text.count('"') % 2 == 0
        if not whole or not all(value for _, value in unquoted):
            raise ConfigurationError(f"{text!r} is not a {of} name: {_HOW}")
        return cls(text, head, unquoted)

    @property
    def words(self) -> list[str]:
        """Parts without a key."""
        return [value for key, value in self.parts if key is None]

    def options(self, settings: Sequence[Setting]) -> dict[str, str]:
        """The options by key, those with a default that are not given included.

        Args:
            settings: what this name may hold.

        Raises:
            ConfigurationError: an option is unknown, misses its value or has one that it does not
                take, is given twice or is missing.
        """
        found: dict[str, str] = {}
        for setting, value in self.given(settings):
            if setting.key in found:
                raise ConfigurationError(
                    f"{self.text!r} is not a name: {setting.key} is given twice; {_HOW}"
                )
            if setting.choices and value not in setting.choices:
                choices = (" or " if len(setting.choices) == 2 else ", ").join(setting.choices)
                raise ConfigurationError(f"{self.head}: {setting.key}={value}: choose {choices}")
            found[setting.key] = value
        for setting in settings:
            if setting.needed and setting.key not in found:
                raise ConfigurationError(
                    f"{self.text}: {setting.spelling} is missing; "
                    f"write {usage(self.head, settings)}"
                )
            if setting.default is not None:
                found.setdefault(setting.key, setting.default)
        return found

    def replaced(self, settings: Sequence[Setting], change: Callable[[Setting, str], str]) -> str:
        """The name with other values, all else as it is written.

        Args:
            settings: what this name may hold.
            change: from an option and its value to the new value.

        Raises:
            ConfigurationError: an option is unknown.
        """
        parts = []
        for (key, _), (setting, value) in zip(self.parts, self.given(settings), strict=True):
            new = change(setting, value) if setting.value else setting.key
            marked = f'"{new}"' if "," in new and '"' not in new else new
            parts.append(marked if key is None else f"{key}={marked}")
        return f"{self.head}:{','.join(parts)}" if parts else self.text

    def given(self, settings: Sequence[Setting]) -> Iterator[tuple[Setting, str]]:
        """Each part's option and value, in order.

        Raises:
            ConfigurationError: an option is unknown, or misses its value or has one that it does
                not take.
        """
        known = {setting.key: setting for setting in settings}
        keys = {key for key, _ in self.parts}
        free = [setting for setting in settings if setting.word and setting.key not in keys]
        for key, value in self.parts:
            setting = known.get(value if key is None else key)
            if key is None and free and (setting is None or setting.value):
                yield free.pop(0), value
            elif setting is None:
                self._refuse(value if key is None else key, settings)
            elif (key is None) == bool(setting.value):
                right = f"{setting.key}=VALUE" if setting.value else setting.key
                raise ConfigurationError(f"{self.head}: write the option {setting.key} as {right}")
            else:
                yield setting, value if setting.value else FLAG

    def _refuse(self, key: str, settings: Sequence[Setting]) -> None:
        near = nearest(key, [setting.key for setting in settings])
        known = ", ".join(setting.spelling for setting in settings) or "none"
        raise ConfigurationError(f"{self.head} has no option {key!r}; {near}it has: {known}")


def split_names(text: str, flags: Callable[[str], Collection[str]]) -> list[str]:
    """Names between commas that neither stand in quotes nor go on with the name before.

    Args:
        text: the list.
        flags: the flags that a name, by its head, may hold.

    >>> split_names('rouge-1:refs=mean,nostem, ter, x:model="a,b:c"', lambda _: ["nostem"])
    ['rouge-1:refs=mean,nostem', 'ter', 'x:model="a,b:c"']
    """
    names: list[str] = []
    for part in filter(None, _cut(text, ",")):
        head, colon, _ = names[-1].partition(":") if names else ("", "", "")
        if colon and (re.match(f"{_KEY}=", part) or part.partition(":")[0] in flags(head)):
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def _cut(text: str, marks: str) -> list[str]:
    """What stands between marks outside quotes."""
    parts, inside = [""], False
    for letter in text:
        inside ^= letter == '"'
        if letter in marks and not inside:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
