"""Errors and interrupts that end a command, and those that do not."""

from __future__ import annotations

import signal
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from prevalence.cli.errors import reported

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from click.testing import Result

    Run = Callable[..., Result]


def test_what_python_drops_goes_to_the_hook_that_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    lost = SimpleNamespace(exc_type=ValueError)
    with reported(lambda: False):
        sys.unraisablehook(lost)  # type: ignore[arg-type]
    assert seen == [lost]
    sys.unraisablehook(lost)  # type: ignore[arg-type]
    assert seen == [lost, lost]


def test_memory_that_runs_out_is_no_fault_of_the_program(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 3.20 GiB")

    monkeypatch.setattr("prevalence.cli.models.print_json", full)
    result = run("models", "--json")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: memory ran out (Unable to allocate 3.20 GiB); give smaller input, or a machine "
        "with more memory\n"
    )


def test_a_request_to_end_is_no_ctrl_c_in_training_either(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prevalence.training.recipe.read_recipe", lambda _: None)
    # A job in the background starts with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        monkeypatch.setattr(
            "prevalence.training.pipeline.train",
            lambda *_, number=number, **__: signal.raise_signal(number),
        )
        ended = run("train", "recipe.toml", "--output", tmp_path)
        assert ended.exit_code == status
        assert ended.stderr == (
            f"interrupted: the same command resumes from {tmp_path / '.training'}\n"
        )
