"""Maps from scores to probabilities."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prevalence.errors import ConfigurationError, InputError
from prevalence.scorers.calibrated import MAPS, IsotonicMap, LogitMap, fit_map, read_map

CASES = st.lists(
    st.tuples(st.integers(0, 64).map(lambda n: n / 64), st.booleans()), min_size=2, max_size=50
).filter(lambda rows: len({label for _, label in rows}) == 2)


def drawn(scale, shift, *, size=4000):
    """Scores, and labels that are positive with probability σ(scale · logit + shift)."""
    rng = np.random.default_rng(5)
    scores = rng.uniform(0.02, 0.98, size)
    odds = scale * np.log(scores / (1 - scores)) + shift
    return scores, rng.random(size) < 1 / (1 + np.exp(-odds))


def test_the_logit_maps_find_what_made_the_labels():
    temperature = fit_map("temperature", *drawn(0.5, 0.0))
    assert (temperature.scale, temperature.shift) == pytest.approx((0.5, 0.0), abs=0.05)
    platt = fit_map("platt", *drawn(1.5, -1.0))
    assert (platt.scale, platt.shift) == pytest.approx((1.5, -1.0), abs=0.15)


@pytest.mark.parity
def test_platt_is_logistic_regression_on_the_targets():
    linear = pytest.importorskip("sklearn.linear_model")
    scores, labels = drawn(1.5, -1.0, size=300)
    found = fit_map("platt", scores, labels)
    inputs = np.log(scores / (1 - scores))
    high = (labels.sum() + 1) / (labels.sum() + 2)
    low = 1 / ((~labels).sum() + 2)
    targets = np.where(labels, high, low)
    theirs = linear.LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
        np.r_[inputs, inputs][:, None], np.r_[np.ones(300), np.zeros(300)],
        sample_weight=np.r_[targets, 1 - targets],
    )  # fmt: skip
    assert (found.scale, found.shift) == pytest.approx(
        (theirs.coef_[0, 0], theirs.intercept_[0]), abs=1e-4
    )


@pytest.mark.parity
@settings(deadline=None, max_examples=50)
@given(rows=CASES)
def test_isotonic_equals_scikit_learn(rows):
    isotonic = pytest.importorskip("sklearn.isotonic")
    scores, labels = (np.array(column, float) for column in zip(*rows, strict=True))
    theirs = isotonic.IsotonicRegression(out_of_bounds="clip").fit(scores, labels)
    grid = np.linspace(0, 1, 33)
    assert fit_map("isotonic", scores, labels)(grid) == pytest.approx(theirs.predict(grid))


def fitted(kind, scores, labels):
    """The map, or None where scores fall as labels rise."""
    with suppress(InputError):
        return fit_map(kind, scores, labels)
    return None


@settings(deadline=None, max_examples=60)
@given(rows=CASES, kind=st.sampled_from(MAPS[1:]))
def test_maps_never_turn_an_order_and_stay_probabilities(rows, kind):
    scores, labels = (np.array(column) for column in zip(*rows, strict=True))
    found = fitted(kind, scores, labels)
    assume(found is not None)
    values = found(np.linspace(0, 1, 101))
    assert (np.diff(values) >= -1e-15).all()
    assert values.min() >= 0
    assert values.max() <= 1
    again = read_map(json.loads(json.dumps(found.to_json())))
    assert again == found


def test_separable_pairs_give_finite_maps():
    for kind in ("temperature", "platt"):
        found = fit_map(kind, [0.0, 0.2, 0.8, 1.0], [0, 0, 1, 1])
        assert np.isfinite(found(np.array([0.0, 0.5, 1.0]))).all()
    with pytest.raises(InputError, match="scores fall"):
        fit_map("platt", [0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1])
    with pytest.raises(InputError, match=r"in \[0, 1\]"):
        fit_map("isotonic", [-0.5, 1.0], [0, 1])


def test_an_unknown_map_is_refused():
    with pytest.raises(ConfigurationError, match="unknown map 'plat': choose from none, temp"):
        fit_map("plat", [0.1, 0.2], [0, 1])


def test_a_temperature_cannot_fit_scores_on_one_side():
    # Scores rise with labels, but no multiple of negative log-odds is positive for half of them.
    small, labels = [0.01, 0.02, 0.03, 0.04], [0, 1, 1, 1]
    with pytest.raises(InputError, match=r"one side of \.5; use platt or isotonic"):
        fit_map("temperature", small, labels)
    assert fit_map("platt", small, labels).scale > 0
    with pytest.raises(InputError, match="scores fall as labels rise"):
        fit_map("temperature", [0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1])


def test_none_is_no_map():
    assert fit_map("none", [0.1, 0.2], [0, 1]) is None
    assert read_map(None) is None


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "magic"},
        {"kind": "logit", "scale": 0, "shift": 0},
        {"kind": "logit", "scale": 1},
        {"kind": "logit", "scale": "NaN", "shift": 0},
        {"kind": "isotonic", "scores": [0.1, 0.1], "values": [0, 1]},
        {"kind": "isotonic", "scores": [0.1, 0.2], "values": [0.5, 0.1]},
        {"kind": "isotonic", "scores": [], "values": []},
        {"kind": "isotonic", "scores": [0.1], "values": [1.5]},
        {},
    ],
)
def test_damaged_maps_are_refused(record):
    with pytest.raises(InputError, match="calibration map"):
        read_map(record)


def test_maps_by_hand():
    assert LogitMap(1.0)(np.array([0.25])) == pytest.approx([0.25])
    # Temperature 2 halves the log-odds: logit .9 = ln 9, half of it ln 3, and σ(ln 3) = .75.
    assert LogitMap(0.5)(np.array([0.9])) == pytest.approx([0.75])
    assert IsotonicMap((0.2, 0.6), (0.0, 1.0))(np.array([0.1, 0.4, 0.9])).tolist() == [0, 0.5, 1]
