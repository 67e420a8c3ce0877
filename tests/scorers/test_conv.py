"""SummaC-Conv: histograms and heads by hand, files, training."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError

from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.nli.pairs import PairScorer
from prevalence.scorers.conv import (
    ConvHead,
    ConvScorer,
    ConvSettings,
    bin_edges,
    histogram,
    read_head,
    write_head,
)
from prevalence.scorers.conv_training import ConvTraining, fit_head, read_histograms, train_conv

A, B, C, D = ("They keep my feet dry.", "They run very small.", "Dry feet all day.",
              "Order one size up.")  # fmt: skip
ANSWERS = {(A, C): (0.9, 0.0), (B, C): (0.1, 0.8), (A, D): (0.2, 0.1), (B, D): (0.3, 0.3)}
EVEN2 = ConvSettings(bins="even2")


def head(settings=EVEN2, weight=(1.0, 3.0), bias=0.5, **more):
    final = np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.4]])
    return ConvHead(settings, np.array(weight), bias, final, np.array([0.0, -1.0]), **more)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(("aggregate", "features"), [
    # C: one score in each bin: 1 + 3 + .5; D: two in the lower: 2 + .5.
    ("mean", (3.5, 3.5, 3.5)), ("min", (2.5, 2.5, 2.5)), ("max", (4.5, 4.5, 4.5)),
    ("all", (2.5, 3.5, 4.5)),
])  # fmt: skip
def test_by_hand(fake_scorer, asked, aggregate, features):
    made_for = ConvSettings(bins="even2", aggregate=aggregate)
    scorer = ConvScorer([fake_scorer(ANSWERS)], head(made_for))
    (score,) = asked(scorer, (f"{A} {B}", f"{C} {D}")).entailment
    assert score == pytest.approx(sigmoid(np.dot([0.1, 0.2, 0.4], features) - 1), abs=1e-6)


def test_classes_and_models_stand_side_by_side(fake_scorer, asked):
    made_for = ConvSettings(bins="even2", classes="ecn")
    weight = np.arange(12.0)
    two = [fake_scorer(ANSWERS), fake_scorer({(A, C): (0.1, 0.8)})]
    scorer = ConvScorer(two, head(made_for, weight, 0.0))
    assert scorer.head.models == 2
    (score,) = asked(scorer, (A, C)).entailment
    # First model: e .9 upper, c 0 lower, n .1 lower: 1 + 2 + 4; second: e lower, c upper, n lower:
    # 6 + 9 + 10.
    assert score == pytest.approx(sigmoid(0.7 * 32 - 1), abs=1e-6)


def test_only_ten_units_are_read():
    rows = np.zeros((12, 2))
    rows[10:] = 100.0
    assert head().probability(rows) == head().probability(rows[:10])


def test_a_pair_without_units_is_a_single_zero(fake_scorer, asked):
    (score,) = asked(ConvScorer([fake_scorer()], head()), (A, "Dry.")).entailment
    assert score == pytest.approx(sigmoid(0.7 * 1.5 - 1), abs=1e-6)


@settings(deadline=None)
@given(
    values=st.lists(st.floats(0, 1, width=32) | st.sampled_from([0.9, 0.02, 0.5]), min_size=1),
    bins=st.sampled_from(["percentile", "even50", "even7", "even1"]),
)
def test_histograms_are_numpys(values, bins):
    edges = bin_edges(bins)
    expected, _ = np.histogram(values, bins=edges)
    assert histogram(np.array(values)[:, None], edges).tolist() == [expected.tolist()]


def test_bins_have_edges_from_0_to_1():
    # By rounding, a range of 1/49, 1/98 or 1/103 has a value too many.
    for bins, count in (("percentile", 23), ("even50", 50), ("even10", 10), ("even49", 49),
                        ("even98", 98), ("even103", 103)):  # fmt: skip
        edges = bin_edges(bins)
        assert (len(edges), edges[0], edges[-1]) == (count + 1, 0.0, 1.0)


@pytest.mark.parametrize("wrong", [
    {"bins": "odd3"}, {"bins": "even"}, {"bins": "even0"}, {"bins": "even99999"}, {"classes": "ce"},
    {"classes": ""}, {"classes": "x"}, {"granularity": "word"}, {"aggregate": "sum"},
])  # fmt: skip
def test_settings_out_of_range(wrong):
    with pytest.raises(ConfigurationError, match="unknown"):
        ConvSettings(**wrong)


def test_heads_and_models_must_go_together(fake_scorer):
    with pytest.raises(ConfigurationError, match="5 weights does not go with bins=even2"):
        head(weight=[1.0] * 5)
    with pytest.raises(ConfigurationError, match="not finite"):
        head(weight=[1.0, np.nan])
    with pytest.raises(ConfigurationError, match="reads 2 models and 1 are given"):
        ConvScorer([fake_scorer()], head(weight=[1.0] * 4))
    two_way = fake_scorer(three_way=False)
    with pytest.raises(ConfigurationError, match="reads the classes ec"):
        ConvScorer([two_way], head(ConvSettings(bins="even2", classes="ec"), [1.0] * 4))
    with pytest.raises(ConfigurationError, match="trained on fake@2, not on fake@1"):
        ConvScorer([fake_scorer()], head(nli="fake@2"))
    # The same weights in a folder of another name.
    assert ConvScorer([fake_scorer()], head(nli="other@1")).head.nli == "other@1"


def test_half_precision_is_refused(fake_scorer):
    inner = fake_scorer(doubt=0.05)
    with pytest.raises(ConfigurationError, match="summac-conv needs float32"):
        ConvScorer([inner], head())


def test_is_a_pair_scorer(fake_scorer):
    scorer = ConvScorer([fake_scorer()], head())
    assert isinstance(scorer, PairScorer)
    other = ConvScorer([fake_scorer()], head(bias=0.25))
    assert scorer.traits.digest != other.traits.digest
    assert scorer.traits.signature["consistency"] == "summac-conv"
    assert scorer.traits.signature["head"] != other.traits.signature["head"]
    assert (scorer.traits.threshold, scorer.traits.calibrated) == (0.5, False)


def test_files_are_read_back(tmp_path):
    wrote = head(nli="fake@1")
    write_head(wrote, tmp_path / "head.safetensors")
    again = read_head(tmp_path / "head.safetensors", settings={"bins": "even2"})
    assert again.digest == wrote.digest
    assert (again.nli, again.settings) == ("fake@1", EVEN2)
    with pytest.raises(ConfigurationError, match="made for bins=even2, not even4"):
        read_head(tmp_path / "head.safetensors", settings={"bins": "even4"})


def published(path, **changes):
    """A state dict like the authors' released one: 23 bins, one model."""
    import torch

    shapes = {"mlp.weight": (1, 23), "mlp.bias": (1,), "layer_final.weight": (2, 3),
              "layer_final.bias": (2,)} | changes  # fmt: skip
    torch.save({name: torch.full(size, 0.25) for name, size in shapes.items() if size}, path)
    return path


