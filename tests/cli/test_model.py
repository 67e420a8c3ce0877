"""Options that concern a model, with a small untrained one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.api import OpinionPrevalence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained three-way BERT that reads 32 tokens and states no threshold."""
    transformers = pytest.importorskip("transformers")
    import torch

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    folder.mkdir()
    words = [
        "such",
        "warm",
        "boots",
        "they",
        "leak",
        "badly",
        "i",
        "bought",
        "a",
        "lamp",
        ".",
        "!",
        "fine",
        "laces",
        "dry",
    ]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    tokenizer = transformers.BertTokenizerFast(
        vocab={word: place for place, word in enumerate(vocabulary)}, model_max_length=32
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(5)
    names = {0: "contradiction", 1: "neutral", 2: "entailment"}
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=32, initializer_range=0.8,
        id2label=names, label2id={name: place for place, name in names.items()},
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture
def scored(
    run: Run, write: Write, boots: dict[str, Any], checkpoint: Path
) -> Callable[..., tuple[list[dict[str, Any]], str]]:
    """Score a product with the checkpoint; rows and what stands on stderr."""
    path = write({**boots, "reviews": [*boots["reviews"], "warm boots leak " * 30]})

    def call(*options: object) -> tuple[list[dict[str, Any]], str]:
        result = run("score", path, "--model", checkpoint, "--format", "jsonl", *options)
        assert result.exit_code == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()], result.stderr

    return call


def test_signature_names_model_digest_limit_and_granularity(scored: Any) -> None:
    parts = scored()[0][0]["signature"].split("|")
    assert parts[1].startswith("nli:tiny-bert@")
    assert {"gran:document", "thr:0.5", "trunc:32"} <= set(parts)
    assert "gran:window8" in scored("--windows", 8)[0][0]["signature"]
    assert "|trunc:16|" in scored("--max-length", 16)[0][0]["signature"]


def test_a_threshold_that_is_not_calibrated_is_announced(scored: Any) -> None:
    warning = "warning: the model has no calibrated threshold; 0.5 is used (set --threshold)\n"
    assert warning in scored()[1]
    assert "calibrated" not in scored("--threshold", 0.4)[1]
    assert "calibrated" not in scored("--quiet")[1]


def test_cut_reviews_are_counted_and_windows_read_them_whole(scored: Any) -> None:
    note = "pairs cut at the model's limit"
    assert note in scored()[1]
    assert note not in scored("--windows", 8)[1]


def test_support_counts_a_cut_review_once(run: Run, tmp_path: Path, checkpoint: Path) -> None:
    path = tmp_path / "reviews.txt"
    path.write_text("warm boots leak " * 30 + "\nthey leak\n")
    statements = ("They leak.", "Warm boots.", "Such dry boots.")
    said = run("support", path, *statements, "--model", checkpoint, "--quiet").stderr
    assert said == ""
    said = run("support", path, *statements, "--model", checkpoint).stderr
    assert "\n1 review was cut at the model's limit" in said


def test_checking_cuts_changes_no_row_and_says_what_windows_would_turn(scored: Any) -> None:
    """Cuts at 16 tokens: the only long review, against what windows of the same length say."""
    settings = ("--max-length", 16, "--threshold", 0.4, "--full-matrix")
    plain, said = scored(*settings)
    checked, counted = scored(*settings, "--check-cuts")
    assert plain == checked
    assert "pairs cut at" in said
    assert ", premises: 1 (--windows STRIDE reads premises whole; --check-cuts counts" in said
    whole = scored(*settings, "--windows", 128)[0]
    no, turned = set(), set()
    for cut, read in zip(plain, whole, strict=True):
        for one, other in zip(cut["sentences"], read["sentences"], strict=True):
            # A pair is asked once, whichever summary asks it.
            if one["entailment"][3] <= 0.4:
                no.add(one["text"])
            if (one["entailment"][3] > 0.4) != (other["entailment"][3] > 0.4):
                turned.add(one["text"])
    line = f"{len(no)} of them did not count as support and were also read in windows, which"
    assert f"{line} would change {len(turned)} decisions" in counted


def test_python_counts_the_cuts_that_the_command_notes(
    scored: Any, boots: dict[str, Any], checkpoint: Path
) -> None:
    said = scored("--max-length", 16, "--threshold", 0.4, "--check-cuts")[1]
    settings: dict[str, Any] = {"max_length": 16, "threshold": 0.4, "check_cuts": True,
                                "any_language": True}  # fmt: skip
    metric = OpinionPrevalence(str(checkpoint), **settings)
    product = {**boots, "reviews": [*boots["reviews"], "warm boots leak " * 30]}
    assert all(row.error is None for row in metric.score_many([product]))
    cuts = metric.cuts
    assert cuts.reread
    assert f"pairs cut at the model's limit: {cuts.pairs}, premises: {cuts.premises} " in said
    assert f"{cuts.reread} of them did not count as support" in said
    assert f"would change {cuts.turned} decision" in said


