"""ReviewNLI's released answers joined to the texts, and other forms of the same judgments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from prevalence.calibration.annotators import worker_figures
from prevalence.errors import InputError
from prevalence.labelled import JudgedPairs, read_documents

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "\t".join(["cat", "prod_id", *(f"rev{n}" for n in range(1, 9)), "summ1", "summ2", "summ3"])


@pytest.fixture
def products(tmp_path: Path) -> Path:
    """Two products in Copycat's layout; the first summary has two sentences."""
    lines = [HEADER]
    for name in ("A1", "B2"):
        reviews = [f"{name} review {n}." for n in range(8)]
        lines.append("\t".join(["home", name, *reviews, "It is warm. It leaks.", "Good.", "Bad."]))
    path = tmp_path / "gold.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def write(tmp_path: Path, *records: object) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def answer(problem: str, answers: object, worker: str = "majority") -> dict[str, object]:
    return {"problem": problem, "answers": answers, "worker": worker}


def test_answers_meet_their_texts(tmp_path: Path, products: Path) -> None:
    path = write(tmp_path, answer("B2:3:0", [1, 0]), answer("A1:0:1", [0]))
    first, second = read_documents(path, products=products)
    assert (first.premise, first.hypotheses) == ("B2 review 3.", ("It is warm.", "It leaks."))
    assert [target.entailment for target in first.targets] == [1, 0]
    assert (first.group, first.domain, first.votes) == ("B2", "home", ())
    assert (second.premise, second.hypotheses) == ("A1 review 0.", ("Good.",))


def test_sentences_are_those_that_the_workers_saw(tmp_path: Path, products: Path) -> None:
    text = products.read_text().replace("It is warm. It leaks.", "It is warm. However, it *leaks*.")
    products.write_text(text)
    (document,) = read_documents(write(tmp_path, answer("A1:0:0", [1, 0])), products=products)
    assert document.hypotheses == ("It is warm.", "However, it *leaks*.")


def test_workers_alone_give_their_majority(tmp_path: Path, products: Path) -> None:
    rows = [[1, 0], [1, 1], [0, 0]]
    path = write(tmp_path, *(answer("A1:0:0", row, f"w{n}") for n, row in enumerate(rows)))
    (majority,) = read_documents(path, products=products)
    (soft,) = read_documents(path, products=products, labels="soft")
    assert [target.entailment for target in majority.targets] == [1, 0]
    assert majority.votes == ((1, 0), (1, 1), (0, 0))
    assert [target.entailment for target in soft.targets] == pytest.approx([2 / 3, 1 / 3])


def test_a_majority_line_wins_over_the_votes(tmp_path: Path, products: Path) -> None:
    path = write(tmp_path, answer("A1:0:1", [0], "w"), answer("A1:0:1", [1]))
    (document,) = read_documents(path, products=products)
    assert ([t.entailment for t in document.targets], document.votes) == ([1.0], ((0.0,),))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (answer("C3:0:0", [1]), "product 'C3' is not in the products file"),
        (answer("A1:8:0", [1, 0]), "8 reviews and 3 summaries"),
        (answer("A1:0:0", [1]), "problem A1:0:0: expected 2 labels"),
        (answer("A1:0", [1]), "not PRODUCT:REVIEW:SUMMARY"),
        (answer("A1:-1:0", [1]), "not PRODUCT:REVIEW:SUMMARY"),
        (answer("A1:0:1", "1"), "'answers' must be a list"),
        (answer("A1:0:1", [7]), "label 7"),
        ({"premise": "p", "hypothesis": "h", "label": 1}, "not a ReviewNLI line"),
    ],
)
def test_lines_that_fit_nothing_are_refused(
    tmp_path: Path, products: Path, record: object, message: str
) -> None:
    path = write(tmp_path, answer("B2:0:0", [1, 1]), record)
    with pytest.raises(InputError, match=message) as caught:
        read_documents(path, products=products)
    assert "answers.jsonl:2" in str(caught.value)


def test_answers_need_their_products(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--products"):
        read_documents(write(tmp_path, answer("A1:0:0", [1])))


def test_the_released_files_hold_what_the_joined_file_holds(shared_data: Path) -> None:
    released = shared_data / "released_layouts"
    gold = released / "copycat_gold_summs_dev.csv"
    joined = read_documents(shared_data / "reviewnli_dev.jsonl")
    majority = read_documents(released / "reviewnli_dev-majority.jsonl", products=gold)
    workers = read_documents(released / "reviewnli_dev-workers.jsonl", products=gold)

    def content(documents):
        return {
            (d.group, d.premise, d.hypotheses): [t.entailment for t in d.targets] for d in documents
        }

    assert content(joined) == content(majority) == content(workers)
    assert worker_figures(joined) == pytest.approx(worker_figures(workers))
    assert worker_figures(majority) is None
    pairs = JudgedPairs.of(majority)
    assert (len(pairs), int(pairs.labels.sum())) == (848, 260)


def test_every_form_of_the_shared_data_is_read(shared_data: Path) -> None:
    sizes = {}
    for name in ("review_nli_synthetic", "review_nli_grouped"):
        pairs = JudgedPairs.of(read_documents(shared_data / f"{name}.jsonl"))
        sizes[name] = (int((pairs.relations == "review").sum()), len(pairs))
    assert sizes == {
        "review_nli_synthetic": (5481, 5481),
        # 289 products of 36 pairs; each product statement has the trivial sentence and six others.
        "review_nli_grouped": (10404, 10404 + 289 * 7),
    }


def test_annotators_figures_by_hand(tmp_path: Path) -> None:
    record = {
        "review": "r", "sentences": ["a", "b"], "labels": [1, 0],
        "worker_labels": [[1, 0], [1, 1], [1, 0]],
    }  # fmt: skip
    bare = {"review": "r", "sentences": ["a"], "labels": [1]}
    found = worker_figures(read_documents(write(tmp_path, record, bare)))
    assert found is not None
    assert (found["pairs"], found["labels"], found["accuracy"]) == (2, 6, pytest.approx(5 / 6))
    assert (found["false_positive_rate"], found["false_negative_rate"]) == (pytest.approx(1 / 3), 0)
    # Within: 4 ordered unequal pairs in one unit of three, so 4 / 2 = 2; expected 2 · 4 · 2 / 5.
    assert found["krippendorff_alpha"] == pytest.approx(1 - 2 / (2 * 4 * 2 / 5))


def test_judged_pairs_are_columns_that_can_be_cut(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"premise": "p", "hypothesis": "h", "label": 0.5, "group": "x"},
        {"premise": "p", "hypothesis": "i", "label": "entailment", "relation": "sentence"},
    )
    pairs = JudgedPairs.of(read_documents(path))
    # Half of the annotators is no majority.
    assert pairs.labels.tolist() == [False, True]
    kept = pairs.take(np.array([False, True]))
    assert (kept.pairs, kept.groups.tolist(), kept.relations.tolist()) == (
        [("p", "i")], ["p"], ["sentence"],
    )  # fmt: skip
    assert len(JudgedPairs.of([])) == 0
