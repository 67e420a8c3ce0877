"""Claims written by a language model: a summary → a dialogue → its single statements."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.baselines.judges.packs import PACKS
from prevalence.baselines.judges.parsers import spoken
from prevalence.baselines.judges.prompts import harmless
from prevalence.baselines.stopwords import is_content
from prevalence.errors import InputError
from prevalence.llm.protocol import Message, Request, Sampling, Subject
from prevalence.signature import build_signature
from prevalence.toml_files import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.llm.protocol import Backend, Response
    from prevalence.records import Product, Summary
    from prevalence.text.sentences import Splitter

__all__ = ["ClaimWriter", "WrittenClaims", "parse_claims"]

_NUMBERED = re.compile(
    r"(?:[-*+\u2022]\s+)?(?P<opened>\*\*|__)?(?P<number>\d{1,6})(?P<closed>\*\*|__)?\s*"
    r"(?::(?!\d)|[.)](?=[\s*_]))(?P<behind>\*\*|__)?\s*(?P<claim>\S.*)"
)
"""``1: It fits.``, also with a full stop or bracket, in a list, or with the number in bold."""
_BARE_NUMBER = re.compile(r"(?:[-*+\u2022]\s+)?[*_]{0,3}\d{1,6}[*_]{0,3}\s*[:.)]?[*_]{0,3}")
_ITEM = re.compile(r"[-*+\u2022]\s")
_FENCE = re.compile(r"(?:```|~~~)\w*")
_NOTHING = re.compile(
    r"[\W_]*(?:(?:none|nothing|n/?a"
    r"|(?:(?:this|the) sentence (?:makes|has|contains) )?no (?:claims?|statements?)"
    r"(?: (?:is|are|was|were))?(?: (?:made|found|given|here))?)[\W_]*)?",
    re.IGNORECASE,
)
"""What models write for a sentence that states nothing."""
_STOPS = frozenset(".!?\u2026")
_WORD = re.compile(r"[^\W_]+")
_STEM = 4
"""First letters by which forms of a word ("noise", "noisy") are taken for one."""
_SHOWN = 60


class WrittenClaims(NamedTuple):
    """The claims of a summary, or why there are none.

    Attributes:
        claims: the statements in order.
        unparsable: what is wrong with the reply, or None.
        error: why there is no reply, or None.
        strange: the claims that share no word with their sentence.
    """

    claims: tuple[str, ...] = ()
    unparsable: str | None = None
    error: str | None = None
    strange: tuple[str, ...] = ()


class _Claim(NamedTuple):
    number: int
    text: str


def parse_claims(reply: str, sentences: Sequence[str]) -> WrittenClaims:
    r"""Read a reply: lines ``NUMBER: statement``, the numbers not falling and none left out.

    The number may stand in a list, in bold, or before a full stop. Fences of code are passed over,
    and so is what stands before the first numbered line or after the last one. A sentence whose
    only line is "None" or the like has no claim.

    Args:
        reply: what the model said.
        sentences: what was shown, at least one.

    Returns:
        Claims, at least one, and which of them share no word with their sentence.

    Raises:
        InputError: the reply is anything else, ends within a statement, or has no statement at all.

    >>> parse_claims("1. It fits.\n1. It lasts.\n2. None", ["It fits and lasts.", "Wow!"]).claims
    ('It fits.', 'It lasts.')
    """
    found = _numbered(reply)
    last = 0
    for number, _ in found:
        if number not in (last, last + 1) or not 1 <= number <= len(sentences):
            raise InputError(f"sentence {number} follows sentence {last} of {len(sentences)}")
        last = number
    if last < len(sentences):
        raise InputError(f"the reply ends after sentence {last} of {len(sentences)}")
    _check_end(reply, found, sentences[-1])
    claims = [claim for claim in found if not _NOTHING.fullmatch(claim.text)]
    if not claims:
        raise InputError("the reply says that no sentence makes a statement")
    strange = [text for number, text in claims if _shares_no_word(text, sentences[number - 1])]
    return WrittenClaims(tuple(claim.text for claim in claims), strange=tuple(strange))


def _numbered(reply: str) -> list[_Claim]:
    """The numbered lines, which stand together."""
    lines = [line for line in _lines(reply) if line]
    matches = [_NUMBERED.fullmatch(line) for line in lines]
    places = [place for place, match in enumerate(matches) if match is not None]
    first, behind = (places[0], places[-1] + 1) if places else (0, len(lines))
    for place, line in enumerate(lines):
        within = first <= place < behind and matches[place] is None
        if within or (matches[place] is None and _is_statement(line, ended=place >= behind)):
            raise InputError(f"a line is not NUMBER: statement: {line[:_SHOWN]!r}")
    return [_claim(match) for match in matches if match is not None]


def _lines(reply: str) -> list[str]:
    """The lines without fences of code."""
    return [line for line in map(str.strip, reply.splitlines()) if not _FENCE.fullmatch(line)]


def _is_statement(line: str, *, ended: bool) -> bool:
    """Whether a line beside the numbered ones seems to belong to them."""
    bare = _BARE_NUMBER.fullmatch(line) or _ITEM.match(line)
    return bare is not None or (ended and line[0].islower())


def _claim(match: re.Match[str]) -> _Claim:
    text = match["claim"]
    if match["opened"] and not (match["closed"] or match["behind"]):
        text = text.removesuffix(match["opened"])
    return _Claim(int(match["number"]), text)


def _check_end(reply: str, found: Sequence[_Claim], sentence: str) -> None:
    """Refuse a last statement without an end, as replies have that were cut.

    A reply in which no statement has a full stop is one of a model that writes none.
    """
    *before, last = found
    whole = _ended(last.text) or _NOTHING.fullmatch(last.text)
    if whole or not _NUMBERED.fullmatch(reply.strip().splitlines()[-1].strip()):
        return
    if _ended(sentence) and any(_ended(claim.text) for claim in before):
        shown = last.text[-_SHOWN:]
        raise InputError(f"the reply seems to have been cut: its last statement ends in {shown!r}")


def _ended(text: str) -> bool:
    """Whether a stop stands behind the last letter or digit."""
    marks = takewhile(lambda character: not character.isalnum(), reversed(text))
    return not _STOPS.isdisjoint(marks)


def _shares_no_word(claim: str, sentence: str) -> bool:
    ours, theirs = (
        {word[:_STEM] for word in _WORD.findall(text.casefold()) if is_content(word)}
        for text in (claim, sentence)
    )
    alike = (a.startswith(b) or b.startswith(a) for a in ours for b in theirs)
    return bool(ours) and not any(alike)


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
            _written(next(replies)[0], sentences) if sentences else WrittenClaims()
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


def _written(response: Response, sentences: Sequence[str]) -> WrittenClaims:
    if response.error is not None:
        return WrittenClaims(error=response.error)
    if response.cut:
        return WrittenClaims(unparsable="the reply was cut at its longest; raise --max-tokens")
    try:
        return parse_claims(spoken(response.text), sentences)
    except InputError as error:
        return WrittenClaims(unparsable=str(error))
