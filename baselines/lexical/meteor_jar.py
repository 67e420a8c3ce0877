"""METEOR 1.5 by its authors' Java program, asked over a pipe: nlg-eval's METEOR.

The program is not shipped (LGPL, 60 MB with its paraphrases); it comes with the METEOR 1.5 archive
and inside the package pycocoevalcap. It runs as nlg-eval runs it: ``-l en -norm``.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import weakref
from typing import TYPE_CHECKING

from prevalence.baselines.rules import comparing
from prevalence.errors import BackendError, ConfigurationError
from prevalence.files import expanded_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["MeteorProgram", "missing_java", "open_meteor_jar"]

_SEPARATOR = "|||"


def open_meteor_jar(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Start the program.

    Raises:
        ConfigurationError: no jar is named, or it is no file.
    """
    jar = expanded_path(spec.options.get("jar", ""))
    if not jar.is_file():
        raise ConfigurationError(f"{entry.name}: jar={jar}: name the file, {entry.name}:jar=FILE")
    digest = hashlib.blake2b(jar.read_bytes(), digest_size=4).hexdigest()
    program = MeteorProgram(jar)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [program.score(item.summary, item.text) for item in comparisons]

    signature = {"impl": f"meteor-1.5@{digest}", "norm": "yes"}
    return comparing(entry, spec, compute, signature=signature)


def missing_java() -> str | None:
    """What to install where there is no Java."""
    return None if shutil.which("java") else "a Java runtime (the command java)"


class MeteorProgram:
    """A running METEOR that answers a line with a line.

    Args:
        jar: the program; its data folder stands beside it.
    """

    def __init__(self, jar: Path) -> None:
        options = ["-", "-", "-stdio", "-l", "en", "-norm"]
        self._process = subprocess.Popen(  # noqa: S603 - the user names the program
            ["java", "-Xmx2G", "-jar", str(jar.resolve()), *options],  # noqa: S607
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        weakref.finalize(self, _end, self._process)

    def score(self, summary: str, reference: str) -> float:
        """METEOR of a summary against one reference.

        Raises:
            BackendError: the program has ended or does not answer with numbers.
        """
        self._say(f"SCORE {_SEPARATOR} {_one_line(reference)} {_SEPARATOR} {_one_line(summary)}")
        statistics = self._answer()
        self._say(f"EVAL {_SEPARATOR} {statistics}")
        # One value for each segment, and then one for all of them.
        values = self._answer(), self._answer()
        try:
            return float(values[1])
        except ValueError:
            raise BackendError(f"METEOR answered {values[1]!r}, not a number") from None

    def _say(self, line: str) -> None:
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(line + "\n")
                pipe.flush()
        except OSError as error:
            raise BackendError(f"METEOR has ended ({error}); does java run the jar?") from error

    def _answer(self) -> str:
        pipe = self._process.stdout
        line = "" if pipe is None else pipe.readline()
        if not line.endswith("\n"):
            raise BackendError("METEOR has ended without an answer; does java run the jar?")
        return line.strip()


def _one_line(text: str) -> str:
    """The text without what the program reads as a separator or as the end of a line."""
    return " ".join(text.replace(_SEPARATOR, "").split())


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
