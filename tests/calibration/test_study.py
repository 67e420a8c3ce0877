"""Scorers side by side: choose on the first set, report on the second or on held-out folds."""

from __future__ import annotations

import numpy as np
import pytest

from prevalence.calibration import Resampling, ScoredPairs, Settings, best_of, study
from prevalence.errors import ConfigurationError, InputError
from prevalence.labelled import JudgedPairs

QUICK = Resampling(resamples=50, trials=100, seed=7)


def judged(labels, *, products=6, relations=None):
    size = len(labels)
    return JudgedPairs(
        tuple(f"p{n}" for n in range(size)),
        tuple(f"h{n}" for n in range(size)),
        np.asarray(labels, np.bool_),
        np.asarray([f"g{n % products}" for n in range(size)]),
        np.asarray(relations or ["review"] * size),
    )


def scored(name, dev, test=None):
    return ScoredPairs(name, name.encode(), {"consistency": name}, np.asarray(dev), test)


def make(size=60, *, seed=0):
    """Labels, and a good and a bad scorer of them."""
    rng = np.random.default_rng(seed)
    labels = rng.random(size) < 0.5
    good = np.clip(0.5 * labels + rng.random(size) * 0.6, 0, 1)
    return labels, good, rng.random(size)


def test_the_second_set_is_judged_by_what_the_first_chose():
    dev, test = judged([0, 0, 1, 1]), judged([0, 1, 1, 0])
    row = study(
        dev, test,
        [[scored("a", [0.1, 0.2, 0.6, 0.8], np.array([0.1, 0.15, 0.7, 0.9]))]],
        Settings(resampling=QUICK),
    )[0]  # fmt: skip
    found = row.to_json()
    assert list(found) == ["scorer", "threshold", "dev", "test"]
    assert (found["scorer"], found["threshold"]) == ("a", 0.2)
    assert (found["dev"]["balanced_accuracy"], found["dev"]["auc"]) == (1.0, 1.0)
    assert "cross_validation" not in found["dev"]
    # Above .2: .7 (right) and .9 (wrong); of two positives and two negatives one each is right.
    shown = {name: found["test"][name] for name in ("n", "positives", "balanced_accuracy", "auc")}
    assert shown == {"n": 4, "positives": 2, "balanced_accuracy": 0.5, "auc": 0.5}


def test_of_alternatives_the_best_on_the_first_set_is_taken():
    labels, good, bad = make()
    rows = study(
        judged(labels), None, [[scored("bad", bad), scored("good", good)], [scored("bad", bad)]],
        Settings(resampling=QUICK),
    )  # fmt: skip
    assert [row.scored.name for row in rows] == ["good", "bad"]
    assert best_of(rows) is rows[0]
    crossed = rows[1].dev["cross_validation"]
    assert crossed["versus_best"]["scorer"] == "good"
    assert crossed["versus_best"]["balanced_accuracy"]["difference"] < 0
    assert "versus_best" not in rows[0].dev["cross_validation"]


def test_held_out_folds_are_decided_by_the_others():
    labels, good, _ = make()
    row = study(judged(labels), None, [[scored("a", good)]], Settings(resampling=QUICK, folds=3))[0]
    crossed = row.dev["cross_validation"]
    assert len(crossed["folds"]) == 3
    assert sum(fold["n"] for fold in crossed["folds"]) == crossed["pooled"]["n"] == 60
    assert crossed["balanced_accuracy"]["mean"] == pytest.approx(
        np.mean([fold["balanced_accuracy"] for fold in crossed["folds"]])
    )
    # Scores of one scorer keep their scale, so the pooled area is that of the set.
    assert crossed["pooled"]["auc"] == pytest.approx(row.dev["auc"])
    assert crossed["pooled"]["balanced_accuracy"] <= row.dev["balanced_accuracy"]


def test_the_choice_between_alternatives_is_made_anew_for_each_fold():
    # Each alternative is perfect on two products and useless on the third of the pairs left.
    labels = [0, 1] * 12
    groups = np.repeat(["g0", "g1", "g2"], 8)
    pairs = JudgedPairs(("p",) * 24, ("h",) * 24, np.array(labels, bool), groups,
                        np.full(24, "review"))  # fmt: skip
    perfect = np.array(labels, float) * 0.9
    first = np.where(groups == "g0", 0.5, perfect)
    second = np.where(groups == "g1", 0.5, perfect)
    family = [scored("first", first), scored("second", second)]
    row = study(pairs, None, [family], Settings(resampling=QUICK, folds=3))[0]
    names = {fold["scorer"] for fold in row.dev["cross_validation"]["folds"]}
    assert names == {"first", "second"}


