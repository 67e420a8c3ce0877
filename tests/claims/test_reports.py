"""Claims of summaries as shops and sites publish them: highlights, sides, points of lists."""

from __future__ import annotations

import pytest

from prevalence.claims import cut
from prevalence.claims.reports import after_report, listed_in_report, recurring


def texts(sentence: str) -> list[str]:
    return [claim.text for claim in cut(sentence)]


def counted(sentence: str) -> list[tuple[str, str | None]]:
    return [(c.text, None if c.quantity is None else c.quantity.text) for c in cut(sentence)]


@pytest.mark.parametrize(("text", "claims"), [
    # What reviews report, and not what they are.
    ("Common praise includes its sleek design, long battery life, and fast charging.",
     ["The design is sleek.", "The battery life is long.", "The charging is fast."]),
    ("Negative feedback focuses on poor customer service and delayed shipping.",
     ["The customer service is poor.", "The shipping is delayed."]),
    ("The most frequently mentioned issue is the flimsy handle.", ["The handle is flimsy."]),
    ("A recurring complaint is that the lid leaks when the bottle is tilted.",
     ["The lid leaks when the bottle is tilted."]),
    ("There are also complaints about a rude host and long waits.",
     ["The host is rude.", "The waits are long."]),
    ("Praise for kind staff and fair prices comes up too.",
     ["The staff is kind.", "The prices are fair."]),
    ("The main problem is not the heavy lid.", ["The main problem is not the heavy lid."]),
    ("The only complaint is not that it is loud.", ["The only complaint is not that it is loud."]),
    # Who goes on saying it.
    ("They mention it's well made, easy to clean, and pours without a drip.",
     ["It's well made.", "It's easy to clean.", "It pours without a drip."]),
    ("Guests praise the kind staff and fair prices, noting that porters often help with bags.",
     ["The staff is kind.", "The prices are fair.", "Porters often help with bags."]),
    ("Prices draw complaints from some, who feel that a meal costs less elsewhere.",
     ["Prices draw complaints from some.", "A meal costs less elsewhere."]),
    # Opinions that differ, and how.
    ("Customers have different opinions on the fit, with some saying it is snug and others "
     "calling it loose.", ["The fit is snug.", "The fit is loose."]),
    ("Opinions on the fit are mixed.", ["Opinions on the fit are mixed."]),
    ("Opinions are mixed on the fries, with some finding them great and others too salty.",
     ["The fries are great.", "The fries are too salty."]),
    ("Diners rave about the soup, with several calling it the best in town.",
     ["Diners rave about the soup.", "The soup is the best in town."]),
    # What stands in a list.
    ("Customers like the quality, ease of use, and speed of the mixer.",
     ["Customers like the quality.", "Customers like the ease of use.",
      "Customers like the speed of the mixer."]),
    ("Guests love the views, the quiet rooms, and how close the inn sits to the pier.",
     ["Guests love the views.", "The rooms are quiet.",
      "Guests love how close the inn sits to the pier."]),
    ("Buyers find the vacuum cleaner powerful and easy to steer.",
     ["The vacuum cleaner is powerful.", "The vacuum cleaner is easy to steer."]),
    ("Some disagree on noise and value for money.",
     ["Some disagree on noise.", "Some disagree on value for money."]),
    # A subject that something interrupts.
    ("The tap is hot, and the handle, unlike those of older taps, never drips.",
     ["The tap is hot.", "The handle, unlike those of older taps, never drips."]),
    ("The inn is calm, and the warden, whom regulars know as Jo, remembers names.",
     ["The inn is calm.", "The warden, whom regulars know as Jo, remembers names."]),
    ("The guides are kind and, by most accounts, know the way.",
     ["The guides are kind.", "The guides know the way."]),
])  # fmt: skip
def test_highlights(text, claims):
    assert texts(text) == claims


