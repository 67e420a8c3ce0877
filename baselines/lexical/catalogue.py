"""The lexical metrics as data."""

from __future__ import annotations

import math
from functools import partial

from prevalence.baselines.protocol import REFERENCE, Entry
from prevalence.baselines.rules import AGAINST_OPTIONS

__all__ = ["ENTRIES"]

_HERE = "prevalence.baselines.lexical"

_MEASURES = {
    "precision": "precision in place of F1",
    "recall": "recall in place of F1",
    "nostem": "no stemming",
}
_JOINT = AGAINST_OPTIONS | {"refs=RULE": "several references: joint, best, mean or first"}

_ROUGE = {
    "rouge-1": "F1 of shared words",
    "rouge-2": "F1 of shared word pairs",
    "rouge-l": "F1 of the longest common subsequence of words",
}


_lexical = partial(Entry, needs=(REFERENCE,), range=(0.0, 1.0), undefined="never")
_by_sacrebleu = partial(_lexical, range=(0.0, 100.0), packages=("sacrebleu",), extra="lexical")


def _rouge(name: str, about: str) -> tuple[Entry, Entry]:
    own = _lexical(
        name=name,
        about=f"{about}, Porter stems",
        citation="Lin 2004; the numbers of rouge-score 0.1.2",
        factory=f"{_HERE}.rouge:open_rouge",
        options=_MEASURES | AGAINST_OPTIONS,
    )
    py_rouge = _lexical(
        name=f"{name}:py-rouge",
        about=f"{about}, irregular forms and Porter stems",
        citation="Lin 2004; the numbers of py-rouge 1.1, which OpinSummEval used",
        factory=f"{_HERE}.pyrouge:open_py_rouge",
        options=_MEASURES
        | {"limit=N": "characters read of each text [default: all]"}
        | AGAINST_OPTIONS,
        check=f"{_HERE}.pyrouge:missing_tables",
        extra="lexical",
    )
    return own, py_rouge


def _bleu(order: int) -> tuple[Entry, Entry]:
    about = f"word n-grams up to {order}, with brevity penalty"
    sacre = _by_sacrebleu(
        name=f"bleu-{order}",
        about=f"{about}, sentence level",
        citation="Papineni et al. 2002; the numbers of sacrebleu (effective order, exp smoothing)",
        factory=f"{_HERE}.sacre:open_bleu",
        options={
            "lower": "lower-case both texts",
            "tokenize=NAME": "13a, none, char or intl",
            "smooth=NAME": "exp, floor, add-k or none",
            **_JOINT,
        },
    )
    nlg_eval = _lexical(
        name=f"bleu-{order}:nlg-eval",
        about=f"{about}, words between spaces",
        citation="Papineni et al. 2002; the numbers of nlg-eval, which OpinSummEval used",
        factory=f"{_HERE}.nlgeval:open_nlg_eval_bleu",
        options=_JOINT,
    )
    return sacre, nlg_eval


_CHRF = _by_sacrebleu(
    name="chrf",
    about="F2 of character n-grams up to 6, and of words on request",
    citation="Popović 2015; the numbers of sacrebleu",
    factory=f"{_HERE}.sacre:open_chrf",
    options={
        "words=N": "word n-grams up to 0, 1 or 2 (chrF++)",
        "beta=N": "weight of recall: 2, 1 or 3",
        "lower": "lower-case both texts",
        "eps": "average the F of all orders, as chrF++'s own script and OpinSummEval do",
        **_JOINT,
    },
)
_TER = _by_sacrebleu(
    name="ter",
    about="edits and shifts for each 100 words of the reference",
    range=(0.0, math.inf),
    higher_is_better=False,
    citation="Snover et al. 2006; the numbers of sacrebleu",
    factory=f"{_HERE}.sacre:open_ter",
    options={
        "normalized": "split off punctuation",
        "nopunct": "remove punctuation",
        "cased": "keep case apart",
        **_JOINT,
    },
)
_METEOR = _lexical(
    name="meteor",
    about="aligned words: exact, stem and WordNet synonym",
    citation="Lavie and Agarwal 2007; the numbers of NLTK",
    factory=f"{_HERE}.meteor:open_meteor",
    options=AGAINST_OPTIONS,
    check=f"{_HERE}.meteor:missing_wordnet",
)
_METEOR_EXACT_STEM = _lexical(
    name="meteor:exact-stem",
    about="aligned words: exact and stem, no synonyms",
    citation="Lavie and Agarwal 2007; NLTK's numbers without WordNet",
    factory=f"{_HERE}.meteor:open_exact_stem",
    options=AGAINST_OPTIONS,
)
_METEOR_15 = _lexical(
    name="meteor-1.5",
    about="weighted alignment with paraphrases, by its authors' program",
    citation="Denkowski and Lavie 2014; the numbers of nlg-eval, which OpinSummEval used",
    factory=f"{_HERE}.meteor_jar:open_meteor_jar",
    options={"jar=FILE": "meteor-1.5.jar, with its data folder beside it (needed)"}
    | AGAINST_OPTIONS,
    check=f"{_HERE}.meteor_jar:missing_java",
)

ENTRIES: tuple[Entry, ...] = (
    *(entry for name, about in _ROUGE.items() for entry in _rouge(name, about)),
    *(entry for order in (1, 2, 3, 4) for entry in _bleu(order)),
    _CHRF,
    _TER,
    _METEOR,
    _METEOR_EXACT_STEM,
    _METEOR_15,
)
"""In the order in which they are listed."""
