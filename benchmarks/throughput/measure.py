"""Time every contender on every model, in turns, and hold its decisions against float32's."""

from __future__ import annotations

import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.throughput.architectures import architecture, write_checkpoint
from benchmarks.throughput.contenders import CONTENDERS, Given, Opened
from benchmarks.throughput.machine import (
    allocated,
    forget_compiled,
    matmul_rate,
    peak_memory,
    release,
    synchronize,
)
from benchmarks.throughput.workload import Workload
from prevalence.errors import ConfigurationError, PrevalenceError, first_line
from prevalence.models.registry import SHIPPED
from prevalence.nli.scorer import NLIScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "MODELS",
    "PRODUCTS",
    "SIZES",
    "BenchSettings",
    "Measurement",
    "ModelResult",
    "measure_model",
]

MODELS = (
    "roberta-large", "deberta-v3-large", "ModernBERT-large", "roberta-base", "deberta-v3-base",
    *SHIPPED,
)  # fmt: skip
PRODUCTS = {"tiny": 1, "small": 8, "full": 512}
"""Products of each size, of 48 pairs each."""
SIZES = tuple(PRODUCTS)
_ALONE_PRODUCTS = 10
"""One pair a call is timed on no more than so many products; its rate does not depend on it."""
_SAMPLE_PRODUCTS = 40

