"""BLEU, chrF and TER of one summary, by the sacrebleu package.

A value equals that of ``sentence_score`` of sacrebleu with the options named in the signature,
which is sacrebleu's own. Several references are joint unless asked otherwise: sacrebleu clips
BLEU's counts by all of them, takes chrF's best one, and divides TER's fewest edits by their mean
length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.baselines.rules import JOINT, chosen_option, comparing
from prevalence.kernels.edits import translation_edits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["bleu_order", "open_bleu", "open_chrf", "open_ter"]

_CHARACTER_ORDER = 6


def bleu_order(entry: Entry) -> int:
    """N of ``bleu-N``."""
    return int(entry.base.removeprefix("bleu-"))


def open_bleu(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open sentence BLEU of the entry's order, in [0, 100].

    Raises:
        ConfigurationError: an option has a value that it does not know.
    """
    from sacrebleu.metrics.bleu import BLEU

    return _sentence_metric(
        entry,
        spec,
        BLEU(
            max_ngram_order=bleu_order(entry),
            effective_order=True,
            lowercase="lower" in spec.options,
            tokenize=chosen_option(entry, spec, "tokenize", ("13a", "none", "char", "intl")),
            smooth_method=chosen_option(entry, spec, "smooth", ("exp", "floor", "add-k", "none")),
        ),
    )


def open_chrf(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open chrF, in [0, 100]; with ``words=2`` it is chrF++.

    Raises:
        ConfigurationError: an option has a value that it does not know.
    """
    from sacrebleu.metrics.chrf import CHRF

    return _sentence_metric(
        entry,
        spec,
        CHRF(
            char_order=_CHARACTER_ORDER,
            word_order=int(chosen_option(entry, spec, "words", ("0", "1", "2"))),
            beta=int(chosen_option(entry, spec, "beta", ("2", "1", "3"))),
            lowercase="lower" in spec.options,
            eps_smoothing="eps" in spec.options,
        ),
    )


def open_ter(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open TER: edits per 100 words of the references, from 0; lower is better.

    sacrebleu reads the texts, and a compiled loop counts the edits.
    """
    from sacrebleu.metrics.ter import TER

    scorer: Any = TER(
        normalized="normalized" in spec.options,
        no_punct="nopunct" in spec.options,
        case_sensitive="cased" in spec.options,
    )
    scorer._compute_segment_statistics = _fewest_edits
    return _sentence_metric(entry, spec, scorer)


def _fewest_edits(summary: str, known: Mapping[str, Sequence[Sequence[str]]]) -> list[float]:
    """What sacrebleu's TER asks of a text: fewest edits, and the mean length of references."""
    references = known["ref_words"]
    edits = min(translation_edits(summary.split(), words) for words in references)
    return [edits, sum(map(len, references)) / len(references)]


def _sentence_metric(entry: Entry, spec: Spec, scorer: Any) -> Metric:
    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [
            float(scorer.sentence_score(item.summary, list(item.texts)).score)
            for item in comparisons
        ]

    return comparing(entry, spec, compute, signature=_signature(scorer), refs=JOINT, joint=True)


def _signature(scorer: Any) -> Mapping[str, str]:
    """What sacrebleu says of itself, without the number of references, which varies by record."""
    scorer.num_refs = -1
    parts = str(scorer.get_signature().format(short=False)).split("|")
    named = dict(part.split(":", 1) for part in parts)
    return {"impl": f"sacrebleu-{named.pop('version')}"} | {
        key: value for key, value in named.items() if key != "nrefs"
    }
