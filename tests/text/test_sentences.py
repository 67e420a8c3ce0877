"""Sentence spans: those of Punkt, exact offsets, and the counts of released data."""

from __future__ import annotations

import json
import re
import time
import unicodedata

import punkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.errors import ConfigurationError
from prevalence.text.languages import LANGUAGES
from prevalence.text.sentences import SPLITTERS, Sentence, get_splitter

PIECES = [
    "Dr. Lee", "It fits", ".", "!", "?", " ", "\n", "\r\n", "...", '"', ")", "U.S.", "3.5", "é",
    "\u2028", "\u00a0", "\0", "😀",
]  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=20).map("".join))


@pytest.mark.parametrize("name", SPLITTERS)
@given(text=texts)
def test_offsets_cut_the_sentence_out_of_its_text(name, text):
    found = get_splitter(name)(text)
    pieces = [text[s.start : s.end] for s in found]
    assert all(piece == piece.strip() != "" for piece in pieces)
    assert name == "punkt-en" or pieces == [s.text for s in found]
    ends = [0, *(s.end for s in found)]
    assert all(before <= s.start for before, s in zip(ends, found, strict=False))
    outside = "".join(
        text[before:after]
        for before, after in zip(ends, [*(s.start for s in found), len(text)], strict=True)
    )
    # Nothing but white space is left out, but for list marks and labels.
    assert outside.strip() == "" or name == "punkt-en"


@given(texts)
def test_sentences_of_a_paragraph_are_those_of_punkt(text):
    visible = "".join(sign for sign in text if unicodedata.category(sign) not in {"Cc", "Cf"})
    text = " ".join(("I " + re.sub("[*_`>:[\ufe00-\ufe0f]", "", visible)).split())
    tokenizer = punkt.PunktSentenceTokenizer(punkt.load_model("english"))
    expected = [piece.strip() for piece in tokenizer.tokenize(text)]
    assert [s.text for s in get_splitter()(text)] == [piece for piece in expected if piece]


@pytest.mark.parametrize("sign", ["\u200b", "\u2060", "\xad", "\0"])
def test_invisible_characters_hide_no_end_and_no_word(sign):
    text = f"It fi{sign}ts.{sign} It leaks.{sign}"
    found = get_splitter()(text)
    assert [s.text for s in found] == ["It fits.", "It leaks."]
    assert text[found[1].start :].startswith("It leaks.")


def test_joiners_stay_but_at_the_end_of_a_sentence():
    family = "\U0001f468\u200d\U0001f469"
    found = get_splitter()(f"A {family} tent.\u200d It leaks\ufe0f!\ufe0f Yes.")
    assert [s.text for s in found] == [f"A {family} tent.", "It leaks\ufe0f!", "Yes."]


def test_none_may_be_an_answer():
    assert [s.text for s in get_splitter()("Who said so? None. It fits. None.")] == [
        "Who said so?", "None.", "It fits.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["None mentioned.", "None", "N/A", "- None were reported by reviewers", "Nothing significant",
     "Drawbacks: none noted", "*None*", "Cons: N/A"],
)  # fmt: skip
def test_a_list_without_a_point_says_nothing(line):
    assert [s.text for s in get_splitter()(f"It fits.\n\n{line}")] == ["It fits."]


@pytest.mark.parametrize("line", ["None complained.", "Nothing broke.", "Cons: nothing lasts."])
def test_what_denies_is_a_sentence(line):
    assert [s.text for s in get_splitter()(f"It fits.\n\n{line}")] == ["It fits.", line]


def test_nothing_is_left_out_of_a_text_that_is_nothing_else():
    assert [s.text for s in get_splitter()("None.")] == ["None."]


def test_abbreviations_do_not_end_a_sentence():
    assert get_splitter()(" Dr. Lee loves it. So do I!\n") == (
        Sentence("Dr. Lee loves it.", 1, 18),
        Sentence("So do I!", 19, 27),
    )


def test_lines_are_sentences():
    assert get_splitter("lines")("one. two\r\n\n  three \n") == (
        Sentence("one. two", 0, 8),
        Sentence("three", 13, 18),
    )


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n"])
def test_blank_texts_have_no_sentence(name, text):
    assert get_splitter(name)(text) == ()


