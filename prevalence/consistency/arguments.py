"""What stands behind the colon of a scorer's name: words, and key=value settings, with commas."""

from __future__ import annotations

from dataclasses import dataclass, field

from prevalence.errors import ConfigurationError

__all__ = ["Arguments"]


@dataclass(slots=True)
class Arguments:
    """Words and settings of one scorer name, taken one by one until none is left.

    Attributes:
        name: the whole name, for messages.
        words: what stands between the commas, without ``=``, in order.
        settings: what stands there with ``=``.
    """

    name: str
    words: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, name: str, text: str) -> Arguments:
        """Read ``word,word,key=value``; an empty text has neither.

        Raises:
            ConfigurationError: a setting is empty or given twice.

        >>> Arguments.parse("x:a,b=./c", "a,b=./c").settings
        {'b': './c'}
        """
        found = cls(name)
        for part in filter(None, (part.strip() for part in text.split(","))):
            key, equals, value = part.partition("=")
            if not equals:
                found.words.append(part)
            elif not key or not value or key in found.settings:
                raise ConfigurationError(f"{name}: {part!r} is empty or given twice")
            else:
                found.settings[key] = value
        return found

    def word(self, default: str | None = None) -> str:
        """Take the next word.

        Raises:
            ConfigurationError: there is none, and no default.
        """
        if self.words:
            return self.words.pop(0)
        if default is None:
            raise ConfigurationError(f"{self.name}: something is missing after the colon")
        return default

    def flag(self, word: str) -> bool:
        """Take a word wherever it stands; whether it was there."""
        if word not in self.words:
            return False
        self.words.remove(word)
        return True

    def setting(self, key: str, default: str | None = None) -> str:
        """Take a setting.

        Raises:
            ConfigurationError: it is missing, and there is no default.
        """
        value = self.settings.pop(key, default)
        if value is None:
            raise ConfigurationError(f"{self.name}: {key}=... is missing")
        return value

    def end(self, usage: str) -> None:
        """Refuse whatever was not taken.

        Raises:
            ConfigurationError: something is left; the message says what is understood.
        """
        left = [*self.words, *(f"{key}={value}" for key, value in self.settings.items())]
        if left:
            raise ConfigurationError(
                f"{self.name}: cannot make sense of {', '.join(left)}; write {usage}"
            )
