"""The torchmetrics metric: its values, its copies, and its sums over two processes."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import pytest

from prevalence.errors import ConfigurationError
from prevalence.rewards import Sample, Tally

pytest.importorskip("torchmetrics", reason="needs torchmetrics: pip install 'prevalence[dev]'")

from prevalence.integrations.torchmetrics import PrevalenceMetric

# By hand: 2/3; (1 + 1)/(3 * 2); 2/3; 0/3; no sentence.
MEAN = (2 / 3 + 1 / 3 + 2 / 3 + 0 + 0) / 5


def test_the_mean_over_batches(examples, lexical_batches):
    summaries, reviews, names = examples
    metric = PrevalenceMetric(lexical_batches)
    metric.update(summaries[:2], reviews[:2], names[:2])
    metric.update(summaries[2:], reviews[2:])
    found = metric.compute()
    assert found["prevalence"].item() == pytest.approx(MEAN)
    assert found["sentences"].item() == pytest.approx(5 / 5)
    assert found["unsupported"].item() == pytest.approx(1 / 5)
    expected = Tally.of(lexical_batches.score([*map(Sample, summaries, reviews, names)])).metrics()
    assert {key: value.item() for key, value in found.items()} == pytest.approx(expected)
    metric.reset()
    metric.update([], [])
    assert metric.compute() == {}


def test_a_call_gives_the_value_of_its_batch_and_adds_it_up(examples, lexical_batches):
    summaries, reviews, _ = examples
    metric = PrevalenceMetric(lexical_batches)
    assert metric(summaries[:1], reviews[:1])["prevalence"].item() == pytest.approx(2 / 3)
    assert metric(summaries[1:2], reviews[1:2])["prevalence"].item() == pytest.approx(1 / 3)
    assert metric.compute()["prevalence"].item() == pytest.approx(1 / 2)


def test_copies_and_pickles_keep_the_sums_and_load_their_own_model(examples, lexical_batches):
    metric = PrevalenceMetric(lexical_batches)
    metric.update(*examples)
    for other in (copy.deepcopy(metric), metric.clone(), pickle.loads(pickle.dumps(metric))):
        assert other.compute() == metric.compute()
        assert not other.batches.loaded


def test_lists_of_different_lengths_are_refused(lexical_batches):
    with pytest.raises(ConfigurationError, match="2 summaries, 1 lists of reviews"):
        PrevalenceMetric(lexical_batches).update(["a", "b"], [["c"]])


WORKER = """
import json, sys
from datetime import timedelta
import torch.distributed as dist
from prevalence.integrations.torchmetrics import PrevalenceMetric
from prevalence.rewards import BatchScorer, ScorerOptions

rank, store, examples = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
dist.init_process_group(
    "gloo", init_method="file://" + store, rank=rank, world_size=2, timeout=timedelta(seconds=120)
)
metric = PrevalenceMetric(BatchScorer(ScorerOptions(model="rouge1-precision")))
own = [part[:2] if rank == 0 else part[2:] for part in examples]
metric.update(*own)
print("VALUE", json.dumps({key: value.item() for key, value in metric.compute().items()}))
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_two_processes_give_the_value_of_one(examples, lexical_batches, tmp_path):
    alone = PrevalenceMetric(lexical_batches)
    alone.update(*examples)
    expected = {key: value.item() for key, value in alone.compute().items()}
    store = str(tmp_path / "store")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(rank), store, json.dumps(examples)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for process in running:
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        (line,) = [line for line in out.splitlines() if line.startswith("VALUE ")]
        # 2 and 3 summaries: a mean of the two processes' means would be another number.
        assert json.loads(line.removeprefix("VALUE ")) == pytest.approx(expected)


def test_without_torchmetrics_it_says_what_to_install():
    code = (
        "import sys; sys.modules['torchmetrics'] = None\n"
        "from prevalence.errors import MissingDependencyError\n"
        "try:\n    import prevalence.integrations.torchmetrics\n"
        "except MissingDependencyError as error:\n    print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'prevalence[torchmetrics]'" in found.stdout
