"""Every layout of scores and ratings, with names of our own, merged into one table."""

from __future__ import annotations

import gzip
import json
import shutil

import numpy as np
import pytest

from prevalence.baselines.judges.packs import dimension_set_names, load_dimensions
from prevalence.errors import InputError
from prevalence.llm.released_replies import reply_reader
from prevalence.meta.correlate import correlate, pairings, unrated_metrics
from prevalence.meta.sources import read_table, read_tables
from prevalence.meta.table import own_dimension, unrated_dimension


@pytest.fixture
def write(tmp_path):
    def to_file(name, *records):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return to_file


def row(item, system, **fields):
    return {"schema": 1, "id": item, "system": system, **fields}


def test_score_rows_merge_by_id_and_system_with_prevalence_rows(write):
    scores = write(
        "scores.jsonl",
        row("a", "s1", metrics={"rouge-1": 0.5, "judge.fluency": None}, human={"fluency": [4, 5]}),
        row("a", "s2", metrics={"rouge-1": 0.25}, human={"fluency": [2, None]}),
        row("b", "s1", metrics={}, samples={"judge.fluency": [4, 4, 1]}),
    )
    prevalence = write(
        "prevalence.jsonl",
        row("b", "s1", prevalence=0.75, sentences=[], error=None),
        row("a", "s2", prevalence=None, error="prevalence.jsonl:2: no reviews"),
    )
    table = read_table([scores, prevalence])
    assert (table.items, table.systems, table.raters) == (("a", "b"), ("s1", "s2"), ("1", "2"))
    nan = np.nan
    np.testing.assert_array_equal(table.metric("rouge-1"), [[0.5, 0.25], [nan, nan]])
    np.testing.assert_array_equal(table.metric("prevalence"), [[nan, nan], [0.75, nan]])
    np.testing.assert_array_equal(table.metric("judge.fluency"), [[nan, nan], [3.0, nan]])
    np.testing.assert_array_equal(table.samples["judge.fluency"][1, 0], [4, 4, 1])
    np.testing.assert_array_equal(table.mean_human("fluency"), [[4.5, 2.0], [nan, nan]])


def test_the_figures_of_a_profile_are_metrics(write):
    profile = {"coverage": 0.5, "contested": None, "attested": 1, "left_out": [], "missing": {}}
    rows = write(
        "rows.jsonl",
        row("a", "s1", prevalence=0.75, sentences=[], profile=profile),
        row("a", "s2", prevalence=0.25, sentences=[]),
    )
    table = read_table(rows)
    assert list(table.metrics) == ["prevalence", "prevalence.coverage", "prevalence.attested"]
    np.testing.assert_array_equal(table.metric("prevalence.coverage"), [[0.5, np.nan]])
    # A dimension of that name takes no figure for itself.
    assert own_dimension("x:prevalence.coverage", ["coverage"]) == ("x:prevalence.coverage", None)


def test_a_row_with_an_error_keeps_the_metrics_that_have_a_value(write):
    path = write(
        "scores.jsonl",
        row("a", "s1", metrics={"m": None, "n": 0.5}, human={"overall": [4]}, error="m failed"),
        row("a", "s2", metrics={"m": None}, samples={"m": [None]}, error="no reply"),
        row("b", "s1", metrics={}, samples={"m": [3, None]}, error="one reply failed"),
        row(None, None, metrics={"m": None}, error="scores.jsonl:4: no reviews"),
    )
    reading = read_tables(path)
    nan = np.nan
    assert (reading.table.items, reading.table.systems) == (("a", "b"), ("s1",))
    np.testing.assert_array_equal(reading.table.metric("n"), [[0.5], [nan]])
    np.testing.assert_array_equal(reading.table.metric("m"), [[nan], [3.0]])
    np.testing.assert_array_equal(reading.table.mean_human("overall"), [[4.0], [nan]])
    assert reading.left_out == 2


