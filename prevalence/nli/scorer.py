"""The pair scorer on Hugging Face sequence-classification models."""

from __future__ import annotations

import hashlib
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import (
    BackendError,
    ConfigurationError,
    ModelError,
    PrevalenceError,
    first_line,
)
from prevalence.metric import check_threshold
from prevalence.models.checkpoint import PREMISE_FIRST, LoadedCheckpoint, load_checkpoint
from prevalence.models.devices import PACKINGS, dtype_name, open_device
from prevalence.nli.pairs import (
    FLAG_TOO_LONG,
    FLAG_TRUNCATED,
    PairScorer,
    PairScores,
    Progress,
    ScorerTraits,
    TextTable,
)
from prevalence.nli.running import MOST_LANES, BatchRunner
from prevalence.nli.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.nli.packing import Fitted
    from prevalence.nli.running import PairReader

__all__ = ["TRUNCATIONS", "NLIScorer", "open_reader", "rounding_doubt"]

TRUNCATIONS = ("premise", "longest-first")
"""What gives way when a pair is too long: the end of the premise, or of the longer text."""

_CPU_BUDGET = 2_048
_GPU_BUDGET = 65_536
_GPU_UNIT = 131_072
_PADDING_TOLERANCE = {"float32": 1e-3, "float16": 0.05, "bfloat16": 0.2}
# Ten times the largest difference from float32 in 352 pairs of a premise-first MiniLM (.005, .053).
_DOUBT = {"float32": 0.0, "float16": 0.05, "bfloat16": 0.53}


