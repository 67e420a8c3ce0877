import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prevalence.errors import InputError
from prevalence.labelled import JudgedPairs, LabelMode, Target, parse_target, read_documents


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("label", "target"),
    [
        (1, Target(1, 0, 0, True)),
        (0, Target(0, 1, 0, True)),
        (0.25, Target(0.25, 0.75, 0, True)),
        ("Entailment", Target(1, 0, 0, False)),
        ("c", Target(0, 0, 1, False)),
        ("not_entailment", Target(0, 1, 0, True)),
        ([0.5, 0.25, 0.25], Target(0.5, 0.25, 0.25, False)),
        ("1", Target(1, 0, 0, True)),
        (" 0.0", Target(0, 1, 0, True)),
        ("0.25", Target(0.25, 0.75, 0, True)),
        ("YES", Target(1, 0, 0, True)),
        ("no", Target(0, 1, 0, True)),
        ("True", Target(1, 0, 0, True)),
        ("false", Target(0, 1, 0, True)),
        ("Supported", Target(1, 0, 0, True)),
        ("not supported", Target(0, 1, 0, True)),
        ("not_supported", Target(0, 1, 0, True)),
        ("unsupported", Target(0, 1, 0, True)),
        ([0.332, 0.332, 0.332], Target(1 / 3, 1 / 3, 1 / 3, False)),  # written with few digits
    ],
)
def test_label_spellings(label: object, target: Target) -> None:
    found = parse_target(label, "f:1")
    assert found[:3] == pytest.approx(target[:3])
    assert found.binary == target.binary


@pytest.mark.parametrize(
    "label",
    ["maybe", "2", "inf", 2, -1, None, [0.5, 0.5], [0.9, 0.9, 0.9], [10**399, 0, 0], [2, -1, 0]],
)
def test_bad_label_names_its_place(label: object) -> None:
    with pytest.raises(InputError, match="f:7"):
        parse_target(label, "f:7")


def test_review_with_workers_soft_and_majority(tmp_path: Path) -> None:
    record = {
        "product_id": "p", "review": "r", "sentences": ["a", "b"], "labels": [1, 0],
        "worker_labels": [[1, 0], [1, 1], [0, 0]],
    }  # fmt: skip
    path = write(tmp_path / "d.jsonl", record)
    (majority,) = read_documents(path)
    (soft,) = read_documents(path, labels="soft")
    assert [t.entailment for t in majority.targets] == [1, 0]
    assert [t.entailment for t in soft.targets] == pytest.approx([2 / 3, 1 / 3])
    assert all(t.binary for t in soft.targets)
    assert soft.group == "p"


def test_grouped_product_gives_reviews_and_a_product_statement(tmp_path: Path) -> None:
    record = {
        "id": "x", "domain": "home", "name": "red mug", "reviews": ["r1", "r2"],
        "sentences": ["a", "b"], "labels": [[1, 0], [0, 0]], "trivial": "It is a mug.",
    }  # fmt: skip
    first, second, product = read_documents(write(tmp_path / "g.jsonl", record))
    assert [t.entailment for t in first.targets] == [1, 0]
    assert [t.entailment for t in second.targets] == [0, 0]
    assert (product.premise, product.relation) == ("I bought a red mug.", "product")
    assert product.hypotheses == ("It is a mug.", "a", "b")
    assert product.targets == (Target(1, 0, 0, False), *[Target(0, 1, 0, False)] * 2)


def test_threeway_file_splits_the_negatives(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl", {"id": "x", "review": "r", "statements": ["a", "b"], "labels": [0, 1]}
    )
    split = write(tmp_path / "t.jsonl", {"id": "x", "labels": ["c", "e"]})
    (document,) = read_documents(path, threeway=split)
    assert document.targets == (Target(0, 0, 1, False), Target(1, 0, 0, False))


def test_a_threeway_file_of_other_records_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", STATEMENTS | {"id": "x"}, STATEMENTS)
    split = write(tmp_path / "t.jsonl", *({"id": name, "labels": ["c"]} for name in ("x", "y")))
    with pytest.raises(InputError, match=r"t\.jsonl:2: id 'y' belongs to no record"):
        read_documents(path, threeway=split)
    released = write(tmp_path / "r.jsonl", {"problem": "p:0:0", "worker": "w", "answers": [1]})
    with pytest.raises(InputError, match=r"records of .*r\.jsonl have no id to be split by"):
        read_documents(released, threeway=split)


