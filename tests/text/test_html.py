"""HTML in summaries: cut like Markdown, and left out of what models are asked."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.claims import cut
from prevalence.text.html import FILLER, as_markdown, unwrapped, without_tags
from prevalence.text.sentences import get_splitter

PIECES = [
    "It lasts", "<b>", "</b>", "<li>", "</li>", "<ul>", "<br>", "<br />", "<p class='x'>", "</p>",
    "&amp;", "&#39;", "&nbsp;", "&lt;", "<3", "<h2>", "</h2>", " ", ". ", "Fit:", "<script>",
    "<think>", "</think>", "<answer>", "</answer>", "[THINK]", "[/THINK]", "<|end|>", "</analysis>",
]  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=14).map("".join))


def said(text: str) -> list[str]:
    return [sentence.text for sentence in get_splitter()(text)]


@given(texts)
def test_the_length_stays(text):
    assert len(as_markdown(text)) == len(text)


@given(texts)
def test_sentences_are_found_where_they_stand(text):
    found = get_splitter()(text)
    assert all(0 <= s.start < s.end <= len(text) for s in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    if not {"<", "&", "["} & {*text}:
        assert as_markdown(text) is text
    elif FILLER not in text:
        assert all(FILLER not in sentence.text for sentence in found)


@pytest.mark.parametrize(("text", "expected"), [
    ("The <b>screen</b> is bright.<br>It <i>hums</i>.", ["The screen is bright.", "It hums."]),
    ("<ul><li>light</li><li>cheap</li></ul>", ["light", "cheap"]),
    ("<p>Light and cheap</p><p>Loud</p>", ["Light and cheap", "Loud"]),
    ("<h3>Pros</h3><ul><li>light</li><li>cheap</li></ul>", ["light", "cheap"]),
    ("<li><strong>Battery:</strong> The battery lasts.</li>", ["The battery lasts."]),
    ("<li><strong>Battery:</strong> It lasts.</li>", ["Battery: It lasts."]),
    ("It&#39;s light &amp; &quot;cheap&quot;.", ['It\'s light & "cheap".']),
    ("<P CLASS='x'>It leaks.</P><SPAN>It hums.</SPAN>", ["It leaks.", "It hums."]),
    # No tags and entities of pages.
    ("It is 3 < 4 and 5 > 2.", ["It is 3 < 4 and 5 > 2."]),
    ("I <3 it & so on.", ["I <3 it & so on."]),
    ("if x<s and y>t it works", ["if x<s and y>t it works"]),
    ('<section class="x>y">It leaks.', ['<section class="x>y">It leaks.']),
    # Entities, and what nobody sees.
    ("It leaks.&nbsp;", ["It leaks."]),
    ("<p>&nbsp;</p>", []),
    ("It&#8217;s good, caf&eacute; &lt; bar.", ["It\u2019s good, caf\u00e9 < bar."]),
    ("<!-- note -->It leaks.<script>run()</script>", ["It leaks."]),
    ("<img src='a.png'>It leaks.<sup><a href='#1'>[1]</a></sup> It hums.<sup>[2]</sup>",
     ["It leaks.", "It hums."]),
    # Items and rows, whatever stands in them.
    ("<li><p>It leaks</p></li><li></li><li>\n  light\n</li>", ["It leaks", "light"]),
    ("<table><thead><tr><th>Part</th><th>View</th></tr></thead>"
     "<tr><td>Food</td><td>great</td></tr></table>", ["Food | great"]),
    ('<a href="https://example.com">The lid</a> leaks.', ["The lid leaks."]),
    ("<b><i>The lid</i></b> <strong> leaks </strong>.", ["The lid leaks."]),
    ("The <model> tag stays.", ["The <model> tag stays."]),
    ("<table><tr><th>Part</th><th>View</th></tr><tr><td>Food</td><td>great</td></tr></table>",
     ["Food | great"]),
    ("<tr><th>Food</th><td>great</td></tr><tr><th>Pool</th><td>cold</td></tr>",
     ["Food | great", "Pool | cold"]),
    ("<tr><th>The pool</th><th>is cold</th></tr>", ["The pool | is cold"]),
    ("<table><caption>Food</caption><colgroup><col></colgroup><tfoot><tr><td>great</td></tr>"
     "</tfoot></table>", ["Food", "great"]),
    # Other usual tags.
    ("<details open><summary>Food</summary>The food is great.</details>It hums.",
     ["The food is great.", "It hums."]),
    ("<details>\n<summary>It leaks.</summary>\nIt hums.</details>", ["It leaks.", "It hums."]),
    ("<!DOCTYPE html><html><body><main><small>It</small> <mark>leaks</mark>.</main>"
     "<pre>It hums.</pre></body></html>", ["It leaks.", "It hums."]),
    ("<center><del>It</del> <ins>leaks</ins>.</center><figure><img src='a.png'></figure>",
     ["It leaks."]),
    # An entity is cut as its character is.
    ("Here&#39;s what customers say:\n- It leaks.\n- It hums.", ["It leaks.", "It hums."]),
    ("She said &quot;It leaks.&quot; The lid is loose.",
     ['She said "It leaks."', "The lid is loose."]),
    ("It is bold&period; It hums.", ["It is bold.", "It hums."]),
])  # fmt: skip
def test_pages_are_cut_as_markdown_is(text, expected):
    assert said(text) == expected


def test_offsets_are_those_of_the_page():
    text = "<p>It&#39;s <b>light</b>.</p><p>It leaks.</p>"
    first, second = get_splitter()(text)
    assert text[first.start : first.end] == "It&#39;s <b>light</b>."
    assert text[second.start : second.end] == "It leaks."
    text = "&quot;It leaks.&quot; It&#39;s loud&period; So."
    assert [text[one.start : one.end] for one in get_splitter()(text)] == [
        "&quot;It leaks.&quot;", "It&#39;s loud&period;", "So.",
    ]  # fmt: skip


def test_claims_stand_where_their_words_do():
    text = "<li><b>Sound</b>: warm &amp; clear.</li><li>It is light and <i>cheap</i>.</li>"
    places = [(claim.text, text[claim.start : claim.end]) for claim in cut(text)]
    assert ("It is light.", "It is light") in places
    assert ("It is cheap.", "cheap") in places


def test_other_splitters_leave_pages_as_they_stand():
    assert [s.text for s in get_splitter("lines")("<b>It</b> leaks")] == ["<b>It</b> leaks"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<think>They say dry.\nAll of them.</think>It is dry. It leaks.",
            ["It is dry.", "It leaks."],
        ),
        ("<THINKING>\n- Dry?\n</thinking>\n\n- Dry\n- Light", ["Dry", "Light"]),
        # The chat template may have begun the thought, and the reply may be cut off.
        ("They say dry.</think>\nIt is dry.", ["It is dry."]),
        ("A. <reflection>B.</reflection> C.</think>\nIt is dry.", ["It is dry."]),
        ("First, the [THINK] part.\n</think>It is dry.", ["It is dry."]),
        ("<think>No </analysis> yet.</think>It is dry.", ["It is dry."]),
        ("<reasons>It is dry.</reasons>", ["<reasons>It is dry.</reasons>"]),
        ("<think>They say", []),
        ("It leaks. <think>Do I say so?</think> It hums.", ["It leaks.", "It hums."]),
        ("I use <think> tags. It leaks.", ["I use <think> tags.", "It leaks."]),
        ("I think it leaks.", ["I think it leaks."]),
        ("<reasoning>Dry?</reasoning>\n<answer>\nIt is dry.\n</answer>", ["It is dry."]),
        ("<Thoughts>Dry?</Thoughts><ANALYSIS>Dry.</ANALYSIS> It is dry.", ["It is dry."]),
        ("<scratchpad>Dry?</scratchpad><reflection>No.</reflection>It is dry.", ["It is dry."]),
        ("[THINK]They say dry.[/THINK]It is dry.", ["It is dry."]),
        ("They say dry.[/THINK]It is dry.", ["It is dry."]),
        # A thought ends with the tag of its own name.
        ("<think>So <analysis>dry</analysis> it is.</think>It is dry.", ["It is dry."]),
        ("[Think] It is dry.", ["[Think] It is dry."]),
        (
            "<|channel|>analysis<|message|>They say dry.<|end|>"
            "<|start|>assistant<|channel|>final<|message|>It is dry.<|return|>",
            ["It is dry."],
        ),
        ("<|channel|>analysis<|message|>They say", []),
    ],
)
def test_thoughts_are_left_out(text, expected):
    assert said(text) == expected
    assert said(text + " " * 9) == expected


@pytest.mark.parametrize("name", ["answer", "summary", "output", "response", "FinalAnswer"])
def test_tags_around_a_summary_say_nothing(name):
    expected = ["It is dry.", "It leaks."]
    for line in ("\n", ""):
        text = f"<think>\nHm.\n</think>{line}<{name}>{line}It is dry. It leaks.{line}</{name}>"
        assert said(text) == expected
    assert without_tags(text) == "It is dry. It leaks."
    # Around what follows an answer, too.
    assert said(f"<{name}>It is dry.</{name}> It leaks.") == expected


@pytest.mark.parametrize(
    "text",
    [
        "<s>It is dry.</s>",
        "It is dry.<|eot_id|>",
        "It is dry.<|im_end|>\n<|endoftext|>",
        "<|im_start|>assistant\nIt is dry.<|im_end|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\nIt is dry.",
        "<start_of_turn>model\nIt is dry.<end_of_turn>",
        "It is dry.<\uff5cend\u2581of\u2581sentence\uff5c>",
    ],
)
def test_tokens_of_chat_templates_say_nothing(text):
    assert said(text) == ["It is dry."]


def test_nothing_else_hides_in_a_token():
    assert said("<|It leaks.|>") == ["<|It leaks.|>"]
    assert said("<|channel|>It leaks.") == ["It leaks."]


@given(texts)
def test_texts_without_html_stay_as_they_are(text):
    assert FILLER not in without_tags(text) or FILLER in text
    if not {"<", "&", "["} & {*text}:
        assert without_tags(text) is text


@pytest.mark.parametrize(("text", "expected"), [
    ("<ul><li>light</li><li>in<b>credibly</b> cheap</li></ul>", "light\nincredibly cheap"),
    ("It leaks.<br>It hums.", "It leaks.\nIt hums."),
    ("<table><tr><td>Fit</td><td>small</td></tr></table>", "Fit  small"),
    ("<think>Hm.</think>It leaks.", "It leaks."),
    ("<p>&nbsp;</p>", " "),
    ("  3 < 4 and **5** > 2 & I <3 it\n\n ", "  3 < 4 and **5** > 2 & I <3 it\n\n "),
])  # fmt: skip
def test_tags_are_left_out(text, expected):
    assert without_tags(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ('{"summary": "It is dry. It leaks."}', ["It is dry.", "It leaks."]),
    ('["It is dry", "", "It leaks"]', ["It is dry", "It leaks"]),
    ('```json\n{"points": ["It is dry",\n "It leaks"]}\n```\n', ["It is dry", "It leaks"]),
    (r'{"summary": "- It \"hums\"\n- caf\u00e9 \ud83d\ude00"}',
     ['It "hums"', "caf\u00e9 \U0001f600"]),
    (r'{"s": "<b>Dry</b> &amp; \u006cight. It leaks\u0021"}', ["Dry & light.", "It leaks!"]),
])  # fmt: skip
def test_texts_in_json_are_cut(text, expected):
    found = get_splitter()(text)
    assert [one.text for one in found] == expected
    assert len(unwrapped(text)) == len(text)
    for one, said in zip(found, expected, strict=True):
        source = text[one.start : one.end]
        assert said[-1] in source if said[-1].isascii() and "\\" not in source else source


def test_texts_in_json_stand_where_they_are_written():
    text = r'{"summary": "It \"hums\". It leaks\u0021 So."}'
    assert [text[one.start : one.end] for one in get_splitter()(text)] == [
        r"It \"hums\".", r"It leaks\u0021", "So.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "It leaks.", "b": "It hums."}', '{"a": 1}', "[]", "{}", '["It leaks.", 2]',
        "[1] It leaks. [2]", r'{"a": "\ud83d It leaks."}', '{"a": {"b": "It leaks."}}',
        "[" * 20_000,
        '{"a": "It leaks."', "  It leaks.",
    ],
)  # fmt: skip
def test_any_other_json_stays_as_it_is(text):
    assert unwrapped(text) is text
