"""Reading a recipe: one small TOML file with strict keys, checked before anything runs."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from prevalence.errors import ConfigurationError, InputError
from prevalence.labelled import LABEL_MODES, Document
from prevalence.models import devices
from prevalence.models.checkpoint import ATTENTIONS, FIRST, JOINT, POOLINGS, PREMISE_FIRST
from prevalence.models.lengths import LEAST_LENGTH
from prevalence.toml_files import read_toml
from prevalence.training.mixture import VIEWS

__all__ = [
    "CrossValidation",
    "DataSource",
    "MixItem",
    "ModelSettings",
    "OptimizerSettings",
    "OutputSettings",
    "Recipe",
    "RunSettings",
    "Stage",
    "Teacher",
    "Validation",
    "expanded",
    "read_recipe",
]


@dataclass(frozen=True)
class ModelSettings:
    """What is trained.

    Attributes:
        base: checkpoint folder, ``package:NAME/FOLDER`` inside an installed package, ``embedded``
            or ``base`` for a model that ships, or ``recipe:FILE`` for the output of another recipe,
            which is trained first.
        architecture: ``joint`` reads premise and hypothesis as one input; ``premise-first`` reads a
            premise once for all its hypotheses (BERT and MPNet), and draws examples by whole
            premises.
        max_length: longest pair in tokens; the premise is cut. With ``premise-first``, the longest
            premise.
        max_hypothesis: with ``premise-first``, the longest hypothesis in tokens.
        pooling: with ``premise-first``, what the head reads of a hypothesis: its ``first`` token,
            or the ``mean`` of its tokens.
        dropout: dropout of hidden states.
        attention_dropout: dropout of attention weights.
        attention: attention implementation of transformers, for ``joint``.
        freeze_embeddings: leave the embeddings as they are.
        freeze_words: leave the word embeddings as they are, and train positions and types.
        freeze_layers: leave this many of the lowest layers as they are.
        layers: keep this many of the base's layers, the lowest; 0 keeps all.
    """

    base: str
    architecture: str = JOINT
    max_length: int = 256
    max_hypothesis: int = 128
    pooling: str = FIRST
    dropout: float = 0.1
    attention_dropout: float = 0.1
    attention: str = "sdpa"
    freeze_embeddings: bool = False
    freeze_words: bool = False
    freeze_layers: int = 0
    layers: int = 0


@dataclass(frozen=True)
class OptimizerSettings:
    """AdamW and its schedule: linear warm-up to the stage's rate, then linear decay to zero.

    Attributes:
        weight_decay: on matrices only.
        layer_decay: factor on the learning rate from each layer to the one below; 1 turns it off.
        warmup: share of a stage's steps.
        clip: largest gradient norm.
        label_smoothing: share of each target that is spread over the classes.
        average_from: share of a stage after which weights are averaged; 1 turns it off.
    """

    weight_decay: float = 0.01
    layer_decay: float = 1.0
    warmup: float = 0.1
    clip: float = 1.0
    label_smoothing: float = 0.0
    average_from: float = 1.0


@dataclass(frozen=True)
class RunSettings:
    """How it is run.

    Attributes:
        seed: of everything random.
        precision: ``auto`` is bfloat16 on a GPU and float32 on a CPU.
        batch_tokens: padded tokens a batch.
        threads: CPU threads; 0 leaves the default.
        checkpoint_every: steps between resumable checkpoints.
    """

    seed: int = 0
    precision: str = "auto"
    batch_tokens: int = 2048
    threads: int = 0
    checkpoint_every: int = 200


@dataclass(frozen=True)
class DataSource:
    """A data file, with the licence that the model card repeats.

    Attributes:
        name: what mixtures call it.
        path: JSON Lines.
        licence: of its texts and labels.
        origin: what it is, for the card.
        labels: ``majority``, or ``soft`` for the mean over annotators.
        threeway: file that splits binary negatives into neutral and contradiction.
        products: file of the reviews (and summaries) that the labels of ``path`` speak of, for
            ReviewNLI's released answers and for grouped records without reviews.
        summaries: systems whose summary sentences a teacher judges, where records have summaries.
        taught: whether the recipe's teacher labels it.
        only: read products whose id begins with this, and cut it off; empty reads all. Two sources
            whose ids agree then are of the same product, and a fold holds out both.
        leave_out: leave out products whose id begins with this.
    """

    name: str
    path: str
    licence: str
    origin: str = ""
    labels: str = "majority"
    threeway: str = ""
    products: str = ""
    summaries: tuple[str, ...] = ()
    taught: bool = False
    only: str = ""
    leave_out: str = ""

    def select(self, documents: Sequence[Document]) -> list[Document]:
        """The documents of the products that this source is about."""
        return [
            dataclasses.replace(document, group=document.group.removeprefix(self.only))
            for document in documents
            if document.group.startswith(self.only)
            and not (self.leave_out and document.group.startswith(self.leave_out))
        ]


@dataclass(frozen=True)
class Teacher:
    """Larger models whose mean probabilities the trained one learns, on sources marked ``taught``.

    Attributes:
        models: checkpoint folders or registered names.
        recipes: recipes of further ones, which are trained first.
        seeds: train each of the recipes once with each of these seeds; none leaves them their own.
        dtype: precision of its answers.
        siblings: sentences of other reviews of the product that each review is asked about.
        foreign: hypotheses on other products of the domain, likewise.
        own: sentences of the review itself, likewise.
        keep: share of a given label in the target; the rest is the teacher's probability.
    """

    models: tuple[str, ...] = ()
    recipes: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    dtype: str = "float32"
    siblings: int = 7
    foreign: int = 1
    own: int = 1
    keep: float = 0.5


@dataclass(frozen=True)
class MixItem:
    """A share of a stage: a view of a source, and examples an epoch (0 for all)."""

    source: str
    view: str = "labelled"
    samples: int = 0


@dataclass(frozen=True)
class Stage:
    """One stage of training.

    Attributes:
        name: what progress and the card call it.
        learning_rate: at its highest.
        mix: what an epoch draws.
        epochs: passes over such draws.
        batch_tokens: tokens a batch; 0 takes the run's.
        rounded: compute with matrices as the output stores them, so that the model learns to live
            with few bits. Gradients change what is not rounded (straight-through).
    """

    name: str
    learning_rate: float
    mix: tuple[MixItem, ...]
    epochs: int = 1
    batch_tokens: int = 0
    rounded: bool = False


@dataclass(frozen=True)
class Validation:
    """Early stopping: stop after ``patience`` epochs without a better value, keep the best."""

    source: str
    metric: str = "auc"
    patience: int = 2


@dataclass(frozen=True)
class CrossValidation:
    """Repeat the last stage without each fold of groups; threshold and figures come from there.

    A last stage that trains on none of these groups is run once: one model is judged on all folds,
    and only the threshold of a fold comes from the others.

    Attributes:
        source: source whose groups are held out in turn.
        folds: number of folds.
        final: ``refit`` trains the last stage once more on everything; ``average`` averages the
            weights of the folds' models.
        also: further sources on the same groups, whose pairs of reviews the folds' models are
            judged on; the card shows the figures.
    """

    source: str
    folds: int = 5
    final: str = "refit"
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Averaging:
    """Train the stages from one on several times, and average the weights of these runs.

    Each run makes draws of its own, and each of its stages goes on from its own weights. Runs that
    part from common weights stay near enough to one another for their average to be of use.

    Attributes:
        first: the first stage that is repeated.
        runs: how often it is trained, and every stage after it.

    Source: Wortsman et al. 2022 ("Model soups").
    """

    first: str
    runs: int = 2


@dataclass(frozen=True)
class OutputSettings:
    """The checkpoint that is written.

    Attributes:
        name: heading of the card.
        licence: licence of the weights.
        store: how matrices are stored: ``int8`` or ``int4`` with scales, ``float16`` or
            ``float32``.
        block: in 8 or 4 bits, weights of a row that share a scale; fewer are more exact and larger.
        max_length: limit that a scorer should use; 0 takes the training limit.
        max_hypothesis: likewise, with ``premise-first``.
        contradiction: whether the head's contradiction class is good enough to be reported; if
            not, scorers leave contradicting reviews out, as for a two-label model.
        description: opening paragraph of the card.
        notes: further Markdown for the card: licence positions, limits, what was tried.
    """

    name: str
    licence: str
    store: str = "float16"
    block: int = 16
    max_length: int = 0
    max_hypothesis: int = 0
    contradiction: bool = True
    description: str = ""
    notes: str = ""

    @property
    def bits(self) -> int | None:
        """Bits of a stored weight that has a scale; None for floating-point numbers."""
        return BITS.get(self.store)


@dataclass(frozen=True)
class Recipe:
    """A whole training run; ``folder`` is where relative paths start."""

    model: ModelSettings
    output: OutputSettings
    sources: tuple[DataSource, ...]
    stages: tuple[Stage, ...]
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    run: RunSettings = field(default_factory=RunSettings)
    validation: Validation | None = None
    cross_validation: CrossValidation | None = None
    teacher: Teacher | None = None
    average: Averaging | None = None
    folder: Path = Path()

    def source(self, name: str) -> DataSource:
        """Return the source of that name; the reader has checked that it exists."""
        return next(source for source in self.sources if source.name == name)

    def resolve(self, text: str, data: Path | None) -> Path:
        """Expand ``${PREVALENCE_DATA}`` and make a path relative to the recipe's folder.

        Args:
            text: path as written in the recipe.
            data: folder that stands for ``${PREVALENCE_DATA}``; None takes the environment's.

        Returns:
            The path.

        Raises:
            ConfigurationError: the variable is used and no folder is known.
        """
        if "${PREVALENCE_DATA}" in text and not (data or os.environ.get("PREVALENCE_DATA")):
            raise ConfigurationError(
                f"{text}: set PREVALENCE_DATA or pass --data FOLDER to say where this file is"
            )
        return self.folder / expanded(text, data)

    def teacher_place(self, model: str, data: Path | None) -> str:
        """Folder of a teacher, or its name; see :meth:`resolve`."""
        path = self.resolve(model, data)
        return str(path) if path.is_dir() else model


_OURS = re.compile(r"\$\{(PREVALENCE_\w+)\}")


def expanded(text: str, data: Path | None = None) -> str:
    """A path in which ``${PREVALENCE_...}`` are expanded, and no other variable is told.

    Args:
        text: the path.
        data: what ``${PREVALENCE_DATA}`` stands for; None takes the environment's.
    """
    told = os.environ if data is None else {**os.environ, "PREVALENCE_DATA": str(data)}
    return _OURS.sub(lambda found: told.get(found[1], found[0]), text)


T = TypeVar("T")
BY_RECIPE = "recipe:"
"""Begins the name of a base that another recipe makes."""
DTYPES = devices.DTYPES[1:]
BITS = {"int8": 8, "int4": 4}
STORES = (*BITS, "float16", "float32")
_WORD = 1 << 63
_NAME = re.compile(r"\w[\w .+-]*")
METRICS = ("auc", "balanced_accuracy", "loss")


def read_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Args:
        path: TOML file with ``[model]``, ``[output]``, ``[[source]]``, ``[[stage]]`` with
            ``[[stage.mix]]``, and optionally ``[optimizer]``, ``[run]``, ``[validation]``,
            ``[cross_validation]``, ``[teacher]``.

    Returns:
        The checked recipe.

    Raises:
        ConfigurationError: the file cannot be read, a key is unknown or missing, or a value is
            out of range.
    """
    try:
        table = read_toml(path)
    except InputError as error:
        raise ConfigurationError(f"recipe {error}") from error
    known = ("model", "output", "source", "stage", "optimizer", "run", "validation",
             "cross_validation", "teacher", "average")  # fmt: skip
    _refuse_unknown(table, known, str(path))
    recipe = Recipe(
        model=_build(ModelSettings, table.get("model", {}), f"{path}: [model]"),
        output=_build(OutputSettings, table.get("output", {}), f"{path}: [output]"),
        sources=tuple(
            _build(DataSource, t, f"{path}: [[source]]")
            for t in _tables(table, "source", str(path))
        ),
        stages=tuple(_stage(t, path) for t in _tables(table, "stage", str(path))),
        optimizer=_build(OptimizerSettings, table.get("optimizer", {}), f"{path}: [optimizer]"),
        run=_build(RunSettings, table.get("run", {}), f"{path}: [run]"),
        validation=_optional(Validation, table, "validation", path),
        cross_validation=_optional(CrossValidation, table, "cross_validation", path),
        teacher=_optional(Teacher, table, "teacher", path),
        average=_optional(Averaging, table, "average", path),
        folder=path.parent,
    )
    _check(recipe, path)
    return recipe