def test_the_authors_file_becomes_safetensors(tmp_path):
    found = read_head(published(tmp_path / "summac_conv.bin"))
    assert (found.models, found.settings) == (1, ConvSettings("percentile", "e", "sentence"))
    assert found.weight.tolist() == [0.25] * 23
    write_head(found, tmp_path / "head.safetensors")
    assert read_head(tmp_path / "head.safetensors").digest == found.digest


def test_a_file_that_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    for folder in ("none", "file"):
        with pytest.raises(ModelError, match="cannot be written"):
            write_head(head(), tmp_path / folder / "head.safetensors")

    def full(_, path, **__):
        path.write_bytes(b"half of it")
        raise SafetensorError("I/O error: No space left on device")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(ModelError, match="cannot be written: I/O error: No space left"):
        write_head(head(), tmp_path / "head.safetensors")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_that_would_run_code_is_refused(tmp_path):
    import pickle

    class Runs:
        def __reduce__(self):
            return print, ("it ran",)

    path = tmp_path / "evil.bin"
    path.write_bytes(pickle.dumps({"mlp.weight": Runs()}))
    with pytest.raises(ModelError, match="not a state dict of weights"):
        read_head(path)


@pytest.mark.parametrize(("changes", "said"), [
    ({"mlp.bias": None}, "holds mlp.weight, mlp.bias"), ({"mlp.weight": (1, 24)}, "24 weights"),
    ({"mlp.weight": (2, 23), "mlp.bias": (2,)}, "maps to 2 numbers"),
    ({"layer_final.weight": (2, 4)}, "from 3 numbers to 2"),
])  # fmt: skip
def test_other_state_dicts_are_refused(tmp_path, changes, said):
    with pytest.raises(ModelError, match=said):
        read_head(published(tmp_path / "x.bin", **changes))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(b"no")
    (tmp_path / "large.bin").write_bytes(bytes((1 << 24) + 1))
    for name, said in (("x.safetensors", "not safetensors"), ("y.bin", "no such file"),
                       ("large.bin", "too large")):  # fmt: skip
        with pytest.raises(ModelError, match=said):
            read_head(tmp_path / name)
    with pytest.raises(ConfigurationError, match="unknown settings binz"):
        read_head(published(tmp_path / "x.bin"), settings={"binz": "1"})


