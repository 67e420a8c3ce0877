"""Precisions by name, and the warning where a processor computes them slowly."""

import warnings

import pytest
import torch

from prevalence.errors import ConfigurationError
from prevalence.models.devices import PRECISIONS, dtype_name

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)


@pytest.fixture(params=["AVX2", "AVX512"])
def capability(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A processor with or without instructions for half precisions."""
    name: str = request.param
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: name)
    return name


def warned(name: str, device: torch.device) -> list[str]:
    """What is warned of when a precision is chosen."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert dtype_name(name, device) == name
    return [str(warning.message) for warning in found]


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_a_half_precision_that_is_slow_here_is_warned_of(name: str, capability: str) -> None:
    expected = f"this processor has no instructions for {name}, which is much slower here than"
    messages = warned(name, CPU)
    assert len(messages) == (1 if capability == "AVX2" else 0)
    assert all(message.startswith(expected) for message in messages)


def test_float32_and_other_devices_are_not_warned_of(capability: str) -> None:
    assert warned("float32", CPU) == warned("bfloat16", GPU) == warned("float16", GPU) == []


def test_auto_is_what_the_caller_says() -> None:
    assert dtype_name("auto", CPU) == "float32"
    assert dtype_name("auto", GPU, auto="bfloat16") == "bfloat16"


def test_an_unknown_precision_names_those_to_choose_from() -> None:
    with pytest.raises(ConfigurationError, match="'float16': choose from auto, float32, bfloat16"):
        dtype_name("float16", CPU, among=PRECISIONS)