class NLIScorer(PairScorer):
    """P(entailment) and P(contradiction) of pairs, in batches under a token budget.

    Args:
        model: registered name, checkpoint folder or hub name.
        threshold: decision threshold; None takes the checkpoint's own.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        dtype: one of :data:`prevalence.models.devices.DTYPES`.
        batch_tokens: most tokens in a batch, padding included; halved when memory runs out.
        windows: read long premises in windows that advance by this many tokens, and let the
            window with the highest P(entailment) decide; None reads the beginning only.
        max_length: a limit below the model's own; of the premise alone where the checkpoint has
            premise-first attention.
        at_most: a limit like ``max_length``, where a model that reads less keeps its own.
        truncation: one of :data:`TRUNCATIONS`; windows go with the first alone.
        labels: class names in output order, where the checkpoint does not name them.
        workers: batches computed side by side; None takes torch's number of threads on a CPU (8 at
            most, each with its share of the threads) and 1 elsewhere. Answers do not depend on it.
        packing: ``packed`` computes no padding, for the model types of
            :data:`prevalence.nli.registered.PACKED_FAMILIES`; ``padded`` works for all; ``auto``
            packs on a CUDA device where the model allows it, and DeBERTa on a CPU too.

    Attributes:
        checkpoint: the loaded checkpoint.
        reader: turns pairs into logits; see :func:`open_reader`.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option is out of range.
        BackendError: the device is not there, or one pair alone does not fit its memory.
    """

    def __init__(
        self,
        model: str = "embedded",
        *,
        threshold: float | None = None,
        device: str = "auto",
        dtype: str = "auto",
        batch_tokens: int | None = None,
        windows: int | None = None,
        max_length: int | None = None,
        at_most: int | None = None,
        truncation: str = "premise",
        labels: Sequence[str] | None = None,
        workers: int | None = None,
        packing: str = "auto",
    ) -> None:
        import torch

        if workers is not None and workers < 1:
            raise ConfigurationError(f"the number of workers must be positive, not {workers}")
        if batch_tokens is not None and batch_tokens < 1:
            raise ConfigurationError(f"batch tokens must be positive, not {batch_tokens}")
        if windows is not None and windows < 1:
            raise ConfigurationError(f"the window stride must be positive, not {windows}")
        if truncation not in TRUNCATIONS or (windows and truncation != "premise"):
            raise ConfigurationError(
                f"truncation {truncation!r}: choose from {', '.join(TRUNCATIONS)}, and no windows "
                "with the last"
            )
        if packing not in PACKINGS:
            raise ConfigurationError(f"packing {packing!r}: choose from {', '.join(PACKINGS)}")
        if threshold is not None:
            check_threshold(threshold)
        self._device = open_device(device)
        self._dtype = dtype_name(dtype, self._device)
        self.checkpoint = load_checkpoint(
            model,
            dtype=getattr(torch, self._dtype),
            labels=labels,
            max_length=max_length,
            at_most=at_most,
        )
        self.reader = open_reader(self.checkpoint, self._device, packing)
        self._windows = windows
        self._longest_first = truncation == "longest-first"
        limits = windows, max_length, at_most
        self._by_default = limits == (None, None, None) and not self._longest_first
        on_cpu = self._device.type == "cpu"
        self._runner = BatchRunner(
            self.reader,
            self._device,
            budget=batch_tokens or (_CPU_BUDGET if on_cpu else _GPU_BUDGET),
            workers=workers or (min(torch.get_num_threads(), MOST_LANES) if on_cpu else 1),
        )
        self._stores: weakref.WeakKeyDictionary[TextTable, TokenStore] = weakref.WeakKeyDictionary()
        super().__init__(self._traits(threshold, named_labels=labels is not None))
        self._check_answers()

    @property
    def batch_tokens(self) -> int:
        """Most tokens in a batch; what it has come down to where memory ran out."""
        return self._runner.budget

    @batch_tokens.setter
    def batch_tokens(self, most: int) -> None:
        """Set the most tokens in a batch, from now on."""
        self._runner.budget = most

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        if not len(pairs):
            return result
        store, fitted = self._fit(texts, pairs)
        result.flags[fitted.truncated] |= FLAG_TRUNCATED
        result.flags[fitted.too_long] |= FLAG_TOO_LONG
        if progress is not None and fitted.too_long.any():
            progress(int(fitted.too_long.sum()))
        rows = self._run(store, fitted, progress)
        labels = self.checkpoint.labels
        best = rows
        if self._windows is not None:
            best = rows[_best_rows(fitted.owner, rows[:, labels.entailment])]
        result.entailment[~fitted.too_long] = best[:, labels.entailment]
        if labels.contradiction is not None:
            result.contradiction[~fitted.too_long] = best[:, labels.contradiction]
        return result

    def _traits(self, threshold: float | None, *, named_labels: bool) -> ScorerTraits:
        signature = self._signature(named_labels=named_labels)
        # The weights are in the digest by content; the folder's name must not change it.
        settings = {key: part for key, part in signature.items() if key != "nli"}
        described = repr((self.checkpoint.labels, sorted(settings.items()))).encode()
        return ScorerTraits(
            digest=hashlib.blake2b(self.checkpoint.digest + described, digest_size=16).digest(),
            signature=signature,
            threshold=self.checkpoint.threshold if threshold is None else threshold,
            calibrated=self.checkpoint.calibrated or threshold is not None,
            three_way=self.checkpoint.labels.contradiction is not None,
            probability=True,
            doubt=_DOUBT[self._dtype],
            rechecks=False,
            cached=False,
            devices=1,
            work_unit=self.reader.work_unit if self._device.type == "cpu" else _GPU_UNIT,
            # Measured as the checkpoint reads by default.
            errors=self.checkpoint.errors if self._by_default else None,
        )

    def _signature(self, *, named_labels: bool) -> dict[str, str]:
        """Model with weights digest, granularity, truncation, and what departs from defaults."""
        parts = {
            "nli": f"{self.checkpoint.name}@{self.checkpoint.digest.hex()[:12]}",
            "gran": "document" if self._windows is None else f"window{self._windows}",
            **self.reader.signature,
        }
        if self._longest_first:
            parts["trunc"] += "-longest"
        if self._dtype != "float32":
            parts["dtype"] = self._dtype
        if named_labels:
            parts["labels"] = str(self.checkpoint.labels)
        return parts

    def _check_answers(self) -> None:
        """Ask a short pair alone and beside a longer one, before any work is planned.

        Raises:
            ModelError: the model does not answer pairs, or an answer depends on the batch: its
                head reads padding, or its attention another pair.
        """
        texts = TextTable()
        long, short = texts.add_all(["It is fine, and I would buy it again. " * 3, "ok"])
        try:
            store, fitted = self._fit(texts, np.array([[long, short], [short, short]]))
            if fitted.too_long.any():
                return
            tokens = self.reader.place(store)
            both, alone = (
                None if answer is None else answer.cpu().numpy()
                for answer in (
                    self._runner.compute(tokens, fitted.spans[[0, -1]]),
                    self._runner.compute(tokens, fitted.spans[[-1]]),
                )
            )
        except PrevalenceError:
            raise
        except Exception as error:
            raise ModelError(
                f"{self.checkpoint.name}: it cannot score pairs of texts: {first_line(error)}"
                + self.reader.advice
            ) from error
        if both is None or alone is None:
            raise BackendError(f"out of memory on {self._device}; try device='cpu' or --device cpu")
        if alone.shape[1] != self.checkpoint.labels.size:
            raise ModelError(
                f"{self.checkpoint.name}: it gives {alone.shape[1]} numbers for a pair, and its "
                f"config names {self.checkpoint.labels.size} classes"
            )
        tolerance = _PADDING_TOLERANCE[self._dtype]
        if (np.abs(both[1] - alone[0]) > tolerance).any():
            raise ModelError(
                f"{self.checkpoint.name}: its answer to a pair changes with what else is in the "
                "batch; use a checkpoint of another architecture (BERT, RoBERTa, DeBERTa, BART)"
            )

    def _fit(self, texts: TextTable, pairs: NDArray[np.int64]) -> tuple[TokenStore, Fitted]:
        store = self._stores.get(texts)
        if store is None:
            head = None if self._windows else self.reader.longest
            store = self._stores[texts] = TokenStore(self.checkpoint.tokenizer, head=head)
        fitted = self.reader.fit(
            store.spans(texts, pairs[:, 0]),
            store.spans(texts, pairs[:, 1]),
            stride=self._windows,
            longest_first=self._longest_first,
        )
        return store, fitted

    def _run(
        self, store: TokenStore, fitted: Fitted, progress: Progress | None
    ) -> NDArray[np.float32]:
        """Class probabilities of every fitted row, float32 [R, classes]."""
        opens_pair = np.diff(fitted.owner, prepend=-1) > 0

        def finished(rows: NDArray[np.int64]) -> None:
            if progress is not None:
                progress(int(opens_pair[rows].sum()))

        with self._runner.guarded():
            tokens = self.reader.place(store)
        probabilities = self._runner.run(
            tokens, fitted.spans, self.checkpoint.labels.size, finished=finished
        )
        if not np.isfinite(probabilities).all():
            raise ModelError(
                f"{self.checkpoint.name}: it gave no finite number for some pairs"
                + ("; try float32 (dtype= or --dtype)" if self._dtype != "float32" else "")
            )
        return probabilities


