"""The entailment core: checkpoints, the pair scorer, and the cache of its answers."""
