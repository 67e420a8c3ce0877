"""The published tables, recomputed from the released data; and that a wrong figure is noticed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from benchmarks.published_tables import main

# Cells with a recomputed figure, and those that match the printed one.
EXPECTED = {
    "llmsummeval_table4": (21, 24),
    "llmsummeval_table6": (24, 24),
    "llmsummeval_table7": (24, 24),
    "llmsummeval_table20": (48, 48),
    "llmsummeval_table21": (59, 60),
    "llmsummeval_table23": (144, 144),
    "llmsummeval_table24": (144, 144),
    "opinsummeval_table3": (8, 8),
    "opinsummeval_table4": (192, 192),
    "opinsummeval_table5": (88, 88),
    "opinsummeval_table8": (7, 8),
    "opinsummeval_table9": (32, 32),
    "opinsummeval_table10": (24, 24),
}


@pytest.fixture
def release(tmp_path):
    """A folder with two systems, two cases, two raters, and one golden table."""
    (tmp_path / "goldens").mkdir()

    def write(cells, stem="opinsummeval_table5", data="opinsummeval.jsonl"):
        golden = {"rows": {"LexRank": cells}}
        (tmp_path / "goldens" / f"{stem}.json").write_text(json.dumps(golden), "utf-8")
        ratings = [[[4, 5], [1, 2]], [[3, 3], [2, 2]]]
        rows = [
            {"summaries": {
                system: {"human": {"asp_rel": given}, "metrics": {"R1_F1": value}}
                for system, given, value in zip(("lexrank", "bart"), case, (0.25, 0.5), strict=True)
            }}
            for case in ratings
        ]  # fmt: skip
        (tmp_path / data).write_text("\n".join(map(json.dumps, rows)), "utf-8")
        return ["--data", str(tmp_path)]

    return write


def cell(printed, computed, reproduced=True, **more):
    return {"printed": printed, "computed": computed, "reproduced": reproduced} | more


@pytest.mark.slow
def test_every_published_cell_is_as_recorded(shared_data, tmp_path, capsys):
    report = tmp_path / "tables.json"
    assert main(["--data", str(shared_data), "--json", str(report)]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {row["table"]: row for row in json.loads(report.read_text("utf-8"))}
    found = {
        name: (rows[name]["matched"], rows[name]["compared"]) for name in EXPECTED if name in rows
    }
    assert found == {name: EXPECTED[name] for name in found}
    assert found, "no table of the recipes in the folder"
    matched = sum(row["matched"] for row in rows.values())
    compared = sum(row["compared"] for row in rows.values())
    known = compared - matched
    assert lines[-1] == (f"total {matched}/{compared} matched, {known} known differences, 0 failed")


def test_a_right_cell_matches(release, capsys):
    # (4 + 5 + 3 + 3) / 4 and 100 · .25.
    arguments = release({"Asp.Rel.": cell("3.750", 3.75), "R1": cell("25.00", 25.0)})
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines() == [
        "opinsummeval_table5: 2/2",
        "total 2/2 matched, 0 known differences, 0 failed",
    ]


@pytest.mark.parametrize(
    ("golden", "state"),
    [
        (cell("3.751", 3.75), "FAILED"),
        (cell("3.750", 3.76), "FAILED"),
        (cell("3.7", 3.75, reproduced=False), "known difference"),
        (cell("3.7", 3.7, reproduced=False), "FAILED"),
    ],
    ids=["printed", "recomputed", "misprint", "misprint not as recomputed"],
)
def test_a_differing_cell_is_told_and_fails_unless_known(release, golden, state, capsys):
    assert main(release({"Asp.Rel.": golden})) == (state == "FAILED")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith(f"  {state}: LexRank, Asp.Rel.: printed {golden['printed']}")
    counts = "0 known differences, 1 failed" if state == "FAILED" else "1 known differences, 0"
    assert counts in lines[-1]


def test_cells_that_nobody_recomputed_are_not_compared(release, capsys):
    cells = {"R1": cell("99.99", None, reproduced=None), "Asp.Rel.": cell("3.750", 3.75)}
    assert main(release(cells)) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("total 1/1 matched")


def test_what_the_data_lack_is_named(release, capsys):
    arguments = release({"Asp.Rel.": cell("3.750", 3.75), "R2": cell("1.00", 1.0)})
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "opinsummeval_table5: 1/1" in out
    assert "1 cells: no metric R2_F1" in out


def test_a_table_without_data_is_skipped(release, capsys):
    assert main(release({"Asp.Rel.": cell("3.750", 3.75)}, data="other.jsonl")) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "opinsummeval_table5: skipped, no data of opinsummeval in the folder"
    assert out[-1].startswith("total 0/0")


def test_a_folder_without_goldens_is_an_error(tmp_path, capsys):
    assert main(["--data", str(tmp_path)]) == 2
    assert "no goldens" in capsys.readouterr().err


@pytest.mark.parametrize("printed", [0, 2])
def test_stars_count(release, printed):
    # Two systems in opposite orders: tau −1, which proves nothing.
    golden = cell("-1.00", -1.0, printed_stars=printed, stars_reproduced=True, field="R1_F1")
    assert main(release({"Asp.Rel. sys": golden}, "opinsummeval_table4")) == (printed != 0)


def test_a_judge_of_another_name_is_found_by_its_row(tmp_path, capsys):
    rng = np.random.default_rng(6)
    experts, scores = rng.integers(1, 6, (5, 3, 3)), rng.integers(1, 6, (5, 3))
    (tmp_path / "llm_summeval").mkdir()
    for system in range(3):
        rows = [
            {
                "id": f"a{item}",
                "system": f"M{system}",
                "expert": [{"coherence": int(grade)} for grade in experts[item, system]],
                "eval": {"gpt-4-0314": {"rts": {"coherence": {"score": int(score)}}}},
            }
            for item, score in enumerate(scores[:, system])
        ]
        path = tmp_path / "llm_summeval" / f"M{system}.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    tau = stats.kendalltau(scores.ravel(), experts.mean(axis=2).ravel()).statistic
    (tmp_path / "goldens").mkdir()
    good = {"Coh Kend.": cell(f"{tau:.3f}", round(tau, 6))}
    lacking = {"Coh Kend.": cell("0.100", 0.1)}
    golden = {"rows": {"GPT-4-RTS": good, "GPT-4-MCQ": lacking, "ROUGE-1": lacking}}
    (tmp_path / "goldens" / "llmsummeval_table4.json").write_text(json.dumps(golden), "utf-8")
    assert main(["--data", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "llmsummeval_table4: 1/1",
        "  not in the data: 1 cells: no scores of GPT-4-MCQ, 1 cells: no scores of ROUGE-1",
    ]


def test_detailed_ratings_give_the_correlation_of_raters_with_their_mean(tmp_path, capsys):
    """SummEval-OP's detailed layout: mean over raters and products, constant products count 0."""
    ratings = np.random.default_rng(5).integers(1, 6, (4, 6, 3)).astype(float)
    ratings[0, :, 1] = 3.0
    rows = [
        {"reviews": ["r"], "summaries": ["s"] * 6, "fl": product.tolist()} for product in ratings
    ]
    (tmp_path / "summeval_op.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    rho = [
        0.0 if np.ptp(product[:, rater]) == 0
        else stats.spearmanr(product[:, rater], product.mean(axis=1)).statistic
        for product in ratings for rater in range(3)
    ]  # fmt: skip
    (tmp_path / "goldens").mkdir()
    cells = {"FL rho": cell("0.80", None, reproduced=None, round1_value=round(np.mean(rho), 4))}
    golden = tmp_path / "goldens" / "summeval_op_table2_humans.json"
    golden.write_text(json.dumps({"rows": {"HUMANS": cells}}), "utf-8")
    assert main(["--data", str(tmp_path)]) == 0
    assert "summeval_op_table2_humans: 1/1" in capsys.readouterr().out
