"""When a server may be asked: waits that all workers share, and what its headers say of them."""

from __future__ import annotations

import math
import re
import threading
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

__all__ = ["Pace", "parse_duration", "retry_after"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,18})?)(ms|s|m|h|d)")
_LIMITS = ("requests", "tokens")


class Pace:
    """One clock for all workers of a server: when one is told to wait, all of them wait.

    Args:
        base: seconds before the first repetition, doubled for each further one.
        longest: most seconds between two repetitions that nobody asked for.
        random: draws the jitter, so that workers do not return together.
        now: a clock in seconds.
    """

    def __init__(
        self,
        *,
        base: float,
        longest: float,
        random: random.Random,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._base = base
        self._longest = longest
        self._random = random
        self._now = now
        self._open_at = -math.inf
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether :meth:`stop` was called."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """End every wait now."""
        self._stopped.set()

    def wait(self) -> None:
        """Return when the server may be asked, or when the pace is stopped."""
        while not self.stopped:
            with self._lock:
                left = self._open_at - self._now()
            if left <= 0:
                return
            self.sleep(left)

    def sleep(self, seconds: float) -> None:
        """Wait in one worker alone."""
        self._stopped.wait(min(seconds, threading.TIMEOUT_MAX))

    def hold(self, seconds: float) -> None:
        """Let nobody ask for so long."""
        with self._lock:
            self._open_at = max(self._open_at, self._now() + seconds)

    def delay(self, attempt: int) -> float:
        """Seconds before repetition 0, 1, ...: between half of the full delay and all of it."""
        full = min(self._longest, self._base * 2.0 ** min(attempt, 60))
        return full * self._random.uniform(0.5, 1.0)

    def heed(self, headers: Mapping[str, str]) -> None:
        """Hold when the headers of a reply say that nothing is left of an allowance."""
        for limit in _LIMITS:
            left = headers.get(f"x-ratelimit-remaining-{limit}", "")
            reset = parse_duration(headers.get(f"x-ratelimit-reset-{limit}", ""))
            if left.strip() in {"0", "0.0"} and reset is not None:
                self.hold(min(reset, self._longest))


def parse_duration(text: str) -> float | None:
    """Seconds of ``20ms``, ``1s``, ``6m0s`` or ``1h2m3s``; None for anything else.

    >>> parse_duration("1m30.5s")
    90.5
    """
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def retry_after(headers: Mapping[str, str], *, wall: Callable[[], float] = time.time) -> float:
    """Seconds that the server asks to wait; 0 where it asks for none or for nonsense.

    Args:
        headers: of a refusal.
        wall: the time of day in seconds, for dates.
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * scale
        except ValueError:
            seconds = _until(value, wall())
        if math.isfinite(seconds) and seconds > 0:
            return seconds
    return 0.0


def _until(date: str, now: float) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, OverflowError):
        return 0.0
