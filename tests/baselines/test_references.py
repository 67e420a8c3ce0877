import pytest

from prevalence.baselines.references import References, references_of
from prevalence.records import BadRecord, Product, Review, Summary

SUMMARIES = (Summary("one", "first"), Summary("two", "second"), Summary("model", "third"))


def product(**extra):
    return Product("p", (Review("good"),), SUMMARIES, extra=extra, source="file:1")


def attached(choice, *items):
    return {
        summary.system: references_of(summary)
        for item in choice.attach(items)
        for summary in item.summaries
    }


def test_systems_named_as_references_are_not_scored():
    assert attached(References(("one", "two")), product(reference="unused")) == {
        "model": ("first", "second")
    }


def test_left_out_one_by_one():
    assert attached(References(("one", "two"), leave_one_out=True), product()) == {
        "one": ("second",),
        "two": ("first",),
        "model": ("first", "second"),
    }


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({}, ()),
        ({"reference": "a"}, ("a",)),
        ({"references": ["a", " ", "b"], "reference": "c"}, ("a", "b")),
        ({"references": None, "reference": "c"}, ("c",)),
    ],
)
def test_the_record_s_own_field(extra, expected):
    assert attached(References(), product(**extra)) == dict.fromkeys(
        ("one", "two", "model"), expected
    )


@pytest.mark.parametrize("value", [7, {"a": "b"}, ["a", 7]])
def test_a_field_of_another_kind_is_a_bad_record(value):
    (bad,) = References().attach([product(references=value)])
    assert isinstance(bad, BadRecord)
    assert bad.error == ("file:1: references: is not text: give a text or a list of texts")
    # Named systems win, so that the field does not matter.
    assert attached(References(("one",)), product(references=value))["model"] == ("first",)


def test_a_record_of_references_only_has_nothing_to_score():
    only = Product("p", (), SUMMARIES[:1])
    assert list(References(("one",)).attach([only, BadRecord("bad")])) == [BadRecord("bad")]


def test_signatures():
    assert References().signature == "record"
    assert References(("a", "b"), leave_one_out=True).signature == "a+b+leave-one-out"
    both = References(("a", "b"), leave_one_out=True, jackknife=True)
    assert both.signature == "a+b+leave-one-out+jackknife"


def test_choices_of_one_reference_fewer():
    names = ("one", "two", "three")
    summaries = tuple(Summary(name, name) for name in (*names, "model"))
    item = Product("p", (Review("good"),), summaries)
    for jackknife, expected in (
        (False, [names]),
        (True, [("two", "three"), ("one", "three"), ("one", "two")]),
    ):
        choice = References(names, leave_one_out=True, jackknife=jackknife)
        ((one, *_, model),) = (found.summaries for found in choice.attach([item]))
        assert choice.choices(one) == [("two", "three")]
        assert choice.choices(model) == expected
    alone = References(("one",), leave_one_out=True, jackknife=True)
    ((*_, model),) = (found.summaries for found in alone.attach([product()]))
    assert alone.choices(model) == [("first",)], "of one reference there is no choice"
