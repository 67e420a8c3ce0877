"""Rows of every command as the report reads them."""

from __future__ import annotations

import json
import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.errors import InputError
from prevalence.records import Product, Review, Summary, input_digest
from prevalence.report.contents import Contents
from prevalence.report.rows import read_rows
from prevalence.scored import PROFILE_FIGURES, ScoredSummary
from prevalence.scoring.systems import SystemTable, standings


def filled(rows, **options):
    contents = Contents(**options)
    for one in rows:
        contents.add(one)
    return contents


def test_cells_have_four_states_and_doubt(rows):
    product = filled(rows).products[0]
    # .45 has odds .82, within 1.5 of the threshold's odds 1; .1 and .9 are far.
    assert [s.cells for s in product.summaries["bad"].sentences] == ["---", "scN", "---", "nnn"]
    assert [s.mask for s in product.summaries["bad"].sentences] == [
        "trivial: follows from having bought it", None, "repeats sentence 1", None,
    ]  # fmt: skip
    assert [s.kinds for s in product.summaries["bad"].sentences] == [
        ("trivial",), ("contradicted", "doubtful"), ("redundant",), ("unsupported",),
    ]  # fmt: skip


@given(
    p=st.floats(0.001, 0.999), threshold=st.floats(0.01, 0.99), doubt=st.floats(1.01, 4)
)  # fmt: skip
def test_doubt_is_a_ratio_of_odds(p, threshold, doubt):
    ratio = (p / (1 - p)) / (threshold / (1 - threshold))
    if math.isclose(max(ratio, 1 / ratio), doubt, rel_tol=1e-6):
        return
    one = {
        "schema": 1, "id": "p", "system": "s", "prevalence": 0.0, "n_reviews": 1,
        "signature": f"prev|thr:{threshold!r}|v:0",
        "sentences": [{"text": "x", "start": 0, "end": 1, "support": 0, "supporting_reviews": [],
                       "contradicting_reviews": None, "trivial": False, "redundant_with": None,
                       "entailment": [p]}],
    }  # fmt: skip
    contents = filled([one], doubt=doubt)
    assert contents.doubtful == (max(ratio, 1 / ratio) < doubt)
    assert contents.cells == 1


def test_systems_are_ordered_and_compared_with_the_best(rows):
    good, bad = filled(rows).systems
    # good: (2/3 + 3/3) / 2; bad: (1/12 + 1/3) / 2.
    assert good.statistics.prevalence == pytest.approx(5 / 6)
    assert good.p is None
    assert bad.statistics.prevalence == pytest.approx(5 / 24)
    # Of the four ways to swap two such differences, two are as far from zero as their mean.
    assert bad.p == pytest.approx(0.5, abs=0.02)
    assert (good.standing.group, good.standing.behind) == (1, None)
    assert (bad.standing.group, bad.standing.behind.products) == (1, 2)
    # Two products tell nothing apart.
    assert bad.standing.behind.difference == pytest.approx(5 / 8)
    assert bad.standing.behind.interval is None


def test_systems_named_random_and_greedy_are_floor_and_ceiling(row, sentence):
    rows = [
        row("p1", "random", [sentence("a", [])]),
        row("p2", "random", [sentence("a", [0, 1, 2])]),
        row("p1", "greedy", [sentence("a", [0, 1])]),
        row("p1", "mine", [sentence("a", [0])]),
        row("p2", "ours", [sentence("a", [0, 1])], ceiling=0.75),
        row("p2", "none", [], prevalence=None, error="bad"),
    ]
    means = {line.name: line.means for line in filled(rows).systems}
    # Compared on the system's own products: random has 0 on p1 and 1 on p2, greedy nothing on p2.
    assert means["mine"] == {"floor": 0.0, "ceiling": pytest.approx(2 / 3)}
    assert means["ours"] == {"floor": 1.0, "ceiling": 0.75}
    assert means["random"] == means["greedy"] == means["none"] == {}


def test_a_metric_called_like_a_figure_of_the_profile_stands_beside_it(row, sentence):
    profile = dict.fromkeys(PROFILE_FIGURES, 0.25)
    scored = row("p1", "s", [sentence("a", [0])], profile=profile)
    measured = {"id": "p1", "system": "s", "metrics": {"coverage": 0.75, "density": 2.0}}
    for order in ([scored, measured], [measured, scored]):
        contents = filled(order)
        values = contents.products[0].summaries["s"].values
        assert (values["coverage"], values["coverage (baselines)"]) == (0.25, 0.75)
        means = contents.systems[0].means
        assert (means["coverage"], means["coverage (baselines)"]) == (0.25, 0.75)
        assert values["density"] == 2.0


