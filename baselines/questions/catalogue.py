"""The question-based metrics as data."""

from __future__ import annotations

import math
from typing import Any

from prevalence.baselines.protocol import NEEDED, REVIEWS, Entry
from prevalence.baselines.rules import AGAINST_OPTIONS

__all__ = ["ENTRIES"]

_HERE = "prevalence.baselines.questions"
_PARTS = {
    "tagger=PATH": "token classifier that finds names, in place of the rule",
    "most=N": "answers asked for in a text, the first ones [all]",
}

_SQUAD = "bert-large-uncased-whole-word-masking-finetuned-squad"
_T5_ASKS, _T5_ANSWERS = "ThomasNLG/t5-qg_squad1-en", "ThomasNLG/t5-qa_squad2neg-en"
_BART, _ELECTRA = "lmqg/bart-large-squad-qg", "ahotrod/electra_large_discriminator_squad2_512"


def _options(*, answers: str, qa: str, qg: str | None = None) -> dict[str, str]:
    """Options of the parts, with their defaults."""
    found = {
        "answers=RULES": f"asked for: names, chunks, words, with + between [{answers}]",
        "qa=PATH": f"folder or hub name of what answers [{qa}]",
    }
    if qg is not None:
        found["qg=PATH"] = f"folder or hub name of what writes questions [{qg}]"
    return found | _PARTS


def _summaqa(part: str, about: str) -> Entry:
    return _entry(
        f"summaqa-{part}",
        about,
        range=(0.0, 1.0),
        citation="Scialom et al. 2019; names by rule or by a tagger, not by spaCy",
        factory=f"{_HERE}.summaqa:open_summaqa",
        options=_options(answers="names", qa=_SQUAD),
        dimension="content selection",
        weights=f"a QA model [{_SQUAD}]",
        licence="Apache-2.0",
    )


def _questeval(name: str, about: str, **options: str) -> Entry:
    return _entry(
        name,
        about,
        range=(0.0, 1.0),
        citation="Scialom et al. 2021; the definition of its released code",
        factory=f"{_HERE}.questeval:open_questeval",
        options=_options(answers="names+chunks", qa=_T5_ANSWERS, qg=_T5_ASKS)
        | options
        | {
            "weigher=PATH": "checkpoint that weighs the reviews' questions [equal weights]",
            "compare=SCORES": "f1, answerability, bertscore with + between, or paper [all three]",
            "similarity=PATH": "encoder of bertscore [bert-base-multilingual-cased]",
            "roundtrip": "leave out questions that their own text does not answer as meant",
        },
        dimension="consistency",
        weights=f"QG [{_T5_ASKS}] and QA [{_T5_ANSWERS}] models",
        licence="see its cards",
        against={"against=INPUT": "reference, reviews, or both: the better of the two"},
    )


def _entry(
    name: str,
    about: str,
    *,
    options: dict[str, str],
    against: dict[str, str] | None = None,
    **more: Any,
) -> Entry:
    return Entry(
        name=name,
        about=about,
        needs=(REVIEWS,),
        options=options | AGAINST_OPTIONS | (against or {}),
        batchable=True,
        **more,
    )


ENTRIES: tuple[Entry, ...] = (
    _summaqa("f1", "F1 of the names that the summary fills into gaps of the reviews"),
    _summaqa("probability", "probability of what the summary fills into gaps of the reviews"),
    _questeval(
        "questeval",
        "F of questions answered both ways, reviews and summary",
        **{"combine=NAME": "precision and recall: f1, or mean as in the released code [f1]"},
    ),
    _questeval("questeval-precision", "questions about the summary answered from the reviews"),
    _questeval("questeval-recall", "questions about the reviews answered from the summary"),
    _entry(
        "qafacteval",
        "answers to the summary's questions from the reviews, about 1-5, 0 for none",
        range=(-math.inf, math.inf),
        citation="Fabbri et al. 2022; noun phrases by rule, not by spaCy",
        factory=f"{_HERE}.qafacteval:open_qafacteval",
        options=_options(answers="chunks", qa=_ELECTRA, qg=_BART)
        | {
            "lerc=PATH": f"regression model that compares answers {NEEDED}, but for other overlaps",
            "overlap=NAME": "lerc, f1 of words, or answered (1 for any answer) [lerc]",
            "unfiltered": "keep questions that the summary itself does not answer as meant",
        },
        dimension="faithfulness",
        weights=f"QG [{_BART}], QA [{_ELECTRA}] and LERC models",
        licence="see its cards",
    ),
)
"""Entries in the order in which they are listed."""
