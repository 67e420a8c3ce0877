"""The command line: one file a command, loaded when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from prevalence.cli.help import HelpGroup

__all__ = ["main"]

_COMMANDS = {
    "score": "Score summaries: how prevalent are their opinions among the reviews?",
    "baselines": "Score summaries by other metrics: ROUGE, BERTScore, BARTScore, SummaC and more.",
    "judge": "Score summaries by a language model as judge: OP-I, G-Eval, Omni, RTS, MCQ and more.",
    "audit": "How far can you trust a judge? Use of the scale, consistency, order effects, "
    "attacks.",
    "summarize": "Make a summary of each product's reviews, out of their own sentences.",
    "claims": "Cut summaries into single statements, by rule or with a language model.",
    "report": "Show rows as one HTML file: who said what, with the reviews behind every sentence.",
    "table": "Put rows into a table for a paper or a spreadsheet: systems, summaries or sentences.",
    "verify": "Score a sample of rows again, and fail if anything differs.",
    "plot": "Draw rows as plots, in colours that are safe for colour blindness.",
    "support": "Count the reviews that imply a statement, and say which.",
    "models": "List the models that are known by name.",
    "cache": "Show or clear the store of pair probabilities and metric values.",
    "calibrate": "Choose a scorer and its threshold on labelled pairs.",
    "conv": "Train or convert a SummaC-Conv head, or convert AlignScore.",
    "train": "Fine-tune an NLI model on labelled pairs.",
    "meta": "Which metric agrees with people, and how far do people agree with each other?",
    "distill": "Make soft labels for training: a teacher model scores statements against reviews.",
    "simplify": "Rewrite review sentences into simpler ones, beside the original reviews.",
    "train-simplifier": "Fine-tune the model that simplify uses, on human rewritings.",
}

_EPILOG = """\b
Examples:
  prevalence score examples/summaries.jsonl
  prevalence score examples/summaries.jsonl --explain --systems balanced
  prevalence support examples/reviews.txt "The soles grip well on wet ground."
"""


class _LazyGroup(HelpGroup):
    """Knows its commands by name; imports one only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in _COMMANDS:
            return None
        home = name.replace("-", "_")
        command: click.Command = getattr(import_module(f"prevalence.cli.{home}"), home)
        for each in (command, *getattr(command, "commands", {}).values()):
            if not any(parameter.name == "debug" for parameter in each.params):
                each.params.append(_debug_option())
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        from prevalence.cli.errors import open_streams, reported

        open_streams()
        with reported(lambda: False):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        from prevalence.cli.errors import reported

        with reported(lambda: bool(ctx.meta.get(_DEBUG))):
            _write_anything()
            return super().invoke(ctx)


_DEBUG = "prevalence.debug"


def _keep_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_DEBUG] = value or ctx.meta.get(_DEBUG, False)


def _debug_option() -> click.Option:
    return click.Option(
        ["--debug"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_keep_debug,
        help="Show the traceback of an error.",
    )


def _write_anything() -> None:
    """Let no character that the terminal's encoding lacks stop a run."""
    import sys

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from prevalence.signature import package_version

        click.echo(f"prevalence {package_version()}")
        ctx.exit()


@click.group(
    cls=_LazyGroup,
    epilog=_EPILOG,
    params=[_debug_option()],
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Opinion prevalence: does a summary say what reviewers really say, and how many of them?

    Scores need no reference summary and, with the embedded model, no network.
    """
