"""The models behind question-based metrics: one writes questions, one answers, one compares.

A checkpoint is opened once for all metrics that name it, and what it said of a text is remembered:
questions to the reviews are written once for the summaries of all systems.
"""

from __future__ import annotations

import hashlib
import math
import weakref
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from prevalence.baselines.neural.runner import SEQ2SEQ, open_runner
from prevalence.errors import ModelError
from prevalence.models.checkpoint import read_config
from prevalence.models.location import resolve
from prevalence.nli.tokens import cleaner
from prevalence.scorers.qafe import (
    QuestionAnswerer,
    QuestionWriter,
    SpanLogits,
    best_span,
    filled,
    stated_template,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.neural.runner import Runner
    from prevalence.baselines.protocol import Runtime

__all__ = [
    "ANSWERING_FILE",
    "NO_ANSWER",
    "WEIGHING_FILE",
    "Answer",
    "Overlap",
    "Remembering",
    "SpanAnswers",
    "Weigher",
    "WrittenAnswers",
    "WrittenQuestions",
    "answer_of",
    "forget",
    "open_answers",
    "open_part",
    "open_questions",
]

NO_ANSWER = "unanswerable"
"""What a model that writes its answers writes where there is none."""
ANSWERING_FILE = "question_answering.json"
"""A JSON object with ``template``, beside a checkpoint that writes answers."""
WEIGHING_FILE = "question_weighting.json"
"""Likewise beside one that weighs questions."""

_ANSWERING = "{question} </s> {context}"
_WEIGHING = "{answer} </s> {question} </s> {context}"
_TRUE = "true"
_MOST_TOKENS = 32
_REMEMBERED = 100_000
_CLASSIFIER = "AutoModelForSequenceClassification"

Asked = tuple[Any, ...]
"""A question and a context, or a context and where in it an answer begins and ends."""
Found = TypeVar("Found")
Part = TypeVar("Part", bound="Remembering[Any]")


class Answer(NamedTuple):
    """What a model answers.

    Attributes:
        text: the answer; empty where the model says that there is none.
        answerable: probability that there is one.
        likeliest: the most probable answer, whether or not there is one.
        confidence: the probability of that.
    """

    text: str
    answerable: float
    likeliest: str
    confidence: float


class Remembering(ABC, Generic[Found]):
    """Asks for each request once, as long as it is among the last 100,000.

    Subclasses say in ``compute`` what is found for requests, in order.

    Attributes:
        signature: what changes what is found.
    """

    signature: Mapping[str, str]

    def __init__(self) -> None:
        self._known: OrderedDict[Asked, Found] = OrderedDict()

    def __call__(self, asked: Sequence[Asked]) -> list[Found]:
        """What is found for each request, in order."""
        found = {key: self._known[key] for key in dict.fromkeys(asked) if key in self._known}
        missing = [key for key in dict.fromkeys(asked) if key not in found]
        if missing:
            found |= dict(zip(missing, self.compute(missing), strict=True))
        for key in missing:
            self._known[key] = found[key]
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return [found[key] for key in asked]

    @abstractmethod
    def compute(self, asked: Sequence[Asked]) -> Sequence[Found]:
        """What is found for each of N requests that differ, N values in their order."""

    @property
    def truncated(self) -> int:
        """How many texts were cut at the model's limit so far."""
        return 0

    def forget(self) -> None:
        """Drop what is remembered, as a measurement wants it."""
        self._known.clear()


_OPEN: weakref.WeakValueDictionary[tuple[object, ...], Remembering[Any]] = (
    weakref.WeakValueDictionary()
)


def forget() -> None:
    """Drop what every open model remembers."""
    for model in list(_OPEN.values()):
        model.forget()


def _opened(key: tuple[object, ...], build: Callable[[], Part]) -> Part:
    """The same model as long as some metric still holds it."""
    found: Any = _OPEN.get(key)
    if found is None:
        found = _OPEN[key] = build()
    return cast("Part", found)


def _settings(runtime: Runtime) -> dict[str, Any]:
    """Where and how the models of :mod:`prevalence.scorers.qafe` run."""
    room = {} if runtime.batch_tokens is None else {"batch_tokens": runtime.batch_tokens}
    return {"device": runtime.device, "dtype": runtime.dtype, **room}


def _signed(part: str, name: str, dtype: str) -> dict[str, str]:
    return {part: name} if dtype == "float32" else {part: name, f"{part}-dtype": dtype}


class WrittenQuestions(Remembering[str]):
    """Questions for answers in their places; see :class:`prevalence.scorers.qafe.QuestionWriter`.

    Args:
        model: checkpoint folder, registered name or hub name.
        template: what it reads when its folder states nothing.
        beams: of the search.
        runtime: device, precision and budget.
    """

    def __init__(self, model: str, template: str, beams: int, runtime: Runtime) -> None:
        super().__init__()
        self._writer = QuestionWriter(model, template=template, beams=beams, **_settings(runtime))
        # The digest covers the template and the beams too.
        read = f"{self._writer.name}+{self._writer.digest.hex()[:8]}"
        self.signature = _signed("qg", read, self._writer.dtype)

    def compute(self, asked: Sequence[Asked]) -> list[str]:
        """Questions, in order; an empty one where nothing was written."""
        return self._writer.write([(context, start, end) for context, start, end in asked])

    @property
    def truncated(self) -> int:
        """Contexts cut so far."""
        return self._writer.truncated


def open_questions(model: str, *, template: str, beams: int, runtime: Runtime) -> WrittenQuestions:
    """The writer of questions of a checkpoint.

    Raises:
        ModelError: the checkpoint or its template is unusable.
    """
    key = (WrittenQuestions, resolve(model).resolve(), template, beams, runtime)
    return _opened(key, lambda: WrittenQuestions(model, template, beams, runtime))


def open_answers(model: str, runtime: Runtime) -> Remembering[Answer]:
    """What answers (question, context) pairs: by spans, or in its own words, as its config says.

    Raises:
        ModelError: the checkpoint is unusable.
    """
    if read_config(resolve(model), model).is_encoder_decoder:
        return open_part(WrittenAnswers, model, runtime)
    return open_part(SpanAnswers, model, runtime)


def open_part(kind: Callable[[str, Runtime], Part], model: str, runtime: Runtime) -> Part:
    """A part that needs no more than a checkpoint, such as :class:`Weigher` or :class:`Overlap`.

    Args:
        kind: the class of the part.
        model: checkpoint folder, registered name or hub name.
        runtime: device, precision and budget.

    Raises:
        ModelError: the checkpoint is unusable.
    """
    return _opened((kind, resolve(model).resolve(), runtime), lambda: kind(model, runtime))


class SpanAnswers(Remembering[Answer]):
    """Answers by a model that points at them; a long context is read in overlapping windows.

    Args:
        model: checkpoint folder, registered name or hub name of a model of question answering.
        runtime: device, precision and budget.

    Raises:
        ModelError: the checkpoint is unusable.

    Source: Devlin et al. 2019 for the best span and "no answer"; see :func:`answer_of`.
    """

    def __init__(self, model: str, runtime: Runtime) -> None:
        super().__init__()
        self._answerer = QuestionAnswerer(model, **_settings(runtime))
        self.signature = _signed("qa", self._answerer.name, self._answerer.dtype)

    def compute(self, asked: Sequence[Asked]) -> list[Answer]:
        """Answers, in order."""
        pairs = [(question, context) for question, context in asked]
        read = self._answerer.windows(pairs)
        return [answer_of(windows, context) for windows, (_, context) in
                zip(read, pairs, strict=True)]  # fmt: skip

    @property
    def truncated(self) -> int:
        """Questions cut so far."""
        return self._answerer.truncated


def answer_of(windows: Sequence[SpanLogits], context: str) -> Answer:
    """The answer of a model that points at it, over all windows of the context.

    The answer is the best span of all windows, if its logits are greater than those of "no answer"
    (Devlin et al. 2019); the probability that there is one sets these two against each other.
    The likeliest answer lies between the most probable first and last token of the context, each by
    a softmax over the window, and its probability is the product of theirs, as SummaQA has it; it
    is empty where the last token stands before the first.
    """
    margin, start, end = max(map(best_span, windows), default=(-math.inf, 0, 0))
    confidence, first, last = max(map(_peaks, windows), default=(0.0, 0, 0))
    return Answer(
        text=context[start:end] if margin > 0 else "",
        answerable=0.5 + 0.5 * math.tanh(margin / 2),
        likeliest=context[first:last],
        confidence=confidence,
    )


def _peaks(window: SpanLogits) -> tuple[float, int, int]:
    """The product of the greatest probabilities in the context, and where they stand."""
    inside = np.flatnonzero(window.context)
    if not inside.size:
        return 0.0, 0, 0
    start, end = (_softmax(logits)[inside] for logits in (window.start, window.end))
    first, last = inside[start.argmax()], inside[end.argmax()]
    place = int(window.offsets[first, 0]), int(window.offsets[last, 1])
    return float(start.max() * end.max()), *place


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    raised = np.exp(logits.astype(np.float64) - logits.max())
    found: NDArray[np.float64] = raised / raised.sum()
    return found


class _Seq2Seq:
    """A model that reads a filled template and writes.

    Attributes:
        runner: the network.
        truncated: texts cut so far.
    """

    def __init__(
        self, model: str, runtime: Runtime, file: str, usual: str, places: tuple[str, ...]
    ) -> None:
        self.runner: Runner = open_runner(SEQ2SEQ, model, runtime)
        self._template = stated_template(resolve(model) / file, (places,)) or usual
        read = hashlib.blake2b(self._template.encode(), digest_size=4).hexdigest()
        self.name = f"{self.runner.signature['model']}+{read}"
        self.dtype = self.runner.signature.get("dtype", "float32")
        self._clean = cleaner(self.runner.tokenizer)
        self.truncated = 0

    def first_token(self, word: str) -> int:
        """The token that begins a word."""
        ids = self.runner.tokenizer(word, add_special_tokens=False)["input_ids"]
        return int(ids[0])

    def __call__(
        self, asked: Sequence[Mapping[str, str]], forward: Callable[[Any, Any], Sequence[Any]]
    ) -> list[Any]:
        """What ``forward`` makes of the tokens and the mask of the filled templates."""
        texts = [
            filled(self._template, {place: self._clean(text) for place, text in places.items()})
            for places in asked
        ]
        rows = self.runner.tokens(texts)
        self.truncated += sum(row.cut for row in rows)

        def chosen_rows(chosen: NDArray[np.int64]) -> Sequence[Any]:
            ids = [rows[row].ids for row in chosen.tolist()]
            return forward(self.runner.padded(ids), self.runner.mask(ids))

        return self.runner.run([row.ids.size for row in rows], chosen_rows)


class WrittenAnswers(Remembering[Answer]):
    """Answers by a model that writes them, or :data:`NO_ANSWER`; a long context is cut.

    The probability that there is an answer is one less that of the token that begins
    :data:`NO_ANSWER`, in the first place that the model is free to fill. The template of
    :data:`ANSWERING_FILE` has ``{question}`` and ``{context}``.

    Source: the released code of QuestEval (Scialom et al. 2021) reads T5 in this way.
    """

    def __init__(self, model: str, runtime: Runtime) -> None:
        super().__init__()
        self._model = _Seq2Seq(model, runtime, ANSWERING_FILE, _ANSWERING, ("context", "question"))
        self._none = self._model.first_token(NO_ANSWER)
        self.signature = _signed("qa", self._model.name, self._model.dtype)

    def compute(self, asked: Sequence[Asked]) -> list[Answer]:
        """Answers, in order."""
        rows = [{"question": question, "context": context} for question, context in asked]
        answers: list[Answer] = self._model(rows, self._forward)
        for answer in answers:
            self._model.runner.numbers([answer.answerable, answer.confidence])
        return answers

    @property
    def truncated(self) -> int:
        """Questions with contexts cut so far."""
        return self._model.truncated

    def _forward(self, ids: Any, mask: Any) -> list[Answer]:
        import torch

        network, tokenizer = self._model.runner.network, self._model.runner.tokenizer
        written = network.generate(
            input_ids=ids, attention_mask=mask, num_beams=1, do_sample=False,
            max_new_tokens=_MOST_TOKENS, output_scores=True, return_dict_in_generate=True,
        )  # fmt: skip
        # BART's checkpoints force a token upon the first place; the answer begins behind it.
        forced = network.generation_config.forced_bos_token_id is not None
        none = written.scores[int(forced)].float().softmax(-1)[:, self._none].tolist()
        sure = network.compute_transition_scores(
            written.sequences, written.scores, normalize_logits=True
        )
        # What stands behind the end of an answer is padding.
        ends = np.atleast_1d(network.generation_config.eos_token_id or []).tolist()
        last = torch.isin(written.sequences[:, -sure.shape[1] :], ids.new_tensor(ends))
        behind = last.int().cumsum(-1) - last.int() > 0
        chances = sure.float().masked_fill(behind, 0.0).sum(-1).exp().tolist()
        texts = tokenizer.batch_decode(written.sequences, skip_special_tokens=True)
        return [_written(*each) for each in zip(texts, none, chances, strict=True)]


def _written(text: str, none: float, chance: float) -> Answer:
    given = "" if text.strip() == NO_ANSWER else text.strip()
    return Answer(text=given, answerable=1.0 - none, likeliest=given, confidence=chance)


class Weigher(Remembering[float]):
    """Weights of (answer, question, context) triples: the probability of "true" as first token.

    The template of :data:`WEIGHING_FILE` has ``{answer}``, ``{question}`` and ``{context}``.

    Args:
        model: checkpoint folder, registered name or hub name of an encoder with a decoder.
        runtime: device, precision and budget.

    Source: Scialom et al. 2021, section 3.4, and its released code.
    """

    def __init__(self, model: str, runtime: Runtime) -> None:
        super().__init__()
        places = ("answer", "context", "question")
        self._model = _Seq2Seq(model, runtime, WEIGHING_FILE, _WEIGHING, places)
        self._true = self._model.first_token(_TRUE)
        self.signature = _signed("weigher", self._model.name, self._model.dtype)

    def compute(self, asked: Sequence[Asked]) -> list[float]:
        """Weights, in order."""
        rows = [dict(zip(("answer", "question", "context"), each, strict=True)) for each in asked]
        weights: list[float] = self._model(rows, self._forward)
        self._model.runner.numbers(weights)
        return weights

    @property
    def truncated(self) -> int:
        """Triples cut so far."""
        return self._model.truncated

    def _forward(self, ids: Any, mask: Any) -> list[float]:
        import torch

        network = self._model.runner.network
        begin = network.generation_config.decoder_start_token_id
        begin = network.config.decoder_start_token_id if begin is None else begin
        logits = network(
            input_ids=ids, attention_mask=mask, use_cache=False,
            decoder_input_ids=torch.full((len(ids), 1), begin, device=ids.device),
        ).logits  # fmt: skip
        chances: list[float] = logits[:, 0].float().softmax(-1)[:, self._true].tolist()
        return chances


class Overlap(Remembering[float]):
    """Scores of (passage, question, wanted, given) by a regression model, as LERC gives them.

    The model reads ``[CLS] passage [SEP] question [SEP] wanted [SEP] given [SEP]``; segment
    numbers, where it has any, are 0 to the end of the passage and 1 after it. What does not fit is
    cut off the passage; others that leave it less than a quarter of the room are cut to as much.

    Args:
        model: checkpoint folder, registered name or hub name of a classifier with one output.
        runtime: device, precision and budget.

    Raises:
        ModelError: it has another number of outputs, or no tokens that separate texts.

    Source: Chen et al. 2020 (MOCHA), section 4.
    """

    def __init__(self, model: str, runtime: Runtime) -> None:
        super().__init__()
        self._runner = runner = open_runner(_CLASSIFIER, model, runtime)
        tokenizer = runner.tokenizer
        if runner.network.config.num_labels != 1:
            raise ModelError(
                f"{model}: it has {runner.network.config.num_labels} outputs; LERC is a regression "
                "with one"
            )
        if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
            raise ModelError(f"{model}: its tokenizer has no tokens that begin and separate texts")
        self._clean = cleaner(tokenizer)
        self._segments = "token_type_ids" in tokenizer.model_input_names
        dtype = runner.signature.get("dtype", "float32")
        self.signature = _signed("lerc", runner.signature["model"], dtype)
        self._cut = 0

    @property
    def truncated(self) -> int:
        """Comparisons of which something was cut so far."""
        return self._cut

    def compute(self, asked: Sequence[Asked]) -> list[float]:
        """Scores, in order."""
        texts = [*dict.fromkeys(text for each in asked for text in each)]
        cleaned = [*map(self._clean, texts)]
        tokens = self._runner.tokens(cleaned, special=False, whole=True)
        known = {text: row.ids for text, row in zip(texts, tokens, strict=True)}
        rows = [self._row([known[text] for text in each]) for each in asked]
        scores: list[float] = self._runner.run(
            [ids.size for ids, _ in rows],
            lambda chosen: self._forward([rows[row] for row in chosen.tolist()]),
        )
        self._runner.numbers(scores)
        return scores

    def _row(self, parts: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], int]:
        """Tokens, and how many belong to the first segment."""
        tokenizer, limit = self._runner.tokenizer, self._runner.limit
        room = limit - len(parts) - 1
        passage, *others = parts
        crowded = sum(part.size for part in others) > 3 * room // 4
        kept = [part[: room // 4] for part in others] if crowded else others
        first = passage[: room - sum(part.size for part in kept)]
        self._cut += any(a.size < b.size for a, b in zip([first, *kept], parts, strict=True))
        ids = [np.array([tokenizer.cls_token_id])]
        for part in (first, *kept):
            ids += [part, np.array([tokenizer.sep_token_id])]
        return np.concatenate(ids).astype(np.int64), first.size + 2

    def _forward(self, rows: Sequence[tuple[NDArray[np.int64], int]]) -> list[float]:
        runner, ids = self._runner, [ids for ids, _ in rows]
        more = {}
        if self._segments:
            marked = [(np.arange(row.size) >= first).astype(np.int64) for row, first in rows]
            more["token_type_ids"] = runner.padded(marked, fill=0)
        logits = runner.network(runner.padded(ids), attention_mask=runner.mask(ids), **more).logits
        scores: list[float] = logits[:, 0].float().tolist()
        return scores
