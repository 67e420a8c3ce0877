"""Claims written by a language model: a summary → a dialogue → its single statements."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.baselines.judges.packs import PACKS
from prevalence.baselines.judges.parsers import spoken
from prevalence.baselines.judges.prompts import harmless
from prevalence.errors import InputError
from prevalence.llm.protocol import Message, Request, Sampling, Subject
from prevalence.signature import build_signature
from prevalence.toml_files import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.llm.protocol import Backend, Response
    from prevalence.records import Product, Summary
    from prevalence.sentences import Splitter

__all__ = ["ClaimWriter", "WrittenClaims", "parse_claims"]

_LINE = re.compile(r"(?P<number>\d{1,6}): ?(?P<claim>\S.*)")
_SHOWN = 60


class WrittenClaims(NamedTuple):
    """The claims of a summary, or why there are none.

    Attributes:
        claims: the statements in order.
        unparsable: what is wrong with the reply, or None.
        error: why there is no reply, or None.
    """

    claims: tuple[str, ...] = ()
    unparsable: str | None = None
    error: str | None = None


def parse_claims(reply: str, n_sentences: int) -> tuple[str, ...]:
    r"""Read a reply: lines ``NUMBER: statement``, the numbers not falling and none left out.

    Args:
        reply: what the model said.
        n_sentences: sentences that were shown, at least 1.

    Raises:
        InputError: the reply is anything else.

    >>> parse_claims("1: It fits.\n1: It lasts.\n2: It leaks.", 2)
    ('It fits.', 'It lasts.', 'It leaks.')
    """
    claims = []
    last = 0
    for line in filter(None, map(str.strip, reply.splitlines())):
        match = _LINE.fullmatch(line)
        if match is None:
            raise InputError(f"a line is not NUMBER: statement: {line[:_SHOWN]!r}")
        number = int(match["number"])
        if number not in (last, last + 1) or not 1 <= number <= n_sentences:
            raise InputError(f"sentence {number} follows sentence {last} of {n_sentences}")
        claims.append(match["claim"])
        last = number
    if last < n_sentences:
        raise InputError(f"the reply ends after sentence {last} of {n_sentences}")
    return tuple(claims)


@cache
def _prompt() -> Mapping[str, Any]:
    return read_toml(PACKS / "claims.toml")


class ClaimWriter:
    """Has a language model cut summaries into claims.

    Args:
        backend: the model.
        splitter: cuts a summary into the sentences that are shown.
        split: the splitter's name, for the signature.
        max_tokens: most tokens of a reply; None takes the prompt's.

    Attributes:
        work_unit: summaries worth one call.
    """

    def __init__(
        self, backend: Backend, *, splitter: Splitter, split: str, max_tokens: int | None = None
    ) -> None:
        self._backend = backend
        self._splitter = splitter
        self._split = split
        self._sampling = Sampling(max_tokens=max_tokens or _prompt()["max_tokens"])
        self.work_unit = backend.work_unit

    @property
    def signature(self) -> str:
        """What produces the claims."""
        texts = [str(_prompt()[name]) for name in ("system", "task", "rules")]
        digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=4).hexdigest()
        parts = {
            "claims": f"model@{digest}",
            "split": self._split,
            "tokens": str(self._sampling.max_tokens),
        }
        return build_signature({**parts, **self._backend.signature})

    def write(self, pairs: Sequence[tuple[Product, Summary]]) -> list[WrittenClaims]:
        """Cut summaries, each with its product; one without a sentence has no claim.

        Raises:
            BackendError: nothing more can be written.
        """
        cut = [[s.text for s in self._splitter(summary.text)] for _, summary in pairs]
        requests = [
            self._request(product, summary, sentences)
            for (product, summary), sentences in zip(pairs, cut, strict=True)
            if sentences
        ]
        replies = iter(self._backend.complete(requests) if requests else [])
        return [
            _written(next(replies)[0], len(sentences)) if sentences else WrittenClaims()
            for sentences in cut
        ]

    def _request(self, product: Product, summary: Summary, sentences: list[str]) -> Request:
        # A sentence is shown on one line, so that it cannot pass for several.
        lines = [f"{n}: {harmless(' '.join(s.split()))}" for n, s in enumerate(sentences, start=1)]
        shown = "\n".join(["<sentences>", *lines, "</sentences>"])
        body = "\n\n".join([_prompt()["task"], shown, _prompt()["rules"]])
        return Request(
            messages=(Message("system", _prompt()["system"]), Message("user", body)),
            sampling=self._sampling,
            subject=Subject("claims", "", product.id, summary.system),
        )


def _written(response: Response, n_sentences: int) -> WrittenClaims:
    if response.error is not None:
        return WrittenClaims(error=response.error)
    if response.finish == "length":
        return WrittenClaims(unparsable="the reply was cut at its longest; raise --max-tokens")
    try:
        return WrittenClaims(parse_claims(spoken(response.text), n_sentences))
    except InputError as error:
        return WrittenClaims(unparsable=str(error))
