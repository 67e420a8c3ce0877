"""Rows of several commands → what a report shows: systems, products, reviews, sentences, cells.

Rows are taken as JSON objects and read tolerantly: a figure that a row lacks is not shown, and one
that it has is. Every text is made inert on its way in, so that nothing further on has to.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.records import Product, input_digest
from prevalence.report.earlier import EarlierRows, figures_of, object_at, shown
from prevalence.report.names import metric_key, quantity_note
from prevalence.report.parts import (
    CONTRADICTS,
    NOT_ASKED,
    REFERENCES,
    SILENT,
    SUPPORTS,
    ReportLeftOut,
    ReportProduct,
    ReportReview,
    ReportSentence,
    ReportSummary,
    SystemLine,
)
from prevalence.row_values import check, each, listing, maybe, natural, number, of
from prevalence.scored import PROFILE_FIGURES, LeftOut, Profile, ScoredSummary, named_reviews
from prevalence.scoring.conditions import as_rating
from prevalence.scoring.systems import SystemTable
from prevalence.signature import signature_parts
from prevalence.stats.resampling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    DEFAULT_TRIALS,
    paired_randomization,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prevalence.scoring.systems import Standing

__all__ = ["Contents", "unseen_figures"]

DOUBT = 1.5
"""A cell is doubtful when its odds are within this factor of those of the threshold."""

_REPLIES = ("asked", "unparsable", "several", "out_of_range", "failed", "cut")
"""What a judge's rows say of its replies."""


