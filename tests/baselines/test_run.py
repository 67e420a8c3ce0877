import dataclasses
import json

import numpy as np
import pytest

from prevalence.baselines import get
from prevalence.baselines.references import References
from prevalence.baselines.rows import ScoreRow
from prevalence.baselines.run import BaselineRun, example_digest
from prevalence.errors import InputError
from prevalence.records import BadRecord, Product, Review, Summary


class Lengths:
    """A metric without references: the number of words, undefined for none; it saw all first."""

    name = "lengths"
    entry = get("rouge-1").entry
    needs = ()
    work_unit = 2

    def __init__(self):
        self.seen = []
        self.calls = []

    @property
    def signature(self):
        return {"seen": str(len(self.seen))}

    def prepare(self, examples):
        self.seen = list(examples)

    def score(self, examples, *, progress=None):
        self.calls.append(len(examples))
        return np.array([len(e.summary.split()) or np.nan for e in examples])


def product(number, *texts, **extra):
    summaries = tuple(Summary(f"s{i}", text) for i, text in enumerate(texts))
    return Product(f"p{number}", (Review("a b"),), summaries, extra=extra, source=f"in:{number}")


ITEMS = [
    product(1, "a b", "", reference="a b"),
    BadRecord("in:2: broken", id="p2", source="in:2"),
    product(3, "a"),
]


def run_over(items, metrics):
    references = References()
    engine = BaselineRun(metrics, references=references)
    return engine, lambda: references.attach(items)


def test_rows_in_order_with_reasons_for_what_is_missing():
    lengths = Lengths()
    engine, items = run_over(ITEMS, [get("rouge-1"), lengths])
    engine.prepare(items)
    assert [example.summary for example in lengths.seen] == ["a b", "", "a"]
    rows = list(engine.rows(items()))
    assert [(row.id, row.system) for row in rows] == [
        ("p1", "s0"), ("p1", "s1"), ("p2", None), ("p3", "s0"),
    ]  # fmt: skip
    assert [dict(row.metrics) for row in rows] == [
        {"rouge-1": 1.0, "lengths": 2.0},
        {"rouge-1": 0.0, "lengths": None},
        {"rouge-1": None, "lengths": None},
        {"rouge-1": None, "lengths": 1.0},
    ]
    assert rows[0].error is None
    assert rows[1].error == "in:1: summary by 's1': lengths is not a finite number (nan)"
    assert rows[2].error == "in:2: broken"
    assert "rouge-1 has no reference; name systems with --references" in rows[3].error
    assert lengths.calls == [3]
    assert rows[0].signature.startswith("base|rouge-1{impl=rouge-score-0.1.2,")
    assert "|lengths{seen=3}|refs:record|v:" in rows[0].signature


@pytest.mark.parametrize(("value", "why"), [
    (np.nan, "has no value: a text is empty"), (np.inf, "is not a finite number (inf)"),
])  # fmt: skip
def test_a_value_is_missing_for_the_reason_given(value, why):
    metric = Lengths()
    metric.entry = dataclasses.replace(metric.entry, undefined="a text is empty")
    metric.score = lambda examples, **_: np.full(len(examples), value)
    engine, items = run_over(ITEMS[2:], [metric])
    (row,) = engine.rows(items())
    assert row.error == f"in:3: summary by 's0': lengths {why}"
    assert dict(row.metrics) == {"lengths": None}


@pytest.mark.parametrize(("name", "kind", "summary", "why"), [
    ("sms:nostop", "encoder", "It is!", "with nostop has no word but stop words"),
    ("moverscore:idf", "encoder", "?!", "with idf has no word that some text lacks"),
    ("infolm:idf", "masked", "dry", "with idf all of its tokens stand in every text"),
])  # fmt: skip
def test_texts_that_say_nothing_are_not_called_empty(tiny, name, kind, summary, why):
    if kind == "encoder":
        pytest.importorskip("ot")
    items = [product(1, summary, reference=summary)]
    engine, attached = run_over(items, [get(name, model=str(tiny(kind)))])
    if engine.needs_preparation:
        engine.prepare(attached)
    (row,) = engine.rows(attached())
    assert f"has no value: a text is empty, or {why}" in row.error


def test_rows_read_back():
    engine, items = run_over(ITEMS, [get("rouge-1")])
    rows = list(engine.rows(items()))
    assert len(rows) == 4
    assert [ScoreRow.from_json(json.loads(row.to_json_line())) for row in rows] == rows


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"schema": 2, "metrics": {}},
        {"schema": 1, "metrics": {}, "prevalence": 1},
        {"schema": 1, "id": "p", "system": "s", "signature": "", "metrics": {"m": "high"}},
        {"schema": 1, "id": "p", "system": "s", "signature": "", "metrics": {"m": 10**400}},
        {"schema": 1, "id": 1, "system": "s", "signature": "", "metrics": {}},
        {"schema": 1, "id": "p", "system": "s", "signature": "", "metrics": {}, "error": ["x"]},
        {"schema": 1, "id": "p", "system": "s", "signature": "", "metrics": {},
         "judge": {"m": {"asked": "x"}}},
    ],
)  # fmt: skip
def test_other_objects_are_refused(row):
    with pytest.raises(InputError, match="not a score row"):
        ScoreRow.from_json(row)


def test_human_ratings_go_along():
    rated = Summary("s", "a", {"human": {"fluency": [4, 5]}})
    item = Product("p", (Review("a"),), (rated,), extra={"reference": "a"})
    engine, items = run_over([item], [get("rouge-1")])
    (row,) = engine.rows(items())
    assert row.human == {"fluency": [4, 5]}
    assert json.loads(row.to_json_line())["human"] == {"fluency": [4, 5]}


def test_a_failing_input_is_raised_after_what_was_read():
    def failing():
        yield from ITEMS
        raise InputError("cut off")

    engine, _ = run_over([], [get("rouge-1")])
    rows = engine.rows(References().attach(failing()))
    assert [next(rows).id for _ in range(4)] == ["p1", "p1", "p2", "p3"]
    with pytest.raises(InputError, match="cut off"):
        next(rows)


def test_the_digest_depends_on_everything_that_is_read():
    def digest(item):
        (with_references,) = References().attach([item])
        return example_digest(with_references, with_references.summaries[0])

    base = digest(product(1, "a", reference="r"))
    assert base == digest(product(2, "a", reference="r"))
    assert len({base, digest(product(1, "b", reference="r")), digest(product(1, "a"))}) == 3
