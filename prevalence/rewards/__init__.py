"""Prevalence as a reward: a callable for training loops, with nothing to hold but its options."""

from prevalence.rewards.batch import BatchScorer, Sample, Tally
from prevalence.rewards.reward import AsyncReward, PrevalenceReward
from prevalence.rewards.shaping import Shaping
from prevalence.scorers.registry import ScorerOptions

__all__ = [
    "AsyncReward",
    "BatchScorer",
    "PrevalenceReward",
    "Sample",
    "ScorerOptions",
    "Shaping",
    "Tally",
]
