"""The body of a chat completion: replies, log-probabilities of answers, tokens."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.llm.protocol import Response
from prevalence.llm.transport import MalformedError
from prevalence.records import well_formed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Completion", "answer_log_probabilities", "read_completion"]

_MOST_TOKENS = 10**9
"""A count beyond it is none."""
_NO_LOGPROBS = "the server gives no log-probabilities; choose another form or another backend"


class Completion(NamedTuple):
    """What one call gave.

    Attributes:
        responses: for the first indices of the call, in order; a server may give fewer than asked.
        prompt_tokens: tokens read; None where the server does not count.
        completion_tokens: tokens written; None where the server does not count.
    """

    responses: list[Response]
    prompt_tokens: int | None
    completion_tokens: int | None


def read_completion(text: str, indices: Sequence[int], answers: Sequence[str]) -> Completion:
    """Read the body of a chat completion.

    Args:
        text: the body.
        indices: of the samples that were asked for.
        answers: texts whose log-probability is wanted.

    Raises:
        MalformedError: the body is not one.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"the server's reply is not JSON ({error})") from error
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices:
        raise MalformedError("the server's reply has no choices")
    usage = body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    read, written = (_count(counts, key) for key in ("prompt_tokens", "completion_tokens"))
    responses: list[Response] = []
    for index, choice in zip(indices, choices, strict=False):
        first = not responses
        responses.append(_response(choice, index, answers, counts=(read, written) if first else ()))
    return Completion(responses, read, written)


def _response(
    choice: object, index: int, answers: Sequence[str], *, counts: tuple[int | None, ...]
) -> Response:
    """One choice; the counts of a call of several go to the first, so that sums are true."""
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise MalformedError("a choice in the server's reply has no message")
    content, finish = choice["message"].get("content"), choice.get("finish_reason")
    if finish == "content_filter":
        return Response(index=index, error="the server withheld the reply (content_filter)")
    logprobs = _first_token(choice, answers) if answers else None
    if answers:
        content = ""
        if logprobs is None:
            return Response(index=index, error=_NO_LOGPROBS)
    elif not isinstance(content, str) or not content.strip():
        return Response(index=index, error=f"the reply has no text (finish_reason {finish!r})")
    read, written = (*counts, 0, 0)[:2]
    return Response(
        index=index,
        text=well_formed(content),
        prompt_tokens=read or 0,
        completion_tokens=written or 0,
        logprobs=logprobs,
        finish="length" if finish == "length" and not answers else "stop",
    )


def _first_token(choice: Mapping[str, Any], answers: Sequence[str]) -> dict[str, float] | None:
    """Log-probability of each answer as the first token; spaces around a token do not count."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content or not isinstance(content[0], dict):
        return None
    top = content[0].get("top_logprobs")
    if not isinstance(top, list) or not top:
        return None
    entries = [_entry(entry) for entry in top]
    return answer_log_probabilities(entries, answers)


def answer_log_probabilities(
    tokens: Iterable[tuple[str, float]], answers: Sequence[str]
) -> dict[str, float]:
    """What a list of most probable first tokens says about answers.

    Args:
        tokens: texts with their log-probabilities; spaces around a text do not count.
        answers: texts that are wanted.

    Returns:
        Natural log-probability of each answer that is in the list.
    """
    mass: dict[str, float] = {}
    for text, value in tokens:
        mass[text.strip()] = mass.get(text.strip(), 0.0) + math.exp(value)
    return {answer: math.log(mass[answer]) for answer in answers if mass.get(answer)}


def _entry(entry: object) -> tuple[str, float]:
    token = entry.get("token") if isinstance(entry, dict) else None
    value = entry.get("logprob") if isinstance(entry, dict) else None
    if not isinstance(token, str) or isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedError("a log-probability in the server's reply is missing")
    value = max(value, -sys.float_info.max)
    if not value <= 1e-3:
        raise MalformedError(f"a log-probability in the server's reply is {value}")
    return token, min(float(value), 0.0)


def _count(usage: Mapping[str, Any], key: str) -> int | None:
    value = usage.get(key)
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if known else None