class Contents:
    """Collects rows, and gives what the report shows.

    Args:
        doubt: factor between the odds of a probability and of the threshold up to which a cell is
            doubtful, at least 1.
        resamples: of the intervals and the test; None for the default of each.
        seed: of the resampling.

    Attributes:
        products: in order of first appearance.
        calibrations: results of ``prevalence calibrate``.
        correlations: results of ``prevalence meta correlate``.
        duels: pair rows of ``prevalence judge``.
        extracts: summaries that ``prevalence summarize`` made, with the questions they took.
        signatures: of all rows, in order of first appearance.
        of_first: by file, its systems that a later file scores too, under another name.
        failures: errors of rows without a system, each after the record's id if that is known.
        work: counts that only the run itself knows, by what they count.
        unmatched: products whose records were given and are not those that were scored.
        replies: of judges, by what became of them.
        doubtful: cells near the threshold.
        cells: cells that were asked.
    """

    def __init__(
        self, *, doubt: float = DOUBT, resamples: int | None = None, seed: int = DEFAULT_SEED
    ) -> None:
        self.products: list[ReportProduct] = []
        self.calibrations: list[dict[str, Any]] = []
        self.correlations: list[dict[str, Any]] = []
        self.duels: list[dict[str, Any]] = []
        self.extracts: list[dict[str, Any]] = []
        self.signatures: list[str] = []
        self.of_first: dict[str, list[str]] = {}
        self.failures: list[str] = []
        self.work: dict[str, int] = {}
        self.unmatched = 0
        self.replies: Counter[str] = Counter()
        self.doubtful = 0
        self.cells = 0
        self.table = SystemTable()
        self._doubt = math.log(max(doubt, 1.0))
        self._resamples, self._seed = resamples, seed
        self._by_id: dict[str, list[ReportProduct]] = {}
        self._places: dict[tuple[str, str, frozenset[str]], int] = {}
        self._values: dict[str, dict[str, list[float]]] = {}
        self._earlier = EarlierRows()
        self._renamed: set[tuple[str, str]] = set()
        self._systems: tuple[SystemLine, ...] | None = None

    def add_all(self, rows: Iterable[Mapping[str, Any]], *, source: str, where: str = "") -> int:
        """Take all rows of a file and return how many; those of the first file are never held.

        Args:
            rows: their JSON objects.
            source: the file. A system of which an earlier file scored one of the same summaries
                with another outcome goes by another name in all rows.
            where: what errors begin with.

        Raises:
            InputError: one is none that a report can show, or the rows are about other products
                than those of an earlier file, under the same made-up ids.
        """
        count = 0
        if self._earlier:
            rows = list(rows)
            try:
                self._earlier.refuse_other_products(rows, source)
            except InputError as error:
                raise InputError(f"{where}{error}") from None
            for system, first in self._earlier.rescored(rows, source).items():
                self._renamed.add((source, system))
                self.of_first.setdefault(first, []).append(system)
        for row in rows:
            self.add(row, source=source, where=where)
            count += 1
        return count

    def add(self, row: Mapping[str, Any], *, source: str = "", where: str = "") -> None:
        """Take a row of any of the commands; one that says the same again counts once.

        Args:
            row: its JSON object.
            source: file it comes from, see :meth:`add_all`.
            where: likewise.

        Raises:
            InputError: it is none that a report can show.
        """
        self._systems = None
        try:
            self._add(row, source)
        except InputError as error:
            raise InputError(f"{where}{error}") from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"{where}a row is damaged ({type(error).__name__}: {error})"
            ) from error

    def _add(self, row: Mapping[str, Any], source: str) -> None:
        clean = _clean(row)
        if "prevalence" in row or "metrics" in row:
            scored = _scored(row) if "prevalence" in row else None
            system = self._shown_system(clean, source)
            if self._earlier.take(row, system=system, source=source):
                self._add_summary(clean, scored, system)
        elif "verdict_ab" in row:
            if clean.get("a") is None or clean.get("b") is None:
                self._add_failure(clean)
            else:
                self.duels.append(clean)
        elif "scorer" in row and _is_calibration(clean):
            self.calibrations.append(clean)
        elif row.get("analysis") == "correlate" and _is_correlations(clean):
            self.correlations.append(clean)
        elif found := _extracts(clean):
            self.extracts += found
        else:
            raise InputError(
                "neither a row of prevalence score, judge or baselines nor a result of "
                "calibrate or meta correlate"
            )

    def attach(self, products: Iterable[Product]) -> None:
        """Add names and reviews from the records that were scored, matched by their digests."""
        waiting: dict[str, list[ReportProduct]] = {}
        for product in self.products:
            for digest in product.digests:
                waiting.setdefault(digest, []).append(product)
        known = {product.id for product in self.products if product.digests}
        for record in products:
            found = [product for d in _digests(record) for product in waiting.get(d, ())]
            own = shown(record.id)
            self.unmatched += not found and own in known
            reviews = tuple(
                ReportReview(shown(r.text), None if r.id is None else shown(r.id),
                             _number(as_rating(r.extra.get("rating"))))
                for r in record.reviews
            )  # fmt: skip
            for product in found:
                # Equal records of several ids differ in what the digest leaves out.
                if product.id == own or not product.reviews:
                    product.name = None if record.name is None else shown(record.name)
                    product.reviews = reviews

    @property
    def repeats(self) -> int:
        """Rows that say the same of the same input as another one, and were not counted."""
        return self._earlier.repeats

    @property
    def systems(self) -> Sequence[SystemLine]:
        """The systems, the best by prevalence first, those without any last.

        Resampling takes seconds, and every page of a folder and every plot asks for the systems:
        they are computed once, and anew only after another row.
        """
        if self._systems is None:
            self._systems = self._system_lines()
        return self._systems

    @property
    def worst_first(self) -> list[ReportProduct]:
        """Products with an error first, then those with the most faulty sentences."""
        return sorted(self.products, key=lambda product: (not product.failed, -product.faults))

    @property
    def defined_correlations(self) -> list[dict[str, Any]]:
        """The correlations that have a value, of all results in :attr:`correlations`."""
        return [
            cell
            for result in self.correlations
            for cell in result.get("rows") or ()
            if cell.get("type", "correlation") == "correlation" and cell.get("value") is not None
        ]

    @property
    def figures(self) -> list[str]:
        """Names of the figures beside prevalence that any system has."""
        return list(dict.fromkeys(name for line in self.systems for name in line.means))

    def _system_lines(self) -> tuple[SystemLine, ...]:
        found = self.table.statistics(
            resamples=self._resamples or DEFAULT_RESAMPLES, seed=self._seed
        )
        statistics = {line.system: line for line in found}
        places = self._standings()

        def order(name: str) -> float:
            return statistics[name].order if name in statistics else math.inf

        return tuple(
            SystemLine(
                name,
                statistics.get(name),
                places.get(name),
                self._p_value(name, places),
                self._references(name)
                | {figure: math.fsum(v) / len(v) for figure, v in self._values[name].items()}
                | (dict(statistics[name].profile) if name in statistics else {}),
            )
            for name in sorted(self._values, key=order)
        )

    def _standings(self) -> dict[str, Standing]:
        """By system, the best first; empty without a second system."""
        from prevalence.scoring.systems import standings

        resamples = self._resamples or DEFAULT_RESAMPLES
        found = standings(self.table, resamples=resamples, seed=self._seed)
        return {entry.system: entry for entry in found} if len(found) > 1 else {}

    def _p_value(self, name: str, places: Mapping[str, Standing]) -> float | None:
        best = next(iter(places), name)
        if name not in places or name == best:
            return None
        scores = (self.table.product_scores(system) for system in (best, name))
        trials = self._resamples or DEFAULT_TRIALS
        return paired_randomization(*scores, resamples=trials, seed=self._seed).p_value

    def _references(self, name: str) -> dict[str, float]:
        """What the systems that bound a score reach on the products of this system."""
        if name not in self.table.systems:
            return {}
        own = self.table.product_scores(name).counts > 0
        found = {}
        for figure, system in REFERENCES.items():
            if system not in self.table.systems or name in REFERENCES.values():
                continue
            scores = self.table.product_scores(system)
            mean = scores.only(own).mean
            if not math.isnan(mean):
                found[figure] = mean
        return found

    def _shown_system(self, row: Mapping[str, Any], source: str) -> str:
        """The name of a row's system here: the same summary scored in another file has another."""
        system = str(row.get("system"))
        return f"{system} ({source})" if (source, system) in self._renamed else system

    def _add_summary(self, row: dict[str, Any], scored: ScoredSummary | None, system: str) -> None:
        if row.get("signature") and row["signature"] not in self.signatures:
            self.signatures.append(row["signature"])
        if row.get("system") is None:
            self._add_failure(row)
            return
        for account in (row.get("judge") or {}).values():
            if isinstance(account, dict):
                self.replies.update({f"replies {n}": int(account.get(n, 0)) for n in _REPLIES})
        product = self._place(row, system)
        if scored is not None:
            # By its own id: equal ids are one product in intervals and tests.
            self.table.add(replace(scored, system=system))
        old = product.summaries.get(system) or ReportSummary(system)
        new = self._summary(row, system, scored is not None)
        product.summaries[system] = _merged(old, new)
        if row.get("input_digest") and scored is not None:
            product.digests.add(row["input_digest"])
        gathered = self._values.setdefault(system, {})
        for name, value in new.values.items():
            # The mean of corrected scores is not the corrected mean, which needs the error rates.
            if name not in ("prevalence", "corrected"):
                gathered.setdefault(name, []).append(value)

    def _add_failure(self, row: Mapping[str, Any]) -> None:
        error = row.get("error") or "a row without a system"
        self.failures.append(error if row.get("id") is None else f"{row['id']}: {error}")

    def _place(self, row: Mapping[str, Any], system: str) -> ReportProduct:
        """The product that shows a row of a system, which goes by this name here.

        Another score of the same summary in the same file is shown as that of another product.
        """
        name, figures = str(row.get("id")), figures_of(row)
        same, none = self._by_id.setdefault(name, []), ReportSummary(system)
        # Summaries only gain names: a product without room for these figures stays without.
        group = (name, system, figures)
        place = self._places.get(group, 0)
        while place < len(same) and same[place].summaries.get(system, none).names & figures:
            place += 1
        self._places[group] = place
        if place == len(same):
            same.append(ReportProduct(f"{name} ({place + 1})" if place else name))
            self.products.append(same[-1])
        return same[place]

    def _summary(self, row: Mapping[str, Any], system: str, scored: bool) -> ReportSummary:
        notes = tuple(str(row[key]) for key in ("error", "warning") if row.get(key))
        if not scored:
            return ReportSummary(
                system,
                figures_of(row),
                values=_metrics(row) | _human_means(row),
                samples=_samples(object_at(row, "samples")),
                notes=notes,
                failed=bool(row.get("error")),
            )
        profile = object_at(row, "profile")
        names = ("prevalence", "corrected", "soft_prevalence", "floor", "ceiling", "ceiling_share")
        left_out = map(LeftOut.from_json, profile.get("left_out") or ())
        ids = row.get("review_ids") or ()
        sentences = row.get("sentences") or ()
        return ReportSummary(
            system,
            figures_of(row),
            sentences=tuple(self._sentence(s, row) for s in sentences),
            n_reviews=int(row.get("n_reviews") or 0),
            values=_numbers({name: row.get(name) for name in names}) | _numbers(profile),
            prefix_curve=tuple(map(float, row.get("prefix_curve") or ())),
            left_out=tuple(
                ReportLeftOut(
                    one.text, one.support, one.asked, named_reviews(ids, one.supporting_reviews)
                )
                for one in sorted(left_out, key=lambda one: -one.support)
            ),
            notes=notes,
            failed=bool(row.get("error")),
            threshold=_number(_threshold(str(row.get("signature") or ""))),
        )

    def _sentence(self, item: Mapping[str, Any], row: Mapping[str, Any]) -> ReportSentence:
        probabilities = tuple(item.get("entailment") or ())
        against = item.get("contradicting_reviews")
        cells = self._cells(item, probabilities, row)
        redundant = item.get("redundant_with")
        masks = [
            *(["trivial: follows from having bought it"] if item.get("trivial") else []),
            *([f"repeats sentence {redundant}"] if redundant is not None else []),
        ]
        support, quantity = item.get("support"), item.get("quantity")
        kinds = {
            "unsupported": not masks and support == 0,
            "contradicted": bool(against),
            "wrong-quantity": quantity is not None and quantity.get("agrees") is False,
            "trivial": bool(item.get("trivial")),
            "redundant": redundant is not None,
            "doubtful": any(cell.isupper() for cell in cells),
        }
        return ReportSentence(
            text=str(item.get("text", "")),
            support=support,
            against=None if against is None else len(against),
            mask=", ".join(masks) or None,
            quantity=quantity_note(quantity, int(row.get("n_reviews") or 0)) if quantity else None,
            cells=cells,
            entailment=probabilities,
            contradiction=tuple(item.get("contradiction") or ()),
            evidence=tuple(item.get("evidence") or ()),
            kinds=tuple(kind for kind, holds in kinds.items() if holds),
        )

    def _cells(
        self, item: Mapping[str, Any], probabilities: tuple[float | None, ...],
        row: Mapping[str, Any],
    ) -> str:  # fmt: skip
        supporting = item.get("supporting_reviews")
        left = row.get("restriction") or {}
        count = len(probabilities) or int(left.get("of_reviews") or row.get("n_reviews") or 0)
        if supporting is None:
            return NOT_ASKED * count
        against = frozenset(item.get("contradicting_reviews") or ())
        yes = frozenset(supporting)
        border = _logit(_threshold(str(row.get("signature") or "")))
        cells = []
        for place in range(count):
            p = probabilities[place] if place < len(probabilities) else None
            state = SUPPORTS if place in yes else CONTRADICTS if place in against else SILENT
            if p is None and probabilities:
                state = NOT_ASKED
            near = p is not None and abs(_logit(p) - border) < self._doubt
            self.cells += state != NOT_ASKED
            self.doubtful += near
            cells.append(state.upper() if near else state)
        return "".join(cells)


