"""A scorer under a calibration."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.calibration import Calibration, read_calibration
from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.metric import decisions
from prevalence.nli.pairs import PairScorer, TextTable
from prevalence.scorers.calibrated import CalibratedScorer, IsotonicMap, LogitMap

MAPS = (
    None,
    LogitMap(0.4),
    LogitMap(1000.0, -300.0),
    LogitMap(2.0, -1.0),
    IsotonicMap((0.2, 0.5, 0.6), (0.1, 0.3, 0.3)),
    IsotonicMap((0.1, 0.2), (0.0, 1.0)),
)


def calibration(threshold=0.3, score_map=None, digest=b"fake"):
    return Calibration("fake", digest.hex(), {"nli": "fake@1"}, threshold, score_map)


def asked(scorer, answers):
    texts = TextTable()
    pairs = np.array([(texts.add(a), texts.add(b)) for a, b in answers], np.int64)
    return scorer.score(texts, pairs)


@settings(deadline=None, max_examples=80)
@given(
    scores=st.lists(st.floats(0, 1, width=32), min_size=1, max_size=20),
    place=st.integers(0, 19),
    score_map=st.sampled_from(MAPS),
)
def test_decisions_are_those_of_the_threshold_on_the_inner_scores(
    fake_scorer, scores, place, score_map
):
    threshold = min(scores[place % len(scores)], 0.999)
    answers = {("p", f"h{n}"): (score, 0.0) for n, score in enumerate(scores)}
    inner = fake_scorer(answers)
    scorer = CalibratedScorer(inner, calibration(threshold, score_map))
    assert isinstance(scorer, PairScorer)
    found = asked(scorer, answers).entailment
    raw = asked(inner, answers).entailment
    assert (decisions(found, scorer.traits.threshold) == decisions(raw, threshold)).all()
    order = np.argsort(raw, kind="stable")
    assert (np.diff(found[order]) >= 0).all()


def test_probabilities_are_mapped_and_contradiction_keeps_its_share(fake_scorer):
    answers = {("p", "h"): (0.9, 0.08), ("p", "sure"): (1.0, 0.0)}
    scorer = CalibratedScorer(fake_scorer(answers), calibration(0.5, LogitMap(0.5)))
    scores = asked(scorer, answers)
    # Half of the log-odds of .9 is .75; .08 of the .1 that was left is .2 of the .25 that is now.
    assert scores.entailment[0] == pytest.approx(0.75)
    assert scores.contradiction.tolist() == pytest.approx([0.2, 0.0])
    assert scorer.traits.threshold == pytest.approx(0.5)


def test_a_pair_that_cannot_be_read_stays_without_a_score(fake_scorer):
    inner = fake_scorer(too_long=frozenset("h"))
    scores = asked(CalibratedScorer(inner, calibration(0.5, LogitMap(0.5))), {("p", "h"): None})
    assert np.isnan(scores.entailment).all()
    assert scores.flags.any()


def test_the_signature_names_the_calibration(fake_scorer):
    inner = fake_scorer()
    plain, other = (
        CalibratedScorer(inner, calibration(0.3, score_map)) for score_map in (None, MAPS[1])
    )
    assert plain.traits.signature == {"nli": "fake@1", "calib": calibration(0.3).digest}
    assert plain.traits.signature != other.traits.signature
    assert plain.traits.digest != other.traits.digest
    assert plain.traits.threshold == 0.3
    assert plain.traits.calibrated
    assert not plain.traits.cached  # there is no cache that an interrupted run could name


def test_another_scorer_is_refused(fake_scorer):
    with pytest.raises(ModelError, match="run `prevalence calibrate` again"):
        CalibratedScorer(fake_scorer(), calibration(digest=b"other"))


def test_half_precision_doubt_follows_a_logit_map_and_refuses_steps(fake_scorer):
    inner = fake_scorer(doubt=0.05)
    mapped = CalibratedScorer(inner, calibration(0.3, LogitMap(2.0)))
    assert mapped.traits.doubt == pytest.approx(0.1)
    assert CalibratedScorer(inner, calibration(0.3)).traits.doubt == 0.05
    with pytest.raises(ConfigurationError, match="float32"):
        CalibratedScorer(inner, calibration(0.3, MAPS[-1]))


def test_a_map_makes_probabilities_of_any_score(fake_scorer):
    assert CalibratedScorer(fake_scorer(), calibration(0.3)).traits.probability
    inner = fake_scorer(probability=False)
    assert not CalibratedScorer(inner, calibration(0.3)).traits.probability
    assert CalibratedScorer(inner, calibration(0.3, LogitMap(2.0))).traits.probability


@pytest.mark.parametrize("score_map", MAPS)
def test_a_file_reads_back(tmp_path, score_map):
    path = tmp_path / "c.json"
    written = calibration(0.25, score_map)
    path.write_text(json.dumps(written.to_json()))
    assert read_calibration(path) == written
    assert read_calibration(path).digest == written.digest
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_calibration(path) == written


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "other"}, "not a calibration file"),
        ({"schema": 9}, "schema 9 is not 1"),
        ({"threshold": 1.5}, "must lie in"),
        ({"threshold": None}, "damaged"),
        ({"map": {"kind": "x"}}, "unknown kind"),
        ({"scorer_signature": 3}, "damaged"),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, message):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(calibration().to_json() | change))
    with pytest.raises((InputError, ConfigurationError), match=message) as caught:
        read_calibration(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"c\.json"):
        read_calibration(path)
    with pytest.raises(InputError, match=r"cannot be read \(No such file or directory\)$"):
        read_calibration(tmp_path / "missing.json")


def test_decisions_by_product_are_the_error_rates(fake_scorer, tmp_path):
    products = ((3, 1, 4, 0), (1, 3, 2, 2))
    made = Calibration(
        "fake", b"fake".hex(), {}, 0.3, LogitMap(2.0), {"pairs": "mine.jsonl", "test": None},
        products=products,
    )  # fmt: skip
    path = tmp_path / "c.json"
    path.write_text(json.dumps(made.to_json()))
    read = read_calibration(path)
    assert read.products == products
    traits = CalibratedScorer(fake_scorer({}), read).traits
    assert (traits.errors.sensitivity, traits.errors.specificity) == (0.5, 0.75)
    assert traits.errors.threshold == traits.threshold != 0.3
    assert traits.errors.source == "mine.jsonl"
    record = made.to_json()
    for damaged in (
        [[1, 2, 3]],
        [[1, 1, 0, 0]],
        [[1, 1, -1, 3]],
        [["x", 1, 1, 1]],
        [[1.5, 1, 1, 1]],
        [[10**400, 1, 1, 1]],
    ):
        path.write_text(json.dumps(record | {"products": damaged}))
        with pytest.raises(InputError, match="damaged calibration file"):
            read_calibration(path)
    # Files of before have no such counts.
    path.write_text(json.dumps({k: v for k, v in record.items() if k != "products"}))
    assert CalibratedScorer(fake_scorer({}), read_calibration(path)).traits.errors is None
