"""What the benchmark of the profile's cost counts."""

from __future__ import annotations

from benchmarks import profile_cost


def test_made_products_are_the_same_for_a_seed() -> None:
    one, two = (profile_cost.made_product(5, 2, seed=3) for _ in range(2))
    assert one == two
    assert (len(one.reviews), len(one.summaries)) == (5, 2)


def test_a_line_counts_pairs_of_both() -> None:
    line = profile_cost.measured(3, 2, most=4, seed=1)
    # Two summaries of five sentences: 10 pairs each within, 3 reviews a sentence that counts.
    assert line["plain"] <= 2 * (10 + 5 * 3)
    # Four statements: three reviews and two summaries each, and six pairs of them at most, twice.
    assert 4 * (3 + 2) - 2 * 4 <= line["profile"] <= 4 * (3 + 2) + 12
    assert line["ratio"] == (line["plain"] + line["profile"]) / line["plain"]
    assert line["statements"] <= 4
    assert "width" not in line
