"""What a measurement states beside its numbers, and what the device can do at best."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["allocated", "environment", "forget_compiled", "matmul_rate", "peak_memory", "release",
           "synchronize"]  # fmt: skip

_ROOT = Path(__file__).resolve().parents[2]
_RATE_SECONDS = 2.0
_NAMED = ("prevalence", "torch", "transformers", "numpy", "triton", "sentence-transformers")


def environment(device: str) -> dict[str, Any]:
    """Date, commit, device and versions."""
    import torch

    on_gpu = device.startswith("cuda")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "device": torch.cuda.get_device_name(device) if on_gpu else f"CPU {_processor()}",
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
        "versions": {name: found for name in _NAMED if (found := _version(name))}
        | {"python": platform.python_version()},
    }


def matmul_rate(device: str, dtype: str, *, size: int | None = None) -> float:
    """The best rate of a dense square matrix product, in floating-point operations a second.

    Args:
        device: where.
        dtype: name of the precision.
        size: rows and columns; None takes what fills the device.
    """
    import torch

    on_gpu = device.startswith("cuda")
    n = size or (8192 if on_gpu else 1024)
    left, right = (torch.randn(n, n, device=device).to(getattr(torch, dtype)) for _ in range(2))
    best, spent = float("inf"), 0.0
    for _ in range(20):
        synchronize(device)
        begin = time.perf_counter()
        left @ right
        synchronize(device)
        took = time.perf_counter() - begin
        best, spent = min(best, took), spent + took
        if spent > _RATE_SECONDS:  # half precision on a CPU takes seconds a product
            break
    return 2.0 * n**3 / best


def synchronize(device: str) -> None:
    """Wait until a CUDA device has done what it was told; a CPU always has."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize(device)


def release(device: str) -> None:
    """Give memory that nothing uses any more back to a CUDA device."""
    if device.startswith("cuda"):
        import torch

        # One that has failed for good fails whatever comes next too, which says so itself.
        with suppress(RuntimeError):
            torch.cuda.empty_cache()


def forget_compiled() -> None:
    """Drop all compiled code: of one function torch compiles a few versions, and no more."""
    import torch

    torch.compiler.reset()


def allocated(device: str) -> int | None:
    """Bytes that lie on a CUDA device now, from where its peak is counted anew."""
    if not device.startswith("cuda"):
        return None
    import torch

    torch.cuda.reset_peak_memory_stats(device)
    return int(torch.cuda.memory_allocated(device))


def peak_memory(device: str, before: int | None) -> int | None:
    """Bytes beyond ``before`` at the peak since :func:`allocated`; None on a CPU."""
    if before is None:
        return None
    import torch

    return int(torch.cuda.max_memory_allocated(device)) - before


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Short hash with a plus where files differ from it; None where this is no checkout."""
    if not (_ROOT / ".git").exists():
        return None
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        described = subprocess.run(command, capture_output=True, text=True, check=False, cwd=_ROOT)
    except OSError:
        return None
    return described.stdout.strip() or None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
