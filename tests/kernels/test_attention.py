"""The GPU kernel of attention against a softmax written out."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prevalence.kernels import attention
from prevalence.kernels.attention import Queries, attend, build_kernel, cut_tiles

REACH = 400
CPU = torch.device("cpu")


class Texts(NamedTuple):
    """Tokens of each premise, and of its hypotheses."""

    premises: list[int]
    hypotheses: list[list[int]]

    @property
    def lengths(self) -> np.ndarray:
        return np.array([*self.premises, *(n for found in self.hypotheses for n in found)])

    @property
    def owners(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.premises)), [len(found) for found in self.hypotheses])


class Case(NamedTuple):
    """Random queries, keys and values of texts."""

    given: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    tokens: Queries
    firsts: Queries
    biases: torch.Tensor | None
    seen: torch.Tensor
    distances: torch.Tensor

    def to(self, device: Any, dtype: torch.dtype) -> Case:
        tokens, firsts = (
            Queries(*(None if part is None else part.to(device) for part in queries))
            for queries in (self.tokens, self.firsts)
        )
        query, key, value = (part.to(device, dtype) for part in self.given)
        biases = None if self.biases is None else self.biases.to(device, dtype)
        return self._replace(
            given=(query, key, value), tokens=tokens, firsts=firsts, biases=biases,
            seen=self.seen.to(device), distances=self.distances.to(device),
        )  # fmt: skip


def case(texts: Texts, *, heads: int, size: int, relative: bool, seed: int = 0) -> Case:
    draw = np.random.default_rng(seed)
    lengths, owners = texts.lengths, texts.owners
    starts, count, rows = np.cumsum(lengths) - lengths, len(texts.premises), len(texts.owners)
    # Answers are asked for in another order than that of the tokens.
    order = draw.permutation(rows)
    places = np.empty(rows, np.int64)
    places[order] = starts[count:]
    positions = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    tiles, first_tiles = cut_tiles(starts, lengths, owners)
    parts = (tiles, positions, first_tiles, order, places)
    tiles, positions, first_tiles, order, places = map(torch.from_numpy, parts)

    text = np.repeat(np.arange(len(lengths)), lengths)
    premise = np.concatenate([np.arange(count), owners])[text]
    seen = (text == text[:, None]) | (text == premise[:, None])
    after = np.where(text < count, 0, lengths[premise]) + positions.numpy()
    numbers = torch.from_numpy(draw.standard_normal((3, len(text), heads * size)) * 1.5)
    biases = torch.from_numpy(draw.standard_normal((heads, 2 * REACH + 1)))
    return Case(
        tuple(numbers.float()),
        Queries(tiles, positions),
        Queries(first_tiles, positions, order, places),
        biases.float() if relative else None,
        torch.from_numpy(seen),
        torch.from_numpy(after - after[:, None]),
    )


def written_out(found: Case, heads: int) -> torch.Tensor:
    """All scores of all tokens at once, [T, H], in the precision of the case."""
    query, key, value = (part.unflatten(1, (heads, -1)).transpose(0, 1) for part in found.given)
    scores = query @ key.transpose(1, 2) * query.shape[-1] ** -0.5
    if found.biases is not None:
        scores += found.biases[:, found.distances.clamp(-REACH, REACH) + REACH]
    weights = scores.masked_fill(~found.seen, float("-inf")).softmax(-1)
    return (weights @ value).transpose(0, 1).flatten(1)


def attended(found: Case, heads: int) -> tuple[torch.Tensor, torch.Tensor]:
    """From all tokens [T, H], and from first tokens [R, H]."""
    query, key, value = found.given
    options = {"heads": heads, "biases": found.biases}
    firsts = query[found.firsts.places]
    return (
        attend(query, key, value, found.tokens, **options),
        attend(firsts, key, value, found.firsts, **options),
    )


def check(texts: Texts, *, heads: int, size: int, relative: bool, seed: int) -> None:
    exact = case(texts, heads=heads, size=size, relative=relative, seed=seed)
    expected = written_out(exact, heads)
    every, firsts = attended(exact, heads)
    torch.testing.assert_close(every, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(firsts, expected[exact.firsts.places], rtol=0, atol=1e-5)


def check_half(found: Case, heads: int, dtype: torch.dtype) -> None:
    """The kernel rounds no more than twice what plain torch does in the same precision."""
    half = found.to(found.given[0].device, dtype)
    exact = half.to(half.given[0].device, torch.float32)
    expected = written_out(exact, heads)
    plain = (written_out(half, heads).float() - expected).abs().max()
    every, firsts = attended(half, heads)
    assert every.dtype == firsts.dtype == dtype
    assert (every.float() - expected).abs().max() <= 2 * plain
    assert (firsts.float() - expected[half.firsts.places]).abs().max() <= 2 * plain


HYPOTHESES = st.lists(st.sampled_from([1, 2, 3, 9, 24, 70, 140]), min_size=1, max_size=5)
TEXTS = st.lists(
    st.tuples(st.sampled_from([1, 2, 17, 31, 32, 33, 64, 65, 150]), HYPOTHESES),
    min_size=1, max_size=3,
).map(lambda found: Texts([p for p, _ in found], [h for _, h in found]))  # fmt: skip
SHAPES = {
    "heads": st.just(2),
    "size": st.sampled_from([8, 12, 16, 32, 64]),
    "relative": st.booleans(),
    "seed": st.integers(0, 99),
}
SHORT = Texts([1], [[1]])
ONE = Texts([150], [[3, 140, 1, 20]])
MANY = Texts([5, 90], [[2] * 40, [30, 1]])
EXTREMES = [
    example(texts=texts, heads=2, size=size, relative=relative, seed=1)
    for texts, size, relative in ((SHORT, 8, False), (ONE, 64, True), (MANY, 32, False))
]


def with_extremes(test: Any) -> Any:
    for extreme in EXTREMES:
        test = extreme(test)
    return test


@settings(max_examples=12)
@with_extremes
@given(texts=TEXTS, **SHAPES)
@pytest.mark.usefixtures("interpreted_attention")
def test_the_gpu_kernel_under_the_interpreter(texts, heads, size, relative, seed) -> None:
    check(texts, heads=heads, size=size, relative=relative, seed=seed)
    kernel = sys.modules["prevalence.kernels.attention_triton"].attend_tile
    assert type(kernel).__name__ == "InterpretedFunction"


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("texts", [ONE, MANY])
@pytest.mark.usefixtures("interpreted_attention")
def test_the_gpu_kernel_in_half_precision(texts: Texts, relative: bool) -> None:
    check_half(case(texts, heads=2, size=32, relative=relative), 2, torch.float16)


@pytest.mark.usefixtures("interpreted_attention")
def test_scores_far_from_zero_overflow_nowhere() -> None:
    found = case(ONE, heads=2, size=16, relative=False)
    query, key, value = found.given
    large = found._replace(given=(query * 40, key * 40, value))
    every, _ = attended(large, 2)
    torch.testing.assert_close(
        every, written_out(large, 2), rtol=0, atol=1e-3
    )  # scores in the hundreds


def test_tiles_by_hand() -> None:
    """Premises of 70 and 2 tokens; hypotheses of 40 and 60 to the first, and of 3 to the second."""
    lengths = np.array([70, 2, 40, 60, 3])
    tiles, firsts = cut_tiles(np.cumsum(lengths) - lengths, lengths, np.array([0, 0, 1]))
    assert sorted(tiles.tolist()) == [
        [0, 64, 0, 70, 0, 0],
        [64, 6, 0, 70, 64, 64],
        [70, 2, 70, 72, 70, 70],
        [72, 64, 0, 70, 72, 172],
        [136, 36, 0, 70, 112, 172],
        [172, 3, 70, 72, 172, 175],
    ]
    assert sorted(firsts.tolist()) == [[0, 2, 0, 70, 72, 172], [2, 1, 70, 72, 172, 175]]
    for found in (tiles, firsts):
        work = found[:, 3] - found[:, 2] + found[:, 5] - found[:, 4]
        assert (np.diff(work) <= 0).all()


@given(texts=TEXTS)
def test_tiles_hold_every_query_once(texts: Texts) -> None:
    lengths = texts.lengths
    tiles, firsts = cut_tiles(np.cumsum(lengths) - lengths, lengths, texts.owners)
    for found, queries, most in ((tiles, lengths.sum(), 64), (firsts, len(texts.owners), 16)):
        assert found[:, 1].min() >= 1
        assert found[:, 1].max() <= most
        held = [n for first, count, *_ in found.tolist() for n in range(first, first + count)]
        assert sorted(held) == [*range(queries)]


def test_without_triton_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(RuntimeError, match=r"needs Triton \(pip install triton\)"):
        build_kernel(torch.device("cuda"), torch.float32, heads=2, size=16, relative=False)


class _Cuda:
    """A CUDA device whose tensors lie on the CPU."""

    type = "cuda"


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Shapes of queries that the kernel is run for, on a device that is pretended to be there."""
    asked: list[tuple[int, ...]] = []

    def run(query: Any, key: Any, value: Any, queries: Queries, **options: Any) -> Any:
        asked.append((*query.shape, options["heads"], options["biases"] is not None))
        place = torch.arange(len(key))
        asking = place if queries.places is None else queries.places
        of_premise = int(queries.tiles[0, 3])
        found = Case(
            (query.double(), key.double(), value.double()), queries, queries, None,
            (asking[:, None] >= of_premise) | (place < of_premise), place - asking[:, None],
        )  # fmt: skip
        if options["biases"] is not None:
            wide = torch.zeros(options["heads"], 2 * REACH + 1, dtype=torch.float64)
            most = options["biases"].shape[1] // 2
            wide[:, REACH - most : REACH + most + 1] = options["biases"]
            found = found._replace(biases=wide)
        return written_out(found, options["heads"])

    usual = torch.Tensor.to

    def moved(tensor: torch.Tensor, where: Any) -> torch.Tensor:
        return usual(tensor, where) if isinstance(where, torch.dtype) else tensor

    monkeypatch.setattr(torch.Tensor, "to", moved)
    monkeypatch.setattr(attention, "attend", run)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    return asked


