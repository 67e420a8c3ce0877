"""The throughput benchmark: what it scores, what it counts, and that its rows agree."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.throughput import contenders, measure
from benchmarks.throughput.architectures import ARCHITECTURES, architecture, write_checkpoint
from benchmarks.throughput.contenders import CONTENDERS, Opened
from benchmarks.throughput.measure import BenchSettings, Measurement, measure_model
from benchmarks.throughput.tables import plot_throughput, throughput_csv, throughput_table
from benchmarks.throughput.workload import REVIEWS, SENTENCES, WORDS, Workload
from prevalence.errors import ConfigurationError
from prevalence.models.checkpoint import load_checkpoint
from prevalence.models.registry import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``tiny(name)``: a small likeness of an architecture, written once."""
    written: dict[str, Path] = {}

    def write(name: str) -> Path:
        if name not in written:
            written[name] = tmp_path_factory.mktemp("tiny")
            write_checkpoint(architecture(name).at("tiny"), written[name])
        return written[name]

    return write


def test_pairs_are_every_review_of_a_product_with_every_sentence() -> None:
    work = Workload.draw(2)
    assert (len(work.reviews), len(work.sentences)) == (2 * REVIEWS, 2 * SENTENCES)
    assert len(work.pairs) == 2 * REVIEWS * SENTENCES
    assert work.pairs[1] == (work.reviews[0], work.sentences[1])
    assert work.pairs[-1] == (work.reviews[-1], work.sentences[-1])
    assert (work.reviews[0], work.sentences[-1]) not in work.pairs
    assert work.head(1).pairs == work.pairs[: REVIEWS * SENTENCES]
    assert Workload.draw(2) == work != Workload.draw(2, seed=1)
    table, numbers = work.numbered()
    assert [(table[a], table[b]) for a, b in numbers.tolist()] == work.pairs


def test_lengths_follow_the_histogram() -> None:
    source = files("benchmarks.throughput").joinpath("data/lengths.json")
    stored = json.loads(source.read_text(encoding="utf-8"))["review"]
    lows, counts = np.array(stored["bins"]).T
    lengths = [len(text.split()) for text in Workload.draw(300).reviews]
    middle = float((lows * counts).sum() / counts.sum()) + (stored["width"] - 1) / 2
    assert np.mean(lengths) == pytest.approx(middle, rel=0.02)
    assert min(lengths) >= lows[0]
    assert max(lengths) < lows[-1] + stored["width"]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_architecture_loads_with_its_own_tokens_and_spread_answers(
    name: str, tiny: Callable[[str], Path]
) -> None:
    import torch

    loaded = load_checkpoint(str(tiny(name)))
    work = Workload.draw(2)
    assert all(len(loaded.tokenizer.tokenize(" " + word)) == 1 for word in WORDS)
    ids = [loaded.tokenizer(*pair)["input_ids"] for pair in work.pairs]
    assert work.tokens(loaded.tokenizer).tolist() == [len(row) for row in ids]
    # <s> a </s></s> b </s> for RoBERTa, [CLS] a [SEP] b [SEP] for the others.
    assert ids[0].count(loaded.tokenizer.sep_token_id) == (3 if "roberta" in name else 2)
    few = loaded.tokenizer(
        *map(list, zip(*work.pairs[::4], strict=True)), padding=True, return_tensors="pt"
    )
    with torch.inference_mode():
        p = loaded.model(**few).logits.softmax(1)[:, loaded.labels.entailment]
    assert p.std() > 0.05
    full = architecture(name)
    assert full.at("full") == full
    assert full.at("small").hidden < full.hidden


@pytest.mark.slow
def test_rows_agree_in_float32_and_say_why_they_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setitem(CONTENDERS, "liar", lambda given: Opened(lambda work: 1 - _half(work)))
    settings = BenchSettings(
        size="tiny", repeats=2,
        contenders=("one pair a call", "padded batches", "ours padded", "ours packed",
                    "ours compiled", "ours rechecked", "liar"),
    )  # fmt: skip
    result = measure_model("roberta-base", settings, progress=told.append)
    rows = {row.contender: row for row in result.rows}
    for name in ("one pair a call", "padded batches", "ours padded"):
        row = rows[name]
        assert (row.reason, row.changed, row.pairs, len(row.seconds)) == (None, 0, 48, 2)
        assert row.memory is None
        assert row.share is not None
        assert 0 < row.share < 1
        assert row.pairs_per_second == 48 / row.middle
    assert rows["ours compiled"].reason == "measured on a GPU only"
    assert rows["ours rechecked"].reason == "float32 needs no recheck"
    assert rows["ours rechecked"].pairs_per_second is None
    # All its answers are above the threshold, which half of the true ones are not.
    assert rows["liar"].changed == 24
    assert 0 < result.threshold < 1
    assert told[0] == "roberta-base: float32 for comparison"
    assert told[-1] == "roberta-base: liar: run 2 of 2"


def _half(work: Workload) -> Any:
    return np.zeros(len(work.pairs), np.float32)


def test_half_precision_is_rechecked_to_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    # A CPU takes seconds to multiply its large matrices in bfloat16, and no decision needs them.
    monkeypatch.setattr(measure, "matmul_rate", lambda *_: 1.0)
    settings = BenchSettings(
        size="tiny", repeats=1, dtype="bfloat16", contenders=("ours rechecked",)
    )
    (row,) = measure_model("roberta-base", settings).rows
    assert (row.reason, row.changed) == (None, 0)


