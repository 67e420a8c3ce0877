"""Recorded replies in, responses out, and requests out that somebody else is to answer: no model.

A recording is a JSON Lines file, ``{"id", "system", "other", "method", "dimension", "prompt",
"replies", "finish"}`` a line, or a folder as LLM_summeval released it
(``EVALUATOR/eval_SYSTEM_generations/DIM_METHOD.txt``). ``other`` is there only for comparisons,
``method`` only where a file holds several. A reply that failed is null; ``finish`` says "length"
of one that was cut. ``prompt`` is the digest of what was asked; where it is there, the replies
answer that prompt only. Lines of one request add up, unless one has ``"instead": true``.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import BackendError, InputError
from prevalence.files import lock, named_output
from prevalence.llm.protocol import Request, Response, Subject
from prevalence.meta.layouts import find_generations, full_name, read_replies, unread_results
from prevalence.readers.fields import escaped
from prevalence.readers.jsonfiles import json_lines
from prevalence.runs.earlier import finished_rows
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prevalence.llm.backends import BackendOptions
    from prevalence.llm.protocol import Keep
    from prevalence.meta.layouts import Generations

__all__ = [
    "Exporter",
    "Recorded",
    "Recorder",
    "Replay",
    "open_backend",
    "prompt_digest",
    "read_recording",
]

_SUMMEVAL = ("coherence", "consistency", "fluency", "relevance")
_KEYS = ("method", "dimension", "id", "system", "other")
_FINISHES = ("stop", "length", None)


class Recorded(NamedTuple):
    """A reply as it was recorded.

    Attributes:
        text: the reply; None for one that failed.
        cut: whether it was cut at its longest.
        prompt: digest of what was asked; "" where that is not known.
    """

    text: str | None
    cut: bool = False
    prompt: str = ""


def prompt_digest(request: Request) -> str:
    """Digest of the dialogue that a request puts to a model, 16 hex digits."""
    data = json.dumps([tuple(message) for message in request.messages], ensure_ascii=True)
    return hashlib.blake2b(data.encode(), digest_size=8).hexdigest()


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
        recorded: replies by subject; a subject without method stands for every method.
        name: what the signature calls it.
        empty: files of the recording that hold no replies.
        unread: what else of the recording is not read, in words.

    Attributes:
        most: the most replies that are recorded for a request.
        unmatched: subjects of the recording that no request so far was about.
    """

    work_unit = 1024

    def __init__(
        self,
        recorded: Mapping[Subject, Sequence[Recorded]],
        *,
        name: str,
        empty: Sequence[Path] = (),
        unread: str = "",
    ) -> None:
        self._recorded = recorded
        self._empty = empty
        self._unread = unread
        self._subjects = _Subjects()
        self._spare: dict[Subject, tuple[int, int]] = {}
        self.most = max(map(len, recorded.values()), default=0)
        self.unmatched = dict.fromkeys(recorded)
        self.signature: Mapping[str, str] = {"replay": name}

    @property
    def spare(self) -> tuple[int, int]:
        """Replies that were there for requests and not asked for, and the most for a request."""
        every = self._spare.values()
        return sum(left for left, _ in every), max((most for _, most in every), default=0)

    def complete(
        self, requests: Sequence[Request], *, keep: Keep | None = None
    ) -> list[list[Response]]:
        """Answer requests from the recording; one that it lacks is an error of its own.

        Raises:
            InputError: two records that differ are called alike.
        """
        for request in requests:
            self._subjects.check(request)
        answered = [self._responses(request) for request in requests]
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

    def _responses(self, request: Request) -> list[Response]:
        subject = request.subject
        general = subject._replace(method="")
        self.unmatched.pop(subject, None)
        replies = self._recorded.get(subject, ())
        if not replies:
            self.unmatched.pop(general, None)
            replies = self._recorded.get(general, ())
        if request.answers:
            error = "a recording holds no log-probabilities"
            return [Response(index=index, error=error) for index in request.indices]
        digest = prompt_digest(request)
        fitting = [reply for reply in replies if reply.prompt in ("", digest)]
        left = sum(reply.text is not None for reply in fitting[max(request.indices) + 1 :])
        self._spare[subject] = (left, len(fitting))
        others = len(replies) - len(fitting)
        return [_response(subject, index, fitting, others) for index in request.indices]


