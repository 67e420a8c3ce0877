"""The page without a browser: what is in it, and that nothing in it can run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from functools import partial
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from prevalence.errors import InputError
from prevalence.records import Product, Review, Summary, input_digest
from prevalence.report import contents as contents_module
from prevalence.report.console import system_table
from prevalence.report.contents import Contents
from prevalence.report.page import Page, Plot, render
from prevalence.report.pages import split_pages
from prevalence.scoring import systems


class Reader(HTMLParser):
    """Collects tags, their attributes, ids and the contents of scripts."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.raw, self.text, self._in = [], {}, [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._in.append(tag)

    def handle_endtag(self, tag):
        if self._in and self._in[-1] == tag:
            self._in.pop()

    def handle_data(self, data):
        if self._in:
            self.raw.setdefault(self._in[-1], []).append(data)
        else:
            self.text.append(data)

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]


def page_of(rows, records=(), **options):
    contents = Contents()
    for one in rows:
        contents.add(one)
    contents.attach(records)
    return render(contents, Page(**options) if options else None)


def test_figures_are_called_as_in_the_tables_of_score(row, sentence):
    names = {
        "coverage": "coverage", "soft_coverage": "soft coverage", "attested": "attested",
        "contested": "contested", "equal_coverage": "equal coverage", "genericness": "genericness",
        "polarity_distance": "polarity distance", "sap": "SAP",
        "review_genericness": "review genericness", "review_sap": "review SAP",
    }  # fmt: skip
    one = row("p", "s", [sentence("x", [0])], soft_prevalence=0.5, profile=dict.fromkeys(names, 1))
    other = {"id": "p", "system": "s", "metrics": {"my_metric": 2.0}}
    contents = Contents()
    for each in (one, other):
        contents.add(each)
    (line,) = contents.systems
    shown = [str(c.header) for c in system_table([line.statistics], width=300).columns]
    page = Reader(render(contents)).text
    for name in ("soft prevalence", *names.values()):
        assert name in shown
        # In the systems' tables, and beside the summary.
        assert page.count(name) == 1
        assert page.count(f"{name} ") == 1
    assert page.count("my_metric") == 1


def test_wrong_quantities_are_counted_and_found_where_they_were_asked_for(row, sentence):
    told = {"text": "Most", "low": 0.5, "high": 1.0}
    said = [
        sentence(f"It is {n}.", [0], quantity={**told, "agrees": agrees})
        for n, agrees in enumerate((True, False, None))
    ]
    html = page_of([row("p", "s", said), row("p", "t", [sentence("It is red.", [0])])])
    text = "".join(Reader(html).text)
    assert "wrong quantities" in text
    assert "1/2" in text
    assert "wrong quantity 1" in text
    kinds = [a["data-k"] for tag, a in Reader(html).tags if tag == "tr" and "data-k" in a]
    assert kinds == ["wrong-quantity"]
    without = "".join(Reader(page_of([row("p", "s", [sentence("It is red.", [0])])])).text)
    assert "wrong quantit" not in without


def data_of(html):
    return json.loads(Reader(html).raw["script"][0])


def test_it_holds_systems_sentences_and_counts_without_a_script(rows):
    text = " ".join("".join(Reader(page_of(rows)).text).split())
    assert "good" in text
    assert "0.833" in text
    # 5/6 − 5/24 on the mean; two products are too few for an interval.
    assert "0.625" in text
    assert "[" not in text
    assert "It is bright.1/3 1 against" in text
    assert "Very bright. repeats sentence 1–" in text


def test_every_sentence_has_an_address(rows):
    ids = Reader(page_of(rows)).ids
    assert {"p%2F1", "p%2F1/bad", "p%2F1/bad/3", "p2/good/0"} <= {*ids}
    assert len(ids) == len({*ids})


