"""Files that runs write, never over what they read, and what several commands say of a run."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, cast

import click

from prevalence.cli.errors import note
from prevalence.cli.options import NamingFiles
from prevalence.errors import InputError
from prevalence.files import is_stream, lock, named_output
from prevalence.readers.streams import display
from prevalence.report.text import inert
from prevalence.runs.running import Incomplete, run
from prevalence.wording import counted
from prevalence.writers import JsonLinesWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager, ExitStack

    from prevalence.records import Product
    from prevalence.runs.resuming import Finished, Mark
    from prevalence.runs.running import Tally
    from prevalence.runs.selection import Record, Selection

__all__ = [
    "PAIRS_KEPT",
    "LineFile",
    "LineWriter",
    "check_lines",
    "check_output",
    "check_page",
    "keeping_pairs",
    "kept_in",
    "kept_parts",
    "line_file",
    "line_writer",
    "note_doubtful",
    "note_uncalibrated",
    "print_json",
    "refuse_repeats",
    "same_file",
    "screen",
    "write_records",
]

PAIRS_KEPT = "pairs scored so far are in the cache; the same command continues from there"
"""What an interrupted run without an output leaves behind where there is a pair cache."""

_BLOCK = 1 << 20
_WRITTEN = frozenset({"--export", "--output", "--record", "--report"})
"""Options that name what a command writes; whatever other parameters name is read."""
_PAGES = frozenset({"", ".html", ".htm"})
_NO_LINES = frozenset({".csv", ".tsv", ".json", ".parquet"})


def check_output(output: Path, *, option: str = "--output") -> None:
    """Refuse a file in no folder, and one that the command in progress reads or writes otherwise.

    Every parameter of the command counts, so that a calibration, a recipe or a list of names is as
    safe as the input itself.

    Raises:
        click.UsageError: the file cannot be written, or should not be.
    """
    _check_place(output, option)
    context = click.get_current_context()
    for parameter in context.command.params:
        paths = [*_paths(parameter, context.params.get(str(parameter.name)))]
        name = parameter.opts[0]
        if _WRITTEN.isdisjoint(parameter.opts):
            is_input = isinstance(parameter, click.Argument)
            if output.is_file() and any(same_file(path, output) for path in paths):
                read = "an input" if is_input else name
                raise click.UsageError(f"{option}: {output} is {read}, which would be overwritten")
            if is_input and (whole := next((p for p in paths if _holds(p, output)), None)):
                raise click.UsageError(
                    f"{option}: {output} lies in {whole}, and every file there is read; choose "
                    "a file outside"
                )
        elif option not in parameter.opts and any(map(_same_target(output), paths)):
            raise click.UsageError(f"{option} and {name} are one file, {output}")


def check_page(output: Path, *, option: str = "--output") -> None:
    """Refuse what check_output refuses, and a name that promises another kind than HTML.

    Raises:
        click.UsageError: the file cannot be written, or should not be.
    """
    check_output(output, option=option)
    if output.suffix.lower() not in _PAGES:
        raise click.UsageError(
            f"{option}: {output} would hold HTML; name it {output.with_suffix('.html')}"
        )


def check_lines(output: Path, *, option: str = "--output") -> None:
    """Refuse what check_output refuses, and a name that promises another kind than JSON Lines.

    Raises:
        click.UsageError: the file cannot be written, or should not be.
    """
    check_output(output, option=option)
    if output.suffix.lower() in _NO_LINES:
        raise click.UsageError(
            f"{option}: {output} would hold JSON Lines; name it {output.with_suffix('.jsonl')}"
        )


def _check_place(output: Path, option: str) -> None:
    """Refuse a file that cannot be written, whatever the command reads."""
    if str(output) == "-":
        raise click.UsageError(f"{option} takes a file, and - is none: name one, or /dev/stdout")
    folder = output.absolute().parent
    if not folder.is_dir():
        raise click.UsageError(f"{option}: no folder {folder}")
    try:
        output.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise click.UsageError(f"{option}: {output} cannot be written ({reason})") from None
    if not os.access(output if output.exists() else folder, os.W_OK):
        raise click.UsageError(f"{option}: {output} cannot be written (no permission)")


def _paths(parameter: click.Parameter, given: Any) -> Iterator[str]:
    """What a parameter's value names as files."""
    if isinstance(given, tuple | list):
        for one in given:
            yield from _paths(parameter, one)
    elif isinstance(given, Path):
        yield str(given)
    elif isinstance(given, str) and isinstance(parameter.type, NamingFiles):
        yield from parameter.type.files(given)
    elif isinstance(given, str) and isinstance(parameter, click.Argument):
        yield given


