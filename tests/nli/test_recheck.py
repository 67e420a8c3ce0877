"""Decisions in low precision that are those of float32, because the doubtful ones are."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prevalence.errors import ConfigurationError
from prevalence.nli.cache import CachedScorer, PairCache
from prevalence.nli.pairs import PairScorer
from prevalence.nli.recheck import RecheckedScorer
from prevalence.records import Product, Review, Summary
from prevalence.scorers.calibrated import CalibratedScorer, IsotonicMap, LogitMap
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.scoring.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prevalence.nli.pairs import TextTable

    Pairs = Sequence[tuple[str, str]]
    Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]

TEXTS = ("dry", "light", "warm", "sturdy", "short")
EXACT = {("dry", h): (p, 0.1) for h, p in zip(TEXTS, (0.20, 0.29, 0.31, 0.40, 0.90), strict=True)}
# Rounded the wrong way: at threshold .3 the second and third turn. All errors in the log-odds are
# at most .15; a doubt of .2 reaches from .260 to .344.
ROUNDED = {pair: (p, 0.2) for pair, p in zip(EXACT, (0.22, 0.31, 0.29, 0.41, 0.89), strict=True)}


@pytest.fixture
def twins(fake_scorer: Any) -> tuple[Any, Any]:
    """A scorer in low precision and the one in float32."""
    return (
        fake_scorer(ROUNDED, threshold=0.3, doubt=0.2, digest=b"low"),
        fake_scorer(EXACT, threshold=0.3, digest=b"float32"),
    )


@pytest.fixture
def five(number: Number) -> tuple[TextTable, np.ndarray]:
    return number(list(EXACT))


def test_only_what_is_in_doubt_is_asked_again(twins: Any, five: Any) -> None:
    fast, exact = twins
    scorer = RecheckedScorer(fast, lambda: exact)
    finished: list[int] = []
    found = scorer.score(*five, progress=finished.append)
    assert exact.asked == [("dry", "light"), ("dry", "warm")]
    assert found.entailment.tolist() == pytest.approx([0.22, 0.29, 0.31, 0.41, 0.89])
    assert found.contradiction.tolist() == pytest.approx([0.2, 0.1, 0.1, 0.2, 0.2])
    assert (scorer.counts.rechecked, scorer.counts.turned, sum(finished)) == (2, 2, 5)
    assert scorer.traits.doubt == 0.0
    assert isinstance(scorer, PairScorer)


def test_the_exact_model_is_opened_once_and_only_for_a_doubtful_pair(twins: Any, five: Any) -> None:
    fast, exact = twins
    opened: list[Any] = []
    scorer = RecheckedScorer(fast, lambda: opened.append(1) or exact, threshold=0.6)
    scorer.score(*five)
    assert (opened, scorer.counts.rechecked) == ([], 0)
    for _ in range(2):
        scorer.at(0.3).score(*five)
        scorer.at(0.4).score(*five)
    assert opened == [1]


def test_every_threshold_has_a_digest_of_its_own_and_the_signature_tells(twins: Any) -> None:
    fast, exact = twins
    scorer = RecheckedScorer(fast, lambda: exact)
    assert dict(scorer.traits.signature) == {"nli": "fake@1", "recheck": "float32"}
    assert scorer.at(0.3).traits.digest == scorer.traits.digest
    assert len({fast.traits.digest, scorer.traits.digest, scorer.at(0.31).traits.digest}) == 3
    with pytest.raises(ConfigurationError, match="threshold"):
        scorer.at(1.0)


def test_caches_below_serve_every_threshold(twins: Any, five: Any, tmp_path: Path) -> None:
    fast, exact = twins
    # Five, and those near .3 in float32; near .4 lies .41 alone. Later rounds know all of them.
    for asked in (5 + 2 + 1, 0, 0):
        fast.asked.clear()
        exact.asked.clear()
        scorer = RecheckedScorer(
            CachedScorer(fast, PairCache(tmp_path)),
            lambda: CachedScorer(exact, PairCache(tmp_path)),
        )
        scorer.score(*five)
        scorer.at(0.4).score(*five)
        assert len(fast.asked) + len(exact.asked) == asked
    assert scorer.counts.hits == 10


def test_the_engine_decides_at_its_own_threshold(twins: Any) -> None:
    fast, exact = twins
    product = Product("p", (Review("dry"),), (Summary("a", "warm"), Summary("b", "light")))
    for wrap in (lambda s: s, lambda s: CachedScorer(s, _Kept())):
        scorer = wrap(RecheckedScorer(fast, lambda: exact, threshold=0.8))
        engine = Engine(scorer, ScoringOptions(threshold=0.3))
        assert [row.prevalence for row in engine.run([product])] == [1.0, 0.0]
        assert engine.counts.doubtful == 0
        assert "|recheck:float32|" in engine.signature()
    plain = Engine(fast, ScoringOptions(threshold=0.3))
    assert [row.prevalence for row in plain.run([product])] == [0.0, 1.0]
    assert plain.counts.doubtful == 2


class _Kept(dict[bytes, Any]):
    """A cache in memory."""

    def get(self, keys: Any) -> Any:
        return {key: self[key] for key in keys if key in self}

    def put(self, entries: Any) -> None:
        self.update(entries)


def test_a_scorer_that_does_not_care_stays_itself(twins: Any) -> None:
    fast, _ = twins
    cached = CachedScorer(fast, _Kept())
    assert fast.at(0.9) is fast
    assert cached.at(0.9) is cached


class _Calibration:
    digest = "ab" * 8

    def __init__(self, score_map: Any, digest: bytes, threshold: float = 0.3) -> None:
        self.threshold = threshold
        self.score_map = score_map
        self._digest = digest

    def check(self, scorer: Any) -> None:
        assert scorer.traits.digest == self._digest

    def error_rates(self, threshold: float) -> None:
        return None


@pytest.mark.parametrize(
    "score_map", [None, LogitMap(2.0), IsotonicMap((0.0, 0.3, 1.0), (0.1, 0.5, 0.9))]
)
def test_a_calibration_is_of_the_low_precision_and_decides_as_float32(
    score_map: Any, twins: Any, five: Any
) -> None:
    fast, exact = twins
    low = RecheckedScorer(fast, lambda: exact, threshold=0.9)
    calibration: Any = _Calibration(score_map, fast.traits.digest)
    scorer = CalibratedScorer(low, calibration)
    found = scorer.score(*five).entailment > np.float32(scorer.traits.threshold)
    assert found.tolist() == [False, False, True, True, True]
    assert (scorer.traits.doubt, scorer.counts.rechecked, scorer.counts.turned) == (0.0, 2, 2)
    with pytest.raises(ConfigurationError, match="--no-recheck"):
        scorer.at(0.77)
    plain = CalibratedScorer(exact, _Calibration(None, exact.traits.digest))  # type: ignore[arg-type]
    assert plain.at(0.77) is plain


def test_rows_of_a_calibrated_threshold_of_many_digits_come_out_again(twins: Any) -> None:
    fast, exact = twins
    low = RecheckedScorer(fast, lambda: exact, threshold=0.9)
    calibration: Any = _Calibration(None, fast.traits.digest, threshold=0.300000011920929)
    scorer = CalibratedScorer(low, calibration)
    product = Product("p", (Review("dry"),), (Summary("s", "warm\nlight"),))
    rows = list(Engine(scorer, ScoringOptions(splitter="lines")).run([product]))
    assert "|thr:0.300000011921|" in rows[0].signature
    assert [found.problem for found in verify(rows, [product], scorer)] == [""]


@pytest.fixture
def gentle(checkpoint: Callable[..., Path], tmp_path: Path) -> str:
    """A model of log-odds like a trained one's, which rounding moves by less than its doubt."""
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "gentle"
    shutil.copytree(checkpoint("bert"), folder)
    path = folder / "model.safetensors"
    weights = load_file(path)
    for name in ("classifier.weight", "classifier.bias"):
        weights[name] *= 0.2
    save_file(weights, path, metadata={"format": "pt"})
    return str(folder)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_real_model_whose_decisions_turn(
    dtype: str, gentle: str, pairs: Pairs, number: Number
) -> None:
    """Thresholds between the probabilities of the two precisions, so that decisions must turn."""
    folder, table = gentle, number(pairs)
    exact = open_scorer(folder, device="cpu", threshold=0.5)
    low = open_scorer(folder, device="cpu", dtype=dtype, threshold=0.5, recheck=False)
    scorer = open_scorer(folder, device="cpu", dtype=dtype, threshold=0.5)
    true, rounded = (s.score(*table).entailment.astype(np.float64) for s in (exact, low))
    moved = np.abs(np.log(true / (1 - true)) - np.log(rounded / (1 - rounded)))
    assert 0 < moved.max() < low.traits.doubt
    for row in np.argsort(-np.abs(true - rounded))[:3]:
        threshold = float((true[row] + rounded[row]) / 2)
        assert (true[row] > threshold) != (rounded[row] > threshold)
        safe = scorer.at(threshold)
        found = safe.score(*table).entailment > threshold
        assert found.tolist() == (true > threshold).tolist()
        assert 1 <= safe.counts.turned <= safe.counts.rechecked


