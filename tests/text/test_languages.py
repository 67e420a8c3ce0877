"""Which texts are probably English."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prevalence.text.languages import clearly_foreign, probably_english

TEXTS = {
    "en": "The boots are warm and they keep my feet dry, but the zipper is not very good for me.",
    "de": "Die Stiefel sind warm und halten die Füße trocken, aber der Reißverschluss klemmt oft "
    "und die Sohle ist leider schon nach zwei Wochen gerissen.",
    "nl": "De laarzen zijn warm en houden mijn voeten droog, maar de rits is niet zo goed en de "
    "zool was na twee weken al helemaal kapot.",
    "fr": "Les bottes sont chaudes et gardent les pieds au sec, mais la fermeture est difficile à "
    "fermer et la semelle a cassé après deux semaines.",
    "es": "Las botas son cálidas y mantienen los pies secos, pero la cremallera es difícil de "
    "cerrar y la suela se rompió después de dos semanas.",
    "da": "Jeg købte støvlerne for to uger siden, og de er lette for min søn at tage på. De har "
    "været i sneen, og jeg kan ikke klage for prisen.",
    "pl": "Kupiłam te buty dwa tygodnie temu i są ciepłe i wygodne. To są najlepsze buty, i to za "
    "dobrą cenę, ale zamek zacina się to tu, to tam.",
    "it": "I miei stivali sono caldi e comodi, i piedi restano asciutti. I lacci sono corti e i "
    "colori belli, i bambini li adorano e i nonni pure.",
    "ja": "このブーツはとても暖かくて、足が濡れません。" * 12,
    "ru": "Ботинки очень тёплые, и ноги всегда остаются сухими, но молния заедает, а подошва "
    "треснула уже через две недели после покупки, и продавец так и не ответил.",
}

TERSE = Path(__file__).parents[1] / "data" / "terse_reviews.tsv"
"""A language and a few short reviews a line, written for this test."""


@pytest.mark.parametrize("language", TEXTS)
def test_english_is_told_from_others(language):
    assert probably_english(TEXTS[language] * 2) is (language == "en")


@pytest.mark.parametrize(
    "text", ["锅很好用，不粘锅，每天都用。", "Ботинки тёплые и лёгкие", "घड़ी अच्छी है और टिकाऊ भी"]
)
def test_other_scripts_are_told_in_short_texts_too(text):
    assert not probably_english(text)
    assert probably_english(f"It fits. {text[:4]}")


@pytest.mark.parametrize("text", ["", "Schöne Stiefel, sehr warm.", "!!! 12 ..."])
def test_short_texts_are_not_judged(text):
    assert probably_english(text)


def test_released_reviews_are_english(shared_data):
    lines = (shared_data / "amazon_dev.jsonl").read_text(encoding="utf-8").splitlines()
    for record in map(json.loads, lines):
        texts = [review if isinstance(review, str) else review["text"]
                 for review in record["reviews"]]  # fmt: skip
        assert probably_english(" ".join(texts))


@pytest.mark.parametrize("line", TERSE.read_text(encoding="utf-8").splitlines())
def test_terse_reviews_are_told_too(line):
    language, text = line.split("\t")
    assert probably_english(text * 2) is (language == "en")


def test_many_reviews_of_few_words():
    verdicts = ("light", "heavy")
    assert probably_english(" ".join(f"Pan number {n} is {verdicts[n % 2]}." for n in range(300)))


@pytest.mark.parametrize(
    "text",
    [
        "Das Zimmer war sehr sauber und die Lage perfekt.",
        "Klein aber fein. Sehr sauber, nette Gastgeberin. Zimmer sehr klein.",
        "Très bel hôtel, chambre propre et petit déjeuner copieux. Personnel accueillant.",
        "La habitación era muy pequeña y el baño estaba sucio, no volveremos.",
        "Отель чистый, завтрак вкусный, персонал приветливый.",
    ],
)
def test_a_short_review_may_be_clearly_foreign(text):
    assert clearly_foreign(text)
    assert not clearly_foreign(text[:39])


@pytest.mark.parametrize(
    "text",
    [
        "The crème brûlée at the Café de la Paix was très bon, we loved it.",
        "Great pho, great banh mi, and the crêpes were good too.",
        "Bought in a size M for my son, fits fine and arrived fast.",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
)
def test_english_with_foreign_words_is_not(text):
    assert not clearly_foreign(text)