def test_scripts_and_styles_are_those_of_the_policy(rows):
    reader = Reader(page_of(rows))
    policy = next(a["content"] for t, a in reader.tags if a.get("http-equiv"))
    for tag, content in (("script", reader.raw["script"][1]), ("style", reader.raw["style"][0])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_nothing_is_requested_and_no_attribute_runs(rows):
    for tag, attributes in Reader(page_of(rows, plots=[Plot("a plot", b"<svg/>")])).tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert tag not in {"link", "iframe", "object", "embed", "base"}
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/"))


def left_out(text):
    place = {"review": 0, "start": 0, "end": len(text), "supporting_reviews": [0, 2]}
    return {"text": text, "support": 2, "asked": 3, **place}


def test_hostile_texts_stay_texts(hostile_text, row, sentence):
    text = hostile_text
    profile = {text: 0.5, "left_out": [left_out(text)]}
    hostile = row(text, text, [sentence(text, [0])], warning=text, signature=text, profile=profile)
    record = Product("p", (Review(text, text),) * 3, (Summary("s", "x"),), name=text)
    hostile["input_digest"] = input_digest(record, record.summaries[0])
    html = page_of([hostile], [record], title=text)
    html.encode()
    reader = Reader(html)
    plain = Reader(page_of([row("p", "s", [sentence("x", [0])])]))
    allowed = {tag for tag, _ in plain.tags} | {
        "small", "p", "details", "summary", "ul", "li", "wbr",
    }  # fmt: skip
    assert {tag for tag, _ in reader.tags} <= allowed
    assert not [a for _, attributes in reader.tags for a in attributes if a.startswith("on")]
    assert len(reader.raw["script"]) == 2
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\u2028]", html)
    assert data_of(html)["texts"][0][:20] == page_text(text)[:20]


def page_text(text):
    return re.sub("[\u202a-\u202e\u2066-\u2069\x1b\u2028\ud800-\udfff]", "␦", text)


def test_reviews_are_stored_once_and_decisions_packed(rows):
    record = Product("p/1", (Review("same"), Review("same"), Review("other")),
                     (Summary("good", "It is bright."),))  # fmt: skip
    digest = input_digest(record, record.summaries[0])
    data = data_of(page_of([{**rows[0], "input_digest": digest}, rows[1]], [record]))
    assert data["texts"] == ["same", "other"]
    product = data["products"][0]
    assert product["r"] == [[0, None, None], [0, None, None], [1, None, None]]
    assert product["s"][0]["d"] == ["ssn"]
    assert product["s"][1]["d"] == ["---", "scN", "---", "nnn"]
    # .9 · 4095 = 3685.5 → 3686 = 57 · 64 + 38: "5", "m"; .1 → 410 = 6 · 64 + 26: "G", "a".
    assert product["s"][0]["p"] == ["5m5mGa"]
    assert product["s"][0]["t"] == 0.5


def test_data_can_be_parsed_line_by_line(rows, row, sentence):
    reviews = (Review("a\nb", None, {"rating": 4.5}), Review("c", None, {"rating": 2}))
    record = Product("p/1", reviews, (Summary("good", "It is bright."),))
    digest = input_digest(record, record.summaries[0])
    html = page_of([{**rows[0], "input_digest": digest}, *rows[1:]], [record])
    lines = Reader(html).raw["script"][0].split("\n")
    assert json.loads(lines[1].removesuffix(",")) == ["a\nb", "c"]
    products = [json.loads(line.removesuffix(",")) for line in lines[3:5]]
    assert products == data_of(html)["products"]
    assert lines[5:] == ["]}"]
    assert "<option>2</option><option>4.5</option>" in html
    assert data_of(page_of([{"scorer": "x", "dev": {}}])) == {"texts": [], "products": []}


