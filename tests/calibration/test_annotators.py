"""Agreement of annotators."""

from __future__ import annotations

import numpy as np
import pytest

from prevalence.calibration.annotators import majority_agreement, worker_figures
from prevalence.errors import InputError
from prevalence.labelled import Document, Target
from prevalence.stats.agreement import krippendorff_alpha

NONE = float("nan")


def test_rates_by_hand():
    # Majority 1 1 0; six labels, one missing: wrong are the 0 of pair 1 and the 1 of pair 2.
    found = majority_agreement([[1, 0, 0], [1, NONE, 1]], [1, 1, 0])
    assert found == (5, pytest.approx(3 / 5), pytest.approx(1 / 2), pytest.approx(1 / 3))


def test_a_rate_without_its_class_is_not_a_number():
    found = majority_agreement([[1, 0]], [1, 1])
    assert np.isnan(found.false_positive_rate)
    assert found.false_negative_rate == 0.5


def test_bad_shapes_are_refused():
    with pytest.raises(InputError, match="annotators by pairs"):
        majority_agreement([[1, 0]], [1])
    with pytest.raises(InputError, match="no annotator's label"):
        majority_agreement([[NONE]], [1])


def test_annotators_of_no_sentences_are_passed_over():
    empty = Document("r", (), (), "g", votes=((),))
    assert worker_figures([empty]) is None
    judged = Document("r", ("h",), (Target(1, 0, 0, True),), "g", votes=((1.0,), (0.0,)))
    assert worker_figures([empty, judged]) == worker_figures([judged])


def test_reviewnli_development_figures(shared_data):
    import json

    rows = [json.loads(x) for x in (shared_data / "reviewnli_dev.jsonl").read_text().splitlines()]
    votes = np.concatenate([np.array(row["worker_labels"]) for row in rows], axis=1)
    majority = np.concatenate([row["labels"] for row in rows])
    found = majority_agreement(votes, majority)
    # Printed in Malon 2023, section 3, for the development part.
    assert found.labels == 2544
    assert [round(value, 4) for value in found[1:]] == [0.9092, 0.0726, 0.1321]
    assert krippendorff_alpha(votes.T, level="nominal") == pytest.approx(0.5804, abs=5e-5)


def test_missing_votes_count_neither_way():
    yes, no = Target(1, 0, 0, True), Target(0, 1, 0, True)
    document = Document(
        "r", ("a", "b", "c"), (yes, no, no), "g", votes=((1.0, 0.0, None), (None, 1.0, None))
    )
    found = worker_figures([document])
    # The third pair has a label and no vote.
    assert (found["pairs"], found["labels"]) == (2, 3)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["krippendorff_alpha"] == krippendorff_alpha([[0, 1]], level="nominal")
    nobody = Document("r", ("a",), (yes,), "g", votes=((None,),))
    assert worker_figures([nobody]) is None
