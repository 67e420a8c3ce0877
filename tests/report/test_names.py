"""How tables and pages name figures and word quantities."""

from __future__ import annotations

import pytest

from prevalence.errors import InputError
from prevalence.report.names import quantity_note


@pytest.mark.parametrize(("low", "high", "support", "n_reviews", "said"), [
    (0.5, 1.0, 6, 12, "the reviews agree"),
    (0.5, 1.0, 5, 12, "not refuted (5 of 12)"),
    (0.0, 0.05, 1, 8, "not refuted (1 of 8)"),
    # 80% of 9 reviews are 7.2, to the nearest review 7.
    (0.8, 0.8, 7, 9, "the reviews agree"),
    (0.8, 0.8, 6, 9, "not refuted (6 of 9)"),
    # Rows of earlier versions do not say how many reviews support it.
    (0.5, 1.0, None, 12, "the reviews agree"),
])  # fmt: skip
def test_what_agrees_only_by_chance_is_not_called_agreement(low, high, support, n_reviews, said):
    quantity = {"text": "Most", "low": low, "high": high, "agrees": True, "support": support}
    assert quantity_note(quantity, n_reviews).endswith(f"%): {said}")


def test_quantities_of_a_part_are_not_compared():
    quantity = {"text": "Most", "low": 0.5, "high": 1.0, "agrees": None, "of": "families"}
    assert quantity_note(quantity, 30) == 'says "Most" of families: not compared'
    assert quantity_note({**quantity, "of": None}, 30) == 'says "Most" (50–100%): not asked'


@pytest.mark.parametrize("quantity", [
    {}, {"text": "Most"}, {"text": "Most", "low": 0.5, "high": 1.0, "agrees": "maybe"},
    {"text": "Most", "low": 0.5, "high": 1.0, "agrees": True, "support": "many"},
])  # fmt: skip
def test_what_is_no_quantity_of_a_row_is_named(quantity):
    with pytest.raises(InputError, match="quantity cannot be"):
        quantity_note(quantity, 12)
