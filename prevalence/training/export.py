"""Write a trained classifier: safetensors, tokenizer, config with threshold, model card."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.torch import load_file, save_file

from prevalence.files import file_digest
from prevalence.models.checkpoint import FIRST, PREMISE_FIRST, quiet_transformers
from prevalence.models.error_rates import ERRORS_FILE
from prevalence.models.quantized import pack_rows
from prevalence.models.registry import HELD_OUT
from prevalence.nli.self_test import write_golden

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prevalence.calibration import ThresholdRule
    from prevalence.training.recipe import CrossValidation, ModelSettings, Recipe
    from prevalence.training.stages import Workshop

__all__ = ["FoldFigures", "HeldOutResult", "SourceFigures", "write_checkpoint"]


@dataclass(frozen=True)
class FoldFigures:
    """Figures of one fold; the threshold comes from the other folds' predictions."""

    pairs: int
    auc: float
    balanced_accuracy: float
    threshold: float


@dataclass(frozen=True)
class SourceFigures:
    """Figures on the pairs of a source before the last stage, and after it with folds held out.

    Attributes:
        source: its name.
        pairs: number of pairs on products that a fold holds out.
        before: AUC, and balanced accuracy at the best threshold, of one model on all of them.
        after: the same, each pair judged by the model that did not see its fold; pooled.
    """

    source: str
    pairs: int
    before: tuple[float, float]
    after: tuple[float, float]


@dataclass(frozen=True)
class HeldOutResult:
    """What held-out pairs say about a recipe.

    Attributes:
        threshold: chosen on all held-out pairs.
        rule: how it was chosen, see :data:`prevalence.calibration.THRESHOLD_RULES`.
        auc: pooled over all held-out pairs.
        balanced_accuracy: of all pairs, each decided at the threshold of the other folds; without
            folds ``chosen_accuracy``.
        chosen_accuracy: balanced accuracy at ``threshold``: optimistic by the choice of one number.
        calibration_error: expected calibration error of the pooled probabilities, ten bins.
        pairs: number of pairs.
        folds: figures of each fold; empty for a plain validation source.
        scores: P(entailment) of each pair, given by a model that did not see its fold.
        fold_of: fold of each pair, from 0; empty like ``folds``.
        errors: for each product true positives, false negatives, true negatives and false
            positives at ``threshold``.
        sources: figures before and after the last stage.
        apart: whether the last stage trains on no product of the folds, so that one model gave
            all ``scores``.
        cautions: why the figures flatter beyond that, one line each.
    """

    threshold: float
    rule: ThresholdRule
    auc: float
    balanced_accuracy: float
    chosen_accuracy: float
    calibration_error: float
    pairs: int
    folds: tuple[FoldFigures, ...] = ()
    scores: tuple[float, ...] = ()
    fold_of: tuple[int, ...] = ()
    errors: tuple[tuple[int, int, int, int], ...] = ()
    sources: tuple[SourceFigures, ...] = ()
    apart: bool = False
    cautions: tuple[str, ...] = ()

    def rates(self) -> str:
        """Balanced accuracy and error rates at ``threshold``, in words.

        The rates are of reviews' pairs, and left out where these are all of one kind.
        """
        words = f"balanced accuracy {self.chosen_accuracy:.4f}"
        if not self.errors:
            return words
        found, missed, refused, accepted = np.sum(self.errors, axis=0).tolist()
        supported, others = found + missed, refused + accepted
        of_reviews = "" if supported + others == self.pairs else " of pairs with reviews"
        return (
            f"{words}; sensitivity {found / supported:.4f} ({found:,} of {supported:,} supported "
            f"pairs), specificity {refused / others:.4f} ({refused:,} of {others:,} others)"
            f"{of_reviews}"
        )

    def mean(self, figure: str) -> tuple[float, float]:
        """Mean and standard deviation (n − 1) over folds of ``auc`` or ``balanced_accuracy``."""
        values = [getattr(fold, figure) for fold in self.folds]
        return float(np.mean(values)), float(np.std(values, ddof=1))


