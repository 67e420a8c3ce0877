"""What the profile reads off the reviews' answers, and what it asks other products."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence import OpinionPrevalence
from prevalence.errors import ConfigurationError, InputError
from prevalence.records import Product, Review, Summary
from prevalence.scored import PROFILE_FIGURES, Profile, ScoredSummary
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.scoring.others import OtherProducts
from prevalence.scoring.systems import SystemTable

FITS, WARM, BLUE = "It fits.", "It is warm.", "It is blue."
GLAD, COLD, PLAIN = "Glad of it.", "So cold.", "Plain."
ANSWERS = {
    (GLAD, FITS): (0.9, 0.0),
    (GLAD, WARM): (0.6, 0.1),
    (COLD, FITS): (0.7, 0.0),
    (COLD, WARM): (0.1, 0.8),
    (PLAIN, WARM): (0.2, 0.7),
    (PLAIN, FITS): (0.1, 0.8),
}
RATED = (Review(GLAD, extra={"rating": 5}), Review(COLD, extra={"rating": "2"}), Review(PLAIN))


def profiled(scorer, summary, reviews=RATED, **options):
    product = Product("p", reviews, (Summary("s", summary),))
    (row,) = Engine(scorer, ScoringOptions(profile=True, **options)).run([product])
    return row


def test_attested_and_contested_shares_by_hand(fake_scorer):
    # FITS: 2 for, 1 against; WARM: 1 for, 2 against; BLUE: none of either. The last repeats.
    scorer = fake_scorer({**ANSWERS, (FITS, "Fits."): (0.9, 0.0)})
    row = profiled(scorer, f"{FITS} {WARM} {BLUE} Fits.")
    assert [sentence.support for sentence in row] == [2, 1, 0, None]
    assert [sentence.contradicted_by for sentence in row] == [1, 2, 0, None]
    assert row.profile.attested == pytest.approx(2 / 3)
    assert row.profile.contested == pytest.approx(1 / 3)


@pytest.mark.parametrize("options", [{"full_matrix": True}, {"soft": True}])
def test_asking_everything_changes_no_figure(fake_scorer, options):
    summary = f"{FITS} {FITS} {WARM}"
    asked = profiled(fake_scorer(ANSWERS), summary).profile
    assert profiled(fake_scorer(ANSWERS), summary, **options).profile == asked


def test_without_a_contradiction_class_nothing_is_said_of_contested(fake_scorer):
    found = profiled(fake_scorer(ANSWERS, three_way=False), FITS).profile
    assert found.contested is None
    assert found.missing["contested"] == "the model has no contradiction class"
    assert found.attested == 1.0


def test_a_summary_of_masked_units_attests_nothing(fake_scorer):
    scorer = fake_scorer({("I bought a boot.", FITS): (0.9, 0.0)})
    product = Product("p", RATED, (Summary("s", FITS),), "boot")
    (row,) = Engine(scorer, ScoringOptions(profile=True)).run([product])
    assert row.profile.attested is row.profile.contested is None
    assert row.profile.missing["attested"] == "every unit of the summary is trivial or redundant"


def test_numbers_beyond_all_scales_are_no_ratings(fake_scorer):
    usual = profiled(fake_scorer(ANSWERS), FITS, reviews=RATED).profile
    huge = (*RATED[:2], Review(PLAIN, extra={"rating": 1e308}), Review("", extra={"rating": 1e308}))
    found = profiled(fake_scorer(ANSWERS), FITS, reviews=huge).profile
    assert (found.polarity, found.polarity_target) == (usual.polarity, usual.polarity_target)


def test_polarity_is_that_of_the_supporters(fake_scorer):
    # FITS is backed by 5 and 2 stars, WARM by 5: mean 4.25; the rated reviews have 3.5.
    found = profiled(fake_scorer(ANSWERS), f"{FITS} {WARM} {BLUE}").profile
    assert (found.polarity, found.polarity_target) == (4.25, 3.5)
    assert found.polarity_distance == 0.75
    none = profiled(fake_scorer(ANSWERS), BLUE).profile
    assert none.polarity_distance is None
    assert none.missing["polarity_distance"].startswith("no rated review")
    bare = profiled(fake_scorer(ANSWERS), FITS, (Review(GLAD),)).profile
    assert bare.missing["polarity_distance"] == "no review has a rating"
    worded = profiled(fake_scorer(ANSWERS), FITS, (Review(GLAD, extra={"rating": "good"}),)).profile
    assert worded.missing["polarity_distance"] == "none has a number in rating"


def test_ratings_may_stand_before_the_best_of_their_scale(fake_scorer):
    usual = profiled(fake_scorer(ANSWERS), FITS, reviews=RATED).profile
    spelt = tuple(
        Review(one.text, extra={"rating": f"{one.extra['rating']},0/10"} if one.extra else {})
        for one in RATED
    )
    found = profiled(fake_scorer(ANSWERS), FITS, reviews=spelt).profile
    assert (found.polarity, found.polarity_target) == (usual.polarity, usual.polarity_target)


def test_groups_by_hand(fake_scorer):
    # Attested are FITS and WARM: reviews cover .75, .4 and .15, 1.3 / 3 on average.
    groups = "rating >= 4, rating <= 2, rating = 9"
    row = profiled(fake_scorer(ANSWERS), f"{FITS} {WARM} {BLUE}", groups=groups)
    mean = 1.3 / 3
    assert row.profile.review_coverage == pytest.approx(mean)
    high, low, none = row.profile.groups.values()
    assert (high["reviews"], high["coverage"]) == (1, pytest.approx(0.75))
    assert (low["reviews"], low["coverage"]) == (1, pytest.approx(0.4))
    assert none == {"reviews": 0, "coverage": None}
    assert row.profile.equal_coverage == pytest.approx(((0.75 - mean) + (mean - 0.4)) / 2)
    assert "|groups:rating>=4, rating<=2, rating=9|" in row.signature


def test_groups_without_members_and_summaries_without_support_have_reasons(fake_scorer):
    nobody = profiled(fake_scorer(ANSWERS), FITS, groups="rating = 9").profile
    assert nobody.missing["equal_coverage"] == "no review is in a group"
    nothing = profiled(fake_scorer(ANSWERS), BLUE, groups="rating >= 1").profile
    assert nothing.missing["equal_coverage"] == "no review implies a unit of the summary"


def others(*texts, system="s"):
    return [
        Product(f"q{k}", (Review(f"Review {k}."),), (Summary(system, text),), "boot")
        for k, text in enumerate(texts)
    ]


def engine_beside(items, scorer, most=9, **options):
    pool = OtherProducts.of(items, most=most)
    return Engine(scorer, ScoringOptions(profile=True, others=most, **options), others=pool)


def test_genericness_as_hiro_defines_it(fake_scorer):
    # Of three other summaries two imply FITS and none WARM; the third sentence is redundant and
    # counts 0: (2/3 + 0 + 0) / 3. One of the three other reviews implies WARM: (0 + 1/3 + 0) / 3.
    answers = {
        ("Fits all.", FITS): (0.9, 0.0),
        ("Fits most.", FITS): (0.9, 0.0),
        ("Fits most.", "Fits."): (0.9, 0.0),
        ("Review 1.", WARM): (0.9, 0.0),
        (FITS, "Fits."): (0.9, 0.0),
        (GLAD, FITS): (0.9, 0.0),
    }
    own = Product("p", (Review(GLAD), Review(COLD)), (Summary("s", f"{FITS} {WARM} Fits."),))
    items = [own, *others("Fits all.", "Fits most.", ""), *others("Other.", system="t")]
    engine = engine_beside(items, fake_scorer(answers))
    row = next(engine.run([own]))
    found = row.profile
    assert row.prevalence == pytest.approx(1 / 6)
    assert found.genericness == pytest.approx(2 / 9)
    assert found.sap == pytest.approx(1 / 6 - 0.5 * 2 / 9)
    # The fourth product has the same reviews as the first of the others, under the same id.
    assert found.review_genericness == pytest.approx(1 / 9)
    assert found.review_sap == pytest.approx(1 / 6 - 0.5 / 9)
    assert "|others:4of4@" in row.signature
    assert "|alpha:0.5|" in row.signature


def test_alone_there_is_no_genericness(fake_scorer):
    own = Product("p", RATED, (Summary("s", FITS),))
    (row,) = engine_beside([own], fake_scorer(ANSWERS)).run([own])
    assert row.profile.genericness is row.profile.sap is None
    why = "the input has no other product with a "
    assert row.profile.missing["sap"] == f"{why}summary by this system"
    assert row.profile.missing["review_sap"] == f"{why}review that is not empty"


def test_empty_texts_of_other_products_are_not_asked(fake_scorer):
    own = Product("p", RATED, (Summary("s", FITS),))
    scorer = fake_scorer()
    items = [own, *others("<p></p>", "Fits all.")]
    (row,) = engine_beside(items, scorer).run([own])
    assert row.profile.genericness == 0.0
    assert ("Fits all.", FITS) in scorer.asked
    assert all(premise.strip() for premise, _ in scorer.asked)


def test_a_unit_too_long_to_read_is_not_generic(fake_scorer):
    # Nobody was asked about it before: it has no earlier sentence, no name, and empty reviews.
    own = Product("p", (Review(""),), (Summary("s", FITS),))
    scorer = fake_scorer(too_long=frozenset({FITS}))
    (row,) = engine_beside([own, *others("Fits.")], scorer).run([own])
    assert (row.error, row.prevalence, row.profile.genericness) == (None, 0.0, 0.0)


def test_an_empty_summary_is_not_generic(fake_scorer):
    own = Product("p", RATED, (Summary("s", ""),))
    (row,) = engine_beside([own, *others("Fits.")], fake_scorer(ANSWERS)).run([own])
    assert (row.profile.genericness, row.profile.sap) == (0.0, 0.0)


@given(st.permutations(range(6)), st.integers(1, 7))
@settings(max_examples=30, deadline=None)
def test_others_are_drawn_alike_in_every_order(order, most):
    items = others(*(f"Text {k}." for k in range(6)))
    # One product has two summaries by the system, in records of their own.
    items[5] = replace(items[4], summaries=items[5].summaries)
    straight, shuffled = (
        OtherProducts.of(found, most=most) for found in (items, [items[k] for k in order])
    )
    assert straight.signature == shuffled.signature
    for item in items:
        found = straight.compared(item, "s")
        assert found == shuffled.compared(item, "s")
        assert len(found.summaries) == found.of_summaries == min(most, 4)
        assert item.summaries[0].text not in found.summaries


def test_the_signature_of_others_changes_with_any_text_and_with_whose_it_is():
    items = others("One.", "Two.")
    found = OtherProducts.of(items, most=1).signature
    changed = [items[0], replace(items[1], summaries=(Summary("s", "Too."),))]
    assert OtherProducts.of(changed, most=1).signature != found
    # Their ids decide which products are drawn.
    one, renamed = (
        OtherProducts.of([item], most=1) for item in (items[0], replace(items[0], id="z"))
    )
    assert one.signature != renamed.signature


def test_other_products_are_digested_once_and_put_in_order_once_a_product(monkeypatch):
    made = [
        Product(
            f"p{k}", (Review(f"Review {k}."),), tuple(Summary(s, f"{s} of {k}.") for s in "abcd")
        )
        for k in range(20)
    ]
    pool = OtherProducts.of(made, most=3)
    digest, calls = hashlib.blake2b, []
    monkeypatch.setattr(hashlib, "blake2b", lambda *a, **k: calls.append(a) or digest(*a, **k))
    assert pool.signature == pool.signature
    assert calls == []
    for system in "abcd":
        pool.compared(made[0], system)
    # Each time the product's own key, and once the 19 others.
    assert len(calls) == 4 + 19


def test_genericness_without_other_products_is_refused(fake_scorer):
    engine = Engine(fake_scorer(), ScoringOptions(profile=True, others=3))
    with pytest.raises(ConfigurationError, match="give the engine all of them"):
        next(engine.run([]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "rating > 1"}, "groups needs the profile"),
        ({"others": 2}, "others needs the profile"),
        ({"profile": True, "others": 0}, "others must be at least 1, not 0"),
        ({"profile": True, "sap_alpha": -1.0}, "sap_alpha must be at least 0"),
        ({"profile": True, "coverage_statements": 0}, "coverage_statements must be at least 1"),
        ({"profile": True, "groups": "rating > 1, rating > 1"}, "the same group stands there"),
        ({"profile": True, "groups": ["rating > 1"]}, "groups must be a string, not"),
        (
            {"profile": True, "statements_where": "aspect = fit"},
            "the profile also applies the condition",
        ),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(ConfigurationError, match=message):
        ScoringOptions(**options)


def test_rows_come_back_from_json(fake_scorer):
    own = Product("p", RATED, (Summary("s", f"{FITS} {WARM}"),))
    engine = engine_beside([own, *others("Fits.")], fake_scorer(ANSWERS), groups="rating > 1")
    (row,) = engine.run([own])
    item = json.loads(row.to_json_line())
    assert ScoredSummary.from_json(item) == row
    assert set(PROFILE_FIGURES) <= set(item["profile"])


@pytest.mark.parametrize(
    "change",
    [
        {"groups": {"x": 5}},
        {"groups": {"x": {}}},
        {"groups": {"x": {"reviews": 2, "coverage": "a"}}},
        {"groups": [1]},
        {"review_coverage": "a"},
    ],
)
def test_damaged_groups_are_an_error_of_the_input(fake_scorer, change):
    own = Product("p", RATED, (Summary("s", FITS),))
    (row,) = Engine(fake_scorer(ANSWERS), ScoringOptions(profile=True)).run([own])
    item = row.to_json()
    item["profile"] |= change
    with pytest.raises(InputError, match="not a scored summary"):
        ScoredSummary.from_json(item)


def test_ratings_are_part_of_the_input(fake_scorer):
    own = Product("p", RATED, (Summary("s", FITS),))
    other = replace(own, reviews=(replace(RATED[0], extra={"rating": 1}), *RATED[1:]))
    engine = Engine(fake_scorer(ANSWERS), ScoringOptions(profile=True))
    first, second = engine.run([own, other])
    assert first.input_digest != second.input_digest
    plain = Engine(fake_scorer(ANSWERS))
    assert len({row.input_digest for row in plain.run([own, other])}) == 1


def profiles_row(number, **figures):
    return ScoredSummary(
        id=f"p{number}", system="s", prevalence=0.5, n_reviews=2, sentences=(), signature="x",
        profile=Profile(**figures),
    )  # fmt: skip


def test_systems_have_the_means_of_their_summaries():
    table = SystemTable()
    groups = [
        {"low": {"reviews": 2, "coverage": 0.2}, "high": {"reviews": 0, "coverage": None}},
        {"low": {"reviews": 1, "coverage": 0.9}, "high": {"reviews": 3, "coverage": 0.4}},
    ]
    table.add(
        profiles_row(1, coverage=0.2, polarity_distance=3.0, review_coverage=0.5, groups=groups[0])
    )
    table.add(
        profiles_row(2, coverage=0.6, polarity_distance=1.0, review_coverage=0.6, groups=groups[1])
    )
    table.add(profiles_row(3))
    [found] = table.statistics()
    assert found.profile["coverage"] == pytest.approx(0.4)
    # Root of (9 + 1) / 2, and a mean of 2.
    assert found.profile["polarity_distance"] == pytest.approx((5**0.5 + 2) / 2)
    # "low" is (2 · −.3 + .3) / 3 = −.1 from its products' means, "high" −.2.
    assert found.profile["coverage_parity"] == pytest.approx(0.15)
    assert "genericness" not in found.profile


def test_the_python_api_gives_profiles(fake_scorer):
    metric = OpinionPrevalence(scorer=fake_scorer(ANSWERS))
    row = metric.score([GLAD, COLD], FITS, profile=True)
    assert row.profile.attested == 1.0
    assert metric.score([GLAD, COLD], FITS).profile is None
    assert metric.counts.scored == 2
    asked = OpinionPrevalence(scorer=fake_scorer(ANSWERS), profile=True, others=5)
    items = others("Fits all.", "Fits most.", "All fit.")
    rows = list(asked.score_many(items))
    assert all(row.profile.genericness == 0.0 for row in rows)
    assert len({row.signature for row in rows}) == 1
    assert asked.score([GLAD], FITS, profile=False).profile is None
    one, two = (next(asked.score_many(found)) for found in (items, items[:2]))
    assert one.signature != two.signature
