"""Rows by hand, as commands write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE = (
    "<script>window.attacked = 1</script>",
    '"><img src=x onerror="window.attacked = 2">',
    "</script><script>window.attacked = 3</script>",
    "<!--<script>",
    "javascript:window.attacked=4",
    "' onmouseover='window.attacked=5",
    "{{ 7 * 7 }} {% raw %} ${window.attacked=6}",
    "\u202eevil\u2066 order \x1b[31m \u2028 line",
    "&lt;b&gt; &#60;b&#62;",
    "\ud800 half",
)
"""Texts that would run, or drive what shows them, if anything took them for more than text."""


@pytest.fixture(params=[*HOSTILE, "x" * 100_000], ids=range(len(HOSTILE) + 1))
def hostile_text(request: pytest.FixtureRequest) -> str:
    """Each of the texts, and a very long word."""
    return str(request.param)


@pytest.fixture
def hostile_texts() -> tuple[str, ...]:
    """All of them at once."""
    return (*HOSTILE, "x" * 100_000)


def _sentence(text: str, supporting: Any, *, m: int = 3, **more: Any) -> dict[str, Any]:
    """A sentence of a row; 0.9 for a review that supports it and 0.1 for one that does not."""
    asked = supporting is not None
    return {
        "text": text,
        "start": 0,
        "end": len(text),
        "support": len(supporting) if asked else None,
        "supporting_reviews": supporting,
        "contradicting_reviews": [] if asked else None,
        "trivial": False,
        "redundant_with": None,
        "entailment": [0.9 if i in supporting else 0.1 for i in range(m)] if asked else None,
        **more,
    }


def _row(product: str, system: str, sentences: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A prevalence row of three reviews at the threshold .5."""
    counted = [s for s in sentences if s["support"] is not None]
    return {
        "schema": 1,
        "id": product,
        "system": system,
        "prevalence": sum(s["support"] for s in counted) / (3 * max(len(sentences), 1)),
        "n_reviews": 3,
        "n_sentences": len(sentences),
        "sentences": sentences,
        "signature": "prev|nli:fake@1|thr:0.5|v:0",
        "error": None,
        **more,
    }


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """Two products by two systems; the second system has every fault there is."""
    faults = [
        _sentence("It is a lamp.", None, trivial=True),
        _sentence("It is bright.", [0], contradicting_reviews=[1], entailment=[0.9, 0.1, 0.45]),
        _sentence("Very bright.", None, redundant_with=1),
        _sentence("It flies.", []),
    ]
    return [
        _row("p/1", "good", [_sentence("It is bright.", [0, 1])]),
        _row("p/1", "bad", faults),
        _row("p2", "good", [_sentence("It is cheap.", [0, 1, 2])]),
        _row("p2", "bad", [_sentence("It is dear.", [2])]),
    ]


@pytest.fixture
def sentence() -> Callable[..., dict[str, Any]]:
    """Makes a sentence of a row."""
    return _sentence


@pytest.fixture
def row() -> Callable[..., dict[str, Any]]:
    """Makes a row."""
    return _row
