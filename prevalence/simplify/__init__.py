"""Simple sentences out of reviews: a sequence-to-sequence model rewrites, scores stay as they are.

Rewritten reviews give summarisers statements that stand alone; summaries made from them are
scored against what the reviewers wrote.
"""
