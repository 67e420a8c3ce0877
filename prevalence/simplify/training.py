"""Fine-tune a sequence-to-sequence model on pairs of a sentence and its rewriting."""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.models.checkpoint import quiet_transformers
from prevalence.models.devices import PRECISIONS
from prevalence.simplify.checkpoint import MAX_LENGTH_KEY, PREFIX_KEY, SeqToSeq, load_seq_to_seq
from prevalence.training import state
from prevalence.training.loop import TrainingProgress, working_dtype

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import Tensor

    from prevalence.simplify.asset import Corpus

__all__ = ["STATE", "SimplifierSettings", "train_simplifier"]

STATE = ".training/state.safetensors"
"""File of the resumable state in the output folder."""

_FINGERPRINT_KEY = "prevalence_training"
_CARD = "README.md"
"""Written last: a folder without it is not finished."""
_IGNORED = -100
"""Label that the cross-entropy of the model library leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimplifierSettings:
    """How to train.

    Attributes:
        epochs: passes over all pairs; three gave nonsense insertions.
        learning_rate: of Adam, falling linearly to 0.
        batch_size: pairs a step.
        max_length: tokens of a source and of a rewriting; longer ones are cut.
        prefix: text before each source, kept in the checkpoint for rewriting.
        seed: of order and dropout.
        precision: ``auto`` (bfloat16 arithmetic on CUDA), ``float32`` or ``bfloat16``.
        checkpoint_every: steps between resumable states.

    Raises:
        ConfigurationError: a value out of range.

    Source: Malon 2023, section 6; the prefix and the batch are those of the released command.
    """

    epochs: int = 30
    learning_rate: float = 5e-5
    batch_size: int = 8
    max_length: int = 64
    prefix: str = "hypothesis: "
    seed: int = 0
    precision: str = "auto"
    checkpoint_every: int = 2000

    def __post_init__(self) -> None:
        numbers = {"epochs": self.epochs, "learning rate": self.learning_rate,
                   "batch size": self.batch_size, "length limit": self.max_length,
                   "checkpoint interval": self.checkpoint_every}  # fmt: skip
        for name, value in numbers.items():
            if not 0 < value < math.inf:
                raise ConfigurationError(f"the {name} must be positive, not {value}")
        if self.precision not in PRECISIONS:
            raise ConfigurationError(
                f"unknown precision {self.precision!r}: choose from {', '.join(PRECISIONS)}"
            )


@dataclass(slots=True)
class _Position:
    """What changes while training goes on, apart from tensors."""

    step: int = 0
    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0


class _Run:
    """State of a run; :func:`train_simplifier` is the way in."""

    def __init__(
        self, base: SeqToSeq, corpus: Corpus, settings: SimplifierSettings, file: Path
    ) -> None:
        self.base, self.settings, self.file = base, settings, file
        self.position = _Position()
        self.pairs = corpus.pairs
        self.per_epoch = math.ceil(len(corpus.pairs) / settings.batch_size)
        self.steps = self.per_epoch * settings.epochs
        self.dtype = working_dtype(settings.precision, base.device)
        self.optimizer = torch.optim.Adam(
            base.model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.999), eps=1e-8
        )
        # How often a state is written changes no weight.
        told = {**asdict(settings), "checkpoint_every": None}
        named = json.dumps([corpus.digest, base.digest, told], sort_keys=True)
        self.fingerprint = hashlib.blake2b(named.encode(), digest_size=8).hexdigest()

    def rows(self, step: int) -> list[int]:
        """Pairs of a step: each epoch has an order of its own, so that a run can be continued."""
        epoch, place = divmod(step, self.per_epoch)
        order = np.random.default_rng([self.settings.seed, epoch]).permutation(len(self.pairs))
        size = self.settings.batch_size
        return [int(row) for row in order[place * size : (place + 1) * size]]

    def step(self) -> float:
        """Take one step; returns the loss."""
        for group in self.optimizer.param_groups:
            left = (self.steps - self.position.step) / self.steps
            group["lr"] = self.settings.learning_rate * left
        on = self.dtype != torch.float32
        with torch.autocast(self.base.device.type, self.dtype, enabled=on):
            loss: Tensor = self.base.model(**self._batch(self.rows(self.position.step))).loss
        value = float(loss.detach())
        if not math.isfinite(value):
            raise ModelError(
                f"the loss is {value} at step {self.position.step + 1}; lower --learning-rate or "
                "use --precision float32"
            )
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.position.step += 1
        self.position.losses.append(round(value, 5))
        return value

    def _batch(self, rows: list[int]) -> dict[str, Tensor]:
        tokenizer, prefix = self.base.tokenizer, self.settings.prefix
        options: dict[str, Any] = {
            "padding": True, "truncation": True, "max_length": self.settings.max_length,
            "return_tensors": "pt",
        }  # fmt: skip
        read = tokenizer([prefix + self.pairs[row][0] for row in rows], **options)
        written = tokenizer(text_target=[self.pairs[row][1] for row in rows], **options)
        labels = written["input_ids"].masked_fill(written["attention_mask"] == 0, _IGNORED)
        inputs = {"input_ids": read["input_ids"], "attention_mask": read["attention_mask"]}
        return {k: v.to(self.base.device) for k, v in (inputs | {"labels": labels}).items()}

    def save(self) -> None:
        facts = {"fingerprint": self.fingerprint, "position": asdict(self.position)}
        state.save_run(self.file, self.base.model, self.optimizer, facts)

    def resume(self) -> None:
        parts, facts = state.load_parts(self.file)
        if facts.get("fingerprint") != self.fingerprint:
            raise InputError(
                f"{self.file}: is the state of a run with other data, base or settings; delete it "
                "or choose another --output"
            )
        state.resume_run(parts, self.base.model, self.optimizer)
        self.position = _Position(**facts["position"])


def train_simplifier(
    corpus: Corpus,
    *,
    base: str | Path,
    output: Path,
    settings: SimplifierSettings | None = None,
    device: str = "auto",
    progress: Callable[[TrainingProgress], None] | None = None,
    progress_every: int = 50,
) -> Path:
    """Fine-tune a checkpoint and write a new one, which rewrites with the same prefix and limit.

    Args:
        corpus: pairs of a sentence and its rewriting.
        base: folder of the checkpoint to start from, such as T5-base.
        output: folder of the new checkpoint. A state in it is resumed, to the same weights as an
            undisturbed run on the same device.
        settings: the paper's where none are given.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
        progress: called every ``progress_every`` steps and at the end, with their mean loss.
        progress_every: steps between calls.

    Returns:
        The folder.

    Raises:
        ModelError: the base cannot be loaded, or the loss is not finite.
        ConfigurationError: the length limit is above the base's, or the prefix fills it.
        InputError: the state or the checkpoint in ``output`` belongs to another run.
    """
    chosen = settings or SimplifierSettings()
    loaded = load_seq_to_seq(base, device=device)
    _check_lengths(loaded, chosen)
    torch.manual_seed(chosen.seed)
    run = _Run(loaded, corpus, chosen, output / STATE)
    if _is_finished(run, output):
        return output
    if run.file.is_file():
        run.resume()
    loaded.model.train()
    before, start = run.position.seconds, time.perf_counter()
    while run.position.step < run.steps:
        run.step()
        step = run.position.step
        run.position.seconds = before + time.perf_counter() - start
        if step % chosen.checkpoint_every == 0 and step < run.steps:
            run.save()
        if progress is not None and (step % progress_every == 0 or step == run.steps):
            recent = run.position.losses[-progress_every:]
            progress(TrainingProgress("simplifier", step, run.steps, sum(recent) / len(recent)))
    _write(run, corpus, output)
    run.file.unlink(missing_ok=True)
    return output


def _check_lengths(base: SeqToSeq, settings: SimplifierSettings) -> None:
    """Refuse a limit that the base cannot read, or that leaves no room for a sentence."""
    most = settings.max_length
    if most > base.limit:
        raise ConfigurationError(
            f"--max-length {most} is above the {base.limit} tokens that {base.name} reads"
        )
    taken = len(base.tokenizer(settings.prefix)["input_ids"])
    if taken >= most:
        raise ConfigurationError(
            f"the prefix {settings.prefix!r} takes {taken} tokens and leaves no room for a "
            f"sentence; raise --max-length ({most}) or shorten --prefix"
        )


def _is_finished(run: _Run, folder: Path) -> bool:
    """Whether an earlier run with the same input wrote it all; another folder is not touched."""
    config = folder / "config.json"
    if not config.is_file():
        return False
    try:
        found = json.loads(config.read_text(encoding="utf-8")).get(_FINGERPRINT_KEY)
    except (ValueError, AttributeError):
        found = None
    if found != run.fingerprint:
        raise InputError(
            f"{folder}: holds a checkpoint of other data, base or settings; choose another --output"
        )
    return (folder / _CARD).is_file()


def _write(run: _Run, corpus: Corpus, folder: Path) -> None:
    model, settings = run.base.model.cpu().eval(), run.settings
    setattr(model.config, PREFIX_KEY, settings.prefix)
    setattr(model.config, MAX_LENGTH_KEY, settings.max_length)
    setattr(model.config, _FINGERPRINT_KEY, run.fingerprint)
    folder.mkdir(parents=True, exist_ok=True)
    with quiet_transformers():
        model.save_pretrained(folder)
    run.base.tokenizer.save_pretrained(folder)
    (folder / _CARD).write_text(_card(run, corpus), encoding="utf-8")


def _card(run: _Run, corpus: Corpus) -> str:
    settings, losses = run.settings, run.position.losses
    last = losses[-run.per_epoch :]
    return "\n".join([
        "# Sentence simplifier",
        "",
        f"Fine-tuned by `prevalence train-simplifier` from `{run.base.name}` "
        f"({run.base.digest}), whose licence applies.",
        "",
        f"- Data: `{corpus.name}`, {corpus.sources:,} sentences with {corpus.rewritings} "
        f"rewritings each (digest {corpus.digest}).",
        f"- {settings.epochs} epochs, {run.steps:,} steps of {settings.batch_size} pairs, Adam "
        f"(.9, .999, 1e-8), learning rate {settings.learning_rate:g} falling linearly to 0, "
        f"at most {settings.max_length} tokens, prefix `{settings.prefix}`, seed {settings.seed}.",
        f"- Mean loss of the last epoch {sum(last) / len(last):.4f}; "
        f"{run.position.seconds / 60:.1f} minutes on {run.base.device.type}.",
        "",
        "Use: `prevalence simplify INPUT --model THIS_FOLDER --output OUTPUT.jsonl`.",
        "",
    ])  # fmt: skip
