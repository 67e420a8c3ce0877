"""Which records of the inputs a run takes."""

from __future__ import annotations

import json

import pytest

from prevalence.errors import InputError
from prevalence.runs.selection import Selection


@pytest.fixture
def source(tmp_path):
    """Three records, of which the first has a faulty summary and the second lacks system b."""
    path = tmp_path / "in.jsonl"
    summaries = [{"a": "Warm.", "b": 7}, {"a": "Warm."}, {"a": "Warm.", "b": "Dry."}]
    rows = [{"id": f"p{n}", "reviews": ["x"], "summaries": s} for n, s in enumerate(summaries)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def ids(selection):
    return [item.id for item in selection.items()]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["p0", "p0", "p1", "p2"]),
        ({"limit": 1}, ["p0", "p0"]),  # a product and its faulty summary are one record
        ({"limit": 2, "systems": ["b"]}, ["p0"]),
        ({"limit": 2, "systems": ["b"], "limit_left": True}, ["p0", "p2"]),
        (
            {"systems": ["a"], "changed": lambda item: (item, item)},
            ["p0", "p0", *2 * ["p1"], *2 * ["p2"]],
        ),
    ],
)
def test_records_are_chosen_by_system_and_number(source, options, expected):
    assert ids(Selection([source], **options)) == expected


def test_a_system_that_is_not_there_is_told_from_one_that_was_not_reached(source):
    for limit, left in ((1, True), (1, False), (None, False)):
        selection = Selection([source], systems=["a", "c"], limit=limit, limit_left=left)
        ids(selection)
        if left:
            selection.check()  # The records behind the limit may have it.
        else:
            with pytest.raises(InputError, match="--systems: no summary by c; choose from a, b"):
                selection.check()
