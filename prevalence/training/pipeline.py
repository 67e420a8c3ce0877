"""From a recipe to a checkpoint folder: stages, grouped cross-validation, final weights, card."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from prevalence import calibration
from prevalence.errors import ConfigurationError, InputError
from prevalence.models.devices import open_device
from prevalence.training.export import (
    FoldFigures,
    HeldOutResult,
    SourceFigures,
    write_checkpoint,
)
from prevalence.training.leaks import cautions_of_folds, cautions_of_validation, refuse_leaks
from prevalence.training.model import resolve_base
from prevalence.training.recipe import BY_RECIPE, read_recipe
from prevalence.training.sources import Sources
from prevalence.training.stages import StageResult, Workshop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from prevalence.labelled import JudgedPairs
    from prevalence.stats.arrays import Floats
    from prevalence.training.loop import ProgressCallback
    from prevalence.training.recipe import CrossValidation, Recipe, Stage, Teacher

__all__ = ["FoldFigures", "HeldOutResult", "TrainingResult", "train"]

Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class TrainingResult:
    """A written checkpoint."""

    folder: Path
    threshold: float
    selection: HeldOutResult | None
    digest: str = ""


def train(
    recipe: Recipe,
    output: Path,
    *,
    data: Path | None = None,
    work: Path | None = None,
    device: str = "auto",
    progress: ProgressCallback | None = None,
) -> TrainingResult:
    """Run a recipe and write the checkpoint.

    Args:
        recipe: what to train.
        output: folder of the new checkpoint.
        data: folder that ``${PREVALENCE_DATA}`` stands for.
        work: folder of finished stages and resumable state; by default inside ``output``. Recipes
            that share it share equal early stages.
        device: ``auto``, ``cpu`` or ``cuda``.
        progress: called during training.

    Returns:
        Where the checkpoint is, its threshold and its held-out figures.

    Raises:
        PrevalenceError: the recipe, its data, the base checkpoint or the device cannot be used.
    """
    _check_output(output, recipe, data)
    return _train(
        recipe, output, data=data, work=work or output / ".training", device=device,
        progress=progress,
    )  # fmt: skip


def _train(
    recipe: Recipe,
    output: Path,
    *,
    data: Path | None,
    work: Path,
    device: str,
    progress: ProgressCallback | None,
) -> TrainingResult:
    """Train into a folder that is the caller's, whatever it holds."""
    threads = torch.get_num_threads()
    try:
        plan = _Plan.read(recipe, data)
        for own in _teacher_recipes(recipe, data):
            _Plan.read(own, data)
        base = _base(recipe, work=work, data=data, device=device, progress=progress)
        shop = Workshop(
            plan.sources, base=base, work=work, device=open_device(device), progress=progress
        )
        return _run(shop, plan, output, device)
    finally:
        torch.set_num_threads(threads)


def _run(shop: Workshop, plan: _Plan, output: Path, device: str) -> TrainingResult:
    """Train, and write the checkpoint."""
    recipe, trial, cautions = shop.recipe, plan.trial, plan.cautions()
    _be_taught(shop, device)
    early = recipe.stages if trial is None else recipe.stages[:-1]
    seconds: dict[str, float] = {}
    outcomes = [shop.start]
    for stage in early:
        outcomes = _each_run(shop, stage, outcomes)
        seconds[stage.name] = sum(outcome.seconds for outcome in outcomes)
    selection: HeldOutResult | None = None
    if trial is not None:
        selection, outcome, spent = _cross_validate(shop, trial, outcomes)
        outcomes = [outcome]
        seconds.update(spent)
    shop.load(_average(outcomes))
    if selection is None and recipe.validation is not None:
        judged = shop.sources.validation_pairs(recipe.validation.source)
        selection = _select(shop.entailment(judged.pairs, run="validation"), judged, ())
    if selection is not None:
        selection = dataclasses.replace(selection, cautions=cautions)
    digest = write_checkpoint(shop, output, selection=selection, seconds=seconds)
    threshold = selection.threshold if selection else 0.5
    return TrainingResult(output, threshold, selection, digest)


def _each_run(
    shop: Workshop,
    stage: Stage,
    parents: Sequence[StageResult],
    *,
    without: frozenset[str] = frozenset(),
    label: str = "",
) -> list[StageResult]:
    """Train a stage in every run, from that run's weights; the first of `[average]` parts them."""
    average = shop.recipe.average
    if average is not None and stage.name == average.first:
        parents = [*parents] * average.runs
    return [
        shop.run_stage(
            stage, parent, without=without, label=label if run == 1 else f"{label} run {run}"
        )
        for run, parent in enumerate(parents, start=1)
    ]


