"""Released scores of OpinSummEval, on a part of its summaries; the benchmark compares all."""

import pytest

from benchmarks.opinsummeval_lexical import CLOSE, Comparison, compare, comparisons, read_released
from prevalence.baselines.lexical.pyrouge import missing_tables

REPRODUCED = [
    Comparison("R1_F1", "rouge-1:py-rouge"),
    Comparison("R2_F1", "rouge-2:py-rouge"),
    Comparison("RL_F1", "rouge-l:py-rouge"),
    Comparison("Bleu_1", "bleu-1:nlg-eval"),
    Comparison("Bleu_4", "bleu-4:nlg-eval"),
    Comparison("chrF", "chrf:eps:words=2", 0.01),
    Comparison("ter_score", "ter"),
]


@pytest.fixture(scope="module")
def cases(shared_data):
    return read_released(shared_data / "opinsummeval.jsonl")


@pytest.mark.slow
@pytest.mark.parity
@pytest.mark.parametrize("pair", REPRODUCED, ids=lambda pair: pair.metric)
def test_released_scores_are_reproduced(cases, pair):
    if "py-rouge" in pair.metric and missing_tables():
        pytest.skip(missing_tables())
    if pair.metric.startswith(("chrf", "ter")):
        pytest.importorskip("sacrebleu")
    assert pair in comparisons()
    examples, released = cases
    chosen = slice(0, 1400, 5)
    few = {pair.released: released[pair.released][chosen]}
    row = compare(pair, examples[chosen], few)
    assert len(examples) == 1400
    assert row["equal"] == row["n"] == len(examples[chosen])
    assert row["largest_difference"] <= CLOSE


def test_what_is_not_installed_is_a_row_too(monkeypatch, tmp_path):
    import nltk

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    row = compare(Comparison("METEOR", "meteor"), [], {})
    assert "WordNet" in row["skipped"]
