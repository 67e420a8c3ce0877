"""Texts that game the reward, beside honest ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks import common, gaming

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

RECORDS = [
    json.loads(line) for line in gaming.EXAMPLES.read_text(encoding="utf-8").splitlines()
]  # fmt: skip


def test_texts_are_made_of_each_example() -> None:
    boots = RECORDS[0]
    made = {name: text(boots) for name, text in gaming.TEXTS.items()}
    assert made["its first sentence"] == "The soles grip well on wet ground."
    assert made["the same, cut off"] == "The soles grip well on wet ground and the"
    assert made["all of it with 'or'"].startswith("The soles grip well on wet ground, or the boots")
    assert made["the same, hedged"].startswith("In some cases the soles slip on wet ground. In")
    assert made["aspects alone"] == "- Comfort\n- grip\n- Dry feet\n- wet ground\n- Fit"
    assert made["that they are mentioned"].startswith("Reviewers mention the comfort. Reviewers")
    assert made["questions"].startswith(
        "Do reviewers say that the soles grip well on wet ground? D"
    )
    assert made["or maybe not"].startswith("The soles grip well on wet ground, or maybe not. The")
    assert made["no spaces between sentences"].startswith("The soles grip well on wet ground.The")
    known = {record["id"] for record in RECORDS}
    assert known == gaming.PARAPHRASES.keys() == gaming.KEYWORDS.keys()


def test_rewards_by_hand() -> None:
    reviews = ["The soles grip well on wet ground. They last.", "They last."]
    record = RECORDS[0] | {"reviews": reviews}
    rows = {row["text"]: row for row in gaming.measure("rouge1-precision", [record], {"plain": {}})}
    # One of the two reviews has all words of the first sentence, and none has those of the others.
    assert rows["its first sentence"]["plain"] == 0.5
    assert rows[gaming.HONEST]["plain"] == 0.1
    assert rows["its first sentence"]["plain_wins"] == 1
    assert rows[gaming.HONEST]["plain_wins"] == 0


def test_rows_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    monkeypatch.setattr(gaming, "SETTINGS", {"plain": {}})
    gaming.main(["--model", "rouge1-precision", "--save"])
    row = json.loads((tmp_path / "gaming.jsonl").read_text(encoding="utf-8"))
    assert (row["model"], row["products"]) == ("rouge1-precision", len(RECORDS))
    assert [found["text"] for found in row["rows"]] == list(gaming.TEXTS)
