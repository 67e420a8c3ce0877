"""`prevalence meta`: a group whose commands are loaded when they are used."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["meta"]

_COMMANDS = {
    "correlate": "Which metric agrees with people?",
    "stability": "Does a metric do as well on good systems as on bad ones?",
    "preferences": "Does a metric prefer the systems that people prefer?",
    "agreement": "Do people agree with each other?",
    "significance": "Are differences between samples, groups and counts more than chance?",
    "means": "What are the averages of each system?",
    "figures": "Draw correlations, box plots, quality, ratings or averages.",
}

_EPILOG = """\b
Examples:
  prevalence meta correlate examples/ratings.jsonl
  prevalence meta means examples/ratings.jsonl --format markdown

\b
Each INPUT is a file or a folder; all of them are merged by item and system:
  score rows     {"id", "system", "metrics", "samples", "human"} one a line, and
                 the rows of `prevalence score`, as metric prevalence
  OpinSummEval   scores one case a line: {MODEL: {METRIC: ..., "annot1": {...}}}
  SummEval-OP    its file of mean ratings and its file of all ratings
  LLM_summeval   annotations, and EVALUATOR/eval_SYSTEM_generations/DIM_METHOD.txt
LABEL=FILE calls a file's metrics LABEL:METRIC. A metric called FAMILY.DIMENSION
judges that dimension and is compared with it alone.
"""


class _MetaGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"prevalence.cli.meta_{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_MetaGroup, epilog=_EPILOG)
def meta() -> None:
    """Which metric agrees with people, and how far do people agree with each other?"""
