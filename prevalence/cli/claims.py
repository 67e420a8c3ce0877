"""`prevalence claims`: the single statements of summaries, by rule or by a language model."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from prevalence.claims import CLAIMS, Claim, cut
from prevalence.cli.errors import note, tell_failures
from prevalence.cli.language_models import backend_options, check_backend_options, judge_options
from prevalence.cli.options import (
    GroupedCommand,
    field_options,
    input_options,
    option,
    output_option,
    parameter_names,
    quiet_option,
    refuse_given,
)
from prevalence.cli.outputs import check_lines, write_records
from prevalence.records import Product
from prevalence.runs.earlier import finished_records, without_key
from prevalence.runs.resuming import Finished, record_mark, record_marks
from prevalence.runs.running import Tally, chunks
from prevalence.runs.selection import Selection
from prevalence.scoring.options import ScoringOptions
from prevalence.signature import build_signature
from prevalence.text.sentences import SPLITTERS, get_splitter
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from prevalence.baselines.judges.claim_writing import ClaimWriter, WrittenClaims
    from prevalence.llm.protocol import Backend
    from prevalence.records import Summary

__all__ = ["SIGNATURE_KEY", "claims"]

SIGNATURE_KEY = "claims_by"
"""Key of a record that says what made its claims; scores pass it through."""

_RULES = "rules"
_AT_ONCE = 64
"""Most summaries in one call, so that a run that is ended has written most of what it made."""

_EPILOG = """\b
Examples:
  prevalence claims examples/summaries.jsonl --output claims.jsonl
  prevalence claims examples/summaries.jsonl --backend openai:MODEL \\
      --base-url http://127.0.0.1:8000/v1 --output claims.jsonl --dry-run

\b
OUTPUT holds the records of INPUT, each summary with a list "claims" that you
can look at and edit. Summaries that have claims keep them. A killed run
continues when the same command is given again.
Exit status: 0 all made, 1 some records failed, 2 usage or nothing could run,
130 after Ctrl-C.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("input", metavar="INPUT")
@input_options("input_format", "reviews", "limit")
@field_options(
    ScoringOptions, "splitter", group="Claims",
    helps={
        "splitter": f"How summaries are cut into sentences first: {', '.join(SPLITTERS)} "
        f"[default: {SPLITTERS[0]}]."
    },
)  # fmt: skip
@option(
    "Claims",
    "--max-tokens",
    metavar="N",
    type=click.IntRange(1),
    help="Maximum tokens of a reply [default: 2048].",
)
@option(
    "Claims", "--dry-run", is_flag=True, help="Call no model; only count replies, tokens and cost."
)
@judge_options
@output_option("Records in JSON Lines.", required=True)
@option("Output", "--overwrite", is_flag=True, help="Start --output over.")
@quiet_option
def claims(**parameters: Any) -> None:
    """Cut summaries into single statements, by rule or with a language model.

    "The fabric is soft and washes well, but the zipper sticks" makes three. Without --backend,
    rules cut them; with it, a language model writes them.
    """
    options = SimpleNamespace(**parameters)
    options.splitter = options.splitter or SPLITTERS[0]
    _check(options)
    work = _work(options, parameters)
    selection = Selection(
        [options.input], source_format=options.input_format, reviews=options.reviews,
        limit=options.limit,
    )  # fmt: skip
    if options.dry_run:
        work.count_replies(selection)
        return
    write_records(
        selection,
        work.claimed,
        output=options.output,
        overwrite=options.overwrite,
        quiet=options.quiet,
        unit="summaries",
        marks=lambda item: record_marks(item, work.signature, _source_of),
        finished=_finished,
        tally=work,
    )
    if not options.quiet:
        work.show()
    tell_failures(work.failed, there=work.earlier + work.made)


class _Work(Tally[Product]):
    """Products whose summaries get claims, and what came of it."""

    def __init__(self, options: SimpleNamespace, signature: str) -> None:
        super().__init__(options.output, note, limited=False)
        self.signature = signature
        self._splitter = get_splitter(options.splitter)
        self._summaries = self._claims = 0

    def keep(self, row: Any) -> None:
        """Take a record of an earlier run; what that left without claims has failed here too."""
        super().keep(row)
        for system, summary in row["summaries"].items():
            if not isinstance(summary, dict) or summary.get(CLAIMS) is None:
                self.fail(
                    f"{row['id']}: summary by {system!r}: an earlier run could not read the reply; "
                    f"add claims to {self._output}, or give that file as INPUT, with another model "
                    "and another --output"
                )

    def claimed(
        self, products: Iterable[Product], progress: Callable[[int], None]
    ) -> Iterator[Product]:
        """The products with claims in their summaries."""
        for product in products:
            made = [
                tuple(map(_stated, cut(summary.text, splitter=self._splitter)))
                for summary in _lacking(product)
            ]
            progress(len(made))
            yield self.completed(product, made)

    def count_replies(self, _: Selection) -> None:
        """Say what would be asked."""
        raise click.UsageError("--dry-run goes with --backend: rules ask nothing")

    def completed(self, product: Product, made: Sequence[Sequence[object] | None]) -> Product:
        """The product with these claims in the summaries that have none; None leaves one so."""
        self._summaries += sum(found is not None for found in made)
        self._claims += sum(len(found or ()) for found in made)
        left = iter(made)
        summaries = []
        for summary in product.summaries:
            found = next(left) if _lacks(summary) else None
            extra = summary.extra if found is None else {**summary.extra, CLAIMS: list(found)}
            summaries.append(replace(summary, extra=extra))
        extra = {**product.extra, SIGNATURE_KEY: self.signature}
        return replace(product, summaries=tuple(summaries), extra=extra)

    def show(self) -> None:
        """Say what was made."""
        self.note_earlier("product")
        note(
            f"{counted(self.made, 'product')} written: {counted(self._claims, 'claim')} of "
            f"{counted(self._summaries, 'summary', 'summaries')}"
        )


