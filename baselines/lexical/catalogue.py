"""The lexical metrics as data."""

from __future__ import annotations

import math
from functools import partial

from prevalence.baselines.protocol import OWN, REFERENCE, REVIEWS, Entry
from prevalence.baselines.rules import AGAINST_OPTIONS

__all__ = ["ENTRIES"]

_HERE = "prevalence.baselines.lexical"
_TRANSLATION = "translation adequacy"

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


_lexical = partial(
    Entry,
    needs=(REFERENCE,),
    range=(0.0, 1.0),
    undefined="never",
    dimension="content overlap",
    licence=OWN,
)
_by_sacrebleu = partial(
    _lexical,
    range=(0.0, 100.0),
    packages=("sacrebleu",),
    extra="lexical",
    licence="Apache-2.0 (sacrebleu)",
)


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
        licence="Apache-2.0 (py-rouge)",
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
        dimension=_TRANSLATION,
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
        dimension=_TRANSLATION,
        options=_JOINT,
    )
    return sacre, nlg_eval


_CHRF = _by_sacrebleu(
    name="chrf",
    about="F2 of character n-grams up to 6, and of words on request",
    citation="Popović 2015; the numbers of sacrebleu",
    factory=f"{_HERE}.sacre:open_chrf",
    dimension=_TRANSLATION,
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
    dimension=_TRANSLATION,
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
    dimension=_TRANSLATION,
    options=AGAINST_OPTIONS,
    check=f"{_HERE}.meteor:missing_wordnet",
    licence="WordNet 3.0 licence (WordNet)",
)
_METEOR_EXACT_STEM = _lexical(
    name="meteor:exact-stem",
    about="aligned words: exact and stem, no synonyms",
    citation="Lavie and Agarwal 2007; NLTK's numbers without WordNet",
    factory=f"{_HERE}.meteor:open_exact_stem",
    dimension=_TRANSLATION,
    options=AGAINST_OPTIONS,
)
_METEOR_15 = _lexical(
    name="meteor-1.5",
    about="weighted alignment with paraphrases, by its authors' program",
    citation="Denkowski and Lavie 2014; the numbers of nlg-eval, which OpinSummEval used",
    factory=f"{_HERE}.meteor_jar:open_meteor_jar",
    dimension=_TRANSLATION,
    options={"jar=FILE": "meteor-1.5.jar, with its data folder beside it (needed)"}
    | AGAINST_OPTIONS,
    check=f"{_HERE}.meteor_jar:missing_java",
    licence="LGPL (METEOR 1.5)",
)


def _shared(name: str, about: str, opens: str) -> Entry:
    return _lexical(
        name=name,
        about=about,
        citation="Lin 2004, by its equations",
        factory=f"{_HERE}.divergence:{opens}",
        options=_MEASURES | AGAINST_OPTIONS,
    )


def _s3(target: str, about: str) -> Entry:
    return _lexical(
        name=f"s3-{target}",
        about=f"{about}, from features by a learnt regression",
        range=(-math.inf, math.inf),
        citation="Peyrard et al. 2017; features by their published equations",
        factory=f"{_HERE}.s3:open_s3",
        options={
            "weights=PATH": "folder of the regressions, pyr.safetensors and resp.safetensors "
            "(needed)",
            "vectors=FILE": "word vectors as text, where a feature reads them",
            **_JOINT,
        },
        dimension="content selection",
        weights="a regression, and word vectors where it reads them",
        licence="of the authors' release, to be looked up there",
        undefined="a text has no word",
    )


_AGAINST_UNSIDED = AGAINST_OPTIONS | {"refs=RULE": "several references: mean or first"}

_unsided = partial(
    _lexical,
    needs=(REVIEWS,),
    range=(0.0, math.inf),
    higher_is_better=None,
    citation="Grusky et al. 2018, by their definitions",
    factory=f"{_HERE}.extractiveness:open_extractiveness",
    options=_AGAINST_UNSIDED,
    dimension="extractiveness",
    undefined="the summary has no word",
)


ENTRIES: tuple[Entry, ...] = (
    *(entry for name, about in _ROUGE.items() for entry in _rouge(name, about)),
    *(entry for order in (1, 2, 3, 4) for entry in _bleu(order)),
    _CHRF,
    _TER,
    _METEOR,
    _METEOR_EXACT_STEM,
    _METEOR_15,
    _shared("rouge-w", "F1 of the weighted common subsequence of words", "open_rouge_w"),
    _shared("rouge-su4", "F1 of words and of pairs with at most 4 words between", "open_rouge_su"),
    _lexical(
        name="js",
        about="Jensen-Shannon divergence of words or word pairs",
        higher_is_better=False,
        citation="Lin et al. 2006; Louis and Nenkova 2013 for js:against=reviews",
        factory=f"{_HERE}.divergence:open_js",
        options={
            "order=N": "1 for words, 2 for word pairs [1]",
            "nostop": "leave out stop words",
            "nostem": "no stemming",
            **AGAINST_OPTIONS,
        },
        dimension="content selection",
    ),
    _s3("pyr", "estimated pyramid score"),
    _s3("resp", "estimated responsiveness"),
    _unsided(
        name="length",
        about="words of the summary",
        needs=(),
        citation="words as rouge-score finds them",
        factory=f"{_HERE}.extractiveness:open_length",
        options={},
        dimension="length",
        undefined="never",
    ),
    _unsided(
        name="coverage",
        about="share of the summary's words that stand in copied runs",
        range=(0.0, 1.0),
    ),
    _unsided(
        name="density",
        about="mean length of the copied run that a word of the summary stands in",
    ),
    _unsided(name="compression", about="words of the reviews for each word of the summary"),
    _unsided(
        name="novelty",
        about="share of the summary's word pairs that the reviews lack",
        range=(0.0, 1.0),
        citation="Fabbri et al. 2021 report it; by its definition",
        factory=f"{_HERE}.extractiveness:open_novelty",
        options={"order=N": "n-grams of 1 to 4 words [2]"} | _AGAINST_UNSIDED,
        undefined="the summary has no word pair",
    ),
)
"""In the order in which they are listed."""
