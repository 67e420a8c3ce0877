"""Summaries made of the reviews' own sentences: greedy construction, fast, and its rivals."""
