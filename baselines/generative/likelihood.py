"""Mean log-likelihood of a text's tokens, alone or given another text.

Every token that the tokenizer makes of the text counts, special tokens included, except one that
no token stands before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.neural.runner import CAUSAL, SEQ2SEQ, Runner, open_runner
from prevalence.errors import ConfigurationError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.neural.runner import Tokens
    from prevalence.baselines.protocol import Runtime

__all__ = ["KEPT_BYTES", "CausalLikelihood", "GivenLikelihood", "open_given"]

KEPT_BYTES = 1 << 28
"""Memory for encoded sources that wait for their targets."""


class CausalLikelihood:
    """Likelihood of texts by a decoder alone.

    The first token only conditions the others, unless the tokenizer or ``start`` puts a start
    token before it.

    Args:
        model: checkpoint folder, registered name or hub name.
        runtime: device, precision and budget.
        start: put the start token (or the end token, for a tokenizer without one) before every
            text that does not begin with it.

    Attributes:
        runner: the network.
        truncated: texts cut so far.

    Raises:
        ModelError: the checkpoint is unusable, or reads what stands after a token too.
        ConfigurationError: ``start`` for a tokenizer without such a token.
    """

    def __init__(self, model: str, runtime: Runtime, *, start: bool = False) -> None:
        self.runner = open_runner(CAUSAL, model, runtime)
        if self._reads_ahead():
            raise ModelError(
                f"{model}: a {self.runner.network.config.model_type} model that reads what stands "
                "after a token too, so that it gives no likelihood; use a causal one such as GPT-2"
            )
        tokenizer = self.runner.tokenizer
        first = tokenizer.bos_token_id
        self._start = tokenizer.eos_token_id if first is None else first
        if start and self._start is None:
            raise ConfigurationError(f"{model}: start: its tokenizer has no token to begin with")
        self._starts = start
        self.truncated = 0

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Mean log-likelihoods, float64 [N]; NaN for a text of which no token counts.

        Raises:
            ModelError: the network gives no number.
        """
        rows = [self._row(row) for row in self.runner.tokens(texts)]
        values = np.full(len(texts), math.nan)
        able = [place for place, row in enumerate(rows) if row.size > 1]
        found = self.runner.run(
            [rows[place].size for place in able],
            lambda chosen: self._forward([rows[able[place]] for place in chosen.tolist()]),
        )
        values[able] = self.runner.numbers(found)
        return values

    def _reads_ahead(self) -> bool:
        """Whether another second token changes what is expected after the first one."""
        import torch

        rows = [np.array([0, other], np.int64) for other in (0, 1)]

        def forward(chosen: NDArray[np.int64]) -> list[NDArray[np.float32]]:
            return [*self._logits([rows[at] for at in chosen.tolist()])[:, 0].float().cpu().numpy()]

        first, second = self.runner.run([row.size for row in rows], forward)
        # Rounding may differ between the rows of a batch.
        rounding = torch.finfo(self.runner.network.dtype).eps ** 0.5
        return bool(np.abs(first - second).max() > rounding * np.abs(first).max())

    def _row(self, tokens: Tokens) -> NDArray[np.int64]:
        ids, cut = tokens.ids, tokens.cut
        if self._starts and ids.size and ids[0] != self._start:
            cut = cut or ids.size == self.runner.limit
            ids = np.concatenate([[self._start], ids[: self.runner.limit - 1]])
        self.truncated += cut
        return ids if tokens.plain.any() else ids[:0]

    def _forward(self, rows: Sequence[NDArray[np.int64]]) -> list[float]:
        targets = [row[1:] for row in rows]
        logits = self._logits(rows)[:, :-1]
        return _means(logits, targets, [np.ones(target.size, np.bool_) for target in targets])

    def _logits(self, rows: Sequence[NDArray[np.int64]]) -> Any:
        network: Any = self.runner.network
        return network(
            self.runner.padded(rows), attention_mask=self.runner.mask(rows), use_cache=False
        ).logits


