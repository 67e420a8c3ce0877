"""Precision and recall of claims, by hand."""

from __future__ import annotations

import json

import pytest

from benchmarks.claims import HAND_CUT, READ, Agreement, agreement, matches, soundness, word_f1


def test_word_f1_by_hand():
    # 3 words shared of 4 and 3.
    assert word_f1("It does not leak.", "It does leak") == pytest.approx(6 / 7)
    assert word_f1("red red", "red") == pytest.approx(2 / 3)
    assert word_f1("", "") == 0


def test_matches_are_one_to_one_and_as_many_as_there_can_be():
    # The first fits both, the second only the first: a greedy choice would find one pair.
    wanted = ["a b c d e", "a b c d f"]
    assert matches(["a b c d e f", "a b c d e"], wanted) == 2
    assert matches(["a b c d e", "a b c d e"], ["a b c d e"]) == 1


def test_precision_and_recall_by_hand():
    rows = [
        {"sentence": "x", "claims": ["It fits.", "It leaks."]},
        {"sentence": "y", "claims": ["It is red."]},
    ]
    made = {"x": ["It fits."], "y": ["It is red.", "It hums.", "No."]}
    found = agreement(rows, made.__getitem__)
    assert found == Agreement(sentences=2, made=4, wanted=3, matched=2)
    assert (found.precision, found.recall) == (0.5, pytest.approx(2 / 3))


def test_the_hand_cut_claims_are_whole():
    texts = [path.read_text(encoding="utf-8") for path in HAND_CUT]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    assert len({row["sentence"] for row in rows}) == len(rows) == 134 + 120
    assert {row["part"] for row in rows} == {"tuning", "apart", "second"}
    assert all(row["claims"] for row in rows)


def test_soundness_by_hand():
    rows = [
        {"sentence": "Soft and warm", "claims": {"Soft.": "broken", "It is warm.": "wrong"}},
        {"sentence": "It fits.", "claims": {}},
    ]
    made = {"Soft and warm": ["Soft.", "It is warm.", "Warm."], "It fits.": ["It fits."]}
    found = soundness(rows, made.__getitem__)
    assert found == {"broken": 1, "wrong": 1, "not read": 1, "whole": 1}


def test_the_read_claims_are_whole():
    for path, sentences in zip(READ, (163, 176, 424, 819), strict=True):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert len({row["sentence"] for row in rows}) == len(rows) == sentences
        assert {kind for row in rows for kind in row["claims"].values()} == {
            "sound", "broken", "wrong",
        }  # fmt: skip
