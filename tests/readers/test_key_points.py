"""Key points in their published layouts: tables, labels, scores, three files, pairs."""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING

import pytest

from prevalence.errors import InputError
from prevalence.labelled import join_key_points, read_key_points

if TYPE_CHECKING:
    from pathlib import Path

ARGKP = """\
topic,argument,key_point,stance,label
boots,"Warm, and dry.",They are warm.,1,1
boots,"Warm, and dry.",They are light.,1,0
boots,They leak.,They leak.,-1,1
"""


def write(folder: Path, text: str, name: str = "pairs.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_argkp_columns(tmp_path: Path) -> None:
    table = read_key_points(write(tmp_path, ARGKP))
    assert table.relation == "review"
    first, second, third = table.pairs
    assert first[:5] == ("Warm, and dry.", "They are warm.", True, "boots", "1")
    assert (second.hypothesis, second.label, third.stance) == ("They are light.", False, "-1")
    assert first.comment == second.comment != third.comment
    assert first.scores == {}


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_other_delimiters_and_names_without_topic_and_stance(
    tmp_path: Path, delimiter: str
) -> None:
    rows = [["Comment", "Key Point", "Label"], ["Great staff.", "Kind staff.", "1.0"]]
    text = "".join(delimiter.join(row) + "\r\n" for row in rows)
    (pair,) = read_key_points(write(tmp_path, text, "t.tsv")).pairs
    assert pair[:5] == ("Great staff.", "Kind staff.", True, "", "")


@pytest.mark.parametrize("line", ["sep=;\r\n", '\ufeff"SEP=;"\n'])
def test_the_line_with_which_excel_states_the_delimiter(tmp_path: Path, line: str) -> None:
    text = f"{line}comment;key_point;label\nWarm, dry, light.;They are warm, dry.;1\n"
    (pair,) = read_key_points(write(tmp_path, text)).pairs
    assert pair[:3] == ("Warm, dry, light.", "They are warm, dry.", True)


@pytest.mark.parametrize(("delimiter", "scores"), [(";", {"m": 0.5}), ("|", {}), ("\t", {})])
def test_scores_with_decimal_commas(
    tmp_path: Path, delimiter: str, scores: dict[str, float]
) -> None:
    text = "comment;key_point;label;m\n4,5;4,5;1;0,5\n".replace(";", delimiter)
    (pair,) = read_key_points(write(tmp_path, text)).pairs
    assert pair.scores == scores
    assert (pair.premise, pair.hypothesis) == ("4,5", "4,5")


def test_json_lines_json_and_gzip(tmp_path: Path) -> None:
    records = [
        {"comment": "a", "key_point": "k", "label": label, "scores": {"m": score}, "topic": "t"}
        for label, score in [(1, 0.5), (0, None), (True, 1), (None, 2)]
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(lines.encode()))
    paths = [
        write(tmp_path, lines, "t.jsonl"), write(tmp_path, json.dumps(records, indent=1), "t.json"),
        packed,
    ]  # fmt: skip
    for path in paths:
        pairs = read_key_points(path).pairs
        assert [pair.label for pair in pairs] == [True, False, True, None]
        scores = [pair.scores["m"] for pair in pairs]
        assert scores[0::2] == [0.5, 1]
        assert math.isnan(scores[1])


def test_equal_comments_are_of_different_people_unless_ids_say_otherwise(tmp_path: Path) -> None:
    rows = ["Good.,A", "Good.,B", "Good.,A", "Good.,B"]
    text = "comment,key_point,label\n" + "".join(f"{row},1\n" for row in rows)
    first, second, third, fourth = read_key_points(write(tmp_path, text)).pairs
    assert first.comment == second.comment != third.comment == fourth.comment
    ids = "comment_id,comment,key_point,label\n" + "".join(f"7,{row},1\n" for row in rows)
    with pytest.raises(
        InputError, match=r"pairs.csv:4: comment '7' and key point 'A' appear twice"
    ):
        read_key_points(write(tmp_path, ids))


def test_only_columns_of_numbers_are_scores(tmp_path: Path) -> None:
    text = (
        ",comment,key_point,label,year_id,model,note,gap,empty\n"
        "0,a,k,1,1999,.5,3,,\n1,b,k,0,1999,1e-3,x,2,\n"
    )
    first, second = read_key_points(write(tmp_path, text)).pairs
    assert list(first.scores) == ["model", "gap"]
    assert (first.scores["model"], second.scores) == (0.5, {"model": 0.001, "gap": 2.0})
    assert math.isnan(first.scores["gap"])


def test_every_number_among_the_scores_is_one(tmp_path: Path) -> None:
    row = {"comment": "a", "key_point": "k", "label": 1, "valid": 1, "scores": {"hybrid": 0.5}}
    (pair,) = read_key_points(write(tmp_path, json.dumps(row) + "\n")).pairs
    assert pair.scores == {"hybrid": 0.5}


ARGUMENTS = "arg_id,argument,topic,stance\na0,Warm.,boots,1\na1,They leak.,boots,-1\n"
KEY_POINTS = (
    "key_point_id,key_point,topic,stance\n"
    "k0,They are warm.,boots,1\nk1,They are light.,boots,1\nk2,They leak.,boots,-1\n"
)
LABELS = "arg_id,key_point_id,label\na1,k2,1\na0,k1,0\n"


@pytest.fixture
def kpm(tmp_path: Path) -> Path:
    """KPM-2021's three files; the pair of a0 and k0 has no label."""
    write(tmp_path, ARGUMENTS, "arguments_dev.csv")
    write(tmp_path, KEY_POINTS, "key_points_dev.csv")
    return write(tmp_path, LABELS, "labels_dev.csv")


def test_three_files_give_every_pair_of_a_topic_and_stance(kpm: Path) -> None:
    pairs = read_key_points(kpm).pairs
    assert [(pair.premise, pair.hypothesis, pair.label, pair.stance) for pair in pairs] == [
        ("Warm.", "They are warm.", None, "1"),
        ("Warm.", "They are light.", False, "1"),
        ("They leak.", "They leak.", True, "-1"),
    ]
    assert [pair.comment for pair in pairs] == ["a0", "a0", "a1"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (LABELS + "a0,k2,1\n", "'a0' and 'k2' are not an argument and a key point of one topic"),
        (LABELS + "a0,k1,0\n", "labels_dev.csv:4: 'a0' and 'k1' appear twice"),
        (LABELS + "a0,k0,2\n", "labels_dev.csv:4: label is the string '2'; use 0, 1"),
    ],
)
def test_labels_that_fit_no_pair(kpm: Path, labels: str, message: str) -> None:
    kpm.write_text(labels)
    with pytest.raises(InputError, match=message):
        read_key_points(kpm)


