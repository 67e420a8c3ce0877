"""How to recompute the cells of published tables: one recipe a table, by its golden file's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from prevalence.meta.levels import Level, correlate_level
from prevalence.meta.means import model_means
from prevalence.meta.raters import mean_rating, rater_correlations, rater_spread
from prevalence.meta.significance import shapiro_wilk
from prevalence.meta.stability import method_agreement, stability
from prevalence.meta.table import RatingTable
from prevalence.readers.summeval_op import DIMENSIONS
from prevalence.stats.agreement import (
    agreement_by_cell,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
)
from prevalence.stats.coefficients import Kind, mean_coefficient

__all__ = ["RECIPES", "Cell", "NoDataError", "Value"]

KINDS: dict[str, Kind] = {
    "Spear.": "spearman",
    "Pear.": "pearson",
    "Kend.": "kendall",
    "rho": "spearman",
    "tau": "kendall",
}
LEVELS: dict[str, Level] = {"sys": "system", "sum": "summary"}
OPINSUMMEVAL_DIMENSIONS = {
    "Asp.Rel.": "asp_rel",
    "Sel.Coh.": "self_coh",
    "Sen.Con.": "sent_con",
    "Read.": "readblty",
}
OPINSUMMEVAL_METRICS = {
    "R1": ("R1_F1", 100.0),
    "R2": ("R2_F1", 100.0),
    "RL": ("RL_F1", 100.0),
    "BARTScore": ("bart_score_arti2hypo", 1.0),
}
OPINSUMMEVAL_SYSTEMS = {"gpt35": "gpt3"}
LLM_DIMENSIONS = {
    "Coh": "coherence",
    "Con": "consistency",
    "Flu": "fluency",
    "Rel": "relevance",
}
LLM_EVALUATORS = {"ChatGPT": "gpt-3.5", "GPT-4": "gpt-4"}
AGREEMENT: dict[str, Callable[..., float]] = {
    "Cohen kappa": cohen_kappa,
    "Gwet AC1": gwet_ac1,
    "Fleiss kappa": fleiss_kappa,
    "Krippendorff alpha": partial(krippendorff_alpha, level="nominal"),
}

Floats = np.ndarray[Any, np.dtype[np.float64]]


class NoDataError(Exception):
    """The released data lack what a cell needs."""


class Cell(NamedTuple):
    """A printed figure and where it stands.

    Attributes:
        row: label of the row.
        column: label of the column.
        field: name of the metric in the released data, where the golden file gives one.
        golden: the cell as stored.
    """

    row: str
    column: str
    field: str | None
    golden: dict[str, Any]


class Value(NamedTuple):
    """A recomputed figure, with its p-value where stars are printed."""

    value: float
    p: float = float("nan")


Recipe = Callable[[RatingTable, Cell], Value]


def op_agreement(table: RatingTable, cell: Cell) -> Value:
    """OpinSummEval, Tables 3 and 8: mean over cells of a batch of ten and a system."""
    measure = partial(AGREEMENT[cell.column], one_category=1.0)
    ratings = table.human[OPINSUMMEVAL_DIMENSIONS[cell.row]]
    return Value(float(agreement_by_cell(ratings, measure, batch=10).mean()))


def op_correlation(table: RatingTable, cell: Cell) -> Value:
    """OpinSummEval, Tables 4 and 10: tau-b at system and at summary level."""
    dimension, _, level = cell.column.rpartition(" ")
    human = table.mean_human(OPINSUMMEVAL_DIMENSIONS[dimension])
    metric = _metric(table, str(cell.field))
    found = correlate_level(LEVELS[level], "kendall", metric, human)
    return Value(found.value, found.p)


def op_means(table: RatingTable, cell: Cell) -> Value:
    """OpinSummEval, Table 5: mean ratings and metric values of each system."""
    plain = _plain(cell.row)
    system = _place(table.systems, OPINSUMMEVAL_SYSTEMS.get(plain, plain), "system")
    if cell.column in OPINSUMMEVAL_DIMENSIONS:
        values, factor = table.mean_human(OPINSUMMEVAL_DIMENSIONS[cell.column]), 1.0
    else:
        name, factor = OPINSUMMEVAL_METRICS[cell.column]
        values = _metric(table, name)
    return Value(factor * float(model_means(values[:, :, None]).average[system]))


def op_normality(table: RatingTable, cell: Cell) -> Value:
    """OpinSummEval, Table 9: Shapiro–Wilk over the system means of a field."""
    name = str(cell.field)
    values = table.mean_human(name) if name in table.human else _metric(table, name)
    found = shapiro_wilk(mean_coefficient(values.T))
    return Value(found.statistic if cell.column == "statistic" else found.p)


def llm_pooled(table: RatingTable, cell: Cell) -> Value:
    """LLM_summeval, Table 4: over all summaries at once."""
    dimension, kind = _llm_column(cell)
    scores = _judge(table, cell.row, dimension)
    found = correlate_level("pooled", kind, scores, table.mean_human(dimension))
    return Value(found.value, found.p)


def llm_stability(table: RatingTable, cell: Cell) -> Value:
    """LLM_summeval, Table 6: meta-correlation of performance with quality."""
    dimension, kind = _llm_column(cell)
    found = stability(_judge(table, cell.row, dimension), table.mean_human(dimension), kind=kind)
    return Value(found.meta.value, found.meta.p)


def llm_methods(table: RatingTable, cell: Cell) -> Value:
    """LLM_summeval, Table 7: agreement of ChatGPT's RTS and MCQ, with the performance of one."""
    dimension, kind = _llm_column(cell)
    rts, mcq = (_judge(table, f"ChatGPT-{name}", dimension) for name in ("RTS", "MCQ"))
    found = method_agreement(rts, mcq, table.mean_human(dimension), kind=kind)
    return Value((found.meta_first if "RTS" in cell.row else found.meta_second).value)


