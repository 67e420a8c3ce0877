"""Released replies of a judge, re-read: the authors' rules, strict rules, and Table 4 by both.

    python -m benchmarks.judge_parsers FOLDER

FOLDER holds LLM_summeval's summaries with ratings by three experts and ChatGPT's replies, one file
a system, one summary a line: ``{"expert": [...], "eval": {EVALUATOR: {METHOD: {DIMENSION: {"resp",
"score", "rule"}}}}}``.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.baselines.judges.parsers import Reading, parser_for
from prevalence.llm.released_replies import reason_then_score_rule, reply_reader
from prevalence.stats.coefficients import coefficient

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prevalence.stats.coefficients import Kind

__all__ = ["Reply", "compare", "read_released", "table_4"]

_ANSWERS = {"rts": "plain", "mcq": "letter"}
KINDS: tuple[Kind, ...] = ("spearman", "pearson", "kendall")


class Reply(NamedTuple):
    """One released reply beside what people said."""

    method: str
    dimension: str
    text: str
    score: float
    rule: int | None
    human: float

    @property
    def compatible(self) -> float:
        """By the authors' rules."""
        return reply_reader(self.method)(self.text)

    @property
    def strict(self) -> Reading:
        """By the strict rules."""
        return parser_for(_ANSWERS[self.method])(self.text)


def read_released(folder: Path) -> Iterator[Reply]:
    """Every reply of the folder."""
    for path in sorted(folder.glob("M*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for methods in row["eval"].values():
                for method, dimensions in methods.items():
                    for dimension, answer in dimensions.items():
                        human = np.mean([rater[dimension] for rater in row["expert"]])
                        yield Reply(
                            method, dimension, answer["resp"], float(answer["score"]),
                            answer.get("rule"), float(human),
                        )  # fmt: skip


def compare(replies: Sequence[Reply]) -> dict[str, Counter[str]]:
    """Count, by method, where rules and released scores differ."""
    counts: dict[str, Counter[str]] = {}
    for reply in replies:
        found = counts.setdefault(reply.method, Counter())
        found["replies"] += 1
        found["compatible equals released"] += reply.compatible == reply.score
        if reply.rule is not None:
            found["rule equals released"] += reason_then_score_rule(reply.text)[1] == reply.rule
            found[f"released rule {reply.rule}"] += 1
        strict = reply.strict
        found["strict equals released"] += strict.value == reply.score
        found["strict reads another score"] += strict.value not in (None, reply.score)
        found["strict reads none"] += strict.value is None
    return counts


def table_4(replies: Sequence[Reply], method: str, dimension: str, kind: Kind) -> tuple[float, ...]:
    """The coefficient over all summaries, by the authors' rules and by the strict ones."""
    chosen = [r for r in replies if (r.method, r.dimension) == (method, dimension)]
    both = []
    for scores in ([r.compatible for r in chosen], [r.strict.value for r in chosen]):
        pairs = [(s, r.human) for s, r in zip(scores, chosen, strict=True) if s is not None]
        x, y = np.array(pairs).T
        both.append(coefficient(kind, x, y).value)
    return tuple(both)


def main() -> None:
    """Print the counts, and Table 4 by both readings."""
    replies = list(read_released(Path(sys.argv[1])))
    for method, counts in compare(replies).items():
        print(method, *(f"{name}: {count:,}" for name, count in counts.items()), sep="\n  ")
    print("\nTable 4 (pooled over all summaries): authors' rules → strict rules")
    for method in dict.fromkeys(reply.method for reply in replies):
        for dimension in dict.fromkeys(reply.dimension for reply in replies):
            cells = (table_4(replies, method, dimension, kind) for kind in KINDS)
            figures = "   ".join(f"{old:.4f} → {new:.4f}" for old, new in cells)
            print(f"  {method} {dimension:12} {figures}")


if __name__ == "__main__":
    main()
