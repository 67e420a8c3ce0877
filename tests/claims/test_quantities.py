"""Quantities of people: what they are, what is left without them, and whether reviews agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from prevalence.claims.quantities import (
    RANGES,
    Quantity,
    after_frame,
    agreement,
    people_at,
    quantified,
    wilson_interval,
)
from prevalence.errors import InputError


@pytest.mark.parametrize(("text", "statement", "low", "high"), [
    ("Most users love the fit.", "Users love the fit.", *RANGES["most"]),
    ("Half of the users love it.", "Users love it.", *RANGES["half"]),
    ("12 of 20 reviewers love it.", "Reviewers love it.", 0.6, 0.6),
    ("Two out of five buyers love it.", "Buyers love it.", 0.4, 0.4),
    ("80% of reviewers are happy.", "Reviewers are happy.", 0.8, 0.8),
    ("The majority loved it.", "Reviewers loved it.", *RANGES["most"]),
    ("Almost all guests complained.", "Guests complained.", *RANGES["almost all"]),
    ("A few complained that it leaks.", "It leaks.", *RANGES["a few"]),
    ("Nobody likes the taste.", "A reviewer likes the taste.", *RANGES["nobody"]),
    ("Everyone loves it.", "A reviewer loves it.", *RANGES["all"]),
    ("Some find it hard.", "Reviewers find it hard.", *RANGES["some"]),
    ("Overall, several parents say it lasts.", "It lasts.", *RANGES["several"]),
    ("According to many owners, it is loud.", "It is loud.", *RANGES["many"]),
    ("It is loved by most users.", "It is loved by users.", *RANGES["most"]),
    ("None of the users complained.", "Users complained.", *RANGES["nobody"]),
    ("None complained.", "A reviewer complained.", *RANGES["nobody"]),
    ("Almost no one has problems.", "A reviewer has problems.", *RANGES["few"]),
    ("Most users say it's comfortable.", "It's comfortable.", *RANGES["most"]),
    ("Most users say it’s comfortable.", "It’s comfortable.", *RANGES["most"]),
    # Numbers with a limit.
    ("About 80% of users recommend it.", "Users recommend it.", 0.7, 0.9),
    ("Nearly 9 out of 10 users love it.", "Users love it.", 0.8, 1.0),
    ("Only 5% of users reported leaks.", "Users reported leaks.", 0.05, 0.05),
    ("More than 80% of users say it works.", "It works.", 0.8, 1.0),
    ("Less than 40% of users complained.", "Users complained.", 0.0, 0.4),
    ("12 of 1,200 users complained.", "Users complained.", 0.01, 0.01),
    # Lists, reasons, and what people say with several clauses are one statement.
    ("Most users mention leaks, customer service, and others.",
     "Users mention leaks, customer service, and others.", *RANGES["most"]),
    ("Most users returned it because it leaks and the lid broke.",
     "Users returned it because it leaks and the lid broke.", *RANGES["most"]),
    ("Most users say it is loud and the cord is short.", "It is loud and the cord is short.",
     *RANGES["most"]),
])  # fmt: skip
def test_quantities_by_hand(text, statement, low, high):
    found = quantified(text)
    assert found is not None
    assert found.statement == statement
    assert (found.quantity.low, found.quantity.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize("text", [
    "Most of the battery is left.", "Two zippers broke.", "Half an hour is enough.",
    "Some water gets in.", "One of the zippers broke.", "All parts fit.", "No problems with it.",
    "One of the best.", "Everyone's favorite place.", "5 of 3 users left.", "120% of users agree.",
    "Users love it.", "Reviewers say that it leaks.", "Few parts were missing.", "", "most",
    "None of the zippers work.", "Almost none of the sizes fit.", "No one size fits all.",
    "No one color suits everybody.", "No one of the zippers works.", "None of them work.",
    # The quantity is not meant for a second clause or other people.
    "Some customers love the scent, while others find it overpowering.",
    "Some love it while others hate it.", "Half of the buyers love it and half hate it.",
    "No one complained about the noise, and the motor runs smoothly.",
    "Most users say it is good, but it leaks.", "Most say it is good, and some say it leaks.",
    "It is loved by most users, and the color is nice.", "12 of 1,0 users agree.",
    # Letters that look like others when case is ignored.
    "ſix users love it.", "fıve users love it.",
])  # fmt: skip
def test_quantities_of_things_and_none_at_all(text):
    assert quantified(text) is None


def test_a_number_of_people_is_a_share_of_the_reviews():
    quantity = quantified("Two customers returned it.").quantity
    assert quantity.count == (2, 2)
    assert quantity.shares(8) == (0.25, 0.25)
    assert quantity.shares(1) == (1.0, 1.0)
    assert quantified("One customer returned it.").statement == "A customer returned it."
    assert quantified("One owner returned it.").statement == "An owner returned it."


@pytest.mark.parametrize(("words", "low", "high"), [
    ("Only 3 users", 0.3, 0.3),
    ("At least 3 users", 0.3, 1.0),
    ("More than three users", 0.4, 1.0),
    ("Fewer than 3 users", 0.0, 0.2),
    ("Up to 3 users", 0.0, 0.3),
    ("About 4 users", 0.3, 0.5),
    ("1,200 users", 1.0, 1.0),
])  # fmt: skip
def test_limits_of_a_number_of_people_in_ten_reviews(words, low, high):
    quantity = quantified(f"{words} love it.").quantity
    assert quantity.shares(10) == (pytest.approx(low), pytest.approx(high))
    assert not quantity.denies


@pytest.mark.parametrize(("words", "denies"), [
    ("Less than 5% of", True), ("Up to 80% of", False), ("About 5% of", False), ("0% of", True),
])  # fmt: skip
def test_which_limits_say_that_hardly_anybody_does(words, denies):
    assert quantified(f"{words} users love it.").quantity.denies is denies


def test_people_without_a_quantity_and_frames():
    assert people_at("The reviewers love it.").quantity is None
    assert people_at("The zippers stick.") is None
    assert after_frame("Users report that it leaks.") == (18, None)
    assert after_frame("Users report leaks.") is None


@pytest.mark.parametrize(("words", "support", "n_reviews", "agrees"), [
    ("most", 15, 20, True),    # 0.53 to 0.89
    ("most", 1, 20, False),    # 0.01 to 0.24
    ("nobody", 0, 20, True),   # 0 to 0.16
    ("nobody", 10, 20, False),
    ("some", 0, 100, False),   # says that there is somebody
    ("some", 1, 100, True),
    ("half", 1, 1, True),      # one review is compatible with nearly everything
    ("few", 0, 2, True),       # says that there may be nobody
    ("0 of 10", 0, 2, True),
    # The intervals reach from 0 to 0.66 and 0.49, but these say that there is somebody.
    ("most", 0, 2, False),
    ("half of the", 0, 2, False),
    ("many", 0, 4, False),
    ("a third of", 0, 4, False),
    ("a quarter of", 0, 4, False),
    ("2 of 20", 0, 4, False),
    ("10% of", 0, 4, False),
    ("most", None, 20, None),
])  # fmt: skip
def test_agreement_by_hand(words, support, n_reviews, agrees):
    quantity = quantified(f"{words} users love it." if words != "nobody" else "Nobody loves it.")
    found = agreement(quantity.quantity, support, n_reviews)
    assert found.agrees is agrees
    assert (found.interval is None) == (support is None)


def test_an_exact_number_agrees_when_its_share_lies_in_the_interval():
    twelve = Quantity("12 of 20", 0.6, 0.6)
    assert agreement(twelve, 12, 20).agrees is True
    assert agreement(twelve, 2, 20).agrees is False
    json = agreement(twelve, 12, 20).to_json()
    assert list(json) == ["text", "low", "high", "agrees", "interval"]
    assert json["interval"] == pytest.approx(wilson_interval(12, 20))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_against_scipy(counts):
    k, n = counts
    expected = binomtest(k, n).proportion_ci(0.9, method="wilson")
    assert wilson_interval(k, n, 0.9) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("k", "n", "confidence"), [(1, 0, 0.9), (3, 2, 0.9), (1, 2, 1.0)])
def test_no_interval(k, n, confidence):
    with pytest.raises(InputError, match="no interval"):
        wilson_interval(k, n, confidence)


@given(st.text(max_size=60))
def test_any_text_is_read(text):
    found = quantified(text)
    assert found is None or 0 <= found.quantity.low <= found.quantity.high <= 1
