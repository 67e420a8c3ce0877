"""Assemble pairs from token slices without padding: one row of all tokens, and where pairs begin.

What an encoder with attention over sequences of unequal length takes. The special tokens come from
the tokenizer's own pair template, as in :mod:`prevalence.kernels.assembly`.
"""

from __future__ import annotations

import importlib.util
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from prevalence.kernels.assembly import PairLayout

__all__ = ["PATHS", "PackedPairs", "PackingPath", "assemble_packed", "packing_path", "sent",
           "working_path"]  # fmt: skip

PackingPath = Literal["numba", "triton", "torch"]
Ints = NDArray[np.int64]
Starts = NDArray[np.int32]


class PackedPairs(NamedTuple):
    """B pairs of N tokens together, arrays or tensors as the tokens that they were made from.

    Attributes:
        ids: [N], in the dtype of the tokens.
        types: [N], token types, likewise.
        positions: [N], counted anew in each pair, likewise.
        starts: int32 [B + 1], where each pair begins, and N.
    """

    ids: Any
    types: Any
    positions: Any
    starts: Any


def packing_path(tokens: Any) -> PackingPath:
    """How :func:`assemble_packed` works on these tokens unless it is told otherwise.

    Returns:
        ``numba`` for an array or a tensor on the CPU, ``triton`` for one on a CUDA device where
        that package is installed, ``torch`` for all others.
    """
    if isinstance(tokens, np.ndarray) or tokens.device.type == "cpu":
        return "numba"
    if tokens.device.type == "cuda" and importlib.util.find_spec("triton") is not None:
        return "triton"
    return "torch"


def working_path(tokens: Any, layout: PairLayout) -> PackingPath:
    """The path of :func:`packing_path`, after its GPU kernel has been built and run once.

    Building needs a C compiler and a driver that fit, which the package cannot bring along.

    Args:
        tokens: int [T], at least one, as :func:`assemble_packed` will be given.
        layout: special tokens and token types.

    Returns:
        The path; ``torch``, with a warning that says why, where the kernel cannot be built.
    """
    path = packing_path(tokens)
    if path != "triton":
        return path
    try:
        assemble_packed(tokens, np.array([[0, 1, 0, 1]]), layout, path=path)
    except Exception as error:
        # Triton's errors, those of the compiler that it starts, and the driver's have no base.
        told = str(error).strip().partition("\n")[0][:200]
        warnings.warn(
            f"the Triton kernel that lays out pairs cannot be built here ({type(error).__name__}: "
            f"{told}); plain torch does it",
            RuntimeWarning,
            stacklevel=2,
        )
        return "torch"
    return path


def assemble_packed(
    tokens: Any,
    spans: Any,
    layout: PairLayout,
    *,
    first_position: int = 0,
    path: PackingPath | None = None,
) -> PackedPairs:
    """Lay pairs one after the other: prefix, premise, middle, hypothesis, suffix of each.

    Args:
        tokens: int [T], all texts' tokens without special ones; an array, or a tensor on any
            device.
        spans: int64 [B, 4]: premise start and length, hypothesis start and length, in ``tokens``.
            Best an array or a tensor on the CPU, from which a GPU is fed without being waited for.
        layout: special tokens and token types.
        first_position: position of the first token of a pair (RoBERTa's is padding + 1).
        path: one of :data:`PATHS`; None takes that of :func:`packing_path`.

    Returns:
        The batch, where the tokens are.

    Raises:
        ValueError: a span lies outside ``tokens``; the compiled loops would read foreign memory.
    """
    host = spans if isinstance(spans, np.ndarray) else spans.cpu().numpy()
    host = np.ascontiguousarray(host, np.int64)
    if host.ndim != 2 or host.shape[1] != 4:
        raise ValueError(f"spans must have 4 columns, not the shape {host.shape}")
    ends = host[:, ::2] + host[:, 1::2]
    if host.min(initial=0) < 0 or ends.max(initial=0) > len(tokens):
        raise ValueError(f"spans must lie within the {len(tokens)} tokens")
    starts = np.zeros(len(host) + 1, np.int32)
    np.cumsum(layout.special + host[:, 1] + host[:, 3], out=starts[1:], dtype=np.int64)
    assemble = PATHS[path or packing_path(tokens)]
    return assemble(tokens, host, starts, layout, first_position)


