"""Attention among the tokens of each sequence of a row, against a loop over sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.nli import segments as segments_module
from prevalence.nli.segments import Segments, attend, similar_runs, varlen_fits

HEADS, SIZE = 2, 8
LENGTHS = st.lists(st.integers(1, 24), min_size=1, max_size=12)


def _row(lengths: list[int]) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(sum(lengths))
    shape = (1, HEADS, sum(lengths), SIZE)
    return tuple(torch.randn(shape, generator=generator) for _ in range(3))


def _starts(lengths: list[int]) -> torch.Tensor:
    return torch.tensor([0, *np.cumsum(lengths)], dtype=torch.int32)


def _segments(lengths: list[int], *, varlen: bool = False) -> Segments:
    return Segments(_starts(lengths), np.array(lengths), varlen=varlen)


def _one_by_one(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    lengths: list[int],
    *,
    scale: float,
    reach: int | None,
) -> torch.Tensor:
    """Softmax written out, a sequence at a time: [1, T, heads, d]."""
    found = []
    ends = np.cumsum(lengths)
    for begin, end in zip(ends - lengths, ends, strict=True):
        scores = query[:, :, begin:end] @ key[:, :, begin:end].transpose(-1, -2) * scale
        places = torch.arange(int(end - begin))
        far = (places[:, None] - places).abs() > (10**6 if reach is None else reach)
        weights = scores.masked_fill(far, float("-inf")).softmax(-1)
        found.append((weights @ value[:, :, begin:end]).transpose(1, 2))
    return torch.cat(found, dim=1)


@settings(deadline=None, max_examples=60)
@given(lengths=LENGTHS, reach=st.sampled_from([None, 0, 3]), scale=st.sampled_from([None, 0.2]))
def test_attention_keeps_to_sequences(
    lengths: list[int], reach: int | None, scale: float | None
) -> None:
    row, segments = _row(lengths), _segments(lengths)
    expected = _one_by_one(*row, lengths, scale=scale or SIZE**-0.5, reach=reach)
    found = attend(*row, segments, scale=scale, reach=reach)
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-6)
    firsts = segments.firsts.long()
    query = row[0][:, :, firsts]
    found = attend(query, *row[1:], segments, scale=scale, reach=reach, firsts_only=True)
    torch.testing.assert_close(found, expected[:, firsts], rtol=0, atol=2e-6)
    assert segments.uses == 2


@pytest.mark.parametrize("splits", [{}, {"num_splits": 1}])
@pytest.mark.parametrize("reach", [None, 3])
def test_the_kernel_is_asked_the_same(
    reach: int | None, splits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its contract, written out for a CPU: what it would be given on a GPU is what is meant."""
    varlen = pytest.importorskip("torch.nn.attention.varlen")
    lengths = [5, 1, 9]
    row = _row(lengths)
    asked: list[dict[str, Any]] = []

    def kernel(
        q: Any, k: Any, v: Any, starts_q: Any, starts_k: Any, *most: int, **given: Any
    ) -> Any:
        asked.append({"most": most, **given})
        assert starts_q.dtype == starts_k.dtype == torch.int32
        assert q.stride(-1) == k.stride(-1) == v.stride(-1) == 1
        out = torch.empty_like(q)
        left, right = given["window_size"]
        for i in range(len(starts_k) - 1):
            queries, keys = (slice(int(s[i]), int(s[i + 1])) for s in (starts_q, starts_k))
            scores = torch.einsum("qhd,khd->hqk", q[queries], k[keys]) * SIZE**-0.5
            # Windows are aligned with the last query and the last key.
            last = scores.shape[2] - scores.shape[1]
            apart = torch.arange(scores.shape[2]) - last - torch.arange(scores.shape[1])[:, None]
            if left >= 0:
                scores = scores.masked_fill((apart < -left) | (apart > right), float("-inf"))
            out[queries] = torch.einsum("hqk,khd->qhd", scores.softmax(-1), v[keys])
        return out

    options = {"scale", "window_size", *splits}
    monkeypatch.setattr(varlen, "varlen_attn", kernel)
    monkeypatch.setattr(segments_module, "varlen_options", lambda: options)
    segments = _segments(lengths, varlen=True)
    expected = attend(*row, _segments(lengths), reach=reach)
    torch.testing.assert_close(attend(*row, segments, reach=reach), expected)
    firsts = segments.firsts.long()
    found = attend(row[0][:, :, firsts], *row[1:], segments, reach=reach, firsts_only=True)
    torch.testing.assert_close(found, expected[:, firsts])
    assert [call["most"] for call in asked] == ([(9, 9), (1, 9)] if reach is None else [(9, 9)])
    assert all(call.keys() - {"most"} == options for call in asked)
    assert all(call.get("num_splits", 1) == 1 for call in asked)


@given(lengths=LENGTHS)
def test_runs_cover_all_and_are_similar(lengths: list[int]) -> None:
    runs = list(similar_runs(np.array(lengths)))
    assert [row for a, b in runs for row in range(a, b)] == list(range(len(lengths)))
    assert all(max(lengths[a:b]) <= 2 * min(lengths[a:b]) for a, b in runs)


def test_no_sequences_are_no_runs() -> None:
    assert list(similar_runs(np.array([], np.int64))) == []


def test_the_kernel_is_for_gpus_in_half_precision() -> None:
    assert not varlen_fits(torch.device("cpu"), torch.float16, 64)
    assert not varlen_fits(torch.device("cuda"), torch.float32, 64)
    assert not varlen_fits(torch.device("cuda"), torch.float16, 60)
    assert not varlen_fits(torch.device("cuda"), torch.float16, 512)


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ({"scale", "window_size", "num_splits"}, True),  # torch 2.13
        ({"scale", "window_size", "return_aux"}, True),  # torch 2.11
        ({"is_causal", "return_aux"}, False),  # torch 2.10
        (set(), False),
    ],
)
def test_older_kernels(options: set[str], fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments_module, "varlen_options", lambda: options)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: (9, 0))
    assert varlen_fits(torch.device("cuda"), torch.float16, 64) == fits


@pytest.mark.parametrize(("capability", "fits"), [((7, 5), False), ((8, 0), True)])
def test_older_gpus(
    capability: tuple[int, int], fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments_module, "varlen_options", lambda: {"scale", "window_size"})
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: capability)
    assert varlen_fits(torch.device("cuda"), torch.bfloat16, 256) == fits


@pytest.mark.gpu
@pytest.mark.parametrize("reach", [None, 3])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gpu_kernel_is_within_twice_the_error_of_blocks(
    reach: int | None, dtype: torch.dtype
) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    lengths = [64, 60, 33, 9, 1]
    exact = attend(*_row(lengths), _segments(lengths), reach=reach)
    row = [part.to("cuda", dtype) for part in _row(lengths)]
    errors = []
    for varlen in (True, False):
        segments = Segments(_starts(lengths).cuda(), np.array(lengths), varlen=varlen)
        found = attend(*row, segments, reach=reach).float().cpu()
        errors.append(float((found - exact).abs().max()))
    assert errors[0] <= 2 * errors[1] + 1e-5
