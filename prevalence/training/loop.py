"""One training run: batches, schedule, clipping, averaging, early stopping, checkpoints."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from prevalence.errors import ModelError
from prevalence.models.devices import PRECISIONS, dtype_name
from prevalence.training import state
from prevalence.training.inputs import Inputs, plan_batches, target_tensors
from prevalence.training.model import Classifier, parameter_groups

if TYPE_CHECKING:
    from pathlib import Path

    from prevalence.training.mixture import TrainingPair
    from prevalence.training.recipe import Recipe

__all__ = ["RunPlan", "RunResult", "TrainingProgress", "nli_loss", "train_run", "working_dtype"]

_REPORTED = 20
"""Steps between reports of progress, whose losses are averaged."""


def nli_loss(logits: Tensor, targets: Tensor, binary: Tensor, *, smoothing: float = 0.0) -> Tensor:
    """Mean loss of a batch of three-way and binary targets.

    A three-way target t costs −Σ t log p. A binary target knows only q = P(entailment) and costs
    −q log p_e − (1 − q) log(1 − p_e), so the head is free to split the rest.

    Args:
        logits: float [n, 3] in the order entailment, neutral, contradiction.
        targets: float [n, 3], rows sum to 1; binary rows hold (q, 1 − q, 0).
        binary: bool [n].
        smoothing: share of each target spread evenly over its classes (3, or 2 when binary).

    Returns:
        Scalar loss in float32.
    """
    log_p = torch.log_softmax(logits.float(), dim=-1)
    log_not = torch.logsumexp(log_p[:, 1:], dim=-1)
    spread = targets * (1.0 - smoothing) + smoothing / 3.0
    threeway_loss = -(spread * log_p).sum(dim=-1)
    q = targets[:, 0] * (1.0 - smoothing) + smoothing / 2.0
    binary_loss = -(q * log_p[:, 0] + (1.0 - q) * log_not)
    return torch.where(binary, binary_loss, threeway_loss).mean()


class TrainingProgress(NamedTuple):
    """What a progress callback learns, once every few steps and at the end of an epoch.

    While a teacher or the model judges pairs, steps are pairs and there is no loss.
    """

    run: str
    step: int
    steps: int
    loss: float | None = None
    tokens_per_second: float = 0.0
    metric: float | None = None


ProgressCallback = Callable[[TrainingProgress], None]


@dataclass(frozen=True)
class RunPlan:
    """One run.

    Attributes:
        name: shown in progress.
        learning_rate: peak rate of the head.
        batch_tokens: padded tokens a batch.
        epochs: examples of each epoch, already drawn.
        seed: of batch order and dropout.
        checkpoint: file of the resumable state; removed when the run is done.
        validate: gives the value to maximise after each epoch, or None.
        patience: epochs without a better value before stopping.
        rounding: gives the weights to compute with, from those that gradients change; None for
            these themselves.
    """

    name: str
    learning_rate: float
    batch_tokens: int
    epochs: Sequence[Sequence[TrainingPair]]
    seed: int
    checkpoint: Path
    validate: Callable[[], float] | None = None
    patience: int = 2
    rounding: Callable[[Tensor], Tensor] | None = None


@dataclass
class RunResult:
    """Weights after a run, and what happened on the way."""

    weights: dict[str, Tensor]
    steps: int
    losses: list[float]
    metrics: list[float]
    seconds: float


@dataclass
class _Position:
    """Everything that changes while a run goes on, apart from tensors of model and optimizer."""

    step: int = 0
    losses: list[float] = field(default_factory=list)
    metrics: list[float] = field(default_factory=list)
    seconds: float = 0.0
    averaged: int = 0


class _Batch(NamedTuple):
    epoch: int
    rows: list[int]
    last: bool


class _Epoch(NamedTuple):
    inputs: Inputs
    targets: Tensor
    binary: Tensor


def working_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Type that a recipe's precision computes in; weights are always kept in float32."""
    name = "bfloat16" if device.type == "cuda" else "float32"
    name = dtype_name(precision, device, among=PRECISIONS, auto=name)
    return torch.bfloat16 if name == "bfloat16" else torch.float32


