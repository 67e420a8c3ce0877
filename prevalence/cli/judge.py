"""`prevalence judge`: a language model rates or compares summaries; rows, a table and notes."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import click

from prevalence.cli.errors import note, tell_failures
from prevalence.cli.language_models import backend_options, check_backend_options, judge_options
from prevalence.cli.options import (
    FILE,
    FILE_PATH,
    GroupedCommand,
    input_options,
    option,
    output_option,
    quiet_option,
    refuse_given,
    refuse_two_streams,
    seed_option,
    several_names,
)
from prevalence.cli.outputs import check_lines, kept_in, line_file, line_writer, print_json
from prevalence.errors import BackendError, ConfigurationError, InputError
from prevalence.files import atomic_file
from prevalence.records import BadRecord
from prevalence.runs.running import Incomplete, Tally, run
from prevalence.runs.selection import Selection
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from prevalence.baselines.judges.duels import DuelRun, PairRow
    from prevalence.baselines.judges.packs import Dimension
    from prevalence.baselines.judges.replay import Replay
    from prevalence.baselines.judges.run import JudgeRun
    from prevalence.baselines.judges.scoring import Plan
    from prevalence.baselines.rows import ScoreRow
    from prevalence.cli.outputs import LineFile
    from prevalence.errors import PrevalenceError
    from prevalence.llm.protocol import Backend
    from prevalence.records import Product
    from prevalence.report.baselines import SystemMeans

__all__ = ["judge"]

_COUNTED = ("unparsable", "several", "out_of_range", "failed", "cut", "contradictions")
_SHOWN_IDS = 5
_REPLAY = "replay:"
_DRAWING = ("form", "samples", "temperature", "top_p", "top_k", "max_tokens", "seed")
"""Parameters that say how replies are drawn."""

_EPILOG = """\b
Examples:
  prevalence judge --list
  prevalence judge examples/summaries.jsonl --method op-i \\
      --dimensions faithfulness --backend hf:PATH --samples 10 --output scores.jsonl
  prevalence judge examples/summaries.jsonl --method rts --dimensions fluency \\
      --backend replay:examples/replies.jsonl --systems balanced,trivial
  prevalence judge examples/summaries.jsonl --method h2h --dimensions fluency \\
      --pairs all --backend openai:MODEL --dry-run
  prevalence judge examples/summaries.jsonl --method rts --dimensions fluency \\
      --export requests.jsonl

