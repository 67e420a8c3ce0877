"""Groups of people that a number stands for: each has its own claim and its own quantity."""

from __future__ import annotations

import pytest

from prevalence.claims import cut
from prevalence.claims.english import tagged
from prevalence.claims.groups import plain_counts, with_people
from prevalence.claims.quantities import quantified


def counted(sentence: str) -> list[tuple[str, str | None]]:
    return [(c.text, None if c.quantity is None else c.quantity.text) for c in cut(sentence)]


VERBS = [
    "mention noise", "mentioned noise", "report leaks", "reported leaks", "praise the bar",
    "praised the bar", "like the bar", "liked the bar", "complain about noise",
    "complained about noise", "dislike the bar", "criticized the bar",
]  # fmt: skip


@pytest.mark.parametrize("joint", [" and", ", and", ", but", ", while", " while", ";", ","])
@pytest.mark.parametrize("said", VERBS)
@pytest.mark.parametrize("number", ["two", "3 of 8", "3", "20%"])
def test_a_second_number_of_people_is_of_its_own_claim(number, said, joint):
    sentence = f"Most guests loved the pool{joint} {number} {said}."
    assert counted(sentence) == [
        ("Guests loved the pool.", "Most"),
        (f"Reviewers {said}.", number.capitalize()),
    ]
    assert quantified(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "last"),
    [
        (text := "Guests love the rooms, but two needed cleaning.", text),
        ("Buyers love the knives, but many needed work.", "Many knives needed work."),
        ("Buyers like the plugs, but several received damage.", "Several plugs received damage."),
    ],
)
def test_what_happens_to_things_is_not_said_of_people(sentence, last):
    assert counted(sentence)[-1] == (last, None)


@pytest.mark.parametrize("said", ["say it is noisy", "said it is noisy", "find it noisy"])
def test_what_a_second_group_says_or_finds_is_said_of_the_thing(said):
    assert counted(f"Most guests loved the pool and two {said}.") == [
        ("Guests loved the pool.", "Most"), ("The pool is noisy.", "two"),
    ]  # fmt: skip


@pytest.mark.parametrize("share", [
    "a third", "about a third", "a quarter", "half", "two thirds", "a minority", "the majority",
    "a couple", "a handful", "two in three", "just under half",
])  # fmt: skip
@pytest.mark.parametrize("said", ["complain of leaks", "report leaks", "complained of leaks"])
def test_a_share_is_of_its_own_claim(share, said):
    assert counted(f"Three of eight praise the pressure, while {share} {said}.") == [
        ("Reviewers praise the pressure.", "Three of eight"),
        (f"Reviewers {said}.", share[0].upper() + share[1:]),
    ]