def test_pairs_keep_their_relation(tmp_path: Path) -> None:
    record = {
        "premise": "p", "hypothesis": "h", "label": "neutral", "relation": "sentence-sentence",
    }  # fmt: skip
    first, *others = read_documents(
        write(tmp_path / "p.jsonl", record, record | {"relation": None}, PAIR)
    )
    assert first.relation == "sentence"
    assert [document.relation for document in others] == ["review", "review"]


PAIR = {"premise": "p", "hypothesis": "h", "label": 1}
REVIEW = {"review": "r", "sentences": ["a"], "labels": [1]}
STATEMENTS = {"review": "r", "statements": ["a"], "labels": [1]}
GROUPED = {"name": "n", "reviews": ["r"], "sentences": ["a"], "labels": [[1]], "trivial": "t"}
LAYOUTS = (PAIR, REVIEW, STATEMENTS, GROUPED, {"reviews": ["r"]})


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("names", "group"),
    [
        ({"group": "g"}, "g"),
        ({"product_id": "p7"}, "p7"),
        ({"id": "x"}, "x"),
        ({"id": 12}, "12"),
        ({"group": None, "product_id": "p7", "id": "x"}, "p7"),
        ({"id": "x", "product_id": "p7", "group": "g"}, "g"),
    ],
)
def test_every_layout_names_its_product_alike(
    tmp_path: Path, layout: dict[str, object], names: dict[str, object], group: str
) -> None:
    documents = read_documents(write(tmp_path / "d.jsonl", layout | names))
    assert {document.group for document in documents} == {group}


def test_records_without_product_go_together_by_their_review(tmp_path: Path) -> None:
    for layout in LAYOUTS:
        path = write(tmp_path / "d.jsonl", layout, layout)
        groups = {document.group for document in read_documents(path)}
        # Those of several reviews stand alone.
        review = layout.get("premise", layout.get("review"))
        assert groups == ({review} if review else {f"{path}:1", f"{path}:2"})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_product_of_another_type_is_refused(tmp_path: Path, layout: dict[str, object]) -> None:
    path = write(tmp_path / "d.jsonl", layout | {"product_id": ["p"]})
    with pytest.raises(InputError, match=r"d\.jsonl:1: field 'product_id' must be a string or"):
        read_documents(path)


@pytest.mark.parametrize("relation", ["revue", "Review", "", 1])
def test_an_unknown_relation_is_refused(tmp_path: Path, relation: object) -> None:
    path = write(tmp_path / "d.jsonl", PAIR, PAIR | {"relation": relation})
    with pytest.raises(InputError, match=r"d\.jsonl:2: relation .*: choose review, product, sent"):
        read_documents(path)


def test_unlabelled_reviews_have_no_hypotheses(tmp_path: Path) -> None:
    path = write(tmp_path / "u.jsonl", {"product_id": "p", "reviews": ["one", {"text": "two"}]})
    assert [(d.premise, d.hypotheses) for d in read_documents(path)] == [("one", ()), ("two", ())]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"premise": "p", "hypothesis": "h"}, "'label' is missing"),
        ({"premise": "", "hypothesis": "h", "label": 1}, "'premise' must be a non-empty"),
        ({"review": "r", "sentences": ["a"], "labels": [1, 0]}, "expected 1 labels"),
        ({"reviews": ["r"], "sentences": ["a"], "labels": []}, "expected 1 rows"),
        ({"text": "r"}, "none of the known layouts"),
        (["r"], "expected a JSON object"),
    ],
)
def test_bad_record_names_line_and_fault(tmp_path: Path, record: object, message: str) -> None:
    good = {"premise": "p", "hypothesis": "h", "label": 1}
    path = write(tmp_path / "d.jsonl", good, record)
    with pytest.raises(InputError, match=message) as caught:
        read_documents(path)
    assert "d.jsonl:2" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_number_of_too_many_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"premise": "p", "hypothesis": "h", "label": ' + "1" * 5_000 + "}\n")
    with pytest.raises(InputError, match=r"d\.jsonl:1: not valid JSON \(an integer has too many"):
        read_documents(path)


def test_summaries_are_texts_or_objects_with_one(tmp_path: Path) -> None:
    written = {"a": "It is soft.", "b": {"text": "It is warm.", "claims": ["x"]}, "c": None,
               "d": {"text": ""}}  # fmt: skip
    path = write(tmp_path / "u.jsonl", {"reviews": ["Good."], "summaries": written})
    (document,) = read_documents(path, summaries=["a", "b", "c", "d", "absent"])
    assert document.unlabelled == ("It is soft.", "It is warm.")