def test_a_row_that_failed_keeps_what_people_rated(write):
    path = write(
        "scores.jsonl",
        row("a", "s1", prevalence=0.5, human={"overall": [4]}),
        row("a", "s2", prevalence=None, human={"overall": [2, None]}, error="model failed"),
        row("a", "s3", prevalence=None, human={"overall": [None]}, error="model failed"),
        {"id": "b", "prevalence": None, "human": {"overall": [1]}, "error": "no system"},
    )
    reading = read_tables(path)
    assert reading.table.mean_human("overall").tolist() == [[4.0, 2.0]]
    np.testing.assert_array_equal(reading.table.metric("prevalence"), [[0.5, np.nan]])
    assert reading.left_out == 2


def test_labels_keep_two_files_of_one_metric_apart(write):
    first = write("one.jsonl", row("a", "s", prevalence=0.5, human={"overall": 3}))
    second = write("two.jsonl", row("a", "s", prevalence=0.25, human={"overall": 3}))
    table = read_table([f"small={first}", f"large={second}"])
    assert list(table.metrics) == ["small:prevalence", "large:prevalence"]
    assert table.mean_human("overall").tolist() == [[3.0]]
    with pytest.raises(
        InputError, match=r"two.jsonl:1: metrics 'prevalence' of 'a' by 's' is 0.25"
    ):
        read_table([first, second])


def test_labels_keep_two_folders_of_replies_apart(write, tmp_path):
    for run, score in (("one", 4), ("two", 2)):
        reply = {"id": "d", "resp": f"Score: {score}"}
        write(f"{run}/gpt/eval_A_generations/coh_rts.txt", reply)
    table = read_table([f"old={tmp_path / 'one'}", f"new={tmp_path / 'two'}"])
    assert {name: grid[0, 0] for name, grid in table.metrics.items()} == {
        "old:gpt.rts.coh": 4.0, "new:gpt.rts.coh": 2.0,
    }  # fmt: skip


def test_opinsummeval_scores(write):
    # One line a case without an id: the case is the line's number. Ratings are objects or lists.
    path = write(
        "scores.jsonl",
        {
            "tiny": {"R1": 0.5, "deep": {"x": 2}, "annot1": {"tone": 4}, "annot2": {"tone": 2}},
            "huge": {
                "R1": 0.75,
                "text": "words",
                "annot1": {"tone": "5"},
                "annot2": {"tone": None},
            },
        },
        {"tiny": {"R1": 0.125, "annot1": {"tone": 1}}},
    )
    other = write("other.jsonl", row(2, "tiny", metrics={"mine": 9}))
    table = read_table([path, other])
    assert (table.items, table.systems) == (("1", "2"), ("tiny", "huge"))
    assert table.metric("deep.x")[0, 0] == 2
    np.testing.assert_array_equal(table.mean_human("tone"), [[3, 5], [1, np.nan]])
    assert table.metric("mine")[1, 0] == 9
    listed = write("listed.jsonl", {"case": 7, "tiny": {"annot1": [1, 2, 3, 4]}})
    assert read_table(listed).dimensions == ("asp_rel", "self_coh", "sent_con", "readblty")


def test_by_position_the_rows_of_one_item_are_one_item(write):
    rated = [{"gpt": {"dimensions": {"Fluency": 1 + i}}, "t5": {"dimensions": {"Fluency": 3 + i}}}
             for i in range(3)]  # fmt: skip
    ratings = write("ratings.jsonl", *({"summaries": systems} for systems in rated))
    scores = write(
        "scores.jsonl",
        row("p", "gpt", metrics={"m": 0.1}),
        row("p", "t5", metrics={"m": 0.3}),
        row("q", "gpt", metrics={"m": None}, error="no reviews"),
        row("r", "gpt", metrics={"m": 0.5}),
        row("r", "t5", metrics={"m": 0.6}),
    )
    place = write(
        "replies/gpt-4/eval_gpt_generations/flu_rts.txt",
        *({"id": item, "resp": f"Score: {n}"} for n, item in enumerate("xyz", start=1)),
    )
    table = read_table([ratings, scores, place.parents[2]], by_position=True)
    assert (table.items, table.systems) == (("1", "2", "3"), ("gpt", "t5"))
    assert table.mean_human("fluency").tolist() == [[1, 3], [2, 4], [3, 5]]
    nan = np.nan
    np.testing.assert_array_equal(table.metric("m"), [[0.1, 0.3], [nan, nan], [0.5, 0.6]])
    assert table.metric("gpt-4.rts.fluency")[:, 0].tolist() == [1, 2, 3]


