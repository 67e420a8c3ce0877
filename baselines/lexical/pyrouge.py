"""ROUGE as py-rouge 1.1 computes it, which OpinSummEval's figures come from.

It differs from rouge-score in five ways. Letters and digits outside ASCII split words alike, but
words then pass NLTK's tokenizer, which parts "gonna" and "wanna" (and would part "cannot", which
is kept whole). Irregular forms are mapped by a table and the rest stemmed by Porter's original
algorithm. ROUGE-L works line by line: a reference word counts when any summary line has it in a
longest common subsequence with the word's line, as often as the summary has the word. A text may
be cut at a number of characters. Zero words give zero.

The table comes with the py-rouge package and is read from there; its code is not run.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.baselines.lexical.rouge import Overlap, rouge_metric, rouge_unit
from prevalence.baselines.rules import REMEMBERED_TEXTS, number_option
from prevalence.scorers.rouge import ngrams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from prevalence.baselines.protocol import Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["missing_tables", "open_py_rouge", "py_rouge_overlap"]

_TABLES = ("wordnet_key_value.txt", "wordnet_key_value_special_cases.txt")
_NO_WORD = re.compile(r"[^A-Za-z0-9]")
_STEM_LONGER_THAN = 3

Lines = tuple[tuple[str, ...], ...]
"""The words of each line."""


def open_py_rouge(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open F1, precision or recall of ROUGE as py-rouge 1.1 computes it, in [0, 1].

    Raises:
        ConfigurationError: the limit is no number of characters.
    """
    limit = number_option(entry, spec, "limit", "a number of characters")
    overlap = py_rouge_overlap(rouge_unit(entry), stem="nostem" not in spec.options, limit=limit)
    signature = {"impl": "py-rouge-1.1", "limit": "none" if limit is None else str(limit)}
    return rouge_metric(entry, spec, overlap, signature=signature)


def missing_tables() -> str | None:
    """What to install where py-rouge's tables are not there."""
    if _table_files():
        return None
    return (
        "the tables of py-rouge: pip install 'prevalence[lexical]' (and uninstall the package "
        "rouge, which takes the same import name)"
    )


def py_rouge_overlap(unit: str, *, stem: bool, limit: int | None) -> Callable[[str, str], Overlap]:
    """Counts of ROUGE-N or ROUGE-L.

    Args:
        unit: "1", "2", ... for n-grams, "l" for the longest common subsequence.
        stem: whether words are stemmed.
        limit: number of characters read of each text, or None.

    Returns:
        A function of the summary and of the other text.

    """
    stem_of = _stemmer() if stem else None

    @lru_cache(maxsize=REMEMBERED_TEXTS)
    def lines(text: str) -> Lines:
        parts = _cut(text.split("\n"), limit)
        return tuple(tuple(_words(part, stem_of)) for part in parts)

    @lru_cache(maxsize=REMEMBERED_TEXTS)
    def whole(text: str) -> tuple[str, ...]:
        joined = " ".join(_cut(text.split("\n"), limit))
        return tuple(_words(joined, stem_of))

    def grams(summary: str, other: str) -> Overlap:
        n, mine, others = int(unit), whole(summary), whole(other)
        shared = ngrams(mine, n) & ngrams(others, n)
        return Overlap(shared.total(), len(mine) - n + 1, len(others) - n + 1)

    def longest(summary: str, other: str) -> Overlap:
        return _line_overlap(lines(summary), lines(other))

    return longest if unit == "l" else grams


def _cut(lines: Sequence[str], limit: int | None) -> list[str]:
    """The first lines, the last of them shortened; separators do not count."""
    if limit is None:
        return list(lines)
    kept: list[str] = []
    room = limit
    for line in map(str.strip, lines):
        kept.append(line[:room])
        if len(line) >= room:
            break
        room -= len(line)
    return kept


def _words(text: str, stem_of: Callable[[str], str] | None) -> Iterator[str]:
    plain = _NO_WORD.sub(" ", text.lower())
    for word in _tokenizer().tokenize(plain.replace("cannot", "_cannot_")):
        stemmed = word if stem_of is None or len(word) <= _STEM_LONGER_THAN else stem_of(word)
        yield stemmed.replace("_cannot_", "cannot")


def _line_overlap(summary: Lines, other: Lines) -> Overlap:
    left = Counter(word for line in summary for word in line)
    sizes = left.total(), sum(map(len, other))
    shared = 0
    for line in other:
        matched: set[int] = set()
        for mine in summary:
            matched.update(_matched_places(line, mine))
        for place in sorted(matched):
            if left[line[place]] > 0:
                left[line[place]] -= 1
                shared += 1
    return Overlap(shared, *sizes)


def _matched_places(first: Sequence[str], second: Sequence[str]) -> Iterator[int]:
    """Places in ``first`` of one longest common subsequence: the choice matters, and is py-rouge's.

    Walking back from the ends, equal words are matched; else a word of ``first`` is given up when
    that loses nothing, and a word of ``second`` otherwise.
    """
    rows = _lcs_table(first, second)
    i, j = len(first), len(second)
    while i and j:
        if first[i - 1] == second[j - 1]:
            i, j = i - 1, j - 1
            yield i
        elif rows[i - 1][j] >= rows[i][j - 1]:
            i -= 1
        else:
            j -= 1


def _lcs_table(first: Sequence[str], second: Sequence[str]) -> list[list[int]]:
    """Lengths of longest common subsequences of all beginnings."""
    rows = [[0] * (len(second) + 1)]
    for word in first:
        above, row, length = rows[-1], [0], 0
        for j, other in enumerate(second):
            length = above[j] + 1 if word == other else max(above[j + 1], length)
            row.append(length)
        rows.append(row)
    return rows


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer()


def _stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    table = _irregular_forms()
    porter = PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM)

    @lru_cache(maxsize=100_000)
    def stem(word: str) -> str:
        known = table.get(word)
        return known if known is not None else str(porter.stem(word))

    return stem


@lru_cache(maxsize=1)
def _irregular_forms() -> Mapping[str, str]:
    forms: dict[str, str] = {}
    for path in _table_files():
        for line in path.read_text(encoding="utf-8").splitlines():
            word, _, form = line.strip().partition("|")
            forms[word] = form
    return forms


def _table_files() -> list[Path]:
    # Another package, called rouge, has the same import name, but no tables.
    found = find_spec("rouge")
    folders = [] if found is None else found.submodule_search_locations or []
    for folder in folders:
        files = [Path(folder) / name for name in _TABLES]
        if all(path.is_file() for path in files):
            return files
    return []
