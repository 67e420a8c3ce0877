"""What the stages of a recipe read."""

from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from prevalence.errors import ConfigurationError
from prevalence.training import state
from prevalence.training.loop import RunResult, TrainingProgress
from prevalence.training.recipe import Recipe, read_recipe
from prevalence.training.sources import Sources
from prevalence.training.stages import Workshop

if TYPE_CHECKING:
    from collections.abc import Callable

    from prevalence.training.loop import RunPlan
    from prevalence.training.model import Classifier


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

    first = Sources(read_recipe(path), None)
    assert [d.premise for d in first.documents("released")] == [f"review {n}." for n in range(4)]
    judged = first.judged("released")
    assert judged.pairs[1] == ("review 1.", "It is red.")
    assert judged.labels.tolist() == [False, True, False, True]
    # Other texts make another source, so stages trained on it are not taken for these.
    gold.write_text(gold.read_text(encoding="utf-8").replace("review 1.", "other."))
    assert Sources(read_recipe(path), None).digests["released"] != first.digests["released"]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the runs that a workshop asked for; none of them trains."""
    runs: list[str] = []

    def train_run(classifier: Classifier, plan: RunPlan, *_: object, **__: object) -> RunResult:
        runs.append(plan.name)
        return RunResult(state.trainable_weights(classifier.model), 1, [0.0], [], 0.0)

    monkeypatch.setattr("prevalence.training.stages.train_run", train_run)
    return runs


def workshop(
    recipe: Recipe, work: Path, progress: Callable[[TrainingProgress], None] | None = None
) -> Workshop:
    """The workshop of a recipe whose base is a folder."""
    return Workshop(
        Sources(recipe, None), base=Path(recipe.model.base), work=work,
        device=torch.device("cpu"), progress=progress,
    )  # fmt: skip


def test_judging_many_pairs_reports_how_far_it_is(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    events: list[TrainingProgress] = []
    shop = workshop(read_recipe(recipe_file()), tmp_path, events.append)
    pair = ("it is red", "the mug is red")
    shop.entailment([pair] * 400, run="few")
    assert events == []
    assert len(shop.entailment([pair] * 3000, run="many")) == 3000
    assert {(event.run, event.steps, event.loss) for event in events} == {("many", 3000, None)}
    steps = [0, *(event.step for event in events)]
    assert len(steps) > 2
    assert all(later - step >= 500 for step, later in itertools.pairwise(steps))


def run_first_stage(path: Path, work: Path) -> None:
    """Run the recipe's first stage, or fetch it."""
    recipe = read_recipe(path)
    shop = workshop(recipe, work)
    shop.run_stage(recipe.stages[0], shop.start)


def test_other_validation_pairs_make_another_stage(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path, trained: list[str]
) -> None:
    held = tmp_path / "held.jsonl"
    held.write_bytes(pairs_file.read_bytes())
    path = recipe_file(validation="source = 'held'\n")
    source = f"[[source]]\nname = 'held'\npath = {str(held)!r}\nlicence = 'MIT'\n"
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")
    for _ in range(2):
        run_first_stage(path, tmp_path / "work")
    assert trained == ["only"]
    held.write_text(held.read_text(encoding="utf-8").replace("works", "runs"), encoding="utf-8")
    run_first_stage(path, tmp_path / "work")
    assert trained == ["only", "only"]


@pytest.mark.parametrize(
    ("rounded", "judged", "runs"),
    [("false", {}, 1), ("true", {}, 3), ("false", {"validation": "source = 'pairs'\n"}, 3)],
)
def test_how_weights_are_stored_makes_another_stage_only_where_it_is_trained_or_judged_on(
    recipe_file: Callable[..., Path],
    trained: list[str],
    rounded: str,
    judged: dict[str, str],
    runs: int,
) -> None:
    stage = (
        "[[stage]]\nname = 'only'\nlearning_rate = 1e-3\nmix = [{ source = 'pairs' }]\n"
        f"rounded = {rounded}\n"
    )
    for store in ("'int8'", "'int4'", "'int4'\nblock = 8"):
        path = recipe_file(stage, output=f"store = {store}\n", **judged)
        run_first_stage(path, path.parent / "work")
    assert len(trained) == runs


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_every_file_of_the_base_counts(
    recipe_file: Callable[..., Path], tiny_base: Path, tmp_path: Path, trained: list[str], name: str
) -> None:
    base = tmp_path / "base"
    shutil.copytree(tiny_base, base)
    path = recipe_file(model=f"base = {str(base)!r}\n")
    run_first_stage(path, tmp_path / "work")
    if name == "model.safetensors":
        # As a later shard: read beside the first one, which stays as it is.
        shutil.copy(base / name, base / "model-2.safetensors")
    else:
        (base / name).write_text((base / name).read_text(encoding="utf-8") + "\n", "utf-8")
    run_first_stage(path, tmp_path / "work")
    assert trained == ["only", "only"]