def test_the_arithmetic_of_a_token_by_hand(
    monkeypatch: pytest.MonkeyPatch, tiny: Callable[[str], Path]
) -> None:
    """RoBERTa of width 32, 2 layers: 4 matrices of 32 · 32 and 2 of 32 · 128 a layer."""
    monkeypatch.setattr(measure, "matmul_rate", lambda *_: 1.0)
    settings = BenchSettings(size="tiny", repeats=1, contenders=("ours padded",))
    (row,) = measure_model("roberta-base", settings).rows
    lengths = Workload.draw(1).tokens(load_checkpoint(str(tiny("roberta-base"))).tokenizer)
    linear = 2 * 2 * (4 * 32 * 32 + 2 * 32 * 128)
    # Scores and mixture are 2 · 2 · L² · 32 operations in each of 2 layers.
    operations = lengths.sum() * linear + 2 * 4 * 32 * (lengths**2).sum()
    assert row.tokens == lengths.sum()
    assert row.share == pytest.approx(operations / row.middle)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_models_that_read_premises_first_take_no_plain_cross_encoder(name: str) -> None:
    settings = BenchSettings(
        size="tiny", repeats=1,
        contenders=("one pair a call", "padded batches", "ours padded", "ours packed"),
    )  # fmt: skip
    alone, batches, *others = measure_model(name, settings).rows
    (ours,) = (row for row in others if row.seconds)
    assert alone.settings == "our scorer, a call a pair"
    assert batches.reason.startswith("premise-first attention")
    assert (alone.changed, ours.changed) == (0, 0)
    assert ours.share is None


def test_a_missing_library_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    settings = BenchSettings(size="tiny", repeats=1, contenders=("CrossEncoder",))
    (row,) = measure_model("roberta-base", settings).rows
    assert (row.reason or "").startswith("sentence-transformers is not installed")
    assert (row.seconds, row.changed) == ([], None)


@pytest.mark.parity
def test_cross_encoder_gives_the_same_probabilities(tiny: Callable[[str], Path]) -> None:
    pytest.importorskip("sentence_transformers")
    work = Workload.draw(1)
    given = contenders.Given(
        folder=str(tiny("roberta-base")), device="cpu", dtype="float32", threshold=0.5, sample=work
    )
    found = [CONTENDERS[name](given) for name in ("CrossEncoder", "ours padded")]
    # The scaled head of a random model enlarges what sums in another order differ by.
    np.testing.assert_allclose(found[0].run(work), found[1].run(work), rtol=0, atol=1e-4)
    assert found[0].settings in {"batches of 16", "batches of 64"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": "huge"}, "unknown size 'huge'"),
        ({"repeats": 0}, "must be positive"),
        ({"products": 0}, "must be positive"),
        ({"contenders": ("ours", "x")}, "unknown contender ours, x: choose from one pair a call,"),
    ],
)
def test_settings_out_of_range(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        BenchSettings(**options)


def test_an_unknown_model() -> None:
    with pytest.raises(ConfigurationError, match="choose from embedded, base, roberta-large"):
        measure_model("gpt", BenchSettings(size="tiny"))


def test_table_csv_and_picture(tmp_path: Path) -> None:
    from rich.console import Console

    rows = [
        Measurement(
            contender="one pair a call", pairs=10, tokens=700, seconds=[2.0, 1.0, 9.0], changed=0),
        Measurement(contender="ours padded", settings="s", pairs=40, tokens=2800, seconds=[1.0],
            share=0.25, memory=3 << 20, changed=1),
        Measurement(contender="ours packed", reason="=not here"),
    ]  # fmt: skip
    result = measure.ModelResult("m", "tiny", 0.5, 2e12, rows)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(throughput_table(result))
    lines = [line.split() for line in console.export_text().splitlines()]
    assert lines[2] == ["one", "pair", "a", "call", "5.0", "1.00×", "350", "–", "–", "0"]
    assert lines[3] == ["ours", "padded", "40.0", "8.00×", "2,800", "25.0%", "3", "MiB", "1", "s"]
    assert lines[4] == ["ours", "packed", *["–"] * 6, "=not", "here"]
    about = {"date": "2026-01-01", "commit": None, "device": "d", "more": 1}
    text = throughput_csv(about, [result]).splitlines()
    assert text[2] == "2026-01-01,,d,m,tiny,ours padded,s,40,40.0,2800.0,0.25,3145728,1,"
    pytest.importorskip("matplotlib")
    assert plot_throughput(tmp_path / "p.png", [result], title="t")
    assert (tmp_path / "p.png").stat().st_size > 1000


def test_a_contender_that_fails_in_any_way_keeps_its_row_and_costs_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[Workload] = []

    def later(work: Workload) -> Any:
        calls.append(work)
        if len(calls) == 3:  # warmed up, timed once, and then
            raise RuntimeError("CUDA out of memory\nand more")
        return _half(work)

    def never(_given: Any) -> Opened:
        raise subprocess.CalledProcessError(1, ["gcc"])

    monkeypatch.setitem(CONTENDERS, "later", lambda given: Opened(later, "held"))
    monkeypatch.setitem(CONTENDERS, "never", never)
    monkeypatch.setitem(CONTENDERS, "steady", lambda given: Opened(_half))
    settings = BenchSettings(size="tiny", repeats=3, contenders=("never", "later", "steady"))
    first, second, third = measure_model("roberta-base", settings).rows
    assert first.reason == "CalledProcessError: Command '['gcc']' returned non-zero exit status 1."
    assert second.reason == "RuntimeError: CUDA out of memory"
    assert len(calls) == 3
    for row in (first, second):
        assert (row.seconds, row.memory, row.pairs_per_second, row.changed) == (
            [],
            None,
            None,
            None,
        )
    assert (third.reason, len(third.seconds)) == (None, 3)
    assert third.changed == 24  # half of the true answers are above the threshold, and none of its