def test_summeval_op_mean_and_detailed_files(write, tmp_path):
    mean = tmp_path / "mean.json"
    records = [
        {
            "reviews": {"rev1": "Good lamp.", "rev2": "Dim."},
            "summaries": {
                "gpt": {"summary": "A lamp.", "dimensions": {"Fluency": 4.5, "Aspect Coverage": 2}},
                "t5": {"summary": "Dim lamp.", "dimensions": {"Fluency": 3, "Aspect Coverage": 1}},
            },
        }
    ]
    mean.write_text(json.dumps(records, indent=1))
    table = read_table(mean)
    assert table.items == ("mean.json[0]",)
    assert table.dimensions == ("fluency", "aspect_coverage")
    np.testing.assert_array_equal(table.mean_human("fluency"), [[4.5, 3.0]])
    detailed = write(
        "detailed.jsonl",
        {
            "reviews": ["Good lamp."],
            "summaries": ["A lamp.", "Dim lamp."],
            "models": ["gpt", "t5"],
            "fl": [[4, 5, 4], [3, 3, 3]],
            "ac": [[2, 2, 3], [1, 1, None]],
        },
    )
    table = read_table(detailed)
    assert table.raters == ("1", "2", "3")
    np.testing.assert_allclose(table.mean_human("aspect_coverage"), [[7 / 3, 1.0]])
    merged = read_table(
        [detailed, write("mine.jsonl", row(1, "t5", metrics={"m": 1}))], by_position=True
    )
    assert merged.items == ("1",)


ANNOTATIONS = [
    {
        "id": f"doc-{number}",
        "decoded": "a text",
        "expert_annotations": [
            {"coherence": number, "relevance": 2},
            {"coherence": 5, "relevance": 4},
        ],
        "turker_annotations": [{"coherence": 1, "relevance": 1}],
    }
    for number in (1, 2)
]


def replies(*texts):
    return [
        {"id": f"doc-{1 + place % 2}", "prompt_len": 9, "total_len": 12, "resp": text}
        for place, text in enumerate(texts)
    ]


def test_llm_summeval_annotations_and_generations(write, tmp_path):
    for system in ("BigModel", "M2"):
        write(f"notes/{system}_annotations.jsonl", *ANNOTATIONS)
    place = "judges/some-judge/eval_{}_generations/{}.txt"
    # The second answer about doc-1 replaces the first.
    write(
        place.format("BigModel", "coh_RTS"), *replies("Score: 2", "score: 4.5", "scores a three.")
    )
    write(place.format("M2", "coh_RTS"), *replies("no number here", "I would score it 1."))
    write(place.format("M2", "relevance_altMCQ"), *replies("C", "E"))
    write(place.format("M2", "relevance_stareval"), *replies("4 stars", "three stars"))
    reading = read_tables(tmp_path)
    table = reading.table
    assert (table.systems, table.items) == (("BigModel", "M2"), ("doc-1", "doc-2"))
    np.testing.assert_array_equal(
        table.metric("some-judge.rts.coherence"), [[3.0, np.nan], [4.5, 1.0]]
    )
    assert table.metric("some-judge.mcq2.relevance")[:, 1].tolist() == [3.0, 5.0]
    assert table.metric("some-judge.star.relevance")[:, 1].tolist() == [4.0, 3.0]
    assert table.mean_human("coherence")[:, 0].tolist() == [3.0, 3.5]
    assert read_table(tmp_path, raters="turker").mean_human("coherence")[0, 0] == 1.0
    kept = read_table(tmp_path, keep_unread=True)
    assert kept.metric("some-judge.rts.coherence")[0, 1] == -1.0
    with pytest.raises(InputError, match="choose one of expert, turker"):
        read_table(tmp_path / "notes" / "M2_annotations.jsonl", raters="crowd")


