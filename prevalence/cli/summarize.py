"""`prevalence summarize`: one more summary for every product, extracted or written anew."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.errors import note, tell_failures
from prevalence.cli.language_models import (
    LANGUAGE_MODEL,
    backend_options,
    check_writing,
    chosen_sampling,
    writing_options,
)
from prevalence.cli.options import (
    GroupedCommand,
    field_options,
    input_options,
    model_options,
    option,
    output_option,
    parameter_names,
    quiet_option,
    refuse_given,
    scorer_settings,
    scoring_options,
    seed_option,
)
from prevalence.cli.outputs import check_lines, write_records
from prevalence.errors import InputError
from prevalence.models.registry import EMBEDDED
from prevalence.runs.running import Tally, chunks
from prevalence.runs.selection import Selection
from prevalence.scoring.options import ScoringOptions
from prevalence.summarize.candidates import LengthRule
from prevalence.summarize.extract import METHODS, SEARCHES, SummaryOptions
from prevalence.summarize.products import Target
from prevalence.text.sentences import SPLITTERS
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from prevalence.baselines.judges.writing import SummaryWriter, Written
    from prevalence.llm.protocol import Backend
    from prevalence.records import Product
    from prevalence.scoring.engine import Engine
    from prevalence.summarize.extract import Extract
    from prevalence.summarize.summarizer import Summarizer

__all__ = ["GENERATION_KEY", "summarize"]

GENERATION_KEY = "generation"
"""Key of a summary that says which model wrote it, how; scores pass it through."""

_AT_ONCE = 64
"""Most products in one call, so that a run that is ended has written most of what it made."""
_SENTENCES = 5
_OF_GREEDY = frozenset(
    {
        "search",
        "confidence",
        "refuse_contradictions",
        "fragments",
        "no_trivial",
        "trivial_template",
        "any_language",
    }
)
_READ: Mapping[str, frozenset[str]] = {
    "random": frozenset({"no_cache"}),
    "lead": frozenset({"no_cache"}),
    "lexrank": frozenset({"no_cache"}),
    "centroid": frozenset({"no_cache", "model", "device"}),
    LANGUAGE_MODEL: frozenset({"no_cache", "cache", "device", "dtype", "batch_tokens", "model"}),
}
"""What other methods than greedy read of the options that open a scorer."""

_EPILOG = """\b
Examples:
  prevalence summarize examples/summaries.jsonl --output with-greedy.jsonl
  prevalence score with-greedy.jsonl
  prevalence summarize examples/summaries.jsonl --like balanced \\
      --search racing --output racing.jsonl
  prevalence summarize examples/summaries.jsonl --method lexrank \\
      --length 200 --output lexrank.jsonl
  prevalence summarize examples/summaries.jsonl --method llm \\
      --backend openai:MODEL --base-url http://127.0.0.1:8000/v1 \\
      --output written.jsonl --dry-run

