"""Quantities of people: what they are, what is left without them, and whether reviews agree."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest

from prevalence.claims import cut
from prevalence.claims.amounts import RANGES, Quantity
from prevalence.claims.asides import asides
from prevalence.claims.comparison import agreement, wilson_interval
from prevalence.claims.cutter import stated_claim
from prevalence.claims.quantities import quantified
from prevalence.claims.speakers import after_frame, people_at
from prevalence.errors import InputError


@pytest.mark.parametrize(("text", "statement", "low", "high"), [
    ("Most users love the fit.", "Users love the fit.", *RANGES["most"]),
    ("Half of the users love it.", "Users love it.", *RANGES["half"]),
    ("12 of 20 reviewers love it.", "Reviewers love it.", 0.6, 0.6),
    ("Two out of five buyers love it.", "Buyers love it.", 0.4, 0.4),
    ("20-30% of users had leaks.", "Users had leaks.", 0.2, 0.3),
    ("Between 20 and 30% of users had leaks.", "Users had leaks.", 0.2, 0.3),
    ("Only a couple of users complained.", "Users complained.", *RANGES["few"]),
    ("Not many users got wet.", "Users got wet.", *RANGES["few"]),
    ("Few, if any, users complained.", "Users complained.", *RANGES["few"]),
    ("Every single reviewer loves it.", "A reviewer loves it.", *RANGES["all"]),
    ("Not a single reviewer complained.", "A reviewer complained.", *RANGES["nobody"]),
    ("Half of the 8 reviewers got wet.", "Reviewers got wet.", *RANGES["half"]),
    ("Dozens of users love it.", "Users love it.", *RANGES["many"]),
    ("A sizable minority of users had leaks.", "Users had leaks.", *RANGES["a minority"]),
    ("As noted by most users (5 of 8), the fit is great.", "The fit is great.", 0.625, 0.625),
    ("It leaks, said 3 of 8 reviewers.", "It leaks.", 0.375, 0.375),
    ("It fits well according to most users (5 of 8).", "It fits well.", 0.625, 0.625),
    ("Most reviewers, 7 of 10, love it.", "Reviewers love it.", 0.7, 0.7),
    ("The vast majority (85%) of reviewers love it.", "Reviewers love it.", 0.85, 0.85),
    ("Two said that it leaks.", "It leaks.", 0.0, 1.0),
    ("80% of reviewers are happy.", "Reviewers are happy.", 0.8, 0.8),
    ("The majority loved it.", "Reviewers loved it.", *RANGES["most"]),
    ("Almost all guests complained.", "Guests complained.", *RANGES["almost all"]),
    ("A few complained that it leaks.", "It leaks.", *RANGES["a few"]),
    ("Nobody likes the taste.", "A reviewer likes the taste.", *RANGES["nobody"]),
    ("Everyone loves it.", "A reviewer loves it.", *RANGES["all"]),
    ("It is loved by everyone.", "It is loved by a reviewer.", *RANGES["all"]),
    ("Nobody had any trouble with it.", "A reviewer had trouble with it.", *RANGES["nobody"]),
    ("Some find it hard.", "Reviewers find it hard.", *RANGES["some"]),
    ("Overall, several parents say it lasts.", "It lasts.", *RANGES["several"]),
    ("According to many owners, it is loud.", "It is loud.", *RANGES["many"]),
    ("It is loved by most users.", "It is loved by users.", *RANGES["most"]),
    ("None of the users complained.", "Users complained.", *RANGES["nobody"]),
    ("None complained.", "A reviewer complained.", *RANGES["nobody"]),
    ("Almost no one has problems.", "A reviewer has problems.", *RANGES["few"]),
    ("Most users say it's comfortable.", "It's comfortable.", *RANGES["most"]),
    ("Most users say it’s comfortable.", "It’s comfortable.", *RANGES["most"]),
    # Words at the end, and what is said of one.
    ("The zipper sticks, according to several reviewers.", "The zipper sticks.",
     *RANGES["several"]),
    ("The battery lasts: 7 of 10 reviews.", "The battery lasts.", 0.7, 0.7),
    ("A small minority dislikes it.", "A reviewer dislikes it.", *RANGES["a minority"]),
    ("None of the 10 reviewers complains.", "A reviewer complains.", *RANGES["nobody"]),
    ("Zero customers complained.", "Customers complained.", *RANGES["nobody"]),
    ("No one has complained about leaks.", "A reviewer has complained about leaks.",
     *RANGES["nobody"]),
    ("Nearly everyone is happy with the size.", "A reviewer is happy with the size.",
     *RANGES["almost all"]),
    # Shares.
    ("9/10 reviewers recommend it.", "Reviewers recommend it.", 0.9, 0.9),
    ("1/3 of the buyers had problems.", "Buyers had problems.", 1 / 3, 1 / 3),
    ("3/4 of customers love it.", "Customers love it.", 0.75, 0.75),
    ("Less than a third complain about noise.", "Reviewers complain about noise.", 0.0, 0.35),
    ("More than a third complain about noise.", "Reviewers complain about noise.", 0.33, 1.0),
    ("More than a quarter of users complain.", "Users complain.", 0.25, 1.0),
    ("Fewer than a quarter of users complain.", "Users complain.", *RANGES["few"]),
    # Numbers with a limit.
    ("About 80% of users recommend it.", "Users recommend it.", 0.7, 0.9),
    ("Nearly 9 out of 10 users love it.", "Users love it.", 0.8, 1.0),
    ("Only 5% of users reported leaks.", "Users reported leaks.", 0.05, 0.05),
    ("More than 80% of users say it works.", "It works.", 0.8, 1.0),
    ("Less than 40% of users complained.", "Users complained.", 0.0, 0.4),
    ("12 of 1,200 users complained.", "Users complained.", 0.01, 0.01),
    # What a denial is of, in the words of who would affirm it.
    ("None of the reviewers noticed any smell.", "Reviewers noticed smell.", *RANGES["nobody"]),
    ("Almost nobody complained about anything.", "A reviewer complained about something.",
     *RANGES["few"]),
    ("Nobody likes any of the colors.", "A reviewer likes some of the colors.", *RANGES["nobody"]),
    ("Few users got any instructions.", "Users got instructions.", *RANGES["few"]),
    ("Few users had leaks at any time.", "Users had leaks at any time.", *RANGES["few"]),
    ("No customer had any at all.", "A customer had any at all.", *RANGES["nobody"]),
    ("Few users say it works with any phone.", "It works with any phone.", *RANGES["few"]),
    ("Few users say that anyone can use it.", "Anyone can use it.", *RANGES["few"]),
    # Out of how many; what stands between; more words for shares.
    ("Out of 8 reviews, 5 mention leaks.", "Reviews mention leaks.", 0.625, 0.625),
    ("Of the eight reviewers, five mention leaks.", "Reviewers mention leaks.", 0.625, 0.625),
    ("Of the reviewers, 80% mention leaks.", "Reviewers mention leaks.", 0.8, 0.8),
    ("A majority (5/8) find it heavy.", "Reviewers find it heavy.", 0.625, 0.625),
    ("The majority (80%) say it leaks.", "It leaks.", 0.8, 0.8),
    ("Two (of 8) users like it.", "Users like it.", 0.25, 0.25),
    ("Most, but not all, users like it.", "Users like it.", *RANGES["most"]),
    ("Most but not all of the users like it.", "Users like it.", *RANGES["most"]),
    ("All of them find it easy.", "Reviewers find it easy.", *RANGES["all"]),
    ("None of them find it easy.", "Reviewers find it easy.", *RANGES["nobody"]),
    ("More than two thirds say it leaks.", "It leaks.", *RANGES["over two thirds"]),
    ("Over three quarters of users say it leaks.", "It leaks.", *RANGES["over three quarters"]),
    ("Just under half say it leaks.", "It leaks.", *RANGES["half"]),
    ("Slightly more than a third say it leaks.", "It leaks.", *RANGES["a third"]),
    ("Under half say it leaks.", "It leaks.", *RANGES["a minority"]),
    ("Just over 80% of users say it leaks.", "It leaks.", 0.7, 0.9),
    ("9 in 10 would buy again.", "Reviewers would buy again.", 0.9, 0.9),
    ("One in three report leaks.", "Reviewers report leaks.", 1 / 3, 1 / 3),
    # More than there are: no reviews can agree.
    ("150% of users say it leaks.", "It leaks.", 1.5, 1.5),
    ("11 of 8 reviewers say it leaks.", "It leaks.", 1.375, 1.375),
    # A label stays with what it names.
    ("Noise: Most users say that it is quiet.", "Noise: It is quiet.", *RANGES["most"]),
    ("Pros: Many users love the color (7 of 10 reviews).", "Pros: Many users love the color.",
     0.7, 0.7),
    ("Heat: Two users say that it sleeps hot.", "Heat: It sleeps hot.", 0.0, 1.0),
    ("Noise level \u2013 Most users find it quiet.", "Noise level \u2013 Users find it quiet.",
     *RANGES["most"]),
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
    "2 of 8 reviewers stayed dry, while 3 of 8 got wet.", "One noted drawback is the weight.",
    "Two mentioned drawbacks were size and price.", "Noise: 4 mentions.",
    "One loved it and the other hated it.", "Two mention the weight, three the size.",
    "6 reviewers praised the battery, 2 criticized it.", "Every other reviewer likes it.",
    "5 of 8 users liked the fit, 2 of whom loved it.", "Reviewers 3 and 5 report that it leaks.",
    "Most users (6 of 8) love it while 2 of 8 hate it.",
    "2 of 8 reviewers found it comfortable, 3 found it tight.", "None mentioned.",
    "Three of eight reviewers said it leaked and two said it was loud.", "One found in the box.",
    "Half of the 8 settings work.", "It scored, 7 of 10, on comfort.",
    "Most of the battery is left.", "Two zippers broke.", "Half an hour is enough.",
    "Some water gets in.", "One of the zippers broke.", "All parts fit.", "No problems with it.",
    "One of the best.", "Everyone's favorite place.", "24/7 customer service is great.",
    "Users love it.", "Reviewers say that it leaks.", "Few parts were missing.", "", "most",
    "None of the zippers work.", "Almost none of the sizes fit.", "No one size fits all.",
    "No one color suits everybody.", "No one of the zippers works.", "None of them work.",
    # The quantity is not meant for a second clause or other people.
    "Some customers love the scent, while others find it overpowering.",
    "Some love it while others hate it.", "Half of the buyers love it and half hate it.",
    "No one complained about the noise, and the motor runs smoothly.",
    "Most users say it is good, but it leaks.", "Most say it is good, and some say it leaks.",
    "It is loved by most users, and the color is nice.", "12 of 1,0 users agree.",
    # Said of the staff, or of whoever might come.
    "Everyone was friendly and helpful.", "Everybody else doesn't open until noon.",
    "Guests are looked after by everyone who works there.", "Nobody answered the phone.",
    "Everyone should try it once.",
    "Most remarks are positive.", "A couple was delighted with it.",
    "All reviewers but one love it.",
    "All customers, except one, love it.",
    "Most mention of the battery is positive.", "Nearly everyone was friendly.",
    "Everyone is praised for the service.", "9/10 would buy it again.", "1/3 cup is enough.",
    "A 4-5 person tent fits.", "The lid leaks, according to the manual.",
    "Battery: 7 of 10 reviews.", "The numbers are: 7 of 10 reviews.",
    "Users agree: most parts fit.",
    # One more reviewer, two of some that are named before, those who are no reviewers.
    "A third reviewer says it leaks.", "Both liked it.", "Both parents and teachers love it.",
    # Each group has its own clause.
    "Most guests loved the pool and two mention noise.", "Most love it while a third report leaks.",
    "Most guests loved the pool, but 3 praise the bar.", "Most love it and two got wet.",
    # Letters that look like others when case is ignored.
    "ſix users love it.", "fıve users love it.",
])  # fmt: skip
def test_quantities_of_things_and_none_at_all(text):
    assert quantified(text) is None


@pytest.mark.parametrize(("words", "low", "high"), [
    ("20–90% of guests", 0.2, 0.9), ("Roughly 20–30% of guests", 0.2, 0.4),
    ("20% – 30% of guests", 0.2, 0.3), ("20—30 percent of guests", 0.2, 0.3),
    ("Between 20% and 30% of the guests", 0.2, 0.3),
    ("Three guests out of ten", 0.3, 0.3), ("3 people out of every 10", 0.3, 0.3),
    ("One person out of nine", 1 / 9, 1 / 9),
    ("80%+ of guests", 0.8, 1.0), ("80+% of guests", 0.8, 1.0),
    ("Up to a quarter of guests", *RANGES["few"]), ("Up to a third of guests", 0.0, 0.35),
    ("At most half of the guests", *RANGES["a minority"]),
    ("No more than two thirds of guests", 0.0, 0.67),
    ("Less than three quarters of guests", 0.0, 0.75),
    ("½ of guests", *RANGES["half"]), ("About ⅓ of the guests", *RANGES["a third"]),
    ("¼ of guests", *RANGES["a quarter"]), ("Over ⅔ of guests", *RANGES["over two thirds"]),
    ("¾ of guests", *RANGES["three quarters"]), ("⅗ of guests", 0.6, 0.6),
    ("At least ⅞ of guests", 0.875, 1.0),
])  # fmt: skip
def test_shares_in_other_signs_and_words(words, low, high):
    found = quantified(f"{words} praise the pool and the bar.")
    assert found.statement in {"Guests praise the pool and the bar.",
                               "People praise the pool and the bar."}  # fmt: skip
    claims = cut(f"{words} praise the pool and the bar.")
    assert (found.quantity.low, found.quantity.high) == (pytest.approx(low), pytest.approx(high))
    if not found.quantity.denies:  # "few" is left where it is
        shares = [(claim.quantity.low, claim.quantity.high) for claim in claims]
        assert shares == 2 * [(found.quantity.low, found.quantity.high)]


@pytest.mark.parametrize(("words", "count"), [
    ("2–3 guests", (2, 3)), ("2 – 3 guests", (2, 3)), ("2\u20113 guests", (2, 3)),
    ("Between 2 and 3 guests", (2, 3)), ("Between two and three of the guests", (2, 3)),
    ("5+ guests", (5, math.inf)),
])  # fmt: skip
def test_numbers_of_people_in_other_signs_and_words(words, count):
    assert quantified(f"{words} found the walls thin.").quantity.count == count
    (claim,) = cut(f"{words} found the walls thin.")
    assert (claim.text, claim.quantity.count) == ("The walls are thin.", count)
    assert claim.start == 0


@pytest.mark.parametrize("text", [
    "It takes 2–3 days.", "Two guests out of ten rooms complained.", "½ of the pool is closed.",
    "Between 2 and 3 pools are open.", "Open 24–7 for guests.",
])  # fmt: skip
def test_such_signs_and_words_of_things(text):
    assert quantified(text) is None
    assert [(claim.text, claim.quantity) for claim in cut(text)] == [(text, None)]


def test_a_number_of_people_is_a_share_of_the_reviews():
    quantity = quantified("Two customers returned it.").quantity
    assert quantity.count == (2, 2)
    assert quantity.shares(8) == (0.25, 0.25)
    assert quantity.shares(1) == (2.0, 2.0)  # more than there are
    assert quantified("Both reviewers liked it.").quantity.count == (2, 2)
    assert quantified("One customer returned it.").statement == "A customer returned it."
    assert quantified("One owner returned it.").statement == "An owner returned it."
    assert quantified("One of the owners returned it.").statement == "An owner returned it."
    assert quantified("A single reviewer returned it.").statement == "A reviewer returned it."


@pytest.mark.parametrize(("words", "low", "high"), [
    ("Only 3 users", 0.3, 0.3),
    ("At least 3 users", 0.3, 1.0),
    ("More than three users", 0.4, 1.0),
    ("Fewer than 3 users", 0.0, 0.2),
    ("Up to 3 users", 0.0, 0.3),
    ("About 4 users", 0.3, 0.5),
    ("5-7 users", 0.5, 0.7),
    ("5 to 7 users", 0.5, 0.7),
    ("No more than 2 users", 0.0, 0.2),
    ("No fewer than 2 users", 0.2, 1.0),
    ("A single user", 0.1, 0.1),
    ("5+ users", 0.5, 1.0),
    # More than there are: above 1, where no share of the reviews lies.
    ("11 users", 1.1, 1.1),
    ("At least 12 users", 1.2, 1.2),
    ("12-15 users", 1.2, 1.2),
    ("1,200 users", 120.0, 120.0),
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
    ("10 of 10", 10, 10, True),  # the interval ends at 1
    ("100% of", 10, 10, True),
    ("10 of 10", 3, 10, False),
    ("most", None, 20, None),
    ("4", 3, 3, False),          # four users of three reviews
    ("At least 12", 3, 3, False),
    ("2-4", 3, 3, True),
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
    assert list(json) == ["text", "low", "high", "agrees", "interval", "support", "of"]
    assert (json["support"], json["of"]) == (12, None)
    assert json["interval"] == pytest.approx(wilson_interval(12, 20))


@pytest.mark.parametrize(("text", "statement", "part"), [
    ("Most families loved the pool.", "Families loved the pool.", "families"),
    ("All couples loved it.", "Couples loved it.", "couples"),
    ("One parent complained.", "A parent complained.", "parents"),
    ("Half of the solo travellers liked it.", "Solo travellers liked it.", "solo travellers"),
    ("Several elderly guests say that it is steep.", "It is steep.", "elderly guests"),
    ("No locals eat there.", "Locals eat there.", "locals"),
    ("It is loved by many first-time users.", "It is loved by first-time users.",
     "first-time users"),
    ("Most families (80%) love it.", "Families love it.", "families"),
    ("Families (80%) love it.", "Families love it.", "families"),
    ("The pool is warm (80% of families).", "The pool is warm.", "families"),
    ("Most unhappy guests blame the noise.", "Unhappy guests blame the noise.", "unhappy guests"),
    ("Most guests who ate there loved it.", "Guests who ate there loved it.", "guests who …"),
    ("Most users with wide feet like it.", "Users with wide feet like it.", "users with …"),
    # These may stand for all reviewers.
    *((f"Most {people} love it.", f"{people} love it.".capitalize(), None) for people in (
        "users", "guests", "people", "visitors", "past customers", "verified buyers", "travellers",
        "readers", "players", "patients", "wearers", "others",
    )),
    # So many of a part are so many of all.
    ("Two unhappy guests complained.", "Unhappy guests complained.", None),
    ("One user with wide feet returned it.", "A user with wide feet returned it.", None),
    # A count of reviews says more exactly what words say of a part.
    ("Most families love the pool (2 of 20 reviews).", "Families love the pool.", None),
])  # fmt: skip
def test_a_quantity_of_a_part_of_the_reviewers_is_not_compared(text, statement, part):
    found = quantified(text)
    assert (found.statement, found.quantity.of) == (statement, part)
    compared = agreement(found.quantity, 7, 30)
    assert (compared.agrees is None, compared.interval is None) == (part is not None,) * 2
    assert compared.of == part
    # A file of claims keeps whose it is.
    words = f"{found.quantity.text} {part or ''}".strip()
    assert stated_claim({"text": "It is warm.", "quantity": words})[1].of == part


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_against_scipy(counts):
    k, n = counts
    expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(k, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("k", "n"), [(1, 0), (3, 2)])
def test_no_interval(k, n):
    with pytest.raises(InputError, match="no interval"):
        wilson_interval(k, n)


WORDS = [
    "Most", "3 of 5", "80% of", "Nobody", "At least 3", "5-7", "users", "families", "say that",
    "love", "loves", "it", "leaks", "according to", "(7 of 10 reviews)", ",", ".",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.text(max_size=60))
@example("3 of 5 users say that it leaks")
def test_any_text_is_read(text):
    found = quantified(text)
    assert found is None or 0 <= found.quantity.low <= found.quantity.high <= 1


SEVEN, NO_SHARE = (0.7, 0.7, None), (0.0, 1.0)


@pytest.mark.parametrize(("words", "low", "high", "count"), [
    ("(7 of 10 reviews)", *SEVEN), ("(7/10 reviewers)", *SEVEN), ("(7 out of 10)", *SEVEN),
    ("(in 7 of the 10 reviews)", *SEVEN), ("(7 of 10 reviewers agree)", *SEVEN),
    ("(7 of 10 reviewers, 70%)", *SEVEN), ("(7 of 10 mention this)", *SEVEN),
    ("(about 80% of users)", 0.7, 0.9, None), ("(~80% of users)", 0.7, 0.9, None),
    ("(noted by 80%)", 0.8, 0.8, None),
    ("(several reviewers)", *RANGES["several"], None), ("(most users)", *RANGES["most"], None),
    ("(reported by many)", *RANGES["many"], None), ("(most agree)", *RANGES["most"], None),
    ("(as mentioned by several guests)", *RANGES["several"], None),
    ("(all 10 reviewers)", *RANGES["all"], None),
    ("(12 mentions)", *NO_SHARE, (12, 12)), ("(n=7)", *NO_SHARE, (7, 7)),
    ("(mentioned by 7 reviewers)", *NO_SHARE, (7, 7)), ("(3 reviews)", *NO_SHARE, (3, 3)),
    ("(reported by 4 people)", *NO_SHARE, (4, 4)), ("(1 review)", *NO_SHARE, (1, 1)),
    ("[5 reviewers]", *NO_SHARE, (5, 5)), ("(10+ reviews)", *NO_SHARE, (10, float("inf"))),
    # Those who are named say so; others may too.
    ("(Reviews 1, 3 and 5)", *NO_SHARE, (3, float("inf"))),
    ("(R1, R3, R5)", *NO_SHARE, (3, float("inf"))),
    ("(see reviews 2-4, 4 and #7)", *NO_SHARE, (4, float("inf"))),
    ("(Review 1, Review 3)", *NO_SHARE, (2, float("inf"))),
    ("[Review #2; Review #5 and reviewer 7]", *NO_SHARE, (3, float("inf"))),
    ("(Reviewer 4)", *NO_SHARE, (1, float("inf"))),
])  # fmt: skip
def test_counts_in_brackets_are_taken_out_whole(words, low, high, count):
    for text in (f"The battery lasts {words}.", f"The battery lasts. {words}",
                 f"The battery lasts {words}", f"{words} The battery lasts.",
                 f"{words}: the battery lasts."):  # fmt: skip
        found = quantified(text)
        assert found is not None, text
        assert found.statement.rstrip(".") == "The battery lasts"
        assert found.statement.count(".") == text.count(".")
        assert (found.quantity.low, found.quantity.high) == pytest.approx((low, high))
        assert found.quantity.count == count
        # What a file of claims says of it is read as the same.
        assert people_at(f"{found.quantity.text} users").quantity == found.quantity


def test_a_count_behind_a_dash_at_the_end():
    for text in ("The lid leaks — 7 of 10 reviewers.", "The lid leaks - 7/10 reviewers."):
        found = quantified(text)
        assert (found.statement, found.quantity.text) == ("The lid leaks.", "7 of 10")
    for rest in ("the lid leaks – most users.", "it lasted 5–7 reviews.", "the lid — 7 out of 10."):
        assert asides(rest) == []


@pytest.mark.parametrize(("text", "statement"), [
    ("Comfort (3 of 4 reviews): The seat is very comfortable.", "The seat is very comfortable."),
    ("Fit (3 of 4 reviews): Small.", "Fit: Small."),
    ("Fit: (3 of 4 reviews) Small.", "Fit: Small."),
    ("Sound (3 of 4 reviews): It is clear and loud.", "Sound: It is clear and loud."),
    ("Fit | 3 of 4 | The shoes are small.", "Fit | The shoes are small."),
    ("Fit | The shoes are small | 3 of 4 reviews", "Fit | The shoes are small"),
])  # fmt: skip
def test_a_count_of_a_label_or_a_row_is_of_all_behind_it(text, statement):
    found = quantified(text)
    assert (found.statement, found.quantity.text) == (statement, "3 of 4")


@pytest.mark.parametrize("words", [
    "(4 of 5 stars)", "(4/5 stars)", "(2 of the 3 hinges broke)", "(7 of 10 times)", "(3 speeds)",
    "(80%)", "(7/10)", "(1 in 5)", "(7)", "(most)", "(all)", "(everyone)", "(by 7)", "(by many)",
    "(4 people)", "(2 players)", "(for 4 users)", "(used by many)", "(reviewers)", "(Review)",
    "(no complaints)", "(several reviewers, mostly runners)", "(11 of 10)", "()", "(12",
    "(reviews of 2019)", "(7 of 10 reviews", "7 of 10 reviews)", "((7 reviews))x(",
])  # fmt: skip
def test_brackets_that_say_something_else_stay(words):
    if words != "((7 reviews))x(":
        assert asides(f"The battery drains {words}.") == []
    assert quantified(f"The battery {words} drains.") is None


@pytest.mark.parametrize("text", [
    "150% of users say it leaks.", "11 of 8 reviewers say it leaks.", "It leaks (11 of 8 reviews).",
])  # fmt: skip
def test_reviews_never_agree_with_more_than_all_of_them(text):
    quantity = quantified(text).quantity
    assert [agreement(quantity, support, 8).agrees for support in range(9)] == [False] * 9


def test_a_grade_is_no_count():
    assert quantified("It is rated highly (8 out of 10).") is None
    assert quantified("It lasts for days (8 out of 10).") is not None


@pytest.mark.parametrize(("text", "statement", "words"), [
    ("Most users (80%) love the fit.", "Users love the fit.", "80%"),
    ("Most users (7/10) say that it leaks.", "It leaks.", "7 of 10"),
    ("Several users (3) mention leaks.", "Users mention leaks.", "3"),
    ("Reviewers (80%) love it.", "Reviewers love it.", "80%"),
    ("It is loved by most users (80%).", "It is loved by users.", "80%"),
    # A count says more exactly what words say too.
    ("Most users love the fit (12 of 20).", "Users love the fit.", "12 of 20"),
    ("Most users say that it is loud and the cord is short (12 of 20).",
     "It is loud and the cord is short.", "12 of 20"),
    ("Few users complained (2 of 20).", "Users complained.", "2 of 20"),
    # It is of what the words say where both cannot be meant.
    ("Nobody complained (12 of 20 reviewers).", "Nobody complained.", "12 of 20"),
    ("(3 reviews) It is soft and the lid leaks.", "It is soft and the lid leaks.", "3"),
])  # fmt: skip
def test_counts_beside_words(text, statement, words):
    found = quantified(text)
    assert (found.statement, found.quantity.text) == (statement, words)


@pytest.mark.parametrize("text", [
    "Reviewers (7) love it.", "The battery (7 of 10 reviews) lasts.", "(7 of 10 reviews)",
    "The fabric is soft, but the zipper sticks (7 of 10 reviews).",
    "The fabric is soft and the zipper sticks (7 of 10 reviews).",
    "The fabric is soft (7 of 10 reviews), but the zipper sticks (2 of 10 reviews).",
    "It is soft (7 reviews) and warm (3 reviews).",
])  # fmt: skip
def test_no_statement_of_one_count(text):
    assert quantified(text) is None


@given(st.lists(st.sampled_from([
    "most users", "it leaks", "7 of 10 reviews", "80% of users", "n=7", "Reviews 1, 3", ",", ".",
    "by",
]), max_size=10).map(" ".join))  # fmt: skip
def test_nothing_stands_apart_without_brackets_bars_colons_and_dashes(text):
    assert asides(text) == []


@given(st.lists(st.sampled_from([
    "(", ")", "[", "]", "(7 of 10 reviews)", "(80%)", "(n=7)", "most users", "say that", "it leaks",
    ",", "but", ".", " - ", "—", "7 reviewers", "(Reviews 1, 3)", "by", "1/2", " ",
]), max_size=12).map(" ".join))  # fmt: skip
def test_what_stands_apart_lies_in_order_and_is_left_out(text):
    found = asides(text)
    ends = [0, *(aside.end for aside in found)]
    assert all(end <= aside.start < aside.end for end, aside in zip(ends, found, strict=False))
    said = quantified(text)
    assert not found or said is None or any(map(str.isalnum, said.statement))


def test_many_brackets_take_time_in_proportion():
    for unit in (
        "(",
        "(7 of 10 ",
        "(7 reviews) ",
        "— 7 reviewers ",
        "| 7 reviews ",
        ": 7 reviews ",
        " according to 7 users",
        "|",
        "a (7 reviews): ",
        "(" + "many " * 23 + ")",
    ):
        assert quantified(unit * (200_000 // len(unit)) + ".") is None


def test_reviews_on_both_sides_of_a_range_are_counted():
    counts = [asides(f"Warm ({said}).")[0].quantity.count for said in ("R1-R5", "R1-5")]
    assert counts == [(5, math.inf)] * 2
