"""Words for the people who review, and for what only people do with a product."""

from __future__ import annotations

import re

__all__ = ["ADVERB", "OTHERS_DO", "PEOPLE", "REPORT", "THEY", "TROUBLE", "part_of"]

_OF_ALL = r"other|past|previous|verified|lone"
_OF_SOME = (
    r"recent|long-term|first-time|new|former|regular|frequent|solo|older|younger|elderly|"
    r"experienced|vegetarian|loyal|longtime"
)
_MOODS = r"satisfied|happy|unhappy|dissatisfied|disappointed|frustrated|skeptical|pleased|delighted"
_REVIEWER = (
    r"user|customer|reviewer|review|buyer|owner|person|guest|visitor|diner|patron|reader|player|"
    r"shopper|purchaser|consumer|client|respondent|wearer|listener|viewer|travell?er|individual|"
    r"patient|critic|subscriber"
)
"""Those who may stand for all reviewers of a thing."""
_KIND = (
    r"parent|student|driver|gamer|runner|fan|recipient|couple|learner|commuter|sleeper|hiker|"
    r"camper|cyclist|beginner|newcomer"
)
_PARTS = r"families|locals|regulars"
_PERSON = rf"(?:(?:{_OF_ALL}|{_OF_SOME}|{_MOODS}) )?(?:{_REVIEWER}|{_KIND})"
PEOPLE = rf"(?P<people>{_PERSON}s|people|others|folks|{_PARTS}|(?P<one>{_PERSON}))\b"

REPORT = (
    r"(?:say|said|says|note[sd]?|mention(?:s|ed)?|report(?:s|ed)?|state[sd]?|claim(?:s|ed)?|"
    r"comment(?:s|ed)?|remark(?:s|ed)?|add(?:s|ed)?|observe[sd]?|warn(?:s|ed)?|confirm(?:s|ed)?|"
    r"point(?:s|ed)? out|emphasi[sz]e[sd]?|stress(?:es|ed)?|complain(?:s|ed)?|suggest(?:s|ed)?|"
    r"indicate[sd]?|think|thinks|thought|feel|feels|felt|believe[sd]?|agree[sd]?|find|finds|found|"
    r"noticed?|discovered|highlight(?:s|ed)?|write|wrote|argued?|caution(?:s|ed)?|conclude[sd]?|"
    r"acknowledge[sd]?|admit(?:s|ted)?|insist(?:s|ed)?)"
)
OTHERS_DO = (
    r"(?:love[sd]?|like[sd]?|enjoy(?:s|ed)?|appreciate[sd]?|recommend(?:s|ed)?|prefer(?:s|red)?|"
    r"praise[sd]?|praising|dislike[sd]?|hate[sd]?|consider(?:s|ed)?|describe[sd]?|want(?:s|ed)?|"
    r"wish(?:es|ed)?|criticize[sd]?|criticise[sd]?|admire[sd]?|rave[sd]?|experience[sd]?|regret|"
    r"calls? (?:it|them|the|its|their)|called (?:it|them|the|its|their)|"
    r"return(?:s|ed)? (?:it|them|the)|bought|struggle[sd]?|express(?:es|ed)?|commend(?:s|ed)?|"
    r"(?:would|ha[sd]|have|are|were) (?:\w+ )?(?:recommend|complained|reported|praised|noted)|"
    r"(?:is|are|was|were) (?:\w+ )?(?:happy|unhappy|satisfied|disappointed|impressed|pleased|"
    r"delighted|surprised|frustrated|annoyed))"
)
TROUBLE = r"(?:problem|issue|complaint|trouble|difficult(?:y|ies)|regret)"
ADVERB = r"(?:(?:also|even|often|frequently|consistently|however|really|further|still|both) )?"

THEY = (
    rf"they(?= {ADVERB}(?:say|said|noted?|mention(?:ed)?|report(?:ed)?|stated?|comment(?:ed)?"
    r"|remark(?:ed)?|warn(?:ed)?|complain(?:ed)?|think|thought|believed?|find|found|praised?"
    r"|appreciated?|recommend(?:ed)?|described?|highlight(?:ed)?|criticized?|consider(?:ed)?"
    r"|disliked?|point(?:ed)? out|enjoy(?:ed)?|admired?|liked?)\b)"
)
"""Those who say something, known from what they do."""


_IS_PART = re.compile(rf"(?:{_OF_SOME}) .*|(?:.* )?(?:{_KIND})s?|{_PARTS}")
_IS_MOOD = re.compile(rf"(?:{_MOODS}) ")
_WHICH = re.compile(r" (?:who|whose|with|without)\b", re.IGNORECASE)


def part_of(people: str, behind: str = "", *, counted: bool) -> str | None:
    """The part of the reviewers that words stand for; None where they may stand for all.

    How many of a part say something is unknown where reviews do not say who wrote them.

    Args:
        people: the words, with or without an article.
        behind: what follows them.
        counted: whether a number of them is meant, not a share: "two unhappy guests" are two
            guests, but "most unhappy guests" are not most of the guests.

    >>> part_of("families", counted=False), part_of("a parent", counted=True)
    ('families', 'parents')
    >>> part_of("guests", counted=False), part_of("guests", " with children", counted=False)
    (None, 'guests with …')
    """
    named = re.sub(r"^an? ", "", people.lower())
    several = named if named.endswith(("s", "people")) else f"{named}s"
    if _IS_PART.fullmatch(named):
        return several
    which = None if counted else _WHICH.match(behind)
    if which is not None:
        return f"{several}{which[0].lower()} …"
    return several if _IS_MOOD.match(named) and not counted else None
