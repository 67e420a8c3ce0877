"""Label names to positions."""

from __future__ import annotations

import pytest

from prevalence.errors import ModelError
from prevalence.models.labels import LabelMap, parse_labels, read_labels


@pytest.mark.parametrize(
    ("names", "entailment", "contradiction"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], 2, 0),
        (["entailment", "neutral", "contradiction"], 0, 2),
        (["contradiction", "entailment", "neutral"], 1, 0),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], 0, 1),
        (["entailment", "not_entailment"], 0, None),
        (["not-entailment", "Entailment"], 1, None),
        (["contradiction", "entailment"], 1, None),
        (["entailment"], 0, None),
        (["e", "n", "c"], 0, 2),
    ],
)
def test_positions(names: list[str], entailment: int, contradiction: int | None) -> None:
    assert parse_labels(names, name="m") == LabelMap(len(names), entailment, contradiction)


@pytest.mark.parametrize(
    "names",
    [
        ["LABEL_0", "LABEL_1", "LABEL_2"],
        ["entailment", "LABEL_1"],
        ["neutral", "contradiction"],
        ["entailment", "entails", "neutral"],
        ["entailment", "not_entailment", "contradiction"],
        ["entailment", "neutral", "contradiction", "unknown"],
        ["positive", "negative"],
        ["LABEL_0"],
    ],
)
def test_ambiguous_names_are_refused_with_advice(names: list[str]) -> None:
    with pytest.raises(ModelError, match=r"my-model: cannot tell .* --labels"):
        parse_labels(names, name="my-model")


def test_positions_follow_the_numbers_not_the_order_of_the_mapping() -> None:
    assert read_labels({"2": "entailment", "0": "neutral", "1": "contradiction"}, name="m") == (
        LabelMap(3, 2, 1)
    )


def test_short_form_for_signatures() -> None:
    assert str(LabelMap(3, 2, 0)) == "e2c0of3"
    assert str(LabelMap(2, 1, None)) == "e1of2"
