"""The page of findings says what its script prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.findings import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "findings.md"

# A figure as the page writes it, and the line of the script that it comes from.
QUOTED = [
    ("It fired for 8 of 4,800 replies", "3: 2791, 4: 172, 5: 0, 6: 8}; relevance misread: 6"),
    ("| −.552 / −.432 / −.303", "as written: pooled 0.447 0.461 0.356; M -0.552 -0.432 -0.303"),
    ("52 of them with another score", "consistency: 300 repeats, 52 with another score"),
    ("95 summaries have a 1", "ratings of 1: 1055; all four 1: 95 summaries"),
    ("| .560 ** | .473 to .538 | 53% | .495 * |", "51 of them out 0.473 to 0.538, ** in 53%"),
    ("same mean in 79 of 80 ratings", "same words in 20 cases; equal mean ratings in 79 of 80"),
    ("| −0.363 | −1.762 |", "bart_score_arti2hypo: same words -0.363 verbatim, -1.762 tokenised"),
    ("| RTS consistency | −.81 | .87 | −.99 | .53 |", "Q with spread -0.986, M given spread 0.53"),
    ("17 of 140 cells count 1", "self_coh: 17 of 140 cells; kappa 0.7788, without them 0.7482"),
    ("3,214.94 and V = .732", "chi-square 3214.94, V 0.732"),
    ("the nearest gives 3,127.70", "any split of 6,000 gives: 3127.70"),
]  # fmt: skip


@pytest.mark.slow
def test_the_page_quotes_what_the_script_prints(shared_data, capsys):
    needed = ("llm_summeval", "opinsummeval.jsonl", "goldens/mos_table6.json")
    absent = [name for name in needed if not (shared_data / name).exists()]
    if absent:
        pytest.skip(f"no {', '.join(absent)} in the shared data")
    assert main(["--data", str(shared_data)]) == 0
    printed, page = capsys.readouterr().out, " ".join(PAGE.read_text("utf-8").split())
    assert [quote for quote, _ in QUOTED if quote not in page] == []
    assert [line for _, line in QUOTED if line not in printed] == []


def test_absent_data_are_named(tmp_path, capsys):
    assert main(["--data", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.count("skipped, no ") == 9
    assert "chi-square 3214.94" in out


def test_a_missing_folder_is_an_error(tmp_path, capsys):
    assert main(["--data", str(tmp_path / "none")]) == 2
    assert "no folder" in capsys.readouterr().err
