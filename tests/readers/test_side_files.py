"""Summaries one a line, product names, and reviews on their own."""

from __future__ import annotations

import gzip
import io
import json
import sys

import pytest

from prevalence.errors import InputError
from prevalence.readers import read_authors, read_product_names, read_reviews
from prevalence.records import BadRecord, Product, Review, Summary

COPYCAT = "cat\tprod_id\trev1\trev2\tsumm1\nc\tB1\ta\tb\tgold\nc\tB2\tc\td\tgold\n"


@pytest.fixture
def reviews(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text(COPYCAT)
    return path


def write(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_summaries_join_products_by_line_number(tmp_path, reviews):
    lines = write(tmp_path, "One. Two.\r\n\r\n", "coop.txt")
    first, second = read_authors(lines, reviews=reviews, names={"B2": "sock"})
    assert first == Product(
        id="B1",
        reviews=(Review("a"), Review("b")),
        summaries=(Summary("coop", "One. Two."),),
        extra={"category": "c"},
        source=f"{reviews}:2",
    )
    assert (second.name, second.summaries) == ("sock", (Summary("coop", ""),))


def test_the_stem_of_a_packed_file(tmp_path, reviews):
    lines = write(tmp_path, gzip.compress(b"a\nb\n"), "coop.v1.txt.gz")
    assert next(read_authors(lines, reviews=reviews)).summaries[0].system == "coop.v1"


def test_reviews_may_be_json_lines_without_summaries(tmp_path):
    path = write(tmp_path, '{"id": "x", "reviews": ["a"]}\n{"id": "y", "reviews": []}\n', "r.jsonl")
    good, bad = read_authors(write(tmp_path, "s\nt\n", "sys"), reviews=path)
    assert good.summaries == (Summary("sys", "s"),)
    assert isinstance(bad, BadRecord)
    assert (bad.id, bad.system) == ("y", "sys")


@pytest.mark.parametrize(("text", "count"), [("one\n", 1), ("1\n2\n3\n4", 4)])
def test_different_numbers_of_lines(tmp_path, reviews, text, count):
    path = write(tmp_path, text, "s.txt")
    items = list(read_authors(path, reviews=reviews))
    good = [item for item in items if isinstance(item, Product)]
    bad = [item for item in items if isinstance(item, BadRecord)]
    assert len(good) == min(count, 2)
    assert len(bad) == abs(count - 2)
    assert all(f"there are {count} summary lines and 2 products" in item.error for item in bad)
    assert all(item.system == "s" for item in bad)


def test_surplus_names_its_place(tmp_path, reviews):
    *_, bad = read_authors(write(tmp_path, "1\n2\n3\n", "s.txt"), reviews=reviews)
    assert bad.error.startswith(f"{tmp_path}/s.txt:3: the summary has no product; ")
    *_, bad = read_authors(write(tmp_path, "1\n", "s.txt"), reviews=reviews)
    assert bad.error.startswith(f"{reviews}:3: the product has no summary; ")
    assert bad.id == "B2"


def test_a_row_without_an_id_takes_no_summary_line(tmp_path):
    reviews = write(tmp_path, "id,review\n,Great\np1,Warm\np2,Leaks\n", "r.csv")
    first, second, bad = read_authors(write(tmp_path, "S1\nS2\n", "s.txt"), reviews=reviews)
    assert (first.id, first.summaries) == ("p1", (Summary("s", "S1"),))
    assert (second.id, second.summaries) == ("p2", (Summary("s", "S2"),))
    assert bad.error.startswith(f"{reviews}:2: the row has no product id, so it is left out; ")
    assert bad.system == "s"
    _, lone, _ = read_authors(write(tmp_path, "S1\n", "s.txt"), reviews=reviews)
    assert "has no summary; there are 1 summary lines and 2 products" in lone.error


def test_a_summary_line_that_is_not_utf8(tmp_path, reviews):
    bad, good = read_authors(write(tmp_path, b"a\xff\nfine\n", "s.txt"), reviews=reviews)
    assert (bad.id, bad.system) == ("B1", "s")
    assert bad.error.startswith(f"{tmp_path}/s.txt:1: not UTF-8 at byte 2 of the line; ")
    assert good.summaries[0].text == "fine"


def test_authors_files_that_cannot_be_read(tmp_path, reviews):
    with pytest.raises(InputError, match="no such file"):
        read_authors(tmp_path / "absent", reviews=reviews)
    with pytest.raises(InputError, match="no such file"):
        read_authors(reviews, reviews=tmp_path / "absent")
    with pytest.raises(InputError, match="both"):
        read_authors("-", reviews="-")


def test_names_from_lines(tmp_path):
    text = "\ufeffB1 FRYE  Boot\r\n\nB2\tblack\tsock \n  B1 last wins\n"
    path = write(tmp_path, text, "names.txt")
    assert read_product_names(path) == {"B1": "last wins", "B2": "black\tsock"}


def test_a_tab_ends_an_id_with_spaces(tmp_path):
    text = "Lake View\thotel by the lake\nB2 \t red sock\t\nB3 wool sock\n"
    names = {"Lake View": "hotel by the lake", "B2": "red sock", "B3": "wool sock"}
    assert read_product_names(write(tmp_path, text, "names.txt")) == names


def test_names_from_an_object_and_gzip(tmp_path):
    names = {"B1": "boot", "B2": " sock"}
    path = write(tmp_path, gzip.compress(json.dumps(names, indent=1).encode()), "names")
    assert read_product_names(path) == {"B1": "boot", "B2": "sock"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("B1 boot\nB2\n", r"names:2: no name after the id 'B2'"),
        ("B1 boot\nLake View\t \n", r"names:2: no name after the id 'Lake View'"),
        (b"B1 boot\nB2 \xff\n", r"names:2: not UTF-8 at byte 4"),
        ('{"B1": 3}', r"names: B1: the name is the number 3"),
        ('{"B1": ""}', r"names: B1: the name is an empty string"),
        ('{"B1": NaN}', r"names: B1: is not a finite number"),
        ('{"B1": "x"', r"names:1: not valid JSON"),
        ("B1,black boot\nB2,red sock\n", r"names: has commas after its ids; write one object"),
        ('[{"id": "B1", "name": "boot"}]', r"names: is a JSON list; write one object"),
        ("", "is empty"),
    ],
)
def test_names_that_cannot_be_read(tmp_path, content, said):
    with pytest.raises(InputError, match=said):
        read_product_names(write(tmp_path, content, "names"))


TWO = [{"id": "x", "reviews": ["a", " "]}, {"id": "y", "reviews": [{"text": "b", "id": "r"}]}]
TWO_LINES = "\n".join(map(json.dumps, TWO))


def test_reviews_from_plain_text(tmp_path):
    path = write(tmp_path, "[Update] good\r\n\n  {not json\nBad, but: cheap\n", "r.txt")
    assert [review.text for review in read_reviews(path)] == [
        "[Update] good",
        "  {not json",
        "Bad, but: cheap",
    ]


@pytest.mark.parametrize("title", ["Review 1", "Review 1, which I wrote"])
def test_a_first_review_with_a_title_is_no_header(tmp_path, title):
    path = write(tmp_path, f"{title}\nGreat, I love it\n", "r.txt")
    assert [review.text for review in read_reviews(path)] == [title, "Great, I love it"]


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "It fits.", "id": 7}\n\n{"text": "Too small."}\n',
        '[{"text": "It fits.", "id": 7},\n "Too small."]',
    ],
)
def test_reviews_from_objects_with_a_text(tmp_path, text):
    path = tmp_path / "reviews"
    path.write_text(text)
    assert read_reviews(path) == (Review("It fits.", "7"), Review("Too small."))
    with pytest.raises(InputError, match="without product ids, so 'p' cannot be chosen"):
        read_reviews(path, product="p")


