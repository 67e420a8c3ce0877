"""Each shaping term against values derived by hand."""

from __future__ import annotations

import numpy as np
import pytest

from prevalence.errors import ConfigurationError
from prevalence.rewards import Shaping

REVIEWS = ["warm and dry", "warm", "warm but dear", "nothing of note"]
WARM, DRY, COLD = "They are warm.", "They keep feet dry.", "They are cold."


def one(reward, text, name=None):
    (found,) = reward(None, [text], reviews=[REVIEWS], name=[name])
    return found


def test_a_floor_fills_short_summaries_up(reward_of):
    reward = reward_of(shaping=Shaping(sentences=3))
    assert one(reward, WARM) == pytest.approx(3 / 4 * 1 / 3)
    # Longer than the floor: prevalence as it is, (3 + 1 + 0 + 1) / (4 * 4).
    assert one(reward, f"{WARM} {DRY} {COLD} They cost a lot.") == pytest.approx(5 / 16)


def test_each_review_is_heard_once(reward_of):
    text = f"{WARM} {DRY}"
    # Prevalence (3 + 1)/8; three reviews of four are heard, one of them twice.
    assert one(reward_of(shaping=Shaping(heard=1.0)), text) == pytest.approx(3 / 4)
    assert one(reward_of(shaping=Shaping(heard=0.4)), text) == pytest.approx(0.6 / 2 + 0.4 * 0.75)


@pytest.mark.parametrize("latency", [False, True])
def test_masked_sentences_speak_for_no_review(reward_of, latency):
    # The second sentence is implied by the first; alone it would speak for two reviews.
    reward = reward_of(shaping=Shaping(heard=1.0), latency=latency)
    assert one(reward, "They are toasty.") == pytest.approx(2 / 4)
    assert one(reward, f"{DRY} They are toasty.") == pytest.approx(2 / 4)
    assert one(reward, "I own boots.", name="pair of boots") == 0.0


@pytest.mark.parametrize("latency", [False, True])
def test_contradictions_cost_what_they_are_weighed(reward_of, answers, fake_scorer, latency):
    # COLD is contradicted by three reviews; a repetition of it is masked and costs nothing more.
    scorer = fake_scorer(answers | {(COLD, "So cold."): (0.9, 0.0), ("warm", "So cold."): (0, 0.9)})
    reward = reward_of(scorer=scorer, shaping=Shaping(contradiction=2.0), latency=latency)
    assert one(reward, COLD) == pytest.approx(-2 * 3 / 4)
    assert one(reward, f"{WARM} {COLD}") == pytest.approx(3 / 8 - 2 * 3 / 8)
    assert one(reward, f"{COLD} So cold.") == pytest.approx(-2 * 3 / 8)


@pytest.mark.parametrize("latency", [False, True])
def test_coverage_is_that_of_the_profile(reward_of, answers, fake_scorer, latency):
    # The four reviews are their own statements, of which "warm" follows from three reviews.
    said = {(r, "warm."): (0.9, 0.0) for r in REVIEWS[:3]}
    said |= {(r, f"{r}."): (0.9, 0.0) for r in REVIEWS}
    scorer = fake_scorer(answers | said | {(WARM, "warm."): (0.9, 0.0)})
    # Weights 3, 1, 1 and 1; WARM alone implies the first: 3 / 6. Its prevalence is 3 / 4.
    reward = reward_of(scorer=scorer, shaping=Shaping(coverage=0.4), latency=latency)
    assert one(reward, WARM) == pytest.approx(0.6 * 3 / 4 + 0.4 * 3 / 6)
    assert one(reward, "") == 0.0
    assert "|coverage:60x64|reward-coverage:0.4|v:" in reward.signature


@pytest.mark.parametrize("latency", [False, True])
def test_contested_sentences_cost_what_they_are_weighed(reward_of, latency):
    # Three reviews deny COLD and none says so; WARM is denied by none.
    reward = reward_of(shaping=Shaping(contested=0.5), latency=latency)
    assert one(reward, COLD) == pytest.approx(-0.5)
    assert one(reward, f"{WARM} {COLD}") == pytest.approx(3 / 8 - 0.5 / 2)
    assert one(reward, WARM) == pytest.approx(3 / 4)
    assert one(reward, "I own boots.", name="pair of boots") == 0.0
    # Nobody says so and nobody denies it.
    assert one(reward, "They glow.") == 0.0


