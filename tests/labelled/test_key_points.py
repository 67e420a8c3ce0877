"""Key points as labelled documents: comments with what people agreed on, and what they did not."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from prevalence.errors import InputError
from prevalence.labelled import JudgedPairs, Target, read_documents

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
    with pytest.raises(InputError, match=r"gold.csv: .*k.csv is a table with its texts"):
        read_documents(path, products=tmp_path / "gold.csv")


def test_a_table_of_other_columns_is_told_what_tables_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("premise,other,label\na,b,1\n")
    said = r"pairs.csv:2: .*there are: premise, other, label; .* tables with premise, hypothesis"
    with pytest.raises(InputError, match=said):
        read_documents(path)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (
            "product,review,sentence,label",
            "rename review to premise, sentence to hypothesis, product to group; there are: "
            "product, review, sentence, label",
        ),
        ("premise,claim,label", "rename claim to hypothesis; there are"),
        (
            "id,source,claim,gold",
            "rename source to premise, claim to hypothesis, gold to label; there are",
        ),
        ("Review,Claim,by", "rename review to premise, claim to hypothesis and add a column label"),
    ],
)
def test_pairs_under_other_names_are_told_what_to_rename(
    tmp_path: Path, header: str, said: str
) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"{header}\n{header}\n")
    needed = f"{path}: needs columns premise, hypothesis and label; {said}"
    with pytest.raises(InputError, match=re.escape(needed)):
        read_documents(path)


def test_key_points_with_columns_of_pairs_stay_key_points(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_text("comment,key_point,label,premise,hypothesis\na,b,1,x,y\n")
    (document,) = read_documents(path)
    assert (document.premise, document.hypotheses) == ("a", ("b",))


@pytest.mark.parametrize(("row", "field"), [(",b,1", "premise"), ("a,,1", "hypothesis")])
def test_an_empty_text_in_a_table_of_pairs_is_named(tmp_path: Path, row: str, field: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"premise,hypothesis,label\na,b,0\n{row}\n")
    with pytest.raises(InputError, match=f"pairs.csv:3: field '{field}' must be a non-empty"):
        read_documents(path)


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.txt"])
def test_a_table_of_pairs_is_read_like_the_pair_layout(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(
        "Premise;hypothesis;label;group;relation\n"
        "a;x;1,0;g;\na;y;contradiction;;sentence\nb;x;0,25;g;review\nb;y;;g;\n"
    )
    found = read_documents(path)
    assert [d.targets for d in found] == [
        (Target(1, 0, 0, True),), (Target(0, 0, 1, False),), (Target(0.25, 0.75, 0, True),), (),
    ]  # fmt: skip
    assert [d.group for d in found] == ["g", "a", "g", "g"]
    assert [d.relation for d in found] == ["review", "sentence", "review", "review"]
    assert found[3].unlabelled == ("y",)
    path.write_text("premise;hypothesis\na;x\n")
    with pytest.raises(InputError, match=rf"{name}:2: field 'label' is missing"):
        read_documents(path)


def test_labels_of_key_points_have_the_forms_of_other_pairs(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    forms = ["1,0", "Yes", "TRUE", "supported", "entailment", "0,0", "no", "not supported",
             "unsupported", "neutral", "contradiction", "not_entailment"]  # fmt: skip
    rows = "".join(f"c{place};k;{form}\n" for place, form in enumerate(forms))
    path.write_text(f"comment;key_point;label\n{rows}")
    targets = [document.targets[0] for document in read_documents(path)]
    assert [target.entailment for target in targets] == [1] * 5 + [0] * 7
    # Named relations keep all three classes.
    three = [form for form, target in zip(forms, targets, strict=True) if not target.binary]
    assert three == ["entailment", "neutral", "contradiction"]
    assert targets[10] == Target(0, 0, 1, False)
