"""Stages of a recipe as cached runs: equal stages of different recipes are trained once."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from prevalence.calibration import auc, best_threshold
from prevalence.errors import ConfigurationError
from prevalence.labelled import read_documents
from prevalence.models.checkpoint import PREMISE_FIRST
from prevalence.models.location import folder_digest
from prevalence.models.quantized import rounded
from prevalence.scorers.registry import open_scorer
from prevalence.training import state
from prevalence.training.distillation import ask_about, teach, write_documents
from prevalence.training.inputs import plan_batches
from prevalence.training.loop import (
    ProgressCallback,
    RunPlan,
    RunResult,
    TrainingProgress,
    train_run,
)
from prevalence.training.mixture import MixPart, draw_mixture
from prevalence.training.model import Classifier, load_classifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from prevalence.stats.arrays import Floats
    from prevalence.training.recipe import Stage, Teacher
    from prevalence.training.sources import Sources

__all__ = ["StageResult", "Workshop", "predict"]


_BATCH_TOKENS = 4096
"""Padded tokens a batch, where nothing is learnt from it."""


def predict(
    classifier: Classifier,
    pairs: Sequence[tuple[str, str]],
    *,
    progress: Callable[[int], None] | None = None,
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Probabilities of entailment, neutral and contradiction.

    Args:
        classifier: model and tokenizer; its training mode is restored afterwards.
        pairs: premise and hypothesis.
        progress: called with the number of pairs of each batch.

    Returns:
        float32 [len(pairs), 3], rows sum to 1, in the order of the pairs.
    """
    model = classifier.model
    device = next(model.parameters()).device
    inputs = classifier.inputs(pairs)
    result = np.zeros((len(pairs), 3), dtype=np.float32)
    training = model.training
    model.eval()
    with torch.inference_mode():
        for units in plan_batches(inputs.sizes, budget=_BATCH_TOKENS):
            batch = inputs.batch(units, device)
            logits = classifier.logits(batch.inputs)
            result[batch.members] = torch.softmax(logits.float(), dim=-1).cpu().numpy()
            if progress is not None:
                progress(len(batch.members))
    model.train(training)
    return result


_FORMAT = 3


@dataclass(frozen=True)
class StageResult:
    """Weights after a stage; ``key`` names everything that went into them."""

    key: str
    weights: Mapping[str, Tensor]
    seconds: float = 0.0