def test_a_table_of_ratings_is_refused_with_what_to_give(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("id,system,tone\np,s,3\n")
    with pytest.raises(InputError, match="give the result of prevalence meta correlate --format"):
        list(read_rows(path))


def test_one_system_has_no_standing(row, sentence):
    (only,) = filled([row("p1", "s", [sentence("a", [0])])]).systems
    assert only.standing is None


def test_failures_come_first_and_then_the_most_faults(rows):
    contents = filled([rows[2], rows[0], rows[1]])
    assert [product.id for product in contents.worst_first] == ["p/1", "p2"]
    contents.add({**rows[0], "id": "p3", "prevalence": None, "sentences": [], "error": "in:3: bad"})
    assert contents.worst_first[0].id == "p3"
    assert contents.worst_first[0].summaries["good"].notes == ("in:3: bad",)
    assert contents.table.failed == 1


def test_records_that_could_not_be_read_are_named_by_their_ids(rows):
    lost = {**rows[0], "system": None, "prevalence": None, "sentences": [], "error": "in:3: bad"}
    contents = filled([rows[0], {**lost, "id": "p3"}, {**lost, "id": None}])
    assert contents.failures == ["p3: in:3: bad", "in:3: bad"]
    assert contents.table.failed == 0


def test_profiles_and_score_rows_join_the_prevalence_of_a_summary(rows):
    place = {"review": 0, "start": 0, "end": 1, "asked": 2}
    left_out = [
        {"text": "a", "support": 1, "supporting_reviews": [0], **place},
        {"text": "b", "support": 2, "supporting_reviews": [0, 1], **place},
    ]
    profile = {"coverage": 0.4, "left_out": left_out}
    contents = filled([
        {**rows[0], "profile": profile, "ceiling": 0.8},
        {"schema": 1, "id": "p/1", "system": "good", "metrics": {"rouge-1": 0.25, "none": None}},
        {"schema": 1, "id": "p/1", "system": "human", "metrics": {"rouge-1": 0.5}},
    ])  # fmt: skip
    summary = contents.products[0].summaries["good"]
    assert summary.values == {
        "prevalence": pytest.approx(2 / 3), "ceiling": 0.8, "coverage": 0.4, "rouge-1": 0.25,
    }  # fmt: skip
    assert [(one.text, one.reviews) for one in summary.left_out] == [("b", [0, 1]), ("a", [0])]
    named = filled([{**rows[0], "profile": profile, "review_ids": ["d1", "d2", "d3"]}])
    left_out = named.products[0].summaries["good"].left_out
    assert [one.reviews for one in left_out] == [["d1", "d2"], ["d1"]]
    assert [line.name for line in contents.systems] == ["good", "human"]
    assert contents.systems[1].means == {"rouge-1": 0.5}
    assert len(contents.products) == 1


def test_the_same_summary_of_another_file_is_another_system(rows):
    contents = Contents()
    for source in ("small", "large"):
        contents.add_all(rows, source=source)
    names = [line.name for line in contents.systems]
    assert sorted(names) == ["bad", "bad (large)", "good", "good (large)"]
    assert len(contents.products) == 2


def test_rows_of_one_file_are_not_held(tmp_path):
    path = tmp_path / "rows.jsonl"
    one = json.dumps({"id": "p", "system": "s", "metrics": {"m": 1}, "unused": [0.5] * 20_000})
    path.write_text(f"{one}\n" * 40)
    contents = Contents()
    tracemalloc.start()
    assert contents.add_all(read_rows(path), source="rows", where="rows: ") == 40
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A row's text has 100 kB, and what is made of it some 800 kB at a time.
    assert peak < 2_500_000
    with pytest.raises(InputError, match=r"^rows: neither a row of"):
        contents.add_all([{"premise": "x"}], source="more", where="rows: ")


def test_a_system_of_two_files_is_told_apart_in_all_its_rows(row, sentence):
    contents = Contents()
    # Of the second file, only the last row is about a summary that the first has scored.
    for source, of in (("a", {"p2": [0]}), ("b", {"p1": [0], "p3": [0, 1], "p2": [0, 1, 2]})):
        rows = [row(name, "s", [sentence("x", reviews)]) for name, reviews in of.items()]
        contents.add_all(rows, source=source)
    found = {line.name: line.statistics for line in contents.systems}
    # Of three reviews: 1/3, and (1 + 2 + 3) / 9.
    assert {name: (one.prevalence, one.summaries) for name, one in found.items()} == {
        "s": (pytest.approx(1 / 3), 1), "s (b)": (pytest.approx(2 / 3), 3),
    }  # fmt: skip


def test_equal_ids_are_one_product_in_intervals_and_tests(row, sentence):
    table = SystemTable()
    contents = Contents(resamples=200, seed=3)
    for place in range(20):
        for system, reviews in (("a", [0, 1, 2][: 1 + place % 3]), ("b", [0][: place % 2])):
            one = row(f"p{place // 2}", system, [sentence("x", reviews)])
            table.add(ScoredSummary.from_json(one))
            contents.add(one)
    assert len(contents.products) == 20
    lines = contents.systems
    assert [line.statistics for line in lines] == table.statistics(resamples=200, seed=3)
    assert [line.standing for line in lines] == standings(table, resamples=200, seed=3)
    tests = {"bootstrap": 200, "randomization": 200}
    (compared,) = table.compare(["randomization"], resamples=tests, seed=3)
    assert (compared.products, compared.p_values) == (10, {"randomization": lines[1].p})


def test_profiles_of_a_system_are_those_of_the_console(row, sentence):
    groups = {"rating <= 2": {"reviews": 2, "coverage": 0.25}, "odd": {"coverage": None}}
    contents = filled(
        row(name, "s", [sentence("x", [0])], profile={
            "polarity_distance": distance, "review_coverage": 0.5, "groups": groups,
        })
        for name, distance in (("p1", 0.0), ("p2", 2.0))
    )  # fmt: skip
    (line,) = contents.systems
    # (RMSE + MAE) / 2 of 0 and 2, which is no mean, and one group that is .25 below all reviews.
    assert line.means["polarity_distance"] == pytest.approx((2**0.5 + 1) / 2)
    assert line.means["coverage_parity"] == pytest.approx(0.25)
    assert "coverage_parity" in contents.figures


@pytest.mark.parametrize("metrics", [None, []])
def test_a_row_without_metrics_is_shown_with_its_error(metrics):
    contents = filled([{"id": "x", "system": "s", "metrics": metrics, "error": "e"}])
    assert contents.products[0].summaries["s"].notes == ("e",)


def test_duels_that_could_not_be_read_are_failures():
    lost = {"id": "p", "a": None, "b": None, "dimension": None, "verdict_ab": None, "error": "bad"}
    contents = filled([lost])
    assert (contents.duels, contents.failures) == ([], ["p: bad"])


def test_the_same_id_twice_in_a_file_is_another_product(rows):
    contents = filled([rows[0], rows[0]])
    assert [product.id for product in contents.products] == ["p/1", "p/1 (2)"]
    assert contents.systems[0].statistics.summaries == 2


def test_a_row_that_repeats_another_counts_once(rows):
    first = {**rows[0], "input_digest": "d1"}
    # Another machine rounds otherwise.
    near = [{**one, "entailment": [0.9000001, 0.9, 0.1]} for one in first["sentences"]]
    contents = filled([first, dict(first), {**first, "sentences": near}])
    assert [product.id for product in contents.products] == ["p/1"]
    assert (contents.repeats, contents.systems[0].statistics.summaries) == (2, 1)
    # Other texts, settings or decisions, or a failure in between, say something else.
    none = [{**one, "supporting_reviews": [1, 2]} for one in first["sentences"]]
    for other in ({"input_digest": "d2"}, {"signature": "s"}, {"error": "e", "prevalence": None},
                  {"sentences": none}):  # fmt: skip
        contents.add({**first, **other})
    assert contents.repeats == 2
    assert len(contents.products) == 5


def test_metrics_that_are_there_twice_count_once():
    one = {"id": "p", "system": "s", "metrics": {"m": 1.0}, "input_digest": "d", "signature": "m"}
    contents = filled([one, one, {**one, "metrics": {"m": 2.0}}])
    assert contents.repeats == 1
    assert contents.systems[0].means == {"m": 1.5}


def test_files_that_overlap_name_no_system_twice(rows):
    rows = [{**one, "input_digest": f"d{place}"} for place, one in enumerate(rows)]
    contents = Contents()
    for source, taken in (("a", rows[:2]), ("b", rows), ("c", rows[2:])):
        contents.add_all(taken, source=source)
    assert {line.name: line.statistics.summaries for line in contents.systems} == {
        "good": 2, "bad": 2,
    }  # fmt: skip
    assert contents.repeats == 4


def test_another_version_of_a_system_keeps_the_rows_that_are_as_before(rows):
    first = [{**one, "input_digest": f"d{n}"} for n, one in enumerate((rows[0], rows[2]))]
    contents = Contents()
    contents.add_all(first, source="old")
    contents.add_all([first[0], {**first[1], "input_digest": "new"}], source="new")
    assert {line.name: line.statistics.summaries for line in contents.systems} == {
        "good": 2, "good (new)": 2,
    }  # fmt: skip
    assert contents.repeats == 0


@pytest.mark.parametrize(
    "name", ["<stdin>:1", "data.jsonl:1", "part-00000:12", "data.json[0]", "my reviews.csv.gz:3"]
)
def test_ids_that_are_places_join_no_products_of_other_files(rows, name):
    first = [{**one, "id": name, "input_digest": f"d{n}"} for n, one in enumerate(rows[:2])]
    contents = Contents()
    contents.add_all(first, source="a")
    others = [{**one, "input_digest": f"{one['input_digest']}-other"} for one in first]
    with pytest.raises(InputError) as refused:
        contents.add_all(others, source="b", where="b.jsonl: ")
    assert str(refused.value) == (
        "b.jsonl: its rows are about other reviews or summaries than those of a, under the same "
        f'ids (such as "{name}", a place in a file): give each record an id of its own in a field '
        '"id", or, to compare summaries of the same products, name their system in a field '
        '"system"; then score again'
    )
    # As the message says, other systems under the same ids are read.
    contents.add_all([{**one, "system": "named"} for one in others], source="g")
    assert "named" in {line.name for line in contents.systems}
    # With one input in common, or ids that were given, they are another version of the same.
    contents.add_all([others[0], first[1]], source="c")
    for rows_of, source in ((first, "d"), (others, "e")):
        contents.add_all([{**one, "id": "amazon:1"} for one in rows_of], source=source)
    # Digests of other settings cover other fields of a record.
    contents.add_all([{**one, "signature": "other"} for one in others], source="f")
    assert {"good (c)", "good (e)", "good (f)"} <= {line.name for line in contents.systems}


def test_damaged_rows_of_a_second_file_are_refused(rows):
    contents = Contents()
    contents.add_all(rows, source="a")
    for damage in ({"sentences": 5}, {"sentences": {"x": 1}}, {"signature": 3}, {"id": ["x"]}):
        with pytest.raises(InputError, match=r"^b: "):
            contents.add_all([{**rows[0], "input_digest": "d", **damage}], source="b", where="b: ")


class Looked(dict):
    """Summaries of a product that count how often any product was looked into."""

    count = 0

    def get(self, *key):
        Looked.count += 1
        return super().get(*key)


def test_many_rows_of_one_id_and_system_are_placed_in_linear_time():
    contents, expected = Contents(), []
    kinds = [("a",), ("a", "b"), ("b",), ("a",), ()]
    for place in range(300):
        metrics = dict.fromkeys(kinds[place % len(kinds)], float(place))
        # Each goes to the first product that has none of its figures.
        free = next((one for one in expected if one.keys().isdisjoint(metrics)), None)
        if free is None:
            expected.append(free := {})
        free.update(metrics)
        contents.add({"id": "p", "system": "s", "metrics": metrics})
        contents.products[-1].summaries = Looked(contents.products[-1].summaries)
    assert [product.summaries["s"].values for product in contents.products] == expected
    assert len(expected) == 180
    assert Looked.count < 4 * 300


def test_records_are_matched_by_what_was_scored(rows):
    record = Product(
        "p/1", (Review("a", "r0", {"rating": 4}), Review("b"), Review("c")),
        (Summary("good", "It is bright."),), name="lamp",
    )  # fmt: skip
    other = Product("p2", (Review("x"),), (Summary("good", "It is cheap."),))
    contents = filled([
        {**rows[0], "input_digest": input_digest(record, record.summaries[0])},
        {**rows[2], "input_digest": "0" * 16},
    ])  # fmt: skip
    contents.attach([record, other])
    assert contents.products[0].name == "lamp"
    assert contents.products[0].reviews[0] == ("a", "r0", 4.0)
    assert contents.products[1].reviews == ()
    assert contents.unmatched == 1


def test_ratings_of_tables_are_numbers(rows):
    reviews = (Review("a", "r0", {"rating": "4.5"}), Review("b", None, {"rating": "good"}),
               Review("c", None, {"rating": ""}))  # fmt: skip
    record = Product("p/1", reviews, (Summary("good", "It is bright."),))
    contents = filled([{**rows[0], "input_digest": input_digest(record, record.summaries[0])}])
    contents.attach([record])
    assert [review.rating for review in contents.products[0].reviews] == [4.5, None, None]


def test_products_of_equal_records_all_get_their_reviews(rows):
    records = [
        Product(name, (Review("a", rating),), (Summary("good", "It is bright."),), name="lamp")
        for name, rating in (("p/1", "r0"), ("p2", "r1"), ("p/1", "r0"))
    ]
    digest = input_digest(records[0], records[0].summaries[0])
    own = [{**rows[place], "input_digest": digest} for place in (0, 2, 0)]
    contents = filled([*own[:2], {**own[2], "signature": "of another setting"}])
    contents.attach(records)
    found = {product.id: product.reviews[0].id for product in contents.products}
    assert found == {"p/1": "r0", "p2": "r1", "p/1 (2)": "r0"}
    assert {product.name for product in contents.products} == {"lamp"}


def test_other_results_are_kept_and_unknown_ones_refused():
    contents = Contents()
    contents.add({"scorer": "rouge1-precision", "threshold": 0.4, "dev": {"n": 3}})
    contents.add({"analysis": "correlate", "rows": []})
    contents.add({"schema": 1, "id": "p", "a": "x", "b": "y", "verdict_ab": 1, "verdict_ba": 0})
    assert (len(contents.calibrations), len(contents.correlations), len(contents.duels)) == (
        1,
        1,
        1,
    )
    with pytest.raises(InputError, match="neither a row of prevalence score"):
        contents.add({"premise": "x"})


@pytest.mark.parametrize("text", ['{"a": 1}\n{"a": 2}\n', '[{"a": 1}, {"a": 2}]'])
def test_lines_and_arrays_are_read(tmp_path, text):
    path = tmp_path / "rows"
    path.write_text(text)
    assert list(read_rows(path)) == [{"a": 1}, {"a": 2}]


def test_one_object_over_several_lines_is_read(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"a": 1, "b": [2]}, indent=1))
    assert list(read_rows(path)) == [{"a": 1, "b": [2]}]


