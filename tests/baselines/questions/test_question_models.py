"""Metrics on small networks beside plain loops: one question a call, equations written out anew."""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter

import numpy as np
import pytest
import torch
import transformers as hf
from safetensors.numpy import load_file, save_file

from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.neural.runner import Runner
from prevalence.baselines.questions.models import (
    Overlap,
    SpanAnswers,
    Weigher,
    WrittenAnswers,
    forget,
    open_answers,
)
from prevalence.errors import ModelError

SUMMARY = "The soles grip in Paris."
REVIEWS = ("My feet are dry in Paris.", "Two laces leak.")
SOURCE = "My feet are dry in Paris. Two laces leak."
OF_SUMMARY = ["The soles", "Paris"]
OF_SOURCE = ["My feet", "Paris", "Two", "Two laces"]
LONG = Example(
    "Thin laces come undone.", ("My feet are dry in deep snow. " * 20 + "I like Paris.",)
)

pytestmark = pytest.mark.parity


def squad_f1(first, second):
    """F1 of words as SQuAD counts them, a word at a time."""
    bags = []
    for text in (first, second):
        bare = re.sub(r"[!-/:-@\\[-`{-~]", "", text.lower())
        bags.append([word for word in bare.split() if word not in ("a", "an", "the")])
    left, right = bags
    if not left or not right:
        return float(left == right)
    shared = sum(min(left.count(word), right.count(word)) for word in Counter(left))
    if not shared:
        return 0.0
    precision, recall = shared / len(left), shared / len(right)
    return 2 * precision * recall / (precision + recall)


def opened(folder, kind):
    network = getattr(hf, kind).from_pretrained(folder, dtype=torch.float32).eval()
    return hf.AutoTokenizer.from_pretrained(folder), network


def plain_span(folder, kind, question, context):
    """The answer if there is one, the probability that there is, and SummaQA's pair of peaks."""
    tokenizer, network = opened(folder, kind)
    inputs = tokenizer(question, context, return_tensors="pt", return_offsets_mapping=True)
    spans = inputs.pop("offset_mapping")[0].tolist()
    with torch.inference_mode():
        found = network(**inputs)
    start, end = found.start_logits[0].double(), found.end_logits[0].double()
    inside = [place for place, side in enumerate(inputs.sequence_ids(0)) if side == 1]
    best = max((float(start[i] + end[j]), i, j) for i in inside for j in inside if 0 <= j - i < 30)
    margin = best[0] - float(start[0] + end[0])
    text = context[spans[best[1]][0] : spans[best[2]][1]] if margin > 0 else ""
    start, end = start.softmax(0), end.softmax(0)
    first, last = (max(inside, key=lambda place: peaks[place]) for peaks in (start, end))
    likeliest = context[spans[first][0] : spans[last][1]]
    return text, 1 / (1 + math.exp(-margin)), likeliest, float(start[first] * end[last])


def plain_written(folder, text, most):
    """What is written, a token at a time, its probability, and the chances of the first token."""
    tokenizer, network = opened(folder, "T5ForConditionalGeneration")
    ids = tokenizer(text, truncation=True, return_tensors="pt", return_token_type_ids=False)
    written, chance, chances = [network.config.decoder_start_token_id], 1.0, None
    while len(written) <= most:
        with torch.inference_mode():
            logits = network(**ids, decoder_input_ids=torch.tensor([written])).logits[0, -1]
        probabilities = logits.double().softmax(-1)
        chances = probabilities if chances is None else chances
        written.append(int(probabilities.argmax()))
        chance *= float(probabilities[written[-1]])
        if written[-1] == network.config.eos_token_id:
            break
    return tokenizer.decode(written, skip_special_tokens=True).strip(), chance, chances


def first_token(folder, word):
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    return tokenizer(word, add_special_tokens=False)["input_ids"][0]


