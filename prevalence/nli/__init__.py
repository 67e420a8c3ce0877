"""The entailment core: pairs, the scorer of pairs, and the cache of its answers."""
