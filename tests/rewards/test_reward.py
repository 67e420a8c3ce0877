"""The call shape, what a bad row does, and what is kept, shared and freed between calls."""

from __future__ import annotations

import asyncio
import gc
import inspect
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence import OpinionPrevalence
from prevalence.errors import ConfigurationError, ModelError
from prevalence.records import Review
from prevalence.rewards import PrevalenceReward, Shaping
from prevalence.rewards import batch as batch_module
from prevalence.scorers.registry import ScorerOptions

REVIEWS = ["warm and dry", "warm", "warm but dear", "nothing of note"]
NAME = "pair of boots"
GOOD = "They are warm."
MIXED = "They are warm. They are toasty. I own boots. They keep feet dry."
WRONG = "They are cold. They cost a lot."
COMPLETIONS = [GOOD, MIXED, WRONG, ""]
# By hand, m = 4: 3/4; (3 + 0 redundant + 0 trivial + 1)/16; (0 + 1)/8; no sentence.
EXPECTED = [0.75, 0.25, 0.125, 0.0]


def trainer_call(reward, completions=COMPLETIONS, **columns):
    """The arguments that a trainer passes: columns as lists, and things of its own."""
    size = len(completions)
    filled = {"reviews": [REVIEWS] * size, "name": [NAME] * size}
    filled |= {"log_extra": lambda column, values: None} | columns
    return reward(
        prompts=["Summarize."] * size,
        completions=completions,
        completion_ids=[[1, 2]] * size,
        trainer_state=object(),
        **filled,
    )


def chat(text):
    return [{"role": "assistant", "content": text}]


def test_rewards_are_prevalence(reward_of):
    assert trainer_call(reward_of()) == pytest.approx(EXPECTED)


def test_messages_are_read_as_strings_are(reward_of):
    reward = reward_of()
    assert trainer_call(reward, [chat(text) for text in COMPLETIONS]) == pytest.approx(EXPECTED)
    used_tool = [
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": WRONG},
        *chat(GOOD),
    ]
    parts = chat([{"type": "text", "text": "They are "}, {"type": "text", "text": "warm."}])
    others = chat([{"type": "reasoning", "text": WRONG}, {"text": "They are "},
                   {"type": "output_text", "text": "warm."}])  # fmt: skip
    assert trainer_call(reward, [used_tool, parts, others]) == [0.75, 0.75, 0.75]
    alone = {"role": "assistant", "content": GOOD}
    others = [[{"role": role, "content": GOOD}] for role in ("Assistant", "model")]
    assert trainer_call(reward, [alone, *others]) == [0.75] * 3


def test_it_is_a_plain_callable_with_a_name(reward_of):
    import torch

    reward = reward_of(name="agreement")
    assert not isinstance(reward, torch.nn.Module)
    assert reward.__name__ == "agreement"
    assert not inspect.iscoroutinefunction(reward.__call__)


def test_importing_it_loads_no_model_library():
    code = "import prevalence.rewards, sys; print(*{'torch', 'transformers'} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def test_columns_have_the_names_they_are_given(reward_of):
    reward = reward_of(reviews_column="texts", name_column="title")
    rows = {"texts": [REVIEWS], "title": [NAME], "reviews": [["other"]], "name": ["thing"]}
    assert reward(["p"], ["I own boots."], **rows) == [0.0]
    assert reward.tally.trivial == 1
    with pytest.raises(ConfigurationError, match="no column 'title'"):
        reward(["p"], [GOOD], texts=[REVIEWS])


def test_without_a_name_nothing_is_trivial(reward_of):
    for reward, columns in [(reward_of(), {}), (reward_of(name_column=None), {"name": [NAME]})]:
        assert reward(["p"], ["I own boots."], reviews=[REVIEWS], **columns) == [0.0]
        assert reward.tally.trivial == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"texts": [REVIEWS]}, "no column 'reviews' \\(given: 'texts'\\)"),
        ({"reviews": [REVIEWS, REVIEWS]}, "one value for each of the 1 completions"),
        ({"reviews": "warm"}, "must be a list"),
        ({"reviews": [REVIEWS], "name": [NAME, NAME]}, "the column 'name'"),
    ],
)
def test_a_column_that_cannot_be_used_is_a_mistake_of_the_caller(reward_of, columns, message):
    with pytest.raises(ConfigurationError, match=message):
        reward_of()(["p"], [GOOD], **columns)


