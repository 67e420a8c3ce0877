"""The language of a run: which splitter, which models, and what is counted."""

from __future__ import annotations

import dataclasses

import pytest

from prevalence import OpinionPrevalence
from prevalence.errors import ConfigurationError
from prevalence.records import Product, Review, Summary
from prevalence.scoring.engine import Engine, ScoringOptions

GERMAN = "Die Stiefel sind warm und halten die Füße trocken, aber der Reißverschluss klemmt oft. "
ENGLISH = "The boots are warm and they keep my feet dry, but the zipper is not very good for me. "


def product(text):
    return Product(id="p", reviews=(Review(text * 3),), summaries=(Summary("s", "Warm."),))


def embedded(fake_scorer):
    """A scorer that calls itself the embedded model."""
    return fake_scorer(signature={"nli": "embedded@1"})


@pytest.mark.filterwarnings("ignore:preset .* keeps its threshold")
def test_a_language_chooses_its_splitter(fake_scorer):
    options = ScoringOptions(language="de")
    assert options.splitter == "punkt-de"
    assert "split:punkt-de" in Engine(fake_scorer(), options).signature()
    for given in ("lines", "punkt-en"):
        assert ScoringOptions(language="de", splitter=given).splitter == given
    assert ScoringOptions().splitter == "punkt-en"
    malon = OpinionPrevalence("rouge1-precision", preset="malon", language="de")
    assert "|split:punkt-en|" in malon.signature
    assert dataclasses.replace(options, soft=True) == ScoringOptions(language="de", soft=True)
    with pytest.raises(ConfigurationError, match="no language 'xx': choose from en"):
        ScoringOptions(language="xx")


def test_the_embedded_model_refuses_what_it_was_not_made_for(fake_scorer):
    scorer = embedded(fake_scorer)
    with pytest.raises(ConfigurationError, match=r"language is de: give .* \(model= or --model\)"):
        Engine(scorer, ScoringOptions(language="de"))
    Engine(scorer, ScoringOptions(language="de", any_language=True))
    Engine(scorer, ScoringOptions())


def test_models_are_told_by_their_whole_names(fake_scorer):
    german = ScoringOptions(language="de")
    Engine(fake_scorer(signature={"nli": "gbert-base@1"}), german)
    for signature in ({"consistency": "cosine", "encoder": "embedded@1"}, {"nli": "mine@1+base@2"}):
        with pytest.raises(ConfigurationError, match="made for English"):
            Engine(fake_scorer(signature=signature), german)


def test_text_that_is_probably_not_english_is_counted(fake_scorer):
    items = [product(GERMAN), product(ENGLISH), product("Warm."), product(GERMAN)]
    for scorer, options, expected in (
        (fake_scorer(), ScoringOptions(), 2),
        (fake_scorer(), ScoringOptions(language="de"), 0),
        (fake_scorer(), ScoringOptions(splitter="lines"), 0),
        (embedded(fake_scorer), ScoringOptions(splitter="lines"), 2),
    ):
        engine = Engine(scorer, options)
        assert len(list(engine.run(items))) == 4
        assert engine.counts.foreign == expected


def test_a_summary_in_another_language_is_counted_too(fake_scorer):
    reviews = tuple(map(Review, (ENGLISH,) * 3))
    summaries = (Summary("a", ENGLISH), Summary("b", f"{GERMAN} {GERMAN}"))
    engine = Engine(fake_scorer())
    list(engine.run([Product(id="p", reviews=reviews, summaries=summaries)]))
    assert (engine.counts.foreign, engine.foreign) == (1, ["p"])


def test_the_last_of_long_reviews_are_read_too(fake_scorer):
    reviews = tuple(Review(text * 30) for text in (GERMAN,) * 4 + (ENGLISH,) * 4)
    engine = Engine(fake_scorer())
    # Of ENGLISH 8 words in 18 are frequent ones, so of both about 8 in 30.
    assert not list(engine.run([Product(id="p", reviews=reviews, summaries=())]))
    assert engine.counts.foreign == 0


def test_foreign_reviews_of_a_mixed_product_are_counted(fake_scorer):
    reviews = tuple(
        Review(text, extra={"language": "de" if text == GERMAN else "en"})
        for text in (ENGLISH, ENGLISH, ENGLISH, GERMAN, "Warm.")
    )
    mixed = Product("p", reviews, (Summary("s", "Warm."), Summary("t", "Dry.")))

    def counts(*items, **options):
        engine = Engine(embedded(fake_scorer), ScoringOptions(**options))
        list(engine.run(items))
        return engine.counts.foreign, engine.counts.foreign_reviews, engine.counts.reviews

    assert counts(mixed) == (0, 1, 5)
    assert counts(mixed.part(mixed.summaries[:1]), mixed.part(mixed.summaries[1:])) == (0, 1, 5)
    assert counts(mixed, reviews_where="language = en") == (0, 0, 4)
    # A product that is counted as a whole is not counted by its reviews.
    assert counts(mixed, product(GERMAN)) == (1, 1, 5)
    assert counts(mixed, splitter="lines", language="de", any_language=True)[1] == 1
