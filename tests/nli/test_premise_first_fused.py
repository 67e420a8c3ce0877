"""Premise-first scoring with fused attention against the same with padded attention.

Without a GPU the kernel is interpreted, for a model of two small layers.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

from prevalence.errors import BackendError, ModelError
from prevalence.models.checkpoint import load_checkpoint
from prevalence.models.registry import EMBEDDED
from prevalence.nli import packed as passes
from prevalence.nli import premise_first as module
from prevalence.nli.packed import FusedAttention, PackedClassifier, Tiled, family_of
from prevalence.nli.premise_first import PremiseFirstReader, group, pack_tiles, placed
from prevalence.nli.running import BatchRunner
from prevalence.nli.scorer import NLIScorer, open_reader
from prevalence.nli.tokens import BlockLayout, TokenStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prevalence.nli.pairs import TextTable
    from prevalence.nli.premise_first import FusedOrPadded

    Pairs = Sequence[tuple[str, str]]
    Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]

CPU = torch.device("cpu")
LAYOUT = BlockLayout(np.array([2]), np.array([3]))
FAMILIES = pytest.mark.parametrize("family", ["bert", "mpnet"])


@pytest.fixture
def folder(altered: Callable[..., Path], family: str) -> Path:
    return altered(family, "config.json", prevalence_attention="premise-first")


def answers(
    folder: Path | str,
    attention: FusedOrPadded,
    asked: tuple[TextTable, np.ndarray],
    *,
    device: torch.device = CPU,
    dtype: torch.dtype = torch.float32,
    budget: int = 2_000,
) -> np.ndarray:
    """Probabilities [P, classes] with one kind of attention."""
    checkpoint = load_checkpoint(str(folder), dtype=dtype)
    reader = PremiseFirstReader(checkpoint, device, attention=attention)
    assert reader.attention == attention
    store, (table, numbers) = TokenStore(checkpoint.tokenizer, head=None), asked
    sides = (store.spans(table, numbers[:, side]) for side in (0, 1))
    spans = reader.fit(*sides, stride=None, longest_first=False).spans
    assert len(spans) == len(numbers)
    runner = BatchRunner(reader, device, budget=budget, workers=1)
    return runner.run(store.tokens, spans, checkpoint.labels.size, finished=lambda _rows: None)


@FAMILIES
@pytest.mark.usefixtures("interpreted_attention")
def test_fused_equals_padded(folder: Path, pairs: Pairs, number: Number) -> None:
    draw = np.random.default_rng(4)
    asked = number([pairs[row] for row in draw.permutation(len(pairs))[:14]])
    padded, fused = (answers(folder, which, asked) for which in ("padded", "fused"))
    assert np.ptp(padded, axis=0).max() > 0.1
    np.testing.assert_allclose(fused, padded, rtol=0, atol=1e-5)
    alone = answers(folder, "fused", asked, budget=1)
    np.testing.assert_allclose(alone, padded, rtol=0, atol=1e-5)


@FAMILIES
@pytest.mark.usefixtures("interpreted_attention")
def test_fused_in_half_precision_is_within_twice_the_error_of_padded(
    folder: Path, pairs: Pairs, number: Number
) -> None:
    asked = number(pairs[:10])
    exact = answers(folder, "padded", asked)
    errors = {
        which: np.abs(answers(folder, which, asked, dtype=torch.float16) - exact).max()
        for which in ("padded", "fused")
    }
    assert 0 < errors["fused"] <= 2 * errors["padded"] + 1e-3


@FAMILIES
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_signatures_name_fused_attention_in_half_precision(
    folder: Path, dtype: torch.dtype
) -> None:
    checkpoint = load_checkpoint(str(folder), dtype=dtype)
    assert "pack" not in PremiseFirstReader(checkpoint, CPU).signature
    fused = PremiseFirstReader(checkpoint, CPU, attention="fused").signature
    assert fused.get("pack") == ("fused" if dtype == torch.float16 else None)


class Cuda:
    type = "cuda"


@pytest.fixture
def on_no_device(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Loads a checkpoint whose model can be moved anywhere, and stays where it is."""

    def load(folder: Path, dtype: torch.dtype) -> Any:
        checkpoint = load_checkpoint(str(folder), dtype=dtype)
        monkeypatch.setattr(checkpoint.model, "to", lambda _device: checkpoint.model)
        return checkpoint

    return load


