"""The model card that is written beside the weights."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from prevalence.nli.checkpoint import PREMISE_FIRST
from prevalence.training.recipe import ModelSettings, Recipe

if TYPE_CHECKING:
    from prevalence.training.pipeline import Selection

__all__ = ["model_card"]


def model_card(
    recipe: Recipe,
    *,
    digests: Mapping[str, str],
    weights_digest: str,
    parameters: int,
    threshold: float,
    selection: "Selection | None",
    seconds: Mapping[str, float],
    device: str,
) -> str:
    """Compose the card.

    Args:
        recipe: Settings and sources.
        digests: SHA-256 of each source file.
        weights_digest: SHA-256 of the weights file.
        parameters: Number of parameters.
        threshold: Decision threshold.
        selection: Held-out figures, if any were measured.
        seconds: Wall time by stage.
        device: `cpu` or `cuda`.

    Returns:
        Markdown.
    """
    parts = (
        _head(recipe, parameters=parameters, digest=weights_digest, threshold=threshold),
        _figures(recipe, selection),
        _data(recipe, digests),
        _settings(recipe),
        _time(seconds, device),
        recipe.output.notes.strip(),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(recipe: Recipe, *, parameters: int, digest: str, threshold: float) -> str:
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
        f"- Parameters: {parameters / 1e6:.1f} million, stored in "
        f"{'float16' if recipe.output.half else 'float32'} (compute in float32 on a CPU)",
        "- Labels: entailment, neutral, contradiction",
        f"- Decision: a premise supports a hypothesis if P(entailment) > {threshold:.4f} "
        "(`prevalence_threshold` in config.json)",
        *_reading(recipe),
        f"- Licence of the weights: {recipe.output.licence}",
        f"- SHA-256 of model.safetensors: `{digest}`",
    ])  # fmt: skip


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


def _figures(recipe: Recipe, selection: "Selection | None") -> str:
    if selection is None:
        return "## Figures\n\nNothing was held out; the threshold is not calibrated."
    lines = ["## Figures", ""]
    if selection.folds:
        source = recipe.cross_validation.source if recipe.cross_validation else ""
        (area, area_sd), (balanced, balanced_sd) = (
            selection.mean("auc"), selection.mean("balanced_accuracy"),
        )  # fmt: skip
        lines += [
            f"Cross-validation on `{source}` ({selection.pairs} pairs, {len(selection.folds)} "
            "folds grouped by product; only the last stage is refitted; the threshold for a fold "
            "comes from the other folds). Mean ± standard deviation over folds:",
            "",
            "| figure | mean ± SD | pooled |",
            "|---|---|---|",
            f"| AUC | {area:.4f} ± {area_sd:.4f} | {selection.auc:.4f} |",
            f"| balanced accuracy | {balanced:.4f} ± {balanced_sd:.4f} "
            f"| {selection.balanced_accuracy:.4f} |",
            f"| expected calibration error | | {selection.calibration_error:.4f} |",
        ]
        if recipe.cross_validation and recipe.cross_validation.final == "average":
            lines += ["", "The weights are the average of the folds' models."]
    else:
        lines += [
            f"Validation ({selection.pairs} pairs; used for early stopping, so optimistic): AUC "
            f"{selection.auc:.4f}, balanced accuracy {selection.balanced_accuracy:.4f}, expected "
            f"calibration error {selection.calibration_error:.4f}."
        ]
    return "\n".join(lines)


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
    teachers = [f"`{name}`" for name in (*teacher.models, *teacher.recipes)]
    who, share = "a teacher", "the teacher's probabilities"
    if len(teachers) > 1:
        who, share = "teachers", "the mean of the teachers' probabilities"
    return (
        "",
        f"The reviews of {names} carry soft labels of {who} "
        f"({', '.join(teachers)}; {teacher.dtype}): {teacher.keep:.0%} of a given label where "
        f"there is one, the rest {share}. Each review is also asked "
        f"about up to {teacher.siblings} sentences of other reviews of its product, "
        f"{teacher.foreign} on other products of its domain and {teacher.own} of its own.",
    )


def _settings(recipe: Recipe) -> str:
    rows = []
    for stage in recipe.stages:
        mix = ", ".join(f"{m.samples or 'all'} × {m.source}/{m.view}" for m in stage.mix)
        batch = stage.batch_tokens or recipe.run.batch_tokens
        rows.append(
            f"| {stage.name} | {mix} | {stage.epochs} | {batch} | {stage.learning_rate:g} |"
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
    ])  # fmt: skip


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
