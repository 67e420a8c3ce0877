"""One network for all metrics that name it, run in batches under a token budget."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import BackendError, ConfigurationError, ModelError, first_line
from prevalence.models.checkpoint import Network
from prevalence.models.devices import out_of_memory
from prevalence.models.location import resolve
from prevalence.nli.packing import batches
from prevalence.records import well_formed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Runtime

__all__ = [
    "CAUSAL",
    "ENCODER",
    "MASKED",
    "REGRESSION",
    "SEQ2SEQ",
    "Parts",
    "Runner",
    "Tokens",
    "open_runner",
]

ENCODER = "AutoModel"
MASKED = "AutoModelForMaskedLM"
CAUSAL = "AutoModelForCausalLM"
SEQ2SEQ = "AutoModelForSeq2SeqLM"
REGRESSION = "AutoModelForSequenceClassification"

_CPU_BUDGET = 2_048
_GPU_BUDGET = 16_384
# Constants of the architecture or of a head that no metric asks, which many folders leave out.
_OPTIONAL = ("pooler.", "final_logits_bias", "bert.pooler.", "roberta.pooler.")

_OPEN: weakref.WeakValueDictionary[tuple[object, ...], Runner] = weakref.WeakValueDictionary()


class Tokens(NamedTuple):
    """A text as a network reads it.

    Attributes:
        ids: int64 [T], special tokens included.
        plain: bool [T], not a special token.
        word: int64 [T], number of the word that the token belongs to; -1 for special tokens.
        span: int64 [T, 2], where the token stands in the text.
        cut: the end of the text was beyond the limit.
    """

    ids: NDArray[np.int64]
    plain: NDArray[np.bool_]
    word: NDArray[np.int64]
    span: NDArray[np.int64]
    cut: bool


class Parts(NamedTuple):
    """What of a checkpoint is not read in the usual way; None for what is.

    Attributes:
        config: a transformers config.
        tokenizer: in place of a fast tokenizer.
        weights: a state dict.
    """

    config: Any = None
    tokenizer: Any = None
    weights: Mapping[str, Any] | None = None


_USUAL = Parts()


class Runner:
    """A checkpoint with its tokenizer; see :func:`open_runner`.

    Attributes:
        network: a transformers model in evaluation mode.
        tokenizer: a fast tokenizer, or that of ``parts``.
        device: where the network lies.
        limit: most tokens read of a text, special tokens included.
        signature: name with the digest of the folder, and the precision unless it is float32.
    """

    def __init__(self, kind: str, model: str, runtime: Runtime, parts: Parts = _USUAL) -> None:
        if runtime.batch_tokens is not None and runtime.batch_tokens < 1:
            raise ConfigurationError(f"batch tokens must be positive, not {runtime.batch_tokens}")
        opened = Network(
            kind,
            model,
            device=runtime.device,
            dtype=runtime.dtype,
            # A regression reads the pooler, which others do not ask.
            optional=() if kind == REGRESSION else _OPTIONAL,
            pads=False,
            **parts._asdict(),
        )
        self.network, self.tokenizer = opened.network, opened.tokenizer
        self.device, self.limit = opened.device, opened.limit
        self.model = model
        usual = _CPU_BUDGET if self.device.type == "cpu" else _GPU_BUDGET
        self._budget = runtime.batch_tokens or usual
        self.signature: Mapping[str, str] = {
            "model": opened.signature,
            **({} if opened.dtype == "float32" else {"dtype": opened.dtype}),
        }

    def tokens(
        self,
        texts: Sequence[str],
        *,
        special: bool = True,
        whole: bool = False,
        literal: bool = False,
        limit: int | None = None,
    ) -> list[Tokens]:
        """Read texts; what lies beyond the limit is cut off, and no token of a blank text is plain.

        Args:
            texts: N texts.
            special: add the special tokens that the tokenizer puts around a text.
            whole: cut nothing, for texts that will be read in parts.
            literal: a special token that a text spells out is text.
            limit: most tokens, in place of the runner's own.
        """
        if not texts:
            return []
        most = None if whole else limit or self.limit
        if self.tokenizer.is_fast:
            found = self._tokens_fast(texts, special, literal, most)
        else:
            found = self._tokens_slowly(texts, special, most)
        # Some tokenizers make tokens of spaces, which are no text.
        return [
            row if text.strip() else row._replace(plain=np.zeros_like(row.plain))
            for text, row in zip(texts, found, strict=True)
        ]

    def _tokens_fast(
        self, texts: Sequence[str], special: bool, literal: bool, limit: int | None
    ) -> list[Tokens]:
        rows = self.tokenizer(
            [well_formed(text) for text in texts],
            add_special_tokens=special,
            **({"split_special_tokens": True} if literal else {}),
            truncation=limit is not None,
            max_length=limit,
            padding=False,
            return_overflowing_tokens=True,
            return_special_tokens_mask=True,
            return_offsets_mapping=True,
            verbose=False,
        )
        # What does not fit comes back as further rows of the same text.
        owner = np.asarray(rows["overflow_to_sample_mapping"], np.int64)
        first = np.searchsorted(owner, np.arange(len(texts)))
        cut = np.bincount(owner, minlength=len(texts)) > 1
        return [_row(rows, int(row), bool(cut[text])) for text, row in enumerate(first)]

    def _tokens_slowly(
        self, texts: Sequence[str], special: bool, limit: int | None
    ) -> list[Tokens]:
        """The same by a tokenizer in Python, which knows no words; special tokens are text."""
        rows = self.tokenizer(
            [well_formed(text) for text in texts],
            add_special_tokens=False,
            split_special_tokens=True,
            verbose=False,
        )["input_ids"]
        around = self.tokenizer.build_inputs_with_special_tokens([]) if special else []
        room = None if limit is None else limit - len(around)
        found = []
        for row in rows:
            kept = row[:room]
            ids = self.tokenizer.build_inputs_with_special_tokens(kept) if special else kept
            mask = self.tokenizer.get_special_tokens_mask(kept) if special else [0] * len(kept)
            nowhere = np.full(len(ids), -1, np.int64)
            found.append(Tokens(
                ids=np.asarray(ids, np.int64), plain=np.asarray(mask, np.int64) == 0,
                word=nowhere, span=np.zeros((len(ids), 2), np.int64), cut=len(kept) < len(row),
            ))  # fmt: skip
        return found

    def run(
        self, lengths: Sequence[int], forward: Callable[[NDArray[np.int64]], Sequence[Any]]
    ) -> list[Any]:
        """Answers of rows, in their order, computed in batches of similar length.

        Args:
            lengths: tokens of each row, [R].
            forward: takes row numbers and gives an answer for each; called in inference mode.

        Raises:
            BackendError: the device failed, or a single row does not fit its memory.
        """
        answers: list[Any] = [None] * len(lengths)
        waiting = np.arange(len(lengths))
        sizes = np.asarray(lengths, np.int64)
        while waiting.size:
            for part in batches(sizes[waiting], self._budget):
                rows = waiting[part]
                found = self._attempt(rows, forward)
                if found is None:
                    self._halve(sizes[rows])
                    break
                for row, answer in zip(rows.tolist(), found, strict=True):
                    answers[row] = answer
            waiting = np.array([row for row in waiting if answers[row] is None], np.int64)
        return answers

    def numbers(self, found: Sequence[float]) -> NDArray[np.float64]:
        """Answers of the network, float64.

        Raises:
            ModelError: one is not a number.
        """
        values = np.array(found, np.float64)
        if np.isnan(values).any():
            raise self.no_number()
        return values

    def no_number(self) -> ModelError:
        """What to raise where the network gave no number, with advice."""
        advice = "; try --dtype float32" if "dtype" in self.signature else ""
        return ModelError(f"{self.model}: it gave no number for some texts{advice}")

    def padded(self, rows: Sequence[NDArray[np.int64]], *, fill: int | None = None) -> Any:
        """Rows of token numbers as one tensor on the device, int64 [B, T].

        Args:
            rows: B rows.
            fill: what stands behind the end of a row; None for the padding token.
        """
        import torch

        width = max(row.size for row in rows)
        value = fill if fill is not None else self._pad
        table = np.full((len(rows), width), value, np.int64)
        for place, row in zip(table, rows, strict=True):
            place[: row.size] = row
        return torch.from_numpy(table).to(self.device)

    def mask(self, rows: Sequence[NDArray[np.int64]]) -> Any:
        """What of :meth:`padded` is text, int64 [B, T]."""
        return self.padded([np.ones_like(row) for row in rows], fill=0)

    @property
    def _pad(self) -> int:
        # Padding is never read, so that any token serves a tokenizer without one of its own.
        number = self.tokenizer.pad_token_id
        return 0 if number is None else int(number)

    def _attempt(
        self, rows: NDArray[np.int64], forward: Callable[[NDArray[np.int64]], Sequence[Any]]
    ) -> Sequence[Any] | None:
        """Answers, or None when the device's memory ran out."""
        import torch

        try:
            with torch.inference_mode():
                return forward(rows)
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                told = first_line(error)
                raise BackendError(f"{self.model}: the device failed: {told}") from error
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _halve(self, sizes: NDArray[np.int64]) -> None:
        size = int(sizes.max()) * sizes.size
        if sizes.size == 1:
            raise BackendError(
                f"{self.model}: one text of {size} tokens does not fit the memory of "
                f"{self.device}; use another device or a smaller model"
            )
        self._budget = min(self._budget, size) // 2
        warnings.warn(
            f"out of memory on {self.device}: batches now hold {self._budget:,} tokens",
            RuntimeWarning,
            stacklevel=2,
        )


def open_runner(kind: str, model: str, runtime: Runtime, parts: Parts = _USUAL) -> Runner:
    """The runner of a checkpoint; the same one as long as some metric still holds it.

    Args:
        kind: one of the constants of this module.
        model: checkpoint folder, registered name or hub name.
        runtime: device, precision and budget.
        parts: what of it is not read in the usual way.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option is out of range.
        BackendError: the device is not there.
    """
    key = (kind, str(resolve(model).resolve()), runtime, parts.tokenizer is not None)
    runner = _OPEN.get(key)
    if runner is None:
        runner = _OPEN[key] = Runner(kind, model, runtime, parts)
    return runner


def _row(rows: Any, row: int, cut: bool) -> Tokens:
    words: Iterator[int] = (-1 if word is None else word for word in rows.word_ids(row))
    return Tokens(
        ids=np.asarray(rows["input_ids"][row], np.int64),
        plain=np.asarray(rows["special_tokens_mask"][row], np.int64) == 0,
        word=np.fromiter(words, np.int64),
        span=np.asarray(rows["offset_mapping"][row], np.int64).reshape(-1, 2),
        cut=cut,
    )
