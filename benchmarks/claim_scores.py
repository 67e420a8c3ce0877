"""How near is the prevalence of a summary to what careful readers find? Sentences beside claims.

    python -m benchmarks.claim_scores
    python -m benchmarks.claim_scores --model base --save

For summaries as language models write them, readers cut the claims and said which reviews support
each. Their prevalence is the mean share of the reviews that support a claim. Beside it stands that
of a model, which is asked about the sentences, about the claims that the rules cut, and about the
readers' own claims; nothing is masked. The written reviews come with the benchmark; those of
OpinSummEval are not part of this repository.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

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


def _units(judged: Judged) -> tuple[list[str], ...]:
    """The texts that a model is asked about, for each of `UNITS`."""
    sentences = gathered(get_splitter()(judged.summary), judged.summary)
    return (
        [without_counts(sentence.text) for sentence in sentences],
        [claim.text for claim in cut(judged.summary)],
        list(judged.claims),
    )


def figures(model: Embedded, judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Prevalence by unit, and how it goes with the readers'.

    Args:
        model: whose decisions.
        judged: summaries of one source, at least three.

    Returns:
        For each unit the mean prevalence, and Pearson's and Kendall's (tau-b) coefficients with
        the readers' prevalence over summaries.
    """
    truth = np.array([np.mean(one.supported) for one in judged])
    asked = [_units(one) for one in judged]
    wanted = {(review, text): None for one, units in zip(judged, asked, strict=True)
              for unit in units for text in unit for review in one.reviews}  # fmt: skip
    chances, _ = model.probabilities(list(wanted))
    decided = dict(zip(wanted, chances > model.scorer.traits.threshold, strict=True))
    rows = []
    for place, name in enumerate(UNITS):
        found = np.array([
            np.mean([decided[review, text] for text in units[place] for review in one.reviews])
            for one, units in zip(judged, asked, strict=True)
        ])  # fmt: skip
        rows.append({
            "unit": name,
            "prevalence": float(found.mean()),
            "pearson": coefficient("pearson", found, truth).value,
            "kendall": coefficient("kendall", found, truth).value,
        })  # fmt: skip
    return [{"unit": "readers", "prevalence": float(truth.mean())}, *rows]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claim_scores")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    parser.add_argument("--save", action="store_true", help="append to benchmarks/results/")
    options = parser.parse_args(arguments)
    file = DATA / "opinsummeval.jsonl"
    sources = {"written": on_written()}
    if file.is_file():
        sources["yelp"] = on_released(read_pairs(file))
    model = Embedded(options.model)
    saved: dict[str, Any] = {}
    for source, chosen in sources.items():
        rows = figures(model, chosen)
        saved[source] = {"summaries": len(chosen), "rows": rows}
        body = [[row["unit"], *(f"{row[name]:.3f}" if name in row else "–"
                                for name in ("prevalence", "pearson", "kendall"))]
                for row in rows]  # fmt: skip
        show_table(["asked about", "prevalence", "Pearson", "tau-b"], body,
                   title=f"{len(chosen)} summaries, {source} reviews")  # fmt: skip
    if options.save:
        append_row("claim_scores", {**environment("cpu"), "model": options.model, **saved})


if __name__ == "__main__":
    main()
