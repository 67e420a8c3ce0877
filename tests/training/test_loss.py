import math

import pytest
import torch

from prevalence.training.loop import nli_loss

# softmax of these logits is (1/2, 1/3, 1/6)
LOGITS = torch.log(torch.tensor([[3.0, 2.0, 1.0]]))


def loss_of(target: list[float], binary: bool, smoothing: float = 0.0) -> float:
    return float(
        nli_loss(LOGITS, torch.tensor([target]), torch.tensor([binary]), smoothing=smoothing)
    )


def test_threeway_label_is_cross_entropy() -> None:
    assert loss_of([0.0, 0.0, 1.0], False) == pytest.approx(math.log(6))


def test_soft_threeway_label_is_expected_cross_entropy() -> None:
    expected = 0.5 * math.log(2) + 0.5 * math.log(3)
    assert loss_of([0.5, 0.5, 0.0], False) == pytest.approx(expected)


def test_binary_positive_is_minus_log_p() -> None:
    assert loss_of([1.0, 0.0, 0.0], True) == pytest.approx(math.log(2))


def test_binary_negative_is_minus_log_one_minus_p() -> None:
    # 1 − 1/2 = 1/2, while the three-way cost of "neutral" would be log 3
    assert loss_of([0.0, 1.0, 0.0], True) == pytest.approx(math.log(2))


def test_soft_binary_label_of_three_annotators() -> None:
    logits = torch.log(torch.tensor([[1.0, 1.0, 2.0]]))  # p_e = 1/4
    value = nli_loss(logits, torch.tensor([[2 / 3, 1 / 3, 0.0]]), torch.tensor([True]))
    assert float(value) == pytest.approx(2 / 3 * math.log(4) + 1 / 3 * math.log(4 / 3))


def test_smoothing_spreads_over_three_or_two_classes() -> None:
    expected = 0.8 * math.log(2) + 0.1 * math.log(3) + 0.1 * math.log(6)
    assert loss_of([1.0, 0.0, 0.0], False, 0.3) == pytest.approx(expected)
    assert loss_of([1.0, 0.0, 0.0], True, 0.3) == pytest.approx(math.log(2))


def test_batch_mixes_both_kinds_and_takes_the_mean() -> None:
    targets = torch.tensor([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    value = nli_loss(LOGITS.repeat(2, 1), targets, torch.tensor([True, False]))
    assert float(value) == pytest.approx((math.log(2) + math.log(3)) / 2)


def test_binary_negative_leaves_the_split_of_the_rest_alone() -> None:
    logits = LOGITS.clone().requires_grad_(True)
    nli_loss(logits, torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([True])).backward()
    assert logits.grad is not None
    # d/dz_n and d/dz_c are proportional to p_n and p_c: their ratio stays 2 : 1
    assert float(logits.grad[0, 1] / logits.grad[0, 2]) == pytest.approx(2.0, rel=1e-4)
