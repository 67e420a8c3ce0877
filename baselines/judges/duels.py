"""Products in, pair rows out: two summaries of a product compared, in both orders."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import combinations, count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.baselines.judges.parsers import before_cut, parser_for
from prevalence.baselines.judges.prompts import Prompter
from prevalence.baselines.judges.run import EMPTY, judge_signature, material_digest
from prevalence.errors import InputError
from prevalence.llm.protocol import Request, Subject
from prevalence.meta.preferences import neighbour_pairs
from prevalence.readers.jsonfiles import json_lines
from prevalence.records import BadRecord, Product, Summary
from prevalence.row_values import check, maybe, number, of
from prevalence.runs.earlier import finished_rows
from prevalence.runs.resuming import Finished, Mark
from prevalence.runs.running import chunks
from prevalence.scored import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from prevalence.baselines.judges.packs import Dimension
    from prevalence.baselines.judges.scoring import Plan
    from prevalence.llm.protocol import Backend, Response

__all__ = [
    "Duel",
    "DuelRun",
    "ListedPairs",
    "PairRow",
    "every_pair",
    "neighbours",
    "read_pairs",
]

_SWAPPED = {1: 2, 2: 1, 0: 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """What a judge says about two summaries on one dimension.

    Attributes:
        id: the product; None only for a record that could not be read.
        a: system of the one summary.
        b: system of the other.
        dimension: what was compared.
        verdict_ab: with a shown first: 1 a better, 2 b better, 0 equal, None unreadable.
        verdict_ba: with b shown first, turned back: 1 still means that a is better.
        signature: what produced the verdicts.
        error: one line, or None.
        input_digest: digest of reviews, product data and both summaries.
    """

    id: str | None
    a: str | None
    b: str | None
    dimension: str | None
    verdict_ab: int | None
    verdict_ba: int | None
    signature: str
    error: str | None = None
    input_digest: str | None = None

    def to_json_line(self) -> str:
        """The contract's JSON object on one line, without the newline."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> PairRow:
        """Rebuild a row from its JSON object.

        Raises:
            InputError: the object is no pair row of this schema.
        """
        if row.get("schema") != SCHEMA or "verdict_ab" not in row:
            raise InputError(f"not a pair row of schema {SCHEMA}")
        check(row, _VALUES, "a pair row of judges")
        try:
            return cls(**{key: value for key, value in row.items() if key != "schema"})
        except TypeError as error:
            raise InputError(f"not a pair row of judges: {error}") from error


def _verdict(value: object) -> bool:
    return value is None or (type(value) is int and value in _SWAPPED)


_VALUES = dict.fromkeys(PairRow.__dataclass_fields__, maybe(of(str))) | {
    "verdict_ab": _verdict, "verdict_ba": _verdict, "signature": of(str),
}  # fmt: skip
"""What a value of a row may be, by key."""


class Duel(NamedTuple):
    """Two summaries of a product, to be compared on a dimension."""

    product: Product
    a: Summary
    b: Summary
    dimension: Dimension


