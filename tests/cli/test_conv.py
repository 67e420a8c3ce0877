"""`prevalence conv`: learning and converting heads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.scorers.conv import read_head

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {
            "premise": "They keep my feet dry.",
            "hypothesis": f"Statement number {n}.",
            "label": n % 2,
        }
        for n in range(8)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, fake_scorer: Any) -> list[Any]:
    """Models that the command opened, which are none."""
    seen: list[Any] = []

    def open_model(name: str, options: Any) -> Any:
        seen.append((name, options))
        return fake_scorer()

    monkeypatch.setattr("prevalence.scorers.registry.open_unit_model", open_model)
    return seen


def test_a_head_is_learnt_and_written(
    run: Run, pairs: Path, tmp_path: Path, opened: list[Any]
) -> None:
    output = tmp_path / "head.safetensors"
    words = ("conv", "train", pairs, "--output", output, "--steps", 3, "--bins", "even4",
             "--aggregate", "all", "--no-cache", "--device", "cpu")  # fmt: skip
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith(f"trained on 8 pairs; --model summac-conv:{output}\n")
    head = read_head(output)
    assert (head.nli, head.models, head.settings.bins) == ("fake@1", 1, "even4")
    assert [name for name, _ in opened] == ["embedded"]
    assert result.stderr == ""
    missing = {"premise": "They are wet.", "hypothesis": "They leak.", "label": None}
    pairs.write_text(pairs.read_text() + json.dumps(missing) + "\n")
    result = run(*words[:4], tmp_path / "other.safetensors", *words[5:])
    assert result.stderr == f"{pairs}: 1 pair without a label was left out\n"
    assert "trained on 8 pairs" in result.stdout
    assert (opened[0][1].device, opened[0][1].cache) == ("cpu", None)
    several = run(*words, "--model", "a", "--model", "b")
    assert several.stdout.endswith(f"summac-conv:{output},model=a+b\n")
    assert read_head(output).models == 2


@pytest.mark.parametrize(("words", "said"), [
    (["--bins", "odd"], "unknown bins 'odd'"),
    (["--output", "head.bin"], "must end in .safetensors"),
    (["--granularity", "word"], "unknown granularity"), (["--steps", "0"], "0 is not in the range"),
])  # fmt: skip
def test_wrong_options_are_one_line(
    run: Run, pairs: Path, opened: list[Any], words: list[str], said: str
) -> None:
    output = pairs.with_suffix(".safetensors")
    result = run("conv", "train", pairs, "--output", output, *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not opened
    assert not output.exists()


def test_the_authors_file_is_converted(run: Run, tmp_path: Path) -> None:
    import torch

    shapes = {"mlp.weight": (1, 8), "mlp.bias": (1,), "layer_final.weight": (2, 3),
              "layer_final.bias": (2,)}  # fmt: skip
    source, output = tmp_path / "a.bin", tmp_path / "a.safetensors"
    torch.save({name: torch.ones(shape) for name, shape in shapes.items()}, source)
    words = ("conv", "convert", source, "--output", output)
    assert "8 weights does not go with bins=percentile" in run(*words).stderr
    result = run(*words, "--bins", "even4", "--classes", "ec")
    assert result.stdout == f"{output}: 8 weights for 1 model(s)\n"
    assert read_head(output).settings.classes == "ec"
    missing = run("conv", "convert", tmp_path / "b.bin", "--output", output)
    assert missing.exit_code == 2
    assert "no such file" in missing.stderr


def test_alignscore_is_converted(run: Run, tmp_path: Path) -> None:
    import torch

    source, base, output = tmp_path / "a.ckpt", tmp_path / "base", tmp_path / "made"
    state = {"base_model.x": torch.ones(2, 3), "tri_layer.bias": torch.ones(3)}
    torch.save({"state_dict": state | {"mlm_head.bias": torch.ones(5)}}, source)
    base.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (base / name).write_text("{}", encoding="utf-8")
    words = ("conv", "alignscore", source, "--base", base, "--output", output)
    result = run(*words)
    assert result.stdout == f"{output}: 9 numbers; --model alignscore:{output}\n"
    assert sorted(path.name for path in output.iterdir()) == [
        "config.json", "model.safetensors", "tokenizer.json",
    ]  # fmt: skip
    source.write_bytes(b"no pickle")
    failed = run(*words)
    assert failed.exit_code == 2
    assert "not AlignScore weights that can be read without running code" in failed.stderr


def test_both_commands_have_help(run: Run) -> None:
    assert "Examples:" in run("conv", "train", "--help").stdout
    assert " file to safetensors" in run("conv", "convert", "--help").stdout


def test_a_head_is_learnt_on_sentences_of_reviews_in_another_file(
    run: Run, tmp_path: Path, opened: list[Any]
) -> None:
    labels, products = tmp_path / "labels.jsonl", tmp_path / "products.jsonl"
    row = {"product_id": "p", "sentences": ["They are red.", "They leak."], "labels": [[1, 0]]}
    labels.write_text(json.dumps(row), encoding="utf-8")
    products.write_text(json.dumps({"product_id": "p", "reviews": ["Red."]}), encoding="utf-8")
    output = tmp_path / "head.safetensors"
    words = ("conv", "train", labels, "--output", output, "--steps", 3, "--no-cache")
    assert run(*words).exit_code == 2
    result = run(*words, "--products", products)
    assert result.exit_code == 0, result.stderr
    assert "trained on 2 pairs" in result.stdout
