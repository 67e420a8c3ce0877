"""`prevalence calibrate`: scorers side by side on labelled pairs, and a threshold for each."""

from __future__ import annotations

import filecmp
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.options import (
    FILE_PATH,
    SCORER,
    GroupedCommand,
    option,
    output_option,
    parameter_names,
    quiet_option,
    refuse_given,
    run_options,
    scorer_settings,
    seed_option,
)
from prevalence.cli.outputs import check_output, keeping_pairs, print_json, same_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prevalence.calibration import ScoredPairs, ScorerRow, Settings
    from prevalence.labelled import Document, JudgedPairs

__all__ = ["calibrate"]

_OF_SCORERS = frozenset(
    ("relation", "score_map", "candidates", "folds", "resamples", "trials", "seed", "curves")
)
"""Parameters that say how scorers are compared."""

_EPILOG = """\b
Examples:
  prevalence calibrate examples/judgments.jsonl
  prevalence calibrate examples/judgments.jsonl --scorer rouge1-precision --scorer embedded --table
  prevalence calibrate examples/judgments.jsonl --scorer "rouge1-precision|rouge2-precision" --json
  prevalence calibrate examples/judgments.jsonl --map temperature --output mine.json
  prevalence score examples/summaries.jsonl --calibration mine.json

\b
A score counts as support when it is strictly greater than the threshold. The
thresholds tried are the scores themselves; the one of highest balanced accuracy
is taken, the lowest of equals.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("pairs", metavar="PAIRS", type=FILE_PATH)
@option(
    "Input",
    "--held-out",
    metavar="PAIRS2",
    type=FILE_PATH,
    help="Report how the choice made on PAIRS does on these pairs [default: cross-validation "
    "over products].",
)
@option(
    "Input",
    "--products",
    metavar="FILE",
    type=FILE_PATH,
    help="Reviews and summaries behind ReviewNLI's released answers (Copycat's TSV), or the "
    "reviews of products of which PAIRS holds sentences and labels alone.",
)
@option(
    "Input",
    "--held-out-products",
    metavar="FILE",
    type=FILE_PATH,
    help="The same for PAIRS2 [default: those of --products].",
)
@option(
    "Input",
    "--relation",
    type=click.Choice(["review", "product", "sentence", "all"]),
    default="review",
    show_default=True,
    help="Premise to calibrate for: a review, the product statement or an earlier sentence. "
    "The others are reported where they have labels.",
)
@option(
    "Choice",
    "--scorer",
    "scorers",
    multiple=True,
    type=SCORER,
    metavar="NAMES",
    help="A scorer, or several separated by |, of which PAIRS picks the best; repeat it to "
    "compare scorers [default: embedded].",
)
@option(
    "Choice",
    "--map",
    "score_map",
    type=click.Choice(["none", "temperature", "platt", "isotonic"]),
    default="none",
    show_default=True,
    help="Also fit a map from scores to probabilities; decisions on support stay the same, and "
    "contradictions may change.",
)
@option(
    "Choice",
    "--candidates",
    type=click.Choice(["scores", "midpoints", "logistic"]),
    default="scores",
    show_default=True,
    help="Put the threshold on a score, midway between two (for few pairs), or where a curve "
    "fitted to scores in [0, 1] puts it.",
)
@option(
    "Choice",
    "--folds",
    metavar="N",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="Folds of cross-validation, without --held-out.",
)
@run_options
@option(
    "Statistics",
    "--resamples",
    metavar="N",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Bootstrap resamples of products, for intervals and tests of AUC.",
)
@option(
    "Statistics",
    "--trials",
    metavar="N",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Randomization trials, for tests of balanced accuracy.",
)
@seed_option("Statistics", "Seed for folds and resampling.")
@output_option(
    "Write the calibration of the best scorer here, for `prevalence score --calibration`."
)
@option("Output", "--json", "as_json", is_flag=True, help="Print JSON.")
@option("Output", "--curves", is_flag=True,
        help="With --json or --output: also the points of ROC and reliability curves.")  # fmt: skip
@option("Output", "--table", is_flag=True, help="Print a table like the paper's Table 2.")
@option(
    "Output",
    "--agreement",
    is_flag=True,
    help="Only show how well the annotators of PAIRS agree; run no scorer.",
)
@quiet_option
def calibrate(**parameters: Any) -> None:
    """Choose a scorer and its threshold on labelled pairs.

    PAIRS is JSON Lines, gzipped or not: a premise, a hypothesis and a label; or a review with
    sentences and labels; or a product with reviews, sentences and a label for every pair; or
    ReviewNLI's released answers with --products. Premises with hypotheses, and comments matched to
    key points, may also be a CSV or TSV table.
    """
    options = _Options(**parameters)
    options.check()
    _run(options, scorer_settings(parameters))


class _Options(SimpleNamespace):
    """The command's parameters by name, and what follows from them."""

    @property
    def families(self) -> list[list[str]]:
        """Names of scorers, as lists of alternatives."""
        return [
            [name.strip() for name in names.split("|")] for names in self.scorers or ("embedded",)
        ]

    @property
    def settings(self) -> Settings:
        """How to choose and report."""
        from prevalence.calibration import Resampling, Settings

        return Settings(
            relation=self.relation,
            score_map=self.score_map,
            candidates=self.candidates,
            folds=self.folds,
            resampling=Resampling(self.resamples, self.trials, self.seed),
            curves=self.curves,
        )

    def check(self) -> None:
        """Refuse options that do not go together, before anything is read."""
        if self.as_json and self.table:
            raise click.UsageError("--json and --table exclude each other")
        if self.curves and not self.as_json and self.output is None:
            raise click.UsageError("--curves goes with --json or --output")
        if self.held_out_products is not None and self.held_out is None:
            raise click.UsageError("--held-out-products goes with --held-out")
        if self.agreement and (self.scorers or self.table or self.output is not None):
            raise click.UsageError("--agreement runs no scorer: no --scorer, --table or --output")
        if self.agreement:
            refuse_given(
                _OF_SCORERS | parameter_names(run_options), "has no effect with --agreement"
            )
        if self.held_out is not None:
            refuse_given({"folds"}, "has no effect with --held-out")
            if _alike(self.pairs, self.held_out):
                raise click.UsageError(
                    "--held-out holds the pairs that the choice is made on: give others, or leave "
                    "it out for cross-validation"
                )
        if not all(all(names) for names in self.families):
            raise click.UsageError("--scorer names no scorer")
        if self.output is not None:
            check_output(self.output)


