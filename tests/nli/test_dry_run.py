"""Forward passes without numbers: shapes and precisions fit, and nothing makes a GPU wait.

The tensors are torch's fakes, which have a shape, a dtype and a device, and no content. Code that
asks for a number, for which it would wait on a GPU, fails on them. Where torch was built for CUDA
they pretend to lie on a CUDA device, which need not be there: then tensors of two devices fail as
well, and so does a copy to the host. Heads are computed in the model's precision here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedModel

from prevalence.kernels.packing import PackedPairs
from prevalence.nli import registered
from prevalence.nli.disentangled import DISENTANGLED, DisentangledEncoder
from prevalence.nli.packed import Grid, Packed, PackedClassifier
from prevalence.nli.premise_first import pack
from prevalence.nli.registered import PACKED_FAMILIES, RegisteredEncoder, head_of
from prevalence.nli.tokens import BlockLayout

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEVICE = "cuda" if torch.backends.cuda.is_built() else "cpu"
LENGTHS = np.array([40, 33, 20, 20, 9, 2])
KINDS = {
    "varlen": (torch.float16, True),
    "blocks": (torch.float16, False),
    "float32": (torch.float32, False),
}


def _model(folder: Path, dtype: torch.dtype, **changes: Any) -> Any:
    """A classifier of fakes, all in one precision."""
    config = AutoConfig.from_pretrained(folder, **changes)
    with pytest.MonkeyPatch.context() as patch, torch.device(DEVICE):
        # Drawing weights asks for numbers.
        patch.setattr(PreTrainedModel, "init_weights", lambda _self: None)
        model = AutoModelForSequenceClassification.from_config(config, dtype=dtype).eval()
    for module in model.modules():
        for name, weight in module.named_parameters(recurse=False):
            setattr(module, name, torch.nn.Parameter(weight.to(dtype), requires_grad=False))
    return model


def _rows() -> PackedPairs:
    size, count = int(LENGTHS.sum()), len(LENGTHS)
    ids, types, positions = (
        torch.empty(size, dtype=torch.int32, device=DEVICE) for _ in range(3)
    )  # fmt: skip
    return PackedPairs(
        ids, types, positions, torch.empty(count + 1, dtype=torch.int32, device=DEVICE)
    )


def _encoder(model: Any) -> Any:
    if model.config.model_type not in DISENTANGLED:
        return RegisteredEncoder(model, "fake")
    # The check of a model compares numbers.
    return DisentangledEncoder(model, 64, "fake", check=False)


class _OnDevice(TorchDispatchMode):
    """Refuses copies to another device."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        wanted = (kwargs or {}).get("device")
        if func is torch.ops.aten._to_copy.default and wanted is not None:
            assert torch.device(wanted).type == args[0].device.type
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", PACKED_FAMILIES)
def test_packed_rows(
    family: str, kind: str, checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    dtype, varlen = KINDS[kind]
    if varlen:
        pytest.importorskip("torch.nn.attention.varlen")
    monkeypatch.setattr(registered, "uses_varlen", lambda *_: varlen)
    # A copy in float32 would have to exchange the fakes' content.
    monkeypatch.setattr(registered, "_in_float32", lambda module: module)
    # Some versions of transformers have the function of buckets compiled, which takes no fakes.
    more = {"position_buckets": -1} if family == "deberta-v2" else {}
    folder = checkpoint(family)
    with FakeTensorMode():
        model = _model(folder, dtype, **more)
        encoder = _encoder(model)
        rows = _rows()
        with torch.inference_mode(), _OnDevice():
            states = encoder(rows, LENGTHS)
            logits = head_of(model)(states.to(dtype))
    assert (states.shape, states.device.type) == ((len(LENGTHS), 32), DEVICE)
    assert (logits.shape, logits.dtype, logits.device.type) == ((len(LENGTHS), 3), dtype, DEVICE)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_premise_first_rows(
    family: str, dtype: torch.dtype, checkpoint: Callable[..., Path]
) -> None:
    layout = BlockLayout(prefix=np.array([1]), suffix=np.array([2]))
    spans = np.array([[0, 9, 9, 3], [0, 9, 12, 5], [20, 4, 9, 3]])
    arrays = pack(np.arange(30), spans, layout)
    kinds = {np.dtype(bool): torch.bool, np.dtype(np.int64): torch.int64}
    folder = checkpoint(family)
    with FakeTensorMode():
        network = PackedClassifier(_model(folder, dtype))

        def fake(part: Any) -> Any:
            if isinstance(part, Grid):
                return Grid(*map(fake, part))
            if isinstance(part, tuple):
                return tuple(map(fake, part))
            return torch.empty(part.shape, dtype=kinds[part.dtype], device=DEVICE)

        with torch.inference_mode(), _OnDevice():
            logits = network(Packed(*map(fake, arrays)))
    assert (logits.shape, logits.dtype, logits.device.type) == ((3, 3), dtype, DEVICE)


def test_waiting_for_a_number_would_be_noticed() -> None:
    with FakeTensorMode(), pytest.raises(DataDependentOutputException):
        _rows().starts.max().item()


@pytest.mark.skipif(DEVICE == "cpu", reason="this torch was not built for CUDA")
def test_a_copy_to_the_host_would_be_noticed() -> None:
    with FakeTensorMode():
        starts = _rows().starts
        with _OnDevice(), pytest.raises(AssertionError):
            starts.cpu()
