"""The figures of docs/findings.md, from the released data.

    python -m benchmarks.findings
    python -m benchmarks.findings --data FOLDER

Each section looks into one thing that the published tables do not show: replies that a parser
misread, missing ratings stored as the lowest score, text that only one system copies. A section
whose data is absent is skipped.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import DATA
from prevalence.errors import PrevalenceError
from prevalence.meta.levels import correlate_level
from prevalence.meta.raters import items_to_rerate, judge_profile
from prevalence.meta.significance import goodness_of_fit, shapiro_wilk
from prevalence.meta.sources import read_table
from prevalence.meta.stability import method_agreement, stability
from prevalence.stats.agreement import agreement_by_cell, cohen_kappa
from prevalence.stats.coefficients import coefficient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prevalence.stats.coefficients import Kind

__all__ = ["main"]

Floats = np.ndarray[Any, np.dtype[np.float64]]

EVALUATOR = "gpt-3.5-turbo-0301"
KINDS: tuple[Kind, ...] = ("spearman", "pearson", "kendall")
CHATGPT = {
    "asp_rel": "chatgpt_handcraft_14_unstru_Relevance",
    "self_coh": "chatgpt_handcraft_14_unstru_Coherence",
    "sent_con": "chatgpt_handcraft_14_unstru_Consistency",
    "readblty": "chatgpt_handcraft_14_unstru_Readability",
}
REPLIES_WITHOUT_RATING, DRAWS, SEED = 51, 500, 0
OUT_OF_FIVE = re.compile(r"(\d(?:\.\d+)?)(?:\s*/\s*5|\s+out\s+of\s+5)\b")


_table = cache(read_table)


def misread_replies(data: Path) -> Iterator[str]:
    """LLM_summeval's RTS: replies that only the last parsing rule reads."""
    table = _table(data / "llm_summeval")
    stored = table.metric(f"{EVALUATOR}.rts.relevance")
    right, unread = stored.copy(), stored.copy()
    fired = dict.fromkeys(range(1, 7), 0)
    for place, dimension, reply in _replies(data, table.items, table.systems, "rts"):
        fired[reply["rule"]] += 1
        if reply["rule"] == 6 and dimension == "relevance":
            said = OUT_OF_FIVE.findall(reply["resp"])
            right[place] = float(said[-1]) if said else right[place]
            unread[place] = np.nan
    yield f"replies read by each rule: {fired}; relevance misread: {int((right != stored).sum())}"
    human = table.mean_human("relevance")
    mcq = table.metric(f"{EVALUATOR}.mcq.relevance")
    for name, scores in (("stored", stored), ("as written", right), ("left out", unread)):
        pooled = [correlate_level("pooled", kind, scores, human).value for kind in KINDS]
        meta = [stability(scores, human, kind=kind).meta.value for kind in KINDS]
        methods = method_agreement(scores, mcq, human, kind="spearman")
        yield (
            f"{name}: pooled {_listed(pooled)}; M {_listed(meta)}; rho(R, P) "
            f"{methods.meta_first.value:.3f} {methods.meta_second.value:.3f}"
        )


def repeated_answers(data: Path) -> Iterator[str]:
    """LLM_summeval's MCQ: answers that the release has twice."""
    table = _table(data / "llm_summeval")
    last = table.metric(f"{EVALUATOR}.mcq.consistency")
    first, repeats = last.copy(), 0
    for place, dimension, reply in _replies(data, table.items, table.systems, "mcq"):
        if "earlier" in reply and dimension == "consistency":
            first[place] = reply["earlier"][0]["score"]
            repeats += 1
    yield f"consistency: {repeats} repeats, {int((first != last).sum())} with another score"
    human = table.mean_human("consistency")
    for name, scores in (("last", last), ("first", first)):
        pooled = [correlate_level("pooled", kind, scores, human).value for kind in KINDS]
        yield f"{name} answers: pooled {_listed(pooled)}"


def missing_as_one(data: Path) -> Iterator[str]:
    """OpinSummEval's ChatGPT: 204 of 5,600 ratings are missing and stored as 1."""
    table = _table(data / "opinsummeval.jsonl")
    judge = np.stack([table.metric(name) for name in CHATGPT.values()], axis=2)
    suspects = np.argwhere((judge == 1).all(axis=2))
    yield f"ratings of 1: {int((judge == 1).sum())}; all four 1: {len(suspects)} summaries"
    rng = np.random.default_rng(SEED)
    for column, dimension in enumerate(CHATGPT):
        human = table.mean_human(dimension)
        level = partial(correlate_level, kind="kendall", human=human)
        whole, less = judge[..., column], judge[..., column].copy()
        less[tuple(suspects.T)] = np.nan
        found = []
        for _ in range(DRAWS):
            drawn = whole.copy()
            drawn[tuple(rng.permutation(suspects)[:REPLIES_WITHOUT_RATING].T)] = np.nan
            found.append(level("system", metric=drawn))
        low, high = np.quantile([one.value for one in found], [0.025, 0.975])
        kept = np.mean([one.p <= 0.01 for one in found])
        yield (
            f"{dimension}: system {level('system', metric=whole).value:.3f}, all suspects out "
            f"{level('system', metric=less).value:.3f} (p {level('system', metric=less).p:.3f}), "
            f"{REPLIES_WITHOUT_RATING} of them out {low:.3f} to {high:.3f}, ** in {kept:.0%}; "
            f"summary {level('summary', metric=whole).value:.3f} and "
            f"{level('summary', metric=less).value:.3f}"
        )


