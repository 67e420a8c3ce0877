"""InfoLM beside torchmetrics, and its divergences by hand."""

import math
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.generative.divergences import MEASURES, Divergence
from prevalence.errors import ConfigurationError, ModelError

THEIRS = {
    "ab": "ab_divergence", "alpha": "alpha_divergence", "beta": "beta_divergence",
    "renyi": "renyi_divergence", "kl": "kl_divergence", "l1": "l1_distance", "l2": "l2_distance",
    "linf": "l_infinity_distance", "fisher-rao": "fisher_rao_distance",
}  # fmt: skip
NEGATED = {"alpha", "kl"}
READS = {"ab": "alpha beta", "alpha": "alpha", "beta": "beta", "renyi": "alpha"}


def torchmetrics_values(folder, pairs, *, idf, measure="ab", **parameters):
    """Values of the package, the distributions computed once for the measures asked."""
    infolm = pytest.importorskip("torchmetrics.functional.text.infolm").infolm
    return infolm(
        [summary for summary, _ in pairs], [other for _, other in pairs],
        model_name_or_path=str(folder), information_measure=THEIRS[measure], idf=idf,
        max_length=64, batch_size=8, verbose=False, return_sentence_level_score=True,
        **parameters,
    )[1].numpy()  # fmt: skip


def values(folder, pairs, **options):
    metric = get("infolm", model=str(folder), **options)
    examples = [Example(summary, (), (other,)) for summary, other in pairs]
    if hasattr(metric, "prepare"):
        metric.prepare(iter(examples))
    return metric.score(examples)


@pytest.mark.parity
@pytest.mark.parametrize("idf", [False, True])
def test_equal_to_torchmetrics(tiny, summary_pairs, idf):
    folder = tiny("masked")
    # torchmetrics sorts texts by length and does not undo it: these are in that order already.
    summary, other = (text.split() for text in summary_pairs[0])
    chosen = [(" ".join(summary[:size]), " ".join(other[:size])) for size in range(1, 8)]
    found = values(folder, chosen, **({"idf": ""} if idf else {}))
    theirs = torchmetrics_values(folder, chosen, idf=idf, alpha=1.0, beta=1.0)
    # What stands in every text weighs nothing: the first pair has no value, and there it is 0.
    assert np.isnan(found).tolist() == [idf] + [False] * 6
    np.testing.assert_allclose(np.nan_to_num(found), theirs, atol=1e-5)
    assert np.nanmax(found) - np.nanmin(found) > 1e-3


@pytest.mark.slow
@pytest.mark.parity
def test_a_hundred_real_summaries_are_torchmetrics_one_by_one(tiny, summary_pairs):
    module = pytest.importorskip("torchmetrics.functional.text.infolm")
    folder = tiny("masked")
    tokenizer, network = module._load_tokenizer_and_model(str(folder), "cpu")
    special = module._get_special_tokens_map(tokenizer)
    # Their beginnings: the package runs the model once for each token of each text. Divided by
    # 0.25, the wide logits of this model would show what float32 rounds off.
    short = [(" ".join(s.split()[:2]), " ".join(r.split()[:2])) for s, r in summary_pairs]

    def distribution(text):
        rows = tokenizer([text], return_tensors="pt")
        loader = module._get_dataloader(rows["input_ids"], rows["attention_mask"], False, 1, 0)
        return module._get_data_distribution(network, loader, 1.0, False, special, False)

    measure = module._InformationMeasure("ab_divergence", 1.0, 1.0)
    theirs = [float(measure(distribution(s), distribution(r))) for s, r in short]
    assert len(theirs) == 100
    np.testing.assert_allclose(values(folder, short, temperature="1"), theirs, atol=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize("measure", MEASURES)
def test_divergences_are_torchmetrics(measure):
    import torch

    module = pytest.importorskip("torchmetrics.functional.text.infolm")
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(40), 2)
    parameters = {name: 0.4 if name == "alpha" else 0.7 for name in READS.get(measure, "").split()}
    theirs = module._InformationMeasure(THEIRS[measure], **parameters)
    expected = float(theirs(torch.tensor(q)[None], torch.tensor(p)[None]))
    found = Divergence(measure=measure, **parameters)(p, q)
    assert found == pytest.approx(-expected if measure in NEGATED else expected, abs=1e-9)
    assert found > 0


