"""Metrics with a model beside the scores that OpinSummEval released, on a sample of its cases.

    python -m benchmarks.released_scores
    python -m benchmarks.released_scores --cases 100 --encoder ./roberta-large --causal ./gpt2

The data are not part of this repository. The weights named here are seldom those behind the
released scores, so that what is compared is the order: Spearman's rank correlation over all
summaries, and its mean over the cases. With the very weights the values themselves can be compared;
those of the lexical metrics are, by `python -m benchmarks.opinsummeval_lexical`. A kind of model
that is not named is skipped. A row goes to `benchmarks/results/released_scores.jsonl`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.common import DATA, append_row, environment, show_table
from benchmarks.opinsummeval_lexical import read_released
from prevalence.baselines import get
from prevalence.errors import MissingDependencyError
from prevalence.models.registry import EMBEDDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines import Example

__all__ = ["COLUMNS", "Column", "compare", "correlations"]

SYSTEMS = 14
KINDS = {"encoder": EMBEDDED, "nli": EMBEDDED, "masked": None, "causal": None, "seq2seq": None}
"""Kinds of models, and what stands for one that is not named."""


class Column(NamedTuple):
    """A released score, and a metric of ours.

    Attributes:
        released: name of the score.
        metric: ours.
        kind: of its model, one of :data:`KINDS`.
        why: what differs beside the weights, so that the correlation is not 1.
        sign: -1 where the better of ours is the lower, and of the released one the higher.
    """

    released: str
    metric: str
    kind: str
    why: str = ""
    sign: int = 1


_RESCALED = "released: roberta-large, 24 layers and another vocabulary"
_WORDS = "released: GloVe vectors of whole words; ours: input vectors of word pieces"
_EXTREMES = f"{_WORDS}, and one extreme coordinate decides"
_MOVER = "another metric: MoverScore moves words, SMS sentences"
_LIKELIHOOD = "another metric: a likelihood by BART; no score of its own was released"
_VITC = "released: vitc, trained on other data"
_CUT = f"{_VITC}; ours reads 302 tokens of the joined reviews"

COLUMNS = (
    *(
        Column(f"bert_score_{part}", f"bertscore-{part}", "encoder", _RESCALED)
        for part in ("precision", "recall", "f1")
    ),
    Column("EmbeddingAverageCosineSimilarity", "embedding-average:static", "encoder", _WORDS),
    Column("VectorExtremaCosineSimilarity", "vector-extrema:static", "encoder", _EXTREMES),
    Column("GreedyMatchingScore", "greedy-matching:static", "encoder", _WORDS),
    Column("mover_score", "moverscore", "encoder", "released: a DistilBERT, weighed by idf"),
    Column("baryscore_W", "baryscore", "encoder", "released: weighed by idf, starts at random"),
    Column("mover_score", "sms", "encoder", _MOVER),
    Column("mover_score", "sms:nostop", "encoder", _MOVER),
    Column("bart_score_arti2hypo", "supert", "encoder", _LIKELIHOOD),
    Column("summac_score_snt", "summac-zs", "nli", _VITC),
    Column("summac_score_doc", "summac-zs:granularity=document", "nli", _CUT),
    Column("infoLM_score_ab", "infolm", "masked", "α and β of the released scores are not stated"),
    Column("bart_score_arti2hypo", "blanc-help", "masked", _LIKELIHOOD),
    Column("ppl_score_gpt2", "perplexity", "causal", "released on another scale"),
    Column("bart_score_arti2hypo", "bartscore-faithfulness", "seq2seq"),
    Column("bart_score_ref2hypo", "bartscore-precision", "seq2seq"),
    Column("bart_score_hypo2ref", "bartscore-recall", "seq2seq"),
    Column("ppl_score_pegasus", "perplexity:seq2seq", "seq2seq", "released: PEGASUS, other scale"),
)
"""The released scores of metrics with a model, and ours."""


def correlations(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], *, group: int
) -> tuple[float, float]:
    """Spearman's rank correlation over all values, and its mean over groups.

    Args:
        ours: float64 [N]; undefined values (NaN) are left out.
        theirs: float64 [N].
        group: consecutive values that belong together; a group in which either side is constant
            is left out of the mean.
    """
    known = np.isfinite(ours) & np.isfinite(theirs)
    parts = [slice(start, start + group) for start in range(0, len(ours), group)]
    each = [_spearman(ours[part][known[part]], theirs[part][known[part]]) for part in parts]
    defined = [value for value in each if np.isfinite(value)]
    return _spearman(ours[known], theirs[known]), float(np.mean(defined)) if defined else np.nan


def compare(
    column: Column,
    model: str | None,
    examples: Sequence[Example],
    released: dict[str, list[float]],
    *,
    group: int = SYSTEMS,
) -> dict[str, Any]:
    """One row of the table.

    Args:
        column: what to compare.
        model: of its kind; None skips it.
        examples: N summaries, the systems of a case one after the other.
        released: scores of the same summaries, and perhaps of more behind them.
        group: systems of a case.
    """
    row: dict[str, Any] = {"released": column.released, "metric": column.metric, "why": column.why}
    if model is None:
        return row | {"skipped": f"no {column.kind} model is named (--{column.kind})"}
    try:
        metric = get(column.metric, model=model)
    except MissingDependencyError as error:
        return row | {"skipped": str(error)}
    values = metric.score(examples)
    theirs = np.asarray(released[column.released][: len(examples)], np.float64)
    pooled, by_case = correlations(values * column.sign, theirs, group=group)
    return row | {
        "n": int(np.isfinite(values).sum()),
        "spearman": round(pooled, 4),
        "spearman_by_case": round(by_case, 4),
        "signature": dict(metric.signature),
    }


def _spearman(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    from scipy.stats import spearmanr

    if len(ours) < 2 or np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return float("nan")
    return float(spearmanr(ours, theirs).statistic)


def _show(rows: Sequence[dict[str, Any]]) -> None:
    lines = (
        (row["released"], row["metric"], f"{row['n']:,}", f"{row['spearman']:.3f}",
         f"{row['spearman_by_case']:.3f}", row["why"])
        if "n" in row
        else (row["released"], row["metric"], "", "", "", f"skipped: {row['skipped']}")
        for row in rows
    )  # fmt: skip
    headers = ("released", "metric", "n", "Spearman", "by case", "beside the weights")
    show_table(headers, lines, left=("metric", "beside the weights"))


def main() -> None:
    """Compare, print and keep the rows."""
    parser = argparse.ArgumentParser(description="Metrics with a model and OpinSummEval's scores.")
    parser.add_argument("--data", type=Path, default=DATA / "opinsummeval.jsonl")
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--metrics", help="of the table, between commas")
    for kind, usual in KINDS.items():
        parser.add_argument(f"--{kind}", default=usual, metavar="MODEL")
    options = parser.parse_args()
    if not options.data.is_file():
        raise SystemExit(f"{options.data} is not here; name it with --data")
    examples, released = read_released(options.data)
    sample = examples[: options.cases * SYSTEMS]
    wanted = None if options.metrics is None else set(options.metrics.split(","))
    rows = []
    for column in COLUMNS:
        if wanted is None or column.metric in wanted:
            rows.append(compare(column, getattr(options, column.kind), sample, released))
            print(rows[-1], flush=True)
    _show(rows)
    append_row(
        "released_scores", {"environment": environment(), "cases": options.cases, "rows": rows}
    )


if __name__ == "__main__":
    main()