def _head(recipe: Recipe, *, parameters: int, digest: str, threshold: float | None) -> str:
    return "\n".join([
        "---",
        f"license: {recipe.output.licence.lower()}",
        "pipeline_tag: text-classification",
        "---",
        "",
        f"# {recipe.output.name}",
        "",
        recipe.output.description.strip() or "A natural language inference model.",
        "",
        f"- Base: `{recipe.model.base}`",
        f"- Parameters: {parameters / 1e6:.1f} million, stored in {_stored(recipe)} "
        "(compute in float32 on a CPU)",
        "- Labels: entailment, neutral, contradiction",
        f"- Decision: a premise supports a hypothesis if P(entailment) > {_cut(threshold)}",
        *_reading(recipe),
        f"- Licence of the weights: {recipe.output.licence}",
        f"- SHA-256 of model.safetensors: `{digest}`",
    ])  # fmt: skip


def _cut(threshold: float | None) -> str:
    if threshold is None:
        return "0.5, which is not calibrated"
    return f"{threshold:.4f} (`prevalence_threshold` in config.json)"


def _stored(recipe: Recipe) -> str:
    output = recipe.output
    if output.bits is None:
        return output.store
    return f"{output.bits} bits with a float16 scale for {output.block} weights of a row"


def _reading(recipe: Recipe) -> tuple[str, ...]:
    model, output = recipe.model, recipe.output
    longest = f"{output.max_length or model.max_length} tokens (`prevalence_max_length`"
    if model.architecture != PREMISE_FIRST:
        return (
            "- Architecture: cross-encoder; premise and hypothesis are one input",
            f"- Longest pair: {longest}; trained on {model.max_length})",
        )
    hypothesis = output.max_hypothesis or model.max_hypothesis
    return (
        "- Architecture: premise-first; the premise attends to itself alone and is computed once "
        "for all its hypotheses, a hypothesis attends to the premise and itself "
        '(`prevalence_attention`: "premise-first"). It is to be used through prevalence: a plain '
        "forward pass over joined pairs gives other answers",
        f"- Longest premise: {longest}; trained on {model.max_length}), longest hypothesis: "
        f"{hypothesis} (`prevalence_max_hypothesis`; trained on {model.max_hypothesis})",
    )


def _figures(recipe: Recipe, selection: HeldOutResult | None) -> str:
    if selection is None:
        return "## Figures\n\nNothing was held out; the threshold is not calibrated."
    cross = recipe.cross_validation
    told = _of_validation(recipe, selection) if cross is None else _of_folds(cross, selection)
    if selection.cautions:
        told += ["", "Read these figures with care:", ""]
        told += [f"- {line}" for line in selection.cautions]
    return "\n".join(["## Figures", "", *told])


def _of_folds(cross: CrossValidation, selection: HeldOutResult) -> list[str]:
    (area, area_sd), (balanced, balanced_sd) = (
        selection.mean("auc"), selection.mean("balanced_accuracy"),
    )  # fmt: skip
    trained = "only the last stage is refitted"
    if selection.apart:
        trained = "no stage trains on these products"
    lines = [
        f"Cross-validation on `{cross.source}` ({selection.pairs} pairs, {len(selection.folds)} "
        f"folds grouped by product; {trained}; the threshold for a fold "
        "comes from the other folds). Mean ± standard deviation over folds:",
        "",
        "| figure | mean ± SD | pooled |",
        "|---|---|---|",
        f"| AUC | {area:.4f} ± {area_sd:.4f} | {selection.auc:.4f} |",
        f"| balanced accuracy | {balanced:.4f} ± {balanced_sd:.4f} "
        f"| {selection.balanced_accuracy:.4f} |",
        f"| expected calibration error | | {selection.calibration_error:.4f} |",
        "",
        f"The threshold is that of `prevalence calibrate --candidates {selection.rule} "
        "--relation all`.",
        f"At this threshold, which was chosen on these pairs: {selection.rates()}.",
        "",
        "AUC, and balanced accuracy at the best threshold, before the last stage and after it "
        "with the product held out, pooled:",
        "",
        "| pairs | before | after |",
        "|---|---|---|",
        *(
            f"| {row.pairs} of `{row.source}` | {row.before[0]:.4f}, {row.before[1]:.4f} "
            f"| {row.after[0]:.4f}, {row.after[1]:.4f} |"
            for row in selection.sources
        ),
    ]
    if cross.final == "average" and not selection.apart:
        lines += ["", "The weights are the average of the folds' models."]
    return lines