NAN = float("nan")
BAD_REVIEWS = [
    None, NAN, [], "one text", 3.5, ["good", None], ["good", NAN], ["good", np.float32("nan")],
    [{"text": NAN}], [{"stars": 5}], {"text": "no list"},
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_REVIEWS, ids=repr)
def test_a_bad_row_is_counted_and_hurts_no_other(reward_of, bad):
    reward = reward_of()
    with pytest.warns(RuntimeWarning, match="row 1: ") as caught:
        found = trainer_call(reward, [GOOD, GOOD, MIXED], reviews=[REVIEWS, bad, REVIEWS])
    assert found == [0.75, None, 0.25]
    assert (reward.tally.failed, reward.tally.scored) == (1, 2)
    assert caught[0].filename == __file__
    # Once is enough: another such row is only counted. One of another kind is warned of.
    assert trainer_call(reward, [GOOD, GOOD, GOOD], reviews=[REVIEWS, REVIEWS, bad])[2] is None
    with pytest.warns(RuntimeWarning, match="row 0: the product name is empty"):
        assert trainer_call(reward, [GOOD], name=[""]) == [None]
    assert reward.tally.failed == 3


def test_there_is_an_end_to_warnings(reward_of):
    reward = reward_of()
    rows = [["warm", {letter: {"warm"}}] for letter in "abcdefghijklmnop"]
    # The number of the review makes no other kind of error.
    rows += [["dry", *own] for own in rows]
    with pytest.warns(RuntimeWarning, match="the other keys of review") as caught:
        trainer_call(reward, [GOOD] * (len(rows) + 1), reviews=[REVIEWS, *rows])
    assert len(caught) == 10
    assert reward.tally.failed == len(rows)


@pytest.mark.parametrize("missing", [None, NAN, np.float32("nan")])
def test_a_missing_name_is_no_name(reward_of, missing):
    reward = reward_of()
    assert trainer_call(reward, ["I own boots."] * 2, name=[missing, NAME]) == [0.0, 0.0]
    assert (reward.tally.failed, reward.tally.trivial) == (0, 1)


def test_names_of_a_wrong_kind_in_every_row_are_a_mistake_of_the_caller(reward_of):
    reward = reward_of()
    message = "row 0: the product name is int, not text: give a string, or None for no name"
    with pytest.raises(ConfigurationError, match=f"no row can be read: {message}"):
        trainer_call(reward, [GOOD, MIXED], name=[7, 8])
    with pytest.warns(RuntimeWarning, match=message):
        assert trainer_call(reward, [GOOD, MIXED], name=[7, NAME]) == [None, 0.25]
    # All completions of a call may be about one product, which may lack a name.
    with pytest.warns(RuntimeWarning, match="product name is empty"):
        assert trainer_call(reward, [GOOD, MIXED], name=["", ""]) == [None, None]


def test_a_missing_value_of_pandas_is_no_review(reward_of):
    pandas = pytest.importorskip("pandas")
    for missing in (pandas.NA, pandas.NaT):
        with pytest.warns(RuntimeWarning, match=f"row 0: a review is {missing}, not text"):
            assert trainer_call(reward_of(), [GOOD], reviews=[["warm", missing]]) == [None]


def test_a_bad_row_may_have_a_stated_value(reward_of):
    with pytest.warns(RuntimeWarning):
        assert trainer_call(reward_of(failed=-1.0), [GOOD], reviews=[None]) == [-1.0]


def test_reviews_may_be_objects_with_a_text(reward_of):
    rows = [[{"text": "warm", "stars": 5}, Review("warm but dear"), "nothing of note"]]
    assert reward_of()(["p"], [GOOD], reviews=rows) == pytest.approx([2 / 3])


def test_conditions_see_the_fields_of_reviews():
    rows = [{"text": "Warm.", "rating": 1, "id": 7}, {"text": "They leak.", "rating": 5, "id": 8}]
    for where in ("rating <= 2", "id = 7"):
        reward = PrevalenceReward("rouge1-precision", reviews_where=where)
        assert reward(None, ["Warm.", "They leak."], reviews=[rows] * 2) == [1.0, 0.0]
    # Equal texts with other ratings are other reviews.
    reward = PrevalenceReward("rouge1-precision", reviews_where="rating <= 2")
    turned = [{**row, "rating": 6 - row["rating"]} for row in rows]
    assert reward(None, ["Warm."] * 2, reviews=[rows, turned]) == [1.0, 0.0]


