"""The engine against a naive loop written from the equations, and its defined corners."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.scored import ScoredSummary
from prevalence.scoring.conditions import STATEMENTS
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.scoring.systems import SystemTable
from prevalence.signature import package_version
from prevalence.stats.correction import ErrorRates
from prevalence.text.sentences import get_splitter

RATES = ErrorRates(((8, 2, 45, 5),), 0.5, "people")
SENTENCES = [
    "It fits.",
    "Runs small.",
    "Warm and soft.",
    "Came late!",
    "Would buy again.",
    "It fits.",
]

sentence_lists = st.lists(st.sampled_from(SENTENCES), max_size=5)
review_texts = st.one_of(
    st.sampled_from(["", " \n", *SENTENCES]), sentence_lists.map(" ".join), st.text(max_size=12)
)


@st.composite
def products(draw):
    number = draw(st.integers(0, 99))
    summaries = draw(st.lists(sentence_lists.map("  ".join), min_size=1, max_size=3))
    return Product(
        id=f"p{number}",
        name=draw(st.sampled_from([None, "boot", "warm coat"])),
        reviews=tuple(
            Review(text) for text in draw(st.lists(review_texts, min_size=1, max_size=4))
        ),
        summaries=tuple(Summary(f"s{k}", text) for k, text in enumerate(summaries)),
    )


def naive(product, summary, answer, threshold, *, template="I bought a {name}."):
    """Malon 2023, equations 1 to 3, one pair at a time: no plan, no batch, no early stopping."""
    limit = np.float32(threshold)
    sentences = [sentence.text for sentence in get_splitter()(summary.text)]
    reviews = [review.text for review in product.reviews]
    m, n = len(reviews), len(sentences)
    columns, total, soft = [], 0, 0.0
    for k, sentence in enumerate(sentences):
        p_trivial = np.float32(0)
        if product.name is not None:
            p_trivial = answer(template.replace("{name}", product.name), sentence)[0]
        p_earlier = [answer(sentences[j], sentence)[0] for j in range(k)]
        p_reviews = [answer(x, sentence) if x.strip() else (np.float32(0),) * 2 for x in reviews]
        trivial = bool(p_trivial > limit)
        implying = [j for j, p in enumerate(p_earlier) if p > limit]
        supporting = [i for i, (yes, _) in enumerate(p_reviews) if yes > limit]
        against = [
            i
            for i, (yes, no) in enumerate(p_reviews)
            if not yes > limit and no > yes and float(no) > 1.0 - float(yes) - float(no)
        ]
        if not trivial and not implying:
            total += len(supporting)
        mask = 1.0 - float(p_trivial)
        for p in p_earlier:
            mask *= 1.0 - float(p)
        soft += mask * sum(float(yes) for yes, _ in p_reviews)
        columns.append(
            {
                "text": sentence,
                "trivial": trivial,
                "redundant_with": implying[0] if implying else None,
                "support": len(supporting),
                "supporting_reviews": tuple(supporting),
                "contradicting_reviews": tuple(against),
                "entailment": tuple(float(str(yes)) for yes, _ in p_reviews),
            }
        )
    score = total / (m * n) if n else 0.0
    return {"prevalence": score, "soft": soft / (m * n) if n else 0.0, "sentences": columns}


def flat(row):
    """What the naive loop gives, read off a row."""
    names = ("text", "trivial", "redundant_with", "support", "supporting_reviews",
             "contradicting_reviews", "entailment")  # fmt: skip
    return [{name: getattr(sentence, name) for name in names} for sentence in row.sentences]


def masked(sentence):
    return sentence["trivial"] or sentence["redundant_with"] is not None


def early(sentences):
    """The naive answer with nulls where review pairs need not be scored."""
    unasked = dict.fromkeys(
        ("support", "supporting_reviews", "contradicting_reviews", "entailment")
    )
    return [s | unasked if masked(s) else s for s in sentences]


def summaries_of(items):
    return [(product, summary) for product in items for summary in product.summaries]


def one(reviews, summary, *, name=None, scorer, **options):
    """The row of a single summary."""
    product = Product("p1", tuple(map(Review, reviews)), (Summary("s", summary),), name)
    (row,) = Engine(scorer, ScoringOptions(**options)).run([product])
    return row


@given(
    items=st.lists(products(), max_size=4),
    work_unit=st.sampled_from([1, 2, 7, 100_000]),
    threshold=st.sampled_from([0.0, 0.04, 0.5, 0.9]),
)
@settings(max_examples=80, deadline=None)
def test_early_stopping_equals_the_naive_loop(fake_scorer, items, work_unit, threshold):
    scorer = fake_scorer(work_unit=work_unit, threshold=threshold)
    rows = list(Engine(scorer).run(items))
    cases = summaries_of(items)
    assert [(row.id, row.system) for row in rows] == [(p.id, s.system) for p, s in cases]
    for row, (product, summary) in zip(rows, cases, strict=True):
        expected = naive(product, summary, scorer.answer, threshold)
        assert row.prevalence == expected["prevalence"]
        assert flat(row) == early(expected["sentences"])
        assert row.n_reviews == len(product.reviews)


@given(items=st.lists(products(), max_size=4), work_unit=st.sampled_from([1, 5, 100_000]))
@settings(max_examples=60, deadline=None)
def test_full_matrix_and_soft_equal_the_naive_loop(fake_scorer, items, work_unit):
    scorer = fake_scorer(work_unit=work_unit)
    full = list(Engine(scorer, ScoringOptions(full_matrix=True)).run(items))
    soft = list(Engine(scorer, ScoringOptions(soft=True)).run(items))
    for row, with_soft, (product, summary) in zip(full, soft, summaries_of(items), strict=True):
        expected = naive(product, summary, scorer.answer, scorer.traits.threshold)
        assert row.prevalence == with_soft.prevalence == expected["prevalence"]
        assert flat(row) == flat(with_soft) == expected["sentences"]
        assert row.soft_prevalence is None
        assert with_soft.soft_prevalence == pytest.approx(expected["soft"], abs=1e-12)


@given(items=st.lists(products(), max_size=5), data=st.data())
@settings(max_examples=40, deadline=None)
def test_rows_do_not_depend_on_order_or_chunks(fake_scorer, items, data):
    order = data.draw(st.permutations(range(len(items))))
    straight = [[row.to_json_line() for row in Engine(fake_scorer()).run([item])] for item in items]
    shuffled = Engine(fake_scorer(work_unit=3)).run([items[place] for place in order])
    assert [row.to_json_line() for row in shuffled] == [
        line for place in order for line in straight[place]
    ]


@given(items=st.lists(products(), max_size=4))
@settings(max_examples=60, deadline=None)
def test_only_needed_pairs_are_asked_and_each_once(fake_scorer, items):
    scorer = fake_scorer()
    engine = Engine(scorer)
    list(engine.run(items))
    first, second, requests = set(), set(), 0
    for product, summary in summaries_of(items):
        rows = naive(product, summary, scorer.answer, scorer.traits.threshold)["sentences"]
        for k, sentence in enumerate(rows):
            wave = [(earlier["text"], sentence["text"]) for earlier in rows[:k]]
            if product.name is not None:
                wave.append((f"I bought a {product.name}.", sentence["text"]))
            asked = [
                (review.text, sentence["text"])
                for review in product.reviews
                if review.text.strip() and not masked(sentence)
            ]
            first.update(wave)
            second.update(asked)
            requests += len(wave) + len(asked)
    assert sorted(scorer.asked) == sorted([*first, *second])
    assert engine.counts.unique == len(scorer.asked)
    assert engine.counts.planned == requests


ANSWERS = {
    ("I bought a boot.", "It is a boot."): (0.9, 0.0),
    ("It fits.", "The size is right."): (0.8, 0.1),
    ("It is a boot.", "The size is right."): (0.7, 0.1),
    ("It fits me.", "It fits."): (0.95, 0.01),
    ("Too small.", "It fits."): (0.02, 0.9),
    ("Blue.", "It fits."): (0.3, 0.2),
    ("It fits me.", "The size is right."): (0.9, 0.05),
}
REVIEWS = ("It fits me.", "Too small.", "Blue.", "")
SUMMARY = "It is a boot. It fits. The size is right."


def test_a_worked_example(fake_scorer):
    # Sentence 0 follows from the purchase and 2 from 0 (masked, yet it masks) and 1; only review
    # 0 implies sentence 1, review 1 contradicts it, the empty review counts: 1 / (4 · 3).
    scorer = fake_scorer(ANSWERS)
    row = one(REVIEWS, SUMMARY, name="boot", scorer=scorer)
    boot, fits, size = row.sentences
    assert row.prevalence == 1 / 12
    assert (boot.trivial, boot.redundant_with) == (True, None)
    assert (fits.trivial, fits.redundant_with) == (False, None)
    assert (size.trivial, size.redundant_with) == (False, 0)
    assert (fits.support, fits.supporting_reviews, fits.contradicting_reviews) == (1, (0,), (1,))
    assert fits.entailment == (0.95, 0.02, 0.3, 0.0)
    for sentence in (boot, size):
        assert sentence.support is sentence.supporting_reviews is sentence.entailment is None
        assert sentence.contradicting_reviews is None
    assert row.warning == "1 of 4 reviews empty: counted, support nothing"
    assert [SUMMARY[s.start : s.end] for s in row] == [s.text for s in row]


def test_the_worked_example_in_full(fake_scorer):
    # Soft: sentence 0 has no support; 1 has weight 1 and Σp = .95 + .02 + .3; 2 has weight
    # (1 − .7)(1 − .8) and Σp = .9; over 12.
    row = one(REVIEWS, SUMMARY, name="boot", scorer=fake_scorer(ANSWERS), soft=True)
    assert row.prevalence == 1 / 12
    assert [sentence.support for sentence in row] == [0, 1, 1]
    assert row.soft_prevalence == pytest.approx((1.27 + 0.06 * 0.9) / 12, abs=1e-7)


def test_reviews_are_read_without_html(fake_scorer):
    review, plain = "It isn&#39;t loud<br>It fits", "It isn't loud   \nIt fits"
    said = "It isn't loud."
    both = {(one, two): (0.9, 0.0) for one in (plain, said) for two in (said, "It fits.")}
    scorer = fake_scorer(both)
    row = one([review], said, scorer=scorer, profile=True, ceiling=True)
    assert (row.prevalence, row.ceiling, row.profile.coverage) == (1.0, 1.0, 1.0)
    thoughts = one([review], f"<think>It is.</think><p>{said}</p>", scorer=scorer)
    assert [s.text for s in thoughts] == [said]
    blank = one([review, "<p></p><!-- It isn't loud. -->"], said, scorer=scorer)
    assert (blank.prevalence, blank.n_reviews) == (0.5, 2)
    assert blank.warning == "1 of 2 reviews empty: counted, support nothing"
    # Splitters that leave texts as they are leave reviews too.
    assert one([review], said, scorer=scorer, splitter="lines").prevalence == 0.0


def test_a_sentence_without_a_letter_or_a_digit_is_left_out(fake_scorer):
    scorer = fake_scorer({(review, said): (0.9, 0.0) for review in "ab" for said in ("Ok.", ":)")})
    row = one(["a", "b"], "Ok.\n:)\n5/5", scorer=scorer, splitter="lines", ceiling=True)
    assert [(s.text, s.start, s.support) for s in row] == [("Ok.", 0, 2), ("5/5", 7, 0)]
    assert row.prevalence == 0.5
    row = one(["a", "b"], "!!! \u2014", scorer=scorer)
    assert (row.prevalence, row.warning) == (0.0, "the summary has no sentence, so it scores 0")
    authors = one(["a", "b"], "Ok!!", scorer=scorer, splitter="nltk-punkt-en")
    assert [s.text for s in authors] == ["Ok!", "!"]


def test_a_review_sentence_without_a_letter_or_a_digit_is_in_no_ceiling_or_coverage(fake_scorer):
    reviews = ["It fits.\n!!!", "It leaks."]
    answers = {(r, "!!!"): (0.9, 0.0) for r in (*reviews, "It fits.")}
    scorer = fake_scorer(answers | {(reviews[0], "It fits."): (0.9, 0.0)})
    options = {"splitter": "lines", "ceiling": True, "profile": True}
    row = one(reviews, "It fits.", scorer=scorer, **options)
    assert row.ceiling == 0.5
    assert [statement.text for statement in row.profile.left_out] == ["It fits."]


def test_labels_and_offsets_count_the_sentences_that_are_left_out(fake_scorer):
    labels = [{"on": "fit"}, {}, {"on": "price"}]
    summary = Summary("s", "Ok.\n---\nCheap.", {STATEMENTS: labels})
    options = ScoringOptions(splitter="lines", statements_where="on = price")
    product = Product("p", (Review("a"),), (summary,))
    row = next(Engine(fake_scorer({}), options).run([product]))
    assert [(s.text, s.start) for s in row] == [("Cheap.", 8)]
    assert row.restriction["sentences"] == [2]


def test_without_a_name_or_a_template_nothing_is_trivial(fake_scorer):
    for options, told in (({"name": None}, "none"), ({"name": "boot", "trivial": None}, "off")):
        scorer = fake_scorer(ANSWERS)
        row = one(REVIEWS, SUMMARY, scorer=scorer, **options)
        assert not any(sentence.trivial for sentence in row)
        assert f"|trivial:{told}|" in row.signature
        assert not any(premise.startswith("I bought") for premise, _ in scorer.asked)


def test_the_script_template_and_a_custom_one(fake_scorer):
    for trivial, statement in (
        ("script", "I bought boot."),
        ("A {name}, {name}.", "A boot, boot."),
    ):
        scorer = fake_scorer({(statement, "It fits."): (1.0, 0.0)})
        row = one(["x"], "It fits.", name="boot", scorer=scorer, trivial=trivial)
        assert row.sentences[0].trivial


def test_a_two_label_scorer_contradicts_nothing(fake_scorer):
    row = one(REVIEWS, "It fits.", scorer=fake_scorer(ANSWERS, three_way=False))
    assert row.sentences[0].contradicting_reviews is None
    assert row.prevalence == 0.25


def test_work_is_counted(fake_scorer):
    # 3 statement, 3 earlier and 12 review pairs by the equations; 3 + 3 + 3 are asked: the empty
    # review asks none. The second summary repeats one review pair of the first.
    engine = Engine(fake_scorer(ANSWERS))
    product = Product(
        "p1",
        tuple(map(Review, REVIEWS)),
        (Summary("a", SUMMARY), Summary("b", "It fits."), Summary("c", "")),
        "boot",
    )
    planned, scored = [], []
    bad = BadRecord("in.jsonl:2: bad")
    list(engine.run([product, bad], planned=planned.append, progress=scored.append))
    assert engine.counts.naive == 18 + 5
    assert engine.counts.planned == 9 + 4
    assert engine.counts.unique == 9
    assert planned == scored == [6, 3]
    assert (engine.counts.scored, engine.counts.failed) == (3, 1)
    assert (engine.counts.unnamed, engine.counts.warned) == (0, 3)


def test_pairs_asked_apart_are_not_planned_after_a_failure_either(fake_scorer):
    class Failing(fake_scorer):
        def score(self, texts, pairs, *, progress=None):
            # What is about earlier and product statements and about reviews comes first.
            if "You win." in {texts[premise] for premise, _ in pairs.tolist()}:
                raise ModelError("out of memory")
            return super().score(texts, pairs, progress=progress)

    product = Product("p", (Review("It is warm."), Review("It fits.")), (Summary("s", "You win."),))
    engine = Engine(Failing({}), ScoringOptions(profile=True))
    with pytest.raises(ModelError, match="out of memory"):
        list(engine.run([product]))
    assert (engine.counts.planned, engine.counts.unique) == (2, 2)


def test_decisions_that_rounding_could_turn_are_counted(fake_scorer):
    # At threshold .3 a doubt of .5 in the log-odds reaches from .206 to .414: of the pairs asked,
    # only ("Blue.", "It fits.") at .3 lies there.
    scorer = fake_scorer(ANSWERS, threshold=0.3)
    scorer.traits = replace(scorer.traits, doubt=0.5)
    engine = Engine(scorer)
    product = Product("p1", tuple(map(Review, REVIEWS)), (Summary("a", SUMMARY),), "boot")
    list(engine.run([product]))
    assert engine.counts.doubtful == 1
    scorer.traits = replace(scorer.traits, doubt=0.0)
    list(engine.run([product]))
    assert engine.counts.doubtful == 1


def test_products_without_a_name_are_counted(fake_scorer):
    engine = Engine(fake_scorer(), ScoringOptions(trivial=None))
    product = Product("p", (Review("x"),), (Summary("s", "It fits."),))
    named = Product("p", (Review("x"),), (Summary("s", "It fits."),), "boot")
    list(engine.run([product, named]))
    assert engine.counts.unnamed == 1


def test_no_review_is_an_error_and_no_sentence_a_warning(fake_scorer):
    row = one([], "It fits.", scorer=fake_scorer())
    assert row.prevalence is None
    assert row.error == "record 'p1': summary by 's': no reviews; give at least one"
    empty = one(["x"], " \n ", scorer=fake_scorer(), soft=True)
    assert (empty.prevalence, empty.soft_prevalence, empty.n_sentences) == (0.0, 0.0, 0)
    assert empty.warning == "the summary has no sentence, so it scores 0"
    assert empty.error is None


@pytest.mark.parametrize("soft", [False, True])
def test_empty_reviews_count_and_support_nothing(fake_scorer, soft):
    scorer = fake_scorer({})
    row = one(["", " \t"], "It fits.", scorer=scorer, soft=soft)
    assert row.prevalence == 0.0
    assert row.sentences[0].entailment == (0.0, 0.0)
    assert row.sentences[0].contradicting_reviews == ()
    assert row.warning == "2 of 2 reviews empty: counted, support nothing"
    assert scorer.asked == []


@pytest.mark.parametrize("name", [None, "boot"])
@pytest.mark.parametrize("summary", ["Long one.", "It fits. Long one."])
@pytest.mark.parametrize("soft", [False, True])
def test_a_sentence_that_the_model_cannot_read_costs_its_summary_only(
    fake_scorer, name, summary, soft
):
    scorer = fake_scorer(too_long=frozenset({"Long one."}))
    product = Product(
        "p1", (Review("x"),), (Summary("a", summary), Summary("b", "It fits.")), name, source="f:3"
    )
    bad, good = Engine(scorer, ScoringOptions(soft=soft)).run([product])
    place = summary.count(".") - 1
    assert bad.error == (
        f"f:3: summary by 'a': sentence {place} ('Long one.'...) is longer than the model reads; "
        "split it, or use a model with a larger limit"
    )
    assert (bad.prevalence, bad.sentences) == (None, ())
    assert good.error is None
    # Where the first wave shows the fault, the reviews are not asked.
    shown_first = not soft and (name is not None or place == 1)
    assert (("x", "Long one.") in scorer.asked) is not shown_first


def test_too_many_sentences_are_refused_before_any_pair_is_asked(fake_scorer):
    scorer = fake_scorer()
    row = one(["x"], "It fits. " * 50_000, scorer=scorer)
    assert row.error == (
        "record 'p1': summary by 's': 50,000 sentences, which takes 1,249,975,000 redundancy "
        "pairs; shorten it or raise the limit of 500 (max_sentences= or --max-sentences)"
    )
    assert scorer.asked == []


def test_the_sentence_limit_is_inclusive(fake_scorer):
    assert one(["x"], "A b. C d.", scorer=fake_scorer(), max_sentences=2).error is None
    assert one(["x"], "A b. C d.", scorer=fake_scorer(), max_sentences=1).error is not None


def test_bad_records_keep_their_place(fake_scorer):
    good = Product("p", (Review("x"),), (Summary("s", "It fits."),))
    bad = BadRecord("in.jsonl:2: reviews: missing", "b", "t", "in.jsonl:2", {"k": 1})
    engine = Engine(fake_scorer())
    rows = list(engine.run([bad, good, bad]))
    assert [row.id for row in rows] == ["b", "p", "b"]
    assert rows[0].to_json() == {
        "schema": 1, "id": "b", "system": "t", "prevalence": None, "n_reviews": 0,
        "n_sentences": 0, "sentences": [], "signature": engine.signature(), "input_digest": None,
        "error": "in.jsonl:2: reviews: missing", "self_contradictions": None,
        "contradictions": None, "prefix_curve": [], "k": 1,
    }  # fmt: skip


def test_unknown_keys_of_record_and_summary_reach_the_row(fake_scorer):
    summary = Summary("s", "It fits.", {"human": {"fluency": [4]}, "k": 2})
    product = Product("p", (Review("x"),), (summary,), extra={"k": 1, "domain": "shoes"})
    (row,) = Engine(fake_scorer()).run([product])
    assert row.to_json()["human"] == {"fluency": [4]}
    assert (row.to_json()["k"], row.to_json()["domain"]) == (2, "shoes")


def test_an_input_failure_is_raised_after_what_was_read(fake_scorer):
    def items():
        yield Product("p", (Review("x"),), (Summary("s", "It fits."),))
        raise InputError("in.jsonl:2: the disk is gone")

    run = Engine(fake_scorer()).run(items())
    assert next(run).prevalence is not None
    with pytest.raises(InputError, match="the disk is gone"):
        next(run)


def test_reading_runs_one_chunk_ahead_at_most(fake_scorer):
    # A product names 3 pairs, its statement and 2 reviews about 1 sentence; a chunk closes at
    # 4 · work_unit = 12 pairs, so after 4 products.
    taken = count()
    products_read = []

    def endless():
        for number in taken:
            products_read.append(number)
            yield Product(
                str(number), (Review("x"), Review("y")), (Summary("s", "It fits."),), "boot"
            )

    rows = Engine(fake_scorer(work_unit=3)).run(endless())
    assert next(rows).id == "0"
    assert len(products_read) == 4
    assert [next(rows).id for _ in range(4)] == ["1", "2", "3", "4"]
    assert len(products_read) == 8


@pytest.mark.parametrize(
    ("limit", "chunk"), [("_CHUNK_CHARACTERS", 2), ("_CHUNK_RECORDS", 5), ("_CHUNK_UNITS", 1)]
)
def test_chunks_close_at_every_limit(fake_scorer, monkeypatch, limit, chunk):
    # Five characters of reviews and one pair a product: 10 characters, 5 records, or 1 pair.
    value = {"_CHUNK_CHARACTERS": 10, "_CHUNK_RECORDS": 5, "_CHUNK_UNITS": 1}[limit]
    monkeypatch.setattr(f"prevalence.scoring.engine.{limit}", value)
    work_unit = 1 if limit == "_CHUNK_UNITS" else 10_000
    items = [Product("p", (Review("12345"),), (Summary("s", "It fits."),))] * 9
    read = []
    rows = Engine(fake_scorer(work_unit=work_unit)).run(read.append(i) or i for i in items)
    next(rows)
    assert len(read) == chunk
    assert len(list(rows)) == 8


def test_signatures_name_what_can_change_a_score(fake_scorer):
    version = package_version()

    def signature(named=True, **options):
        return Engine(fake_scorer(), ScoringOptions(**options)).signature(named=named)

    assert signature() == f"prev|nli:fake@1|thr:0.5|trivial:name|split:punkt-en|v:{version}"
    assert "|trivial:none|" in signature(named=False)
    assert "|thr:0.04|" in signature(threshold=0.04)
    assert "|split:lines|" in signature(splitter="lines")
    assert signature(full_matrix=True).endswith(f"|matrix:full|v:{version}")
    assert signature(soft=True).endswith(f"|score:hard+soft|v:{version}")
    assert signature(soft=True, full_matrix=True) == signature(soft=True)
    assert signature(max_sentences=500) == signature()
    assert signature(max_sentences=501).endswith(f"|limit:501|v:{version}")


@pytest.mark.parametrize("threshold", [0.3, 1 / 7])
def test_a_threshold_of_numpy_is_signed_as_the_number(fake_scorer, threshold):
    signatures = {
        Engine(fake_scorer(), ScoringOptions(threshold=kind(threshold))).signature()
        for kind in (float, np.float64)
    }
    assert len(signatures) == 1
    assert f"|thr:{threshold!r}|" in signatures.pop()


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 1.0},
        {"threshold": -0.1},
        {"threshold": float("nan")},
        {"max_sentences": 0},
        {"max_sentences": 10**400},
        {"trivial": "I bought it."},
    ],
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ConfigurationError):
        ScoringOptions(**options)


def test_an_unknown_splitter_is_refused(fake_scorer):
    with pytest.raises(ConfigurationError, match="unknown sentence splitter 'x'"):
        Engine(fake_scorer(), ScoringOptions(splitter="x"))


def test_a_probability_out_of_range_is_refused(fake_scorer):
    with pytest.raises(ModelError, match="must lie in"):
        one(["x"], "It fits.", scorer=fake_scorer({("x", "It fits."): (float("nan"), 0.0)}))


def test_a_correction_without_rates_names_the_options_that_change_them(fake_scorer):
    said = "leave out max_length and windows, or choose a model .*with `prevalence calibrate "
    with pytest.raises(ConfigurationError, match=said):
        Engine(fake_scorer(), ScoringOptions(corrected=True))


def test_empty_reviews_are_no_false_supports(fake_scorer):
    # One of two reviews is empty, and of two sentences the second repeats the first.
    scorer = fake_scorer({("x", "It fits."): (0.9, 0.0), ("It fits.", "Fits!"): (0.9, 0.0)},
                         errors=RATES)  # fmt: skip
    row = one(["x", ""], "It fits. Fits!", scorer=scorer, corrected=True)
    # One of four pairs is asked, and it is a support: (1/4 - 1/10 * 1/4) / (8/10 + 9/10 - 1) is
    # above what one pair can be.
    assert (row.prevalence, row.corrected, row.corrected_most) == (0.25, 0.25, 0.25)
    table = SystemTable()
    table.add(ScoredSummary.from_json(row.to_json()))
    (found,) = table.statistics(error_rates=RATES)
    assert found.corrected == 0.25
    nothing = one(["y", ""], "It fits. Fits!", scorer=scorer, corrected=True)
    assert (nothing.corrected, nothing.corrected_most) == (0.0, 0.25)


def test_soft_prevalence_of_scores_that_are_no_probabilities_is_refused(fake_scorer):
    scorer = fake_scorer(probability=False)
    with pytest.raises(ConfigurationError, match="soft prevalence needs probabilities"):
        Engine(scorer, ScoringOptions(soft=True))
    assert list(Engine(scorer, ScoringOptions(full_matrix=True)).run([])) == []
