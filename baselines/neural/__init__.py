"""Metrics that run a model: similarity of token vectors, and likelihoods of texts.

Every one of them takes its network from :mod:`prevalence.baselines.neural.runner`, which loads a
checkpoint once however many metrics use it.
"""

__all__: list[str] = []
