"""The compiled assembly against the plain one."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.kernels.assembly import PairLayout, assemble, assemble_reference

BERT = PairLayout(
    prefix=np.array([101]),
    middle=np.array([102]),
    suffix=np.array([102]),
    types=np.array([0, 0, 0, 1, 1]),
    pad=0,
)
LEFTOVER = BERT._replace(middle=np.array([7, 8]), suffix=np.empty(0, np.int64), pad=9, pad_type=3)
TOKENS = 40


@st.composite
def spans_within(draw: st.DrawFn) -> np.ndarray:
    def span() -> tuple[int, int]:
        start = draw(st.integers(0, TOKENS))
        return start, draw(st.integers(0, TOKENS - start))

    rows = draw(st.integers(0, 6))
    flat = [(*span(), *span()) for _ in range(rows)]
    return np.array(flat, np.int64).reshape(rows, 4)


@settings(deadline=None)
@given(spans=spans_within(), layout=st.sampled_from([BERT, LEFTOVER]))
def test_equals_the_reference(spans: np.ndarray, layout: PairLayout) -> None:
    tokens = np.arange(1000, 1000 + TOKENS)
    ours = assemble(tokens, spans, layout)
    for fast, plain in zip(ours, assemble_reference(tokens, spans, layout), strict=True):
        assert fast.dtype == plain.dtype == np.int64
        np.testing.assert_array_equal(fast, plain)


@pytest.mark.parametrize("version", [assemble, assemble_reference])
def test_two_rows_by_hand(version) -> None:
    tokens = np.array([11, 12, 13, 21, 22])
    batch = version(tokens, np.array([[0, 3, 3, 2], [1, 1, 0, 0]]), BERT)
    assert batch.ids.tolist() == [
        [101, 11, 12, 13, 102, 21, 22, 102],
        [101, 12, 102, 102, 0, 0, 0, 0],
    ]
    assert batch.mask.tolist() == [[1] * 8, [1, 1, 1, 1, 0, 0, 0, 0]]
    assert batch.types.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 0, 0, 0, 0]]


def test_spans_in_any_memory_layout() -> None:
    tokens = np.arange(10)
    spans = np.array([[0, 2, 5, 1], [3, 4, 9, 1]])
    columns = np.asfortranarray(spans)
    np.testing.assert_array_equal(
        assemble(tokens, columns, BERT).ids, assemble_reference(tokens, spans, BERT).ids
    )


def test_compiles_where_no_folder_can_keep_the_machine_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import numba

    from prevalence.kernels import assembly_numba

    usual = numba.njit

    def njit(*, cache: bool = False, nogil: bool) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return usual(nogil=nogil)

    monkeypatch.setattr(numba, "njit", njit)
    spec = importlib.util.spec_from_file_location("uncached", assembly_numba.__file__)
    uncached = importlib.util.module_from_spec(spec)
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True, nogil=True)
    spec.loader.exec_module(uncached)
    ids, mask, kinds = (np.empty((1, 4), np.int64) for _ in range(3))
    uncached.fill(
        np.array([5, 6]), np.array([[0, 1, 1, 0]]), *BERT[:4], BERT.pad, 0, ids, mask, kinds
    )
    assert ids.tolist() == [[101, 5, 102, 102]]


@pytest.mark.parametrize("span", [[0, 6, 0, 1], [0, 1, 5, 1], [-1, 1, 0, 1], [0, 1, 2, -1]])
def test_spans_outside_the_tokens_are_refused(span: list[int]) -> None:
    with pytest.raises(ValueError, match="within the 5 tokens"):
        assemble(np.arange(5), np.array([span]), BERT)