def test_an_unknown_splitter_is_refused_with_the_choices():
    with pytest.raises(ConfigurationError, match=f"choose from {', '.join(SPLITTERS)}"):
        get_splitter("punkt")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It makes great chicken!!", ["It makes great chicken!", "!"]),
        ("Never again. What?!", ["Never again.", "What?", "!"]),
        ("So good !! ", ["So good !", "!"]),
        ("So good!!! Buy it...", ["So good!!!", "Buy it..."]),
        ("Dr. Lee loves it. So do I.", ["Dr. Lee loves it.", "So do I."]),
        ('He said "Go!" I went.', ['He said "Go!"', "I went."]),
    ],
)
def test_nltk_cuts_the_last_of_several_marks_off(text, expected):
    # As nltk.sent_tokenize of NLTK 3.9 and 3.10 with punkt_tab cuts them.
    assert [s.text for s in get_splitter("nltk-punkt-en")(text)] == expected


def test_both_punkts_have_one_model():
    # They differ where several marks end a text, and after the abbreviations below.
    texts = ["At 3.5 mg. it works, U.S. made. No. 5 is fine (ask Mr. Jones). This one, vs. that."]
    for text in texts:
        assert get_splitter("nltk-punkt-en")(text) == get_splitter()(text)


def test_the_model_is_loaded_once(monkeypatch):
    first = get_splitter()("It fits. It leaks.")
    monkeypatch.setattr(punkt, "load_model", None)
    assert get_splitter()("It fits. It leaks.") == first


def test_reviewnli_has_as_many_sentences_as_labels(shared_data):
    lines = (shared_data / "reviewnli_dev.jsonl").read_text(encoding="utf-8").splitlines()
    split, pairs = get_splitter(), 0
    for line in map(json.loads, lines):
        text = " ".join(line["sentences"])
        joined = split(text)
        assert [text[s.start : s.end] for s in joined] == line["sentences"]
        pairs += len(line["labels"])
    assert (len(lines), pairs) == (224, 848)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_model(language):
    assert [s.text for s in get_splitter(f"punkt-{language}")("Aha. Oho!")] == ["Aha.", "Oho!"]


def test_a_language_has_abbreviations_of_its_own():
    text = "Das ist z.B. ein Satz. Und noch einer."
    assert [s.text for s in get_splitter("punkt-de")(text)] == [
        "Das ist z.B. ein Satz.", "Und noch einer.",
    ]  # fmt: skip
    with pytest.raises(ConfigurationError, match="unknown sentence splitter 'punkt-xx'"):
        get_splitter("punkt-xx")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It holds approx. five cups.", 1),
        ("It costs approx. $5.", 1),
        ("It is big, e.g. five feet.", 1),
        ("It weighs 3 kg. 2 of them broke.", 2),
        ("Ten months incl. being thrown.", 1),
        ("The shoe dept. was closed, avg. 3 visits.", 1),
        ("It is 12 in. wide and weighs 5lbs. empty.", 1),
        ("It holds approx. Five cups fit.", 2),
        ("It came in. five stars.", 2),
        ("It took 5 min. it works.", 2),
        ("It takes two at max. five stars.", 2),
        ("Small groups (max. 8) and min. 2 nights.", 1),
        ("It weighs 5 lbs. The lid is heavy.", 2),
        ("It weighs approx.\n5 stars.", 2),
        ("I saw the temp. it was hot. nobody cared.", 3),
    ],
)
def test_sentences_go_on_after_abbreviations_of_reviews(text, count):
    found = get_splitter()(text)
    assert len(found) == count
    assert all(text[s.start : s.end] == s.text for s in found)
    assert len(get_splitter("nltk-punkt-en")(text)) >= count


@pytest.mark.parametrize(
    "closing",
    [
        "Let me know if you'd like more details!",
        "I hope this helps! Feel free to ask.",
        "Hope that helps! \N{SMILING FACE WITH OPEN MOUTH}",
        "Would you like me to compare it with others?",
        "AI-generated from the text of customer reviews",
        "Note: This summary is based on 38 reviews.",
        "*Summary based on 12 reviews*",
        "Based on 1,200 customer reviews.",
        "Select to learn more",
        "Would you like a shorter version?",
        "Disclaimer: this summary is AI-generated and may contain errors.",
        "Generated by AI from 10 reviews.",
        "AI can make mistakes.",
        "(Word count: 4)",
        "[45 words]",
        "Best regards,",
        "Kind regards,\nYour travel assistant",
        "Your AI assistant",
        "Thanks!\n\n[Your Name]",
    ],
)
def test_what_stands_below_a_summary_is_left_out(closing):
    split = get_splitter()
    assert [s.text for s in split(f"It fits. It leaks.\n\n{closing}")] == ["It fits.", "It leaks."]
    # Nothing else is known of a text that is no more than that, or of what stands in the middle.
    assert split(closing)
    assert len(split(f"{closing}\n\nIt fits.")) > 1
    assert len(get_splitter("punkt-de")(f"It fits.\n\n{closing}")) > 1


