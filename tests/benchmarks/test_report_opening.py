"""The invented rows of the benchmark of opening a report."""

from __future__ import annotations

from benchmarks.report_opening import SENTENCES, invented
from prevalence.report.contents import Contents


def test_rows_fit_their_records_and_are_the_same_for_a_seed() -> None:
    found = list(invented(2, 3, 4, seed=5))
    assert found == list(invented(2, 3, 4, seed=5))
    contents = Contents()
    for record, rows in found:
        for row in rows:
            contents.add(row)
            for sentence in row["sentences"]:
                for passage in sentence["evidence"]:
                    review = record.reviews[passage["review"]].text
                    assert review[passage["start"] : passage["end"]] == passage["text"]
    contents.attach(record for record, _ in found)
    assert contents.unmatched == 0
    assert [len(product.reviews) for product in contents.products] == [4, 4]
    assert contents.cells == 2 * 3 * 4 * SENTENCES
