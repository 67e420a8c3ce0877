"""What rows hold → one HTML file that needs no network, no server and no script to be read."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from prevalence.report.calibration import applied_figures
from prevalence.report.contents import unseen_figures
from prevalence.report.names import figure_name
from prevalence.report.parts import NOT_ASKED
from prevalence.report.standings import behind_figures
from prevalence.report.text import decimals_of, one_line
from prevalence.signature import signature_parts
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jinja2 import Environment

    from prevalence.report.contents import Contents
    from prevalence.report.parts import ReportProduct, ReportSentence, ReportSummary, SystemLine

    _ByName = Mapping[str, int]

__all__ = [
    "KINDS",
    "MARKER",
    "Page",
    "PageLink",
    "Plot",
    "ProductLink",
    "anchor",
    "render",
]

KINDS = (
    "unsupported", "contradicted", "wrong-quantity", "trivial", "redundant", "doubtful", "failed",
)  # fmt: skip
MARKER = "prevalence report --pages: "
"""Before the report's mark and the file's name in the head of a page of a folder, by which a later
run knows it."""
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_LONGEST_ANCHOR = 80
_BAR = 200


class Plot(NamedTuple):
    """A picture inside the page.

    Attributes:
        about: what it shows, for those who do not see it too.
        image: its SVG.
    """

    about: str
    image: bytes

    @property
    def source(self) -> str:
        """The picture as an address that nothing is requested from."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.image).decode()}"


class ProductLink(NamedTuple):
    """Where a product stands in a folder of pages."""

    name: str
    address: str
    faults: int