def _best_rows(owner: NDArray[np.int64], entailment: NDArray[np.float32]) -> NDArray[np.int64]:
    """For each pair, in pair order, its row of greatest P(entailment); the first of equals."""
    order = np.lexsort((np.arange(owner.size), -entailment, owner))
    return order[np.diff(owner[order], prepend=-1) > 0]


def rounding_doubt(dtype: str) -> float:
    """How far a classifier's arithmetic in a resolved dtype may move log-odds; 0 for float32."""
    return _DOUBT[dtype]


def open_reader(checkpoint: LoadedCheckpoint, device: Any, packing: str = "auto") -> PairReader:
    """The reader that a checkpoint asks for, its model moved to a device.

    Args:
        checkpoint: model and tokenizer.
        device: torch device.
        packing: one of :data:`prevalence.models.devices.PACKINGS`. Premise-first models are always
            packed; on a CUDA device their attention is fused, in half precision with ``auto`` and
            in any with ``packed``.

    Raises:
        ModelError: the tokenizer's special tokens are not what the reader needs, or the model
            cannot be read with this packing.
        BackendError: a kernel that was asked for cannot be built here.
    """
    if checkpoint.attention == PREMISE_FIRST:
        return _open_premise_first(checkpoint, device, packing)
    if packing != "padded":
        from prevalence.nli.joint import PackedJointReader, worth_packing

        if packing == "packed" or worth_packing(checkpoint, device):
            return PackedJointReader(checkpoint, device)
    from prevalence.nli.joint import JointReader

    return JointReader(checkpoint, device)


def _open_premise_first(checkpoint: LoadedCheckpoint, device: Any, packing: str) -> PairReader:
    """A premise-first reader with fused attention where that is asked for, or faster and known."""
    from prevalence.nli.premise_first import PremiseFirstReader, fuses

    if packing == "padded":
        raise ModelError(
            f"{checkpoint.name}: {PREMISE_FIRST} attention has no padded form; leave packing on "
            "auto (packing= or --packing)"
        )
    if device.type == "cuda" and (packing == "packed" or fuses(checkpoint)):
        try:
            return PremiseFirstReader(checkpoint, device, "fused")
        except BackendError as error:
            if packing == "packed":
                raise BackendError(
                    f"{error}; leave packing on auto (packing= or --packing)"
                ) from error
            warnings.warn(
                f"{error}; attention on padded copies takes several times as long",
                RuntimeWarning,
                stacklevel=3,
            )
    return PremiseFirstReader(checkpoint, device, "padded")
