"""The command as a process, and the cluster's workers in this process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@pytest.fixture
def entry_point() -> Callable[..., subprocess.Popen[str]]:
    """Start the installed command that belongs to this interpreter."""
    found = shutil.which("prevalence", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the package is not installed next to this interpreter")

    def start(*words: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [found, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )

    return start


class PoolHere:
    """A pool whose workers are function calls; it notes which splits were sent."""

    size = 2

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.identified = 0
        self.lost: set[int] = set()

    def once(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return work(*arguments)

    def shared(self, value: Any) -> Any:
        return value

    def each(self, work: Callable[..., Any], items: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        for item in items:
            self.identified += work.__name__ == "identities"
            yield work(*item)

    def stream(
        self, worker: type, arguments: dict[str, Any], rows: list[dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        made = worker(**arguments)
        for row in rows:
            if row["place"] not in self.lost:
                self.sent.append(row["place"])
                yield made.report(**row)


@pytest.fixture
def pool() -> PoolHere:
    """Workers in this process."""
    return PoolHere()
