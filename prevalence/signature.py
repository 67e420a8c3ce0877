"""Signatures: what produced a score, on one line, in the manner of sacreBLEU."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from prevalence.errors import ConfigurationError
from prevalence.records import well_formed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "NO_STATEMENT",
    "SIGNATURE_PARTS",
    "TRIVIAL_TEMPLATES",
    "UNNAMED",
    "build_signature",
    "differences",
    "package_version",
    "safe",
    "signature_parts",
    "statement_of",
    "trivial_template",
    "with_parts",
]

TRIVIAL_TEMPLATES = {
    "name": "I bought a {name}.",
    "script": "I bought {name}.",
    "hotel": "I stayed at {name}.",
}
"""Named product statements: the paper's wording, that of its authors' script, and for hotels."""
UNNAMED, NO_STATEMENT = "none", "off"
"""What a signature has in place of a statement: no name to fill it in, or no wish for one."""
_EXAMPLE = f"write for example 'I bought a {{name}}.', or choose {' or '.join(TRIVIAL_TEMPLATES)}"

SIGNATURE_PARTS = {
    "nli": "the NLI model, and a digest of its weights, config and tokenizer",
    "consistency": "the scorer, where it is no NLI model",
    "attn": "how a premise-first model reads",
    "gran": "what a premise is: the whole review, or a part of it",
    "thr": "the threshold that a probability must exceed",
    "trivial": "the statement that trivial sentences follow from: `none` without a product name, "
    "`off` where it was not wanted",
    "split": "how texts are cut into sentences",
    "trunc": "the most tokens of a pair",
    "dtype": "the arithmetic, where it is not float32",
    "pack": "how pairs are laid out in a batch, where it is not the usual way",
    "recheck": "the arithmetic in which pairs next to the threshold are scored again",
    "unit": "what counts in place of sentences, and how it is cut",
    "score": "`hard+soft`: probabilities in place of decisions too",
    "matrix": "`full`: masked sentences are asked about as well",
    "limit": "the most sentences of a summary, where it is not the usual one",
    "statements": "the condition on sentences",
    "reviews": "the condition on reviews",
    "first": "how many reviews of a product are read, the first ones",
    "ceiling": "how the ceiling is found",
    "coverage": "how the statements of the reviews are found and weighed",
    "groups": "the groups of reviews whose coverage is compared",
    "others": "the summaries of other products that genericness compares with",
    "alpha": "the weight of genericness in specificity-adjusted prevalence",
    "corr": "sensitivity and specificity that scores are corrected for",
    "quantities": "`apart`: quantities of people are taken out of sentences",
    "evidence": "what is shown of a review that decides",
    "preset": "the preset that set the options, and options that override it",
}
"""The parts of a score's signature in their order, and what each says; the version comes last."""

_BESIDE = frozenset(
    ("alpha", "ceiling", "corr", "coverage", "evidence", "groups", "matrix", "others", "preset",
     "score")
)  # fmt: skip
"""Parts of what is given beside a score, which stays the same."""


def trivial_template(choice: str | None) -> tuple[str | None, str]:
    """Resolve a template option.

    Args:
        choice: a name in :data:`TRIVIAL_TEMPLATES`, a text that contains ``{name}``, or None for
            no trivial mask.

    Returns:
        The template text (or None), and its name in the signature: custom texts are named by a
        digest.

    Raises:
        ConfigurationError: no text, or one without ``{name}``.

    >>> trivial_template("name")
    ('I bought a {name}.', 'name')
    """
    if choice is None:
        return None, NO_STATEMENT
    if not isinstance(choice, str):
        raise ConfigurationError(
            f"a trivial template is {type(choice).__name__}, not text: {_EXAMPLE}"
        )
    if choice in TRIVIAL_TEMPLATES:
        return TRIVIAL_TEMPLATES[choice], choice
    choice = well_formed(choice)
    if "{name}" not in choice:
        raise ConfigurationError(f"trivial template {choice!r} lacks {{name}}: {_EXAMPLE}")
    for name, text in TRIVIAL_TEMPLATES.items():
        if text == choice:
            return choice, name
    return choice, "custom-" + hashlib.blake2b(choice.encode(), digest_size=4).hexdigest()


def statement_of(template: str | None, name: str | None) -> str | None:
    """What having bought a product says; None without a template, or a name of the product.

    >>> statement_of("I bought a {name}.", "lamp")
    'I bought a lamp.'
    """
    if template is None or name is None:
        return None
    return template.replace("{name}", name)


def build_signature(parts: Mapping[str, str]) -> str:
    """Join signature parts in their fixed order, the package version last.

    >>> build_signature({"thr": "0.04", "nli": "m@1"}).rsplit("|", 1)[0]
    'prev|nli:m@1|thr:0.04'
    """
    known = [key for key in SIGNATURE_PARTS if key in parts]
    others = [key for key in parts if key not in SIGNATURE_PARTS]
    fields = [f"{key}:{parts[key]}" for key in (*known, *others)]
    return "|".join(["prev", *fields, f"v:{package_version()}"])


def with_parts(signature: str, parts: Mapping[str, object]) -> str:
    """Add parts to a signature, before the version, which stays last.

    >>> with_parts("prev|thr:0.04|v:1", {"seed": 5})
    'prev|thr:0.04|seed:5|v:1'
    >>> with_parts("mine", {"seed": 5})
    'mine|seed:5'
    """
    front, mark, version = signature.rpartition("|v:")
    added = [f"{key}:{part}" for key, part in parts.items()]
    # Rows that were written by hand may name no version.
    return "|".join([front, *added, f"v:{version}"] if mark else [signature, *added])


def signature_parts(signature: str) -> dict[str, str]:
    """The parts of a signature by their keys, the version last.

    >>> signature_parts("prev|thr:0.5|split:lines|v:1.0")
    {'thr': '0.5', 'split': 'lines', 'v': '1.0'}
    """
    return dict(part.partition(":")[::2] for part in signature.split("|")[1:])


def differences(signatures: Sequence[str]) -> dict[str, list[str]]:
    """The parts in which signatures differ, and what stands there, "none" where it is missing.

    What follows from a record is no difference: that a product has no name, and so no trivial
    statement, and where its claims come from. Nor is what is only given beside a score.

    >>> differences(["prev|thr:0.5|trivial:name|v:1", "prev|thr:0.5|trivial:none|v:1"])
    {}
    >>> differences(["prev|thr:0.5|v:1", "prev|thr:0.5|reviews:rating<=2|v:1"])
    {'reviews': ['none', 'rating<=2']}
    """
    parts = [signature_parts(one) for one in signatures]
    found: dict[str, list[str]] = {}
    for key in dict.fromkeys(key for one in parts for key in one if key not in _BESIDE):
        values = list(dict.fromkeys(one.get(key, "none") for one in parts))
        if key == "trivial":
            values = [value for value in values if value != UNNAMED]
        if key == "unit":
            values = list(dict.fromkeys(value.partition("-")[0] for value in values))
        if len(values) > 1:
            found[key] = values
    return found


@lru_cache(maxsize=1)
def package_version() -> str:
    """The installed distribution's version, its only source."""
    from importlib.metadata import version

    return version("prevalence")


def safe(text: str) -> str:
    """A text on one line and without the sign that separates the parts of a signature.

    ``urllib.parse.unquote`` reads it back.

    >>> safe("a|b"), safe("a%7Cb")
    ('a%7Cb', 'a%257Cb')
    """
    return "".join(c if c.isprintable() and c not in "|%" else quote(c) for c in text)