@dataclass(frozen=True)
class _Plan:
    """A recipe whose data were read, with no fault found.

    Attributes:
        sources: its data.
        base: those of the recipe that makes its base, where one does.
        trial: its cross-validation, where it has one.
    """

    sources: Sources
    base: Sources | None
    trial: _Trial | None

    @classmethod
    def read(cls, recipe: Recipe, data: Path | None) -> _Plan:
        """Read the data of a recipe, and find the faults in it before anything is trained."""
        sources = Sources(recipe, data)
        own = _base_recipe(recipe)
        base = None if own is None else Sources(own, data)
        trial = _held_out(sources, base)
        _check_stages(sources, trial)
        return cls(sources, base, trial)

    def cautions(self) -> tuple[str, ...]:
        """Why its figures flatter, before a teacher has changed the data."""
        sources, trial, recipe = self.sources, self.trial, self.sources.recipe
        if trial is not None:
            teachers = [
                Sources(read_recipe(recipe.resolve(file, sources.data)), sources.data)
                for file in (recipe.teacher.recipes if recipe.teacher else ())
            ]
            return cautions_of_folds(
                sources, self.base, teachers, trial.cross, judged=trial.judged, folds=trial.folds
            )
        if recipe.validation is None:
            return ()
        name = recipe.validation.source
        return cautions_of_validation(sources, self.base, name, sources.judged(name))


def _be_taught(shop: Workshop, device: str) -> None:
    """Learn what the teachers say, where there are some, and take the recipe's threads."""
    teacher, threads = shop.recipe.teacher, shop.recipe.run.threads
    models = [] if teacher is None else _teachers(shop, teacher, device)
    # Only now: bases and teachers that are trained first take their own, or the default.
    if threads:
        torch.set_num_threads(threads)
    if teacher is not None:
        shop.learn_from(models, teacher)


def _base(
    recipe: Recipe,
    *,
    work: Path,
    data: Path | None,
    device: str,
    progress: ProgressCallback | None,
) -> Path:
    """The folder of the base, which is trained first where a recipe makes it."""
    own = _base_recipe(recipe)
    if own is None:
        return resolve_base(recipe.model.base, recipe.folder, data)
    folder = work / "base"
    _train(own, folder, data=data, work=work, device=device, progress=progress)
    return folder


def _base_recipe(recipe: Recipe) -> Recipe | None:
    """The recipe that makes the base; None where the base is there already."""
    named = recipe.model.base
    if not named.startswith(BY_RECIPE):
        return None
    own = read_recipe(recipe.folder / named.removeprefix(BY_RECIPE))
    if own.model.base.startswith(BY_RECIPE):
        raise ConfigurationError(f"{named}: a base's recipe cannot start from another recipe")
    return own


def _check_output(output: Path, recipe: Recipe, data: Path | None) -> None:
    """Refuse a folder that no training has written, and those of the base and the teachers."""
    if not output.is_dir() or not any(output.iterdir()):
        return
    config = output / "config.json"
    trained = config.is_file() and b'"prevalence_threshold"' in config.read_bytes()
    named = recipe.model.base
    teachers = () if recipe.teacher is None else recipe.teacher.models
    folders = [recipe.resolve(model, data) for model in teachers]
    held = ""
    if not (trained or (output / ".training").is_dir()):
        held = "files of something else"
    if any(folder.is_dir() and output.samefile(folder) for folder in folders):
        held = "the recipe's teacher"
    if not named.startswith(BY_RECIPE) and output.samefile(
        resolve_base(named, recipe.folder, data)
    ):
        held = "the recipe's base"
    if held:
        raise ConfigurationError(
            f"{output}: holds {held}; choose another folder for the checkpoint"
        )


def _teachers(shop: Workshop, teacher: Teacher, device: str) -> list[str]:
    """Folders or names of the teachers; those that have a recipe are trained first."""
    recipe, data = shop.recipe, shop.sources.data
    found = [recipe.teacher_place(model, data) for model in teacher.models]
    for number, own in enumerate(_teacher_recipes(recipe, data), start=1):
        folder = shop.work / f"teacher-{number}"
        _train(own, folder, data=data, work=shop.work, device=device, progress=shop.progress)
        found.append(str(folder))
    return found


def _teacher_recipes(recipe: Recipe, data: Path | None) -> list[Recipe]:
    """The recipes of the teachers that have one, each with every seed that is asked for."""
    if recipe.teacher is None:
        return []
    found = []
    for file in recipe.teacher.recipes:
        own = read_recipe(recipe.resolve(file, data))
        if own.teacher is not None:
            raise ConfigurationError(f"{file}: a teacher cannot have a teacher of its own")
        for seed in recipe.teacher.seeds or (own.run.seed,):
            found.append(dataclasses.replace(own, run=dataclasses.replace(own.run, seed=seed)))
    return found


