"""What requests cost: an estimate beforehand, counts as they go, and a bound that holds."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from prevalence.errors import BackendError, ConfigurationError
from prevalence.llm.protocol import Response, request_key
from prevalence.llm.store import StoredBackend
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.llm.protocol import Backend, Keep, Request

__all__ = ["DryRun", "Ledger", "Prices", "Usage", "estimated_tokens", "most_tokens"]

_BYTES_A_TOKEN = 3.0
"""Low for English (about 4.5), so that an estimate errs upwards."""

_MESSAGE_TOKENS = 8
_TEMPLATE_TOKENS = 64
"""What a chat template may say on its own, beside the marks of a message."""


class Usage(NamedTuple):
    """Tokens and calls.

    Attributes:
        calls: requests sent, retries included.
        prompt_tokens: tokens read, as the server counted them.
        completion_tokens: tokens written, as the server counted them.
        unsure_tokens: most tokens of calls that failed on the way, which may have been charged.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unsure_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Money a million tokens, in any currency.

    Attributes:
        prompt: for tokens read.
        completion: for tokens written.

    Raises:
        ConfigurationError: a negative price.
    """

    prompt: float = 0.0
    completion: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.prompt < math.inf and 0 <= self.completion < math.inf):
            raise ConfigurationError(f"prices must not be negative: {self}")

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """The price of so many tokens."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6


def estimated_tokens(request: Request) -> int:
    """Tokens of a prompt, estimated upwards from its bytes, without a tokenizer."""
    size = sum(
        math.ceil(len(m.content.encode("utf-8", "replace")) / _BYTES_A_TOKEN)
        for m in request.messages
    )
    return size + _MESSAGE_TOKENS * len(request.messages)


def most_tokens(request: Request) -> int:
    """A bound of a prompt's tokens: no tokenizer makes more of a text than it has bytes."""
    size = sum(len(m.content.encode("utf-8", "replace")) for m in request.messages)
    return size + _MESSAGE_TOKENS * len(request.messages) + _TEMPLATE_TOKENS


class Ledger:
    """Counts what calls cost, and lets none begin that might pass the budget.

    A call reserves the bound of its prompt and its longest reply; what the server reports takes the
    place of the reservation. A call that fails on the way keeps it, because it may be charged. A
    call without room waits for the others, whose reservations mostly come back smaller.

    Args:
        prices: of the model.
        budget: most money to spend, or None.

    Attributes:
        usage: tokens and calls so far.
        spent: money so far, calls that may have been charged included.

    Raises:
        ConfigurationError: a budget without prices, or one that is not positive.
    """

    def __init__(self, prices: Prices | None = None, *, budget: float | None = None) -> None:
        if budget is not None:
            if prices is None or prices == Prices():
                raise ConfigurationError(
                    "--budget needs the prices of a million tokens: --price-in and --price-out"
                )
            if not 0 < budget < math.inf:
                raise ConfigurationError(f"--budget must be positive, not {budget}")
        self._prices = prices or Prices()
        self._budget = budget
        self._changed = threading.Condition()
        self._open = 0
        self._reserved = 0.0
        self.spent = 0.0
        self.usage = Usage()

    def describe(self) -> str:
        """Calls, tokens and money so far, in one line."""
        calls, read, written, unsure = self.usage
        line = f"{counted(calls, 'call')}, {read:,} tokens read and {written:,} written"
        if unsure:
            line += f"; failed calls may have been charged for {unsure:,} more"
        return line if self._prices == Prices() else f"{line}; {self.spent:.6g} spent at most"

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Begin a call, once the reservations of others leave room for it or none are left.

        Returns:
            What to hand to :meth:`settle`, :meth:`release` or :meth:`cancel`.

        Raises:
            BackendError: the call might pass the budget.
        """
        most = self._prices.cost(prompt_tokens, completion_tokens)
        with self._changed:
            while self._passes(self._reserved + most):
                # Replies under way are paid for: the run, which this error ends, waits for them.
                if not self._open:
                    raise BackendError(
                        f"the budget of {self._budget:g} is used up: {self.spent:.6g} is spent "
                        f"and the next reply may cost {most:.3g}; raise --budget and give the "
                        "same command again"
                    )
                self._changed.wait()
            self._open += 1
            self._reserved += most
        return most

    def _passes(self, more: float) -> bool:
        return self._budget is not None and self.spent + more > self._budget

    def settle(self, reserved: float, prompt_tokens: int, completion_tokens: int) -> None:
        """A call came back with these counts."""
        with self._changed:
            self._close(reserved)
            self.spent += self._prices.cost(prompt_tokens, completion_tokens)
            calls, read, written, unsure = self.usage
            self.usage = Usage(calls + 1, read + prompt_tokens, written + completion_tokens, unsure)

    def release(self, reserved: float, *, unsure_tokens: int = 0) -> None:
        """A call failed; with tokens, it may have been charged all the same."""
        with self._changed:
            self._close(reserved)
            self.spent += reserved if unsure_tokens else 0.0
            calls, read, written, unsure = self.usage
            self.usage = Usage(calls + 1, read, written, unsure + unsure_tokens)

    def cancel(self, reserved: float) -> None:
        """A call was never made."""
        with self._changed:
            self._close(reserved)

    def _close(self, reserved: float) -> None:
        self._open -= 1
        # Sums of rounded numbers do not come back to nought by themselves.
        self._reserved = self._reserved - reserved if self._open else 0.0
        self._changed.notify_all()


class DryRun:
    """A backend that asks nothing and counts what would be asked.

    Args:
        backend: what would be asked; only its signature, work unit and stored replies are read.

    Attributes:
        stored: replies that are there already.
        replies: replies that would be generated.
        prompt_tokens: estimated tokens of their prompts, one prompt a reply.
        completion_tokens: most tokens that they may have.
    """

    def __init__(self, backend: Backend) -> None:
        self.signature = backend.signature
        self.work_unit = backend.work_unit
        self._store = backend.store if isinstance(backend, StoredBackend) else None
        self._seen: set[str] = set()
        self.stored = self.replies = self.prompt_tokens = self.completion_tokens = 0

    def complete(
        self,
        requests: Sequence[Request],
        *,
        keep: Keep | None = None,  # noqa: ARG002 - nothing is kept
    ) -> list[list[Response]]:
        """Count requests; what is stored is answered, the rest is an error."""
        return [
            [self._counted(request, index) for index in request.indices] for request in requests
        ]

    def _counted(self, request: Request, index: int) -> Response:
        key = request_key(self.signature, request, index)
        found = None if self._store is None else self._store.get(key)
        new = key not in self._seen
        self._seen.add(key)
        if found is not None:
            self.stored += new
            return found
        if new:
            self.replies += 1
            self.prompt_tokens += estimated_tokens(request)
            self.completion_tokens += 1 if request.answers else request.sampling.max_tokens
        return Response(index=index, error="not asked: this is a dry run")

    def describe(self, prices: Prices | None = None) -> str:
        """What would be asked, in one line."""
        replies = counted(self.replies, "reply", "replies")
        line = (
            f"{replies} to generate, {self.stored:,} stored; about {self.prompt_tokens:,} "
            f"prompt tokens and at most {self.completion_tokens:,} to write"
        )
        if prices is None or prices == Prices():
            return line
        most = prices.cost(self.prompt_tokens, self.completion_tokens)
        amount = f"{most:,.2f}" if most >= 1 else f"{most:.3g}"
        return f"{line}; at most about {amount} at {prices.prompt:g} and {prices.completion:g}"
