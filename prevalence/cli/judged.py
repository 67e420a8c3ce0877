"""A judging run: input records → score rows or pair rows, a table, and notes."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.baselines.judges.attacks import attacked
from prevalence.baselines.judges.duels import (
    DuelRun,
    PairRow,
    every_pair,
    neighbours,
    read_pairs,
)
from prevalence.baselines.judges.packs import load_method
from prevalence.baselines.judges.prompts import choose_dimensions
from prevalence.baselines.judges.replay import Recorder
from prevalence.baselines.judges.run import JudgeRun, material_digest, write_steps
from prevalence.baselines.judges.scoring import make_plan
from prevalence.baselines.rows import ScoreRow
from prevalence.cli.errors import Incomplete, note
from prevalence.cli.outputs import kept_in, line_file
from prevalence.cli.progress import ReadingProgress
from prevalence.cli.rows import RowSink
from prevalence.cli.selection import Selection
from prevalence.errors import (
    BackendError,
    ConfigurationError,
    InputError,
    PrevalenceError,
    foreign_output,
)
from prevalence.llm.backends import open_backend
from prevalence.report.baselines import SystemMeans
from prevalence.report.console import make_console, plain
from prevalence.writers import finished_rows, skip_finished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prevalence.baselines.judges.packs import Dimension
    from prevalence.baselines.judges.scoring import Plan
    from prevalence.cli.judge import JudgeOptions
    from prevalence.llm.protocol import Backend
    from prevalence.records import BadRecord, Product

__all__ = ["run"]

_COUNTED = ("unparsable", "several", "out_of_range", "failed", "cut", "contradictions")


def run(options: JudgeOptions) -> tuple[int, int]:
    """Judge the selected records, and write and print what is asked for.

    Returns:
        Rows without and with an error, those of an earlier run of the same output included.

    Raises:
        PrevalenceError: nothing could be judged.
        Incomplete: something ended the run after a part of it; its cause says what.
        KeyboardInterrupt: with a message that says what is kept.
    """
    method = load_method(str(options.method))
    dimensions = choose_dimensions(method, options.dimensions or ("all",))
    plan = _plan(options)
    if options.pairs is not None and not method.compares:
        raise ConfigurationError("--pairs goes with methods that compare, such as h2h")
    if options.attacks and method.compares:
        raise ConfigurationError("--attacks goes with methods that score one summary")
    selection = _Selection(options)
    backend = open_backend(str(options.backend), options.told)
    if options.dry_run:
        return _dry_run(options, plan, dimensions, backend, selection=selection)
    rows = _Rows(options)
    with ExitStack() as stack:
        record = _recorder(options, stack)
        work: _Scores | _Duels = (
            _Duels(options, plan, dimensions, backend, selection=selection, record=record)
            if method.compares
            else _Scores(options, plan, dimensions, backend, selection=selection, record=record)
        )
        if plan.note is not None and not options.quiet:
            note(plan.note)
        _write(options, work, rows)
    if rows.failure is None:
        rows.failure = _unfound(selection, rows)
    rows.show(work.signature, backend)
    if rows.failure is not None:
        raise Incomplete from rows.failure
    return rows.scored, rows.failed


def _unfound(selection: _Selection, rows: _Rows) -> PrevalenceError | None:
    """What was asked for and is not there; raised where nothing else was judged."""
    try:
        selection.check_rows(rows.scored + rows.failed)
    except InputError as error:
        if not rows.scored:
            raise
        return error
    return None


def _plan(options: JudgeOptions) -> Plan:
    return make_plan(
        load_method(str(options.method)),
        form=options.form,  # type: ignore[arg-type]
        samples=options.samples,
        temperature=options.temperature,
        top_p=options.top_p,
        top_k=options.top_k,
        max_tokens=options.max_tokens,
        seed=options.seed,
        rules=options.parser,
    )


def _write(options: JudgeOptions, work: _Scores | _Duels, rows: _Rows) -> None:
    lines = line_file(options.output, overwrite=options.overwrite)
    try:
        with ExitStack() as stack:
            bar = stack.enter_context(ReadingProgress(options.inputs, quiet=options.quiet))
            if lines is not None:
                stack.enter_context(lines)
            for row in work.rows(bar, rows.keep):
                bar.row()
                if lines is not None:
                    lines.line(row.to_json_line())
                rows.take(row)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {kept_in(lines, 'rows')}") from None
    except PrevalenceError as error:
        if not rows.scored:
            raise
        rows.failure = error


class _Selection(Selection):
    """The same, with every summary under attack where --attacks asks for it."""

    def __init__(self, options: JudgeOptions) -> None:
        super().__init__(
            options.inputs,
            input_format=options.input_format,
            systems=options.systems,
            limit=options.limit,
        )
        self._attacks = options.attacks
        self._named: tuple[str, ...] = ()

    def items(
        self, reader: Callable[[], Callable[[int], None]] | None = None
    ) -> Iterator[Product | BadRecord]:
        """Read the inputs; see :meth:`Selection.items`."""
        for item in super().items(reader):
            yield from attacked(item) if self._attacks else (item,)

    def pairs(self, choice: str) -> Callable[[Product], Sequence[tuple[str, str]]]:
        """The systems of a product that --pairs has compared."""
        if choice == "neighbours":
            self.check_repeatable("--pairs neighbours reads it twice")
            return neighbours(self.items())
        if choice == "all":
            return every_pair
        listed = read_pairs(Path(choice))
        self._named = listed.systems
        return listed

    def check_rows(self, rows: int) -> None:
        """Refuse names that no record has, once all were read, and a run without any row.

        Raises:
            InputError: a name stands for no system, or nothing was left to judge.
        """
        self.check()
        if not rows or self.limit is None:
            # A file of pairs may be made for more records than --limit takes.
            self.names.check("--pairs", self._named)
        if not rows:
            raise InputError("nothing is left to judge: no record has the summaries asked for")


class _Scores:
    """Score rows, continued where an earlier run stopped."""

    def __init__(
        self,
        options: JudgeOptions,
        plan: Plan,
        dimensions: Sequence[Dimension],
        backend: Backend,
        *,
        selection: _Selection,
        record: Any,
    ) -> None:
        self._options = options
        self._selection = selection
        steps = write_steps(plan.method, dimensions, backend, record=record)
        self._run = JudgeRun(plan, dimensions, backend, steps=steps, record=record)
        self.signature = self._run.signature

    def rows(self, bar: ReadingProgress, keep: Callable[[ScoreRow], None]) -> Iterator[ScoreRow]:
        items = self._selection.items(bar.reader)
        if self._options.continues and self._options.output is not None:
            items = skip_finished(
                items,
                finished_rows(self._options.output, ScoreRow.from_json),
                path=self._options.output,
                signature=lambda _: self.signature,
                keep=keep,
                digest=material_digest,
            )
        return self._run.rows(items, progress=bar.computed)


class _Duels:
    """Pair rows, continued where an earlier run stopped."""

    def __init__(
        self,
        options: JudgeOptions,
        plan: Plan,
        dimensions: Sequence[Dimension],
        backend: Backend,
        *,
        selection: _Selection,
        record: Any,
    ) -> None:
        self._options = options
        self._selection = selection
        pairs = selection.pairs(options.pairs or "all")
        self._run = DuelRun(plan, dimensions, backend, pairs=pairs, record=record)
        self.signature = self._run.signature

    def rows(self, bar: ReadingProgress, keep: Callable[[PairRow], None]) -> Iterator[PairRow]:
        done = self._kept(keep)
        return self._run.rows(self._selection.items(bar.reader), done=done, progress=bar.computed)

    def _kept(self, keep: Callable[[PairRow], None]) -> int:
        """Check the rows of an earlier run against this input, and count them."""
        output = self._options.output
        if output is None or not self._options.continues:
            return 0
        self._selection.check_repeatable("continuing --output reads it twice")
        expected = self._run.expected(self._selection.items())
        done = 0
        for row in finished_rows(output, PairRow.from_json):
            if _identity(row) != _identity(next(expected, None)):
                found = f"row {done + 1}, which is of other input or other settings"
                raise foreign_output(output, found)
            keep(row)
            done += 1
        return done


def _identity(row: PairRow | None) -> object:
    """What a row of an earlier run has in common with the one that this run would write."""
    return row and (row.id, row.a, row.b, row.dimension, row.signature, row.input_digest)


class _Rows(RowSink[ScoreRow | PairRow]):
    """What becomes of rows: means, error lines and notes."""

    def __init__(self, options: JudgeOptions) -> None:
        super().__init__(options.output)
        self.failure: PrevalenceError | None = None
        self.scored = self.failed = 0
        self._quiet = options.quiet
        self._means: SystemMeans | None = None
        self._verdicts: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._drawn = self._repeated = 0

    def count(self, row: ScoreRow | PairRow) -> None:
        """Add a row to means and counts."""
        self.scored += row.error is None
        self.failed += row.error is not None
        if isinstance(row, PairRow):
            self._verdicts[_outcome(row)] += row.error is None
            return
        self._means = self._means or SystemMeans(list(row.metrics))
        self._means.add(row)
        for report in (row.judge or {}).values():
            if isinstance(report, dict):
                self._counts.update({name: report.get(name, 0) for name in ("asked", *_COUNTED)})
                several = report.get("asked", 0) - report.get("failed", 0) > 1
                self._drawn += several
                self._repeated += several and report.get("distinct") == 1

    def show(self, signature: str, backend: Backend) -> None:
        """Print the table and the notes."""
        console = make_console()
        if self._means is not None:
            console.print(self._means.table())
        for outcome, count in self._verdicts.items():
            console.print(f"{count:,} {outcome}")
        console.print()
        console.print(plain(signature), style="dim", soft_wrap=True)
        if self._quiet:
            return
        self.note_earlier()
        note(f"{self.scored:,} rows without and {self.failed:,} with an error")
        self.note_hidden()
        found = [f"{count:,} {name.replace('_', ' ')}" for name in _COUNTED
                 if (count := self._counts[name])]  # fmt: skip
        if found:
            note(f"of {self._counts['asked']:,} replies: {', '.join(found)}")
        if self._drawn and self._repeated == self._drawn:
            note("all samples of a prompt are one and the same reply; some servers draw "
                 "none unless the model's own settings say so")  # fmt: skip
        describe = getattr(backend, "describe", None)
        if describe is not None:
            note(describe())


def _outcome(row: PairRow) -> str:
    if row.verdict_ab == row.verdict_ba:
        return "verdicts that both orders agree on"
    return "verdicts that depend on the order"


def _recorder(options: JudgeOptions, stack: ExitStack) -> Any:
    if options.record is None:
        return None
    recorder = Recorder(options.record, append=options.continues)
    stack.callback(recorder.close)
    return recorder.write


def _dry_run(
    options: JudgeOptions,
    plan: Plan,
    dimensions: Sequence[Dimension],
    backend: Backend,
    *,
    selection: _Selection,
) -> tuple[int, int]:
    from prevalence.llm.spending import DryRun, Prices

    counter = DryRun(backend, store=getattr(backend, "store", None))
    steps = _stored_steps(plan, dimensions, counter)
    if plan.method.compares:
        pairs = selection.pairs(options.pairs or "all")
        duels = DuelRun(plan, dimensions, counter, pairs=pairs)
        count = sum(1 for _ in duels.rows(selection.items()))
    else:
        run = JudgeRun(plan, dimensions, counter, steps=steps)
        count = sum(1 for _ in run.rows(selection.items()))
    selection.check_rows(count)
    prices = Prices(prompt=options.told.price_in, completion=options.told.price_out)
    note(f"{count:,} rows; {counter.describe(prices)}")
    unwritten = sum(not text for text in steps.values())
    if unwritten:
        note(f"{unwritten:,} of these replies are evaluation steps, which the judge writes first")
    return count, 0


def _stored_steps(plan: Plan, dimensions: Sequence[Dimension], counter: Backend) -> dict[str, str]:
    """Evaluation steps that are there already; those to be written are counted, and empty here."""
    steps: dict[str, str] = {}
    for one in dimensions:
        try:
            steps |= write_steps(plan.method, [one], counter)
        except BackendError:
            steps[one.key] = ""
    return steps
