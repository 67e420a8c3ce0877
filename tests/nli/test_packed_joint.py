"""Pairs read jointly without padding: equal to padded pairs, and to one pair at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from prevalence.errors import BackendError, ConfigurationError, ModelError
from prevalence.kernels import packing
from prevalence.models.checkpoint import load_checkpoint
from prevalence.nli import registered
from prevalence.nli.disentangled import DISENTANGLED
from prevalence.nli.first_token import FirstTokenLayer
from prevalence.nli.joint import JointReader, PackedJointReader
from prevalence.nli.pairs import FLAG_TOO_LONG, FLAG_TRUNCATED, TextTable
from prevalence.nli.registered import PACKED_FAMILIES, obstacle
from prevalence.nli.scorer import NLIScorer
from prevalence.nli.segments import Segments

if TYPE_CHECKING:
    from pathlib import Path

Pairs = Sequence[tuple[str, str]]
Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]
Open = Callable[..., NLIScorer]

TOLERANCE = 1e-5
"""What rounding makes of wide weights in float32, alone or padded as well as packed."""
LONG = "The boots kept my feet dry, even in deep snow! " * 12
MODELS = (*PACKED_FAMILIES, "modernbert-mean")


@pytest.fixture(params=MODELS)
def folder(
    request: pytest.FixtureRequest, checkpoint: Callable[..., Path], altered: Callable[..., Path]
) -> Path:
    """A checkpoint of each family, and one with the mean for a pooler."""
    if request.param == "modernbert-mean":
        return altered("modernbert", "config.json", classifier_pooling="mean")
    return checkpoint(request.param)


@pytest.fixture
def opened(checkpoint: Callable[..., Path]) -> Open:
    """``opened(family, **options)``: a packing scorer on the CPU."""

    def opened(family: str = "bert", **options: Any) -> NLIScorer:
        given = {"device": "cpu", "packing": "packed", **options}
        return NLIScorer(str(checkpoint(family)), **given)

    return opened


def _check_equal(found: Any, expected: Any, tolerance: float = TOLERANCE) -> None:
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.contradiction, expected.contradiction, rtol=0, atol=tolerance)
    assert found.flags.tolist() == expected.flags.tolist()


def test_packed_equals_padded_equals_one_at_a_time(
    folder: Path, hf_pairs: Callable[..., np.ndarray], pairs: Pairs, number: Number
) -> None:
    packed = NLIScorer(str(folder), device="cpu", packing="packed")
    padded = NLIScorer(str(folder), device="cpu", packing="padded")
    assert isinstance(packed.reader, PackedJointReader)
    assert isinstance(padded.reader, JointReader)
    found, expected = packed.score(*number(pairs)), padded.score(*number(pairs))
    _check_equal(found, expected)
    alone = hf_pairs(folder, pairs)
    assert packed.checkpoint.labels.entailment == 2
    np.testing.assert_allclose(found.entailment, alone[:, 2], rtol=0, atol=TOLERANCE)
    assert found.entailment.std() > 0.01  # the answers differ from pair to pair
    assert (
        packed.traits.signature == padded.traits.signature
    )  # in float32 the packing changes no answer
    assert packed.traits.digest == padded.traits.digest


def test_only_rounding_differs_from_padded_rows(folder: Path) -> None:
    """The encoder in float64, its head in float32: nothing is left of the difference."""
    rng = np.random.default_rng(3)
    tokens = rng.integers(5, 40, 400)
    lengths = rng.integers(1, 25, (30, 2))
    starts = rng.integers(0, 370, (30, 2))
    spans = np.stack([starts, lengths], axis=2).reshape(30, 4)
    answers = []
    for kind in (PackedJointReader, JointReader):
        loaded = load_checkpoint(str(folder), dtype=torch.float64)
        reader = kind(loaded, torch.device("cpu"))
        with torch.inference_mode():
            answers.append(reader.logits(_placed(reader, tokens), spans).softmax(1).float())
    torch.testing.assert_close(*answers, rtol=0, atol=4e-6)


def _placed(reader: Any, tokens: np.ndarray) -> Any:
    return torch.from_numpy(tokens) if isinstance(reader, PackedJointReader) else tokens


@pytest.mark.parametrize("budget", [1, 150])
def test_answers_do_not_depend_on_the_batch(
    budget: int, folder: Path, pairs: Pairs, number: Number
) -> None:
    scorer = NLIScorer(str(folder), device="cpu", packing="packed", batch_tokens=budget)
    table, numbered = number(pairs)
    together = scorer.score(table, numbered)
    backwards = scorer.score(table, numbered[::-1])
    _check_equal(backwards, together.take(np.arange(len(pairs))[::-1]))
    for row in (0, 20, len(pairs) - 1):
        _check_equal(scorer.score(table, numbered[[row]]), together.take(slice(row, row + 1)))


def test_long_pairs_windows_and_truncation(
    folder: Path, number: Number, reviews: Mapping[str, list[str]]
) -> None:
    given = [(LONG, "dry"), ("dry", LONG), *((p, "Works great!") for p in reviews["premises"])]
    for options in ({"windows": 10}, {"max_length": 20}, {"truncation": "longest-first"}):
        packed, padded = (
            NLIScorer(str(folder), device="cpu", packing=packing, **options).score(*number(given))
            for packing in ("packed", "padded")
        )
        _check_equal(packed, padded)
        if "truncation" not in options:
            assert packed.flags[1] == FLAG_TOO_LONG
        if "max_length" in options:
            assert packed.flags[0] == FLAG_TRUNCATED


def _reader(scorer: NLIScorer) -> type:
    return type(scorer.reader)


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta", "electra", "camembert"])
def test_the_last_layer_works_on_first_tokens(
    family: str, opened: Open, pairs: Pairs, number: Number
) -> None:
    scorer = opened(family, batch_tokens=100_000, workers=1)
    layer = scorer.checkpoint.model.base_model.encoder.layer[-1]
    assert isinstance(layer, FirstTokenLayer)
    seen: list[tuple[int, ...]] = []
    layer.layer.intermediate.register_forward_hook(
        lambda _module, _inputs, output: seen.append(tuple(output.shape[:2]))
    )
    scorer.score(*number(pairs))
    assert seen == [(1, len(pairs))]


def test_nothing_is_padded(opened: Open, monkeypatch: pytest.MonkeyPatch, number: Number) -> None:
    scorer = opened(workers=1)
    shapes: list[tuple[int, ...]] = []
    encoder = scorer.checkpoint.model.base_model
    usual = encoder.embeddings.forward

    def forward(**inputs: Any) -> Any:
        shapes.append(tuple(inputs["input_ids"].shape))
        return usual(**inputs)

    monkeypatch.setattr(encoder.embeddings, "forward", forward)
    given = [("boots", "dry"), ("The boots kept my feet dry", "dry"), ("", "dry")]
    scorer.score(*number(given))
    tokenizer = scorer.checkpoint.tokenizer
    sizes = [len(tokenizer([p], [h])["input_ids"][0]) for p, h in given]
    assert shapes == [(1, sum(sizes))]


def test_several_lanes(opened: Open, pairs: Pairs, number: Number) -> None:
    alone, beside = (opened("modernbert", workers=count, batch_tokens=150) for count in (1, 3))
    _check_equal(beside.score(*number(pairs)), alone.score(*number(pairs)))


def test_texts_added_later(opened: Open, number: Number, pairs: Pairs) -> None:
    scorer = opened("roberta")
    table, first = number(pairs[:3])
    before = scorer.score(table, first)
    later = np.array([[table.add(p), table.add(h)] for p, h in pairs])
    found = scorer.score(table, later)
    _check_equal(found.take(slice(0, 3)), before)
    _check_equal(found, opened("roberta").score(*number(pairs)))


def test_out_of_memory_halves_the_budget(
    opened: Open, monkeypatch: pytest.MonkeyPatch, pairs: Pairs, number: Number
) -> None:
    scorer = opened(batch_tokens=1_000, workers=1)
    expected = scorer.score(*number(pairs))
    encoder = scorer.checkpoint.model.base_model
    usual, answered = encoder.forward, []

    def forward(**inputs: Any) -> Any:
        if inputs["input_ids"].numel() > 300:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB")
        answered.append(inputs["input_ids"].numel())
        return usual(**inputs)

    monkeypatch.setattr(encoder, "forward", forward)
    finished: list[int] = []
    with pytest.warns(RuntimeWarning, match="out of memory on cpu: batches now hold"):
        found = scorer.score(*number(pairs), progress=finished.append)
    assert max(answered) <= 300
    assert sum(finished) == len(pairs)
    _check_equal(found, expected)
    monkeypatch.setattr(encoder, "forward", lambda **_: (_ for _ in ()).throw(RuntimeError("odd")))
    with pytest.raises(
        BackendError, match=r"the device failed: odd; .* --packing padded asks less"
    ):
        scorer.score(*number(pairs))


def test_half_precision_has_its_head_in_float32_and_says_so(
    opened: Open, pairs: Pairs, number: Number
) -> None:
    scorer = opened("roberta", dtype="bfloat16")
    assert scorer.traits.signature["pack"] == "blocks"
    assert scorer.traits.signature["dtype"] == "bfloat16"
    padded = opened("roberta", dtype="bfloat16", packing="padded")
    assert "pack" not in padded.traits.signature
    assert scorer.traits.digest != padded.traits.digest
    spans = np.array([[0, 3, 3, 2], [1, 2, 0, 4]])
    with torch.inference_mode():
        logits = scorer.reader.logits(torch.arange(5, 12, dtype=torch.int32), spans)
    assert logits.dtype == torch.float32
    assert (logits.bfloat16() != logits).any()
    assert scorer.checkpoint.model.classifier.dense.weight.dtype == torch.bfloat16
    exact = opened("roberta").score(*number(pairs)).entailment
    assert np.abs(scorer.score(*number(pairs)).entailment - exact).max() < 0.2


@pytest.mark.parametrize("family", ["bart", "gpt2", "mpnet"])
def test_other_families_are_refused_in_one_line(family: str, opened: Open) -> None:
    with pytest.raises(
        ModelError, match=r"pairs can be packed for .* choose padded .packing="
    ) as caught:
        opened(family)
    assert "\n" not in str(caught.value)


def test_a_decoder_is_refused(altered: Callable[..., Path]) -> None:
    folder = altered("roberta", "config.json", is_decoder=True)
    with pytest.raises(ModelError, match=r"choose padded .packing="):
        NLIScorer(str(folder), device="cpu", packing="packed")


@pytest.mark.parametrize(
    ("family", "setting"),
    [
        ("deberta", "talking_head"),
        ("deberta-v2", "conv_kernel_size"),
    ],
)
def test_what_looks_beyond_a_token_is_not_packable(
    family: str, setting: str, checkpoint: Callable[..., Path]
) -> None:
    config = load_checkpoint(str(checkpoint(family))).model.config
    assert obstacle(config) is None
    setattr(config, setting, 3)
    assert obstacle(config) == f"pairs cannot be packed where the config sets {setting}"


def test_premise_first_has_no_padded_form(altered: Callable[..., Path]) -> None:
    folder = altered("bert", "config.json", prevalence_attention="premise-first")
    with pytest.raises(ModelError, match="premise-first attention has no padded form"):
        NLIScorer(str(folder), device="cpu", packing="padded")
    NLIScorer(str(folder), device="cpu", packing="packed")


def test_a_misspelt_packing(opened: Open) -> None:
    with pytest.raises(ConfigurationError, match="'pack': choose from auto, packed, padded"):
        opened(packing="pack")


def test_auto_packs_disentangled_attention_alone_on_a_cpu(opened: Open) -> None:
    packed = {f for f in PACKED_FAMILIES if _reader(opened(f, packing="auto")) is PackedJointReader}
    assert packed == {"deberta", "deberta-v2"}


def test_attention_that_cannot_be_replaced_is_noticed(
    checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_checkpoint(str(checkpoint("bert")))
    monkeypatch.setattr(loaded.model, "set_attn_implementation", lambda _name: None)
    reader = PackedJointReader(loaded, torch.device("cpu"))
    tokens = torch.tensor([5, 6, 7], dtype=torch.int32)
    with torch.inference_mode(), pytest.raises(ModelError, match="cannot be replaced"):
        reader.logits(tokens, np.array([[0, 2, 2, 1], [0, 1, 1, 1]]))


def test_the_model_alone_refuses_rows_of_several_pairs(opened: Open) -> None:
    model = opened().checkpoint.model
    with pytest.raises(ModelError, match="without the places of pairs"):
        model(input_ids=torch.tensor([[2, 5, 3, 6, 3]]))


@pytest.fixture
def on_gpu() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return torch.device("cuda")


@pytest.mark.gpu
def test_gpu_packed_equals_padded_and_that_of_a_cpu(
    on_gpu: torch.device, folder: Path, pairs: Pairs, number: Number, across_devices: float
) -> None:
    packed = NLIScorer(str(folder), device=str(on_gpu), batch_tokens=500)
    assert isinstance(packed.reader, PackedJointReader)
    found = packed.score(*number(pairs))
    for device in ("cpu", str(on_gpu)):
        padded = NLIScorer(str(folder), device=device, packing="padded")
        _check_equal(found, padded.score(*number(pairs)), across_devices)


@pytest.mark.parametrize("family", ["roberta", "modernbert"])
def test_compiled_layers_give_the_same_answers_and_are_compiled_once(
    family: str, opened: Open, pairs: Pairs, number: Number
) -> None:
    torch.compiler.reset()
    plain, scorer = (opened(family, workers=1, batch_tokens=500) for _ in range(2))
    graphs: list[torch.fx.GraphModule] = []

    def noted(graph: torch.fx.GraphModule, _inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    for name, layer in scorer.checkpoint.model.base_model.named_modules():
        if re.fullmatch(r"(encoder\.)?layers?\.\d+", name):
            layer.compile(backend=noted, dynamic=True)
    _check_equal(scorer.score(*number(pairs)), plain.score(*number(pairs)))
    count = len(graphs)
    assert count >= 2  # before attention and after it
    scorer.score(*number(pairs[7:]))
    assert len(graphs) == count


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gpu_packed_is_within_twice_the_error_of_padded(
    on_gpu: torch.device, dtype: str, folder: Path, pairs: Pairs, number: Number
) -> None:
    exact = NLIScorer(str(folder), device="cpu", packing="padded").score(*number(pairs)).entailment
    packed, padded = (
        NLIScorer(str(folder), device=str(on_gpu), dtype=dtype, packing=packing)
        for packing in ("packed", "padded")
    )
    own = packed.checkpoint.model.config.model_type not in DISENTANGLED
    assert packed.traits.signature["pack"] == ("varlen" if own else "blocks")
    errors = [np.abs(s.score(*number(pairs)).entailment - exact).max() for s in (packed, padded)]
    assert errors[0] <= 2 * errors[1] + 1e-3


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gpu_packed_answers_do_not_depend_on_the_batch(
    on_gpu: torch.device, dtype: str, folder: Path, pairs: Pairs, number: Number
) -> None:
    scorer = NLIScorer(str(folder), device=str(on_gpu), dtype=dtype, packing="packed")
    table, numbered = number(pairs)
    together = scorer.score(table, numbered)
    for row in (0, 20, len(pairs) - 1):
        alone = scorer.score(table, numbered[[row]])
        _check_equal(alone, together.take(slice(row, row + 1)), 2e-3)


def test_a_kernel_that_cannot_be_built_changes_no_answer(
    opened: Open, pairs: Pairs, number: Number, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise KernelBuildError("no compiler")

    class KernelBuildError(Exception):
        """As Triton's own, no RuntimeError."""

    expected = opened().score(*number(pairs[:6]))
    monkeypatch.setattr(packing, "packing_path", lambda _tokens: "triton")
    monkeypatch.setitem(packing.PATHS, "triton", broken)
    with pytest.warns(RuntimeWarning, match="KernelBuildError: no compiler"):
        scorer = opened()
    _check_equal(scorer.score(*number(pairs[:6])), expected)


def test_any_failure_of_a_model_comes_with_advice(
    opened: Open, pairs: Pairs, number: Number, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = opened()
    encoder = scorer.checkpoint.model.base_model
    monkeypatch.setattr(encoder, "forward", lambda **_: (_ for _ in ()).throw(KeyError("gcc")))
    with pytest.raises(BackendError, match=r"failed: 'gcc'; .* --packing padded asks less"):
        scorer.score(*number(pairs[:2]))


def test_every_layer_of_every_batch_has_the_attention_that_keeps_pairs_apart(
    opened: Open, pairs: Pairs, number: Number, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Segments] = []

    def noted(*given: Any, **options: Any) -> Segments:
        made.append(Segments(*given, **options))
        return made[-1]

    monkeypatch.setattr(registered, "Segments", noted)
    scorer = opened()
    scorer.score(*number(pairs[:6]))
    layers = scorer.checkpoint.model.config.num_hidden_layers
    assert len(made) > 2
    assert {segments.uses for segments in made} == {layers}
