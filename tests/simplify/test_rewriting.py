"""Rewriting: against a loop of one sentence and one sample, in any batch and order."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
import torch

from prevalence.errors import BackendError, ConfigurationError, ModelError
from prevalence.llm.nucleus import nucleus_choice, uniforms
from prevalence.simplify.checkpoint import load_seq_to_seq
from prevalence.simplify.rewriting import RewriteOptions, Simplifier, most_sentences
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from pathlib import Path

SENTENCES = (
    "It fits.", "It leaks and it is cold.", "It fits and it is warm and it leaks.", "Warm.",
    "It is cold.",
)  # fmt: skip
OPTIONS = RewriteOptions(samples=3, max_length=20, prefix="hypothesis: ", seed=5)


@pytest.fixture(scope="module")
def checkpoint(tiny_t5: Path):
    return load_seq_to_seq(tiny_t5, device="cpu")


def one_by_one(checkpoint, sentence, options):
    """Every sample alone: no batch, no padding, no cache, no library search."""
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    ids = tokenizer(options.prefix + sentence, return_tensors="pt")["input_ids"]
    numbers = uniforms(sentence, samples=options.samples, steps=options.max_length,
                       seed=options.seed)  # fmt: skip
    texts = []
    for row in numbers:
        written = [0]
        for number in row:
            with torch.inference_mode():
                logits = model(input_ids=ids, decoder_input_ids=torch.tensor([written])).logits
            drawn = nucleus_choice(logits[:, -1], torch.tensor([number]), options.p)
            written.append(int(drawn))
            if written[-1] == 1:
                break
        texts.append(tokenizer.decode(written, skip_special_tokens=True).strip())
    place = most_sentences(texts, get_splitter())
    return sentence if place is None else texts[place]


def test_rewriting_equals_a_loop_over_single_samples(checkpoint):
    expected = [one_by_one(checkpoint, sentence, OPTIONS) for sentence in SENTENCES]
    assert Simplifier(checkpoint, OPTIONS).rewrite(SENTENCES) == expected
    assert len(set(expected)) == len(SENTENCES)


@pytest.mark.parametrize("batch_size", [1, 2, 16])
def test_a_rewriting_depends_on_neither_batch_nor_order(checkpoint, batch_size):
    whole = dict(zip(SENTENCES, Simplifier(checkpoint, OPTIONS).rewrite(SENTENCES), strict=True))
    options = RewriteOptions(samples=3, max_length=20, prefix="hypothesis: ", seed=5,
                             batch_size=batch_size)  # fmt: skip
    mixed = [SENTENCES[3], SENTENCES[0], SENTENCES[3], SENTENCES[2]]
    assert Simplifier(checkpoint, options).rewrite(mixed) == [whole[text] for text in mixed]


def test_other_seeds_and_prefixes_give_other_texts(checkpoint):
    first = Simplifier(checkpoint, OPTIONS)
    for other in (
        RewriteOptions(samples=3, max_length=20, prefix="hypothesis: ", seed=6),
        RewriteOptions(samples=3, max_length=20, prefix="", seed=5),
    ):
        second = Simplifier(checkpoint, other)
        assert second.rewrite(SENTENCES) != first.rewrite(SENTENCES)
        assert second.signature != first.signature


def sentences_of(given):
    """How many sentences a call of the model writes for; each has several samples."""
    return len(given["attention_mask"]) // OPTIONS.samples


def test_equal_sentences_are_rewritten_once(checkpoint, monkeypatch):
    simplifier = Simplifier(checkpoint, OPTIONS)
    usual, written = checkpoint.model.generate, []
    monkeypatch.setattr(
        checkpoint.model, "generate",
        lambda **given: written.append(sentences_of(given)) or usual(**given),
    )  # fmt: skip
    done = []
    simplifier.rewrite([*SENTENCES, *SENTENCES], progress=done.append)
    simplifier.rewrite(SENTENCES, progress=done.append)
    assert sum(written) == len(SENTENCES)
    assert sum(done) == simplifier.counts.sentences == len(SENTENCES)


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError(), RuntimeError("[enforce fail] can't allocate memory")]
)
def test_out_of_memory_halves_the_batch_to_the_same_end(checkpoint, monkeypatch, error):
    expected = Simplifier(checkpoint, OPTIONS).rewrite(SENTENCES)
    usual, sizes = checkpoint.model.generate, []

    def small(**given):
        sizes.append(sentences_of(given))
        if sizes[-1] > limit:
            raise error
        return usual(**given)

    monkeypatch.setattr(checkpoint.model, "generate", small)
    limit = 2
    assert Simplifier(checkpoint, OPTIONS).rewrite(SENTENCES) == expected
    assert sizes[:3] == [5, 3, 2]
    limit = 0
    with pytest.raises(BackendError, match="one sentence with 3 samples does not fit"):
        Simplifier(checkpoint, OPTIONS).rewrite(SENTENCES)


def test_a_sentence_above_the_limit_stays_as_it_is(checkpoint):
    options = RewriteOptions(samples=2, max_length=8, prefix="")
    simplifier = Simplifier(checkpoint, options)
    long = "It fits and it is warm and it leaks and it is cold."
    found = simplifier.rewrite([long, "It fits."])
    assert found[0] == long
    assert found[1] != "It fits."
    assert (simplifier.counts.too_long, simplifier.counts.changed) == (1, 1)


def test_marks_in_a_review_are_no_tokens(checkpoint, monkeypatch):
    read, usual = [], checkpoint.model.generate

    def noted(**given):
        read.append(given["attention_mask"].sum(1).tolist()[0])
        return usual(**given)

    monkeypatch.setattr(checkpoint.model, "generate", noted)
    simplifier = Simplifier(checkpoint, OPTIONS)
    for text in ("It fits. </s>It leaks. <pad>", "It fits.  It leaks.  "):
        simplifier.rewrite([text])
    assert read[0] == read[1]


def test_what_is_chosen_of_the_candidates():
    split = get_splitter()
    two, other_two = "It fits. It is warm.", "It leaks. It is cold."
    assert most_sentences(["It fits.", two, other_two], split) == 1
    assert most_sentences(["", "It fits."], split) == 1
    assert most_sentences(["", " "], split) is None
    assert most_sentences([], split) is None


def test_a_sentence_stays_when_every_sample_is_empty(checkpoint, monkeypatch):
    monkeypatch.setattr(
        checkpoint.tokenizer, "batch_decode", lambda rows, **_options: [" "] * len(rows)
    )
    simplifier = Simplifier(checkpoint, OPTIONS)
    assert simplifier.rewrite(["It fits."]) == ["It fits."]
    assert simplifier.counts.empty == 1


def test_the_signature_names_what_can_change_a_text(checkpoint, tiny_t5: Path):
    signature = Simplifier(checkpoint, OPTIONS).signature
    assert signature.startswith(f"simplify|seq2seq:{tiny_t5.name}@")
    assert "|prefix:hypothesis%3A%20|samples:3|p:0.9|len:20|split:punkt-en|" in signature
    assert "|dtype:float32|seed:5|v:" in signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples must be positive"),
        ({"batch_size": 0}, "batch size must be positive"),
        ({"max_length": 0}, "length limit must be positive"),
        ({"p": 0.0}, r"in \(0, 1\], not 0.0"),
        ({"p": 1.5}, r"in \(0, 1\], not 1.5"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigurationError, match=message):
        RewriteOptions(**options)


def test_a_limit_above_the_models_own_is_refused(checkpoint):
    with pytest.raises(ConfigurationError, match="above the 64 tokens"):
        Simplifier(checkpoint, RewriteOptions(max_length=65))


def test_unusable_folders_are_named(tiny_t5: Path, tmp_path: Path):
    with pytest.raises(ModelError, match="no such folder"):
        load_seq_to_seq(tmp_path / "nothing")
    pickled = tmp_path / "pickled"
    shutil.copytree(tiny_t5, pickled, ignore=shutil.ignore_patterns("*.safetensors"))
    (pickled / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(ModelError, match="Pickled weights are never loaded"):
        load_seq_to_seq(pickled)
    decoder = tmp_path / "decoder"
    shutil.copytree(tiny_t5, decoder)
    (decoder / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    with pytest.raises(ModelError, match="gpt2 is not a sequence-to-sequence model"):
        load_seq_to_seq(decoder)
    with pytest.raises(ConfigurationError, match="unknown dtype 'float16'"):
        load_seq_to_seq(tiny_t5, dtype="float16")