class _Writing(_Work):
    """The same by a language model."""

    def __init__(self, options: SimpleNamespace, writer: ClaimWriter, backend: Backend) -> None:
        super().__init__(options, writer.signature)
        self._writer = writer
        self._backend = backend
        self._unparsable = 0
        self._strange: list[str] = []
        self._options = options

    def claimed(
        self, products: Iterable[Product], progress: Callable[[int], None]
    ) -> Iterator[Product]:
        """The products with claims; one whose reply never came is left for the next run."""
        full = min(self._writer.work_unit, _AT_ONCE)
        for batch in chunks(products, size=lambda product: len(_lacking(product)), full=full):
            pairs = [(product, summary) for product in batch for summary in _lacking(product)]
            written = iter(self._writer.write(pairs))
            progress(len(pairs))
            for product in batch:
                found = [(summary, next(written)) for summary in _lacking(product)]
                if self._replied(product, found):
                    yield self.completed(product, [self._read(product, *one) for one in found])

    def _replied(self, product: Product, found: Sequence[tuple[Summary, WrittenClaims]]) -> bool:
        errors = [(summary, one.error) for summary, one in found if one.error is not None]
        if errors:
            summary, error = errors[0]
            self.fail(f"{product.where_of(summary.system)}: {error}")
        return not errors

    def _read(
        self, product: Product, summary: Summary, written: WrittenClaims
    ) -> tuple[str, ...] | None:
        if written.unparsable is None:
            self._strange += [
                f"{product.where_of(summary.system)}: {one!r}" for one in written.strange
            ]
            return written.claims
        self._unparsable += 1
        self.fail(f"{product.where_of(summary.system)}: {written.unparsable}")
        return None

    def count_replies(self, selection: Selection) -> None:
        """Say how many replies, tokens and how much money it would take."""
        from prevalence.llm.spending import DryRun

        counter = DryRun(self._backend)
        writer = _writer(self._options, counter)
        for product in self.good(selection.items()):
            writer.write([(product, summary) for summary in _lacking(product)])
        note(counter.describe(self._options.told.prices))
        tell_failures(self.failed, there=counter.replies + counter.stored)

    def show(self) -> None:
        """Say what was made, and what it took."""
        super().show()
        if self._unparsable:
            replies = counted(self._unparsable, "reply", "replies")
            note(f"{replies} could not be read and gave no claims")
        if self._strange:
            share = "shares" if len(self._strange) == 1 else "share"
            note(
                f"{counted(len(self._strange), 'claim')} {share} no word with the sentence, "
                f"such as {self._strange[0]}"
            )
        if said := self._backend.describe():
            note(said)


def _work(options: SimpleNamespace, parameters: Mapping[str, Any]) -> _Work:
    if options.backend is None:
        signature = build_signature({CLAIMS: _RULES, "split": options.splitter})
        return _Work(options, signature)
    from prevalence.llm.backends import open_backend

    options.told = backend_options(parameters)
    backend = open_backend(options.backend, options.told)
    return _Writing(options, _writer(options, backend), backend)


def _writer(options: SimpleNamespace, backend: Backend) -> ClaimWriter:
    from prevalence.baselines.judges.claim_writing import ClaimWriter

    return ClaimWriter(
        backend,
        splitter=get_splitter(options.splitter),
        split=options.splitter,
        max_tokens=options.max_tokens,
    )


def _stated(claim: Claim) -> str | dict[str, str]:
    """A claim as it stands in a record."""
    if claim.quantity is None:
        return claim.text
    words = (claim.quantity.text, claim.quantity.of)
    return {"text": claim.text, "quantity": " ".join(filter(None, words))}


def _lacking(product: Product) -> list[Summary]:
    """The summaries that have no claims."""
    return [summary for summary in product.summaries if _lacks(summary)]


def _lacks(summary: Summary) -> bool:
    return summary.extra.get(CLAIMS) is None


def _finished(output: Path) -> Finished[dict[str, Any]]:
    """The records that an earlier run has written to the same output."""
    return Finished(
        path=output,
        rows=finished_records(output),
        mark=record_mark(SIGNATURE_KEY, _source_of),
        made="claims",
        unknown="which this input does not have",
        advice="--overwrite drops the claims in it, also those edited by hand; with this file as "
        "INPUT and another --output they are kept, and only missing ones are made",
        in_order=False,
    )


def _source_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its claims and who made them."""
    plain = {key: value for key, value in record.items() if key != SIGNATURE_KEY}
    summaries = plain.get("summaries")
    if isinstance(summaries, dict):
        plain["summaries"] = {name: without_key(one, CLAIMS) for name, one in summaries.items()}
    return plain


def _check(options: SimpleNamespace) -> None:
    check_lines(options.output)
    if options.backend is None:
        unread = parameter_names(judge_options) | {"max_tokens"}
        refuse_given(unread, "goes with --backend: rules read no option of models")
        return
    check_backend_options(options.backend, dry_run=options.dry_run)