\b
OUTPUT holds the records of INPUT, each with one more summary. A killed run
continues when the same command is given again.
Exit status: 0 all made, 1 some records failed, 2 usage or nothing could run,
130 after Ctrl-C.
"""


class _Options(SimpleNamespace):
    """The command's parameters by name, and what follows from them."""

    @property
    def lengths(self) -> tuple[float | str | None, ...]:
        """The ways to say how long a summary is, of which at most one is given."""
        return self.length, self.like, self.sentences

    @property
    def target(self) -> Target:
        """The summary that every product gets."""
        rule = None
        if self.like is None:
            rule = (
                LengthRule(sentences=self.sentences or _SENTENCES)
                if self.length is None
                else LengthRule(characters=self.length)
            )
        return Target(system=self.system or self.method, length=rule, like=self.like)

    @property
    def choice(self) -> SummaryOptions:
        """How to choose sentences; with --like, each product has a length of its own."""
        return SummaryOptions(
            method=self.method,
            length=self.target.length or LengthRule(sentences=_SENTENCES),
            search=self.search,
            confidence=self.confidence,
            seed=self.seed,
            refuse_contradictions=self.refuse_contradictions,
            close=not self.verbatim,
            fragments=self.fragments,
            simplified=self.simplified,
        )


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("input", metavar="INPUT")
@input_options("input_format", "product_names", "limit")
@option(
    "Input",
    "--simplified",
    is_flag=True,
    help="Read the rewritten reviews that `prevalence simplify` wrote, in place of the originals.",
)
@option(
    "Choice",
    "--method",
    metavar="NAME",
    type=click.Choice([*METHODS, LANGUAGE_MODEL]),
    default=METHODS[0],
    show_default=True,
    help="greedy (best supported sentences that do not repeat one another), random, lead (first "
    "sentences), lexrank (most central ones), centroid (by the embeddings of --model), or llm "
    "(written by a language model, --backend).",
)
@option(
    "Choice",
    "--length",
    metavar="CHARS",
    type=click.FloatRange(0, min_open=True),
    help="Add sentences while the summary has fewer characters than this.",
)
@option(
    "Choice",
    "--like",
    metavar="SYSTEM",
    help="Use the length of this system's summary, less half of its last sentence.",
)
@option(
    "Choice",
    "--sentences",
    metavar="N",
    type=click.IntRange(1),
    help=f"Number of sentences [default: {_SENTENCES}].",
)
@option(
    "Choice",
    "--search",
    metavar="NAME",
    type=click.Choice(SEARCHES),
    default=SEARCHES[0],
    show_default=True,
    help="Greedy: exact, or racing, which runs the model on far fewer pairs where there are "
    "many reviews.",
)
@option(
    "Choice",
    "--racing-confidence",
    "confidence",
    metavar="P",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.95,
    show_default=True,
    help="Probability with which racing finds the summary that exact search makes.",
)
@seed_option(
    "Choice",
    "Seed of random, of the order in which racing reads the reviews, and of llm.",
    default=0,
)
@option(
    "Choice",
    "--refuse-contradictions",
    is_flag=True,
    help="Greedy: skip sentences that contradict a chosen one (needs a three-way model).",
)
@option(
    "Choice",
    "--fragments",
    is_flag=True,
    help="Greedy: also take fragments and exclamations without content, such as 'Avoid!'.",
)
@option(
    "Choice",
    "--verbatim",
    is_flag=True,
    help="Do not add a full stop to a sentence without one; joined sentences may then be read "
    "as one.",
)
@field_options(
    ScoringOptions, "trivial", "splitter", "language", "any_language", group="Choice",
    helps={
        "trivial_template": 'Greedy: name is "I bought a {name}."; script is "I bought {name}."; '
        'hotel is "I stayed at {name}."; or your own text.',
        "no_trivial": "Greedy: keep trivial sentences.",
        "splitter": f"How reviews are cut into sentences: {', '.join(SPLITTERS)} [default: "
        "punkt-en, or the model of Punkt for --language].",
    },
)  # fmt: skip
@writing_options
@model_options
@output_option("Records in JSON Lines.", required=True)
@option(
    "Output",
    "--system",
    metavar="NAME",
    help="System name of the new summary [default: the method's].",
)
@option("Output", "--overwrite", is_flag=True, help="Start --output over.")
@quiet_option
def summarize(**parameters: Any) -> None:
    """Make a summary of each product's reviews, out of their own sentences.

    Greedy takes the sentences that most reviews imply and that do not repeat one another, for high
    opinion prevalence. With llm, a language model writes the summary instead.
    """
    options = _Options(**parameters)
    _check(options)
    check_writing(options)
    selection = Selection(
        [options.input],
        source_format=options.input_format,
        names=options.product_names,
        summaries=False,
        limit=options.limit,
    )
    if options.method == LANGUAGE_MODEL:
        _write(options, selection)
    else:
        _extract(options, selection)


def _summarize(work: _Extracting | _Writing, selection: Selection, *, asked: str) -> None:
    """Summarise what the output lacks, and leave with what that says about the run."""
    options, target = work.options, work.target
    write_records(
        selection,
        work.summarised,
        output=options.output,
        overwrite=options.overwrite,
        quiet=options.quiet,
        unit=asked,
        marks=lambda item: target.marks(item, work.signature),
        finished=target.finished,
        tally=work,
    )
    if not options.quiet:
        work.note_earlier("product")
        made = counted(work.made, "summary", "summaries")
        note(f"{made} made, {counted(work.failed, 'record')} failed")
        work.show()
        for line in selection.notes():
            note(line)
    tell_failures(work.failed, there=work.earlier + work.made)


