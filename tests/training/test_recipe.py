from collections.abc import Callable
from pathlib import Path

import pytest

from prevalence.errors import ConfigurationError
from prevalence.training.recipe import MixItem, read_recipe

STAGE = "[[stage]]\nname = 'a'\nlearning_rate = 1e-3\n"
RECIPES = Path(__file__).resolve().parents[2] / "prevalence" / "training" / "recipes"


def test_defaults_and_values(recipe_file: Callable[..., Path]) -> None:
    recipe = read_recipe(recipe_file(optimizer="layer_decay = 0.9\nclip = 2\n"))
    assert recipe.optimizer.layer_decay == 0.9
    assert recipe.optimizer.clip == 2.0
    assert recipe.run.seed == 5
    assert recipe.stages[0].mix == (MixItem("pairs", "labelled", 0),)
    assert recipe.validation is None


def test_shipped_recipes_are_valid() -> None:
    names = [path.name for path in RECIPES.glob("*.toml") if read_recipe(path)]
    assert "embedded.toml" in names


@pytest.mark.parametrize(
    ("stages", "sections", "message"),
    [
        ("", {"run": "sead = 1\n"}, r"\[run\]: unknown key 'sead'"),
        ("", {"extra": ""}, "unknown key 'extra'"),
        ("", {"model": "architecture = 'x'\n"}, "architecture must be joint or premise-first"),
        ("", {"model": "pooling = 'x'\n"}, "pooling must be first or mean"),
        ("", {"model": "pooling = 'mean'\n"}, "pooling is for architecture premise-first"),
        ("", {"model": "max_hypothesis = 3\n"}, "max_hypothesis must be at least 16"),
        ("", {"run": "threads = 'two'\n"}, "threads must be of type int"),
        ("", {"run": "threads = -1\n"}, "threads must not be negative"),
        ("", {"run": "seed = 1e30\n"}, "seed must be of type int"),
        ("", {"run": f"checkpoint_every = {1 << 63}\n"}, "checkpoint_every is beyond 64 bits"),
        ("", {"model": "dropout = nan\n"}, "dropout must be a finite number"),
        ("", {"model": "attention_dropout = 1.0\n"}, r"must be in \[0, 1\)"),
        ("", {"output": "max_length = -5\n"}, "must be 0 or at least 8"),
        ("", {"output": "notes = 'a\\u0000'\n".replace("'", '"')}, "holds the character NUL"),
        ("", {"teacher": "models = 'abc'\n"}, "models must be a list of texts, found 'abc'"),
        (STAGE + "mix = 3\n", {}, "mix must be a list of tables"),
        (STAGE + "mix = [3]\n", {}, "mix must be a list of tables"),
        ("[stage]\nname = 'a'\n", {}, "stage must be a list of tables"),
        (
            STAGE.replace("'a'", "'../a'") + "mix = [{ source = 'pairs' }]\n",
            {},
            "must hold letters",
        ),
        (STAGE.replace("1e-3", "inf") + "mix = []\n", {}, "learning_rate must be a finite number"),
        ("", {"optimizer": "warmup = 1.5\n"}, r"optimizer\.warmup must be in \[0, 1\)"),
        ("", {"optimizer": "layer_decay = 0\n"}, r"layer_decay must be in \(0, 1\]"),
        (
            (STAGE + "mix = [{ source = 'pairs' }]\n") * 2,
            {},
            "stage 'a' is defined twice",
        ),
        (STAGE, {}, r"key 'mix' is missing|needs a \[\[stage\.mix\]\]"),
        (STAGE + "mix = [{ source = 'no' }]\n", {}, "mix source 'no' is not defined"),
        (STAGE + "mix = [{ source = 'pairs', view = 'x' }]\n", {}, "unknown view 'x'"),
        ("[[stage]]\nname = 'a'\n", {}, "key 'learning_rate' is missing"),
        ("", {"validation": "source = 'no'\n"}, "'no' is not a source"),
        ("", {"validation": "source = 'pairs'\nmetric = 'f1'\n"}, "metric must be one of"),
        (
            "",
            {"validation": "source = 'pairs'\n", "optimizer": "average_from = 0.5\n"},
            "there is nothing to average",
        ),
        ("", {"cross_validation": "source = 'pairs'\nfolds = 1\n"}, "folds of at least 2"),
        ("", {"cross_validation": "source = 'pairs'\nalso = ['more']\n"}, "'more' is not a source"),
        ("", {"cross_validation": "source = 'pairs'\nalso = ['pairs']\n"}, "also must name other"),
        (
            "",
            {"validation": "source = 'pairs'\n", "cross_validation": "source = 'pairs'\n"},
            "would leak into its cross-validation",
        ),
    ],
)
def test_faults_are_one_line_and_name_the_file(
    recipe_file: Callable[..., Path], stages: str, sections: dict[str, str], message: str
) -> None:
    path = recipe_file(stages, **sections)
    with pytest.raises(ConfigurationError, match=message) as caught:
        read_recipe(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_table_is_no_list_of_tables(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(
        "[model]\nbase = 'x'\n[output]\nname = 'x'\nlicence = 'x'\n[source]\nname = 'x'\n"
    )
    with pytest.raises(ConfigurationError, match="source must be a list of tables"):
        read_recipe(path)


def test_only_variables_of_ours_are_told(
    recipe_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = read_recipe(recipe_file())
    monkeypatch.setenv("PREVALENCE_PLACE", "/there")
    monkeypatch.setenv("SECRET", "hunter2")
    assert recipe.resolve("${PREVALENCE_PLACE}/a", None) == Path("/there/a")
    for text in ("${SECRET}", "$SECRET", "${PREVALENCE_UNSET}"):
        assert recipe.resolve(text, None) == recipe.folder / text


def test_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[model\n", encoding="utf-8")
    for name, told in (("bad.toml", "is not TOML"), ("none.toml", "cannot be read")):
        with pytest.raises(ConfigurationError, match=f"^recipe .*{name}'?: {told}"):
            read_recipe(tmp_path / name)


def test_data_variable_needs_a_folder(
    recipe_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREVALENCE_DATA", str(tmp_path / "known"))
    recipe = read_recipe(recipe_file())
    assert recipe.resolve("${PREVALENCE_DATA}/x", tmp_path / "d") == tmp_path / "d" / "x"
    assert recipe.resolve("${PREVALENCE_DATA}/x", None) == tmp_path / "known" / "x"
    assert recipe.resolve("x/y", None) == tmp_path / "x" / "y"
    monkeypatch.delenv("PREVALENCE_DATA")
    with pytest.raises(ConfigurationError, match="pass --data FOLDER"):
        recipe.resolve("${PREVALENCE_DATA}/x", None)