def test_a_condition_that_leaves_no_review_is_a_bad_row(reward_of):
    reward = reward_of(reviews_where="rating <= 2", failed=-2.0)
    rows = [[{"text": "warm", "rating": 1}], [{"text": "warm", "rating": 5}]]
    with pytest.warns(RuntimeWarning, match="row 1: no review satisfies rating<=2;"):
        assert reward(None, [GOOD] * 2, reviews=rows) == [1.0, -2.0]
    assert (reward.tally.failed, reward.tally.unscorable, reward.tally.scored) == (1, 0, 1)


def test_a_completion_without_a_statement_that_satisfies_earns_nothing(reward_of):
    reward = reward_of(statements_where="text has warm")
    assert trainer_call(reward, [GOOD, WRONG]) == [0.75, 0.0]
    assert (reward.tally.failed, reward.tally.unscorable) == (0, 1)


def test_completions_have_no_labels():
    with pytest.raises(ConfigurationError, match="no labels to read aspect from"):
        PrevalenceReward("rouge1-precision", statements_where="aspect = fit and text has warm")


@pytest.mark.parametrize(
    "bad",
    [None, [], chat(None), "so long", "One. Two. Three."],
    ids=repr,
)
def test_a_completion_that_cannot_be_scored_earns_nothing(reward_of, fake_scorer, answers, bad):
    scorer = fake_scorer(answers, too_long=frozenset({"so long"}))
    reward = reward_of(scorer=scorer, max_sentences=2)
    assert trainer_call(reward, [bad, GOOD]) == [0.0, 0.75]
    assert (reward.tally.unscorable, reward.tally.scored) == (1, 1)
    assert trainer_call(reward_of(unscorable=None, max_sentences=2), ["One. Two. Three."]) == [None]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([{"body": "warm"}], r"review 0.text is missing; give a string"),
        ({"text": "warm"}, "the reviews are dict: give a list of texts"),
        ([101, 202], "review 0 is int, not text: give a string"),
        (3.5, "the reviews are float: give a list of texts"),
    ],
)
def test_reviews_of_a_wrong_kind_in_every_row_are_a_mistake_of_the_caller(reward_of, bad, message):
    reward = reward_of()
    with pytest.raises(ConfigurationError, match=f"no row can be read: row 0: {message}"):
        trainer_call(reward, [GOOD, MIXED], reviews=[bad, bad])
    with pytest.warns(RuntimeWarning) as caught:
        assert trainer_call(reward, [GOOD, MIXED], reviews=[bad, None]) == [None, None]
    assert re.match(f"row 0: {message}", str(caught[0].message))
    assert str(caught[1].message).startswith("row 1: the reviews are None: give a list of texts")
    # All completions of a call may be about one product, which may lack reviews.
    with pytest.warns(RuntimeWarning, match="row"):
        assert trainer_call(reward, [GOOD] * 4, reviews=[None, NAN, [], ["", None]]) == [None] * 4


MISWIRED = [
    (7, "completion is int"),
    (NAN, "completion is float"),
    (b"warm", "completion is bytes"),
    ([101, 202], "completion is list of int"),
    ([GOOD], "completion is list of str"),
    (np.array([101, 202]), "completion is ndarray"),
    ({"content": GOOD}, "completion has no message with the role 'assistant'"),
    ([{"role": "user", "content": GOOD}], "completion has no message with the role 'assistant'"),
    (chat(5), "assistant's last message holds int"),
    (chat([GOOD]), "assistant's last message holds list of str"),
    (chat([{"type": "image", "text": GOOD}]), "message holds parts of the type 'image' alone"),
    (chat([{"body": GOOD}]), "assistant's last message holds parts of the type None alone"),
]


