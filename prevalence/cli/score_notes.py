"""What `prevalence score` says after a run: the table of systems, and notes on the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.cli.errors import note
from prevalence.cli.outputs import note_doubtful
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.distributed import DistributedEngine
    from prevalence.nli.pairs import ScorerCounts
    from prevalence.runs.running import Tally
    from prevalence.scored import ScoredSummary
    from prevalence.scoring.engine import Engine, WorkCounts
    from prevalence.scoring.systems import SystemStatistics, SystemTable
    from prevalence.stats.correction import ErrorRates

__all__ = ["note_work", "nothing_left", "print_table"]


def print_table(
    table: SystemTable,
    *,
    error_rates: ErrorRates | None,
    tests: Sequence[str],
    resamples: int | None,
    seed: int,
) -> None:
    """Print the systems with their intervals, standings, tests and signatures.

    Args:
        table: every row, those of an earlier run included.
        error_rates: of the scorer, if its scores are to be corrected.
        tests: names of the paired tests that were asked for.
        resamples: for intervals and tests; None for the usual numbers.
        seed: of resampling.
    """
    from prevalence.report.console import (
        comparison_table,
        make_console,
        plain,
        print_signatures,
        system_table,
    )
    from prevalence.report.standings import standings_table
    from prevalence.scoring.systems import RESAMPLES, standings

    console = make_console()
    counts = {test: resamples or RESAMPLES[test] for test in RESAMPLES}
    statistics = table.statistics(resamples=counts["bootstrap"], seed=seed, error_rates=error_rates)
    if statistics:
        console.print(system_table(statistics, width=console.width))
    if why := _refuted(statistics):
        console.print(plain(why), style="dim")
    if table.unreadable:
        unread = counted(
            table.unreadable,
            "record could not be read (no system is known for it)",
            "records could not be read (no system is known for them)",
        )
        console.print(unread, style="dim")
    places = standings(table, resamples=counts["bootstrap"], seed=seed)
    if len(places) > 1:
        console.print()
        console.print(standings_table(places))
    if tests:
        comparisons = table.compare(tests, resamples=counts, seed=seed)
        console.print()
        if comparisons:
            console.print(comparison_table(comparisons))
        else:
            why = "no two systems share a product" if len(places) > 1 else "there is one system"
            console.print(f"--test: {why}, so nothing to compare")
    resampling = {"bs": counts["bootstrap"]}
    if "randomization" in tests:
        resampling["ar"] = counts["randomization"]
    resampling["seed"] = seed
    print_signatures(console, table.signatures, resampling)


def _refuted(statistics: Sequence[SystemStatistics]) -> str:
    """Why the corrected scores of some systems are 0, if the rates of the scorer do not fit."""
    refuted = [found.system for found in statistics if found.rates_refuted]
    if not refuted:
        return ""
    why = (
        f"corrected 0.000 ({', '.join(refuted)}): fewer pairs count as supported than the "
        "scorer's rate of false support alone would give, so its error rates do not fit these "
        "reviews"
    )
    if any((found.corrected or 0.0) > 0.0 for found in statistics if not found.rates_refuted):
        why += ", and the corrected scores of the other systems are probably too low as well"
    return why


def note_work(
    engine: Engine | DistributedEngine,
    rows: Tally[ScoredSummary],
    table: SystemTable,
    *,
    trivial: bool,
    check_cuts: bool,
) -> None:
    """Say what was avoided, what was cut, and what lacks a mask.

    Args:
        engine: after the run.
        rows: counts of them.
        table: statistics of them.
        trivial: whether sentences that hold of any product were to be masked.
        check_cuts: whether what is cut was also to be read in windows.
    """
    from prevalence.report.names import repeated_note

    counts = engine.counts
    done = engine.scorer_counts
    rows.note_earlier()
    note(_work(counts, done))
    if counts.ceiling_most:
        note(
            f"ceilings asked {counts.ceiling_asked:,} of the {counts.ceiling_most:,} pairs of a "
            "review and a sentence of the reviews"
        )
    if counts.profile_asked:
        note(f"profiles asked {counted(counts.profile_asked, 'pair')} more")
    if table.nothing_left:
        note(nothing_left(table))
    if table.repeated:
        note(repeated_note(table.repeated))
    _note_groups(table)
    for unread in engine.unread.notes():
        note(unread)
    rows.note_hidden()
    _note_cuts(counts, done, checked=check_cuts)
    note_doubtful(counts.doubtful)
    if done.rechecked:
        note(
            f"{counted(done.rechecked, 'pair was', 'pairs were')} near the threshold and scored "
            f"again in float32, which changed {counted(done.turned, 'decision')}"
        )
    if counts.given:
        alone = "; quantities were compared with these alone" if table.quantities else ""
        note(f"{counts.kept:,} of {counted(counts.given, 'review')} counted{alone}")
    if counts.unnamed and trivial:
        note(
            f"{counted(counts.unnamed, 'summary has', 'summaries have')} no product name, so no "
            "trivial mask (--product-names gives names)"
        )
    _note_languages(counts, engine.foreign)
    if counts.warned:
        carrying = counted(counts.warned, "summary carries", "summaries carry")
        note(f'{carrying} a "warning" (see --format jsonl or --explain)')


def _note_languages(counts: WorkCounts, foreign: Sequence[str]) -> None:
    """Products and reviews that are probably not in English, where that matters."""
    if counts.foreign:
        note(
            f"{counted(counts.foreign, 'product is', 'products are')} probably not in English "
            f"({_some(foreign, counts.foreign)}), which the model or the splitter was made "
            "for (--language, --model)"
        )
    if counts.foreign_reviews:
        note(
            f"{counts.foreign_reviews:,} of {counted(counts.reviews, 'review')} "
            f"{'does' if counts.foreign_reviews == 1 else 'do'} not look English; --reviews-where "
            "'language = en' leaves such reviews out where the file names languages"
        )


def nothing_left(table: SystemTable) -> str:
    """How many summaries the conditions leave without a score.

    Args:
        table: statistics of the rows.

    Returns:
        A sentence without its full stop.
    """
    without = counted(table.nothing_left, "summary has", "summaries have")
    first = f'; the first: "{table.why_nothing}"' if table.why_nothing else ""
    return (
        f"{without} no score: the conditions leave no statement or no review (the "
        f'"warning" in the rows says which{first})'
    )


def _note_groups(table: SystemTable) -> None:
    """Which of the groups that were asked for hold no review at all, for a misspelt field."""
    for name, reviews in table.in_groups.items():
        if not reviews:
            note(f"no review is in the group {name} (check the field and its values)")


def _work(counts: WorkCounts, done: ScorerCounts) -> str:
    """What became of the summaries, and of the pairs that their scores name."""
    parts = [
        f"{counted(counts.scored, 'summary', 'summaries')} scored, "
        f"{counts.failed - counts.unread:,} failed"
    ]
    if counts.unread:
        parts[0] += f", {counted(counts.unread, 'record')} could not be read"
    if counts.naive:
        spared = counts.naive - counts.planned
        why = " (masked sentences, empty reviews, summaries without a score)" if spared else ""
        parts += [
            f"of {counted(counts.naive, 'pair')} {counted(spared, 'was', 'were')} not asked{why}, "
            f"{counted(counts.planned - counts.unique, 'was a duplicate', 'were duplicates')}",
            # Those of ceilings and of parts of texts among them, which are no pairs of a score.
            f"{counted(done.hits, 'answer was', 'answers were')} cached",
        ]
    return "; ".join(parts)


def _some(names: Sequence[str], count: int) -> str:
    """The first names of so many."""
    return ", ".join(names) + (f" and {count - len(names):,} more" if count > len(names) else "")


def _note_cuts(counts: WorkCounts, done: ScorerCounts, *, checked: bool) -> None:
    """Say what the model's limit cut off and, where that was asked for, what hangs on it."""
    if not counts.truncated:
        if checked:
            note("no pair was cut at the model's limit, so --check-cuts had nothing to check")
        return
    checks = "" if checked else "; --check-cuts counts the decisions that this changes"
    note(
        f"pairs cut at the model's limit: {counts.truncated:,}, premises: {counts.cut_premises:,} "
        f"(--windows STRIDE reads premises whole{checks})"
    )
    if checked:
        note(
            f"{done.reread:,} of them did not count as support and were also read in windows, "
            f"which would change {counted(done.reread_turned, 'decision')}"
        )
