"""How near is the prevalence of a summary to what careful readers find? Sentences beside claims.

    python -m benchmarks.claim_scores
    python -m benchmarks.claim_scores --model base --save

For summaries as language models write them, readers cut the claims and said which reviews support
each. Their prevalence is the mean share of the reviews that support a claim. Beside it stands that
of a model, which is asked about the sentences, about the claims that the rules cut, and about the
readers' own claims; nothing is masked. It is compared for each sentence and for each summary. The
written reviews come with the benchmark; those of OpinSummEval are not part of this repository.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.common import DATA, append_row, environment, show_table
from benchmarks.model_summaries import on_released, on_written
from benchmarks.quality import Embedded, read_pairs
from prevalence.claims import cut
from prevalence.claims.counts import gathered, without_counts
from prevalence.sentences import get_splitter
from prevalence.stats.coefficients import coefficient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.model_summaries import Judged

__all__ = ["figures", "main"]

UNITS = ("sentences", "claims by rule", "readers' claims")
COLUMNS = ("prevalence", "pearson, sentences", "distance", "pearson, summaries")


def _units(text: str, claims: Sequence[str]) -> tuple[list[str], ...]:
    """The texts that a model is asked about, for each of `UNITS`."""
    sentences = gathered(get_splitter()(text), text)
    return (
        [without_counts(sentence.text) for sentence in sentences] or [text],
        [claim.text for claim in cut(text)] or [text],
        list(claims),
    )


class _Text(NamedTuple):
    """A sentence or a summary.

    Attributes:
        reviews: texts.
        units: the texts that a model is asked about, for each of `UNITS`.
        truth: prevalence, as readers judge.
    """

    reviews: Sequence[str]
    units: tuple[list[str], ...]
    truth: float


def _summaries(judged: Sequence[Judged]) -> list[_Text]:
    return [
        _Text(one.reviews, _units(one.summary, one.claims), float(np.mean(one.supported)))
        for one in judged
    ]


def _sentences(judged: Sequence[Judged]) -> list[_Text]:
    """The sentences that make a claim."""
    found = []
    for one in judged:
        for sentence in dict.fromkeys(one.sentences):
            own = [k for k, its in enumerate(one.sentences) if its == sentence]
            units = _units(sentence, [one.claims[k] for k in own])
            truth = float(np.mean([one.supported[k] for k in own]))
            found.append(_Text(one.reviews, units, truth))
    return found


def figures(model: Embedded, judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Prevalence by unit, and how it goes with the readers'.

    Args:
        model: whose decisions.
        judged: summaries of one source, at least three, with at least three sentences.

    Returns:
        For each unit the mean prevalence of summaries; over sentences and over summaries Pearson's
        coefficient with the readers' prevalence; over sentences the mean distance from it.
    """
    levels = {"sentences": _sentences(judged), "summaries": _summaries(judged)}
    wanted = {(review, text): None for texts in levels.values() for one in texts
              for unit in one.units for text in unit for review in one.reviews}  # fmt: skip
    chances, _ = model.probabilities(list(wanted))
    decided = dict(zip(wanted, chances > model.scorer.traits.threshold, strict=True))
    readers = np.mean([one.truth for one in levels["summaries"]])
    rows: list[dict[str, Any]] = [{"unit": "readers", "prevalence": float(readers)}]
    for place, name in enumerate(UNITS):
        row: dict[str, Any] = {"unit": name}
        for level, texts in levels.items():
            truth = np.array([one.truth for one in texts])
            found = np.array([
                np.mean([decided[review, text] for text in one.units[place]
                         for review in one.reviews])
                for one in texts
            ])  # fmt: skip
            row[f"pearson, {level}"] = coefficient("pearson", found, truth).value
            row |= (
                {"distance": float(np.abs(found - truth).mean())}
                if level == "sentences"
                else {"prevalence": float(found.mean())}
            )
        rows.append(row)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claim_scores")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    parser.add_argument("--save", action="store_true", help="append to benchmarks/results/")
    options = parser.parse_args(arguments)
    file = DATA / "opinsummeval.jsonl"
    sources = {"written": on_written()}
    if file.is_file():
        cases = read_pairs(file)
        sources["yelp"] = on_released(cases)
        sources["yelp, more"] = on_released(cases, "model_summaries_yelp_more.jsonl")
        sources["yelp, sites"] = on_released(cases, "model_summaries_yelp_sites.jsonl")
    model = Embedded(options.model)
    saved: dict[str, Any] = {}
    for source, chosen in sources.items():
        rows = figures(model, chosen)
        n_sentences = sum(len(set(one.sentences)) for one in chosen)
        saved[source] = {"summaries": len(chosen), "sentences": n_sentences, "rows": rows}
        body = [[row["unit"], *(f"{row[name]:.3f}" if name in row else "–" for name in COLUMNS)]
                for row in rows]  # fmt: skip
        title = f"{n_sentences} sentences of {len(chosen)} summaries, {source}"
        show_table(["asked about", *COLUMNS], body, title=title)
    if options.save:
        append_row("claim_scores", {**environment("cpu"), "model": options.model, **saved})


if __name__ == "__main__":
    main()
