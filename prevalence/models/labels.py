"""Which output of a classifier means what, read from the names of its classes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prevalence.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LabelMap", "parse_labels", "read_labels"]

ENTAILMENT = {"entailment", "entail", "entails", "entailed", "isentailed", "e", "supports",
              "supported", "support"}  # fmt: skip
CONTRADICTION = {"contradiction", "contradict", "contradicts", "contradicted", "contradictory",
                 "c", "refutes", "refuted", "refute"}  # fmt: skip
NEUTRAL = {"neutral", "neutrality", "n", "unknown", "notenoughinfo", "nei", "notenoughinformation"}
NOT_ENTAILMENT = {"notentailment", "notentailed", "notentail", "nonentailment", "noentailment",
                  "notsupported", "unsupported"}  # fmt: skip

_MOST_CLASSES = 3

_CLASSES = {
    "entailment": ENTAILMENT,
    "contradiction": CONTRADICTION,
    "neutral": NEUTRAL,
    "not_entailment": NOT_ENTAILMENT,
}


@dataclass(frozen=True, slots=True)
class LabelMap:
    """Positions of the classes among a head's outputs.

    Attributes:
        size: number of outputs; 1 means a sigmoid.
        entailment: index of entailment.
        contradiction: index of contradiction, or None.
    """

    size: int
    entailment: int
    contradiction: int | None

    def __str__(self) -> str:
        """Short, for signatures: ``e2c0of3``."""
        contradiction = "" if self.contradiction is None else f"c{self.contradiction}"
        return f"e{self.entailment}{contradiction}of{self.size}"


def read_labels(id2label: Mapping[int, str] | Mapping[str, str], *, name: str) -> LabelMap:
    """Read the label order from a checkpoint's ``id2label``, in any spelling.

    Raises:
        ModelError: the names do not say which output is entailment.

    >>> read_labels({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}, name="x").entailment
    2
    """
    ordered = [str(label) for _, label in sorted((int(k), v) for k, v in id2label.items())]
    return parse_labels(ordered, name=name)


def parse_labels(ordered: Sequence[str], *, name: str) -> LabelMap:
    """Map label names, in output order, to positions.

    Accepts three-way heads (entailment, neutral, contradiction in any order), two-label heads
    (entailment and any one other class), and one sigmoid output named as entailment.

    Raises:
        ModelError: names unknown, repeated, or without entailment.
    """
    classes = [_classify(label) for label in ordered]
    known = [found for found in classes if found]
    legal = (
        len(known) == len(ordered) <= _MOST_CLASSES
        and len(set(known)) == len(known)
        and "entailment" in known
        and not (len(known) > 2 and "not_entailment" in known)
    )
    if not legal:
        raise ModelError(
            f"{name}: cannot tell which output is entailment from its labels "
            f"{', '.join(map(repr, ordered))}. If you know the order, name it, for example "
            "--labels contradiction,neutral,entailment (labels= of a metric); otherwise use a "
            "checkpoint fine-tuned for natural language inference"
        )
    contradiction = classes.index("contradiction") if len(classes) == 3 else None
    return LabelMap(len(classes), classes.index("entailment"), contradiction)


def _classify(label: str) -> str | None:
    key = re.sub(r"[^a-z]", "", label.lower())
    return next((name for name, spellings in _CLASSES.items() if key in spellings), None)