def test_a_byte_order_mark_is_no_part_of_the_rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n')
    assert list(read_rows(path)) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1}\nnot json\n', r"rows:2: not a JSON object"),
        (b"[1]", r"rows: entry 0: not a JSON object"),
        (b"id,system,prevalence\na,b,1\n", r"rows:1: .* give .jsonl or .json rows, not .csv"),
        (
            b'{"a": 1}\n\n{"a": "It is',
            r"rows:3: the last line is incomplete JSON; get the whole file",
        ),
        (b'{"a": {"b": 1}', r"rows:1: the last line is incomplete JSON"),
        (b'[{"a": 1},\n{"a', r"rows:2: the last line is incomplete JSON"),
        (b'{"a": 1}\n{"a": oops}', r"rows:2: not a JSON object"),
        (b'{"a": 1}\n{"a": "It is\n', r"rows:2: not a JSON object"),
        (b"\xff\xfe", "is UTF-16 text"),
        (b'{"a": "\xe9"}', "not UTF-8 at byte 8 of the line"),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(tmp_path, data, message):
    path = tmp_path / "rows"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        list(read_rows(path))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="none: no such file"):
        list(read_rows(tmp_path / "none"))


def test_rows_of_judges_keep_samples_people_and_replies():
    account = {"asked": 3, "read": 2, "unparsable": 1}
    contents = filled([{
        "schema": 1, "id": "p", "system": "s", "metrics": {"op-i.tone": 3.5, "rts.tone": None},
        "samples": {"op-i.tone": [3, None, 4], "rts.tone": [None]},
        "human": {"tone": [5, 4], "f": 4, "g": {"r1": 2, "r2": None}},
        "judge": {"op-i.tone": account}, "error": "rts: no score",
    }])  # fmt: skip
    summary = contents.products[0].summaries["s"]
    assert summary.values == {
        "op-i.tone": 3.5, "people: tone": 4.5, "people: f": 4.0, "people: g": 2.0,
    }  # fmt: skip
    assert summary.samples == {"op-i.tone": (3.0, 4.0)}
    assert summary.failed
    assert contents.replies["replies asked"] == 3
    assert contents.replies["replies unparsable"] == 1