def test_a_rater_who_is_null_did_not_rate_and_the_other_experts_count(write):
    records = [{"model_id": f"M{number}", **ANNOTATIONS[0]} for number in (1, 2, 3)]
    records[1]["expert_annotations"] = [None, {"coherence": 4}]
    records[2]["expert_annotations"] = [None, None]
    table = read_table(write("all.jsonl", *records))
    np.testing.assert_array_equal(table.human["coherence"][0], [[1, 5], [np.nan, 4], [np.nan] * 2])
    records[1]["expert_annotations"] = [{"coherence": 4}, "absent"]
    with pytest.raises(InputError, match=r"expert\[1\]: is the string 'absent'; give an object"):
        read_table(write("all.jsonl", *records))


def test_means_of_the_same_ratings_in_another_order_are_equal(write):
    given = ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.9, 0.2, 0.3], [-0.1, -0.2, 0.3], [0, 0, 0], [])
    rows = [row("a", str(place), human={"q": ratings}) for place, ratings in enumerate(given)]
    first, second, third, cancelled, zero, unrated = read_table(write("r.jsonl", *rows)).mean_human(
        "q"
    )[0]
    assert first == second == np.mean([0.1, 0.2, 0.3])
    assert third == pytest.approx(1.4 / 3)
    assert cancelled == zero
    assert np.isnan(unrated)


def test_a_system_named_in_the_record_wins_over_the_file(write):
    path = write(
        "all.jsonl", {"model_id": "M5", **ANNOTATIONS[0]}, {"model_id": "M6", **ANNOTATIONS[0]}
    )
    assert read_table(path).systems == ("M5", "M6")


def test_gzip_and_folders_with_other_files(write, tmp_path):
    path = write("rows.jsonl", row("a", "s", metrics={"m": 1}))
    with path.open("rb") as plain, gzip.open(tmp_path / "more.jsonl.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    path.unlink()
    write("texts.jsonl", {"id": "a", "article": "words"})
    reading = read_tables(tmp_path)
    assert reading.table.metric("m").tolist() == [[1.0]]
    assert len(reading.skipped) == 1
    assert "texts.jsonl:1: holds no scores" in reading.skipped[0]


def test_a_fault_in_a_folder_is_not_passed_over(write, tmp_path):
    write("good.jsonl", row("a", "s", metrics={"m": 1}))
    write("bad.jsonl", row("a", "s", metrics={"n": "high"}))
    with pytest.raises(InputError, match=r"bad.jsonl:1: metrics.n"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"id": "a", "metrics": {"m": 1}}, "system: is missing"),
        (row("a", "s", metrics={"m": "high"}), r"metrics.m: is the string 'high'; give a number"),
        (row("a", "s", metrics=[1]), "metrics: is a list; give an object"),
        (row("a", "s", samples={"m": 3}), "samples.m: is the number 3; give a list"),
        ({"id": "a", "a": "s", "b": "t", "verdict_ab": 1}, "head-to-head row"),
        ({"id": "a", "reviews": ["x"], "summaries": ["y"]}, "holds no scores and no ratings"),
        ({"summaries": ["y"], "fl": [[1], [2]]}, "fl: rates 2 summaries where there are 1"),
        ("words", "give one JSON object per line"),
    ],
)
def test_bad_records_are_named_by_file_line_and_field(write, record, said):
    with pytest.raises(InputError, match=r"bad\.jsonl(:1|\[0\]).*" + said):
        read_table(write("bad.jsonl", record))


