"""The GPU kernel of packing as machine code."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("tokens", ["*i32", "*i64"])
@pytest.mark.parametrize("capability", [80, 90])
def test_the_kernel_compiles_for_gpus_that_are_not_here(tokens: str, capability: int) -> None:
    """To machine code, by Triton's own compiler and assembler, which need no device."""
    triton = pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from prevalence.kernels.packing_triton import OPTIONS, fill

    tensors = {"tokens": tokens, "spans": "*i64", "starts": "*i32", "table": "*i64"}
    written = dict.fromkeys(("ids", "kinds", "positions"), tokens)
    numbers = dict.fromkeys(("prefix", "middle", "first_position"), "i32")
    signature = tensors | written | numbers | {"block": "constexpr"}
    assert list(signature) == fill.arg_names
    source = ASTSource(fill, signature, {(len(signature) - 1,): 128})
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=OPTIONS)
    assert compiled.asm["cubin"]
    assert f".target sm_{capability}" in compiled.asm["ptx"]