def plain_bertscore(folder, wanted, given):
    if not given:
        return 0.0
    tokenizer, network = opened(folder, "BertModel")
    units = []
    for text in (wanted, given):
        with torch.inference_mode():
            table = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].double()
        units.append(table / table.norm(dim=1, keepdim=True))
    similarity = units[1] @ units[0].T
    # Special tokens may be matched, and do not count themselves.
    precision = float(similarity[1:-1].max(1).values.mean())
    recall = float(similarity[:, 1:-1].max(0).values.mean())
    return min(max(2 * precision * recall / (precision + recall), 0.0), 1.0)


@pytest.mark.parametrize("budget", [1, None])
def test_summaqa_is_a_plain_loops(small, budget):
    folder = small("bert")
    questions = [("My feet are dry in MASKED.", "Paris"), ("MASKED laces leak.", "Two")]
    found = [plain_span(folder, "BertForQuestionAnswering", q, SUMMARY) for q, _ in questions]
    f1 = [squad_f1(wanted, row[2]) for (_, wanted), row in zip(questions, found, strict=True)]
    runtime = Runtime(batch_tokens=budget)
    examples = [Example(SUMMARY, REVIEWS), LONG]
    for name, values in (("f1", f1), ("probability", [row[3] for row in found])):
        metric = get(f"summaqa-{name}", qa=str(folder), runtime=runtime)
        together = metric.score(examples)
        assert together[0] == pytest.approx(np.mean(values), abs=1e-5)
        assert np.isfinite(together).all()


def test_questeval_is_a_plain_loops(small):
    t5, encoder = small("t5"), small("encoder")
    none = first_token(t5, "unanswerable")

    def score(wanted, text, read):
        """The mean of the three, and the weight of the question."""
        question = plain_written(t5, f"{wanted} </s> {text}", 48)[0]
        if not question:
            return None
        given, _, chances = plain_written(t5, f"{question} </s> {read}", 32)
        mean = np.mean([squad_f1(wanted, given), 1 - float(chances[none]),
                        plain_bertscore(encoder, wanted, given)])  # fmt: skip
        true = plain_written(t5, f"{wanted} </s> {question} </s> {text}", 1)[2]
        return mean, float(true[first_token(t5, "true")])

    def scores(spans, text, read):
        return [row for span in spans if (row := score(span, text, read)) is not None]

    precision = np.mean([value for value, _ in scores(OF_SUMMARY, SUMMARY, SOURCE)])
    weighed = scores(OF_SOURCE, SOURCE, SUMMARY)
    recall = sum(v * w for v, w in weighed) / sum(w for _, w in weighed)
    parts = {"qg": str(t5), "qa": str(t5), "weigher": str(t5), "similarity": str(encoder)}
    for name, value in (("-precision", precision), ("-recall", recall),
                        ("", 2 * precision * recall / (precision + recall))):  # fmt: skip
        metric = get(f"questeval{name}", **parts)
        examples = [Example(SUMMARY, REVIEWS), Example("I like Paris.", REVIEWS)]
        assert metric.score(examples)[0] == pytest.approx(value, abs=1e-5)
    assert set(metric.signature) >= {"qg", "qa", "weigher", "similarity", "compare", "source"}


def test_qafacteval_is_a_plain_loops(small):
    bart, electra, lerc = small("bart"), small("electra"), small("lerc")
    tokenizer, writer = opened(bart, "BartForConditionalGeneration")
    texts, regression = opened(lerc, "BertForSequenceClassification")
    values = []
    for marked, wanted in (("<hl> The soles <hl> grip in Paris.", "The soles"),
                           ("The soles grip in <hl> Paris <hl>.", "Paris")):  # fmt: skip
        inputs = tokenizer(marked, return_tensors="pt", return_token_type_ids=False)
        ids = writer.generate(**inputs, num_beams=4, do_sample=False, max_new_tokens=48)
        question = tokenizer.decode(ids[0], skip_special_tokens=True).strip()
        if not question:
            continue
        given = plain_span(electra, "ElectraForQuestionAnswering", question, SOURCE)[0]
        if not given:
            values.append(0.0)
            continue
        parts = [texts(text, add_special_tokens=False)["input_ids"]
                 for text in (SUMMARY, question, wanted, given)]  # fmt: skip
        ids = [2] + [token for part in parts for token in (*part, 3)]
        segments = [0] * (len(parts[0]) + 2)
        segments += [1] * (len(ids) - len(segments))
        with torch.inference_mode():
            values.append(
                float(
                    regression(torch.tensor([ids]), token_type_ids=torch.tensor([segments])).logits
                )
            )
    metric = get("qafacteval:unfiltered", qg=str(bart), qa=str(electra), lerc=str(lerc))
    assert any(values)
    assert metric.score([Example(SUMMARY, REVIEWS)])[0] == pytest.approx(np.mean(values), abs=1e-5)


