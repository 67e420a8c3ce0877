"""HHEM 2.1 open: the encoder of Flan-T5-base, and a head on its first token.

The checkpoint is published with code of its own, which is never run: its weights are those of
transformers' T5 token classifier under other names, and the sizes follow from their shapes.

Source: Vectara's model card of hallucination_evaluation_model, version 2.1-open.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prevalence.errors import ModelError, first_line
from prevalence.models.checkpoint import Layout, Network, read_tensors
from prevalence.models.location import resolve
from prevalence.scorers.factcheck import SUPPORTED, FactChecker, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from prevalence.scorers.factcheck import Running
    from prevalence.scorers.reading import Inputs

__all__ = ["HHEM"]

_PROMPT = (
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\n"
    "Hypothesis: {text2}"
)
"""What HHEM reads where its config states no ``prompt``; the head reads the first token."""

_MOST_TOKENS = 4_096
"""The model has no limit of its own; memory has, since it grows with the square."""

_PREFIX = "t5."
_SHARED, _EMBEDDED = "transformer.shared.weight", "transformer.encoder.embed_tokens.weight"
_BLOCKS = "transformer.encoder.block."
_BLOCK = f"{_BLOCKS}0.layer."


class HHEM(FactChecker):
    """P("consistent") of the whole hypothesis by the whole premise.

    Args:
        named: ``model`` and ``claims``.
        options: where and how it runs.

    Raises:
        ModelError: no checkpoint of this layout, or a prompt without the places for both texts.
    """

    def __init__(self, named: Mapping[str, str], options: Running) -> None:
        model = named["model"]
        read = _layout(resolve(model), model)
        opened = Network(
            "AutoModelForTokenClassification", model, device=options.device,
            dtype=options.dtype, config=read.config, weights=read.weights,
        )  # fmt: skip
        self._prompt = _prompt(opened.folder, named["model"])
        rule = Rule("hhem", "document", _MOST_TOKENS, named["claims"] == "sentence")
        super().__init__(opened, rule, options)

    def chunks(self, premise: str) -> Sequence[str]:
        """The premise itself."""
        return [premise]

    def shown(self, chunk: str, claim: str) -> tuple[str, ...]:
        """The prompt with both in place; braces in them mean nothing."""
        before, between, after = self._prompt
        return (f"{before}{chunk}{between}{claim}{after}",)

    def asked(self, inputs: Sequence[Inputs]) -> Any:
        """P("consistent"), by the head on the first token, [B, 1]."""
        logits = self.opened.network(**self.opened.padded(inputs)).logits.float()
        return logits[:, 0].softmax(-1)[:, SUPPORTED, None]


def _prompt(folder: Path, model: str) -> tuple[str, str, str]:
    """What stands before, between and after the two texts."""
    try:
        stated = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        prompt = str(stated.get("prompt", _PROMPT))
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise ModelError(f"{model}: its config cannot be read: {first_line(error)}") from error
    before, first, rest = prompt.partition("{text1}")
    between, second, after = rest.partition("{text2}")
    if not first or not second:
        raise ModelError(f"{model}: the prompt in its config lacks {{text1}} or {{text2}}")
    return before, between, after


def _layout(folder: Path, model: str) -> Layout:
    """The weights without their prefix, and the config that their shapes tell."""
    from transformers import T5Config

    found = read_tensors(folder, model)
    weights = {name.removeprefix(_PREFIX): tensor for name, tensor in found.items()}
    shared: Any = weights.get(_SHARED, weights.get(_EMBEDDED))
    try:
        heads = weights[f"{_BLOCK}0.SelfAttention.relative_attention_bias.weight"].shape
        query = weights[f"{_BLOCK}0.SelfAttention.q.weight"].shape
        gated = f"{_BLOCK}1.DenseReluDense.wi_0.weight" in weights
        inner = weights[f"{_BLOCK}1.DenseReluDense.{'wi_0' if gated else 'wi'}.weight"].shape
        labels = weights["classifier.weight"].shape[0]
        vocabulary = shared.shape[0]
    except (KeyError, AttributeError) as error:
        raise ModelError(
            f"{model}: not an HHEM 2.1 checkpoint: it lacks {first_line(error)}"
        ) from error
    if labels != 2:
        raise ModelError(f"{model}: HHEM has two outputs, and this model {labels}")
    blocks = {name.split(".")[3] for name in weights if name.startswith(_BLOCKS)}
    config = T5Config(
        vocab_size=vocabulary, d_model=query[1], d_kv=query[0] // heads[1], d_ff=inner[0],
        num_layers=len(blocks), num_heads=heads[1], relative_attention_num_buckets=heads[0],
        feed_forward_proj="gated-gelu" if gated else "relu", dropout_rate=0.0,
    )  # fmt: skip
    config.num_labels = labels
    return Layout(config, weights | {_SHARED: shared, _EMBEDDED: shared})
