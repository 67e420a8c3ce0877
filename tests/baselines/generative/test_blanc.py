"""BLANC beside figures of the blanc package, and its parts by hand."""

import re
import shutil
from functools import cache

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from benchmarks import blanc_parity as parity
from prevalence.baselines import Example, get
from prevalence.baselines.generative.blanc import open_blanc_tune
from prevalence.baselines.generative.cloze import Masking, Pieces, Reader, score
from prevalence.baselines.generative.masked import Frame, logits_at, open_masked
from prevalence.baselines.generative.tuning import Tuning, training_rows, tuned
from prevalence.baselines.protocol import Runtime
from prevalence.errors import ConfigurationError, ModelError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return parity.build_tiny(tmp_path_factory.mktemp("blanc"))


@cache
def recorded():
    with np.load(parity.RECORD) as file:
        return dict(file)


@pytest.mark.parity
@pytest.mark.parametrize("case", parity.CASES)
def test_equal_to_the_packages_figures(folder, case):
    assert str(recorded()["inputs"]) == parity.digest_of(parity.parity_pairs()), "record anew"
    theirs = recorded()[case]
    found = parity.ours(folder, case, parity.parity_pairs()[: len(theirs)])
    np.testing.assert_allclose(found, theirs, atol=parity.TOLERANCE)
    # Figures that are all alike would show nothing.
    assert np.ptp(theirs) > 0


@pytest.mark.parity
def test_equal_to_the_packages_figures_on_real_summaries(folder, shared_data):
    pairs = parity.real_pairs(shared_data / "opinsummeval.jsonl")
    assert str(recorded()["real_inputs"]) == parity.digest_of(pairs), "record anew"
    theirs = recorded()["real"]
    assert len(theirs) == len(pairs) == 100
    # Each one is scored alone, so that some of them show as much, in less time.
    found = parity.ours(folder, "help", pairs[::4])
    np.testing.assert_allclose(found, theirs[::4], atol=parity.TOLERANCE)


def pieces(text):
    """Words, ## as in BERT."""
    words = text.split()
    return Pieces(
        np.arange(len(words)),
        np.array([len(word.removeprefix("##")) for word in words]),
        np.array([word.startswith("##") for word in words]),
    )


def test_ways_of_masking_by_hand():
    text = pieces("they un ##tie often in deep snow")
    # "they", "un" (the first token of a word), "often", "deep" and "snow" are long enough.
    assert [found.tolist() for found in Masking().places(text)] == [[0, 6], [1, 3, 5]]
    wide = Masking(gap=3, span=2, normal=2, followup=3)
    assert [found.tolist() for found in wide.places(text)] == [
        [0, 1, 3, 4, 6], [1, 2, 4, 5], [0, 2, 3, 5, 6]
    ]  # fmt: skip
    assert [found.tolist() for found in Masking(gap=9).places(pieces("snow on"))] == [[0]]
    assert Masking().places(pieces("")) == []


def test_scores_by_hand():
    plain = np.array([True, True, False, False, False])
    helped = np.array([True, False, True, True, False])
    assert score(plain, helped, improve=False) == pytest.approx((2 - 1) / 5)
    assert score(plain, helped, improve=True) == pytest.approx(2 / 4)
    assert score(plain[:0], helped[:0], improve=True) == 0.0


def test_long_inputs_lose_the_sentences_end_then_the_summaries(tiny):
    runner, frame = open_masked(str(tiny("masked")), Runtime())
    room = runner.limit - 2
    reader = Reader(runner, frame, least_sentence=30)
    sentence, first, second = (pieces("dry " * size) for size in (50, 10, 20))
    fitted, before = reader.fitted(sentence, [first, second])
    assert (fitted.ids.size, before.size) == (room - 30, 30)
    fitted, before = reader.fitted(sentence, [second, second])
    assert (fitted.ids.size, before.tolist()) == (30, second.ids.tolist())
    long = pieces("dry " * 90)
    fitted, before = reader.fitted(sentence, [long])
    assert (fitted.ids.size, before.tolist()) == (30, long.ids[90 - (room - 30) :].tolist())
    assert reader.truncated == 3
    wide = Reader(runner, frame, least_sentence=100)
    fitted, before = wide.fitted(long, [first])
    assert (fitted.ids.size, before.size) == (room, 0)


def test_only_places_asked_reach_the_head(tiny):
    runner, frame = open_masked(str(tiny("masked")), Runtime())
    rows = [frame.around(row.ids) for row in runner.tokens(["dry boots", "thin"], special=False)]
    places = [np.array([1, 2]), np.array([1])]
    with torch.inference_mode():
        whole = [
            runner.network(torch.from_numpy(row)[None]).logits[0, place]
            for row, place in zip(rows, places, strict=True)
        ]
        found = logits_at(runner, rows, places)
        again = runner.network(torch.from_numpy(rows[0])[None]).logits
    np.testing.assert_allclose(found, torch.cat(whole), atol=1e-4)
    assert again.shape[1] == rows[0].size, "nothing stays behind in the network"


