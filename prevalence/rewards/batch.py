"""Batches of summaries with their reviews: one model a process, bounded state between calls."""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import ConfigurationError, InputError, first_line, warn_caller
from prevalence.llm.parts import texts_in
from prevalence.nli.cache import CachedScorer
from prevalence.nli.pairs import TextTable, checked_scorer
from prevalence.readers.given import checked_name, checked_reviews, is_missing
from prevalence.records import BadRecord, Product, Review, Summary, well_formed
from prevalence.scored import ScoredSummary
from prevalence.scorers.registry import ScorerOptions
from prevalence.scoring.engine import Engine
from prevalence.scoring.options import ScoringOptions
from prevalence.text.sentences import VERBATIM, spaced

if TYPE_CHECKING:
    from prevalence.nli.pairs import PairScorer
    from prevalence.scoring.conditions import Where

__all__ = [
    "BatchScorer",
    "MemoryCache",
    "Outcome",
    "Sample",
    "Tally",
    "completion_text",
]


class MemoryCache:
    """The last answers used, for a process that asks about the same texts again and again.

    Args:
        pairs: most entries held; each takes about 270 bytes.

    Raises:
        ConfigurationError: ``pairs`` is not positive.

    >>> cache = MemoryCache(2)
    >>> cache.put({b"a": (0.1, 0.0, 0), b"b": (0.2, 0.0, 0)})
    >>> sorted(cache.get([b"a", b"x"]))
    [b'a']
    >>> cache.put({b"c": (0.3, 0.0, 0)})
    >>> sorted(cache.get([b"a", b"b", b"c"]))
    [b'a', b'c']
    """

    def __init__(self, pairs: int) -> None:
        if pairs < 1:
            raise ConfigurationError(f"the number of pairs to keep must be positive, not {pairs}")
        self._most = pairs
        self._entries: OrderedDict[bytes, tuple[Any, ...]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[Any, ...]]:
        """Stored entries of those keys that are present; they become the last to be dropped."""
        found = {key: self._entries[key] for key in keys if key in self._entries}
        for key in found:
            self._entries.move_to_end(key)
        return found

    def put(self, entries: Mapping[bytes, tuple[Any, ...]]) -> None:
        """Store entries, dropping those whose last use is longest ago."""
        for key, entry in entries.items():
            self._entries[key] = entry
            self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)


class MiswiredError(InputError):
    """A value of a kind that no policy writes and no gap in the data leaves: a mistake in code."""


class ExtractError(InputError):
    """The caller's own function found no text in a completion."""


def completion_text(completion: object) -> str:
    """The text of a completion, each lone surrogate replaced by U+FFFD.

    Args:
        completion: a string, or messages with ``role`` and ``content``, of which the last by the
            assistant (or ``model``) is read: earlier ones call tools. Content is a string or a list
            of parts, of which those of the type ``text`` or ``output_text``, or of none, are read.
            One message may stand without a list.

    Raises:
        MiswiredError: it is of a kind that never holds text, or has no message of the assistant.
        InputError: it has no text.

    >>> completion_text([{"role": "assistant", "content": "They fit."}])
    'They fit.'
    """
    if isinstance(completion, str):
        return well_formed(completion)
    if completion is None or (isinstance(completion, Sequence) and not completion):
        raise InputError("the completion is empty: give a string or a list of messages")
    messages = [completion] if isinstance(completion, Mapping) else completion
    if not isinstance(messages, Sequence) or not all(isinstance(m, Mapping) for m in messages):
        raise MiswiredError(
            f"the completion is {_kind(completion)}: give a string or a list of messages"
        )
    own = [m for m in messages if str(m.get("role")).casefold() in _OWN_ROLES]
    if not own:
        raise MiswiredError(
            "the completion has no message with the role 'assistant': give its text, or a list of "
            'messages such as {"role": "assistant", "content": "..."}'
        )
    return well_formed(_content(own[-1].get("content")))


_OWN_ROLES = frozenset({"assistant", "model"})


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        raise InputError("the assistant's last message holds no text")
    found = _kind(content)
    if isinstance(content, Sequence) and all(isinstance(part, Mapping) for part in content):
        said = texts_in(content)
        if said or not content:
            return "".join(said)
        found = f"parts of the type {content[0].get('type')!r} alone"
    raise MiswiredError(f"the assistant's last message holds {found}: give a string or text parts")


