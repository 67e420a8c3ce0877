"""Pairs as units and batches, and the gradients that premise-first batches give."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from prevalence.errors import InputError, ModelError
from prevalence.training.model import Classifier, load_classifier
from prevalence.training.recipe import ModelSettings

MUG, RUG = "i bought the mug and it works well.", "the rug is fine."
PAIRS = [(MUG, "it is red."), (RUG, "it is a rug and it is blue."), (MUG, "the mug works.")]
CPU = torch.device("cpu")


def settings(base: Path, **options: Any) -> ModelSettings:
    return ModelSettings(str(base), "premise-first", 32, **{"max_hypothesis": 32, **options})


@pytest.fixture
def classifier(tiny_base: Path) -> Classifier:
    made = load_classifier(tiny_base, settings(tiny_base), seed=1)
    made.model.eval()
    return made


def logits_of(classifier: Classifier, pairs: list[tuple[str, str]]) -> torch.Tensor:
    inputs = classifier.inputs(pairs)
    batch = inputs.batch(range(len(inputs.sizes)), CPU)
    answers = classifier.logits(batch.inputs)
    ordered = torch.empty_like(answers)
    ordered[batch.members] = answers
    return ordered


def plain_logits(classifier: Classifier, premise: str, hypothesis: str) -> torch.Tensor:
    """The library's own encoder on one pair, under a mask that hides the hypothesis."""
    model: Any = classifier.model
    first, second = (classifier.tokenizer(text)["input_ids"] for text in (premise, hypothesis))
    size, split = len(first) + len(second), len(first)
    mask = torch.zeros(1, 1, size, size)
    mask[:, :, :split, split:] = torch.finfo(torch.float32).min
    hidden = model.bert(
        input_ids=torch.tensor([first + second]),
        position_ids=torch.tensor([[*range(split), *range(len(second))]]),
        token_type_ids=torch.tensor([[0] * split + [1] * len(second)]),
        attention_mask=mask,
    ).last_hidden_state
    return model.classifier(torch.tanh(model.bert.pooler.dense(hidden[:, split])))[0]


def gradients(classifier: Classifier, logits: torch.Tensor) -> dict[str, torch.Tensor]:
    classifier.model.zero_grad()
    (torch.log_softmax(logits, -1) * torch.tensor([1.0, 0.5, -2.0])).sum().backward()
    named = classifier.model.named_parameters()
    return {name: p.grad.clone() for name, p in named if p.grad is not None}


@pytest.mark.parity
def test_logits_and_gradients_equal_one_pair_at_a_time(classifier: Classifier) -> None:
    packed = logits_of(classifier, PAIRS)
    plain = torch.stack([plain_logits(classifier, *pair) for pair in PAIRS])
    torch.testing.assert_close(packed, plain, rtol=0, atol=1e-5)
    ours, theirs = (gradients(classifier, logits) for logits in (packed, plain))
    assert ours.keys() == theirs.keys()
    assert len(ours) > 30
    for name, gradient in theirs.items():
        torch.testing.assert_close(ours[name], gradient, rtol=1e-4, atol=1e-5, msg=name)


def test_every_dropout_is_at_work_in_training_alone(tiny_base: Path) -> None:
    for kind in ("dropout", "attention_dropout"):
        off = {"dropout": 0.0, "attention_dropout": 0.0}
        made = load_classifier(tiny_base, settings(tiny_base, **{**off, kind: 0.5}), seed=1)
        made.model.train()
        assert not torch.equal(logits_of(made, PAIRS), logits_of(made, PAIRS))
        made.model.eval()
        assert torch.equal(logits_of(made, PAIRS), logits_of(made, PAIRS))


def test_a_premise_and_its_hypotheses_are_one_unit(classifier: Classifier) -> None:
    inputs = classifier.inputs(PAIRS)
    # [CLS] i bought the mug and it works well . [SEP] and twice [CLS] four tokens [SEP];
    # [CLS] the rug is fine . [SEP] and [CLS] it is a rug and it is blue . [SEP]
    assert inputs.sizes == [11 + 6 + 6, 7 + 11]
    batch = inputs.batch([1, 0], CPU)
    assert batch.members == [1, 0, 2]
    assert batch.tokens == 2 * max(inputs.sizes)