class _Working:
    """What computes gradients: the model, or a copy of it that follows its weights.

    The copy is in bfloat16, or its matrices are rounded, or both.
    """

    def __init__(
        self,
        classifier: Classifier,
        dtype: torch.dtype,
        rounding: Callable[[Tensor], Tensor] | None,
    ) -> None:
        self.classifier = classifier
        self.trainable = [p for p in classifier.model.parameters() if p.requires_grad]
        self._pairs: list[tuple[torch.nn.Parameter, torch.nn.Parameter]] = []
        self._rounding = rounding
        if dtype != torch.float32 or rounding is not None:
            model = copy.deepcopy(classifier.model).train()
            for parameter in model.parameters():  # Buffers, such as rotary angles, stay exact.
                parameter.data = self._computed(parameter.data).to(dtype)
            self.classifier = classifier._replace(model=model)
            copies = [p for p in model.parameters() if p.requires_grad]
            self._pairs = list(zip(self.trainable, copies, strict=True))

    def _computed(self, weight: Tensor) -> Tensor:
        return weight if self._rounding is None else self._rounding(weight)

    def hand_over(self) -> None:
        """Give the model the gradients of the copy."""
        for weight, computed in self._pairs:
            weight.grad = None if computed.grad is None else computed.grad.to(weight.dtype)
            computed.grad = None

    @torch.no_grad()
    def follow(self) -> None:
        """Give the copy the weights of the model."""
        for weight, computed in self._pairs:
            computed.copy_(self._computed(weight))


