"""Metric names with options: ``rouge-1:py-rouge:refs=mean`` and back.

    SPEC    = NAME (":" OPTION)*        LIST = SPEC ("," SPEC)*
    OPTION  = FLAG | KEY "=" VALUE | KEY "=" '"' VALUE '"'

A quoted value may hold colons, commas and spaces, but no quote.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FLAG", "Spec", "option_names", "parse_spec", "split_specs"]

FLAG = ""
"""Value of an option that takes none."""

_VALUE = r'(?:"[^"]*"|[^",:]*)'
_OPTION = re.compile(rf":([A-Za-z0-9][\w.-]*)(?:=({_VALUE}))?")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_SPEC = re.compile(r'(?:"[^"]*"|[^",])+')
_PLAIN = re.compile(r'[^",:\s]+')


class Spec(NamedTuple):
    """A metric's name and the options asked for, by name."""

    name: str
    options: Mapping[str, str]

    def canonical(self) -> str:
        """The one spelling: flags first, then values, each in the order of the alphabet.

        >>> parse_spec("rouge-1:refs=mean:py-rouge").canonical()
        'rouge-1:py-rouge:refs=mean'
        """
        flags = sorted(key for key, value in self.options.items() if value == FLAG)
        values = sorted((key, value) for key, value in self.options.items() if value != FLAG)
        return ":".join([self.name, *flags, *(f"{key}={_quoted(v)}" for key, v in values)])


def split_specs(text: str) -> list[str]:
    """Specs between commas that stand outside quotes.

    >>> split_specs('rouge-1, bartscore-src:model="a,b:c"')
    ['rouge-1', 'bartscore-src:model="a,b:c"']
    """
    return [part.strip() for part in _SPEC.findall(text) if part.strip()]


def parse_spec(text: str) -> Spec:
    """Take a spec apart.

    Raises:
        ConfigurationError: the text is none, or names an option twice.
    """
    name = _NAME.match(text)
    place = name.end() if name else 0
    options: dict[str, str] = {}
    while name and place < len(text):
        option = _OPTION.match(text, place)
        if option is None or option[1] in options or option[2] in ("", '""'):
            break
        options[option[1]] = FLAG if option[2] is None else option[2].strip('"')
        place = option.end()
    if name is None or place < len(text):
        raise ConfigurationError(
            f"{text!r} is no metric name (stopped at {text[place:]!r}): write NAME, NAME:FLAG or "
            'NAME:OPTION=VALUE, each option once, a value with : or , in "quotes"'
        )
    return Spec(name[0], options)


def option_names(options: Mapping[str, str]) -> dict[str, bool]:
    """Names of documented options, and whether each takes a value.

    >>> option_names({"nostem": "...", "refs=RULE": "..."})
    {'nostem': False, 'refs': True}
    """
    return {key.partition("=")[0]: "=" in key for key in options}


def _quoted(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else f'"{value}"'