@FAMILIES
@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (torch.float32, ["padded", "padded", "padded", "fused"]),
        (torch.float16, ["padded", "padded", "fused", "fused"]),
    ],
)
def test_attention_is_fused_on_a_cuda_device_in_half_precision_or_if_packing_is_asked_for(
    folder: Path, dtype: torch.dtype, expected: list[str], on_no_device: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    built: list[Any] = []
    monkeypatch.setattr(module, "build_kernel", lambda *given, **_: built.append(given))
    checkpoint = on_no_device(folder, dtype)
    ways = [(CPU, "auto"), (CPU, "packed"), (Cuda(), "auto"), (Cuda(), "packed")]
    readers = [open_reader(checkpoint, device, packing) for device, packing in ways]
    assert [reader.attention for reader in readers] == expected
    assert [kind for _, kind in built] == [dtype] * expected.count("fused")


@pytest.mark.parametrize("family", ["bert"])
def test_a_kernel_that_cannot_be_built_ends_with_advice(
    folder: Path, on_no_device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = on_no_device(folder, torch.float16)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(BackendError, match=r"needs Triton .*; leave packing on auto"):
        open_reader(checkpoint, Cuda(), "packed")
    with pytest.warns(RuntimeWarning, match=r"needs Triton .*; attention on padded copies"):
        assert open_reader(checkpoint, Cuda()).attention == "padded"


@pytest.mark.parametrize("family", ["bert"])
def test_attention_that_cannot_be_fused_is_padded_if_nothing_else_is_asked_for(
    altered: Callable[..., Path], family: str, on_no_device: Any
) -> None:
    settings = {"prevalence_attention": "premise-first", "prevalence_pooling": "mean"}
    checkpoint = on_no_device(altered(family, "config.json", **settings), torch.float16)
    assert open_reader(checkpoint, Cuda()).attention == "padded"


@pytest.mark.parametrize("family", ["bert"])
def test_a_head_that_reads_means_needs_padded_attention(
    altered: Callable[..., Path], family: str
) -> None:
    settings = {"prevalence_attention": "premise-first", "prevalence_pooling": "mean"}
    checkpoint = load_checkpoint(str(altered(family, "config.json", **settings)))
    assert PremiseFirstReader(checkpoint, CPU).attention == "padded"
    with pytest.raises(ModelError, match="needs padded attention; leave packing on auto"):
        PremiseFirstReader(checkpoint, CPU, attention="fused")


@FAMILIES
def test_biases_of_all_distances_are_those_of_single_ones(folder: Path, family: str) -> None:
    found = family_of(load_checkpoint(str(folder)).model)
    biases = found.biases(CPU)
    if family == "bert":
        assert biases is None
        return
    places = torch.arange(40)
    reach = biases.shape[1] // 2
    expected = found.bias(places[:, None], places)
    assert biases.is_contiguous()
    assert torch.equal(biases[:, places - places[:, None] + reach], expected)


@FAMILIES
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_nothing_asks_the_device_for_a_number(
    folder: Path, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the kernel itself, on tensors without content."""
    spans = np.array([[0, 9, 9, 3], [20, 4, 9, 3], [0, 9, 12, 5]])
    arrays = pack_tiles(np.arange(30), spans, LAYOUT)
    model = load_checkpoint(str(folder), dtype=dtype).model
    asked: list[tuple[int, ...]] = []

    def kernel(query: Any, key: Any, value: Any, queries: Any, **_: Any) -> Any:
        assert query.dtype == key.dtype == value.dtype == dtype
        asked.append((len(query), len(key), len(queries.tiles)))
        return torch.empty_like(query)

    monkeypatch.setattr(passes, "attend", kernel)
    with FakeTensorMode(allow_non_fake_inputs=True), torch.inference_mode():
        parts = [torch.empty(part.shape, dtype=torch.int64) for part in arrays]
        logits = PackedClassifier(model, FusedAttention)(Tiled(*parts))
    assert (logits.shape, logits.dtype) == ((3, 3), dtype)
    tokens = len(arrays.ids)
    assert asked == [(tokens, tokens, len(arrays.tiles)), (3, tokens, len(arrays.first_tiles))]


def test_tiles_by_hand() -> None:
    # As in packing by hand, but the hypotheses of the first premise come first.
    tokens = np.array([10, 11, 12, 20, 21, 22])
    found = pack_tiles(tokens, np.array([[2, 1, 3, 1], [0, 2, 3, 1], [0, 2, 4, 2]]), LAYOUT)
    assert found.ids.tolist() == [2, 10, 11, 3, 2, 12, 3, 2, 20, 3, 2, 21, 22, 3, 2, 20, 3]
    assert found.positions.tolist() == [0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2]
    assert found.types.tolist() == [0] * 7 + [1] * 10
    assert found.heads.tolist() == [14, 7, 10]
    assert found.rows.tolist() == [1, 2, 0]
    assert found.tiles.tolist() == [
        [7, 7, 0, 4, 7, 14],
        [14, 3, 4, 7, 14, 17],
        [0, 4, 0, 4, 0, 0],
        [4, 3, 4, 7, 4, 4],
    ]
    assert found.first_tiles.tolist() == [[0, 2, 0, 4, 7, 14], [2, 1, 4, 7, 14, 17]]


SPANS = st.lists(
    st.tuples(*(st.integers(0, 9) for _ in range(4))), min_size=1, max_size=30
)  # fmt: skip


@given(spans=SPANS)
def test_tiles_say_where_every_token_is(spans: list[tuple[int, ...]]) -> None:
    tokens, asked = np.arange(100, 120), np.array(spans)
    found = pack_tiles(tokens, asked, LAYOUT)
    premises, owner = group(asked)
    starts = {}
    for first, count, begin, end, own, own_end in found.tiles.tolist():
        if own == own_end:
            assert begin <= first < first + count <= end
        else:
            assert own <= first < first + count <= own_end
        starts[begin] = end
    assert len(starts) == len(premises)
    for number, row in enumerate(found.rows.tolist()):
        _, _, h_start, h_length = spans[row]
        place = found.heads[row]
        kept = found.ids[place : place + h_length + 2]
        assert kept.tolist() == [2, *tokens[h_start : h_start + h_length], 3]
        tile = next(t for t in found.first_tiles.tolist() if t[0] <= number < t[0] + t[1])
        start, length = premises[owner[row]].tolist()
        assert found.ids[tile[2] : tile[3]].tolist() == [2, *tokens[start : start + length], 3]
        assert tile[4] <= place < tile[5]


def test_tiles_are_sent_in_one_copy_and_none_is_padded() -> None:
    spans = np.array([[0, 3, 3, 2], [0, 3, 5, 1], [6, 1, 3, 2]])
    found = pack_tiles(np.arange(10, 20), spans, LAYOUT)
    sent = placed(found, CPU)
    assert isinstance(sent, Tiled)
    for tensor, array in zip(sent, found, strict=True):
        assert tensor.tolist() == array.tolist()
    assert max(part.size for part in found) <= 3 * len(found.ids)


@pytest.fixture
def cuda() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return torch.device("cuda")


def check_on(device: torch.device, model: Path | str, asked: tuple[TextTable, np.ndarray]) -> None:
    """Float32 as on the CPU; half precision at most twice as far from it as padded attention."""
    exact = answers(model, "padded", asked)
    padded, fused = (answers(model, which, asked, device=device) for which in ("padded", "fused"))
    np.testing.assert_allclose(padded, exact, rtol=0, atol=5e-5)
    np.testing.assert_allclose(fused, exact, rtol=0, atol=5e-5)
    for dtype in (torch.float16, torch.bfloat16):
        errors = {
            which: np.abs(answers(model, which, asked, device=device, dtype=dtype) - exact).max()
            for which in ("padded", "fused")
        }
        assert 0 < errors["fused"] <= 2 * errors["padded"] + 1e-3, (dtype, errors)


@pytest.mark.gpu
@FAMILIES
def test_gpu_fused_equals_the_cpu(
    cuda: torch.device, folder: Path, pairs: Pairs, number: Number
) -> None:
    check_on(cuda, folder, number(pairs))
    scorer = NLIScorer(str(folder), device="cuda", packing="packed")
    assert scorer.reader.attention == "fused"


@pytest.mark.gpu
def test_gpu_fused_equals_the_cpu_for_the_embedded_model(
    cuda: torch.device, pairs: Pairs, number: Number
) -> None:
    check_on(cuda, EMBEDDED, number([pair for pair in pairs if all(pair)]))
    half = NLIScorer(EMBEDDED, device="cuda", dtype="float16")
    assert half.traits.signature["pack"] == "fused"
