"""Options under one name: what a published program does, down to its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.errors import ConfigurationError
from prevalence.scorers.registry import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PRESETS", "preset_options"]

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "malon-script": {
        "model": "mnli",
        "threshold": 0.04,
        "trivial": "script",
        "splitter": "nltk-punkt-en",
    },
}
"""Name → options of scorers and scoring.

``malon-script`` is the program of Malon 2023: SummaC's reader of whole documents
(roberta-large-mnli, 500 tokens, the longer text gives way), NLTK's Punkt, and its wording of the
product statement.
"""

_AS_SUMMAC = "summac-zs:document,model="


def preset_options(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a preset, over which those given win.

    Args:
        name: one of :data:`PRESETS`.
        given: options by the names of their fields. A model is read as the preset reads its own,
            unless it is another scorer.

    Raises:
        ConfigurationError: there is no preset of that name.

    >>> preset_options("malon-script", {"model": "models/mine"})["model"]
    'summac-zs:document,model=models/mine'
    """
    if name not in PRESETS:
        raise ConfigurationError(f"there is no preset {name!r}; there is {', '.join(PRESETS)}")
    options = {**PRESETS[name], **given}
    model = str(options["model"])
    if model.partition(":")[0] not in FAMILIES:
        quoted = f'"{model}"' if "," in model else model
        options["model"] = _AS_SUMMAC + quoted
    return options
