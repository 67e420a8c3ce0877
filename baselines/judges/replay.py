"""Recorded replies in, responses out: no model, and no prompt that has to match.

A recording is a JSON Lines file, ``{"id", "system", "other", "method", "dimension", "replies"}`` a
line (``other`` only for comparisons, ``method`` only where a file holds several; a reply that
failed is null), or a folder as LLM_summeval released it
(``EVALUATOR/eval_SYSTEM_generations/DIM_METHOD.txt``).
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prevalence.errors import BackendError, InputError
from prevalence.llm.protocol import Request, Response, Subject
from prevalence.meta.layouts import find_generations, full_name, read_replies, unread_results
from prevalence.readers.fields import escaped
from prevalence.readers.jsonfiles import json_lines
from prevalence.writers import finished_rows, lock, named_output

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prevalence.llm.backends import BackendOptions
    from prevalence.llm.protocol import Keep
    from prevalence.meta.layouts import Generations

__all__ = ["Recorder", "Replay", "open_backend", "read_recording"]

_SUMMEVAL = ("coherence", "consistency", "fluency", "relevance")
_KEYS = ("method", "dimension", "id", "system", "other")


class _Subjects:
    """What was asked about each subject, by which alone a recording tells replies apart."""

    def __init__(self) -> None:
        self._prompts: dict[Subject, int] = {}

    def check(self, request: Request) -> None:
        """Refuse another prompt about a subject.

        Raises:
            InputError: there was one before.
        """
        prompt = hash(request.messages)
        if self._prompts.setdefault(request.subject, prompt) != prompt:
            raise InputError(
                f"two records are called {request.subject.id!r}, and a recording tells them apart "
                "by nothing else; give each an id of its own"
            )


class Replay:
    """A backend that answers with what was recorded.

    Args:
        recorded: replies by subject, None for one that failed; a subject without method stands for
            every method.
        name: what the signature calls it.
        empty: files of the recording that hold no replies.
        unread: what else of the recording is not read, in words.
    """

    work_unit = 1024

    def __init__(
        self,
        recorded: Mapping[Subject, Sequence[str | None]],
        *,
        name: str,
        empty: Sequence[Path] = (),
        unread: str = "",
    ) -> None:
        self._recorded = recorded
        self._empty = empty
        self._unread = unread
        self._subjects = _Subjects()
        self.signature: Mapping[str, str] = {"replay": name}

    def complete(
        self, requests: Sequence[Request], *, keep: Keep | None = None
    ) -> list[list[Response]]:
        """Answer requests from the recording; one that it lacks is an error of its own.

        Raises:
            InputError: two records that differ are called alike.
        """
        for request in requests:
            self._subjects.check(request)
        answered = [
            [self._response(request, index) for index in request.indices] for request in requests
        ]
        if keep is not None:
            for request, responses in zip(requests, answered, strict=True):
                for response in responses:
                    if response.error is None:
                        keep(request, response)
        return answered

    def describe(self) -> str:
        """Which files of the recording gave no replies; "" where all did."""
        if not self._empty:
            return self._unread
        named = ", ".join(f"{path.parent.name}/{path.name}" for path in self._empty)
        empty = f"files of the recording without a reply: {len(self._empty)} ({escaped(named)})"
        return "; ".join(filter(None, (empty, self._unread)))

    def _response(self, request: Request, index: int) -> Response:
        subject = request.subject
        replies = self._recorded.get(subject) or self._recorded.get(subject._replace(method=""), ())
        if request.answers:
            return Response(index=index, error="a recording holds no log-probabilities")
        text = replies[index] if index < len(replies) else None
        if text is not None:
            return Response(index=index, text=text)
        wanted = ", ".join(part for part in subject if part)
        if index < len(replies):
            return Response(
                index=index, error=f"reply {index + 1} for {wanted} failed when it was recorded"
            )
        return Response(
            index=index,
            error=f"the recording has {len(replies)} replies for {wanted}, not {index + 1}",
        )


class Recorder:
    """Writes replies as a recording that :class:`Replay` reads.

    Args:
        path: the file.
        append: go on after what an earlier run recorded; a last line that it did not end is cut.
            Otherwise the file is emptied before the first reply is written.

    Raises:
        InputError: another run writes to it, or it is to be continued and holds something else; it
            is left untouched.
    """

    def __init__(self, path: Path, *, append: bool = False) -> None:
        self._path = path
        self._file = path.open("a", encoding="utf-8", newline="")
        self._to_empty = path.is_file() and not append
        self._steps: list[str] = []
        self._subjects = _Subjects()
        if not path.is_file():
            return
        try:
            lock(self._file, path)
            if append:
                _continue(path)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._named():
            self._file.close()

    def write(self, request: Request, responses: Sequence[Response]) -> None:
        """Write the replies to one request, null for one that failed, unless all did.

        Replies about no summary, which are evaluation steps, are written with the next ones: a
        recording of nothing else would only keep the same command from going on.

        Raises:
            BackendError: the disk is full, or something like it.
            InputError: another record is called alike.
        """
        self._subjects.check(request)
        replies = [None if response.error is not None else response.text for response in responses]
        if not any(reply is not None for reply in replies):
            return
        subject = {key: value for key, value in request.subject._asdict().items() if value}
        line = json.dumps({**subject, "replies": replies}, ensure_ascii=False) + "\n"
        if not (request.subject.id or request.subject.system):
            self._steps.append(line)
            return
        with self._named():
            if self._to_empty:
                self._file.truncate(0)
                self._to_empty = False
            self._file.write("".join([*self._steps, line]))
            self._file.flush()
        self._steps.clear()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            with named_output(self._path, "the replies already written are kept"):
                yield
        except BackendError:
            # What is still buffered would fail once more at the end.
            with suppress(OSError):
                self._file.close()
            raise


def _continue(path: Path) -> None:
    """Make a recording end with a whole line, if it is one."""
    read = partial(_read_row, where="it")
    heads = (b'{"method": , "dimension": ', b'{"method": , "id": ')
    rows = finished_rows(path, read, kind="recorded reply", begins=heads, option="--record")
    deque(rows, maxlen=0)


def open_backend(target: str, options: BackendOptions) -> Replay:  # noqa: ARG001 - the seam's shape
    """Open a recording; see :func:`read_recording`."""
    path = Path(target)
    recorded = read_recording(path)
    files = find_generations(path) if path.is_dir() else []
    empty = [file.path for file in files if not read_replies(file.path)]
    data = json.dumps(sorted((tuple(key), list(value)) for key, value in recorded.items()))
    digest = hashlib.blake2b(data.encode(), digest_size=8).hexdigest()
    unread = unread_results(path) if path.is_dir() else ""
    return Replay(recorded, name=f"{path.name}@{digest}", empty=empty, unread=unread)


def read_recording(path: Path) -> dict[Subject, tuple[str | None, ...]]:
    """Read a recording: a JSON Lines file or a folder of generations; None for a failed reply.

    Raises:
        InputError: it cannot be read, or a line is no record of replies.
    """
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise InputError(f"{path}: no such recording; give a file or a folder of replies")
    return dict(_read_row(row, position.source) for position, row in json_lines(path))


def _read_folder(path: Path) -> dict[Subject, tuple[str | None, ...]]:
    files = find_generations(path)
    evaluators = sorted({file.evaluator for file in files})
    if len(evaluators) != 1:
        found = ", ".join(evaluators) or "no EVALUATOR/eval_SYSTEM_generations/DIM_METHOD.txt"
        raise InputError(f"{path}: holds {found}; give the folder of one evaluator")
    return dict(pair for file in files for pair in _subjects(file))


def _subjects(file: Generations) -> Iterator[tuple[Subject, tuple[str | None, ...]]]:
    for item, reply in read_replies(file.path).items():
        dimension = full_name(file.dimension, _SUMMEVAL)
        subject = Subject(file.method, dimension, item, file.system)
        yield subject, (reply,)


def _read_row(row: object, where: str) -> tuple[Subject, tuple[str | None, ...]]:
    fix = 'give {"id": "...", "system": "...", "dimension": "...", "replies": ["..."]} a line'
    replies = row.get("replies") if isinstance(row, dict) else None
    texts = isinstance(replies, list) and all(isinstance(one, str | None) for one in replies)
    if not isinstance(row, dict) or not isinstance(replies, list) or not texts:
        raise InputError(f"{where}: has no list of replies; {fix}")
    parts = {key: row.get(key, "") for key in _KEYS}
    if not all(isinstance(value, str) for value in parts.values()):
        raise InputError(f"{where}: {', '.join(_KEYS)} are strings; {fix}")
    return Subject(**parts), tuple(replies)
