"""UniEval: questions on a summary that a T5 model answers with Yes or No.

A value is P(Yes) / (P(Yes) + P(No)) at the first step of the decoder. Coherence, consistency and
relevance put a second text beside the summary; consistency and fluency ask of each sentence of the
summary and are averaged, and the overall value is the mean of the four.

The weights know the questions in one wording, ``</s>`` included, which is the end token. One that a
summary or a review spells out is taken apart, so that no text can pose as another.

Source: Zhong et al. 2022, section 3; the wording of the questions, NLTK's sentences and the limit
of 1,024 tokens are those of the authors' program and weights (maszhongming/UniEval).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.baselines.neural.runner import SEQ2SEQ, open_runner
from prevalence.baselines.protocol import REFERENCE, REVIEWS
from prevalence.baselines.rules import CombinedMetric, SummaryMetric, comparing, number_option
from prevalence.errors import ConfigurationError, ModelError
from prevalence.models.lengths import table_limit
from prevalence.text.sentences import NLTK_PUNKT, get_splitter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import (
        Comparison,
        Entry,
        Input,
        Metric,
        Runtime,
    )
    from prevalence.scorers.grammar import Spec

__all__ = ["QUESTIONS", "SENTENCEWISE", "Answers", "open_dimension", "open_overall"]

_LIMIT = 1_024
_MOST = 10**9 - 1
"""Tokens, for checkpoints without a table of positions."""
_END = "</s>"

QUESTIONS = {
    "coherence": "question: Is this a coherent summary to the document? </s> "
    "summary: {summary} </s> document: {text}",
    "consistency": "question: Is this claim consistent with the document? </s> "
    "claim: {summary} </s> document: {text}",
    "fluency": "question: Is this a fluent paragraph? </s> paragraph: {summary}",
    "relevance": "question: Is this summary relevant to the reference? </s> "
    "summary: {summary} </s> reference: {text}",
}
"""Dimension → what the model reads."""

SENTENCEWISE = ("consistency", "fluency")
"""Dimensions that are asked of each sentence."""


class Answers:
    """Shares of Yes by a checkpoint.

    Args:
        model: checkpoint folder, registered name or hub name.
        runtime: device, precision and budget.
        limit: most tokens of an input; its end is cut off. None takes UniEval's 1,024, or as many
            as the checkpoint reads.

    Attributes:
        runner: the network.
        limit: most tokens of an input.
        truncated: inputs cut so far.

    Raises:
        ModelError: the checkpoint is unusable, or knows no Yes, No or end token.
        ConfigurationError: the checkpoint has fewer positions than the limit.
    """

    def __init__(self, model: str, runtime: Runtime, limit: int | None = None) -> None:
        self.runner = open_runner(SEQ2SEQ, model, runtime)
        most = table_limit(self.runner.network.config) or _MOST
        if limit is not None and limit > most:
            raise ConfigurationError(f"{model}: limit={limit}: it reads at most {most} tokens")
        self.limit = min(_LIMIT, most) if limit is None else limit
        self.truncated = 0
        tokenizer = self.runner.tokenizer
        self._answers = [int(tokenizer(word)["input_ids"][0]) for word in ("Yes", "No")]
        known = self._answers[0] != self._answers[1] and tokenizer.unk_token_id not in self._answers
        if tokenizer.eos_token != _END or not known:
            raise ModelError(
                f"{model}: its tokenizer has no {_END}, Yes and No of their own; use a T5 model "
                "such as UniEval's"
            )
        special = sorted(tokenizer.all_special_tokens, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special)))

    def question(self, dimension: str, summary: str, text: str = "") -> str:
        """What the model reads of a summary, or a sentence of it, and a text."""
        return QUESTIONS[dimension].format(summary=self._plain(summary), text=self._plain(text))

    def __call__(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        """P(Yes) / (P(Yes) + P(No)) for each input, float64 [N].

        Raises:
            ModelError: the network gives no number.
        """
        rows = self.runner.tokens(inputs, limit=self.limit)
        self.truncated += sum(row.cut for row in rows)
        found = self.runner.run(
            [row.ids.size for row in rows],
            lambda chosen: self._forward([rows[place].ids for place in chosen.tolist()]),
        )
        return self.runner.numbers(found)

    def _plain(self, text: str) -> str:
        """The text with a space in each special token that it spells out."""
        return self._special.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)

    def _forward(self, rows: Sequence[NDArray[np.int64]]) -> list[float]:
        network = self.runner.network
        label = self.runner.padded([np.array(self._answers[:1])] * len(rows))
        logits = network(
            input_ids=self.runner.padded(rows),
            attention_mask=self.runner.mask(rows),
            decoder_input_ids=network.prepare_decoder_input_ids_from_labels(labels=label),
            use_cache=False,
        ).logits[:, 0, self._answers]
        # The softmax of the two alone is their share: what the others have cancels out.
        shares: list[float] = logits.double().softmax(-1)[:, 0].tolist()
        return shares


class _Dimension(NamedTuple):
    """Values of one dimension."""

    name: str
    answers: Answers

    def of_pairs(self, comparisons: Sequence[Comparison]) -> NDArray[np.float64]:
        """Values of summaries beside texts."""
        return self._values([(pair.summary, pair.text) for pair in comparisons])

    def of_summaries(self, summaries: Sequence[str]) -> NDArray[np.float64]:
        """Values of summaries alone."""
        return self._values([(summary, None) for summary in summaries])

    def _values(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float64]:
        asked: dict[str, int] = {}
        groups = [
            [asked.setdefault(question, len(asked)) for question in self._questions(*pair)]
            for pair in pairs
        ]
        shares = self.answers([*asked]) if asked else np.empty(0)
        return np.array([shares[group].mean() if group else np.nan for group in groups])

    def _questions(self, summary: str, text: str | None) -> list[str]:
        """What is asked of a pair; nothing where a text is blank."""
        if not summary.strip() or (text is not None and not text.strip()):
            return []
        parts = [summary]
        if self.name in SENTENCEWISE:
            parts = [sentence.text for sentence in get_splitter(NLTK_PUNKT)(summary)]
        return [self.answers.question(self.name, part, text or "") for part in parts]


def open_dimension(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open the dimension of the entry's name: the share of Yes, in [0, 1].

    Raises:
        ModelError: the checkpoint is unusable, or knows no Yes, No or end token.
        ConfigurationError: the limit is no number of tokens.

    Source: Zhong et al. 2022, section 3.
    """
    return _dimension(entry, spec, _answers(entry, spec, runtime))


