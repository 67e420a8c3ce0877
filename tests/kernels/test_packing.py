"""Packed pairs: every path against the padded reference with its padding taken out."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.kernels import packing
from prevalence.kernels.assembly import PairLayout, assemble_reference
from prevalence.kernels.packing import PATHS, assemble_packed, packing_path

if TYPE_CHECKING:
    from collections.abc import Iterator

BERT = PairLayout(
    prefix=np.array([101]),
    middle=np.array([102]),
    suffix=np.array([102]),
    types=np.array([0, 0, 0, 1, 1]),
    pad=0,
)
ROBERTA = BERT._replace(
    prefix=np.array([0]), middle=np.array([2, 2]), suffix=np.array([2]), types=np.zeros(5, np.int64)
)
BARE = BERT._replace(
    prefix=np.empty(0, np.int64), middle=np.array([7, 8, 9]), suffix=np.empty(0, np.int64)
)
TOKENS = 300


@pytest.fixture(scope="module")
def interpreter() -> Iterator[None]:
    """Run the GPU kernel on the CPU: a copy of its module, made with Triton's interpreter on.

    The interpreter is chosen when a kernel is defined, so nothing else of the process changes.
    """
    pytest.importorskip("triton")
    name = "prevalence.kernels.packing_triton"
    usual = sys.modules.pop(name, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        yield
    sys.modules.pop(name, None)
    if usual is not None:
        sys.modules[name] = usual


@st.composite
def spans_within(draw: st.DrawFn) -> np.ndarray:
    def span() -> tuple[int, int]:
        start = draw(st.integers(0, TOKENS))
        return start, draw(st.integers(0, min(TOKENS - start, draw(st.sampled_from([3, 200])))))

    flat = [(*span(), *span()) for _ in range(draw(st.integers(0, 5)))]
    return np.array(flat, np.int64).reshape(-1, 4)


def unpadded(spans: np.ndarray, layout: PairLayout, first: int) -> list[list[int]]:
    """Ids, types, positions and starts, out of the padded reference."""
    batch = assemble_reference(np.arange(1000, 1000 + TOKENS), spans, layout)
    kept, lengths = batch.mask.astype(bool), batch.mask.sum(axis=1, dtype=int)
    positions = [first + place for length in lengths for place in range(length)]
    starts = [int(lengths[:row].sum()) for row in range(len(spans) + 1)]
    return [batch.ids[kept].tolist(), batch.types[kept].tolist(), positions, starts]


CASES = given(
    spans=spans_within(),
    layout=st.sampled_from([BERT, ROBERTA, BARE]),
    first=st.integers(0, 3),
    dtype=st.sampled_from(["int32", "int64"]),
)


def check(spans: np.ndarray, layout: PairLayout, first: int, dtype: str, path: Any) -> None:
    tokens = torch.arange(1000, 1000 + TOKENS, dtype=getattr(torch, dtype))
    found = assemble_packed(tokens, spans, layout, first_position=first, path=path)
    assert [part.tolist() for part in found] == unpadded(spans, layout, first)
    assert [part.dtype for part in found[:3]] == [tokens.dtype] * 3
    assert found.starts.dtype == torch.int32


@settings(deadline=None)
@CASES
@pytest.mark.parametrize("path", ["numba", "torch"])
def test_equals_the_padded_reference_without_its_padding(spans, layout, first, dtype, path) -> None:
    check(spans, layout, first, dtype, path)


@settings(deadline=None, max_examples=25)
@CASES
@pytest.mark.usefixtures("interpreter")
def test_the_gpu_kernel_under_the_interpreter(spans, layout, first, dtype) -> None:
    check(spans, layout, first, dtype, "triton")


@pytest.mark.usefixtures("interpreter")
def test_the_interpreter_was_at_work_and_torch_sees_no_gpu_backend_for_it() -> None:
    """A pair longer than one program's block, and the kernel is the interpreted one."""
    spans = np.array([[0, 250, 10, 40], [3, 0, 4, 1]])
    check(spans, ROBERTA, 2, "int64", "triton")
    kernel = sys.modules["prevalence.kernels.packing_triton"].fill
    assert type(kernel).__name__ == "InterpretedFunction"
    from torch.utils._triton import has_triton

    assert has_triton() == torch.cuda.is_available()


def test_two_pairs_by_hand() -> None:
    tokens = np.array([11, 12, 13, 21, 22])
    found = assemble_packed(tokens, np.array([[0, 3, 3, 2], [1, 1, 0, 0]]), BERT, first_position=2)
    assert all(isinstance(part, np.ndarray) for part in found)
    assert found.ids.tolist() == [101, 11, 12, 13, 102, 21, 22, 102, 101, 12, 102, 102]
    assert found.types.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1]
    assert found.positions.tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]
    assert found.starts.tolist() == [0, 8, 12]
    plain = assemble_packed(tokens, np.array([[0, 3, 3, 2], [1, 1, 0, 0]]), BERT, path="torch")
    assert plain.ids.tolist() == found.ids.tolist()