\b
--method is a name, a TOML file, or a folder of prompts with two {}; NAME:reviews-first
puts the reviews first. --dimensions takes names, sets, SET/NAME, or a TOML file.
A killed run continues when the same command is given again with the same
--output. Replies that failed are asked for again with --overwrite. Exit status:
0 all judged, 1 some records failed, 2 usage or nothing could run, 130 after
Ctrl-C.
"""


class _Options(SimpleNamespace):
    """The command's parameters by name, and what follows from them."""

    @property
    def continues(self) -> bool:
        """Whether rows of an earlier run in --output are kept."""
        return self.output is not None and not self.overwrite and self.output.is_file()


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("inputs", metavar="[INPUT]...", nargs=-1)
@option("Method", "--method", "-m", metavar="METHOD", type=FILE, help="How to ask; see --list.")
@option(
    "Method",
    "--dimensions",
    "-d",
    multiple=True,
    callback=several_names,
    type=FILE,
    metavar="NAMES",
    help="What to rate (repeat it, or use commas) [default: all of the method's first set].",
)
@option(
    "Method",
    "--pairs",
    metavar="CHOICE",
    type=FILE,
    help="h2h: neighbours (by human rating), all, or a JSON Lines file of {a, b} [default: all].",
)
@option("Method", "--list", "show_list", is_flag=True, help="Show the methods and dimensions.")
@option("Method", "--json", "as_json", is_flag=True, help="With --list: print JSON.")
@option(
    "Replies",
    "--form",
    metavar="FORM",
    type=click.Choice(["samples", "direct", "probabilities"]),
    default="samples",
    show_default=True,
    help="samples (their mean), direct (one greedy reply) or probabilities (of the grades' "
    "tokens).",
)
@option(
    "Replies",
    "--samples",
    metavar="N",
    type=click.IntRange(1),
    help="Replies per prompt [default: as in the method's paper].",
)
@option(
    "Replies",
    "--temperature",
    metavar="T",
    type=click.FloatRange(0, 2),
    help="0 is greedy [default: as in the method's paper].",
)
@option(
    "Replies",
    "--top-p",
    metavar="P",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Nucleus sampling: probability to draw from.",
)
@option(
    "Replies", "--top-k", metavar="K", type=click.IntRange(1), help="Number of tokens to draw from."
)
@option(
    "Replies",
    "--max-tokens",
    metavar="N",
    type=click.IntRange(1),
    help="Maximum tokens of a reply.",
)
@seed_option("Replies", "Seed of the first sample.", default=0, least=None)
@option(
    "Replies",
    "--parser",
    metavar="RULES",
    type=click.Choice(["strict", "llm-summeval"]),
    default="strict",
    show_default=True,
    help="strict, or llm-summeval (the rules of that paper's released scores).",
)
@input_options("input_format", "reviews", "systems", "limit")
@option(
    "Input",
    "--attacks",
    is_flag=True,
    help="Also judge each summary with added text that tries to steer the judge, as system "
    "SYSTEM#ATTACK; `prevalence audit` shows what the attacks gain.",
)
@judge_options
@output_option("Write a row for each summary (for each pair, with h2h) here, as JSON Lines.")
@option(
    "Output",
    "--overwrite",
    is_flag=True,
    help="Start --output and --record over instead of continuing them; write --export anew.",
)
@option(
    "Output",
    "--record",
    metavar="FILE",
    type=FILE_PATH,
    help="Also write every reply here, for replay:FILE; continued together with --output.",
)
@option(
    "Output",
    "--export",
    metavar="FILE",
    type=FILE_PATH,
    help="Call no model; write every request here, for you to fill in replies and give it to "
    "--backend replay:FILE.",
)
@option(
    "Output", "--dry-run", is_flag=True, help="Call no model; only count replies, tokens and cost."
)
@quiet_option
def judge(**parameters: Any) -> None:
    """Score summaries by a language model as judge: OP-I, G-Eval, Omni, RTS, MCQ and more.

    INPUT is a file of products with reviews and summaries, as for `prevalence score`, or - for
    standard input.
    """
    options = _Options(**parameters)
    if options.show_list:
        _show_list(options.as_json)
        return
    if options.as_json:
        raise click.UsageError("--json goes with --list")
    options.told = backend_options(parameters)
    _check(options)
    there, failed = _judge(options)
    tell_failures(failed, there=there)


def _judge(options: _Options) -> tuple[int, int]:
    """Judge the selected records, and write and print what is asked for.

    Returns:
        Rows without and with an error, those of an earlier run of the same output included.
    """
    from prevalence.baselines.judges.audit import attacked
    from prevalence.baselines.judges.packs import load_method
    from prevalence.baselines.judges.prompts import choose_dimensions
    from prevalence.baselines.judges.scoring import make_plan
    from prevalence.llm.backends import open_backend

    asked = options.export is None
    method = load_method(str(options.method))
    dimensions = choose_dimensions(method, options.dimensions or ("all",))
    drawing = {name: getattr(options, name) for name in _DRAWING}
    replay = None
    if asked and str(options.backend).startswith(_REPLAY):
        replay = cast("Replay", open_backend(str(options.backend), options.told))
    differ = replay is not None and replay.most > 1
    plan = make_plan(method, rules=options.parser, recorded=differ, **drawing)
    if options.pairs is not None and not method.compares:
        raise ConfigurationError("--pairs goes with methods that compare, such as h2h")
    if options.attacks and method.compares:
        raise ConfigurationError("--attacks goes with methods that score one summary")
    selection = Selection(
        options.inputs,
        source_format=options.input_format,
        reviews=options.reviews,
        systems=options.systems,
        limit=options.limit,
        changed=attacked if options.attacks else None,
    )
    if not asked:
        return _export(options, plan, dimensions, selection)
    backend = replay or open_backend(str(options.backend), options.told)
    if options.dry_run:
        return _dry_run(options, plan, dimensions, backend, selection=selection)
    lines = line_file(options.output, overwrite=options.overwrite)
    with ExitStack() as stack:
        if lines is not None:
            # Replies are paid for only when their output is this run's alone.
            stack.enter_context(lines)
        record = _recorder(options, stack)
        opened = _open(options, plan, dimensions, backend, selection=selection, record=record)
        if plan.note is not None and not options.quiet:
            note(plan.note)
        rows = _Rows(options)
        failure = _write(
            options, opened, selection, rows, lines, kept=partial(_kept, lines, backend)
        )
    rows.show(opened.signature, backend)
    if failure is not None:
        raise Incomplete from failure
    if not options.quiet:
        _tell_recording(options, plan, backend, rows)
    return rows.scored, rows.failed