@pytest.mark.parametrize(("text", "claims"), [
    ("Pros: sturdy frame, smooth ride, quick assembly.",
     ["The frame is sturdy.", "The ride is smooth.", "The assembly is quick."]),
    ("Pros: easy to assemble, sturdy frame, and plenty of space.",
     ["It is easy to assemble.", "The frame is sturdy.", "There is plenty of space."]),
    ("Cons mentioned include a weak motor, a short cord, and a confusing manual.",
     ["The motor is weak.", "The cord is short.", "The manual is confusing."]),
    ("Complaints raised by several guests include thin walls and slow lifts.",
     ["The walls are thin.", "The lifts are slow."]),
    ("Key strengths noted by reviewers: fast shipping and a fair price.",
     ["The shipping is fast.", "The price is fair."]),
    ("Cons: heavy, noisy and hard to clean.",
     ["It is heavy.", "It is noisy.", "It is hard to clean."]),
    ("The bad: thin walls and no lift.", ["The walls are thin.", "No lift."]),
    ("Verdict – fine for a night, not worth a detour",
     ["It is fine for a night.", "It is not worth a detour."]),
    ("Best for: families, long trips or a rainy day",
     ["It is best for families.", "It is best for long trips.", "It is best for a rainy day."]),
    ("Good fit for: small rooms", ["It is a good fit for small rooms."]),
    # A label, and what is said of what it names.
    ("Sound: warm, bass-heavy, clear vocals",
     ["The sound is warm.", "The sound is bass-heavy.", "The vocals are clear."]),
    ("Calls: muffled outdoors, fine in a quiet room",
     ["The calls are muffled outdoors.", "The calls are fine in a quiet room."]),
    ("Comfort – the seat is soft.", ["The seat is soft."]),
    ("Pace (mixed): The talks are short, but the films drag.",
     ["The talks are short.", "The films drag."]),
    ("The screen – bright and sharp – is great.", ["The screen – bright and sharp – is great."]),
    ("Battery: 6 hours, case adds three charges", ["Battery: 6 hours, case adds three charges"]),
    # Points apart, and what a point has.
    ("Plenty of pockets; bottle reachable while walking",
     ["Plenty of pockets.", "Bottle reachable while walking."]),
    ("Wait times: usually under ten minutes; longer on Mondays",
     ["Wait times: usually under ten minutes.", "Wait times: longer on Mondays."]),
    ("The staff is kind; the owner and her son are thanked by name.",
     ["The staff is kind.", "The owner is thanked by name.", "Her son is thanked by name."]),
    ("Cheap drinks, strong coffee, heavy doors",
     ["The drinks are cheap.", "The coffee is strong.", "The doors are heavy."]),
    ("A calm inn with creaky beds", ["The inn is calm.", "The beds are creaky."]),
    ("Bean soup with big chunks of ham", ["Bean soup with big chunks of ham"]),
])  # fmt: skip
def test_sides_labels_and_points(text, claims):
    assert texts(text) == claims


@pytest.mark.parametrize(("text", "claims"), [
    ("Honest quotes (31); quick service (22); hard to reach by phone (8)",
     [("The quotes are honest.", "31"), ("The service is quick.", "22"),
      ("Hard to reach by phone.", "8")]),
    ("cigarette smoke (2)", [("Cigarette smoke.", "2")]),
    ("It seats two (2)", [("It seats two (2)", None)]),
    ("Multiple users report issues with the zip breaking.",
     [("There are issues with the zip breaking.", "Multiple")]),
    ("Several users have complaints about a rude host.", [("The host is rude.", "Several")]),
    ("Several guests love the pool.", [("Guests love the pool.", "Several")]),
    ("All eight reviewers leave happy.", [("Reviewers leave happy.", "All eight")]),
    ("One of the eight reviewers is angry.", [("A reviewer is angry.", "One of the eight")]),
    ("Few guests love the pool.", [("Few guests love the pool.", None)]),
    ("A few say they barely felt the drill.",
     [("Reviewers barely felt the drill.", "A few")]),
    ("The food is good, and several say they will be back.",
     [("The food is good.", None), ("Reviewers will be back.", "several")]),
    ("Seven of eight reviews are favorable.", [("It is good.", "Seven of eight")]),
    ("The reviews are mostly negative.", [("It is bad.", None)]),
    ("The reviews are mixed.", [("The reviews are mixed.", None)]),
    ("Many enjoy the food, with many calling it fresh.",
     [("Reviewers enjoy the food.", "Many"), ("The food is fresh.", "many")]),
    ("The rooms are calm (R1, R3).", [("The rooms are calm.", "at least 2")]),
])  # fmt: skip
def test_how_many_say_so(text, claims):
    assert counted(text) == claims


def test_reports_are_found_at_the_beginning_alone():
    for find in (after_report, listed_in_report):
        assert find("The lid leaks, and a common complaint is that it sticks.") is None
    assert recurring("Praise for kind staff comes up, but the rooms are cold.") is None


