"""From reviews to a summary, and what is said about it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from prevalence import LengthRule, OpinionPrevalence, SummaryOptions
from prevalence.errors import ConfigurationError, InputError
from prevalence.records import Review
from prevalence.scorers.cosine import Encoder
from prevalence.scorers.rouge import RougeScorer
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.summarize.extract import METHODS
from prevalence.summarize.summarizer import Summarizer

# Stemmed words, threshold 0.5: "Warm boots." is implied by reviews 0, 1 and 3, "They leak" by
# 1 and 2, "I bought boots." by the statement (3 of 3 words) and therefore trivial.
REVIEWS = [
    "Such warm boots. I bought boots.",
    "Warm boots. They leak",
    "They leak badly.",
    "My feet are warm in these boots!",
]


@pytest.fixture
def metric() -> OpinionPrevalence:
    scorer = RougeScorer("rouge1-precision", threshold=0.5)
    return OpinionPrevalence(scorer=scorer, full_matrix=True)


def test_greedy_by_hand(metric: OpinionPrevalence) -> None:
    options = SummaryOptions(length=LengthRule(sentences=2))
    extract = metric.summarize(REVIEWS, options, name="boots")
    # "Such warm boots." (2 of 3 words in 1 and 3) ties with "Warm boots." at 3 and stands first;
    # it then implies "Warm boots.", so that "They leak." follows with 2.
    assert extract.text == "Such warm boots. They leak."
    assert [(s.review, s.start, s.end, s.support) for s in extract.sentences] == [
        (0, 0, 16, 3), (1, 12, 21, 2),
    ]  # fmt: skip
    assert extract.prevalence == 5 / 8
    assert extract.matrix is not None
    assert extract.matrix.implied.sum(axis=0).tolist() == [3, 2]
    assert extract.calls.reviews + extract.avoided == extract.full_matrix == 4 * 6
    assert "Algorithm 1" in extract.guarantee


def test_the_prevalence_said_is_the_prevalence_scored(fake_scorer: Any) -> None:
    random = np.random.default_rng(4)
    words = [f"word{number}" for number in range(40)]
    reviews = [
        " ".join(" ".join(random.choice(words, 4)).capitalize() + "." for _ in range(4))
        for _ in range(25)
    ]
    for scorer in (fake_scorer(), RougeScorer("rouge1-precision")):
        metric = OpinionPrevalence(scorer=scorer, any_language=True)
        for search in ("exact", "racing"):
            options = SummaryOptions(search=search, length=LengthRule(characters=120))
            extract = metric.summarize(reviews, options, name="lamp")
            row = metric.score(reviews, extract.text, name="lamp")
            assert [s.text for s in row] == [s.text for s in extract.sentences]
            assert [s.support for s in row] == [s.support for s in extract.sentences]
            assert row.prevalence == pytest.approx(extract.prevalence)


def test_what_contradicts_a_chosen_sentence_is_refused(fake_scorer: Any) -> None:
    reviews = ["Warm.", "Cold.", "Soft."]
    answers = {("Warm.", "Warm."): (0.9, 0.0), ("Cold.", "Cold."): (0.9, 0.0),
               ("Soft.", "Soft."): (0.9, 0.0), ("Cold.", "Warm."): (0.1, 0.8)}  # fmt: skip
    metric = OpinionPrevalence(scorer=fake_scorer(answers))
    length = LengthRule(sentences=3)
    options = SummaryOptions(length=length, fragments=True)
    plain = metric.summarize(reviews, options)
    refusing = metric.summarize(reviews, replace(options, refuse_contradictions=True))
    assert plain.text == "Warm. Cold. Soft."
    assert refusing.text == "Warm. Soft."
    assert "refuse:contradictions" in refusing.signature


def test_a_sentence_longer_than_the_model_reads_is_no_candidate(fake_scorer: Any) -> None:
    metric = OpinionPrevalence(scorer=fake_scorer({}, too_long=frozenset({"Warm."})))
    options = SummaryOptions(length=LengthRule(sentences=2), fragments=True)
    extract = metric.summarize(["Warm. Soft."], options)
    assert extract.text == "Soft."


@pytest.mark.parametrize("method", METHODS[1:4])
def test_rivals_take_sentences_until_the_length(method: str) -> None:
    options = SummaryOptions(method=method, length=LengthRule(characters=20))
    extract = Summarizer(options).summarize([Review(text) for text in REVIEWS])
    lengths = [len(sentence.text) for sentence in extract.sentences]
    assert sum(lengths) >= 20 > sum(lengths[:-1])
    assert (extract.prevalence, extract.delta, extract.calls.total) == (None, None, 0)
    for sentence in extract.sentences:
        cut = REVIEWS[sentence.review][sentence.start : sentence.end]
        assert sentence.text in {cut, cut + "."}


def test_one_encoder_serves_all_products(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    class Counted(Encoder):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            opened.append(arguments)
            super().__init__(*arguments, **options)

    monkeypatch.setattr("prevalence.scorers.cosine.Encoder", Counted)
    options = SummaryOptions(method="centroid", length=LengthRule(sentences=1))
    summarizer = Summarizer(options, encoder="nli:embedded", device="cpu")
    made = [summarizer.summarize([Review(text)]) for text in ("Warm.", "They leak. They leak.")]
    assert [extract.text for extract in made] == ["Warm.", "They leak."]
    assert opened == [("embedded",)]
    assert re.search(r"\|encoder:embedded@[0-9a-f]{12}\|", made[0].signature)


def test_a_random_draw_does_not_depend_on_other_products() -> None:
    summarizer = Summarizer(SummaryOptions(method="random", length=LengthRule(sentences=3)))
    reviews = [Review(text) for text in REVIEWS]
    alone = summarizer.summarize(reviews).text
    summarizer.summarize(reviews[:2])
    assert summarizer.summarize(reviews).text == alone


def test_rewritten_reviews_are_read_where_asked(metric: OpinionPrevalence) -> None:
    # As written, only "They leak badly." has support 2 (2 of 3 words of it are in the other
    # review); rewritten, "They leak." has it too and stands first.
    reviews = [
        Review("Warm and they leak.", simplified="Warm. They leak."),
        Review("They leak badly.", simplified="They leak badly."),
    ]
    length = LengthRule(sentences=1)
    assert metric.summarize(reviews, SummaryOptions(length=length)).text == "They leak badly."
    rewritten = metric.summarize(reviews, SummaryOptions(length=length, simplified=True))
    assert rewritten.text == "They leak."
    assert (rewritten.sentences[0].start, rewritten.sentences[0].end) == (6, 16)
    assert "from:simplified" in rewritten.signature


def test_a_review_without_its_rewriting_is_said(metric: OpinionPrevalence) -> None:
    reviews = [Review("Warm.", simplified="Warm."), Review("Soft.")]
    with pytest.raises(InputError, match="review 1 has no rewriting"):
        metric.summarize(reviews, SummaryOptions(simplified=True))


def test_the_signature_names_what_changes_the_choice(metric: OpinionPrevalence) -> None:
    options = SummaryOptions(search="racing", confidence=0.9, seed=7, close=False)
    signature = metric.summarize(REVIEWS, options, name="lamp").signature
    assert signature.startswith("prev|consistency:rouge1-precision|")
    for part in ("method:greedy", "length:5s", "search:racing", "conf:0.9", "seed:7",
                 "sentences:verbatim", "trivial:name"):  # fmt: skip
        assert f"|{part}|" in signature
    exact = metric.summarize(REVIEWS, name="lamp").signature
    assert "seed" not in exact
    assert "search" not in exact


def test_reviews_without_a_sentence_are_an_error(metric: OpinionPrevalence) -> None:
    with pytest.raises(InputError, match="no sentence"):
        metric.summarize(["  ", ""])


@pytest.mark.parametrize(
    "wrong",
    [{"method": "best"}, {"search": "fast"}, {"confidence": 0.0}, {"confidence": 1.5},
     {"seed": -1}],
)  # fmt: skip
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        SummaryOptions(**wrong)


def test_what_is_no_length_and_no_options_is_refused(metric: OpinionPrevalence) -> None:
    wrong: Any = 3
    with pytest.raises(ConfigurationError, match=r"a LengthRule, not 3: give LengthRule\(sentenc"):
        SummaryOptions(length=wrong)
    with pytest.raises(ConfigurationError, match=r"options are 3: give SummaryOptions\(...\)"):
        metric.summarize(REVIEWS, wrong)


def test_full_confidence_is_exact_search() -> None:
    options = SummaryOptions(search="racing", confidence=1.0)
    assert options.delta == 0


def test_racing_among_few_reviews_says_that_it_is_exact(metric: OpinionPrevalence) -> None:
    options = SummaryOptions(search="racing", length=LengthRule(sentences=2))
    for count, delta in ((23, 0.0), (24, 0.05)):
        extract = metric.summarize([f"Word{k} boots." for k in range(count)], options)
        assert extract.delta == delta
        assert ("Algorithm 1" in extract.guarantee) == (delta == 0)


def test_greedy_needs_a_model() -> None:
    with pytest.raises(ConfigurationError, match="engine"):
        Summarizer(SummaryOptions())


def test_a_summary_is_made_of_all_reviews(fake_scorer: Any) -> None:
    engine = Engine(fake_scorer(), ScoringOptions(reviews_where="rating <= 2"))
    with pytest.raises(ConfigurationError, match="all reviews"):
        Summarizer(SummaryOptions(), engine=engine)


def test_a_sentence_that_does_not_imply_itself_may_be_chosen_where_it_stands_again(
    metric: OpinionPrevalence,
) -> None:
    # "!!!" has no word, so nothing implies it: Algorithm 1 refuses what a chosen sentence implies.
    reviews = ["Warm boots.", "!!!", "Cold feet.", "!!!"]
    options = SummaryOptions(length=LengthRule(sentences=9), fragments=True)
    extract = metric.summarize(reviews, options)
    texts = ["Warm boots.", "Cold feet.", "!!!", "!!!"]
    assert [s.text for s in extract.sentences] == texts
    assert [s.support for s in extract.sentences] == [1, 1, 0, 0]
    assert extract.matrix is not None
    assert extract.matrix.implied.sum(axis=0).tolist() == [1, 1, 0, 0]


def test_fragments_are_no_candidates_unless_asked_for(fake_scorer):
    reviews = ["Avoid! They leak.", "Avoid! They are warm.", "Avoid!"]
    implied = {(review, "Avoid!"): (0.9, 0.0) for review in reviews}
    metric = OpinionPrevalence(scorer=fake_scorer(implied))
    length = LengthRule(sentences=1)
    extract = metric.summarize(reviews, SummaryOptions(length=length))
    assert (extract.text, extract.left_out) == ("They leak.", 3)
    assert "candidates:content" in extract.signature
    paper = metric.summarize(reviews, SummaryOptions(length=length, fragments=True))
    assert (paper.text, paper.left_out) == ("Avoid!", 0)
    assert "candidates" not in paper.signature
    with pytest.raises(InputError, match="take them too with --fragments"):
        metric.summarize(["Avoid!", "Be careful!"])
    lead = metric.summarize(reviews, SummaryOptions(method="lead", length=length))
    assert (lead.text, lead.left_out) == ("Avoid!", 0)