def test_training_learns_what_the_histograms_tell(fake_scorer):
    # High scores mean support here, whatever the texts say.
    claims = [f"Statement number {place}." for place in range(40)]
    labels = [place % 2 for place in range(40)]
    answers = {(A, claim): (0.905 if label else 0.2, 0.0)
               for claim, label in zip(claims, labels, strict=True)}  # fmt: skip
    inner = fake_scorer(answers)
    how = ConvTraining(steps=60)
    found = train_conv([inner], [A] * 40, claims, labels, training=how)
    again = train_conv([inner], [A] * 40, claims, labels, training=how)
    assert found.digest == again.digest
    assert found.nli == "fake@1"
    low, high = np.zeros((1, 23)), np.zeros((1, 23))
    low[0, 6], high[0, 8] = 1, 1  # the bins of 0.2 and 0.905
    assert found.probability(low) < 0.2
    assert found.probability(high) > 0.8
    other = train_conv([inner], [A] * 40, claims, labels,
                       training=dataclasses.replace(how, seed=14))  # fmt: skip
    assert other.digest != found.digest


def test_pairs_that_no_model_reads_teach_nothing(fake_scorer):
    claims = [C, D, "Endless statement."]
    inner = fake_scorer({(A, C): (0.9, 0.0)}, too_long=frozenset({claims[2]}))
    rows = read_histograms([inner], [A] * 3, claims, EVEN2)
    assert [part.tolist() for part in rows] == [[[0.0, 1.0]], [[1.0, 0.0]], []]
    assert np.isnan(head().probability(rows[2]))
    how = ConvTraining(steps=5)
    with_it, without = (
        train_conv([inner], [A] * count, claims[:count], [1, 0, 0][:count], settings=EVEN2,
                   training=how)
        for count in (3, 2)
    )  # fmt: skip
    assert with_it.digest == without.digest
    with pytest.raises(InputError, match="labels of both kinds"):
        train_conv([inner], [A] * 3, claims, [1, 1, 0], settings=EVEN2)


@pytest.mark.parametrize("aggregate", ["mean", "min", "max", "all"])
def test_the_trained_head_minimises_what_it_states(aggregate):
    """One step of training moves as the gradient of the head's own probability says."""
    random = np.random.default_rng(3)
    rows = [random.integers(0, 4, (count, 2)).astype(float) for count in (1, 3, 10, 2, 5, 4)]
    labels = np.array([1, 0, 1, 0, 1, 1], bool)
    made_for = ConvSettings(bins="even2", aggregate=aggregate)

    def loss(found):
        p = np.array([found.probability(part) for part in rows])
        nats = -np.log(np.where(labels, p, 1 - p))
        return nats[labels].mean() / 2 + nats[~labels].mean() / 2

    before, after = (
        fit_head(rows, labels, settings=made_for,
                 training=ConvTraining(steps=steps, learning_rate=1e-2, decay=0.0))
        for steps in (1, 200)
    )  # fmt: skip
    assert loss(after) < loss(before)


def test_training_input_is_checked():
    rows = [np.ones((1, 2))] * 2
    for labels in ([True, True], [True]):
        with pytest.raises(InputError, match="labels of both kinds"):
            fit_head(rows, np.array(labels), settings=EVEN2)
    with pytest.raises(InputError, match="2 premises and 1 hypotheses"):
        train_conv([], ["a", "b"], ["c"], [1, 0])
    for wrong in ({"steps": 0}, {"learning_rate": 0.0}, {"decay": -1.0}):
        with pytest.raises(ConfigurationError, match="positive"):
            ConvTraining(**wrong)


def test_a_view_of_few_numbers_fills_no_memory(tmp_path):
    torch = pytest.importorskip("torch")
    endless = torch.zeros(1).as_strided((1, 10**10), (0, 0))
    path = tmp_path / "head.bin"
    torch.save({"mlp.weight": endless}, path)
    with pytest.raises(ModelError, match="more numbers than a SummaC-Conv head has"):
        read_head(path)
