"""The outputs in docs/tutorial.md, made anew by running its commands in order.

    python -m benchmarks.tutorial

A block of a command and the block of text after it are the command and its output. What a command
writes goes to a temporary folder with a copy of examples/.
"""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from prevalence.cli import main as prevalence

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorial.md"

_COMMANDS = re.compile(
    r"```console\n(?P<commands>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?", re.DOTALL
)


def run(commands: str) -> str:
    """What the commands of a block print.

    Raises:
        RuntimeError: one of them failed.
    """
    printed = []
    for line in commands.splitlines():
        words = shlex.split(line.removeprefix("$ prevalence "))
        done = CliRunner().invoke(prevalence, words)
        if done.exit_code:
            raise RuntimeError(f"{line}: exit status {done.exit_code}: {done.stderr}")
        printed.append(done.stdout)
    return "\n".join(line.rstrip() for line in "".join(printed).splitlines()) + "\n"


def renewed(page: str) -> str:
    """The page with the outputs that its commands print now."""

    def block(found: re.Match[str]) -> str:
        output = run(found["commands"])
        if found["output"] is None:
            return found[0]
        return f"```console\n{found['commands']}```\n\n```text\n{output}```\n"

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        with chdir(folder):
            return _COMMANDS.sub(block, page)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
