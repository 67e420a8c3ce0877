"""Word classes of English, by word lists and endings: enough to find clauses in review English.

A tag is a guess from the word and its neighbours, made for cutting sentences of summaries: what is
in no list is a noun.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from prevalence.claims.words import ADJECTIVES, COPULAS, IS, forms, is_plural, participles, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "HAVE",
    "MODALS",
    "Token",
    "has_negation",
    "lowered",
    "retagged",
    "tagged",
    "verb_of_contraction",
]

_WORD = re.compile(
    r"(?:[A-Za-z]\.){2,}|(?i:dr|mr|mrs|ms|prof|st|vs)\.(?= \S)|[Nn]o\.(?= ?\d)"
    r"|(?i:etc|approx|hrs?|lbs?|mins?|oz)\.(?=, | [a-z\d])"
    r"|\d+(?:[.,:]\d+)*%?(?:–\d+(?:[.,:]\d+)*%?|\+(?= ))?"
    r"|\w+ ?['’] ?(?:t|s|m|d|re|ve|ll)\b|\w+(?:['’\-]\w+)*['’]?|\.{2,}|\S"
)


class Token(NamedTuple):
    """A word or a mark.

    Attributes:
        text: as it is written.
        low: in lower case, with a straight apostrophe and no space beside it.
        start: offset of its first character.
        end: offset after its last character.
        tag: ``det``, ``poss`` (my), ``pron`` (subjects), ``obj`` (them), ``aux`` (is, can, don't),
            ``verb`` (finite), ``base`` (a verb in its plain form), ``ing``, ``adj``, ``adv``,
            ``neg`` (not, never), ``prep``, ``to``, ``sub`` (because), ``rel`` (which), ``conj``,
            ``num``, ``mark`` or ``noun``.
    """

    text: str
    low: str
    start: int
    end: int
    tag: str

    def reworded(self, text: str, tag: str | None = None) -> Token:
        """Another word in the same place."""
        return self._replace(text=text, low=lowered(text), tag=tag or self.tag)


def lowered(text: str) -> str:
    """A word in lower case, with a straight apostrophe and no space beside it."""
    return text.lower().replace("’", "'").replace(" ", "")


HAVE = word_set("has have had hasn't haven't hadn't")
_DO = word_set("does do did doesn't don't didn't")
MODALS = word_set(
    "can could will would should may might must cannot can't couldn't won't wouldn't shouldn't "
    "mustn't shall needn't"
)
_PRONOUNS = word_set(
    "i you he she it we they this that these those there everyone everybody someone somebody "
    "nobody anyone anybody everything something nothing anything none it's i'm i've i'll i'd he's "
    "she's that's there's they're they've they'll they'd we're we've we'll we'd you're you've "
    "you'll you'd it'll here's"
)
_OBJECTS = word_set("me him them us itself themselves myself yourself himself herself ourselves")
_DETERMINERS = word_set("the a an every each any no another both all either such what")
_QUANTIFIERS = word_set(
    "some many most several few plenty lots handful half much more less enough others other least"
)
_POSSESSIVES = word_set("my your his her its our their")
_PREPOSITIONS = word_set(
    "of in on at by for with without from into onto over under about against between through "
    "during within across after before behind below above beside beyond despite except inside "
    "outside near off per than toward towards upon via like among around along as until till "
    "besides throughout"
)
_SUBORDINATORS = word_set(
    "because if unless when whenever once since until till after before where wherever whether "
    "lest how why whatever"
)
_RELATIVES = word_set("which who whom whose")
_CONJUNCTIONS = word_set("and or but nor yet so while whereas although though however plus")
_ADVERBS = word_set(
    "very really quite rather too so also always often sometimes usually still just only even "
    "again ever already almost nearly pretty super extra well soon now then here there away back "
    "together apart once twice enough more most less least much far "
    "straight instead perhaps maybe indeed otherwise therefore thus hence else somewhat "
    "kinda indoors outdoors everywhere anywhere upstairs downstairs overall especially mostly "
    "earlier later sooner generally up down out off on over in thankfully"
)
_NEGATIONS = word_set("not never neither hardly barely rarely seldom")
_RARELY = _NEGATIONS - {"not", "neither"}
_NUMBERS = word_set("one two three four five six seven eight nine ten eleven twelve dozen hundred")

_NOT_ADJECTIVES = word_set(
    "arrival meal material deal metal animal hospital festival rental total signal terminal trial "
    "manual music fabric topic traffic plastic table vegetable cable motive detective olive drive "
    "alternative bus focus bonus staff rubbish finish dish fish english trash polish british "
    "alcohol removal approval appeal proposal journal original professional clinic logic picnic "
    "perspective handful five live give locals individual potential goal medal coal renewal "
    "principal critic skeptic need dial seed feed speed bed weed shed breed thread bread reed red "
    "kid hundred"
)
_ENDINGS = re.compile(r"(?:ful|less|ous|able|ible|ive|ish|ic|ical|ial|al|proof|-free|-friendly)$")
_NOUNS_IN_LY = word_set("family supply assembly reply jelly belly bully fly july anomaly italy")
_NUMERAL = re.compile(r"[\d½¼¾⅐-⅞]")


def tagged(text: str) -> list[Token]:
    """Words and marks of a text with their tags, in time linear in its length.

    >>> [(t.text, t.tag) for t in tagged("The cover washes well.")]
    [('The', 'det'), ('cover', 'noun'), ('washes', 'verb'), ('well', 'adv'), ('.', 'mark')]
    """
    found = _WORD.finditer(text)
    return retagged(
        [Token(one.group(), lowered(one.group()), *one.span(), "noun") for one in found]
    )


def has_negation(words: Iterable[Token]) -> bool:
    """Whether one of the words denies something: "not", "never", "hardly", "can't".

    >>> has_negation(tagged("It isn't soft")), has_negation(tagged("It is soft"))
    (True, False)
    """
    return any(
        word.tag == "neg" or word.low.endswith("n't") or word.low == "cannot" for word in words
    )


def verb_of_contraction(pointer: Token) -> Token:
    """The verb in "it's" or "they'll"."""
    rest = pointer.low.split("'")[1]
    full = {"s": "is", "re": "are", "ll": "will", "ve": "have", "d": "would"}.get(rest, rest)
    return pointer.reworded(full, "aux")


def retagged(words: list[Token]) -> list[Token]:
    """The words with the tags that they have as they now stand together."""
    lows = [word.low for word in words]
    tags: list[str] = []
    before = ""
    for low, after in zip(lows, [*lows, ""][1:], strict=True):
        tags.append(_tag(low, before, tags, after))
        before = before if tags[-1] == "adv" else low
    for place in range(1, len(tags) - 1):
        # "a bit pricey", "a little loud": as much an adverb as "very".
        slightly = lows[place - 1] == "a" and lows[place] in {"bit", "little"}
        if slightly and tags[place + 1] in {"adj", "adv"}:
            tags[place - 1] = tags[place] = "adv"
    for place in range(1, len(words)):
        if words[place].text == "May" and tags[place - 1] in {"prep", "conj", "noun", "mark"}:
            behind = tags[place + 1 : place + 2]
            dated = tags[place - 1] == "prep" or behind in ([], ["num"], ["mark"])
            tags[place] = "noun" if dated else tags[place]
    for place in _names_in(words, tags):
        tags[place] = "noun"
    for place in range(len(lows) - 1):
        _retag_pair(lows, tags, place)
    return [word._replace(tag=tag) for word, tag in zip(words, tags, strict=True)]


def _retag_pair(lows: list[str], tags: list[str], place: int) -> None:
    """Tag a word and the next one by each other and by what stands around them."""
    low, after = lows[place : place + 2]
    if low == "pretty" and tags[place + 1] == "adj":
        tags[place] = "adv"  # "pretty good", but "a pretty, warm room"
    elif (low, after) == ("value", "for") and tags[place] == "verb" and place:
        tags[place] = "noun"  # "noise and value for money"
    elif low in _VIEWS and after in _INCLUDE:
        tags[place : place + 2] = ["noun", "verb"]
    elif low in _CLEANED and after in {"cleaner", "cleaners"}:
        tags[place + 1] = "noun"
    elif low in _KINDS and after in {"safe", "friendly", "washable"}:
        tags[place] = "adv"  # "dishwasher safe"
    elif after in _PLURALS and tags[place - 2 : place + 2] == ["conj", "adj", "noun", "verb"]:
        tags[place + 1] = "noun"  # "quick repairs and good phone updates"
    elif low in _JOINTS and tags[place + 1] == "verb":
        _settle(lows, tags, place + 1)
    elif after == "filling" and tags[place] == "adj" and tags[place + 2 : place + 3] != ["noun"]:
        tags[place + 1] = "noun"  # "the soft filling, washable cover", but "a soft, filling meal"
    elif tags[place - 1 : place + 2] == ["conj", "noun", "verb"] and place:
        _settle_last(lows, tags, place + 1)


def _names_in(words: list[Token], tags: list[str]) -> list[int]:
    """Places of what looks like a verb and ends a name: "Google | Drive", not in a heading."""
    written = [word.text for word in words if word.tag != "mark" and word.text[0].isalpha()]
    if sum(text[0].isupper() for text in written) * 2 > len(written):
        return []
    return [
        at
        for at in range(2, len(words))
        if tags[at] in {"verb", "base"}
        and words[at].text.istitle()
        and words[at - 1].text.istitle()
    ]


def _settle(lows: list[str], tags: list[str], place: int) -> None:
    """Tag a word after "and" as a noun or an adjective where it lacks what its verb needs.

    "Like the look and | feel of it", "value the price and | included case", "squeaks, and | screws
    fall out".
    """
    low, after, later = [*lows[place : place + 3], "", ""][:3]
    form = forms().get(low)
    named = [tag for tag in tags[max(place - 3, 0) : place - 1] if tag != "mark"][-1:] == ["noun"]
    if form == "base" and after == "of" and named:
        own = low in _OF or (low in _OF_WHAT and later not in _DETERMINERS | _POSSESSIVES)
        tags[place] = tags[place] if own else "noun"
    elif form == "third" and forms().get(after) == "base" and later in _APART:
        tags[place : place + 2] = ["noun", "verb"]
    elif size := _begins_subject(
        lows[place : place + 5], form, apart=lows[place - 1] in _CONTRASTS
    ):
        tags[place : place + size] = ["noun"] * size
        end = place + size + (lows[place + size] in _OFTEN)
        tags[end] = "aux" if lows[end] in MODALS else "verb"
    elif any(lows[at] in _LIKE and tags[at] == "verb" for at in range(place)):
        if form == "base" and lows[place - 1] == "," and after in {",", "and", "or"}:
            tags[place] = "noun"  # "like its ease of use, | taste, and design"
        elif low in _ENCLOSED and tags[place + 1 : place + 2] == ["noun"]:
            tags[place] = "adj"


def _settle_last(lows: list[str], tags: list[str], place: int) -> None:
    """Tag the last word of a list of what is liked as a noun: "like the look and bank | sync"."""
    one = forms().get(lows[place]) == "base" and not is_plural(lows[place - 1])
    ends = "".join(lows[place + 1 : place + 2]) in {"", ".", "!", ",", ";"}
    liked = max((at for at in range(place - 2) if lows[at] in _LIKE and tags[at] == "verb"),
                default=place)  # fmt: skip
    between = {*tags[liked + 1 : place - 2]}
    if one and ends and between and between <= _LISTED:
        tags[place] = "noun"


def _begins_subject(lows: list[str], form: str | None, *, apart: bool) -> int:
    """How many words that look like a verb and its object are the subject of a later verb.

    "And | downloads often fail", "but | repairs took longer", "; | wait times can exceed".

    Args:
        lows: the words from there on.
        form: of the first as a verb.
        apart: whether a contrast stands before.
    """
    if len(lows) < _WITH_VERB or form not in {"third", "base"} or lows[0] in COPULAS:
        return 0
    size = 1 if form == "third" else 2
    if form == "base" and (lows[1] in _TAG_OF or not is_plural(lows[1])):
        return 0
    often = lows[size] in _OFTEN
    verb = forms().get(lows[size + often])
    past = apart and verb == "past" and lows[size + often] not in ADJECTIVES and lows[size] != "put"
    acts = past or (often and verb == "base") or (size > 1 and lows[size] in MODALS)
    return size if acts else 0


_WITH_VERB = 4
_OFTEN = word_set("often sometimes frequently always usually never rarely occasionally still")
_CONTRASTS = word_set("but though although while whereas yet ; ,")
_JOINTS = _CONTRASTS | {"and", "or"}
_OF = word_set("complain think hear know speak approve consist dispose tire warn boast")
"""Verbs that "of" follows."""
_OF_WHAT = word_set("smell taste")
"""Verbs that "of" may follow: "smell of smoke", but "the smell of the tea"."""
_APART = word_set("out off apart away loose")
_ENCLOSED = word_set("included added improved")
_LISTED = frozenset({"det", "poss", "adj", "noun", "prep", "mark"})
"""What stands in a list of things."""
_LIKE = word_set("like love praise appreciate enjoy value admire")
_SIGHTS = word_set("views experiences")
_VIEWS, _INCLUDE = word_set("likes dislikes"), word_set("include included")
"""Nouns far more often than verbs."""
_PLURALS = word_set("""
sets updates costs views rides drinks results displays controls features designs patterns sounds
covers prints shots locks seals clips snaps cuts stops reviews returns repairs delays deals
""")
"""Plurals that are more often nouns behind another noun."""
_KINDS = word_set("dishwasher microwave oven freezer machine kid family pet dog child budget user")
_CLEANED = word_set("vacuum carpet window floor steam oven")
_CLOSED: tuple[tuple[frozenset[str], str], ...] = (
    (IS | HAVE | _DO | MODALS, "aux"),
    (_NEGATIONS, "neg"),
    (_RELATIVES, "rel"),
    (_CONJUNCTIONS, "conj"),
    (frozenset({"to"}), "to"),
    (_POSSESSIVES, "poss"),
    (_OBJECTS, "obj"),
    (_DETERMINERS | _QUANTIFIERS, "det"),
    (_PRONOUNS, "pron"),
    (_NUMBERS, "num"),
)
_TAG_OF = {word: tag for words, tag in reversed(_CLOSED) for word in words}


def _tag(low: str, before: str, tags: list[str], after: str) -> str:
    if not (low[0].isalnum() or low[0] == "_"):
        return "mark"
    if _NUMERAL.match(low):
        return "num"
    last = _last(tags)
    if low in _TAG_OF:
        return _closed(low, last, after)
    if low in _SUBORDINATORS:
        return _subordinator(low, after)
    form = _form(low, last, after)
    if form is not None and _can_be_verb(low, form, before, tags, after):
        return "base" if form == "base" and _governed(tags) else "verb"
    said = before == "that" and tags[-2:-1] == ["verb"]  # "note that mechanics help"
    return _open(low, form, _Around(last, "" if said else before, after))


def _form(low: str, last: str, after: str) -> str | None:
    """The form of a verb that a word may be here: no sights are seen, "single" goes with "out"."""
    if (low, after) == ("single", "out"):
        return "base"
    if (low, after) == ("build", "quality") and last != "pron":
        return None
    if low == "rate" and last == "noun" and after not in _RATED:
        return None  # "heart rate"
    if (low == "speed" and after != "up") or (low == "deals" and after != "with"):
        return None
    form = forms().get(low)
    # "Mention that downloads eat storage": a noun before its verb.
    begins = last == "rel" and form == "third" and forms().get(after) in {"base", "past"}
    return None if begins or (low in _SIGHTS and last != "pron") else form


_FITTED = word_set("well perfectly great me him her fine true as like poorly snugly nicely right")
_RATED = word_set("it them this the their its as")


def _governed(tags: list[str]) -> bool:
    """Whether "to" or an auxiliary stands before, adverbs and negations left aside."""
    place = len(tags) - 1
    while place > len(tags) - 5 and place >= 0 and tags[place] in {"adv", "neg"}:
        place -= 1
    return place >= 0 and tags[place] in {"to", "aux"}


def _last(tags: list[str]) -> str:
    """The tag before, adverbs left aside."""
    for place in range(len(tags) - 1, max(len(tags) - 4, -1), -1):
        if tags[place] != "adv":
            return tags[place]
    return "mark"


def _closed(low: str, last: str, after: str) -> str:
    tag = _TAG_OF[low]
    if low in {"this", "that", "these", "those"}:
        return _pointer(low, last, after)
    if low == "what" and after not in {"a", "an"}:
        return "rel"
    if low == "her" and after in {"", ".", ",", "and"}:
        return "obj"
    if low == "enough" and last == "adj":
        return "adv"  # "bright enough for a room"
    late = low == "yet" and last in {"aux", "neg"} and forms().get(after) != "third"
    if late or (low == "so" and last in {"aux", "verb"}):
        return "adv"  # "has not yet failed", "is so soft"
    return tag


def _pointer(low: str, last: str, after: str) -> str:
    """``that`` before a noun, in place of one, or before a clause."""
    clause = _TAG_OF.get(after) in {"det", "poss", "pron"}
    if low == "that" and (clause or last in {"noun", "verb", "adj", "obj"}):
        return "rel"
    form = forms().get(after)
    follows = _TAG_OF.get(after) in {"aux", "neg"} or form in {"third", "past"}
    return "pron" if follows or not after[:1].isalpha() else "det"


def _subordinator(low: str, after: str) -> str:
    if low in {"after", "before", "until", "till", "since"}:
        subject = _TAG_OF.get(after) == "pron"
        return "sub" if subject or low in {"since"} else "prep"
    return "sub"


_NOMINAL = {"det", "poss", "num"}
_WHO = word_set(
    "users customers reviewers buyers owners people guests visitors kids children parents readers "
    "reviews couples families players diners patients students travelers travellers"
)
_OBJECT = frozenset({"det", "poss", "obj", "pron"})
_SIDES = word_set("top bottom front back inside outside")
_NO_NOUNS = word_set("differ diverge vary disagree")
_STANDING = word_set("some many most several few others all both another handful")
"""Words that may stand for people or things by themselves."""


_PLAYED = word_set("music band bands entertainment jazz piano performances shows")


def _can_be_verb(low: str, form: str, before: str, tags: list[str], after: str) -> bool:
    """Whether a form of a verb is one here, by what stands around it."""
    last = _last(tags)
    begins = tags[-3:-2] if tags[-2:-1] == ["noun"] else tags[-2:-1]
    if before.endswith("ing") and before != "soothing" and _NOMINAL.intersection(begins):
        last = "noun"  # "the filling shifts", "the nonstick coating wears off"
    alike = _described(tags) and after.isalpha() and after not in _TAG_OF
    described = low in ADJECTIVES and (form == "base" or low in participles() or alike)
    if described or (low == "live" and after in _PLAYED):
        object_next = _TAG_OF.get(after) in {"det", "poss", "obj"}
        acts = last == "to" or before in MODALS | _DO or (object_next and last != "noun")
        return acts and before != "how"  # "how close the hotel sits"
    lists = last == "verb" and low in {"include", "includes"}  # "complaints raised include noise"
    if (
        lists
        or last in {"to", "aux", "neg", "obj", "rel"}
        or (last == "det" and before in _STANDING)
    ):
        return (
            lists
            or form != "third"
            or last == "rel"
            or before.endswith("self")
            or before in _RARELY
        )
    if last == "prep":
        return form == "past" and not low.endswith("ed")
    acts = _acts(form, last, before, after)
    named = _TAG_OF.get(after) == "aux" and after not in {"be", "been", "being"}
    named = form != "past" and (last == "adj" or named)
    if acts or named or last in _NOMINAL:
        return acts
    joined = form == "base" and (tags[-2:-1] == ["conj"] or _is_of_two(tags))
    agrees = form == "past" or joined or is_plural(before) == (form == "base") or low in _NO_NOUNS
    agrees = (agrees and (low != "like" or before in _WHO)) or (low == "fit" and after in _FITTED)
    if last == "conj":
        return form != "base" or forms().get(after) not in {"past", "third"}
    return last in {"mark", "pron", "sub"} or (last == "noun" and agrees)


def _is_of_two(tags: list[str]) -> bool:
    """Whether two nouns and nothing else stand before: "the bread and the soup | come up"."""
    begin = max((at for at, tag in enumerate(tags) if tag == "mark"), default=-1) + 1
    if begin and (tags[0] != "conj" or tags.count("mark") > 1 or tags[begin:][:1] != ["det"]):
        return False  # only after "while it is good, the bread and the soup"
    named = {"det", "poss", "adj", "noun", "conj"}
    return tags[-1:] == ["noun"] and "conj" in tags[begin:] and named.issuperset(tags[begin:])


def _described(tags: list[str]) -> bool:
    """Whether a noun with its adjective and "and" stand before: "poor service and | delayed"."""
    place = len(tags) - 1
    if tags[-2:] == ["mark", "conj"]:
        place -= 1
    if place < 1 or tags[place] not in {"conj", "mark"} or tags[place - 1] != "noun":
        return False
    while place and tags[place - 1] == "noun":
        place -= 1
    return place > 0 and tags[place - 1] in {"adj", "ing", "prep"}


_NOUNS_IN_ING = (
    "morning", "evening", "ceiling", "-spring", "string", "wing", "thing", "frosting", "seating",
    "lighting", "seasoning", "pricing", "stitching",
)  # fmt: skip


def _acts(form: str, last: str, before: str, after: str) -> bool:
    """Whether a form is a verb behind a number or "top", which nouns follow more often.

    "The top looks beautiful", "one noted that it leaks", "two single out the soup".
    """
    if last == "adj":
        return before in _SIDES and form == "third" and after in ADJECTIVES
    if last != "num":
        return False
    one = before == "one"
    told = one and form != "base" and _TAG_OF.get(after) in _OBJECT
    return told or (after in {"that", "out"} and (one or form != "third"))


class _Around(NamedTuple):
    """The tag before a word, adverbs left aside, and the words before and after it."""

    last: str
    before: str
    after: str


_COMPOUNDS = {("law", "firm"), ("dry", "cleaner"), ("dry", "cleaners")}


def _open(low: str, form: str | None, around: _Around) -> str:
    """The tag of a word that is no verb here."""
    if (around.before, low) in _COMPOUNDS:
        return "noun"
    if low in _PREPOSITIONS and (low not in _ADVERBS or around.after[:1].isalnum()):
        return "prep"
    looks = low.endswith(("-looking", "-tasting", "-smelling", "-sounding", "-feeling"))
    tail = low.rpartition("-")[2]
    looks = looks or ("-" in low and tail in ADJECTIVES and tail != "wise")
    looks = looks or low.startswith("non-") or _is_compared(low)
    if looks or low in ADJECTIVES or (low.startswith(("un", "in", "im")) and low[2:] in ADJECTIVES):
        return "adj"
    in_ly = low.endswith(("ly", "-wise")) and len(low) > 4 and low not in _NOUNS_IN_LY
    if low in _ADVERBS or in_ly:
        return "adv"
    named = low.endswith(_NOUNS_IN_ING) and low != "highlighting"
    if low.endswith("ing") and len(low) > 5 and not named:
        return "ing"
    return "noun" if low in _NOT_ADJECTIVES else _unknown(low, form, around)


_NO_COMPARISON = word_set("cooler stranger drier dryer opener fewer dimmer")


def _is_compared(low: str) -> bool:
    """Whether a word compares by an adjective: "thinner", "cozier", "widest"."""
    if not low.endswith(("er", "est")) or low in _ADVERBS or low in _NO_COMPARISON:
        return False
    stem = low.removesuffix("est").removesuffix("er")
    stems = {stem, stem + "e", stem[:-1], stem[:-1] + "y" if stem.endswith("i") else stem}
    return len(stem) > 2 and not ADJECTIVES.isdisjoint(stems)


def _unknown(low: str, form: str | None, around: _Around) -> str:
    """The tag of a word in no list, by its ending and what stands around it."""
    last, before, after = around
    past = low.endswith("ed") and len(low) > 4
    acts = _TAG_OF.get(after) in {"det", "poss", "obj"}
    third = low.endswith("s") and not low.endswith("ss")
    said = after == "that" and last == "noun"
    if (last == "to" and acts) or (before in {"they", "we"} and not third and not past):
        return "base" if last == "to" else "verb"
    if past and (last == "pron" or said or (acts and last in {"noun", "mark", "conj"})):
        return "verb"
    if third and before in {"it", "he", "she", "which", "that", "who"} and low not in _WHO:
        return "verb"
    if third and acts and last == "noun" and not is_plural(before):
        return "verb"
    return "adj" if past or form == "past" or _ENDINGS.search(low) else "noun"
