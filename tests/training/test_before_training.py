"""What ends a run before anything is trained: leaks, and data that no stage could use."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from prevalence.errors import ConfigurationError, InputError
from prevalence.labelled import read_documents
from prevalence.training.pipeline import train
from prevalence.training.recipe import read_recipe
from prevalence.training.sources import Sources

FOLDS = "source = 'pairs'\nfolds = 2\n"
MORE = "mix = [{ source = 'more' }]"


def stage(name: str, source: str, view: str = "labelled") -> str:
    mix = f"[{{ source = {source!r}, view = {view!r} }}]"
    return f"[[stage]]\nname = {name!r}\nlearning_rate = 1e-3\nmix = {mix}\n"


def rows_of(*groups: str) -> list[dict[str, Any]]:
    return [
        {"premise": f"it is {group}", "hypothesis": "it is red", "label": label, "group": group}
        for group in groups
        for label in (0, 1)
    ]


def add_source(recipe: Path, name: str, rows: Sequence[Any], keys: str = "") -> None:
    data = recipe.parent / f"{name}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = f"[[source]]\nname = {name!r}\npath = {data.name!r}\nlicence = 'CC0'\n{keys}"
    recipe.write_text(recipe.read_text(encoding="utf-8") + text, encoding="utf-8")


def refused(recipe: Path, kind: type[Exception], told: str) -> str:
    """The one line that a run ends with, before it has taken a step."""
    events: list[object] = []
    with pytest.raises(kind, match=told) as caught:
        train(read_recipe(recipe), recipe.parent / "m", device="cpu", progress=events.append)
    assert events == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_no_earlier_stage_may_train_on_products_of_the_folds(
    recipe_file: Callable[..., Path],
) -> None:
    path = recipe_file(
        stage("early", "more") + stage("late", "pairs"), cross_validation=FOLDS + "also = ['more']"
    )
    add_source(path, "more", rows_of("elsewhere", "g3"))
    told = refused(path, ConfigurationError, "'early' would train on product 'g3' of source 'more'")
    assert "cross-validation on 'pairs' holds out" in told


def test_other_products_may_be_in_an_earlier_stage(recipe_file: Callable[..., Path]) -> None:
    path = recipe_file(stage("early", "more") + stage("late", "pairs"), cross_validation=FOLDS)
    add_source(path, "more", rows_of("more/g3", "more/g4"))
    assert train(read_recipe(path), path.parent / "m", device="cpu").selection is not None


def test_no_source_may_be_taught_on_products_of_the_folds(
    recipe_file: Callable[..., Path],
) -> None:
    path = recipe_file(
        stage("only", "pairs"), cross_validation=FOLDS, teacher="models = ['base']\n"
    )
    add_source(path, "more", [{"product_id": "g5", "reviews": ["It is red."]}], "taught = true\n")
    told = refused(path, ConfigurationError, "source 'more' is taught on product 'g5'")
    assert "leave [cross_validation] out" in told


def chained(recipe_file: Callable[..., Path], **sections: str) -> Path:
    """A recipe with folds whose base another recipe makes, which has these sections."""
    first = recipe_file(**sections)
    first.rename(first.with_name("first.toml"))
    return recipe_file(model="base = 'recipe:first.toml'\n", cross_validation=FOLDS)


def test_no_recipe_of_the_base_may_train_on_products_of_the_folds(
    recipe_file: Callable[..., Path],
) -> None:
    told = refused(chained(recipe_file), ConfigurationError, "base 'recipe:first.toml': its stage")
    assert "'only' trains on product 'g0' of source 'pairs', which cross-validation on" in told
    assert "leave such products out of the base's recipe with leave_out" in told


def test_no_recipe_of_the_base_may_stop_early_on_products_of_the_folds(
    recipe_file: Callable[..., Path],
) -> None:
    path = chained(recipe_file, validation="source = 'pairs'\n")
    first = path.with_name("first.toml")
    text = first.read_text(encoding="utf-8").replace("mix = [{ source = 'pairs' }]", MORE)
    first.write_text(text, encoding="utf-8")
    add_source(first, "more", rows_of("elsewhere"))
    refused(path, ConfigurationError, "its early stopping looks on product 'g0' of source 'pairs'")


def test_a_recipe_of_the_base_may_train_on_other_products(
    recipe_file: Callable[..., Path],
) -> None:
    path = chained(recipe_file)
    first = path.with_name("first.toml")
    text = first.read_text(encoding="utf-8").replace("mix = [{ source = 'pairs' }]", MORE)
    first.write_text(text, encoding="utf-8")
    add_source(first, "more", rows_of("elsewhere"))
    assert train(read_recipe(path), path.parent / "m", device="cpu").selection is not None


def test_early_stopping_passes_over_products_of_the_folds(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    path = recipe_file(validation="source = 'held'\n", cross_validation=FOLDS)
    add_source(path, "held", rows_of("g1", "elsewhere", "g2"))
    sources = Sources(read_recipe(path), None)
    assert set(sources.validation_pairs("held").groups.tolist()) == {"elsewhere"}
    add_source(path, "held-2", rows_of("g1", "g2"))
    path.write_text(path.read_text().replace("source = 'held'", "source = 'held-2'"))
    refused(path, ConfigurationError, "'held-2' without the products of 'pairs' has 0 positive")


@pytest.mark.parametrize(
    ("view", "keys", "told"),
    [
        ("labelled", "only = 'amazn'\n", "no product of .* is left by only = 'amazn'"),
        ("product", "", "stage 'late': view 'product' finds no examples in source 'more'"),
    ],
)
def test_what_a_later_stage_would_not_find(
    view: str, keys: str, told: str, recipe_file: Callable[..., Path]
) -> None:
    path = recipe_file(stage("early", "pairs") + stage("late", "more", view))
    add_source(path, "more", rows_of("a"), keys)
    refused(path, ConfigurationError, told)


def test_a_bad_line_in_the_data_of_a_later_stage(recipe_file: Callable[..., Path]) -> None:
    path = recipe_file(stage("early", "pairs") + stage("late", "more"))
    add_source(path, "more", [*rows_of("a"), {"premise": "it is red"}])
    refused(path, InputError, r"more\.jsonl:3: field 'hypothesis' must be")


def test_a_fold_that_leaves_nothing_of_a_source(recipe_file: Callable[..., Path]) -> None:
    mix = "mix = [{ source = 'pairs' }, { source = 'more' }]\n"
    path = recipe_file(
        f"[[stage]]\nname = 'only'\nlearning_rate = 1e-3\n{mix}", cross_validation=FOLDS
    )
    add_source(path, "more", rows_of("g3"))
    refused(path, ConfigurationError, r"stage 'only' fold [12]: view 'labelled' finds no examples")


def test_a_teacher_is_not_written_over(recipe_file: Callable[..., Path], tmp_path: Path) -> None:
    train(read_recipe(recipe_file()), tmp_path / "teacher", device="cpu")
    path = recipe_file(teacher="models = ['teacher']\n")
    path.write_text(path.read_text().replace("name = 'pairs'", "name = 'pairs'\ntaught = true"))
    before = (tmp_path / "teacher" / "model.safetensors").read_bytes()
    with pytest.raises(ConfigurationError, match="holds the recipe's teacher; choose another"):
        train(read_recipe(path), tmp_path / "teacher", device="cpu")
    assert (tmp_path / "teacher" / "model.safetensors").read_bytes() == before


def test_data_are_read_before_a_base_is_trained(recipe_file: Callable[..., Path]) -> None:
    first = recipe_file()
    first.rename(first.with_name("first.toml"))
    path = recipe_file(stage("only", "more", "product"), model="base = 'recipe:first.toml'\n")
    add_source(path, "more", rows_of("g1"))
    refused(path, ConfigurationError, "view 'product' finds no examples in source 'more'")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("", ""), "recipe .*elsewhere.toml': cannot be read"),
        (("source = 'pairs'", "source = 'other'"), "mix source 'other' is not defined"),
        (("pairs.jsonl", "gone.jsonl"), r"source 'pairs': .*gone\.jsonl does not exist"),
    ],
)
def test_a_fault_of_a_teachers_recipe_shows_before_the_base_is_trained(
    change: tuple[str, str], told: str, recipe_file: Callable[..., Path]
) -> None:
    own = recipe_file()
    whole = own.read_text(encoding="utf-8")
    (own.parent / "first.toml").write_text(whole, encoding="utf-8")
    (own.parent / "teacher.toml").write_text(whole.replace(*change), encoding="utf-8")
    named = "elsewhere.toml" if "elsewhere" in told else "teacher.toml"
    path = recipe_file(model="base = 'recipe:first.toml'\n", teacher=f"recipes = [{named!r}]\n")
    path.write_text(path.read_text().replace("name = 'pairs'", "name = 'pairs'\ntaught = true"))
    refused(path, ConfigurationError, told)


def test_a_source_without_a_pair_to_ask_a_teacher_about(
    recipe_file: Callable[..., Path], tiny_base: Path
) -> None:
    train(read_recipe(recipe_file()), tiny_base.parent / "asked", device="cpu")
    named = str(tiny_base.parent / "asked")
    path = recipe_file(stage("only", "more"), teacher=f"models = [{named!r}]\n")
    add_source(path, "more", [{"product_id": "p", "reviews": ["Red."]}], "taught = true\n")
    refused(path, ConfigurationError, "source 'more' has no pair to ask a teacher about; raise")


def test_reviews_that_wait_for_a_teacher_are_no_fault(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    path = recipe_file(stage("only", "more"), teacher="models = ['base']\n")
    add_source(path, "more", [{"product_id": "p", "reviews": ["It is red."]}], "taught = true\n")
    recipe = read_recipe(path)
    assert not read_documents(tmp_path / "more.jsonl")[0].hypotheses
    Sources(recipe, None).check(recipe.stages[0])


def test_pairs_without_a_label_are_counted_once(recipe_file: Callable[..., Path]) -> None:
    path = recipe_file(stage("only", "more"))
    missing = {"premise": "it is x", "hypothesis": "it is red", "label": None, "group": "g1"}
    add_source(path, "more", [*rows_of("g1"), missing])
    sources = Sources(read_recipe(path), None)
    with pytest.warns(RuntimeWarning, match="'more': 1 pair without a label was left out") as told:
        assert len(sources.documents("more")) == len(sources.documents("more")) == 3
    assert len(told) == 1
    assert len(sources.judged("more")) == 2