def test_labels_alone_name_the_missing_files(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"put key_points_test\.csv, which has the texts, beside it"
    ):
        read_key_points(write(tmp_path, LABELS, "labels_test.csv"))
    with pytest.raises(InputError, match=r"put key_points_\*.csv"):
        read_key_points(write(tmp_path, LABELS, "gold.csv"))


THINKP = [
    {"kp1": "Soft bed.", "kp2": "Good bed.", "relation": "entailment", "nli": 0.9, "cos": 0.8},
    {"kp1": "Good bed.", "kp2": "Soft bed.", "relation": "neutral", "nli": 0.3, "cos": 0.8},
]


def test_thinkp_by_category(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps({"hotels": THINKP, "boots": THINKP[:1]}), "thinkp.json")
    table = read_key_points(path)
    assert table.relation == "sentence"
    assert [(p.premise, p.hypothesis, p.label, p.group) for p in table.pairs] == [
        ("Soft bed.", "Good bed.", True, "hotels"),
        ("Good bed.", "Soft bed.", False, "hotels"),
        ("Soft bed.", "Good bed.", True, "boots"),
    ]
    assert table.pairs[1].scores == {"nli": 0.3, "cos": 0.8}


def test_thinkp_as_a_table(tmp_path: Path) -> None:
    text = "Category\tKP_1\tKP_2\tlabel\tscore\nhotels\ta\tb\t1\t.5\nhotels\tb\ta\t0\t.4\n"
    table = read_key_points(write(tmp_path, text, "t.tsv"))
    assert [(p.group, p.premise, p.label, p.scores["score"]) for p in table.pairs] == [
        ("hotels", "a", True, 0.5), ("hotels", "b", False, 0.4),
    ]  # fmt: skip


def test_several_files_are_one_table(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, "comment,key_point,label\nx,k,1\n", f"{name}.csv") for name in "ab"
    ] + [write(tmp_path, ARGKP, "c.csv")]
    pairs = join_key_points(paths).pairs
    assert [pair.group for pair in pairs] == ["a", "b", "boots", "boots", "boots"]
    assert pairs[0].comment != pairs[1].comment
    thinkp = write(tmp_path, json.dumps(THINKP), "t.json")
    with pytest.raises(InputError, match="cannot be evaluated together"):
        join_key_points([paths[0], thinkp])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("comment,key_point,label\n", "holds no pairs"),
        ("comment,text\na,b\n", "f.csv:2: needs columns comment, key_point and label, or kp1"),
        ("comment,key_point\na,b\n", "f.csv:2: needs a column label or match"),
        ("key_point,label\na,1\n", "f.csv:2: needs a column comment or argument"),
        ("comment,key_point,label\na,,1\n", "f.csv:2: key_point must be a text, not an empty"),
        ("comment,key_point,label\na,b,.7\n", "label is the string '.7'; use 0, 1, false, true"),
        ("comment,key_point,label\na,b\n", "f.csv:2: has 2 cells, where the header names 3"),
        ("comment,key_point,label,Label\na,b,1,1\n", "f.csv:1: columns appear twice: label"),
        ('comment,key_point,label\n"a,b,1\n', "f.csv:2: a quote opened in this row"),
        ("comment,key_point,label\ra,b,1\r", "f.csv:1: header: the row cannot be read (a carr"),
        ('{"comment": "a", "key_point": 3, "label": 1}\n', "key_point must be a text, not the num"),
        ('{"comment": "a", "key_point": "k", "label": 1, "scores": 2}\n', "f.csv:1: scores is the"),
        (
            '{"comment": "a", "key_point": "k", "label": 1, "scores": {"m": "high"}}\n',
            "f.csv:1: scores.m is the string 'high'; give a number, or null",
        ),
        ('{"comment": "a", "key_point": "k", "label": 1\n', "f.csv:1: not valid JSON"),
        ("[1]", "give one object per pair"),
        (
            '[{"comment": "a", "key_point": "k", "label": 1, "label": 0}]',
            "f.csv[0]: label: appears twice in one object",
        ),
        (
            '[{"comment": "a", "key_point": "k", "label": 1, "m": NaN}]',
            "f.csv[0]: m: is not a finite number",
        ),
        (
            '[{"comment": "a", "key_point": "k", "label": 1}\n{}]',
            "f.csv[1]: line 2: expected a comma, or ] at the end of the file",
        ),
        (
            "kp1,kp2,relation\na,b,sibling\n",
            "relation is the string 'sibling'; use entailment, ent",
        ),
        ("kp1,kp2,relation\na,b,1\na,b,0\n", "f.csv:3: 'a' and 'b' appear twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_key_points(write(tmp_path, text, "f.csv"))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
