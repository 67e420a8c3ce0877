"""What opinion prevalence is compared with: metrics of a whole summary and LLM judges.

A module here takes a summary with its reviews or a reference, has an id of its own, and writes
score rows. Scorers of a single (premise, hypothesis) pair live in ``prevalence.scorers``.

>>> from prevalence.baselines import Example, get
>>> example = Example("The boots are warm.", references=("Very warm boots.",))
>>> get("rouge-1").score([example]).round(3).tolist()
[0.571]
"""

from prevalence.baselines.protocol import Entry, Example, Metric, Runtime
from prevalence.baselines.registry import get, names

__all__ = ["Entry", "Example", "Metric", "Runtime", "get", "names"]
