"""How near is the prevalence of a summary to what careful readers find? Sentences beside claims.

    python -m benchmarks.claim_scores
    python -m benchmarks.claim_scores --model base --save

For summaries as language models write them, readers cut the claims and said which reviews support
each. Their prevalence is the mean share of the reviews that support a claim. Beside it stands that
of a model, which is asked about the sentences, about the claims that the rules cut, and about the
readers' own claims; nothing is masked. It is compared for each sentence and for each summary. The
written reviews come with the benchmark; those of OpinSummEval are not part of this repository.
Summaries as sites publish them are also shown by form, and without those that rules were made from.
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
from prevalence.stats.coefficients import coefficient
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.model_summaries import Judged

__all__ = ["decisions", "figures", "main", "parts"]

UNITS = ("sentences", "claims by rule", "readers' claims")
COLUMNS = ("prevalence", "pearson, sentences", "distance", "pearson, summaries")
SITES = "yelp, sites"
RULES_FROM = (2, 4, 7, 8, 13, 17, 63, 73, 87, 88, 5, 6, 9, 12, 18, 21, 75, 82, 91, 92)
"""Cases of the sites' summaries that rules were made from before the others were measured."""


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


def _levels(judged: Sequence[Judged]) -> dict[str, list[_Text]]:
    return {"sentences": _sentences(judged), "summaries": _summaries(judged)}


def decisions(model: Embedded, judged: Sequence[Judged]) -> dict[tuple[str, str], bool]:
    """Whether a review supports a text, for all pairs that `figures` needs, by review and text.

    Args:
        model: whose decisions.
        judged: summaries of one source.
    """
    wanted = {(review, text): None for texts in _levels(judged).values() for one in texts
              for unit in one.units for text in unit for review in one.reviews}  # fmt: skip
    chances, _ = model.probabilities(list(wanted))
    return dict(zip(wanted, chances > model.scorer.traits.threshold, strict=True))


def figures(
    decided: Mapping[tuple[str, str], bool], judged: Sequence[Judged]
) -> list[dict[str, Any]]:
    """Prevalence by unit, and how it goes with the readers'.

    Args:
        decided: a model's decisions on these summaries, as `decisions` gives them.
        judged: at least three summaries, with at least three sentences.

    Returns:
        For each unit the mean prevalence of summaries; over sentences and over summaries Pearson's
        coefficient with the readers' prevalence; over sentences the mean distance from it.
    """
    levels = _levels(judged)
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


def parts(source: str, judged: Sequence[Judged]) -> dict[str, Sequence[Judged]]:
    """The summaries of a source, whole and in the parts that are shown, by title."""
    found = {source: judged}
    if source == SITES:
        for form in dict.fromkeys(one.system for one in judged):
            found[f"{source}: {form}"] = [one for one in judged if one.system == form]
        found[f"{source}: no rules from them"] = [
            one for one in judged if one.case not in RULES_FROM
        ]
    return found


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
        sources[SITES] = on_released(cases, "model_summaries_yelp_sites.jsonl")
    model = Embedded(options.model)
    saved: dict[str, Any] = {}
    for source, judged in sources.items():
        decided = decisions(model, judged)
        for title, part in parts(source, judged).items():
            rows = figures(decided, part)
            n_sentences = sum(len(set(one.sentences)) for one in part)
            saved[title] = {"summaries": len(part), "sentences": n_sentences, "rows": rows}
            body = [[row["unit"], *(f"{row[name]:.3f}" if name in row else "–" for name in COLUMNS)]
                    for row in rows]  # fmt: skip
            shown = f"{n_sentences} sentences of {len(part)} summaries, {title}"
            show_table(["asked about", *COLUMNS], body, title=shown)
    if options.save:
        append_row("claim_scores", {**environment("cpu"), "model": options.model, **saved})


if __name__ == "__main__":
    main()
