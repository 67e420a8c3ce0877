import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prevalence import calibration
from prevalence.errors import InputError

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
CASES = st.lists(
    st.tuples(st.floats(0, 1, allow_nan=False), st.integers(0, 1)), min_size=2, max_size=40
).filter(lambda rows: len({label for _, label in rows}) == 2)


def test_auc_counts_ties_half() -> None:
    # pairs (positive, negative): .5 > .2 → 1, .5 = .5 → ½, .1 < both → 0; 1.5 of 4
    assert calibration.auc([0.5, 0.1, 0.2, 0.5], [1, 1, 0, 0]) == pytest.approx(1.5 / 4)


@UNHURRIED
@given(CASES)
def test_auc_equals_its_definition_over_all_pairs(rows: list[tuple[float, int]]) -> None:
    positive = [s for s, y in rows if y]
    negative = [s for s, y in rows if not y]
    wins = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
    scores, labels = zip(*rows, strict=True)
    assert calibration.auc(scores, labels) == pytest.approx(wins / len(positive) / len(negative))


def test_balanced_accuracy_is_strictly_greater() -> None:
    # at .5: recall 1/2 (only .9), specificity 2/2
    assert calibration.balanced_accuracy([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0], 0.5) == 0.75


@UNHURRIED
@given(CASES)
def test_best_threshold_is_the_best_of_all_cuts(rows: list[tuple[float, int]]) -> None:
    scores, labels = (np.array(column) for column in zip(*rows, strict=True))
    best = calibration.best_threshold(scores, labels)
    cuts = np.unique(scores)[:-1]
    reached = [calibration.balanced_accuracy(scores, labels, cut) for cut in cuts]
    assert best.balanced_accuracy == pytest.approx(max(reached, default=0.5))


def test_the_threshold_is_the_largest_negative_score_or_lies_midway() -> None:
    rows = ([0.0, 0.2, 0.6, 1.0], [0, 0, 1, 1])
    assert calibration.best_threshold(*rows) == calibration.Threshold(0.2, 1.0)
    middle = calibration.best_threshold(*rows, candidates="midpoints")
    assert middle == calibration.Threshold(pytest.approx(0.4), 1.0)


def test_calibration_error_by_hand() -> None:
    # bin 0: mean .05, share 0; bin 9: mean .95, share ½ → ½·.05 + ½·.45
    error = calibration.calibration_error([0.05, 0.05, 0.95, 0.95], [0, 0, 1, 0])
    assert error == pytest.approx(0.25)


@UNHURRIED
@given(st.lists(st.sampled_from("abcdefg"), min_size=7, max_size=60), st.integers(0, 9))
def test_folds_partition_the_groups(groups: list[str], seed: int) -> None:
    groups = [*"abcdefg", *groups]
    folds = calibration.grouped_folds(groups, folds=3, seed=seed)
    assert sorted(g for fold in folds for g in fold) == sorted(set(groups))
    assert all(folds)


@pytest.mark.parametrize("seed", range(10))
def test_folds_have_nearly_as_many_pairs_each(seed: int) -> None:
    groups = [*"a" * 9, *"b" * 5, *"c" * 4, "d"]
    folds = calibration.grouped_folds(groups, folds=2, seed=seed)
    assert sorted(sum(map(groups.count, fold)) for fold in folds) == [9, 10]


def test_one_class_and_too_few_groups_are_refused() -> None:
    with pytest.raises(InputError, match="both positive and negative"):
        calibration.auc([0.1, 0.2], [1, 1])
    with pytest.raises(InputError, match="at least as many groups"):
        calibration.grouped_folds(["a", "b"], folds=3, seed=0)
