"""Minimal pairs by rule: a sentence of a review, and the same sentence with one thing turned.

Beside them stand sentences reworded without a change of meaning. Where only exact copies are
entailed, a model learns to look for any difference at all.

A sentence is negated (or loses its negation), one of its words becomes an antonym, or one of its
numbers another. Only short sentences of one clause are touched, where turning the word turns the
sentence; all others give nothing. The rules are for training data, where it is better to
leave most sentences alone than to turn some of them wrongly; about one in ten still reads oddly.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from prevalence.training.opposites import ANTONYMS, PAST, PLAIN, THIRD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

__all__ = [
    "KINDS",
    "Turned",
    "other_number",
    "reworded",
    "turned",
    "with_antonym",
    "with_negation",
]

_LONGEST = 16
"""Words of the longest sentence that is turned."""
_MOST_COUNTED = 25
"""The same where a number is changed, which any clause can hold."""

_SCOPE = re.compile(
    r"\b(?:but|although|though|however|unless|except|without|because|since|while|whereas|if|"
    r"when|whenever|until|only|just|even|still|yet|already|anymore|either|neither|nor|any|anything|"
    r"anyone|some|something|barely|hardly|rarely|seldom|almost|nothing|nobody|nowhere|none|few|"
    r"little|too|enough|never|no|not|cannot|ever|who|which|whose|that|than|or|and)\b|n['’]t\b|"
    r"[;:()?\"“”…]|--|—",
    re.IGNORECASE,
)
"""What makes the scope of a negation uncertain."""

_NEGATED = re.compile(
    r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should|might|must)n['’]t\b"
    r"|\b(is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should)\s+not\b"
    r"|\b(can)(?:['’]t|not)\b|\b(w)on['’]t\b",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|am|can|could|will|would|should|has been|have been|had been|has|have|had)\b"
    r"|(?:(?<=\bit)|(?<=\bhe)|(?<=\bshe)|(?<=\bwe)|(?<=\bthey)|(?<=\byou)|(?<=\bi))['’](s|re|m|ll)\b",
    re.IGNORECASE,
)
_SHORT = {
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "can": "can't",
    "could": "couldn't", "will": "won't", "would": "wouldn't", "should": "shouldn't",
    "has": "hasn't", "have": "haven't", "had": "hadn't", "has been": "hasn't been",
    "have been": "haven't been", "had been": "hadn't been",
}  # fmt: skip
_LONG = {name: f"{name} not" for name in _SHORT if " " not in name} | {
    "am": "am not",
    "can": "cannot",
    "has been": "has not been",
    "have been": "have not been",
    "had been": "had not been",
}
_SUBJECT = re.compile(
    r"^(?:(?:overall|so far|honestly|personally|also),?\s+)?"
    r"(?:i|we|you|they|he|she|it|this|these|those|"
    r"(?:the|this|that|these|those|my|our|their|its|his|her|both|all)\s+(?:[\w'’-]+\s+){0,3}[\w'’-]+)"
    r"\s+(?:really\s+|truly\s+|definitely\s+|absolutely\s+|highly\s+|also\s+)?",
    re.IGNORECASE,
)
"""A subject from which a verb in the list of verbs follows at once."""
_EMPHASIS = re.compile(r"\b(?:really|truly|definitely|absolutely|highly)\s+", re.IGNORECASE)

_NOUN_NEXT = re.compile(
    r"\b(?:the|a|an|this|that|these|those|my|our|their|its|his|her|your|both|all|some|no)\s+$",
    re.IGNORECASE,
)
"""Words after which a noun follows, though it may look like a verb."""

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
_ROUND = ("fifteen", "twenty", "thirty", "forty", "fifty", "sixty", "ninety")
_NUMBER = re.compile(
    r"(?<![\w.,/-])\$?(\d{1,4})(?![\w,/-]|\.\d)"
    r"|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|"
    r"fifty|sixty|ninety|twice)\b",
    re.IGNORECASE,
)
_YEAR = range(1900, 2031)


class Turned(NamedTuple):
    """A sentence with one thing turned.

    Attributes:
        text: the new sentence.
        kind: one of :data:`KINDS`.
    """

    text: str
    kind: str


def with_negation(sentence: str, rng: np.random.Generator) -> str | None:
    """The sentence negated, or without its negation; None where no rule is safe.

    >>> import numpy as np
    >>> with_negation("The mic is great.", np.random.default_rng(0))
    'The mic is not great.'
    >>> with_negation("The mic isn't great.", np.random.default_rng(0))
    'The mic is great.'
    >>> with_negation("I love this mic.", np.random.default_rng(0))
    'I do not love this mic.'
    """
    negations = _NEGATED.findall(sentence)
    if len(negations) == 1:
        return _affirmed(sentence)
    if negations or not _plain(sentence):
        return None
    found = _AUXILIARY.search(sentence)
    if found is not None:
        return _negated_auxiliary(sentence, found, rng)
    return _negated_verb(sentence, rng)


def _plain(sentence: str) -> bool:
    """Whether the sentence is short and of one clause, so that a negation has one reading."""
    return len(sentence.split()) <= _LONGEST and not _SCOPE.search(sentence)


def _affirmed(sentence: str) -> str | None:
    """The sentence without its one negation."""
    found = _NEGATED.search(sentence)
    if found is None or len(sentence.split()) > _LONGEST:
        return None
    rest = sentence[: found.start()] + sentence[found.end() :]
    if _SCOPE.search(rest):
        return None
    word = next(part for part in found.groups() if part)
    plain = "will" if word.lower() == "w" else word
    if word == "W":
        plain = "Will"
    if plain.lower() in ("do", "does", "did"):
        return _without_support(sentence, found, plain.lower())
    return sentence[: found.start()] + plain + sentence[found.end() :]


def _without_support(sentence: str, found: re.Match[str], support: str) -> str | None:
    """The verb takes the form that its auxiliary had: "does not fit" becomes "fits"."""
    after = re.match(r"\s+(?:really\s+)?([a-z]+)\b", sentence[found.end() :])
    if after is None or after[1] not in THIRD:
        return None
    forms = {"do": PLAIN, "does": THIRD, "did": PAST}[support]
    rest = sentence[found.end() + after.end() :]
    return f"{sentence[: found.start()]}{forms[after[1]]}{rest}"


def _negated_auxiliary(sentence: str, found: re.Match[str], rng: np.random.Generator) -> str | None:
    before, after = sentence[: found.start()], sentence[found.end() :]
    if not before.strip() or "," in before or not after.strip(" .!"):
        return None
    if found[2]:
        long = {"s": "is", "re": "are", "m": "am", "ll": "will"}[found[2].lower()]
        if found[2].lower() == "s" and re.match(r"\s+(?:been|got|\w+ed)\b", after):
            return None
        return f"{before} {_LONG[long]}{_calmed(after)}"
    word = found[1].lower()
    if word in ("has", "have", "had") and not re.match(
        r"\s+(?:\w+ed|gone|made|held|kept)\b", after
    ):
        tense = re.match(r"\s+(?:had|to)\b", after) or re.search(r"(?:ve|has)\s+$", before)
        return None if tense else _negated_have(before, word, after)
    forms = _SHORT if word in _SHORT and rng.random() < 0.6 else _LONG
    return f"{before}{forms[word]}{_calmed(after)}"


def _negated_have(before: str, word: str, after: str) -> str:
    """Negate a possession: "has a strap" becomes "doesn't have a strap"."""
    support = {"has": "doesn't", "have": "don't", "had": "didn't"}[word]
    return f"{before}{support} have{after}"


def _negated_verb(sentence: str, rng: np.random.Generator) -> str | None:
    subject = _SUBJECT.match(sentence)
    if subject is None:
        return None
    # The subject's own words are taken greedily; the verb may be among the last of them.
    words = list(re.finditer(r"[a-z'’-]+", sentence, re.IGNORECASE))
    verbs = [word for word in words[1:6] if word[0] in _VERBS]
    # "The work boots fit", "My order arrived": one of several may be a noun.
    if len(verbs) != 1 or _NOUN_NEXT.search(sentence[: verbs[0].start()]):
        return None
    (word,) = verbs
    plain, support = _VERBS[word[0]]
    if support == "do" and re.match(r"(?:it|this|he|she)\b", sentence, re.IGNORECASE):
        return None
    short = {"do": "don't", "does": "doesn't", "did": "didn't"}[support]
    chosen = short if rng.random() < 0.6 else f"{support} not"
    before = _EMPHASIS.sub("", sentence[: word.start()])
    return f"{before}{chosen} {plain}{_calmed(sentence[word.end() :])}"


def _calmed(rest: str) -> str:
    """What follows a negation without words that only weaken it: "very", "so"."""
    return re.sub(r"^(\s+)(?:very|so|really|definitely|absolutely)\s+", r"\1", rest, count=1)


_VERBS: dict[str, tuple[str, str]] = {
    **{form: (plain, "do") for plain, form in PLAIN.items()},
    **{form: (plain, "does") for plain, form in THIRD.items()},
    **{form: (plain, "did") for plain, form in PAST.items() if form != plain},
}


def with_antonym(sentence: str, rng: np.random.Generator) -> str | None:
    """The sentence with one word exchanged for an opposite; None where none is safe.

    >>> import numpy as np
    >>> with_antonym("The room was clean.", np.random.default_rng(0))
    'The room was filthy.'
    """
    if len(sentence.split()) > _LONGEST or _NEGATED.search(sentence):
        return None
    found = [m for m in re.finditer(r"[A-Za-z-]+", sentence) if m[0].lower() in ANTONYMS]
    if len(found) != 1 or _SCOPE.search(sentence):
        return None
    (word,) = found
    choices = ANTONYMS[word[0].lower()]
    new = choices[int(rng.integers(len(choices)))]
    before = _with_article(sentence[: word.start()], new)
    new = new.capitalize() if word[0][0].isupper() and word.start() == 0 else new
    return before + new + sentence[word.end() :]


def _with_article(before: str, word: str) -> str:
    """The text before a word, with "a" or "an" as the word wants it."""
    wanted = "an" if word[0] in "aeiou" and not word.startswith("use") else "a"
    return re.sub(r"\b([Aa])n?(\s+(?:very\s+|really\s+)?)$",
                  lambda m: (m[1] + wanted[1:] if not m[2].strip() else m[0][:-len(m[2])]) + m[2],
                  before)  # fmt: skip


def other_number(sentence: str, rng: np.random.Generator) -> str | None:
    """The sentence with one number changed; None without a number that counts something.

    >>> import numpy as np
    >>> other_number("It lasted three months.", np.random.default_rng(1))
    'It lasted seven months.'
    """
    found = [m for m in _NUMBER.finditer(sentence) if not (m[1] and int(m[1]) in _YEAR)]
    if not found or len(sentence.split()) > _MOST_COUNTED:
        return None
    match = found[int(rng.integers(len(found)))]
    if match[1]:
        place, new = match.span(1), _other_digits(int(match[1]), rng)
    else:
        place, new = match.span(2), _other_word(match[2].lower(), rng)
    if sentence[match.start(2) : match.start(2) + 1].isupper():
        new = new.capitalize()
    return sentence[: place[0]] + new + sentence[place[1] :]


def _other_digits(value: int, rng: np.random.Generator) -> str:
    """Another number of the same kind: far enough to be false whatever was rounded."""
    if value <= 10:
        choices = [n for n in range(1, 13) if abs(n - value) >= max(1, value // 4)]
        return str(choices[int(rng.integers(len(choices)))])
    step = 5 if value % 5 == 0 else 1
    factor = float(rng.choice([0.4, 0.5, 0.6, 1.5, 1.8, 2.0, 3.0]))
    new = max(1, round(value * factor / step) * step)
    return str(new if new != value else value + 2 * step)


def _other_word(word: str, rng: np.random.Generator) -> str:
    if word == "twice":
        return str(rng.choice(["once", "three times", "four times"]))
    row = _ROUND if word in _ROUND else _UNITS[2:]
    choices = [other for other in row if other != word]
    return choices[int(rng.integers(len(choices)))]


KINDS: dict[str, Callable[[str, np.random.Generator], str | None]] = {
    "negation": with_negation,
    "antonym": with_antonym,
    "number": other_number,
}
"""What can be turned, by name."""


def turned(sentence: str, rng: np.random.Generator) -> Iterator[Turned]:
    """Every way to turn a sentence, at most one of a kind.

    Args:
        sentence: one sentence.
        rng: chooses among equal ways.
    """
    for kind, turn in KINDS.items():
        text = turn(sentence, rng)
        if text is not None and text != sentence:
            yield Turned(text, kind)


_LEADS = (
    "Overall, ", "Honestly, ", "I think ", "I found that ", "Personally, ", "In short, ",
    "Some say ", "Reviewers mention that ", "One customer said that ", "To be fair, ",
)  # fmt: skip
_SAME = {
    "good": ("nice", "fine", "decent"), "great": ("very good", "excellent", "fantastic"),
    "excellent": ("great", "superb"), "amazing": ("fantastic", "incredible"),
    "awesome": ("amazing", "great"), "nice": ("pleasant", "lovely"), "friendly": ("kind", "nice"),
    "delicious": ("tasty", "very tasty"), "tasty": ("delicious", "flavorful"),
    "terrible": ("awful", "horrible"), "awful": ("terrible",), "horrible": ("terrible", "awful"),
    "bad": ("poor", "not good"), "poor": ("bad",), "fast": ("quick",), "quick": ("fast",),
    "big": ("large",), "large": ("big",), "small": ("little",), "cheap": ("inexpensive",),
    "expensive": ("pricey", "costly"), "love": ("really like", "adore"), "loved": ("really liked",),
    "easy": ("simple",), "clean": ("spotless", "tidy"), "dirty": ("filthy",), "rude": ("impolite",),
    "slow": ("sluggish",), "happy": ("pleased", "glad"), "recommend": ("suggest",),
    "purchased": ("bought",), "bought": ("purchased",), "staff": ("employees",), "food": ("meals",),
    "broke": ("stopped working",), "comfortable": ("comfy",), "favorite": ("preferred",),
}  # fmt: skip
_LONG_FORMS = {
    r"\b(is|are|was|were|do|does|did|would|could|should|has|have|had)n['’]t\b": r"\1 not",
    r"\bcan['’]t\b": "cannot", r"\bwon['’]t\b": "will not",
    r"\b(it|he|she|that|there)['’]s\b(?! (?:been|got))": r"\1 is", r"\b(i)['’]m\b": r"\1 am",
    r"\b(they|we|you)['’]re\b": r"\1 are", r"\b(i|we|you|they)['’]ve\b": r"\1 have",
}  # fmt: skip
_SHORT_FORMS = {
    r"\b(is|are|was|were|do|does|did|would|could|should|has|have|had) not\b": r"\1n't",
    r"\b(?:cannot|can not)\b": "can't", r"\bwill not\b": "won't",
    r"\b(it|that|there) is\b": r"\1's", r"\b(i) am\b": r"\1'm",
    r"\b(they|we|you) are\b": r"\1're",
}  # fmt: skip
_AS_I = {
    r"\b[Ww]e aren['’]t\b": "I'm not", r"\b[Ww]e(?: are|['’]re)\b": "I am",
    r"\b[Ww]e were(n['’]t)?\b": r"I was\1", r"\b[Ww]e\b": "I",
}  # fmt: skip
"""What one person says for what several do, in this order."""


def reworded(sentence: str, rng: np.random.Generator) -> str:
    """The sentence in other words, or the same where no rule applies.

    >>> import numpy as np
    >>> reworded("The mic isn't great.", np.random.default_rng(1))
    'I think the mic is not great.'
    """
    rules = (_other_form, _synonym, _led, _lighter, _other_person, _other_end)
    text = sentence
    for place in rng.permutation(len(rules))[: int(rng.integers(1, 4))].tolist():
        text = rules[place](text, rng)
    return text


def _other_form(sentence: str, rng: np.random.Generator) -> str:
    """Contractions written out, or the reverse."""
    forms = _LONG_FORMS if rng.random() < 0.6 else _SHORT_FORMS
    for pattern, form in forms.items():
        sentence = re.sub(pattern, form, sentence, flags=re.IGNORECASE)
    return sentence


def _synonym(sentence: str, rng: np.random.Generator) -> str:
    found = [m for m in re.finditer(r"[A-Za-z]+", sentence) if m[0].lower() in _SAME]
    if not found:
        return sentence
    word = found[int(rng.integers(len(found)))]
    choices = _SAME[word[0].lower()]
    new = choices[int(rng.integers(len(choices)))]
    before = _with_article(sentence[: word.start()], new)
    return before + (new.capitalize() if word[0][0].isupper() else new) + sentence[word.end() :]


def _led(sentence: str, rng: np.random.Generator) -> str:
    lead = _LEADS[int(rng.integers(len(_LEADS)))]
    first, _, rest = sentence.partition(" ")
    keeps = first in ("I", "I'm", "I've", "I'd", "I'll") or first.isupper()
    return f"{lead}{first if keeps else first[:1].lower() + first[1:]} {rest}"


def _lighter(sentence: str, rng: np.random.Generator) -> str:
    """Without an article or a word that only adds weight."""
    words = r"very|really|so|just|also|quite|pretty|definitely|super|absolutely"
    pattern = rf"\b(?:{words})\s+" if rng.random() < 0.5 else r"(?<=\w\s)(?:the|a|an)\s+"
    return re.sub(pattern, "", sentence, count=1, flags=re.IGNORECASE)


def _other_person(sentence: str, rng: np.random.Generator) -> str:
    if re.search(r"\b[Ww]e\b", sentence):
        for pattern, form in _AS_I.items():
            sentence = re.sub(pattern, form, sentence)
        return sentence
    other = "We" if rng.random() < 0.5 else "The reviewer"
    past = r"I (?=[a-z]+ed\b|had\b|got\b|went\b|will\b|would\b|can\b)"
    return other + sentence[1:] if re.match(past, sentence) else sentence


def _other_end(sentence: str, rng: np.random.Generator) -> str:
    ends = (".", "!", "", "!!")
    return sentence.rstrip(".! ") + ends[int(rng.integers(len(ends)))]
