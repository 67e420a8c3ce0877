"""The Python API: the same scores as the engine, and clear refusals."""

from __future__ import annotations

import inspect
import json
import math
import pickle
from copy import copy, deepcopy

import numpy as np
import pytest

from prevalence import OpinionPrevalence
from prevalence.errors import ConfigurationError, InputError
from prevalence.records import Product, Review, Summary
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine, ScoringOptions

ANSWERS = {
    ("It fits me.", "It fits."): (0.9, 0.05),
    ("Too small.", "It fits."): (0.1, 0.8),
    ("It fits me.", "It is blue."): (0.2, 0.1),
    ("caf\ufffd", "It fits."): (0.8, 0.0),
    ("I bought a boot.", "It fits."): (0.9, 0.0),
}
REVIEWS = ["It fits me.", "Too small.", ""]
PRODUCT = Product("p", tuple(map(Review, REVIEWS)), (Summary("s", "It fits."),))


def stating(claims):
    """The product with claims in its summary."""
    return Product("p", PRODUCT.reviews, (Summary("s", "It fits.", {"claims": claims}),))


@pytest.fixture
def metric(fake_scorer):
    return OpinionPrevalence(scorer=fake_scorer(ANSWERS))


def test_one_summary(metric):
    row = metric.score(REVIEWS, "It fits. It is blue.")
    # One of three reviews implies the first of two sentences.
    assert row.prevalence == 1 / 6
    assert row.sentences[0].supporting_reviews == (0,)
    assert row.sentences[0].contradicting_reviews == (1,)
    assert row.warning == "1 of 3 reviews empty: counted, support nothing"
    assert row.signature == metric.signature.replace("trivial:name", "trivial:none")


def test_a_pickled_copy_is_made_anew_with_the_same_arguments():
    made = OpinionPrevalence("rouge1-precision", threshold=0.25, soft=True, trivial=None)
    first = made.score(REVIEWS, "It fits.")
    found = pickle.loads(pickle.dumps(made))
    assert (found.signature, found.threshold) == (made.signature, 0.25)
    assert (made.counts.scored, found.counts.scored) == (1, 0)
    assert found.score(REVIEWS, "It fits.") == first
    # What opens the model goes along, and no model: a few names.
    assert len(pickle.dumps(made)) < 500


def test_a_given_scorer_is_pickled_along(fake_scorer):
    class Known(fake_scorer):
        def __reduce__(self):
            return open_scorer, ("rouge1-precision",)

    found = pickle.loads(pickle.dumps(OpinionPrevalence(scorer=Known(ANSWERS))))
    assert found.signature == OpinionPrevalence("rouge1-precision").signature


def test_copies_within_a_process_keep_the_scorer(metric):
    for copied in (copy(metric), deepcopy(metric)):
        assert copied.score(REVIEWS, "It fits.") == metric.score(REVIEWS, "It fits.")
    assert copy(metric).counts is metric.counts


def test_a_record_is_scored_when_its_batch_is_full():
    read = []

    def records():
        for place in range(5_000):
            read.append(place)
            yield {"id": f"p{place}", "reviews": ["Warm."], "summary": "Warm."}

    rows = OpinionPrevalence("rouge1-precision").score_many(records())
    assert next(rows).id == "p0"
    assert len(read) == 4_096
    assert sum(1 for _ in rows) == 4_999


def test_a_name_makes_the_trivial_mask(metric):
    assert metric.score(REVIEWS, "It fits.", name="boot").sentences[0].trivial
    assert metric.counts.scored == 1


def test_texts_in_another_language_are_warned_of_once(metric):
    german = "Die Stiefel sind sehr warm und bequem, aber sie sind nicht ganz dicht. " * 3
    records = [{"id": f"p{k}", "reviews": ["warm"], "summary": german} for k in range(2)]
    with pytest.warns(RuntimeWarning, match="p0: the reviews or a summary are prob") as caught:
        assert len(list(metric.score_many(records))) == 2
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert metric.score([german], "They are warm.").prevalence == 0.0
    assert metric.counts.foreign == 3


def test_an_empty_summary_scores_zero_with_a_warning(metric):
    row = metric.score(REVIEWS, "")
    assert row.prevalence == 0.0
    assert row.warning.startswith("the summary has no sentence, so it scores 0")


