"""Measurements: each prints a table and appends a row to results/."""
