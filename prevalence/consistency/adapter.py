"""Classifiers of any shape as pair scorers: a small file says what a pair looks like to them.

The file (TOML or JSON) lies beside the checkpoint and holds data only::

    model = "."                  # folder beside this file, or a hub name
    template = "premise: {premise} hypothesis: {hypothesis}"   # one string; none: the pair itself
    entailment = 1               # output that means "supported"
    contradiction = 0            # output that means "contradicted", where there is one
    activation = "softmax"       # or "sigmoid", each output by itself
    chunk = 300                  # premise tokens in a chunk; none: the beginning is read
    pooling = "max"              # over chunks: max, mean or min
    threshold = 0.4              # where it is known
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from prevalence.errors import ConfigurationError, InputError
from prevalence.metric import check_threshold
from prevalence.nli.checkpoint import first_line

__all__ = ["ACTIVATIONS", "POOLINGS", "Adapter", "read_adapter"]

ACTIVATIONS = ("softmax", "sigmoid")
POOLINGS = ("max", "mean", "min")

_PLACES = ("premise", "hypothesis")
_PLACE = re.compile(r"\{(premise|hypothesis)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """What a classifier wants to see and what its outputs mean.

    Attributes:
        model: checkpoint folder or hub name.
        template: a text with ``{premise}`` and ``{hypothesis}``; None gives the tokenizer the two
            texts as a pair.
        entailment: output that means "supported".
        contradiction: output that means "contradicted", or None.
        activation: one of :data:`ACTIVATIONS`.
        chunk: tokens of the premise in a chunk; None reads as much of its beginning as fits.
        pooling: over the chunks of a premise, one of :data:`POOLINGS`.
        max_length: a limit in tokens below the model's own, or None.
        threshold: calibrated threshold in [0, 1), or None.

    Raises:
        ConfigurationError: a value of the wrong kind or out of range.
    """

    model: str
    template: str | None = None
    entailment: int = 1
    contradiction: int | None = None
    activation: str = "softmax"
    chunk: int | None = None
    pooling: str = "max"
    max_length: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        self._check_kinds()
        if self.template is not None and sorted(_PLACE.findall(self.template)) != sorted(_PLACES):
            raise ConfigurationError("template must hold {premise} and {hypothesis}, once each")
        for name, known in (("activation", ACTIVATIONS), ("pooling", POOLINGS)):
            if getattr(self, name) not in known:
                raise ConfigurationError(
                    f"{name} {getattr(self, name)!r}: choose from {', '.join(known)}"
                )
        for name, least in (
            ("entailment", 0),
            ("contradiction", 0),
            ("chunk", 1),
            ("max_length", 8),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ConfigurationError(f"{name} must be at least {least}, not {value}")
        if self.entailment == self.contradiction:
            raise ConfigurationError("entailment and contradiction are different outputs")
        if self.threshold is not None:
            check_threshold(self.threshold)

    def _check_kinds(self) -> None:
        kinds: dict[str, tuple[type, ...]] = {
            "model": (str,), "template": (str,), "activation": (str,), "pooling": (str,),
            "threshold": (int, float),
        }  # fmt: skip
        for field in fields(self):
            value = getattr(self, field.name)
            wanted = kinds.get(field.name, (int,))
            if value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
                raise ConfigurationError(f"{field.name} is {value!r}, not a {wanted[-1].__name__}")

    def fill(self, premise: str, hypothesis: str) -> str:
        """The template with both texts in place; braces in the texts mean nothing.

        >>> Adapter(model="m", template="{hypothesis} | {premise}").fill("{hypothesis}", "b")
        'b | {hypothesis}'
        """
        texts = {"premise": premise, "hypothesis": hypothesis}
        return _PLACE.sub(lambda place: texts[place[1]], self.template or "")


def read_adapter(path: Path | str) -> Adapter:
    """Read an adapter file.

    A relative ``model`` folder starts where the file lies, and is that folder when left out.

    Raises:
        InputError: the file cannot be read or holds unknown fields.
        ConfigurationError: a value is out of range.
    """
    path = Path(path).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
        content: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a readable adapter file: {first_line(error)}") from error
    known = {field.name for field in fields(Adapter)}
    if not isinstance(content, dict) or set(content) - known:
        left = ", ".join(sorted(set(content) - known)) if isinstance(content, dict) else "no fields"
        raise InputError(f"{path}: {left}: an adapter has the fields {', '.join(sorted(known))}")
    content.setdefault("model", ".")
    try:
        adapter = Adapter(**content)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    beside = path.parent / adapter.model
    if beside.is_dir():
        return Adapter(**{**content, "model": str(beside)})
    return adapter
