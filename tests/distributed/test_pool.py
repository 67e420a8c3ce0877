"""What a cluster is asked for, and in which order its answers come; no Ray is needed for it."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.distributed.cluster import Cluster, Pool
from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers must be at least 1, not 0"),
        ({"gpus_per_worker": -1}, "cannot have -1 GPUs"),
        ({"gpus_per_worker": 1.5}, "a whole number, or a fraction below 1"),
        ({"address": "ray://head:10001"}, "ray job submit"),
    ],
)
def test_numbers_and_addresses_of_no_use_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Cluster(**options)


class Calls:
    """As much of Ray as light tasks use; it notes what was asked before each answer was taken."""

    def __init__(self) -> None:
        self.asked = 0
        self.ahead: list[int] = []
        self.options: dict[str, Any] = {}

    def remote(self, **options: Any) -> Callable[..., Any]:
        self.options = options

        def wrap(work: Callable[..., Any]) -> Any:
            return type(
                "Remote", (), {"remote": staticmethod(lambda *given: self._ask(work, given))}
            )

        return wrap

    def _ask(self, work: Callable[..., Any], given: tuple[Any, ...]) -> Callable[[], Any]:
        self.asked += 1
        return lambda: work(*given)

    def get(self, answer: Callable[[], Any]) -> Any:
        self.ahead.append(self.asked)
        return answer()


def test_light_tasks_answer_in_order_and_start_with_one() -> None:
    pytest.importorskip("ray.exceptions")
    calls = Calls()
    pool = Pool(calls, workers=2, gpus=0)
    answers = pool.each(lambda n: n * n, ((n,) for n in range(10)))
    assert next(answers) == 0
    assert calls.asked == 1
    assert list(answers) == [n * n for n in range(1, 10)]
    under_way = [asked - place for place, asked in enumerate(calls.ahead)]
    assert max(under_way) == 4  # two a worker
    assert under_way[:3] == [1, 2, 4]


def test_a_worker_with_a_gpu_is_described_where_one_is() -> None:
    pytest.importorskip("ray.exceptions")
    calls = Calls()
    assert Pool(calls, workers=2, gpus=0.5).once(lambda n: n + 1, 1) == 2
    assert calls.options == {"num_cpus": 1, "num_gpus": 0.5, "max_calls": 1}
    Pool(calls, workers=2, gpus=0).once(abs, -1)
    assert calls.options == {"num_cpus": 1}


class Nodes:
    """A cluster as far as its size goes."""

    def __init__(self, *gpus: float) -> None:
        self._gpus = gpus

    def nodes(self) -> list[dict[str, Any]]:
        alive = [
            {"Alive": True, "Resources": {"CPU": 2.0, **({"GPU": n} if n else {})}}
            for n in self._gpus
        ]
        return [*alive, {"Alive": False, "Resources": {"CPU": 8.0, "GPU": 8.0}}]


@pytest.mark.parametrize("address", [None, "10.0.0.1:6379", "10.0.0.2:6379", "auto"])
def test_a_cluster_that_is_open_already_is_not_taken_for_another(
    monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    opened = SimpleNamespace(gcs_address="10.0.0.1:6379")
    context = SimpleNamespace(
        execution_options=SimpleNamespace(preserve_order=False), enable_progress_bars=True
    )
    ray = SimpleNamespace(
        is_initialized=lambda: True,
        get_runtime_context=lambda: opened,
        nodes=Nodes(0).nodes,
        data=SimpleNamespace(DataContext=SimpleNamespace(get_current=lambda: context)),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.data", ray.data)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    if address in (None, "auto", opened.gcs_address):
        with Cluster(address=address).open() as pool:
            assert pool.size == 2
    else:
        said = rf"opened the Ray cluster 10\.0\.0\.1:6379 already, so it cannot join {address}"
        with pytest.raises(ConfigurationError, match=said), Cluster(address=address).open():
            pass


def test_workers_fill_the_gpus_or_the_cores() -> None:
    assert Cluster(address="auto", gpus_per_worker=0.5).size(Nodes(2, 1)) == 6
    assert Cluster(address="auto", gpus_per_worker=0.1).size(Nodes(1)) == 10
    assert Cluster(address="auto", gpus_per_worker=2).size(Nodes(3, 3)) == 2  # one a node
    assert Cluster(address="auto").size(Nodes(0, 0)) == 4
    assert Cluster(address="auto", gpus_per_worker=1, workers=1).size(Nodes(2)) == 1


@pytest.mark.parametrize(
    ("options", "gpus", "said"),
    [
        (
            {"address": "auto"},
            (0, 0),
            "largest node of the cluster has 0 GPUs, and a worker needs 1; start",
        ),
        ({"address": "auto", "workers": 3}, (0,), "has 0 GPUs"),
        ({"address": "h:1", "gpus_per_worker": 4}, (2, 2), "has 2 GPUs, and a worker needs 4"),
        ({}, (0,), "this machine has 0 GPUs"),
    ],
)
def test_gpus_that_no_node_has_are_refused(
    options: dict[str, Any], gpus: tuple[float, ...], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Cluster(**{"gpus_per_worker": 1, **options}).size(Nodes(*gpus))
