"""BLANC: how much a summary helps a masked language model to guess the words of its source.

BLANC-help writes the summary before each sentence, and as many full stops for comparison;
BLANC-tune trains a copy of the model on the summary first. Values equal those of the blanc
package, version 0.3.4, with BERT and the options named in the signature; BLANC-tune's depend on
the seed there. Sentences are cut by ``punkt-en``, which keeps several marks at the end of a text
("So good!!") in one sentence; NLTK's Punkt, which the package uses, makes the last a sentence.

Source: Vasilyev, Dharnidharka and Bohannon 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from prevalence.baselines.generative.cloze import ClozeQuestion, Masking, Questions, Reader, answers
from prevalence.baselines.generative.cloze import score as worth
from prevalence.baselines.generative.masked import open_masked
from prevalence.baselines.generative.tuning import Tuning, tuned
from prevalence.baselines.rules import chosen_option, comparing
from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.generative.cloze import Pieces
    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["open_blanc_help", "open_blanc_tune"]

_FILLER = "."
_NOTHING = np.zeros(0, np.int64)
_WORK_UNIT = 8
"""Summaries that are worth one call: training takes long, and a call's values are kept together."""

_GREATEST = 2**63 - 1
"""Integers beyond it fit neither numpy nor torch."""

Number = TypeVar("Number", int, float)


class _Settings:
    """Options as numbers, each with its least value; what differs from the default is signed."""

    def __init__(self, entry: Entry, spec: Spec) -> None:
        self._entry = entry
        self._spec = spec
        self.signature: dict[str, str] = {}

    def number(self, option: str, usual: Number, least: Number) -> Number:
        stated = self._spec.options.get(option)
        if stated is None:
            return usual
        try:
            value = type(usual)(stated)
        except ValueError as error:
            raise self._refused(option, stated, least) from error
        # Written so that no comparison lets a NaN through.
        if not least <= value < float("inf"):
            raise self._refused(option, stated, least)
        if isinstance(value, int) and value > _GREATEST:
            raise ConfigurationError(
                f"{self._entry.name}: {option}={stated}: give a number of at most {_GREATEST}"
            )
        self.signature[option] = f"{value:g}"
        return value

    def masking(self) -> Masking:
        usual = Masking()
        return Masking(
            gap=self.number("gap", usual.gap, 1),
            span=self.number("gap-mask", usual.span, 1),
            normal=self.number("min-normal", usual.normal, 0),
            lead=self.number("min-lead", usual.lead, 0),
            followup=self.number("min-followup", usual.followup, 0),
        )

    def improve(self) -> bool:
        measure = chosen_option(self._entry, self._spec, "measure", ("relative", "improve"))
        self.signature["measure"] = measure
        return measure == "improve"

    def tuning(self, masking: Masking) -> Tuning:
        usual = Tuning(masking=masking)
        found = Tuning(
            masking=masking,
            epochs=self.number("epochs", usual.epochs, 1),
            batch=self.number("batch", usual.batch, 1),
            chunk=self.number("chunk", usual.chunk, 1),
            stride=self.number("stride", usual.stride, 1),
            rate=self.number("rate", usual.rate, 0.0),
            warmup=self.number("warmup", usual.warmup, 0),
            replaced=self.number("replaced", usual.replaced, 0.0),
            kept=self.number("kept", usual.kept, 0.0),
            seed=self.number("seed", usual.seed, 0),
        )
        if found.replaced + found.kept > 1:
            raise ConfigurationError(
                f"{self._entry.name}: replaced={found.replaced:g} and kept={found.kept:g} are "
                "shares of the masked tokens: their sum is at most 1"
            )
        self.signature["seed"] = str(found.seed)
        return found

    def _refused(self, option: str, stated: str, least: float) -> ConfigurationError:
        return ConfigurationError(
            f"{self._entry.name}: {option}={stated}: give a number of at least {least}"
        )


