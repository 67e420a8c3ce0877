"""HTTP to a server that is not trusted: one address, so many bytes, so many seconds, no more said.

The ``openai`` client by itself follows redirects with the whole prompt, reads a reply of any size,
unpacks what is compressed, waits as long as a byte drips now and then, and sends what it finds in
the environment.
"""

from __future__ import annotations

import time
import weakref
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from prevalence.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GRACE", "MOST_BYTES", "MalformedError", "chat_client", "is_bad_header", "within"]

MOST_BYTES = 8 << 20
"""Of a reply: two million tokens, which no chat completion has."""

GRACE = 5.0
"""Seconds that calls under way have left when a run is stopped; their replies are kept."""

_LOOK = 0.05
_LONGEST_SILENCE = 86400.0
_FRAMING = ("content-encoding", "content-length", "transfer-encoding")

Answer = TypeVar("Answer")


class MalformedError(ValueError):
    """A reply is not what the protocol says; asking again may help."""


def chat_client(url: str, *, key: str, own: bool, timeout: float) -> Any:
    """An ``openai`` client that asks once, and follows no redirect.

    Args:
        url: the server's address.
        key: goes there as bearer token; empty for none.
        own: whether the server is OpenAI's own, which is told of the organization and the project
            that the environment names.
        timeout: seconds of silence after which a call is given up; see :func:`within`.

    Raises:
        MissingDependencyError: the client is not installed.
    """
    try:
        import openai
    except ImportError as error:
        raise MissingDependencyError(
            "calling a server needs the openai client: pip install 'prevalence[judges]'"
        ) from error

    class Guarded(openai.DefaultHttpxClient):
        def send(self, request: Any, **options: Any) -> Any:
            sent = request if own else self._bare(request)
            response = super().send(sent, **{**options, "stream": True})
            try:
                data = _body(response)
            finally:
                response.close()
            headers = [each for each in response.headers.multi_items() if each[0] not in _FRAMING]
            return type(response)(
                response.status_code, headers=headers, content=data, request=request
            )

        def _bare(self, request: Any) -> Any:
            return self.build_request(
                request.method,
                request.url,
                headers=_headers(key, openai.__version__),
                content=request.read(),
                extensions=request.extensions,
            )

    # Plain http stays on this machine, where a proxy of the environment would read the prompts.
    http = Guarded(follow_redirects=False, trust_env=not url.startswith("http:"))
    client = openai.OpenAI(
        base_url=url,
        api_key=key or "none",
        timeout=min(timeout, _LONGEST_SILENCE),
        max_retries=0,
        default_headers={"Accept-Encoding": "identity"},
        http_client=http,
    )
    # Connections are kept open for the next call; nobody else closes them.
    weakref.finalize(client, http.close)
    return client


def _headers(key: str, version: str) -> dict[str, str]:
    """All that any server gets; what the environment sets tells of accounts or of this machine."""
    return {
        "accept": "application/json",
        "accept-encoding": "identity",
        "authorization": f"Bearer {key or 'none'}",
        "content-type": "application/json",
        "user-agent": f"OpenAI/Python {version}",
    }


def is_bad_header(error: BaseException) -> bool:
    """Whether a call was not sent because a header may not hold what it holds."""
    if isinstance(error, UnicodeEncodeError):
        return error.encoding == "ascii"
    # The class is that of the client's HTTP library, which versions of the client choose.
    return type(error.__cause__).__name__ == "LocalProtocolError"


def _body(response: Any) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise MalformedError("the server's reply is compressed, which was not asked for")
    data = bytearray()
    for part in response.iter_raw():
        data += part
        if len(data) > MOST_BYTES:
            raise MalformedError(f"the server's reply is longer than {MOST_BYTES >> 20} MiB")
    return bytes(data)


def within(seconds: float, work: Callable[[], Answer], *, stopped: Callable[[], bool]) -> Answer:
    """What a function gives, if it gives it in time.

    Otherwise it is left behind, in a thread that keeps no process alive: nothing else ends a call
    whose server sends a byte now and then.

    Args:
        seconds: for the whole of it.
        work: the function.
        stopped: whether nobody waits for the answer any more; then it has :data:`GRACE` seconds.

    Raises:
        TimeoutError: it took longer.
        BaseException: whatever it raised.
    """
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:
            answers.put((None, error))

    Thread(target=run, daemon=True, name="call").start()
    end, over = time.monotonic() + seconds, False
    while (left := end - time.monotonic()) > 0:
        try:
            answer, error = answers.get(timeout=min(left, _LOOK))
        except Empty:
            if stopped() and not over:
                end, over = min(end, time.monotonic() + GRACE), True
            continue
        if error is not None:
            raise error
        found: Answer = answer
        return found
    raise TimeoutError