def test_records_of_a_document_are_read_like_lines_and_nan_is_missing(tmp_path):
    path = tmp_path / "all.json"
    path.write_text(
        '[{"id": "a", "system": "\\ud83d", "metrics": {"m": NaN, "n": 1, "o": Infinity}}]'
    )
    table = read_table(path)
    assert table.systems == ("\ufffd",)
    found = [float(table.metric(name)[0, 0]) for name in ("m", "n", "o")]
    assert found == pytest.approx([np.nan, 1.0, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("repeated", "where"),
    [
        ('"id": "a", "system": "s", "metrics": {"m": 1, "m": 2}', r"(metrics\.)?m"),
        ('"id": "a", "system": "s", "metrics": {"m": 1}, "system": "t"', "system"),
        ('"id": "a", "system": "s", "metrics": {"m": 1}, "note": 1, "note": 2', "note"),
    ],
)
@pytest.mark.parametrize(("name", "text"), [("x.jsonl", "{%s}"), ("x.json", "[{%s}]")])
def test_a_key_given_twice_is_said(tmp_path, repeated, where, name, text):
    path = tmp_path / name
    path.write_text(text % repeated)
    with pytest.raises(InputError, match=rf"{name}.*: {where}: appears twice in one object"):
        read_table(path)


def test_bad_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="holds no JSON files"):
        read_table(tmp_path)
    broken = tmp_path / "x" / "eval_A_generations" / "coh_rts.txt"
    broken.parent.mkdir(parents=True)
    broken.write_text('{"id": "d"}\n')
    with pytest.raises(InputError, match=r"coh_rts.txt:1: .*resp"):
        read_table(tmp_path)


def test_selection_names_what_there_is(write):
    table = read_table(
        write(
            "r.jsonl",
            row("a", "s", metrics={"m": 1, "n": 2}, human={"f": 1}),
            row("a", "t", metrics={"m": 3}),
        )
    )
    chosen = table.select(metrics=["n"], systems=["t", "s"])
    assert list(chosen.metrics) == ["n"]
    np.testing.assert_array_equal(chosen.metric("n"), [[np.nan, 2.0]])
    for wrong in ({"metrics": ["x"]}, {"dimensions": ["x"]}, {"systems": ["x"]}):
        with pytest.raises(InputError, match=r"no .* 'x'; there are: "):
            table.select(**wrong)


def test_metrics_of_one_dimension():
    dimensions = ["coverage", "aspect coverage"]
    assert own_dimension("J.aspect_coverage", dimensions) == ("J", "aspect coverage")
    assert own_dimension("J.coverage", dimensions) == ("J", "coverage")
    assert own_dimension("coverage", dimensions) == ("coverage", None)


def test_whatever_judges_here_are_asked_about_is_a_known_dimension():
    keys = {key for name in dimension_set_names() for key in load_dimensions(name).dimensions}
    assert {key for key in keys if unrated_dimension(f"m.{key}", ["humour"]) == key} == keys
    assert unrated_dimension("m.asp_rel", ["humour"]) == "asp_rel"


@pytest.mark.parametrize("name", ["rouge.1", "relevance", "m.fluency", "m.self_coh", "a.b.FLUENCY"])
def test_other_names_are_no_metrics_of_an_unrated_dimension(name):
    assert unrated_dimension(name, ["Fluency", "self-coherence"]) is None


def test_a_metric_of_a_dimension_that_nobody_rated_is_compared_with_none(write):
    metrics = {"rts.fluency": 1, "rts.relevance": 2, "rouge.1": 3}
    rows = write(
        "rows.jsonl",
        *(row("a", s, metrics=metrics, human={"Fluency": [n]}) for n, s in enumerate("xyz", 1)),
    )
    table = read_table(rows)
    assert unrated_metrics(table) == {"rts.relevance": "relevance"}
    assert [pair.metric for pair in pairings(table)] == ["rts.fluency", "rouge.1"]
    named = pairings(table, own={"rts.relevance": "Fluency"})
    every = pairings(table, all_pairs=True)
    assert [pair.metric for pair in named] == [pair.metric for pair in every] == list(metrics)
    only = table.select(metrics=["rts.relevance"])
    with pytest.raises(InputError, match=r"rated \(Fluency\): rts.relevance judges relevance"):
        correlate(only)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("asp_rel", "aspect_relevance"), ("self_coh", "self_coherence"),
        ("sent_con", "sentiment_consistency"), ("readblty", "readability"),
    ],
)  # fmt: skip
def test_what_opinsummeval_abbreviates_is_the_same_dimension(write, short, long):
    cases = write("cases.jsonl", {"case": 1, "tiny": {"annot1": [1, 2, 3, 4]}})
    judged = write("judged.jsonl", {"id": "1", "system": "tiny", "metrics": {f"judge.{long}": 4}})
    table = read_table([cases, judged])
    assert own_dimension(f"judge.{long}", table.dimensions) == ("judge", short)
    assert own_dimension(f"judge.{short}", [long]) == ("judge", long)
    assert own_dimension(f"judge.{short}", [long, short]) == ("judge", short)
    assert own_dimension(f"judge.{long}", [long, short]) == ("judge", long)