def verbatim_text(data: Path) -> Iterator[str]:
    """OpinSummEval: LexRank's summaries are verbatim, BertCent's lower-cased and tokenised."""
    table = _table(data / "opinsummeval.jsonl")
    one, two = table.systems.index("lexrank"), table.systems.index("bertcent")
    texts = [record["summaries"] for record in _records(data / "opinsummeval.jsonl")]
    same = [
        case for case, systems in enumerate(texts)
        if _letters(systems["lexrank"]["text"]) == _letters(systems["bertcent"]["text"])
    ]  # fmt: skip
    ratings = np.stack([table.mean_human(name) for name in table.dimensions], axis=2)
    equal = (ratings[same, one] == ratings[same, two]).sum()
    yield f"same words in {len(same)} cases; equal mean ratings in {equal} of {4 * len(same)}"
    for name in ("bart_score_arti2hypo", "bert_score_f1", "ppl_score_gpt2", "ter_score", "R1_F1"):
        values = table.metric(name)
        means = values.mean(axis=0)
        yield (
            f"{name}: same words {values[same, one].mean():.3f} verbatim, "
            f"{values[same, two].mean():.3f} tokenised; other systems' means "
            f"{np.delete(means, [one, two]).min():.3f} to {np.delete(means, [one, two]).max():.3f}"
        )
    metric = table.metric("bart_score_arti2hypo")
    for dimension in table.dimensions:
        human = table.mean_human(dimension)
        cut = [np.delete(grid, one, axis=1) for grid in (metric, human)]
        whole = [
            correlate_level(level, "kendall", metric, human) for level in ("system", "summary")
        ]
        rest = [correlate_level(level, "kendall", *cut) for level in ("system", "summary")]
        yield (
            f"{dimension}: reviews → summary {_listed(one.value for one in whole)}; without "
            f"LexRank {_listed(one.value for one in rest)}"
        )


def constant_cells(data: Path) -> Iterator[str]:
    """OpinSummEval: cells of one category, which count as full agreement."""
    table = _table(data / "opinsummeval.jsonl")
    for dimension, ratings in table.human.items():
        cells = agreement_by_cell(ratings, cohen_kappa, batch=10)
        constant = np.isnan(cells)
        yield (
            f"{dimension}: {int(constant.sum())} of {cells.size} cells; kappa "
            f"{np.where(constant, 1.0, cells).mean():.4f}, without them {np.nanmean(cells):.4f}, "
            f"pooled {cohen_kappa(ratings.reshape(-1, ratings.shape[2])):.4f}; two points apart: "
            f"{len(items_to_rerate(ratings, bound=2))}"
        )


def unlisted_fields(data: Path) -> Iterator[str]:
    """OpinSummEval: fields that pass the test of normality unlisted, and fields stored twice."""
    table = _table(data / "opinsummeval.jsonl")
    goldens = _golden(data, "opinsummeval_table9")
    listed = {cell["field"] for row in goldens.values() for cell in row.values() if "field" in cell}
    for name, values in table.metrics.items():
        found = shapiro_wilk(values.mean(axis=0))
        if found.p >= 0.05 and name not in listed:
            yield f"normal but not listed: {name}, W {found.statistic:.3f}, p {found.p:.3f}"
    for one, two in combinations(table.metrics, 2):
        if np.array_equal(table.metric(one), table.metric(two)):
            yield f"the same values: {one}, {two}"


def restricted_range(data: Path) -> Iterator[str]:
    """LLM_summeval: the meta-correlation beside the spread of human scores within a system."""
    table = _table(data / "llm_summeval")
    for method in ("rts", "mcq"):
        for dimension in table.dimensions:
            human, scores = table.mean_human(dimension), table.metric(
                f"{EVALUATOR}.{method}.{dimension}"
            )  # fmt: skip
            found, spread = stability(scores, human, kind="spearman"), human.std(axis=0)
            with_spread = coefficient("spearman", found.performance.value, spread).value
            quality = coefficient("spearman", found.quality, spread).value
            profile = judge_profile(scores, human, maximum=5)
            yield (
                f"{method} {dimension}: M {found.meta.value:.3f} (p {found.meta.p:.4f}), P with "
                f"spread {with_spread:.3f}, Q with spread {quality:.3f}, M given spread "
                f"{_partial(found.meta.value, with_spread, quality):.2f}; offset "
                f"{profile.offset:+.2f}, at the maximum {profile.at_maximum:.2f}, human means of "
                f"5 {float((human == 5).mean()):.3f}"
            )


