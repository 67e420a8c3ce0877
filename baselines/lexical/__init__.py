"""Metrics of shared words and characters: no model, no weights."""
