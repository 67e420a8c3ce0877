"""English function words, and which of a text's words and tokens carry content.

The list holds the closed classes: articles, pronouns, prepositions, conjunctions, auxiliaries,
quantifiers and adverbs that only point or grade. Words are compared in lower case; a contraction
is known whole and by the parts into which tokenizers cut it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["STOP_WORDS", "content_tokens", "is_content"]

_WORDS = """
a an the this that these those such same other another each every either neither both all any
some no none few many much more most several enough half less least lot lots
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
himself she her hers herself it its itself they them their theirs themselves one ones oneself
who whom whose which what whatever whichever whoever someone somebody something anyone anybody
anything everyone everybody everything nobody nothing
about above across after against along among around as at before behind below beneath beside
besides between beyond by despite down during except for from in inside into near of off
on onto out outside over past per since through throughout till to toward towards under until
up upon via with within without
and but or nor so yet if then else than because although though unless whereas while whether
where when why how once
am is are was were be been being have has had having do does did doing done will would shall
should can could may might must ought cannot
not never only just also too very quite rather again here there now ever even still already
almost else further however
isn aren wasn weren hasn haven hadn doesn don didn won wouldn shan shouldn couldn mightn mustn
needn ain ll ve re s t d m o y
isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't
shouldn't can't couldn't mightn't mustn't needn't ain't i'm i've i'd i'll you're you've you'd
you'll he's he'd he'll she's she'd she'll it's it'd it'll we're we've we'd we'll they're
they've they'd they'll that's that'd that'll there's who's what's let's
"""

STOP_WORDS = frozenset(_WORDS.split())
"""In lower case, with straight apostrophes."""

_LETTER = re.compile(r"[^\W_]")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


def is_content(word: str) -> bool:
    """Whether a word is neither a function word nor mere punctuation.

    >>> [is_content(word) for word in ("boots.", "The", "don’t", "(it)", "...")]
    [True, False, False, False, False]
    """
    plain = _EDGES.sub("", word).lower().replace("’", "'")
    return plain != "" and plain not in STOP_WORDS


def content_tokens(
    text: str, words: NDArray[np.int64], spans: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tokens of words that carry content.

    Args:
        text: what was cut into tokens.
        words: int64 [T], number of the word that a token belongs to; -1 for special tokens.
        spans: int64 [T, 2], where a token stands in the text.

    Returns:
        bool [T]; a word has all of its tokens with a letter or digit, or none.
    """
    # To SentencePiece the marks beside a word are part of it.
    kept = np.array([_LETTER.search(text[a:b]) is not None for a, b in spans.tolist()], np.bool_)
    for number in np.unique(words):
        own = words == number
        kept[own] &= number >= 0 and is_content(text[spans[own, 0].min() : spans[own, 1].max()])
    return kept
