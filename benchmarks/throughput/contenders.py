"""Ways to score the same pairs, from strings to probabilities: what is common, and ours."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prevalence.errors import ConfigurationError, MissingDependencyError, PrevalenceError
from prevalence.models.checkpoint import PREMISE_FIRST, load_checkpoint, quiet_transformers
from prevalence.nli.disentangled import DISENTANGLED
from prevalence.nli.joint import PackedJointReader
from prevalence.nli.pairs import TextTable
from prevalence.nli.recheck import RecheckedScorer
from prevalence.nli.scorer import NLIScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.throughput.workload import Workload
    from prevalence.nli.pairs import PairScorer

__all__ = ["CONTENDERS", "Given", "Opened"]

Answers = NDArray[np.float32]
TextPairs = list[tuple[str, str]]

_NAIVE_BATCH = 64
_PLAIN_ALONE = "premise-first attention: a plain cross-encoder does not read this model's way"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What every contender is given.

    Attributes:
        folder: the checkpoint.
        device: where to run.
        dtype: ``float32``, ``float16`` or ``bfloat16``.
        threshold: where decisions are made.
        sample: a small workload, to choose settings on.
    """

    folder: str
    device: str
    dtype: str
    threshold: float
    sample: Workload

    @property
    def on_gpu(self) -> bool:
        """Whether the device is a CUDA device."""
        return self.device.startswith("cuda")


class Opened(NamedTuple):
    """A contender that is ready.

    Attributes:
        run: P(entailment) of every pair of a workload, float32 [P].
        settings: what it has chosen for itself.
    """

    run: Callable[[Workload], Answers]
    settings: str = ""


class _Plain:
    """A classifier as its library's own examples use it."""

    def __init__(self, given: Given) -> None:
        import torch

        self._checkpoint = load_checkpoint(given.folder, dtype=getattr(torch, given.dtype))
        self._device = given.device
        self.premise_first = self._checkpoint.attention == PREMISE_FIRST
        self._checkpoint.model.to(given.device)

    def answers(self, pairs: TextPairs) -> Answers:
        """Probabilities of one batch, padded to its longest pair."""
        import torch

        inputs = self._checkpoint.tokenizer(
            [premise for premise, _ in pairs],
            [hypothesis for _, hypothesis in pairs],
            padding=True,
            truncation="only_first",
            max_length=self._checkpoint.max_length,
            return_tensors="pt",
        ).to(self._device)
        with torch.inference_mode():
            logits = self._checkpoint.model(**inputs).logits.float()
        found = logits.softmax(dim=1)[:, self._checkpoint.labels.entailment]
        return np.asarray(found.cpu().numpy(), np.float32)

    def in_batches(self, work: Workload, size: int) -> Answers:
        """All pairs in input order."""
        parts = (work.pairs[at : at + size] for at in range(0, len(work.pairs), size))
        return np.concatenate([self.answers(part) for part in parts])


def _one_pair(given: Given) -> Opened:
    plain = _Plain(given)
    if not plain.premise_first:
        return Opened(lambda work: plain.in_batches(work, 1))
    scorer = _scorer(given)
    return Opened(lambda work: _one_by_one(scorer, work), "our scorer, a call a pair")


def _one_by_one(scorer: PairScorer, work: Workload) -> Answers:
    answers = np.empty(len(work.pairs), np.float32)
    for row, pair in enumerate(work.pairs):
        table = TextTable()
        numbers = table.add_all(pair)[None]
        answers[row] = scorer.score(table, numbers).entailment[0]
    return answers


def _padded_batches(given: Given) -> Opened:
    plain = _Plain(given)
    if plain.premise_first:
        raise ConfigurationError(_PLAIN_ALONE)
    return Opened(
        lambda work: plain.in_batches(work, _NAIVE_BATCH), f"batches of {_NAIVE_BATCH}, unsorted"
    )


