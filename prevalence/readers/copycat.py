"""Copycat's gold summaries: tab-separated, unquoted, cat prod_id rev1..rev8 summ1..summ3."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from prevalence.readers.columns import Columns, plan_columns
from prevalence.readers.rows import plain_rows
from prevalence.readers.tables import header_of, wide_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.readers.drafts import Item, ReadOptions
    from prevalence.readers.streams import Source

__all__ = ["copycat_items"]

_NUMBERED = re.compile(r"summ(\d+)")


def copycat_items(source: Source, options: ReadOptions) -> Iterator[Item]:
    """Read Copycat's layout.

    Args:
        source: the open input.
        options: the caller's wishes.

    Yields:
        Products with the systems human1, human2, human3 and the extra key "category".

    Raises:
        InputError: a needed column is missing.
    """
    rows = plain_rows(source)
    header = header_of(rows, source.path)
    planned = plan_columns(header, source.path, reviews_only=not options.needs_summaries)
    columns = replace(
        planned,
        summaries=tuple(
            (_NUMBERED.sub(r"human\1", name), index) for name, index in planned.summaries
        ),
        extra=_with_category(planned),
        fixed=True,
    )
    for row in rows:
        yield from wide_item(row, columns, source.path, options)


def _with_category(columns: Columns) -> tuple[tuple[str, int], ...]:
    return tuple(("category" if name == "cat" else name, index) for name, index in columns.extra)