def _of_validation(recipe: Recipe, selection: HeldOutResult) -> list[str]:
    trained = {item.source for stage in recipe.stages for item in stage.mix}
    used = "used for early stopping"
    if recipe.validation and recipe.validation.source in trained:
        used += " and trained on"
    return [
        f"Validation ({selection.pairs} pairs; {used}, so optimistic): AUC "
        f"{selection.auc:.4f}, expected calibration error {selection.calibration_error:.4f}. At "
        f"the threshold, which was chosen on these pairs: {selection.rates()}."
    ]


def _data(recipe: Recipe, digests: Mapping[str, str]) -> str:
    used = {item.source for stage in recipe.stages for item in stage.mix}
    rows = [
        f"| {s.name} | {s.origin or s.path} | {s.licence} | `{digests[s.name][:12]}` |"
        for s in recipe.sources
        if s.name in used
    ]
    table = ["| source | what | licence | SHA-256 |", "|---|---|---|---|", *rows]
    return "\n".join(["## Data", "", *table, *_taught(recipe)])


def _taught(recipe: Recipe) -> tuple[str, ...]:
    teacher = recipe.teacher
    if teacher is None:
        return ()
    names = ", ".join(source.name for source in recipe.sources if source.taught)
    seeds = f" with seeds {', '.join(map(str, teacher.seeds))}" if teacher.seeds else ""
    teachers = [f"`{name}`" for name in teacher.models]
    teachers += [f"`{name}`{seeds}" for name in teacher.recipes]
    who, share = "a teacher", "the teacher's probabilities"
    if len(teachers) > 1 or len(teacher.seeds) > 1:
        who, share = "teachers", "the mean of the teachers' probabilities"
    return (
        "",
        f"The reviews of {names} carry soft labels of {who} "
        f"({', '.join(teachers)}; {teacher.dtype}): {teacher.keep:.0%} of a given label where "
        f"there is one, the rest {share}. Each review is also asked "
        f"about up to {teacher.siblings} sentences of other reviews of its product, "
        f"{teacher.foreign} on other products of its domain and {teacher.own} of its own.",
    )


def _card_settings(recipe: Recipe) -> str:
    rows = []
    for stage in recipe.stages:
        mix = ", ".join(f"{m.samples or 'all'} × {m.source}/{m.view}" for m in stage.mix)
        batch = stage.batch_tokens or recipe.run.batch_tokens
        rows.append(
            f"| {stage.name}{', rounded' if stage.rounded else ''} | {mix} | {stage.epochs} "
            f"| {batch} | {stage.learning_rate:g} |"
        )
    model, opt, run = recipe.model, recipe.optimizer, recipe.run
    return "\n".join([
        "## Training",
        "",
        "| stage | examples an epoch (source/view) | epochs | tokens a batch | learning rate |",
        "|---|---|---|---|---|",
        *rows,
        "",
        f"AdamW, weight decay {opt.weight_decay:g}, linear warm-up over {opt.warmup:.0%} of a "
        f"stage and linear decay, gradient norm at most {opt.clip:g}, "
        f"layer decay {opt.layer_decay:g}, "
        f"label smoothing {opt.label_smoothing:g}, dropout {model.dropout:g}, "
        f"embeddings {_frozen(model)}, {model.freeze_layers} layers "
        f"frozen, precision {run.precision}, seed {run.seed}.",
        *_averaged(recipe),
    ])  # fmt: skip


def _averaged(recipe: Recipe) -> list[str]:
    if (average := recipe.average) is None:
        return []
    return [
        "",
        f"From stage `{average.first}` on, {average.runs} runs were trained, each with draws of "
        "its own. The weights are their average.",
    ]


def _frozen(model: ModelSettings) -> str:
    if model.freeze_embeddings:
        return "frozen"
    return "of words frozen" if model.freeze_words else "trained"


