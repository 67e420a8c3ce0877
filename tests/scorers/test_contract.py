"""The contract of scorers: every family through every wrapper, and what a type checker refuses."""

from __future__ import annotations

import ast
import dataclasses
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from prevalence.api import OpinionPrevalence
from prevalence.errors import ConfigurationError
from prevalence.nli.cache import CachedScorer
from prevalence.nli.devices import SharedScorer
from prevalence.nli.pairs import (
    PairScorer,
    PairScores,
    ScorerCounts,
    ScorerTraits,
    checked_scorer,
)
from prevalence.nli.recheck import RecheckedScorer
from prevalence.nli.scorer import NLIScorer
from prevalence.scorers.adapter import AdaptedScorer, Adapter
from prevalence.scorers.calibrated import CalibratedScorer, Calibration, LogitMap
from prevalence.scorers.conv import ConvHead, ConvScorer, ConvSettings
from prevalence.scorers.cosine import CosineScorer, Encoder
from prevalence.scorers.qafe import QuestionScorer
from prevalence.scorers.registry import open_scorer
from prevalence.scorers.rouge import RougeScorer
from prevalence.scorers.summac import ZeroShotScorer
from prevalence.scorers.superpal import AlignmentScorer

ROOT = Path(__file__).resolve().parents[2]
FIELDS = {field.name for field in dataclasses.fields(ScorerTraits)}
PAIRS = [("the boots kept my feet dry in deep snow", "dry feet like these"),
         ("they run very small, order one size up", "order one size up now")]  # fmt: skip


class Scripted:
    """Writes a question for every answer, and finds the same answer to all of them."""

    name, digest, dtype = "script@1", b"script", "float32"

    def write(self, asked):
        return [f"{context[start:end]}?" for context, start, end in asked]

    def answer(self, asked):
        return ["dry" for _ in asked]


def head():
    final = np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.4]])
    settings = ConvSettings(bins="even2")
    return ConvHead(settings, np.array([1.0, 3.0]), 0.5, final, np.array([0.0, -1.0]))


def checker(name):
    return open_scorer(name, device="cpu", dtype="bfloat16")


OPENERS = {
    "fake": lambda tiny, fake: fake(),
    "nli": lambda tiny, fake: NLIScorer(
        str(tiny("classifier", num_labels=3)), device="cpu", dtype="bfloat16",
        labels=["contradiction", "neutral", "entailment"],
    ),
    "adapter": lambda tiny, fake: AdaptedScorer(
        Adapter(model=str(tiny("classifier", num_labels=2))), device="cpu", dtype="bfloat16"
    ),
    "rouge": lambda tiny, fake: RougeScorer("rouge1-precision"),
    "cosine": lambda tiny, fake: CosineScorer(Encoder(str(tiny("encoder")), device="cpu")),
    "qafe": lambda tiny, fake: QuestionScorer(Scripted(), Scripted()),
    "summac-zs": lambda tiny, fake: ZeroShotScorer(fake(doubt=0.1)),
    "summac-conv": lambda tiny, fake: ConvScorer([fake()], head()),
    "superpal": lambda tiny, fake: AlignmentScorer(fake(doubt=0.1)),
    "alignscore": lambda tiny, fake: checker(f"alignscore:{tiny('alignscore')}"),
    "minicheck": lambda tiny, fake: checker(f"minicheck:{tiny('roberta')}"),
    "minicheck-t5": lambda tiny, fake: checker(f"minicheck:{tiny('t5')}"),
    "factcg": lambda tiny, fake: checker(f"factcg:{tiny('deberta')}"),
    "hhem": lambda tiny, fake: checker(f"hhem:{tiny('hhem')}"),
}  # fmt: skip


@pytest.fixture(scope="module")
def families(tiny, fake_scorer):
    """``families(name)``: a scorer of the family, opened once."""
    opened = {}

    def get(name):
        if name not in opened:
            opened[name] = OPENERS[name](tiny, fake_scorer)
        return opened[name]

    return get


@pytest.fixture(params=OPENERS)
def scorer(request, families):
    """A scorer of each family in turn."""
    return families(request.param)


class Kept(dict):
    """A cache in memory."""

    def get(self, keys):
        return {key: self[key] for key in keys if key in self}

    def put(self, entries):
        self.update(entries)


