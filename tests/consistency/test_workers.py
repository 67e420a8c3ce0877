"""Agreement of annotators."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.consistency.workers import krippendorff_alpha, majority_agreement
from prevalence.errors import ConfigurationError, InputError

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
    with pytest.raises(InputError, match="annotators by units"):
        krippendorff_alpha([1, 0])
    with pytest.raises(ConfigurationError, match="nominal or interval"):
        krippendorff_alpha([[1, 0]], level="ratio")


KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]


def test_the_worked_example_of_its_author():
    # Krippendorff 2011, section C: four observers, twelve units, missing values.
    assert krippendorff_alpha(KRIPPENDORFF_2011) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(KRIPPENDORFF_2011, level="interval") == pytest.approx(0.849, abs=5e-4)


@given(
    values=st.integers(2, 4).flatmap(
        lambda raters: st.lists(
            st.lists(st.sampled_from([0.0, 1.0, 3.0, NONE]), min_size=raters, max_size=raters),
            min_size=1, max_size=12,
        )
    )
)  # fmt: skip
def test_alpha_equals_its_definition_over_pairs_of_values(values):
    """Mean distance within units, each unit weighing as many values as it has, over all pairs."""
    units = [[v for v in unit if not np.isnan(v)] for unit in values]
    units = [unit for unit in units if len(unit) > 1]
    everything = [v for unit in units for v in unit]
    n = len(everything)
    found = krippendorff_alpha(np.array(values).T)
    expected = sum((a != b) for a in everything for b in everything)
    if not expected:
        assert np.isnan(found)
        return
    within = sum(sum((a != b) for a in unit for b in unit) / (len(unit) - 1) for unit in units)
    assert found == pytest.approx(1 - (within / n) / (expected / (n * (n - 1))))


def test_reviewnli_development_figures(shared_data):
    import json

    rows = [json.loads(x) for x in (shared_data / "reviewnli_dev.jsonl").read_text().splitlines()]
    votes = np.concatenate([np.array(row["worker_labels"]) for row in rows], axis=1)
    majority = np.concatenate([row["labels"] for row in rows])
    found = majority_agreement(votes, majority)
    # Printed in Malon 2023, section 3, for the development part.
    assert found.labels == 2544
    assert [round(value, 4) for value in found[1:]] == [0.9092, 0.0726, 0.1321]
    assert krippendorff_alpha(votes) == pytest.approx(0.5804, abs=5e-5)