def _open(
    options: _Options,
    plan: Plan,
    dimensions: Sequence[Dimension],
    backend: Backend,
    *,
    selection: Selection,
    record: Any = None,
    steps: Mapping[str, str] | None = None,
) -> JudgeRun | DuelRun:
    """The judge; without steps, it writes them, where the method has it do so."""
    from prevalence.baselines.judges.duels import DuelRun
    from prevalence.baselines.judges.run import JudgeRun, write_steps

    if plan.method.compares:
        pairs = _pairs(options.pairs or "all", selection)
        return DuelRun(plan, dimensions, backend, pairs=pairs, record=record)
    if steps is None:
        steps = write_steps(
            plan.method, dimensions, backend, max_tokens=plan.sampling.max_tokens, record=record
        )
    return JudgeRun(plan, dimensions, backend, steps=steps, record=record)


def _pairs(choice: str, selection: Selection) -> Callable[[Product], Sequence[tuple[str, str]]]:
    """The systems of a product that --pairs has compared."""
    from prevalence.baselines.judges.duels import every_pair, neighbours, read_pairs

    if choice == "neighbours":
        selection.check_repeatable("--pairs neighbours reads it twice")
        # The order of systems must not depend on --limit, which may be raised later.
        return neighbours(replace(selection, limit=None).items())
    return every_pair if choice == "all" else read_pairs(Path(choice))


def _write(
    options: _Options,
    opened: JudgeRun | DuelRun,
    selection: Selection,
    rows: _Rows,
    lines: LineFile | None,
    *,
    kept: Callable[[], str],
) -> PrevalenceError | None:
    from prevalence.cli.progress import RunProgress

    opened = cast("JudgeRun", opened)  # Duels are made of other items, but all the same.
    output = options.output if options.continues else None
    bar = RunProgress(options.inputs, counted="replies", quiet=options.quiet)
    return run(
        opened.items(selection.items(bar.reader)),
        partial(opened.rows, progress=bar.done),
        marks=opened.marks,
        rest=opened.rest,
        finished=None if output is None else opened.finished(output),
        tally=rows,
        progress=bar,
        writer=line_writer(lines),
        kept=kept,
        worth=lambda: rows.scored,
        check=lambda: _check_found(selection, opened, rows.earlier + rows.made),
    )


def _kept(lines: LineFile | None, backend: Backend) -> str:
    """What an interrupted run leaves behind: rows, and replies that were stored without one."""
    from prevalence.llm.store import StoredBackend

    stored = backend.kept if isinstance(backend, StoredBackend) else 0
    if not stored:
        return kept_in(lines, "row")
    rows = "no row is kept (--output FILE.jsonl would)" if lines is None else lines.kept("row")
    replies = counted(stored, "reply of this run is", "replies of this run are")
    return f"{rows}; {replies} stored and will not be paid for again"


def _check_found(selection: Selection, opened: JudgeRun | DuelRun, rows: int) -> None:
    """Refuse names that no record has, once all were read, and a run without any row."""
    selection.check()
    if not rows or selection.limit is None:
        # A file of pairs may be made for more records than --limit takes.
        selection.check_names("--pairs", opened.named)
        if opened.listed:
            ids = ", ".join(sorted(opened.listed)[:_SHOWN_IDS])
            raise InputError(f"--pairs: of the ids it names, no record has {ids}")
    if not rows:
        raise InputError("nothing is left to judge: no record has the summaries asked for")


