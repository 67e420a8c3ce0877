"""The ceiling against Algorithm 1 written out naively, and what rows say about it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence import OpinionPrevalence
from prevalence.errors import ConfigurationError
from prevalence.records import Product, Review, Summary
from prevalence.scored import ScoredSummary
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.summarize.candidates import Candidates, closed
from prevalence.text.sentences import get_splitter

SENTENCES = ("It fits.", "Runs small.", "Warm and soft.", "Came late!", "No name")


@st.composite
def products(draw):
    texts = st.lists(st.sampled_from(SENTENCES), max_size=3).map(" ".join)
    summaries = draw(st.lists(texts, min_size=1, max_size=3))
    return Product(
        id=f"p{draw(st.integers(0, 9))}",
        name=draw(st.sampled_from([None, "boot"])),
        reviews=tuple(map(Review, draw(st.lists(texts, min_size=1, max_size=5)))),
        summaries=tuple(Summary(f"s{k}", text) for k, text in enumerate(summaries)),
    )


def algorithm_1(product, characters, answer, threshold):
    """Malon 2023, Algorithm 1, to the letter: the supports of what it chooses."""

    def implies(premise, hypothesis):
        return answer(premise, hypothesis)[0] > np.float32(threshold)

    reviews = [review.text for review in product.reviews]
    sentences = [closed(s.text) for text in reviews for s in get_splitter()(text)]
    if product.name is not None:
        sentences = [s for s in sentences if not implies(f"I bought a {product.name}.", s)]
    supports = {s: sum(implies(x, s) for x in reviews if x.strip()) for s in set(sentences)}
    chosen = []
    for sentence in sorted(sentences, key=lambda s: -supports[s]):  # stable: ties in source order
        if sum(map(len, chosen)) >= characters:
            break
        if not any(implies(earlier, sentence) for earlier in chosen):
            chosen.append(sentence)
    return [supports[sentence] for sentence in chosen]


@given(items=st.lists(products(), max_size=3), threshold=st.sampled_from([0.04, 0.3, 0.6]))
@settings(max_examples=60, deadline=None)
def test_the_ceiling_is_what_algorithm_1_reaches(fake_scorer, items, threshold):
    scorer = fake_scorer(threshold=threshold, work_unit=20)
    engine = Engine(scorer, ScoringOptions(ceiling=True))
    rows = list(engine.run(items))
    cases = [(product, summary) for product in items for summary in product.summaries]
    plain = Engine(fake_scorer(threshold=threshold)).run(items)
    for row, (product, summary), without in zip(rows, cases, plain, strict=True):
        assert row.prevalence == without.prevalence
        characters = sum(len(s.text) for s in get_splitter()(summary.text))
        if not characters:
            assert row.ceiling is row.ceiling_share is None
            continue
        supports = algorithm_1(product, characters, scorer.answer, threshold)
        reached = sum(supports) / (len(product.reviews) * len(supports)) if supports else 0.0
        assert row.ceiling == pytest.approx(reached, abs=1e-12)
        assert row.ceiling_share == (row.prevalence / row.ceiling if row.ceiling else None)
    assert engine.counts.ceiling_asked <= engine.counts.ceiling_most
    whole = Engine(fake_scorer(threshold=threshold, work_unit=20))
    list(whole.run(items))
    for name in ("naive", "planned", "unique"):
        assert getattr(engine.counts, name) == getattr(whole.counts, name)


# Reviews 0 and 1 imply "It fits.", reviews 1 and 2 "It is warm.", review 0 "It is blue."
ANSWERS = {
    ("It fits. It is blue.", "It fits."): (0.9, 0.0),
    ("It fits. It is blue.", "It is blue."): (0.9, 0.0),
    ("It fits. It is warm.", "It fits."): (0.9, 0.0),
    ("It fits. It is warm.", "It is warm."): (0.9, 0.0),
    ("It is warm.", "It is warm."): (0.9, 0.0),
    **{(s, s): (0.9, 0.0) for s in ("It fits.", "It is blue.")},
}
REVIEWS = tuple(map(Review, ("It fits. It is blue.", "It fits. It is warm.", "It is warm.")))


def test_a_worked_example(fake_scorer):
    # "It is blue." has 11 characters and support 1 of 3. Greedy takes "It fits." (8 characters,
    # support 2), then "It is warm." (2): 4 / (3 · 2) = 2/3, of which 1/3 is one half.
    product = Product("p", REVIEWS, (Summary("s", "It is blue."), Summary("t", "It fits.")))
    engine = Engine(fake_scorer(ANSWERS), ScoringOptions(ceiling=True))
    said = []
    first, second = engine.run([product], announced=said.append)
    assert (first.prevalence, first.ceiling) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert first.ceiling_share == pytest.approx(0.5)
    assert (second.ceiling, second.ceiling_share) == (pytest.approx(2 / 3), 1.0)
    assert "|ceiling:greedy|v:" in first.signature
    # Three reviews and three distinct sentences.
    assert said == [9]
    assert engine.counts.ceiling_most == 9
    assert 0 < engine.counts.ceiling_asked <= 9
    item = json.loads(first.to_json_line())
    assert (item["ceiling"], item["ceiling_share"]) == (first.ceiling, first.ceiling_share)
    assert ScoredSummary.from_json(item) == first


def test_a_ceiling_of_the_reviews_and_statements_that_are_left(fake_scorer):
    # Without the review that is blue: "It is warm." has 2 of 2, "It fits." 1.
    product = Product(
        "p",
        tuple(Review(r.text, extra={"stars": k}) for k, r in enumerate(REVIEWS)),
        (Summary("s", "It fits."),),
    )
    options = ScoringOptions(ceiling=True, reviews_where="stars >= 1")
    (row,) = Engine(fake_scorer(ANSWERS), options).run([product])
    assert (row.prevalence, row.ceiling) == (0.5, 1.0)
    options = replace(options, statements_where="text has fits")
    (row,) = Engine(fake_scorer(ANSWERS), options).run([product])
    assert (row.prevalence, row.ceiling, row.ceiling_share) == (0.5, 0.5, 1.0)
    nothing = replace(options, statements_where="text has price")
    (row,) = Engine(fake_scorer(ANSWERS), nothing).run([product])
    assert row.prevalence is row.ceiling is row.ceiling_share is None


def test_a_ceiling_of_zero_gives_no_share(fake_scorer):
    product = Product("p", (Review("It fits."),), (Summary("s", "It is blue."),))
    (row,) = Engine(fake_scorer({}), ScoringOptions(ceiling=True)).run([product])
    assert (row.prevalence, row.ceiling, row.ceiling_share) == (0.0, 0.0, None)
    assert row.to_json()["ceiling_share"] is None


def test_the_reviews_of_a_product_are_cut_once(fake_scorer, monkeypatch):
    cut, at_once = [], Candidates.of

    def counting(reviews, splitter, **options):
        cut.append(reviews)
        return at_once(reviews, splitter, **options)

    monkeypatch.setattr(Candidates, "of", counting)
    summaries = (Summary("s", "It is blue."), Summary("t", "It fits."))
    items = [Product(f"p{n}", (Review("It fits."),), summaries) for n in range(3)]
    rows = list(Engine(fake_scorer(ANSWERS), ScoringOptions(ceiling=True)).run(items))
    assert len(rows) == 6
    assert cut == [["It fits."]] * 3


def test_labels_and_a_ceiling_exclude_each_other():
    with pytest.raises(ConfigurationError, match="restrict statements by words of their text"):
        ScoringOptions(ceiling=True, statements_where="aspect = fit")


def test_in_python(fake_scorer):
    metric = OpinionPrevalence(scorer=fake_scorer(ANSWERS), ceiling=True)
    assert metric.score(REVIEWS, "It is blue.").ceiling_share == pytest.approx(0.5)
    assert OpinionPrevalence(scorer=fake_scorer(ANSWERS)).score(REVIEWS, "It fits.").ceiling is None
