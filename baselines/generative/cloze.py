"""Sentences with hidden words, and which of them a masked language model guesses, for BLANC.

Sentences of the source are masked in several ways, each token that is long enough once for each
way that reaches it. What is guessed equals what the blanc package, version 0.3.4, finds with BERT.
For other tokenizers a token continues a word where the tokenizer says so, and its length is
without the mark of a space before it.

Source: Vasilyev, Dharnidharka and Bohannon 2020.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.baselines.generative.masked import Frame, logits_at
from prevalence.scorers.units import sentences_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.neural.runner import Runner

__all__ = ["ClozeQuestion", "Masking", "Pieces", "Questions", "Reader", "answers", "score"]

_MARKS = ("##", "Ġ", "▁")


class Pieces(NamedTuple):
    """Tokens of a text, without special ones.

    Attributes:
        ids: int64 [T].
        sizes: int64 [T], characters of each.
        follows: bool [T], continues the word of the token before.
    """

    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    follows: NDArray[np.bool_]

    def part(self, start: int, end: int) -> Pieces:
        """The tokens from one place to another."""
        return Pieces(self.ids[start:end], self.sizes[start:end], self.follows[start:end])


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """Which tokens are masked together.

    Attributes:
        gap: number of ways in which a text is masked; every gap-th token shares one.
        span: neighbouring tokens that are masked together.
        normal: characters that a whole word needs to be masked.
        lead: likewise for the first token of a longer word.
        followup: likewise for its other tokens.
    """

    gap: int = 2
    span: int = 1
    normal: int = 4
    lead: int = 2
    followup: int = 100

    def places(self, pieces: Pieces) -> list[NDArray[np.int64]]:
        """Places masked in each way that masks any."""
        goes_on = np.append(pieces.follows[1:], False)[: pieces.ids.size]
        least = np.where(goes_on, self.lead, self.normal)
        least = np.where(pieces.follows, self.followup, least)
        enough = pieces.sizes >= least
        gap = min(self.gap, pieces.ids.size)
        offset = np.arange(pieces.ids.size) % max(gap, 1)
        ways = (np.flatnonzero(enough & self._reached(offset, way, gap)) for way in range(gap))
        return [found for found in ways if found.size]

    def _reached(self, offset: NDArray[np.int64], way: int, gap: int) -> NDArray[np.bool_]:
        end = way + self.span
        if gap == 1:
            return np.ones(offset.size, np.bool_)
        if end >= gap:
            return (offset >= way) | (offset < end % gap)
        return (offset >= way) & (offset < end)


class Reader:
    """Reads texts into pieces and inputs that fit the model.

    Args:
        runner: a masked language model.
        frame: its special tokens.
        least_sentence: tokens of a sentence that are kept before the summary is cut.

    Attributes:
        truncated: inputs of which something was cut so far.
    """

    def __init__(self, runner: Runner, frame: Frame, *, least_sentence: int) -> None:
        self._runner = runner
        self.frame = frame
        self._least = least_sentence
        self.truncated = 0

    def sentences(self, text: str) -> list[Pieces]:
        """The sentences of a text, compatibility characters and accents taken apart."""
        return self.pieces(sentences_of(unicodedata.normalize("NFKD", text)))

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Tokens of whole texts, however long."""
        return [
            Pieces(row.ids, self._sizes(row.ids), np.diff(row.word, prepend=-1) == 0)
            for row in self._runner.tokens(texts, special=False, whole=True)
        ]

    def fitted(
        self, sentence: Pieces, summary: Sequence[Pieces]
    ) -> tuple[Pieces, NDArray[np.int64]]:
        """A sentence and the tokens of the summary before it, within the model's limit.

        The sentence loses its end first, as long as enough of it is left. Then the summary loses
        its last sentences, and if it has only one that is too long, the beginning of that.
        """
        room = self._runner.limit - 2
        tokens = np.concatenate([np.zeros(0, np.int64), *(part.ids for part in summary)])
        excess = tokens.size + sentence.ids.size - room
        if excess <= 0:
            return sentence, tokens
        self.truncated += 1
        kept = sentence.ids.size - min(excess, max(sentence.ids.size - self._least, 0))
        sentence = sentence.part(0, min(kept, room))
        left = room - sentence.ids.size
        if tokens.size <= left:
            return sentence, tokens
        ends = np.cumsum([part.ids.size for part in summary])
        count = int(np.searchsorted(ends, left, side="right"))
        if count:
            return sentence, tokens[: ends[count - 1]]
        only = summary[0].ids
        return sentence, only[max(only.size - left, 0) :]

    def _sizes(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        names = self._runner.tokenizer.convert_ids_to_tokens(ids.tolist())
        return np.array([len(_unmarked(name)) for name in names], np.int64)


class ClozeQuestion(NamedTuple):
    """An input with masks, and what they hide.

    Attributes:
        number: of the input among all that are asked.
        wanted: the hidden tokens, in order.
    """

    number: int
    wanted: NDArray[np.int64]


class Questions:
    """Inputs with masks; equal ones are asked once.

    Args:
        frame: special tokens.

    Attributes:
        rows: the inputs.
        places: where each is masked.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._known: dict[tuple[bytes, bytes], int] = {}
        self.rows: list[NDArray[np.int64]] = []
        self.places: list[NDArray[np.int64]] = []

    def add(
        self, before: NDArray[np.int64], sentence: Pieces, hidden: NDArray[np.int64]
    ) -> ClozeQuestion:
        """Ask for tokens of a sentence that stands behind other tokens."""
        ids = sentence.ids.copy()
        ids[hidden] = self._frame.mask
        row, places = self._frame.around(before, ids), hidden + 1 + before.size
        key = row.tobytes(), places.tobytes()
        if key not in self._known:
            self._known[key] = len(self.rows)
            self.rows.append(row)
            self.places.append(places)
        return ClozeQuestion(self._known[key], sentence.ids[hidden])


def answers(
    runner: Runner, questions: Questions, *, network: Any = None
) -> list[NDArray[np.int64]]:
    """The most probable token at every place of every question.

    Raises:
        ModelError: the network gives no number.
    """

    def forward(chosen: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        numbers = chosen.tolist()
        places = [questions.places[number] for number in numbers]
        rows = [questions.rows[number] for number in numbers]
        logits = logits_at(runner, rows, places, network=network)
        # The greatest of logits is NaN where one of them is, and argmax would name some token.
        runner.numbers(logits.amax(-1).tolist())
        best = logits.argmax(-1).cpu().numpy()
        return np.split(best, np.cumsum([part.size for part in places])[:-1])

    return runner.run([row.size for row in questions.rows], forward)


def score(plain: NDArray[np.bool_], helped: NDArray[np.bool_], *, improve: bool) -> float:
    """What help is worth.

    Args:
        plain: bool [N], which tokens are guessed without help.
        helped: bool [N], likewise with help.
        improve: the share of tokens gained among those guessed or gained or never guessed, losses
            left out; otherwise the gains minus the losses, among all tokens.

    Returns:
        A value in [-1, 1]; 0 without tokens.
    """
    gained, lost = int((~plain & helped).sum()), int((plain & ~helped).sum())
    count = plain.size - lost if improve else plain.size
    return ((gained if improve else gained - lost) / count) if count else 0.0


def _unmarked(name: str) -> str:
    for mark in _MARKS:
        if name.startswith(mark) and len(name) > len(mark):
            return name[len(mark) :]
    return name
