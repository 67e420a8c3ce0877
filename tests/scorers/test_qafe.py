"""Questions and answers: rules by hand, models one text a call, the scorer on scripted ones."""

from __future__ import annotations

import json
import shutil
from collections import Counter

import numpy as np
import pytest

from prevalence.errors import ConfigurationError, ModelError
from prevalence.nli.pairs import PairScorer, TextTable
from prevalence.scorers import qafe
from prevalence.scorers.qafe import (
    QuestionAnswerer,
    QuestionScorer,
    QuestionWriter,
    SpanLogits,
    answer_f1,
    answer_spans,
    best_span,
    filled,
)
from prevalence.scorers.registry import open_scorer

CLAIM = "The soles grip well on wet ground."
REVIEW = "I like the boots. Soles grip on wet ground, and my feet are dry."
LONG = "my feet are dry and the laces come undone " * 14


@pytest.mark.parametrize(("text", "spans"), [
    (CLAIM, ["soles grip well", "wet ground"]), ("It is what it is.", []), ("", []),
    ("Two-year-old laces, laces!", ["Two-year-old laces", "laces"]), ("wet, wet", ["wet"]),
    ("What a hat!", ["hat"]),
])  # fmt: skip
def test_answers_by_hand(text, spans):
    found = answer_spans(text)
    assert [*found] == spans
    assert all(text[start:].startswith(span) for span, start in found.items())


@pytest.mark.parametrize("mark", ["'", "’"])
def test_either_apostrophe_makes_the_same_function_words(mark):
    assert [*answer_spans(f"It{mark}s warm, and don{mark}t wash it.")] == ["warm", "wash"]


def test_no_more_answers_than_asked_for():
    assert len(answer_spans(", ".join("abcdefghijkl"[1:]))) == 8


@pytest.mark.parametrize(("wanted", "given", "f1"), [
    ("the warm boots", "Warm boots!", 1.0), ("warm boots", "boots", 2 / 3), ("warm", "cold", 0.0),
    ("warm", "", 0.0), ("the", "a", 1.0), ("dry dry", "dry", 2 / 3),
])  # fmt: skip
def test_f1_of_answers(wanted, given, f1):
    assert answer_f1(wanted, given) == answer_f1(given, wanted) == pytest.approx(f1)


def test_best_spans_by_hand():
    start = np.array([1.0, 9.0, 0.0, 3.0, 2.0], np.float32)
    end = np.array([0.5, 9.0, 4.0, 1.0, 2.5], np.float32)
    inside = np.array([False, False, True, True, True])
    offsets = np.array([[0, 0], [0, 4], [0, 3], [4, 8], [9, 12]])
    # Tokens 3 to 4: 3 + 2.5, less 1.5 for no answer; 4 to 2 would be 2 + 4, backwards.
    assert best_span(SpanLogits(start, end, inside, offsets)) == (4.0, 4, 12)
    assert best_span(SpanLogits(start, end, inside & False, offsets))[0] == -np.inf


def test_an_answer_is_never_long():
    size = 40
    start, end = np.zeros(size, np.float32), np.zeros(size, np.float32)
    start[1], end[39], end[30] = 5, 5, 4
    offsets = np.stack([np.arange(size), np.arange(size) + 1], axis=1)
    inside = np.arange(size) > 0
    assert best_span(SpanLogits(start, end, inside, offsets)) == (9.0, 1, 31)


class Scripted:
    """Writes and answers from a script, and counts what it was asked."""

    name, digest, dtype = "script@1", b"script", "float32"

    def __init__(self, answers=None):
        self.answers = answers or {}
        self.written, self.answered = [], []

    def write(self, asked):
        self.written += asked
        answers = [context[start:end] for context, start, end in asked]
        return [f"{answer}?" if answer != "wet ground" else "" for answer in answers]

    def answer(self, asked):
        self.answered += asked
        return [self.answers.get((question, context), "") for question, context in asked]