@pytest.mark.parametrize(("bad", "message"), MISWIRED, ids=[message for _, message in MISWIRED])
def test_completions_of_a_kind_that_holds_no_text_are_a_mistake_of_the_caller(
    reward_of, bad, message
):
    reward = reward_of()
    with pytest.raises(ConfigurationError, match=f"row 0: the .*{message}.*: give"):
        trainer_call(reward, [bad, bad])
    assert reward.tally.rows == 0
    with pytest.warns(RuntimeWarning, match=f"row 1: the .*{message}.*; this completion") as caught:
        assert trainer_call(reward, [GOOD, bad, bad]) == [0.75, 0.0, 0.0]
    assert (len(caught), caught[0].filename) == (1, __file__)
    # Once is enough, and bad reviews are another matter.
    assert trainer_call(reward, [bad, None]) == [0.0, 0.0]
    with pytest.warns(RuntimeWarning, match="row 0: the reviews"):
        assert trainer_call(reward, [GOOD], reviews=[None]) == [None]


def test_a_failing_model_is_no_bad_row(tmp_path):
    reward = PrevalenceReward(str(tmp_path / "nowhere"), device="cpu")
    with pytest.raises(ModelError):
        trainer_call(reward)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "low"])
def test_stated_values_are_numbers(value):
    with pytest.raises(ConfigurationError, match="finite"):
        PrevalenceReward(failed=value)
    with pytest.raises(ConfigurationError, match="finite"):
        PrevalenceReward(unscorable=value)


def test_bounds_are_not_negative():
    with pytest.raises(ConfigurationError, match="negative"):
        PrevalenceReward(kept_pairs=-1)


def test_no_completions_no_rewards(reward_of):
    reward = reward_of()
    assert trainer_call(reward, []) == []
    assert not reward.loaded


def test_each_distinct_pair_of_a_group_is_asked_once(reward_of, fake_scorer, answers):
    scorer = fake_scorer(answers)
    reward = reward_of(scorer=scorer, kept_pairs=0)
    trainer_call(reward, [GOOD] * 8 + [MIXED] * 8)
    assert len(scorer.asked) == len(set(scorer.asked))
    # Statement and earlier sentences of MIXED: 4 + 6; then 2 sentences that count by 4 reviews.
    assert len(scorer.asked) == 4 + 6 + 2 * 4


def test_what_was_asked_is_kept_across_calls(reward_of, fake_scorer, answers):
    scorer = fake_scorer(answers)
    reward = reward_of(scorer=scorer)
    first = trainer_call(reward)
    asked = len(scorer.asked)
    assert trainer_call(reward) == first
    assert len(scorer.asked) == asked


def tables_of(scorer):
    """The table of texts of each call that a scorer gets from now on."""
    tables, usual = [], scorer.score
    scorer.score = lambda texts, *a, **k: (tables.append(texts), usual(texts, *a, **k))[1]
    return tables


def test_what_is_kept_has_a_bound(reward_of, fake_scorer, answers, monkeypatch):
    stores = []

    class Noted(batch_module.MemoryCache):
        def __init__(self, pairs):
            super().__init__(pairs)
            stores.append(self)

    monkeypatch.setattr(batch_module, "MemoryCache", Noted)
    scorer = fake_scorer(answers)
    tables = tables_of(scorer)
    reward = reward_of(scorer=scorer, kept_pairs=3, kept_characters=30)
    for _ in range(3):
        assert trainer_call(reward) == pytest.approx(EXPECTED)
    assert list(map(len, stores)) == [3]
    most = sum(map(len, [*COMPLETIONS, *REVIEWS, "I bought a pair of boots."]))
    assert tables[-1].characters <= 30 + most
    trainer_call(reward, ["Something else entirely, of some length."])
    assert tables[-1].characters < most


def test_the_table_of_texts_is_kept_below_its_bound(reward_of, fake_scorer, answers):
    scorer = fake_scorer(answers)
    tables = tables_of(scorer)
    reward = reward_of(scorer=scorer, kept_pairs=0)
    trainer_call(reward)
    asked = len(tables)
    assert len(tables[0]) > 0
    trainer_call(reward)
    assert len(tables) == 2 * asked > 0
    assert all(table is tables[0] for table in tables)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(range(4)), min_size=1, max_size=12), st.randoms())
