"""Who is ahead, by how much, and what these products can tell apart → a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from prevalence.report.console import make_table, plain
from prevalence.report.text import shown_number
from prevalence.stats.resampling import FEWEST_PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from prevalence.scoring.systems import Standing
    from prevalence.stats.paired import PairedDifference

__all__ = ["behind_figures", "standings_table"]


def standings_table(found: Sequence[Standing]) -> RenderableType:
    """Differences from the best system, with a line that says what the numbers are."""
    rows = [
        (str(entry.group), plain(entry.system), *behind_figures(entry.behind)) for entry in found
    ]
    headers = ("group", "system", "behind the best", "95% interval", "detectable", "products")
    note = (
        "paired over products; a new group begins where all above surely beat all below; "
        "detectable: the least difference found 4 times in 5 with so many products"
    )
    if any(entry.behind and entry.behind.interval is None for entry in found):
        note += f"; below {FEWEST_PRODUCTS} products nothing is told apart"
    # Numbers go over two lines before any is cut.
    table = make_table(headers, rows, left=("system",), whole=())
    return Group(table, Text(note, "dim"))


def behind_figures(difference: PairedDifference | None) -> tuple[str, str, str, str]:
    """The difference behind the best, its interval, what is detectable, and products, as shown."""
    if difference is None:
        return "", "", "", ""
    low_high = difference.interval
    return (
        _figure(difference.difference),
        "–" if low_high is None else f"[{_figure(low_high.low)}, {_figure(low_high.high)}]",
        _figure(difference.detectable),
        str(difference.products),
    )


def _figure(value: float | None) -> str:
    return shown_number(value).replace("-0.000", "0.000")