def test_shared_data_is_read_whole(shared_data):
    table = read_table(shared_data / "opinsummeval.jsonl")
    assert (len(table.items), len(table.systems), len(table.metrics)) == (100, 14, 39)
    assert table.mean_human("asp_rel")[:, table.systems.index("gpt3")].mean() == pytest.approx(
        3.945
    )
    table = read_table(shared_data / "llm_summeval")
    assert (len(table.items), len(table.systems), len(table.metrics)) == (100, 12, 8)
    assert table.systems[0] == "M8"


def test_the_released_replies_are_read_as_their_authors_did(shared_data):
    compared = 0
    for path in sorted((shared_data / "llm_summeval").glob("M*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            for methods in json.loads(line)["eval"].values():
                for method, dimensions in methods.items():
                    for answer in dimensions.values():
                        assert reply_reader(method)(answer["resp"]) == answer["score"]
                        compared += 1
    assert compared == 9600


@pytest.mark.parametrize("nothing", ["", "\n \n"])
def test_an_empty_released_file_is_a_named_gap(write, tmp_path, nothing):
    place = "judge/eval_{}_generations/coh_RTS.txt"
    write(place.format("A"), {"id": "d", "resp": "Score: 4"})
    empty = write(place.format("B"))
    empty.write_text(nothing)
    (tmp_path / "none.jsonl").write_text(nothing)
    reading = read_tables(tmp_path)
    assert reading.table.metric("judge.rts.coh").tolist() == [[4.0]]
    assert [said.rpartition("/")[2].partition(":")[0] for said in reading.skipped] == [
        "none.jsonl", "coh_RTS.txt",
    ]  # fmt: skip
    assert f"{empty}: holds no replies" in reading.skipped


def test_a_folder_of_empty_files_holds_nothing(write, tmp_path):
    write("judge/eval_A_generations/coh_RTS.txt")
    with pytest.raises(InputError, match="no scores and no ratings"):
        read_table(tmp_path)


def two_forms(tmp_path, *, names=None, second="Dim lamp.", rating=3, reviews=("Good.", "Dim.")):
    """SummEval-OP's two files of two products, in a folder of their own."""
    folder = tmp_path / "released"
    folder.mkdir()
    mean, detailed = [], []
    for number in range(2):
        told = [f"{text} {number}" for text in reviews]
        summaries = {"gpt": (f"A lamp. {number}", 4), "t5": (f"{second} {number}", 3)}
        mean.append({
            "reviews": {f"rev{place}": text for place, text in enumerate(told, start=1)},
            "summaries": {name: {"summary": text, "dimensions": {"Fluency": rated}}
                          for name, (text, rated) in summaries.items()},
        })  # fmt: skip
        texts = [f"A lamp. {number}", f"Dim lamp.  {number}"]
        one = {"reviews": told, "summaries": texts, "fl": [[4], [rating]]}
        detailed.append(one | ({"models": names} if names else {}))
    (folder / "mean.json").write_text(json.dumps(mean))
    (folder / "detailed.json").write_text(json.dumps(detailed))
    return folder


def test_two_forms_of_the_same_summaries_are_not_added_up(tmp_path):
    folder = two_forms(tmp_path)
    for chosen in ({}, {"by_position": True}):
        with pytest.raises(
            InputError, match=r"mean.json: holds the summaries of .*detailed.json under other "
            r"names \('gpt' is '1' there\); name one"
        ):  # fmt: skip
            read_table(folder, **chosen)
    assert read_table(folder / "mean.json").systems == ("gpt", "t5")


def test_two_forms_of_which_one_was_edited_are_not_added_up(tmp_path):
    with pytest.raises(InputError, match=r"under other names \('gpt' is '1' there\); name one"):
        read_table(two_forms(tmp_path, second="Dim lamp!"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"s": "A lamp.", "t": "Dim."}, {"u": "It is a lamp.", "v": "Dim lamp."}),
        ({"s": "A lamp."}, {"u": "A lamp."}),
        ({"s": "", "t": "Dim."}, {"u": "", "v": "Dim lamp."}),
    ],
)
def test_other_systems_of_the_same_reviews_are_added(write, first, second):
    files = [
        write(f"{number}.json", {
            "reviews": ["Good.", "Dim."],
            "summaries": {name: {"summary": text, "dimensions": {"Fluency": 4}}
                          for name, text in texts.items()},
        })
        for number, texts in enumerate((first, second))
    ]  # fmt: skip
    table = read_table(files)
    assert table.systems == (*first, *second)
    assert len(table.items) == 1


