"""Checkpoints: what is read from them, and which are refused in one line."""

from __future__ import annotations

import json
import re
import shutil
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.errors import ConfigurationError, ModelError
from prevalence.models.checkpoint import load_checkpoint
from prevalence.models.labels import LabelMap
from prevalence.models.lengths import real_limit
from prevalence.models.location import folder_digest, is_here, plain_name, resolve
from prevalence.models.registry import EMBEDDED, REGISTRY, lookup
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine, ScoringOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _limit(stated: float | None, **config: Any) -> int:
    config.setdefault("model_type", "bert")
    config.setdefault("pad_token_id", 0)
    return real_limit(SimpleNamespace(**config), SimpleNamespace(model_max_length=stated))


def test_limits_of_well_known_shapes() -> None:
    assert _limit(512, max_position_embeddings=512) == 512
    assert _limit(int(1e30), max_position_embeddings=512) == 512
    assert _limit(128, max_position_embeddings=512) == 128
    assert _limit(int(1e30), model_type="roberta", pad_token_id=1, max_position_embeddings=514) == (
        512
    )
    assert _limit(512, model_type="roberta", pad_token_id=1, max_position_embeddings=514) == 512
    assert _limit(1024, model_type="bart", pad_token_id=1, max_position_embeddings=1024) == 1024
    assert _limit(int(1e30), model_type="t5") == 512
    assert _limit(None, model_type="xlnet", max_position_embeddings=-1) == 512


def test_the_limit_is_the_longest_input_the_model_takes(
    family: str, checkpoint: Callable[..., Path]
) -> None:
    import torch

    loaded = load_checkpoint(str(checkpoint(family)))
    assert loaded.max_length == 64
    with torch.inference_mode():
        loaded.model(input_ids=torch.full((1, 64), 6))
        if family != "deberta-v2":  # relative positions have no last one
            with pytest.raises((IndexError, RuntimeError)):
                loaded.model(input_ids=torch.full((1, 65), 6))


def test_shorter_limits(altered: Callable[..., Path]) -> None:
    trained = str(altered("bert", "config.json", prevalence_max_length=48))
    assert load_checkpoint(trained).max_length == 48
    assert load_checkpoint(trained, max_length=64).max_length == 64
    assert load_checkpoint(trained, max_length=8).max_length == 8
    for asked in (0, 7, 65):
        with pytest.raises(ConfigurationError, match=f"maximum length {asked} is outside 8..64"):
            load_checkpoint(trained, max_length=asked)
    stated = altered("bert", "tokenizer_config.json", model_max_length=40)
    assert load_checkpoint(str(stated)).max_length == 40


def test_thresholds(altered: Callable[..., Path], checkpoint: Callable[..., Path]) -> None:
    plain = load_checkpoint(str(checkpoint("bert")))
    assert (plain.threshold, plain.calibrated) == (0.5, False)
    stored = load_checkpoint(str(altered("bert", "config.json", prevalence_threshold=0.0)))
    assert (stored.threshold, stored.calibrated) == (0.0, True)
    for wrong in (1.5, "high", [0.1]):
        folder = altered("bert", "config.json", prevalence_threshold=wrong)
        with pytest.raises(ModelError, match=r"prevalence_threshold .* is not in \[0, 1\)"):
            load_checkpoint(str(folder))


def test_what_is_loaded(checkpoint: Callable[..., Path], capfd: pytest.CaptureFixture[str]) -> None:
    import torch

    folder = checkpoint("roberta")
    capfd.readouterr()
    loaded = load_checkpoint(f"{folder}/.")
    assert capfd.readouterr() == ("", "")  # no progress bar, no report
    assert loaded.name == folder.name
    assert loaded.labels == LabelMap(3, 2, 0)
    assert loaded.pad == 1
    assert not loaded.model.training
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.float32}
    half = load_checkpoint(str(folder), dtype=torch.bfloat16)
    assert next(half.model.parameters()).dtype == torch.bfloat16


