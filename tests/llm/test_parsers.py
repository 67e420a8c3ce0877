"""Replies are read for what they say plainly, and for nothing else."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.baselines.judges.claim_writing import parse_claims
from prevalence.baselines.judges.parsers import (
    contradicts_percentage,
    parser_for,
    read_choice,
    read_plain,
    read_star_count,
    read_table,
    read_tag,
    read_verdict,
)
from prevalence.errors import ConfigurationError
from prevalence.llm.released_replies import (
    read_letter,
    read_reason_then_score,
    read_stars,
    reason_then_score_rule,
)


@pytest.mark.parametrize(
    ("reply", "value", "fault"),
    [
        ("Good. Score- <score>4</score>", 4.0, ""),
        ("<SCORE> 4.5 </SCORE>", 4.5, ""),
        ("<score>3</score> ... so <score>3</score>", 3.0, ""),
        ("<score>3</score> no, <score>4</score>", None, "several"),
        ("<score>0</score>", None, "out_of_range"),
        ("<score>6</score>", None, "out_of_range"),
        ("<score>-1</score>", None, "out_of_range"),
        ("<score>K</score>", None, "unparsable"),
        ("as asked <score>X</score>: <score>2</score>", 2.0, ""),
        ("<score>3</score> then <score>4 or 5</score>", None, "unparsable"),
        ("<score>3</score> then <score></score>", None, "unparsable"),
        ("Score: 4", None, "unparsable"),
        ("<score>4", None, "unparsable"),
        ("<score>4/5</score>", 4.0, ""),
        ("<score>4 out of 5</score>", 4.0, ""),
        ("<score>**4**</score>", 4.0, ""),
        ("<score>4/10</score>", None, "unparsable"),
        ("<score>3-4</score>", None, "unparsable"),
        ("", None, "unparsable"),
        ("<think>maybe <score>5</score></think> <score>2</score>", 2.0, ""),
        # A thought that was cut is no answer, and neither is what the opening tag lost.
        ("<think>it may well be <score>5</score>, but", None, "unparsable"),
        ("the <score>5</score> of the review </THINKING> <score> 2\n</score>", 2.0, ""),
        ("‹score›5‹/score› ＜score＞5＜/score＞", None, "unparsable"),
    ],
)
def test_tags(reply, value, fault):
    assert read_tag(reply) == (value, fault)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        # A share of something counted, or a rating of others, is no score.
        ("The summary is supported: 4 out of 5 reviewers mention the noise, and the", None),
        ("Three out of five reviewers complain about breakfast, which the summary", None),
        ("4/5 reviews mention the noisy rooms, which the summary captures, but it omits", None),
        ("A guest rated it 2 out of 5 and the summary reports this well.", None),
        ("Guests rated the hotel 4/5 on average, and the summary", None),
        ("The reviewers' overall rating is 4.5 out of 5, which the summary omits.", None),
        ("The hotel is rated 5, says the summary", None),
        ("Score: 3 of 5 facts are right", None),
        ("Score: 3/5 facts", None),
        ("Score: 4/5/5", None),
        ("My rating is 4 out of 5 because 2 out of 5 facts are wrong.", 4.0),
        ("Overall, guests rated it 2, which the summary omits.\nScore: 4/5", 4.0),
        ("As most reviews say the same, I'd rate it 4/5", 4.0),
        # Nor does a share, or a reception that never closes, void a good one.
        ("I would rate it a 4, since 24/7 reception is correctly reported.", 4.0),
        ("Fluent text with no errors: 4/5. It mentions the 24/7 reception.", 4.0),
        ("Reception is open 24/7. I would rate it 4.", 4.0),
        ("The points are mentioned by 6 out of 8 reviewers. I would rate it 4.", 4.0),
        ("A guest rated it 7/10. I would rate it 4.", 4.0),
        ("It is worth 7/10. I would rate it 4.", None),
        # Emphasis, a scale with "of", a first line, and what is given.
        ("**Score:** **4**", 4.0),
        ("**Score**: **4**", 4.0),
        ("Score: ***4***", 4.0),
        ("__Score:__ __4__", 4.0),
        ("<b>Score:</b> 4", 4.0),
        ("Score: 4 of 5", 4.0),
        ("Score: 4 of 10", None),
        ("4\n\nThe summary is fluent.", 4.0),
        ("**4/5**\nThe summary is fluent.", 4.0),
        ("4\nThe summary is fluent.\n3", None),
        ("4. The summary is fluent.", None),
        ("I'd give it a 4.", 4.0),
        ("On a scale of 1 to 5, I would give the summary a 4.", 4.0),
        ("I'd give it a 4 if it had prices.", None),
        ("I would not give it a 4.", None),
        ("Thin. Score: 3", 3.0),
        ("Thin. Score: 3/5.", 3.0),
        ("It lacks detail; 3 out of 5.", 3.0),
        ("Resulting in a score of 3.5.", 3.5),
        ("Scoring a one out of five for fluency.", 1.0),
        ("I would rate it 2", 2.0),
        ("Beside the point (1).", 1.0),
        ("4", 4.0),
        ("It has 3 errors in 2 sentences.", None),
        ("Score: 8/10", None),
        ("A score of 2 or a score of 4.", None),
        ("Score: 10", None),
        ("Score: 4.5.6", None),
        ("Score: -2", None),
        ("-2/5", None),
        ("-2", None),
        ("Score: 4 or 5", None),
        ("Score: 4 (or 5)", None),
        ("A score of 4 or higher.", None),
        ("-2/5 or 3/5", None),
        ("Score: 3, 4 or 5", None),
        ("4 or 5/5", None),
        ("Score: 3/5 or 4/5", None),
        ("Score 3 facts", None),
        ("I would not rate it 5.", None),
        ("Not 5/5 but 4/5.", 4.0),
        ("**Score:** 3\n- 2 facts are wrong", 3.0),
        # A score that is refused or did not come about.
        ("A score of 5 would be too high.", None),
        ("A score of 5/5 would be too generous; I give it a score of 3.", 3.0),
        ("A score of 5 is not justified.", None),
        ("A score of five wouldn't be fair.", None),
        ("A rating of 5 is clearly undeserved.", None),
        ("A score of 5 would require the price.", None),
        ("It could have been a score of 5.", None),
        ("It is not a score of 5.", None),
        ("It is worth a 4 rather than a score of 5.", None),
        ("It is too long for more. A score of 3 would be fair.", 3.0),
        ("A score of 4 is fitting, as it is not too long.", 4.0),
        ("I would rate it 4. It is not too long.", 4.0),
        ("Score: 4 (is not too long)", 4.0),
        ("Score: 4\nIs not too long.", 4.0),
        # A closing number alone, on a line or as a sentence of its own.
        ("It covers the main points but not the price.\n\n4", 4.0),
        ("It covers the main points. 3", 3.0),
        ('It covers the "main" points (mostly). **2**', 2.0),
        ("It lacks two of the facts.\n4/5", 4.0),
        ("It is as good as summary no. 3", None),
        ("It names points 1, 2 and 3.", None),
        ("The errors are:\n1. a date\n2. a name", None),
        ("I rate it 2.\n\n4", None),
        ("It misses a lot.\n7", None),
        ("It misses a lot.\n-4", None),
        # The verdict is marked as such.
        ("Final score: 4/5. A point is missing from a perfect 5/5.", 4.0),
        ("**Final Score:** 3/5\nFor a 5/5 it would have to name the price.", 3.0),
        ("Points go from 1/5 to 5/5. Overall, I would rate it 2.", 2.0),
        ("A start would be 2/5.\nScore: 4\nIt is no 5/5.", 4.0),
        ("Final score: 2. On second thought: final score: 3.", 3.0),
        ("It covers 3 out of 4 points. Final score: 4/5", 4.0),
        ("Final score: 8/10, from a perfect 5/5", None),
        ("Final score: 4 or 5, not a perfect 5/5", None),
        ("Final score: 4/5. Or should I rate it 3?", None),
        ("Score: 2 for order\nScore: 4 for style", None),
        ("Score: 2 for order\nScore: 4 for style\nOverall score: 3", 3.0),
        ("It is not a final score of 5.", None),
        # Somebody else's rating in the prose is no verdict.
        ("Score: 2\nReason: It leaves out the overall rating of 4 in the reviews.", None),
        ("Score: 1\nThe overall score of 5 is invented.", None),
        ("Score: 2. It leaves out the overall rating of 4, which reviewers gave.", None),
        ("Score: 2\nReason: It leaves out the overall rating: 4.", None),
        ("Score: 2\nOverall, I rate it 3.", None),
        ("It leaves out the overall rating of 4. I rate it 2.", None),
        ("It is thin; final score: 3. It is no 5/5.", 3.0),
        ("From 1/5 to 5/5, what is it? My final score is 2.", 2.0),
        # A label may follow a sentence.
        ("Only 2 out of 8 reviews are reflected. Score: 2", 2.0),
        ("Reviews say 24/7 support is good. Score: 5", 5.0),
        ("The summary covers 3 out of 5 main aspects. Score: 4", 4.0),
        ("Score: 4 for order. Score: 2 for style.", None),
    ],
)
def test_sentences(reply, value):
    assert read_plain(reply).value == value


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Aspect coverage: 4", 4.0),
        ("**Aspect coverage:** 4/5.\nIt names what reviews name.", 4.0),
        ("- aspect_coverage: four", 4.0),
        ("Aspect coverage: 4 out of 5", 4.0),
        ("Aspect coverage: 7", None),
        # Other numbers leave open which of them is the score, and lists have numbers too.
        ("Aspect coverage: 4\nOne point is missing.", None),
        ("Aspect coverage: 4\nFluency: 3", None),
        ("Aspect coverage: 4/10", None),
        ("Aspect coverage: 4 or 5", None),
        ("Aspect coverage: -4", None),
        ("Aspect coverage:\n1. The price is named.", None),
        ("Aspect coverage: 1. The price is named.", None),
        ("Aspect coverage: 4 aspects are named.", None),
        ("Aspect coverage: 4 would be too high.", None),
        ("1. Aspect coverage: 4", None),
        ("The aspect coverage: 4", None),
        ("Coverage: 4", None),
        # What is stated as the score counts before it.
        ("Aspect coverage: 4\nScore: 3", 3.0),
        # A box ends the reply.
        ("It names 3 of 4 aspects. \\boxed{4}", 4.0),
        ("It is thin: $\\boxed{2/5}$.", 2.0),
        (r"Thus \[\boxed{3}\]", 3.0),
        ("\\boxed{4} is too high.", None),
        ("\\boxed{3}, no, \\boxed{4}", None),
        ("\\boxed{4/10}", None),
        ("\\boxed{-2}", None),
        ("\\boxed{8}", None),
        ("Score: 3\n\\boxed{4}", 3.0),
    ],
)
def test_a_number_behind_the_title_or_in_a_box(reply, value):
    parse = parser_for("plain", title="Aspect coverage")
    assert parse(reply).value == value
    assert read_plain("Aspect coverage: 4").value is None


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("**Answer:** D", 4.0),
        ("**Answer**: D", 4.0),
        ('{"answer": "D"}', 4.0),
        ('```json\n{"answer": "D", "reason": "A fine text."}\n```', 4.0),
        ("The summary is fluent.\n\nD", 4.0),
        ("A fluent summary.\n\n**D**", 4.0),
        ("Grade: D", 4.0),
        ("Winner: B", 2.0),
        ("Winner: A or B", None),
        ("The options:\nA\nB", None),
        ("A) poor\nB) fair\nC", None),
        ("The text is\nA fine one", None),
    ],
)
def test_letters_in_other_layouts(reply, value):
    assert read_choice(reply).value == value


def test_a_winner_is_a_verdict():
    assert read_verdict("Both are fluent, the second more so.\nWinner: B").value == 2.0


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("| Dimension | Score |\n|---|---|\n| Aspect relevance | 4 |\n| **Readability** | 5/5 |",
         [4.0, 5.0]),
        ('{"aspect_relevance": 4, "self_coherence": 3, "readability": "5"}', [4.0, 5.0]),
        ('{"Aspect relevance": 4, "Readability": 5}', [4.0, 5.0]),
        ("Aspect relevance: 4, Readability: 5", [4.0, 5.0]),
        # Which of two numbers in a row is the score?
        ("| Aspect relevance | 5 | 4 |\n| Readability | 1-5 |", [None, None]),
    ],
)  # fmt: skip
def test_tables_and_objects_with_all_dimensions(reply, values):
    read = read_table(reply, ["Aspect relevance", "Readability"])
    assert [one.value for one in read] == values


def test_letters_stars_verdicts_and_tables():
    assert [read_choice(r).value for r in ("D", "(b)", "E. All of it", "**C**")] == [4, None, 5, 3]
    assert read_choice("A summary that is fine").fault == "unparsable"
    assert read_choice("Answer: A. Or Answer: B").fault == "several"
    assert [read_verdict(r).value for r in ("A", "B.", "C")] == [1.0, 2.0, 0.0]
    # A letter alone on its first line, whatever follows it.
    explained = ("C\n\nBecause it is.", "**B** \nIt leaves out the price.")
    assert [read_choice(r).value for r in explained] == [3.0, 2.0]
    assert read_verdict("A\nSummary 1 is better.").value == 1.0
    assert read_choice("A\nor B").value is None
    assert read_choice("Answer: A, because it is.").value == 1.0
    assert read_star_count("four stars").value == 4.0
    assert read_star_count("2 stars for order, 3 stars for style").fault == "several"
    # A line may follow that begins like a letter.
    assert read_choice("B\n\nA detailed reason: it is.").value == 2.0
    titles = ["Aspect relevance", "Readability"]
    read = read_table("aspect relevance: 2\n- Readability: 9", titles)
    assert [(one.value, one.fault) for one in read] == [(2.0, ""), (None, "out_of_range")]
    assert [one.value for one in read_table("Readability: 3", titles)] == [None, 3.0]
    numbered = read_table("1. Aspect relevance: 4\n2) **Readability**: 5", titles)
    assert [one.value for one in numbered] == [4.0, 5.0]


@pytest.mark.parametrize(
    ("reply", "value", "fault"),
    [
        ("Three out of five stars.", 3.0, ""),
        ("I give it 2 of 5 stars.", 2.0, ""),
        ("2 out of a possible 5 stars", 2.0, ""),
        ("4 / 5 stars", 4.0, ""),
        ("4 stars out of 5", 4.0, ""),
        ("a rating of 4 stars", 4.0, ""),
        ("3 of 5 stars for order, 4 stars for style", None, "several"),
        ("2 of 10 stars", None, "out_of_range"),
        ("4 stars out of 10", None, "out_of_range"),
        ("4 1/2 stars", None, "out_of_range"),
        ("The hotel has 4 stars, and the summary", None, "unparsable"),
        ("Guests gave it 5 stars, which the summary", None, "unparsable"),
        ("A 4-star hotel", None, "unparsable"),
        ("Guests praise the 4-star hotel. I give the summary 2 stars.", 2.0, ""),
        ("A 4-star rating.", 4.0, ""),
        ("Out of 5 stars, I give it 3.", None, "unparsable"),
    ],
)
def test_the_scale_of_stars_is_no_score(reply, value, fault):
    assert read_star_count(reply) == (value, fault)


@pytest.mark.parametrize(
    ("read", "reply"),
    [
        (read_star_count, "not 5 stars"),
        (read_star_count, "It doesn't deserve 5 stars."),
        (read_star_count, "5 stars would be too many."),
        (read_star_count, "4 or 5 stars"),
        (read_star_count, "4 stars or 5"),
        (read_star_count, "4-5 stars"),
        (read_choice, "Answer: A or B"),
        (read_choice, "Answer: A, B"),
        (read_choice, "A. or B."),
        (read_choice, "A. Very poor.\nB. Poor.\nC. Fa"),
        (read_verdict, "A. Summary 1 is better in fluency.\n(B) Summary 2"),
        (read_verdict, "A\nB\nC"),
        (read_choice, "Answer: A well-written summary."),
        (read_verdict, "Answer: A summary 2 is better"),
        (read_verdict, "Option A is better than the other."),
        (read_verdict, "(A) is worse than (B)."),
        (read_verdict, "Answer: (B) isn't as good."),
        (read_verdict, "Nothing is better than option B."),
    ],
)
def test_what_is_not_said_plainly_is_counted(read, reply):
    found = read(reply)
    assert found.value is None
    assert found.fault in ("unparsable", "several")


def test_lines_of_a_table_are_plain_too():
    for said in ("-2", "4 or 5", "3 facts", "4 out of 10", "4/10"):
        assert read_table(f"Readability: {said}", ["Readability"])[0].value is None
    for said in ("4 (good)", "4/5", "4 / 5", "4 out of five"):
        assert read_table(f"Readability - {said}", ["Readability"])[0].value == 4.0


def test_a_percentage_must_lie_in_the_band_of_its_score():
    bands = {1: 20, 2: 50, 3: 75, 4: 94, 5: 95}
    assert not any(contradicts_percentage(f"Estimate: {p}%", k) for k, p in bands.items())
    assert [contradicts_percentage("Estimate: 94.5%", k) for k in (3, 4, 5)] == [True, False, False]
    assert contradicts_percentage("Estimate: 21%", 1)
    assert contradicts_percentage("none", 1) is None
    # The estimate is what is called so, or the only percentage; what reviews count is another.
    counted = "Estimated percentage: 80%.\n<score>4</score>\nOnly 10% of reviews mention price."
    assert contradicts_percentage(counted, 4) is False
    assert contradicts_percentage("Estimate: about 80%, while 30% of reviews", 4) is False
    assert contradicts_percentage("80% of it, and 30% of reviews", 4) is None
    assert contradicts_percentage("It is 80%, I think: 80%.", 2) is True


def test_compatibility_rules_exist_only_where_they_were_used():
    assert parser_for("plain", "llm-summeval", method="rts")("3 out of 5").value == 5.0
    assert parser_for("letter", "llm-summeval", method="mcq")("Z").fault == "unparsable"
    # What a method of the user's own is called says nothing about its replies.
    assert parser_for("letter", "llm-summeval", method="mine")("B").value == 2.0
    assert parser_for("stars", "llm-summeval", method="mine")("4 stars of 5").value == 4.0
    assert parser_for("plain", "llm-summeval", method="mcq-like")("Score: 4").value == 4.0
    with pytest.raises(ConfigurationError, match="need strict"):
        parser_for("tag", "llm-summeval", method="op-i")
    with pytest.raises(ConfigurationError, match="unknown parser"):
        parser_for("tag", "lenient")


@pytest.mark.parity
def test_released_replies_rule_by_rule(shared_data):
    differing = {}
    for path in sorted((shared_data / "llm_summeval").glob("M*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            (methods,) = json.loads(line)["eval"].values()
            for answer in methods["rts"].values():
                assert reason_then_score_rule(answer["resp"]) == (answer["score"], answer["rule"])
                if read_plain(answer["resp"]).value != answer["score"]:
                    differing.setdefault(answer["rule"], []).append(answer["score"])
            for answer in methods["mcq"].values():
                assert read_letter(answer["resp"]) == answer["score"]
                assert read_choice(answer["resp"]).value == answer["score"]
    # Six of the eight replies that fall to the last rule are of the kind "3 out of 5", read as 5.
    assert differing == {6: [5.0] * 6}


LONG = 200_000


@pytest.mark.parametrize(
    "filler",
    [" ", "\n", "<score>", "<think", "(", "1", "answer ", "1.", "*", "%", "not ", "1 or ",
     "score 1 ", "Final score: 1. ", ". ",
     "score 1 is ", "would have ", "guests rated it ", "4/5 ", "1 of ", "_", "I'd give it a ",
     '{"Readability": ', "Readability", "| Readability | 4 |", "Estimated ", "hotel has ", "\n1",
     "A\n"],
)  # fmt: skip
def test_long_replies_of_nothing_are_read_in_one_pass(filler):
    # Where a pattern could try every beginning with every end, these would take hours.
    reply = "answer 1 <score> " + filler * (LONG // len(filler)) + "x"
    for read in (read_tag, read_choice, read_verdict, read_star_count, read_plain):
        assert read(reply).value in (None, 1.0)
    assert read_table(reply, ["Readability"])[0].value is None
    assert contradicts_percentage(reply, 3) in (None, True)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Final score: 8/10", 1.0),  # No score of the scale, so the mention: the 1 of "10".
        ("I would give it a 4.5 for fluency", 4.5),
        ("Score: 6", -1.0),
        ("Score: 0. Rated 4/5.", 5.0),
        ("a 2.7 overall", 2.0),
        ("This underscores the tone", -1.0),
        ("Scoring: four of five.", 4.0),
        ("A score of 3 for order. Not 5.", 3.0),
    ],
)
def test_the_authors_rules_take_scores_of_the_scale_and_whole_words(reply, score):
    assert read_reason_then_score(reply) == score


def grade_at(text, at, decimals="0123456789"):
    """A number of the scale that begins at a place, with one decimal if it has one."""
    if text[at : at + 1] not in list("12345"):
        return None
    more = text[at + 1 : at + 3]
    return (
        float(text[at] + more)
        if len(more) == 2 and more[0] == "." and more[1] in decimals
        else (float(text[at]))
    )


def word_at(text, at):
    """The value of a number word that begins and ends at a place."""
    around = f" {text} "
    for value, name in enumerate(("one", "two", "three", "four", "five"), start=1):
        outside = around[at] + around[at + 1 + len(name) : at + 2 + len(name)]
        whole = not any(letter.isalnum() or letter == "_" for letter in outside)
        if text.startswith(name, at) and whole:
            return float(value)
    return None


def ends_of(text, mark):
    return [at + len(mark) for at in range(len(text)) if text.startswith(mark, at)]


def after_spaces(text, at):
    return len(text) - len(text[at:].lstrip())


def transcribed(reply):
    """The published rules once more, place by place in text of lower case."""
    text = reply.lower()
    mentions = sorted(ends_of(text, "score") + ends_of(text, "scoring"))
    sentences = [range(at, len(text[:at]) + len(text[at:].partition(".")[0])) for at in mentions]
    labelled = [[after_spaces(text, at)] for at in ends_of(text, "score:")]
    for places in (labelled, sentences):
        for read in (grade_at, word_at):
            found = [read(text, at) for run in places for at in run]
            if any(value is not None for value in found):
                return next(value for value in found if value is not None)
    last, at = -1.0, 0
    while at < len(text):
        grade = grade_at(text, at, decimals="12345")
        last = last if grade is None else grade
        at += 1 if grade is None or grade.is_integer() else 3
    return last


PIECES = st.sampled_from(
    ["score", "score:", "scoring", "Score: ", " ", ".", ". ", "one", "tone", "five", "fives", "0",
     "1", "3", "5", "8", "10", "2.5", "4.7", "/", "of", "under", "a ", "_", "\n"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
def test_the_authors_rules_equal_a_plain_transcription(reply):
    assert read_reason_then_score(reply) == transcribed(reply)


def first_group(pattern, reply):
    match = re.search(pattern, reply)
    return match and (_WORDS.get(match[1]) or float(match[1]))


_WORDS = {"one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0}
_MENTIONED = r"(?:score|scoring)[^.]*?([1-5](?:\.\d)?)"
_MENTIONED_WORD = r"(?:score|scoring)[^.]*?\b(one|two|three|four|five)\b"


@given(st.lists(PIECES, max_size=14).map("".join))
def test_mentions_are_found_as_by_searching_from_each(reply):
    value, rule = reason_then_score_rule(reply)
    digit, word = (first_group(rule, reply.casefold()) for rule in (_MENTIONED, _MENTIONED_WORD))
    if rule in (3, 4):
        assert (value, rule) == ((word, 4) if digit is None else (digit, 3))
    elif rule not in (1, 2):
        assert (digit, word) == (None, None)


_LAZY_STARS = re.compile(r"(\S+?)[\s-]+stars?\b", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?")


def stars_plainly(reply):
    """The rule as it is stated, whatever the time it takes."""
    for token in _LAZY_STARS.findall(reply):
        word = token.strip("(*\"'").casefold()
        number = word.partition("/")[0]
        if word == "five" or _NUMBER.fullmatch(number):
            return 5.0 if word == "five" else float(number)
    return -1.0


STARS = st.sampled_from(
    ["4", "five", "-", " ", "\n", "star", "stars", "Star", "/5", ".5", "x", "(", "nan", "1e9"]
)


@given(st.lists(STARS))
def test_stars_are_found_as_by_the_plain_rule(parts):
    assert read_stars("".join(parts)) == stars_plainly("".join(parts))


@pytest.mark.parametrize("piece", ["star", "star-", "score ", "scoring", "score:", "- ", "a"])
@pytest.mark.parametrize("read", [read_stars, read_reason_then_score])
def test_a_long_reply_without_a_score_is_read_once(read, piece):
    """A reader that begins anew at every mention would be at it for minutes."""
    assert read(piece * (100_000 // len(piece))) == -1.0


@pytest.mark.parametrize("number", ["nan", "inf", "infinity", "1e400", "1e3", "-4", "9" * 400, "_"])
def test_only_plain_numbers_of_stars_are_read(number):
    assert read_stars(f"{number} stars") == -1.0
    assert read_stars(f"{number} stars, no, 4.5 stars") == 4.5


@pytest.mark.parametrize(
    "reply",
    [
        "Score: 4/5 Explanation: it reads well.",
        "Score: 4 Reason: it reads well.",
        "Rating: 4/5 The text reads well.",
        "I'd say 4 out of 5 at most.",
        "I rate this one 4/5.",
        "This one is 4/5.",
    ],
)
def test_reasons_may_follow_a_score_at_once(reply):
    assert read_plain(reply).value == 4.0


def test_the_scale_may_stand_after_the_word_stars():
    assert read_star_count("4 stars of 5").value == 4.0
    assert read_star_count("4 stars of 10").fault == "out_of_range"
    assert read_star_count("I give one of them 4 stars. Nine stars of ten are lit.").value == 4.0


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("). " * 30_000, read_plain),
        ("Fluency | 4 | 1" + " " * 100_000 + "x", lambda reply: read_table(reply, ["Fluency"])),
        ("1" + "*" * 100_000 + "x\n1: It fits.", lambda reply: parse_claims(reply, ["It fits."])),
    ],
)
def test_long_replies_are_read_at_once(reply, read):
    start = time.process_time()
    read(reply)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Score (1=worst, 5=best): 3", 3.0),
        ("Score (5 = best): 4", 4.0),
        ("Score (1-5): 4", 4.0),
        ("Score (1-10): 4", None),
        ("Score (1 to 7): 4", None),
    ],
)
def test_what_a_label_says_of_the_scale_is_no_score(reply, value):
    assert read_plain(reply).value == value
