"""Claims of what stands behind a label, and of labels that deny something."""

from __future__ import annotations

import pytest

from prevalence.claims import cut


@pytest.mark.parametrize(("sentence", "label", "rest"), [
    ("No air conditioning: rooms get hot in summer.",
     "There is no air conditioning.", "Rooms get hot in summer."),
    ("No elevators or parking: guests use the stairs.",
     "There are no elevators or parking.", "Guests use the stairs."),
    ("No parking on site: guests use the street.",
     "There is no parking on site.", "Guests use the street."),
    ("No lift — guests carry bags.", "There is no lift.", "Guests carry bags."),
    ("Zero support: emails went unanswered.",
     "There is zero support.", "Emails went unanswered."),
    ("Not for families: staff were rude.", "It is not for families.", "Staff were rude."),
    ("Not just for kids: adults love it.", "It is not just for kids.", "Adults love it."),
    ("Not recommended: the lid leaks.", "It is not recommended.", "The lid leaks."),
    ("Nothing special: the food was bland.", "It is nothing special.", "The food was bland."),
    ("Missing air conditioning: rooms get hot.",
     "The air conditioning is missing.", "Rooms get hot."),
    ("Missing parts: the box lacked screws.", "Parts are missing.", "The box lacked screws."),
    ("Lack of storage: the room is small.",
     "There is a lack of storage.", "The room is small."),
    ("Absence of signs: guests got lost.",
     "There is an absence of signs.", "Guests got lost."),
])  # fmt: skip
def test_a_label_that_denies_or_lacks_something_is_a_claim(sentence, label, rest):
    found = cut(sentence)
    assert [claim.text for claim in found] == [label, rest]
    # Each stands where its part of the sentence does.
    assert (
        sentence[found[0].start : found[0].end].lower() in sentence.lower().split(rest.lower())[0]
    )
    assert sentence[found[1].start :].lower().startswith(rest.lower()[:-1])


@pytest.mark.parametrize(("sentence", "claims"), [
    # These deny nothing of the thing, or nobody knows of what.
    ("No doubt: the staff were kind.", ["The staff were kind."]),
    ("No complaints: the staff were kind.", ["The staff were kind."]),
    ("Not included: batteries are sold apart.", ["Batteries are sold apart."]),
    ("Without a car: guests walk to the beach.", ["Guests walk to the beach."]),
    # Where the rest may be about the label, the sentence is one claim, as ever.
    ("No dryer: it broke last year.", ["No dryer: it broke last year."]),
    ("No Wi-Fi: bring a book.", ["No Wi-Fi: bring a book."]),
])  # fmt: skip
def test_labels_that_only_look_like_a_denial(sentence, claims):
    assert [claim.text for claim in cut(sentence)] == claims


@pytest.mark.parametrize(("sentence", "claims"), [
    ("Durability: It survives puppies, but the filling goes flat in weeks.",
     ["It survives puppies.", "The filling goes flat in weeks."]),
    ("Fit: It runs small and feels tight.", ["It runs small.", "It feels tight."]),
    # "It" may be the battery.
    ("Battery: It dies within a day, but it charges fast.", None),
])  # fmt: skip
def test_it_behind_a_quality_is_not_that_quality(sentence, claims):
    assert [claim.text for claim in cut(sentence)] == (claims or [sentence])


@pytest.mark.parametrize(("sentence", "claims"), [
    # What is missing is named by its adjective.
    ("**Dark mode** – missing", ["The dark mode is missing."]),
    ("**Dark mode** – great", ["The dark mode is great."]),
    ("**Bright display** – missing", ["Bright display – missing"]),
    ("**Kind hosts** – helpful", ["The hosts are kind.", "The hosts are helpful."]),
    # "Them" are what the label names.
    ("**Charts** – one user loves them", ["A user loves the charts."]),
    ("**Charts** – most users find them useful", ["The charts are useful."]),
    ("**Fit** – most users find it tight", ["It is tight."]),
])  # fmt: skip
def test_a_label_keeps_its_noun(sentence, claims):
    assert [claim.text for claim in cut(sentence)] == claims
