"""Options under one name: what a paper or its program does, and what of it cannot be had here."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prevalence.errors import ConfigurationError
from prevalence.models.registry import lookup
from prevalence.scorers.registry import FAMILIES
from prevalence.text.sentences import NLTK_PUNKT

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PRESETS", "Preset", "preset_options"]

_DOCUMENTS = "summac-zs:document,model="
"""SummaC's reader of whole documents: 500 tokens, the longer text gives way."""

_ALL_OTHERS = 1_000_000
"""Other products: as many as there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Options of scorers and scoring by the names of their fields.

    Attributes:
        about: whose figures these are, one line.
        options: the options; the model as :attr:`reader` wants it.
        reader: what stands before the name of a model that is no scorer's.
        lacks: what of its source it cannot reproduce.
    """

    about: str
    options: Mapping[str, Any] = field(default_factory=dict)
    reader: str = ""
    lacks: str

    def model(self, name: str) -> str:
        """The scorer's name from a model's."""
        entry = lookup(name)
        if name.partition(":")[0] in FAMILIES or (entry is not None and entry.family):
            return name
        return self.reader + (f'"{name}"' if self.reader and "," in name else name)


_HIRO: Mapping[str, Any] = {
    "model": "vitc",
    "threshold": 0.04,
    "trivial": "script",
    "first_reviews": 200,
    "profile": True,
    "others": _ALL_OTHERS,
    "sap_alpha": 0.5,
}
_HIRO_LACKS = (
    "SAP is a share here and 100 times that in the paper; an empty summary has genericness 0 here "
    "and none there; genericness depends on which products the input holds; a sentence without a "
    "letter or a digit is left out here"
)

PRESETS: Mapping[str, Preset] = {
    "malon": Preset(
        about="the metric as Malon 2023 defines it: roberta-large-mnli, above .04",
        options={"model": "roberta-large-mnli", "threshold": 0.04, "trivial": "name",
                 "splitter": "punkt-en"},
        lacks="the published figures come from the authors' program, which words the product "
        "statement otherwise and reads 500 tokens: malon-script",
    ),
    "malon-script": Preset(
        about="the program of its authors: SummaC's reader, NLTK's Punkt",
        options={"model": "mnli", "threshold": 0.04, "trivial": "script",
                 "splitter": NLTK_PUNKT},
        reader=_DOCUMENTS,
        lacks="an empty review implies nothing here, and is asked about there; special tokens in "
        "a text are text here; a summary without a sentence scores 0 here, and stops it there",
    ),
    "hiro": Preset(
        about="HIRO's recipe for products: vitc above .04, 200 reviews, genericness and SAP",
        options=_HIRO,
        reader=_DOCUMENTS,
        lacks=_HIRO_LACKS,
    ),
    "hiro-hotels": Preset(
        about='the same for hotels: "I stayed at {name}."',
        options={**_HIRO, "trivial": "hotel"},
        reader=_DOCUMENTS,
        lacks=_HIRO_LACKS,
    ),
}  # fmt: skip
"""Presets by name.

Source: Malon 2023 and its authors' script; Hosking et al. 2024 and torchseq's recipe for HIRO,
whose other wording for products is ``trivial="name"``.
"""


def preset_options(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a preset, over which those given win, and ``follows``, which says so.

    Args:
        name: one of :data:`PRESETS`.
        given: options by the names of their fields. A model is read as the preset reads its own,
            unless it is another scorer.

    Raises:
        ConfigurationError: there is no preset of that name.

    Warns:
        RuntimeWarning: the model is another one, and the threshold is still the preset's.

    >>> found = preset_options("malon-script", {"model": "models/mine", "threshold": 0.3})
    >>> found["model"], found["follows"]
    ('summac-zs:document,model=models/mine', 'malon-script+model+threshold')
    """
    if name not in PRESETS:
        raise ConfigurationError(f"unknown preset {name!r}; choose from {', '.join(PRESETS)}")
    preset = PRESETS[name]
    changed = [key for key, value in preset.options.items() if given.get(key, value) != value]
    options = {**preset.options, **given, "follows": "+".join([name, *changed])}
    if "model" in changed and "threshold" not in given:
        warnings.warn(
            f"preset {name} keeps its threshold {options['threshold']}, which suits no other "
            f"model; give the threshold of {given['model']} too (`prevalence models` shows those "
            "known)",
            RuntimeWarning,
            stacklevel=2,
        )
    options["model"] = preset.model(str(options["model"]))
    return options
