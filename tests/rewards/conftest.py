"""A small invented world: what each of its reviews says of each sentence."""

from __future__ import annotations

import pytest

from prevalence.rewards import PrevalenceReward

WARM, DRY, DEAR = "They are warm.", "They keep feet dry.", "They cost a lot."
OWNED, TOASTY, COLD = "I own boots.", "They are toasty.", "They are cold."
REVIEWS = ("warm and dry", "warm", "warm but dear", "nothing of note")


@pytest.fixture
def answers():
    said = {
        "warm and dry": (WARM, TOASTY, DRY),
        "warm": (WARM, TOASTY),
        "warm but dear": (WARM, DEAR),
        "I bought a pair of boots.": (OWNED,),
        WARM: (TOASTY,),
    }
    denied = dict.fromkeys(REVIEWS[:3], (COLD,))
    return {(a, b): (0.9, 0.0) for a, claims in said.items() for b in claims} | {
        (a, b): (0.0, 0.9) for a, claims in denied.items() for b in claims
    }


@pytest.fixture
def reward_of(fake_scorer, answers):
    """Makes a reward over the invented world."""

    def build(*, scorer=None, **options):
        return PrevalenceReward(scorer=scorer or fake_scorer(answers), **options)

    return build
