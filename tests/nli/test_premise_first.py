"""Premise-first scoring against a forward pass written out here, one pair at a time."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from prevalence.errors import BackendError, ModelError
from prevalence.kernels.packing import sent
from prevalence.models.checkpoint import load_checkpoint
from prevalence.nli import premise_first as module
from prevalence.nli.packed import Grid, Packed, PackedClassifier, hypothesis_means
from prevalence.nli.pairs import FLAG_TOO_LONG, FLAG_TRUNCATED
from prevalence.nli.premise_first import PremiseFirstReader, group, pack
from prevalence.nli.scorer import NLIScorer
from prevalence.nli.tokens import BlockLayout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prevalence.nli.pairs import TextTable

    Pairs = Sequence[tuple[str, str]]
    Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]

PREMISE, HYPOTHESIS = 40, 16
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
LONG = "The boots kept my feet dry, even in deep snow! " * 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, checkpoint: Callable[..., Path]) -> Path:
    """A premise-first checkpoint with limits of its own."""
    import shutil

    target = tmp_path_factory.mktemp("premise-first") / "model"
    shutil.copytree(checkpoint("bert"), target)
    config = json.loads((target / "config.json").read_text())
    config |= {
        "prevalence_attention": "premise-first",
        "prevalence_max_length": PREMISE,
        "prevalence_max_hypothesis": HYPOTHESIS,
    }
    (target / "config.json").write_text(json.dumps(config))
    return target


class Naive:
    """BERT as its equations stand: one premise, one hypothesis, a softmax written out.

    The hypothesis' tokens read the keys and values that the premise had when it was alone.
    """

    def __init__(self, folder: Path, dtype: torch.dtype = torch.float32) -> None:
        from transformers import AutoTokenizer

        weights = load_file(folder / "model.safetensors")
        self.weights = {name: tensor.to(dtype) for name, tensor in weights.items()}
        self.config = json.loads((folder / "config.json").read_text())
        self.tokenizer = AutoTokenizer.from_pretrained(folder)

    def tokens(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def pair(self, premise: Sequence[int], hypothesis: Sequence[int]) -> np.ndarray:
        """Probabilities of one pair of token lists without special tokens."""
        first = self.embed([2, *premise, 3], 0)
        second = self.embed([2, *hypothesis, 3], 1)
        for number in range(self.config["num_hidden_layers"]):
            name = f"bert.encoder.layer.{number}."
            second = self.layer(name, second, torch.cat([first, second]))
            first = self.layer(name, first, first)
        mean = self.config.get("prevalence_pooling") == "mean"
        read = second.mean(0) if mean else second[0]
        pooled = torch.tanh(self.linear("bert.pooler.dense", read))
        return self.linear("classifier", pooled).float().softmax(0).numpy()

    def linear(self, name: str, states: torch.Tensor) -> torch.Tensor:
        return states @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, name: str, states: torch.Tensor) -> torch.Tensor:
        centred = states - states.mean(-1, keepdim=True)
        spread = (centred.pow(2).mean(-1, keepdim=True) + self.config["layer_norm_eps"]).sqrt()
        return centred / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def embed(self, ids: list[int], kind: int) -> torch.Tensor:
        name = "bert.embeddings."
        total = self.weights[f"{name}word_embeddings.weight"][ids]
        total = total + self.weights[f"{name}position_embeddings.weight"][: len(ids)]
        total = total + self.weights[f"{name}token_type_embeddings.weight"][kind]
        return self.norm(f"{name}LayerNorm", total)

    def layer(self, name: str, states: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
        context = self.attention(f"{name}attention.self.", states, read)
        output = self.linear(f"{name}attention.output.dense", context)
        states = self.norm(f"{name}attention.output.LayerNorm", output + states)
        inner = self.linear(f"{name}intermediate.dense", states)
        inner = inner * (1 + torch.erf(inner / math.sqrt(2))) / 2
        output = self.linear(f"{name}output.dense", inner)
        return self.norm(f"{name}output.LayerNorm", output + states)

    def attention(self, name: str, states: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
        heads = self.config["num_attention_heads"]
        query, key, value = (
            self.linear(f"{name}{part}", given).chunk(heads, dim=-1)
            for part, given in (("query", states), ("key", read), ("value", read))
        )
        parts = []
        for q, k, v in zip(query, key, value, strict=True):
            scores = q @ k.T / math.sqrt(q.shape[-1])
            weights = (scores - scores.amax(-1, keepdim=True)).exp()
            parts.append(weights / weights.sum(-1, keepdim=True) @ v)
        return torch.cat(parts, -1)


@pytest.fixture(scope="module")
def naive(folder: Path) -> Naive:
    return Naive(folder)


@pytest.fixture(scope="module")
def scorer(folder: Path) -> NLIScorer:
    return NLIScorer(str(folder), device="cpu")


@pytest.fixture(scope="module")
def reader(folder: Path) -> PremiseFirstReader:
    return PremiseFirstReader(load_checkpoint(str(folder)), torch.device("cpu"))


@pytest.fixture(scope="module")
def expected(naive: Naive, pairs: Pairs) -> np.ndarray:
    """Probabilities of all pairs, [P, 3]."""
    return np.stack([
        naive.pair(naive.tokens(p)[: PREMISE - 2], naive.tokens(h)) for p, h in pairs
    ])  # fmt: skip


@pytest.mark.parity
def test_equals_a_naive_pass_pair_by_pair(
    scorer: NLIScorer, expected: np.ndarray, pairs: Pairs, number: Number
) -> None:
    assert np.ptp(expected, axis=0).max() > 0.1  # the untrained head does tell pairs apart
    found = scorer.score(*number(pairs))
    np.testing.assert_allclose(found.entailment, expected[:, 2], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.contradiction, expected[:, 0], rtol=0, atol=1e-5)


def test_the_head_may_read_the_mean_of_the_hypothesis(
    folder: Path, expected: np.ndarray, pairs: Pairs, number: Number, tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "mean")
    config = json.loads((folder / "config.json").read_text()) | {"prevalence_pooling": "mean"}
    (tmp_path / "mean" / "config.json").write_text(json.dumps(config))
    naive = Naive(tmp_path / "mean")
    means = np.stack([
        naive.pair(naive.tokens(p)[: PREMISE - 2], naive.tokens(h)) for p, h in pairs
    ])  # fmt: skip
    assert np.abs(means - expected).max() > 0.01
    scorer = NLIScorer(str(tmp_path / "mean"), device="cpu")
    found = scorer.score(*number(pairs))
    np.testing.assert_allclose(found.entailment, means[:, 2], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.contradiction, means[:, 0], rtol=0, atol=1e-5)
    config["prevalence_pooling"] = "last"
    (tmp_path / "mean" / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"prevalence_pooling 'last'.*first and mean; update"):
        load_checkpoint(str(tmp_path / "mean"))


@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), budget=st.integers(1, 2_000))
def test_order_grouping_and_repetition_change_nothing(
    *,
    data: st.DataObject,
    budget: int,
    scorer: NLIScorer,
    expected: np.ndarray,
    pairs: Pairs,
    number: Number,
) -> None:
    table, numbers = number(pairs)
    rows = np.array(data.draw(st.lists(st.integers(0, len(pairs) - 1), max_size=24)), np.int64)
    usual, scorer.batch_tokens = scorer.batch_tokens, budget
    try:
        found = scorer.score(table, numbers[rows])
    finally:
        scorer.batch_tokens = usual
    np.testing.assert_allclose(found.entailment, expected[rows, 2], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.contradiction, expected[rows, 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("workers", [2, 5])
def test_workers_do_not_change_answers(
    workers: int, folder: Path, expected: np.ndarray, pairs: Pairs, number: Number
) -> None:
    beside = NLIScorer(str(folder), device="cpu", workers=workers, batch_tokens=150)
    done: list[int] = []
    found = beside.score(*number(pairs), progress=done.append)
    np.testing.assert_allclose(found.entailment, expected[:, 2], rtol=0, atol=1e-5)
    assert sum(done) == len(pairs)


def test_each_part_has_a_limit_of_its_own(
    scorer: NLIScorer, naive: Naive, pairs: Pairs, number: Number
) -> None:
    words = "dry boots " * 20
    few = words[: next(n for n in range(200) if len(naive.tokens(words[:n])) == HYPOTHESIS - 2)]
    more = f"{few} boots"
    given_pairs = [("Good.", few), ("Good.", more), (LONG, "Dry."), ("", "Dry."), (LONG, more)]
    found = scorer.score(*number(given_pairs))
    assert found.flags.tolist() == [0, FLAG_TOO_LONG, FLAG_TRUNCATED, 0, FLAG_TOO_LONG]
    assert np.isnan(found.entailment).tolist() == [False, True, False, False, True]
    truncated = [len(naive.tokens(p)) > PREMISE - 2 for p, _ in pairs]
    assert 0 < sum(truncated) < len(pairs)
    flags = scorer.score(*number(pairs)).flags
    assert (flags == FLAG_TRUNCATED).tolist() == truncated


def test_longest_first_cuts_each_part_to_its_own_limit(
    folder: Path, naive: Naive, number: Number
) -> None:
    scorer = NLIScorer(str(folder), device="cpu", at_most=500, truncation="longest-first")
    given_pairs = [("Good.", LONG), (LONG, "Dry."), (LONG, LONG), ("Good.", "Dry.")]
    found = scorer.score(*number(given_pairs))
    assert found.flags.tolist() == [FLAG_TRUNCATED] * 3 + [0]
    for row, (premise, hypothesis) in enumerate(given_pairs):
        cut = naive.tokens(premise)[: PREMISE - 2], naive.tokens(hypothesis)[: HYPOTHESIS - 2]
        assert found.entailment[row] == pytest.approx(naive.pair(*cut)[2], abs=1e-5)


def test_windows_take_the_most_entailing_window(folder: Path, naive: Naive, number: Number) -> None:
    stride, space = 11, PREMISE - 2
    scorer = NLIScorer(str(folder), device="cpu", windows=stride)
    asked = [(LONG[i:] + "It isn't worth it. " * 5, h) for i in (0, 9, 30) for h in ("Dry.", "ok")]
    found = scorer.score(*number([("Good.", "Works."), *asked]))
    for row, (premise, hypothesis) in enumerate(asked, start=1):
        ids = naive.tokens(premise)
        starts = [*range(0, len(ids) - space, stride), len(ids) - space]
        answers = [naive.pair(ids[s : s + space], naive.tokens(hypothesis)) for s in starts]
        best = max(answers, key=lambda answer: answer[2])
        assert len(starts) > 5
        assert found.entailment[row] == pytest.approx(best[2], abs=1e-5)
        assert found.contradiction[row] == pytest.approx(best[0], abs=1e-5)
    assert not found.flags.any()
    assert scorer.traits.signature["gran"] == "window11"


def _limited(scorer: NLIScorer, monkeypatch: pytest.MonkeyPatch, tokens: int) -> list[int]:
    """Make the network run out of memory above a number of tokens; the batches it answers."""
    usual = PackedClassifier.__call__
    answered: list[int] = []

    def forward(self: PackedClassifier, packed: Any) -> Any:
        if packed.ids.numel() > tokens:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB")
        answered.append(packed.ids.numel())
        return usual(self, packed)

    monkeypatch.setattr(PackedClassifier, "__call__", forward)
    return answered


def test_out_of_memory_halves_the_budget_and_goes_on(
    folder: Path,
    expected: np.ndarray,
    pairs: Pairs,
    number: Number,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scorer = NLIScorer(str(folder), device="cpu", batch_tokens=600)
    answered = _limited(scorer, monkeypatch, 200)
    with pytest.warns(RuntimeWarning, match="out of memory on cpu: batches now hold"):
        found = scorer.score(*number(pairs))
    assert 0 < max(answered) <= 200
    np.testing.assert_allclose(found.entailment, expected[:, 2], rtol=0, atol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scorer.score(*number(pairs))  # the smaller budget is kept


def test_one_pair_out_of_memory(
    folder: Path, number: Number, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = NLIScorer(str(folder), device="cpu")
    _limited(scorer, monkeypatch, 5)
    with pytest.raises(BackendError, match="one pair of 6 tokens does not fit the memory of cpu"):
        scorer.score(*number([("dry", "dry")]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_loses_no_more_than_a_naive_pass_in_it(
    *, dtype: str, folder: Path, naive: Naive, expected: np.ndarray, pairs: Pairs, number: Number
) -> None:
    half = NLIScorer(str(folder), device="cpu", dtype=dtype)
    assert (half.traits.doubt > 0, half.traits.signature["dtype"]) == (True, dtype)
    found = half.score(*number(pairs)).entailment
    plain = Naive(folder, getattr(torch, dtype))
    rows = [(naive.tokens(p)[: PREMISE - 2], naive.tokens(h)) for p, h in pairs]
    theirs = np.stack([plain.pair(*row) for row in rows])[:, 2]
    exact = expected[:, 2]
    assert 0 < np.abs(found - exact).mean() <= 2 * np.abs(theirs - exact).mean()


def test_the_last_layer_works_on_the_first_tokens_of_hypotheses(
    folder: Path, pairs: Pairs, number: Number
) -> None:
    scorer = NLIScorer(str(folder), device="cpu", workers=1)
    seen: list[tuple[int, ...]] = []
    layers = scorer.checkpoint.model.bert.encoder.layer
    for layer in layers:
        layer.intermediate.register_forward_hook(
            lambda _module, _inputs, output: seen.append(tuple(output.shape[:-1]))
        )
    scorer.score(*number(pairs[:4]))  # one premise
    premise, *hypotheses = (
        len(scorer.checkpoint.tokenizer(text)["input_ids"])
        for text in (pairs[0][0], *(h for _, h in pairs[:4]))
    )
    assert seen == [(premise + sum(hypotheses),), (4,)]


def test_what_names_its_answers(
    scorer: NLIScorer, folder: Path, scorers: Callable[..., NLIScorer]
) -> None:
    assert scorer.traits.signature["attn"] == "premise-first"
    assert scorer.traits.signature["trunc"] == f"{PREMISE}+{HYPOTHESIS}"
    assert "attn" not in scorers("bert").traits.signature
    shorter = NLIScorer(str(folder), device="cpu", max_length=20)
    assert shorter.traits.signature["trunc"] == f"20+{HYPOTHESIS}"
    longest = NLIScorer(str(folder), device="cpu", truncation="longest-first")
    assert longest.traits.signature["trunc"] == f"{PREMISE}+{HYPOTHESIS}-longest"
    config = json.loads((folder / "config.json").read_text())
    assert config["prevalence_max_hypothesis"] == HYPOTHESIS
    others = (scorer, shorter, longest, scorers("bert"))
    assert len({other.traits.digest for other in others}) == 4


def test_unknown_attention_is_refused(altered: Callable[..., Path]) -> None:
    folder = altered("bert", "config.json", prevalence_attention="premise-last")
    with pytest.raises(ModelError, match=r"'premise-last'.*joint and premise-first; update"):
        load_checkpoint(str(folder))
    other = altered("roberta", "config.json", prevalence_attention="premise-first")
    with pytest.raises(
        ModelError, match="is for bert and mpnet classifiers, and its config says roberta"
    ):
        load_checkpoint(str(other))
    joint = altered("bert", "config.json", prevalence_attention="joint")
    assert load_checkpoint(str(joint)).attention == "joint"


@pytest.mark.parametrize("key", ["prevalence_max_length", "prevalence_max_hypothesis"])
@pytest.mark.parametrize("value", [0, 7, "long", True, 20.5])
def test_limits_that_make_no_sense(key: str, value: object, altered: Callable[..., Path]) -> None:
    folder = altered("bert", "config.json", **{key: value})
    with pytest.raises(ModelError, match=f"{key} .* must be a number of tokens of at least 8"):
        load_checkpoint(str(folder))


def test_limits_within_the_models_own(altered: Callable[..., Path]) -> None:
    loaded = load_checkpoint(
        str(altered("bert", "config.json", prevalence_attention="premise-first"))
    )
    assert (loaded.max_length, loaded.max_hypothesis) == (64, 64)
    wide = altered("bert", "config.json", prevalence_max_hypothesis=500)
    assert load_checkpoint(str(wide)).max_hypothesis == 64


def test_a_tokenizer_without_a_first_token_is_refused(folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "m")
    path = tmp_path / "m" / "tokenizer.json"
    content = json.loads(path.read_text())
    content["post_processor"] = None
    path.write_text(json.dumps(content))
    config = tmp_path / "m" / "tokenizer_config.json"
    settings = json.loads(config.read_text()) | {"tokenizer_class": "PreTrainedTokenizerFast"}
    config.write_text(json.dumps(settings))
    with pytest.raises(ModelError, match="puts no fixed first token before a text"):
        NLIScorer(str(tmp_path / "m"), device="cpu")


LAYOUT = BlockLayout(np.array([2]), np.array([3]))


def test_packing_by_hand() -> None:
    # Premise 10 11 with hypotheses 20 and 21 22, premise 12 with hypothesis 20.
    tokens = np.array([10, 11, 12, 20, 21, 22])
    packed = pack(tokens, np.array([[2, 1, 3, 1], [0, 2, 3, 1], [0, 2, 4, 2]]), LAYOUT)
    assert packed.ids.tolist() == [2, 10, 11, 3, 2, 12, 3, 2, 20, 3, 2, 20, 3, 2, 21, 22, 3]
    assert packed.positions.tolist() == [0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3]
    assert packed.types.tolist() == [0] * 7 + [1] * 10
    assert packed.heads.tolist() == [7, 10, 13]
    assert packed.premises[packed.premise_mask].tolist() == [*range(7)]
    assert packed.premise_mask.tolist() == [[True] * 4, [True] * 3 + [False]]
    # Those of three tokens, the one of the first premise before the other; then that of four.
    short, long = packed.grids
    assert short.places.tolist() == [[[10, 11, 12]], [[7, 8, 9]]]
    assert long.places.tolist() == [[[13, 14, 15, 16]]]
    assert short.mask.all()
    assert long.mask.all()
    assert (short.owners.tolist(), long.owners.tolist()) == ([0, 1], [0])
    assert packed.slots.tolist() == [1, 0, 2]
    assert packed.context.tolist() == [*range(7), 11, 12, 13, 8, 9, 10, 14, 15, 16, 17]


def test_a_grid_has_hypotheses_of_similar_length() -> None:
    # With two special tokens each: 6, 7, 8 and 9, of which 7 is within a quarter of 6, and 9 of 8.
    spans = np.array([[0, 5, 9, 5], [0, 5, 9, 7], [0, 5, 9, 4], [0, 5, 9, 6]])
    packed = pack(np.arange(20), spans, LAYOUT)
    assert [grid.mask.sum(-1).tolist() for grid in packed.grids] == [[[6, 7]], [[8, 9]]]
    assert packed.slots.tolist() == [1, 3, 0, 2]


def test_one_premise_with_many_hypotheses_beside_many_with_one() -> None:
    # 12 rows of 4 premises: groups of at most 3, so the first premise has 3 of them.
    spans = np.array([[0, 5, h, 1] for h in range(9)] + [[p, 1, 9, 1] for p in (6, 7, 8)])
    packed = pack(np.arange(20), spans, LAYOUT)
    (grid,) = packed.grids
    assert grid.places.shape == (6, 3, 3)
    assert grid.owners.tolist() == [0, 0, 0, 1, 2, 3]
    assert packed.slots.tolist() == [*range(9), 9, 12, 15]


@st.composite
def span_rows(draw: st.DrawFn) -> np.ndarray:
    premises = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
    hypothesis = st.tuples(st.integers(0, 9), st.integers(0, 9))
    counts = [draw(st.integers(1, 4)) for _ in premises]
    rows = zip(premises, counts, strict=True)
    return np.array([(*premise, *draw(hypothesis)) for premise, n in rows for _ in range(n)])


@UNHURRIED
@given(spans=span_rows(), seed=st.integers(0, 9), scores=st.none() | st.integers(1, 900))
def test_packing_says_where_every_token_is(
    spans: np.ndarray, seed: int, scores: int | None
) -> None:
    tokens = np.arange(100, 120)
    spans = np.random.default_rng(seed).permutation(spans)
    packed = pack(tokens, spans, LAYOUT, scores=scores)
    premises, owner = group(spans)
    cells = [packed.premises, *(grid.places for grid in packed.grids)]
    flat = np.concatenate([places.ravel() for places in cells])
    assert flat[packed.context].tolist() == [*range(len(packed.ids))]
    hypotheses = []
    for places, mask, owners in packed.grids:
        lengths = mask.sum(-1)
        assert len(owners) <= 2 * len(premises)
        assert lengths.max() <= 1.25 * lengths[lengths > 0].min()
        hypotheses += [
            (places[g, k][mask[g, k]], owners[g]) for g, k in np.ndindex(places.shape[:2])
        ]
        size = places.shape[-1] * (packed.premises.shape[-1] + places.shape[-1])
        assert scores is None or (lengths > 0).sum() <= max(1, scores // size)
    assert len(set(packed.slots.tolist())) == len(spans)
    for row, (p_start, p_length, h_start, h_length) in enumerate(spans.tolist()):
        found, of = hypotheses[int(packed.slots[row])]
        assert packed.ids[found].tolist() == [2, *tokens[h_start : h_start + h_length], 3]
        assert packed.heads[row] == found[0]
        assert of == owner[row]
        assert premises[owner[row]].tolist() == [p_start, p_length]
        known = packed.premises[owner[row]][packed.premise_mask[owner[row]]]
        assert packed.ids[known].tolist() == [2, *tokens[p_start : p_start + p_length], 3]


@UNHURRIED
@given(spans=span_rows(), budget=st.integers(1, 80))
def test_batches_hold_each_row_once_within_the_budget(
    reader: PremiseFirstReader, spans: np.ndarray, budget: int
) -> None:
    found = list(reader.batches(spans, budget))
    assert sorted(row for batch in found for row in batch.tolist()) == list(range(len(spans)))
    for batch in found:
        assert len(batch) == 1 or reader.size(spans[batch]) <= budget
        assert reader.size(spans[batch]) == len(pack(np.arange(20), spans[batch], LAYOUT).ids)


def test_a_batch_is_sent_in_one_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[Any] = []

    def counted(tensor: Any, device: Any) -> Any:
        copies.append(tensor)
        return sent(tensor, device)

    monkeypatch.setattr(module, "sent", counted)
    layout = BlockLayout(prefix=np.array([101]), suffix=np.array([102]))
    spans = np.array([[0, 3, 3, 2], [0, 3, 5, 1], [6, 1, 3, 2]])
    packed = module.pack(np.arange(10, 20), spans, layout)
    found = module.placed(packed, torch.device("cpu"))
    assert len(copies) == 1
    assert len(packed.grids) == len(found.grids) == 2
    others = [name for name in Packed._fields if name != "grids"]
    tensors, arrays = (
        [*(getattr(parts, name) for name in others), *itertools.chain(*parts.grids)]
        for parts in (found, packed)
    )
    for tensor, array in zip(tensors, arrays, strict=True):
        assert tensor.shape == array.shape
        assert str(tensor.dtype).removeprefix("torch.") == str(array.dtype)
        np.testing.assert_array_equal(tensor.numpy(), array)


def _means_of(hidden: torch.Tensor, lengths: list[int]) -> torch.Tensor:
    """The means that the network takes of hypotheses of these lengths, one group each."""
    masks = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    places = torch.where(masks, torch.arange(max(lengths)), 0)[:, None]
    rows = torch.arange(len(lengths))
    filled: dict[str, Any] = dict.fromkeys(Packed._fields, rows)
    filled["grids"] = (Grid(places, masks[:, None], rows),)
    return hypothesis_means(hidden, Packed(**filled))


def test_a_mean_in_half_precision_is_rounded_once() -> None:
    """49 shares of bfloat16's 1/49 sum to 1.0024: the mean of equal states was another state."""
    hidden = torch.full((49, 3), 1.5, dtype=torch.bfloat16)
    lengths = list(range(1, 50))
    assert _means_of(hidden, lengths).tolist() == hidden.tolist()
    with torch.autocast("cpu", torch.bfloat16):
        found = _means_of(hidden.float(), lengths)
    torch.testing.assert_close(found, hidden.float(), rtol=1e-6, atol=0)


def test_a_mean_in_float32_is_the_sum_of_its_shares() -> None:
    hidden = torch.randn(40, 8, generator=torch.Generator().manual_seed(3))
    lengths = [1, 7, 40]
    masks = (torch.arange(40) < torch.tensor(lengths)[:, None]).float()
    shares = masks / masks.sum(1, keepdim=True)
    padded = hidden[torch.where(masks > 0, torch.arange(40), 0)]
    assert torch.equal(_means_of(hidden, lengths), (shares[:, None] @ padded)[:, 0])


def test_a_mean_goes_with_premise_first_attention_alone(folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "joint")
    config = json.loads((folder / "config.json").read_text()) | {"prevalence_pooling": "mean"}
    del config["prevalence_attention"]
    (tmp_path / "joint" / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="goes with premise-first attention alone"):
        load_checkpoint(str(tmp_path / "joint"))
