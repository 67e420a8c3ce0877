"""A run that adds summaries goes on from its output, whatever failed before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prevalence.errors import InputError
from prevalence.records import BadRecord, Product, Review
from prevalence.runs.resuming import skip_finished
from prevalence.summarize.products import Target

TARGET = Target(system="new")


def product(item, text="Warm."):
    return Product(item, (Review(text),), ())


def row(item, text="Warm.", signature="s"):
    return TARGET.added_to(product(item, text), "It is warm.", {"signature": signature}).to_json()


def left(tmp_path, items, rows, signature=lambda _: "s"):
    kept = skip_finished(
        iter(items),
        replace(TARGET.finished(tmp_path / "out.jsonl"), rows=iter(rows)),
        marks=lambda item: TARGET.marks(item, signature),
        keep=lambda _: None,
        rest=lambda item, _: item,
    )
    return [item.id for item in kept]


@pytest.mark.parametrize(
    ("done", "wanted"),
    [
        ("", "abcd"),
        ("a", "bcd"),
        ("ac", "bd"),
        ("acb", "d"),
        ("adb", "c"),
        ("dcba", ""),
        ("bd", "ac"),
    ],
)
def test_what_the_output_lacks_is_tried_in_input_order(tmp_path, done, wanted):
    items = [product(name) for name in "abcd"]
    assert left(tmp_path, items, [row(name) for name in done]) == list(wanted)


def test_records_that_differ_in_nothing_have_a_row_each(tmp_path):
    items = [product("a"), product("a"), product("a", "Dry.")]
    assert left(tmp_path, items, [row("a", "Dry."), row("a")]) == ["a"]


def test_bad_records_keep_their_place(tmp_path):
    bad = BadRecord(error="in.jsonl:1: not JSON", id="bad", source="in.jsonl:1")
    items = [bad, product("a"), product("b")]
    assert left(tmp_path, items, [row("b")]) == ["bad", "a"]


def _refused(_):
    raise InputError("no summary for this one")


@pytest.mark.parametrize(
    ("rows", "signature", "said"),
    [
        ([row("a"), row("other")], lambda _: "s", "'other', which this input does not have"),
        ([row("a"), row("b", "Changed.")], lambda _: "s", "'b', which this input has with other"),
        ([row("b", signature="t")], lambda _: "s", r"other settings \(t\)"),
        ([row("a", signature=None)], _refused, "other settings"),
    ],
)
def test_an_output_of_another_run_is_refused_before_anything_is_tried(
    tmp_path, rows, signature, said
):
    kept = skip_finished(
        iter([product("a"), product("b"), product("c")]),
        replace(TARGET.finished(tmp_path / "out.jsonl"), rows=iter(rows)),
        marks=lambda item: TARGET.marks(item, signature),
        keep=lambda _: None,
    )
    with pytest.raises(InputError, match=said):
        next(kept)