@pytest.mark.parametrize(
    ("options", "completion", "expected"),
    [
        # What was most contradicted earns no less than silence and what cannot be scored.
        ({}, COLD, -0.5 * 3 / 4 - 1.0),
        ({}, "", -0.5 - 1.0),
        ({}, None, -0.5 - 1.0),
        ({}, "One. Two. Three.", -0.5 - 1.0),
        ({"unscorable": 0.25}, "One. Two. Three.", 0.25),
        ({"unscorable": 0.25}, "", 0.25),
        ({"unscorable": None}, "One. Two. Three.", None),
        ({"unscorable": None}, "", None),
        ({"unscorable": None}, "<think>Warm?</think>", None),
    ],
)
def test_silence_and_what_cannot_be_scored_earn_the_least(reward_of, options, completion, expected):
    shaping = Shaping(contradiction=0.5, contested=1.0)
    reward = reward_of(shaping=shaping, max_sentences=2, **options)
    assert one(reward, completion) == pytest.approx(expected)


def test_terms_in_use_are_logged(reward_of):
    def logged(shaping, *texts):
        found = {}
        rows = {"reviews": [REVIEWS] * len(texts)}
        reward_of(shaping=shaping)(None, texts, log_metric=found.__setitem__, **rows)
        return {key.removeprefix("prevalence/"): value for key, value in found.items()}

    plain = logged(Shaping(), WARM)
    shaping = Shaping(
        sentences=2, heard=0.25, coverage=0.25, contradiction=0.5, contested=0.5, content=True
    )
    found = logged(shaping, WARM, f"{COLD} Ok.", "", None)
    # Of the two completions with a sentence: one of two sentences, then two; three of four reviews
    # heard, then none; of 4 pairs none contradicts, of 8 three; of two sentences one says something
    # and is contested. The summaries imply nothing of the reviews.
    assert {key: value for key, value in found.items() if key not in plain} == pytest.approx(
        {
            "floor": (1 / 2 + 1) / 2,
            "coverage": 0.0,
            "heard": 3 / 4 / 2,
            "content": (1 + 1 / 2) / 2,
            "contradiction": 3 / 8 / 2,
            "contested": 1 / 2 / 2,
        }
    )
    assert logged(Shaping(soft=True), WARM).keys() - plain.keys() == {"soft"}
    assert logged(Shaping(ceiling=True), WARM).keys() - plain.keys() == {"ceiling"}
    assert "heard" not in logged(Shaping(heard=0.5), "")


@pytest.mark.parametrize("weight", ["contradiction", "contested"])
def test_weights_of_contradiction_need_that_class(reward_of, answers, fake_scorer, weight):
    reward = reward_of(
        scorer=fake_scorer(answers, three_way=False), shaping=Shaping(**{weight: 1.0})
    )
    for completion in (WARM, ""):
        with pytest.raises(ConfigurationError, match="need a model with a contradiction class"):
            one(reward, completion)


def test_soft_prevalence_as_the_base(reward_of, fake_scorer):
    scorer = fake_scorer({("warm", WARM): (0.4, 0.0), ("warm but dear", WARM): (0.2, 0.0)})
    assert one(reward_of(scorer=scorer), WARM) == 0.0
    soft = one(reward_of(scorer=scorer, shaping=Shaping(soft=True)), WARM)
    assert soft == pytest.approx((0.4 + 0.2) / 4)


def test_the_share_of_the_ceiling(reward_of, fake_scorer):
    reviews = ["Good grip. Loud.", "Good grip.", "Loud.", "Cheap."]
    told = {
        (r, s): (0.9, 0.0) for r in reviews for s in ("Good grip.", "Loud.", "Cheap.") if s in r
    }
    reward = reward_of(scorer=fake_scorer(told), shaping=Shaping(ceiling=True))
    # No sentence has more than two reviews of four behind it.
    rows = {"reviews": [reviews] * 3}
    found = reward(None, ["Good grip.", "Cheap.", ""], **rows)
    assert found == pytest.approx([1.0, 0.5, 0.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"soft": True, "ceiling": True}, "choose one"),
        ({"sentences": 0}, "whole number"),
        ({"sentences": float("nan")}, "whole number"),
        ({"coverage": 1.5}, r"\[0, 1\]"),
        ({"coverage": float("nan")}, r"\[0, 1\]"),
        ({"heard": -0.1}, r"\[0, 1\]"),
        ({"coverage": 0.6, "heard": 0.6}, "nothing would be left"),
        ({"content": "no"}, "content must be True or False, not 'no'"),
        ({"soft": "false", "ceiling": True}, "soft must be True or False, not 'false'"),
        ({"ceiling": 1}, "ceiling must be True or False, not 1"),
        ({"sentences": True}, "whole number of at least 1, not True"),
        ({"heard": True}, "weight of heard must be a number, not True"),
        ({"heard": "0.5"}, "weight of heard must be a number, not '0.5'"),
        ({"contested": None}, "weight of contested must be a number, not None"),
        ({"contradiction": 10**400}, "weight of contradiction must not be negative"),
        ({"contested": -1.0}, "negative"),
        ({"contradiction": -1.0}, "negative"),
        ({"contradiction": float("inf")}, "negative"),
    ],
)
def test_values_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigurationError, match=message):
        Shaping(**options)