class _Rows(Tally["ScoreRow | PairRow"]):
    """What becomes of rows: means, error lines and notes."""

    def __init__(self, options: _Options) -> None:
        super().__init__(options.output, note, limited=options.output is not None)
        self._quiet = options.quiet
        kept = options.output is not None and not options.overwrite
        self._again = "--overwrite" if kept else "the same command"
        self._means: SystemMeans | None = None
        self._verdicts: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._drawn = self._repeated = 0

    def count(self, row: ScoreRow | PairRow) -> None:
        """Add a row to means and counts."""
        from prevalence.baselines.judges.duels import PairRow
        from prevalence.report.baselines import SystemMeans

        if row.error is not None:
            self.fail(row.error)
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
        from prevalence.llm.store import StoredBackend
        from prevalence.report.console import make_console, plain

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
        note(f"{counted(self.scored, 'row')} without and {self.failed:,} with an error")
        self.note_hidden()
        found = [f"{count:,} {name.replace('_', ' ')}" for name in _COUNTED
                 if (count := self._counts[name])]  # fmt: skip
        if found:
            note(f"of {counted(self._counts['asked'], 'reply', 'replies')}: {', '.join(found)}")
        if self._drawn and self._repeated == self._drawn:
            note("all samples of each prompt are identical; if a server answers, it may not "
                 "sample: check its settings for the model")  # fmt: skip
        if said := backend.describe():
            note(said)
        failed = self._counts["failed"] or (self._means is None and self.failed)
        if failed and isinstance(backend, StoredBackend):
            note(f"{self._again} asks again for replies that failed; the others are stored")


def _outcome(row: PairRow) -> str:
    if row.verdict_ab == row.verdict_ba:
        return "verdicts that both orders agree on"
    return "verdicts that depend on the order"


def _recorder(options: _Options, stack: ExitStack) -> Any:
    if options.record is None:
        return None
    from prevalence.baselines.judges.replay import Recorder

    recorder = Recorder(options.record, append=options.continues)
    stack.callback(recorder.close)
    return recorder.write


def _tell_recording(options: _Options, plan: Plan, backend: Backend, rows: _Rows) -> None:
    """What of a recording was not used, if one was read."""
    from prevalence.baselines.judges.replay import Replay

    if not isinstance(backend, Replay):
        return
    left, most = backend.spare
    if left:
        several = plan.form == "samples" and not plan.method.compares
        how = f"--samples {most} reads up to {most:,} of each" if several else "one is read of each"
        note(f"{counted(left, 'recorded reply was', 'recorded replies were')} not used; {how}")
    whole = options.limit is None and not options.systems and not rows.earlier
    if whole and backend.unmatched:
        first = ", ".join(part for part in next(iter(backend.unmatched)) if part)
        many = counted(
            len(backend.unmatched), "request of the recording matches",
            "requests of the recording match",
        )  # fmt: skip
        note(f"{many} nothing that was asked; the first is {first}")


def _export(
    options: _Options, plan: Plan, dimensions: Sequence[Dimension], selection: Selection
) -> tuple[int, int]:
    """Write the requests as a recording that has no replies yet.

    Returns:
        Requests written, and records that could not be read.
    """
    from prevalence.baselines.judges.replay import Exporter, Replay
    from prevalence.llm.backends import open_backend

    answered = None if options.backend is None else open_backend(options.backend, options.told)
    faulty: list[str] = []
    with atomic_file(options.export) as file:
        exporter = Exporter(file, answered if isinstance(answered, Replay) else None)
        steps = _stored_steps(plan, dimensions, exporter)
        missing = [key for key, text in steps.items() if not text]
        if not missing:
            opened = _open(options, plan, dimensions, exporter, selection=selection, steps=steps)
            opened = cast("JudgeRun", opened)
            records = _sound(selection.items(), faulty)
            count = sum(1 for _ in opened.rows(opened.items(records)))
            _check_found(selection, opened, count + len(faulty))
    for error in faulty:
        note(error)
    if not options.quiet:
        _tell_export(plan, exporter.requests, steps_alone=bool(missing))
    return exporter.requests, len(faulty)


def _tell_export(plan: Plan, requests: int, *, steps_alone: bool) -> None:
    written = f"{counted(requests, 'request')} written, for"
    if steps_alone:
        note(f"{written} 1 reply at temperature 0 each")
        note(
            "they are for the evaluation steps, which the judge writes first; fill in their "
            "replies, and export again with --backend replay:FILE"
        )
        return
    if plan.note is not None:
        note(plan.note)
    replies = counted(plan.samples, "reply", "replies")
    note(f"{written} {replies} at temperature {plan.sampling.temperature:g} each")


