"""Question-based consistency: does the premise answer questions as the hypothesis does?

Source: the design of QAFactEval (Fabbri et al. 2022): choose answers in the hypothesis, write a
question for each, keep those that the hypothesis itself answers so, answer them from the premise,
compare the answers. Answers are chosen by a rule here and compared by the F1 of their words.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
import weakref
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError, ModelError
from prevalence.metric import check_threshold
from prevalence.models.checkpoint import Network
from prevalence.nli.packing import batches
from prevalence.nli.pairs import PairScorer, PairScores, Progress, ScorerTraits
from prevalence.nli.tokens import cleaner
from prevalence.records import well_formed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from prevalence.nli.pairs import TextTable

__all__ = [
    "GAP",
    "Question",
    "QuestionAnswerer",
    "QuestionScorer",
    "QuestionWriter",
    "SpanLogits",
    "answer_f1",
    "answer_places",
    "answer_spans",
    "best_span",
    "filled",
    "same_answer",
    "stated_template",
]


TEMPLATE = "answer: {answer} context: {context}"
"""What a question writer reads, unless its folder says otherwise."""
TEMPLATE_FILE = "question_generation.json"
"""A JSON object with ``template``, beside the checkpoint of a question writer."""

GAP = "MASKED"
"""Stands in a question for what is asked, where the question is a sentence with a gap."""

MOST_ANSWERS = 8
"""Answers asked for in a text."""
_SAME_ANSWER = 0.6
"""Least F1 of the same answer in other words, exclusive."""
_MOST_ANSWER_TOKENS = 30
_MOST_QUESTION_TOKENS = 48
_BATCH_TOKENS = 4_096
_STRIDE = 64
_PLACE = re.compile(r"\{(\w+)\}")
_PLACES = (("answer", "context"), ("after", "answer", "before"))
_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_FUNCTION_WORDS_TEXT = """
a about after again all also am an and any are as at be because been before being both but
by can could did do does doing don't for from had has have having he her here him his how i
if in into is isn't it it's its just me more most my no nor not of off on once only or other
our out over own same she should so some such than that the their them then there these they
this those through to too until up us very was we were what when where which while who why
will with would you your
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_TEXT.split())


class Question(NamedTuple):
    """A question about a text, and the answer that it was written for, which the text gives."""

    text: str
    answer: str


def answer_places(text: str) -> Iterator[tuple[int, int]]:
    """Where the spans of a text stand that are worth a question, in order.

    They are runs of words that are no function words.

    Source: the rule stands where question-based scorers take noun phrases from a parser.

    >>> [*answer_places("It kept dry.")]
    [(3, 11)]
    """
    start = end = -1
    for token in _TOKEN.finditer(text):
        word = token[0].lower().replace("’", "'")
        if word[0].isalnum() and word not in _FUNCTION_WORDS:
            start, end = (token.start() if start < 0 else start), token.end()
        elif start >= 0:
            yield start, end
            start = -1
    if start >= 0:
        yield start, end


def answer_spans(text: str) -> dict[str, int]:
    """The first distinct spans of a text that are worth a question, and where each begins.

    >>> answer_spans("The warm boots kept my feet dry in deep snow.")
    {'warm boots kept': 4, 'feet dry': 23, 'deep snow': 35}
    """
    starts: dict[str, int] = {}
    for start, end in answer_places(text):
        starts.setdefault(text[start:end], start)
    return dict(islice(starts.items(), MOST_ANSWERS))


def answer_f1(wanted: str, given: str) -> float:
    """F1 of the words of two answers, without case, punctuation and articles.

    Two answers without a word agree, as in SQuAD.

    Source: Rajpurkar et al. 2016.

    >>> answer_f1("the warm boots", "Boots!")
    0.6666666666666666
    """
    first, second = _bag(wanted), _bag(given)
    if not first or not second:
        return float(first == second)
    common = (first & second).total()
    return 2 * common / (first.total() + second.total())


def same_answer(wanted: str, given: str) -> bool:
    """Whether a text is taken to answer its own question as it was meant."""
    return answer_f1(wanted, given) > _SAME_ANSWER


@lru_cache(maxsize=10_000)
def _bag(text: str) -> Counter[str]:
    lowered = "".join(char for char in text.lower() if char not in string.punctuation)
    return Counter(_ARTICLES.sub(" ", lowered).split())


def _digest(checkpoint: Network) -> bytes:
    return hashlib.blake2b(checkpoint.digest + checkpoint.dtype.encode(), digest_size=16).digest()


