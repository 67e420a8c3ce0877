"""A summarising run: products in, the same products with one more summary out, and notes."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from prevalence.cli.errors import Incomplete, note
from prevalence.cli.outputs import LineFile
from prevalence.cli.summary_work import SummaryReport, unfinished
from prevalence.errors import InputError, PrevalenceError
from prevalence.readers import read_product_names, read_products
from prevalence.records import BadRecord, Product
from prevalence.summarize.questions import Calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prevalence.cli.summarize import SummarizeOptions
    from prevalence.summarize.extract import Extract, SummaryOptions
    from prevalence.summarize.summarizer import Summarizer

__all__ = ["Report", "run"]


@dataclass(slots=True)
class Report(SummaryReport):
    """What an extracting run has done.

    Attributes:
        merged: summaries that are not cut into the same sentences again.
        avoided: (review, sentence) pairs that needed no answer.
        calls: pairs that were asked.
    """

    merged: int = 0
    avoided: int = 0
    calls: Calls = field(default_factory=Calls)

    def add(self, extract: Extract, *, merged: bool) -> None:
        """Count a summary."""
        self.made += 1
        self.merged += merged
        self.avoided += extract.avoided
        self.calls.trivial += extract.calls.trivial
        self.calls.between += extract.calls.between
        self.calls.reviews += extract.calls.reviews


def run(options: SummarizeOptions, open_summarizer: Callable[[], Summarizer]) -> Report:
    """Make the summaries and write them.

    Args:
        options: the command's options, checked.
        open_summarizer: loads the model, which takes a while: it is called when the input can be
            read.

    Returns:
        What was done.

    Raises:
        PrevalenceError: nothing could be made.
        Incomplete: something ended the run after a part of it; its cause says what.
        KeyboardInterrupt: with a message that says what is kept.
    """
    names = read_product_names(options.product_names) if options.product_names else None
    items = read_products(options.input, format=options.input_format, names=names, summaries=False)
    report = Report()
    lines = LineFile(options.output, overwrite=options.overwrite)
    work = _Work(options, open_summarizer(), report)
    try:
        work.write(work.unfinished(islice(items, options.limit)), lines)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {lines.kept('products')}") from None
    except PrevalenceError as error:
        if not report.made:
            raise
        raise Incomplete from error
    if not options.quiet:
        _print(report, options)
    return report


class _Work:
    """Products on their way from the input to the output."""

    def __init__(self, options: SummarizeOptions, summarizer: Summarizer, report: Report) -> None:
        self._options = options
        self._summarizer = summarizer
        self._report = report
        self._target = options.target

    def unfinished(self, items: Iterable[Product | BadRecord]) -> Iterator[Product | BadRecord]:
        """What the output does not hold yet."""
        return unfinished(
            items, self._options, self._target, signature=self._signature, report=self._report
        )

    def write(self, items: Iterable[Product | BadRecord], lines: LineFile) -> None:
        """Summarise products and write them one by one."""
        with lines, _Bar(quiet=self._options.quiet) as show:
            for item in items:
                if isinstance(item, BadRecord):
                    self._report.fail(item.error)
                    continue
                try:
                    made = self._summarised(item, show)
                except InputError as error:
                    self._report.fail(str(error))
                    continue
                lines.line(json.dumps(made.to_json(), ensure_ascii=False))
                show.product()

    def _choice(self, product: Product) -> SummaryOptions:
        length = self._target.length_for(product, self._summarizer.splitter)
        return replace(self._summarizer.options, length=length)

    def _signature(self, product: Product) -> str:
        self._summarizer.check(product.reviews)
        return self._summarizer.signature(self._choice(product), named=product.name is not None)

    def _summarised(self, product: Product, show: _Bar) -> Product:
        choice = self._choice(product)
        try:
            extract = self._summarizer.summarize(
                product.reviews, name=product.name, options=choice, progress=show.pairs
            )
        except InputError as error:
            raise InputError(f"{product.source}: {error}") from error
        again = [sentence.text for sentence in self._summarizer.splitter(extract.text)]
        merged = again != [sentence.text for sentence in extract.sentences]
        self._report.add(extract, merged=merged)
        return self._target.added_to(product, extract.text, extract.to_json())


class _Bar:
    """Products and pairs done, on stderr where a person watches."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        shown = sys.stderr.isatty() and not console.is_dumb_terminal and not quiet
        self._products = self._pairs = 0
        self._started = time.monotonic()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[status]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            disable=not shown,
        )
        self._task = self._bar.add_task("", total=None, status="reading")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def product(self) -> None:
        """A product is written."""
        self._products += 1
        self._show()

    def pairs(self, count: int) -> None:
        """So many pairs are answered."""
        self._pairs += count
        self._show()

    def _show(self) -> None:
        rate = self._pairs / max(time.monotonic() - self._started, 1e-9)
        status = f"{self._products:,} products · {self._pairs:,} pairs · {rate:,.0f} pairs/s"
        self._bar.update(self._task, status=status)


def _print(report: Report, options: SummarizeOptions) -> None:
    if report.kept:
        note(f"{report.kept:,} products were in {options.output} already")
    note(f"{report.made:,} summaries made, {report.failed:,} records failed")
    choice, calls = options.choice, report.calls
    if choice.needs_model and report.made:
        note(
            f"{calls.total:,} pairs asked ({calls.trivial:,} about the product statement, "
            f"{calls.between:,} between sentences, {calls.reviews:,} of reviews); of "
            f"{calls.reviews + report.avoided:,} review pairs {report.avoided:,} "
            f"({report.avoided / max(calls.reviews + report.avoided, 1):.0%}) were avoided"
        )
    if choice.needs_model and choice.delta and report.made:
        note(
            f"racing, δ = {choice.delta:.3g} a product: with probability {options.confidence:g} or "
            "more over the random order of its reviews, a product's summary is the one that exact "
            "search makes; the supports in the output are exact"
        )
    if report.merged:
        note(
            f"{report.merged:,} summaries are cut into other sentences when they are read again, "
            "so that their score may differ"
        )
