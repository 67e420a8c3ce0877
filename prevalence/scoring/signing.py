"""How scores were made → the parts of their signature, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from prevalence.errors import ConfigurationError, InputError
from prevalence.scoring.options import UNITS, ScoringOptions
from prevalence.signature import NO_STATEMENT, UNNAMED, safe, signature_parts, trivial_template
from prevalence.text.sentences import DEFAULT_MAX_SENTENCES

if TYPE_CHECKING:
    from prevalence.scoring.others import OtherProducts
    from prevalence.stats.correction import ErrorRates

__all__ = ["options_of", "score_parts", "signed_threshold"]

Number = TypeVar("Number", int, float)

_SOFT, _FULL = "hard+soft", "full"
_QUOTED = ("statements", "reviews", "groups", "preset")
"""Parts of a signature that :func:`prevalence.signature.safe` has written."""


def score_parts(
    options: ScoringOptions,
    threshold: float,
    *,
    rates: ErrorRates | None,
    others: OtherProducts | None,
    named: bool,
    cutter: str | None,
) -> dict[str, str]:
    """What a signature says of scores beside the scorer.

    Args:
        options: how they are made.
        threshold: the one that decides, the scorer's own where the options have none.
        rates: error rates that scores are corrected for.
        others: products that genericness compares with.
        named: whether the product has a name.
        cutter: where its claims come from; not read where sentences are counted.
    """
    _, statement = trivial_template(options.trivial)
    corrected = "" if rates is None else f"{rates.sensitivity:.4f}/{rates.specificity:.4f}"
    limited = options.max_sentences != DEFAULT_MAX_SENTENCES
    departures = {
        "score": _SOFT if options.soft else "",
        "matrix": _FULL if options.full_matrix and not options.soft else "",
        "quantities": "apart" if options.quantities else "",
        "ceiling": "greedy" if options.ceiling else "",
        "corr": corrected,
        "unit": f"{options.unit}-{cutter}" if options.unit != UNITS[0] else "",
        "evidence": "sentence" if options.evidence else "",
        "limit": str(options.max_sentences) if limited else "",
        "preset": safe(options.follows or ""),
    }
    return {
        "thr": signed_threshold(options, threshold),
        "trivial": statement if named or statement == NO_STATEMENT else UNNAMED,
        "split": options.splitter,
        **options.restriction.signature,
        **(_profile_parts(options, others) if options.profile else {}),
        **{key: part for key, part in departures.items() if part},
    }


def signed_threshold(options: ScoringOptions, threshold: float) -> str:
    """All digits of a threshold that was asked for; 12 of a calibrated one, if below 1."""
    short = f"{threshold:.12g}"
    signed = float(short)
    same = signed < 1.0 if options.threshold is None else signed == threshold
    return short if same else repr(threshold)


def _profile_parts(options: ScoringOptions, others: OtherProducts | None) -> dict[str, str]:
    from prevalence.scoring.statements import ASKED

    parts = {"coverage": f"{options.coverage_statements}x{ASKED}"}
    if options.groups is not None:
        parts["groups"] = safe(", ".join(map(str, options.review_groups)))
    if options.others is not None:
        parts["others"] = str(options.others) if others is None else others.signature
        parts["alpha"] = f"{options.sap_alpha:.12g}"
    return parts


def options_of(signature: str, *, trivial: str | None = None) -> ScoringOptions:
    """How rows with a signature were scored.

    Args:
        signature: of the rows.
        trivial: the text of the product statement, where the signature holds only its digest.

    Raises:
        InputError: it is no signature of scores, or damaged, or one of scores that compare with
            other products.
        ConfigurationError: it names a product statement by its digest, and no text is given.
    """
    parts = signature_parts(signature)
    if "thr" not in parts or "split" not in parts:
        raise InputError(f"{signature!r} is not a signature of `prevalence score`")
    if "others" in parts:
        raise InputError(
            "the rows were scored with --others, and verify does not compare products: score them "
            "again instead"
        )
    template = parts.get("trivial")
    if template == UNNAMED:
        template = ScoringOptions().trivial
    elif template == NO_STATEMENT:
        template = None
    elif template is not None and template.startswith("custom-"):
        template = trivial
        if trivial is None:
            raise ConfigurationError("the rows have a product statement of their own: give it "
                                     "with --trivial-template")  # fmt: skip
    told = {key: unquote(parts[key]) for key in _QUOTED if key in parts}
    options = ScoringOptions(
        threshold=_number(float, parts["thr"]),
        trivial=template,
        splitter=parts["split"],
        soft=parts.get("score") == _SOFT,
        full_matrix=parts.get("matrix") == _FULL,
        ceiling="ceiling" in parts,
        max_sentences=_number(int, parts.get("limit", str(DEFAULT_MAX_SENTENCES))),
        statements_where=told.get("statements"),
        reviews_where=told.get("reviews"),
        first_reviews=_number(int, parts["first"]) if "first" in parts else None,
        unit=parts.get("unit", UNITS[0]).partition("-")[0],
        quantities="quantities" in parts,
        corrected="corr" in parts,
        evidence="evidence" in parts,
        follows=told.get("preset"),
    )
    if "coverage" not in parts:
        return options
    statements = _number(int, parts["coverage"].partition("x")[0])
    return replace(options, profile=True, coverage_statements=statements, groups=told.get("groups"))


def _number(kind: type[Number], text: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise InputError(
            f"{text!r} stands where a signature has a number: the rows were changed; score them "
            "again instead"
        ) from None
