"""The command: pairs a second of this machine, beside the common ways to score them."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.errors import note, reported
from prevalence.cli.options import GroupedCommand, option, quiet_option, seed_option, split_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.throughput.measure import BenchSettings, ModelResult

__all__ = ["bench"]

_EPILOG = """\b
Examples:
  python -m benchmarks.throughput --size tiny --repeats 1
  python -m benchmarks.throughput --models embedded --size tiny \\
      --contenders 'one pair a call,ours packed'
  python -m benchmarks.throughput --models roberta-large --size full --device cuda \\
      --output results

\b
Weights are random, in the shape of the models named: speed depends on the shape
alone, and nothing is downloaded. embedded and base, which are inside the
package, are measured as they are. --size full has the real shapes and is for a
GPU; tiny and small are small likenesses that a CPU can run.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@option(
    "Work",
    "--models",
    metavar="NAMES",
    help="Which, with commas between: roberta-large, deberta-v3-large, ModernBERT-large, "
    "roberta-base, deberta-v3-base, embedded, base [default: all].",
)
@option(
    "Work",
    "--size",
    type=click.Choice(["tiny", "small", "full"]),
    metavar="SIZE",
    default="small",
    show_default=True,
    help="Of the models and the work: tiny, small or full.",
)
@option(
    "Work",
    "--products",
    type=click.IntRange(1),
    metavar="N",
    help="Products to score, of 48 pairs each [default: 1, 8 or 512, by the size].",
)
@option(
    "Work",
    "--contenders",
    metavar="NAMES",
    help="Which rows, with commas between [default: all; an unknown name lists them].",
)
@option("Work", "--repeats", type=click.IntRange(1), metavar="N", default=3, show_default=True,
        help="Timed runs of each; the median counts.")  # fmt: skip
@seed_option("Work", "Of weights and texts.")
@option("Machine", "--device", metavar="DEVICE", default="auto", show_default=True,
        help="auto (a CUDA device if there is one), cpu, cuda, cuda:1.")  # fmt: skip
@option(
    "Machine",
    "--dtype",
    metavar="TYPE",
    type=click.Choice(["auto", "float32", "float16", "bfloat16"]),
    default="auto",
    show_default=True,
    help="auto (float16 on a GPU, float32 elsewhere), float32, float16 or bfloat16.",
)
@option(
    "Output",
    "--output",
    "-o",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a JSON file, a CSV file and, with matplotlib, a picture there.",
)
@option("Output", "--json", "as_json", is_flag=True, help="Print JSON.")
@quiet_option
@click.option("--debug", is_flag=True, hidden=True, expose_value=False)
def bench(
    *, models: str | None, output: Path | None, as_json: bool, quiet: bool, **parameters: Any
) -> None:
    """How many pairs a second does this machine score, and how many without prevalence?

    Every row scores the same pairs, from strings to probabilities, with the same weights in the
    same precision. "changed" counts decisions that are not float32's.
    """
    from rich.console import Console

    from benchmarks.throughput.machine import environment
    from benchmarks.throughput.measure import MODELS, measure_model
    from benchmarks.throughput.tables import throughput_json, throughput_table
    from prevalence.report.console import make_console

    settings = _settings(parameters)
    chosen = _known(split_names(models) or list(MODELS), MODELS)
    about = environment(settings.device)
    results: list[ModelResult] = []
    console = make_console()
    if not as_json:
        console.print(f"{about['device']}, {settings.dtype}, {about['torch_threads']} threads\n")
    with Console(stderr=True, quiet=quiet).status("") as status:
        for name in chosen:
            try:
                results.append(measure_model(name, settings, progress=status.update))
            except KeyboardInterrupt:
                kept = "is in the files" if output and results else "is kept nowhere"
                raise KeyboardInterrupt(
                    f"interrupted: what was measured of {len(results)} models {kept}"
                ) from None
            if not as_json:
                console.print(throughput_table(results[-1]))
                console.print()
            if output is not None:
                _write(output, about, settings, results, quiet=quiet)
    if as_json:
        whole = throughput_json(about, asdict(settings), results)
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))


def _settings(parameters: dict[str, Any]) -> BenchSettings:
    """The settings with device and precision resolved."""
    from benchmarks.throughput.measure import BenchSettings
    from prevalence.models.devices import open_device

    device, dtype = str(open_device(parameters.pop("device"))), parameters.pop("dtype")
    if dtype == "auto":
        dtype = "float16" if device.startswith("cuda") else "float32"
    names = split_names(parameters.pop("contenders"))
    return BenchSettings(
        device=device, dtype=dtype, contenders=None if names is None else tuple(names), **parameters
    )


def _known(names: Sequence[str], models: Sequence[str]) -> Sequence[str]:
    unknown = [name for name in names if name not in models]
    if unknown:
        raise click.UsageError(
            f"--models: unknown {', '.join(unknown)}; choose from {', '.join(models)}"
        )
    return names


def _write(
    folder: Path,
    about: dict[str, Any],
    settings: BenchSettings,
    results: Sequence[ModelResult],
    *,
    quiet: bool,
) -> None:
    """Write what there is so far; each model replaces the files of the one before."""
    from benchmarks.throughput.tables import plot_throughput, throughput_csv, throughput_json
    from prevalence.files import atomic_file

    folder.mkdir(parents=True, exist_ok=True)
    stem = "throughput-" + "".join(c for c in about["date"][:19] if c.isdigit() or c == "T")
    whole = throughput_json(about, asdict(settings), results)
    with atomic_file(folder / f"{stem}.json") as file:
        file.write(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    with atomic_file(folder / f"{stem}.csv") as file:
        file.write(throughput_csv(about, results))
    plot_throughput(folder / f"{stem}.png", results, title=f"{about['device']}, {settings.dtype}")
    if not quiet:
        note(f"{folder / stem}.json, .csv")


if __name__ == "__main__":
    with reported(lambda: "--debug" in sys.argv):
        bench.main(prog_name="python -m benchmarks.throughput", standalone_mode=False)