def test_one_empty_review_is_one_review(metric):
    warning = metric.score([""], "It fits.").warning
    assert warning == "1 of 1 review empty: counted, support nothing"


def test_reviews_may_be_objects_tuples_or_an_iterator(metric):
    forms = [
        REVIEWS,
        tuple(REVIEWS),
        [Review(text, id="r") for text in REVIEWS],
        [Review(REVIEWS[0]), *REVIEWS[1:]],
        iter(REVIEWS),
    ]
    rows = [metric.score(form, "It fits.") for form in forms]
    assert {row.prevalence for row in rows} == {1 / 3}


def test_products_and_mappings_mix(metric):
    record = {"id": "q", "reviews": REVIEWS, "summaries": {"a": "It fits.", "b": ""}, "domain": 7}
    rows = list(metric.score_many([PRODUCT, record, {"id": "r", "reviews": "x"}, PRODUCT]))
    assert [(row.id, row.system) for row in rows] == [
        ("p", "s"), ("q", "a"), ("q", "b"), ("r", None), ("p", "s"),
    ]  # fmt: skip
    assert [row.prevalence for row in rows] == [1 / 3, 1 / 3, 0.0, None, 1 / 3]
    assert rows[3].error.startswith("record 2: reviews: ")
    assert rows[1].to_json()["domain"] == 7


def test_schema_fields_are_never_overridden(metric):
    theirs = {"prevalence": 9, "error": "x", "schema": 5, "warning": "x", "soft_prevalence": 3}
    record = {"id": "q", "reviews": ["Too small."], "summary": "It fits."} | theirs
    (row,) = metric.score_many([record])
    assert (row.to_json()["prevalence"], row.to_json()["error"]) == (0.0, None)
    assert row.to_json()["schema"] == 1
    assert "warning" not in row.to_json()
    assert "soft_prevalence" not in row.to_json()


def test_the_api_gives_what_the_engine_gives(fake_scorer):
    options = {"soft": True, "threshold": 0.2, "splitter": "lines", "trivial": None}
    metric = OpinionPrevalence(scorer=fake_scorer(), **options)
    assert list(metric.score_many([PRODUCT])) == list(
        Engine(fake_scorer(), ScoringOptions(**options)).run([PRODUCT])
    )


def test_an_exception_in_the_input_comes_out_after_the_rows_before_it(metric):
    def records():
        yield PRODUCT
        raise OSError("unplugged")

    rows = metric.score_many(records())
    assert next(rows).id == "p"
    with pytest.raises(OSError, match="unplugged"):
        next(rows)


def test_records_are_read_lazily(metric):
    rows = metric.score_many(pytest.fail("read too early") for _ in range(1))
    assert inspect.isgenerator(rows)


SCORE_FAULTS = [
    ([], "x", None, "no reviews: give at least one"),
    ("It fits me.", "x", None, "the reviews are str: give a list of texts"),
    (None, "x", None, "the reviews are NoneType"),
    (Review("x"), "x", None, "the reviews are Review"),
    ({"r": "x"}, "x", None, "the reviews are dict"),
    (["a", 3], "x", None, "review 1 is int, not text"),
    (["a", {"stars": 1}], "x", None, "review 1.text is missing; give a string"),
    (["a", {"text": "b", "n": math.inf}], "x", None, "review 1: n is not a finite number"),
    (["a", {"text": "b", 5: 1}], "x", None, "review 1: has a key that"),
    (["a", Review(None)], "x", None, "review 1 is NoneType, not text"),
    (["a"], b"x", None, "the summary is bytes, not text"),
    (["a"], None, None, "the summary is NoneType, not text"),
    (["a"], "x", 3, "the product name is int, not text"),
    (["a"], "x", " ", "the product name is empty"),
]


@pytest.mark.parametrize(("reviews", "summary", "name", "said"), SCORE_FAULTS)
def test_what_is_no_text_is_refused(metric, reviews, summary, name, said):
    with pytest.raises(InputError, match=said):
        metric.score(reviews, summary, name=name)


