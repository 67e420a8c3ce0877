"""How far a record travels: the files of ours that one score enters, and the calls between them.

    python -m benchmarks.distance

Counts functions entered while one record is scored, with a lexical and with the embedded scorer,
by the command and by the Python API; imports and the opening of the scorer belong to it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from click.testing import CliRunner

from benchmarks.common import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

FOLDERS = ("prevalence", "baselines", "kernels")
LEXICAL, NEURAL = "rouge1-precision", "embedded"


class Distance(NamedTuple):
    """What one score passes.

    Attributes:
        files: files of ours with a function that was entered.
        functions: functions entered.
        crossings: calls from one of these files to another.
    """

    files: tuple[str, ...]
    functions: int
    crossings: int


def distance(work: Callable[[], object]) -> Distance:
    """Run something and say which files of ours it passed; what runs at import is left out."""
    entered: set[tuple[str, str]] = set()
    crossings = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal crossings
        home = _ours(frame)
        if event != "call" or home is None:
            return
        entered.add((home, frame.f_code.co_qualname))
        caller = frame.f_back and _ours(frame.f_back)
        crossings += caller is not None and caller != home

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return Distance(tuple(sorted({home for home, _ in entered})), len(entered), crossings)


def _ours(frame: FrameType) -> str | None:
    """The file of ours that a frame runs, from the root; None for others and for module bodies."""
    code = frame.f_code
    path = Path(code.co_filename)
    if code.co_name == "<module>" or not path.is_relative_to(ROOT):
        return None
    own = path.resolve().relative_to(ROOT)
    return str(own) if own.parts[0] in FOLDERS else None


def by_command(model: str) -> Callable[[], object]:
    """Score the first bundled record by the command."""
    from prevalence.cli import main

    record = (ROOT / "examples" / "summaries.jsonl").read_text(encoding="utf-8").splitlines()[0]

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "record.jsonl"
            path.write_text(record + "\n", encoding="utf-8")
            options = ["--model", model, "--threshold", "0.5", "--no-cache"]
            result = CliRunner().invoke(main, ["score", str(path), *options])
            if result.exit_code:
                raise RuntimeError(result.output)

    return work


def by_api(model: str) -> Callable[[], object]:
    """Score the same summary through the Python API."""
    from prevalence import OpinionPrevalence

    line = (ROOT / "examples" / "summaries.jsonl").read_text(encoding="utf-8").splitlines()[0]
    record = json.loads(line)

    def work() -> None:
        metric = OpinionPrevalence(model, threshold=0.5)
        metric.score(record["reviews"], record["summaries"]["balanced"], name=record["name"])

    return work


def main() -> None:
    """Print a line for each way; with --files also the files."""
    for kind, model in (("lexical", LEXICAL), ("neural", NEURAL)):
        for way, prepared in (("command", by_command(model)), ("API", by_api(model))):
            prepared()  # Imports, once.
            found = distance(prepared)
            print(
                f"{kind:8} {way:8} {len(found.files):3} files {found.functions:4} functions "
                f"{found.crossings:6,} crossings"
            )
            if "--files" in sys.argv:
                print("   " + "\n   ".join(found.files))


if __name__ == "__main__":
    main()