def _by_numba(
    tokens: Any, spans: Ints, starts: Starts, layout: PairLayout, first_position: int
) -> PackedPairs:
    """The compiled loop; numba is imported on the first call."""
    from prevalence.kernels.assembly_numba import fill_packed

    plain = isinstance(tokens, np.ndarray)
    source = np.ascontiguousarray(tokens if plain else tokens.numpy())
    ids, types, positions = (np.empty(int(starts[-1]), source.dtype) for _ in range(3))
    fill_packed(
        source,
        spans,
        starts,
        layout.prefix,
        layout.middle,
        layout.suffix,
        layout.types,
        first_position,
        ids,
        types,
        positions,
    )
    if plain:
        return PackedPairs(ids, types, positions, starts)
    import torch

    return PackedPairs(*map(torch.from_numpy, (ids, types, positions, starts)))


def _by_torch(
    tokens: Any, spans: Ints, starts: Starts, layout: PairLayout, first_position: int
) -> PackedPairs:
    """The plain version: for each token of the batch its pair, its part of it, and its source."""
    import torch

    source = torch.from_numpy(tokens) if isinstance(tokens, np.ndarray) else tokens
    device, pairs = source.device, len(spans)
    where, bounds = sent(torch.from_numpy(spans), device), sent(torch.from_numpy(starts), device)
    fixed = [len(part) for part in (layout.prefix, layout.middle, layout.suffix)]
    lengths = torch.empty(pairs, 5, dtype=torch.int64, device=device)
    lengths[:, ::2] = torch.tensor(fixed, device=device)
    lengths[:, 1::2] = where[:, 1::2]
    # The special tokens stand behind the texts, so that every part is a slice of one array.
    pool = torch.cat([source, _specials(layout).to(source)])
    origin = torch.empty_like(lengths)
    origin[:, ::2] = len(source) + torch.tensor([0, fixed[0], fixed[0] + fixed[1]], device=device)
    origin[:, 1::2] = where[:, ::2]
    flat = lengths.flatten()
    place = torch.arange(int(starts[-1]), device=device)
    from_part = origin.flatten() - (flat.cumsum(0) - flat)
    types = torch.from_numpy(layout.types).to(source).repeat(pairs)
    batch = PackedPairs(
        pool[torch.repeat_interleave(from_part, flat) + place],
        torch.repeat_interleave(types, flat),
        (place - torch.repeat_interleave(bounds[:-1], bounds.diff()) + first_position).to(source),
        bounds,
    )
    return batch if source is tokens else PackedPairs(*(part.numpy() for part in batch))


def _by_triton(
    tokens: Any, spans: Ints, starts: Starts, layout: PairLayout, first_position: int
) -> PackedPairs:
    """The kernel of :mod:`prevalence.kernels.packing_triton`; it is imported on the first call."""
    import torch

    from prevalence.kernels.packing_triton import launch

    device = tokens.device
    size = (int(starts[-1]),)
    ids, types, positions = (torch.empty(size, dtype=tokens.dtype, device=device) for _ in range(3))
    bounds = sent(torch.from_numpy(starts), device)
    fixed = [len(part) for part in (layout.prefix, layout.middle, layout.suffix)]
    if size[0]:
        given = tokens.contiguous(), sent(torch.from_numpy(spans), device), bounds
        # A kernel is launched on the current device, which need not be that of the tokens.
        current: Any = torch.cuda.device_of
        with current(tokens):
            launch(
                given,
                _table((*layout.types.tolist(), *_specials(layout).tolist()), device),
                (ids, types, positions),
                longest=int(np.diff(starts).max()),
                fixed=fixed,
                first_position=first_position,
            )
    return PackedPairs(ids, types, positions, bounds)


def _specials(layout: PairLayout) -> Any:
    import torch

    return torch.from_numpy(np.concatenate([layout.prefix, layout.middle, layout.suffix]))


def sent(tensor: Any, device: Any) -> Any:
    """A tensor's copy on a device; to a CUDA device from pinned memory, without waiting for it.

    Args:
        tensor: in the host's memory.
        device: torch device; the tensor itself where it lies there already.
    """
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


@lru_cache(maxsize=16)
def _table(numbers: tuple[int, ...], device: Any) -> Any:
    """Token types of the five parts and special tokens, int64, kept on the device."""
    import torch

    return torch.tensor(numbers, dtype=torch.int64, device=device)


PATHS = {"numba": _by_numba, "triton": _by_triton, "torch": _by_torch}
"""Ways to compute the same: compiled for a CPU, compiled for a GPU, and plain torch anywhere."""