def test_answers_in_words_are_a_plain_loops(small):
    t5 = small("t5")
    asked = [("who ?", "my feet are dry"), ("laces", "they run small"), ("did", "dry " * 200)]
    answers = WrittenAnswers(str(t5), Runtime())
    none = first_token(t5, "unanswerable")
    for pair, found in zip(asked, answers(asked), strict=True):
        text, chance, chances = plain_written(t5, f"{pair[0]} </s> {pair[1]}", 32)
        assert found.text == found.likeliest == text
        assert found.answerable == pytest.approx(1 - float(chances[none]), abs=1e-6)
        assert found.confidence == pytest.approx(chance, rel=1e-3)
    assert answers.truncated == 1


def test_the_chance_of_an_answer_is_read_behind_a_forced_token(small, tmp_path):
    folder = tmp_path / "bart"
    shutil.copytree(small("bart"), folder)
    tokenizer, network = opened(folder, "BartForConditionalGeneration")
    network.generation_config.forced_bos_token_id = network.config.bos_token_id
    network.generation_config.save_pretrained(folder)
    begun = torch.tensor([[network.config.decoder_start_token_id, network.config.bos_token_id]])
    ids = tokenizer("who ? </s> my feet are dry", return_tensors="pt", return_token_type_ids=False)
    with torch.inference_mode():
        chances = network(**ids, decoder_input_ids=begun).logits[0, -1].double().softmax(-1)
    (found,) = WrittenAnswers(str(folder), Runtime())([("who ?", "my feet are dry")])
    wanted = 1 - float(chances[first_token(folder, "unanswerable")])
    assert found.answerable == pytest.approx(wanted, abs=1e-7)
    assert found.answerable < 1


def test_one_set_of_checkpoints_serves_all_three(small):
    parts = {"qg": str(small("t5")), "qa": str(small("electra"))}
    specs = ("summaqa-f1", "questeval:compare=f1+answerability", "qafacteval:overlap=f1")
    for spec in specs:
        options = {"qa": parts["qa"]} if spec.startswith("summaqa") else parts
        metric = get(spec, most="2", **options)
        long = Example("Thin laces come undone. " * 40, LONG.reviews)
        alone = np.array([metric.score([each])[0] for each in (Example(SUMMARY, REVIEWS), long)])
        assert ((alone >= 0.0) & (alone <= 1.0)).all()
        forget()
        together = metric.score([long, Example("", REVIEWS), Example(SUMMARY, REVIEWS)])
        np.testing.assert_allclose(together[[2, 0]], alone, atol=1e-5)
        assert np.isnan(together[1])
    shared = open_answers(parts["qa"], Runtime())
    assert open_answers(parts["qa"], Runtime()) is shared
    assert type(shared).__name__ == "SpanAnswers"


def test_comparisons_that_do_not_fit_are_cut_and_counted(small):
    overlap = Overlap(str(small("lerc")), Runtime())
    scores = overlap([("dry " * 300, "who ?", "laces", "feet"), ("dry", "who " * 130, "a", "i")])
    assert np.isfinite(scores).all()
    assert overlap.truncated == 2
    assert overlap([("dry", "who ?", "laces", "feet")])
    assert overlap.truncated == 2


