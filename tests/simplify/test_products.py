"""Products with rewritten reviews: what is kept, what continues, what is refused."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from prevalence.errors import InputError
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.runs.resuming import skip_finished
from prevalence.simplify.products import (
    SIGNATURE_KEY,
    finished_simplified,
    simplified_marks,
    simplified_products,
)
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from pathlib import Path


class Upper:
    """Stands for a simplifier: each sentence becomes two."""

    splitter = staticmethod(get_splitter())
    signature = "upper|v:1"

    def __init__(self):
        self.rounds = []

    def rewrite(self, sentences, *, progress=None):
        self.rounds.append(len(sentences))
        return [f"{text.upper()} Yes." for text in sentences]


def product(number, *texts):
    reviews = [Review(text, f"r{k}", {"rating": k}) for k, text in enumerate(texts)]
    return Product(f"p{number}", tuple(reviews), (Summary("s", "It fits."),), "boot",
                   extra={"shop": "x"})  # fmt: skip


def test_reviews_are_rejoined_and_all_else_is_kept():
    given = product(1, "It fits. Warm!", "", "Cold.")
    (found,) = simplified_products([given], Upper())
    texts = [review.simplified for review in found.reviews]
    assert texts == ["IT FITS. Yes. WARM! Yes.", "", "COLD. Yes."]
    assert [(r.text, r.id, r.extra) for r in found.reviews] == [
        (r.text, r.id, r.extra) for r in given.reviews
    ]
    assert (found.id, found.name, found.summaries) == ("p1", "boot", given.summaries)
    assert found.extra == {"shop": "x", SIGNATURE_KEY: "upper|v:1"}


def test_products_stream_in_rounds():
    simplifier = Upper()
    many = (product(n, "It fits. Warm! " * 50) for n in range(13))
    found = simplified_products(many, simplifier)
    assert next(found).id == "p0"
    assert len(simplifier.rounds) == 1
    assert [item.id for item in found] == [f"p{n}" for n in range(1, 13)]
    assert simplifier.rounds == [600, 600, 100]


def test_what_was_read_before_a_failure_is_rewritten():
    def damaged():
        yield product(1, "a")
        raise InputError("in.gz: is damaged")

    found = simplified_products(damaged(), Upper())
    assert next(found).id == "p1"
    with pytest.raises(InputError, match="is damaged"):
        next(found)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    path = tmp_path / "out.jsonl"
    done = simplified_products([product(1, "a"), product(2, "b")], Upper())
    path.write_text("".join(json.dumps(item.to_json()) + "\n" for item in done))
    return path


def left(output, items, signature="upper|v:1"):
    return list(
        skip_finished(
            items,
            finished_simplified(output),
            marks=lambda item: simplified_marks(item, signature),
            keep=lambda _: None,
        )
    )


def test_finished_products_are_left_out(output: Path):
    bad = BadRecord("in:2: bad")
    items = [product(1, "a"), bad, product(2, "b"), product(3, "c")]
    assert left(output, items) == [bad, product(3, "c")]


def test_an_incomplete_last_line_is_cut_off(output: Path):
    whole = output.read_bytes()
    output.write_bytes(whole + whole[:30])
    assert left(output, [product(1, "a"), product(2, "b"), product(3, "c")]) == [product(3, "c")]
    assert output.read_bytes() == whole


def test_rewriting_again_what_was_rewritten_continues_too(output: Path):
    other = SimpleNamespace(
        splitter=get_splitter(), signature="other", rewrite=lambda found, progress: list(found)
    )
    (again,) = simplified_products([product(1, "a")], other)
    assert left(output, [again, product(2, "b")]) == []


@pytest.mark.parametrize(
    ("items", "signature", "message"),
    [
        ([product(1, "a"), product(2, "B")], "upper|v:1", "'p2', whose record has changed since"),
        ([product(1, "a"), product(3, "b")], "upper|v:1", "'p2', which is not what this input"),
        ([product(1, "a")], "upper|v:1", "'p2', which this input does not have"),
        ([product(1, "a"), product(2, "b")], "upper|v:2", r"of other settings \(upper\|v:1\)"),
    ],
)
def test_other_input_or_settings_are_refused(output: Path, items, signature, message):
    before = output.read_bytes()
    with pytest.raises(InputError, match=message):
        left(output, items, signature)
    assert output.read_bytes() == before


@pytest.mark.parametrize("line", ["{", "[]", '{"id": "p1"}', '{"reviews": 3}'])
def test_another_file_is_refused(tmp_path: Path, line: str):
    path = tmp_path / "other.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=r"other\.jsonl:1: not a record of an earlier run"):
        left(path, [product(1, "a")])
    assert path.read_text() == line + "\n"