def test_pairs_that_one_scorer_cannot_read_are_left_out_for_all():
    labels, good, bad = make(12)
    hole = good.copy()
    hole[3] = np.nan
    rows = study(
        judged(labels), None, [[scored("hole", hole)], [scored("bad", bad)]],
        Settings(resampling=QUICK, folds=2),
    )  # fmt: skip
    assert [row.dev["unscored"] for row in rows] == [1, 1]
    assert [row.dev["n"] for row in rows] == [11, 11]


def test_other_relations_are_reported_at_the_same_threshold():
    labels = [0, 0, 1, 1, 0, 1, 0, 1]
    relations = ["review"] * 4 + ["product"] * 2 + ["sentence"] * 2
    scores = [0.1, 0.2, 0.6, 0.8, 0.3, 0.9, 0.0, 0.05]
    pairs = judged(labels, relations=relations, products=2)
    row = study(
        pairs, pairs, [[scored("a", scores, np.array(scores))]], Settings(resampling=QUICK)
    )[0]
    assert row.dev["n"] == 4
    others = row.dev["relations"]
    assert set(others) == {"product", "sentence"}
    # At .2 both product pairs are decided positive and both sentence pairs negative.
    assert [others[name]["balanced_accuracy"] for name in others] == [0.5, 0.5]
    assert others["product"]["own_threshold"] == {"value": 0.3, "balanced_accuracy": 1.0}
    alone = study(
        pairs, pairs, [[scored("a", scores, np.array(scores))]],
        Settings(resampling=QUICK, relation="product"),
    )[0]  # fmt: skip
    assert (alone.decider.threshold, alone.dev["n"]) == (0.3, 2)
    whole = study(
        pairs, pairs, [[scored("a", scores, np.array(scores))]],
        Settings(resampling=QUICK, relation="all"),
    )[0]  # fmt: skip
    assert whole.dev["n"] == 8
    assert set(whole.dev["relations"]) == {"review", "product", "sentence"}


def test_no_curve_need_rise_for_a_relation_beside_the_one_that_is_calibrated():
    labels = [0, 0, 1, 1, 0, 1, 1, 0]
    relations = ["review"] * 4 + ["product"] * 4
    scores = [0.1, 0.4, 0.3, 0.8, 0.9, 0.2, 0.1, 0.7]
    settings = Settings(resampling=QUICK, candidates="logistic")
    pairs, family = judged(labels, relations=relations), [scored("a", scores, np.array(scores))]
    row = study(pairs, pairs, [family], settings)[0]
    assert row.dev["relations"]["product"]["own_threshold"] is None
    wrong = judged([1 - label for label in labels], relations=relations)
    with pytest.raises(InputError, match=r"a: scores fall .*--candidates scores"):
        study(wrong, wrong, [family], settings)


def test_a_map_changes_probabilities_and_no_decision():
    labels, good, _ = make(200)
    plain, mapped = (
        study(judged(labels), None, [[scored("a", good**3)]],
              Settings(resampling=QUICK, score_map=kind))[0]
        for kind in ("none", "isotonic")
    )  # fmt: skip
    for name in ("balanced_accuracy", "auc", "f1"):
        assert mapped.dev[name] == plain.dev[name]
    for part in (mapped.dev, mapped.dev["cross_validation"]["pooled"]):
        assert part["ece"] < plain.dev["ece"]
        assert part["brier"] < plain.dev["brier"]


def test_a_single_product_has_no_folds():
    labels, good, _ = make(20)
    row = study(
        judged(labels, products=1), None, [[scored("a", good)]], Settings(resampling=QUICK)
    )[0]
    assert row.dev["cross_validation"] is None
    assert row.dev["intervals"] == {}