def test_half_precision_weights_are_widened(
    checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    import torch

    source = load_checkpoint(str(checkpoint("bert")))
    source.model.half().save_pretrained(tmp_path)
    source.tokenizer.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "float16"
    assert next(load_checkpoint(str(tmp_path)).model.parameters()).dtype == torch.float32


def test_padding_token_of_heads_that_read_the_last_token(checkpoint: Callable[..., Path]) -> None:
    loaded = load_checkpoint(str(checkpoint("gpt2")))
    assert loaded.pad == loaded.model.config.pad_token_id == loaded.tokenizer.pad_token_id == 1


def test_the_name_is_safe_in_a_signature(checkpoint: Callable[..., Path], tmp_path: Path) -> None:
    folder = tmp_path / "my|model v2"
    shutil.copytree(checkpoint("bert"), folder)
    assert load_checkpoint(str(folder)).name == "my_model_v2"


@pytest.mark.parametrize("name", ["base", "embedded"])
def test_a_folder_called_like_a_model_that_ships_is_another(
    checkpoint: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    folder = tmp_path / name
    shutil.copytree(checkpoint("bert"), folder)
    assert load_checkpoint(str(folder)).name == f"{name}(local)"
    assert plain_name(name) == name
    scorer = open_scorer(str(folder), device="cpu")
    Engine(scorer, ScoringOptions(language="de"))


def test_digest_follows_what_changes_a_probability(
    altered: Callable[..., Path], checkpoint: Callable[..., Path]
) -> None:
    def digest(folder: Path) -> bytes:
        return load_checkpoint(str(folder)).digest

    original = digest(checkpoint("bert"))
    copy = altered("bert", "config.json")
    shutil.copy(checkpoint("bert") / "config.json", copy)
    (copy / "LICENSE.txt").write_text("free")
    (copy / "README.md").write_text("read")
    (copy / "trainer_state.json").write_text("{}")
    assert digest(copy) == original
    assert len(original) == 16
    tokenizer = altered("bert", "tokenizer_config.json", model_max_length=50)
    assert digest(tokenizer) != original
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert digest(copy) != original


def test_digest_follows_how_a_model_writes(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    original = folder_digest(tmp_path)
    (tmp_path / "generation_config.json").write_text('{"repetition_penalty": 1.3}')
    assert folder_digest(tmp_path) != original


def _drop_head(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "classifier" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


def _pickle_only(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _damage_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\0" * 100)


def _narrow_words(folder: Path) -> None:
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"vocab_size": 10}))


def _damage_config(folder: Path) -> None:
    (folder / "config.json").write_text("{not json")


def _no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def _damage_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("[]")


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (_drop_head, r"weights are missing for classifier\.bias.*not a fine-tuned classifier"),
        (_pickle_only, "no .safetensors file.*Pickled weights are never loaded"),
        (_damage_weights, "its weights cannot be loaded"),
        (_narrow_words, r"the shape of .*word_embeddings.weight is not what its config says"),
        (_damage_config, "its config cannot be read"),
        (_no_config, "its config cannot be read"),
        (_damage_tokenizer, "no usable tokenizer"),
    ],
)
def test_unusable_checkpoints_are_refused_in_one_line(
    harm: Callable[[Path], None],
    told: str,
    altered: Callable[..., Path],
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = altered("bert", "config.json")
    harm(folder)
    capfd.readouterr()
    with pytest.raises(ModelError, match=told) as caught:
        load_checkpoint(str(folder))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_other_architectures_are_refused(altered: Callable[..., Path]) -> None:
    folder = altered("bert", "config.json", architectures=["BertForMaskedLM"])
    with pytest.raises(ModelError, match="holds BertForMaskedLM, not a sequence-classification"):
        load_checkpoint(str(folder))


def test_code_in_a_checkpoint_is_never_run(altered: Callable[..., Path], tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    folder = altered(
        "bert", "config.json", model_type="own", auto_map={"AutoConfig": "own.OwnConfig"}
    )
    (folder / "own.py").write_text(f"open({str(mark)!r}, 'w')\n")
    with pytest.raises(ModelError, match="its config cannot be read"):
        load_checkpoint(str(folder))
    assert not mark.exists()


@pytest.mark.parametrize(
    "model",
    ["/no/such/folder", "./nowhere", "a/b/c", "~/nowhere-at-all", "~no-such-user/model"],
)
def test_missing_folders(model: str) -> None:
    assert not is_here(model)
    with pytest.raises(ModelError, match=f"^{model}: no such folder; give a checkpoint folder"):
        load_checkpoint(model)


@pytest.mark.parametrize("model", ["some-org/some-model", "roberta-large-mnli", "not a name"])
def test_hub_names_without_a_network(
    model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from huggingface_hub import constants

    # The library reads the variable once, when it is imported.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    began = time.perf_counter()
    with pytest.raises(ModelError, match=r"HF_HUB_OFFLINE is set.*needs no network"):
        load_checkpoint(model)
    assert time.perf_counter() - began < 5


def test_a_folder_behind_a_registered_name_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import huggingface_hub

    def unreachable(*_: Any, **__: Any) -> str:
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"not a local folder.*Give the folder of a checkpoint"):
        resolve("bart-large-mnli")
    (tmp_path / "bart-large-mnli").mkdir()
    with pytest.raises(ModelError, match=r"a registered name.*write \./bart-large-mnli for the"):
        resolve("bart-large-mnli")
    assert resolve("./bart-large-mnli").is_dir()
    # What must be converted, or is opened by its family, is not fetched so.
    for name in ("alignscore-large", "hhem-2.1-open"):
        with pytest.raises(ModelError, match=r"Give the folder of a checkpoint, or a model that"):
            resolve(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bsae", "unknown model 'bsae': did you mean 'base'? It is not a local folder, and"),
        ("embeded", "unknown model 'embeded': did you mean 'embedded'? It is"),
        ("roberta-large-mnil", "unknown model 'roberta-large-mnil': did you mean 'roberta-large-m"),
        ("xlm-roberta", "xlm-roberta: not a local folder, and the hub gave no model. Give the"),
    ],
)
def test_a_misspelt_model_gets_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    import huggingface_hub

    def unreachable(*_: Any, **__: Any) -> str:
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with pytest.raises(ModelError, match=re.escape(said)) as caught:
        resolve(name)
    assert "Error" not in str(caught.value)


def test_registered_folder_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from dataclasses import replace

    gone = replace(REGISTRY[EMBEDDED], location=str(tmp_path / "gone"))
    monkeypatch.setitem(REGISTRY, EMBEDDED, gone)
    with pytest.raises(ModelError, match=r"missing from this installation \(gone\)"):
        resolve(EMBEDDED)


def test_registered_threshold_holds_unless_the_config_has_one(
    altered: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    entry = replace(REGISTRY["roberta-large-mnli"], location=str(altered("bert", "config.json")))
    monkeypatch.setitem(REGISTRY, entry.name, entry)
    loaded = load_checkpoint("roberta-large-mnli")
    assert (loaded.name, loaded.threshold, loaded.calibrated) == (entry.name, 0.04, True)
    own = altered("bert", "config.json", prevalence_threshold=0.25)
    monkeypatch.setitem(REGISTRY, entry.name, replace(entry, location=str(own)))
    assert load_checkpoint("roberta-large-mnli").threshold == 0.25


def test_registry() -> None:
    assert lookup("FacebookAI/roberta-large-mnli") is lookup("roberta-large-mnli")
    assert lookup("roberta-large-mnli").stated_threshold() == 0.04
    assert lookup("nobody/knows") is None
    for name, entry in REGISTRY.items():
        assert entry.name == name
        assert entry.threshold is None or 0 <= entry.threshold < 1
        assert 0 < entry.max_length <= 4096


@pytest.mark.parametrize("name", ["", "  "])
def test_a_model_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="has no name"):
        resolve(name)


@pytest.mark.parametrize(("stated", "column"), [(True, 0), (False, None)])
def test_a_config_may_withhold_the_contradiction_class(
    altered: Callable[..., Path], *, stated: bool, column: int | None
) -> None:
    folder = altered("bert", "config.json", prevalence_contradiction=stated)
    assert load_checkpoint(str(folder)).labels.contradiction == column


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2"])
def test_a_tokenizer_is_never_made_up(
    kind: str, checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "bare"
    shutil.copytree(checkpoint(kind), folder)
    for path in folder.iterdir():
        if path.suffix in (".json", ".txt", ".model") and path.name != "config.json":
            path.unlink()
    with pytest.raises(ModelError, match=r"no tokenizer files in it .*; copy them from"):
        load_checkpoint(str(folder))
    (folder / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="no tokenizer files in it"):
        load_checkpoint(str(folder))