def same_file(first: str | Path, second: str | Path) -> bool:
    """Whether two names lead to one file that is there; - is standard input."""
    if str(first) == str(second):
        return True
    try:
        return os.path.samestat(_status(first), _status(second))
    except (OSError, ValueError):
        # What a parameter says need not be the name of any file, nor standard input one.
        return False


def refuse_repeats(paths: Sequence[str | Path]) -> None:
    """Refuse a file that is given twice: all that it holds would count twice.

    Raises:
        InputError: naming the file.
    """
    for place, path in enumerate(paths):
        if any(same_file(path, earlier) for earlier in paths[:place]):
            raise InputError(f"{display(path)}: is given twice; name each file of rows once")


def _status(path: str | Path) -> os.stat_result:
    return os.fstat(sys.stdin.fileno()) if str(path) == "-" else os.stat(path)


def _same_target(output: Path) -> Callable[[str], bool]:
    """Whether a path leads to the output, which need not be there yet."""
    return lambda path: os.path.realpath(path) == os.path.realpath(output)


def _holds(folder: str, output: Path) -> bool:
    try:
        return os.path.isdir(folder) and Path(os.path.realpath(output)).is_relative_to(
            os.path.realpath(folder)
        )
    except (OSError, ValueError):
        return False


class LineFile:
    """An output in JSON Lines that a later run of the same command goes on with.

    While it is entered, no other run writes to it. Nothing in it changes before its first line, and
    a run that is refused or fails before that leaves no new file.

    Args:
        path: the output; rows for /dev/stdout go after whatever is there.
        overwrite: begin it anew; otherwise an existing file is continued.

    Attributes:
        continues: whether lines of an earlier run are kept.
    """

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self._path = path
        self._overwrite = overwrite
        self._kept_as_it_is = is_stream(path)
        self.continues = path.is_file() and not overwrite and not self._kept_as_it_is
        self._file: IO[str] | None = None
        self._new = self._begun = False

    def __enter__(self) -> Self:
        if self._file is None:
            self._new = not self._path.exists()
            file = self._path.open("a", encoding="utf-8", newline="")
            try:
                self._make_ours(file)
            except BaseException:
                file.close()
                raise
            self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        with self._named():
            if self._file is not None:
                self._file.close()
        if self._new and not self._begun:
            self._path.unlink(missing_ok=True)

    def _make_ours(self, file: IO[str]) -> None:
        if self._kept_as_it_is or not self._path.is_file():
            return
        lock(file, self._path)
        if file.tell() and not (self.continues or self._overwrite):
            raise InputError(
                f"{self._path}: another run has written to it in the meantime; start again"
            )

    def begin(self) -> IO[str]:
        """The open file, emptied where it is begun anew, though there may be nothing to write."""
        self.__enter__()
        file = cast("IO[str]", self._file)
        if not self._begun:
            self._begun = True
            if self._overwrite and not self._kept_as_it_is and self._path.is_file():
                file.truncate(0)
        return file

    def write(self, text: str) -> None:
        """Write text that ends with a line break."""
        with self._named():
            self.begin().write(text)

    def flush(self) -> None:
        """Give what was written to the system, which keeps it when the process is killed."""
        with self._named():
            self.begin().flush()

    def _named(self) -> AbstractContextManager[None]:
        return named_output(
            self._path,
            "the lines already written are kept, and the same command continues from there",
        )

    @property
    def untouched(self) -> bool:
        """Whether no line was written, by this run or by one that it continues."""
        return not self._begun and not self.continues

    def kept(self, what: str) -> str:
        """What an interrupted run leaves behind, in words.

        The lines are counted in the file: a signal may come between a line and any count of it.

        Args:
            what: what a line holds.
        """
        if self.untouched:
            return f"no {what} was written to {self._path} yet"
        command = "the same command"
        if self._overwrite:
            command += " without --overwrite"
        there = counted(_lines(self._path), f"{what} is", f"{what}s are")
        return f"{there} in {self._path}; {command} continues from there"


class LineWriter(JsonLinesWriter):
    """Rows for a :class:`LineFile`, which is begun in the end though there may be none."""

    def close(self) -> None:
        """Begin the file where no row has."""
        self._file.flush()


