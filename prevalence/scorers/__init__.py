"""Scorers of (premise, hypothesis) pairs, each with an id that names its direction."""