class PageLink(NamedTuple):
    """A page of a folder of pages."""

    name: str
    file: str
    here: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page shows of the contents.

    Attributes:
        title: its heading.
        products: those that it details; None for all, the worst first.
        summary: whether it has the systems table and what stands with it.
        links: to the other pages.
        directory: of the products on them.
        plots: pictures.
        report: what tells the pages of one report from those of others; empty for a single page.
    """

    title: str = "Opinion prevalence"
    products: Sequence[ReportProduct] | None = None
    summary: bool = True
    links: Sequence[PageLink] = ()
    directory: Sequence[ProductLink] = ()
    plots: Sequence[Plot] = ()
    report: str = ""


def render(contents: Contents, page: Page | None = None) -> str:
    """The page as HTML.

    Args:
        contents: all rows, from which systems are counted in any case.
        page: what to show of them.
    """
    page = page or Page()
    products = contents.worst_first if page.products is None else list(page.products)
    lines = contents.systems
    order = [line.name for line in lines]
    style, script = _asset("report.css"), _asset("report.js")
    decimals = _decimals(contents, lines)
    summary = _summary(contents, lines, decimals) if page.summary else _NO_SUMMARY
    return _environment().get_template("report.html").render(
        title=one_line(page.title),
        marker=f"{MARKER}{page.report} ",
        pages=page.links,
        directory=page.directory,
        plots=page.plots,
        counts=_counts(contents),
        systems=lines,
        with_scores=any(line.statistics for line in lines),
        corrections=_corrections(contents.signatures),
        left_away=_left_away(len(contents.products), len(products)) if not page.links else "",
        kinds=_kinds(products),
        products=_shown_products(contents, products, order, decimals),
        ratings=_ratings(products),
        found=_found(products),
        signatures=contents.signatures,
        footer="Made by prevalence. This file needs no network.",
        # These go in unescaped: two files of the package, and JSON that has no "<" left.
        style=style,
        script=script,
        data=_data(products, order),
        policy=(
            f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        **summary,
    )  # fmt: skip


_NO_SUMMARY: dict[str, Any] = {
    "facts": (), "columns": (), "further": (), "calibrations": (), "duels": (), "correlations": (),
    "failures": (), "top": "", "axis": None, "has_intervals": False,
    "has_pairs": False, "has_floor": False, "has_ceiling": False,
}  # fmt: skip


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("prevalence.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["places"] = _places
    return environment


@cache
def _asset(name: str) -> str:
    return files("prevalence.report").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


# ---- the top ---------------------------------------------------------------------------------


class _Column(NamedTuple):
    name: str
    cells: Mapping[str, str]
    title: str = ""


def _summary(contents: Contents, lines: Sequence[SystemLine], decimals: _ByName) -> dict[str, Any]:
    highest = [
        value
        for line in lines
        if line.statistics is not None
        for value in (
            line.statistics.prevalence,
            line.statistics.interval.high if line.statistics.interval else 0.0,
            line.means.get("ceiling", 0.0),
        )
        if not math.isnan(value)
    ]
    top = min(1.0, math.ceil(10 * max(highest, default=1.0)) / 10) or 1.0

    def axis(value: float) -> str:
        return f"{_BAR * min(max(value, 0.0), top) / top:.1f}" if not math.isnan(value) else "0"

    return {
        "top": f"{top:g}",
        "axis": axis,
        "columns": [column for column in _columns(lines) if any(column.cells.values())],
        "further": _further(contents, lines, decimals),
        "facts": _facts(contents),
        "calibrations": [
            _calibration(one, contents.table.signatures) for one in contents.calibrations
        ],
        "duels": _duels(contents.duels),
        "correlations": contents.defined_correlations,
        "failures": contents.failures,
        "has_intervals": any(line.statistics and line.statistics.interval for line in lines),
        "has_pairs": any(line.standing for line in lines),
        "has_floor": any("floor" in line.means for line in lines),
        "has_ceiling": any("ceiling" in line.means for line in lines),
    }  # fmt: skip


def _further(contents: Contents, lines: Sequence[SystemLine], decimals: _ByName) -> list[_Column]:
    """A column for each figure that has none in the systems table itself."""
    return [
        _Column(
            figure_name(name), {s.name: _places(s.means.get(name), decimals[name]) for s in lines}
        )
        for name in contents.figures
        if name not in _OWN
    ]


_OWN = ("soft_prevalence", "floor", "ceiling", "ceiling_share")
"""Figures that have a column in the systems table."""


def _columns(lines: Sequence[SystemLine]) -> list[_Column]:
    """Columns of the systems table; one without a cell is not shown."""

    def of(name: str, cell: Callable[[SystemLine], str], title: str = "") -> _Column:
        return _Column(name, {line.name: cell(line) for line in lines}, title)

    def known(name: str, cell: Callable[[Any], str], title: str = "") -> _Column:
        return of(
            name, lambda line: "" if line.statistics is None else cell(line.statistics), title
        )

    return [
        known("prevalence", lambda s: _places(s.prevalence)),
        known("95% interval", lambda s: (s.interval and
              f"{_places(s.interval.low)}–{_places(s.interval.high)}") or ""),
        of("group", lambda line: str(line.standing.group) if line.standing else "",
           "a new group begins where all above surely beat all below"),
        of("behind the best", _behind, "paired over products, with its 95% interval"),
        of("detectable", lambda line: _behind_figure(line, 2),
           "the least difference found 4 times in 5 with so many products"),
        of("p", _p_value, "of equal means, two-sided, by a paired randomization test"),
        of("floor", lambda line: _places(line.means.get("floor")), "mean of the system random"),
        of("ceiling", lambda line: _places(line.means.get("ceiling")),
           "what greedy construction reaches"),
        of(figure_name("ceiling_share"), lambda line: _share(line.means.get("ceiling_share"))),
        of(figure_name("soft_prevalence"), lambda line: _places(line.means.get("soft_prevalence"))),
        known("summaries", lambda s: f"{s.summaries:,}"),
        known("failed", lambda s: f"{s.failed:,}" if s.failed else ""),
        known("sentences", lambda s: _places(s.sentences, 1), "mean sentences a summary"),
        known("trivial", lambda s: _share(s.trivial), "share of sentences"),
        known("redundant", lambda s: _share(s.redundant), "share of sentences"),
        known("unsupported", lambda s: _share(s.unsupported), "share of sentences"),
        known("contradicted", lambda s: _share(s.contradicted),
              "share of the reviews asked about its sentences that contradict them"),
        known("self-contradicting", lambda s: _share(s.self_contradicting),
              "share of the sentences that an earlier one contradicts"),
        known("wrong quantities",
              lambda s: f"{s.wrong_quantities:,}/{s.quantities:,}" if s.quantities else "",
              "quantities of people that the reviews do not bear out, of those compared"),
    ]  # fmt: skip


def _behind(line: SystemLine) -> str:
    return f"{_behind_figure(line, 0)} {_behind_figure(line, 1)}".strip().removesuffix(" –")


def _behind_figure(line: SystemLine, place: int) -> str:
    """A figure of the console's standings."""
    if line.standing is None:
        return ""
    return behind_figures(line.standing.behind)[place].replace("-", "−")


