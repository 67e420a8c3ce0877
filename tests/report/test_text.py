"""Text that drives no terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.report.text import inert, one_line


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_nothing_that_acts_is_left(text: str) -> None:
    for shown in (inert(text), one_line(text)):
        kinds = {unicodedata.category(c) for c in shown if c != "\n"}
        assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
        assert not {unicodedata.bidirectional(c) for c in shown} & {"RLO", "LRO", "RLE", "LRE",
                                                                    "PDF", "RLI", "LRI", "FSI",
                                                                    "PDI"}  # fmt: skip
    assert "\n" not in one_line(text)


@given(st.text(alphabet=st.characters(categories=["L", "M", "N", "P", "S", "Zs"])))
def test_what_only_shows_is_left_alone(text: str) -> None:
    assert inert(text) == text
    assert one_line(text) == text


@pytest.mark.parametrize("text", ["👨‍👩‍👧", "می‌خواهم", "naïve – 😀"])
def test_joiners_that_scripts_and_emoji_need_are_kept(text: str) -> None:
    assert one_line(text) == text


def test_line_feeds() -> None:
    assert inert("a\r\nb\tc") == "a␦\nb␦c"
    assert one_line("a\r\n\t b") == "a  b"
