"""The body of a chat completion: replies, log-probabilities of answers, tokens, errors."""

from __future__ import annotations

import html
import json
import math
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.llm.parts import texts_in
from prevalence.llm.protocol import Response
from prevalence.llm.transport import MalformedError
from prevalence.records import well_formed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Completion", "answer_log_probabilities", "error_text", "read_completion"]

_MOST_TOKENS = 10**9
"""A count beyond it is none."""
_ERROR_KEYS = ("message", "detail", "error", "msg", "errors")
"""Where servers put the text of an error, each of them by itself or one in another."""
_DEEPEST = 8
_TITLE = re.compile(r"<title[^<>]*>([^<]*)<", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
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
        said = error_text(body)
        raise MalformedError("the server's reply has no choices" + (f": {said}" if said else ""))
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
    content, finish = _joined(choice["message"].get("content")), choice.get("finish_reason")
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


def _joined(content: object) -> object:
    """The texts in a list of parts, without thoughts and what else is none; or what there is."""
    if not isinstance(content, list):
        return content
    return "".join(texts_in(content))


def error_text(body: object, depth: int = _DEEPEST) -> str:
    """What the body of an error says, in any of the shapes that servers give it.

    Args:
        body: parsed JSON, or the text of a page.
        depth: how far to look into lists and objects.

    Returns:
        Its words; empty if it has none.

    >>> error_text({"detail": [{"loc": ["body", "top_k"], "msg": "not a number"}]})
    'body.top_k: not a number'
    >>> error_text("<html><head><title>502 Bad Gateway</title></head></html>")
    '502 Bad Gateway'
    """
    if isinstance(body, str):
        return _without_tags(body) if body.lstrip().startswith("<") else body.strip()
    if isinstance(body, list) and depth:
        return "; ".join(filter(None, (error_text(each, depth - 1) for each in body)))
    if not isinstance(body, dict) or not depth:
        return ""
    found = (error_text(body.get(key), depth - 1) for key in _ERROR_KEYS)
    text, place = next(filter(None, found), ""), body.get("loc")
    names = (
        [str(at) for at in place if isinstance(at, str | int)] if isinstance(place, list) else []
    )
    return f"{'.'.join(names)}: {text}" if text and names else text


def _without_tags(page: str) -> str:
    """The title of a page, or all its text."""
    title = _TITLE.search(page)
    text = title[1].strip() if title else ""
    return html.unescape(text or _TAG.sub(" ", page)).strip()


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
