"""What a reward may be told: the options of every scorer and of scoring."""

from __future__ import annotations

import inspect
import json
import pickle

import pytest

from prevalence.errors import ConfigurationError
from prevalence.nli.recheck import RecheckedScorer
from prevalence.rewards import BatchScorer, PrevalenceReward, ScorerOptions, Shaping
from prevalence.scorers.registry import open_scorer

REVIEWS = [["Warm boots. They leak.", "Warm and dry."]]


@pytest.fixture
def opened(monkeypatch, fake_scorer):
    """What models are opened with."""
    seen = []

    def open_model(model, **options):
        seen.append({"model": model, **options})
        return fake_scorer()

    monkeypatch.setattr("prevalence.nli.scorer.NLIScorer", open_model)
    monkeypatch.setattr("prevalence.nli.self_test.self_test", lambda *_, **__: False)
    return seen


def test_a_reward_takes_the_options_of_scorers(opened):
    given = {"packing": "padded", "labels": ["a", "b"], "windows": 9, "max_length": 64,
             "batch_tokens": 99, "dtype": "bfloat16"}  # fmt: skip
    reward = PrevalenceReward("m", device="cpu", recheck=False, **given)
    assert reward(completions=["Warm boots."], reviews=REVIEWS) is not None
    assert opened == [{"model": "m", "threshold": None, "device": "cpu", **given}]


@pytest.mark.parametrize("recheck", [True, False])
def test_a_reward_may_leave_the_recheck_out(opened, fake_scorer, recheck, monkeypatch):
    def doubtful(model, **options):
        return fake_scorer(doubt=0.1)

    monkeypatch.setattr("prevalence.nli.scorer.NLIScorer", doubtful)
    monkeypatch.setattr("prevalence.nli.self_test.self_test", lambda *_, **__: False)
    found = ScorerOptions(model="m", device="cpu", dtype="float16", recheck=recheck).open()
    assert isinstance(found, RecheckedScorer) is recheck


def test_a_reward_takes_a_calibration(tmp_path):
    scorer = open_scorer("rouge1-precision")
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(calibration(scorer)))
    reward = PrevalenceReward(calibration=path, trivial=None)
    assert "thr:0.8" in reward.signature
    assert pickle.loads(pickle.dumps(reward)).signature == reward.signature
    with pytest.raises(ConfigurationError, match="exclude each other"):
        PrevalenceReward(calibration=path, threshold=0.5)(completions=["x"], reviews=REVIEWS)


def calibration(scorer):
    from prevalence.scorers.calibrated import Calibration

    return Calibration(
        scorer="rouge1-precision",
        scorer_digest=scorer.traits.digest.hex(),
        scorer_signature=scorer.traits.signature,
        threshold=0.8,
        score_map=None,
        source={},
        dev={},
        test=None,
    ).to_json()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pakcing": "padded"}, "no option 'pakcing'; did you mean packing"),
        ({"shapng": None}, "no option 'shapng'; did you mean shaping"),
        ({"shaping": {"heard": 0.5}}, "must be a Shaping or None, not {'heard': 0.5}"),
        ({"heard": 0.5}, r"give shaping=Shaping\(heard=...\)"),
        ({"soft": True}, "no option 'soft'"),
        ({"full_matrix": True}, "no option 'full_matrix'"),
        ({"corrected": True}, "no option 'corrected'"),
        ({"evidence": True}, "no option 'evidence'"),
        ({"check_cuts": True}, "no option 'check_cuts'"),
    ],
)
def test_what_is_no_option_is_refused(options, said):
    with pytest.raises(ConfigurationError, match=said):
        PrevalenceReward("rouge1-precision", **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": 5}, "model must be a string, not 5"),
        ({"device": 0}, "device must be a string, not 0"),
        ({"cache": 5}, "cache must be a string or a Path, not 5"),
        ({"calibration": 5}, "calibration must be a string or a Path, not 5"),
        ({"scorer": "embedded"}, "str is not a scorer: derive it from"),
        ({"splitter": 1}, "splitter must be a string, not 1"),
        ({"language": 1}, "language must be a string, not 1"),
        ({"trivial": 1}, "trivial must be a string, not 1"),
        ({"reviews_where": 1}, "reviews_where must be a string, not 1"),
        ({"splitter": "sentences"}, "unknown sentence splitter 'sentences'"),
        ({"kept_pairs": "all"}, "what to keep between calls is 'all': give a whole number"),
    ],
)
def test_an_option_of_another_type_is_refused_at_once(options, said):
    with pytest.raises(ConfigurationError, match=said):
        PrevalenceReward(**options)


def test_batches_take_options_and_samples():
    with pytest.raises(ConfigurationError, match=r"options are {}: give ScoringOptions\(...\)"):
        BatchScorer(None, {})
    batches = BatchScorer(ScorerOptions(model="rouge1-precision"))
    with pytest.raises(ConfigurationError, match=r"row 0 is tuple: give Sample\(completion, rev"):
        batches.score([("Warm boots.", REVIEWS[0], None)])


def test_a_ready_scorer_takes_no_options_of_its_own(fake_scorer):
    with pytest.raises(ConfigurationError, match="a ready scorer takes no model, device"):
        PrevalenceReward("m", scorer=fake_scorer(), device="cpu")
    assert "|thr:0.3|" in PrevalenceReward(scorer=fake_scorer(), threshold=0.3).signature


def test_the_signature_in_python_shows_the_options():
    shown = inspect.signature(PrevalenceReward).parameters
    assert {"packing", "recheck", "calibration", "labels", "splitter"} <= set(shown)
    assert not {"soft", "full_matrix", "corrected", "evidence", "options"} & set(shown)


def test_shaping_decides_what_it_needs():
    reward = PrevalenceReward("rouge1-precision", shaping=Shaping(soft=True), trivial=None)
    assert "score:hard+soft" in reward.signature
