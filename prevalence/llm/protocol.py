"""What judges ask of a language model, and what comes back: the seam between prompts and models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from prevalence.errors import ConfigurationError

__all__ = [
    "Backend",
    "Keep",
    "Message",
    "Request",
    "Response",
    "ResponseStore",
    "Role",
    "Sampling",
    "Subject",
    "request_key",
    "sample_seed",
]

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a dialogue."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How replies are drawn.

    Attributes:
        temperature: 0 is greedy decoding.
        top_p: nucleus, in (0, 1].
        top_k: most tokens to draw from; None for no limit.
        max_tokens: most tokens of a reply.
        seed: of the first sample; for the others see :func:`sample_seed`, where a backend can seed
            samples apart. None leaves it to the backend.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int | None = None
    max_tokens: int = 1024
    seed: int | None = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 2.0:
            raise ConfigurationError(f"temperature {self.temperature} is not in 0 to 2")
        if not 0.0 < self.top_p <= 1.0:
            raise ConfigurationError(f"top-p {self.top_p} is not in (0, 1]")
        if self.max_tokens < 1:
            raise ConfigurationError(
                f"a reply of at most {self.max_tokens} tokens is too short; ask for at least 1"
            )


class Subject(NamedTuple):
    """What a request is about; no part of what is asked, so that equal prompts share answers.

    Attributes:
        method: the judging method.
        dimension: the rated dimension; "" where one reply rates several.
        id: the product.
        system: whose summary is judged; the one shown first, where two are compared.
        other: the system shown second; "" outside comparisons.
    """

    method: str = ""
    dimension: str = ""
    id: str = ""
    system: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One prompt, and which of its replies are wanted.

    Attributes:
        messages: the dialogue; it ends with the user's turn.
        sampling: how replies are drawn.
        indices: numbers of the samples wanted, each a reply of its own; increasing.
        answers: texts whose log-probability as the *beginning of the reply* is wanted. Where it
            is not empty, one index is asked for and no text need be generated.
        subject: what it is about, for replays and messages.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    indices: tuple[int, ...] = (0,)
    answers: tuple[str, ...] = ()
    subject: Subject = field(default_factory=Subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One reply.

    Attributes:
        index: number of the sample.
        text: the reply without the prompt and without special tokens.
        prompt_tokens: tokens of the prompt; 0 where unknown.
        completion_tokens: tokens generated; 0 where unknown.
        logprobs: natural log-probability of each requested answer under temperature 1; an answer
            that the backend cannot see (below a server's top list) is left out; None where the
            backend has no log-probabilities at all.
        finish: ``stop``, or ``length`` for a reply that was cut at ``max_tokens``.
        error: why there is no reply, in one line; such a response is never stored.
    """

    index: int
    text: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    logprobs: Mapping[str, float] | None = None
    finish: Literal["stop", "length"] = "stop"
    error: str | None = None

    @property
    def cut(self) -> bool:
        """Whether the reply is there, and was cut at its longest."""
        return self.error is None and self.finish == "length"


Keep = Callable[[Request, Response], None]
"""Called with every response as soon as it is there, so that a kill loses none before it."""


class Backend(Protocol):
    """A language model, wherever it runs."""

    @property
    def signature(self) -> Mapping[str, str]:
        """What changes a reply: model name with revision or digest, dtype, chat template, ..."""
        ...

    @property
    def work_unit(self) -> int:
        """Number of responses that is worth one call."""
        ...

    def complete(
        self, requests: Sequence[Request], *, keep: Keep | None = None
    ) -> list[list[Response]]:
        """Answer requests.

        Args:
            requests: N of them; the replies of one do not depend on the others.
            keep: called with each response that is no error as soon as it is there, from the
                caller's thread or from one thread at a time.

        Returns:
            For each request, one response for each index, in that order. What fails for one
            reply is its ``error``; the others go on.

        Raises:
            BackendError: nothing can be answered any more (no model, no server, budget spent).
        """
        ...

    def describe(self) -> str:
        """What was asked so far, in one line; "" where there is nothing to say."""
        ...


class ResponseStore(Protocol):
    """Responses that were paid for once."""

    def get(self, key: str) -> Response | None:
        """The response under a key, or None."""
        ...

    def put(self, key: str, response: Response) -> None:
        """Keep a response for good before the call returns; equal keys keep the first."""
        ...


def sample_seed(seed: int, index: int) -> int:
    """The seed of a sample: the first has that of the run, a further one a digest of both.

    A sum would give runs of neighbouring seeds nearly all their samples in common.

    Args:
        seed: of the run.
        index: number of the sample.

    Returns:
        The seed itself, or 31 bits, which every server takes.

    >>> sample_seed(7, 0), sample_seed(7, 1) == sample_seed(8, 0)
    (7, False)
    """
    if index == 0:
        return seed
    digest = hashlib.blake2b(f"{seed} {index}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def request_key(backend: Mapping[str, str], request: Request, index: int) -> str:
    """Digest of everything that a reply depends on, 32 hex digits.

    Args:
        backend: the backend's signature.
        request: the request; its subject and its other indices do not count.
        index: number of the sample.
    """
    sampling = request.sampling
    whole = [
        sorted(backend.items()),
        [tuple(message) for message in request.messages],
        [sampling.temperature, sampling.top_p, sampling.top_k, sampling.max_tokens, sampling.seed],
        list(request.answers),
        index,
    ]
    if index and sampling.seed is not None:
        # Stored by an earlier version, whose seed was a sum, it would be another reply.
        whole.append(sample_seed(sampling.seed, index))
    data = json.dumps(whole, ensure_ascii=True).encode()
    return hashlib.blake2b(data, digest_size=16).hexdigest()
