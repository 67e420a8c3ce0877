"""Waits that workers share, and what headers say of them."""

from __future__ import annotations

import random

import pytest

from prevalence.llm.pace import Pace, parse_duration, retry_after


def test_a_header_that_says_nothing_is_left_holds_every_worker():
    now = [0.0]
    pace = Pace(base=1, longest=60, random=random.Random(0), now=lambda: now[0])
    pace.heed({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s"})
    waited = []
    pace.sleep = lambda seconds: (waited.append(seconds), now.__setitem__(0, now[0] + seconds))
    pace.wait()
    assert waited == [60]
    pace.heed({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "1m2s"})
    pace.wait()
    assert waited == [60]


def test_delays_double_with_jitter_up_to_a_bound():
    pace = Pace(base=1.0, longest=8.0, random=random.Random(3))
    for attempt, full in enumerate([1, 2, 4, 8, 8, 8]):
        drawn = [pace.delay(attempt) for _ in range(50)]
        assert full / 2 <= min(drawn) < max(drawn) <= full
    assert pace.delay(10_000) <= 8


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "inf"}, 0.0),
        ({}, 0.0),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after(headers, wall=lambda: 10.0) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("20ms", 0.02), ("1s", 1), ("6m0s", 360), ("1h2m3.5s", 3723.5), ("", None), ("1x", None),
     ("5", None), ("1" * 100_000, None)],
)  # fmt: skip
def test_durations(text, seconds):
    assert parse_duration(text) == seconds
