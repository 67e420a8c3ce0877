"""Metrics of language models: how likely a text is, and how well masked words are guessed.

Networks come from :mod:`prevalence.baselines.neural.runner`, one for all metrics that name it.
"""

__all__: list[str] = []