def test_long_units_are_cut_and_hold_every_pair_once(classifier: Classifier) -> None:
    pairs = [(RUG, "it is " + "red " * (i % 7) + ".") for i in range(200)]
    inputs = classifier.inputs(pairs)
    assert max(inputs.sizes) <= 256 + 32
    assert len(inputs.sizes) > 1
    units = range(len(inputs.sizes))
    assert sorted(inputs.batch(units, CPU).members) == list(range(200))
    assert [inputs.batch([unit], CPU).tokens for unit in units] == inputs.sizes


def test_a_premise_is_cut_at_its_limit_and_a_long_hypothesis_refused(tiny_base: Path) -> None:
    classifier = load_classifier(tiny_base, settings(tiny_base, max_hypothesis=16), seed=1)
    # 16 tokens, of which [CLS] and [SEP] are two.
    assert classifier.inputs([("red " * 99, "blue " * 14)]).sizes == [32 + 16]
    with pytest.raises(
        InputError, match=r"begins 'blue .*' has 15 tokens, and 14 are read; .*max_hypothesis .16."
    ) as told:
        classifier.inputs([(MUG, "it is red."), ("red", "blue " * 15)])
    assert "\n" not in str(told.value)


def joint(base: Path) -> Classifier:
    return load_classifier(base, ModelSettings(str(base), max_length=16), seed=1)


def test_joint_pairs_are_read_as_scoring_reads_them(tiny_base: Path) -> None:
    classifier = joint(tiny_base)
    inputs = classifier.inputs([("the [SEP] mug \ud800", "it is[PAD] red")])
    read = classifier.tokenizer.convert_ids_to_tokens(
        inputs.batch([0], CPU).inputs["input_ids"][0].tolist()
    )
    assert read == ["[CLS]", "the", "mug", "[UNK]", "[SEP]", "it", "is", "red", "[SEP]"]


def test_a_hypothesis_leaves_room_for_a_premise(tiny_base: Path) -> None:
    classifier = joint(tiny_base)
    # 16 tokens, of which [CLS], [SEP] and [SEP] are three.
    assert classifier.inputs([(MUG, "red " * 12)]).sizes == [16]
    with pytest.raises(
        InputError, match=r"begins 'red red .*' has 13 tokens and leaves no"
    ) as told:
        classifier.inputs([(MUG, "red " * 13)])
    assert "\n" not in str(told.value)


def test_a_base_needs_a_padding_token(tiny_base: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(tiny_base, base)
    config = json.loads((base / "tokenizer_config.json").read_text())
    del config["pad_token"]
    (base / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="its tokenizer has no padding token; name one"):
        joint(base)


def test_a_base_without_attention_kernels_is_read_premise_first(
    tiny_base: Path, tmp_path: Path
) -> None:
    from transformers import AutoTokenizer, MPNetConfig, MPNetModel

    AutoTokenizer.from_pretrained(tiny_base).save_pretrained(tmp_path)
    config = MPNetConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=66, pad_token_id=0,
    )  # fmt: skip
    MPNetModel(config).save_pretrained(tmp_path)
    classifier = load_classifier(tmp_path, settings(tmp_path), seed=1)
    inputs = classifier.inputs([("red box", "it is red."), ("red box", "it is blue.")])
    logits = classifier.logits(inputs.batch(range(len(inputs.sizes)), CPU).inputs)
    assert logits.shape == (2, 3)
    assert logits.requires_grad


def test_bases_that_cannot_be_read_premise_first(tiny_base: Path, tmp_path: Path) -> None:
    from transformers import RobertaConfig

    RobertaConfig(type_vocab_size=2).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"needs a base of type bert or mpnet.*this is roberta"):
        load_classifier(tmp_path, settings(tmp_path), seed=1)
    with pytest.raises(ModelError, match="takes 64 tokens, and the recipe asks for 128"):
        load_classifier(tiny_base, ModelSettings(str(tiny_base), "premise-first", 32, 128), seed=1)
