"""Reading a recipe: one small TOML file with strict keys, checked before anything runs."""

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from prevalence.errors import ConfigurationError
from prevalence.labelled import LABEL_MODES
from prevalence.nli.checkpoint import ATTENTIONS, FIRST, POOLINGS, PREMISE_FIRST
from prevalence.training.mixture import VIEWS
from prevalence.training.recipe import (
    CrossValidation,
    MixItem,
    ModelSettings,
    OptimizerSettings,
    OutputSettings,
    Recipe,
    RunSettings,
    Source,
    Stage,
    Teacher,
    Validation,
)

__all__ = ["read_recipe"]

T = TypeVar("T")
DTYPES = ("float32", "float16", "bfloat16")
METRICS = ("auc", "balanced_accuracy", "loss")


def read_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Args:
        path: TOML file with `[model]`, `[output]`, `[[source]]`, `[[stage]]` with `[[stage.mix]]`,
            and optionally `[optimizer]`, `[run]`, `[validation]`, `[cross_validation]`,
            `[teacher]`.

    Returns:
        The checked recipe.

    Raises:
        ConfigurationError: The file cannot be read, a key is unknown or missing, or a value is
            out of range.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: cannot be read as a TOML recipe ({error})") from error
    known = ("model", "output", "source", "stage", "optimizer", "run", "validation",
             "cross_validation", "teacher")  # fmt: skip
    _refuse_unknown(table, known, str(path))
    recipe = Recipe(
        model=_build(ModelSettings, table.get("model", {}), f"{path}: [model]"),
        output=_build(OutputSettings, table.get("output", {}), f"{path}: [output]"),
        sources=tuple(_source(t, path) for t in table.get("source", [])),
        stages=tuple(_stage(t, path) for t in table.get("stage", [])),
        optimizer=_build(OptimizerSettings, table.get("optimizer", {}), f"{path}: [optimizer]"),
        run=_build(RunSettings, table.get("run", {}), f"{path}: [run]"),
        validation=_optional(Validation, table, "validation", path),
        cross_validation=_optional(CrossValidation, table, "cross_validation", path),
        teacher=_optional(Teacher, table, "teacher", path),
        folder=path.parent,
    )
    _check(recipe, path)
    return recipe


def _source(table: Mapping[str, Any], path: Path) -> Source:
    where = f"{path}: [[source]]"
    summaries = table.get("summaries", [])
    if not isinstance(summaries, list) or not all(isinstance(s, str) for s in summaries):
        raise ConfigurationError(f"{where}: summaries must be a list of system names")
    return _build(Source, {**table, "summaries": tuple(summaries)}, where)


def _stage(table: Mapping[str, Any], path: Path) -> Stage:
    where = f"{path}: [[stage]] {table.get('name', '?')}"
    mix = tuple(_build(MixItem, item, f"{where} mix") for item in table.get("mix", []))
    return _build(Stage, {**table, "mix": mix}, where)


def _optional(cls: type[T], table: Mapping[str, Any], key: str, path: Path) -> T | None:
    return _build(cls, table[key], f"{path}: [{key}]") if key in table else None


def _build(cls: type[T], table: Mapping[str, Any], where: str) -> T:
    """Make a settings object, refusing unknown, missing and wrongly typed keys."""
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    _refuse_unknown(table, tuple(fields), where)
    for name, spec in fields.items():
        required = (
            spec.default is dataclasses.MISSING and spec.default_factory is dataclasses.MISSING
        )
        if required and name not in table:
            raise ConfigurationError(f"{where}: key {name!r} is missing")
    values = {
        key: _typed(value, fields[key].type, f"{where}: {key}") for key, value in table.items()
    }
    return cls(**values)


