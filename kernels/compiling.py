"""How loops are compiled for a CPU; importing it imports numba."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["compiled"]


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """A function compiled when it is first called, with its machine code kept on disk.

    Where no folder can be written to keep it, it is compiled in each process.

    Args:
        function: within the part of Python that numba compiles.
        options: more of numba's.
    """
    njit: Any = partial(numba.njit, nogil=True, **options)
    try:
        return njit(cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return njit()(function)  # type: ignore[no-any-return]
