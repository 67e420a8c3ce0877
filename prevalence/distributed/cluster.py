"""A Ray cluster of one's own or an existing one, quiet, and work on it in order."""

from __future__ import annotations

import logging
import os
import warnings
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from prevalence.errors import BackendError, ConfigurationError, MissingDependencyError, first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Cluster"]

_STORE_BYTES = 512 << 20
_TRIES = 3
_AHEAD = 2
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray prints what befalls workers on standard output, where rows go; its logs have it too.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Lets Ray, wherever it runs, listen on the loopback alone; it reads this when it is imported."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where to score, and with how many workers.

    Attributes:
        address: ``host:port`` of a cluster or ``auto`` for the one that this machine belongs to;
            None for a cluster in this machine, which ends with the run, or the one that this
            process has opened already.
        workers: processes, each with a scorer of its own; None for one a GPU where workers have
            one, and otherwise one a core.
        gpus_per_worker: GPUs of a worker; parts of one are shared.

    Raises:
        ConfigurationError: a number out of range, or an address of another kind.
    """

    address: str | None = None
    workers: int | None = None
    gpus_per_worker: float = 0.0

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise ConfigurationError(f"workers must be at least 1, not {self.workers}")
        if self.gpus_per_worker < 0:
            raise ConfigurationError(f"a worker cannot have {self.gpus_per_worker} GPUs")
        if self.gpus_per_worker > 1 and not float(self.gpus_per_worker).is_integer():
            raise ConfigurationError(
                f"{self.gpus_per_worker} GPUs per worker: give a whole number, or a fraction "
                "below 1"
            )
        if self.address is not None and "://" in self.address:
            raise ConfigurationError(
                f"{self.address}: give host:port, or auto on a node of the cluster; from outside, "
                "send the whole command there with `ray job submit`"
            )

    @contextmanager
    def open(self) -> Iterator[Pool]:
        """Join the cluster, or start one, for as long as the block lasts.

        Yields:
            Its workers.

        Raises:
            MissingDependencyError: Ray is not installed.
            BackendError: the cluster cannot be reached.
            ConfigurationError: no node has as many GPUs as a worker is to have, or this process
                has opened another cluster.
        """
        ray = _ray(alone=self.address is None)
        own = not ray.is_initialized()
        if own:
            self._start(ray)
        else:
            self._check_opened(ray)
        try:
            with _quiet_data(ray):
                yield Pool(ray, workers=self.size(ray), gpus=self.gpus_per_worker)
        finally:
            if own:
                ray.shutdown()

    def _check_opened(self, ray: Any) -> None:
        """Refuse an address other than that of the cluster that this process has opened."""
        opened = ray.get_runtime_context().gcs_address
        if self.address not in (None, "auto", opened):
            raise ConfigurationError(
                f"this process has opened the Ray cluster {opened} already, so it cannot join "
                f"{self.address}: leave the address out to use it, or call ray.shutdown() before"
            )

    def _start(self, ray: Any) -> None:
        options: dict[str, Any] = {"address": self.address}
        if self.address is None:
            options = {
                "address": "local",
                "num_cpus": self.workers or _cores(),
                "include_dashboard": False,
                "object_store_memory": _STORE_BYTES,
            }
        try:
            ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:
            where = self.address or "in this machine"
            raise BackendError(f"no Ray cluster {where}: {_told(error)}") from error

    def size(self, ray: Any) -> int:
        """How many workers an open cluster gets.

        Args:
            ray: the module.

        Raises:
            ConfigurationError: no node has the GPUs of a worker.
        """
        share = self.gpus_per_worker
        alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        gpus = [float(node.get("GPU", 0)) for node in alive]
        most = max(gpus, default=0.0)
        # A worker lives on one node. Ray would wait for such a node for ever, and without a word.
        if share > most:
            where = "this machine" if self.address is None else "the largest node of the cluster"
            raise ConfigurationError(
                f"{where} has {most:g} GPUs, and a worker needs {share:g}; start a node that "
                "has them, or lower --gpus-per-worker"
            )
        if self.workers is not None:
            return self.workers
        if not share:
            return max(1, int(sum(float(node.get("CPU", 0)) for node in alive)))
        return sum(int(found / share + 1e-9) for found in gpus)


class Pool:
    """Workers of an open cluster.

    Args:
        ray: the module.
        workers: how many.
        gpus: of each; parts of one are shared.

    Attributes:
        size: number of workers.
    """

    def __init__(self, ray: Any, *, workers: int, gpus: float) -> None:
        self._ray = ray
        self.size = workers
        self._resources: dict[str, float] = {"num_cpus": 1, **({"num_gpus": gpus} if gpus else {})}

    def once(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a function where a worker would; a process on a GPU ends with it, and frees it."""
        last: dict[str, int] = {"max_calls": 1} if "num_gpus" in self._resources else {}
        remote = self._ray.remote(**self._resources, **last)(work)
        answer: Answer = self._get(remote.remote(*arguments))
        return answer

    def each(
        self, work: Callable[..., Answer], items: Iterable[tuple[Any, ...]]
    ) -> Iterator[Answer]:
        """Run a light function for each item; answers in the order of the items.

        One is under way at first and more by and by, so that who wants one answer pays for one.
        """
        remote = self._ray.remote(num_cpus=1)(work)
        under_way: deque[Any] = deque()
        most = 1
        for item in items:
            under_way.append(remote.remote(*item))
            if len(under_way) == most:
                yield self._get(under_way.popleft())
                most = min(2 * most, _AHEAD * self.size)
        while under_way:
            yield self._get(under_way.popleft())

    def shared(self, value: Any) -> Any:
        """A value that many calls of :meth:`each` take, sent to each node once."""
        return self._ray.put(value)

    def _get(self, answer: Any) -> Any:
        with _translated():
            return self._ray.get(answer)

    def stream(
        self, worker: type, arguments: dict[str, Any], rows: list[dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """Send rows through a pool of workers; what they answer, in the order of the rows.

        Args:
            worker: a class whose objects turn an Arrow table into another.
            arguments: for its constructor.
            rows: the rows; each is a task, tried again when its worker dies.

        Yields:
            Rows of the answers.

        Raises:
            BackendError: a row's workers have died several times, or the cluster is gone.
        """
        from ray.data import ActorPoolStrategy, from_items

        with warnings.catch_warnings():
            # Ray 2.60 to 2.63 deprecate `max_task_retries` here and have no other name for it.
            warnings.simplefilter("ignore", DeprecationWarning)
            answers = from_items(rows, override_num_blocks=len(rows)).map_batches(
                worker,
                fn_constructor_kwargs=arguments,
                batch_size=None,
                batch_format="pyarrow",
                compute=ActorPoolStrategy(size=min(self.size, len(rows))),
                max_restarts=-1,
                max_task_retries=_TRIES,
                **self._resources,
            )
        with _translated():
            for table in answers.iter_batches(
                batch_size=None, batch_format="pyarrow", prefetch_batches=0
            ):
                yield from table.to_pylist()


def _ray(*, alone: bool) -> Any:
    for name, value in {**_QUIET, **(_ALONE if alone else {})}.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingDependencyError(
            "scoring on a cluster needs Ray: pip install 'prevalence[ray]'"
        ) from None
    return ray


@contextmanager
def _quiet_data(ray: Any) -> Iterator[None]:
    """Ordered results and no talk while the block lasts; the caller's settings come back."""
    context = ray.data.DataContext.get_current()
    talk, order = logging.getLogger("ray.data"), context.execution_options
    before = talk.level, order.preserve_order, context.enable_progress_bars
    talk.setLevel(logging.CRITICAL)
    order.preserve_order, context.enable_progress_bars = True, False
    try:
        yield
    finally:
        talk.setLevel(before[0])
        order.preserve_order, context.enable_progress_bars = before[1:]


@contextmanager
def _translated() -> Iterator[None]:
    """Errors of Ray as ours; what our own code raised inside the block passes."""
    from ray.exceptions import RayError

    try:
        yield
    except RayError as error:
        raise BackendError(
            f"the cluster failed ({_told(error)}); rows written as JSON Lines or Parquet are "
            "kept, and the same command continues from there"
        ) from error


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {first_line(error)}"