def test_tuning_leaves_the_model_and_the_generator_alone(folder):
    runner, frame = open_masked(str(folder), Runtime())
    tuning = Tuning(masking=Masking(), rate=0.01, epochs=1)
    (text,) = Reader(runner, frame, least_sentence=9).pieces(["they keep your feet warm and dry"])
    before = {name: value.clone() for name, value in runner.network.state_dict().items()}
    state = torch.random.get_rng_state()
    one, other = (tuned(runner, frame, text, tuning) for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), state)
    for name, value in runner.network.state_dict().items():
        assert torch.equal(value, before[name])
    pairs = list(zip(one.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b in pairs), "the same seed trains the same model"
    assert any(not torch.equal(a, b) for a, b in zip(one.parameters(), runner.network.parameters(),
                                                     strict=True))  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_tuning_and_what_is_asked_after_it_are_in_float32(folder, dtype):
    runner, frame = open_masked(str(folder), Runtime(dtype=dtype))
    (text,) = Reader(runner, frame, least_sentence=9).pieces(["they keep your feet warm and dry"])
    network = tuned(runner, frame, text, Tuning(masking=Masking(), rate=0.01, epochs=1))
    with torch.inference_mode():
        logits = logits_at(runner, [frame.around(text.ids)], [np.array([1, 2])], network=network)
    assert {weight.dtype for weight in network.parameters()} == {logits.dtype} == {torch.float32}
    assert torch.isfinite(logits).all()
    assert next(runner.network.parameters()).dtype == getattr(torch, dtype)


def test_masked_tokens_are_replaced_or_kept_in_their_shares(folder):
    runner, frame = open_masked(str(folder), Runtime())
    reader = Reader(runner, frame, least_sentence=9)
    (text,) = reader.pieces(["they keep your feet warm and very very dry in deep snow " * 30])
    tuning = Tuning(masking=Masking(), replaced=0.2, kept=0.3, chunk=16, stride=8)
    rows = training_rows(runner, frame, text, tuning)
    wanted = np.concatenate([w for _, w in rows])
    shown = np.concatenate([ids for ids, _ in rows])
    asked = wanted >= 0
    kept = (shown == wanted)[asked].mean()
    masked = (shown == frame.mask)[asked].mean()
    assert asked.sum() > 300
    assert kept == pytest.approx(0.3, abs=0.08)
    assert masked == pytest.approx(0.5, abs=0.08)
    # The first chunk's tokens come again with the chunk that begins within its length.
    assert rows[0][0].size == 18
    assert {row.size for row, _ in rows} >= {10, 18}


def test_options_reach_the_metric_and_wrong_ones_are_refused(folder):
    metric = get("blanc-tune:seed=4", model=str(folder), gap="6", epochs="2")
    assert metric.entry.factory.endswith(f".blanc:{open_blanc_tune.__name__}")
    assert {key: metric.signature[key] for key in ("gap", "epochs", "seed", "measure")} == {
        "gap": "6", "epochs": "2", "seed": "4", "measure": "relative",
    }  # fmt: skip
    for options, message in (
        ({"gap": "0"}, "gap=0: give a number of at least 1"),
        ({"gap": "two"}, "gap=two"),
        ({"measure": "both"}, "choose relative or improve"),
        ({"replaced": "0.9", "kept": "0.2"}, "their sum is at most 1"),
        ({"rate": "nan"}, "rate=nan"),
        ({"seed": "9" * 20}, "seed=99999999999999999999: give a number of at most 922337203685477"),
        ({"min-normal": str(2**63)}, "min-normal=9223372036854775808: give a number of at most"),
    ):
        with pytest.raises(ConfigurationError, match=re.escape(message)):
            get("blanc-tune", model=str(folder), **options)
    with pytest.raises(ConfigurationError, match="has no option 'epochs'"):
        get("blanc-help:epochs=2", model=str(folder))


def test_the_greatest_numbers_are_taken(folder):
    most = str(2**63 - 1)
    options = ("gap", "gap-mask", "min-normal", "min-lead", "min-followup", "least-sentence")
    example = Example("Warm feet.", ("They keep your feet warm.",))
    for name, more in (("help", ()), ("tune", ("batch", "chunk", "stride", "warmup", "seed"))):
        metric = get(f"blanc-{name}", model=str(folder), **dict.fromkeys(options + more, most))
        assert metric.score([example]).tolist() == [0.0]


def test_a_chunk_that_the_model_cannot_read_is_one_line(tiny):
    metric = get("blanc-tune:epochs=1:chunk=63", model=str(tiny("masked")))
    source = ("They keep your feet warm.",)
    assert np.isfinite(metric.score([Example("dry " * 62, source)])).all()
    with pytest.raises(ConfigurationError, match=r"chunk=63: .* give chunk=62 or fewer$"):
        metric.score([Example("dry " * 63, source)])


@pytest.mark.parametrize("name", ["help", "tune"])
def test_a_network_that_gives_no_number_is_one_line(folder, tmp_path, name):
    broken = shutil.copytree(folder, tmp_path / "broken")
    weights = load_file(broken / "model.safetensors")
    empty = {key: np.full_like(weight, np.nan) for key, weight in weights.items()}
    save_file(empty, broken / "model.safetensors", metadata={"format": "pt"})
    example = Example("Warm feet.", ("They keep your feet warm.",))
    metric = get(f"blanc-{name}", model=str(broken), runtime=Runtime(dtype="bfloat16"))
    with pytest.raises(ModelError, match=r"gave no number for some texts; try --dtype float32$"):
        metric.score([example])


def test_training_that_leaves_no_number_is_one_line(folder):
    metric = get("blanc-tune:rate=1e30:epochs=2", model=str(folder))
    with pytest.raises(ModelError, match=r"gave no number for some texts$"):
        metric.score([Example("They keep your feet warm.", ("They keep your feet warm.",))])


def test_a_model_without_a_mask_is_refused(tiny, monkeypatch):
    runner, _ = open_masked(str(tiny("masked")), Runtime())
    monkeypatch.setattr(type(runner.tokenizer), "mask_token_id", None, raising=False)
    with pytest.raises(ModelError, match="has no token for a mask"):
        Frame(runner)


def test_a_summary_that_says_nothing_helps_nothing(folder):
    metric = get("blanc-help", model=str(folder))
    found = metric.score([Example("", ("They keep your feet warm.",)), Example("Warm.", ("",))])
    assert found.tolist() == [0.0, 0.0]