class _Blanc:
    """What both ways share.

    Attributes:
        signature: what changes a value.
        reader: reads texts.
    """

    def __init__(self, entry: Entry, spec: Spec, runtime: Runtime) -> None:
        settings = _Settings(entry, spec)
        model = spec.options.get("model", entry.models[0])
        self.masking, self.improve = settings.masking(), settings.improve()
        least = settings.number("least-sentence", 100, 1)
        self.tuning = settings.tuning(self.masking) if entry.name == "blanc-tune" else None
        self.runner, self.frame = open_masked(model, runtime)
        self.reader = Reader(self.runner, self.frame, least_sentence=least)
        self.signature = {**self.runner.signature, **settings.signature}

    def guessed(
        self, asked: Sequence[ClozeQuestion], found: Sequence[NDArray[np.int64]]
    ) -> NDArray[np.bool_]:
        """Which hidden tokens were guessed."""
        right = [found[question.number] == question.wanted for question in asked]
        return np.concatenate([np.zeros(0, np.bool_), *right])

    def value(self, plain: NDArray[np.bool_], helped: NDArray[np.bool_]) -> float:
        return worth(plain, helped, improve=self.improve)

    def metric(self, entry: Entry, spec: Spec, compute: Any) -> Metric:
        return comparing(
            entry,
            spec,
            compute,
            signature=self.signature,
            work_unit=_WORK_UNIT,
            cuts=lambda: self.reader.truncated,
        )


def open_blanc_help(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open BLANC-help: guesses with the summary before each sentence against guesses with filler.

    Values are shares of the masked tokens in [-1, 1], 0 where nothing is masked.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option has a value that it does not know.

    Source: Vasilyev, Dharnidharka and Bohannon 2020.
    """
    blanc = _Blanc(entry, spec, runtime)
    tokenizer = blanc.runner.tokenizer
    number = tokenizer.convert_tokens_to_ids(_FILLER)
    # The token that stands in for the summary's.
    filler = int(tokenizer.unk_token_id if number is None else number)

    def ask(
        questions: Questions, source: Sequence[Pieces], summary: Sequence[Pieces]
    ) -> tuple[list[ClozeQuestion], list[ClozeQuestion]]:
        plain, helped = [], []
        for whole in source:
            sentence, before = blanc.reader.fitted(whole, summary)
            stops = np.full(before.size, filler)
            for hidden in blanc.masking.places(sentence):
                plain.append(questions.add(stops, sentence, hidden))
                helped.append(questions.add(before, sentence, hidden))
        return plain, helped

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        texts = dict.fromkeys(text for pair in comparisons for text in (pair.text, pair.summary))
        known = {text: blanc.reader.sentences(text) for text in texts}
        questions = Questions(blanc.frame)
        asked = [ask(questions, known[pair.text], known[pair.summary]) for pair in comparisons]
        found = answers(blanc.runner, questions)
        return [
            blanc.value(blanc.guessed(plain, found), blanc.guessed(helped, found))
            for plain, helped in asked
        ]

    return blanc.metric(entry, spec, compute)


def open_blanc_tune(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open BLANC-tune: guesses after training on the summary against guesses before it.

    A copy of the model is trained on each distinct summary of a call. Values are shares of the
    masked tokens in [-1, 1], 0 where nothing is masked.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option has a value that it does not know.

    Source: Vasilyev, Dharnidharka and Bohannon 2020.
    """
    blanc = _Blanc(entry, spec, runtime)
    tuning = blanc.tuning or Tuning(masking=blanc.masking)

    def ask(sources: Sequence[str]) -> tuple[Questions, dict[str, list[ClozeQuestion]]]:
        questions = Questions(blanc.frame)
        asked: dict[str, list[ClozeQuestion]] = {}
        for text in dict.fromkeys(sources):
            sentences = (blanc.reader.fitted(s, [])[0] for s in blanc.reader.sentences(text))
            asked[text] = [
                questions.add(_NOTHING, sentence, hidden)
                for sentence in sentences
                for hidden in blanc.masking.places(sentence)
            ]
        return questions, asked

    def compute(comparisons: Sequence[Comparison]) -> NDArray[np.float64]:
        questions, asked = ask([pair.text for pair in comparisons])
        usual = answers(blanc.runner, questions)
        plain = {text: blanc.guessed(asked[text], usual) for text in asked}
        values = np.zeros(len(comparisons))
        for summary in dict.fromkeys(pair.summary for pair in comparisons):
            places = [at for at, pair in enumerate(comparisons) if pair.summary == summary]
            own, wanted = ask([comparisons[at].text for at in places])
            (pieces,) = blanc.reader.pieces([summary])
            found = answers(blanc.runner, own, network=tuned(blanc.runner, blanc.frame, pieces,
                                                             tuning))  # fmt: skip
            for at in places:
                text = comparisons[at].text
                values[at] = blanc.value(plain[text], blanc.guessed(wanted[text], found))
        return values

    return blanc.metric(entry, spec, compute)