def _time(seconds: Mapping[str, float], device: str) -> str:
    if not seconds:
        return ""
    parts = ", ".join(f"{name} {value / 60:.1f}" for name, value in seconds.items())
    total = sum(seconds.values()) / 60
    return f"Wall time on {device}, in minutes: {parts}; {total:.0f} in all."


def write_checkpoint(
    shop: Workshop,
    folder: Path,
    *,
    selection: HeldOutResult | None,
    seconds: Mapping[str, float],
) -> str:
    """Write the present weights as a checkpoint folder.

    Args:
        shop: holds model, tokenizer and recipe.
        folder: target folder.
        selection: threshold for the config, and figures for the card; None without held-out pairs.
        seconds: wall time by stage, for the card.

    Returns:
        SHA-256 of the weights file.
    """
    recipe, cross = shop.recipe, shop.recipe.cross_validation
    threshold = None if selection is None else selection.threshold
    folder.mkdir(parents=True, exist_ok=True)
    for name in (HELD_OUT, ERRORS_FILE):
        (folder / name).unlink(missing_ok=True)
    model = copy.deepcopy(shop.classifier.model).cpu().eval()
    if recipe.output.store == "float16":
        model.half()
    with quiet_transformers():
        model.save_pretrained(folder)  # type: ignore[operator]
    if recipe.output.bits is not None:
        file = folder / "model.safetensors"
        packed = pack_rows(load_file(file), bits=recipe.output.bits, block=recipe.output.block)
        save_file(packed, file, metadata={"format": "pt"})
    tokenizer = shop.classifier.tokenizer
    # The truncation of its last call is no part of the model.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)
    _add_settings(folder / "config.json", _settings(recipe, threshold))
    (folder / "model.safetensors").chmod(0o644)
    digest = file_digest(folder / "model.safetensors")
    if selection is not None and cross is not None:
        _write_held_out(shop, folder / HELD_OUT, cross.source, selection)
        if selection.errors:
            _write_errors(folder / ERRORS_FILE, cross, selection)
    write_golden(folder)
    parameters = sum(p.numel() for p in model.parameters())
    card = (
        _head(recipe, parameters=parameters, digest=digest, threshold=threshold),
        _figures(recipe, selection),
        _data(recipe, shop.sources.digests),
        _card_settings(recipe),
        _time(seconds, shop.device.type),
        recipe.output.notes.strip(),
    )
    text = "\n\n".join(part for part in card if part) + "\n"
    (folder / "README.md").write_text(text, encoding="utf-8")
    return digest


def _write_held_out(shop: Workshop, path: Path, source: str, selection: HeldOutResult) -> None:
    """Keep the out-of-fold predictions, so that figures can be recomputed without training."""
    record = {
        "source": source,
        "source_sha256": shop.sources.digests[source],
        "fold": selection.fold_of,
        "entailment": selection.scores,
    }
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")


def _write_errors(path: Path, cross: CrossValidation, selection: HeldOutResult) -> None:
    """State how often decisions on held-out pairs were wrong, product by product."""
    record = {
        "source": f"{cross.source}, {cross.folds} folds by product",
        "threshold": selection.threshold,
        "products": selection.errors,
    }
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")


def _settings(recipe: Recipe, threshold: float | None) -> dict[str, Any]:
    """What a scorer needs to know beside the architecture."""
    model, output = recipe.model, recipe.output
    settings: dict[str, Any] = {
        "prevalence_threshold": threshold,
        "prevalence_max_length": output.max_length or model.max_length,
    }
    if model.architecture == PREMISE_FIRST:
        settings["prevalence_attention"] = PREMISE_FIRST
        settings["prevalence_max_hypothesis"] = output.max_hypothesis or model.max_hypothesis
        if model.pooling != FIRST:
            settings["prevalence_pooling"] = model.pooling
    if not output.contradiction:
        settings["prevalence_contradiction"] = False
    return settings


def _add_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Put settings into a config in place of the base's; forget where that lay on this disk."""
    config = json.loads(path.read_text(encoding="utf-8"))
    inherited = [key for key in config if key.startswith("prevalence_")]
    for key in ("_name_or_path", *inherited):
        config.pop(key, None)
    config.update(settings)
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