def test_a_long_question_is_cut_around_its_gap_and_counted(small):
    answers = SpanAnswers(str(small("bert")), Runtime())
    # A third of 128 tokens is kept: 42 words.
    cuts = {
        "boots " * 100 + "and in MASKED .": "boots " * 38 + "and in MASKED .",
        "boots " * 100 + "MASKED " + "laces " * 100: "boots " * 21 + "MASKED " + "laces " * 20,
        "MASKED boots " + "laces " * 100: "MASKED boots " + "laces " * 40,
        "who " + "boots " * 100: "who " + "boots " * 41,
    }
    for whole, part in cuts.items():
        first, second = answers([(whole, SUMMARY), (part, SUMMARY)])
        assert (first.text, first.likeliest) == (second.text, second.likeliest)
        assert first.confidence == pytest.approx(second.confidence, rel=1e-5)
    assert answers.truncated == 4
    answers([("boots " * 64, SUMMARY)])
    assert answers.truncated == 4


@pytest.mark.parametrize(
    ("kind", "part", "texts"),
    [
        (
            WrittenAnswers,
            "t5",
            [("who ? </s>", "my [PAD] feet </s> dry"), ("who ?", "my feet dry")],
        ),
        (Weigher, "t5", [("dry </s>", "who ?", "[SEP] my feet"), ("dry", "who ?", "my feet")]),
        (Overlap, "lerc", [("dry [SEP] who", "i", "[CLS] up", "a"), ("dry who", "i", "up", "a")]),
    ],
)
def test_special_tokens_in_a_text_are_left_out(small, monkeypatch, kind, part, texts):
    read = []
    padded = Runner.padded

    def seen(self, rows, **more):
        read.append([row.tolist() for row in rows])
        return padded(self, rows, **more)

    monkeypatch.setattr(Runner, "padded", seen)
    kind(str(small(part)), Runtime())(texts)
    assert read
    assert all(first == second for first, second in read)


def broken(folder, tmp_path):
    """A copy of a checkpoint whose weights are no numbers."""
    copied = shutil.copytree(folder, tmp_path / "broken")
    weights = load_file(copied / "model.safetensors")
    empty = {key: np.full_like(weight, np.nan) for key, weight in weights.items()}
    save_file(empty, copied / "model.safetensors", metadata={"format": "pt"})
    return str(copied)


@pytest.mark.parametrize("name", ["f1", "probability"])
@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_an_answerer_that_gives_no_number_is_one_line(small, tmp_path, kind, name):
    folder = broken(small(kind), tmp_path)
    for dtype, end in (("float32", "texts$"), ("bfloat16", "texts; try .*float32")):
        metric = get(f"summaqa-{name}", qa=folder, runtime=Runtime(dtype=dtype))
        with pytest.raises(ModelError, match=f"it gave no number for some {end}"):
            metric.score([Example(SUMMARY, REVIEWS)])


@pytest.mark.parametrize(
    ("kind", "part", "asked"),
    [(Weigher, "t5", ("dry", "who ?", "my feet")), (Overlap, "lerc", ("dry", "who", "up", "a"))],
)
def test_other_parts_that_give_no_number_are_one_line(small, tmp_path, kind, part, asked):
    with pytest.raises(ModelError, match=r"it gave no number for some texts$"):
        kind(broken(small(part), tmp_path), Runtime())([asked])


def test_wrong_models_are_refused(small):
    with pytest.raises(ModelError, match=r"cannot be loaded|not a model"):
        get("summaqa-f1", qa=str(small("encoder")))
    with pytest.raises(ModelError, match="it has 2 outputs; LERC is a regression with one"):
        Overlap(str(two_outputs(small)), Runtime())


def two_outputs(small):
    folder = small("lerc").parent / "two"
    tokenizer, network = opened(small("lerc"), "BertForSequenceClassification")
    config = network.config
    config.num_labels = 2
    hf.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