class Workshop:
    """Where the stages of a recipe are trained: the model, the data, the work folder.

    Args:
        sources: the recipe and its data.
        base: folder of the checkpoint that the first stage starts from.
        work: folder of finished stages and resumable state.
        device: of the model.
        progress: called during training.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        base: Path,
        work: Path,
        device: torch.device,
        progress: ProgressCallback | None,
    ) -> None:
        recipe = sources.recipe
        self.sources, self.recipe, self.work, self.progress = sources, recipe, work, progress
        self.base = base
        classifier = load_classifier(self.base, recipe.model, seed=recipe.run.seed)
        classifier.model.to(device)
        self.classifier: Classifier = classifier
        self.device = device
        self.start = StageResult(self._base_key(), state.trainable_weights(classifier.model))

    def _base_key(self) -> str:
        run = self.recipe.run
        return _hash(
            _FORMAT,
            folder_digest(self.base).hex(),
            dataclasses.asdict(self.recipe.model) | {"base": ""},
            dataclasses.asdict(self.recipe.optimizer),
            (run.seed, run.precision, run.batch_tokens, self.device.type),
        )

    def learn_from(self, models: Sequence[str], teacher: Teacher) -> None:
        """Give the reviews of taught sources the soft labels of teachers.

        The labels are kept in the work folder, and so are the teachers' answers on the way.

        Args:
            models: the teachers' folders or registered names.
            teacher: what they are asked, and how their answers are mixed with given labels.

        Raises:
            ConfigurationError: a taught source has no pair to ask about.
        """
        cache = self.work / "teacher-pairs"
        scorers = [
            open_scorer(
                model, device=str(self.device), dtype=teacher.dtype, cache=cache, recheck=False
            )
            for model in models
        ]
        settings = dataclasses.asdict(teacher) | {"models": (), "recipes": (), "seeds": ()}
        for source in (source for source in self.recipe.sources if source.taught):
            documents = self.sources.documents(source.name)
            key = _hash(
                [scorer.traits.digest.hex() for scorer in scorers], settings,
                self.sources.digests[source.name], source.labels, source.summaries,
                self.recipe.run.seed,
            )  # fmt: skip
            path = self.work / f"taught-{source.name}-{key}.jsonl"
            if not path.is_file():
                asked = ask_about(
                    documents, siblings=teacher.siblings, foreign=teacher.foreign, own=teacher.own,
                    seed=self.recipe.run.seed,
                )  # fmt: skip
                if not any(d.hypotheses or d.unlabelled for d in asked):
                    raise ConfigurationError(
                        f"source {source.name!r} has no pair to ask a teacher about; raise "
                        "teacher.siblings, foreign or own, or leave taught out"
                    )
                total = len(scorers) * sum(len(d.hypotheses) + len(d.unlabelled) for d in asked)
                report = self._pairs_judged(f"teacher on {source.name}", total)
                write_documents(path, teach(asked, scorers, keep=teacher.keep, progress=report))
            self.sources.teach(source.name, read_documents(path), key)

    def _pairs_judged(self, run: str, total: int, *, every: int = 1) -> Callable[[int], None]:
        """What counts judged pairs, and reports whenever ``every`` more are done."""
        done = reported = 0

        def judged(pairs: int) -> None:
            nonlocal done, reported
            done += pairs
            if self.progress is not None and done - reported >= every:
                reported = done
                self.progress(TrainingProgress(run, done, total))

        return judged

    def entailment(self, pairs: Sequence[tuple[str, str]], *, run: str = "judging") -> Floats:
        """P(entailment) of pairs under the present weights, rounded as the output stores them.

        Args:
            pairs: premise and hypothesis.
            run: what progress calls it, if it is long.
        """
        report = self._pairs_judged(run, len(pairs), every=500)
        with self._as_stored():
            found = predict(self.classifier, pairs, progress=report)
        return found[:, 0].astype(np.float64)

    @contextmanager
    def _as_stored(self) -> Iterator[None]:
        """Round the model's weights for a while, where they are stored with scales."""
        rounding = self._rounding()
        if rounding is None:
            yield
            return
        parameters = list(self.classifier.model.parameters())
        exact = [parameter.data for parameter in parameters]
        try:
            for parameter in parameters:
                parameter.data = rounding(parameter.data)
            yield
        finally:
            for parameter, weight in zip(parameters, exact, strict=True):
                parameter.data = weight

    def _rounding(self) -> Callable[[Tensor], Tensor] | None:
        output = self.recipe.output
        return partial(rounded, bits=output.bits, block=output.block) if output.bits else None

    def load(self, outcome: StageResult) -> None:
        """Put the weights of an outcome into the model."""
        state.load_weights(self.classifier.model, outcome.weights)

    def run_stage(
        self,
        stage: Stage,
        parent: StageResult,
        *,
        without: frozenset[str] = frozenset(),
        label: str = "",
    ) -> StageResult:
        """Train a stage from its parent's weights, or fetch it from the work folder.

        Args:
            stage: what to train.
            parent: outcome to start from.
            without: groups to leave out of every source.
            label: shown in progress and part of the seed, to tell folds apart.

        Returns:
            The outcome.
        """
        key = self._stage_key(stage, parent, without, label)
        finished = self.work / f"{stage.name}-{key}.safetensors"
        if finished.is_file():
            weights, facts = state.load_tensors(finished)
            return StageResult(key, weights, float(facts["seconds"]))
        self.load(parent)
        checkpoint = self.work / f"{stage.name}-{key}.partial.safetensors"
        plan = self._plan(stage, checkpoint, without=without, label=label)
        result = train_run(self.classifier, plan, self.recipe, progress=self.progress)
        state.save_tensors(finished, result.weights, _facts(stage, result))
        checkpoint.unlink(missing_ok=True)
        return StageResult(key, result.weights, result.seconds)

    def _stage_key(
        self, stage: Stage, parent: StageResult, without: frozenset[str], label: str
    ) -> str:
        used = sorted({item.source for item in stage.mix})
        output, digests = self.recipe.output, self.sources.digests
        validation, cross = self.recipe.validation, self.recipe.cross_validation
        judged = [section.source for section in (validation, cross) if section is not None]
        return _hash(
            parent.key,
            {k: v for k, v in dataclasses.asdict(stage).items() if v},
            [(name, digests[name], self.recipe.source(name).labels) for name in used],
            (dataclasses.asdict(validation), *(digests[name] for name in judged))
            if validation
            else None,
            (sorted(without), label),
            # Early stopping judges weights as they will be stored.
            *(
                (output.store, output.block)
                if stage.rounded or (validation and output.bits)
                else ()
            ),
        )

    def _plan(
        self, stage: Stage, checkpoint: Path, *, without: frozenset[str], label: str
    ) -> RunPlan:
        seed = int(_hash(self.recipe.run.seed, stage.name, label)[:8], 16)
        parts = [
            MixPart(self.sources.documents(item.source, without=without), item.view, item.samples)
            for item in stage.mix
        ]
        whole = self.recipe.model.architecture == PREMISE_FIRST
        epochs = [
            draw_mixture(parts, seed=seed, epoch=epoch, whole_premises=whole)
            for epoch in range(stage.epochs)
        ]
        validation = self.recipe.validation
        return RunPlan(
            name=f"{stage.name}{label}",
            learning_rate=stage.learning_rate,
            batch_tokens=stage.batch_tokens or self.recipe.run.batch_tokens,
            epochs=epochs,
            seed=seed,
            checkpoint=checkpoint,
            validate=self._validator(validation.source, validation.metric) if validation else None,
            patience=validation.patience if validation else 1,
            rounding=self._rounding() if stage.rounded else None,
        )

    def _validator(self, name: str, metric: str) -> Any:
        judged = self.sources.validation_pairs(name)

        def validate() -> float:
            scores = self.entailment(judged.pairs, run=f"validation {name}")
            if metric == "auc":
                return auc(scores, judged.labels)
            if metric == "balanced_accuracy":
                return best_threshold(scores, judged.labels).balanced_accuracy
            return -_log_loss(scores, judged.labels)

        return validate


def _log_loss(scores: Floats, labels: NDArray[np.bool_]) -> float:
    chosen = np.where(labels, scores, 1.0 - scores)
    return float(-np.log(np.maximum(chosen, 1e-7)).mean())


def _facts(stage: Stage, result: RunResult) -> dict[str, Any]:
    return {
        "stage": stage.name,
        "steps": result.steps,
        "seconds": round(result.seconds, 1),
        "last_loss": float(np.mean(result.losses[-50:])),
        "metrics": result.metrics,
    }


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
