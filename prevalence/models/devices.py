"""Where a network runs, in which precision, and how pairs share a batch, by name."""

from __future__ import annotations

import platform
import warnings
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from prevalence.errors import BackendError, ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

__all__ = [
    "ALL_DEVICES",
    "DTYPES",
    "PACKINGS",
    "PRECISIONS",
    "RoomErrorsPassed",
    "dtype_name",
    "in_software",
    "open_device",
    "out_of_memory",
]

DTYPES = ("auto", "float32", "float16", "bfloat16")
"""Precisions; ``auto`` is float32, whose decisions do not depend on the machine. A model that
writes text takes bfloat16 on a GPU."""
PRECISIONS = ("auto", "float32", "bfloat16")
"""Those with the range of float32, which training needs, and T5, whose activations leave that of
float16."""
PACKINGS = ("auto", "packed", "padded")
"""How pairs share a batch; ``auto`` packs on CUDA devices, and DeBERTa on a CPU too."""
ALL_DEVICES = "all"
"""Every CUDA device of the machine, which several scorers share."""


def open_device(name: str) -> Any:
    """The torch device of that name; ``auto`` is a CUDA device where there is one.

    Raises:
        BackendError: it is not usable here, or names several devices.
    """
    import torch

    if name == ALL_DEVICES or "," in name:
        raise BackendError(
            f"device {name!r}: several devices share the work of NLI models opened by name; "
            "name one device"
        )
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, ImportError) as error:
        raise BackendError(
            f"device {name!r} is not usable here; try device='cpu' or --device cpu"
        ) from error
    return device


def dtype_name(
    name: str, device: torch.device, *, among: Sequence[str] = DTYPES, auto: str = "float32"
) -> str:
    """A precision with ``auto`` resolved; warns where the device computes it slowly.

    Raises:
        ConfigurationError: the name is none of those to choose from.
    """
    if name not in among:
        raise ConfigurationError(f"unknown dtype {name!r}: choose from {', '.join(among)}")
    if name == "auto":
        return auto
    if in_software(name, device):
        warnings.warn(
            f"this processor has no instructions for {name}, which is much slower here than "
            "float32; take float32",
            RuntimeWarning,
            stacklevel=2,
        )
    return name


def in_software(name: str, device: torch.device) -> bool:
    """Whether there are no instructions for a precision: for halves on x86 without AVX-512."""
    import torch

    half = name in ("float16", "bfloat16") and device.type == "cpu"
    x86 = platform.machine().lower() in {"x86_64", "amd64"}
    return half and x86 and torch.backends.cpu.get_cpu_capability() != "AVX512"


_NO_MEMORY = ("out of memory", "not enough memory", "can't allocate memory", "status_alloc_failed")
"""What torch's allocators and the libraries of a CUDA device say, in lower case."""


def out_of_memory(error: Exception) -> bool:
    """Whether an error says that the memory of a device or of the machine ran out."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error).lower()
    return any(told in text for told in _NO_MEMORY)


class RoomErrorsPassed(AbstractContextManager[None, bool]):
    """Leaves the block quietly where memory ran out: what follows can do with less.

    After the block, not in a handler, whose error would hold the failed tensors alive.
    """

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> bool:
        """Whether the error is one of memory."""
        return isinstance(error, RuntimeError | MemoryError) and out_of_memory(error)