def _alike(first: Path, second: Path) -> bool:
    """Whether two files are one, or hold the same."""
    if same_file(first, second):
        return True
    return first.is_file() and second.is_file() and filecmp.cmp(first, second, shallow=False)


def _run(options: _Options, scoring: dict[str, Any]) -> None:
    from prevalence.calibration.annotators import worker_figures
    from prevalence.labelled import JudgedPairs, read_documents

    documents = {
        "dev": read_documents(options.pairs, products=options.products, refuse_unused=True)
    }
    if options.held_out is not None:
        documents["test"] = read_documents(
            options.held_out,
            products=options.held_out_products or options.products,
            refuse_unused=options.held_out_products is not None,
        )
    workers = {name: worker_figures(found) for name, found in documents.items()}
    if options.agreement:
        _show_agreement(options, workers)
        _note_left_out(options, documents)
        return
    sets = {name: JudgedPairs.of(found) for name, found in documents.items()}
    rows = _rows(options, scoring, sets)
    for row in rows:
        row.dev["workers"] = workers["dev"]
        if row.test is not None:
            row.test["workers"] = workers["test"]
    _write(options, rows)
    _show(options, rows, workers)
    _note_left_out(options, documents)
    if not options.quiet:
        _note(options, rows, sets)


def _note_left_out(options: _Options, documents: dict[str, list[Document]]) -> None:
    """Say how many pairs have no label."""
    from prevalence.calibration import label_caution
    from prevalence.cli.errors import note

    names = {"dev": "the first set", "test": "the held-out set"}
    for name, found in documents.items():
        if (caution := label_caution(found)) and not options.quiet:
            note(f"{names[name]}: {caution}")


def _rows(
    options: _Options, scoring: dict[str, Any], sets: dict[str, JudgedPairs]
) -> list[ScorerRow]:
    from prevalence.calibration import check_sets, study
    from prevalence.cli.progress import pair_bar
    from prevalence.scorers.registry import cache_folder

    settings = options.settings
    check_sets(sets["dev"], sets.get("test"), settings)
    named = [name for names in options.families for name in names]
    total = sum(map(len, sets.values())) * len(named)
    kept = any(cache_folder(name, scoring["cache"]) for name in named)
    with keeping_pairs(cached=kept), pair_bar(total, quiet=options.quiet) as done:
        families = [
            [_scored(name, sets, scoring, done) for name in names] for names in options.families
        ]
    return study(sets["dev"], sets.get("test"), families, settings)


