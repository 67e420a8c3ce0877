"""Whole runs on a tiny model: learning, resuming, selection, export, command line."""

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file

from prevalence import calibration
from prevalence.calibration import auc
from prevalence.cli.train import train as command
from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.files import file_digest
from prevalence.nli.pairs import TextTable
from prevalence.nli.scorer import NLIScorer
from prevalence.training import state
from prevalence.training.loop import TrainingProgress
from prevalence.training.model import Classifier, load_classifier
from prevalence.training.pipeline import train
from prevalence.training.recipe import ModelSettings, Recipe, read_recipe
from prevalence.training.stages import predict

PREMISE_FIRST = "architecture = 'premise-first'\nmax_hypothesis = 16\n"
LEARNING = (
    "[[stage]]\nname = 'only'\nepochs = 6\nlearning_rate = 5e-3\nmix = [{ source = 'pairs' }]\n"
)


class StopError(Exception):
    """Stands for a crash."""


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def run(recipe: Recipe, folder: Path, *, stop_at: int = 0) -> None:
    def progress(event: TrainingProgress) -> None:
        if stop_at and event.step >= stop_at:
            raise StopError

    train(recipe, folder, device="cpu", progress=progress)


@pytest.mark.parametrize(
    ("model", "precision"),
    [("", "float32"), (PREMISE_FIRST, "float32"), (PREMISE_FIRST, "bfloat16")],
)
def test_resumed_run_equals_uninterrupted_run_bit_for_bit(
    model: str, precision: str, recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    path = recipe_file(
        optimizer="average_from = 0.5\n", output="store = 'float32'\n", model=model,
        run=f"precision = '{precision}'\n",
    )  # fmt: skip
    recipe = read_recipe(path)
    run(recipe, tmp_path / "whole")
    with pytest.raises(StopError):
        run(recipe, tmp_path / "broken", stop_at=8)
    partial = list((tmp_path / "broken" / ".training").glob("*.partial.safetensors"))
    assert len(partial) == 1
    assert state.load_tensors(partial[0])[1]["step"] == 6
    run(recipe, tmp_path / "broken")
    whole, broken = weights(tmp_path / "whole"), weights(tmp_path / "broken")
    assert whole.keys() == broken.keys()
    assert all(torch.equal(whole[name], broken[name]) for name in whole)
    assert not list((tmp_path / "broken" / ".training").glob("*.partial.safetensors"))


def test_a_resumed_run_keeps_the_best_epoch_of_before(
    recipe_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worse_and_worse = itertools.count(0, -1)
    monkeypatch.setattr("prevalence.training.stages.auc", lambda *_: next(worse_and_worse))
    path = recipe_file(
        LEARNING.replace("epochs = 6", "epochs = 3"), output="store = 'float32'\n",
        validation="source = 'pairs'\npatience = 9\n",
    )  # fmt: skip
    recipe = read_recipe(path)
    run(recipe, tmp_path / "whole")
    (finished,) = (tmp_path / "whole" / ".training").iterdir()
    epoch = state.load_tensors(finished)[1]["steps"] // 3
    with pytest.raises(StopError):
        run(recipe, tmp_path / "broken", stop_at=2 * epoch)
    (partial,) = (tmp_path / "broken" / ".training").iterdir()
    assert epoch < state.load_tensors(partial)[1]["step"] < 2 * epoch
    run(recipe, tmp_path / "broken")
    whole, broken = weights(tmp_path / "whole"), weights(tmp_path / "broken")
    assert all(torch.equal(whole[name], broken[name]) for name in whole)


def test_threads_of_a_base_do_not_stay(recipe_file: Callable[..., Path], tmp_path: Path) -> None:
    before = torch.get_num_threads()
    first = recipe_file(run=f"threads = {before + 1}\n")
    first.rename(tmp_path / "first.toml")
    recipe = read_recipe(recipe_file(model="base = 'recipe:first.toml'\n", run="threads = 0\n"))
    seen: list[int] = []
    train(
        recipe, tmp_path / "m", device="cpu",
        progress=lambda _: seen.append(torch.get_num_threads()),
    )  # fmt: skip
    assert set(seen) == {before, before + 1}
    assert seen == sorted(seen, reverse=True)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("model", ["", PREMISE_FIRST])
def test_a_model_learns_in_bfloat16(
    model: str, recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    path = recipe_file(
        LEARNING, validation="source = 'pairs'\npatience = 6\n", model=model,
        run="precision = 'bfloat16'\n",
    )  # fmt: skip
    result = train(read_recipe(path), tmp_path / "model", device="cpu")
    assert result.selection is not None
    assert result.selection.auc > 0.9


def test_tiny_model_learns_and_its_folder_loads_anywhere(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = tmp_path / "model"
    path = recipe_file(LEARNING, validation="source = 'pairs'\npatience = 6\n")
    result = train(read_recipe(path), folder, device="cpu")
    assert result.selection is not None
    assert result.selection.auc > 0.9
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    assert config["prevalence_threshold"] == pytest.approx(result.threshold, abs=1e-4)
    assert config["prevalence_max_length"] == 32
    assert "prevalence_contradiction" not in config
    assert config["id2label"] == {"0": "entailment", "1": "neutral", "2": "contradiction"}
    records = [json.loads(line) for line in pairs_file.read_text().splitlines()]
    pairs = [(r["premise"], r["hypothesis"]) for r in records]
    settings = ModelSettings("", max_length=32)
    scores = predict(Classifier(model, tokenizer, (0, 1, 2), settings), pairs)
    assert np.allclose(scores.sum(axis=1), 1.0, atol=1e-5)
    area = auc(scores[:, 0].astype(float), [r["label"] for r in records])
    assert area == pytest.approx(result.selection.auc, abs=0.01)
    card = (folder / "README.md").read_text()
    assert "used for early stopping and trained on, so optimistic" in card
    assert result.digest in card
    assert "| pairs |" in card


def test_premise_first_model_learns_and_the_scorer_gives_the_same_answers(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    path = recipe_file(
        LEARNING, model=PREMISE_FIRST, output="store = 'float32'\nmax_length = 40\n",
        validation="source = 'pairs'\npatience = 6\n",
    )  # fmt: skip
    recipe = read_recipe(path)
    result = train(recipe, folder, device="cpu")
    assert result.selection is not None
    assert result.selection.auc > 0.9
    config = json.loads((folder / "config.json").read_text())
    kept = {key: value for key, value in config.items() if key.startswith("prevalence_")}
    assert kept == {
        "prevalence_attention": "premise-first",
        "prevalence_max_length": 40,
        "prevalence_max_hypothesis": 16,
        "prevalence_threshold": pytest.approx(result.threshold, abs=1e-4),
    }
    records = [json.loads(line) for line in pairs_file.read_text().splitlines()]
    pairs = [(r["premise"], r["hypothesis"]) for r in records]
    scorer = NLIScorer(str(folder), device="cpu")
    assert scorer.traits.signature["trunc"] == "40+16"
    table = TextTable()
    numbers = np.array([(table.add(a), table.add(b)) for a, b in pairs])
    classifier = load_classifier(folder, recipe.model, seed=0)
    expected = predict(classifier, pairs)
    found = scorer.score(table, numbers)
    assert np.allclose(found.entailment, expected[:, 0], atol=1e-5)
    assert np.allclose(found.contradiction, expected[:, 2], atol=1e-5)
    area = auc(found.entailment.astype(float), [r["label"] for r in records])
    assert area == pytest.approx(result.selection.auc, abs=1e-6)
    card = (folder / "README.md").read_text()
    assert "- Architecture: premise-first" in card
    assert "- Longest premise: 40 tokens" in card


def test_a_joint_model_forgets_the_reading_of_its_base(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    first = tmp_path / "first"
    train(read_recipe(recipe_file(model=PREMISE_FIRST)), first, device="cpu")
    path = recipe_file(model=f"base = {str(first)!r}\n")
    train(read_recipe(path), tmp_path / "second", device="cpu")
    config = json.loads((tmp_path / "second" / "config.json").read_text())
    assert {key for key in config if key.startswith("prevalence_")} == {
        "prevalence_threshold", "prevalence_max_length",
    }  # fmt: skip


def test_a_threshold_that_nothing_was_held_out_for_is_not_calibrated(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    result = train(read_recipe(recipe_file()), tmp_path / "m", device="cpu")
    assert (result.selection, result.threshold) == (None, 0.5)
    traits = NLIScorer(str(tmp_path / "m"), device="cpu").traits
    assert (traits.threshold, traits.calibrated) == (0.5, False)
    card = (tmp_path / "m" / "README.md").read_text(encoding="utf-8")
    assert "if P(entailment) > 0.5, which is not calibrated\n" in card
    train(read_recipe(recipe_file(output="name = 'again'\n")), tmp_path / "m", device="cpu")


def test_a_folder_with_a_config_in_another_encoding_is_not_written_over(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_bytes("{}".encode("utf-16"))
    with pytest.raises(ConfigurationError, match="holds files of something else"):
        train(read_recipe(recipe_file()), tmp_path / "m", device="cpu")


def test_frozen_parameters_do_not_move(
    recipe_file: Callable[..., Path], tiny_base: Path, tmp_path: Path
) -> None:
    path = recipe_file(model="freeze_layers = 1\n", output="store = 'float32'\n")
    train(read_recipe(path), tmp_path / "m", device="cpu")
    before, after = weights(tiny_base), weights(tmp_path / "m")
    moved = {name for name in before if not torch.equal(before[name], after[f"bert.{name}"])}
    assert not [n for n in moved if n.startswith(("embeddings.", "encoder.layer.0."))]
    assert "encoder.layer.1.output.dense.weight" in moved


@pytest.mark.parametrize("final", ["refit", "average"])
def test_cross_validation_shares_the_early_stage(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path, final: str
) -> None:
    # Half of the products, and one that no fold holds out.
    more = [json.loads(line) for line in pairs_file.read_text(encoding="utf-8").splitlines()[:24]]
    elsewhere = [row | {"group": "elsewhere"} for row in more[:8]]
    for name, rows in (("more", more + elsewhere), ("elsewhere", elsewhere)):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    stages = "".join(
        f"[[stage]]\nname = '{name}'\nlearning_rate = 1e-3\nmix = [{{ source = '{source}' }}]\n"
        for name, source in (("early", "elsewhere"), ("late", "pairs"))
    )
    path = recipe_file(
        stages,
        cross_validation=f"source = 'pairs'\nfolds = 3\nfinal = '{final}'\nalso = ['more']\n",
    )
    sources = "".join(
        f"\n[[source]]\nname = '{name}'\npath = '{name}.jsonl'\nlicence = 'CC0'\n"
        for name in ("more", "elsewhere")
    )
    path.write_text(path.read_text(encoding="utf-8") + sources, encoding="utf-8")
    result = train(read_recipe(path), tmp_path / "m", device="cpu")
    assert result.selection is not None
    figures, other = result.selection.sources
    assert (figures.source, figures.pairs) == ("pairs", 128)
    assert (other.source, other.pairs) == ("more", 24)
    assert figures.after == pytest.approx(
        (result.selection.auc, result.selection.chosen_accuracy), abs=1e-6
    )
    early, late = figures.before[0], figures.after[0]
    card = (tmp_path / "m" / "README.md").read_text(encoding="utf-8")
    assert f"| 128 of `pairs` | {early:.4f}, " in card
    assert f"| {late:.4f}, " in card
    assert f"| 24 of `more` | {other.before[0]:.4f}, " in card
    assert (
        f"that of `prevalence calibrate --candidates {result.selection.rule} --relation all`"
        in card
    )
    assert [fold.pairs for fold in result.selection.folds] == [48, 40, 40]
    made = sorted(p.name.split("-")[0] for p in (tmp_path / "m" / ".training").iterdir())
    assert made == ["early"] + ["late"] * (4 if final == "refit" else 3)


@pytest.mark.parametrize("final", ["refit", "average"])
def test_a_last_stage_apart_from_the_folds_runs_once(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path, final: str
) -> None:
    rows = [json.loads(line) for line in pairs_file.read_text(encoding="utf-8").splitlines()]
    apart = [row | {"group": f"other-{row['group']}"} for row in rows[:40]]
    (tmp_path / "apart.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in apart), encoding="utf-8"
    )
    stage = "[[stage]]\nname = 'only'\nlearning_rate = 1e-3\nmix = [{ source = 'apart' }]\n"
    path = recipe_file(
        stage, output="store = 'float32'\n",
        cross_validation=f"source = 'pairs'\nfolds = 3\nfinal = '{final}'\n",
    )  # fmt: skip
    source = "\n[[source]]\nname = 'apart'\npath = 'apart.jsonl'\nlicence = 'CC0'\n"
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")
    folder = tmp_path / "m"
    recipe = read_recipe(path)
    result = train(recipe, folder, device="cpu")
    assert [p.name.split("-")[0] for p in (folder / ".training").iterdir()] == ["only"]
    selection = result.selection
    assert selection is not None
    assert [fold.pairs for fold in selection.folds] == [48, 40, 40]
    # The model that was written gave the answers, and a fold's cut is that of the others.
    pairs = [(row["premise"], row["hypothesis"]) for row in rows]
    written = predict(load_classifier(folder, recipe.model, seed=0), pairs)[:, 0]
    assert np.allclose(selection.scores, written, atol=2e-6)
    scores, fold_of = np.array(selection.scores), np.array(selection.fold_of)
    labels = np.array([bool(row["label"]) for row in rows])
    for number, fold in enumerate(selection.folds):
        others = fold_of != number
        rule = selection.rule
        cut = calibration.best_threshold(scores[others], labels[others], candidates=rule)
        assert fold.threshold == pytest.approx(cut.value, abs=1e-4)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "no stage trains on these products" in card
    assert "average of the folds' models" not in card


TWO_STAGES = "".join(
    f"[[stage]]\nname = '{name}'\nlearning_rate = 1e-3\nmix = [{{ source = 'pairs' }}]\n"
    for name in ("early", "late")
)


@pytest.mark.parametrize(("first", "early", "late"), [("late", 1, 3), ("early", 3, 3)])
def test_the_weights_are_the_average_of_the_runs(
    recipe_file: Callable[..., Path], tmp_path: Path, first: str, early: int, late: int
) -> None:
    path = recipe_file(
        TWO_STAGES, output="store = 'float32'\n", average=f"first = '{first}'\nruns = 3\n"
    )
    folder = tmp_path / "m"
    train(read_recipe(path), folder, device="cpu")
    made = sorted((folder / ".training").glob("*.safetensors"))
    assert [p.name.split("-")[0] for p in made] == ["early"] * early + ["late"] * late
    runs = [load_file(p) for p in made[early:]]
    name = "bert.encoder.layer.1.output.dense.weight"
    assert not torch.equal(runs[0][name], runs[1][name])
    mean = torch.stack([run[name] for run in runs]).mean(0)
    assert torch.allclose(load_file(folder / "model.safetensors")[name], mean, atol=1e-7)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert f"From stage `{first}` on, 3 runs were trained" in card


def test_the_first_run_is_the_training_without_averaging(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    made = []
    for average in ({}, {"average": "first = 'late'\n"}):
        train(read_recipe(recipe_file(TWO_STAGES, **average)), tmp_path / "m", device="cpu")
        made.append({p.name for p in (tmp_path / "m" / ".training").glob("*.safetensors")})
    assert (len(made[0]), len(made[1])) == (2, 3)
    assert made[0] < made[1]


@pytest.mark.parametrize("final", ["refit", "average"])
def test_the_model_of_a_fold_is_the_average_of_its_runs(
    recipe_file: Callable[..., Path], tmp_path: Path, final: str
) -> None:
    path = recipe_file(
        cross_validation=f"source = 'pairs'\nfolds = 3\nfinal = '{final}'\n",
        average="first = 'only'\n", output="store = 'float32'\n",
    )  # fmt: skip
    folder = tmp_path / "m"
    train(read_recipe(path), folder, device="cpu")
    made = [load_file(p) for p in (folder / ".training").glob("*.safetensors")]
    assert len(made) == 2 * (4 if final == "refit" else 3)
    if final == "average":
        name = "bert.encoder.layer.1.output.dense.weight"
        mean = torch.stack([run[name] for run in made]).mean(0)
        assert torch.allclose(load_file(folder / "model.safetensors")[name], mean, atol=1e-7)


@pytest.mark.parametrize(
    ("average", "message"),
    [
        ("first = 'none'\n", "average.first 'none' is not a stage: only"),
        ("first = 'only'\nruns = 1\n", "average.runs must be at least 2"),
        ("runs = 2\n", "key 'first' is missing"),
    ],
)
def test_faults_of_averaging(recipe_file: Callable[..., Path], average: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_recipe(recipe_file(average=average))


def test_rates_of_an_earlier_training_do_not_stay(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    train(read_recipe(recipe_file(cross_validation="source = 'pairs'\n")), folder, device="cpu")
    stated = json.loads((folder / "errors.json").read_text(encoding="utf-8"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert stated["threshold"] == config["prevalence_threshold"]
    assert sum(map(sum, stated["products"])) == 128
    train(read_recipe(recipe_file()), folder, device="cpu")
    assert not (folder / "errors.json").exists()
    assert not (folder / "held_out.json").exists()


def test_rates_are_of_pairs_with_reviews(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path
) -> None:
    rows = [
        {"id": f"p{n}", "name": "lamp", "reviews": [f"It is red {n}."], "trivial": "It is.",
         "sentences": ["It is red.", "It is blue."], "labels": [[1, 0]]}
        for n in range(6)
    ]  # fmt: skip
    grouped = tmp_path / "grouped.jsonl"
    grouped.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = recipe_file(cross_validation="source = 'grouped'\nfolds = 2\n")
    source = "\n[[source]]\nname = 'grouped'\npath = 'grouped.jsonl'\nlicence = 'CC0'\n"
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")
    result = train(read_recipe(path), tmp_path / "m", device="cpu")
    assert result.selection is not None
    assert result.selection.pairs > 12
    assert [sum(counts) for counts in result.selection.errors] == [2] * 6


def test_folds_of_one_class_are_refused_before_training(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    # Each of the 16 groups has one colour, and so one class.
    recipe = read_recipe(recipe_file(cross_validation="source = 'pairs'\nfolds = 16\n"))
    events: list[TrainingProgress] = []
    with pytest.raises(ConfigurationError, match=r"fold 1 of 'pairs' has . positive pairs of 8"):
        train(recipe, tmp_path / "out", device="cpu", progress=events.append)
    assert events == []


def test_a_validation_of_one_class_is_refused_before_training(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path
) -> None:
    lines = pairs_file.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if '"label": 0' in line)
    pairs_file.write_text(kept, encoding="utf-8")
    recipe = read_recipe(recipe_file(validation="source = 'pairs'\nmetric = 'loss'\n"))
    events: list[TrainingProgress] = []
    with pytest.raises(ConfigurationError, match="validation 'pairs' has 0 positive pairs of 64"):
        train(recipe, tmp_path / "out", device="cpu", progress=events.append)
    assert events == []


def test_a_model_that_ranks_upside_down_still_gets_a_threshold(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in pairs_file.read_text(encoding="utf-8").splitlines()]
    wrong = "".join(json.dumps(row | {"label": 1 - row["label"]}) + "\n" for row in rows)
    (tmp_path / "wrong.jsonl").write_text(wrong, encoding="utf-8")
    path = recipe_file(validation="source = 'wrong'\nmetric = 'loss'\n")
    source = "\n[[source]]\nname = 'wrong'\npath = 'wrong.jsonl'\nlicence = 'CC0'\n"
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")
    selection = train(read_recipe(path), tmp_path / "m", device="cpu").selection
    assert selection is not None
    assert selection.auc < 0.5
    assert selection.rule == "midpoints"
    assert 0.0 <= selection.threshold < 1.0


def test_early_stopping_keeps_the_best_epoch(
    recipe_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = itertools.chain([0.5, 0.9, 0.7, 0.6], itertools.repeat(0.1))
    monkeypatch.setattr("prevalence.training.stages.auc", lambda *_: next(values))
    copies: list[dict[str, torch.Tensor]] = []
    take = state.trainable_weights

    def record(model: torch.nn.Module) -> dict[str, torch.Tensor]:
        copies.append(take(model))
        return copies[-1]

    monkeypatch.setattr(state, "trainable_weights", record)
    stages = LEARNING
    path = recipe_file(
        stages, run="checkpoint_every = 1000\n", validation="source = 'pairs'\npatience = 2\n"
    )
    train(read_recipe(path), tmp_path / "m", device="cpu", work=tmp_path / "work")
    (finished,) = (tmp_path / "work").iterdir()
    best, facts = state.load_tensors(finished)
    assert facts["metrics"] == [0.5, 0.9, 0.7, 0.6]
    # copies: the start, then the two epochs that were better than all before
    assert len(copies) == 3
    assert all(torch.equal(best[name], copies[2][name]) for name in best)


def test_broken_loss_stops_with_advice(
    recipe_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "prevalence.training.loop.nli_loss", lambda *_, **__: torch.tensor(float("nan"))
    )
    with pytest.raises(ModelError, match="the loss is nan at step 1; lower"):
        train(read_recipe(recipe_file()), tmp_path / "m", device="cpu")


def test_foreign_state_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"not a tensor file")
    with pytest.raises(InputError, match="not a training state"):
        state.load_tensors(tmp_path / "x.safetensors")


def test_command_line_trains_and_says_where(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    arguments = [str(recipe_file()), "--output", str(tmp_path / "m"), "--device", "cpu"]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert f"checkpoint: {tmp_path / 'm'}" in result.output
    assert "only: step" in result.output


def test_a_recipe_may_withhold_the_contradiction_class(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    run(read_recipe(recipe_file(output="contradiction = false\n")), tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["prevalence_contradiction"] is False


@pytest.mark.parametrize("named", [None, ""])
def test_no_folder_is_guessed_for_the_data(named, recipe_file, tmp_path, monkeypatch):
    recipe = recipe_file()
    text = re.sub(r"path = '[^']*'", "path = '${PREVALENCE_DATA}/x.jsonl'", recipe.read_text())
    recipe.write_text(text)

    def told():
        words = [str(recipe), "--output", str(tmp_path / "model"), "--device", "cpu"]
        result = CliRunner().invoke(command, words)
        assert result.exit_code != 0
        return f"{result.exception} {result.stderr}"

    (tmp_path / "shared" / "data").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREVALENCE_DATA", raising=False)
    if named is not None:
        monkeypatch.setenv("PREVALENCE_DATA", named)
    assert "set PREVALENCE_DATA or pass --data FOLDER" in told()
    monkeypatch.setenv("PREVALENCE_DATA", str(tmp_path / "named"))
    assert str(tmp_path / "named" / "x.jsonl") in told()


def test_no_training_writes_over_its_base_or_a_foreign_folder(
    recipe_file: Callable[..., Path], tiny_base: Path, tmp_path: Path
) -> None:
    recipe = read_recipe(recipe_file())
    before = {path.name: path.read_bytes() for path in tiny_base.iterdir()}
    with pytest.raises(ConfigurationError, match="base; choose another folder"):
        train(recipe, tiny_base, device="cpu")
    assert {path.name: path.read_bytes() for path in tiny_base.iterdir()} == before
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").touch()
    with pytest.raises(ConfigurationError, match="holds files of something else"):
        train(recipe, tmp_path / "notes", device="cpu")
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["mine.txt"]


def test_a_base_may_be_the_output_of_another_recipe(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    first = recipe_file()
    first.rename(tmp_path / "first.toml")
    alone = train(read_recipe(tmp_path / "first.toml"), tmp_path / "alone", device="cpu")
    recipe = read_recipe(recipe_file(model="base = 'recipe:first.toml'\n"))
    result = train(recipe, tmp_path / "second", device="cpu")
    made = tmp_path / "second" / ".training" / "base"
    assert file_digest(made / "model.safetensors") == alone.digest != result.digest
    assert "- Base: `recipe:first.toml`" in (tmp_path / "second" / "README.md").read_text()
    again = read_recipe(recipe_file(model="base = 'recipe:recipe.toml'\n"))
    with pytest.raises(ConfigurationError, match="cannot start from another recipe"):
        train(again, tmp_path / "third", device="cpu")


def test_weights_in_8_bits_are_read_back_everywhere(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    exact, folded = tmp_path / "exact", tmp_path / "folded"
    train(read_recipe(recipe_file(output="store = 'float32'\n")), exact, device="cpu")
    recipe = read_recipe(recipe_file(output="store = 'int8'\n"))
    train(recipe, folded, device="cpu")
    found = load_file(folded / "model.safetensors")
    expected = load_file(exact / "model.safetensors")
    for name, weight in expected.items():
        if weight.ndim != 2:
            assert torch.equal(found[name], weight)
            continue
        assert found[name].dtype == torch.int8
        blocks = weight.reshape(weight.shape[0], found[name + ".scales"].shape[1], -1)
        back = found[name].view(blocks.shape) * found[name + ".scales"][..., None].float()
        step = blocks.abs().amax(2) / 127
        moved = (back - blocks).square().sum(2)
        assert (moved <= blocks.shape[2] * (step / 2).square() * 1.01).all()
    table = TextTable()
    pair = np.array([(table.add("it is red"), table.add("the mug is red"))])
    answers = [
        NLIScorer(str(folder), device="cpu").score(table, pair).entailment[0]
        for folder in (folded, exact)
    ]
    learnt = load_classifier(folded, recipe.model, seed=0)
    (again,) = predict(learnt, [("it is red", "the mug is red")])
    assert answers[0] == pytest.approx(answers[1], abs=0.02)
    assert answers[0] == pytest.approx(again[0], abs=1e-6)
    assert "8 bits with a float16 scale" in (folded / "README.md").read_text()