def test_a_summary_that_cannot_be_scored_raises(fake_scorer):
    metric = OpinionPrevalence(scorer=fake_scorer(too_long=frozenset({"It fits."})))
    with pytest.raises(InputError, match=r"sentence 0 .* is longer than the model reads"):
        metric.score(["x"], "It fits.")
    with pytest.raises(InputError, match="raise the limit of 500"):
        metric.score(["x"], "It fits. " * 501)


@pytest.mark.parametrize(
    ("product", "said"),
    [
        (Product("p", (Review(3),), PRODUCT.summaries), "record 1: review 0 is int, not text"),
        (Product(4, PRODUCT.reviews, PRODUCT.summaries), "record 1: id is int, not text"),
        (Product("p", PRODUCT.reviews, (Summary("s", None),)), "record 1: the summary by 's' is"),
        (Product("p", PRODUCT.reviews, (Summary(1, "x"),)), "record 1: a system's name is int"),
        (Product("p", PRODUCT.reviews, PRODUCT.summaries, ""), "record 1: the product name is"),
        (Product("p", PRODUCT.reviews, ("It fits.",)), "record 1: a summary is str: give"),
        (Product("p", PRODUCT.reviews, {"s": "It fits."}), "record 1: the summaries are dict"),
        (Product("p", PRODUCT.reviews, Summary("s", "x")), "record 1: the summaries are Summary"),
        (
            Product("p", PRODUCT.reviews, (Summary("s", "x", {"q": [1.0, math.nan]}),)),
            "record 1: the other keys of the summary by 's': q[1] is not a finite number; leave",
        ),
        (
            Product("p", PRODUCT.reviews, PRODUCT.summaries, extra={"day": object()}),
            "record 1: the other keys of the product: day is a object; give a JSON value",
        ),
        (Product("p", PRODUCT.reviews, PRODUCT.summaries, extra=[1]), "record 1: the other keys"),
        (
            Product("p", (Review("x", extra=None),), PRODUCT.summaries),
            "record 1: the other keys of review 0 are NoneType: give a mapping",
        ),
        (
            Product("p", PRODUCT.reviews, (Summary("s", "x", None),)),
            "record 1: the other keys of the summary by 's' are NoneType: give a mapping",
        ),
        (stating("It fits."), "record 1: the claims of 's' are no list of statements"),
        (stating(["It fits.", 3]), "record 1: the claims of 's' are no list of statements"),
        (["p"], "record 1: is "),
        (None, "record 1: is null"),
    ],
)
def test_a_bad_product_costs_its_own_row_only(metric, product, said):
    first, bad, last = metric.score_many([PRODUCT, product, PRODUCT])
    assert first == last
    assert bad.error.startswith(said)
    assert bad.prevalence is None
    assert json.loads(bad.to_json_line())["error"] == bad.error


@pytest.mark.parametrize("records", ["summaries.jsonl", {"id": "p"}, PRODUCT, None], ids=repr)
def test_what_is_no_list_of_records_is_refused(metric, records):
    with pytest.raises(InputError, match=r"the records are .*: give a list of products"):
        list(metric.score_many(records))


def test_claims_in_products_may_be_texts_objects_or_nothing(fake_scorer):
    metric = OpinionPrevalence(scorer=fake_scorer(ANSWERS), unit="claim")
    given = (["It fits."], ("It fits.",), [{"text": "It fits.", "quantity": "most"}], None)
    for row in metric.score_many(map(stating, given)):
        assert (row.error, [unit.text for unit in row]) == (None, ["It fits."])


def test_a_product_without_reviews_has_one_row_a_summary(metric):
    rows = list(metric.score_many([Product("p", (), (Summary("a", "x"), Summary("b", "y")))]))
    assert [row.system for row in rows] == ["a", "b"]
    assert all("no reviews" in row.error for row in rows)


def test_lone_surrogates_are_read_as_replacement_characters(metric):
    clean = metric.score(["caf\ufffd"], "It fits. C\ufffd!", name="a \ufffd")
    row = metric.score(["caf\udce9"], "It fits. C\udfff!", name="a \ud800")
    assert row == clean
    assert row.prevalence == 0.5
    assert [(s.start, s.end) for s in row] == [(0, 8), (9, 12)]
    product = Product(
        "p\ud800", (Review("caf\udce9"),), (Summary("s\ud800", "It fits. C\udfff!"),), "a \ud800"
    )
    (many,) = metric.score_many([product])
    assert (many.id, many.system) == ("p\ufffd", "s\ufffd")
    assert many.sentences == clean.sentences
    many.to_json_line().encode("utf-8")
    (answer,) = metric.support(["caf\ud800"], ["It fits."])
    assert answer.support == 1


