"""One report in five formats; whatever names hold, no format is broken by them."""

from __future__ import annotations

import csv
import io
import json

import pytest

from prevalence.cli.sheets import FORMATS
from prevalence.meta.conventions import CONVENTIONS, cut, printed
from prevalence.report.sheets import Cell, Printer, Report, Sheet, records_of, render

SHEET = Sheet(
    "Tau at 5% & more",
    ("metric", "flu_ency", "tone"),
    (
        (Cell("rouge_1"), Cell("0.52", 2, 1, 0.5249), Cell("–", value=float("nan"))),
        (Cell("=cmd|x"), Cell("-0.10", 0, 2, -0.1), Cell("0.3", 1)),
    ),
    ("* p ≤ 0.05",),
)
REPORT = Report("correlate", {"seed": 1}, (SHEET,), records_of((SHEET,)))


def test_table():
    assert render(REPORT, "table").splitlines() == [
        "Tau at 5% & more",
        "",
        "metric   flu_ency  tone",
        "rouge_1   0.52**¹     –",
        "=cmd|x     -0.10²  0.3*",
        "",
        "* p ≤ 0.05",
    ]


def test_markdown():
    assert render(REPORT, "markdown").splitlines() == [
        "**Tau at 5% &amp; more**",
        "",
        r"| metric | flu\_ency | tone |",
        "| --- | ---: | ---: |",
        r"| rouge\_1 | **0.52\*\*** | – |",
        r"| =cmd\|x | -0.10<sup>2</sup> | 0.3\* |",
        "",
        r"\* p ≤ 0.05",
    ]


def test_latex():
    text = render(REPORT, "latex")
    assert r"\begin{tabular}{lrr}" in text
    assert r"metric & flu\_ency & tone \\" in text
    assert r"rouge\_1 & \textbf{0.52$^{**}$} & -- \\" in text
    assert r"=cmd\textbar{}x & -0.10$_{2}$ & 0.3$^{*}$ \\" in text
    assert r"\caption{Tau at 5\% \& more. {*} p $\leq$ 0.05}" in text


def test_notes_of_a_caption_are_told_apart():
    sheet = Sheet("Title", ("a",), ((Cell("x"),),), ("first", "second: of 2"))
    assert r"\caption{Title. first; second: of 2}" in render(Report("x", {}, (sheet,)), "latex")
    assert r"\caption{Title}" in render(
        Report("x", {}, (Sheet("Title", ("a",), ((Cell("x"),),)),)), "latex"
    )


def test_stars_are_explained_where_there_are_some():
    printer = Printer(CONVENTIONS["default"])
    plain, starred = (Cell("x"), Cell("0.1")), (Cell("y"), Cell("0.9", stars=1))
    assert printer.star_notes([plain]) == []
    assert printer.star_notes([plain, starred]) == ["* p ≤ 0.05, ** p ≤ 0.01"]


def test_latex_rows_do_not_become_options_of_the_line_before():
    rows = tuple((Cell(name), Cell("1")) for name in ("plain", "[ours]", "*best"))
    text = render(Report("x", {}, (Sheet("t", ("system", "n"), rows),)), "latex")
    assert "\\\\\n{[}ours] & 1" in text
    assert "\\\\\n{*}best & 1" in text


def test_json_has_unrounded_numbers_and_null_for_the_undefined():
    document = json.loads(render(REPORT, "json"))
    assert document["settings"] == {"seed": 1}
    assert [row["value"] for row in document["rows"]] == [0.5249, None, -0.1, "0.3"]


def test_csv_is_flat_and_harmless():
    nested = ({"name": "=1+1", "value": float("nan"), "parts": {"a": 1}}, {"name": "b", "@x\n": 2})
    lines = [*csv.reader(io.StringIO(render(Report("x", {}, (), nested), "csv")))]
    assert lines == [["name", "value", "'@x "], ["'=1+1", "", ""], ["b", "", "2"]]


@pytest.mark.parametrize("form", FORMATS)
def test_names_from_outside_drive_nothing(form):
    evil = "a\x1b[31m\nb\\input{x}<script>"
    sheet = Sheet(evil, ("metric", evil), ((Cell(evil), Cell("1", value=1.0)),))
    text = render(Report("x", {}, (sheet,), records_of((sheet,))), form)
    assert "\x1b" not in text.replace("\\u001b", "")
    if form == "latex":
        assert r"\input" not in text
    if form == "markdown":
        assert "<script>" not in text
    assert text.endswith("\n")


@pytest.mark.parametrize(
    ("value", "decimals", "rounding", "expected"),
    [
        (0.125, 2, "half-up", "0.13"),
        (0.125, 2, "half-even", "0.12"),
        (-0.125, 2, "half-up", "-0.13"),
        (0.8337899, 4, "truncate", "0.8337"),
        (0.8337899, 4, "half-up", "0.8338"),
        (4.315, 2, "half-up", "4.32"),
        (-0.001, 2, "half-up", "0.00"),
        (float("nan"), 2, "half-up", "–"),
        (2.5, 0, "half-even", "2"),
    ],
)
def test_rounding(value, decimals, rounding, expected):
    assert printed(value, decimals, rounding) == expected
    if expected != "–":
        assert cut(value, decimals, rounding) == float(expected)
