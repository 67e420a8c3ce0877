"""Checkpoints with random weights in the shape of real ones: speed depends on the shape alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.throughput.workload import WORDS, Workload
from prevalence.errors import ConfigurationError
from prevalence.models.checkpoint import quiet_transformers
from prevalence.models.registry import SHIPPED

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ARCHITECTURES", "Architecture", "architecture", "write_checkpoint"]

_SPREAD = 2.0
"""Standard deviation of the log-odds of a trained model on such pairs, roughly."""
_LABELS = ("contradiction", "neutral", "entailment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The shape of an encoder.

    Attributes:
        name: of the checkpoint that has this shape.
        family: model type in transformers.
        hidden, layers, heads, inner: width, depth, attention heads, width of the feed-forward part.
        vocabulary: rows of the embedding.
    """

    name: str
    family: str
    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int

    def at(self, size: str) -> Architecture:
        """The whole thing (``full``), or a small likeness of it (``tiny``, ``small``)."""
        if size == "full":
            return self
        hidden, layers, heads = {"tiny": (32, 2, 2), "small": (256, 4, 4)}[size]
        return replace(
            self, hidden=hidden, layers=layers, heads=heads, inner=4 * hidden, vocabulary=1024
        )


ARCHITECTURES = {
    each.name: each
    for each in (
        Architecture(name="roberta-large", family="roberta", hidden=1024, layers=24, heads=16,
                     inner=4096, vocabulary=50_265),
        Architecture(name="deberta-v3-large", family="deberta-v2", hidden=1024, layers=24,
                     heads=16, inner=4096, vocabulary=128_100),
        Architecture(name="deberta-v3-base", family="deberta-v2", hidden=768, layers=12,
                     heads=12, inner=3072, vocabulary=128_100),
        Architecture(name="ModernBERT-large", family="modernbert", hidden=1024, layers=28,
                     heads=16, inner=2624, vocabulary=50_368),
        Architecture(name="roberta-base", family="roberta", hidden=768, layers=12, heads=12,
                     inner=3072, vocabulary=50_265),
    )
}  # fmt: skip
"""By name; shapes from the checkpoints' published configurations."""


def architecture(name: str) -> Architecture:
    """The architecture of that name.

    Raises:
        ConfigurationError: it is not known.
    """
    if name not in ARCHITECTURES:
        known = ", ".join((*SHIPPED, *ARCHITECTURES))
        raise ConfigurationError(f"unknown architecture {name!r}: choose from {known}")
    return ARCHITECTURES[name]


def write_checkpoint(shape: Architecture, folder: Path, *, seed: int = 0) -> None:
    """Write a classifier with random weights and a tokenizer for the benchmark's words.

    The head is scaled so that probabilities spread as a trained model's do; else all of them
    would lie at the threshold, and no count of changed decisions would mean anything.

    Args:
        shape: of the encoder.
        folder: where to; it exists.
        seed: of the weights.
    """
    import torch
    from transformers import AutoModelForSequenceClassification

    tokenizer = _tokenizer(shape.family)
    classifier: Any = AutoModelForSequenceClassification
    with quiet_transformers(), torch.random.fork_rng():
        torch.manual_seed(seed)
        model = classifier.from_config(_config(shape)).eval()
        _spread(model, tokenizer)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text(f"Random weights in the shape of {shape.name}.\n")


def _config(shape: Architecture) -> Any:
    from transformers import AutoConfig

    more: dict[str, Any] = {"max_position_embeddings": 514, "type_vocab_size": 1}
    if shape.family == "deberta-v2":
        more = {
            "max_position_embeddings": 512, "type_vocab_size": 0, "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"], "position_buckets": 256, "share_att_key": True,
            "norm_rel_ebd": "layer_norm", "position_biased_input": False,
            "pooler_hidden_size": shape.hidden,
        }  # fmt: skip
    if shape.family == "modernbert":
        more = {"max_position_embeddings": 512}
    return AutoConfig.for_model(
        shape.family,
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.inner,
        # Each product then keeps the variance of its input, and tokens tell inputs apart.
        initializer_range=shape.hidden**-0.5,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        cls_token_id=0,
        sep_token_id=2,
        id2label=dict(enumerate(_LABELS)),
        label2id={label: place for place, label in enumerate(_LABELS)},
        **more,
    )


def _tokenizer(family: str) -> Any:
    """A byte-level BPE that knows the benchmark's words, with the family's special tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    roberta = family == "roberta"
    first, last = ("<s>", "</s>") if roberta else ("[CLS]", "[SEP]")
    special = [first, "<pad>", last, "<unk>", "<mask>"]
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=1000,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator([" ".join(WORDS)] * 2, trainer)
    between = f"{last} {last}" if roberta else last
    second = 0 if roberta else 1
    trained.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {between} $B:{second} {last}:{second}",
        special_tokens=[(first, 0), (last, 2)],
    )
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * (not roberta)
    wrapped: Any = PreTrainedTokenizerFast
    return wrapped(
        tokenizer_object=trained, model_max_length=512, model_input_names=names,
        cls_token=first, sep_token=last, pad_token="<pad>", unk_token="<unk>",  # noqa: S106
        mask_token="<mask>",  # noqa: S106
    )  # fmt: skip


def _spread(model: Any, tokenizer: Any) -> None:
    """Centre and scale the logits that the head gives to a few pairs."""
    import torch

    few = Workload.draw(1, seed=1).pairs[:16]
    inputs = tokenizer([a for a, _ in few], [b for _, b in few], padding=True, return_tensors="pt")
    head = [part for part in model.modules() if isinstance(part, torch.nn.Linear)][-1]
    with torch.inference_mode():
        logits = model(**inputs).logits
    scale = _SPREAD / float(np.maximum(logits.std(0).mean().numpy(), 1e-6))
    with torch.no_grad():
        head.bias.sub_(logits.mean(0)).mul_(scale)
        head.weight.mul_(scale)
