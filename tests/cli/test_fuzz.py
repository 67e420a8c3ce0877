"""Damaged inputs made from a seed, for every command that reads records, and those that were found.

`make fuzz` makes FUZZ of them instead of the few of `make test`; a failure shows its input, whose
line belongs into fuzz_corpus.jsonl.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

LEXICAL = ("--model", "rouge1-precision", "--threshold", "0.5", "--no-cache")
COMMANDS: dict[str, tuple[str, ...]] = {
    "score": ("score", "{input}", "--output", "{output}", *LEXICAL),
    "support": ("support", "{input}", "Warm boots.", "--format", "jsonl", *LEXICAL),
    "summarize": ("summarize", "{input}", "--method", "lead", "--output", "{output}"),
    "baselines": ("baselines", "{input}", "--metrics", "rouge-1", "--output", "{output}"),
    "calibrate": ("calibrate", "{input}", "--scorer", "rouge1-precision", "--no-cache"),
    "audit": ("audit", "{input}"),
    "meta": ("meta", "means", "{input}"),
}
PARTS = (
    '{"id": "p%d", "name": "x", "reviews": ["Warm boots.", "They leak."], "summary": "Warm."}\n',
    '{"id": "p%d", "reviews": ["a"], "summaries": {"s": "one", "t": "two"}}\n',
    '{"id": "p%d", "reviews": [], "summary": 3}\n',
    '{"schema": 1, "id": "p%d", "system": "s", "metrics": {"m": 1e300}, "human": {"d": [1]}}\n',
    '{"premise": "warm %d", "hypothesis": "warm", "label": 1}\n',
    "id,review,summary\nx%d,A.,S.\n",
    "[%d, [[[", "\x00\x1b]0;%d\x07", "\ufeff%d\u2028\n", "NaN%d", '"%d', "\u202e%d\r\n",
)  # fmt: skip
TOTAL = int(os.environ.get("FUZZ", "12"))
NAMES = ("in.jsonl", "in.json", "in.csv", "in.tsv", "in")


def damaged(seed: int) -> dict[str, Any]:
    """A command and an input, the same for the same seed."""
    draw = random.Random(seed)
    text = "".join(draw.choice(PARTS) % draw.randrange(3) for _ in range(draw.randrange(1, 6)))
    for _ in range(draw.randrange(4)):
        place = draw.randrange(len(text))
        text = (
            text[:place]
            + draw.choice(["", "\0", '"', "}", ",", "\n", "9" * 30])
            + text[place + draw.randrange(3) :]
        )
    return {"command": draw.choice(list(COMMANDS)), "name": draw.choice(NAMES), "text": text}


def corpus() -> list[dict[str, Any]]:
    path = Path(__file__).with_name("fuzz_corpus.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", [*corpus(), *map(damaged, range(TOTAL))], ids=str)
def test_nothing_is_lost_doubled_touched_or_shown_raw(
    case: dict[str, Any], run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    source, output = folder / case["name"], folder / "out.jsonl"
    source.write_bytes(case["text"].encode("utf-8", "surrogatepass"))
    before = source.read_bytes()
    words = [w.format(input=source, output=output) for w in COMMANDS[case["command"]]]
    result = run(*words)
    said = result.stderr
    assert result.exit_code in (0, 1, 2), said
    assert "Traceback" not in said
    assert "fault of prevalence" not in said
    assert "\x1b" not in said
    if result.exit_code == 2:
        assert any(line.startswith("error: ") for line in said.splitlines())
    assert source.read_bytes() == before
    assert {path.name for path in folder.iterdir()} <= {source.name, output.name}
    if output.exists():
        first = output.read_bytes()
        assert all(isinstance(json.loads(line), dict) for line in first.splitlines())
        run(*words)
        assert output.read_bytes() == first
