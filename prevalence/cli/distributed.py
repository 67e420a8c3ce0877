"""The side of `prevalence score` that works on a Ray cluster: its options and checks."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.options import open_cache_folder, option, together
from prevalence.files import expanded_path
from prevalence.models.devices import ALL_DEVICES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import SimpleNamespace

    from prevalence.distributed import DistributedEngine
    from prevalence.scoring.engine import Engine

__all__ = [
    "check_cluster",
    "engine_options",
    "open_cluster",
    "worker_parameters",
]

engine_options = together(
    option(
        "Cluster",
        "--engine",
        metavar="NAME",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="local, or ray: many processes or machines, for JSON Lines and Parquet "
        "(pip install 'prevalence[ray]').",
    ),
    option(
        "Cluster",
        "--address",
        metavar="HOST:PORT",
        help="Address of a Ray cluster, or auto on one of its nodes [default: a cluster on "
        "this machine, for this run].",
    ),
    option(
        "Cluster",
        "--workers",
        metavar="N",
        type=click.IntRange(1),
        help="Worker processes [default: one per GPU with --gpus-per-worker, otherwise one per "
        "core].",
    ),
    option(
        "Cluster",
        "--gpus-per-worker",
        metavar="X",
        type=click.FloatRange(0, min_open=True),
        help="GPUs per worker; with 0.5, two workers share one [default: none].",
    ),
)


def check_cluster(options: SimpleNamespace) -> None:
    """Refuse options that do not go with --engine ray.

    Args:
        options: parameters of the command.

    Raises:
        click.UsageError: one was given.
    """
    if "-" in options.inputs:
        raise click.UsageError("--engine ray cannot read standard input; name a file")
    if options.reviews is not None:
        raise click.UsageError("--reviews does not go with --engine ray: use JSON Lines or Parquet")
    if options.limit is not None:
        raise click.UsageError("--limit does not go with --engine ray: shorten the input (head -n)")
    on_gpu = options.device.partition(":")[0] not in ("auto", "cpu")
    if on_gpu and options.gpus_per_worker is None:
        raise click.UsageError(
            f"--device {options.device} needs --gpus-per-worker with --engine ray"
        )
    _check_gpus(options.device, options.gpus_per_worker or 0)
    if options.output is not None:
        _check_apart(options.inputs, options.output.resolve())


def _check_gpus(device: str, gpus: float) -> None:
    """Refuse GPUs that a worker would hold and not use."""
    if gpus and device == "cpu":
        raise click.UsageError("--gpus-per-worker does not go with --device cpu")
    if gpus >= 2 and device != ALL_DEVICES and "," not in device:
        raise click.UsageError(
            f"--gpus-per-worker {gpus:g}: a worker would use one of them; add --device all, or "
            "take one GPU per worker"
        )


def _check_apart(inputs: Sequence[str], output: Path) -> None:
    """Refuse a folder of parts in which an input lies; see :func:`check_output` for the reverse."""
    for path in inputs:
        if output in Path(path).resolve().parents:
            raise click.UsageError(f"--output: the input {path} lies in {output}")


def worker_parameters(options: SimpleNamespace, parameters: dict[str, Any]) -> dict[str, Any]:
    """The scorer's options as workers need them: device and files named, no default cache.

    Every worker has its own place in the output, so that a cache would only repeat it.

    Raises:
        InputError: the calibration file cannot be read.
    """
    changed = dict(parameters)
    cache = changed["cache"] and open_cache_folder(changed["cache"], changed["no_cache"])
    changed["cache"], changed["no_cache"] = cache and cache.absolute(), cache is None
    if changed["calibration"] is not None:
        changed["calibration"] = changed["calibration"].absolute()
        if changed["model"] is None:
            from prevalence.scorers.calibrated import read_calibration

            changed["model"] = read_calibration(changed["calibration"]).scorer
    if changed["model"] is not None:
        from prevalence.scorers.registry import with_files

        changed["model"] = with_files(changed["model"], _file_from_root)
    if changed["device"] == "auto":
        changed["device"] = _device_of(changed["model"], on_gpu=options.gpus_per_worker is not None)
    return changed


def _device_of(model: str | None, *, on_gpu: bool) -> str:
    """Where a worker computes: one that holds a GPU takes it, or says why it cannot."""
    from prevalence.scorers.registry import loads_model

    if not on_gpu:
        return "cpu"
    return "cuda" if model is None or loads_model(model) else "auto"


def _file_from_root(name: str) -> str:
    path = expanded_path(name)
    return str(path.absolute()) if name and path.exists() else name


@contextmanager
def open_cluster(
    options: SimpleNamespace, open_engine: Callable[[], Engine]
) -> Iterator[DistributedEngine]:
    """Open the cluster that the options ask for.

    Args:
        options: the command's options, checked.
        open_engine: opens a worker's engine.

    Yields:
        What reads and scores the records.
    """
    from prevalence.distributed import Cluster, DistributedEngine, Reading
    from prevalence.distributed.splits import input_files
    from prevalence.readers import read_product_names

    files = input_files(options.inputs)
    names = options.product_names
    reading = Reading(
        source_format=options.input_format,
        names={} if names is None else read_product_names(names),
        systems=frozenset(options.systems),
    )
    cluster = Cluster(
        address=options.address,
        workers=options.workers,
        gpus_per_worker=options.gpus_per_worker or 0.0,
    )
    with cluster.open() as pool:
        yield DistributedEngine(pool, files, open_engine, reading=reading)
