"""Tables on a terminal. All text from the input is data: markup and control codes are inert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from prevalence.report.names import figure_name, quantity_note
from prevalence.report.text import one_line, shown_number
from prevalence.signature import with_parts
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prevalence.api import StatementSupport
    from prevalence.records import Review
    from prevalence.scored import Profile, ScoredSentence, ScoredSummary
    from prevalence.scoring.systems import SystemComparison, SystemStatistics
    from prevalence.stats.resampling import Interval

__all__ = [
    "Column",
    "comparison_table",
    "explanation",
    "make_console",
    "make_table",
    "plain",
    "print_signatures",
    "support_view",
    "system_columns",
    "system_table",
]

_SNIPPET = 150
_NAMED_REVIEWS = 12
_GAP = 2
_NAME_WIDTH = 24
_FILE_WIDTH = 200


class Column(NamedTuple):
    """A column of numbers: its headers, and how soon it goes when there is no room (0: never)."""

    header: str
    short: str
    leaves: int
    cells: list[str]


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command line, where a reader that has gone is no failure."""
        raise BrokenPipeError


def make_console() -> Console:
    """A console on standard output: no colour codes in files, and one width for all of them."""
    console = _Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = _Console(highlight=False, markup=False, emoji=False, width=_FILE_WIDTH)
    return console


def plain(text: str, style: str = "") -> Text:
    """Text that can neither style nor drive the terminal: control characters are shown as ␦."""
    return Text(one_line(text), style)


def print_signatures(
    console: Console, signatures: Sequence[str], resampling: Mapping[str, int]
) -> None:
    """Print what made the scores of a table, below it, with how its intervals were drawn."""
    if signatures:
        console.print()
    for signature in signatures:
        console.print(plain(with_parts(signature, resampling)), style="dim", soft_wrap=True)


def make_table(
    headers: Sequence[str | Text],
    rows: Iterable[Sequence[Any]] = (),
    *,
    title: str | None = None,
    left: Sequence[str] = (),
    whole: Sequence[str] | None = None,
) -> Table:
    """A table without lines: the first column holds names, the others numbers.

    Args:
        headers: of the columns.
        rows: a cell a column, each a string or :class:`rich.text.Text`.
        title: above the headers.
        left: further columns of words, by header.
        whole: columns that are never wrapped; those of numbers where none are named.
    """
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place, header in enumerate(headers):
        words = place == 0 or header in left
        table.add_column(
            header,
            justify="left" if words else "right",
            no_wrap=not words if whole is None else header in whole,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*row)
    return table


def system_table(rows: Sequence[SystemStatistics], *, width: int = _FILE_WIDTH) -> Table:
    """The systems of a run, best first, with intervals and shares.

    Args:
        rows: one entry a system.
        width: characters in a line; where it is short, headers are shortened and the least
            telling columns left out, so that no number is ever cut. A line says which.
    """
    ordered = sorted(rows, key=lambda row: row.order)
    names = [plain(row.system) for row in ordered]
    room = min(max([6, *(name.cell_len for name in names)]), _NAME_WIDTH)
    every = system_columns(ordered)
    headers, columns = _fitting(every, width - room)
    table = make_table(
        ("system", *headers),
        zip(names, *(column.cells for column in columns), strict=True),
    )
    if len(columns) < len(every):
        left_out = [column.header for column in every if column not in columns]
        table.caption = Text(f"no room for: {', '.join(left_out)}", "dim")
        table.caption_justify = "left"
    return table


def comparison_table(comparisons: Sequence[SystemComparison]) -> RenderableType:
    """Paired tests between systems, with a line that says what the numbers are."""
    tests = list(comparisons[0].p_values) if comparisons else []
    rows = (
        (
            plain(entry.first),
            plain(entry.second),
            shown_number(entry.difference, "+.3f"),
            *(shown_number(value, ".4f") for value in entry.p_values.values()),
            str(entry.products),
        )
        for entry in comparisons
    )
    headers = ("first", "second", "difference", *(f"p {test}" for test in tests), "products")
    table = make_table(headers, rows, left=("second",), whole=())
    table.columns[0].min_width = table.columns[1].min_width = 6
    note = "second − first, paired over products; p is two-sided, of one comparison alone"
    return Group(table, Text(note, "dim"))


