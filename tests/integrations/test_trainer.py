"""The helper for transformers' Trainer: token ids in, means and shares out."""

from __future__ import annotations

import numpy as np
import pytest

from prevalence.errors import ConfigurationError
from prevalence.integrations.trainer import prevalence_metrics
from prevalence.rewards import Sample, Tally

PAD = 0


@pytest.fixture(scope="session")
def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["<pad>", "<eos>", "Warm", "boots.", "Loud.", "Cheap.", "Battery", "dies."]
    raw = Tokenizer(models.WordLevel({word: k for k, word in enumerate(words)}, unk_token="<pad>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>")


IDS = np.array([[2, 3, 1, PAD], [4, 5, 1, -100], [6, 7, -100, -100]])


def prediction(predictions):
    from transformers import EvalPrediction

    return EvalPrediction(predictions=predictions, label_ids=None)


@pytest.mark.parametrize("wrapped", [False, True])
def test_predictions_are_decoded_and_scored(tokenizer, examples, lexical_batches, wrapped):
    summaries, reviews, names = (part[:3] for part in examples)
    compute = prevalence_metrics(tokenizer, reviews, names, batches=lexical_batches)
    found = compute(prediction((IDS, None) if wrapped else IDS))
    assert found["prevalence"] == pytest.approx((2 / 3 + 1 / 3 + 2 / 3) / 3)
    expected = Tally.of(lexical_batches.score([*map(Sample, summaries, reviews, names)])).metrics()
    assert found == expected


def test_a_tokenizer_needs_no_pad_token(tokenizer, examples, lexical_batches):
    from copy import deepcopy

    bare = deepcopy(tokenizer)
    bare.pad_token = None
    reviews, names = (part[2:3] for part in examples[1:])
    compute = prevalence_metrics(bare, reviews, names, batches=lexical_batches)
    assert compute(prediction(IDS[2:]))["prevalence"] == pytest.approx(2 / 3)


def test_what_does_not_fit_is_refused(tokenizer, examples, lexical_batches):
    reviews = examples[1][:3]
    with pytest.raises(ConfigurationError, match="3 lists of reviews and 1 names"):
        prevalence_metrics(tokenizer, reviews, ["one"])
    compute = prevalence_metrics(tokenizer, reviews, batches=lexical_batches)
    with pytest.raises(ConfigurationError, match="2 predictions and 3 lists"):
        compute(prediction(IDS[:2]))
    with pytest.raises(ConfigurationError, match="predict_with_generate"):
        compute(prediction(np.zeros((3, 4, 8), np.float32)))


def test_a_trainer_calls_it(tokenizer, examples, lexical_batches, tmp_path):
    pytest.importorskip("accelerate", reason="needs accelerate: pip install 'prevalence[dev]'")
    import torch
    from transformers import (
        DataCollatorForSeq2Seq,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
        T5Config,
        T5ForConditionalGeneration,
    )

    torch.manual_seed(0)
    config = T5Config(
        vocab_size=8,
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    reviews = examples[1][:3]
    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            output_dir=str(tmp_path),
            predict_with_generate=True,
            generation_max_length=5,
            per_device_eval_batch_size=2,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        eval_dataset=[{"input_ids": [2, 3, 1], "labels": [4, 1]} for _ in reviews],
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        compute_metrics=prevalence_metrics(tokenizer, reviews, batches=lexical_batches),
    )
    found = trainer.evaluate()
    assert 0.0 <= found["eval_prevalence"] <= 1.0
    assert lexical_batches.tally.scored == 3
