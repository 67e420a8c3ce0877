"""What is worth a question in a text: names, noun phrases or runs of content words, with places.

The published metrics take named entities and noun chunks from spaCy, whose pipelines are programs
of their own. Here a token classifier finds the names where one is given (``tagger=``); without
weights, rules over the word classes of English do. They find noun phrases without pronouns, and of
the names those that are written with capitals or digits.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.baselines.neural.runner import open_runner
from prevalence.claims.english import Token, tagged
from prevalence.errors import ConfigurationError, ModelError
from prevalence.scorers.qafe import answer_places
from prevalence.text.sentences import punkt_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.neural.runner import Tokens
    from prevalence.baselines.protocol import Runtime
    from prevalence.text.sentences import Sentence

__all__ = ["CHUNKS", "NAMES", "RULES", "WORDS", "Span", "SpanFinder", "chunks", "names", "words"]

CHUNKS, NAMES, WORDS = "chunks", "names", "words"

_LETTER = {"det": "d", "poss": "d", "num": "n", "adj": "a", "ing": "g", "noun": "N"}
# In a run of numbers and adjectives only the first word may begin a match, which would otherwise be
# sought to the end of the run from each of its words.
_CHUNK = re.compile(r"(?:(?<![na])|(?=[dN]))(?:d[na]*g)?d?[na]*N+")
_OTHER = "-"
_SURE = "BSU"
"""First letters of labels that begin a span whatever stands before."""

Place = tuple[int, int]


class Span(NamedTuple):
    """A piece of a text that a question may ask for.

    Attributes:
        text: as it stands there.
        start: its first character, counted in the sentence.
        end: the one after its last.
        sentence: where it stands.
    """

    text: str
    start: int
    end: int
    sentence: Sentence

    def within(self, text: str | None) -> tuple[str, int, int]:
        """A context, and where in it the span begins and ends.

        Args:
            text: the text that the sentence is cut from; None for the sentence alone.
        """
        if text is None:
            return self.sentence.text, self.start, self.end
        first = self.sentence.start
        return text, first + self.start, first + self.end


def chunks(sentence: str) -> list[Place]:
    """Noun phrases: determiner, numbers and adjectives before one or more nouns.

    >>> text = "The warm boots kept my feet dry in deep snow."
    >>> [text[start:end] for start, end in chunks(text)]
    ['The warm boots', 'my feet', 'deep snow']
    """
    tokens = tagged(sentence)
    letters = "".join(_LETTER.get(token.tag, _OTHER) for token in tokens)
    return [
        (tokens[found.start()].start, tokens[found.end() - 1].end)
        for found in _CHUNK.finditer(letters)
    ]


def names(sentence: str) -> list[Place]:
    """Runs of capitalised nouns, and numbers; a sentence's first word alone is no name.

    >>> text = "Boots from North Face, bought in 2019."
    >>> [text[start:end] for start, end in names(text)]
    ['North Face', '2019']
    """
    tokens = tagged(sentence)
    letters = "".join(map(_kind, tokens))
    runs = (found.span() for found in re.finditer("N+|n+", letters))
    return [
        (tokens[first].start, tokens[end - 1].end) for first, end in runs
        if letters[first] == "n" or (first, end) != (0, 1)
    ]  # fmt: skip


def _kind(token: Token) -> str:
    if token.tag == "num" or token.text[0].isdigit():
        return "n"
    return "N" if token.tag == "noun" and token.text[0].isupper() else _OTHER


def words(sentence: str) -> list[Place]:
    """Runs of words that are no function words, by :func:`prevalence.scorers.qafe.answer_places`.

    >>> words("It kept dry.")
    [(3, 11)]
    """
    return [*answer_places(sentence)]


RULES: Mapping[str, Callable[[str], list[Place]]] = {CHUNKS: chunks, NAMES: names, WORDS: words}
"""Rules by name; each maps a sentence to the places of its spans, in order."""


class SpanFinder:
    """Finds what is worth a question.

    Args:
        rules: names of :data:`RULES` with ``+`` between; a place that two find counts once.
        tagger: a token classifier whose labels mark spans (``B-PER``, ``I-PER``, ``O``); it takes
            the place of the rule ``names``.
        most: spans of a text, the first ones; None for all.
        runtime: device and precision of the tagger.

    Attributes:
        signature: what changes a span.

    Raises:
        ConfigurationError: there is no such rule, or the tagger has nothing to do.
        ModelError: the tagger is unusable.
    """

    def __init__(
        self, rules: str, *, tagger: str | None, most: int | None, runtime: Runtime
    ) -> None:
        self._rules = rules.split("+")
        unknown = [rule for rule in self._rules if rule not in RULES]
        if unknown:
            raise ConfigurationError(
                f"answers={rules}: choose {', '.join(RULES)}, or several with + between"
            )
        if tagger is not None and NAMES not in self._rules:
            raise ConfigurationError(
                f"tagger= finds names, and answers={rules} asks for none; write answers={NAMES}"
            )
        self._tagger = None if tagger is None else _Tagger(tagger, runtime)
        self._most = most
        self.signature: dict[str, str] = {"answers": rules}
        if self._tagger is not None:
            self.signature["tagger"] = self._tagger.name
        if most is not None:
            self.signature["most"] = str(most)

    @property
    def truncated(self) -> int:
        """Sentences that the tagger did not read to their end so far."""
        return 0 if self._tagger is None else self._tagger.truncated

    def __call__(self, texts: Sequence[str]) -> list[list[Span]]:
        """Spans of each text, in order."""
        cut = [punkt_sentences(text) for text in texts]
        stripped = [sentence.text for sentences in cut for sentence in sentences]
        tags = iter(self._named(stripped))
        found = []
        for sentences in cut:
            spans = [span for each in sentences for span in self._spans(each, next(tags))]
            found.append(spans[: self._most])
        return found

    def _named(self, sentences: Sequence[str]) -> list[list[Place]]:
        if NAMES not in self._rules:
            return [[] for _ in sentences]
        return [*map(names, sentences)] if self._tagger is None else self._tagger(sentences)

    def _spans(self, sentence: Sentence, named: list[Place]) -> list[Span]:
        places = set(named)
        for rule in self._rules:
            places |= set() if rule == NAMES else set(RULES[rule](sentence.text))
        return [Span(sentence.text[start:end], start, end, sentence) for start, end in
                sorted(places)]  # fmt: skip


class _Tagger:
    """Spans by a token classifier; a word's label is that of its first token."""

    def __init__(self, model: str, runtime: Runtime) -> None:
        self._runner = open_runner("AutoModelForTokenClassification", model, runtime)
        labels = self._runner.network.config.id2label
        self._labels = [str(labels[number]) for number in range(len(labels))]
        if "O" not in self._labels:
            raise ModelError(
                f"{model}: its labels are {', '.join(self._labels[:4])}, and none is O (no span); "
                "give a tagger with labels such as B-PER, I-PER and O"
            )
        self.name = self._runner.signature["model"]
        self.truncated = 0

    def __call__(self, sentences: Sequence[str]) -> list[list[Place]]:
        rows = self._runner.tokens(sentences)
        self.truncated += sum(row.cut for row in rows)
        labels = self._runner.run(
            [row.ids.size for row in rows],
            lambda chosen: self._forward([rows[row].ids for row in chosen.tolist()]),
        )
        return [
            self._places(row, found, sentence)
            for row, found, sentence in zip(rows, labels, sentences, strict=True)
        ]

    def _forward(self, rows: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        runner = self._runner
        logits: Any = runner.network(runner.padded(rows), attention_mask=runner.mask(rows)).logits
        best = logits.argmax(-1).cpu().numpy()
        return [row[: ids.size] for row, ids in zip(best, rows, strict=True)]

    def _places(self, row: Tokens, found: NDArray[np.int64], sentence: str) -> list[Place]:
        """Runs of words of one type; B-, S- and U- begin a new one."""
        places: list[Place] = []
        last = "O"
        for word in np.unique(row.word[row.word >= 0]).tolist():
            inside = np.flatnonzero(row.word == word)
            start, end = int(row.span[inside[0], 0]), int(row.span[inside[-1], 1])
            start += len(sentence[start:end]) - len(sentence[start:end].lstrip())
            label = self._labels[int(found[inside[0]])]
            kind = label.partition("-")[2]
            if label != "O" and kind == last and label[0] not in _SURE:
                places[-1] = (places[-1][0], end)
            elif label != "O":
                places.append((start, end))
            last = "O" if label == "O" else kind
        return places
