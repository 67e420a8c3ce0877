"""BLEURT: a regression of human ratings on a reference and a candidate, read as one input.

The input is ``[CLS] reference [SEP] candidate [SEP]``, and the value what a linear layer makes of
the pooled first token. Where both texts do not fit, the longer one gives way token by token, the
candidate when they are equally long; special tokens that a text spells out are text.

Two kinds of checkpoint are read: those that transformers knows (BERT for the checkpoints of 2020,
RemBERT for BLEURT-20), and those whose config says ``"model_type": "bleurt"``, which are the same
networks with some weights under other names and with SentencePiece's own file as tokenizer.

Source: Sellam, Das and Parikh 2020, section 4; Pu et al. 2021 for BLEURT-20.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.neural.runner import REGRESSION, Parts, open_runner
from prevalence.baselines.rules import comparing, number_option
from prevalence.errors import ConfigurationError, ModelError, first_line
from prevalence.models.checkpoint import quiet_transformers, read_tensors
from prevalence.models.location import resolve
from prevalence.models.registry import stated_config
from prevalence.records import well_formed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["Bleurt", "kept_lengths", "open_bleurt"]

_PORT = "bleurt"
_FAMILIES = ("bert", "rembert")
_FRAME = 3
_LEAST = _FRAME + 2
_FIELDS = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "max_position_embeddings",
    "type_vocab_size",
    "layer_norm_eps",
)
"""What the configs of a port and of transformers call alike, of all that changes a value."""


class Bleurt:
    """Values of pairs by a checkpoint.

    Args:
        model: checkpoint folder, registered name or hub name.
        runtime: device, precision and budget.
        limit: most tokens of a pair; None for the checkpoint's own.

    Attributes:
        runner: the network.
        limit: most tokens of a pair, special tokens included.
        truncated: texts cut so far.

    Raises:
        ModelError: the checkpoint is unusable, or no regression.
        ConfigurationError: the limit is outside what the checkpoint reads.
    """

    def __init__(self, model: str, runtime: Runtime, limit: int | None = None) -> None:
        self.runner = open_runner(REGRESSION, model, runtime, _parts(resolve(model), model))
        config = self.runner.network.config
        if config.num_labels != 1 or config.model_type not in _FAMILIES:
            raise ModelError(
                f"{model}: a {config.model_type} classifier with {config.num_labels} outputs is "
                f"not BLEURT, which is {' or '.join(_FAMILIES)} with one; use a checkpoint of "
                "BLEURT"
            )
        if limit is not None and not _LEAST <= limit <= self.runner.limit:
            raise ConfigurationError(f"limit={limit}: {model} reads pairs of {_LEAST} to "
                                     f"{self.runner.limit} tokens")  # fmt: skip
        self.limit = limit or self.runner.limit
        tokenizer = self.runner.tokenizer
        ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)
        if None in ends:
            raise ModelError(f"{model}: its tokenizer lacks [CLS] or [SEP]")
        self._first, self._last = ends
        self.truncated = 0

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Values of (reference, candidate), float64 [P]; NaN where a text has no token.

        Raises:
            ModelError: the network gives no number.
        """
        texts = [*dict.fromkeys(text for pair in pairs for text in pair)]
        rows = self.runner.tokens(texts, special=False, whole=True, literal=True)
        known = {text: row.ids for text, row in zip(texts, rows, strict=True)}
        values = np.full(len(pairs), np.nan)
        able = [place for place, pair in enumerate(pairs) if all(known[text].size for text in pair)]
        inputs = [self._joined(*(known[text] for text in pairs[place])) for place in able]
        found = self.runner.run(
            [ids.size for ids, _ in inputs],
            lambda chosen: self._forward([inputs[place] for place in chosen.tolist()]),
        )
        values[able] = self.runner.numbers(found)
        return values

    def _joined(
        self, reference: NDArray[np.int64], candidate: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Token numbers of an input, and which of its two texts each belongs to."""
        sizes = reference.size, candidate.size
        first, second = kept_lengths(*sizes, room=self.limit - _FRAME)
        self.truncated += (first < sizes[0]) + (second < sizes[1])
        ids = np.concatenate(
            [[self._first], reference[:first], [self._last], candidate[:second], [self._last]]
        ).astype(np.int64)
        return ids, np.repeat(np.arange(2), [first + 2, second + 1])

    def _forward(
        self, inputs: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
    ) -> list[float]:
        rows = [ids for ids, _ in inputs]
        logits = self.runner.network(
            input_ids=self.runner.padded(rows),
            attention_mask=self.runner.mask(rows),
            token_type_ids=self.runner.padded([types for _, types in inputs], fill=0),
        ).logits
        found: list[float] = logits[:, 0].float().tolist()
        return found


def kept_lengths(reference: int, candidate: int, *, room: int) -> tuple[int, int]:
    """Lengths of two texts after the longer one has lost tokens one by one until both fit.

    Args:
        reference: tokens of the reference.
        candidate: tokens of the candidate, which loses one where both are equally long.
        room: tokens for both.

    >>> kept_lengths(9, 2, room=7), kept_lengths(9, 9, room=7), kept_lengths(3, 9, room=7)
    ((5, 2), (4, 3), (3, 4))
    """
    if reference + candidate <= room:
        return reference, candidate
    second = min(candidate, max(room // 2, room - reference))
    return room - second, second


def open_bleurt(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open BLEURT: what the regression gives a reference and the summary, unbounded.

    Raises:
        ModelError: the checkpoint is unusable, or no regression.
        ConfigurationError: the limit is no number of tokens, or outside what the checkpoint reads.

    Source: Sellam, Das and Parikh 2020, section 4.
    """
    limit = number_option(entry, spec, "limit", "a number of tokens")
    bleurt = Bleurt(spec.options.get("model", entry.models[0]), runtime, limit)

    def compute(comparisons: Sequence[Comparison]) -> NDArray[np.float64]:
        return bleurt([(pair.text, pair.summary) for pair in comparisons])

    return comparing(
        entry,
        spec,
        compute,
        signature={**bleurt.runner.signature, "limit": str(bleurt.limit)},
        cuts=lambda: bleurt.truncated,
    )


def _parts(folder: Path, model: str) -> Parts:
    """What transformers cannot read of a port; nothing for a checkpoint that it knows."""
    stated = stated_config(folder)
    if stated.get("model_type") != _PORT:
        return Parts()
    projected = stated.get("embedding_size") is not None
    return Parts(
        config=_config(stated, model, projected),
        tokenizer=_tokenizer(folder, model),
        weights=_weights(folder, model, "rembert" if projected else "bert"),
    )


def _config(stated: dict[str, Any], model: str, projected: bool) -> Any:
    import transformers as hf

    try:
        fields = {name: stated[name] for name in _FIELDS} | {"num_labels": 1}
        fields["pad_token_id"] = stated.get("pad_token_id", 0)
        if projected:
            width = stated["embedding_size"]
            return hf.RemBertConfig(input_embedding_size=width, **fields)
        return hf.BertConfig(**fields)
    except KeyError as error:
        raise ModelError(f"{model}: its config does not say {error}") from error
    except Exception as error:
        raise ModelError(f"{model}: its config cannot be read: {first_line(error)}") from error


def _weights(folder: Path, model: str, family: str) -> dict[str, Any]:
    """The state dict under transformers' names."""
    renamed = {
        name.replace("embedding_projection", "embedding_hidden_mapping_in"): weight
        for name, weight in read_tensors(folder, model).items()
    }
    return {
        f"{family}.{name.removeprefix('bleurt.')}" if name.startswith("bleurt.") else name: weight
        for name, weight in renamed.items()
    }


def _tokenizer(folder: Path, model: str) -> Any:
    pieces = sorted(folder.glob("*.model"))
    if pieces:
        return _SentencePieces(pieces[0], model)
    if not any((folder / name).is_file() for name in ("vocab.txt", "tokenizer.json")):
        raise ModelError(f"{model}: no tokenizer files in it (spm.model or vocab.txt); copy "
                         "them from the source of the model")  # fmt: skip
    import transformers as hf

    try:
        with quiet_transformers():
            return hf.BertTokenizerFast.from_pretrained(folder)  # type: ignore[attr-defined]
    except Exception as error:
        raise ModelError(f"{model}: no usable tokenizer: {first_line(error)}") from error


class _SentencePieces:
    """SentencePiece's own reading of a text, as far as a runner asks a tokenizer."""

    is_fast = False
    model_max_length = None

    def __init__(self, path: Path, model: str) -> None:
        from sentencepiece import SentencePieceProcessor

        try:
            self._pieces = SentencePieceProcessor(model_file=str(path))
        except Exception as error:
            raise ModelError(f"{model}: {path.name} cannot be read: {first_line(error)}") from error
        self.cls_token_id, self.sep_token_id = self._number("[CLS]"), self._number("[SEP]")
        self.pad_token_id = max(self._pieces.pad_id(), 0)

    def _number(self, piece: str) -> int | None:
        number = self._pieces.piece_to_id(piece)
        return None if self._pieces.is_unknown(number) else int(number)

    def __call__(self, texts: Sequence[str], **_: object) -> dict[str, list[list[int]]]:
        return {"input_ids": self._pieces.encode([well_formed(text) for text in texts])}
