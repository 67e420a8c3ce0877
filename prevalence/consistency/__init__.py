"""Consistency scorers: premise and hypothesis in, a score in [0, 1] out, the direction in the id."""
