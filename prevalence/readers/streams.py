"""Open a file or stdin, undo gzip, count bytes, and hand out numbered lines."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections import deque
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from prevalence.errors import InputError
from prevalence.readers.fields import FieldError, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import WriteableBuffer

__all__ = ["GZIP_MAGIC", "MAX_LINE_BYTES", "PARQUET_MAGIC", "STDIN", "EmptyInputError", "Line",
           "Source", "begins_with", "check_readable", "display", "foreign",
           "open_source"]  # fmt: skip

STDIN = "-"
MAX_LINE_BYTES = 1 << 28
"""A longer line is reported instead of read, so that a stray binary cannot fill the memory."""

_BLOCK = 1 << 16
_FREE_BYTES = 1 << 24
_MOST_RATIO = 100
"""To which text is packed; what unpacks to more than this and the free bytes is made to."""
_UTF8_BOM = b"\xef\xbb\xbf"
GZIP_MAGIC, PARQUET_MAGIC = b"\x1f\x8b", b"PAR1"
"""What such files begin with."""
_LEAST_UTF16 = 4
"""Bytes of two characters, the fewest that UTF-16 without a byte order mark is told by."""
_UTF16 = ("UTF-16 text", 'save it as UTF-8 (Excel calls it "CSV UTF-8")')
_FOREIGN = {
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "unpack it, or save the sheet as CSV"),
    b"\x89PNG": ("a PNG image", "give a file of texts"),
    b"\xff\xd8\xff": ("a JPEG image", "give a file of texts"),
    b"%PDF": ("a PDF document", "export its texts as JSON Lines or CSV"),
    PARQUET_MAGIC + b"\x15": (
        "a Parquet file",
        "export it as JSON Lines or CSV",
    ),
    b"BZh91AY&": ("a bzip2 archive", "unpack it, or compress it with gzip"),
    b"\xfd7zXZ": ("an xz archive", "unpack it, or compress it with gzip"),
    b"(\xb5/\xfd": ("a zstd archive", "unpack it, or compress it with gzip"),
}
"""What a file that is no text begins with, what it is, and what to do with it."""


class EmptyInputError(InputError):
    """The input holds no byte."""


class Line(NamedTuple):
    """One physical line: its 1-based number, its bytes with the ending, or why it has none."""

    number: int
    data: bytes
    fault: str | None = None

    def blank(self) -> bool:
        """Whether the line holds white space alone, that of Unicode included."""
        return not self.data.decode("utf-8", errors="replace").strip()

    def text(self) -> str:
        """The line as text, its ending included.

        Raises:
            FieldError: it has no bytes, or they are not UTF-8; the message holds the 1-based place.
        """
        if self.fault is not None:
            raise FieldError("", self.fault, "repair the file")
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 at byte {error.start + 1} of the line"
            raise FieldError("", problem, "save the file as UTF-8") from None


class _Counting(io.RawIOBase):
    """A raw stream that reports the bytes taken so far and can give its first bytes twice."""

    def __init__(self, inner: IO[bytes], progress: Callable[[int], None] | None) -> None:
        super().__init__()
        self._inner = inner
        self._progress = progress
        self.taken = 0
        self._prefix = b""

    def sniff(self, size: int) -> bytes:
        """The first bytes; they are read again later."""
        self._prefix = self._inner.read(size)
        return self._prefix

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = self._prefix[: len(view)] or self._read_some(len(view))
        self._prefix = self._prefix[len(data) :]
        view[: len(data)] = data
        self.taken += len(data)
        if self._progress is not None and data:
            self._progress(self.taken)
        return len(data)

    def _read_some(self, size: int) -> bytes:
        # read1 returns what a pipe holds now, where read would wait until the buffer is full.
        read: Callable[[int], bytes] = getattr(self._inner, "read1", self._inner.read)
        return read(size)


class _Unpacked(io.RawIOBase):
    """What a gzip stream unpacks to, as long as it is in proportion."""

    def __init__(self, packed: IO[bytes], raw: _Counting, path: str) -> None:
        super().__init__()
        self._file = gzip.GzipFile(fileobj=packed, mode="rb")
        self._raw = raw
        self._path = path
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = self._file.read1(len(view))
        view[: len(data)] = data
        self._given += len(data)
        if self._given > max(_FREE_BYTES, _MOST_RATIO * self._raw.taken):
            raise InputError(
                f"{self._path}: unpacks to more than {_MOST_RATIO} times its size, like a "
                "decompression bomb; if you trust it, unpack it first"
            )
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


class Source:
    """The lines of one open input, in order, with a look ahead that loses nothing.

    Args:
        stream: what is read by lines.
        path: see below.
        before: lines of the input that come before the stream, for numbers.

    Attributes:
        path: the input's name as the user gave it, for messages.
    """

    def __init__(self, stream: IO[bytes], path: str, *, before: int = 0) -> None:
        self.path = path
        self._stream = stream
        self._number = before
        self._pending: deque[Line] = deque()
        self._ended = False

    def head(self, count: int) -> list[Line]:
        """The first ``count`` lines that hold something; they are handed out again later."""
        found = [line for line in self._pending if not line.blank()]
        while len(found) < count:
            line = self._next()
            if line is None:
                break
            self._pending.append(line)
            if not line.blank():
                found.append(line)
        return found[:count]

    def lines(self) -> Iterator[Line]:
        """Every line that was not handed out before; a damaged stream ends with a fault."""
        while True:
            line = self._pending.popleft() if self._pending else self._next()
            if line is None:
                return
            yield line

    def texts(self) -> Iterator[tuple[int, str]]:
        """Number and text of every line, of an input that is of use only as a whole.

        Raises:
            InputError: a line cannot be read; the message names it.
        """
        for line in self.lines():
            try:
                text = line.text()
            except FieldError as fault:
                where = f"{self.path}:{line.number}"
                raise InputError(f"{where}: {fault.problem}; {fault.fix}") from None
            yield line.number, text

    def fault(self) -> str | None:
        """Why a line looked at so far could not be read, or None."""
        return next((line.fault for line in self._pending if line.fault), None)

    def _next(self) -> Line | None:
        if self._ended:
            return None
        self._number += 1
        try:
            data, fault = self._read_line()
        except (EOFError, OSError, zlib.error) as error:
            self._ended = True
            reason = escaped(str(error) or type(error).__name__)
            return Line(self._number, b"", f"the stream is damaged from here on ({reason})")
        if self._number == 1:
            data = data.removeprefix(_UTF8_BOM)
        if not data and fault is None:
            self._ended = True
            return None
        return Line(self._number, data, fault)

    def _read_line(self) -> tuple[bytes, str | None]:
        data = self._stream.readline(MAX_LINE_BYTES + 1)
        if len(data) <= MAX_LINE_BYTES:
            return data, None
        while data and not data.endswith(b"\n"):
            data = self._stream.readline(_BLOCK)
        return b"", f"the line is longer than {MAX_LINE_BYTES} bytes"


def display(path: str | Path) -> str:
    """The name of an input in messages: printable, on one line."""
    return "<stdin>" if str(path) == STDIN else escaped(str(path))


def begins_with(path: str | Path, magic: bytes) -> bool:
    """Whether a file begins with these bytes."""
    with Path(path).open("rb") as file:
        return file.read(len(magic)) == magic


def check_readable(path: str | Path) -> None:
    """Refuse an input that does not exist or is a folder.

    Args:
        path: a file, or "-" for stdin.

    Raises:
        InputError: nothing can be read there.
    """
    if str(path) == STDIN:
        return
    try:
        exists, is_folder = Path(path).exists(), Path(path).is_dir()
    except (OSError, ValueError) as error:
        raise InputError(f"{display(path)}: cannot be read ({escaped(str(error))})") from None
    if not exists:
        raise InputError(f"{display(path)}: no such file; check the path, or use - for stdin")
    if is_folder:
        raise InputError(f"{display(path)}: is a folder; name the files in it")


@contextmanager
def open_source(
    path: str | Path, *, progress: Callable[[int], None] | None = None
) -> Iterator[Source]:
    """Open an input for reading by lines; gzip is recognised by its first bytes.

    Args:
        path: a file, or "-" for stdin, which stays open afterwards.
        progress: called with the number of bytes taken so far, before decompression.

    Yields:
        The source.

    Raises:
        EmptyInputError: the input is empty.
        InputError: it does not exist, or is no text at all.
    """
    check_readable(path)
    with ExitStack() as stack:
        raw = _Counting(_open_bytes(path, stack), progress)
        first = _first_bytes(raw, path)
        stream: IO[bytes] = stack.enter_context(io.BufferedReader(raw, _BLOCK))
        if first.startswith(GZIP_MAGIC):
            unpacked = _Unpacked(stream, raw, display(path))
            stream = stack.enter_context(io.BufferedReader(unpacked, _BLOCK))
        yield Source(stream, display(path))


def _open_bytes(path: str | Path, stack: ExitStack) -> IO[bytes]:
    if str(path) == STDIN:
        if sys.stdin is None:
            raise InputError("<stdin>: is closed; name a file instead")
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(path).open("rb"))
    except OSError as error:
        reason = escaped(error.strerror or str(error))
        raise InputError(f"{display(path)}: cannot be opened ({reason})") from None


def _first_bytes(raw: _Counting, path: str | Path) -> bytes:
    try:
        first = raw.sniff(8)
    except OSError as error:
        raise InputError(f"{display(path)}: cannot be read ({escaped(str(error))})") from None
    if not first:
        raise EmptyInputError(f"{display(path)}: is empty; there is nothing to score")
    found = foreign(first)
    if found is not None:
        raise InputError(f"{display(path)}: is {found[0]}; {found[1]}")
    return first


def foreign(first: bytes) -> tuple[str, str] | None:
    """What an input is that is no UTF-8 text, by its first eight bytes, and what to do with it.

    >>> foreign("id,".encode("utf-16-le"))
    ('UTF-16 text', 'save it as UTF-8 (Excel calls it "CSV UTF-8")')
    """
    for magic, kind in _FOREIGN.items():
        if first.startswith(magic):
            return kind
    # Without a byte order mark, every other byte of Latin letters in UTF-16 is NUL.
    halves = first[:8:2], first[1:8:2]
    one_sided = any(halves[0]) != any(halves[1]) and (all(halves[0]) or all(halves[1]))
    return _UTF16 if len(first) >= _LEAST_UTF16 and one_sided else None
