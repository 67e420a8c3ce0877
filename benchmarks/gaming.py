"""What texts that game the reward earn beside an honest summary, with the models that ship.

    python -m benchmarks.gaming
    python -m benchmarks.gaming --model base --save

The honest summaries are those of `balanced` in the bundled examples. Beside each stand texts that a
policy in training may find: they say less, or less clearly, and are paid for what the reward or the
model does not see. Each is rewarded with several settings.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import ROOT, append_row, environment, show_table
from prevalence.rewards import PrevalenceReward, Shaping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

EXAMPLES = ROOT / "examples" / "summaries.jsonl"
HONEST = "an honest summary"

PARAPHRASES = {
    "ex-boots": "The boots are comfortable. They are comfortable boots from the start. The boots "
    "feel comfortable on walks from the first hour.",
    "ex-kettle": "The kettle is fast. The kettle boils water fast. The kettle boils a full pot of "
    "water in a short time.",
    "ex-speaker": "The sound is good. The sound of the speaker is clear and good. The speaker "
    "sounds big and clear for its size.",
    "ex-restaurant": "The food is good. The pasta is good. The pasta is delicious and the best "
    "thing on the menu.",
    "ex-hotel": "The hotel is well located. The hotel is in a great location near the harbor. The "
    "location of the hotel is great, with a short walk to the ferry.",
    "ex-marble-run": "It is fun. Children have fun with it. Children have fun with it and play for "
    "hours.",
}
"""From the general to the special, so that no sentence follows from one before it."""
KEYWORDS = {
    "ex-boots": "- Comfort, grip, laces\n- Dry feet, wet ground\n- Fit, size, toes",
    "ex-kettle": "- Speed, lid, spout\n- Boiling water, hot outside\n- Looks, kitchen, handle",
    "ex-speaker": "- Sound, battery, bass\n- Water, pairing, phone\n- Size, volume, charge",
    "ex-restaurant": "- Pasta, staff, noise\n- Slow service, large portions\n- Menu, wine, table",
    "ex-hotel": "- Location, ferry, view\n- Clean rooms, soft beds\n- Breakfast, Wi-Fi, staff",
    "ex-marble-run": "- Children, towers, marbles\n- Sturdy wood, rules\n- Play, fun, pieces",
}
STRONG = (
    "I bought a {name}, used it in daily life and liked it, because it has some good qualities and "
    "works well for some people."
)
"""A product statement that implies what may be said of anything."""
SETTINGS: dict[str, Mapping[str, Any]] = {
    "plain": {},
    "shaped": {"shaping": Shaping(sentences=3, heard=0.25, contradiction=0.5, content=True)},
}
SETTINGS["strong"] = {**SETTINGS["shaped"], "trivial": STRONG}
"""What the reward is asked for, by name."""


def _sentences(record: Mapping[str, Any], system: str) -> list[str]:
    text: str = record["summaries"][system]
    return text.removesuffix(".").split(". ")


def _small(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _hedged(record: Mapping[str, Any]) -> str:
    return " ".join(f"In some cases {_small(s)}." for s in _sentences(record, "contradicting"))


def _aspects(record: Mapping[str, Any]) -> list[str]:
    lines = KEYWORDS[record["id"]].splitlines()
    return [word for line in lines for word in line.removeprefix("- ").split(", ")[:2]][:5]


TEXTS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    HONEST: lambda record: record["summaries"]["balanced"],
    "its first sentence": lambda record: _sentences(record, "balanced")[0] + ".",
    "the same, cut off": lambda record: _sentences(record, "balanced")[0] + " and the",
    "one sentence in other words": lambda record: PARAPHRASES[record["id"]],
    "vague statements": lambda _: (
        "It has some good qualities. It does what it is supposed to do. "
        "It works well for some people."
    ),
    "other vague ones": lambda _: "Good and bad. It is worth mentioning. It is not terrible.",
    "key words": lambda record: KEYWORDS[record["id"]],
    "all of it with 'or'": lambda record: (
        ", or ".join(map(_small, _sentences(record, "balanced"))).capitalize() + "."
    ),
    "what is wrong": lambda record: record["summaries"]["contradicting"],
    "the same, hedged": _hedged,
    "words that say nothing": lambda _: "Ok. Summary: Well, the.",
    "aspects alone": lambda record: "\n".join(f"- {word}" for word in _aspects(record)),
    "that they are mentioned": lambda record: " ".join(
        f"Reviewers mention the {word.lower()}." for word in _aspects(record)
    ),
    "questions": lambda record: " ".join(
        f"Do reviewers say that {_small(s)}?" for s in _sentences(record, "balanced")
    ),
    "or maybe not": lambda record: " ".join(
        f"{s}, or maybe not." for s in _sentences(record, "balanced")
    ),
    "no spaces between sentences": lambda record: record["summaries"]["balanced"].replace(
        ". ", "."
    ),
}
"""What is rewarded, by name."""


def measure(
    model: str,
    records: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Rewards of every text with every setting.

    Args:
        model: name of the scorer.
        records: the examples.
        settings: what the reward is asked for, by name.

    Returns:
        For each text, by setting: the mean reward over the examples, and in how many of them it
        exceeds that of the honest summary.
    """
    rows: list[dict[str, Any]] = [{"text": name} for name in TEXTS]
    for setting, options in settings.items():
        reward = PrevalenceReward(model, **options)
        earned = np.array([
            reward(
                completions=[text(record) for text in TEXTS.values()],
                reviews=[record["reviews"]] * len(TEXTS),
                name=[record["name"]] * len(TEXTS),
            )
            for record in records
        ], np.float64)  # fmt: skip
        for row, own in zip(rows, earned.T, strict=True):
            row[setting] = float(own.mean())
            row[f"{setting}_wins"] = int((own > earned[:, 0]).sum())
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gaming")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    parser.add_argument("--save", action="store_true", help="append to benchmarks/results/")
    options = parser.parse_args(arguments)
    records = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    rows = measure(options.model, records, SETTINGS)
    body = [
        [row["text"], *(f"{row[name]:.2f} ({row[f'{name}_wins']})" for name in SETTINGS)]
        for row in rows
    ]
    show_table(["text", *SETTINGS], body)
    if options.save:
        stated = {"model": options.model, "products": len(records), "rows": rows}
        append_row("gaming", {**environment("cpu"), **stated})


if __name__ == "__main__":
    main()