def changed(outer, inner):
    """The traits in which two scorers differ."""
    return {name for name in FIELDS if getattr(outer.traits, name) != getattr(inner.traits, name)}


def calibration(inner, score_map=None, threshold=0.25):
    digest = inner.traits.digest.hex()
    return Calibration("any", digest, dict(inner.traits.signature), threshold, score_map)


def equal(one, other):
    """Whether answers agree, but for the last bits that the make-up of a batch may change."""
    return all(
        np.allclose(mine, theirs, rtol=0, atol=1e-6, equal_nan=True)
        for mine, theirs in zip(one, other, strict=True)
    )


def within_doubt(one, other, doubt):
    """Whether log-odds differ by rounding: pairs alone may be rounded otherwise than together."""
    odds = [
        np.log(np.clip(part, 1e-6, 1) / np.clip(1 - part, 1e-6, 1))
        for scores in (one, other)
        for part in scores[:2]
    ]
    mine, theirs = odds[:2], odds[2:]
    return all(
        np.allclose(a, b, rtol=0, atol=max(doubt, 1e-4), equal_nan=True)
        for a, b in zip(mine, theirs, strict=True)
    )


def test_every_family_keeps_the_contract(scorer, asked):
    assert checked_scorer(scorer) is scorer
    traits = scorer.traits
    assert isinstance(traits.digest, bytes)
    assert all(isinstance(part, str) for part in traits.signature.values())
    assert 0 <= traits.threshold < 1 <= min(traits.work_unit, traits.devices)
    assert not traits.rechecks
    assert not traits.cached
    scores = asked(scorer, *PAIRS)
    assert np.isfinite(scores.entailment).all()
    assert np.isfinite(scores.contradiction).all() == traits.three_way
    assert scorer.counts == ScorerCounts()
    assert scorer.at(0.9) is scorer


def test_a_cache_changes_no_trait_but_its_own(scorer, asked):
    cached = CachedScorer(scorer, Kept())
    assert changed(cached, scorer) == {"cached"}
    assert cached.traits.cached
    assert cached.at(0.9) is cached
    assert equal(asked(cached, *PAIRS), asked(scorer, *PAIRS))
    assert cached.counts == ScorerCounts()
    asked(cached, *PAIRS)
    assert cached.counts == ScorerCounts(hits=2)
    assert scorer.counts == ScorerCounts()


def test_devices_add_up(scorer, asked):
    shared = SharedScorer([scorer, scorer])
    assert changed(shared, scorer) == {"devices", "work_unit"}
    assert shared.traits.devices == 2 * scorer.traits.devices
    assert shared.traits.work_unit == 2 * scorer.traits.work_unit
    assert within_doubt(asked(shared, *PAIRS), asked(scorer, *PAIRS), scorer.traits.doubt)
    # A scorer that many share is still many, whatever stands around it.
    assert SharedScorer([shared, shared]).traits.devices == 4
    for outer in (CachedScorer(shared, Kept()), CalibratedScorer(shared, calibration(shared))):
        assert outer.traits.devices == 2


def test_a_recheck_removes_doubt(families, asked):
    low = families("nli")
    doubtless = replace(low.traits, doubt=0.0)
    safe = RecheckedScorer(low, lambda: low, threshold=0.4)
    assert changed(safe, low) == {
        "digest", "signature", "threshold", "calibrated", "doubt", "rechecks"
    }  # fmt: skip
    assert (safe.traits.doubt, safe.traits.rechecks, safe.traits.calibrated) == (0.0, True, True)
    assert dict(safe.traits.signature) == dict(doubtless.signature) | {"recheck": "float32"}
    assert safe.at(0.4) is safe
    assert safe.at(0.3).traits.threshold == 0.3
    assert "calibrated" not in changed(RecheckedScorer(low, lambda: low), low)


def test_a_calibration_decides(scorer):
    plain = CalibratedScorer(scorer, calibration(scorer))
    assert changed(plain, scorer) <= {"digest", "signature", "threshold", "calibrated"}
    assert (plain.traits.threshold, plain.traits.calibrated) == (0.25, True)
    mapped = CalibratedScorer(scorer, calibration(scorer, LogitMap(2.0)))
    assert changed(mapped, plain) <= {"digest", "signature", "threshold", "probability", "doubt"}
    assert mapped.traits.threshold != plain.traits.threshold
    assert mapped.traits.probability
    assert mapped.traits.doubt == 2 * scorer.traits.doubt
    assert mapped.at(0.9) is mapped


