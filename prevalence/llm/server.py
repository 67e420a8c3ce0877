"""Any server that speaks the chat completions protocol, through the ``openai`` client.

Workers ask side by side. A refusal, a fault of the server, a time-out, a cut or malformed reply is
asked again after a jittered delay; each reply is handed on the moment it is there.
"""

from __future__ import annotations

import os
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from prevalence.errors import BackendError, ConfigurationError
from prevalence.llm.completions import error_text, read_completion
from prevalence.llm.pace import Pace, retry_after
from prevalence.llm.protocol import Response, sample_seed
from prevalence.llm.spending import Ledger, most_tokens
from prevalence.llm.transport import MalformedError, chat_client, is_bad_header, within
from prevalence.records import well_formed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prevalence.llm.backends import BackendOptions
    from prevalence.llm.protocol import Keep, Request

__all__ = ["Server", "is_openai", "open_backend"]

_DEFAULT_URL = "https://api.openai.com/v1"
_DEFAULT_KEY = "OPENAI_API_KEY"
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_TOP = 20
"""Most tokens of which the protocol tells the log-probability."""

_AGAIN = {408, 409, 425, 429}
_MOVED = range(300, 400)
_HOPELESS = {401, 402, 403, 404, 405}
_FIRST_DELAY = 0.5
_LONGEST_DELAY = 60.0
_LONGEST_MESSAGE = 200
_PART_OF_KEY = 4
"""Characters that a key, behind its prefix, and a word of a message may not share."""
_PREFIX = re.compile(r"(?:[a-z]{1,8}-){0,3}")
_HALF_HIDDEN = re.compile(r"[\w-](?:\*{2,}|\.{3})\w|\w\*{3,}")
_ERRNO = re.compile(r"\[Errno -?\d+\] ")
_OTHER_KEY = "; set the right key, or name another environment variable with --api-key-env"
_STOPPED = "the run was stopped"
_BAD_HEADER = (
    "no header may hold what OPENAI_ORG_ID, OPENAI_PROJECT_ID or OPENAI_CUSTOM_HEADERS holds; "
    "correct the environment variable"
)


class _Call(NamedTuple):
    """One HTTP request: a prompt and the samples that are wanted of it."""

    place: int
    request: Request
    indices: tuple[int, ...]