def _response(subject: Subject, index: int, replies: Sequence[Recorded], others: int) -> Response:
    """A reply of those recorded for a prompt; others are for another prompt."""
    wanted = ", ".join(part for part in subject if part)
    if index < len(replies):
        text, cut, _ = replies[index]
        if text is not None:
            return Response(index=index, text=text, finish="length" if cut else "stop")
        return Response(
            index=index, error=f"reply {index + 1} for {wanted} failed when it was recorded"
        )
    error = f"the recording has {len(replies)} replies for {wanted}, not {index + 1}"
    if others:
        error += (
            f"; {counted(others, 'reply answers', 'replies answer')} another prompt: the texts, "
            "the wording of the method or the steps are not those of the recording"
        )
    return Response(index=index, error=error)


class Recorder:
    """Writes replies as a recording that :class:`Replay` reads.

    Of a request that was recorded before, because a run was killed before its row was written, the
    new replies take the place of those.

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
        self._written: set[Subject] = set()
        if not path.is_file():
            return
        try:
            lock(self._file, path)
            if append:
                self._written.update(_continue(path))
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
        row = {**_head(request), "replies": replies}
        if any(response.cut for response in responses):
            row["finish"] = [
                None if response.error is not None else response.finish for response in responses
            ]
        if request.subject in self._written:
            row["instead"] = True
        self._written.add(request.subject)
        line = json.dumps(row, ensure_ascii=False) + "\n"
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


class Exporter:
    """A backend that asks nobody and writes each request, once, as a line of a recording.

    Args:
        file: what is written to.
        answered: replies that are there already, such as evaluation steps; None for none.

    Attributes:
        requests: how many were written that have no reply yet.
    """

    work_unit = Replay.work_unit

    def __init__(self, file: IO[str], answered: Replay | None = None) -> None:
        self._file = file
        self._answered = answered
        self._subjects = _Subjects()
        self._written: set[Subject] = set()
        self.requests = 0
        self.signature: Mapping[str, str] = {}

    def complete(
        self,
        requests: Sequence[Request],
        *,
        keep: Keep | None = None,  # noqa: ARG002 - nothing is kept
    ) -> list[list[Response]]:
        """Write requests; what has no reply yet is an error.

        Raises:
            InputError: two records that differ are called alike.
        """
        return [self._exported(request) for request in requests]

    def describe(self) -> str:
        """Nothing: the command says what was written."""
        return ""

    def _exported(self, request: Request) -> list[Response]:
        self._subjects.check(request)
        error = "not asked: the requests are exported"
        responses = [Response(index=index, error=error) for index in request.indices]
        if self._answered is not None and not request.subject.system:
            [responses] = self._answered.complete([request])
        if request.subject not in self._written:
            self._written.add(request.subject)
            replies = [response.text for response in responses if response.error is None]
            self.requests += not replies
            self._file.write(_exported_line(request, replies))
        return responses


def _exported_line(request: Request, replies: Sequence[str]) -> str:
    drawn = request.sampling
    row = {
        **_head(request),
        "samples": len(request.indices),
        "temperature": drawn.temperature,
        "max_tokens": drawn.max_tokens,
        "messages": [message._asdict() for message in request.messages],
        "replies": list(replies),
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


def _head(request: Request) -> dict[str, Any]:
    """What a line says of its request."""
    subject = {key: value for key, value in request.subject._asdict().items() if value}
    return {**subject, "prompt": prompt_digest(request)}


def _continue(path: Path) -> set[Subject]:
    """Make a recording end with a whole line, if it is one; what it has replies for."""
    read = partial(_read_row, where="it")
    heads = (b'{"method": , "dimension": ', b'{"method": , "id": ')
    rows = finished_rows(path, read, kind="recorded reply", begins=heads, option="--record")
    return {line.subject for line in rows}


def open_backend(target: str, options: BackendOptions) -> Replay:  # noqa: ARG001 - the seam's shape
    """Open a recording; see :func:`read_recording`."""
    path = Path(target)
    recorded = read_recording(path)
    files = find_generations(path) if path.is_dir() else []
    empty = [file.path for file in files if not read_replies(file.path)]
    shown = {key: [_shown(reply) for reply in replies] for key, replies in recorded.items()}
    data = json.dumps(sorted((tuple(key), value) for key, value in shown.items()))
    digest = hashlib.blake2b(data.encode(), digest_size=8).hexdigest()
    unread = unread_results(path) if path.is_dir() else ""
    replay = Replay(recorded, name=f"{path.name}@{digest}", empty=empty, unread=unread)
    if path.is_dir():
        # A folder holds whole runs of several methods, and nobody writes its names by hand.
        replay.unmatched.clear()
    return replay


def _shown(reply: Recorded) -> object:
    """A reply as the signature of its recording takes it."""
    return list(reply) if reply.cut or reply.prompt else reply.text


def read_recording(path: Path) -> dict[Subject, tuple[Recorded, ...]]:
    """Read a recording: a JSON Lines file or a folder of generations.

    Replies of several lines about a subject add up. Those of a later line take the places of
    replies that failed first; of a line with ``"instead": true``, the places of all before.

    Raises:
        InputError: it cannot be read, or a line is no record of replies.
    """
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise InputError(f"{path}: no such recording; give a file or a folder of replies")
    found: dict[Subject, list[Recorded]] = {}
    for position, row in json_lines(path):
        line = _read_row(row, position.source)
        before = found.setdefault(line.subject, [])
        failed = [place for place, reply in enumerate(before) if reply.text is None]
        if line.instead:
            before.clear()
            failed.clear()
        for reply in line.replies:
            if failed:
                before[failed.pop(0)] = reply
            else:
                before.append(reply)
    return {subject: tuple(replies) for subject, replies in found.items()}


def _read_folder(path: Path) -> dict[Subject, tuple[Recorded, ...]]:
    files = find_generations(path)
    evaluators = sorted({file.evaluator for file in files})
    if len(evaluators) != 1:
        found = ", ".join(evaluators) or "no EVALUATOR/eval_SYSTEM_generations/DIM_METHOD.txt"
        raise InputError(f"{path}: holds {found}; give the folder of one evaluator")
    return dict(pair for file in files for pair in _of_file(file))


def _of_file(file: Generations) -> Iterator[tuple[Subject, tuple[Recorded, ...]]]:
    for item, reply in read_replies(file.path).items():
        dimension = full_name(file.dimension, _SUMMEVAL)
        subject = Subject(file.method, dimension, item, file.system)
        yield subject, (Recorded(reply),)


class _Line(NamedTuple):
    subject: Subject
    replies: Sequence[Recorded]
    instead: bool


def _read_row(row: object, where: str) -> _Line:
    fix = 'give {"id": "...", "system": "...", "dimension": "...", "replies": ["..."]} a line'
    replies = row.get("replies") if isinstance(row, dict) else None
    texts = isinstance(replies, list) and all(isinstance(one, str | None) for one in replies)
    if not isinstance(row, dict) or not isinstance(replies, list) or not texts:
        raise InputError(f"{where}: has no list of replies; {fix}")
    parts = {key: row.get(key, "") for key in (*_KEYS, "prompt")}
    if not all(isinstance(value, str) for value in parts.values()):
        raise InputError(f"{where}: {', '.join(parts)} are strings; {fix}")
    finish = row.get("finish", [None] * len(replies))
    if not isinstance(finish, list) or not all(one in _FINISHES for one in finish):
        raise InputError(f'{where}: finish is a list of "stop" and "length", one for each reply')
    if len(finish) != len(replies):
        raise InputError(f"{where}: finish has {len(finish)} entries for {len(replies)} replies")
    prompt = parts.pop("prompt")
    read = [
        Recorded(text, one == "length", prompt) for text, one in zip(replies, finish, strict=True)
    ]
    return _Line(Subject(**parts), read, row.get("instead") is True)