@dataclass(frozen=True)
class _Trial:
    """The pairs of a cross-validation and their folds.

    Attributes:
        cross: what the recipe asks for.
        judged: P pairs.
        folds: groups that each fold holds out.
        members: bool [P] for each fold.
        also: pairs of further sources on products that a fold holds out.
        apart: whether the last stage trains on no product of the folds, so that one model has seen
            none of them.
    """

    cross: CrossValidation
    judged: JudgedPairs
    folds: Sequence[frozenset[str]]
    members: Sequence[Mask]
    also: Mapping[str, JudgedPairs]
    apart: bool

    @classmethod
    def of(cls, sources: Sources, base: Sources | None, cross: CrossValidation) -> _Trial:
        """Deal the folds, before anything is trained for them.

        Raises:
            ConfigurationError: a fold, or what is left beside one, has one class only, so that
                no figure could be computed in the end; or a product is not held out of everything.
        """
        judged = sources.judged(cross.source)
        seed = sources.recipe.run.seed
        folds = calibration.grouped_folds(judged.groups, folds=cross.folds, seed=seed)
        members = [np.isin(judged.groups, sorted(held)) for held in folds]
        for number, inside in enumerate(members, start=1):
            place = f"fold {number} of {cross.source!r}"
            _check_both(judged.take(inside), place)
            _check_both(judged.take(~inside), f"what is left beside {place}")
        known = frozenset().union(*folds)
        refuse_leaks(sources, base, cross.source, known)
        also = {}
        for name in cross.also:
            pairs = sources.asked_of_reviews(name)
            also[name] = pairs.take(np.isin(pairs.groups, sorted(known)))
            _check_both(also[name], f"{name!r} on the products of {cross.source!r}")
        last = sources.recipe.stages[-1]
        apart = not any(known & sources.groups(item.source) for item in last.mix)
        return cls(cross, judged, folds, members, also, apart)

    def runs(self) -> list[tuple[frozenset[str], frozenset[str], str]]:
        """For each run of the last stage: products it leaves out, those it is judged on, label."""
        if self.apart:
            return [(frozenset(), frozenset().union(*self.folds), "")]
        return [(held, held, f" fold {n}") for n, held in enumerate(self.folds, start=1)]


def _check_stages(sources: Sources, trial: _Trial | None) -> None:
    """Find faults in the data of every stage and fold before anything is trained."""
    for stage in sources.recipe.stages:
        sources.check(stage)
    folds = () if trial is None else trial.folds
    for number, held in enumerate(folds, start=1):
        sources.check(sources.recipe.stages[-1], without=held, label=f" fold {number}")


def _held_out(sources: Sources, base: Sources | None) -> _Trial | None:
    """Check what models are judged on, and deal the folds where the recipe asks for some."""
    validation, cross = sources.recipe.validation, sources.recipe.cross_validation
    if validation is not None:
        place = f"validation {validation.source!r}"
        if cross is not None:
            place += f" without the products of {cross.source!r}"
        _check_both(sources.validation_pairs(validation.source), place)
    return None if cross is None else _Trial.of(sources, base, cross)


def _check_both(judged: JudgedPairs, place: str) -> None:
    """Refuse pairs of one class, of which no threshold and no area can be computed."""
    positive = int(judged.labels.sum())
    if not 0 < positive < len(judged):
        raise ConfigurationError(
            f"{place} has {positive} positive pairs of {len(judged)}, and both classes are needed; "
            "label more pairs, or change source, folds or seed"
        )


def _cross_validate(
    shop: Workshop, trial: _Trial, parents: Sequence[StageResult]
) -> tuple[HeldOutResult, StageResult, dict[str, float]]:
    """Hold each fold out of the last stage, then make the final weights.

    A last stage that trains on none of their products is trained once.
    """
    stage, cross, judged = shop.recipe.stages[-1], trial.cross, trial.judged
    sources = {cross.source: judged, **trial.also}
    shop.load(_average(parents))
    before = {
        name: shop.entailment(pairs.pairs, run=f"{name} before {stage.name}")
        for name, pairs in sources.items()
    }
    after = {name: np.full(len(pairs), np.nan) for name, pairs in sources.items()}
    outcomes: list[StageResult] = []
    for without, judges, label in trial.runs():
        outcome = _average(_each_run(shop, stage, parents, without=without, label=label))
        shop.load(outcome)
        for name, pairs in sources.items():
            inside = np.isin(pairs.groups, sorted(judges))
            if inside.any():
                after[name][inside] = shop.entailment(
                    pairs.take(inside).pairs, run=f"{name} after {stage.name}{label}"
                )
        outcomes.append(outcome)
    folds = "" if trial.apart else f", {cross.folds} folds"
    spent = {f"{stage.name}{folds}": sum(o.seconds for o in outcomes)}
    if trial.apart:
        final = outcomes[0]
    elif cross.final == "average":
        final = _average(outcomes)
    else:
        final = _average(_each_run(shop, stage, parents))
        spent[stage.name] = final.seconds
    figures = tuple(
        _source_figures(name, pairs, before[name], after[name]) for name, pairs in sources.items()
    )
    result = _select(after[cross.source], judged, trial.members)
    return dataclasses.replace(result, sources=figures, apart=trial.apart), final, spent


