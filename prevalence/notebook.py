"""What notebooks show of results: small HTML tables, and data frames where pandas is installed."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Share", "data_frame", "html_table"]


class Share(NamedTuple):
    """A part of a whole, shown with a bar; None where it is not known."""

    part: int | None
    whole: int


def html_table(
    caption: str, headers: Sequence[str], rows: Iterable[Sequence[object]], *, foot: str = ""
) -> str:
    """A table as HTML that nothing in its texts can break out of.

    Args:
        caption: what the table is about.
        headers: of the columns; the first column holds texts.
        rows: a cell for each column; None is shown as a dash, :class:`Share` as a bar.
        foot: a line below it.

    >>> html_table("1 < 2", ["x"], [["<b>"]])[:60]
    '<table><caption style="text-align:left"><b>1 &lt; 2</b></cap'
    """
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in headers)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    below = f"<small><code>{escape(foot)}</code></small>" if foot else ""
    return (
        f'<table><caption style="text-align:left"><b>{escape(caption)}</b></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
    )


def data_frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Rows as a pandas data frame.

    Raises:
        MissingDependencyError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingDependencyError(
            "data frames need pandas: pip install 'prevalence[notebook]'"
        ) from None
    return pd.DataFrame(list(rows))


def _cell(value: object) -> str:
    if isinstance(value, Share):
        if value.part is None:
            return "<td>–</td>"
        # Rows that are read from a file may hold anything.
        part, whole = escape(str(value.part)), escape(str(value.whole))
        return f'<td><progress value="{part}" max="{whole}"></progress> {part}/{whole}</td>'
    shown = "–" if value is None else str(value)
    return f'<td style="text-align:left"><bdi>{escape(shown)}</bdi></td>'
