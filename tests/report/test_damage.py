"""A stored row with a foreign value anywhere is refused, or all that shows it works."""

from __future__ import annotations

import copy
import io
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from prevalence.errors import InputError
from prevalence.report.console import explanation
from prevalence.report.contents import Contents
from prevalence.report.page import render
from prevalence.report.tables import TABLES
from prevalence.scored import LeftOut, Passage, Profile, ScoredSentence, ScoredSummary
from prevalence.scoring.systems import SystemTable

if TYPE_CHECKING:
    from collections.abc import Iterator

SAID = {
    "text": "most", "low": 0.5, "high": 1.0, "agrees": True, "interval": [0.1, 0.9], "support": 1,
    "of": None, "statement": "It leaks.",
}  # fmt: skip
SENTENCE = ScoredSentence(
    "It leaks.", 0, 9, False, None, 1, (0,), (1,), (0.9, 0.1), (), SAID,
    (Passage(0, 0, 5, "leaks", 0.9, 0.1),), (0.1, 0.8),
)  # fmt: skip
PROFILE = Profile(
    coverage=0.5, coverage_interval=(0.1, 0.9), attested=0.5, polarity=3.0, polarity_target=4.0,
    review_coverage=0.5, equal_coverage=0.1, genericness=0.1, sap=0.2, statements=3,
    of_statements=4, missing={"contested": "why"}, groups={"new": {"reviews": 1, "coverage": 0.5}},
    left_out=(LeftOut(text="x y", review=0, start=0, end=3, support=1, asked=2,
                      supporting_reviews=(0,)),),
)  # fmt: skip
ROW = ScoredSummary(
    "1", "a", 0.5, 2, (SENTENCE, SENTENCE), "prev|thr:0.5|split:lines|v:1", warning="w",
    soft_prevalence=0.4, input_digest="ab", ceiling=0.6, corrected=0.4, corrected_most=1.0,
    restriction={"reviews": [0, 1], "of_reviews": 3, "sentences": [0, 1], "of_sentences": 2},
    profile=PROFILE, review_ids=("r1", None, "r3"),
    extra={"metrics": {"m": 1.0}, "human": {"c": [1, 2]}},
).to_json()  # fmt: skip
FOREIGN = [None, "x", [], ["a"], {}, {"a": 1}, -1, 5, 1.5, [[1]], [None], 10**400, [0.1, 0.2, 0.3]]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    listed = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else listed:
        yield from paths(item, (*path, key))


def damaged(path: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """The row with each foreign value at the path, and without what is there."""
    for value in [*FOREIGN, paths]:
        row = copy.deepcopy(ROW)
        place: Any = row
        for key in path[:-1]:
            place = place[key]
        if value is paths:
            del place[path[-1]]
        else:
            place[path[-1]] = value
        yield row


def show(row: dict[str, Any]) -> None:
    """All that commands do with a row that they read."""
    scored = ScoredSummary.from_json(row)
    Console(file=io.StringIO()).print(explanation(scored))
    scored.to_json_line()
    table = SystemTable()
    table.add(scored)
    list(table.statistics(resamples=10, seed=1))
    for of in TABLES.values():
        of([scored])
    contents = Contents(resamples=10, seed=1)
    contents.add(row, source="x")
    render(contents)


@pytest.mark.parametrize("key", ROW)
def test_a_foreign_value_is_refused_or_harmless(key: str) -> None:
    show(ROW)
    for path in paths(ROW[key], (key,)):
        for row in damaged(path):
            with suppress(InputError):
                show(row)
