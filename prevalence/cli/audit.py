"""`prevalence audit`: how far can a judge be trusted?"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import click

from prevalence.cli.options import LABELLED_FILE, GroupedCommand, option, quiet_option
from prevalence.cli.outputs import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prevalence.stats.coefficients import Kind

__all__ = ["audit"]

_UNNAMED = "no dimension"
"""What rows without one are counted under."""

_EPILOG = """\b
Examples:
  prevalence audit examples/ratings.jsonl
  prevalence audit examples/ratings.jsonl examples/duels.jsonl --json

\b
INPUTs are score rows of judges (with human ratings, for the offset, or beside
tables of ratings as prevalence meta reads them), pair rows of head-to-head
judges, or both. LABEL=FILE names a file's metrics LABEL:METRIC,
so that two runs of one method, such as two wordings, can be told apart.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=LABELLED_FILE)
@option(
    "Figures",
    "--maximum",
    metavar="X",
    type=float,
    default=5.0,
    show_default=True,
    help="Top of the scale.",
)
@option(
    "Figures",
    "--coefficient",
    metavar="NAME",
    type=click.Choice(["spearman", "pearson", "kendall"]),
    default="spearman",
    show_default=True,
    help="Coefficient for R, the agreement of two methods on a system's summaries.",
)
@option(
    "Figures",
    "--tolerance",
    metavar="R",
    type=click.FloatRange(-1, 1),
    default=0.5,
    show_default=True,
    help="List systems with a lower R, or with none, as unreliable.",
)
@option("Output", "--json", "as_json", is_flag=True, help="Print JSON.")
@quiet_option
def audit(
    *,
    inputs: tuple[str, ...],
    maximum: float,
    coefficient: Kind,
    tolerance: float,
    as_json: bool,
    quiet: bool,
) -> None:
    """How far can you trust a judge? Use of the scale, consistency, order effects, attacks."""
    from prevalence.baselines.judges import audit as found
    from prevalence.cli.meta_options import note_left_out
    from prevalence.errors import InputError
    from prevalence.meta.sources import read_tables
    from prevalence.report.audit import Audit, audit_json, audit_tables
    from prevalence.report.console import make_console

    pairs = [path for path in inputs if _holds_pairs(path)]
    scores = [path for path in inputs if path not in pairs]
    reading = read_tables(scores) if scores else None
    table = None if reading is None else reading.table
    if reading is not None and not quiet:
        note_left_out(reading.left_out, "the inputs")
    whole = Audit(
        metrics=[] if table is None else found.audit_metrics(table, maximum=maximum),
        replies=_replies(scores),
        contrasts=[]
        if table is None
        else found.audit_contrasts(table, kind=coefficient, tolerance=tolerance),
        attacks=[] if table is None else found.audit_attacks(table, maximum=maximum),
        orders=found.audit_orders(_verdicts(pairs)),
    )
    if as_json:
        print_json(audit_json(whole))
        return
    tables = [*audit_tables(whole)]
    if not tables:
        raise InputError(
            "the inputs hold nothing to audit: give scores of judges, metrics called "
            "JUDGE.DIMENSION, or head-to-head rows"
        )
    console = make_console()
    for each in tables:
        console.print(each)
        console.print()


def _rows(path: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The objects of a file, with the file's label."""
    from prevalence.errors import InputError
    from prevalence.meta.sources import read_records, split_label
    from prevalence.readers.streams import STDIN

    label, file = split_label(path)
    if str(file) == STDIN:
        raise InputError("standard input is read once, and an audit reads it twice; name a file")
    prefix = "" if label is None else f"{label}:"
    return ((prefix, row) for row in read_records(file))


def _holds_pairs(path: str) -> bool:
    first = next(_rows(path), None)
    return first is not None and "verdict_ab" in first[1]


def _replies(paths: list[str]) -> dict[str, Counter[str]]:
    """What became of replies, by metric, as rows of judges tell."""
    counts: dict[str, Counter[str]] = {}
    for path in paths:
        for prefix, row in _rows(path):
            report = row.get("judge")
            for metric, found in report.items() if isinstance(report, dict) else ():
                if isinstance(found, dict):
                    whole = {k: v for k, v in found.items() if isinstance(v, int)}
                    counts.setdefault(prefix + str(metric), Counter()).update(whole)
    return counts


def _verdicts(paths: list[str]) -> dict[str, list[tuple[float, float]]]:
    from prevalence.errors import InputError

    verdicts: dict[str, list[tuple[float, float]]] = {}
    files: dict[str, int] = {}
    for file, path in enumerate(paths):
        for number, (prefix, row) in enumerate(_rows(path), start=1):
            both = _both(row, f"{path}: row {number}")
            named = row.get("dimension")
            # A record that could not be read has neither a dimension nor verdicts.
            if named is None and all(map(math.isnan, both)):
                continue
            name = f"{prefix}{_UNNAMED if named is None else named}"
            verdicts.setdefault(name, []).append(both)
            duel = repr((name, *(row.get(key) for key in ("id", "a", "b"))))
            if files.setdefault(duel, file) != file:
                raise InputError(
                    f"{path}: row {number}: the same two summaries were compared in "
                    f"{paths[files[duel]]}; give only one of the two, or tell judges apart with "
                    "LABEL=FILE"
                )
    return verdicts


def _both(row: Mapping[str, object], where: str) -> tuple[float, float]:
    """The verdicts of a row in both orders, NaN without one."""
    from prevalence.errors import InputError
    from prevalence.meta.preferences import read_verdict
    from prevalence.readers.fields import FieldError

    try:
        return read_verdict(row, "verdict_ab"), read_verdict(row, "verdict_ba")
    except FieldError as fault:
        raise InputError(f"{where}: {fault.where}: {fault.problem}; {fault.fix}") from None