def test_a_reward_does_not_depend_on_the_batch(order, random):
    groups = [REVIEWS, REVIEWS[:2], REVIEWS[::-1]]
    reward = PrevalenceReward("rouge1-precision", kept_pairs=5, kept_characters=50)
    rows = [(COMPLETIONS[k], random.choice(groups)) for k in order]
    together = reward(None, [c for c, _ in rows], reviews=[r for _, r in rows])
    assert together == [reward(None, [c], reviews=[r])[0] for c, r in rows]


def test_one_round_gives_the_same_rewards(reward_of, fake_scorer, answers):
    scorer = fake_scorer(answers)
    rounds = []
    usual = scorer.score
    scorer.score = lambda *a, **k: (rounds.append(len(a[1])), usual(*a, **k))[1]
    assert trainer_call(reward_of(scorer=scorer)) == pytest.approx(EXPECTED)
    assert len(rounds) == 2
    rounds.clear()
    assert trainer_call(reward_of(scorer=scorer, latency=True)) == pytest.approx(EXPECTED)
    assert len(rounds) == 1


def test_metrics_are_logged(reward_of):
    logged = {}
    trainer_call(reward_of(max_sentences=4), [*COMPLETIONS, None], log_metric=logged.__setitem__)
    # Sentences: 1 + 4 + 2 + 0. MIXED has one redundant and one trivial; "cold" has no support
    # and three reviews against it.
    assert logged == pytest.approx(
        {
            "prevalence/prevalence": sum(EXPECTED) / 4,
            "prevalence/sentences": 7 / 4,
            "prevalence/trivial": 1 / 7,
            "prevalence/redundant": 1 / 7,
            "prevalence/unsupported": 1 / 7,
            "prevalence/contradicted": 1 / 7,
            "prevalence/empty": 1 / 5,
            "prevalence/failed": 0.0,
            "prevalence/unscorable": 1 / 5,
        }
    )


def test_what_became_of_each_sentence_is_logged_beside_the_completions(reward_of):
    logged = {}
    reward = reward_of(max_sentences=4)
    rewards = trainer_call(reward, [*COMPLETIONS, None], log_extra=logged.__setitem__)
    (column,) = logged.values()
    assert list(logged) == ["prevalence/sentences"]
    assert column[:4] == [
        "3/4",
        "3/4 · repeats 0 · trivial · 1/4",
        "0/4, 3 against · 1/4",
        "no sentence",
    ]
    assert column[4] == "row 4: the completion is empty: give a string or a list of messages"
    counted = reward.tally
    outcomes = trainer_call(reward.outcomes, [*COMPLETIONS, None])
    assert reward.tally == counted
    assert [getattr(o, "prevalence", None) for o in outcomes[:3]] == rewards[:3]
    assert outcomes[-1].error == column[-1]


def test_a_batch_of_masked_sentences_logs_that_none_is_contradicted(reward_of):
    logged = {}
    trainer_call(reward_of(), ["I own boots."], log_metric=logged.__setitem__)
    assert logged["prevalence/trivial"] == 1.0
    assert logged["prevalence/contradicted"] == 0.0


def test_a_model_without_contradictions_logs_no_share_of_them(reward_of, fake_scorer, answers):
    logged = {}
    reward = reward_of(scorer=fake_scorer(answers, three_way=False))
    trainer_call(reward, log_metric=logged.__setitem__)
    assert "prevalence/contradicted" not in logged
    assert "prevalence/unsupported" in logged


@pytest.fixture
def opened(monkeypatch):
    """The scorers that are opened from now on; whoever clears the list holds none."""
    scorers, usual = [], ScorerOptions.open

    def noted(options):
        scorers.append(usual(options))
        return scorers[-1]

    monkeypatch.setattr(ScorerOptions, "open", noted)
    return scorers


def test_loading_checks_the_options_against_the_model():
    reward = PrevalenceReward("rouge1-precision", kept_pairs=0)
    assert reward.load() is reward
    assert reward.loaded
    shaped = PrevalenceReward("rouge1-precision", shaping=Shaping(contested=0.5))
    with pytest.raises(ConfigurationError, match="need a model with a contradiction class"):
        shaped.load()
    with pytest.raises(ModelError, match="leave packing on auto"):
        PrevalenceReward(packing="padded", device="cpu").load()


