"""Fine-tuning of entailment classifiers on labelled pairs.

Nothing is imported here, so that ``import prevalence.training`` stays free of torch; the entry
point is ``prevalence.training.pipeline.train``.
"""

__all__: list[str] = []
