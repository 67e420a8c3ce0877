"""Resampling, agreement and rank correlation."""