def test_it_loads_on_first_use_and_is_released(opened):
    reward = PrevalenceReward("rouge1-precision")
    assert not reward.loaded
    first = trainer_call(reward)
    assert reward.loaded
    held = weakref.ref(opened.pop())
    assert not opened
    gc.collect()
    assert held() is not None
    reward.release()
    gc.collect()
    assert held() is None
    assert not reward.loaded
    assert trainer_call(reward) == first


def test_a_pickle_carries_the_options_alone():
    reward = PrevalenceReward("rouge1-precision", name="mine", shaping=Shaping(sentences=3))
    expected = trainer_call(reward)
    assert len(pickle.dumps(reward)) < 4096
    again = pickle.loads(pickle.dumps(reward))
    assert not again.loaded
    assert again.tally.scored == 0
    assert (again.__name__, again.shaping) == ("mine", reward.shaping)
    assert trainer_call(again) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_starts_afresh(opened):
    reward = PrevalenceReward("rouge1-precision")
    expected = trainer_call(reward)
    queue = multiprocessing.get_context("fork").Queue()

    def child():
        queue.put((reward.loaded, trainer_call(reward)))

    (scorer,) = opened
    usual, inside, released = scorer.score, threading.Event(), threading.Event()

    def waits(*arguments, **options):
        inside.set()
        assert released.wait(120)
        return usual(*arguments, **options)

    scorer.score = waits
    with ThreadPoolExecutor(1) as pool:
        # In the middle of a call, in a thread that the child does not have: it must not wait.
        call = pool.submit(trainer_call, reward, ["Not asked before."])
        try:
            assert inside.wait(60)
            process = multiprocessing.get_context("fork").Process(target=child)
            process.start()
            assert queue.get(timeout=60) == (False, expected)
            process.join(60)
        finally:
            released.set()
        assert len(call.result(60)) == 1
    assert process.exitcode == 0
    assert reward.loaded


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_loads_a_model_though_the_parent_has_used_one():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    reward = PrevalenceReward()
    expected = trainer_call(reward)
    queue = multiprocessing.get_context("fork").Queue()

    def child():
        with pytest.warns(RuntimeWarning, match="a forked process computes with one thread"):
            queue.put(trainer_call(reward))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    try:
        assert queue.get(timeout=120) == pytest.approx(expected)
        process.join(60)
    finally:
        process.kill()
        torch.set_num_threads(threads)
    assert process.exitcode == 0


def test_columns_of_single_texts_are_refused(reward_of):
    with pytest.raises(ConfigurationError, match=r"'reviews' holds single texts: give a list of"):
        trainer_call(reward_of(), [GOOD, WRONG], reviews=["warm and dry", "warm"])
    with pytest.raises(ConfigurationError, match="the completions are str: give a list"):
        reward_of()(completions="Warm", reviews=[REVIEWS] * 4)
    with pytest.raises(ConfigurationError, match="the completions are NoneType: give a list"):
        reward_of()(["a prompt"], None, reviews=[REVIEWS])
    with pytest.raises(ConfigurationError, match=r"the model is 'rouge1-precision': give Scorer"):
        batch_module.BatchScorer("rouge1-precision")


def test_threads_take_turns(reward_of, fake_scorer, answers):
    scorer = fake_scorer(answers)
    inside, usual = [], scorer.score

    def watched(*arguments, **options):
        inside.append(threading.get_ident())
        found = usual(*arguments, **options)
        assert inside.pop() == threading.get_ident()
        return found

    scorer.score = watched
    reward = reward_of(scorer=scorer, kept_pairs=0)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: trainer_call(reward), range(12)))
    assert results == [results[0]] * 12
    assert reward.tally.scored == 12 * 4


def test_the_asynchronous_reward_leaves_the_loop_free(reward_of, fake_scorer, answers):
    scorer = fake_scorer(answers)
    released, usual = threading.Event(), scorer.score

    def waits(*arguments, **options):
        assert released.wait(60)
        return usual(*arguments, **options)

    scorer.score = waits
    reward = reward_of(scorer=scorer).asynchronous()
    assert inspect.iscoroutinefunction(reward.__call__)
    assert reward.__name__ == "prevalence"
    assert pickle.loads(pickle.dumps(PrevalenceReward().asynchronous())).__name__ == "prevalence"

    async def main():
        task = asyncio.create_task(trainer_call(reward))
        await asyncio.sleep(0)
        released.set()
        return await task

    assert asyncio.run(main()) == pytest.approx(EXPECTED)


