"""Fixtures of the kernels' tests."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def on_one_thread(one_thread: None) -> None:
    """All of them work on small arrays."""