class DuelRun:
    """Compares summaries by one method on some dimensions.

    Args:
        plan: the method, and how replies are drawn and read.
        dimensions: what is compared.
        backend: who answers.
        pairs: systems of a product to compare.
        record: told every request with its replies.

    Attributes:
        named: systems that a list of pairs names.
        listed: products that it names, and that have not been met yet.
    """

    def __init__(
        self,
        plan: Plan,
        dimensions: Sequence[Dimension],
        backend: Backend,
        *,
        pairs: Callable[[Product], Sequence[tuple[str, str]]],
        record: Callable[[Request, Sequence[Response]], None] | None = None,
    ) -> None:
        self.plan = plan
        self._dimensions = dimensions
        self._backend = backend
        self._pairs = pairs
        listed = pairs if isinstance(pairs, ListedPairs) else ListedPairs([], {})
        self.named = listed.systems
        self.listed = listed.products
        self._record = record
        self._prompter = Prompter(plan.method, dimensions)
        self._parse = parser_for(plan.method.answer)
        self.signature = judge_signature(plan, dimensions, backend)

    def items(self, records: Iterable[Product | BadRecord]) -> Iterator[list[Duel | BadRecord]]:
        """What :meth:`rows` takes: the duels of each record."""
        return map(self._duels, records)

    def _duels(self, item: Product | BadRecord) -> list[Duel | BadRecord]:
        self.listed.discard(item.id or "")
        if isinstance(item, BadRecord):
            return [item]
        by_system = {summary.system: summary for summary in item.summaries}
        return [
            Duel(item, by_system[a], by_system[b], dimension)
            for a, b in self._pairs(item)
            if a in by_system and b in by_system
            for dimension in self._dimensions
        ]

    def rows(
        self,
        items: Iterable[Sequence[Duel | BadRecord]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[PairRow]:
        """Compare the summaries of products, in input order.

        Args:
            items: see :meth:`items`.
            progress: called with the number of replies just read.

        Yields:
            One row for each pair and dimension, and for each bad record. When the input fails,
            what was read before is judged first and the failure raised then.
        """
        for chunk in chunks(items, size=lambda duels: 2 * len(duels), full=self._backend.work_unit):
            yield from self._compared([duel for duels in chunk for duel in duels], progress)

    @staticmethod
    def rest(duels: Sequence[Duel | BadRecord], left: Sequence[int]) -> list[Duel | BadRecord]:
        """Some of an item's duels, by their places."""
        return [duels[place] for place in left]

    def marks(self, duels: Iterable[Duel | BadRecord]) -> list[Mark]:
        """What tells the rows of duels from those of other input or other settings."""
        return [
            _mark(self._bad(duel) if isinstance(duel, BadRecord) else self._row(duel, ()))
            for duel in duels
        ]

    @staticmethod
    def finished(path: Path) -> Finished[PairRow]:
        """The rows that an earlier run has written."""
        numbers = count(1)
        other = "which is of other input or other settings"
        return Finished(
            path=path,
            rows=finished_rows(path, PairRow.from_json),
            mark=lambda row: _mark(row, f"row {next(numbers)}"),
            misplaced=other,
            unknown=other,
        )

    def _compared(
        self, chunk: Sequence[Duel | BadRecord], progress: Callable[[int], None] | None
    ) -> Iterator[PairRow]:
        asked = [entry for entry in chunk if isinstance(entry, Duel) and not _lacks_text(entry)]
        requests = [request for duel in asked for request in self._requests(duel)]
        answered = self._backend.complete(requests) if requests else []
        pairs = iter(zip(requests, answered, strict=True))
        for entry in chunk:
            if isinstance(entry, BadRecord):
                yield self._bad(entry)
                continue
            both = [] if _lacks_text(entry) else [next(pairs), next(pairs)]
            if self._record is not None:
                for request, responses in both:
                    self._record(request, responses)
            if progress is not None:
                progress(len(both))
            yield self._row(entry, [responses[0] for _, responses in both])

    def _requests(self, duel: Duel) -> list[Request]:
        orders = ((duel.a, duel.b), (duel.b, duel.a))
        return [
            Request(
                messages=self._prompter.messages(
                    duel.dimension, duel.product, first.text, second.text
                ),
                sampling=self.plan.sampling,
                subject=Subject(
                    self.plan.method.name, duel.dimension.key, duel.product.id,
                    first.system, second.system,
                ),
            )
            for first, second in orders
        ]  # fmt: skip

    def _row(self, duel: Duel, responses: Sequence[Response]) -> PairRow:
        verdicts: list[int | None] = [None, None]
        errors = [EMPTY] if _lacks_text(duel) else []
        for place, response in enumerate(responses):
            reading = self._parse(before_cut(response.text) if response.cut else response.text)
            if response.error is not None:
                errors.append(response.error)
            elif reading.value is None:
                errors.append(f"a reply has no verdict ({reading.fault})")
            else:
                verdict = int(reading.value)
                verdicts[place] = verdict if place == 0 else _SWAPPED[verdict]
        who = f"{duel.a.system!r} against {duel.b.system!r} in {duel.dimension.key}"
        return PairRow(
            id=duel.product.id,
            a=duel.a.system,
            b=duel.b.system,
            dimension=duel.dimension.key,
            verdict_ab=verdicts[0],
            verdict_ba=verdicts[1],
            signature=self.signature,
            error=f"{duel.product.where}: {who}: {'; '.join(errors)}" if errors else None,
            input_digest=material_digest(duel.product, duel.a, duel.b),
        )

    def _bad(self, record: BadRecord) -> PairRow:
        return PairRow(
            id=record.id, a=record.system, b=None, dimension=None, verdict_ab=None,
            verdict_ba=None, signature=self.signature, error=record.error,
        )  # fmt: skip


def _lacks_text(duel: Duel) -> bool:
    """Whether one of the summaries is empty."""
    return not (duel.a.text.strip() and duel.b.text.strip())


def _mark(row: PairRow, name: str = "") -> Mark:
    """What tells a row from another; its settings are a part of that."""
    content = (row.id, row.a, row.b, row.dimension, row.signature, row.input_digest)
    return Mark(name, content, row.signature)


def every_pair(product: Product) -> list[tuple[str, str]]:
    """Every two systems of a product, each pair once, in source order."""
    return list(combinations([summary.system for summary in product.summaries], 2))


def neighbours(
    items: Iterable[Product | BadRecord],
) -> Callable[[Product], Sequence[tuple[str, str]]]:
    """The challenge set: systems next to each other when ordered by their mean human rating.

    Args:
        items: the whole input, whose summaries have ratings under ``human``.

    Raises:
        InputError: fewer than two systems are rated.

    Source: Shen et al. 2023, section 4: the order is over all dimensions together.
    """
    ratings: dict[str, dict[str, list[float]]] = {}
    for item in items:
        if isinstance(item, Product):
            for summary in item.summaries:
                _collect(ratings.setdefault(summary.system, {}), summary.extra.get("human"))
    means = {
        system: float(np.mean([np.mean(values) for values in dimensions.values()]))
        for system, dimensions in ratings.items()
        if dimensions
    }
    if len(means) < 2:
        raise InputError(
            '--pairs neighbours needs human ratings ("human") of two systems at least; '
            "give --pairs all, or a file of pairs"
        )
    systems = list(means)
    chosen = [
        (systems[first], systems[second])
        for first, second in neighbour_pairs(list(means.values())).tolist()
    ]
    return lambda _: chosen


class ListedPairs:
    """The pairs of a file, by product.

    Args:
        general: for all products.
        special: further ones, by the id of a product.
    """

    def __init__(
        self,
        general: Sequence[tuple[str, str]],
        special: Mapping[str, Sequence[tuple[str, str]]],
    ) -> None:
        self._general = general
        self._special = special

    @property
    def systems(self) -> tuple[str, ...]:
        """Every system that is named, in order of first appearance."""
        every = [self._general, *self._special.values()]
        return tuple(dict.fromkeys(name for pairs in every for pair in pairs for name in pair))

    @property
    def products(self) -> set[str]:
        """The ids of the products that have pairs of their own."""
        return set(self._special)

    def __call__(self, product: Product) -> list[tuple[str, str]]:
        """The pairs of a product, each once: both orders of one are shown in any case."""
        found: dict[frozenset[str], tuple[str, str]] = {}
        for pair in (*self._general, *self._special.get(product.id, [])):
            found.setdefault(frozenset(pair), pair)
        return list(found.values())


def read_pairs(path: Path) -> ListedPairs:
    """Pairs of a JSON Lines file, ``{"a", "b"}`` for all products or with ``"id"`` for one.

    Raises:
        InputError: the file cannot be read, or a line is no pair.
    """
    general: list[tuple[str, str]] = []
    special: dict[str, list[tuple[str, str]]] = {}
    for position, row in json_lines(path):
        pair, item = _pair(row, position.source)
        (general if item is None else special.setdefault(item, [])).append(pair)
    return ListedPairs(general, special)


def _pair(row: object, where: str) -> tuple[tuple[str, str], str | None]:
    if isinstance(row, dict):
        a, b, item = row.get("a"), row.get("b"), row.get("id")
        if isinstance(a, str) and isinstance(b, str) and a != b:
            return (a, b), None if item is None else str(item)
    raise InputError(f'{where}: is not a pair of systems; write {{"a": "...", "b": "..."}}')


def _collect(found: dict[str, list[float]], human: object) -> None:
    if not isinstance(human, dict):
        return
    for dimension, values in human.items():
        each = values.values() if isinstance(values, dict) else values
        each = each if isinstance(values, list | dict) else [values]
        numbers = [float(v) for v in each if number(v)]
        if numbers:
            found.setdefault(str(dimension), []).append(sum(numbers) / len(numbers))
