"""How a run goes and how it ends."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from prevalence.errors import InputError
from prevalence.runs.running import Tally, chunks, run


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
