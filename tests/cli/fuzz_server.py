"""Runs command lines in forked processes with bounds: one JSON object a line in, one out.

    {"words": ["score", ...], "folder": "...", "seconds": 20}
    ->  {"status": 0, "megabytes": 81, "said": "..."}

Modules are loaded once, so that a run costs what it does and not what loading it costs. A run that
is killed has the negative number of the signal as its status. Its streams lie in the folder's
parent, since the folder must hold nothing but its input and its output.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from importlib import import_module
from pathlib import Path

PROCESSOR_SECONDS = 30
WALL_SECONDS = 300
MORE_MEMORY = 1 << 30
LARGEST_FILE = 64 << 20
LOADED = (
    "numpy", "scipy.stats", "rich.console", "rich.table", "prevalence.api", "prevalence.cli.errors",
    "prevalence.scoring.engine", "prevalence.scorers.rouge", "prevalence.baselines.registry",
    "prevalence.meta.sources", "prevalence.report.sheets", "prevalence.scoring.systems",
    "prevalence.report.console", "prevalence.calibration", "prevalence.labelled",
)  # fmt: skip


def _bounded(seconds: int) -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, used + MORE_MEMORY),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    signal.alarm(WALL_SECONDS)


def _run(words: list[str], folder: Path, seconds: int) -> None:
    """Become the command; never returns."""
    from prevalence.cli import main

    status = 99
    try:
        os.chdir(folder)
        for number, name in ((1, "stdout"), (2, "stderr")):
            file = os.open(folder.parent / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _bounded(seconds)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(number, mode, encoding="utf-8")
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        main(words, prog_name="prevalence")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


def _serve() -> None:
    for name in LOADED:
        import_module(name)
    for line in sys.stdin:
        job = json.loads(line)
        folder = Path(job["folder"])
        child = os.fork()
        if not child:
            _run(job["words"], folder, job.get("seconds", PROCESSOR_SECONDS))
        _, ended, used = os.wait4(child, 0)
        found = {
            "status": os.waitstatus_to_exitcode(ended),
            "megabytes": used.ru_maxrss >> 10,
            "seconds": round(used.ru_utime + used.ru_stime, 2),
            "said": (folder.parent / "stderr").read_text("utf-8", "replace"),
            "shown": (folder.parent / "stdout").read_text("utf-8", "replace")[:100_000],
        }
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    _serve()
