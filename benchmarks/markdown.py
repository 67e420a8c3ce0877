"""What marks and openings in a sentence cost, where a model is asked about it as it stands.

    python -m benchmarks.markdown
    python -m benchmarks.markdown --model base --pairs 500 --save

Sentences of OpinSummEval's summaries, each judged for eight reviews, are dressed as language models
write them: in bold, behind a name, behind "Overall,". What a sentence says stays the same, so a
model should decide the same. `cut` says how often the sentence cutter takes the dress off again.
The released data are not part of this repository.
"""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import DATA, append_row, environment, show_table
from benchmarks.quality import Embedded, judged_pairs
from prevalence import calibration
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

PLAIN = "as it is"


def _topic(sentence: str) -> str:
    """The longest word, as the name of what a sentence is about."""
    words: list[str] = re.findall(r"[A-Za-z]+", sentence)
    return max(words, key=len, default="Overall").capitalize()


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


DRESSES: dict[str, Callable[[str], str]] = {
    PLAIN: lambda sentence: sentence,
    "in bold": lambda sentence: f"**{sentence}**",
    "a name in bold before it": lambda sentence: f"**{_topic(sentence)}:** {sentence}",
    "a plain name before it": lambda sentence: f"{_topic(sentence)}: {sentence}",
    "a tick before it": lambda sentence: f"\u2705 {sentence}",
    "in quotation marks": lambda sentence: f'"{sentence}"',
    "a reference behind it": lambda sentence: f"{sentence}[1][4]",
    "Overall, ...": lambda sentence: f"Overall, {_small(sentence)}",
    "However, ...": lambda sentence: f"However, {_small(sentence)}",
}
"""Ways to write the same sentence, by name."""


def measure(
    model: Embedded, pairs: Sequence[tuple[str, str]], truth: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Decisions on the sentences in each dress, asked about as they stand.

    Args:
        model: whose decisions.
        pairs: reviews and sentences.
        truth: bool [pairs], whether the review supports the sentence.

    Returns:
        For each dress the share of pairs that count as supported, the share decided otherwise than
        without it, AUC, and the share of sentences that the cutter gives back as they were.
    """
    split, threshold = get_splitter(), model.scorer.traits.threshold
    sentences = sorted({sentence for _, sentence in pairs})
    rows: list[dict[str, Any]] = []
    plain: NDArray[np.bool_] | None = None
    for name, dress in DRESSES.items():
        chances, _ = model.probabilities([(review, dress(said)) for review, said in pairs])
        decided = chances > threshold
        plain = decided if plain is None else plain
        bare = [_same(split(dress(said)), split(said)) for said in sentences]
        rows.append({
            "dress": name,
            "supported": float(decided.mean()),
            "decided_otherwise": float((decided != plain).mean()),
            "auc": calibration.auc(chances, truth),
            "cut": float(np.mean(bare)),
        })  # fmt: skip
    return rows


def _same(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Whether sentences are the same, whatever their capitals and white space."""
    one, other = ([s.text.lower().split() for s in sentences] for sentences in (found, expected))
    return one == other


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.markdown")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    parser.add_argument("--pairs", type=int, default=3000, help="drawn with a fixed seed")
    parser.add_argument("--save", action="store_true", help="append to benchmarks/results/")
    options = parser.parse_args(arguments)
    file = DATA / "opinsummeval.jsonl"
    if not file.is_file():
        raise SystemExit(f"{file} is not here; set PREVALENCE_DATA")
    released = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    pairs, truth = judged_pairs(released)
    drawn = np.random.default_rng(0).permutation(len(pairs))[: options.pairs]
    rows = measure(Embedded(options.model), [pairs[k] for k in drawn], truth[drawn])
    columns = ("supported", "decided_otherwise", "auc", "cut")
    body = [[row["dress"], *(f"{row[column]:.3f}" for column in columns)] for row in rows]
    show_table(["sentence", "supported", "decided otherwise", "AUC", "cut"], body)
    if options.save:
        stated = {"model": options.model, "pairs": len(drawn), "true": float(truth[drawn].mean())}
        append_row("markdown", {**environment("cpu"), **stated, "rows": rows})


if __name__ == "__main__":
    main()
