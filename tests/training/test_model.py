import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from prevalence.errors import MissingDependencyError, ModelError
from prevalence.models.quantized import pack_rows
from prevalence.training.model import LABELS, load_classifier, parameter_groups, resolve_base
from prevalence.training.recipe import ModelSettings, OptimizerSettings


def settings(base: Path, **options: object) -> ModelSettings:
    return ModelSettings(base=str(base), max_length=64, **options)  # type: ignore[arg-type]


def test_plain_encoder_gets_a_seeded_three_label_head(tiny_base: Path) -> None:
    first, second, other = (
        load_classifier(tiny_base, settings(tiny_base), seed=seed) for seed in (1, 1, 2)
    )
    assert first.model.config.id2label == dict(enumerate(LABELS))
    weights = [c.model.classifier.weight for c in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_existing_head_keeps_its_column_order(tiny_base: Path, tmp_path: Path) -> None:
    made = load_classifier(tiny_base, settings(tiny_base), seed=1)
    made.model.config.id2label = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
    made.model.config.label2id = {"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2}
    made.model.save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)
    again = load_classifier(tmp_path, settings(tmp_path), seed=2)
    assert again.columns == (2, 1, 0)
    assert torch.equal(again.model.classifier.weight, made.model.classifier.weight)


@pytest.mark.parametrize(
    ("options", "frozen"),
    [
        ({"freeze_embeddings": True}, ("bert.embeddings.",)),
        ({"freeze_words": True}, ("bert.embeddings.word_embeddings.",)),
        ({"freeze_layers": 1}, ("bert.embeddings.", "bert.encoder.layer.0.")),
        ({}, ()),
    ],
)
def test_freezing(tiny_base: Path, options: dict[str, object], frozen: tuple[str, ...]) -> None:
    model = load_classifier(tiny_base, settings(tiny_base, **options), seed=1).model
    for name, parameter in model.named_parameters():
        assert parameter.requires_grad != name.startswith(frozen or ("nothing",))


def test_a_base_may_be_thinned_out(tiny_base: Path) -> None:
    whole = load_classifier(tiny_base, settings(tiny_base), seed=1).model
    thin = load_classifier(tiny_base, settings(tiny_base, layers=1), seed=1).model
    assert thin.config.num_hidden_layers == len(thin.bert.encoder.layer) == 1
    kept, first = thin.bert.encoder.layer[0], whole.bert.encoder.layer[0]
    assert torch.equal(kept.output.dense.weight, first.output.dense.weight)
    with pytest.raises(ModelError, match=r"model.layers = 3, and the encoder has 2"):
        load_classifier(tiny_base, settings(tiny_base, layers=3), seed=1)


def test_layer_decay_lowers_the_rate_step_by_step(tiny_base: Path) -> None:
    model = load_classifier(tiny_base, settings(tiny_base), seed=1).model
    groups = parameter_groups(
        model, OptimizerSettings(layer_decay=0.5, weight_decay=0.1), learning_rate=1.0
    )
    rate = {id(p): g["lr"] for g in groups for p in g["params"]}
    decay = {id(p): g["weight_decay"] for g in groups for p in g["params"]}
    named = dict(model.named_parameters())
    by_name = {name: rate[id(p)] for name, p in named.items()}
    assert by_name["classifier.weight"] == 1.0
    assert by_name["bert.encoder.layer.1.output.dense.weight"] == 0.5
    assert by_name["bert.encoder.layer.0.output.dense.weight"] == 0.25
    assert by_name["bert.embeddings.word_embeddings.weight"] == 0.125
    assert decay[id(named["classifier.weight"])] == 0.1
    assert decay[id(named["classifier.bias"])] == 0.0


def test_everything_frozen_is_refused() -> None:
    model = torch.nn.Linear(2, 2).requires_grad_(False)
    with pytest.raises(ModelError, match="every parameter is frozen"):
        parameter_groups(model, OptimizerSettings(), learning_rate=1.0)


def test_missing_base(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        resolve_base("nowhere", tmp_path)
    with pytest.raises(MissingDependencyError, match="pip install no-such-pkg"):
        resolve_base("package:no_such_pkg/model", tmp_path)


def test_the_data_folder_that_is_given_holds_the_base(
    tiny_base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PREVALENCE_DATA", str(tmp_path / "elsewhere"))
    named = "${PREVALENCE_DATA}/" + tiny_base.name
    assert resolve_base(named, tmp_path, tiny_base.parent) == tiny_base
    with pytest.raises(ModelError, match="elsewhere"):
        resolve_base(named, tmp_path)


def test_finding_a_package_runs_none_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loud").mkdir()
    (tmp_path / "loud" / "__init__.py").write_text("raise SystemExit('it ran')")
    monkeypatch.syspath_prepend(tmp_path)
    for base in ("package:loud.x/model", "package:.x/y", "package:/x", "package:a b/x"):
        with pytest.raises(MissingDependencyError, match="needs a package"):
            resolve_base(base, tmp_path)
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        resolve_base("package:loud/model", tmp_path)


def test_a_model_that_ships_is_a_base_by_name_unless_a_folder_is_called_so(tmp_path):
    shipped = resolve_base("embedded", tmp_path)
    assert shipped.name == "minilm-reviewnli"
    assert (shipped / "model.safetensors").is_file()
    own = tmp_path / "embedded"
    own.mkdir()
    (own / "config.json").write_text("{}")
    assert resolve_base("embedded", tmp_path) == own


def rewritten(base: Path, folder: Path, change: Callable[[dict[str, Tensor]], None]) -> Path:
    """A copy of a base whose weights by name are changed."""
    shutil.copytree(base, folder)
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def without_a_layer(weights: dict[str, Tensor]) -> None:
    for name in [name for name in weights if "layer.1." in name]:
        del weights[name]


def renamed(weights: dict[str, Tensor]) -> None:
    for name in list(weights):
        weights[f"network.{name}"] = weights.pop(name)


def folded_without_a_layer(weights: dict[str, Tensor]) -> None:
    whole = {f"bert.{name}": weights.pop(name) for name in list(weights)}
    without_a_layer(whole)
    weights.update(pack_rows(whole))


def of_another_width(weights: dict[str, Tensor]) -> None:
    name = "embeddings.word_embeddings.weight"
    weights[name] = weights[name][:, :-1].contiguous()


@pytest.mark.parametrize(
    "change", [without_a_layer, renamed, folded_without_a_layer, of_another_width]
)
def test_a_base_that_lacks_weights_of_its_encoder(
    change: Callable[[dict[str, Tensor]], None], tiny_base: Path, tmp_path: Path
) -> None:
    base = rewritten(tiny_base, tmp_path / "base", change)
    with pytest.raises(ModelError, match=r"weights are missing for bert\..*random numbers"):
        load_classifier(base, settings(base), seed=1)


def test_a_base_without_a_tokenizer(tiny_base: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tiny_base / name, tmp_path / name)
    with pytest.raises(ModelError, match="no tokenizer files in it"):
        load_classifier(tmp_path, settings(tmp_path), seed=1)


def test_a_base_whose_weights_are_damaged(tiny_base: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(tiny_base, base)
    file = base / "model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(ModelError, match="cannot be loaded as a base checkpoint"):
        load_classifier(base, settings(base), seed=1)
