"""Fitting pairs into the limit, and batches under a budget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.nli.packing import batches, cut_longest_first, fit, packs


def _fit(premises, hypotheses, **options):
    p, h = np.array(premises), np.array(hypotheses)
    return fit((100 * np.arange(p.size), p), (1000 + 100 * np.arange(h.size), h), **options)


def test_only_the_premise_is_cut() -> None:
    fitted = _fit([3, 20, 5], [4, 4, 5], room=10)
    assert fitted.spans.tolist() == [[0, 3, 1000, 4], [100, 6, 1100, 4], [200, 5, 1200, 5]]
    assert fitted.owner.tolist() == [0, 1, 2]
    assert fitted.truncated.tolist() == [False, True, False]
    assert not fitted.too_long.any()


def test_hypothesis_without_room() -> None:
    # Room 10: a hypothesis of 10 leaves none, which only an empty premise accepts.
    fitted = _fit([3, 0, 3, 0], [10, 10, 9, 11], room=10)
    assert fitted.too_long.tolist() == [True, False, False, True]
    assert fitted.owner.tolist() == [1, 2]
    assert fitted.truncated.tolist() == [False, False, True, False]


def test_the_longer_text_gives_way() -> None:
    # Room 10: nothing to cut; premise cut to 6; hypothesis cut to 7; halves, the longer one's up.
    fitted = _fit([5, 20, 3, 9, 30], [5, 4, 40, 9, 7], room=10, longest_first=True)
    assert fitted.spans[:, [1, 3]].tolist() == [[5, 5], [6, 4], [3, 7], [5, 5], [5, 5]]
    assert fitted.truncated.tolist() == [False, True, True, True, True]
    assert not fitted.too_long.any()


@settings(deadline=None)
@given(first=st.integers(0, 60), second=st.integers(0, 60), room=st.integers(2, 50))
def test_longest_first_is_the_tokenizers_own(first: int, second: int, room: int) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"w": 0}, unk_token="w"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(room, strategy="longest_first")
    encoded = tokenizer.encode("w " * first, "w " * second)
    theirs = [encoded.sequence_ids.count(side) for side in (0, 1)]
    ours = cut_longest_first(np.array([first]), np.array([second]), room=room)
    assert [int(kept[0]) for kept in ours] == theirs


def test_windows_cover_the_premise_and_end_flush() -> None:
    # Space 6, stride 4 over 15 tokens: 0-5, 4-9, 8-13, then 9-14 flush with the end.
    fitted = _fit([15, 6], [4, 4], room=10, stride=4)
    assert fitted.spans[:, 0].tolist() == [0, 4, 8, 9, 100]
    assert fitted.spans[:, 1].tolist() == [6, 6, 6, 6, 6]
    assert fitted.owner.tolist() == [0, 0, 0, 0, 1]
    assert not fitted.truncated.any()


def test_stride_above_the_window_leaves_no_gap() -> None:
    fitted = _fit([15], [4], room=10, stride=99)
    assert fitted.spans[:, 0].tolist() == [0, 6, 9]


lengths = st.lists(st.integers(0, 60), min_size=1, max_size=8)


@given(data=st.data(), room=st.integers(1, 30), stride=st.integers(1, 40))
def test_windows_read_every_token_once_or_more(data, room: int, stride: int) -> None:
    premises = data.draw(lengths)
    hypotheses = [data.draw(st.integers(0, 35)) for _ in premises]
    fitted = _fit(premises, hypotheses, room=room, stride=stride)
    for pair, (p, h) in enumerate(zip(premises, hypotheses, strict=True)):
        rows = fitted.spans[fitted.owner == pair]
        assert fitted.too_long[pair] == (h > room or (h == room and p > 0))
        assert (len(rows) == 0) == fitted.too_long[pair]
        read = {t for start, n, _, _ in rows.tolist() for t in range(start, start + n)}
        if not fitted.too_long[pair]:
            assert read == set(range(100 * pair, 100 * pair + p))
        assert len({tuple(row) for row in rows.tolist()}) == len(rows)
        assert all(n + h <= room for _, n, _, _ in rows.tolist())


@given(sizes=st.lists(st.integers(1, 50), max_size=30), budget=st.integers(1, 200))
def test_batches_hold_each_row_once_within_the_budget(sizes: list[int], budget: int) -> None:
    found = list(batches(np.array(sizes, np.int64), budget))
    assert sorted(row for batch in found for row in batch.tolist()) == list(range(len(sizes)))
    widths = [max(sizes[row] for row in batch) for batch in found]
    assert widths == sorted(widths, reverse=True)
    for batch, width in zip(found, widths, strict=True):
        assert width * len(batch) <= budget or len(batch) == 1


@pytest.mark.parametrize(
    ("budget", "expected"), [(8, [[1, 3], [0, 2]]), (3, [[1], [3], [0], [2]]), (99, [[1, 3, 0, 2]])]
)
def test_batches_by_hand(budget: int, expected: list[list[int]]) -> None:
    assert [b.tolist() for b in batches(np.array([2, 4, 1, 4]), budget)] == expected


@given(sizes=st.lists(st.integers(1, 50), max_size=30), budget=st.integers(1, 200))
def test_packs_hold_each_row_once_and_as_many_as_fit(sizes: list[int], budget: int) -> None:
    found = [pack.tolist() for pack in packs(np.array(sizes, np.int64), budget)]
    assert sorted(row for pack in found for row in pack) == list(range(len(sizes)))
    flat = [sizes[row] for pack in found for row in pack]
    assert flat == sorted(flat, reverse=True)
    used = [sum(sizes[row] for row in pack) for pack in found]
    assert all(u <= budget or len(pack) == 1 for u, pack in zip(used, found, strict=True))
    few = [len(pack) for pack in packs(np.array(sizes, np.int64), budget, most=2)]
    assert sum(few) == len(sizes)
    assert max(few, default=0) <= 2
    following = [sizes[pack[0]] for pack in found[1:]]
    assert all(u + size > budget for u, size in zip(used, following, strict=False))
