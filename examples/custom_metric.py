"""A metric of your own, beside prevalence: what to write, and how to run it.

    python examples/custom_metric.py > common-words.jsonl
    prevalence meta correlate examples/ratings.jsonl common-words.jsonl

The metric is the share of a summary's words that at least two reviews use. It prints one score row
a summary, which `prevalence meta` compares with people and with other metrics.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prevalence.baselines import Entry, Example
from prevalence.baselines.protocol import REVIEWS, Progress
from prevalence.baselines.references import References
from prevalence.baselines.run import BaselineRun
from prevalence.readers import read_products
from prevalence.scorers.rouge import words

SUMMARIES = Path(__file__).parent / "summaries.jsonl"

ENTRY = Entry(
    name="common-words",
    about="share of the summary's words that at least two reviews use, Porter stems",
    needs=(REVIEWS,),
    range=(0.0, 1.0),
    citation="an example",
    factory="examples.custom_metric:CommonWords",
    undefined="the summary has no word",
)

SIGNATURE = {"impl": "example-1", "stem": "porter"}
"""All that changes a value: raise the number when the code below changes one."""


class CommonWords:
    """The metric, in the form of :class:`prevalence.baselines.Metric`."""

    name = ENTRY.name
    entry = ENTRY
    needs = ENTRY.needs
    signature = SIGNATURE
    work_unit = 64

    def score(
        self, examples: Sequence[Example], *, progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Score examples; NaN for a summary without a word."""
        values = np.array([_share(example) for example in examples], np.float64)
        if progress is not None:
            progress(len(examples))
        return values


def _share(example: Example) -> float:
    used_by = Counter(word for review in example.reviews for word in set(words(review, stem=True)))
    mine = set(words(example.summary, stem=True))
    return sum(used_by[word] >= 2 for word in mine) / len(mine) if mine else float("nan")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a score row for each summary of a file."""
    given = sys.argv[1:] if arguments is None else arguments
    source = Path(given[0]) if given else SUMMARIES
    run = BaselineRun([CommonWords()], references=References())
    for row in run.rows(read_products(source)):
        print(row.to_json_line())


if __name__ == "__main__":
    main()