def _stage(table: Mapping[str, Any], path: Path) -> Stage:
    where = f"{path}: [[stage]] {table.get('name', '?')}"
    mix = tuple(_build(MixItem, item, f"{where} mix") for item in _tables(table, "mix", where))
    return _build(Stage, {**table, "mix": mix}, where)


def _tables(table: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    """The tables of a list of tables."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ConfigurationError(f"{where}: {key} must be a list of tables, as [[{key}]] makes it")
    return value


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
    kinds = get_type_hints(cls)
    return cls(
        **{key: _typed(value, kinds[key], f"{where}: {key}") for key, value in table.items()}
    )


_LISTS = {tuple[str, ...]: (str, "texts"), tuple[int, ...]: (int, "whole numbers")}


def _typed(value: Any, kind: Any, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (float, int, str, bool) and type(value) is not kind:
        raise ConfigurationError(f"{where} must be of type {kind.__name__}, found {value!r}")
    if kind in _LISTS:
        single, told = _LISTS[kind]
        if not isinstance(value, list) or not all(type(item) is single for item in value):
            raise ConfigurationError(f"{where} must be a list of {told}, found {value!r}")
        return tuple(_typed(item, single, where) for item in value)
    if kind is float and not math.isfinite(value):
        raise ConfigurationError(f"{where} must be a finite number, found {value}")
    if kind is int and not -_WORD <= value < _WORD:
        raise ConfigurationError(f"{where} is beyond 64 bits")
    if kind is str and "\0" in value:
        raise ConfigurationError(f"{where} holds the character NUL, which no name or path can")
    return value


def _refuse_unknown(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{where}: expected a table, found {table!r}")
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
        "run.precision must be auto, float32 or bfloat16": run.precision in devices.PRECISIONS,
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
        "model.freeze_layers and model.layers must not be negative": min(
            model.freeze_layers, model.layers
        )
        >= 0,
        "run.threads must not be negative": run.threads >= 0,
        "model.dropout and attention_dropout must be in [0, 1)": 0 <= model.dropout < 1
        and 0 <= model.attention_dropout < 1,
        f"output.max_length and max_hypothesis must be 0 or at least {LEAST_LENGTH}": all(
            length == 0 or length >= LEAST_LENGTH
            for length in (recipe.output.max_length, recipe.output.max_hypothesis)
        ),
        "optimizer.weight_decay must not be negative": opt.weight_decay >= 0,
        "optimizer.layer_decay must be in (0, 1]": 0 < opt.layer_decay <= 1,
        "optimizer.warmup must be in [0, 1)": 0 <= opt.warmup < 1,
        "optimizer.clip must be positive": opt.clip > 0,
        "optimizer.label_smoothing must be in [0, 1)": 0 <= opt.label_smoothing < 1,
        "optimizer.average_from must be in [0, 1]": 0 <= opt.average_from <= 1,
        f"output.store must be {', '.join(STORES)}": recipe.output.store in STORES,
        "output.block must be at least 1": recipe.output.block >= 1,
        f"a stage is rounded only with output.store {' or '.join(BITS)}": recipe.output.bits
        is not None
        or not any(stage.rounded for stage in recipe.stages),
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
    stages = [stage.name for stage in recipe.stages]
    faults = [
        f"{what} {name!r} is defined twice"
        for what, given in (("source", names), ("stage", stages))
        for name in given
        if given.count(name) > 1
    ]
    # They become names of files.
    faults += [
        f"the name {name!r} must hold letters, digits, spaces and . + - alone"
        for name in (*names, *stages)
        if not _NAME.fullmatch(name)
    ]
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
    if (average := recipe.average) is not None:
        if average.first not in stages:
            faults.append(f"average.first {average.first!r} is not a stage: {', '.join(stages)}")
        if average.runs < 2:
            faults.append("average.runs must be at least 2")
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
        "teacher.seeds are for recipes, and there is none": bool(teacher.recipes)
        or not teacher.seeds,
        "teacher.seeds must be distinct and not negative": len(set(teacher.seeds))
        == len(teacher.seeds)
        and min(teacher.seeds, default=0) >= 0,
    }
    return [message for message, good in checks.items() if not good]


def _selection_faults(recipe: Recipe, names: list[str]) -> list[str]:
    faults: list[str] = []
    validation, cross = recipe.validation, recipe.cross_validation
    judged = [section.source for section in (validation, cross) if section is not None]
    for name in (*judged, *(cross.also if cross is not None else ())):
        if name not in names:
            faults.append(f"{name!r} is not a source; known: {', '.join(names)}")
    if validation is not None and validation.metric not in METRICS:
        faults.append(f"validation.metric must be one of {', '.join(METRICS)}")
    if validation is not None and validation.patience < 1:
        faults.append("validation.patience must be at least 1")
    if validation is not None and recipe.optimizer.average_from < 1:
        faults.append(
            "[validation] keeps the weights of the best epoch, so there is nothing to average; "
            "leave out optimizer.average_from, or [validation]"
        )
    if cross is not None and (cross.folds < 2 or cross.final not in ("refit", "average")):
        faults.append("cross_validation needs folds of at least 2 and final = refit or average")
    if cross is not None and len({cross.source, *cross.also}) <= len(cross.also):
        faults.append("cross_validation.also must name other sources than its source, each once")
    held_out = () if cross is None else (cross.source, *cross.also)
    if validation is not None and validation.source in held_out:
        faults.append(
            f"early stopping on {validation.source!r} would leak into its cross-validation; "
            "use another source"
        )
    return faults
