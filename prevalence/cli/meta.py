"""`prevalence meta`: which metric agrees with people, and how far people agree."""

from __future__ import annotations

import click

from prevalence.cli.help import HelpGroup
from prevalence.cli.meta_key_points import key_points
from prevalence.cli.meta_metrics import correlate, figures, preferences, significance, stability
from prevalence.cli.meta_people import agreement, means

__all__ = ["meta"]

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
  CSV, TSV       columns id, system and one for each dimension that people rated;
                 rater where several rated, and metric:NAME for a metric
  key points     comments with key points and labels, for key-points alone
LABEL=FILE names a file's metrics LABEL:METRIC. A metric called FAMILY.DIMENSION
judges that dimension and is compared with it alone.
"""


class _MetaGroup(HelpGroup):
    """Lists its commands in the order given, each with the first line of its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        about = [
            (name, (each.help or "").partition("\n")[0]) for name, each in self.commands.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(about)


@click.group(
    cls=_MetaGroup,
    commands=[
        correlate,
        stability,
        preferences,
        key_points,
        agreement,
        significance,
        means,
        figures,
    ],
    epilog=_EPILOG,
)
def meta() -> None:
    """Which metric agrees with people, and how far do people agree with each other?"""
