"""Measured error rates beside the weights of a checkpoint, in ``errors.json``.

    {"source": "...", "threshold": 0.31, "products": [[tp, fn, tn, fp], ...],
     "phenomena": [{"set": "contrast", "phenomenon": "negation", "pairs": 81,
                    "sensitivity": 0.9, "specificity": 0.8}, ...]}

The file changes no probability, so it is in no digest.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prevalence.errors import ModelError, PrevalenceError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prevalence.stats.correction import ErrorRates

__all__ = ["ERRORS_FILE", "error_rates_of", "read_errors_file"]

ERRORS_FILE = "errors.json"


def read_errors_file(folder: Path) -> dict[str, Any]:
    """The measured errors of the checkpoint in a folder; empty where none lie beside it.

    Raises:
        ModelError: the file is no JSON object.
    """
    file = folder / ERRORS_FILE
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{file}: cannot be read as JSON ({error})") from error
    if not isinstance(found, dict):
        raise ModelError(f"{file}: expected a JSON object")
    return found


def error_rates_of(found: Mapping[str, Any], *, name: str) -> ErrorRates | None:
    """The rates on pairs that people have judged; None where none are stated.

    Args:
        found: what :func:`read_errors_file` gives.
        name: of the model, for messages.

    Raises:
        ModelError: the stated counts cannot be read.
    """
    if "products" not in found:
        return None
    # Loads numpy, which the list of models does without.
    from prevalence.stats.correction import ErrorRates

    try:
        products = tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in found["products"])
        return ErrorRates(products, float(found["threshold"]), str(found.get("source", "")))
    except (KeyError, TypeError, ValueError, PrevalenceError) as error:
        raise ModelError(f"{name}: its {ERRORS_FILE} cannot be read ({error})") from error