def test_two_forms_with_the_same_names_and_ratings_count_once(tmp_path):
    table = read_table(two_forms(tmp_path, names=["gpt", "t5"]))
    assert table.items == ("detailed.json[0]", "detailed.json[1]")
    assert (table.systems, table.raters) == (("gpt", "t5"), ("1",))
    assert table.mean_human("fluency").tolist() == [[4, 3], [4, 3]]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rating": 2}, r"human 'fluency' of 'detailed.json\[0\]' by 't5' is 3.0, but 2.0 was"),
        (
            {"second": "Another."},
            r"by 't5' differs from the one in .*detailed.json.*; give only the file",
        ),
    ],
)
def test_two_forms_that_differ_are_an_error(tmp_path, changed, said):
    with pytest.raises(InputError, match=said):
        read_table(two_forms(tmp_path, names=["gpt", "t5"], **changed))


def test_a_record_without_an_id_takes_that_of_the_same_reviews(write):
    reviews = ["Good lamp.", "Dim."]
    named = write(
        "a.jsonl", {"id": "L1", "reviews": reviews, "summaries": {"x": {"human": {"f": 2}}}}
    )
    unnamed = write("b.jsonl", {"reviews": reviews, "summaries": {"y": {"human": {"f": 3}}}})
    assert read_table([named, unnamed]).items == ("L1",)
    with pytest.raises(InputError, match=r"a.jsonl: 'L1' has no id in .*b.jsonl; name one"):
        read_table([unnamed, named])


def test_equal_records_of_one_file_stay_apart(write):
    record = {"reviews": ["Good lamp.", "Dim."], "summaries": {"x": {"human": {"f": 2}}}}
    first, second = write("a.jsonl", record, record), write("b.jsonl", record, record)
    assert read_table([first, second]).items == ("a.jsonl:1", "a.jsonl:2")


def test_scores_of_metrics_by_system_are_no_cases(write, tmp_path):
    write("scores.jsonl", {"tiny": {"R1": 0.5, "annot1": {"tone": 4}}})
    other = write("autometric_scores/rouge.jsonl", {"R1": {"tiny": 0.5}, "R2": {"tiny": 0.25}})
    reading = read_tables(tmp_path)
    assert (reading.table.systems, list(reading.table.metrics)) == (("tiny",), ["R1"])
    assert "rouge.jsonl:1: holds no scores and no ratings" in reading.skipped[0]
    with pytest.raises(InputError, match="holds no scores and no ratings"):
        read_table(other)


def test_the_first_or_the_last_answer_counts(write, tmp_path):
    write("gpt/eval_A_generations/coh_rts.txt", *replies("Score: 2", "Score: 3", "Score: 4"))
    answer = {"score": 4, "earlier": [{"score": 2}, {"score": 1}]}
    joined = row("doc-1", "B", eval={"gpt": {"mcq": {"coh": answer}}})
    write("joined.jsonl", joined)
    for repeated, expected in (("last", [4.0, 3.0]), ("first", [2.0, 3.0])):
        table = read_table(tmp_path, repeated=repeated)
        assert table.metric("gpt.rts.coh")[:, table.systems.index("A")].tolist() == expected
        assert table.metric("gpt.mcq.coh")[0, table.systems.index("B")] == expected[0]