def test_support_of_statements(metric):
    fits, blue = metric.support(REVIEWS, ["It fits.", "It is blue."])
    assert (fits.support, fits.supporting_reviews, fits.contradicting_reviews) == (1, (0,), (1,))
    assert fits.entailment == (0.9, 0.1, 0.0)
    assert (fits.n_reviews, fits.share) == (3, 1 / 3)
    assert (blue.statement, blue.support) == ("It is blue.", 0)
    assert "trivial:" not in fits.signature  # nothing is masked
    assert fits.to_json() == {
        "statement": "It fits.", "n_reviews": 3, "support": 1, "supporting_reviews": [0],
        "contradicting_reviews": [1], "entailment": [0.9, 0.1, 0.0], "signature": fits.signature,
    }  # fmt: skip


def test_statements_are_neither_split_nor_masked(fake_scorer):
    scorer = fake_scorer()
    answers = OpinionPrevalence(scorer=scorer).support(["x"], ["It fits. So.", "It fits. So."])
    assert [answer.statement for answer in answers] == ["It fits. So."] * 2
    assert answers[0] == answers[1]
    assert scorer.asked == [("x", "It fits. So.")]


def test_support_reports_each_pair_once(fake_scorer):
    done = []
    metric = OpinionPrevalence(scorer=fake_scorer())
    metric.support(
        ["good boots", "good boots", "warm", " "], ["They are warm."], progress=done.append
    )
    assert sum(done) == 2  # equal reviews are asked once, an empty one never


def test_support_without_a_contradiction_class(fake_scorer):
    metric = OpinionPrevalence(scorer=fake_scorer(ANSWERS, three_way=False))
    (answer,) = metric.support(REVIEWS, ["It fits."])
    assert answer.contradicting_reviews is None
    assert answer.to_json()["contradicting_reviews"] is None


def test_empty_reviews_support_no_statement(fake_scorer):
    scorer = fake_scorer()
    (answer,) = OpinionPrevalence(scorer=scorer).support(["", " "], ["It fits."])
    assert (answer.support, answer.entailment, scorer.asked) == (0, (0.0, 0.0), [])


@pytest.mark.parametrize(
    ("reviews", "statements", "said"),
    [
        ([], ["x"], "no reviews"),
        (["x"], [], "no statements"),
        (["x"], "It fits.", "the statements are str"),
        (["x"], ["y", " "], "statement 1 is empty"),
        (["x"], [None], "statement 0 is NoneType"),
        (["x"], ["y", "Long."], "statement 1 is longer than the model reads"),
    ],
)
def test_support_refuses(fake_scorer, reviews, statements, said):
    metric = OpinionPrevalence(scorer=fake_scorer(too_long=frozenset({"Long."})))
    with pytest.raises(InputError, match=said):
        metric.support(reviews, statements)


def test_support_counts_the_reviews_that_a_condition_leaves(fake_scorer):
    reviews = [Review(text, extra={"rating": 4 - place}) for place, text in enumerate("abcd")]
    answers = {(text, "It fits."): (0.9 if text in "abd" else 0.1, 0.0) for text in "abcd"}
    options = {"reviews_where": "rating <= 3", "first_reviews": 2}
    metric = OpinionPrevalence(scorer=fake_scorer(answers), **options)
    (found,) = metric.support(reviews, ["It fits."])
    # Left are b and c, of which b implies it.
    assert (found.support, found.n_reviews, found.share) == (1, 2, 0.5)
    assert found.supporting_reviews == (1,)
    assert found.entailment == (None, 0.9, 0.1, None)
    assert "|reviews:rating<=3|first:2|v:" in found.signature
    assert list(found.to_frame()["supports"]) == [None, True, False, None]
    with pytest.raises(InputError, match=r"no review satisfies rating<=3 \(none has rating"):
        metric.support(["a"], ["It fits."])


