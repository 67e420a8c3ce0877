"""Tables of correlations: what is paired with what, rules, intervals, and published figures."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.conventions import CONVENTIONS, Convention
from prevalence.meta.correlate import Bootstrap, correlate, pairings
from prevalence.meta.levels import Resamples, correlate_resampled
from prevalence.meta.sources import read_table
from prevalence.meta.table import RatingTable


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    human = {name: rng.integers(1, 6, (12, 5, 2)).astype(float) for name in ("fluency", "tone")}
    means = {name: ratings.mean(axis=2) for name, ratings in human.items()}
    return RatingTable(
        items=tuple(map(str, range(12))),
        systems=tuple("abcde"),
        raters=("1", "2"),
        metrics={
            "rouge": rng.normal(size=(12, 5)),
            "judge.fluency": means["fluency"] * 2 + 1,
            "judge.tone": -means["tone"],
        },
        human=human,
        samples={},
    )


def test_a_metric_of_one_dimension_is_compared_with_it_alone(table):
    rows = [tuple(pair) for pair in pairings(table)]
    assert rows == [
        ("rouge", "rouge", "fluency"),
        ("rouge", "rouge", "tone"),
        ("judge", "judge.fluency", "fluency"),
        ("judge", "judge.tone", "tone"),
    ]
    assert len(pairings(table, all_pairs=True)) == 6
    named = pairings(table, own={"rouge": "tone"})
    assert tuple(named[0]) == ("rouge", "rouge", "tone")
    assert len(named) == 3
    for own in ({"bleu": "tone"}, {"rouge": "depth"}):
        with pytest.raises(InputError, match="there are: "):
            pairings(table, own=own)


def test_metrics_that_would_share_a_line_have_their_own_names(table):
    metrics = dict(table.metrics)
    metrics |= {"judge": metrics["rouge"], "x.tone": metrics["rouge"], "x.TONE": metrics["rouge"]}
    rows = [pair.row for pair in pairings(replace(table, metrics=metrics))]
    assert rows == [
        *2 * ["rouge"],
        "judge.fluency",
        "judge.tone",
        *2 * ["judge"],
        "x.tone",
        "x.TONE",
    ]
    own = pairings(replace(table, metrics=metrics), own={"judge": "tone"})
    assert [pair.row for pair in own if pair.dimension == "fluency"] == ["rouge", "judge.fluency"]


def test_cells_come_by_coefficient_level_and_metric(table):
    cells = correlate(table, Convention(kinds=("kendall", "pearson"), levels=("pooled", "summary")))
    assert len(cells) == 2 * 2 * 4
    keys = [(cell.kind, cell.level) for cell in cells]
    assert keys == sorted(keys, key=lambda key: (key[0] != "kendall", key[1] != "pooled"))
    perfect = {cell.metric: cell for cell in cells if cell.kind == "pearson"}
    assert perfect["judge.fluency"].value == pytest.approx(1.0)
    assert perfect["judge.tone"].value == pytest.approx(-1.0)
    summary = next(cell for cell in cells if cell.level == "summary")
    assert np.isnan(summary.p)
    assert np.isnan(summary.low)
    assert list(summary.parts) == list(table.items)


def test_candidate_level_names_systems_with_p(table):
    (cell, *_) = correlate(table, Convention(levels=("candidate",)))
    assert list(cell.parts) == list(cell.parts_p) == list("abcde")
    assert cell.value == pytest.approx(np.mean(list(cell.parts.values())))


def test_intervals_hold_the_value_and_follow_the_seed(table):
    settings = Bootstrap(over="items", resamples=200, seed=3)
    cells = correlate(table, Convention(levels=("pooled",)), bootstrap=settings)
    for cell in cells:
        assert cell.no_interval == ("constant" if cell.row == "judge" else "")
        assert cell.resamples == 200
        if cell.row == "rouge":
            assert cell.low <= cell.value <= cell.high
    assert cells == correlate(table, Convention(levels=("pooled",)), bootstrap=settings)
    wide = correlate(
        table, Convention(levels=("pooled",)), bootstrap=replace(settings, confidence=0.99)
    )
    assert wide[0].low <= cells[0].low
    with pytest.raises(ConfigurationError, match="confidence"):
        correlate(table, bootstrap=replace(settings, confidence=1.0))


@pytest.mark.parametrize(
    ("level", "over", "unit"),
    [
        ("system", "items", "items"),
        ("system", "both", "items"),
        ("summary", "items", "items"),
        ("pooled", "systems", "systems"),
        ("pooled", "both", "systems"),
        ("candidate", "systems", "systems"),
    ],
)
def test_fewer_than_six_items_or_systems_give_no_interval(level, over, unit):
    rng = np.random.default_rng(1)
    grids = rng.normal(size=(2, 8, 8))
    table = RatingTable(
        items=tuple("12345678"), systems=tuple("abcdefgh"), raters=("1",),
        metrics={"m": grids[0]}, human={"f": grids[1][:, :, None]}, samples={},
    )  # fmt: skip
    bootstrap = Bootstrap(over=over, resamples=40)
    for kept, reason in ((6, ""), (5, f"few {unit}"), (1, f"few {unit}")):
        gappy = np.full((8, 8), np.nan)
        cut = np.s_[:kept] if unit == "items" else np.s_[:, :kept]
        gappy[cut] = grids[0][cut]
        if level == "summary":
            gappy[6, 1] = 1.0  # Too little to correlate.
        some = replace(table, metrics={"m": gappy})
        (cell,) = correlate(some, Convention(levels=(level,)), bootstrap=bootstrap)
        assert not np.isnan(cell.value)
        assert (cell.no_interval, cell.resamples) == (reason, 0 if reason else 40)
        assert np.isnan([cell.low, cell.high]).tolist() == 2 * [bool(reason)]


def test_missing_and_undefined_follow_their_rules(table):
    gappy = dict(table.metrics)
    gappy["rouge"] = gappy["rouge"].copy()
    gappy["rouge"][2, 3] = np.nan
    gappy["rouge"][4] = 7.0
    table = replace(table, metrics=gappy)

    def first(**rules):
        return correlate(table, Convention(levels=("summary",), **rules))[0]

    dropped, zeroed = first(), first(undefined="zero")
    assert (dropped.n, dropped.undefined, zeroed.n) == (11, 1, 12)
    assert zeroed.value == pytest.approx(dropped.value * 11 / 12)
    with pytest.raises(InputError, match="rouge against fluency: summary level: 1 of 12"):
        first(undefined="fail")
    with pytest.raises(InputError, match=r"'rouge': 1 summaries .* '2' by 'd'"):
        first(missing="fail")
    filled = first(missing="zero")
    gappy["rouge"] = np.nan_to_num(gappy["rouge"])
    assert filled.value == first().value != dropped.value


def test_nothing_to_correlate(table):
    for empty in ({"metrics": {}}, {"human": {}}):
        with pytest.raises(InputError, match=r"no .* to correlate"):
            correlate(replace(table, **empty))


@pytest.mark.parametrize(
    "wrong", [{"kinds": ("tau",)}, {"levels": ()}, {"undefined": "keep"}, {"decimals": -1}]
)
def test_conventions_refuse_what_is_none(wrong):
    with pytest.raises(ConfigurationError):
        Convention(**wrong)


DIMENSIONS = {
    "Asp.Rel.": "asp_rel", "Sel.Coh.": "self_coh", "Sen.Con.": "sent_con", "Read.": "readblty",
}  # fmt: skip


@pytest.mark.parametrize("number", [4, 10])
def test_opinsummeval_to_the_digit(shared_data, number):
    golden = json.loads((shared_data / f"goldens/opinsummeval_table{number}.json").read_text())
    table = read_table(shared_data / "opinsummeval.jsonl")
    fields = {cell["field"] for row in golden["rows"].values() for cell in row.values()}
    cells = correlate(table.select(metrics=sorted(fields)), CONVENTIONS["opinsummeval"])
    found = {(cell.metric, cell.dimension, cell.level[:3]): cell for cell in cells}
    compared = 0
    for row in golden["rows"].values():
        for column, cell in row.items():
            dimension, level = column.split()
            ours = found[cell["field"], DIMENSIONS[dimension], level]
            assert ours.value == pytest.approx(cell["computed"], abs=1e-6)
            assert level == "sum" or ours.p == pytest.approx(cell["p"], abs=1e-5)
            compared += 1
    assert compared == {4: 192, 10: 24}[number]


def test_llm_summeval_to_the_digit(shared_data):
    golden = json.loads((shared_data / "goldens/llmsummeval_table4.json").read_text())
    table = read_table(shared_data / "llm_summeval")
    cells = correlate(table, CONVENTIONS["llm-summeval"])
    found = {(cell.row, cell.dimension[:3], cell.kind[:4]): cell for cell in cells}
    compared = 0
    for method in ("RTS", "MCQ"):
        for column, cell in golden["rows"][f"ChatGPT-{method}"].items():
            dimension, kind = column.casefold().rstrip(".").split()
            ours = found[f"gpt-3.5-turbo-0301.{method.casefold()}", dimension, kind[:4]]
            assert ours.value == pytest.approx(cell["computed"], abs=1e-6)
            assert ours.p == pytest.approx(cell["p"], rel=1e-2)
            compared += 1
    assert compared == 24


@pytest.mark.parametrize("level", ["summary", "candidate", "system", "pooled"])
def test_missing_scores_are_no_zeros_under_any_convention(level):
    # Metric and people agree wherever there is a metric; half the items, then, have none.
    human = np.add.outer(np.arange(4.0), np.arange(3.0))
    full = RatingTable(
        items=tuple("1234"), systems=tuple("abc"), raters=("1",), metrics={"m": human},
        human={"f": human[:, :, None]}, samples={},
    )  # fmt: skip
    half = human.copy()
    half[2:] = np.nan
    convention = Convention(levels=(level,), undefined="zero")
    bootstrap = Bootstrap(over="items", resamples=20)
    for grid, missing in ((human, 0), (half, 6)):
        (cell,) = correlate(replace(full, metrics={"m": grid}), convention, bootstrap=bootstrap)
        assert (cell.value, cell.missing, cell.undefined) == (pytest.approx(1.0), missing, 0)
        assert cell.absent == (2 if missing and level == "summary" else 0)
    # An item of equal scores is undefined, and counts 0 where an absent one does not.
    half[0] = 5.0
    (cell,) = correlate(
        replace(full, metrics={"m": half}), Convention(levels=("summary",), undefined="zero")
    )
    assert (cell.value, cell.n, cell.absent, cell.undefined) == (0.5, 2, 2, 1)


def test_intervals_leave_missing_items_out_too():
    human = np.add.outer(np.arange(4.0), np.arange(3.0))
    half = human.copy()
    half[2:] = np.nan
    drawn = Resamples(
        np.array([[1, 1, 1, 1], [0, 0, 2, 2], [1, 0, 3, 0]]), np.ones((3, 3), np.int64)
    )
    values = correlate_resampled("summary", "kendall", half, human, drawn, undefined="zero")
    np.testing.assert_array_equal(values, [1.0, np.nan, 1.0])
    half[0] = 1.0
    values = correlate_resampled("summary", "kendall", half, human, drawn, undefined="zero")
    np.testing.assert_array_equal(values, [0.5, np.nan, 0.0])