def test_numbers_of_numpy_are_numbers():
    shaping = Shaping(sentences=np.int64(3), heard=np.float32(0.5))
    assert shaping.signature == {"reward-sentences": "3", "reward-heard": "0.5"}


def test_nothing_is_on_by_default():
    assert Shaping().signature == {}
    assert Shaping(soft=True, contradiction=0.5).signature == {
        "reward-base": "soft",
        "reward-contradiction": "0.5",
    }


@pytest.mark.parametrize("latency", [False, True])
def test_sentences_that_say_nothing_earn_nothing_and_cost(reward_of, answers, fake_scorer, latency):
    said = {(r, text): (0.9, 0.0) for r in REVIEWS for text in ("Ok.", "Summary:")}
    scorer = fake_scorer(answers | said | {(REVIEWS[0], COLD): (0.0, 0.9)})
    assert one(reward_of(scorer=scorer, latency=latency), "Ok.") == 1.0
    shaping = Shaping(content=True, heard=0.5, contradiction=1.0)
    reward = reward_of(scorer=scorer, shaping=shaping, latency=latency)
    assert one(reward, "Ok.") == one(reward, "Summary:") == 0.0
    assert one(reward, WARM) == pytest.approx(0.5 * 3 / 4 + 0.5 * 3 / 4)
    # Prevalence 7/8 and all reviews heard, halved; nothing contradicts.
    assert one(reward, f"{WARM} Ok.") == pytest.approx((0.5 * 7 / 8 + 0.5) / 2)
    # Prevalence (0 + 4)/8, all heard, halved; of 8 pairs of a review and a sentence 3 contradict,
    # which costs as much as without the sentence that says nothing.
    assert one(reward, f"{COLD} Ok.") == pytest.approx((0.5 * 4 / 8 + 0.5) / 2 - 3 / 8)
    assert "reward-content:asked" in reward.signature


@pytest.mark.parametrize("end", ["?", '?"', "?)", " ? ", "?!", "\uff1f"])
def test_questions_state_nothing(reward_of, fake_scorer, end):
    asked = f"(Are they warm{end}"
    scorer = fake_scorer({(r, asked.strip()): (0.9, 0.0) for r in REVIEWS})
    assert one(reward_of(scorer=scorer), asked) == 1.0
    assert one(reward_of(scorer=scorer, shaping=Shaping(content=True)), asked) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Boils fast!", 1.0),
        ("Great!", 0.0),
        ("No leaks.", 1.0),
        ("Doesn\u2019t leak!", 1.0),
        ("Never again.", 0.0),
        ("Don't avoid!", 0.0),
        ("They leak (really)?", 0.0),
        ("Are they warm (really?).", 0.0),
        ("No doubt!", 0.0),
        ("No problem.", 0.0),
        ("Never mind.", 0.0),
        ("Won't they leak!", 0.0),
    ],
)
def test_what_states_something(text, expected, reward_of, fake_scorer):
    scorer = fake_scorer({(r, text): (0.9, 0.0) for r in REVIEWS})
    assert one(reward_of(scorer=scorer, shaping=Shaping(content=True)), text) == expected


def test_a_missing_space_makes_no_sentence_of_two(reward_of):
    apart, glued = f"{WARM} {COLD}", f"{WARM}{COLD}"
    assert one(reward_of(), glued) == one(reward_of(), apart)
    assert one(reward_of(splitter="nltk-punkt-en"), glued) == 0.0


def test_soft_coverage_goes_with_soft_prevalence(reward_of, fake_scorer):
    # The summary implies what the review says with .4, which hard coverage does not count.
    said, summary = "Good grip.", "It grips."
    scorer = fake_scorer(
        {(said, said): (0.9, 0.0), (said, summary): (0.6, 0.0), (summary, said): (0.4, 0.0)}
    )
    reward = reward_of(scorer=scorer, shaping=Shaping(soft=True, coverage=0.5))
    found = reward(None, [summary], reviews=[[said]])
    assert found == pytest.approx([0.5 * 0.6 + 0.5 * 0.4])


def test_a_ceiling_of_zero_leaves_prevalence(reward_of, fake_scorer):
    # The review is one sentence, which no other review can support.
    scorer = fake_scorer({("Good grip.", "It grips."): (0.9, 0.0)})
    reward = reward_of(scorer=scorer, shaping=Shaping(ceiling=True))
    assert reward(None, ["It grips."], reviews=[["Good grip."]]) == [1.0]