def test_support_refuses_a_condition_on_statements(fake_scorer):
    metric = OpinionPrevalence(scorer=fake_scorer(ANSWERS), statements_where="text has x")
    with pytest.raises(ConfigurationError, match="remove the condition on statements"):
        metric.support(REVIEWS, ["It fits."])


def test_options_are_checked_before_a_model_is_opened(monkeypatch):
    monkeypatch.setattr("prevalence.api.open_scorer", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(ConfigurationError, match="threshold"):
        OpinionPrevalence(threshold=1.5)


def test_model_options_reach_the_scorer(monkeypatch, fake_scorer):
    seen = {}
    monkeypatch.setattr(
        "prevalence.api.open_scorer",
        lambda model, **options: seen.update(options, model=model) or fake_scorer(),
    )
    given = {"device": "cpu", "dtype": "float32", "batch_tokens": 9, "packing": "padded",
             "windows": 8,
             "max_length": 7, "labels": ["a"], "cache": "c", "threshold": 0.2,
             "calibration": "f.json", "recheck": False}  # fmt: skip
    OpinionPrevalence("m", **given)
    assert seen == {"model": "m"} | given
    accepted = set(inspect.signature(open_scorer).parameters)
    assert accepted - {"check_cuts"} == set(seen)


@pytest.mark.filterwarnings("ignore:preset .* keeps its threshold")
def test_a_ready_scorer_takes_no_options_of_its_own(fake_scorer):
    with pytest.raises(ConfigurationError, match="a ready scorer takes no model, dtype, windows"):
        OpinionPrevalence("vitc", scorer=fake_scorer(), windows=64, dtype="float16")
    metric = OpinionPrevalence(scorer=fake_scorer(), model=None, cache=None, threshold=0.3)
    assert metric.threshold == 0.3
    # It is not the model that a preset names.
    preset = OpinionPrevalence(scorer=fake_scorer(), preset="malon")
    assert "|preset:malon+model|" in preset.signature


def test_rows_of_hugging_face_data_sets_are_read(metric):
    datasets = pytest.importorskip("datasets")
    record = {"id": "a", "reviews": ["It fits.", "It leaks."], "summary": "It fits."}
    given = datasets.Dataset.from_list([record, {**record, "id": "b"}])
    assert list(metric.score_many(given)) == list(metric.score_many(list(given)))
    rows = list(metric.score_many(given))
    assert [(row.id, row.n_reviews, row.error) for row in rows] == [("a", 2, None), ("b", 2, None)]


def test_rows_of_data_frames_are_read(metric):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([
        {"id": "a", "reviews": np.array(["It fits.", "It leaks."]), "summary": "It fits.",
         "name": "boot", "stars": np.float32(4.0)},
        {"id": "b", "reviews": np.array(["It fits."]), "summary": "It fits."},
    ])  # fmt: skip
    rows = list(metric.score_many(frame.to_dict("records")))
    assert [(row.id, row.n_reviews, row.error) for row in rows] == [("a", 2, None), ("b", 1, None)]
    with pytest.raises(InputError, match="the records are DataFrame: give a list of products"):
        list(metric.score_many(frame))
    arrays = [{"id": "c", "reviews": np.array(["It fits."]), "summary": "x", "stars": math.nan}]
    (row,) = metric.score_many(arrays)
    assert (row.error, row.extra) == (None, {"stars": None})
    missing = [math.nan, None, np.float32("nan"), pandas.NA, {"text": None}]
    reviews = ["It fits.", {"text": "So.", "rating": math.nan}, *missing]
    (row,) = metric.score_many([{"id": "e", "reviews": reviews, "summary": "It fits."}])
    assert (row.error, row.n_reviews) == (None, 7)
    assert metric.score(pandas.Series(reviews), "It fits.").n_reviews == 7
    summary = (Summary("s", "x"),)
    given = (np.array(["It fits.", "So."]), np.array([]), np.array("x"))
    first, second, third = metric.score_many(Product("d", some, summary) for some in given)
    assert third.error is not None
    assert (first.n_reviews, first.error) == (2, None)
    assert "no reviews; give at least one" in second.error