@pytest.mark.parametrize("relative", [False, True])
def test_the_kernel_is_run_once_for_either_kind_of_queries(
    pretended: list[tuple[int, ...]], relative: bool
) -> None:
    sizes = {"heads": 3, "size": 8, "relative": relative}
    build_kernel(_Cuda(), torch.float16, **sizes)
    assert pretended == [(8, 24, 3, relative), (1, 24, 3, relative)]


# The interpreter computes with NumPy, which has no bfloat16.
@pytest.mark.usefixtures("interpreted_attention")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("relative", [False, True])
def test_the_kernel_answers_rightly_when_it_is_tried(dtype: torch.dtype, relative: bool) -> None:
    build_kernel(CPU, dtype, heads=3, size=16, relative=relative)


@pytest.mark.usefixtures("pretended")
@pytest.mark.parametrize("wrong", [0.0, float("nan")])
def test_a_kernel_that_answers_wrongly_is_not_used(
    monkeypatch: pytest.MonkeyPatch, wrong: float
) -> None:
    right = attention.attend

    def almost(query: Any, *given: Any, **options: Any) -> Any:
        found = right(query, *given, **options)
        found[-1, 0] = wrong
        return found

    monkeypatch.setattr(attention, "attend", almost)
    with pytest.raises(RuntimeError, match=r"cannot be used here .* from those of a softmax"):
        build_kernel(_Cuda(), torch.bfloat16, heads=2, size=16, relative=True)


