"""Rows of earlier runs scored again: what they say must come out once more.

A row's signature names everything that produced it, so that its settings can be read off it. The
reviews are not in the row: the input gives them, and the row's digest tells whether they changed.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError
from prevalence.records import BadRecord
from prevalence.scored import SHOWN_DECIMALS, ScoredSummary
from prevalence.scoring.engine import Engine
from prevalence.scoring.signing import options_of
from prevalence.signature import UNNAMED, signature_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prevalence.nli.pairs import PairScorer
    from prevalence.records import Product

__all__ = ["TOLERANCE", "Sample", "Verified", "sampled", "verify"]

TOLERANCE = 1e-5
"""Within which probabilities are the same, in float32 on any machine."""

_SHOWN = TOLERANCE + 10.0**-SHOWN_DECIMALS
"""The same where both are rounded, which may part them by one in the last decimal."""

_ROUNDED = ("evidence", "contradiction")
"""Fields of a sentence whose probabilities are rounded."""


class Verified(NamedTuple):
    """What became of a row.

    Attributes:
        row: as it was written.
        problem: what is not as the row says; "" where all is.
        again: whether it was scored again; otherwise its input has changed.
    """

    row: ScoredSummary
    problem: str
    again: bool = True


class Sample(NamedTuple):
    """Rows that are to be scored again.

    Attributes:
        rows: some of those with a score, in their order.
        skipped: how many rows have no score.
    """

    rows: list[ScoredSummary]
    skipped: int


def sampled(rows: Iterable[ScoredSummary], size: int, *, seed: int) -> Sample:
    """A sample of the rows that have a score, each as likely as another, in their order.

    Args:
        rows: all of them.
        size: at most so many.
        seed: of the generator.
    """
    # What is drawn decides nothing but which rows are looked at.
    chance = random.Random(seed)  # noqa: S311
    kept: list[tuple[int, ScoredSummary]] = []
    number = skipped = 0
    for row in rows:
        if row.prevalence is None:
            skipped += 1
            continue
        if len(kept) < size:
            kept.append((number, row))
        elif (place := chance.randrange(number + 1)) < size:
            kept[place] = (number, row)
        number += 1
    return Sample([row for _, row in sorted(kept, key=lambda entry: entry[0])], skipped)


def verify(
    rows: Sequence[ScoredSummary],
    products: Iterable[Product | BadRecord],
    scorer: PairScorer,
    *,
    trivial: str | None = None,
) -> Iterator[Verified]:
    """Score rows again, with the settings of their signatures.

    Args:
        rows: with a score.
        products: the input that they were made of.
        scorer: the one that made them.
        trivial: see :func:`prevalence.scoring.signing.options_of`.

    Yields:
        Each row with what has changed, in the order of the input; those that it lacks at the end.

    Raises:
        InputError: the scorer, or a setting, is not the one that a signature names.
    """
    engines = _engines(rows, scorer, trivial)
    wanted: dict[tuple[str | None, str | None], list[ScoredSummary]] = {}
    changed = set()
    for row in rows:
        wanted.setdefault((row.id, row.system), []).append(row)
    for product in products:
        if isinstance(product, BadRecord):
            continue
        for summary in product.summaries:
            left = []
            for row in wanted.pop((product.id, summary.system), []):
                engine = engines[row.signature]
                if row.input_digest != engine.digest_of(product, summary):
                    left.append(row)
                    continue
                (again,) = engine.run([product.with_summaries([summary])])
                yield Verified(row, _difference(row, again))
            if left:
                wanted[product.id, summary.system] = left
                changed.add((product.id, summary.system))
    for key, missing in wanted.items():
        problem = (
            "its reviews, name or summary have changed in the input"
            if key in changed
            else "is not in the input"
        )
        for row in missing:
            yield Verified(row, problem, again=False)


def _engines(
    rows: Sequence[ScoredSummary], scorer: PairScorer, trivial: str | None
) -> Mapping[str, Engine]:
    engines = {}
    for signature in dict.fromkeys(row.signature for row in rows):
        options = options_of(signature, trivial=trivial)
        theirs = signature_parts(signature)
        if theirs["thr"] == f"{scorer.traits.threshold:.12g}":
            # Of a calibrated threshold a signature holds 12 digits.
            options = replace(options, threshold=None)
        engine = Engine(scorer, options)
        cutter = theirs.get("unit", "").partition("-")[2] or None
        named = theirs.get("trivial") != UNNAMED
        ours = signature_parts(engine.signature(named=named, cutter=cutter))
        for told, found in _parts_apart(theirs, ours):
            raise InputError(
                f"the rows were made with {told}, and this is {found}; choose the same model and "
                "options"
            )
        engines[signature] = engine
    return engines


def _parts_apart(theirs: Mapping[str, str], ours: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The parts of two signatures that differ, as they are written there."""
    # Scorers come first, under keys of their kinds.
    scorers = [":".join(next(iter(parts.items()))) for parts in (theirs, ours)]
    if scorers[0] != scorers[1]:
        yield scorers[0], scorers[1]
    for key in dict.fromkeys((*theirs, *ours)):
        if key != "v" and theirs.get(key) != ours.get(key):
            yield f"{key}:{theirs.get(key, '(none)')}", f"{key}:{ours.get(key, '(none)')}"


def _difference(row: ScoredSummary, again: ScoredSummary) -> str:
    if again.error is not None:
        return f"cannot be scored any more: {again.error}"
    masks = [signature_parts(one.signature).get("trivial", "") for one in (row, again)]
    if masks[0] != masks[1]:
        return f"was scored with trivial:{masks[0]}, and now trivial:{masks[1]}"
    # Signatures were compared before, but for the version; what reviews are called decides nothing.
    beside: dict[str, Any] = {"extra": {}, "signature": "", "review_ids": None}
    told, found = (replace(one, **beside).to_json() for one in (row, again))
    return next(_differences(told, found), "")


def _differences(
    told: Any, found: Any, place: str = "", tolerance: float = TOLERANCE
) -> Iterator[str]:
    """What differs in two JSON values, each in words that begin with its place."""
    if isinstance(told, dict) and isinstance(found, dict):
        for key in dict.fromkeys((*told, *found)):
            where = f"{place}.{key}" if place else key
            near = _SHOWN if key in _ROUNDED else tolerance
            yield from _differences(told.get(key), found.get(key), where, near)
    elif isinstance(told, list) and isinstance(found, list):
        if len(told) != len(found):
            yield f"{place} has {len(told)} entries, and now {len(found)}"
        for number, pair in enumerate(zip(told, found, strict=False)):
            yield from _differences(*pair, f"{place}[{number}]", tolerance)
    elif not _same(told, found, tolerance):
        yield f"{place} is {told}, and now {found}"


def _same(told: Any, found: Any, tolerance: float) -> bool:
    if isinstance(told, float) and isinstance(found, float):
        return abs(told - found) <= tolerance
    return bool(told == found)
