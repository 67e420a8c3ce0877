"""Files that runs write: one line a result, continued or begun anew, counted as they lie there."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

__all__ = ["LineFile", "kept_in", "line_file"]

_BLOCK = 1 << 20


class LineFile:
    """An output in JSON Lines that a later run of the same command goes on with.

    It is opened with its first line and not before, so that a run that is refused or fails first
    leaves the file as it is.

    Args:
        path: the output.
        overwrite: begin it anew; otherwise an existing file is continued.

    Attributes:
        continues: whether lines of an earlier run are kept.
    """

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self._path = path
        self._overwrite = overwrite
        self.continues = path.is_file() and not overwrite
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def begin(self) -> None:
        """Open the file, though there may be nothing to write."""
        if self._file is None:
            mode = "a" if self.continues else "w"
            self._file = self._path.open(mode, encoding="utf-8", newline="")

    def write(self, text: str) -> None:
        """Write text that ends with a line break."""
        self.begin()
        if self._file is not None:
            self._file.write(text)

    def flush(self) -> None:
        """Give what was written to the system, which keeps it when the process is killed."""
        if self._file is not None:
            self._file.flush()

    def line(self, text: str) -> None:
        """Write one line, whole before the next is begun."""
        self.write(text + "\n")
        self.flush()

    def kept(self, what: str) -> str:
        """What an interrupted run leaves behind, in words.

        The lines are counted in the file: a signal may come between a line and any count of it.

        Args:
            what: what a line holds, in the plural.
        """
        if self._file is None and not self.continues:
            return f"no {what} were written to {self._path} yet"
        command = "the same command"
        if self._overwrite:
            command += " without --overwrite"
        return f"{_lines(self._path):,} {what} are in {self._path}; {command} goes on from there"


def line_file(path: Path | None, *, overwrite: bool) -> LineFile | None:
    """The output in JSON Lines of a command that can do without one."""
    return None if path is None else LineFile(path, overwrite=overwrite)


def kept_in(lines: LineFile | None, what: str) -> str:
    """What an interrupted run leaves behind, in words; see :meth:`LineFile.kept`."""
    return "nothing is kept (--output FILE.jsonl would)" if lines is None else lines.kept(what)


def _lines(path: Path) -> int:
    """Whole lines of a file; those of a pipe or a device cannot be read back."""
    if not path.is_file():
        return 0
    count = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            count += block.count(b"\n")
    return count
