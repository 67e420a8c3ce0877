"""TRL's own trainer calls the reward, and the example's reward rises."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "train_reward.py"

# They deprecate parts of each other; nothing of ours can act on it.
pytestmark = pytest.mark.filterwarnings(
    "ignore::Warning:trl.*",
    "ignore::Warning:accelerate.*",
    "ignore::Warning:torch.*",
    "ignore::Warning:transformers.*",
)


@pytest.fixture
def needs_trl():
    pytest.importorskip("trl", reason="needs TRL: pip install 'prevalence[dev]'")


@pytest.fixture(scope="session")
def example():
    specification = importlib.util.spec_from_file_location("train_reward", EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    # Dataclasses look their module up while they are made.
    sys.modules["train_reward"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["train_reward"]


@pytest.mark.slow
@pytest.mark.usefixtures("needs_trl")
def test_the_reward_rises_on_an_easy_setting(example, capsys):
    (row,) = example.main(["--settings", "strict", "--steps", "25", "--seed", "1"])
    assert row["reward_last"] > row["reward_first"] + 0.15
    assert "strict: reward" in capsys.readouterr().out


@pytest.mark.usefixtures("needs_trl")
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_trainer_gets_and_logs_what_the_reward_says(example, tmp_path, asynchronous):
    from prevalence.rewards import PrevalenceReward

    reward = PrevalenceReward(scorer=example.KnownAnswers())
    watcher = example.Watcher()
    example.make_policy(tmp_path, seed=0)
    called = reward.asynchronous() if asynchronous else reward
    log = example.train(tmp_path, [called, watcher], steps=2, seed=0, batch=8)
    for row, texts in zip(log, watcher.seen, strict=True):
        columns = {"reviews": [example.REVIEWS] * 8, "name": [example.NAME] * 8}
        again = reward(None, texts, **columns)
        assert row["rewards/prevalence/mean"] == pytest.approx(sum(again) / 8, abs=1e-6)
        assert row["prevalence/prevalence"] == pytest.approx(sum(again) / 8, abs=1e-6)
        assert 0.0 <= row["prevalence/trivial"] <= 1.0


@pytest.mark.usefixtures("needs_trl")
def test_the_trainers_table_of_completions_says_what_became_of_each_sentence(example, tmp_path):
    import pandas

    from prevalence.rewards import PrevalenceReward

    reward = PrevalenceReward(scorer=example.KnownAnswers())
    example.make_policy(tmp_path, seed=0)
    example.train(tmp_path, [reward], steps=2, seed=0, batch=8, log_completions=True)
    table = pandas.concat(map(pandas.read_parquet, sorted(tmp_path.rglob("completions_*.parquet"))))
    assert len(table) == 16
    for text, fates in zip(table["completion"], table["prevalence/sentences"], strict=True):
        (row,) = reward.outcomes([text], reviews=[example.REVIEWS], name=[example.NAME])
        expected = [s.mask or f"{s.support}/10" for s in row.sentences] or ["no sentence"]
        assert [fate.split(", ")[0] for fate in fates.split(" · ")] == [
            fate.split(", ")[0] for fate in expected
        ]


def test_the_known_answers_are_those_of_the_claims(example):
    from prevalence import OpinionPrevalence

    metric = OpinionPrevalence(scorer=example.KnownAnswers(), soft=True)
    for sentence, (makers, deniers) in example.CLAIMS.items():
        row = metric.score(example.REVIEWS, sentence, name=example.NAME)
        assert set(row.sentences[0].supporting_reviews) == makers
        assert set(row.sentences[0].contradicting_reviews) == deniers
    repeated = f"They are comfortable. {example.REPEATED}"
    assert metric.score(example.REVIEWS, repeated).prevalence == pytest.approx(7 / 20)
    assert metric.score(example.REVIEWS, example.TRIVIAL, name=example.NAME).prevalence == 0
    assert metric.score(example.REVIEWS, example.HEDGED).prevalence == 0
    assert metric.score(example.REVIEWS, example.HEDGED).soft_prevalence == pytest.approx(0.48)


COMFY, DRY, VALUE = "They are comfortable.", "They keep feet dry.", "They are good value."
SMALL, LACES = "They run small.", "The laces come undone."
VAGUE, HEDGED = "Someone has an opinion of them.", "They could suit somebody."


@pytest.mark.parametrize(
    ("setting", "better", "worse"),
    [
        # Ten reviews; by hand, sums of supports over 10 n: each line is a claim of docs/rewards.md.
        ("plain", (1.0, [VAGUE]), (0.7, [COMFY])),
        ("strict", (0.7, [COMFY]), (0.0, [VAGUE])),
        ("strict", (0.7, [COMFY]), (0.6, [COMFY, DRY, VALUE])),
        ("floor", (0.6, [COMFY, DRY, VALUE]), (0.7 / 3, [COMFY])),
        ("floor", (0.6, [COMFY, DRY, VALUE]), (17 / 30, [COMFY, DRY, SMALL])),
        # One review denies COMFY, five deny VALUE.
        ("contradiction", (17 / 30 - 0.5 / 30, [COMFY, DRY, SMALL]), (0.5, [COMFY, DRY, VALUE])),
        # Everyone is heard but for review 9, until the laces come in.
        (
            "heard",
            (0.5 * 16 / 30 + 0.5 - 0.5 / 30, [COMFY, DRY, LACES]),
            (0.5 * 17 / 30 + 0.45 - 0.5 / 30, [COMFY, DRY, SMALL]),
        ),
        ("hard", (0.55, [COMFY, DRY, VALUE, SMALL]), (0.45, [HEDGED, COMFY, DRY, VALUE])),
    ],
)
def test_what_each_setting_prefers(example, setting, better, worse):
    assert example_rewards(example, setting, better[1], worse[1]) == pytest.approx(
        [better[0], worse[0]]
    )
    assert better[0] > worse[0]


def test_soft_prevalence_prefers_a_hedge(example):
    hedged, honest = example_rewards(
        example, "soft", [HEDGED, COMFY, DRY, VALUE], [COMFY, DRY, VALUE, SMALL]
    )
    assert hedged > honest


def example_rewards(example, setting, *summaries):
    from prevalence.rewards import PrevalenceReward

    reward = PrevalenceReward(scorer=example.KnownAnswers(), **example.SETTINGS[setting])
    size = len(summaries)
    columns = {"reviews": [example.REVIEWS] * size, "name": [example.NAME] * size}
    return reward(None, [" ".join(summary) for summary in summaries], **columns)
