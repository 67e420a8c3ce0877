"""What every run shares: which records it takes, chunks, and how it ends."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest

from prevalence.errors import InputError
from prevalence.records import Product, Review, Summary
from prevalence.runs import Selection, Tally, chunks, run


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


def test_the_rest_of_a_record_is_counted_as_the_whole():
    summaries = (Summary("a", "Warm.", {"claims": ["Warm."]}), Summary("b", "Dry."))
    rest = Selection.rest(Product("p", (Review("x"),), summaries), [1])
    assert rest.summaries == summaries[1:]
    assert rest.gives_claims


def failing(*items):
    yield from items
    raise InputError("gone")


def test_what_was_read_before_a_failure_comes_in_whole_chunks():
    found = chunks(failing(1, 1, 1, 1, 1), size=int, full=2)
    assert [next(found) for _ in range(3)] == [[1, 1], [1, 1], [1]]
    with pytest.raises(InputError, match="gone"):
        next(found)


class Silent(nullcontext):
    """Progress that nobody watches."""

    def row(self):
        pass


def ended(rows):
    tally = Tally(None, print)
    failure = run(
        (), lambda _: rows, marks=list, finished=None, tally=tally, progress=Silent(),
        writer=lambda _: None, kept=lambda: "all is kept", worth=lambda: tally.made,
    )  # fmt: skip
    return tally.made, failure


def interrupted():
    yield 1
    raise KeyboardInterrupt


def test_a_failure_leaves_a_run_incomplete_or_void():
    assert ended(iter("ab")) == (2, None)
    made, failure = ended(failing("a"))
    assert (made, str(failure)) == (1, "gone")
    with pytest.raises(InputError, match="gone"):
        ended(failing())
    with pytest.raises(KeyboardInterrupt, match="interrupted: all is kept"):
        ended(interrupted())
