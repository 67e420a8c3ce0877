"""From a text to its questions, by parts that options exchange."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prevalence.baselines.questions.models import open_answers, open_questions
from prevalence.baselines.questions.spans import SpanFinder
from prevalence.baselines.rules import chosen_option, comparing, number_option
from prevalence.errors import ModelError
from prevalence.models.location import resolve
from prevalence.scorers.qafe import Question, same_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.baselines.questions.models import Answer, Remembering, WrittenQuestions
    from prevalence.scorers.grammar import Spec

__all__ = ["WORK_UNIT", "Asking", "Parts", "mean", "whole"]

WORK_UNIT = 8
"""Summaries that are worth one call: the questions to their reviews are many."""


def whole(comparison: Comparison) -> bool:
    """Whether neither text is empty; a value is undefined otherwise."""
    return bool(comparison.text.strip() and comparison.summary.strip())


def mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """A weighted mean; 0 for no values, or no weight."""
    if weights is None:
        weights = [1.0] * len(values)
    total = math.fsum(weights)
    products = (value * weight for value, weight in zip(values, weights, strict=True))
    return math.fsum(products) / total if total else 0.0


class Asking:
    """Writes the questions of texts.

    Args:
        finder: chooses what they ask for.
        writer: writes them.
        by_sentence: whether the writer sees an answer's sentence alone, and not the whole text.
        filtered: by whom questions are answered from their own text; those whose answer is not
            the wanted one are left out. None keeps all.
    """

    def __init__(
        self,
        finder: SpanFinder,
        writer: WrittenQuestions,
        *,
        by_sentence: bool = False,
        filtered: Remembering[Answer] | None = None,
    ) -> None:
        self._finder, self._writer = finder, writer
        self._by_sentence, self._filtered = by_sentence, filtered

    def __call__(self, texts: Iterable[str]) -> dict[str, list[Question]]:
        """Questions by text."""
        distinct = [*dict.fromkeys(texts)]
        meant = [
            (text, span.text, span.within(None if self._by_sentence else text))
            for text, spans in zip(distinct, self._finder(distinct), strict=True)
            for span in spans
        ]
        written = self._writer([place for _, _, place in meant])
        asked = [
            (text, Question(question, wanted))
            for (text, wanted, _), question in zip(meant, written, strict=True)
            if question
        ]
        found: dict[str, list[Question]] = {text: [] for text in distinct}
        for (text, question), keep in zip(asked, self._kept(asked), strict=True):
            if keep:
                found[text].append(question)
        return found

    def _kept(self, asked: Sequence[tuple[str, Question]]) -> list[bool]:
        if self._filtered is None:
            return [True] * len(asked)
        own = self._filtered([(question.text, text) for text, question in asked])
        return [
            same_answer(question.answer, answer.text)
            for (_, question), answer in zip(asked, own, strict=True)
        ]


class Parts:
    """The parts of a metric by its options; what they cut and what changes a value is collected.

    Args:
        entry: the metric.
        spec: the options asked for.
        runtime: where and how models run.

    Attributes:
        runtime: likewise.
        signature: what changes a value.
    """

    def __init__(self, entry: Entry, spec: Spec, runtime: Runtime) -> None:
        self._entry, self._spec = entry, spec
        self.runtime = runtime
        self.signature: dict[str, str] = {}
        self._models: list[
            SpanFinder | Remembering[str] | Remembering[Answer] | Remembering[float]
        ] = []

    def option(self, key: str, usual: str) -> str:
        """What an option says."""
        return self._spec.options.get(key, usual)

    def flag(self, key: str) -> bool:
        """Whether a flag is given."""
        return key in self._spec.options

    def chosen(self, key: str, among: Sequence[str]) -> str:
        """What an option says, the first name where it is not given.

        Raises:
            ConfigurationError: it is none of the names.
        """
        return chosen_option(self._entry, self._spec, key, among)

    def weights(self, key: str, usual: str = "NAME") -> str:
        """The checkpoint that an option names.

        Raises:
            ModelError: it is not to be had; the message says how to get it.
        """
        model = self.option(key, usual)
        try:
            resolve(model)
        except ModelError as error:
            raise ModelError(
                f"{self._entry.name}: {key}={model}: no such folder, and no such model from the "
                f"hub; where there is a network: hf download {usual} --local-dir FOLDER; then give "
                f"{key}=FOLDER"
            ) from error
        return model

    def finder(self, usual: str) -> SpanFinder:
        """What chooses answers: the options ``answers=``, ``tagger=`` and ``most=``.

        Raises:
            ConfigurationError: an option has a value that it does not know.
            ModelError: the tagger is unusable.
        """
        found = SpanFinder(
            self.option("answers", usual),
            tagger=self._spec.options.get("tagger"),
            most=number_option(self._entry, self._spec, "most", "a number of at least 1"),
            runtime=self.runtime,
        )
        self.signature |= found.signature
        self._models.append(found)
        return found

    def writer(self, usual: str, *, template: str, beams: int) -> WrittenQuestions:
        """What writes questions: the option ``qg=``."""
        model = self.weights("qg", usual)
        found = open_questions(model, template=template, beams=beams, runtime=self.runtime)
        self.add(found)
        return found

    def answers(self, usual: str) -> Remembering[Answer]:
        """What answers them: the option ``qa=``."""
        found = open_answers(self.weights("qa", usual), self.runtime)
        self.add(found)
        return found

    def add(self, model: Remembering[str] | Remembering[Answer] | Remembering[float]) -> None:
        """Collect a model's signature and what it cuts."""
        self.signature |= model.signature
        self._models.append(model)

    def cuts(self) -> int:
        """How many texts were cut at a model's limit so far."""
        return sum(model.truncated for model in self._models)

    def metric(
        self,
        compute: Callable[[Sequence[Comparison]], Sequence[float]],
        options: Mapping[str, str] | None = None,
    ) -> Metric:
        """The metric of these parts, under the rules for several references and reviews.

        Args:
            compute: values of comparisons whose texts are not empty.
            options: in place of those asked for.
        """

        def able(comparisons: Sequence[Comparison]) -> list[float]:
            values = iter(compute([pair for pair in comparisons if whole(pair)]))
            return [next(values) if whole(pair) else math.nan for pair in comparisons]

        spec = self._spec if options is None else self._spec._replace(options=options)
        return comparing(
            self._entry,
            spec,
            able,
            signature=self.signature,
            work_unit=WORK_UNIT,
            cuts=self.cuts,
        )