def test_the_scorer_by_hand(asked):
    claim = "Warm boots with thin laces on wet ground."
    script = Scripted({
        ("Warm boots?", claim): "warm boots", ("thin laces?", claim): "boots",  # filtered out
        ("Warm boots?", "p"): "boots", ("Warm boots?", "q"): "the warm boots",
        ("thin laces?", "p"): "thin laces",
    })  # fmt: skip
    seen = []
    pairs = [("p", claim), ("q", claim), ("p", "It is.")]
    scores = asked(QuestionScorer(script, script), *pairs, progress=seen.append)
    # "wet ground" got no question; only "Warm boots?" comes back as meant.
    assert scores.entailment.tolist() == pytest.approx([2 / 3, 1.0, 0.0])
    assert sum(seen) == 3
    assert not any(count > 1 for count in Counter(script.written).values())
    free = QuestionScorer(script, script, filtered=False)
    assert asked(free, pairs[0]).entailment == pytest.approx([(2 / 3 + 1) / 2])
    assert free.traits.digest != QuestionScorer(script, script).traits.digest


@pytest.fixture
def writer(tiny):
    return QuestionWriter(str(tiny("seq2seq")), beams=2, device="cpu")


@pytest.fixture
def answerer(tiny):
    return QuestionAnswerer(str(tiny("answerer")), device="cpu")


@pytest.mark.parity
def test_questions_do_not_depend_on_their_neighbours(writer, tiny):
    import torch
    from transformers import AutoTokenizer, BartForConditionalGeneration

    asked = [("The soles grip well on wet ground.", 4, 9), ("My feet are dry.", 3, 7),
             (LONG, 24, 29)]  # fmt: skip
    assert [text[start:end] for text, start, end in asked] == ["soles", "feet", "laces"]
    folder = tiny("seq2seq")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = BartForConditionalGeneration.from_pretrained(folder).eval()
    expected = []
    for context, start, end in asked:
        answer = context[start:end]
        inputs = tokenizer(f"answer: {answer} context: {context}", truncation=True, max_length=64,
                           return_tensors="pt", return_token_type_ids=False)  # fmt: skip
        with torch.inference_mode():
            ids = model.generate(**inputs, num_beams=2, do_sample=False, max_new_tokens=48)
        expected.append(tokenizer.decode(ids[0], skip_special_tokens=True).strip())
    assert writer.write(asked) == expected
    assert len(set(expected)) > 1


@pytest.mark.parity
def test_answers_of_short_contexts_equal_single_calls(answerer, tiny):
    import torch
    from transformers import AutoTokenizer, BertForQuestionAnswering

    folder = tiny("answerer")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = BertForQuestionAnswering.from_pretrained(folder).eval()
    asked = [(f"what {word} ?", REVIEW) for word in ("boots", "feet", "snow", "grip", "laces")]
    asked += [("who ?", "dry"), ("who ?", "")]
    expected = []
    for question, context in asked:
        inputs = tokenizer(question, context, return_tensors="pt", return_offsets_mapping=True)
        spans = inputs.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            found = model(**inputs)
        start, end = found.start_logits[0].tolist(), found.end_logits[0].tolist()
        inside = [i for i, side in enumerate(inputs.sequence_ids(0)) if side == 1]
        options = [(start[i] + end[j], i, j) for i in inside for j in inside if 0 <= j - i < 30]
        best = max(options, default=None)
        none = best is None or best[0] <= start[0] + end[0]
        expected.append("" if none else context[spans[best[1]][0] : spans[best[2]][1]])
    assert answerer.answer(asked) == expected
    assert any(expected)


def test_a_long_context_is_read_in_windows(answerer, monkeypatch):
    windows = []

    def all_of_it(window):
        """As an answer the whole window, and the better the further on it ends."""
        windows.append(window)
        inside = window.offsets[window.context]
        return float(inside.max()), int(inside.min()), int(inside.max())

    with monkeypatch.context() as patch:
        patch.setattr(qafe, "best_span", all_of_it)
        last, short = answerer.answer([("who ?", LONG), ("who ?", "dry")])
    # Windows that were another question's would give it other answers.
    assert short == "dry"
    assert LONG.rstrip().endswith(last)
    assert len(last) < len(LONG) / 2
    of_long = [window for window in windows if window.offsets[window.context].max() > len("dry")]
    assert len(windows) == len(of_long) + 1 > 3
    read = {int(place) for window in of_long for place in window.offsets[window.context][:, 0]}
    assert {LONG.find("undone"), LONG.rfind("undone")} <= read
    assert max(len(window.start) for window in windows) <= 64
    assert isinstance(answerer.answer([("what " * 80, LONG)])[0], str)