class _Run:
    """State of a run; ``train_run`` is the way in."""

    def __init__(self, classifier: Classifier, plan: RunPlan, recipe: Recipe) -> None:
        self.classifier, self.plan, self.recipe = classifier, plan, recipe
        self.device = next(classifier.model.parameters()).device
        dtype = working_dtype(recipe.run.precision, self.device)
        self.working = _Working(classifier, dtype, plan.rounding)
        groups = parameter_groups(
            classifier.model, recipe.optimizer, learning_rate=plan.learning_rate
        )
        self.rates = [group["lr"] for group in groups]
        self.optimizer = torch.optim.AdamW(groups, fused=True)
        self.position = _Position()
        self.average: dict[str, Tensor] = {}
        self.best: dict[str, Tensor] = {}
        self.epochs = [self._prepare(examples) for examples in plan.epochs]
        self.batches = self._plan()

    def _prepare(self, examples: Sequence[TrainingPair]) -> _Epoch:
        pairs = [(example.premise, example.hypothesis) for example in examples]
        return _Epoch(self.classifier.inputs(pairs), *target_tensors(examples))

    def _plan(self) -> list[_Batch]:
        batches: list[_Batch] = []
        for number, epoch in enumerate(self.epochs):
            rng = np.random.default_rng([self.plan.seed, number])
            given = epoch.inputs
            rows = plan_batches(given.sizes, budget=self.plan.batch_tokens, rng=rng)
            batches.extend(_Batch(number, r, i == len(rows) - 1) for i, r in enumerate(rows))
        return batches

    def rate_factor(self, step: int) -> float:
        """Linear warm-up, then linear decay; ``step`` counts from 0."""
        total = len(self.batches)
        warm = math.ceil(self.recipe.optimizer.warmup * total)
        if step < warm:
            return (step + 1) / warm
        return (total - step) / max(total - warm, 1)

    def step(self) -> tuple[float, int]:
        """Take one optimizer step; returns loss and tokens."""
        planned = self.batches[self.position.step]
        epoch = self.epochs[planned.epoch]
        factor = self.rate_factor(self.position.step)
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        value, tokens = self._gradients(epoch, planned.rows)
        if not math.isfinite(value):
            raise ModelError(
                f"run {self.plan.name}: the loss is {value} at step {self.position.step + 1}; "
                "lower the stage's learning_rate or set run.precision = 'float32'"
            )
        self.working.hand_over()
        torch.nn.utils.clip_grad_norm_(self.working.trainable, self.recipe.optimizer.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.working.follow()
        self.position.step += 1
        self.position.losses.append(round(value, 5))
        self._update_average()
        return value, tokens

    def _gradients(self, epoch: _Epoch, rows: Sequence[int]) -> tuple[float, int]:
        """Loss of a batch and its tokens; the gradients are left in the working model."""
        batch = epoch.inputs.batch(rows, self.device)
        logits = self.working.classifier.logits(batch.inputs)
        smoothing = self.recipe.optimizer.label_smoothing
        target = epoch.targets[batch.members].to(self.device)
        binary = epoch.binary[batch.members].to(self.device)
        loss = nli_loss(logits, target, binary, smoothing=smoothing)
        value = float(loss.detach())
        if math.isfinite(value):
            loss.backward()  # type: ignore[no-untyped-call]
        return value, batch.tokens

    def _update_average(self) -> None:
        if self.position.step <= self.recipe.optimizer.average_from * len(self.batches):
            return
        self.position.averaged += 1
        if not self.average:
            self.average = state.trainable_weights(self.classifier.model)
            return
        parameters = dict(self.classifier.model.named_parameters())
        for name, mean in self.average.items():
            mean.lerp_(parameters[name].detach(), 1.0 / self.position.averaged)

    def validate(self) -> bool:
        """Judge the finished epoch; returns whether to stop."""
        if self.plan.validate is None:
            return False
        value = self.plan.validate()
        previous = max(self.position.metrics, default=-math.inf)
        self.position.metrics.append(value)
        if value > previous:
            self.best = state.trainable_weights(self.classifier.model)
        since = len(self.position.metrics) - 1 - int(np.argmax(self.position.metrics))
        return since >= self.plan.patience

    def save(self) -> None:
        model, facts = self.classifier.model, vars(self.position)
        state.save_run(
            self.plan.checkpoint, model, self.optimizer, facts, average=self.average, best=self.best
        )

    def resume(self) -> None:
        parts, facts = state.load_parts(self.plan.checkpoint)
        state.resume_run(parts, self.classifier.model, self.optimizer)
        self.average = {k: v.to(self.device) for k, v in parts["average"].items()}
        self.best = parts["best"]
        self.position = _Position(**facts)
        self.working.follow()

    def result(self) -> RunResult:
        weights = self.best or self.average or state.trainable_weights(self.classifier.model)
        where = self.position
        return RunResult(weights, where.step, where.losses, where.metrics, where.seconds)


def train_run(
    classifier: Classifier,
    plan: RunPlan,
    recipe: Recipe,
    *,
    progress: ProgressCallback | None = None,
) -> RunResult:
    """Train from the classifier's present weights, or from the plan's checkpoint if it exists.

    Args:
        classifier: model to train in place.
        plan: examples, rate, seed and checkpoint file.
        recipe: optimizer and run settings.
        progress: called every 20 steps and after each epoch.

    Returns:
        Final weights (the best epoch's under validation, the average where that is on).

    Raises:
        ModelError: the loss is not finite.
    """
    torch.manual_seed(plan.seed)
    run = _Run(classifier, plan, recipe)
    if plan.checkpoint.is_file():
        run.resume()
    classifier.model.train()
    start, tokens, before = time.perf_counter(), 0, run.position.seconds
    while run.position.step < len(run.batches):
        batch = run.batches[run.position.step]
        _, size = run.step()
        tokens += size
        elapsed = time.perf_counter() - start
        run.position.seconds = before + elapsed
        stop = batch.last and run.validate()
        if progress is not None and (batch.last or run.position.step % _REPORTED == 0):
            progress(_report(run, tokens / max(elapsed, 1e-9)))
        if stop:
            break
        if run.position.step % recipe.run.checkpoint_every == 0:
            run.save()
    return run.result()


def _report(run: _Run, speed: float) -> TrainingProgress:
    where = run.position
    loss = float(np.mean(where.losses[-_REPORTED:]))
    metric = where.metrics[-1] if where.metrics else None
    return TrainingProgress(run.plan.name, where.step, len(run.batches), loss, speed, metric)
