"""Well-known NLI checkpoints by name: where they are, their licence, limit and threshold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prevalence.errors import ModelError
from prevalence.files import file_digest
from prevalence.models.error_rates import read_errors_file

__all__ = [
    "BASE",
    "EMBEDDED",
    "HELD_OUT",
    "REGISTRY",
    "SHIPPED",
    "Checkpoint",
    "described",
    "lookup",
    "stated_config",
    "trained_on",
]

EMBEDDED = "embedded"
"""Name of the small model that ships inside the package, the default."""
BASE = "base"
"""Name of its larger sibling, inside the package too."""
SHIPPED = (EMBEDDED, BASE)

HELD_OUT = "held_out.json"
"""File beside the weights of a trained model: what the models of the folds said of held-out pairs,
in the order of the source's pairs, and the source's SHA-256."""

_MODELS = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A registered checkpoint.

    Attributes:
        name: what ``--model`` takes.
        location: Hugging Face hub name, or a folder.
        revision: hub revision; a branch name where no commit is pinned (the signature carries a
            digest of the weights in any case).
        licence: of the weights, as their publisher states it.
        max_length: longest input in tokens, special tokens included; a model that ships may state
            other limits, see :meth:`stated_limits`.
        threshold: decision threshold calibrated for opinion prevalence, or None.
        calibration: where the threshold comes from.
        about: one line.
        family: of scorers that reads it; empty for an NLI model.
        convert: what makes a folder of what its publisher gives, where that is no safetensors.
    """

    name: str
    location: str
    revision: str
    licence: str
    max_length: int
    threshold: float | None
    calibration: str
    about: str
    family: str = ""
    convert: str = ""

    @property
    def fetching(self) -> str:
        """How to get it where the hub can be reached, and to use it here."""
        scorer = f"--model {self.family}:FOLDER" if self.family else "--model FOLDER"
        if self.convert:
            return f"{self.convert}, then {scorer}"
        return f"hf download {self.location} --local-dir FOLDER, then {scorer}"

    def stated_threshold(self) -> float | None:
        """The registered threshold, or the one in the config of a model that is there."""
        if self.threshold is not None:
            return self.threshold
        stored = self._config().get("prevalence_threshold")
        return None if stored is None else float(stored)

    def stated_limits(self) -> tuple[int, int | None]:
        """Most tokens of a pair, and None; or of a premise and of a hypothesis.

        The latter where a model that ships reads the two apart, as its config says.
        """
        config = self._config()
        longest = int(config.get("prevalence_max_length", self.max_length))
        if config.get("prevalence_attention") != "premise-first":
            return longest, None
        return longest, int(config.get("prevalence_max_hypothesis", self.max_length))

    def stated_errors(self) -> dict[str, Any]:
        """Measured error rates of a model that ships or of a folder; empty for others."""
        folder = Path(self.location)
        return read_errors_file(folder) if folder.is_absolute() else {}

    def _config(self) -> dict[str, Any]:
        """That of a model that ships or of a folder; others are not known before they are there."""
        file = Path(self.location) / "config.json"
        if not (file.is_absolute() and file.is_file()):
            return {}
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found


_NOT_CALIBRATED = "not calibrated on review judgments"


def _checker(
    family: str,
    form: str,
    location: str,
    *,
    size: str,
    max_length: int = 2048,
    licence: str = "see its card",
    convert: str = "",
) -> Checkpoint:
    """A fact-checking encoder, which its own family of scorers reads."""
    return Checkpoint(
        f"{family}-{form}",
        location,
        "main",
        licence,
        max_length,
        None,
        _NOT_CALIBRATED,
        f"{size}; whether a text supports a claim",
        family,
        convert,
    )


def _alignscore(form: str, size: str) -> Checkpoint:
    base = f"roberta-{form}"
    return _checker(
        "alignscore",
        form,
        "yzha/AlignScore",
        size=size,
        max_length=512,
        licence="MIT (code)",
        convert=f"hf download yzha/AlignScore AlignScore-{form}.ckpt --local-dir .; hf download "
        f"FacebookAI/{base} --local-dir {base}; prevalence conv alignscore AlignScore-{form}.ckpt "
        f"--base {base} --output FOLDER",
    )