class _Extracting(Tally[Any]):
    """Products that get a summary made of their reviews' own sentences, and what that took."""

    def __init__(self, options: _Options, summarizer: Summarizer) -> None:
        super().__init__(options.output, note, limited=False)
        self.options, self.target = options, options.target
        self._summarizer = summarizer
        self._merged = self._avoided = self._left_out = self._empty = 0
        self._delta = 0.0
        # With numpy, which the command's help does not need.
        from prevalence.summarize.questions import Calls

        self._calls = Calls()

    def signature(self, product: Product) -> str:
        """What makes the summary of a product; raises InputError for one that gets none."""
        self._summarizer.check(product.reviews)
        return self._summarizer.signature(self._choice(product), named=product.name is not None)

    def summarised(
        self, products: Iterable[Product], progress: Callable[[int], None]
    ) -> Iterator[Product]:
        """The products with their summaries; those that get none are counted."""
        for product in products:
            try:
                extract = self._extract(product, progress)
            except InputError as error:
                self.fail(str(error))
            else:
                yield self.target.added_to(product, extract.text, extract.to_json())

    def _choice(self, product: Product) -> SummaryOptions:
        length = self.target.length_for(product, self._summarizer.splitter)
        return replace(self._summarizer.options, length=length)

    def _extract(self, product: Product, progress: Callable[[int], None]) -> Extract:
        choice = self._choice(product)
        try:
            extract = self._summarizer.summarize(
                product.reviews, name=product.name, options=choice, progress=progress
            )
        except InputError as error:
            raise InputError(f"{product.where}: {error}") from error
        again = [sentence.text for sentence in self._summarizer.splitter(extract.text)]
        self._merged += again != [sentence.text for sentence in extract.sentences]
        self._avoided += extract.avoided
        self._calls += extract.calls
        self._left_out += extract.left_out
        self._empty += not extract.sentences
        self._delta = max(self._delta, extract.delta or 0.0)
        return extract

    def show(self) -> None:
        """Say what was asked and avoided, and how sure the choice is."""
        calls = self._calls
        if self.options.choice.needs_model and self.made:
            of_reviews = calls.reviews + self._avoided
            note(
                f"{counted(calls.total, 'pair')} asked ({calls.trivial:,} about the product "
                f"statement, {calls.between:,} between sentences, {calls.reviews:,} of reviews); "
                f"of {counted(of_reviews, 'review pair')} {self._avoided:,} "
                f"({self._avoided / max(of_reviews, 1):.0%}) were not needed"
            )
        if self._delta:
            note(
                f"racing, δ = {self._delta:.3g} a product: with probability "
                f"{self.options.confidence:g} or more over the random order of its reviews, a "
                "product's summary is the one that exact search makes; the supports in the output "
                "are exact"
            )
        if self._left_out:
            note(
                f"fragments and exclamations without content left out: {self._left_out:,} "
                "(--fragments includes them)"
            )
        if self._empty:
            note(
                f"{counted(self._empty, 'summary is', 'summaries are')} empty: each sentence of "
                "the reviews follows from the product statement (--no-trivial takes those), or is "
                "longer than the model reads"
            )
        if self._merged:
            note(
                f"{counted(self._merged, 'summary splits', 'summaries split')} into different "
                "sentences when read again, so that scores may differ"
            )


def _extract(options: _Options, selection: Selection) -> None:
    from prevalence.summarize.summarizer import Summarizer

    summarizer = Summarizer(
        options.choice,
        engine=_engine(vars(options)) if options.choice.needs_model else None,
        splitter=scoring_options(vars(options)).splitter,
        encoder=EMBEDDED if options.model is None else options.model,
        device=options.device,
    )
    _summarize(_Extracting(options, summarizer), selection, asked="pairs")