def llm_spread(table: RatingTable, cell: Cell) -> Value:
    """LLM_summeval, Table 20: standard deviation of the experts."""
    spread = rater_spread(table.human[LLM_DIMENSIONS[cell.column]])
    return Value(float(spread[_place(table.systems, cell.row, "system")]))


def llm_means(table: RatingTable, cell: Cell) -> Value:
    """LLM_summeval, Table 21: mean expert scores; their average is taken of printed figures."""
    human = np.stack([table.mean_human(name) for name in LLM_DIMENSIONS.values()], axis=2)
    means = model_means(human, decimals=2)
    system = _place(table.systems, cell.row, "system")
    if cell.column == "Avg":
        return Value(float(means.average[system]))
    return Value(float(means.values[system, [*LLM_DIMENSIONS].index(cell.column)]))


def llm_performance(judge: str, table: RatingTable, cell: Cell) -> Value:
    """LLM_summeval, Tables 23 and 24: correlation for each system."""
    dimension, kind = _llm_column(cell)
    found = stability(_judge(table, judge, dimension), table.mean_human(dimension), kind=kind)
    return Value(float(found.performance.value[_place(table.systems, cell.row, "system")]))


def summeval_op_humans(table: RatingTable, cell: Cell) -> Value:
    """SummEval-OP, Table 2: mean over raters of the correlation with the mean rating."""
    short, _, kind = cell.column.partition(" ")
    ratings = table.human[_summeval_op_dimension(table, short)]
    found = rater_correlations(ratings, kind=KINDS[kind], undefined="zero")
    return Value(float(found.with_mean.mean()))


def model_average(table: RatingTable, cell: Cell) -> Value:
    """M-OS, Table 5: mean rating of each system by dimension, and over dimensions."""
    names = [*table.human] if cell.column == "Avg" else [_summeval_op_dimension(table, cell.column)]
    human = np.stack([mean_rating(table.human[name]) for name in names], axis=2)
    return Value(float(model_means(human).average[_place(table.systems, cell.row, "system")]))


RECIPES: dict[str, Recipe] = {
    "opinsummeval_table3": op_agreement,
    "opinsummeval_table4": op_correlation,
    "opinsummeval_table5": op_means,
    "opinsummeval_table8": op_agreement,
    "opinsummeval_table9": op_normality,
    "opinsummeval_table10": op_correlation,
    "llmsummeval_table4": llm_pooled,
    "llmsummeval_table6": llm_stability,
    "llmsummeval_table7": llm_methods,
    "llmsummeval_table20": llm_spread,
    "llmsummeval_table21": llm_means,
    "llmsummeval_table23": partial(llm_performance, "ChatGPT-RTS"),
    "llmsummeval_table24": partial(llm_performance, "ChatGPT-MCQ"),
    "summeval_op_table2_humans": summeval_op_humans,
    "mos_table5": model_average,
}
"""How to recompute a table, by the name of its golden file."""


def _llm_column(cell: Cell) -> tuple[str, Kind]:
    short, _, kind = cell.column.partition(" ")
    return LLM_DIMENSIONS[short], KINDS[kind]


def _metric(table: RatingTable, name: str) -> Floats:
    if name not in table.metrics:
        raise NoDataError(f"no metric {name}")
    return table.metric(name)


def _judge(table: RatingTable, row: str, dimension: str) -> Floats:
    """Scores of a judge that a row names EVALUATOR-METHOD, or of a metric that it names."""
    evaluator, _, method = row.rpartition("-")
    start = LLM_EVALUATORS.get(evaluator, evaluator)
    for name in table.metrics:
        if name.startswith(start) and name.endswith(f".{method.casefold()}.{dimension}"):
            return table.metric(name)
        if _plain(name) == _plain(row):
            return table.metric(name)
    raise NoDataError(f"no scores of {row}")


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _summeval_op_dimension(table: RatingTable, short: str) -> str:
    name = DIMENSIONS.get(short.casefold(), short)
    return table.dimensions[_place(table.dimensions, name, "dimension")]


def _place(names: Sequence[str], wanted: str, what: str) -> int:
    if wanted not in names:
        raise NoDataError(f"no {what} {wanted}")
    return names.index(wanted)
