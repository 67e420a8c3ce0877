"""How well are sentences cut into claims? Rules beside claims cut by hand, and read by people.

A cut claim matches one cut by hand when the F1 of their words is at least 0.8 (lower case,
punctuation left aside, each word as often as it stands there); matches are one to one, and as many
as there can be. Precision is the matched share of the claims that the rules make, recall that of
the claims cut by hand, both pooled over sentences. "Whole" is the baseline that cuts nothing.

Besides, readers judged claims of 163, 176 and 819 sentences as language models write them, and of
424 as shops and sites publish them: sound, broken (no statement) or wrong (the sentence does not
say it). A sentence left whole is sound; a claim that no reader has seen, because the rules have
changed, is counted apart.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common import ROOT, append_row, environment, show_table
from prevalence.claims import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Cutter = Callable[[str], Sequence[str]]

__all__ = ["READ", "Agreement", "agreement", "main", "matches", "soundness", "word_f1"]

HAND_CUT = tuple(
    ROOT / "benchmarks" / "data" / name for name in ("claims.jsonl", "claims_more.jsonl")
)
READ = tuple(
    ROOT / "benchmarks" / "data" / f"{name}.jsonl"
    for name in (
        "claim_soundness",
        "claim_soundness_more",
        "claim_soundness_sites",
        "claim_soundness_sentences",
    )
)
LEAST_F1 = 0.8
PARTS = ("tuning", "second", "apart")

_WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts over sentences.

    Attributes:
        sentences: how many.
        made: claims of the rules.
        wanted: claims cut by hand.
        matched: pairs of them.
    """

    sentences: int
    made: int
    wanted: int
    matched: int

    @property
    def precision(self) -> float:
        """Share of the claims made that one cut by hand matches."""
        return self.matched / self.made if self.made else 0.0

    @property
    def recall(self) -> float:
        """Share of the claims cut by hand that are made."""
        return self.matched / self.wanted if self.wanted else 0.0


def word_f1(one: str, other: str) -> float:
    """F1 of the words of two texts, as bags.

    >>> word_f1("It does not leak.", "it does leak")
    0.8571428571428571
    """
    bags = [Counter(_WORD.findall(text.lower())) for text in (one, other)]
    total = sum(map(Counter.total, bags))
    return 2 * (bags[0] & bags[1]).total() / total if total else 0.0


def matches(made: Sequence[str], wanted: Sequence[str]) -> int:
    """Most pairs of a made and a wanted claim that fit, each claim in one pair at most.

    >>> matches(["It fits.", "It fits."], ["It fits.", "It leaks."])
    1
    """
    fits = [[k for k, text in enumerate(wanted) if word_f1(one, text) >= LEAST_F1] for one in made]
    taken: dict[int, int] = {}

    def place(number: int, seen: set[int]) -> bool:
        for k in fits[number]:
            if k not in seen:
                seen.add(k)
                if k not in taken or place(taken[k], seen):
                    taken[k] = number
                    return True
        return False

    return sum(place(number, set()) for number in range(len(made)))


def agreement(rows: Iterable[dict[str, Any]], cutter: Cutter) -> Agreement:
    """Compare a cutter with claims cut by hand, rows of ``{"sentence", "claims"}``."""
    counts = [0, 0, 0, 0]
    for row in rows:
        made, wanted = list(cutter(str(row["sentence"]))), list(row["claims"])
        found = (1, len(made), len(wanted), matches(made, wanted))
        counts = [before + more for before, more in zip(counts, found, strict=True)]
    return Agreement(*counts)


def soundness(rows: Iterable[dict[str, Any]], cutter: Cutter) -> Counter[str]:
    """How many claims are ``whole`` sentences, ``sound``, ``broken``, ``wrong`` or not ``read``.

    Args:
        rows: of ``{"sentence", "claims"}``, where ``claims`` has the judgement of a claim.
        cutter: makes claims of a sentence.
    """
    found: Counter[str] = Counter()
    for row in rows:
        sentence = str(row["sentence"])
        for claim in cutter(sentence):
            whole = claim.rstrip(".") == sentence.rstrip(".")
            found["whole" if whole else row["claims"].get(claim, "not read")] += 1
    return found


def _rules(sentence: str) -> list[str]:
    return [claim.text for claim in cut(sentence)]


def _whole(sentence: str) -> list[str]:
    return [sentence]


def _read(paths: Sequence[Path]) -> list[dict[str, Any]]:
    rows = []
    for path in paths:
        if not path.is_file():
            print(f"note: no {path}; it is left out")
            continue
        rows += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return rows


def main() -> None:
    """Print precision and recall by source and part, and the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--more", type=Path, nargs="*", default=[], help="more files of claims cut by hand"
    )
    parser.add_argument("--save", action="store_true", help="append a row to benchmarks/results")
    options = parser.parse_args()
    rows = _read([*HAND_CUT, *options.more])
    table, saved = [], []
    sources = [*dict.fromkeys(str(row["source"]) for row in rows), "all"]
    for part in PARTS:
        for source in sources:
            chosen = [
                row for row in rows if row["part"] == part and source in {row["source"], "all"}
            ]
            if not chosen:
                continue
            for name, cutter in (("rules", _rules), ("whole", _whole)):
                found = agreement(chosen, cutter)
                table.append([part, source, name, f"{found.sentences:,}", f"{found.made:,}",
                              f"{found.wanted:,}", f"{found.precision:.3f}",
                              f"{found.recall:.3f}"])  # fmt: skip
                saved.append({"part": part, "source": source, "cutter": name,
                              "precision": found.precision, "recall": found.recall})  # fmt: skip
    show_table(
        ["part", "source", "cutter", "sentences", "made", "by hand", "precision", "recall"],
        table,
        title="Claims cut by rule, against claims cut by hand",
        left=("part", "source", "cutter"),
    )
    read = {path.stem: soundness(_read([path]), _rules) for path in READ}
    kinds = ("sound", "broken", "wrong", "not read", "whole")
    body = []
    for name, counts in read.items():
        cut_up = sum(counts[kind] for kind in kinds[:3])
        body.append([name, *(f"{counts[kind]:,}" for kind in kinds)])
        body.append(["  of those read", *(f"{counts[kind] / cut_up:.3f}" for kind in kinds[:3]),
                     "", ""])  # fmt: skip
    show_table(["claims of the rules", *kinds[:4], "left whole"], body,
               title="Claims as readers judged them")  # fmt: skip
    texts = [str(row["sentence"]) for row in rows] * 10
    begin = time.process_time()
    for text in texts:
        cut(text)
    seconds = time.process_time() - begin
    print(f"{len(texts) / seconds:,.0f} sentences a second of processor time")
    if options.save:
        append_row(
            "claims",
            {
                **environment("cpu"),
                "figures": saved,
                "read": {name: dict(counts) for name, counts in read.items()},
            },
        )


if __name__ == "__main__":
    main()
