"""The data of a recipe: what its sources hold, and whether stages can train on it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from prevalence.calibration import label_caution
from prevalence.errors import ConfigurationError, InputError
from prevalence.files import file_digest
from prevalence.labelled import Document, JudgedPairs, check_summaries, read_documents
from prevalence.training.mixture import finds_examples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from prevalence.training.recipe import DataSource, Recipe, Stage

__all__ = ["Sources"]


class Sources:
    """What the sources of a recipe hold. Files are read when they are first asked for.

    Args:
        recipe: names the sources.
        data: folder that ``${PREVALENCE_DATA}`` stands for.

    Attributes:
        digests: of each source's files, its selection, and what a teacher said of it.

    Raises:
        ConfigurationError: a file is missing, or has no summaries of the systems asked for.
    """

    def __init__(self, recipe: Recipe, data: Path | None) -> None:
        self.recipe, self.data = recipe, data
        self._paths = {source.name: self._path(source) for source in recipe.sources}
        self.digests = {name: self._digest(name) for name in self._paths}
        self._documents: dict[str, list[Document]] = {}

    def _path(self, source: DataSource) -> Path:
        path = self.recipe.resolve(source.path, self.data)
        if not path.is_file():
            raise ConfigurationError(f"source {source.name!r}: {path} does not exist")
        try:
            check_summaries([path], source.summaries)
        except InputError as error:
            raise ConfigurationError(f"source {source.name!r}: summaries: {error}") from None
        return path

    def _beside(self, path: str) -> Path | None:
        return self.recipe.resolve(path, self.data) if path else None

    def _digest(self, name: str) -> str:
        source = self.recipe.source(name)
        beside = [self._beside(path) for path in (source.threeway, source.products)]
        extra = [file_digest(path) for path in beside if path is not None and path.is_file()]
        selected = [f"{source.only}|{source.leave_out}"] if source.only or source.leave_out else []
        return "".join([file_digest(self._paths[name]), *extra, *selected])

    def file(self, name: str) -> Path:
        """The file of a source."""
        return self._paths[name]

    def documents(self, name: str, *, without: frozenset[str] = frozenset()) -> list[Document]:
        """Documents of a source, but for some groups."""
        if name not in self._documents:
            source = self.recipe.source(name)
            found = read_documents(
                self._paths[name],
                labels="soft" if source.labels == "soft" else "majority",
                threeway=self._beside(source.threeway),
                products=self._beside(source.products),
                summaries=source.summaries,
            )
            self._documents[name] = self._selected(source, found)
            caution = label_caution(self._documents[name])
            if caution and not source.taught:
                warnings.warn(f"source {name!r}: {caution}", RuntimeWarning, stacklevel=2)
        return [document for document in self._documents[name] if document.group not in without]

    def _selected(self, source: DataSource, found: Sequence[Document]) -> list[Document]:
        kept = source.select(found)
        if not kept:
            raise ConfigurationError(
                f"source {source.name!r}: no product of {self._paths[source.name]} is left by "
                f"only = {source.only!r} and leave_out = {source.leave_out!r}"
            )
        return kept

    def groups(self, name: str) -> frozenset[str]:
        """The products of a source."""
        return frozenset(document.group for document in self.documents(name))

    def judged(self, name: str) -> JudgedPairs:
        """Pairs of a source with majority labels, for evaluation."""
        return JudgedPairs.of(self._majority(name))

    def validation_pairs(self, name: str) -> JudgedPairs:
        """Likewise, for early stopping: without the products that cross-validation holds out."""
        judged, cross = self.judged(name), self.recipe.cross_validation
        if cross is None:
            return judged
        return judged.take(~np.isin(judged.groups, self.judged(cross.source).groups))

    def asked_of_reviews(self, name: str) -> JudgedPairs:
        """Likewise, with reviews as premises alone."""
        return JudgedPairs.of(d for d in self._majority(name) if d.relation == "review")

    def _majority(self, name: str) -> list[Document]:
        source = self.recipe.source(name)
        found = read_documents(self._paths[name], products=self._beside(source.products))
        return self._selected(source, found)

    def check(
        self, stage: Stage, *, without: frozenset[str] = frozenset(), label: str = ""
    ) -> None:
        """Read what a stage trains on, so that faults in it end a run before it has begun.

        Args:
            stage: what would be trained.
            without: groups to leave out.
            label: shown in messages.

        Raises:
            ConfigurationError: a view finds no examples in its source. Nothing is asked of sources
                that a teacher has yet to label.
            InputError: a file cannot be read.
        """
        for item in stage.mix:
            documents = self.documents(item.source, without=without)
            taught = self.recipe.source(item.source).taught
            if not taught and not finds_examples(item.view, documents):
                raise ConfigurationError(
                    f"stage {stage.name!r}{label}: view {item.view!r} finds no examples in source "
                    f"{item.source!r}; choose another view, or a source with more products"
                )

    def teach(self, name: str, taught: Iterable[Document], key: str) -> None:
        """Put what a teacher says of a source's reviews in their place.

        Args:
            name: of the source.
            taught: its reviews with the teacher's labels.
            key: names teacher and settings, for the digest.
        """
        others = [found for found in self.documents(name) if found.relation != "review"]
        self._documents[name] = [*others, *taught]
        self.digests[name] += key