_CHECKERS = (
    _alignscore("large", "355M"),
    _alignscore("base", "125M"),
    _checker("minicheck", "flan-t5-large", "lytang/MiniCheck-Flan-T5-Large", size="783M"),
    _checker("minicheck", "deberta-v3-large", "lytang/MiniCheck-DeBERTa-v3-Large", size="435M"),
    _checker("minicheck", "roberta-large", "lytang/MiniCheck-RoBERTa-Large", size="355M",
             max_length=512),
    _checker("factcg", "deberta-v3-large", "yaxili96/FactCG-DeBERTa-v3-Large", size="435M"),
    _checker("hhem", "2.1-open", "vectara/hallucination_evaluation_model", size="110M",
             max_length=4096, licence="Apache-2.0"),
)  # fmt: skip

REGISTRY: dict[str, Checkpoint] = {
    entry.name: entry
    for entry in (
        Checkpoint(
            EMBEDDED, str(_MODELS / "minilm-reviewnli"), "", "Apache-2.0", 512, None,
            "its own config (ReviewNLI dev)",
            "22.7M; inside this package, reads premises first; no network",
        ),
        Checkpoint(
            BASE, str(_MODELS / "mpnet-reviewnli"), "", "Apache-2.0", 512, None,
            "its own config (ReviewNLI dev)",
            "109.5M; inside this package, slower and better than embedded; no network",
        ),
        Checkpoint(
            "roberta-large-mnli", "FacebookAI/roberta-large-mnli", "main", "MIT", 512, 0.04,
            "Malon 2023, ReviewNLI dev, document granularity", "355M; the paper's metric",
        ),
        Checkpoint(
            "bart-large-mnli", "facebook/bart-large-mnli", "d7645e1", "MIT", 1024, None,
            _NOT_CALIBRATED, "407M; reads 1,024 tokens",
        ),
        Checkpoint(
            "deberta-large-mnli", "microsoft/deberta-large-mnli", "main", "MIT", 512, None,
            _NOT_CALIBRATED, "405M",
        ),
        Checkpoint(
            "deberta-v3-base-mnli-fever-anli", "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli",
            "main", "MIT", 512, None, _NOT_CALIBRATED, "184M; MNLI, FEVER and ANLI",
        ),
        Checkpoint(
            "nli-deberta-v3-base", "cross-encoder/nli-deberta-v3-base", "main", "Apache-2.0", 512,
            None, _NOT_CALIBRATED, "184M; SNLI and MNLI",
        ),
        Checkpoint(
            "vitaminc-albert-xlarge", "tals/albert-xlarge-vitaminc-mnli", "main",
            "not stated by its publisher", 512, None, _NOT_CALIBRATED,
            "59M shared weights; SummaC's default (vitc)",
        ),
        *_CHECKERS,
    )
}  # fmt: skip
"""Registered checkpoints by name."""


def lookup(model: str) -> Checkpoint | None:
    """The registered checkpoint of that name or hub name, or None for any other model."""
    if model in REGISTRY:
        return REGISTRY[model]
    return next((entry for entry in REGISTRY.values() if entry.location == model), None)


def described(model: str) -> Checkpoint:
    """What is known of a registered model, or of a folder with a checkpoint.

    Args:
        model: a registered name, a hub name that is registered, or a folder.

    Returns:
        The entry; of a folder, with what its config states, and 0 tokens where it states no limit.

    Raises:
        ModelError: it is neither, or the config cannot be read.
    """
    folder = Path(model)
    known = None if folder.is_dir() and model not in REGISTRY else lookup(model)
    if known is not None:
        return known
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"{model}: no folder with a config.json, and no name that `prevalence models` lists"
        )
    place = str(folder.resolve())
    found = Checkpoint(model, place, "", "see its card", 0, None, "its own config", "a folder")
    try:
        found.stated_threshold(), found.stated_limits()
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{folder / 'config.json'}: cannot be read ({error})") from error
    return found


def stated_config(folder: Path) -> dict[str, Any]:
    """The config as it stands in a folder, empty where it cannot be read.

    Whoever opens the model says what is wrong with it.
    """
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def trained_on(model: str, file: Path) -> bool:
    """Whether a checkpoint was cross-validated on a labelled file, and so trained on it as well.

    Args:
        model: a registered name, a hub name or a folder. Nothing is known of hub names.
        file: the labelled pairs, in the form in which they were trained on.
    """
    known = lookup(model)
    stored = Path(model if known is None else known.location) / HELD_OUT
    try:
        source = json.loads(stored.read_text(encoding="utf-8"))["source_sha256"]
        digest = file_digest(file)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    # Digests of the files beside the source follow its own.
    return str(source).startswith(digest)
