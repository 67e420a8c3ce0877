import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prevalence.training.inputs import collate, plan_batches

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@UNHURRIED
@given(st.lists(st.integers(1, 50), max_size=200), st.integers(50, 300), st.booleans())
def test_batches_cover_everything_within_the_budget(
    lengths: list[int], budget: int, shuffled: bool
) -> None:
    rng = np.random.default_rng(0) if shuffled else None
    batches = plan_batches(lengths, budget=budget, rng=rng)
    assert sorted(i for rows in batches for i in rows) == list(range(len(lengths)))
    assert all(max(lengths[i] for i in rows) * len(rows) <= budget for rows in batches)


def test_same_generator_seed_gives_the_same_batches() -> None:
    lengths = list(range(1, 90))
    first, second, other = (
        plan_batches(lengths, budget=200, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert first == second != other


def test_collate_pads_on_the_right() -> None:
    encoded = {"input_ids": [[5, 6, 7], [8]], "token_type_ids": [[0, 0, 1], [1]]}
    batch = collate(encoded, [1, 0], pad_id=9)
    assert batch["input_ids"].tolist() == [[8, 9, 9], [5, 6, 7]]
    assert batch["token_type_ids"].tolist() == [[1, 0, 0], [0, 0, 1]]
    assert batch["attention_mask"].tolist() == [[1, 0, 0], [1, 1, 1]]
