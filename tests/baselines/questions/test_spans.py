"""What is worth a question: rules by hand, and a tagger beside a plain loop."""

from __future__ import annotations

import re
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.questions import spans
from prevalence.baselines.questions.spans import RULES, SpanFinder, chunks
from prevalence.claims.english import Token
from prevalence.errors import ConfigurationError, ModelError

TEXT = "My feet are dry in Paris. I bought 2 pairs of North Face boots in 2019."


def found(rules, text, **options):
    finder = SpanFinder(rules, **{"tagger": None, "most": None, "runtime": Runtime()} | options)
    return [span.text for span in finder([text])[0]]


@pytest.mark.parametrize(
    ("rules", "text", "spans"),
    [
        ("names", TEXT, ["Paris", "2", "North Face", "2019"]),
        ("chunks", "The soles grip well in Paris.", ["The soles", "Paris"]),
        ("words", "Warm boots kept it dry, dry.", ["Warm boots kept", "dry", "dry"]),
        ("words", "What a hat!", ["hat"]),
        ("names+chunks", "I like the Hilton.", ["the Hilton", "Hilton"]),
        ("chunks+names", "We saw Paris.", ["Paris"]),  # one place, found twice
        ("names", "Boots leak. It leaks.", []),
        ("names", "North Face leaks.", ["North Face"]),
        ("chunks", "It is what it is.", []),
        ("chunks", "", []),
    ],
)
def test_spans_by_hand(rules, text, spans):
    assert found(rules, text) == spans


def test_the_first_ones_alone():
    assert found("names", TEXT, most=2) == ["Paris", "2"]


@given(st.text(max_size=60))
def test_places_hold_their_text(text):
    finder = SpanFinder("+".join(RULES), tagger=None, most=None, runtime=Runtime())
    (spans,) = finder([text])
    for span in spans:
        assert span.text
        assert span.sentence.text[span.start : span.end] == span.text
        assert text[span.sentence.start : span.sentence.end] == span.sentence.text


TAGS = {"d": "det", "n": "num", "a": "adj", "g": "ing", "N": "noun", "-": "verb"}


def chunks_of_tags(letters):
    """Places of noun phrases among words of one letter each with these tags."""
    tokens = [Token(tag, tag, at, at + 1, TAGS[tag]) for at, tag in enumerate(letters)]
    with mock.patch.object(spans, "tagged", return_value=tokens):
        return chunks(letters)


@given(st.text("dnagN-", max_size=14))
def test_noun_phrases_are_those_of_the_plain_pattern(letters):
    plain = re.finditer("(?:d[na]*g)?d?[na]*N+", letters)
    assert chunks_of_tags(letters) == [found.span() for found in plain]


@pytest.mark.parametrize("run", ["a", "na", "dag"])
def test_long_runs_without_a_noun_come_to_an_end(run):
    # In time that grows with the square of the length, the first would take a quarter of an hour.
    letters = "d" + run * (100_000 // len(run))
    assert chunks_of_tags(letters + "-dN") == [(len(letters) + 1, len(letters) + 3)]


def test_wrong_options():
    with pytest.raises(ConfigurationError, match="answers=nouns: choose chunks, names, words"):
        found("nouns", TEXT)
    with pytest.raises(ConfigurationError, match="tagger= finds names, and answers=chunks asks"):
        found("chunks", TEXT, tagger="some-tagger")


@pytest.mark.parity
def test_a_tagger_finds_names(small):
    import torch
    import transformers as hf

    folder = small("tagger")
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    network = hf.BertForTokenClassification.from_pretrained(folder, dtype=torch.float32).eval()
    expected = []
    sentences = ["My feet are dry in Paris.", "I bought 2 pairs of North Face boots in 2019."]
    for sentence in sentences:
        encoded = tokenizer(sentence, return_tensors="pt", return_offsets_mapping=True)
        offsets, words = encoded.pop("offset_mapping")[0].tolist(), encoded.word_ids()
        with torch.inference_mode():
            best = network(**encoded).logits[0].argmax(-1).tolist()
        spans, kind = [], None
        for place, word in enumerate(words):
            if word is None:
                continue
            if word == words[place - 1]:  # a later piece of a word goes where the first went
                if kind is not None:
                    spans[-1][1] = offsets[place][1]
                continue
            label = network.config.id2label[best[place]]
            if label == "O":
                kind = None
            elif label.startswith("I-") and kind == label[2:]:
                spans[-1][1] = offsets[place][1]
            else:
                spans.append(list(offsets[place]))
                kind = label[2:]
        expected += [sentence[start:end] for start, end in spans]
    assert found("names", " ".join(sentences), tagger=str(folder)) == expected
    assert 0 < len(expected) < 18


def test_a_tagger_without_an_outside_is_refused(small, tmp_path):
    import shutil

    folder = shutil.copytree(small("tagger"), tmp_path / "tagger")
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"O"', '"NONE"'))
    with pytest.raises(ModelError, match=r"labels are NONE, B-PER, I-PER, B-LOC, and none is O"):
        found("names", TEXT, tagger=str(folder))


def test_sentences_that_a_tagger_does_not_read_to_their_end_are_counted(small):
    metric = get("summaqa-f1", qa=str(small("bert")), tagger=str(small("tagger")))
    metric.score([Example("Dry boots.", ("They run small.",))])
    assert metric.truncated == 0
    metric.score([Example("Dry boots.", ("dry " * 200,))])
    finder = SpanFinder("names", tagger=str(small("tagger")), most=None, runtime=Runtime())
    (found,) = finder(["dry " * 200])
    assert finder.truncated == 1
    assert all(span.end < 4 * 128 for span in found)
    # Each question with this sentence is cut as well.
    assert metric.truncated == 1 + len(found)