@pytest.mark.parametrize(
    ("written", "found"), [(["It is soft."], "list"), ({"claims": []}, "dict"), (7, "int")]
)
def test_summaries_of_other_types_are_refused(tmp_path: Path, written: object, found: str) -> None:
    path = write(tmp_path / "u.jsonl", {"reviews": ["Good."], "summaries": {"a": written}})
    with pytest.raises(InputError, match=rf"u\.jsonl:1: summary of 'a': give a text.*not {found}$"):
        read_documents(path, summaries=["a"])


def test_a_long_review_names_its_group_in_few_characters(tmp_path: Path) -> None:
    long = ["It is dry. " * 2_000, "It is dry. " * 2_001]
    pairs = [{"premise": p, "hypothesis": h, "label": 1} for p in long for h in ("a", "b")]
    groups = JudgedPairs.of(read_documents(write(tmp_path / "d.jsonl", *pairs))).groups
    assert groups[0] == groups[1] != groups[2] == groups[3]
    assert all(group.startswith("It is dry. It is dry.") for group in groups)
    assert groups.itemsize <= 64 * np.dtype("U1").itemsize


def test_missing_and_empty_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no.jsonl: no such file"):
        read_documents(tmp_path / "no.jsonl")
    with pytest.raises(InputError, match="holds no records"):
        read_documents(write(tmp_path / "e.jsonl"))


def test_workers_without_a_majority_give_it(tmp_path: Path) -> None:
    record = {"review": "r", "sentences": ["a", "b"], "worker_labels": [[1, 0], [1, 1]]}
    (document,) = read_documents(write(tmp_path / "d.jsonl", record))
    # A tie is no majority.
    assert [target.entailment for target in document.targets] == [1, 0]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"review": "r", "sentences": ["a"]}, "'labels' is missing, and 'worker_labels' as well"),
        ({"review": "r", "sentences": ["a", ""], "labels": [1, 0]}, r"sentences\[1\] must be"),
        ({"review": "r", "sentences": [None], "labels": [1]}, r"sentences\[0\] must be"),
        ({"reviews": [7], "sentences": ["a"], "labels": [[1]]}, "'text' must be"),
        ({"review": "r", "sentences": ["a"], "labels": [1], "worker_labels": [3]}, "found int"),
    ],
)
def test_texts_and_labels_of_other_types_are_refused(
    tmp_path: Path, record: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_documents(write(tmp_path / "d.jsonl", record))


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"premise": "one\u2028two", "hypothesis": "h", "label": 1}\n', "utf-8")
    assert read_documents(path)[0].premise == "one\u2028two"


def test_gzipped_records_are_read(tmp_path: Path) -> None:
    plain = write(tmp_path / "d.jsonl", {"premise": "p", "hypothesis": "h", "label": 1})
    packed = tmp_path / "d.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_documents(packed) == read_documents(plain)


def test_products_beside_records_with_texts_are_refused_if_asked(tmp_path: Path) -> None:
    whole = {"product_id": "p", "reviews": ["r"], "sentences": ["a"], "labels": [[1]]}
    bare = {key: value for key, value in whole.items() if key != "reviews"}
    products = write(tmp_path / "p.jsonl", whole)
    own, mixed = write(tmp_path / "o.jsonl", whole), write(tmp_path / "m.jsonl", whole, bare)
    assert len(read_documents(own, products=products)) == 1
    assert len(read_documents(mixed, products=products, refuse_unused=True)) == 2
    with pytest.raises(InputError, match=r"p.jsonl: all records of .*o.jsonl hold their own texts"):
        read_documents(own, products=products, refuse_unused=True)


RELATED = {
    "product_id": "x", "category": "home", "name": "red mug", "reviews": ["r"],
    "sentences": ["a", "b", "c"], "labels": [[1, 0, 0]],
}  # fmt: skip