@pytest.mark.parametrize(("text", "claims"), [
    # Who says it, between commas.
    ("It keeps soup hot, they say, and the lid never drips.",
     ["It keeps soup hot.", "The lid never drips."]),
    ("A few also mention that downloads fill the disk and that playback stops when it locks.",
     ["Downloads fill the disk.", "Playback stops when it locks."]),
    ("People describe the buffet as cold, bland, and picked over by noon.",
     ["The buffet is cold.", "The buffet is bland.", "The buffet is picked over by noon."]),
    # Rows of tables, without their grades.
    ("Lodges | mostly positive | The new ones are quiet; the old ones smell of damp",
     ["The new ones are quiet.", "The old ones smell of damp."]),
    ("Battery | Lasts all day", ["Battery: Lasts all day."]),
    ("Pros: kind staff | clean office | free tea",
     ["The staff is kind.", "The office is clean.", "Free tea."]),
    # What says too little apart.
    ("Ann and Bo are the names you hear most often.",
     ["Ann and Bo are the names you hear most often."]),
    ("Guests are happy with the food and much less so with the bar.",
     ["Guests are happy with the food and much less so with the bar."]),
    ("The guide is kind, something most families find reassuring.",
     ["The guide is kind, something most families find reassuring."]),
    ("Where it fails is in its office: letters get lost, and calls are not returned.",
     ["Where it fails is in its office: letters get lost, and calls are not returned."]),
    ("Had the makers added a lid, many would have kept it.",
     ["Had the makers added a lid, many would have kept it."]),
    ("Perched on a rock that few cars reach, the hut is calm.",
     ["The hut is perched on a rock that few cars reach.", "The hut is calm."]),
    ("Buyers find it compact, easy to set up, and bright enough for a dark room.",
     ["It is compact.", "It is easy to set up.", "It is bright enough for a dark room."]),
    ("They report driving long screws and getting through a day on two batteries.",
     ["They report driving long screws and getting through a day on two batteries."]),
    ("The jug, a part that older models lack, keeps tea hot, although it drips.",
     ["The jug is a part that older models lack.", "The jug keeps tea hot.", "The jug drips."]),
    ("Be aware that the tower, the best part of the visit, can be reached only by stairs.",
     ["Be aware that the tower, the best part of the visit, can be reached only by stairs."]),
    ("Regulars enjoy being greeted and remembered.",
     ["Regulars enjoy being greeted and remembered."]),
])  # fmt: skip
def test_who_says_it_and_what_cannot_stand_alone(text, claims):
    assert texts(text) == claims


@pytest.mark.parametrize(("text", "claims"), [
    # Denials hold for their whole list, and so do verbs.
    ("Pros: no leaks or rust.", ["No leaks or rust."]),
    ("Cons: not waterproof or durable.", ["Not waterproof or durable."]),
    ("Pros: it is not heavy or loud, but it is dear.",
     ["It is not heavy.", "It is not loud.", "It is dear."]),
    ("Pros: does not leak, rust or smell.", ["Does not leak, rust or smell."]),
    ("Cons: hard to open and close", ["It is hard to open and close."]),
    ("Pros: Easy to clean, store and carry.", ["It is easy to clean, store and carry."]),
    ("Strengths: guests love the soup and the bread.",
     ["Guests love the soup.", "Guests love the bread."]),
    ("Sound: not warm, clear or loud", ["Sound: not warm, clear or loud"]),
    ("Best for: people who want quiet, not parties",
     ["It is best for people who want quiet, not parties."]),
    ("Best for: cooking rice and beans", ["It is best for cooking rice and beans."]),
    ("Price: or cheap.", ["Price: or cheap."]),
    # What semicolons part, and what needs the clause before.
    ("The fan is loud; its motor hums; its cord is short.",
     ["The fan is loud.", "The fan's motor hums.", "The fan's cord is short."]),
    ("The blender is powerful; easy to clean; not loud.",
     ["The blender is powerful.", "The blender is easy to clean.", "The blender is not loud."]),
    ("Customers like the app; some find it slow.",
     ["Customers like the app.", "The app is slow."]),
    ("Location: great; food: average",
     ["The location is great.", "The food is average."]),
    # "They" that are things, and words that only look like reports.
    ("The manuals are bad, they say the cable is included.",
     ["The manuals are bad.", "The manuals say the cable is included."]),
    ("The replies are kind, but the response is negative.",
     ["The replies are kind.", "The response is negative."]),
    ("Complaints about the noise are common.", ["Complaints about the noise are common."]),
    ("Praise for the fit: often comes up", ["Praise for the fit: often comes up"]),
    ("The highlight is the slow cooked lamb.", ["The highlight is the slow cooked lamb."]),
    ("Reactions are instant, with some reporting hives and others calling it mild.",
     ["Reactions are instant.", "Reviewers report hives.", "It is mild."]),
    ("| Price | mixed |", ["Price | mixed"]),
    ("Great food | Slow service", ["The food is great.", "The service is slow."]),
    ("The sound is warm & clear.", ["The sound is warm.", "The sound is clear."]),
    ("Lee & Sons is kind.", ["Lee & Sons is kind."]),
])  # fmt: skip
def test_what_lists_and_reports_are_not(text, claims):
    assert texts(text) == claims


@pytest.mark.parametrize("text", [
    "Works with iOS (14), Android (10), and Windows (11).",
    "The hotel has a bar (1), a pool (2), and a gym (1).",
    "Warm in winter (3), dry in rain (2).",
    "Rooms: 101 (2), 102 (4), 103 (6)",
    "Four people fit in the car.",
])  # fmt: skip
def test_numbers_that_count_no_reviewers(text):
    assert all(claim.quantity is None for claim in cut(text))
