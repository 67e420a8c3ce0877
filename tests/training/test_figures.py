"""What a run says of its figures: which pairs they are of, at which threshold, what flatters."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from prevalence.calibration import best_threshold
from prevalence.cli.train import train as command
from prevalence.labelled import JudgedPairs, read_documents
from prevalence.models.location import resolve
from prevalence.stats.arrays import Floats
from prevalence.training.export import HeldOutResult
from prevalence.training.pipeline import train
from prevalence.training.recipe import read_recipe

FOLDS = "source = 'pairs'\nfolds = 4\n"


def add_source(recipe: Path, name: str, rows: list[dict[str, object]]) -> Path:
    data = recipe.parent / f"{name}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = f"\n[[source]]\nname = {name!r}\npath = {data.name!r}\nlicence = 'CC0'\n"
    recipe.write_text(recipe.read_text(encoding="utf-8") + text, encoding="utf-8")
    return recipe


def rows_of(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def selected(recipe: Path, folder: str = "m") -> HeldOutResult:
    selection = train(read_recipe(recipe), recipe.parent / folder, device="cpu").selection
    assert selection is not None
    return selection


def card(recipe: Path, folder: str = "m") -> str:
    return card_of(recipe.parent / folder)


def card_of(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def crossed(scores: Floats, labels: NDArray[np.bool_], fold: NDArray[np.int64], rule: Any) -> float:
    """Balanced accuracy of all pairs, each at the threshold of the other folds."""
    right = np.zeros(len(labels), np.bool_)
    for number in set(fold.tolist()):
        inside = fold == number
        others = best_threshold(scores[~inside], labels[~inside], candidates=rule)
        right[inside] = (scores[inside] > others.value) == labels[inside]
    return float(right[labels].mean() + right[~labels].mean()) / 2


def printed(recipe: Path, *words: str) -> tuple[str, str]:
    folder = str(recipe.parent / "shown")
    result = CliRunner().invoke(command, [str(recipe), "-o", folder, "--device", "cpu", *words])
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_balanced_accuracy_is_at_the_thresholds_of_the_other_folds(
    recipe_file: Callable[..., Path], pairs_file: Path
) -> None:
    rows = rows_of(pairs_file)
    for row in rows[::5]:
        row["label"] = 1 - int(str(row["label"]))
    pairs_file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = recipe_file(cross_validation=FOLDS)
    found = selected(path)
    stored = json.loads((path.parent / "m" / "held_out.json").read_text(encoding="utf-8"))
    scores, fold = np.array(stored["entailment"]), np.array(stored["fold"])
    labels = JudgedPairs.of(read_documents(pairs_file)).labels
    balanced = crossed(scores, labels, fold, found.rule)
    assert found.balanced_accuracy == pytest.approx(balanced)
    tp, fn, tn, fp = np.sum(found.errors, axis=0)
    assert found.chosen_accuracy == pytest.approx((tp / (tp + fn) + tn / (tn + fp)) / 2)
    assert found.balanced_accuracy < found.chosen_accuracy
    assert f"± {found.mean('balanced_accuracy')[1]:.4f} | {balanced:.4f} |" in card(path)
    assert f"chosen on these pairs: balanced accuracy {found.chosen_accuracy:.4f}; " in card(path)


@pytest.mark.parametrize("name", ["embedded", "base"])
def test_cards_of_models_that_ship_state_what_their_held_out_pairs_give(
    shared_data: Path, name: str
) -> None:
    folder = resolve(name)
    stored = json.loads((folder / "held_out.json").read_text(encoding="utf-8"))
    scores, fold = np.array(stored["entailment"]), np.array(stored["fold"])
    labels = JudgedPairs.of(read_documents(shared_data / "reviewnli_dev.jsonl")).labels
    assert f" | {crossed(scores, labels, fold, 'logistic'):.4f} |\n| expected" in card_of(folder)


def test_rates_have_counts_in_the_card_and_on_the_screen(recipe_file: Callable[..., Path]) -> None:
    path = recipe_file(cross_validation=FOLDS)
    shown, told = printed(path, "--quiet")
    assert told == ""
    stated = json.loads((path.parent / "shown" / "errors.json").read_text(encoding="utf-8"))
    tp, fn, tn, fp = np.sum(stated["products"], axis=0)
    rates = (
        f"sensitivity {tp / (tp + fn):.4f} ({tp} of {tp + fn} supported pairs), "
        f"specificity {tn / (tn + fp):.4f} ({tn} of {tn + fp} others)"
    )
    assert rates in shown
    assert rates in card(path, "shown")
    assert "held out:   AUC " in shown
    assert "on 128 pairs, each at the threshold of the other folds\n" in shown


def test_pairs_of_early_stopping_are_not_called_held_out(
    recipe_file: Callable[..., Path],
) -> None:
    path = recipe_file(validation="source = 'pairs'\n")
    shown, told = printed(path)
    assert "held out" not in shown
    assert "on 128 pairs, which early stopping used; at the threshold" in shown
    caution = (
        "the validation source 'pairs' shares 128 of its 128 pairs, 8 of its 8 reviews, 16 of its "
        "16 products with the training data: figures on them flatter; validate on other products"
    )
    assert told.splitlines()[-1] == caution
    assert f"\n- {caution}\n" in card(path, "shown")
    assert caution not in printed(path, "--quiet")[1]


def test_a_validation_may_share_products_alone(
    recipe_file: Callable[..., Path], pairs_file: Path
) -> None:
    rows = [
        {"premise": f"other {n}", "hypothesis": "it is red.", "label": n % 2, "group": group}
        for n, group in enumerate(("g1", "g2", "new", "newer"))
    ]
    path = add_source(recipe_file(validation="source = 'own'\n"), "own", rows)
    (caution,) = selected(path).cautions
    assert "'own' shares 2 of its 4 products with the training data" in caution
    for row in rows:
        row["group"] = f"new-{row['group']}"
    path = add_source(recipe_file(validation="source = 'own'\n"), "own", rows)
    assert selected(path, "other").cautions == ()
    assert "Read these figures with care" not in card(path, "other")


def test_a_base_that_was_trained_on_the_pairs_is_named(recipe_file: Callable[..., Path]) -> None:
    selected(recipe_file(cross_validation=FOLDS), "first")
    path = recipe_file(model="base = 'first'\n", cross_validation=FOLDS)
    told = (
        "the base first was trained on the pairs of 'pairs': figures on them flatter; start from "
        "a base that has not seen them"
    )
    assert told in selected(path).cautions
    assert f"\n- {told}\n" in card(path).partition("Read these figures with care:\n")[2]
    path = recipe_file(model="base = 'first'\n", validation="source = 'pairs'\n")
    assert told in selected(path, "validated").cautions


def test_pairs_under_another_product_are_counted(recipe_file: Callable[..., Path]) -> None:
    stage = (
        "[[stage]]\nname = 'only'\nlearning_rate = 1e-3\n"
        "mix = [{ source = 'own' }, { source = 'more' }]\n"
    )
    own: list[dict[str, object]] = [
        {"premise": f"own {n}", "hypothesis": f"it is {n}.", "label": label, "group": f"o{n}"}
        for n in range(8)
        for label in (0, 1)
    ]
    for row in own:
        row["hypothesis"] = f"{row['hypothesis']} {row['label']}"
    path = recipe_file(stage, cross_validation="source = 'own'\nfolds = 4\n")
    add_source(path, "own", own)
    # The first three pairs under other names, and one under its own, which a fold holds out.
    add_source(path, "more", [*(row | {"group": "other"} for row in own[:3]), own[5]])
    (caution,) = selected(path).cautions
    assert caution.startswith("3 of 16 held-out pairs are in the training data under another prod")


def test_a_teacher_that_was_trained_on_the_pairs_is_named(
    recipe_file: Callable[..., Path],
) -> None:
    selected(recipe_file(cross_validation=FOLDS), "teacher")
    path = recipe_file(cross_validation=FOLDS, teacher="models = ['teacher']\n")
    rows: list[dict[str, object]] = [{"product_id": "p", "reviews": ["It is a red mug."]}]
    add_source(path, "more", rows)
    with path.open("a", encoding="utf-8") as file:
        file.write("taught = true\n")
    cautions = "\n".join(selected(path).cautions)
    assert "\na teacher was trained on products of 'pairs', though it teaches others" in cautions