def test_a_table_of_reviews_is_of_one_product_unless_a_column_says_otherwise(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("stars,review\n5,It fits.\n1,It leaks.\n", encoding="utf-8")
    assert [review.text for review in read_reviews(path)] == ["It fits.", "It leaks."]
    path.write_text("SKU,review\nA,It fits.\nB,It leaks.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"needs a column with the product's id .*; rename 'SKU'"):
        read_reviews(path)


def test_an_object_that_is_no_review_is_named(tmp_path):
    path = tmp_path / "reviews.jsonl"
    path.write_text('{"text": "It fits."}\n{"review": "Too small."}\n')
    with pytest.raises(InputError, match=r"reviews.jsonl:2: review.text: is missing; give a"):
        read_reviews(path)


def test_reviews_from_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"good\nbad")))
    assert read_reviews("-") == (Review("good"), Review("bad"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('["a", "b\\ud800"]', ["a", "b\ufffd"]),
        ('{"reviews": ["a", "b"]}', ["a", "b"]),
        ('{\n "reviews": ["a", "b"]\n}', ["a", "b"]),
        ("review\na\nb\n", ["a", "b"]),
        ("text\tstars\na\t5\nb\t4\n", ["a", "b"]),
        ("id,review\nx,a\nx,b\n", ["a", "b"]),
        ("cat\tprod_id\trev1\trev2\nc\tB1\ta\tb\n", ["a", "b"]),
    ],
)
def test_reviews_of_the_only_product(tmp_path, content, expected):
    path = write(tmp_path, content, "r")
    assert [review.text for review in read_reviews(path)] == expected


@pytest.mark.parametrize("text", [TWO_LINES, json.dumps(TWO), json.dumps(TWO, indent=1)])
def test_reviews_of_a_chosen_product(tmp_path, text):
    path = write(tmp_path, text, "r")
    assert read_reviews(path, product="x") == (Review("a"), Review(" "))
    assert read_reviews(path, product="y") == (Review("b", "r"),)


@pytest.mark.parametrize(
    ("content", "product", "said"),
    [
        (TWO_LINES, None, "holds 2 products; choose one by its id: x, y$"),
        (TWO_LINES, "z", "holds no product 'z'; its ids are: x, y$"),
        (json.dumps(TWO[0] | {"reviews": [3]}), None, r"reviews\[0\]: is the number 3"),
        (TWO_LINES + '\n{"id": "z", "reviews": [3]}', "z", r"r:3: reviews\[0\]"),
        (
            f"{TWO_LINES}\n{TWO_LINES}",
            "x",
            r"r:1 and \S*r:3 both belong to the product 'x'; put its",
        ),
        ("\n".join(2 * [json.dumps(TWO[0])]), None, r"r:1 and \S*r:2 both belong to the product"),
        ("plain text", "x", "without product ids"),
        ('["a"]', "x", "without product ids"),
        (b"good\nb\xff", None, r"r:2: not UTF-8 at byte 2"),
        ("[]", None, "holds no record"),
        (b"\x00\x01\x02", None, "is not text"),
    ],
)
def test_reviews_that_cannot_be_had(tmp_path, content, product, said):
    with pytest.raises(InputError, match=said):
        read_reviews(write(tmp_path, content, "r"), product=product)


def test_a_long_list_of_ids_is_cut(tmp_path):
    lines = [json.dumps({"id": f"p{i}", "reviews": ["a"]}) for i in range(9)]
    with pytest.raises(InputError, match=r"p0, p1, p2, p3, p4, \.\.\.$"):
        read_reviews(write(tmp_path, "\n".join(lines), "r"))
