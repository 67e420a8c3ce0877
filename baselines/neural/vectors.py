"""Texts → vectors of their tokens, from any layers of an encoder, each text once."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.baselines.neural.runner import ENCODER, Runner, Tokens, open_runner
from prevalence.baselines.stopwords import content_tokens
from prevalence.errors import ConfigurationError, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Entry, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = [
    "TextVectors",
    "TokenEncoder",
    "content_of",
    "forget",
    "layer_option",
    "open_encoder",
    "open_words",
    "unit",
]

_KEPT_BYTES = 1 << 28

Layers = tuple[int, ...]


class TextVectors(NamedTuple):
    """A text's tokens and their vectors.

    Attributes:
        tokens: the text as the encoder reads it.
        layers: float32 [K, T, H], one table for each layer asked for.
    """

    tokens: Tokens
    layers: NDArray[np.float32]


class _Memory:
    """What was computed last, up to a number of bytes, shared by all metrics of a runner."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[Layers, str], TextVectors] = OrderedDict()
        self._bytes = 0

    def find(self, layers: Layers, text: str) -> TextVectors | None:
        found = self._rows.get((layers, text))
        if found is not None:
            self._rows.move_to_end((layers, text))
        return found

    def clear(self) -> None:
        self._rows.clear()
        self._bytes = 0

    def keep(self, layers: Layers, text: str, row: TextVectors) -> None:
        self._rows[layers, text] = row
        self._bytes += row.layers.nbytes
        while self._bytes > _KEPT_BYTES:
            self._bytes -= self._rows.popitem(last=False)[1].layers.nbytes


_MEMORIES: weakref.WeakKeyDictionary[Runner, _Memory] = weakref.WeakKeyDictionary()


