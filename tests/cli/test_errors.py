"""Errors and interrupts that end a command, and those that do not."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from prevalence.cli.errors import reported

if TYPE_CHECKING:
    import pytest


def test_what_python_drops_goes_to_the_hook_that_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    lost = SimpleNamespace(exc_type=ValueError)
    with reported(lambda: False):
        sys.unraisablehook(lost)  # type: ignore[arg-type]
    assert seen == [lost]
    sys.unraisablehook(lost)  # type: ignore[arg-type]
    assert seen == [lost, lost]