def _sound(
    records: Iterable[Product | BadRecord], faulty: list[str]
) -> Iterator[Product | BadRecord]:
    """The records that could be read; the errors of the others are kept."""
    for record in records:
        if isinstance(record, BadRecord):
            faulty.append(record.error)
        else:
            yield record


def _dry_run(
    options: _Options,
    plan: Plan,
    dimensions: Sequence[Dimension],
    backend: Backend,
    *,
    selection: Selection,
) -> tuple[int, int]:
    from prevalence.llm.spending import DryRun

    counter = DryRun(backend)
    steps = _stored_steps(plan, dimensions, counter)
    opened = _open(options, plan, dimensions, counter, selection=selection, steps=steps)
    opened = cast("JudgeRun", opened)
    count = sum(1 for _ in opened.rows(opened.items(selection.items())))
    _check_found(selection, opened, count)
    note(f"{counted(count, 'row')}; {counter.describe(options.told.prices)}")
    unwritten = sum(not text for text in steps.values())
    if unwritten:
        note(f"{unwritten:,} of these replies are evaluation steps, which the judge writes first")
    return count, 0


def _stored_steps(plan: Plan, dimensions: Sequence[Dimension], counter: Backend) -> dict[str, str]:
    """Evaluation steps that are there already; those to be written are counted, and empty here."""
    from prevalence.baselines.judges.run import write_steps

    steps: dict[str, str] = {}
    for one in dimensions:
        try:
            steps |= write_steps(plan.method, [one], counter, max_tokens=plan.sampling.max_tokens)
        except BackendError:
            steps[one.key] = ""
    return steps


def _show_list(as_json: bool) -> None:
    from prevalence.report.baselines import method_rows, method_tables
    from prevalence.report.console import make_console

    if as_json:
        print_json(method_rows())
    else:
        console = make_console()
        for table in method_tables():
            console.print(table)
            console.print()


def _check(options: _Options) -> None:
    exports = options.export is not None
    for missing, name, advice in (
        (not options.inputs, "INPUT", "give a file of products, or --list"),
        (options.method is None, "--method", "choose one of `prevalence judge --list`"),
        (options.backend is None and not exports, "--backend", "for example --backend hf:PATH"),
    ):
        if missing:
            raise click.UsageError(f"no {name}; {advice}")
    if exports:
        _check_export(options)
    if options.backend is not None:
        check_backend_options(options.backend, dry_run=options.dry_run)
    refuse_two_streams(options.inputs)
    written = {
        "--output": options.output, "--record": options.record, "--export": options.export,
    }  # fmt: skip
    if options.overwrite and not any(written.values()):
        raise click.UsageError("--overwrite goes with --output, --record and --export")
    found = {option: path for option, path in written.items() if path is not None}
    if len({path.absolute() for path in found.values()}) < len(found):
        raise click.UsageError("--output and --record are the same file")
    for option_name, path in found.items():
        check_lines(path, option=option_name)
    _check_record(options)


def _check_export(options: _Options) -> None:
    """An export asks nobody, and its replies may have been filled in."""
    from prevalence.llm.backends import BackendOptions

    refuse_given({"output", "record", "dry_run"}, "does not go with --export, which asks nobody")
    if options.form == "probabilities":
        raise click.UsageError("--form probabilities: a recording holds no log-probabilities")
    if options.backend is None:
        every = {field.name for field in fields(BackendOptions)}
        refuse_given(every, "has no effect with --export, which asks nobody")
    elif not options.backend.startswith(_REPLAY):
        raise click.UsageError(
            "--export asks nobody: give no --backend, or replay:FILE with evaluation steps"
        )
    path = options.export
    if path.is_file() and path.stat().st_size and not options.overwrite:
        raise click.UsageError(
            f"--export: {path} is there, perhaps with replies; choose another file, or --overwrite"
        )


def _check_record(options: _Options) -> None:
    """Replies may have cost money: a recording is continued with --output, or begun anew."""
    path = options.record
    if path is None or options.overwrite or options.continues or options.dry_run:
        return
    if path.is_file() and path.stat().st_size:
        raise click.UsageError(
            f"--record: {path} already holds a recording; choose another file, or --overwrite"
        )
