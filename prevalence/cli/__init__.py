"""The command line: one file a command, loaded when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

__all__ = ["main"]

_COMMANDS = {
    "score": "Score summaries: how prevalent are their opinions among the reviews?",
    "support": "Count the reviews that imply a statement, and say which.",
    "models": "List the models that are known by name.",
    "cache": "Show or clear the store of pair probabilities.",
    "train": "Fine-tune an NLI model on labelled pairs.",
}

_EPILOG = """\b
Examples:
  prevalence score examples/summaries.jsonl
  prevalence score examples/summaries.jsonl --explain --systems balanced
  prevalence support examples/reviews.txt "The soles grip well on wet ground."
"""


class _LazyGroup(click.Group):
    """Knows its commands by name; imports one only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"prevalence.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        from prevalence.cli.errors import reported

        with reported(debug=ctx.params.get("debug", False)):
            return super().invoke(ctx)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from prevalence.signature import package_version

        click.echo(f"prevalence {package_version()}")
        ctx.exit()


@click.group(
    cls=_LazyGroup, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:  # noqa: ARG001 - read by the group
    """Opinion prevalence: does a summary say what reviewers really say, and how many of them?

    Scores need no reference summary and, with the embedded model, no network.
    """