def test_a_source_takes_the_products_that_it_names(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    labelled = tmp_path / "labelled.jsonl"
    rows = [
        {"premise": f"it is {n}", "hypothesis": "x", "label": 1, "group": group}
        for n, group in enumerate(["dev/A", "dev/B", "other/C"])
    ]
    labelled.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = recipe_file()

    def source(name: str, **keys: str) -> str:
        lines = [f"{key} = {value!r}\n" for key, value in keys.items()]
        return f"[[source]]\nname = {name!r}\npath = {str(labelled)!r}\nlicence = 'MIT'\n" + (
            "".join(lines)
        )

    parts = [source("dev", only="dev/"), source("rest", leave_out="dev/"), source("none", only="z")]
    path.write_text(path.read_text(encoding="utf-8") + "".join(parts), encoding="utf-8")
    sources = Sources(read_recipe(path), None)
    assert [document.group for document in sources.documents("dev")] == ["A", "B"]
    assert [document.group for document in sources.documents("rest")] == ["other/C"]
    assert sources.judged("dev").groups.tolist() == ["A", "B"]
    assert sources.judged("rest").groups.tolist() == ["other/C"]
    assert len({sources.digests[name] for name in ("dev", "rest", "none")}) == 3
    with pytest.raises(ConfigurationError, match=r"no product of .* is left by only = 'z'"):
        sources.documents("none")


def test_a_product_is_held_out_of_every_source(
    recipe_file: Callable[..., Path],
    pairs_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Counter[tuple[str, str]]] = []

    def train_run(classifier: Classifier, plan: RunPlan, *_: object, **__: object) -> RunResult:
        examples = [example for epoch in plan.epochs for example in epoch]
        seen.append(Counter((example.premise, example.hypothesis) for example in examples))
        return RunResult(state.trainable_weights(classifier.model), 1, [0.0], [], 0.0)

    monkeypatch.setattr("prevalence.training.stages.train_run", train_run)
    again = tmp_path / "again.jsonl"
    again.write_bytes(pairs_file.read_bytes())
    stages = (
        "[[stage]]\nname = 'only'\nlearning_rate = 1e-3\n"
        "mix = [{ source = 'pairs' }, { source = 'again' }]\n"
    )
    path = recipe_file(stages)
    source = f"[[source]]\nname = 'again'\npath = {str(again)!r}\nlicence = 'MIT'\n"
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")
    recipe = read_recipe(path)
    shop = workshop(recipe, tmp_path / "work")
    documents = shop.sources.documents("pairs")
    held = documents[0].group
    shop.run_stage(recipe.stages[0], shop.start, without=frozenset({held}))
    kept = Counter(
        (document.premise, text)
        for document in documents
        if document.group != held
        for text in document.hypotheses
    )
    assert 0 < kept.total() < sum(len(document.hypotheses) for document in documents)
    assert seen == [kept + kept]


@pytest.mark.parametrize(
    ("written", "choice"),
    [({"greedy": "It is red.", "human": "It is."}, "choose from greedy, human"), ({}, "there are")],
)
def test_a_source_names_only_systems_that_wrote_summaries(
    recipe_file: Callable[..., Path], tmp_path: Path, written: dict[str, str], choice: str
) -> None:
    record = {"product_id": "p", "reviews": ["It is red."], "summaries": written}
    data = tmp_path / "unlabelled.jsonl"
    data.write_text(json.dumps(record) + "\n", encoding="utf-8")
    path = recipe_file()
    source = (
        f"[[source]]\nname = 'reviews'\npath = {str(data)!r}\nlicence = 'MIT'\n"
        "summaries = ['greedy', 'greedi']\n"
    )
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")
    said = f"source 'reviews': summaries: no unlabelled product has a summary by .*greedi; {choice}"
    with pytest.raises(ConfigurationError, match=said):
        workshop(read_recipe(path), tmp_path / "work")
