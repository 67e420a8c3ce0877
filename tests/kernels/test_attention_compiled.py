"""The GPU kernel of attention as machine code."""

from __future__ import annotations

import pytest

CASES = [("fp16", 32, False, False), ("bf16", 64, True, True), ("fp32", 64, False, True)]


@pytest.mark.parametrize(("dtype", "size", "selected", "relative"), CASES)
@pytest.mark.parametrize("capability", [80, 90])
def test_the_kernel_compiles_for_gpus_that_are_not_here(
    dtype: str, size: int, selected: bool, relative: bool, capability: int
) -> None:
    """To machine code, by Triton's own compiler and assembler, which need no device."""
    triton = pytest.importorskip("triton")
    import torch
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from prevalence.kernels.attention_triton import OPTIONS, attend_tile, constants, warps

    queries = 16 if selected else 64
    fixed = constants(12, size, queries=queries, selected=selected, relative=relative)
    matrices = ("query", "key", "value", "out")
    kinds = dict.fromkeys((*matrices, "biases"), f"*{dtype}")
    kinds |= dict.fromkeys(("tiles", "positions", "rows", "places"), "*i64")
    kinds |= dict.fromkeys([*(f"{name}_stride" for name in matrices), "reach"], "i32")
    kinds |= dict.fromkeys(("scale", "bias_scale"), "fp32") | dict.fromkeys(fixed, "constexpr")
    names = attend_tile.arg_names
    assert set(kinds) == set(names)
    source = ASTSource(
        attend_tile,
        {name: kinds[name] for name in names},
        {(names.index(name),): value for name, value in fixed.items()},
        # Matrices begin at, and have rows of, a multiple of 16.
        {(names.index(name),): [["tt.divisibility", 16]] for name in (*matrices, *(
            f"{name}_stride" for name in matrices))},
    )  # fmt: skip
    precision = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}[dtype]
    compiled = triton.compile(
        source,
        target=GPUTarget("cuda", capability, 32),
        options={"num_warps": warps(precision), **OPTIONS},
    )
    assert compiled.asm["cubin"]
    assert f".target sm_{capability}" in compiled.asm["ptx"]
