"""Metrics that ask questions about one text and look for the answers in another."""
