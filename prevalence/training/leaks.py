"""Judged pairs that a recipe's model has seen: refused where no fold holds them out, else noted."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from prevalence.calibration import set_cautions
from prevalence.errors import ConfigurationError
from prevalence.models.registry import trained_on
from prevalence.training.model import resolve_base
from prevalence.training.recipe import BY_RECIPE
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prevalence.labelled import Document, JudgedPairs
    from prevalence.training.recipe import CrossValidation, Stage
    from prevalence.training.sources import Sources

__all__ = ["cautions_of_folds", "cautions_of_validation", "refuse_leaks"]

_FREE = -1
"""Stands for a fold where no fold holds a product out."""


def refuse_leaks(
    sources: Sources, base: Sources | None, judged: str, known: frozenset[str]
) -> None:
    """Refuse products of the folds in what no fold holds them out of.

    Args:
        sources: of the recipe.
        base: of the recipe that makes its base, where one does.
        judged: name of the source that is cross-validated on.
        known: its products.

    Raises:
        ConfigurationError: an earlier stage or the base's recipe trains on such a product, the
            base's recipe stops early on it, or a teacher labels it.
    """
    for stage, name in _trained(sources.recipe.stages[:-1]):
        if seen := known & sources.groups(name):
            raise ConfigurationError(
                f"stage {stage.name!r} would train on product {min(seen)!r} of source "
                f"{name!r}, which cross-validation on {judged!r} holds out of the last stage "
                "alone; train on such products in the last stage, or leave them out with "
                "leave_out"
            )
    if base is not None:
        _refuse_base(sources, base, judged, known)
    for name in (source.name for source in sources.recipe.sources if source.taught):
        if seen := known & sources.groups(name):
            raise ConfigurationError(
                f"source {name!r} is taught on product {min(seen)!r}, and cross-validation on "
                f"{judged!r} does not hold it out of what a teacher says; teach other products, or "
                "leave [cross_validation] out"
            )


def _refuse_base(sources: Sources, base: Sources, judged: str, known: frozenset[str]) -> None:
    """Refuse products of the folds in the recipe that makes the base."""
    used = [(f"stage {stage.name!r} trains", name) for stage, name in _trained(base.recipe.stages)]
    if base.recipe.validation is not None:
        used.append(("early stopping looks", base.recipe.validation.source))
    for use, name in used:
        if seen := known & base.groups(name):
            raise ConfigurationError(
                f"base {sources.recipe.model.base!r}: its {use} on product {min(seen)!r} of source "
                f"{name!r}, which cross-validation on {judged!r} holds out of the last stage "
                "alone; leave such products out of the base's recipe with leave_out, or leave "
                "[cross_validation] out"
            )


def cautions_of_folds(
    sources: Sources,
    base: Sources | None,
    teachers: Sequence[Sources],
    cross: CrossValidation,
    *,
    judged: JudgedPairs,
    folds: Sequence[frozenset[str]],
) -> tuple[str, ...]:
    """What makes the figures of a cross-validation flatter, one line each.

    Args:
        sources: of the recipe.
        base: of the recipe that makes its base, where one does.
        teachers: of the recipes that make its teachers.
        cross: the recipe's cross-validation.
        judged: P pairs of it.
        folds: products that each fold holds out.

    Returns:
        Pairs that are trained on under another product; a base or a teacher that has seen the
        pairs; what is wrong with the pairs by themselves.
    """
    names = (cross.source, *cross.also)
    fold_of = {group: number for number, held in enumerate(folds) for group in held}
    places: dict[tuple[str, str], set[int]] = defaultdict(set)
    for document in _training(sources, base):
        for text in document.hypotheses:
            places[document.premise, text].add(fold_of.get(document.group, _FREE))
    shared = sum(
        bool(places.get(pair, set()) - {fold_of[group]})
        for pair, group in zip(judged.pairs, judged.groups.tolist(), strict=True)
    )
    found = []
    if shared:
        found.append(
            f"{shared:,} of {counted(len(judged), 'held-out pair is', 'held-out pairs are')} in "
            "the training data under another product too, where the fold does not hold them out: "
            "figures on them flatter; give a review the same product id everywhere"
        )
    found += _seen_by_base(sources, base, names)
    found += _seen_by_teachers(sources, teachers, names, frozenset(fold_of))
    return (*found, *_faults(judged, cross.source))


def cautions_of_validation(
    sources: Sources, base: Sources | None, name: str, judged: JudgedPairs
) -> tuple[str, ...]:
    """What more than early stopping makes the figures of a validation flatter, one line each.

    Args:
        sources: of the recipe, which has no cross-validation.
        base: of the recipe that makes its base, where one does.
        name: of the source that it is validated on.
        judged: P pairs of the validation.

    Returns:
        How many of its pairs, reviews and products are trained on; a base that has seen the pairs;
        what is wrong with the pairs by themselves.
    """
    documents = list(_training(sources, base))
    pairs = {(each.premise, text) for each in documents for text in each.hypotheses}
    reviews = {each.premise for each in documents if each.relation == "review"}
    groups = {each.group for each in documents}
    asked = judged.take(judged.relations == "review")
    counts = {
        "pairs": (sum(pair in pairs for pair in judged.pairs), len(judged)),
        "reviews": (len(reviews & set(asked.premises)), len(set(asked.premises))),
        "products": (
            len(groups & set(judged.groups.tolist())), len(set(judged.groups.tolist())),
        ),
    }  # fmt: skip
    shared = [f"{n:,} of its {whole:,} {what}" for what, (n, whole) in counts.items() if n]
    found = []
    if shared:
        found.append(
            f"the validation source {name!r} shares {', '.join(shared)} with the training data: "
            "figures on them flatter; validate on other products"
        )
    found += _seen_by_base(sources, base, (name,))
    return (*found, *_faults(judged, name))


def _trained(stages: Sequence[Stage]) -> Iterator[tuple[Stage, str]]:
    """Stages with the sources that they train on."""
    for stage in stages:
        for name in dict.fromkeys(item.source for item in stage.mix):
            yield stage, name


def _training(sources: Sources, base: Sources | None) -> Iterator[Document]:
    """All documents that a recipe, or the one that makes its base, trains on."""
    for each in (sources, base):
        if each is not None:
            for name in dict.fromkeys(name for _, name in _trained(each.recipe.stages)):
                yield from each.documents(name)


def _seen_by_base(sources: Sources, base: Sources | None, names: Sequence[str]) -> list[str]:
    """Bases whose folders say that they were trained on a judged source."""
    recipes = [sources.recipe] + ([] if base is None else [base.recipe])
    found = []
    for recipe in recipes:
        named = recipe.model.base
        if named.startswith(BY_RECIPE):
            continue
        folder = resolve_base(named, recipe.folder, sources.data)
        found += [
            f"the base {named} was trained on the pairs of {name!r}: figures on them flatter; "
            "start from a base that has not seen them"
            for name in names
            if trained_on(str(folder), sources.file(name))
        ]
    return found


def _seen_by_teachers(
    sources: Sources, teachers: Sequence[Sources], names: Sequence[str], known: frozenset[str]
) -> list[str]:
    """Teachers that were trained on a judged source. They teach other products only."""
    recipe = sources.recipe
    seen: Mapping[str, None] = dict.fromkeys(
        name
        for model in (recipe.teacher.models if recipe.teacher else ())
        for name in names
        if trained_on(recipe.teacher_place(model, sources.data), sources.file(name))
    )
    by_recipe = any(
        known & each.groups(name) for each in teachers for _, name in _trained(each.recipe.stages)
    )
    told = list(seen) or ([names[0]] if by_recipe else [])
    return [
        f"a teacher was trained on products of {name!r}, though it teaches others: figures on "
        "them may flatter a little"
        for name in told
    ]


def _faults(judged: JudgedPairs, name: str) -> list[str]:
    """What is wrong with the pairs by themselves."""
    return [
        f"source {name!r}: {line.removeprefix('the first set: ')}"
        for line in set_cautions(judged, None)
    ]
