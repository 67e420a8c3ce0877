"""Products: digests, parts, and that they stay as they are."""

from __future__ import annotations

import dataclasses

import pytest

from prevalence.records import Product, Review, Summary, input_digest


def test_the_input_digest_covers_what_can_change_a_score_and_nothing_else():
    product = Product("p", (Review("a"), Review("b")), (), "boot")
    summary = Summary("s", "Fits.")
    digest = input_digest(product, summary)
    assert len(digest) == 16
    others = [
        (dataclasses.replace(product, name=None), summary),
        (dataclasses.replace(product, reviews=(Review("b"), Review("a"))), summary),
        (dataclasses.replace(product, reviews=(Review("ab"),)), summary),
        (product, Summary("s", "Fits")),
    ]
    assert len({digest, *(input_digest(*other) for other in others)}) == 5
    same = dataclasses.replace(product, id="q", extra={"k": 1}, source="f:9", metadata={"a": 1})
    assert input_digest(same, Summary("t", "Fits.", {"k": 1})) == digest


def test_keys_that_json_lacks_are_no_part_of_the_digest():
    summary = Summary("s", "Fits.")
    plain, keyed = (
        Product("p", (Review("a", extra={"k": 1, **more}),), ()) for more in ({}, {("a", 1): 2})
    )
    assert input_digest(keyed, summary, fields=True) == input_digest(plain, summary, fields=True)


def test_a_part_of_a_record_remembers_whether_the_whole_gives_claims():
    summaries = (Summary("a", "Fits.", {"claims": ["Fits."]}), Summary("b", "Warm."))
    product = Product("p", (Review("x"),), summaries)
    part = product.part(summaries[1:])
    assert part.gives_claims
    assert part.part(summaries[1:]).gives_claims
    # It is no part of what the record says, and no longer true of other summaries.
    assert part == product.with_summaries(summaries[1:])
    assert part.to_json() == product.with_summaries(summaries[1:]).to_json()
    assert not part.with_summaries(summaries[1:]).gives_claims


def test_records_are_frozen():
    product = Product("p", (), ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        product.id = "q"
    assert product.with_summaries([Summary("s", "x")]).summaries[0].text == "x"