def _cross_encoder(given: Given) -> Opened:
    """The library's own predict at the batch size, and compiled or not, whichever is fastest."""
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise MissingDependencyError(
            "sentence-transformers is not installed (pip install prevalence[bench])"
        ) from error
    import torch

    checkpoint = load_checkpoint(given.folder)
    if checkpoint.attention == PREMISE_FIRST:
        raise ConfigurationError(_PLAIN_ALONE)

    def opened(*, compiled: bool) -> Any:
        with quiet_transformers():
            model = CrossEncoder(
                given.folder,
                device=given.device,
                max_length=checkpoint.max_length,
                model_kwargs={"dtype": getattr(torch, given.dtype)},
            )
        if compiled:
            _compile_layers(model)
        return model

    def runner(model: Any, batch: int) -> Callable[[Workload], Answers]:
        return lambda work: np.asarray(
            model.predict(
                work.pairs, batch_size=batch, show_progress_bar=False, apply_softmax=True
            )[:, checkpoint.labels.entailment],
            np.float32,
        )

    models = {"": opened(compiled=False)}
    if given.on_gpu:
        models[", compiled"] = opened(compiled=True)
    sizes = (32, 128, 512) if given.on_gpu else (16, 64)
    choices = {f"batches of {b}{how}": runner(m, b) for how, m in models.items() for b in sizes}
    return _fastest(choices, given.sample)


def _fastest(choices: dict[str, Callable[[Workload], Answers]], sample: Workload) -> Opened:
    taken = {}
    for name, run in choices.items():
        run(sample)
        begin = time.perf_counter()
        run(sample)
        taken[name] = time.perf_counter() - begin
    best = min(taken, key=lambda name: taken[name])
    return Opened(choices[best], best)


def _scorer(given: Given, *, dtype: str | None = None, packing: str = "auto") -> NLIScorer:
    return NLIScorer(
        given.folder,
        threshold=given.threshold,
        device=given.device,
        dtype=dtype or given.dtype,
        packing=packing,
    )


def _ours(scorer: PairScorer) -> Callable[[Workload], Answers]:
    """From strings: every run has a table of its own, so that texts are tokenised anew."""
    return lambda work: scorer.score(*work.numbered()).entailment


def _ours_padded(given: Given) -> Opened:
    return Opened(_ours(_scorer(given, packing="padded")))


def _ours_packed(given: Given) -> Opened:
    return Opened(_ours(_scorer(given, packing="packed")))


def _ours_compiled(given: Given) -> Opened:
    if not given.on_gpu:
        raise ConfigurationError("measured on a GPU only")
    scorer = _scorer(given, packing="packed")
    _compile_ours(scorer)
    return Opened(_ours(scorer), "layers compiled but for attention")


def _compile_ours(scorer: NLIScorer) -> None:
    """Compile what a packing scorer calls of each layer; attention stays as it is.

    Where the model's own layers are called, they break in two around the attention that they are
    given. Elsewhere our code is the layer, and calls what comes after attention.
    """
    model = scorer.checkpoint.model
    kind = model.config.model_type
    if isinstance(scorer.reader, PackedJointReader) and kind not in DISENTANGLED:
        _compile_layers(model)
        return
    for layer in _layers(model):
        after = getattr(layer.attention, "output", None)  # MPNet has none.
        for part in (after, layer.intermediate, layer.output):
            if part is not None:
                part.compile(dynamic=True)


def _ours_rechecked(given: Given) -> Opened:
    """The faster of ours, with the decisions of float32."""
    if given.dtype == "float32":
        raise ConfigurationError("float32 needs no recheck")
    try:
        fast, how = _scorer(given, packing="packed"), "packed"
    except PrevalenceError:
        fast, how = _scorer(given), ""
    ours = _ours(RecheckedScorer(fast, lambda: _scorer(given, dtype="float32")))

    def run(work: Workload) -> Answers:
        with warnings.catch_warnings():
            # Random weights may exceed the bound; the column of changed decisions tells.
            warnings.filterwarnings("ignore", "rounding moved", RuntimeWarning)
            return ours(work)

    return Opened(run, how)


def _compile_layers(model: Any) -> None:
    """Compile each layer in place, whoever calls it; lengths vary, so shapes stay dynamic."""
    for layer in _layers(model):
        layer.compile(dynamic=True)


def _layers(model: Any) -> Iterator[Any]:
    """The members of the longest list of modules, which are the encoder's layers."""
    import torch

    lists: Sequence[Any] = [m for m in model.modules() if isinstance(m, torch.nn.ModuleList)]
    yield from max(lists, key=len, default=())


CONTENDERS: dict[str, Callable[[Given], Opened]] = {
    "one pair a call": _one_pair,
    "padded batches": _padded_batches,
    "CrossEncoder": _cross_encoder,
    "ours padded": _ours_padded,
    "ours packed": _ours_packed,
    "ours compiled": _ours_compiled,
    "ours rechecked": _ours_rechecked,
}
"""By name, in the order of the table; one that cannot run raises a PrevalenceError."""