def test_offsets_of_passages_count_as_scripts_do(row, sentence):
    # The face takes two of the units that scripts count.
    text = "\N{GRINNING FACE} bright."
    record = Product("p", (Review(text),), (Summary("good", "x"),))
    passage = {"review": 0, "start": 2, "end": 9, "text": "bright.", "entailment": 0.987,
               "contradiction": None}  # fmt: skip
    one = row("p", "good", [sentence("Bright.", [0], m=1, evidence=[passage])])
    one["input_digest"] = input_digest(record, record.summaries[0])
    assert data_of(page_of([one], [record]))["products"][0]["s"][0]["e"] == [
        [0, 0, 3, 10, 0.99, None]
    ]
    assert data_of(page_of([one]))["products"][0]["s"][0]["e"] == [
        [0, 0, 2, 9, 0.99, None, "bright."]
    ]


def test_a_figure_has_the_same_decimals_wherever_it_stands():
    metrics = [
        {"rouge-1": 1.0, "words": 1200.0, "words a sentence": 12.0, "j.tone": 1.0, "j.style": 3.0},
        {"rouge-1": 0.5, "words": 900.0, "words a sentence": 13.5, "j.tone": 1.0, "j.style": 4.0},
    ]
    samples = {"j.tone": [1, 1], "j.style": [3, 3]}
    html = page_of(
        [{"id": f"p{n}", "system": "s", "metrics": one, "samples": samples}
         for n, one in enumerate(metrics)]
    )  # fmt: skip
    text = Reader(html).text
    for shown in ("1.000", "0.500", "0.750", "1,200", "900", "1,050", "12.0", "13.5", "12.8",
                  "1.00", "3.00", "4.00", "3.50"):  # fmt: skip
        assert shown in " ".join(text).split(), shown


def test_error_rates_of_a_calibration_are_shown():
    figures = {"n": 120, "specificity": 0.8, "recall": 0.9, "balanced_accuracy": 0.85, "auc": 0.9,
               "intervals": {"specificity": [0.7, 0.85]}}  # fmt: skip
    html = page_of([{"scorer": "rouge1-precision", "threshold": 0.375, "dev": figures}])
    text = " ".join(Reader(html).text)
    assert "20% [15%–30%]" in text
    assert "10%" in text


def calibration_of(threshold, **more):
    figures = {"n": 120, "specificity": 0.8, "recall": 0.9, "auc": 0.95,
               "intervals": {"specificity": [0.7, 0.85], "auc": [0.91, 0.98]}}  # fmt: skip
    present = {"threshold": 0.5, "specificity": 0.6, "recall": 0.3, "balanced_accuracy": 0.45}
    return {"scorer": "fake", "threshold": threshold, "dev": {**figures, "present": present}} | more


def calibration_row(html):
    start = html.index("<tbody>", html.index('aria-label="Calibration"'))
    return " ".join(Reader(html[start : html.index("</tbody>", start)]).text)


def test_error_rates_are_those_at_the_threshold_of_the_rows(row, sentence):
    one = row("p", "s", [sentence("x", [0])])  # its threshold is .5
    shown = calibration_row(page_of([one, calibration_of(0.25)]))
    assert shown.split() == ["fake", "0.5", "120", "40%", "70%", "45%", "95%", "[91%–98%]"]
    same = calibration_row(page_of([one, calibration_of(0.5)]))
    assert "20% [15%–30%]" in same
    assert "rates hold" not in same
    signed = {"scorer_signature": {"nli": "fake@1"}}
    assert "40%" in calibration_row(page_of([one, calibration_of(0.25, **signed)]))


def test_error_rates_at_another_threshold_than_that_of_the_rows_have_a_note(row, sentence):
    one = row("p", "s", [sentence("x", [0])], signature="prev|nli:fake@1|thr:0.125|v:0")
    note = "rates hold at threshold 0.25; the scores were made at 0.125"
    shown = calibration_row(page_of([one, calibration_of(0.25)]))
    assert note in shown
    assert "20% [15%–30%]" in shown
    for other in ({"scorer": "other"}, {"scorer_signature": {"nli": "other@1"}}):
        assert "rates hold" not in calibration_row(page_of([one, calibration_of(0.25, **other)]))


