"""Prevalence as a reward: a callable for training loops, with nothing to hold but its options."""

from prevalence.rewards.batch import BatchScorer, ModelOptions, Sample, Tally
from prevalence.rewards.reward import AsyncReward, PrevalenceReward
from prevalence.rewards.shaping import Shaping

__all__ = [
    "AsyncReward",
    "BatchScorer",
    "ModelOptions",
    "PrevalenceReward",
    "Sample",
    "Shaping",
    "Tally",
]