class Server:
    """A model behind an OpenAI-compatible endpoint.

    Args:
        model: its name there.
        options: address, time-outs, prices, ...; the key comes from the environment alone.
        pace: delays, in place of the usual ones.

    Raises:
        MissingDependencyError: the ``openai`` client is not installed.
        ConfigurationError: no key for a server that is not on this machine, or a bad address.
    """

    def __init__(self, model: str, options: BackendOptions, *, pace: Pace | None = None) -> None:
        self.model = model
        self._options = options
        self._url = _address(options.base_url)
        self._key = _key(options.api_key_env, self._url)
        own = is_openai(urlsplit(self._url).hostname or "")
        self._client = chat_client(self._url, key=self._key, own=own, timeout=options.timeout)
        self._pace = pace
        self._reached = False
        self.ledger = Ledger(options.prices, budget=options.budget)
        # What the server does with a model's name is its own affair.
        self.signature = {"backend": "openai", "model": model, "server": self._url}
        size = options.samples_per_call
        if size > 1:
            # The samples of a call share its seed, so another size gives other replies.
            self.signature["samples-per-call"] = str(size)
        # A few calls a worker, so that none waits at the end of a unit for long.
        self.work_unit = 8 * options.concurrency * size

    def complete(
        self, requests: Sequence[Request], *, keep: Keep | None = None
    ) -> list[list[Response]]:
        """Answer requests; see :meth:`Backend.complete`."""
        # One pace for all units of work, so that what a server asked to wait holds for the next.
        if self._pace is None or self._pace.stopped:
            jitter = random.Random()  # noqa: S311 - it is no secret
            self._pace = Pace(base=_FIRST_DELAY, longest=_LONGEST_DELAY, random=jitter)
        return _Batch(self, requests, keep, self._pace).run()

    def describe(self) -> str:
        """What the server was asked, in one line."""
        return self.ledger.describe()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def calls(self, requests: Sequence[Request]) -> Iterator[_Call]:
        """The HTTP requests that they take."""
        size = self._options.samples_per_call
        for place, request in enumerate(requests):
            for start in range(0, len(request.indices), size):
                yield _Call(place, request, request.indices[start : start + size])

    def ask(self, call: _Call, pace: Pace, take: Callable[[list[Response]], None]) -> None:
        """Answer one call, however often the server has to be asked.

        Args:
            call: what to ask.
            pace: when to ask.
            take: called with replies as soon as they are there, and with errors at the end.

        Raises:
            BackendError: no call can be answered any more.
        """
        left, error, attempt = call.indices, _STOPPED, 0
        while left and attempt <= self._options.retries and not pace.stopped:
            try:
                responses = self._send(call._replace(indices=left), pace)
            except _RefusedError as refusal:
                error = str(refusal)
                attempt += 1
                last = not refusal.again or attempt > self._options.retries
                if last and refusal.fatal:
                    raise BackendError(error) from refusal
                if last:
                    break
                pace.sleep(pace.delay(attempt - 1))
            else:
                take(responses)
                left = left[len(responses) :]
        take([Response(index=index, error=error) for index in left])

    def _send(self, call: _Call, pace: Pace) -> list[Response]:
        request = call.request
        prompt = most_tokens(request)
        longest = 1 if request.answers else request.sampling.max_tokens
        longest *= len(call.indices)
        reserved = self.ledger.reserve(prompt, longest)
        # Last, because room in the budget may be long in coming.
        pace.wait()
        if pace.stopped:
            self.ledger.cancel(reserved)
            raise _RefusedError(_STOPPED, again=False)
        ask = partial(self._client.chat.completions.with_raw_response.create, **self._body(call))
        try:
            raw = within(self._options.timeout, ask, stopped=lambda: pace.stopped)
            pace.heed(raw.headers)
            completion = read_completion(raw.http_response.text, call.indices, request.answers)
        except MalformedError as error:
            self._reached = True
            self.ledger.release(reserved, unsure_tokens=prompt + longest)
            raise _RefusedError(self._clean(str(error)), again=True) from error
        except BaseException as error:
            refusal = self._refusal(error, pace)
            unsure = 0 if refusal is not None and refusal.free else prompt + longest
            self.ledger.release(reserved, unsure_tokens=unsure)
            if refusal is None:
                raise
            # What a server said, whole, may hold the key, and a traceback would show it.
            raise refusal from None
        self._reached = True
        read = prompt if completion.prompt_tokens is None else completion.prompt_tokens
        wrote = longest if completion.completion_tokens is None else completion.completion_tokens
        self.ledger.settle(reserved, read, wrote)
        return [
            one if one.error is None else replace(one, error=self._clean(one.error))
            for one in completion.responses
        ]

    def _body(self, call: _Call) -> dict[str, Any]:
        sampling, answers = call.request.sampling, call.request.answers
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [message._asdict() for message in call.request.messages],
            # Log-probabilities are those of the model, not of a sharpened distribution.
            "temperature": 1.0 if answers else sampling.temperature,
            "top_p": 1.0 if answers else sampling.top_p,
            self._options.max_tokens_field: 1 if answers else sampling.max_tokens,
        }
        if len(call.indices) > 1:
            body["n"] = len(call.indices)
        if sampling.seed is not None:
            body["seed"] = sample_seed(sampling.seed, call.indices[0])
        if answers:
            body |= {"logprobs": True, "top_logprobs": _TOP}
        elif sampling.top_k is not None:
            body["extra_body"] = {"top_k": sampling.top_k}
        return body

    def _refusal(self, error: BaseException, pace: Pace) -> _RefusedError | None:
        """What a failed call means, or None for what is no affair of the server's."""
        import openai

        if isinstance(error.__cause__, MalformedError):
            return _RefusedError(str(error.__cause__), again=True)
        if isinstance(error, TimeoutError | openai.APITimeoutError):
            ended = isinstance(error, TimeoutError) and pace.stopped
            late = f"no reply within {self._options.timeout:g} s"
            return _RefusedError(_STOPPED if ended else late, again=not ended)
        if is_bad_header(error):
            # Its message would quote the header.
            return _RefusedError(_BAD_HEADER, again=False, fatal=True, free=True)
        if isinstance(error, openai.APIConnectionError):
            what = self._clean(_ERRNO.sub("", str(error.__cause__ or error)))
            line, lost = f"{self._url}: {what}", not self._reached
            begun = type(error.__cause__).__name__ == "RemoteProtocolError"  # It does run.
            advice = "; start the server, or give its address as --base-url"
            line += advice if lost and not begun else ""
            return _RefusedError(line, again=True, fatal=lost, free=lost)
        if isinstance(error, openai.APIStatusError):
            self._reached = True
            return self._status(error.status_code, error, pace)
        return None

    def _status(self, status: int, error: Any, pace: Pace) -> _RefusedError:
        if status in _MOVED:
            place = self._clean(error.response.headers.get("location", "nowhere"))
            return _RefusedError(
                f"{self._url}: redirects to {place}, and no prompt was sent there; if you trust "
                "that server, give its address as --base-url",
                again=False,
                fatal=True,
                free=True,
            )
        if status in _HOPELESS or error.code == "insufficient_quota":
            line = f"{self._url}: status {status} for model {self.model!r}: "
            line += self._clean(_message(error)) + (_OTHER_KEY if status == 401 else "")
            return _RefusedError(line, again=False, fatal=True, free=True)
        pace.heed(error.response.headers)
        again = status in _AGAIN or status >= 500
        asked = retry_after(error.response.headers) if again else 0.0
        if asked > self._options.longest_wait:
            return _RefusedError(
                f"{self._url}: asks to wait {asked:,.0f} s (status {status}); give the same "
                "command again after that",
                again=False,
                fatal=True,
                free=True,
            )
        if asked:
            pace.hold(asked)
        said = self._clean(_message(error))
        return _RefusedError(f"status {status}: {said}", again=again, free=status < 500)

    def _clean(self, text: str) -> str:
        """A server's message, on one line, short, and without the key."""
        line = well_formed(" ".join(text.split()))
        key = self._key
        # Longest first, because one form may hold another.
        forms = {key, repr(key)[1:-1], quote(key), quote(key, safe="")}
        for form in sorted(forms - {""}, key=len, reverse=True):
            line = line.replace(form, "***")
        return " ".join(map(self._without_key, line.split()))[:_LONGEST_MESSAGE]

    def _without_key(self, word: str) -> str:
        """A word of a message, or stars if it repeats a part of the key: "sk-proj-12***89"."""
        own = self._key[_PREFIX.match(self._key).end() :]  # type: ignore[union-attr]
        parts = (own[k : k + _PART_OF_KEY] for k in range(len(own) - _PART_OF_KEY + 1))
        return "***" if _HALF_HIDDEN.search(word) or any(part in word for part in parts) else word


