"""Pairs a second of a machine, beside the common ways to score them."""
