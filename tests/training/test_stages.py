"""What the stages of a recipe read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch

from prevalence.training.recipe_file import read_recipe
from prevalence.training.stages import Workshop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_released_answers_are_a_source(recipe_file: Callable[..., Path], tmp_path: Path) -> None:
    header = ["cat", "prod_id", *(f"rev{n}" for n in range(1, 9)), "summ1", "summ2", "summ3"]
    product = ["home", "A1", *(f"review {n}." for n in range(8)), "It is red.", "It is.", "Red."]
    gold = tmp_path / "gold.csv"
    gold.write_text("\t".join(header) + "\n" + "\t".join(product) + "\n", encoding="utf-8")
    answers = tmp_path / "answers.jsonl"
    rows = [{"problem": f"A1:{n}:0", "worker": "majority", "answers": [n % 2]} for n in range(4)]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = recipe_file()
    source = (
        f"[[source]]\nname = 'released'\npath = {str(answers)!r}\nproducts = {str(gold)!r}\n"
        "licence = 'MIT'\n"
    )
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")

    def shop() -> Workshop:
        return Workshop(
            read_recipe(path),
            work=tmp_path / "work",
            data=None,
            device=torch.device("cpu"),
            progress=None,
        )

    first = shop()
    assert [d.premise for d in first.documents("released")] == [f"review {n}." for n in range(4)]
    judged = first.judged("released")
    assert judged.pairs[1] == ("review 1.", "It is red.")
    assert judged.labels.tolist() == [False, True, False, True]
    # Other texts make another source, so stages trained on it are not taken for these.
    gold.write_text(gold.read_text(encoding="utf-8").replace("review 1.", "other."))
    assert shop().digests["released"] != first.digests["released"]