Floats = NDArray[np.float32]
Found = TypeVar("Found")
Ready = dict[str, tuple[Opened, Workload]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """What to measure.

    Attributes:
        size: of the models, one of :data:`SIZES`; the models inside the package have one size.
        products: of the workload; None takes what goes with the size.
        device: ``cpu``, ``cuda``, ``cuda:1``.
        dtype: precision of all contenders.
        repeats: timed runs of each.
        contenders: their names; None for all.
        seed: of weights and texts.

    Raises:
        ConfigurationError: a value out of range.
    """

    size: str = "small"
    products: int | None = None
    device: str = "cpu"
    dtype: str = "float32"
    repeats: int = 3
    contenders: tuple[str, ...] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise ConfigurationError(f"unknown size {self.size!r}: choose from {', '.join(SIZES)}")
        if self.repeats < 1 or (self.products is not None and self.products < 1):
            raise ConfigurationError("repeats and products must be positive")
        unknown = set(self.contenders or ()) - set(CONTENDERS)
        if unknown:
            raise ConfigurationError(
                f"unknown contender {', '.join(sorted(unknown))}: choose from "
                + ", ".join(CONTENDERS)
            )


@dataclass(slots=True, kw_only=True)
class Measurement:
    """One contender on one model.

    Attributes:
        contender: its name.
        settings: what it has chosen for itself.
        reason: why there are no figures, or None.
        pairs: pairs of a run.
        tokens: tokens of these pairs, padding not counted.
        seconds: of each run, from strings to probabilities.
        share: of the device's rate of dense matrix products that the model's own arithmetic on
            these tokens makes; None where a model reads a text once for several pairs.
        memory: bytes at the peak of a run beyond what lay on the GPU before; None on a CPU.
        changed: pairs whose decision is not float32's.
    """

    contender: str
    settings: str = ""
    reason: str | None = None
    pairs: int = 0
    tokens: int = 0
    seconds: list[float] = field(default_factory=list)
    share: float | None = None
    memory: int | None = None
    changed: int | None = None

    @property
    def middle(self) -> float:
        """The median of the seconds."""
        return float(np.median(self.seconds))

    @property
    def pairs_per_second(self) -> float | None:
        """By the median run; None without figures."""
        return self.pairs / self.middle if self.seconds else None

    @property
    def tokens_per_second(self) -> float | None:
        """Likewise."""
        return self.tokens / self.middle if self.seconds else None


@dataclass(frozen=True, slots=True)
class ModelResult:
    """All contenders on one model.

    Attributes:
        model: name.
        size: of the model and the workload.
        threshold: where decisions were made.
        matmul_rate: measured best rate of dense products, in operations a second.
        rows: in the order of the table.
    """

    model: str
    size: str
    threshold: float
    matmul_rate: float
    rows: list[Measurement]


@dataclass(frozen=True, slots=True)
class _Costs:
    """What one token of a model costs: ``linear + attention · length`` operations.

    A model without figures reads texts once for several pairs.
    """

    linear: float
    attention: float

    def of(self, lengths: NDArray[np.int64]) -> float:
        return float(self.linear * lengths.sum() + self.attention * (lengths**2).sum())


def measure_model(
    name: str, settings: BenchSettings, *, progress: Callable[[str], None] = lambda _: None
) -> ModelResult:
    """Measure one model.

    Args:
        name: one of :data:`MODELS`.
        settings: what to measure.
        progress: called with what is about to be done.

    Returns:
        A row for every contender, with figures or with the reason why there are none.

    Raises:
        ConfigurationError: the model is not known.
    """
    products = settings.products or PRODUCTS[settings.size]
    work = Workload.draw(products, seed=settings.seed)
    forget_compiled()
    with _checkpoint(name, settings) as folder:
        progress(f"{name}: float32 for comparison")
        exact = NLIScorer(folder, device=settings.device)
        reference = exact.score(*work.numbered()).entailment
        threshold = exact.traits.threshold if name in SHIPPED else float(np.median(reference))
        lengths = work.tokens(exact.checkpoint.tokenizer)
        costs = None if name in SHIPPED else _costs(exact.checkpoint.model)
        del exact
        given = Given(
            folder=folder,
            device=settings.device,
            dtype=settings.dtype,
            threshold=threshold,
            sample=work.head(_SAMPLE_PRODUCTS if settings.device != "cpu" else 1),
        )
        before = matmul_rate(settings.device, settings.dtype)
        rows = _timed_rows(given, work, settings, lambda told: progress(f"{name}: {told}"))
        rate = _best_rate(before, settings)
    for row, found in rows:
        if found is not None:
            own = lengths[: row.pairs]
            row.tokens = int(own.sum())
            row.share = None if costs is None else costs.of(own) / row.middle / rate
            row.changed = int(((found > threshold) != (reference > threshold)[: row.pairs]).sum())
    return ModelResult(name, settings.size, threshold, rate, [row for row, _ in rows])


def _best_rate(before: float, settings: BenchSettings) -> float:
    """The rate of matrix products before or after the rows: the machine may be less busy now."""
    try:
        return max(before, matmul_rate(settings.device, settings.dtype))
    except RuntimeError:  # The last row may have left the device unusable, with figures in others.
        return before


@contextmanager
def _checkpoint(name: str, settings: BenchSettings) -> Iterator[str]:
    if name in SHIPPED:
        yield name
        return
    shape = architecture(name).at(settings.size)
    with tempfile.TemporaryDirectory(prefix="prevalence-bench-") as folder:
        write_checkpoint(shape, Path(folder), seed=settings.seed)
        yield folder


def _costs(model: Any) -> _Costs:
    """A product with a weight is two operations a number; attention has two products a layer."""
    import torch

    body = getattr(model, model.base_model_prefix)
    weights = sum(m.weight.numel() for m in body.modules() if isinstance(m, torch.nn.Linear))
    config = model.config
    return _Costs(2.0 * weights, 4.0 * config.num_hidden_layers * config.hidden_size)


def _timed_rows(
    given: Given, work: Workload, settings: BenchSettings, progress: Callable[[str], None]
) -> list[tuple[Measurement, Floats | None]]:
    """Rows with seconds and memory, and the answers of those that could run.

    Contenders take turns, so that what slows the machine for a while slows all of them.
    """
    rows: list[Measurement] = []
    ready: Ready = {}
    for name in settings.contenders or CONTENDERS:
        progress(f"{name}: opening")
        part = work.head(_ALONE_PRODUCTS) if name == "one pair a call" else work
        row, opened = _open(name, given, part)
        rows.append(row)
        if opened is not None:
            ready[name] = opened, part
        del opened
    answers: dict[str, Floats] = {}
    for turn in range(settings.repeats):
        for row in rows:
            if row.contender in ready:
                progress(f"{row.contender}: run {turn + 1} of {settings.repeats}")
                _turn(row, ready, answers, given.device)
    return [(row, answers.get(row.contender)) for row in rows]


def _open(name: str, given: Given, work: Workload) -> tuple[Measurement, Opened | None]:
    """Open a contender and warm it up; on a GPU with every shape that it will meet."""
    row = Measurement(contender=name)

    def warm() -> Opened:
        opened = CONTENDERS[name](given)
        opened.run(work if given.on_gpu else work.head(1))
        return opened

    opened = _attempt(row, warm)
    if opened is None:
        release(given.device)
    else:
        row.settings, row.pairs = opened.settings, len(work.pairs)
    return row, opened


def _attempt(row: Measurement, work: Callable[[], Found]) -> Found | None:
    """What some work gives; None, with the reason in the row, when it fails.

    Contenders fail in all ways (memory, compilers, other libraries), and none of them may take the
    others' figures along.
    """
    try:
        return work()
    except PrevalenceError as error:
        row.reason = str(error)
    except Exception as error:
        row.reason = f"{type(error).__name__}: {first_line(error)}"
    return None


def _turn(row: Measurement, ready: Ready, answers: dict[str, Floats], device: str) -> None:
    """Time a contender once more; one that fails is dropped, with all that it holds."""
    name = row.contender
    found = _attempt(row, lambda: _timed(row, *ready[name], device))
    if found is not None:
        answers[name] = found
        return
    del ready[name]
    answers.pop(name, None)
    row.seconds.clear()
    row.memory = None
    release(device)


def _timed(row: Measurement, opened: Opened, work: Workload, device: str) -> Floats:
    before = allocated(device)
    synchronize(device)
    begin = time.perf_counter()
    answers = opened.run(work)
    synchronize(device)
    row.seconds.append(time.perf_counter() - begin)
    peak = peak_memory(device, before)
    row.memory = peak if row.memory is None or peak is None else max(row.memory, peak)
    return answers