def test_cuts_are_checked_where_something_is_cut(run: Run, write: Write, boots: Any) -> None:
    result = run("score", write(boots), "--model", "rouge1-precision", "--check-cuts")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "error: cuts are checked (check_cuts= or --check-cuts) of NLI models"
    )


def test_checking_cuts_says_so_where_nothing_was_cut(
    run: Run, write: Write, boots: Any, checkpoint: Path
) -> None:
    words = ("score", write(boots), "--model", checkpoint, "--threshold", 0.4)
    said = "no pair was cut at the model's limit, so --check-cuts had nothing to check\n"
    assert said in run(*words, "--check-cuts").stderr
    assert said not in run(*words).stderr


def test_batch_size_changes_no_answer(scored: Any) -> None:
    small, large = scored("--batch-tokens", 1)[0], scored("--batch-tokens", 10_000)[0]
    for one, other in zip(small, large, strict=True):
        assert one["prevalence"] == other["prevalence"]
        for a, b in zip(one["sentences"], other["sentences"], strict=True):
            assert a["supporting_reviews"] == b["supporting_reviews"]
            if a["entailment"] is not None:
                assert a["entailment"] == pytest.approx(b["entailment"], abs=1e-5)


def test_packing_changes_no_answer(scored: Any) -> None:
    packed, padded = scored("--packing", "packed"), scored("--packing", "padded")
    for one, other in zip(packed[0], padded[0], strict=True):
        assert one["signature"] == other["signature"]
        assert one["prevalence"] == other["prevalence"]
        for a, b in zip(one["sentences"], other["sentences"], strict=True):
            assert a["entailment"] == pytest.approx(b["entailment"], abs=1e-5)


def test_three_way_models_name_contradicting_reviews(scored: Any) -> None:
    sentences = scored("--full-matrix", "--threshold", 0.9)[0][0]["sentences"]
    assert all(isinstance(s["contradicting_reviews"], list) for s in sentences)


def test_only_what_concerns_the_user_is_on_stderr(scored: Any) -> None:
    # No progress bars, advice or warnings of the libraries underneath.
    warning, work, cut, language = scored()[1].splitlines()
    assert warning.startswith("warning: the model has no calibrated threshold")
    assert work.startswith("2 summaries scored, 0 failed; of ")
    assert cut.startswith("pairs cut at the model's limit: ")
    assert "1 product is probably not in English (" in language
    assert scored("--quiet")[1] == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-length", "500"], "500"),
        (["--labels", "a,b,c"], "a"),
        (["--labels", "entailment,neutral"], "2 classes"),
        (["--device", "no-such-device"], "try device='cpu' or --device cpu"),
        (["--dtype", "float8"], "'float8' is not one of"),
    ],
)
def test_unusable_options_are_one_line(
    run: Run, write: Write, boots: dict[str, Any], checkpoint: Path, *, options: Any, said: str
) -> None:
    result = run("score", write(boots), "--model", checkpoint, *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_model_is_one_line(run: Run, write: Write, boots: dict[str, Any]) -> None:
    result = run("score", write(boots), "--model", "/no/such/model")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: /no/such/model: ")
    assert result.stderr.count("\n") == 1


def test_support_with_a_model(run: Run, checkpoint: Path) -> None:
    result = run(
        "support", "-", "Warm boots.", "--model", checkpoint, "--format", "json",
        stdin="warm boots\nthey leak\n",
    )  # fmt: skip
    row = json.loads(result.stdout)[0]
    assert row["n_reviews"] == 2
    assert not set(row["supporting_reviews"]) & set(row["contradicting_reviews"])
    assert "no calibrated threshold; 0.5 is used" in result.stderr


def test_half_precision_decides_as_float32_and_says_what_it_took(
    run: Run, checkpoint: Path, write: Write, boots: dict[str, Any]
) -> None:
    words = ("score", "--model", checkpoint, "--device", "cpu", "--no-cache", write(boots),
             "--threshold", "0.4", "--format", "jsonl")  # fmt: skip
    exact, safe, fast = (
        run(*words, *more)
        for more in ((), ("--dtype", "bfloat16"), ("--dtype", "bfloat16", "--no-recheck"))
    )
    supports = [
        [sentence["support"] for line in result.stdout.splitlines()
         for sentence in json.loads(line)["sentences"]]
        for result in (exact, safe)
    ]  # fmt: skip
    assert supports[0] == supports[1]
    assert "|dtype:bfloat16|recheck:float32|" in safe.stdout
    assert "scored again in float32, which changed" in safe.stderr
    assert "float32" not in exact.stdout + exact.stderr
    assert "recheck" not in fast.stdout
    assert "(--dtype float32 settles them)" in fast.stderr