def explanation(row: ScoredSummary) -> RenderableType:
    """A summary sentence by sentence: who supports it, who contradicts it, what masks it."""
    head = Text(" · ").join(
        plain(name, style) for name, style in ((row.id, ""), (row.system, "bold")) if name
    ) or Text("(no id)")
    if row.error is not None:
        return Group(head, Text.assemble("  ", ("error: ", "red"), plain(row.error)), Text(""))
    head.append(f" · prevalence {shown_number(row.prevalence)}")
    if row.corrected is not None:
        head.append(f" · corrected {shown_number(row.corrected)}")
    if row.soft_prevalence is not None:
        head.append(f" · soft prevalence {shown_number(row.soft_prevalence)}")
    if row.ceiling_share is not None:
        head.append(f" · {row.ceiling_share:.0%} of the ceiling {shown_number(row.ceiling)}")
    head.append(f" · {_what_counts(row)}")
    if row.warning:
        head.append_text(plain(f" · {row.warning}", "yellow"))
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, _GAP, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for place, sentence in enumerate(row):
        table.add_row(str(place), _verdict(sentence, row.n_reviews), plain(sentence.text))
        evidence = _evidence_line(sentence, row)
        if evidence:
            table.add_row("", "", plain(evidence, "dim"))
    parts: list[RenderableType] = [head, table]
    if len(row.prefix_curve) > 1:
        curve = ", ".join(shown_number(value) for value in row.prefix_curve)
        parts.append(Text(f"best supported first: {curve}", "dim"))
    if row.profile is not None:
        parts += _profile_view(row.profile, row)
    return Group(*parts, Text(""))


def _profile_view(profile: Profile, row: ScoredSummary) -> Iterator[RenderableType]:
    """The figures of a profile, and what the summary leaves out."""
    figures = [
        f"{figure_name(name)} {shown_number(getattr(profile, name), f'.{digits}f')}"
        for name, (_, digits) in _PROFILE.items()
        if getattr(profile, name, None) is not None
    ]
    if profile.coverage_interval is not None:
        low, high = profile.coverage_interval
        figures.insert(1, f"(95%: {low:.3f}–{high:.3f})")
    yield Text(" · ".join(figures))
    if profile.groups:
        yield plain(_groups_line(profile))
    for reason in dict.fromkeys(profile.missing.values()):
        names = [figure_name(name) for name, why in profile.missing.items() if why == reason]
        yield plain(f"no {', '.join(names)}: {reason}", "dim")
    if not profile.left_out:
        return
    yield Text(f"left out, of {counted(profile.statements, 'statement')} of the reviews:")
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, _GAP, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in profile.left_out:
        table.add_row(f"  {one.support}/{one.asked} support", plain(one.text))
        table.add_row("", plain(f"reviews {_listed(row.named(one.supporting_reviews))}", "dim"))
    yield table


def _groups_line(profile: Profile) -> str:
    """How well each group of reviews is covered, the worst first, and all reviews beside them."""
    groups = sorted(
        profile.groups.items(), key=lambda item: (not item[1]["reviews"], item[1]["coverage"] or 0)
    )
    shown = [
        f"{name} {shown_number(group['coverage'])} ({counted(group['reviews'], 'review')})"
        for name, group in groups
    ]
    everyone = f"all reviews {shown_number(profile.review_coverage)}"
    return f"least covered group first: {' · '.join([*shown, everyone])}"


