"""What runs that add a summary to every product share, whoever writes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prevalence.cli.errors import note
from prevalence.summarize.products import skip_summarized
from prevalence.writers import finished_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from prevalence.cli.summarize import SummarizeOptions
    from prevalence.records import BadRecord, Product
    from prevalence.summarize.products import Target

__all__ = ["SummaryReport", "unfinished"]


@dataclass(slots=True)
class SummaryReport:
    """What a run has done.

    Attributes:
        kept: products that were in the output already.
        made: products written.
        failed: records without a summary.
    """

    kept: int = 0
    made: int = 0
    failed: int = 0

    @property
    def there(self) -> int:
        """Products in the output."""
        return self.kept + self.made

    def fail(self, error: str) -> None:
        """Count a record without a summary, and say why."""
        self.failed += 1
        note(f"error: {error}")


def unfinished(
    items: Iterable[Product | BadRecord],
    options: SummarizeOptions,
    target: Target,
    *,
    signature: Callable[[Product], str],
    report: SummaryReport,
) -> Iterator[Product | BadRecord]:
    """What the output does not hold yet; see :func:`skip_summarized`.

    Args:
        items: the input, from its beginning.
        options: of the command; they name the output.
        target: the summary that is added.
        signature: what makes it in this run.
        report: is told what the output holds.
    """
    if not options.continues:
        yield from items
        return
    yield from skip_summarized(
        items,
        _counted(options.output, report),
        path=options.output,
        system=target.system,
        signature=signature,
        key=target.key,
    )


def _counted(output: Path, report: SummaryReport) -> Iterator[dict[str, object]]:
    for row in finished_records(output):
        report.kept += 1
        yield row