def test_divergences_by_hand():
    p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    assert Divergence(measure="kl")(p, q) == pytest.approx(
        0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    )
    # alpha = beta = 1: minus the logarithm of a cosine.
    assert Divergence()(p, q) == pytest.approx(-math.log(0.5 / math.sqrt(0.5 * 0.82)))
    assert Divergence(measure="l1")(p, q) == pytest.approx(0.8)
    assert Divergence(measure="linf")(p, q) == pytest.approx(0.4)
    assert Divergence(measure="kl")(np.array([1.0, 0]), np.array([0, 1.0])) == math.inf


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # 0.5² / 0.9 + 0.5² / 0.1 = 25 / 9 for alpha = 2.
        ({"measure": "alpha", "alpha": 2}, (25 / 9 - 1) / 2),
        # 0.9² / 0.5 + 0.1² / 0.5 = 1.64 for alpha = -1.
        ({"measure": "alpha", "alpha": -1}, 0.64 / 2),
        ({"measure": "renyi", "alpha": 2}, math.log(25 / 9)),
        # beta = -0.5, sums of p^½, q^½ and p · q^-½.
        ({"measure": "beta", "beta": -0.5},
         -4 * math.log(2 * 0.5**0.5) + 2 * math.log(0.9**0.5 + 0.1**0.5)
         + 2 * math.log(0.5 * 0.9**-0.5 + 0.5 * 0.1**-0.5)),
    ],
)  # fmt: skip
def test_tokens_that_neither_text_can_have_change_nothing(options, expected):
    distance = Divergence(**options)
    p, q = np.array([0.5, 0.0, 0.5]), np.array([0.9, 0.0, 0.1])
    assert distance(p, q) == pytest.approx(expected)
    assert math.isnan(distance(np.full(2, math.nan), np.full(2, math.nan)))


@given(
    st.sampled_from(sorted(MEASURES)),
    st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    st.sampled_from([0.3, 0.5, 2.0]),
    st.sampled_from([0.3, 1.0, 2.0]),
)
def test_divergences_are_not_negative_and_0_for_equals(measure, first, second, alpha, beta):
    p, q = (np.array(part) / sum(part) for part in (first, second))
    distance = Divergence(measure=measure, alpha=alpha, beta=beta)
    assert distance(p, q) >= 0
    assert distance(p, p) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("scale", [1 - 1e-6, 1 + 1e-6])
@pytest.mark.parametrize("measure", sorted(MEASURES))
def test_sums_that_are_not_1_for_rounding_change_nothing(measure, scale):
    p, q = np.array([0.3, 0.5, 0.2]), np.array([0.1, 0.3, 0.6])
    distance = Divergence(measure=measure, alpha=0.5, beta=0.3)
    assert distance(scale * p, q / scale) == pytest.approx(distance(p, q), abs=1e-12)
    assert 0 <= distance(scale * p, scale * p) < 1e-6


def test_equal_texts_are_no_distance_apart_at_any_budget(tiny, pairs):
    folder = str(tiny("masked"))
    examples = [Example(summary, (), (other,)) for summary, other in pairs]
    whole = get("infolm", model=folder).score(examples)
    assert 0 <= whole[3] < 1e-6
    assert (whole[:3] > 1e-3).all()
    small = get("infolm", model=folder, runtime=Runtime(batch_tokens=20))
    np.testing.assert_allclose(small.score(examples), whole, atol=1e-5)
    assert np.isnan(small.score([Example("", (), ("Dry.",))])[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "hellinger"}, "choose ab, alpha"),
        ({"alpha": "-1"}, "their sum must not be 0"),
        ({"measure": "renyi", "alpha": "1"}, "alpha must be above 0 and not 1"),
        ({"measure": "kl", "beta": "2"}, "measure=kl has no beta"),
        ({"temperature": "0"}, "give a number above 0"),
        ({"alpha": "much"}, "alpha=much: give a number"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ConfigurationError, match=message):
        get("infolm", model="nowhere/to-be-found", **options)


def test_a_network_that_gives_no_number_is_one_line(tiny, tmp_path, pairs):
    broken = shutil.copytree(tiny("masked"), tmp_path / "broken")
    weights = load_file(broken / "model.safetensors")
    empty = {key: np.full_like(weight, np.nan) for key, weight in weights.items()}
    save_file(empty, broken / "model.safetensors", metadata={"format": "pt"})
    metric = get("infolm", model=str(broken), runtime=Runtime(dtype="bfloat16"))
    with pytest.raises(ModelError, match=r"gave no number for some texts; try --dtype float32$"):
        metric.score([Example(summary, (), (other,)) for summary, other in pairs])