def test_sets_that_cannot_choose_are_refused():
    with pytest.raises(InputError, match="the first set has only positive pairs"):
        study(judged([1, 1]), None, [[scored("a", [0.1, 0.2])]], Settings())
    with pytest.raises(
        InputError, match=r"no readable pair of relation 'product'; it has 2 of 'rev"
    ):
        study(judged([0, 1]), None, [[scored("a", [0.1, 0.2])]], Settings(relation="product"))
    with pytest.raises(InputError, match="the second set has only negative pairs"):
        study(
            judged([0, 1]),
            judged([0]),
            [[scored("a", [0.1, 0.2], np.array([0.3]))]],
            Settings(),
        )
    with pytest.raises(InputError, match="only one label is left"):
        study(judged([0, 1], products=2), None, [[scored("a", [0.1, 0.2])]], Settings())
    with pytest.raises(InputError, match="a: scores fall as labels rise"):
        study(
            judged([0, 1] * 4),
            None,
            [[scored("a", [0.9, 0.1] * 4)]],
            Settings(score_map="platt"),
        )
    with pytest.raises(ConfigurationError, match="at least 2 folds"):
        Settings(folds=1)
    with pytest.raises(ConfigurationError, match="unknown map 'isotonik'"):
        Settings(score_map="isotonik")
    with pytest.raises(ConfigurationError, match="unknown threshold rule 'midpoint'"):
        Settings(candidates="midpoint")


def test_the_present_threshold_stands_beside_the_chosen_one():
    dev, test = judged([0, 0, 1, 1]), judged([0, 1, 1, 0])
    scores = np.array([0.1, 0.2, 0.6, 0.8]), np.array([0.1, 0.15, 0.7, 0.9])
    one = ScoredPairs("a", b"a", {}, *scores, 0.75)
    row = study(dev, test, [[one]], Settings(resampling=QUICK))[0]
    # Above .75: .8 of two positives; then .9, which is none.
    expected = {"threshold": 0.75, "balanced_accuracy": 0.75, "recall": 0.5, "specificity": 1.0}
    assert row.dev["present"] == expected
    assert row.test["present"] == expected | {
        "balanced_accuracy": 0.25, "recall": 0.0, "specificity": 0.5,
    }  # fmt: skip
    plain = study(dev, test, [[scored("a", *scores)]], Settings(resampling=QUICK))[0]
    assert "present" not in plain.dev


def test_scores_on_the_present_threshold_are_decided_in_single_precision():
    score = float(np.float32(0.3))
    one = ScoredPairs("a", b"a", {}, np.array([0.1, score, 0.6, 0.8]), None, 0.3)
    row = study(judged([0, 0, 1, 1], products=1), None, [[one]], Settings(resampling=QUICK))[0]
    assert row.dev["present"]["specificity"] == 1.0


def test_decisions_on_unseen_pairs_are_counted_by_product():
    dev = judged([0, 0, 1, 1])
    test = judged([0, 1, 1, 0, 1], products=2, relations=["review"] * 4 + ["sentence"])
    scores = np.array([0.1, 0.2, 0.6, 0.8]), np.array([0.1, 0.15, 0.7, 0.9, 0.9])
    row = study(dev, test, [[scored("a", *scores)]], Settings(resampling=QUICK, relation="all"))[0]
    # g0 has .1 (turned down) and .7 (found); g1 has .15 (missed) and .9 (a false alarm).
    assert row.products == ((1, 0, 1, 0), (0, 1, 0, 1))
    labels, good, _ = make()
    crossed = study(judged(labels), None, [[scored("a", good)]], Settings(resampling=QUICK))[0]
    pooled = crossed.dev["cross_validation"]["pooled"]
    names = ("true_positives", "false_negatives", "true_negatives", "false_positives")
    assert len(crossed.products) == 6
    assert [sum(column) for column in zip(*crossed.products, strict=True)] == [
        pooled[name] for name in names
    ]
    single = study(judged(labels, products=1), None, [[scored("a", good)]], Settings())[0]
    assert single.products == ()


def test_of_equally_accurate_scorers_the_one_of_larger_area_is_taken():
    # Both reach .75 above .1. Of four pairs of a positive and a negative, two and three are in
    # order.
    low = scored("low", [0.1, 0.9, 0.5, 0.6])
    high = scored("high", [0.1, 0.55, 0.5, 0.6])
    settings = Settings(resampling=QUICK)
    rows = study(judged([0, 0, 1, 1], products=1), None, [[low, high], [low], [high]], settings)
    assert [row.dev["balanced_accuracy"] for row in rows] == [0.75] * 3
    assert [row.scored.name for row in rows] == ["high", "low", "high"]
    assert best_of(rows[1:]) is rows[2]