def test_marks_in_a_review_are_no_tokens(answerer, writer):
    marked = "The soles [SEP] grip well on wet ground."
    plain = marked.replace("[SEP]", "     ")
    for question in ("what grip ?", "what [SEP] grip ?"):
        first, second = answerer.windows([(question, marked), ("what   grip ?", plain)])
        found, expected = first[0], second[0]
        np.testing.assert_array_equal(
            found.offsets[found.context], expected.offsets[expected.context]
        )
        np.testing.assert_allclose(found.start, expected.start, atol=1e-5)
    assert writer.write([(marked, 4, 9)]) == writer.write([(plain, 4, 9)])


def test_end_to_end(tiny, answerer, asked, tmp_path):
    name = f"qafe:qg={tiny('seq2seq')},qa={tiny('answerer')},unfiltered"
    scorer = open_scorer(name, device="cpu", cache=tmp_path, threshold=0.2)
    assert isinstance(scorer, PairScorer)
    assert (scorer.traits.threshold, scorer.traits.signature["consistency"]) == (0.2, "qafe")
    scores = asked(scorer, (REVIEW, CLAIM), (CLAIM, REVIEW), (LONG, CLAIM))
    assert ((scores.entailment >= 0) & (scores.entailment <= 1)).all()
    (inner,) = scorer.inners
    texts = TextTable()
    claim = texts.add(CLAIM)
    questions = inner.questions(texts, np.array([claim]))[claim]
    assert questions  # the untrained model may write nothing for some answers
    assert {question.answer for question in questions} <= set(answer_spans(CLAIM))
    answers = answerer.answer([(question.text, REVIEW) for question in questions])
    expected = np.mean([answer_f1(q.answer, a) for q, a in zip(questions, answers, strict=True)])
    assert scores.entailment[0] == pytest.approx(expected, abs=1e-6)


def test_a_folder_states_its_template(tiny, tmp_path, monkeypatch):
    from transformers import PreTrainedTokenizerBase

    folder = shutil.copytree(tiny("seq2seq"), tmp_path / "writer")
    usual = QuestionWriter(str(folder), device="cpu").digest
    stated = folder / "question_generation.json"
    stated.write_text(json.dumps({"template": "{context} | {answer}"}))
    writer = QuestionWriter(str(folder), device="cpu")
    read, usual = [], PreTrainedTokenizerBase.__call__

    def noted(tokenizer, text, **options):
        read.append(text)
        return usual(tokenizer, text, **options)

    with monkeypatch.context() as patch:
        patch.setattr(PreTrainedTokenizerBase, "__call__", noted)
        writer.write([("c {context}", 2, 11)])
    assert read == ["c {context} | {context}"]
    assert writer.digest != usual
    for text, said in (('{"template": "{answer}"}', "once each"), ("[]", "no JSON object")):
        stated.write_text(text)
        with pytest.raises(ModelError, match=said):
            QuestionWriter(str(folder), device="cpu")


def test_an_answer_is_marked_in_its_place(tiny, tmp_path, asked, monkeypatch):
    folder = shutil.copytree(tiny("seq2seq"), tmp_path / "writer")
    stated = {"template": "{before}<hl> {answer} <hl>{after}"}
    (folder / "question_generation.json").write_text(json.dumps(stated))
    writer, read = QuestionWriter(str(folder), device="cpu"), []

    def shown(template, texts):
        read.append(filled(template, texts))
        return read[-1]

    monkeypatch.setattr("prevalence.scorers.qafe.filled", shown)
    scorer = QuestionScorer(writer, Scripted(), filtered=False)
    asked(scorer, ("p", "The price of ice is fair."))
    assert read == [
        "The <hl> price <hl> of ice is fair.", "The price of <hl> ice <hl> is fair.",
        "The price of ice is <hl> fair <hl>.",
    ]  # fmt: skip


def test_half_precision_is_refused():
    half = Scripted()
    half.dtype = "bfloat16"
    for models in ((half, Scripted()), (Scripted(), half)):
        with pytest.raises(ConfigurationError, match="qafe needs float32"):
            QuestionScorer(*models)