def test_what_a_judge_did_not_see_is_no_account_of_replies():
    account = {"missing_inputs": ["key_features"], "omni.fluency": {"asked": 2}}
    one = {"schema": 1, "id": "p", "system": "s", "metrics": {"omni.fluency": 3}, "judge": account}
    assert filled([one]).replies["replies asked"] == 2


@pytest.mark.parametrize("failed_first", [True, False])
def test_a_failed_row_joins_the_others_of_its_summary(rows, failed_first):
    failed = {"schema": 1, "id": "p/1", "system": "good", "metrics": {"rts.tone": None},
              "error": "rts: no score"}  # fmt: skip
    order = [failed, rows[0]] if failed_first else [rows[0], failed]
    contents = filled(order)
    assert [product.id for product in contents.products] == ["p/1"]
    # A second one of the same figure is about another product of this id.
    contents.add(failed)
    assert [product.id for product in contents.products] == ["p/1", "p/1 (2)"]


def test_files_that_share_one_of_several_figures_are_told_apart():
    contents = Contents()
    for source, metrics in (
        ("small", {"rouge-1": 0.25}),
        ("large", {"rouge-1": 0.5, "rouge-2": 0.125}),
        ("other", {"bleu": 0.75}),
    ):
        row = {"schema": 1, "id": "p", "system": "s", "metrics": metrics}
        contents.add_all([row], source=source)
    (product,) = contents.products
    assert {name: one.values for name, one in product.summaries.items()} == {
        "s": {"rouge-1": 0.25, "bleu": 0.75},
        "s (large)": {"rouge-1": 0.5, "rouge-2": 0.125},
    }