@pytest.mark.parametrize("name", ["summac-zs", "summac-conv", "superpal"])
def test_scorers_on_units_take_the_rest_from_their_models(name, families):
    scorer = families(name)
    (inner,) = scorer.inners
    assert changed(scorer, inner) <= {
        "digest", "signature", "threshold", "calibrated", "three_way", "work_unit"
    }  # fmt: skip
    assert (scorer.traits.three_way, scorer.traits.calibrated) == (False, False)
    assert scorer.traits.work_unit == inner.traits.work_unit // 8
    shared = SharedScorer([inner, inner])
    safe = RecheckedScorer(CachedScorer(shared, Kept()), lambda: inner)
    around = AlignmentScorer(safe)
    # Decisions on units are made sure of, not those on what is made of them.
    assert (around.traits.rechecks, around.traits.cached, around.traits.devices) == (False, True, 2)


def test_some_models_in_a_cache_are_not_all(fake_scorer):
    weights = replace(head(), weight=np.ones(4))
    inners = [fake_scorer(), CachedScorer(fake_scorer(), Kept())]
    assert not ConvScorer(inners, weights).traits.cached
    assert ConvScorer(inners[1:] * 2, weights).traits.cached


def test_no_wrapper_forgets_a_trait(fake_scorer):
    """Every trait of the innermost scorer differs from the usual, and reaches the outermost."""
    inner = fake_scorer(probability=False, doubt=0.1, devices=3, work_unit=7, three_way=False)
    cached = CachedScorer(inner, Kept())
    shared = SharedScorer([cached, cached])
    safe = RecheckedScorer(shared, lambda: inner)
    outer = CalibratedScorer(safe, calibration(shared))
    again = CachedScorer(outer, Kept())
    kept = {"probability": False, "three_way": False, "cached": True, "rechecks": True,
            "devices": 6, "work_unit": 14, "doubt": 0.0, "calibrated": True}  # fmt: skip
    assert {name: getattr(again.traits, name) for name in kept} == kept
    assert [*again.traits.signature] == ["nli", "recheck", "calib"]
    with pytest.raises(ConfigurationError, match="--no-recheck"):
        again.at(0.7)


def test_counts_add_up_through_wrappers(fake_scorer, asked):
    texts = ("one", "two", "three", "four")
    fast = fake_scorer({("p", text): (0.49, 0.0) for text in texts[:3]}, doubt=0.2)
    exact = fake_scorer(
        {("p", text): (0.52, 0.0) for text in texts[:2]} | {("p", "three"): (0.48, 0)}
    )
    below = CachedScorer(fast, Kept())
    safe = RecheckedScorer(below, lambda: exact)
    outer = CachedScorer(CalibratedScorer(safe, calibration(below, threshold=0.5)), Kept())
    layers = [below, safe, outer]
    pairs = [("p", text) for text in texts]

    def counted():
        return [layer.counts for layer in layers]

    asked(outer, *pairs[:3])
    before = counted()
    assert before == [ScorerCounts(), *[ScorerCounts(rechecked=3, turned=2)] * 2]
    asked(safe, *pairs)
    assert counted() == [ScorerCounts(3), *[ScorerCounts(3, 6, 4)] * 2]
    asked(outer, *pairs)
    # The fourth was kept below alone, which the recheck had asked.
    assert outer.counts == ScorerCounts(hits=3 + 4, rechecked=6, turned=4)
    assert all(inner.hits <= outer.hits for inner, outer in pairwise(counted()))
    # What was read is not changed by what is done later.
    assert outer.counts - before[2] == ScorerCounts(hits=7, rechecked=3, turned=2)
    units = AlignmentScorer(SharedScorer([safe, safe]))
    assert units.counts == safe.counts + safe.counts


class Duck:
    """What was a scorer before there was a contract."""

    digest, signature, threshold, three_way, work_unit = b"d", {}, 0.5, False, 1

    def score(self, texts, pairs, *, progress=None):
        return PairScores.empty(len(pairs))