@pytest.mark.parametrize(
    "damage",
    [{"threshold": None}, {"dev": {"present": {"recall": "x"}}}, {"dev": {"n": "x"}},
     {"dev": {"recall": 10**400}}, {"dev": {"intervals": {"recall": [0.1]}}},
     {"dev": {"intervals": [0.1, 0.2]}}],
)  # fmt: skip
def test_a_damaged_calibration_is_refused(damage):
    with pytest.raises(InputError, match="not a result of calibrate"):
        page_of([{"scorer": "s", "threshold": 0.375, "dev": {"n": 120}} | damage])


@pytest.mark.parametrize("damage", [{"value": 10**400}, {"level": ["system"]}, {"value": "high"}])
def test_a_damaged_correlation_is_refused(damage):
    cell = {"row": "r", "dimension": "tone", "level": "system", "kind": "kendall", "value": 0.5}
    with pytest.raises(InputError, match="not a result of meta correlate"):
        page_of([{"analysis": "correlate", "rows": [cell | damage]}])


def test_correlations_without_a_value_are_left_out():
    named = {"dimension": "tone", "level": "system", "kind": "kendall"}
    cells = [{"row": "shown-one", "value": 0.25}, {"row": "hidden-one", "value": None}]
    html = page_of([
        {"analysis": "correlate", "rows": None},
        {"analysis": "correlate", "rows": [named | cell for cell in cells]},
    ])  # fmt: skip
    assert "shown-one" in html
    assert "hidden-one" not in html


def test_a_run_of_which_nothing_could_be_read_says_why(row):
    failed = row("p", None, [], prevalence=None, error="bad.jsonl:1: reviews: has no review")
    text = "".join(Reader(page_of([failed])).text)
    assert "p: bad.jsonl:1: reviews: has no review" in text


def test_a_corrected_score_stands_beside_its_summary_alone(rows):
    # The mean of corrected scores is not the corrected mean, which score prints.
    text = "".join(Reader(page_of([{**rows[0], "corrected": 0.321}, *rows[1:]])).text)
    assert "corrected 0.321" in text
    assert text.count("corrected") == 1


def test_duels_are_counted_in_both_orders():
    duel = {"schema": 1, "id": "p", "a": "x", "b": "y", "dimension": "d", "verdict_ab": 1}
    text = " ".join("".join(Reader(page_of([{**duel, "verdict_ba": 0}])).text).split())
    assert "dx110" in text.replace(" ", "")
    assert "dy011" in text.replace(" ", "")


def test_pages_hold_every_product_once_and_link_to_each_other(rows):
    contents = Contents()
    for one in rows:
        contents.add(one)
    pages = split_pages(contents, 1, "Report")
    assert [name for name, _ in pages] == ["index.html", "page-1.html", "page-2.html"]
    html = {name: render(contents, page) for name, page in pages}
    assert [len(data_of(text)["products"]) for text in html.values()] == [0, 1, 1]
    assert "p%2F1/bad/0" in Reader(html["page-1.html"]).ids
    assert 'href="page-2.html"' in html["page-1.html"]
    # Of the sentences about p/1 one is contradicted and one has no support.
    links = [(one.name, one.address, one.faults) for one in pages[0][1].directory]
    assert links == [("p/1", "page-1.html#p%2F1", 2), ("p2", "page-2.html#p2", 0)]
    assert 'href="page-1.html#p%2F1"' in html["index.html"]
    assert "0.833" in html["index.html"]


def count_call(calls, name, function, /, *arguments, **options):
    calls[name] += 1
    return function(*arguments, **options)