class GivenLikelihood:
    """Likelihood of texts given others, by an encoder with a decoder; a source is read once a call.

    Subclasses say otherwise how texts are read, how the decoder begins and which tokens count.

    Args:
        runner: the network.

    Attributes:
        runner: the network.
        truncated: texts cut so far.
    """

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.truncated = 0

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokens of N texts, cut at the model's limit, in order."""
        return self.runner.tokens(texts)

    def begun(self, targets: Sequence[NDArray[np.int64]]) -> Any:
        """What the decoder reads when it is asked for targets, int64 [B, T] on the device."""
        network: Any = self.runner.network
        return network.prepare_decoder_input_ids_from_labels(labels=self.runner.padded(targets))

    def counted(self, target: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which tokens of a target count, bool [T]."""
        return np.ones(target.size, np.bool_)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Mean log-likelihoods of targets.

        Args:
            pairs: P times (source, target).

        Returns:
            float64 [P]; NaN where a text has no token but special ones.

        Raises:
            ModelError: the network gives no number.
        """
        texts = [*dict.fromkeys(text for pair in pairs for text in pair)]
        known = dict(zip(texts, self.read(texts), strict=True))
        self.truncated += sum(row.cut for row in known.values())
        values = np.full(len(pairs), math.nan)
        able = [
            place
            for place, pair in enumerate(pairs)
            if all(known[text].plain.any() for text in pair)
        ]
        for part in self._parts(able, pairs, known):
            states = self._encode([*dict.fromkeys(pairs[place][0] for place in part)], known)
            found = self._decode([pairs[place] for place in part], known, states)
            values[part] = self.runner.numbers(found)
        return values

    def _parts(
        self, able: list[int], pairs: Sequence[tuple[str, str]], known: dict[str, Tokens]
    ) -> Iterator[list[int]]:
        """Places of pairs whose sources are in memory together."""
        token = int(self.runner.network.get_input_embeddings().embedding_dim) * 4
        part: list[int] = []
        held: set[str] = set()
        size = 0
        # Pairs of one source stand together, so that it is encoded for all of them.
        for place in sorted(able, key=lambda place: pairs[place][0]):
            source = pairs[place][0]
            if source not in held:
                size += known[source].ids.size * token
                if size > KEPT_BYTES and part:
                    yield part
                    part, held, size = [], set(), known[source].ids.size * token
                held.add(source)
            part.append(place)
        if part:
            yield part

    def _encode(self, sources: list[str], known: dict[str, Tokens]) -> dict[str, Any]:
        """The encoder's last layer for each source, [S, H] on the device."""
        rows = [known[source].ids for source in sources]
        encoder = self.runner.network.get_encoder()

        def forward(chosen: NDArray[np.int64]) -> list[Any]:
            batch = [rows[place] for place in chosen.tolist()]
            answer = encoder(
                input_ids=self.runner.padded(batch), attention_mask=self.runner.mask(batch)
            )
            # A copy lets go of the padding, which would be kept in memory with it.
            tables = zip(answer.last_hidden_state, batch, strict=True)
            return [table[: row.size].clone() for table, row in tables]

        found = self.runner.run([row.size for row in rows], forward)
        return dict(zip(sources, found, strict=True))

    def _decode(
        self, pairs: list[tuple[str, str]], known: dict[str, Tokens], states: dict[str, Any]
    ) -> list[float]:
        from torch.nn.utils.rnn import pad_sequence
        from transformers.modeling_outputs import BaseModelOutput

        network = self.runner.network

        def forward(chosen: NDArray[np.int64]) -> list[float]:
            batch = [pairs[place] for place in chosen.tolist()]
            targets = [known[target].ids for _, target in batch]
            hidden = pad_sequence([states[source] for source, _ in batch], batch_first=True)
            logits = network(
                encoder_outputs=BaseModelOutput(last_hidden_state=hidden),
                attention_mask=self.runner.mask([known[source].ids for source, _ in batch]),
                decoder_input_ids=self.begun(targets),
                use_cache=False,
            ).logits
            return _means(logits, targets, [self.counted(target) for target in targets])

        sizes = [known[source].ids.size + known[target].ids.size for source, target in pairs]
        return self.runner.run(sizes, forward)


def open_given(model: str, runtime: Runtime) -> GivenLikelihood:
    """Likelihood by a checkpoint that says how its decoder begins.

    Args:
        model: checkpoint folder, registered name or hub name.
        runtime: device, precision and budget.

    Raises:
        ModelError: the checkpoint is unusable.
    """
    runner = open_runner(SEQ2SEQ, model, runtime)
    if not hasattr(runner.network, "prepare_decoder_input_ids_from_labels"):
        raise ModelError(
            f"{model}: a {runner.network.config.model_type} model does not say how its "
            "decoder begins; use one such as BART, PEGASUS or T5"
        )
    return GivenLikelihood(runner)


def _means(
    logits: Any,
    targets: Sequence[NDArray[np.int64]],
    counted: Sequence[NDArray[np.bool_]],
) -> list[float]:
    """Mean log-probability of what counts in each row; logits are [B, T, V], padding behind."""
    import torch

    found = []
    for table, target, counts in zip(logits, targets, counted, strict=True):
        # One row at a time: a second table of the whole batch and vocabulary would not be small.
        row = table[: target.size].float()
        wanted = torch.from_numpy(target).to(row.device)
        chosen = row.gather(-1, wanted[:, None])[:, 0] - row.logsumexp(-1)
        found.append(chosen[torch.from_numpy(counts).to(row.device)].mean())
    values: list[float] = torch.stack(found).tolist()
    return values