def _p_value(line: SystemLine) -> str:
    p = math.nan if line.p is None else line.p
    return "" if math.isnan(p) else "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _corrections(signatures: Iterable[str]) -> list[list[str]]:
    """Sensitivity and specificity that scores are corrected for, as signatures have them."""
    told = dict.fromkeys(signature_parts(one).get("corr") for one in signatures)
    return [rates.split("/", 1) for rates in told if rates and "/" in rates]


class _Fact(NamedTuple):
    name: str
    value: str


def _facts(contents: Contents) -> list[_Fact]:
    counts = {
        "summaries scored": contents.table.scored,
        "failed": contents.table.failed,
        "records that could not be read": len(contents.failures),
        "nothing left to score": contents.table.nothing_left,
        "rows that repeat others (not counted)": contents.repeats,
        "answers of reviews": contents.cells,
        "doubtful answers": contents.doubtful,
        **{name.replace("_", " "): count for name, count in contents.replies.items()},
        **contents.work,
    }
    always = {"summaries scored", "failed", "doubtful answers"}
    has_scores = bool(contents.table.scored or contents.table.failed)
    return [
        _Fact(name, f"{count:,}")
        for name, count in counts.items()
        if count or (has_scores and name in always)
    ]


class _Calibration(NamedTuple):
    name: str
    note: str
    cells: Mapping[str, str]


def _calibration(result: Mapping[str, Any], signatures: Sequence[str]) -> _Calibration:
    """Error rates on unseen pairs, at the threshold of the rows where they are known."""
    found, note = applied_figures(result, unseen_figures(result), signatures)
    intervals = found.get("intervals") or {}

    def share(name: str, *, miss: bool = False) -> str:
        value = found.get(name)
        if value is None:
            return "–"
        ends = intervals.get(name)
        shown = _share(1 - value if miss else value)
        if not ends or None in ends:
            return shown
        low, high = (1 - ends[1], 1 - ends[0]) if miss else ends
        return f"{shown} [{_share(low)}–{_share(high)}]"

    return _Calibration(
        str(result["scorer"]),
        note,
        {
            "threshold": f"{found['threshold']:.4g}",
            "pairs": f"{found.get('n', 0):,}",
            "false supports": share("specificity", miss=True),
            "misses": share("recall", miss=True),
            "balanced accuracy": share("balanced_accuracy"),
            "AUC": share("auc"),
        },
    )


