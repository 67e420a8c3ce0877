"""A run of `prevalence summarize --method llm`: products in, the same with one more summary out."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from prevalence.baselines.judges.writing import SummaryWriter, load_summary_prompt
from prevalence.cli.errors import Incomplete, note
from prevalence.cli.outputs import LineFile
from prevalence.cli.progress import ReadingProgress
from prevalence.cli.summary_work import SummaryReport, unfinished
from prevalence.errors import InputError, PrevalenceError
from prevalence.llm.backends import open_backend
from prevalence.llm.spending import DryRun, Prices
from prevalence.readers import read_product_names, read_products
from prevalence.records import BadRecord, Product
from prevalence.summarize.products import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prevalence.baselines.judges.writing import SummaryPrompt, Written
    from prevalence.cli.summarize import SummarizeOptions
    from prevalence.cli.writing_options import WritingOptions
    from prevalence.llm.protocol import Sampling

__all__ = ["GENERATION_KEY", "WritingReport", "run"]

GENERATION_KEY = "generation"
"""Key of a summary that says which model wrote it, how; scores pass it through."""

_AT_ONCE = 64
"""Most products in one call, so that a run that is ended has written most of what it made."""


@dataclass(slots=True)
class WritingReport(SummaryReport):
    """What a writing run has done.

    Attributes:
        cut: summaries that end at the most tokens of a reply.
        prompt_tokens, completion_tokens: of the replies, stored ones included.
    """

    cut: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, written: Written) -> None:
        """Count a summary."""
        self.made += 1
        self.cut += written.cut
        self.prompt_tokens += written.prompt_tokens
        self.completion_tokens += written.completion_tokens


def run(options: SummarizeOptions, writing: WritingOptions) -> WritingReport:
    """Have the summaries written, and write them to the output.

    Raises:
        PrevalenceError: nothing could be made.
        Incomplete: something ended the run after a part of it; its cause says what.
        KeyboardInterrupt: with a message that says what is kept.
    """
    names = read_product_names(options.product_names) if options.product_names else None
    read = read_products(options.input, format=options.input_format, names=names, summaries=False)
    items = islice(read, options.limit)
    prompt = load_summary_prompt(writing.prompt or "reviews")
    backend = open_backend(str(writing.backend), writing.told)
    counter = DryRun(backend, store=getattr(backend, "store", None)) if writing.dry_run else None
    writer = SummaryWriter(
        counter or backend,
        prompt,
        sampling=_sampling(prompt, options, writing),
        simplified=options.simplified,
    )
    work = _Work(options, writer)
    if counter is not None:
        return _estimate(work, items, counter, writing)
    lines = LineFile(options.output, overwrite=options.overwrite)
    try:
        work.write(work.unfinished(items), lines)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {lines.kept('products')}") from None
    except PrevalenceError as error:
        if not work.report.made:
            raise
        raise Incomplete from error
    if not options.quiet:
        _print(work.report, options, backend)
    return work.report


def _sampling(
    prompt: SummaryPrompt, options: SummarizeOptions, writing: WritingOptions
) -> Sampling:
    changed: dict[str, Any] = {
        name: value
        for name in ("temperature", "top_p", "top_k", "max_tokens")
        if (value := getattr(writing, name)) is not None
    }
    if writing.top_k == 0:
        changed["top_k"] = None
    return replace(prompt.sampling, **changed, seed=options.seed)


class _Work:
    """Products on their way from the input through the model to the output."""

    def __init__(self, options: SummarizeOptions, writer: SummaryWriter) -> None:
        self._options = options
        self._writer = writer
        self._target = Target(system=options.system or options.method, key=GENERATION_KEY)
        self.report = WritingReport()

    def unfinished(self, items: Iterable[Product | BadRecord]) -> Iterator[Product | BadRecord]:
        """What the output does not hold yet."""
        return unfinished(
            items, self._options, self._target, signature=self._signature, report=self.report
        )

    def usable(self, items: Iterable[Product | BadRecord]) -> Iterator[Product]:
        """The products that can be shown to the model; the others are reported."""
        for item in items:
            if isinstance(item, BadRecord):
                self.report.fail(item.error)
                continue
            try:
                self._signature(item)
            except InputError as error:
                self.report.fail(str(error))
            else:
                yield item

    def batches(self, items: Iterable[Product | BadRecord]) -> Iterator[list[Product]]:
        """The same, as many at once as are worth a call."""
        products = self.usable(items)
        while batch := list(islice(products, min(self._writer.work_unit, _AT_ONCE))):
            yield batch

    def ask(self, batch: list[Product]) -> list[Written]:
        """The summaries of a batch."""
        return self._writer.write(batch)

    def write(self, items: Iterable[Product | BadRecord], lines: LineFile) -> None:
        """Summarise products and write them."""
        options = self._options
        with lines, ReadingProgress([options.input], quiet=options.quiet) as bar:
            for batch in self.batches(items):
                for product, summary in zip(batch, self.ask(batch), strict=True):
                    self._put(lines, product, summary)
                    bar.row()

    def _put(self, lines: LineFile, product: Product, written: Written) -> None:
        if written.error is not None:
            self.report.fail(f"{product.source or product.id}: {written.error}")
            return
        made = self._target.added_to(product, written.text, written.to_json())
        lines.line(json.dumps(made.to_json(), ensure_ascii=False))
        self.report.add(written)

    def _signature(self, product: Product) -> str:
        self._target.check(product)
        self._writer.check(product)
        return self._writer.signature


def _estimate(
    work: _Work, items: Iterable[Product | BadRecord], counter: DryRun, writing: WritingOptions
) -> WritingReport:
    for batch in work.batches(items):
        work.ask(batch)
    prices = Prices(prompt=writing.told.price_in, completion=writing.told.price_out)
    note(counter.describe(prices))
    work.report.kept = counter.replies + counter.stored
    return work.report


def _print(report: WritingReport, options: SummarizeOptions, backend: Any) -> None:
    if report.kept:
        note(f"{report.kept:,} products were in {options.output} already")
    note(f"{report.made:,} summaries made, {report.failed:,} records failed")
    if report.prompt_tokens or report.completion_tokens:
        read, wrote = report.prompt_tokens, report.completion_tokens
        note(f"{read:,} prompt tokens, {wrote:,} tokens written, those of stored replies included")
    describe = getattr(backend, "describe", None)
    if describe is not None:
        note(describe())
    if report.cut:
        note(f"{report.cut:,} summaries end at the longest reply; raise --max-tokens")
