"""The same items in several files: told by their reviews or summaries, whatever they are called.

Studies release their data in several forms, such as SummEval-OP's mean ratings and all ratings,
in which items have no ids and systems other names. Merged by name, every summary would count twice.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prevalence.meta.table import SummaryRatings

__all__ = ["ItemForms", "TwoFormsError"]


class TwoFormsError(InputError):
    """Two files hold the same summaries in ways that cannot be merged."""


class _Form(NamedTuple):
    """What a file calls an item and its summaries."""

    file: str
    item: str
    named: bool
    texts: Mapping[str, str]


_Mark = tuple[str, str, int]
"""What a text is, the digest of all such texts of a record, and the number of the record among
those of its file that have this digest."""


class ItemForms:
    """The forms in which items were met, file by file."""

    def __init__(self) -> None:
        self._earlier: dict[_Mark, _Form] = {}
        self._present: dict[_Mark, _Form] = {}
        self._seen: Counter[tuple[str, str]] = Counter()

    def end_file(self) -> None:
        """The next record is another file's."""
        self._earlier = self._present | self._earlier
        self._present = {}
        self._seen.clear()

    def named(
        self, record: object, entries: Sequence[SummaryRatings], *, file: str, unnamed: str
    ) -> list[SummaryRatings]:
        """A record's entries; without an id they take that of the same item in an earlier file.

        Args:
            record: as decoded.
            entries: what it says of its summaries.
            file: its name.
            unnamed: the id of a record that has none.

        Raises:
            TwoFormsError: an earlier file has the summaries under other names of systems, or the
                item without an id.
        """
        if not entries:
            return []
        own = entries[0].item
        texts = {e.system: " ".join(e.text.split()) for e in entries if e.text is not None}
        form = _Form(file, own, own != unnamed, texts)
        marks = list(self._marks(record, texts.values()))
        before = next((self._earlier[mark] for mark in marks if mark in self._earlier), None)
        if before is not None:
            _check(before, form)
            form = form._replace(item=own if form.named else before.item)
        self._present |= dict.fromkeys(marks, form)
        return [entry._replace(item=form.item) for entry in entries]

    def _marks(self, record: object, summaries: Iterable[str]) -> Iterator[_Mark]:
        reviews = record.get("reviews") if isinstance(record, dict) else None
        reviews = [*reviews.values()] if isinstance(reviews, dict) else reviews
        held = {"reviews": reviews if isinstance(reviews, list) else (), "summaries": summaries}
        for kind, texts in held.items():
            words = sorted(" ".join(str(text).split()) for text in texts)
            if len(words) > 1:
                digest = hashlib.blake2b(repr(words).encode("utf-8", "replace")).hexdigest()
                self._seen[kind, digest] += 1
                yield kind, digest, self._seen[kind, digest]


def _check(before: _Form, form: _Form) -> None:
    names = {text: name for name, text in before.texts.items() if text}
    apart = before.texts.keys().isdisjoint(form.texts)
    # One text may have been edited; systems with a file each may well say the same for once.
    shared = [(name, text) for name, text in form.texts.items() if text in names]
    if apart and shared and min(len(before.texts), len(form.texts)) > 1:
        system, text = shared[0]
        raise TwoFormsError(
            f"{form.file}: holds the summaries of {before.file} under other names ({system!r} is "
            f"{names[text]!r} there); name one of the two files"
        )
    if form.named and not before.named:
        raise TwoFormsError(
            f"{form.file}: {form.item!r} has no id in {before.file}; name one of the two files, "
            "give both the same ids, or use --by-position"
        )
