"""Key points as labelled documents: comments with what people agreed on, and what they did not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prevalence.errors import InputError
from prevalence.labelled import JudgedPairs, read_documents

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "topic,comment,key_point,label\nt,a,x,1\nt,b,x,0\nt,a,y,\n"


def test_a_comment_is_a_premise_and_undecided_pairs_are_unlabelled(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_text(TABLE)
    first, second = read_documents(path)
    assert (first.premise, first.hypotheses, first.unlabelled) == ("a", ("x",), ("y",))
    assert (second.premise, second.group, second.relation) == ("b", "t", "review")
    judged = JudgedPairs.of([first, second])
    assert judged.pairs == [("a", "x"), ("b", "x")]
    assert judged.labels.tolist() == [True, False]


def test_without_a_topic_the_pairs_of_a_comment_go_together(tmp_path: Path) -> None:
    path = tmp_path / "k.jsonl"
    records = [{"comment": "a", "key_point": key, "label": 1} for key in "xy"]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    (document,) = read_documents(path)
    assert (document.group, document.hypotheses) == ("a", ("x", "y"))


def test_pairs_of_key_points_are_of_the_relation_sentence(tmp_path: Path) -> None:
    path = tmp_path / "thinkp.json"
    pairs = [{"kp1": "soft bed", "kp2": "good bed", "relation": "entailment", "nli": 0.9}]
    path.write_text(json.dumps({"hotels": pairs}, indent=1))
    (document,) = read_documents(path)
    assert (document.relation, document.group) == ("sentence", "hotels")


def test_other_layouts_are_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "k.jsonl"
    path.write_text('{"premise": "a", "hypothesis": "b", "label": 1, "key_points": []}\n')
    assert read_documents(path)[0].premise == "a"


def test_a_file_beside_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_text(TABLE)
    with pytest.raises(InputError, match=r"gold.csv: .*k.csv holds key points with their texts"):
        read_documents(path, products=tmp_path / "gold.csv")


def test_a_table_of_other_pairs_is_told_where_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,label\na,b,1\n")
    said = r"pairs.csv:2: .*there are: premise, hypothesis, label; .* read from JSON Lines alone"
    with pytest.raises(InputError, match=said):
        read_documents(path)