def _scored(
    name: str, sets: dict[str, JudgedPairs], scoring: dict[str, Any], done: Any
) -> ScoredPairs:
    from prevalence.calibration import ScoredPairs
    from prevalence.scorers import score_pairs
    from prevalence.scorers.registry import open_scorer

    # Thresholds are yet to be found, so no pair is near one.
    scorer = open_scorer(name, **scoring, recheck=False)
    scores = {
        part: score_pairs(scorer, judged.premises, judged.hypotheses, progress=done)
        for part, judged in sets.items()
    }
    traits = scorer.traits
    return ScoredPairs(
        name,
        traits.digest,
        traits.signature,
        scores["dev"],
        scores.get("test"),
        traits.threshold if traits.calibrated else None,
    )


def _write(options: _Options, rows: Sequence[ScorerRow]) -> None:
    if options.output is None:
        return
    from prevalence.calibration import Calibration, best_of
    from prevalence.errors import InputError
    from prevalence.files import atomic_file

    best = best_of(rows)
    if best.decider.threshold >= 1.0:
        raise InputError(
            f"{best.scored.name} gives every pair the same score, {best.decider.threshold:g}: no "
            "threshold tells pairs apart"
        )
    found = Calibration(
        scorer=best.scored.name,
        scorer_digest=best.scored.digest.hex(),
        scorer_signature=best.scored.signature,
        threshold=best.decider.threshold,
        score_map=best.decider.score_map,
        source={
            "pairs": options.pairs.name,
            "test": None if options.held_out is None else options.held_out.name,
            "relation": options.relation,
            "candidates": options.candidates,
            "map": options.score_map,
            "folds": options.folds,
            "resamples": options.resamples,
            "seed": options.seed,
        },
        dev=best.dev,
        test=best.test,
        products=best.products,
    )
    with atomic_file(options.output) as file:
        file.write(json.dumps(found.to_json(), ensure_ascii=False, indent=1) + "\n")


def _show(options: _Options, rows: Sequence[ScorerRow], workers: dict[str, Any]) -> None:
    from prevalence.calibration import best_of
    from prevalence.report.calibration import calibration_table, summary_table
    from prevalence.report.console import make_console

    if options.as_json:
        found = [row.to_json() for row in rows]
        print_json(found[0] if len(found) == 1 else found)
    elif options.table:
        make_console().print(summary_table(rows))
    else:
        make_console().print(calibration_table(rows, best_of(rows)))
        _show_workers(workers)


def _note(options: _Options, rows: Sequence[ScorerRow], sets: dict[str, JudgedPairs]) -> None:
    """Say what is wrong with the pairs and the figures, and what was written."""
    from prevalence.calibration import best_of, set_cautions, use_caution
    from prevalence.cli.errors import note
    from prevalence.models.registry import trained_on
    from prevalence.wording import counted

    for line in set_cautions(sets["dev"], sets.get("test")):
        note(line)
    for file in filter(None, (options.pairs, options.held_out)):
        for name in dict.fromkeys(name for names in options.families for name in names):
            if trained_on(name.removeprefix("nli:"), file):
                note(
                    f"{name} was trained on {file}: its figures here flatter; see its card for "
                    "held-out ones"
                )
    unscored = sum(part["unscored"] for part in (rows[0].dev, rows[0].test) if part is not None)
    if unscored:
        pairs = counted(unscored, "pair is", "pairs are")
        note(f"{pairs} left out: the hypothesis is longer than a scorer reads")
    if options.output is not None:
        best = best_of(rows)
        if caution := use_caution(best):
            note(f"{caution}; do not score with {options.output}")
        note(f"{options.output} holds the calibration of {best.scored.name}")


def _show_agreement(options: _Options, workers: dict[str, Any]) -> None:
    from prevalence.errors import InputError

    if not any(workers.values()):
        raise InputError(f"{options.pairs}: holds no annotators' labels (worker_labels)")
    if options.as_json:
        print_json(workers)
        return
    _show_workers(workers)


def _show_workers(workers: dict[str, Any]) -> None:
    from prevalence.report.calibration import agreement_lines
    from prevalence.report.console import make_console

    for name, figures in workers.items():
        if figures is not None:
            make_console().print(agreement_lines(name, figures), soft_wrap=True)
