"""Tables on a terminal. All text from the input is data: markup and control codes in it are inert."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from prevalence.api import StatementSupport
from prevalence.records import Review, ScoredSentence, ScoredSummary
from prevalence.report.systems import Comparison, SystemStatistics
from prevalence.statistics import Interval

__all__ = ["comparison_table", "explanation", "plain", "support_view", "system_table"]

_SNIPPET = 100


def plain(text: str) -> Text:
    """Text that can neither style nor drive the terminal: control characters are shown as ␦."""
    return Text(
        "".join("␦" if unicodedata.category(c) in {"Cc", "Cf", "Cs"} else c for c in text)
    )


def system_table(rows: Sequence[SystemStatistics]) -> Table:
    """The systems of a run, best first, with intervals and shares."""
    soft = any(row.soft_prevalence is not None for row in rows)
    failed = any(row.failed for row in rows)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("system", overflow="fold")
    headers = ["prevalence", "95% interval", *(["soft"] if soft else []), "summaries",
               *(["failed"] if failed else []), "sentences", "characters", "trivial",
               "redundant", "unsupported"]  # fmt: skip
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)
    for row in sorted(rows, key=_best_first):
        cells = [
            _number(row.prevalence, 3),
            _interval(row.interval),
            *([_number(row.soft_prevalence, 3)] if soft else []),
            str(row.summaries),
            *([str(row.failed)] if failed else []),
            _number(row.sentences, 1),
            _number(row.characters, 0),
            _share(row.trivial),
            _share(row.redundant),
            _share(row.unsupported),
        ]
        table.add_row(plain(row.system), *cells)
    return table


def comparison_table(comparisons: Sequence[Comparison], test: str) -> Table:
    """Paired tests between systems."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("first", "second"):
        table.add_column(header, overflow="fold")
    for header in ("second − first", f"p (paired {test})", "products"):
        table.add_column(header, justify="right", no_wrap=True)
    for entry in comparisons:
        table.add_row(
            plain(entry.first),
            plain(entry.second),
            _number(entry.result.difference, 3, sign=True),
            _number(entry.result.p_value, 4),
            str(entry.result.products),
        )
    return table


def explanation(row: ScoredSummary) -> RenderableType:
    """A summary sentence by sentence: who supports it, who contradicts it, what masks it."""
    head = Text.assemble(plain(str(row.id)), " · ", (plain(str(row.system)).plain, "bold"))
    if row.error is not None:
        return Group(head, Text.assemble("  ", ("error: ", "red"), plain(row.error)))
    head.append(f" · prevalence {_number(row.prevalence, 3)} · {row.n_reviews} reviews")
    if row.warning:
        head.append(f" · {row.warning}", "yellow")
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for place, sentence in enumerate(row):
        table.add_row(str(place), _verdict(sentence, row.n_reviews), plain(sentence.text))
    return Group(head, table, Text(""))


def support_view(
    answers: Sequence[StatementSupport], reviews: Sequence[Review], *, show: int
) -> RenderableType:
    """Each statement with its count, and the reviews that support and contradict it."""
    parts: list[RenderableType] = []
    for answer in answers:
        share = f"{answer.support} of {answer.n_reviews} reviews ({answer.share:.0%})"
        parts.append(Text.assemble((share, "bold"), "  ", plain(answer.statement)))
        parts.append(_evidence("supports", "green", answer.supporting_reviews, answer, reviews, show))
        against = answer.contradicting_reviews or ()
        parts.append(_evidence("contradicts", "red", against, answer, reviews, show))
    return Group(*parts)


def _evidence(
    verb: str,
    style: str,
    places: Sequence[int],
    answer: StatementSupport,
    reviews: Sequence[Review],
    show: int,
) -> RenderableType:
    ordered = sorted(places, key=lambda place: -answer.entailment[place])
    if verb == "contradicts":
        ordered.reverse()
    table = Table(box=None, pad_edge=False, show_header=False)
    for place in ordered[:show]:
        text = " ".join(reviews[place].text.split())
        snippet = text if len(text) <= _SNIPPET else text[: _SNIPPET - 1] + "…"
        name = plain(reviews[place].id or f"review {place}")
        table.add_row("  ", Text(verb, style), name, f"{answer.entailment[place]:.3f}",
                      plain(snippet))  # fmt: skip
    if len(ordered) > show:
        table.add_row("  ", "", Text(f"and {len(ordered) - show} more"), "", "")
    return table


def _verdict(sentence: ScoredSentence, n_reviews: int) -> Text:
    marks = []
    if sentence.trivial:
        marks.append("trivial")
    if sentence.redundant_with is not None:
        marks.append(f"repeats {sentence.redundant_with}")
    count = "" if sentence.support is None else f"{sentence.support}/{n_reviews}"
    if marks:
        return Text(" ".join([", ".join(marks), *([f"({count})"] if count else [])]), "dim")
    against = len(sentence.contradicting_reviews or ())
    note = f"{count} support" + (f", {against} against" if against else "")
    return Text(note, "red" if sentence.support == 0 else "green")


def _best_first(row: SystemStatistics) -> float:
    return math.inf if math.isnan(row.prevalence) else -row.prevalence


def _interval(interval: Interval | None) -> str:
    return "–" if interval is None else f"{interval.low:.3f}–{interval.high:.3f}"


def _share(value: float) -> str:
    return f"{value:.0%}"


def _number(value: float | None, digits: int, *, sign: bool = False) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}"


def make_console(*, stderr: bool = False) -> Console:
    """A console that writes no colour codes to files and never wraps their tables."""
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=200)
    return console