def line_file(path: Path | None, *, overwrite: bool) -> LineFile | None:
    """The output in JSON Lines of a command that can do without one."""
    return None if path is None else LineFile(path, overwrite=overwrite)


def kept_in(lines: LineFile | None, what: str) -> str:
    """What an interrupted run leaves behind, in words; see :meth:`LineFile.kept`."""
    return "nothing is kept (--output FILE.jsonl would)" if lines is None else lines.kept(what)


class _InertScreen:
    """A terminal that rows cannot drive."""

    def write(self, text: str) -> int:
        """Write rows."""
        return sys.stdout.write(inert(text))

    def flush(self) -> None:
        """Flush the terminal."""
        sys.stdout.flush()


def screen() -> IO[str]:
    """Standard output for rows; a file or pipe gets every character as it is."""
    if sys.stdout.isatty():
        return cast("IO[str]", _InertScreen())
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    return sys.stdout


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print JSON; on a terminal, nothing in it drives the terminal."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    click.echo(inert(text) if sys.stdout.isatty() else text)


def kept_parts(folder: Path, *, overwrite: bool) -> str:
    """What an interrupted run leaves behind in a folder of Parquet parts, in words.

    Args:
        folder: the output.
        overwrite: whether the run was to begin anew.
    """
    from prevalence.distributed import finished_count

    there = counted(finished_count(folder), "row is", "rows are")
    command = "the same command without --overwrite" if overwrite else "the same command"
    return f"{there} in {folder}; {command} continues from there"


@contextmanager
def keeping_pairs(*, cached: bool) -> Iterator[None]:
    """Let an interrupt say what becomes of the pairs scored so far.

    Args:
        cached: whether the pair cache keeps answers of the scorers.
    """
    try:
        yield
    except KeyboardInterrupt:
        kept = PAIRS_KEPT if cached else "nothing is kept (the cache would)"
        raise KeyboardInterrupt(f"interrupted: {kept}") from None


def note_uncalibrated(threshold: float) -> None:
    """Say which threshold decides where a model has none of its own."""
    note(f"warning: the model has no calibrated threshold; {threshold:g} is used (set --threshold)")


def note_doubtful(pairs: int) -> None:
    """Say how many pairs half precision leaves in doubt, if any."""
    if pairs:
        note(
            f"{counted(pairs, 'pair is', 'pairs are')} so near the threshold that "
            "float32 may decide differently (--dtype float32 settles them)"
        )


def line_writer(lines: LineFile | None) -> Callable[[ExitStack], JsonLinesWriter | None]:
    """Opens the output for rows; the file itself is opened with the first of them."""
    return lambda stack: None if lines is None else JsonLinesWriter(stack.enter_context(lines))


def write_records(
    selection: Selection,
    compute: Callable[[Iterable[Product], Callable[[int], None]], Iterator[Product]],
    *,
    output: Path,
    overwrite: bool,
    quiet: bool,
    unit: str,
    marks: Callable[[Record], Sequence[Mark]],
    finished: Callable[[Path], Finished[Any]],
    tally: Tally[Product],
) -> None:
    """Write the records of one input that its output lacks, each with something more.

    Args:
        selection: reads the input.
        compute: makes records, and calls what it is given with the number of things done.
        output: the file.
        overwrite: whether to start it over.
        quiet: whether to show no progress.
        unit: what the things done are.
        marks: see :func:`~prevalence.runs.running.run`.
        finished: what an earlier run has written to an output.
        tally: counts the records.

    Raises:
        Incomplete: something ended the run after a part of it.
        PrevalenceError: nothing could be made.
    """
    from prevalence.cli.progress import RunProgress

    lines = LineFile(output, overwrite=overwrite)
    bar = RunProgress(selection.inputs, rows="products", counted=unit, quiet=quiet)
    failure = run(
        selection.items(bar.reader),
        lambda items: compute(tally.good(items), bar.done),
        marks=marks,
        finished=finished(output) if lines.continues else None,
        tally=tally,
        progress=bar,
        writer=line_writer(lines),
        kept=lambda: lines.kept("product"),
        worth=lambda: tally.made,
    )
    if failure is not None:
        raise Incomplete from failure


def _lines(path: Path) -> int:
    """Whole lines of a file; those of a pipe or a device cannot be read back."""
    if not path.is_file():
        return 0
    count = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            count += block.count(b"\n")
    return count