def crowd_and_experts(data: Path) -> Iterator[str]:
    """LLM_summeval: crowd workers against experts, over all summaries."""
    experts = _table(data / "llm_summeval", raters="expert")
    crowd = _table(data / "llm_summeval", raters="turker")
    for name in experts.dimensions:
        pair = experts.mean_human(name), crowd.mean_human(name)
        found = [correlate_level("pooled", kind, *pair).value for kind in KINDS]
        yield f"{name}: {_listed(found)}"


def chi_square(_: Path) -> Iterator[str]:
    """SummEval-OP: the printed chi-square of 5,196 against 804."""
    found = goodness_of_fit([5196, 804])
    yield f"5,196 : 804: chi-square {found.statistic:.2f}, V {found.cramers_v:.3f}"
    nearest = min(
        (goodness_of_fit([first, 6000 - first]).statistic for first in range(3000, 6001)),
        key=lambda statistic: abs(statistic - 3126.83),
    )
    yield f"nearest to the printed 3,126.83 that any split of 6,000 gives: {nearest:.2f}"


def equal_rows(data: Path) -> Iterator[str]:
    """M-OS: rows of different judges with equal figures, and pairs that cannot be."""
    rows = {
        f"Table {number} {name}": {column: float(cell["printed"]) for column, cell in row.items()}
        for number in (6, 7)
        for name, row in _golden(data, f"mos_table{number}").items()
    }
    for (one, first), (two, second) in combinations(rows.items(), 2):
        equal = sum(first[column] == second[column] for column in first)
        if equal >= 12:
            yield f"{equal} of {len(first)} figures equal: {one}, {two}"
    for name, row in rows.items():
        for column in (column for column in row if column.endswith(" tau")):
            tau, rho = row[column], row[column.replace("tau", "rho")]
            if tau > rho:
                bound = "impossible without ties" if 3 * tau - 2 * rho > 1 else "unusual"
                yield f"tau above rho, {bound}: {name}, {column.split()[0]}, {rho} and {tau}"


SECTIONS: dict[Callable[[Path], Iterator[str]], str] = {
    misread_replies: "llm_summeval",
    repeated_answers: "llm_summeval",
    restricted_range: "llm_summeval",
    crowd_and_experts: "llm_summeval",
    missing_as_one: "opinsummeval.jsonl",
    verbatim_text: "opinsummeval.jsonl",
    constant_cells: "opinsummeval.jsonl",
    unlisted_fields: "opinsummeval.jsonl",
    chi_square: "",
    equal_rows: "goldens/mos_table6.json",
}
"""The sections and the data that each needs."""


def main(arguments: list[str] | None = None) -> int:
    """Print every section whose data is there; 2 if none is."""
    parser = argparse.ArgumentParser(prog="benchmarks.findings", description=__doc__)
    parser.add_argument("--data", default=DATA)
    data = Path(parser.parse_args(arguments).data)
    if not data.is_dir():
        print(f"no folder {data}; set PREVALENCE_DATA or give --data", file=sys.stderr)
        return 2
    for section, needed in SECTIONS.items():
        print(f"# {section.__doc__}")
        if (data / needed).exists():
            print(*section(data), sep="\n")
        else:
            print(f"skipped, no {needed} in the folder")
    return 0


def _replies(
    data: Path, items: tuple[str, ...], systems: tuple[str, ...], method: str
) -> Iterator[tuple[tuple[int, int], str, dict[str, Any]]]:
    """Every reply of a method with the place of its summary and its dimension."""
    for column, system in enumerate(systems):
        for record in _records(data / "llm_summeval" / f"{system}.jsonl"):
            for dimension, reply in record["eval"][EVALUATOR][method].items():
                yield (items.index(record["id"]), column), dimension, reply


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _golden(data: Path, stem: str) -> dict[str, dict[str, dict[str, Any]]]:
    rows: dict[str, dict[str, dict[str, Any]]]
    rows = json.loads((data / "goldens" / f"{stem}.json").read_text("utf-8"))["rows"]
    return rows


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _partial(quality: float, with_spread: float, of_spread: float) -> float:
    """Correlation of P and Q with the spread held fixed."""
    scale = np.sqrt((1 - with_spread**2) * (1 - of_spread**2))
    return float((quality - with_spread * of_spread) / scale)


def _listed(values: Any) -> str:
    return " ".join(f"{value:.3f}" for value in values)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (PrevalenceError, OSError) as error:
        sys.exit(f"findings: {error}")