def test_spans_may_be_a_tensor_in_any_memory_layout() -> None:
    tokens, spans = np.arange(10), np.array([[0, 2, 5, 1], [3, 4, 9, 1]])
    expected = assemble_packed(tokens, spans, BERT).ids.tolist()
    for other in (np.asfortranarray(spans), torch.from_numpy(spans.T.copy()).T):
        assert assemble_packed(tokens, other, BERT).ids.tolist() == expected
    sliced = torch.arange(20)[::2]
    assert assemble_packed(sliced, spans, BERT).ids.tolist()[1:3] == [0, 2]


class _On:
    """Tokens of a device that is not here; to choose a path, no more is asked of them."""

    def __init__(self, device: str) -> None:
        self.device = torch.device(device)


@pytest.mark.parametrize(
    ("tokens", "installed", "path"),
    [
        (np.arange(3), True, "numba"),
        (torch.arange(3), True, "numba"),
        (_On("cuda"), True, "triton"),
        (_On("cuda"), False, "torch"),
        (_On("mps"), True, "torch"),
    ],
)
def test_the_path_follows_the_device(
    tokens: Any, installed: bool, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if installed else None)
    assert packing_path(tokens) == path


def test_the_path_named_is_the_path_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    spies = {name: lambda *_, name=name: taken.append(name) for name in PATHS}
    monkeypatch.setattr(packing, "PATHS", spies)
    spans = np.array([[0, 1, 0, 1]])
    assemble_packed(np.arange(3), spans, BERT)
    assemble_packed(torch.arange(3), spans, BERT, path="torch")
    assert taken == ["numba", "torch"]


@pytest.mark.parametrize("span", [[0, 6, 0, 1], [0, 1, 5, 1], [-1, 1, 0, 1], [0, 1, 2, -1]])
def test_spans_outside_the_tokens_are_refused(span: list[int]) -> None:
    with pytest.raises(ValueError, match="within the 5 tokens"):
        assemble_packed(np.arange(5), np.array([span]), BERT)
    with pytest.raises(ValueError, match="4 columns"):
        assemble_packed(np.arange(5), np.array([span[:3]]), BERT)


@pytest.mark.gpu
@pytest.mark.parametrize("path", ["triton", "torch"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("layout", [BERT, ROBERTA, BARE])
def test_a_gpu_gives_what_the_cpu_gives(path: Any, dtype: torch.dtype, layout: PairLayout) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    draw = np.random.default_rng(5)
    lengths = draw.integers(0, 400, (64, 2))
    spans = np.stack([draw.integers(0, 600, 64), lengths[:, 0], draw.integers(0, 600, 64),
                      lengths[:, 1]], axis=1)  # fmt: skip
    tokens = torch.arange(1000, dtype=dtype)
    found = assemble_packed(tokens.cuda(), spans, layout, first_position=2, path=path)
    expected = assemble_packed(tokens, spans, layout, first_position=2)
    assert packing_path(tokens.cuda()) == "triton"
    assert all(part.is_cuda for part in found)
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.equal(ours.cpu(), theirs)


def test_without_a_compiler_plain_torch_lays_pairs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise subprocess.CalledProcessError(1, ["gcc", "driver.c"])

    tokens = torch.zeros(1, dtype=torch.int32)
    assert packing.working_path(tokens, BERT) == packing_path(tokens) == "numba"
    monkeypatch.setattr(packing, "packing_path", lambda _tokens: "triton")
    asked = []
    monkeypatch.setitem(packing.PATHS, "triton", lambda *given: asked.append(given))
    assert packing.working_path(tokens, BERT) == "triton"
    assert len(asked) == 1
    monkeypatch.setitem(packing.PATHS, "triton", broken)
    with pytest.warns(RuntimeWarning, match=r"built here \(CalledProcessError: .*gcc.*plain torch"):
        assert packing.working_path(tokens, BERT) == "torch"


def test_what_goes_to_a_gpu_is_pinned_and_not_awaited() -> None:
    class Tensor:
        pinned = False

        def pin_memory(self) -> Tensor:
            self.pinned = True
            return self

        def to(self, device: Any, **options: Any) -> Any:
            return device.type, self.pinned, options

    for kind, expected in (("cuda", (True, {"non_blocking": True})), ("cpu", (False, {}))):
        assert packing.sent(Tensor(), SimpleNamespace(type=kind)) == (kind, *expected)