def test_the_signature_names_the_shaping(reward_of):
    plain = reward_of().signature
    assert plain.startswith("prev|nli:fake@1|thr:0.5|trivial:name")
    shaped = reward_of(shaping=Shaping(sentences=3, heard=0.5)).signature
    assert "|reward-sentences:3|reward-heard:0.5|v:" in shaped


def within_answer(text):
    return re.search("<answer>(.*)</answer>", text)[1]


def test_the_summary_may_be_taken_out_of_a_completion(reward_of):
    reward = reward_of(extract=within_answer)
    texts = [f"I will be brief.<answer>{GOOD}</answer> Done.", "<answer></answer>"]
    assert trainer_call(reward, [texts[0], chat(texts[0]), texts[1]]) == [0.75, 0.75, 0.0]
    assert (reward.tally.scored, reward.tally.empty) == (3, 1)
    again = pickle.loads(pickle.dumps(PrevalenceReward("rouge1-precision", extract=within_answer)))
    assert trainer_call(again, texts[:1], reviews=[["They are warm."]]) == [1.0]


def test_a_completion_without_a_summary_to_take_is_no_failure_of_the_run(reward_of):
    reward = reward_of(extract=within_answer)
    with pytest.warns(RuntimeWarning, match="row 0: extract failed with TypeError .*; this compl"):
        assert trainer_call(reward, [GOOD, MIXED]) == [0.0, 0.0]
    assert trainer_call(reward, [MIXED, GOOD]) == [0.0, 0.0]
    assert reward.tally.unscorable == 4
    with pytest.warns(RuntimeWarning, match="extract gave NoneType, not text: let it return a s"):
        assert trainer_call(reward_of(extract=lambda text: None), [GOOD]) == [0.0]
    with pytest.raises(ConfigurationError, match="extract is 'answer': give a function from"):
        reward_of(extract="answer")


def test_a_list_of_reviews_that_completions_share_is_checked_once(reward_of, monkeypatch):
    seen, usual = [], batch_module.checked_reviews
    monkeypatch.setattr(
        batch_module, "checked_reviews", lambda found: (seen.append(found), usual(found))[1]
    )
    reward = reward_of()
    assert trainer_call(reward, [GOOD] * 8) == [0.75] * 8
    assert len(seen) == 1
    # Other lists of the same reviews are the same product.
    assert trainer_call(reward, [GOOD] * 2, reviews=[[*REVIEWS], [*REVIEWS]]) == [0.75] * 2
    assert len(seen) == 3
    with pytest.warns(RuntimeWarning, match="row 0: a review is None"):
        assert trainer_call(reward, [GOOD] * 2, reviews=[["warm", None]] * 2) == [None] * 2


def test_texts_in_another_language_are_warned_of_once():
    german = ["Die Stiefel sind sehr warm und bequem, aber sie sind nicht ganz dicht. " * 3] * 2
    reward = PrevalenceReward("rouge1-precision")
    with pytest.warns(RuntimeWarning, match="row 1: the reviews or a summary are prob") as caught:
        trainer_call(reward, [GOOD] * 3, reviews=[REVIEWS, german, german])
    assert (len(caught), caught[0].filename) == (1, __file__)
    trainer_call(reward, [GOOD], reviews=[german])
    for options in ({"language": "de"}, {"any_language": True}):
        trainer_call(PrevalenceReward("rouge1-precision", **options), [GOOD], reviews=[german])


def test_the_embedded_model_agrees_with_the_metric():
    reviews = ["My feet stayed dry all day.", "Water came in after an hour.", "Dry and warm."]
    texts = ["They keep your feet dry.", "They leak. They are warm."]
    reward = PrevalenceReward(device="cpu")
    metric = OpinionPrevalence(device="cpu")
    expected = [metric.score(reviews, text, name="pair of boots").prevalence for text in texts]
    rows = {"reviews": [reviews] * 2, "name": ["pair of boots"] * 2}
    assert reward(None, texts, **rows) == expected
    assert reward(None, texts[::-1], **rows) == expected[::-1]
