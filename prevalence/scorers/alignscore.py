"""AlignScore: how well a claim is aligned with a text, by an encoder with three heads.

Source: Zha et al. 2023, AlignScore, and the behaviour of the alignscore package, version 0.1.3,
whose checkpoints hold an encoder, ``base_model``, and a linear head on its pooled output for each
kind of answer.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.errors import ConfigurationError, ModelError, first_line
from prevalence.files import expanded_path
from prevalence.models.checkpoint import Layout, Network, read_config, read_tensors
from prevalence.models.location import resolve
from prevalence.scorers.factcheck import FactChecker, Rule
from prevalence.scorers.units import sentences_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.scorers.factcheck import Running
    from prevalence.scorers.reading import Inputs

__all__ = ["HEADS", "AlignScore", "convert_alignscore", "even_parts"]

HEADS = {"nli": ("tri_layer", 3), "bin": ("bin_layer", 2), "reg": ("reg_layer", 1)}
"""Heads by name: the layer, and its outputs. Of three classes the first is "aligned", of two the
second; the only output of the regression is clipped to [0, 1]."""

_CHUNK_WORDS = 350
_ENCODER, _POOLER = "base_model.", "base_model.pooler."
_CONVERT = (
    "`prevalence conv alignscore AlignScore-large.ckpt --base ROBERTA --output FOLDER` makes one "
    "of the authors' file"
)


def even_parts(premise: str) -> list[str]:
    """The chunks of a premise: runs of equally many sentences, about 350 words each.

    >>> even_parts("One. Two.")
    ['One. Two.']
    >>> [len(part.split()) for part in even_parts(" ".join(["So it is."] * 240))]
    [240, 240, 240]
    """
    sentences = sentences_of(premise)
    parts = len(premise.split()) // _CHUNK_WORDS + 1
    size = max(len(sentences) // parts, 1)
    return [" ".join(sentences[start : start + size]) for start in range(0, len(sentences), size)]


class AlignScore(FactChecker):
    """P("aligned") by one of the heads; the score is the mean over the hypothesis's sentences.

    Args:
        named: ``model``, ``claims`` and ``head``, one of :data:`HEADS`.
        options: where and how it runs.

    Raises:
        ModelError: no checkpoint of this layout.
        ConfigurationError: the regression in half precision, whose rounding has no known bound.
    """

    def __init__(self, named: Mapping[str, str], options: Running) -> None:
        self._head = named["head"]
        model = named["model"]
        read = _layout(resolve(model), model, self._head)
        opened = Network(
            "AutoModelForSequenceClassification", model, device=options.device,
            dtype=options.dtype, config=read.config, weights=read.weights,
        )  # fmt: skip
        if self._head == "reg" and opened.dtype != "float32":
            raise ConfigurationError(
                "alignscore with head=reg needs float32 (dtype= or --dtype): its output is no "
                "probability, and the decisions that half precision changes cannot be counted"
            )
        rule = Rule(f"alignscore-{self._head}", f"chunk{_CHUNK_WORDS}", opened.limit,
                    named["claims"] == "sentence")  # fmt: skip
        super().__init__(opened, rule, options)

    def chunks(self, premise: str) -> Sequence[str]:
        """See :func:`even_parts`."""
        return even_parts(premise)

    def shown(self, chunk: str, claim: str) -> tuple[str, ...]:
        """The pair itself."""
        return chunk, claim

    def asked(self, inputs: Sequence[Inputs]) -> Any:
        """P("aligned"), [B, 1]."""
        logits = self.opened.network(**self.opened.padded(inputs)).logits.float()
        if self._head == "reg":
            return logits.clamp(0.0, 1.0)
        return logits.softmax(-1)[:, 0 if self._head == "nli" else 1, None]


def _layout(folder: Path, model: str, head: str) -> Layout:
    """The encoder, its pooler and one head as transformers' RoBERTa classifier has them."""
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"{model}: no .safetensors file in it; {_CONVERT}")
    layer, outputs = HEADS[head]
    config = read_config(folder, model)
    if config.model_type != "roberta":
        raise ModelError(f"{model}: AlignScore is a RoBERTa, and its config says "
                         f"{config.model_type}")  # fmt: skip
    config.num_labels = outputs
    renamed = {f"{layer}.": "classifier.out_proj.", _POOLER: "classifier.", _ENCODER: "roberta."}
    weights = {
        new + name.removeprefix(old): tensor
        for name, tensor in read_tensors(folder, model).items()
        for old, new in renamed.items()
        if name.startswith(old) and not (old == _ENCODER and name.startswith(_POOLER))
    }
    if not any(name.startswith("roberta.") for name in weights):
        raise ModelError(f"{model}: not an AlignScore checkpoint: it holds no {_ENCODER}*; "
                         f"{_CONVERT}")  # fmt: skip
    return Layout(config, weights)


def convert_alignscore(checkpoint: Path | str, base: Path | str, output: Path | str) -> int:
    """Make a folder that :class:`AlignScore` opens of the authors' pickled checkpoint.

    Args:
        checkpoint: ``AlignScore-base.ckpt`` or ``AlignScore-large.ckpt``; it is read as weights
            alone: nothing in it can run.
        base: folder of the RoBERTa that it was made of, for its config and tokenizer.
        output: the new folder.

    Returns:
        How many numbers the folder holds.

    Raises:
        ModelError: the file is no such checkpoint, the base lacks files, or the folder cannot be
            written.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        state = torch.load(checkpoint, map_location="cpu", weights_only=True)["state_dict"]
        kept = (_ENCODER, *(f"{layer}." for layer, _ in HEADS.values()))
        weights = {
            str(name): tensor.clone().contiguous()
            for name, tensor in state.items()
            if str(name).startswith(kept)
        }
    except Exception as error:
        raise ModelError(
            f"{checkpoint}: not AlignScore weights that can be read without running code: "
            f"{first_line(error)}"
        ) from error
    if not weights:
        raise ModelError(f"{checkpoint}: not an AlignScore checkpoint: it holds no {_ENCODER}*")
    source, target = expanded_path(base), Path(output)
    files = ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt")
    there = [source / name for name in files if (source / name).is_file()]
    if source / "config.json" not in there or len(there) == 1:
        raise ModelError(f"{base}: no config.json and tokenizer files of a RoBERTa in it; "
                         "`hf download FacebookAI/roberta-large --local-dir FOLDER`")  # fmt: skip
    part = target / "model.safetensors.part"
    try:
        target.mkdir(parents=True, exist_ok=True)
        for path in there:
            shutil.copy(path, target)
        save_file(weights, part)
        part.replace(target / "model.safetensors")
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            part.unlink()
        raise ModelError(f"{output}: cannot be written: {first_line(error)}") from error
    return sum(tensor.numel() for tensor in weights.values())