def test_all_pages_share_one_computation_of_the_systems(rows, monkeypatch):
    calls = Counter()
    for module, name in (
        (systems, "bootstrap_interval"),
        (systems, "PairedDifferences"),
        (contents_module, "paired_randomization"),
    ):
        counted = partial(count_call, calls, name, getattr(module, name))
        monkeypatch.setattr(module, name, counted)
    contents = Contents()
    for one in rows:
        contents.add(one)
    pages = split_pages(contents, 1, "Report")
    assert len([render(contents, page) for _, page in pages]) == 3
    # An interval of each of two systems, one table of differences, one p of the second system.
    assert calls == {"bootstrap_interval": 2, "PairedDifferences": 1, "paired_randomization": 1}
    before = contents.systems
    contents.add({**rows[0], "id": "p3"})
    assert contents.systems[0].statistics.summaries == before[0].statistics.summaries + 1


def test_very_long_names_get_short_addresses_of_their_own(row, sentence):
    rows = [row("é" * 9_000 + end, "s", [sentence("x", [0])]) for end in "ab"]
    anchors = [one for one in Reader(page_of(rows)).ids if one.startswith("%C3")]
    assert len({*anchors}) == len(anchors)
    assert max(map(len, anchors)) < 100


def test_no_product_takes_an_id_of_the_page(row, sentence):
    ids = Reader(page_of([row("é", "s", [sentence("x", [0])])])).ids
    own = [one for one in ids if not one.startswith("%C3%A9")]
    assert {"data", "panel"} <= {*own}
    # The script gives the panel a title.
    names = [*own, "panel-title"]
    found = Reader(page_of([row(name, "data", [sentence("x", [0])]) for name in names])).ids
    assert len(found) == len({*found})
    assert {"%70anel-title", "%64ata/data/0"} <= {*found}


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0002, "&lt; .001"), (0.032, ".032"), (0.9996, "1.000"), (1.0, "1.000")]
)
def test_a_p_value_near_one_is_not_shown_as_none(rows, monkeypatch, p, shown):
    found = SimpleNamespace(p_value=p)
    monkeypatch.setattr(contents_module, "paired_randomization", lambda *_, **__: found)
    assert f"<td>{shown}</td>" in page_of(rows)


def test_whiskers_are_explained_where_there_are_any(row, sentence):
    few = [row(f"p{n}", "s", [sentence("It is bright.", [0])]) for n in range(2)]
    assert "whiskers" not in "".join(Reader(page_of(few)).text)
    many = [row(f"p{n}", "s", [sentence("It is bright.", [n % 3])]) for n in range(6)]
    assert "whiskers" in "".join(Reader(page_of(many)).text)


def test_a_statement_left_out_says_of_how_many_reviews(row, sentence):
    profile = {"left_out": [left_out("It hums.")]}
    html = page_of([row("p", "s", [sentence("x", [0])], profile=profile)])
    assert "2/3 It hums. reviews 0, 2" in "".join(Reader(html).text)


@pytest.mark.parametrize("damage", [{"support": "2"}, {"asked": None}, {"supporting_reviews": 1}])
def test_a_damaged_statement_is_refused(row, sentence, damage):
    profile = {"left_out": [left_out("It hums.") | damage]}
    with pytest.raises(InputError, match=f"{next(iter(damage))} cannot be"):
        page_of([row("p", "s", [sentence("x", [0])], profile=profile)])


def test_pages_of_a_folder_have_titles_of_their_own(rows):
    contents = Contents()
    for one in rows:
        contents.add(one)
    titles = [page.title for _, page in split_pages(contents, 1, "Boots")]
    assert titles == ["Boots", "Boots: page 1 of 2", "Boots: page 2 of 2"]


def test_a_page_of_corrected_scores_says_for_which_rates(rows):
    plain = page_of(rows)
    assert "These rows do not hold the scorer's error rates." in plain
    corrected = [one | {"signature": "prev|thr:0.5|corr:0.7962/0.7704|v:1"} for one in rows]
    page = page_of(corrected)
    assert "take the scorer to find 0.7962 of what reviews support, and to turn down 0.7704" in page
    assert "do not hold" not in page