def _typed(value: Any, kind: Any, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (float, int, str, bool) and type(value) is not kind:
        raise ConfigurationError(f"{where} must be of type {kind.__name__}, found {value!r}")
    return value


def _refuse_unknown(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{where}: expected a table")
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ConfigurationError(
            f"{where}: unknown key {unknown[0]!r}; known keys are {', '.join(known)}"
        )


def _check(recipe: Recipe, path: Path) -> None:
    for message in (*_range_faults(recipe), *_reference_faults(recipe)):
        raise ConfigurationError(f"{path}: {message}")


def _range_faults(recipe: Recipe) -> list[str]:
    run, opt, model = recipe.run, recipe.optimizer, recipe.model
    checks = {
        "run.precision must be auto, float32 or bfloat16": run.precision
        in ("auto", "float32", "bfloat16"),
        "run.seed must not be negative": run.seed >= 0,
        "run.checkpoint_every must be at least 1": run.checkpoint_every >= 1,
        "run.batch_tokens must be at least model.max_length": run.batch_tokens >= model.max_length,
        f"model.architecture must be {' or '.join(ATTENTIONS)}": model.architecture in ATTENTIONS,
        f"model.pooling must be {' or '.join(POOLINGS)}": model.pooling in POOLINGS,
        "model.pooling is for architecture premise-first": model.pooling == FIRST
        or model.architecture == PREMISE_FIRST,
        "model.max_length and max_hypothesis must be at least 16": min(
            model.max_length, model.max_hypothesis
        )
        >= 16,
        "model.freeze_layers must not be negative": model.freeze_layers >= 0,
        "optimizer.layer_decay must be in (0, 1]": 0 < opt.layer_decay <= 1,
        "optimizer.warmup must be in [0, 1)": 0 <= opt.warmup < 1,
        "optimizer.clip must be positive": opt.clip > 0,
        "optimizer.label_smoothing must be in [0, 1)": 0 <= opt.label_smoothing < 1,
        "optimizer.average_from must be in [0, 1]": 0 <= opt.average_from <= 1,
        "at least one [[stage]] is needed": bool(recipe.stages),
        "stage epochs must be at least 1": all(s.epochs >= 1 for s in recipe.stages),
        "stage batch_tokens must be 0 or at least model.max_length": all(
            s.batch_tokens == 0 or s.batch_tokens >= model.max_length for s in recipe.stages
        ),
        "stage learning_rate must be positive": all(s.learning_rate > 0 for s in recipe.stages),
        "every stage needs a [[stage.mix]]": all(s.mix for s in recipe.stages),
        "mix samples must not be negative": all(
            m.samples >= 0 for s in recipe.stages for m in s.mix
        ),
    }
    return [message for message, good in checks.items() if not good]


def _reference_faults(recipe: Recipe) -> list[str]:
    names = [source.name for source in recipe.sources]
    faults = [f"source {name!r} is defined twice" for name in names if names.count(name) > 1]
    faults += [
        f"source {s.name!r}: labels must be majority or soft, found {s.labels!r}"
        for s in recipe.sources
        if s.labels not in LABEL_MODES
    ]
    for item in (item for stage in recipe.stages for item in stage.mix):
        if item.source not in names:
            faults.append(f"mix source {item.source!r} is not defined; known: {', '.join(names)}")
        if item.view not in VIEWS:
            faults.append(f"unknown view {item.view!r}; known: {', '.join(VIEWS)}")
    return faults + _selection_faults(recipe, names) + _teacher_faults(recipe)


def _teacher_faults(recipe: Recipe) -> list[str]:
    teacher = recipe.teacher
    taught = [source.name for source in recipe.sources if source.taught]
    if teacher is None:
        return [f"source {name!r} is taught, and there is no [teacher]" for name in taught]
    checks = {
        "[teacher] needs models or recipes": bool(teacher.models or teacher.recipes),
        "[teacher] is there, and no source is taught": bool(taught),
        f"teacher.dtype must be one of {', '.join(DTYPES)}": teacher.dtype in DTYPES,
        "teacher.siblings, foreign and own must not be negative": min(
            teacher.siblings, teacher.foreign, teacher.own
        )
        >= 0,
        "teacher.keep must be in [0, 1]": 0 <= teacher.keep <= 1,
    }
    return [message for message, good in checks.items() if not good]


def _selection_faults(recipe: Recipe, names: list[str]) -> list[str]:
    faults: list[str] = []
    validation, cross = recipe.validation, recipe.cross_validation
    for section in (s for s in (validation, cross) if s is not None):
        if section.source not in names:
            faults.append(f"{section.source!r} is not a source; known: {', '.join(names)}")
    if validation is not None and validation.metric not in METRICS:
        faults.append(f"validation.metric must be one of {', '.join(METRICS)}")
    if validation is not None and validation.patience < 1:
        faults.append("validation.patience must be at least 1")
    if cross is not None and (cross.folds < 2 or cross.final not in ("refit", "average")):
        faults.append("cross_validation needs folds of at least 2 and final = refit or average")
    if validation is not None and cross is not None and validation.source == cross.source:
        faults.append(
            f"early stopping on {validation.source!r} would leak into its cross-validation; "
            "use another source"
        )
    return faults