def support_view(
    answers: Sequence[StatementSupport], reviews: Sequence[Review], *, show: int
) -> RenderableType:
    """Each statement with its count, and the reviews that support and contradict it.

    Args:
        answers: one a statement.
        reviews: the reviews that were asked.
        show: most reviews to show of each kind, the surest supporters first.
    """
    parts: list[RenderableType] = []
    for answer in answers:
        share = f"{answer.support:,} of {counted(answer.n_reviews, 'review')} ({answer.share:.0%})"
        parts.append(Text.assemble((share, "bold"), "  ", plain(answer.statement)))
        if show:
            parts.append(_evidence_table(answer, reviews, show))
    return Group(*parts)


def system_columns(rows: Sequence[SystemStatistics]) -> list[Column]:
    """What the table of systems has beside their names; columns without a figure are left out."""
    columns = [
        Column("prevalence", "prev.", 0, [shown_number(row.prevalence) for row in rows]),
        Column("95% interval", "95% interval", 7, [_interval(row.interval) for row in rows]),
        Column("corrected", "corr.", 0, [shown_number(row.corrected) for row in rows]),
        Column("its interval", "its interval", 6,
               [_interval(row.corrected_interval) for row in rows]),
        Column("soft prevalence", "soft", 0, [shown_number(row.soft_prevalence) for row in rows]),
        Column("of ceiling", "ceil.", 0, [shown_number(row.ceiling_share, ".0%") for row in rows]),
        Column("summaries", "n", 3, [f"{row.summaries:,}" for row in rows]),
        Column("failed", "failed", 0, [f"{row.failed:,}" for row in rows]),
        Column("sentences", "sent.", 2, [shown_number(row.sentences, ",.1f") for row in rows]),
        Column("characters", "chars", 1, [shown_number(row.characters, ",.0f") for row in rows]),
        Column("trivial", "trivial", 4, [shown_number(row.trivial, ".0%") for row in rows]),
        Column("redundant", "redund.", 5, [shown_number(row.redundant, ".0%") for row in rows]),
        Column("unsupported", "unsupp.", 6,
               [shown_number(row.unsupported, ".0%") for row in rows]),
        Column("contradicted", "contra.", 2,
               [shown_number(row.contradicted, ".0%") for row in rows]),
        Column("self-contradicting", "self-c.", 2,
               [shown_number(row.self_contradicting, ".0%") for row in rows]),
        Column("wrong quantities", "wrong q.", 8,
               [f"{row.wrong_quantities:,}/{row.quantities:,}" if row.quantities else "–"
                for row in rows]),
    ]  # fmt: skip
    optional = {
        "corrected",
        "its interval",
        "soft prevalence",
        "of ceiling",
        "failed",
        "contradicted",
        "self-contradicting",
        "wrong quantities",
    }
    return [
        column
        for column in columns
        if column.header not in optional or not {*column.cells} <= {"–", "0"}
    ] + _profile_columns(rows)


_PROFILE = {
    "coverage": ("cov.", 3),
    "soft_coverage": ("soft c.", 3),
    "attested": ("att.", 3),
    "contested": ("cont.", 3),
    "equal_coverage": ("eq. c.", 3),
    "coverage_parity": ("parity", 3),
    "polarity_distance": ("pol. d.", 2),
    "genericness": ("gen.", 3),
    "sap": ("SAP", 3),
    "review_genericness": ("r. gen.", 3),
    "review_sap": ("r. SAP", 3),
}
"""Short headers and digits of the profile's columns, which leave last, the later ones first."""


def _profile_columns(rows: Sequence[SystemStatistics]) -> list[Column]:
    known = {name for row in rows for name in row.profile}
    return [
        Column(figure_name(name), short, 20 - place,
               [shown_number(r.profile.get(name), f".{digits}f") for r in rows])
        for place, (name, (short, digits)) in enumerate(_PROFILE.items())
        if name in known
    ]  # fmt: skip


