"""Numbered texts and pairs of their numbers."""

from __future__ import annotations

import hashlib
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.nli.pairs import PairPlan, TextTable

PAIRS = TextTable.add.__code__.co_filename
numbers = st.integers(0, 40)
requests = st.lists(st.lists(st.tuples(numbers, numbers), max_size=6), max_size=6)


def test_equal_texts_share_a_number():
    table = TextTable()
    assert table.add_all(["a", "b", "a", ""]).tolist() == [0, 1, 0, 2]
    assert table.add("b") == 1
    assert (len(table), table[2]) == (3, "")
    assert table.add_all([]).dtype == np.int64


def test_an_interrupt_leaves_every_text_its_own_number(interrupted):
    for line in count():
        table = TextTable()
        if not interrupted(lambda table=table: table.add("a"), within=PAIRS, line=line):
            break
        assert [table[number] for number in table.add_all(["b", "a", "b"])] == ["b", "a", "b"]
    assert line >= 4


def test_digests_are_of_utf8_and_equal_texts_agree_across_tables():
    first, second = TextTable(), TextTable()
    second.add("other")
    one, two = first.add("größe"), second.add("größe")
    expected = hashlib.blake2b("größe".encode(), digest_size=16).digest()
    assert first.digest(one) == first.digest(one) == second.digest(two) == expected


def test_a_lone_surrogate_has_a_digest_of_its_own():
    table = TextTable()
    digests = {table.digest(table.add(text)) for text in ("\ud800", "\udfff", "\ufffd", "?")}
    assert len(digests) == 4


def test_a_product_varies_premises_slowest():
    plan = PairPlan()
    where = plan.add_product([7, 3], [1, 2, 9])
    pairs, back = plan.unique()
    assert pairs[back[where]].tolist() == [[7, 1], [7, 2], [7, 9], [3, 1], [3, 2], [3, 9]]
    assert len(plan) == 6


@pytest.mark.parametrize(("premises", "hypotheses"), [([], []), ([1], []), ([], [1])])
def test_an_empty_product_asks_nothing(premises, hypotheses):
    plan = PairPlan()
    where = plan.add_product(premises, hypotheses)
    pairs, back = plan.unique()
    assert (pairs.shape, back[where].shape, len(plan)) == ((0, 2), (0,), 0)


@given(requests)
def test_every_request_finds_its_pairs_among_distinct_ones(batches):
    plan = PairPlan()
    slices = [plan.add([a for a, _ in batch], [b for _, b in batch]) for batch in batches]
    pairs, back = plan.unique()
    asked = [pair for batch in batches for pair in batch]
    assert [tuple(pair) for pair in pairs.tolist()] == sorted(set(asked))
    assert len(plan) == len(asked)
    for where, batch in zip(slices, batches, strict=True):
        assert [tuple(pair) for pair in pairs[back[where]].tolist()] == batch
