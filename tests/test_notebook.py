"""What notebooks show of results."""

from __future__ import annotations

import builtins
import re
from dataclasses import replace

import pytest

from prevalence import OpinionPrevalence
from prevalence.errors import MissingDependencyError
from prevalence.notebook import Share, data_frame, html_table

REVIEWS = ["Warm <x>boots</x>.", "Cold boots."]
SUMMARY = "Warm <x>boots</x>. Warm <x>boots</x>! Blue."


@pytest.fixture
def metric(fake_scorer):
    answers = {
        (REVIEWS[0], "Warm <x>boots</x>."): (0.9, 0.0),
        (REVIEWS[1], "Warm <x>boots</x>."): (0.1, 0.8),
        ("Warm <x>boots</x>.", "Warm <x>boots</x>!"): (0.9, 0.0),
    }
    return OpinionPrevalence(scorer=fake_scorer(answers))


def cells(html):
    return [re.sub("<[^>]*>", "", cell).strip() for cell in re.findall("<td.*?</td>", html)]


def test_a_scored_summary_shows_its_sentences(metric):
    row = metric.score(REVIEWS, SUMMARY)
    shown = row._repr_html_()
    # One of three sentences counts with one of two reviews: 1 / (2 · 3).
    assert "prevalence 0.167" in shown
    assert "<x>boots" not in shown
    assert cells(shown) == [
        "Warm &lt;x&gt;boots&lt;/x&gt;.", "1/2", "1", "–",
        "Warm &lt;x&gt;boots&lt;/x&gt;!", "–", "–", "repeats 0",
        "Blue.", "0/2", "0", "–",
    ]  # fmt: skip
    assert row.signature in shown


def test_a_caption_says_what_is_known(metric):
    row = metric.score(REVIEWS, SUMMARY)
    named = replace(row, id="p", system="s", warning="cut")
    assert "<b>p · s · prevalence 0.167 · cut</b>" in named._repr_html_()
    failed = replace(row, id=None, system="s", prevalence=None, error="no reviews", sentences=())
    assert "<b>s · no reviews</b>" in failed._repr_html_()


def test_a_scored_summary_becomes_a_frame(metric):
    pytest.importorskip("pandas")
    frame = metric.score(REVIEWS, SUMMARY).to_frame()
    assert frame["support"].tolist()[::2] == [1, 0]
    assert frame["supporting_reviews"][0] == (0,)
    assert frame["redundant_with"][1] == 0
    assert frame["contradicted_by"][0] == 1


def test_quantities_are_shown_where_sentences_state_some(fake_scorer):
    said = "They are warm."
    scorer = fake_scorer({(review, said): (0.9, 0.0) for review in REVIEWS})
    metric = OpinionPrevalence(scorer=scorer, quantities=True)
    row = metric.score(REVIEWS, f"Most users say they are warm. {said} Nobody says they are blue.")
    assert cells(row._repr_html_())[4:6] == ["Most", "yes"]
    assert cells(row._repr_html_())[10:12] == ["–", "–"]
    pytest.importorskip("pandas")
    frame = row.to_frame()
    assert frame["quantity"][0] == "Most"
    assert frame["quantity_agrees"][0]
    assert frame["quantity"].isna()[1]


def test_support_of_a_statement(metric):
    answer = metric.support(REVIEWS, ["Warm <x>boots</x>."])[0]
    assert cells(answer._repr_html_()) == ["Warm &lt;x&gt;boots&lt;/x&gt;.", "1/2", "1"]
    pytest.importorskip("pandas")
    assert answer.to_frame()["supports"].tolist() == [True, False]
    assert answer.to_frame()["contradicts"].tolist() == [False, True]


def test_an_extract(metric):
    extract = metric.summarize(["Warm <x>boots</x>.", "Cold boots."])
    shown = cells(extract._repr_html_())
    assert shown[:3] == ["Warm &lt;x&gt;boots&lt;/x&gt;.", "0", "1/2"]
    pytest.importorskip("pandas")
    assert extract.to_frame()["review"].tolist() == [s.review for s in extract.sentences]


def test_a_summary_without_a_score_says_why(metric):
    rows = list(metric.score_many([{"id": "p", "reviews": [], "summary": "Blue."}]))
    assert rows[0].error in rows[0]._repr_html_().replace("&#x27;", "'").replace("&quot;", '"')


def test_tables_escape_every_part():
    bad = "<script>"
    row = [bad, None, Share(1, 2), Share(bad, bad)]
    assert bad not in html_table(bad, [bad], [row], foot=bad)


def test_frames_say_what_is_missing(monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *arguments, **options):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(MissingDependencyError, match="pandas: pip install"):
        data_frame([])
