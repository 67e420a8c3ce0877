"""Replies → values with a full account of what was not read; rows, pairs and audits of them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from prevalence.baselines.judges.audit import (
    attacked,
    audit_attacks,
    audit_contrasts,
    audit_metrics,
    audit_orders,
    consistency,
)
from prevalence.baselines.judges.duels import (
    DuelRun,
    every_pair,
    neighbours,
    read_pairs,
)
from prevalence.baselines.judges.packs import load_method
from prevalence.baselines.judges.prompts import choose_dimensions
from prevalence.baselines.judges.run import JudgeRun, judge_signature, write_steps
from prevalence.baselines.judges.scoring import make_plan
from prevalence.errors import BackendError, ConfigurationError, InputError
from prevalence.llm.protocol import Response
from prevalence.meta.preferences import OrderBias
from prevalence.meta.sources import read_table
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.runs.resuming import skip_finished


class Script:
    """Answers each request by a function of it; remembers what it was asked."""

    signature = {"script": "1"}  # noqa: RUF012
    work_unit = 4

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def complete(self, requests, *, keep=None):
        self.asked += requests
        return [[self.answer(request, index) for index in request.indices] for request in requests]


def said(text, index=0, **more):
    return Response(index=index, text=text, **more)


def product(item="p", **human):
    summaries = tuple(
        Summary(system, f"By {system}.", {"human": {"fluency": human[system]}} if human else {})
        for system in (human or ("s", "t"))
    )
    return Product(item, (Review("Warm."),), summaries)


def judge(plan, responses, spec="fluency"):
    return plan.judge(choose_dimensions(plan.method, [spec]), responses)


def test_the_mean_is_over_what_was_read_and_the_rest_is_counted():
    plan = make_plan(load_method("op-i"), samples=6)
    texts = ["<score>4</score>", "<score>5</score>", "none", "<score>7</score>",
             "<score>1</score><score>2</score>"]  # fmt: skip
    replies = [said(text, place) for place, text in enumerate(texts)]
    found = judge(plan, [*replies, said("", 5, error="lost")])
    assert found.metrics == {"op-i.fluency": 4.5}
    assert found.samples == {"op-i.fluency": [4.0, 5.0, None, None, None, None]}
    assert found.report["op-i.fluency"] == {
        "asked": 6, "read": 2, "unparsable": 1, "several": 1, "out_of_range": 1, "failed": 1,
        "cut": 0, "distinct": 5,
    }  # fmt: skip
    nothing = judge(plan, [said("no")])
    assert nothing.metrics == {"op-i.fluency": None}
    assert "of 1 replies none has a score (1 unparsable)" in nothing.errors[0]


def test_probabilities_raw_and_normalised():
    plan = make_plan(load_method("g-eval"), form="probabilities")
    assert plan.answers == {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0, "5": 5.0}
    # 0.2 · 3 + 0.6 · 4 = 3 of a mass of 0.8: normalised 3.75.
    found = judge(plan, [said("", logprobs={"3": math.log(0.2), "4": math.log(0.6)})])
    assert found.metrics["g-eval-weighted.fluency"] == pytest.approx(3.75)
    assert found.metrics["g-eval-weighted-raw.fluency"] == pytest.approx(3.0)
    report = found.report["g-eval-weighted.fluency"]
    assert report["mass"] == pytest.approx(0.8)
    assert report["unseen"] == ["1", "2", "5"]


def test_no_form_turns_into_another():
    plan = make_plan(load_method("g-eval"), form="probabilities")
    found = judge(plan, [said("<score>4</score>")])
    assert set(found.metrics.values()) == {None}
    assert "no log-probabilities" in found.errors[0]
    with pytest.raises(ConfigurationError, match="explain first"):
        make_plan(load_method("op-i"), form="probabilities")
    with pytest.raises(ConfigurationError, match="one reply at temperature 0"):
        make_plan(load_method("op-i"), form="direct", samples=5)


def test_identical_replies_are_asked_for_once_and_said_so():
    plan = make_plan(load_method("omni"))
    assert plan.samples == 1
    assert "100 replies are the same one" in plan.note
    assert make_plan(load_method("op-i")).samples == 100
    assert make_plan(load_method("op-i"), form="direct").sampling.temperature == 0.0


@pytest.mark.parametrize(
    ("name", "reply", "value"),
    [
        # Their score follows the reasons, which is where the reply was cut.
        ("rts", "It has 2 of the points. A score of 2", None),
        ("op-i", "A text with <score>2</score> would", None),
        ("omni", "<score>2</score>", None),
        # These answer at once; of several lines the last may lack something.
        ("g-eval", "Fluency:\n<score>2</score> because", 2.0),
        ("mcq", "B\nA", 2.0),
        ("star", "2 stars, be", 2.0),
    ],
)
def test_a_reply_that_was_cut_before_its_score_has_none(name, reply, value):
    plan = make_plan(load_method(name), samples=1, temperature=0.0)
    dimensions = choose_dimensions(plan.method, ("all",))[:1]
    found = plan.judge(dimensions, [said(reply, finish="length")])
    assert list(found.metrics.values()) == [value]
    if value is None:
        assert "(1 unparsable); 1 cut at the limit: raise --max-tokens" in found.errors[0]
    if name == "rts":
        assert plan.judge(dimensions, [said(reply)]).metrics != found.metrics
        released = make_plan(plan.method, rules="llm-summeval")
        assert [*released.judge(dimensions, [said(reply, finish="length")]).metrics.values()] == [2]


def test_a_table_that_was_cut_lacks_its_last_line():
    plan = make_plan(load_method("chatgpt-4d"))
    dimensions = choose_dimensions(plan.method, ("all",))
    titles = [one.title for one in dimensions]
    reply = f"{titles[0]}: 4\n{titles[1]}: 4"
    found = plan.judge(dimensions, [said(reply, finish="length")])
    assert [*found.metrics.values()] == [4.0, None, None, None]


def test_samples_of_a_recording_may_differ_at_temperature_0():
    method = load_method("rts")
    assert make_plan(method, samples=3, recorded=True).samples == 3
    assert make_plan(method, samples=3, recorded=True).note is None
    assert make_plan(load_method("omni"), recorded=True).samples == 1
    assert make_plan(method, samples=3).samples == 1


def test_contradicted_percentages_are_flagged():
    plan = make_plan(load_method("omni"), samples=3, temperature=1.0)
    texts = ["Estimate: 80% <score>4</score>", "Estimate: 30% <score>4</score>", "<score>4</score>"]
    found = judge(plan, [said(text, place) for place, text in enumerate(texts)])
    report = found.report["omni.fluency"]
    assert (report["contradictions"], report["without_percentage"]) == (1, 1)


def test_four_dimensions_from_one_reply_and_a_missing_one_is_null():
    method = load_method("chatgpt-4d")
    dimensions = choose_dimensions(method, ["all"])
    reply = "Aspect relevance: 2\nSelf-coherence: 5\nReadability: 4"
    backend = Script(lambda _, index: said(reply, index))
    run = JudgeRun(make_plan(method), dimensions, backend)
    first, _ = run.rows([product()])
    assert len(backend.asked) == 2
    assert first.metrics == {
        "chatgpt-4d.aspect_relevance": 2.0, "chatgpt-4d.self_coherence": 5.0,
        "chatgpt-4d.sentiment_consistency": None, "chatgpt-4d.readability": 4.0,
    }  # fmt: skip
    assert "chatgpt-4d.sentiment_consistency has no value" in first.error


def _length_of_id(request, index):
    return said(f"<score>{len(request.subject.id)}</score>", index)


def test_rows_keep_the_input_order_and_bad_records():
    backend = Script(
        lambda request, index: said(f"<score>{len(request.subject.id)}</score>", index)
    )
    dimensions = choose_dimensions(load_method("op-i"), ["fluency", "coherence"])
    run = JudgeRun(make_plan(load_method("op-i"), samples=2), dimensions, backend)
    items = [product("a"), BadRecord("line 2: broken", id="x"), product("bbb")]
    rows = list(run.rows(items))
    assert [(row.id, row.system) for row in rows] == [
        ("a", "s"), ("a", "t"), ("x", None), ("bbb", "s"), ("bbb", "t"),
    ]  # fmt: skip
    assert rows[2].error == "line 2: broken"
    assert rows[4].metrics == {"op-i.fluency": 3.0, "op-i.coherence": 3.0}
    assert rows[4].samples["op-i.coherence"] == [3.0, 3.0]
    with pytest.raises(ValueError, match="gone"):
        list(run.rows(_failing(product("a"))))


def _failing(item):
    yield item
    raise ValueError("gone")


def test_the_judge_writes_its_steps_once():
    method = load_method("g-eval")
    dimensions = choose_dimensions(method, ["all"])
    backend = Script(
        lambda request, _: said(f"<think>Hm.</think>\n1. Judge {request.subject.dimension}.")
    )
    steps = write_steps(method, dimensions, backend)
    assert len(backend.asked) == 7
    assert steps["fluency"] == "1. Judge fluency."
    scores = Script(lambda _, index: said("<score>3</score>", index))
    run = JudgeRun(make_plan(method, samples=1), dimensions, scores, steps=steps)
    list(run.rows([product()]))
    assert "1. Judge fluency." in scores.asked[0].messages[0].content
    assert "|steps:" in run.signature
    for nothing in (" ", "<think>1. Judge"):
        silent = Script(lambda *_, text=nothing: said(text))
        with pytest.raises(BackendError, match="wrote no evaluation steps"):
            write_steps(method, dimensions, silent)


def test_steps_that_were_cut_are_refused():
    method = load_method("g-eval")
    dimensions = choose_dimensions(method, ["fluency"])
    backend = Script(lambda *_: said("1. Judge the", finish="length"))
    for asked, given in ((64, "512"), (2000, "2,000")):
        with pytest.raises(
            BackendError, match=f"fluency were cut at {given} tokens; give a higher"
        ):
            write_steps(method, dimensions, backend, max_tokens=asked)
    assert [one.sampling.max_tokens for one in backend.asked] == [512, 2000]


def test_the_source_of_the_users_own_dimensions_is_in_the_signature(tmp_path):
    path = tmp_path / "own.toml"
    plan, backend = make_plan(load_method("op-i")), Script(None)
    found = set()
    for name, source in (("own", "reviews"), ("own", "forum posts"), ("summeval", "reviews")):
        path.write_text(
            f'name = "{name}"\nsource = "{source}"\n'
            '[humour]\ntitle = "Humour"\ndefinition = "Is it fun?"\n'
        )
        found.add(judge_signature(plan, choose_dimensions(plan.method, [str(path)]), backend))
    assert len(found) == 3
    # As signatures have always had it.
    shipped = judge_signature(plan, choose_dimensions(plan.method, ["fluency"]), backend)
    assert "|dims:summeval-op/fluency@e5ed2d9a|" in shipped


def test_duels_are_asked_in_both_orders_and_turned_back(tmp_path):
    replies = iter(["A", "A", "A", "B", "C", "no"])
    backend = Script(lambda *_: said(next(replies)))
    dimensions = choose_dimensions(load_method("h2h"), ["fluency"])
    run = DuelRun(make_plan(load_method("h2h")), dimensions, backend, pairs=every_pair)
    rows = list(run.rows(run.items([product("a"), product("b"), product("c")])))
    assert [(row.verdict_ab, row.verdict_ba) for row in rows] == [(1, 2), (1, 1), (0, None)]
    first, second = (request.messages[0].content for request in backend.asked[:2])
    assert first.index("By s.") < first.index("By t.")
    assert second.index("By t.") < second.index("By s.")
    assert "no verdict (unparsable)" in rows[2].error
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(row.to_json_line() + "\n" for row in rows[:2]), encoding="utf-8")
    items = run.items([product("a"), product("b"), product("c")])
    kept = []
    left = skip_finished(
        items, run.finished(path), marks=run.marks, rest=run.rest, keep=kept.append
    )
    assert [duel.product.id for duels in left for duel in duels] == ["c"]
    assert kept == rows[:2]
    with pytest.raises(InputError, match="holds row 2, which is of other input or other settings"):
        list(skip_finished(run.items([product("a")]), run.finished(path), marks=run.marks,
                           rest=run.rest, keep=kept.append))  # fmt: skip


def test_duels_of_what_was_read_before_the_input_failed():
    backend = Script(lambda *_: said("A"))
    dimensions = choose_dimensions(load_method("h2h"), ["fluency"])
    run = DuelRun(make_plan(load_method("h2h")), dimensions, backend, pairs=every_pair)
    found = run.rows(run.items(_failing(product("a"))))
    assert next(found).verdict_ab == 1
    with pytest.raises(ValueError, match="gone"):
        next(found)


def test_pairs_end_at_line_feeds_alone(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_bytes("\ufeff".encode() + '{"a": "s\u2028", "b": "t\x85"}\n'.encode())
    assert read_pairs(path)(product("p")) == [("s\u2028", "t\x85")]
    assert read_pairs(path).systems == ("s\u2028", "t\x85")


def test_which_pairs(tmp_path):
    items = [product("a", s=[1], t=[5], u=[3]), product("b", s=[1], t=[4], u=[3])]
    assert neighbours(items)(items[0]) == [("t", "u"), ("u", "s")]
    with pytest.raises(InputError, match="needs human ratings"):
        neighbours([product("a")])
    # Neither is a rating.
    assert neighbours([product("a", s=[10**400, 1], t=[5], u=[True, 3])])(items[0]) == [
        ("t", "u"), ("u", "s"),
    ]  # fmt: skip
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"a": "s", "b": "t"}\n{"id": "b", "a": "u", "b": "t"}\n')
    assert [read_pairs(path)(item) for item in items] == [
        [("s", "t")], [("s", "t"), ("u", "t")],
    ]  # fmt: skip
    # Both orders are one pair.
    path.write_text('{"a": "s", "b": "t"}\n{"a": "u", "b": "t"}\n{"a": "t", "b": "s"}\n')
    assert read_pairs(path)(items[0]) == [("s", "t"), ("u", "t")]
    path.write_text('{"a": "s"}')
    with pytest.raises(InputError, match="is not a pair of systems"):
        read_pairs(path)


def table(tmp_path, rows):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"schema": 1, **row}) + "\n" for row in rows))
    return read_table(path)


def test_use_of_the_scale(tmp_path):
    rows = [
        {"id": "a", "system": "s", "metrics": {"j.fluency": 5, "words": 212},
         "samples": {"j.fluency": [5, 5, None]}, "human": {"fluency": [3]}},
        {"id": "b", "system": "s", "metrics": {"j.fluency": 5}, "samples": {"j.fluency": [4, 5]}},
        {"id": "a", "system": "t", "metrics": {"j.fluency": 2}, "human": {"fluency": [2]}},
    ]  # fmt: skip
    (found,) = audit_metrics(table(tmp_path, rows))
    assert (found.metric, found.summaries, found.mean) == ("j.fluency", 3, 4.0)
    assert (found.offset, found.constant) == (1.0, ("s",))
    assert found.at_maximum == pytest.approx(2 / 3)
    # Standard deviations 0 and √½; shares of the most frequent sample 1 and ½.
    assert found.consistency == pytest.approx((2, math.sqrt(0.5) / 2, 0.75))
    assert consistency(np.array([[3.0], [4.0]])) is None


def test_methods_are_reliable_where_they_agree(tmp_path):
    scores = {"s": [(1, 1), (2, 3), (3, 4)], "t": [(1, 3), (2, 2), (3, 1)]}
    rows = [
        {"id": str(item), "system": system, "metrics": {"rts.fluency": x, "mcq.fluency": y}}
        for system, values in scores.items()
        for item, (x, y) in enumerate(values)
    ]
    (found,) = audit_contrasts(table(tmp_path, rows), tolerance=0.5)
    assert found.agreement == pytest.approx({"s": 1.0, "t": -1.0})
    assert found.unreliable == ("t",)
    assert found.difference == pytest.approx(-2 / 6)
    assert found.distance == pytest.approx(6 / 6)


def test_what_attacks_gain(tmp_path):
    values = {"s": 3, "s#plea": 5, "t": 4, "t#plea": 4, "u": 2, "u#plea": None}
    rows = [{"id": "a", "system": s, "metrics": {"j.fluency": v}} for s, v in values.items()]
    (found,) = audit_attacks(table(tmp_path, rows))
    assert found == ("j.fluency", "plea", 2, 1, 1.0, 0.5, 0.5)


def test_a_mark_in_the_own_name_of_a_system_is_no_attack(tmp_path):
    values = {"gpt": 3, "gpt#2": 5, "gpt#2#plea": 4}
    rows = [{"id": "a", "system": s, "metrics": {"j.fluency": v}} for s, v in values.items()]
    (scale,) = audit_metrics(table(tmp_path, rows))
    assert (scale.summaries, scale.mean) == (2, 4.0)
    (attack,) = audit_attacks(table(tmp_path, rows))
    assert (attack.attack, attack.summaries, attack.shift) == ("plea", 1, -1.0)


def test_orders():
    found = audit_orders({"fluency": [(1, 1), (1, 2), (float("nan"), 1)]})
    assert found == {"fluency": OrderBias(asked=2, same=1, first=1, second=0, once=1)}


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_an_empty_summary_never_reaches_the_judge(blank):
    item = Product("p", (Review("Warm."),), (Summary("s", blank), Summary("t", "By t.")))
    script = Script(lambda request, index: said("Score: 4", index))
    dimensions = choose_dimensions(load_method("rts"), ["fluency", "relevance"])
    run = JudgeRun(make_plan(load_method("rts"), samples=1), dimensions, script)
    empty, whole = run.rows([item])
    assert empty.metrics == {"rts.fluency": None, "rts.relevance": None}
    assert empty.error == (
        "record 'p': summary by 's': the summary is empty, so the judge was not asked"
    )
    assert whole.metrics == {"rts.fluency": 4.0, "rts.relevance": 4.0}
    assert {request.subject.system for request in script.asked} == {"t"}
    script.asked.clear()
    assert len([*run.rows(attacked(item))]) > 2
    assert script.asked
    assert not any(request.subject.system.startswith("s") for request in script.asked)


def test_a_duel_with_an_empty_summary_is_not_fought():
    item = Product(
        "p", (Review("Warm."),), (Summary("s", ""), Summary("t", "By t."), Summary("u", "By u."))
    )
    script = Script(lambda request, index: said("A", index))
    plan = make_plan(load_method("h2h"))
    run = DuelRun(plan, choose_dimensions(plan.method, ["fluency"]), script, pairs=every_pair)
    rows = [*run.rows(run.items([item]))]
    assert [(row.a, row.b, row.verdict_ab) for row in rows] == [
        ("s", "t", None), ("s", "u", None), ("t", "u", 1),
    ]  # fmt: skip
    assert "the summary is empty" in rows[0].error
    assert rows[2].error is None
    assert len(script.asked) == 2
