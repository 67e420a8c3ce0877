"""The scorer when a device fails, runs out of memory or computes in half precision."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prevalence.errors import BackendError, ModelError
from prevalence.nli.pairs import TextTable
from prevalence.nli.scorer import NLIScorer

if TYPE_CHECKING:
    from pathlib import Path

LONG = "The boots kept my feet dry, even in deep snow! " * 12

Pairs = Sequence[tuple[str, str]]
Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]


def _limited(
    scorer: NLIScorer, monkeypatch: pytest.MonkeyPatch, tokens: int, error: Exception | None = None
) -> list[int]:
    """Make the reader run out of memory above a number of tokens; the batches that it answers.

    Which parts of a model a reader calls depends on the reader.
    """
    import torch

    usual = scorer.reader.logits
    answered: list[int] = []

    def logits(stored: Any, spans: np.ndarray) -> Any:
        size = scorer.reader.size(spans)
        if size > tokens:
            raise error or torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB")
        answered.append(size)
        return usual(stored, spans)

    monkeypatch.setattr(scorer.reader, "logits", logits)
    return answered


@pytest.mark.parametrize(
    "error",
    [
        None,
        RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        MemoryError("Unable to allocate 9 GiB for an array"),
    ],
)
def test_out_of_memory_halves_the_budget_and_goes_on(
    error: Exception | None,
    checkpoint: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    pairs: Pairs,
    number: Number,
) -> None:
    scorer = NLIScorer(str(checkpoint("bert")), device="cpu", batch_tokens=1_000)
    expected = scorer.score(*number(pairs))
    answered = _limited(scorer, monkeypatch, 300, error)
    finished: list[int] = []
    with pytest.warns(RuntimeWarning, match="out of memory on cpu: batches now hold") as caught:
        found = scorer.score(*number(pairs), progress=finished.append)
    # 15 rows of 64 make 960 tokens; halved to 480, of which 7 rows use 448; halved to 224.
    told = [str(w.message) for w in caught]
    assert [text.split("hold ")[1] for text in told] == ["480 tokens", "224 tokens"]
    assert max(answered) <= 224
    assert sum(finished) == len(pairs)
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.contradiction, expected.contradiction, rtol=0, atol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scorer.score(*number(pairs))  # the smaller budget is kept


def test_one_pair_out_of_memory(
    checkpoint: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    number: Number,
) -> None:
    scorer = NLIScorer(str(checkpoint("bert")), device="cpu")
    _limited(scorer, monkeypatch, 3)
    with pytest.raises(BackendError, match=r"one pair of .* tokens does not fit the memory of cpu"):
        scorer.score(*number([("boots", "dry")]))


def test_memory_that_runs_out_while_tokens_are_sent(
    checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, number: Number
) -> None:
    import torch

    def full(_store: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    scorer = NLIScorer(str(checkpoint("bert")), device="cpu")
    monkeypatch.setattr(scorer.reader, "place", full)
    with pytest.raises(BackendError, match="out of memory on cpu: CUDA out of memory"):
        scorer.score(*number([("boots", "dry")]))


@pytest.mark.parametrize(("text", "told"), [("kernel broke\nat 0x1", "kernel broke"), ("", "Run")])
def test_other_device_failures_are_named(
    text: str,
    told: str,
    checkpoint: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    number: Number,
) -> None:
    scorer = NLIScorer(str(checkpoint("bert")), device="cpu")
    _limited(scorer, monkeypatch, 0, RuntimeError(text))
    with pytest.raises(BackendError, match=f"the device failed: {told}"):
        scorer.score(*number([("boots", "dry")]))


@pytest.mark.parametrize("windows", [None, 10])
def test_numbers_that_are_not_finite(
    windows: int | None,
    checkpoint: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    number: Number,
) -> None:
    scorer = NLIScorer(str(checkpoint("bert")), device="cpu", windows=windows)
    usual = scorer.checkpoint.model.forward

    def forward(**inputs: Any) -> Any:
        answer = usual(**inputs)
        answer.logits[0, 1] = float("nan")
        return answer

    monkeypatch.setattr(scorer.checkpoint.model, "forward", forward)
    with pytest.raises(ModelError, match="no finite number"):
        scorer.score(*number([(LONG, "dry")]))


@pytest.fixture
def on_gpu(checkpoint: Callable[..., Path]) -> Callable[..., NLIScorer]:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return lambda family, **options: NLIScorer(str(checkpoint(family)), device="cuda", **options)


@pytest.mark.gpu
def test_gpu_equals_cpu_in_float32(
    *,
    family: str,
    on_gpu: Callable[..., NLIScorer],
    scorers: Callable[..., NLIScorer],
    pairs: Pairs,
    number: Number,
    across_devices: float,
) -> None:
    found = on_gpu(family).score(*number(pairs))
    expected = scorers(family).score(*number(pairs))
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=across_devices)


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 0.02), ("bfloat16", 0.15)])
def test_half_precision_flips_only_decisions_near_the_threshold(
    *,
    dtype: str,
    tolerance: float,
    family: str,
    on_gpu: Callable[..., NLIScorer],
    scorers: Callable[..., NLIScorer],
    pairs: Pairs,
    number: Number,
) -> None:
    found = on_gpu(family, dtype=dtype).score(*number(pairs)).entailment
    expected = scorers(family).score(*number(pairs)).entailment
    flipped = (found > 0.5) != (expected > 0.5)
    assert (np.abs(expected[flipped] - 0.5) < tolerance).all()


@pytest.fixture(params=["padded", "packed", "disentangled", "premise-first"])
def with_reader(
    request: pytest.FixtureRequest, checkpoint: Callable[..., Path], altered: Callable[..., Path]
) -> Callable[..., NLIScorer]:
    """``with_reader(**options)``: a scorer with each reader in turn."""
    kind = request.param
    if kind == "premise-first":
        folder = altered("bert", "config.json", prevalence_attention=kind)
    else:
        folder = checkpoint("deberta-v2" if kind == "disentangled" else "bert")
    packing = "padded" if kind == "padded" else "packed"
    return lambda **options: NLIScorer(str(folder), packing=packing, **options)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_out_of_memory_with_every_reader(
    *,
    device: str,
    with_reader: Callable[..., NLIScorer],
    monkeypatch: pytest.MonkeyPatch,
    pairs: Pairs,
    number: Number,
    across_devices: float,
) -> None:
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    scorer = with_reader(device=device, batch_tokens=1_000)
    expected = scorer.score(*number(pairs))
    answered = _limited(scorer, monkeypatch, 300)
    finished: list[int] = []
    with pytest.warns(RuntimeWarning, match=f"out of memory on {device}: batches now hold"):
        found = scorer.score(*number(pairs), progress=finished.append)
    assert 0 < max(answered) <= 300
    assert sum(finished) == len(pairs)
    tolerance = 1e-5 if device == "cpu" else across_devices
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=tolerance)


@pytest.mark.gpu
def test_gpu_memory_that_does_run_out(
    with_reader: Callable[..., NLIScorer], pairs: Pairs, number: Number, across_devices: float
) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    many = number([*pairs] * 256)
    scorer = with_reader(device="cuda", batch_tokens=1 << 20)
    scorer.score(*number(pairs))  # what the device's libraries keep for themselves is there now
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    expected = scorer.score(*many)
    room = (torch.cuda.max_memory_allocated() - before) // 3
    torch.cuda.empty_cache()
    allowed = torch.cuda.memory_reserved() + room
    torch.cuda.set_per_process_memory_fraction(allowed / torch.cuda.mem_get_info()[1])
    try:
        with pytest.warns(RuntimeWarning, match="out of memory on cuda: batches now hold"):
            found = scorer.score(*many)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert scorer.batch_tokens < 1 << 20
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=across_devices)
