"""`prevalence score --engine ray` up to the cluster; tests/distributed has one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.cli.distributed import worker_parameters
from prevalence.scorers.calibrated import Calibration

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--workers", "2"], "--workers goes with --engine ray"),
        (["--address", "auto"], "--address goes with --engine ray"),
        (["--gpus-per-worker", "1"], "--gpus-per-worker goes with --engine ray"),
        (["-o", "rows.parquet"], "cannot tell the format from the suffix .parquet"),
        (["--engine", "ray", "--limit", "3"], "--limit does not go with --engine ray"),
        (["--engine", "ray", "--reviews", "r.csv"], "--reviews does not go with --engine ray"),
        (["--engine", "ray", "--device", "cuda"], "--device cuda needs --gpus-per-worker"),
        (["--engine", "ray", "--workers", "0"], "--workers"),
        (["--engine", "ray", "--gpus-per-worker", "1.5"], "give a whole number"),
        (["--engine", "ray", "--gpus-per-worker", "2"], "use one of them; add --device all"),
        (["--engine", "ray", "--gpus-per-worker", "1", "--device", "cpu"], "with --device cpu"),
        (["--engine", "ray", "--cache", "c", "--no-cache"], "exclude each other"),
        (["--engine", "ray", "--reviews-where", "rating ~ 2"], "rating ~ 2"),
        (["--engine", "ray", "--profile", "--others", "2"], "does not go with --engine ray: it"),
        (["--engine", "ray", "--preset", "hiro"], "--others (or a preset with it) does not go"),
        (["--engine", "spark"], "--engine"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    score: Run, write: Callable[..., Path], boots: dict[str, Any], words: list[str], message: str
) -> None:
    result = score(write(boots), *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_standard_input_is_refused(score: Run) -> None:
    result = score("-", "--engine", "ray", stdin="{}")
    assert result.exit_code == 2
    assert "cannot read standard input" in result.stderr


def test_without_ray_the_message_says_how_to_get_it(
    score: Run, write: Callable[..., Path], boots: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    result = score(write(boots), "--engine", "ray")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: scoring on a cluster needs Ray: pip install 'prevalence[ray]'\n"
    )


def test_a_file_of_lines_is_not_taken_for_a_folder(
    score: Run, write: Callable[..., Path], boots: dict[str, Any], tmp_path: Path
) -> None:
    result = score(write(boots), "-o", tmp_path)
    assert result.exit_code == 2
    assert f"--output: {tmp_path} is a folder; name a file" in result.stderr


def test_addresses_from_outside_a_cluster_are_refused(
    score: Run, write: Callable[..., Path], boots: dict[str, Any]
) -> None:
    result = score(write(boots), "--engine", "ray", "--address", "ray://head:10001")
    assert result.exit_code == 2
    assert "ray job submit" in result.stderr


def test_workers_are_told_files_from_the_root_and_no_gpu_that_they_were_not_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model").mkdir()
    given: dict[str, Any] = {"device": "auto", "cache": None, "no_cache": False,
                             "calibration": Path("c.json"), "model": "model"}  # fmt: skip
    on_cpu = worker_parameters(SimpleNamespace(gpus_per_worker=None), given)
    files = {"calibration": tmp_path / "c.json", "model": str(tmp_path / "model")}
    assert on_cpu == {"device": "cpu", "cache": None, "no_cache": True, **files}
    named = {**given, "cache": Path("pairs"), "calibration": None, "model": "embedded"}
    on_gpu = worker_parameters(SimpleNamespace(gpus_per_worker=1.0), named)
    assert on_gpu == {"device": "cuda", "cache": tmp_path / "pairs", "no_cache": False,
                      "calibration": None, "model": "embedded"}  # fmt: skip
    lexical = {**named, "model": "rouge1-precision"}
    found = worker_parameters(SimpleNamespace(gpus_per_worker=1.0), lexical)
    assert found["device"] == "auto"


def test_workers_are_told_the_files_of_a_calibrated_scorer_from_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model").mkdir()
    found = Calibration("summac-zs:model=./model", "00", {}, 0.5)
    Path("c.json").write_text(json.dumps(found.to_json()))
    given: dict[str, Any] = {"device": "cpu", "cache": None, "no_cache": False,
                             "calibration": Path("c.json"), "model": None}  # fmt: skip
    changed = worker_parameters(SimpleNamespace(gpus_per_worker=None), given)
    assert changed["model"] == f"summac-zs:model={tmp_path}/model"
    assert changed["calibration"] == tmp_path / "c.json"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model", "{here}/model"),
        ("~/model", "{here}/model"),
        ("some/hub-name", "some/hub-name"),
        ("embedded", "embedded"),
        ("rouge1-precision", "rouge1-precision"),
        ("nli:./model", "nli:{here}/model"),
        ("nli:embedded", "nli:embedded"),
        ("nli:cosine", "nli:{here}/cosine"),  # after nli: it is a folder, and no family
        ("cosine", "cosine"),
        ("cosine:./model,document", "cosine:{here}/model,document"),
        ("cosine:embedded,sentence-max,pooling=mean", "cosine:embedded,sentence-max,pooling=mean"),
        ("adapter:a.toml", "adapter:{here}/a.toml"),
        ("superpal:model,max", "superpal:{here}/model,max"),
        ("summac-zs:sentence,max,mean,model=./model",
         "summac-zs:sentence,max,mean,model={here}/model"),
        ("summac-zs:max,model=vitc", "summac-zs:max,model=vitc"),
        ("summac-conv:a.toml,model=embedded+adapter:a.toml,bins=even50",
         "summac-conv:{here}/a.toml,model=embedded+adapter:{here}/a.toml,bins=even50"),
        ("qafe:qg=model,qa=nli:model", "qafe:qg={here}/model,qa=nli:{here}/model"),
    ],
)  # fmt: skip
def test_workers_open_what_one_process_would_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("model", "embedded", "rouge1-precision", "cosine", "max", "sentence", "vitc"):
        Path(folder).mkdir()
    Path("a.toml").touch()
    given: dict[str, Any] = {"device": "cpu", "cache": None, "no_cache": False,
                             "calibration": None, "model": name}  # fmt: skip
    changed = worker_parameters(SimpleNamespace(gpus_per_worker=None), given)
    assert changed["model"] == expected.format(here=tmp_path)


@pytest.mark.parametrize(
    ("source", "output"),
    [("", ""), ("", "rows.jsonl"), ("part-00000.parquet", "")],
)
def test_an_output_among_the_inputs_is_refused(
    score: Run, tmp_path: Path, source: str, output: str
) -> None:
    folder = tmp_path / "parts.parquet"
    folder.mkdir()
    (folder / "part-00000.parquet").write_text("mine")
    result = score(folder / source, "--engine", "ray", "--overwrite", "-o", folder / output)
    assert result.exit_code == 2
    assert " lies in " in result.stderr
    assert (folder / "part-00000.parquet").read_text() == "mine"
