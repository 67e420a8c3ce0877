"""The equations by hand, on models that answer from a script."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from prevalence.baselines import Example, get
from prevalence.baselines.questions import asking, models
from prevalence.baselines.questions.models import Answer, Remembering, answer_of
from prevalence.errors import ConfigurationError, ModelError
from prevalence.scorers.qafe import SpanLogits

REVIEWS = ("The soles grip well in Paris.", "Two laces leak.")
SUMMARY = "The soles grip in Paris."
SOURCE = " ".join(REVIEWS)


class Scripted(Remembering):
    """Finds what a script says, counts what it is asked, and refuses to be asked twice."""

    def __init__(self, part, script, usual):
        super().__init__()
        self.signature = {part: "script"}
        self.script, self.usual, self.asked = script, usual, []

    def compute(self, asked):
        self.asked += asked
        assert len(set(self.asked)) == len(self.asked)
        return [self.script.get(key, self.usual(*key)) for key in asked]


def answer(text, answerable=1.0, likeliest="", confidence=0.0):
    return Answer(text, answerable, likeliest, confidence)


@pytest.fixture
def scripted(monkeypatch, tmp_path):
    """``scripted(spec, answers, ...)``: the metric with models that answer from scripts."""

    def build(spec, answers, written=None, weights=None, overlaps=None):
        from prevalence.baselines.questions import qafacteval, questeval

        parts = {
            "qg": Scripted("qg", written or {}, lambda text, first, end: f"{text[first:end]}?"),
            "qa": Scripted("qa", answers, lambda *_: answer("", 0.0)),
            "weigher": Scripted("weigher", weights or {}, lambda *_: 1.0),
            "lerc": Scripted("lerc", overlaps or {}, lambda *_: 3.0),
        }
        monkeypatch.setattr(asking, "open_questions", lambda *_, **__: parts["qg"])
        monkeypatch.setattr(asking, "open_answers", lambda *_: parts["qa"])
        monkeypatch.setattr(questeval, "open_part", lambda *_: parts["weigher"])
        monkeypatch.setattr(qafacteval, "open_part", lambda *_: parts["lerc"])
        folders = {key: str(tmp_path) for key in ("qg", "qa") if f":{key}=" not in spec}
        if spec.startswith("summaqa"):
            del folders["qg"]
        return get(spec.replace("@", f"={tmp_path}"), **folders), parts

    return build


def test_summaqa_by_hand(scripted):
    # The reviews name Paris and Two; spans in gaps of their own sentences.
    script = {
        ("The soles grip well in MASKED.", SUMMARY): answer("", 0, "in Paris", 0.5),
        ("MASKED laces leak.", SUMMARY): answer("soles", 1, "soles", 0.2),
    }
    example = Example(SUMMARY, REVIEWS)
    f1, parts = scripted("summaqa-f1", script)
    # "in Paris" has one of two words right and the one wanted: F1 2/3; "soles" is not "Two".
    assert f1.score([example]) == pytest.approx([(2 / 3 + 0) / 2])
    assert f1.signature == {"answers": "names", "qa": "script", "source": "joined"}
    probability, _ = scripted("summaqa-probability", script)
    assert probability.score([example]) == pytest.approx([0.35])
    # Reviews that name nothing raise no question; an empty text leaves nothing to say.
    assert f1.score([Example(SUMMARY, ("They leak.",))]).tolist() == [0.0]
    found = f1.score([Example(" ", REVIEWS), Example(SUMMARY, ("",)), example])
    assert np.isnan(found[:2]).all()
    assert found[2] == pytest.approx(1 / 3)
    assert len(parts["qa"].asked) == 2


def test_summaqa_over_several_reviews_and_references(scripted):
    script = {("The soles grip well in MASKED.", SUMMARY): answer("", 0, "Paris", 0.5)}
    example = Example(SUMMARY, REVIEWS, (REVIEWS[1], REVIEWS[0]))
    for spec, value in (("source=each", 0.5), ("source=truncated-6", 1.0), ("source=joined", 0.5),
                        ("against=reference", 1.0), ("against=reference:refs=mean", 0.5),
                        ("against=reference:refs=first", 0.0)):  # fmt: skip
        metric, _ = scripted(f"summaqa-f1:{spec}", script)
        assert metric.score([example]) == pytest.approx([value]), spec


QUESTEVAL = {
    # The summary asks for "The soles" and "Paris"; the reviews for "Two" and "Two laces" as well.
    ("The soles?", SOURCE): answer("soles", 0.9),
    ("Paris?", SOURCE): answer("", 0.1),
    ("The soles?", SUMMARY): answer("the soles grip", 0.8),
    ("Paris?", SUMMARY): answer("Paris", 0.6),
    ("Two?", SUMMARY): answer("", 0.2),
    ("Two laces?", SUMMARY): answer("", 0.0),
}
PRECISION = ((1 + 0.9) / 2 + (0 + 0.1) / 2) / 2
# F1 of "soles" and "soles grip": 2/3.
SCORES = [(2 / 3 + 0.8) / 2, (1 + 0.6) / 2, 0.1, 0.0]
RECALL = sum(SCORES) / 4
TWO = "compare=f1+answerability"


def test_questeval_by_hand(scripted):
    expected = {
        f"questeval-precision:{TWO}": PRECISION,
        f"questeval-recall:{TWO}": RECALL,
        f"questeval:{TWO}": 2 * PRECISION * RECALL / (PRECISION + RECALL),
        f"questeval:{TWO}:combine=mean": (PRECISION + RECALL) / 2,
        "questeval-precision:compare=paper": 0.5,
        "questeval-recall:compare=paper": (0.8 + 0.6 + 0.2) / 4,
        "questeval-recall:compare=f1": (2 / 3 + 1) / 4,
    }
    for spec, value in expected.items():
        metric, parts = scripted(spec, QUESTEVAL)
        examples = [Example(SUMMARY, REVIEWS), Example("They leak.", REVIEWS), Example("", REVIEWS)]
        found = metric.score(examples)
        assert found[0] == pytest.approx(value), spec
        assert found[1] == 0.0  # it raises no question, and answers none
        assert math.isnan(found[2])
        # Whole texts are the contexts of questions, and each is asked once.
        assert {text for text, _, _ in parts["qg"].asked} <= {SUMMARY, SOURCE, "They leak."}
        assert metric.score(examples[:1]) == pytest.approx([value])


def test_questeval_weighs_the_reviews_questions(scripted):
    weights = {
        ("The soles", "The soles?", SOURCE): 0.5, ("Paris", "Paris?", SOURCE): 0.0,
        ("Two", "Two?", SOURCE): 0.25, ("Two laces", "Two laces?", SOURCE): 0.25,
    }  # fmt: skip
    weighed = sum(s * w for s, w in zip(SCORES, [0.5, 0.0, 0.25, 0.25], strict=True))
    metric, _ = scripted(f"questeval-recall:weigher@:{TWO}", QUESTEVAL, weights=weights)
    assert metric.score([Example(SUMMARY, REVIEWS)]) == pytest.approx([weighed])
    assert metric.signature["weights"] == "learnt"
    none, _ = scripted(
        f"questeval-recall:weigher@:{TWO}", QUESTEVAL, weights=dict.fromkeys(weights, 0.0)
    )
    assert none.score([Example(SUMMARY, REVIEWS)]).tolist() == [0.0]
    precision, _ = scripted(f"questeval-precision:weigher@:{TWO}", QUESTEVAL, weights=weights)
    assert precision.score([Example(SUMMARY, REVIEWS)]) == pytest.approx([PRECISION])


def test_questeval_leaves_out_what_its_own_text_does_not_answer(scripted):
    # In the summary "The soles?" comes back with F1 2/3 > 0.6, so it stays; then Paris goes.
    script = QUESTEVAL | {("Paris?", SUMMARY): answer("soles", 0.6)}
    metric, _ = scripted(f"questeval-precision:{TWO}:roundtrip", script)
    assert metric.score([Example(SUMMARY, REVIEWS)]) == pytest.approx([0.95])
    assert metric.signature["filter"] == "roundtrip"


def test_references_are_further_sources(scripted):
    script = QUESTEVAL | {
        ("Paris?", "Paris."): answer("Paris", 1.0),
        ("The soles?", "Paris."): answer("", 0.0),
    }
    example = Example(SUMMARY, REVIEWS, ("Paris.", "They leak."))
    for spec, value in (("", 0.5), (":refs=mean", PRECISION), (":refs=first", 0.5)):
        metric, _ = scripted(f"questeval-precision:{TWO}:against=both{spec}", script)
        # Against the reference: (1 + 1)/2 for Paris, 0 for the soles; nothing from "They leak.".
        assert PRECISION > 0.25
        assert metric.score([example]) == pytest.approx([max(PRECISION, value)])
        assert metric.needs == ("reviews", "reference")
    assert metric.signature["source"] == "joined"
    assert metric.name.startswith("questeval-precision:against=both:compare=")


def test_a_source_that_is_empty_leaves_the_value_of_the_other(scripted):
    script = QUESTEVAL | {
        ("Paris?", "Paris."): answer("Paris", 1.0),
        ("The soles?", "Paris."): answer("", 0.0),
    }
    metric, _ = scripted(f"questeval-precision:{TWO}:against=both", script)
    sources = [(REVIEWS, ("",)), (("",), ("Paris.",)), (("",), (" ",))]
    values = metric.score([Example(SUMMARY, *source) for source in sources])
    assert values == pytest.approx([PRECISION, 0.5, math.nan], nan_ok=True)


def test_qafacteval_by_hand(scripted):
    script = {
        ("The soles?", SUMMARY): answer("soles"),
        ("Paris?", SUMMARY): answer("Paris"),
        ("The soles?", SOURCE): answer("the soles"),
    }
    overlaps = {(SUMMARY, "The soles?", "The soles", "the soles"): 4.5}
    example = Example(SUMMARY, REVIEWS)
    metric, parts = scripted("qafacteval:lerc@", script, overlaps=overlaps)
    # Paris has no answer in the reviews: 0.
    assert metric.score([example]) == pytest.approx([4.5 / 2])
    assert len(parts["lerc"].asked) == 1
    assert metric.score([Example("They leak.", REVIEWS)]).tolist() == [0.0]
    assert math.isnan(metric.score([Example("", REVIEWS)])[0])
    # A question that the summary does not answer as meant is left out.
    astray = script | {("Paris?", SUMMARY): answer("grip")}
    filtered, _ = scripted("qafacteval:lerc@", astray, overlaps=overlaps)
    assert filtered.score([example]) == pytest.approx([4.5])
    kept, _ = scripted("qafacteval:lerc@:unfiltered", astray, overlaps=overlaps)
    assert kept.score([example]) == pytest.approx([4.5 / 2])
    for overlap, value in (("f1", 1.0), ("answered", 1.0)):
        other, _ = scripted(f"qafacteval:overlap={overlap}", script)
        assert other.score([example]) == pytest.approx([value / 2])
        assert other.signature["overlap"] == overlap


def test_questions_come_from_an_answers_sentence(scripted):
    metric, parts = scripted("qafacteval:overlap=f1", {}, written={("In Paris.", 3, 8): ""})
    metric.score([Example("The soles grip. In Paris.", REVIEWS)])
    assert parts["qg"].asked == [("The soles grip.", 0, 9), ("In Paris.", 3, 8)]
    # What was not written is not asked.
    assert [question for question, _ in parts["qa"].asked] == ["The soles?"]


def test_the_writer_sees_an_answer_in_its_place(scripted):
    sentence = "The price of ice is fair."
    for spec, before in (("qafacteval:overlap=f1", ""), (f"questeval:{TWO}", "It leaks. ")):
        metric, parts = scripted(f"{spec}:answers=chunks", {})
        metric.score([Example(f"It leaks. {sentence}", REVIEWS)])
        start = len(before) + sentence.index("ice", 10)
        assert (before + sentence, start, start + 3) in parts["qg"].asked


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("qafacteval", "name LERC's checkpoint with lerc=FOLDER .* or compare .* overlap=f1"),
        ("qafacteval:overlap=f1:lerc@", "lerc= does not apply to overlap=f1"),
        ("qafacteval:overlap=bleu", "overlap=bleu: choose lerc, f1, answered"),
        ("questeval:compare=f2", "compare=f2: choose f1, answerability, bertscore"),
        ("questeval:compare=f1:similarity@", "similarity= does not apply to compare=f1"),
        ("questeval:compare=f1:combine=max", "combine=max: choose f1 or mean"),
        ("questeval:compare=f1:against=both:refs=worst", "refs=worst: choose best, mean, first"),
        ("summaqa-f1:most=0", "most=0: give a number of at least 1"),
        (f"summaqa-f1:most={'9' * 5_000}", "9: give a number of at least 1"),
        ("summaqa-f1:answers=verbs", "answers=verbs: choose chunks, names, words"),
        ("summaqa-f1:against=both", "against=both: choose reference or reviews"),
    ],
)
def test_wrong_options(scripted, spec, message):
    with pytest.raises(ConfigurationError, match=message):
        scripted(spec, {})


@pytest.mark.parametrize(("spec", "key", "name"), [
    ("summaqa-f1", "qa", "bert-large-uncased-whole-word-masking-finetuned-squad"),
    ("questeval:compare=f1", "qg", "ThomasNLG/t5-qg_squad1-en"),
    ("questeval:compare=bertscore", "similarity", "bert-base-multilingual-cased"),
    ("qafacteval:overlap=f1", "qg", "lmqg/bart-large-squad-qg"),
])  # fmt: skip
def test_missing_weights_are_one_line_that_says_how_to_get_them(spec, key, name, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for given in (f"{spec}:{key}=./no/such/folder", f'{spec}:{key}="{name}-not-there"'):
        with pytest.raises(ModelError) as caught:
            get(given)
        assert f"hf download {name} --local-dir FOLDER; then give {key}=FOLDER" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_requests_are_remembered_until_forgotten():
    asked = Scripted("qa", {}, lambda *key: len(key))
    assert asked([("a", "b"), ("c", "d"), ("a", "b")]) == [2, 2, 2]
    assert asked([("c", "d")]) == [2]
    assert asked.asked == [("a", "b"), ("c", "d")]
    asked.forget()
    asked.asked.clear()
    assert asked([("c", "d")]) == [2]
    assert asked.asked == [("c", "d")]
    models.forget()


def window(start, end, *, inside=(False, True, True)):
    offsets = np.array([[0, 0], [0, 4], [5, 9]])
    return SpanLogits(
        np.array(start, np.float32), np.array(end, np.float32), np.array(inside), offsets
    )


def test_answers_by_hand():
    first = window([0.0, math.log(2), 0.0], [0.0, 0.0, math.log(3)])
    found = answer_of([first], "warm feet")
    # Best: tokens 1 to 2, log 2 + log 3 against 0; probabilities 2/4 and 3/5.
    assert (found.text, found.likeliest) == ("warm feet", "warm feet")
    assert found.answerable == pytest.approx(6 / 7)
    assert found.confidence == pytest.approx(0.5 * 0.6)
    # No answer is likelier than every span; the likeliest first token comes after the last.
    none = answer_of([window([9.0, 0.0, 1.0], [9.0, 1.0, 0.0])], "warm feet")
    assert (none.text, none.likeliest) == ("", "")
    assert none.answerable == pytest.approx(1 / (1 + math.exp(18 - 1)))  # 0 + 1: one token
    # The best window counts, for each of the two readings.
    assert answer_of([window([9.0, 0, 1], [9.0, 1, 0]), first], "warm feet") == found
    empty = answer_of([window([1, 1, 1], [1, 1, 1], inside=(False,) * 3)], "")
    assert empty == Answer("", 0.0, "", 0.0)


def test_rows_stream_and_resume(small, tmp_path):
    from click.testing import CliRunner

    from prevalence.cli import main

    products = [
        {"id": f"p{n}", "reviews": [*REVIEWS, word], "summaries": {"a": SUMMARY, "b": word}}
        for n, word in enumerate(("Dry feet in Paris.", "Thin laces."))
    ]
    path, output = tmp_path / "products.jsonl", tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(product) + "\n" for product in products))
    spec = f'summaqa-f1:qa="{small("bert")}",summaqa-probability:qa="{small("bert")}"'
    command = ["baselines", str(path), "-m", spec, "--no-cache", "--output", str(output)]
    assert CliRunner().invoke(main, command).exit_code == 0
    rows = output.read_text().splitlines(keepends=True)
    assert [json.loads(row)["system"] for row in rows] == ["a", "b"] * 2
    output.write_text("".join(rows[:1]))
    again = CliRunner().invoke(main, command)
    assert again.exit_code == 0
    assert output.read_text().splitlines(keepends=True) == rows
