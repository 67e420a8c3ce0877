"""The side of `prevalence score` that works on a Ray cluster: its options and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from prevalence.cli.options import open_cache_folder, option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.distributed import DistributedEngine
    from prevalence.scoring.engine import Engine

__all__ = [
    "ClusterOptions",
    "check_cluster",
    "engine_options",
    "open_cluster",
    "worker_parameters",
]

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
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
        help="Of a Ray cluster, or auto on a node of it [default: one in this machine, for the "
        "time of the run].",
    ),
    option(
        "Cluster",
        "--workers",
        metavar="N",
        type=click.IntRange(1),
        help="Processes that score [default: one a GPU with --gpus-per-worker, else one a core].",
    ),
    option(
        "Cluster",
        "--gpus-per-worker",
        metavar="X",
        type=click.FloatRange(0, min_open=True),
        help="GPUs of a worker; 0.5 lets two share one [default: none].",
    ),
)


def engine_options(command: Command) -> Command:
    """Add the options that choose where to score."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """What a run reads, where it writes, and where it scores; see the help text of each."""

    inputs: tuple[str, ...]
    input_format: str
    reviews: Path | None
    product_names: Path | None
    systems: tuple[str, ...]
    limit: int | None
    output: Path | None
    engine: str
    address: str | None
    workers: int | None
    gpus_per_worker: float | None


def check_cluster(options: ClusterOptions, device: str) -> None:
    """Refuse options that do not go with --engine ray.

    Raises:
        click.UsageError: one was given.
    """
    if "-" in options.inputs:
        raise click.UsageError("--engine ray reads files, which many workers can, and no stdin")
    if options.reviews is not None:
        raise click.UsageError("--reviews does not go with --engine ray: use JSON Lines or Parquet")
    if options.limit is not None:
        raise click.UsageError("--limit does not go with --engine ray: cut the input (head -n)")
    on_gpu = device.partition(":")[0] not in ("auto", "cpu")
    if on_gpu and options.gpus_per_worker is None:
        raise click.UsageError(f"--device {device} needs --gpus-per-worker with --engine ray")
    if options.output is not None:
        _check_apart(options.inputs, options.output.resolve())


def _check_apart(inputs: Sequence[str], output: Path) -> None:
    """Refuse an output among the parts of an input folder, or the other way round."""
    for path in inputs:
        place = Path(path).resolve()
        inside = place.is_dir() and place in (output, output.parent)
        if inside or output in place.parents:
            raise click.UsageError(f"--output: {output} and the input {path} lie in one another")


def worker_parameters(options: ClusterOptions, parameters: dict[str, Any]) -> dict[str, Any]:
    """The scorer's options as workers need them: files named from the root, no default cache.

    Every worker has its own place in the output, so that a cache would only repeat it.
    """
    changed = dict(parameters)
    if options.gpus_per_worker is None and changed["device"] == "auto":
        changed["device"] = "cpu"
    cache = changed["cache"] and open_cache_folder(changed["cache"], changed["no_cache"])
    changed["cache"], changed["no_cache"] = cache and cache.absolute(), cache is None
    if changed["calibration"] is not None:
        changed["calibration"] = changed["calibration"].absolute()
    if changed["model"] is not None:
        changed["model"] = _scorer_from_root(changed["model"])
    return changed


def _scorer_from_root(name: str) -> str:
    """A scorer's name with the files and folders in it named from the root.

    A word is taken for a file only where one process would open it as a file: a folder may have
    the name of a family, of a registered model or of a family's option.
    """
    from prevalence.models.registry import lookup
    from prevalence.scorers.registry import FAMILIES

    kind, colon, rest = name.partition(":")
    if kind == "nli" and colon:
        return f"nli:{rest if lookup(rest) else _file_from_root(rest)}"
    if kind not in FAMILIES:
        return name if lookup(name) else _file_from_root(name)
    parts = rest.split(",")
    word = next((place for place, part in enumerate(parts) if "=" not in part), None)
    if word is not None and kind in _FIRST_WORDS:
        parts[word] = _unless_cut(",", parts[word].strip(), _FIRST_WORDS[kind])
    return kind + colon + ",".join(map(_setting_from_root, parts))


def _setting_from_root(part: str) -> str:
    key, equals, value = part.partition("=")
    if key.strip() not in _MODEL_SETTINGS:
        return part
    models = value.strip().split("+")
    return key + equals + "+".join(_unless_cut(",+", m, _unit_model_from_root) for m in models)


def _unless_cut(marks: str, word: str, renamed: Callable[[str], str]) -> str:
    """An argument under its new name, or as it is where that holds a mark which would end it."""
    found = renamed(word)
    return word if set(marks) & set(found) else found


def _unit_model_from_root(name: str) -> str:
    from prevalence.scorers.summac import SUMMAC_MODELS

    return name if name.removeprefix("nli:") in SUMMAC_MODELS else _scorer_from_root(name)


def _file_from_root(name: str) -> str:
    path = Path(name).expanduser()
    return str(path.absolute()) if name and path.exists() else name


_FIRST_WORDS: dict[str, Callable[[str], str]] = {
    "adapter": _file_from_root,
    "cosine": _scorer_from_root,
    "summac-conv": _file_from_root,
    "superpal": _unit_model_from_root,
}
"""Families whose first word names a file or a model."""
_MODEL_SETTINGS = ("model", "qa", "qg")
"""Settings of families that name one."""


@contextmanager
def open_cluster(
    options: ClusterOptions, open_engine: Callable[[], Engine]
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
