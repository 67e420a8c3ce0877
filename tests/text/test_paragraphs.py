"""Paragraphs, items of lists, and labels that are none of either."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.text.paragraphs import paragraphs
from prevalence.text.sentences import get_splitter

PIECES = [
    "It fits.", "light", "Pros:", "**Cons**", "- ", "* ", "1. ", "2) ", "# ", "\n", "\n\n", "\r\n",
    "\u2022 ", " ", "\u2028", "\x0b", "A", "\u00e9", "---", "| a | b |", "Fit: small", "**Fit**",
    "\u2728 ",
]  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=24).map("".join))


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in paragraphs(text)]


@given(texts)
def test_paragraphs_are_in_order_and_begin_and_end_with_words(text):
    spans = list(paragraphs(text))
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(piece == piece.strip() for piece in pieces(text))


@given(st.lists(st.sampled_from(["it fits.", "it leaks", "on me.", "but I did not"]), min_size=1))
def test_a_text_without_marks_and_blank_lines_is_one_paragraph(lines):
    text = "\n".join(lines)
    assert pieces(text) == [text]


LONG = (
    "The soles of these boots grip on wet rock and the toes stay dry in the snow of a long winter"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fits\nIt lasts\nGood soles", ["It fits", "It lasts", "Good soles"]),
        ('"Great boots"\n"Love them"', ['"Great boots"', '"Love them"']),
        ("Es passt\nÄrmel zu lang", ["Es passt", "Ärmel zu lang"]),
        # Broken where a line was full: it may go on.
        (f"{LONG[:71]}\nRockies", [f"{LONG[:71]}\nRockies"]),
        ("We loved the Kindle\nPaperwhite more than\nthe Fire HD from\nAmazon.", None),
        (
            f"Maria\nGonzalez helped\nus with it\n\n{LONG}",
            ["Maria\nGonzalez helped\nus with it", LONG],
        ),
        (f"{LONG}\nIt fits", [f"{LONG}\nIt fits"]),
        (f"{LONG} or even more\nIt fits", [f"{LONG} or even more", "It fits"]),
        (f"It fits\n{LONG}", ["It fits", LONG]),
        ("Bought from\nAmazon", ["Bought from\nAmazon"]),
        ("Soft, warm,\nDry", ["Soft, warm,\nDry"]),
        ("It fits\nand lasts", ["It fits\nand lasts"]),
        ("It fits\n4 of 5", ["It fits\n4 of 5"]),
    ],
)
def test_lines_with_capitals_say_something_of_their_own(text, expected):
    assert pieces(text) == (expected or [text])
    assert len(list(paragraphs(text, capitals=False))) == len(text.split("\n\n"))


def test_labels_above_lines_with_capitals_are_left_out():
    assert pieces("Customers say\nIt fits\nIt lasts") == ["It fits", "It lasts"]
    assert pieces("Battery Life\nThe battery lasts two days.") == ["The battery lasts two days."]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("Common complaints include:", True),
        ("The reviews mention several things:", True),
        ("Features mentioned by most of the reviewers:", True),
        ("They come with:", True),
        ("You'll love:", True),
        ("They also like:", True),
        ("Buy it if:", True),
        ("Complaints include fire, burns and the loss of a tent:", False),
        ("They catch fire:", False),
        ("Do not buy:", False),
    ],
)
def test_lines_before_lists_that_state_something_are_kept(line, label):
    assert pieces(f"{line}\n- It hums.\n- It leaks.") == [line] * (not label) + [
        "It hums.",
        "It leaks.",
    ]


@given(st.lists(st.sampled_from(["light", "It fits.", "easy to clean"]), min_size=1, max_size=6),
       st.sampled_from(["- ", "* ", "\u2022 ", "  + "]))  # fmt: skip
def test_items_are_those_that_were_listed(items, mark):
    assert pieces("\n".join(mark + item for item in items)) == items
    assert pieces("\n\n".join(mark + item for item in items)) == items


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("Good.\r\n\r\nBad", ["Good.", "Bad"]),
        ("It is light and\neasy to clean.", ["It is light and\neasy to clean."]),
        ("Pros: light. Cons: loud.", ["Pros: light. Cons: loud."]),
        ("# The battery dies within a day\nA pity", ["The battery dies within a day", "A pity"]),
        ("It is my\n# 1 choice", ["It is my\n# 1 choice"]),
        ("It leaks\n---\nIt rusts", ["It leaks", "It rusts"]),
        ("Pros: light\nCons: loud\nand big", ["Pros: light", "Cons: loud\nand big"]),
        ("It has\nPros: light", ["It has\nPros: light"]),
        ("| A | B |\n|:--|---|\n| Fit | Small |\n| Sole | Soft |", ["Fit | Small", "Sole | Soft"]),
        ("a | b\nc | d", ["a | b\nc | d"]),
    ],
)
def test_paragraphs(text, expected):
    assert pieces(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- light", ["light"]),
        ("It is\n- light\n- cheap", ["It is", "light", "cheap"]),
        ("- easy to\n  clean\n- so I say\nto all", ["easy to\n  clean", "so I say\nto all"]),
        ("- light\n\nIn all a\nbargain", ["light", "In all a\nbargain"]),
        ("* Fit\n    * Runs small\n* Cheap", ["Fit", "Runs small", "Cheap"]),
        ("\u2022\u00a0light\n\u2022cheap", ["light", "cheap"]),
        ("light \u2022 cheap \u2022 red", ["light", "cheap", "red"]),
        ("1. It is light\n2. It leaks", ["It is light", "It leaks"]),
        ("### Pros\n1. light\n2. red\n\n### Cons\n\n1. loud", ["light", "red", "loud"]),
        ("One drawback:\n1. It leaks", ["It leaks"]),
        ("- \u2705 light\n- \u274c loud", ["light", "loud"]),
        ("\u2705 light \u2705 fits. \u274c loud", ["light", "fits.", "loud"]),
        ("Fit \u2705 is good, noise \u274c bad", ["Fit \u2705 is good, noise \u274c bad"]),
        ("| Fit | \u2705 | x |\n| Heat | \u274c | y |", ["Fit | \u2705 | x", "Heat | \u274c | y"]),
        ("**Cons**\n- loud", ["loud"]),
        ("## Cons \U0001f44e\n- loud", ["loud"]),
        ("(a) light\n(b) loud", ["light", "loud"]),
        ("1. It\nis\n2. Not\n\n1. Big\n2. Red", ["It\nis", "Not", "Big", "Red"]),
    ],
)  # fmt: skip
def test_items(text, expected):
    assert pieces(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I gave it\n5. It was fine.",
        "It lasts from 9 to\n12. Mine even to\n15. Good.",
        "It came on the\n1. of May",
        "I saw -\n- light",
        "The phone\n- which I bought in May -\nis good\n- really good.",
        "-5 degrees\n-7 degrees",
        "light \u2022 cheap",
        "I don't like\n- the sound",
    ],
)
def test_what_looks_like_marks_of_items_and_is_none(text):
    assert pieces(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Pros:**\n- light\n\n**Cons**:\n- loud", ["light", "loud"]),
        ("**Pros**\n\n- light\n\n**Overall**\n\nA bargain", ["light", "A bargain"]),
        ("* **Pros:**\n    * Light\n* **Cons:**\n    * Loud", ["Light", "Loud"]),
        ("What buyers didn't like:\n- loud\n- dear", ["loud", "dear"]),
        ("**Battery life:**\n- short", ["short"]),
        ("## Summary\nIt is light", ["It is light"]),
        ("### 1. **Fit**\n- small\n### 2. Sole\n- soft", ["small", "soft"]),
        ("1. **Sound quality**\n   - clear\n2. **Fit**\n   - small", ["clear", "small"]),
        ("Pros\n- light\n\nCons\n- loud", ["light", "loud"]),
        ("## Overview\nIt is light", ["It is light"]),
        ("**Customer Review Summary:**\nIt is light", ["It is light"]),
        ("**Summary of the User Reviews**\n\nIt is light", ["It is light"]),
        ("It is light\n\nProduct overview\n\nIt leaks", ["It is light", "It leaks"]),
        ("\u2728 Highlights\n- light\n- cheap", ["light", "cheap"]),
        ("Customers say\n\nIt is light", ["It is light"]),
        ("## Comfort\n\nThe shoes are comfortable.", ["The shoes are comfortable."]),
        ("**Quality**\nThe quality is poor.", ["The quality is poor."]),
        ("It is light. Complaints include:\n- loud", ["It is light.", "loud"]),
        ("Great fit! Two issues:\n- zip\n- sole", ["Great fit!", "zip", "sole"]),
        # They say something, or may.
        ("Pros:\nlight", ["Pros:\nlight"]),
        ("## Not recommended\nIt leaks", ["Not recommended", "It leaks"]),
        ("**Disappointing**\n\nIt leaks", ["**Disappointing**", "It leaks"]),
        ("**Size**\nSmaller than mine", ["**Size**\nSmaller than mine"]),
        ("## Not durable\nThe durable one is dear", ["Not durable", "The durable one is dear"]),
        ("- **Cheap**\n- **Light**\n- Red", ["**Cheap**", "**Light**", "Red"]),
        ("Good\n\nIt works", ["Good", "It works"]),
        ("It smells and they\nmention below:\n- a", ["It smells and they\nmention below:", "a"]),
        ("I bought\ntwo things:\n- a hat", ["I bought\ntwo things:", "a hat"]),
        ("Most like it, but mention:\n- noise", ["Most like it, but mention:", "noise"]),
        ("None mention the following:\n- leaks", ["None mention the following:", "leaks"]),
        ("- **Weight:** It is light\n- **Cheap**", ["**Weight:** It is light", "**Cheap**"]),
        ("**Vorteile**\n\nGut", ["**Vorteile**", "Gut"]),
    ],
)
def test_labels(text, expected):
    assert pieces(text) == expected


def test_sentences_of_a_list_as_language_models_write_it():
    text = "**Pros:**\n- Light to carry\n- Opens with one hand. Dries fast\n\n**Cons:**\n- It leaks"
    found = [sentence.text for sentence in get_splitter()(text)]
    assert found == ["Light to carry", "Opens with one hand.", "Dries fast", "It leaks"]
    assert len(get_splitter("nltk-punkt-en")(text)) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```markdown\n- light\n- cheap\n```", ["light", "cheap"]),
        ("~~~\nIt fits.\n~~~\nIt leaks.", ["It fits.", "It leaks."]),
        ("Here you are:\n\n````text\nIt fits.\n````", ["Here you are:", "It fits."]),
        # Not closed.
        ("```\nIt fits.\n\nIt leaks.", ["It fits.", "It leaks."]),
        ("| Fit | small |\n```", ["Fit | small"]),
        ("``` it fits ```", ["``` it fits ```"]),
    ],
)
def test_fences_are_left_out_and_what_stands_between_them_is_text(text, expected):
    assert pieces(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Part | View\n--- | ---\nFit | Small\nSole | Soft", ["Fit | Small", "Sole | Soft"]),
        ("Part | View\n:--|:-:\nFit | Small\n\nIt lasts", ["Fit | Small", "It lasts"]),
        ("| Part | View\n| --- | ---\n| Fit | Small", ["Fit | Small"]),
        ("It hums.\n\nPart | View\n-|-\n- Fit | Small\nIt lasts", None),
        ("It hums\n--- | ---\nFit | Small", ["It hums", "Fit | Small"]),
        # A line across the page, and bars that make no table.
        ("| Fit | Small |\n---\nIt lasts", ["Fit | Small", "It lasts"]),
        ("Fit | small\nsole | soft", ["Fit | small\nsole | soft"]),
    ],
)
def test_a_head_with_a_rule_makes_a_table(text, expected):
    assert pieces(text) == (expected or ["It hums.", "- Fit | Small", "It lasts"])


@pytest.mark.parametrize(
    "label",
    [
        "What could be better", "What can be improved", "Things to improve",
        "Areas for improvement", "Room for improvement", "What stood out", "What to know",
        "Key Themes", "Main findings",
        "Most common complaints", "Drawbacks", "Key insights",
    ],
)  # fmt: skip
def test_usual_labels(label):
    for text in (f"## {label}\n- light", f"{label}:\n- light", f"**{label}**\n\n- light"):
        assert pieces(text) == ["light"]
    assert pieces(f"It hums.\n\n{label}\n\nlight") == ["It hums.", "light"]
    # They say something in a sentence.
    for said in (f"{label} is the noise.", f"{label} and noise"):
        assert pieces(f"It hums.\n\n{said}\n\nlight") == ["It hums.", said, "light"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [x] light\n- [ ] cheap", ["light", "cheap"]),
        ("[x] light\n[ ] cheap", ["light", "cheap"]),
        ("1\ufe0f\u20e3 light\n2\ufe0f\u20e3 cheap", ["light", "cheap"]),
        ("## 1\ufe0f\u20e3 Pros\n- light", ["light"]),
        ("1\ufe0f\u20e3 **Pros**\n- light", ["light"]),
        ("It is a\n[x] mark", ["It is a\n[x] mark"]),
        ("I rate it\n1\ufe0f\u20e3 of 5", ["I rate it\n1\ufe0f\u20e3 of 5"]),
    ],
)
def test_boxes_and_keycaps_begin_items(text, expected):
    assert pieces(text) == expected


@pytest.mark.parametrize(
    "line",
    [
        "![A tent](a.png)", "[![A tent](a.png)](https://example.com)", "![](a.png) ![B](b.png 'B')",
        "Sources: Reviews 1, 2, 5", "**Source:** [3]", "References: R1, R4 and R7.",
        "[^1]: Review 3", "[2]: Reviews 3\u20135", "[tent]: https://example.com/tent",
        "> \u2014 Guest, May 2024", "\u2014 a verified reviewer", "> -- Ann B., 3 May 2024",
    ],
)  # fmt: skip
def test_pictures_and_references_alone_on_a_line_say_nothing(line):
    for gap in ("\n", "\n\n"):
        assert pieces(f"It fits.{gap}{line}{gap}It leaks.") == ["It fits.", "It leaks."]


@pytest.mark.parametrize(
    "line",
    [
        "![A tent](a.png) fits four.", "Sources: 3 reviews say it leaks.", "References: none",
        "[^1]: Review 3 says it leaks.", "[2]: It leaks.", "\u2014 Guest rooms leak",
        "\u2014 Breakfast, 2024", "> \u2014 The room 1204", "Sources of noise: 3",
    ],
)  # fmt: skip
def test_lines_with_a_reference_that_say_something_stay(line):
    found = " ".join(pieces(f"It fits.\n\n{line}\n\nIt leaks."))
    assert found.split()[2:-2] == line.split()[line.startswith("\u2014 ") :]