@pytest.mark.parametrize(("sentence", "claims"), [
    ("5 of 8 reviews mention leaks, 3 of 8 mention kinks, and 1 mentions rust.",
     [("Reviews mention leaks.", "5 of 8"), ("Reviewers mention kinks.", "3 of 8"),
      ("A reviewer mentions rust.", "1")]),
    ("Most guests loved the pool and one reported leaks.",
     [("Guests loved the pool.", "Most"), ("A reviewer reported leaks.", "One")]),
    ("Two users like the color and three complain of leaks.",
     [("Users like the color.", "Two"), ("Reviewers complain of leaks.", "Three")]),
    ("Two mention leaks and three mention kinks.",
     [("Reviewers mention leaks.", "Two"), ("Reviewers mention kinks.", "Three")]),
    ("The pool is clean, but two mention noise.",
     [("The pool is clean.", None), ("Reviewers mention noise.", "Two")]),
    ("Most guests loved the pool and two slept badly.",
     [("Guests loved the pool.", "Most"), ("Reviewers slept badly.", "Two")]),
    ("Most users say that it is quiet, two that it is loud.",
     [("It is quiet.", "Most"), ("It is loud.", "two")]),
    ("Several users (4) report fading; one (n=1) reports leaks.",
     [("Users report fading.", "4"), ("A reviewer reports leaks.", "1")]),
    ("Most users like it, but a majority (5/8) find it heavy.",
     [("Users like it.", "Most"), ("It is heavy.", "5 of 8")]),
    ("Most users love it, while one in three report leaks.",
     [("Users love it.", "Most"), ("Reviewers report leaks.", "One in three")]),
    # "A third" may be one more, and a number in brackets that of a review.
    ("One reported leaks, another reported kinks, and a third reported rust.",
     [("A reviewer reported leaks.", "One"), ("Another reported kinks.", None),
      ("A third reviewer reported rust.", None)]),
    ("Of eight reviewers, five liked it (0, 1, 2, 4, 5), two hated it (3, 7) and one left (6).",
     [("Reviewers liked it (0, 1, 2, 4, 5).", "Five of eight"),
      ("Two reviewers hated it (3, 7) and one left (6).", None)]),
    # What opinions are of.
    ("Guests are split on breakfast: two loved it and one found it cold.",
     [("Reviewers loved breakfast.", "Two"), ("Breakfast is cold.", "one")]),
    # Others, and a share of those named before.
    ("Three of eight reviews mention rust, and the other five praise the finish.",
     [("Reviews mention rust.", "Three of eight"),
      ("The other five reviewers praise the finish.", None)]),
    ("Three of eight reviews mention rust, while the rest praise the finish.",
     [("Reviews mention rust.", "Three of eight"),
      ("The rest of reviewers praise the finish.", None)]),
    ("A third of the users mention rust, and most of them say it spreads.",
     [("Users mention rust.", "A third"), ("It spreads.", None)]),
    ("Six of eight guests loved the pool and two of them complained about noise.",
     [("Guests loved the pool.", "Six of eight"), ("Reviewers complained about noise.", "Two")]),
    # Things have numbers, too, and some verbs are of things and people.
    ("Most guests loved the two pools and the bar.",
     [("Guests loved the two pools.", "Most"), ("Guests loved the bar.", "Most")]),
    ("The dashboard shows charts and two report templates.",
     [("The dashboard shows charts and two report templates.", None)]),
    ("Most users like the lamp and two recommended bulbs are cheap.",
     [("Users like the lamp.", "Most"), ("Two recommended bulbs are cheap.", None)]),
    ("Most guests loved the pool and two got wet.",
     [("Most guests loved the pool and two got wet.", None)]),
    ("Reviewers 3 and 5 report that it leaks.",
     [("Reviewers 3 and 5 report that it leaks.", None)]),
])  # fmt: skip
def test_groups_by_hand(sentence, claims):
    assert counted(sentence) == claims


@pytest.mark.parametrize("text", [
    "Out of 8 reviews, 5 mention leaks.", "Two (of 8) users and most, but not all, guests like it.",
    "Users like it.",
])  # fmt: skip
def test_counts_in_plain_words_have_the_length_of_their_text(text):
    assert len(plain_counts(text)) == len(text)


@pytest.mark.parametrize(
    "sentence",
    [
        "A couple of guests dislike the prices, and 10% bring dogs.",
        "Most guests love the pool, but about 20% take the bus.",
    ],
)
def test_a_share_whose_verb_things_may_have_leaves_the_sentence_whole(sentence):
    assert quantified(sentence) is None
    assert counted(sentence) == [(sentence, None)]


def test_a_number_of_others_behind_by_is_not_counted_with_the_first():
    sentence = "The view is praised by six guests and criticised by two."
    assert quantified(sentence) is None
    assert counted(sentence) == [
        ("The view is praised by guests.", "six"), ("The view is criticised by two.", None),
    ]  # fmt: skip


def test_words_without_a_group_are_the_same_list():
    words = tagged("Most users love the two pools and the bar.")
    assert with_people(words) is words