def _source_figures(name: str, judged: JudgedPairs, before: Floats, after: Floats) -> SourceFigures:
    """Figures of a source before and after the last stage."""
    labels = np.asarray(judged.labels)
    areas = [calibration.auc(scores, labels) for scores in (before, after)]
    best = [calibration.best_threshold(scores, labels) for scores in (before, after)]
    one, two = zip(areas, [found.balanced_accuracy for found in best], strict=True)
    return SourceFigures(name, len(labels), one, two)


def _average(outcomes: Sequence[StageResult]) -> StageResult:
    """Average the weights of models; a single one stays as it is."""
    if len(outcomes) == 1:
        return outcomes[0]
    names = outcomes[0].weights
    weights = {
        n: torch.stack([o.weights[n].float().cpu() for o in outcomes]).mean(0) for n in names
    }
    return StageResult("average", weights, sum(outcome.seconds for outcome in outcomes))


def _errors(decided: Mask, judged: JudgedPairs) -> tuple[tuple[int, int, int, int], ...]:
    """True positives, false negatives, true negatives and false positives of each product.

    Of reviews' pairs alone, whose share is what is corrected; none where they are all of one kind.
    """
    asked = judged.relations == "review"
    decided, judged = decided[asked], judged.take(asked)
    truth = np.asarray(judged.labels)
    if truth.all() or not truth.any():
        return ()
    cells = (decided & truth, ~decided & truth, ~decided & ~truth, decided & ~truth)
    found = []
    for group in sorted(set(judged.groups.tolist())):
        own = judged.groups == group
        a, b, c, d = (int((cell & own).sum()) for cell in cells)
        found.append((a, b, c, d))
    return tuple(found)


def _threshold(
    scores: Floats, labels: Mask
) -> tuple[calibration.Threshold, calibration.ThresholdRule]:
    """The threshold and its rule: ``midpoints`` only where no curve fits, as scores fall."""
    try:
        return calibration.best_threshold(scores, labels, candidates="logistic"), "logistic"
    except InputError:
        return calibration.best_threshold(scores, labels, candidates="midpoints"), "midpoints"


def _short(threshold: float, scores: Floats) -> float:
    """The threshold with as few digits, but at least four, as leave every decision as it is."""
    decided = scores > threshold
    for digits in range(4, 17):
        short = float(f"{threshold:.{digits}g}")
        if short < 1.0 and np.array_equal(scores > short, decided):
            return short
    return threshold


def _select(scores: Floats, judged: JudgedPairs, members: Sequence[Mask]) -> HeldOutResult:
    labels = np.array(judged.labels)
    best, rule = _threshold(scores, labels)
    value = _short(best.value, scores)
    folds = []
    fold_of = np.zeros(len(labels), dtype=np.int64)
    # What a pair's probability is compared with: the threshold of the other folds.
    cuts = np.full(len(labels), value)
    for number, inside in enumerate(members):
        fold_of[inside] = number
        others, _ = _threshold(scores[~inside], labels[~inside])
        cuts[inside] = others.value
        balanced = calibration.balanced_accuracy(scores[inside], labels[inside], others.value)
        area = calibration.auc(scores[inside], labels[inside])
        folds.append(FoldFigures(int(inside.sum()), area, balanced, others.value))
    decided = (scores > cuts).astype(np.float64)
    return HeldOutResult(
        threshold=value,
        rule=rule,
        auc=calibration.auc(scores, labels),
        balanced_accuracy=calibration.balanced_accuracy(decided, labels, 0.5),
        chosen_accuracy=best.balanced_accuracy,
        calibration_error=calibration.calibration_error(scores, labels),
        pairs=len(labels),
        folds=tuple(folds),
        scores=tuple(round(float(score), 6) for score in scores),
        errors=_errors(scores > value, judged),
        fold_of=tuple(fold_of.tolist()) if members else (),
    )
