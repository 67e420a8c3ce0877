"""Error rates beside a checkpoint, and scores corrected by them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from prevalence.cli import main
from prevalence.errors import ConfigurationError, ModelError
from prevalence.models.error_rates import ERRORS_FILE, error_rates_of, read_errors_file
from prevalence.nli.scorer import NLIScorer
from prevalence.records import Product, Review, Summary
from prevalence.scored import ScoredSummary
from prevalence.scoring.engine import Engine
from prevalence.scoring.options import ScoringOptions
from prevalence.scoring.systems import SystemTable
from prevalence.stats.correction import ErrorRates

TINY = Path(__file__).parents[1] / "golden" / "inputs" / "tiny-nli"
RATES = ErrorRates(((8, 2, 45, 5),) * 6, 0.5, "people")
STATED = {"source": "people", "threshold": 0.5, "products": 6 * [[8, 2, 45, 5]]}


@pytest.fixture
def measured(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(TINY, folder)
    (folder / ERRORS_FILE).write_text(json.dumps(STATED), encoding="utf-8")
    return folder


def test_rates_lie_beside_the_weights_and_in_no_digest(measured):
    scorer, bare = NLIScorer(str(measured), device="cpu"), NLIScorer(str(TINY), device="cpu")
    assert scorer.traits.errors == RATES
    assert bare.traits.errors is None
    assert scorer.traits.digest == bare.traits.digest
    # Read otherwise, decisions are others than those that were measured.
    others = ({"windows": 16}, {"max_length": 16}, {"at_most": 16}, {"truncation": "longest-first"})
    for reading in others:
        assert NLIScorer(str(measured), device="cpu", **reading).traits.errors is None


DAMAGED = (
    "[]",
    "{",
    '{"products": [[1, 2, 3]], "threshold": 0.5}',
    '{"products": [[1, 2, 3, 4]]}',
    '{"products": [[0, 0, 3, 4]], "threshold": 0.5}',
)


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_files_are_refused(measured, text):
    (measured / ERRORS_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=ERRORS_FILE):
        error_rates_of(read_errors_file(measured), name="model")


def product(name, support):
    """Four reviews and two sentences, of which the reviews support so many times the first."""
    reviews = tuple(Review(f"{name} {n}") for n in range(4))
    answers = {(review.text, "Yes."): (0.9, 0.0) for review in reviews[:support]}
    return Product(name, reviews, (Summary("s", "Yes. No."),)), answers


def test_scores_are_corrected_for_the_rates(fake_scorer):
    found = [product(f"{support}-{n}", support) for support in (2, 4) for n in range(3)]
    answers = {pair: answer for _, part in found for pair, answer in part.items()}
    scorer = fake_scorer(answers, errors=RATES)
    engine = Engine(scorer, ScoringOptions(corrected=True))
    rows = list(engine.run([entry for entry, _ in found]))
    # (p - .1) / .7 with p = 2/8 and 4/8
    assert [row.corrected for row in rows] == pytest.approx([0.15 / 0.7] * 3 + [0.4 / 0.7] * 3)
    assert "|corr:0.8000/0.9000|" in rows[0].signature
    assert ScoredSummary.from_json(rows[0].to_json()) == rows[0]
    table = SystemTable()
    for row in rows:
        table.add(row)
    (system,) = table.statistics(error_rates=engine.error_rates)
    assert system.corrected == pytest.approx((0.375 - 0.1) / 0.7)
    assert system.corrected_interval.low == pytest.approx(0.15 / 0.7)
    assert system.corrected_interval.high == pytest.approx(0.4 / 0.7)
    plain = list(Engine(scorer).run([entry for entry, _ in found]))
    assert [row.corrected for row in plain] == [None] * 6
    assert "corrected" not in plain[0].to_json()


def test_unknown_rates_and_other_thresholds_are_refused(fake_scorer):
    with pytest.raises(ConfigurationError, match="error rates are measured"):
        Engine(fake_scorer(), ScoringOptions(corrected=True))
    with pytest.raises(ConfigurationError, match=r"own threshold 0\.5, and 0\.3 was asked for"):
        Engine(fake_scorer(errors=RATES), ScoringOptions(corrected=True, threshold=0.3))


def test_the_command_shows_corrected_scores_with_an_interval(measured, tmp_path):
    lamps = tmp_path / "lamps.jsonl"
    lines = (TINY.parent / "lamps.jsonl").read_text(encoding="utf-8").splitlines()
    several = [json.loads(line) | {"id": str(n)} for n, line in enumerate(lines * 6)]
    lamps.write_text("".join(json.dumps(row) + "\n" for row in several), encoding="utf-8")
    found = CliRunner().invoke(
        main, ["score", str(lamps), "--model", str(measured), "--corrected", "--no-cache", "-q"]
    )
    assert found.exit_code == 0, found.output
    header = found.stdout.splitlines()[0]
    assert "corrected" in header
    assert "its interval" in header
    assert "|corr:0.8000/0.9000|" in found.stdout
    # Of the other systems no sentence counts, so nothing is asked.
    assert "\ncorrected 0.000 (good): fewer pairs count as supported" in found.stdout
    assert "the other systems" not in found.stdout
    refused = CliRunner().invoke(main, ["score", str(lamps), "--model", str(TINY), "--corrected"])
    assert refused.exit_code == 2
    assert "error rates are measured" in refused.stderr
    assert "a model for which `prevalence models MODEL` shows rates" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_the_documentation_explains_every_set_that_is_shown():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "errors.md").read_text(encoding="utf-8")
    for folder in ("minilm-reviewnli", "mpnet-reviewnli"):
        stated = read_errors_file(root / "prevalence" / "models" / folder)
        wholes = [row for row in stated["phenomena"] if row["phenomenon"] == "all"]
        assert len(wholes) >= 10
        for row in wholes:
            assert f"{row['pairs']:,} " in page, row["set"]
