"""Opinion prevalence: does a summary say what reviewers really say, and how many of them?

>>> from prevalence import OpinionPrevalence                           # doctest: +SKIP
>>> metric = OpinionPrevalence()                                       # doctest: +SKIP
>>> metric.score(reviews, summary, name="waterproof boot").prevalence  # doctest: +SKIP
0.54
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prevalence.api import OpinionPrevalence, StatementSupport
    from prevalence.errors import PrevalenceError
    from prevalence.records import Product, Review, Summary
    from prevalence.scored import ScoredSentence, ScoredSummary
    from prevalence.summarize.candidates import LengthRule
    from prevalence.summarize.extract import Extract, SummaryOptions

__all__ = [
    "Extract",
    "LengthRule",
    "OpinionPrevalence",
    "PrevalenceError",
    "Product",
    "Review",
    "ScoredSentence",
    "ScoredSummary",
    "StatementSupport",
    "Summary",
    "SummaryOptions",
]

_HOMES = {
    "Extract": "prevalence.summarize.extract",
    "LengthRule": "prevalence.summarize.candidates",
    "OpinionPrevalence": "prevalence.api",
    "PrevalenceError": "prevalence.errors",
    "Product": "prevalence.records",
    "Review": "prevalence.records",
    "ScoredSentence": "prevalence.scored",
    "ScoredSummary": "prevalence.scored",
    "StatementSupport": "prevalence.api",
    "Summary": "prevalence.records",
    "SummaryOptions": "prevalence.summarize.extract",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name == "__version__":
        from prevalence.signature import package_version

        return package_version()
    from prevalence.lazy import loader

    return loader(__name__, _HOMES)(name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
