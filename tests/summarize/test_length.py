"""When a summary is long enough."""

from __future__ import annotations

import pytest

from prevalence.errors import ConfigurationError, InputError
from prevalence.summarize.candidates import LengthRule
from prevalence.text.sentences import get_splitter


def test_like_is_the_summary_less_half_of_its_last_sentence() -> None:
    # 11 + 1 + 10 characters; half of "They leak." is 5. White space around it does not count.
    rule = LengthRule.like(" Warm boots. They leak.\n", get_splitter())
    assert rule.characters == 22 - 5


def test_an_odd_last_sentence_gives_half_a_character() -> None:
    assert LengthRule.like("They fit me.", get_splitter()).characters == 6.0
    assert LengthRule.like("They fit I.", get_splitter()).characters == 5.5
    # Characters of the summary count, also those that no model is asked about.
    assert LengthRule.like("It fits. However, it *leaks*.", get_splitter()).characters == 29 - 10


def test_what_the_splitter_leaves_out_does_not_count() -> None:
    text = "**Overview**\n\nThey fit. They last.\n\nI hope this helps!"
    assert LengthRule.like(text, get_splitter()) == LengthRule(characters=20 - 5)


def test_greedy_stops_at_the_length_and_random_only_above_it() -> None:
    rule = LengthRule(characters=10)
    assert [rule.reached(lengths) for lengths in ([], [9], [4, 6], [11])] == [
        False, False, True, True,
    ]  # fmt: skip
    assert [rule.exceeded(lengths) for lengths in ([], [9], [4, 6], [11])] == [
        False, False, False, True,
    ]  # fmt: skip


def test_a_number_of_sentences_is_the_same_for_both() -> None:
    rule = LengthRule(sentences=2)
    for enough in (rule.reached, rule.exceeded):
        assert [enough([1] * count) for count in range(4)] == [False, False, True, True]


def test_prefix_is_what_a_shorter_rule_would_have_taken() -> None:
    assert LengthRule(characters=10).prefix([4, 6, 3]) == 2
    assert LengthRule(characters=10.5).prefix([4, 6, 3]) == 3
    assert LengthRule(characters=99).prefix([4, 6, 3]) == 3
    assert LengthRule(sentences=1).prefix([4, 6, 3]) == 1


@pytest.mark.parametrize(
    "values",
    [{}, {"characters": 5.0, "sentences": 2}, {"characters": 0.0}, {"sentences": 0},
     {"characters": float("inf")}, {"characters": float("nan")}],
)  # fmt: skip
def test_a_length_is_one_positive_number(values: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        LengthRule(**values)  # type: ignore[arg-type]


def test_a_summary_without_a_sentence_gives_no_length() -> None:
    with pytest.raises(InputError, match="without a sentence"):
        LengthRule.like("  ", get_splitter())