def _duels(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Wins, ties and losses by dimension and system, both orders counted."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        for verdict in (row.get("verdict_ab"), row.get("verdict_ba")):
            for number, name in enumerate(("a", "b"), start=1):
                tally = found.setdefault((str(row.get("dimension")), str(row.get(name))), [0, 0, 0])
                if verdict in (0, 1, 2):
                    tally[0 if verdict == number else 1 if verdict == 0 else 2] += 1
    ordered = sorted(found.items(), key=lambda entry: (entry[0][0], -entry[1][0]))
    return [
        {"dimension": dimension, "system": system, "wins": w, "ties": t, "losses": n}
        for (dimension, system), (w, t, n) in ordered
    ]


def _counts(contents: Contents) -> str:
    products, systems = len(contents.products), len(contents.systems)
    parts = [
        counted(products, "product") if products else "",
        counted(systems, "system") if systems else "",
        counted(len(contents.calibrations), "calibration") if contents.calibrations else "",
    ]
    return " · ".join(part for part in parts if part)


def _left_away(total: int, shown: int) -> str:
    if shown == total:
        return ""
    return (
        f"{shown:,} of {total:,} products are shown, those with the most faults; "
        "the systems table counts all."
    )


# ---- products --------------------------------------------------------------------------------


def _kinds(products: Sequence[ReportProduct]) -> list[dict[str, Any]]:
    counts = dict.fromkeys(KINDS, 0)
    for product in products:
        for summary in product.summaries.values():
            counts["failed"] += summary.failed
            for sentence in summary.sentences:
                for kind in sentence.kinds:
                    counts[kind] += 1
    return [{"name": kind, "count": f"{count:,}"} for kind, count in counts.items() if count]


def _ratings(products: Sequence[ReportProduct]) -> list[str]:
    """Ratings that any review has, as the filter offers them."""
    found = {review.rating for product in products for review in product.reviews}
    return [repr(rating).removesuffix(".0") for rating in sorted(r for r in found if r is not None)]


def _found(products: Sequence[ReportProduct]) -> str:
    """What the filters say before any is chosen."""
    summaries = (summary for product in products for summary in product.summaries.values())
    sentences = sum(len(summary.sentences) for summary in summaries)
    return f"{counted(sentences, 'sentence')}, {counted(len(products), 'product')}"


def _shown_products(
    contents: Contents, products: Sequence[ReportProduct], order: Sequence[str], decimals: _ByName
) -> list[dict[str, Any]]:
    rows = {id(product): place for place, product in enumerate(contents.products)}
    return [
        {
            "id": product.id,
            "name": product.name,
            "anchor": anchor(product.id),
            "row": rows[id(product)],
            "summaries": [
                _shown_summary(summary, anchor(product.id), decimals)
                for summary in _ordered(product, order)
            ],
        }
        for product in products
    ]


def _ordered(product: ReportProduct, order: Sequence[str]) -> list[ReportSummary]:
    return [product.summaries[name] for name in order if name in product.summaries]


def _shown_summary(summary: ReportSummary, product: str, decimals: _ByName) -> dict[str, Any]:
    return {
        "system": summary.system,
        "anchor": f"{product}/{_quoted(summary.system)}",
        "figures": _figures(summary, decimals),
        "notes": summary.notes,
        "failed": summary.failed,
        "sentences": summary.sentences,
        "n_reviews": summary.n_reviews,
        "left_out": summary.left_out,
    }


def _figures(summary: ReportSummary, decimals: _ByName) -> list[tuple[str, str]]:
    """Values as they stand beside a system's name; the share of the ceiling in place of it."""
    shown = dict(summary.values)
    share = shown.pop("ceiling_share", None)
    figures = [
        (figure_name(n), _places(value, decimals[n]) + _spread(summary.samples.get(n, ())))
        for n, value in shown.items()
    ]
    return (
        figures
        if share is None
        else [*figures[:1], (figure_name("ceiling_share"), _share(share)), *figures[1:]]
    )


def _spread(samples: Sequence[float]) -> str:
    """From the lowest to the highest of several scores behind a mean, where they differ."""
    low, high = min(samples, default=0), max(samples, default=0)
    return f" [{low:g}–{high:g}]" if low < high else ""


def anchor(product: str) -> str:
    """A product's id as an address within its page; it is none of the page's own ids.

    Args:
        product: its id.

    Returns:
        What stands after the ``#``.
    """
    quoted = _quoted(product)
    # Nothing else quotes a letter.
    return f"%{ord(quoted[0]):02X}{quoted[1:]}" if quoted in _own_ids() else quoted


@cache
def _own_ids() -> frozenset[str]:
    page = _asset("report.html") + _asset("report.js")
    return frozenset(re.findall(r'\bid(?:=|: )"([\w-]+)"', page))


def _quoted(name: str) -> str:
    """A name as part of an address; a very long one is cut and told apart by a digest."""
    quoted = quote(name, safe="")
    if len(quoted) <= _LONGEST_ANCHOR:
        return quoted
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{quoted[: _LONGEST_ANCHOR - 9].rpartition('%')[0] or quoted[:60]}~{digest}"


# ---- what the script reads -------------------------------------------------------------------


def _data(products: Sequence[ReportProduct], order: Sequence[str]) -> str:
    """Texts of reviews once, a letter a decision, two digits of base 64 a probability.

    One JSON value whose lines can be parsed one by one: the texts, then each product.
    """
    texts: dict[str, int] = {}
    packed = [
        {
            "r": [
                [texts.setdefault(review.text, len(texts)), review.id, review.rating]
                for review in product.reviews
            ],
            "s": [_packed(summary, product) for summary in _ordered(product, order)],
        }
        for product in products
    ]
    lines = ",\n".join(_json(product) for product in packed)
    data = f'{{"texts":\n{_json(list(texts))},\n"products":[\n{lines}\n]}}'
    return data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _packed(summary: ReportSummary, product: ReportProduct) -> dict[str, Any]:
    sentences = summary.sentences
    packed: dict[str, Any] = {
        "t": summary.threshold,
        "d": [sentence.cells for sentence in sentences],
        "p": [_probabilities(sentence.entailment) for sentence in sentences],
    }
    if any(sentence.contradiction for sentence in sentences):
        packed["q"] = [_probabilities(sentence.contradiction) for sentence in sentences]
    evidence = [entry for k, s in enumerate(sentences) for entry in _evidence(k, s, product)]
    return packed | ({"e": evidence} if evidence else {})


def _evidence(k: int, sentence: ReportSentence, product: ReportProduct) -> Iterable[list[Any]]:
    for passage in sentence.evidence:
        place = passage["review"]
        chances = [_rounded(passage.get(name)) for name in ("entailment", "contradiction")]
        entry = [k, place, passage["start"], passage["end"], *chances]
        if place < len(product.reviews):
            text = product.reviews[place].text
            entry[2:4] = [_utf16(text, entry[2]), _utf16(text, entry[3])]
            yield entry
        else:
            yield [*entry, passage.get("text", "")]


def _utf16(text: str, offset: int) -> int:
    """An offset in code points as one in the units that scripts count."""
    return len(text[:offset].encode("utf-16-le")) // 2


def _probabilities(values: Iterable[float | None]) -> str:
    return "".join(_NO_PROBABILITY if p is None else _two_digits(p) for p in values)


_NO_PROBABILITY = 2 * NOT_ASKED


def _two_digits(p: float) -> str:
    high, low = divmod(round(4095 * min(max(p, 0.0), 1.0)), 64)
    return _DIGITS[high] + _DIGITS[low]


def _rounded(p: float | None) -> float | None:
    return None if p is None else round(p, 2)


def _places(value: float | None, places: int = 3) -> str:
    if value is None or math.isnan(value):
        return "" if value is None else "–"
    return f"{value:,.{places}f}"


def _decimals(contents: Contents, lines: Sequence[SystemLine]) -> _ByName:
    """Decimals of each figure, the same wherever it stands; two for scores of judges."""
    summaries = [s for product in contents.products for s in product.summaries.values()]
    found: dict[str, list[float]] = {}
    for values in (*(s.values for s in summaries), *(line.means for line in lines)):
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    judged = {name for summary in summaries for name in summary.samples}
    return {name: 2 if name in judged else decimals_of(values) for name, values in found.items()}


def _share(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "" if value is None else "–"
    return f"{value:.0%}"