def test_an_empty_file_of_no_metrics_is_no_row():
    with pytest.raises(InputError, match="neither a row"):
        filled([{"schema": 1}])


@pytest.mark.parametrize(
    "damage",
    [
        {"prevalence": 10**400},
        {"prevalence": math.nan},
        {"n_reviews": 10**400},
        {"judge": [1]},
        {"judge": {"j": {"asked": "many"}}},
        {"signature": "prev|thr:..e"},
        {"prefix_curve": [None, 0.5]},
        {"profile": {"left_out": 7}},
        {"profile": {"left_out": [{"text": "a"}]}},
        {"profile": {"left_out": [{"support": 3}]}},
        {"profile": {"left_out": [{"text": "a", "support": "b"}, {"support": 3}]}},
        {"sentences": [{"text": "x", "entailment": [math.nan], "supporting_reviews": []}]},
    ],
    ids=str,
)
def test_damaged_rows_are_refused(rows, damage):
    with pytest.raises(InputError, match=r"^(not a scored summary|a row is damaged)"):
        Contents().add({**rows[0], **damage})


@pytest.mark.parametrize(
    "damaged",
    [
        {"scorer": "s", "dev": {"cross_validation": 5}},
        {"scorer": "s", "dev": {}, "test": [1]},
        {"analysis": "correlate", "rows": [{"row": "m", "value": 0.5}]},
        {"analysis": "correlate", "rows": 7},
        {"id": "p", "reviews": ["a"], "summaries": {"s": {"extract": {"calls": {}}}}},
    ],
    ids=str,
)
def test_damaged_results_are_refused(damaged):
    with pytest.raises(InputError, match=r"^(neither a row|a row is damaged)"):
        Contents().add(damaged)


def test_numbers_beyond_all_scales_are_no_figures(rows):
    metrics = {"id": "p/1", "system": "good", "metrics": {"huge": 10**400, "fine": 2}}
    assert filled([metrics]).products[0].summaries["good"].values == {"fine": 2.0}


def test_comparisons_beside_correlations_are_no_damage():
    value = {"row": "m", "dimension": "d", "level": "system", "kind": "tau-b", "value": 0.5}
    compared = {"type": "comparison", "first": "m", "second": "n", "p": 0.5}
    result = {"analysis": "correlate", "rows": [value, compared]}
    assert filled([result]).correlations == [result]
