"""What tables look like, at the widths that terminals have."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from prevalence.api import StatementSupport
from prevalence.records import Review
from prevalence.report.console import (
    comparison_table,
    explanation,
    make_console,
    plain,
    support_view,
    system_table,
)
from prevalence.scored import ScoredSentence, ScoredSummary
from prevalence.scoring.systems import SystemComparison, SystemStatistics
from prevalence.stats.resampling import Interval

if TYPE_CHECKING:
    from rich.console import RenderableType


def system(name: str, **fields: Any) -> SystemStatistics:
    values: dict[str, Any] = {
        "summaries": 28, "failed": 0, "prevalence": 0.23807, "soft_prevalence": None,
        "interval": Interval(0.2041, 0.2719), "sentences": 4.28, "characters": 312.6,
        "trivial": 0.031, "redundant": 0.115, "unsupported": 0.6049,
    }  # fmt: skip
    return SystemStatistics(system=name, **(values | fields))


def lines_of(shown: RenderableType, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(shown)
    return [line.rstrip() for line in capture.get().splitlines()]


def table_at(width: int, *rows: SystemStatistics) -> list[str]:
    return lines_of(system_table(rows, width=width), width)


def test_wide_table() -> None:
    assert table_at(120, system("human")) == [
        "system  prevalence  95% interval  summaries  sentences  characters  trivial  redundant"
        "  unsupported",
        "human        0.238   0.204–0.272         28        4.3         313       3%        12%"
        "          60%",
    ]


def test_table_at_80_columns_has_short_headers_and_whole_numbers() -> None:
    header, line = table_at(80, system("contradicting"))
    assert header.split() == [
        "system", "prev.", "95%", "interval", "n", "sent.", "chars", "trivial", "redund.",
        "unsupp.",
    ]  # fmt: skip
    assert line.split() == [
        "contradicting", "0.238", "0.204–0.272", "28", "4.3", "313", "3%", "12%", "60%",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [30, 40, 50, 60, 72, 80, 100, 120, 200])
@pytest.mark.parametrize("name", ["a", "contradicting", "a-system-with-a-name-of-forty-characters"])
def test_no_number_is_ever_cut(width: int, name: str) -> None:
    rows = [
        system(name, summaries=1_400, failed=12, soft_prevalence=0.3071, characters=12_345.0),
        system("b"),
    ]
    lines = table_at(width, *rows)
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    assert "0.238" in lines[1]
    assert "0.307" in lines[1]
    assert " 12" in lines[1]
    if width >= 80:
        assert "0.204–0.272" in lines[1]


def test_columns_leave_in_order_of_how_little_they_tell() -> None:
    full = table_at(120, system("s" * 24))[0].split()
    shown = [set(table_at(width, system("s" * 24))[0].split()) for width in range(90, 35, -1)]
    assert len(full) == 10
    for wider, narrower in pairwise(shown):
        assert narrower <= wider
    order = ["chars", "sent.", "n", "trivial", "redund.", "unsupp.", "interval"]
    gone = [next(i for i, names in enumerate(shown) if word not in names) for word in order]
    assert gone == sorted(gone)


def test_columns_without_room_are_named_and_wrong_quantities_leave_last() -> None:
    shares = {"contradicted": 0.1, "self_contradicting": 0.2, "quantities": 9}
    *_, said = table_at(72, system("s", wrong_quantities=2, **shares))
    assert said.startswith("no room for: ")
    assert "characters" in said
    header, line, *_ = table_at(72, system("s", wrong_quantities=2, **shares))
    assert "wrong q." in header
    assert line.split()[-1] == "2/9"
    assert "no room" not in "".join(table_at(200, system("s", wrong_quantities=2, **shares)))


def test_best_system_first_and_failed_last() -> None:
    nothing = {"prevalence": float("nan"), "interval": None, "sentences": float("nan"),
               "characters": float("nan"), "trivial": float("nan"), "redundant": float("nan"),
               "unsupported": float("nan"), "summaries": 0, "failed": 3}  # fmt: skip
    lines = table_at(120, system("bad", prevalence=0.1), system("none", **nothing), system("good"))
    assert [line.split()[0] for line in lines[1:]] == ["good", "bad", "none"]
    assert lines[3].split() == ["none", "–", "–", "0", "3", *["–"] * 5]


def test_soft_and_failed_columns_only_where_there_is_something() -> None:
    assert "soft" not in table_at(120, system("s"))[0]
    assert "failed" not in table_at(120, system("s"))[0]
    header = table_at(140, system("s", soft_prevalence=0.5, failed=1))[0]
    assert "soft prevalence" in header
    assert "failed" in header


def test_wide_characters_count_double() -> None:
    assert max(len(line) for line in table_at(90, system("総合" * 6))) <= 90


def test_comparison_at_80_columns() -> None:
    p_values = {"bootstrap": 0.00099, "randomization": 0.0421}
    found = [SystemComparison("contradicting", "unsupported", -0.1502, 28, p_values)]
    lines = lines_of(comparison_table(found), 80)
    assert lines[0] == (
        "first          second       difference  p bootstrap  p randomization  products"
    )
    assert lines[1].split() == [
        "contradicting", "unsupported", "-0.150", "0.0010", "0.0421", "28",
    ]  # fmt: skip
    assert lines[2].startswith("second − first")
    assert len(lines) == 3


def test_comparison_on_a_narrow_terminal_cuts_no_number() -> None:
    names = ("a-system-of-a-long-name", "another-one")
    found = SystemComparison(*names, -0.25, 1234, {"randomization": 0.0547})
    text = " ".join(lines_of(comparison_table([found]), 40))
    assert all(number in text for number in ("-0.250", "0.0547", "1234"))


def scored(*sentences: ScoredSentence, **fields: Any) -> ScoredSummary:
    values: dict[str, Any] = {"id": "p", "system": "s", "prevalence": 0.5, "n_reviews": 4}
    return ScoredSummary(sentences=sentences, signature="", **(values | fields))


def test_explanation_names_reviews_and_masks() -> None:
    shown = lines_of(
        explanation(
            scored(
                ScoredSentence("Dry.", 0, 4, False, None, 2, (0, 3), (1,), (0.9, 0, 0, 0.9)),
                ScoredSentence("A boot.", 5, 12, True, None),
                ScoredSentence("Dry!", 13, 17, False, 0, 2, (0, 3), (), (0.9, 0, 0, 0.9)),
                ScoredSentence("Pink.", 18, 23, False, None, 0, (), (), (0, 0, 0, 0)),
                soft_prevalence=0.25,
                warning="1 of 4 reviews empty",
            )
        ),
        90,
    )
    (head,) = shown[:1]
    assert (
        head
        == "p · s · prevalence 0.500 · soft prevalence 0.250 · 4 reviews · 1 of 4 reviews empty"
    )
    assert [line.strip() for line in shown[1:7]] == [
        "0  2/4 support, 1 against  Dry.",
        "reviews 0, 3 · against 1",
        "1  trivial                 A boot.",
        "2  repeats 0 (2/4)         Dry!",
        "reviews 0, 3",
        "3  0/4 support             Pink.",
    ]


def test_explanation_calls_reviews_by_their_ids() -> None:
    said = ScoredSentence("Dry.", 0, 4, False, None, 2, (0, 3), (1,), (0.9, 0, 0, 0.9))
    row = replace(scored(said), review_ids=("r[1]", "r2", "r3", "r4"))
    assert "reviews r[1], r4 · against r2" in "\n".join(lines_of(explanation(row), 90))


def test_explanation_names_a_dozen_reviews_at_most() -> None:
    many = ScoredSentence("Dry.", 0, 4, False, None, 40, tuple(range(40)), None, None)
    assert "10, 11, …" in "\n".join(lines_of(explanation(scored(many)), 120))


def test_explanation_of_an_error() -> None:
    row = scored(prevalence=None, error="f:3: name: [bold]\x1b[31mred")
    assert lines_of(explanation(row), 80)[:2] == ["p · s", "  error: f:3: name: [bold]␦[31mred"]
    for fields, head in (({"system": None}, "p"), ({"id": None, "system": None}, "(no id)")):
        assert lines_of(explanation(replace(row, **fields)), 80)[0] == head


def test_long_sentences_wrap_and_lose_nothing() -> None:
    words = " ".join(f"word{n}" for n in range(60))
    row = scored(ScoredSentence(words, 0, len(words), False, None, 0, (), None, None))
    lines = lines_of(explanation(row), 80)
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines).split()).endswith(words)


def support(**fields: Any) -> StatementSupport:
    values: dict[str, Any] = {
        "statement": "It leaks.", "n_reviews": 4, "support": 2, "supporting_reviews": (1, 3),
        "contradicting_reviews": (0,), "entailment": (0.01, 0.6, 0.2, 0.9), "signature": "",
    }  # fmt: skip
    return StatementSupport(**(values | fields))


REVIEWS = [Review("Dry as a bone.", id="r0"), Review("Leaks."), Review("Nice."), Review("x " * 300)]


def test_support_view_orders_supporters_by_probability() -> None:
    lines = lines_of(support_view([support()], REVIEWS, show=5), 80)
    assert lines[0] == "2 of 4 reviews (50%)  It leaks."
    assert [line.split()[:3] for line in lines[1:]] == [
        ["supports", "reviews[3]", "0.900"],
        ["supports", "reviews[1]", "0.600"],
        ["contradicts", "r0", "Dry"],
    ]
    assert len(lines[1]) <= 80
    assert lines[1].endswith("…")


def test_support_view_cuts_the_list_and_says_so() -> None:
    lines = lines_of(support_view([support()], REVIEWS, show=1), 80)
    assert "and 1 more (--show)" in lines[2]
    assert len(lines_of(support_view([support()], REVIEWS, show=0), 80)) == 1


def test_support_view_of_nothing() -> None:
    alone = support(support=0, supporting_reviews=(), contradicting_reviews=None)
    assert lines_of(support_view([alone], REVIEWS, show=5), 80)[1] == (
        "  no review supports or contradicts it"
    )


@pytest.mark.parametrize(
    "text", ["[bold]x[/bold]", "[link=file:///x]y[/link]", ":smile:", "a\x1b]0;t\x07b", "\u202ex"]
)
def test_text_from_the_input_is_shown_and_never_obeyed(text: str) -> None:
    shown = plain(text).plain
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    with console.capture() as capture:
        console.print(plain(text))
    assert capture.get() == shown + "\n"
    assert not set(shown) & set("\x1b\x07\u202e")


def test_a_redirected_console_is_wide_and_plain() -> None:
    console = make_console()
    assert (console.width, console.is_terminal) == (200, False)