@pytest.mark.usefixtures("pretended")
def test_without_a_compiler_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise subprocess.CalledProcessError(1, ["gcc", "driver.c"])

    monkeypatch.setattr(attention, "attend", broken)
    with pytest.raises(RuntimeError, match=r"CalledProcessError: .*gcc.*"):
        build_kernel(_Cuda(), torch.float16, heads=2, size=16, relative=False)


@pytest.mark.gpu
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("size", [12, 16, 32, 64, 128])
def test_a_gpu_attends_as_a_softmax_written_out(size: int, relative: bool) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    device = torch.device("cuda")
    build_kernel(device, torch.float32, heads=3, size=size, relative=relative)
    draw = np.random.default_rng(size)
    many = Texts(
        draw.integers(1, 300, 20).tolist(),
        [draw.integers(1, 100, n).tolist() for n in draw.integers(1, 20, 20)],
    )
    for texts in (SHORT, ONE, MANY, many):
        found = case(texts, heads=3, size=size, relative=relative).to(device, torch.float32)
        expected = written_out(found, 3)
        every, firsts = attended(found, 3)
        torch.testing.assert_close(every, expected, rtol=0, atol=5e-5)
        torch.testing.assert_close(firsts, expected[found.firsts.places], rtol=0, atol=5e-5)
        if texts is not SHORT:
            check_half(found, 3, torch.float16)
            check_half(found, 3, torch.bfloat16)
