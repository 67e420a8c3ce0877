"""METEOR by NLTK: stages exact, stem and synonym, parameters of 2007 (alpha .9, beta 3, gamma .5).

Synonyms come from WordNet, which NLTK must have been given; without it there is the variant
``meteor:exact-stem``, whose name says what it leaves out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from prevalence.baselines.rules import REMEMBERED_TEXTS, comparing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["meteor_words", "missing_wordnet", "open_exact_stem", "open_meteor"]


def open_meteor(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open METEOR with all three stages, in [0, 1].

    Raises:
        LookupError: NLTK has no WordNet; see :func:`missing_wordnet`.
    """
    from nltk.corpus import wordnet

    wordnet.ensure_loaded()
    return _metric(entry, spec, wordnet, stages="exact+stem+wordnet")


def open_exact_stem(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open METEOR without synonyms: the stages exact and stem, in [0, 1]."""
    return _metric(entry, spec, _NoSynonyms(), stages="exact+stem")


def missing_wordnet() -> str | None:
    """What to do where NLTK does not find WordNet."""
    import nltk

    for place in ("corpora/wordnet", "corpora/wordnet.zip"):
        try:
            nltk.data.find(place)
        except LookupError:
            continue
        return None
    return (
        "WordNet among NLTK's data: python -m nltk.downloader wordnet, or take meteor:exact-stem, "
        "which does without synonyms"
    )


def _metric(entry: Entry, spec: Spec, wordnet: Any, *, stages: str) -> Metric:
    import nltk
    from nltk.translate.meteor_score import single_meteor_score

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [
            single_meteor_score(
                meteor_words(item.text), meteor_words(item.summary), wordnet=wordnet
            )
            for item in comparisons
        ]

    signature = {"impl": f"nltk-{nltk.__version__}", "stages": stages}
    return comparing(entry, spec, compute, signature=signature)


class _NoSynonyms:
    """Stands where NLTK expects WordNet: no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:  # noqa: ARG002
        return []


@lru_cache(maxsize=REMEMBERED_TEXTS)
def meteor_words(text: str) -> tuple[str, ...]:
    """Words as ``nltk.word_tokenize`` makes them: Punkt sentences, then NLTK's word rules.

    >>> meteor_words("Don't they leak? So warm.!")
    ('Do', "n't", 'they', 'leak', '?', 'So', 'warm', '.', '!')
    """
    from nltk.tokenize import NLTKWordTokenizer

    from prevalence.text.sentences import NLTK_PUNKT, get_splitter

    tokenizer = NLTKWordTokenizer()
    sentences = get_splitter(NLTK_PUNKT)(text)
    return tuple(word for part in sentences for word in tokenizer.tokenize(part.text))