class Unfinished(PairScorer):
    """A scorer that does not say what it is."""

    def __init__(self):
        pass

    def score(self, texts, pairs, *, progress=None):
        return PairScores.empty(len(pairs))


@pytest.mark.parametrize("scorer", [Duck(), Unfinished(), "embedded", Duck])
def test_a_scorer_without_the_contract_is_refused_in_one_line(scorer):
    with pytest.raises(ConfigurationError, match="is not a scorer: derive it from") as caught:
        OpinionPrevalence(scorer=scorer)
    assert "\n" not in str(caught.value)


def test_a_scorer_of_ones_own(fake_scorer):
    class Mine(PairScorer):
        """As the Python API asks for it."""

        def __init__(self):
            super().__init__(fake_scorer().traits)

        def score(self, texts, pairs, *, progress=None):
            scores = PairScores.empty(len(pairs))
            scores.entailment[:] = [texts[b] in texts[a] for a, b in pairs.tolist()]
            return scores

    metric = OpinionPrevalence(scorer=Mine(), trivial=None)
    assert metric.score(["Dry. Light.", "Light."], "Light.").prevalence == 1.0
    assert metric.score(["Dry. Light.", "Light."], "Dry.").prevalence == 0.5


def test_an_incomplete_record_is_an_error(fake_scorer):
    given = {name: getattr(fake_scorer().traits, name) for name in FIELDS}
    assert ScorerTraits(**given) == fake_scorer().traits
    for name in FIELDS:
        with pytest.raises(TypeError, match=name):
            ScorerTraits(**{key: value for key, value in given.items() if key != name})
    with pytest.raises(dataclasses.FrozenInstanceError):
        fake_scorer().traits.doubt = 1.0
    with pytest.raises(TypeError, match="abstract method"):
        PairScorer(fake_scorer().traits)


SNIPPET = """
from dataclasses import replace
from prevalence.nli.pairs import PairScorer, ScorerTraits

traits = ScorerTraits(
    digest=b"", signature={}, threshold=0.5, calibrated=True, three_way=True, probability=True,
    rechecks=False, cached=False, devices=1, work_unit=1, errors=None,
)
replace(traits, hits=1)

class Half(PairScorer): ...

def first(scorer: PairScorer) -> None:
    print(scorer.traits.threshold, scorer.threshold, Half(traits))
"""


@pytest.mark.slow
def test_a_type_checker_sees_what_is_missing(tmp_path):
    api = pytest.importorskip("mypy.api")
    snippet = tmp_path / "snippet.py"
    snippet.write_text(SNIPPET, encoding="utf-8")
    # What these two files import is left aside: numpy alone would take a minute.
    options = ["--strict", "--follow-imports=skip", "--cache-dir", str(tmp_path / "cache")]
    shown, _, _ = api.run([*options, str(ROOT / "prevalence/nli/pairs.py"), str(snippet)])
    found = re.findall(r"snippet\.py:\d+: error: (.*)", shown)
    expected = [
        'Missing named argument "doubt" for "ScorerTraits"', 'Unexpected keyword argument "hits"',
        '"PairScorer" has no attribute "threshold"', 'Cannot instantiate abstract class "Half"',
    ]  # fmt: skip
    assert len(found) == len(expected), shown
    assert all(line.startswith(text) for line, text in zip(found, expected, strict=True)), shown


def asks_for_attributes(path):
    """Where a file looks attributes up by their names, and on what."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {
            "getattr", "hasattr", "setattr", "vars"
        }:  # fmt: skip
            yield ast.unparse(node.args[0]), f"{path}:{node.lineno}"


def test_nothing_asks_a_scorer_what_it_has():
    files = [path for folder in ("prevalence", "baselines", "benchmarks", "examples")
             for path in (ROOT / folder).rglob("*.py")]  # fmt: skip
    named = [(what, where) for path in files for what, where in asks_for_attributes(path)]
    assert len(named) > 50
    assert [where for what, where in named if re.search("scorer|teacher", what)] == []
    wrappers = [where for what, where in named if re.search("inner|fast|first", what)
                and re.search("prevalence/(nli|scorers)/", where)]  # fmt: skip
    assert wrappers == []
