"""Cut premises: which pairs are read again, what is counted, and that no answer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prevalence.api import OpinionPrevalence
from prevalence.errors import ConfigurationError
from prevalence.nli.cuts import CutChecker, CutCounts
from prevalence.nli.pairs import FLAG_TOO_LONG, FLAG_TRUNCATED, PairScores
from prevalence.records import Product, Review, Summary
from prevalence.scorers.registry import ScorerOptions, open_scorer
from prevalence.scoring.engine import Engine, ScoringOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prevalence.nli.pairs import TextTable

    Pairs = Sequence[tuple[str, str]]
    Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]

ASKED = [(f"long {n}", "dry") for n in range(3)] + [("short", "dry"), ("long 3", "endless")]
# Cut at threshold .5: the first says yes, the second turns in windows, the third does not.
CUT = dict(zip(ASKED, [(0.9, 0.0), (0.1, 0.0), (0.2, 0.0), (0.3, 0.0), (0.0, 0.0)], strict=True))
WHOLE = dict(zip(ASKED, [(0.9, 0.0), (0.8, 0.0), (0.4, 0.0), (0.9, 0.0), (0.9, 0.0)], strict=True))


@pytest.fixture
def cutting(fake_scorer: Any) -> type:
    """A scorer without a model that cuts every premise whose first word is "long"."""

    class Cutting(fake_scorer):  # type: ignore[misc]
        def score(self, texts: TextTable, pairs: np.ndarray, **more: Any) -> PairScores:
            scores = super().score(texts, pairs, **more)
            for row, premise in enumerate(pairs[:, 0].tolist()):
                if texts[premise].startswith("long"):
                    scores.flags[row] |= FLAG_TRUNCATED
            return scores

    return Cutting


def test_only_what_was_cut_and_decided_no_is_read_again(
    cutting: type, fake_scorer: Any, number: Number
) -> None:
    whole = fake_scorer(WHOLE)
    cut = cutting(CUT, too_long=frozenset({"endless"}))
    checker = CutChecker(cut, lambda: whole)
    found = checker.score(*number(ASKED))
    assert whole.asked == [("long 1", "dry"), ("long 2", "dry")]
    assert (checker.counts.reread, checker.counts.reread_turned) == (2, 1)
    assert found.entailment[:4].tolist() == pytest.approx([0.9, 0.1, 0.2, 0.3])
    assert found.flags[4] == FLAG_TRUNCATED | FLAG_TOO_LONG
    assert checker.traits == cut.traits


def test_python_shows_what_was_cut_and_what_windows_would_turn(
    cutting: type, fake_scorer: Any
) -> None:
    """As above: of three cut pairs two are no, and windows turn one of these."""
    whole = fake_scorer(WHOLE)
    checked = OpinionPrevalence(scorer=CutChecker(cutting(CUT), lambda: whole), trivial=None)
    assert checked.cuts == CutCounts(0, 0, 0, 0)
    checked.score(["long 0", "long 1", "long 2", "short"], "dry")
    before = checked.cuts
    assert before == CutCounts(pairs=3, premises=3, reread=2, turned=1)
    checked.support(["long 1", "short"], ["dry"])
    assert checked.cuts - before == CutCounts(pairs=1, premises=1, reread=1, turned=1)
    plain = OpinionPrevalence(scorer=cutting(CUT), trivial=None)
    plain.score(["long 1", "short"], "dry")
    assert plain.cuts - CutCounts(0, 0, None, None) == CutCounts(1, 1, None, None)


def test_the_threshold_decides_what_is_no(cutting: type, fake_scorer: Any, number: Number) -> None:
    whole = fake_scorer(WHOLE)
    checker = CutChecker(cutting(CUT), lambda: whole)
    assert checker.at(0.5) is checker
    other = checker.at(0.15)
    other.score(*number(ASKED[:4]))
    assert whole.asked == [("long 1", "dry")]
    assert other.counts.reread_turned == 1
    with pytest.raises(ConfigurationError):
        CutChecker(cutting(CUT), lambda: whole, threshold=1.5)


def test_both_scorers_decide_at_the_threshold(
    cutting: type, fake_scorer: Any, number: Number
) -> None:
    asked_at: list[float] = []

    class Moving(fake_scorer):  # type: ignore[misc]
        def at(self, threshold: float) -> Any:
            asked_at.append(threshold)
            return self

    CutChecker(cutting(CUT), lambda: Moving(WHOLE)).at(0.15).score(*number(ASKED[:3]))
    assert asked_at == [0.15]


def test_windows_are_opened_for_the_first_pair_and_once(cutting: type, number: Number) -> None:
    opened: list[int] = []
    checker = CutChecker(cutting(CUT), lambda: opened.append(1) or cutting(WHOLE))
    checker.score(*number([ASKED[0], ASKED[3]]))
    assert opened == []
    for _ in range(2):
        checker.score(*number(ASKED[:3]))
    assert opened == [1]


def test_an_engine_counts_each_cut_premise_once(cutting: type) -> None:
    """Two summaries ask two reviews, one of which is cut, about three sentences: three pairs."""
    reviews = (Review("long and dry"), Review("dry"))
    summaries = (Summary("a", "It is dry. It is warm."), Summary("b", "It leaks."))
    product = Product(id="p", reviews=reviews, summaries=summaries)
    engine = Engine(cutting({}), ScoringOptions())
    assert len(list(engine.run([product]))) == 2
    assert (engine.counts.truncated, engine.counts.cut_premises) == (3, 1)
    # In another chunk it is another reading of it.
    list(engine.run([product]))
    assert (engine.counts.truncated, engine.counts.cut_premises) == (6, 2)


def test_a_ceiling_cuts_the_same_premises(cutting: type) -> None:
    reviews = (Review("long and dry"), Review("dry"))
    product = Product(id="p", reviews=reviews, summaries=(Summary("a", "It is dry."),))
    engine = Engine(cutting({}), ScoringOptions(ceiling=True))
    list(engine.run([product]))
    assert engine.counts.ceiling_asked > 0
    assert engine.counts.cut_premises == 1


@pytest.mark.parametrize(
    "settings",
    [{"windows": 64}, {"model": "rouge1-precision"}, {"model": "summac-zs"},
     {"model": "minicheck-flan-t5-large"},
     {"calibration": "c.json"}],
)  # fmt: skip
def test_what_is_not_cut_or_not_read_in_windows_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="--check-cuts\\) of NLI models"):
        ScorerOptions(check_cuts=True, **settings).open()


def test_a_window_can_only_add_support(checkpoint: Callable[..., Path], number: Number) -> None:
    """The bound that the checker rests on, of a model whose premises are cut at 16 tokens."""
    rng, bert = np.random.default_rng(3), checkpoint()
    words = ["boots", "warm", "dry", "they", "leak", "fine", "sturdy", "short", "laces", "a"]
    texts = [" ".join(rng.choice(words, size=40)) for _ in range(30)]
    pairs = [(text, "they leak") for text in texts]
    settings = {"device": "cpu", "max_length": 16, "threshold": 0.5}
    cut = open_scorer(str(bert), **settings)
    whole = open_scorer(str(bert), windows=128, **settings)
    short, long = (scorer.score(*number(pairs)) for scorer in (cut, whole))
    assert (short.flags == FLAG_TRUNCATED).all()
    assert (long.flags == 0).all()
    assert (long.entailment >= short.entailment - 1e-5).all()
    assert (long.entailment > short.entailment + 1e-3).any()
    checker = open_scorer(str(bert), check_cuts=True, **settings)
    checker.score(*number(pairs))
    turned = ((short.entailment > 0.5) != (long.entailment > 0.5)).sum()
    assert checker.counts.reread == (short.entailment <= 0.5).sum()
    assert checker.counts.reread_turned == turned
