"""Fixtures that every test folder may use."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from prevalence.nli.pairs import (
    FLAG_TOO_LONG,
    PairScorer,
    PairScores,
    Progress,
    ScorerTraits,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from prevalence.nli.pairs import TextTable


# One thread for torch, in what tests start as well: thread pools cost more than they give on arrays
# and models as small as those of tests.
os.environ["OMP_NUM_THREADS"] = "1"

# How long an example takes says more of the machine's other work than of the code.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of released data that is not part of the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("PREVALENCE_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set PREVALENCE_DATA to its folder")
    return folder


@pytest.fixture(scope="module")
def interpreted_attention() -> Iterator[None]:
    """The GPU kernel of attention on the CPU: a copy of its module, made for the interpreter.

    Whether a kernel is interpreted is settled when it is defined, so the kernels in Triton's own
    library are exchanged as well. The interpreter leaves traces in that library, which go again.
    """
    tl = pytest.importorskip("triton.language")
    from triton.runtime import interpreter
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    if "int(self.handle.data)" in Path(interpreter.__file__).read_text(encoding="utf-8"):
        pytest.skip("this Triton's interpreter has no loops with this NumPy")

    name = "prevalence.kernels.attention_triton"
    usual = sys.modules.pop(name, None)
    kept = [(module, dict(vars(module))) for module in (tl, tl.core, tl.math, tl.standard)]
    compiled = {key: part for key, part in vars(tl).items() if isinstance(part, JITFunction)}
    vars(tl).update({key: InterpretedFunction(part.fn) for key, part in compiled.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        yield
    for module, parts in kept:
        vars(module).update(parts)
    sys.modules.pop(name, None)
    if usual is not None:
        sys.modules[name] = usual


TRAITS = ScorerTraits(
    digest=b"fake",
    signature={"nli": "fake@1"},
    threshold=0.5,
    calibrated=True,
    three_way=True,
    probability=True,
    doubt=0.0,
    rechecks=False,
    cached=False,
    devices=1,
    work_unit=4096,
    errors=None,
)


class FakeScorer(PairScorer):
    """A pair scorer without a model; it remembers what it was asked.

    Args:
        answers: (P(entailment), P(contradiction)) by (premise, hypothesis), (0, 0) for all other
            pairs; None derives both from a hash of the two texts.
        too_long: hypotheses that leave the premise no room.
        traits: those that differ from the usual ones.
    """

    def __init__(
        self,
        answers: Mapping[tuple[str, str], tuple[float, float]] | None = None,
        *,
        too_long: frozenset[str] = frozenset(),
        **traits: Any,
    ) -> None:
        super().__init__(replace(TRAITS, **traits))
        self.answers = answers
        self.too_long = too_long
        self.asked: list[tuple[str, str]] = []

    def answer(self, premise: str, hypothesis: str) -> tuple[np.float32, np.float32]:
        """P(entailment) and P(contradiction) of one pair."""
        if self.answers is not None:
            yes, no = self.answers.get((premise, hypothesis), (0.0, 0.0))
            return np.float32(yes), np.float32(no)
        data = f"{premise}\0{hypothesis}".encode("utf-8", "surrogatepass")
        first, second = np.frombuffer(hashlib.blake2b(data, digest_size=4).digest(), np.uint16)
        yes = (int(first) / 65535) ** 2
        return np.float32(yes), np.float32((1 - yes) * int(second) / 65535)

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Answer every pair."""
        scores = PairScores.empty(len(pairs))
        for row, (first, second) in enumerate(pairs.tolist()):
            premise, hypothesis = texts[first], texts[second]
            self.asked.append((premise, hypothesis))
            if hypothesis in self.too_long:
                scores.flags[row] = FLAG_TOO_LONG
                continue
            scores.entailment[row], no = self.answer(premise, hypothesis)
            if self.traits.three_way:
                scores.contradiction[row] = no
        if progress is not None:
            progress(len(pairs))
        return scores


@pytest.fixture(scope="session")
def fake_scorer() -> type[FakeScorer]:
    """The class of pair scorers without a model."""
    return FakeScorer