def open_overall(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open the mean of the four dimensions, in [0, 1].

    ``against`` is what relevance compares with; a value is NaN where one of the four is.

    Raises:
        ModelError, ConfigurationError: see :func:`open_dimension`.

    Source: Zhong et al. 2022, section 3.
    """
    answers = _answers(entry, spec, runtime)
    reads: dict[str, tuple[Input, ...]] = {
        "coherence": (REVIEWS,), "consistency": (REVIEWS,), "fluency": (), "relevance": (REFERENCE,)
    }  # fmt: skip
    alone = "source" if spec.options.get("against", REFERENCE) == REFERENCE else None
    parts = []
    for name, needs in reads.items():
        unused: set[str | None] = {alone} if name == "relevance" else {"against", "refs"}
        options = {key: value for key, value in spec.options.items() if key not in unused}
        part = replace(entry, name=f"unieval-{name}", needs=needs)
        parts.append(_dimension(part, spec._replace(options=options), answers))
    return CombinedMetric(
        name=spec.canonical(),
        entry=entry,
        signature={key: value for part in parts for key, value in part.signature.items()},
        cuts=lambda: answers.truncated,
        metrics=tuple(parts),
        combine=lambda values: values.mean(axis=0),
    )


def _answers(entry: Entry, spec: Spec, runtime: Runtime) -> Answers:
    limit = number_option(entry, spec, "limit", f"a number of tokens, at most {_MOST}")
    return Answers(spec.options.get("model", entry.models[0]), runtime, limit)


def _dimension(entry: Entry, spec: Spec, answers: Answers) -> Metric:
    dimension = _Dimension(entry.name.removeprefix("unieval-"), answers)
    signature = {**answers.runner.signature, "limit": str(answers.limit)}
    if dimension.name in SENTENCEWISE:
        signature["split"] = NLTK_PUNKT
    if entry.needs:
        return comparing(
            entry,
            spec,
            dimension.of_pairs,
            signature=signature,
            cuts=lambda: answers.truncated,
        )
    return SummaryMetric(
        name=spec.canonical(),
        entry=entry,
        compute=dimension.of_summaries,
        signature=signature,
        cuts=lambda: answers.truncated,
    )
