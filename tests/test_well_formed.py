"""What becomes of characters that no UTF-8 file can hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prevalence.records import well_formed


@given(st.text(st.characters(codec=None)))
def test_well_formed_texts_can_be_encoded_and_keep_their_length(text):
    repaired = well_formed(text)
    assert len(repaired) == len(text)
    assert repaired.encode("utf-8").decode("utf-8") == repaired
    assert all(a == b or (b == "\ufffd" and "\ud800" <= a <= "\udfff")
               for a, b in zip(text, repaired, strict=True))  # fmt: skip
