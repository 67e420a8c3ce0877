"""What a sentence says of reviews, and not of the thing: "complaints focus on slow service"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from prevalence.claims.drafts import Draft, plain_text, words_from
from prevalence.claims.words import word_set

if TYPE_CHECKING:
    from prevalence.claims.amounts import Quantity
    from prevalence.claims.speakers import People

__all__ = ["after_report", "listed_in_report", "recurring", "trouble", "verdict", "without_views"]

_HOW = (
    r"(?:(?:(?:most|more|less) )?(?:common|frequent|recurring|repeated|main|major|big|biggest|chief"
    r"|primary|key|top|minor|consistent|constant|notable|typical|usual|regular|occasional|positive"
    r"|negative|general|other|single|real|only|specific|serious|small|popular"
    r"|(?:commonly|frequently|often|consistently|repeatedly|widely)[ -](?:mentioned|cited|reported"
    r"|noted|praised|raised)|mentioned|cited|reported) ){0,3}"
)
_REPORT = (
    rf"(?:(?:the|a|an|another|one|some|their) )?{_HOW}(?:(?:user|customer|guest|reviewer)s? )?"
    r"(?:praises?|complaints?|criticisms?|critiques?|issues?|problems?|concerns?|drawbacks?"
    r"|downsides?|upsides?|weaknesse?s?|weak points?|strengths?|strong points?|highlights?"
    r"|lowlights?|gripes?|grievances?|quibbles?|caveats?|pluses|perks?|favou?rites?|standouts?"
    r"|positives?|negatives?|pros|cons|compliments?|frustrations?|annoyances?|disappointments?"
    r"|themes?|feedback|likes|dislikes|points?(?: of (?:praise|criticism|contention|frustration))?"
    r"|(?:bone|source)s? of (?:contention|frustration|annoyance|complaint))"
    r"(?: (?:commonly |frequently |often |also )?(?:mentioned|noted|cited|reported|raised|voiced))?"
    r"(?: (?:from|among|by|in|across) (?:the )?(?:\w+ )?(?:reviews|users|customers|guests|reviewers"
    r"|buyers|diners|owners|visitors))?"
)
"""What reviews have: "the most common complaint", "positive feedback"."""
_AIMS = (
    r"(?:(?:mostly|mainly|often|usually|largely|generally|primarily|typically|also) )?"
    r"(?:includes?|included|(?:is|are|was|were)(?: (?:about|over|with|for|around|related to))?"
    r"|(?:focus(?:es)?|focused|centers?|centres?|cent(?:er|re)ed)(?: (?:on|around|upon))"
    r"|revolves? around|concerns?|involves?|relates? to|goes to|go to|targets?"
    r"|(?:is|are|was|were) (?:directed|aimed|levell?ed) at|come from|comes from)"
)
_VOICED = (
    r"(?:praises?|complaints?|criticisms?|compliments?|concerns?|mentions?|remarks|appreciation"
    r"|gripes?|grumbles?)"
)
_LISTS = re.compile(
    rf"(?:{_REPORT} {_AIMS}|there (?:is|are|was|were) (?:also )?{_HOW}(?:(?:some|several|many|a few"
    rf"|plenty of|frequent|lots of|much) )?{_VOICED} (?:about|of|for|over|regarding))"
    r" (?!that\b|not\b|no\b|few\b|rare\b)",
    re.IGNORECASE,
)
_RECURS = re.compile(
    rf"(?:(?:frequent|consistent|high|much|some|common|repeated|special|particular|occasional) )?"
    rf"{_VOICED} (?:about|of|for|over|regarding) (?P<things>.+?),? (?:(?:comes?|came) up|recurs?"
    r"|appears?|abounds?|(?:is|are|was|were) (?:also )?(?:common|frequent|widespread|recurring"
    r"|consistent|mentioned|universal|high))(?: (?:too|also|often|repeatedly|frequently|as well"
    r"|throughout|several times|more than once))*[.!]?",
    re.IGNORECASE,
)
_THAT = re.compile(
    rf"(?:{_REPORT} (?:(?:mostly|mainly|often|usually|simply|just) )?(?:is|are|was|were) that"
    r"|(?:there (?:is|are|were) )?(?:(?:frequent|several|some|multiple|many|occasional|common"
    r"|widespread|repeated|numerous|scattered|a few) ){0,2}(?:complaints|reports|mentions|comments"
    r"|agreement|consensus) that|the (?:general )?consensus is(?: that)?"
    r"|(?:it is|it was) (?:often|frequently|repeatedly|widely|commonly) (?:said|mentioned|noted"
    r"|reported|agreed) that),? ",
    re.IGNORECASE,
)


def after_report(text: str) -> int | None:
    """Where the statement begins behind "a complaint is that"; None without such words.

    >>> after_report("A recurring complaint is that the lid leaks.")
    30
    >>> after_report("The lid is that of a jar.") is None
    True
    """
    match = _THAT.match(text)
    return None if match is None else match.end()


def listed_in_report(text: str) -> int | None:
    """Where the things begin that a text says are praised or criticized; None without any.

    >>> listed_in_report("Common complaints include slow service.")
    26
    >>> listed_in_report("The main problem is not the price.") is None
    True
    """
    match = _LISTS.match(text)
    return None if match is None else match.end()


def recurring(text: str) -> tuple[int, int] | None:
    """Where the things stand that a whole text says are often praised or criticized.

    >>> text = "Praise for kind staff and fair prices comes up too."
    >>> text[slice(*recurring(text))]
    'kind staff and fair prices'
    """
    match = _RECURS.fullmatch(text)
    return None if match is None else match.span("things")


_HAVE_TROUBLE = re.compile(
    r"(?:(?:also|often|frequently|occasionally|sometimes|repeatedly|still|both) )?"
    r"(?:report(?:s|ed)?|ha(?:ve|s|d)|experience[sd]?|encounter(?:s|ed)?|mention(?:s|ed)?|note[sd]?"
    r"|cite[sd]?|face[sd]?|raise[sd]?|describe[sd]?|r[au]ns? into|express(?:es|ed)?|voice[sd]?"
    r"|point(?:s|ed)? (?:to|out)|complain(?:s|ed)? (?:of|about)) "
    r"(?P<trouble>(?:(?:some|a few|several|minor|occasional|frequent|recurring|persistent|serious"
    r"|major|significant|various|many|repeated|small) ){0,2}(?P<noun>issues?|problems?|trouble"
    r"|difficulty|difficulties|concerns?|complaints?) (?:with|about|over|regarding) )",
    re.IGNORECASE,
)
_ONE = word_set("issue problem trouble difficulty concern complaint")


def trouble(draft: Draft, end: int, quantity: Quantity | None) -> Draft | None:
    """From "several users | report issues with the zip": there are issues with the zip.

    Args:
        draft: the claim.
        end: offset behind the people in its plain text.
        quantity: how many they are.
    """
    match = _HAVE_TROUBLE.match(plain_text(draft.words), end + 1)
    if match is None:
        return None
    rest = words_from(draft.words, match.start("trouble"))
    there = rest[0].reworded("There", "pron")
    be = rest[0].reworded("is" if match["noun"].lower() in _ONE else "are", "aux")
    first = rest[0].reworded(rest[0].low)
    return replace(
        draft,
        words=[there, be, first, *rest[1:]],
        changed=True,
        quantity=quantity or draft.quantity,
    )


_RECEIVED = re.compile(
    r"(?:(?:the|all|overall|general|customer|user|guest|public) ){0,3}(?:reviews?|feedback"
    r"|reception|opinions?|sentiment|verdict|consensus|ratings?|views)(?= )",
    re.IGNORECASE,
)
_GRADED = re.compile(
    r" (?:(?:is|are|was|were|seems?|sounds?|remains?) )(?:(?:overall|mostly|mainly|largely|very"
    r"|overwhelmingly|generally|strongly|quite|clearly|predominantly|broadly|highly|almost all"
    r"|almost entirely|nearly all|all) )*(?:(?P<good>positive|favou?rable|glowing|enthusiastic"
    r"|happy|satisfied)|negative|unfavou?rable|critical|scathing)"
    r"(?: (?:overall|on the whole|in general|so far))?",
    re.IGNORECASE,
)


def verdict(draft: Draft, people: People | None) -> Draft | None:
    """From "seven of eight reviews are favorable": it is good.

    That is what a single review can say.

    Args:
        draft: the claim.
        people: those at its beginning.
    """
    text = plain_text(draft.words)
    counted = people is not None and people.named.endswith(("review", "reviews"))
    match = None if counted else _RECEIVED.match(text)
    end = people.end if counted and people is not None else 0 if match is None else match.end()
    graded = _GRADED.fullmatch(text, end) if end else None
    if graded is None:
        return None
    first = draft.words[0]
    grade = first.reworded("good" if graded["good"] else "bad", "adj")
    words = [first.reworded("It", "pron"), first.reworded("is", "aux"), grade]
    counts = people.quantity if counted and people is not None else None
    return replace(draft, words=words, changed=True, quantity=counts or draft.quantity)


_VIEWS = re.compile(
    r"(?:(?:customers?|users?|guests?|reviewers?|people|buyers?|diners?|visitors?|owners?|they) "
    r"(?:have|hold|had|express) (?:mixed|different|differing|divided|varying|conflicting|split) "
    r"(?:\w+ )?(?:opinions|views|feelings|experiences|reactions|feedback|thoughts)"
    r"|(?:some |many |a few )?(?:customers?|users?|guests?|reviewers?|people|they)?\s?"
    r"(?:disagree|differ|are (?:divided|split|mixed)) (?:on|over|about|in|as to)"
    r"|(?:opinions?|views?|feedback|reviews|reactions?|experiences|verdicts?|feelings) "
    r"(?:(?:on|of|about|regarding|with|for|over) [^,;:]{1,60} )?"
    r"(?:(?:is|are|was|were|seems?|remains?) (?:more |somewhat |rather |quite |sharply |very "
    r"|a bit )?(?:mixed|divided|split|polari[sz]ed|varied)|differs?|diverges?|vary|varies)\b"
    r"|[^,;:]{1,60}(?: (?:gets?|receives?|draws?|has|have|earns?|elicits?) (?:more )?mixed )"
    r"(?:opinions|reviews|feedback|reactions|responses|marks|ratings|results|comments))",
    re.IGNORECASE,
)
"""What says only that people differ: "opinions on the fit are mixed", "X gets mixed reviews"."""


def without_views(drafts: list[Draft]) -> list[Draft]:
    """The claims of a sentence without one that only says that the others differ."""
    if not drafts:
        return drafts
    first, *sides = drafts
    told = [one for one in sides if one.framed or one.people or one.quantity is not None]
    differ = not first.lead and len(sides) > 1 and told
    return sides if differ and _VIEWS.match(plain_text(first.words)) else drafts