def _merged(old: ReportSummary, new: ReportSummary) -> ReportSummary:
    """A summary with the values of one more row about it."""
    first = new if new.sentences else old
    return ReportSummary(
        first.system,
        old.names | new.names,
        sentences=first.sentences,
        n_reviews=first.n_reviews or new.n_reviews,
        values={**first.values, **old.values, **new.values},
        samples={**old.samples, **new.samples},
        prefix_curve=first.prefix_curve,
        left_out=first.left_out,
        notes=(*old.notes, *new.notes),
        failed=old.failed or new.failed,
        threshold=first.threshold,
    )


def _extracts(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The summaries of an input record that were made of its reviews' sentences."""
    summaries = row.get("summaries")
    found = []
    for system, summary in summaries.items() if isinstance(summaries, dict) else ():
        extract = summary.get("extract") if isinstance(summary, dict) else None
        if isinstance(extract, dict) and {"reviews", "avoided"} <= {*object_at(extract, "calls")}:
            found.append({"system": system, **extract})
    return found


_SHARES = ("specificity", "recall", "balanced_accuracy", "auc")
_UNSEEN_VALUES = dict.fromkeys(_SHARES, maybe(number)) | {
    "n": natural, "intervals": maybe(each(maybe(listing(maybe(number), size=2)))),
}  # fmt: skip
_AT_PRESENT = {"present": maybe(each(maybe(number)))}


def _is_calibration(row: Mapping[str, Any]) -> bool:
    """Whether it is a result of a calibration.

    Raises:
        InputError: it is one, with a figure that is none.
    """
    crossed = object_at(row, "dev").get("cross_validation") or {}
    parts = (row.get("dev"), row.get("test") or {}, crossed, crossed and crossed.get("pooled"))
    if not all(isinstance(part, dict) for part in parts):
        return False
    check(row, {"threshold": number}, "a result of calibrate")
    check(unseen_figures(row), _UNSEEN_VALUES, "a result of calibrate")
    check(row.get("test") or row["dev"], _AT_PRESENT, "a result of calibrate")
    return True


def unseen_figures(result: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of a calibration on pairs that no choice has seen, or else those of the first set."""
    dev: dict[str, Any] = result["dev"]
    crossed = dev.get("cross_validation") or {}
    return result.get("test") or crossed.get("pooled") or dev


def _is_correlations(row: Mapping[str, Any]) -> bool:
    """Whether each entry with a value says of what; comparisons stand beside them without one.

    Raises:
        InputError: a value is no number, or what it is of is no text.
    """
    values = dict.fromkeys(("row", "dimension", "level", "kind"), of(str)) | {"value": number}
    with_value = [one for one in row.get("rows") or () if one.get("value") is not None]
    for one in with_value:
        check(one, values, "a result of meta correlate")
    return all({*values} <= {*one} for one in with_value)


def _digests(record: Product) -> Iterator[str]:
    for summary in record.summaries:
        yield input_digest(record, summary)
        yield input_digest(record, summary, fields=True)


def _clean(value: Any) -> Any:
    """A JSON value in which no text drives anything; lengths of texts stay as they are."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {shown(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value


def _metrics(row: Mapping[str, Any]) -> dict[str, float]:
    return {metric_key(name): n for name, n in _numbers(object_at(row, "metrics")).items()}


def _human_means(row: Mapping[str, Any]) -> dict[str, float]:
    """Mean ratings by people, under names that no metric has."""
    found = _samples(object_at(row, "human"))
    return {f"people: {name}": math.fsum(v) / len(v) for name, v in found.items()}


def _samples(values: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Numbers by name, of one, a list or an object each; replies without a score are left out."""
    found = {
        name: tuple(n for n in map(_number, _several(value)) if n is not None)
        for name, value in values.items()
    }
    return {name: numbers for name, numbers in found.items() if numbers}


def _several(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else [value]


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    found = {name: _number(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def _number(value: object) -> float | None:
    return float(value) if number(value) else None  # type: ignore[arg-type]


def _threshold(signature: str) -> float:
    return float(signature_parts(signature).get("thr", "nan"))


def _logit(p: float) -> float:
    return math.inf if p >= 1 else -math.inf if p <= 0 else math.log(p / (1 - p))


def _scored(row: Mapping[str, Any]) -> ScoredSummary:
    """A prevalence row; its profile may lack figures."""
    scored = ScoredSummary.from_json({key: row[key] for key in row if key != "profile"})
    told = object_at(row, "profile")
    if not told:
        return scored
    figures = _numbers({name: told.get(name) for name in (*PROFILE_FIGURES, "review_coverage")})
    groups = {
        name: found
        for name, group in object_at(told, "groups").items()
        if isinstance(group, dict) and {"reviews", "coverage"} <= {*(found := _numbers(group))}
    }
    return replace(scored, profile=Profile(**figures, groups=groups))  # type: ignore[arg-type]
