"""What a training recipe says: frozen settings, one class a section."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from prevalence.errors import ConfigurationError
from prevalence.nli.checkpoint import FIRST, JOINT

__all__ = [
    "CrossValidation",
    "MixItem",
    "ModelSettings",
    "OptimizerSettings",
    "OutputSettings",
    "Recipe",
    "RunSettings",
    "Source",
    "Stage",
    "Teacher",
    "Validation",
]


@dataclass(frozen=True)
class ModelSettings:
    """What is trained.

    Attributes:
        base: Checkpoint folder, or `package:NAME/FOLDER` inside an installed package.
        architecture: `joint` reads premise and hypothesis as one input; `premise-first` reads a
            premise once for all its hypotheses (BERT only), and draws examples by whole premises.
        max_length: Longest pair in tokens; the premise is cut. With `premise-first`, the longest
            premise.
        max_hypothesis: With `premise-first`, the longest hypothesis in tokens.
        pooling: With `premise-first`, what the head reads of a hypothesis: its `first` token, or
            the `mean` of its tokens.
        dropout: Dropout of hidden states.
        attention_dropout: Dropout of attention weights.
        attention: Attention implementation of transformers, for `joint`.
        freeze_embeddings: Leave the embeddings as they are.
        freeze_words: Leave the word embeddings as they are, and train positions and types.
        freeze_layers: Leave this many of the lowest layers as they are.
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


@dataclass(frozen=True)
class OptimizerSettings:
    """AdamW and its schedule: linear warm-up to the stage's rate, then linear decay to zero.

    Attributes:
        weight_decay: On matrices only.
        layer_decay: Factor on the learning rate from each layer to the one below; 1 turns it off.
        warmup: Share of a stage's steps.
        clip: Largest gradient norm.
        label_smoothing: Share of each target that is spread over the classes.
        average_from: Share of a stage after which weights are averaged; 1 turns it off.
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
        seed: Of everything random.
        precision: `auto` is bfloat16 autocast on a GPU and float32 on a CPU.
        batch_tokens: Padded tokens a batch.
        threads: CPU threads; 0 leaves the default.
        checkpoint_every: Steps between resumable checkpoints.
    """

    seed: int = 0
    precision: str = "auto"
    batch_tokens: int = 2048
    threads: int = 0
    checkpoint_every: int = 200


@dataclass(frozen=True)
class Source:
    """A data file, with the licence that the model card repeats.

    Attributes:
        name: What mixtures call it.
        path: JSON Lines.
        licence: Of its texts and labels.
        origin: What it is, for the card.
        labels: `majority`, or `soft` for the mean over annotators.
        threeway: File that splits binary negatives into neutral and contradiction.
        products: File of reviews and summaries that ReviewNLI's released answers speak of.
        summaries: Systems whose summary sentences a teacher judges, where records have summaries.
        taught: Whether the recipe's teacher labels it.
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


@dataclass(frozen=True)
class Teacher:
    """Larger models whose mean probabilities the trained one learns, on sources marked `taught`.

    Attributes:
        models: Checkpoint folders or registered names.
        recipes: Recipes of further ones, which are trained first.
        dtype: Precision of its answers.
        siblings: Sentences of other reviews of the product that each review is asked about.
        foreign: Hypotheses on other products of the domain, likewise.
        own: Sentences of the review itself, likewise.
        keep: Share of a given label in the target; the rest is the teacher's probability.
    """

    models: tuple[str, ...] = ()
    recipes: tuple[str, ...] = ()
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
    """One stage of training; `batch_tokens` of 0 takes the run's."""

    name: str
    learning_rate: float
    mix: tuple[MixItem, ...]
    epochs: int = 1
    batch_tokens: int = 0


@dataclass(frozen=True)
class Validation:
    """Early stopping: stop after `patience` epochs without a better value, keep the best."""

    source: str
    metric: str = "auc"
    patience: int = 2


@dataclass(frozen=True)
class CrossValidation:
    """Repeat the last stage without each fold of groups; threshold and figures come from there.

    Attributes:
        source: Source whose groups are held out in turn.
        folds: Number of folds.
        final: `refit` trains the last stage once more on everything; `average` averages the
            weights of the folds' models.
    """

    source: str
    folds: int = 5
    final: str = "refit"


@dataclass(frozen=True)
class OutputSettings:
    """The checkpoint that is written.

    Attributes:
        name: Heading of the card.
        licence: Licence of the weights.
        half: Store float16 instead of float32.
        max_length: Limit that a scorer should use; 0 takes the training limit.
        max_hypothesis: Likewise, with `premise-first`.
        contradiction: Whether the head's contradiction class is good enough to be reported; if
            not, scorers leave contradicting reviews out, as for a two-label model.
        description: Opening paragraph of the card.
        notes: Further Markdown for the card: licence positions, limits, what was tried.
    """

    name: str
    licence: str
    half: bool = True
    max_length: int = 0
    max_hypothesis: int = 0
    contradiction: bool = True
    description: str = ""
    notes: str = ""


@dataclass(frozen=True)
class Recipe:
    """A whole training run; `folder` is where relative paths start."""

    model: ModelSettings
    output: OutputSettings
    sources: tuple[Source, ...]
    stages: tuple[Stage, ...]
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    run: RunSettings = field(default_factory=RunSettings)
    validation: Validation | None = None
    cross_validation: CrossValidation | None = None
    teacher: Teacher | None = None
    folder: Path = Path()

    def source(self, name: str) -> Source:
        """Return the source of that name; the reader has checked that it exists."""
        return next(source for source in self.sources if source.name == name)

    def resolve(self, text: str, data: Path | None) -> Path:
        """Expand `${PREVALENCE_DATA}` and make a path relative to the recipe's folder.

        Args:
            text: Path as written in the recipe.
            data: Folder that stands for `${PREVALENCE_DATA}`.

        Returns:
            The path.

        Raises:
            ConfigurationError: The variable is used and no folder is known.
        """
        if "${PREVALENCE_DATA}" in text:
            if data is None:
                raise ConfigurationError(
                    f"{text}: set PREVALENCE_DATA or pass --data FOLDER to say where this file is"
                )
            text = text.replace("${PREVALENCE_DATA}", str(data))
        return self.folder / os.path.expandvars(text)
