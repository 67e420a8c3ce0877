"""The texts in a chat message whose content is a list of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["texts_in"]


def texts_in(parts: Iterable[object]) -> list[str]:
    """What parts of the types ``text`` and ``output_text`` say, and those of none that hold a text.

    >>> texts_in([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Good."}])
    ['Good.']
    """
    texts = (part for part in parts if isinstance(part, Mapping) and _is_text(part))
    return [str(part.get("text") or "") for part in texts]


def _is_text(part: Mapping[str, object]) -> bool:
    kind = part.get("type")
    return kind in ("text", "output_text") or (kind is None and "text" in part)