def test_a_model_that_rounding_moves_further_is_told(twins: Any, five: Any) -> None:
    fast, exact = twins
    # It reaches .30 and .31, which are off by .1.
    fast.traits = replace(fast.traits, doubt=0.05)
    scorer = RecheckedScorer(fast, lambda: exact)
    with pytest.warns(
        RuntimeWarning, match=r"moved the log-odds of a pair by 0\.10.*choose float32"
    ):
        scorer.score(*five)
    scorer.score(*five)  # once is enough


def test_float32_and_those_who_want_none_are_not_rechecked(checkpoint: Callable[..., Path]) -> None:
    folder = str(checkpoint("bert"))
    plain = open_scorer(folder, device="cpu")
    low = open_scorer(folder, device="cpu", dtype="bfloat16", recheck=False)
    safe = open_scorer(folder, device="cpu", dtype="bfloat16")
    assert not plain.traits.rechecks
    assert not low.traits.rechecks
    assert safe.traits.rechecks
    assert isinstance(safe, RecheckedScorer)
    assert safe.fast.traits.digest == low.traits.digest
    assert (safe.traits.threshold, safe.traits.calibrated) == (low.traits.threshold, False)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_gpu_decides_as_it_does_in_float32(
    dtype: str, gentle: str, pairs: Pairs, number: Number
) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    table = number(pairs)
    true = open_scorer(gentle, device="cuda").score(*table).entailment
    threshold = float(np.median(true))
    safe = open_scorer(gentle, device="cuda", dtype=dtype, threshold=threshold)
    found = safe.score(*table).entailment
    assert ((found > threshold) == (true > threshold)).all()
    assert safe.counts.rechecked > 0