def test_grouped_sentences_are_related_to_one_another(tmp_path: Path) -> None:
    record = {**RELATED, "implies": [[0, 1]], "contradicts": [[2, 0]], "follows_from_name": [1]}
    review, product, *sentences = read_documents(write(tmp_path / "g.jsonl", record))
    assert (review.relation, review.domain) == ("review", "home")
    assert (product.premise, product.hypotheses) == ("I bought a red mug.", ("a", "b", "c"))
    assert [t.entailment for t in product.targets] == [0, 1, 0]
    assert [(d.premise, d.hypotheses) for d in sentences] == [
        ("a", ("b", "c")), ("b", ("a", "c")), ("c", ("a", "b")),
    ]  # fmt: skip
    assert {d.relation for d in sentences} == {"sentence"}
    found = [[tuple(t[:3]) for t in d.targets] for d in sentences]
    yes, neither, no = (1, 0, 0), (0, 1, 0), (0, 0, 1)
    # Implication has a direction, contradiction has none.
    assert found == [[yes, no], [neither, neither], [no, neither]]
    assert not any(target.binary for d in sentences for target in d.targets)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"implies": [[0, 3]]}, r"'implies': \[0, 3\] is not two places of sentences"),
        ({"implies": [[1, 1]]}, "is not two places"),
        ({"implies": [[True, 1]]}, "is not two places"),
        ({"contradicts": [0, 1]}, "'contradicts': 0 is not two places"),
        ({"follows_from_name": ["0"]}, "'follows_from_name': '0' is not a place of a sentence"),
    ],
)
def test_relations_of_no_sentences_are_refused(
    tmp_path: Path, fields: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_documents(write(tmp_path / "g.jsonl", {**RELATED, **fields}))


@pytest.mark.parametrize("name", ["review_pairs_real.jsonl", "review_pairs_hard.jsonl"])
def test_labelled_pairs_of_both_files_and_their_relations(shared_data: Path, name: str) -> None:
    documents = read_documents(shared_data / name)
    pairs = {r: sum(len(d.targets) for d in documents if d.relation == r)
             for r in ("review", "product", "sentence")}  # fmt: skip
    real = name == "review_pairs_real.jsonl"
    assert pairs["review"] == (34_048 if real else 14_448)
    implied = sum(t.entailment for d in documents if d.relation == "sentence" for t in d.targets)
    assert implied == (2_731 if real else 419)


def test_labels_of_reviews_that_lie_in_another_file(tmp_path: Path) -> None:
    product = {"product_id": "p1", "name": "mug", "category": "home", "reviews": ["Red.", "Big."]}
    labels = {
        "product_id": "p1", "sentences": ["It is red.", "A mug."], "labels": [[1, 0], [0, 0]],
        "follows_from_name": [1],
    }  # fmt: skip
    beside, file = tmp_path / "products.jsonl", tmp_path / "labels.jsonl"
    beside.write_text(json.dumps(product), encoding="utf-8")
    file.write_text(json.dumps(labels), encoding="utf-8")
    *reviews, bought = read_documents(file, products=beside)
    assert [document.premise for document in reviews] == ["Red.", "Big."]
    assert {document.domain for document in reviews} == {"home"}
    assert bought.premise == "I bought a mug."
    assert [target.entailment for target in bought.targets] == [0.0, 1.0]
    file.write_text(json.dumps(labels | {"product_id": "p2"}), encoding="utf-8")
    with pytest.raises(InputError, match=r"labels.jsonl:1: .*holds no product 'p2'"):
        read_documents(file, products=beside)


def test_labels_of_single_reviews_that_lie_in_another_file(tmp_path: Path) -> None:
    reviews = [{"review_id": "a", "review": "Red."}, {"review_id": "b", "review": "Big."}]
    labels = {
        "product_id": "p1", "name": "mug", "review_ids": ["b", "a"],
        "sentences": ["It is red."], "labels": [[0], [1]],
    }  # fmt: skip
    beside, file = tmp_path / "reviews.jsonl", tmp_path / "labels.jsonl"
    beside.write_text("\n".join(map(json.dumps, reviews)), encoding="utf-8")
    file.write_text(json.dumps(labels), encoding="utf-8")
    read = read_documents(file, products=beside)
    assert [(d.premise, d.targets[0].entailment) for d in read] == [("Big.", 0.0), ("Red.", 1.0)]
    assert {document.group for document in read} == {"p1"}
    file.write_text(json.dumps(labels | {"review_ids": ["b", "c"]}), encoding="utf-8")
    with pytest.raises(InputError, match=r"labels.jsonl:1: .*holds no review 'c'"):
        read_documents(file, products=beside)


@pytest.mark.parametrize(
    ("change", "split", "mode", "told"),
    [
        ({}, ["n", "e"], "majority", "label of 'b' do not agree on entailment"),
        ({"labels": [1, 0]}, ["n", "c"], "majority", "label of 'a' do not agree on entailment"),
        ({"worker_labels": [[1, 0]]}, ["e", "c"], "soft", "changes no label of this record"),
    ],
)
def test_a_threeway_file_that_says_otherwise_or_nothing_is_refused(
    change: dict[str, Any], split: list[str], mode: LabelMode, told: str, tmp_path: Path
) -> None:
    record = {"id": "x", "review": "r", "statements": ["a", "b"], "labels": [0, 0]} | change
    path = write(tmp_path / "s.jsonl", record)
    beside = write(tmp_path / "t.jsonl", {"id": "x", "labels": split})
    with pytest.raises(InputError, match=rf"s\.jsonl:1: .*t\.jsonl .*{told}"):
        read_documents(path, labels=mode, threeway=beside)


def test_products_are_for_the_records_without_texts_alone(tmp_path: Path) -> None:
    pair = {"premise": "p", "hypothesis": "h", "label": 1, "group": "g"}
    bare = {"product_id": 5, "sentences": ["It is red."], "labels": [[1]]}
    products = write(tmp_path / "p.jsonl", {"product_id": 5, "reviews": ["Red."]})
    path = write(tmp_path / "m.jsonl", pair, bare)
    assert [d.premise for d in read_documents(path, products=products)] == ["p", "Red."]
    named = write(tmp_path / "n.jsonl", bare | {"product_id": None})
    with pytest.raises(InputError, match=r"n\.jsonl:1: .*'product_id' must be a string or whole"):
        read_documents(named, products=products)


def test_an_unknown_label_is_told_every_form() -> None:
    with pytest.raises(InputError, match=r"'maybe'.*entailment, .*1 or 0, .*yes or no, supported"):
        parse_target("maybe", "f:7")


YES, NEITHER, NO = Target(1, 0, 0, False), Target(0, 1, 0, False), Target(0, 0, 1, False)


@pytest.mark.parametrize(
    ("votes", "target"),
    [
        ("eec", YES),
        ("ecc", NO),
        ("enn", NEITHER),
        ("ccn", NO),
        # A tie is no entailment; of the other two, a tie is no contradiction.
        ("eecc", NO),
        ("eenc", NEITHER),
        ("enc", NEITHER),
        ([1, 0, 0], Target(0, 1, 0, True)),
        (["e", "c", 0], Target(0, 1, 0, True)),
        (["e", "e", 0], Target(1, 0, 0, True)),
    ],
)
def test_the_majority_keeps_three_classes_where_annotators_have_three(
    tmp_path: Path, votes: Any, target: Target
) -> None:
    pair = {"premise": "p", "hypothesis": "h", "worker_labels": list(votes)}
    review = {"review": "p", "sentences": ["h"], "worker_labels": [[vote] for vote in votes]}
    found = read_documents(write(tmp_path / "d.jsonl", pair, review))
    assert [document.targets for document in found] == [(target,)] * 2


def test_a_pair_may_have_annotators(tmp_path: Path) -> None:
    votes = {"premise": "p", "hypothesis": "h", "worker_labels": [1, 1, 0], "relation": "sentence"}
    records = (votes, votes | {"label": 0})
    path = write(tmp_path / "d.jsonl", *records)
    majority, labelled = read_documents(path)
    assert majority.votes == labelled.votes == ((1.0,), (1.0,), (0.0,))
    assert majority.relation == "sentence"
    assert [d.targets[0].entailment for d in (majority, labelled)] == [1, 0]
    soft = read_documents(path, labels="soft")
    assert [d.targets[0].entailment for d in soft] == pytest.approx([2 / 3, 2 / 3])
    with pytest.raises(InputError, match=r"e\.jsonl:1: field 'worker_labels' must be a list"):
        read_documents(write(tmp_path / "e.jsonl", votes | {"worker_labels": {"w": 1}}))


@pytest.mark.parametrize("column", ["worker", "Annotator", "rater_id", "WorkerId"])
@pytest.mark.parametrize("ids", ["", "1", "rows", "rows but one"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_rows_of_several_annotators_are_one_pair(
    tmp_path: Path, column: str, ids: str, form: str
) -> None:
    votes = [("a", "w1", "1"), ("a", "w2", "0"), ("b", "w1", "no"), ("a", "w3", "yes"),
             ("b", "w3", "")]  # fmt: skip
    rows = [
        {"premise": "p", "hypothesis": text, column: who, "label": label, "product_id": "g"}
        | ({"id": ids if ids == "1" else str(place)} if ids else {})
        for place, (text, who, label) in enumerate(votes)
    ]
    if ids == "rows but one":
        rows[2]["id"] = rows[0]["id"]
    path = tmp_path / f"d.{form}"
    if form == "jsonl":
        write(path, *rows)
    else:
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        path.write_text("\n".join(lines), encoding="utf-8")
    first, second = read_documents(path)
    assert (first.hypotheses, second.hypotheses) == (("a",), ("b",))
    assert (first.votes, second.votes) == (((1.0,), (0.0,), (1.0,)), ((0.0,), (None,)))
    assert [one.targets[0].entailment for one in (first, second)] == [1, 0]
    assert {first.group, second.group} == {"g"}
    assert read_documents(path, labels="soft")[0].targets[0].entailment == pytest.approx(2 / 3)


def test_what_no_second_annotator_has_labelled_is_not_gathered(tmp_path: Path) -> None:
    pair = {"premise": "p", "hypothesis": "h", "worker": 0, "label": 1}
    others = [pair | {"label": 0}, pair | {"group": "g"}, pair | {"relation": "product"}]
    alone = read_documents(write(tmp_path / "d.jsonl", pair, *others))
    assert [(one.votes, len(one.targets)) for one in alone] == [((), 1)] * 4
    path = write(tmp_path / "e.jsonl", pair, *others, pair | {"worker": "w2"}, {"reviews": ["r"]})
    found = read_documents(path)
    assert [len(one.votes) for one in found] == [2, 1, 1, 1, 0]
    bad = write(tmp_path / "f.jsonl", pair, pair | {"worker": "w2", "label": "maybe"})
    with pytest.raises(InputError, match=r"f\.jsonl:2: unknown label 'maybe'"):
        read_documents(bad)


@pytest.mark.parametrize("missing", [None, "", " ", "nan", "null", float("nan")])
def test_pairs_without_a_label_are_unlabelled(tmp_path: Path, missing: object) -> None:
    pair = {"premise": "r", "hypothesis": "b", "label": missing}
    review = {"review": "r", "sentences": ["a", "b"], "labels": [1, missing]}
    product = {"reviews": ["r"], "sentences": ["a", "b"], "labels": [[1, missing]]}
    votes = {"premise": "r", "hypothesis": "b", "worker_labels": [missing, missing]}
    none = {"premise": "r", "hypothesis": "b", "worker_labels": []}
    path = write(tmp_path / "d.jsonl", pair, review, product, votes, none)
    found = read_documents(path)
    assert [document.unlabelled for document in found] == [("b",)] * 5
    assert [document.hypotheses for document in found] == [(), ("a",), ("a",), (), ()]
    assert len(JudgedPairs.of(found)) == 2


def test_annotators_may_have_judged_a_part(tmp_path: Path) -> None:
    record = {
        "review": "r", "sentences": ["a", "b", "c"],
        "worker_labels": [[1, None, None], [None, 0, None], [1, "", None]],
    }  # fmt: skip
    path = write(tmp_path / "d.jsonl", record, record | {"labels": [None, 1, 0]})
    counted, labelled = read_documents(path)
    assert (counted.hypotheses, counted.unlabelled) == (("a", "b"), ("c",))
    assert counted.votes == ((1.0, None), (None, 0.0), (1.0, None))
    assert [target.entailment for target in counted.targets] == [1, 0]
    # A label counts before the votes, which stand in where there is none.
    assert [target.entailment for target in labelled.targets] == [1, 1, 0]
    soft = read_documents(path, labels="soft")[1]
    assert [target.entailment for target in soft.targets] == [1, 0, 0]


def test_a_split_has_labels_for_the_statements_of_the_record(tmp_path: Path) -> None:
    record = {"id": "x", "review": "r", "statements": ["a", "b"], "labels": [0, None]}
    split = write(tmp_path / "t.jsonl", {"id": "x", "labels": ["c", "n"]})
    with pytest.raises(InputError, match="do not have labels for the same statements"):
        read_documents(write(tmp_path / "s.jsonl", record), threeway=split)


def test_an_empty_group_names_no_product(tmp_path: Path) -> None:
    documents = read_documents(write(tmp_path / "d.jsonl", PAIR | {"group": " ", "id": 7}))
    assert documents[0].group == "7"