def _kind(value: object) -> str:
    """The type of a value, and of what a list begins with."""
    name = type(value).__name__
    return f"{name} of {type(value[0]).__name__}" if isinstance(value, list) and value else name


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over summaries and over their sentences.

    Attributes:
        prevalence: sum over scored summaries.
        scored: summaries with a score.
        empty: those of them without a sentence, whose prevalence is 0.
        failed: rows whose reviews or name cannot be used, or of whose reviews a condition leaves
            none.
        unscorable: summaries that cannot be scored, or of which a condition leaves no statement.
        sentences: of scored summaries, as are those below.
        trivial: sentences that having bought the product implies.
        redundant: sentences that an earlier one implies.
        unsupported: sentences that count and that no review implies.
        contradicted: sentences that count and that more reviews contradict than imply.
        judged: sentences that a model with a contradiction class has read, masked ones too.
    """

    prevalence: float = 0.0
    scored: int = 0
    empty: int = 0
    failed: int = 0
    unscorable: int = 0
    sentences: int = 0
    trivial: int = 0
    redundant: int = 0
    unsupported: int = 0
    contradicted: int = 0
    judged: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Tally:
        """The sums of some outcomes."""
        return sum(map(_one, outcomes), cls())

    def __add__(self, other: Tally) -> Tally:
        names = [field.name for field in fields(Tally)]
        return Tally(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def rows(self) -> int:
        """Summaries and bad rows."""
        return self.scored + self.failed + self.unscorable

    def metrics(self) -> dict[str, float]:
        """Means and shares by name; what nothing is known of is left out.

        ``prevalence`` and ``sentences`` are means over scored summaries; ``trivial``,
        ``redundant``, ``unsupported`` and ``contradicted`` are shares of their sentences;
        ``empty``, ``failed`` and ``unscorable`` are shares of all rows.
        """
        found: dict[str, float] = {}
        if self.scored:
            found["prevalence"] = self.prevalence / self.scored
            found["sentences"] = self.sentences / self.scored
        if self.sentences:
            for name in ("trivial", "redundant", "unsupported"):
                found[name] = getattr(self, name) / self.sentences
            if self.judged:
                found["contradicted"] = self.contradicted / self.sentences
        if self.rows:
            for name in ("empty", "failed", "unscorable"):
                found[name] = getattr(self, name) / self.rows
        return found


def _one(outcome: Outcome) -> Tally:
    if isinstance(outcome, BadRecord):
        return Tally(failed=1)
    if outcome.prevalence is None:
        return Tally(unscorable=1)
    return _scored(outcome, outcome.prevalence)


def _scored(row: ScoredSummary, prevalence: float) -> Tally:
    counted = [sentence for sentence in row.sentences if sentence.counts]
    return Tally(
        prevalence=prevalence,
        scored=1,
        empty=not row.sentences,
        sentences=row.n_sentences,
        trivial=row.sentence_count("trivial") or 0,
        redundant=row.sentence_count("redundant") or 0,
        unsupported=row.sentence_count("unsupported") or 0,
        contradicted=sum((s.contradicted_by or 0) > (s.support or 0) for s in counted),
        judged=sum(s.contradicts is not None for s in row.sentences),
    )


Outcome = ScoredSummary | BadRecord
"""A row with a score or with the summary's error; a bad record where reviews or name are bad, or a
condition leaves no review."""


class Sample(NamedTuple):
    """A completion and what it is about, all checked when it is scored.

    Attributes:
        completion: the summary, see :func:`~prevalence.rewards.batch.completion_text`.
        reviews: a list of strings, of reviews or of objects with a ``text``.
        name: the product's, or None or NaN for no trivial mask.
    """

    completion: object
    reviews: object
    name: object = None


class BatchScorer:
    """Scores batches of summaries; thread-safe, picklable, loaded on first use in each process.

    A copy, a pickle and a forked child carry the options alone: they load a model of their own and
    count from 0.

    Args:
        model: what to open in each process. Its device ``auto`` takes the process's own GPU where
            there is one (``LOCAL_RANK``, as launchers set it, else the current device), the CPU
            otherwise.
        options: how to score.
        scorer: a ready scorer in place of ``model``; it is then the caller's to copy and to free.
        extract: takes the text of a completion and returns the summary in it. Where it fails or
            returns no string, the completion cannot be scored.
        kept_pairs: answers kept between calls, the most recently used; 0 for none.
        kept_characters: texts and their tokens are kept between calls up to about this length.

    Attributes:
        tally: sums over everything scored by this object in this process.

    Raises:
        ConfigurationError: an argument is of another type, a bound is negative, or a condition asks
            for labels of statements.
    """

    tally: Tally
    _engine: Engine | None

    def __init__(
        self,
        model: ScorerOptions | None = None,
        options: ScoringOptions | None = None,
        *,
        scorer: PairScorer | None = None,
        extract: Callable[[str], str] | None = None,
        kept_pairs: int = 200_000,
        kept_characters: int = 8_000_000,
    ) -> None:
        bounds: tuple[Any, ...] = kept_pairs, kept_characters
        for kept in bounds:
            if not isinstance(kept, Integral) or kept < 0:
                raise ConfigurationError(
                    f"what to keep between calls is {kept!r}: give a whole number, not a negative "
                    "one"
                )
        if extract is not None and not callable(extract):
            raise ConfigurationError(
                f"extract is {extract!r}: give a function from a completion's text to the summary"
            )
        if not isinstance(model, ScorerOptions | None):
            raise ConfigurationError(
                f"the model is {model!r}: give ScorerOptions(model=...) or, ready to use, scorer="
            )
        if not isinstance(options, ScoringOptions | None):
            raise ConfigurationError(f"the options are {options!r}: give ScoringOptions(...)")
        self._model = model or ScorerOptions()
        self._options = options or ScoringOptions()
        _check_condition(self._options.restriction.statements)
        self._scorer = None if scorer is None else checked_scorer(scorer)
        self._extract = extract
        self._kept_pairs = kept_pairs
        self._kept_characters = kept_characters
        self._start_afresh()

    @property
    def loaded(self) -> bool:
        """Whether this process holds a model and what is kept between calls."""
        return self._engine is not None

    @property
    def engine(self) -> Engine:
        """The engine of this process, loaded when it is not yet."""
        with self._lock:
            return self._load()

    def score(self, samples: Sequence[Sample], *, tallied: bool = True) -> list[Outcome]:
        """Score samples together: each distinct pair of texts is asked about once.

        Args:
            samples: any number, in any order; a score does not depend on the others.
            tallied: whether they count in the tally.

        Returns:
            One outcome a sample, in order. Bad records, completions of a kind that holds no text
            and those that ``extract`` fails on are warned of, once for each kind of error; so are
            the first texts that do not look English, where the model is for English.

        Raises:
            ConfigurationError: something is no sample; or every sample has a completion of such a
                kind, reviews that are no list or none of which is text or has a ``text``, or a name
                that is no text.
            PrevalenceError: the model cannot be loaded or fails; never for some bad samples.
        """
        samples = list(samples)  # So that each list of reviews lives as long as the call.
        reader = _Reader(self._extract)
        read = [reader.read(place, sample) for place, sample in enumerate(samples)]
        if reader.miswired and len(reader.miswired) == len(read):
            raise ConfigurationError(f"no row can be read: {reader.miswired[0]}")
        products: dict[_Key, list[int]] = {}
        for place, job in enumerate(read):
            if isinstance(job, _Job):
                products.setdefault(job.key, []).append(place)
        order = [place for places in products.values() for place in places]
        with self._lock:
            punkt = self._options.splitter not in VERBATIM
            found = _products(products, read, spaced if punkt else str)
            rows = list(self._load().run(found)) if order else []
            scored = {
                place: _scored_row(place, row) for place, row in zip(order, rows, strict=True)
            }
            outcomes = [
                scored[place] if isinstance(job, _Job) else job for place, job in enumerate(read)
            ]
            if tallied:
                self.tally += Tally.of(outcomes)
            bad = [outcome.error for outcome in outcomes if isinstance(outcome, BadRecord)]
            self._warn("row", bad)
            self._warn("completion", reader.unreadable)
            if order:
                self._load().warn_foreign()
        return outcomes

    def release(self) -> None:
        """Free the model and everything kept; the next call loads it again."""
        with self._lock:
            self._engine = None
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.empty_cache()

    def _warn(self, what: str, errors: Iterable[str]) -> None:
        """Warn of errors that differ in more than the numbers in them, of few in all."""
        for error in errors:
            kind = re.sub(r"\d+", "", error)
            if kind not in self._warned and len(self._warned) < _MOST_WARNINGS:
                self._warned.add(kind)
                warn_caller(
                    f"{error}; this {what} and any others like it have no score, see the tally"
                )

    def _load(self) -> Engine:
        if self._engine is None:
            scorer = self._scorer if self._scorer is not None else _opened(self._model)
            if self._kept_pairs:
                scorer = CachedScorer(scorer, MemoryCache(self._kept_pairs))
            table = _KeptTable(self._kept_characters)
            self._engine = Engine(scorer, self._options, new_table=table)
        return self._engine

    def _start_afresh(self) -> None:
        """Hold nothing, as a new process does: threads and devices do not survive a fork."""
        self._lock = threading.RLock()
        self._engine = None
        self.tally = Tally()
        self._warned: set[str] = set()
        _alive.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in _OWN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start_afresh()


_OWN = frozenset({"_lock", "_engine", "_warned", "tally"})
"""Attributes that belong to one object in one process."""

_MOST_WARNINGS = 10
"""Kinds of errors that one object warns of."""

_Key = tuple[str | None, str]
"""Name and reviews as text: what completions of one group share."""


class _Reviews(NamedTuple):
    checked: tuple[Review, ...]
    text: str


class _Job(NamedTuple):
    summary: str
    name: str | None
    reviews: _Reviews

    @property
    def key(self) -> _Key:
        return self.name, self.reviews.text


def _check_condition(statements: Where | None) -> None:
    if statements is not None and statements.labels:
        labels = ", ".join(statements.labels)
        raise ConfigurationError(
            f"completions have no labels to read {labels} from: restrict statements by words of "
            "their text"
        )


class _KeptTable:
    """Gives the same table of texts until it holds too much, then a new one."""

    def __init__(self, characters: int) -> None:
        self._most = characters
        self._table = TextTable()

    def __call__(self) -> TextTable:
        if self._table.characters > self._most:
            self._table = TextTable()
        return self._table


_alive: weakref.WeakSet[BatchScorer] = weakref.WeakSet()


_forked = False
"""Whether this process was forked from one that had loaded PyTorch."""


def _after_fork() -> None:
    global _forked  # noqa: PLW0603 - a fact of the process
    _forked = "torch" in sys.modules
    for scorer in list(_alive):
        scorer._start_afresh()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Reader:
    """Makes the samples of one call ready; a list of reviews that several share is checked once.

    Args:
        extract: finds the summary in a completion's text.

    Attributes:
        miswired: what a :class:`MiswiredError` says of each row that has one.
        unreadable: errors of completions that are worth a warning.
    """

    def __init__(self, extract: Callable[[str], str] | None) -> None:
        self._extract = extract
        self._known: dict[int, _Reviews | InputError] = {}
        self.miswired: list[str] = []
        self.unreadable: list[str] = []

    def read(self, place: int, sample: Sample) -> _Job | Outcome:
        """The sample ready to be scored, or the outcome that says why it cannot be."""
        if not isinstance(sample, Sample):
            raise ConfigurationError(
                f"row {place} is {_kind(sample)}: give Sample(completion, reviews, name)"
            )
        try:
            name, reviews = _name(sample.name), self._reviews(sample.reviews)
        except InputError as error:
            return BadRecord(self._said(place, error), source=f"row {place}")
        try:
            return _Job(self._summary(sample.completion), name, reviews)
        except InputError as error:
            said = self._said(place, error)
            if isinstance(error, MiswiredError | ExtractError):
                self.unreadable.append(said)
            return ScoredSummary(
                id=None,
                system=None,
                prevalence=None,
                n_reviews=len(reviews.checked),
                sentences=(),
                signature="",
                error=said,
            )

    def _said(self, place: int, error: InputError) -> str:
        said = f"row {place}: {error}"
        if isinstance(error, MiswiredError):
            self.miswired.append(said)
        return said

    def _summary(self, completion: object) -> str:
        text = completion_text(completion)
        if self._extract is None:
            return text
        try:
            found: object = self._extract(text)
        except Exception as error:
            kind = type(error).__name__
            raise ExtractError(f"extract failed with {kind} ({first_line(error)})") from error
        if not isinstance(found, str):
            raise ExtractError(f"extract gave {_kind(found)}, not text: let it return a string")
        return well_formed(found)

    def _reviews(self, reviews: object) -> _Reviews:
        """Reviews by the identity of their list, which the samples keep alive."""
        if id(reviews) not in self._known:
            try:
                checked = _reviews(reviews)
                self._known[id(reviews)] = _Reviews(checked, repr(checked))
            except InputError as error:
                self._known[id(reviews)] = error
        found = self._known[id(reviews)]
        if isinstance(found, InputError):
            raise found
        return found


def _name(name: object) -> str | None:
    if is_missing(name):
        return None
    if not isinstance(name, str):
        raise MiswiredError(
            f"the product name is {_kind(name)}, not text: give a string, or None for no name"
        )
    return checked_name(name)


def _reviews(reviews: object) -> tuple[Review, ...]:
    """Reviews that are strings, reviews or objects with a ``text``."""
    if is_missing(reviews):
        raise InputError(f"the reviews are {reviews}: give a list of texts")
    if not isinstance(reviews, Iterable) or isinstance(reviews, str | Mapping | Review):
        raise MiswiredError(f"the reviews are {_kind(reviews)}: give a list of texts")
    items = list(reviews)
    missing = [item for item in items if is_missing(item)]
    if missing:  # As trainers fill up a batch; it must not count among the reviews.
        raise InputError(f"a review is {missing[0]}, not text: give a string")
    try:
        return checked_reviews([_review(item) for item in items])
    except InputError as error:
        if items and not any(map(_has_text, items)):
            raise MiswiredError(str(error)) from None
        raise


def _has_text(item: object) -> bool:
    return isinstance(item, str | Review) or (isinstance(item, Mapping) and "text" in item)


def _review(item: object) -> object:
    if not isinstance(item, Mapping) or "text" not in item:
        return item
    fields = dict(item)
    text, identity = fields.pop("text"), fields.pop("id", None)
    return Review(text, None if identity is None else str(identity), fields)


def _scored_row(place: int, row: ScoredSummary) -> Outcome:
    """The row; a bad record where a condition leaves none of the reviews."""
    if row.error is None and not row.n_reviews:
        return BadRecord(f"row {place}: {row.warning}", source=f"row {place}")
    return row


def _products(
    products: Mapping[_Key, Sequence[int]],
    read: Sequence[_Job | Outcome],
    mended: Callable[[str], str],
) -> Iterator[Product]:
    """One product for all completions of a group, so that its reviews are read once."""
    for places in products.values():
        jobs = [(place, job) for place in places if isinstance(job := read[place], _Job)]
        _, first = jobs[0]
        yield Product(
            id=f"row {places[0]}",
            name=first.name,
            reviews=first.reviews.checked,
            summaries=tuple(Summary(f"row {place}", mended(job.summary)) for place, job in jobs),
            source="batch",
        )


def _opened(options: ScorerOptions) -> PairScorer:
    """The scorer of this process; in a forked one a model has one thread, as others would hang."""
    if _forked and options.loads_model:
        import torch

        if torch.get_num_threads() > 1:
            torch.set_num_threads(1)
            warnings.warn(
                "a forked process computes with one thread, since PyTorch's threads do not survive "
                "a fork; start processes with 'spawn' for more",
                RuntimeWarning,
                stacklevel=2,
            )
    device = _own_device(options.device) if options.loads_model else options.device
    return replace(options, device=device).open()


def _own_device(device: str) -> str:
    """The device of this process of several; a worker thread's current GPU would be the first."""
    if device != "auto":
        return device
    import torch

    if not torch.cuda.is_available():
        return "cpu"
    rank = os.environ.get("LOCAL_RANK", "")
    if rank.isdecimal() and int(rank) < torch.cuda.device_count():
        return f"cuda:{rank}"
    return f"cuda:{torch.cuda.current_device()}"
