"""The programs, the notebook and the tutorial that people copy run as they stand."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.tutorial import renewed
from prevalence.baselines import Example, Metric
from prevalence.cli import main
from prevalence.meta.sources import read_table
from prevalence.readers import read_products

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
NOTEBOOK = json.loads((EXAMPLES / "reviews-to-report.ipynb").read_text(encoding="utf-8"))
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def opened(name):
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with a copy of examples/, as the current one."""
    monkeypatch.setenv("PREVALENCE_CACHE", str(tmp_path / "cache"))
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_the_table_holds_three_products_with_eight_reviews_and_two_summaries():
    products = list(read_products(EXAMPLES / "reviews.csv"))
    assert [product.id for product in products] == ["backpack", "lamp", "cafe"]
    assert [len(product.reviews) for product in products] == [8, 8, 8]
    assert {tuple(s.system for s in p.summaries) for p in products} == {("model-a", "model-b")}
    assert all(product.name for product in products)


def test_the_notebook_is_stored_without_outputs():
    code = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_the_notebook_runs_from_reviews_to_the_report(checkout, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(checkout / "examples")
    names = {}
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]).replace('"embedded"', '"rouge1-precision"', 1), names)
    assert "rouge1-precision" in names["metric"].signature
    assert names["scores"].shape == (6, 3)
    assert names["scores"]["prevalence"].between(0, 1).all()
    page = (checkout / "examples" / "report.html").read_text(encoding="utf-8")
    assert all(product.reviews[0].text in page for product in names["products"])


def test_every_command_of_the_tutorial_runs_and_prints(checkout):
    page = re.sub(
        r"^\$ prevalence .*", r"\g<0> --model rouge1-precision", TUTORIAL, flags=re.MULTILINE
    )
    made = renewed(page)
    blocks = re.findall(r"```text\n(.*?)```", made, re.DOTALL)
    shown, explained, support, profile, greedy = blocks
    assert re.search(r"^model-a .*\nmodel-b ", shown, re.MULTILINE)
    assert "backpack · model-b · prevalence" in explained
    # Of "the zip jams" review 2 has every word and no other review more than one in three.
    assert support.startswith("1 of 8 reviews (12%)  The zip jams.")
    assert "coverage" in profile
    assert re.search(r"^greedy ", greedy, re.MULTILINE)
    assert renewed(made) == made


def test_the_tutorial_speaks_of_the_table_as_it_is():
    block = re.search(r"```csv\n(.*?)\n```", TUTORIAL, re.DOTALL).group(1)
    table = (EXAMPLES / "reviews.csv").read_text(encoding="utf-8").splitlines()
    for line in block.splitlines():
        parts = line.split("…")
        assert any(row.startswith(parts[0]) and row.endswith(parts[-1]) for row in table), line


def test_the_best_summary_is_the_one_of_the_highest_reward(checkout, capsys):
    module = opened("best_of")
    given = checkout / "given.jsonl"
    record = {
        "id": "boots",
        "reviews": ["Warm boots. They leak.", "Warm and dry."],
        "summaries": {"short": "Warm.", "long": "Warm. Boots. They leak.", "off": "Too loud. No."},
    }  # fmt: skip
    alike = {**record, "id": "alike", "summaries": {"a": "Warm.", "b": "Warm."}}
    bad = [{**record, "reviews": []}, {**record, "reviews": ["Warm."], "summaries": {}}, 7]
    lines = [json.dumps(each) + "\n" for each in (record, alike, *bad)]
    given.write_text("".join(lines), encoding="utf-8")
    pairs = checkout / "pairs.jsonl"
    module.main([str(given), "--model", "rouge1-precision", "--pairs", str(pairs)])
    # Both reviews back "Warm.", one backs "Boots." and "They leak.": 1/3 · 2/2 filled up to three
    # sentences, against 1/3 · (2/2 + 1/2 + 1/2).
    shown = capsys.readouterr()
    first, second, signature = shown.out.splitlines()
    assert (first, second) == ("boots: long (0.667)", "alike: a, b (0.333)")
    assert [re.search(r":(\d): (\w+)", line).groups() for line in shown.err.splitlines()] == [
        ("3", "reviews"), ("4", "summaries"), ("5", "is"),
    ]  # fmt: skip
    with pytest.raises(SystemExit, match=r"error: .*nowhere.jsonl: no such file"):
        module.main([str(checkout / "nowhere.jsonl"), "--model", "rouge1-precision"])
    assert signature.startswith("prev|")
    # No summary of the second product is better than the other.
    [pair] = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    assert pair == {
        "prompt": "Summarize these reviews:\n- Warm boots. They leak.\n- Warm and dry.",
        "chosen": "Warm. Boots. They leak.",
        "rejected": "Too loud. No.",
    }


def test_the_metric_of_ones_own_keeps_the_contract():
    module = opened("custom_metric")
    metric = module.CommonWords()
    assert isinstance(metric, Metric)
    reviews = ("Warm boots.", "Warm feet, no boots leak.", "They leak.")
    examples = [Example("Warm boots sing."), Example("Warm boots sing.", reviews), Example("!")]
    values = metric.score(examples)
    # "warm" and "boots" stand in two reviews each, "sing" in none.
    assert values[:2].tolist() == pytest.approx([0.0, 2 / 3])
    assert values[2] != values[2]


def test_rows_of_the_metric_of_ones_own_are_read_by_meta(checkout, capsys):
    opened("custom_metric").main([str(checkout / "examples" / "summaries.jsonl")])
    rows = checkout / "common-words.jsonl"
    rows.write_text(capsys.readouterr().out, encoding="utf-8")
    table = read_table([str(checkout / "examples" / "ratings.jsonl"), str(rows)])
    assert "common-words" in table.metrics


def test_the_judge_of_ones_own_reads_its_recorded_replies(checkout):
    pack = checkout / "examples" / "judge-pack"
    output = checkout / "judged.jsonl"
    run(
        "judge", checkout / "examples" / "summaries.jsonl", "--method", pack / "buyer.toml",
        "--dimensions", pack / "buyer-dimensions.toml", "--systems", "balanced,trivial",
        "--limit", "1", "--backend", f"replay:{pack / 'replies.jsonl'}", "--output", output,
    )  # fmt: skip
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert {row["system"]: row["metrics"] for row in rows} == {
        "balanced": {"buyer.usefulness": 5.0, "buyer.warnings": 4.0},
        "trivial": {"buyer.usefulness": 1.0, "buyer.warnings": 1.0},
    }