class TokenEncoder:
    """Vectors of tokens from chosen layers.

    Args:
        runner: an encoder, or an encoder and decoder of which the encoder is used.
        layers: numbers of layers, ascending, 0 for the embeddings; negative ones count from the
            last layer, which is -1.
        static: take the input embeddings, which know no context, for :meth:`words`.

    Attributes:
        layers: the layers, counted from 0.
        signature: what changes a vector.
        truncated: texts cut so far, each time they were asked for.

    Raises:
        ModelError: there is no such layer.
    """

    def __init__(self, runner: Runner, layers: Iterable[int], *, static: bool = False) -> None:
        self.runner = runner
        network = runner.network
        self._network = network.get_encoder() if network.config.is_encoder_decoder else network
        count = int(network.config.num_hidden_layers)
        asked = tuple(layers)
        self.layers: Layers = tuple(n + count + 1 if n < 0 else n for n in asked)
        if not all(0 <= number <= count for number in self.layers):
            raise ModelError(f"{runner.model}: layers {asked} are outside 0..{count}")
        self._static = static
        read = "static" if static else "-".join(map(str, self.layers))
        name = "layer" if len(self.layers) == 1 else "layers"
        self.signature: dict[str, str] = {**runner.signature, name: read}
        self.truncated = 0
        self._memory = _MEMORIES.setdefault(runner, _Memory())

    def __call__(self, texts: Iterable[str]) -> dict[str, TextVectors]:
        """Vectors by text; equal texts are read once.

        Raises:
            ModelError: a vector is not finite.
        """
        found: dict[str, TextVectors] = {}
        missing: list[str] = []
        for text in dict.fromkeys(texts):
            known = self._memory.find(self.layers, text)
            if known is None:
                missing.append(text)
            else:
                found[text] = known
        tokens = self.runner.tokens(missing)
        tables = self.runner.run(
            [row.ids.size for row in tokens],
            lambda rows: self._forward([tokens[row].ids for row in rows]),
        )
        self._check(tables)
        for text, row, table in zip(missing, tokens, tables, strict=True):
            found[text] = TextVectors(row, table)
            self._memory.keep(self.layers, text, found[text])
        self.truncated += sum(row.tokens.cut for row in found.values())
        return found

    def words(
        self,
        texts: Iterable[str],
        *,
        kept: Callable[[str, Tokens], NDArray[np.bool_]] | None = None,
    ) -> dict[str, NDArray[np.float32]]:
        """Vectors without those of special tokens by text, float32 [W, H]; see ``static``.

        Args:
            texts: equal ones are read once.
            kept: which tokens to keep, bool [T]; None for all but the special ones.

        Raises:
            ModelError: a vector is not finite.
        """

        def chosen(text: str, tokens: Tokens) -> NDArray[np.bool_]:
            return tokens.plain if kept is None else kept(text, tokens)

        if not self._static:
            found = self(texts).items()
            return {text: row.layers[-1][chosen(text, row.tokens)] for text, row in found}
        table = self.runner.network.get_input_embeddings().weight
        distinct = [*dict.fromkeys(texts)]
        rows = self.runner.tokens(distinct)
        self.truncated += sum(row.cut for row in rows)
        vectors = {
            text: table[row.ids[chosen(text, row)]].detach().float().cpu().numpy()
            for text, row in zip(distinct, rows, strict=True)
        }
        self._check(vectors.values())
        return vectors

    def _check(self, tables: Iterable[NDArray[np.float32]]) -> None:
        if not all(np.isfinite(table).all() for table in tables):
            raise self.runner.no_number()

    def _forward(self, rows: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        import torch

        hidden = self._hidden(self.runner.padded(rows), self.runner.mask(rows))
        tables = torch.stack([layer.float() for layer in hidden], 1).cpu().numpy()
        # A copy lets go of the padding, which would be kept in memory with it.
        return [tables[place, :, : row.size].copy() for place, row in enumerate(rows)]

    def _hidden(self, ids: Any, mask: Any) -> list[Any]:
        """The layers asked for, [B, T, H] each; layers above are not computed where known how."""
        stack = getattr(getattr(self._network, "encoder", None), "layer", None)
        if len(self.layers) > 1 or stack is None or len(stack) < self.layers[0]:
            answer = self._network(ids, attention_mask=mask, output_hidden_states=True)
            return [answer.hidden_states[number] for number in self.layers]
        self._network.encoder.layer = stack[: self.layers[0]]
        try:
            return [self._network(ids, attention_mask=mask).last_hidden_state]
        finally:
            self._network.encoder.layer = stack


def open_words(entry: Entry, spec: Spec, runtime: Runtime) -> TokenEncoder:
    """Vectors of words by the options ``model=``, ``layer=`` and ``static``.

    Args:
        entry: the metric, whose first model is taken without ``model=``.
        spec: the options asked for.
        runtime: device, precision and budget.

    Raises:
        ConfigurationError: options exclude each other.
        ModelError: the checkpoint is unusable, or has no such layer.
    """
    static = "static" in spec.options
    if static and "layer" in spec.options:
        raise ConfigurationError(f"{entry.name}: static and layer= exclude each other")
    runner = open_runner(ENCODER, spec.options.get("model", entry.models[0]), runtime)
    return TokenEncoder(runner, (layer_option(entry, spec, -1),), static=static)


def content_of(text: str, tokens: Tokens) -> NDArray[np.bool_]:
    """Tokens of words that are neither stop words nor punctuation, bool [T]."""
    return content_tokens(text, tokens.word, tokens.span)


def unit(table: NDArray[Any]) -> NDArray[Any]:
    """Vectors brought to length 1; a null vector stays."""
    norms = np.linalg.norm(table, axis=-1, keepdims=True)
    found: NDArray[Any] = table / np.maximum(norms, np.finfo(table.dtype).tiny)
    return found


def forget(runner: Runner) -> None:
    """Drop the vectors that are kept of a runner's texts, as a measurement wants it."""
    if runner in _MEMORIES:
        _MEMORIES[runner].clear()


def layer_option(entry: Entry, spec: Spec, usual: int) -> int:
    """The option ``layer=N``.

    Raises:
        ConfigurationError: it is no number.
    """
    stated = spec.options.get("layer", str(usual))
    try:
        return int(stated)
    except ValueError as error:
        raise ConfigurationError(f"{entry.name}: layer={stated}: give a whole number") from error


def open_encoder(model: str, layers: Iterable[int], runtime: Runtime) -> TokenEncoder:
    """A token encoder of a checkpoint; see :func:`prevalence.baselines.neural.runner.open_runner`.

    Raises:
        ModelError: the checkpoint is unusable, or has no such layer.
    """
    return TokenEncoder(open_runner(ENCODER, model, runtime), layers)
