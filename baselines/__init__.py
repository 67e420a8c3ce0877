"""What opinion prevalence is compared with: metrics of a whole summary and LLM judges.

A module here takes a summary with its reviews or a reference, has an id of its own, and writes
score rows. Scorers of a single (premise, hypothesis) pair live in ``prevalence.consistency``.
"""
