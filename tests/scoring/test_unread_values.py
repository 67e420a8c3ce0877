"""Values that conditions, groups and ratings cannot read, and what is said of them."""

from __future__ import annotations

from prevalence.records import Product, Review, Summary
from prevalence.scoring.engine import Engine
from prevalence.scoring.options import ScoringOptions
from prevalence.scoring.unread_values import UnreadValues

REVIEWS = tuple(
    Review("Bright.", extra={"date": date, "rating": rating})
    for date, rating in [
        ("2024-06-30", "8,3/10"), ("30.06.2024", 4), ("06/30/2024", "4/5"), ("", "good"),
    ]
)  # fmt: skip
LAMP = Product("lamp", REVIEWS, (Summary("a", "Bright."), Summary("b", "Dark.")))


def notes(**options):
    unread = UnreadValues(ScoringOptions(**options))
    unread.add(LAMP)
    return list(unread.notes())


def test_reviews_without_a_date_are_counted_once_a_field():
    assert notes(reviews_where="Date >= 2024-05 and Date < 2024-08 and rating != 1") == [
        "Date: 2 of 4 reviews have no date such as 2024-06-30 (one has '06/30/2024') and are left "
        "out",
    ]
    assert notes(reviews_where="date = 2024") == notes() == []


def test_numbers_before_their_scale_are_told():
    assert notes(reviews_where="rating >= 2") == [
        "rating: 1 of 4 reviews has no number (one has 'good') and is left out",
        "rating: 2 of 4 values are read as the number before the scale ('8,3/10'); scales of 5 and "
        "10 are compared as they stand",
    ]


def test_groups_and_polarity_look_at_the_reviews_that_are_left():
    assert notes(reviews_where="date >= 2024", profile=True, groups="date > 2024-06-29") == [
        "date: 2 of 4 reviews have no number or date such as 2024-06-30 (one has '06/30/2024') "
        "and are left out",
        "rating: 1 of 2 values is read as the number before the scale ('8,3/10')",
    ]
    assert notes(profile=True, groups="date > 2024-06-29")[:2] == [
        "date: 2 of 4 reviews have no date such as 2024-06-30 (one has '06/30/2024') and are in no "
        "group that asks for it",
        "rating: 1 of 4 reviews has no number (one has 'good') and is left out of polarity",
    ]


def test_counts_of_workers_are_joined():
    options = ScoringOptions(reviews_where="rating >= 2")
    one, whole, driver = UnreadValues(options), UnreadValues(options), UnreadValues(options)
    for _ in range(2):
        one.add(LAMP)
        driver.join(one.to_json())
        whole.add(Product("other", REVIEWS[:2] + REVIEWS[2:], ()))
    one.add(LAMP.part(LAMP.summaries[:1]))
    assert "1 of 4 reviews" in next(one.notes())
    assert "2 of 8 reviews" in next(driver.notes())


def test_an_engine_counts_a_product_with_several_summaries_once(fake_scorer):
    engine = Engine(fake_scorer({}), ScoringOptions(reviews_where="date >= 2024-05"))
    assert len(list(engine.run([LAMP]))) == 2
    assert "2 of 4 reviews" in next(engine.unread.notes())
