"""`prevalence meta key-points`, and `prevalence calibrate` on the same tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]


@pytest.fixture
def pairs(write: Write) -> Path:
    """ROUGE-1 precision of each pair: 1, 0, ½, 1 for the first product, likewise the second."""
    rows = [
        "they are warm boots,warm boots,1", "they are warm boots,these leak,0",
        "cold boots,warm boots,", "these leak badly,these leak,1",
    ]  # fmt: skip
    return write(
        "topic,comment,key_point,label", *(f"{topic},{row}" for topic in "ab" for row in rows),
        name="pairs.csv",
    )  # fmt: skip


ROUGE = ("--scorer", "rouge1-precision")


def test_a_scorer_is_run_and_counted(run: Run, pairs: Path) -> None:
    result = run("meta", "key-points", pairs, *ROUGE, "--format", "json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert (document["analysis"], document["settings"]["pairs"]) == ("key-points", 8)
    (row,) = document["rows"]
    assert (row["scorer"], row["average_precision"], row["strict"]) == ("rouge1-precision", 1, 1)
    assert row["threshold"] == pytest.approx(13 / 31, abs=1e-4)
    assert [topic["undecided"] for topic in row["topics"]] == [1, 1]
    # "warm boots" has one supporter of one labelled comment, "these leak" one of two.
    counts = [(k["key_point"], k["comments"], k["true"], k["predicted"]) for k in row["key_points"]]
    assert counts == [("warm boots", 1, 1, 1), ("these leak", 2, 1, 1)] * 2
    assert row["count_error"] == 0


def test_scores_of_the_table_and_thresholds_by_name(run: Run, write: Write) -> None:
    lines = ["a,x,1,.9,.1", "b,x,0,.4,.2", "c,x,1,.6,.3"]
    path = write("comment,key_point,label,one,two", *lines, name="t.csv")
    words = ("meta", "key-points", path, "--parts", "--threshold", "0.7", "--threshold", "two=.15")
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1].split() == ["x", "3", "2", "1", "2"]
    assert "3 pairs, 2 of them matches, 0 undecided" in result.stdout
    (row,) = json.loads(run(*words[:3], "--metrics", "two", "--format", "json").stdout)["rows"]
    # Ranks: .3 yes, .2 no, .1 yes: (1 + 2/3) / 2.
    assert row["average_precision"] == pytest.approx(5 / 6)


def test_a_missing_score_is_a_missing_supporter(run: Run, write: Write) -> None:
    lines = ["a,k,1,.9,.9", "b,k,1,.8,", "c,k,1,.7,", "d,k,0,.1,.1", "a,l,1,.9,", "b,l,0,.1,"]
    path = write("comment,key_point,label,full,part", *lines, name="t.csv")
    shown = run("meta", "key-points", path, "--parts").stdout
    # Of k three and of l one; part finds one and none: (2 + 1) / 2.
    assert [line.split() for line in shown.splitlines()[-2:]] == [
        ["k", "4", "3", "3", "1"], ["l", "2", "1", "1", "0"],
    ]  # fmt: skip
    assert "part: 4 labelled pairs without a score, no match in counts" in shown
    part = json.loads(run("meta", "key-points", path, "--format", "json").stdout)["rows"][1]
    assert (part["count_error"], part["count_bias"], part["unscored"]) == (1.5, -1.5, 4)


def test_pairs_of_key_points_have_no_best_one(run: Run, write: Write) -> None:
    lines = ["h,soft bed,good bed,entailment,.9", "h,good bed,soft bed,neutral,.3"]
    path = write("category,kp1,kp2,relation,nli", *lines, name="thinkp.csv")
    (row,) = json.loads(run("meta", "key-points", path, "--format", "json").stdout)["rows"]
    assert row["average_precision"] == 1.0
    assert {"strict", "relaxed"}.isdisjoint({*row, *row["topics"][0]})
    assert "strict" not in run("meta", "key-points", path).stdout


def test_intervals_in_the_table_and_the_record(run: Run, write: Write) -> None:
    # Average precision 1 in topics a and 1/2 in b; nobody makes the key point by its score in b.
    lines = [
        line
        for n in range(3)
        for line in (f"a{n},x,k,1,.9", f"a{n},y,k,0,.2", f"b{n},x,k,1,.1", f"b{n},y,k,0,.3")
    ]
    path = write("topic,comment,key_point,label,one", *lines, name="t.csv")
    words = ("meta", "key-points", path, "--bootstrap", "topics", "--resamples", "300")
    shown = run(*words).stdout
    assert "0.750 [0.500, 1.000]" in shown
    assert "topics and stances drawn with replacement" in shown
    document = json.loads(run(*words, "--format", "json").stdout)
    (row,) = document["rows"]
    assert (row["average_precision_low"], row["average_precision_high"]) == (0.5, 1.0)
    assert (row["count_error_low"], row["count_bias_high"]) == (0.0, 0.0)
    settings = document["settings"]
    assert (settings["bootstrap"], settings["resamples"], settings["confidence"]) == (
        "topics", 300, 0.95,
    )  # fmt: skip
    assert "[" not in run(*words[:3]).stdout
    few = write("topic,comment,key_point,label,one", *lines[:4], name="few.csv")
    shown = run("meta", "key-points", few, "--bootstrap", "topics").stdout
    assert "below 6 topics and stances there are no intervals" in shown
    assert "[" not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "the inputs hold no scores: name a scorer with --scorer"),
        (("--metrics", "x"), "no score 'x' in the inputs; there are: none"),
        ((*ROUGE, "--threshold", "y=.5"), "--threshold: 'y' is none of rouge1-precision"),
        ((*ROUGE, "--threshold", "nan"), "--threshold takes a number or NAME=NUMBER, not 'nan'"),
        ((*ROUGE, "--threshold", "much"), "--threshold takes a number or NAME=NUMBER"),
        ((*ROUGE, "--output", "o.xyz"), "cannot tell the format from the suffix .xyz"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    run: Run, pairs: Path, words: tuple[str, ...], message: str
) -> None:
    result = run("meta", "key-points", pairs, *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_one_of_a_kind_is_in_the_singular(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("comment,key_point,label,m,n\na,k,1,.5,\nb,k,0,.1,.2\n", encoding="utf-8")
    shown = run("meta", "key-points", path).stdout
    assert "0 undecided; 1 key point, 1 topic and stance\n" in shown
    assert "n: 1 labelled pair without a score, no match in counts\n" in shown


def test_a_file_under_two_names_is_refused(run: Run, pairs: Path) -> None:
    again = pairs.with_name("again.csv")
    again.symlink_to(pairs)
    refused = run("meta", "key-points", pairs, again, *ROUGE)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"{again}: is given twice" in refused.stderr


def test_calibrate_takes_the_table(run: Run, pairs: Path) -> None:
    result = run("calibrate", pairs, *ROUGE, "--resamples", "20", "--trials", "20", "--json")
    assert result.exit_code == 0, result.stderr
    dev = json.loads(result.stdout)["dev"]
    # The two undecided pairs are none.
    assert (dev["n"], dev["positives"], dev["products"], dev["auc"]) == (6, 4, 2, 1.0)


def test_calibrate_says_which_relation_key_points_have(run: Run, write: Write) -> None:
    lines = ["h,soft bed,good bed,1", "h,good bed,soft bed,0"]
    path = write("category,kp1,kp2,relation", *lines, name="thinkp.csv")
    result = run("calibrate", path, *ROUGE)
    assert result.exit_code == 2
    assert "it has 2 of 'sentence' (--relation)" in result.stderr