def _fitting(columns: list[Column], room: int) -> tuple[list[str], list[Column]]:
    """Headers and columns that fit: long headers, else short ones and as many as there is room."""
    headers = [column.header for column in columns]
    if _needed(headers, columns) <= room:
        return headers, columns
    while True:
        headers = [column.short for column in columns]
        leaving = [column.leaves for column in columns if column.leaves]
        if _needed(headers, columns) <= room or not leaving:
            return headers, columns
        columns = [column for column in columns if column.leaves != min(leaving)]


def _needed(headers: Sequence[str], columns: Sequence[Column]) -> int:
    return sum(
        _GAP + max(map(cell_len, (header, *column.cells)))
        for header, column in zip(headers, columns, strict=True)
    )


def _evidence_table(
    answer: StatementSupport, reviews: Sequence[Review], show: int
) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(4):
        table.add_column(no_wrap=True)
    table.add_column()
    probable = [probability or 0.0 for probability in answer.entailment]
    supporting = sorted(answer.supporting_reviews, key=lambda place: -probable[place])
    against = answer.contradicting_reviews or ()
    kinds = ((Text("supports", "green"), supporting), (Text("contradicts", "red"), against))
    for verb, places in kinds:
        for place in places[:show]:
            name = plain(reviews[place].id or f"reviews[{place}]")
            name.truncate(_NAME_WIDTH, overflow="ellipsis")
            # Beside "contradicts", P(entailment) would read as P(contradiction).
            probability = f"{probable[place]:.3f}" if places is supporting else ""
            table.add_row("  ", verb, name, probability, _snippet(reviews[place].text))
        if len(places) > show:
            more = f"and {len(places) - show:,} more (--show)"
            table.add_row("  ", "", "", "", Text(more, "dim"))
    return table if table.row_count else Text("  no review supports or contradicts it", "dim")


def _snippet(text: str) -> Text:
    """The beginning of a text, as much of it as one line holds."""
    shown = plain(" ".join(text[: 2 * _SNIPPET].split()))
    shown.truncate(_SNIPPET, overflow="ellipsis")
    shown.no_wrap, shown.overflow = True, "ellipsis"
    return shown


def _verdict(sentence: ScoredSentence, n_reviews: int) -> Text:
    count = "" if sentence.support is None else f"{sentence.support}/{n_reviews}"
    if sentence.mask:
        return Text(f"{sentence.mask} ({count})" if count else sentence.mask, "dim")
    against = len(sentence.contradicting_reviews or ())
    note = f"{count} support" + (f", {against} against" if against else "")
    return Text(note, "red" if sentence.support == 0 else "green")


def _evidence_line(sentence: ScoredSentence, row: ScoredSummary) -> str:
    """The reviews by id or, without one, by index; empty where there are none to name."""
    parts = []
    if sentence.supporting_reviews:
        parts.append(f"reviews {_listed(row.named(sentence.supporting_reviews))}")
    if sentence.contradicts:
        parts.append(f"contradicts {_listed(sentence.contradicts)}")
    if sentence.contradicting_reviews:
        parts.append(f"against {_listed(row.named(sentence.contradicting_reviews))}")
    if sentence.quantity is not None:
        parts.append(quantity_note(sentence.quantity, row.n_reviews))
    return " · ".join(parts)


def _listed(places: Sequence[int | str]) -> str:
    named = ", ".join(map(str, places[:_NAMED_REVIEWS]))
    return named + (", …" if len(places) > _NAMED_REVIEWS else "")


def _interval(interval: Interval | None) -> str:
    return "–" if interval is None else f"{interval.low:.3f}–{interval.high:.3f}"


def _what_counts(row: ScoredSummary) -> str:
    left = row.restriction
    if left is None:
        return counted(row.n_reviews, "review")
    return (
        f"{len(left['reviews']):,} of {counted(left['of_reviews'], 'review')} · "
        f"{len(left['sentences']):,} of {counted(left['of_sentences'], 'sentence')}"
    )
