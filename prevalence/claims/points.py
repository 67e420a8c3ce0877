"""The points of a list in a sentence: what semicolons, bars and commas hold apart."""

from __future__ import annotations

from prevalence.claims.clauses import find_core
from prevalence.claims.descriptions import descriptions_in
from prevalence.claims.english import Token, has_negation, retagged
from prevalence.claims.words import is_base, word_set

__all__ = ["NAME_WORDS", "apart", "points_of"]

NAME_WORDS = 3
"""Words of the longest label or cell that names a thing and nothing else."""
_PART = 12
"""Most words between semicolons that are a point of a list."""
_OWN = frozenset({"det", "noun", "adj", "num"})
"""What begins a clause that needs nothing from the one before."""
_COUNTING = word_set("some most many several few others another one none both all each")
_POINTING = word_set("it they them its their it's they're")
_LINKING = frozenset({"conj", "sub", "rel", "prep"})


def points_of(words: list[Token], label: int) -> list[list[Token]]:
    """The points that semicolons or bars hold apart: "honest quotes; fast", "Fit | snug | light".

    Args:
        words: of a sentence.
        label: how many of them are a label; points that are no clauses get it, too.

    Returns:
        The words of each point, or ``[words]``, the same list, where nothing is held apart.
    """
    if any(word.text == "|" for word in words):
        return _cells(words)
    parts = [part for part in apart(words[label:], ";") if part]
    whole = [find_core(part) is not None for part in parts]
    if (
        len(parts) < 2
        or words[-1].text == "?"
        or not (_stand(parts) if all(whole) else _point(parts))
    ):
        return [words]
    parts = [retagged(part) for part in parts]
    named = words[:label]
    first, *others = parts
    bare = (not own and all(word.text != ":" for word in part)
            for part, own in zip(others, whole[1:], strict=True))  # fmt: skip
    return [[*named, *first], *([*named, *part] if needs else part
                                for part, needs in zip(others, bare, strict=True))]  # fmt: skip


def _stand(parts: list[list[Token]]) -> bool:
    """Whether clauses need nothing from those before: no pronoun and no "some" of theirs."""
    return all(
        part[0].tag in _OWN
        and part[0].low not in _COUNTING
        and all(word.low not in _POINTING for word in part)
        for part in parts[1:]
    )


def _point(parts: list[list[Token]]) -> bool:
    """Whether parts are the points of a list: short, and the first is no clause."""
    short = all(len(part) <= _PART and part[0].tag not in _LINKING for part in parts)
    spoken = all(any(word.text.isalpha() for word in part) for part in parts)
    return short and spoken and find_core(parts[0]) is None


_MARKS = word_set("mixed positive negative neutral mostly very overwhelmingly somewhat none")
"""Words of a cell that only grades what the others say."""


def _cells(words: list[Token]) -> list[list[Token]]:
    """What stands between bars, each behind the first if that names something: a row of a table."""
    cells = [retagged(cell) for cell in apart(words, "|")]
    if len(cells) < 2:
        return [words]
    first, *others = cells
    others = [cell for cell in others if any(word.low not in _MARKS and word.low.isalpha()
                                             for word in cell)]  # fmt: skip
    alone = len(first) == 1 or find_core(first) is None
    named = len(first) <= NAME_WORDS and alone and all(word.tag != "mark" for word in first)
    if not others:
        return [words] if find_core(first) is None else [first]
    if all(not word.low.isalpha() for word in first):
        return others  # "2/10 | It is noisy"
    if not named or any(noun.adjectives for noun in descriptions_in(first) or []):
        return cells
    return [[*first, first[-1].reworded(":", "mark"), *cell] for cell in others]


def _is_held(before: list[Token], after: list[Token]) -> bool:
    """Whether "and" or "or" goes on with what is denied, or with a verb: "no rust | or smell"."""
    denied = has_negation(before) or any(word.low in {"no", "without"} for word in before)
    verbs = any(word.tag == "to" for word in before) and bool(after) and is_base(after[0].low)
    return denied or verbs


def apart(words: list[Token], marks: str, *, last: bool = False) -> list[list[Token]]:
    """What marks hold apart, brackets left whole; with ``last`` also the last "and"."""
    parts: list[list[Token]] = [[]]
    depth = 0
    ands = [at for at, word in enumerate(words) if last and word.low in {"and", "or"}]
    for at, word in enumerate(words):
        depth = max(depth + (word.text in "([") - (word.text in ")]"), 0)
        after = [one.tag for one in words[at + 1 : at + 3]]
        # "quick and friendly service": of one noun.
        joint = ands[-1:] == [at] and not (words[at - 1].tag == "adj" and after == ["adj", "noun"])
        joint = joint and not _is_held(parts[-1], words[at + 1 :])
        if (joint or word.text in marks) and not depth:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]