def _engine(parameters: Mapping[str, Any]) -> Engine:
    from prevalence.scorers.registry import open_scorer
    from prevalence.scoring.engine import Engine

    # What can be refused at once comes before the model, which takes a while to load.
    scoring = scoring_options(parameters)
    return Engine(open_scorer(**scorer_settings(parameters)), scoring)


class _Writing(Tally[Any]):
    """Products that get a summary written by a language model, and what that took."""

    def __init__(self, options: _Options, writer: SummaryWriter, backend: Backend) -> None:
        super().__init__(options.output, note, limited=False)
        self.options = options
        self.target = Target(system=options.system or options.method, key=GENERATION_KEY)
        self._writer = writer
        self._backend = backend
        self._cut = self._read = self._wrote = 0

    def signature(self, product: Product) -> str:
        """What makes the summary of a product; raises InputError for one that gets none."""
        self.target.check(product)
        self._writer.check(product)
        return self._writer.signature

    def asked(self, products: Iterable[Product]) -> Iterator[tuple[Product, Written]]:
        """What the model answers about products that can be shown to it."""
        full = min(self._writer.work_unit, _AT_ONCE)
        for batch in chunks(self._usable(products), size=lambda _: 1, full=full):
            yield from zip(batch, self._writer.write(batch), strict=True)

    def summarised(
        self, products: Iterable[Product], progress: Callable[[int], None]
    ) -> Iterator[Product]:
        """The products with their summaries; those that get none are counted."""
        for product, written in self.asked(products):
            progress(1)
            if written.error is not None:
                self.fail(f"{product.where}: {written.error}")
                continue
            self._cut += written.cut
            self._read += written.prompt_tokens
            self._wrote += written.completion_tokens
            yield self.target.added_to(product, written.text, written.to_json())

    def _usable(self, products: Iterable[Product]) -> Iterator[Product]:
        for product in products:
            try:
                self.signature(product)
            except InputError as error:
                self.fail(str(error))
            else:
                yield product

    def show(self) -> None:
        """Say what was read and written, and what it cost."""
        if self._read or self._wrote:
            note(
                f"{self._read:,} prompt tokens, {self._wrote:,} reply tokens, including those "
                "of stored replies"
            )
        if said := self._backend.describe():
            note(said)
        if self._cut:
            cut = counted(self._cut, "summary was", "summaries were")
            note(f"{cut} cut at the limit of a reply; raise --max-tokens")


def _write(options: _Options, selection: Selection) -> None:
    from prevalence.baselines.judges.writing import SummaryWriter, load_summary_prompt
    from prevalence.llm.backends import open_backend
    from prevalence.llm.spending import DryRun

    prompt = load_summary_prompt(options.prompt or "reviews")
    told = backend_options(vars(options))
    backend = open_backend(options.backend or options.model, told)
    counter = DryRun(backend) if options.dry_run else None
    writer = SummaryWriter(
        counter or backend,
        prompt,
        sampling=chosen_sampling(options, prompt.sampling),
        simplified=options.simplified,
    )
    work = _Writing(options, writer, backend)
    if counter is None:
        _summarize(work, selection, asked="replies")
        return
    for _ in work.asked(work.good(selection.items())):
        pass
    note(counter.describe(told.prices))
    tell_failures(work.failed, there=counter.replies + counter.stored)


def _check(options: _Options) -> None:
    if sum(value is not None for value in options.lengths) > 1:
        raise click.UsageError("--length, --like and --sentences exclude one another")
    if options.method in _READ:
        refuse_given(_OF_GREEDY, "goes with --method greedy")
        unread = parameter_names(model_options) - _READ[options.method]
        if options.method == LANGUAGE_MODEL:
            unread |= {"verbatim", "splitter", "language"}
        elif options.method != "random":
            unread |= {"seed"}
        refuse_given(unread, f"has no effect with --method {options.method}")
    elif options.search == SEARCHES[0]:
        refuse_given({"confidence"}, "goes with --search racing")
    if options.system is not None and not options.system.strip():
        raise click.UsageError("--system is empty: name the new summary")
    check_lines(options.output)