def test_replaced_files_are_methods_of_their_own(write, tmp_path):
    for name, reply in (("coh_altMCQ", "B"), ("coh_altMCQ_old", "D"), ("coh_rts_old", "Score: 2")):
        write(f"gpt/eval_A_generations/{name}.txt", {"id": "d", "resp": reply})
    table = read_table(tmp_path)
    assert {name: grid[0, 0] for name, grid in table.metrics.items()} == {
        "gpt.mcq2.coh": 2.0, "gpt.mcq2-old.coh": 4.0, "gpt.rts-old.coh": 2.0,
    }  # fmt: skip


def test_unread_replies_in_rows_of_judges_count_as_the_convention_says(write):
    def judged(system, values, **counts):
        report = {"asked": len(values), "failed": 0} | counts
        return row("a", system, metrics={"rts.f": None}, samples={"rts.f": values},
                   judge={"rts.f": report}, error="no reply could be read")  # fmt: skip

    path = write(
        "rows.jsonl",
        judged("unread", [None], unparsable=1),
        judged("half", [4, None], unparsable=1),
        judged("failed", [None, None], unparsable=1, failed=1),
        row("a", "untold", metrics={"rts.f": None}, samples={"rts.f": [None]}),
        row("a", "unsaid", metrics={"rts.f": None}, samples={"rts.f": [None]}, judge={}),
        row("a", "other", metrics={"rts.f": None, "m": 1}),
    )
    table = read_table(path, keep_unread=True)
    scores = dict(zip(table.systems, table.metric("rts.f")[0].tolist(), strict=True))
    other = pytest.approx(np.nan, nan_ok=True)
    unread = dict.fromkeys(("unread", "untold", "unsaid"), -1.0)
    assert scores == {**unread, "half": 1.5, "other": other}
    assert read_tables(path).left_out == 3


def test_people_are_a_metric_of_their_own(write):
    table = read_table(
        write("r.jsonl", row("a", "s", human={"Tone": [1, 2]}), row("a", "t", human={"Tone": 4}))
    ).with_people()
    assert table.metric("people.tone").tolist() == [[1.5, 4.0]]


@pytest.mark.parametrize("number", ["1e300", "-2e15", 3 * 10**15])
def test_numbers_that_no_scale_has_are_one_line(write, number):
    path = write("r.jsonl", row("a", "s", metrics={"m": 1}, human={"d": [3, float(number)]}))
    with pytest.raises(InputError, match=r"r\.jsonl:1: human\.d\.2: is .*, too large for a score"):
        read_table(path)
    kept = write("k.jsonl", row("a", "s", metrics={"m": 1e15}, human={"d": [3]}))
    assert read_table(kept).metric("m")[0, 0] == 1e15


def test_results_of_head_to_head_runs_are_named_where_they_are_passed_over(write, tmp_path):
    write("data/rows.jsonl", row("a", "s", metrics={"m": 1}))
    folder = tmp_path / "data" / "judge"
    folder.mkdir()
    for name in ("M8_M9", "M1_M2"):
        (folder / f"{name}.result").write_text("1 2 0\n")
    [reason] = read_tables(tmp_path / "data").skipped
    named = "(judge/M1_M2.result, judge/M8_M9.result)"
    assert reason.startswith(f"{tmp_path / 'data'}: 2 *.result files are not read {named}: ")
    assert "--duels" in reason
    with pytest.raises(InputError, match=r"no judges' replies; 2 \*\.result files are not read"):
        read_table(folder)
    for number in range(4):
        (folder / f"M3_M{number}.result").touch()
    [reason] = read_tables(tmp_path / "data").skipped
    assert "6 *.result files" in reason
    assert "M3_M3.result, ...)" in reason
