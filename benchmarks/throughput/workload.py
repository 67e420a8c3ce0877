"""Pairs like those of real products: the lengths are real, the words are not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.nli.pairs import TextTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["REVIEWS", "SENTENCES", "WORDS", "Workload"]

REVIEWS, SENTENCES = 8, 6
"""Of a product, as in the data that the lengths are from."""

_TEXT = (
    "the a this it is was are were very really not never too so and but or with for of to in on "
    "after before from at my our their its i we they you bought ordered returned kept used wore "
    "washed broke leaks fits runs works looks feels sounds smells arrived shipped cost lasts good "
    "great bad poor fine soft hard warm cold dry wet light heavy small large short long cheap loud "
    "quiet sturdy thin thick boots shoes shirt jacket charger battery screen cable speaker kettle "
    "blender bottle lid handle button zipper seam size color price quality week month year day"
)
WORDS = tuple(_TEXT.split())
"""Common words, each of which is a token of the tokenizers that the benchmark trains."""


@dataclass(frozen=True)
class Workload:
    """Every review of each product with every sentence of its summary.

    Attributes:
        reviews: texts of all products, REVIEWS a product.
        sentences: likewise, SENTENCES a product.
    """

    reviews: tuple[str, ...]
    sentences: tuple[str, ...]

    @classmethod
    def draw(cls, products: int, *, seed: int = 0) -> Workload:
        """Texts of so many products, with the lengths of real ones.

        Args:
            products: at least 1.
            seed: of the lengths and the words.
        """
        source = files("benchmarks.throughput").joinpath("data/lengths.json")
        lengths = json.loads(source.read_text(encoding="utf-8"))
        random = np.random.default_rng(seed)
        return cls(
            _texts(lengths["review"], products * REVIEWS, random),
            _texts(lengths["sentence"], products * SENTENCES, random),
        )

    def head(self, products: int) -> Workload:
        """The first products, or all of them where there are fewer."""
        return Workload(self.reviews[: products * REVIEWS], self.sentences[: products * SENTENCES])

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """(review, sentence), products one after the other."""
        return [
            (self.reviews[i], self.sentences[k])
            for product in range(len(self.reviews) // REVIEWS)
            for i in range(product * REVIEWS, (product + 1) * REVIEWS)
            for k in range(product * SENTENCES, (product + 1) * SENTENCES)
        ]

    def numbered(self) -> tuple[TextTable, NDArray[np.int64]]:
        """The pairs over a new table of texts, int64 [P, 2]."""
        table = TextTable()
        numbers = [(table.add(review), table.add(sentence)) for review, sentence in self.pairs]
        return table, np.array(numbers, np.int64)

    def tokens(self, tokenizer: Any) -> NDArray[np.int64]:
        """Tokens of each pair as one input, special tokens included, int64 [P]."""
        encoded = (
            tokenizer(list(texts), add_special_tokens=False)["input_ids"]
            for texts in (self.reviews, self.sentences)
        )
        reviews, sentences = (
            np.array([len(ids) for ids in part], np.int64).reshape(-1, size)
            for part, size in zip(encoded, (REVIEWS, SENTENCES), strict=True)
        )
        both: NDArray[np.int64] = (reviews[:, :, None] + sentences[:, None, :]).ravel()
        both += int(tokenizer.num_special_tokens_to_add(pair=True))
        return both


def _texts(lengths: dict[str, Any], count: int, random: np.random.Generator) -> tuple[str, ...]:
    """Texts of words, which are tokens here, from a histogram of lengths."""
    lows, counts = np.array(lengths["bins"], np.int64).T
    chosen = random.choice(len(lows), count, p=counts / counts.sum())
    sizes = lows[chosen] + random.integers(0, lengths["width"], count)
    return tuple(" ".join(random.choice(WORDS, size)) for size in sizes)