def _message(error: Any) -> str:
    """What the server itself says, where it says anything."""
    return error_text(error.body) or error.response.text.strip() or str(error.message)


class _RefusedError(Exception):
    """A call was not answered.

    Attributes:
        again: asking again may help.
        fatal: if asking again does not help, no other call can be answered either.
        free: it was certainly not charged.
    """

    def __init__(
        self, message: str, *, again: bool, fatal: bool = False, free: bool = False
    ) -> None:
        super().__init__(message)
        self.again = again
        self.fatal = fatal
        self.free = free


class _Batch:
    """The calls of one :meth:`Server.complete`, among workers."""

    def __init__(
        self, server: Server, requests: Sequence[Request], keep: Keep | None, pace: Pace
    ) -> None:
        self._server = server
        self._requests = requests
        self._keep = keep
        self._pace = pace
        self._lock = threading.Lock()
        self._fatal: Exception | None = None
        self._found: list[dict[int, Response]] = [{} for _ in requests]

    def run(self) -> list[list[Response]]:
        """Answer them.

        Raises:
            BackendError: none can be answered any more.
            KeyboardInterrupt: replies that were under way have been kept.
        """
        workers = self._server._options.concurrency
        pool = ThreadPoolExecutor(workers, thread_name_prefix="judge")
        try:
            futures = [pool.submit(self._work, call) for call in self._server.calls(self._requests)]
            wait(futures)
        except BaseException:
            self._pace.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
        if self._fatal is not None:
            raise self._fatal
        return [
            [found[index] for index in request.indices]
            for request, found in zip(self._requests, self._found, strict=True)
        ]

    def _work(self, call: _Call) -> None:
        if self._pace.stopped:
            return
        try:
            self._server.ask(call, self._pace, partial(self._take, call))
        except Exception as error:
            with self._lock:
                self._fatal = self._fatal or error
            self._pace.stop()

    def _take(self, call: _Call, responses: list[Response]) -> None:
        with self._lock:
            for response in responses:
                self._found[call.place][response.index] = response
                if self._keep is not None and response.error is None:
                    self._keep(self._requests[call.place], response)


def open_backend(target: str, options: BackendOptions) -> Server:
    """Open a model of an OpenAI-compatible server by its name there."""
    return Server(target, options)


def _address(url: str | None) -> str:
    """The server's address without credentials, query and fragment."""
    usual = os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL
    try:
        parts = urlsplit(usual if url is None else url)
        port = parts.port
    except ValueError:
        # Its message may quote a password.
        port, parts = 0, urlsplit("")
    if port == 0 or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError(
            "--base-url must look like http://127.0.0.1:8000/v1 or https://host/v1"
        )
    if parts.username or parts.password or parts.query:
        raise ConfigurationError(
            "--base-url must hold no credentials and no query; the key comes from the environment"
        )
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def is_openai(host: str) -> bool:
    """Whether a host is OpenAI's own."""
    return f".{host}".endswith(".api.openai.com")


def _key(variable: str | None, url: str) -> str:
    """The key for a server: OpenAI's own goes to OpenAI, any other where it is named for."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = host in _LOOPBACK
    if parts.scheme == "http" and not local:
        raise ConfigurationError(
            f"{url} would send prompts and key unencrypted: give an https address, or forward a "
            "port of this machine to the server"
        )
    if variable is None and not is_openai(host):
        if local:
            return ""
        raise ConfigurationError(
            f"{url} is not OpenAI's server: name the environment variable that holds its key "
            "(--api-key-env NAME)"
        )
    name = variable or _DEFAULT_KEY
    # Files of keys end with a line break, which no header may hold.
    key = os.environ.get(name, "").strip()
    if not key and not local:
        raise ConfigurationError(f"{url} needs a key: set the environment variable {name}")
    if not all("!" <= character <= "~" for character in key):
        raise ConfigurationError(
            f"the environment variable {name} holds no key: a key is printable ASCII without spaces"
        )
    return key