@pytest.mark.parametrize(
    "said",
    [
        "I hope it helps my pain because nothing else has.",
        "Feel free to contact customer service, they refunded me at once.",
        "Let me know when they fix the tank.",
        "Would you like to pay $40 for a cold burger?",
        "Would you like a room without a window?",
        "Best regards to the cook.",
        "Your dog is welcome.",
        "The text is AI-generated and wrong about the pool.",
        "Happy guests.",
        "It hums.\n\n!!!",
    ],
)
def test_opinions_at_the_end_stay(said):
    assert len(get_splitter()(f"It fits. {said}")) == 2 + said.count("!!!")


def test_capitals_begin_no_lines_where_nouns_have_them():
    wrapped = "Wir kommen wieder, wenn die\nZimmer renoviert sind"
    assert len(get_splitter("punkt-de")(wrapped)) == 1


@pytest.mark.parametrize(
    "opening",
    [
        "Certainly.",
        "Sure! Here is a short summary of the reviews.",
        "Below is a concise summary based on the 10 reviews provided.",
        "Below is a summary of the customer reviews:",
        "The following is an overview of all 12 guest reviews of Kiruna Lodge.",
        "I have analyzed the 10 reviews.",
    ],
)
def test_what_assistants_say_before_a_summary_is_left_out(opening):
    split = get_splitter()
    for gap in ("\n\n", "\n"):
        assert [s.text for s in split(f"{opening}{gap}It fits. It leaks.")] == [
            "It fits.", "It leaks.",
        ]  # fmt: skip
    assert opening.endswith(":") or len(split(f"It fits.\n\n{opening}\n\nIt leaks.")) > 2
    assert opening.endswith(":") or split(opening)


@pytest.mark.parametrize(
    "said",
    [
        "Certainly worth it.",
        "Below is a pool.",
        "Here is a summary of my stay in a dirty room.",
        "I have read the menu.",
        "Absolutely the best.",
    ],
)
def test_opinions_at_the_beginning_stay(said):
    assert [s.text for s in get_splitter()(f"{said} It fits.")] == [said, "It fits."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The no. 1 complaint is noise.", 1),
        ("They say no. 2 of them broke.", 2),
        ("Is it loud? The answer is a no. It is dry.", 3),
        ("It is small (cf. review 1) and dry.", 1),
        ("A 55 in. TV hangs there.", 1),
        ("It has a 1.5 in. LED light.", 1),
        ("It is 55 in. TV stands fit.", 2),
        ("It has a 55 in. The TV fits.", 2),
        ('One guest wrote: "Brr! Never again." and left.', 1),
        ("They say \u201cDirty! Avoid.\u201d and leave.", 1),
        ('It is "Great!" and he left.', 1),
        ('They say "Dirty! Avoid." It hums.', 3),
        ('It fits. He said so." and left.', 3),
        ('It is "great." it hums.', 2),
        ('They say "Dirty! Loud! Cold! Bad! Avoid." and leave.', 6),
    ],
)
def test_sentences_go_on_after_ranks_sizes_and_quotations(text, expected):
    assert len(get_splitter()(text)) == expected


HOSTILE = [
    "> \u2014 A b", '{"a": "', '["a", ', "[", '"',
    "`", "~", "~~a ", "|-", "a|b\n-|-\n", "![", "![a](b)", "Sources: 1, ", "[^1]: 1 ",
    "<details ", "<details> ", "<b open", "<tr><th>", 'He "is! ', '"A." and ', "Best regards, ",
    "here is a x ", "I read the ", "the no. 1 ", "a 55 in. TV ", "[x] ", " ", "1\ufe0f\u20e3",
    "# What to know ", "the most ", "<!doctype ", "Would you like a b ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_long_texts_of_marks_are_cut_at_once(piece):
    text = (piece * 20_000)[:20_000]
    began = time.perf_counter()
    for page in (text, text.replace(" ", "\n"), f"It fits.\n\n{text}", f"{text}x"):
        assert all(page[s.start : s.end].strip() for s in get_splitter()(page))
    # Far more than they take, and less than what grows with the square.
    assert time.perf_counter() - began < 8