class QuestionWriter:
    """A sequence-to-sequence model that writes a question for an answer in a text.

    Args:
        model: checkpoint folder or hub name. :data:`TEMPLATE_FILE` in its folder may hold the
            ``template`` it was trained with, with ``{answer}`` and ``{context}``, or with
            ``{before}``, ``{answer}`` and ``{after}`` for an answer marked in its context.
        beams: of the search; nothing is sampled.
        template: what it reads when its folder states nothing.
        batch_tokens: most tokens in a batch.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.

    Attributes:
        name: for the signature.
        digest: of everything that changes a question, 16 bytes.
        dtype: precision of the network.
        truncated: contexts cut at the model's limit so far.

    Raises:
        ModelError: the checkpoint or its template is unusable.
    """

    def __init__(
        self,
        model: str,
        *,
        beams: int = 4,
        template: str = TEMPLATE,
        batch_tokens: int = _BATCH_TOKENS,
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        self._checkpoint = Network("AutoModelForSeq2SeqLM", model, device=device, dtype=dtype)
        path = self._checkpoint.folder / TEMPLATE_FILE
        self._template = stated_template(path, _PLACES) or template
        self._clean = cleaner(self._checkpoint.tokenizer)
        self._beams, self._batch_tokens = beams, batch_tokens
        self.truncated = 0
        self.name, self.dtype = self._checkpoint.signature, self._checkpoint.dtype
        settings = repr((self._template, beams)).encode()
        self.digest = hashlib.blake2b(_digest(self._checkpoint) + settings, digest_size=16).digest()

    def write(self, asked: Sequence[tuple[str, int, int]]) -> list[str]:
        """Questions, in order; what reads alike is written once.

        Args:
            asked: contexts, and where in them an answer begins and ends.
        """
        rows = [self._row(*place) for place in asked]
        keys = [tuple(row["input_ids"]) for row in rows]
        distinct = dict(zip(keys, rows, strict=True))
        order = [*distinct]
        questions: dict[tuple[int, ...], str] = {}
        for part in batches(np.array([*map(len, order)], np.int64), self._batch_tokens):
            chosen = [order[row] for row in part]
            written = self._generate([distinct[key] for key in chosen])
            questions |= zip(chosen, map(str.strip, written), strict=True)
        return [questions[key] for key in keys]

    def _row(self, context: str, start: int, end: int) -> dict[str, list[int]]:
        texts = {
            "answer": context[start:end], "context": context,
            "before": context[:start], "after": context[end:],
        }  # fmt: skip
        texts = {place: self._clean(text) for place, text in texts.items()}
        encoded = self._checkpoint.tokenizer(
            filled(self._template, texts), truncation=True, max_length=self._checkpoint.limit,
            return_overflowing_tokens=True, return_token_type_ids=False, verbose=False,
        )  # fmt: skip
        # What does not fit comes back as further rows.
        self.truncated += len(encoded["input_ids"]) > 1
        return {key: encoded[key][0] for key in ("input_ids", "attention_mask")}

    def _generate(self, rows: Sequence[dict[str, list[int]]]) -> list[str]:
        with self._checkpoint.asked(f"{self.name}: it wrote no question"):
            ids = self._checkpoint.network.generate(
                **self._checkpoint.padded(rows), num_beams=self._beams, do_sample=False,
                max_new_tokens=_MOST_QUESTION_TOKENS,
            )  # fmt: skip
        decoded = self._checkpoint.tokenizer.batch_decode(ids, skip_special_tokens=True)
        return [str(question) for question in decoded]


def filled(template: str, texts: Mapping[str, str]) -> str:
    """A template with texts in its places.

    >>> filled("{answer} in {context}", {"answer": "{context}", "context": "c"})
    '{context} in c'
    """
    return _PLACE.sub(lambda place: well_formed(texts[place[1]]), template)


def stated_template(path: Path, forms: Sequence[tuple[str, ...]]) -> str | None:
    """The template that a file beside a checkpoint states, or None without the file.

    Args:
        path: a JSON object with ``template``.
        forms: the places that it may have, each form in the order of the alphabet.

    Raises:
        ModelError: the file holds something else.
    """
    if not path.is_file():
        return None
    try:
        template = json.loads(path.read_text(encoding="utf-8"))["template"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: no JSON object with a template") from error
    if not isinstance(template, str) or tuple(sorted(_PLACE.findall(template))) not in forms:
        wanted = ", or ".join(" and ".join(f"{{{place}}}" for place in form) for form in forms)
        raise ModelError(f"{path}: the template must hold {wanted}, once each")
    return template


class SpanLogits(NamedTuple):
    """What an extractive model says of one window.

    Attributes:
        start: float [L], logits of being the answer's first token.
        end: float [L], of being its last.
        context: bool [L], the tokens of the context.
        offsets: int [L, 2], their characters in the context.
    """

    start: NDArray[np.float32]
    end: NDArray[np.float32]
    context: NDArray[np.bool_]
    offsets: NDArray[np.int64]


def best_span(window: SpanLogits) -> tuple[float, int, int]:
    """The best answer of a window: its logits less those of "no answer", and its characters.

    "No answer" is the first token as both ends. An answer has 30 tokens at most.

    Source: Devlin et al. 2019, section 4.3.
    """
    inside = np.flatnonzero(window.context)
    if not inside.size:
        return -np.inf, 0, 0
    scores = window.start[inside][:, None] + window.end[inside][None, :]
    gap = np.arange(inside.size)[None, :] - np.arange(inside.size)[:, None]
    scores = np.where((gap >= 0) & (gap < _MOST_ANSWER_TOKENS), scores, -np.inf)
    first, last = np.unravel_index(int(scores.argmax()), scores.shape)
    margin = float(scores[first, last] - window.start[0] - window.end[0])
    return margin, int(window.offsets[inside[first], 0]), int(window.offsets[inside[last], 1])


class QuestionAnswerer:
    """An extractive question-answering model that may find no answer.

    Args:
        model: checkpoint folder or hub name.
        batch_tokens: most tokens in a batch.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.

    Attributes:
        name: for the signature.
        digest: of everything that changes an answer, 16 bytes.
        dtype: precision of the network.
        truncated: questions cut so far, since they took more than half of the model's limit.

    Raises:
        ModelError: the checkpoint is unusable.
    """

    def __init__(
        self,
        model: str,
        *,
        batch_tokens: int = _BATCH_TOKENS,
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        self._checkpoint = Network(
            "AutoModelForQuestionAnswering", model, device=device, dtype=dtype
        )
        self._clean = cleaner(self._checkpoint.tokenizer, keep_offsets=True)
        self._batch_tokens = batch_tokens
        self.truncated = 0
        self.name, self.dtype = self._checkpoint.signature, self._checkpoint.dtype
        self.digest = _digest(self._checkpoint)

    def answer(self, asked: Sequence[tuple[str, str]]) -> list[str]:
        """Answers to (question, context) pairs, in order; an empty one where there is none.

        A long context is read in overlapping windows, and the best answer of all counts.
        """
        best = [max([(0.0, 0, 0), *map(best_span, windows)]) for windows in self.windows(asked)]
        return [context[start:end] for (_, context), (_, start, end)
                in zip(asked, best, strict=True)]  # fmt: skip

    def windows(self, asked: Sequence[tuple[str, str]]) -> list[list[SpanLogits]]:
        """What the model says of every window of each (question, context) pair, in order.

        Raises:
            ModelError: the network gives no number.
        """
        rows, owner, offsets = self._rows(asked)
        found: list[list[SpanLogits]] = [[] for _ in asked]
        read: dict[int, SpanLogits] = {}
        lengths = np.array([len(row["input_ids"]) for row in rows], np.int64)
        for part in batches(lengths, self._batch_tokens):
            logits = self._logits([rows[row] for row in part])
            for row, (start, end) in zip(part.tolist(), logits, strict=True):
                read[row] = SpanLogits(start, end, *offsets[row])
        for row, place in enumerate(owner):
            found[place].append(read[row])
        return found

    def _rows(
        self, asked: Sequence[tuple[str, str]]
    ) -> tuple[list[dict[str, list[int]]], list[int], list[Any]]:
        """Token ids of every window, whose it is, and where its context is."""
        windows, owner, offsets = [], [], []
        limit = self._checkpoint.limit
        for place, pair in enumerate(asked):
            question, context = map(self._clean, pair)
            encoded = self._checkpoint.tokenizer(
                self._shortened(question), context, truncation="only_second", max_length=limit,
                stride=min(_STRIDE, limit // 8), return_overflowing_tokens=True,
                return_offsets_mapping=True, verbose=False,
            )  # fmt: skip
            spans = encoded.pop("offset_mapping")
            encoded.pop("overflow_to_sample_mapping")
            for row in range(len(spans)):
                windows.append({key: values[row] for key, values in encoded.items()})
                owner.append(place)
                inside = np.array([side == 1 for side in encoded.sequence_ids(row)])
                offsets.append((inside, np.asarray(spans[row], np.int64)))
        return windows, owner, offsets

    def _shortened(self, question: str) -> str:
        """The question; of one that takes more than half the room, a part around its gap."""
        encoded = self._checkpoint.tokenizer(
            question, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        spans, limit = encoded["offset_mapping"], self._checkpoint.limit
        if len(spans) <= limit // 2:
            return question
        self.truncated += 1
        gap, kept = question.find(GAP), limit // 3
        before = sum(end <= gap for _, end in spans)
        first = max(0, min(before - kept // 2, len(spans) - kept))
        return question[spans[first][0] : spans[first + kept - 1][1]]

    def _logits(
        self, rows: Sequence[dict[str, list[int]]]
    ) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        with self._checkpoint.asked(f"{self.name}: it gave no answer"):
            output = self._checkpoint.network(**self._checkpoint.padded(rows))
        starts, ends = output.start_logits.float().cpu(), output.end_logits.float().cpu()
        sizes = [len(row["input_ids"]) for row in rows]
        found = [
            (start[:size].numpy(), end[:size].numpy())
            for start, end, size in zip(starts, ends, sizes, strict=True)
        ]
        # Some models rule tokens out with -inf; no comparison lets a NaN through.
        if not all((logits < np.inf).all() for both in found for logits in both):
            advice = "" if self.dtype == "float32" else "; try float32 (dtype= or --dtype)"
            raise ModelError(f"{self.name}: it gave no number for some texts{advice}")
        return found


_UNCALIBRATED = 0.5
_WORK_UNIT = 64


class QuestionScorer(PairScorer):
    """Mean answer F1 over the questions that a hypothesis raises, as a pair scorer.

    A hypothesis that raises no question scores 0. It has no contradiction class.

    Args:
        writer: writes questions.
        answerer: answers them.
        filtered: keep only questions that the hypothesis itself answers as meant.
        threshold: decision threshold in [0, 1); None takes 0.5, which is not calibrated.

    Raises:
        ConfigurationError: a model in half precision, which may choose other words.
    """

    def __init__(
        self,
        writer: QuestionWriter,
        answerer: QuestionAnswerer,
        *,
        filtered: bool = True,
        threshold: float | None = None,
    ) -> None:
        if any(model.dtype != "float32" for model in (writer, answerer)):
            raise ConfigurationError(
                "qafe needs float32 (dtype= or --dtype): half precision may choose other words, "
                "and the decisions that this changes cannot be counted"
            )
        self._writer, self._answerer, self._filtered = writer, answerer, filtered
        described = writer.digest + answerer.digest + f"qafe/{filtered}/3".encode()
        traits = ScorerTraits.unwrapped(
            described,
            signature={
                "consistency": "qafe",
                "gran": "answer",
                "qg": writer.name,
                "qa": answerer.name,
                "filter": "roundtrip" if filtered else "none",
            },
            threshold=_UNCALIBRATED if threshold is None else check_threshold(threshold),
            calibrated=threshold is not None,
            three_way=False,
            probability=True,
            doubt=0.0,
            work_unit=_WORK_UNIT,
        )
        super().__init__(traits)
        self._known: weakref.WeakKeyDictionary[TextTable, dict[int, list[Question]]] = (
            weakref.WeakKeyDictionary()
        )

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        questions = self.questions(texts, pairs[:, 1])
        asked = [
            (row, question)
            for row, hypothesis in enumerate(pairs[:, 1].tolist())
            for question in questions[hypothesis]
        ]
        answers = self._answerer.answer(
            [(question.text, texts[int(pairs[row, 0])]) for row, question in asked]
        )
        agreed: list[list[float]] = [[] for _ in range(len(pairs))]
        for (row, question), answer in zip(asked, answers, strict=True):
            agreed[row].append(answer_f1(question.answer, answer))
        result = PairScores.empty(len(pairs))
        result.entailment[:] = [float(np.mean(values)) if values else 0.0 for values in agreed]
        if progress is not None:
            progress(len(pairs))
        return result

    def questions(
        self, texts: TextTable, hypotheses: NDArray[np.int64]
    ) -> dict[int, list[Question]]:
        """The questions that hypotheses raise, by text number; each text is read once."""
        known = self._known.setdefault(texts, {})
        missing = [number for number in np.unique(hypotheses).tolist() if number not in known]
        meant: list[tuple[int, str]] = []
        asked: list[tuple[str, int, int]] = []
        for number in missing:
            text = texts[number]
            for span, start in answer_spans(text).items():
                meant.append((number, span))
                asked.append((text, start, start + len(span)))
        written = self._writer.write(asked)
        known.update({number: [] for number in missing})
        kept = self._kept(texts, meant, written)
        for (number, span), question, keep in zip(meant, written, kept, strict=True):
            if keep:
                known[number].append(Question(question, span))
        return known

    def _kept(
        self, texts: TextTable, meant: Sequence[tuple[int, str]], written: Sequence[str]
    ) -> list[bool]:
        """Whether each question is one, and its own text answers it as meant."""
        if not self._filtered:
            return [bool(question) for question in written]
        own = self._answerer.answer(
            [
                (question, texts[number])
                for (number, _), question in zip(meant, written, strict=True)
            ]
        )
        return [
            bool(question) and same_answer(span, answer)
            for (_, span), question, answer in zip(meant, written, own, strict=True)
        ]
