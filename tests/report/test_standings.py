"""The table of systems that are and are not told apart."""

from __future__ import annotations

import io
import re

from rich.console import Console

from prevalence import OpinionPrevalence
from prevalence.records import Product, Review, Summary
from prevalence.report.standings import standings_table
from prevalence.scoring.systems import SystemTable, standings


def table_of(fake_scorer: type, products: int = 6) -> SystemTable:
    """Both reviews imply "good", one implies "half" and "other", none "bad"."""
    reviews = ("r one", "r two")
    implied = {(review, "Good."): (0.9, 0.0) for review in reviews}
    implied |= {("r one", text): (0.9, 0.0) for text in ("Half.", "Other.")}
    metric = OpinionPrevalence(scorer=fake_scorer(implied))
    summaries = {"bad": "Bad.", "half": "Half.", "good": "Good.", "other": "Other."}
    table = SystemTable()
    for number in range(products):
        product = Product(
            id=str(number),
            reviews=tuple(Review(text) for text in reviews),
            summaries=tuple(Summary(system, text) for system, text in summaries.items()),
        )
        for row in metric.score_many([product]):
            table.add(row)
    return table


def test_ties_share_a_group(fake_scorer: type) -> None:
    found = standings(table_of(fake_scorer), resamples=100, seed=1)
    assert [(entry.group, entry.system) for entry in found] == [
        (1, "good"), (2, "half"), (2, "other"), (3, "bad"),
    ]  # fmt: skip
    assert found[0].behind is None
    assert found[3].behind is not None
    assert (found[3].behind.difference, found[3].behind.products) == (1.0, 6)


def test_the_table_says_what_its_numbers_are(fake_scorer: type) -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(standings_table(standings(table_of(fake_scorer), resamples=100, seed=1)))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert re.search(r"half +0\.500 +\[0\.500, 0\.500\] +0\.000 +6$", shown, re.MULTILINE)
    assert "a new group begins where all above surely beat all below" in " ".join(shown.split())
    assert "nothing is told apart" not in shown


def test_few_products_have_no_intervals_and_one_group(fake_scorer: type) -> None:
    console = Console(file=io.StringIO(), width=100)
    found = standings(table_of(fake_scorer, 5), resamples=100, seed=1)
    assert {entry.group for entry in found} == {1}
    console.print(standings_table(found))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert re.search(r"half +0\.500 +– +– +5$", shown, re.MULTILINE)
    assert "below 6 products nothing is told apart" in " ".join(shown.split())


def test_a_narrow_terminal_cuts_no_name_and_no_number(fake_scorer: type) -> None:
    found = standings(table_of(fake_scorer), resamples=100, seed=1)
    screen = Console(file=io.StringIO(), width=40)
    screen.print(standings_table(found))
    text = screen.file.getvalue()
    assert all(f"{entry.group}      {entry.system}" in text for entry in found)
    behind = [entry.behind for entry in found if entry.behind is not None]
    assert all(f"{one.difference:.3f}" in text for one in behind)
    assert text.count("]") == sum(one.interval is not None for one in behind)
