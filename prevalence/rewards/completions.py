"""The text of a completion: a string, or a list of chat messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prevalence.characters import well_formed
from prevalence.errors import InputError

__all__ = ["completion_text"]


def completion_text(completion: object) -> str:
    """The text of a completion, each lone surrogate replaced by U+FFFD.

    Args:
        completion: a string, or messages with ``role`` and ``content``, of which the last by the
            assistant is read: earlier ones call tools. Content is a string or a list of parts.

    Raises:
        InputError: it is neither, or no message is the assistant's.

    >>> completion_text([{"role": "assistant", "content": "They fit."}])
    'They fit.'
    """
    if isinstance(completion, str):
        return well_formed(completion)
    if not isinstance(completion, Sequence):
        raise InputError(
            f"the completion is {type(completion).__name__}: give a string or a list of messages"
        )
    own = [m for m in completion if isinstance(m, Mapping) and m.get("role") == "assistant"]
    if not own:
        raise InputError("the completion has no message with the role 'assistant'")
    return well_formed(_content(own[-1].get("content")))


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence) and all(isinstance(part, Mapping) for part in content):
        return "".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    raise InputError(
        f"the assistant's last message holds {type(content).__name__}: give a string or text parts"
    )
