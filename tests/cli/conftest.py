"""The command line in this process and in another one, and small inputs for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from prevalence.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., Result]
    Shell = Callable[..., subprocess.CompletedProcess[str]]

LEXICAL = ("--model", "rouge1-precision", "--threshold", "0.5")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds examples/."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test alone, as the default one."""
    folder = tmp_path / "default-cache"
    monkeypatch.setenv("PREVALENCE_CACHE", str(folder))
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def run(cache_folder: Path) -> Run:
    """Run a command in this process; a test sees what a user sees, and exit statuses."""

    def invoke(*arguments: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, [str(word) for word in arguments], input=stdin)

    return invoke


@pytest.fixture
def score(run: Run) -> Run:
    """Run ``prevalence score`` with the lexical scorer at threshold 0.5."""

    def invoke(*arguments: object, stdin: str | bytes | None = None) -> Result:
        return run("score", *LEXICAL, *arguments, stdin=stdin)

    return invoke


@pytest.fixture(scope="session")
def command() -> str:
    """The installed entry point that belongs to this interpreter."""
    found = shutil.which("prevalence", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the package is not installed next to this interpreter")
    return found


@pytest.fixture
def shell(cache_folder: Path, command: str, repository: Path) -> Shell:
    """Run a shell line, in which ``prevalence`` is the installed entry point."""

    def call(line: str, *, cwd: Path = repository) -> subprocess.CompletedProcess[str]:
        path = f"{Path(command).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-c", line],
            cwd=cwd,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write records as JSON Lines, and give the file."""

    def to_file(*records: Any, name: str = "input.jsonl") -> Path:
        path = tmp_path / name
        lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return to_file


@pytest.fixture
def boots() -> dict[str, Any]:
    """Three reviews and two systems, scored by hand in the tests that use it.

    ROUGE-1 precision at 0.5: "Warm boots." is implied by reviews 0 and 1 (2/2 words) but not by
    2 (0/2); "They leak." by review 2 (1/2 is not above 0.5, 2/2 is); "Warm boots!" repeats it.
    """
    return {
        "id": "p1",
        "name": "lamp",
        "reviews": ["Such warm boots.", "warm warm boots", "they leak badly"],
        "summaries": {"good": "Warm boots.", "double": "Warm boots. Warm boots! They leak."},
    }
