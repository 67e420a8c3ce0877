"""Nucleus sampling by inversion: against the definition, a library and its own law."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.llm.nucleus import NucleusSampler, nucleus_choice, uniforms


def by_definition(logits, number, p):
    """The nucleus and the inversion written out for one row, in float64."""
    weights = np.exp(logits - logits.max())
    weights /= weights.sum()
    order = np.argsort(-weights, kind="stable")
    nucleus, held = [], 0.0
    for token in order:
        nucleus.append(token)
        held += weights[token]
        if held >= p:
            break
    target, passed = number * held, 0.0
    for token in nucleus:
        passed += weights[token]
        if passed > target:
            return token
    return nucleus[-1]


@given(
    seed=st.integers(0, 10_000), size=st.integers(1, 600), p=st.floats(0.05, 1.0),
    spread=st.sampled_from([0.1, 1.0, 5.0]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_choice_is_that_of_the_definition(seed, size, p, spread):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(4, size)) * spread
    numbers = rng.random(4, np.float32)
    chosen = nucleus_choice(torch.tensor(logits), torch.from_numpy(numbers), p).tolist()
    for row in range(4):
        near = {by_definition(logits[row], float(numbers[row]) + shift, p) for shift in
                (-1e-4, 0.0, 1e-4)}  # fmt: skip
        assert chosen[row] in near


def test_the_smallest_nucleus_is_the_most_probable_token():
    logits = torch.tensor([[0.0, 2.0, 1.0]]).expand(3, -1)
    chosen = nucleus_choice(logits, torch.tensor([0.0, 0.5, 0.999]), 1e-300)
    assert chosen.tolist() == [1, 1, 1]


@pytest.mark.parity
def test_the_nucleus_is_that_of_transformers():
    from transformers import TopPLogitsWarper

    generator = torch.Generator().manual_seed(2)
    logits = torch.randn(20, 50, generator=generator) * 3
    kept = torch.isfinite(TopPLogitsWarper(0.8)(None, logits))
    numbers = torch.linspace(0, 1 - 1e-6, 4000)
    for row in range(20):
        drawn = nucleus_choice(logits[row].expand(4000, -1), numbers, 0.8)
        assert set(drawn.tolist()) <= set(torch.nonzero(kept[row]).flatten().tolist())
        # Evenly spaced numbers give each token its share of the nucleus.
        shares = torch.bincount(drawn, minlength=50) / 4000
        wanted = torch.softmax(logits[row].masked_fill(~kept[row], -torch.inf), 0)
        assert torch.allclose(shares, wanted, atol=1e-3)


def test_a_flat_distribution_over_more_tokens_than_are_sorted_first():
    # Each of 1,000 tokens has .001; .9 of them are inside, and u = .5 is in their middle.
    chosen = nucleus_choice(torch.zeros(1, 1000), torch.tensor([0.5]), 0.9)
    order = torch.zeros(1, 1000).sort(descending=True)[1][0].tolist()
    assert 448 <= order.index(int(chosen)) <= 452


def test_numbers_belong_to_text_sample_and_seed():
    first = uniforms("It fits.", samples=3, steps=8, seed=1)
    assert first.shape == (3, 8)
    assert first.dtype == np.float32
    assert ((first >= 0) & (first < 1)).all()
    assert np.array_equal(uniforms("It fits.", samples=2, steps=8, seed=1), first[:2])
    assert np.array_equal(uniforms("It fits.", samples=3, steps=4, seed=1), first[:, :4])
    for other in (uniforms("It fits!", samples=3, steps=8, seed=1),
                  uniforms("It fits.", samples=3, steps=8, seed=2)):  # fmt: skip
        assert not np.array_equal(other, first)
    assert not np.array_equal(first[0], first[1])


def test_greedy_search_takes_the_drawn_token():
    sampler = NucleusSampler(torch.tensor([[0.0, 0.99]]), p=1.0)
    logits = torch.log(torch.tensor([[0.2, 0.5, 0.3]]))
    steps = [sampler(torch.zeros(1, 1), logits.clone()) for _ in range(2)]
    assert [int(scores.argmax()) for scores in steps] == [1, 0]
    assert all(torch.isfinite(scores).sum() == 1 for scores in steps)
