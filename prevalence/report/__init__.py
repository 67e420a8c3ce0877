"""Scored summaries → tables for people."""
